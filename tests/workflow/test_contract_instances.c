/* Contract B1 to B3, B7 and B8: what an instance is, how it is created, its events, and what is kept. */
#include "kit/contract_world.h"

WORKFLOW(run_nothing)
{
    return PAWL_OK;
}

WORKFLOW(run_naps)
{
    return pawl_sleep(run, "nap", "1 h");
}

WORKFLOW(run_fails)
{
    return pawl_run_fail(run, "Broken", "on purpose");
}

/* ---- B1: status and phase --------------------------------------------------------------------------------------------- */

static void assert_phase(struct contract *contract, enum pawl_instance_status status, enum pawl_phase phase)
{
    struct pawl_instance instance = contract_get(contract);
    assert_text(pawl_instance_status_name(instance.status), pawl_instance_status_name(status));
    assert_text(pawl_phase_name(instance.phase), pawl_phase_name(phase));
}

TEST_OF(contract, B1_statuses_and_phases_have_the_names_of_the_contract)
{
    static const char *const statuses[] = { "active", "waiting", "paused", "complete", "terminated", "errored" };
    static const char *const phases[] = { "queued",           "running",  "waitingForPause", "waiting", "paused",
                                          "waitingForRepair", "complete", "terminated",      "errored" };

    for (size_t i = 0; i < 6; i++)
        assert_text(pawl_instance_status_name((enum pawl_instance_status)i), statuses[i]);
    for (size_t i = 0; i < 9; i++)
        assert_text(pawl_phase_name((enum pawl_phase)i), phases[i]);
}

TEST_OF(contract, B1_a_new_instance_is_active_and_queued)
{
    contract_create(contract, run_naps, "{}");

    assert_phase(contract, PAWL_ACTIVE, PAWL_PHASE_QUEUED);
    struct pawl_instance instance = contract_get(contract);
    assert_int_equal(instance.run_number, 1);
    assert_int_equal(instance.created_at_ms, CONTRACT_START_MS);
    assert_int_equal(instance.updated_at_ms, CONTRACT_START_MS);
    assert_int_equal(instance.started_at_ms, 0);
    assert_int_equal(instance.completed_at_ms, 0);
    assert_null(instance.current_step);
}

BODY(body_looks)
{
    struct contract *contract = pawl_step_user(step);
    struct pawl_instance instance;
    PAWL_TRY(pawl_get(contract->engine, pawl_step_scope(step), "w", "i", &instance, NULL));
    contract_trace(contract, "%s/%s ", pawl_instance_status_name(instance.status), pawl_phase_name(instance.phase));
    PAWL_TRY(pawl_pause(contract->engine, "w", "i", NULL));
    PAWL_TRY(pawl_get(contract->engine, pawl_step_scope(step), "w", "i", &instance, NULL));
    contract_trace(contract, "%s/%s", pawl_instance_status_name(instance.status), pawl_phase_name(instance.phase));
    return PAWL_OK;
}

WORKFLOW(run_looks)
{
    return pawl_do(run, "x", NULL, body_looks, NULL, NULL);
}

TEST_OF(contract, B1_a_busy_run_is_running_or_waits_for_its_pause)
{
    contract_start(contract, run_looks, NULL);

    assert_text(contract->trace, "active/running active/waitingForPause");
    assert_phase(contract, PAWL_PAUSED, PAWL_PHASE_PAUSED);
}

TEST_OF(contract, B1_the_other_phases_are_the_statuses)
{
    contract_start(contract, run_naps, NULL);
    assert_phase(contract, PAWL_WAITING, PAWL_PHASE_WAITING);
    contract_control(contract, pawl_pause);
    assert_phase(contract, PAWL_PAUSED, PAWL_PHASE_PAUSED);
    contract_control(contract, pawl_resume);
    assert_phase(contract, PAWL_ACTIVE, PAWL_PHASE_QUEUED);
    contract_advance(contract, "1 h");
    assert_phase(contract, PAWL_COMPLETE, PAWL_PHASE_COMPLETE);
    contract_control(contract, pawl_restart);
    assert_phase(contract, PAWL_ACTIVE, PAWL_PHASE_QUEUED);
    contract_control(contract, pawl_terminate);
    assert_phase(contract, PAWL_TERMINATED, PAWL_PHASE_TERMINATED);
    contract_deploy(contract, run_fails);
    contract_control(contract, pawl_restart);
    contract_idle(contract);
    assert_phase(contract, PAWL_ERRORED, PAWL_PHASE_ERRORED);
}

