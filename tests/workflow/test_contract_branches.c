/* Contract A11: parallel branches, joined or raced. */
#include "kit/contract_world.h"

/* Branches get an object; `name` makes their steps' names. */
static const char *name_of(const pawl_value *input)
{
    return pawl_value_string(input, "name", "?");
}

BRANCH(branch_steps)
{
    const char *name = name_of(input);
    contract_trace(pawl_run_user(run), "%s ", name);
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "%s-1", name), NULL, contract_body_ok, NULL, NULL));
    return pawl_do(run, pawl_run_format(run, "%s-2", name), NULL, contract_body_ok, pawl_value_at(input, "name"),
                   out_result);
}

BRANCH(branch_sleeps)
{
    const char *name = name_of(input);
    contract_trace(pawl_run_user(run), "%s ", name);
    PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "%s-sleep", name), pawl_value_string(input, "for", "1 hour")));
    return pawl_do(run, pawl_run_format(run, "%s-after", name), NULL, contract_body_ok, pawl_value_at(input, "name"),
                   out_result);
}

BRANCH(branch_waits)
{
    const char *name = name_of(input);
    struct pawl_event event;
    PAWL_TRY(pawl_wait_for_event(run, pawl_run_format(run, "%s-wait", name), "go", "1 day", &event));
    return pawl_return(run, out_result, "s", name);
}

BRANCH(branch_fails)
{
    return pawl_run_fail(run, "BranchBroke", "%s broke", name_of(input));
}

BRANCH(branch_nothing)
{
    return PAWL_OK;
}

/* ---- Joining ------------------------------------------------------------------------------------------------------ */

WORKFLOW(run_joins)
{
    struct pawl_branch branches[3] = { { 0 } };
    for (size_t i = 0; i < 3; i++)
        branches[i] = (struct pawl_branch){ .run = branch_steps, .input = pawl_value_item(params, i) };
    PAWL_TRY(pawl_all(run, "all", branches, 3, 0));
    return pawl_return(run, out_result, "[V,V,V]", branches[0].result, branches[1].result, branches[2].result);
}

#define ABC "[{\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"c\"}]"

TEST_OF(contract, A11_all_branches_are_joined_with_their_results_by_position)
{
    contract_start(contract, run_joins, ABC);

    assert_output(contract, "[\"a\",\"b\",\"c\"]");
    assert_int_equal(contract->bodies, 6);
    assert_int_equal(contract_history(contract, 0).step_count, 6);
    assert_text(contract_step(contract, "b-2").result_json, "\"b\"");
}

WORKFLOW(run_sleeping_branches)
{
    const struct contract *contract = pawl_run_user(run);
    struct pawl_branch branches[8] = { { 0 } };
    size_t count = pawl_value_size(params, NULL);
    for (size_t i = 0; i < count && i < 8; i++)
        branches[i] = (struct pawl_branch){ .run = branch_sleeps, .input = pawl_value_item(params, i) };
    PAWL_TRY(pawl_all(run, "all", branches, count, (size_t)contract->number));
    return pawl_return(run, out_result, "i", (int)count);
}

