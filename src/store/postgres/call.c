/* call.c - encodes parameters in PostgreSQL's binary form; see call.h.
 *
 * An array is: number of dimensions, whether there may be NULLs, the type of the elements, length and lower bound;
 * then each element after its size, -1 for NULL.  A row is its number of fields, then each field after its type and
 * size.  All numbers are big-endian. */
#include "store/postgres/call.h"

#include <endian.h>
#include <limits.h>
#include <string.h>

enum {
    ARRAY_HEADER_SIZE = 20,
    ROW_HEADER_SIZE = 8,
    FIELD_HEADER_SIZE = 8,
    ELEMENT_HEADER_SIZE = 4,
    CAPACITY_MIN = 1024,
    TYPE_BIGINT = 20, /* the server's number of the type, which never changes */
    TYPE_TEXT = 25,
    ROWS_PER_CALL_MAX = 4096,
    BYTES_PER_CALL_MAX = 8 * 1024 * 1024,
    TEXT_SIZE_MAX = 32 * BYTES_PER_CALL_MAX, /* far below PostgreSQL's limit */
};

static void write_32(char *at, int64_t value)
{
    uint32_t bytes = htobe32((uint32_t)value);
    memcpy(at, &bytes, sizeof bytes);
}

static void write_64(char *at, int64_t value)
{
    uint64_t bytes = htobe64((uint64_t)value);
    memcpy(at, &bytes, sizeof bytes);
}

static bool reserve(struct pw_arena *arena, struct pw_column *column, size_t more)
{
    size_t header = column->size == 0 ? ARRAY_HEADER_SIZE : 0;
    size_t needed = column->size + header + more;
    if (needed > column->capacity) {
        size_t capacity = column->capacity < CAPACITY_MIN ? CAPACITY_MIN : column->capacity * 2;
        if (capacity < needed)
            capacity = needed;
        char *larger = pw_arena_take(arena, capacity);
        if (larger == NULL)
            return false;
        if (column->size > 0)
            memcpy(larger, column->bytes, column->size);
        column->bytes = larger;
        column->capacity = capacity;
    }
    column->size += header;
    return true;
}

static void finish_array(struct pw_column *array, int64_t type, size_t rows)
{
    write_32(array->bytes, 1);
    write_32(array->bytes + 4, 1);
    write_32(array->bytes + 8, type);
    write_32(array->bytes + 12, (int64_t)rows);
    write_32(array->bytes + 16, 1);
}

/* Appends the value after its size, which is -1 for NULL.  A field of a row has its type before that.  False: memory
 * is out, or the text is far beyond all our limits. */
static bool append(struct pw_arena *arena, struct pw_column *array, bool is_field, const struct pw_value *value)
{
    bool is_text = value->kind == PW_VALUE_TEXT, is_null = pw_value_is_null(value);
    size_t header = is_field ? FIELD_HEADER_SIZE : ELEMENT_HEADER_SIZE;
    size_t size = is_null ? 0 : is_text ? value->text.size : 8;
    if (size > TEXT_SIZE_MAX || !reserve(arena, array, header + size))
        return false;
    char *content = array->bytes + array->size + header;
    if (is_field)
        write_32(content - 8, is_text ? TYPE_TEXT : TYPE_BIGINT);
    write_32(content - 4, is_null ? -1 : (int64_t)size);
    if (!is_text && !is_null)
        write_64(content, value->integer);
    else if (size > 0)
        memcpy(content, value->text.data, size);
    array->size += header + size;
    return true;
}

/* ---- Columns ------------------------------------------------------------------------------------------------- */

static void put_element(void *user, const struct pw_value *value)
{
    struct pw_columns *columns = user;
    struct pw_column *column = &columns->columns[columns->at++];
    if (columns->at > columns->column_count) {
        columns->column_count = columns->at;
        column->is_text = value->kind == PW_VALUE_TEXT;
    }
    if (!append(columns->arena, column, false, value))
        columns->no_memory = true;
}

void pw_columns_row(struct pw_columns *columns, const struct pw_value *values, size_t count)
{
    columns->at = 0;
    columns->rows++;
    pw_values_each(values, count, put_element, columns);
}

void pw_put_excepted(struct pw_columns *columns, const struct pw_share *share)
{
    pw_columns_row(columns, PW_VALUES(pw_int(0)));
    for (size_t i = 0; i < share->except_count; i++)
        pw_columns_row(columns, PW_VALUES(pw_int(share->except[i])));
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

static void put_field(void *user, const struct pw_value *value)
{
    struct pw_tuples *tuples = user;
    tuples->no_memory = tuples->no_memory || !append(tuples->arena, &tuples->array, true, value);
    tuples->field_count++;
}

/* The size of a row and the number of its fields come first but are known only at its end, so they are filled in
 * then. */
void pw_tuples_row(struct pw_tuples *tuples, const struct pw_value *values, size_t count)
{
    tuples->no_memory = tuples->no_memory || !reserve(tuples->arena, &tuples->array, ROW_HEADER_SIZE);
    if (tuples->no_memory)
        return;
    size_t start = tuples->array.size;
    tuples->array.size += ROW_HEADER_SIZE;
    tuples->field_count = 0;
    tuples->rows++;
    pw_values_each(values, count, put_field, tuples);
    write_32(tuples->array.bytes + start, (int64_t)(tuples->array.size - start - 4));
    write_32(tuples->array.bytes + start + 4, tuples->field_count);
}

bool pw_tuples_are_full(const struct pw_tuples *tuples)
{
    return tuples->rows >= ROWS_PER_CALL_MAX || tuples->array.size >= BYTES_PER_CALL_MAX;
}

/* ---- Calls --------------------------------------------------------------------------------------------------- */

static void add_text(struct pw_call *call, const char *data, size_t size)
{
    call->too_large = call->too_large || size > INT_MAX;
    call->values[call->count] = data;
    call->sizes[call->count++] = (int)size;
}

static void add_value(void *user, const struct pw_value *value)
{
    struct pw_call *call = user;
    char *integer = call->integers[call->count];
    if (value->kind == PW_VALUE_TEXT || pw_value_is_null(value)) {
        add_text(call, value->text.data, value->text.size);
    } else {
        write_64(integer, value->integer);
        add_text(call, integer, 8);
    }
}

void pw_call_add(struct pw_call *call, const struct pw_value *values, size_t count)
{
    pw_values_each(values, count, add_value, call);
}

void pw_call_init(struct pw_call *call, unsigned name, const struct pw_value *values, size_t count)
{
    call->name = name;
    call->count = 0;
    call->no_memory = call->too_large = false;
    pw_call_add(call, values, count);
}

void pw_call_columns(struct pw_call *call, struct pw_columns *columns)
{
    call->no_memory = call->no_memory || columns->no_memory;
    for (int i = 0; i < columns->column_count && !call->no_memory; i++) {
        struct pw_column *column = &columns->columns[i];
        finish_array(column, column->is_text ? TYPE_TEXT : TYPE_BIGINT, columns->rows);
        add_text(call, column->bytes, column->size);
    }
}

void pw_call_columns_or_null(struct pw_call *call, struct pw_columns *columns, int count)
{
    pw_call_columns(call, columns);
    for (int i = columns->column_count; i < count; i++)
        add_text(call, NULL, 0);
}

void pw_call_tuples(struct pw_call *call, struct pw_tuples *tuples, int64_t type)
{
    call->no_memory = call->no_memory || tuples->no_memory;
    if (call->no_memory)
        return;
    finish_array(&tuples->array, type, tuples->rows);
    add_text(call, tuples->array.bytes, tuples->array.size);
}
