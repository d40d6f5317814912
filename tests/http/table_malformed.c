/* table_malformed.c - requests that are wrong, made up by rule. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ECHO "/workflows/echo/instances"
#define WAITS "/workflows/order/instances/waits"
#define EXECUTE "/workflows/echo/execute"

enum { MIB = 1024 * 1024 };

struct run {
    struct table_world *world;
    const struct table_sender *sender;
    pawl_scope *scope; /* of one request */
    size_t count;
};

static int send(struct run *run, const char *method, const char *target, const char *body, size_t body_size)
{
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_response response = { 0 };
    pawl_scope *scope = pawl_scope_new();
    assert_non_null(scope);
    request.method = method;
    request.target = pawl_scope_format(scope, "%s%s", run->world->mount, target);
    request.body = body;
    request.body_size = body_size;
    run->sender->send(run->sender->user, scope, &request, &response);
    table_check_any(&request, &response);
    int status = response.status;
    run->count++;
    pawl_scope_free(scope);
    return status;
}

/* expected 0: any of 4xx. */
static void expect(struct run *run, int expected, const char *method, const char *target, const char *body, size_t size)
{
    int status = send(run, method, target, body, size);
    if (expected != 0 ? status != expected : status < 400 || status > 499)
        fail_msg("%s %.100s %.*s: answered %d", method, target, (int)(size < 200 ? size : 200), body, status);
}

/* ---- Bodies cut short, and of wrong types ---------------------------------------------------------------------- */

static const struct {
    const char *target, *body;
} samples[] = {
    { ECHO,
      "{\"id\":\"x-1\",\"params\":{\"a\":[1,2.5e3,\"\xc3\xa4\\n\\ud83d\\ude00\"],\"b\":null},\"onConflict\":\"return\"}" },
    { ECHO "/batch",
      "{\"instances\":[{\"id\":\"x-2\",\"params\":true},{\"id\":\"x-3\",\"params\":{\"deep\":[[[]]]}}]}" },
    { WAITS "/events", "{\"type\":\"paid\",\"payload\":{\"amount\":-0.5,\"by\":\"Ada\"},\"id\":\"x-4\"}" },
    { WAITS "/terminate", "{ }" },
    { WAITS "/terminate", "{\"rollback\": false}" },
    { WAITS "/restart", "{\"from\":\"ch\\u0061rge\"}" },
    { EXECUTE, "{\"key\":\"k/\xc3\xa4\",\"params\":[{}],\"discard\":true}" },
    { "/jobs/claim", "{\"functions\":[\"charge\",\"a.b\"],\"max\":10,\"leaseMs\":30000}" },
    { "/jobs/1.1.1.never/heartbeat", "{\"leaseMs\":1000}" },
    { "/jobs/1.1.1.never/complete", "{\"result\":[1,{\"a\":null}]}" },
    { "/jobs/1.1.1.never/fail", "{\"name\":\"E\",\"message\":\"m\",\"retry\":false}" },
    { "/deferred/defers.d-1.1.1.never/succeed", "{\"result\":\"\"}" },
    { "/deferred/defers.d-1.1.1.never/fail", "{\"name\":\"E\",\"message\":\"m\"}" },
};
static const size_t sample_count = sizeof samples / sizeof samples[0];

static void cut_short(struct run *run)
{
    for (size_t i = 0; i < sample_count; i++)
        for (size_t size = 1; size < strlen(samples[i].body); size++)
            expect(run, 400, "POST", samples[i].target, samples[i].body, size);
}

static void put_behind(struct run *run)
{
    static const char *const behind[] = { "x", "{}", ",", "]", "}", "\"", "null", "\x01", "\xff" };
    char body[256];
    for (size_t i = 0; i < sample_count; i++) {
        for (size_t k = 0; k < sizeof behind / sizeof behind[0]; k++) {
            snprintf(body, sizeof body, "%s%s", samples[i].body, behind[k]);
            expect(run, 400, "POST", samples[i].target, body, strlen(body));
            snprintf(body, sizeof body, "%s%s", behind[k], samples[i].body);
            expect(run, 400, "POST", samples[i].target, body, strlen(body));
        }
        snprintf(body, sizeof body, "%s", samples[i].body);
        expect(run, 400, "POST", samples[i].target, body, strlen(body) + 1); /* with its NUL */
    }
}

