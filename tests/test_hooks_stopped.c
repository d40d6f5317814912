/* test_hooks_stopped.c - a process that was stopped between the claim of a delivery and its call gives it back (H3). */
#include "service_world.h"

#include <string.h>

#include "hooking.h"
#include "hooks/hooks.h"

enum { LEASE_MS = 60000 };

static void hear(struct world *world, struct hearing *hearing)
{
    *hearing = (struct hearing){ .answer = PAWL_FAILED, .user = world };
    struct pawl_hook hook = hooking_hook("all", hearing);
    assert_int_equal(pawl_hook_register(world->engine, &hook, &world->error), PAWL_OK);
}

static void claim(struct world *world, struct pw_errand *errand)
{
    *errand = (struct pw_errand){ .hook = NULL };
    assert_int_equal(pw_errand_exchange(world->engine, errand, 1, &world->error), PAWL_OK);
    assert_non_null(errand->hook);
}

static void settle(struct world *world, struct pw_errand *errand)
{
    assert_int_equal(pw_errand_exchange(world->engine, errand, 0, &world->error), PAWL_OK);
    pw_errand_clear(errand);
}

static void C7_a_hook_is_called_while_a_third_of_the_lease_is_left(void **state)
{
    struct world *world = *state;
    struct hearing hearing;
    struct pw_errand errand;
    hear(world, &hearing);
    world_create(world, "a");
    claim(world, &errand);
    world->now_ms += LEASE_MS - LEASE_MS / 3;
    pw_errand_call(world->engine, &errand);
    assert_int_equal(hearing.calls, 1);
    settle(world, &errand);
    assert_string_equal(hooking_recorded(world->engine, NULL), "");
}

static void C7_a_hook_is_not_called_when_its_lease_may_be_over(void **state)
{
    struct world *world = *state;
    struct hearing hearing;
    struct pw_errand errand;
    int64_t delivered = 0;
    hear(world, &hearing);
    world_create(world, "a");
    claim(world, &errand);
    world->now_ms += LEASE_MS - LEASE_MS / 3 + 1;
    pw_errand_call(world->engine, &errand);
    assert_int_equal(hearing.calls, 0);
    settle(world, &errand);
    assert_int_equal(pawl_hooks_tick(world->engine, 0, &delivered, NULL, &world->error), PAWL_OK);
    assert_int_equal(delivered, 1);
    assert_int_equal(hearing.attempt, 1); /* the one that was not made does not count */
}

int main(void)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(C7_a_hook_is_called_while_a_third_of_the_lease_is_left, world_set_up,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(C7_a_hook_is_not_called_when_its_lease_may_be_over, world_set_up,
                                        world_tear_down),
    };
    return world_run("hooks of a stopped process", tests, sizeof tests / sizeof tests[0]);
}
