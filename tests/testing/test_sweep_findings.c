/* test_sweep_findings.c - crash sweeps (contract H3): each kind of mistake is found and told. */
#include "kit/sweeping.h"

#include "testing/sweep.h"

/* ---- Bad ones ---------------------------------------------------------------------------------------------------------------- */

static struct sweeping *of_run(pawl_run *run)
{
    return pawl_run_user(run);
}

WORKFLOW(path_by_counter)
{
    PAWL_TRY(pawl_do(run, "first", NULL, sweeping_plain, params, NULL));
    if (of_run(run)->count++ % 2 == 0)
        PAWL_TRY(pawl_do(run, "even", NULL, sweeping_plain, params, NULL));
    else
        PAWL_TRY(pawl_sleep(run, "odd", "1 hour"));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(name_by_counter)
{
    PAWL_TRY(pawl_do(run, "first", NULL, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "charge %d", of_run(run)->count++), NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(name_by_time)
{
    long long second = (long long)(pawl_now_ms(pawl_run_engine(run)) / 1000);
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "report of %lld", second), NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result);
}

/* Undisturbed the clock stands still, and where every step is replayed it has moved on before the question comes up. */
WORKFLOW(path_by_age)
{
    PAWL_TRY(pawl_do(run, "first", NULL, sweeping_plain, params, NULL));
    bool is_late = pawl_now_ms(pawl_run_engine(run)) > pawl_run_created_at_ms(run);
    return pawl_do(run, is_late ? "late" : "early", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(name_by_day)
{
    long long day = (long long)(pawl_now_ms(pawl_run_engine(run)) / 86400000);
    return pawl_do(run, pawl_run_format(run, "report of day %lld", day), NULL, sweeping_plain, params, out_result);
}

WORKFLOW(kind_by_counter)
{
    if (of_run(run)->count++ == 0)
        PAWL_TRY(pawl_sleep(run, "same", "1 hour"));
    else
        PAWL_TRY(pawl_do(run, "same", NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result);
}

/* Skips on its second visit what it did on the first. */
WORKFLOW(ends_early)
{
    PAWL_TRY(pawl_do(run, "first", NULL, sweeping_plain, params, NULL));
    if (of_run(run)->count++ > 0)
        return PAWL_OK;
    PAWL_TRY(pawl_do(run, "second", NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "third", NULL, sweeping_plain, params, out_result);
}

BRANCH(fickle_branch)
{
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "charge %d", of_run(run)->count++), NULL, sweeping_plain, input, NULL));
    return pawl_do(run, "in a branch", NULL, sweeping_plain, input, out_result);
}

WORKFLOW(name_in_branch)
{
    struct pawl_branch branches[2] = { { .run = sweeping_branch, .input = params },
                                       { .run = fickle_branch, .input = params } };
    return pawl_all(run, "all", branches, 2, 0);
}

WORKFLOW(watchman)
{
    for (int round = 0;; round++)
        PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "round %d", round), "1 hour"));
}

WORKFLOW(same_again)
{
    for (;;)
        PAWL_TRY(pawl_do(run, "again", NULL, sweeping_plain, params, NULL));
}

/* A wait that is not heeded, in a loop that happens to end. */
WORKFLOW(heeds_nothing)
{
    pawl_status status = PAWL_SUSPENDED;
    for (int i = 0; status == PAWL_SUSPENDED && i < 10010; i++)
        status = pawl_sleep(run, "nap", "1 hour");
    return status;
}

WORKFLOW(ever_new)
{
    for (int round = 0;; round++)
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "round %d", round), NULL, sweeping_plain, params, NULL));
}

/* Not with the step's completion, but on its own, and so once more when the body is. */
BODY(create_at_once)
{
    struct pawl_instance instance;
    return pawl_create(pawl_step_engine(step), pawl_step_scope(step), "leaf", NULL, &instance, NULL);
}

WORKFLOW(begets_at_once)
{
    return pawl_do(run, "beget", NULL, create_at_once, params, NULL);
}

BODY(pause_itself)
{
    return pawl_pause(pawl_step_engine(step), "w", "sweep", NULL);
}

WORKFLOW(stuck)
{
    PAWL_TRY(pawl_do(run, "pause", NULL, pause_itself, params, NULL));
    return pawl_do(run, "never", NULL, sweeping_plain, params, out_result);
}

