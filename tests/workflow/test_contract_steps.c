/* Contract A1 to A3: registering workflows, what a run sees and answers, the identity of steps. */
#include "kit/contract_world.h"

#define NAME_64 "abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

WORKFLOW(run_nothing)
{
    return PAWL_OK;
}

/* ---- A1: registering -------------------------------------------------------------------------------------------- */

TEST_OF(contract, A1_a_workflow_name_is_1_to_64_letters_digits_dashes_and_underlines)
{
    static const char *const good[] = { "a", "9", "A_b-c9", NAME_64 };
    static const char *const bad[] = { "", "-a", "_a", "a b", "a.b", "a/b", "h\xc3\xa9", NAME_64 "x" };

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        contract_register(contract, good[i], run_nothing);

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pawl_workflow workflow = { .name = bad[i], .run = run_nothing };
        assert_status(pawl_register(contract->engine, &workflow, &contract->error), PAWL_INVALID_WORKFLOW_NAME);
        assert_says(contract->error.text, bad[i]);
    }
    struct pawl_workflow nameless = { .run = run_nothing };
    assert_status(pawl_register(contract->engine, &nameless, &contract->error), PAWL_INVALID_WORKFLOW_NAME);
}

TEST_OF(contract, A1_two_workflows_of_one_name_are_refused)
{
    struct pawl_workflow again = { .name = "order", .run = run_nothing };
    contract_register(contract, "order", run_nothing);

    pawl_status status = pawl_register(contract->engine, &again, &contract->error);

    assert_status(status, PAWL_DUPLICATE_WORKFLOW);
    assert_status(contract->error.status, PAWL_DUPLICATE_WORKFLOW);
    assert_says(contract->error.text, "\"order\"");
}

TEST_OF(contract, A1_a_workflow_without_a_function_is_refused)
{
    struct pawl_workflow empty = { .name = "order" };

    assert_status(pawl_register(contract->engine, &empty, &contract->error), PAWL_INVALID);
}

TEST_OF(contract, A1_a_workflow_comes_before_the_runner_starts)
{
    struct pawl_workflow late = { .name = "late", .run = run_nothing };
    contract_idle(contract);

    pawl_status status = pawl_register(contract->engine, &late, &contract->error);

    assert_status(status, PAWL_INVALID);
    assert_says(contract->error.text, "\"late\"");
}

TEST_OF(contract, A1_description_and_tags_are_listed_in_the_order_of_names)
{
    const char *tags[] = { "shop", "money", NULL };
    const struct pawl_workflow_info *workflows;
    size_t count;
    contract_register(contract, "zebra", run_nothing);
    contract_register_as(
        contract,
        (struct pawl_workflow){ .name = "order", .run = run_nothing, .description = "takes orders", .tags = tags });
    tags[0] = "changed afterwards";

    assert_status(pawl_list_workflows(contract->engine, contract->scope, &workflows, &count), PAWL_OK);

    assert_int_equal(count, 2);
    assert_text(workflows[0].name, "order");
    assert_text(workflows[0].description, "takes orders");
    assert_int_equal(workflows[0].tag_count, 2);
    assert_text(workflows[0].tags[0], "shop");
    assert_text(workflows[0].tags[1], "money");
    assert_text(workflows[1].name, "zebra");
    assert_text(workflows[1].description, NULL);
    assert_int_equal(workflows[1].tag_count, 0);
}

WORKFLOW(run_two_failing)
{
    static const struct pawl_step_options own = { .retries = 1, .timeout = "1 s" };
    if (pawl_do(run, "own", &own, contract_body_fails, NULL, NULL) == PAWL_SUSPENDED)
        return PAWL_SUSPENDED;
    return pawl_do(run, "default", NULL, contract_body_fails, NULL, NULL);
}

TEST_OF(contract, A1_default_step_options_hold_where_a_step_says_nothing_else)
{
    static const struct pawl_step_options defaults = {
        .retries = 7, .delay = "3 s", .backoff = PAWL_BACKOFF_CONSTANT, .timeout = "2 min"
    };
    contract_register_as(contract, (struct pawl_workflow){ .name = "w", .run = run_two_failing, .steps = &defaults });
    assert_ok(contract, pawl_world_create(contract->world, "w", "i", NULL, &contract->error));

    contract_idle(contract);
    struct pawl_step_record own = contract_step(contract, "own");
    contract_advance(contract, "3 s");
    struct pawl_step_record other = contract_step(contract, "default");

    assert_int_equal(own.attempts_max, 2);
    assert_int_equal(own.timeout_ms, 1000);
    assert_int_equal(own.next_retry_at_ms, CONTRACT_START_MS + 3000);
    assert_int_equal(other.attempts_max, 8);
    assert_int_equal(other.timeout_ms, 2 * MINUTE_MS);
    assert_int_equal(other.next_retry_at_ms, CONTRACT_START_MS + 6000);
}

