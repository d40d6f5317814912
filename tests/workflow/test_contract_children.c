/* Contract A14: children. */
#include "kit/contract_world.h"
#include "kit/sweeping.h"

/* ---- Workflows ----------------------------------------------------------------------------------------------------------- */

/* Answers with its params, after an hour when they are a number above zero. */
WORKFLOW(run_echo)
{
    if (pawl_value_int(params, NULL, 0) > 0)
        PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_do(run, "echo", NULL, contract_body_ok, params, out_result);
}

WORKFLOW(run_parent)
{
    return pawl_run_child(run, "child", "echo", NULL, params, out_result);
}

static struct pawl_instance get(struct contract *contract, const char *workflow, const char *id)
{
    struct pawl_instance instance;
    assert_ok(contract, pawl_world_get(contract->world, workflow, id, &instance, &contract->error));
    return instance;
}

/* ---- Awaiting ------------------------------------------------------------------------------------------------------------ */

TEST_OF(contract, A14_a_parent_awaits_its_child_and_gets_what_it_answered)
{
    contract_register(contract, "echo", run_echo);
    contract_start(contract, run_parent, "7");
    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract_step(contract, "child").status, PAWL_STEP_COMPLETED);
    struct pawl_step_record wait = contract_step(contract, "await: child");
    assert_int_equal(wait.kind, PAWL_STEP_CHILD);
    assert_int_equal(wait.status, PAWL_STEP_WAITING);
    contract_advance(contract, "1 hour");
    assert_output(contract, "7");
    assert_int_equal(contract->bodies, 1);
}

TEST_OF(contract, A14_nothing_null_zero_false_and_the_empty_text_go_there_and_back)
{
    for (size_t i = 0; i < CONTRACT_DISTINCT_COUNT; i++) {
        contract_begin_again(contract);
        contract_register(contract, "echo", run_echo);
        contract_start(contract, run_parent, contract_distinct[i]);
        assert_output(contract, contract_distinct[i]);
        assert_text(contract_step(contract, "await: child").result_json, contract_distinct[i]);
    }
}

WORKFLOW(run_late_parent)
{
    const char *id;
    PAWL_TRY(pawl_start_child(run, "child", "echo", NULL, params, &id));
    PAWL_TRY(pawl_sleep(run, "nap", "1 day"));
    return pawl_await_child(run, "wait", "echo", id, out_result);
}

TEST_OF(contract, A14_a_child_that_finished_before_its_parent_waits_is_found)
{
    for (size_t i = 0; i < CONTRACT_DISTINCT_COUNT; i++) {
        contract_begin_again(contract);
        contract_register(contract, "echo", run_echo);
        contract_start(contract, run_late_parent, contract_distinct[i]);
        assert_int_equal(contract->bodies, 1);
        contract_advance(contract, "1 day");
        assert_output(contract, contract_distinct[i]);
    }
}

WORKFLOW(run_careless_parent)
{
    const char *id;
    PAWL_TRY(pawl_start_child(run, "child", "echo", NULL, params, &id));
    return pawl_return(run, out_result, "s", id);
}

TEST_OF(contract, A14_a_parent_that_does_not_await_goes_on_at_once)
{
    contract_register(contract, "echo", run_echo);
    contract_start(contract, run_careless_parent, "7");
    assert_instance(contract, PAWL_COMPLETE);
    struct pawl_instance child = contract_child(contract);
    assert_int_equal(child.status, PAWL_WAITING);
    char id_json[64];
    snprintf(id_json, sizeof id_json, "\"%s\"", child.id);
    assert_output(contract, id_json);
    contract_advance(contract, "1 hour");
    assert_text(contract_child(contract).output_json, "7");
}

/* ---- Its parent ------------------------------------------------------------------------------------------------------------ */

WORKFLOW(run_who)
{
    const struct pawl_parent *parent = pawl_run_parent(run);
    if (parent == NULL)
        return pawl_return(run, out_result, "s", "nobody's");
    return pawl_return(run, out_result, "[s, s, I, b]", parent->workflow, parent->id, (long long)parent->run_number,
                       parent->is_attached);
}

static const struct pawl_child_options detached_one = { .detached = true };

WORKFLOW(run_asking_parent)
{
    bool detached = pawl_value_bool(params, NULL, false);
    return pawl_run_child(run, "child", "who", detached ? &detached_one : NULL, NULL, out_result);
}

