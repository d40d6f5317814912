/* Contract A16 and A17: limits at the boundary, and code that changes between turns. */
#include "contract_world.h"

#include <stdio.h>
#include <string.h>

#include "engine/engine.h"

enum { MEBIBYTE = 1024 * 1024 };

/* JSON of exactly that many bytes: a string. */
static const char *json_of_size(struct contract *contract, size_t size)
{
    char *text = contract_long_text(contract->scope, size);
    assert_non_null(text);
    text[0] = text[size - 1] = '"';
    return text;
}

/* Arrays within each other, that deep. */
static const char *json_of_depth(struct contract *contract, size_t depth)
{
    char *text = contract_long_text(contract->scope, 2 * depth);
    assert_non_null(text);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return text;
}

static pawl_status create(struct contract *contract, const char *id, const char *params_json)
{
    return pawl_world_create(contract->world, "w", id, params_json, &contract->error);
}

static pawl_status send(struct contract *contract, const char *payload_json)
{
    return pawl_world_send_event(contract->world, "w", "i", "go", payload_json, &contract->error);
}

static pawl_status run_nothing(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run;
    (void)params;
    (void)out_result;
    return PAWL_OK;
}

/* ---- A16: sizes -------------------------------------------------------------------------------------------------------- */

static void A16_params_have_up_to_1_mebibyte(void **state)
{
    struct contract *contract = *state;
    contract_register(contract, "w", run_nothing);

    assert_ok(contract, create(contract, "fits", json_of_size(contract, MEBIBYTE)));
    pawl_status status = create(contract, "too-large", json_of_size(contract, MEBIBYTE + 1));

    assert_status(status, PAWL_PAYLOAD_TOO_LARGE);
    assert_says(contract->error.text, "params");
    assert_says(contract->error.text, "1048577");
    assert_int_equal(contract_query(contract, "SELECT length(params) FROM workflow_instance"), MEBIBYTE);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_instance"), 1);
}

static void A16_an_event_payload_has_up_to_1_mebibyte(void **state)
{
    struct contract *contract = *state;
    contract_create(contract, run_nothing, NULL);

    assert_ok(contract, send(contract, json_of_size(contract, MEBIBYTE)));
    pawl_status status = send(contract, json_of_size(contract, MEBIBYTE + 1));

    assert_status(status, PAWL_PAYLOAD_TOO_LARGE);
    assert_says(contract->error.text, "payload");
    assert_int_equal(contract_history(contract, 0).event_count, 1);
}

/* A string whose JSON has contract->number bytes. */
static pawl_status body_of_size(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    char *text = contract_long_text(pawl_step_scope(step), (size_t)contract->number - 2);
    (void)input;
    contract->bodies++;
    return text == NULL ? PAWL_NOMEM : pawl_result(step, out_result, "s", text);
}

static pawl_status run_result_of_size(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_do(run, "x", NULL, body_of_size, NULL, NULL);
}

static void A16_a_step_result_of_1_mebibyte_fits(void **state)
{
    struct contract *contract = *state;
    contract->number = MEBIBYTE;

    contract_start(contract, run_result_of_size, NULL);

    assert_output(contract, NULL);
    assert_int_equal(strlen(contract_step(contract, "x").result_json), MEBIBYTE);
}

static void A16_a_larger_step_result_fails_the_step_for_good(void **state)
{
    struct contract *contract = *state;
    contract->number = MEBIBYTE + 1;

    contract_start(contract, run_result_of_size, NULL);

    struct pawl_step_record step = contract_step(contract, "x");
    assert_int_equal(step.status, PAWL_STEP_ERRORED);
    assert_int_equal(step.attempts, 1);
    assert_text(step.result_json, NULL);
    assert_errored(contract, "PAYLOAD_TOO_LARGE", NULL);
    assert_says(contract_get(contract).error_message, "1048577");
    assert_int_equal(contract->bodies, 1);
}

