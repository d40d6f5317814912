/* Contract G2 to G4: functions of modules, inline workflows, middleware, descriptions and permissions. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "kit/contract_world.h"

/* ---- Inline ------------------------------------------------------------------------------------------------------------------ */

static void register_inline(struct contract *contract, pawl_workflow_fn *run)
{
    contract_register_as(contract, (struct pawl_workflow){ .name = "w", .run = run, .mode = PAWL_MODE_INLINE });
}

static pawl_status execute(struct contract *contract, const char *params, struct pawl_instance *out_instance)
{
    struct pawl_execute_options options = PAWL_EXECUTE_OPTIONS_INIT;
    options.key = "key";
    options.params_json = params;
    return pawl_execute(contract->engine, contract->scope, "w", &options, out_instance, &contract->error);
}

static pawl_status run_echo(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_sleep(run, "nap", "20 ms"));
    return pawl_do(run, "echo", NULL, contract_body_ok, params, out_result);
}

static void G3_an_inline_workflow_runs_in_its_caller_and_leaves_nothing_in_the_store(void **state)
{
    struct contract *contract = *state;
    struct pawl_instance instance;
    register_inline(contract, run_echo);
    for (size_t i = 0; i < CONTRACT_DISTINCT_COUNT; i++) {
        int64_t began_ms = pw_system_monotonic_ms();
        contract->bodies = 0;
        assert_ok(contract, execute(contract, contract_distinct[i], &instance));
        assert_true(pw_system_monotonic_ms() - began_ms >= 20);
        assert_int_equal(instance.status, PAWL_COMPLETE);
        assert_text(instance.workflow, "w");
        assert_text(instance.output_json, contract_distinct[i]);
        assert_int_equal(contract->bodies, 1);
    }
    assert_int_equal(contract_next_wake(contract), INT64_MAX);
}

static pawl_status send_to_parent(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    return pawl_step_send_event(step, "w", pawl_value_string(input, NULL, ""), "go", input);
}

static pawl_status run_sender(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *id;
    (void)params;
    (void)out_result;
    PAWL_TRY(pawl_sleep(run, "nap", "20 ms"));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &id, "s", pawl_run_parent(run)->id));
    return pawl_do(run, "send", NULL, send_to_parent, id, NULL);
}

/* Everything that works in memory: a call that is tried again, a bare call, a child, an event that the child sends. */
static pawl_status run_everything(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options soon = { .retries = 1, .delay = "10 ms" };
    struct pawl_event event;
    pawl_value *called, *bare;
    PAWL_TRY(pawl_call(run, "call", "work", &soon, params, &called));
    PAWL_TRY(pawl_invoke(run, "echo", params, &bare));
    PAWL_TRY(pawl_start_child(run, "child", "sender", NULL, NULL, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, &event));
    return pawl_return(run, out_result, "[V, V, b]", called, bare, event.payload != NULL);
}

static pawl_status work_at_last(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "NotNow", "again");
    return contract_body_ok(step, input, out_result);
}

static void G3_calls_children_and_what_they_send_work_in_memory(void **state)
{
    struct contract *contract = *state;
    struct pawl_instance instance;
    register_inline(contract, run_everything);
    contract_register(contract, "sender", run_sender);
    contract_register_function(contract, "work", work_at_last);
    contract_register_function(contract, "echo", contract_body_ok);
    assert_ok(contract, execute(contract, "\"x\"", &instance));
    assert_text(instance.output_json, "[\"x\",\"x\",true]");
}

static pawl_status run_failing(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_compensation by_tracing = { .undo = contract_body_traces };
    static const struct pawl_step_options undone = { .compensate = &by_tracing };
    (void)params;
    (void)out_result;
    PAWL_TRY(pawl_do(run, "a", &undone, contract_body_ok, NULL, NULL));
    return pawl_run_fail(run, "Refused", "after all");
}

static void G3_an_inline_run_that_fails_is_errored_and_undone(void **state)
{
    struct contract *contract = *state;
    struct pawl_instance instance;
    register_inline(contract, run_failing);
    assert_ok(contract, execute(contract, NULL, &instance));
    assert_int_equal(instance.status, PAWL_ERRORED);
    assert_text(instance.error_name, "Refused");
    assert_text(contract->trace, "compensate: a {}; ");
}

static pawl_status branch_sleeps(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_sleep(run, "nap", "20 ms");
}

/* By its params, waits for what cannot come. */
static pawl_status run_hopeless(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };
    struct pawl_event event;
    switch (pawl_value_int(params, NULL, 0)) {
    case 0:
        return pawl_wait_for_event(run, "event", "go", NULL, &event);
    case 1:
        return pawl_await_deferred(run, "deferred", "1 day", out_result);
    case 2:
        return pawl_await_deferred(run, "forever", NULL, out_result);
    case 3:
        return pawl_call(run, "call", "nobody-has-it", NULL, NULL, out_result);
    default:
        return pawl_do(run, "broken", &once, contract_body_fails, NULL, out_result);
    }
}

