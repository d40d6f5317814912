/* crashes.c - C3 at every point: a process is killed just before and just after its nth commit, for every n.
 *
 * The ledger lies in memory that the process shares with its killer, so what it was told before it died is known.  Another
 * process then opens the database, does the act that was under way again, goes on, and ends as without the kill.
 * PAWL_FAULT_EVERY=n takes every nth commit instead of a choice. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kit/child.h"
#include "plan.h"
#include "scenarios.h"
#include "shim.h"

enum { COMMITS_MAX = 200, VIOLATIONS_SHOWN = 10 };

/* Every one, or every so many, where a trial takes long. */
static int64_t stride(const struct world *world)
{
    return fault_stride((FAULT_SLOWLY ? 4 : 1) * (world->place.store == STORE_IN_POSTGRES ? 9 : 1));
}

struct point {
    int64_t commit;
    bool after;
};

static void die(void)
{
    (void)kill(getpid(), SIGKILL);
    for (;;)
        (void)pause();
}

static void die_before(void *user, int64_t nth)
{
    const struct point *point = user;
    if (!point->after && nth == point->commit)
        die();
}

static void die_after(void *user, int64_t nth)
{
    const struct point *point = user;
    if (point->after && nth == point->commit)
        die();
}

struct killed {
    struct world *world;
    const struct scenario *scenario;
    struct point point;
};

/* In the process that is to die.  What goes wrong there stands in the ledger. */
static void be_killed(void *user)
{
    struct killed *killed = user;
    struct world *world = killed->world;
    const struct scenario *scenario = killed->scenario;
    world->store.before_commit = die_before;
    world->store.after_commit = die_after;
    world->store.user = &killed->point;
    if (!scenario->is_about_opening)
        play_act(world, world_open, "cannot be opened");
    play_acts(world, scenario, 0, "fails before the kill");
    _exit(0);
}

/* False: it came to its end, so there is no such commit. */
static bool kill_at(struct world *world, const struct scenario *scenario, struct point point)
{
    struct killed killed = { world, scenario, point };
    play_begin(world, scenario);
    world_close(world);
    world->ledger->commits = 0; /* of what was prepared */
    pid_t child = child_start(be_killed, &killed);
    int code = child_await(&child);
    if (code != 0 && code != 128 + SIGKILL)
        ledger_violate(world->ledger, "it ended by itself with %d", code);
    return code != 0;
}

static void go_on(struct world *world, const struct scenario *scenario, const char *expected)
{
    static char signature[WORLD_SIGNATURE];
    size_t act = world->ledger->act;
    world_check(world);
    world->now_ms += 600000; /* later than the dead process ever was */
    world->chance++;         /* and no id that it has given out is made again */
    play_act(world, world_open, "cannot be opened after the kill");
    if (world->engine == NULL)
        return;
    play_acts(world, scenario, act, "does not go on after the kill");
    play_end(world, signature);
    play_compare(world, expected, signature);
}

static void a_process_may_be_killed_before_and_after_any_commit(void **state)
{
    static char expected[WORLD_SIGNATURE];
    struct world world;
    int kills = 0, violations = 0;
    (void)state;
    assert_true(world_init(&world, "kill"));
    for (size_t i = 0; i < scenario_count; i++) {
        bool killed = !scenarios[i].is_about_opening;
        play_expect(&world, &scenarios[i], expected);
        for (int64_t nth = 1; killed && nth < COMMITS_MAX; nth += stride(&world)) {
            for (int after = 0; after < 2 && killed; after++) {
                killed = kill_at(&world, &scenarios[i], (struct point){ nth, after != 0 });
                kills += killed;
                if (killed)
                    go_on(&world, &scenarios[i], expected);
                if (world.ledger->violation[0] != '\0' && violations++ < VIOLATIONS_SHOWN)
                    printf("%s, killed %s commit %lld: %s\n", scenarios[i].name, after ? "after" : "before",
                           (long long)nth, world.ledger->violation);
            }
        }
    }
    world_clear(&world);
    printf("%d kills\n", kills);
    assert_int_equal(violations, 0);
    assert_true(kills > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_may_be_killed_before_and_after_any_commit),
    };
    if (!shim_install())
        return 2;
    shim_set_hook(fault_io, NULL);
    return cmocka_run_group_tests_name("crashes", tests, NULL, NULL);
}
