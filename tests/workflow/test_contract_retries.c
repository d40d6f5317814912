/* Contract A4 to A7: how often a step is tried and when, how it fails, and attempts that outlive their timeout. */
#include "kit/contract_world.h"

#include "common/text.h"

#define MAX_DELAY_MS (365 * DAY_MS)

/* One step "x" with the options of the fixture. */
WORKFLOW(run_failing)
{
    const struct contract *contract = pawl_run_user(run);
    return pawl_do(run, "x", contract->options, contract_body_fails, NULL, out_result);
}

/* The delays before attempts 2, 3 ... of "x", which has failed once, up to `count` of them. */
static void assert_delays(struct contract *contract, const int64_t *delays_ms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pawl_step_record step = contract_step(contract, "x");
        assert_int_equal(step.attempts, i + 1);
        assert_int_equal(step.status, PAWL_STEP_WAITING);
        assert_int_equal(step.updated_at_ms, contract_now(contract));
        assert_int_equal(step.next_retry_at_ms - contract_now(contract), delays_ms[i]);
        contract_jump(contract, delays_ms[i]);
        contract_idle(contract);
    }
}

/* ---- A4: options -------------------------------------------------------------------------------------------------- */

TEST_OF(contract, A4_by_default_there_are_5_retries_after_10_s_doubling_of_10_minutes_each)
{
    static const int64_t delays_ms[] = { 10000, 20000, 40000, 80000, 160000 };

    contract_start(contract, run_failing, NULL);

    assert_int_equal(contract_step(contract, "x").attempts_max, 6);
    assert_int_equal(contract_step(contract, "x").timeout_ms, 10 * MINUTE_MS);
    assert_delays(contract, delays_ms, 5);
    struct pawl_step_record step = contract_step(contract, "x");
    assert_int_equal(step.attempts, 6);
    assert_int_equal(step.status, PAWL_STEP_ERRORED);
    assert_int_equal(step.next_retry_at_ms, 0);
    assert_int_equal(contract->bodies, 6);
    assert_errored(contract, "Broken", "attempt 6");
}

TEST_OF(contract, A4_a_constant_delay_stays)
{
    static const struct pawl_step_options options = { .retries = 3, .delay = "7 s", .backoff = PAWL_BACKOFF_CONSTANT };
    static const int64_t delays_ms[] = { 7000, 7000, 7000 };
    contract->options = &options;

    contract_start(contract, run_failing, NULL);

    assert_int_equal(contract_step(contract, "x").attempts_max, 4);
    assert_delays(contract, delays_ms, 3);
    assert_instance(contract, PAWL_ERRORED);
}

TEST_OF(contract, A4_a_linear_delay_grows_by_itself)
{
    static const struct pawl_step_options options = { .retries = 4, .delay = "7 s", .backoff = PAWL_BACKOFF_LINEAR };
    static const int64_t delays_ms[] = { 7000, 14000, 21000, 28000 };
    contract->options = &options;

    contract_start(contract, run_failing, NULL);

    assert_delays(contract, delays_ms, 4);
    assert_instance(contract, PAWL_ERRORED);
}

TEST_OF(contract, A4_the_delay_before_a_retry_doubles_each_time)
{
    static const struct pawl_step_options options = { .retries = 4, .delay = "1 ms" };
    static const int64_t delays_ms[] = { 1, 2, 4, 8 };
    contract->options = &options;

    contract_start(contract, run_failing, NULL);

    assert_delays(contract, delays_ms, 4);
    assert_instance(contract, PAWL_ERRORED);
}

TEST_OF(contract, A4_a_growing_delay_ends_at_365_days)
{
    static const struct pawl_step_options exponential = { .retries = 3, .delay = "200 days" };
    static const int64_t delays_ms[] = { 200 * DAY_MS, MAX_DELAY_MS, MAX_DELAY_MS };
    contract->options = &exponential;

    contract_start(contract, run_failing, NULL);

    assert_delays(contract, delays_ms, 3);
    assert_instance(contract, PAWL_ERRORED);
}

