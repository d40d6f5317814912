/* values.c - see values.h. */
#include "store/values.h"

static struct pw_value value_of(const struct pw_field *field, const void *row)
{
    if (field->type == PW_FIELD_TEXT)
        return pw_str(pw_member_text_of(field, row));
    int64_t number = pw_member_get(field, row);
    return field->is_optional ? pw_optional(number) : pw_int(number);
}

void pw_values_each(const struct pw_value *values, size_t count, void (*give)(void *user, const struct pw_value *value),
                    void *user)
{
    for (const struct pw_value *value = values; value < values + count; value++) {
        if (value->type == NULL)
            give(user, value);
        else
            for (const struct pw_field *field = value->type->fields; field < value->type->fields + value->type->count;
                 field++) {
                const struct pw_value member = value_of(field, value->row);
                if (value->kind == PW_VALUE_ROW || field->may_change)
                    give(user, &member);
            }
    }
}
