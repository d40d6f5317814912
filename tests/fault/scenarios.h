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

/* The workflows of all scenarios.  Their bodies tell the world's ledger. */
pawl_status scenario_register(struct world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* A hook that tells the ledger what does not depend on luck: that runs were created, and that they finished. */
pawl_status scenario_register_hook(struct world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Playing one ----------------------------------------------------------------------------------------------------
 * How each of these programs plays a scenario: begin, acts, end, and the comparison with the end that no trouble led to.  What
 * goes wrong becomes the ledger's violation. */

/* Clean files, an empty ledger, the clock at its start; opened and prepared, unless the scenario is about opening. */
void play_begin(struct world *world, const struct scenario *scenario);

/* An act that has no reason to fail.  `what` says what it means if it does. */
void play_act(struct world *world, scenario_act_fn *act, const char *what);

/* The acts from that one on, likewise. */
void play_acts(struct world *world, const struct scenario *scenario, size_t from, const char *what);

void play_reopen(struct world *world);

/* Drives on, checks the database against the ledger, reads what came out, closes. */
void play_end(struct world *world, char out_signature[WORLD_SIGNATURE]);

/* The same end?  Otherwise says the first line in which the two differ. */
void play_compare(struct world *world, const char *expected, const char *found);

/* The whole without trouble.  fault_calls() tells afterwards how many calls of each kind there are to try. */
void play_expect(struct world *world, const struct scenario *scenario, char out_signature[WORLD_SIGNATURE]);

#endif
