/* test_regressions_undo.c - what a review once found wrong with undoing, each kept right by the smallest story that showed it. */
#include "kit/contract_world.h"

static const struct pawl_compensation by_tracing = { .undo = contract_body_traces };
static const struct pawl_step_options undone = { .compensate = &by_tracing };

/* ---- What a branch did that lost a race ---------------------------------------------------------------------------- */

static pawl_status reserve_and_wait(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_do(run, "reserve", &undone, contract_body_ok, input, NULL));
    PAWL_TRY(pawl_sleep(run, "long", "1 hour"));
    return pawl_do(run, "never", &undone, contract_body_ok, input, NULL);
}

static pawl_status pay_and_wait(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_sleep(run, "short", "1 minute"));
    return pawl_do(run, "pay", &undone, contract_body_ok, input, NULL);
}

/* Fails in the pass that decides the race or, when the fixture's number says so, in a later one. */
static pawl_status run_race_and_fail(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const struct contract *contract = pawl_run_user(run);
    struct pawl_branch branches[] = { { .run = reserve_and_wait }, { .run = pay_and_wait } };
    size_t winner = 99;
    (void)params;
    (void)out_result;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    if (contract->number != 0)
        PAWL_TRY(pawl_sleep(run, "later", "1 minute"));
    return pawl_run_fail(run, "Refused", "branch %d was first", (int)winner);
}

/* A replay carries only the branch that won: whether the other one's steps were undone hung on whether there was one. */
static void what_the_loser_of_a_race_had_completed_is_undone_in_whichever_pass_the_run_fails(void **state)
{
    struct contract *contract = *state;
    for (int64_t later = 0; later < 2; later++) {
        contract_begin_again(contract);
        contract->number = later;
        contract_start(contract, run_race_and_fail, NULL);
        contract_advance(contract, "2 hours");
        assert_errored(contract, "Refused", "branch 1 was first");
        assert_text(contract->trace, "compensate: pay {}; compensate: reserve {}; ");
        assert_false(contract_has_step(contract, "never"));
    }
}

/* ---- When the clock was set back --------------------------------------------------------------------------------------- */

static pawl_status run_two_and_fail(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    PAWL_TRY(pawl_do(run, "one", &undone, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "go", "go", "1 day", NULL));
    PAWL_TRY(pawl_do(run, "two", &undone, contract_body_ok, NULL, NULL));
    return pawl_run_fail(run, "Refused", "after all");
}

static void what_was_done_last_is_undone_first_although_the_clock_was_set_back(void **state)
{
    struct contract *contract = *state;
    contract_start(contract, run_two_and_fail, NULL);
    contract_jump(contract, -HOUR_MS);
    contract_send(contract, "go", NULL);
    contract_idle(contract);
    contract_advance(contract, "2 hours");
    assert_errored(contract, "Refused", "after all");
    assert_text(contract->trace, "compensate: two {}; compensate: one {}; ");
}

/* ---- What was abandoned, in a run that begins in the middle of the race ---------------------------------------------------- */

static pawl_status wait_long(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_sleep(run, "long", "1 hour");
}

static pawl_status work_twice(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "one", NULL, contract_body_ok, input, NULL));
    PAWL_TRY(pawl_sleep(run, "short", "1 minute"));
    return pawl_do(run, "two", NULL, contract_body_ok, input, out_result);
}

static pawl_status run_race(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[] = { { .run = wait_long }, { .run = work_twice } };
    size_t winner;
    (void)params;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    return pawl_return(run, out_result, "i", (int)winner);
}

/* The wait that had lost was kept as failed, so it was over at once, and won. */
static void what_lost_a_race_is_not_kept_in_a_run_that_runs_the_race_again(void **state)
{
    struct contract *contract = *state;
    contract_start(contract, run_race, NULL);
    contract_advance(contract, "1 minute");
    assert_output(contract, "1");
    assert_ok(contract, pawl_restart_from(contract->engine, "w", "i", "two", &contract->error));
    contract_idle(contract);
    contract_advance(contract, "2 hours");
    assert_output(contract, "1");
    assert_int_equal(contract->bodies, 3);
}

int main(void)
{
    struct CMUnitTest tests[] = {
        CONTRACT_TEST(what_lost_a_race_is_not_kept_in_a_run_that_runs_the_race_again),
        CONTRACT_TEST(what_the_loser_of_a_race_had_completed_is_undone_in_whichever_pass_the_run_fails),
        CONTRACT_TEST(what_was_done_last_is_undone_first_although_the_clock_was_set_back),
    };
    return contract_run_tests("regressions of undoing", tests, sizeof tests / sizeof tests[0]);
}
