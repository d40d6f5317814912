/* Contract A12 and A15: log lines, and bindings. */
#include "kit/contract_world.h"

/* ---- A12: logs ------------------------------------------------------------------------------------------------------ */

/* How many lines of the current run have this message, and the last of them. */
static size_t find_log(struct contract *contract, const char *message, struct pawl_log_record *out_log)
{
    struct pawl_history history = contract_history(contract, 0);
    size_t found = 0;
    for (size_t i = 0; i < history.log_count; i++) {
        if (strcmp(history.logs[i].message, message) != 0)
            continue;
        *out_log = history.logs[i];
        found++;
    }
    return found;
}

BODY(body_logs)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_WARN, "payments", input, "in attempt %lld of \xe2\x82\xac",
                           (long long)pawl_step_attempt(step)));
    return contract->bodies < 2 ? pawl_fail(step, "Broken", "once") : PAWL_OK;
}

WORKFLOW(run_logs)
{
    PAWL_TRY(pawl_log(run, PAWL_LOG_DEBUG, NULL, NULL, "before %d", 1));
    PAWL_TRY(pawl_do(run, "x", NULL, body_logs, params, NULL));
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, "own", params, "between"));
    PAWL_TRY(pawl_sleep(run, "nap", "1 h"));
    return pawl_log(run, PAWL_LOG_ERROR, NULL, NULL, "after");
}

TEST_IN(contract_of_passes, contract, A12_a_line_carries_level_category_data_run_and_time)
{
    contract_start(contract, run_logs, "{\"n\":1}");
    contract_advance(contract, "10 s");
    contract_advance(contract, "1 h");

    struct pawl_log_record before, between, after;
    size_t before_count = find_log(contract, "before 1", &before);
    size_t between_count = find_log(contract, "between", &between);
    size_t after_count = find_log(contract, "after", &after);

    assert_int_equal(before_count, 3);
    assert_int_equal(before.level, PAWL_LOG_DEBUG);
    assert_text(before.category, "workflow");
    assert_text(before.data_json, NULL);
    assert_text(before.step, NULL);
    assert_int_equal(before.attempt, 0);
    assert_int_equal(before.run_number, 1);
    assert_true(before.is_replay);
    assert_int_equal(between_count, 2);
    assert_int_equal(between.level, PAWL_LOG_INFO);
    assert_text(between.category, "own");
    assert_text(between.data_json, "{\"n\":1}");
    assert_int_equal(after_count, 1);
    assert_int_equal(after.level, PAWL_LOG_ERROR);
    assert_false(after.is_replay);
    assert_int_equal(after.created_at_ms, CONTRACT_START_MS + 10000 + HOUR_MS);
}

TEST_OF(contract, A12_a_line_of_a_step_names_it_and_its_attempt_also_of_a_failed_one)
{
    struct pawl_log_record first, second;
    contract_start(contract, run_logs, "[]");

    size_t first_count = find_log(contract, "in attempt 1 of \xe2\x82\xac", &first);
    contract_advance(contract, "10 s");
    contract_advance(contract, "1 h");
    size_t second_count = find_log(contract, "in attempt 2 of \xe2\x82\xac", &second);

    assert_int_equal(first_count, 1);
    assert_text(first.step, "x");
    assert_int_equal(first.attempt, 1);
    assert_int_equal(first.level, PAWL_LOG_WARN);
    assert_text(first.category, "payments");
    assert_text(first.data_json, "[]");
    assert_false(first.is_replay);
    assert_int_equal(second_count, 1);
    assert_int_equal(second.attempt, 2);
    assert_int_equal(second.created_at_ms, CONTRACT_START_MS + 10000);
    assert_false(second.is_replay);
    assert_int_equal(find_log(contract, "in attempt 1 of \xe2\x82\xac", &first), 1);
}

TEST_OF(contract, A12_a_replayed_line_says_so_and_each_line_is_new_once)
{
    static const char *const messages[] = { "before 1", "between", "after" };
    contract_start(contract, run_logs, NULL);
    contract_advance(contract, "10 s");
    contract_advance(contract, "1 h");

    struct pawl_history history = contract_history(contract, 0);

    for (size_t m = 0; m < 3; m++) {
        size_t fresh = 0, first = history.log_count;
        for (size_t i = history.log_count; i-- > 0;) {
            if (strcmp(history.logs[i].message, messages[m]) != 0)
                continue;
            fresh += !history.logs[i].is_replay;
            first = i;
        }
        assert_int_equal(fresh, 1);
        assert_true(first < history.log_count);
        assert_false(history.logs[first].is_replay);
    }
    for (size_t i = 1; i < history.log_count; i++)
        assert_true(history.logs[i].id > history.logs[i - 1].id);
}

