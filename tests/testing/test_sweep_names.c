/* test_sweep_names.c - crash sweeps (contract H3): the same name twice in one pass is the same step (contract A3), which is
 * hardly ever meant; and what uses a name again rightly is left alone. */
#include "kit/sweeping.h"

#include <string.h>

#include "testing/sweep.h"

/* ---- Names that are forgotten to differ ------------------------------------------------------------------------------------ */

static pawl_status two_bodies(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "q", NULL, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_do(run, "q", NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result); /* a compiler may make a jump of this one */
}

static pawl_status not_next_to_each_other(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "q", NULL, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_sleep(run, "rest", "1 hour"));
    return pawl_do(run, "q", NULL, sweeping_plain, params, out_result);
}

static pawl_status sleeps_in_a_loop(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    for (int i = 0; i < 3; i++)
        PAWL_TRY(pawl_sleep(run, "poll", "1 hour"));
    return PAWL_OK;
}

static pawl_status sleeps_for_ever(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    for (;;)
        PAWL_TRY(pawl_sleep(run, "poll", "1 hour"));
}

static pawl_status waits_in_a_loop(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    for (int i = 0; i < 2; i++)
        PAWL_TRY(pawl_wait_for_event(run, "next", "e", "1 hour", NULL));
    return PAWL_OK;
}

static pawl_status calls_in_a_loop(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    for (int i = 0; i < 2; i++)
        PAWL_TRY(pawl_call(run, "call", "function", NULL, params, out_result));
    return PAWL_OK;
}

static pawl_status another_kind(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_sleep(run, "same", "1 hour"));
    return pawl_do(run, "same", NULL, sweeping_plain, params, out_result);
}

static pawl_status one_name_in_two_branches(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[2] = { { .run = sweeping_leaf, .input = params },
                                       { .run = sweeping_leaf, .input = params } };
    (void)out_result;
    return pawl_all(run, "all", branches, 2, 0);
}

static pawl_status one_name_in_two_forks(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branch = { .run = sweeping_leaf, .input = params };
    (void)out_result;
    PAWL_TRY(pawl_all(run, "all", &branch, 1, 0));
    return pawl_all(run, "all", &branch, 1, 0);
}

static pawl_status two_names_twice(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    for (int i = 0; i < 3; i++) {
        PAWL_TRY(pawl_do(run, "look", NULL, sweeping_plain, params, out_result));
        PAWL_TRY(pawl_sleep(run, "poll", "1 hour"));
    }
    return PAWL_OK;
}

static pawl_status awaits_twice(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_await_deferred(run, "answer", "1 hour", out_result));
    return pawl_await_deferred(run, "answer", "1 hour", out_result);
}

/* ---- Names that are used again rightly ---------------------------------------------------------------------------------------- */

static pawl_status third_time_lucky(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_step_attempt(step) < 3 ? pawl_fail(step, "Busy", "come back") : sweeping_plain(step, input, out_result);
}

