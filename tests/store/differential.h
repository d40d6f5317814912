/* differential.h - a trial of test_store_differential.c: the stores that are compared, what there is in them, and the units
 * of work that chance makes for them. */
#ifndef TESTS_DIFFERENTIAL_H
#define TESTS_DIFFERENTIAL_H

#include "kit/store_fixture.h"

enum {
    BATCHES_MAX = 50,
    UNITS_MAX = 6,
    OPS_MAX = 4,
    SUBJECTS_MAX = 24,
    DELIVERIES_MAX = 64,
    IDS = 10, /* of each workflow */
    OWNER = 5
};

/* All are compared with the first, which is the store of tests/memory.  The model (store_model.h) knows no pages: only stores are
 * compared by these. */
enum { IN_MEMORY, IN_SQLITE, IN_POSTGRES, STORES, IN_MODEL = STORES, SIDES };

/* An instance, and what it was last seen as, on all sides the same. */
struct subject {
    char id[24];
    struct pw_text workflow;
    int64_t key[SIDES];
    int64_t run, epoch, event_seq, steps;
};

struct delivery {
    int64_t key[SIDES], epoch;
};

struct side {
    struct pw_store *store;
    struct pw_unit units[UNITS_MAX];
    struct pw_arena arena; /* of what is read */
};

struct trial {
    struct fixture fixtures[STORES]; /* for raw SQL; only of SQLite and PostgreSQL */
    struct side sides[SIDES];
    uint64_t seed, chance;
    int64_t now_ms;
    char workflow_names[2][24], hook_names[2][24];
    struct pw_text workflows[2], hooks[2];
    char ids[2][IDS][48];
    int64_t owner; /* one for all: of leases that end together, it is nobody's business which goes first */
    char owned_shards[PW_SHARD_COUNT];
    struct pw_text owned[2]; /* of the first workflow some shards, of the second all */
    struct pw_hook_wanted wanted[2];
    struct subject nobody; /* has no instance */
    struct subject subjects[SUBJECTS_MAX];
    size_t subject_count;
    struct delivery deliveries[DELIVERIES_MAX];
    size_t delivery_count;
    bool is_over[SUBJECTS_MAX];          /* the run that the subject was seen in, by what the batch does */
    bool uses_up;                        /* hooks have few attempts; then claims take all, see make_hook_claim() */
    int64_t numbers;                     /* of whatever needs an id of its own */
    int64_t numbers_told;                /* before the batch: nobody knows an id before it is committed */
    int64_t except[SIDES][SUBJECTS_MAX]; /* instances that no share has */
    struct pw_lease leases[SIDES][UNITS_MAX * OPS_MAX][2];
    size_t lease_sets;
};

/* Chance: the same for the same seed. */
int64_t trial_below(struct trial *trial, int64_t limit);
bool trial_once_in(struct trial *trial, int64_t times);
/* Ids of each workflow. */
void trial_make_ids(struct trial *trial);
/* Units for all sides, from the same chance.  Returns how many there are for each. */
size_t trial_make_batch(struct trial *trial);
/* What claims and the next due time are asked for. */
struct pw_share trial_share(struct trial *trial, size_t side);

/* ---- Flaws ----------------------------------------------------------------------------------------------------------
 * Rules that the memory store breaks on purpose: whoever compares stores must find out. */

enum flaw {
    FLAW_NONE,
    FLAW_PARK_OVERLOOKS_EVENTS,
    FLAW_FENCE_OVERLOOKS_RUN,
    FLAW_RENEW_FOR_ANYBODY,
    FLAW_CLAIM_YOUNGEST_FIRST,
    FLAW_CLAIM_OVERLOOKS_PAUSE,
    FLAW_RESTART_KEEPS_EVENTS,
    FLAW_REFUSAL_LEAVES_TRACES,
    FLAW_SETTLE_OVERLOOKS_EPOCH,
    FLAW_RESTART_KEEPS_WAITING_STEPS,
    FLAW_RESTART_FORGETS_RUN,
    FLAW_RESTART_FORGETS_ERROR,
    FLAW_ANSWER_WAKES_THE_PAUSED,
    FLAW_END_UNANSWERED,
    FLAW_END_OVERLOOKS_DEMAND,
    FLAW_CONTROL_OVERLOOKS_LEASE,
    FLAW_DEMAND_IS_LOWERED,
    FLAW_REACH_TAKES_THE_HELD,
    FLAW_REACH_OVERLOOKS_RUN,
    FLAW_REACH_LEAVES_JOBS,
    FLAW_END_OVERLOOKS_WORKFLOW,
    FLAW_CLAIM_OVERLOOKS_LEASED,
    FLAW_TIME_GOES_BACK,
    FLAW_COUNT
};

/* From now on the memory store breaks this rule, for the life of the process. */
void flaw_plant(struct pw_store *memory, enum flaw flaw);

#endif
