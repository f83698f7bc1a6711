// libmicrohttpd is started and asked through variadic functions, which Swift cannot call: one plain function per use.
#pragma once
#include <microhttpd.h>
#include <stdarg.h>
#include <string.h>

/* Whose connection a daemon serves, and what is told of a request that libmicrohttpd refuses by itself. */
struct clibmicrohttpd_context {
    void *owner;
    void (*refused)(void *owner, unsigned int status);
};

/* libmicrohttpd tells its log that it refuses a request, and with which status, before it writes an answer of its own. */
static inline void clibmicrohttpd_log(void *context, const char *format, va_list values) {
    const struct clibmicrohttpd_context *known = (const struct clibmicrohttpd_context *)context;
    static const char start[] = "Error processing request";
    if (strncmp(format, start, sizeof start - 1) != 0) return;
    const char *first = strchr(format, '%');
    if (!first || first[1] != 'u') return;
    known->refused(known->owner, va_arg(values, unsigned int));
}

/* A daemon for one connection, which runs when it is told to. TURBO leaves the socket open for writing when a connection ends, so
   that what libmicrohttpd ends without a word can still be answered. */
static inline struct MHD_Daemon *clibmicrohttpd_start(size_t memory, MHD_AccessHandlerCallback access,
                                                      MHD_RequestCompletedCallback completed,
                                                      struct clibmicrohttpd_context *context) {
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_TURBO | MHD_USE_ERROR_LOG, 0, NULL, NULL,
                            access, context->owner, MHD_OPTION_EXTERNAL_LOGGER, clibmicrohttpd_log, (void *)context,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                            MHD_OPTION_NOTIFY_COMPLETED, completed, context->owner, MHD_OPTION_END);
}

/* Whether a daemon's connection is open. */
static inline int clibmicrohttpd_is_open(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info && info->num_connections > 0;
}

/* The enumerations are closed ones, whose constants Swift renames. */
static const enum MHD_Result clibmicrohttpd_yes = MHD_YES;
static const enum MHD_Result clibmicrohttpd_no = MHD_NO;

static inline int clibmicrohttpd_is_complete(enum MHD_RequestTerminationCode code) {
    return code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
}

static inline void clibmicrohttpd_headers(struct MHD_Connection *connection, MHD_KeyValueIteratorN iterator,
                                          void *context) {
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, iterator, context);
}

static inline struct MHD_Response *clibmicrohttpd_response(const void *bytes, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}
