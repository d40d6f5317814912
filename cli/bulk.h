/* bulk.h - the same request for many things, one after the other.
 *
 * One that the server refuses does not stop the others; a server that cannot be reached does.  On a terminal the progress
 * is shown in one line; elsewhere each that was done is a line. */
#ifndef CLI_BULK_H
#define CLI_BULK_H

#include "session.h"

struct bulk {
    struct session *session;
    const char *done; /* "restarted": said of each that has no word of its own, and in the closing line */
    size_t count;     /* of all that will be tried */
    size_t done_count, refused_count;
    size_t idle_count;     /* of those done: there was nothing to do */
    bool shows_progress;   /* on standard error */
    enum exit_code output; /* whether what was done could be printed */
    bool is_quiet;         /* no line for each that was done: the progress and the closing line say it */
};

/* One of them, once it was tried. */
struct bulk_item {
    const char *name;    /* "order/order-1" */
    const char *idle;    /* "was not paused": there was nothing to do; NULL: it was done */
    const char *done;    /* of this one: "paused", where the bulk says "told to pause"; or NULL */
    const char *more;    /* behind any of these: "; it is waiting"; or NULL */
    json_t *json;        /* {"workflowName": ..., "id": ...}, which "ok", "changed" and "error" are added to; stolen */
    enum exit_code code; /* how it ended, with session->problem when not well */
};

void bulk_begin(struct bulk *bulk, struct session *session, const char *done, size_t count);
/* Answers whether to go on. */
bool bulk_note(struct bulk *bulk, const struct bulk_item *item);
/* How the program ends; what was refused has been printed. */
enum exit_code bulk_end(struct bulk *bulk);

#endif
