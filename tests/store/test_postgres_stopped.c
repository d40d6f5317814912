/* test_postgres_stopped.c - a process that is stopped (SIGSTOP) in the middle of a transaction: the server waits for the rest,
 * and everybody else for the locks, but not for ever. */
#include "kit/store_fixture.h"

#include <libpq-fe.h>
#include <signal.h>
#include <sys/wait.h>

/* With BUSY_MS the server waits 5.3 s for a session's next word. */
enum { BUSY_MS = 100, LOCK_MS = 30000, LARGE = 30000, STOPS_MAX = 24 };

/* ---- In the process that is stopped ---------------------------------------------------------------------------------- */

static int stop_before; /* the how manieth statement behind BEGIN; 0: none */
static int statements;  /* so far, with BEGIN */

int __real_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes,
                               const int *formats, int format);
int __wrap_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes,
                               const int *formats, int format);

int __wrap_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes,
                               const int *formats, int format)
{
    if (statements > 0 || strcmp(name, "pawl_BEGIN") == 0)
        statements++;
    if (stop_before > 0 && statements == stop_before + 1)
        (void)raise(SIGSTOP);
    return __real_PQsendQueryPrepared(db, name, count, values, sizes, formats, format);
}

/* A step, a log line and an event, all large, so that libpq sends what it has before it is told to. */
static pawl_status apply_large(struct pw_store *store, struct pw_fence at)
{
    static char large[LARGE + 1];
    struct pw_unit unit, *units[] = { &unit };
    (void)snprintf(large, sizeof large, "\"%0*d\"", LARGE - 3, 1);
    pw_unit_init(&unit);
    (void)add_fence(&unit, at);
    add_step(&unit, at, 1, "large")->result = text(large);
    add(&unit, PW_OP_LOG)->as.log =
        (struct pw_op_log){ at.instance, at.run, .row = { .category = text("a"), .message = text(large) } };
    add_event(&unit, at, NULL, "large")->payload = text(large);
    (void)add_park(&unit, at, PW_TASK_WAITING, PW_TASK_WAKE, PW_NOW);
    pawl_status status = store->ops->apply(store, units, 1, NULL);
    if (status == PAWL_OK)
        status = unit.status;
    pw_unit_clear(&unit);
    return status;
}

static int64_t standing_now_ms(void *user)
{
    (void)user;
    return FIXTURE_NOW_MS;
}

static void carry_out(const char *url, struct pw_fence at)
{
    struct pw_store *store = NULL;
    struct pawl_clock clock = { .now_ms = standing_now_ms, .user = NULL };
    char patient[500];
    (void)snprintf(patient, sizeof patient, "%s%cpawl_busy_ms=%d", url, strchr(url, '?') != NULL ? '&' : '?', BUSY_MS);
    pawl_status status = pw_store_open(patient, clock, &store, NULL);
    if (status == PAWL_OK)
        status = apply_large(store, at);
    _exit(status == PAWL_OK ? 0 : 1);
}

/* ---- In the test ------------------------------------------------------------------------------------------------------- */

static pid_t start(const struct fixture *fixture, struct pw_fence at, int stops_before)
{
    pid_t process = fork();
    if (process == 0) {
        stop_before = stops_before;
        statements = 0;
        carry_out(fixture->url, at);
    }
    assert_true(process > 0);
    return process;
}

/* False: it has done all that it had to. */
static bool await_stop(pid_t process)
{
    int how = 0;
    assert_int_equal(waitpid(process, &how, WUNTRACED), process);
    assert_true(WIFSTOPPED(how) || (WIFEXITED(how) && WEXITSTATUS(how) == 0));
    return WIFSTOPPED(how);
}

static void end(pid_t process)
{
    (void)kill(process, SIGKILL);
    (void)waitpid(process, NULL, 0);
}

/* True: in time. */
static bool can_lock(PGconn *db, struct pw_fence at)
{
    char sql[96];
    (void)snprintf(sql, sizeof sql, "SELECT 1 FROM workflow_task WHERE instance = %d FOR UPDATE", (int)at.instance);
    PGresult *result = PQexec(db, sql);
    bool can = PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    return can;
}

static PGconn *connect_raw(const struct fixture *fixture)
{
    char sql[64];
    PGconn *db = PQconnectdb(fixture->place.url);
    assert_int_equal(PQstatus(db), CONNECTION_OK);
    (void)snprintf(sql, sizeof sql, "SET lock_timeout TO %d", LOCK_MS);
    PQclear(PQexec(db, sql));
    return db;
}

#define WAITING "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

/* Starts a process and stops it while it waits for the lock.  It does not wait long, and on a busy machine it may give up before
 * we stop it: then another one is started. */
static pid_t stop_at_lock(struct fixture *fixture, struct pw_fence at)
{
    for (int tries = 0; tries < 50; tries++) {
        int how = 0;
        pid_t process = start(fixture, at, 0);
        for (int i = 0; i < 1000 && query_number(fixture, WAITING) == 0; i++)
            (void)usleep(1000);
        (void)kill(process, SIGSTOP);
        assert_int_equal(waitpid(process, &how, WUNTRACED), process);
        if (WIFSTOPPED(how))
            return process;
    }
    fail_msg("no process could be stopped while it waited");
    return -1;
}

/* The server gets the lock that it is asked for, and carries out what it has: nobody takes the answers. */
TEST_IN(on_postgres, fixture, locks_of_a_process_that_is_stopped_while_it_looks_are_given_back)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    PGconn *raw = connect_raw(fixture);
    PQclear(PQexec(raw, "BEGIN"));
    assert_true(can_lock(raw, at));
    pid_t process = stop_at_lock(fixture, at);
    PQclear(PQexec(raw, "COMMIT"));
    (void)usleep(100000); /* it comes before us, or else this shows nothing */
    bool can = can_lock(raw, at);
    end(process);
    PQfinish(raw);
    assert_true(can);
}

TEST_IN(on_postgres, fixture, locks_of_a_process_that_is_stopped_between_two_statements_are_given_back)
{
    struct pw_fence at[STOPS_MAX];
    pid_t processes[STOPS_MAX];
    int count = 0, in_time = 0;
    PGconn *raw = connect_raw(fixture);
    for (bool has_stopped = true; has_stopped; count += has_stopped) {
        char id[16];
        assert_true(count < STOPS_MAX);
        (void)snprintf(id, sizeof id, "%d", count + 1);
        at[count] = create_held(fixture, "order", id);
        processes[count] = start(fixture, at[count], count + 1);
        has_stopped = await_stop(processes[count]);
    }
    for (int i = 0; i < count; i++) {
        bool can = can_lock(raw, at[i]);
        in_time += can;
        if (!can)
            print_error("before the statement %d behind BEGIN\n", i + 1);
    }
    for (int i = 0; i < count; i++)
        end(processes[i]);
    PQfinish(raw);
    assert_true(count > 6);
    assert_int_equal(in_time, count);
}
