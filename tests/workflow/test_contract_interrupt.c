/* Contract F1: interrupt.  A run is asked to stop; its next durable call says so, what it did is undone, and it ends. */
#include "kit/contract_world.h"
#include "kit/sweeping.h"

static const struct pawl_compensation by_tracing = { .undo = contract_body_traces };
static const struct pawl_step_options undone = { .compensate = &by_tracing };

static void assert_interrupted_at(struct contract *contract, const char *trace, const char *file, int line)
{
    struct pawl_instance instance = contract_get(contract);
    assert_instance_at(contract, PAWL_TERMINATED, file, line);
    assert_text_at(instance.error_name, "INTERRUPTED", file, line);
    assert_text_at(contract->trace, trace, file, line);
}
#define assert_interrupted(contract, trace) assert_interrupted_at(contract, trace, __FILE__, __LINE__)

#define UNDONE_A "compensate: a {\"input\":\"a\",\"result\":\"a\"}; "

static pawl_status step_a(pawl_run *run)
{
    pawl_value *input;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", "a"));
    return pawl_do(run, "a", &undone, contract_body_ok, input, NULL);
}

/* ---- Every kind of wait ----------------------------------------------------------------------------------------------------- */

WORKFLOW(run_child)
{
    pawl_value *input;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", "child"));
    PAWL_TRY(pawl_do(run, "of the child", &undone, contract_body_ok, input, NULL));
    return pawl_sleep(run, "nap", "1 day");
}

BRANCH(branch_wait)
{
    struct pawl_event event;
    int which = (int)pawl_value_int(input, NULL, 0);
    switch (which) {
    case 0:
        return pawl_sleep(run, "sleep", "1 day");
    case 1:
        return pawl_wait_for_event(run, "event", "go", NULL, &event);
    case 2:
        return pawl_await_deferred(run, "deferred", NULL, out_result);
    case 3:
        return pawl_call(run, "call", "nobody-has-it", NULL, input, out_result);
    case 4:
        return pawl_do(run, "retried", NULL, contract_body_fails, input, out_result);
    default:
        return pawl_run_child(run, "child", "child", NULL, input, out_result);
    }
}
enum { WAIT_COUNT = 6 };

WORKFLOW(run_wait)
{
    PAWL_TRY(step_a(run));
    pawl_status status = branch_wait(run, params, out_result);
    if (status != PAWL_SUSPENDED)
        contract_trace(pawl_run_user(run), "%s; ", pawl_status_name(status));
    return status;
}

TEST_OF(contract, F1_every_kind_of_wait_is_interrupted_and_what_was_done_is_undone)
{
    for (int i = 0; i < WAIT_COUNT; i++) {
        char params[8];
        snprintf(params, sizeof params, "%d", i);
        contract_begin_again(contract);
        contract_register(contract, "child", run_child);
        contract_start(contract, run_wait, params);
        assert_instance(contract, PAWL_WAITING);
        contract_control(contract, pawl_interrupt);
        assert_true(contract_get(contract).is_interrupted);
        assert_int_equal(contract_get(contract).demand, PAWL_DEMAND_INTERRUPT);
        contract_control(contract, pawl_interrupt); /* nothing more happens */
        contract_idle(contract);
        assert_instance(contract, PAWL_TERMINATED);
        assert_text(contract_get(contract).error_name, "INTERRUPTED");
        assert_false(contract_get(contract).is_interrupted);
        assert_int_equal(contract_get(contract).demand, PAWL_DEMAND_NONE);
        assert_says(contract->trace, "INTERRUPTED; ");
        assert_says(contract->trace, UNDONE_A);
        assert_status(pawl_interrupt(contract->engine, "w", "i", &contract->error), PAWL_INSTANCE_TERMINAL);
    }
}

TEST_OF(contract, F1_attached_children_are_interrupted_and_undo_what_they_did)
{
    contract_register(contract, "child", run_child);
    contract_start(contract, run_wait, "5");
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    struct pawl_instance child = contract_child(contract);
    assert_int_equal(child.status, PAWL_TERMINATED);
    assert_text(child.error_name, "INTERRUPTED");
    assert_says(contract->trace, "compensate: of the child {\"input\":\"child\",\"result\":\"child\"}; ");
}

