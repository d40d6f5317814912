/* hooks.c - deliveries: recorded beside what causes them, found, loaded, written, listed. */
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

/* ---- Finding, loading, writing ------------------------------------------------------------------------------------------- */

static bool is_due(const struct memory_hook *hook, const struct pw_op_hook_claim *op, int64_t now_ms)
{
    bool is_wanted = false;
    for (size_t i = 0; i < op->wanted_count; i++)
        is_wanted = is_wanted || pw_text_equal(op->wanted[i].hook, hook->row.hook);
    return is_wanted && hook->row.next_at_ms != 0 && hook->row.next_at_ms <= now_ms;
}

pawl_status memory_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op)
{
    struct pw_rows found = { .arena = &core->arena, .row_size = sizeof(struct pw_core_delivery *) };
    const struct memory_hook *hook;
    for (size_t at = 0; (hook = next_hook(memory_of_core(core), &at)) != NULL;) {
        if (!is_due(hook, op, core->now_ms))
            continue;
        struct pw_core_delivery *delivery = pw_note_delivery(core, &hook->row);
        struct pw_core_delivery **place = delivery != NULL ? pw_rows_add(&found) : NULL;
        if (place == NULL)
            return pw_error_plain(core->error, PAWL_NOMEM);
        *place = delivery;
    }
    return pw_core_claim_hooks(core, op, &found);
}

bool memory_load_hooks(struct memory_store *store, struct pw_core *core)
{
    const struct pw_op_hook_resend *const *resends = core->resends.rows;
    const struct memory_hook *hook;
    for (size_t at = 0; (hook = next_hook(store, &at)) != NULL;) {
        struct pw_core_delivery *const *deliveries = core->deliveries.list.rows;
        bool is_asked = false;
        for (size_t i = 0; i < core->deliveries.list.count; i++)
            is_asked = is_asked || deliveries[i]->key == hook->row.key;
        for (size_t i = 0; i < core->resends.count; i++)
            is_asked = is_asked || pw_text_equal(resends[i]->id, hook->row.id);
        if (is_asked && pw_note_delivery(core, &hook->row) == NULL)
            return false;
    }
    return true;
}

bool memory_write_delivery(struct memory_store *store, const struct pw_core_delivery *delivery)
{
    struct memory_hook *hook;
    size_t at = 0;
    while ((hook = next_hook(store, &at)) != NULL && hook->row.key != delivery->key)
        continue;
    if (hook == NULL || !memory_touch(store, hook, sizeof *hook))
        return hook == NULL;
    hook->is_gone = !delivery->exists;
    hook->row = delivery->row;
    return pw_arena_text(&store->arena, delivery->row.last_error, &hook->row.last_error);
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