WORKFLOW(run_doubling)
{
    static const struct pawl_step_options own = { .backoff = PAWL_BACKOFF_EXPONENTIAL };
    return pawl_do(run, "own", &own, contract_body_fails, NULL, out_result);
}

TEST_OF(contract, A1_a_step_can_double_its_delay_where_the_default_is_constant)
{
    static const struct pawl_step_options defaults = { .delay = "3 s", .backoff = PAWL_BACKOFF_CONSTANT };
    contract_register_as(contract, (struct pawl_workflow){ .name = "w", .run = run_doubling, .steps = &defaults });
    assert_ok(contract, pawl_world_create(contract->world, "w", "i", NULL, &contract->error));

    contract_idle(contract);
    contract_advance(contract, "3 s");

    assert_int_equal(contract_step(contract, "own").attempts, 2);
    assert_int_equal(contract_step(contract, "own").next_retry_at_ms, CONTRACT_START_MS + 3000 + 6000);
}

TEST_OF(contract, A1_default_step_options_that_are_no_durations_are_refused)
{
    const struct pawl_step_options delay = { .delay = "soon" }, timeout = { .timeout = "a while" };
    struct pawl_workflow workflow = { .name = "w", .run = run_nothing, .steps = &delay };

    assert_status(pawl_register(contract->engine, &workflow, &contract->error), PAWL_INVALID_DURATION);
    assert_says(contract->error.text, "\"soon\"");
    workflow.steps = &timeout;
    assert_status(pawl_register(contract->engine, &workflow, &contract->error), PAWL_INVALID_DURATION);
    assert_says(contract->error.text, "\"a while\"");
}

/* ---- A2: what a run sees and answers ------------------------------------------------------------------------------ */

WORKFLOW(run_looks_around)
{
    contract_trace(pawl_run_user(run), "%s/%s run %lld created %lld n=%lld; ", pawl_run_workflow(run), pawl_run_id(run),
                   (long long)pawl_run_number(run), (long long)pawl_run_created_at_ms(run),
                   (long long)pawl_value_int(params, "n", -1));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_return(run, out_result, "{s:i, s:[s]}", "n", 1, "list", "x");
}

TEST_OF(contract, A2_a_run_sees_the_same_params_time_id_and_number_at_every_replay)
{
    contract_create(contract, run_looks_around, "{\"n\": 42}");
    contract_jump(contract, 5000);

    contract_idle(contract);
    contract_advance(contract, "1 hour");

    assert_text(contract->trace, "w/i run 1 created 1767225600000 n=42; w/i run 1 created 1767225600000 n=42; ");
    assert_output(contract, "{\"n\":1,\"list\":[\"x\"]}");
    struct pawl_instance instance = contract_get(contract);
    assert_int_equal(instance.created_at_ms, CONTRACT_START_MS);
    assert_int_equal(instance.started_at_ms, CONTRACT_START_MS + 5000);
    assert_int_equal(instance.completed_at_ms, CONTRACT_START_MS + 5000 + HOUR_MS);
    assert_int_equal(instance.updated_at_ms, instance.completed_at_ms);
    assert_text(instance.params_json, "{\"n\": 42}");
}

WORKFLOW(run_echo)
{
    contract_trace(pawl_run_user(run), "%d ", (int)pawl_value_kind(params, NULL));
    return params == NULL ? PAWL_OK : pawl_return(run, out_result, "V", params);
}

TEST_OF(contract, A2_the_five_kinds_of_nothing_are_five_params_and_five_outputs)
{
    static const char *const nothings[] = { NULL, "null", "false", "0", "\"\"" };
    static const char *const ids[] = { "none", "null", "false", "zero", "empty" };
    contract_register(contract, "w", run_echo);
    for (size_t i = 0; i < 5; i++)
        assert_ok(contract, pawl_world_create(contract->world, "w", ids[i], nothings[i], &contract->error));

    contract_idle(contract);

    assert_text(contract->trace, "0 1 2 3 5 ");
    for (size_t i = 0; i < 5; i++) {
        struct pawl_instance instance;
        assert_ok(contract, pawl_world_get(contract->world, "w", ids[i], &instance, &contract->error));
        assert_int_equal(instance.status, PAWL_COMPLETE);
        assert_text(instance.params_json, nothings[i]);
        assert_text(instance.output_json, nothings[i]);
    }
}

