/* faults.c - every scenario with the nth allocation, store call or system call failing: once, and from there on.
 *
 * While it fails, an act says PAWL_OK or an honest error: a code that fits, with a text.  Afterwards the history is intact,
 * the engine goes on, the same one or one newly opened, and the end is the same as without.
 * PAWL_FAULT_ONLY=scenario:kind:nth:once|ever|reopen plays one trial; PAWL_FAULT_EVERY=n plays each nth;
 * PAWL_FAULT_SCENARIO=name plays that one alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plan.h"
#include "scenarios.h"
#include "shim.h"

enum { VIOLATIONS_SHOWN = 20, TRIALS_PER_LOOP = FAULT_SLOWLY ? 2 : 10, TRIALS_IN_POSTGRES = 2 };

/* How long it fails, and what goes on afterwards: the same engine, or after a lasting fault also a newly opened one. */
enum mode { ONCE, EVER, EVER_REOPENED, MODE_COUNT };
static const char *const mode_names[MODE_COUNT] = { "once", "ever", "reopen" };

struct trial {
    const struct scenario *scenario;
    enum fault_kind kind;
    int64_t nth;
    enum mode mode;
};

struct tally {
    int64_t trials[FAULT_KIND_COUNT], struck[FAULT_KIND_COUNT];
    int violations;
};

/* ---- One trial ---------------------------------------------------------------------------------------------------- */

static bool is_fitting(enum fault_kind kind, pawl_status status)
{
    switch (kind) {
    case FAULT_ALLOC:
    case FAULT_ALLOC_SQLITE:
    case FAULT_ALLOC_JANSSON:
        return status == PAWL_NOMEM;
    case FAULT_IO_FULL:
        return status == PAWL_STORE_FULL;
    default:
        return status == PAWL_STORE_UNAVAILABLE;
    }
}

static void check_honest(struct world *world, const struct trial *trial, pawl_status status,
                         const struct pawl_error *error)
{
    if (status == PAWL_OK)
        return;
    bool is_about_connections = trial->kind >= FAULT_PQ_CONNECT && trial->kind <= FAULT_PQ_READ;
    if (fault_struck() == 0)
        ledger_violate(world->ledger, "%s without a fault: %s", pawl_status_name(status), error->text);
    else if (is_about_connections && trial->mode == ONCE) /* C8 */
        ledger_violate(world->ledger, "a connection that is lost once is not seen to inside: %s", error->text);
    else if (!is_fitting(trial->kind, status))
        ledger_violate(world->ledger, "the answer does not fit: %s: %s", pawl_status_name(status), error->text);
    else if (error->status != status || error->text[0] == '\0')
        ledger_violate(world->ledger, "%s comes without its text", pawl_status_name(status));
}

/* The disk stays broken: everything says so, and nothing breaks by asking. */
static void insist(struct world *world, const struct trial *trial, scenario_act_fn *act)
{
    struct pawl_error error = { PAWL_OK, "" };
    check_honest(world, trial, act(world, &error), &error);
    if (world->engine != NULL && !trial->scenario->is_about_opening) /* a tick ends registration */
        check_honest(world, trial, pawl_runner_tick(world->runner, 1, 0, NULL, &error), &error);
}

static void act_under_fault(struct world *world, const struct trial *trial, scenario_act_fn *act)
{
    struct pawl_error error = { PAWL_OK, "" };
    pawl_status status = act(world, &error);
    check_honest(world, trial, status, &error);
    if (status == PAWL_OK)
        return;
    if (trial->mode != ONCE) {
        insist(world, trial, act);
        (void)fault_disarm();
        if (trial->mode == EVER_REOPENED && !trial->scenario->is_about_opening)
            play_reopen(world);
    }
    play_act(world, act, "does not go on after the fault");
}

