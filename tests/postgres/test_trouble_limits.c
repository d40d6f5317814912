/* test_trouble_limits.c - what an administrator allows: connections, permissions, time limits.  Too little of it is told in
 * one clear line, within bounds, and when there is enough again all goes on.  And the first start of many at once. */
#include "trouble.h"

#include <sys/wait.h>
#include <unistd.h>

enum { STARTERS = 8, ROUNDS = 3 };

static struct trouble trouble;

/* A role for each test, since roles are the whole server's. */
static char role[64];

static void run_sql(const char *format) /* with the role's name for each %s, at most three times */
{
    char sql[512];
    snprintf(sql, sizeof sql, format, role, role, role);
    trouble_execute(&trouble, sql);
}

static int set_up(void **state)
{
    (void)state;
    trouble_open(&trouble, postgres_server_socket(), "");
    snprintf(role, sizeof role, "role_of_%s", trouble.database);
    run_sql("CREATE ROLE %s LOGIN");
    run_sql("GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO %s");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    trouble_kill_all(&trouble);
    pawl_close(trouble.engine);
    trouble.engine = NULL;
    run_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '%s'");
    run_sql("DROP OWNED BY %s CASCADE");
    run_sql("DROP ROLE %s");
    trouble_close(&trouble);
    return 0;
}

static const struct test_setting setting = { set_up, tear_down, 0 };

/* The store as the role sees it. */
static void use_role(const char *options)
{
    snprintf(trouble.url, sizeof trouble.url, "postgres://%s@/%s?host=%s%s", role, trouble.database, trouble.hosts,
             options);
}

static pawl_status try_to_open(pawl_engine **out_engine)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    options.store_url = trouble.url;
    return pawl_open(&options, out_engine, &trouble.error);
}

static void assert_says(const char *part)
{
    if (strstr(trouble.error.text, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, trouble.error.text);
}

static void assert_refused(const char *part)
{
    pawl_engine *engine = NULL;
    int64_t began_ms = monotonic_ms();
    assert_int_equal(try_to_open(&engine), PAWL_STORE_UNAVAILABLE);
    assert_says(part);
    assert_true(monotonic_ms() - began_ms < PATIENCE_MS);
}

static pawl_status create(pawl_engine *engine, const char *id)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.id = id;
    options.params_json = "{\"n\":0}";
    return pawl_create(engine, trouble.scope, "busy", &options, &instance, &trouble.error);
}

/* By the superuser, as docs/postgres.md advises. */
static void make_tables(void)
{
    trouble_set_hosts(&trouble, postgres_server_socket());
    trouble_open_engine(&trouble);
    pawl_close(trouble.engine);
    trouble.engine = NULL;
}

/* ---- Permissions --------------------------------------------------------------------------------------------------- */

TEST_WITH(setting, void *unused, a_role_that_may_not_make_tables_is_told_so)
{
    use_role("");
    assert_refused("permission denied for schema public");
    assert_says("grant it to the role");
    use_role("&pawl_schema=elsewhere");
    assert_refused("permission denied for database");
    assert_int_equal(trouble_number(&trouble, "SELECT count(*) FROM pg_class WHERE relname = 'workflow_schema'"), 0);
}

TEST_WITH(setting, void *unused, a_role_that_may_not_see_the_schema_is_told_so)
{
    pawl_engine *engine = NULL;
    snprintf(trouble.options, sizeof trouble.options, "&pawl_schema=hidden");
    make_tables();
    use_role("&pawl_schema=hidden");
    assert_int_not_equal(try_to_open(&engine), PAWL_OK);
    assert_says("the role may not use");
}

TEST_WITH(setting, void *unused, a_role_that_may_not_insert_is_told_where)
{
    make_tables();
    run_sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO %s");
    run_sql("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO %s");
    run_sql("REVOKE INSERT ON workflow_task FROM %s");
    use_role("");
    trouble_open_engine(&trouble);

    assert_int_equal(create(trouble.engine, "a"), PAWL_STORE_UNAVAILABLE);
    assert_says("permission denied for table workflow_task");
    assert_int_equal(trouble_number(&trouble, "SELECT count(*) FROM workflow_instance"), 0);

    run_sql("GRANT INSERT ON workflow_task TO %s");
    assert_ok(create(trouble.engine, "a"), trouble.error);
}