TEST_OF(contract, A2_texts_with_every_character_come_through_unharmed)
{
    static const char params[] =
        "{\"a\\u0009b\":\"\\u0000\\u001f\\\"\\\\ \xf0\x9f\x98\x80\",\"n\":[9223372036854775807,-0.5,1e3]}";

    contract_start(contract, run_echo, params);

    assert_text(contract_get(contract).params_json, params);
    assert_instance(contract, PAWL_COMPLETE);
    pawl_value *sent, *answered;
    const char *output = contract_get(contract).output_json;
    assert_ok(contract, pawl_value_parse(contract->scope, params, strlen(params), &sent, &contract->error));
    assert_ok(contract, pawl_value_parse(contract->scope, output, strlen(output), &answered, &contract->error));
    assert_true(pawl_value_equal(sent, answered));
}

WORKFLOW(run_fails)
{
    PAWL_TRY(pawl_return(run, out_result, "s", "dropped"));
    return pawl_run_fail(run, "NotApproved", "order %lld was refused: %s", (long long)pawl_value_int(params, NULL, 0),
                         "100 % sure \xc3\xa9");
}

TEST_OF(contract, A2_a_failed_run_is_errored_with_its_name_and_message)
{
    contract_start(contract, run_fails, "7");

    assert_errored(contract, "NotApproved", "order 7 was refused: 100 % sure \xc3\xa9");
    struct pawl_instance instance = contract_get(contract);
    assert_null(instance.output_json);
    assert_int_equal(instance.completed_at_ms, CONTRACT_START_MS);
}

WORKFLOW(run_bare_status)
{
    return PAWL_INVALID;
}

TEST_OF(contract, A2_a_bare_status_fails_the_run_with_its_own_name_and_text)
{
    contract_start(contract, run_bare_status, NULL);

    assert_errored(contract, "INVALID", pawl_status_text(PAWL_INVALID));
}

/* ---- A3: the identity of steps -------------------------------------------------------------------------------------- */

BODY(body_counts)
{
    struct contract *contract = pawl_step_user(step);
    return pawl_result(step, out_result, "i", ++contract->bodies);
}

WORKFLOW(run_same_name)
{
    pawl_value *first, *second, *third;
    PAWL_TRY(pawl_do(run, "count", NULL, body_counts, NULL, &first));
    PAWL_TRY(pawl_do(run, "count", NULL, body_counts, NULL, &second));
    PAWL_TRY(pawl_sleep(run, "nap", "1 min"));
    PAWL_TRY(pawl_do(run, " \t\r\n count \t\r\n ", NULL, body_counts, NULL, &third));
    return pawl_return(run, out_result, "[V,V,V]", first, second, third);
}

TEST_OF(contract, A3_a_completed_step_answers_without_its_body_in_the_turn_and_at_replay)
{
    contract_start(contract, run_same_name, NULL);
    contract_advance(contract, "1 min");

    assert_output(contract, "[1,1,1]");
    assert_int_equal(contract->bodies, 1);
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.step_count, 2);
    assert_text(history.steps[0].name, "count");
    assert_int_equal(history.steps[0].kind, PAWL_STEP_DO);
    assert_int_equal(history.steps[0].status, PAWL_STEP_COMPLETED);
    assert_int_equal(history.steps[0].attempts, 1);
    assert_text(history.steps[0].result_json, "1");
    assert_int_equal(history.steps[0].run_number, 1);
    assert_int_equal(history.steps[0].created_at_ms, CONTRACT_START_MS);
    assert_int_equal(history.steps[0].updated_at_ms, CONTRACT_START_MS);
    assert_text(history.steps[1].name, "nap");
}

WORKFLOW(run_keeps_nothings)
{
    for (int i = 0; i < 5; i++) {
        pawl_value *result;
        const pawl_value *input = i < 4 ? pawl_value_item(params, (size_t)i) : NULL;
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %d", i), NULL, contract_body_ok, input, &result));
        contract_trace(pawl_run_user(run), "%d", (int)pawl_value_kind(result, NULL));
    }
    contract_trace(pawl_run_user(run), " ");
    return pawl_sleep(run, "nap", "1 s");
}

TEST_IN(contract_of_passes, contract, A3_the_five_kinds_of_nothing_are_five_results_now_and_at_replay)
{
    contract_start(contract, run_keeps_nothings, "[null, false, 0, \"\"]");
    contract_advance(contract, "1 s");

    assert_text(contract->trace, "12350 12350 ");
    assert_int_equal(contract->bodies, 5);
    assert_text(contract_step(contract, "step 0").result_json, "null");
    assert_text(contract_step(contract, "step 1").result_json, "false");
    assert_text(contract_step(contract, "step 2").result_json, "0");
    assert_text(contract_step(contract, "step 3").result_json, "\"\"");
    assert_text(contract_step(contract, "step 4").result_json, NULL);
}

