/* runners.c - the rows in which runners describe themselves.  A row is valid as long as the runner's lock shows that
 * it lives (presence.h).  There are no heartbeats, so an idle file is not written.
 *
 * In a file the row is written by a connection of its own, because the store's writing connection belongs to the
 * thread that commits.  Rows of dead runners are deleted by the next runner that describes itself, and by reaping.
 * In memory a runner lives until it is withdrawn. */
#include "base/error.h"
#include "base/rows.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite.h"

enum { BUSY_MS_MAX = 1000, PROBE_BUSY_MS = 100 }; /* describing a runner and probing must not wait long */

static pawl_status read_rows(struct pw_sqlite_connection *connection, struct pw_rows *rows, struct pawl_error *error)
{
    struct pw_query query;
    struct pw_runner_row *row;
    pw_query_start(&query, connection, PW_QUERY_RUNNERS, PW_NO_VALUES);
    while ((row = pw_query_next(&query, rows)) != NULL)
        pw_column_row(&query, rows->arena, &pw_runner_type, row);
    return pw_query_end(&query, error);
}

static pawl_status forget(struct pw_sqlite_connection *connection, int64_t owner, struct pawl_error *error)
{
    return pw_query_run(connection, PW_QUERY_RUNNER_FORGET, PW_VALUES(pw_int(owner)), error);
}

/* If the file was replaced, the locks beside it belong to others, and a missing lock proves nothing. */
bool pw_sqlite_is_dead(struct pw_sqlite *sqlite, int64_t owner)
{
    return pw_sqlite_file_check(&sqlite->file, NULL) == PAWL_OK && pw_presence_is_dead(&sqlite->presence, owner);
}

/* External workers have numbers below 1 and no presence. */
bool pw_sqlite_may_live(struct pw_sqlite *sqlite, int64_t owner)
{
    return owner > 0 &&
           (pw_sqlite_file_check(&sqlite->file, NULL) != PAWL_OK || pw_presence_may_live(&sqlite->presence, owner));
}

pawl_status pw_sqlite_forget_runners(struct pw_sqlite *sqlite, struct pw_sqlite_connection *connection,
                                     struct pw_arena *arena, struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof(struct pw_runner_row) };
    pawl_status status = read_rows(connection, &rows, error);
    const struct pw_runner_row *row = rows.rows;
    for (size_t i = 0; i < rows.count && status == PAWL_OK; i++)
        if (pw_sqlite_is_dead(sqlite, row[i].owner))
            status = forget(connection, row[i].owner, error);
    return status;
}

static pawl_status write_row(struct pw_sqlite_connection *connection, const struct pw_runner_row *row,
                             struct pawl_error *error)
{
    return pw_query_run(connection, PW_QUERY_RUNNER_DESCRIBE, PW_VALUES(pw_row(&pw_runner_type, row)), error);
}

/* The URL with a wait of at most busy_ms. */
static struct pw_sqlite_url impatient(struct pw_sqlite_url url, int64_t busy_ms)
{
    if (url.busy_ms > busy_ms)
        url.busy_ms = busy_ms;
    return url;
}

static pawl_status write_in_file(struct pw_sqlite *sqlite, const struct pw_runner_row *row, struct pawl_error *error)
{
    struct pw_sqlite_url url = impatient(sqlite->url, BUSY_MS_MAX);
    struct pw_sqlite_connection connection;
    struct pw_arena arena = { 0 };
    pawl_status status = pw_sqlite_open_writer(&connection, &url, &sqlite->file, error);
    if (status != PAWL_OK)
        return status;
    status = pw_query_simple(&connection, PW_QUERY_BEGIN, error);
    if (status == PAWL_OK)
        status = pw_sqlite_forget_runners(sqlite, &connection, &arena, error);
    if (status == PAWL_OK)
        status = write_row(&connection, row, error);
    if (status == PAWL_OK)
        status = pw_query_simple(&connection, PW_QUERY_COMMIT, error);
    if (status != PAWL_OK)
        pw_sqlite_rollback(&connection);
    pw_arena_clear(&arena);
    pw_sqlite_close(&connection);
    return status;
}

/* Writes and deletes a row in one transaction.  Pages change and go to the log, but no reader ever sees the row.  No
 * runner has the number 0. */
static pawl_status write_nothing(struct pw_sqlite_connection *connection, struct pawl_error *error)
{
    static const struct pw_runner_row row = { .owner = 0, .name = { "probe", 5 }, .workflows = { "", 0 } };
    pawl_status status = pw_query_simple(connection, PW_QUERY_BEGIN, error);
    if (status != PAWL_OK)
        return (sqlite3_errcode(connection->db) & 0xff) == SQLITE_BUSY ? PAWL_BUSY : status;
    status = write_row(connection, &row, error);
    if (status == PAWL_OK)
        status = forget(connection, row.owner, error);
    if (status == PAWL_OK)
        status = pw_query_simple(connection, PW_QUERY_COMMIT, error);
    if (status != PAWL_OK)
        pw_sqlite_rollback(connection);
    return status;
}

/* ---- The store's functions ------------------------------------------------------------------------------------- */

pawl_status pw_sqlite_announce(struct pw_store *store, int64_t owner, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    pawl_status status = pw_sqlite_file_check(&sqlite->file, error);
    return status == PAWL_OK ? pw_presence_announce(&sqlite->presence, owner, error) : status;
}

void pw_sqlite_withdraw(struct pw_store *store, int64_t owner)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    pw_presence_withdraw(&sqlite->presence, owner);
    if (!sqlite->url.in_memory)
        return;
    pawl_status status = forget(pw_sqlite_take_writer(sqlite), owner, NULL);
    (void)status; /* memory is out: it stays listed */
    pw_sqlite_give_writer(sqlite);
}

pawl_status pw_sqlite_describe(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    if (!sqlite->url.in_memory)
        return write_in_file(sqlite, runner, error);
    pawl_status status = write_row(pw_sqlite_take_writer(sqlite), runner, error);
    pw_sqlite_give_writer(sqlite);
    return status;
}

pawl_status pw_sqlite_probe(struct pw_store *store, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    struct pw_sqlite_url url = impatient(sqlite->url, PROBE_BUSY_MS);
    struct pw_sqlite_connection connection;
    if (url.in_memory)
        return PAWL_OK;
    pawl_status status = pw_sqlite_open_writer(&connection, &url, &sqlite->file, error);
    if (status != PAWL_OK)
        return status;
    status = write_nothing(&connection, error);
    pw_sqlite_close(&connection);
    return status;
}