/* A token may be asked for as often as one likes. */
static pawl_status token_and_wait(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *token, *again;
    PAWL_TRY(pawl_deferred_token(run, "answer", &token));
    PAWL_TRY(pawl_do(run, "ask", NULL, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_deferred_token(run, "answer", &again));
    assert_string_equal(token, again);
    PAWL_TRY(pawl_await_deferred(run, "answer", "1 hour", out_result));
    return pawl_deferred_token(run, "answer", &again);
}

/* At once, so that the attempts are in one pass, and after a while, so that they are not. */
static pawl_status retries(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options at_once = { .retries = 5, .delay = "0 ms" };
    static const struct pawl_step_options later = { .retries = 5, .delay = "1 minute" };
    PAWL_TRY(pawl_do(run, "at once", &at_once, third_time_lucky, params, NULL));
    return pawl_do(run, "later", &later, third_time_lucky, params, out_result);
}

static pawl_status refuse(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_fail_for_good(step, "Refused", "no");
}

/* What is undone is called by its own name, in a pass that makes every other call again. */
static pawl_status undoes(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_compensation undo = { .undo = third_time_lucky };
    static const struct pawl_step_options options = { .compensate = &undo };
    struct pawl_branch race[2] = { { .run = sweeping_leaf, .input = params }, { .run = sleeps_in_a_loop } };
    PAWL_TRY(pawl_do(run, "book", &options, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_first(run, "race", race, 2, NULL));
    PAWL_TRY(pawl_do(run, "rent", &options, sweeping_plain, params, NULL));
    return pawl_do(run, "pay", NULL, refuse, params, out_result);
}

static pawl_status begets(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_run_child(run, "grow", "leaf", NULL, params, out_result); /* which has a step of that name, too */
}

/* ---- Tests ----------------------------------------------------------------------------------------------------------------------- */

static void assert_repeats(struct sweeping *sweeping, pawl_workflow_fn *run, const char *first, const char *again)
{
    sweeping_sweep_workflow(sweeping, run);
    if (sweeping->report.finding_count == 0)
        fail_msg("%s", sweeping->report.text);
    const struct pawl_sweep_finding *finding = &sweeping->report.findings[0];
    assert_int_equal(finding->kind, PAWL_SWEEP_REPEATED);
    assert_int_equal(finding->line_count, 2);
    assert_string_equal(finding->lines[0].text, first);
    assert_string_equal(finding->lines[1].text, again);
    assert_string_equal(finding->where, "undisturbed");
}

static void A3_two_calls_of_one_name_are_found_with_both_places(void **state)
{
    struct sweeping *sweeping = *state;

    assert_repeats(sweeping, two_bodies, "first: do \"q\"", "again: do \"q\"");

    const struct pawl_sweep_line *lines = sweeping->report.findings[0].lines;
    assert_non_null(strstr(lines[0].object, "test_sweep"));
    assert_true(lines[1].offset > lines[0].offset && lines[1].offset - lines[0].offset < 400); /* in one function */
    assert_int_equal(sweeping->report.finding_count, 1);
    sweeping_says(sweeping, "w: complete with 7, 5 commits, 0 crashes: 1 finding\n");
    sweeping_says(sweeping, "undisturbed: \"q\" is called twice in one pass, and the same name is the same step");
    sweeping_says(sweeping, "in a loop with an index (\"q 1\", \"q 2\")");
}

static void A3_a_name_comes_again_after_others(void **state)
{
    assert_repeats(*state, not_next_to_each_other, "first: do \"q\"", "again: do \"q\"");
}

static void A3_a_sleep_in_a_loop_without_an_index_is_found(void **state)
{
    struct sweeping *sweeping = *state;

    assert_repeats(sweeping, sleeps_in_a_loop, "first: sleep \"poll\"", "again: sleep \"poll\"");

    assert_int_equal(sweeping->report.finding_count, 1); /* not one for each time */
}

static void A3_a_loop_that_never_ends_for_it_is_told_why(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, sleeps_for_ever);

    assert_int_equal(sweeping->report.finding_count, 2);
    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_ENDLESS);
    assert_int_equal(sweeping->report.findings[1].kind, PAWL_SWEEP_REPEATED);
    sweeping_says(sweeping, "\"poll\" is called twice in one pass");
}

static void A3_a_wait_in_a_loop_without_an_index_is_found(void **state)
{
    static const struct pawl_sweep_event event = { "e", NULL, NULL };
    struct sweeping *sweeping = *state;
    sweeping->options.events = &event;
    sweeping->options.event_count = 1;

    assert_repeats(sweeping, waits_in_a_loop, "first: waitForEvent \"next\"", "again: waitForEvent \"next\"");
}

static pawl_status with_mock(pawl_world *world, void *user, struct pawl_error *error)
{
    const struct sweeping *sweeping = user;
    return pawl_world_mock_result(world, "w", sweeping->count == 0 ? "call" : "q", 0, "1", error);
}

static void A3_calls_that_are_mocked_are_found_all_the_same(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.setup = with_mock;

    assert_repeats(sweeping, calls_in_a_loop, "first: call \"call\"", "again: call \"call\"");
}

static void A3_a_body_that_is_mocked_is_found_all_the_same(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.setup = with_mock;
    sweeping->count = 1;

    assert_repeats(sweeping, two_bodies, "first: do \"q\"", "again: do \"q\"");
}

static void A3_another_kind_is_told_with_both_places(void **state)
{
    struct sweeping *sweeping = *state;

    assert_repeats(sweeping, another_kind, "first: sleep \"same\"", "again: do \"same\"");

    sweeping_says(sweeping, "w: errored with STEP_TYPE_MISMATCH");
    assert_int_equal(sweeping->report.finding_count, 1);
}

static void A3_one_name_in_two_branches_is_found(void **state)
{
    struct sweeping *sweeping = *state;

    assert_repeats(sweeping, one_name_in_two_branches, "first: do \"grow\"", "again: do \"grow\"");

    sweeping_says(sweeping, "w: errored with DUPLICATE_STEP_KEY");
}