/* ---- B2: ids --------------------------------------------------------------------------------------------------------------- */

TEST_OF(contract, B2_an_instance_id_is_1_to_100_letters_digits_dashes_and_underlines)
{
    const char *good[] = { "a", "_", "9-", "A_b-c", contract_long_text(contract->scope, 100) };
    const char *bad[] = { "", "-a", "a b", "a.b", "a/b", "caf\xc3\xa9", contract_long_text(contract->scope, 101) };
    contract_register(contract, "w", run_nothing);

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_ok(contract, pawl_world_create(contract->world, "w", good[i], NULL, &contract->error));

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pawl_instance instance;
        assert_status(pawl_world_create(contract->world, "w", bad[i], NULL, &contract->error),
                      PAWL_INVALID_INSTANCE_ID);
        assert_status(pawl_world_get(contract->world, "w", bad[i], &instance, &contract->error),
                      PAWL_INVALID_INSTANCE_ID);
    }
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_instance"), 5);
}

TEST_OF(contract, B2_an_id_is_unique_per_workflow)
{
    contract_register(contract, "w", run_nothing);
    contract_register(contract, "other", run_nothing);

    assert_ok(contract, pawl_world_create(contract->world, "w", "i", "1", &contract->error));
    assert_ok(contract, pawl_world_create(contract->world, "other", "i", "2", &contract->error));

    struct pawl_instance other;
    assert_ok(contract, pawl_world_get(contract->world, "other", "i", &other, &contract->error));
    assert_text(other.params_json, "2");
    assert_text(contract_get(contract).params_json, "1");
}

/* Two generated ids, of a world with that seed. */
static void generate_ids(struct contract *contract, uint64_t seed, char ids[2][128])
{
    contract_open_with(contract, (struct pawl_limits){ .steps_max = 0 }, seed);
    contract_register(contract, "w", run_nothing);
    for (size_t i = 0; i < 2; i++) {
        struct pawl_instance instance;
        assert_ok(contract, pawl_create(contract->engine, contract->scope, "w", NULL, &instance, &contract->error));
        snprintf(ids[i], 128, "%s", instance.id);
    }
}

TEST_OF(contract, B2_generated_ids_come_from_the_engines_randomness)
{
    char first[2][128], again[2][128], other[2][128];

    generate_ids(contract, 7, first);
    generate_ids(contract, 7, again);
    generate_ids(contract, 8, other);

    assert_string_equal(first[0], again[0]);
    assert_string_equal(first[1], again[1]);
    assert_string_not_equal(first[0], first[1]);
    assert_string_not_equal(first[0], other[0]);
    assert_true(strlen(first[0]) >= 16 && strlen(first[0]) <= 100);
    assert_int_equal(strspn(first[0], "0123456789abcdefghijklmnopqrstuvwxyz"), strlen(first[0]));
}

/* ---- B3: creating ------------------------------------------------------------------------------------------------------------ */

static pawl_status create(struct contract *contract, const char *id, const char *params_json, bool return_existing,
                          struct pawl_instance *out_instance)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    options.id = id;
    options.params_json = params_json;
    options.return_existing = return_existing;
    return pawl_create(contract->engine, contract->scope, "w", &options, out_instance, &contract->error);
}

TEST_OF(contract, B3_an_id_that_exists_is_refused_or_answered)
{
    struct pawl_instance instance;
    contract_start(contract, run_naps, "1");

    pawl_status refused = create(contract, "i", "2", false, &instance);
    struct pawl_error error = contract->error;
    pawl_status answered = create(contract, "i", "3", true, &instance);

    assert_status(refused, PAWL_INSTANCE_ID_ALREADY_EXISTS);
    assert_says(error.text, "\"i\"");
    assert_status(answered, PAWL_OK);
    assert_text(instance.id, "i");
    assert_text(instance.params_json, "1");
    assert_int_equal(instance.status, PAWL_WAITING);
    assert_text(instance.current_step->name, "nap");
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_instance"), 1);
    assert_int_equal(contract_tick(contract), 0);
}

