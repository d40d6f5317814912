/* test_sweep_findings.c - crash sweeps (contract H3): each kind of mistake is found and told. */
#include "kit/sweeping.h"

#include <stdio.h>
#include <string.h>

#include "testing/sweep.h"

/* ---- Bad ones ---------------------------------------------------------------------------------------------------------------- */

static struct sweeping *of_run(pawl_run *run)
{
    return pawl_run_user(run);
}

static pawl_status path_by_counter(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "first", NULL, sweeping_plain, params, NULL));
    if (of_run(run)->count++ % 2 == 0)
        PAWL_TRY(pawl_do(run, "even", NULL, sweeping_plain, params, NULL));
    else
        PAWL_TRY(pawl_sleep(run, "odd", "1 hour"));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result);
}

static pawl_status name_by_counter(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "first", NULL, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "charge %d", of_run(run)->count++), NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result);
}

static pawl_status name_by_time(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    long long second = (long long)(pawl_now_ms(pawl_run_engine(run)) / 1000);
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "report of %lld", second), NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result);
}

/* Undisturbed the clock stands still, and where every step is replayed it has moved on before the question comes up. */
static pawl_status path_by_age(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "first", NULL, sweeping_plain, params, NULL));
    bool is_late = pawl_now_ms(pawl_run_engine(run)) > pawl_run_created_at_ms(run);
    return pawl_do(run, is_late ? "late" : "early", NULL, sweeping_plain, params, out_result);
}

static pawl_status name_by_day(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    long long day = (long long)(pawl_now_ms(pawl_run_engine(run)) / 86400000);
    return pawl_do(run, pawl_run_format(run, "report of day %lld", day), NULL, sweeping_plain, params, out_result);
}

static pawl_status kind_by_counter(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    if (of_run(run)->count++ == 0)
        PAWL_TRY(pawl_sleep(run, "same", "1 hour"));
    else
        PAWL_TRY(pawl_do(run, "same", NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result);
}

/* Skips on its second visit what it did on the first. */
static pawl_status ends_early(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "first", NULL, sweeping_plain, params, NULL));
    if (of_run(run)->count++ > 0)
        return PAWL_OK;
    PAWL_TRY(pawl_do(run, "second", NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "third", NULL, sweeping_plain, params, out_result);
}

static pawl_status fickle_branch(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "charge %d", of_run(run)->count++), NULL, sweeping_plain, input, NULL));
    return pawl_do(run, "in a branch", NULL, sweeping_plain, input, out_result);
}

static pawl_status name_in_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[2] = { { .run = sweeping_branch, .input = params },
                                       { .run = fickle_branch, .input = params } };
    (void)out_result;
    return pawl_all(run, "all", branches, 2, 0);
}

static pawl_status watchman(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    for (int round = 0;; round++)
        PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "round %d", round), "1 hour"));
}

static pawl_status same_again(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    for (;;)
        PAWL_TRY(pawl_do(run, "again", NULL, sweeping_plain, params, NULL));
}

/* A wait that is not heeded, in a loop that happens to end. */
static pawl_status heeds_nothing(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_status status = PAWL_SUSPENDED;
    (void)params;
    (void)out_result;
    for (int i = 0; status == PAWL_SUSPENDED && i < 10010; i++)
        status = pawl_sleep(run, "nap", "1 hour");
    return status;
}

static pawl_status ever_new(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    for (int round = 0;; round++)
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "round %d", round), NULL, sweeping_plain, params, NULL));
}

/* Not with the step's completion, but on its own, and so once more when the body is. */
static pawl_status create_at_once(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct pawl_instance instance;
    (void)input;
    (void)out_result;
    return pawl_create(pawl_step_engine(step), pawl_step_scope(step), "leaf", NULL, &instance, NULL);
}

static pawl_status begets_at_once(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    return pawl_do(run, "beget", NULL, create_at_once, params, NULL);
}