/* No workflow can make the engine run a completed step again, so the watch is told that this one was completed. */
BODY(fail_after_completion)
{
    const struct pw_sweep_watch *watch = pawl_step_engine(step)->mocks->user;
    struct pw_sweep_step *seen = pw_table_find(&watch->running->steps, pw_text_of("work"));
    if (pawl_step_attempt(step) > 1)
        return sweeping_plain(step, input, out_result);
    seen->finished = true;
    return pawl_fail(step, "Broken", "on purpose");
}

WORKFLOW(runs_again)
{
    return pawl_do(run, "work", NULL, fail_after_completion, params, out_result);
}

WORKFLOW(misspelt_duration)
{
    return pawl_sleep(run, "nap", "five minutes");
}

WORKFLOW(misspelt_result)
{
    return pawl_return(run, out_result, "{s:i", "a", 1);
}

WORKFLOW(nameless_step)
{
    return pawl_do(run, "", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(suspended_for_nothing)
{
    return PAWL_SUSPENDED;
}

BODY(suspend_in_body)
{
    return PAWL_SUSPENDED;
}

WORKFLOW(suspended_body)
{
    return pawl_do(run, "x", NULL, suspend_in_body, params, out_result);
}

WORKFLOW(interrupted_by_nobody)
{
    PAWL_TRY(pawl_do(run, "x", NULL, sweeping_plain, params, out_result));
    return PAWL_INTERRUPTED;
}

WORKFLOW(no_status)
{
    PAWL_TRY(pawl_do(run, "x", NULL, sweeping_plain, params, out_result));
    return (pawl_status)9999;
}

WORKFLOW(unknown_child)
{
    return pawl_run_child(run, "child", "nobody", NULL, params, out_result);
}

BODY(interrupt_itself)
{
    return pawl_interrupt(pawl_step_engine(step), "w", "sweep", NULL);
}

WORKFLOW(interrupted)
{
    PAWL_TRY(pawl_do(run, "interrupt", NULL, interrupt_itself, params, NULL));
    return pawl_do(run, "never", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(names_of_its_own)
{
    return pawl_run_fail(run, "UNKNOWN", "nobody knows this customer");
}

WORKFLOW(plainly_failed)
{
    PAWL_TRY(pawl_do(run, "x", NULL, sweeping_plain, params, out_result));
    return PAWL_FAILED;
}

WORKFLOW(handled)
{
    if (pawl_sleep(run, "nap", "five minutes") != PAWL_INVALID_DURATION)
        return PAWL_SUSPENDED;
    return pawl_do(run, "go on", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(fail_in_two_lines)
{
    return pawl_run_fail(run, "OutOfTea", "%0300d\nthe second line", 0);
}

/* The count stands for a static variable here: one body leaves something in it, a later one believes it. */
BODY(leave_note)
{
    struct sweeping *sweeping = pawl_step_user(step);
    sweeping->count = 42;
    return sweeping_plain(step, input, out_result);
}

BODY(read_note)
{
    const struct sweeping *sweeping = pawl_step_user(step);
    return pawl_result(step, out_result, "i", sweeping->count);
}

WORKFLOW(hands_on_in_memory)
{
    PAWL_TRY(pawl_do(run, "leave", NULL, leave_note, params, NULL));
    PAWL_TRY(pawl_sleep(run, "rest", "1 hour"));
    return pawl_do(run, "read", NULL, read_note, params, out_result);
}

static void forget_note(void *user)
{
    struct sweeping *sweeping = user;
    sweeping->count = 0;
    sweeping->crashes++;
}

/* The first finding. */
static void assert_finds(const struct sweeping *sweeping, enum pawl_sweep_kind kind, const char *where,
                         const char *text)
{
    assert_true(sweeping->report.finding_count > 0);
    assert_int_equal(sweeping->report.findings[0].kind, kind);
    sweeping_says(sweeping, where);
    sweeping_says(sweeping, text);
}

/* ---- Mistakes are found ------------------------------------------------------------------------------------------------------------ */

TEST_OF(sweeping, a_path_chosen_by_a_counter_is_found)
{
    sweeping_sweep_workflow(sweeping, path_by_counter);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "replayed at every step: run again, the function does not make",
                 "step 1: do \"first\"");
    sweeping_says(sweeping, "- step 2: sleep \"odd\"");
    sweeping_says(sweeping, "+ step 2: do \"even\"");
    assert_int_equal(sweeping->report.crashes, 0); /* it would only be found again and again */
}

TEST_OF(sweeping, a_name_from_a_counter_is_found_with_its_place)
{
    sweeping_sweep_workflow(sweeping, name_by_counter);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 2: do \"charge 1\"", "+ step 2: do \"charge 2\"");
    const struct pawl_sweep_line *lines = sweeping->report.findings[0].lines;
    assert_int_equal(lines[0].sign, ' ');
    assert_int_equal(lines[1].sign, '-');
    assert_int_equal(lines[2].sign, '+');
    assert_non_null(strstr(lines[1].object, "test_sweep"));
    assert_true(lines[1].offset > lines[0].offset && lines[1].offset - lines[0].offset < 400); /* in one function */
    assert_int_equal(lines[1].offset, lines[2].offset);
    sweeping_says(sweeping, "test_sweep_findings+0x");
}

static bool tell_place(const char *object, uint64_t offset, char *text, size_t size)
{
    snprintf(text, size, "somewhere in %s", strstr(object, "test_sweep"));
    return offset != 0;
}

TEST_OF(sweeping, a_place_is_told_as_the_caller_tells_it)
{
    sweeping->options.place = tell_place;

    sweeping_sweep_workflow(sweeping, name_by_counter);

    sweeping_says(sweeping, "somewhere in test_sweep");
}

TEST_OF(sweeping, a_name_from_the_clock_is_found)
{
    sweeping_sweep_workflow(sweeping, name_by_time);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 1: do \"report of 17672",
                 "+ step 1: do \"report of 17672");
}

TEST_OF(sweeping, a_path_by_the_age_of_the_run_is_found)
{
    sweeping_sweep_workflow(sweeping, path_by_age);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "replayed just before its end, a day later: run again, the",
                 "- step 2: do \"early\"");
    sweeping_says(sweeping, "+ step 2: do \"late\"");
}

TEST_OF(sweeping, a_name_from_the_day_is_found)
{
    sweeping_sweep_workflow(sweeping, name_by_day);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 1: do \"report of day 20454\"",
                 "+ step 1: do \"report of day 20455\"");
}

TEST_OF(sweeping, another_kind_under_the_same_name_is_found)
{
    sweeping->count_resets = true;

    sweeping_sweep_workflow(sweeping, kind_by_counter);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 1: sleep \"same\"", "+ step 1: do \"same\"");
}

