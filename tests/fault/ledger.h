/* ledger.h - what the store has said, kept outside of it.
 *
 * Every unit that was applied is noted: instances created, events added, steps finished.  The ledger says whether a body
 * may run, and after a fault, a crash or a power cut what the database must still hold.  It has a fixed size and points
 * nowhere, so that it can lie in memory shared with a process that gets killed.
 *
 *  L1. A step that is durable is never made durable again, and its row never changes; but for those that failed before a
 *      repair.
 *  L2. A body does not begin once its step is durable, whether or not that was acknowledged. */
#ifndef FAULT_LEDGER_H
#define FAULT_LEDGER_H

#include "store/store.h"

enum {
    LEDGER_MAX = 256,
    LEDGER_TEXT = 64,
    LEDGER_VIOLATION = 512,
    LEDGER_COMMITS_MAX = 128,
    LEDGER_TOLD_MAX = 64,
    LEDGER_TOKEN = 160
};

enum ledger_kind { LEDGER_CREATE, LEDGER_STEP, LEDGER_EVENT };

struct ledger_entry {
    enum ledger_kind kind;
    int64_t instance, run;
    char name[LEDGER_TEXT]; /* the instance's id, the step's name, the event's id */
    bool acknowledged;      /* the engine was told */
    int64_t commit;         /* which */
    int status;             /* of a step, as are the rest */
    int64_t attempts, updated_at_ms;
    char result[LEDGER_TEXT]; /* its beginning */
};

struct ledger {
    struct ledger_entry entries[LEDGER_MAX];
    size_t count;
    int64_t commits;                      /* transactions applied */
    int64_t bodies;                       /* begun */
    size_t act;                           /* of the scenario, that is under way: for who goes on after a crash */
    int64_t log_ends[LEDGER_COMMITS_MAX]; /* size of the write-ahead log after each commit, where somebody notes it */
    char told[LEDGER_TOLD_MAX][LEDGER_TEXT]; /* to hooks, each once, in the order of strcmp */
    size_t told_count;
    char tokens[2][LEDGER_TOKEN];     /* of deferreds, for who completes them */
    bool is_mended;                   /* what steps reach outside works by now */
    char violation[LEDGER_VIOLATION]; /* the first one; "": none */
};

/* In memory that is shared with child processes; NULL when there is none. */
struct ledger *ledger_new(void);
void ledger_free(struct ledger *ledger);

/* Keeps the first. */
void ledger_violate(struct ledger *ledger, const char *format, ...) PAWL_PRINTF(2, 3);

/* For bodies: this one begins. */
void ledger_begin_body(struct ledger *ledger, const char *id, int64_t run, const char *step);

/* For the store: this unit was applied; whether the engine was told. */
void ledger_note(struct ledger *ledger, const struct pw_unit *unit, bool acknowledged);

/* Steps that failed may be put back from now on, whether or not that is acknowledged, and tried again. */
void ledger_mend(struct ledger *ledger);

/* For hooks: this was told, for the first time or again. */
void ledger_tell(struct ledger *ledger, const char *what);

/* Only the first `count` entries are still expected: the power cut was allowed to take the others. */
void ledger_cut(struct ledger *ledger, size_t count);

#endif
