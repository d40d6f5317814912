/* test_handler_pages.c - going through pages by their cursors: instances, history, deliveries.  A page after the other
 * gives everything once, also while more is added; and a cursor works only where it comes from. */
#include "asking.h"
#include "kit/test.h"

#include "pawl/hooks.h"

struct fixture {
    pawl_world *world;
    pawl_http *http;
    pawl_scope *scope;
    struct pawl_error error;
};

#define ok(call) assert_int_equal((call), PAWL_OK)
enum { STEPS = 7, INSTANCES = 11 };

BODY(body)
{
    return pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "line");
}

WORKFLOW(many)
{
    for (int i = 0; i < STEPS; i++)
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %d", i), NULL, body, params, NULL));
    struct pawl_event event;
    return pawl_wait_for_event(run, "wait", "never", NULL, &event);
}

static pawl_status refuse_delivery(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    (void)delivery, (void)user;
    snprintf(error->text, sizeof error->text, "the \"other\" side is down");
    return PAWL_NON_RETRYABLE;
}

static int set_up(void **state)
{
    static struct fixture fixture;
    const struct pawl_workflow workflow = { .name = "many", .run = many };
    struct pawl_hook hook = PAWL_HOOK_INIT;
    hook.name = "audit";
    hook.events = PAWL_HOOK_FINISHED;
    hook.deliver = refuse_delivery;
    fixture.scope = pawl_scope_new();
    ok(pawl_world_open(NULL, &fixture.world, &fixture.error));
    ok(pawl_register(pawl_world_engine(fixture.world), &workflow, &fixture.error));
    ok(pawl_hook_register(pawl_world_engine(fixture.world), &hook, &fixture.error));
    ok(pawl_http_new(pawl_world_engine(fixture.world), NULL, &fixture.http, &fixture.error));
    for (int i = 0; i < INSTANCES; i++) {
        char id[16];
        snprintf(id, sizeof id, "i-%02d", i);
        ok(pawl_world_create(fixture.world, "many", id, NULL, &fixture.error));
    }
    ok(pawl_world_run_until_idle(fixture.world, &fixture.error));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pawl_http_free(fixture->http);
    pawl_world_close(fixture->world);
    pawl_scope_free(fixture->scope);
    return 0;
}

static const struct test_setting fixture_setting = { set_up, tear_down, 0 };

static const pawl_value *ask(struct fixture *fixture, const char *method, const char *target, int status)
{
    const struct pawl_http_request request = request_of(method, target, NULL);
    struct pawl_http_response response = answer_of(fixture->http, fixture->scope, method, target, NULL);
    pawl_value *value;
    table_check_any(&request, &response);
    if (response.status != status)
        fail_msg("%s: %d %s", target, response.status, response.body);
    ok(pawl_value_parse(fixture->scope, response.body, response.body_size, &value, &fixture->error));
    return value;
}

/* Goes through all pages; `seen` gets the values at `name` of the items, joined.  Returns how many there were. */
static size_t turn_pages(struct fixture *fixture, const char *target, const char *list, const char *cursor_key,
                         const char *flag_key, const char *cursor_query, const char *name, const char **out_seen)
{
    const char *cursor = NULL, *seen = "";
    size_t count = 0, pages = 0;
    do {
        const char *page_target =
            cursor == NULL ? target : pawl_scope_format(fixture->scope, "%s&%s=%s", target, cursor_query, cursor);
        const pawl_value *page = ask(fixture, "GET", page_target, 200);
        for (size_t i = 0; i < pawl_value_size(page, list); i++, count++) {
            const pawl_value *item = pawl_value_item(pawl_value_at(page, list), i);
            seen = pawl_scope_format(fixture->scope, "%s%s ", seen, pawl_value_string(item, name, "?"));
        }
        cursor = pawl_value_string(page, cursor_key, NULL);
        assert_int_equal(pawl_value_bool(page, flag_key, false), cursor != NULL);
        assert_true(++pages < 100);
    } while (cursor != NULL);
    *out_seen = seen;
    return count;
}

TEST_OF(fixture, instances_come_once_each_newest_first)
{
    const char *seen;
    assert_int_equal(turn_pages(fixture, "/api/workflows/many/instances?pageSize=3&status=waiting", "instances",
                                "cursor", "hasNextPage", "cursor", "id", &seen),
                     INSTANCES);
    assert_string_equal(seen, "i-10 i-09 i-08 i-07 i-06 i-05 i-04 i-03 i-02 i-01 i-00 ");
    assert_int_equal(turn_pages(fixture, "/api/workflows/many/instances?pageSize=11&order=asc", "instances", "cursor",
                                "hasNextPage", "cursor", "id", &seen),
                     INSTANCES);
    assert_string_equal(seen, "i-00 i-01 i-02 i-03 i-04 i-05 i-06 i-07 i-08 i-09 i-10 ");
}

TEST_OF(fixture, a_page_after_an_insert_goes_on_where_the_last_one_ended)
{
    const pawl_value *page = ask(fixture, "GET", "/api/workflows/many/instances?pageSize=2", 200);
    const char *cursor = pawl_value_string(page, "cursor", "");
    ok(pawl_world_create(fixture->world, "many", "i-99", NULL, &fixture->error));
    page = ask(fixture, "GET",
               pawl_scope_format(fixture->scope, "/api/workflows/many/instances?cursor=%s&pageSize=2", cursor), 200);
    assert_string_equal(pawl_value_string(page, "instances.0.id", ""), "i-08");
}

