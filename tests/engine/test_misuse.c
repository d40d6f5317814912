/* test_misuse.c - wrong use of the engine, of runners, definitions and modules is told: a code, a text, and nothing done. */
#include "kit/running.h"

#include "base/limits.h"
#include "engine/engine.h"

static int set_up(void **state)
{
    struct running *running = calloc(1, sizeof *running);
    running_open(running, false);
    *state = running;
    return 0;
}

static int tear_down(void **state)
{
    running_close(*state);
    free(*state);
    return 0;
}

static const struct test_setting running_setting = { set_up, tear_down, 0 };

/* `status` is as expected, and the error says the same, with this word in its text.  Clears the error. */
static void refused(struct running *running, pawl_status status, pawl_status expected, const char *word)
{
    assert_int_equal(status, expected);
    assert_int_equal(running->error.status, expected);
    assert_string_not_equal(running->error.text, "");
    if (strstr(running->error.text, word) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", running->error.text, word);
    running->error = (struct pawl_error){ PAWL_OK, "" };
}

WORKFLOW(do_nothing)
{
    return PAWL_OK;
}

/* ---- The engine ------------------------------------------------------------------------------------------------------ */

TEST_OF(running, the_library_knows_its_version)
{
    assert_string_equal(pawl_version(), PAWL_VERSION);
}

TEST_OF(running, an_engine_needs_a_place_for_itself_and_options_of_this_header)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    pawl_engine *engine = NULL;

    refused(running, pawl_open(&options, NULL, &running->error), PAWL_INVALID, "out_engine");
    options.struct_size = 0;
    refused(running, pawl_open(&options, &engine, &running->error), PAWL_INVALID, "PAWL_OPTIONS_INIT");
    options.struct_size = sizeof options + 8;
    refused(running, pawl_open(&options, &engine, &running->error), PAWL_INVALID, "PAWL_OPTIONS_INIT");

    assert_null(engine);
    assert_int_equal(pawl_now_ms(NULL), 0);
    pawl_close(NULL);
}

TEST_OF(running, a_definition_needs_an_engine_a_name_and_the_tags_it_counts)
{
    struct pawl_definition definition = { .struct_size = sizeof definition, .name = "w" };

    refused(running, pawl_define(NULL, &definition, &running->error), PAWL_INVALID, "engine");
    refused(running, pawl_define(running->engine, NULL, &running->error), PAWL_INVALID, "struct_size");
    definition.struct_size = 1;
    refused(running, pawl_define(running->engine, &definition, &running->error), PAWL_INVALID, "struct_size");
    definition.struct_size = sizeof definition;
    definition.name = NULL;
    refused(running, pawl_define(running->engine, &definition, &running->error), PAWL_INVALID_WORKFLOW_NAME, "name");
    definition.name = "w";
    definition.tag_count = 1;
    refused(running, pawl_define(running->engine, &definition, &running->error), PAWL_INVALID, "no tags");
    definition.tag_count = 0;
    definition.limits.steps_max = -1;
    refused(running, pawl_define(running->engine, &definition, &running->error), PAWL_INVALID, "limit");

    definition.limits.steps_max = 0;
    assert_ok(pawl_define(running->engine, &definition, &running->error), running->error);
}

/* Draws 0, then the largest number, then 7, and so on. */
static void draw_badly_first(void *user, void *bytes, size_t size)
{
    static const int64_t draws[] = { 0, INT64_MAX, 7 };
    int *count = user;
    int64_t drawn = draws[*count < 2 ? *count : 2];
    (*count)++;
    assert_int_equal(size, sizeof drawn);
    memcpy(bytes, &drawn, sizeof drawn);
}

TEST_OF(running, an_owner_is_drawn_again_until_its_byte_can_be_locked)
{
    int draws = 0;
    struct pawl_random chance = running->engine->random;
    running->engine->random = (struct pawl_random){ draw_badly_first, &draws };

    int64_t owner = pw_engine_make_owner(running->engine);

    running->engine->random = chance;
    assert_int_equal(owner, 7);
    assert_int_equal(draws, 3);
}

/* ---- Policies --------------------------------------------------------------------------------------------------------- */

