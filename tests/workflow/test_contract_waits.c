/* Contract A8 to A10: sleeps, waits for events, durations. */
#include "kit/contract_world.h"

/* ---- A8: sleeps ------------------------------------------------------------------------------------------------------ */

WORKFLOW(run_naps)
{
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_return(run, out_result, "s", "awake");
}

TEST_OF(contract, A8_a_sleep_is_a_step_row_with_its_wake_time_and_the_instance_waits)
{
    contract_start(contract, run_naps, NULL);

    struct pawl_step_record step = contract_step(contract, "nap");
    assert_int_equal(step.kind, PAWL_STEP_SLEEP);
    assert_int_equal(step.status, PAWL_STEP_WAITING);
    assert_int_equal(step.wake_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_int_equal(step.attempts, 0);
    assert_int_equal(step.attempts_max, 0);
    assert_int_equal(step.timeout_ms, 0);
    assert_int_equal(step.next_retry_at_ms, 0);
    assert_null(step.waits_for);
    assert_int_equal(step.created_at_ms, CONTRACT_START_MS);
    struct pawl_instance instance = contract_get(contract);
    assert_int_equal(instance.status, PAWL_WAITING);
    assert_text(instance.current_step->name, "nap");
    assert_int_equal(contract_next_wake(contract), CONTRACT_START_MS + HOUR_MS);
}

TEST_OF(contract, A8_a_sleep_is_over_at_its_wake_time_and_not_a_millisecond_before)
{
    contract_start(contract, run_naps, NULL);

    contract_jump(contract, HOUR_MS - 1);
    int64_t before = contract_tick(contract);
    contract_jump(contract, 1);
    int64_t at = contract_tick(contract);

    assert_int_equal(before, 0);
    assert_int_equal(at, 1);
    struct pawl_step_record step = contract_step(contract, "nap");
    assert_int_equal(step.status, PAWL_STEP_COMPLETED);
    assert_int_equal(step.updated_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_int_equal(step.wake_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_text(step.result_json, NULL);
    assert_output(contract, "\"awake\"");
}

TEST_OF(contract, A8_an_early_turn_neither_ends_nor_prolongs_a_sleep)
{
    contract_start(contract, run_naps, NULL);

    contract_jump(contract, 30 * MINUTE_MS);
    contract_control(contract, pawl_pause);
    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_int_equal(contract->passes, 2);
    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract_step(contract, "nap").wake_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_int_equal(contract_next_wake(contract), CONTRACT_START_MS + HOUR_MS);
    contract_advance(contract, "30 min");
    assert_output(contract, "\"awake\"");
}

WORKFLOW(run_naps_twice)
{
    PAWL_TRY(pawl_sleep(run, "one", "1 hour"));
    return pawl_sleep(run, "two", "1 hour");
}

TEST_OF(contract, A8_a_sleep_after_a_late_one_counts_from_when_it_is_reached)
{
    contract_start(contract, run_naps_twice, NULL);

    contract_jump(contract, 5 * HOUR_MS);
    contract_idle(contract);

    assert_int_equal(contract_step(contract, "one").wake_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_int_equal(contract_step(contract, "one").updated_at_ms, CONTRACT_START_MS + 5 * HOUR_MS);
    assert_int_equal(contract_step(contract, "two").wake_at_ms, CONTRACT_START_MS + 6 * HOUR_MS);
    assert_instance(contract, PAWL_WAITING);
}

WORKFLOW(run_sleeps_until)
{
    int64_t moment_ms = pawl_value_int(params, NULL, 0);
    PAWL_TRY(pawl_sleep_until(run, "until", moment_ms));
    return pawl_return(run, out_result, "s", "awake");
}

TEST_OF(contract, A8_a_moment_in_the_past_or_now_is_done_at_once)
{
    static const char *const moments[] = { "1767225600000", "1767225599999", "1", "0", "-5" };
    char id[16];
    contract_register(contract, "w", run_sleeps_until);

    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
        struct pawl_instance instance;
        const struct pawl_step_record *step;
        snprintf(id, sizeof id, "i-%zu", i);
        assert_ok(contract, pawl_world_create(contract->world, "w", id, moments[i], &contract->error));
        assert_int_equal(contract_tick(contract), 1);
        assert_ok(contract, pawl_world_get(contract->world, "w", id, &instance, &contract->error));
        assert_int_equal(instance.status, PAWL_COMPLETE);
        step = pawl_world_step(contract->world, "w", id, "until");
        assert_int_equal(step->status, PAWL_STEP_COMPLETED);
    }
    assert_int_equal(contract_tick(contract), 0);
}

TEST_OF(contract, A8_a_moment_in_the_future_is_waited_for_to_the_millisecond)
{
    contract_start(contract, run_sleeps_until, "1767225600123");

    assert_int_equal(contract_step(contract, "until").wake_at_ms, CONTRACT_START_MS + 123);
    contract_jump(contract, 122);
    assert_int_equal(contract_tick(contract), 0);
    contract_jump(contract, 1);
    assert_int_equal(contract_tick(contract), 1);

    assert_output(contract, "\"awake\"");
}

WORKFLOW(run_tries_durations)
{
    struct contract *contract = pawl_run_user(run);
    contract_trace(contract, "%s ", pawl_status_name(pawl_sleep_ms(run, "long", 365 * DAY_MS + 1)));
    contract_trace(contract, "%s ", pawl_status_name(pawl_sleep(run, "longer", "366 days")));
    contract_trace(contract, "%s ", pawl_status_name(pawl_sleep_ms(run, "negative", -1)));
    contract_trace(contract, "%s ", pawl_status_name(pawl_sleep_ms(run, "least", INT64_MIN)));
    contract_trace(contract, "%s ", pawl_status_name(pawl_sleep_until(run, "never", INT64_MAX)));
    contract_trace(contract, "%s ", pawl_status_name(pawl_sleep_ms(run, "zero", 0)));
    contract_trace(contract, "%s; ", pawl_status_name(pawl_sleep(run, "year", "365 days")));
    return PAWL_OK;
}

TEST_OF(contract, A8_a_sleep_lasts_0_ms_to_365_days)
{
#define REFUSED "SLEEP_RANGE SLEEP_RANGE SLEEP_RANGE SLEEP_RANGE SLEEP_RANGE OK "

    contract_start(contract, run_tries_durations, NULL);
    contract_advance(contract, "365 days");

    assert_text(contract->trace, REFUSED "SUSPENDED; " REFUSED "OK; ");
    assert_int_equal(contract_history(contract, 0).step_count, 2);
    assert_int_equal(contract_step(contract, "year").wake_at_ms, CONTRACT_START_MS + 365 * DAY_MS);
    assert_output(contract, NULL);
}

WORKFLOW(run_many_naps)
{
    for (int i = 0; i < 5; i++)
        PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "nap %d", i), "1 s"));
    return pawl_do(run, "only step", NULL, contract_body_ok, NULL, out_result);
}

