/* Why a run does not move, as far as runners decide it: queued, unserved, held, lost. */
#include "kit/service_world.h"
#include "kit/why_text.h"

static struct pawl_why_answer ask(struct world *world, const char *id)
{
    struct pawl_why_answer why;
    assert_int_equal(pawl_why(world->engine, world->scope, "order", id, &why, &world->error), PAWL_OK);
    return why;
}

static const char *text_of(struct world *world, const char *id)
{
    struct pawl_why_answer why = ask(world, id);
    return why_text(world->scope, &why.node);
}

static void announce(struct world *world, int64_t owner, const char *workflows, bool is_sharing)
{
    struct pw_store *store = world->engine->store;
    const struct pw_runner_row row = { .owner = owner,
                                       .name = pw_text_of("host:7"),
                                       .workflows = pw_text_of(workflows),
                                       .is_sharing = is_sharing,
                                       .started_at_ms = WORLD_START_MS };
    assert_int_equal(store->ops->announce(store, owner, &world->error), PAWL_OK);
    assert_int_equal(store->ops->describe(store, &row, &world->error), PAWL_OK);
}

TEST_OF(world, a_due_run_is_queued_where_runners_share_its_workflow)
{
    world_create(world, "a");
    announce(world, 5, "other", true);
    announce(world, 6, "order other", false);
    assert_string_equal(text_of(world, "a"), "unserved !tick");

    announce(world, 7, "order", true);
    announce(world, 8, "other order", true);

    assert_string_equal(text_of(world, "a"), "queued");
    assert_int_equal(ask(world, "a").node.runners, 2);
    assert_int_equal(ask(world, "a").node.since_ms, WORLD_START_MS);
}

TEST_OF(world, a_run_that_is_held_names_its_runner_while_that_lives)
{
    struct pw_store *store = world->engine->store;
    announce(world, WORLD_OWNER, "order", true);
    world_create(world, "a");
    (void)world_claim(world);
    assert_string_equal(text_of(world, "a"), "running !watch");
    assert_string_equal(ask(world, "a").node.runner_id, "77");
    assert_string_equal(ask(world, "a").node.runner_name, "host:7");
    assert_int_equal(pawl_pause(world->engine, "order", "a", &world->error), PAWL_OK);
    assert_string_equal(text_of(world, "a"), "waitingForPause !resume");

    store->ops->withdraw(store, WORLD_OWNER);

    assert_string_equal(text_of(world, "a"), "lost +5s !tick");
    assert_null(ask(world, "a").node.runner_id);
    announce(world, 9, "order", true);
    assert_string_equal(text_of(world, "a"), "lost +5s");
    assert_int_equal(ask(world, "a").node.runners, 1);
}

TEST_OF(world, a_lost_run_that_is_to_stop_still_needs_a_tick)
{
    world_create(world, "a");
    (void)world_claim(world);
    assert_int_equal(pawl_interrupt(world->engine, "order", "a", &world->error), PAWL_OK);
    assert_string_equal(text_of(world, "a"), "lost +5s !tick");
    assert_int_equal(ask(world, "a").instance.demand, PAWL_DEMAND_INTERRUPT);
}

/* ---- Rows that the engine has not written ---------------------------------------------------------------------- */

static void record(struct world *world, const char *id, int64_t seq, const char *outer)
{
    char name[32];
    (void)snprintf(name, sizeof name, "step-%d", (int)seq);
    world_record(world, id,
                 (struct pw_step_row){ .seq = seq,
                                       .name = pw_text_of(name),
                                       .kind = PAWL_STEP_SLEEP,
                                       .wake_at_ms = WORLD_START_MS + 1000,
                                       .place = { .fork = pw_text_of("fork"),
                                                  .kind = PAWL_FORK_ALL,
                                                  .branch = seq,
                                                  .outer = pw_text_of(outer) } });
}

TEST_OF(world, damaged_places_leave_a_tree)
{
    world_create(world, "a");
    record(world, "a", 1, NULL);
    record(world, "a", 2, "not JSON");
    record(world, "a", 3, "[1, 2]");
    record(world, "a", 4, "{\"fork\":7,\"kind\":null,\"branch\":\"x\",\"within\":{\"within\":3}}");
    world_park(world, "a", PW_TASK_WAITING, PW_TASK_WAKE, WORLD_START_MS + 1000);

    struct pawl_why_answer why = ask(world, "a");
    size_t steps = 0;
    for (const char *at = why_text(world->scope, &why.node); (at = strstr(at, "sleeping step-")) != NULL; at++)
        steps++;
    assert_int_equal(steps, 4);
}

/* As an earlier version recorded them: nothing is known of forks. */
TEST_OF(world, steps_without_a_place_are_waited_for_together)
{
    world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1000);
    world_wait(world, "a", 2, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 2000);
    assert_string_equal(text_of(world, "a"),
                        "all !send-event(sleeping step-1 +1s, waitingForEvent step-2 paid +2s !send-event)");
}

/* The run moved on between two reads, or a row is missing: there is always an answer. */
TEST_OF(world, a_run_that_waits_for_nothing_recorded_is_due)
{
    world_create(world, "a");
    world_park(world, "a", PW_TASK_WAITING, PW_TASK_WAKE, WORLD_START_MS + 1000);
    assert_string_equal(text_of(world, "a"), "unserved !tick");
}