/* Calls a step of that name; the run ends well whatever the answer. */
WORKFLOW(run_names)
{
    struct contract *contract = pawl_run_user(run);
    pawl_status status = pawl_do(run, contract->text, NULL, contract_body_ok, NULL, NULL);
    contract_trace(contract, "%s %s", pawl_status_name(status), pawl_run_failure(run).name);
    return PAWL_OK;
}

TEST_OF(contract, A3_a_step_name_has_up_to_256_bytes_after_trimming)
{
    char name[259] = " ";
    for (size_t i = 0; i < 128; i++)
        memcpy(name + 1 + 2 * i, "\xc3\xa9", 2);
    memcpy(name + 257, " ", 2);
    contract->text = name;

    contract_start(contract, run_names, NULL);

    assert_text(contract->trace, "OK ");
    name[257] = '\0';
    assert_true(contract_has_step(contract, name + 1));
}

TEST_OF(contract, A3_a_step_name_that_is_too_long_empty_or_no_utf_8_is_refused)
{
    const char *bad[] = {
        contract_long_text(contract->scope, 257), "", " \t\n", "caf\xe9", "\xc0\x80", "\xed\xa0\x80"
    };
    char id[16];
    contract_register(contract, "w", run_names);

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        contract->text = bad[i];
        contract->trace[0] = '\0';
        snprintf(id, sizeof id, "i-%zu", i);
        assert_ok(contract, pawl_world_create(contract->world, "w", id, NULL, &contract->error));
        contract_idle(contract);
        assert_text(contract->trace, "INVALID_STEP_NAME INVALID_STEP_NAME");
    }
    assert_int_equal(contract->bodies, 0);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_step"), 0);
}

BRANCH(call_step_twin)
{
    return pawl_do(run, "twin", NULL, body_counts, NULL, out_result);
}

BRANCH(call_nested_twin)
{
    struct pawl_branch inner[] = { { .run = call_step_twin } };
    return pawl_all(run, "all", inner, 1, 0);
}

WORKFLOW(run_twins)
{
    struct pawl_branch branches[] = { { .run = call_step_twin }, { .run = call_step_twin } };
    return pawl_all(run, "all", branches, 2, 0);
}

TEST_OF(contract, A3_two_branches_that_call_one_step_name_get_DUPLICATE_STEP_KEY)
{
    contract_start(contract, run_twins, NULL);

    assert_instance(contract, PAWL_ERRORED);
    assert_text(contract_get(contract).error_name, "DUPLICATE_STEP_KEY");
    assert_says(contract_get(contract).error_message, "\"twin\"");
    assert_int_equal(contract->bodies, 1);
}

WORKFLOW(run_nested_twins)
{
    struct pawl_branch branches[] = { { .run = call_nested_twin }, { .run = call_step_twin } };
    return pawl_all(run, "all", branches, 2, 0);
}

TEST_OF(contract, A3_a_nested_branch_and_a_sibling_of_its_parent_are_at_once_too)
{
    contract_start(contract, run_nested_twins, NULL);

    assert_instance(contract, PAWL_ERRORED);
    assert_text(contract_get(contract).error_name, "DUPLICATE_STEP_KEY");
}

BRANCH(call_waiting_twin)
{
    return pawl_sleep(run, "twin", "1 min");
}

WORKFLOW(run_waiting_twins)
{
    struct pawl_branch branches[] = { { .run = call_waiting_twin }, { .run = call_waiting_twin } };
    return pawl_all(run, "all", branches, 2, 0);
}

TEST_OF(contract, A3_two_branches_that_wait_under_one_name_get_DUPLICATE_STEP_KEY)
{
    contract_start(contract, run_waiting_twins, NULL);
    contract_advance(contract, "1 min");

    assert_instance(contract, PAWL_ERRORED);
    assert_text(contract_get(contract).error_name, "DUPLICATE_STEP_KEY");
}

WORKFLOW(run_twin_after_join)
{
    struct pawl_branch branches[] = { { .run = call_step_twin } };
    PAWL_TRY(pawl_all(run, "all", branches, 1, 0));
    return call_step_twin(run, NULL, out_result);
}

TEST_OF(contract, A3_after_the_join_the_name_of_a_branch_is_the_same_step)
{
    contract_start(contract, run_twin_after_join, NULL);

    assert_output(contract, "1");
}

