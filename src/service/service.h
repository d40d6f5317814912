/* service.h (internal) - what layers above may build into their own units of work: another instance, an event to one, or
 * the news of an end to whoever made the instance that ends, that come true together with what else the unit records.
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
    int64_t run; /* that ends */
    enum pw_outcome outcome;
    struct pw_text output;                    /* COMPLETE; absent: no result */
    struct pw_text error_name, error_message; /* ERRORED; TERMINATED, where it carries an error; or absent */
    bool may_retry;                           /* of a job that ends ERRORED */
};

/* Tells whoever the link names, if anybody, that the instance ends: an answer of the type "$workflow/id".  The
 * payload of a failure is {"name","message","retry"}.  TERMINATED is the failure CHILD_TERMINATED, or JOB_ENDED.  Each
 * run of the instance has an answer of its own. */
pawl_status pw_service_add_answer(struct pw_unit *unit, const struct pw_link *link, struct pw_text workflow,
                                  struct pw_text id, const struct pw_outcome_told *told,
                                  struct pawl_error *error) PAWL_MUST_CHECK;
/* If the unit ends with an answer: the local runner offers to take the run that it wakes.  pw_local_settle_offer() must follow,
 * behind the commit or when the unit is given up.  NULL: there is no answer. */
const struct pw_op_event *pw_service_offer(pawl_engine *engine, struct pw_unit *unit);

/* "$workflow/id": what a step that waits for the end of an instance has as its wait_event_type.  False when memory is out. */
bool pw_answer_type(struct pw_arena *arena, struct pw_text workflow, struct pw_text id, struct pw_text *out_type);

/* ---- Deferreds ------------------------------------------------------------------------------------------------- */

/* "$deferred:<secret>" is a deferred's wait_event_type, "$deferred:<step name>" the id of the event that completes it. */
#define PW_DEFERRED_TYPE "$deferred:"

/* The token of the deferred in this row of the run; its type is the row's wait_event_type.  NULL when memory is out. */
const char *pw_deferred_token(struct pw_arena *arena, struct pw_text workflow, struct pw_text id, int64_t run,
                              int64_t seq, struct pw_text type);

#endif
