/* store.c - opening and closing the memory store, its runners, its ledger, and its table of functions. */
#include "memory/store.h"

#include <stdlib.h>

#include "base/error.h"
#include "memory/rows.h"

static int64_t now_ms(struct pw_store *store)
{
    const struct memory_store *memory = memory_of(store);
    return memory->clock.now_ms(memory->clock.user);
}

/* ---- Runners ------------------------------------------------------------------------------------------------------------------ */

static pawl_status announce(struct pw_store *store, int64_t owner, struct pawl_error *error)
{
    return pw_presence_announce(&memory_of(store)->presence, owner, error);
}

/* With the lock held: where the runner is, or would be. */
static size_t place_of(const struct memory_store *memory, int64_t owner)
{
    const struct pw_runner_row *runners = memory->runners.rows;
    size_t place = 0;
    while (place < memory->runners.count && runners[place].owner < owner)
        place++;
    return place;
}

static bool is_at(const struct memory_store *memory, size_t place, int64_t owner)
{
    return place < memory->runners.count && ((const struct pw_runner_row *)memory->runners.rows)[place].owner == owner;
}

static void withdraw(struct pw_store *store, int64_t owner)
{
    struct memory_store *memory = memory_of(store);
    pw_presence_withdraw(&memory->presence, owner);
    (void)pthread_mutex_lock(&memory->lock);
    size_t place = place_of(memory, owner);
    if (is_at(memory, place, owner)) {
        struct pw_runner_row *row = (struct pw_runner_row *)memory->runners.rows + place;
        memmove(row, row + 1, (--memory->runners.count - place) * sizeof *row);
    }
    (void)pthread_mutex_unlock(&memory->lock);
}

static pawl_status describe(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error)
{
    struct memory_store *memory = memory_of(store);
    struct pw_runner_row copy;
    (void)pthread_mutex_lock(&memory->lock);
    bool is_there = memory_copy_runner(&memory->arena, runner, &copy);
    size_t place = place_of(memory, runner->owner);
    if (is_there && !is_at(memory, place, runner->owner)) {
        is_there = pw_rows_add(&memory->runners) != NULL;
        struct pw_runner_row *row = (struct pw_runner_row *)memory->runners.rows + place;
        if (is_there)
            memmove(row + 1, row, (memory->runners.count - 1 - place) * sizeof *row);
    }
    if (is_there)
        ((struct pw_runner_row *)memory->runners.rows)[place] = copy;
    (void)pthread_mutex_unlock(&memory->lock);
    return is_there ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
}

pawl_status memory_list_runners(const struct memory_reading *reading)
{
    struct memory_store *memory = reading->store;
    struct pw_rows rows = { .arena = reading->arena, .row_size = sizeof(struct pw_runner_row) };
    int64_t seen_at_ms = now_ms(&memory->store);
    for (size_t i = 0; i < memory->runners.count; i++) {
        struct pw_runner_row *row = pw_rows_add(&rows);
        if (row == NULL || !memory_copy_runner(reading->arena, (struct pw_runner_row *)memory->runners.rows + i, row))
            return pw_error_plain(reading->error, PAWL_NOMEM);
        row->seen_at_ms = seen_at_ms;
    }
    reading->found->rows = rows.rows;
    reading->found->count = rows.count;
    return PAWL_OK;
}

static pawl_status read_anything(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                                 struct pw_found *out_found, struct pawl_error *error)
{
    static pawl_status (*const functions[])(const struct memory_reading *) = {
#define FUNCTION(kind, function) [PW_READ_##kind] = memory_##function,
        PW_READS(FUNCTION)
#undef FUNCTION
    };
    struct memory_store *memory = memory_of(store);
    const struct memory_reading reading = { memory, asked, arena, out_found, error };
    (void)pthread_mutex_lock(&memory->lock);
    pawl_status status = functions[asked->kind](&reading);
    (void)pthread_mutex_unlock(&memory->lock);
    return status;
}

/* ---- The user's code ------------------------------------------------------------------------------------------------------------ */

void memory_store_set_sql(struct pw_store *store, memory_sql_fn *run_sql)
{
    memory_of(store)->run_sql = run_sql;
}