TEST_OF(contract, A11_branches_sleep_beside_each_other_and_each_goes_on_at_its_time)
{
    contract_start(
        contract, run_sleeping_branches,
        "[{\"name\":\"a\",\"for\":\"3 h\"},{\"name\":\"b\",\"for\":\"1 h\"},{\"name\":\"c\",\"for\":\"2 h\"}]");
    assert_int_equal(contract_next_wake(contract), CONTRACT_START_MS + HOUR_MS);

    contract_advance(contract, "1 h");
    bool b_is_done = contract_has_step(contract, "b-after"), c_is_done = contract_has_step(contract, "c-after");
    int64_t next_wake = contract_next_wake(contract);
    contract_advance(contract, "2 h");

    assert_true(b_is_done);
    assert_false(c_is_done);
    assert_int_equal(next_wake, CONTRACT_START_MS + 2 * HOUR_MS);
    assert_int_equal(contract_step(contract, "b-after").created_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_int_equal(contract_step(contract, "c-after").created_at_ms, CONTRACT_START_MS + 2 * HOUR_MS);
    assert_int_equal(contract_step(contract, "a-after").created_at_ms, CONTRACT_START_MS + 3 * HOUR_MS);
    assert_output(contract, "3");
    assert_int_equal(contract->bodies, 3);
}

WORKFLOW(run_mixed_branches)
{
    struct pawl_branch branches[] = { { .run = branch_sleeps, .input = pawl_value_item(params, 0) },
                                      { .run = branch_waits, .input = pawl_value_item(params, 1) },
                                      { .run = branch_steps, .input = pawl_value_item(params, 2) } };
    return pawl_all(run, "all", branches, 3, 0);
}

TEST_OF(contract, A11_a_suspended_branch_does_not_hold_up_the_others)
{
    contract_start(contract, run_mixed_branches, ABC);

    assert_int_equal(contract_step(contract, "c-2").status, PAWL_STEP_COMPLETED);
    assert_int_equal(contract_step(contract, "a-sleep").status, PAWL_STEP_WAITING);
    assert_int_equal(contract_step(contract, "b-wait").status, PAWL_STEP_WAITING);
    assert_instance(contract, PAWL_WAITING);
    contract_send(contract, "go", NULL);
    contract_idle(contract);
    assert_int_equal(contract_step(contract, "b-wait").status, PAWL_STEP_COMPLETED);
    assert_instance(contract, PAWL_WAITING);
    contract_advance(contract, "1 h");
    assert_output(contract, NULL);
    assert_int_equal(contract->bodies, 3);
}

WORKFLOW(run_broken_branch)
{
    struct contract *contract = pawl_run_user(run);
    struct pawl_branch branches[] = { { .run = branch_steps, .input = pawl_value_item(params, 0) },
                                      { .run = branch_fails, .input = pawl_value_item(params, 1) },
                                      { .run = branch_sleeps, .input = pawl_value_item(params, 2) } };
    pawl_status status = pawl_all(run, "all", branches, 3, 0);
    if (status == PAWL_SUSPENDED)
        return status;
    contract->trace[0] = '\0';
    contract_trace(contract, "%s %s:%s [%s %s %s]", pawl_status_name(status), pawl_run_failure(run).name,
                   pawl_run_failure(run).message, pawl_status_name(branches[0].status),
                   pawl_status_name(branches[1].status), pawl_status_name(branches[2].status));
    PAWL_TRY(pawl_sleep(run, "later", "1 s"));
    return contract->number == 0 ? PAWL_OK : status;
}

TEST_OF(contract, A11_a_branch_that_fails_leaves_its_siblings_steps_and_lets_them_finish)
{
    contract_start(contract, run_broken_branch, ABC);
    struct pawl_instance before = contract_get(contract);

    contract_advance(contract, "1 h");
    contract_advance(contract, "1 s");

    assert_int_equal(before.status, PAWL_WAITING);
    assert_text(contract->trace, "FAILED BranchBroke:b broke [OK FAILED OK]");
    assert_int_equal(contract_step(contract, "a-2").status, PAWL_STEP_COMPLETED);
    assert_int_equal(contract_step(contract, "c-after").status, PAWL_STEP_COMPLETED);
    assert_int_equal(contract->bodies, 3);
    assert_output(contract, NULL);
}

TEST_OF(contract, A11_an_unhandled_failure_of_a_branch_is_the_runs)
{
    contract->number = 1;
    contract_start(contract, run_broken_branch, ABC);

    contract_advance(contract, "1 h");
    contract_advance(contract, "1 s");

    assert_errored(contract, "BranchBroke", "b broke");
    assert_int_equal(contract_step(contract, "a-2").status, PAWL_STEP_COMPLETED);
}

BRANCH(branch_fails_later)
{
    PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "%s-sleep", name_of(input)), "1 h"));
    return branch_fails(run, input, out_result);
}

