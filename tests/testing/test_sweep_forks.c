/* test_sweep_forks.c - crash sweeps (contract H3): a fork is a durable call as others are, with the number of its branches;
 * and what is right about branches is left alone. */
#include "kit/sweeping.h"

enum { BRANCHES_MAX = 3 };

static bool is_late(pawl_run *run)
{
    return pawl_now_ms(pawl_run_engine(run)) - pawl_run_created_at_ms(run) >= 3600000;
}

static pawl_status make_branches(pawl_run *run, struct pawl_branch *branches, const char *prefix, int count)
{
    for (int i = 0; i < count; i++) {
        pawl_value *name;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &name, "s", pawl_run_format(run, "%s%d", prefix, i)));
        branches[i] = (struct pawl_branch){ .run = sweeping_branch, .input = name };
    }
    return PAWL_OK;
}

static pawl_status all_of(pawl_run *run, const char *prefix, int count, size_t limit)
{
    struct pawl_branch branches[BRANCHES_MAX];
    PAWL_TRY(make_branches(run, branches, prefix, count));
    return pawl_all(run, "all", branches, (size_t)count, limit);
}

/* ---- Bad ones: what they do depends on the clock --------------------------------------------------------------------------- */

WORKFLOW(rest_and_end)
{
    PAWL_TRY(pawl_sleep(run, "rest", "1 hour"));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(fork_vanishes)
{
    if (!is_late(run))
        PAWL_TRY(all_of(run, "x", 2, 0));
    return rest_and_end(run, params, out_result);
}

WORKFLOW(fork_appears)
{
    if (is_late(run))
        PAWL_TRY(all_of(run, "x", 2, 0));
    return rest_and_end(run, params, out_result);
}

WORKFLOW(fork_moves)
{
    bool is_first = !is_late(run);
    if (is_first)
        PAWL_TRY(all_of(run, "x", 0, 0));
    PAWL_TRY(pawl_do(run, "middle", NULL, sweeping_plain, params, NULL));
    if (!is_first)
        PAWL_TRY(all_of(run, "x", 0, 0));
    return rest_and_end(run, params, out_result);
}

WORKFLOW(fork_grows)
{
    PAWL_TRY(all_of(run, "x", is_late(run) ? 3 : 2, 0));
    return rest_and_end(run, params, out_result);
}

WORKFLOW(fork_shrinks)
{
    PAWL_TRY(all_of(run, "x", is_late(run) ? 2 : 3, 0));
    return rest_and_end(run, params, out_result);
}

WORKFLOW(race_grows)
{
    struct pawl_branch branches[BRANCHES_MAX];
    PAWL_TRY(make_branches(run, branches, "x", BRANCHES_MAX));
    PAWL_TRY(pawl_first(run, "race", branches, is_late(run) ? 3 : 2, NULL));
    return rest_and_end(run, params, out_result);
}

BRANCH(inner_fork)
{
    PAWL_TRY(all_of(run, pawl_value_string(input, NULL, ""), is_late(run) ? 3 : 2, 0));
    return pawl_sleep(run, "inner rest", "1 hour");
}

WORKFLOW(fork_in_branch_grows)
{
    struct pawl_branch branches[2];
    PAWL_TRY(make_branches(run, branches, "x", 2));
    branches[1].run = inner_fork;
    return pawl_all(run, "all", branches, 2, 0);
}

BRANCH(does_nothing)
{
    return PAWL_OK;
}

WORKFLOW(forks_for_ever)
{
    struct pawl_branch branch = { .run = does_nothing, .input = params };
    for (;;)
        PAWL_TRY(pawl_all(run, "all", &branch, 1, 0));
}

/* ---- Good ones -------------------------------------------------------------------------------------------------------------- */

BRANCH(nested)
{
    struct pawl_branch branches[2];
    const char *name = pawl_value_string(input, NULL, "");
    PAWL_TRY(all_of(run, pawl_run_format(run, "a%s.1.", name), 2, 1)); /* the second begins late */
    PAWL_TRY(make_branches(run, branches, pawl_run_format(run, "b%s.2.", name), 2));
    PAWL_TRY(pawl_first(run, pawl_run_format(run, "%s race", name), branches, 2, NULL));
    return all_of(run, pawl_run_format(run, "a%s.3.", name), 3, 2);
}

/* The loser has forks of its own, which are shown in some passes and not in others. */
WORKFLOW(of_every_kind)
{
    struct pawl_branch branches[2];
    size_t winner;
    PAWL_TRY(make_branches(run, branches, "", 2));
    branches[0].run = branches[1].run = nested;
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    PAWL_TRY(make_branches(run, branches, "b", 2));
    branches[0].run = nested;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    PAWL_TRY(all_of(run, "none", 0, 0));
    PAWL_TRY(all_of(run, "z", 1, 0));
    PAWL_TRY(all_of(run, "y", 1, 0));
    PAWL_TRY(pawl_do(run, "last", NULL, sweeping_plain, params, NULL));
    return pawl_return(run, out_result, "i", (int)winner);
}

BODY(refuse)
{
    return pawl_fail_for_good(step, "Refused", "no");
}

BRANCH(book)
{
    static const struct pawl_compensation undo = { .undo = sweeping_plain };
    static const struct pawl_step_options options = { .compensate = &undo };
    const char *name = pawl_value_string(input, NULL, "");
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "%s book", name), &options, sweeping_plain, input, NULL));
    PAWL_TRY(all_of(run, name, 2, 0));
    return pawl_do(run, pawl_run_format(run, "%s rent", name), &options, sweeping_plain, input, out_result);
}

