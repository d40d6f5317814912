/* module_gates.c - workflows whose steps a test can meet: bodies stand at a gate until its file is there. */
#include <pawl/workflow.h>

#include "gate.h"

/* input: the gate's path.  "<path>.log" gets a line when the body begins, and one when it ends. */
static pawl_status pass_gate(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *gate = pawl_value_string(input, NULL, "");
    gate_stand(gate);
    gate_note(gate, "ended");
    return pawl_result(step, out_result, "s", "passed");
}

static pawl_status first_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    gate_note(pawl_value_string(input, NULL, ""), "first");
    return pawl_result(step, out_result, "i", 1);
}

/* params: {"gate": "path"} */
static pawl_status gated(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const pawl_value *gate = pawl_value_at(params, "gate");
    PAWL_TRY(pawl_do(run, "first", NULL, first_body, gate, NULL));
    return pawl_do(run, "gate", NULL, pass_gate, gate, out_result);
}

static pawl_status echo(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_return(run, out_result, "{s:V}", "echo", params);
}

static pawl_status nap(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", "1 hour", NULL));
    return pawl_return(run, out_result, "s", "rested");
}

PAWL_MODULE({ .name = "gated", .run = gated }, { .name = "echo", .run = echo }, { .name = "nap", .run = nap });
