/* stream.h - follows an instance by server-sent events.
 *
 * A connection that breaks, or falls silent, is made again with the id of the last event that was handed on, for as long
 * as it takes: the server goes on behind it, so nothing is left out and nothing comes twice.  That is said once on
 * standard error.  Only the first time the server must be there; it may say that it cannot yet. */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "reference.h"
#include "session.h"

/* What a handler takes from the session's pool is given back when it returns. */
struct stream_handler {
    /* event: "status", "step" or "log".  False: enough. */
    bool (*event)(void *user, const char *event, const json_t *data);
    void (*idle)(void *user); /* about once a second; or NULL */
    void *user;
};

/* Until the instance has finished, or the handler has enough. */
enum exit_code stream_follow(struct session *session, const struct reference *reference,
                             const struct stream_handler *handler);

#endif
