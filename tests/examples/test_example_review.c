/* test_example_review.c - contract F3 and F4 by example: stages that are programs, a person's gate, and what a rejection
 * takes back. */
#define PAWL_NO_MAIN
#include "../../examples/review.c"

#include "example_world.h"

#define TASK "{\"task\": \"tea\"}"

/* From the log, as the reviewer gets it. */
static const char *token_of(struct example *example)
{
    struct pawl_history history;
    pawl_value *question = NULL;
    assert_ok(pawl_world_history(example->world, "review", "r", 0, &history, &example->error), example->error);
    for (size_t i = 0; i < history.log_count; i++) {
        const char *data = history.logs[i].data_json;
        if (strcmp(history.logs[i].category, "review") == 0)
            assert_ok(
                pawl_value_parse(pawl_world_scope(example->world), data, strlen(data), &question, &example->error),
                example->error);
    }
    assert_string_equal(pawl_value_string(question, "text", ""), "A second, much better draft about tea");
    return pawl_value_string(question, "token", "");
}

static void reach_gate(struct example *example)
{
    example_create(example, "review", "r", TASK);
    example_run(example);
    assert_int_equal(example_get(example, "review", "r").status, PAWL_WAITING);
    assert_true(example_has("r.draft"));
}

TEST_OF(example, F3_an_approved_text_is_published)
{
    reach_gate(example);
    assert_ok(pawl_deferred_succeed(pawl_world_engine(example->world), token_of(example), "{\"notes\": \"fine\"}",
                                    &example->error),
              example->error);
    example_run(example);
    assert_string_equal(example_get(example, "review", "r").output_json,
                        "{\"text\":\"A text about tea\",\"notes\":\"fine\"}");
    assert_true(example_has("r.final"));
    assert_false(example_has("r.draft"));
}

static void assert_taken_back(struct example *example, const char *error_name)
{
    struct pawl_instance instance = example_get(example, "review", "r");
    assert_int_equal(instance.status, PAWL_ERRORED);
    assert_string_equal(instance.error_name, error_name);
    assert_non_null(pawl_world_step(example->world, "review", "r", "compensate: draft"));
    assert_false(example_has("r.draft"));
    assert_false(example_has("r.final"));
}

TEST_OF(example, F4_a_rejected_text_is_taken_back)
{
    reach_gate(example);
    assert_ok(pawl_deferred_fail(pawl_world_engine(example->world), token_of(example), "Rejected", "too long",
                                 &example->error),
              example->error);
    example_run(example);
    assert_taken_back(example, "Rejected");
}

TEST_OF(example, F4_a_text_that_nobody_reviews_is_taken_back_after_three_days)
{
    reach_gate(example);
    assert_ok(pawl_world_advance(example->world, "71 hours", &example->error), example->error);
    assert_int_equal(example_get(example, "review", "r").status, PAWL_WAITING);
    assert_ok(pawl_world_advance(example->world, "1 hour", &example->error), example->error);
    assert_taken_back(example, "WAIT_FOR_EVENT_TIMEOUT");
}

static pawl_status is_taken_back(pawl_world *world, void *user, struct pawl_error *error)
{
    (void)world;
    (void)user;
    if (!example_has("sweep.draft"))
        return PAWL_OK;
    *error = (struct pawl_error){ PAWL_INVALID, "the draft is left" };
    return PAWL_INVALID;
}

TEST_OF(example, H3_it_stands_a_crash_at_any_instant)
{
    example_sweep("review", TASK, "errored with WAIT_FOR_EVENT_TIMEOUT", NULL, is_taken_back);
}