TEST_WITH(setting, void *unused, a_role_that_may_only_read_reads_and_is_told_what_it_may_not)
{
    make_tables();
    run_sql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO %s");
    use_role("");
    trouble_open_engine(&trouble);
    struct pawl_instance instance;

    assert_int_equal(pawl_get(trouble.engine, trouble.scope, "busy", "a", &instance, &trouble.error),
                     PAWL_INSTANCE_NOT_FOUND);
    assert_int_equal(create(trouble.engine, "a"), PAWL_STORE_UNAVAILABLE);
    assert_says("permission denied for table workflow_");
}

TEST_WITH(setting, void *unused, a_session_that_is_read_only_is_told_as_such)
{
    make_tables();
    run_sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO %s");
    run_sql("ALTER ROLE %s SET default_transaction_read_only = on");
    use_role("&pawl_busy_ms=500");
    trouble_open_engine(&trouble);

    assert_int_equal(create(trouble.engine, "a"), PAWL_STORE_READ_ONLY);
    assert_says("cannot be written");
}

/* ---- Time limits that the role has ------------------------------------------------------------------------------------ */

static void give_rights(void)
{
    make_tables();
    run_sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO %s");
    run_sql("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO %s");
}

static void *send_one(void *unused)
{
    (void)unused;
    trouble_send(&trouble, 0, 1);
    return NULL;
}

/* A row that stays locked for longer than the role's limit, and a statement that takes longer. */
TEST_WITH(setting, void *unused, time_limits_of_the_role_do_not_cut_the_store_short)
{
    pthread_t thread;
    give_rights();
    run_sql("ALTER ROLE %s SET lock_timeout = '100ms'");
    run_sql("ALTER ROLE %s SET statement_timeout = '200ms'");
    run_sql("ALTER ROLE %s SET idle_in_transaction_session_timeout = '100ms'");
    run_sql("ALTER ROLE %s SET idle_session_timeout = '100ms'");
    use_role("");
    trouble_open_engine(&trouble);
    trouble_create(&trouble, 0, 1);
    PGconn *other = trouble_connect(&trouble, NULL);
    PQclear(PQexec(other, "BEGIN"));
    PQclear(PQexec(other, "SELECT * FROM workflow_task FOR UPDATE"));
    assert_int_equal(pthread_create(&thread, NULL, send_one, NULL), 0);
    trouble_await(
        &trouble,
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND clock_timestamp() - waitstart > interval '300 ms'"
        " AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())",
        1, PATIENCE_MS);
    PQclear(PQexec(other, "COMMIT"));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(trouble.sent, 1);
    PQfinish(other);

    (void)worker_start(&trouble, NULL);
    trouble_create_one(&trouble, "slow", 0);
    trouble_await_complete(&trouble, 2, SLOW_MS);
    assert_int_equal(trouble_complete(&trouble), 2);
    assert_int_equal(trouble_number(&trouble, "SELECT attempts FROM workflow_step WHERE name = 'slow'"), 1);
}