/* A pass that undoes walks the losers, too. */
WORKFLOW(undoes_a_race)
{
    struct pawl_branch branches[2];
    PAWL_TRY(make_branches(run, branches, "b", 2));
    branches[0].run = branches[1].run = book;
    PAWL_TRY(pawl_first(run, "race", branches, 2, NULL));
    return pawl_do(run, "pay", NULL, refuse, params, out_result);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------------------ */

static void assert_differs(struct sweeping *sweeping, pawl_workflow_fn *run, const char *before, const char *instead)
{
    sweeping_sweep_workflow(sweeping, run);
    if (sweeping->report.finding_count == 0)
        fail_msg("%s", sweeping->report.text);
    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_NONDETERMINISTIC);
    sweeping_says(sweeping, before);
    sweeping_says(sweeping, instead);
}

TEST_OF(sweeping, a_fork_that_is_gone_when_run_again_is_found_with_its_place)
{
    assert_differs(sweeping, fork_vanishes, "- step 1: all of 2 branches", "+ step 1: sleep \"rest\"");

    const struct pawl_sweep_line *line = &sweeping->report.findings[0].lines[0];
    assert_non_null(strstr(line->object, "test_sweep_forks"));
}

TEST_OF(sweeping, a_fork_that_was_not_there_before_is_found)
{
    assert_differs(sweeping, fork_appears, "- step 1: sleep \"rest\"", "+ step 1: all of 2 branches");
}

TEST_OF(sweeping, a_fork_that_moves_is_found)
{
    assert_differs(sweeping, fork_moves, "- step 1: all of 0 branches", "+ step 1: do \"middle\"");
}

TEST_OF(sweeping, another_number_of_branches_is_found)
{
    assert_differs(sweeping, fork_grows, "- step 1: all of 2 branches", "+ step 1: all of 3 branches");
}

TEST_OF(sweeping, branches_that_are_gone_are_found)
{
    assert_differs(sweeping, fork_shrinks, "- step 1: all of 3 branches", "+ step 1: all of 2 branches");
}

TEST_OF(sweeping, another_number_of_branches_in_a_race_is_found)
{
    assert_differs(sweeping, race_grows, "- step 1: first \"race\" of 2 branches",
                   "+ step 1: first \"race\" of 3 branches");
}

TEST_OF(sweeping, a_fork_in_a_branch_is_one_too)
{
    assert_differs(sweeping, fork_in_branch_grows, "- step 1: all of 2 branches", "+ step 1: all of 3 branches");
}

TEST_OF(sweeping, forks_without_end_are_found)
{
    sweeping_sweep_workflow(sweeping, forks_for_ever);

    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_ENDLESS);
    sweeping_says(sweeping, "the function makes durable calls without end");
    sweeping_says(sweeping, "step 1: all of 1 branch");
}

TEST_OF(sweeping, nested_limited_and_lost_branches_stand_every_crash)
{
    sweeping_sweep_workflow(sweeping, of_every_kind);

    sweeping_is_clean(sweeping, "w: complete with 1, ");
}

TEST_OF(sweeping, losers_that_are_walked_to_be_undone_are_no_mistake)
{
    sweeping_sweep_workflow(sweeping, undoes_a_race);

    sweeping_is_clean(sweeping, "w: errored with Refused");
}
