/* store.h - a store in plain memory, for tests: the rules of core/ and nothing else.
 *
 * Rows are C structures.  Every transition is decided by core/; this store loads rows, finds candidates, publishes what was
 * decided and reads rows back.  It answers as SQLite in memory does: the same orders, pages, shares, times and counts.
 *
 *  - A transaction is published row by row and keeps the old bytes of everything that it changes, so that a refused unit, or the
 *    whole transaction, can be undone (rows.h).
 *  - Texts are never freed singly.  The store grows until it is reset or closed.
 *  - One lock guards everything.  now_ms() takes no lock.
 *  - Runners live from announce() until withdraw().  The store never knows that one is dead, so REAP ends no lease. */
#ifndef TESTS_MEMORY_STORE_H
#define TESTS_MEMORY_STORE_H

#include "store/store.h"

/* NULL when memory is out. */
struct pw_store *memory_store_new(struct pawl_clock clock);
/* Forgets all rows.  Keys begin at 1 again.  Announced runners stay. */
void memory_store_reset(struct pw_store *store);

/* ---- The user's code --------------------------------------------------------------------------------------------------- */

/* There is no SQL here.  A test's function carries out the statements that the test knows, on a ledger: rows of tables that have
 * an id and maybe a number.  Without a function, SQL is refused.  A mutation gets the store as its connection. */
struct memory_entry {
    struct pw_text table, id;
    bool has_number;
    int64_t number;
};

/* PW_REFUSED_NOT, UNIQUE or MUTATION_FAILED. */
typedef enum pw_refusal memory_sql_fn(struct pw_store *store, const struct pw_op_sql *op);
void memory_store_set_sql(struct pw_store *store, memory_sql_fn *run_sql);

/* Only for the user's code.  All is copied.  False when memory is out. */
bool memory_ledger_add(struct pw_store *store, const struct memory_entry *entry);
bool memory_ledger_set(struct pw_store *store, const struct memory_entry *entry, bool has_number, int64_t number);

/* In the order in which they were added; NULL past the last.  Borrowed until the next change. */
const struct memory_entry *memory_ledger_at(const struct pw_store *store, size_t position);
/* The first one; NULL: there is none. */
const struct memory_entry *memory_ledger_find(const struct pw_store *store, struct pw_text table, struct pw_text id);

#endif
