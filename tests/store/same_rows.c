/* same_rows.c - see same_rows.h. */
#include "same_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/fields.h"

static void assert_texts(struct pw_text left, struct pw_text right)
{
    assert_int_equal(left.data == NULL, right.data == NULL);
    assert_true(pw_text_equal(left, right));
}

static void assert_same_link(const struct pw_link *left, const struct pw_link *right)
{
    assert_int_equal(left->parent == 0, right->parent == 0);
    assert_int_equal(left->run, right->run);
    assert_int_equal(left->relation, right->relation);
}

void assert_same_claim(const struct pw_claim *left, const struct pw_claim *right)
{
    assert_int_equal(left->fence.run, right->fence.run);
    assert_int_equal(left->fence.epoch, right->fence.epoch);
    assert_texts(left->workflow, right->workflow);
    assert_texts(left->id, right->id);
    assert_int_equal(left->kind, right->kind);
    assert_int_equal(left->demand, right->demand);
    assert_int_equal(left->event_seq, right->event_seq);
    assert_int_equal(left->is_first, right->is_first);
    assert_int_equal(left->taken_over, right->taken_over);
    assert_int_equal(left->has_instance, right->has_instance);
    assert_texts(left->params, right->params);
    assert_int_equal(left->updated_at_ms, right->updated_at_ms);
    assert_int_equal(left->created_at_ms, right->created_at_ms);
    if (left->has_instance)
        assert_same_link(&left->link, &right->link);
}

static bool is_same(const struct pw_field *field, const void *left, const void *right)
{
    if (field->type != PW_FIELD_TEXT)
        return pw_member_get(field, left) == pw_member_get(field, right);
    struct pw_text one = pw_member_text_of(field, left), other = pw_member_text_of(field, right);
    return (one.data == NULL) == (other.data == NULL) && pw_text_equal(one, other);
}

/* Each store hands out keys of its own. */
static void assert_same_fields(const struct pw_row_type *type, const void *left, const void *right)
{
    for (const struct pw_field *field = type->fields; field < type->fields + type->count; field++) {
        bool is_key = strcmp(field->column, "key") == 0 || strcmp(field->column, "parent") == 0;
        if (!is_key && !is_same(field, left, right))
            fail_msg("the column %s differs", field->column);
    }
}

void assert_same_instance(const struct pw_instance *left, const struct pw_instance *right)
{
    assert_same_fields(&pw_instance_type, left, right);
    assert_same_link(&left->link, &right->link);
    assert_int_equal(left->has_task, right->has_task);
    assert_same_fields(&pw_task_type, &left->task, &right->task);
}

void assert_same_earlier_run(const struct pw_earlier_run *left, const struct pw_earlier_run *right)
{
    assert_same_fields(&pw_earlier_run_type, left, right);
}

void assert_same_step_row(const struct pw_step_row *left, const struct pw_step_row *right)
{
    assert_same_fields(&pw_step_type, left, right);
}

void assert_same_event(const struct pw_event_row *left, const struct pw_event_row *right)
{
    assert_same_fields(&pw_event_type, left, right);
}

void assert_same_log(const struct pw_log_row *left, const struct pw_log_row *right)
{
    assert_same_fields(&pw_log_type, left, right);
}

void assert_same_hook(const struct pw_hook_row *left, const struct pw_hook_row *right)
{
    assert_same_fields(&pw_delivery_type, left, right);
    assert_same_fields(&pw_hook_type, left, right);
    assert_texts(left->workflow, right->workflow);
    assert_texts(left->instance_id, right->instance_id);
}
