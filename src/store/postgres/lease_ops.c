/* lease_ops.c - claiming what is due, and ending the leases of the dead: the database finds and takes in one statement,
 * past what other runners are taking at the same moment.  And renewing, which passes over what is locked, too (owed.h). */
#include <assert.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "store/postgres/fields.h"
#include "store/postgres/transaction.h"

enum {
    CLAIM_MAX = 100000,
    CANDIDATES_MORE = 64,
    LONG_MS = PW_LEASE_MS_MIN / 5 /* what a transaction may take at the expense of the leases that are locked in it */
};

/* A claim whose answer is on its way. */
struct claiming {
    struct pw_op_claim *op;
    struct pw_unit *unit;
    int64_t lease_ms; /* from now_ms on, which may be over by as much as the transaction took */
    struct pw_columns workflows, owed;
};

static int64_t passed_ms(const struct pw_transaction *transaction)
{
    int64_t passed = pw_pg_clock_now_ms(&transaction->postgres->clock) - transaction->asked_at_ms;
    return passed > 0 ? passed : 0;
}

static void put_texts(struct pw_columns *columns, const struct pw_text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pw_columns_row(columns);
        pw_put_text(columns, texts[i]);
    }
}

/* ---- Claiming ------------------------------------------------------------------------------------------------ */

static pawl_status take_paused(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    const struct claiming *claiming = of;
    struct pw_fields fields;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        int64_t instance = pw_field_integer(&fields);
        pw_core_note_paused(&transaction->core, instance);
        if (pw_unit_tell(claiming->unit, PW_EFFECT_PARKED, instance, pw_field_count(&fields)) == NULL)
            return PAWL_NOMEM;
    }
    return pw_fields_end(&fields);
}

static pawl_status take_claims(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    const struct claiming *claiming = of;
    struct pw_rows claims = { .arena = &claiming->unit->arena, .row_size = sizeof(struct pw_claim) };
    struct pw_fields fields;
    pw_fields_init(&fields, result, &claiming->unit->arena);
    while (pw_fields_next(&fields)) {
        struct pw_claim *claim = pw_rows_add(&claims);
        if (claim == NULL)
            return PAWL_NOMEM;
        claim->fence.instance = pw_field_place(&fields);
        claim->fence.run = pw_field_count(&fields);
        claim->fence.epoch = pw_field_count(&fields);
        claim->workflow = pw_field_text(&fields);
        claim->id = pw_field_text(&fields);
        claim->kind = (enum pw_task_kind)pw_field_choice(&fields, PW_TASK_REPAIR);
        claim->event_seq = pw_field_count(&fields);
        claim->taken_over = pw_field_integer(&fields) != 0;
        claim->is_first = pw_field_integer(&fields) != 0;
        claim->has_instance = claim->is_first;
        claim->updated_at_ms = pw_field_integer(&fields);
        claim->created_at_ms = pw_field_integer(&fields);
        claim->params = pw_field_text(&fields);
        pw_core_note_claimed(&transaction->core, claim, claiming->op->owner,
                             transaction->core.now_ms + claiming->lease_ms, pw_field_time(&fields));
        claim->demand = (enum pw_demand)pw_field_choice(&fields, PW_DEMAND_TERMINATE);
        claim->link = pw_field_link(&fields);
        if (claiming->op->bytes_max != 0)
            claiming->op->bytes += (size_t)pw_field_count(&fields);
        if (claim->id.data == NULL)
            claims.count--; /* a task without an instance: kept out of the way by the lease, given to nobody */
        else if (pw_unit_tell(claiming->unit, PW_EFFECT_HELD, claim->fence.instance, claim->fence.run) == NULL)
            return PAWL_NOMEM;
    }
    claiming->op->claims = claims.rows;
    claiming->op->claim_count = claims.count;
    return pw_fields_end(&fields);
}

