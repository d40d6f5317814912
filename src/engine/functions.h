/* functions.h (internal) - functions.  Their jobs are instances of a workflow that no user can name: "@" and the
 * function's name. */
#ifndef PW_ENGINE_FUNCTIONS_H
#define PW_ENGINE_FUNCTIONS_H

#include "base/limits.h"
#include "engine/engine.h"

enum { PW_JOB_WORKFLOW_SIZE = PW_FUNCTION_NAME_MAX + 2 };

/* PAWL_INVALID_FUNCTION_NAME if it is not a function's name, or NULL. */
pawl_status pw_function_check(const char *name, struct pawl_error *error) PAWL_MUST_CHECK;

/* The workflow of the function's jobs, in the buffer.  The name must have been checked. */
struct pw_text pw_function_workflow(const char *name, char buffer[PW_JOB_WORKFLOW_SIZE]);
bool pw_is_job_workflow(struct pw_text workflow);
/* The function to which a jobs' workflow belongs. */
static inline struct pw_text pw_function_of(struct pw_text workflow)
{
    return (struct pw_text){ workflow.data + 1, workflow.size - 1 };
}

/* How many jobs of the workflow may be leased at once; 0: any number. */
size_t pw_function_limit(pawl_engine *engine, struct pw_text workflow);

#endif
