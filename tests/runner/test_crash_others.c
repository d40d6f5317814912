/* test_crash_others.c - C3 for real, where others finish what a run waits for: runs with calls, children, deferreds and
 * compensations; three processes, one with the workflows, one that carries out functions as a runner, and one that claims
 * jobs and completes deferreds from outside; each is killed with kill -9 at random instants, and started again.
 *
 * Every step that counts writes a row whose key is unique, in the commit that completes it: done twice, it fails its run.
 * The seed is printed; PAWL_TEST_SEED replays the order of the kills. */
#include "kit/running.h"

#include <signal.h>
#include <unistd.h>

#include "kit/child.h"

enum {
    RUNS = RUNNING_SLOWLY ? 30 : 90, /* of which every third fails, and is undone */
    KILLS = RUNNING_SLOWLY ? 9 : 18,
    LEASE_MS = 1000,
    PARTS = 4 /* that the result is made of, the run's number each */
};

enum role { PROGRAM, RUNNER, WORKER, ROLES };

struct crash {
    char path[64];
    pid_t processes[ROLES];
    unsigned seed;
};

/* ---- What the runs do ------------------------------------------------------------------------------------------------ */

BODY(row_body)
{
    PAWL_TRY(pawl_step_sql(
        step, "INSERT INTO app (key) VALUES ($1)", "[s]",
        pawl_scope_format(pawl_step_scope(step), "%d/%s", (int)pawl_value_int(input, NULL, -1), pawl_step_name(step))));
    return pawl_result(step, out_result, "V", input);
}

BODY(undo_body)
{
    return row_body(step, pawl_value_at(input, "input"), out_result);
}

BODY(tell_body)
{
    return pawl_step_sql(step, "INSERT INTO token (run, token) VALUES ($1, $2)", "[i, s]",
                         (int)pawl_value_int(input, "run", -1), pawl_value_string(input, "token", "?"));
}

BODY(same_body)
{
    return pawl_result(step, out_result, "V", input);
}

WORKFLOW(child)
{
    PAWL_TRY(pawl_do(run, "grow", NULL, row_body, params, NULL));
    PAWL_TRY(pawl_sleep(run, "rest", "1 ms"));
    return pawl_return(run, out_result, "V", params);
}

static pawl_status tell(pawl_run *run, const pawl_value *number)
{
    const char *token;
    pawl_value *told;
    PAWL_TRY(pawl_deferred_token(run, "approval", &token));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &told, "{s:V, s:s}", "run", number, "token", token));
    return pawl_do(run, "tell", NULL, tell_body, told, NULL);
}

WORKFLOW(trip)
{
    static const struct pawl_compensation undo = { .undo = undo_body };
    static const struct pawl_step_options undone = { .compensate = &undo };
    pawl_value *parts[PARTS] = { NULL };
    const char *id;
    int64_t total = 0;
    PAWL_TRY(pawl_do(run, "book", &undone, row_body, params, NULL));
    PAWL_TRY(pawl_start_child(run, "child", "child", NULL, params, &id));
    PAWL_TRY(tell(run, params));
    PAWL_TRY(pawl_call(run, "near", "near", NULL, params, &parts[0]));
    PAWL_TRY(pawl_call(run, "far", "far", NULL, params, &parts[1]));
    PAWL_TRY(pawl_do(run, "pay", &undone, row_body, params, NULL));
    PAWL_TRY(pawl_await_child(run, "grown", "child", id, &parts[2]));
    PAWL_TRY(pawl_await_deferred(run, "approval", NULL, &parts[3]));
    for (int i = 0; i < PARTS; i++)
        total += pawl_value_int(parts[i], NULL, -1000000);
    if (pawl_value_int(params, NULL, 0) % 3 == 0)
        return pawl_run_fail(run, "NotThisOne", "%d", (int)total);
    return pawl_return(run, out_result, "i", (int)total);
}

/* ---- The processes ------------------------------------------------------------------------------------------------------ */

