/* routes.c - see routes.h. */
#include "http/routes.h"

#include <assert.h>
#include <string.h>

#include "http/answer.h"
#include "http/operations.h"

static const char *const list_query[] = { "status", "version", "pageSize", "cursor", "order", NULL };
static const char *const status_query[] = { "workflow", NULL };
static const char *const history_query[] = { "runNumber",   "pageSize",   "stepsCursor", "eventsCursor", "order",
                                             "includeLogs", "logsCursor", "logLevel",    "logCategory",  NULL };
static const char *const result_query[] = { "waitMs", NULL };
static const char *const get_query[] = { "runNumber", NULL };
static const char *const page_query[] = { "pageSize", "cursor", "order", NULL };
static const char *const deliveries_query[] = { "status", "hook", "pageSize", "cursor", NULL };

#define INSTANCES "/workflows/:workflow/instances"
#define INSTANCE INSTANCES "/:id"

/* If two patterns of one method match a path, the first wins. */
const struct pw_http_route pw_http_routes[] = {
    { "GET", "/workflows", PAWL_HTTP_READ, PW_HTTP_MEMORY, NULL, pw_http_list_workflows, NULL },
    { "GET", "/workflows/", PAWL_HTTP_READ, PW_HTTP_MEMORY, NULL, pw_http_list_workflows, NULL },
    { "GET", "/workflows/:workflow/shards", PAWL_HTTP_READ, PW_HTTP_STORE, NULL, pw_http_list_shards, NULL },
    { "GET", INSTANCES, PAWL_HTTP_READ, PW_HTTP_PAGE, list_query, pw_http_list_instances, NULL },
    { "POST", INSTANCES, PAWL_HTTP_CREATE, PW_HTTP_STORE, NULL, pw_http_create, pw_http_create_done },
    { "POST", INSTANCES "/batch", PAWL_HTTP_CREATE, PW_HTTP_STORE, NULL, pw_http_create_batch,
      pw_http_create_batch_done },
    { "GET", INSTANCE, PAWL_HTTP_READ, PW_HTTP_STORE, get_query, pw_http_get, NULL },
    { "POST", INSTANCE "/pause", PAWL_HTTP_MANAGE, PW_HTTP_STORE, NULL, pw_http_pause, pw_http_answer_ok },
    { "POST", INSTANCE "/resume", PAWL_HTTP_MANAGE, PW_HTTP_STORE, NULL, pw_http_resume, pw_http_answer_ok },
    { "POST", INSTANCE "/terminate", PAWL_HTTP_MANAGE, PW_HTTP_STORE, NULL, pw_http_terminate, pw_http_answer_ok },
    { "POST", INSTANCE "/restart", PAWL_HTTP_MANAGE, PW_HTTP_STORE, NULL, pw_http_restart, pw_http_answer_ok },
    { "POST", INSTANCE "/interrupt", PAWL_HTTP_MANAGE, PW_HTTP_STORE, NULL, pw_http_interrupt, pw_http_answer_ok },
    { "POST", INSTANCE "/retry", PAWL_HTTP_MANAGE, PW_HTTP_STORE, NULL, pw_http_retry, pw_http_answer_ok },
    { "POST", INSTANCE "/events", PAWL_HTTP_EVENT, PW_HTTP_STORE, NULL, pw_http_send_event, pw_http_send_event_done },
    { "GET", INSTANCE "/history", PAWL_HTTP_READ, PW_HTTP_PAGE, history_query, pw_http_history, NULL },
    { "GET", INSTANCE "/result", PAWL_HTTP_READ, PW_HTTP_STORE, result_query, pw_http_result, pw_http_result_look },
    { "GET", INSTANCE "/stream", PAWL_HTTP_READ, PW_HTTP_STORE, NULL, pw_http_stream, NULL },
    { "GET", INSTANCE "/runs", PAWL_HTTP_READ, PW_HTTP_PAGE, page_query, pw_http_list_runs, NULL },
    { "GET", INSTANCE "/why", PAWL_HTTP_READ, PW_HTTP_PAGE, NULL, pw_http_why, NULL },
    { "GET", INSTANCE "/children", PAWL_HTTP_READ, PW_HTTP_PAGE, page_query, pw_http_list_children, NULL },
    { "POST", "/workflows/:workflow/execute", PAWL_HTTP_CREATE, PW_HTTP_STORE, NULL, pw_http_execute,
      pw_http_execute_carry_on },
    { "GET", "/workflows/:workflow/execute/:key", PAWL_HTTP_READ, PW_HTTP_STORE, NULL, pw_http_poll, NULL },
    { "POST", "/deferred/:token/succeed", PAWL_HTTP_DEFERRED, PW_HTTP_STORE, NULL, pw_http_settle_succeed,
      pw_http_settle_done },
    { "POST", "/deferred/:token/fail", PAWL_HTTP_DEFERRED, PW_HTTP_STORE, NULL, pw_http_settle_fail,
      pw_http_settle_done },
    { "POST", "/jobs/claim", PAWL_HTTP_WORK, PW_HTTP_STORE, NULL, pw_http_job_claim, pw_http_job_claim_carry_on },
    { "POST", "/jobs/:token/heartbeat", PAWL_HTTP_WORK, PW_HTTP_STORE, NULL, pw_http_job_heartbeat,
      pw_http_job_heartbeat_done },
    { "POST", "/jobs/:token/complete", PAWL_HTTP_WORK, PW_HTTP_STORE, NULL, pw_http_settle_succeed,
      pw_http_settle_done },
    { "POST", "/jobs/:token/fail", PAWL_HTTP_WORK, PW_HTTP_STORE, NULL, pw_http_settle_fail, pw_http_settle_done },
    { "POST", "/_runner/tick", PAWL_HTTP_TICK, PW_HTTP_MEMORY, NULL, pw_http_run_tick, pw_http_run_tick_done },
    { "POST", "/workflows/_runner/tick", PAWL_HTTP_TICK, PW_HTTP_MEMORY, NULL, pw_http_run_tick,
      pw_http_run_tick_done },
    { "GET", "/hooks/deliveries", PAWL_HTTP_READ, PW_HTTP_STORE, deliveries_query, pw_http_list_deliveries, NULL },
    { "POST", "/hooks/deliveries/:delivery/resend", PAWL_HTTP_MANAGE, PW_HTTP_STORE, NULL, pw_http_resend,
      pw_http_answer_ok },
    { "GET", "/status", PAWL_HTTP_READ, PW_HTTP_STORE, status_query, pw_http_count_instances, NULL },
    { "GET", "/cluster", PAWL_HTTP_READ, PW_HTTP_STORE, NULL, pw_http_cluster, NULL },
    { "GET", "/health", PAWL_HTTP_OPEN, PW_HTTP_MEMORY, NULL, pw_http_live, NULL },
    { "GET", "/health/live", PAWL_HTTP_OPEN, PW_HTTP_MEMORY, NULL, pw_http_live, NULL },
    { "GET", "/health/ready", PAWL_HTTP_OPEN, PW_HTTP_MEMORY, NULL, pw_http_ready, pw_http_ready_look },
    { "GET", "/version", PAWL_HTTP_OPEN, PW_HTTP_MEMORY, NULL, pw_http_version, NULL },
    { "GET", "/metrics", PAWL_HTTP_READ, PW_HTTP_FIGURES, NULL, pw_http_metrics, NULL },
    { "GET", "/openapi.json", PAWL_HTTP_OPEN, PW_HTTP_MEMORY, NULL, pw_http_describe, NULL },
};
const size_t pw_http_route_count = sizeof pw_http_routes / sizeof pw_http_routes[0];
static_assert(sizeof pw_http_routes / sizeof pw_http_routes[0] <= PW_HTTP_ROUTES_MAX, "each route has a counter");

