/* in_memory.c - the memory store (tests/memory) as the simulation uses it: its rows, and the user's tables in its ledger. */
#include "compare.h"
#include "memory/rows.h"
#include "world.h"

/* ---- Rows ------------------------------------------------------------------------------------------------------------------ */

static void hand_over_history(const struct memory_store *store, int64_t key, int64_t run,
                              struct sim_comparison *comparison)
{
    const struct memory_history *history = memory_history_of(store, key, run);
    for (size_t i = 0; i < history->steps.count; i++)
        sim_compare_step(comparison, key, run, (const struct pw_step_row *)history->steps.rows + i);
    for (size_t i = 0; i < history->events.count; i++)
        sim_compare_event(comparison, key, run, (const struct pw_event_row *)history->events.rows + i);
    for (size_t i = 0; i < history->logs.count; i++)
        sim_compare_log(comparison, key, run, (const struct pw_log_row *)history->logs.rows + i);
}

void sim_memory_rows(struct pw_store *memory, struct sim_comparison *comparison)
{
    const struct memory_store *store = memory_of(memory);
    const struct memory_instance *instance;
    const struct memory_entry *entry;
    for (size_t at = 0; (instance = memory_instance_next(store, &at)) != NULL;) {
        const struct pw_instance *row = &instance->row;
        sim_compare_instance(comparison, row);
        if (row->has_task)
            sim_compare_task(comparison, row->key, row->run, instance->shard, &row->task);
        for (size_t i = 0; i < instance->earlier.count; i++)
            sim_compare_earlier_run(comparison, row->key, (const struct pw_earlier_run *)instance->earlier.rows + i);
        for (int64_t run = 1; run <= row->run; run++)
            hand_over_history(store, row->key, run, comparison);
    }
    for (size_t i = 0; i < store->hooks.count; i++) {
        const struct memory_hook *hook = ((struct memory_hook **)store->hooks.rows)[i];
        sim_compare_delivery(comparison, hook->instance, &hook->row);
    }
    for (size_t i = 0; (entry = memory_ledger_at(memory, i)) != NULL; i++) {
        if (pw_text_equal(entry->table, pw_text_of("sim_unique")))
            sim_compare_unique(comparison, entry->id);
        else
            sim_compare_effect(comparison, entry->id);
    }
}

/* ---- The user's tables -------------------------------------------------------------------------------------------------------- */

static bool add(struct pw_store *store, const char *table, struct pw_text tag)
{
    return memory_ledger_add(store, &(struct memory_entry){ .table = pw_text_of(table), .id = tag });
}

/* All our SQL inserts one tag, which is its one parameter: ["tag"]. */
enum pw_refusal sim_memory_sql(struct pw_store *store, const struct pw_op_sql *op)
{
    struct pw_text tag = { op->parameters.data + 2, op->parameters.size - 4 };
    bool is_unique = strstr(op->sql.data, "sim_unique") != NULL;
    if (is_unique && memory_ledger_find(store, pw_text_of("sim_unique"), tag) != NULL)
        return PW_REFUSED_UNIQUE;
    return add(store, is_unique ? "sim_unique" : "sim_effect", tag) ? PW_REFUSED_NOT : PW_REFUSED_MUTATION_FAILED;
}

pawl_status sim_memory_insert(void *connection, const char *tag)
{
    return add(connection, "sim_effect", pw_text_of(tag)) ? PAWL_OK : PAWL_FAILED;
}