TEST_OF(contract, B3_an_id_that_exists_may_belong_to_a_finished_instance)
{
    struct pawl_instance instance;
    contract_start(contract, run_nothing, "1");

    assert_status(create(contract, "i", "2", false, &instance), PAWL_INSTANCE_ID_ALREADY_EXISTS);
    assert_status(create(contract, "i", "2", true, &instance), PAWL_OK);

    assert_int_equal(instance.status, PAWL_COMPLETE);
    assert_text(instance.params_json, "1");
}

TEST_OF(contract, B3_create_never_waits_for_the_run)
{
    struct pawl_instance instance;
    contract_create(contract, run_nothing, NULL);

    assert_ok(contract, create(contract, "next", NULL, false, &instance));

    assert_int_equal(contract->passes, 0);
    assert_int_equal(instance.status, PAWL_ACTIVE);
    assert_int_equal(instance.phase, PAWL_PHASE_QUEUED);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_task"), 2);
}

static pawl_status create_batch(struct contract *contract, const struct pawl_batch_item *items, size_t count,
                                struct pawl_instance **out_instances, size_t *out_count)
{
    return pawl_create_batch(contract->engine, contract->scope, "w", items, count, out_instances, out_count,
                             &contract->error);
}

TEST_OF(contract, B3_a_batch_skips_known_ids_and_leaves_them_out_of_the_answer)
{
    const struct pawl_batch_item items[] = { { "a", "1" }, { "i", "2" }, { "b", NULL }, { "a", "3" } };
    struct pawl_instance *instances, a;
    size_t count;
    contract_start(contract, run_nothing, "0");

    assert_ok(contract, create_batch(contract, items, 4, &instances, &count));

    assert_int_equal(count, 2);
    assert_text(instances[0].id, "a");
    assert_text(instances[0].params_json, "1");
    assert_int_equal(instances[0].status, PAWL_ACTIVE);
    assert_int_equal(instances[0].created_at_ms, CONTRACT_START_MS);
    assert_text(instances[1].id, "b");
    assert_text(instances[1].params_json, NULL);
    assert_text(contract_get(contract).params_json, "0");
    assert_ok(contract, pawl_world_get(contract->world, "w", "a", &a, &contract->error));
    assert_text(a.params_json, "1");
}

TEST_OF(contract, B3_a_batch_has_at_most_100_instances)
{
    struct pawl_batch_item items[101];
    struct pawl_instance *instances;
    size_t count = 7;
    contract_register(contract, "w", run_nothing);
    for (size_t i = 0; i < 101; i++)
        items[i] = (struct pawl_batch_item){ pawl_scope_format(contract->scope, "i-%zu", i), "1" };

    assert_status(create_batch(contract, items, 101, &instances, &count), PAWL_INVALID);
    assert_says(contract->error.text, "100");
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_instance"), 0);
    assert_ok(contract, create_batch(contract, items, 100, &instances, &count));
    assert_int_equal(count, 100);
    assert_text(instances[99].id, "i-99");
    assert_ok(contract, create_batch(contract, items, 0, &instances, &count));
    assert_int_equal(count, 0);
}

TEST_OF(contract, B3_a_batch_with_one_bad_instance_creates_none)
{
    const struct pawl_batch_item bad_id[] = { { "a", NULL }, { "-b", NULL } };
    const struct pawl_batch_item bad_params[] = { { "a", NULL }, { "b", "{" } };
    const struct pawl_batch_item no_id[] = { { "a", NULL }, { NULL, NULL } };
    struct pawl_instance *instances;
    size_t count;
    contract_register(contract, "w", run_nothing);

    assert_status(create_batch(contract, bad_id, 2, &instances, &count), PAWL_INVALID_INSTANCE_ID);
    assert_says(contract->error.text, "instances[1]");
    assert_status(create_batch(contract, bad_params, 2, &instances, &count), PAWL_INVALID_JSON);
    assert_says(contract->error.text, "instances[1]");
    assert_status(create_batch(contract, no_id, 2, &instances, &count), PAWL_INVALID_INSTANCE_ID);

    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_instance"), 0);
}

