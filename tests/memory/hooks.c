/* hooks.c - deliveries: recorded beside what causes them, claimed for an attempt, settled, listed.
 *
 * The core does not decide about deliveries yet, so this file does, as store/sqlite/hook_ops.c: a row's next_at is all that a
 * claim looks at, and it is the end of the lease while an attempt is under way. */
#include "base/error.h"
#include "memory/rows.h"

/* The next one that is there, past *position; NULL past the last. */
static struct memory_hook *next_hook(const struct memory_store *store, size_t *position)
{
    while (*position < store->hooks.count) {
        struct memory_hook *hook = ((struct memory_hook **)store->hooks.rows)[(*position)++];
        if (!hook->is_gone)
            return hook;
    }
    return NULL;
}

/* ---- Recording ------------------------------------------------------------------------------------------------------------ */

bool memory_add_hook(struct memory_store *store, const struct pw_core_hook *hook)
{
    const struct memory_instance *instance = memory_instance_at(store, hook->instance);
    struct memory_hook *added = pw_arena_zero(&store->arena, sizeof *added), **place = NULL;
    if (added == NULL || !memory_touch(store, &store->hook_keys, sizeof store->hook_keys) ||
        (place = memory_add(store, &store->hooks)) == NULL)
        return false;
    struct pw_hook_row row = hook->row;
    row.key = ++store->hook_keys;
    row.workflow = instance->row.workflow;
    row.instance_id = instance->row.id;
    added->instance = hook->instance;
    *place = added;
    return memory_copy_hook(&store->arena, &row, &added->row);
}

/* ---- Claiming --------------------------------------------------------------------------------------------------------------- */

static const struct pw_hook_wanted *wanted_as(const struct pw_op_hook_claim *op, struct pw_text hook)
{
    for (size_t i = 0; i < op->wanted_count; i++)
        if (pw_text_equal(op->wanted[i].hook, hook))
            return &op->wanted[i];
    return NULL;
}

/* The one that is due longest. */
static struct memory_hook *first_due(const struct memory_store *store, const struct pw_op_hook_claim *op,
                                     int64_t now_ms)
{
    struct memory_hook *first = NULL, *hook;
    for (size_t at = 0; (hook = next_hook(store, &at)) != NULL;) {
        bool is_due = hook->row.next_at_ms != 0 && hook->row.next_at_ms <= now_ms;
        if (is_due && wanted_as(op, hook->row.hook) != NULL &&
            (first == NULL || hook->row.next_at_ms < first->row.next_at_ms))
            first = hook;
    }
    return first;
}

/* A row whose attempts are used up fails for good, and is given to nobody. */
static bool take(struct pw_core *core, const struct pw_op_hook_claim *op, struct memory_hook *hook,
                 struct pw_rows *claimed)
{
    struct pw_hook_row *row = &hook->row, *copy;
    if (!memory_touch(memory_of_core(core), hook, sizeof *hook))
        return false;
    row->epoch++;
    if (row->attempts >= row->attempts_max) {
        row->next_at_ms = row->locked_until_ms = 0;
        row->last_error = pw_text_of("the last attempt was not heard of again before its lease ended");
        return true;
    }
    row->attempts++;
    row->next_at_ms = row->locked_until_ms = core->now_ms + wanted_as(op, row->hook)->lease_ms;
    copy = pw_rows_add(claimed);
    return copy != NULL && memory_copy_hook(claimed->arena, row, copy);
}

pawl_status memory_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op)
{
    struct pw_rows claimed = { .arena = &core->unit->arena, .row_size = sizeof(struct pw_hook_row) };
    struct memory_hook *hook;
    while (claimed.count < op->max && (hook = first_due(memory_of_core(core), op, core->now_ms)) != NULL)
        if (!take(core, op, hook, &claimed))
            return pw_error_plain(core->error, PAWL_NOMEM);
    op->rows = claimed.rows;
    op->row_count = claimed.count;
    return PAWL_OK;
}

