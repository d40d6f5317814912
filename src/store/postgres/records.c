/* records.c - the rows that a transaction speaks of, as they are by now, and the way back for a unit that is refused. */
#include "store/postgres/transaction.h"

struct pw_pg_saved {
    struct pw_pg_saved *older;
    void *record;
    size_t size;
    _Alignas(max_align_t) unsigned char copy[];
};

/* ---- Finding ------------------------------------------------------------------------------------------------- */

static struct pw_text bytes_of(const int64_t *numbers, size_t count)
{
    return (struct pw_text){ (const char *)numbers, count * sizeof *numbers };
}

/* A zeroed record; its key is not in the table yet. */
static void *append(struct pw_transaction *transaction, struct pw_pg_set *set, size_t size)
{
    void *record = pw_arena_zero(&transaction->arena, size);
    void **place = record != NULL ? pw_rows_add(&set->list) : NULL;
    if (place == NULL)
        return NULL;
    *place = record;
    return record;
}

struct pw_pg_run *pw_find_run(struct pw_transaction *transaction, int64_t key)
{
    return pw_table_find(&transaction->runs.table, bytes_of(&key, 1));
}

struct pw_pg_run *pw_want_run(struct pw_transaction *transaction, int64_t key)
{
    struct pw_pg_run *run = pw_find_run(transaction, key);
    if (run != NULL)
        return run;
    run = append(transaction, &transaction->runs, sizeof *run);
    if (run == NULL)
        return NULL;
    run->key = key;
    return pw_table_add(&transaction->runs.table, bytes_of(&run->key, 1), run) ? run : NULL;
}

struct pw_pg_step *pw_want_step(struct pw_transaction *transaction, int64_t instance, int64_t run, int64_t seq)
{
    const int64_t place[] = { instance, run, seq };
    struct pw_pg_step *step = pw_table_find(&transaction->steps.table, bytes_of(place, 3));
    if (step != NULL)
        return step;
    step = append(transaction, &transaction->steps, sizeof *step);
    if (step == NULL)
        return NULL;
    memcpy(step->place, place, sizeof place);
    return pw_table_add(&transaction->steps.table, bytes_of(step->place, 3), step) ? step : NULL;
}

struct pw_pg_event *pw_want_event(struct pw_transaction *transaction, int64_t instance, int64_t run, int64_t seq)
{
    const int64_t place[] = { instance, run, seq };
    struct pw_pg_event *event = pw_table_find(&transaction->events.table, bytes_of(place, 3));
    if (event != NULL)
        return event;
    event = append(transaction, &transaction->events, sizeof *event);
    if (event == NULL)
        return NULL;
    memcpy(event->place, place, sizeof place);
    return pw_table_add(&transaction->events.table, bytes_of(event->place, 3), event) ? event : NULL;
}

struct pw_pg_tail *pw_want_tail(struct pw_transaction *transaction, int64_t instance, int64_t run)
{
    const int64_t place[] = { instance, run };
    struct pw_pg_tail *tail = pw_table_find(&transaction->tails.table, bytes_of(place, 2));
    if (tail != NULL)
        return tail;
    tail = append(transaction, &transaction->tails, sizeof *tail);
    if (tail == NULL)
        return NULL;
    memcpy(tail->place, place, sizeof place);
    return pw_table_add(&transaction->tails.table, bytes_of(tail->place, 2), tail) ? tail : NULL;
}

/* Two texts as one key, the size of the first in front.  Absent when memory is out. */
static struct pw_text join(struct pw_transaction *transaction, struct pw_text first, struct pw_text second)
{
    size_t size = sizeof first.size + first.size + second.size;
    char *bytes = pw_arena_take(&transaction->arena, size);
    if (bytes == NULL)
        return (struct pw_text){ NULL, 0 };
    memcpy(bytes, &first.size, sizeof first.size);
    if (first.size > 0)
        memcpy(bytes + sizeof first.size, first.data, first.size);
    if (second.size > 0)
        memcpy(bytes + sizeof first.size + first.size, second.data, second.size);
    return (struct pw_text){ bytes, size };
}

struct pw_pg_event_id *pw_want_event_id(struct pw_transaction *transaction, int64_t instance, int64_t run,
                                        struct pw_text id)
{
    const int64_t place[] = { instance, run };
    struct pw_text key = join(transaction, bytes_of(place, 2), id);
    if (key.data == NULL)
        return NULL;
    struct pw_pg_event_id *record = pw_table_find(&transaction->event_ids.table, key);
    if (record != NULL)
        return record;
    record = append(transaction, &transaction->event_ids, sizeof *record);
    if (record == NULL)
        return NULL;
    record->instance = instance;
    record->run = run;
    record->id = id;
    return pw_table_add(&transaction->event_ids.table, key, record) ? record : NULL;
}

