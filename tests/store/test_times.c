/* test_times.c - within a run, what is recorded is in the order of its times: whoever records it, whatever their clocks
 * say, and also when a clock is set back. */
#include "kit/store_fixture.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "pawl/pawl.h"

/* ---- One store --------------------------------------------------------------------------------------------------- */

static int64_t number_of(struct fixture *fixture, const char *what, struct pw_fence at)
{
    char sql[300];
    (void)snprintf(sql, sizeof sql, "SELECT %s = %lld", what, (long long)at.instance);
    return query_number(fixture, sql);
}

/* An event, a log line of its sender and a pause, by a clock that shows this. */
static void send_at(struct fixture *fixture, struct pw_fence at, const char *id, int64_t now_ms)
{
    struct pw_unit *unit = fixture_unit(fixture);
    fixture->now_ms = now_ms;
    (void)add_event(unit, at, id, "go");
    struct pw_op_log *log = &add(unit, PW_OP_LOG)->as.log;
    *log = (struct pw_op_log){ .instance = at.instance, .run = at.run };
    log->row.category = text("test");
    log->row.message = text(id);
    (void)add_control(fixture, unit, at, PAWL_CONTROL_PAUSE);
    fixture_apply_all(fixture);
}

TEST_IN(on_engines, fixture, what_comes_later_is_not_older_when_the_clock_was_set_back)
{
    struct pw_fence at = create_instance(fixture, "w", "a");
    send_at(fixture, at, "one", FIXTURE_NOW_MS + 5000);
    send_at(fixture, at, "two", FIXTURE_NOW_MS + 1000);
    send_at(fixture, at, "three", FIXTURE_NOW_MS + 7000);

    assert_int_equal(number_of(fixture, "min(created_at) FROM workflow_event WHERE seq = 2 AND instance", at),
                     FIXTURE_NOW_MS + 5000);
    assert_int_equal(number_of(fixture, "min(created_at) FROM workflow_log WHERE seq = 2 AND instance", at),
                     FIXTURE_NOW_MS + 5000);
    assert_int_equal(number_of(fixture, "min(created_at) FROM workflow_event WHERE seq = 3 AND instance", at),
                     FIXTURE_NOW_MS + 7000);
    assert_int_equal(number_of(fixture, "min(created_at) FROM workflow_log WHERE seq = 3 AND instance", at),
                     FIXTURE_NOW_MS + 7000);
    assert_int_equal(read_key(fixture, at.instance).updated_at_ms, FIXTURE_NOW_MS + 7000);
}

