/* values.h - the parameters of a statement, in order:
 *
 *     pw_query_run(connection, PW_QUERY_TASK_DELETE, PW_VALUES(pw_int(run->key)), error);
 *
 * Texts and rows are borrowed. */
#ifndef PW_STORE_VALUES_H
#define PW_STORE_VALUES_H

#include "core/fields.h"

struct pw_value {
    enum { PW_VALUE_INTEGER, PW_VALUE_OPTIONAL, PW_VALUE_TEXT, PW_VALUE_ROW, PW_VALUE_CHANGES } kind;
    int64_t integer;                /* optional: 0 is NULL */
    struct pw_text text;            /* absent is NULL */
    const struct pw_row_type *type; /* a row gives one value per field; changes: one per field that may change */
    const void *row;
};

/* Expands to two arguments: the values and their number. */
#define PW_VALUES(...)                                                                                                 \
    (const struct pw_value[]){ __VA_ARGS__ }, sizeof((const struct pw_value[]){ __VA_ARGS__ }) / sizeof(struct pw_value)
#define PW_NO_VALUES NULL, 0

static inline struct pw_value pw_int(int64_t integer)
{
    return (struct pw_value){ .kind = PW_VALUE_INTEGER, .integer = integer };
}

static inline struct pw_value pw_optional(int64_t integer)
{
    return (struct pw_value){ .kind = PW_VALUE_OPTIONAL, .integer = integer };
}

static inline struct pw_value pw_size(size_t size)
{
    return pw_int(size > INT64_MAX ? INT64_MAX : (int64_t)size);
}

static inline struct pw_value pw_str(struct pw_text text)
{
    return (struct pw_value){ .kind = PW_VALUE_TEXT, .text = text };
}

static inline struct pw_value pw_row(const struct pw_row_type *type, const void *row)
{
    return (struct pw_value){ .kind = PW_VALUE_ROW, .type = type, .row = row };
}

static inline struct pw_value pw_changes(const struct pw_row_type *type, const void *row)
{
    return (struct pw_value){ .kind = PW_VALUE_CHANGES, .type = type, .row = row };
}

static inline bool pw_value_is_null(const struct pw_value *value)
{
    return value->kind == PW_VALUE_TEXT ? value->text.data == NULL
                                        : value->kind == PW_VALUE_OPTIONAL && value->integer == 0;
}

/* Calls `give` with each value.  A row is given field by field. */
void pw_values_each(const struct pw_value *values, size_t count, void (*give)(void *user, const struct pw_value *value),
                    void *user);

#endif
