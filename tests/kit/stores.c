/* stores.c - see stores.h. */
#include "stores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#ifdef PAWL_HAS_POSTGRES
#include <libpq-fe.h>

#include "postgres_server.h"
#endif

enum { COLUMNS_MAX = 16 };

size_t store_count(void)
{
    if (getenv("PAWL_TEST_ONE_STORE") != NULL)
        return 1;
#ifdef PAWL_HAS_POSTGRES
    return 3;
#else
    return 2;
#endif
}

const char *store_name(enum test_store store)
{
    switch (store) {
    case STORE_IN_MEMORY:
        return "in memory";
    case STORE_IN_FILE:
        return "in a file";
    case STORE_IN_POSTGRES:
        return "in PostgreSQL";
    case STORE_PLAIN:
        return "in plain memory";
    }
    return "nowhere";
}

enum test_store store_asked_for(enum test_store otherwise)
{
    const char *asked = getenv("PAWL_TEST_STORE");
    return asked != NULL && strcmp(asked, "postgres") == 0 && store_count() > STORE_IN_POSTGRES ? STORE_IN_POSTGRES
                                                                                                : otherwise;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

static void ignore_row(void *unused, const char *const *columns, int count)
{
    (void)unused;
    (void)columns;
    (void)count;
}

static void keep_number(void *number, const char *const *columns, int count)
{
    if (count > 0 && columns[0] != NULL)
        *(int64_t *)number = strtoll(columns[0], NULL, 10);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void make_file_place(struct store_place *place)
{
    const char *folder = getenv("TMPDIR");
    snprintf(place->folder, sizeof place->folder, "%s/pawl-store-XXXXXX", folder != NULL ? folder : P_tmpdir);
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->path, sizeof place->path, "%s/test.db", place->folder);
    snprintf(place->url, sizeof place->url, "sqlite:%s", place->path);
}

static void remove_files(const struct store_place *place)
{
    static const char *const suffixes[] = { "", "-wal", "-shm", "-journal", "-runners" };
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char path[192];
        snprintf(path, sizeof path, "%s%s", place->path, suffixes[i]);
        (void)unlink(path);
    }
}

static void tell_sqlite_row(sqlite3_stmt *statement, store_row_fn *row, void *user)
{
    const char *columns[COLUMNS_MAX];
    int count = sqlite3_column_count(statement);
    assert_in_range(count, 1, COLUMNS_MAX);
    for (int i = 0; i < count; i++)
        columns[i] = (const char *)sqlite3_column_text(statement, i);
    row(user, columns, count);
}

static bool run_on_sqlite(sqlite3 *db, const char *sql, store_row_fn *row, void *user)
{
    const char *rest = sql;
    int code = SQLITE_OK;
    while (code == SQLITE_OK && rest[0] != '\0') {
        sqlite3_stmt *statement = NULL;
        code = sqlite3_prepare_v2(db, rest, -1, &statement, &rest);
        if (code == SQLITE_OK && statement != NULL) {
            while ((code = sqlite3_step(statement)) == SQLITE_ROW)
                tell_sqlite_row(statement, row, user);
            code = code == SQLITE_DONE ? SQLITE_OK : code;
        }
        (void)sqlite3_finalize(statement);
    }
    return code == SQLITE_OK;
}

static void run_on_file(const char *path, const char *sql, store_row_fn *row, void *user)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, 10000);
    if (!run_on_sqlite(db, sql, row, user))
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* ---- PostgreSQL -------------------------------------------------------------------------------------------------- */

#ifdef PAWL_HAS_POSTGRES

/* Each test program has one database, which each test finds empty. */
static struct {
    char name[32];
    char url[256];
    PGconn *db;
} database;

static void ignore_notice(void *unused, const char *notice)
{
    (void)unused;
    (void)notice;
}

static PGconn *connect_to(const char *name)
{
    const char *socket = postgres_server_socket();
    if (socket == NULL)
        fail_msg("there is no PostgreSQL to test with");
    const char *names[] = { "host", "user", "dbname", NULL };
    const char *values[] = { socket, "pawl", name, NULL };
    PGconn *db = PQconnectdbParams(names, values, 0);
    if (PQstatus(db) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(db));
    (void)PQsetNoticeProcessor(db, ignore_notice, NULL);
    return db;
}

static void drop_database(void)
{
    char sql[96];
    PQfinish(database.db);
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s WITH (FORCE)", database.name);
    const char *names[] = { "host", "user", "dbname", NULL };
    const char *values[] = { postgres_server_socket(), "pawl", "postgres", NULL };
    PGconn *db = PQconnectdbParams(names, values, 0);
    PQclear(PQexec(db, sql));
    PQfinish(db);
}

static void make_database(void)
{
    char sql[96];
    snprintf(database.name, sizeof database.name, "pawl_%d", (int)getpid());
    snprintf(database.url, sizeof database.url, "postgres://pawl@/%s?host=%s", database.name, postgres_server_socket());
    PGconn *db = connect_to("postgres");
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s WITH (FORCE)", database.name);
    PQclear(PQexec(db, sql));
    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE template0", database.name);
    PGresult *result = PQexec(db, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(db));
    PQclear(result);
    PQfinish(db);
    database.db = connect_to(database.name);
    (void)atexit(drop_database);
}

