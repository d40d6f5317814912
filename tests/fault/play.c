/* play.c - how a scenario is played: see scenarios.h. */
#include "scenarios.h"

#include <string.h>

#include "plan.h"

void play_act(struct world *world, scenario_act_fn *act, const char *what)
{
    struct pawl_error error = { PAWL_OK, "" };
    pawl_status status = act(world, &error);
    if (status != PAWL_OK)
        ledger_violate(world->ledger, "%s: %s: %s", what, pawl_status_name(status), error.text);
}

void play_acts(struct world *world, const struct scenario *scenario, size_t from, const char *what)
{
    for (size_t i = from; i < SCENARIO_ACTS_MAX && scenario->acts[i] != NULL; i++) {
        world->ledger->act = i;
        play_act(world, scenario->acts[i], what);
    }
}

void play_reopen(struct world *world)
{
    world_close(world);
    play_act(world, world_open, "cannot be opened again");
}

void play_begin(struct world *world, const struct scenario *scenario)
{
    world->now_ms = INT64_C(1767225600000);
    world->chance = 1;
    world->has_app = false;
    world->scenario = scenario;
    world->has_hook = scenario->has_hook;
    if (scenario->is_about_opening)
        world_remove_files(world);
    bool ready = scenario->is_about_opening || world_start_from_template(world);
    memset(world->ledger, 0, sizeof *world->ledger);
    if (!ready)
        ledger_violate(world->ledger, "there is no template");
    if (scenario->is_about_opening)
        return;
    play_act(world, world_open, "cannot be opened");
    if (scenario->prepare != NULL)
        play_act(world, scenario->prepare, "cannot be prepared");
}

void play_end(struct world *world, char out_signature[WORLD_SIGNATURE])
{
    if (world->engine == NULL)
        play_reopen(world);
    if (world->engine != NULL)
        play_act(world, world_drive, "does not run to its end");
    world_check(world);
    world_signature(world, out_signature);
    world_close(world);
}

void play_compare(struct world *world, const char *expected, const char *found)
{
    while (*expected != '\0' && strncmp(expected, found, strcspn(expected, "\n") + 1) == 0) {
        size_t line = strcspn(expected, "\n") + 1;
        expected += line;
        found += line;
    }
    if (*expected != '\0' || *found != '\0')
        ledger_violate(world->ledger, "the end is another one: %.*s instead of %.*s", (int)strcspn(found, "\n"), found,
                       (int)strcspn(expected, "\n"), expected);
}

void play_expect(struct world *world, const struct scenario *scenario, char out_signature[WORLD_SIGNATURE])
{
    play_begin(world, scenario);
    fault_arm(FAULT_ALLOC, FAULT_NEVER, false);
    play_acts(world, scenario, 0, "fails without a fault");
    (void)fault_disarm();
    play_end(world, out_signature);
}