TEST_OF(contract, A4_a_linear_delay_ends_at_365_days)
{
    static const struct pawl_step_options linear = { .retries = 3,
                                                     .delay = "365 days",
                                                     .backoff = PAWL_BACKOFF_LINEAR };
    static const int64_t delays_ms[] = { MAX_DELAY_MS, MAX_DELAY_MS, MAX_DELAY_MS };
    contract->options = &linear;

    contract_start(contract, run_failing, NULL);

    assert_delays(contract, delays_ms, 3);
    assert_instance(contract, PAWL_ERRORED);
}

TEST_OF(contract, A4_unlimited_retries_go_on_and_never_overflow)
{
    static const struct pawl_step_options options = { .retries = PAWL_RETRIES_UNLIMITED, .delay = "1 ms" };
    contract->options = &options;

    contract_start(contract, run_failing, NULL);

    for (int64_t attempt = 1; attempt <= 80; attempt++) {
        struct pawl_step_record step = contract_step(contract, "x");
        int64_t delay_ms = attempt <= 35 ? INT64_C(1) << (attempt - 1) : MAX_DELAY_MS;
        if (delay_ms > MAX_DELAY_MS)
            delay_ms = MAX_DELAY_MS;
        assert_int_equal(step.attempts, attempt);
        assert_int_equal(step.attempts_max, 0);
        assert_int_equal(step.status, PAWL_STEP_WAITING);
        assert_int_equal(step.next_retry_at_ms, contract_now(contract) + delay_ms);
        contract_jump(contract, delay_ms);
        contract_idle(contract);
    }
    assert_instance(contract, PAWL_WAITING);
}

TEST_OF(contract, A4_no_retries_means_one_attempt)
{
    static const struct pawl_step_options options = { .retries = PAWL_NO_RETRIES };
    contract->options = &options;

    contract_start(contract, run_failing, NULL);

    struct pawl_step_record step = contract_step(contract, "x");
    assert_int_equal(step.attempts, 1);
    assert_int_equal(step.attempts_max, 1);
    assert_int_equal(step.next_retry_at_ms, 0);
    assert_errored(contract, "Broken", "attempt 1");
    assert_int_equal(contract->bodies, 1);
}

TEST_OF(contract, A4_without_a_delay_the_next_attempt_follows_at_once)
{
    static const struct pawl_step_options options = { .retries = 2, .delay = "0" };
    contract->options = &options;

    contract_start(contract, run_failing, NULL);

    assert_errored(contract, "Broken", "attempt 3");
    assert_int_equal(contract->bodies, 3);
}

/* Options that are wrong; the run tells how it was refused. */
WORKFLOW(run_refused)
{
    static const struct pawl_step_options wrong[] = { { .delay = "soon" },
                                                      { .timeout = "3 fortnights" },
                                                      { .retries = -2 },
                                                      { .timeout = "0 s" },
                                                      { .backoff = (enum pawl_backoff)7 } };
    struct contract *contract = pawl_run_user(run);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pawl_status status = pawl_do(run, "x", &wrong[i], contract_body_ok, NULL, NULL);
        contract_trace(contract, "%s: %.20s; ", pawl_status_name(status), pawl_run_failure(run).message);
    }
    return PAWL_OK;
}

TEST_OF(contract, A4_options_that_make_no_sense_are_refused_by_name)
{
    contract_start(contract, run_refused, NULL);

    assert_text(contract->trace, "INVALID_DURATION: \"soon\" is not a dura; INVALID_DURATION: \"3 fortnights\" is no; "
                                 "INVALID: step \"x\": retries ar; INVALID: step \"x\": the timeou; "
                                 "INVALID: step \"x\": the backof; ");
    assert_int_equal(contract->bodies, 0);
    assert_output(contract, NULL);
}

/* ---- A5: retries --------------------------------------------------------------------------------------------------- */