/* When it is to happen is the clock's affair, or a clock that was wrong would keep the run from going on. */
TEST_IN(on_engines, fixture, what_is_to_happen_goes_by_the_clock)
{
    struct pw_fence at = create_instance(fixture, "w", "a");
    send_at(fixture, at, "one", FIXTURE_NOW_MS + 5000);
    fixture->now_ms = FIXTURE_NOW_MS;
    at = park(fixture, at, PW_TASK_WAITING, PW_TASK_WAKE, PW_NOW);

    struct pw_instance parked = read_key(fixture, at.instance);
    assert_int_equal(parked.task.due_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(parked.updated_at_ms, FIXTURE_NOW_MS + 5000);

    const struct pw_text name = text("w");
    const struct pw_op_claim *op = fixture_claim(fixture, &name, 1, 1);
    assert_int_equal(op->claim_count, 1);
    assert_int_equal(op->claims[0].updated_at_ms, FIXTURE_NOW_MS + 5000);
    struct pw_instance claimed = read_key(fixture, at.instance);
    assert_int_equal(claimed.task.locked_until_ms, FIXTURE_NOW_MS + FIXTURE_LEASE_MS);
    assert_int_equal(claimed.started_at_ms, FIXTURE_NOW_MS + 5000);
    fixture_clear_units(fixture);
}

TEST_IN(on_engines, fixture, a_run_ends_no_earlier_than_what_was_recorded_of_it)
{
    struct pw_fence at = create_held(fixture, "w", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    fixture->now_ms = FIXTURE_NOW_MS - 1000;
    add_finish(unit, at, PW_OUTCOME_COMPLETE)->newest_ms = FIXTURE_NOW_MS + 300;
    fixture_apply_all(fixture);

    struct pw_instance ended = read_key(fixture, at.instance);
    assert_int_equal(ended.completed_at_ms, FIXTURE_NOW_MS + 300);
    assert_int_equal(ended.updated_at_ms, FIXTURE_NOW_MS + 300);

    struct pw_op_restart *restart = &add(fixture_unit(fixture), PW_OP_RESTART)->as.restart;
    *restart = (struct pw_op_restart){
        .instance = at.instance, .run = 1, .hold_owner = FIXTURE_OWNER, .hold_lease_ms = FIXTURE_LEASE_MS
    };
    fixture_apply_all(fixture);
    struct pw_instance again = read_key(fixture, at.instance);
    assert_int_equal(again.started_at_ms, FIXTURE_NOW_MS + 300);
    assert_int_equal(again.updated_at_ms, FIXTURE_NOW_MS + 300);
    assert_int_equal(again.task.locked_until_ms, FIXTURE_NOW_MS - 1000 + FIXTURE_LEASE_MS);
}

/* ---- The lock comes first ---------------------------------------------------------------------------------------- */

struct watched_clock {
    struct fixture *fixture;
    int64_t instance;
    bool was_locked; /* when the time was read last */
};

static bool file_is_locked(const char *path)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    int code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    (void)sqlite3_close(db);
    return code == SQLITE_BUSY;
}

static int64_t watched_now(void *user)
{
    struct watched_clock *clock = user;
    struct fixture *fixture = clock->fixture;
    char sql[160];
    (void)snprintf(sql, sizeof sql, "SELECT instance FROM workflow_task WHERE instance = %lld FOR UPDATE SKIP LOCKED",
                   (long long)clock->instance);
    clock->was_locked = fixture->place.store == STORE_IN_POSTGRES ? store_place_number(&fixture->place, sql) == -1
                                                                  : file_is_locked(fixture->place.path);
    return fixture->now_ms;
}

/* Whoever has it before us can have recorded nothing with a later time, then. */
TEST_IN(on_databases, fixture, the_time_is_read_behind_the_lock)
{
    struct pw_fence at = create_instance(fixture, "w", "a");
    struct watched_clock watched = { fixture, at.instance, false };
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_event(unit, at, "one", "go");
    struct pawl_clock clock = { .now_ms = watched_now, .user = &watched };
    struct pw_store *store = NULL;
    assert_int_equal(pw_store_open(fixture->url, clock, &store, &fixture->error), PAWL_OK);
    assert_int_equal(store->ops->apply(store, &unit, 1, &fixture->error), PAWL_OK);
    assert_int_equal(unit->status, PAWL_OK);
    assert_true(watched.was_locked);
    store->ops->close(store);
}

/* ---- Several engines --------------------------------------------------------------------------------------------- */

enum { ENGINES = 3, ROUNDS = 12, EVENTS = ROUNDS * 2, SKEW_MS = 4000, PATIENCE_MS = 120000 };

struct office {
    pawl_engine *engine;
    pawl_runner *runner;
    _Atomic int64_t skew_ms;
    pthread_t sender;
    int number, sent;
};

static int64_t system_ms(clockid_t id)
{
    struct timespec now;
    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t office_now(void *user)
{
    return system_ms(CLOCK_REALTIME) + atomic_load(&((struct office *)user)->skew_ms);
}

BODY(body)
{
    return pawl_step_log(step, PAWL_LOG_INFO, "test", NULL, "here");
}

WORKFLOW(branch)
{
    const char *name = pawl_value_string(params, "name", "");
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, "test", NULL, "%s", name));
    return pawl_do(run, name, NULL, body, NULL, out_result);
}

WORKFLOW(rounds)
{
    pawl_scope *scope = pawl_run_scope(run);
    for (int round = 0; round < ROUNDS; round++) {
        struct pawl_branch branches[2] = { { .run = branch }, { .run = branch } };
        for (int i = 0; i < 2; i++) {
            char name[32];
            pawl_value *named;
            (void)snprintf(name, sizeof name, "step %d %c", round, 'a' + i);
            PAWL_TRY(pawl_value_pack(scope, &named, "{s:s}", "name", name));
            branches[i].input = named;
        }
        PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
        for (int i = 0; i < ENGINES * EVENTS / ROUNDS; i++) {
            char name[32];
            (void)snprintf(name, sizeof name, "wait %d %d", round, i);
            PAWL_TRY(pawl_wait_for_event(run, name, "go", "1 day", NULL));
        }
    }
    return PAWL_OK;
}

