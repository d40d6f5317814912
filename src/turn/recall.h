/* recall.h (internal) - what the durable calls of all kinds share.  All with the turn's lock held, but for pw_recall_ask()
 * and pw_recall_enter().
 *
 * PAWL_CONFLICT never leaves the durable calls: it says "look at the step again". */
#ifndef PW_TURN_RECALL_H
#define PW_TURN_RECALL_H

#include "turn/boundary.h"

/* Nothing may happen on this lane any more; a pause counts before the next durable call.  A lane that lost a race is not
 * over: it is walked up to its first unfinished step, so that what it waits for is found and abandoned. */
bool pw_lane_is_over(const pawl_lane *lane);

/* Finds the step of that name, or adds it.  PAWL_SUSPENDED when the lane is over. */
pawl_status pw_recall_reach(pawl_lane *lane, const char *name, size_t name_size, enum pawl_step_kind kind,
                            struct pw_step **out_step) PAWL_MUST_CHECK;
/* 1 to PW_STEP_NAME_MAX bytes of UTF-8. */
bool pw_is_step_name(struct pw_text text);
/* place.c: the lane has come to a step that is new.  False when memory is out. */
bool pw_place_note(pawl_lane *lane, struct pw_step *step);
/* The step that a durable call is about. */
struct pw_call_name {
    const char *name;
    size_t size;
    enum pawl_step_kind kind;
};
/* One look at the step as it stands: an answer, why there is none, or PAWL_CONFLICT. */
typedef pawl_status pw_look_fn(pawl_lane *lane, struct pw_step *step, const void *question,
                               struct pawl_answer *out_answer);
/* Begins a durable call: leaves the author's code, and takes the lock once there is room for what the call may record (T7).
 * The lock is held whatever this answers; PAWL_SUSPENDED: the lane is to unwind instead of waiting. */
pawl_status pw_recall_enter(pawl_lane *lane) PAWL_MUST_CHECK;
/* The whole of a durable call: takes the lock, reaches the step, and looks until there is an answer. */
pawl_status pw_recall_ask(pawl_lane *lane, const struct pw_call_name *call, pw_look_fn *look, const void *question,
                          struct pawl_answer *out_answer) PAWL_MUST_CHECK;
/* What every kind of step does first.  PAWL_OK with *out_decided false: the caller decides. */
pawl_status pw_recall_settle(pawl_lane *lane, struct pw_step *step, struct pawl_answer *out_answer,
                             bool *out_decided) PAWL_MUST_CHECK;
/* The same for a race, which is run also when the run is interrupted: each of its branches says so. */
pawl_status pw_recall_choice(pawl_lane *lane, struct pw_step *step, struct pawl_answer *out_answer,
                             bool *out_decided) PAWL_MUST_CHECK;
/* Does the run do nothing new because of what is demanded of it? */
bool pw_recall_is_interrupted(const pawl_turn *turn);
/* Tells the lane so: PAWL_INTERRUPTED. */
pawl_status pw_recall_interrupt(pawl_lane *lane) PAWL_MUST_CHECK;
/* A test's word instead of what would be done.  PAWL_OK with *out_mocked false: there is none. */
pawl_status pw_recall_mock(pawl_lane *lane, struct pw_step *step, const struct pawl_policy *policy,
                           bool *out_mocked) PAWL_MUST_CHECK;
pawl_status pw_recall_wait(pawl_lane *lane, int64_t at_ms, enum pw_task_kind kind) PAWL_MUST_CHECK;
/* Events came that this turn has not seen.  Lets go of the lock while it reads. */
pawl_status pw_recall_read_events(pawl_lane *lane) PAWL_MUST_CHECK;
/* The wait ends with WAIT_FOR_EVENT_TIMEOUT, but only if no event came that this turn has not seen (T3).  message stays the
 * caller's; `said` is logged. */
pawl_status pw_recall_time_out(pawl_lane *lane, struct pw_step *step, int64_t now_ms, const char *message,
                               const char *said) PAWL_MUST_CHECK;
/* The store refused a timeout because an event came meanwhile: the wait goes on, as its row there says. */
void pw_recall_take_back_timeout(pawl_turn *turn, struct pw_step *step);
/* The policy's; the text is kept for the row. */
pawl_status pw_recall_describe(pawl_lane *lane, struct pw_step *step, const struct pawl_policy *policy) PAWL_MUST_CHECK;

#endif
