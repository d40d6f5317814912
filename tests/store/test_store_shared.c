/* test_store_shared.c - one file or database, many users: threads, stores, processes that come, go and are killed. */
#include "kit/store_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "store/sqlite/sqlite.h"

enum { PROCESS_COUNT = 8, THREAD_COUNT = 24, READ_COUNT = 50 };

static const struct pw_text order = { "order", 5 };

static void make_name(char *name, size_t size, const char *prefix, int number)
{
    (void)snprintf(name, size, "%s-%d", prefix, number);
}

/* ---- Threads and stores -------------------------------------------------------------------------------------- */

static void *read_often(void *user)
{
    struct fixture *fixture = user;
    size_t misses = 0;
    for (int round = 0; round < READ_COUNT; round++) {
        struct pw_arena arena = { 0 };
        struct pw_instance row;
        struct pawl_error error;
        if (pw_read_instance(fixture->store, &arena, order, text("a"), &row, &error) != PAWL_OK)
            misses++;
        pw_arena_clear(&arena);
    }
    return (void *)misses;
}

TEST_IN(on_engines, fixture, more_threads_than_connections_can_read_while_one_writes)
{
    pthread_t threads[THREAD_COUNT];
    struct pw_fence at = create_held(fixture, "order", "a");
    for (size_t position = 0; position < THREAD_COUNT; position++)
        assert_int_equal(pthread_create(&threads[position], NULL, read_often, fixture), 0);
    for (int64_t seq = 1; seq <= READ_COUNT; seq++) {
        (void)add_step(fixture_unit(fixture), at, seq, "step");
        fixture_apply_all(fixture);
    }
    for (size_t position = 0; position < THREAD_COUNT; position++) {
        void *misses = NULL;
        assert_int_equal(pthread_join(threads[position], &misses), 0);
        assert_null(misses);
    }
}

TEST_IN(on_file, fixture, readers_that_only_a_peak_needed_are_closed)
{
    enum { PEAK = 5 };
    struct pw_sqlite *sqlite = (struct pw_sqlite *)fixture->store;
    struct pw_sqlite_connection *readers[PEAK];
    struct pw_fence at = create_instance(fixture, "order", "a");
    for (size_t i = 0; i < PEAK; i++)
        assert_int_equal(pw_sqlite_take_reader(sqlite, &readers[i], &fixture->error), PAWL_OK);
    for (size_t i = 0; i < PEAK; i++)
        pw_sqlite_give_reader(sqlite, readers[i]);
    (void)read_key(fixture, at.instance);
    assert_int_equal(sqlite->idle_count, PEAK); /* the peak may come back soon */

    for (size_t i = 0; i < PEAK; i++)
        sqlite->idle[i]->idle_since_ms -= PW_SQLITE_IDLE_MS_MAX;
    for (size_t i = 0; i < PEAK; i++)
        (void)read_key(fixture, at.instance);
    assert_int_equal(sqlite->idle_count, 1);
    assert_int_equal(sqlite->reader_count, 1);
}

TEST_IN(on_databases, fixture, two_stores_in_one_place_see_each_others_commits) /* S6 */
{
    struct pw_store *second = fixture_open_store(fixture);
    struct pw_fence at = create_instance(fixture, "order", "a");
    struct pw_instance row;
    assert_int_equal(pw_read_instance(second, &fixture->arena, order, text("a"), &row, &fixture->error), PAWL_OK);

    struct pw_op_claim *op = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
    *op = (struct pw_op_claim){ .workflows = &order, .workflow_count = 1, .max = 1, .owner = 5, .lease_ms = 100 };
    assert_int_equal(fixture_apply_on(fixture, second), PAWL_OK);
    assert_int_equal(op->claim_count, 1);
    assert_int_equal(read_key(fixture, at.instance).task.owner, 5);
    assert_int_equal(try_fence(fixture, at), PAWL_CONFLICT);
    second->ops->close(second);
}

/* What a store keeps in memory holds only until somebody else writes. */
TEST_IN(on_databases, fixture, a_store_forgets_what_it_knew_when_another_one_has_written)
{
    struct pw_store *second = fixture_open_store(fixture);
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_op_log *log = &add(fixture_unit(fixture), PW_OP_LOG)->as.log;
    *log = (struct pw_op_log){ at.instance, at.run, { .category = text("c"), .message = text("first") } };
    fixture_apply_all(fixture); /* the first store knows the task and its log now */

    struct pw_unit *pausing = fixture_unit(fixture);
    (void)add_fence(pausing, at);
    (void)add_control(fixture, pausing, at, PAWL_CONTROL_PAUSE);
    add(pausing, PW_OP_LOG)->as.log =
        (struct pw_op_log){ at.instance, at.run, { .category = text("c"), .message = text("second") } };
    assert_int_equal(fixture_apply_on(fixture, second), PAWL_OK);
    assert_int_equal(pausing->status, PAWL_OK);
    fixture_clear_units(fixture);

    struct pw_unit *late = fixture_unit(fixture);
    struct pw_op_fence *fence = add_fence(late, at);
    add(late, PW_OP_LOG)->as.log =
        (struct pw_op_log){ at.instance, at.run, { .category = text("c"), .message = text("third") } };
    fixture_apply(fixture);
    assert_int_equal(late->status, PAWL_OK);
    assert_true(fence->pause_requested);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_log WHERE seq = 3"), 1);
    second->ops->close(second);
}

