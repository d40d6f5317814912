/* edit.h - changes an instance depending on its history: restart, retry, resume after a repair, complete a deferred.
 *
 * An edit is a request (request.h).  Each of its rounds reads the instance, lets `decide` choose what to do, and
 * commits that under a fence at exactly what was read.  If another unit changed the run in between, nothing happens,
 * and the next round reads and decides again.  So a decision never rests on an old state, and no lock is held while
 * deciding. */
#ifndef PW_SERVICE_EDIT_H
#define PW_SERVICE_EDIT_H

#include "service/request.h"

struct pw_edit;
/* Adds ops to the unit, or none if there is nothing to do.  Any other result than PAWL_OK ends the edit with that
 * result. */
typedef pawl_status pw_edit_fn(struct pw_edit *edit, struct pawl_error *error);

struct pw_edit {
    struct pw_request
        request; /* the arena of its unit holds what was read; the unit begins with the fence, if there is a task */
    struct pw_text workflow, id; /* checked */
    pw_edit_fn *decide;
    /* Turns the result of the edit into the caller's answer.  It may ask for another round.  NULL: the result is the
     * answer. */
    pawl_status (*ended)(struct pw_edit *edit, pawl_status status);

    /* This round. */
    int64_t now_ms;              /* the store's time, read once for each round */
    struct pw_instance instance; /* the instance as it was read */
    pawl_status decided;
    struct pawl_error error; /* a later round may still succeed */

    /* What to do once the unit is durable. */
    struct pw_op *held; /* a HOLD or RESTART whose run is handed to the local runner, or NULL */
    bool wakes;         /* the run is due now */
    bool revokes;       /* turns of the run can commit nothing more */

    int conflicts; /* rounds that met a conflict */
};

/* Makes the request an edit, whose rounds each begin anew.  PAWL_BUSY if the instance keeps changing. */
void pw_edit_init(struct pw_edit *edit, struct pw_text workflow, struct pw_text id, pw_edit_fn *decide);

/* ---- For decide ---------------------------------------------------------------------------------------------- */

/* Makes the run go on: in the local runner if it has room, and otherwise as a task that is due now. */
pawl_status pw_edit_go_on(struct pw_edit *edit, enum pw_task_kind kind) PAWL_MUST_CHECK;

/* Adds a line of the engine's to the run's log.  Texts are borrowed until the edit ends. */
pawl_status pw_edit_log(struct pw_edit *edit, struct pw_text message, struct pw_text data) PAWL_MUST_CHECK;

/* ---- For callers that commit without an edit ------------------------------------------------------------------- */

/* The claim of a run that was handed to the local runner in the unit that made it. */
struct pw_claim pw_edit_first_claim(struct pw_fence fence, struct pw_text workflow, struct pw_text id);

#endif