static enum pw_pg_query claim_query(const struct pw_op_claim *op)
{
    if (op->share.owned != NULL)
        return op->leased_max != 0 ? PW_PG_CLAIM_SHARED_UP_TO : PW_PG_CLAIM_SHARED;
    if (op->bytes_max != 0)
        return op->leased_max != 0 ? PW_PG_CLAIM_FITTING_UP_TO : PW_PG_CLAIM_FITTING;
    return op->leased_max != 0 ? PW_PG_CLAIM_UP_TO : PW_PG_CLAIM;
}

/* A share is a runner's, a bound on bytes is that of who claims for somebody outside: nobody has both. */
static void send_take(struct pw_transaction *transaction, struct claiming *claiming)
{
    const struct pw_op_claim *op = claiming->op;
    assert(op->share.owned == NULL || op->bytes_max == 0);
    int64_t max = op->max < CLAIM_MAX ? (int64_t)op->max : CLAIM_MAX;
    struct pw_columns except, owned;
    struct pw_call call;
    pw_call_init(&call, claim_query(op));
    pw_call_columns(&call, &claiming->workflows);
    pw_call_integer(&call, transaction->core.now_ms);
    pw_call_integer(&call, max);
    pw_call_integer(&call, op->owner);
    pw_call_integer(&call, claiming->lease_ms);
    pw_call_integer(&call, 2 * max + CANDIDATES_MORE);
    pw_call_columns(&call, &claiming->owed);
    pw_columns_init(&except, &transaction->core.arena);
    pw_put_excepted(&except, &op->share);
    pw_call_columns(&call, &except);
    if (op->share.owned != NULL) {
        pw_columns_init(&owned, &transaction->core.arena);
        put_texts(&owned, op->share.owned, op->workflow_count);
        pw_call_columns(&call, &owned);
        pw_call_integer(&call, op->share.grace_ms);
    }
    if (op->bytes_max != 0)
        pw_call_size(&call, op->bytes_max);
    if (op->leased_max != 0)
        pw_call_size(&call, op->leased_max);
    pw_pg_send(transaction->connection, &call, take_claims, transaction, claiming);
}

/* What this store owes a renewal looks as if its lease were over; nobody's key is 0. */
static bool put_owed(struct pw_transaction *transaction, struct pw_columns *columns)
{
    struct pw_rows debts;
    if (!pw_list_owed(transaction, &debts))
        return false;
    pw_columns_row(columns);
    pw_put_integer(columns, 0);
    for (size_t i = 0; i < debts.count; i++) {
        pw_columns_row(columns);
        pw_put_integer(columns, ((const struct pw_pg_debt *)debts.rows)[i].fence.instance);
    }
    return true;
}

/* Somebody else is claiming of the same few: there is nothing for us this time. */
static bool is_kept_out(const struct pw_transaction *transaction, const struct pw_op_claim *op)
{
    const struct pw_pg_gate *gates = transaction->gates.rows;
    int64_t key = op->leased_max != 0 ? pw_gate_of(op) : 0;
    for (size_t i = 0; op->leased_max != 0 && i < transaction->gates.count; i++)
        if (gates[i].key == key)
            return !gates[i].is_ours;
    return false;
}

pawl_status pw_send_claim(struct pw_core *core, struct pw_op_claim *op)
{
    struct pw_transaction *transaction = pw_transaction_of(core);
    transaction->answers_due++;
    struct pw_call call;
    struct claiming *claiming = pw_arena_take(&transaction->core.arena, sizeof *claiming);
    if (claiming == NULL)
        return pw_no_memory(transaction);
    *claiming = (struct claiming){ op, transaction->core.unit, .lease_ms = op->lease_ms + passed_ms(transaction) };
    op->claims = NULL;
    op->claim_count = 0;
    op->bytes = 0;
    op->kept_out = is_kept_out(transaction, op);
    if (!pw_owner_is_outside(op->owner)) /* whose heart we do not hear */
        transaction->core.leaseholder = op->owner;
    if (op->workflow_count == 0 || op->kept_out)
        return PAWL_OK;
    pw_columns_init(&claiming->workflows, &transaction->core.arena);
    put_texts(&claiming->workflows, op->workflows, op->workflow_count);
    pw_columns_init(&claiming->owed, &transaction->core.arena);
    if (!put_owed(transaction, &claiming->owed))
        return pw_no_memory(transaction);
    pw_call_init(&call, PW_PG_CLAIM_PAUSE_EXPIRED);
    pw_call_columns(&call, &claiming->workflows);
    pw_call_integer(&call, transaction->core.now_ms);
    pw_call_columns(&call, &claiming->owed);
    pw_pg_send(transaction->connection, &call, take_paused, transaction, claiming);
    transaction->is_behind = true;
    if (op->max > 0)
        send_take(transaction, claiming);
    return PAWL_OK;
}