TEST_OF(contract, A5_a_failed_attempt_persists_its_error_and_waits_as_a_scheduled_task)
{
    contract_start(contract, run_failing, NULL);

    struct pawl_instance instance = contract_get(contract);
    assert_int_equal(instance.status, PAWL_WAITING);
    assert_non_null(instance.current_step);
    assert_text(instance.current_step->name, "x");
    assert_int_equal(instance.current_step->status, PAWL_STEP_WAITING);
    assert_int_equal(instance.current_step->attempts, 1);
    assert_text(instance.current_step->error_name, "Broken");
    assert_text(instance.current_step->error_message, "attempt 1");
    assert_int_equal(instance.current_step->next_retry_at_ms, CONTRACT_START_MS + 10000);
    assert_int_equal(contract_next_wake(contract), CONTRACT_START_MS + 10000);
}

TEST_OF(contract, A5_the_retry_runs_at_its_time_and_not_a_millisecond_before)
{
    contract_start(contract, run_failing, NULL);

    contract_jump(contract, 9999);
    int64_t before = contract_tick(contract);
    contract_jump(contract, 1);
    int64_t at = contract_tick(contract);

    assert_int_equal(before, 0);
    assert_int_equal(at, 1);
    assert_int_equal(contract->bodies, 2);
    assert_text(contract_step(contract, "x").error_message, "attempt 2");
}

TEST_OF(contract, A5_an_early_turn_of_the_run_does_not_run_the_attempt)
{
    contract_start(contract, run_failing, NULL);

    contract_control(contract, pawl_pause);
    contract_control(contract, pawl_resume);
    int64_t turns = contract_tick(contract);

    assert_int_equal(turns, 1);
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(contract_step(contract, "x").next_retry_at_ms, CONTRACT_START_MS + 10000);
    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract_next_wake(contract), CONTRACT_START_MS + 10000);
}

BODY(body_third_time_lucky)
{
    if (pawl_step_attempt(step) < 3)
        return contract_body_fails(step, input, out_result);
    return pawl_result(step, out_result, "s", "lucky");
}

WORKFLOW(run_lucky)
{
    return pawl_do(run, "x", NULL, body_third_time_lucky, NULL, out_result);
}

TEST_OF(contract, A5_success_after_failures_leaves_no_error_behind)
{
    contract_start(contract, run_lucky, NULL);

    contract_advance(contract, "10 s");
    contract_advance(contract, "20 s");

    struct pawl_step_record step = contract_step(contract, "x");
    assert_int_equal(step.status, PAWL_STEP_COMPLETED);
    assert_int_equal(step.attempts, 3);
    assert_text(step.result_json, "\"lucky\"");
    assert_text(step.error_name, NULL);
    assert_text(step.error_message, NULL);
    assert_int_equal(step.next_retry_at_ms, 0);
    assert_int_equal(step.created_at_ms, CONTRACT_START_MS);
    assert_int_equal(step.updated_at_ms, CONTRACT_START_MS + 30000);
    assert_output(contract, "\"lucky\"");
}

TEST_OF(contract, A5_a_limit_that_was_lowered_fails_the_step_without_another_attempt)
{
    static const struct pawl_step_options lower = { .retries = 1 };
    contract_start(contract, run_failing, NULL);
    contract_advance(contract, "10 s");
    contract_advance(contract, "20 s");
    assert_int_equal(contract->bodies, 3);

    contract->options = &lower;
    contract_deploy(contract, run_failing);
    contract_advance(contract, "40 s");

    struct pawl_step_record step = contract_step(contract, "x");
    assert_int_equal(contract->bodies, 3);
    assert_int_equal(step.status, PAWL_STEP_ERRORED);
    assert_int_equal(step.attempts, 3);
    assert_int_equal(step.attempts_max, 2);
    assert_int_equal(step.next_retry_at_ms, 0);
    assert_text(step.error_name, "STEP_MAX_ATTEMPTS_EXCEEDED");
    assert_errored(contract, "STEP_MAX_ATTEMPTS_EXCEEDED", pawl_status_text(PAWL_STEP_MAX_ATTEMPTS_EXCEEDED));
}

