/* test_sweep_forks.c - crash sweeps (contract H3): a fork is a durable call as others are, with the number of its branches;
 * and what is right about branches is left alone. */
#include "kit/sweeping.h"

#include <string.h>

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

static pawl_status rest_and_end(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_sleep(run, "rest", "1 hour"));
    return pawl_do(run, "last", NULL, sweeping_plain, params, out_result);
}

static pawl_status fork_vanishes(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    if (!is_late(run))
        PAWL_TRY(all_of(run, "x", 2, 0));
    return rest_and_end(run, params, out_result);
}

static pawl_status fork_appears(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    if (is_late(run))
        PAWL_TRY(all_of(run, "x", 2, 0));
    return rest_and_end(run, params, out_result);
}

static pawl_status fork_moves(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    bool is_first = !is_late(run);
    if (is_first)
        PAWL_TRY(all_of(run, "x", 0, 0));
    PAWL_TRY(pawl_do(run, "middle", NULL, sweeping_plain, params, NULL));
    if (!is_first)
        PAWL_TRY(all_of(run, "x", 0, 0));
    return rest_and_end(run, params, out_result);
}

static pawl_status fork_grows(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(all_of(run, "x", is_late(run) ? 3 : 2, 0));
    return rest_and_end(run, params, out_result);
}

static pawl_status fork_shrinks(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(all_of(run, "x", is_late(run) ? 2 : 3, 0));
    return rest_and_end(run, params, out_result);
}

static pawl_status race_grows(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[BRANCHES_MAX];
    PAWL_TRY(make_branches(run, branches, "x", BRANCHES_MAX));
    PAWL_TRY(pawl_first(run, "race", branches, is_late(run) ? 3 : 2, NULL));
    return rest_and_end(run, params, out_result);
}

static pawl_status inner_fork(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(all_of(run, pawl_value_string(input, NULL, ""), is_late(run) ? 3 : 2, 0));
    return pawl_sleep(run, "inner rest", "1 hour");
}

static pawl_status fork_in_branch_grows(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[2];
    (void)params;
    (void)out_result;
    PAWL_TRY(make_branches(run, branches, "x", 2));
    branches[1].run = inner_fork;
    return pawl_all(run, "all", branches, 2, 0);
}

static pawl_status does_nothing(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)run;
    (void)input;
    (void)out_result;
    return PAWL_OK;
}

static pawl_status forks_for_ever(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branch = { .run = does_nothing, .input = params };
    (void)out_result;
    for (;;)
        PAWL_TRY(pawl_all(run, "all", &branch, 1, 0));
}

/* ---- Good ones -------------------------------------------------------------------------------------------------------------- */

static pawl_status nested(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    struct pawl_branch branches[2];
    const char *name = pawl_value_string(input, NULL, "");
    (void)out_result;
    PAWL_TRY(all_of(run, pawl_run_format(run, "a%s.1.", name), 2, 1)); /* the second begins late */
    PAWL_TRY(make_branches(run, branches, pawl_run_format(run, "b%s.2.", name), 2));
    PAWL_TRY(pawl_first(run, pawl_run_format(run, "%s race", name), branches, 2, NULL));
    return all_of(run, pawl_run_format(run, "a%s.3.", name), 3, 2);
}

/* The loser has forks of its own, which are shown in some passes and not in others. */
static pawl_status of_every_kind(pawl_run *run, const pawl_value *params, pawl_value **out_result)
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

static pawl_status refuse(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_fail_for_good(step, "Refused", "no");
}

static pawl_status book(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    static const struct pawl_compensation undo = { .undo = sweeping_plain };
    static const struct pawl_step_options options = { .compensate = &undo };
    const char *name = pawl_value_string(input, NULL, "");
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "%s book", name), &options, sweeping_plain, input, NULL));
    PAWL_TRY(all_of(run, name, 2, 0));
    return pawl_do(run, pawl_run_format(run, "%s rent", name), &options, sweeping_plain, input, out_result);
}

/* A pass that undoes walks the losers, too. */
static pawl_status undoes_a_race(pawl_run *run, const pawl_value *params, pawl_value **out_result)
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

static void a_fork_that_is_gone_when_run_again_is_found_with_its_place(void **state)
{
    struct sweeping *sweeping = *state;

    assert_differs(sweeping, fork_vanishes, "- step 1: all of 2 branches", "+ step 1: sleep \"rest\"");

    const struct pawl_sweep_line *line = &sweeping->report.findings[0].lines[0];
    assert_non_null(strstr(line->object, "test_sweep_forks"));
}

static void a_fork_that_was_not_there_before_is_found(void **state)
{
    assert_differs(*state, fork_appears, "- step 1: sleep \"rest\"", "+ step 1: all of 2 branches");
}

static void a_fork_that_moves_is_found(void **state)
{
    assert_differs(*state, fork_moves, "- step 1: all of 0 branches", "+ step 1: do \"middle\"");
}

static void another_number_of_branches_is_found(void **state)
{
    assert_differs(*state, fork_grows, "- step 1: all of 2 branches", "+ step 1: all of 3 branches");
}

static void branches_that_are_gone_are_found(void **state)
{
    assert_differs(*state, fork_shrinks, "- step 1: all of 3 branches", "+ step 1: all of 2 branches");
}

static void another_number_of_branches_in_a_race_is_found(void **state)
{
    assert_differs(*state, race_grows, "- step 1: first \"race\" of 2 branches",
                   "+ step 1: first \"race\" of 3 branches");
}

static void a_fork_in_a_branch_is_one_too(void **state)
{
    assert_differs(*state, fork_in_branch_grows, "- step 1: all of 2 branches", "+ step 1: all of 3 branches");
}

static void forks_without_end_are_found(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, forks_for_ever);

    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_ENDLESS);
    sweeping_says(sweeping, "the function makes durable calls without end");
    sweeping_says(sweeping, "step 1: all of 1 branch");
}

static void nested_limited_and_lost_branches_stand_every_crash(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, of_every_kind);

    sweeping_is_clean(sweeping, "w: complete with 1, ");
}

static void losers_that_are_walked_to_be_undone_are_no_mistake(void **state)
{
    struct sweeping *sweeping = *state;

    sweeping_sweep_workflow(sweeping, undoes_a_race);

    sweeping_is_clean(sweeping, "w: errored with Refused");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP_TEST(a_fork_that_is_gone_when_run_again_is_found_with_its_place),
        SWEEP_TEST(a_fork_that_was_not_there_before_is_found),
        SWEEP_TEST(a_fork_that_moves_is_found),
        SWEEP_TEST(another_number_of_branches_is_found),
        SWEEP_TEST(branches_that_are_gone_are_found),
        SWEEP_TEST(another_number_of_branches_in_a_race_is_found),
        SWEEP_TEST(a_fork_in_a_branch_is_one_too),
        SWEEP_TEST(forks_without_end_are_found),
        SWEEP_TEST(nested_limited_and_lost_branches_stand_every_crash),
        SWEEP_TEST(losers_that_are_walked_to_be_undone_are_no_mistake),
    };
    return cmocka_run_group_tests_name("sweep forks", tests, NULL, NULL);
}