WORKFLOW(run_branches)
{
    struct pawl_branch branches[WAIT_COUNT];
    size_t winner;
    PAWL_TRY(step_a(run));
    for (int i = 0; i < WAIT_COUNT; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "i", i));
        branches[i] = (struct pawl_branch){ .run = branch_wait, .input = input };
    }
    pawl_status status = pawl_value_bool(params, NULL, false) ? pawl_first(run, "race", branches, WAIT_COUNT, &winner)
                                                              : pawl_all(run, "all", branches, WAIT_COUNT, 0);
    if (status != PAWL_SUSPENDED)
        contract_trace(pawl_run_user(run), "%s; ", pawl_status_name(status));
    return status;
}

TEST_OF(contract, F1_branches_that_wait_are_interrupted_all_of_them_and_a_race_is_not_decided_by_it)
{
    for (int race = 0; race <= 1; race++) {
        contract_begin_again(contract);
        contract_register(contract, "child", run_child);
        contract_start(contract, run_branches, race ? "true" : "false");
        contract_control(contract, pawl_interrupt);
        contract_idle(contract);
        assert_instance(contract, PAWL_TERMINATED);
        assert_says(contract->trace, "INTERRUPTED; " UNDONE_A);
    }
}

/* ---- What the function makes of it ------------------------------------------------------------------------------------------ */

WORKFLOW(run_handling)
{
    PAWL_TRY(step_a(run));
    pawl_status status = pawl_sleep(run, "nap", "1 day");
    return status == PAWL_INTERRUPTED ? pawl_return(run, out_result, "s", "never mind") : status;
}

TEST_OF(contract, F1_an_interruption_cannot_be_swallowed)
{
    contract_start(contract, run_handling, NULL);
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    assert_interrupted(contract, UNDONE_A);
    assert_text(contract_get(contract).output_json, NULL);
}

BODY(interrupt_own_run)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    return pawl_interrupt(pawl_step_engine(step), "w", "i", NULL);
}

/* The body is under way when the run is interrupted, and fails for good. */
BODY(interrupt_and_fail)
{
    pawl_status status = pawl_interrupt(pawl_step_engine(step), "w", "i", NULL);
    return status == PAWL_OK ? pawl_fail_for_good(step, "Refused", "after all") : status;
}

WORKFLOW(run_failing_with_a_child)
{
    PAWL_TRY(pawl_start_child(run, "begin", "child", NULL, params, NULL));
    return pawl_do(run, "body", NULL, interrupt_and_fail, NULL, NULL);
}

TEST_OF(contract, F1_children_of_a_run_that_fails_while_it_is_interrupted_are_interrupted)
{
    contract_register(contract, "child", run_child);
    contract_start(contract, run_failing_with_a_child, NULL);
    contract_idle(contract);
    assert_errored(contract, "Refused", "after all");
    assert_int_equal(contract_child(contract).status, PAWL_TERMINATED);
    assert_text(contract_child(contract).error_name, "INTERRUPTED");
}

WORKFLOW(run_interrupted_in_a_step)
{
    PAWL_TRY(step_a(run));
    PAWL_TRY(pawl_do(run, "body", &undone, interrupt_own_run, NULL, NULL));
    if (pawl_value_bool(params, NULL, false))
        PAWL_TRY(pawl_do(run, "more", &undone, contract_body_ok, NULL, NULL));
    return pawl_return(run, out_result, "s", "done");
}

TEST_OF(contract, F1_a_body_under_way_is_finished_first_and_then_undone_as_well)
{
    contract_start(contract, run_interrupted_in_a_step, "true");
    assert_interrupted(contract, "compensate: body {}; " UNDONE_A);
    assert_false(contract_has_step(contract, "more"));
}

TEST_OF(contract, F1_an_interrupt_before_the_end_wins_although_no_durable_call_is_left)
{
    contract_start(contract, run_interrupted_in_a_step, "false");
    assert_interrupted(contract, "compensate: body {}; " UNDONE_A);
    assert_int_equal(contract->bodies, 2);
}

/* ---- Other moments ------------------------------------------------------------------------------------------------------------ */

TEST_OF(contract, F1_an_interrupt_lifts_a_pause)
{
    contract_start(contract, run_handling, NULL);
    contract_control(contract, pawl_pause);
    assert_instance(contract, PAWL_PAUSED);
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    assert_interrupted(contract, UNDONE_A);
}

TEST_OF(contract, F1_a_run_that_has_not_begun_ends_without_having_done_anything)
{
    contract_create(contract, run_handling, NULL);
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    assert_interrupted(contract, "");
    assert_int_equal(contract->bodies, 0);
}

BODY(undo_after_hours)
{
    if (pawl_step_attempt(step) < 3)
        return pawl_fail(step, "NotNow", "attempt %d", (int)pawl_step_attempt(step));
    return contract_body_traces(step, input, out_result);
}