/* Returns how often the fault struck. */
static int64_t play(struct world *world, const struct trial *trial, const char *expected)
{
    static char signature[WORLD_SIGNATURE];
    world->busy_ms = trial->mode == ONCE ? 10000 : 5;
    play_begin(world, trial->scenario);
    fault_arm(trial->kind, trial->nth, trial->mode != ONCE);
    for (size_t i = 0; i < SCENARIO_ACTS_MAX && trial->scenario->acts[i] != NULL; i++)
        act_under_fault(world, trial, trial->scenario->acts[i]);
    int64_t struck = fault_disarm();
    world->busy_ms = 10000;
    if (trial->mode == EVER_REOPENED && !trial->scenario->is_about_opening)
        play_reopen(world);
    play_end(world, signature);
    play_compare(world, expected, signature);
    if (getenv("PAWL_FAULT_ONLY") != NULL)
        printf("---- expected\n%s---- found\n%s", expected, signature);
    return struck;
}

/* ---- Loops ------------------------------------------------------------------------------------------------------------ */

static void judge(struct tally *tally, const struct trial *trial, const struct world *world)
{
    const char *violation = world->ledger->violation;
    if (violation[0] == '\0')
        return;
    if (++tally->violations <= VIOLATIONS_SHOWN)
        printf("PAWL_FAULT_ONLY=%s:%s:%lld:%s %s\n", trial->scenario->name, fault_kind_name(trial->kind),
               (long long)trial->nth, mode_names[trial->mode], violation);
}

/* All of few calls, and an even choice of many; fewer in PostgreSQL, where a trial takes long. */
static int64_t stride(const struct world *world, int64_t calls)
{
    return fault_stride(calls / (world->place.store == STORE_IN_POSTGRES ? TRIALS_IN_POSTGRES : TRIALS_PER_LOOP) + 1);
}

static void fail_if_violated(const struct world *world, const struct scenario *scenario)
{
    if (world->ledger->violation[0] != '\0')
        fail_msg("%s: %s", scenario->name, world->ledger->violation);
}

static int64_t play_and_judge(struct world *world, struct tally *tally, const struct trial *trial, const char *expected)
{
    int64_t struck = play(world, trial, expected);
    tally->trials[trial->kind]++;
    tally->struck[trial->kind] += struck > 0;
    judge(tally, trial, world);
    return struck;
}

/* In PostgreSQL each loop is played in one mode, another one in the next. */
static bool is_played(const struct world *world, const struct scenario *scenario, enum fault_kind kind, int mode)
{
    return world->place.store != STORE_IN_POSTGRES || getenv("PAWL_FAULT_EVERY") != NULL ||
           ((int)(scenario - scenarios) + (int)kind) % MODE_COUNT == mode;
}

static void loop(struct world *world, struct tally *tally, const struct scenario *scenario, enum fault_kind kind,
                 int64_t calls, const char *expected)
{
    int64_t step = stride(world, calls);
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        int64_t struck = is_played(world, scenario, kind, mode);
        for (int64_t nth = 1 + mode * (step / MODE_COUNT); struck > 0; nth += step) {
            struct trial trial = { scenario, kind, nth, (enum mode)mode };
            struck = play_and_judge(world, tally, &trial, expected);
        }
    }
}

static void report(const struct tally *tally)
{
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        if (tally->trials[kind] > 0)
            printf("%-14s %6lld trials, %6lld with a fault\n", fault_kind_name((enum fault_kind)kind),
                   (long long)tally->trials[kind], (long long)tally->struck[kind]);
    }
    if (tally->violations > 0)
        fail_msg("%d trials failed", tally->violations);
}

static enum mode mode_of(const char *name)
{
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        if (strcmp(mode_names[mode], name) == 0)
            return (enum mode)mode;
    }
    fail_msg("there is no mode %s", name);
    return ONCE;
}