TEST_OF(running, a_policy_out_of_range_is_told_what_it_may_be)
{
    static const struct {
        struct pawl_policy policy;
        const char *says;
    } wrong[] = {
        { { -1, 0, PAWL_BACKOFF_LINEAR, 1, NULL, NULL }, "retries" },
        { { 0, -1, PAWL_BACKOFF_LINEAR, 1, NULL, NULL }, "delay" },
        { { 0, PW_DELAY_MS_MAX + 1, PAWL_BACKOFF_LINEAR, 1, NULL, NULL }, "delay" },
        { { 0, 0, PAWL_BACKOFF_LINEAR, 0, NULL, NULL }, "timeout" },
        { { 0, 0, PAWL_BACKOFF_LINEAR, PW_DELAY_MS_MAX + 1, NULL, NULL }, "timeout" },
        { { 0, 0, (enum pawl_backoff)(PAWL_BACKOFF_EXPONENTIAL + 1), 1, NULL, NULL }, "backoff" },
    };
    const struct pawl_policy largest = {
        PAWL_RETRIES_UNLIMITED, PW_DELAY_MS_MAX, PAWL_BACKOFF_EXPONENTIAL, PW_DELAY_MS_MAX, NULL, NULL
    };
    struct pawl_policy policy;

    for (size_t i = 0; i < LENGTH(wrong); i++) {
        const char *text = pawl_policy_wrong(&wrong[i].policy);
        assert_non_null(text);
        assert_non_null(strstr(text, wrong[i].says));
    }

    assert_null(pawl_policy_wrong(&largest));
    pawl_policy_default(&policy);
    assert_null(pawl_policy_wrong(&policy));
}

/* ---- Registering -------------------------------------------------------------------------------------------------------- */

TEST_OF(running, a_workflow_needs_an_engine_a_function_and_sensible_step_options)
{
    const struct pawl_step_options endless = { .timeout = "400 days" };
    struct pawl_workflow workflow = { .name = "w", .run = do_nothing, .steps = &endless };

    refused(running, pawl_register(NULL, &workflow, &running->error), PAWL_INVALID, "run function");
    refused(running, pawl_register(running->engine, NULL, &running->error), PAWL_INVALID, "run function");
    refused(running, pawl_register(running->engine, &workflow, &running->error), PAWL_INVALID, "\"w\": the timeout");
    workflow.name = NULL;
    refused(running, pawl_register(running->engine, &workflow, &running->error), PAWL_INVALID, "\"\": the timeout");
}

TEST_OF(running, a_module_of_another_version_or_of_larger_workflows_is_refused)
{
    const struct pawl_workflow workflows[] = { { .name = "w", .run = do_nothing } };
    struct pawl_module module = { PAWL_MODULE_VERSION, sizeof workflows[0], 1, workflows, NULL };

    refused(running, pawl_register_module(NULL, &module, &running->error), PAWL_INVALID, "engine");
    refused(running, pawl_register_module(running->engine, NULL, &running->error), PAWL_INVALID, "module");
    module.version = PAWL_MODULE_VERSION + 1;
    refused(running, pawl_register_module(running->engine, &module, &running->error), PAWL_MODULE_INVALID, "version");
    module.version = PAWL_MODULE_VERSION;
    module.workflow_size = 0;
    refused(running, pawl_register_module(running->engine, &module, &running->error), PAWL_MODULE_INVALID, "version");
    module.workflow_size = sizeof workflows[0] + 1;
    refused(running, pawl_register_module(running->engine, &module, &running->error), PAWL_MODULE_INVALID, "version");
    module.workflow_size = sizeof workflows[0];
    assert_ok(pawl_register_module(running->engine, &module, &running->error), running->error);
    refused(running, pawl_register_module(running->engine, &module, &running->error), PAWL_DUPLICATE_WORKFLOW, "\"w\"");

    refused(running, pawl_load_module(NULL, "module.so", &running->error), PAWL_INVALID, "engine");
    refused(running, pawl_load_module(running->engine, NULL, &running->error), PAWL_INVALID, "path");
}

/* ---- Runners -------------------------------------------------------------------------------------------------------------- */

TEST_OF(running, a_runner_needs_an_engine_a_place_for_itself_and_options_in_range)
{
    static const struct pawl_runner_options wrong[] = {
        { .workers = -1 },
        { .workers = PW_WORKERS_MAX + 1 },
        { .in_flight_max = -1 },
        { .poll_ms = -1 },
        { .poll_ms = PW_DELAY_MS_MAX + 1 },
        { .lease_ms = -1 },
        { .lease_ms = PW_LEASE_MS_MIN - 1 },
        { .lease_ms = PW_DELAY_MS_MAX + 1 },
        { .cache_bytes = -2 },
    };
    pawl_runner *runner = NULL;

    refused(running, pawl_runner_open(NULL, NULL, &runner, &running->error), PAWL_INVALID, "engine");
    refused(running, pawl_runner_open(running->engine, NULL, NULL, &running->error), PAWL_INVALID, "engine");
    refused(running, pawl_runner_open(running->engine, &wrong[0], &runner, &running->error), PAWL_INVALID,
            "PAWL_RUNNER_OPTIONS_INIT");
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        struct pawl_runner_options options = wrong[i];
        options.struct_size = sizeof options;
        refused(running, pawl_runner_open(running->engine, &options, &runner, &running->error), PAWL_INVALID, "range");
    }

    assert_null(runner);
}

