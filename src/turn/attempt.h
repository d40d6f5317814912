/* attempt.h (internal) - one attempt at a step's body.  attempt.c describes its life. */
#ifndef PW_TURN_ATTEMPT_H
#define PW_TURN_ATTEMPT_H

#include "turn/boundary.h"

struct pawl_attempt {
    pawl_turn *turn; /* referenced */
    pawl_lane *lane;
    struct pw_step *step;
    int64_t number;
    int64_t deadline_ms; /* by the engine's monotonic clock; exactly at it is still in time */
    int64_t begun_us;    /* by the system's monotonic clock, for the statistics */
    struct pawl_policy policy;
    struct pw_mutation *mutations, *last_mutation;
    struct pw_log_list logs;
    bool expired;                   /* its timeout was recorded: what the body returns is dropped */
    pawl_attempt *previous, *next;  /* the turn's list of running bodies */
    struct pw_blocked_call blocked; /* listed once it has expired; the host clears it */
};

/* With the turn's lock held.  NULL when memory runs out. */
pawl_attempt *pw_attempt_new(pawl_lane *lane, struct pw_step *step, const struct pawl_policy *policy);
/* Consumes an attempt whose body has not begun, as if it had never been handed out. */
void pw_attempt_give_back(pawl_attempt *attempt);
/* With the turn's lock held: records the timeout. */
pawl_status pw_attempt_time_out(pawl_attempt *attempt);
/* True if it has outlived its timeout. */
bool pw_attempt_is_late(const pawl_attempt *attempt);

#endif
