/* test_authoring.c - wrong use of workflow.h inside workflows and steps is told to the author: as the run's failure, with a
 * name and a text, and never by a crash or an endless repetition. */
#include "kit/contract_world.h"

#include "base/limits.h"

/* ---- Calls without what they need ------------------------------------------------------------------------------------ */

/* The call answered this, and left this failure behind. */
static void trace_failure(pawl_run *run, pawl_status status)
{
    contract_trace(pawl_run_user(run), "%s: %s: %s\n", pawl_status_name(status), pawl_run_failure(run).name,
                   pawl_run_failure(run).message);
}

WORKFLOW(call_without_names)
{
    contract_trace(pawl_run_user(run), "\"%s\"\n", pawl_run_failure(run).name);
    trace_failure(run, pawl_do(run, NULL, NULL, contract_body_ok, params, NULL));
    trace_failure(run, pawl_sleep(run, NULL, "1 hour"));
    trace_failure(run, pawl_sleep_ms(run, NULL, 1));
    trace_failure(run, pawl_sleep_until(run, NULL, 1));
    trace_failure(run, pawl_wait_for_event(run, NULL, "go", NULL, NULL));
    return PAWL_OK;
}

TEST_OF(contract, A3_a_step_without_a_name_is_refused_whatever_its_kind)
{
    const char *refusal = "INVALID_STEP_NAME: INVALID_STEP_NAME: a step needs a name\n";

    contract_start(contract, call_without_names, NULL);

    assert_output(contract, NULL);
    const char *at = contract->trace;
    assert_int_equal(strncmp(at, "\"\"\n", 3), 0);
    at += 3;
    for (int i = 0; i < 5; i++, at += strlen(refusal))
        assert_int_equal(strncmp(at, refusal, strlen(refusal)), 0);
    assert_int_equal(contract_history(contract, 0).step_count, 0);
}

WORKFLOW(call_without_body)
{
    return pawl_do(run, "step", NULL, NULL, NULL, NULL);
}

TEST_OF(contract, A3_a_step_without_a_body_fails_the_run)
{
    contract_start(contract, call_without_body, NULL);

    assert_errored(contract, "INVALID", "a step needs a body");
}

WORKFLOW(sleep_for_nothing)
{
    return pawl_sleep(run, "nap", NULL);
}

TEST_OF(contract, A10_a_sleep_without_a_duration_fails_the_run)
{
    contract_start(contract, sleep_for_nothing, NULL);

    assert_errored(contract, "INVALID_DURATION", NULL);
    assert_says(contract_get(contract).error_message, "\"\" is not a duration");
}

WORKFLOW(wait_for_nothing)
{
    return pawl_wait_for_event(run, "wait", NULL, NULL, NULL);
}

TEST_OF(contract, A9_a_wait_without_a_type_fails_the_run)
{
    contract_start(contract, wait_for_nothing, NULL);

    assert_errored(contract, "INVALID_EVENT_TYPE", NULL);
}

WORKFLOW(fail_without_name)
{
    return pawl_run_fail(run, NULL, "number %d", 5);
}

TEST_OF(contract, A2_a_failure_without_a_name_is_FAILED)
{
    contract_start(contract, fail_without_name, NULL);

    assert_errored(contract, "FAILED", "number 5");
}

WORKFLOW(suspend_for_nothing)
{
    return PAWL_SUSPENDED;
}

/* Otherwise nothing would ever wake it. */
TEST_OF(contract, A2_a_run_that_says_suspended_although_nothing_did_has_failed)
{
    contract_start(contract, suspend_for_nothing, NULL);

    assert_errored(contract, "SUSPENDED_FOR_NOTHING", NULL);
}

WORKFLOW(return_what_cannot_be)
{
    return pawl_return(run, out_result, "s", "\xff");
}

TEST_OF(contract, A16_a_result_that_is_no_utf_8_fails_the_run)
{
    contract_start(contract, return_what_cannot_be, NULL);

    assert_errored(contract, "INVALID", NULL);
    assert_says(contract_get(contract).error_message, "result");
}

/* ---- Branches ------------------------------------------------------------------------------------------------------------ */

BRANCH(branch_ok)
{
    return PAWL_OK;
}

/* Without a durable call having failed. */
BRANCH(branch_bare)
{
    return PAWL_CONFLICT;
}

WORKFLOW(fork_badly)
{
    struct pawl_branch branches[] = { { .run = branch_ok }, { .run = NULL } };
    struct pawl_branch *many = NULL;
    trace_failure(run, pawl_all(run, "all", branches, 2, 0));
    trace_failure(run, pawl_first(run, "race", branches, 2, NULL));
    trace_failure(run, pawl_all(run, "all", many, 1, 0));
    return PAWL_OK;
}

TEST_OF(contract, A11_branches_without_a_function_are_refused_by_position)
{
    contract_start(contract, fork_badly, NULL);

    assert_output(contract, NULL);
    assert_text(contract->trace, "FAILED: INVALID: branch 1 has no function\n"
                                 "FAILED: INVALID: branch 1 has no function\n"
                                 "FAILED: INVALID: branch 0 has no function\n");
}

WORKFLOW(fork_too_many)
{
    static struct pawl_branch branches[PW_BRANCHES_MAX + 1];
    for (size_t i = 0; i < PW_BRANCHES_MAX + 1; i++)
        branches[i] = (struct pawl_branch){ .run = branch_ok };
    return pawl_all(run, "all", branches, PW_BRANCHES_MAX + 1, 0);
}