TEST_OF(contract, A8_sleeps_do_not_count_against_the_step_limit)
{
    contract_open_with(contract, (struct pawl_limits){ .steps_max = 1 }, 1);

    contract_start(contract, run_many_naps, NULL);
    contract_advance(contract, "5 s");

    assert_output(contract, NULL);
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(contract_history(contract, 0).step_count, 6);
}

/* ---- A9: waits for events ------------------------------------------------------------------------------------------------ */

static void trace_wait(pawl_run *run, const char *name, pawl_status status, const struct pawl_event *event)
{
    struct contract *contract = pawl_run_user(run);
    if (status == PAWL_OK)
        contract_trace(contract, "%s=%s/%d/%lld@%lld ", name, event->type, (int)pawl_value_kind(event->payload, NULL),
                       (long long)pawl_value_int(event->payload, NULL, -1),
                       (long long)(event->sent_at_ms - CONTRACT_START_MS));
    else
        contract_trace(contract, "%s=%s ", name, pawl_status_name(status));
}

/* Waits as "one" for "go", and then as "two", whatever came of the first; then sleeps a day. */
WORKFLOW(run_waits_twice)
{
    static const char *const names[] = { "one", "two" };
    const char *timeout = pawl_value_string(params, NULL, NULL);
    for (size_t i = 0; i < 2; i++) {
        struct pawl_event event = { 0 };
        pawl_status status = pawl_wait_for_event(run, names[i], "go", timeout, &event);
        if (status == PAWL_SUSPENDED)
            return status;
        trace_wait(run, names[i], status, &event);
    }
    return pawl_sleep(run, "day", "1 day");
}