/* How many lines of this message are new; the others are replays. */
static size_t count_new(struct contract *contract, const char *message)
{
    struct pawl_history history = contract_history(contract, 0);
    size_t count = 0;
    for (size_t i = 0; i < history.log_count; i++)
        count += strcmp(history.logs[i].message, message) == 0 && !history.logs[i].is_replay;
    return count;
}

BODY(body_asks_for_a_pause)
{
    return pawl_pause(pawl_step_engine(step), "w", "i", NULL);
}

WORKFLOW(run_is_paused_in_its_first_step)
{
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "first"));
    PAWL_TRY(pawl_do(run, "a", NULL, body_asks_for_a_pause, NULL, NULL));
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "between"));
    PAWL_TRY(pawl_do(run, "b", NULL, contract_body_ok, NULL, out_result));
    PAWL_TRY(pawl_sleep(run, "nap", "1 h"));
    return pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "last");
}

TEST_OF(contract, A12_a_line_that_the_pause_kept_from_being_said_is_no_replay)
{
    struct pawl_log_record log;
    contract_start(contract, run_is_paused_in_its_first_step, NULL);
    assert_instance(contract, PAWL_PAUSED);
    assert_int_equal(find_log(contract, "between", &log), 0);

    contract_control(contract, pawl_resume);
    contract_idle(contract);
    assert_int_equal(count_new(contract, "between"), 1);
    contract_advance(contract, "1 h");

    assert_output(contract, NULL);
    assert_int_equal(count_new(contract, "first"), 1);
    assert_true(find_log(contract, "first", &log) > 1);
    assert_true(log.is_replay);
    assert_int_equal(count_new(contract, "between"), 1);
    assert_true(find_log(contract, "between", &log) > 1);
    assert_true(log.is_replay);
    assert_int_equal(count_new(contract, "last"), 1);
}

WORKFLOW(branch_works)
{
    return pawl_do(run, "work", NULL, contract_body_ok, NULL, out_result);
}

WORKFLOW(branch_speaks)
{
    return pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "in a branch");
}

WORKFLOW(run_speaks_in_branches)
{
    struct pawl_branch branches[] = { { .run = branch_works }, { .run = branch_speaks } };
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "before the branches"));
    PAWL_TRY(pawl_all(run, "all", branches, 2, 1)); /* one after the other: the second begins in a later pass */
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "after the branches"));
    return pawl_sleep(run, "nap", "1 h");
}

TEST_OF(contract, A12_a_line_in_a_branch_that_begins_late_is_said_and_new_once)
{
    static const char *const messages[] = { "before the branches", "in a branch", "after the branches" };
    contract_start(contract, run_speaks_in_branches, NULL);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(count_new(contract, messages[i]), 1);

    contract_advance(contract, "1 h");

    assert_output(contract, NULL);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(count_new(contract, messages[i]), 1);
}

/* What is durable while the body runs. */
BODY(body_counts_logs)
{
    struct contract *contract = pawl_step_user(step);
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    options.include_logs = true;
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "in a step"));
    PAWL_TRY(pawl_get_history(contract->engine, pawl_step_scope(step), "w", "i", &options, &history, NULL));
    contract_trace(contract, "%zu steps %zu logs; ", history.step_count, history.log_count);
    return PAWL_OK;
}

WORKFLOW(run_flushes)
{
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "first"));
    PAWL_TRY(pawl_do(run, "one", NULL, body_counts_logs, NULL, NULL));
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "second"));
    return pawl_do(run, "two", NULL, body_counts_logs, NULL, NULL);
}

TEST_IN(contract_of_passes, contract, A12_lines_are_flushed_with_the_next_step_boundary)
{
    contract_start(contract, run_flushes, NULL);

    assert_text(contract->trace, "0 steps 0 logs; 1 steps 2 logs; ");
    assert_int_equal(contract_history(contract, 0).log_count, 4);
}

/* A turn that takes one step, and then gives the run back: the line comes with the next step. */
TEST_OF(contract, A12_a_line_between_two_turns_is_new_once)
{
    pawl_runner *other = NULL;
    struct pawl_log_record log;
    contract_create(contract, run_flushes, NULL);
    assert_ok(contract, pawl_runner_open(contract->engine, NULL, &other, &contract->error));

    assert_ok(contract, pawl_runner_tick(other, 1, 1, NULL, &contract->error));
    assert_true(contract_has_step(contract, "one"));
    assert_false(contract_has_step(contract, "two"));
    assert_int_equal(find_log(contract, "second", &log), 0);
    pawl_runner_close(other);
    contract_idle(contract);

    assert_output(contract, NULL);
    assert_int_equal(count_new(contract, "first"), 1);
    assert_int_equal(count_new(contract, "second"), 1);
    assert_int_equal(find_log(contract, "second", &log), 1);
}

