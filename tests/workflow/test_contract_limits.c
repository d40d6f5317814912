/* Contract A16: limits at the boundary. */
#include "kit/contract_world.h"

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

WORKFLOW(run_nothing)
{
    return PAWL_OK;
}

/* ---- A16: sizes -------------------------------------------------------------------------------------------------------- */

TEST_OF(contract, A16_params_have_up_to_1_mebibyte)
{
    contract_register(contract, "w", run_nothing);

    assert_ok(contract, create(contract, "fits", json_of_size(contract, MEBIBYTE)));
    pawl_status status = create(contract, "too-large", json_of_size(contract, MEBIBYTE + 1));

    assert_status(status, PAWL_PAYLOAD_TOO_LARGE);
    assert_says(contract->error.text, "params");
    assert_says(contract->error.text, "1048577");
    assert_int_equal(contract_query(contract, "SELECT length(params) FROM workflow_instance"), MEBIBYTE);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_instance"), 1);
}

TEST_OF(contract, A16_an_event_payload_has_up_to_1_mebibyte)
{
    contract_create(contract, run_nothing, NULL);

    assert_ok(contract, send(contract, json_of_size(contract, MEBIBYTE)));
    pawl_status status = send(contract, json_of_size(contract, MEBIBYTE + 1));

    assert_status(status, PAWL_PAYLOAD_TOO_LARGE);
    assert_says(contract->error.text, "payload");
    assert_int_equal(contract_history(contract, 0).event_count, 1);
}

/* A string whose JSON has contract->number bytes. */
BODY(body_of_size)
{
    struct contract *contract = pawl_step_user(step);
    char *text = contract_long_text(pawl_step_scope(step), (size_t)contract->number - 2);
    contract->bodies++;
    return text == NULL ? PAWL_NOMEM : pawl_result(step, out_result, "s", text);
}

WORKFLOW(run_result_of_size)
{
    return pawl_do(run, "x", NULL, body_of_size, NULL, NULL);
}

TEST_OF(contract, A16_a_step_result_of_1_mebibyte_fits)
{
    contract->number = MEBIBYTE;

    contract_start(contract, run_result_of_size, NULL);

    assert_output(contract, NULL);
    assert_int_equal(strlen(contract_step(contract, "x").result_json), MEBIBYTE);
}

TEST_OF(contract, A16_a_larger_step_result_fails_the_step_for_good)
{
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

WORKFLOW(run_output_of_size)
{
    const struct contract *contract = pawl_run_user(run);
    char *text = contract_long_text(pawl_run_scope(run), (size_t)contract->number - 2);
    return text == NULL ? PAWL_NOMEM : pawl_return(run, out_result, "s", text);
}

TEST_OF(contract, A16_an_output_of_1_mebibyte_fits)
{
    contract->number = MEBIBYTE;

    contract_start(contract, run_output_of_size, NULL);

    assert_instance(contract, PAWL_COMPLETE);
    assert_int_equal(strlen(contract_get(contract).output_json), MEBIBYTE);
}

TEST_OF(contract, A16_a_larger_output_fails_the_run)
{
    contract->number = MEBIBYTE + 1;

    contract_start(contract, run_output_of_size, NULL);

    assert_errored(contract, "PAYLOAD_TOO_LARGE", NULL);
}

WORKFLOW(run_log_of_size)
{
    struct contract *contract = pawl_run_user(run);
    for (size_t size = MEBIBYTE; size <= MEBIBYTE + 1; size++) {
        pawl_value *data;
        char *text = contract_long_text(pawl_run_scope(run), size - 2);
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &data, "s", text));
        contract_trace(contract, "%s ", pawl_status_name(pawl_log(run, PAWL_LOG_INFO, NULL, data, "%zu", size)));
    }
    return PAWL_OK;
}

TEST_OF(contract, A16_log_data_has_up_to_1_mebibyte)
{
    contract_start(contract, run_log_of_size, NULL);

    assert_text(contract->trace, "OK PAYLOAD_TOO_LARGE ");
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.log_count, 1);
    assert_int_equal(strlen(history.logs[0].data_json), MEBIBYTE);
    assert_output(contract, NULL);
}