static pawl_status run_output_of_size(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const struct contract *contract = pawl_run_user(run);
    char *text = contract_long_text(pawl_run_scope(run), (size_t)contract->number - 2);
    (void)params;
    return text == NULL ? PAWL_NOMEM : pawl_return(run, out_result, "s", text);
}

static void A16_an_output_of_1_mebibyte_fits(void **state)
{
    struct contract *contract = *state;
    contract->number = MEBIBYTE;

    contract_start(contract, run_output_of_size, NULL);

    assert_instance(contract, PAWL_COMPLETE);
    assert_int_equal(strlen(contract_get(contract).output_json), MEBIBYTE);
}

static void A16_a_larger_output_fails_the_run(void **state)
{
    struct contract *contract = *state;
    contract->number = MEBIBYTE + 1;

    contract_start(contract, run_output_of_size, NULL);

    assert_errored(contract, "PAYLOAD_TOO_LARGE", NULL);
}

static pawl_status run_log_of_size(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct contract *contract = pawl_run_user(run);
    (void)params;
    (void)out_result;
    for (size_t size = MEBIBYTE; size <= MEBIBYTE + 1; size++) {
        pawl_value *data;
        char *text = contract_long_text(pawl_run_scope(run), size - 2);
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &data, "s", text));
        contract_trace(contract, "%s ", pawl_status_name(pawl_log(run, PAWL_LOG_INFO, NULL, data, "%zu", size)));
    }
    return PAWL_OK;
}

static void A16_log_data_has_up_to_1_mebibyte(void **state)
{
    struct contract *contract = *state;

    contract_start(contract, run_log_of_size, NULL);

    assert_text(contract->trace, "OK PAYLOAD_TOO_LARGE ");
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.log_count, 1);
    assert_int_equal(strlen(history.logs[0].data_json), MEBIBYTE);
    assert_output(contract, NULL);
}

/* ---- A16: JSON ---------------------------------------------------------------------------------------------------------- */

static void A16_json_nests_128_deep_and_no_deeper(void **state)
{
    struct contract *contract = *state;
    contract_create(contract, run_nothing, json_of_depth(contract, 128));

    assert_ok(contract, send(contract, json_of_depth(contract, 128)));
    assert_status(create(contract, "deep", json_of_depth(contract, 129)), PAWL_INVALID_JSON);
    assert_says(contract->error.text, "nested too deep");
    assert_status(send(contract, json_of_depth(contract, 129)), PAWL_INVALID_JSON);
    assert_says(contract->error.text, "nested too deep");

    contract_idle(contract);
    assert_output(contract, NULL);
}

/* One array around the input. */
static pawl_status body_wraps(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_result(step, out_result, "[V]", input);
}

static pawl_status run_wraps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    return pawl_do(run, "x", NULL, body_wraps, params, NULL);
}

static void A16_a_result_that_nests_too_deep_is_INVALID_JSON(void **state)
{
    struct contract *contract = *state;

    contract_start(contract, run_wraps, json_of_depth(contract, 128));

    assert_true(contract_step(contract, "x").status != PAWL_STEP_COMPLETED);
    assert_text(contract_step(contract, "x").error_name, "INVALID_JSON");
}

static void A16_a_result_that_nests_just_as_deep_fits(void **state)
{
    struct contract *contract = *state;

    contract_start(contract, run_wraps, json_of_depth(contract, 127));

    assert_output(contract, NULL);
}

/* A binding that hands in contract->text as a step's result. */
static void advance_with_text(pawl_turn *turn, void *user)
{
    struct contract *contract = user;
    struct pawl_answer answer;
    pawl_status status;
    do {
        status = pawl_recall_step(pawl_turn_lane(turn), "x", 1, NULL, &answer);
        if (status == PAWL_OK && answer.kind == PAWL_ANSWER_RUN)
            status = pawl_attempt_complete(answer.attempt, contract->text, strlen(contract->text));
    } while (status == PAWL_OK && answer.kind == PAWL_ANSWER_RUN);
    if (status != PAWL_OK)
        pawl_turn_suspend(turn);
    else if (answer.kind == PAWL_ANSWER_FAILED)
        pawl_turn_fail(turn, answer.error_name, answer.error_message);
    else
        pawl_turn_finish(turn, contract->text, strlen(contract->text));
}

