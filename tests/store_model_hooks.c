/* store_model_hooks.c - what hooks are to be told, in the model; see store_model.h. */
#include "store_model_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/rows.h"

static void add_row(struct model *model, const struct pw_op_hook *op, size_t position)
{
    static const struct pw_op_finish open = { .outcome = PW_OUTCOME_OPEN };
    const struct pw_op_finish *end = op->cause->kind == PW_OP_FINISH ? &op->cause->as.finish : &open;
    const struct pw_instance *instance = store_model_instance(model, pw_hook_instance(op, position));
    if (instance == NULL)
        return;
    struct pw_text id = pw_hook_row_id(op, position, &model->arena);
    assert_non_null(id.data);
    *ADD_ROW(model, hook) = (struct pw_hook_row){ .key = ++model->hook_keys,
                                                  .id = store_model_keep(model, id),
                                                  .hook = store_model_keep(model, op->hook),
                                                  .event = op->event,
                                                  .reason = op->reason,
                                                  .due_at_ms = pw_hook_due_at_ms(op),
                                                  .outcome = end->outcome,
                                                  .error_name = store_model_keep(model, end->error_name),
                                                  .error_message = store_model_keep(model, end->error_message),
                                                  .workflow = instance->workflow,
                                                  .instance_id = instance->id,
                                                  .run = instance->run,
                                                  .created_at_ms = model->now_ms,
                                                  .attempts_max = op->attempts_max,
                                                  .next_at_ms = model->now_ms };
}

enum pw_refusal store_model_add_hook(struct model *model, const struct pw_op_hook *op)
{
    size_t count = pw_hook_row_count(op);
    for (size_t position = 0; position < count; position++)
        add_row(model, op, position);
    return PW_REFUSED_NOT;
}

static const struct pw_hook_wanted *wanted_as(const struct pw_op_hook_claim *op, struct pw_text hook)
{
    for (size_t i = 0; i < op->wanted_count; i++)
        if (pw_text_equal(op->wanted[i].hook, hook))
            return &op->wanted[i];
    return NULL;
}

static struct pw_hook_row *next_to_deliver(struct model *model, const struct pw_op_hook_claim *op)
{
    struct pw_hook_row *best = NULL;
    for (size_t i = 0; i < model->rows.hook_count; i++) {
        struct pw_hook_row *row = &model->rows.hooks[i];
        if (row->next_at_ms != 0 && row->next_at_ms <= model->now_ms && wanted_as(op, row->hook) != NULL &&
            (best == NULL || row->next_at_ms < best->next_at_ms))
            best = row;
    }
    return best;
}

enum pw_refusal store_model_claim_hooks(struct model *model, struct pw_op_hook_claim *op, struct pw_arena *arena)
{
    struct pw_rows claims = { .arena = arena, .row_size = sizeof(struct pw_hook_row) };
    struct pw_hook_row *row;
    while (claims.count < op->max && (row = next_to_deliver(model, op)) != NULL) {
        row->epoch++;
        row->next_at_ms = row->locked_until_ms = 0;
        if (row->attempts >= row->attempts_max) {
            row->last_error = pw_text_of("the last attempt was not heard of again before its lease ended");
            continue;
        }
        row->attempts++;
        row->next_at_ms = row->locked_until_ms = model->now_ms + wanted_as(op, row->hook)->lease_ms;
        struct pw_hook_row *claimed = pw_rows_add(&claims);
        assert_non_null(claimed);
        *claimed = *row;
    }
    op->rows = claims.rows;
    op->row_count = claims.count;
    return PW_REFUSED_NOT;
}

enum pw_refusal store_model_settle(struct model *model, struct pw_op_hook_settle *op)
{
    struct model_rows *rows = &model->rows;
    size_t i = 0;
    while (i < rows->hook_count && rows->hooks[i].key != op->key)
        i++;
    op->lost = i == rows->hook_count || rows->hooks[i].epoch != op->epoch;
    if (op->lost)
        return PW_REFUSED_NOT;
    if (op->delivered) {
        memmove(&rows->hooks[i], &rows->hooks[i + 1], (rows->hook_count - i - 1) * sizeof rows->hooks[0]);
        rows->hook_count--;
        return PW_REFUSED_NOT;
    }
    rows->hooks[i].attempts -= op->untried && rows->hooks[i].attempts > 0;
    rows->hooks[i].next_at_ms = op->next_at_ms;
    rows->hooks[i].locked_until_ms = 0;
    rows->hooks[i].last_error = store_model_keep(model, op->last_error);
    return PW_REFUSED_NOT;
}

enum pw_refusal store_model_resend(struct model *model, struct pw_op_hook_resend *op)
{
    op->found = false;
    for (size_t i = 0; i < model->rows.hook_count && !op->found; i++) {
        struct pw_hook_row *row = &model->rows.hooks[i];
        op->found = pw_text_equal(row->id, op->id);
        if (!op->found)
            continue;
        row->attempts = row->locked_until_ms = 0;
        row->epoch++;
        row->next_at_ms = model->now_ms;
    }
    return PW_REFUSED_NOT;
}