/* ---- Settling ---------------------------------------------------------------------------------------------------------------- */

pawl_status memory_settle_hook(struct pw_core *core, struct pw_op_hook_settle *op)
{
    struct memory_store *store = memory_of_core(core);
    struct memory_hook *hook;
    size_t at = 0;
    while ((hook = next_hook(store, &at)) != NULL && hook->row.key != op->key)
        continue;
    op->lost = hook == NULL || hook->row.epoch != op->epoch;
    if (op->lost)
        return PAWL_OK;
    if (!memory_touch(store, hook, sizeof *hook))
        return pw_error_plain(core->error, PAWL_NOMEM);
    hook->is_gone = op->delivered;
    if (op->delivered)
        return PAWL_OK;
    hook->row.next_at_ms = op->next_at_ms;
    hook->row.locked_until_ms = 0;
    hook->row.attempts -= op->untried && hook->row.attempts > 0;
    return pw_arena_text(&store->arena, op->last_error, &hook->row.last_error)
               ? PAWL_OK
               : pw_error_plain(core->error, PAWL_NOMEM);
}

pawl_status memory_resend_hook(struct pw_core *core, struct pw_op_hook_resend *op)
{
    struct memory_store *store = memory_of_core(core);
    struct memory_hook *hook;
    size_t at = 0;
    while ((hook = next_hook(store, &at)) != NULL && !pw_text_equal(hook->row.id, op->id))
        continue;
    op->found = hook != NULL;
    if (hook == NULL)
        return PAWL_OK;
    if (!memory_touch(store, hook, sizeof *hook))
        return pw_error_plain(core->error, PAWL_NOMEM);
    hook->row.attempts = hook->row.locked_until_ms = 0;
    hook->row.epoch++;
    hook->row.next_at_ms = core->now_ms;
    return PAWL_OK;
}

void memory_forget_gone_hooks(struct memory_store *store)
{
    struct memory_hook **hooks = store->hooks.rows, *hook;
    size_t kept = 0;
    for (size_t at = 0; (hook = next_hook(store, &at)) != NULL;)
        hooks[kept++] = hook;
    store->hooks.count = kept;
}

/* ---- Reading ------------------------------------------------------------------------------------------------------------------ */

static bool is_asked_for(const struct pw_hook_row *row, const struct pw_hook_query *query)
{
    bool has_failed = row->next_at_ms == 0;
    return row->key > query->after_key && (query->hook.data == NULL || pw_text_equal(row->hook, query->hook)) &&
           (!query->has_status || has_failed == (query->status == PAWL_DELIVERY_FAILED));
}

pawl_status memory_list_hooks(const struct memory_reading *reading)
{
    const struct pw_hook_query *query = &reading->asked->hooks;
    struct pw_rows rows = { .arena = reading->arena, .row_size = sizeof(struct pw_hook_row) };
    struct memory_hook *hook;
    for (size_t at = 0; rows.count < query->max && (hook = next_hook(reading->store, &at)) != NULL;) {
        if (!is_asked_for(&hook->row, query))
            continue;
        void *row = pw_rows_add(&rows);
        if (row == NULL || !memory_copy_hook(reading->arena, &hook->row, row))
            return pw_error_plain(reading->error, PAWL_NOMEM);
    }
    reading->found->rows = rows.rows;
    reading->found->count = rows.count;
    return PAWL_OK;
}

pawl_status memory_next_hook(const struct memory_reading *reading)
{
    const struct pw_names_query *query = &reading->asked->names;
    const struct memory_hook *hook;
    int64_t earliest_ms = INT64_MAX;
    for (size_t at = 0; (hook = next_hook(reading->store, &at)) != NULL;)
        for (size_t i = 0; i < query->count; i++)
            if (hook->row.next_at_ms != 0 && hook->row.next_at_ms < earliest_ms &&
                pw_text_equal(hook->row.hook, query->names[i]))
                earliest_ms = hook->row.next_at_ms;
    reading->found->at_ms = earliest_ms;
    return PAWL_OK;
}
