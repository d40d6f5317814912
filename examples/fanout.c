/* fanout.c - parallel branches: asks many suppliers at once and joins, then races an answer against a timer.
 *
 *     ./fanout           runs tender-1 in fanout.db
 *     ./fanout tender-2  runs another one
 *
 * pawl_all() runs a branch for each supplier, three at a time, and returns when all have finished.  Completed steps
 * stay completed even if another branch fails.  pawl_first() takes the branch that finishes first and records which
 * one it was, so that every replay takes the same one. */
#include <pawl/pawl.h>

enum { SUPPLIERS = 8, AT_ONCE = 3 };

/* ---- Fan out, fan in ----------------------------------------------------------------------------------------------- */

static pawl_status ask_price(pawl_step *step, const pawl_value *supplier, pawl_value **out_result)
{
    int64_t number = pawl_value_int(supplier, NULL, 0);
    return pawl_result(step, out_result, "{s:I, s:I}", "supplier", (long long)number, "price",
                       (long long)(100 + number * 37 % 20));
}

/* One branch.  All branches share the run's step names, so each puts its number into its own. */
static pawl_status ask_supplier(pawl_run *run, const pawl_value *supplier, pawl_value **out_result)
{
    int64_t number = pawl_value_int(supplier, NULL, 0);
    PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "post to %d", (int)number), "100 ms"));
    return pawl_do(run, pawl_run_format(run, "price of %d", (int)number), NULL, ask_price, supplier, out_result);
}

static const pawl_value *cheapest(const struct pawl_branch *branches)
{
    const pawl_value *best = branches[0].result;
    for (size_t i = 1; i < SUPPLIERS; i++) {
        if (pawl_value_int(branches[i].result, "price", 0) < pawl_value_int(best, "price", 0))
            best = branches[i].result;
    }
    return best;
}

/* ---- A race -------------------------------------------------------------------------------------------------------- */

static pawl_status await_objection(pawl_run *run, const pawl_value *offer, pawl_value **out_result)
{
    struct pawl_event objection;
    (void)offer;
    PAWL_TRY(pawl_wait_for_event(run, "await objection", "objection", "1 hour", &objection));
    *out_result = objection.payload;
    return PAWL_OK;
}

static pawl_status let_time_pass(pawl_run *run, const pawl_value *offer, pawl_value **out_result)
{
    (void)offer;
    (void)out_result;
    return pawl_sleep(run, "objection period", "500 ms");
}

static pawl_status tender(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[SUPPLIERS];
    pawl_value *numbers[SUPPLIERS];
    size_t winner;
    (void)params;

    for (int i = 0; i < SUPPLIERS; i++) {
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &numbers[i], "i", i + 1));
        branches[i] = (struct pawl_branch){ .run = ask_supplier, .input = numbers[i] };
    }
    PAWL_TRY(pawl_all(run, "suppliers", branches, SUPPLIERS, AT_ONCE));
    const pawl_value *offer = cheapest(branches);

    struct pawl_branch race[] = { { .run = await_objection, .input = offer }, { .run = let_time_pass } };
    PAWL_TRY(pawl_first(run, "objection or not", race, 2, &winner));
    if (winner == 0)
        return pawl_run_fail(run, "Objected", "somebody objected to supplier %d",
                             (int)pawl_value_int(offer, "supplier", 0));
    return pawl_return(run, out_result, "{s:V}", "accepted", offer);
}

PAWL_MODULE({ .name = "tender", .run = tender });

#ifndef PAWL_NO_MAIN
#include "host.h"

int main(int argc, char **argv)
{
    return host_run("sqlite:fanout.db", &pawl_module, "tender", argc > 1 ? argv[1] : "tender-1", NULL);
}
#endif
