/* query.c - binds values, steps and reads columns, and remembers the first error; see query.h. */
#include "store/sqlite/query.h"

#include "store/sqlite/errors.h"

static void note(struct pw_query *query, int code)
{
    if (query->code == SQLITE_OK)
        query->code = code;
}

static void bind(void *user, const struct pw_value *value)
{
    struct pw_query *query = user;
    int parameter = ++query->parameter;
    if (query->code != SQLITE_OK)
        return;
    if (pw_value_is_null(value))
        query->code = sqlite3_bind_null(query->statement, parameter);
    else if (value->kind == PW_VALUE_TEXT)
        query->code = sqlite3_bind_text64(query->statement, parameter, value->text.data, value->text.size,
                                          SQLITE_STATIC, SQLITE_UTF8);
    else
        query->code = sqlite3_bind_int64(query->statement, parameter, value->integer);
}

void pw_query_bind(struct pw_query *query, const struct pw_value *values, size_t count)
{
    pw_values_each(values, count, bind, query);
}

void pw_query_start(struct pw_query *query, struct pw_sqlite_connection *connection, unsigned name,
                    const struct pw_value *values, size_t count)
{
    *query = (struct pw_query){ .connection = connection };
    query->code = pw_sqlite_statement(connection, name, &query->statement);
    pw_query_bind(query, values, count);
}

bool pw_query_step(struct pw_query *query)
{
    if (query->code != SQLITE_OK)
        return false;
    query->column = 0;
    int code = sqlite3_step(query->statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        note(query, code);
    return code == SQLITE_ROW;
}

void *pw_query_next(struct pw_query *query, struct pw_rows *records)
{
    if (!pw_query_step(query))
        return NULL;
    void *record = pw_rows_add(records);
    if (record == NULL)
        note(query, SQLITE_NOMEM);
    return record;
}

int64_t pw_column_integer(struct pw_query *query)
{
    return sqlite3_column_int64(query->statement, query->column++);
}

int64_t pw_column_count(struct pw_query *query)
{
    return pw_count_of(pw_column_integer(query));
}

int64_t pw_column_time(struct pw_query *query)
{
    return pw_time_of(pw_column_integer(query));
}

int64_t pw_column_key(struct pw_query *query)
{
    int64_t place = pw_column_integer(query);
    if (!pw_is_place(place))
        note(query, SQLITE_CORRUPT);
    return place;
}

int pw_column_choice(struct pw_query *query, int most)
{
    int64_t choice = pw_column_integer(query);
    if (choice >= 0 && choice <= most)
        return (int)choice;
    note(query, SQLITE_CORRUPT);
    return 0;
}

bool pw_column_is_null(struct pw_query *query)
{
    return sqlite3_column_type(query->statement, query->column) == SQLITE_NULL;
}

struct pw_text pw_column_text(struct pw_query *query, struct pw_arena *arena)
{
    struct pw_text copy = { NULL, 0 };
    int column = query->column++;
    if (sqlite3_column_type(query->statement, column) == SQLITE_NULL)
        return copy;

    const char *data = (const char *)sqlite3_column_text(query->statement, column);
    struct pw_text text = { data, (size_t)sqlite3_column_bytes(query->statement, column) };
    if (data == NULL || !pw_arena_text(arena, text, &copy))
        note(query, SQLITE_NOMEM);
    return copy;
}

void pw_column_row(struct pw_query *query, struct pw_arena *arena, const struct pw_row_type *type, void *row)
{
    for (const struct pw_field *field = type->fields; field < type->fields + type->count; field++) {
        if (field->type == PW_FIELD_TEXT)
            *pw_member_text(field, row) = pw_column_text(query, arena);
        else if (!pw_member_set(field, row, pw_column_integer(query)))
            note(query, SQLITE_CORRUPT);
    }
}

pawl_status pw_query_end(struct pw_query *query, struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    if (query->code != SQLITE_OK)
        status = pw_sqlite_error(query->connection, query->code, error);
    if (query->statement != NULL)
        (void)sqlite3_reset(query->statement);
    return status;
}

pawl_status pw_query_run(struct pw_sqlite_connection *connection, unsigned name, const struct pw_value *values,
                         size_t count, struct pawl_error *error)
{
    struct pw_query query;
    pw_query_start(&query, connection, name, values, count);
    (void)pw_query_step(&query);
    return pw_query_end(&query, error);
}

pawl_status pw_query_simple(struct pw_sqlite_connection *connection, unsigned name, struct pawl_error *error)
{
    return pw_query_run(connection, name, PW_NO_VALUES, error);
}

/* If a rollback fails, the next BEGIN on the connection fails and reports it. */
void pw_sqlite_rollback(struct pw_sqlite_connection *connection)
{
    if (!sqlite3_get_autocommit(connection->db)) {
        pawl_status status = pw_query_simple(connection, PW_QUERY_ROLLBACK, NULL);
        (void)status;
    }
}
