/* test_postgres_lanes.c - the lane of claims and renewals: nothing that takes long comes in between, neither in the lane
 * itself nor in what is waited for there, in whole engines with threads and real time (C1, G1). */
#include "kit/running.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <unistd.h>

#include "store/store.h"

enum { LEASE_MS = 3000, LONG_MS = LEASE_MS * 9 / 5 }; /* a busy machine may take a second to begin a thread */

static struct store_place place;
static struct gate gate; /* where bodies of "long" are */
static atomic_bool ending;

/* ---- Machines --------------------------------------------------------------------------------------------------------- */

struct machine {
    pawl_engine *engine;
    pawl_runner *runner;
    pawl_scope *scope;
    struct pawl_error error;
};

BODY(long_body)
{
    return gate_pass(&gate) ? PAWL_OK : pawl_fail_for_good(step, "Alone", "nobody opened the gate");
}

WORKFLOW(run_long)
{
    return pawl_do(run, "long", NULL, long_body, NULL, NULL);
}

BODY(slow_body)
{
    return pawl_step_sql(step, "SELECT pg_advisory_xact_lock_shared(77)", NULL);
}

WORKFLOW(run_slow)
{
    return pawl_do(run, "slow", NULL, slow_body, NULL, NULL);
}

WORKFLOW(run_caller)
{
    return pawl_call(run, "ask", "f", NULL, params, out_result);
}

/* Without a runner. */
static void open_engine(struct machine *machine, int32_t limit)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    const struct pawl_workflow workflows[] = { { .name = "long", .run = run_long },
                                               { .name = "slow", .run = run_slow },
                                               { .name = "caller", .run = run_caller } };
    *machine = (struct machine){ .scope = pawl_scope_new() };
    options.store_url = place.url;
    assert_ok(pawl_open(&options, &machine->engine, &machine->error), machine->error);
    for (size_t i = 0; i < LENGTH(workflows); i++)
        assert_ok(pawl_register(machine->engine, &workflows[i], &machine->error), machine->error);
    if (limit > 0)
        assert_ok(pawl_limit_function(machine->engine, "f", limit, &machine->error), machine->error);
}

static void open_machine(struct machine *machine, int32_t limit)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    options.lease_ms = LEASE_MS;
    open_engine(machine, limit);
    assert_ok(pawl_runner_open(machine->engine, &options, &machine->runner, &machine->error), machine->error);
    assert_ok(pawl_runner_start(machine->runner, &machine->error), machine->error);
}

static void close_machine(struct machine *machine)
{
    if (machine->runner != NULL)
        pawl_runner_close(machine->runner);
    pawl_close(machine->engine);
    pawl_scope_free(machine->scope);
}

static void create(struct machine *machine, const char *workflow, const char *id)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.id = id;
    assert_ok(pawl_create(machine->engine, machine->scope, workflow, &options, &instance, &machine->error),
              machine->error);
}

static size_t claim_job(pawl_engine *engine, pawl_scope *scope, const char **out_token)
{
    static const char *const functions[] = { "f" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    struct pawl_error error;
    const struct pawl_job *jobs = NULL;
    size_t count = 0;
    options.functions = functions;
    options.function_count = 1;
    options.lease_ms = LEASE_MS;
    assert_ok(pawl_job_claim(engine, scope, &options, &jobs, &count, &error), error);
    if (count > 0)
        *out_token = jobs[0].token;
    return count;
}

static PGconn *connect_and(const char *sql)
{
    PGconn *db = PQconnectdb(place.url);
    PGresult *result = PQexec(db, sql);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    PQclear(result);
    return db;
}

/* ---- Claims of a limited function ---------------------------------------------------------------------------------------- */

/* Another process, which loses its network while it claims a job of f: its session ends much later. */
static PGconn *cut_off_while_claiming(void)
{
    char sql[96];
    (void)snprintf(sql, sizeof sql, "SELECT pg_advisory_lock(%" PRId64 ")",
                   (int64_t)pw_stable_hash(pw_stable_hash(0, pw_text_of("pawl: leases of ")), pw_text_of("@f")));
    return connect_and(sql);
}

static int set_up(void **state)
{
    (void)state;
    atomic_store(&ending, false);
    gate_init(&gate);
    store_place_make(&place, STORE_IN_POSTGRES);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gate_clear(&gate);
    store_place_remove(&place);
    return 0;
}

static const struct test_setting setting = { set_up, tear_down, 0 };

TEST_WITH(setting, void *unused, a_process_that_is_cut_off_while_it_claims_costs_no_other_its_leases) /* C1 */
{
    struct machine machine, other;
    struct pawl_runner_stats stats;
    const char *token = NULL;
    open_machine(&machine, 1);
    create(&machine, "long", "one");
    gate_await(&gate, 1);
    open_machine(&other, 0); /* it would take the run over */
    PGconn *cut_off = cut_off_while_claiming();
    for (int64_t until_ms = monotonic_ms() + LONG_MS; monotonic_ms() < until_ms; (void)usleep(20000))
        assert_int_equal(claim_job(machine.engine, machine.scope, &token), 0); /* as a worker that asks for jobs */
    PQfinish(cut_off);
    assert_int_equal(gate_entered(&gate), 1);
    pawl_runner_stats_read(machine.runner, &stats);
    assert_int_equal(stats.leases_lost, 0);
    gate_open(&gate);
    close_machine(&machine);
    close_machine(&other);
}

/* ---- Heartbeats of workers outside ---------------------------------------------------------------------------------------- */

struct worker {
    pawl_engine *engine;
    const char *token;
    _Atomic int64_t longest_ms;
    pawl_status status;
};

static void *keep_job(void *user)
{
    struct worker *worker = user;
    struct pawl_error error;
    while (!atomic_load(&ending) && worker->status == PAWL_OK) {
        int64_t begun_ms = monotonic_ms();
        worker->status = pawl_job_heartbeat(worker->engine, worker->token, LEASE_MS, NULL, &error);
        int64_t took_ms = monotonic_ms() - begun_ms;
        if (took_ms > atomic_load(&worker->longest_ms))
            atomic_store(&worker->longest_ms, took_ms);
        (void)usleep(100000);
    }
    return NULL;
}

TEST_WITH(setting, void *unused, a_job_whose_worker_says_in_time_that_it_lives_is_given_to_nobody_else) /* G1 */
{
    static const char *const ids[] = { "one", "two", "three", "four" }; /* in each lane at least one */
    struct machine machine, maker;                                      /* whose lanes are free */
    struct worker worker = { .status = PAWL_OK };
    pthread_t thread;
    const char *token = NULL;
    open_machine(&machine, 0);
    open_engine(&maker, 0);
    create(&machine, "caller", "one");
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (claim_job(machine.engine, machine.scope, &worker.token) == 0 && monotonic_ms() < until_ms)
        rest_a_little();
    assert_non_null(worker.token);
    worker.engine = machine.engine;
    PGconn *slow = connect_and("SELECT pg_advisory_lock(77)");
    assert_int_equal(pthread_create(&thread, NULL, keep_job, &worker), 0);
    for (size_t i = 0; i < LENGTH(ids); i++)
        create(&maker, "slow", ids[i]);
    for (until_ms = monotonic_ms() + LONG_MS; monotonic_ms() < until_ms; (void)usleep(50000))
        assert_int_equal(claim_job(machine.engine, machine.scope, &token), 0);
    atomic_store(&ending, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    PQfinish(slow);
    assert_int_equal(worker.status, PAWL_OK);
    assert_true(atomic_load(&worker.longest_ms) < LEASE_MS);
    close_machine(&machine);
    close_machine(&maker);
}
