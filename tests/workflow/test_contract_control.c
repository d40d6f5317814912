/* Contract B4 to B6: pause, resume, terminate and restart, from every status and while a turn is under way. */
#include "kit/contract_world.h"

/* One step, a wait of ten hours for "go", another step.  Fails before the wait when params are 1. */
WORKFLOW(run_stages)
{
    struct pawl_event event;
    PAWL_TRY(pawl_do(run, "before", NULL, contract_body_ok, params, NULL));
    if (pawl_value_int(params, NULL, 0) == 1)
        return pawl_run_fail(run, "Broken", "on purpose");
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", "10 h", &event));
    PAWL_TRY(pawl_do(run, "after", NULL, contract_body_ok, event.payload, NULL));
    return pawl_return(run, out_result, "s", "done");
}

/* Brings "i" into the status. */
static void bring_into(struct contract *contract, enum pawl_instance_status status)
{
    contract_create(contract, run_stages, status == PAWL_ERRORED ? "1" : "0");
    if (status != PAWL_ACTIVE)
        contract_idle(contract);
    switch (status) {
    case PAWL_ACTIVE:
    case PAWL_WAITING:
    case PAWL_ERRORED:
        break;
    case PAWL_PAUSED:
        contract_control(contract, pawl_pause);
        break;
    case PAWL_COMPLETE:
        contract_send(contract, "go", "7");
        contract_idle(contract);
        break;
    case PAWL_TERMINATED:
        contract_control(contract, pawl_terminate);
        break;
    }
    assert_instance(contract, status);
}

/* ---- The table of transitions ------------------------------------------------------------------------------------------ */

struct transition {
    enum pawl_instance_status from;
    contract_control_fn *control;
    pawl_status answer;
    enum pawl_instance_status to;
};

static void assert_transition(struct contract *contract, const struct transition *transition)
{
    contract_open_with(contract, (struct pawl_limits){ .steps_max = 0 }, 1);
    bring_into(contract, transition->from);
    struct pawl_instance before = contract_get(contract);
    contract_jump(contract, 1000);

    pawl_status answer = transition->control(contract->engine, "w", "i", &contract->error);

    bool restarts = transition->control == pawl_restart;
    assert_status(answer, transition->answer);
    assert_instance(contract, transition->to);
    struct pawl_instance after = contract_get(contract);
    assert_int_equal(after.run_number, before.run_number + restarts);
    assert_int_equal(after.created_at_ms, CONTRACT_START_MS);
    assert_text(after.params_json, before.params_json);
    bool changed = restarts || transition->from != transition->to;
    assert_int_equal(after.updated_at_ms, before.updated_at_ms + (changed ? 1000 : 0));
    if (answer != PAWL_OK)
        assert_says(contract->error.text, pawl_instance_status_name(transition->from));
}

static void assert_transitions(struct contract *contract, const struct transition *transitions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_transition(contract, &transitions[i]);
}

TEST_OF(contract, B4_pause_from_every_status)
{
    static const struct transition transitions[] = {
        { PAWL_ACTIVE, pawl_pause, PAWL_OK, PAWL_PAUSED },
        { PAWL_WAITING, pawl_pause, PAWL_OK, PAWL_PAUSED },
        { PAWL_PAUSED, pawl_pause, PAWL_OK, PAWL_PAUSED },
        { PAWL_COMPLETE, pawl_pause, PAWL_INSTANCE_TERMINAL, PAWL_COMPLETE },
        { PAWL_TERMINATED, pawl_pause, PAWL_INSTANCE_TERMINAL, PAWL_TERMINATED },
        { PAWL_ERRORED, pawl_pause, PAWL_INSTANCE_TERMINAL, PAWL_ERRORED },
    };
    assert_transitions(contract, transitions, sizeof transitions / sizeof transitions[0]);
}

TEST_OF(contract, B4_resume_from_every_status)
{
    static const struct transition transitions[] = {
        { PAWL_ACTIVE, pawl_resume, PAWL_OK, PAWL_ACTIVE },
        { PAWL_WAITING, pawl_resume, PAWL_OK, PAWL_WAITING },
        { PAWL_PAUSED, pawl_resume, PAWL_OK, PAWL_ACTIVE },
        { PAWL_COMPLETE, pawl_resume, PAWL_INSTANCE_TERMINAL, PAWL_COMPLETE },
        { PAWL_TERMINATED, pawl_resume, PAWL_INSTANCE_TERMINAL, PAWL_TERMINATED },
        { PAWL_ERRORED, pawl_resume, PAWL_INSTANCE_TERMINAL, PAWL_ERRORED },
    };
    assert_transitions(contract, transitions, sizeof transitions / sizeof transitions[0]);
}