static void A16_a_result_of_a_binding_that_is_not_json_fails_the_step_for_good(void **state)
{
    struct contract *contract = *state;
    const char *wrong[] = { json_of_depth(contract, 129), "{", "" };
    const struct pawl_definition definition = {
        .struct_size = sizeof definition, .name = "w", .advance = advance_with_text, .user = contract
    };
    char id[16];
    assert_ok(contract, pawl_define(contract->engine, &definition, &contract->error));

    for (size_t i = 0; i < 3; i++) {
        struct pawl_instance instance;
        contract->text = wrong[i];
        snprintf(id, sizeof id, "i-%zu", i);
        assert_ok(contract, create(contract, id, NULL));
        contract_idle(contract);
        assert_ok(contract, pawl_world_get(contract->world, "w", id, &instance, &contract->error));
        assert_int_equal(instance.status, PAWL_ERRORED);
        assert_text(instance.error_name, "INVALID_JSON");
        assert_says(instance.error_message, "result");
        assert_int_equal(instance.current_step->attempts, 1);
    }
}

static void A16_what_is_not_json_is_refused_with_its_place(void **state)
{
    struct contract *contract = *state;
    static const char *const wrong[] = { "",      " ",      "{",   "[1,]",  "{\"a\":}",   "'x'",
                                         "nul",   "01",     "NaN", "1 2",   "\"\\x\"",    "\"\xff\"",
                                         "{a:1}", "\"\n\"", "+1",  "[1 2]", "{\"a\":1,}", "99999999999999999999" };
    contract_create(contract, run_nothing, NULL);

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (create(contract, "wrong", wrong[i]) != PAWL_INVALID_JSON)
            fail_msg("params %s were taken", wrong[i]);
        assert_says(contract->error.text, "line 1, column ");
        if (send(contract, wrong[i]) != PAWL_INVALID_JSON)
            fail_msg("payload %s was taken", wrong[i]);
        assert_says(contract->error.text, "line 1, column ");
    }
    assert_int_equal(contract_history(contract, 0).event_count, 0);
}

/* ---- A16: steps ---------------------------------------------------------------------------------------------------------- */

/* params of them; then a sleep, then all again. */
static pawl_status run_many_steps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    int64_t count = pawl_value_int(params, NULL, 0);
    (void)out_result;
    for (int64_t i = 0; i < count; i++)
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %lld", (long long)i), NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 s"));
    for (int64_t i = 0; i < count; i++)
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %lld", (long long)i), NULL, contract_body_ok, NULL, NULL));
    return PAWL_OK;
}

static void A16_a_run_has_up_to_1024_steps_and_replay_does_not_count_again(void **state)
{
    struct contract *contract = *state;
    contract_start(contract, run_many_steps, "1024");

    contract_advance(contract, "1 s");

    assert_output(contract, NULL);
    assert_int_equal(contract->bodies, 1024);
    assert_int_equal(contract_history(contract, 0).step_count, 1025);
}

static void A16_the_1025th_step_is_MAX_STEPS_EXCEEDED(void **state)
{
    struct contract *contract = *state;

    contract_start(contract, run_many_steps, "1025");

    assert_errored(contract, "MAX_STEPS_EXCEEDED", NULL);
    assert_says(contract_get(contract).error_message, "1024");
    assert_says(contract_get(contract).error_message, "\"step 1024\"");
    assert_int_equal(contract->bodies, 1024);
    assert_int_equal(contract_history(contract, 0).step_count, 1024);
}

static pawl_status run_mixed_steps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct contract *contract = pawl_run_user(run);
    (void)params;
    PAWL_TRY(pawl_do(run, "one", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "0"));
    if (pawl_wait_for_event(run, "two", "go", "1 s", NULL) == PAWL_SUSPENDED)
        return PAWL_SUSPENDED;
    contract_trace(contract, "%s ", pawl_status_name(pawl_do(run, "three", NULL, contract_body_ok, NULL, NULL)));
    contract_trace(contract, "%s ", pawl_status_name(pawl_wait_for_event(run, "four", "go", "1 s", NULL)));
    PAWL_TRY(pawl_do(run, "one", NULL, contract_body_ok, NULL, NULL));
    return pawl_return(run, out_result, "s", "handled");
}

