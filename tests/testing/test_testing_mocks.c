/* test_testing_mocks.c - what a test says about steps comes true instead of their bodies (contract H1). */
#include "testing_kit.h"

/* ---- H1: mocks --------------------------------------------------------------------------------------------------- */

TEST_OF(kit, H1_a_mocked_result_stands_for_the_body_and_five_nothings_stay_apart)
{
    static const struct {
        const char *json;
        enum pawl_kind kind;
    } results[] = { { "0", PAWL_KIND_INT },
                    { "false", PAWL_KIND_BOOL },
                    { "\"\"", PAWL_KIND_STRING },
                    { "null", PAWL_KIND_NULL },
                    { NULL, PAWL_KIND_NONE } };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        kit_reopen(kit, NULL);
        kit->kind = PAWL_KIND_OBJECT;
        ok(pawl_world_mock_result(kit->world, "single", "work", 0, results[i].json, &kit->error));

        struct pawl_instance instance = kit_run_single(kit);

        assert_int_equal(instance.status, PAWL_COMPLETE);
        assert_int_equal(kit->kind, results[i].kind);
        assert_int_equal(kit->bodies, 0);
        assert_int_equal(kit_work(kit)->attempts, 1);
        if (results[i].json != NULL) {
            assert_string_equal(kit_work(kit)->result_json, results[i].json);
            assert_string_equal(instance.output_json, results[i].json);
        } else {
            assert_null(kit_work(kit)->result_json);
            assert_null(instance.output_json);
        }
    }
}

TEST_OF(kit, H1_a_mocked_failure_is_retried_as_the_step_says)
{
    ok(pawl_world_mock_failure(kit->world, NULL, "work", 2, "Down", "not now", true, &kit->error));

    struct pawl_instance instance = kit_run_single(kit);

    assert_int_equal(instance.status, PAWL_WAITING);
    assert_string_equal(kit_work(kit)->error_name, "Down");
    assert_string_equal(kit_work(kit)->error_message, "not now");
    assert_int_equal(kit_work(kit)->next_retry_at_ms, START_MS + 10000);
    ok(pawl_world_advance(kit->world, "10 seconds", &kit->error));
    assert_int_equal(kit_work(kit)->next_retry_at_ms, START_MS + 30000);
    ok(pawl_world_advance(kit->world, "20 seconds", &kit->error));
    assert_int_equal(kit_get(kit, "single", "s").status, PAWL_COMPLETE);
    assert_int_equal(kit_work(kit)->attempts, 3);
    assert_int_equal(kit->bodies, 1);
}

TEST_OF(kit, H1_a_mocked_failure_that_always_comes_uses_up_the_attempts)
{
    ok(pawl_world_mock_failure(kit->world, NULL, "work", 0, "Down", "not now", true, &kit->error));

    kit_create(kit, "single", "s");
    ok(pawl_world_run_to_end(kit->world, &kit->error));

    assert_int_equal(kit_get(kit, "single", "s").status, PAWL_ERRORED);
    assert_string_equal(kit->failure, "Down");
    assert_int_equal(kit_work(kit)->attempts, 3);
    assert_int_equal(kit->bodies, 0);
}

TEST_OF(kit, H1_a_mocked_failure_for_good_is_not_retried)
{
    ok(pawl_world_mock_failure(kit->world, NULL, "work", 1, "Declined", "no money", false, &kit->error));

    struct pawl_instance instance = kit_run_single(kit);

    assert_int_equal(instance.status, PAWL_ERRORED);
    assert_string_equal(instance.error_name, "Declined");
    assert_string_equal(kit->failure, "Declined");
    assert_string_equal(kit->message, "no money");
    assert_int_equal(kit_work(kit)->attempts, 1);
}

TEST_OF(kit, a_mocked_failure_without_words_has_the_usual_ones)
{
    ok(pawl_world_mock_failure(kit->world, NULL, "work", 1, NULL, NULL, false, &kit->error));

    struct pawl_instance instance = kit_run_single(kit);

    assert_string_equal(instance.error_name, "FAILED");
    assert_string_equal(instance.error_message, "");
}

TEST_OF(kit, H1_a_forced_timeout_is_a_failed_attempt)
{
    ok(pawl_world_mock_timeout(kit->world, "single", "work", 1, &kit->error));

    struct pawl_instance instance = kit_run_single(kit);

    assert_int_equal(instance.status, PAWL_WAITING);
    assert_string_equal(kit_work(kit)->error_name, "STEP_TIMEOUT");
    assert_int_equal(kit->bodies, 0);
    ok(pawl_world_run_to_end(kit->world, &kit->error));
    assert_string_equal(kit_get(kit, "single", "s").output_json, "\"real\"");
}