static pawl_status pause_itself(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_pause(pawl_step_engine(step), "w", "sweep", NULL);
}

static pawl_status stuck(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "pause", NULL, pause_itself, params, NULL));
    return pawl_do(run, "never", NULL, sweeping_plain, params, out_result);
}

/* No workflow can make the engine run a completed step again, so the watch is told that this one was completed. */
static pawl_status fail_after_completion(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const struct pw_sweep_watch *watch = pawl_step_engine(step)->mocks->user;
    struct pw_sweep_step *seen = pw_table_find(&watch->running->steps, pw_text_of("work"));
    if (pawl_step_attempt(step) > 1)
        return sweeping_plain(step, input, out_result);
    seen->finished = true;
    return pawl_fail(step, "Broken", "on purpose");
}

static pawl_status runs_again(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "work", NULL, fail_after_completion, params, out_result);
}

static pawl_status misspelt_duration(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_sleep(run, "nap", "five minutes");
}

static pawl_status misspelt_result(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_return(run, out_result, "{s:i", "a", 1);
}

static pawl_status nameless_step(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "", NULL, sweeping_plain, params, out_result);
}

static pawl_status suspended_for_nothing(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run;
    (void)params;
    (void)out_result;
    return PAWL_SUSPENDED;
}

static pawl_status suspend_in_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    return PAWL_SUSPENDED;
}

static pawl_status suspended_body(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "x", NULL, suspend_in_body, params, out_result);
}

static pawl_status interrupted_by_nobody(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "x", NULL, sweeping_plain, params, out_result));
    return PAWL_INTERRUPTED;
}

static pawl_status no_status(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "x", NULL, sweeping_plain, params, out_result));
    return (pawl_status)9999;
}

static pawl_status unknown_child(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_run_child(run, "child", "nobody", NULL, params, out_result);
}

static pawl_status interrupt_itself(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_interrupt(pawl_step_engine(step), "w", "sweep", NULL);
}

static pawl_status interrupted(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "interrupt", NULL, interrupt_itself, params, NULL));
    return pawl_do(run, "never", NULL, sweeping_plain, params, out_result);
}

static pawl_status names_of_its_own(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_run_fail(run, "UNKNOWN", "nobody knows this customer");
}

static pawl_status plainly_failed(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "x", NULL, sweeping_plain, params, out_result));
    return PAWL_FAILED;
}

static pawl_status handled(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    if (pawl_sleep(run, "nap", "five minutes") != PAWL_INVALID_DURATION)
        return PAWL_SUSPENDED;
    return pawl_do(run, "go on", NULL, sweeping_plain, params, out_result);
}

static pawl_status fail_in_two_lines(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_run_fail(run, "OutOfTea", "%0300d\nthe second line", 0);
}

/* The count stands for a static variable here: one body leaves something in it, a later one believes it. */
static pawl_status leave_note(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct sweeping *sweeping = pawl_step_user(step);
    sweeping->count = 42;
    return sweeping_plain(step, input, out_result);
}

static pawl_status read_note(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const struct sweeping *sweeping = pawl_step_user(step);
    (void)input;
    return pawl_result(step, out_result, "i", sweeping->count);
}

static pawl_status hands_on_in_memory(pawl_run *run, const pawl_value *params, pawl_value **out_result)
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

static void a_path_chosen_by_a_counter_is_found(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, path_by_counter);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "replayed at every step: run again, the function does not make",
                 "step 1: do \"first\"");
    sweeping_says(sweeping, "- step 2: sleep \"odd\"");
    sweeping_says(sweeping, "+ step 2: do \"even\"");
    assert_int_equal(sweeping->report.crashes, 0); /* it would only be found again and again */
}