TEST_IN(on_databases, fixture, keys_of_instances_are_not_given_out_twice)
{
    struct pw_store *second = fixture_open_store(fixture);
    int64_t last = 0;
    for (int round = 0; round < 6; round++) {
        char id[16];
        make_name(id, sizeof id, "i", round);
        const struct pw_op_create *op = add_create(fixture_unit(fixture), "order", id);
        assert_int_equal(fixture_apply_on(fixture, round % 3 == 0 ? second : fixture->store), PAWL_OK);
        assert_true(op->created);
        assert_true(op->fence.instance > last);
        last = op->fence.instance;
        fixture_clear_units(fixture);
    }
    second->ops->close(second);
}

/* ---- Processes ----------------------------------------------------------------------------------------------- */

/* In a child: opens the store of its own accord and creates an instance. */
static int open_and_create(const struct fixture *parent, int number)
{
    struct fixture fixture = { .now_ms = parent->now_ms };
    char id[16];
    make_name(id, sizeof id, "child", number);
    (void)snprintf(fixture.url, sizeof fixture.url, "%s", parent->url);
    struct pawl_clock clock = { .now_ms = fixture_now, .user = &fixture };
    if (pw_store_open(fixture.url, clock, &fixture.store, &fixture.error) != PAWL_OK)
        return 1;
    struct pw_op_create *op = add_create(fixture_unit(&fixture), "order", id);
    bool done = fixture_apply_on(&fixture, fixture.store) == PAWL_OK && op->created;
    fixture_clear_units(&fixture);
    fixture.store->ops->close(fixture.store);
    return done ? 0 : 2;
}

TEST_IN(on_databases, fixture, eight_processes_can_open_a_fresh_place_at_once)
{
    pid_t children[PROCESS_COUNT];
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    store_place_empty(&fixture->place, true);
    for (int number = 0; number < PROCESS_COUNT; number++) {
        children[number] = fork();
        if (children[number] == 0)
            _exit(open_and_create(fixture, number));
        assert_true(children[number] > 0);
    }
    for (int number = 0; number < PROCESS_COUNT; number++) {
        int status = 0;
        assert_int_equal(waitpid(children[number], &status, 0), children[number]);
        assert_int_equal(status, 0);
    }

    fixture->store = fixture_open_store(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instance"), PROCESS_COUNT);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_schema"), 1);
}

static int64_t reap(struct fixture *fixture)
{
    fixture_clear_units(fixture);
    struct pw_op_reap *op = &add(fixture_unit(fixture), PW_OP_REAP)->as.reap;
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    return op->reaped;
}

/* In a child: lives as a runner, claims what is due, tells it through the pipe, and waits to be killed. */
static void live_and_claim(const struct fixture *parent, int64_t owner, int told)
{
    struct fixture fixture = { .now_ms = parent->now_ms };
    (void)snprintf(fixture.url, sizeof fixture.url, "%s", parent->url);
    struct pawl_clock clock = { .now_ms = fixture_now, .user = &fixture };
    if (pw_store_open(fixture.url, clock, &fixture.store, &fixture.error) != PAWL_OK ||
        fixture.store->ops->announce(fixture.store, owner, &fixture.error) != PAWL_OK)
        _exit(1);
    struct pw_op_claim *op = &add(fixture_unit(&fixture), PW_OP_CLAIM)->as.claim;
    *op = (struct pw_op_claim){ .workflows = &order, .workflow_count = 1, .max = 9, .owner = owner, .lease_ms = 99999 };
    if (fixture_apply_on(&fixture, fixture.store) != PAWL_OK || op->claim_count != 2 || write(told, "x", 1) != 1)
        _exit(2);
    for (;;)
        (void)pause();
}

