/* values.c - unfolds rows into the values of their fields, in the order of the columns; see values.h. */
#include "store/values.h"

static struct pw_value value_of(const struct pw_field *field, const void *row)
{
    if (field->type == PW_FIELD_TEXT)
        return pw_str(pw_member_text_of(field, row));
    int64_t number = pw_member_get(field, row);
    return field->is_optional ? pw_optional(number) : pw_int(number);
}

static void give_row(const struct pw_value *row, void (*give)(void *user, const struct pw_value *value), void *user)
{
    for (size_t i = 0; i < row->type->count; i++) {
        const struct pw_field *field = &row->type->fields[i];
        const struct pw_value member = value_of(field, row->row);
        if (row->kind == PW_VALUE_ROW || field->may_change)
            give(user, &member);
    }
}

void pw_values_each(const struct pw_value *values, size_t count, void (*give)(void *user, const struct pw_value *value),
                    void *user)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].type != NULL)
            give_row(&values[i], give, user);
        else
            give(user, &values[i]);
}
