/* test_handler_store.c - a store that fails: what a client is told, for every status and on every route, and that
 * nothing of the inside is told. */
#include "table.h"

#include <stdio.h>
#include <string.h>

#include "engine/engine.h"

static const struct pw_store_ops *true_ops;
static struct pw_store_ops failing;
static pawl_status store_says;
static struct table_world world;

#define SECRET "/var/lib/secret.db: SELECT * FROM workflow_instance"

static pawl_status refuse(struct pawl_error *error)
{
    if (error != NULL) {
        error->status = store_says;
        snprintf(error->text, sizeof error->text, "%s", SECRET);
    }
    return store_says;
}

static pawl_status fail_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    (void)store, (void)units, (void)count;
    return refuse(error);
}

/* The kinds of reads that fail. */
static bool fails[PW_READ_KIND_COUNT];

static pawl_status read_or_fail(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                                struct pw_found *out_found, struct pawl_error *error)
{
    return fails[asked->kind] ? refuse(error) : true_ops->read(store, asked, arena, out_found, error);
}

static pawl_status fail_probe(struct pw_store *store, struct pawl_error *error)
{
    (void)store;
    return refuse(error);
}

/* The last that the store does. */
static pawl_status apply_and_go(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    pawl_status status = true_ops->apply(store, units, count, error);
    fails[PW_READ_CURRENT] = fails[PW_READ_INSTANCE] = true;
    return status;
}

static int set_up(void **state)
{
    (void)state;
    table_world_open(&world, NULL);
    true_ops = pawl_world_engine(world.world)->store->ops;
    failing = *true_ops;
    failing.read = read_or_fail;
    memset(fails, 0, sizeof fails);
    pawl_world_engine(world.world)->store->ops = &failing;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pawl_world_engine(world.world)->store->ops = true_ops;
    table_world_close(&world);
    return 0;
}

static void expect(const char *method, const char *target, const char *body, int status, const char *code)
{
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_response response;
    pawl_scope *scope = pawl_scope_new();
    char start[80];
    request.method = method;
    request.target = target;
    request.body = body;
    request.body_size = body != NULL ? strlen(body) : 0;
    assert_int_equal(pawl_http_answer(world.http, scope, &request, &response), PAWL_OK);
    snprintf(start, sizeof start, "{\"code\":\"%s\",\"message\":\"", code);
    if (response.status != status || strncmp(response.body, start, strlen(start)) != 0)
        fail_msg("%s %s while the store says %s: %d %s", method, target, pawl_status_name(store_says), response.status,
                 response.body);
    if (strstr(response.body, "secret") != NULL || strstr(response.body, "SELECT") != NULL)
        fail_msg("%s %s tells of the inside: %s", method, target, response.body);
    if (status == 503)
        assert_string_equal(table_header(&response, "Retry-After"), "1");
    pawl_scope_free(scope);
}

static const struct {
    const char *method, *target, *body;
} routes[] = {
    { "GET", "/api/workflows/order/instances", NULL },
    { "POST", "/api/workflows/order/instances", "{\"id\":\"new\"}" },
    { "POST", "/api/workflows/order/instances/batch", "{\"instances\":[{\"id\":\"new\"}]}" },
    { "GET", "/api/workflows/order/instances/waits", NULL },
    { "POST", "/api/workflows/order/instances/waits/pause", NULL },
    { "POST", "/api/workflows/order/instances/waits/resume", NULL },
    { "POST", "/api/workflows/order/instances/waits/terminate", NULL },
    { "POST", "/api/workflows/order/instances/waits/restart", NULL },
    { "POST", "/api/workflows/order/instances/waits/terminate", "{\"rollback\":true}" },
    { "POST", "/api/workflows/order/instances/waits/restart", "{\"from\":\"charge\"}" },
    { "POST", "/api/workflows/order/instances/waits/interrupt", NULL },
    { "POST", "/api/workflows/broken/instances/b-1/retry", NULL },
    { "GET", "/api/workflows/family/instances/f-1/children", NULL },
    { "GET", "/api/workflows/family/instances/f-1/runs", NULL },
    { "POST", "/api/workflows/order/execute", "{\"key\":\"k\"}" },
    { "POST", "/api/workflows/order/execute", "{\"waitMs\":100}" },
    { "GET", "/api/workflows/order/execute/k", NULL },
    { "POST", "/api/jobs/claim", "{\"functions\":[\"charge\"],\"waitMs\":100}" },
    { "POST", "/api/workflows/order/instances/waits/events", "{\"type\":\"paid\"}" },
    { "GET", "/api/workflows/order/instances/waits/history", NULL },
    { "GET", "/api/workflows/order/instances/waits/result", NULL },
    { "GET", "/api/workflows/order/instances/waits/result?waitMs=100", NULL },
    { "GET", "/api/workflows/order/instances/waits/stream", NULL },
    { "GET", "/api/hooks/deliveries", NULL },
    { "POST", "/api/hooks/deliveries/d-1/resend", NULL },
    { "GET", "/api/status", NULL },
    { "GET", "/api/cluster", NULL },
    { "GET", "/api/workflows/order/shards", NULL },
    { "GET", "/api/health/ready", NULL },
};

