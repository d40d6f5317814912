/* test_processes.c - several processes on one database: every run finishes once, no step commits twice, a dead one's runs
 * go on in another. */
#include "kit/running.h"

#include <signal.h>
#include <unistd.h>

#include "kit/child.h"

enum { RUNS = RUNNING_SLOWLY ? 120 : 400, STEPS = 3, PROCESSES_MAX = 4 };

/* What a child needs to know, and the pipes through which it talks. */
struct child {
    const char *path;
    int begin[2];  /* closed by the parent: go */
    int report[2]; /* bytes and numbers from the child */
    int number;
    bool blocks;     /* its bodies never return */
    int64_t poll_ms; /* 0: the default */
    pid_t process;
};

struct shared {
    char path[64];
    struct child children[PROCESSES_MAX];
    int count;
};

/* ---- In the children ------------------------------------------------------------------------------------------------------ */

BODY(key_body)
{
    const struct child *child = pawl_step_user(step);
    return pawl_step_sql(step, "INSERT INTO app (key, process) VALUES ($1, $2)", "[s, i]",
                         pawl_value_string(input, NULL, "?"), child->number);
}

/* The table's unique key makes a second commit of a step an error of the run. */
WORKFLOW(keyed)
{
    for (int i = 0; i < STEPS; i++) {
        const char *name = pawl_run_format(run, "step %d", i);
        pawl_value *key;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &key, "s", pawl_run_format(run, "%s/%d", pawl_run_id(run), i)));
        PAWL_TRY(pawl_do(run, name, NULL, key_body, key, NULL));
        if (i == 0)
            PAWL_TRY(pawl_sleep(run, "rest", "1 ms"));
    }
    return pawl_return(run, out_result, "s", pawl_run_id(run));
}

WORKFLOW(waiting)
{
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, NULL));
    return pawl_return(run, out_result, "s", "woken");
}

/* Tells the parent that it is there; in a child that blocks it stays. */
BODY(reporting_body)
{
    const struct child *child = pawl_step_user(step);
    PAWL_TRY(key_body(step, input, out_result));
    if (child->blocks && write(child->report[1], "!", 1) == 1)
        pause();
    return PAWL_OK;
}

WORKFLOW(two_halves)
{
    pawl_value *key;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &key, "s", "first half"));
    PAWL_TRY(pawl_do(run, "first", NULL, key_body, key, NULL));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &key, "s", "second half"));
    return pawl_do(run, "second", NULL, reporting_body, key, NULL);
}

static void register_all(struct running *running, struct child *child)
{
    running_register(running, "keyed", keyed, child);
    running_register(running, "waiting", waiting, child);
    running_register(running, "halves", two_halves, child);
}

static void open_child(struct running *running, struct child *child)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    char byte;
    options.workers = 4;
    options.lease_ms = 1000 * PATIENCE_MS; /* what waits for one to end, or to be renewed, does not come */
    options.poll_ms = child->poll_ms;
    running_open_path(running, child->path);
    register_all(running, child);
    running_start(running, &options);
    (void)!read(child->begin[0], &byte, 1); /* until the parent closes its end */
}

/* On a machine that is busy with other things a process may not get at the file for ten seconds, which is told as an
 * unavailable store: then it is tried again.  Whatever happened, an id is won once. */
static pawl_status create_patiently(struct running *running, int number)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    char id[16];
    pawl_status status = PAWL_STORE_UNAVAILABLE;
    pawl_scope *scope = pawl_scope_new();
    snprintf(id, sizeof id, "run-%d", number);
    options.id = id;
    for (int tries = 0; status == PAWL_STORE_UNAVAILABLE && tries < 5; tries++)
        status = pawl_create(running->engine, scope, "keyed", &options, &instance, &running->error);
    pawl_scope_free(scope);
    return status;
}

/* Creates all ids, as all others do; tells how many of them were its own. */
static void create_and_run(struct child *child)
{
    struct running running;
    int won = 0;
    open_child(&running, child);
    for (int i = 0; i < RUNS; i++) {
        pawl_status status = create_patiently(&running, i);
        if (status != PAWL_OK && status != PAWL_INSTANCE_ID_ALREADY_EXISTS) {
            fprintf(stderr, "process %d: %s: %s\n", child->number, pawl_status_name(status), running.error.text);
            _exit(2);
        }
        won += status == PAWL_OK;
    }
    if (write(child->report[1], &won, sizeof won) != sizeof won || !running_await_all(&running, "keyed"))
        _exit(3);
    pawl_runner_close(running.runner);
    pawl_close(running.engine);
    _exit(0);
}

