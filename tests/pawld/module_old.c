/* module_old.c - a module that was built for another version of the interface. */
#include <pawl/workflow.h>

extern PAWL_API const struct pawl_module pawl_module;
const struct pawl_module pawl_module = { PAWL_MODULE_VERSION + 98, sizeof(struct pawl_workflow), 0, NULL, NULL };
