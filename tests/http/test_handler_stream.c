/* test_handler_stream.c - an instance followed as server-sent events: what comes, in what form, how one comes back, and
 * how it ends. */
#include "kit/test.h"
#include "table.h"

#include <stdatomic.h>

#include "engine/engine.h"
#include "http/handler.h"

#define WAITS "/api/workflows/order/instances/waits/stream"
#define DONE "/api/workflows/echo/instances/done/stream"

enum { TEXT_MAX = 65536, EVENTS_MAX = 64 };

struct fixture {
    struct table_world world;
    atomic_int readies;
};

/* A client: its call, and all that it got. */
struct client {
    struct pawl_http_request request;
    struct pawl_http_header header;
    pawl_http_call *call;
    char text[TEXT_MAX];
    size_t size;
    bool is_over;
    int64_t again_at_ms;
};

static void note_ready(void *user)
{
    atomic_fetch_add(&((struct fixture *)user)->readies, 1);
}

static void use_short_limits(struct pawl_http_options *options)
{
    options->heartbeat_ms = 3000;
    options->look_again_ms = 1000;
    options->streams_max = 2;
}
static const struct table_section short_limits = { "short limits", use_short_limits, NULL, 0 };

static int set_up(void **state)
{
    static struct fixture fixture;
    atomic_store(&fixture.readies, 0);
    table_world_open(&fixture.world, &short_limits);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(pw_http_streams_open(fixture->world.http), 0);
    table_world_close(&fixture->world);
    return 0;
}

static const struct test_setting fixture_setting = { set_up, tear_down, 0 };

static const struct pawl_http_response *ask(struct fixture *fixture, struct client *client, const char *method,
                                            const char *target, const char *since)
{
    const struct pawl_http_response *response;
    memset(client, 0, sizeof *client);
    client->request = (struct pawl_http_request)PAWL_HTTP_REQUEST_INIT;
    client->request.method = method;
    client->request.target = target;
    client->header = (struct pawl_http_header){ "Last-Event-ID", since };
    client->request.headers = &client->header;
    client->request.header_count = since != NULL ? 1 : 0;
    client->call = pawl_http_call_new(fixture->world.http, &client->request, note_ready, fixture);
    assert_non_null(client->call);
    assert_true(pawl_http_call_answer(client->call, &response, &client->again_at_ms));
    return response;
}

static struct client *join(struct fixture *fixture, const char *target, const char *since)
{
    struct client *client = malloc(sizeof *client);
    assert_non_null(client);
    const struct pawl_http_response *response = ask(fixture, client, "GET", target, since);
    assert_int_equal(response->status, 200);
    assert_true(response->is_stream);
    assert_int_equal(response->body_size, 0);
    assert_string_equal(table_header(response, "Content-Type"), "text/event-stream");
    assert_string_equal(table_header(response, "Cache-Control"), "no-store");
    return client;
}

static void leave(struct client *client)
{
    pawl_http_call_free(client->call);
    free(client);
}

/* All that there is now. */
static const char *drink(struct client *client)
{
    const char *bytes;
    size_t size, from = client->size;
    for (;;) {
        enum pawl_http_read read = pawl_http_call_read(client->call, &bytes, &size, &client->again_at_ms);
        client->is_over = read == PAWL_HTTP_READ_END;
        if (read != PAWL_HTTP_READ_BYTES)
            break;
        assert_true(size > 0 && client->size + size < TEXT_MAX);
        memcpy(client->text + client->size, bytes, size);
        client->size += size;
    }
    client->text[client->size] = '\0';
    return client->text + from;
}

static void assert_has(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        fail_msg("no\n  %s\nin\n%s", words, text);
}

static size_t count_of(const char *text, const char *words)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
        count++;
    return count;
}

/* The id of the last event. */
static void last_mark(const char *text, char out_mark[2048])
{
    const char *last = NULL;
    for (const char *at = text; (at = strstr(at, "id: ")) != NULL; at++)
        if (at == text || at[-1] == '\n')
            last = at + 4;
    assert_non_null(last);
    size_t size = strcspn(last, "\n");
    assert_true(size < 2048);
    memcpy(out_mark, last, size);
    out_mark[size] = '\0';
}