TEST_OF(contract, A9_a_wait_lasts_24_hours_by_default)
{
    contract_start(contract, run_waits_twice, NULL);

    struct pawl_step_record step = contract_step(contract, "one");
    assert_int_equal(step.kind, PAWL_STEP_EVENT);
    assert_int_equal(step.status, PAWL_STEP_WAITING);
    assert_text(step.waits_for->event_type, "go");
    assert_int_equal(step.waits_for->until_ms, CONTRACT_START_MS + DAY_MS);
    assert_int_equal(step.wake_at_ms, CONTRACT_START_MS + DAY_MS);
    assert_int_equal(step.attempts, 0);
    assert_instance(contract, PAWL_WAITING);
    assert_text(contract_get(contract).current_step->name, "one");
    assert_int_equal(contract_next_wake(contract), CONTRACT_START_MS + DAY_MS);
}

TEST_OF(contract, A9_an_event_wakes_the_wait_and_is_marked_as_delivered)
{
    contract_start(contract, run_waits_twice, NULL);
    contract_jump(contract, 5000);

    contract_send(contract, "go", " 7 ");
    contract_jump(contract, 20);
    assert_int_equal(contract_tick(contract), 1);

    assert_text(contract->trace, "one=go/3/7@5000 ");
    struct pawl_step_record step = contract_step(contract, "one");
    assert_int_equal(step.status, PAWL_STEP_COMPLETED);
    assert_text(step.result_json, " 7 ");
    assert_int_equal(step.updated_at_ms, CONTRACT_START_MS + 5020);
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.event_count, 1);
    assert_text(history.events[0].type, "go");
    assert_text(history.events[0].payload_json, " 7 ");
    assert_int_equal(history.events[0].run_number, 1);
    assert_int_equal(history.events[0].created_at_ms, CONTRACT_START_MS + 5000);
    assert_int_equal(history.events[0].delivered_at_ms, CONTRACT_START_MS + 5020);
    assert_text(history.events[0].consumed_by_step, "one");
}

TEST_OF(contract, A9_an_event_before_the_wait_is_kept_for_it)
{
    contract_create(contract, run_waits_twice, NULL);
    contract_send(contract, "go", "1");
    contract_send(contract, "go", "2");

    contract_idle(contract);

    assert_text(contract->trace, "one=go/3/1@0 two=go/3/2@0 ");
    assert_int_equal(contract->passes, 1);
}

TEST_OF(contract, A9_the_oldest_goes_first_in_the_order_sent_whatever_the_clock_says)
{
    contract_start(contract, run_waits_twice, NULL);

    contract_jump(contract, 3000);
    contract_send(contract, "go", "1");
    contract_jump(contract, -2000);
    contract_send(contract, "go", "2");
    contract_send(contract, "go", "3");
    contract_jump(contract, 2000);
    contract_idle(contract);

    assert_text(contract->trace, "one=go/3/1@3000 two=go/3/2@3000 ");
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.event_count, 3);
    assert_text(history.events[1].consumed_by_step, "two");
    assert_text(history.events[2].payload_json, "3");
    assert_int_equal(history.events[2].delivered_at_ms, 0);
    assert_text(history.events[2].consumed_by_step, NULL);
}

