/* test_contract_places.c - where a step stands: in which branch of which fork, and in which order there. */
#include "kit/contract_world.h"

static pawl_status step_named(pawl_run *run, const pawl_value *input, const char *name)
{
    const char *whole = pawl_run_format(run, "%s-%s", pawl_value_string(input, "", "?"), name);
    return pawl_do(run, whole, NULL, contract_body_ok, NULL, NULL);
}

BRANCH(branch_two_steps)
{
    PAWL_TRY(step_named(run, input, "one"));
    PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "%s-sleep", pawl_value_string(input, "", "?")), "1 hour"));
    return step_named(run, input, "two");
}

BRANCH(branch_races)
{
    struct pawl_branch branches[] = { { .run = branch_two_steps, .input = pawl_value_item(input, 0) },
                                      { .run = branch_two_steps, .input = pawl_value_item(input, 1) } };
    return pawl_first(run, pawl_run_format(run, "race"), branches, 2, NULL);
}

WORKFLOW(run_forks)
{
    struct pawl_branch branches[] = { { .run = branch_two_steps, .input = pawl_value_item(params, 0) },
                                      { .run = branch_races, .input = pawl_value_item(params, 1) } };
    PAWL_TRY(pawl_do(run, "first", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_all(run, " both ", branches, 2, 0));
    return pawl_do(run, "last", NULL, contract_body_ok, NULL, NULL);
}

static void assert_place(struct contract *contract, const char *name, const char *fork, enum pawl_fork_kind kind,
                         int64_t branch, int64_t order)
{
    struct pawl_step_place place = contract_step(contract, name).place;
    assert_text(place.fork, fork);
    assert_int_equal(place.kind, kind);
    assert_int_equal(place.branch, branch);
    assert_int_equal(place.order, order);
}

TEST_OF(contract, A11_a_step_says_in_which_branch_of_which_fork_it_stands)
{
    contract_start(contract, run_forks, "[\"a\",[\"b\",\"c\"]]");
    contract_advance(contract, "1 hour");
    assert_instance(contract, PAWL_COMPLETE);

    assert_place(contract, "first", NULL, PAWL_FORK_NONE, 0, 1);
    assert_place(contract, "last", NULL, PAWL_FORK_NONE, 0, 2);
    assert_place(contract, "a-one", "both", PAWL_FORK_ALL, 0, 1);
    assert_place(contract, "a-sleep", "both", PAWL_FORK_ALL, 0, 2);
    assert_place(contract, "a-two", "both", PAWL_FORK_ALL, 0, 3); /* in another turn, after a replay */
    assert_place(contract, "race", "both", PAWL_FORK_ALL, 1, 1);
    assert_place(contract, "b-one", "race", PAWL_FORK_FIRST, 0, 1);
    assert_place(contract, "c-sleep", "race", PAWL_FORK_FIRST, 1, 2);
    assert_null(contract_step(contract, "a-one").place.within_json);
    assert_text(contract_step(contract, "c-sleep").place.within_json,
                "{\"fork\":\"both\",\"kind\":\"all\",\"branch\":1}");
}

WORKFLOW(run_unnamed)
{
    struct pawl_branch branch = { .run = branch_two_steps, .input = params };
    const struct contract *contract = pawl_run_user(run);
    return pawl_all(run, contract->text, &branch, 1, 0);
}

TEST_OF(contract, A11_branches_need_a_name)
{
    static const char *const wrong[] = { NULL, "", "  ", "\xff" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        contract_begin_again(contract);
        contract->text = wrong[i];
        contract_start(contract, run_unnamed, "\"a\"");
        assert_errored(contract, "INVALID_STEP_NAME", NULL);
    }
}