/* Every line is one of the format's, every event has a name, an id (but for the end) and one line of JSON. */
static void assert_well_formed(const char *text)
{
    pawl_scope *scope = pawl_scope_new();
    bool has_event = false, has_id = false;
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        struct pawl_error error = { PAWL_OK, "" };
        pawl_value *value;
        assert_int_equal(text[size], '\n');
        if (strncmp(text, "data: ", 6) == 0) {
            assert_true(has_event);
            if (pawl_value_parse(scope, text + 6, size - 6, &value, &error) != PAWL_OK)
                fail_msg("%s: %.*s", error.text, (int)size, text);
        } else if (strncmp(text, "event: ", 7) == 0) {
            has_event = true;
            assert_true(has_id || strncmp(text, "event: end\n", 11) == 0);
        } else if (strncmp(text, "id: ", 4) == 0) {
            has_id = true;
        } else if (size == 0) {
            has_event = has_id = false;
        } else if (strncmp(text, "retry: ", 7) != 0 && *text != ':') {
            fail_msg("%.*s is no line of a stream", (int)size, text);
        }
        text += size + 1;
    }
    pawl_scope_free(scope);
}

static void run(struct fixture *fixture)
{
    assert_int_equal(pawl_world_run_until_idle(fixture->world.world, NULL), PAWL_OK);
}

static void pay(struct fixture *fixture, const char *payload)
{
    assert_int_equal(pawl_world_send_event(fixture->world.world, "order", "waits", "paid", payload, NULL), PAWL_OK);
}

/* ---- Tests ----------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, a_finished_instance_is_told_whole_and_then_the_stream_ends)
{
    struct client *client = join(fixture, DONE, NULL);
    const char *text = drink(client);
    assert_int_equal(strncmp(text, "retry: 1000\n\n", 13), 0);
    assert_has(text, "\nevent: status\ndata: {\"id\":\"done\",\"runNumber\":1,\"details\":{\"status\":\"complete\","
                     "\"phase\":\"complete\",\"output\":{\"sku\": \"teapot\", \"n\": 2}},"
                     "\"updatedAt\":\"2026-01-01T00:00:00.000Z\"}\n\n");
    assert_has(text, "\n\nevent: end\ndata: {}\n\n");
    assert_well_formed(text);
    assert_true(client->is_over);
    assert_string_equal(drink(client), "");
    assert_true(client->is_over);
    leave(client);
}

TEST_OF(fixture, what_was_before_comes_first_and_what_happens_comes_by_push)
{
    struct client *client = join(fixture, WAITS, NULL);
    const char *text = drink(client);
    assert_has(text, "\nevent: status\ndata: {\"id\":\"waits\",");
    assert_has(text, "\nevent: step\ndata: {\"stepKey\":\"charge\",");
    assert_has(text, "\nevent: step\ndata: {\"stepKey\":\"payment\",");
    assert_has(text, "\nevent: log\ndata: {\"id\":\"2\",");
    assert_false(client->is_over);
    assert_int_equal(client->again_at_ms, pawl_world_now_ms(fixture->world.world) + 1000);
    assert_string_equal(drink(client), "");

    atomic_store(&fixture->readies, 0);
    pay(fixture, "{\"x\":\n1}");
    run(fixture);
    assert_true(atomic_load(&fixture->readies) > 0);
    text = drink(client);
    assert_has(text, "\"name\":\"payment\",\"type\":\"waitForEvent\",\"status\":\"completed\"");
    assert_has(text, "\"result\":{\"x\": 1}"); /* its line's end would have ended the event's */
    assert_has(text, "\"output\":{\"payment\":{\"x\":1}}");
    assert_has(text, "\n\nevent: end\n");
    assert_well_formed(client->text);
    assert_true(client->is_over);
    leave(client);
}

