/* test_example_onboarding.c - contract G1 to G3 by example: calls, steps and bare calls in one run, remote and inline. */
#define PAWL_NO_MAIN
#include "../../examples/onboarding.c"

#include "example_world.h"

static enum pawl_step_kind kind_of(struct example *example, const char *step)
{
    const struct pawl_step_record *record = pawl_world_step(example->world, "onboarding", "u", step);
    assert_non_null(record);
    return record->kind;
}

TEST_OF(example, G1_G2_a_free_user_is_set_up_by_the_run_itself)
{
    example_create(example, "onboarding", "u", "{\"email\": \"ada@example.org\", \"region\": \"US\"}");
    example_run(example);
    assert_string_equal(example_get(example, "onboarding", "u").output_json,
                        "{\"userId\":\"user-of-ada@example.org\",\"account\":{\"tier\":\"standard\",\"features\":"
                        "[\"basic\"]},\"taxRate\":0.08,\"settings\":{\"theme\":\"light\",\"newsletter\":false}}");
    assert_int_equal(kind_of(example, "create user"), PAWL_STEP_CALL);
    assert_int_equal(kind_of(example, "verify email"), PAWL_STEP_CALL);
    assert_int_equal(kind_of(example, "set up standard"), PAWL_STEP_DO);
    assert_null(pawl_world_step(example->world, "onboarding", "u", "set up premium"));
    assert_string_equal(pawl_world_step(example->world, "onboarding", "u", "create user")->description,
                        "Create the account");
}

TEST_OF(example, G1_a_premium_user_is_set_up_by_a_worker)
{
    example_create(example, "onboarding", "u", "{\"email\": \"ada@example.org\", \"plan\": \"premium\"}");
    example_run(example);
    assert_non_null(strstr(example_get(example, "onboarding", "u").output_json, "\"tier\":\"premium\""));
    assert_int_equal(kind_of(example, "set up premium"), PAWL_STEP_CALL);
    assert_null(pawl_world_step(example->world, "onboarding", "u", "set up standard"));
}

TEST_OF(example, G1_what_a_worker_fails_for_good_fails_the_run)
{
    example_create(example, "onboarding", "u", "{\"email\": \"nowhere\"}");
    example_run(example);
    struct pawl_instance instance = example_get(example, "onboarding", "u");
    assert_int_equal(instance.status, PAWL_ERRORED);
    assert_string_equal(instance.error_name, "InvalidEmail");
    assert_int_equal(pawl_world_step(example->world, "onboarding", "u", "create user")->attempts, 1);
}

TEST_OF(example, G1_a_mail_server_that_is_down_is_asked_again)
{
    assert_ok(pawl_world_mock_failure(example->world, "onboarding", "verify email", 2, "Down", "no answer", true,
                                      &example->error),
              example->error);
    example_create(example, "onboarding", "u", "{\"email\": \"ada@example.org\"}");
    example_run(example);
    assert_int_equal(example_get(example, "onboarding", "u").status, PAWL_WAITING);
    assert_ok(pawl_world_advance(example->world, "30 seconds", &example->error), example->error); /* 10, and 20 */
    assert_int_equal(example_get(example, "onboarding", "u").status, PAWL_COMPLETE);
    assert_int_equal(pawl_world_step(example->world, "onboarding", "u", "verify email")->attempts, 3);
}

TEST_OF(example, G3_inline_it_answers_the_same_in_its_caller)
{
    const struct pawl_workflow workflow = { .name = "inline", .run = onboarding, .mode = PAWL_MODE_INLINE };
    pawl_engine *engine = pawl_world_engine(example->world);
    struct pawl_execute_options options = PAWL_EXECUTE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.params_json = "{\"email\": \"ada@example.org\"}";
    assert_ok(pawl_register(engine, &workflow, &example->error), example->error);
    assert_ok(pawl_execute(engine, pawl_world_scope(example->world), "inline", &options, &instance, &example->error),
              example->error);
    example_create(example, "onboarding", "u", options.params_json);
    example_run(example);
    assert_string_equal(instance.output_json, example_get(example, "onboarding", "u").output_json);
}

TEST_OF(example, H3_it_stands_a_crash_at_any_instant)
{
    example_sweep("onboarding", "{\"email\": \"ada@example.org\", \"plan\": \"premium\"}", "complete", NULL, NULL);
}
