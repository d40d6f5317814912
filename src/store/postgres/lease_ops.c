/* lease_ops.c - claims, reaping and renewals.
 *
 * Claims and reaping find tasks by a condition and skip those that other transactions have locked.  The core decides
 * about each found task.  A renewal skips locked tasks as well.  The store then owes it (owed.h), and a later
 * transaction that has the task locked pays. */
#include <assert.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "store/postgres/fields.h"
#include "store/postgres/transaction.h"

enum {
    CLAIM_MAX = 100000,
    CANDIDATES_MORE = 64,
    LONG_MS =
        PW_LEASE_MS_MIN / 5 /* how long a transaction may take without extending the leases that it keeps locked */
};

static int64_t passed_ms(const struct pw_transaction *transaction)
{
    int64_t passed = pw_pg_clock_now_ms(&transaction->postgres->clock) - transaction->asked_at_ms;
    return passed > 0 ? passed : 0;
}

/* ---- Finding ------------------------------------------------------------------------------------------------- */

struct pw_pg_find *pw_begin_find(struct pw_transaction *transaction, const void *op)
{
    struct pw_pg_find *find = pw_arena_zero(&transaction->core.arena, sizeof *find);
    if (find == NULL)
        return NULL;
    find->op = op;
    find->rows = (struct pw_rows){ .arena = &transaction->core.arena, .row_size = sizeof(void *) };
    return find;
}

struct pw_pg_find *pw_find_of_look(const struct pw_transaction *transaction, const void *op)
{
    struct pw_pg_find *find = transaction->finds;
    while (find != NULL && find->op != op)
        find = find->next;
    return find;
}

bool pw_add_found(struct pw_pg_find *find, void *record)
{
    void **place = pw_rows_add(&find->rows);
    if (place != NULL)
        *place = record;
    return place != NULL;
}

static bool take_claimable(void *user, void *of, struct pw_fields *fields)
{
    struct pw_core_run *run = pw_take_task(user, fields);
    if (run == NULL)
        return false;
    pw_take_facts(fields, run);
    run->params_bytes = (size_t)pw_field_count(fields);
    return pw_add_found(of, run);
}

static bool take_lease(void *user, void *of, struct pw_fields *fields)
{
    struct pw_core_run *run = pw_take_task(user, fields);
    return run != NULL && pw_add_found(of, run);
}

/* Leases that are owed a renewal look as if they were over, so the find leaves them out.  0 is no instance's key. */
static bool put_owed(struct pw_transaction *transaction, struct pw_columns *columns)
{
    struct pw_rows debts;
    if (!pw_list_owed(transaction, &debts))
        return false;
    pw_columns_row(columns, PW_VALUES(pw_int(0)));
    for (size_t i = 0; i < debts.count; i++)
        pw_columns_row(columns, PW_VALUES(pw_int(((const struct pw_pg_debt *)debts.rows)[i].fence.instance)));
    return true;
}

static bool send_claim(struct pw_transaction *transaction, const struct pw_op_claim *op, struct pw_pg_find *find)
{
    int64_t max = op->max < CLAIM_MAX ? (int64_t)op->max : CLAIM_MAX;
    struct pw_columns workflows = { .arena = &transaction->core.arena }, owed = workflows, except = workflows;
    struct pw_call call;
    for (size_t i = 0; i < op->workflow_count; i++)
        pw_columns_row(&workflows,
                       PW_VALUES(pw_str(op->workflows[i]),
                                 pw_str(op->share.owned != NULL ? op->share.owned[i] : (struct pw_text){ NULL, 0 })));
    pw_put_excepted(&except, &op->share);
    if (!put_owed(transaction, &owed))
        return false;
    pw_call_init(&call, op->leased_max != 0 ? PW_PG_CLAIM_UP_TO : PW_PG_CLAIM, PW_NO_VALUES);
    pw_call_columns(&call, &workflows);
    pw_call_add(&call, PW_VALUES(pw_int(transaction->core.now_ms), pw_int(op->share.grace_ms), pw_int(max),
                                 pw_int(2 * max + CANDIDATES_MORE)));
    pw_call_columns(&call, &owed);
    pw_call_columns(&call, &except);
    const struct pw_value limits[] = { op->bytes_max != 0 ? pw_size(op->bytes_max) : pw_optional(0),
                                       pw_size(op->leased_max) };
    pw_call_add(&call, limits, op->leased_max != 0 ? 2 : 1);
    pw_pg_ask(transaction->connection, &call, take_claimable, find->arena, transaction, find);
    return true;
}

/* The time against which heartbeats are compared.  If our own heartbeat was interrupted, we cannot tell who is dead.
 * Then only runners count that have withdrawn, whose heartbeat is 0. */
static int64_t listening_until_ms(struct pw_postgres *postgres)
{
    bool can_tell = pw_pg_clock_is_ours(&postgres->clock) || /* a test's own clock has no heartbeat thread */
                    pw_pg_presence_can_tell(&postgres->presence, pw_system_monotonic_ms());
    return can_tell ? pw_pg_clock_now_ms(&postgres->clock) : PW_PG_DEAD_MS + 1;
}

