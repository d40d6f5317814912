/* transaction.h - a transaction under way.
 *
 * It has three parts.  *Look*: one pipeline locks the tasks of all instances that the units speak of, in the order of
 * their keys, and reads what else the units' checks need.  *Decide*: the units are gone through in order, in memory,
 * against these rows; what they change is kept here as the rows' next state.  *Write*: all of it goes out in a few
 * statements that carry whole columns, and the commit behind them.  So a group commit is two round trips, however many
 * units it has, and two changes of one row are one.
 *
 * Whom a unit names by its name, or by the run that made it, is found and locked by the same statement.  Who has come
 * in between is seen by the next one, and then it is all begun again (is_stale).
 *
 * Claims and reaping find tasks or deliveries by a condition, past what others have locked.  Where they come first, the find
 * goes out with the look; otherwise what was decided so far is sent first.  What was found becomes part of the transaction,
 * and the rules decide about it.  The user's code runs behind what was decided before it, inside a savepoint.
 *
 * An op ends in one of three ways: PAWL_OK; a refusal, told with pw_unit_refuse(), which concerns its unit alone; or
 * trouble, told in transaction->error or in the connection's failure, which ends the transaction for all. */
#ifndef PW_STORE_POSTGRES_TRANSACTION_H
#define PW_STORE_POSTGRES_TRANSACTION_H

#include "core/core.h"
#include "store/postgres/fields.h"
#include "store/postgres/postgres.h"

/* What was found by a condition, and locked, past what others have locked. */
struct pw_pg_find {
    struct pw_pg_find *next;
    const void *op;         /* a claim of runs or of deliveries; NULL: a reap */
    struct pw_arena *arena; /* of a claim's unit */
    struct pw_rows rows;    /* struct pw_core_run * or struct pw_core_delivery * */
};

/* Of a workflow of which only so many may be leased: who claims them has it until the end of the transaction. */
struct pw_pg_gate {
    int64_t key;
    bool is_ours; /* somebody else had it when we looked, otherwise */
};

struct pw_transaction {
    struct pw_core core; /* first, so that the frame finds the transaction */
    struct pw_postgres *postgres;
    struct pw_pg_connection *connection;
    int64_t asked_at_ms; /* by the database's clock, before the first try; now_ms is read behind the locks */

    struct pw_rows paid;      /* struct pw_pg_debt: with the commit */
    struct pw_rows gates;     /* struct pw_pg_gate */
    struct pw_pg_find *finds; /* sent with the look */
    uint64_t owed_last;       /* when it looked: debts that are younger may be of another state than it has seen */
    bool is_stale;            /* somebody came in between: not all that the units name is locked */

    bool has_users_code;
    bool makes_due;  /* somebody else may want to know */
    bool has_beaten; /* the leaseholder's heartbeat was written in this transaction */
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

/* look.c.  Sends what the units need to be decided; *out_sent: there is something to wait for. */
pawl_status pw_look(struct pw_transaction *transaction, struct pw_unit **units, size_t count, bool *out_sent);
/* The record of the task that the fields show, instance and run first, now that it is locked.  One that the batch has already
 * is as it was decided, and may be newer.  NULL: memory is out. */
struct pw_core_run *pw_take_task(struct pw_transaction *transaction, struct pw_fields *fields);
/* Workflow, id, created_at, link and params of a run, unless it has them. */
void pw_take_facts(struct pw_fields *fields, struct pw_core_run *run);
/* Finds: one for an op; the one that went out with the look, or NULL; and what was found.  False or NULL: memory is out. */
struct pw_pg_find *pw_begin_find(struct pw_transaction *transaction, const void *op);
struct pw_pg_find *pw_find_of_look(const struct pw_transaction *transaction, const void *op);
bool pw_add_found(struct pw_pg_find *find, void *record);
/* The gate of the workflow that the claim names, whose limit it is to keep. */
int64_t pw_gate_of(const struct pw_op_claim *op);

/* Sends a question; each row of its answer is taken with the transaction as `user`. */
static inline void pw_ask(struct pw_transaction *transaction, const struct pw_call *call, pw_pg_row_fn *take_row,
                          void *of)
{
    pw_pg_ask(transaction->connection, call, take_row, &transaction->core.arena, transaction, of);
}

/* write.c.  Sends all that was decided and not sent yet. */
pawl_status pw_write(struct pw_transaction *transaction);

/* apply.c.  Waits for what was sent. */
pawl_status pw_settle(struct pw_transaction *transaction);
pawl_status pw_no_memory(struct pw_transaction *transaction);

/* lease_ops.c */
pawl_status pw_claim(struct pw_core *core, struct pw_op_claim *op);
pawl_status pw_reap(struct pw_core *core, struct pw_op_reap *op);
/* Looks for what the claim may take; claim NULL: for the leases of the dead.  NULL: memory is out. */
struct pw_pg_find *pw_send_find(struct pw_transaction *transaction, struct pw_unit *unit,
                                const struct pw_op_claim *claim);
/* The frame's, which renews what is locked by others later. */
pawl_status pw_owe(struct pw_core *core, const struct pw_fence *at, int64_t owner, int64_t until_ms);
/* Renews what is owed and locked by now.  Of what was looked for a moment ago, and is not as it was, nothing is owed any
 * more that was owed before the look. */
pawl_status pw_pay_owed(struct pw_transaction *transaction, bool has_just_looked);
/* struct pw_pg_debt: all that is owed by now.  False: memory is out. */
bool pw_list_owed(struct pw_transaction *transaction, struct pw_rows *out_debts);
/* Before the last is written: makes up for the time that the transaction took, in which nobody could renew what is locked
 * here, and in which leases that are given here have been running already. */
pawl_status pw_keep_leases(struct pw_transaction *transaction);
void pw_forget_paid(struct pw_transaction *transaction); /* it is committed */
/* hook_ops.c */
pawl_status pw_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op);
/* As many more than the claim asks for as are ahead of it. */
struct pw_pg_find *pw_send_hook_find(struct pw_transaction *transaction, const struct pw_op_hook_claim *op,
                                     size_t ahead);
/* Asks for the deliveries that are settled or sent again. */
void pw_lock_hooks(struct pw_transaction *transaction);
/* user_ops.c.  Inside the unit's savepoint. */
pawl_status pw_run_sql(struct pw_transaction *transaction, const struct pw_op_sql *op);
pawl_status pw_run_mutation(struct pw_transaction *transaction, const struct pw_op_mutate *op);

#endif