WORKFLOW(run_two_broken)
{
    struct pawl_branch branches[] = { { .run = branch_nothing },
                                      { .run = branch_fails_later, .input = pawl_value_item(params, 1) },
                                      { .run = branch_fails, .input = pawl_value_item(params, 2) } };
    return pawl_all(run, "all", branches, 3, 0);
}

TEST_OF(contract, A11_of_several_failures_the_first_by_position_is_answered)
{
    contract_start(contract, run_two_broken, ABC);

    contract_advance(contract, "1 h");

    assert_errored(contract, "BranchBroke", "b broke");
}

/* ---- Limits, nesting, retries ---------------------------------------------------------------------------------------- */

#define FIVE_SLEEPERS                                                                                                  \
    "[{\"name\":\"a\",\"for\":\"2 h\"},{\"name\":\"b\",\"for\":\"1 h\"},{\"name\":\"c\",\"for\":\"1 h\"},"             \
    "{\"name\":\"d\",\"for\":\"1 h\"},{\"name\":\"e\",\"for\":\"1 h\"}]"

TEST_OF(contract, A11_a_limit_bounds_how_many_branches_are_begun_and_unfinished)
{
    contract->number = 2;

    contract_start(contract, run_sleeping_branches, FIVE_SLEEPERS);
    size_t at_first = contract_history(contract, 0).step_count;
    contract_advance(contract, "1 h");

    assert_int_equal(at_first, 2);
    assert_false(contract_has_step(contract, "d-sleep"));
    assert_int_equal(contract_step(contract, "c-sleep").created_at_ms, CONTRACT_START_MS + HOUR_MS);
    contract_advance(contract, "1 h");
    assert_int_equal(contract_step(contract, "d-sleep").created_at_ms, CONTRACT_START_MS + 2 * HOUR_MS);
    assert_int_equal(contract_step(contract, "e-sleep").created_at_ms, CONTRACT_START_MS + 2 * HOUR_MS);
    contract_advance(contract, "1 h");
    assert_output(contract, "5");
    assert_int_equal(contract->bodies, 5);
}

TEST_OF(contract, A11_a_limit_of_one_runs_branch_after_branch)
{
    contract->number = 1;
    contract_start(contract, run_sleeping_branches, FIVE_SLEEPERS);

    for (int i = 0; i < 6; i++) {
        struct pawl_history history = contract_history(contract, 0);
        size_t waiting = 0;
        for (size_t s = 0; s < history.step_count; s++)
            waiting += history.steps[s].status == PAWL_STEP_WAITING;
        assert_int_equal(waiting, 1);
        contract_advance(contract, "1 h");
    }

    assert_output(contract, "5");
    assert_int_equal(contract_step(contract, "e-after").created_at_ms, CONTRACT_START_MS + 6 * HOUR_MS);
}

BRANCH(branch_nests)
{
    struct pawl_branch branches[] = { { .run = branch_sleeps, .input = pawl_value_item(input, 0) },
                                      { .run = branch_steps, .input = pawl_value_item(input, 1) } };
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    PAWL_TRY(branch_steps(run, pawl_value_item(input, 2), NULL));
    return pawl_return(run, out_result, "[V,V]", branches[0].result, branches[1].result);
}

WORKFLOW(run_nested)
{
    struct pawl_branch branches[] = { { .run = branch_nests, .input = pawl_value_item(params, 0) },
                                      { .run = branch_nests, .input = pawl_value_item(params, 1) } };
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    return pawl_return(run, out_result, "[V,V]", branches[0].result, branches[1].result);
}

TEST_OF(contract, A11_branches_nest_at_will)
{
    contract_start(contract, run_nested,
                   "[[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}],"
                   "[{\"name\":\"d\",\"for\":\"2 h\"},{\"name\":\"e\"},{\"name\":\"f\"}]]");
    assert_int_equal(contract_step(contract, "e-2").status, PAWL_STEP_COMPLETED);
    assert_false(contract_has_step(contract, "c-1"));

    contract_advance(contract, "1 h");
    bool c_is_done = contract_has_step(contract, "c-2"), f_is_begun = contract_has_step(contract, "f-1");
    contract_advance(contract, "1 h");

    assert_true(c_is_done);
    assert_false(f_is_begun);
    assert_output(contract, "[[\"a\",\"b\"],[\"d\",\"e\"]]");
    assert_int_equal(contract->bodies, 10);
}