static void a_name_from_a_counter_is_found_with_its_place(void **state)
{
    struct sweeping *sweeping = *state;

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

static void a_place_is_told_as_the_caller_tells_it(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.place = tell_place;

    sweeping_sweep_workflow(sweeping, name_by_counter);

    sweeping_says(sweeping, "somewhere in test_sweep");
}

static void a_name_from_the_clock_is_found(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, name_by_time);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 1: do \"report of 17672",
                 "+ step 1: do \"report of 17672");
}

static void a_path_by_the_age_of_the_run_is_found(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, path_by_age);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "replayed just before its end, a day later: run again, the",
                 "- step 2: do \"early\"");
    sweeping_says(sweeping, "+ step 2: do \"late\"");
}

static void a_name_from_the_day_is_found(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, name_by_day);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 1: do \"report of day 20454\"",
                 "+ step 1: do \"report of day 20455\"");
}

static void another_kind_under_the_same_name_is_found(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->count_resets = true;

    sweeping_sweep_workflow(sweeping, kind_by_counter);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 1: sleep \"same\"", "+ step 1: do \"same\"");
}

static void a_function_that_ends_without_its_former_steps_is_found(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->count_resets = true;

    sweeping_sweep_workflow(sweeping, ends_early);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 2: do \"second\"", "step 1: do \"first\"");
}

static void a_name_in_a_branch_is_found(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.params_json = "\"b\"";

    sweeping_sweep_workflow(sweeping, name_in_branch);

    assert_finds(sweeping, PAWL_SWEEP_NONDETERMINISTIC, "- step 1: do \"charge ", "+ step 1: do \"charge ");
}

static void a_result_that_depends_on_how_often_the_body_ran_is_found(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->count_resets = true;

    sweeping_sweep_workflow(sweeping, sweeping_result_by_calls);

    assert_finds(sweeping, PAWL_SWEEP_OUTCOME, "crashed just before commit 3 (step \"call\" completed): ",
                 "it ended complete with 2, undisturbed complete with 1");
    assert_int_equal(sweeping->report.finding_count, 1); /* there only */
    assert_int_equal(sweeping->report.crashes, 8);
}

static void what_a_process_takes_with_it_when_it_dies_is_missed(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.crashed = forget_note;

    sweeping_sweep_workflow(sweeping, hands_on_in_memory);

    assert_finds(sweeping, PAWL_SWEEP_OUTCOME, "crashed just after commit 3 (step \"leave\" completed): ",
                 "it ended complete with 0, undisturbed complete with 42");
    /* In each world at its beginning, and at its crash. */
    assert_int_equal(sweeping->crashes, sweeping->setups + sweeping->report.crashes);
}

static void memory_outlives_a_crash_where_nobody_clears_it(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, hands_on_in_memory);

    sweeping_is_clean(sweeping, "w: complete with 42, ");
}

static void other_steps_are_found(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->count_resets = true;

    sweeping_sweep_workflow(sweeping, sweeping_steps_by_calls);

    assert_finds(sweeping, PAWL_SWEEP_OUTCOME, "it took other steps than the undisturbed run",
                 "- step 2: do \"after call 1\"");
    sweeping_says(sweeping, "+ step 2: do \"after call 2\"");
}

static void a_run_that_is_always_due_again_is_found(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.turns_max = 50;

    sweeping_sweep_workflow(sweeping, watchman);

    assert_finds(sweeping, PAWL_SWEEP_ENDLESS, "w: no end, ",
                 "undisturbed: after 50 turns there is still something due");
    assert_null(sweeping->report.outcome);
}

static void a_function_that_loops_over_one_step_is_stopped_and_found(void **state)
{
    struct sweeping *sweeping = *state;

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

static void a_function_that_does_not_heed_its_suspension_is_told_and_found(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.tell = note_where;

    sweeping_sweep_workflow(sweeping, heeds_nothing);

    assert_finds(sweeping, PAWL_SWEEP_ENDLESS, "undisturbed: the function goes on making durable calls after PAWL_SUSP",
                 "+ step 1: sleep \"nap\"");
    assert_string_equal(sweeping->told, "undisturbed, calling on and on after PAWL_SUSPENDED");
    assert_int_equal(sweeping->count, 3); /* the world, the pass, and that, once */
}

static void a_run_that_uses_up_its_steps_is_found(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, ever_new);

    assert_finds(sweeping, PAWL_SWEEP_ENDLESS, "undisturbed: the run used up its steps", "does it loop?");
}

