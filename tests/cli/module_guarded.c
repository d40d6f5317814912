/* module_guarded.c - a workflow that not every token may see. */
#include <pawl/workflow.h>

static pawl_status guarded(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_return(run, out_result, "{s:V}", "kept", params);
}

static const char *const permissions[] = { "admin", NULL };

PAWL_MODULE({ .name = "guarded", .run = guarded, .permissions = permissions });