WORKFLOW(run_logs_and_fails)
{
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "last words"));
    return pawl_run_fail(run, "Broken", "on purpose");
}

TEST_OF(contract, A12_lines_without_a_step_come_with_the_end_of_the_run)
{
    struct pawl_log_record log;

    contract_start(contract, run_logs_and_fails, NULL);

    assert_instance(contract, PAWL_ERRORED);
    assert_int_equal(find_log(contract, "last words", &log), 1);
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.log_count, 2);
    assert_text(history.logs[1].category, "system");
    assert_int_equal(history.logs[1].level, PAWL_LOG_ERROR);
    assert_says(history.logs[1].message, "Broken: on purpose");
}

static void trace_log(pawl_run *run, const char *category, const char *message)
{
    contract_trace(pawl_run_user(run), "%s ",
                   pawl_status_name(pawl_log(run, PAWL_LOG_INFO, category, NULL, "%s", message)));
}

WORKFLOW(run_tries_lines)
{
    pawl_scope *scope = pawl_run_scope(run);
    trace_log(run, NULL, contract_long_text(scope, 2048));
    trace_log(run, NULL, contract_long_text(scope, 2049));
    trace_log(run, NULL, contract_long_text(scope, 5000));
    trace_log(run, NULL, "caf\xe9");
    trace_log(run, NULL, "");
    trace_log(run, contract_long_text(scope, 64), "x");
    trace_log(run, contract_long_text(scope, 65), "x");
    trace_log(run, "", "x");
    trace_log(run, "system", "x");
    trace_log(run, "System", "x");
    contract_trace(pawl_run_user(run), "%s ", pawl_status_name(pawl_log(run, (enum pawl_log_level)4, NULL, NULL, "x")));
    return PAWL_OK;
}

TEST_IN(contract_of_passes, contract, A12_a_message_has_2048_bytes_a_category_64_and_system_is_the_engines)
{
    contract_start(contract, run_tries_lines, NULL);

    assert_text(contract->trace, "OK INVALID_LOG INVALID_LOG INVALID_LOG OK OK INVALID_LOG INVALID_LOG INVALID_LOG OK "
                                 "INVALID_LOG ");
    assert_output(contract, NULL);
    assert_int_equal(contract_history(contract, 0).log_count, 4);
}

TEST_OF(contract, A12_the_engine_logs_retries_and_failures_for_good)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    contract_start(contract, run_logs, NULL);
    options.include_logs = true;
    options.log_category = "system";

    assert_ok(contract,
              pawl_get_history(contract->engine, contract->scope, "w", "i", &options, &history, &contract->error));

    assert_int_equal(history.log_count, 1);
    assert_int_equal(history.logs[0].level, PAWL_LOG_WARN);
    assert_text(history.logs[0].step, "x");
    assert_int_equal(history.logs[0].attempt, 1);
    assert_text(history.logs[0].message, "attempt 1 failed, the next is in 10000 ms: Broken: once");
    assert_false(history.logs[0].is_replay);
}

WORKFLOW(run_event_timeout)
{
    return pawl_wait_for_event(run, "wait", "go", "1 s", NULL);
}

TEST_OF(contract, A12_the_engine_logs_timeouts_of_waits)
{
    contract_start(contract, run_event_timeout, NULL);

    contract_advance(contract, "1 s");

    struct pawl_history history = contract_history(contract, 0);
    assert_true(history.log_count >= 1);
    assert_text(history.logs[0].category, "system");
    assert_text(history.logs[0].step, "wait");
    assert_says(history.logs[0].message, "\"go\"");
}

/* The lease expires while the body runs, and another runner goes on. */
BODY(body_loses_its_lease)
{
    struct contract *contract = pawl_step_user(step);
    pawl_runner *other = NULL;
    if (contract->bodies++ > 0)
        return PAWL_OK;
    PAWL_TRY(pawl_runner_open(contract->engine, NULL, &other, NULL));
    pawl_status status = contract_take_over(contract, other, NULL);
    pawl_runner_close(other);
    return status;
}

WORKFLOW(run_loses_its_lease)
{
    return pawl_do(run, "x", NULL, body_loses_its_lease, NULL, out_result);
}

WORKFLOW(run_speaks_before_it_loses_its_lease)
{
    PAWL_TRY(pawl_do(run, "a", NULL, contract_body_traces, NULL, NULL));
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "between"));
    return pawl_do(run, "x", NULL, body_loses_its_lease, NULL, out_result);
}

