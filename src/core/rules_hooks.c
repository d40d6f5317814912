/* rules_hooks.c - deliveries to hooks: claimed for an attempt, given up, settled, sent again (R2, R8). */
#include <stdlib.h>

#include "core/fields.h"
#include "core/rules.h"

/* ---- Claiming -------------------------------------------------------------------------------------------------------- */

/* Saves a copy before the delivery is changed. */
static bool change(struct pw_core *core, struct pw_core_delivery *delivery)
{
    if (!PW_SAVE(core, delivery))
        return false;
    delivery->is_changed = true;
    return true;
}

/* Checked again, because the delivery was found by a condition (R8). */
static bool is_due(const struct pw_core *core, const struct pw_core_delivery *delivery)
{
    int64_t next_at_ms = delivery->row.next_at_ms;
    return delivery->exists && next_at_ms != 0 && next_at_ms <= core->now_ms;
}

static bool is_used_up(const struct pw_core_delivery *delivery)
{
    return delivery->row.attempts >= delivery->row.attempts_max || !delivery->has_instance;
}

static pawl_status give_up(struct pw_core *core, struct pw_core_delivery *delivery)
{
    if (!change(core, delivery))
        return pw_rule_no_memory(core);
    delivery->row.epoch++;
    delivery->row.next_at_ms = delivery->row.locked_until_ms = 0;
    delivery->row.last_error = pw_text_of("the last attempt was not heard of again before its lease ended");
    return PAWL_OK;
}

/* Longest due first. */
static int compare_deliveries(const void *left, const void *right)
{
    const struct pw_hook_row *first = &(*(struct pw_core_delivery *const *)left)->row;
    const struct pw_hook_row *second = &(*(struct pw_core_delivery *const *)right)->row;
    if (first->next_at_ms != second->next_at_ms)
        return first->next_at_ms < second->next_at_ms ? -1 : 1;
    return (first->key > second->key) - (first->key < second->key);
}

static const struct pw_hook_wanted *wanted_as(const struct pw_op_hook_claim *op, struct pw_text hook)
{
    for (size_t i = 0; i < op->wanted_count; i++)
        if (pw_text_equal(op->wanted[i].hook, hook))
            return &op->wanted[i];
    return NULL;
}

static bool copy_texts(struct pw_arena *arena, const struct pw_row_type *type, struct pw_hook_row *row)
{
    for (size_t i = 0; i < type->count; i++) {
        struct pw_text *text = pw_member_text(&type->fields[i], row);
        if (type->fields[i].type == PW_FIELD_TEXT && !pw_arena_text(arena, *text, text))
            return false;
    }
    return true;
}

static bool copy_row(struct pw_arena *arena, const struct pw_hook_row *from, struct pw_hook_row *to)
{
    *to = *from;
    return copy_texts(arena, &pw_delivery_type, to) && copy_texts(arena, &pw_hook_type, to) &&
           pw_arena_text(arena, from->workflow, &to->workflow) &&
           pw_arena_text(arena, from->instance_id, &to->instance_id);
}

static pawl_status take(struct pw_core *core, struct pw_core_delivery *delivery, int64_t lease_ms,
                        struct pw_rows *claimed)
{
    struct pw_hook_row *row = &delivery->row, *copy = pw_rows_add(claimed);
    if (copy == NULL || !change(core, delivery))
        return pw_rule_no_memory(core);
    row->attempts++;
    row->epoch++;
    row->next_at_ms = row->locked_until_ms = core->now_ms + lease_ms;
    return copy_row(claimed->arena, row, copy) ? PAWL_OK : pw_rule_no_memory(core);
}

pawl_status pw_core_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op, struct pw_rows *found)
{
    struct pw_rows claimed = { .arena = &core->unit->arena, .row_size = sizeof(struct pw_hook_row) };
    struct pw_core_delivery **deliveries = found->rows;
    pawl_status status = PAWL_OK;
    if (found->count > 1)
        qsort(found->rows, found->count, found->row_size, compare_deliveries);
    for (size_t i = 0; i < found->count && claimed.count < op->max && status == PAWL_OK; i++) {
        const struct pw_hook_wanted *wanted = wanted_as(op, deliveries[i]->row.hook);
        if (wanted == NULL || !is_due(core, deliveries[i]))
            continue;
        status = is_used_up(deliveries[i]) ? give_up(core, deliveries[i])
                                           : take(core, deliveries[i], wanted->lease_ms, &claimed);
    }
    /* If the copy of a row's texts failed, no row is handed out. */
    op->rows = status == PAWL_OK ? claimed.rows : NULL;
    op->row_count = status == PAWL_OK ? claimed.count : 0;
    return status;
}

/* ---- Settling -------------------------------------------------------------------------------------------------------- */

/* Counts only if the delivery is still at the epoch of the attempt.  Otherwise another attempt has it, and it is
 * left alone (R2). */
pawl_status pw_rule_hook_settle(struct pw_core *core, struct pw_op_hook_settle *op)
{
    struct pw_core_delivery *delivery = pw_want_delivery(core, op->key);
    if (delivery == NULL)
        return pw_rule_no_memory(core);
    op->lost = !delivery->exists || delivery->row.epoch != op->epoch;
    if (op->lost)
        return PAWL_OK;
    if (!change(core, delivery))
        return pw_rule_no_memory(core);
    delivery->exists = !op->delivered;
    delivery->row.next_at_ms = op->next_at_ms;
    delivery->row.locked_until_ms = 0;
    delivery->row.last_error = op->last_error;
    if (op->untried && delivery->row.attempts > 0)
        delivery->row.attempts--;
    return PAWL_OK;
}

/* Makes a delivery due now, with all its attempts left.  Raising the epoch shuts out an attempt that is under way
 * (R2). */
pawl_status pw_rule_hook_resend(struct pw_core *core, struct pw_op_hook_resend *op)
{
    struct pw_core_delivery **deliveries = core->deliveries.list.rows, *delivery = NULL;
    for (size_t i = 0; i < core->deliveries.list.count && delivery == NULL; i++)
        if (deliveries[i]->exists && pw_text_equal(deliveries[i]->row.id, op->id))
            delivery = deliveries[i];
    op->found = delivery != NULL;
    if (delivery == NULL)
        return PAWL_OK;
    if (!change(core, delivery))
        return pw_rule_no_memory(core);
    delivery->row.attempts = delivery->row.locked_until_ms = 0;
    delivery->row.epoch++;
    delivery->row.next_at_ms = core->now_ms;
    return PAWL_OK;
}
