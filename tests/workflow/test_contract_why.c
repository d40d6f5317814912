/* Contract E: why an instance does not move, and what would move it.  Each thing that a run can wait for, alone and in forks. */

#include "kit/contract_world.h"
#include "kit/why_text.h"

static struct pawl_why_answer ask(struct contract *contract)
{
    struct pawl_why_answer why;
    assert_ok(contract, pawl_why(contract->engine, contract->scope, "w", "i", &why, &contract->error));
    return why;
}

static void assert_why_at(struct contract *contract, const char *expected, const char *file, int line)
{
    struct pawl_why_answer why = ask(contract);
    assert_text_at(why_text(contract->scope, &why.node), expected, file, line);
}
#define assert_why(contract, expected) assert_why_at(contract, expected, __FILE__, __LINE__)

/* The short form, as an instance that is read with pawl_get_run() has it. */
static void assert_short_at(struct contract *contract, const char *expected, const char *file, int line)
{
    struct pawl_instance instance;
    assert_ok(contract, pawl_get_run(contract->engine, contract->scope, "w", "i", 0, &instance, &contract->error));
    assert_text_at(instance.waiting_for != NULL ? why_text(contract->scope, instance.waiting_for) : NULL, expected,
                   file, line);
}
#define assert_short(contract, expected) assert_short_at(contract, expected, __FILE__, __LINE__)

/* ---- One thing ------------------------------------------------------------------------------------------------- */

static const struct pawl_step_options twice = { .retries = 1, .delay = "10 s" };
static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };

WORKFLOW(run_one)
{
    const char *what = pawl_value_string(params, "", ""), *token;
    struct pawl_event event;
    if (strcmp(what, "sleep") == 0)
        return pawl_sleep(run, "nap", "1 hour");
    if (strcmp(what, "event") == 0)
        return pawl_wait_for_event(run, "payment", "paid", "2 hours", &event);
    if (strcmp(what, "call") == 0)
        return pawl_call(run, "charge", "charge", NULL, NULL, out_result);
    if (strcmp(what, "child") == 0)
        return pawl_run_child(run, "ship", "sleeper", NULL, NULL, out_result);
    if (strcmp(what, "retry") == 0)
        return pawl_do(run, "flaky", &twice, contract_body_fails, NULL, out_result);
    PAWL_TRY(pawl_deferred_token(run, "approval", &token));
    if (strcmp(what, "promised") == 0)
        PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_await_deferred(run, "approval", NULL, out_result);
}

WORKFLOW(run_sleeper)
{
    return pawl_sleep(run, "nap", "1 day");
}

TEST_OF(contract, E_a_run_that_waits_says_for_what_and_which_command_moves_it)
{
    static const struct {
        const char *params, *why, *in_short;
    } waits[] = {
        { "\"sleep\"", "sleeping nap +3600s", "sleeping nap +3600s" },
        { "\"event\"", "waitingForEvent payment paid +7200s !send-event", "waitingForEvent payment paid +7200s" },
        { "\"call\"", "waitingForWorker charge @charge !claim", "waitingForWorker charge @charge" },
        { "\"child\"", "waitingForChild await: ship is waiting !why", "waitingForChild await: ship" },
        { "\"retry\"", "waitingForRetry flaky +10s", "waitingForRetry flaky +10s" },
        { "\"deferred\"", "waitingForDeferred approval !succeed", "waitingForDeferred approval" },
        /* Its token was given away, but the run does not wait for it yet. */
        { "\"promised\"", "sleeping nap +3600s", "sleeping nap +3600s" },
    };
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        contract_begin_again(contract);
        contract_register(contract, "sleeper", run_sleeper);
        contract_start(contract, run_one, waits[i].params);
        assert_why(contract, waits[i].why);
        assert_short(contract, waits[i].in_short);
        assert_int_equal(ask(contract).node.since_ms, CONTRACT_START_MS);
        assert_int_equal(ask(contract).node.branch, -1);
    }
}

TEST_OF(contract, E_a_command_says_what_it_is_about)
{
    contract_start(contract, run_one, "\"event\"");
    struct pawl_why_command command = ask(contract).node.command;
    assert_text(command.workflow, "w");
    assert_text(command.id, "i");
    assert_text(command.event_type, "paid");
    assert_null(command.function);

    contract_begin_again(contract);
    contract_register(contract, "sleeper", run_sleeper);
    contract_start(contract, run_one, "\"child\"");
    command = ask(contract).node.command;
    assert_text(command.workflow, "sleeper");
    assert_text(command.id, contract_child(contract).id);

    contract_begin_again(contract);
    contract_start(contract, run_one, "\"call\"");
    command = ask(contract).node.command;
    assert_text(command.function, "charge");
    assert_null(command.workflow);
    assert_int_equal(ask(contract).node.runners, 0);
}

