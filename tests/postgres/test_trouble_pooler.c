/* test_trouble_pooler.c - PgBouncer in between, lending sessions for a transaction: with pawl_pooler=transaction all works
 * but word from other machines, for which polling stands in; without it the error says what to give. */
#include "trouble.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UNPRIVILEGED = 65534, RUNS = RUNNING_SLOWLY ? 60 : 150, SESSIONS = 6 };

/* PgBouncer on a socket of its own. */
struct pooler {
    char folder[64], settings[96], log[96];
    pid_t process;
};

static struct pooler pooler;
static struct trouble trouble;

static void become_pgbouncer(void)
{
    int log = open(pooler.log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (geteuid() == 0 && (setgid(UNPRIVILEGED) != 0 || setuid(UNPRIVILEGED) != 0))
        _exit(99);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(98);
    (void)execl(PAWL_TEST_PGBOUNCER, "pgbouncer", pooler.settings, (char *)NULL);
    _exit(97);
}

static void pooler_begin(void)
{
    const char *names[] = { "host", "user", "dbname", NULL };
    const char *values[] = { pooler.folder, "pawl", trouble.database, NULL };
    char path[128];
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", pooler.folder);
    (void)unlink(path); /* of one that was killed */
    fflush(NULL);
    pooler.process = fork();
    if (pooler.process == 0)
        become_pgbouncer();
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; PQpingParams(names, values, 0) != PQPING_OK; rest_a_little())
        if (monotonic_ms() > until_ms)
            fail_msg("PgBouncer does not come up: see %s", pooler.log);
}

static void pooler_kill(void)
{
    if (pooler.process > 0) {
        (void)kill(pooler.process, SIGKILL);
        (void)waitpid(pooler.process, NULL, 0);
    }
    pooler.process = 0;
}

static void write_settings(void)
{
    FILE *file = fopen(pooler.settings, "w");
    assert_non_null(file);
    assert_true(fprintf(file,
                        "[databases]\n%s = host=%s user=pawl\n"
                        "[pgbouncer]\nlisten_addr =\nlisten_port = 5432\nunix_socket_dir = %s\n"
                        "auth_type = any\npool_mode = transaction\ndefault_pool_size = %d\nmax_client_conn = 200\n"
                        "log_connections = 0\nlog_disconnections = 0\n",
                        trouble.database, postgres_server_socket(), pooler.folder, SESSIONS) > 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    char sql[128];
    (void)state;
    trouble_open(&trouble, postgres_server_socket(), "&pawl_pooler=transaction&pawl_schema=flow");
    snprintf(sql, sizeof sql, "ALTER DATABASE %s SET search_path = flow, public", trouble.database);
    trouble_execute(&trouble, sql);
    snprintf(pooler.folder, sizeof pooler.folder, "%s/pawl-pooler-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(pooler.folder));
    assert_int_equal(chmod(pooler.folder, 0777), 0);
    snprintf(pooler.settings, sizeof pooler.settings, "%s/settings", pooler.folder);
    snprintf(pooler.log, sizeof pooler.log, "%s/log", pooler.folder);
    write_settings();
    pooler_begin();
    return 0;
}

static int tear_down(void **state)
{
    char path[128];
    (void)state;
    trouble_set_hosts(&trouble, postgres_server_socket());
    trouble_close(&trouble);
    pooler_kill();
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", pooler.folder);
    (void)unlink(path);
    (void)unlink(pooler.settings);
    (void)unlink(pooler.log);
    return rmdir(pooler.folder);
}

static const struct test_setting setting = { set_up, tear_down, 0 };

/* ---- Tests --------------------------------------------------------------------------------------------------------- */

/* Three processes have some forty connections to the pooler, and the pooler six to the server.  It is killed twice. */
TEST_WITH(setting, void *unused, every_run_ends_rightly_behind_a_transaction_pooler_that_is_killed) /* C3, C8 */
{
    trouble_set_hosts(&trouble, pooler.folder);
    trouble_open_engine(&trouble);
    trouble.lease_ms = 5000;
    for (int i = 0; i < 3; i++)
        (void)worker_start(&trouble, NULL);
    trouble_set_hosts(&trouble, postgres_server_socket());
    for (int piece = 0; piece < 3; piece++) {
        trouble_create(&trouble, piece * RUNS / 3, (piece + 1) * RUNS / 3);
        trouble_send(&trouble, piece * RUNS / 3, (piece + 1) * RUNS / 3);
        trouble_await(&trouble, "SELECT count(*) FROM app_done", piece * RUNS, SLOW_MS);
        if (piece < 2) {
            pooler_kill();
            pooler_begin();
        }
    }
    trouble_await_complete(&trouble, RUNS, SLOW_MS);

    /* Those of a pooler that was killed take a moment to end. */
    char sql[128];
    (void)snprintf(sql, sizeof sql,
                   "SELECT (count(*) <= %d)::int FROM pg_stat_activity WHERE datname = current_database()",
                   SESSIONS + 1);
    trouble_await(&trouble, sql, 1, SLOW_MS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(worker_stop(&trouble.workers[i]), 0);
    assert_all_is_well(&trouble, RUNS);
    assert_int_equal(trouble_number(&trouble, "SELECT count(*) FROM pg_tables WHERE schemaname = 'flow'"
                                              " AND starts_with(tablename::text, 'workflow_')"),
                     trouble_number(&trouble, "SELECT count(*) FROM pg_tables"
                                              " WHERE starts_with(tablename::text, 'workflow_')"));
}

/* The second one, at the latest, finds the first one's statements in the session that is lent to it. */
TEST_WITH(setting, void *unused, without_the_option_the_error_says_what_to_give)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    pawl_engine *engines[2] = { NULL, NULL };
    pawl_status status = PAWL_OK;
    snprintf(trouble.options, sizeof trouble.options, "&pawl_busy_ms=300");
    trouble_set_hosts(&trouble, pooler.folder);
    options.store_url = trouble.url;

    for (int i = 0; i < 2 && status == PAWL_OK; i++)
        status = pawl_open(&options, &engines[i], &trouble.error);

    assert_int_equal(status, PAWL_STORE_UNAVAILABLE);
    if (strstr(trouble.error.text, "pawl_pooler=transaction") == NULL)
        fail_msg("%s", trouble.error.text);
    pawl_close(engines[0]);
}
