/* rules.h (internal to core/) - one rule for each op, and what the rules share.  core.h has the numbered rules. */
#ifndef PW_CORE_RULES_H
#define PW_CORE_RULES_H

#include "core/core.h"

/* Fails the transaction: memory is out. */
pawl_status pw_rule_no_memory(struct pw_core *core);
/* Refuses the unit with MOVED. */
pawl_status pw_rule_moved(struct pw_core *core);
/* Called when a rule has changed the run: its row has to be written. */
void pw_rule_changed(struct pw_core_run *run);
/* Ends the run, not before newest_ms, and returns the effect of it.  The calling rule has saved the run.  NULL when
 * memory is out. */
struct pw_effect *pw_rule_end_run(struct pw_core *core, struct pw_core_run *run, enum pw_outcome outcome,
                                  int64_t newest_ms);

/* Lets the run go on: the runner that offers takes it, otherwise it is due now.  Its request for a pause stays, unless it is
 * taken. rules_claim.c. */
pawl_status pw_rule_go_on(struct pw_core *core, struct pw_core_run *run, enum pw_task_kind kind,
                          const struct pw_offer *offer, enum pw_hook_reason reason, bool *out_held,
                          struct pw_claim *out_claim);
/* Pauses the run, whoever held it.  rules_claim.c. */
pawl_status pw_rule_rest(struct pw_core *core, struct pw_core_run *run);
/* Raises the demand.  A turn that has not seen it cannot park past it (R3).  rules_family.c. */
void pw_rule_raise_demand(const struct pw_core *core, struct pw_core_run *run, enum pw_demand least);
/* rules_family.c */
pawl_status pw_rule_reach(struct pw_core *core, struct pw_reach *op);
/* True if a live holder will learn of what is asked of the run. */
bool pw_run_is_held(const struct pw_core *core, const struct pw_core_run *run);
/* Refuse an op that names a run that has ended, or an instance that does not exist. */
pawl_status pw_rule_refuse_ended(struct pw_core *core, const struct pw_core_run *run, struct pw_text workflow,
                                 struct pw_text id);
pawl_status pw_rule_refuse_unknown(struct pw_core *core, struct pw_text workflow, struct pw_text id);

/* effects.c */
pawl_status pw_rule_tell(struct pw_core *core, enum pw_effect_kind kind, int64_t instance, int64_t run);
/* Adds an effect of the run becoming due.  reason 0: it does not. */
pawl_status pw_rule_tell_due(struct pw_core *core, enum pw_effect_kind kind, const struct pw_core_run *run,
                             enum pw_hook_reason reason, int64_t at_ms);

/* Makes the task active and held by the owner from now on.  Clears the request for a pause.  rules_claim.c. */
pawl_status pw_rule_take(struct pw_core *core, struct pw_core_run *run, int64_t owner, int64_t lease_ms,
                         struct pw_claim *claim);

/* For each op: which rows it needs (wants.c; false when memory is out), and the rule that decides it (rules_*.c). */
#define PW_WANT_LOADS(member) bool pw_wants_##member(struct pw_core *core, struct pw_op_##member *op);
#define PW_WANT_FINDS(member)
#define PW_WANT_RUNS(member)
#define PW_OP_FUNCTIONS(KIND, member, how)                                                                             \
    PW_WANT_##how(member) pawl_status pw_rule_##member(struct pw_core *core, struct pw_op_##member *op);
PW_OP_LIST(PW_OP_FUNCTIONS)
#undef PW_OP_FUNCTIONS
#undef PW_WANT_LOADS
#undef PW_WANT_FINDS
#undef PW_WANT_RUNS

#endif
