/* plants.h - known violations, planted to prove that the simulation finds them.  A plant sits between what the model is
 * told and the real store, or in place of a body. */
#ifndef SIM_PLANTS_H
#define SIM_PLANTS_H

#include "store/store.h"

/* name, what it does, the rules that may find it */
#define SIM_PLANTS(PLANT)                                                                                              \
    PLANT(DROPPED_UNIT, "a unit is dropped, and reported as applied", 28, 6, 8, 9, 1, 30, 32, 36)                      \
    PLANT(NO_FENCE, "a lost fence holds all the same", 6)                                                              \
    PLANT(TWO_BODIES, "a body runs twice", 4)                                                                          \
    PLANT(FORGOTTEN_STEP, "a finished step is not found in history", 2)                                                \
    PLANT(FORGOTTEN_ATTEMPT, "a failed attempt is not found in history", 3)                                            \
    PLANT(WRONG_ANSWER, "a finished step's result is another when it is read back", 5)                                 \
    PLANT(OTHER_WINNER, "a race's winner is another when it is read back", 23, 31)                                     \
    PLANT(EARLY_SLEEP, "a sleep's end is read back as earlier", 16)                                                    \
    PLANT(EARLY_RETRY, "a retry's time is read back as earlier", 17)                                                   \
    PLANT(EARLY_TIMEOUT, "a wait's end is read back as earlier", 18)                                                   \
    PLANT(EVENTS_REVERSED, "events are read newest first", 15)                                                         \
    PLANT(EVENT_TWICE, "an event is not marked as consumed", 14, 15, 28)                                               \
    PLANT(EFFECT_TWICE, "a step's SQL runs twice", 28)                                                                 \
    PLANT(LOST_WAKE, "a parked run is due in the year 9999", 28, 30, 9)                                                \
    PLANT(NO_PAUSE, "a paused run is left due", 9, 19, 28, 30, 33, 37)                                                 \
    PLANT(LOST_LOG, "a log line is not written", 28, 36)                                                               \
    PLANT(LATE_TASK, "a finished run's task stays", 6, 7, 9, 19, 28, 30)                                               \
    PLANT(LATE_RESULT, "a body that outlived its timeout completes its step", 26)                                      \
    PLANT(SILENT_REFUSAL, "a refused call is acknowledged", 19)                                                        \
    PLANT(STAYS_PAUSED, "a resumed run stays paused", 19)                                                              \
    PLANT(ODD_FAILURE, "a read fails with what is no failure of reads", 34)                                            \
    PLANT(OTHER_OUTPUT, "whoever waits for a result is shown another one", 35)                                         \
    PLANT(LOST_NEWS, "a log line is left out when lines are read", 36)                                                 \
    PLANT(FORGOTTEN_MARK, "a stream that is taken up again begins at the start", 36)                                   \
    PLANT(UNRECORDED, "what a hook is to be told is not recorded", 37)                                                 \
    PLANT(UNTOLD_CHILD, "a child that its parent's end makes due is not told to hooks", 37)                            \
    PLANT(TOLD_TWICE, "what a hook is to be told is recorded for a second time", 37)                                   \
    PLANT(SETTLED_UNTOLD, "a delivery that failed is settled as delivered", 38)                                        \
    PLANT(ONE_MORE_ATTEMPT, "a delivery is tried once more than it may be", 38)                                        \
    PLANT(NEVER_DUE, "nothing is ever due to be delivered", 39)                                                        \
    PLANT(NO_SHARES, "a runner claims what others own before the grace is over", 40)                                   \
    PLANT(NO_GRACE, "what others own is never claimed", 40)                                                            \
    PLANT(UNANSWERED, "a job or child that ends does not tell its parent", 41)                                         \
    PLANT(WRONG_WORD, "a job ends with what nobody said", 42)                                                          \
    PLANT(JOBS_LEFT, "jobs outlive the run that made them", 43, 44)                                                    \
    PLANT(UNDEMANDED, "attached children outlive a run that is cut off", 44)                                           \
    PLANT(END_WINS, "a run ends as if nothing were demanded of it", 44)                                                \
    PLANT(NOT_UNDONE, "one step of a run that failed is not undone", 45)                                               \
    PLANT(EARLY_DEFERRED, "a deferred's end is read back as earlier", 46)                                              \
    PLANT(KEPT_FAILURE, "a repaired run keeps the step that failed", 47)                                               \
    PLANT(KEPT_ABANDONED, "a run that is restarted from a step keeps what lost a race", 47)                            \
    PLANT(KEPT_NAMED, "a run that is restarted from a step keeps that one, too", 47)                                   \
    PLANT(PUT_BACK_DONE, "a resume puts a completed step back", 1, 47)                                                 \
    PLANT(NOT_PUT_BACK, "a resume leaves a step as it failed", 48)                                                     \
    PLANT(PUT_BACK_HALF, "a resume does not forget an attempt that failed", 48)                                        \
    PLANT(NO_REPAIR, "a run whose work failed for good waits for something else", 48)                                  \
    PLANT(OLDER_STEP, "a step is recorded as older than the one before it", 49)                                        \
    PLANT(UNSEEN_STOP, "a process does not see that its leases ran out while it was stopped", 50)                      \
    PLANT(BLIND_COURIER, "a courier calls a hook without a look at its lease", 38)                                     \
    PLANT(LOSER_FAILED, "what lost a race is recorded as failed", 51)

enum sim_plant_kind {
    SIM_PLANT_NONE,
#define SIM_PLANT_CODE(code, ...) SIM_PLANT_##code,
    SIM_PLANTS(SIM_PLANT_CODE)
#undef SIM_PLANT_CODE
        SIM_PLANT_COUNT
};

struct sim_plant {
    enum sim_plant_kind kind;
    uint64_t calls; /* so that it strikes now and then only */
};

const char *sim_plant_text(enum sim_plant_kind kind);
/* Is this the rule by which it should be found? */
bool sim_plant_is_found_by(enum sim_plant_kind kind, int rule);

/* The store's apply, with the plant's changes to the units, which are undone afterwards; but for wrong decisions of the
 * engine's, not the store's: RESUMED_TO_WAIT, and those about hooks, parents, jobs and repairs. */
pawl_status sim_plant_apply(struct sim_plant *plant, struct pw_store *base, struct pw_unit **units, size_t count,
                            struct pawl_error *error);
/* What the engine is told of the leases of deliveries, by an answer that comes now. */
void sim_plant_claimed(const struct sim_plant *plant, struct pw_unit **units, size_t count, int64_t monotonic_ms);
void sim_plant_steps(struct sim_plant *plant, struct pw_step_row *rows, size_t *count);
/* The same for clients. */
void sim_plant_client_steps(struct sim_plant *plant, struct pw_step_row *rows, size_t count);
void sim_plant_events(struct sim_plant *plant, struct pw_event_row *rows, size_t count);
void sim_plant_logs(struct sim_plant *plant, struct pw_log_row *rows, size_t *count);
/* What the read answers. */
pawl_status sim_plant_instance(struct sim_plant *plant, bool is_result, struct pw_instance *row);

#endif