TEST_OF(kit, a_mocked_result_after_a_failure_looks_like_a_real_one)
{
    ok(pawl_world_mock_result(kit->world, NULL, "work", 0, "1", &kit->error));
    ok(pawl_world_mock_failure(kit->world, NULL, "work", 1, "Down", "not now", true, &kit->error));
    kit_create(kit, "single", "s");
    ok(pawl_world_run_to_end(kit->world, &kit->error));

    const struct pawl_step_record *mocked = kit_work(kit);

    assert_int_equal(mocked->status, PAWL_STEP_COMPLETED);
    assert_int_equal(mocked->attempts, 2);
    assert_int_equal(mocked->updated_at_ms, START_MS + 10000);
    assert_null(mocked->error_name);
    assert_null(mocked->error_message);
    assert_int_equal(mocked->next_retry_at_ms, 0);
}

TEST_OF(kit, the_newest_mock_comes_first_and_each_only_so_often)
{
    ok(pawl_world_mock_result(kit->world, NULL, "work", 0, "\"old\"", &kit->error));
    ok(pawl_world_mock_result(kit->world, "single", "  work ", 2, "\"new\"", &kit->error));
    const char *const ids[] = { "a", "b", "c", "d" };
    for (size_t i = 0; i < 4; i++)
        kit_create(kit, "single", ids[i]);
    kit_create(kit, "other", "o");

    kit_run(kit);

    assert_string_equal(kit_get(kit, "single", "a").output_json, "\"new\"");
    assert_string_equal(kit_get(kit, "single", "b").output_json, "\"new\"");
    assert_string_equal(kit_get(kit, "single", "c").output_json, "\"old\"");
    assert_string_equal(kit_get(kit, "single", "d").output_json, "\"old\"");
    assert_string_equal(kit_get(kit, "other", "o").output_json, "\"old\"");
}

TEST_OF(kit, a_mock_is_about_its_workflow_and_its_step_only)
{
    ok(pawl_world_mock_result(kit->world, "other", "work", 0, "1", &kit->error));
    ok(pawl_world_mock_result(kit->world, "single", "wor", 0, "2", &kit->error));

    struct pawl_instance instance = kit_run_single(kit);

    assert_string_equal(instance.output_json, "\"real\"");
}

TEST_OF(kit, mocks_copy_their_texts_and_are_taken_back_all_at_once)
{
    char workflow[] = "single", step[] = "work", result[] = "12345";
    ok(pawl_world_mock_result(kit->world, workflow, step, 0, result, &kit->error));
    memset(workflow, 'x', sizeof workflow - 1);
    memset(step, 'x', sizeof step - 1);
    memset(result, 'x', sizeof result - 1);

    struct pawl_instance mocked = kit_run_single(kit);
    pawl_world_unmock(kit->world);
    kit_create(kit, "single", "after");
    kit_run(kit);

    assert_string_equal(mocked.output_json, "12345");
    assert_string_equal(kit_get(kit, "single", "after").output_json, "\"real\"");
}

TEST_OF(kit, a_mock_that_cannot_be_is_refused)
{
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    options.limits.payload_bytes_max = 10;
    kit_reopen(kit, &options);

    kit_refused(kit, pawl_world_mock_result(kit->world, NULL, NULL, 0, "1", &kit->error), PAWL_INVALID, "step");
    kit_refused(kit, pawl_world_mock_timeout(kit->world, NULL, "work", -1, &kit->error), PAWL_INVALID, "work");
    kit_refused(kit, pawl_world_mock_result(kit->world, NULL, "work", 0, "{", &kit->error), PAWL_INVALID_JSON,
                "mocked result");
    kit_refused(kit, pawl_world_mock_result(kit->world, NULL, "work", 0, "[1,2,3,4,5,6]", &kit->error),
                PAWL_PAYLOAD_TOO_LARGE, "mocked result");
    assert_string_equal(kit_run_single(kit).output_json, "\"real\"");
}

TEST_OF(kit, H1_disabled_sleeps_are_done_at_once_and_other_waits_are_not)
{
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    options.disable_sleeps = true;
    kit_reopen(kit, &options);
    kit_create(kit, "nap", "n");
    kit_create(kit, "awaiting", "a");

    kit_run(kit);

    assert_int_equal(pawl_world_now_ms(kit->world), START_MS);
    assert_int_equal(kit_get(kit, "nap", "n").status, PAWL_COMPLETE);
    assert_int_equal(pawl_world_step(kit->world, "nap", "n", "nap")->status, PAWL_STEP_COMPLETED);
    assert_int_equal(kit_get(kit, "awaiting", "a").status, PAWL_WAITING);
}