/* Sessions that are opened later have another path than the first; a mutation is not to blame for that. */
TEST_WITH(setting, void *unused, a_search_path_that_is_changed_under_running_processes_fails_no_mutation)
{
    enum { RUNS = 10 };
    char sql[160];
    trouble_open_engine(&trouble);
    (void)worker_start(&trouble, NULL);
    trouble_await(&trouble, "SELECT count(*) FROM workflow_runner", 1, PATIENCE_MS);
    snprintf(sql, sizeof sql, "ALTER DATABASE %s SET search_path = public, pg_catalog", trouble.database);
    trouble_execute(&trouble, sql);
    trouble_execute(&trouble, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                              " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    trouble_create(&trouble, 0, RUNS);
    trouble_send(&trouble, 0, RUNS);
    trouble_await_complete(&trouble, RUNS, SLOW_MS);
    assert_all_is_well(&trouble, RUNS);
}

/* ---- Connections ------------------------------------------------------------------------------------------------------ */

/* Limits of the role and of the server come with the same SQLSTATE. */
TEST_WITH(setting, void *unused, a_role_without_connections_left_waits_and_then_tells)
{
    pawl_engine *engine = NULL;
    give_rights();
    run_sql("ALTER ROLE %s CONNECTION LIMIT 2");
    PGconn *first = trouble_connect(&trouble, role), *second = trouble_connect(&trouble, role);
    use_role("&pawl_busy_ms=500&pawl_lanes=1&pawl_pool=1");
    assert_refused("too many connections for role");

    PQfinish(first);
    PQfinish(second);
    assert_ok(try_to_open(&engine), trouble.error);
    pawl_close(engine);
}

/* Two processes want a dozen connections each and get eight between them; then they get none; then enough. */
TEST_WITH(setting, void *unused, processes_go_on_when_there_are_connections_again) /* C8 */
{
    enum { RUNS = 30 };
    give_rights();
    run_sql("ALTER ROLE %s CONNECTION LIMIT 8");
    use_role("&pawl_busy_ms=1000");
    trouble.lease_ms = 3000;
    (void)worker_start(&trouble, NULL);
    (void)worker_start(&trouble, NULL);
    trouble_set_hosts(&trouble, postgres_server_socket()); /* the test itself is the superuser */
    trouble_open_engine(&trouble);
    trouble_create(&trouble, 0, RUNS);
    trouble_send(&trouble, 0, RUNS);
    trouble_await(&trouble, "SELECT count(*) FROM app_done", 1, SLOW_MS);

    run_sql("ALTER ROLE %s CONNECTION LIMIT 0");
    run_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '%s'");
    int64_t until_ms = monotonic_ms() + 1500; /* longer than they wait inside */
    while (monotonic_ms() < until_ms)
        rest_a_little();
    run_sql("ALTER ROLE %s CONNECTION LIMIT -1");

    trouble_await_complete(&trouble, RUNS, SLOW_MS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(worker_stop(&trouble.workers[i]), 0);
    assert_all_is_well(&trouble, RUNS);
}

static int fill_server(const struct postgres_server *server, PGconn **sessions, int most)
{
    const char *names[] = { "host", "user", "dbname", NULL };
    const char *values[] = { server->folder, "pawl", "postgres", NULL };
    int count = 0;
    while (count < most) {
        sessions[count] = PQconnectdbParams(names, values, 0);
        if (PQstatus(sessions[count++]) != CONNECTION_OK)
            break;
    }
    return count;
}

TEST_WITH(setting, void *unused, a_server_whose_connections_are_all_in_use_is_told_and_gone_on_with) /* C8 */
{
    static PGconn *sessions[400];
    static struct postgres_server server;
    static struct trouble there;
    pawl_engine *engine = NULL;
    assert_true(postgres_server_start(&server, getpid(), false));
    trouble_open(&there, server.folder, "&pawl_busy_ms=300");
    trouble_open_engine(&there);
    trouble_create(&there, 0, 1);
    int count = fill_server(&server, sessions, 400);
    assert_int_not_equal(PQstatus(sessions[count - 1]), CONNECTION_OK);

    snprintf(trouble.url, sizeof trouble.url, "%s", there.url);
    assert_int_equal(try_to_open(&engine), PAWL_STORE_UNAVAILABLE);
    assert_says("too many clients already");
    trouble_create(&there, 1, 2); /* who has connections goes on */

    for (int i = 0; i < count; i++)
        PQfinish(sessions[i]);
    pawl_status status = PAWL_STORE_UNAVAILABLE; /* those sessions end in their own time */
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; status != PAWL_OK && monotonic_ms() < until_ms;)
        status = try_to_open(&engine);
    assert_ok(status, trouble.error);
    pawl_close(engine);
    trouble_close(&there);
    postgres_server_stop(&server);
}

/* ---- The first start ---------------------------------------------------------------------------------------------------- */

static void open_and_leave(int begin)
{
    char byte;
    pawl_engine *engine = NULL;
    (void)!read(begin, &byte, 1); /* until the parent closes its end */
    pawl_status status = try_to_open(&engine);
    if (status != PAWL_OK)
        fprintf(stderr, "%s: %s\n", pawl_status_name(status), trouble.error.text);
    pawl_close(engine);
    _exit(status == PAWL_OK ? 0 : 1);
}

TEST_WITH(setting, void *unused, eight_processes_that_make_the_tables_at_once_all_succeed)
{
    for (int round = 0; round < ROUNDS; round++) {
        pid_t starters[STARTERS];
        int begin[2], status = -1;
        snprintf(trouble.url, sizeof trouble.url, "postgres://pawl@/%s?host=%s&pawl_schema=first_%d", trouble.database,
                 trouble.hosts, round);
        assert_int_equal(pipe(begin), 0);
        fflush(NULL);
        for (int i = 0; i < STARTERS; i++) {
            starters[i] = fork();
            if (starters[i] == 0) {
                (void)close(begin[1]);
                open_and_leave(begin[0]);
            }
        }
        (void)close(begin[0]);
        (void)close(begin[1]);
        for (int i = 0; i < STARTERS; i++) {
            assert_int_equal(waitpid(starters[i], &status, 0), starters[i]);
            assert_int_equal(status, 0);
        }
    }
    assert_int_equal(trouble_number(&trouble, "SELECT count(*) FROM pg_class WHERE relname = 'workflow_instance'"),
                     ROUNDS);
}
