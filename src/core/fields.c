/* fields.c - makes a table of fields (struct pw_row_type) from each list in fields.h, and reads and writes members
 * through it. */
#include "core/fields.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* How a type in the lists fills in a struct pw_field, and the size that its member must have. */
#define PW_FIELD_CHOICE(last) PW_FIELD_ONE_OF, .most = (last)
#define PW_FIELD_OPTIONAL(type) PW_FIELD_##type, .is_optional = true
#define SIZE_PLACE sizeof(int64_t)
#define SIZE_COUNT sizeof(int64_t)
#define SIZE_TIME sizeof(int64_t)
#define SIZE_NUMBER sizeof(int64_t)
#define SIZE_FLAG sizeof(bool)
#define SIZE_CHOICE(last) sizeof(int)
#define SIZE_TEXT sizeof(struct pw_text)
#define SIZE_OPTIONAL(type) SIZE_##type

#define CHANGES_KEY false
#define CHANGES_HEAD true
#define CHANGES_FIRST true
#define CHANGES_NEXT true
#define CHANGES_ONCE false
#define CHANGES_BEGUN true
#define FIELD(row, part, field_type, member, name)                                                                     \
    { .type = PW_FIELD_##field_type, .may_change = CHANGES_##part, .at = offsetof(row, member), .column = #name },
#define CHECK_SIZE(row, part, type, member, column)                                                                    \
    static_assert(sizeof(((row *)NULL)->member) == SIZE_##type, #row "." #member);
#define ROW_TYPE(name, row, list)                                                                                      \
    list(CHECK_SIZE, row) static const struct pw_field name##_fields[] = { list(FIELD, row) };                         \
    const struct pw_row_type pw_##name##_type = { .size = sizeof(row),                                                 \
                                                  .fields = name##_fields,                                             \
                                                  .count = sizeof name##_fields / sizeof name##_fields[0] };

ROW_TYPE(instance, struct pw_instance, PW_INSTANCE_FIELDS)
ROW_TYPE(terms, struct pw_terms, PW_TERMS_ALONE)
ROW_TYPE(task, struct pw_task, PW_TASK_FIELDS)
ROW_TYPE(earlier_run, struct pw_earlier_run, PW_EARLIER_RUN_FIELDS)
ROW_TYPE(step, struct pw_step_row, PW_STEP_FIELDS)
ROW_TYPE(plain_step, struct pw_step_row, PW_PLAIN_STEP_FIELDS)
ROW_TYPE(event, struct pw_event_row, PW_EVENT_FIELDS)
ROW_TYPE(log, struct pw_log_row, PW_LOG_FIELDS)
ROW_TYPE(delivery, struct pw_hook_row, PW_DELIVERY_FIELDS)
ROW_TYPE(hook, struct pw_hook_row, PW_HOOK_FIELDS)
ROW_TYPE(runner, struct pw_runner_row, PW_RUNNER_FIELDS)

static void set_number(const struct pw_field *field, void *row, int64_t number)
{
    memcpy((char *)row + field->at, &number, sizeof number);
}

static bool set_choice(const struct pw_field *field, void *row, int64_t number)
{
    bool is_one = number >= 0 && number <= field->most;
    int choice = is_one ? (int)number : 0;
    memcpy((char *)row + field->at, &choice, sizeof choice);
    return is_one;
}

bool pw_member_set(const struct pw_field *field, void *row, int64_t number)
{
    switch (field->type) {
    case PW_FIELD_PLACE:
        set_number(field, row, number);
        return pw_is_place(number);
    case PW_FIELD_COUNT:
        set_number(field, row, pw_count_of(number));
        break;
    case PW_FIELD_TIME:
        set_number(field, row, pw_time_of(number));
        break;
    case PW_FIELD_NUMBER:
        set_number(field, row, number);
        break;
    case PW_FIELD_FLAG:
        *(bool *)((char *)row + field->at) = number != 0;
        break;
    case PW_FIELD_ONE_OF:
        return set_choice(field, row, number);
    case PW_FIELD_TEXT:
        assert(false);
        break;
    }
    return true;
}

int64_t pw_member_get(const struct pw_field *field, const void *row)
{
    const char *at = (const char *)row + field->at;
    int64_t number = 0;
    int choice = 0;
    assert(field->type != PW_FIELD_TEXT);
    if (field->type == PW_FIELD_FLAG)
        return *(const bool *)at;
    if (field->type != PW_FIELD_ONE_OF) {
        memcpy(&number, at, sizeof number);
        return number;
    }
    memcpy(&choice, at, sizeof choice);
    return choice;
}

void pw_instance_merge(struct pw_instance *instance, int64_t step_updated_at_ms)
{
    if (!instance->has_task)
        return;
    instance->updated_at_ms = pw_not_before(instance->updated_at_ms, instance->task.updated_at_ms);
    instance->updated_at_ms = pw_not_before(instance->updated_at_ms, step_updated_at_ms);
    if (instance->task.started_at_ms != 0)
        instance->started_at_ms = instance->task.started_at_ms;
}

bool pw_rows_equal(const struct pw_row_type *type, const void *left, const void *right)
{
    for (size_t i = 0; i < type->count; i++) {
        const struct pw_field *field = &type->fields[i];
        if (field->type == PW_FIELD_TEXT
                ? !pw_text_equal(pw_member_text_of(field, left), pw_member_text_of(field, right))
                : pw_member_get(field, left) != pw_member_get(field, right))
            return false;
    }
    return true;
}

bool pw_step_is_plain(const struct pw_step_row *row)
{
    for (size_t i = pw_plain_step_type.count; i < pw_step_type.count; i++) {
        const struct pw_field *field = &pw_step_type.fields[i];
        assert(field->is_optional || field->type == PW_FIELD_TEXT);
        if (field->type == PW_FIELD_TEXT ? pw_member_text_of(field, row).data != NULL : pw_member_get(field, row) != 0)
            return false;
    }
    return true;
}
