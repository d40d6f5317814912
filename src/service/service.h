/* service.h (internal) - what layers above may add to their own units of work: a new instance, an event to an
 * instance, or the answer that tells the end of an instance to its parent.
 *
 * These functions check their arguments as the public calls do and append ops to the unit.  Nothing happens before
 * the unit is committed.  Texts are NUL-terminated and borrowed until the unit is answered.  What is generated lives
 * in the unit's arena.  After the commit of a create, call pw_local_wake(engine, PW_NOW), so that the new run need
 * not wait for a poll.  The engine itself tells the local runners about everything else that becomes due. */
#ifndef PW_SERVICE_SERVICE_H
#define PW_SERVICE_SERVICE_H

#include "engine/engine.h"

/* Adds a create.  id absent: one is generated.  If the id exists, the unit is refused with
 * PAWL_INSTANCE_ID_ALREADY_EXISTS.  link NULL, or its relation NONE: not a child.  With the relation JOB the
 * workflow is "@" and the name of a function, which need not be registered, and the params are not checked. */
pawl_status pw_service_add_create(pawl_engine *engine, struct pw_unit *unit, const struct pw_link *link,
                                  struct pw_text workflow, struct pw_text id, struct pw_text params,
                                  struct pawl_error *error) PAWL_MUST_CHECK;

/* Adds an event to an instance.  The unit is refused with PAWL_INSTANCE_NOT_FOUND or PAWL_INSTANCE_TERMINAL if there
 * is no such instance or it has ended. */
pawl_status pw_service_add_event(pawl_engine *engine, struct pw_unit *unit, struct pw_text workflow, struct pw_text id,
                                 struct pw_text type, struct pw_text payload, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Answers --------------------------------------------------------------------------------------------------- */

/* How an instance ends. */
struct pw_outcome_told {
    enum pw_outcome outcome;
    struct pw_text output;                    /* COMPLETE; absent: no result */
    struct pw_text error_name, error_message; /* ERRORED, and TERMINATED if it has an error; or absent */
    bool may_retry;                           /* a job that ends ERRORED may be tried again */
};

/* Makes what the end of an instance tells its parent, if it has one that can wait for it: an answer of the type
 * "$workflow/id", which FINISH carries.  The payload of a failure is {"name","message","retry"}.  TERMINATED is the
 * failure CHILD_TERMINATED or JOB_ENDED.  The local runner offers to take the parent, so pw_local_settle_event()
 * must follow, after the commit or when the unit is given up.  The answer lives in the arena. */
pawl_status pw_service_answer(pawl_engine *engine, struct pw_arena *arena, const struct pw_link *link,
                              struct pw_text workflow, struct pw_text id, const struct pw_outcome_told *told,
                              struct pw_op_event **out_answer) PAWL_MUST_CHECK;

/* "$workflow/id": the wait_event_type of a step that waits for the end of an instance.  False when memory runs out. */
bool pw_answer_type(struct pw_arena *arena, struct pw_text workflow, struct pw_text id, struct pw_text *out_type);

/* ---- Deferreds ------------------------------------------------------------------------------------------------- */

/* "$deferred:<secret>" is the wait_event_type of a deferred, and "$deferred:<step name>" the id of the event that
 * completes it. */
#define PW_DEFERRED_TYPE "$deferred:"

/* The token of the deferred in this row of the run; `type` is the row's wait_event_type.  NULL when memory runs out. */
const char *pw_deferred_token(struct pw_arena *arena, struct pw_text workflow, struct pw_text id, int64_t run,
                              int64_t seq, struct pw_text type);

#endif
