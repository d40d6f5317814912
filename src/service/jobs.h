/* jobs.h - what claiming jobs and ending them have in common: the token of a claim, and what a job's params say.
 *
 * A job is an instance of the workflow "@<function>".  Its params are {"step","attempt","timeoutMs","data"?}, as the run
 * that called the function wrote them.  A token is "<key>.<run>.<epoch>.<secret>.<id>": the fence of the claim; the number
 * that the claim has drawn, which is the owner in the task's row while the claim holds; and the job's id.  Who has held the job
 * knows all but the secret of the next holder. */
#ifndef PW_SERVICE_JOBS_H
#define PW_SERVICE_JOBS_H

#include "common/limits.h"
#include "engine/engine.h"

/* 0 becomes the default. */
pawl_status pw_job_check_lease(int64_t lease_ms, int64_t *out_lease_ms, struct pawl_error *error) PAWL_MUST_CHECK;

/* Texts are parts of the params. */
struct pw_job_order {
    struct pw_text step; /* as JSON */
    int64_t attempt, timeout_ms;
    struct pw_text data; /* as it was given; absent: none */
};
/* False: it is none. */
bool pw_job_order_read(struct pw_text params, struct pw_job_order *out_order);

/* When what a worker says does not count any more; INT64_MAX: never. */
int64_t pw_job_deadline(const struct pw_instance *job, const struct pw_job_order *order);

/* Of a job that is claimed.  In the scope; NULL when memory is out. */
const char *pw_job_token(pawl_scope *scope, const struct pw_instance *row);

/* A job that is leased to the holder of the token. */
struct pw_job_lease {
    struct pw_fence fence;
    struct pw_instance row;
    int64_t now_ms, deadline_ms;
};
/* Reads it, in the arena.  PAWL_INVALID_TOKEN, PAWL_JOB_GONE. */
pawl_status pw_job_find(pawl_engine *engine, struct pw_arena *arena, const char *token, struct pw_job_lease *out_lease,
                        struct pawl_error *error) PAWL_MUST_CHECK;

/* Of the steps that wait for their jobs: who has those, read all at once.  A job that has ended is not shown: its answer is
 * on the way. */
pawl_status pw_jobs_show(pawl_engine *engine, pawl_scope *scope, struct pawl_step_record *steps, size_t count,
                         struct pawl_error *error) PAWL_MUST_CHECK;

/* PAWL_JOB_GONE, saying what to do. */
pawl_status pw_job_gone(struct pawl_error *error);

#endif