BRANCH(branch_retries)
{
    static const struct pawl_step_options options = { .retries = 1, .delay = "30 min" };
    return pawl_do(run, "flaky", &options, contract_body_fails, NULL, out_result);
}

WORKFLOW(run_retry_beside_sleep)
{
    struct pawl_branch branches[] = { { .run = branch_sleeps, .input = pawl_value_item(params, 0) },
                                      { .run = branch_retries } };
    return pawl_all(run, "all", branches, 2, 0);
}

TEST_OF(contract, A11_a_retry_in_a_branch_wakes_the_run_before_its_siblings_sleep_is_over)
{
    contract_start(contract, run_retry_beside_sleep, ABC);
    assert_int_equal(contract_next_wake(contract), CONTRACT_START_MS + 30 * MINUTE_MS);

    contract_advance(contract, "30 min");
    struct pawl_step_record flaky = contract_step(contract, "flaky");
    contract_advance(contract, "30 min");

    assert_int_equal(flaky.attempts, 2);
    assert_int_equal(flaky.status, PAWL_STEP_ERRORED);
    assert_errored(contract, "Broken", "attempt 2");
    assert_int_equal(contract_step(contract, "a-after").status, PAWL_STEP_COMPLETED);
}

BRANCH(branch_forgets)
{
    (void)pawl_value_size(input, NULL);
    if (pawl_sleep(run, "forgotten", "1 h") != PAWL_OK)
        return pawl_return(run, out_result, "s", "too early");
    return pawl_return(run, out_result, "s", "in time");
}

WORKFLOW(run_forgetful_branch)
{
    struct pawl_branch branches[] = { { .run = branch_forgets }, { .run = branch_nothing } };
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    return pawl_return(run, out_result, "V", branches[0].result);
}

TEST_OF(contract, A11_a_branch_that_forgets_to_return_is_suspended_all_the_same)
{
    contract_start(contract, run_forgetful_branch, NULL);
    assert_instance(contract, PAWL_WAITING);

    contract_advance(contract, "1 h");

    assert_output(contract, "\"in time\"");
}

WORKFLOW(run_no_branches)
{
    size_t winner;
    contract_trace(pawl_run_user(run), "%s ", pawl_status_name(pawl_all(run, "all", NULL, 0, 0)));
    contract_trace(pawl_run_user(run), "%s", pawl_status_name(pawl_first(run, "first", NULL, 0, &winner)));
    return PAWL_OK;
}

TEST_OF(contract, A11_all_of_no_branches_is_done_and_the_first_of_none_is_refused)
{
    contract_start(contract, run_no_branches, NULL);

    assert_text(contract->trace, "OK INVALID");
    assert_output(contract, NULL);
}

WORKFLOW(run_hundred)
{
    struct pawl_branch branches[100] = { { 0 } };
    pawl_value *inputs[100];
    for (int i = 0; i < 100; i++) {
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &inputs[i], "{s:s}", "name", pawl_run_format(run, "n%d", i)));
        branches[i] = (struct pawl_branch){ .run = i % 2 == 0 ? branch_sleeps : branch_steps, .input = inputs[i] };
    }
    PAWL_TRY(pawl_all(run, "all", branches, 100, 0));
    return pawl_return(run, out_result, "[V,V]", branches[98].result, branches[99].result);
}

TEST_OF(contract, A11_a_hundred_branches_run_each_body_once)
{
    contract_start(contract, run_hundred, NULL);

    contract_advance(contract, "1 h");

    assert_output(contract, "[\"n98\",\"n99\"]");
    assert_int_equal(contract->bodies, 150);
    assert_int_equal(contract_history(contract, 0).step_count, 200);
}

