/* A stranger's module for pawld. */
#include <pawl/pawl.h>

static pawl_status greet(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_return(run, out_result, "{s:s}", "hello", "world");
}

PAWL_MODULE({ .name = "greet", .run = greet });