static void assert_misuse(struct sweeping *sweeping, pawl_workflow_fn *run, const char *outcome, const char *text)
{
    sweeping_sweep_workflow(sweeping, run);
    assert_finds(sweeping, PAWL_SWEEP_MISUSE, outcome, text);
    assert_int_equal(sweeping->report.finding_count, 1);
}

static void a_duration_that_is_none_is_found(void **state)
{
    assert_misuse(*state, misspelt_duration, "w: errored with INVALID_DURATION: \"five minutes\" is not a duration",
                  "undisturbed: a mistake in the code, not bad luck: INVALID_DURATION: \"five minutes\" is not");
}

static void a_result_that_cannot_be_packed_is_found(void **state)
{
    assert_misuse(*state, misspelt_result, "w: errored with INVALID: the result's format",
                  "INVALID: the result's format or a text in it is not valid\n");
}

static void a_name_that_is_none_is_found(void **state)
{
    assert_misuse(*state, nameless_step,
                  "w: errored with INVALID_STEP_NAME: ", "INVALID_STEP_NAME: a step name is 1 to");
}

static void a_run_that_is_suspended_for_nothing_is_found(void **state)
{
    assert_misuse(*state, suspended_for_nothing, "w: errored with SUSPENDED_FOR_NOTHING: ", "no durable call");
}

static void a_body_that_says_it_is_suspended_is_found(void **state)
{
    assert_misuse(*state, suspended_body,
                  "w: errored with SUSPENDED: ", "not bad luck: a body returned PAWL_SUSPENDED, which");
}

static void an_interruption_by_nobody_is_found(void **state)
{
    assert_misuse(*state, interrupted_by_nobody,
                  "w: errored with INTERRUPTED: ", "PAWL_INTERRUPTED was returned, but nobody had interrupted the run");
}

static void a_status_that_is_none_is_found(void **state)
{
    assert_misuse(*state, no_status, "w: errored with UNKNOWN: ", "what was returned is no pawl_status");
}

static void a_child_of_a_workflow_that_is_missing_is_found(void **state)
{
    assert_misuse(*state, unknown_child, "w: errored with WORKFLOW_NOT_FOUND: ",
                  "undisturbed: no workflow named \"nobody\" is registered, neither in what is swept nor by the setup");
}

static void an_interruption_is_no_mistake(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.outcome_may_vary = true; /* the step that asked for it may be lost, and is not needed again */

    sweeping_sweep_workflow(sweeping, interrupted);

    sweeping_is_clean(sweeping, "w: terminated with INTERRUPTED: ");
}

static void an_error_s_name_may_be_that_of_a_status(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, names_of_its_own);

    sweeping_is_clean(sweeping, "w: errored with UNKNOWN: nobody knows");
}

static void a_plain_failure_is_no_mistake(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, plainly_failed);

    sweeping_is_clean(sweeping, "w: errored with FAILED: ");
}

static void a_refusal_that_is_handled_is_no_mistake(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, handled);

    sweeping_is_clean(sweeping, "w: complete with 7, ");
}

static void an_error_s_first_line_is_told_as_far_as_there_is_room(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, fail_in_two_lines);

    sweeping_is_clean(sweeping, "w: errored with OutOfTea: 000");
    assert_int_equal(strlen(sweeping->report.outcome), strlen("errored with OutOfTea: ") + 200);
}