TEST_OF(fixture, a_cursor_is_refused_with_other_filters)
{
    const pawl_value *page = ask(fixture, "GET", "/api/workflows/many/instances?pageSize=2&status=waiting", 200);
    const char *cursor = pawl_value_string(page, "cursor", "");
    static const char *const formats[] = {
        "/api/workflows/many/instances?cursor=%s",
        "/api/workflows/many/instances?status=active&cursor=%s",
        "/api/workflows/many/instances?status=waiting&order=asc&cursor=%s",
        "/api/workflows/many/instances/i-00/history?stepsCursor=%s",
        "/api/hooks/deliveries?cursor=%s",
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char target[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(target, sizeof target, formats[i], cursor);
#pragma GCC diagnostic pop
        assert_string_equal(pawl_value_string(ask(fixture, "GET", target, 400), "code", ""), "INVALID_CURSOR");
    }
}

TEST_OF(fixture, steps_and_logs_have_pages_of_their_own)
{
    const char *seen;
    const char *target = "/api/workflows/many/instances/i-03/history?pageSize=2&includeLogs=true&logLevel=info";
    assert_int_equal(
        turn_pages(fixture, target, "steps", "stepsCursor", "stepsHasNextPage", "stepsCursor", "stepKey", &seen),
        STEPS + 1);
    assert_string_equal(seen, "step 0 step 1 step 2 step 3 step 4 step 5 step 6 wait ");
    assert_int_equal(
        turn_pages(fixture, target, "logs", "logsCursor", "logsHasNextPage", "logsCursor", "stepKey", &seen), STEPS);
    assert_string_equal(seen, "step 0 step 1 step 2 step 3 step 4 step 5 step 6 ");
}

TEST_OF(fixture, events_have_pages_of_their_own)
{
    const char *seen;
    for (int i = 0; i < 5; i++) {
        struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
        char id[16];
        snprintf(id, sizeof id, "e-%d", i);
        options.type = "other";
        options.event_id = id;
        ok(pawl_send_event(pawl_world_engine(fixture->world), NULL, "many", "i-00", &options, NULL, &fixture->error));
    }
    assert_int_equal(turn_pages(fixture, "/api/workflows/many/instances/i-00/history?pageSize=2&order=desc", "events",
                                "eventsCursor", "eventsHasNextPage", "eventsCursor", "id", &seen),
                     5);
    assert_string_equal(seen, "e-4 e-3 e-2 e-1 e-0 ");
}

/* C7: deliveries that failed are visible, and can be sent again. */
TEST_OF(fixture, deliveries_are_listed_and_sent_again)
{
    pawl_engine *engine = pawl_world_engine(fixture->world);
    const char *seen;
    int64_t delivered;
    for (int i = 0; i < 5; i++)
        ok(pawl_terminate(engine, "many", pawl_scope_format(fixture->scope, "i-%02d", i), &fixture->error));
    assert_int_equal(turn_pages(fixture, "/api/hooks/deliveries?pageSize=2&status=pending&hook=audit", "deliveries",
                                "cursor", "hasNextPage", "cursor", "instanceId", &seen),
                     5);
    assert_string_equal(seen, "i-00 i-01 i-02 i-03 i-04 ");
    const pawl_value *page = ask(fixture, "GET", "/api/hooks/deliveries?pageSize=1", 200);
    const pawl_value *first = pawl_value_at(page, "deliveries.0");
    assert_string_equal(pawl_value_string(first, "hook", ""), "audit");
    assert_string_equal(pawl_value_string(first, "event", ""), "onInstanceFinished");
    assert_string_equal(pawl_value_string(first, "workflowName", ""), "many");
    assert_string_equal(pawl_value_string(first, "payload.status", ""), "terminated");
    assert_int_equal(pawl_value_int(first, "runNumber", 0), 1);
    assert_int_equal(pawl_value_int(first, "attempts", -1), 0);
    assert_int_equal(pawl_value_int(first, "maxAttempts", 0), 5);
    assert_string_equal(pawl_value_string(first, "createdAt", ""), "2026-01-01T00:00:00.000Z");
    assert_string_equal(pawl_value_string(first, "nextAttemptAt", ""), "2026-01-01T00:00:00.000Z");
    assert_int_equal(pawl_value_kind(first, "lastError"), PAWL_KIND_NONE);

    ok(pawl_hooks_tick(engine, 0, &delivered, NULL, &fixture->error));
    page = ask(fixture, "GET", "/api/hooks/deliveries?status=failed", 200);
    assert_int_equal(pawl_value_size(page, "deliveries"), 5);
    first = pawl_value_at(page, "deliveries.0");
    assert_string_equal(pawl_value_string(first, "lastError", ""), "the \"other\" side is down");
    assert_int_equal(pawl_value_kind(first, "nextAttemptAt"), PAWL_KIND_NONE);
    const char *id = pawl_value_string(first, "id", "");
    const char *target = pawl_scope_format(fixture->scope, "/api/hooks/deliveries/%s/resend", id);
    assert_true(pawl_value_bool(ask(fixture, "POST", target, 200), "ok", false));
    page = ask(fixture, "GET", "/api/hooks/deliveries?status=pending", 200);
    assert_int_equal(pawl_value_size(page, "deliveries"), 1);
    assert_string_equal(pawl_value_string(page, "deliveries.0.id", ""), id);
    assert_int_equal(pawl_value_int(page, "deliveries.0.attempts", -1), 0);
}
