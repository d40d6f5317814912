/* module_gates.c - workflows whose steps a test can meet: bodies stand at a gate until its file is there. */
#include <pawl/workflow.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS_MAX = 12000, LOOK_MS = 5 };

static void note(const char *gate, const char *what)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s.log", gate);
    FILE *file = fopen(path, "ae");
    if (file == NULL)
        return;
    (void)fprintf(file, "%s\n", what);
    (void)fclose(file);
}

/* input: the gate's path.  "<path>.log" gets a line when the body begins, and one when it ends. */
static pawl_status pass_gate(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *gate = pawl_value_string(input, NULL, "");
    const struct timespec moment = { 0, LOOK_MS * 1000000L };
    note(gate, "begun");
    for (int i = 0; i < LOOKS_MAX && access(gate, F_OK) != 0; i++)
        (void)nanosleep(&moment, NULL);
    note(gate, "ended");
    return pawl_result(step, out_result, "s", "passed");
}

static pawl_status first_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    note(pawl_value_string(input, NULL, ""), "first");
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