static void G3_a_wait_that_nothing_in_memory_can_end_is_refused_at_once(void **state)
{
    static const char *const words[] = { "event", "deferred", "forever", "call", "broken" };
    struct contract *contract = *state;
    struct pawl_instance instance;
    contract_register_as(contract,
                         (struct pawl_workflow){
                             .name = "w", .run = run_hopeless, .mode = PAWL_MODE_INLINE, .suspend_on_failure = true });
    for (int i = 0; i < 5; i++) {
        char params[8];
        snprintf(params, sizeof params, "%d", i);
        assert_status(execute(contract, params, &instance), PAWL_INVALID);
        assert_says(contract->error.text, words[i]);
        assert_says(contract->error.text, "in memory");
    }
}

static pawl_status run_race(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[2] = { { .run = run_hopeless }, { .run = branch_sleeps } };
    size_t winner;
    (void)params;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    return pawl_return(run, out_result, "i", (int)winner);
}

static void G3_a_wait_beside_a_sleep_is_waited_out(void **state)
{
    struct contract *contract = *state;
    struct pawl_instance instance;
    register_inline(contract, run_race);
    assert_ok(contract, execute(contract, NULL, &instance));
    assert_text(instance.output_json, "1");
}

/* ---- Middleware ---------------------------------------------------------------------------------------------------------------- */

struct layer {
    struct contract *contract;
    const char *name;
    pawl_status instead; /* of going on; PAWL_OK: goes on */
    pawl_status answer;  /* of the second call; what the layer answers, unless PAWL_OK */
};

static pawl_status around_run(pawl_run *run, pawl_next *next, void *user)
{
    const struct layer *layer = user;
    contract_trace(layer->contract, "%s(", layer->name);
    if (layer->instead != PAWL_OK)
        return layer->instead;
    pawl_status status = pawl_next_call(next);
    contract_trace(layer->contract, ")%s:%s ", layer->name, pawl_status_name(status));
    if (layer->answer == PAWL_OK || status != PAWL_OK)
        return status;
    return pawl_run_fail(run, "Censored", "by %s", layer->name);
}

static pawl_status around_step(pawl_step *step, pawl_next *next, void *user)
{
    const struct layer *layer = user;
    contract_trace(layer->contract, "%s[%s of %s ", layer->name, pawl_step_name(step),
                   pawl_run_workflow(pawl_step_run(step)));
    if (layer->instead != PAWL_OK)
        return layer->instead;
    pawl_status status = pawl_next_call(next);
    contract_trace(layer->contract, "]%s ", layer->name);
    if (layer->answer == PAWL_OK || status != PAWL_OK)
        return status;
    if (layer->answer == PAWL_INVALID) /* once more, to see what that says */
        return pawl_next_call(next);
    return pawl_fail_for_good(step, "Censored", "by %s", layer->name);
}

static void use(struct contract *contract, struct layer *layer, bool runs, bool steps)
{
    struct pawl_middleware middleware = { runs ? around_run : NULL, steps ? around_step : NULL, layer };
    layer->contract = contract;
    assert_ok(contract, pawl_use(contract->engine, &middleware, &contract->error));
}

static pawl_status run_call_and_step(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    contract_trace(pawl_run_user(run), "run ");
    PAWL_TRY(pawl_invoke(run, "work", params, NULL));
    return pawl_do(run, "a", NULL, contract_body_ok, params, out_result);
}

static void G4_middleware_wraps_every_pass_and_every_body_the_first_one_outermost(void **state)
{
    struct contract *contract = *state;
    struct layer outer = { .name = "outer" }, runs = { .name = "runs" }, steps = { .name = "steps" };
    use(contract, &outer, true, true);
    use(contract, &runs, true, false);
    use(contract, &steps, false, true);
    contract_register_function(contract, "work", contract_body_ok);
    contract_start(contract, run_call_and_step, "1");
    assert_output(contract, "1");
    static const char first_pass[] = "outer(runs(run outer[work of w steps[work of w ]steps ]outer "
                                     "outer[a of w steps[a of w ]steps ]outer ";
    assert_int_equal(strncmp(contract->trace, first_pass, strlen(first_pass)), 0);
    assert_says(contract->trace, ")runs:OK )outer:OK ");
    int passes = 0;
    for (const char *at = contract->trace; (at = strstr(at, "outer(runs(run ")) != NULL; at++)
        passes++;
    assert_int_equal(passes, contract->passes);
}

static pawl_status run_call(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_call(run, "ask", "work", NULL, params, out_result);
}