TEST_OF(contract, B5_terminate_from_every_status)
{
    static const struct transition transitions[] = {
        { PAWL_ACTIVE, pawl_terminate, PAWL_OK, PAWL_TERMINATED },
        { PAWL_WAITING, pawl_terminate, PAWL_OK, PAWL_TERMINATED },
        { PAWL_PAUSED, pawl_terminate, PAWL_OK, PAWL_TERMINATED },
        { PAWL_COMPLETE, pawl_terminate, PAWL_INSTANCE_TERMINAL, PAWL_COMPLETE },
        { PAWL_TERMINATED, pawl_terminate, PAWL_INSTANCE_TERMINAL, PAWL_TERMINATED },
        { PAWL_ERRORED, pawl_terminate, PAWL_INSTANCE_TERMINAL, PAWL_ERRORED },
    };
    assert_transitions(contract, transitions, sizeof transitions / sizeof transitions[0]);
}

TEST_OF(contract, B5_restart_from_every_status)
{
    static const struct transition transitions[] = {
        { PAWL_ACTIVE, pawl_restart, PAWL_OK, PAWL_ACTIVE },     { PAWL_WAITING, pawl_restart, PAWL_OK, PAWL_ACTIVE },
        { PAWL_PAUSED, pawl_restart, PAWL_OK, PAWL_ACTIVE },     { PAWL_COMPLETE, pawl_restart, PAWL_OK, PAWL_ACTIVE },
        { PAWL_TERMINATED, pawl_restart, PAWL_OK, PAWL_ACTIVE }, { PAWL_ERRORED, pawl_restart, PAWL_OK, PAWL_ACTIVE },
    };
    assert_transitions(contract, transitions, sizeof transitions / sizeof transitions[0]);
}

static pawl_status send_go(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = "go";
    options.payload_json = "1";
    return pawl_send_event(engine, NULL, workflow, id, &options, NULL, error);
}

TEST_OF(contract, B6_pause_terminate_and_event_on_a_finished_instance_are_INSTANCE_TERMINAL)
{
    static const enum pawl_instance_status finished[] = { PAWL_COMPLETE, PAWL_TERMINATED, PAWL_ERRORED };
    static contract_control_fn *const controls[] = { pawl_pause, pawl_resume, pawl_terminate, send_go };

    for (size_t f = 0; f < 3; f++) {
        contract_open_with(contract, (struct pawl_limits){ .steps_max = 0 }, 1);
        bring_into(contract, finished[f]);
        size_t events = contract_history(contract, 0).event_count, logs = contract_history(contract, 0).log_count;
        for (size_t c = 0; c < 4; c++) {
            assert_status(controls[c](contract->engine, "w", "i", &contract->error), PAWL_INSTANCE_TERMINAL);
            assert_says(contract->error.text, "\"i\"");
        }
        assert_instance(contract, finished[f]);
        assert_int_equal(contract_history(contract, 0).event_count, events);
        assert_int_equal(contract_history(contract, 0).log_count, logs);
        assert_int_equal(contract_tick(contract), 0);
    }
}

TEST_OF(contract, B6_control_of_what_is_not_there_is_told)
{
    static contract_control_fn *const controls[] = { pawl_pause, pawl_resume, pawl_terminate, pawl_restart, send_go };
    contract_create(contract, run_stages, NULL);

    for (size_t c = 0; c < 5; c++) {
        assert_status(controls[c](contract->engine, "w", "nobody", &contract->error), PAWL_INSTANCE_NOT_FOUND);
        assert_status(controls[c](contract->engine, "nothing", "i", &contract->error), PAWL_WORKFLOW_NOT_FOUND);
        assert_status(controls[c](contract->engine, "w", "-", &contract->error), PAWL_INVALID_INSTANCE_ID);
    }
}

/* ---- B4: pausing -------------------------------------------------------------------------------------------------------- */