TEST_OF(contract, A14_a_child_knows_its_parent)
{
    for (int detached = 0; detached <= 1; detached++) {
        contract_begin_again(contract);
        contract_register(contract, "who", run_who);
        contract_start(contract, run_asking_parent, detached ? "true" : "false");
        assert_output(contract, detached ? "[\"w\",\"i\",1,false]" : "[\"w\",\"i\",1,true]");
        struct pawl_instance kid = contract_child(contract);
        assert_non_null(kid.parent);
        assert_text(kid.parent->workflow, "w");
        assert_text(kid.parent->id, "i");
        assert_int_equal(kid.parent->is_attached, !detached);
    }
    assert_ok(contract, pawl_world_create(contract->world, "who", "orphan", NULL, &contract->error));
    contract_idle(contract);
    assert_text(get(contract, "who", "orphan").output_json, "\"nobody's\"");
    assert_null(get(contract, "who", "orphan").parent);
}

BODY(make_two)
{
    const char *id;
    PAWL_TRY(pawl_step_create(step, "who", NULL, NULL));
    PAWL_TRY(pawl_step_create_child(step, "who", NULL, true, NULL, &id));
    return pawl_result(step, out_result, "s", id);
}

WORKFLOW(run_making_in_a_step)
{
    pawl_value *id;
    PAWL_TRY(pawl_do(run, "make", NULL, make_two, NULL, &id));
    return pawl_await_child(run, "made", "who", pawl_value_string(id, NULL, ""), out_result);
}

TEST_OF(contract, A14_what_a_step_creates_are_children_too)
{
    struct pawl_instance_page page;
    contract_register(contract, "who", run_who);
    contract_start(contract, run_making_in_a_step, NULL);
    assert_output(contract, "[\"w\",\"i\",1,true]");
    assert_ok(contract, pawl_list_children(contract->engine, contract->scope, "w", "i", NULL, &page, &contract->error));
    assert_int_equal(page.count, 2);
    assert_int_equal(page.instances[0].parent->is_attached + page.instances[1].parent->is_attached, 1);
}

BODY(make_plain)
{
    return pawl_step_create(step, "who", "plain", NULL);
}

WORKFLOW(run_awaiting_plain)
{
    PAWL_TRY(pawl_do(run, "make", NULL, make_plain, NULL, NULL));
    return pawl_await_child(run, "made", "who", "plain", out_result);
}

TEST_OF(contract, A14_an_instance_that_was_not_made_as_a_child_is_not_awaited_in_vain)
{
    contract_register(contract, "who", run_who);
    contract_start(contract, run_awaiting_plain, NULL);
    assert_errored(contract, "INVALID", "this instance was not made as a child of the one that waits for it");
}

/* ---- Failures ------------------------------------------------------------------------------------------------------------- */

WORKFLOW(run_failing)
{
    if (pawl_value_int(params, NULL, 0) > 0)
        PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_run_fail(run, "Refused", "by the child");
}

WORKFLOW(run_handling_parent)
{
    pawl_status status = pawl_run_child(run, "child", "failing", NULL, params, NULL);
    if (status != PAWL_FAILED)
        return status;
    return pawl_return(run, out_result, "[s, s]", pawl_run_failure(run).name, pawl_run_failure(run).message);
}

TEST_OF(contract, A14_a_childs_failure_is_the_parents_to_handle)
{
    contract_register(contract, "failing", run_failing);
    contract_start(contract, run_handling_parent, NULL);
    assert_output(contract, "[\"Refused\",\"by the child\"]");
    assert_int_equal(contract_child(contract).status, PAWL_ERRORED);
}

TEST_OF(contract, A14_a_child_that_was_terminated_says_CHILD_TERMINATED)
{
    contract_register(contract, "failing", run_failing);
    contract_start(contract, run_handling_parent, "1");
    assert_ok(contract, pawl_terminate(contract->engine, "failing", contract_child(contract).id, &contract->error));
    contract_idle(contract);
    assert_says(contract_get(contract).output_json, "CHILD_TERMINATED");
}

WORKFLOW(run_twins)
{
    struct pawl_child_options again = { .id = NULL };
    PAWL_TRY(pawl_start_child(run, "one", "echo", NULL, params, &again.id));
    pawl_status status = pawl_start_child(run, "two", "echo", &again, params, NULL);
    return status == PAWL_FAILED ? pawl_return(run, out_result, "s", pawl_run_failure(run).name) : status;
}

TEST_OF(contract, A14_an_id_that_exists_fails_the_step)
{
    contract_register(contract, "echo", run_echo);
    contract_start(contract, run_twins, NULL);
    assert_output(contract, "\"STEP_UNIQUE_CONSTRAINT_VIOLATION\"");
    assert_text(contract_child(contract).workflow, "echo");
}

WORKFLOW(run_awaiting_a_stranger)
{
    const char *id = pawl_value_string(params, NULL, "");
    pawl_status status = pawl_await_child(run, "wait", "who", id, NULL);
    return status == PAWL_FAILED ? pawl_return(run, out_result, "s", pawl_run_failure(run).name) : status;
}

