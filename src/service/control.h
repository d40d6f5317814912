/* control.h - what control.c and repair.c use of each other: both begin new runs, and a resume may have to repair. */
#ifndef PW_SERVICE_CONTROL_H
#define PW_SERVICE_CONTROL_H

#include "service/edit.h"

/* Which steps of the old run a new one begins with: those before a number, but for one, and for those that lost a race where
 * the race itself may not be among them; see struct pw_op_restart. */
struct pw_kept {
    int64_t before_seq, except_seq;
    bool except_dropped;
};

/* Begins a new run, and says so in the log of the old one: "<verb> as run 2".  What the old one was about ends with it. */
pawl_status pw_control_renew(struct pw_edit *edit, const char *verb, struct pw_kept kept) PAWL_MUST_CHECK;

/* The step has failed, and another attempt could go otherwise: a repair puts it back. */
bool pw_repair_can_mend(const struct pw_step_row *step);

/* Of a run that waits for repair: its failed steps are to be tried again. */
pawl_status pw_repair_steps(struct pw_edit *edit, struct pawl_error *error) PAWL_MUST_CHECK;

/* pawl_retry(), as an edit decides it. */
pw_edit_fn pw_repair_retry;

#endif