/* As when the process dies in the body of x. */
TEST_OF(contract, A12_a_line_that_was_lost_with_its_turn_is_no_replay)
{
    struct pawl_log_record log;

    contract_start(contract, run_speaks_before_it_loses_its_lease, NULL);

    assert_output(contract, NULL);
    assert_int_equal(find_log(contract, "between", &log), 1);
    assert_false(log.is_replay);
}

TEST_OF(contract, A12_the_engine_logs_a_claim_that_was_lost)
{
    contract_start(contract, run_loses_its_lease, NULL);

    assert_output(contract, NULL);
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.log_count, 1);
    assert_text(history.logs[0].category, "system");
    assert_int_equal(history.logs[0].level, PAWL_LOG_WARN);
    assert_says(history.logs[0].message, "goes on");
}

BODY(body_logs_and_collides)
{
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "in the step"));
    return pawl_step_sql(step, "INSERT INTO paid (id) VALUES (1)", NULL);
}

WORKFLOW(run_logs_and_collides)
{
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "before the step"));
    return pawl_do(run, "x", NULL, body_logs_and_collides, NULL, NULL);
}

TEST_OF(contract, A12_lines_survive_when_the_changes_of_their_step_are_refused)
{
    struct pawl_log_record log;
    contract_execute(contract, "CREATE TABLE paid (id INTEGER PRIMARY KEY)");
    contract_execute(contract, "INSERT INTO paid (id) VALUES (1)");

    contract_start(contract, run_logs_and_collides, NULL);

    assert_instance(contract, PAWL_ERRORED);
    assert_true(find_log(contract, "before the step", &log) >= 1);
    assert_int_equal(find_log(contract, "in the step", &log), 1);
    assert_text(log.step, "x");
    assert_int_equal(log.attempt, 1);
}

/* ---- A15: bindings --------------------------------------------------------------------------------------------------- */

WORKFLOW(run_child)
{
    struct contract *contract = pawl_run_user(run);
    contract->moments[contract->moment_count++] = pawl_value_int(params, NULL, -1);
    return params == NULL ? PAWL_OK : pawl_return(run, out_result, "V", params);
}

BODY(body_uses_bindings)
{
    pawl_engine *engine = pawl_step_engine(step);
    pawl_scope *scope = pawl_step_scope(step);
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance one, read, *many;
    const struct pawl_batch_item items[] = { { "c-1", "1" }, { "c-2", "2" }, { "c-3", NULL } };
    size_t count = 0;
    options.id = "c-1";
    options.params_json = "10";
    PAWL_TRY(pawl_create(engine, scope, "child", &options, &one, NULL));
    PAWL_TRY(pawl_create_batch(engine, scope, "child", items, 3, &many, &count, NULL));
    PAWL_TRY(pawl_get(engine, scope, "child", "c-1", &read, NULL));
    return pawl_result(step, out_result, "[s,s,i,s,s,s]", one.id, pawl_instance_status_name(one.status), (int)count,
                       many[0].id, many[1].id, read.params_json);
}

WORKFLOW(run_uses_bindings)
{
    struct pawl_instance child;
    PAWL_TRY(pawl_do(run, "bind", NULL, body_uses_bindings, NULL, out_result));
    PAWL_TRY(pawl_get(pawl_run_engine(run), pawl_run_scope(run), "child", "c-2", &child, NULL));
    contract_trace(pawl_run_user(run), "%s", child.id);
    return PAWL_OK;
}

TEST_OF(contract, A15_a_step_reaches_create_create_batch_and_get_directly)
{
    struct pawl_instance child;
    contract_register(contract, "child", run_child);

    contract_start(contract, run_uses_bindings, NULL);

    assert_output(contract, "[\"c-1\",\"active\",2,\"c-2\",\"c-3\",\"10\"]");
    assert_text(contract->trace, "c-2");
    assert_int_equal(contract->moment_count, 3);
    assert_ok(contract, pawl_world_get(contract->world, "child", "c-1", &child, &contract->error));
    assert_text(child.output_json, "10");
}

TEST_OF(contract, A15_a_host_reaches_them_too_and_unknown_workflows_are_told)
{
    struct pawl_instance made, read;
    contract_register(contract, "child", run_child);

    assert_ok(contract, pawl_create(contract->engine, contract->scope, "child", NULL, &made, &contract->error));
    contract_idle(contract);
    assert_ok(contract, pawl_get(contract->engine, contract->scope, "child", made.id, &read, &contract->error));

    assert_int_equal(read.status, PAWL_COMPLETE);
    assert_status(pawl_create(contract->engine, contract->scope, "nobody", NULL, &made, &contract->error),
                  PAWL_WORKFLOW_NOT_FOUND);
    assert_says(contract->error.text, "\"nobody\"");
}