static void G4_middleware_wraps_functions_where_they_are_carried_out(void **state)
{
    struct contract *contract = *state;
    struct layer steps = { .name = "steps" };
    use(contract, &steps, false, true);
    contract_register_function(contract, "work", contract_body_ok);
    contract_start(contract, run_call, "1");
    assert_output(contract, "1");
    assert_text(contract->trace, "steps[ask of @work ]steps ");
}

static pawl_status run_step(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };
    return pawl_do(run, "a", &once, contract_body_ok, params, out_result);
}

static void G4_middleware_can_make_a_success_a_failure(void **state)
{
    struct contract *contract = *state;
    struct layer runs = { .name = "runs", .answer = PAWL_FAILED }, steps = { .name = "steps", .answer = PAWL_FAILED };
    use(contract, &runs, true, false);
    contract_start(contract, run_step, "1");
    assert_errored(contract, "Censored", "by runs");
    contract_begin_again(contract);
    use(contract, &steps, false, true);
    contract_start(contract, run_step, "1");
    assert_errored(contract, "Censored", "by steps");
}

static void G4_what_middleware_keeps_back_does_not_run(void **state)
{
    struct contract *contract = *state;
    struct layer runs = { .name = "runs", .instead = PAWL_NON_RETRYABLE };
    struct layer steps = { .name = "steps", .instead = PAWL_NON_RETRYABLE };
    use(contract, &runs, true, false);
    contract_start(contract, run_step, "1");
    assert_errored(contract, "NON_RETRYABLE", NULL);
    assert_int_equal(contract->passes, 0);
    contract_begin_again(contract);
    use(contract, &steps, false, true);
    contract_start(contract, run_step, "1");
    assert_errored(contract, "NON_RETRYABLE", NULL);
    assert_int_equal(contract->bodies, 0);
}

static void G4_middleware_goes_on_at_most_once(void **state)
{
    struct contract *contract = *state;
    struct layer steps = { .name = "steps", .answer = PAWL_INVALID };
    use(contract, &steps, false, true);
    contract_start(contract, run_step, "1");
    assert_errored(contract, "INVALID", NULL);
    assert_int_equal(contract->bodies, 1);
    assert_status(pawl_next_call(NULL), PAWL_INVALID);
}

static pawl_status run_sleep(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_return(run, out_result, "V", params);
}

static pawl_status swallow(pawl_run *run, pawl_next *next, void *user)
{
    (void)run;
    (void)user;
    return pawl_next_call(next) == PAWL_SUSPENDED ? PAWL_FAILED : PAWL_OK;
}

static void G4_middleware_cannot_undo_a_suspension(void **state)
{
    struct contract *contract = *state;
    struct pawl_middleware middleware = { .around_run = swallow };
    assert_ok(contract, pawl_use(contract->engine, &middleware, &contract->error));
    contract_start(contract, run_sleep, "1");
    assert_instance(contract, PAWL_WAITING);
    contract_advance(contract, "1 hour");
    assert_output(contract, "1");
}

static void G4_middleware_needs_a_function(void **state)
{
    struct contract *contract = *state;
    struct pawl_middleware nothing = { .user = contract };
    assert_status(pawl_use(contract->engine, &nothing, &contract->error), PAWL_INVALID);
    assert_status(pawl_use(contract->engine, NULL, &contract->error), PAWL_INVALID);
}

static void G4_middleware_must_be_used_before_a_runner_starts(void **state)
{
    struct contract *contract = *state;
    struct layer late = { .contract = contract, .name = "late" };
    struct pawl_middleware middleware = { .around_run = around_run, .user = &late };
    contract_start(contract, run_sleep, "1");
    assert_status(pawl_use(contract->engine, &middleware, &contract->error), PAWL_INVALID);
    assert_says(contract->error.text, "must be registered before a runner starts");
    contract_advance(contract, "1 hour");
    assert_output(contract, "1");
    assert_text(contract->trace, ""); /* it was not wrapped */
}

/* ---- For people, and for who asks -------------------------------------------------------------------------------------------- */

static pawl_status run_described(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options options = { .description = "Asks the bank" };
    PAWL_TRY(pawl_do(run, "a", &options, contract_body_ok, params, out_result));
    PAWL_TRY(pawl_call(run, "b", "work", &options, params, out_result));
    return pawl_do(run, "c", NULL, contract_body_ok, params, out_result);
}

static void G4_a_step_may_have_a_description(void **state)
{
    struct contract *contract = *state;
    static const struct pawl_step_options described = { .description = "of all steps" };
    struct pawl_workflow workflow = { .name = "x", .run = run_described, .steps = &described };
    assert_status(pawl_register(contract->engine, &workflow, &contract->error), PAWL_INVALID);
    contract_register_function(contract, "work", contract_body_ok);
    contract_start(contract, run_described, "1");
    assert_output(contract, "1");
    assert_text(contract_step(contract, "a").description, "Asks the bank");
    assert_text(contract_step(contract, "b").description, "Asks the bank");
    assert_text(contract_step(contract, "c").description, NULL);
}

