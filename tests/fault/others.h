/* others.h - the part of the scenarios that is about what others finish: calls and their workers, children, deferreds,
 * interruption, repair. */
#ifndef FAULT_OTHERS_H
#define FAULT_OTHERS_H

#include "scenarios.h"

/* Their workflows and functions, as scenario_register(). */
pawl_status others_register(struct world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* Acts, which can be done again as all acts can. */
scenario_act_fn others_work_outside, others_fail_outside; /* claim, heartbeat, and how it ended */
scenario_act_fn others_terminate_keeper, others_interrupt_trip;
scenario_act_fn others_answer_early, others_answer_late, others_let_go;
scenario_act_fn others_mend_and_resume, others_mend_and_retry, others_restart_from_second;

#endif
