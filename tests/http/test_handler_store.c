/* test_handler_store.c - a store that fails: what a client is told, for every status and on every route, and that
 * nothing of the inside is told. */
#include "asking.h"
#include "kit/test.h"

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

static void mend_store(void)
{
    failing = *true_ops;
    failing.read = read_or_fail;
    memset(fails, 0, sizeof fails);
}

static int set_up(void **state)
{
    (void)state;
    table_world_open(&world, NULL);
    true_ops = pawl_world_engine(world.world)->store->ops;
    mend_store();
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

static const struct test_setting setting = { set_up, tear_down, 0 };

static void expect(const char *method, const char *target, const char *body, int status, const char *code)
{
    pawl_scope *scope = pawl_scope_new();
    struct pawl_http_response response = answer_of(world.http, scope, method, target, body);
    char start[80];
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

/* What the samples do not have: what waits. */
static const struct route_sample waiting[] = {
    { "POST", "/api/workflows/order/execute", "{\"waitMs\":100}", 0 },
    { "POST", "/api/jobs/claim", "{\"functions\":[\"charge\"],\"waitMs\":100}", 0 },
    { "GET", "/api/workflows/order/instances/waits/result?waitMs=100", NULL, 0 },
};

/* Every sample that needs the store, with its tokens, and what waits.  Returns how many there are. */
static size_t list_routes(pawl_scope *scope, struct route_sample out_list[64])
{
    size_t count = 0;
    for (size_t i = 0; i < route_sample_count; i++) {
        const struct pw_http_route *route = route_of(route_samples[i].method, route_samples[i].target);
        if (route->need != PW_HTTP_STORE && route->need != PW_HTTP_PAGE)
            continue;
        assert_true(count < 60);
        out_list[count] = route_samples[i];
        out_list[count++].target = sample_target(&route_samples[i], &world, scope);
    }
    for (size_t i = 0; i < sizeof waiting / sizeof waiting[0]; i++)
        out_list[count++] = waiting[i];
    return count;
}

static void fail_all_but_streams_reads(void)
{
    failing.apply = fail_apply;
    static const enum pw_read_kind kinds[] = { PW_READ_INSTANCE,      PW_READ_INSTANCE_BY_KEY, PW_READ_CURRENT,
                                               PW_READ_LIST,          PW_READ_HOOKS,           PW_READ_TASK_COUNTS,
                                               PW_READ_STATUS_COUNTS, PW_READ_RUNNERS };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        fails[kinds[i]] = true;
}

/* The job and the deferred that were not answered can be. */
static void mend_store_and_answer(void)
{
    pawl_engine *engine = pawl_world_engine(world.world);
    mend_store();
    assert_int_equal(pawl_job_complete(engine, world.job, "1", NULL), PAWL_OK);
    assert_int_equal(pawl_deferred_succeed(engine, table_deferred_token("d-1"), "1", NULL), PAWL_OK);
}

TEST_WITH(setting, void *unused, a_store_that_can_be_read_but_not_written_is_not_ready)
{
    store_says = PAWL_STORE_FULL;
    failing.probe = fail_probe;
    failing.apply = fail_apply;
    expect("POST", "/api/workflows/order/instances", "{\"id\":\"new\"}", 503, "STORE_UNAVAILABLE");
    expect("GET", "/api/health/ready", NULL, 503, "STORE_UNAVAILABLE");
}

TEST_WITH(setting, void *unused, a_store_that_cannot_be_used_now_is_503_on_every_route)
{
    static const pawl_status statuses[] = { PAWL_STORE_UNAVAILABLE, PAWL_STORE_FULL,    PAWL_STORE_READ_ONLY,
                                            PAWL_STORE_CORRUPT,     PAWL_STORE_TOO_NEW, PAWL_NOMEM };
    struct route_sample routes[64];
    pawl_scope *scope = pawl_scope_new();
    size_t count = list_routes(scope, routes);
    fail_all_but_streams_reads();
    for (size_t s = 0; s < sizeof statuses / sizeof statuses[0]; s++) {
        store_says = statuses[s];
        const char *code = store_says == PAWL_STORE_TOO_NEW ? "STORE_TOO_NEW" : "STORE_UNAVAILABLE";
        for (size_t i = 0; i < count; i++)
            expect(routes[i].method, routes[i].target, routes[i].body, 503, code);
        expect("GET", "/api/health/ready", NULL, 503, code);
    }
    mend_store_and_answer();
    pawl_scope_free(scope);
}

TEST_WITH(setting, void *unused, what_must_not_happen_inside_is_500_and_says_no_more)
{
    fail_all_but_streams_reads();
    store_says = PAWL_STEP_TYPE_MISMATCH; /* nothing that a read can say */
    expect("GET", "/api/workflows/order/instances", NULL, 500, "INTERNAL_SERVER_ERROR");
    expect("GET", "/api/workflows/order/instances/waits", NULL, 500, "INTERNAL_SERVER_ERROR");
    expect("GET", "/api/workflows/order/instances/waits/result", NULL, 500, "INTERNAL_SERVER_ERROR");
    store_says = (pawl_status)12345;
    expect("GET", "/api/workflows/order/instances/waits", NULL, 500, "INTERNAL_SERVER_ERROR");
}

TEST_WITH(setting, void *unused, a_commit_that_fails_is_503_and_nothing_was_changed)
{
    struct route_sample routes[64];
    pawl_scope *scope = pawl_scope_new();
    size_t count = list_routes(scope, routes);
    failing.apply = fail_apply;
    store_says = PAWL_STORE_FULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(routes[i].method, "POST") == 0 && strstr(routes[i].target, "/resume") == NULL)
            expect(routes[i].method, routes[i].target, routes[i].body, 503, "STORE_UNAVAILABLE");
    mend_store_and_answer();
    struct pawl_instance instance;
    assert_int_equal(pawl_world_get(world.world, "order", "waits", &instance, NULL), PAWL_OK);
    assert_int_equal(instance.status, PAWL_WAITING);
    assert_int_equal(instance.run_number, 1);
    assert_int_equal(pawl_world_get(world.world, "echo", "new", &instance, NULL), PAWL_INSTANCE_NOT_FOUND);
    pawl_scope_free(scope);
}

/* What POST answers, if the store cannot be read any more behind its commit. */
static void expect_done(const char *target, const char *body, int status, const char *start)
{
    pawl_scope *scope = pawl_scope_new();
    failing.apply = apply_and_go;
    struct pawl_http_response response = answer_of(world.http, scope, "POST", target, body);
    if (response.status != status || strncmp(response.body, start, strlen(start)) != 0)
        fail_msg("%s: %d %s", target, response.status, response.body);
    mend_store();
    pawl_scope_free(scope);
}

/* Otherwise who has given no id tries again, and it happens twice. */
TEST_WITH(setting, void *unused, what_was_committed_is_no_503_when_it_cannot_be_read_behind_it)
{
    static const pawl_status statuses[] = { PAWL_STORE_UNAVAILABLE, PAWL_BUSY, PAWL_NOMEM };
    pawl_engine *engine = pawl_world_engine(world.world);
    struct pawl_history history;
    pawl_scope *scope = pawl_scope_new();
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

TEST_WITH(setting, void *unused, metrics_and_liveness_answer_without_a_store)
{
    fail_all_but_streams_reads();
    store_says = PAWL_STORE_UNAVAILABLE;
    size_t count = 0;
    for (size_t i = 0; i < route_sample_count; i++) {
        const struct route_sample *sample = &route_samples[i];
        const struct pw_http_route *route = route_of(sample->method, sample->target);
        bool needs_none = route->need == PW_HTTP_MEMORY || route->need == PW_HTTP_FIGURES;
        if (strcmp(sample->method, "GET") != 0 || !needs_none || strcmp(sample->target, "/api/health/ready") == 0)
            continue;
        pawl_scope *scope = pawl_scope_new();
        assert_int_equal(answer_of(world.http, scope, "GET", sample->target, NULL).status, 200);
        pawl_scope_free(scope);
        count++;
    }
    assert_true(count >= 6);
}

TEST_WITH(setting, void *unused, steps_that_cannot_be_read_are_503_too)
{
    fails[PW_READ_STEPS] = true;
    store_says = PAWL_STORE_UNAVAILABLE;
    expect("GET", "/api/workflows/order/instances/waits/history", NULL, 503, "STORE_UNAVAILABLE");
    expect("GET", "/api/workflows/order/instances/waits/stream", NULL, 503, "STORE_UNAVAILABLE");
}