/* The one trial that PAWL_FAULT_ONLY names, if it is about these kinds. */
static void play_only(struct world *world, const char *only, enum fault_kind first, enum fault_kind last)
{
    static char expected[WORLD_SIGNATURE];
    struct tally tally = { .violations = 0 };
    char scenario[32], kind_name[32], mode[8];
    long long nth;
    if (sscanf(only, "%31[^:]:%31[^:]:%lld:%7s", scenario, kind_name, &nth, mode) != 4 ||
        scenario_find(scenario) == NULL)
        fail_msg("PAWL_FAULT_ONLY=scenario:kind:nth:once|ever|reopen");
    for (int kind = (int)first; kind <= (int)last; kind++) {
        if (strcmp(fault_kind_name((enum fault_kind)kind), kind_name) != 0)
            continue;
        struct trial trial = { scenario_find(scenario), (enum fault_kind)kind, nth, mode_of(mode) };
        play_expect(world, trial.scenario, expected);
        (void)play_and_judge(world, &tally, &trial, expected);
    }
    report(&tally);
}

struct kinds {
    enum fault_kind first, last;
};

static void survive(void **state)
{
    const struct kinds *kinds = *state;
    enum fault_kind first = kinds->first, last = kinds->last;
    static char expected[WORLD_SIGNATURE];
    struct tally tally = { .violations = 0 };
    struct world world;
    assert_true(world_init(&world, "loop"));
    if (getenv("PAWL_FAULT_ONLY") != NULL) {
        play_only(&world, getenv("PAWL_FAULT_ONLY"), first, last);
        world_clear(&world);
        return;
    }
    for (size_t i = 0; i < scenario_count; i++) {
        int64_t calls[FAULT_KIND_COUNT];
        const char *alone = getenv("PAWL_FAULT_SCENARIO");
        if (alone != NULL && strcmp(scenarios[i].name, alone) != 0)
            continue;
        if (world.place.store == STORE_IN_POSTGRES && strcmp(scenarios[i].name, "kit") == 0)
            continue; /* it is in memory */
        play_expect(&world, &scenarios[i], expected);
        fail_if_violated(&world, &scenarios[i]);
        for (int kind = 0; kind < FAULT_KIND_COUNT; kind++)
            calls[kind] = fault_calls((enum fault_kind)kind);
        for (int kind = (int)first; kind <= (int)last; kind++)
            loop(&world, &tally, &scenarios[i], (enum fault_kind)kind, calls[kind], expected);
    }
    world_clear(&world);
    report(&tally);
}

int main(void)
{
#define TEST(name, first, last)                                                                                        \
    {                                                                                                                  \
#name, survive, NULL, NULL, &(struct kinds)                                                                    \
        {                                                                                                              \
            first, last                                                                                                \
        }                                                                                                              \
    }
    enum { IN_POSTGRES = 3 }; /* the first ones; and all but the first in a file */
    const struct CMUnitTest tests[] = {
        TEST(the_connection_may_fail_at_any_call, FAULT_PQ_CONNECT, FAULT_PQ_READ), /* C8 */
        TEST(memory_may_run_out_at_any_allocation, FAULT_ALLOC, FAULT_ALLOC),
        TEST(the_store_may_fail_at_any_call_also_after_it_has_committed, FAULT_APPLY_BEFORE, FAULT_ANNOUNCE),
        TEST(memory_of_sqlite_may_run_out_at_any_allocation, FAULT_ALLOC_SQLITE, FAULT_ALLOC_SQLITE),
        TEST(memory_of_jansson_may_run_out_at_any_allocation, FAULT_ALLOC_JANSSON, FAULT_ALLOC_JANSSON),
        TEST(the_disk_may_fail_at_any_call, FAULT_IO_OPEN, FAULT_IO_SHM_LOCK),
    };
    const char *filter = getenv("PAWL_FAULT_TESTS");
    if (!fault_install_allocators() || !shim_install())
        return 2;
    shim_set_hook(fault_io, NULL);
    if (filter != NULL)
        cmocka_set_test_filter(filter);
    if (store_asked_for(STORE_IN_FILE) == STORE_IN_POSTGRES)
        return _cmocka_run_group_tests("faults in PostgreSQL", tests, IN_POSTGRES, NULL, NULL);
    return _cmocka_run_group_tests("faults", tests + 1, sizeof tests / sizeof tests[0] - 1, NULL, NULL);
}