TEST_IN(on_file, fixture, the_leases_of_a_killed_process_end_at_the_next_reaping)
{
    const struct pw_store_ops *ops = fixture->store->ops;
    int told[2];
    char byte = 0;
    (void)create_instance(fixture, "order", "a");
    (void)create_instance(fixture, "order", "b");
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0)
        live_and_claim(fixture, INT64_MAX, told[1]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    assert_int_equal(ops->announce(fixture->store, FIXTURE_OWNER, &fixture->error), PAWL_OK);
    struct pw_fence mine = create_held(fixture, "order", "mine");

    assert_int_equal(reap(fixture), 0); /* it lives */
    assert_int_equal(fixture_claim(fixture, &order, 1, 9)->claim_count, 0);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(reap(fixture), 2);
    assert_int_equal(reap(fixture), 0);
    struct pw_op_claim *op = fixture_claim(fixture, &order, 1, 9);
    assert_int_equal(op->claim_count, 2);
    assert_true(op->claims[0].taken_over);
    assert_int_equal(try_fence(fixture, mine), PAWL_OK);
    (void)close(told[0]);
    (void)close(told[1]);
}

TEST_IN(on_databases, fixture, a_runner_that_is_withdrawn_is_dead_to_others)
{
    const struct pw_store_ops *ops = fixture->store->ops;
    struct pw_store *second = fixture_open_store(fixture);
    (void)create_held(fixture, "order", "a");
    assert_int_equal(ops->announce(second, FIXTURE_OWNER, &fixture->error), PAWL_OK);
    assert_int_equal(ops->announce(second, 5, &fixture->error), PAWL_OK);
    assert_int_equal(reap(fixture), 0);
    fixture->now_ms++; /* at the very same moment it would be taken for the first one, asking again */
    assert_int_equal(ops->announce(fixture->store, FIXTURE_OWNER, &fixture->error), PAWL_STORE_UNAVAILABLE);
    assert_non_null(
        strstr(fixture->error.text, fixture->place.store == STORE_IN_FILE ? "test.db-runners" : "PostgreSQL"));
    ops->withdraw(second, FIXTURE_OWNER);
    assert_int_equal(reap(fixture), 1);
    second->ops->close(second);
}

TEST_IN(on_memory, fixture, in_memory_nothing_is_reaped)
{
    const struct pw_store_ops *ops = fixture->store->ops;
    assert_int_equal(ops->announce(fixture->store, FIXTURE_OWNER, &fixture->error), PAWL_OK);
    (void)create_held(fixture, "order", "a");
    ops->withdraw(fixture->store, FIXTURE_OWNER);
    assert_int_equal(reap(fixture), 0);
}

/* ---- The file ------------------------------------------------------------------------------------------------ */

TEST_IN(on_databases, fixture, the_place_keeps_everything_when_it_is_opened_again)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    fixture->store->ops->close(fixture->store);
    fixture->store = fixture_open_store(fixture);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

TEST_IN(on_databases, fixture, the_views_show_words_and_times)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    add_step(unit, at, 1, "nap")->kind = PAWL_STEP_SLEEP;
    (void)add_event(unit, at, "e1", "paid");
    add(unit, PW_OP_LOG)->as.log = (struct pw_op_log){
        .instance = at.instance, .run = 1, .row = { .level = PAWL_LOG_WARN, .category = order, .message = order }
    };
    fixture_apply_all(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instances WHERE status = 'active'"
                                           " AND created_at = '1970-01-20T16:13:20.000Z'"),
                     1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_tasks WHERE kind = 'run'"
                                           " AND state = 'processing'"),
                     1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_steps WHERE kind = 'sleep'"
                                           " AND status = 'completed' AND wake_at IS NULL"),
                     1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_events WHERE delivered_at IS NULL"), 1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_logs WHERE level = 'warn'"), 1);
}

/* Ids of 26 characters, as the engine makes them, in no order. */
TEST_IN(on_memory, fixture, a_sleeping_run_takes_less_than_400_bytes)
{
    enum { RUN_COUNT = 5000 };
    int64_t pages = query_number(fixture, "PRAGMA page_count");
    uint32_t chance = 1;
    for (int number = 0; number < RUN_COUNT; number++) {
        char id[27];
        for (size_t position = 0; position < 26; position++) {
            chance = chance * 1664525u + 1013904223u;
            id[position] = (char)('a' + (chance >> 16) % 26);
        }
        id[26] = '\0';
        fixture->now_ms = INT64_C(1700000000000) + number;
        struct pw_fence at = create_held(fixture, "order-processing", id);
        struct pw_unit *unit = fixture_unit(fixture);
        struct pw_step_row *step = add_step(unit, at, 1, "grace period");
        step->kind = PAWL_STEP_SLEEP;
        step->status = PAWL_STEP_WAITING;
        step->wake_at_ms = fixture->now_ms + 86400000;
        (void)add_park(unit, at, PW_TASK_WAITING, PW_TASK_WAKE, step->wake_at_ms);
        fixture_apply_all(fixture);
    }
    int64_t bytes = (query_number(fixture, "PRAGMA page_count") - pages) * query_number(fixture, "PRAGMA page_size");
    print_message("%lld bytes for one sleeping run\n", (long long)(bytes / RUN_COUNT));
    assert_true(bytes / RUN_COUNT < 400);
}
