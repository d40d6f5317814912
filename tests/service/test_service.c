/* Creating and looking at single instances, and what the services do with wrong arguments. */
#include "kit/service_world.h"

#include "service/service.h"

static pawl_status create(struct world *world, const char *id, const char *params, struct pawl_instance *out)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    options.id = id;
    options.params_json = params;
    return pawl_create(world->engine, world->scope, "order", &options, out, &world->error);
}

/* ---- Create -------------------------------------------------------------------------------------------------- */

TEST_OF(world, create_answers_a_queued_instance)
{
    struct pawl_instance made;

    assert_int_equal(create(world, "a-1", " {\"n\" : 1.0} ", &made), PAWL_OK);

    assert_string_equal(made.workflow, "order");
    assert_string_equal(made.id, "a-1");
    assert_int_equal(made.run_number, 1);
    assert_int_equal(made.status, PAWL_ACTIVE);
    assert_int_equal(made.phase, PAWL_PHASE_QUEUED);
    assert_string_equal(made.params_json, " {\"n\" : 1.0} ");
    assert_null(made.output_json);
    assert_null(made.error_name);
    assert_int_equal(made.created_at_ms, WORLD_START_MS);
    assert_int_equal(made.started_at_ms, 0);
    assert_null(made.current_step);
}

TEST_OF(world, what_create_answers_is_what_get_reads)
{
    struct pawl_instance made;
    assert_int_equal(create(world, "a-1", "{\"b\":[null,false,0,\"\"]}", &made), PAWL_OK);

    struct pawl_instance read = world_get(world, "a-1");

    assert_string_equal(read.workflow, made.workflow);
    assert_string_equal(read.id, made.id);
    assert_string_equal(read.params_json, made.params_json);
    assert_int_equal(read.run_number, made.run_number);
    assert_int_equal(read.status, made.status);
    assert_int_equal(read.phase, made.phase);
    assert_int_equal(read.created_at_ms, made.created_at_ms);
    assert_int_equal(read.updated_at_ms, made.updated_at_ms);
    assert_int_equal(read.started_at_ms, made.started_at_ms);
    assert_int_equal(read.completed_at_ms, made.completed_at_ms);
}

TEST_OF(world, no_params_and_null_params_are_different)
{
    struct pawl_instance made;
    assert_int_equal(create(world, "none", NULL, &made), PAWL_OK);
    assert_int_equal(create(world, "null", "null", &made), PAWL_OK);

    struct pawl_instance none = world_get(world, "none"), null = world_get(world, "null");

    assert_null(none.params_json);
    assert_string_equal(null.params_json, "null");
}

TEST_OF(world, ids_are_generated_when_none_is_given)
{
    struct pawl_instance first, second;

    assert_int_equal(pawl_create(world->engine, world->scope, "order", NULL, &first, NULL), PAWL_OK);
    assert_int_equal(pawl_create(world->engine, world->scope, "order", NULL, &second, NULL), PAWL_OK);

    assert_int_equal(strlen(first.id), 26);
    assert_string_not_equal(first.id, second.id);
    assert_string_equal(world_get(world, first.id).id, first.id);
}

TEST_OF(world, an_id_that_exists_is_refused)
{
    struct pawl_instance made;
    world_create(world, "a");

    pawl_status status = create(world, "a", NULL, &made);

    assert_refused(world, status, PAWL_INSTANCE_ID_ALREADY_EXISTS, "order", "\"a\"", NULL);
}

TEST_OF(world, an_id_that_exists_is_answered_when_asked_for)
{
    struct pawl_instance made;
    assert_int_equal(create(world, "a", "[1]", &made), PAWL_OK);
    world_finish(world, "a", PW_OUTCOME_COMPLETE);

    struct pawl_create_options options = { sizeof options, "a", "[2]", true };
    pawl_status status = pawl_create(world->engine, world->scope, "order", &options, &made, &world->error);

    assert_int_equal(status, PAWL_OK);
    assert_int_equal(made.status, PAWL_COMPLETE);
    assert_string_equal(made.params_json, "[1]");
    assert_string_equal(made.output_json, "[1,2]");
    assert_string_equal(world->error.text, "");
}

