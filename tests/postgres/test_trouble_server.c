/* test_trouble_server.c - C8, with several processes under load: connections that are cut at a commit, a primary that dies
 * and a standby that takes its place, deadlocks, and defaults that somebody has set for the database. */
#include "trouble.h"

#include <time.h>
#include <unistd.h>

#include "kit/cutting_proxy.h"

enum { RUNS = RUNNING_SLOWLY ? 80 : 200, PROCESSES = 3 };

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

static const struct test_setting served = { set_up, tear_down, 0 };

static void start_workers(int count)
{
    for (int i = 0; i < count; i++)
        (void)worker_start(&trouble, NULL);
}

static void stop_workers(void)
{
    for (int i = 0; i < trouble.worker_count; i++)
        assert_int_equal(worker_stop(&trouble.workers[i]), 0);
}

/* Creates, sends, waits, and looks whether all is well. */
static void carry(int64_t runs)
{
    trouble_create(&trouble, 0, runs);
    trouble_send(&trouble, 0, runs);
    trouble_await_complete(&trouble, runs, SLOW_MS);
    stop_workers();
    assert_all_is_well(&trouble, runs);
}

/* ---- Connections that are cut --------------------------------------------------------------------------------------- */

enum { CUTS = 16 };

struct cutting {
    struct cutting_proxy proxy;
    atomic_bool stopping;
    pthread_t thread;
};

/* Before a commit, after one, before one ...; some pass in between. */
static void *cut_again_and_again(void *user)
{
    struct cutting *cutting = user;
    const struct timespec moment = { .tv_nsec = 1000000L };
    for (int cuts = 0; !atomic_load(&cutting->stopping) && cuts < CUTS; (void)nanosleep(&moment, NULL)) {
        if (atomic_load(&cutting->proxy.cut) != CUT_NOTHING)
            continue;
        atomic_store(&cutting->proxy.spared, (int)trouble_chance(&trouble, 12));
        atomic_store(&cutting->proxy.cut, cuts++ % 2 == 0 ? CUT_BEFORE_COMMIT : CUT_AFTER_COMMIT);
    }
    return NULL;
}

/* The test's own engine goes past the proxy: what it created is what the others are asked for.  A claim whose answer was
 * lost is nobody's until its lease is over, so leases are short here. */
TEST_WITH(served, void *unused, every_run_ends_rightly_while_connections_are_cut_at_commits) /* C3, C8 */
{
    static struct cutting cutting;
    const char *server = postgres_server_socket();
    atomic_store(&cutting.stopping, false);
    cutting_proxy_start(&cutting.proxy, server);
    trouble_open_engine(&trouble);
    trouble_set_hosts(&trouble, cutting.proxy.folder);
    trouble.lease_ms = 3000;
    start_workers(2);
    trouble_set_hosts(&trouble, server);
    trouble_await(&trouble, "SELECT count(*) FROM workflow_runner", 2, PATIENCE_MS);
    assert_int_equal(pthread_create(&cutting.thread, NULL, cut_again_and_again, &cutting), 0);

    trouble_create(&trouble, 0, RUNS / 2);
    trouble_send(&trouble, 0, RUNS / 2);
    trouble_await_complete(&trouble, RUNS / 2, SLOW_MS);

    atomic_store(&cutting.stopping, true);
    assert_int_equal(pthread_join(cutting.thread, NULL), 0);
    print_message("%d cuts\n", atomic_load(&cutting.proxy.cuts_made));
    assert_true(atomic_load(&cutting.proxy.cuts_made) >= 4);
    stop_workers();
    cutting_proxy_stop(&cutting.proxy);
    assert_all_is_well(&trouble, RUNS / 2);
}

/* ---- Failover ------------------------------------------------------------------------------------------------------ */

struct pair_of_servers {
    struct postgres_server primary, standby;
};

static struct pair_of_servers pair;

