/* edit.h - changing an instance by what its history says: restart, retry, resume after a repair, complete a deferred.
 *
 * An edit is a request (request.h) whose rounds read the instance, let `decide` say what to do about what was read, and commit that
 * under a fence at just what was read.  When somebody moved the run in between nothing happened; the next round reads and decides
 * again.  So a decision never rests on a state that is gone, and no lock is held while deciding. */
#ifndef PW_SERVICE_EDIT_H
#define PW_SERVICE_EDIT_H

#include "service/request.h"

struct pw_edit;
/* Adds ops to the unit, or nothing when there is nothing to do.  Anything but PAWL_OK ends the edit with that. */
typedef pawl_status pw_edit_fn(struct pw_edit *edit, struct pawl_error *error);

struct pw_edit {
    struct pw_request
        request; /* what is read lives in the arena of its unit; the unit has the fence, when there is a task */
    struct pw_text workflow, id; /* checked */
    pw_edit_fn *decide;
    /* How the edit ended becomes what the caller is told; it may ask for another round.  NULL: it stays as it is. */
    pawl_status (*ended)(struct pw_edit *edit, pawl_status status);

    /* This round. */
    int64_t now_ms;              /* the store's, read once */
    struct pw_instance instance; /* as read */
    pawl_status decided;
    struct pawl_error error; /* a later round may still succeed */

    /* What to do once the unit is durable. */
    struct pw_op *held; /* a HOLD or RESTART whose run is handed to the local runner, or NULL */
    bool wakes;         /* the run is due now */
    bool revokes;       /* turns under way can commit nothing more */

    int conflicts; /* rounds that met one */
};

/* Makes an edit of the request, which is begun anew with every round.  PAWL_BUSY when the instance keeps changing. */
void pw_edit_init(struct pw_edit *edit, struct pw_text workflow, struct pw_text id, pw_edit_fn *decide);

/* ---- For decide ---------------------------------------------------------------------------------------------- */

/* Makes the run go on: in the local runner where that has room, otherwise as a task that is due now. */
pawl_status pw_edit_go_on(struct pw_edit *edit, enum pw_task_kind kind) PAWL_MUST_CHECK;

/* A line in the run's log, from the engine.  Texts are borrowed until the edit ends. */
pawl_status pw_edit_log(struct pw_edit *edit, struct pw_text message, struct pw_text data) PAWL_MUST_CHECK;

/* ---- For whoever commits without an edit --------------------------------------------------------------------- */

/* The claim of a run that was handed off as it was made. */
struct pw_claim pw_edit_first_claim(struct pw_fence fence, struct pw_text workflow, struct pw_text id);

#endif
