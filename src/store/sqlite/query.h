/* query.h - one use of a prepared statement: start it with its values, step, read columns in order, end it.
 *
 * The first error is remembered, the calls after it do nothing, and pw_query_end() returns it.  So only the end has
 * to be checked.  Bound texts are borrowed until then.  A query that was started must be ended. */
#ifndef PW_STORE_SQLITE_QUERY_H
#define PW_STORE_SQLITE_QUERY_H

#include "base/rows.h"
#include "store/sqlite/connection.h"
#include "store/values.h"

struct pw_query {
    struct pw_sqlite_connection *connection;
    sqlite3_stmt *statement;
    int code;      /* SQLITE_OK, or the first error */
    int parameter; /* the number of the last bound one */
    int column;    /* the next to read */
};

void pw_query_start(struct pw_query *query, struct pw_sqlite_connection *connection, unsigned name,
                    const struct pw_value *values, size_t count);
/* Binds the parameters that follow. */
void pw_query_bind(struct pw_query *query, const struct pw_value *values, size_t count);

/* True: there is a row.  False: no more rows, or an error. */
bool pw_query_step(struct pw_query *query);
/* Steps, and adds a zeroed record to `records` for the row.  NULL: no more rows, or an error. */
void *pw_query_next(struct pw_query *query, struct pw_rows *records);

int64_t pw_column_integer(struct pw_query *query); /* NULL is 0 */
int64_t pw_column_count(struct pw_query *query);   /* see core/fields.h */
int64_t pw_column_time(struct pw_query *query);
/* The key of a row; anything else means that the row is damaged. */
int64_t pw_column_key(struct pw_query *query);
/* An enumerator from 0 to `most`; anything else means that the row is damaged. */
int pw_column_choice(struct pw_query *query, int most);
bool pw_column_is_null(struct pw_query *query);
struct pw_text pw_column_text(struct pw_query *query, struct pw_arena *arena); /* a copy; NULL is absent */
/* Reads one column for each field of the type. */
void pw_column_row(struct pw_query *query, struct pw_arena *arena, const struct pw_row_type *type, void *row);

pawl_status pw_query_end(struct pw_query *query, struct pawl_error *error) PAWL_MUST_CHECK;

/* Runs a statement without result rows; the second one has no parameters. */
pawl_status pw_query_run(struct pw_sqlite_connection *connection, unsigned name, const struct pw_value *values,
                         size_t count, struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_query_simple(struct pw_sqlite_connection *connection, unsigned name,
                            struct pawl_error *error) PAWL_MUST_CHECK;

/* Rolls back the transaction, unless it has ended by itself. */
void pw_sqlite_rollback(struct pw_sqlite_connection *connection);

#endif
