/* test_postgres_engine.c - whole engines on one PostgreSQL, in real time, each as if on a machine of its own: word of work
 * comes at once, runs are shared, and nothing is lost while the server hangs up on everybody. */
#include "kit/running.h"

#include "base/clock.h"
#include "engine/engine.h"
#include "kit/stores.h"

enum { ENGINES = 2, RUNS = 120, STEPS = 6 };

/* Every body that is begun is counted, whoever runs it. */
struct count {
    atomic_int bodies[RUNS][STEPS];
    atomic_int machines; /* that have begun a body */
    int machines_wanted; /* before any body ends */
};

struct machine {
    pawl_engine *engine;
    pawl_runner *runner;
    pawl_scope *scope;
    struct pawl_error error;
    atomic_bool has_begun;
};

static struct count count; /* of the test that runs */
static struct store_place place;

static bool await_machines(void)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (atomic_load(&count.machines) < count.machines_wanted && monotonic_ms() < until_ms)
        rest_a_little();
    return atomic_load(&count.machines) >= count.machines_wanted;
}

BODY(body)
{
    struct machine *machine = pawl_step_user(step);
    if (!atomic_exchange(&machine->has_begun, true))
        atomic_fetch_add(&count.machines, 1);
    atomic_fetch_add(&count.bodies[pawl_value_int(input, "run", 0)][pawl_value_int(input, "step", 0)], 1);
    return await_machines() ? PAWL_OK : pawl_fail_for_good(step, "Alone", "no other machine has begun anything");
}

WORKFLOW(count_steps)
{
    int64_t number = pawl_value_int(params, NULL, 0);
    for (int i = 0; i < STEPS; i++) {
        char name[16];
        pawl_value *input;
        snprintf(name, sizeof name, "s-%d", i);
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:I,s:i}", "run", (long long)number, "step", i));
        PAWL_TRY(pawl_do(run, name, NULL, body, input, NULL));
    }
    return PAWL_OK;
}

static void open_machine(struct machine *machine, const char *more)
{
    char url[512];
    struct pawl_options options = PAWL_OPTIONS_INIT;
    const struct pawl_workflow workflow = { .name = "count", .run = count_steps, .user = machine };
    *machine = (struct machine){ .scope = pawl_scope_new() };
    assert_non_null(machine->scope);
    snprintf(url, sizeof url, "%s%s", place.url, more);
    options.store_url = url;
    assert_ok(pawl_open(&options, &machine->engine, &machine->error), machine->error);
    assert_ok(pawl_register(machine->engine, &workflow, &machine->error), machine->error);
}

static void start_machine(struct machine *machine, const struct pawl_runner_options *options)
{
    assert_ok(pawl_runner_open(machine->engine, options, &machine->runner, &machine->error), machine->error);
    assert_ok(pawl_runner_start(machine->runner, &machine->error), machine->error);
}

static void close_machine(struct machine *machine)
{
    pawl_runner_close(machine->runner);
    pawl_close(machine->engine);
    pawl_scope_free(machine->scope);
}

static int set_up(void **state)
{
    (void)state;
    memset(&count, 0, sizeof count);
    store_place_make(&place, STORE_IN_POSTGRES);
    return 0;
}

static const struct test_setting setting = { set_up, NULL, 0 };

/* False: the store was in trouble for longer than it waits. */
static bool create(struct machine *machine, int number)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    char id[16], params[16];
    snprintf(id, sizeof id, "r-%d", number);
    snprintf(params, sizeof params, "%d", number);
    options.id = id;
    options.params_json = params;
    return pawl_create(machine->engine, machine->scope, "count", &options, &instance, &machine->error) == PAWL_OK;
}

static int64_t complete_count(void)
{
    return store_place_number(&place, "SELECT count(*) FROM workflow_instance WHERE outcome = 1");
}

static bool await_complete(int64_t wanted, int64_t within_ms)
{
    int64_t until_ms = monotonic_ms() + within_ms;
    while (complete_count() < wanted && monotonic_ms() < until_ms)
        rest_a_little();
    return complete_count() == wanted;
}

static int bodies_of_all(void)
{
    int sum = 0;
    for (int run = 0; run < RUNS; run++)
        for (int step = 0; step < STEPS; step++)
            sum += atomic_load(&count.bodies[run][step]);
    return sum;
}

/* ---- Word of work ---------------------------------------------------------------------------------------------------- */

TEST_WITH(setting, void *unused, what_one_machine_creates_another_begins_at_once)
{
    struct machine client, worker;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    options.poll_ms = 1000 * PATIENCE_MS;
    open_machine(&client, "");
    open_machine(&worker, "");
    start_machine(&worker, &options);
    runner_look_no_more(worker.runner);
    for (int i = 0; i < 3; i++) {
        assert_true(create(&client, i));
        assert_true(await_complete(i + 1, PATIENCE_MS));
    }
    close_machine(&client);
    close_machine(&worker);
}

/* ---- Together ---------------------------------------------------------------------------------------------------------- */

