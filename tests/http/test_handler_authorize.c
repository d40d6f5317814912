/* test_handler_authorize.c - D1: whoever authorizes is asked for every request, and then for what it wants to do, before
 * anything of the engine is read or written. */
#include "asking.h"
#include "kit/test.h"

#include "engine/engine.h"

enum { ASKED_MAX = 8 };

/* What the functions saw, and what they are to answer. */
static struct {
    size_t count;
    char who[ASKED_MAX][16];
    enum pawl_http_scope scopes[ASKED_MAX];
    char workflow[64], instance_id[64], peer[64], permissions[64];
    bool all_refuses, scope_refuses;
} asked;
static int store_reads; /* since the request was taken up */

static void note(const char *who, const struct pawl_http_subject *subject)
{
    assert_true(asked.count < ASKED_MAX);
    assert_int_equal(store_reads, 0);
    asked.scopes[asked.count] = subject->scope;
    snprintf(asked.who[asked.count++], sizeof asked.who[0], "%s", who);
    snprintf(asked.workflow, sizeof asked.workflow, "%s", subject->workflow != NULL ? subject->workflow : "-");
    snprintf(asked.instance_id, sizeof asked.instance_id, "%s",
             subject->instance_id != NULL ? subject->instance_id : "-");
    asked.permissions[0] = '\0';
    for (size_t i = 0; i < subject->permission_count; i++)
        snprintf(asked.permissions + strlen(asked.permissions), sizeof asked.permissions - strlen(asked.permissions),
                 "%s;", subject->permissions[i]);
    snprintf(asked.peer, sizeof asked.peer, "%s", subject->request->peer != NULL ? subject->request->peer : "-");
}

static bool authorize_all(void *user, const struct pawl_http_subject *subject, struct pawl_http_refusal *out_refusal)
{
    assert_ptr_equal(user, &asked);
    assert_int_equal(out_refusal->status, 403);
    assert_string_equal(out_refusal->code, "FORBIDDEN");
    note("all", subject);
    return !asked.all_refuses;
}

static bool authorize_scope(void *user, const struct pawl_http_subject *subject, struct pawl_http_refusal *out_refusal)
{
    (void)user;
    note("scope", subject);
    snprintf(out_refusal->code, sizeof out_refusal->code, "NOT_THIS");
    out_refusal->status = 451;
    return !asked.scope_refuses;
}

static void ask_both(struct pawl_http_options *options)
{
    options->authorize = authorize_all;
    for (size_t i = 0; i < PAWL_HTTP_SCOPE_COUNT; i++)
        options->authorize_scope[i] = authorize_scope;
    options->authorize_user = &asked;
}
static const struct table_section both = { "both", ask_both, NULL, 0 };

/* Every way into the store is counted. */
static struct pw_store_ops counting;
static const struct pw_store_ops *true_ops;

static pawl_status count_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    store_reads++;
    return true_ops->apply(store, units, count, error);
}

static pawl_status count_read(struct pw_store *store, const struct pw_read *read, struct pw_arena *arena,
                              struct pw_found *out_found, struct pawl_error *error)
{
    store_reads += read->kind == PW_READ_INSTANCE || read->kind == PW_READ_CURRENT || read->kind == PW_READ_LIST;
    return true_ops->read(store, read, arena, out_found, error);
}

static struct table_world world;

static int set_up(void **state)
{
    (void)state;
    table_world_open(&world, &both);
    struct pw_store *store = pawl_world_engine(world.world)->store;
    true_ops = store->ops;
    counting = *true_ops;
    counting.apply = count_apply;
    counting.read = count_read;
    store->ops = &counting;
    memset(&asked, 0, sizeof asked);
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

static int ask(const char *method, const char *target, const char *body)
{
    struct pawl_http_request request = request_of(method, target, body);
    struct pawl_http_response response;
    pawl_scope *scope = pawl_scope_new();
    request.peer = "10.0.0.7";
    asked.count = 0;
    store_reads = 0;
    assert_int_equal(pawl_http_answer(world.http, scope, &request, &response), PAWL_OK);
    table_check_any(&request, &response);
    int status = response.status;
    pawl_scope_free(scope);
    return status;
}

TEST_WITH(setting, void *unused, every_route_asks_twice_for_its_own_scope_and_a_refusal_reads_nothing)
{
    pawl_scope *scope = pawl_scope_new();
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        const char *path = route_target(scope, route, (struct route_names){ "order", "waits", "waits" });
        asked.all_refuses = true;
        asked.scope_refuses = false;
        assert_int_equal(ask(route->method, path, "{"), 403);
        assert_int_equal(asked.count, 1);
        assert_string_equal(asked.who[0], "all");
        assert_int_equal(asked.scopes[0], route->scope);
        assert_int_equal(store_reads, 0);

        asked.all_refuses = false;
        asked.scope_refuses = true;
        assert_int_equal(ask(route->method, path, "{"), 451);
        assert_int_equal(asked.count, 2);
        assert_string_equal(asked.who[1], "scope");
        assert_int_equal(asked.scopes[1], route->scope);
        assert_int_equal(store_reads, 0);
        assert_string_equal(asked.workflow, strstr(route->pattern, ":workflow") != NULL ? "order" : "-");
        assert_string_equal(asked.instance_id, strstr(route->pattern, ":id") != NULL ? "waits" : "-");
        assert_string_equal(asked.peer, "10.0.0.7");
    }
    pawl_scope_free(scope);
}

