/* play.h - how every one of these programs plays a scenario: begin, acts, end, and the comparison with an end that no
 * trouble led to.  What goes wrong becomes the ledger's violation. */
#ifndef FAULT_PLAY_H
#define FAULT_PLAY_H

#include "scenarios.h"

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
