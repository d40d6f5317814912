/* faults.c - every scenario with the nth allocation, store call or system call failing: once, and from there on.
 *
 * While it fails, an act says PAWL_OK or an honest error: a code that fits, with a text.  Afterwards the history is intact,
 * the engine goes on (after a lasting fault every other time a newly opened one), and the end is the same as without.
 * PAWL_FAULT_ONLY=scenario:kind:nth:once|ever plays one trial; PAWL_FAULT_EVERY=n plays each nth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "io.h"
#include "plan.h"
#include "scenarios.h"

enum { VIOLATIONS_SHOWN = 12 };

struct trial {
    const struct scenario *scenario;
    enum fault_kind kind;
    int64_t nth;
    bool for_ever;
};

/* What is known and not mended yet: trials whose violation holds the text are looked past.  Empty is good. */
static const struct known {
    const char *scenario; /* NULL: any */
    int kind;             /* enum fault_kind; -1: any */
    const char *violation;
    const char *reason;
} known_open[] = {
    { NULL, -1, NULL, NULL },
};

struct tally {
    int64_t trials[FAULT_KIND_COUNT], struck[FAULT_KIND_COUNT];
    int violations, known;
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
    if (fault_struck() == 0)
        ledger_violate(world->ledger, "%s without a fault: %s", pawl_status_name(status), error->text);
    else if (!is_fitting(trial->kind, status))
        ledger_violate(world->ledger, "the answer does not fit: %s: %s", pawl_status_name(status), error->text);
    else if (error->status != status || error->text[0] == '\0')
        ledger_violate(world->ledger, "%s comes without its text", pawl_status_name(status));
}

/* Afterwards nothing fails any more. */
static void must_do(struct world *world, scenario_act_fn *act, const char *when)
{
    struct pawl_error error = { PAWL_OK, "" };
    pawl_status status = act(world, &error);
    if (status != PAWL_OK)
        ledger_violate(world->ledger, "%s: %s: %s", when, pawl_status_name(status), error.text);
}

static void reopen(struct world *world)
{
    world_close(world);
    must_do(world, world_open, "cannot be opened again");
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
    if (trial->for_ever) {
        insist(world, trial, act);
        (void)fault_disarm();
        if (trial->nth % 2 == 0 && !trial->scenario->is_about_opening)
            reopen(world);
    }
    must_do(world, act, "does not go on after the fault");
}

static void begin(struct world *world, const struct scenario *scenario)
{
    world->now_ms = INT64_C(1767225600000);
    world->chance = 1;
    memset(world->ledger, 0, sizeof *world->ledger);
    world->has_app = false;
    world_remove_files(world);
    if (scenario->is_about_opening)
        return;
    if (!world_start_from_template(world))
        fail_msg("no template");
    memset(world->ledger, 0, sizeof *world->ledger);
    must_do(world, world_open, "cannot be opened");
    if (scenario->prepare != NULL)
        must_do(world, scenario->prepare, "cannot be prepared");
}

static void end(struct world *world, char signature[WORLD_SIGNATURE])
{
    if (world->engine == NULL)
        reopen(world);
    if (world->engine != NULL)
        must_do(world, world_drive, "does not run to its end");
    world_check(world);
    world_signature(world, signature);
    world_close(world);
}

/* Returns how often the fault struck. */
static int64_t play(struct world *world, const struct trial *trial, const char *expected)
{
    static char signature[WORLD_SIGNATURE];
    begin(world, trial->scenario);
    fault_arm(trial->kind, trial->nth, trial->for_ever);
    for (size_t i = 0; i < SCENARIO_ACTS_MAX && trial->scenario->acts[i] != NULL; i++)
        act_under_fault(world, trial, trial->scenario->acts[i]);
    int64_t struck = fault_disarm();
    if (trial->for_ever && trial->nth % 2 == 0 && !trial->scenario->is_about_opening)
        reopen(world);
    end(world, signature);
    if (strcmp(signature, expected) != 0) {
        ledger_violate(world->ledger, "the end is another one");
        if (getenv("PAWL_FAULT_ONLY") != NULL)
            print_message("---- expected\n%s---- found\n%s", expected, signature);
    }
    return struck;
}

/* ---- Loops ------------------------------------------------------------------------------------------------------------ */

static bool is_known(const struct trial *trial, const char *violation)
{
    for (size_t i = 0; i < sizeof known_open / sizeof known_open[0]; i++) {
        const struct known *known = &known_open[i];
        if (known->violation != NULL && (known->scenario == NULL || strcmp(known->scenario, trial->scenario->name) == 0) &&
            (known->kind < 0 || known->kind == (int)trial->kind) && strstr(violation, known->violation) != NULL)
            return true;
    }
    return false;
}

