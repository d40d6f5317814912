/* call.h - a statement's name and parameters, in PostgreSQL's binary form.
 *
 * Parameters are added in order.  Texts and columns are borrowed until the call was sent.  What goes wrong is
 * remembered and told when the call is sent. */
#ifndef PW_STORE_POSTGRES_CALL_H
#define PW_STORE_POSTGRES_CALL_H

#include <stdint.h>

#include "base/arena.h"
#include "core/fields.h"
#include "store/postgres/queries.h"
#include "store/store.h"

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
    PW_PG_EVENT_ROW,
    PW_PG_LOG_ROW,
    PW_PG_HOOK_ROW,
    PW_PG_EARLIER_RUN_ROW,
    PW_PG_ROW_TYPE_COUNT
};
struct pw_tuples {
    struct pw_arena *arena;
    struct pw_column array;
    size_t row_start; /* of the row that is being put */
    int32_t field_count;
    size_t rows;
    bool no_memory;
};

void pw_tuples_init(struct pw_tuples *tuples, struct pw_arena *arena);
/* Begins a row.  Each has as many fields, in the order of the type's. */
void pw_tuples_row(struct pw_tuples *tuples);
void pw_field_put_integer(struct pw_tuples *tuples, int64_t value);
void pw_field_put_time(struct pw_tuples *tuples, int64_t at_ms);       /* 0 is NULL */
void pw_field_put_text(struct pw_tuples *tuples, struct pw_text text); /* absent is NULL */
/* All fields of the type. */
void pw_field_put_row(struct pw_tuples *tuples, const struct pw_row_type *type, const void *row);
/* One statement should not carry more. */
bool pw_tuples_are_full(const struct pw_tuples *tuples);

void pw_columns_init(struct pw_columns *columns, struct pw_arena *arena);
/* Begins a row.  Each has as many values, in the order of the statement's parameters. */
void pw_columns_row(struct pw_columns *columns);
void pw_put_integer(struct pw_columns *columns, int64_t value);
void pw_put_text(struct pw_columns *columns, struct pw_text text);              /* absent is NULL */
void pw_put_excepted(struct pw_columns *columns, const struct pw_share *share); /* one column, a row for each */
void pw_call_init(struct pw_call *call, unsigned name);
void pw_call_integer(struct pw_call *call, int64_t value);
void pw_call_size(struct pw_call *call, size_t size);
void pw_call_time(struct pw_call *call, int64_t at_ms);       /* 0 is NULL */
void pw_call_text(struct pw_call *call, struct pw_text text); /* absent is NULL */
void pw_call_null(struct pw_call *call);
/* Each column is a parameter.  No more rows may be put. */
void pw_call_columns(struct pw_call *call, struct pw_columns *columns);
/* The same, but NULL for each of the columns, which are so many, if there is no row. */
void pw_call_columns_or_null(struct pw_call *call, struct pw_columns *columns, int count);
/* One parameter; type is the server's number of the row type.  No more rows may be put. */
void pw_call_tuples(struct pw_call *call, struct pw_tuples *tuples, int64_t type);

#endif
