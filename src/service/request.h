/* request.h - a call that commits one unit of work.  Whoever waits runs it; whoever does not starts it, and is told later.
 *
 * A use case has a struct of its own that begins with a struct pw_request.  It fills in the unit, and says in `end` what the caller
 * is told once the unit is answered.  Everything that it borrows must last until then. */
#ifndef PW_SERVICE_REQUEST_H
#define PW_SERVICE_REQUEST_H

#include "engine/engine.h"

struct pw_request {
    pawl_engine *engine;
    struct pw_unit unit;
    struct pawl_error *error; /* the caller's, or NULL */
    /* The unit is answered: what follows from it, and what the caller is told. */
    pawl_status (*end)(struct pw_request *request);
    pawl_answered_fn *answered; /* NULL: somebody waits */
    void *user;
};

/* Zeroed, in memory of its own.  NULL: memory is out, and the caller has been told. */
void *pw_request_new(size_t size, struct pawl_error *error, pawl_answered_fn *answered, void *user);
/* The other fields of the request stay as they are. */
void pw_request_init(struct pw_request *request, pawl_engine *engine, struct pawl_error *error,
                     pawl_status (*end)(struct pw_request *request));

/* Commits, and waits.  The request is over. */
pawl_status pw_request_run(struct pw_request *request) PAWL_MUST_CHECK;
/* Commits one that was made by pw_request_new(), or, if it could not begin, tells so at once. */
void pw_request_start(struct pw_request *request, pawl_status begun);
/* The unit is answered.  Ends the request and tells its caller; for those with a `done` of their own. */
void pw_request_finish(struct pw_request *request);

/* What went wrong with the unit, in the caller's error.  Answers the unit's status. */
pawl_status pw_request_report(const struct pw_request *request);

#endif
