/* rows.c - rows of the memory store by their keys and names, their copies, and the journal; see rows.h. */
#include "memory/rows.h"

/* ---- The journal ------------------------------------------------------------------------------------------------------- */

bool memory_touch(struct memory_store *store, void *place, size_t size)
{
    struct memory_change *change = pw_arena_take(store->journal, sizeof *change + size);
    if (change == NULL)
        return false;
    change->older = store->changes;
    change->place = place;
    change->size = size;
    memcpy(change->before, place, size);
    store->changes = change;
    return true;
}

void memory_undo_to(struct memory_store *store, const struct memory_change *change)
{
    for (; store->changes != change; store->changes = store->changes->older)
        memcpy(store->changes->place, store->changes->before, store->changes->size);
}

/* ---- Finding ------------------------------------------------------------------------------------------------------------- */

struct memory_instance *memory_instance_at(const struct memory_store *store, int64_t key)
{
    if (key < 1 || (uint64_t)key > store->instances.count)
        return NULL;
    return ((struct memory_instance **)store->instances.rows)[key - 1];
}

struct memory_instance *memory_instance_next(const struct memory_store *store, size_t *position)
{
    struct memory_instance *instance = NULL;
    while (instance == NULL && *position < store->instances.count)
        instance = ((struct memory_instance **)store->instances.rows)[(*position)++];
    return instance;
}

struct memory_instance *memory_instance_named(const struct memory_store *store, struct pw_text workflow,
                                              struct pw_text id)
{
    struct memory_instance **first = pw_table_find(&store->ids, id);
    struct memory_instance *instance = first != NULL ? *first : NULL;
    while (instance != NULL && !pw_text_equal(instance->row.workflow, workflow))
        instance = instance->same_id;
    return instance;
}

static struct pw_text bytes_of(const int64_t place[2])
{
    return (struct pw_text){ (const char *)place, 2 * sizeof *place };
}

static struct memory_history *find_history(const struct memory_store *store, int64_t instance, int64_t run)
{
    const int64_t place[] = { instance, run };
    return pw_table_find(&store->histories, bytes_of(place));
}

const struct memory_history *memory_history_of(const struct memory_store *store, int64_t instance, int64_t run)
{
    static const struct memory_history empty = { .place = { 0, 0 } };
    const struct memory_history *history = find_history(store, instance, run);
    return history != NULL ? history : &empty;
}

/* Every row of a history begins with its seq. */
static int64_t seq_at(const struct pw_rows *rows, size_t position)
{
    return *(const int64_t *)((const char *)rows->rows + position * rows->row_size);
}

/* Behind the last row whose seq is less. */
static size_t place_of(const struct pw_rows *rows, int64_t seq)
{
    size_t place = rows->count;
    while (place > 0 && seq_at(rows, place - 1) >= seq)
        place--;
    return place;
}

static const void *row_of_seq(const struct pw_rows *rows, int64_t seq)
{
    size_t place = place_of(rows, seq);
    bool is_there = place < rows->count && seq_at(rows, place) == seq;
    return is_there ? (const char *)rows->rows + place * rows->row_size : NULL;
}

const struct pw_step_row *memory_step_at(const struct memory_history *history, int64_t seq)
{
    return row_of_seq(&history->steps, seq);
}

const struct pw_event_row *memory_event_at(const struct memory_history *history, int64_t seq)
{
    return row_of_seq(&history->events, seq);
}

const struct pw_event_row *memory_event_of_id(const struct memory_history *history, struct pw_text id)
{
    const struct pw_event_row *events = history->events.rows;
    for (size_t i = 0; i < history->events.count; i++)
        if (events[i].id.data != NULL && pw_text_equal(events[i].id, id))
            return &events[i];
    return NULL;
}

const void *memory_newest(const struct pw_rows *rows)
{
    return rows->count > 0 ? (const char *)rows->rows + (rows->count - 1) * rows->row_size : NULL;
}

/* ---- Adding ----------------------------------------------------------------------------------------------------------------- */

void *memory_add(struct memory_store *store, struct pw_rows *rows)
{
    return memory_touch(store, rows, sizeof *rows) ? pw_rows_add(rows) : NULL;
}

void *memory_insert(struct memory_store *store, struct pw_rows *rows, int64_t seq)
{
    size_t place = place_of(rows, seq), behind = rows->count - place;
    char *last = memory_add(store, rows);
    if (last == NULL)
        return NULL;
    char *row = last - behind * rows->row_size;
    if (behind > 0) {
        if (!memory_touch(store, row, behind * rows->row_size))
            return NULL;
        memmove(row + rows->row_size, row, behind * rows->row_size);
        memset(row, 0, rows->row_size);
    }
    *(int64_t *)row = seq;
    return row;
}