static void an_instance_created_twice_is_found(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping_add(sweeping, "w", begets_at_once);
    sweeping_add(sweeping, "leaf", sweeping_leaf);

    sweeping_sweep(sweeping);

    assert_finds(sweeping, PAWL_SWEEP_OUTCOME, "(create \"leaf\"): ", "it left 2 instances of \"leaf\", undisturbed 1");
    sweeping_says(sweeping, "and the same in 1 more case\n");
}

static void a_run_that_is_left_where_it_stands_is_found(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, stuck);

    assert_finds(sweeping, PAWL_SWEEP_UNFINISHED,
                 "undisturbed: ", "instance \"sweep\" of \"w\" is left paused, and nothing is due");
}

static void a_completed_step_that_runs_again_is_found(void **state)
{
    struct sweeping *sweeping = *state;

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

static void what_the_caller_s_check_says_is_told(void **state)
{
    struct sweeping *sweeping = *state;
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

static void no_more_is_told_than_was_asked_for(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.check = always_wrong;
    sweeping->options.findings_max = 3;

    sweeping_sweep_workflow(sweeping, sweeping_leaf);

    assert_int_equal(sweeping->report.finding_count, 3);
    assert_int_equal(sweeping->report.crashes, 3);
    sweeping_says(sweeping, "and no further");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP_TEST(a_path_chosen_by_a_counter_is_found),
        SWEEP_TEST(a_name_from_a_counter_is_found_with_its_place),
        SWEEP_TEST(a_place_is_told_as_the_caller_tells_it),
        SWEEP_TEST(a_name_from_the_clock_is_found),
        SWEEP_TEST(a_path_by_the_age_of_the_run_is_found),
        SWEEP_TEST(a_name_from_the_day_is_found),
        SWEEP_TEST(another_kind_under_the_same_name_is_found),
        SWEEP_TEST(a_function_that_ends_without_its_former_steps_is_found),
        SWEEP_TEST(a_name_in_a_branch_is_found),
        SWEEP_TEST(a_result_that_depends_on_how_often_the_body_ran_is_found),
        SWEEP_TEST(what_a_process_takes_with_it_when_it_dies_is_missed),
        SWEEP_TEST(memory_outlives_a_crash_where_nobody_clears_it),
        SWEEP_TEST(other_steps_are_found),
        SWEEP_TEST(a_run_that_is_always_due_again_is_found),
        SWEEP_TEST(a_function_that_loops_over_one_step_is_stopped_and_found),
        SWEEP_TEST(a_function_that_does_not_heed_its_suspension_is_told_and_found),
        SWEEP_TEST(a_run_that_uses_up_its_steps_is_found),
        SWEEP_TEST(a_duration_that_is_none_is_found),
        SWEEP_TEST(a_result_that_cannot_be_packed_is_found),
        SWEEP_TEST(a_name_that_is_none_is_found),
        SWEEP_TEST(a_run_that_is_suspended_for_nothing_is_found),
        SWEEP_TEST(a_body_that_says_it_is_suspended_is_found),
        SWEEP_TEST(an_interruption_by_nobody_is_found),
        SWEEP_TEST(a_status_that_is_none_is_found),
        SWEEP_TEST(a_child_of_a_workflow_that_is_missing_is_found),
        SWEEP_TEST(an_interruption_is_no_mistake),
        SWEEP_TEST(an_error_s_name_may_be_that_of_a_status),
        SWEEP_TEST(a_plain_failure_is_no_mistake),
        SWEEP_TEST(a_refusal_that_is_handled_is_no_mistake),
        SWEEP_TEST(an_error_s_first_line_is_told_as_far_as_there_is_room),
        SWEEP_TEST(an_instance_created_twice_is_found),
        SWEEP_TEST(a_run_that_is_left_where_it_stands_is_found),
        SWEEP_TEST(a_completed_step_that_runs_again_is_found),
        SWEEP_TEST(what_the_caller_s_check_says_is_told),
        SWEEP_TEST(no_more_is_told_than_was_asked_for),
    };
    return cmocka_run_group_tests_name("sweep findings", tests, NULL, NULL);
}
