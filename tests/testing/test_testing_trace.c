/* test_testing_trace.c - the same seed lives the same life, replay shows what is not repeatable (contract H2), and the
 * trace tells all of it. */
#include "testing_kit.h"

/* ---- H1: the seed ------------------------------------------------------------------------------------------------ */

/* A life with generated ids, all in the kit's world; its trace, to be freed. */
static char *live_with_seed(struct kit *kit, uint64_t seed)
{
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    options.seed = seed;
    kit_reopen(kit, &options);
    kit_create(kit, "single", NULL);
    kit_create(kit, "nap", NULL);
    kit_create(kit, "awaiting", "a");
    kit_run(kit);
    ok(pawl_world_send_event(kit->world, "awaiting", "a", "go", NULL, &kit->error));
    ok(pawl_world_run_to_end(kit->world, &kit->error));
    return strdup(pawl_world_trace(kit->world));
}

static const char *generated_id(struct kit *kit)
{
    struct pawl_instance_page page;
    ok(pawl_list(pawl_world_engine(kit->world), pawl_world_scope(kit->world), "single", NULL, &page, &kit->error));
    assert_int_equal(page.count, 1);
    return page.instances[0].id;
}

TEST_OF(kit, H1_the_same_seed_gives_the_same_ids_and_the_same_trace)
{
    char first_id[64], *first = live_with_seed(kit, 7);
    snprintf(first_id, sizeof first_id, "%s", generated_id(kit));
    char event_id[64];
    snprintf(event_id, sizeof event_id, "%s", kit_history(kit, "awaiting", "a").events[0].id);

    char *second = live_with_seed(kit, 7);

    assert_string_equal(second, first);
    assert_string_equal(generated_id(kit), first_id);
    assert_string_equal(kit_history(kit, "awaiting", "a").events[0].id, event_id);
    assert_non_null(strstr(first, first_id));
    free(first);
    free(second);
}

TEST_OF(kit, H1_different_seeds_differ)
{
    char first_id[64], *first = live_with_seed(kit, 7);
    snprintf(first_id, sizeof first_id, "%s", generated_id(kit));

    char *second = live_with_seed(kit, 8);

    assert_string_not_equal(second, first);
    assert_string_not_equal(generated_id(kit), first_id);
    free(first);
    free(second);
}

/* ---- H2: always replay ------------------------------------------------------------------------------------------- */

static void open_replaying(struct kit *kit)
{
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    options.always_replay = true;
    kit_reopen(kit, &options);
}

TEST_OF(kit, H2_nondeterminism_shows_under_always_replay_and_not_without)
{
    kit_create(kit, "fickle", "f");
    kit->world->turns_max = 20;
    kit_run(kit);
    assert_string_equal(kit_get(kit, "fickle", "f").output_json, "\"done\"");
    assert_int_equal(kit_history(kit, "fickle", "f").step_count, 2);

    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    options.always_replay = true;
    options.limits.steps_max = 20;
    kit_reopen(kit, &options);
    kit_create(kit, "fickle", "f");
    kit_run(kit);
    assert_true(kit_history(kit, "fickle", "f").step_count > 2);
}

TEST_OF(kit, H2_every_boundary_is_replayed_and_the_result_is_the_same)
{
    kit_create(kit, "faithful", "f");
    kit_run(kit);
    assert_int_equal(kit->passes, 1);

    open_replaying(kit);
    kit_create(kit, "faithful", "f");
    kit_run(kit);

    assert_true(kit->passes >= 3);
    assert_int_equal(kit->bodies, 3);
    assert_string_equal(kit_get(kit, "faithful", "f").output_json, "\"done\"");
}

TEST_OF(kit, H2_waits_and_retries_and_events_end_the_same_under_always_replay)
{
    open_replaying(kit);
    ok(pawl_world_mock_failure(kit->world, "single", "work", 2, "Down", "no", true, &kit->error));
    kit_create(kit, "nap", "n");
    kit_create(kit, "single", "s");
    kit_create(kit, "awaiting", "a");
    ok(pawl_world_send_event(kit->world, "awaiting", "a", "go", "3", &kit->error));

    ok(pawl_world_run_to_end(kit->world, &kit->error));

    assert_string_equal(kit_get(kit, "nap", "n").output_json, "\"rested\"");
    assert_string_equal(kit_get(kit, "single", "s").output_json, "\"real\"");
    assert_string_equal(kit_get(kit, "awaiting", "a").output_json, "3");
    assert_int_equal(kit->bodies, 3);
}

TEST_OF(kit, H2_branches_end_the_same_under_always_replay)
{
    for (int replaying = 0; replaying < 2; replaying++) {
        if (replaying)
            open_replaying(kit);
        kit_create(kit, "forked", "f");

        ok(pawl_world_run_to_end(kit->world, &kit->error));

        assert_string_equal(kit_get(kit, "forked", "f").output_json, "[\"left\",\"right\",\"light\"]");
        assert_int_equal(kit_get(kit, "forked", "f").completed_at_ms, START_MS + 3 * HOUR_MS);
        assert_int_equal(kit->bodies, 7);
    }
}