struct pw_pg_name *pw_want_name(struct pw_transaction *transaction, struct pw_text workflow, struct pw_text id)
{
    struct pw_text key = join(transaction, workflow, id);
    if (key.data == NULL)
        return NULL;
    struct pw_pg_name *name = pw_table_find(&transaction->names.table, key);
    if (name != NULL)
        return name;
    name = append(transaction, &transaction->names, sizeof *name);
    if (name == NULL)
        return NULL;
    name->workflow = workflow;
    name->id = id;
    return pw_table_add(&transaction->names.table, key, name) ? name : NULL;
}

/* ---- The way back -------------------------------------------------------------------------------------------- */

bool pw_save(struct pw_transaction *transaction, void *record, size_t size, uint64_t *saved_in)
{
    if (*saved_in == transaction->unit_number)
        return true;
    struct pw_pg_saved *saved = pw_arena_take(&transaction->arena, sizeof *saved + size);
    if (saved == NULL)
        return false;
    saved->older = transaction->saved;
    saved->record = record;
    saved->size = size;
    memcpy(saved->copy, record, size);
    transaction->saved = saved;
    *saved_in = transaction->unit_number;
    return true;
}

void pw_begin_unit(struct pw_transaction *transaction, struct pw_unit *unit)
{
    transaction->unit = unit;
    transaction->refused = false;
    transaction->has_acted = false;
    transaction->unit_number++;
    transaction->saved = NULL;
    transaction->logs_before = transaction->logs.count;
    transaction->hooks_before = transaction->hooks.count;
    transaction->kept_before = transaction->kept.count;
    transaction->keys_before = transaction->keys_used;
}

void pw_undo_unit(struct pw_transaction *transaction)
{
    for (const struct pw_pg_saved *saved = transaction->saved; saved != NULL; saved = saved->older)
        memcpy(saved->record, saved->copy, saved->size);
    transaction->saved = NULL;
    transaction->logs.count = transaction->logs_before;
    transaction->hooks.count = transaction->hooks_before;
    transaction->kept.count = transaction->kept_before;
    transaction->keys_used = transaction->keys_before;
}

/* ---- Beginning and end --------------------------------------------------------------------------------------- */

void pw_transaction_init(struct pw_transaction *transaction, struct pw_postgres *postgres,
                         struct pw_pg_connection *connection, int64_t now_ms, struct pawl_error *error)
{
    *transaction =
        (struct pw_transaction){ .postgres = postgres, .connection = connection, .now_ms = now_ms, .error = error };
    struct pw_pg_set *sets[] = { &transaction->runs,      &transaction->steps, &transaction->events,
                                 &transaction->event_ids, &transaction->tails, &transaction->names };
    struct pw_rows *pointers[] = { &transaction->kept, &transaction->answers, &transaction->reaches };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        sets[i]->list = (struct pw_rows){ .arena = &transaction->arena, .row_size = sizeof(void *) };
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++)
        *pointers[i] = (struct pw_rows){ .arena = &transaction->arena, .row_size = sizeof(void *) };
    transaction->logs = (struct pw_rows){ .arena = &transaction->arena, .row_size = sizeof(struct pw_pg_log) };
    transaction->hooks = (struct pw_rows){ .arena = &transaction->arena, .row_size = sizeof(struct pw_pg_hook) };
    transaction->keys = (struct pw_rows){ .arena = &transaction->arena, .row_size = sizeof(int64_t) };
    transaction->paid = (struct pw_rows){ .arena = &transaction->arena, .row_size = sizeof(struct pw_pg_debt) };
    transaction->gates = (struct pw_rows){ .arena = &transaction->arena, .row_size = sizeof(struct pw_pg_gate) };
}

void pw_transaction_clear(struct pw_transaction *transaction)
{
    pw_table_clear(&transaction->runs.table);
    pw_table_clear(&transaction->steps.table);
    pw_table_clear(&transaction->events.table);
    pw_table_clear(&transaction->event_ids.table);
    pw_table_clear(&transaction->tails.table);
    pw_table_clear(&transaction->names.table);
    pw_arena_clear(&transaction->arena);
}