TEST_OF(world, two_workflows_may_have_the_same_id)
{
    struct pawl_create_options options = { sizeof options, "a", NULL, false };
    struct pawl_instance made;
    world_create(world, "a");

    pawl_status status = pawl_create(world->engine, world->scope, "other", &options, &made, &world->error);

    assert_int_equal(status, PAWL_OK);
    assert_string_equal(made.workflow, "other");
}

TEST_OF(world, instance_ids_have_one_alphabet)
{
    struct pawl_instance made;
    char longest[101], too_long[102];
    memset(longest, 'x', 100);
    longest[100] = '\0';
    memset(too_long, 'x', 101);
    too_long[101] = '\0';
    static const struct {
        const char *id, *says;
    } wrong[] = {
        { "", "empty" },           { "-a", "starts with -" },  { "-", "starts with -" },     { "a b", "position 2" },
        { "a/b", "position 2" },   { "a.b", "position 2" },    { "\xc3\xa4", "position 1" }, { "abc\n", "position 4" },
        { "a\x7f", "position 2" }, { "../etc", "position 1" }, { "a%20", "position 2" },     { "\xff\xfe", "\"??\"" },
    };
    static const char *const right[] = { "a", "0", "_", "_-", "a-", "A_b-9" };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_refused(world, create(world, wrong[i].id, NULL, &made), PAWL_INVALID_INSTANCE_ID, wrong[i].says,
                       "1 to 100 of [a-zA-Z0-9_-], not starting with -", NULL);
    assert_refused(world, create(world, too_long, NULL, &made), PAWL_INVALID_INSTANCE_ID, "101 characters", NULL);
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_int_equal(create(world, right[i], NULL, &made), PAWL_OK);
    assert_int_equal(create(world, longest, NULL, &made), PAWL_OK);

    assert_int_equal(world_list_count(world), sizeof right / sizeof right[0] + 1);
}

TEST_OF(world, params_must_be_json_within_bounds)
{
    struct pawl_instance made;
    static const char *const wrong[] = { "", "{", "nul", "{\"a\":}", "1 2", "\xff", "'a'", "[1,]" };
    enum { MEBIBYTE = 1024 * 1024, DEEP = 129 };
    char *large = malloc(MEBIBYTE + 2), deep[2 * DEEP + 1];
    assert_non_null(large);
    memset(large, 'x', MEBIBYTE + 1);
    large[0] = '"';
    large[MEBIBYTE] = '"';
    large[MEBIBYTE + 1] = '\0';
    memset(deep, '[', DEEP);
    memset(deep + DEEP, ']', DEEP);
    deep[2 * DEEP] = '\0';

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_refused(world, create(world, "a", wrong[i], &made), PAWL_INVALID_JSON, "params", NULL);
    assert_refused(world, create(world, "a", deep, &made), PAWL_INVALID_JSON, "params", "nested", NULL);
    assert_refused(world, create(world, "a", large, &made), PAWL_PAYLOAD_TOO_LARGE, "params", "1048576", NULL);
    assert_int_equal(world_list_count(world), 0);
    large[MEBIBYTE - 1] = '"';
    large[MEBIBYTE] = '\0';
    assert_int_equal(create(world, "a", large, &made), PAWL_OK);

    assert_string_equal(made.params_json, large);
    free(large);
}

TEST_OF(world, a_run_is_handed_to_a_local_runner_that_has_room)
{
    world_start_local(world, 1);

    struct pawl_instance handed = world_create(world, "a"), queued = world_create(world, "b");

    assert_int_equal(handed.phase, PAWL_PHASE_RUNNING);
    assert_int_equal(queued.phase, PAWL_PHASE_QUEUED);
    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_RUNNING);
    assert_int_equal(world_get(world, "a").started_at_ms, handed.started_at_ms);
    assert_int_equal(world->delivered_count, 1);
    assert_string_equal(world->delivered_id[0], "a");
    assert_true(world->delivered[0].is_first);
    assert_int_equal(world->delivered[0].kind, PW_TASK_RUN);
    assert_true(world_fence_holds(world, world->delivered[0].fence));
    assert_int_equal(world_row(world, "a").task.owner, WORLD_OWNER);
    assert_int_equal(world_row(world, "a").task.locked_until_ms, WORLD_START_MS + WORLD_LEASE_MS);
    assert_int_equal(world->woken, 1);
    assert_int_equal(world->cancelled, 0);
}

