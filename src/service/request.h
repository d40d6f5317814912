/* request.h - a call that changes something: checked, built as a unit of work, committed, and answered.
 *
 * A use case has a struct of its own that begins with a struct pw_request.  It checks its arguments, fills in the unit, and says in
 * `end` what the caller is told once the unit is answered.  The same code serves the caller who waits and the one who is told
 * later.  Everything that a request borrows must last until it is answered.
 *
 *   new --> begin --> commit --> end --> answered
 *             ^                   |
 *             +------ again ------+
 *
 * A request that has to read first, or that needs several units, has a `begin`, which builds the unit of a round.  `end` asks for
 * another round by setting `again`.  A round whose unit is empty commits nothing. */
#ifndef PW_SERVICE_REQUEST_H
#define PW_SERVICE_REQUEST_H

#include "engine/engine.h"

struct pw_request {
    pawl_engine *engine;
    struct pw_arena arena;    /* until the request is over */
    struct pw_unit unit;      /* of this round, with an arena of its own */
    struct pawl_error *error; /* the caller's, or NULL */
    /* Reads, and builds the unit of a round.  NULL: the unit was built before the request went off. */
    pawl_status (*begin)(struct pw_request *request);
    /* The unit is answered: what follows from it, and what the caller is told. */
    pawl_status (*end)(struct pw_request *request);
    bool (*reads_at_end)(const struct pw_request *request); /* `end` is about to read; NULL: it never does */
    bool again;                                             /* set by `end`, whose answer does not count then */
    pawl_answered_fn *answered;                             /* NULL: somebody waits */
    void *user;
    struct pw_chore chore;
};

/* A request of this size, zeroed but for what is given.  answered NULL: the caller waits.  NULL: memory is out, and the caller has
 * been told. */
void *pw_request_new(size_t size, pawl_engine *engine, pawl_status (*end)(struct pw_request *request),
                     struct pawl_error *error, pawl_answered_fn *answered, void *user);

/* Carries it out, or, if its checks failed, answers just that.  The request is gone.  Returns the answer if somebody waits for
 * it; otherwise PAWL_OK, because `answered` is called. */
pawl_status pw_request_go(struct pw_request *request, pawl_status checked);

/* What went wrong with the unit, in the caller's error.  Answers the unit's status. */
pawl_status pw_request_report(const struct pw_request *request);
/* Passes on what went wrong inside.  Returns the status. */
pawl_status pw_report(struct pawl_error *error, pawl_status status, const struct pawl_error *inner);

#endif