/* ---- B7: events --------------------------------------------------------------------------------------------------------------- */

TEST_OF(contract, B7_events_are_buffered_for_active_waiting_and_paused_instances)
{
    contract_create(contract, run_naps, NULL);

    contract_send(contract, "go", "1");
    contract_idle(contract);
    contract_send(contract, "go", "2");
    contract_control(contract, pawl_pause);
    contract_send(contract, "go", "3");

    assert_instance(contract, PAWL_PAUSED);
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.event_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(history.events[i].payload_json[0], '1' + (int)i);
        assert_int_equal(history.events[i].delivered_at_ms, 0);
        assert_int_equal(history.events[i].run_number, 1);
        assert_true(strlen(history.events[i].id) > 0);
    }
}

TEST_OF(contract, B7_sending_an_event_answers_the_instance_as_it_stands_then)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    struct pawl_instance instance;
    contract_start(contract, run_naps, NULL);
    options.type = "go";

    assert_ok(contract,
              pawl_send_event(contract->engine, contract->scope, "w", "i", &options, &instance, &contract->error));

    assert_text(instance.id, "i");
    assert_int_equal(instance.status, PAWL_WAITING);
    assert_text(instance.current_step->name, "nap");
}

TEST_OF(contract, B7_an_event_id_makes_sending_idempotent_within_a_run)
{
    contract_start(contract, run_naps, NULL);

    assert_ok(contract, contract_send_id(contract, "go", "1", "e-1"));
    assert_ok(contract, contract_send_id(contract, "stop", "2", "e-1"));
    assert_ok(contract, contract_send_id(contract, "go", "3", "e-2"));
    contract_control(contract, pawl_restart);
    assert_ok(contract, contract_send_id(contract, "go", "4", "e-1"));

    struct pawl_history first = contract_history(contract, 1), second = contract_history(contract, 2);
    assert_int_equal(first.event_count, 2);
    assert_int_equal(second.event_count, 1);
    assert_text(second.events[0].id, "e-1");
    assert_text(second.events[0].payload_json, "4");
    assert_int_equal(second.events[0].run_number, 2);
}

/* Whoever sends it again, because the first answer was lost, must not take it for refused. */
TEST_OF(contract, B7_an_event_id_is_known_when_the_run_has_ended)
{
    contract_start(contract, run_naps, NULL);
    assert_ok(contract, contract_send_id(contract, "go", "1", "e-1"));
    contract_control(contract, pawl_terminate);

    assert_ok(contract, contract_send_id(contract, "go", "1", "e-1"));
    assert_int_equal(contract_send_id(contract, "go", "2", "e-2"), PAWL_INSTANCE_TERMINAL);

    assert_int_equal(contract_history(contract, 1).event_count, 1);
}

TEST_OF(contract, B7_an_event_that_was_sent_twice_is_delivered_once)
{
    contract_start(contract, run_naps, NULL);

    assert_ok(contract, contract_send_id(contract, "go", "1", "e-1"));
    assert_ok(contract, contract_send_id(contract, "go", "2", "e-1"));

    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.event_count, 1);
    assert_text(history.events[0].type, "go");
    assert_text(history.events[0].payload_json, "1");
}

WORKFLOW(run_waits_twice)
{
    PAWL_TRY(pawl_wait_for_event(run, "one", "go", NULL, NULL));
    return pawl_wait_for_event(run, "two", "go", NULL, NULL);
}

