/* call.h - a statement and its parameters, in PostgreSQL's binary form.
 *
 * Parameters are added in order.  Texts and columns are borrowed until the call was sent.  An error, such as no
 * memory, is remembered and reported when the call is sent. */
#ifndef PW_STORE_POSTGRES_CALL_H
#define PW_STORE_POSTGRES_CALL_H

#include <stdint.h>

#include "base/arena.h"
#include "store/postgres/queries.h"
#include "store/store.h"
#include "store/values.h"

enum { PW_CALL_PARAMETERS_MAX = 20 };

struct pw_call {
    unsigned name;
    int count;
    const char *values[PW_CALL_PARAMETERS_MAX];
    int sizes[PW_CALL_PARAMETERS_MAX];
    char integers[PW_CALL_PARAMETERS_MAX][8];
    bool no_memory, too_large;
};

/* Rows as one array per column, for statements that look rows up. */
struct pw_column {
    char *bytes;
    size_t size, capacity;
    bool is_text;
};
struct pw_columns {
    struct pw_arena *arena;
    struct pw_column columns[PW_CALL_PARAMETERS_MAX];
    int column_count, at;
    size_t rows;
    bool no_memory;
};

/* Rows as one array of a row type, for statements that write.  The server unpacks such an array in a fifth of the
 * time that one array per column would take. */
enum pw_pg_row_type {
    PW_PG_INSTANCE_ROW,
    PW_PG_TASK_ROW,
    PW_PG_STEP_ROW,
    PW_PG_PLAIN_STEP_ROW,
    PW_PG_EVENT_ROW,
    PW_PG_LOG_ROW,
    PW_PG_HOOK_ROW,
    PW_PG_EARLIER_RUN_ROW,
    PW_PG_ROW_TYPE_COUNT
};
struct pw_tuples {
    struct pw_arena *arena;
    struct pw_column array;
    int32_t field_count; /* of the row that is being added */
    size_t rows;
    bool no_memory;
};

/* Adds a row.  Its values are the fields of the type, in order. */
void pw_tuples_row(struct pw_tuples *tuples, const struct pw_value *values, size_t count);
/* True if one statement should not carry more. */
bool pw_tuples_are_full(const struct pw_tuples *tuples);

/* Adds a row.  Every row has the same number of values, in the order of the statement's parameters. */
void pw_columns_row(struct pw_columns *columns, const struct pw_value *values, size_t count);
/* Adds one column: 0, which is no instance's key, because an array needs an element; then the excepted keys. */
void pw_put_excepted(struct pw_columns *columns, const struct pw_share *share);

void pw_call_init(struct pw_call *call, unsigned name, const struct pw_value *values, size_t count);
void pw_call_add(struct pw_call *call, const struct pw_value *values, size_t count);
/* Adds each column as a parameter.  No more rows may be added afterwards. */
void pw_call_columns(struct pw_call *call, struct pw_columns *columns);
/* Like pw_call_columns(), but adds `count` NULLs if there is no row. */
void pw_call_columns_or_null(struct pw_call *call, struct pw_columns *columns, int count);
/* Adds one parameter.  type is the server's number of the row type.  No more rows may be added afterwards. */
void pw_call_tuples(struct pw_call *call, struct pw_tuples *tuples, int64_t type);

#endif