/* ---- A16: JSON ---------------------------------------------------------------------------------------------------------- */

TEST_OF(contract, A16_json_nests_128_deep_and_no_deeper)
{
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
BODY(body_wraps)
{
    return pawl_result(step, out_result, "[V]", input);
}

WORKFLOW(run_wraps)
{
    return pawl_do(run, "x", NULL, body_wraps, params, NULL);
}

TEST_OF(contract, A16_a_result_that_nests_too_deep_is_INVALID_JSON)
{
    contract_start(contract, run_wraps, json_of_depth(contract, 128));

    assert_true(contract_step(contract, "x").status != PAWL_STEP_COMPLETED);
    assert_text(contract_step(contract, "x").error_name, "INVALID_JSON");
}

TEST_OF(contract, A16_a_result_that_nests_just_as_deep_fits)
{
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

TEST_OF(contract, A16_a_result_of_a_binding_that_is_not_json_fails_the_step_for_good)
{
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

TEST_OF(contract, A16_what_is_not_json_is_refused_with_its_place)
{
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
WORKFLOW(run_many_steps)
{
    int64_t count = pawl_value_int(params, NULL, 0);
    for (int64_t i = 0; i < count; i++)
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %lld", (long long)i), NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 s"));
    for (int64_t i = 0; i < count; i++)
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %lld", (long long)i), NULL, contract_body_ok, NULL, NULL));
    return PAWL_OK;
}

TEST_IN(contract_of_passes, contract, A16_a_run_has_up_to_1024_steps_and_replay_does_not_count_again)
{
    contract_start(contract, run_many_steps, "1024");

    contract_advance(contract, "1 s");

    assert_output(contract, NULL);
    assert_int_equal(contract->bodies, 1024);
    assert_int_equal(contract_history(contract, 0).step_count, 1025);
}

TEST_IN(contract_of_passes, contract, A16_the_1025th_step_is_MAX_STEPS_EXCEEDED)
{
    contract_start(contract, run_many_steps, "1025");

    assert_errored(contract, "MAX_STEPS_EXCEEDED", NULL);
    assert_says(contract_get(contract).error_message, "1024");
    assert_says(contract_get(contract).error_message, "\"step 1024\"");
    assert_int_equal(contract->bodies, 1024);
    assert_int_equal(contract_history(contract, 0).step_count, 1024);
}

static void trace_status(pawl_run *run, pawl_status status)
{
    contract_trace(pawl_run_user(run), "%s ", pawl_status_name(status));
}

WORKFLOW(run_mixed_steps)
{
    PAWL_TRY(pawl_do(run, "one", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "0"));
    if (pawl_wait_for_event(run, "two", "go", "1 s", NULL) == PAWL_SUSPENDED)
        return PAWL_SUSPENDED;
    PAWL_TRY(pawl_do(run, "three", NULL, contract_body_ok, NULL, NULL));
    trace_status(run, pawl_do(run, "four", NULL, contract_body_ok, NULL, NULL));
    trace_status(run, pawl_wait_for_event(run, "five", "go", "1 s", NULL));
    trace_status(run, pawl_sleep(run, "six", "0"));
    PAWL_TRY(pawl_do(run, "one", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "0"));
    return pawl_return(run, out_result, "s", "handled");
}

TEST_OF(contract, A16_waits_are_counted_apart_from_steps_and_the_run_may_handle_the_limits)
{
    contract_open_with(contract, (struct pawl_limits){ .steps_max = 2, .waits_max = 2 }, 1);
    contract_start(contract, run_mixed_steps, NULL);

    contract_advance(contract, "1 s");

    const char *told = "MAX_STEPS_EXCEEDED MAX_WAITS_EXCEEDED MAX_WAITS_EXCEEDED ";
    assert_int_equal(strncmp(contract->trace, told, strlen(told)), 0); /* once in each pass that comes so far */
    assert_output(contract, "\"handled\"");
    assert_int_equal(contract_history(contract, 0).step_count, 4);
}

WORKFLOW(run_many_sleeps)
{
    int64_t count = pawl_value_int(params, NULL, 0);
    for (int64_t i = 0; i < count; i++)
        PAWL_TRY(pawl_sleep_ms(run, pawl_run_format(run, "nap %lld", (long long)i), 0));
    PAWL_TRY(pawl_sleep(run, "nap 0", "1 s")); /* which is over */
    return pawl_do(run, "awake", NULL, contract_body_ok, NULL, NULL);
}

TEST_IN(contract_of_passes, contract, A16_a_run_has_up_to_16384_sleeps_and_waits)
{
    contract_start(contract, run_many_sleeps, "16384");

    assert_output(contract, NULL);
    assert_int_equal(contract->bodies, 1);
}

TEST_IN(contract_of_passes, contract, A16_one_more_is_MAX_WAITS_EXCEEDED)
{
    contract_start(contract, run_many_sleeps, "16385");

    assert_errored(contract, "MAX_WAITS_EXCEEDED", NULL);
    assert_says(contract_get(contract).error_message, "16384");
    assert_says(contract_get(contract).error_message, "\"nap 16384\"");
    assert_int_equal(contract->bodies, 0);
}

BRANCH(do_nothing)
{
    return PAWL_OK;
}

/* One of the kinds of waits that can be over at once. */
static pawl_status wait_in_vain(pawl_run *run, const char *kind, const char *name)
{
    struct pawl_branch branch = { .run = do_nothing };
    const char *token;
    size_t winner;
    if (strcmp(kind, "events") == 0)
        return pawl_wait_for_event(run, name, "go", "1 s", NULL);
    if (strcmp(kind, "races") == 0)
        return pawl_first(run, name, &branch, 1, &winner);
    if (strcmp(kind, "tokens") == 0)
        return pawl_deferred_token(run, name, &token);
    return pawl_sleep_until(run, name, 1);
}

WORKFLOW(run_waits_in_vain)
{
    struct contract *contract = pawl_run_user(run);
    const char *kind = pawl_value_string(params, NULL, "");
    for (int i = 0;; i++) {
        PAWL_TRY(wait_in_vain(run, kind, pawl_run_format(run, "wait %d", i)));
        contract->number = i + 1;
    }
}

TEST_OF(contract, A16_a_loop_of_waits_of_any_kind_that_are_over_at_once_ends)
{
    static const char *const kinds[] = { "\"events\"", "\"races\"", "\"tokens\"", "\"moments\"" };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        contract_open_with(contract, (struct pawl_limits){ .waits_max = 7 }, 1);
        contract_create(contract, run_waits_in_vain, kinds[i]);
        for (int sent = 0; sent < 10; sent++)
            contract_send(contract, "go", NULL);

        contract_idle(contract);

        assert_errored(contract, "MAX_WAITS_EXCEEDED", NULL);
        assert_int_equal(contract->number, 7);
    }
}

TEST_OF(contract, A16_a_new_run_counts_its_steps_anew)
{
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

TEST_OF(contract, A16_the_engines_limits_hold_unless_a_workflow_has_its_own)
{
    const char *json_20 = "\"123456789012345678\"", *json_21 = "\"1234567890123456789\"";
    contract_open_with(contract, (struct pawl_limits){ .steps_max = 2, .payload_bytes_max = 20 }, 1);
    contract_register(contract, "plain", run_many_steps);
    contract_register_as(contract, (struct pawl_workflow){ .name = "more",
                                                           .run = run_many_steps,
                                                           .limits = { .steps_max = 3, .payload_bytes_max = 21 } });
    contract_register_as(contract, (struct pawl_workflow){ .name = "less",
                                                           .run = run_many_steps,
                                                           .limits = { .steps_max = 1, .payload_bytes_max = 19 } });
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

TEST_OF(contract, A16_a_limit_below_zero_is_refused)
{
    struct pawl_workflow steps = { .name = "w", .run = run_nothing, .limits = { .steps_max = -1 } };
    struct pawl_workflow bytes = { .name = "w", .run = run_nothing, .limits = { .payload_bytes_max = -1 } };
    struct pawl_workflow waits = { .name = "w", .run = run_nothing, .limits = { .waits_max = -1 } };

    assert_status(pawl_register(contract->engine, &steps, &contract->error), PAWL_INVALID);
    assert_says(contract->error.text, "\"w\"");
    assert_status(pawl_register(contract->engine, &bytes, &contract->error), PAWL_INVALID);
    assert_status(pawl_register(contract->engine, &waits, &contract->error), PAWL_INVALID);
}

/* ---- A16: unread events --------------------------------------------------------------------------------------------- */

enum { UNREAD_MAX = 3 };

WORKFLOW(take_two)
{
    PAWL_TRY(pawl_wait_for_event(run, "begin", "begin", NULL, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "first", "note", NULL, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "second", "note", NULL, NULL));
    return pawl_wait_for_event(run, "end", "end", NULL, NULL);
}

BODY(send_note)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    return pawl_step_send_event(step, "sink", "s", "note", NULL);
}

WORKFLOW(send_and_end)
{
    return pawl_do(run, "send", NULL, send_note, NULL, NULL);
}

static pawl_status send_to_sink(struct contract *contract, const char *type)
{
    return pawl_world_send_event(contract->world, "sink", "s", type, NULL, &contract->error);
}

TEST_OF(contract, A16_a_run_has_only_so_many_events_that_no_step_has_taken)
{
    contract_open_with(contract, (struct pawl_limits){ .unread_events_max = UNREAD_MAX }, 1);
    contract_register(contract, "sink", take_two);
    assert_ok(contract, pawl_world_create(contract->world, "sink", "s", NULL, &contract->error));
    for (int i = 0; i < UNREAD_MAX; i++)
        assert_ok(contract, send_to_sink(contract, "note"));
    assert_status(send_to_sink(contract, "note"), PAWL_MAX_EVENTS_EXCEEDED);
    assert_says(contract->error.text, "has 3 events that no step has taken");
    contract_idle(contract); /* it waits for another one, which comes too late */
    assert_status(send_to_sink(contract, "begin"), PAWL_MAX_EVENTS_EXCEEDED);
    assert_ok(contract, pawl_terminate(contract->engine, "sink", "s", &contract->error)); /* which is no event */
}

TEST_OF(contract, A16_a_step_that_sends_one_too_many_is_tried_again)
{
    contract_open_with(contract, (struct pawl_limits){ .unread_events_max = UNREAD_MAX }, 1);
    contract_register(contract, "sink", take_two);
    assert_ok(contract, pawl_world_create(contract->world, "sink", "s", NULL, &contract->error));
    for (int i = 0; i < UNREAD_MAX; i++)
        assert_ok(contract, send_to_sink(contract, "note"));

    contract_start(contract, send_and_end, NULL);

    struct pawl_step_record step = contract_step(contract, "send");
    assert_int_equal(step.status, PAWL_STEP_WAITING);
    assert_int_equal(step.attempts, 1);
    assert_string_equal(step.error_name, "MAX_EVENTS_EXCEEDED");
    assert_says(step.error_message, "3 events");
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_event WHERE type = 'note'"), UNREAD_MAX);

    struct pw_definition *sink = pw_engine_find(contract->engine, pw_text_of("sink"));
    assert_non_null(sink);
    sink->limits.unread_events_max++; /* for this one alone */
    assert_ok(contract, send_to_sink(contract, "begin"));
    sink->limits.unread_events_max--;
    contract_advance(contract, "1 minute");
    assert_int_equal(contract_get(contract).status, PAWL_COMPLETE);
    assert_int_equal(contract->bodies, 2);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_event WHERE type = 'note'"),
                     UNREAD_MAX + 1);
}

/* ---- Texts that are cut ------------------------------------------------------------------------------------------ */

enum { EURO_SIZE = 3, MANY = 4000 };

/* So many characters of three bytes. */
static const char *euros(pawl_scope *scope, size_t count)
{
    char *text = contract_long_text(scope, count * EURO_SIZE);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * EURO_SIZE, "\xe2\x82\xac", EURO_SIZE);
    return text;
}

