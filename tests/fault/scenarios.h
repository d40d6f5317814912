/* scenarios.h - small deterministic programs over the public API, as lists of acts.
 *
 * An act can be done again: when it failed, or when nobody knows whether it succeeded.  So a driver does the acts in order,
 * and does one again after trouble, until all are done; what is then in the database is the same as without trouble. */
#ifndef FAULT_SCENARIOS_H
#define FAULT_SCENARIOS_H

#include "world.h"

typedef pawl_status scenario_act_fn(struct world *world, struct pawl_error *error);

enum { SCENARIO_ACTS_MAX = 16 };

struct scenario {
    const char *name;
    bool is_about_opening;     /* starts with no database, and opens it itself */
    bool has_hook;             /* a hook is registered, and told of everything */
    bool survives_beginning;   /* all its acts can be done again in order after any of them: for power cuts and kills */
    scenario_act_fn *prepare;  /* or NULL; before anything fails */
    const char *workflow, *id; /* of the instance that it creates, if it is about one */
    scenario_act_fn *acts[SCENARIO_ACTS_MAX];
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;

/* NULL: there is none of that name. */
const struct scenario *scenario_find(const char *name);

/* Does it with a scope of its own.  That there is none is told as any want of memory. */
typedef pawl_status scenario_scoped_fn(struct world *world, pawl_scope *scope, struct pawl_error *error);
pawl_status scenario_in_scope(struct world *world, scenario_scoped_fn *act, struct pawl_error *error) PAWL_MUST_CHECK;

/* What acts are made of.  An instance that is there already, and an event for one that has finished, are fine. */
pawl_status scenario_create(struct world *world, const char *workflow, const char *id,
                            struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status scenario_send(struct world *world, const char *workflow, const char *id, const char *type,
                          struct pawl_error *error) PAWL_MUST_CHECK;
/* Its status and run number, which is all that acts ask for. */
pawl_status scenario_look(struct world *world, const char *workflow, const char *id,
                          enum pawl_instance_status *out_status, int64_t *out_run,
                          struct pawl_error *error) PAWL_MUST_CHECK;

/* The workflows of all scenarios.  Their bodies tell the world's ledger. */
pawl_status scenario_register(struct world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* A hook that tells the ledger what does not depend on luck: that runs were created, and that they finished. */
pawl_status scenario_register_hook(struct world *world, struct pawl_error *error) PAWL_MUST_CHECK;

#endif