TEST_OF(contract, E_a_job_that_was_taken_says_by_whom_and_until_when)
{
    static const char *const functions[] = { "charge" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs;
    size_t count;
    options.functions = functions;
    options.function_count = 1;
    contract_start(contract, run_one, "\"call\"");
    contract_jump(contract, MINUTE_MS);
    assert_ok(contract, pawl_job_claim(contract->engine, contract->scope, &options, &jobs, &count, &contract->error));
    assert_int_equal(count, 1);
    struct pawl_why_answer why = ask(contract);
    assert_int_equal(why.node.kind, PAWL_WHY_WORKER);
    assert_int_equal(why.node.command.verb, PAWL_VERB_WATCH);
    assert_int_equal(why.node.since_ms, CONTRACT_START_MS + MINUTE_MS);
    assert_true(why.node.step->job->is_outside);
    assert_null(why.node.step->job->runner_id);
    assert_int_equal(why.node.step->job->leased_until_ms, jobs[0].leased_until_ms);
    /* Its lease is over: anybody may have it. */
    contract_jump(contract, HOUR_MS / 60);
    assert_int_equal(ask(contract).node.command.verb, PAWL_VERB_CLAIM);
}

/* ---- Forks ----------------------------------------------------------------------------------------------------- */

BRANCH(branch_sleeps)
{
    return pawl_sleep(run, pawl_run_format(run, "%s-nap", pawl_value_string(input, "", "?")), "1 hour");
}

BRANCH(branch_waits)
{
    const char *type = pawl_value_string(input, "", "?");
    struct pawl_event event;
    return pawl_wait_for_event(run, pawl_run_format(run, "wait-%s", type), type, "2 hours", &event);
}

BRANCH(branch_races)
{
    struct pawl_branch branches[] = { { .run = branch_waits, .input = pawl_value_item(input, 0) },
                                      { .run = branch_waits, .input = pawl_value_item(input, 1) } };
    return pawl_first(run, "race", branches, 2, NULL);
}

WORKFLOW(run_forks)
{
    struct pawl_branch branches[] = { { .run = branch_sleeps, .input = pawl_value_item(params, 0) },
                                      { .run = branch_races, .input = pawl_value_item(params, 1) } };
    return pawl_all(run, "both", branches, 2, 0);
}

TEST_OF(contract, E_forks_are_a_tree_and_what_is_over_is_not_in_it)
{
    contract_start(contract, run_forks, "[\"a\",[\"b\",\"c\"]]");
    assert_why(contract, "all both !send-event(sleeping a-nap +3600s, first race("
                         "waitingForEvent wait-b b +7200s !send-event, waitingForEvent wait-c c +7200s !send-event))");
    struct pawl_why_answer why = ask(contract);
    assert_text(why.node.command.event_type, "b");
    assert_int_equal(why.node.parts->branch, 0);
    assert_int_equal(why.node.parts->next->branch, 1);
    assert_int_equal(why.node.parts->next->parts->next->branch, 1);
    contract_send(contract, "c", NULL);
    contract_idle(contract);
    assert_why(contract, "all both(sleeping a-nap +3600s)");
    assert_short(contract, "all both(sleeping a-nap +3600s)");
}

WORKFLOW(run_crowd)
{
    enum { CROWD = 250 };
    struct pawl_branch branches[CROWD];
    for (int i = 0; i < CROWD; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", pawl_run_format(run, "%03d", i)));
        branches[i] = (struct pawl_branch){ .run = branch_sleeps, .input = input };
    }
    return pawl_all(run, "crowd", branches, CROWD, 0);
}

static size_t count_parts(const struct pawl_why_node *node)
{
    size_t count = 0;
    for (const struct pawl_why_node *part = node->parts; part != NULL; part = part->next)
        count++;
    return count;
}

TEST_OF(contract, E_of_many_steps_that_wait_some_are_shown_and_the_others_counted)
{
    struct pawl_instance instance;
    contract_start(contract, run_crowd, NULL);
    struct pawl_why_answer why = ask(contract);
    assert_int_equal(count_parts(&why.node), PAWL_WAITS_SHOWN_MAX);
    assert_int_equal(why.node.more, 250 - PAWL_WAITS_SHOWN_MAX);
    assert_text(why.node.fork, "crowd");
    assert_ok(contract, pawl_get_run(contract->engine, contract->scope, "w", "i", 0, &instance, &contract->error));
    assert_int_equal(count_parts(instance.waiting_for), PAWL_WAITS_SHOWN);
    assert_int_equal(instance.waiting_for->more, 250 - PAWL_WAITS_SHOWN);
}

/* ---- Not yet, and not by itself -------------------------------------------------------------------------------- */

TEST_OF(contract, E_a_paused_run_says_what_it_waits_for_beneath)
{
    contract_start(contract, run_one, "\"event\"");
    contract_jump(contract, MINUTE_MS);
    contract_control(contract, pawl_pause);
    assert_why(contract, "paused !resume(waitingForEvent payment paid +7200s !send-event)");
    assert_short(contract, "paused(waitingForEvent payment paid +7200s)");
    assert_int_equal(ask(contract).node.since_ms, CONTRACT_START_MS + MINUTE_MS);
}

/* The worlds' runner is ticked: it takes nothing up by itself. */
TEST_OF(contract, E_a_due_run_that_nobody_takes_up_says_so)
{
    contract_create(contract, run_one, "\"sleep\"");
    assert_why(contract, "unserved !tick");
    assert_short(contract, NULL);
    contract_idle(contract);
    contract_jump(contract, HOUR_MS + 1999);
    assert_why(contract, "sleeping nap +3600s");
    contract_jump(contract, 1);
    assert_why(contract, "unserved !tick");
    assert_int_equal(ask(contract).node.since_ms, CONTRACT_START_MS + HOUR_MS);
    assert_int_equal(ask(contract).node.runners, 0);
    assert_text(ask(contract).last_step->name, "nap");
}

/* Called from within the step, while the runner is at it. */
BODY(body_asks)
{
    struct contract *contract = pawl_step_user(step);
    struct pawl_why_answer why;
    if (pawl_why(contract->engine, contract->scope, "w", "i", &why, NULL) != PAWL_OK)
        return pawl_fail(step, "Broken", "it cannot be asked");
    contract_trace(contract, "%s %s; ", why_text(contract->scope, &why.node),
                   why.node.runner_name != NULL ? "by name" : "");
    if (pawl_pause(contract->engine, "w", "i", NULL) != PAWL_OK ||
        pawl_why(contract->engine, contract->scope, "w", "i", &why, NULL) != PAWL_OK)
        return pawl_fail(step, "Broken", "it cannot be paused");
    contract_trace(contract, "%s", why_text(contract->scope, &why.node));
    return PAWL_OK;
}

WORKFLOW(run_asks)
{
    return pawl_do(run, "ask", NULL, body_asks, NULL, NULL);
}

TEST_OF(contract, E_a_run_that_a_runner_works_on_names_it)
{
    contract_start(contract, run_asks, NULL);
    assert_text(contract->trace, "running !watch by name; waitingForPause !resume");
    assert_why(contract, "paused !resume");
}

/* ---- Repair ---------------------------------------------------------------------------------------------------- */

WORKFLOW(run_child_fails)
{
    return pawl_do(run, "work", &once, contract_body_fails, NULL, out_result);
}

WORKFLOW(run_mother)
{
    return pawl_run_child(run, "ship", "frail", NULL, NULL, out_result);
}

static void start_suspending(struct contract *contract, pawl_workflow_fn *run)
{
    contract_register(contract, "frail", run_child_fails);
    contract_register_as(contract, (struct pawl_workflow){ .name = "w", .run = run, .suspend_on_failure = true });
    assert_ok(contract, pawl_world_create(contract->world, "w", "i", NULL, &contract->error));
    contract_idle(contract);
}

TEST_OF(contract, E_a_run_that_waits_for_repair_names_the_steps_that_failed)
{
    start_suspending(contract, run_child_fails);
    assert_why(contract, "waitingForRepair !resume(failed work)");
    assert_short(contract, "waitingForRepair(failed work)");
    assert_text(ask(contract).node.parts->step->error_name, "Broken");

    contract_begin_again(contract);
    start_suspending(contract, run_mother);
    assert_why(contract, "waitingForRepair !retry(failed await: ship is errored !retry)");
    struct pawl_why_command command = ask(contract).node.command;
    assert_text(command.workflow, "frail");
    assert_text(command.id, contract_child(contract).id);
    assert_ok(contract, pawl_terminate(contract->engine, "w", "i", &contract->error));
}

BRANCH(branch_fails)
{
    return pawl_do(run, "work", &once, contract_body_fails, NULL, out_result);
}

WORKFLOW(run_fails_beside_a_wait)
{
    struct pawl_branch branches[] = { { .run = branch_waits }, { .run = branch_fails } };
    pawl_value *input;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", "go"));
    branches[0].input = input;
    return pawl_all(run, "both", branches, 2, 0);
}

TEST_OF(contract, E_a_run_that_waits_for_repair_says_what_else_it_waits_for)
{
    start_suspending(contract, run_fails_beside_a_wait);
    assert_why(contract, "waitingForRepair !resume(failed work, "
                         "all both(waitingForEvent wait-go go +7200s !send-event))");
}

/* ---- Ends ------------------------------------------------------------------------------------------------------ */

WORKFLOW(run_fails_at_once)
{
    return pawl_run_fail(run, "Refused", "at once");
}

TEST_OF(contract, E_a_run_that_has_ended_says_how_and_what_is_possible)
{
    contract_start(contract, run_one, "\"sleep\"");
    contract_advance(contract, "1 hour");
    assert_why(contract, "complete !restart");
    assert_int_equal(ask(contract).node.since_ms, CONTRACT_START_MS + HOUR_MS);
    assert_short(contract, NULL);

    contract_begin_again(contract);
    contract_start(contract, run_one, "\"sleep\"");
    contract_control(contract, pawl_terminate);
    assert_why(contract, "terminated !restart");

    contract_begin_again(contract);
    contract_start(contract, run_fails_at_once, NULL); /* it keeps nothing */
    assert_why(contract, "errored !restart");
    assert_null(ask(contract).last_step);

    contract_begin_again(contract);
    contract_start(contract, run_child_fails, NULL);
    assert_why(contract, "errored !retry(failed work)");
}

WORKFLOW(run_mother_copes)
{
    PAWL_TRY(run_mother(run, params, out_result) == PAWL_SUSPENDED ? PAWL_SUSPENDED : PAWL_OK);
    return pawl_run_fail(run, "Refused", "for another reason");
}

TEST_OF(contract, E_a_run_that_its_child_failed_goes_on_after_the_child)
{
    contract_register(contract, "frail", run_child_fails);
    contract_start(contract, run_mother, NULL);
    assert_why(contract, "errored !retry(failed await: ship is errored !retry)");
    struct pawl_instance child = contract_child(contract);
    assert_text(ask(contract).node.command.id, child.id);
    assert_ok(contract, pawl_restart(contract->engine, "frail", child.id, &contract->error));
    assert_why(contract, "errored !retry(failed await: ship is queued)");
    assert_text(ask(contract).node.command.id, "i");
    assert_ok(contract, pawl_terminate(contract->engine, "frail", child.id, &contract->error));
    assert_why(contract, "errored !restart(failed await: ship is terminated !restart)");

    contract_begin_again(contract);
    contract_register(contract, "frail", run_child_fails);
    contract_start(contract, run_mother_copes, NULL);
    assert_why(contract, "errored !retry");
}

/* ---- Undoing --------------------------------------------------------------------------------------------------- */

static const struct pawl_compensation by_failing = { .undo = contract_body_fails, .options = &twice };
static const struct pawl_step_options clinging = { .compensate = &by_failing };

WORKFLOW(run_clings)
{
    PAWL_TRY(pawl_do(run, "charge", &clinging, contract_body_ok, NULL, NULL));
    return pawl_sleep(run, "nap", "1 hour");
}

TEST_OF(contract, E_a_run_that_is_undone_waits_in_what_undoes_it_alone)
{
    contract_start(contract, run_clings, NULL);
    assert_false(ask(contract).is_undone);
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    assert_why(contract, "waitingForRetry compensate: charge +10s !watch");
    assert_short(contract, "waitingForRetry compensate: charge +10s");
    assert_int_equal(ask(contract).instance.demand, PAWL_DEMAND_INTERRUPT);
    assert_true(ask(contract).is_undone);
    contract_control(contract, pawl_pause);
    assert_why(contract, "paused !resume(waitingForRetry compensate: charge +10s)");
    contract_control(contract, pawl_resume);
    contract_advance(contract, "10 s");
    assert_why(contract, "terminated !restart(failed compensate: charge)");
    assert_text(ask(contract).node.parts->step->undoes, "charge");
    assert_true(ask(contract).is_undone);
}

/* ---- Asking wrongly -------------------------------------------------------------------------------------------- */

TEST_OF(contract, E_why_names_what_is_wrong_with_the_question)
{
    struct pawl_why_answer why;
    contract_start(contract, run_one, "\"sleep\"");
    assert_status(pawl_why(contract->engine, contract->scope, "none", "i", &why, &contract->error),
                  PAWL_WORKFLOW_NOT_FOUND);
    assert_status(pawl_why(contract->engine, contract->scope, "w", "none", &why, &contract->error),
                  PAWL_INSTANCE_NOT_FOUND);
    assert_says(contract->error.text, "none");
    assert_status(pawl_why(contract->engine, contract->scope, "w", "i", NULL, &contract->error), PAWL_INVALID);
    assert_says(contract->error.text, "out_why");
    assert_status(pawl_why(contract->engine, NULL, "w", "i", &why, NULL), PAWL_INVALID);
    assert_status(pawl_why(NULL, contract->scope, "w", "i", &why, NULL), PAWL_INVALID);
}
