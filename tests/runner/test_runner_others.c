/* test_runner_others.c - what runs have to do with others, on many workers at once: calls, children, deferreds, interrupts, and
 * compensations that branches note at the same time. */
#include "kit/running.h"

enum { BRANCHES = 4, RUNS = RUNNING_SLOWLY ? 12 : 40 };

/* The outside: how often each thing was done. */
struct outside {
    atomic_int done, undone, called;
};

/* ---- Bodies and workflows ---------------------------------------------------------------------------------------------------- */

BODY(do_it)
{
    struct outside *outside = pawl_step_user(step);
    atomic_fetch_add(&outside->done, 1);
    return input != NULL ? pawl_result(step, out_result, "V", input) : PAWL_OK;
}

BODY(undo_it)
{
    struct outside *outside = pawl_step_user(step);
    atomic_fetch_add(&outside->undone, 1);
    return PAWL_OK;
}

BODY(called)
{
    struct outside *outside = pawl_step_user(step);
    atomic_fetch_add(&outside->called, 1);
    return pawl_result(step, out_result, "V", input);
}

static const struct pawl_compensation by_undoing = { .undo = undo_it };
static const struct pawl_step_options undone = { .compensate = &by_undoing };

WORKFLOW(run_child)
{
    return pawl_do(run, "grow", NULL, do_it, params, out_result);
}

BRANCH(branch)
{
    int i = (int)pawl_value_int(input, NULL, 0);
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "do %d", i), &undone, do_it, input, NULL));
    PAWL_TRY(pawl_call(run, pawl_run_format(run, "call %d", i), "called", &undone, input, NULL));
    return pawl_run_child(run, pawl_run_format(run, "child %d", i), "child", NULL, input, out_result);
}

WORKFLOW(run_branches)
{
    struct pawl_branch branches[BRANCHES];
    int64_t sum = 0;
    for (int i = 0; i < BRANCHES; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "i", i));
        branches[i] = (struct pawl_branch){ .run = branch, .input = input };
    }
    PAWL_TRY(pawl_all(run, "all", branches, BRANCHES, 0));
    for (int i = 0; i < BRANCHES; i++)
        sum += pawl_value_int(branches[i].result, NULL, -1000);
    return pawl_return(run, out_result, "I", (long long)sum);
}

WORKFLOW(run_branches_and_fail)
{
    PAWL_TRY(run_branches(run, params, out_result));
    return pawl_run_fail(run, "Refused", "after all");
}

static void start(struct running *running, struct outside *outside, pawl_workflow_fn *run)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct pawl_function function = { .name = "called", .run = called, .user = outside };
    running_open(running, false);
    running_register(running, "w", run, outside);
    running_register(running, "child", run_child, outside);
    assert_ok(pawl_register_function(running->engine, &function, &running->error), running->error);
    options.workers = 8;
    running_start(running, &options);
}

static const char *name_run(int i, char name[16])
{
    snprintf(name, 16, "r%d", i);
    return name;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------------------- */

TEST(branches_of_many_runs_call_have_children_and_are_undone_once_each)
{
    struct outside outside = { 0 };
    struct running running;
    char name[16];
    start(&running, &outside, run_branches_and_fail);
    for (int i = 0; i < RUNS; i++)
        running_create(&running, "w", name_run(i, name));
    assert_true(running_await_all(&running, "w"));
    assert_int_equal(running_count(&running, "w", PAWL_ERRORED), RUNS);
    assert_int_equal(running_count(&running, "child", PAWL_COMPLETE), RUNS * BRANCHES);
    running_close(&running);
    assert_int_equal(atomic_load(&outside.called), RUNS * BRANCHES);
    assert_int_equal(atomic_load(&outside.done), 2 * RUNS * BRANCHES);
    assert_int_equal(atomic_load(&outside.undone), 2 * RUNS * BRANCHES);
}

/* How many steps of the run have completed: those that can be undone, and those that undo. */
static void count_steps(struct running *running, const char *id, int *out_done, int *out_undone)
{
    struct pawl_history history = running_history(running, "w", id, 0);
    *out_done = *out_undone = 0;
    for (size_t i = 0; i < history.step_count; i++) {
        const struct pawl_step_record *step = &history.steps[i];
        bool complete = step->status == PAWL_STEP_COMPLETED;
        *out_undone += complete && strncmp(step->name, "compensate: ", 12) == 0;
        *out_done += complete && (strncmp(step->name, "do ", 3) == 0 || strncmp(step->name, "call ", 5) == 0);
    }
}

TEST(an_interrupt_that_races_completion_undoes_all_of_a_run_or_nothing)
{
    struct outside outside = { 0 };
    struct running running;
    char name[16];
    int interrupted = 0;
    start(&running, &outside, run_branches);
    for (int i = 0; i < RUNS; i++)
        running_create(&running, "w", name_run(i, name));
    for (int i = RUNS; i-- > 0;) {
        pawl_status status = pawl_interrupt(running.engine, "w", name_run(i, name), &running.error);
        if (status != PAWL_INSTANCE_TERMINAL)
            assert_ok(status, running.error);
    }
    assert_true(running_await_all(&running, "w"));
    assert_true(running_await_all(&running, "child"));
    for (int i = 0; i < RUNS; i++) {
        struct pawl_instance instance = running_get(&running, "w", name_run(i, name));
        int done, taken_back;
        count_steps(&running, name, &done, &taken_back);
        if (instance.status == PAWL_COMPLETE) {
            assert_int_equal(taken_back, 0);
            assert_int_equal(done, 2 * BRANCHES);
            continue;
        }
        interrupted++;
        assert_int_equal(instance.status, PAWL_TERMINATED);
        assert_string_equal(instance.error_name, "INTERRUPTED");
        assert_int_equal(taken_back, done);
    }
    assert_true(interrupted > 0);
    running_close(&running);
}

/* ---- Deferreds ----------------------------------------------------------------------------------------------------------------- */

BODY(publish)
{
    return pawl_result(step, out_result, "V", input);
}

WORKFLOW(run_waiting)
{
    const char *token;
    pawl_value *text;
    PAWL_TRY(pawl_deferred_token(run, "answer", &token));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &text, "s", token));
    PAWL_TRY(pawl_do(run, "publish", NULL, publish, text, NULL));
    return pawl_await_deferred(run, "answer", NULL, out_result);
}