static bool run_on_postgres(PGconn *db, const char *sql, store_row_fn *row, void *user)
{
    PGresult *result = PQexec(db, sql);
    ExecStatusType status = PQresultStatus(result);
    int rows = status == PGRES_TUPLES_OK ? PQntuples(result) : 0, count = PQnfields(result);
    assert_in_range(count, 0, COLUMNS_MAX);
    for (int i = 0; i < rows; i++) {
        const char *columns[COLUMNS_MAX] = { NULL };
        for (int column = 0; column < count; column++)
            columns[column] = PQgetisnull(result, i, column) ? NULL : PQgetvalue(result, i, column);
        row(user, columns, count);
    }
    PQclear(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

static void run_on_database(const char *sql, store_row_fn *row, void *user)
{
    if (!run_on_postgres(database.db, sql, row, user))
        fail_msg("%s: %s", sql, PQerrorMessage(database.db));
}

static void empty_database(bool bare)
{
    /* Emptying the tables is much faster than creating them again. */
    static const char empty[] =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        "  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend';"
        "DO $$ DECLARE r record; BEGIN"
        "  FOR r IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
        "    AND NOT starts_with(relname::text, 'workflow_') LOOP"
        "    EXECUTE format('DROP TABLE %I CASCADE', r.relname);"
        "  END LOOP;"
        "  IF to_regclass('workflow_run') IS NOT NULL THEN"
        "    DELETE FROM workflow_instance; DELETE FROM workflow_task; DELETE FROM workflow_step;"
        "    DELETE FROM workflow_event; DELETE FROM workflow_log; DELETE FROM workflow_hook;"
        "    DELETE FROM workflow_runner; DELETE FROM workflow_receipt; DELETE FROM workflow_set;"
        "    DELETE FROM workflow_run;"
        "    PERFORM setval('workflow_instance_key_seq', 1, false), setval('workflow_hook_key_seq', 1, false);"
        "  END IF;"
        " END $$";
    run_on_database(bare ? "DROP SCHEMA public CASCADE; CREATE SCHEMA public" : empty, ignore_row, NULL);
}

static void make_postgres_place(struct store_place *place)
{
    if (database.db == NULL)
        make_database();
    empty_database(false);
    snprintf(place->url, sizeof place->url, "%s", database.url);
}

#endif

/* ---- Places ------------------------------------------------------------------------------------------------------ */

void store_place_make(struct store_place *place, enum test_store store)
{
    *place = (struct store_place){ .store = store };
    if (store == STORE_IN_MEMORY)
        snprintf(place->url, sizeof place->url, "sqlite::memory:");
    if (store == STORE_IN_FILE)
        make_file_place(place);
#ifdef PAWL_HAS_POSTGRES
    if (store == STORE_IN_POSTGRES)
        make_postgres_place(place);
#endif
}

void store_place_empty(const struct store_place *place, bool bare)
{
    (void)bare;
    if (place->store == STORE_IN_FILE)
        remove_files(place);
#ifdef PAWL_HAS_POSTGRES
    if (place->store == STORE_IN_POSTGRES)
        empty_database(bare);
#endif
}

void store_place_remove(struct store_place *place)
{
    if (place->store != STORE_IN_FILE)
        return;
    remove_files(place);
    assert_int_equal(rmdir(place->folder), 0);
}

void store_places_after_fork(void)
{
#ifdef PAWL_HAS_POSTGRES
    if (database.db != NULL)
        database.db = connect_to(database.name); /* the other connection belongs to the parent and stays open */
#endif
}

void store_place_rows(const struct store_place *place, const char *sql, store_row_fn *row, void *user)
{
    assert_int_not_equal(place->store, STORE_IN_MEMORY);
    if (place->store == STORE_IN_FILE)
        run_on_file(place->path, sql, row, user);
#ifdef PAWL_HAS_POSTGRES
    if (place->store == STORE_IN_POSTGRES)
        run_on_database(sql, row, user);
#endif
}

void store_place_execute(const struct store_place *place, const char *sql)
{
    store_place_rows(place, sql, ignore_row, NULL);
}

int64_t store_place_number(const struct store_place *place, const char *sql)
{
    int64_t number = -1;
    store_place_rows(place, sql, keep_number, &number);
    return number;
}

bool store_place_has(const struct store_place *place, const char *relation)
{
    char sql[128];
    const char *where = place->store == STORE_IN_POSTGRES ? "pg_class WHERE relname" : "sqlite_schema WHERE name";
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s = '%s'", where, relation);
    return store_place_number(place, sql) >= 1;
}

bool store_connection_rows(enum test_store store, void *connection, const char *sql, store_row_fn *row, void *user)
{
#ifdef PAWL_HAS_POSTGRES
    if (store == STORE_IN_POSTGRES)
        return run_on_postgres(connection, sql, row, user);
#else
    (void)store;
#endif
    return run_on_sqlite(connection, sql, row, user);
}

bool store_connection_number(enum test_store store, void *connection, const char *sql, int64_t *out_number)
{
    *out_number = INT64_MIN;
    return store_connection_rows(store, connection, sql, keep_number, out_number);
}

bool store_connection_execute(enum test_store store, void *connection, const char *sql)
{
    return store_connection_rows(store, connection, sql, ignore_row, NULL);
}
