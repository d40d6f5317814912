/* The runs of an instance: how each ended is kept when a restart begins the next one (contract B5). */
#include "kit/service_world.h"

static struct pawl_instance get_run(struct world *world, const char *id, int64_t run)
{
    struct pawl_instance instance;
    assert_int_equal(pawl_get_run(world->engine, world->scope, "order", id, run, &instance, &world->error), PAWL_OK);
    return instance;
}

static struct pawl_instance_page list_runs(struct world *world, const char *id, int32_t page_size,
                                           enum pawl_order order, const char *cursor)
{
    const struct pawl_list_options options = world_page(page_size, order, cursor);
    struct pawl_instance_page page;
    assert_int_equal(pawl_list_runs(world->engine, world->scope, "order", id, &options, &page, &world->error), PAWL_OK);
    return page;
}

static void restart(struct world *world, const char *id)
{
    assert_int_equal(pawl_restart(world->engine, "order", id, &world->error), PAWL_OK);
}

static void create_with_params(struct world *world, const char *id)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.id = id;
    options.params_json = "[5]";
    assert_int_equal(pawl_create(world->engine, world->scope, "order", &options, &instance, &world->error), PAWL_OK);
}

TEST_OF(world, an_earlier_run_answers_how_it_ended_and_the_params)
{
    create_with_params(world, "a");
    (void)world_claim(world);
    world->now_ms += 1000;
    world_finish(world, "a", PW_OUTCOME_ERRORED);
    struct pawl_instance before = world_get(world, "a");
    world->now_ms += 1000;
    restart(world, "a");
    world->now_ms += 1000;

    struct pawl_instance run = get_run(world, "a", 1);
    assert_int_equal(run.run_number, 1);
    assert_int_equal(run.status, PAWL_ERRORED);
    assert_int_equal(run.phase, PAWL_PHASE_ERRORED);
    assert_string_equal(run.params_json, "[5]");
    assert_string_equal(run.error_name, before.error_name);
    assert_string_equal(run.error_message, before.error_message);
    assert_int_equal(run.created_at_ms, WORLD_START_MS);
    assert_int_equal(run.started_at_ms, WORLD_START_MS);
    assert_int_equal(run.completed_at_ms, WORLD_START_MS + 1000);
    assert_int_equal(run.replaced_at_ms, WORLD_START_MS + 2000);
    assert_false(run.is_unrecorded);
    assert_null(run.current_step);

    struct pawl_instance newest = get_run(world, "a", 2), current = get_run(world, "a", 0);
    assert_int_equal(newest.status, PAWL_ACTIVE);
    assert_int_equal(newest.replaced_at_ms, 0);
    assert_int_equal(current.run_number, 2);
}

TEST_OF(world, a_run_that_a_restart_cut_off_is_terminated_with_the_error_RESTARTED)
{
    (void)world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_EVENT, "go", 0);
    restart(world, "a");
    struct pawl_instance run = get_run(world, "a", 1);
    assert_int_equal(run.status, PAWL_TERMINATED);
    assert_string_equal(run.error_name, "RESTARTED");
    assert_int_equal(run.completed_at_ms, run.replaced_at_ms);
}

TEST_OF(world, a_run_that_the_instance_has_not_had_is_refused)
{
    struct pawl_instance instance;
    (void)world_create(world, "a");
    assert_refused(world, pawl_get_run(world->engine, world->scope, "order", "a", 2, &instance, &world->error),
                   PAWL_INVALID, "\"a\"", "no run 2", "1 to 1", NULL);
    assert_refused(world, pawl_get_run(world->engine, world->scope, "order", "a", -1, &instance, &world->error),
                   PAWL_INVALID, "no run -1", NULL);
    assert_refused(world, pawl_get_run(world->engine, world->scope, "order", "b", 1, &instance, &world->error),
                   PAWL_INSTANCE_NOT_FOUND, "\"b\"", NULL);
}

