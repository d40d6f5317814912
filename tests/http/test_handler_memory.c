/* test_handler_memory.c - want of memory, wherever it strikes: every allocation of every route fails once, and the
 * answer is 503, or the right one, or none for lack of memory; never a crash, a 500 or a lie.
 *
 * The linker sends the allocations of this program, the handler and the engine here (CMakeLists.txt); those of other
 * threads never fail. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *string);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *string);

static _Thread_local struct {
    bool is_armed, has_struck;
    size_t left; /* calls until it strikes */
} plan;

static bool strikes(void)
{
    if (!plan.is_armed || plan.has_struck || --plan.left > 0)
        return false;
    plan.has_struck = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return strikes() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return strikes() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return strikes() ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *string)
{
    return strikes() ? NULL : __real_strdup(string);
}

static void arm(size_t nth)
{
    plan.is_armed = true;
    plan.has_struck = false;
    plan.left = nth;
}

static bool disarm(void)
{
    plan.is_armed = false;
    return plan.has_struck;
}

/* ---- Routes ---------------------------------------------------------------------------------------------------- */

/* In the place of these stand a job's token, after it was claimed, and a deferred's. */
#define JOB "$job"
#define DEFERRED "$deferred"
#define LONG_10(text) text text text text text text text text text text

static const struct {
    const char *method, *target, *body;
    int status;
} routes[] = {
    { "GET", "/api/workflows", NULL, 200 },
    { "GET", "/api/workflows/order/instances?pageSize=2", NULL, 200 },
    { "POST", "/api/workflows/echo/instances", "{\"id\":\"n\\u0065w\",\"params\":{\"a\":[1,2]}}", 200 },
    { "POST", "/api/workflows/echo/instances", "{\"id\":\"done\",\"onConflict\":\"return\"}", 200 },
    { "POST", "/api/workflows/echo/instances", "{\"params\":\"" LONG_10(LONG_10("a long text ")) "\"}", 200 },
    { "POST", "/api/workflows/echo/instances", "{\"id\":\"done\"}", 409 },
    { "POST", "/api/workflows/echo/instances", "{\"id\":7,\"x\\u0078\":[{}]}", 400 },
    { "POST", "/api/workflows/echo/instances", "{\"id\":", 400 },
    { "POST", "/api/workflows/echo/instances/batch", "{\"instances\":[{\"id\":\"a\"},{\"id\":\"done\"}]}", 200 },
    { "GET", "/api/workflows/order/instances/waits", NULL, 200 },
    { "GET", "/api/workflows/order/instances/none", NULL, 404 },
    { "POST", "/api/workflows/order/instances/waits/pause", NULL, 200 },
    { "POST", "/api/workflows/order/instances/waits/restart", "{}", 200 },
    { "POST", "/api/workflows/order/instances/waits/events", "{\"type\":\"paid\",\"payload\":[]}", 200 },
    { "GET", "/api/workflows/order/instances/waits/history?includeLogs=true", NULL, 200 },
    { "GET", "/api/workflows/order/instances/waits/result", NULL, 202 },
    { "POST", "/api/workflows/order/instances/waits/terminate", "{\"rollback\":true}", 200 },
    { "POST", "/api/workflows/order/instances/waits/interrupt", NULL, 200 },
    { "POST", "/api/workflows/order/instances/waits/restart", "{\"from\":\"ch\\u0061rge\"}", 200 },
    { "POST", "/api/workflows/broken/instances/b-1/retry", NULL, 200 },
    { "POST", "/api/workflows/order/instances/waits/retry", NULL, 409 },
    { "GET", "/api/workflows/family/instances/f-1/children", NULL, 200 },
    { "GET", "/api/workflows/order/instances/waits/runs", NULL, 200 },
    { "GET", "/api/workflows/order/instances/waits?runNumber=1", NULL, 200 },
    { "GET", "/api/workflows/defers/instances/kid", NULL, 200 },
    { "POST", "/api/workflows/echo/execute", "{\"key\":\"a/b\",\"params\":[1]}", 202 },
    { "GET", "/api/workflows/echo/execute/a%2fb", NULL, 404 },
    { "POST", "/api/jobs/claim", "{\"functions\":[\"ch\\u0061rge\",\"other\"],\"max\":9}", 200 },
    { "POST", "/api/jobs/claim", "{\"functions\":[1,\"a\"]}", 400 },
    { "POST", "/api/jobs/" JOB "/heartbeat", NULL, 200 },
    { "POST", "/api/jobs/" JOB "/complete", "{\"result\":{\"a\":[1,2]}}", 200 },
    { "POST", "/api/jobs/" JOB "/fail", "{\"name\":\"E\",\"message\":\"\\u0061\"}", 200 },
    { "POST", "/api/jobs/1.1.1.x/complete", NULL, 404 },
    { "POST", "/api/deferred/" DEFERRED "/succeed", "{\"result\":{\"a\":[1,2]}}", 200 },
    { "POST", "/api/deferred/" DEFERRED "/fail", "{\"name\":\"E\"}", 200 },
    { "POST", "/api/deferred/none/fail", "{\"name\":\"E\"}", 404 },
    { "GET", "/api/hooks/deliveries", NULL, 200 },
    { "GET", "/api/status", NULL, 200 },
    { "GET", "/api/cluster", NULL, 200 },
    { "GET", "/api/workflows/order/shards", NULL, 200 },
    { "GET", "/api/health/ready", NULL, 200 },
    { "GET", "/api/metrics", NULL, 200 },
    { "GET", "/api/openapi.json", NULL, 200 },
    { "GET", "/api/nothing?x=1", NULL, 404 },
    { "DELETE", "/api/workflows", NULL, 405 },
    { "OPTIONS", "/api/workflows", NULL, 204 },
};