/* ---- The first ---------------------------------------------------------------------------------------------------------- */

/* Races params[0] and params[1]; the loser comes first in the array when `number` is 1.  Then sleeps and waits. */
WORKFLOW(run_race)
{
    struct contract *contract = pawl_run_user(run);
    struct pawl_branch branches[2] = { { .run = branch_sleeps, .input = pawl_value_item(params, 0) },
                                       { .run = branch_waits, .input = pawl_value_item(params, 1) } };
    size_t winner = 77;
    if (contract->number == 1) {
        branches[1] = branches[0];
        branches[0] = (struct pawl_branch){ .run = branch_waits, .input = pawl_value_item(params, 1) };
    }
    pawl_status status = pawl_first(run, "race", branches, 2, &winner);
    if (status == PAWL_SUSPENDED)
        return status;
    contract_trace(contract, "%zu %s [%s %s]; ", winner, pawl_status_name(status), pawl_status_name(branches[0].status),
                   pawl_status_name(branches[1].status));
    PAWL_TRY(pawl_sleep(run, "later", "1 h"));
    return pawl_return(run, out_result, "V", branches[winner].result);
}

/* The sleeper wins; the wait is the loser. */
static void win_by_sleep(struct contract *contract, int64_t loser_first)
{
    contract->number = loser_first;
    contract_start(contract, run_race, "[{\"name\":\"s\",\"for\":\"1 min\"},{\"name\":\"w\"}]");
    assert_instance(contract, PAWL_WAITING);
    assert_false(contract_has_step(contract, "race"));
    contract->trace[0] = '\0';
    contract_advance(contract, "1 min");
}

TEST_OF(contract, A11_the_first_branch_wins_and_is_recorded_under_the_name)
{
    win_by_sleep(contract, 1);

    assert_says(contract->trace, "1 OK [STEP_ABANDONED OK]; ");
    struct pawl_step_record race = contract_step(contract, "race");
    assert_int_equal(race.kind, PAWL_STEP_FIRST);
    assert_int_equal(race.status, PAWL_STEP_COMPLETED);
    assert_text(race.result_json, "1");
    assert_int_equal(race.created_at_ms, CONTRACT_START_MS + MINUTE_MS);
}

TEST_OF(contract, A11_replay_takes_the_same_winner_though_the_loser_is_ready_by_then)
{
    win_by_sleep(contract, 1);
    contract->trace[0] = '\0';

    contract_send(contract, "go", "1");
    contract_advance(contract, "1 h");

    assert_says(contract->trace, "1 OK [STEP_ABANDONED OK]; ");
    assert_null(strstr(contract->trace, "0 OK"));
    assert_output(contract, "\"s\"");
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(contract_history(contract, 0).events[0].delivered_at_ms, 0);
}

TEST_OF(contract, A11_the_waits_of_a_loser_that_was_reached_first_are_abandoned)
{
    win_by_sleep(contract, 1);

    struct pawl_step_record loser = contract_step(contract, "w-wait");
    assert_int_equal(loser.status, PAWL_STEP_ERRORED);
    assert_int_equal(loser.state, PAWL_STATE_ABANDONED);
    assert_text(loser.error_name, "STEP_ABANDONED");
    assert_text(loser.error_message, pawl_status_text(PAWL_STEP_ABANDONED));
}

TEST_OF(contract, A11_the_waits_of_a_loser_that_comes_after_the_winner_are_abandoned_too)
{
    win_by_sleep(contract, 0);

    struct pawl_step_record loser = contract_step(contract, "w-wait");
    assert_int_equal(loser.status, PAWL_STEP_ERRORED);
    assert_int_equal(loser.state, PAWL_STATE_ABANDONED);
    assert_text(loser.error_name, "STEP_ABANDONED");
}