TEST_OF(world, a_refused_create_gives_its_place_back)
{
    struct pawl_instance made;
    world_create(world, "a");
    world_start_local(world, 1);

    pawl_status status = create(world, "a", NULL, &made);

    assert_refused(world, status, PAWL_INSTANCE_ID_ALREADY_EXISTS, NULL);
    assert_int_equal(world->reserved, 1);
    assert_int_equal(world->cancelled, 1);
    assert_int_equal(world->delivered_count, 0);
    assert_int_equal(world->woken, 0);
}

/* ---- Batch --------------------------------------------------------------------------------------------------- */

static pawl_status create_batch(struct world *world, const struct pawl_batch_item *items, size_t count,
                                struct pawl_instance **out_instances, size_t *out_count)
{
    return pawl_create_batch(world->engine, world->scope, "order", items, count, out_instances, out_count,
                             &world->error);
}

TEST_OF(world, a_batch_skips_ids_that_exist_and_ids_said_twice)
{
    const struct pawl_batch_item items[] = {
        { "a", "1" }, { "known", "2" }, { "b", NULL }, { "a", "3" }, { "c", "4" }
    };
    struct pawl_instance *made;
    size_t count;
    world_create(world, "known");

    assert_int_equal(create_batch(world, items, 5, &made, &count), PAWL_OK);

    assert_int_equal(count, 3);
    assert_string_equal(made[0].id, "a");
    assert_string_equal(made[0].params_json, "1");
    assert_string_equal(made[1].id, "b");
    assert_null(made[1].params_json);
    assert_string_equal(made[2].id, "c");
    assert_int_equal(made[2].created_at_ms, WORLD_START_MS);
    assert_null(world_get(world, "known").params_json);
    assert_string_equal(world_get(world, "a").params_json, "1");
    assert_int_equal(world_list_count(world), 4);
}

TEST_OF(world, a_batch_has_at_most_a_hundred_instances)
{
    struct pawl_batch_item items[101];
    char ids[101][16];
    struct pawl_instance *made;
    size_t count;
    for (int i = 0; i < 101; i++) {
        snprintf(ids[i], sizeof ids[i], "i%d", i);
        items[i] = (struct pawl_batch_item){ ids[i], NULL };
    }

    assert_refused(world, create_batch(world, items, 101, &made, &count), PAWL_INVALID, "100", "101", NULL);
    assert_int_equal(world_list_count(world), 0);
    assert_int_equal(create_batch(world, items, 100, &made, &count), PAWL_OK);

    assert_int_equal(count, 100);
    assert_string_equal(made[99].id, "i99");
    assert_int_equal(world_list_count(world), 100);
}

TEST_OF(world, an_empty_batch_makes_nothing)
{
    struct pawl_instance *made;
    size_t count = 9;

    assert_int_equal(create_batch(world, NULL, 0, &made, &count), PAWL_OK);

    assert_int_equal(count, 0);
}

TEST_OF(world, a_batch_with_one_wrong_item_makes_none_and_says_which)
{
    const struct pawl_batch_item no_id[] = { { "a", NULL }, { NULL, NULL } };
    const struct pawl_batch_item bad_id[] = { { "a", NULL }, { "b", NULL }, { "c d", NULL } };
    const struct pawl_batch_item bad_params[] = { { "a", NULL }, { "b", "{" } };
    struct pawl_instance *made;
    size_t count;

    assert_refused(world, create_batch(world, no_id, 2, &made, &count), PAWL_INVALID_INSTANCE_ID, "instances[1]",
                   "missing", NULL);
    assert_refused(world, create_batch(world, bad_id, 3, &made, &count), PAWL_INVALID_INSTANCE_ID, "instances[2]",
                   "position 2", NULL);
    assert_refused(world, create_batch(world, bad_params, 2, &made, &count), PAWL_INVALID_JSON, "instances[1]",
                   "params", NULL);

    assert_int_equal(world_list_count(world), 0);
}