TEST_OF(contract, A5_a_limit_that_was_raised_gives_more_attempts)
{
    static const struct pawl_step_options low = { .retries = 1, .delay = "1 s", .backoff = PAWL_BACKOFF_CONSTANT },
                                          high = { .retries = 2, .delay = "1 s", .backoff = PAWL_BACKOFF_CONSTANT };
    contract->options = &low;
    contract_start(contract, run_failing, NULL);

    contract->options = &high;
    contract_deploy(contract, run_failing);
    contract_advance(contract, "5 s");

    assert_int_equal(contract_step(contract, "x").attempts, 3);
    assert_int_equal(contract_step(contract, "x").attempts_max, 3);
    assert_errored(contract, "Broken", "attempt 3");
}

/* While the body runs its lease expires, and another runner takes the run over and fails the only attempt. */
BODY(body_overtaken)
{
    struct contract *contract = pawl_step_user(step);
    contract_trace(contract, "[%lld ", (long long)pawl_step_attempt(step));
    if (contract->bodies++ > 0) {
        contract_trace(contract, "fails] ");
        return pawl_fail(step, "Broken", "by the other runner");
    }
    pawl_runner *other = NULL;
    pawl_status status = pawl_runner_open(contract->engine, NULL, &other, NULL);
    if (status == PAWL_OK)
        status = contract_take_over(contract, other, &contract->number);
    pawl_runner_close(other);
    contract_trace(contract, "%s, cancelled %d] ", pawl_status_name(status), (int)pawl_step_cancelled(step));
    return pawl_result(step, out_result, "s", "too late");
}

WORKFLOW(run_overtaken)
{
    static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };
    return pawl_do(run, "x", &once, body_overtaken, NULL, out_result);
}

TEST_OF(contract, A5_two_runners_at_once_count_one_attempt)
{
    contract_start(contract, run_overtaken, NULL);

    assert_int_equal(contract->number, 1);
    assert_int_equal(contract->bodies, 2);
    assert_int_equal(contract_step(contract, "x").attempts, 1);
    assert_errored(contract, "Broken", "by the other runner");
}

/* ---- A6: failures ---------------------------------------------------------------------------------------------------- */

BODY(body_gives_up)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    return pawl_fail_for_good(step, "CardDeclined", "no \"funds\" on %s, 100 %%", "\xe2\x82\xac");
}

WORKFLOW(run_gives_up)
{
    return pawl_do(run, "x", NULL, body_gives_up, NULL, out_result);
}

TEST_OF(contract, A6_a_non_retryable_failure_is_not_retried_and_ends_the_run)
{
    contract_start(contract, run_gives_up, NULL);

    struct pawl_step_record step = contract_step(contract, "x");
    assert_int_equal(step.status, PAWL_STEP_ERRORED);
    assert_int_equal(step.attempts, 1);
    assert_int_equal(step.attempts_max, 6);
    assert_int_equal(step.next_retry_at_ms, 0);
    assert_text(step.error_name, "CardDeclined");
    assert_text(step.error_message, "no \"funds\" on \xe2\x82\xac, 100 %");
    assert_errored(contract, "CardDeclined", "no \"funds\" on \xe2\x82\xac, 100 %");
    assert_int_equal(contract->bodies, 1);
}

WORKFLOW(run_handles_failures)
{
    static const struct pawl_step_options once = { .retries = 1, .delay = "0" };
    struct contract *contract = pawl_run_user(run);
    contract_trace(contract, "(%s)", pawl_run_failure(run).name);
    pawl_status status = pawl_do(run, "x", NULL, body_gives_up, NULL, NULL);
    contract_trace(contract, "%s %s:%s, ", pawl_status_name(status), pawl_run_failure(run).name,
                   pawl_run_failure(run).message);
    status = pawl_do(run, "y", &once, contract_body_fails, NULL, NULL);
    contract_trace(contract, "%s %s:%s; ", pawl_status_name(status), pawl_run_failure(run).name,
                   pawl_run_failure(run).message);
    PAWL_TRY(pawl_sleep(run, "nap", "1 min"));
    PAWL_TRY(pawl_do(run, "refund", NULL, contract_body_ok, NULL, NULL));
    return pawl_return(run, out_result, "s", "refunded");
}

