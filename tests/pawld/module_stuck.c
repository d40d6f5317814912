/* module_stuck.c - a workflow whose code blocks outside a step, until a file is there; and one that does not. */
#include <pawl/workflow.h>

#include "gate.h"

static pawl_status first_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    return pawl_result(step, out_result, "i", 1);
}

/* params: {"gate": "path"}.  "<path>.log" gets a line when the wait begins. */
static pawl_status stuck(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *gate = pawl_value_string(params, "gate", "");
    PAWL_TRY(pawl_do(run, "first", NULL, first_body, NULL, NULL));
    gate_stand(gate);
    return pawl_return(run, out_result, "s", "passed");
}

static pawl_status echo(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_return(run, out_result, "{s:V}", "echo", params);
}

PAWL_MODULE({ .name = "stuck", .run = stuck }, { .name = "echo", .run = echo });