TEST_OF(kit, H2_a_refused_change_fails_its_step_under_always_replay_too)
{
    open_replaying(kit);
    kit->world->turns_max = 20;
    kit_create(kit, "colliding", "c");

    kit_run(kit);

    assert_string_equal(kit_get(kit, "colliding", "c").error_name, "STEP_UNIQUE_CONSTRAINT_VIOLATION");
}

/* ---- Trace ------------------------------------------------------------------------------------------------------- */

TEST_OF(kit, the_trace_tells_a_run_line_by_line)
{
    kit_create(kit, "nap", "n");

    ok(pawl_world_run_to_end(kit->world, &kit->error));

    assert_string_equal(pawl_world_trace(kit->world),
                        "2026-01-01T00:00:00.000Z commit create nap/n (1,1,0) -> ok\n"
                        "2026-01-01T00:00:00.000Z wake\n"
                        "2026-01-01T00:00:00.000Z commit claim run nap/n (1,1,1) -> ok\n"
                        "2026-01-01T00:00:00.000Z commit fence(1,1,1) step \"before\" completed -> ok\n"
                        "2026-01-01T00:00:00.000Z commit fence(1,1,1) step \"nap\" waiting until "
                        "2026-01-01T00:10:00.000Z -> ok\n"
                        "2026-01-01T00:00:00.000Z commit fence(1,1,1) wait until 2026-01-01T00:10:00.000Z -> ok\n"
                        "2026-01-01T00:10:00.000Z commit claim wake nap/n (1,1,3) -> ok\n"
                        "2026-01-01T00:10:00.000Z commit fence(1,1,3) step \"nap\" completed -> ok\n"
                        "2026-01-01T00:10:00.000Z commit fence(1,1,3) step \"after\" completed -> ok\n"
                        "2026-01-01T00:10:00.000Z commit fence(1,1,3) finish complete -> ok\n");
}

TEST_OF(kit, the_trace_tells_of_failures_events_and_control)
{
    pawl_engine *engine = pawl_world_engine(kit->world);
    ok(pawl_world_mock_failure(kit->world, NULL, "work", 1, "Down", "no", true, &kit->error));
    kit_create(kit, "single", "s");
    kit_create(kit, "awaiting", "a");
    kit_run(kit);
    ok(pawl_pause(engine, "awaiting", "a", &kit->error));
    ok(pawl_world_send_event(kit->world, "awaiting", "a", "go", NULL, &kit->error));
    ok(pawl_resume(engine, "awaiting", "a", &kit->error));
    ok(pawl_world_run_to_end(kit->world, &kit->error));
    ok(pawl_restart(engine, "awaiting", "a", &kit->error));
    ok(pawl_terminate(engine, "awaiting", "a", &kit->error));

    kit_traced(kit, "step \"work\" waiting to retry at 2026-01-01T00:00:10.000Z with \"Down\", log -> ok\n");
    kit_traced(kit, "claim retry single/s (1,1,3) -> ok\n");
    kit_traced(kit, "commit pause awaiting/a -> ok\n");
    kit_traced(kit, "event \"go\" 1");
    kit_traced(kit, "claim resume awaiting/a ");
    kit_traced(kit, "step \"await\" completed, consume event 1 -> ok\n");
    kit_traced(kit, "restart 2 after run 1");
    kit_traced(kit, "commit terminate ");
}

TEST_OF(kit, the_trace_tells_what_was_refused_and_why)
{
    kit_create(kit, "colliding", "c");
    assert_int_equal(pawl_world_create(kit->world, "colliding", "c", NULL, NULL), PAWL_INSTANCE_ID_ALREADY_EXISTS);
    kit_run(kit);

    kit_traced(kit, "commit create colliding/c -> INSTANCE_ID_ALREADY_EXISTS \"");
    kit_traced(kit, "sql \"INSERT INTO paid VALUES ($1)\", step \"pay \\\"twice\\\"\\x0aand more\" completed "
                    "-> STEP_UNIQUE_CONSTRAINT_VIOLATION \"");
    kit_traced(kit, "errored with \"STEP_UNIQUE_CONSTRAINT_VIOLATION\", log -> ok\n");
    kit_traced(kit, "finish errored with \"STEP_UNIQUE_CONSTRAINT_VIOLATION\" -> ok\n");
}

TEST_OF(kit, looking_leaves_no_trace)
{
    kit_create(kit, "nap", "n");
    kit_run(kit);
    size_t size = strlen(pawl_world_trace(kit->world));

    kit_run(kit);
    ok(pawl_world_tick(kit->world, NULL, &kit->error));
    (void)kit_get(kit, "nap", "n");
    (void)kit_history(kit, "nap", "n");

    assert_int_equal(strlen(pawl_world_trace(kit->world)), size);
}
