/* request.h - a call that changes something: checked, built as a unit of work, committed and answered.
 *
 * A use case has a struct of its own that begins with a struct pw_request.  It checks its arguments, fills in the
 * unit, and says in `end` what the caller is told once the unit is answered.  The same code serves callers that wait
 * and callers that are told later.  Everything that a request borrows must live until it is answered.
 *
 *   new --> begin --> commit --> end --> answered
 *             ^                   |
 *             +------ again ------+
 *
 * A request that must read first, or that needs several units, has a `begin`, which builds the unit of a round.
 * `end` asks for another round by setting `again`.  A round whose unit is empty commits nothing. */
#ifndef PW_SERVICE_REQUEST_H
#define PW_SERVICE_REQUEST_H

#include "engine/engine.h"

struct pw_request {
    pawl_engine *engine;
    struct pw_arena arena;    /* lives until the request is over */
    struct pw_unit unit;      /* the unit of this round, with an arena of its own */
    struct pawl_error *error; /* the caller's, or NULL */
    /* Reads, and builds the unit of a round.  NULL: the unit was built before pw_request_go(). */
    pawl_status (*begin)(struct pw_request *request);
    /* The unit is answered: acts on the result, and returns what the caller is told. */
    pawl_status (*end)(struct pw_request *request);
    bool (*reads_at_end)(const struct pw_request *request); /* true if `end` will read; NULL: it never does */
    bool again;                                             /* set by `end`; its result is then ignored */
    pawl_answered_fn *answered;                             /* NULL: the caller waits */
    void *user;
    struct pw_chore chore;
};

/* Makes a request of this size, zeroed except for the arguments.  answered NULL: the caller waits.  Returns NULL
 * when memory runs out; the caller has been told. */
void *pw_request_new(size_t size, pawl_engine *engine, pawl_status (*end)(struct pw_request *request),
                     struct pawl_error *error, pawl_answered_fn *answered, void *user);

/* Carries the request out, or answers `checked` if that is not PAWL_OK.  Consumes the request.  Returns the answer
 * if the caller waits, and otherwise PAWL_OK, because `answered` is called. */
pawl_status pw_request_go(struct pw_request *request, pawl_status checked);

/* Copies the unit's error into the caller's.  Returns the unit's status. */
pawl_status pw_request_report(const struct pw_request *request);
/* Passes an inner error on to the caller's.  Returns the status. */
pawl_status pw_report(struct pawl_error *error, pawl_status status, const struct pawl_error *inner);

#endif