enum { TELLERS = 4 };

struct teller {
    pawl_engine *engine;
    char token[300], result[8];
    pawl_status status;
    pthread_t thread;
};

static void *tell(void *user)
{
    struct teller *teller = user;
    teller->status = pawl_deferred_succeed(teller->engine, teller->token, teller->result, NULL);
    return NULL;
}

TEST(of_many_who_finish_a_deferred_at_once_one_wins)
{
    struct outside outside = { 0 };
    struct running running;
    char name[16];
    start(&running, &outside, run_waiting);
    for (int i = 0; i < RUNS; i++) {
        struct teller tellers[TELLERS];
        const struct teller *winner = NULL;
        running_create(&running, "w", name_run(i, name));
        running_await(&running, "w", name, PAWL_WAITING);
        const char *token = running_step(&running, "w", name, "publish")->result_json;
        for (int j = 0; j < TELLERS; j++) {
            tellers[j].engine = running.engine;
            snprintf(tellers[j].token, sizeof tellers[j].token, "%.*s", (int)strlen(token) - 2, token + 1);
            snprintf(tellers[j].result, sizeof tellers[j].result, "%d", j);
            assert_int_equal(pthread_create(&tellers[j].thread, NULL, tell, &tellers[j]), 0);
        }
        for (int j = 0; j < TELLERS; j++) {
            assert_int_equal(pthread_join(tellers[j].thread, NULL), 0);
            if (tellers[j].status == PAWL_OK) {
                assert_null(winner);
                winner = &tellers[j];
            } else if (tellers[j].status != PAWL_INVALID_TOKEN) { /* which it is when the run was faster */
                assert_int_equal(tellers[j].status, PAWL_DEFERRED_COMPLETED);
            }
        }
        assert_non_null(winner);
        struct pawl_instance instance = running_await(&running, "w", name, PAWL_COMPLETE);
        assert_string_equal(instance.output_json, winner->result);
    }
    running_close(&running);
}

/* ---- Repair ------------------------------------------------------------------------------------------------------------------ */

BODY(do_when_mended)
{
    struct outside *outside = pawl_step_user(step);
    return atomic_load(&outside->called) > 0 ? pawl_result(step, out_result, "s", "mended")
                                             : pawl_fail_for_good(step, "Broken", "not yet");
}

WORKFLOW(run_to_be_mended)
{
    PAWL_TRY(pawl_do(run, "before", NULL, do_it, NULL, NULL));
    return pawl_do(run, "fragile", NULL, do_when_mended, NULL, out_result);
}

/* The runner that parked the run has it warm, with the step that failed. */
TEST(a_run_that_waited_for_repair_goes_on_in_the_runner_that_parked_it) /* F2 */
{
    struct outside outside = { 0 };
    struct running running;
    const struct pawl_workflow workflow = {
        .name = "w", .run = run_to_be_mended, .user = &outside, .suspend_on_failure = true
    };
    running_open(&running, false);
    assert_ok(pawl_register(running.engine, &workflow, &running.error), running.error);
    running_start(&running, NULL);
    running_create(&running, "w", "r");
    (void)running_await(&running, "w", "r", PAWL_PAUSED);
    atomic_store(&outside.called, 1);
    assert_ok(pawl_resume(running.engine, "w", "r", &running.error), running.error);
    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_COMPLETE);
    assert_string_equal(instance.output_json, "\"mended\"");
    running_close(&running);
    assert_int_equal(atomic_load(&outside.done), 1);
}