/* Runs what is there until it is killed. */
static void run_for_ever(struct child *child)
{
    struct running running;
    open_child(&running, child);
    if (write(child->report[1], "r", 1) != 1)
        _exit(2);
    for (;;)
        pause();
}

/* ---- In the parent ---------------------------------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    struct shared *shared = calloc(1, sizeof *shared);
    database_name(shared->path, sizeof shared->path);
    struct store_place place = database_place(shared->path);
    store_place_execute(&place, "CREATE TABLE app (key TEXT UNIQUE, process INTEGER)");
    *state = shared;
    return 0;
}

static int tear_down(void **state)
{
    struct shared *shared = *state;
    for (int i = 0; i < shared->count; i++) {
        (void)child_kill(&shared->children[i].process);
        close(shared->children[i].report[0]);
    }
    remove_database(shared->path);
    free(shared);
    return 0;
}

static const struct test_setting shared_setting = { set_up, tear_down, 0 };

static struct child *start_child(struct shared *shared, void (*main)(struct child *child), bool blocks, int64_t poll_ms)
{
    struct child *child = &shared->children[shared->count];
    *child = (struct child){ .path = shared->path, .number = shared->count, .blocks = blocks, .poll_ms = poll_ms };
    shared->count++;
    assert_int_equal(pipe(child->begin), 0);
    assert_int_equal(pipe(child->report), 0);
    fflush(NULL);
    child->process = fork();
    if (child->process == 0) {
        for (int i = 0; i < shared->count; i++)
            close(shared->children[i].begin[1]); /* else nobody would see it closed */
        main(child);
    }
    assert_true(child->process > 0);
    close(child->begin[0]);
    close(child->report[1]);
    return child;
}

static void begin(struct child *child)
{
    close(child->begin[1]);
    child->begin[1] = -1;
}

static void await_report(struct child *child, char expected)
{
    char byte = 0;
    assert_int_equal(read(child->report[0], &byte, 1), 1);
    assert_int_equal(byte, expected);
}

static int64_t number_of(struct shared *shared, const char *sql)
{
    struct store_place place = database_place(shared->path);
    return store_place_number(&place, sql);
}

static void run_beside_each_other(struct shared *shared, int processes)
{
    int won_by_all = 0;
    for (int i = 0; i < processes; i++)
        (void)start_child(shared, create_and_run, false, 20);
    for (int i = 0; i < processes; i++)
        begin(&shared->children[i]);

    for (int i = 0; i < processes; i++) {
        int won = 0;
        assert_int_equal(read(shared->children[i].report[0], &won, sizeof won), sizeof won);
        won_by_all += won;
    }
    for (int i = 0; i < processes; i++)
        assert_int_equal(child_await(&shared->children[i].process), 0);

    assert_int_equal(won_by_all, RUNS);
    assert_int_equal(number_of(shared, "SELECT count(*) FROM workflow_instances WHERE status = 'complete'"
                                       " AND output = '\"' || id || '\"'"),
                     RUNS);
    assert_int_equal(number_of(shared, "SELECT count(*) FROM workflow_instances"), RUNS);
    assert_int_equal(number_of(shared, "SELECT count(*) FROM app"), RUNS * STEPS);
    assert_int_equal(number_of(shared, "SELECT count(*) FROM workflow_steps WHERE attempts > 1"), 0);
    print_message("runs were carried by %d processes\n",
                  (int)number_of(shared, "SELECT count(DISTINCT process) FROM app"));
}

TEST_OF(shared, two_processes_finish_every_run_once_and_commit_no_step_twice)
{
    run_beside_each_other(shared, 2);
}

TEST_OF(shared, four_processes_finish_every_run_once_and_commit_no_step_twice)
{
    run_beside_each_other(shared, 4);
}

/* An engine in this process, with the workflows but without a runner. */
static void open_parent(struct running *running, struct shared *shared)
{
    static struct child nobody = { .number = -1 };
    running_open_path(running, shared->path);
    register_all(running, &nobody);
}

