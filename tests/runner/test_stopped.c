/* test_stopped.c - a process is stopped (SIGSTOP) for longer than its leases last, while another one on the same database goes
 * on: when it continues, no body of its begins whose step has completed meanwhile. */
#include "kit/running.h"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kit/child.h"

enum { RUNS = 24, WORKERS = 4, LEASE_MS = 600, STUCK_MS = 8000, LOOKS_TO_COMMIT = 20 };

/* What the processes share. */
struct board {
    atomic_bool holds; /* the first process's bodies do not come back */
    struct {
        atomic_int bodies, in_flight, lost, looks;
    } of[2];
};

struct stopped {
    char path[64];
    struct board *board;
    pid_t processes[2];
};

/* ---- In the processes ------------------------------------------------------------------------------------------------- */

struct part {
    struct board *board;
    int number;
};

BODY(work)
{
    const struct part *part = pawl_step_user(step);
    atomic_fetch_add(&part->board->of[part->number].bodies, 1);
    while (part->number == 0 && atomic_load(&part->board->holds))
        rest_a_little();
    return PAWL_OK;
}

WORKFLOW(three_steps)
{
    PAWL_TRY(pawl_do(run, "one", NULL, work, NULL, NULL));
    PAWL_TRY(pawl_do(run, "two", NULL, work, NULL, NULL));
    return pawl_do(run, "three", NULL, work, NULL, NULL);
}

static void carry(const struct stopped *stopped, int number, int64_t lease_ms)
{
    static struct part part; /* outlives this call */
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct pawl_runner_stats stats;
    part = (struct part){ stopped->board, number };
    options.workers = WORKERS;
    options.lease_ms = lease_ms;
    options.poll_ms = 20;
    running_open_path(&running, stopped->path);
    running_register(&running, "three", three_steps, &part);
    for (int i = 0; number == 0 && i < RUNS; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "run-%d", i);
        running_create(&running, "three", id);
    }
    running_start(&running, &options);
    for (;;) {
        pawl_runner_stats_read(running.runner, &stats);
        atomic_store(&part.board->of[number].in_flight, (int)stats.in_flight);
        atomic_store(&part.board->of[number].lost, (int)stats.leases_lost);
        atomic_fetch_add(&part.board->of[number].looks, 1);
        rest_a_little();
    }
}

/* ---- In the test -------------------------------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    struct stopped *stopped = calloc(1, sizeof *stopped);
    assert_non_null(stopped);
    database_name(stopped->path, sizeof stopped->path);
    stopped->board = mmap(NULL, sizeof *stopped->board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(stopped->board != MAP_FAILED);
    atomic_store(&stopped->board->holds, true);
    *state = stopped;
    return 0;
}

static int tear_down(void **state)
{
    struct stopped *stopped = *state;
    for (int i = 0; i < 2; i++) {
        (void)child_kill(&stopped->processes[i]);
    }
    (void)munmap(stopped->board, sizeof *stopped->board);
    remove_database(stopped->path);
    free(stopped);
    return 0;
}

struct beginning {
    struct stopped *stopped;
    int number;
    int64_t lease_ms;
};

static void become_one(void *user)
{
    const struct beginning *beginning = user;
    carry(beginning->stopped, beginning->number, beginning->lease_ms);
}

static const struct test_setting stopped_setting = { set_up, tear_down, 0 };

static void start(struct stopped *stopped, int number, int64_t lease_ms)
{
    stopped->processes[number] = child_start(become_one, &(struct beginning){ stopped, number, lease_ms });
}

static int64_t number_of(const struct stopped *stopped, const char *sql)
{
    struct store_place place = database_place(stopped->path);
    return store_place_number(&place, sql);
}

static void await_at_least(const atomic_int *number, int wanted)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (atomic_load(number) < wanted) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
}

static int64_t unfinished(const struct stopped *stopped)
{
    return number_of(stopped, "SELECT count(*) FROM workflow_task");
}

/* A process that is stopped in the middle of a commit keeps the file locked, so that nobody goes on: it is let go for a
 * moment. */
static void await_all_finished(const struct stopped *stopped)
{
    bool can_be_stuck = database_place(stopped->path).store != STORE_IN_POSTGRES;
    int64_t began_ms = monotonic_ms(), moved_ms = began_ms, left = unfinished(stopped);
    while (left > 0) {
        int64_t now_left = unfinished(stopped), now_ms = monotonic_ms();
        assert_true(now_ms - began_ms < 2 * PATIENCE_MS);
        if (now_left != left)
            moved_ms = now_ms;
        left = now_left;
        if (can_be_stuck && now_ms - moved_ms > STUCK_MS) {
            atomic_store(&stopped->board->holds, true);
            int looks = atomic_load(&stopped->board->of[0].looks);
            (void)kill(stopped->processes[0], SIGCONT);
            await_at_least(&stopped->board->of[0].looks,
                           looks + LOOKS_TO_COMMIT); /* a busy machine may take its time */
            (void)kill(stopped->processes[0], SIGSTOP);
            atomic_store(&stopped->board->holds, false);
            moved_ms = now_ms;
        }
        rest_a_little();
    }
}

/* The first process has as many bodies under way as it has workers, and holds more runs that it has not begun. */
static void stop_first(struct stopped *stopped)
{
    await_at_least(&stopped->board->of[0].bodies, WORKERS);
    await_at_least(&stopped->board->of[0].in_flight, WORKERS + 2);
    assert_int_equal(kill(stopped->processes[0], SIGSTOP), 0);
    atomic_store(&stopped->board->holds, false);
}

/* In PostgreSQL.  Its bodies are held until then, so that its heart beats before any other body could begin. */
static void await_heartbeat(const struct stopped *stopped)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (number_of(stopped, "SELECT count(*) FROM workflow_runner"
                              " WHERE heartbeat_at > (extract(epoch FROM now()) * 1000)::bigint - 5000") < 2) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
}

/* It goes on, and gives up all that it held. */
static void continue_first(struct stopped *stopped)
{
    struct board *board = stopped->board;
    int bodies = atomic_load(&board->of[0].bodies), looks = atomic_load(&board->of[0].looks);
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    bool has_heart = database_place(stopped->path).store == STORE_IN_POSTGRES;
    atomic_store(&board->holds, has_heart);
    assert_int_equal(kill(stopped->processes[0], SIGCONT), 0);
    if (has_heart)
        await_heartbeat(stopped);
    atomic_store(&board->holds, false);
    while (atomic_load(&board->of[0].in_flight) > 0 || atomic_load(&board->of[0].looks) < looks + 2) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
    assert_int_equal(atomic_load(&board->of[0].bodies), bodies);
    assert_true(atomic_load(&board->of[0].lost) >= WORKERS + 2);
    assert_int_equal(number_of(stopped, "SELECT count(*) FROM workflow_step WHERE attempts <> 1"), 0);
}

TEST_OF(stopped, no_body_of_a_completed_step_begins_after_a_stop)
{
    start(stopped, 0, LEASE_MS);
    stop_first(stopped);
    start(stopped, 1, LEASE_MS);
    await_all_finished(stopped);
    continue_first(stopped);
}

/* PostgreSQL takes a runner for dead whose heart does not beat for ten seconds, however long its leases are. */
TEST_OF(stopped, a_process_that_was_taken_for_dead_begins_no_body_although_its_leases_last)
{
    if (database_place(stopped->path).store != STORE_IN_POSTGRES)
        return;
    start(stopped, 0, PATIENCE_MS);
    stop_first(stopped);
    start(stopped, 1, PATIENCE_MS);
    await_all_finished(stopped);
    continue_first(stopped);
}