static void fail_all_but_streams_reads(void)
{
    failing.apply = fail_apply;
    static const enum pw_read_kind kinds[] = { PW_READ_INSTANCE,      PW_READ_INSTANCE_BY_KEY, PW_READ_CURRENT,
                                               PW_READ_LIST,          PW_READ_HOOKS,           PW_READ_TASK_COUNTS,
                                               PW_READ_STATUS_COUNTS, PW_READ_RUNNERS };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        fails[kinds[i]] = true;
}

static void a_store_that_can_be_read_but_not_written_is_not_ready(void **state)
{
    (void)state;
    store_says = PAWL_STORE_FULL;
    failing.probe = fail_probe;
    failing.apply = fail_apply;
    expect("POST", "/api/workflows/order/instances", "{\"id\":\"new\"}", 503, "STORE_UNAVAILABLE");
    expect("GET", "/api/health/ready", NULL, 503, "STORE_UNAVAILABLE");
}

static void a_store_that_cannot_be_used_now_is_503_on_every_route(void **state)
{
    (void)state;
    static const pawl_status statuses[] = { PAWL_STORE_UNAVAILABLE, PAWL_STORE_FULL,    PAWL_STORE_READ_ONLY,
                                            PAWL_STORE_CORRUPT,     PAWL_STORE_TOO_NEW, PAWL_NOMEM };
    fail_all_but_streams_reads();
    for (size_t s = 0; s < sizeof statuses / sizeof statuses[0]; s++) {
        store_says = statuses[s];
        for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
            expect(routes[i].method, routes[i].target, routes[i].body, 503,
                   store_says == PAWL_STORE_TOO_NEW ? "STORE_TOO_NEW" : "STORE_UNAVAILABLE");
    }
}

static void what_must_not_happen_inside_is_500_and_says_no_more(void **state)
{
    (void)state;
    fail_all_but_streams_reads();
    store_says = PAWL_STEP_TYPE_MISMATCH; /* nothing that a read can say */
    expect("GET", "/api/workflows/order/instances", NULL, 500, "INTERNAL_SERVER_ERROR");
    expect("GET", "/api/workflows/order/instances/waits", NULL, 500, "INTERNAL_SERVER_ERROR");
    expect("GET", "/api/workflows/order/instances/waits/result", NULL, 500, "INTERNAL_SERVER_ERROR");
    store_says = (pawl_status)12345;
    expect("GET", "/api/workflows/order/instances/waits", NULL, 500, "INTERNAL_SERVER_ERROR");
}

static void a_commit_that_fails_is_503_and_nothing_was_changed(void **state)
{
    (void)state;
    failing.apply = fail_apply;
    store_says = PAWL_STORE_FULL;
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        if (strcmp(routes[i].method, "POST") == 0 && strstr(routes[i].target, "/resume") == NULL)
            expect(routes[i].method, routes[i].target, routes[i].body, 503, "STORE_UNAVAILABLE");
    failing.apply = true_ops->apply;
    struct pawl_instance instance;
    assert_int_equal(pawl_world_get(world.world, "order", "waits", &instance, NULL), PAWL_OK);
    assert_int_equal(instance.status, PAWL_WAITING);
    assert_int_equal(instance.run_number, 1);
    assert_int_equal(pawl_world_get(world.world, "order", "new", &instance, NULL), PAWL_INSTANCE_NOT_FOUND);
}

