/* records.c - the rows of a batch, as the units so far have left them, and the saved copies that undo a refused
 * unit.
 *
 * Records live in the batch's arena and never move, so a pointer to one is valid until the batch ends.  Each kind
 * has a hash table by key and a list in order of first use. */
#include "core/core.h"

struct pw_core_saved {
    struct pw_core_saved *older;
    void *record;
    size_t size;
    _Alignas(max_align_t) unsigned char copy[];
};

/* ---- Finding ------------------------------------------------------------------------------------------------- */

static struct pw_text bytes_of(const int64_t *numbers, size_t count)
{
    return (struct pw_text){ (const char *)numbers, count * sizeof *numbers };
}

/* Appends a zeroed record.  Its key is not in the table yet. */
static void *append(struct pw_core *core, struct pw_core_set *set, size_t size)
{
    void *record = pw_arena_zero(&core->arena, size);
    void **place = record != NULL ? pw_rows_add(&set->list) : NULL;
    if (place == NULL)
        return NULL;
    *place = record;
    return record;
}

/* The record with this place as its key.  The place is the first member of every such record. */
static void *want_at(struct pw_core *core, struct pw_core_set *set, const int64_t *place, size_t parts, size_t size)
{
    int64_t *record = pw_table_find(&set->table, bytes_of(place, parts));
    if (record != NULL)
        return record;
    record = append(core, set, size);
    if (record == NULL)
        return NULL;
    memcpy(record, place, parts * sizeof *place);
    return pw_table_add(&set->table, bytes_of(record, parts), record) ? record : NULL;
}

struct pw_core_run *pw_find_run(struct pw_core *core, int64_t key)
{
    return pw_table_find(&core->runs.table, bytes_of(&key, 1));
}

struct pw_core_run *pw_find_task(struct pw_core *core, int64_t instance)
{
    struct pw_core_run *run = pw_find_run(core, instance);
    return run != NULL && run->has_task ? run : NULL;
}

struct pw_core_run *pw_want_run(struct pw_core *core, int64_t key)
{
    return want_at(core, &core->runs, &key, 1, sizeof(struct pw_core_run));
}

struct pw_core_step *pw_want_step(struct pw_core *core, int64_t instance, int64_t run, int64_t seq)
{
    return want_at(core, &core->steps, (const int64_t[]){ instance, run, seq }, 3, sizeof(struct pw_core_step));
}

struct pw_core_event *pw_want_event(struct pw_core *core, int64_t instance, int64_t run, int64_t seq)
{
    return want_at(core, &core->events, (const int64_t[]){ instance, run, seq }, 3, sizeof(struct pw_core_event));
}

struct pw_core_tail *pw_want_tail(struct pw_core *core, int64_t instance, int64_t run)
{
    return want_at(core, &core->tails, (const int64_t[]){ instance, run }, 2, sizeof(struct pw_core_tail));
}

struct pw_core_delivery *pw_want_delivery(struct pw_core *core, int64_t key)
{
    return want_at(core, &core->deliveries, &key, 1, sizeof(struct pw_core_delivery));
}

struct pw_core_delivery *pw_note_delivery(struct pw_core *core, const struct pw_hook_row *row)
{
    struct pw_core_delivery *delivery = pw_want_delivery(core, row->key);
    if (delivery == NULL || delivery->is_loaded)
        return delivery;
    delivery->is_loaded = delivery->exists = true;
    delivery->has_instance = row->workflow.data != NULL;
    delivery->row = *row;
    return delivery;
}

/* Joins two texts into one key, with the size of the first in front so that the pair is unambiguous.  Absent when
 * memory is out. */
static struct pw_text join(struct pw_core *core, struct pw_text first, struct pw_text second)
{
    size_t size = sizeof first.size + first.size + second.size;
    char *bytes = pw_arena_take(&core->arena, size);
    if (bytes == NULL)
        return (struct pw_text){ NULL, 0 };
    memcpy(bytes, &first.size, sizeof first.size);
    if (first.size > 0)
        memcpy(bytes + sizeof first.size, first.data, first.size);
    if (second.size > 0)
        memcpy(bytes + sizeof first.size + first.size, second.data, second.size);
    return (struct pw_text){ bytes, size };
}

