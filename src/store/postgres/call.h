/* call.h - a statement's name and parameters, in PostgreSQL's binary form.
 *
 * Parameters are added in order.  Texts and columns are borrowed until the call was sent.  What goes wrong is
 * remembered and told when the call is sent. */
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

/* Rows as one array for each column: for what is looked for. */
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

/* Rows as one array of rows of one of our row types: for what is written.  Taking such an array apart costs the server a
 * fifth of what as many arrays as there are columns would. */
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
    int32_t field_count; /* of the row that is being put */
    size_t rows;
    bool no_memory;
};

/* Adds a row.  Its values are the fields of the type, in their order. */
void pw_tuples_row(struct pw_tuples *tuples, const struct pw_value *values, size_t count);
/* One statement should not carry more. */
bool pw_tuples_are_full(const struct pw_tuples *tuples);

/* Adds a row.  Each has as many values, in the order of the statement's parameters. */
void pw_columns_row(struct pw_columns *columns, const struct pw_value *values, size_t count);
/* One column: 0, which is nobody's key, because an array needs an element; then a row for each key. */
void pw_put_excepted(struct pw_columns *columns, const struct pw_share *share);

void pw_call_init(struct pw_call *call, unsigned name, const struct pw_value *values, size_t count);
void pw_call_add(struct pw_call *call, const struct pw_value *values, size_t count);
/* Each column is a parameter.  No more rows may be put. */
void pw_call_columns(struct pw_call *call, struct pw_columns *columns);
/* The same, but NULL for each of the columns, which are so many, if there is no row. */
void pw_call_columns_or_null(struct pw_call *call, struct pw_columns *columns, int count);
/* One parameter; type is the server's number of the row type.  No more rows may be put. */
void pw_call_tuples(struct pw_call *call, struct pw_tuples *tuples, int64_t type);

#endif