bool memory_ledger_add(struct pw_store *store, const struct memory_entry *entry)
{
    struct memory_store *memory = memory_of(store);
    struct memory_entry *added = memory_add(memory, &memory->ledger);
    if (added == NULL)
        return false;
    *added = *entry;
    return pw_arena_text(&memory->arena, entry->table, &added->table) &&
           pw_arena_text(&memory->arena, entry->id, &added->id);
}

bool memory_ledger_set(struct pw_store *store, const struct memory_entry *entry, bool has_number, int64_t number)
{
    struct memory_store *memory = memory_of(store);
    struct memory_entry *changed =
        (struct memory_entry *)memory->ledger.rows + (entry - (const struct memory_entry *)memory->ledger.rows);
    if (!memory_touch(memory, changed, sizeof *changed))
        return false;
    changed->has_number = has_number;
    changed->number = number;
    return true;
}

const struct memory_entry *memory_ledger_at(const struct pw_store *store, size_t position)
{
    const struct pw_rows *ledger = &memory_of(store)->ledger;
    return position < ledger->count ? (const struct memory_entry *)ledger->rows + position : NULL;
}

const struct memory_entry *memory_ledger_find(const struct pw_store *store, struct pw_text table, struct pw_text id)
{
    const struct memory_entry *entry;
    for (size_t i = 0; (entry = memory_ledger_at(store, i)) != NULL; i++)
        if (pw_text_equal(entry->table, table) && pw_text_equal(entry->id, id))
            return entry;
    return NULL;
}

/* ---- Beginning and end ------------------------------------------------------------------------------------------------------------ */

static void forget_rows(struct memory_store *memory)
{
    pw_table_clear(&memory->ids);
    pw_table_clear(&memory->histories);
    pw_arena_clear(&memory->arena);
    memory->instances = (struct pw_rows){ .arena = &memory->arena, .row_size = sizeof(struct memory_instance *) };
    memory->hooks = (struct pw_rows){ .arena = &memory->arena, .row_size = sizeof(struct memory_hook *) };
    memory->ledger = (struct pw_rows){ .arena = &memory->arena, .row_size = sizeof(struct memory_entry) };
    memory->runners = (struct pw_rows){ .arena = &memory->arena, .row_size = sizeof(struct pw_runner_row) };
    memory->hook_keys = 0;
}

/* An empty round sees no lease, so all are forgotten. */
void memory_store_reset(struct pw_store *store)
{
    struct memory_store *memory = memory_of(store);
    (void)pthread_mutex_lock(&memory->lock);
    forget_rows(memory);
    pw_sightings_begin_round(&memory->sightings);
    pw_sightings_end_round(&memory->sightings);
    (void)pthread_mutex_unlock(&memory->lock);
}

static void close_store(struct pw_store *store)
{
    struct memory_store *memory = memory_of(store);
    forget_rows(memory);
    pw_presence_clear(&memory->presence);
    pw_sightings_clear(&memory->sightings);
    (void)pthread_mutex_destroy(&memory->lock);
    free(memory);
}

static struct pw_store_ops make_ops(void)
{
    struct pw_store_ops ops = { .name = "memory",
                                .close = close_store,
                                .now_ms = now_ms,
                                .apply = memory_apply,
                                .announce = announce,
                                .withdraw = withdraw,
                                .describe = describe,
                                .read = read_anything };
    return ops;
}

struct pw_store *memory_store_new(struct pawl_clock clock)
{
    struct memory_store *memory = calloc(1, sizeof *memory);
    int made = memory != NULL;
    made += made == 1 && pthread_mutex_init(&memory->lock, NULL) == 0;
    made += made == 2 && pw_sightings_init(&memory->sightings);
    made += made == 3 && pw_presence_init(&memory->presence, NULL, 0);
    if (made == 4) {
        memory->clock = pw_clock_of(clock);
        memory->ops = make_ops();
        memory->store.ops = &memory->ops;
        forget_rows(memory);
        return &memory->store;
    }
    if (made == 3)
        pw_sightings_clear(&memory->sightings);
    if (made >= 2)
        (void)pthread_mutex_destroy(&memory->lock);
    free(memory);
    return NULL;
}