TEST_IN(contract_of_passes, contract, A6_a_handled_failure_is_the_same_at_every_replay)
{
#define HANDLED "()FAILED CardDeclined:no \"funds\" on \xe2\x82\xac, 100 %, FAILED Broken:attempt 2; "

    contract_start(contract, run_handles_failures, NULL);
    contract_control(contract, pawl_pause);
    contract_control(contract, pawl_resume);
    contract_idle(contract);
    contract_advance(contract, "1 min");

    assert_text(contract->trace, HANDLED HANDLED HANDLED);
    assert_int_equal(contract->bodies, 4);
    assert_output(contract, "\"refunded\"");
}

BODY(body_bare_status)
{
    struct contract *contract = pawl_step_user(step);
    return ++contract->bodies == 1 ? PAWL_STORE_FULL : PAWL_NON_RETRYABLE;
}

WORKFLOW(run_bare_status)
{
    return pawl_do(run, "x", NULL, body_bare_status, NULL, out_result);
}

TEST_OF(contract, A6_a_bare_status_of_a_body_is_a_failed_attempt_of_that_name)
{
    contract_start(contract, run_bare_status, NULL);
    struct pawl_step_record first = contract_step(contract, "x");
    contract_advance(contract, "10 s");

    assert_int_equal(first.status, PAWL_STEP_WAITING);
    assert_text(first.error_name, "STORE_FULL");
    assert_text(first.error_message, pawl_status_text(PAWL_STORE_FULL));
    assert_int_equal(contract_step(contract, "x").attempts, 2);
    assert_errored(contract, "NON_RETRYABLE", pawl_status_text(PAWL_NON_RETRYABLE));
}

BODY(body_long_failure)
{
    char name[400], message[20001];
    for (size_t i = 0; i < 10000; i++)
        memcpy(message + 2 * i, "\xc3\xa9", 3);
    memcpy(name, "n", 2);
    for (size_t i = 0; i < 190; i++)
        memcpy(name + 1 + 2 * i, "\xc3\xa9", 3);
    return pawl_fail_for_good(step, name, "%s", message);
}

WORKFLOW(run_long_failure)
{
    pawl_status status = pawl_do(run, "x", NULL, body_long_failure, NULL, NULL);
    contract_trace(pawl_run_user(run), "%s %zu %zu;", pawl_status_name(status), strlen(pawl_run_failure(run).name),
                   strlen(pawl_run_failure(run).message));
    return pawl_sleep(run, "nap", "1 s");
}

TEST_OF(contract, A6_a_long_failure_is_cut_between_characters_and_the_same_at_replay)
{
    contract_start(contract, run_long_failure, NULL);
    contract_advance(contract, "1 s");

    struct pawl_step_record step = contract_step(contract, "x");
    assert_true(pw_text_is_utf8(pw_text_of(step.error_name)));
    assert_true(pw_text_is_utf8(pw_text_of(step.error_message)));
    const char *half = strchr(contract->trace, ';') + 1;
    assert_memory_equal(contract->trace, half, strlen(half));
    assert_int_equal(strlen(contract->trace), 2 * strlen(half));
}

/* ---- A7: timeouts ------------------------------------------------------------------------------------------------------ */

/* Stays for contract->number, then answers. */
BODY(body_takes_long)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "attempt %lld", (long long)pawl_step_attempt(step)));
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid (id) VALUES ($1)", "[i]", contract->bodies));
    contract_trace(contract, "%lld until %lld cancelled %d", (long long)pawl_step_attempt(step),
                   (long long)pawl_step_deadline_ms(step), (int)pawl_step_cancelled(step));
    contract_jump(contract, contract->number);
    contract_trace(contract, "%d; ", (int)pawl_step_cancelled(step));
    return pawl_result(step, out_result, "s", "done");
}

