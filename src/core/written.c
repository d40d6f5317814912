/* written.c - makes the rows that have to be written from records. */
#include "core/core.h"

/* A name column is NOT NULL but never updated, so in a row that exists an unknown name is written as an empty text. */
static struct pw_text or_empty(struct pw_text text)
{
    return text.data != NULL ? text : (struct pw_text){ "", 0 };
}

struct pw_instance pw_core_instance_row(const struct pw_core_run *run)
{
    struct pw_text unchanged = { NULL, 0 };
    return (struct pw_instance){ .key = run->key,
                                 .run = run->instance_run,
                                 .created_at_ms = run->created_at_ms,
                                 .updated_at_ms = run->updated_at_ms,
                                 .started_at_ms = run->started_at_ms,
                                 .completed_at_ms = run->completed_at_ms,
                                 .outcome = run->outcome,
                                 .link = run->link,
                                 .terms = run->terms,
                                 .workflow = or_empty(run->workflow),
                                 .id = or_empty(run->id),
                                 .params = run->change == PW_CORE_NEW ? run->params : unchanged,
                                 .output = run->output,
                                 .error_name = run->error_name,
                                 .error_message = run->error_message };
}

struct pw_step_row pw_core_step_row(const struct pw_core *core, const struct pw_core_step *step)
{
    const struct pw_op_step *last = step->update != NULL ? step->update : step->insert;
    const struct pw_op_step *first = step->insert != NULL ? step->insert : step->update;
    struct pw_step_row row = last->row;
    row.name = or_empty(first->row.name);
    row.kind = first->row.kind;
    row.undoes = first->row.undoes;
    row.place = first->row.place;
    row.created_at_ms = pw_time_or_now(core, first->row.created_at_ms);
    row.updated_at_ms = pw_time_or_now(core, last->row.updated_at_ms);
    return row;
}

struct pw_event_row pw_core_event_row(const struct pw_core *core, const struct pw_core_event *event)
{
    const struct pw_op_event *insert = event->insert;
    const struct pw_op_consume *consume = event->consume;
    struct pw_event_row row = { .seq = event->place[2], .type = { "", 0 } };
    if (insert != NULL) {
        row.id = insert->id;
        row.type = insert->type;
        row.payload = insert->payload;
        row.is_failure = insert->is_failure;
        row.created_at_ms = event->created_at_ms;
    }
    if (consume != NULL) {
        row.delivered_at_ms = pw_time_or_now(core, consume->delivered_at_ms);
        row.consumed_by = consume->step;
    }
    return row;
}

struct pw_log_row pw_core_log_row(const struct pw_core_log *log)
{
    struct pw_log_row row = log->op->row;
    row.seq = log->seq;
    row.created_at_ms = log->created_at_ms;
    return row;
}
