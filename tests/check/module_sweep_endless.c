/* module_sweep_endless.c - a module whose code does not come back: from a body, and from no body. */
#include <pawl/workflow.h>
#include <stdio.h>
#include <unistd.h>

static pawl_status nothing(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    return PAWL_OK;
}

static pawl_status stay(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    puts("here I stay");
    (void)fflush(stdout);
    while (pause() != 0)
        ; /* no signal is caught, so it never answers */
    return PAWL_OK;
}

static pawl_status lives(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "live", NULL, nothing, params, out_result);
}

static pawl_status stays(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "live", NULL, nothing, params, NULL));
    return pawl_do(run, "stay", NULL, stay, params, out_result);
}

static pawl_status insists(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "live", NULL, nothing, params, out_result));
    while (pawl_sleep(run, "nap", "1 hour") == PAWL_SUSPENDED)
        ; /* the mistake: it has to return */
    return PAWL_OK;
}

PAWL_MODULE({ .name = "insists", .run = insists }, { .name = "stays", .run = stays },
            { .name = "unharmed", .run = lives });