TEST_OF(world, a_batch_is_handed_off_as_far_as_there_is_room)
{
    const struct pawl_batch_item items[] = { { "known", NULL }, { "a", NULL }, { "b", NULL } };
    struct pawl_instance *made;
    size_t count;
    world_create(world, "known");
    world_start_local(world, 2);

    assert_int_equal(create_batch(world, items, 3, &made, &count), PAWL_OK);

    assert_int_equal(count, 2);
    assert_int_equal(world->cancelled, 1);
    assert_int_equal(world->delivered_count, 1);
    assert_string_equal(world->delivered_id[0], "a");
    assert_true(world_fence_holds(world, world->delivered[0].fence));
    assert_int_equal(made[0].phase, PAWL_PHASE_RUNNING);
    assert_int_equal(made[1].phase, PAWL_PHASE_QUEUED);
    assert_int_equal(world->woken, 1);
}

/* ---- Get ----------------------------------------------------------------------------------------------------- */

TEST_OF(world, the_current_step_is_the_newest_that_waits)
{
    world_create(world, "a");
    assert_null(world_get(world, "a").current_step);
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    world_wait(world, "a", 2, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1000);
    world_wait(world, "a", 3, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 2000);
    world_add_step(world, "a", 4, PAWL_STEP_DO, PAWL_STEP_COMPLETED);

    struct pawl_instance waiting = world_get(world, "a");

    assert_int_equal(waiting.status, PAWL_WAITING);
    assert_int_equal(waiting.phase, PAWL_PHASE_WAITING);
    assert_string_equal(waiting.current_step->name, "step-3");
    assert_int_equal(waiting.current_step->kind, PAWL_STEP_EVENT);
    assert_int_equal(waiting.current_step->status, PAWL_STEP_WAITING);
    assert_string_equal(waiting.current_step->waits_for->event_type, "paid");
    assert_int_equal(waiting.current_step->wake_at_ms, WORLD_START_MS + 2000);
    assert_int_equal(waiting.current_step->run_number, 1);
}

TEST_OF(world, with_no_step_waiting_the_current_step_is_the_newest)
{
    world_create(world, "a");
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    world_add_step(world, "a", 2, PAWL_STEP_DO, PAWL_STEP_ERRORED);

    struct pawl_instance active = world_get(world, "a");
    world_finish(world, "a", PW_OUTCOME_ERRORED);
    struct pawl_instance errored = world_get(world, "a");

    assert_string_equal(active.current_step->name, "step-2");
    assert_string_equal(errored.current_step->name, "step-2");
    assert_string_equal(errored.current_step->result_json, "{\"ok\":true}");
    assert_int_equal(errored.status, PAWL_ERRORED);
    assert_int_equal(errored.phase, PAWL_PHASE_ERRORED);
    assert_string_equal(errored.error_name, "CardDeclined");
    assert_string_equal(errored.error_message, "no \"funds\"");
    assert_int_equal(errored.completed_at_ms, WORLD_START_MS);
}

TEST_OF(world, a_claimed_instance_is_running)
{
    world_create(world, "a");
    world->now_ms += 5;

    world_claim(world);

    struct pawl_instance instance = world_get(world, "a");
    assert_int_equal(instance.status, PAWL_ACTIVE);
    assert_int_equal(instance.phase, PAWL_PHASE_RUNNING);
    assert_int_equal(instance.started_at_ms, WORLD_START_MS + 5);
    assert_int_equal(instance.created_at_ms, WORLD_START_MS);
}

TEST_OF(world, workflows_are_listed_by_name)
{
    const struct pawl_workflow_info *workflows;
    size_t count;

    assert_int_equal(pawl_list_workflows(world->engine, world->scope, &workflows, &count), PAWL_OK);

    assert_int_equal(count, 2);
    assert_string_equal(workflows[0].name, "order");
    assert_null(workflows[0].description);
    assert_int_equal(workflows[0].tag_count, 0);
    assert_string_equal(workflows[1].name, "other");
    assert_string_equal(workflows[1].description, "another");
    assert_int_equal(workflows[1].tag_count, 2);
    assert_string_equal(workflows[1].tags[1], "money");
}