static void of_wrong_types(struct run *run)
{
    static const char *const values[] = { "null", "true", "1",       "1.5",          "-1",
                                          "[]",   "{}",   "[\"a\"]", "\"a\\u0000\"", "{\"id\":\"a\"}" };
    static const struct {
        const char *target, *format;
    } places[] = {
        { ECHO, "{\"id\":%s}" },
        { ECHO, "{\"onConflict\":%s}" },
        { ECHO, "[%s]" },
        { ECHO, "{\"other\":%s}" },
        { ECHO "/batch", "{\"instances\":[{\"id\":%s}]}" },
        { ECHO "/batch", "{\"instances\":[{\"id\":\"a\",\"x\":%s}]}" },
        { ECHO "/batch", "{\"instances\":[{\"id\":\"a\"}],\"instances\":%s}" },
        { ECHO "/batch", "{\"instances\":[{\"id\":\"a\"},[%s]]}" },
        { WAITS "/events", "{\"type\":%s}" },
        { WAITS "/events", "{\"type\":\"a\",\"id\":%s}" },
        { WAITS "/events", "{\"payload\":%s}" },
        { WAITS "/pause", "{\"x\":%s}" },
        { WAITS "/restart", "[%s]" },
        { WAITS "/restart", "{\"from\":%s}" },
        { WAITS "/terminate", "{\"rollback\":[%s]}" },
        { WAITS "/interrupt", "{\"x\":%s}" },
        { WAITS "/retry", "{\"x\":%s}" },
        { EXECUTE, "{\"key\":%s}" },
        { EXECUTE, "{\"discard\":[%s]}" },
        { EXECUTE, "{\"waitMs\":[%s]}" },
        { "/jobs/claim", "{\"functions\":[%s]}" },
        { "/jobs/claim", "{\"functions\":[\"f\"],\"max\":[%s]}" },
        { "/jobs/claim", "{\"functions\":[\"f\"],\"leaseMs\":%s}" },
        { "/jobs/1.1.1.never/heartbeat", "{\"leaseMs\":%s}" },
        { "/jobs/1.1.1.never/complete", "{\"x\":%s}" },
        { "/jobs/1.1.1.never/fail", "{\"name\":%s}" },
        { "/jobs/1.1.1.never/fail", "{\"name\":\"E\",\"message\":%s}" },
        { "/jobs/1.1.1.never/fail", "{\"name\":\"E\",\"retry\":[%s]}" },
        { "/deferred/defers.d-1.1.1.never/succeed", "{\"x\":%s}" },
        { "/deferred/defers.d-1.1.1.never/fail", "{\"name\":%s}" },
    };
    char body[256];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(body, sizeof body, places[i].format, values[k]);
#pragma GCC diagnostic pop
            expect(run, 400, "POST", places[i].target, body, strlen(body));
        }
    }
}

/* ---- Too much -------------------------------------------------------------------------------------------------- */

/* prefix, the filling that many times, suffix; the caller frees it. */
static char *long_body(const char *prefix, const char *filling, size_t times, const char *suffix)
{
    size_t size = strlen(filling), at = strlen(prefix);
    char *body = malloc(at + size * times + strlen(suffix) + 1);
    assert_non_null(body);
    memcpy(body, prefix, at);
    for (size_t i = 0; i < times; i++, at += size)
        memcpy(body + at, filling, size);
    memcpy(body + at, suffix, strlen(suffix) + 1);
    return body;
}

static void expect_long(struct run *run, int expected, const char *target, char *body)
{
    expect(run, expected, "POST", target, body, strlen(body));
    free(body);
}

