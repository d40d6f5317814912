/* bulk.h - the same request for many things, one after the other.
 *
 * One that the server refuses does not stop the others; a server that cannot be reached does.  On a terminal the progress
 * is shown in one line; elsewhere each that was done is a line. */
#ifndef CLI_BULK_H
#define CLI_BULK_H

#include "session.h"

struct bulk {
    struct session *session;
    const char *done; /* "restarted": said of each, and in the closing line */
    size_t count;     /* of all that will be tried */
    size_t done_count, refused_count;
    bool shows_progress;   /* on standard error */
    enum exit_code output; /* whether what was done could be printed */
    bool is_quiet;         /* no line for each that was done: the progress and the closing line say it */
};

void bulk_begin(struct bulk *bulk, struct session *session, const char *done, size_t count);
/* name: "order/order-1".  json: {"workflowName": ..., "id": ...}, which "ok" and "error" are added to; stolen.  code: how
 * it ended, with session->problem when not well.  Answers whether to go on. */
bool bulk_note(struct bulk *bulk, const char *name, const char *more, json_t *json, enum exit_code code);
/* How the program ends; what was refused has been printed. */
enum exit_code bulk_end(struct bulk *bulk);

#endif
