/* why.h - what pawl instances why has to go by, and what it comes to.  run_why.c explains runs that have not ended,
 * why_end.c those that have, and what a child has to do with it. */
#ifndef CLI_WHY_H
#define CLI_WHY_H

#include "reference.h"

struct why {
    struct session *session;
    struct pool *pool;
    const struct reference *reference;
    const char *name;
    const json_t *details, *meta;
    const json_t *steps; /* newest first */
    int64_t now_ms;
    /* the answer */
    const char *reason; /* for programs: "waitingForEvent" */
    const char *text;
    const char *command; /* NULL: nothing moves it but time */
};

/* "pawl instances retry order/order-1" */
const char *why_command(const struct why *why, const char *verb);

/* Of a run that is complete, errored or terminated. */
void why_ended(struct why *why, const char *status);

/* How the child that the step waits for, or waited for, stands; NULL: the server does not say. */
const char *why_phase_of(const struct why *why, const json_t *step);
/* The step whose child failed, and the run with it; NULL: it failed for another reason.  error: the run's; NULL: it has not
 * ended, and waits for repair. */
const json_t *why_failed_child(const struct why *why, const json_t *error);
/* What is to be done about that child before `verb` ("retry") makes sense for its parent; the command becomes the child's
 * then. */
const char *why_child_first(struct why *why, const json_t *step, const char *verb);

#endif
