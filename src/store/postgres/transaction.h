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
 * Claims, reaping and hook deliveries are decided by the database: what was decided so far is sent first, then their
 * statement, and later units see the answer (pw_settle()).  So is the user's code, inside a savepoint.
 *
 * An op ends in one of three ways: PAWL_OK; a refusal, told with pw_pg_refuse(), which concerns its unit alone; or
 * trouble, told in transaction->error or in the connection's failure, which ends the transaction for all. */
#ifndef PW_STORE_POSTGRES_TRANSACTION_H
#define PW_STORE_POSTGRES_TRANSACTION_H

#include "base/table.h"
#include "store/postgres/postgres.h"

/* One instance: its task as it is by now, and as much of the instance as somebody asked for. */
struct pw_pg_run {
    int64_t key;
    uint64_t saved_in; /* the unit that has kept a copy to go back to; in each kind of record */
    bool wants_lock, wants_facts, wants_params;
    bool is_told;    /* by an answer, so its task must be locked if it has one */
    bool wants_task; /* its lock is waited for */

    bool has_task;   /* and it is locked, or ours alone */
    bool is_seen;    /* there is one, as it is here, but somebody else has it locked: it may only be looked at */
    bool is_stored;  /* a task row is in the database */
    bool is_changed; /* what is there is not what is here */
    int64_t run;     /* the task's */
    struct pw_task task;

    bool is_known;        /* instance_run and workflow are */
    int64_t instance_run; /* the instance's */
    struct pw_text workflow, id, params;
    int64_t created_at_ms;
    struct pw_link link; /* of those that were created here, begin again, or may be reached */
    enum { PW_PG_SAME, PW_PG_NEW, PW_PG_CHANGED } change; /* of the instance row: what follows is to be written */
    enum pw_outcome outcome;
    struct pw_text output, error_name, error_message;
    int64_t updated_at_ms, started_at_ms, completed_at_ms;
};

/* By instance, run and number.  What is to be written is in the ops. */
struct pw_pg_step {
    int64_t place[3];
    uint64_t saved_in;
    bool exists; /* in the database */
    const struct pw_op_step *insert, *update;
};
struct pw_pg_event {
    int64_t place[3];
    uint64_t saved_in;
    bool exists;
    const struct pw_op_event *insert;
    const struct pw_op_consume *consume;
};

/* An id that a run's event has, or is to have. */
struct pw_pg_event_id {
    int64_t instance, run;
    struct pw_text id;
    uint64_t saved_in;
    bool taken;
};

/* The last line of a run's log. */
struct pw_pg_tail {
    int64_t place[2];
    uint64_t saved_in;
    int64_t seq;
};

/* A workflow's instance by its id; key 0: there is none. */
struct pw_pg_name {
    struct pw_text workflow, id;
    uint64_t saved_in;
    int64_t key;
    bool is_to_end; /* so its task must be locked */
};

/* Records of one kind, by key and in the order in which they were first asked for. */
struct pw_pg_set {
    struct pw_table table;
    struct pw_rows list; /* pointers */
};

struct pw_pg_log {
    const struct pw_op_log *op;
    int64_t seq;
};
struct pw_pg_hook {
    const struct pw_op_hook *op;
    struct pw_text id;
    int64_t instance, run;
};

/* Of a workflow of which only so many may be leased: who claims them has it until the end of the transaction. */
struct pw_pg_gate {
    int64_t key;
    bool is_ours; /* somebody else had it when we looked, otherwise */
};

struct pw_pg_saved; /* a copy to go back to */

struct pw_transaction {
    struct pw_postgres *postgres;
    struct pw_pg_connection *connection;
    int64_t now_ms;
    int64_t begun_ms; /* by this database's clock, before the first try; now_ms may be of another's */
    struct pawl_error *error;
    struct pw_arena arena;

    struct pw_pg_set runs, steps, events, event_ids, tails, names;
    struct pw_rows logs;  /* struct pw_pg_log, not written yet */
    struct pw_rows hooks; /* struct pw_pg_hook, the same */
    struct pw_rows kept;  /* struct pw_op_restart *: of steps that are to be copied */
    struct pw_rows keys;  /* int64_t: for instances to come */
    size_t keys_used;
    int64_t keys_wanted;

    /* What is looked for, besides rows by their numbers. */
    struct pw_rows answers; /* const struct pw_op_event * */
    struct pw_rows reaches; /* const struct pw_op_reach * */
    struct pw_rows paid;    /* struct pw_pg_debt: with the commit */
    struct pw_rows gates;   /* struct pw_pg_gate */
    uint64_t owed_last;     /* when it looked: debts that are younger may be of another state than it has seen */
    bool ends_by_name;
    bool is_stale; /* somebody came in between: not all that the units speak of is locked */

    struct pw_unit *unit; /* the one that is being decided */
    bool refused;         /* it was */
    bool has_acted;       /* it did something that no copy goes back from */
    uint64_t unit_number;
    struct pw_pg_saved *saved;
    size_t logs_before, hooks_before, kept_before, keys_before;