/* From here on a commit is answered once the standby has it, too. */
static void wait_for_the_standby(void)
{
    trouble_execute(&trouble, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    trouble_execute(&trouble, "SELECT pg_reload_conf()");
    trouble_await(&trouble, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", 1, PATIENCE_MS);
}

static int set_up_pair(void **state)
{
    char hosts[224];
    (void)state;
    if (!postgres_server_start(&pair.primary, getpid(), false))
        return -1;
    trouble_open(&trouble, pair.primary.folder, "");
    if (!postgres_server_start_standby(&pair.standby, getpid(), &pair.primary))
        return -1;
    snprintf(hosts, sizeof hosts, "%s,%s", pair.primary.folder, pair.standby.folder);
    trouble_set_hosts(&trouble, hosts);
    return 0;
}

static int tear_down_pair(void **state)
{
    (void)state;
    trouble_close(&trouble);
    postgres_server_stop(&pair.primary);
    postgres_server_stop(&pair.standby);
    return 0;
}

static const struct test_setting served_twice = { set_up_pair, tear_down_pair, 0 };

static atomic_bool primary_is_dead;

/* The last ones come only then, so that something is left to do, however late the primary dies. */
static void *create_and_send(void *user)
{
    const int64_t piece = 20, runs = *(const int64_t *)user;
    for (int64_t n = 0; n < runs; n += piece) {
        while (n + piece >= runs && !atomic_load(&primary_is_dead))
            rest_a_little();
        trouble_create(&trouble, n, n + piece);
        trouble_send(&trouble, n, n + piece);
    }
    return NULL;
}

/* What the clients were told and what is in the tables of the steps are compared at the end: nothing that was
 * acknowledged by the dead primary is missing in the new one. */
TEST_WITH(served_twice, void *unused, nothing_acknowledged_is_lost_when_a_synchronous_standby_takes_over) /* C3, C8 */
{
    int64_t runs = RUNS;
    pthread_t client;
    atomic_store(&primary_is_dead, false);
    wait_for_the_standby();
    trouble.lease_ms = 5000; /* a claim whose answer was lost is nobody's until its lease is over */
    trouble_open_engine(&trouble);
    start_workers(PROCESSES);
    assert_int_equal(pthread_create(&client, NULL, create_and_send, &runs), 0);
    trouble_await(&trouble, "SELECT count(*) FROM app_done", runs, SLOW_MS);

    int64_t died_ms = monotonic_ms();
    assert_true(postgres_server_order(&pair.primary, POSTGRES_SERVER_DEAD));
    atomic_store(&primary_is_dead, true);
    assert_true(postgres_server_promote(&pair.standby));
    int64_t by_then = trouble_complete(&trouble), promoted_ms = monotonic_ms();
    assert_true(by_then < runs);
    trouble_await(&trouble, "SELECT count(*) FROM workflow_instance WHERE outcome = 1", by_then + 1, SLOW_MS);
    int64_t went_on_ms = monotonic_ms();

    assert_int_equal(pthread_join(client, NULL), 0);
    trouble_await_complete(&trouble, runs, SLOW_MS);
    print_message(
        "%lld of %lld complete when the primary died; promoted after %lld ms, went on after %lld ms more, all "
        "complete %lld ms later\n",
        (long long)by_then, (long long)runs, (long long)(promoted_ms - died_ms), (long long)(went_on_ms - promoted_ms),
        (long long)(monotonic_ms() - went_on_ms));
    assert_int_equal(trouble.created, runs);
    assert_int_equal(trouble.sent, runs);
    stop_workers();
    assert_all_is_well(&trouble, runs);
}

/* ---- What somebody has set for the database ------------------------------------------------------------------------- */

TEST_WITH(served, void *unused, serializable_by_default_changes_nothing_for_many_processes)
{
    char sql[128];
    snprintf(sql, sizeof sql, "ALTER DATABASE %s SET default_transaction_isolation = 'serializable'", trouble.database);
    trouble_execute(&trouble, sql);
    trouble_open_engine(&trouble);
    start_workers(PROCESSES);
    carry(RUNS);
}

/* Every two rows are locked in both orders at once, by the steps' own SQL; PostgreSQL ends one of two. */
TEST_WITH(served, void *unused, deadlocks_of_steps_in_several_processes_end_in_progress) /* C8 */
{
    char sql[128];
    enum { MOVES = 40 };
    snprintf(sql, sizeof sql, "ALTER DATABASE %s SET deadlock_timeout = '20ms'", trouble.database);
    trouble_execute(&trouble, sql);
    trouble_open_engine(&trouble);
    start_workers(PROCESSES);
    for (int n = 0; n < MOVES; n++)
        trouble_create_one(&trouble, "crossed", n);

    trouble_await_complete(&trouble, MOVES, SLOW_MS);

    assert_int_equal(trouble_complete(&trouble), MOVES);
    assert_int_equal(trouble_number(&trouble, "SELECT min(amount) FROM app_account"), MOVES);
    assert_int_equal(trouble_number(&trouble, "SELECT max(amount) FROM app_account"), MOVES);
    trouble_await(&trouble, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()", 1,
                  PATIENCE_MS);
}

/* ---- A server that is away ------------------------------------------------------------------------------------------ */

static pawl_status read_once(pawl_engine *engine, struct pawl_error *error)
{
    struct pawl_backlog backlog = { .struct_size = sizeof backlog };
    return pawl_backlog_read(engine, &backlog, error);
}

/* Threads that serve many must not each wait for it: the first that finds it away does, a little. */
TEST(of_a_server_that_is_away_readers_are_told_at_once)
{
    enum { READS = 20, WAIT_MS = 3000 };
    struct postgres_server server;
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_error error;
    pawl_engine *engine = NULL;
    char url[256];
    assert_true(postgres_server_start(&server, getpid(), false));
    (void)snprintf(url, sizeof url, "postgres://pawl@/postgres?host=%s", server.folder);
    options.store_url = url;
    assert_ok(pawl_open(&options, &engine, &error), error);
    assert_ok(read_once(engine, &error), error);
    assert_true(postgres_server_order(&server, POSTGRES_SERVER_DOWN));
    assert_int_equal(read_once(engine, &error), PAWL_STORE_UNAVAILABLE);
    int at_once = 0;
    for (int i = 0; i < READS; i++) {
        int64_t begun_ms = monotonic_ms();
        assert_int_equal(read_once(engine, &error), PAWL_STORE_UNAVAILABLE);
        at_once += monotonic_ms() - begun_ms < WAIT_MS;
    }
    assert_in_range(at_once, READS / 2, READS); /* none, if each waited; a machine may stand still now and then */
    assert_true(postgres_server_order(&server, POSTGRES_SERVER_UP));
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (read_once(engine, &error) != PAWL_OK) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
    pawl_close(engine);
    postgres_server_stop(&server);
}
