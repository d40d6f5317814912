/* Instances that another one made: how each knows the other, and how the end of one is told (contract A14). */
#include "kit/service_world.h"

#include "service/service.h"

/* ---- Knowing each other -------------------------------------------------------------------------------------------- */

static struct pawl_instance get_other(struct world *world, const char *id)
{
    struct pawl_instance instance;
    assert_int_equal(pawl_get(world->engine, world->scope, "other", id, &instance, &world->error), PAWL_OK);
    return instance;
}

static struct pawl_instance_page children_of(struct world *world, const char *id, int32_t page_size,
                                             enum pawl_order order, const char *cursor)
{
    const struct pawl_list_options options = world_page(page_size, order, cursor);
    struct pawl_instance_page page;
    assert_int_equal(pawl_list_children(world->engine, world->scope, "order", id, &options, &page, &world->error),
                     PAWL_OK);
    return page;
}

TEST_OF(world, a_child_knows_its_parent)
{
    world_create(world, "a");
    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "attached", "[1]");
    world_make(world, "a", PW_RELATION_DETACHED, "other", "detached", NULL);
    world_make(world, "a", PW_RELATION_NONE, "other", "free", NULL);

    struct pawl_instance attached = get_other(world, "attached"), detached = get_other(world, "detached");
    assert_string_equal(attached.params_json, "[1]");
    assert_string_equal(attached.parent->workflow, "order");
    assert_string_equal(attached.parent->id, "a");
    assert_int_equal(attached.parent->run_number, 2);
    assert_true(attached.parent->is_attached);
    assert_false(detached.parent->is_attached);
    assert_string_equal(get_other(world, "free").parent->id, "a"); /* which hears nothing of it */
    assert_false(get_other(world, "free").parent->is_attached);
    assert_null(world_get(world, "a").parent);
}

TEST_OF(world, children_are_listed_whatever_their_workflow_and_status_and_jobs_are_not)
{
    world_create(world, "a");
    world_create(world, "b");
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "first", NULL);
    world_make(world, "a", PW_RELATION_JOB, "@charge", "job", "{}");
    world_make(world, "b", PW_RELATION_ATTACHED, "other", "not-mine", NULL);
    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);
    world_make(world, "a", PW_RELATION_DETACHED, "order", "second", NULL);
    world_finish(world, "second", PW_OUTCOME_COMPLETE);

    struct pawl_instance_page page = children_of(world, "a", 0, PAWL_OLDEST_FIRST, NULL);
    assert_int_equal(page.count, 2);
    assert_null(page.cursor);
    assert_string_equal(page.instances[0].workflow, "other");
    assert_string_equal(page.instances[0].id, "first");
    assert_int_equal(page.instances[0].parent->run_number, 1);
    assert_string_equal(page.instances[1].id, "second");
    assert_int_equal(page.instances[1].status, PAWL_COMPLETE);
    assert_int_equal(page.instances[1].parent->run_number, 2);
    assert_string_equal(page.instances[1].parent->id, "a");
    assert_string_equal(children_of(world, "a", 0, PAWL_NEWEST_FIRST, NULL).instances[0].id, "second");
    assert_int_equal(children_of(world, "second", 0, PAWL_NEWEST_FIRST, NULL).count, 0);
}

/* More jobs than a page has rows lie between any two children. */
TEST_OF(world, pages_of_children_reach_past_any_number_of_jobs)
{
    char id[32];
    world_create(world, "a");
    for (int i = 0; i < 20; i++) {
        bool is_child = i % 4 == 3;
        snprintf(id, sizeof id, "%s-%d", is_child ? "child" : "job", i);
        world_make(world, "a", is_child ? PW_RELATION_ATTACHED : PW_RELATION_JOB, is_child ? "other" : "@charge", id,
                   "{}");
    }
    for (int order = PAWL_NEWEST_FIRST; order <= PAWL_OLDEST_FIRST; order++) {
        const char *cursor = NULL;
        int pages = 0, seen = 0;
        do {
            struct pawl_instance_page page = children_of(world, "a", 2, (enum pawl_order)order, cursor);
            for (size_t i = 0; i < page.count; i++, seen++) {
                snprintf(id, sizeof id, "child-%d", order == PAWL_OLDEST_FIRST ? 3 + 4 * seen : 19 - 4 * seen);
                assert_string_equal(page.instances[i].id, id);
            }
            cursor = page.cursor;
            pages++;
        } while (cursor != NULL);
        assert_int_equal(seen, 5);
        assert_int_equal(pages, 3);
    }
}