static void keep(struct pw_http_match *match, const char *name, size_t size, const char *segment)
{
    const char **places[] = { &match->workflow, &match->id, &match->delivery, &match->key, &match->token };
    static const char *const names[] = { "workflow", "id", "delivery", "key", "token" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
            *places[i] = segment;
}

/* Does the path match the pattern?  Stores the named segments in match, unless that is NULL. */
static bool fits(const char *pattern, const char *const *segments, size_t count, struct pw_http_match *match)
{
    for (size_t i = 0; i < count; i++) {
        if (*pattern++ != '/')
            return false;
        size_t size = strcspn(pattern, "/");
        bool is_name = *pattern == ':';
        if (is_name ? segments[i][0] == '\0' : strncmp(pattern, segments[i], size) != 0 || segments[i][size] != '\0')
            return false;
        if (is_name && match != NULL)
            keep(match, pattern + 1, size - 1, segments[i]);
        pattern += size;
    }
    return count > 0 && *pattern == '\0';
}

struct pw_http_match pw_http_route_find(const char *method, const char *const *segments, size_t count)
{
    struct pw_http_match match = { 0 };
    const char *asked = strcmp(method, "HEAD") == 0 ? "GET" : method;
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        if (!fits(route->pattern, segments, count, NULL))
            continue;
        match.is_path = true;
        if (strcmp(route->method, asked) != 0)
            continue;
        match.route = route;
        (void)fits(route->pattern, segments, count, &match);
        break;
    }
    return match;
}

const char *pw_http_route_allow(const char *const *segments, size_t count)
{
    bool has_get = false, has_post = false;
    for (size_t i = 0; i < pw_http_route_count; i++) {
        if (!fits(pw_http_routes[i].pattern, segments, count, NULL))
            continue;
        if (strcmp(pw_http_routes[i].method, "GET") == 0)
            has_get = true;
        else
            has_post = true;
    }
    if (has_get && has_post)
        return "GET, HEAD, POST, OPTIONS";
    return has_get ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
}
