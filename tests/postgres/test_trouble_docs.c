/* test_trouble_docs.c - the SQL of docs/postgres.md does what the page says: it is read from there and run. */
#include "trouble.h"

#include <unistd.h>

enum { PAGE_SIZE_MAX = 65536 };

static struct trouble trouble;

static int set_up(void **state)
{
    (void)state;
    trouble_open(&trouble, postgres_server_socket(), "");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    trouble_close(&trouble);
    return 0;
}

static const struct test_setting setting = { set_up, tear_down, 0 };

/* The block of SQL behind <!-- tested: name -->. */
static const char *sql_of(const char *name)
{
    static char page[PAGE_SIZE_MAX];
    char mark[64];
    FILE *file = fopen(PAWL_SOURCE_DIR "/docs/postgres.md", "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    page[size] = '\0';
    (void)fclose(file);
    snprintf(mark, sizeof mark, "<!-- tested: %s -->\n```sql\n", name);
    char *begin = strstr(page, mark);
    if (begin == NULL)
        fail_msg("the page has no %s", mark);
    begin += strlen(mark);
    char *end = strstr(begin, "```");
    assert_non_null(end);
    *end = '\0';
    return begin;
}

static void use_role(const char *role, const char *options)
{
    snprintf(trouble.url, sizeof trouble.url, "postgres://%s@/%s?host=%s%s", role, trouble.database, trouble.hosts,
             options);
}

/* ---- Roles ----------------------------------------------------------------------------------------------------------- */

static void drop_roles(void)
{
    static const char *const roles[] = { "pawl_app", "pawl_reader", "pawl_owner" };
    for (size_t i = 0; i < LENGTH(roles); i++) {
        char sql[160];
        snprintf(sql, sizeof sql,
                 "DO $$ BEGIN IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '%s') THEN"
                 " DROP OWNED BY %s CASCADE; DROP ROLE %s; END IF; END $$",
                 roles[i], roles[i], roles[i]);
        trouble_execute(&trouble, sql);
    }
}

/* The owner makes the tables, the other one runs, the third one looks. */
TEST_WITH(setting, void *unused, roles_suffice_for_what_they_are_for)
{
    enum { RUNS = 5 };
    char sql[160];
    drop_roles();
    trouble_execute(&trouble, sql_of("roles"));
    use_role("pawl_owner", "&pawl_schema=pawl");
    trouble_open_engine(&trouble);
    pawl_close(trouble.engine);
    trouble_execute(&trouble, "GRANT SELECT, INSERT ON app_done TO pawl_app");

    use_role("pawl_app", "&pawl_schema=pawl");
    trouble_open_engine(&trouble);
    struct worker *worker = worker_start(&trouble, NULL);
    trouble_create(&trouble, 0, RUNS);
    trouble_send(&trouble, 0, RUNS);
    snprintf(sql, sizeof sql, "ALTER DATABASE %s SET search_path = pawl, public", trouble.database);
    trouble_execute(&trouble, sql);
    trouble_await_complete(&trouble, RUNS, SLOW_MS);
    assert_int_equal(worker_stop(worker), 0);
    assert_all_is_well(&trouble, RUNS);

    trouble_execute(&trouble, sql_of("reader"));
    PGconn *reader = trouble_connect(&trouble, "pawl_reader");
    PGresult *rows = PQexec(reader, sql_of("watch"));
    assert_int_equal(PQresultStatus(rows), PGRES_TUPLES_OK);
    PQclear(rows);
    rows = PQexec(reader, "DELETE FROM workflow_instance");
    assert_string_equal(PQresultErrorField(rows, PG_DIAG_SQLSTATE), "42501");
    PQclear(rows);
    PQfinish(reader);
    pawl_close(trouble.engine);
    trouble.engine = NULL;
    drop_roles();
}

/* ---- Retention ------------------------------------------------------------------------------------------------------- */

static int64_t rows_of(const char *id)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "SELECT (SELECT count(*) FROM workflow_instances WHERE id = '%s')"
             " + (SELECT count(*) FROM workflow_steps WHERE id = '%s')"
             " + (SELECT count(*) FROM workflow_events WHERE instance_id = '%s')"
             " + (SELECT count(*) FROM workflow_logs WHERE id = '%s')",
             id, id, id, id);
    return trouble_number(&trouble, sql);
}