TEST_OF(sweeping, a_function_that_ends_without_its_former_steps_is_found)
{
    sweeping->count_resets = true;

    sweeping_sweep_workflow(sweeping, ends_early);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 2: do \"second\"", "step 1: do \"first\"");
}

TEST_OF(sweeping, a_name_in_a_branch_is_found)
{
    sweeping->options.params_json = "\"b\"";

    sweeping_sweep_workflow(sweeping, name_in_branch);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 1: do \"charge ", "+ step 1: do \"charge ");
}

TEST_OF(sweeping, a_result_that_depends_on_how_often_the_body_ran_is_found)
{
    sweeping->count_resets = true;

    sweeping_sweep_workflow(sweeping, sweeping_result_by_calls);

    assert_finds(sweeping, PAWL_SWEEP_OUTCOME, "crashed just before commit 3 (step \"call\" completed): ",
                 "it ended complete with 2, undisturbed complete with 1");
    assert_int_equal(sweeping->report.finding_count, 1); /* there only */
    assert_int_equal(sweeping->report.crashes, 8);
}

TEST_OF(sweeping, what_a_process_takes_with_it_when_it_dies_is_missed)
{
    sweeping->options.crashed = forget_note;

    sweeping_sweep_workflow(sweeping, hands_on_in_memory);

    assert_finds(sweeping, PAWL_SWEEP_OUTCOME, "crashed just after commit 3 (step \"leave\" completed): ",
                 "it ended complete with 0, undisturbed complete with 42");
    /* In each world at its beginning, and at its crash. */
    assert_int_equal(sweeping->crashes, sweeping->setups + sweeping->report.crashes);
}

TEST_OF(sweeping, memory_outlives_a_crash_where_nobody_clears_it)
{
    sweeping_sweep_workflow(sweeping, hands_on_in_memory);

    sweeping_is_clean(sweeping, "w: complete with 42, ");
}

