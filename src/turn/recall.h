/* recall.h (internal) - what durable calls of all kinds share.  All with the turn's lock held, except
 * pw_recall_ask() and pw_recall_enter(), which take it. */
#ifndef PW_TURN_RECALL_H
#define PW_TURN_RECALL_H

#include "turn/boundary.h"

/* True if nothing more may happen on this lane.  A requested pause takes effect at the next durable call.  A lane
 * that lost a race is not over: it is called up to its first unfinished step, so that what it waits for is found and
 * abandoned. */
bool pw_lane_is_over(const pawl_lane *lane);

/* True for 1 to PW_STEP_NAME_MAX bytes of UTF-8 without a NUL. */
bool pw_is_step_name(struct pw_text text);
/* place.c: notes where in the workflow the lane reached this new step.  False when memory runs out. */
bool pw_place_note(pawl_lane *lane, struct pw_step *step);
/* A durable call: its step, its arguments and its answer. */
struct pw_call {
    pawl_lane *lane;
    struct pw_text name;
    enum pawl_step_kind kind;
    struct pawl_answer *answer;
    const struct pawl_policy *policy;   /* DO, CALL; NULL: no retries */
    const struct pawl_job_request *job; /* CALL */
    struct pw_text workflow, id;        /* CHILD */
    struct pw_text type;                /* EVENT */
    int64_t duration_ms;                /* SLEEP, EVENT, DEFERRED; 0 for a DEFERRED: no timeout */
    int64_t wake_at_ms;                 /* SLEEP; 0: after duration_ms */
    bool wants_token;                   /* DEFERRED: asks for the token, not for the outcome */

    struct pw_step *step; /* set once the step is reached */
    int64_t now_ms;       /* the time of the present look */
    bool is_answered;
};
/* One look at a step without an outcome: does the one thing that can be done about it now.  If it returns PAWL_OK
 * without an answer, the step is looked at again. */
typedef pawl_status pw_look_fn(struct pw_call *call);
/* Begins a durable call: leaves user code, and takes the lock once there is room for what the call may record (T7).
 * The lock is held whatever this returns.  PAWL_SUSPENDED: the lane should unwind instead of waiting. */
pawl_status pw_recall_enter(pawl_lane *lane) PAWL_MUST_CHECK;
/* Finds the step with the call's name, or adds it.  PAWL_SUSPENDED if the lane is over. */
pawl_status pw_recall_reach(struct pw_call *call) PAWL_MUST_CHECK;
/* Answers the call if the step has an outcome that the store can no longer refuse. */
pawl_status pw_recall_outcome(struct pw_call *call) PAWL_MUST_CHECK;
/* A whole durable call: takes the lock, reaches the step, and looks until there is an answer. */
pawl_status pw_recall_ask(struct pw_call *call, pw_look_fn *look) PAWL_MUST_CHECK;
/* True if the run does nothing new because of a demand. */
bool pw_recall_is_interrupted(const pawl_turn *turn);
/* Tells the lane about the demand.  Returns PAWL_INTERRUPTED. */
pawl_status pw_recall_interrupt(pawl_lane *lane) PAWL_MUST_CHECK;
/* Begins another attempt: fills the row from the policy.  If no attempt is left, the step fails for good and
 * *out_begun is false. */
pawl_status pw_recall_begin(struct pw_call *call, bool *out_begun) PAWL_MUST_CHECK;
/* Lets a test's mock decide the attempt.  PAWL_OK with *out_mocked false: there is no mock. */
pawl_status pw_recall_mock(struct pw_call *call, bool *out_mocked) PAWL_MUST_CHECK;
/* Copies the policy's description into the row. */
pawl_status pw_recall_describe(struct pw_call *call) PAWL_MUST_CHECK;
/* Stamps the row and submits it as it is. */
pawl_status pw_recall_record(struct pw_call *call) PAWL_MUST_CHECK;
pawl_status pw_recall_wait(pawl_lane *lane, int64_t at_ms, enum pw_task_kind kind) PAWL_MUST_CHECK;
/* Waits for an event until wake_at_ms.  Records the row first if it is new, has another wake time, or has changed. */
pawl_status pw_recall_wait_for_event(struct pw_call *call, int64_t wake_at_ms, bool is_changed) PAWL_MUST_CHECK;
/* Reads events that this turn has not seen.  Drops the lock meanwhile. */
pawl_status pw_recall_read_events(pawl_lane *lane) PAWL_MUST_CHECK;
/* Ends the wait with WAIT_FOR_EVENT_TIMEOUT.  The store refuses that if an event came that this turn has not seen
 * (T3).  Borrows `message`; `said` is logged. */
pawl_status pw_recall_time_out(struct pw_call *call, const char *message, const char *said) PAWL_MUST_CHECK;
/* The given policy, or the default one, stored in *room. */
const struct pawl_policy *pw_recall_policy(const struct pawl_policy *policy, struct pawl_policy *room);

#endif
