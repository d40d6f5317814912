/* transaction.h - one transaction of the PostgreSQL store, from BEGIN to COMMIT.
 *
 * A transaction applies the units of a group commit in three steps, so that it costs two round trips, however many units
 * and rows it has:
 *
 *   look     look.c sends one pipeline of statements.  They lock the tasks of all instances that the units name, in the
 *            order of their keys, and read what else the rules need.  The first round trip ends with the answers.
 *   decide   core/apply.c runs the rules of each unit in order, in memory, against the loaded rows.  The records of the core
 *            hold the rows as they will be.  No statement is sent for that.
 *   write    write.c sends every changed row once, in a few statements that carry arrays of rows, and apply.c sends COMMIT
 *            behind them.  The second round trip ends with the answer to the COMMIT.
 *
 * Three things can make it longer:
 *
 *   - Rows by name.  Instances that a unit names, and the children and jobs that the end of a run concerns, are found and
 *     locked by the same statement.  A row that is created or restarted between the search and the lock is missed by it and
 *     seen by the next statement.  Then the whole transaction begins again (is_stale).
 *   - Rows by condition.  Claims and reaping find tasks or deliveries by a condition and skip rows that others have locked.
 *     If these ops come first, their find goes out with the look.  Otherwise everything decided so far is sent first, and
 *     the find costs a round trip of its own.  Found rows become records, and the rules decide about them.
 *   - The user's code.  It runs inside a savepoint, after everything decided before it was sent.
 *
 * An op ends in one of three ways: PAWL_OK; a refusal (pw_unit_refuse()), which concerns only its unit; or trouble, which is
 * in the connection's failure or in core.error and ends the transaction for all units. */
#ifndef PW_STORE_POSTGRES_TRANSACTION_H
#define PW_STORE_POSTGRES_TRANSACTION_H

#include "core/core.h"
#include "store/postgres/fields.h"
#include "store/postgres/postgres.h"

/* Rows that were found by a condition and locked.  Rows that others had locked were skipped. */
struct pw_pg_find {
    struct pw_pg_find *next;
    const void *op;         /* the claim of runs or of deliveries; NULL: a reap */
    struct pw_arena *arena; /* of the claim's unit */
    struct pw_rows rows;    /* struct pw_core_run * or struct pw_core_delivery * */
};

/* A gate guards a workflow that has a limit of leases.  A transaction that has the gate is the only one that claims
 * from the workflow, until it ends. */
struct pw_pg_gate {
    int64_t key;
    bool is_ours; /* false: another transaction had it when we looked */
};

struct pw_transaction {
    struct pw_core core; /* first, so that the frame can cast it to the transaction */
    struct pw_postgres *postgres;
    struct pw_pg_connection *connection;
    int64_t asked_at_ms; /* by the database's clock, before the first try; core.now_ms is read after the locks */

    struct pw_rows paid;      /* struct pw_pg_debt: renewals that this commit makes good */
    struct pw_rows gates;     /* struct pw_pg_gate */
    struct pw_pg_find *finds; /* those sent with the look */
    uint64_t owed_last; /* the newest debt at the look; younger debts may belong to a state that it has not seen */
    bool is_stale;      /* a row appeared in between, so not everything that the units name is locked */

    bool has_users_code;
    bool makes_due;  /* it makes a task due, so other processes are notified */
    bool has_beaten; /* this transaction writes the leaseholder's heartbeat */
    bool commit_sent, committed;
    int64_t asked_us;
};

static inline struct pw_transaction *pw_transaction_of(struct pw_core *core)
{
    return (struct pw_transaction *)core;
}

void pw_transaction_init(struct pw_transaction *transaction, struct pw_postgres *postgres,
                         struct pw_pg_connection *connection, struct pawl_error *error);
void pw_transaction_clear(struct pw_transaction *transaction);

/* look.c.  Sends the statements of the look.  *out_sent: there are answers to wait for. */
pawl_status pw_look(struct pw_transaction *transaction, struct pw_unit **units, size_t count, bool *out_sent);
/* Makes a record of the locked task in the fields, which begin with instance and run.  If the batch has the task
 * already, the record stays, because it may be newer.  NULL: memory is out. */
struct pw_core_run *pw_take_task(struct pw_transaction *transaction, struct pw_fields *fields);
/* Sets workflow, id, created_at, link and params of a run, unless it has them. */
void pw_take_facts(struct pw_fields *fields, struct pw_core_run *run);
/* A find for an op; the find that went out with the look, or NULL; and adding a found record.  False or NULL: memory
 * is out. */
struct pw_pg_find *pw_begin_find(struct pw_transaction *transaction, const void *op);
struct pw_pg_find *pw_find_of_look(const struct pw_transaction *transaction, const void *op);
bool pw_add_found(struct pw_pg_find *find, void *record);
/* The key of the gate for the workflow that the claim names. */
int64_t pw_gate_of(const struct pw_op_claim *op);

/* Sends a statement.  take_row is called for each row of its answer, with the transaction as `user`. */
static inline void pw_ask(struct pw_transaction *transaction, const struct pw_call *call, pw_pg_row_fn *take_row,
                          void *of)
{
    pw_pg_ask(transaction->connection, call, take_row, &transaction->core.arena, transaction, of);
}

/* write.c.  Sends every change that was decided and not sent yet. */
pawl_status pw_write(struct pw_transaction *transaction);

/* apply.c.  Waits for the answers to everything that was sent. */
pawl_status pw_settle(struct pw_transaction *transaction);
pawl_status pw_no_memory(struct pw_transaction *transaction);

/* lease_ops.c */
pawl_status pw_claim(struct pw_core *core, struct pw_op_claim *op);
pawl_status pw_reap(struct pw_core *core, struct pw_op_reap *op);
/* Sends the find of a claim; claim NULL: finds the leases of dead runners.  NULL: memory is out. */
struct pw_pg_find *pw_send_find(struct pw_transaction *transaction, struct pw_unit *unit,
                                const struct pw_op_claim *claim);
/* The frame's `owe`: the lease is renewed later, because another transaction has locked its task. */
pawl_status pw_owe(struct pw_core *core, const struct pw_fence *at, int64_t owner, int64_t until_ms);
/* Makes good every owed renewal whose task is locked by now.  With has_just_looked, also forgets debts that are
 * older than the look and whose tasks have changed hands since. */
pawl_status pw_pay_owed(struct pw_transaction *transaction, bool has_just_looked);
/* Lists everything that is owed by now, as struct pw_pg_debt.  False: memory is out. */
bool pw_list_owed(struct pw_transaction *transaction, struct pw_rows *out_debts);
/* Called before the last write.  Extends leases by the time that the transaction took, because nobody could renew
 * tasks that were locked here, and because leases that are given here have been running since the transaction was
 * asked for. */
pawl_status pw_keep_leases(struct pw_transaction *transaction);
void pw_forget_paid(struct pw_transaction *transaction); /* called once it is committed */
/* hook_ops.c */
pawl_status pw_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op);
/* `ahead` is how many deliveries earlier finds of the same look may take.  So many more are found. */
struct pw_pg_find *pw_send_hook_find(struct pw_transaction *transaction, const struct pw_op_hook_claim *op,
                                     size_t ahead);
/* Asks for the deliveries that are settled or sent again. */
void pw_lock_hooks(struct pw_transaction *transaction);
/* user_ops.c.  Both run inside the unit's savepoint. */
pawl_status pw_run_sql(struct pw_transaction *transaction, const struct pw_op_sql *op);
pawl_status pw_run_mutation(struct pw_transaction *transaction, const struct pw_op_mutate *op);

#endif