TEST_OF(contract, B4_a_paused_queued_run_does_not_start_until_it_is_resumed)
{
    bring_into(contract, PAWL_ACTIVE);
    contract_control(contract, pawl_pause);

    contract_advance(contract, "1 day");
    int passes_while_paused = contract->passes;
    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_int_equal(passes_while_paused, 0);
    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(contract_get(contract).started_at_ms, CONTRACT_START_MS + DAY_MS);
}

TEST_OF(contract, B4_a_paused_run_is_due_at_no_time)
{
    bring_into(contract, PAWL_PAUSED);

    assert_int_equal(contract_next_wake(contract), INT64_MAX);
    assert_text(contract_get(contract).current_step->name, "wait");
}

TEST_OF(contract, B4_timers_go_on_counting_while_paused)
{
    bring_into(contract, PAWL_PAUSED);
    contract_advance(contract, "11 h");
    struct pawl_step_record while_paused = contract_step(contract, "wait");

    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_int_equal(while_paused.status, PAWL_STEP_WAITING);
    assert_errored(contract, "WAIT_FOR_EVENT_TIMEOUT", NULL);
    assert_int_equal(contract_get(contract).completed_at_ms, CONTRACT_START_MS + 11 * HOUR_MS);
}

TEST_OF(contract, B4_a_run_that_is_resumed_early_waits_until_the_same_moment)
{
    bring_into(contract, PAWL_PAUSED);
    contract_advance(contract, "1 h");

    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract_step(contract, "wait").wake_at_ms, CONTRACT_START_MS + 10 * HOUR_MS);
    assert_int_equal(contract_next_wake(contract), CONTRACT_START_MS + 10 * HOUR_MS);
    assert_int_equal(contract->bodies, 1);
}

WORKFLOW(run_retries)
{
    return pawl_do(run, "x", NULL, contract_body_fails, NULL, out_result);
}

TEST_OF(contract, B4_a_retry_that_comes_due_while_paused_runs_after_the_resume)
{
    contract_start(contract, run_retries, NULL);
    contract_control(contract, pawl_pause);

    contract_advance(contract, "1 h");
    int bodies_while_paused = contract->bodies;
    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_int_equal(bodies_while_paused, 1);
    assert_int_equal(contract->bodies, 2);
    assert_int_equal(contract_step(contract, "x").next_retry_at_ms, CONTRACT_START_MS + HOUR_MS + 20000);
}

TEST_OF(contract, B4_events_of_a_paused_run_are_buffered)
{
    bring_into(contract, PAWL_PAUSED);

    contract_send(contract, "go", "7");
    int64_t turns = contract_tick(contract);
    struct pawl_instance while_paused = contract_get(contract);
    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_int_equal(turns, 0);
    assert_int_equal(while_paused.status, PAWL_PAUSED);
    assert_output(contract, "\"done\"");
    assert_text(contract_step(contract, "after").result_json, "7");
}

/* Asks for a pause from within; number 1: takes it back again; number 2: then fails; number 3: then times out. */
BODY(body_pauses)
{
    struct contract *contract = pawl_step_user(step);
    if (contract->bodies++ > 0)
        return PAWL_OK;
    PAWL_TRY(pawl_pause(contract->engine, "w", "i", NULL));
    PAWL_TRY(pawl_pause(contract->engine, "w", "i", NULL));
    if (contract->number == 1)
        PAWL_TRY(pawl_resume(contract->engine, "w", "i", NULL));
    if (contract->number == 2)
        return pawl_fail(step, "Broken", "while a pause is asked for");
    if (contract->number == 3)
        contract_jump(contract, HOUR_MS);
    return pawl_result(step, out_result, "s", "kept");
}

WORKFLOW(run_pauses)
{
    struct contract *contract = pawl_run_user(run);
    PAWL_TRY(pawl_do(run, "pauses", NULL, body_pauses, NULL, out_result));
    contract_trace(contract, "goes on; ");
    return pawl_do(run, "next", NULL, contract_body_ok, NULL, NULL);
}

