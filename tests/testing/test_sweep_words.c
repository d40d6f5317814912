/* test_sweep_words.c - crash sweeps (contract H3): a finding names the workflow that it is about, and what is waited for. */
#include "kit/sweeping.h"

#include <string.h>

/* ---- Workflows -------------------------------------------------------------------------------------------------------------- */

static pawl_status name_by_counter(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct sweeping *sweeping = pawl_run_user(run);
    PAWL_TRY(pawl_sleep(run, "rest", "1 hour"));
    return pawl_do(run, pawl_run_format(run, "charge %d", sweeping->count++), NULL, sweeping_plain, params, out_result);
}

/* Undisturbed it is run again, too, after the sleep. */
static pawl_status counts_first(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct sweeping *sweeping = pawl_run_user(run);
    const char *name = pawl_run_format(run, "charge %d", sweeping->count++);
    PAWL_TRY(pawl_do(run, name, NULL, sweeping_plain, params, out_result));
    return pawl_sleep(run, "rest", "1 hour");
}

static pawl_status one_name_twice(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "q", NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "q", NULL, sweeping_plain, params, out_result);
}

static pawl_status same_again(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    for (;;)
        PAWL_TRY(pawl_do(run, "again", NULL, sweeping_plain, params, NULL));
}

static pawl_status awaits_nobody(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_await_deferred(run, "approval", NULL, out_result);
}

static pawl_status has_child(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_run_child(run, "beget", "kid", NULL, params, out_result);
}

static pawl_status refuse(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_fail_for_good(step, "Refused", "no");
}

static pawl_status refused(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "ask", NULL, refuse, params, out_result);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------------------ */

static void sweep_with_child(struct sweeping *sweeping, pawl_workflow_fn *child)
{
    sweeping_add(sweeping, "parent", has_child);
    sweeping_add(sweeping, "kid", child);
    sweeping_sweep(sweeping);
    assert_true(sweeping->report.finding_count > 0);
}

static void another_path_of_a_child_is_told_with_its_name(void **state)
{
    struct sweeping *sweeping = *state;

    sweep_with_child(sweeping, name_by_counter);

    sweeping_says(sweeping, "run again, the function of \"kid\" does not make the same durable calls");
}

static void a_name_twice_in_a_child_is_told_with_its_name(void **state)
{
    struct sweeping *sweeping = *state;

    sweep_with_child(sweeping, one_name_twice);

    sweeping_says(sweeping, "\"q\" of \"kid\" is called twice in one pass");
}

static void a_child_that_loops_is_told_with_its_name(void **state)
{
    struct sweeping *sweeping = *state;

    sweep_with_child(sweeping, same_again);

    sweeping_says(sweeping, "the function of \"kid\" makes durable calls without end; does it loop?");
}

static void the_swept_workflow_is_not_named_again(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, one_name_twice);

    sweeping_says(sweeping, "\"q\" is called twice in one pass");
}

static void a_deferred_that_nobody_completes_is_named(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, awaits_nobody);

    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_ENDLESS);
    sweeping_says(sweeping, "nobody completes deferred \"approval\", and it is awaited without a timeout");
    sweeping_says(sweeping, "an event \"deferred:approval\" of the sweep");
}

static void a_child_s_deferred_that_nobody_completes_is_named(void **state)
{
    struct sweeping *sweeping = *state;

    sweep_with_child(sweeping, awaits_nobody);

    sweeping_says(sweeping, "nobody completes deferred \"approval\"");
}

static void a_run_that_waits_for_repair_is_told_as_one(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping_add(sweeping, "w", refused);
    sweeping->workflows[0].suspend_on_failure = true;

    sweeping_sweep(sweeping);

    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_UNFINISHED);
    sweeping_says(sweeping, "instance \"sweep\" of \"w\" waits for repair, as a step of it has failed and "
                            "suspend_on_failure is set");
}

static void a_run_that_was_stopped_is_not_called_endless(void **state)
{
    struct sweeping *sweeping = *state;
    static const char began[] = "w: stopped at what was found, ";

    sweeping_sweep_workflow(sweeping, counts_first);

    assert_memory_equal(sweeping->report.text, began, strlen(began));
    assert_null(sweeping->report.outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP_TEST(another_path_of_a_child_is_told_with_its_name),
        SWEEP_TEST(a_name_twice_in_a_child_is_told_with_its_name),
        SWEEP_TEST(a_child_that_loops_is_told_with_its_name),
        SWEEP_TEST(the_swept_workflow_is_not_named_again),
        SWEEP_TEST(a_deferred_that_nobody_completes_is_named),
        SWEEP_TEST(a_child_s_deferred_that_nobody_completes_is_named),
        SWEEP_TEST(a_run_that_waits_for_repair_is_told_as_one),
        SWEEP_TEST(a_run_that_was_stopped_is_not_called_endless),
    };
    return cmocka_run_group_tests_name("sweep words", tests, NULL, NULL);
}