/* A run's times do not go back with the clock; its waits do, or they would last for an hour. */
TEST_OF(contract, A9_an_event_is_in_time_also_when_the_clock_was_set_back)
{
    contract_start(contract, run_waits_twice, "\"1 min\"");

    contract_jump(contract, -HOUR_MS);
    contract_send(contract, "go", "1");
    contract_idle(contract);
    struct pawl_step_record two = contract_step(contract, "two");
    assert_int_equal(two.created_at_ms, CONTRACT_START_MS);
    assert_int_equal(two.wake_at_ms, CONTRACT_START_MS - HOUR_MS + MINUTE_MS);
    contract_send(contract, "go", "2");
    contract_jump(contract, 2 * MINUTE_MS); /* nobody looks before the wait is over */
    contract_idle(contract);

    assert_text(contract->trace, "one=go/3/1@0 one=go/3/1@0 two=go/3/2@0 ");
    two = contract_step(contract, "two");
    assert_int_equal(two.updated_at_ms, CONTRACT_START_MS);
}

TEST_OF(contract, A9_an_event_of_another_type_wakes_nobody)
{
    contract_start(contract, run_waits_twice, NULL);

    contract_send(contract, "stop", "1");

    assert_int_equal(contract_tick(contract), 0);
    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract_next_wake(contract), CONTRACT_START_MS + DAY_MS);
    assert_int_equal(contract_history(contract, 0).events[0].delivered_at_ms, 0);
}

TEST_OF(contract, A9_without_an_event_the_wait_times_out_at_its_deadline)
{
    contract_start(contract, run_waits_twice, "\"10 s\"");

    contract_jump(contract, 9999);
    int64_t before = contract_tick(contract);
    contract_jump(contract, 1);
    int64_t at = contract_tick(contract);

    assert_int_equal(before, 0);
    assert_int_equal(at, 1);
    assert_text(contract->trace, "one=WAIT_FOR_EVENT_TIMEOUT ");
    struct pawl_step_record step = contract_step(contract, "one");
    assert_int_equal(step.status, PAWL_STEP_ERRORED);
    assert_text(step.error_name, "WAIT_FOR_EVENT_TIMEOUT");
    assert_text(step.error_message, pawl_status_text(PAWL_WAIT_FOR_EVENT_TIMEOUT));
    assert_int_equal(step.wake_at_ms, CONTRACT_START_MS + 10000);
    assert_int_equal(contract_step(contract, "two").wake_at_ms, CONTRACT_START_MS + 20000);
}

TEST_IN(contract_of_passes, contract, A9_a_handled_timeout_is_the_same_at_every_replay)
{
    contract_start(contract, run_waits_twice, "\"10 s\"");

    contract_advance(contract, "10 s");
    contract_advance(contract, "10 s");

    assert_text(contract->trace, "one=WAIT_FOR_EVENT_TIMEOUT one=WAIT_FOR_EVENT_TIMEOUT two=WAIT_FOR_EVENT_TIMEOUT ");
    assert_instance(contract, PAWL_WAITING);
}

WORKFLOW(run_waits_once)
{
    struct pawl_event event;
    PAWL_TRY(pawl_wait_for_event(run, "one", "go", pawl_value_string(params, NULL, NULL), &event));
    return event.payload == NULL ? PAWL_OK : pawl_return(run, out_result, "V", event.payload);
}

TEST_OF(contract, A9_an_unhandled_timeout_fails_the_run)
{
    contract_start(contract, run_waits_once, "\"10 s\"");

    contract_advance(contract, "10 s");

    assert_errored(contract, "WAIT_FOR_EVENT_TIMEOUT", pawl_status_text(PAWL_WAIT_FOR_EVENT_TIMEOUT));
}

TEST_OF(contract, A9_an_event_at_the_deadline_counts_even_if_it_is_processed_late)
{
    contract_start(contract, run_waits_once, "\"10 s\"");

    contract_jump(contract, 10000);
    contract_send(contract, "go", "1");
    contract_jump(contract, HOUR_MS);
    contract_idle(contract);

    assert_output(contract, "1");
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.events[0].created_at_ms, CONTRACT_START_MS + 10000);
    assert_int_equal(history.events[0].delivered_at_ms, CONTRACT_START_MS + 10000 + HOUR_MS);
}

