/* cluster.c - GET /cluster and .../shards: the live runners on all machines, and the shards that they own. */
#include "http/answer.h"
#include "http/operations.h"
#include "http/write.h"

static void write_runner(struct pw_buffer *out, const struct pawl_runner_info *runner)
{
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "id", runner->id);
    pw_json_string(out, "name", runner->name);
    pw_json_bool(out, "sharing", runner->is_sharing);
    pw_json_time(out, "startedAt", runner->started_at_ms);
    pw_json_time(out, "seenAt", runner->seen_at_ms);
    pw_json_open(out, "workflows", '[');
    for (size_t i = 0; i < runner->workflow_count; i++) {
        pw_json_open(out, NULL, '{');
        pw_json_string(out, "name", runner->workflows[i].name);
        pw_json_integer(out, "shards", runner->workflows[i].shards);
        pw_json_close(out, '}');
    }
    pw_json_close(out, ']');
    pw_json_close(out, '}');
}

pawl_status pw_http_cluster(pawl_http_call *call)
{
    const struct pawl_runner_info *runners;
    size_t count;
    pawl_status status = pawl_list_runners(call->http->engine, call->scope, &runners, &count, &call->error);
    if (status != PAWL_OK)
        return status;
    pw_json_open(&call->out, NULL, '{');
    pw_json_integer(&call->out, "shardCount", PAWL_SHARD_COUNT);
    pw_json_open(&call->out, "runners", '[');
    for (size_t i = 0; i < count; i++)
        write_runner(&call->out, &runners[i]);
    pw_json_close(&call->out, ']');
    return pw_http_answer_object(call, 200);
}

pawl_status pw_http_list_shards(pawl_http_call *call)
{
    const char *const *runner_ids;
    pawl_status status =
        pawl_list_shards(call->http->engine, call->scope, call->match.workflow, &runner_ids, &call->error);
    if (status != PAWL_OK)
        return status;
    pw_json_open(&call->out, NULL, '{');
    pw_json_string(&call->out, "workflowName", call->match.workflow);
    pw_json_open(&call->out, "shards", '[');
    for (int shard = 0; shard < PAWL_SHARD_COUNT; shard++) {
        pw_json_open(&call->out, NULL, '{');
        pw_json_integer(&call->out, "shard", shard);
        pw_json_string_if(&call->out, "runnerId", runner_ids[shard]);
        pw_json_close(&call->out, '}');
    }
    pw_json_close(&call->out, ']');
    return pw_http_answer_object(call, 200);
}
