/* control.h - what control.c and repair.c share: both begin new runs, and a resume may have to repair. */
#ifndef PW_SERVICE_CONTROL_H
#define PW_SERVICE_CONTROL_H

#include "service/edit.h"

/* Which steps of the old run a new one keeps: those before before_seq, except except_seq, and, with except_dropped,
 * except steps that lost a race; see struct pw_op_restart. */
struct pw_kept {
    int64_t before_seq, except_seq;
    bool except_dropped;
};

/* Begins a new run, and logs "<verb> as run 2" in the old one.  The old run's jobs and waits end with it. */
pawl_status pw_control_renew(struct pw_edit *edit, const char *verb, struct pw_kept kept) PAWL_MUST_CHECK;

/* True if the step has failed and another attempt could succeed: a repair puts such a step back. */
bool pw_repair_can_mend(const struct pw_step_row *step);

/* Puts the failed steps of a run that waits for repair back, so that they are tried again. */
pawl_status pw_repair_steps(struct pw_edit *edit, struct pawl_error *error) PAWL_MUST_CHECK;

/* The decide function of pawl_retry(). */
pw_edit_fn pw_repair_retry;

#endif
