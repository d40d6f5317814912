/* module_stuck.c - a workflow whose code blocks outside a step, until a file is there; and one that does not. */
#include <pawl/workflow.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS_MAX = 12000, LOOK_MS = 5 };

static pawl_status first_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    return pawl_result(step, out_result, "i", 1);
}

/* params: {"gate": "path"}.  "<path>.log" gets a line when the wait begins. */
static pawl_status stuck(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *gate = pawl_value_string(params, "gate", "");
    const struct timespec moment = { 0, LOOK_MS * 1000000L };
    PAWL_TRY(pawl_do(run, "first", NULL, first_body, NULL, NULL));
    FILE *file = fopen(pawl_run_format(run, "%s.log", gate), "ae");
    if (file != NULL) {
        (void)fputs("begun\n", file);
        (void)fclose(file);
    }
    for (int i = 0; i < LOOKS_MAX && access(gate, F_OK) != 0; i++)
        (void)nanosleep(&moment, NULL);
    return pawl_return(run, out_result, "s", "passed");
}

static pawl_status echo(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_return(run, out_result, "{s:V}", "echo", params);
}

PAWL_MODULE({ .name = "stuck", .run = stuck }, { .name = "echo", .run = echo });