TEST_OF(running, a_runner_takes_at_least_one_run_for_each_worker)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    options.workers = 3;
    options.in_flight_max = 1;
    running_register(running, "w", do_nothing, NULL);

    running_start(running, &options);

    for (int i = 0; i < 10; i++) {
        char id[8];
        snprintf(id, sizeof id, "i%d", i);
        running_create(running, "w", id);
    }
    assert_true(running_await_all(running, "w"));
}

TEST_OF(running, no_runner_is_an_error_not_a_crash)
{
    struct pawl_runner_stats stats = { .turns = 1 };
    pawl_turn *turn = NULL;
    pawl_runner *runner;
    int64_t at_ms;
    bool again;
    assert_ok(pawl_runner_open(running->engine, NULL, &runner, &running->error), running->error);

    pawl_runner_close(NULL);
    pawl_runner_stop(NULL);
    pawl_runner_wake(NULL);
    refused(running, pawl_runner_start(NULL, &running->error), PAWL_INVALID, "runner");
    refused(running, pawl_runner_tick(NULL, 0, 0, NULL, &running->error), PAWL_INVALID, "runner");
    refused(running, pawl_runner_tick(runner, -1, 0, NULL, &running->error), PAWL_INVALID, "negative");
    refused(running, pawl_runner_tick(runner, 0, -1, NULL, &running->error), PAWL_INVALID, "negative");
    refused(running, pawl_runner_next_wake_at(NULL, &at_ms, &running->error), PAWL_INVALID, "");
    refused(running, pawl_runner_next_wake_at(runner, NULL, &running->error), PAWL_INVALID, "");
    refused(running, pawl_turn_poll(NULL, &turn, &running->error), PAWL_INVALID, "");
    refused(running, pawl_turn_poll(runner, NULL, &running->error), PAWL_INVALID, "");
    refused(running, pawl_turn_done(NULL, turn, &again, &running->error), PAWL_INVALID, "");
    refused(running, pawl_turn_done(runner, NULL, &again, &running->error), PAWL_INVALID, "");
    refused(running, pawl_runner_renew(NULL, &running->error), PAWL_INVALID, "");
    pawl_runner_stats_read(NULL, &stats);

    assert_int_equal(stats.turns, 0);
    pawl_runner_close(runner);
}

/* As pawl_close() promises. */
TEST_OF(running, a_runner_whose_engine_is_closed_can_only_be_closed)
{
    struct pawl_runner_stats stats;
    pawl_turn *turn = NULL;
    int64_t at_ms;
    pawl_runner *runner, *started = NULL;
    running_register(running, "w", do_nothing, NULL);
    running_start(running, NULL);
    started = running->runner;
    assert_ok(pawl_runner_open(running->engine, NULL, &runner, &running->error), running->error);
    assert_ok(pawl_runner_tick(runner, 0, 0, NULL, &running->error), running->error);
    running_create(running, "w", "i");
    (void)running_await(running, "w", "i", PAWL_COMPLETE);

    pawl_close(running->engine);
    running->engine = NULL;
    running->runner = NULL;

    refused(running, pawl_runner_start(started, &running->error), PAWL_INVALID, "open");
    refused(running, pawl_runner_tick(runner, 0, 0, NULL, &running->error), PAWL_INVALID, "");
    refused(running, pawl_runner_next_wake_at(runner, &at_ms, &running->error), PAWL_INVALID, "");
    refused(running, pawl_turn_poll(runner, &turn, &running->error), PAWL_INVALID, "");
    assert_int_equal(pawl_runner_renew(runner, &running->error), PAWL_OK);
    pawl_runner_stats_read(started, &stats);
    assert_int_equal(stats.turns, 0);
    pawl_runner_stop(started);
    pawl_runner_wake(started);
    pawl_runner_close(started);
    pawl_runner_close(runner);
}

/* ---- Values ------------------------------------------------------------------------------------------------------------ */

TEST_OF(running, a_value_is_parsed_from_a_text_into_a_scope)
{
    pawl_value *value = NULL;
    const char *text;
    size_t size;

    refused(running, pawl_value_parse(NULL, "1", 1, &value, &running->error), PAWL_INVALID, "");
    refused(running, pawl_value_parse(running->scope, NULL, 1, &value, &running->error), PAWL_INVALID, "");
    refused(running, pawl_value_parse(running->scope, "1", 1, NULL, &running->error), PAWL_INVALID, "");
    assert_int_equal(pawl_value_pack(NULL, &value, "i", 1), PAWL_INVALID);
    assert_int_equal(pawl_value_pack(running->scope, NULL, "i", 1), PAWL_INVALID);
    assert_int_equal(pawl_value_pack(running->scope, &value, NULL), PAWL_INVALID);
    assert_int_equal(pawl_value_text(NULL, NULL, &text, &size), PAWL_INVALID);
    assert_null(pawl_scope_format(NULL, "%d", 1));

    assert_null(value);
}
