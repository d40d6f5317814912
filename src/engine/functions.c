/* functions.c - see functions.h.  Also the limits on how many jobs of a function may run at once. */
#include "engine/functions.h"

#include <assert.h>

#include "base/error.h"

static_assert(PW_JOB_WORKFLOW_SIZE <= PW_WORKFLOW_NAME_MAX + 1,
              "the workflow of jobs has a workflow's name, but for the @");

struct pw_function_limit {
    struct pw_text workflow;
    size_t concurrency; /* 0: no limit */
    struct pw_function_limit *next;
};

static bool is_function_name(struct pw_text name)
{
    char letters[PW_FUNCTION_NAME_MAX];
    if (name.size == 0 || name.size > sizeof letters || name.data[0] == '.')
        return false;
    for (size_t i = 0; i < name.size; i++) /* allow dots where a letter is allowed */
        letters[i] = name.data[i] == '.' ? '_' : name.data[i];
    return pw_text_is_identifier((struct pw_text){ letters, name.size }, sizeof letters, true);
}

pawl_status pw_function_check(const char *name, struct pawl_error *error)
{
    if (name != NULL && is_function_name(pw_text_of(name)))
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID_FUNCTION_NAME, "\"%.80s\" is not a function name: %s", name != NULL ? name : "",
                    pawl_status_text(PAWL_INVALID_FUNCTION_NAME));
}

struct pw_text pw_function_workflow(const char *name, char buffer[PW_JOB_WORKFLOW_SIZE])
{
    size_t size = strlen(name);
    assert(size + 2 <= PW_JOB_WORKFLOW_SIZE);
    buffer[0] = '@';
    memcpy(buffer + 1, name, size + 1);
    return (struct pw_text){ buffer, size + 1 };
}

bool pw_is_job_workflow(struct pw_text workflow)
{
    return workflow.size > 0 && workflow.data[0] == '@';
}

/* With the engine's lock held. */
static struct pw_function_limit *find_limit(pawl_engine *engine, struct pw_text workflow)
{
    struct pw_function_limit *limit = engine->function_limits;
    while (limit != NULL && !pw_text_equal(limit->workflow, workflow))
        limit = limit->next;
    return limit;
}

/* With the engine's lock held. */
static pawl_status set_limit(pawl_engine *engine, struct pw_text workflow, size_t concurrency, struct pawl_error *error)
{
    struct pw_function_limit *limit = find_limit(engine, workflow);
    if (engine->sealed)
        return pw_error(error, PAWL_INVALID, "function \"%s\" must be limited before a runner starts",
                        workflow.data + 1);
    if (limit == NULL) {
        limit = pw_arena_zero(&engine->arena, sizeof *limit);
        if (limit == NULL || !pw_arena_text(&engine->arena, workflow, &limit->workflow))
            return pw_error_plain(error, PAWL_NOMEM);
        limit->next = engine->function_limits;
        engine->function_limits = limit;
    }
    limit->concurrency = concurrency;
    return PAWL_OK;
}

pawl_status pawl_limit_function(pawl_engine *engine, const char *function, int32_t concurrency,
                                struct pawl_error *error)
{
    char workflow[PW_JOB_WORKFLOW_SIZE];
    if (engine == NULL || concurrency < 0)
        return pw_error(error, PAWL_INVALID, "pawl_limit_function takes an engine, and a concurrency of 0 or more");
    PAWL_TRY(pw_function_check(function, error));
    pthread_mutex_lock(&engine->lock);
    pawl_status status = set_limit(engine, pw_function_workflow(function, workflow), (size_t)concurrency, error);
    pthread_mutex_unlock(&engine->lock);
    return status;
}

size_t pw_function_limit(pawl_engine *engine, struct pw_text workflow)
{
    pthread_mutex_lock(&engine->lock);
    const struct pw_function_limit *limit = find_limit(engine, workflow);
    size_t concurrency = limit != NULL ? limit->concurrency : 0;
    pthread_mutex_unlock(&engine->lock);
    return concurrency;
}
