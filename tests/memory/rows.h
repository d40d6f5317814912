/* rows.h - the inside of the memory store: its rows, how they are found, and how a change is undone.
 *
 * Whoever changes bytes of the store inside a transaction calls memory_touch() first.  It keeps the old bytes in the journal, and
 * memory_undo_to() puts them back, newest first.  Memory that was taken from the arena meanwhile is not given back. */
#ifndef TESTS_MEMORY_ROWS_H
#define TESTS_MEMORY_ROWS_H

#include <pthread.h>

#include "base/table.h"
#include "core/core.h"
#include "memory/store.h"
#include "store/sqlite/presence.h"
#include "store/sqlite/sightings.h"

struct memory_instance {
    struct pw_instance row; /* its own times only; reads merge them with the task's and the newest step's */
    int shard;
    struct pw_rows earlier;          /* struct pw_earlier_run, in the order of their numbers */
    struct memory_instance *same_id; /* the next one of this id, of another workflow */
};

/* What was recorded for one run.  Rows are in the order of seq, which is the first member of each. */
struct memory_history {
    int64_t place[2];     /* instance, run */
    struct pw_rows steps; /* struct pw_step_row */
    struct pw_rows events, logs;
};

struct memory_hook {
    int64_t instance;
    bool is_gone; /* delivered; forgotten when the transaction ends */
    struct pw_hook_row row;
};

struct memory_change {
    struct memory_change *older;
    void *place;
    size_t size;
    unsigned char before[];
};

struct memory_store {
    struct pw_store store;
    struct pw_store_ops ops;
    struct pawl_clock clock;
    pthread_mutex_t lock;
    struct pw_arena arena;     /* of all rows and texts */
    struct pw_rows instances;  /* struct memory_instance *, by key - 1 */
    struct pw_table ids;       /* struct memory_instance **: the first of that id, or NULL */
    struct pw_table histories; /* struct memory_history * */
    struct pw_rows hooks;      /* struct memory_hook *, in the order of their keys */
    int64_t hook_keys;         /* handed out */
    struct pw_rows ledger;     /* struct memory_entry */
    struct pw_rows runners;    /* struct pw_runner_row, in the order of their owners */
    struct pw_presence presence;
    struct pw_sightings sightings;
    memory_sql_fn *run_sql;
    const struct memory_spoiler *spoiler; /* borrowed; NULL: no rule is broken */

    /* The transaction under way. */
    struct pw_arena *journal;
    struct memory_change *changes; /* newest first */
};

/* A batch of units.  The core's frame gets it as its core. */
struct memory_transaction {
    struct pw_core core;
    struct memory_store *store;
};

/* A read under way, with the lock held. */
struct memory_reading {
    struct memory_store *store;
    const struct pw_read *asked;
    struct pw_arena *arena;
    struct pw_found *found; /* out */
    struct pawl_error *error;
};

/* Breaks rules on purpose, just before and just after an op is decided: for tests that must find out. */
struct memory_spoiler {
    void (*before)(struct memory_transaction *transaction, struct pw_op *op, void *user);
    void (*after)(struct memory_transaction *transaction, struct pw_op *op, void *user);
    void *user;
    bool keeps_refused;         /* a refused unit is not undone */
    bool claims_youngest_first; /* instead of what is due longest */
};

static inline struct memory_store *memory_of(const struct pw_store *store)
{
    return (struct memory_store *)store;
}

static inline struct memory_store *memory_of_core(struct pw_core *core)
{
    return ((struct memory_transaction *)core)->store;
}

/* ---- rows.c -------------------------------------------------------------------------------------------------------------- */

bool memory_touch(struct memory_store *store, void *place, size_t size); /* false when memory is out */
void memory_undo_to(struct memory_store *store, const struct memory_change *change);

/* NULL: there is none. */
struct memory_instance *memory_instance_at(const struct memory_store *store, int64_t key);
/* The next one in the order of keys, past *position, which begins at 0; NULL past the last. */
struct memory_instance *memory_instance_next(const struct memory_store *store, size_t *position);
struct memory_instance *memory_instance_named(const struct memory_store *store, struct pw_text workflow,
                                              struct pw_text id);
const struct memory_history *memory_history_of(const struct memory_store *store, int64_t instance, int64_t run);
const struct pw_step_row *memory_step_at(const struct memory_history *history, int64_t seq);
const struct pw_event_row *memory_event_at(const struct memory_history *history, int64_t seq);
const struct pw_event_row *memory_event_of_id(const struct memory_history *history, struct pw_text id);
enum pawl_instance_status memory_status_of(const struct pw_instance *row);
/* The last row; NULL: there is none. */
const void *memory_newest(const struct pw_rows *rows);

/* A history to add rows to.  NULL when memory is out. */
struct memory_history *memory_history_make(struct memory_store *store, int64_t instance, int64_t run);
/* A zeroed row at the end.  NULL when memory is out. */
void *memory_add(struct memory_store *store, struct pw_rows *rows);
/* A zeroed row with this seq, at its place. */
void *memory_insert(struct memory_store *store, struct pw_rows *rows, int64_t seq);
/* A zeroed instance with this key, found by its name.  The texts are the store's already. */
struct memory_instance *memory_instance_add(struct memory_store *store, int64_t key, struct pw_text workflow,
                                            struct pw_text id);

/* Copies of rows with all their texts.  False when memory is out. */
typedef bool memory_copy_fn(struct pw_arena *arena, const void *from, void *to);
memory_copy_fn memory_copy_instance, memory_copy_earlier_run, memory_copy_step, memory_copy_event, memory_copy_log,
    memory_copy_hook, memory_copy_runner;

/* ---- The frame: write.c, find.c, hooks.c ------------------------------------------------------------------------------------ */

/* Fills the record from the store's rows, once. */
void memory_load(struct memory_store *store, struct pw_core_run *run);
pawl_status memory_write(struct pw_core *core);
pawl_status memory_claim(struct pw_core *core, struct pw_op_claim *op);
pawl_status memory_reap(struct pw_core *core, struct pw_op_reap *op);
pawl_status memory_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op);
bool memory_load_hooks(struct memory_store *store, struct pw_core *core);
bool memory_write_delivery(struct memory_store *store, const struct pw_core_delivery *delivery);
bool memory_add_hook(struct memory_store *store, const struct pw_core_hook *hook);
void memory_forget_gone_hooks(struct memory_store *store);

/* ---- The store's functions -------------------------------------------------------------------------------------------------- */

pawl_status memory_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error);
/* Fill the entries of the table: reads.c, find.c, hooks.c. */
#define MEMORY_READ(kind, function) pawl_status memory_##function(const struct memory_reading *reading);
PW_READS(MEMORY_READ)
#undef MEMORY_READ

#endif
