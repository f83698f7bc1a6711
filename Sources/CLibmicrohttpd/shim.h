// libmicrohttpd is started and asked through variadic functions, which Swift cannot call: one plain function per use.
#pragma once
#include <microhttpd.h>

/* Serves a listening socket with one thread per connection. `completed` and `connection` get the same context as `access`. */
static inline struct MHD_Daemon *clibmicrohttpd_start(int listener, unsigned int connection_limit,
                                                      size_t connection_memory, size_t stack_size,
                                                      MHD_AccessHandlerCallback access,
                                                      MHD_RequestCompletedCallback completed,
                                                      MHD_NotifyConnectionCallback connection, void *context) {
    return MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC,
                            0, NULL, NULL, access, context, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listener,
                            MHD_OPTION_CONNECTION_LIMIT, connection_limit, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            connection_memory, MHD_OPTION_THREAD_STACK_SIZE, stack_size, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                            MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_NOTIFY_CONNECTION, connection,
                            context, MHD_OPTION_END);
}

/* The descriptor of a connection's socket. */
static inline int clibmicrohttpd_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *clibmicrohttpd_address(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/* What the notification of the connection's start has stored with it. */
static inline void *clibmicrohttpd_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* The enumerations are closed ones, whose constants Swift renames. */
static const enum MHD_Result clibmicrohttpd_yes = MHD_YES;
static const enum MHD_Result clibmicrohttpd_no = MHD_NO;

static inline int clibmicrohttpd_is_start(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

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
