/* pawld on one database: more than one is refused, and a database that was a part of a store is told of. */
#include "kit.h"

#include <sqlite3.h>

#include "store/old_schema.h"

#define RIGHT "the URL of one database (run one pawld for each: docs/postgres.md)"

static void execute_in(const char *file, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, PATIENCE_MS);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST_OF(kit, more_than_one_database_is_refused_with_the_reason)
{
    struct pawld *pawld;
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "sqlite:a.db", "--store", "sqlite:b.db", GATES), 2);
    assert_one_line(pawld, "--store is " RIGHT ", not two");
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "sqlite:a.db sqlite:b.db", GATES), 2);
    assert_one_line(pawld, "more than one URL is given, but a store is one database");
    write_file("c.json", "{\"store\": [\"sqlite:a.db\", \"sqlite:b.db\"]}");
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--config", "c.json", GATES), 2);
    assert_one_line(pawld, "c.json: \"store\" is " RIGHT ", not a list");
    assert_int_equal(access("a.db", F_OK), -1);
}

TEST_OF(kit, no_password_of_any_of_them_is_told)
{
    struct pawld *pawld;
    assert_int_equal(
        PAWLD_RUN(kit, &pawld, "--store", "postgres://a:secret@x/y", "--store", "postgres://ada:secret@x/y", GATES), 2);
    assert_null(strstr(pawld->errors, "secret"));
    assert_one_line(pawld, ", not two");
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "postgres://a:secret@x/y postgres://b:secret@z", GATES), 2);
    assert_null(strstr(pawld->errors, "secret"));
    assert_one_line(pawld, "store ***: store URL \"***\": more than one URL is given");
    write_file("c.json", "{\"store\": [\"postgres://a:secret@x/y\", \"postgres://b:secret@z\"]}");
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--config", "c.json", GATES), 2);
    assert_null(strstr(pawld->errors, "secret"));
}

TEST_OF(kit, a_database_that_was_one_of_several_is_served_with_a_warning)
{
    struct pawld *pawld;
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "sqlite:a.db", "--migrate-only"), 0);
    assert_null(strstr(pawld->errors, "made up one store"));
    execute_in("a.db", "INSERT INTO workflow_set (key, id, number, size) VALUES (1, 4711, 0, 2)");
    pawld = PAWLD_SERVE(kit, "--store", "sqlite:a.db", GATES);
    assert_non_null(strstr(pawld->errors, "store sqlite:a.db: this database was number 1 of 2 that made up one store"));
    create(kit, pawld, "echo", "e", "7");
    await_status(kit, pawld, "echo", "e", "complete");
    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 0);
}

TEST_OF(kit, a_database_that_a_newer_pawl_migrates_meanwhile_is_told_and_nothing_new_is_taken)
{
    struct pawld *pawld = PAWLD_SERVE(kit, "--store", "sqlite:a.db", GATES);
    await_ready(kit, pawld, 200, "ready");
    execute_in("a.db", "UPDATE workflow_schema SET version = version + 1");
    await_ready(kit, pawld, 503, "STORE_TOO_NEW");
    pawld_await(pawld, "a newer Pawl has migrated the store to schema version");
    create(kit, pawld, "echo", "e", "7"); /* it is kept, for whoever takes it */
    assert_int_equal(ask(kit, pawld, "GET", "/health/live", NULL, NULL).status, 200);

    execute_in("a.db", "UPDATE workflow_schema SET version = version - 1");
    await_status(kit, pawld, "echo", "e", "complete");
    pawld_await(pawld, "work is taken again");
    await_ready(kit, pawld, 200, "ready");
}

TEST_OF(kit, a_migration_is_told)
{
    struct pawld *pawld;
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "sqlite:a.db", "--migrate-only"), 0);
    assert_null(strstr(pawld->errors, "migrating the schema"));
    for (size_t i = 0; i < old_sqlite_schema_count && old_sqlite_schema[i].version == 1; i++)
        execute_in("old.db", old_sqlite_schema[i].sql);
    execute_in("old.db", "UPDATE workflow_schema SET version = 1");
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "sqlite:old.db", "--migrate-only"), 0);
    assert_non_null(strstr(pawld->errors, "old.db: migrating the schema from version 1 to"));
}