static void A3_one_name_in_two_forks_is_found(void **state)
{
    assert_repeats(*state, one_name_in_two_forks, "first: do \"grow\"", "again: do \"grow\"");
}

static void A3_each_name_is_told_once(void **state)
{
    struct sweeping *sweeping = *state;

    assert_repeats(sweeping, two_names_twice, "first: do \"look\"", "again: do \"look\"");

    assert_int_equal(sweeping->report.finding_count, 2);
    sweeping_says(sweeping, "\"poll\" is called twice in one pass");
}

static void A3_no_more_names_are_told_than_asked_for(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.findings_max = 1;

    assert_repeats(sweeping, two_names_twice, "first: do \"look\"", "again: do \"look\"");

    assert_int_equal(sweeping->report.finding_count, 1);
}

static void A3_two_waits_for_one_deferred_are_found(void **state)
{
    static const struct pawl_sweep_event answer = { "deferred:answer", "7", NULL };
    struct sweeping *sweeping = *state;
    sweeping->options.events = &answer;
    sweeping->options.event_count = 1;

    assert_repeats(sweeping, awaits_twice, "first: deferred \"answer\"", "again: deferred \"answer\"");
}

static void a_name_may_be_meant_to_be_the_same_step(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.names_may_repeat = true;

    sweeping_sweep_workflow(sweeping, two_bodies);

    sweeping_is_clean(sweeping, "w: complete with 7, ");
}

static void two_branches_of_one_name_are_a_mistake_even_so(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.names_may_repeat = true;

    sweeping_sweep_workflow(sweeping, one_name_in_two_branches);

    assert_int_equal(sweeping->report.finding_count, 1);
    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_MISUSE);
    sweeping_says(sweeping, "DUPLICATE_STEP_KEY: step \"grow\" is called twice at once");
}

static void a_deferred_has_one_name_for_its_token_and_the_wait(void **state)
{
    static const struct pawl_sweep_event answer = { "deferred:answer", "7", NULL };
    struct sweeping *sweeping = *state;
    sweeping->options.events = &answer;
    sweeping->options.event_count = 1;

    sweeping_sweep_workflow(sweeping, token_and_wait);

    sweeping_is_clean(sweeping, "w: complete with 7, ");
}

static void attempts_are_one_call(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, retries);

    sweeping_is_clean(sweeping, "w: complete with 7, ");
}

static void what_is_undone_repeats_no_name(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, undoes);

    sweeping_is_clean(sweeping, "w: errored with Refused");
}

static void a_child_has_names_of_its_own(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping_add(sweeping, "w", begets);
    sweeping_add(sweeping, "leaf", sweeping_leaf);

    sweeping_sweep(sweeping);

    sweeping_is_clean(sweeping, "w: complete with 7, ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP_TEST(A3_two_calls_of_one_name_are_found_with_both_places),
        SWEEP_TEST(A3_a_name_comes_again_after_others),
        SWEEP_TEST(A3_a_sleep_in_a_loop_without_an_index_is_found),
        SWEEP_TEST(A3_a_loop_that_never_ends_for_it_is_told_why),
        SWEEP_TEST(A3_a_wait_in_a_loop_without_an_index_is_found),
        SWEEP_TEST(A3_calls_that_are_mocked_are_found_all_the_same),
        SWEEP_TEST(A3_a_body_that_is_mocked_is_found_all_the_same),
        SWEEP_TEST(A3_another_kind_is_told_with_both_places),
        SWEEP_TEST(A3_one_name_in_two_branches_is_found),
        SWEEP_TEST(A3_one_name_in_two_forks_is_found),
        SWEEP_TEST(A3_each_name_is_told_once),
        SWEEP_TEST(A3_no_more_names_are_told_than_asked_for),
        SWEEP_TEST(A3_two_waits_for_one_deferred_are_found),
        SWEEP_TEST(a_name_may_be_meant_to_be_the_same_step),
        SWEEP_TEST(two_branches_of_one_name_are_a_mistake_even_so),
        SWEEP_TEST(a_deferred_has_one_name_for_its_token_and_the_wait),
        SWEEP_TEST(attempts_are_one_call),
        SWEEP_TEST(what_is_undone_repeats_no_name),
        SWEEP_TEST(a_child_has_names_of_its_own),
    };
    return cmocka_run_group_tests_name("sweep names", tests, NULL, NULL);
}
