/* Contract G2 to G4: functions of modules, inline workflows, middleware, descriptions and permissions. */
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

WORKFLOW(run_echo)
{
    PAWL_TRY(pawl_sleep(run, "nap", "20 ms"));
    return pawl_do(run, "echo", NULL, contract_body_ok, params, out_result);
}

TEST_OF(contract, G3_an_inline_workflow_runs_in_its_caller_and_leaves_nothing_in_the_store)
{
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

BODY(send_to_parent)
{
    return pawl_step_send_event(step, "w", pawl_value_string(input, NULL, ""), "go", input);
}

WORKFLOW(run_sender)
{
    pawl_value *id;
    PAWL_TRY(pawl_sleep(run, "nap", "20 ms"));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &id, "s", pawl_run_parent(run)->id));
    return pawl_do(run, "send", NULL, send_to_parent, id, NULL);
}

/* Everything that works in memory: a call that is tried again, a bare call, a child, an event that the child sends. */
WORKFLOW(run_everything)
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

BODY(work_at_last)
{
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "NotNow", "again");
    return contract_body_ok(step, input, out_result);
}

TEST_OF(contract, G3_calls_children_and_what_they_send_work_in_memory)
{
    struct pawl_instance instance;
    register_inline(contract, run_everything);
    contract_register(contract, "sender", run_sender);
    contract_register_function(contract, "work", work_at_last);
    contract_register_function(contract, "echo", contract_body_ok);
    assert_ok(contract, execute(contract, "\"x\"", &instance));
    assert_text(instance.output_json, "[\"x\",\"x\",true]");
}

WORKFLOW(run_failing)
{
    static const struct pawl_compensation by_tracing = { .undo = contract_body_traces };
    static const struct pawl_step_options undone = { .compensate = &by_tracing };
    PAWL_TRY(pawl_do(run, "a", &undone, contract_body_ok, NULL, NULL));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, G3_an_inline_run_that_fails_is_errored_and_undone)
{
    struct pawl_instance instance;
    register_inline(contract, run_failing);
    assert_ok(contract, execute(contract, NULL, &instance));
    assert_int_equal(instance.status, PAWL_ERRORED);
    assert_text(instance.error_name, "Refused");
    assert_text(contract->trace, "compensate: a {}; ");
}

BRANCH(branch_sleeps)
{
    return pawl_sleep(run, "nap", "20 ms");
}

/* By its params, waits for what cannot come. */
WORKFLOW(run_hopeless)
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