TEST_OF(contract, B4_a_busy_run_is_paused_at_its_next_step_boundary)
{
    contract_start(contract, run_pauses, NULL);

    assert_instance(contract, PAWL_PAUSED);
    assert_int_equal(contract_step(contract, "pauses").status, PAWL_STEP_COMPLETED);
    assert_text(contract_step(contract, "pauses").result_json, "\"kept\"");
    assert_false(contract_has_step(contract, "next"));
    assert_int_equal(contract->bodies, 1);
    contract_control(contract, pawl_resume);
    contract_idle(contract);
    assert_output(contract, "\"kept\"");
    assert_int_equal(contract->bodies, 2);
}

TEST_OF(contract, B4_a_pause_comes_before_user_code_goes_on)
{
    contract_start(contract, run_pauses, NULL);

    assert_instance(contract, PAWL_PAUSED);
    assert_text(contract->trace, "");
}

WORKFLOW(run_pauses_last)
{
    return pawl_do(run, "pauses", NULL, body_pauses, NULL, out_result);
}

TEST_OF(contract, B4_a_pause_during_the_last_step_comes_before_the_end_of_the_run)
{
    contract_start(contract, run_pauses_last, NULL);
    struct pawl_instance paused = contract_get(contract);

    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_int_equal(paused.status, PAWL_PAUSED);
    assert_text(paused.output_json, NULL);
    assert_output(contract, "\"kept\"");
    assert_int_equal(contract->bodies, 1);
}

TEST_OF(contract, B4_a_pause_that_was_taken_back_in_time_does_not_happen)
{
    contract->number = 1;

    contract_start(contract, run_pauses, NULL);

    assert_output(contract, "\"kept\"");
}

TEST_OF(contract, B4_a_pause_during_an_attempt_that_fails_keeps_the_attempt_and_its_retry)
{
    contract->number = 2;

    contract_start(contract, run_pauses, NULL);
    contract_advance(contract, "5 s");
    struct pawl_instance paused = contract_get(contract);
    contract_control(contract, pawl_resume);
    contract_idle(contract);
    struct pawl_step_record step = contract_step(contract, "pauses");

    assert_int_equal(paused.status, PAWL_PAUSED);
    assert_int_equal(step.attempts, 1);
    assert_int_equal(step.next_retry_at_ms, CONTRACT_START_MS + 10000);
    assert_instance(contract, PAWL_WAITING);
    contract_advance(contract, "5 s");
    assert_output(contract, NULL);
    assert_int_equal(contract_step(contract, "pauses").attempts, 2);
}

TEST_OF(contract, B4_a_pause_during_an_attempt_that_times_out_is_kept)
{
    contract->number = 3;

    contract_start(contract, run_pauses, NULL);

    assert_instance(contract, PAWL_PAUSED);
    assert_text(contract_step(contract, "pauses").error_name, "STEP_TIMEOUT");
}

/* ---- B5: terminating and restarting ------------------------------------------------------------------------------------------ */

/* Ends its own run from within, once, having logged, registered and come to a result. */
BODY(body_ends_itself)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "in run %d", contract->bodies));
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid (id) VALUES ($1)", "[i]", contract->bodies));
    if (contract->bodies == 1)
        PAWL_TRY((contract->number == 0 ? pawl_terminate : pawl_restart)(contract->engine, "w", "i", NULL));
    return pawl_result(step, out_result, "i", contract->bodies);
}

WORKFLOW(run_ends_itself)
{
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "before"));
    PAWL_TRY(pawl_do(run, "ends", NULL, body_ends_itself, NULL, out_result));
    return pawl_do(run, "next", NULL, contract_body_ok, NULL, NULL);
}

static size_t count_user_logs(const struct pawl_history *history)
{
    size_t count = 0;
    for (size_t i = 0; i < history->log_count; i++)
        count += strcmp(history->logs[i].category, "system") != 0;
    return count;
}

TEST_OF(contract, B5_a_turn_under_way_commits_nothing_after_a_terminate)
{
    contract_execute(contract, "CREATE TABLE paid (id INTEGER PRIMARY KEY)");

    contract_start(contract, run_ends_itself, NULL);

    assert_instance(contract, PAWL_TERMINATED);
    assert_text(contract_get(contract).output_json, NULL);
    assert_text(contract_get(contract).error_name, NULL);
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.step_count, 0);
    assert_int_equal(count_user_logs(&history), 0);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM paid"), 0);
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_task"), 0);
}