static void A16_waits_count_as_steps_sleeps_do_not_and_the_run_may_handle_the_limit(void **state)
{
    struct contract *contract = *state;
    contract_open_with(contract, (struct pawl_limits){ .steps_max = 2 }, 1);
    contract_start(contract, run_mixed_steps, NULL);

    contract_advance(contract, "1 s");

    assert_text(contract->trace, "MAX_STEPS_EXCEEDED MAX_STEPS_EXCEEDED ");
    assert_output(contract, "\"handled\"");
    assert_int_equal(contract_history(contract, 0).step_count, 3);
}

static void A16_a_new_run_counts_its_steps_anew(void **state)
{
    struct contract *contract = *state;
    contract_open_with(contract, (struct pawl_limits){ .steps_max = 3 }, 1);
    contract_start(contract, run_many_steps, "3");
    contract_advance(contract, "1 s");

    contract_control(contract, pawl_restart);
    contract_idle(contract);
    contract_advance(contract, "1 s");

    assert_output(contract, NULL);
    assert_int_equal(contract_get(contract).run_number, 2);
    assert_int_equal(contract->bodies, 6);
}

/* ---- A16: configuration ---------------------------------------------------------------------------------------------------- */

static void A16_the_engines_limits_hold_unless_a_workflow_has_its_own(void **state)
{
    struct contract *contract = *state;
    const char *json_20 = "\"123456789012345678\"", *json_21 = "\"1234567890123456789\"";
    contract_open_with(contract, (struct pawl_limits){ .steps_max = 2, .payload_bytes_max = 20 }, 1);
    contract_register(contract, "plain", run_many_steps);
    contract_register_as(contract,
                         (struct pawl_workflow){ .name = "more", .run = run_many_steps, .limits = { 3, 21 } });
    contract_register_as(contract,
                         (struct pawl_workflow){ .name = "less", .run = run_many_steps, .limits = { 1, 19 } });
    pawl_world *world = contract->world;
    struct pawl_error *error = &contract->error;

    assert_status(pawl_world_create(world, "plain", "20", json_20, error), PAWL_OK);
    assert_status(pawl_world_create(world, "plain", "21", json_21, error), PAWL_PAYLOAD_TOO_LARGE);
    assert_status(pawl_world_create(world, "more", "21", json_21, error), PAWL_OK);
    assert_status(pawl_world_create(world, "less", "20", json_20, error), PAWL_PAYLOAD_TOO_LARGE);
    assert_status(pawl_world_create(world, "plain", "steps", "3", error), PAWL_OK);
    assert_status(pawl_world_create(world, "more", "steps", "3", error), PAWL_OK);
    assert_status(pawl_world_create(world, "less", "steps", "2", error), PAWL_OK);
    contract_advance(contract, "1 s");

    struct pawl_instance plain, more, less;
    assert_ok(contract, pawl_world_get(world, "plain", "steps", &plain, error));
    assert_ok(contract, pawl_world_get(world, "more", "steps", &more, error));
    assert_ok(contract, pawl_world_get(world, "less", "steps", &less, error));
    assert_text(plain.error_name, "MAX_STEPS_EXCEEDED");
    assert_int_equal(more.status, PAWL_COMPLETE);
    assert_text(less.error_name, "MAX_STEPS_EXCEEDED");
}

static void A16_a_limit_below_zero_is_refused(void **state)
{
    struct contract *contract = *state;
    struct pawl_workflow steps = { .name = "w", .run = run_nothing, .limits = { -1, 0 } };
    struct pawl_workflow bytes = { .name = "w", .run = run_nothing, .limits = { 0, -1 } };

    assert_status(pawl_register(contract->engine, &steps, &contract->error), PAWL_INVALID);
    assert_says(contract->error.text, "\"w\"");
    assert_status(pawl_register(contract->engine, &bytes, &contract->error), PAWL_INVALID);
}

