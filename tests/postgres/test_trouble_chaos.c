/* test_trouble_chaos.c - five processes that are killed at random, on a PostgreSQL that is restarted twice, carry 2,000
 * runs with retries, sleeps, events and parallel steps to their end: each with the right result, no recorded step run
 * again, no attempt past its limit.  The clock of one process is a minute ahead, that of another a minute behind
 * (not with sanitizers, which do not get on with libfaketime).
 *
 * In `make test` the killing lasts about half a minute.  The long form:
 *     PAWL_CHAOS_SECONDS=180 PAWL_CHAOS_RUNS=20000 build/dev/tests/postgres/test_trouble_chaos
 * PostgreSQL is restarted every third of the time.  PAWL_TROUBLE_SEED repeats the choices, though not the timing. */
#include "trouble.h"

#include <time.h>
#include <unistd.h>

enum {
    PROCESSES = 5,
    RUNS = RUNNING_SLOWLY ? 600 : 2000,
    KILLING_S = RUNNING_SLOWLY ? 25 : 20,
    KILL_EVERY_MS = 600 /* half of it at least */
};

static struct postgres_server server;
static struct trouble trouble;

static int64_t setting(const char *name, int64_t otherwise)
{
    const char *given = getenv(name);
    return given != NULL ? strtoll(given, NULL, 10) : otherwise;
}

static void rest(int64_t ms)
{
    struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    (void)nanosleep(&pause, NULL);
}

/* The first restart is orderly, the second is a crash of the server. */
static void restart_server(int number)
{
    assert_true(postgres_server_order(&server, number % 2 == 0 ? POSTGRES_SERVER_DOWN : POSTGRES_SERVER_DEAD));
    assert_true(postgres_server_order(&server, POSTGRES_SERVER_UP));
}

/* A process that gave up by itself, because there was no server for long, is started again, too. */
static int kill_one(int number)
{
    /* In turn at first, so that every one is hit. */
    size_t victim = number < PROCESSES ? (size_t)number : trouble_chance(&trouble, PROCESSES);
    worker_kill(&trouble.workers[victim]);
    for (int i = 0; i < PROCESSES; i++)
        if (worker_has_ended(&trouble.workers[i]))
            worker_restart(&trouble, &trouble.workers[i]);
    return 1;
}

struct client {
    int64_t runs;
    atomic_bool is_done;
};

/* Creates and sends all the while. */
static void *be_a_client(void *user)
{
    struct client *client = user;
    const int64_t piece = 100;
    for (int64_t n = 0; n < client->runs; n += piece) {
        int64_t end = n + piece < client->runs ? n + piece : client->runs;
        trouble_create(&trouble, n, end);
        trouble_send(&trouble, n, end);
    }
    atomic_store(&client->is_done, true);
    return NULL;
}

static int set_up(void **state)
{
    (void)state;
    if (!postgres_server_start(&server, getpid(), false))
        return -1;
    trouble_open(&trouble, server.folder, "");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    trouble_close(&trouble);
    postgres_server_stop(&server);
    return 0;
}

static const struct test_setting served = { set_up, tear_down, 0 };

TEST_WITH(served, void *unused, every_run_ends_rightly_while_processes_and_the_server_are_killed) /* C1, C3, C8, A5 */
{
    struct client client = { .runs = setting("PAWL_CHAOS_RUNS", RUNS) };
    int64_t killing_ms = setting("PAWL_CHAOS_SECONDS", KILLING_S) * 1000;
    pthread_t thread;
    trouble_open_engine(&trouble);
    for (int i = 0; i < PROCESSES; i++)
        (void)worker_start(&trouble, RUNNING_SLOWLY ? NULL : i == 0 ? "+60s" : i == 1 ? "-60s" : NULL);
    assert_int_equal(pthread_create(&thread, NULL, be_a_client, &client), 0);

    int64_t began_ms = monotonic_ms();
    int kills = 0, restarts = 0;
    while (monotonic_ms() - began_ms < killing_ms || restarts < 2) {
        rest(KILL_EVERY_MS / 2 + (int64_t)trouble_chance(&trouble, KILL_EVERY_MS));
        kills += kill_one(kills);
        if (restarts < 2 && monotonic_ms() - began_ms > killing_ms * (restarts + 1) / 3)
            restart_server(restarts++);
    }
    int64_t killed_ms = monotonic_ms();
    int64_t by_then = trouble_complete(&trouble);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(atomic_load(&client.is_done));
    trouble_await_complete(&trouble, client.runs, SLOW_MS + killing_ms);

    print_message("%d kills and %d restarts in %lld ms, %lld runs complete by then; all %lld ms later\n", kills,
                  restarts, (long long)(killed_ms - began_ms), (long long)by_then,
                  (long long)(monotonic_ms() - killed_ms));
    assert_int_equal(restarts, 2);
    assert_true(kills >= PROCESSES);
    for (int i = 0; i < PROCESSES; i++)
        assert_int_equal(worker_stop(&trouble.workers[i]), 0);
    assert_all_is_well(&trouble, client.runs);
}