struct pw_core_event_id *pw_want_event_id(struct pw_core *core, int64_t instance, int64_t run, struct pw_text id)
{
    const int64_t place[] = { instance, run };
    struct pw_text key = join(core, bytes_of(place, 2), id);
    if (key.data == NULL)
        return NULL;
    struct pw_core_event_id *record = pw_table_find(&core->event_ids.table, key);
    if (record != NULL)
        return record;
    record = append(core, &core->event_ids, sizeof *record);
    if (record == NULL)
        return NULL;
    record->instance = instance;
    record->run = run;
    record->id = id;
    return pw_table_add(&core->event_ids.table, key, record) ? record : NULL;
}

struct pw_core_name *pw_want_name(struct pw_core *core, struct pw_text workflow, struct pw_text id)
{
    struct pw_text key = join(core, workflow, id);
    if (key.data == NULL)
        return NULL;
    struct pw_core_name *name = pw_table_find(&core->names.table, key);
    if (name != NULL)
        return name;
    name = append(core, &core->names, sizeof *name);
    if (name == NULL)
        return NULL;
    name->workflow = workflow;
    name->id = id;
    return pw_table_add(&core->names.table, key, name) ? name : NULL;
}

/* ---- Undoing ------------------------------------------------------------------------------------------------- */

bool pw_save(struct pw_core *core, void *record, size_t size, uint64_t *saved_in)
{
    if (*saved_in == core->unit_number)
        return true;
    struct pw_core_saved *saved = pw_arena_take(&core->arena, sizeof *saved + size);
    if (saved == NULL)
        return false;
    saved->older = core->saved;
    saved->record = record;
    saved->size = size;
    memcpy(saved->copy, record, size);
    core->saved = saved;
    *saved_in = core->unit_number;
    return true;
}

void pw_core_begin_unit(struct pw_core *core, struct pw_unit *unit)
{
    pw_unit_begin(unit);
    core->unit = unit;
    core->has_acted = false;
    core->unit_number++;
    core->saved = NULL;
    core->logs_before = core->logs.count;
    core->hooks_before = core->hooks.count;
    core->earlier_before = core->earlier.count;
    core->kept_before = core->kept.count;
    core->keys_before = core->keys_used;
}

void pw_core_undo_unit(struct pw_core *core)
{
    for (const struct pw_core_saved *saved = core->saved; saved != NULL; saved = saved->older)
        memcpy(saved->record, saved->copy, saved->size);
    core->saved = NULL;
    core->logs.count = core->logs_before;
    core->hooks.count = core->hooks_before;
    core->earlier.count = core->earlier_before;
    core->kept.count = core->kept_before;
    core->keys_used = core->keys_before;
}

/* ---- Beginning and end --------------------------------------------------------------------------------------- */

void pw_core_init(struct pw_core *core, const struct pw_frame *frame, struct pawl_error *error)
{
    *core = (struct pw_core){ .frame = frame, .error = error };
    struct pw_core_set *sets[] = { &core->runs,  &core->steps, &core->events,    &core->event_ids,
                                   &core->tails, &core->names, &core->deliveries };
    struct pw_rows *pointers[] = { &core->kept, &core->sends, &core->controls, &core->reaches, &core->resends };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        sets[i]->table.arena = &core->arena;
        sets[i]->list = (struct pw_rows){ .arena = &core->arena, .row_size = sizeof(void *) };
    }
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++)
        *pointers[i] = (struct pw_rows){ .arena = &core->arena, .row_size = sizeof(void *) };
    core->logs = (struct pw_rows){ .arena = &core->arena, .row_size = sizeof(struct pw_core_log) };
    core->hooks = (struct pw_rows){ .arena = &core->arena, .row_size = sizeof(struct pw_core_hook) };
    core->earlier = (struct pw_rows){ .arena = &core->arena, .row_size = sizeof(struct pw_core_earlier) };
    core->keys = (struct pw_rows){ .arena = &core->arena, .row_size = sizeof(int64_t) };
}

void pw_core_clear(struct pw_core *core)
{
    pw_arena_clear(&core->arena);
}