/* ---- A17: code changes between turns ------------------------------------------------------------------------------------------ */

static pawl_status run_old(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_do(run, "kept", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_do(run, "removed", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 h"));
    return pawl_return(run, out_result, "s", "old");
}

static pawl_status run_new(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_do(run, "added", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "5 h"));
    PAWL_TRY(pawl_do(run, "kept", NULL, contract_body_ok, NULL, NULL));
    return pawl_return(run, out_result, "s", "new");
}

static void A17_a_run_goes_on_with_the_code_that_is_registered_now(void **state)
{
    struct contract *contract = *state;
    contract_start(contract, run_old, NULL);
    assert_int_equal(contract->bodies, 2);

    contract_deploy(contract, run_new);
    contract_advance(contract, "1 h");

    assert_output(contract, "\"new\"");
    assert_int_equal(contract->bodies, 3);
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.step_count, 4);
    assert_text(history.steps[1].name, "removed");
    assert_int_equal(history.steps[1].status, PAWL_STEP_COMPLETED);
    assert_text(history.steps[3].name, "added");
    assert_int_equal(history.steps[3].created_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_int_equal(contract_step(contract, "nap").wake_at_ms, CONTRACT_START_MS + HOUR_MS);
}

static pawl_status run_other_kind(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_sleep(run, "kept", "1 s");
}

static void A17_new_code_that_uses_a_name_for_another_kind_of_step_is_told(void **state)
{
    struct contract *contract = *state;
    contract_start(contract, run_old, NULL);

    contract_deploy(contract, run_other_kind);
    contract_advance(contract, "1 h");

    assert_errored(contract, "STEP_TYPE_MISMATCH", NULL);
    assert_says(contract_get(contract).error_message, "\"kept\"");
}

static pawl_status run_no_wait(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_return(run, out_result, "s", "no wait");
}

static void A17_new_code_that_no_longer_waits_goes_on_when_the_run_is_woken(void **state)
{
    struct contract *contract = *state;
    contract_start(contract, run_old, NULL);

    contract_deploy(contract, run_no_wait);
    contract_idle(contract);
    struct pawl_instance before = contract_get(contract);
    contract_advance(contract, "1 h");

    assert_int_equal(before.status, PAWL_WAITING);
    assert_output(contract, "\"no wait\"");
}

static pawl_status run_waits_for_go(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_wait_for_event(run, "wait", "go", NULL, NULL);
}

static pawl_status run_waits_for_stop(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_wait_for_event(run, "wait", "stop", NULL, NULL);
}

static void A17_new_code_that_waits_for_another_type_is_woken_by_it(void **state)
{
    struct contract *contract = *state;
    contract_start(contract, run_waits_for_go, NULL);
    contract_deploy(contract, run_waits_for_stop);
    contract_control(contract, pawl_pause);
    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_ok(contract, pawl_world_send_event(contract->world, "w", "i", "stop", NULL, &contract->error));
    contract_idle(contract);

    assert_output(contract, NULL);
}

/* An instance of a workflow that this engine has not registered, as another one's create leaves it. */
static void create_foreign(struct contract *contract)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_CREATE);
    assert_non_null(op);
    op->as.create.workflow = pw_text_of("foreign");
    op->as.create.id = pw_text_of("f");
    assert_status(pw_commit_run(contract->engine->commit, &unit), PAWL_OK);
    pw_unit_clear(&unit);
}

static void A17_a_runner_claims_only_the_workflows_that_it_has(void **state)
{
    struct contract *contract = *state;
    struct pawl_instance foreign;
    create_foreign(contract);

    contract_start(contract, run_nothing, NULL);

    assert_output(contract, NULL);
    assert_int_equal(contract_tick(contract), 0);
    assert_int_equal(contract_next_wake(contract), INT64_MAX);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_task WHERE workflow = 'foreign'"
                                              " AND processing = 0 AND started_at IS NULL"),
                     1);
    assert_status(pawl_world_get(contract->world, "foreign", "f", &foreign, &contract->error), PAWL_WORKFLOW_NOT_FOUND);
}

