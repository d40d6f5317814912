/* test_handler_memory.c - want of memory, wherever it strikes: every allocation of every route fails once, and the
 * answer is 503, or the right one, or none for lack of memory; never a crash, a 500 or a lie.
 *
 * fault/plan.h counts the allocations of this program, the handler and the engine, and fails one; those of other threads
 * never fail. */
#include "asking.h"

#include "fault/plan.h"
#include "kit/test.h"

/* ---- Routes ---------------------------------------------------------------------------------------------------- */

#define LONG_10(text) text text text text text text text text text text

/* And what is refused, or answered in another way. */
static const struct route_sample others[] = {
    { "POST", "/api/workflows/echo/instances", "{\"params\":\"" LONG_10(LONG_10("a long text ")) "\"}", 200 },
    { "POST", "/api/workflows/echo/instances", "{\"id\":\"done\"}", 409 },
    { "POST", "/api/workflows/echo/instances", "{\"id\":7,\"x\\u0078\":[{}]}", 400 },
    { "POST", "/api/workflows/echo/instances", "{\"id\":", 400 },
    { "GET", "/api/workflows/order/instances/none", NULL, 404 },
    { "POST", "/api/workflows/order/instances/waits/retry", NULL, 409 },
    { "POST", "/api/jobs/claim", "{\"functions\":[1,\"a\"]}", 400 },
    { "POST", "/api/jobs/1.1.1.x/complete", NULL, 404 },
    { "POST", "/api/deferred/none/fail", "{\"name\":\"E\"}", 404 },
    { "GET", "/api/nothing?x=1", NULL, 404 },
    { "DELETE", "/api/workflows", NULL, 405 },
    { "OPTIONS", "/api/workflows", NULL, 204 },
};

/* True: the allocation was there to fail. */
static bool try(const struct route_sample *sample, int64_t nth)
{
    struct table_world world;
    struct pawl_http_response response;
    table_world_open(&world, NULL);
    pawl_scope *scope = pawl_scope_new();
    const struct pawl_http_request request =
        request_of(sample->method, sample_target(sample, &world, scope), sample->body);
    fault_arm(FAULT_ALLOC, nth, false);
    pawl_status status = pawl_http_answer(world.http, scope, &request, &response);
    bool has_struck = fault_disarm() > 0;
    if (status == PAWL_OK) {
        table_check_any(&request, &response);
        if (response.status != sample->status && !(has_struck && response.status == 503))
            fail_msg("%s %s, allocation %d: %d %s", request.method, request.target, (int)nth, response.status,
                     response.body);
    }
    assert_true(status == PAWL_OK || (status == PAWL_NOMEM && has_struck));
    pawl_scope_free(scope);
    table_world_close(&world);
    return has_struck;
}

static int64_t try_all(const struct route_sample *list, size_t count)
{
    int64_t trials = 0;
    for (size_t i = 0; i < count; i++)
        if (strstr(list[i].target, "/stream") == NULL) /* see below */
            for (int64_t nth = 1; try(&list[i], nth); nth++)
                trials++;
    return trials;
}

TEST(every_allocation_of_every_route_may_fail)
{
    assert_true(try_all(route_samples, route_sample_count) > 100);
    assert_true(try_all(others, sizeof others / sizeof others[0]) > 0);
}

/* ---- Streams and waits ------------------------------------------------------------------------------------------- */

/* A stream from its head to its end, or a wait that is answered; gives up where the call does. */
static bool try_call(const char *target, const char *body, int64_t nth)
{
    struct table_world world;
    const struct pawl_http_request request = request_of(body != NULL ? "POST" : "GET", target, body);
    const struct pawl_http_response *response = NULL;
    const char *bytes;
    size_t size;
    int64_t again_at_ms;
    table_world_open(&world, NULL);
    fault_arm(FAULT_ALLOC, nth, false);
    pawl_http_call *call = pawl_http_call_new(world.http, &request, NULL, NULL);
    bool is_answered = call != NULL && pawl_http_call_answer(call, &response, &again_at_ms);
    if (is_answered && response->is_stream)
        while (pawl_http_call_read(call, &bytes, &size, &again_at_ms) == PAWL_HTTP_READ_BYTES)
            continue;
    bool has_struck = fault_disarm() > 0;
    if (body != NULL && !is_answered)
        pawl_http_drain(world.http);
    if (call != NULL && !is_answered) {
        assert_int_equal(pawl_world_send_event(world.world, "order", "waits", "paid", NULL, NULL), PAWL_OK);
        assert_int_equal(pawl_world_run_until_idle(world.world, NULL), PAWL_OK);
        while (!pawl_http_call_answer(call, &response, &again_at_ms)) /* what was submitted is under way */
            continue;
    }
    if (call != NULL && response->status != 200 && !(has_struck && response->status == 503))
        fail_msg("%s, allocation %d: %d %s", target, (int)nth, response->status, response->body);
    pawl_http_call_free(call);
    table_world_close(&world);
    return has_struck;
}

TEST(every_allocation_of_a_stream_or_a_wait_may_fail)
{
    static const struct {
        const char *target, *body;
    } calls[] = { { "/api/workflows/order/instances/waits/stream", NULL },
                  { "/api/workflows/echo/instances/done/stream", NULL },
                  { "/api/workflows/order/instances/waits/result?waitMs=5000", NULL },
                  { "/api/jobs/claim", "{\"functions\":[\"other\"],\"waitMs\":5000}" } };
    size_t trials = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        for (int64_t nth = 1; try_call(calls[i].target, calls[i].body, nth); nth++)
            trials++;
    assert_true(trials > 20);
}

TEST(a_handler_that_cannot_be_made_leaves_nothing_behind)
{
    struct table_world world;
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    int64_t nth = 1;
    table_world_open(&world, NULL);
    options.cors_origin = "*";
    for (;; nth++) {
        pawl_http *http = NULL;
        fault_arm(FAULT_ALLOC, nth, false);
        pawl_status status = pawl_http_new(pawl_world_engine(world.world), &options, &http, NULL);
        bool has_struck = fault_disarm() > 0;
        assert_int_equal(status, has_struck ? PAWL_NOMEM : PAWL_OK);
        pawl_http_free(http);
        if (!has_struck)
            break;
    }
    assert_true(nth > 3);
    table_world_close(&world);
}