TEST_OF(fixture, who_comes_back_gets_what_was_missed_and_nothing_twice)
{
    char mark[2048];
    struct client *client = join(fixture, WAITS, NULL);
    last_mark(drink(client), mark);
    leave(client);
    pay(fixture, "1");
    run(fixture);

    client = join(fixture, WAITS, mark);
    const char *text = drink(client);
    assert_int_equal(count_of(text, "\"stepKey\":\"charge\",\"name\""), 0);
    assert_int_equal(count_of(text, "\"isReplay\":false"), 0); /* the lines of before; a replay writes its own */
    assert_has(text, "\"name\":\"payment\",\"type\":\"waitForEvent\",\"status\":\"completed\"");
    assert_has(text, "event: end");
    assert_true(client->is_over);
    leave(client);
}

/* 204 tells a browser's EventSource to stop coming back. */
TEST_OF(fixture, who_comes_back_after_the_end_is_answered_204)
{
    static struct client late;
    char mark[2048];
    struct client *client = join(fixture, DONE, NULL);
    last_mark(drink(client), mark);
    leave(client);

    const struct pawl_http_response *response = ask(fixture, &late, "GET", DONE, mark);
    assert_int_equal(response->status, 204);
    assert_false(response->is_stream);
    assert_int_equal(response->body_size, 0);
    pawl_http_call_free(late.call);

    client = join(fixture, DONE, ""); /* an empty mark is none */
    assert_has(drink(client), "event: status");
    leave(client);
}

TEST_OF(fixture, a_mark_of_another_instance_is_refused)
{
    static struct client other;
    char mark[2048];
    struct client *client = join(fixture, DONE, NULL);
    last_mark(drink(client), mark);
    leave(client);
    const struct pawl_http_response *response = ask(fixture, &other, "GET", WAITS, mark);
    assert_int_equal(response->status, 400);
    assert_has(response->body, "\"INVALID_CURSOR\"");
    pawl_http_call_free(other.call);
}

TEST_OF(fixture, a_quiet_stream_gets_a_comment_line_now_and_then)
{
    struct client *client = join(fixture, WAITS, NULL);
    int64_t begun = pawl_world_now_ms(fixture->world.world);
    drink(client);
    for (int second = 1; second <= 2; second++) {
        pawl_world_jump_ms(fixture->world.world, 1000);
        assert_string_equal(drink(client), "");
        assert_int_equal(client->again_at_ms, begun + second * 1000 + 1000);
    }
    pawl_world_jump_ms(fixture->world.world, 1000);
    assert_string_equal(drink(client), ":\n\n");
    pawl_world_jump_ms(fixture->world.world, 1000);
    assert_string_equal(drink(client), "");
    leave(client);
}

TEST_OF(fixture, a_stream_goes_on_when_the_clock_is_set_back)
{
    struct client *client = join(fixture, WAITS, NULL);
    drink(client);
    assert_string_equal(drink(client), "");

    pawl_world_jump_ms(fixture->world.world, -3600000);

    assert_string_equal(drink(client), ":\n\n");
    assert_int_equal(client->again_at_ms, pawl_world_now_ms(fixture->world.world) + 1000);
    leave(client);
}

TEST_OF(fixture, a_drain_ends_streams)
{
    struct client *client = join(fixture, WAITS, NULL);
    drink(client);
    atomic_store(&fixture->readies, 0);
    pawl_http_drain(fixture->world.http);
    assert_int_equal(atomic_load(&fixture->readies), 1);
    assert_string_equal(drink(client), "");
    assert_true(client->is_over);
    leave(client);
}

TEST_OF(fixture, a_restart_is_followed_into_the_next_run)
{
    struct client *client = join(fixture, WAITS, NULL);
    drink(client);
    assert_int_equal(pawl_restart(pawl_world_engine(fixture->world.world), "order", "waits", NULL), PAWL_OK);
    run(fixture);
    const char *text = drink(client);
    assert_has(text, "\"id\":\"waits\",\"runNumber\":2,");
    assert_has(text, "{\"stepKey\":\"charge\"");
    assert_well_formed(client->text);
    assert_false(client->is_over);
    leave(client);
}