/* The store's list ends early because of the bytes of jobs, which are not given out. */
TEST_OF(world, pages_of_children_reach_past_large_jobs)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    char large[200];
    memset(large, ' ', sizeof large - 1);
    memcpy(large, "{}", 2);
    large[sizeof large - 1] = '\0';
    world_create(world, "a");
    world_make(world, "a", PW_RELATION_JOB, "@charge", "job-1", large);
    world_make(world, "a", PW_RELATION_JOB, "@charge", "job-2", large);
    world_make(world, "a", PW_RELATION_JOB, "@charge", "job-3", large);
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "child-1", "{}");
    world_make(world, "a", PW_RELATION_JOB, "@charge", "job-4", large);
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "child-2", large);
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "child-3", "{}");

    options.order = PAWL_OLDEST_FIRST;
    options.page_bytes_max = 100;
    for (int child = 1; child <= 3; child++) {
        char id[32];
        snprintf(id, sizeof id, "child-%d", child);
        assert_int_equal(pawl_list_children(world->engine, world->scope, "order", "a", &options, &page, &world->error),
                         PAWL_OK);
        assert_int_equal(page.count, 1); /* the second does not fit beside another */
        assert_string_equal(page.instances[0].id, id);
        assert_int_equal(page.cursor != NULL, child < 3);
        options.cursor = page.cursor;
    }
}

TEST_OF(world, a_listing_of_children_is_checked_as_any_other)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    world_create(world, "a");
    world_create(world, "b");
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "1", NULL);
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "2", NULL);
    options.page_size = 1;
    options.cursor = children_of(world, "a", 1, PAWL_NEWEST_FIRST, NULL).cursor;

    assert_refused(world, pawl_list_children(world->engine, world->scope, "order", "b", &options, &page, &world->error),
                   PAWL_INVALID_CURSOR, NULL);
    assert_refused(world, pawl_list(world->engine, world->scope, "order", &options, &page, &world->error),
                   PAWL_INVALID_CURSOR, NULL);
    options.cursor = NULL;
    options.has_status = true;
    assert_refused(world, pawl_list_children(world->engine, world->scope, "order", "a", &options, &page, &world->error),
                   PAWL_INVALID, "status", NULL);
    assert_refused(world,
                   pawl_list_children(world->engine, world->scope, "order", "nobody", NULL, &page, &world->error),
                   PAWL_INSTANCE_NOT_FOUND, NULL);
    assert_refused(world, pawl_list_children(world->engine, NULL, "order", "a", NULL, &page, &world->error),
                   PAWL_INVALID, "scope", NULL);
    assert_refused(world, pawl_list_children(world->engine, world->scope, "order", "a", NULL, NULL, &world->error),
                   PAWL_INVALID, "out_page", NULL);
}

/* ---- Telling of an end ----------------------------------------------------------------------------------------------- */

/* Ends "other" `id` as a turn does. */
static void end_child(struct world *world, const char *id, const struct pw_outcome_told *told)
{
    struct pw_instance row = world_row_of(world, "other", id);
    struct pw_unit unit;
    pw_unit_init(&unit);
    pw_unit_add(&unit, PW_OP_FENCE)->as.fence.at = (struct pw_fence){ row.key, row.run, row.task.epoch };
    struct pw_op_finish *finish = &pw_unit_add(&unit, PW_OP_FINISH)->as.finish;
    *finish = (struct pw_op_finish){ .instance = row.key, .outcome = told->outcome, .output = told->output };
    assert_int_equal(pw_service_answer(world->engine, &unit.arena, &row.link, pw_text_of("other"), pw_text_of(id), told,
                                       &finish->answer),
                     PAWL_OK);
    assert_int_equal(finish->answer->offer.owner, 0); /* nobody offers here: there is nothing to settle */
    world_commit(world, &unit);
}

static void assert_told(struct world *world, size_t at, bool is_failure, const char *type, const char *payload)
{
    struct pawl_history history = world_history(world, "a", 0);
    assert_true(history.event_count > at);
    assert_string_equal(history.events[at].type, type);
    assert_string_equal(history.events[at].id, type);
    assert_int_equal(history.events[at].is_failure, is_failure);
    if (payload != NULL)
        assert_string_equal(history.events[at].payload_json, payload);
    else
        assert_null(history.events[at].payload_json);
}

TEST_OF(world, every_end_is_told_in_its_own_form)
{
    const struct pw_outcome_told ends[] = {
        { .outcome = PW_OUTCOME_COMPLETE, .output = pw_text_of("{ \"n\" : 1 }") },
        { .outcome = PW_OUTCOME_COMPLETE },
        { .outcome = PW_OUTCOME_ERRORED,
          .error_name = pw_text_of("No\"Funds"),
          .error_message = pw_text_of("none\n"),
          .may_retry = true },
        { .outcome = PW_OUTCOME_TERMINATED },
        { .outcome = PW_OUTCOME_TERMINATED,
          .error_name = pw_text_of("INTERRUPTED"),
          .error_message = pw_text_of("the run was interrupted") },
        { .outcome = PW_OUTCOME_ERRORED, .error_name = pw_text_of("\xff"), .error_message = { NULL, 0 } },
    };
    char id[4];
    world_create(world, "a");
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(id, sizeof id, "%zu", i);
        world_make(world, "a", i % 2 == 0 ? PW_RELATION_ATTACHED : PW_RELATION_DETACHED, "other", id, NULL);
        end_child(world, id, &ends[i]);
    }

    assert_told(world, 0, false, "$other/0", "{ \"n\" : 1 }");
    assert_told(world, 1, false, "$other/1", NULL);
    assert_told(world, 2, true, "$other/2", "{\"name\":\"No\\\"Funds\",\"message\":\"none\\n\",\"retry\":true}");
    assert_told(world, 3, true, "$other/3",
                "{\"name\":\"CHILD_TERMINATED\",\"message\":\"the child was terminated\",\"retry\":false}");
    assert_told(world, 4, true, "$other/4",
                "{\"name\":\"CHILD_TERMINATED\",\"message\":\"INTERRUPTED: the run was interrupted\",\"retry\":false}");
    assert_told(world, 5, true, "$other/5",
                "{\"name\":\"(a text that is not UTF-8)\",\"message\":\"\",\"retry\":false}");
}