    bool has_users_code;
    bool is_behind;  /* the database changed tasks, and its answer is not here yet */
    int answers_due; /* to what the database decides */
    bool makes_due;  /* somebody else may want to know */
    int64_t beat_of; /* a runner that claims or renews; 0: none */
    bool commit_sent, committed;
    int64_t asked_us;
};

/* records.c.  NULL when memory is out.  find gives NULL where there is none. */
struct pw_pg_run *pw_want_run(struct pw_transaction *transaction, int64_t key);
struct pw_pg_run *pw_find_run(struct pw_transaction *transaction, int64_t key);
struct pw_pg_step *pw_want_step(struct pw_transaction *transaction, int64_t instance, int64_t run, int64_t seq);
struct pw_pg_event *pw_want_event(struct pw_transaction *transaction, int64_t instance, int64_t run, int64_t seq);
struct pw_pg_event_id *pw_want_event_id(struct pw_transaction *transaction, int64_t instance, int64_t run,
                                        struct pw_text id);
struct pw_pg_tail *pw_want_tail(struct pw_transaction *transaction, int64_t instance, int64_t run);
struct pw_pg_name *pw_want_name(struct pw_transaction *transaction, struct pw_text workflow, struct pw_text id);
/* Keeps a copy of a record before the unit changes it for the first time.  False: memory is out. */
bool pw_save(struct pw_transaction *transaction, void *record, size_t size, uint64_t *saved_in);
#define PW_SAVE(transaction, record) pw_save((transaction), (record), sizeof *(record), &(record)->saved_in)
void pw_begin_unit(struct pw_transaction *transaction, struct pw_unit *unit);
/* Makes undone what the unit did here. */
void pw_undo_unit(struct pw_transaction *transaction);
void pw_transaction_init(struct pw_transaction *transaction, struct pw_postgres *postgres,
                         struct pw_pg_connection *connection, int64_t now_ms, struct pawl_error *error);
void pw_transaction_clear(struct pw_transaction *transaction);

/* look.c.  Sends what the units need to be decided; *out_sent: there is something to wait for. */
pawl_status pw_look(struct pw_transaction *transaction, struct pw_unit **units, size_t count, bool *out_sent);
/* The gate of the workflow that the claim names, whose limit it is to keep. */
int64_t pw_gate_of(const struct pw_op_claim *op);

/* decide.c */
pawl_status pw_decide(struct pw_transaction *transaction, struct pw_op *op);
/* The unit is not applied; why is in its error: `return pw_pg_refuse(transaction, pw_error(&unit->error, ...))`. */
pawl_status pw_pg_refuse(struct pw_transaction *transaction, pawl_status status);
pawl_status pw_pg_refuse_moved(struct pw_transaction *transaction);
/* NULL: the instance has no task. */
struct pw_pg_run *pw_find_task(struct pw_transaction *transaction, int64_t instance);
/* The run is over: what is to be written of its instance. */
void pw_end_run(struct pw_transaction *transaction, struct pw_pg_run *run, enum pw_outcome outcome);

/* family.c */
pawl_status pw_decide_event(struct pw_transaction *transaction, struct pw_op_event *op);
pawl_status pw_decide_demand(struct pw_transaction *transaction, const struct pw_op_demand *op);
pawl_status pw_decide_reach(struct pw_transaction *transaction, struct pw_op_reach *op);
pawl_status pw_decide_end(struct pw_transaction *transaction, struct pw_op_end *op);

/* write.c.  Sends all that was decided and not sent yet. */
pawl_status pw_write(struct pw_transaction *transaction);

bool pw_runs_users_code(const struct pw_unit *unit); /* apply.c */
/* apply.c.  Waits for what was sent. */
pawl_status pw_settle(struct pw_transaction *transaction);
pawl_status pw_no_memory(struct pw_transaction *transaction);

/* lease_ops.c */
pawl_status pw_send_claim(struct pw_transaction *transaction, struct pw_op_claim *op);
pawl_status pw_send_reap(struct pw_transaction *transaction, struct pw_op_reap *op);
pawl_status pw_decide_renew(struct pw_transaction *transaction, struct pw_op_renew *op);
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
pawl_status pw_send_hook_claim(struct pw_transaction *transaction, struct pw_op_hook_claim *op);
pawl_status pw_send_hook_settle(struct pw_transaction *transaction, struct pw_op_hook_settle *op);
pawl_status pw_send_hook_resend(struct pw_transaction *transaction, struct pw_op_hook_resend *op);
/* user_ops.c.  Inside the unit's savepoint. */
pawl_status pw_run_sql(struct pw_transaction *transaction, const struct pw_op_sql *op);
pawl_status pw_run_mutation(struct pw_transaction *transaction, const struct pw_op_mutate *op);

/* The least relation of those whom the op concerns: without a demand there are only jobs. */
static inline enum pw_relation pw_least_reached(const struct pw_op_reach *op)
{
    return op->demand == PW_DEMAND_NONE ? PW_RELATION_JOB : PW_RELATION_ATTACHED;
}

/* The time an op carries, or the transaction's. */
static inline int64_t pw_time_or_now(const struct pw_transaction *transaction, int64_t at_ms)
{
    return at_ms != 0 ? at_ms : transaction->now_ms;
}

#endif