TEST_OF(contract, A11_more_than_10000_branches_are_refused)
{
    contract_start(contract, fork_too_many, NULL);

    assert_errored(contract, "INVALID", NULL);
    assert_says(contract_get(contract).error_message, "10001");
}

WORKFLOW(fork_bare)
{
    struct pawl_branch branches[] = { { .run = branch_ok }, { .run = branch_bare } };
    return pawl_all(run, "all", branches, 2, 0);
}

TEST_OF(contract, A11_a_branch_that_answers_a_bare_status_fails_with_its_name_and_text)
{
    contract_start(contract, fork_bare, NULL);

    assert_errored(contract, pawl_status_name(PAWL_CONFLICT), pawl_status_text(PAWL_CONFLICT));
}

/* ---- In steps ------------------------------------------------------------------------------------------------------------- */

static pawl_status mutate_nothing(void *connection, const void *data, size_t size)
{
    (void)connection;
    (void)data;
    (void)size;
    return PAWL_OK;
}

BODY(register_badly)
{
    struct contract *contract = pawl_step_user(step);
    const pawl_status answers[] = {
        pawl_step_sql(step, NULL, NULL),
        pawl_step_sql(step, "SELECT $1", "{s:i}", "one", 1),
        pawl_step_sql(step, "SELECT $1", "[s]", "\xff"),
        pawl_step_sql_on_failure(step, NULL, NULL),
        pawl_step_mutate(step, PAWL_WITH_SUCCESS, NULL, NULL, 0),
        pawl_step_create(step, NULL, "j", input),
        pawl_step_send_event(step, NULL, "i", "go", input),
        pawl_step_send_event(step, "w", NULL, "go", input),
        pawl_step_send_event(step, "w", "i", NULL, input),
        pawl_step_mutate(step, PAWL_WITH_SUCCESS, mutate_nothing, NULL, 0),
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        contract_trace(contract, "%s ", pawl_status_name(answers[i]));
    return PAWL_OK;
}

WORKFLOW(step_badly)
{
    return pawl_do(run, "step", NULL, register_badly, params, NULL);
}

TEST_OF(contract, A13_a_change_without_what_it_needs_is_refused_and_the_others_are_made)
{
    contract_start(contract, step_badly, NULL);

    assert_output(contract, NULL);
    assert_text(contract->trace, "INVALID INVALID INVALID INVALID INVALID INVALID INVALID INVALID INVALID OK ");
}

/* Answers the status that its input names. */
BODY(answer_status)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    return (pawl_status)contract->number;
}

WORKFLOW(step_with_status)
{
    return pawl_do(run, "step", NULL, answer_status, params, NULL);
}

/* The same call would be refused again: nothing is gained by trying. */
static void misuse_fails_once(struct contract *contract, pawl_status status)
{
    contract->number = (int64_t)status;

    contract_start(contract, step_with_status, NULL);

    assert_errored(contract, pawl_status_name(status), pawl_status_text(status));
    assert_int_equal(contract->bodies, 1);
}

TEST_OF(contract, A6_a_step_that_answers_INVALID_is_not_tried_again)
{
    misuse_fails_once(contract, PAWL_INVALID);
}

TEST_OF(contract, A6_a_step_that_answers_INVALID_JSON_is_not_tried_again)
{
    misuse_fails_once(contract, PAWL_INVALID_JSON);
}

TEST_OF(contract, A6_a_step_that_answers_INVALID_LOG_is_not_tried_again)
{
    misuse_fails_once(contract, PAWL_INVALID_LOG);
}

TEST_OF(contract, A6_a_step_that_answers_PAYLOAD_TOO_LARGE_is_not_tried_again)
{
    misuse_fails_once(contract, PAWL_PAYLOAD_TOO_LARGE);
}

TEST_OF(contract, A5_a_step_that_answers_another_bare_status_is_tried_again)
{
    contract->number = PAWL_CONFLICT;

    contract_start(contract, step_with_status, NULL);

    assert_instance(contract, PAWL_WAITING);
    assert_text(contract_step(contract, "step").error_name, pawl_status_name(PAWL_CONFLICT));
    assert_text(contract_step(contract, "step").error_message, pawl_status_text(PAWL_CONFLICT));
}

BODY(fail_unnamed)
{
    return pawl_fail_for_good(step, NULL, "no name");
}

WORKFLOW(step_unnamed)
{
    return pawl_do(run, "step", NULL, fail_unnamed, params, NULL);
}

TEST_OF(contract, A6_a_step_that_fails_without_a_name_is_FAILED)
{
    contract_start(contract, step_unnamed, NULL);

    assert_errored(contract, "FAILED", "no name");
}

BODY(result_that_cannot_be)
{
    return pawl_result(step, out_result, "{", 1);
}

WORKFLOW(step_without_result)
{
    return pawl_do(run, "step", NULL, result_that_cannot_be, params, NULL);
}

TEST_OF(contract, A6_a_step_whose_result_has_no_format_fails_for_good)
{
    contract_start(contract, step_without_result, NULL);

    assert_errored(contract, "INVALID", NULL);
    assert_int_equal(contract_step(contract, "step").attempts, 1);
}
