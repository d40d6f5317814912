/* history.c - see history.h.  Steps and events are lists in order of appearance; a hash table finds steps by name. */
#include "history/history.h"

#include <stdlib.h>

#include "core/fields.h"

struct pw_history *pw_history_new(void)
{
    return calloc(1, sizeof(struct pw_history));
}

void pw_history_free(struct pw_history *history)
{
    if (history == NULL)
        return;
    pw_table_clear(&history->by_name);
    pw_arena_clear(&history->arena);
    free(history);
}

size_t pw_history_bytes(const struct pw_history *history)
{
    return sizeof *history + history->arena.used + history->by_name.capacity * 4 * sizeof(void *);
}

bool pw_step_kind_is_wait(enum pawl_step_kind kind)
{
    return kind != PAWL_STEP_DO && kind != PAWL_STEP_CALL;
}

bool pw_step_is_finished(const struct pw_step *step)
{
    return step->row.seq != 0 && step->row.status != PAWL_STEP_WAITING;
}

void pw_step_stamp(const struct pw_history *history, struct pw_step *step, int64_t now_ms)
{
    int64_t at_ms = pw_not_before(now_ms, history->created_last_ms);
    if (step->row.created_at_ms == 0)
        step->row.created_at_ms = at_ms;
    step->row.updated_at_ms = pw_not_before(at_ms, step->row.updated_at_ms);
}

void pw_step_number(struct pw_history *history, struct pw_step *step)
{
    step->row.seq = ++history->seq_last;
    step->row.created_at_ms = pw_not_before(step->row.created_at_ms, history->created_last_ms);
    step->row.updated_at_ms = pw_not_before(step->row.updated_at_ms, step->row.created_at_ms);
    history->created_last_ms = step->row.created_at_ms;
}

void pw_step_finish(struct pw_history *history, struct pw_step *step, enum pawl_step_state state, int64_t now_ms)
{
    bool is_set_back = now_ms < history->finished_at_ms;
    pw_step_stamp(history, step, is_set_back ? history->finished_at_ms + 1 : now_ms);
    history->finished_at_ms = step->row.updated_at_ms;
    pw_step_row_set(&step->row, state);
}

struct pw_step *pw_history_find(const struct pw_history *history, struct pw_text name)
{
    return pw_table_find(&history->by_name, name);
}

/* Copies the row's texts into the history.  False when memory is out. */
static bool keep_texts(struct pw_history *history, const struct pw_row_type *type, void *row)
{
    for (const struct pw_field *field = type->fields; field < type->fields + type->count; field++) {
        if (field->type == PW_FIELD_TEXT &&
            !pw_arena_text(&history->arena, pw_member_text_of(field, row), pw_member_text(field, row)))
            return false;
    }
    return true;
}

/* Adds a step with this row.  NULL when memory is out. */
static struct pw_step *add_step(struct pw_history *history, const struct pw_step_row *row)
{
    struct pw_step *step = pw_arena_zero(&history->arena, sizeof *step);
    if (step == NULL)
        return NULL;
    step->row = *row;
    if (!keep_texts(history, &pw_step_type, &step->row) || !pw_table_add(&history->by_name, step->row.name, step))
        return NULL;
    if (history->last != NULL)
        history->last->next = step;
    else
        history->first = step;
    history->last = step;
    ++*(pw_step_kind_is_wait(row->kind) ? &history->waits : &history->counted);
    history->has_calls = history->has_calls || row->kind == PAWL_STEP_CALL;
    return step;
}

struct pw_step *pw_history_add(struct pw_history *history, struct pw_text name, enum pawl_step_kind kind)
{
    return add_step(history, &(struct pw_step_row){ .name = name, .kind = kind });
}

bool pw_history_load(struct pw_history *history, const struct pw_step_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct pw_step_row *row = &rows[i];
        struct pw_step *step = add_step(history, row);
        if (step == NULL)
            return false;
        step->in_store = true;
        if (row->seq > history->seq_last)
            history->seq_last = row->seq;
        if (row->status != PAWL_STEP_WAITING)
            history->finished_at_ms = pw_not_before(row->updated_at_ms, history->finished_at_ms);
        history->created_last_ms = pw_not_before(row->created_at_ms, history->created_last_ms);
        history->newest_ms = pw_not_before(row->updated_at_ms, history->newest_ms);
    }
    return true;
}

bool pw_history_load_events(struct pw_history *history, const struct pw_event_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct pw_event_row *row = &rows[i];
        struct pw_event *event = pw_arena_zero(&history->arena, sizeof *event);
        if (event == NULL)
            return false;
        event->row = *row;
        if (!keep_texts(history, &pw_event_type, &event->row))
            return false;
        if (history->last_event != NULL)
            history->last_event->next = event;
        else
            history->first_event = event;
        history->last_event = event;
        if (row->seq > history->event_seq)
            history->event_seq = row->seq;
    }
    return true;
}

void pw_history_begin_turn(struct pw_history *history, int64_t claimed_at_ms)
{
    history->created_last_ms = pw_not_before(claimed_at_ms, history->created_last_ms);
    history->turn_pass = history->pass + 1;
    history->turn_moment = history->moment;
}

void pw_history_begin_pass(struct pw_history *history)
{
    history->pass++;
}

bool pw_step_is_replay(const struct pw_history *history, const struct pw_step *step)
{
    return step->recorded_pass < history->turn_pass;
}

bool pw_step_note_answer(struct pw_history *history, struct pw_step *step, uint64_t since)
{
    if (step->answered_at <= history->turn_moment)
        step->answered_at = ++history->moment;
    return step->answered_at > since;
}

struct pw_event *pw_history_event_for(const struct pw_history *history, struct pw_text type, int64_t until_ms)
{
    for (struct pw_event *event = history->first_event; event != NULL; event = event->next) {
        if (!event->taken && event->row.created_at_ms <= until_ms && pw_text_equal(event->row.type, type))
            return event;
    }
    return NULL;
}
