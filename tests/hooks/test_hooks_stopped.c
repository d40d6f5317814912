/* test_hooks_stopped.c - a process that was stopped between the claim of a delivery and its call, or whose clock jumped, gives
 * the delivery back (H3). */
#include "kit/service_world.h"

#include "kit/hooking.h"
#include "hooks/hooks.h"

enum { LEASE_MS = 60000 };

/* The delivery of a creation is claimed for the hook "all". */
static void claim(struct world *world, struct hearing *hearing, struct pw_errand *errand)
{
    *hearing = (struct hearing){ .answer = PAWL_FAILED, .user = world };
    struct pawl_hook hook = hooking_hook("all", hearing);
    assert_int_equal(pawl_hook_register(world->engine, &hook, &world->error), PAWL_OK);
    world_create(world, "a");
    *errand = (struct pw_errand){ .hook = NULL };
    assert_int_equal(pw_errand_exchange(world->engine, errand, 1, &world->error), PAWL_OK);
    assert_non_null(errand->hook);
}

static void settle(struct world *world, struct pw_errand *errand)
{
    assert_int_equal(pw_errand_exchange(world->engine, errand, 0, &world->error), PAWL_OK);
    pw_errand_clear(errand);
}

static int64_t tick(struct world *world)
{
    int64_t delivered = 0;
    assert_int_equal(pawl_hooks_tick(world->engine, 0, &delivered, NULL, &world->error), PAWL_OK);
    return delivered;
}

/* Some time after the claim, by the clock that does not jump and by one that does, the hook is to be called. */
static void call_after(struct world *world, int64_t ms, int64_t jumped_ms, bool is_called)
{
    struct hearing hearing;
    struct pw_errand errand;
    claim(world, &hearing, &errand);
    world->now_ms += ms;
    world->jumped_ms += jumped_ms;
    pw_errand_call(world->engine, &errand);
    assert_int_equal(hearing.calls, is_called ? 1 : 0);
    settle(world, &errand);
    if (is_called) {
        assert_string_equal(hooking_recorded(world->engine, NULL), "");
        return;
    }
    assert_int_equal(tick(world), 1);
    assert_int_equal(hearing.attempt, 1); /* the one that was not made does not count */
}

TEST_OF(world, C7_a_hook_is_called_while_a_third_of_the_lease_is_left)
{
    call_after(world, LEASE_MS - LEASE_MS / 3, 0, true);
}

TEST_OF(world, C7_a_hook_is_not_called_when_its_lease_may_be_over)
{
    call_after(world, LEASE_MS - LEASE_MS / 3 + 1, 0, false);
}

TEST_OF(world, C7_a_hook_is_called_while_its_lease_has_not_ended_by_wall_time)
{
    call_after(world, 0, LEASE_MS - 1, true);
}

TEST_OF(world, C7_a_hook_is_not_called_when_wall_time_jumped_past_its_lease)
{
    call_after(world, 0, LEASE_MS, false);
}

TEST_OF(world, C7_a_delivery_that_another_took_when_wall_time_jumped_is_told_once)
{
    struct hearing hearing;
    struct pw_errand errand;
    claim(world, &hearing, &errand);
    world->jumped_ms += LEASE_MS;
    assert_int_equal(tick(world), 1);
    pw_errand_call(world->engine, &errand);
    assert_int_equal(hearing.calls, 1);
    settle(world, &errand);
    assert_string_equal(hooking_recorded(world->engine, NULL), "");
}

/* The case that H3 leaves: by both clocks the lease holds. */
TEST_OF(world, C7_a_delivery_that_another_took_before_wall_time_was_set_back_is_told_twice)
{
    struct hearing hearing;
    struct pw_errand errand;
    claim(world, &hearing, &errand);
    world->jumped_ms += LEASE_MS;
    hearing.failures = 1;
    assert_int_equal(tick(world), 0);
    world->jumped_ms = 0;
    pw_errand_call(world->engine, &errand);
    assert_int_equal(hearing.calls, 2);
    settle(world, &errand);
    assert_string_equal(hooking_recorded(world->engine, NULL),
                        "a/1 create"); /* what the first one says counts for nothing */
}
