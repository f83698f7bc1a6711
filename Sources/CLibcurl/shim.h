// libcurl's options are set through variadic functions, which Swift cannot call: one plain function per type of value.
#pragma once
#include <curl/curl.h>

static inline CURLcode clibcurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode clibcurl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode clibcurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*clibcurl_write_function)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode clibcurl_set_write_function(CURL *handle, CURLoption option, clibcurl_write_function value) {
    return curl_easy_setopt(handle, option, value);
}

typedef int (*clibcurl_progress_function)(void *context, curl_off_t download_total, curl_off_t download_now,
                                          curl_off_t upload_total, curl_off_t upload_now);

static inline CURLcode clibcurl_set_progress_function(CURL *handle, clibcurl_progress_function value) {
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}

static inline CURLcode clibcurl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