/* The routes' own are in openapi.json, which test_openapi.c compares with the table of routes. */
TEST_WITH(setting, void *unused, the_scope_of_what_is_no_route_is_open)
{
    static const struct {
        const char *method, *target;
        enum pawl_http_scope scope;
    } cases[] = {
        { "HEAD", "/api/workflows/order/instances", PAWL_HTTP_READ }, /* as GET */
        { "OPTIONS", "/api/workflows", PAWL_HTTP_OPEN },
        { "GET", "/api/nothing", PAWL_HTTP_OPEN },
        { "DELETE", "/api/workflows", PAWL_HTTP_OPEN },
        { "GET", "/api/%zz", PAWL_HTTP_OPEN },
        { "GET", "/elsewhere", PAWL_HTTP_OPEN },
    };
    asked.scope_refuses = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(ask(cases[i].method, cases[i].target, NULL), 451);
        if (asked.scopes[1] != cases[i].scope)
            fail_msg("%s %s asks for %s", cases[i].method, cases[i].target, pawl_http_scope_name(asked.scopes[1]));
    }
}

/* G4 */
TEST_WITH(setting, void *unused, whoever_authorizes_sees_what_the_workflow_requires)
{
    static const struct {
        const char *method, *target, *permissions;
    } cases[] = {
        { "GET", "/api/workflows/guarded/instances", "admin;finance;" },
        { "POST", "/api/workflows/guarded/instances", "admin;finance;" },
        { "POST", "/api/workflows/guarded/instances/a/terminate", "admin;finance;" },
        { "GET", "/api/workflows/guarded/execute/k", "admin;finance;" },
        { "GET", "/api/status?workflow=guarded", "admin;finance;" },
        { "HEAD", "/api/status?workflow=gu%61rded", "admin;finance;" },
        { "GET", "/api/status?workflow=guarded&workflow=order", "admin;finance;" },
        { "GET", "/api/status?workflow=order", "" },
        { "GET", "/api/status", "" },
        { "GET", "/api/workflows/order/instances", "" },
        { "GET", "/api/workflows/order/instances?workflow=guarded", "" }, /* it takes none, and is refused */
        { "GET", "/api/workflows/none/instances", "" },
        { "GET", "/api/workflows", "" },
        { "POST", "/api/jobs/claim", "" },
    };
    asked.scope_refuses = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(ask(cases[i].method, cases[i].target, NULL), 451);
        assert_string_equal(asked.permissions, cases[i].permissions);
        assert_int_equal(store_reads, 0);
    }
    /* Nobody but they looks at it. */
    asked.scope_refuses = false;
    assert_int_equal(ask("GET", "/api/workflows/guarded/instances", NULL), 200);
    assert_int_equal(ask("GET", "/api/status?workflow=guarded", NULL), 200);
    /* The first is asked about, so nothing may be told of another. */
    assert_int_equal(ask("GET", "/api/status?workflow=order&workflow=guarded", NULL), 400);
}

TEST_WITH(setting, void *unused, every_route_that_takes_a_workflow_says_so_to_whoever_authorizes)
{
    pawl_scope *scope = pawl_scope_new();
    size_t count = 0;
    asked.scope_refuses = true;
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        for (const char *const *key = route->query; key != NULL && *key != NULL; key++) {
            if (strcmp(*key, "workflow") != 0)
                continue;
            const char *path = route_target(scope, route, (struct route_names){ "order", "waits", "waits" });
            const char *target = pawl_scope_format(scope, "%s?workflow=order", path);
            assert_int_equal(ask(route->method, target, NULL), 451);
            assert_string_equal(asked.workflow, "order");
            count++;
        }
    }
    assert_true(count > 0);
    pawl_scope_free(scope);
}

TEST_WITH(setting, void *unused, who_is_allowed_gets_through)
{
    assert_int_equal(ask("GET", "/api/workflows/order/instances/waits", NULL), 200);
    assert_int_equal(asked.count, 2);
    assert_true(store_reads > 0);
    assert_int_equal(ask("POST", "/api/workflows/order/instances/waits/terminate", NULL), 200);
    assert_true(store_reads > 0);
    assert_int_equal(ask("GET", "/api/%zz", NULL), 400);
    assert_int_equal(asked.count, 2);
}
