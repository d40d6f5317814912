/* store_model_hooks.c - what hooks are to be told, in the model; see store_model.h. */
#include "store_model_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rows.h"

/* ---- What a unit did ------------------------------------------------------------------------------------------------ */

struct pw_effect *store_model_tell(struct model *model, enum pw_effect_kind kind, int64_t instance, int64_t run)
{
    struct pw_effect *effect = pw_unit_tell(model->unit, kind, instance, run);
    assert_non_null(effect);
    return effect;
}

void store_model_tell_due(struct model *model, enum pw_effect_kind kind, const struct pw_instance *instance,
                          enum pw_hook_reason reason, int64_t at_ms)
{
    bool is_moved = kind == PW_EFFECT_PARKED || kind == PW_EFFECT_HELD, has_event = false, was_moved = false;
    for (const struct pw_effect *effect = model->unit->effects; effect != NULL; effect = effect->next) {
        bool is_of_it = effect->instance == instance->key;
        has_event |= is_of_it && effect->kind == PW_EFFECT_EVENT;
        was_moved |= is_of_it && (effect->kind == PW_EFFECT_PARKED || effect->kind == PW_EFFECT_HELD);
    }
    if (is_moved && reason != 0)
        reason = was_moved ? 0 : has_event ? PW_REASON_EVENT : reason;
    struct pw_effect *effect = store_model_tell(model, kind, instance->key, instance->run);
    effect->as.due.reason = reason;
    effect->as.due.at_ms = reason != 0 ? at_ms : 0;
}

/* ---- Deliveries ----------------------------------------------------------------------------------------------------- */

static void add_row(struct model *model, const struct pw_effect *effect, const struct pw_subscription *to, int number)
{
    char id[64];
    bool is_end = effect->kind == PW_EFFECT_ENDED;
    const struct pw_instance *instance = store_model_instance(model, effect->instance);
    (void)snprintf(id, sizeof id, number == 1 ? "%s" : "%s-%d", model->unit->delivery_id, number);
    struct pw_hook_row *row = ADD_ROW(model, hook);
    *row = (struct pw_hook_row){ .key = ++model->hook_keys,
                                 .id = store_model_keep(model, pw_text_of(id)),
                                 .hook = store_model_keep(model, to->hook),
                                 .event = is_end ? PAWL_HOOK_FINISHED : PAWL_HOOK_ENQUEUED,
                                 .workflow = instance->workflow,
                                 .instance_id = instance->id,
                                 .run = effect->run,
                                 .created_at_ms = model->now_ms,
                                 .attempts_max = to->attempts_max,
                                 .next_at_ms = model->now_ms };
    if (!is_end) {
        row->reason = effect->as.due.reason;
        row->due_at_ms = effect->as.due.at_ms;
        return;
    }
    row->outcome = effect->as.end.outcome;
    row->error_name = store_model_keep(model, effect->as.end.error_name);
    row->error_message = store_model_keep(model, effect->as.end.error_message);
}

void store_model_tell_hooks(struct model *model)
{
    int number = 0;
    for (const struct pw_effect *effect = model->unit->effects; effect != NULL; effect = effect->next) {
        bool can_be_due = effect->kind == PW_EFFECT_BEGUN || effect->kind == PW_EFFECT_PARKED ||
                          effect->kind == PW_EFFECT_HELD || effect->kind == PW_EFFECT_WOKEN;
        bool is_due = can_be_due && effect->as.due.reason != 0, is_end = effect->kind == PW_EFFECT_ENDED;
        const struct pw_subscription *to = !effect->is_job && (is_due || is_end) ? model->unit->subscriptions : NULL;
        for (; to != NULL; to = atomic_load(&to->next))
            if ((to->events & (is_end ? PAWL_HOOK_FINISHED : PAWL_HOOK_ENQUEUED)) != 0)
                add_row(model, effect, to, ++number);
    }
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