/* The tokens are right. */
static void deferreds_and_jobs_of_a_store_that_fails_are_503_and_can_be_answered_again(void **state)
{
    static const char *const function = "charge";
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs;
    const char *targets[5];
    size_t count;
    pawl_scope *scope = pawl_scope_new();
    (void)state;
    options.functions = &function;
    options.function_count = 1;
    assert_int_equal(pawl_job_claim(pawl_world_engine(world.world), scope, &options, &jobs, &count, NULL), PAWL_OK);
    assert_int_equal(count, 1);
    targets[0] = pawl_scope_format(scope, "/api/jobs/%s/heartbeat", jobs->token);
    targets[1] = pawl_scope_format(scope, "/api/jobs/%s/complete", jobs->token);
    targets[2] = pawl_scope_format(scope, "/api/jobs/%s/fail", jobs->token);
    targets[3] = pawl_scope_format(scope, "/api/deferred/%s/succeed", table_deferred_token("d-1"));
    targets[4] = pawl_scope_format(scope, "/api/deferred/%s/fail", table_deferred_token("d-1"));
    store_says = PAWL_STORE_UNAVAILABLE;
    for (int round = 0; round < 2; round++) {
        failing.apply = fail_apply;
        for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
            expect("POST", targets[i], strstr(targets[i], "/fail") != NULL ? "{\"name\":\"E\"}" : NULL, 503,
                   "STORE_UNAVAILABLE");
        fail_all_but_streams_reads();
    }
    failing = *true_ops;
    failing.read = read_or_fail;
    memset(fails, 0, sizeof fails);
    assert_int_equal(pawl_job_complete(pawl_world_engine(world.world), jobs->token, "1", NULL), PAWL_OK);
    assert_int_equal(pawl_deferred_succeed(pawl_world_engine(world.world), table_deferred_token("d-1"), "1", NULL),
                     PAWL_OK);
    pawl_scope_free(scope);
}

/* What POST answers, if the store cannot be read any more behind its commit. */
static void expect_done(const char *target, const char *body, int status, const char *start)
{
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_response response;
    pawl_scope *scope = pawl_scope_new();
    failing.apply = apply_and_go;
    request.method = "POST";
    request.target = target;
    request.body = body;
    request.body_size = strlen(body);
    assert_int_equal(pawl_http_answer(world.http, scope, &request, &response), PAWL_OK);
    if (response.status != status || strncmp(response.body, start, strlen(start)) != 0)
        fail_msg("%s: %d %s", target, response.status, response.body);
    failing = *true_ops;
    failing.read = read_or_fail;
    memset(fails, 0, sizeof fails);
    pawl_scope_free(scope);
}

/* Otherwise who has given no id tries again, and it happens twice. */
static void what_was_committed_is_no_503_when_it_cannot_be_read_behind_it(void **state)
{
    static const pawl_status statuses[] = { PAWL_STORE_UNAVAILABLE, PAWL_BUSY, PAWL_NOMEM };
    pawl_engine *engine = pawl_world_engine(world.world);
    struct pawl_history history;
    pawl_scope *scope = pawl_scope_new();
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        store_says = statuses[i];
        expect_done("/api/workflows/order/instances/waits/events", "{\"type\":\"other\",\"id\":\"e-1\"}", 200,
                    i == 0 ? "{\"status\":{\"status\":\"waiting\"" : "{}"); /* sent again it has to be read */
        expect_done("/api/workflows/order/execute", "{\"waitMs\":100}", 202, "{\"id\":\"");
    }
    assert_int_equal(pawl_get_history(engine, scope, "order", "waits", NULL, &history, NULL), PAWL_OK);
    assert_int_equal(history.event_count, 1);
    pawl_scope_free(scope);
}

static void metrics_and_liveness_answer_without_a_store(void **state)
{
    (void)state;
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_response response;
    static const char *const targets[] = { "/api/health",  "/api/health/live",  "/api/version",
                                           "/api/metrics", "/api/openapi.json", "/api/workflows" };
    fail_all_but_streams_reads();
    store_says = PAWL_STORE_UNAVAILABLE;
    request.method = "GET";
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        pawl_scope *scope = pawl_scope_new();
        request.target = targets[i];
        assert_int_equal(pawl_http_answer(world.http, scope, &request, &response), PAWL_OK);
        assert_int_equal(response.status, 200);
        pawl_scope_free(scope);
    }
}

static void steps_that_cannot_be_read_are_503_too(void **state)
{
    (void)state;
    fails[PW_READ_STEPS] = true;
    store_says = PAWL_STORE_UNAVAILABLE;
    expect("GET", "/api/workflows/order/instances/waits/history", NULL, 503, "STORE_UNAVAILABLE");
    expect("GET", "/api/workflows/order/instances/waits/stream", NULL, 503, "STORE_UNAVAILABLE");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_store_that_can_be_read_but_not_written_is_not_ready),
        TEST(a_store_that_cannot_be_used_now_is_503_on_every_route),
        TEST(what_must_not_happen_inside_is_500_and_says_no_more),
        TEST(a_commit_that_fails_is_503_and_nothing_was_changed),
        TEST(deferreds_and_jobs_of_a_store_that_fails_are_503_and_can_be_answered_again),
        TEST(what_was_committed_is_no_503_when_it_cannot_be_read_behind_it),
        TEST(metrics_and_liveness_answer_without_a_store),
        TEST(steps_that_cannot_be_read_are_503_too),
    };
    return cmocka_run_group_tests_name("a failing store", tests, NULL, NULL);
}
