/* module.c - registers the workflows and functions of a module, from the same program or from a shared object. */
#include <dlfcn.h>
#include <string.h>

#include "base/error.h"
#include "pawl/workflow.h"

static pawl_status check_version(int version, size_t size, size_t size_known, struct pawl_error *error)
{
    if (version == PAWL_MODULE_VERSION && size > 0 && size <= size_known)
        return PAWL_OK;
    return pw_error(error, PAWL_MODULE_INVALID,
                    "the module was built for version %d of Pawl's module interface, this library has %d", version,
                    PAWL_MODULE_VERSION);
}

pawl_status pawl_register_functions(pawl_engine *engine, const struct pawl_module_functions *functions,
                                    struct pawl_error *error)
{
    if (engine == NULL || functions == NULL)
        return pw_error(error, PAWL_INVALID, "functions and an engine are needed");
    PAWL_TRY(check_version(functions->version, functions->function_size, sizeof(struct pawl_function), error));
    for (size_t i = 0; i < functions->function_count; i++) {
        struct pawl_function function = { 0 };
        memcpy(&function, (const char *)functions->functions + i * functions->function_size, functions->function_size);
        PAWL_TRY(pawl_register_function(engine, &function, error));
    }
    return PAWL_OK;
}

pawl_status pawl_register_module(pawl_engine *engine, const struct pawl_module *module, struct pawl_error *error)
{
    if (engine == NULL || module == NULL)
        return pw_error(error, PAWL_INVALID, "a module and an engine are needed");
    PAWL_TRY(check_version(module->version, module->workflow_size, sizeof(struct pawl_workflow), error));
    for (size_t i = 0; i < module->workflow_count; i++) {
        struct pawl_workflow workflow = { 0 };
        memcpy(&workflow, (const char *)module->workflows + i * module->workflow_size, module->workflow_size);
        PAWL_TRY(pawl_register(engine, &workflow, error));
    }
    return module->functions != NULL ? pawl_register_functions(engine, module->functions, error) : PAWL_OK;
}

/* ---- Shared objects ---------------------------------------------------------------------------------------------- */

struct loaded {
    const struct pawl_module *module;              /* or NULL */
    const struct pawl_module_functions *functions; /* or NULL */
};

static void unload(void *handle)
{
    (void)dlclose(handle);
}

/* Loads a shared object.  It stays loaded until the engine is closed. */
static pawl_status load(pawl_engine *engine, const char *path, struct loaded *out_loaded, struct pawl_error *error)
{
    if (engine == NULL || path == NULL)
        return pw_error(error, PAWL_INVALID, "a path and an engine are needed");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return pw_error(error, PAWL_MODULE_INVALID, "cannot load the module: %s", dlerror());
    *out_loaded = (struct loaded){ dlsym(handle, "pawl_module"), dlsym(handle, "pawl_module_functions") };
    pawl_status status = pawl_at_close(engine, unload, handle);
    if (status != PAWL_OK) {
        unload(handle);
        return pw_error_plain(error, status);
    }
    return PAWL_OK;
}

pawl_status pawl_load_module(pawl_engine *engine, const char *path, struct pawl_error *error)
{
    struct loaded loaded;
    PAWL_TRY(load(engine, path, &loaded, error));
    if (loaded.module != NULL)
        return pawl_register_module(engine, loaded.module, error);
    if (loaded.functions != NULL)
        return pawl_register_functions(engine, loaded.functions, error);
    return pw_error(error, PAWL_MODULE_INVALID, "%s exports no pawl_module; PAWL_MODULE(...) makes one", path);
}

pawl_status pawl_load_functions(pawl_engine *engine, const char *path, struct pawl_error *error)
{
    struct loaded loaded;
    PAWL_TRY(load(engine, path, &loaded, error));
    if (loaded.functions == NULL)
        return pw_error(error, PAWL_MODULE_INVALID, "%s exports no functions; PAWL_FUNCTIONS(...) does", path);
    return pawl_register_functions(engine, loaded.functions, error);
}
