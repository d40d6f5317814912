/* module_programs.c - a workflow whose step is a program. */
#include <pawl/workflow.h>

/* params: {"script": "for sh"} */
static pawl_status program(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *arguments[] = { "sh", "-c", pawl_value_string(params, "script", "false"), NULL };
    struct pawl_process process = { .arguments = arguments };
    static const struct pawl_step_options options = { .timeout = "1 hour" };
    return pawl_do_process(run, "program", &options, &process, NULL, out_result);
}

PAWL_MODULE({ .name = "program", .run = program });