static void G4_a_workflow_may_require_permissions(void **state)
{
    static const char *const permissions[] = { "orders.write", "orders.read", NULL };
    struct contract *contract = *state;
    const struct pawl_workflow_info *workflows;
    size_t count;
    contract_register_as(contract, (struct pawl_workflow){ .name = "a", .run = run_step });
    contract_register_as(contract, (struct pawl_workflow){ .name = "b", .run = run_step, .permissions = permissions });
    contract_register_as(contract, (struct pawl_workflow){ .name = "c", .run = run_step, .mode = PAWL_MODE_INLINE });
    assert_ok(contract, pawl_list_workflows(contract->engine, contract->scope, &workflows, &count));
    assert_int_equal(count, 3);
    assert_int_equal(workflows[0].permission_count, 0);
    assert_int_equal(workflows[1].permission_count, 2);
    assert_text(workflows[1].permissions[0], "orders.write");
    assert_text(workflows[1].permissions[1], "orders.read");
    assert_false(workflows[1].is_inline);
    assert_true(workflows[2].is_inline);
}

static void G3_a_mode_is_remote_or_inline(void **state)
{
    struct contract *contract = *state;
    struct pawl_workflow workflow = { .name = "x", .run = run_step, .mode = (enum pawl_mode)7 };
    assert_status(pawl_register(contract->engine, &workflow, &contract->error), PAWL_INVALID);
    assert_says(contract->error.text, "mode");
}

/* ---- This program's own module ------------------------------------------------------------------------------------------------- */

static pawl_status own(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_result(step, out_result, "[V, s]", input, "own");
}

static pawl_status calling(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_call(run, "call", "own", NULL, params, out_result);
}

PAWL_MODULE({ .name = "calling", .run = calling });
PAWL_FUNCTIONS({ .name = "own", .run = own });

static void G2_a_module_brings_its_functions_along(void **state)
{
    struct contract *contract = *state;
    struct pawl_instance instance;
    assert_ok(contract, pawl_register_module(contract->engine, &pawl_module, &contract->error));
    assert_ok(contract, pawl_world_create(contract->world, "calling", "i", "1", &contract->error));
    contract_idle(contract);
    assert_ok(contract, pawl_world_get(contract->world, "calling", "i", &instance, &contract->error));
    assert_text(instance.output_json, "[1,\"own\"]");
}

static void G2_functions_of_another_version_are_refused(void **state)
{
    struct contract *contract = *state;
    struct pawl_module_functions functions = pawl_module_functions;
    functions.version++;
    assert_status(pawl_register_functions(contract->engine, &functions, &contract->error), PAWL_MODULE_INVALID);
    functions = pawl_module_functions;
    functions.function_size += 8;
    assert_status(pawl_register_functions(contract->engine, &functions, &contract->error), PAWL_MODULE_INVALID);
    assert_status(pawl_register_functions(contract->engine, NULL, &contract->error), PAWL_INVALID);
}

int main(void)
{
    struct CMUnitTest tests[] = {
        CONTRACT_TEST(G3_an_inline_workflow_runs_in_its_caller_and_leaves_nothing_in_the_store),
        CONTRACT_TEST(G3_calls_children_and_what_they_send_work_in_memory),
        CONTRACT_TEST(G3_an_inline_run_that_fails_is_errored_and_undone),
        CONTRACT_TEST(G3_a_wait_that_nothing_in_memory_can_end_is_refused_at_once),
        CONTRACT_TEST(G3_a_wait_beside_a_sleep_is_waited_out),
        CONTRACT_TEST(G4_middleware_wraps_every_pass_and_every_body_the_first_one_outermost),
        CONTRACT_TEST(G4_middleware_wraps_functions_where_they_are_carried_out),
        CONTRACT_TEST(G4_middleware_can_make_a_success_a_failure),
        CONTRACT_TEST(G4_what_middleware_keeps_back_does_not_run),
        CONTRACT_TEST(G4_middleware_goes_on_at_most_once),
        CONTRACT_TEST(G4_middleware_cannot_undo_a_suspension),
        CONTRACT_TEST(G4_middleware_needs_a_function),
        CONTRACT_TEST(G4_middleware_must_be_used_before_a_runner_starts),
        CONTRACT_TEST(G4_a_step_may_have_a_description),
        CONTRACT_TEST(G4_a_workflow_may_require_permissions),
        CONTRACT_TEST(G3_a_mode_is_remote_or_inline),
        CONTRACT_TEST(G2_a_module_brings_its_functions_along),
        CONTRACT_TEST(G2_functions_of_another_version_are_refused),
    };
    return contract_run_tests("contract G2 to G4", tests, sizeof tests / sizeof tests[0]);
}