static void too_large(struct run *run)
{
    expect_long(run, 413, ECHO, long_body("{\"params\":\"", "a", MIB, "\"}"));
    expect_long(run, 413, ECHO, long_body("{\"params\":\"", "a", 4 * MIB, "\"}"));
    expect_long(run, 413, ECHO, long_body("", "x", 4 * MIB + 1, ""));
    expect_long(run, 413, EXECUTE, long_body("{\"params\":\"", "a", MIB, "\"}"));
    expect_long(run, 400, EXECUTE, long_body("{\"key\":\"", "a", MIB, "\"}"));
    expect_long(run, 400, "/jobs/claim", long_body("{\"functions\":[", "\"f\",", 100000, "\"f\"]}"));
    expect_long(run, 400, "/jobs/claim", long_body("{\"functions\":[\"", "f", MIB, "\"]}"));
    expect_long(run, 413, WAITS "/events", long_body("{\"type\":\"a\",\"payload\":\"", "a", MIB, "\"}"));
    expect_long(run, 413, WAITS "/pause", long_body("", " ", 4 * MIB, "{}"));
    expect_long(run, 413, ECHO "/batch",
                long_body("{\"instances\":[{\"id\":\"x-8\"},{\"id\":\"x-9\",\"params\":\"", "a", MIB, "\"}]}"));
    expect_long(run, 400, ECHO, long_body("{\"id\":\"", "a", MIB, "\"}"));
    expect_long(run, 400, ECHO, long_body("{\"", "k", MIB, "\":1}"));
    expect_long(run, 400, WAITS "/events", long_body("{\"type\":\"", "\\u0061", 100000, "\"}"));
    expect_long(run, 400, ECHO, long_body("{", "\"x\":1,", 100000, "\"y\":2}"));
    expect_long(run, 400, ECHO, long_body("{", "\"id\":\"x-7\",", 100000, "\"id\":\"x-7\"}"));
    expect_long(run, 400, ECHO "/batch", long_body("{\"instances\":[", "{\"id\":\"x-6\"},", 100, "{\"id\":\"x-6\"}]}"));
    expect_long(run, 400, ECHO "/batch", long_body("{\"instances\":[", "1,", 100000, "1]}"));
}

static void too_deep(struct run *run)
{
    char *closing = long_body("", "]", 129, "}");
    expect_long(run, 400, ECHO, long_body("{\"params\":", "[", 129, closing));
    expect_long(run, 400, WAITS "/events", long_body("{\"type\":\"a\",\"payload\":", "[", 129, closing));
    free(closing);
    expect_long(run, 400, ECHO, long_body("", "[", 100000, ""));
    expect_long(run, 400, ECHO, long_body("", "{\"params\":", 100000, ""));
    expect_long(run, 400, ECHO "/batch", long_body("{\"instances\":", "[", 1000, ""));
}

/* ---- Targets --------------------------------------------------------------------------------------------------- */

/* Every byte as a character of an id that there is not. */
static void with_every_byte(struct run *run)
{
    char target[128];
    for (int byte = 0; byte < 256; byte++) {
        snprintf(target, sizeof target, ECHO "/x%%%02xy", (unsigned)byte);
        expect(run, 0, "GET", target, NULL, 0);
        snprintf(target, sizeof target, "/deferred/x%%%02x/succeed", (unsigned)byte);
        expect(run, 0, "POST", target, NULL, 0);
        snprintf(target, sizeof target, "/jobs/1.1.1.%%%02x/complete", (unsigned)byte);
        expect(run, 0, "POST", target, NULL, 0);
        snprintf(target, sizeof target, EXECUTE "/x%%%02x", (unsigned)byte); /* nobody executed it */
        expect(run, 0, "GET", target, NULL, 0);
        snprintf(target, sizeof target, ECHO "?status=%%%02X", (unsigned)byte);
        expect(run, 400, "GET", target, NULL, 0);
        snprintf(target, sizeof target, "/workflows/x%%%02x/instances", (unsigned)byte);
        expect(run, 0, "POST", target, NULL, 0);
        if (run->sender->is_client || byte == 0 || strchr("?/%", byte) != NULL)
            continue;
        snprintf(target, sizeof target, ECHO "/x%cy", byte);
        expect(run, 0, "GET", target, NULL, 0);
    }
}