TEST_OF(world, runs_are_listed_in_both_orders_and_in_pages)
{
    create_with_params(world, "a");
    (void)world_create(world, "b");
    for (int i = 1; i < 5; i++)
        restart(world, "a");
    world_finish(world, "a", PW_OUTCOME_COMPLETE);

    for (int order = PAWL_NEWEST_FIRST; order <= PAWL_OLDEST_FIRST; order++) {
        const char *cursor = NULL;
        int64_t seen = 0;
        do {
            struct pawl_instance_page page = list_runs(world, "a", 2, (enum pawl_order)order, cursor);
            assert_true(page.count == 2 || (page.count == 1 && page.cursor == NULL));
            for (size_t i = 0; i < page.count; i++) {
                const struct pawl_instance *run = &page.instances[i];
                seen++;
                assert_int_equal(run->run_number, order == PAWL_OLDEST_FIRST ? seen : 6 - seen);
                assert_int_equal(run->status, run->run_number == 5 ? PAWL_COMPLETE : PAWL_TERMINATED);
                assert_int_equal(run->replaced_at_ms != 0, run->run_number < 5);
                assert_null(run->params_json);
            }
            cursor = page.cursor;
        } while (cursor != NULL);
        assert_int_equal(seen, 5);
    }
    assert_int_equal(list_runs(world, "b", 0, PAWL_NEWEST_FIRST, NULL).count, 1);
}

TEST_OF(world, a_page_of_runs_ends_with_its_bytes)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    (void)world_create(world, "a");
    for (int i = 0; i < 3; i++) {
        world_finish(world, "a", PW_OUTCOME_COMPLETE);
        restart(world, "a");
    }
    size_t bytes = strlen(get_run(world, "a", 1).output_json);
    options.page_bytes_max = (int64_t)(2 * bytes);
    int64_t next = 4;
    do {
        assert_int_equal(pawl_list_runs(world->engine, world->scope, "order", "a", &options, &page, &world->error),
                         PAWL_OK);
        for (size_t i = 0; i < page.count; i++) {
            assert_int_equal(page.instances[i].run_number, next--);
            assert_false(page.instances[i].is_unrecorded);
        }
        assert_true(page.count <= 3);
        options.cursor = page.cursor;
    } while (page.cursor != NULL);
    assert_int_equal(next, 0);
}

TEST_OF(world, a_list_of_runs_takes_no_status_and_no_cursor_of_another_list)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    (void)world_create(world, "a");
    (void)world_create(world, "b");
    restart(world, "a");
    options.has_status = true;
    assert_refused(world, pawl_list_runs(world->engine, world->scope, "order", "a", &options, &page, &world->error),
                   PAWL_INVALID, "has_status", NULL);
    options.has_status = false;
    options.cursor = list_runs(world, "a", 1, PAWL_NEWEST_FIRST, NULL).cursor;
    assert_refused(world, pawl_list_runs(world->engine, world->scope, "order", "b", &options, &page, &world->error),
                   PAWL_INVALID_CURSOR, NULL);
}

/* As with a run that was replaced before the database had schema version 5. */
TEST_OF(world, a_run_without_a_row_is_unrecorded_and_its_history_stays)
{
    if (world->place.store == STORE_IN_MEMORY)
        skip(); /* nobody else gets at its rows */
    create_with_params(world, "a");
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    restart(world, "a");
    restart(world, "a");
    store_place_execute(&world->place, "DELETE FROM workflow_run WHERE run = 1");

    struct pawl_instance run = get_run(world, "a", 1);
    assert_true(run.is_unrecorded);
    assert_string_equal(run.params_json, "[5]");
    assert_int_equal(run.started_at_ms, 0);
    assert_int_equal(run.completed_at_ms, 0);
    assert_int_equal(run.replaced_at_ms, 0);
    assert_null(run.error_name);
    assert_int_equal(world_history(world, "a", 1).step_count, 1);
    struct pawl_instance_page page = list_runs(world, "a", 0, PAWL_OLDEST_FIRST, NULL);
    assert_int_equal(page.count, 3);
    assert_true(page.instances[0].is_unrecorded);
    assert_false(page.instances[1].is_unrecorded);
    assert_string_equal(page.instances[1].error_name, "RESTARTED");
    assert_false(page.instances[2].is_unrecorded);
}
