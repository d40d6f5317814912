/* write_job.c - writes a claimed job, as its worker gets it. */
#include "http/write.h"

void pw_http_write_job(struct pw_buffer *out, const struct pawl_job *job)
{
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "token", job->token);
    pw_json_string(out, "id", job->id);
    pw_json_string(out, "function", job->function);
    pw_json_raw_if(out, "data", job->data_json);
    pw_json_string(out, "workflowName", job->workflow);
    pw_json_string(out, "instanceId", job->instance_id);
    pw_json_integer(out, "runNumber", job->run_number);
    pw_json_string(out, "step", job->step);
    pw_json_integer(out, "attempt", job->attempt);
    pw_json_time_if(out, "deadlineAt", job->deadline_ms);
    pw_json_time(out, "leasedUntil", job->leased_until_ms);
    pw_json_close(out, '}');
}
