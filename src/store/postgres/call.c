/* call.c - see call.h.
 *
 * An array in binary form: number of dimensions, whether there may be NULLs, the type of the elements, length and lower
 * bound; then each element behind its size, -1 for NULL.  A row is its number of fields, then each field behind its type
 * and size.  All numbers are big-endian. */
#include "store/postgres/call.h"

#include <limits.h>
#include <string.h>

enum {
    ARRAY_HEADER_SIZE = 20,
    ROW_HEADER_SIZE = 8,
    FIELD_HEADER_SIZE = 8,
    CAPACITY_MIN = 1024,
    TYPE_BIGINT = 20, /* the server's number of the type: never changes */
    TYPE_TEXT = 25,
    ROWS_PER_CALL_MAX = 4096,
    BYTES_PER_CALL_MAX = 8 * 1024 * 1024,
};

static void write_32(char *at, int64_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(unsigned char)(value >> (24 - 8 * i));
}

static void write_64(char *at, int64_t value)
{
    write_32(at, value >> 32);
    write_32(at + 4, value);
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

/* Far beyond every limit of ours, far below PostgreSQL's. */
static bool fits(struct pw_text text)
{
    return text.size <= (size_t)BYTES_PER_CALL_MAX * 32;
}

/* ---- Columns ------------------------------------------------------------------------------------------------- */

void pw_columns_init(struct pw_columns *columns, struct pw_arena *arena)
{
    *columns = (struct pw_columns){ .arena = arena };
}

void pw_columns_row(struct pw_columns *columns)
{
    columns->at = 0;
    columns->rows++;
}

/* Room for one more element; size -1: NULL.  NULL when memory is out. */
static char *next_element(struct pw_columns *columns, bool is_text, int64_t size)
{
    size_t content = size > 0 ? (size_t)size : 0;
    struct pw_column *column = &columns->columns[columns->at++];
    if (columns->at > columns->column_count) {
        columns->column_count = columns->at;
        column->is_text = is_text;
    }
    if (!reserve(columns->arena, column, 4 + content)) {
        columns->no_memory = true;
        return NULL;
    }
    char *element = column->bytes + column->size;
    write_32(element, size);
    column->size += 4 + content;
    return element + 4;
}

void pw_put_integer(struct pw_columns *columns, int64_t value)
{
    char *element = next_element(columns, false, 8);
    if (element != NULL)
        write_64(element, value);
}

void pw_put_text(struct pw_columns *columns, struct pw_text text)
{
    bool is_there = text.data != NULL && fits(text);
    columns->no_memory = columns->no_memory || !fits(text);
    char *element = next_element(columns, true, is_there ? (int64_t)text.size : -1);
    if (element != NULL && is_there)
        memcpy(element, text.data, text.size);
}

void pw_put_excepted(struct pw_columns *columns, const struct pw_share *share)
{
    pw_columns_row(columns);
    pw_put_integer(columns, 0); /* nobody's key: an array needs an element */
    for (size_t i = 0; i < share->except_count; i++) {
        pw_columns_row(columns);
        pw_put_integer(columns, share->except[i]);
    }
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

void pw_tuples_init(struct pw_tuples *tuples, struct pw_arena *arena)
{
    *tuples = (struct pw_tuples){ .arena = arena };
}

/* The size of a row and the number of its fields stand before them, and are known at its end. */
static void finish_row(struct pw_tuples *tuples)
{
    if (tuples->rows == 0 || tuples->no_memory)
        return;
    char *row = tuples->array.bytes + tuples->row_start;
    write_32(row, (int64_t)(tuples->array.size - tuples->row_start - 4));
    write_32(row + 4, tuples->field_count);
}

void pw_tuples_row(struct pw_tuples *tuples)
{
    finish_row(tuples);
    if (!reserve(tuples->arena, &tuples->array, ROW_HEADER_SIZE)) {
        tuples->no_memory = true;
        return;
    }
    tuples->row_start = tuples->array.size;
    tuples->array.size += ROW_HEADER_SIZE;
    tuples->field_count = 0;
    tuples->rows++;
}

/* Room for one more field; size -1: NULL.  NULL when memory is out. */
static char *next_field(struct pw_tuples *tuples, int64_t type, int64_t size)
{
    size_t content = size > 0 ? (size_t)size : 0;
    if (tuples->no_memory || !reserve(tuples->arena, &tuples->array, FIELD_HEADER_SIZE + content)) {
        tuples->no_memory = true;
        return NULL;
    }
    char *field = tuples->array.bytes + tuples->array.size;
    write_32(field, type);
    write_32(field + 4, size);
    tuples->array.size += FIELD_HEADER_SIZE + content;
    tuples->field_count++;
    return field + FIELD_HEADER_SIZE;
}

void pw_field_put_integer(struct pw_tuples *tuples, int64_t value)
{
    char *field = next_field(tuples, TYPE_BIGINT, 8);
    if (field != NULL)
        write_64(field, value);
}

void pw_field_put_time(struct pw_tuples *tuples, int64_t at_ms)
{
    if (at_ms != 0)
        pw_field_put_integer(tuples, at_ms);
    else
        (void)next_field(tuples, TYPE_BIGINT, -1);
}

void pw_field_put_text(struct pw_tuples *tuples, struct pw_text text)
{
    bool is_there = text.data != NULL && fits(text);
    tuples->no_memory = tuples->no_memory || !fits(text);
    char *field = next_field(tuples, TYPE_TEXT, is_there ? (int64_t)text.size : -1);
    if (field != NULL && is_there)
        memcpy(field, text.data, text.size);
}

void pw_field_put_row(struct pw_tuples *tuples, const struct pw_row_type *type, const void *row)
{
    for (const struct pw_field *field = type->fields; field < type->fields + type->count; field++) {
        if (field->type == PW_FIELD_TEXT)
            pw_field_put_text(tuples, pw_member_text_of(field, row));
        else if (field->is_optional)
            pw_field_put_time(tuples, pw_member_get(field, row));
        else
            pw_field_put_integer(tuples, pw_member_get(field, row));
    }
}

bool pw_tuples_are_full(const struct pw_tuples *tuples)
{
    return tuples->rows >= ROWS_PER_CALL_MAX || tuples->array.size >= BYTES_PER_CALL_MAX;
}

/* ---- Calls --------------------------------------------------------------------------------------------------- */

void pw_call_init(struct pw_call *call, unsigned name)
{
    call->name = name;
    call->count = 0;
    call->no_memory = call->too_large = false;
}

void pw_call_integer(struct pw_call *call, int64_t value)
{
    int at = call->count++;
    write_64(call->integers[at], value);
    call->values[at] = call->integers[at];
    call->sizes[at] = 8;
}

void pw_call_size(struct pw_call *call, size_t size)
{
    pw_call_integer(call, size > INT64_MAX ? INT64_MAX : (int64_t)size);
}

void pw_call_text(struct pw_call *call, struct pw_text text)
{
    int at = call->count++;
    call->too_large = call->too_large || text.size > INT_MAX;
    call->values[at] = text.data;
    call->sizes[at] = (int)text.size;
}

void pw_call_columns(struct pw_call *call, struct pw_columns *columns)
{
    call->no_memory = call->no_memory || columns->no_memory;
    for (int i = 0; i < columns->column_count && !call->no_memory; i++) {
        struct pw_column *column = &columns->columns[i];
        finish_array(column, column->is_text ? TYPE_TEXT : TYPE_BIGINT, columns->rows);
        pw_call_text(call, (struct pw_text){ column->bytes, column->size });
    }
}

void pw_call_null(struct pw_call *call)
{
    pw_call_text(call, (struct pw_text){ NULL, 0 });
}

void pw_call_time(struct pw_call *call, int64_t at_ms)
{
    if (at_ms != 0)
        pw_call_integer(call, at_ms);
    else
        pw_call_null(call);
}

void pw_call_columns_or_null(struct pw_call *call, struct pw_columns *columns, int count)
{
    pw_call_columns(call, columns);
    for (int i = columns->column_count; i < count; i++)
        pw_call_null(call);
}

void pw_call_tuples(struct pw_call *call, struct pw_tuples *tuples, int64_t type)
{
    finish_row(tuples);
    call->no_memory = call->no_memory || tuples->no_memory;
    if (call->no_memory)
        return;
    finish_array(&tuples->array, type, tuples->rows);
    pw_call_text(call, (struct pw_text){ tuples->array.bytes, tuples->array.size });
}
