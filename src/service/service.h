/* service.h (internal) - what layers above may build into their own units of work: another instance, an event to one, or
 * what the end of an instance tells whoever made it, that come true together with what else the unit records.
 *
 * They check their arguments as the public calls do and append ops to the unit; nothing has happened until the unit is
 * committed.  Texts are NUL-terminated and borrowed until the unit is answered; what is generated lives in the unit's
 * arena.  After the commit of a create call pw_local_wake(engine, PW_NOW), so that the others need not wait for a poll; of
 * whatever else becomes due the engine tells the local runners itself. */
#ifndef PW_SERVICE_SERVICE_H
#define PW_SERVICE_SERVICE_H

#include "engine/engine.h"

/* id absent: generated.  When the id exists the unit is refused with PAWL_INSTANCE_ID_ALREADY_EXISTS.  link NULL, or its
 * relation NONE: nobody's child.  With the relation JOB the workflow is "@" and a function's name, which need not be
 * registered, and the params are not looked at. */
pawl_status pw_service_add_create(pawl_engine *engine, struct pw_unit *unit, const struct pw_link *link,
                                  struct pw_text workflow, struct pw_text id, struct pw_text params,
                                  struct pawl_error *error) PAWL_MUST_CHECK;

/* An event to an instance.  The unit is refused with PAWL_INSTANCE_NOT_FOUND or PAWL_INSTANCE_TERMINAL where it cannot be. */
pawl_status pw_service_add_event(pawl_engine *engine, struct pw_unit *unit, struct pw_text workflow, struct pw_text id,
                                 struct pw_text type, struct pw_text payload, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Answers --------------------------------------------------------------------------------------------------- */

/* How an instance ends. */
struct pw_outcome_told {
    enum pw_outcome outcome;
    struct pw_text output;                    /* COMPLETE; absent: no result */
    struct pw_text error_name, error_message; /* ERRORED; TERMINATED, where it carries an error; or absent */
    bool may_retry;                           /* of a job that ends ERRORED */
};

/* What the end of the instance tells its parent, if it has one that can wait for it: an answer of the type "$workflow/id", which
 * FINISH carries.  The payload of a failure is {"name","message","retry"}.  TERMINATED is the failure CHILD_TERMINATED, or
 * JOB_ENDED.  The local runner offers to take the parent, so pw_local_settle_offer() must follow, behind the commit or when the
 * unit is given up.  It is made in the arena. */
pawl_status pw_service_answer(pawl_engine *engine, struct pw_arena *arena, const struct pw_link *link,
                              struct pw_text workflow, struct pw_text id, const struct pw_outcome_told *told,
                              struct pw_op_event **out_answer) PAWL_MUST_CHECK;

/* "$workflow/id": what a step that waits for the end of an instance has as its wait_event_type.  False when memory is out. */
bool pw_answer_type(struct pw_arena *arena, struct pw_text workflow, struct pw_text id, struct pw_text *out_type);

/* ---- Deferreds ------------------------------------------------------------------------------------------------- */

/* "$deferred:<secret>" is a deferred's wait_event_type, "$deferred:<step name>" the id of the event that completes it. */
#define PW_DEFERRED_TYPE "$deferred:"

/* The token of the deferred in this row of the run; its type is the row's wait_event_type.  NULL when memory is out. */
const char *pw_deferred_token(struct pw_arena *arena, struct pw_text workflow, struct pw_text id, int64_t run,
                              int64_t seq, struct pw_text type);

#endif