TEST_OF(contract, A9_an_event_past_the_deadline_stays_and_serves_a_later_wait)
{
    contract_start(contract, run_waits_twice, "\"10 s\"");

    contract_jump(contract, 10001);
    contract_send(contract, "go", "1");
    contract_idle(contract);

    assert_text(contract->trace, "one=WAIT_FOR_EVENT_TIMEOUT two=go/3/1@10001 ");
    assert_int_equal(contract_step(contract, "one").status, PAWL_STEP_ERRORED);
    assert_text(contract_history(contract, 0).events[0].consumed_by_step, "two");
}

WORKFLOW(run_waits_then_sleeps)
{
    if (pawl_wait_for_event(run, "one", "go", "10 s", NULL) == PAWL_SUSPENDED)
        return PAWL_SUSPENDED;
    return pawl_sleep(run, "day", "1 day");
}

TEST_OF(contract, A9_a_late_event_wakes_nobody_and_stays_unconsumed)
{
    contract_start(contract, run_waits_then_sleeps, NULL);
    contract_jump(contract, 10001);

    contract_send(contract, "go", "1");
    int64_t due_after_late_event = contract_next_wake(contract);
    contract_idle(contract);
    contract_send(contract, "go", "2");
    int64_t turns_while_asleep = contract_tick(contract);

    assert_int_equal(due_after_late_event, CONTRACT_START_MS + 10000);
    assert_int_equal(turns_while_asleep, 0);
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.event_count, 2);
    assert_int_equal(history.events[0].delivered_at_ms, 0);
    assert_text(history.events[0].consumed_by_step, NULL);
    assert_int_equal(history.events[1].delivered_at_ms, 0);
}

/* An event in time that came after this turn had read its events, by which time the wait is over. */
BODY(body_sends_in_time)
{
    struct contract *contract = pawl_step_user(step);
    pawl_status status = contract_send_id(contract, "go", "1", NULL);
    pawl_world_set_clock_ms(contract->world, HOUR_MS);
    return status;
}

WORKFLOW(branch_waits)
{
    struct pawl_event event = { 0 };
    pawl_status status = pawl_wait_for_event(run, "wait", "go", "1 hour", &event);
    if (status == PAWL_SUSPENDED)
        return status;
    trace_wait(run, "wait", status, &event);
    return PAWL_OK;
}

WORKFLOW(branch_sends_late)
{
    static const struct pawl_step_options patient = { .timeout = "1 day" };
    PAWL_TRY(pawl_sleep(run, "nap", "30 min"));
    return pawl_do(run, "send", &patient, body_sends_in_time, NULL, out_result);
}

WORKFLOW(run_races_the_timeout)
{
    struct pawl_branch branches[] = { { .run = branch_sends_late }, { .run = branch_waits } };
    return pawl_all(run, "all", branches, 2, 0);
}

TEST_IN(contract_of_passes, contract, A9_an_event_in_time_wins_over_the_timeout_of_a_turn_that_has_not_seen_it)
{
    contract_start(contract, run_races_the_timeout, NULL);

    contract_jump(contract, 30 * MINUTE_MS);
    contract_idle(contract);

    assert_text(contract->trace, "wait=go/3/1@1800000 ");
    assert_output(contract, NULL);
    assert_text(contract_step(contract, "wait").error_name, NULL);
}

TEST_OF(contract, A9_events_of_a_paused_run_are_delivered_after_the_resume)
{
    contract_start(contract, run_waits_once, "\"10 s\"");
    contract_control(contract, pawl_pause);

    contract_jump(contract, 9000);
    contract_send(contract, "go", "1");
    int64_t turns_while_paused = contract_tick(contract);
    contract_jump(contract, HOUR_MS);
    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_int_equal(turns_while_paused, 0);
    assert_output(contract, "1");
}

TEST_OF(contract, A9_the_deadline_goes_on_counting_while_the_run_is_paused)
{
    contract_start(contract, run_waits_once, "\"10 s\"");
    contract_control(contract, pawl_pause);

    contract_jump(contract, 10001);
    contract_send(contract, "go", "1");
    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_errored(contract, "WAIT_FOR_EVENT_TIMEOUT", NULL);
    assert_int_equal(contract_history(contract, 0).events[0].delivered_at_ms, 0);
}

