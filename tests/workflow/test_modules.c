/* Modules: workflows and functions of shared objects.  Those of a program itself are in test_contract_modes.c. */
#include "kit/contract_world.h"

#define MODULE(name) PAWL_TEST_MODULE_DIR "/module_" name ".so"

static const char *output_of(struct contract *contract, const char *workflow, const char *params)
{
    struct pawl_instance instance;
    assert_ok(contract, pawl_world_create(contract->world, workflow, "x", params, &contract->error));
    contract_idle(contract);
    assert_ok(contract, pawl_world_get(contract->world, workflow, "x", &instance, &contract->error));
    return instance.output_json;
}

static size_t count_workflows(struct contract *contract)
{
    const struct pawl_workflow_info *workflows;
    size_t count;
    assert_ok(contract, pawl_list_workflows(contract->engine, contract->scope, &workflows, &count));
    return count;
}

TEST_OF(contract, a_loaded_module_brings_its_own_functions_along)
{
    assert_ok(contract, pawl_load_module(contract->engine, MODULE("functions"), &contract->error));
    assert_int_equal(count_workflows(contract), 1);
    assert_text(output_of(contract, "doubling", "21"), "42");
}

WORKFLOW(call_twice)
{
    return pawl_call(run, "call", "loaded.twice", NULL, params, out_result);
}

TEST_OF(contract, functions_can_be_loaded_without_the_workflows)
{
    assert_ok(contract, pawl_load_functions(contract->engine, MODULE("functions"), &contract->error));
    assert_int_equal(count_workflows(contract), 0);
    contract_start(contract, call_twice, "21");
    assert_output(contract, "42");
}

WORKFLOW(call_thrice)
{
    return pawl_call(run, "call", "loaded.thrice", NULL, params, out_result);
}

TEST_OF(contract, a_module_may_have_functions_alone)
{
    assert_ok(contract, pawl_load_module(contract->engine, MODULE("functions_alone"), &contract->error));
    contract_start(contract, call_thrice, "14");
    assert_output(contract, "42");
}

TEST_OF(contract, a_module_without_functions_has_none_to_load)
{
    assert_status(pawl_load_functions(contract->engine, MODULE("sweep_good"), &contract->error), PAWL_MODULE_INVALID);
    assert_says(contract->error.text, "PAWL_FUNCTIONS");
    assert_status(pawl_load_functions(contract->engine, "/nowhere/at/all.so", &contract->error), PAWL_MODULE_INVALID);
    assert_status(pawl_load_functions(contract->engine, NULL, &contract->error), PAWL_INVALID);
}