TEST_OF(world, a_workflow_is_found_by_its_name)
{
    struct pawl_workflow_info workflow;
    struct pawl_error error;

    assert_int_equal(pawl_find_workflow(world->engine, "other", &workflow, &error), PAWL_OK);
    assert_string_equal(workflow.name, "other");
    assert_string_equal(workflow.description, "another");
    assert_int_equal(workflow.tag_count, 2);

    assert_int_equal(pawl_find_workflow(world->engine, "nobody", &workflow, &error), PAWL_WORKFLOW_NOT_FOUND);
    assert_string_equal(error.text, "no workflow named \"nobody\" is registered");
}

/* ---- Wrong arguments ----------------------------------------------------------------------------------------- */

TEST_OF(world, every_call_names_a_workflow_that_is_not_registered)
{
    pawl_engine *engine = world->engine;
    pawl_scope *scope = world->scope;
    struct pawl_error *error = &world->error;
    struct pawl_instance instance, *instances;
    struct pawl_instance_page page;
    struct pawl_instance_counts counts;
    struct pawl_history history;
    size_t count;
    const pawl_status answers[] = {
        pawl_create(engine, scope, "none", NULL, &instance, error),
        pawl_create_batch(engine, scope, "none", NULL, 0, &instances, &count, error),
        pawl_get(engine, scope, "none", "a", &instance, error),
        pawl_list(engine, scope, "none", NULL, &page, error),
        pawl_count(engine, "none", &counts, error),
        pawl_get_history(engine, scope, "none", "a", NULL, &history, error),
        pawl_pause(engine, "none", "a", error),
        pawl_resume(engine, "none", "a", error),
        pawl_terminate(engine, "none", "a", error),
        pawl_restart(engine, "none", "a", error),
        pawl_send_event(engine, scope, "none", "a", NULL, NULL, error),
    };

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        assert_int_equal(answers[i], PAWL_WORKFLOW_NOT_FOUND);
    assert_refused(world, answers[0], PAWL_WORKFLOW_NOT_FOUND, "none", NULL);
}

