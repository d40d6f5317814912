/* edit.c - see edit.h.  A place reserved in the local runner is given back on every way out but the durable one. */
#include "service/edit.h"

#include "base/error.h"
#include "base/limits.h"
#include "service/rows.h"

pawl_status pw_edit_read(struct pw_edit *edit, struct pw_text workflow, struct pw_text id, struct pawl_error *error)
{
    edit->now_ms = pawl_now_ms(edit->engine);
    return pw_rows_read(edit->engine, edit->arena, workflow, id, &edit->instance, error);
}

pawl_status pw_edit_fence(struct pw_edit *edit)
{
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_FENCE);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.fence.at = (struct pw_fence){ edit->instance.key, edit->instance.run, edit->instance.task.epoch };
    return PAWL_OK;
}

pawl_status pw_edit_foreign_fence(struct pw_edit *edit)
{
    pawl_status status = pw_edit_fence(edit);
    if (status == PAWL_OK)
        edit->unit->last->as.fence.is_foreign = true;
    return status;
}

pawl_status pw_edit_require_open(const struct pw_edit *edit, struct pawl_error *error)
{
    const struct pw_instance *instance = &edit->instance;
    if (instance->has_task)
        return PAWL_OK;
    return pw_error(error, PAWL_INSTANCE_TERMINAL, "instance \"%s\" of workflow \"%s\" has finished: it is %s",
                    instance->id.data, instance->workflow.data, pawl_instance_status_name(pw_rows_status(instance)));
}

pawl_status pw_edit_park(struct pw_edit *edit, enum pw_task_status status, enum pw_task_kind kind, int64_t due_at_ms)
{
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_PARK);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.park = (struct pw_op_park){
        .instance = edit->instance.key,
        .status = status,
        .kind = kind,
        .due_at_ms = due_at_ms,
        .event_seq_seen = -1,
    };
    edit->wakes = due_at_ms == PW_NOW;
    return PAWL_OK;
}

pawl_status pw_edit_go_on(struct pw_edit *edit, enum pw_task_kind kind)
{
    int64_t lease_ms = 0;
    int64_t owner = pw_local_reserve(edit->engine, edit->instance.workflow, &lease_ms);
    if (owner == 0)
        return pw_edit_park(edit, PW_TASK_ACTIVE, kind, PW_NOW);
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_HOLD);
    if (op == NULL) {
        pw_local_cancel(edit->engine);
        return PAWL_NOMEM;
    }
    op->as.hold = (struct pw_op_hold){ .instance = edit->instance.key, .owner = owner, .lease_ms = lease_ms };
    edit->held = op;
    return PAWL_OK;
}

pawl_status pw_edit_log(struct pw_edit *edit, struct pw_text message, struct pw_text data)
{
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_LOG);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.log.instance = edit->instance.key;
    op->as.log.run = edit->instance.run;
    op->as.log.row = (struct pw_log_row){
        .level = PAWL_LOG_INFO,
        .category = pw_text_of("system"),
        .message = message,
        .data = data,
    };
    return PAWL_OK;
}

struct pw_claim pw_edit_first_claim(struct pw_fence fence, struct pw_text workflow, struct pw_text id)
{
    return (struct pw_claim){ .fence = fence, .workflow = workflow, .id = id, .kind = PW_TASK_RUN, .is_first = true };
}

pawl_status pw_edit_report(struct pawl_error *error, pawl_status status, const struct pawl_error *inner)
{
    if (inner->text[0] == '\0')
        return pw_error_plain(error, status);
    return pw_error(error, status, "%s", inner->text);
}

pawl_status pw_edit_commit(pawl_engine *engine, struct pw_unit *unit, struct pawl_error *error)
{
    pawl_status status = pw_commit_run(engine->commit, unit);
    return status == PAWL_OK ? PAWL_OK : pw_edit_report(error, status, &unit->error);
}

static struct pw_claim claim_of(const struct pw_edit *edit)
{
    if (edit->held->kind == PW_OP_HOLD)
        return edit->held->as.hold.claim;
    const struct pw_instance *instance = &edit->instance;
    struct pw_fence fence = { .instance = instance->key, .run = instance->run + 1, .epoch = 1 };
    return pw_edit_first_claim(fence, instance->workflow, instance->id);
}

/* Revoking comes before delivering: it is the old run's turn that must see itself cancelled, not the new one's. */
static void follow_up(const struct pw_edit *edit)
{
    if (edit->revokes)
        pw_engine_revoke(edit->engine, edit->instance.key, edit->instance.run);
    if (edit->event != NULL)
        pw_engine_event(edit->engine, edit->instance.key, edit->instance.run, edit->event->as.event.seq);
    if (edit->asks_to_pause)
        pw_engine_pause(edit->engine, edit->instance.key);
    if (edit->held != NULL) {
        struct pw_claim claim = claim_of(edit);
        pw_local_deliver(edit->engine, &claim);
    } else if (edit->wakes) {
        pw_local_wake(edit->engine, PW_NOW);
    }
}

static pawl_status edit_once(struct pw_edit *edit, struct pw_text workflow, struct pw_text id, pw_edit_fn *decide,
                             void *user, struct pawl_error *error)
{
    pawl_status status = pw_edit_read(edit, workflow, id, error);
    if (status != PAWL_OK)
        return status;
    /* Without a task there is nothing to fence: the run has finished, and only a restart, which checks the run by
     * itself, can change that. */
    if (edit->instance.has_task)
        status = pw_edit_fence(edit);
    const struct pw_op *fence = edit->unit->last;
    if (status == PAWL_OK)
        status = decide(edit, user, error);
    if (status == PAWL_OK && edit->unit->last != fence)
        status = pw_edit_commit(edit->engine, edit->unit, error);
    if (status == PAWL_OK)
        follow_up(edit);
    else if (edit->held != NULL)
        pw_local_cancel(edit->engine);
    return status;
}

pawl_status pw_edit_run(pawl_engine *engine, struct pw_text workflow, struct pw_text id, pw_edit_fn *decide, void *user,
                        struct pawl_error *error)
{
    for (int round = 0; round < PW_CONFLICT_RETRIES_MAX; round++) {
        struct pw_arena arena;
        struct pw_unit unit;
        struct pawl_error inner = { PAWL_OK, "" };
        pw_arena_init(&arena);
        pw_unit_init(&unit);
        struct pw_edit edit = { .engine = engine, .arena = &arena, .unit = &unit };
        pawl_status status = edit_once(&edit, workflow, id, decide, user, &inner);
        pw_unit_clear(&unit);
        pw_arena_clear(&arena);
        if (status == PAWL_OK)
            return PAWL_OK;
        if (status != PAWL_CONFLICT)
            return pw_edit_report(error, status, &inner);
    }
    return pw_error(error, PAWL_BUSY, "instance \"%.*s\" of workflow \"%.*s\" kept changing, %d times; try again",
                    (int)id.size, id.data, (int)workflow.size, workflow.data, PW_CONFLICT_RETRIES_MAX);
}