TEST_OF(contract, G3_a_wait_that_nothing_in_memory_can_end_is_refused_at_once)
{
    static const char *const words[] = { "event", "deferred", "forever", "call", "broken" };
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

WORKFLOW(run_race)
{
    struct pawl_branch branches[2] = { { .run = run_hopeless }, { .run = branch_sleeps } };
    size_t winner;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    return pawl_return(run, out_result, "i", (int)winner);
}

TEST_OF(contract, G3_a_wait_beside_a_sleep_is_waited_out)
{
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

WORKFLOW(run_call_and_step)
{
    contract_trace(pawl_run_user(run), "run ");
    PAWL_TRY(pawl_invoke(run, "work", params, NULL));
    return pawl_do(run, "a", NULL, contract_body_ok, params, out_result);
}

TEST_OF(contract, G4_middleware_wraps_every_pass_and_every_body_the_first_one_outermost)
{
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

WORKFLOW(run_call)
{
    return pawl_call(run, "ask", "work", NULL, params, out_result);
}

TEST_OF(contract, G4_middleware_wraps_functions_where_they_are_carried_out)
{
    struct layer steps = { .name = "steps" };
    use(contract, &steps, false, true);
    contract_register_function(contract, "work", contract_body_ok);
    contract_start(contract, run_call, "1");
    assert_output(contract, "1");
    assert_text(contract->trace, "steps[ask of @work ]steps ");
}

WORKFLOW(run_step)
{
    static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };
    return pawl_do(run, "a", &once, contract_body_ok, params, out_result);
}

TEST_OF(contract, G4_middleware_can_make_a_success_a_failure)
{
    struct layer runs = { .name = "runs", .answer = PAWL_FAILED }, steps = { .name = "steps", .answer = PAWL_FAILED };
    use(contract, &runs, true, false);
    contract_start(contract, run_step, "1");
    assert_errored(contract, "Censored", "by runs");
    contract_begin_again(contract);
    use(contract, &steps, false, true);
    contract_start(contract, run_step, "1");
    assert_errored(contract, "Censored", "by steps");
}

TEST_OF(contract, G4_what_middleware_keeps_back_does_not_run)
{
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

TEST_OF(contract, G4_middleware_goes_on_at_most_once)
{
    struct layer steps = { .name = "steps", .answer = PAWL_INVALID };
    use(contract, &steps, false, true);
    contract_start(contract, run_step, "1");
    assert_errored(contract, "INVALID", NULL);
    assert_int_equal(contract->bodies, 1);
    assert_status(pawl_next_call(NULL), PAWL_INVALID);
}

WORKFLOW(run_sleep)
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

TEST_OF(contract, G4_middleware_cannot_undo_a_suspension)
{
    struct pawl_middleware middleware = { .around_run = swallow };
    assert_ok(contract, pawl_use(contract->engine, &middleware, &contract->error));
    contract_start(contract, run_sleep, "1");
    assert_instance(contract, PAWL_WAITING);
    contract_advance(contract, "1 hour");
    assert_output(contract, "1");
}

TEST_OF(contract, G4_middleware_needs_a_function)
{
    struct pawl_middleware nothing = { .user = contract };
    assert_status(pawl_use(contract->engine, &nothing, &contract->error), PAWL_INVALID);
    assert_status(pawl_use(contract->engine, NULL, &contract->error), PAWL_INVALID);
}

TEST_OF(contract, G4_middleware_must_be_used_before_a_runner_starts)
{
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

WORKFLOW(run_described)
{
    static const struct pawl_step_options options = { .description = "Asks the bank" };
    PAWL_TRY(pawl_do(run, "a", &options, contract_body_ok, params, out_result));
    PAWL_TRY(pawl_call(run, "b", "work", &options, params, out_result));
    return pawl_do(run, "c", NULL, contract_body_ok, params, out_result);
}

TEST_OF(contract, G4_a_step_may_have_a_description)
{
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

TEST_OF(contract, G4_a_workflow_may_require_permissions)
{
    static const char *const permissions[] = { "orders.write", "orders.read", NULL };
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

TEST_OF(contract, G3_a_mode_is_remote_or_inline)
{
    struct pawl_workflow workflow = { .name = "x", .run = run_step, .mode = (enum pawl_mode)7 };
    assert_status(pawl_register(contract->engine, &workflow, &contract->error), PAWL_INVALID);
    assert_says(contract->error.text, "mode");
}

/* ---- This program's own module ------------------------------------------------------------------------------------------------- */

BODY(own)
{
    return pawl_result(step, out_result, "[V, s]", input, "own");
}

WORKFLOW(calling)
{
    return pawl_call(run, "call", "own", NULL, params, out_result);
}

PAWL_MODULE({ .name = "calling", .run = calling });
PAWL_FUNCTIONS({ .name = "own", .run = own });

TEST_OF(contract, G2_a_module_brings_its_functions_along)
{
    struct pawl_instance instance;
    assert_ok(contract, pawl_register_module(contract->engine, &pawl_module, &contract->error));
    assert_ok(contract, pawl_world_create(contract->world, "calling", "i", "1", &contract->error));
    contract_idle(contract);
    assert_ok(contract, pawl_world_get(contract->world, "calling", "i", &instance, &contract->error));
    assert_text(instance.output_json, "[1,\"own\"]");
}

TEST_OF(contract, G2_functions_of_another_version_are_refused)
{
    struct pawl_module_functions functions = pawl_module_functions;
    functions.version++;
    assert_status(pawl_register_functions(contract->engine, &functions, &contract->error), PAWL_MODULE_INVALID);
    functions = pawl_module_functions;
    functions.function_size += 8;
    assert_status(pawl_register_functions(contract->engine, &functions, &contract->error), PAWL_MODULE_INVALID);
    assert_status(pawl_register_functions(contract->engine, NULL, &contract->error), PAWL_INVALID);
}
