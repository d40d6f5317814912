/* jobs.c - workers claim jobs over HTTP, wait for them, and extend their leases.
 *
 * A claim that finds nothing waits without a thread.  It has news when a job may have become due in this process,
 * and claims again from time to time to find jobs of other processes.  Each look is a claim. */
#include "common/limits.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/operations.h"
#include "http/write.h"

#define LEASE_FIELD                                                                                                    \
    {                                                                                                                  \
        .name = "leaseMs", .kind = PW_HTTP_RANGE, .min = PW_JOB_LEASE_MS_MIN, .max = PW_JOB_LEASE_MS_MAX               \
    }

/* ---- Claims ---------------------------------------------------------------------------------------------------- */

static pawl_status claim(pawl_http_call *call)
{
    struct pw_http_claim_work *work = &call->work.claim;
    if (call->lacks_store)
        return PAWL_STORE_UNAVAILABLE;
    pawl_scope_free(call->look_scope);
    call->look_scope = pawl_scope_new();
    if (call->look_scope == NULL)
        return PAWL_NOMEM;
    pw_http_call_submit(call);
    pawl_job_claim_async(call->http->engine, call->look_scope, &work->options, &work->jobs, &work->count, &call->error,
                         pw_http_call_answered, call);
    return PAWL_OK;
}

static void read_functions(pawl_http_call *call, const struct pw_http_field *field, struct pawl_claim_options *options)
{
    options->function_count = pw_http_list_read(call, field, PW_JOB_FUNCTIONS_MAX, &options->functions);
    if (options->function_count == 0)
        pw_http_issue(call, field->name, "names no function");
}

pawl_status pw_http_job_claim(pawl_http_call *call)
{
    enum { FUNCTIONS, MAX, LEASE, WAIT, COUNT };
    struct pw_http_field fields[COUNT] = {
        [FUNCTIONS] = { .name = "functions", .kind = PW_HTTP_LIST, .is_required = true },
        [MAX] = { .name = "max", .kind = PW_HTTP_RANGE, .min = 1, .max = PW_JOB_CLAIM_MAX },
        [LEASE] = LEASE_FIELD,
        [WAIT] = { .name = "waitMs", .kind = PW_HTTP_RANGE, .max = INT64_MAX }
    };
    struct pawl_claim_options *options = &call->work.claim.options;
    if (!pw_http_body_read(call, fields, COUNT))
        return PAWL_OK;
    *options = (struct pawl_claim_options)PAWL_CLAIM_OPTIONS_INIT;
    read_functions(call, &fields[FUNCTIONS], options);
    if (pw_http_fail_issues(call))
        return PAWL_OK;
    options->max = (int32_t)fields[MAX].number;
    options->lease_ms = fields[LEASE].number;
    pw_http_call_set_deadline(call, fields[WAIT].number);
    return claim(call);
}

static pawl_status answer_jobs(pawl_http_call *call)
{
    const struct pw_http_claim_work *work = &call->work.claim;
    pw_json_open(&call->out, NULL, '{');
    pw_json_open(&call->out, "jobs", '[');
    for (size_t i = 0; i < work->count; i++)
        pw_http_write_job(&call->out, &work->jobs[i]);
    pw_json_close(&call->out, ']');
    return pw_http_answer_object(call, 200);
}

/* The first claim found nothing.  A job that became due between the claim and the opening of the watch would go
 * unnoticed, so claim again. */
static pawl_status wait_for_jobs(pawl_http_call *call, int64_t now_ms)
{
    if (call->job_watch != NULL)
        return pw_http_call_look_again(call, now_ms);
    pawl_status status = pw_http_call_watch_jobs(call);
    return status == PAWL_OK ? claim(call) : status;
}

pawl_status pw_http_job_claim_carry_on(pawl_http_call *call)
{
    int64_t now_ms = pawl_now_ms(call->http->engine);
    if (call->state == PW_HTTP_WAITING)
        return claim(call);
    if (call->work.claim.count > 0 || now_ms >= call->deadline_ms || pw_http_is_draining(call))
        return answer_jobs(call);
    return wait_for_jobs(call, now_ms);
}

/* ---- Leases ---------------------------------------------------------------------------------------------------- */

pawl_status pw_http_job_heartbeat(pawl_http_call *call)
{
    struct pw_http_field lease = LEASE_FIELD;
    if (!pw_http_body_read(call, &lease, 1))
        return PAWL_OK;
    pw_http_call_submit(call);
    pawl_job_heartbeat_async(call->http->engine, call->match.token, lease.number, &call->work.leased_until_ms,
                             &call->error, pw_http_call_answered, call);
    return PAWL_OK;
}

pawl_status pw_http_job_heartbeat_done(pawl_http_call *call)
{
    pw_json_open(&call->out, NULL, '{');
    pw_json_time(&call->out, "leasedUntil", call->work.leased_until_ms);
    return pw_http_answer_object(call, 200);
}