WORKFLOW(run_slowly_undone)
{
    static const struct pawl_step_options hours = { .retries = 5, .delay = "5 hours" };
    static const struct pawl_compensation slowly = { .undo = undo_after_hours, .options = &hours };
    static const struct pawl_step_options slow = { .compensate = &slowly };
    PAWL_TRY(step_a(run));
    PAWL_TRY(pawl_do(run, "slow", &slow, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_do(run, "after the nap", &undone, contract_body_ok, NULL, NULL);
}

TEST_OF(contract, F1_an_interrupted_run_goes_nowhere_while_what_undoes_it_is_tried_again)
{
    contract_start(contract, run_slowly_undone, NULL);
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    assert_instance(contract, PAWL_WAITING);
    contract_advance(contract, "1 day"); /* the nap would be over by now */
    assert_interrupted(contract, "compensate: slow {}; " UNDONE_A);
    assert_false(contract_has_step(contract, "after the nap"));
    assert_int_equal(contract->bodies, 2);
}

WORKFLOW(run_failing_slowly_undone)
{
    static const struct pawl_step_options hours = { .retries = 5, .delay = "5 hours" };
    static const struct pawl_compensation slowly = { .undo = undo_after_hours, .options = &hours };
    static const struct pawl_step_options slow = { .compensate = &slowly };
    PAWL_TRY(pawl_do(run, "slow", &slow, contract_body_ok, NULL, NULL));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, F1_an_interrupt_of_a_run_that_is_being_undone_changes_nothing)
{
    contract_start(contract, run_failing_slowly_undone, NULL);
    assert_instance(contract, PAWL_WAITING);
    contract_control(contract, pawl_interrupt);
    contract_advance(contract, "1 day");
    assert_errored(contract, "Refused", "after all");
    assert_text(contract->trace, "compensate: slow {}; ");
}

BODY(undo_never)
{
    return pawl_fail_for_good(step, "Stuck", "it cannot be undone");
}

WORKFLOW(run_never_undone)
{
    static const struct pawl_compensation never = { .undo = undo_never };
    static const struct pawl_step_options stuck = { .compensate = &never };
    PAWL_TRY(step_a(run));
    PAWL_TRY(pawl_do(run, "b", &stuck, contract_body_ok, NULL, NULL));
    return pawl_sleep(run, "nap", "1 hour");
}

TEST_OF(contract, F1_an_interrupted_run_that_could_not_be_undone_says_so)
{
    contract_start(contract, run_never_undone, NULL);
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    struct pawl_instance instance = contract_get(contract);
    assert_int_equal(instance.status, PAWL_TERMINATED);
    assert_text(instance.error_name, "COMPENSATION_FAILED");
    assert_says(instance.error_message, "step \"compensate: b\" failed for good: Stuck: it cannot be undone");
    assert_text(contract->trace, UNDONE_A);
}

/* ---- Crashes -------------------------------------------------------------------------------------------------------------------- */

BODY(interrupt_swept)
{
    pawl_status status = pawl_interrupt(pawl_step_engine(step), "w", "sweep", NULL);
    return status == PAWL_INSTANCE_TERMINAL ? PAWL_OK : status;
}

WORKFLOW(run_interrupter)
{
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_do(run, "interrupt", NULL, interrupt_swept, NULL, NULL);
}

WORKFLOW(run_swept_child)
{
    static const struct pawl_compensation plainly = { .undo = sweeping_plain };
    static const struct pawl_step_options options = { .compensate = &plainly };
    PAWL_TRY(pawl_do(run, "begin", &options, sweeping_plain, params, NULL));
    return pawl_sleep(run, "nap", "1 day");
}

WORKFLOW(run_to_be_swept)
{
    static const struct pawl_child_options loose = { .id = "interrupter", .detached = true };
    static const struct pawl_compensation plainly = { .undo = sweeping_plain };
    static const struct pawl_step_options options = { .compensate = &plainly };
    PAWL_TRY(pawl_do(run, "one", &options, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_do(run, "two", &options, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_start_child(run, "interrupter", "interrupter", &loose, NULL, NULL));
    return pawl_run_child(run, "child", "child", NULL, params, out_result);
}

TEST_OF(sweeping, F1_a_crash_anywhere_changes_nothing_and_undoes_nothing_twice)
{
    sweeping_add(sweeping, "w", run_to_be_swept);
    sweeping_add(sweeping, "interrupter", run_interrupter);
    sweeping_add(sweeping, "child", run_swept_child);
    sweeping_sweep(sweeping);
    sweeping_is_clean(sweeping, "terminated");
}