static void office_open(struct office *office, const struct fixture *fixture, int number)
{
    struct pawl_error error;
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_runner_options running = PAWL_RUNNER_OPTIONS_INIT;
    const struct pawl_workflow workflow = { .name = "w", .run = rounds };
    office->number = number;
    atomic_init(&office->skew_ms, (number - 1) * SKEW_MS);
    options.store_url = fixture->url;
    options.clock = (struct pawl_clock){ .now_ms = office_now, .user = office };
    running.workers = 2;
    assert_int_equal(pawl_open(&options, &office->engine, &error), PAWL_OK);
    assert_int_equal(pawl_register(office->engine, &workflow, &error), PAWL_OK);
    assert_int_equal(pawl_runner_open(office->engine, &running, &office->runner, &error), PAWL_OK);
    assert_int_equal(pawl_runner_start(office->runner, &error), PAWL_OK);
}

/* Each sets its clock back and forth as it goes. */
static void *send_some(void *user)
{
    struct office *office = user;
    pawl_scope *scope = pawl_scope_new();
    for (int i = 0; i < EVENTS; i++) {
        char id[32];
        struct pawl_error error;
        struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
        (void)snprintf(id, sizeof id, "%d-%d", office->number, i);
        options.type = "go";
        options.event_id = id;
        atomic_store(&office->skew_ms, (int64_t)((i * 7 + office->number * 3) % 5 - 2) * SKEW_MS / 2);
        if (pawl_send_event(office->engine, scope, "w", "a", &options, NULL, &error) == PAWL_OK)
            office->sent++;
        else
            print_error("%s\n", error.text);
    }
    pawl_scope_free(scope);
    return NULL;
}

static int64_t count_wrong(const struct fixture *fixture, const char *table)
{
    char sql[400];
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*) FROM (SELECT created_at, lag(created_at) OVER (PARTITION BY instance, run"
                   " ORDER BY seq) AS older FROM %s) t WHERE created_at < older",
                   table);
    return store_place_number(&fixture->place, sql);
}

static void await_end(pawl_engine *engine)
{
    int64_t until_ms = system_ms(CLOCK_MONOTONIC) + PATIENCE_MS;
    enum pawl_instance_status status = PAWL_ACTIVE;
    while (status != PAWL_COMPLETE && system_ms(CLOCK_MONOTONIC) < until_ms) {
        struct pawl_instance instance;
        struct pawl_error error;
        pawl_scope *scope = pawl_scope_new();
        assert_int_equal(pawl_get(engine, scope, "w", "a", &instance, &error), PAWL_OK);
        status = instance.status;
        pawl_scope_free(scope);
        (void)usleep(2000);
    }
    assert_int_equal(status, PAWL_COMPLETE);
}

TEST_IN(on_databases, fixture, engines_whose_clocks_differ_record_a_run_in_the_order_of_its_times)
{
    struct office offices[ENGINES] = { { .engine = NULL } };
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    struct pawl_error error;
    pawl_scope *scope = pawl_scope_new();
    for (int i = 0; i < ENGINES; i++)
        office_open(&offices[i], fixture, i);
    options.id = "a";
    assert_int_equal(pawl_create(offices[0].engine, scope, "w", &options, &instance, &error), PAWL_OK);
    for (int i = 0; i < ENGINES; i++)
        assert_int_equal(pthread_create(&offices[i].sender, NULL, send_some, &offices[i]), 0);
    for (int i = 0; i < ENGINES; i++)
        assert_int_equal(pthread_join(offices[i].sender, NULL), 0);
    await_end(offices[0].engine);

    for (int i = 0; i < ENGINES; i++)
        assert_int_equal(offices[i].sent, EVENTS);
    assert_int_equal(store_place_number(&fixture->place, "SELECT count(*) FROM workflow_event"), ENGINES * EVENTS);
    assert_int_equal(count_wrong(fixture, "workflow_event"), 0);
    assert_int_equal(count_wrong(fixture, "workflow_step"), 0);
    assert_int_equal(count_wrong(fixture, "workflow_log"), 0);
    static const char *const wrong[] = {
        "workflow_step WHERE updated_at < created_at",
        "workflow_event WHERE delivered_at < created_at OR delivered_at IS NULL",
        "workflow_instance WHERE updated_at < created_at OR completed_at < started_at"
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char sql[200];
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", wrong[i]);
        assert_int_equal(store_place_number(&fixture->place, sql), 0);
    }
    for (int i = 0; i < ENGINES; i++) {
        pawl_runner_close(offices[i].runner);
        pawl_close(offices[i].engine);
    }
    pawl_scope_free(scope);
}