TEST_OF(contract, A11_an_event_for_an_abandoned_wait_wakes_nobody)
{
    win_by_sleep(contract, 0);

    contract_send(contract, "go", "1");

    assert_int_equal(contract_tick(contract), 0);
    assert_text(contract_get(contract).current_step->name, "later");
}

TEST_OF(contract, A11_an_event_can_win_over_a_sleep)
{
    contract_start(contract, run_race, "[{\"name\":\"s\"},{\"name\":\"w\"}]");

    contract_send(contract, "go", "1");
    contract_idle(contract);
    struct pawl_step_record loser = contract_step(contract, "s-sleep");
    contract_advance(contract, "2 h");

    assert_text(contract_step(contract, "race").result_json, "1");
    assert_int_equal(loser.status, PAWL_STEP_ERRORED);
    assert_int_equal(loser.state, PAWL_STATE_ABANDONED);
    assert_text(loser.error_name, "STEP_ABANDONED");
    assert_output(contract, "\"w\"");
    assert_int_equal(contract->bodies, 0);
}

WORKFLOW(run_race_of_failures)
{
    struct pawl_branch branches[] = { { .run = branch_sleeps, .input = pawl_value_item(params, 0) },
                                      { .run = branch_fails, .input = pawl_value_item(params, 1) } };
    return pawl_first(run, "race", branches, 2, NULL);
}

TEST_OF(contract, A11_a_branch_that_fails_first_is_the_first)
{
    contract_start(contract, run_race_of_failures, ABC);

    assert_errored(contract, "BranchBroke", "b broke");
    assert_text(contract_step(contract, "race").result_json, "1");
    assert_text(contract_step(contract, "a-sleep").error_name, "STEP_ABANDONED");
}

BRANCH(branch_steps_then_sleeps)
{
    PAWL_TRY(branch_steps(run, input, NULL));
    return branch_sleeps(run, input, out_result);
}

WORKFLOW(run_race_with_steps)
{
    struct pawl_branch branches[] = { { .run = branch_steps_then_sleeps, .input = pawl_value_item(params, 0) },
                                      { .run = branch_steps, .input = pawl_value_item(params, 1) } };
    return pawl_first(run, "race", branches, 2, NULL);
}

TEST_OF(contract, A11_the_completed_steps_of_a_loser_stay)
{
    contract_start(contract, run_race_with_steps, ABC);

    assert_output(contract, NULL);
    assert_int_equal(contract_step(contract, "a-2").status, PAWL_STEP_COMPLETED);
    assert_text(contract_step(contract, "a-sleep").error_name, "STEP_ABANDONED");
    assert_text(contract_step(contract, "race").result_json, "1");
}

WORKFLOW(run_race_with_retry)
{
    struct pawl_branch branches[] = { { .run = branch_retries },
                                      { .run = branch_sleeps, .input = pawl_value_item(params, 0) } };
    PAWL_TRY(pawl_first(run, "race", branches, 2, NULL));
    PAWL_TRY(pawl_sleep(run, "later", "1 day"));
    return pawl_return(run, out_result, "V", branches[1].result);
}

TEST_OF(contract, A11_a_loser_that_waits_for_a_retry_is_not_tried_again)
{
    contract_start(contract, run_race_with_retry, "[{\"name\":\"s\",\"for\":\"1 min\"}]");

    contract_advance(contract, "1 h");

    struct pawl_step_record flaky = contract_step(contract, "flaky");
    assert_int_equal(flaky.status, PAWL_STEP_ERRORED);
    assert_text(flaky.error_name, "STEP_ABANDONED");
    assert_int_equal(flaky.attempts, 1);
    assert_int_equal(flaky.next_retry_at_ms, 0);
    assert_int_equal(contract->bodies, 2);
    assert_int_equal(contract_next_wake(contract), CONTRACT_START_MS + MINUTE_MS + DAY_MS);
}

BRANCH(branch_races)
{
    struct pawl_branch branches[] = { { .run = branch_waits, .input = pawl_value_item(input, 0) },
                                      { .run = branch_sleeps, .input = pawl_value_item(input, 1) } };
    size_t winner;
    PAWL_TRY(
        pawl_first(run, pawl_run_format(run, "race of %s", name_of(pawl_value_item(input, 0))), branches, 2, &winner));
    return pawl_return(run, out_result, "V", branches[winner].result);
}