static void assert_euros(const char *text, size_t size_least, size_t size_most)
{
    size_t size = strlen(text);
    assert_in_range(size, size_least, size_most);
    assert_int_equal(size % EURO_SIZE, 0);
    for (size_t i = 0; i < size; i += EURO_SIZE)
        assert_memory_equal(text + i, "\xe2\x82\xac", EURO_SIZE);
}

BODY(body_fails_at_length)
{
    const char *text = euros(pawl_step_scope(step), MANY);
    return pawl_fail_for_good(step, "Long", "%s", text);
}

WORKFLOW(run_fails_at_length)
{
    pawl_status status = pawl_do(run, "x", NULL, body_fails_at_length, NULL, NULL);
    if (status != PAWL_FAILED)
        return status;
    return pawl_run_fail(run, "Longer", "%s%s", "a", euros(pawl_run_scope(run), MANY));
}

TEST_OF(contract, A16_a_long_message_is_cut_between_characters)
{
    contract_start(contract, run_fails_at_length, NULL);

    assert_euros(contract_step(contract, "x").error_message, 8189, 8192);
    struct pawl_instance instance = contract_get(contract);
    assert_text(instance.error_name, "Longer");
    assert_int_equal(instance.error_message[0], 'a');
    assert_euros(instance.error_message + 1, 8187, 8191);
    struct pawl_history history = contract_history(contract, 0);
    for (size_t i = 0; i < history.log_count; i++) { /* what the engine says of it is cut shorter */
        const char *quoted = strstr(history.logs[i].message, "\xe2");
        assert_non_null(quoted);
        assert_euros(quoted, 390, 512);
    }
}