TEST_OF(world, each_run_of_a_child_is_told_of_once)
{
    const struct pw_outcome_told failed = { .outcome = PW_OUTCOME_TERMINATED };
    const struct pw_outcome_told done = { .outcome = PW_OUTCOME_COMPLETE };
    world_create(world, "a");
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "1", NULL);
    end_child(world, "1", &failed);
    assert_int_equal(pawl_restart(world->engine, "other", "1", &world->error), PAWL_OK);
    end_child(world, "1", &done);

    struct pawl_history history = world_history(world, "a", 0);
    assert_int_equal(history.event_count, 2);
    assert_told(world, 0, true, "$other/1",
                "{\"name\":\"CHILD_TERMINATED\",\"message\":\"the child was terminated\",\"retry\":false}");
    assert_string_equal(history.events[1].type, "$other/1");
    assert_string_equal(history.events[1].id, "$other/1#2");
    assert_false(history.events[1].is_failure);
}

TEST_OF(world, what_has_no_parent_tells_nobody)
{
    const struct pw_link none = { .parent = 0 };
    const struct pw_outcome_told told = { .outcome = PW_OUTCOME_COMPLETE };
    struct pw_op_event *answer;
    struct pw_arena arena = { 0 };

    assert_int_equal(
        pw_service_answer(world->engine, &arena, &none, pw_text_of("other"), pw_text_of("x"), &told, &answer), PAWL_OK);

    assert_null(answer);
    pw_arena_clear(&arena);
}

TEST_OF(world, a_parent_that_waits_is_woken_and_one_that_is_busy_hears_of_it)
{
    const struct pw_outcome_told told = { .outcome = PW_OUTCOME_COMPLETE, .output = pw_text_of("1") };
    world_create(world, "a");
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "first", NULL);
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "second", NULL);
    world_wait(world, "a", 1, PAWL_STEP_CHILD, "$other/first", INT64_MAX);
    world_start_local(world, 0);

    end_child(world, "first", &told);
    assert_int_equal(world->woken, 1);
    assert_int_equal(world_claim(world).kind, PW_TASK_WAKE);
    assert_int_equal(world->told_of_events, 0);

    end_child(world, "second", &told);
    assert_int_equal(world->woken, 1);
    assert_int_equal(world->told_of_events, 1);
}

TEST_OF(world, what_a_child_step_waits_for_is_shown_by_its_name)
{
    world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_CHILD, "$other/first", INT64_MAX);

    const struct pawl_waits_for *awaited = world_get(world, "a").current_step->waits_for;
    assert_string_equal(awaited->workflow, "other");
    assert_string_equal(awaited->id, "first");
    assert_null(awaited->function);
    assert_null(awaited->event_type);
    assert_int_equal(awaited->until_ms, 0);
    assert_string_equal(pawl_step_kind_name(world_get(world, "a").current_step->kind), "child");
}

/* ---- Making one --------------------------------------------------------------------------------------------------------- */

TEST_OF(world, a_job_needs_no_definition_but_a_function_name)
{
    const struct pw_link job = { 1, 1, PW_RELATION_JOB }, child = { 1, 1, PW_RELATION_ATTACHED };
    const struct pw_text none = { NULL, 0 };
    struct pw_unit unit;
    pw_unit_init(&unit);

    assert_int_equal(
        pw_service_add_create(world->engine, &unit, &job, pw_text_of("@pay.charge"), none, none, &world->error),
        PAWL_OK);
    assert_true(unit.last->as.create.id.size > 0);
    assert_refused(world,
                   pw_service_add_create(world->engine, &unit, &job, pw_text_of("order"), none, none, &world->error),
                   PAWL_INVALID_FUNCTION_NAME, NULL);
    assert_refused(world, pw_service_add_create(world->engine, &unit, &job, pw_text_of("@"), none, none, &world->error),
                   PAWL_INVALID_FUNCTION_NAME, NULL);
    assert_refused(
        world,
        pw_service_add_create(world->engine, &unit, &child, pw_text_of("@pay.charge"), none, none, &world->error),
        PAWL_WORKFLOW_NOT_FOUND, NULL);
    pw_unit_clear(&unit);
}
