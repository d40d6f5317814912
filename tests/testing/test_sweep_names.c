/* test_sweep_names.c - crash sweeps (contract H3): the same name twice in one pass is the same step (contract A3), which is
 * hardly ever meant; and what uses a name again rightly is left alone. */
#include "kit/sweeping.h"

#include "testing/sweep.h"

/* ---- Names that are forgotten to differ ------------------------------------------------------------------------------------ */

WORKFLOW(two_bodies)
{
    PAWL_TRY(pawl_do(run, "q", NULL, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_do(run, "q", NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result); /* a compiler may make a jump of this one */
}

WORKFLOW(not_next_to_each_other)
{
    PAWL_TRY(pawl_do(run, "q", NULL, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_sleep(run, "rest", "1 hour"));
    return pawl_do(run, "q", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(sleeps_in_a_loop)
{
    for (int i = 0; i < 3; i++)
        PAWL_TRY(pawl_sleep(run, "poll", "1 hour"));
    return PAWL_OK;
}

WORKFLOW(sleeps_for_ever)
{
    for (;;)
        PAWL_TRY(pawl_sleep(run, "poll", "1 hour"));
}

WORKFLOW(waits_in_a_loop)
{
    for (int i = 0; i < 2; i++)
        PAWL_TRY(pawl_wait_for_event(run, "next", "e", "1 hour", NULL));
    return PAWL_OK;
}

WORKFLOW(calls_in_a_loop)
{
    for (int i = 0; i < 2; i++)
        PAWL_TRY(pawl_call(run, "call", "function", NULL, params, out_result));
    return PAWL_OK;
}

WORKFLOW(another_kind)
{
    PAWL_TRY(pawl_sleep(run, "same", "1 hour"));
    return pawl_do(run, "same", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(one_name_in_two_branches)
{
    struct pawl_branch branches[2] = { { .run = sweeping_leaf, .input = params },
                                       { .run = sweeping_leaf, .input = params } };
    return pawl_all(run, "all", branches, 2, 0);
}

WORKFLOW(one_name_in_two_forks)
{
    struct pawl_branch branch = { .run = sweeping_leaf, .input = params };
    PAWL_TRY(pawl_all(run, "all", &branch, 1, 0));
    return pawl_all(run, "all", &branch, 1, 0);
}

WORKFLOW(two_names_twice)
{
    for (int i = 0; i < 3; i++) {
        PAWL_TRY(pawl_do(run, "look", NULL, sweeping_plain, params, out_result));
        PAWL_TRY(pawl_sleep(run, "poll", "1 hour"));
    }
    return PAWL_OK;
}

WORKFLOW(awaits_twice)
{
    PAWL_TRY(pawl_await_deferred(run, "answer", "1 hour", out_result));
    return pawl_await_deferred(run, "answer", "1 hour", out_result);
}

/* ---- Names that are used again rightly ---------------------------------------------------------------------------------------- */

BODY(third_time_lucky)
{
    return pawl_step_attempt(step) < 3 ? pawl_fail(step, "Busy", "come back") : sweeping_plain(step, input, out_result);
}

/* A token may be asked for as often as one likes. */
WORKFLOW(token_and_wait)
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
WORKFLOW(retries)
{
    static const struct pawl_step_options at_once = { .retries = 5, .delay = "0 ms" };
    static const struct pawl_step_options later = { .retries = 5, .delay = "1 minute" };
    PAWL_TRY(pawl_do(run, "at once", &at_once, third_time_lucky, params, NULL));
    return pawl_do(run, "later", &later, third_time_lucky, params, out_result);
}

BODY(refuse)
{
    return pawl_fail_for_good(step, "Refused", "no");
}

/* What is undone is called by its own name, in a pass that makes every other call again. */
WORKFLOW(undoes)
{
    static const struct pawl_compensation undo = { .undo = third_time_lucky };
    static const struct pawl_step_options options = { .compensate = &undo };
    struct pawl_branch race[2] = { { .run = sweeping_leaf, .input = params }, { .run = sleeps_in_a_loop } };
    PAWL_TRY(pawl_do(run, "book", &options, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_first(run, "race", race, 2, NULL));
    PAWL_TRY(pawl_do(run, "rent", &options, sweeping_plain, params, NULL));
    return pawl_do(run, "pay", NULL, refuse, params, out_result);
}

WORKFLOW(begets)
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

TEST_OF(sweeping, A3_two_calls_of_one_name_are_found_with_both_places)
{
    assert_repeats(sweeping, two_bodies, "first: do \"q\"", "again: do \"q\"");

    const struct pawl_sweep_line *lines = sweeping->report.findings[0].lines;
    assert_non_null(strstr(lines[0].object, "test_sweep"));
    assert_true(lines[1].offset > lines[0].offset && lines[1].offset - lines[0].offset < 400); /* in one function */
    assert_int_equal(sweeping->report.finding_count, 1);
    sweeping_says(sweeping, "w: complete with 7, 5 commits, 0 crashes: 1 finding\n");
    sweeping_says(sweeping, "undisturbed: \"q\" is called twice in one pass, and the same name is the same step");
    sweeping_says(sweeping, "in a loop with an index (\"q 1\", \"q 2\")");
}

TEST_OF(sweeping, A3_a_name_comes_again_after_others)
{
    assert_repeats(sweeping, not_next_to_each_other, "first: do \"q\"", "again: do \"q\"");
}

TEST_OF(sweeping, A3_a_sleep_in_a_loop_without_an_index_is_found)
{
    assert_repeats(sweeping, sleeps_in_a_loop, "first: sleep \"poll\"", "again: sleep \"poll\"");

    assert_int_equal(sweeping->report.finding_count, 1); /* not one for each time */
}

TEST_OF(sweeping, A3_a_loop_that_never_ends_for_it_is_told_why)
{
    sweeping_sweep_workflow(sweeping, sleeps_for_ever);

    assert_int_equal(sweeping->report.finding_count, 2);
    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_ENDLESS);
    assert_int_equal(sweeping->report.findings[1].kind, PAWL_SWEEP_REPEATED);
    sweeping_says(sweeping, "\"poll\" is called twice in one pass");
}

TEST_OF(sweeping, A3_a_wait_in_a_loop_without_an_index_is_found)
{
    static const struct pawl_sweep_event event = { "e", NULL, NULL };
    sweeping->options.events = &event;
    sweeping->options.event_count = 1;

    assert_repeats(sweeping, waits_in_a_loop, "first: waitForEvent \"next\"", "again: waitForEvent \"next\"");
}

static pawl_status with_mock(pawl_world *world, void *user, struct pawl_error *error)
{
    const struct sweeping *sweeping = user;
    return pawl_world_mock_result(world, "w", sweeping->count == 0 ? "call" : "q", 0, "1", error);
}

TEST_OF(sweeping, A3_calls_that_are_mocked_are_found_all_the_same)
{
    sweeping->options.setup = with_mock;

    assert_repeats(sweeping, calls_in_a_loop, "first: call \"call\"", "again: call \"call\"");
}

TEST_OF(sweeping, A3_a_body_that_is_mocked_is_found_all_the_same)
{
    sweeping->options.setup = with_mock;
    sweeping->count = 1;

    assert_repeats(sweeping, two_bodies, "first: do \"q\"", "again: do \"q\"");
}

TEST_OF(sweeping, A3_another_kind_is_told_with_both_places)
{
    assert_repeats(sweeping, another_kind, "first: sleep \"same\"", "again: do \"same\"");

    sweeping_says(sweeping, "w: errored with STEP_TYPE_MISMATCH");
    assert_int_equal(sweeping->report.finding_count, 1);
}

TEST_OF(sweeping, A3_one_name_in_two_branches_is_found)
{
    assert_repeats(sweeping, one_name_in_two_branches, "first: do \"grow\"", "again: do \"grow\"");

    sweeping_says(sweeping, "w: errored with DUPLICATE_STEP_KEY");
}

TEST_OF(sweeping, A3_one_name_in_two_forks_is_found)
{
    assert_repeats(sweeping, one_name_in_two_forks, "first: do \"grow\"", "again: do \"grow\"");
}

TEST_OF(sweeping, A3_each_name_is_told_once)
{
    assert_repeats(sweeping, two_names_twice, "first: do \"look\"", "again: do \"look\"");

    assert_int_equal(sweeping->report.finding_count, 2);
    sweeping_says(sweeping, "\"poll\" is called twice in one pass");
}

TEST_OF(sweeping, A3_no_more_names_are_told_than_asked_for)
{
    sweeping->options.findings_max = 1;

    assert_repeats(sweeping, two_names_twice, "first: do \"look\"", "again: do \"look\"");

    assert_int_equal(sweeping->report.finding_count, 1);
}

TEST_OF(sweeping, A3_two_waits_for_one_deferred_are_found)
{
    static const struct pawl_sweep_event answer = { "deferred:answer", "7", NULL };
    sweeping->options.events = &answer;
    sweeping->options.event_count = 1;

    assert_repeats(sweeping, awaits_twice, "first: deferred \"answer\"", "again: deferred \"answer\"");
}

TEST_OF(sweeping, a_name_may_be_meant_to_be_the_same_step)
{
    sweeping->options.names_may_repeat = true;

    sweeping_sweep_workflow(sweeping, two_bodies);

    sweeping_is_clean(sweeping, "w: complete with 7, ");
}

TEST_OF(sweeping, two_branches_of_one_name_are_a_mistake_even_so)
{
    sweeping->options.names_may_repeat = true;

    sweeping_sweep_workflow(sweeping, one_name_in_two_branches);

    assert_int_equal(sweeping->report.finding_count, 1);
    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_MISUSE);
    sweeping_says(sweeping, "DUPLICATE_STEP_KEY: step \"grow\" is called twice at once");
}

TEST_OF(sweeping, a_deferred_has_one_name_for_its_token_and_the_wait)
{
    static const struct pawl_sweep_event answer = { "deferred:answer", "7", NULL };
    sweeping->options.events = &answer;
    sweeping->options.event_count = 1;

    sweeping_sweep_workflow(sweeping, token_and_wait);

    sweeping_is_clean(sweeping, "w: complete with 7, ");
}

TEST_OF(sweeping, attempts_are_one_call)
{
    sweeping_sweep_workflow(sweeping, retries);

    sweeping_is_clean(sweeping, "w: complete with 7, ");
}

TEST_OF(sweeping, what_is_undone_repeats_no_name)
{
    sweeping_sweep_workflow(sweeping, undoes);

    sweeping_is_clean(sweeping, "w: errored with Refused");
}

TEST_OF(sweeping, a_child_has_names_of_its_own)
{
    sweeping_add(sweeping, "w", begets);
    sweeping_add(sweeping, "leaf", sweeping_leaf);

    sweeping_sweep(sweeping);

    sweeping_is_clean(sweeping, "w: complete with 7, ");
}