struct memory_history *memory_history_make(struct memory_store *store, int64_t instance, int64_t run)
{
    struct memory_history *history = find_history(store, instance, run);
    if (history != NULL || (history = pw_arena_zero(&store->arena, sizeof *history)) == NULL)
        return history;
    *history = (struct memory_history){
        .place = { instance, run },
        .steps = { .arena = &store->arena, .row_size = sizeof(struct pw_step_row) },
        .events = { .arena = &store->arena, .row_size = sizeof(struct pw_event_row) },
        .logs = { .arena = &store->arena, .row_size = sizeof(struct pw_log_row) },
    };
    return pw_table_add(&store->histories, bytes_of(history->place), history) ? history : NULL;
}

/* The place where the chain of an id begins.  It stays when the first instance of the id is undone. */
static struct memory_instance **chain_of(struct memory_store *store, struct pw_text id)
{
    struct memory_instance **first = pw_table_find(&store->ids, id);
    if (first != NULL)
        return first;
    first = pw_arena_zero(&store->arena, sizeof *first);
    return first != NULL && pw_table_add(&store->ids, id, first) ? first : NULL;
}

struct memory_instance *memory_instance_add(struct memory_store *store, int64_t key, struct pw_text workflow,
                                            struct pw_text id)
{
    struct memory_instance *instance = pw_arena_zero(&store->arena, sizeof *instance);
    struct memory_instance **first = chain_of(store, id), **place = NULL;
    if (instance == NULL || first == NULL || !memory_touch(store, first, sizeof *first))
        return NULL;
    while (store->instances.count < (size_t)key)
        if ((place = memory_add(store, &store->instances)) == NULL)
            return NULL;
    place = (struct memory_instance **)store->instances.rows + (key - 1);
    if (!memory_touch(store, place, sizeof *place))
        return NULL;
    instance->row.key = key;
    instance->row.workflow = workflow;
    instance->row.id = id;
    instance->shard = pw_shard_of(workflow, id);
    instance->earlier = (struct pw_rows){ .arena = &store->arena, .row_size = sizeof(struct pw_earlier_run) };
    instance->same_id = *first;
    *first = *place = instance;
    return instance;
}

/* ---- Copying ---------------------------------------------------------------------------------------------------------------- */

static bool copy_texts(struct pw_arena *arena, struct pw_text *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!pw_arena_text(arena, *texts[i], texts[i]))
            return false;
    return true;
}
#define COPY_TEXTS(arena, ...)                                                                                         \
    copy_texts((arena), (struct pw_text *[]){ __VA_ARGS__ },                                                           \
               sizeof(struct pw_text *[]){ __VA_ARGS__ } / sizeof(struct pw_text *))

bool memory_copy_instance(struct pw_arena *arena, const void *from, void *to)
{
    struct pw_instance *row = to;
    *row = *(const struct pw_instance *)from;
    return COPY_TEXTS(arena, &row->workflow, &row->id, &row->params, &row->output, &row->error_name,
                      &row->error_message, &row->terms.version);
}

bool memory_copy_earlier_run(struct pw_arena *arena, const void *from, void *to)
{
    struct pw_earlier_run *row = to;
    *row = *(const struct pw_earlier_run *)from;
    return COPY_TEXTS(arena, &row->output, &row->error_name, &row->error_message, &row->terms.version);
}

bool memory_copy_step(struct pw_arena *arena, const void *from, void *to)
{
    struct pw_step_row *row = to;
    *row = *(const struct pw_step_row *)from;
    return COPY_TEXTS(arena, &row->name, &row->description, &row->undoes, &row->place.fork, &row->place.outer,
                      &row->wait_event_type, &row->awaited_workflow, &row->awaited_id, &row->result, &row->error_name,
                      &row->error_message);
}

bool memory_copy_event(struct pw_arena *arena, const void *from, void *to)
{
    struct pw_event_row *row = to;
    *row = *(const struct pw_event_row *)from;
    return COPY_TEXTS(arena, &row->id, &row->type, &row->payload, &row->consumed_by);
}

bool memory_copy_log(struct pw_arena *arena, const void *from, void *to)
{
    struct pw_log_row *row = to;
    *row = *(const struct pw_log_row *)from;
    return COPY_TEXTS(arena, &row->step, &row->category, &row->message, &row->data);
}

bool memory_copy_hook(struct pw_arena *arena, const void *from, void *to)
{
    struct pw_hook_row *row = to;
    *row = *(const struct pw_hook_row *)from;
    return COPY_TEXTS(arena, &row->id, &row->hook, &row->error_name, &row->error_message, &row->workflow,
                      &row->instance_id, &row->last_error);
}

bool memory_copy_runner(struct pw_arena *arena, const void *from, void *to)
{
    struct pw_runner_row *row = to;
    *row = *(const struct pw_runner_row *)from;
    return COPY_TEXTS(arena, &row->name, &row->workflows);
}
