/* edit.h - changing an instance by what its history says: restart, retry, resume after a repair.
 *
 * An edit reads the instance, lets its `decide` say what to do about what was read, and commits that under a fence at
 * just what was read.  When somebody moved the run in between nothing happened; it reads and decides again.  So a
 * decision never rests on a state that is gone, and no lock is held while deciding. */
#ifndef PW_SERVICE_EDIT_H
#define PW_SERVICE_EDIT_H

#include "engine/engine.h"

struct pw_edit {
    pawl_engine *engine;
    int64_t now_ms;              /* the store's, read once */
    struct pw_arena *arena;      /* of this round; what is read lives in it */
    struct pw_unit *unit;        /* has the fence already, when there is a task */
    struct pw_instance instance; /* as read in this round */

    /* What to do once the unit is durable. */
    struct pw_op *held; /* a HOLD or RESTART whose run is handed to the local runner, or NULL */
    bool wakes;         /* the run is due now */
    bool revokes;       /* turns under way can commit nothing more */
};

/* Adds ops to the unit, or nothing when there is nothing to do.  Anything but PAWL_OK ends the edit with that. */
typedef pawl_status pw_edit_fn(struct pw_edit *edit, void *user, struct pawl_error *error);

/* Both arguments must have been checked.  PAWL_BUSY when the instance keeps changing. */
pawl_status pw_edit_run(pawl_engine *engine, struct pw_text workflow, struct pw_text id, pw_edit_fn *decide, void *user,
                        struct pawl_error *error) PAWL_MUST_CHECK;

/* The same without waiting: `answered` is called once, with user and the outcome.  All is borrowed until then. */
void pw_edit_start(pawl_engine *engine, struct pw_text workflow, struct pw_text id, pw_edit_fn *decide,
                   void *decide_user, struct pawl_error *error, pawl_answered_fn *answered, void *user);

/* ---- For decide ---------------------------------------------------------------------------------------------- */

/* due_at_ms 0 keeps the task's due time; PW_NOW is now. */
pawl_status pw_edit_park(struct pw_edit *edit, enum pw_task_status status, enum pw_task_kind kind,
                         int64_t due_at_ms) PAWL_MUST_CHECK;

/* Makes the run go on: in the local runner where that has room, otherwise as a task that is due now. */
pawl_status pw_edit_go_on(struct pw_edit *edit, enum pw_task_kind kind) PAWL_MUST_CHECK;

/* A line in the run's log, from the engine.  Texts are borrowed until the edit ends. */
pawl_status pw_edit_log(struct pw_edit *edit, struct pw_text message, struct pw_text data) PAWL_MUST_CHECK;

/* ---- For whoever commits without an edit --------------------------------------------------------------------- */

/* The claim of a run that was handed off as it was made. */
struct pw_claim pw_edit_first_claim(struct pw_fence fence, struct pw_text workflow, struct pw_text id);

/* Passes on what went wrong inside; for calls that may still succeed after it.  Returns the status. */
pawl_status pw_edit_report(struct pawl_error *error, pawl_status status, const struct pawl_error *inner);

#endif