WORKFLOW(run_races_in_branches)
{
    struct pawl_branch branches[] = { { .run = branch_races, .input = pawl_value_item(params, 0) },
                                      { .run = branch_races, .input = pawl_value_item(params, 1) } };
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    return pawl_return(run, out_result, "[V,V]", branches[0].result, branches[1].result);
}

TEST_OF(contract, A11_races_can_be_run_inside_branches)
{
    contract_start(contract, run_races_in_branches,
                   "[[{\"name\":\"a\"},{\"name\":\"b\"}],[{\"name\":\"c\"},{\"name\":\"d\",\"for\":\"2 h\"}]]");

    contract_send(contract, "go", "1");
    contract_idle(contract);
    struct pawl_step_record loser = contract_step(contract, "b-sleep"), other = contract_step(contract, "d-sleep");
    contract_advance(contract, "2 h");

    assert_text(loser.error_name, "STEP_ABANDONED");
    assert_int_equal(other.status, PAWL_STEP_WAITING);
    assert_text(contract_step(contract, "c-wait").error_name, "STEP_ABANDONED");
    assert_output(contract, "[\"a\",\"d\"]");
}

/* ---- Logs in branches ---------------------------------------------------------------------------------------------------- */

BRANCH(branch_logs)
{
    const char *name = name_of(input);
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "%s begins", name));
    PAWL_TRY(branch_sleeps(run, input, out_result));
    return pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "%s ends", name);
}

WORKFLOW(run_logging_branches)
{
    struct pawl_branch branches[] = { { .run = branch_logs, .input = pawl_value_item(params, 0) },
                                      { .run = branch_logs, .input = pawl_value_item(params, 1) } };
    return pawl_all(run, "all", branches, 2, 0);
}

TEST_OF(contract, A11_logs_of_branches_are_durable_and_know_their_replays)
{
    contract_start(contract, run_logging_branches, ABC);

    contract_advance(contract, "1 h");

    struct pawl_history history = contract_history(contract, 0);
    static const char *const messages[] = { "a begins", "b begins", "a ends", "b ends" };
    for (size_t m = 0; m < 4; m++) {
        size_t fresh = 0;
        for (size_t i = 0; i < history.log_count; i++)
            fresh += strcmp(history.logs[i].message, messages[m]) == 0 && !history.logs[i].is_replay;
        if (fresh != 1)
            fail_msg("\"%s\" is there %zu times as no replay", messages[m], fresh);
    }
}

/* ---- Events ----------------------------------------------------------------------------------------------------------------- */

BODY(send_both)
{
    struct contract *contract = pawl_step_user(step);
    contract_send(contract, "one", "1");
    contract_send(contract, "two", "2");
    return PAWL_OK;
}

BRANCH(branch_waits_for_its_own)
{
    struct pawl_event event;
    const char *type = pawl_value_string(input, NULL, "");
    if (strcmp(type, "two") == 0)
        PAWL_TRY(pawl_do(run, "send", NULL, send_both, NULL, NULL));
    PAWL_TRY(pawl_wait_for_event(run, type, type, "10 h", &event));
    return pawl_return(run, out_result, "V", event.payload);
}

WORKFLOW(run_waiting_branches)
{
    struct pawl_branch branches[2];
    for (size_t i = 0; i < 2; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", i == 0 ? "one" : "two"));
        branches[i] = (struct pawl_branch){ .run = branch_waits_for_its_own, .input = input };
    }
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    return pawl_return(run, out_result, "[V, V]", branches[0].result, branches[1].result);
}

TEST_OF(contract, A11_a_branch_that_waits_hears_of_an_event_that_another_branch_was_the_first_to_see)
{
    contract_start(contract, run_waiting_branches, NULL);
    assert_output(contract, "[1,2]");
}