/* Sends a statement about the dead runners.  The runners of this store live, whatever their heartbeats say. */
static void send_about_dead(struct pw_transaction *transaction, enum pw_pg_query name, pw_pg_row_fn *take, void *of)
{
    struct pw_columns owners = { .arena = &transaction->core.arena };
    struct pw_call call;
    pw_columns_row(&owners, PW_VALUES(pw_int(0))); /* no runner's number; an array needs an element */
    pw_pg_presence_put_owners(&transaction->postgres->presence, &owners);
    pw_call_init(&call, name, PW_VALUES(pw_int(transaction->core.now_ms)));
    pw_call_columns(&call, &owners);
    pw_call_add(&call, PW_VALUES(pw_int(listening_until_ms(transaction->postgres))));
    pw_ask(transaction, &call, take, of);
}

struct pw_pg_find *pw_send_find(struct pw_transaction *transaction, struct pw_unit *unit,
                                const struct pw_op_claim *claim)
{
    struct pw_pg_find *find = pw_begin_find(transaction, claim);
    if (find == NULL)
        return NULL;
    find->arena = &unit->arena;
    if (claim == NULL)
        send_about_dead(transaction, PW_PG_REAP, take_lease, find);
    else if (!send_claim(transaction, claim, find))
        return NULL;
    return find;
}

static bool concerns(const struct pw_op_claim *claim, const struct pw_core_run *run)
{
    bool does = claim == NULL || run->workflow.data == NULL; /* it may be of any workflow */
    for (size_t i = 0; !does && i < claim->workflow_count; i++)
        does = pw_text_equal(claim->workflows[i], run->workflow);
    return does;
}

/* The find that went out with the look counts as long as no unit has since changed a task that it concerns. */
static struct pw_pg_find *find_of_look(const struct pw_transaction *transaction, const struct pw_op_claim *claim)
{
    struct pw_core_run *const *runs = transaction->core.runs.list.rows;
    for (size_t i = 0; i < transaction->core.runs.list.count; i++)
        if (runs[i]->saved_in != 0 && concerns(claim, runs[i]))
            return NULL;
    return pw_find_of_look(transaction, claim);
}

/* Never inside a savepoint, because undoing it would release the locks. */
static pawl_status find_runs(struct pw_transaction *transaction, const struct pw_op_claim *claim,
                             struct pw_rows *out_runs)
{
    struct pw_pg_find *find = find_of_look(transaction, claim);
    pawl_status status = PAWL_OK;
    assert(!pw_unit_runs_users_code(transaction->core.unit));
    if (find == NULL) {
        find = pw_send_find(transaction, transaction->core.unit, claim);
        status = find != NULL ? pw_settle(transaction) : pw_no_memory(transaction);
        if (status == PAWL_OK)
            status = pw_pay_owed(transaction, false);
    }
    if (status == PAWL_OK)
        *out_runs = find->rows;
    return status;
}

/* ---- Claiming ------------------------------------------------------------------------------------------------ */

/* True if another transaction is claiming from the same limited workflow.  Then this claim takes nothing. */
static bool is_kept_out(const struct pw_transaction *transaction, const struct pw_op_claim *op)
{
    const struct pw_pg_gate *gates = transaction->gates.rows;
    int64_t key = op->leased_max != 0 ? pw_gate_of(op) : 0;
    for (size_t i = 0; op->leased_max != 0 && i < transaction->gates.count; i++)
        if (gates[i].key == key)
            return !gates[i].is_ours;
    return false;
}

/* Tasks to resume (wake, retry, resume, expired leases) are claimed before those to start. */
static pawl_status sort_out(struct pw_core *core, const struct pw_rows *runs, struct pw_rows *resumable,
                            struct pw_rows *startable)
{
    struct pw_core_run *const *run = runs->rows;
    for (size_t i = 0; i < runs->count; i++) {
        pawl_status status = pw_core_pause_expired(core, run[i]);
        if (status != PAWL_OK)
            return status;
        const struct pw_task *task = &run[i]->task;
        bool is_first = !task->processing && task->kind == PW_TASK_RUN;
        struct pw_core_due *due = pw_rows_add(is_first ? startable : resumable);
        if (due == NULL)
            return pw_no_memory(pw_transaction_of(core));
        *due = (struct pw_core_due){ run[i]->key, task->processing ? task->locked_until_ms : task->due_at_ms };
    }
    return PAWL_OK;
}

/* Expired leases with a requested pause are paused first.  Then tasks to resume are claimed, and with the room that
 * is left tasks to start. */
