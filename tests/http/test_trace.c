/* The trace of a simulated world says who was let in, and who was not. */
#include "asking.h"
#include "kit/test.h"
#include "pawl/http.h"
#include "pawl/testing.h"

static bool refuse_ticks(void *user, const struct pawl_http_subject *subject, struct pawl_http_refusal *out_refusal)
{
    (void)user;
    (void)out_refusal;
    return subject->scope != PAWL_HTTP_TICK;
}

static int ask(pawl_http *http, pawl_scope *scope, const char *method, const char *target)
{
    return answer_of(http, scope, method, target, NULL).status;
}

TEST(decisions_are_in_the_trace)
{
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    pawl_scope *scope = pawl_scope_new();
    pawl_world *world;
    pawl_http *http;
    options.authorize = refuse_ticks;
    assert_int_equal(pawl_world_open(NULL, &world, NULL), PAWL_OK);
    assert_int_equal(pawl_http_new(pawl_world_engine(world), &options, &http, NULL), PAWL_OK);

    assert_int_equal(ask(http, scope, "GET", "/api/workflows"), 200);
    assert_int_equal(ask(http, scope, "POST", "/api/_runner/tick"), 403);

    const char *trace = pawl_world_trace(world);
    assert_non_null(strstr(trace, "2026-01-01T00:00:00.000Z authorize read: GET /api/workflows -> allowed\n"));
    assert_non_null(strstr(trace, "2026-01-01T00:00:00.000Z authorize tick: POST /api/_runner/tick -> refused\n"));
    pawl_http_free(http);
    pawl_world_close(world);
    pawl_scope_free(scope);
}