/* G1: the id of a job is the secret part of its token. */
TEST_OF(fixture, a_call_that_waits_is_told_of_without_the_id_of_its_job)
{
    struct client *client = join(fixture, "/api/workflows/calls/instances/c-1/stream", NULL);
    const char *text = drink(client);
    assert_has(text, "\"type\":\"call\",\"status\":\"waiting\"");
    assert_has(text, "\"waitsFor\":{\"function\":\"charge\"},");
    leave(client);
}

TEST_OF(fixture, no_more_streams_are_open_than_may_be)
{
    static struct client third;
    struct client *first = join(fixture, WAITS, NULL), *second = join(fixture, WAITS, NULL);
    assert_int_equal(pw_http_streams_open(fixture->world.http), 2);
    const struct pawl_http_response *response = ask(fixture, &third, "GET", WAITS, NULL);
    assert_int_equal(response->status, 503);
    assert_has(response->body, "\"TOO_MANY_STREAMS\"");
    assert_string_equal(table_header(response, "Retry-After"), "1");
    pawl_http_call_free(third.call);
    leave(first);
    first = join(fixture, WAITS, NULL);
    leave(first);
    leave(second);
}

TEST_OF(fixture, head_asks_for_a_stream_without_opening_it)
{
    static struct client client;
    const char *bytes;
    size_t size;
    const struct pawl_http_response *response = ask(fixture, &client, "HEAD", WAITS, NULL);
    assert_int_equal(response->status, 200);
    assert_false(response->is_stream);
    assert_int_equal(response->body_size, 0);
    assert_string_equal(table_header(response, "Content-Type"), "text/event-stream");
    assert_int_equal(pw_http_streams_open(fixture->world.http), 0);
    assert_int_equal(pawl_http_call_read(client.call, &bytes, &size, &client.again_at_ms), PAWL_HTTP_READ_END);
    pawl_http_call_free(client.call);
}

/* ---- A store that cannot be read for a while -------------------------------------------------------------------- */

static const struct pw_store_ops *true_ops;
static pawl_status store_says;

static pawl_status read_rows(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                             struct pw_found *out_found, struct pawl_error *error)
{
    if (asked->kind == PW_READ_INSTANCE_BY_KEY && store_says != PAWL_OK)
        return store_says;
    return true_ops->read(store, asked, arena, out_found, error);
}

TEST_OF(fixture, a_stream_survives_a_store_that_cannot_be_read_for_a_while)
{
    struct pw_store *store = pawl_world_engine(fixture->world.world)->store;
    struct pw_store_ops ops = *store->ops;
    struct client *client = join(fixture, WAITS, NULL);
    drink(client);
    pay(fixture, "1");
    run(fixture);

    true_ops = store->ops;
    ops.read = read_rows;
    store->ops = &ops;
    store_says = PAWL_STORE_UNAVAILABLE;
    assert_string_equal(drink(client), "");
    assert_false(client->is_over);
    store_says = PAWL_OK;
    assert_string_equal(drink(client), ""); /* not before it is time to look again */
    pawl_world_jump_ms(fixture->world.world, 1000);
    assert_has(drink(client), "event: end");

    store->ops = true_ops;
    leave(client);
}

TEST_OF(fixture, a_stream_of_what_is_gone_for_good_ends)
{
    struct pw_store *store = pawl_world_engine(fixture->world.world)->store;
    struct pw_store_ops ops = *store->ops;
    struct client *client = join(fixture, WAITS, NULL);
    drink(client);
    true_ops = store->ops;
    ops.read = read_rows;
    store->ops = &ops;
    store_says = PAWL_INSTANCE_NOT_FOUND;
    pawl_world_jump_ms(fixture->world.world, 1000);
    assert_string_equal(drink(client), "");
    assert_true(client->is_over);
    store->ops = true_ops;
    leave(client);
}
