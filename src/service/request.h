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
    bool (*reads_at_end)(const struct pw_request *request); /* `end` is about to read; NULL: it never does */
    pawl_status (*begin)(struct pw_request *request);       /* of one that reads first */
    pawl_answered_fn *answered;                             /* NULL: somebody waits */
    void *user;
    struct pw_chore chore;
};

/* Zeroed, in memory of its own.  NULL: memory is out, and the caller has been told. */
void *pw_request_new(size_t size, struct pawl_error *error, pawl_answered_fn *answered, void *user);
/* Comes first, whether it is run or started.  The other fields of the request stay as they are. */
void pw_request_init(struct pw_request *request, pawl_engine *engine, struct pawl_error *error,
                     pawl_status (*end)(struct pw_request *request));

/* Commits the unit and waits, or, if the request could not begin, answers just that.  The request is over. */
pawl_status pw_request_run(struct pw_request *request, pawl_status begun) PAWL_MUST_CHECK;
/* The same without waiting, for a request that was made by pw_request_new(). */
void pw_request_start(struct pw_request *request, pawl_status begun);
/* The same for a request that reads in `begin`, which a caller that does not wait must not do itself. */
void pw_request_start_reading(struct pw_request *request, pawl_status (*begin)(struct pw_request *request));
/* The unit is answered.  Ends the request and tells its caller; for those with a `done` of their own. */
void pw_request_finish(struct pw_request *request);

/* What went wrong with the unit, in the caller's error.  Answers the unit's status. */
pawl_status pw_request_report(const struct pw_request *request);

#endif