WORKFLOW(run_mixes_kinds)
{
    struct contract *contract = pawl_run_user(run);
    struct pawl_branch branches[] = { { .run = call_step_twin } };
    PAWL_TRY(pawl_do(run, "x", NULL, contract_body_ok, NULL, NULL));
    contract_trace(contract, "%s ", pawl_status_name(pawl_sleep(run, "x", "1 s")));
    contract_trace(contract, "(%s) ", pawl_run_failure(run).message);
    contract_trace(contract, "%s ", pawl_status_name(pawl_wait_for_event(run, "x", "go", NULL, NULL)));
    contract_trace(contract, "%s ", pawl_status_name(pawl_first(run, "x", branches, 1, NULL)));
    PAWL_TRY(pawl_sleep(run, "y", "0"));
    contract_trace(contract, "%s ", pawl_status_name(pawl_do(run, "y", NULL, contract_body_ok, NULL, NULL)));
    return PAWL_OK;
}

TEST_OF(contract, A3_a_name_of_another_kind_of_step_is_a_STEP_TYPE_MISMATCH)
{
    contract_start(contract, run_mixes_kinds, NULL);

    assert_text(contract->trace,
                "STEP_TYPE_MISMATCH (step \"x\" is a do in this run's history, and cannot be a sleep as "
                "well) STEP_TYPE_MISMATCH STEP_TYPE_MISMATCH STEP_TYPE_MISMATCH ");
    assert_output(contract, NULL);
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(contract_history(contract, 0).step_count, 2);
}

WORKFLOW(run_forgets_to_return)
{
    struct contract *contract = pawl_run_user(run);
    struct pawl_branch branch = { .run = call_step_twin };
    size_t winner;
    contract_trace(contract, "%s:", pawl_status_name(pawl_sleep(run, "nap", "1 min")));
    contract_trace(contract, " %s", pawl_status_name(pawl_do(run, "next", NULL, contract_body_ok, NULL, NULL)));
    contract_trace(contract, " %s", pawl_status_name(pawl_sleep(run, "more", "1 min")));
    contract_trace(contract, " %s", pawl_status_name(pawl_wait_for_event(run, "event", "go", NULL, NULL)));
    contract_trace(contract, " %s", pawl_status_name(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "lost")));
    contract_trace(contract, " %s", pawl_status_name(pawl_all(run, "all", &branch, 1, 0)));
    contract_trace(contract, " %s. ", pawl_status_name(pawl_first(run, "first", &branch, 1, &winner)));
    if (contract->number > 0)
        return pawl_run_fail(run, "Forgot", "to return");
    return pawl_return(run, out_result, "s", "too early");
}

TEST_OF(contract, A3_suspension_is_sticky_for_those_who_forget_to_return)
{
    contract_start(contract, run_forgets_to_return, NULL);

    assert_text(contract->trace, "SUSPENDED: SUSPENDED SUSPENDED SUSPENDED SUSPENDED SUSPENDED SUSPENDED. ");
    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract->bodies, 0);
    assert_int_equal(contract_history(contract, 0).step_count, 1);
    assert_int_equal(contract_history(contract, 0).log_count, 0);
}

TEST_OF(contract, A3_a_run_that_fails_after_it_was_suspended_has_not_failed)
{
    contract->number = 1;

    contract_start(contract, run_forgets_to_return, NULL);

    assert_instance(contract, PAWL_WAITING);
}

WORKFLOW(run_forgets_and_errs)
{
    struct contract *contract = pawl_run_user(run);
    static const struct pawl_step_options wrong = { .retries = -7 };
    contract_trace(contract, "%s:", pawl_status_name(pawl_sleep(run, "nap", "1 min")));
    contract_trace(contract, " %s", pawl_status_name(pawl_do(run, "next", &wrong, contract_body_ok, NULL, NULL)));
    contract_trace(contract, " %s", pawl_status_name(pawl_sleep_ms(run, "more", -1)));
    contract_trace(contract, " %s", pawl_status_name(pawl_wait_for_event(run, "event", "go", "1 ms", NULL)));
    contract_trace(contract, " %s", pawl_status_name(pawl_wait_for_event(run, "event", "!", NULL, NULL)));
    return PAWL_OK;
}

TEST_OF(contract, A3_sticky_suspension_comes_before_every_other_complaint)
{
    contract_start(contract, run_forgets_and_errs, NULL);

    assert_text(contract->trace, "SUSPENDED: SUSPENDED SUSPENDED SUSPENDED SUSPENDED");
    assert_instance(contract, PAWL_WAITING);
}
