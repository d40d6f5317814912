/* rules.h (internal to core/) - one rule for each op, and what they share.  core.h has the numbered laws. */
#ifndef PW_CORE_RULES_H
#define PW_CORE_RULES_H

#include "core/core.h"

/* Trouble: memory is out. */
pawl_status pw_rule_no_memory(struct pw_core *core);
/* Refuses the unit with MOVED. */
pawl_status pw_rule_moved(struct pw_core *core);
/* The rule is done with this run: its row is to be written. */
void pw_rule_changed(struct pw_core_run *run);
/* Ends the run, not before newest_ms, and answers the effect that tells of it.  The rule that calls it has kept a copy.  NULL
 * when memory is out. */
struct pw_effect *pw_rule_end_run(struct pw_core *core, struct pw_core_run *run, enum pw_outcome outcome,
                                  int64_t newest_ms);

/* effects.c */
pawl_status pw_rule_tell(struct pw_core *core, enum pw_effect_kind kind, int64_t instance, int64_t run);
/* The run is due; reason 0: it is not. */
pawl_status pw_rule_tell_due(struct pw_core *core, enum pw_effect_kind kind, const struct pw_core_run *run,
                             enum pw_hook_reason reason, int64_t at_ms);

/* rules_task.c */
pawl_status pw_rule_fence(struct pw_core *core, struct pw_op_fence *op);
pawl_status pw_rule_park(struct pw_core *core, struct pw_op_park *op);
pawl_status pw_rule_pause(struct pw_core *core, const struct pw_op_pause *op);
pawl_status pw_rule_renew(struct pw_core *core, struct pw_op_renew *op);

/* rules_claim.c */
/* The task is active and held by the owner from now on.  Clears the request for a pause. */
pawl_status pw_rule_take(struct pw_core *core, struct pw_core_run *run, int64_t owner, int64_t lease_ms,
                         struct pw_claim *claim);
pawl_status pw_rule_hold(struct pw_core *core, struct pw_op_hold *op);

/* rules_run.c */
pawl_status pw_rule_create(struct pw_core *core, struct pw_op_create *op);
pawl_status pw_rule_restart(struct pw_core *core, struct pw_op_restart *op);
pawl_status pw_rule_finish(struct pw_core *core, struct pw_op_finish *op);

/* rules_history.c */
pawl_status pw_rule_step(struct pw_core *core, const struct pw_op_step *op);
pawl_status pw_rule_event(struct pw_core *core, struct pw_op_event *op);
pawl_status pw_rule_consume(struct pw_core *core, const struct pw_op_consume *op);
pawl_status pw_rule_log(struct pw_core *core, const struct pw_op_log *op);

/* rules_family.c */
pawl_status pw_rule_demand(struct pw_core *core, const struct pw_op_demand *op);
pawl_status pw_rule_reach(struct pw_core *core, struct pw_op_reach *op);
pawl_status pw_rule_end(struct pw_core *core, struct pw_op_end *op);

#endif
