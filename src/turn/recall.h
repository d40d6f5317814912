/* recall.h (internal) - what the durable calls of all kinds share.  All with the turn's lock held, except pw_recall_ask() and
 * pw_recall_enter(). */
#ifndef PW_TURN_RECALL_H
#define PW_TURN_RECALL_H

#include "turn/boundary.h"

/* Nothing may happen on this lane any more; a pause counts before the next durable call.  A lane that lost a race is not
 * over: it is walked up to its first unfinished step, so that what it waits for is found and abandoned. */
bool pw_lane_is_over(const pawl_lane *lane);

/* 1 to PW_STEP_NAME_MAX bytes of UTF-8. */
bool pw_is_step_name(struct pw_text text);
/* place.c: the lane has come to a step that is new.  False when memory is out. */
bool pw_place_note(pawl_lane *lane, struct pw_step *step);
/* A durable call: the step that it is about, what is asked, and the answer. */
struct pw_call {
    pawl_lane *lane;
    struct pw_text name;
    enum pawl_step_kind kind;
    struct pawl_answer *answer;
    const struct pawl_policy *policy;   /* DO, CALL; NULL: there is no other attempt */
    const struct pawl_job_request *job; /* CALL */
    struct pw_text workflow, id;        /* CHILD */
    struct pw_text type;                /* EVENT */
    int64_t duration_ms;                /* SLEEP, EVENT, DEFERRED; of a deferred, 0: no timeout */
    int64_t wake_at_ms;                 /* SLEEP; 0: after duration_ms */
    bool wants_token;                   /* DEFERRED: its token instead of its outcome */

    struct pw_step *step; /* once it is reached */
    int64_t now_ms;       /* of the present look */
    bool is_answered;
};
/* One look at a step without an outcome: does the one thing that can be done about it.  PAWL_OK without an answer: the step is
 * looked at again. */
typedef pawl_status pw_look_fn(struct pw_call *call);
/* Begins a durable call: leaves the author's code, and takes the lock once there is room for what the call may record (T7).
 * The lock is held whatever this answers; PAWL_SUSPENDED: the lane is to unwind instead of waiting. */
pawl_status pw_recall_enter(pawl_lane *lane) PAWL_MUST_CHECK;
/* Finds the step of that name, or adds it.  PAWL_SUSPENDED when the lane is over. */
pawl_status pw_recall_reach(struct pw_call *call) PAWL_MUST_CHECK;
/* Answers the call if the step's outcome is known and the store can no longer refuse it. */
pawl_status pw_recall_outcome(struct pw_call *call) PAWL_MUST_CHECK;
/* The whole of a durable call: takes the lock, reaches the step, and looks until there is an answer. */
pawl_status pw_recall_ask(struct pw_call *call, pw_look_fn *look) PAWL_MUST_CHECK;
/* Does the run do nothing new because of what is demanded of it? */
bool pw_recall_is_interrupted(const pawl_turn *turn);
/* Tells the lane so: PAWL_INTERRUPTED. */
pawl_status pw_recall_interrupt(pawl_lane *lane) PAWL_MUST_CHECK;
/* Begins another attempt: fills the row by the policy.  If none is left, the step fails for good and *out_begun is false. */
pawl_status pw_recall_begin(struct pw_call *call, bool *out_begun) PAWL_MUST_CHECK;
/* A test's mock instead of the attempt.  PAWL_OK with *out_mocked false: there is none. */
pawl_status pw_recall_mock(struct pw_call *call, bool *out_mocked) PAWL_MUST_CHECK;
/* Copies the policy's description into the row. */
pawl_status pw_recall_describe(struct pw_call *call) PAWL_MUST_CHECK;
/* Stamps the row, and records it as it stands. */
pawl_status pw_recall_record(struct pw_call *call) PAWL_MUST_CHECK;
pawl_status pw_recall_wait(pawl_lane *lane, int64_t at_ms, enum pw_task_kind kind) PAWL_MUST_CHECK;
/* Waits for an event until then.  Records the row if it does not say so yet, or if it has changed. */
pawl_status pw_recall_wait_for_event(struct pw_call *call, int64_t wake_at_ms, bool is_changed) PAWL_MUST_CHECK;
/* Events came that this turn has not seen.  Lets go of the lock while it reads. */
pawl_status pw_recall_read_events(pawl_lane *lane) PAWL_MUST_CHECK;
/* The wait ends with WAIT_FOR_EVENT_TIMEOUT, but only if no event came that this turn has not seen (T3).  message stays the
 * caller's; `said` is logged. */
pawl_status pw_recall_time_out(struct pw_call *call, const char *message, const char *said) PAWL_MUST_CHECK;
/* The policy, or the default one, which is put into *room. */
const struct pawl_policy *pw_recall_policy(const struct pawl_policy *policy, struct pawl_policy *room);

#endif