static void close_parent(struct running *running)
{
    pawl_close(running->engine);
    pawl_scope_free(running->scope);
}

TEST_OF(shared, a_create_and_an_event_from_a_process_without_a_runner_are_found_by_polling)
{
    struct running running;
    struct child *child = start_child(shared, run_for_ever, false, 0);
    begin(child);
    await_report(child, 'r');
    open_parent(&running, shared);

    int64_t created_ms = monotonic_ms();
    running_create(&running, "waiting", "r");
    running_await(&running, "waiting", "r", PAWL_WAITING);
    int64_t sent_ms = monotonic_ms();
    running_send(&running, "waiting", "r", "go", NULL);
    struct pawl_instance instance = running_await(&running, "waiting", "r", PAWL_COMPLETE);
    int64_t ended_ms = monotonic_ms();

    assert_string_equal(instance.output_json, "\"woken\"");
    print_message("found after %d ms, woken after %d ms\n", (int)(sent_ms - created_ms), (int)(ended_ms - sent_ms));
    close_parent(&running);
}

/* The survivor has nothing else to do.  Beside a file the dead are known at once; in a database by their silence, which
 * may be that of another machine: after 10 seconds.  Their leases would last for hours. */
TEST_OF(shared, a_run_of_a_process_killed_in_a_body_goes_on_in_another_promptly)
{
    struct running running;
    struct child *victim = start_child(shared, run_for_ever, true, 0);
    begin(victim);
    await_report(victim, 'r');
    open_parent(&running, shared);
    running_create(&running, "halves", "r");
    await_report(victim, '!');
    close_parent(&running);
    struct child *survivor = start_child(shared, run_for_ever, false, 0);
    begin(survivor);
    await_report(survivor, 'r');
    open_parent(&running, shared);
    assert_int_equal(running_get(&running, "halves", "r").phase, PAWL_PHASE_RUNNING);

    (void)child_kill(&victim->process);
    int64_t killed_ms = monotonic_ms();
    running_await(&running, "halves", "r", PAWL_COMPLETE);
    int64_t took_ms = monotonic_ms() - killed_ms;

    print_message("taken over after %d ms\n", (int)took_ms);
    assert_int_equal(number_of(shared, "SELECT process FROM app WHERE key = 'first half'"), 0);
    assert_int_equal(number_of(shared, "SELECT process FROM app WHERE key = 'second half'"), 1);
    close_parent(&running);
}

TEST_OF(shared, B5_a_run_is_terminated_from_a_process_that_does_not_hold_it)
{
    struct running running;
    struct child *child = start_child(shared, run_for_ever, true, 0);
    begin(child);
    await_report(child, 'r');
    open_parent(&running, shared);
    running_create(&running, "halves", "r");
    await_report(child, '!');

    assert_ok(pawl_terminate(running.engine, "halves", "r", &running.error), running.error);

    assert_int_equal(running_get(&running, "halves", "r").status, PAWL_TERMINATED);
    assert_int_equal(number_of(shared, "SELECT count(*) FROM workflow_tasks"), 0);
    assert_int_equal(number_of(shared, "SELECT count(*) FROM app"), 1);
    close_parent(&running);
}

TEST_OF(shared, killing_one_of_two_busy_processes_loses_nothing)
{
    int won = 0;
    struct child *victim = start_child(shared, create_and_run, false, 20);
    struct child *survivor = start_child(shared, create_and_run, false, 20);
    begin(victim);
    begin(survivor);
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (number_of(shared, "SELECT count(*) FROM app") < RUNS / 4 && monotonic_ms() < until_ms)
        rest_a_little();

    (void)child_kill(&victim->process);
    assert_int_equal(read(survivor->report[0], &won, sizeof won), sizeof won);
    int status = child_await(&survivor->process);

    assert_int_equal(status, 0);
    assert_int_equal(number_of(shared, "SELECT count(*) FROM workflow_instances WHERE status = 'complete'"), RUNS);
    assert_int_equal(number_of(shared, "SELECT count(*) FROM app"), RUNS * STEPS);
    assert_int_equal(number_of(shared, "SELECT count(*) FROM workflow_tasks"), 0);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    return test_run_all();
}
