/* module_sweep_names.c - a module with a mistake: in a loop, a name has no index; and as the last call, which a compiler that
 * is let to makes a jump of. */
#include <pawl/workflow.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2")
#endif

static pawl_status polls(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    for (int i = 0; i < 3; i++)
        PAWL_TRY(pawl_sleep(run, "poll", "1 hour")); /* the mistake */
    return PAWL_OK;
}

static pawl_status jumps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    PAWL_TRY(pawl_sleep(run, "jump", "1 hour"));
    return pawl_sleep(run, "jump", "1 hour");
}

PAWL_MODULE({ .name = "polls", .run = polls }, { .name = "jumps", .run = jumps });
