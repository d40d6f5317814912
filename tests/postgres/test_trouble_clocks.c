/* test_trouble_clocks.c - C5: time is the database's.  A process whose clock is a minute ahead and one whose clock is a
 * minute behind work on the same runs, and nothing is early, late, or stored wrongly. */
#include "trouble.h"

#include <unistd.h>

enum { PIECE = 10, ROUNDS_MAX = 20, LATE_MS = 30000 };

#define DATABASE_NOW "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

static struct trouble trouble;

static int set_up(void **state)
{
    (void)state;
    trouble_open(&trouble, postgres_server_socket(), "");
    trouble_open_engine(&trouble);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    trouble_close(&trouble);
    return 0;
}

static const struct test_setting setting = { set_up, tear_down, 0 };

static int64_t count_where(const char *condition)
{
    char sql[1024];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", condition);
    return trouble_number(&trouble, sql);
}

/* Creates runs until both have carried some; answers how many. */
static int64_t run_on_both_clocks(void)
{
    int64_t runs = 0;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        for (int i = 0; i < PIECE; i++)
            trouble_create_one(&trouble, "timed", runs++);
        trouble_await_complete(&trouble, runs, PATIENCE_MS + LATE_MS);
        if (count_where("workflow_instance WHERE output::bigint > completed_at + 50000") > 0 &&
            count_where("workflow_instance WHERE output::bigint < created_at - 50000") > 0)
            break;
    }
    return runs;
}

static void assert_times_are_right(int64_t runs, int64_t began_ms, int64_t ended_ms)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "workflow_instance WHERE created_at < %lld OR started_at < created_at - 50 OR completed_at < created_at"
             " OR completed_at > %lld",
             (long long)began_ms - 50, (long long)ended_ms + 50);
    assert_int_equal(count_where(sql), 0);
    snprintf(sql, sizeof sql, "workflow_step WHERE created_at < %lld OR updated_at > %lld OR wake_at > %lld + %d",
             (long long)began_ms - 50, (long long)ended_ms + 50, (long long)ended_ms, LATE_MS);
    assert_int_equal(count_where(sql), 0);

    /* Nothing early, nothing later than a busy machine explains. */
    snprintf(sql, sizeof sql, "workflow_step WHERE kind = 1 AND updated_at >= wake_at AND updated_at < wake_at + %d",
             LATE_MS);
    assert_int_equal(count_where(sql), 2 * runs);
    snprintf(sql, sizeof sql,
             "workflow_step WHERE kind = 2 AND updated_at >= created_at + 1000 AND updated_at < created_at + %d",
             LATE_MS);
    assert_int_equal(count_where(sql), runs);
    snprintf(sql, sizeof sql,
             "workflow_step WHERE name = 'clock' AND attempts = 2 AND updated_at >= created_at + 300"
             " AND updated_at < created_at + %d",
             LATE_MS);
    assert_int_equal(count_where(sql), runs);
}

TEST_WITH(setting, void *unused, C5_processes_a_minute_ahead_and_a_minute_behind_work_together)
{
    (void)worker_start(&trouble, "+60s");
    (void)worker_start(&trouble, "-60s");
    trouble_await(&trouble, "SELECT count(*) FROM workflow_runner", 2, PATIENCE_MS);
    int64_t began_ms = trouble_number(&trouble, "SELECT " DATABASE_NOW);

    int64_t runs = run_on_both_clocks();

    /* With clocks of their own the one would have been a minute too early, the other a minute too late. */
    assert_true(count_where("workflow_instance WHERE output::bigint > completed_at + 50000") > 0);
    assert_true(count_where("workflow_instance WHERE output::bigint < created_at - 50000") > 0);
    assert_int_equal(trouble_complete(&trouble), runs);
    assert_times_are_right(runs, began_ms, trouble_number(&trouble, "SELECT " DATABASE_NOW));
    assert_int_equal(count_where("workflow_runner WHERE abs(heartbeat_at - " DATABASE_NOW ") > 10000"), 0);
}

static int count_bodies(void)
{
    char line[128];
    int count = 0;
    FILE *log = fopen(trouble.log, "r");
    while (log != NULL && fgets(line, sizeof line, log) != NULL)
        count++;
    if (log != NULL)
        (void)fclose(log);
    return count;
}

/* The bodies of the one whose clock is behind stand at the gate for longer than a lease lasts.  A lease that its clock
 * gave would be over for the other one, which would begin them again. */
TEST_WITH(setting, void *unused, C5_leases_are_respected_whatever_the_clocks_say)
{
    enum { RUNS = 4, LEASE_MS = 3000 }; /* as many as one has threads */
    char gate[96];
    trouble.lease_ms = LEASE_MS;
    (void)worker_start(&trouble, "-60s");
    for (int n = 0; n < RUNS; n++)
        trouble_create_one(&trouble, "held", n);
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; count_bodies() < RUNS; rest_a_little())
        assert_true(monotonic_ms() < until_ms);
    (void)worker_start(&trouble, "+60s");
    trouble_await(&trouble, "SELECT count(*) FROM workflow_runner", 2, PATIENCE_MS);
    for (int64_t until_ms = monotonic_ms() + LEASE_MS + 1000; monotonic_ms() < until_ms; rest_a_little())
        assert_int_equal(count_bodies(), RUNS);

    assert_int_equal(count_where("workflow_task WHERE processing = 1"), RUNS);
    assert_int_equal(
        count_where("workflow_task WHERE locked_until < " DATABASE_NOW " OR locked_until > " DATABASE_NOW " + 4000"),
        0);
    snprintf(gate, sizeof gate, "%s" BUSY_GATE, trouble.log);
    FILE *file = fopen(gate, "w");
    assert_non_null(file);
    (void)fclose(file);
    trouble_await_complete(&trouble, RUNS, SLOW_MS);
    assert_int_equal(unlink(gate), 0);
    assert_int_equal(trouble_complete(&trouble), RUNS);
    assert_int_equal(count_bodies(), RUNS);
}