TEST_OF(contract, B7_an_event_that_is_sent_again_changes_nothing_and_wakes_nobody)
{
    contract_start(contract, run_waits_twice, NULL);
    assert_ok(contract, contract_send_id(contract, "go", "1", "e-1"));
    contract_idle(contract);
    contract_jump(contract, 1000);

    assert_ok(contract, contract_send_id(contract, "go", "1", "e-1"));

    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract_tick(contract), 0);
    assert_int_equal(contract_get(contract).updated_at_ms, CONTRACT_START_MS);
    assert_int_equal(contract_step(contract, "two").status, PAWL_STEP_WAITING);
}

TEST_OF(contract, B7_an_event_needs_a_valid_type_id_and_target)
{
    contract_create(contract, run_naps, NULL);

    assert_status(contract_send_id(contract, NULL, NULL, NULL), PAWL_INVALID_EVENT_TYPE);
    assert_status(contract_send_id(contract, "", NULL, NULL), PAWL_INVALID_EVENT_TYPE);
    assert_status(contract_send_id(contract, "-go", NULL, NULL), PAWL_INVALID_EVENT_TYPE);
    assert_status(contract_send_id(contract, "g o", NULL, NULL), PAWL_INVALID_EVENT_TYPE);
    assert_status(contract_send_id(contract, contract_long_text(contract->scope, 101), NULL, NULL),
                  PAWL_INVALID_EVENT_TYPE);
    assert_status(contract_send_id(contract, contract_long_text(contract->scope, 100), NULL, NULL), PAWL_OK);
    assert_status(contract_send_id(contract, "go", NULL, ""), PAWL_INVALID);
    assert_status(contract_send_id(contract, "go", NULL, "e 1"), PAWL_INVALID);
    assert_status(pawl_world_send_event(contract->world, "w", "nobody", "go", NULL, &contract->error),
                  PAWL_INSTANCE_NOT_FOUND);
    assert_says(contract->error.text, "\"nobody\"");
    assert_status(pawl_world_send_event(contract->world, "nothing", "i", "go", NULL, &contract->error),
                  PAWL_WORKFLOW_NOT_FOUND);

    assert_int_equal(contract_history(contract, 0).event_count, 1);
}

/* ---- B8: retention --------------------------------------------------------------------------------------------------------------- */

WORKFLOW(run_leaves_rows)
{
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "hello"));
    PAWL_TRY(pawl_do(run, "x", NULL, contract_body_ok, params, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, NULL));
    if (pawl_value_int(params, NULL, 0) == 1)
        return pawl_run_fail(run, "Broken", "on purpose");
    return pawl_return(run, out_result, "s", "done");
}

TEST_OF(contract, B8_a_finished_run_leaves_no_task_and_keeps_everything_else)
{
    static const char *const ids[] = { "complete", "errored", "terminated" };
    static const enum pawl_instance_status statuses[] = { PAWL_COMPLETE, PAWL_ERRORED, PAWL_TERMINATED };
    contract_register(contract, "w", run_leaves_rows);
    for (size_t i = 0; i < 3; i++)
        assert_ok(contract, pawl_world_create(contract->world, "w", ids[i], i == 1 ? "1" : "0", &contract->error));
    contract_idle(contract);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_task"), 3);

    assert_ok(contract, pawl_world_send_event(contract->world, "w", ids[0], "go", "1", &contract->error));
    assert_ok(contract, pawl_world_send_event(contract->world, "w", ids[1], "go", "1", &contract->error));
    assert_ok(contract, pawl_terminate(contract->engine, "w", ids[2], &contract->error));
    contract_idle(contract);
    contract_advance(contract, "5000 days");

    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_task"), 0);
    assert_int_equal(contract_next_wake(contract), INT64_MAX);
    for (size_t i = 0; i < 3; i++) {
        struct pawl_instance instance;
        struct pawl_history history;
        assert_ok(contract, pawl_world_get(contract->world, "w", ids[i], &instance, &contract->error));
        assert_int_equal(instance.status, statuses[i]);
        assert_int_equal(instance.completed_at_ms, CONTRACT_START_MS);
        assert_ok(contract, pawl_world_history(contract->world, "w", ids[i], 0, &history, &contract->error));
        assert_int_equal(history.step_count, 2);
        assert_int_equal(history.event_count, i < 2 ? 1 : 0);
        assert_true(history.log_count >= 1);
    }
}