/* None may hold all of them, and no body ends before every machine has begun one: whoever comes first waits for the last. */
TEST_WITH(setting, void *unused, machines_share_the_runs_and_no_step_is_run_twice) /* C1, C6 */
{
    struct machine machines[ENGINES];
    struct pawl_runner_stats stats[ENGINES];
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    options.in_flight_max = RUNS / (ENGINES + 1);
    count.machines_wanted = ENGINES;
    for (int i = 0; i < ENGINES; i++)
        open_machine(&machines[i], "");
    for (int i = 0; i < RUNS; i++)
        assert_true(create(&machines[0], i));
    for (int i = 0; i < ENGINES; i++)
        start_machine(&machines[i], &options);
    assert_true(await_complete(RUNS, 3 * PATIENCE_MS));
    for (int i = 0; i < ENGINES; i++) {
        pawl_runner_stats_read(machines[i].runner, &stats[i]);
        assert_true(stats[i].turns > 0);
        assert_int_equal(stats[i].leases_lost, 0);
        close_machine(&machines[i]);
    }
    assert_int_equal(bodies_of_all(), RUNS * STEPS);
    assert_int_equal(store_place_number(&place, "SELECT count(*) FROM workflow_step"), RUNS * STEPS);
    assert_int_equal(store_place_number(&place, "SELECT count(*) FROM workflow_task"), 0);
}

/* And one that only those are in who wait for nobody. */
TEST_WITH(setting, void *unused, the_committer_has_as_many_queues_as_the_url_says) /* C1, G1 */
{
    struct machine machine;
    open_machine(&machine, "&pawl_lanes=3");
    assert_int_equal(pw_commit_threads(machine.engine->commit), 3 + 1 + 1);
    struct pw_store *store = machine.engine->store;
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_RENEW);
    assert_non_null(op);
    op->as.renew.owner = 5;
    assert_int_equal(store->ops->queue_of(store, &unit), 3);
    op->as.renew.owner = -1; /* of a worker outside */
    assert_int_equal(store->ops->queue_of(store, &unit), 3);
    op->kind = PW_OP_REAP;
    assert_int_equal(store->ops->queue_of(store, &unit), 3);
    struct pw_op *more = pw_unit_add(&unit, PW_OP_CLAIM);
    assert_non_null(more);
    assert_int_equal(store->ops->queue_of(store, &unit), 3);
    more->kind = PW_OP_FENCE; /* which waits for its task */
    assert_int_equal(store->ops->queue_of(store, &unit), 0);
    op->kind = PW_OP_FENCE;
    for (unit.about = 1; unit.about < 9; unit.about++)
        assert_int_equal(store->ops->queue_of(store, &unit), unit.about % 3);
    pw_unit_clear(&unit);
    close_machine(&machine);
}

/* ---- While the server hangs up ------------------------------------------------------------------------------------------- */

static atomic_bool hanging_up;

static int64_t committed_count(void)
{
    return store_place_number(&place, "SELECT (SELECT count(*) FROM workflow_instance) + count(*) FROM workflow_step");
}

/* Not again before something was committed, however slow the machine is. */
static void *hang_up(void *unused)
{
    (void)unused;
    while (atomic_load(&hanging_up)) {
        int64_t committed = committed_count();
        store_place_execute(&place, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                    " WHERE datname = current_database() AND pid <> pg_backend_pid()");
        do {
            for (int i = 0; i < 60; i++)
                rest_a_little();
        } while (atomic_load(&hanging_up) && committed_count() == committed);
    }
    return NULL;
}

TEST_WITH(setting, void *unused, every_run_ends_while_the_server_hangs_up_on_everybody) /* C3, C8 */
{
    struct machine machines[ENGINES];
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    pthread_t thread;
    options.lease_ms = 1000;
    for (int i = 0; i < ENGINES; i++) {
        open_machine(&machines[i], "");
        start_machine(&machines[i], &options);
    }
    atomic_store(&hanging_up, true);
    assert_int_equal(pthread_create(&thread, NULL, hang_up, NULL), 0);
    for (int i = 0; i < RUNS; i++)
        if (!create(&machines[i % ENGINES], i))
            fail_msg("%s", machines[i % ENGINES].error.text);
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (atomic_load(&count.bodies[RUNS - 1][STEPS - 1]) == 0 && monotonic_ms() < until_ms)
        rest_a_little();
    atomic_store(&hanging_up, false);
    assert_int_equal(pthread_join(thread, NULL), 0);

    assert_true(await_complete(RUNS, 3 * PATIENCE_MS));
    for (int i = 0; i < ENGINES; i++)
        close_machine(&machines[i]);
    assert_int_equal(store_place_number(&place, "SELECT count(*) FROM workflow_step WHERE status = 1"), RUNS * STEPS);
    assert_int_equal(store_place_number(&place, "SELECT count(*) FROM workflow_task"), 0);
    print_message("%d bodies for %d steps\n", bodies_of_all(), RUNS * STEPS);
}