TEST_OF(contract, A14_only_ones_own_children_can_be_awaited)
{
    contract_register(contract, "who", run_who);
    assert_ok(contract, pawl_world_create(contract->world, "who", "stranger", NULL, &contract->error));
    contract_start(contract, run_awaiting_a_stranger, "\"stranger\"");
    assert_output(contract, "\"INVALID\"");
    contract_begin_again(contract);
    contract_register(contract, "who", run_who);
    contract_start(contract, run_awaiting_a_stranger, "\"nobody\"");
    assert_output(contract, "\"INSTANCE_NOT_FOUND\"");
}

/* ---- Together ---------------------------------------------------------------------------------------------------------------- */

WORKFLOW(run_with_both)
{
    struct contract *contract = pawl_run_user(run);
    const char *tied, *loose;
    PAWL_TRY(pawl_start_child(run, "tied", "echo", NULL, params, &tied));
    PAWL_TRY(pawl_start_child(run, "loose", "echo", &detached_one, params, &loose));
    contract->text = pawl_scope_format(contract->scope, "%s", tied);
    contract->trace[0] = '\0';
    contract_trace(contract, "%s", loose);
    return pawl_sleep(run, "nap", "1 day");
}

TEST_OF(contract, A14_an_attached_child_is_terminated_with_its_parent_a_detached_one_goes_on)
{
    contract_register(contract, "echo", run_echo);
    contract_start(contract, run_with_both, "7");
    contract_control(contract, pawl_terminate);
    contract_idle(contract);
    assert_int_equal(get(contract, "echo", contract->text).status, PAWL_TERMINATED);
    assert_int_equal(get(contract, "echo", contract->trace).status, PAWL_WAITING);
    contract_advance(contract, "1 hour");
    assert_int_equal(get(contract, "echo", contract->trace).status, PAWL_COMPLETE);
}

TEST_OF(contract, A14_children_are_listed_and_of_other_runs_too)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    contract_register(contract, "echo", run_echo);
    contract_start(contract, run_careless_parent, "7");
    contract_control(contract, pawl_restart);
    contract_idle(contract);
    options.order = PAWL_OLDEST_FIRST;
    assert_ok(contract,
              pawl_list_children(contract->engine, contract->scope, "w", "i", &options, &page, &contract->error));
    assert_int_equal(page.count, 2);
    assert_non_null(page.instances[1].parent);
    assert_int_equal(page.instances[0].parent->run_number + page.instances[1].parent->run_number, 3);
}

enum { LONGEST = 256 };

WORKFLOW(run_long_name)
{
    return pawl_run_child(run, contract_long_text(pawl_run_scope(run), LONGEST), "echo", NULL, params, out_result);
}

TEST_OF(contract, A14_the_wait_of_a_long_name_has_a_name_of_its_own)
{
    contract_register(contract, "echo", run_echo);
    contract_start(contract, run_long_name, "\"x\"");
    assert_output(contract, "\"x\"");
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.step_count, 2);
    assert_int_equal(strlen(history.steps[1].name), LONGEST);
    assert_int_equal(strncmp(history.steps[1].name, "await: x", strlen("await: x")), 0);
}

WORKFLOW(run_grandparent)
{
    return pawl_run_child(run, "parent", "parent", NULL, params, out_result);
}

BRANCH(branch_of_parents)
{
    const char *name = pawl_run_format(run, "child %d", (int)pawl_value_int(input, NULL, 0));
    return pawl_run_child(run, name, "parent", NULL, input, out_result);
}

WORKFLOW(run_many)
{
    struct pawl_branch branches[3];
    for (int i = 0; i < 3; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "i", i));
        branches[i] = (struct pawl_branch){ .run = branch_of_parents, .input = input };
    }
    PAWL_TRY(pawl_all(run, "all", branches, 3, 0));
    return pawl_return(run, out_result, "[V, V, V]", branches[0].result, branches[1].result, branches[2].result);
}

TEST_OF(contract, A14_children_have_children_and_branches_have_theirs)
{
    contract_register(contract, "echo", run_echo);
    contract_register(contract, "parent", run_parent);
    contract_start(contract, run_many, NULL);
    contract_advance(contract, "1 hour");
    assert_output(contract, "[0,1,2]");
    assert_int_equal(contract->bodies, 3);
}

/* ---- Crashes -------------------------------------------------------------------------------------------------------------------- */

WORKFLOW(run_leaf)
{
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_do(run, "grow", NULL, sweeping_plain, params, out_result);
}

WORKFLOW(run_parent_of_leaf)
{
    return pawl_run_child(run, "child", "leaf", NULL, params, out_result);
}

TEST_OF(sweeping, A14_a_crash_anywhere_changes_nothing)
{
    sweeping_add(sweeping, "w", run_grandparent);
    sweeping_add(sweeping, "parent", run_parent_of_leaf);
    sweeping_add(sweeping, "leaf", run_leaf);
    sweeping_sweep(sweeping);
    sweeping_is_clean(sweeping, "complete with 7");
}