WORKFLOW(run_takes_long)
{
    static const struct pawl_step_options options = { .retries = 1, .delay = "1 min", .timeout = "5 s" };
    return pawl_do(run, "x", &options, body_takes_long, NULL, out_result);
}

TEST_OF(contract, A7_a_timed_out_attempt_is_a_failed_attempt_whose_result_is_dropped)
{
    contract_execute(contract, "CREATE TABLE paid (id INTEGER PRIMARY KEY)");
    contract->number = 5001;

    contract_start(contract, run_takes_long, NULL);

    assert_text(contract->trace, "1 until 1767225605000 cancelled 01; ");
    struct pawl_step_record step = contract_step(contract, "x");
    assert_int_equal(step.status, PAWL_STEP_WAITING);
    assert_int_equal(step.attempts, 1);
    assert_int_equal(step.timeout_ms, 5000);
    assert_text(step.error_name, "STEP_TIMEOUT");
    assert_text(step.error_message, pawl_status_text(PAWL_STEP_TIMEOUT));
    assert_text(step.result_json, NULL);
    assert_int_equal(step.next_retry_at_ms, CONTRACT_START_MS + 5001 + MINUTE_MS);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM paid"), 0);
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.log_count, 2);
    assert_text(history.logs[0].message, "attempt 1");
    assert_text(history.logs[1].category, "system");
    assert_says(history.logs[1].message, "STEP_TIMEOUT");
}

TEST_OF(contract, A7_the_deadline_itself_is_in_time)
{
    contract_execute(contract, "CREATE TABLE paid (id INTEGER PRIMARY KEY)");
    contract->number = 5000;

    contract_start(contract, run_takes_long, NULL);

    assert_text(contract->trace, "1 until 1767225605000 cancelled 00; ");
    assert_output(contract, "\"done\"");
}

TEST_OF(contract, A7_the_last_attempt_that_times_out_fails_the_step_for_good)
{
    contract_execute(contract, "CREATE TABLE paid (id INTEGER PRIMARY KEY)");
    contract->number = 5001;
    contract_start(contract, run_takes_long, NULL);

    contract_advance(contract, "1 min");

    assert_text(contract->trace, "1 until 1767225605000 cancelled 01; 2 until 1767225670001 cancelled 01; ");
    assert_int_equal(contract_step(contract, "x").attempts, 2);
    assert_errored(contract, "STEP_TIMEOUT", pawl_status_text(PAWL_STEP_TIMEOUT));
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM paid"), 0);
}

BODY(body_controls_itself)
{
    struct contract *contract = pawl_step_user(step);
    contract_control_fn *control = contract->number == 0 ? pawl_terminate : pawl_restart;
    if (contract->bodies++ > 0)
        return PAWL_OK;
    pawl_status status = control(contract->engine, "w", "i", NULL);
    contract_trace(contract, "%s cancelled %d", pawl_status_name(status), (int)pawl_step_cancelled(step));
    return PAWL_OK;
}

WORKFLOW(run_controls_itself)
{
    return pawl_do(run, "x", NULL, body_controls_itself, NULL, out_result);
}

TEST_OF(contract, A7_a_body_sees_that_its_instance_was_terminated)
{
    contract_start(contract, run_controls_itself, NULL);

    assert_instance(contract, PAWL_TERMINATED);
    assert_text(contract->trace, "OK cancelled 1");
}

TEST_OF(contract, A7_a_body_sees_that_its_instance_was_restarted)
{
    contract->number = 1;

    contract_start(contract, run_controls_itself, NULL);

    assert_instance(contract, PAWL_COMPLETE);
    assert_int_equal(contract_get(contract).run_number, 2);
    assert_text(contract->trace, "OK cancelled 1");
}
