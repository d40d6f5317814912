/* write_job.c - a job as its worker gets it. */
#include "http/write.h"

void pw_http_write_job(struct pw_http_text *out, const struct pawl_job *job)
{
    pw_http_json_open(out, NULL, '{');
    pw_http_json_string(out, "token", job->token);
    pw_http_json_string(out, "id", job->id);
    pw_http_json_string(out, "function", job->function);
    pw_http_json_raw_if(out, "data", job->data_json);
    pw_http_json_string(out, "workflowName", job->workflow);
    pw_http_json_string(out, "instanceId", job->instance_id);
    pw_http_json_integer(out, "runNumber", job->run_number);
    pw_http_json_string(out, "step", job->step);
    pw_http_json_integer(out, "attempt", job->attempt);
    pw_http_json_time_if(out, "deadlineAt", job->deadline_ms);
    pw_http_json_time(out, "leasedUntil", job->leased_until_ms);
    pw_http_json_close(out, '}');
}