static void judge(struct tally *tally, const struct trial *trial, const struct world *world)
{
    const char *violation = world->ledger->violation;
    if (violation[0] == '\0')
        return;
    if (is_known(trial, violation)) {
        tally->known++;
        return;
    }
    if (++tally->violations <= VIOLATIONS_SHOWN)
        print_error("PAWL_FAULT_ONLY=%s:%s:%lld:%s %s\n", trial->scenario->name, fault_kind_name(trial->kind),
                    (long long)trial->nth, trial->for_ever ? "ever" : "once", violation);
}

static void expect(struct world *world, const struct scenario *scenario, char expected[WORLD_SIGNATURE])
{
    begin(world, scenario);
    for (size_t i = 0; i < SCENARIO_ACTS_MAX && scenario->acts[i] != NULL; i++)
        must_do(world, scenario->acts[i], "fails without a fault");
    end(world, expected);
    if (world->ledger->violation[0] != '\0')
        fail_msg("%s: %s", scenario->name, world->ledger->violation);
}

static int64_t stride(void)
{
    const char *every = getenv("PAWL_FAULT_EVERY");
    int64_t number = every != NULL ? strtoll(every, NULL, 10) : FAULT_SLOWLY ? 7 : 1;
    return number > 0 ? number : 1;
}

/* True when the trial is the one that was asked for, or none was. */
static bool is_asked_for(const struct trial *trial)
{
    const char *only = getenv("PAWL_FAULT_ONLY");
    char name[128];
    if (only == NULL)
        return true;
    snprintf(name, sizeof name, "%s:%s:%lld:%s", trial->scenario->name, fault_kind_name(trial->kind),
             (long long)trial->nth, trial->for_ever ? "ever" : "once");
    return strncmp(name, only, strlen(only)) == 0;
}

static void loop(struct world *world, struct tally *tally, const struct scenario *scenario, enum fault_kind kind,
                 const char *expected)
{
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        int64_t struck = 1;
        for (int64_t nth = 1; struck > 0; nth += stride()) {
            struct trial trial = { scenario, kind, nth, for_ever != 0 };
            if (!is_asked_for(&trial)) {
                if (nth > 20000)
                    break;
                continue;
            }
            struck = play(world, &trial, expected);
            tally->trials[kind]++;
            tally->struck[kind] += struck > 0;
            judge(tally, &trial, world);
        }
    }
}

static void report(const struct tally *tally)
{
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        if (tally->trials[kind] > 0)
            print_message("%-14s %6lld trials, %6lld with a fault\n", fault_kind_name((enum fault_kind)kind),
                          (long long)tally->trials[kind], (long long)tally->struck[kind]);
    }
    if (tally->known > 0)
        print_message("%d trials are known to fail: see known_open\n", tally->known);
    if (tally->violations > 0)
        fail_msg("%d trials failed", tally->violations);
}

static void survive(enum fault_kind first, enum fault_kind last)
{
    static char expected[WORLD_SIGNATURE];
    struct tally tally = { .violations = 0 };
    struct world world;
    assert_true(world_init(&world, "loop"));
    for (size_t i = 0; i < scenario_count; i++) {
        expect(&world, &scenarios[i], expected);
        for (int kind = (int)first; kind <= (int)last; kind++)
            loop(&world, &tally, &scenarios[i], (enum fault_kind)kind, expected);
    }
    world_clear(&world);
    report(&tally);
}

static void memory_may_run_out_at_any_allocation(void **state)
{
    (void)state;
    survive(FAULT_ALLOC, FAULT_ALLOC);
}

static void memory_of_sqlite_may_run_out_at_any_allocation(void **state)
{
    (void)state;
    survive(FAULT_ALLOC_SQLITE, FAULT_ALLOC_SQLITE);
}

static void memory_of_jansson_may_run_out_at_any_allocation(void **state)
{
    (void)state;
    survive(FAULT_ALLOC_JANSSON, FAULT_ALLOC_JANSSON);
}

static void the_store_may_fail_at_any_call_also_after_it_has_committed(void **state)
{
    (void)state;
    survive(FAULT_APPLY_BEFORE, FAULT_ANNOUNCE);
}

static void the_disk_may_fail_at_any_call(void **state)
{
    (void)state;
    survive(FAULT_IO_OPEN, FAULT_IO_SHM_LOCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_at_any_allocation),
        cmocka_unit_test(memory_of_sqlite_may_run_out_at_any_allocation),
        cmocka_unit_test(memory_of_jansson_may_run_out_at_any_allocation),
        cmocka_unit_test(the_store_may_fail_at_any_call_also_after_it_has_committed),
        cmocka_unit_test(the_disk_may_fail_at_any_call),
    };
    const char *filter = getenv("PAWL_FAULT_TESTS");
    if (!fault_install_allocators() || !shim_install())
        return 2;
    shim_set_hook(fault_io, NULL);
    if (filter != NULL)
        cmocka_set_test_filter(filter);
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