TEST_OF(contract, A9_events_of_an_earlier_run_are_never_delivered)
{
    contract_start(contract, run_naps, NULL);
    contract_send(contract, "go", "1");

    contract_deploy(contract, run_waits_once);
    contract_control(contract, pawl_restart);
    contract_idle(contract);
    struct pawl_instance before = contract_get(contract);
    contract_send(contract, "go", "2");
    contract_idle(contract);

    assert_int_equal(before.status, PAWL_WAITING);
    assert_output(contract, "2");
    struct pawl_history old = contract_history(contract, 1);
    assert_int_equal(old.event_count, 1);
    assert_text(old.events[0].payload_json, "1");
    assert_int_equal(old.events[0].delivered_at_ms, 0);
    assert_int_equal(contract_history(contract, 2).event_count, 1);
}

WORKFLOW(run_tries_timeouts)
{
    struct contract *contract = pawl_run_user(run);
    static const char *const timeouts[] = { "999 ms", "0", "366 days", "31536000001", "tomorrow" };
    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++)
        contract_trace(contract, "%s ", pawl_status_name(pawl_wait_for_event(run, "refused", "go", timeouts[i], NULL)));
    contract_trace(contract, "%s ", pawl_status_name(pawl_wait_for_event(run, "refused", "no such type", NULL, NULL)));
    if (pawl_wait_for_event(run, "short", "go", "1 s", NULL) == PAWL_SUSPENDED)
        return PAWL_SUSPENDED;
    return pawl_wait_for_event(run, "long", "go", "365 days", NULL);
}

TEST_OF(contract, A9_a_wait_lasts_1_second_to_365_days)
{
    contract_start(contract, run_tries_timeouts, NULL);
    contract_advance(contract, "1 s");

    assert_memory_equal(contract->trace,
                        "WAIT_FOR_EVENT_TIMEOUT_RANGE WAIT_FOR_EVENT_TIMEOUT_RANGE WAIT_FOR_EVENT_TIMEOUT_RANGE "
                        "WAIT_FOR_EVENT_TIMEOUT_RANGE INVALID_DURATION INVALID_EVENT_TYPE ",
                        152);
    assert_int_equal(contract_history(contract, 0).step_count, 2);
    assert_int_equal(contract_step(contract, "short").wake_at_ms, CONTRACT_START_MS + 1000);
    assert_int_equal(contract_step(contract, "long").wake_at_ms, CONTRACT_START_MS + 1000 + 365 * DAY_MS);
}

WORKFLOW(run_takes_nothings)
{
    for (int i = 0; i < 5; i++) {
        struct pawl_event event;
        PAWL_TRY(pawl_wait_for_event(run, pawl_run_format(run, "wait %d", i), "go", NULL, &event));
        contract_trace(pawl_run_user(run), "%d", (int)pawl_value_kind(event.payload, NULL));
    }
    return pawl_sleep(run, "nap", "1 s");
}

TEST_OF(contract, A9_the_five_kinds_of_nothing_are_five_payloads_now_and_at_replay)
{
    static const char *const nothings[] = { NULL, "null", "false", "0", "\"\"" };
    contract_create(contract, run_takes_nothings, NULL);
    for (size_t i = 0; i < 5; i++)
        contract_send(contract, "go", nothings[i]);

    contract_idle(contract);
    contract_advance(contract, "1 s");

    assert_text(contract->trace, "0123501235");
    struct pawl_history history = contract_history(contract, 0);
    for (size_t i = 0; i < 5; i++) {
        assert_text(history.events[i].payload_json, nothings[i]);
        assert_text(history.steps[i].result_json, nothings[i]);
    }
}

BRANCH(branch_waits_as)
{
    struct pawl_event event;
    PAWL_TRY(pawl_wait_for_event(run, pawl_value_string(input, NULL, ""), "go", NULL, &event));
    return pawl_return(run, out_result, "V", event.payload);
}

WORKFLOW(run_two_waiters)
{
    struct pawl_branch branches[] = { { .run = branch_waits_as, .input = pawl_value_item(params, 0) },
                                      { .run = branch_waits_as, .input = pawl_value_item(params, 1) } };
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    return pawl_return(run, out_result, "[V,V]", branches[0].result, branches[1].result);
}