static bool create_all(struct running *running)
{
    char ids[RUNS][16], params[RUNS][16];
    struct pawl_batch_item items[RUNS];
    struct pawl_instance *created;
    size_t count;
    pawl_scope *scope = pawl_scope_new();
    for (int i = 0; i < RUNS; i++) {
        snprintf(ids[i], sizeof ids[i], "run-%d", i);
        snprintf(params[i], sizeof params[i], "%d", i);
        items[i] = (struct pawl_batch_item){ ids[i], params[i] };
    }
    pawl_status status = pawl_create_batch(running->engine, scope, "trip", items, RUNS, &created, &count, NULL);
    pawl_scope_free(scope);
    return status == PAWL_OK;
}

static void be_the_program(struct running *running)
{
    running_register(running, "trip", trip, NULL);
    running_register(running, "child", child, NULL);
    running_start(running, NULL);
    if (!create_all(running))
        _exit(2);
    for (;;)
        pause();
}

static void be_the_runner(struct running *running)
{
    const struct pawl_function function = { .name = "near", .run = same_body };
    if (pawl_register_function(running->engine, &function, NULL) != PAWL_OK)
        _exit(2);
    running_start(running, NULL);
    for (;;)
        pause();
}

/* One job, taken and answered; false when there is none.  What others took is not this worker's any more. */
static bool work(struct running *running, pawl_scope *scope)
{
    static const char *const functions[] = { "far" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs = NULL;
    size_t count = 0;
    options.functions = functions;
    options.function_count = 1;
    options.lease_ms = LEASE_MS;
    if (pawl_job_claim(running->engine, scope, &options, &jobs, &count, NULL) != PAWL_OK || count == 0)
        return false;
    (void)!pawl_job_heartbeat(running->engine, jobs[0].token, LEASE_MS, NULL, NULL);
    (void)!pawl_job_complete(running->engine, jobs[0].token, jobs[0].data_json, NULL);
    return true;
}

struct approving {
    struct running *running;
    bool done[RUNS];
};

static void approve(void *user, const char *const *columns, int count)
{
    struct approving *approving = user;
    int run = atoi(columns[0]);
    (void)count;
    if (!approving->done[run])
        approving->done[run] =
            pawl_deferred_succeed(approving->running->engine, columns[1], columns[0], NULL) == PAWL_OK;
}

static void be_the_worker(struct running *running, const char *path)
{
    struct approving approving = { .running = running };
    store_places_after_fork();
    struct store_place place = database_place(path);
    for (;;) {
        pawl_scope *scope = pawl_scope_new();
        while (work(running, scope))
            rest_a_little();
        store_place_rows(&place, "SELECT run, token FROM token", approve, &approving);
        pawl_scope_free(scope);
        for (int i = 0; i < 10; i++)
            rest_a_little();
    }
}

struct beginning {
    const char *path;
    enum role role;
};

static void be_one(void *user)
{
    const struct beginning *beginning = user;
    struct running running;
    running_open_path(&running, beginning->path);
    if (beginning->role == PROGRAM)
        be_the_program(&running);
    else if (beginning->role == RUNNER)
        be_the_runner(&running);
    else
        be_the_worker(&running, beginning->path);
}

static void start_process(struct crash *crash, enum role role)
{
    crash->processes[role] = child_start(be_one, &(struct beginning){ crash->path, role });
}

static void kill_process(struct crash *crash, enum role role)
{
    if (crash->processes[role] <= 0)
        return;
    int code = child_kill(&crash->processes[role]);
    if (code != 128 + SIGKILL)
        fail_msg("process %d ended by itself with %d", (int)role, code);
}

/* ---- The one that kills them ------------------------------------------------------------------------------------------- */

/* One of them, or all at once. */
static void kill_at_random(struct crash *crash)
{
    int life_ms = 5 + (int)child_draw(&crash->seed, store_asked_for(STORE_IN_FILE) == STORE_IN_FILE ? 150 : 400);
    int victim = (int)child_draw(&crash->seed, ROLES + 1);
    int64_t until_ms = monotonic_ms() + life_ms;
    while (monotonic_ms() < until_ms)
        rest_a_little();
    for (int role = 0; role < ROLES; role++) {
        if (victim == role || victim == ROLES)
            kill_process(crash, (enum role)role);
    }
    for (int role = 0; role < ROLES; role++) {
        if (crash->processes[role] == 0)
            start_process(crash, (enum role)role);
    }
}

static int64_t number_of(struct crash *crash, const char *sql)
{
    struct store_place place = database_place(crash->path);
    return store_place_number(&place, sql);
}

static bool await_end(struct crash *crash)
{
    int64_t until_ms = monotonic_ms() + 2 * PATIENCE_MS;
    while (monotonic_ms() < until_ms) {
        if (number_of(crash, "SELECT count(*) FROM workflow_instances") == 4 * RUNS &&
            number_of(crash, "SELECT count(*) FROM workflow_tasks") == 0)
            return true;
        for (int i = 0; i < 20; i++)
            rest_a_little();
    }
    return false;
}

static void check_outcome(struct crash *crash)
{
    static const struct {
        const char *sql;
        int expected;
    } facts[] = {
        { "SELECT count(*) FROM workflow_instances WHERE workflow = 'trip' AND status = 'complete'"
          " AND output = CAST(4 * CAST(substr(id, 5) AS INTEGER) AS TEXT)",
          RUNS - RUNS / 3 },
        { "SELECT count(*) FROM workflow_instances WHERE workflow = 'trip' AND error_name = 'NotThisOne'"
          " AND error_message = CAST(4 * CAST(substr(id, 5) AS INTEGER) AS TEXT)",
          RUNS / 3 },
        { "SELECT count(*) FROM workflow_instances WHERE workflow = 'child' AND status = 'complete'", RUNS },
        /* a job that dies with its worker is taken by another: it is no other attempt */
        { "SELECT count(*) FROM workflow_instances WHERE workflow = '@near' AND status = 'complete'", RUNS },
        { "SELECT count(*) FROM workflow_instances WHERE workflow = '@far' AND status = 'complete'", RUNS },
        { "SELECT count(*) FROM workflow_steps WHERE attempts > 1", 0 },
        { "SELECT count(*) FROM app", 3 * RUNS + 2 * (RUNS / 3) },
        { "SELECT count(*) FROM app WHERE key LIKE '%/compensate: %'", 2 * (RUNS / 3) },
        { "SELECT count(*) FROM token", RUNS },
    };
    for (size_t i = 0; i < LENGTH(facts); i++) {
        int64_t found = number_of(crash, facts[i].sql);
        if (found != facts[i].expected)
            fail_msg("%d instead of %d: %s", (int)found, facts[i].expected, facts[i].sql);
    }
}

/* The tables of the engine are there before anybody looks. */
static int set_up(void **state)
{
    struct crash *crash = calloc(1, sizeof *crash);
    struct running running;
    crash->seed = child_seed();
    database_name(crash->path, sizeof crash->path);
    running_open_path(&running, crash->path);
    pawl_close(running.engine);
    pawl_scope_free(running.scope);
    struct store_place place = database_place(crash->path);
    store_place_execute(&place, "CREATE TABLE app (key TEXT UNIQUE)");
    store_place_execute(&place, "CREATE TABLE token (run INTEGER UNIQUE, token TEXT)");
    *state = crash;
    return 0;
}

static int tear_down(void **state)
{
    struct crash *crash = *state;
    for (int role = 0; role < ROLES; role++)
        kill_process(crash, (enum role)role);
    remove_database(crash->path);
    free(crash);
    return 0;
}

static const struct test_setting crash_setting = { set_up, tear_down, 0 };

TEST_OF(crash, C3_calls_children_deferreds_and_compensations_stand_kill_9_of_each_process)
{
    int64_t begun_ms = monotonic_ms();
    for (int role = 0; role < ROLES; role++)
        start_process(crash, (enum role)role);
    for (int i = 0; i < KILLS; i++)
        kill_at_random(crash);
    int64_t finished = number_of(crash, "SELECT count(*) FROM workflow_instances WHERE workflow = 'trip' AND"
                                        " status IN ('complete', 'errored')");
    bool ended = await_end(crash);
    for (int role = 0; role < ROLES; role++)
        kill_process(crash, (enum role)role);
    print_message("after %d kills %d of %d runs had finished; all after %d ms\n", KILLS, (int)finished, RUNS,
                  (int)(monotonic_ms() - begun_ms));
    if (!ended)
        print_message("%d tasks are left\n", (int)number_of(crash, "SELECT count(*) FROM workflow_tasks"));
    check_outcome(crash);
    assert_true(ended);
}
