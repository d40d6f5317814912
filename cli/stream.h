/* stream.h - follows an instance by server-sent events.
 *
 * A connection that breaks or falls silent is opened again, as often as necessary, with the id of the last event that was
 * handled: the server continues after it, so no event is lost or repeated.  The loss is reported once on standard error.  The
 * first connection must succeed, except that the server may answer 429 or 503. */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "reference.h"
#include "session.h"

/* What a handler takes from the session's pool is given back when it returns. */
struct stream_handler {
    /* event: "status", "step" or "log".  False ends the stream. */
    bool (*event)(void *user, const char *event, const json_t *data);
    void (*idle)(void *user); /* about once a second; or NULL */
    void *user;
};

/* Returns when the instance has finished, or event() returned false. */
enum exit_code stream_follow(struct session *session, const struct reference *reference,
                             const struct stream_handler *handler);

#endif