TEST_OF(contract, A9_two_waits_for_one_type_take_one_event_each)
{
    contract_start(contract, run_two_waiters, "[\"left\", \"right\"]");

    contract_send(contract, "go", "1");
    contract_idle(contract);
    struct pawl_instance between = contract_get(contract);
    contract_send(contract, "go", "2");
    contract_idle(contract);

    assert_int_equal(between.status, PAWL_WAITING);
    assert_output(contract, "[1,2]");
}

BODY(body_sends_itself)
{
    return contract_send_id(pawl_step_user(step), "go", "1", NULL);
}

WORKFLOW(run_sends_itself)
{
    PAWL_TRY(pawl_do(run, "send", NULL, body_sends_itself, NULL, NULL));
    return run_waits_once(run, NULL, out_result);
}

TEST_OF(contract, A9_an_event_during_the_turn_that_will_wait_for_it_is_not_lost)
{
    contract_start(contract, run_sends_itself, NULL);

    assert_output(contract, "1");
}

/* ---- A10: durations -------------------------------------------------------------------------------------------------------- */

WORKFLOW(run_sleeps_text)
{
    return pawl_sleep(run, "nap", pawl_value_string(params, NULL, ""));
}

static void sleep_text(struct contract *contract, const char *id, const char *text)
{
    const char *params = pawl_scope_format(contract->scope, "\"%s\"", text);
    assert_ok(contract, pawl_world_create(contract->world, "w", id, params, &contract->error));
    contract_idle(contract);
}

TEST_OF(contract, A10_a_duration_is_a_number_of_milliseconds_or_a_number_with_a_unit)
{
    static const struct {
        const char *text;
        int64_t ms;
    } durations[] = {
        { "250", 250 },           { "250 ms", 250 },          { "2 s", 2000 },          { "2 sec", 2000 },
        { "1 second", 1000 },     { "2 seconds", 2000 },      { "3 m", 180000 },        { "3 min", 180000 },
        { "1 minute", 60000 },    { "3 minutes", 180000 },    { "4 h", 4 * HOUR_MS },   { "4 hr", 4 * HOUR_MS },
        { "1 hour", HOUR_MS },    { "4 hours", 4 * HOUR_MS }, { "5 d", 5 * DAY_MS },    { "1 day", DAY_MS },
        { "5 days", 5 * DAY_MS }, { "6 w", 42 * DAY_MS },     { "1 week", 7 * DAY_MS }, { "6 weeks", 42 * DAY_MS },
        { "1.5 s", 1500 },        { "0.25 hours", 900000 },
    };
    char id[16];
    contract_register(contract, "w", run_sleeps_text);

    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        snprintf(id, sizeof id, "i-%zu", i);
        sleep_text(contract, id, durations[i].text);
        const struct pawl_step_record *step = pawl_world_step(contract->world, "w", id, "nap");
        if (step == NULL || step->wake_at_ms != CONTRACT_START_MS + durations[i].ms)
            fail_msg("\"%s\" is not %lld ms", durations[i].text, (long long)durations[i].ms);
    }
}

TEST_OF(contract, A10_anything_else_is_an_error_that_names_the_text)
{
    static const char *const wrong[] = {
        "",     "soon",   "s",         "10 parsecs",          "-1 s", "1 s 2 ms", " 1 s",
        "1 s ", "1. s",   ".5 s",      "99999999999999999 w", "1e3",  "0x10",     "1,5 s",
        "+1 s", "1 Hour", "1 secondss"
    };
    char id[16];
    contract_register(contract, "w", run_sleeps_text);

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct pawl_instance instance;
        snprintf(id, sizeof id, "i-%zu", i);
        sleep_text(contract, id, wrong[i]);
        assert_ok(contract, pawl_world_get(contract->world, "w", id, &instance, &contract->error));
        assert_text(instance.error_name, "INVALID_DURATION");
        assert_says(instance.error_message, pawl_scope_format(contract->scope, "\"%s\"", wrong[i]));
    }
}