TEST_OF(sweeping, other_steps_are_found)
{
    sweeping->count_resets = true;

    sweeping_sweep_workflow(sweeping, sweeping_steps_by_calls);

    assert_finds(sweeping, PAWL_SWEEP_OUTCOME, "it took other steps than the undisturbed run",
                 "- step 2: do \"after call 1\"");
    sweeping_says(sweeping, "+ step 2: do \"after call 2\"");
}

TEST_OF(sweeping, a_run_that_is_always_due_again_is_found)
{
    sweeping->options.turns_max = 50;

    sweeping_sweep_workflow(sweeping, watchman);

    assert_finds(sweeping, PAWL_SWEEP_ENDLESS, "w: no end, ",
                 "undisturbed: after 50 turns there is still something due");
    assert_null(sweeping->report.outcome);
}

TEST_OF(sweeping, a_function_that_loops_over_one_step_is_stopped_and_found)
{
    sweeping_sweep_workflow(sweeping, same_again);

    assert_finds(sweeping, PAWL_SWEEP_ENDLESS,
                 "undisturbed: the function makes durable calls without end; does it loop?", "+ step 1: do \"again\"");
}

static void note_where(void *user, const char *where, const char *step)
{
    struct sweeping *sweeping = user;
    sweeping->count++;
    snprintf(sweeping->told, sizeof sweeping->told, "%s%s", where, step != NULL ? step : "");
}

TEST_OF(sweeping, a_function_that_does_not_heed_its_suspension_is_told_and_found)
{
    sweeping->options.tell = note_where;

    sweeping_sweep_workflow(sweeping, heeds_nothing);

    assert_finds(sweeping, PAWL_SWEEP_ENDLESS, "undisturbed: the function goes on making durable calls after PAWL_SUSP",
                 "+ step 1: sleep \"nap\"");
    assert_string_equal(sweeping->told, "undisturbed, calling on and on after PAWL_SUSPENDED");
    assert_int_equal(sweeping->count, 3); /* the world, the pass, and that, once */
}

TEST_OF(sweeping, a_run_that_uses_up_its_steps_is_found)
{
    sweeping_sweep_workflow(sweeping, ever_new);

    assert_finds(sweeping, PAWL_SWEEP_ENDLESS, "undisturbed: the run used up its steps", "does it loop?");
}

static void assert_misuse(struct sweeping *sweeping, pawl_workflow_fn *run, const char *outcome, const char *text)
{
    sweeping_sweep_workflow(sweeping, run);
    assert_finds(sweeping, PAWL_SWEEP_MISUSE, outcome, text);
    assert_int_equal(sweeping->report.finding_count, 1);
}

TEST_OF(sweeping, a_duration_that_is_none_is_found)
{
    assert_misuse(sweeping, misspelt_duration, "w: errored with INVALID_DURATION: \"five minutes\" is not a duration",
                  "undisturbed: a mistake in the code, not bad luck: INVALID_DURATION: \"five minutes\" is not");
}

TEST_OF(sweeping, a_result_that_cannot_be_packed_is_found)
{
    assert_misuse(sweeping, misspelt_result, "w: errored with INVALID: the result's format",
                  "INVALID: the result's format or a text in it is not valid\n");
}

TEST_OF(sweeping, a_name_that_is_none_is_found)
{
    assert_misuse(sweeping, nameless_step,
                  "w: errored with INVALID_STEP_NAME: ", "INVALID_STEP_NAME: a step name is 1 to");
}

TEST_OF(sweeping, a_run_that_is_suspended_for_nothing_is_found)
{
    assert_misuse(sweeping, suspended_for_nothing, "w: errored with SUSPENDED_FOR_NOTHING: ", "no durable call");
}

TEST_OF(sweeping, a_body_that_says_it_is_suspended_is_found)
{
    assert_misuse(sweeping, suspended_body,
                  "w: errored with SUSPENDED: ", "not bad luck: a body returned PAWL_SUSPENDED, which");
}

TEST_OF(sweeping, an_interruption_by_nobody_is_found)
{
    assert_misuse(sweeping, interrupted_by_nobody,
                  "w: errored with INTERRUPTED: ", "PAWL_INTERRUPTED was returned, but nobody had interrupted the run");
}

TEST_OF(sweeping, a_status_that_is_none_is_found)
{
    assert_misuse(sweeping, no_status, "w: errored with UNKNOWN: ", "what was returned is no pawl_status");
}

TEST_OF(sweeping, a_child_of_a_workflow_that_is_missing_is_found)
{
    assert_misuse(sweeping, unknown_child, "w: errored with WORKFLOW_NOT_FOUND: ",
                  "undisturbed: no workflow named \"nobody\" is registered, neither in what is swept nor by the setup");
}