/* The names of steps that the engine's own errors quote, up to 80 bytes of them. */
WORKFLOW(run_misuses_a_long_name)
{
    struct contract *contract = pawl_run_user(run);
    const char *name = euros(pawl_run_scope(run), 50);
    PAWL_TRY(pawl_do(run, name, NULL, contract_body_ok, NULL, NULL));
    pawl_status status = pawl_sleep(run, name, "1 s");
    if (status == PAWL_SUSPENDED)
        return status;
    contract_trace(contract, "%s: %s; ", pawl_status_name(status), pawl_run_failure(run).message);
    status = pawl_sleep(run, "nap", name);
    contract_trace(contract, "%s: %s; ", pawl_status_name(status), pawl_run_failure(run).message);
    status = pawl_wait_for_event(run, "wait", name, "1 h", NULL);
    contract_trace(contract, "%s: %s; ", pawl_status_name(status), pawl_run_failure(run).message);
    return PAWL_OK;
}

TEST_OF(contract, A16_a_long_name_is_quoted_up_to_a_whole_character)
{
    char quoted[100] = "\"";
    for (size_t i = 0; i < 80 / EURO_SIZE; i++)
        memcpy(quoted + 1 + i * EURO_SIZE, "\xe2\x82\xac", EURO_SIZE);
    quoted[1 + 80 / EURO_SIZE * EURO_SIZE] = '"';

    contract_start(contract, run_misuses_a_long_name, NULL);

    char said[400];
    (void)snprintf(said, sizeof said, "STEP_TYPE_MISMATCH: step %s is a do", quoted);
    assert_says(contract->trace, said);
    (void)snprintf(said, sizeof said, "INVALID_DURATION: %s is not a duration", quoted);
    assert_says(contract->trace, said);
    assert_says(contract->trace, "INVALID_EVENT_TYPE: \"");
    assert_says(contract->trace, "\xe2\x82\xac\" is not an event type");
}