TEST_OF(contract, B5_a_turn_under_way_on_the_old_run_commits_nothing_after_a_restart)
{
    contract_execute(contract, "CREATE TABLE paid (id INTEGER PRIMARY KEY)");
    contract->number = 1;

    contract_start(contract, run_ends_itself, NULL);

    assert_output(contract, "2");
    assert_int_equal(contract_get(contract).run_number, 2);
    struct pawl_history old = contract_history(contract, 1);
    assert_int_equal(old.step_count, 0);
    assert_int_equal(count_user_logs(&old), 0);
    assert_int_equal(contract_history(contract, 2).step_count, 2);
    assert_int_equal(contract_query(contract, "SELECT sum(id) FROM paid"), 2);
}

TEST_OF(contract, B5_a_terminated_run_never_goes_on)
{
    bring_into(contract, PAWL_WAITING);

    contract_control(contract, pawl_terminate);
    contract_advance(contract, "1 day");

    assert_instance(contract, PAWL_TERMINATED);
    struct pawl_instance instance = contract_get(contract);
    assert_int_equal(instance.completed_at_ms, CONTRACT_START_MS);
    assert_int_equal(instance.started_at_ms, CONTRACT_START_MS);
    assert_text(instance.output_json, NULL);
    assert_text(instance.error_name, NULL);
    assert_int_equal(contract->bodies, 1);
}

TEST_OF(contract, B5_a_restart_keeps_earlier_runs_and_starts_clean)
{
    bring_into(contract, PAWL_COMPLETE);
    contract_jump(contract, HOUR_MS);

    contract_control(contract, pawl_restart);
    struct pawl_instance restarted = contract_get(contract);
    contract_idle(contract);

    assert_int_equal(restarted.run_number, 2);
    assert_int_equal(restarted.status, PAWL_ACTIVE);
    assert_text(restarted.output_json, NULL);
    assert_int_equal(restarted.started_at_ms, 0);
    assert_int_equal(restarted.completed_at_ms, 0);
    assert_int_equal(restarted.created_at_ms, CONTRACT_START_MS);
    assert_null(restarted.current_step);
    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract->bodies, 3);
    struct pawl_history first = contract_history(contract, 1);
    assert_int_equal(first.run_number, 1);
    assert_int_equal(first.step_count, 3);
    assert_text(first.steps[2].name, "after");
    assert_int_equal(first.event_count, 1);
    assert_text(first.events[0].consumed_by_step, "wait");
    struct pawl_history second = contract_history(contract, 0);
    assert_int_equal(second.run_number, 2);
    assert_int_equal(second.step_count, 2);
    assert_int_equal(second.steps[0].run_number, 2);
    assert_int_equal(second.steps[0].created_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_int_equal(second.event_count, 0);
}

TEST_OF(contract, B5_a_restart_clears_the_error_of_the_run_before)
{
    bring_into(contract, PAWL_ERRORED);

    contract_control(contract, pawl_restart);

    assert_text(contract_get(contract).error_name, NULL);
    assert_text(contract_get(contract).error_message, NULL);
    contract_idle(contract);
    assert_errored(contract, "Broken", "on purpose");
    assert_int_equal(contract->bodies, 2);
}

TEST_OF(contract, B5_a_restart_forgets_a_pause_and_old_wakes)
{
    bring_into(contract, PAWL_PAUSED);

    contract_control(contract, pawl_restart);
    contract_idle(contract);
    contract_jump(contract, 10 * HOUR_MS - 1);

    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract_tick(contract), 0);
    assert_int_equal(contract_get(contract).run_number, 2);
}

TEST_OF(contract, B5_a_run_can_be_restarted_many_times)
{
    bring_into(contract, PAWL_WAITING);

    for (int i = 0; i < 5; i++)
        contract_control(contract, pawl_restart);
    contract_idle(contract);
    contract_send(contract, "go", "1");
    contract_idle(contract);

    assert_int_equal(contract_get(contract).run_number, 6);
    assert_output(contract, "\"done\"");
    assert_int_equal(contract_history(contract, 1).step_count, 2);
    assert_int_equal(contract_history(contract, 5).step_count, 0);
    struct pawl_history none;
    assert_status(pawl_world_history(contract->world, "w", "i", 7, &none, &contract->error), PAWL_INVALID);
}