/* ---- Renewing ------------------------------------------------------------------------------------------------ */

pawl_status pw_owe(struct pw_core *core, const struct pw_fence *at, int64_t owner, int64_t until_ms)
{
    struct pw_transaction *transaction = (struct pw_transaction *)core;
    const struct pw_pg_debt debt = { .fence = *at, .owner = owner, .until_ms = until_ms };
    return pw_pg_owe(&transaction->postgres->owed, &debt) ? PAWL_OK : pw_no_memory(transaction);
}

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

/* Whoever owns them: the runner of another process cannot make up for it, because it passes over what is locked here until
 * the very moment in which others may take it.  What was over before we had it stays so.  What is owed may be longer yet. */
pawl_status pw_keep_leases(struct pw_transaction *transaction)
{
    int64_t passed = passed_ms(transaction);
    bool took_long = passed >= LONG_MS;
    if (!took_long && !transaction->has_users_code)
        return PAWL_OK;
    pawl_status status = transaction->is_behind ? pw_settle(transaction) : PAWL_OK;
    if (status != PAWL_OK)
        return status;
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

/* ---- Reaping ------------------------------------------------------------------------------------------------- */

static pawl_status take_reaped(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_op_reap *op = of;
    struct pw_fields fields;
    pw_fields_init(&fields, result, NULL);
    op->reaped = 0;
    while (pw_fields_next(&fields)) {
        pw_core_note_reaped(&transaction->core, pw_field_integer(&fields));
        op->reaped++;
    }
    return pw_fields_end(&fields);
}

/* Up to when a heartbeat is too old, counted from this.  Hearts beat by this database's clock, where `now` is of the first of
 * several.  While we cannot tell who is dead it is only those who have said that they go: their heartbeat is 0. */
static int64_t listening_until_ms(struct pw_postgres *postgres)
{
    bool can_tell = pw_pg_clock_is_ours(&postgres->clock) || /* with a test's own there is nobody to be cut off */
                    pw_pg_presence_can_tell(&postgres->presence, pw_system_monotonic_ms());
    return can_tell ? pw_pg_clock_now_ms(&postgres->clock) : PW_PG_DEAD_MS + 1;
}

/* Runners of this very store live, whatever their heartbeats say. */
pawl_status pw_send_reap(struct pw_core *core, struct pw_op_reap *op)
{
    struct pw_transaction *transaction = pw_transaction_of(core);
    transaction->answers_due++;
    struct pw_columns owners;
    struct pw_call call;
    pw_columns_init(&owners, &transaction->core.arena);
    pw_pg_presence_put_owners(&transaction->postgres->presence, &owners);
    pw_call_init(&call, PW_PG_REAP);
    pw_call_integer(&call, transaction->core.now_ms);
    pw_call_columns(&call, &owners);
    pw_call_integer(&call, listening_until_ms(transaction->postgres));
    pw_pg_send(transaction->connection, &call, take_reaped, transaction, op);
    call.name = PW_PG_REAP_RUNNERS;
    pw_pg_send(transaction->connection, &call, NULL, NULL, NULL);
    transaction->is_behind = true;
    return PAWL_OK;
}