static void A17_a_run_whose_workflow_was_away_stays_due_and_goes_on_when_it_is_back(void **state)
{
    struct contract *contract = *state;
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    if (!contract->in_file)
        skip(); /* only one engine can see a store in memory */
    contract_start(contract, run_old, NULL);
    contract_jump(contract, HOUR_MS);
    options.store_url = contract->url;
    options.start_ms = contract_now(contract);
    pawl_world_close(contract->world);
    assert_ok(contract, pawl_world_open(&options, &contract->world, &contract->error));
    contract->engine = pawl_world_engine(contract->world);
    contract_register(contract, "other", run_nothing);

    contract_idle(contract);
    int64_t due = contract_query(contract, "SELECT count(*) FROM workflow_task WHERE due_at <= 1767229200000"
                                           " AND processing = 0");
    contract_deploy(contract, run_old);
    struct pawl_instance waiting = contract_get(contract);
    int64_t due_at_ms = contract_next_wake(contract);
    contract_idle(contract);

    assert_int_equal(due, 1);
    assert_int_equal(waiting.status, PAWL_WAITING);
    assert_int_equal(due_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_output(contract, "\"old\"");
    assert_int_equal(contract->bodies, 2);
}

int main(void)
{
    struct CMUnitTest tests[] = {
        CONTRACT_TEST(A16_params_have_up_to_1_mebibyte),
        CONTRACT_TEST(A16_an_event_payload_has_up_to_1_mebibyte),
        CONTRACT_TEST(A16_a_step_result_of_1_mebibyte_fits),
        CONTRACT_TEST(A16_a_larger_step_result_fails_the_step_for_good),
        CONTRACT_TEST(A16_an_output_of_1_mebibyte_fits),
        CONTRACT_TEST(A16_a_larger_output_fails_the_run),
        CONTRACT_TEST(A16_log_data_has_up_to_1_mebibyte),
        CONTRACT_TEST(A16_json_nests_128_deep_and_no_deeper),
        CONTRACT_TEST(A16_a_result_that_nests_too_deep_is_INVALID_JSON),
        CONTRACT_TEST(A16_a_result_that_nests_just_as_deep_fits),
        CONTRACT_TEST(A16_a_result_of_a_binding_that_is_not_json_fails_the_step_for_good),
        CONTRACT_TEST(A16_what_is_not_json_is_refused_with_its_place),
        CONTRACT_TEST_OF_PASSES(A16_a_run_has_up_to_1024_steps_and_replay_does_not_count_again),
        CONTRACT_TEST_OF_PASSES(A16_the_1025th_step_is_MAX_STEPS_EXCEEDED),
        CONTRACT_TEST(A16_waits_count_as_steps_sleeps_do_not_and_the_run_may_handle_the_limit),
        CONTRACT_TEST(A16_a_new_run_counts_its_steps_anew),
        CONTRACT_TEST(A16_the_engines_limits_hold_unless_a_workflow_has_its_own),
        CONTRACT_TEST(A16_a_limit_below_zero_is_refused),
        CONTRACT_TEST(A17_a_run_goes_on_with_the_code_that_is_registered_now),
        CONTRACT_TEST(A17_new_code_that_uses_a_name_for_another_kind_of_step_is_told),
        CONTRACT_TEST(A17_new_code_that_no_longer_waits_goes_on_when_the_run_is_woken),
        CONTRACT_TEST(A17_new_code_that_waits_for_another_type_is_woken_by_it),
        CONTRACT_TEST(A17_a_runner_claims_only_the_workflows_that_it_has),
        CONTRACT_TEST(A17_a_run_whose_workflow_was_away_stays_due_and_goes_on_when_it_is_back),
    };
    return contract_run_tests("contract A16 and A17", tests, sizeof tests / sizeof tests[0]);
}
