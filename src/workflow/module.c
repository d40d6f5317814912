/* module.c - a file's workflows, from the same program or from a shared object. */
#include <dlfcn.h>
#include <string.h>

#include "base/error.h"
#include "pawl/workflow.h"

pawl_status pawl_register_module(pawl_engine *engine, const struct pawl_module *module, struct pawl_error *error)
{
    if (engine == NULL || module == NULL)
        return pw_error(error, PAWL_INVALID, "a module and an engine are needed");
    if (module->version != PAWL_MODULE_VERSION || module->workflow_size == 0 ||
        module->workflow_size > sizeof(struct pawl_workflow))
        return pw_error(error, PAWL_MODULE_INVALID,
                        "the module was built for version %d of Pawl's module interface, this library has %d",
                        module->version, PAWL_MODULE_VERSION);
    for (size_t i = 0; i < module->workflow_count; i++) {
        struct pawl_workflow workflow = { 0 };
        memcpy(&workflow, (const char *)module->workflows + i * module->workflow_size, module->workflow_size);
        pawl_status status = pawl_register(engine, &workflow, error);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static void unload(void *handle)
{
    (void)dlclose(handle);
}

pawl_status pawl_load_module(pawl_engine *engine, const char *path, struct pawl_error *error)
{
    if (engine == NULL || path == NULL)
        return pw_error(error, PAWL_INVALID, "a path and an engine are needed");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return pw_error(error, PAWL_MODULE_INVALID, "cannot load the module: %s", dlerror());
    const struct pawl_module *module = dlsym(handle, "pawl_module");
    if (module == NULL) {
        unload(handle);
        return pw_error(error, PAWL_MODULE_INVALID, "%s exports no pawl_module; PAWL_MODULE(...) makes one", path);
    }
    pawl_status status = pawl_at_close(engine, unload, handle);
    if (status != PAWL_OK) {
        unload(handle);
        return pw_error_plain(error, status);
    }
    return pawl_register_module(engine, module, error);
}