static const char *claim(struct table_world *world, pawl_scope *scope)
{
    static const char *const function = "charge";
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs;
    size_t count;
    options.functions = &function;
    options.function_count = 1;
    assert_int_equal(pawl_job_claim(pawl_world_engine(world->world), scope, &options, &jobs, &count, NULL), PAWL_OK);
    assert_int_equal(count, 1);
    return jobs->token;
}

static const char *target_of(const char *target, struct table_world *world, pawl_scope *scope)
{
    const char *at = strchr(target, '$');
    if (at == NULL)
        return target;
    bool is_job = strncmp(at, JOB, strlen(JOB)) == 0;
    return pawl_scope_format(scope, "%.*s%s%s", (int)(at - target), target,
                             is_job ? claim(world, scope) : table_deferred_token("d-1"), strchr(at, '/'));
}

/* True: the allocation was there to fail. */
static bool try(size_t route, size_t nth)
{
    struct table_world world;
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_response response;
    table_world_open(&world, NULL);
    pawl_scope *scope = pawl_scope_new();
    request.method = routes[route].method;
    request.target = target_of(routes[route].target, &world, scope);
    request.body = routes[route].body;
    request.body_size = request.body != NULL ? strlen(request.body) : 0;
    arm(nth);
    pawl_status status = pawl_http_answer(world.http, scope, &request, &response);
    bool has_struck = disarm();
    if (status == PAWL_OK) {
        table_check_any(&request, &response);
        if (response.status != routes[route].status && !(has_struck && response.status == 503))
            fail_msg("%s %s, allocation %zu: %d %s", request.method, request.target, nth, response.status,
                     response.body);
    }
    assert_true(status == PAWL_OK || (status == PAWL_NOMEM && has_struck));
    pawl_scope_free(scope);
    table_world_close(&world);
    return has_struck;
}

static void every_allocation_of_every_route_may_fail(void **state)
{
    (void)state;
    size_t trials = 0;
    for (size_t route = 0; route < sizeof routes / sizeof routes[0]; route++)
        for (size_t nth = 1; try(route, nth); nth++)
            trials++;
    assert_true(trials > 100);
}

/* ---- Streams and waits ------------------------------------------------------------------------------------------- */

/* A stream from its head to its end, or a wait that is answered; gives up where the call does. */
static bool try_call(const char *target, const char *body, size_t nth)
{
    struct table_world world;
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    const struct pawl_http_response *response = NULL;
    const char *bytes;
    size_t size;
    int64_t again_at_ms;
    table_world_open(&world, NULL);
    request.method = body != NULL ? "POST" : "GET";
    request.target = target;
    request.body = body;
    request.body_size = body != NULL ? strlen(body) : 0;
    arm(nth);
    pawl_http_call *call = pawl_http_call_new(world.http, &request, NULL, NULL);
    bool is_answered = call != NULL && pawl_http_call_answer(call, &response, &again_at_ms);
    if (is_answered && response->is_stream)
        while (pawl_http_call_read(call, &bytes, &size, &again_at_ms) == PAWL_HTTP_READ_BYTES)
            continue;
    bool has_struck = disarm();
    if (body != NULL && !is_answered)
        pawl_http_drain(world.http);
    if (call != NULL && !is_answered) {
        assert_int_equal(pawl_world_send_event(world.world, "order", "waits", "paid", NULL, NULL), PAWL_OK);
        assert_int_equal(pawl_world_run_until_idle(world.world, NULL), PAWL_OK);
        while (!pawl_http_call_answer(call, &response, &again_at_ms)) /* what was submitted is under way */
            continue;
    }
    if (call != NULL && response->status != 200 && !(has_struck && response->status == 503))
        fail_msg("%s, allocation %zu: %d %s", target, nth, response->status, response->body);
    pawl_http_call_free(call);
    table_world_close(&world);
    return has_struck;
}

static void every_allocation_of_a_stream_or_a_wait_may_fail(void **state)
{
    (void)state;
    static const struct {
        const char *target, *body;
    } calls[] = { { "/api/workflows/order/instances/waits/stream", NULL },
                  { "/api/workflows/echo/instances/done/stream", NULL },
                  { "/api/workflows/order/instances/waits/result?waitMs=5000", NULL },
                  { "/api/jobs/claim", "{\"functions\":[\"other\"],\"waitMs\":5000}" } };
    size_t trials = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        for (size_t nth = 1; try_call(calls[i].target, calls[i].body, nth); nth++)
            trials++;
    assert_true(trials > 20);
}

static void a_handler_that_cannot_be_made_leaves_nothing_behind(void **state)
{
    (void)state;
    struct table_world world;
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    size_t nth = 1;
    table_world_open(&world, NULL);
    options.cors_origin = "*";
    for (;; nth++) {
        pawl_http *http = NULL;
        arm(nth);
        pawl_status status = pawl_http_new(pawl_world_engine(world.world), &options, &http, NULL);
        bool has_struck = disarm();
        assert_int_equal(status, has_struck ? PAWL_NOMEM : PAWL_OK);
        pawl_http_free(http);
        if (!has_struck)
            break;
    }
    assert_true(nth > 3);
    table_world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_every_route_may_fail),
        cmocka_unit_test(every_allocation_of_a_stream_or_a_wait_may_fail),
        cmocka_unit_test(a_handler_that_cannot_be_made_leaves_nothing_behind),
    };
    return cmocka_run_group_tests_name("want of memory", tests, NULL, NULL);
}