TEST_OF(sweeping, an_interruption_is_no_mistake)
{
    sweeping->options.outcome_may_vary = true; /* the step that asked for it may be lost, and is not needed again */

    sweeping_sweep_workflow(sweeping, interrupted);

    sweeping_is_clean(sweeping, "w: terminated with INTERRUPTED: ");
}

TEST_OF(sweeping, an_error_s_name_may_be_that_of_a_status)
{
    sweeping_sweep_workflow(sweeping, names_of_its_own);

    sweeping_is_clean(sweeping, "w: errored with UNKNOWN: nobody knows");
}

TEST_OF(sweeping, a_plain_failure_is_no_mistake)
{
    sweeping_sweep_workflow(sweeping, plainly_failed);

    sweeping_is_clean(sweeping, "w: errored with FAILED: ");
}

TEST_OF(sweeping, a_refusal_that_is_handled_is_no_mistake)
{
    sweeping_sweep_workflow(sweeping, handled);

    sweeping_is_clean(sweeping, "w: complete with 7, ");
}

TEST_OF(sweeping, an_error_s_first_line_is_told_as_far_as_there_is_room)
{
    sweeping_sweep_workflow(sweeping, fail_in_two_lines);

    sweeping_is_clean(sweeping, "w: errored with OutOfTea: 000");
    assert_int_equal(strlen(sweeping->report.outcome), strlen("errored with OutOfTea: ") + 200);
}

TEST_OF(sweeping, an_instance_created_twice_is_found)
{
    sweeping_add(sweeping, "w", begets_at_once);
    sweeping_add(sweeping, "leaf", sweeping_leaf);

    sweeping_sweep(sweeping);

    assert_finds(sweeping, PAWL_SWEEP_OUTCOME, "(create \"leaf\"): ", "it left 2 instances of \"leaf\", undisturbed 1");
    sweeping_says(sweeping, "and the same in 1 more case\n");
}

TEST_OF(sweeping, a_run_that_is_left_where_it_stands_is_found)
{
    sweeping_sweep_workflow(sweeping, stuck);

    assert_finds(sweeping, PAWL_SWEEP_UNFINISHED,
                 "undisturbed: ", "instance \"sweep\" of \"w\" is left paused, and nothing is due");
}

TEST_OF(sweeping, a_completed_step_that_runs_again_is_found)
{
    sweeping_sweep_workflow(sweeping, runs_again);

    assert_finds(sweeping, PAWL_SWEEP_RAN_TWICE,
                 "undisturbed: ", "the body of step \"work\" ran again although it was completed");
}

static pawl_status called_once(pawl_world *world, void *user, struct pawl_error *error)
{
    const struct sweeping *sweeping = user;
    (void)world;
    if (sweeping->count == 1)
        return PAWL_OK;
    error->status = PAWL_FAILED;
    snprintf(error->text, sizeof error->text, "called %d times", sweeping->count);
    return PAWL_FAILED;
}

TEST_OF(sweeping, what_the_caller_s_check_says_is_told)
{
    sweeping->count_resets = true;
    sweeping->options.check = called_once;
    sweeping->options.outcome_may_vary = true;

    sweeping_sweep_workflow(sweeping, sweeping_result_by_calls);

    /* Replayed, it is called once; crashed before its outcome is durable, again. */
    assert_finds(sweeping, PAWL_SWEEP_CHECK,
                 "crashed just before commit 3 (step \"call\" completed): ", "called 2 times");
}

static pawl_status always_wrong(pawl_world *world, void *user, struct pawl_error *error)
{
    struct sweeping *sweeping = user;
    (void)world;
    error->status = PAWL_FAILED;
    if (sweeping->checks++ > 1)
        snprintf(error->text, sizeof error->text, "wrong for the %dth time", sweeping->checks);
    return sweeping->checks > 2 ? PAWL_FAILED : PAWL_OK;
}

TEST_OF(sweeping, no_more_is_told_than_was_asked_for)
{
    sweeping->options.check = always_wrong;
    sweeping->options.findings_max = 3;

    sweeping_sweep_workflow(sweeping, sweeping_leaf);

    assert_int_equal(sweeping->report.finding_count, 3);
    assert_int_equal(sweeping->report.crashes, 3);
    sweeping_says(sweeping, "and no further");
}