pawl_status pw_claim(struct pw_core *core, struct pw_op_claim *op)
{
    struct pw_transaction *transaction = pw_transaction_of(core);
    struct pw_rows resumable = { .arena = &core->arena, .row_size = sizeof(struct pw_core_due) };
    struct pw_rows startable = resumable, runs = { .count = 0 };
    struct pw_rows claims = { .arena = &core->unit->arena, .row_size = sizeof(struct pw_claim) };
    pawl_status status = PAWL_OK;
    op->bytes = 0;
    op->kept_out = is_kept_out(transaction, op);
    if (op->workflow_count > 0 && !op->kept_out)
        status = find_runs(transaction, op, &runs);
    if (status == PAWL_OK)
        status = sort_out(core, &runs, &resumable, &startable);
    if (status == PAWL_OK)
        status = pw_core_claim(core, op, &resumable, op->max, &claims);
    if (status == PAWL_OK)
        status = pw_core_claim(core, op, &startable, op->max, &claims);
    op->claims = claims.rows;
    op->claim_count = claims.count;
    return status;
}

/* ---- Reaping ------------------------------------------------------------------------------------------------- */

/* Dead runners are deleted once they have no lease, so what was reaped is written before. */
pawl_status pw_reap(struct pw_core *core, struct pw_op_reap *op)
{
    struct pw_transaction *transaction = pw_transaction_of(core);
    struct pw_rows runs = { .count = 0 };
    op->reaped = 0;
    pawl_status status = find_runs(transaction, NULL, &runs);
    for (size_t i = 0; i < runs.count && status == PAWL_OK; i++)
        status = pw_core_reap(core, op, ((struct pw_core_run **)runs.rows)[i]);
    if (status == PAWL_OK && op->reaped > 0)
        status = pw_write(transaction);
    if (status == PAWL_OK)
        send_about_dead(transaction, PW_PG_REAP_RUNNERS, NULL, NULL);
    return status;
}

/* ---- Renewing ------------------------------------------------------------------------------------------------ */

pawl_status pw_owe(struct pw_core *core, const struct pw_fence *at, int64_t owner, int64_t until_ms)
{
    struct pw_transaction *transaction = (struct pw_transaction *)core;
    const struct pw_pg_debt debt = { .fence = *at, .owner = owner, .until_ms = until_ms };
    return pw_pg_owe(&transaction->postgres->owed, &debt) ? PAWL_OK : pw_no_memory(transaction);
}

/* Extends the lease of a locked task as it was owed.  The debt is forgotten once this transaction is committed. */
static bool pay(struct pw_transaction *transaction, struct pw_core_run *run, const struct pw_pg_debt *debt)
{
    struct pw_pg_debt *paid = pw_rows_add(&transaction->paid);
    if (paid == NULL)
        return false;
    *paid = *debt;
    if (run->task.locked_until_ms < debt->until_ms) {
        run->task.locked_until_ms = debt->until_ms;
        run->is_changed = true;
    }
    return true;
}

bool pw_list_owed(struct pw_transaction *transaction, struct pw_rows *out_debts)
{
    *out_debts = (struct pw_rows){ .arena = &transaction->core.arena, .row_size = sizeof(struct pw_pg_debt) };
    return pw_pg_owed_list(&transaction->postgres->owed, transaction->asked_at_ms, out_debts);
}

pawl_status pw_pay_owed(struct pw_transaction *transaction, bool has_just_looked)
{
    struct pw_rows debts;
    if (!pw_list_owed(transaction, &debts))
        return pw_no_memory(transaction);
    for (size_t i = 0; i < debts.count; i++) {
        const struct pw_pg_debt *debt = (const struct pw_pg_debt *)debts.rows + i;
        struct pw_core_run *run = pw_find_run(&transaction->core, debt->fence.instance);
        bool is_due = run != NULL && pw_core_is_held(run, debt->fence, debt->owner);
        if (is_due && run->has_task && !pay(transaction, run, debt))
            return pw_no_memory(transaction);
        if (has_just_looked && run != NULL && !is_due && debt->number <= transaction->owed_last)
            pw_pg_owed_forget(&transaction->postgres->owed, debt->number);
    }
    return PAWL_OK;
}

void pw_forget_paid(struct pw_transaction *transaction)
{
    const struct pw_pg_debt *paid = transaction->paid.rows;
    for (size_t i = 0; i < transaction->paid.count; i++)
        pw_pg_owed_forget(&transaction->postgres->owed, paid[i].number);
}

/* Extends the leases whoever owns them, because a runner in another process cannot: it skips tasks that are locked
 * here, until the moment when others may take them.  A lease that had expired before we locked it stays expired.  An
 * owed renewal may last even longer. */
pawl_status pw_keep_leases(struct pw_transaction *transaction)
{
    int64_t passed = passed_ms(transaction);
    bool took_long = passed >= LONG_MS;
    if (!took_long && !transaction->has_users_code)
        return PAWL_OK;
    struct pw_core_run **runs = transaction->core.runs.list.rows;
    for (size_t i = 0; took_long && i < transaction->core.runs.list.count; i++) {
        struct pw_task *task = &runs[i]->task;
        if (!runs[i]->has_task || !task->processing || task->locked_until_ms <= transaction->asked_at_ms)
            continue;
        task->locked_until_ms += passed;
        runs[i]->is_changed = true;
    }
    return pw_pay_owed(transaction, false);
}
