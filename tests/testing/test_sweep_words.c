/* test_sweep_words.c - crash sweeps (contract H3): a finding names the workflow that it is about, and what is waited for. */
#include "kit/sweeping.h"

/* ---- Workflows -------------------------------------------------------------------------------------------------------------- */

WORKFLOW(name_by_counter)
{
    struct sweeping *sweeping = pawl_run_user(run);
    PAWL_TRY(pawl_sleep(run, "rest", "1 hour"));
    return pawl_do(run, pawl_run_format(run, "charge %d", sweeping->count++), NULL, sweeping_plain, params, out_result);
}

/* Undisturbed it is run again, too, after the sleep. */
WORKFLOW(counts_first)
{
    struct sweeping *sweeping = pawl_run_user(run);
    const char *name = pawl_run_format(run, "charge %d", sweeping->count++);
    PAWL_TRY(pawl_do(run, name, NULL, sweeping_plain, params, out_result));
    return pawl_sleep(run, "rest", "1 hour");
}

WORKFLOW(one_name_twice)
{
    PAWL_TRY(pawl_do(run, "q", NULL, sweeping_plain, params, NULL));
    return pawl_do(run, "q", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(same_again)
{
    for (;;)
        PAWL_TRY(pawl_do(run, "again", NULL, sweeping_plain, params, NULL));
}

WORKFLOW(awaits_nobody)
{
    return pawl_await_deferred(run, "approval", NULL, out_result);
}

WORKFLOW(has_child)
{
    return pawl_run_child(run, "beget", "kid", NULL, params, out_result);
}

BODY(refuse)
{
    return pawl_fail_for_good(step, "Refused", "no");
}

WORKFLOW(refused)
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

TEST_OF(sweeping, another_path_of_a_child_is_told_with_its_name)
{
    sweep_with_child(sweeping, name_by_counter);

    sweeping_says(sweeping, "run again, the function of \"kid\" does not make the same durable calls");
}

TEST_OF(sweeping, a_name_twice_in_a_child_is_told_with_its_name)
{
    sweep_with_child(sweeping, one_name_twice);

    sweeping_says(sweeping, "\"q\" of \"kid\" is called twice in one pass");
}

TEST_OF(sweeping, a_child_that_loops_is_told_with_its_name)
{
    sweep_with_child(sweeping, same_again);

    sweeping_says(sweeping, "the function of \"kid\" makes durable calls without end; does it loop?");
}

TEST_OF(sweeping, the_swept_workflow_is_not_named_again)
{
    sweeping_sweep_workflow(sweeping, one_name_twice);

    sweeping_says(sweeping, "\"q\" is called twice in one pass");
}

TEST_OF(sweeping, a_deferred_that_nobody_completes_is_named)
{
    sweeping_sweep_workflow(sweeping, awaits_nobody);

    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_ENDLESS);
    sweeping_says(sweeping, "nobody completes deferred \"approval\", and it is awaited without a timeout");
    sweeping_says(sweeping, "an event \"deferred:approval\" of the sweep");
}

TEST_OF(sweeping, a_child_s_deferred_that_nobody_completes_is_named)
{
    sweep_with_child(sweeping, awaits_nobody);

    sweeping_says(sweeping, "nobody completes deferred \"approval\"");
}

TEST_OF(sweeping, a_run_that_waits_for_repair_is_told_as_one)
{
    sweeping_add(sweeping, "w", refused);
    sweeping->workflows[0].suspend_on_failure = true;

    sweeping_sweep(sweeping);

    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_UNFINISHED);
    sweeping_says(sweeping, "instance \"sweep\" of \"w\" waits for repair, as a step of it has failed and "
                            "suspend_on_failure is set");
}

TEST_OF(sweeping, a_run_that_was_stopped_is_not_called_endless)
{
    static const char began[] = "w: stopped at what was found, ";

    sweeping_sweep_workflow(sweeping, counts_first);

    assert_memory_equal(sweeping->report.text, began, strlen(began));
    assert_null(sweeping->report.outcome);
}
