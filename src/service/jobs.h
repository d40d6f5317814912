/* jobs.h - what claiming and ending jobs share: the token of a claim, and what a job's params say.
 *
 * A job is an instance of the workflow "@<function>".  Its params are {"step","attempt","timeoutMs","data"?},
 * written by the run that called the function.  A token is "<key>.<run>.<epoch>.<secret>.<id>": the fence of the
 * claim, a secret, and the job's id.  The secret is the random number of the claim, which is the owner in the task's
 * row while the claim holds.  So a former holder of a job knows everything but the secret of the next holder. */
#ifndef PW_SERVICE_JOBS_H
#define PW_SERVICE_JOBS_H

#include "common/limits.h"
#include "engine/engine.h"

/* Checks the length of a lease.  0 becomes the default. */
pawl_status pw_job_check_lease(int64_t lease_ms, int64_t *out_lease_ms, struct pawl_error *error) PAWL_MUST_CHECK;

/* What a job's params say.  Texts are parts of the params. */
struct pw_job_order {
    struct pw_text step; /* as JSON */
    int64_t attempt, timeout_ms;
    struct pw_text data; /* as the caller gave it; absent: none */
};
/* False: these are not the params of a job. */
bool pw_job_order_read(struct pw_text params, struct pw_job_order *out_order);

/* The time after which the worker's messages no longer count; INT64_MAX: never. */
int64_t pw_job_deadline(const struct pw_instance *job, const struct pw_job_order *order);

/* The token of a claimed job, in the scope.  NULL when memory runs out. */
const char *pw_job_token(pawl_scope *scope, const struct pw_instance *row);

/* A job that is leased to the holder of the token. */
struct pw_job_lease {
    struct pw_fence fence;
    struct pw_instance row;
    int64_t now_ms, deadline_ms;
};
/* Reads the job, in the arena.  PAWL_INVALID_TOKEN or PAWL_JOB_GONE if the token does not hold a lease. */
pawl_status pw_job_find(pawl_engine *engine, struct pw_arena *arena, const char *token, struct pw_job_lease *out_lease,
                        struct pawl_error *error) PAWL_MUST_CHECK;

/* Adds the holders of the jobs to the steps that wait for jobs, with one read.  A job that has ended is not shown,
 * because its answer is on the way. */
pawl_status pw_jobs_show(pawl_engine *engine, pawl_scope *scope, struct pawl_step_record *steps, size_t count,
                         struct pawl_error *error) PAWL_MUST_CHECK;

/* Fills in PAWL_JOB_GONE, with a text that says what to do. */
pawl_status pw_job_gone(struct pawl_error *error);

#endif