static void age(const char *id)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "UPDATE workflow_instance SET created_at = created_at - 91 * 86400000::bigint,"
             " completed_at = completed_at - 91 * 86400000::bigint WHERE id = '%s'",
             id);
    trouble_execute(&trouble, sql);
}

/* Two are old and finished, one is finished and new, one is old and waits. */
TEST_WITH(setting, void *unused, retention_removes_what_is_old_and_finished_and_nothing_else) /* B8 */
{
    trouble_open_engine(&trouble);
    (void)worker_start(&trouble, NULL);
    trouble_create(&trouble, 0, 4);
    trouble_send(&trouble, 0, 3);
    trouble_await_complete(&trouble, 3, SLOW_MS);
    trouble_await(&trouble, "SELECT count(*) FROM workflow_task WHERE processing = 0 AND status = 1", 1, PATIENCE_MS);
    age("r-0");
    age("r-1");
    age("r-3");
    int64_t rows_of_new = rows_of("r-2"), rows_of_waiting = rows_of("r-3");
    trouble_execute(&trouble, sql_of("retention index"));

    trouble_execute(&trouble, sql_of("retention"));

    assert_int_equal(trouble_number(&trouble, "SELECT count(*) FROM workflow_instance"), 2);
    assert_int_equal(rows_of("r-0") + rows_of("r-1"), 0);
    assert_int_equal(rows_of("r-2"), rows_of_new);
    assert_int_equal(rows_of("r-3"), rows_of_waiting);
    assert_int_equal(trouble_number(&trouble, "SELECT count(*) FROM workflow_step s LEFT JOIN workflow_instance i"
                                              " ON i.key = s.instance WHERE i.key IS NULL"),
                     0);
    trouble_execute(&trouble, "DELETE FROM app_done WHERE n = 0");
    trouble_create(&trouble, 0, 1); /* the id is free again */
    trouble_send(&trouble, 0, 1);
    trouble_send(&trouble, 3, 4);
    trouble_await_complete(&trouble, 3, SLOW_MS);
    assert_int_equal(trouble_complete(&trouble), 3);
}

/* ---- Backup ---------------------------------------------------------------------------------------------------------- */

static void restore_copy(const char *copy)
{
    struct postgres_server server = { .guardian = 0 };
    char file[160], sql[128];
    snprintf(server.folder, sizeof server.folder, "%s", postgres_server_socket());
    snprintf(file, sizeof file, "%s/%s.dump", server.folder, trouble.database);
    const char *dump[] = { "pg_dump", "-h", server.folder, "-U", "pawl", "-Fc", "-f", file, trouble.database, NULL };
    const char *restore[] = { "pg_restore", "-h", server.folder, "-U", "pawl", "-d", copy, file, NULL };
    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE template0 ENCODING 'UTF8'", copy);
    trouble_execute(&trouble, sql);
    assert_true(postgres_server_run(&server, PAWL_TEST_POSTGRES_BIN "/pg_dump", dump));
    assert_true(postgres_server_run(&server, PAWL_TEST_POSTGRES_BIN "/pg_restore", restore));
    assert_int_equal(unlink(file), 0);
}

/* The copy is taken beside a worker that holds runs; there, they are a dead one's. */
TEST_WITH(setting, void *unused, a_restored_dump_goes_on_from_its_moment)
{
    enum { RUNS = 20 };
    static struct trouble copy;
    char sql[96];
    trouble_open_engine(&trouble);
    (void)worker_start(&trouble, NULL);
    trouble_create(&trouble, 0, RUNS);
    trouble_await(&trouble, "SELECT count(*) FROM app_done", RUNS, SLOW_MS);
    copy = trouble;
    snprintf(copy.database, sizeof copy.database, "%.25s_copy", trouble.database);
    copy.worker_count = 0;
    copy.engine = NULL;
    trouble_set_hosts(&copy, postgres_server_socket());

    restore_copy(copy.database);
    trouble_kill_all(&trouble);
    trouble_open_engine(&copy);
    (void)worker_start(&copy, NULL);
    trouble_send(&copy, 0, RUNS);
    trouble_await_complete(&copy, RUNS, SLOW_MS);

    assert_int_equal(trouble_complete(&copy), RUNS);
    assert_int_equal(trouble_number(&copy, "SELECT count(*) FROM app_done"), RUNS * BUSY_STEPS);
    trouble_kill_all(&copy);
    pawl_close(copy.engine);
    snprintf(sql, sizeof sql, "DROP DATABASE %s WITH (FORCE)", copy.database);
    trouble_execute(&trouble, sql);
}