static void with_long_names(struct run *run)
{
    char *name = long_body(ECHO "/", "a", 3000, ""), *query = long_body(ECHO "?cursor=", "a", 3000, "");
    char *key = long_body(ECHO "?", "a", 3000, "=1"), *path = long_body("", "/a", 1500, "");
    expect(run, 400, "GET", name, NULL, 0);
    expect(run, 400, "GET", query, NULL, 0);
    expect(run, 400, "GET", key, NULL, 0);
    expect(run, 404, "GET", path, NULL, 0);
    free(name);
    free(query);
    free(key);
    free(path);
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

/* How all instances stand, as text. */
static const char *state_of(struct table_world *world, pawl_scope *scope)
{
    static const char *const workflows[] = { "echo", "order", "broken" };
    const char *text = "";
    for (size_t w = 0; w < 3; w++) {
        struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
        struct pawl_instance_page page;
        options.page_size = 100;
        assert_int_equal(pawl_list(pawl_world_engine(world->world), scope, workflows[w], &options, &page, NULL),
                         PAWL_OK);
        for (size_t i = 0; i < page.count; i++)
            text = pawl_scope_format(scope, "%s%s/%s %lld %s %lld\n", text, workflows[w], page.instances[i].id,
                                     (long long)page.instances[i].run_number, pawl_phase_name(page.instances[i].phase),
                                     (long long)page.instances[i].updated_at_ms);
    }
    struct pawl_history history;
    assert_int_equal(pawl_world_history(world->world, "order", "waits", 0, &history, NULL), PAWL_OK);
    return pawl_scope_format(scope, "%s%zu events", text, history.event_count);
}

size_t table_run_malformed(struct table_world *world, const struct table_sender *sender)
{
    struct run run = { .world = world, .sender = sender };
    pawl_scope *scope = pawl_scope_new();
    const char *before = state_of(world, scope);
    cut_short(&run);
    put_behind(&run);
    of_wrong_types(&run);
    too_large(&run);
    too_deep(&run);
    with_every_byte(&run);
    with_long_names(&run);
    assert_string_equal(state_of(world, scope), before);
    pawl_scope_free(scope);
    return run.count;
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Some bytes replaced, left out or doubled.  What no client can send stays out of a target. */
static size_t damage(char *text, size_t size, size_t room, unsigned *seed, const char *spice)
{
    for (unsigned changes = 1 + next_random(seed) % 3; changes > 0 && size > 1; changes--) {
        size_t at = next_random(seed) % size;
        switch (next_random(seed) % 3) {
        case 0:
            text[at] = spice[next_random(seed) % strlen(spice)];
            break;
        case 1:
            memmove(text + at, text + at + 1, size - at - 1);
            size--;
            break;
        default:
            if (size + 1 < room) {
                memmove(text + at + 1, text + at, size - at);
                size++;
            }
        }
    }
    text[size] = '\0';
    return size;
}

void table_run_damaged(struct table_world *world, const struct table_sender *sender, unsigned seed, size_t count)
{
    static const char *const targets[] = {
        "/workflows",
        ECHO "?status=active&pageSize=10&order=asc",
        ECHO "/done",
        "/workflows/broken/instances/b-1/result",
        WAITS "/history?includeLogs=true&logLevel=warn&runNumber=1&pageSize=2",
        "/hooks/deliveries?status=failed&hook=a",
        "/health/ready",
        "/workflows/family/instances/f-1/children?pageSize=1&order=asc",
        "/workflows/echo/instances/done/runs?pageSize=1&order=asc",
        "/workflows/echo/instances/done?runNumber=1",
        EXECUTE "/a%2Fb%20c",
    };
    struct run run = { .world = world, .sender = sender };
    char target[256], body[512];
    for (size_t i = 0; i < count; i++) {
        bool is_post = next_random(&seed) % 2 == 0;
        size_t pick = next_random(&seed);
        const char *body_text = samples[pick % sample_count].body;
        snprintf(target, sizeof target, "%s",
                 is_post ? samples[pick % sample_count].target : targets[pick % (sizeof targets / sizeof targets[0])]);
        snprintf(body, sizeof body, "%s", is_post ? body_text : "");
        size_t size = strlen(body);
        if (is_post)
            size = damage(body, size, sizeof body, &seed, "{}[]:,\"\\0123456789eE+-. \n\tutfnr\x01\xc3\xa4\xff");
        else
            (void)damage(target + 1, strlen(target) - 1, sizeof target - 1, &seed, "/%?&=+.~-_aA09;:@!$'()*,");
        (void)send(&run, is_post ? "POST" : "GET", target, body, size);
    }
}
