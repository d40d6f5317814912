/* asking.c - see asking.h. */
#include "asking.h"

#include <stdio.h>
#include <string.h>

struct pawl_http_request request_of(const char *method, const char *target, const char *body)
{
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    request.method = method;
    request.target = target;
    request.body = body;
    request.body_size = body != NULL ? strlen(body) : 0;
    return request;
}

struct pawl_http_response answer_of(pawl_http *http, pawl_scope *scope, const char *method, const char *target,
                                    const char *body)
{
    struct pawl_http_request request = request_of(method, target, body);
    struct pawl_http_response response;
    assert_int_equal(pawl_http_answer(http, scope, &request, &response), PAWL_OK);
    return response;
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

const char *route_target(pawl_scope *scope, const struct pw_http_route *route, struct route_names names)
{
    const char *target = "/api";
    for (const char *at = route->pattern; *at != '\0'; at += 1 + strcspn(at + 1, "/")) {
        const char *part = at + 1, *name = names.other;
        int size = (int)strcspn(part, "/");
        if (*part != ':')
            name = NULL;
        else if (strncmp(part, ":workflow", (size_t)size) == 0)
            name = names.workflow;
        else if (strncmp(part, ":id", (size_t)size) == 0)
            name = names.id;
        target = name != NULL ? pawl_scope_format(scope, "%s/%s", target, name)
                              : pawl_scope_format(scope, "%s/%.*s", target, size, part);
    }
    return target;
}

const struct pw_http_route *route_of(const char *method, const char *target)
{
    char buffer[512];
    const char *segments[PW_HTTP_SEGMENTS_MAX];
    size_t count = 0;
    (void)snprintf(buffer, sizeof buffer, "%s", target + strlen("/api"));
    buffer[strcspn(buffer, "?")] = '\0';
    for (char *at = buffer; at != NULL && count < PW_HTTP_SEGMENTS_MAX; count++) {
        segments[count] = at + 1;
        at = strchr(at + 1, '/');
        if (at != NULL)
            *at = '\0';
    }
    return pw_http_route_find(method, segments, count).route;
}

/* ---- Samples ---------------------------------------------------------------------------------------------------- */

#define ECHO "/api/workflows/echo/instances"
#define WAITS "/api/workflows/order/instances/waits"

/* In the place of $job and $deferred stand the tokens.  Some routes have several: they go different ways. */
const struct route_sample route_samples[] = {
    { "GET", "/api/workflows", NULL, 200 },
    { "GET", "/api/workflows/", NULL, 200 },
    { "GET", "/api/workflows/order/shards", NULL, 200 },
    { "GET", "/api/workflows/order/instances?pageSize=2", NULL, 200 },
    { "POST", ECHO, "{\"id\":\"n\\u0065w\",\"params\":{\"a\":[1,2]}}", 200 },
    { "POST", ECHO, "{\"id\":\"done\",\"onConflict\":\"return\"}", 200 },
    { "POST", ECHO "/batch", "{\"instances\":[{\"id\":\"a\"},{\"id\":\"done\"}]}", 200 },
    { "GET", WAITS, NULL, 200 },
    { "GET", WAITS "?runNumber=1", NULL, 200 },
    { "GET", "/api/workflows/defers/instances/kid", NULL, 200 },
    { "POST", WAITS "/pause", NULL, 200 },
    { "POST", WAITS "/resume", NULL, 200 },
    { "POST", WAITS "/terminate", NULL, 200 },
    { "POST", WAITS "/terminate", "{\"rollback\":true}", 200 },
    { "POST", WAITS "/restart", "{}", 200 },
    { "POST", WAITS "/restart", "{\"from\":\"ch\\u0061rge\"}", 200 },
    { "POST", WAITS "/interrupt", NULL, 200 },
    { "POST", "/api/workflows/broken/instances/b-1/retry", NULL, 200 },
    { "POST", WAITS "/events", "{\"type\":\"paid\",\"payload\":[]}", 200 },
    { "GET", WAITS "/history?includeLogs=true", NULL, 200 },
    { "GET", WAITS "/result", NULL, 202 },
    { "GET", WAITS "/stream", NULL, 200 },
    { "GET", WAITS "/runs", NULL, 200 },
    { "GET", WAITS "/why", NULL, 200 },
    { "GET", "/api/workflows/family/instances/f-1/why", NULL, 200 },
    { "GET", "/api/workflows/broken/instances/b-1/why", NULL, 200 },
    { "GET", "/api/workflows/family/instances/f-1/children", NULL, 200 },
    { "POST", "/api/workflows/echo/execute", "{\"key\":\"a/b\",\"params\":[1]}", 202 },
    { "GET", "/api/workflows/echo/execute/a%2fb", NULL, 404 },
    { "POST", "/api/deferred/$deferred/succeed", "{\"result\":{\"a\":[1,2]}}", 200 },
    { "POST", "/api/deferred/$deferred/fail", "{\"name\":\"E\"}", 200 },
    { "POST", "/api/jobs/claim", "{\"functions\":[\"ch\\u0061rge\",\"other\"],\"max\":9}", 200 },
    { "POST", "/api/jobs/$job/heartbeat", NULL, 200 },
    { "POST", "/api/jobs/$job/complete", "{\"result\":{\"a\":[1,2]}}", 200 },
    { "POST", "/api/jobs/$job/fail", "{\"name\":\"E\",\"message\":\"\\u0061\"}", 200 },
    { "POST", "/api/_runner/tick", NULL, 403 },
    { "POST", "/api/workflows/_runner/tick", NULL, 403 },
    { "GET", "/api/hooks/deliveries", NULL, 200 },
    { "POST", "/api/hooks/deliveries/d-1/resend", NULL, 404 },
    { "GET", "/api/status", NULL, 200 },
    { "GET", "/api/cluster", NULL, 200 },
    { "GET", "/api/health", NULL, 200 },
    { "GET", "/api/health/live", NULL, 200 },
    { "GET", "/api/health/ready", NULL, 200 },
    { "GET", "/api/version", NULL, 200 },
    { "GET", "/api/metrics", NULL, 200 },
    { "GET", "/api/openapi.json", NULL, 200 },
};
const size_t route_sample_count = sizeof route_samples / sizeof route_samples[0];

/* The world's job, which is claimed when it is asked for first. */
static const char *job_token(struct table_world *world, pawl_scope *scope)
{
    static const char *const function = "charge";
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs;
    size_t count;
    options.functions = &function;
    options.function_count = 1;
    if (world->job[0] == '\0') {
        assert_int_equal(pawl_job_claim(pawl_world_engine(world->world), scope, &options, &jobs, &count, NULL),
                         PAWL_OK);
        assert_int_equal(count, 1);
        (void)snprintf(world->job, sizeof world->job, "%s", jobs->token);
    }
    return world->job;
}

const char *sample_target(const struct route_sample *sample, struct table_world *world, pawl_scope *scope)
{
    const char *at = strchr(sample->target, '$');
    if (at == NULL)
        return sample->target;
    bool is_job = strncmp(at, "$job", strlen("$job")) == 0;
    return pawl_scope_format(scope, "%.*s%s%s", (int)(at - sample->target), sample->target,
                             is_job ? job_token(world, scope) : table_deferred_token("d-1"), strchr(at, '/'));
}
