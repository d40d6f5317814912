/* compare.h - the rows of a store against the model (invariant 28), and their times among themselves (49).
 *
 * Each store (stores.c) hands over every row that its store holds, as it is stored: instances and deliveries in the
 * order of their keys; steps, events and log lines in that of instance, run and number; the user's rows as they were added.
 * sim_compare_end() finds out what is missing. */
#ifndef SIM_COMPARE_H
#define SIM_COMPARE_H

#include "model.h"

/* Where the last row of a kind was. */
struct sim_place {
    int64_t instance, run, seq, created_at_ms;
};

struct sim_comparison {
    struct sim_model *model;
    int instances, tasks, earlier_runs, steps, events, logs, effects, uniques; /* so far */
    int delivery;                                                              /* the next one that may be stored */
    struct sim_place step, event, log;
};

/* A row of the store.  An instance has its own times only. */
void sim_compare_instance(struct sim_comparison *comparison, const struct pw_instance *row);
void sim_compare_task(struct sim_comparison *comparison, int64_t key, int64_t run, int shard,
                      const struct pw_task *task);
void sim_compare_earlier_run(struct sim_comparison *comparison, int64_t key, const struct pw_earlier_run *row);
void sim_compare_step(struct sim_comparison *comparison, int64_t key, int64_t run, const struct pw_step_row *row);
void sim_compare_event(struct sim_comparison *comparison, int64_t key, int64_t run, const struct pw_event_row *row);
void sim_compare_log(struct sim_comparison *comparison, int64_t key, int64_t run, const struct pw_log_row *row);
void sim_compare_delivery(struct sim_comparison *comparison, int64_t key, const struct pw_hook_row *row);
void sim_compare_effect(struct sim_comparison *comparison, struct pw_text tag);
void sim_compare_unique(struct sim_comparison *comparison, struct pw_text tag);

#endif