TEST_OF(world, every_call_that_names_an_instance_checks_its_id_and_finds_it)
{
    pawl_engine *engine = world->engine;
    struct pawl_send_event_options event = { sizeof event, "paid", NULL, NULL };
    struct pawl_instance instance;
    struct pawl_history history;
    static const struct {
        const char *id;
        pawl_status expected;
        const char *says;
    } cases[] = {
        { "a b", PAWL_INVALID_INSTANCE_ID, "position 2" },
        { "nobody", PAWL_INSTANCE_NOT_FOUND, "\"nobody\"" },
        { NULL, PAWL_INVALID, "id is missing" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *id = cases[i].id, *says = cases[i].says;
        struct pawl_error *error = &world->error;
        pawl_status expected = cases[i].expected;
        assert_refused(world, pawl_get(engine, world->scope, "order", id, &instance, error), expected, says, NULL);
        assert_refused(world, pawl_get_history(engine, world->scope, "order", id, NULL, &history, error), expected,
                       says, NULL);
        assert_refused(world, pawl_pause(engine, "order", id, error), expected, says, NULL);
        assert_refused(world, pawl_resume(engine, "order", id, error), expected, says, NULL);
        assert_refused(world, pawl_terminate(engine, "order", id, error), expected, says, NULL);
        assert_refused(world, pawl_restart(engine, "order", id, error), expected, says, NULL);
        assert_refused(world, pawl_send_event(engine, NULL, "order", id, &event, NULL, error), expected, says, NULL);
    }
}

TEST_OF(world, missing_arguments_are_invalid)
{
    pawl_engine *engine = world->engine;
    pawl_scope *scope = world->scope;
    struct pawl_error *error = &world->error;
    struct pawl_send_event_options event = { sizeof event, "paid", NULL, NULL };
    struct pawl_batch_item item = { "x", NULL };
    struct pawl_instance instance, *instances;
    struct pawl_instance_page page;
    struct pawl_instance_counts counts;
    struct pawl_history history;
    const struct pawl_workflow_info *workflows;
    struct pawl_workflow_info workflow;
    size_t count;
    world_create(world, "a");
    const pawl_status answers[] = {
        pawl_create(NULL, scope, "order", NULL, &instance, error),
        pawl_create(engine, NULL, "order", NULL, &instance, error),
        pawl_create(engine, scope, NULL, NULL, &instance, error),
        pawl_create(engine, scope, "order", NULL, NULL, error),
        pawl_create_batch(engine, NULL, "order", &item, 1, &instances, &count, error),
        pawl_create_batch(engine, scope, "order", NULL, 1, &instances, &count, error),
        pawl_create_batch(engine, scope, "order", &item, 1, NULL, &count, error),
        pawl_create_batch(engine, scope, "order", &item, 1, &instances, NULL, error),
        pawl_list_workflows(NULL, scope, &workflows, &count),
        pawl_list_workflows(engine, NULL, &workflows, &count),
        pawl_list_workflows(engine, scope, NULL, &count),
        pawl_list_workflows(engine, scope, &workflows, NULL),
        pawl_find_workflow(NULL, "order", &workflow, error),
        pawl_find_workflow(engine, NULL, &workflow, error),
        pawl_find_workflow(engine, "order", NULL, error),
        pawl_get(NULL, scope, "order", "a", &instance, error),
        pawl_get(engine, NULL, "order", "a", &instance, error),
        pawl_get(engine, scope, "order", "a", NULL, error),
        pawl_list(engine, NULL, "order", NULL, &page, error),
        pawl_list(engine, scope, "order", NULL, NULL, error),
        pawl_count(NULL, "order", &counts, error),
        pawl_count(engine, "order", NULL, error),
        pawl_get_history(engine, NULL, "order", "a", NULL, &history, error),
        pawl_get_history(engine, scope, "order", "a", NULL, NULL, error),
        pawl_pause(NULL, "order", "a", error),
        pawl_resume(engine, NULL, "a", error),
        pawl_terminate(engine, "order", NULL, error),
        pawl_restart(NULL, NULL, NULL, error),
        pawl_send_event(NULL, scope, "order", "a", &event, NULL, error),
        pawl_send_event(engine, NULL, "order", "a", &event, &instance, error),
    };

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        assert_int_equal(answers[i], PAWL_INVALID);
    assert_int_equal(pawl_pause(NULL, NULL, NULL, NULL), PAWL_INVALID);
    assert_int_equal(world_list_count(world), 1);
    assert_int_equal(world_history(world, "a", 1).event_count, 0);
}

TEST_OF(world, options_of_a_newer_header_are_refused_and_of_an_older_one_filled_up)
{
    struct pawl_instance made;
    struct pawl_create_options options = { sizeof options + 8, "newer", "[1]", false };

    pawl_status newer = pawl_create(world->engine, world->scope, "order", &options, &made, &world->error);
    assert_refused(world, newer, PAWL_INVALID, "newer header", NULL);
    options.struct_size = 0;
    pawl_status zero = pawl_create(world->engine, world->scope, "order", &options, &made, &world->error);
    assert_refused(world, zero, PAWL_INVALID, "struct_size", NULL);
    options.struct_size = offsetof(struct pawl_create_options, params_json);
    options.id = "older";
    pawl_status older = pawl_create(world->engine, world->scope, "order", &options, &made, &world->error);

    assert_int_equal(older, PAWL_OK);
    assert_string_equal(made.id, "older");
    assert_null(made.params_json);
}

TEST_OF(world, names_are_those_of_the_http_api)
{
    static const char *const statuses[] = { "active", "waiting", "paused", "complete", "terminated", "errored" };
    enum pawl_instance_status status;

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        assert_int_equal(pawl_instance_status_parse(statuses[i], &status, &world->error), PAWL_OK);
        assert_int_equal(status, i);
        assert_string_equal(pawl_instance_status_name(status), statuses[i]);
    }
    assert_refused(world, pawl_instance_status_parse("done", &status, &world->error), PAWL_INVALID, "\"done\"",
                   "active, waiting", NULL);
    assert_refused(world, pawl_instance_status_parse("", &status, &world->error), PAWL_INVALID, NULL);
    assert_refused(world, pawl_instance_status_parse(NULL, &status, &world->error), PAWL_INVALID, NULL);
    assert_string_equal(pawl_phase_name(PAWL_PHASE_WAITING_FOR_PAUSE), "waitingForPause");
    assert_string_equal(pawl_phase_name(PAWL_PHASE_QUEUED), "queued");
    assert_string_equal(pawl_demand_name(PAWL_DEMAND_NONE), "none");
    assert_string_equal(pawl_demand_name(PAWL_DEMAND_INTERRUPT), "interrupt");
    assert_string_equal(pawl_demand_name(PAWL_DEMAND_ROLLBACK), "rollback");
    assert_string_equal(pawl_demand_name(PAWL_DEMAND_TERMINATE), "terminate");
    assert_string_equal(pawl_step_kind_name(PAWL_STEP_EVENT), "waitForEvent");
    assert_string_equal(pawl_step_status_name(PAWL_STEP_COMPLETED), "completed");
    assert_string_equal(pawl_step_state_name(PAWL_STATE_GIVEN_UP), "givenUp");
    assert_string_equal(pawl_log_level_name(PAWL_LOG_WARN), "warn");
}

TEST_OF(world, a_value_that_no_enum_has_is_unknown)
{
    assert_string_equal(pawl_instance_status_name((enum pawl_instance_status)99), "unknown");
    assert_string_equal(pawl_phase_name((enum pawl_phase)99), "unknown");
    assert_string_equal(pawl_demand_name((enum pawl_demand)99), "unknown");
    assert_string_equal(pawl_step_kind_name((enum pawl_step_kind)99), "unknown");
    assert_string_equal(pawl_step_status_name((enum pawl_step_status)99), "unknown");
    assert_string_equal(pawl_step_state_name((enum pawl_step_state)99), "unknown");
    assert_string_equal(pawl_log_level_name((enum pawl_log_level)99), "unknown");
    assert_refused(world, pawl_instance_status_parse("active", NULL, &world->error), PAWL_INVALID, "out_status", NULL);
}

/* ---- Into somebody else's unit of work ------------------------------------------------------------------------ */

TEST_OF(world, an_instance_can_be_made_in_another_unit)
{
    struct pw_unit unit;
    const struct pw_text absent = { NULL, 0 };
    pw_unit_init(&unit);

    assert_int_equal(pw_service_add_create(world->engine, &unit, NULL, pw_text_of("order"), pw_text_of("child"),
                                           pw_text_of("7"), &world->error),
                     PAWL_OK);
    assert_int_equal(
        pw_service_add_create(world->engine, &unit, NULL, pw_text_of("order"), absent, absent, &world->error), PAWL_OK);
    assert_int_equal(world_list_count(world), 0);
    world_commit(world, &unit);

    assert_int_equal(world_list_count(world), 2);
    assert_string_equal(world_get(world, "child").params_json, "7");
}

TEST_OF(world, an_instance_in_another_unit_is_checked_and_refuses_the_whole_when_it_exists)
{
    struct pw_unit unit;
    const struct pw_text absent = { NULL, 0 }, order = pw_text_of("order");
    pw_unit_init(&unit);
    world_create(world, "there");

    assert_refused(world,
                   pw_service_add_create(world->engine, &unit, NULL, pw_text_of("none"), absent, absent, &world->error),
                   PAWL_WORKFLOW_NOT_FOUND, "none", NULL);
    assert_refused(world,
                   pw_service_add_create(world->engine, &unit, NULL, order, pw_text_of("a b"), absent, &world->error),
                   PAWL_INVALID_INSTANCE_ID, NULL);
    assert_refused(world,
                   pw_service_add_create(world->engine, &unit, NULL, order, absent, pw_text_of("{"), &world->error),
                   PAWL_INVALID_JSON, NULL);
    assert_int_equal(pw_service_add_create(world->engine, &unit, NULL, order, pw_text_of("new"), absent, NULL),
                     PAWL_OK);
    assert_int_equal(pw_service_add_create(world->engine, &unit, NULL, order, pw_text_of("there"), absent, NULL),
                     PAWL_OK);
    pawl_status status = pw_commit_run(world->engine->commit, &unit);

    assert_int_equal(status, PAWL_INSTANCE_ID_ALREADY_EXISTS);
    assert_int_equal(world_list_count(world), 1);
    pw_unit_clear(&unit);
}
