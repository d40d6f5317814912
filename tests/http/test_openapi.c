/* test_openapi.c - openapi.json says what the handler does: the same routes, keys, bodies and answers, both ways. */
#include "described.h"

#include "http/openapi.h"
#include "pawl/pawl.h"

enum { TEXT_SIZE = 512 };

/* ---- The document as such ---------------------------------------------------------------------------------------- */

TEST_OF(described, the_file_is_JSON_and_the_version_and_the_mount_are_filled_in)
{
    size_t size;
    const char *raw = pw_http_openapi(&size);
    assert_int_equal(strlen(raw), size);
    assert_string_equal(pawl_value_string(described_parse(described, raw, size), "info.version", ""), "{{version}}");

    assert_string_equal(pawl_value_string(described->document, "openapi", ""), "3.1.0");
    assert_string_equal(pawl_value_string(described->document, "info.version", ""), PAWL_VERSION);
    assert_string_equal(pawl_value_string(described->document, "servers.0.url", ""), "/api");

    pawl_http_free(described->http);
    described_open(described, "");
    struct pawl_http_response response = described_send(described, "GET", "/openapi.json", NULL);
    const pawl_value *document = described_parse(described, response.body, response.body_size);
    assert_string_equal(pawl_value_string(document, "servers.0.url", ""), "/");
    assert_true(pawl_value_equal(pawl_value_at(document, "paths"), pawl_value_at(described->document, "paths")));
}

static void check_references(struct described *described, const pawl_value *value)
{
    const pawl_value *reference = schema_member(value, "$ref");
    if (reference != NULL && schema_resolve(described->document, pawl_value_string(reference, NULL, "")) == NULL)
        fail_msg("%s names nothing", pawl_value_string(reference, NULL, ""));
    for (size_t i = 0; pawl_value_item(value, i) != NULL; i++)
        check_references(described, pawl_value_item(value, i));
}

TEST_OF(described, every_reference_names_something)
{
    check_references(described, described->document);
}

/* An object with members says which, so that a member that is not described shows. */
static void check_closed(const pawl_value *schema)
{
    if (schema_member(schema, "properties") != NULL && strcmp(pawl_value_string(schema, "type", ""), "object") == 0)
        assert_false(pawl_value_bool(schema, "additionalProperties", true));
    for (size_t i = 0; pawl_value_item(schema, i) != NULL; i++)
        check_closed(pawl_value_item(schema, i));
}

TEST_OF(described, every_object_describes_all_of_its_members)
{
    check_closed(described->document);
}

static size_t check_examples(struct described *described, const pawl_value *value)
{
    const pawl_value *example = schema_member(value, "example"), *schema = schema_member(value, "schema");
    size_t found = example != NULL;
    const char *wrong =
        example != NULL ? schema_mismatch(described->scope, described->document, schema, example) : NULL;
    if (wrong != NULL)
        fail_msg("an example does not keep to its schema: %s", wrong);
    for (size_t i = 0; example == NULL && pawl_value_item(value, i) != NULL; i++)
        found += check_examples(described, pawl_value_item(value, i));
    return found;
}

TEST_OF(described, every_example_keeps_to_its_schema)
{
    assert_true(check_examples(described, described->document) > 15);
}

TEST_OF(described, the_schema_check_finds_what_is_wrong)
{
    static const struct {
        const char *value, *wrong;
    } cases[] = { { "{\"code\": \"A\"}", "message" },
                  { "{\"code\": 1, \"message\": \"\"}", "/code" },
                  { "{\"code\": \"a\", \"message\": \"\"}", "/code" },
                  { "{\"code\": \"A\", \"message\": \"\", \"more\": 1}", "more" },
                  { "{\"code\": \"A\", \"message\": \"\", \"issues\": []}", "minItems" },
                  { "{\"code\": \"A\", \"message\": \"\", \"issues\": [{\"path\": \"x\"}]}", "/issues/0" },
                  { "[]", "type" } };
    const pawl_value *schema = schema_resolve(described->document, "#/components/schemas/Error");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const pawl_value *value = described_parse(described, cases[i].value, strlen(cases[i].value));
        const char *wrong = schema_mismatch(described->scope, described->document, schema, value);
        assert_non_null(wrong);
        assert_non_null(strstr(wrong, cases[i].wrong));
    }
}

/* ---- The same routes --------------------------------------------------------------------------------------------- */

static bool is_route(const struct described *described, const char *path, const char *method)
{
    for (size_t i = 0; i < pw_http_route_count; i++)
        if (strcmp(described_path(described->scope, pw_http_routes[i].pattern), path) == 0 &&
            strcmp(described_method(pw_http_routes[i].method), method) == 0)
            return true;
    return false;
}

TEST_OF(described, every_route_is_described_and_every_description_is_a_routes)
{
    const pawl_value *paths = pawl_value_at(described->document, "paths");
    for (size_t i = 0; i < pw_http_route_count; i++)
        if (described_operation(described, &pw_http_routes[i]) == NULL)
            fail_msg("%s %s is not described", pw_http_routes[i].method, pw_http_routes[i].pattern);
    for (size_t i = 0; pawl_value_key(paths, i) != NULL; i++) {
        const pawl_value *path = pawl_value_item(paths, i);
        for (size_t j = 0; pawl_value_key(path, j) != NULL; j++)
            if (strcmp(pawl_value_key(path, j), "parameters") != 0 &&
                !is_route(described, pawl_value_key(paths, i), pawl_value_key(path, j)))
                fail_msg("%s %s is no route", pawl_value_key(path, j), pawl_value_key(paths, i));
    }
}

TEST_OF(described, every_operation_has_a_name_of_its_own_and_says_which_scope_it_needs)
{
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        const pawl_value *operation = described_operation(described, route);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(
                pawl_value_string(operation, "operationId", ""),
                pawl_value_string(described_operation(described, &pw_http_routes[j]), "operationId", ""));
        assert_true(pawl_value_size(operation, "summary") > 0);
        bool is_open = schema_member(operation, "security") != NULL && pawl_value_size(operation, "security") == 0;
        assert_int_equal(is_open, route->scope == PAWL_HTTP_OPEN || route->scope == PAWL_HTTP_DEFERRED);
        assert_int_equal(route->scope == PAWL_HTTP_DEFERRED, strncmp(route->pattern, "/deferred/", 10) == 0);
        const char *says = pawl_scope_format(described->scope, "Scope: %s.", pawl_http_scope_name(route->scope));
        if (!is_open && strstr(pawl_value_string(operation, "description", ""), says) == NULL)
            fail_msg("%s %s does not say \"%s\"", route->method, route->pattern, says);
    }
}

TEST_OF(described, every_query_key_and_every_part_of_a_path_is_described_and_nothing_else)
{
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        const pawl_value *parameters[32];
        size_t count = described_parameters(described, route, "query", parameters, 32), taken = 0;
        for (const char *const *key = route->query; key != NULL && *key != NULL; key++, taken++) {
            bool found = false;
            for (size_t j = 0; j < count; j++)
                found = found || strcmp(pawl_value_string(parameters[j], "name", ""), *key) == 0;
            if (!found)
                fail_msg("%s %s: the key %s is not described", route->method, route->pattern, *key);
        }
        assert_int_equal(taken, count);
        const char *path = described_path(described->scope, route->pattern);
        count = described_parameters(described, route, "path", parameters, 32);
        for (const char *at = path; (at = strchr(at, '{')) != NULL; at++)
            count--;
        assert_int_equal(count, 0);
    }
}

/* ---- The same requests ------------------------------------------------------------------------------------------- */

static const char *code_of(struct described *described, const struct pawl_http_response *response)
{
    return response->status == 200 || response->status == 202
               ? ""
               : pawl_value_string(described_parse(described, response->body, response->body_size), "code", "");
}

static void try_value(struct described *described, const struct pw_http_route *route, const char *key,
                      const char *value, bool is_right)
{
    const char *target = pawl_scope_format(described->scope, "%s?%s=%s",
                                           described_target(described->scope, route, "order", "done"), key, value);
    struct pawl_http_response response = described_send(described, route->method, target, NULL);
    bool is_taken = strcmp(code_of(described, &response), "VALIDATION_FAILED") != 0;
    if (is_taken != is_right)
        fail_msg("%s is %s: %s", target, is_taken ? "taken" : "refused", response.body);
    described_check(described, route, &response);
}

static void try_limit(struct described *described, const struct pw_http_route *route, const char *key,
                      const pawl_value *limit, int64_t beyond)
{
    char text[32];
    if (limit == NULL)
        return;
    (void)snprintf(text, sizeof text, "%lld", (long long)pawl_value_int(limit, NULL, 0));
    try_value(described, route, key, text, true);
    (void)snprintf(text, sizeof text, "%lld", (long long)(pawl_value_int(limit, NULL, 0) + beyond));
    try_value(described, route, key, text, false);
}

static void try_parameter(struct described *described, const struct pw_http_route *route, const pawl_value *parameter)
{
    const char *key = pawl_value_string(parameter, "name", "");
    const pawl_value *schema = schema_follow(described->document, pawl_value_at(parameter, "schema"));
    const pawl_value *choices = pawl_value_at(schema, "enum");
    const char *type = pawl_value_string(schema, "type", "");
    for (size_t i = 0; pawl_value_item(choices, i) != NULL; i++)
        try_value(described, route, key, pawl_value_string(pawl_value_item(choices, i), NULL, ""), true);
    if (strcmp(type, "boolean") == 0) {
        try_value(described, route, key, "true", true);
        try_value(described, route, key, "false", true);
    }
    try_limit(described, route, key, pawl_value_at(schema, "minimum"), -1);
    try_limit(described, route, key, pawl_value_at(schema, "maximum"), 1);
    try_value(described, route, key, "nonsense", choices == NULL && strcmp(type, "string") == 0);
}

TEST_OF(described, values_of_the_query_are_taken_and_refused_as_described)
{
    size_t tried = 0;
    described_play(described);
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const pawl_value *parameters[32];
        size_t count = described_parameters(described, &pw_http_routes[i], "query", parameters, 32);
        for (size_t j = 0; j < count; j++)
            try_parameter(described, &pw_http_routes[i], parameters[j]);
        tried += count;
        try_value(described, &pw_http_routes[i], "notDescribed", "1", false);
    }
    assert_true(tried > 10);
}

/* What a good body is answered with, where there is no token that is right. */
static int status_of_good(const struct pw_http_route *route)
{
    if (strstr(route->pattern, ":token") != NULL)
        return 404;
    return strstr(route->pattern, "/execute") != NULL ? 202 : 200;
}

static size_t probe_bodies(struct described *described)
{
    size_t tried = 0;
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        const char *body = described_body(described, described_operation(described, route));
        const char *target = described_target(described->scope, route, "order", "waits");
        if (body == NULL)
            continue;
        tried++;
        (void)described_probe(described, route->method, target, body, status_of_good(route));
        (void)described_probe(described, route->method, target, "{\"notDescribed\": 1}", 400);
        (void)described_probe(described, route->method, target, "[]", 400);
        (void)described_probe(described, route->method, target, "{", 400);
        bool is_required = pawl_value_bool(described_operation(described, route), "requestBody.required", false);
        (void)described_probe(described, route->method, target, NULL, is_required ? 400 : status_of_good(route));
    }
    return tried;
}

TEST_OF(described, bodies_are_taken_and_refused_as_described)
{
    described_play(described);
    assert_int_equal(probe_bodies(described), 14);
}

/* ---- The same answers -------------------------------------------------------------------------------------------- */

static void probe_reads(struct described *described)
{
    (void)described_probe(described, "GET", "/api/workflows", NULL, 200);
    (void)described_probe(described, "GET", "/api/workflows/", NULL, 200);
    (void)described_probe(described, "GET", "/api/workflows/order/instances?pageSize=2", NULL, 200);
    (void)described_probe(described, "GET", "/api/workflows/broken/instances", NULL, 200);
    (void)described_probe(described, "POST", "/api/workflows/order/instances", "{\"id\": \"done\"}", 409);
    static const char *const ids[] = { "done", "waits", "retries", "fresh" };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        char target[TEXT_SIZE];
        (void)snprintf(target, sizeof target, "/api/workflows/order/instances/%s", ids[i]);
        (void)described_probe(described, "GET", target, NULL, 200);
        (void)snprintf(target, sizeof target, "/api/workflows/order/instances/%s/history?includeLogs=true", ids[i]);
        (void)described_probe(described, "GET", target, NULL, 200);
        (void)snprintf(target, sizeof target, "/api/workflows/order/instances/%s/result", ids[i]);
        (void)described_probe(described, "GET", target, NULL, i == 0 ? 200 : 202);
    }
    (void)described_probe(described, "GET", "/api/workflows/order/instances/done/history?pageSize=1&includeLogs=true",
                          NULL, 200);
    (void)described_probe(described, "GET", "/api/workflows/broken/instances/broken", NULL, 200);
    (void)described_probe(described, "GET", "/api/workflows/broken/instances/broken/result", NULL, 200);
    (void)described_probe(described, "GET", "/api/hooks/deliveries", NULL, 200);
    (void)described_probe(described, "GET", "/api/status", NULL, 200);
    (void)described_probe(described, "GET", "/api/status?workflow=order", NULL, 200);
    (void)described_probe(described, "GET", "/api/cluster", NULL, 200);
    (void)described_probe(described, "GET", "/api/workflows/order/shards", NULL, 200);
    static const char *const open[] = { "/health",  "/health/live", "/health/ready",
                                        "/version", "/metrics",     "/openapi.json" };
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        (void)described_probe(described, "GET", pawl_scope_format(described->scope, "/api%s", open[i]), NULL, 200);
}

static void probe_control(struct described *described)
{
    static const char *const verbs[] = { "pause", "resume", "interrupt", "terminate" };
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        char target[TEXT_SIZE];
        (void)snprintf(target, sizeof target, "/api/workflows/order/instances/retries/%s", verbs[i]);
        (void)described_probe(described, "POST", target, NULL, 200);
        (void)snprintf(target, sizeof target, "/api/workflows/order/instances/done/%s", verbs[i]);
        (void)described_probe(described, "POST", target, NULL, 409);
    }
    (void)described_probe(described, "POST", "/api/workflows/order/instances/done/events", "{\"type\": \"paid\"}", 409);
    (void)described_probe(described, "POST", "/api/workflows/order/instances/done/retry", NULL, 409);
    (void)described_probe(described, "POST", "/api/workflows/order/instances/done/restart", NULL, 200);
    (void)described_probe(described, "POST", "/api/workflows/broken/instances/broken/retry", NULL, 200);
    (void)described_probe(described, "POST", "/api/workflows/undone/instances/undone/restart", "{\"from\": \"book\"}",
                          409);
}

/* ---- What others finish ------------------------------------------------------------------------------------------ */

static void probe_executions(struct described *described)
{
    static const char target[] = "/api/workflows/broken/execute";
    (void)described_probe(described, "POST", target, "{\"key\": \"k\"}", 202);
    (void)described_probe(described, "GET", "/api/workflows/broken/execute/k", NULL, 202);
    ok(pawl_world_run_until_idle(described->world, &described->error));
    (void)described_probe(described, "POST", target, "{\"key\": \"k\"}", 200);
    (void)described_probe(described, "GET", "/api/workflows/broken/execute/k", NULL, 200);
}

static void probe_deferreds(struct described *described)
{
    static const char fail[] = "{\"name\": \"Refused\", \"message\": \"no\"}", other[] = "{\"name\": \"Other\"}";
    const char *deferred = pawl_scope_format(described->scope, "/api/deferred/%s", described->token);
    (void)described_probe(described, "POST", pawl_scope_format(described->scope, "%s/fail", deferred), fail, 200);
    (void)described_probe(described, "POST", pawl_scope_format(described->scope, "%s/fail", deferred), other, 409);
    (void)described_probe(described, "POST", pawl_scope_format(described->scope, "%s/succeed", deferred), NULL, 409);
    ok(pawl_world_create(described->world, "defers", "alone", NULL, &described->error));
    ok(pawl_world_run_until_idle(described->world, &described->error));
    deferred = pawl_scope_format(described->scope, "/api/deferred/%s/succeed", described->token);
    (void)described_probe(described, "POST", deferred, "{\"result\": null}", 200);
}

static void probe_job(struct described *described, const char *token, const char *verb, const char *body)
{
    const char *target = pawl_scope_format(described->scope, "/api/jobs/%s/%s", token, verb);
    const char *heartbeat = pawl_scope_format(described->scope, "/api/jobs/%s/heartbeat", token);
    (void)described_probe(described, "POST", heartbeat, "{\"leaseMs\": 1000}", 200);
    (void)described_probe(described, "POST", target, body, 200);
    (void)described_probe(described, "POST", target, body, 409);
    (void)described_probe(described, "POST", heartbeat, NULL, 409);
}

static void probe_jobs(struct described *described)
{
    struct pawl_http_response response =
        described_probe(described, "POST", "/api/jobs/claim", "{\"functions\": [\"charge\"], \"max\": 2}", 200);
    const pawl_value *jobs = described_parse(described, response.body, response.body_size);
    assert_int_equal(pawl_value_size(jobs, "jobs"), 2);
    probe_job(described, pawl_value_string(jobs, "jobs.0.token", ""), "complete", "{\"result\": 1}");
    probe_job(described, pawl_value_string(jobs, "jobs.1.token", ""), "fail", "{\"name\": \"E\"}");
}

static void probe_work(struct described *described)
{
    static const char *const instances[] = { "undone/instances/undone", "calls/instances/calls",
                                             "family/instances/family" };
    described_play_work(described);
    for (size_t i = 0; i < sizeof instances / sizeof instances[0]; i++) {
        const char *target = pawl_scope_format(described->scope, "/api/workflows/%s", instances[i]);
        (void)described_probe(described, "GET", target, NULL, 200);
        (void)described_probe(described, "GET", pawl_scope_format(described->scope, "%s/history", target), NULL, 200);
        (void)described_probe(described, "GET", pawl_scope_format(described->scope, "%s/why", target), NULL, 200);
    }
    struct pawl_http_response response =
        described_probe(described, "GET", "/api/workflows/family/instances/family/children", NULL, 200);
    const pawl_value *page = described_parse(described, response.body, response.body_size);
    const char *kid = pawl_value_string(page, "instances.0.id", "");
    const char *target = pawl_scope_format(described->scope, "/api/workflows/defers/instances/%s", kid);
    response = described_probe(described, "GET", target, NULL, 200);
    const pawl_value *child = described_parse(described, response.body, response.body_size);
    assert_string_equal(pawl_value_string(child, "meta.parent.instanceId", ""), "family");
    (void)described_probe(described, "POST", "/api/workflows/family/instances/family/restart", NULL, 200);
    (void)described_probe(described, "GET", "/api/workflows/family/instances/family/runs?order=asc", NULL, 200);
    (void)described_probe(described, "GET", "/api/workflows/family/instances/family?runNumber=1", NULL, 200);
    probe_executions(described);
    probe_deferreds(described);
    probe_jobs(described);
}

static void probe_deliveries(struct described *described)
{
    struct pawl_http_response response =
        described_probe(described, "GET", "/api/hooks/deliveries?status=pending&pageSize=1", NULL, 200);
    const pawl_value *page = described_parse(described, response.body, response.body_size);
    assert_true(pawl_value_bool(page, "hasNextPage", false));
    assert_string_equal(pawl_value_string(page, "deliveries.0.lastError", ""), "nobody listens");
    response = described_probe(described, "GET", "/api/hooks/deliveries?status=failed&hook=billing", NULL, 200);
    page = described_parse(described, response.body, response.body_size);
    const char *id = pawl_value_string(page, "deliveries.0.id", NULL);
    assert_non_null(id);
    (void)described_probe(described, "POST", pawl_scope_format(described->scope, "/api/hooks/deliveries/%s/resend", id),
                          NULL, 200);
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

/* One event of a stream: its name, its data and its id, each on a line of its own. */
static void check_event(struct described *described, const char *text, char *out_id, bool *out_ended)
{
    static const struct {
        const char *name, *schema;
    } events[] = { { "status", "#/components/schemas/Standing" },
                   { "step", "#/components/schemas/Step" },
                   { "log", "#/components/schemas/Log" } };
    char name[16] = "";
    const char *data = strstr(text, "data: ");
    assert_non_null(data);
    data += strlen("data: ");
    size_t size = strcspn(data, "\n");
    const pawl_value *value = described_parse(described, data, size);
    assert_int_equal(sscanf(strstr(text, "event: "), "event: %15s", name), 1);
    *out_ended = strcmp(name, "end") == 0;
    if (*out_ended)
        return;
    assert_int_equal(sscanf(text, "id: %255s", out_id), 1);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (strcmp(events[i].name, name) != 0)
            continue;
        const pawl_value *schema = schema_resolve(described->document, events[i].schema);
        const char *wrong = schema_mismatch(described->scope, described->document, schema, value);
        if (wrong != NULL)
            fail_msg("%s: %s", text, wrong);
        return;
    }
    fail_msg("an event that is not described: %s", text);
}

/* All events of a stream that has an end.  Returns how many there were. */
static size_t read_stream(struct described *described, pawl_http_call *call, char *out_id)
{
    const char *bytes;
    size_t size, count = 0;
    int64_t again_at_ms;
    bool is_ended = false;
    while (pawl_http_call_read(call, &bytes, &size, &again_at_ms) == PAWL_HTTP_READ_BYTES) {
        for (const char *at = bytes, *end; at < bytes + size; at = end + 2) {
            end = strstr(at, "\n\n");
            assert_non_null(end);
            if (*at == ':' || strncmp(at, "retry: ", strlen("retry: ")) == 0)
                continue;
            assert_false(is_ended);
            check_event(described, pawl_scope_format(described->scope, "%.*s\n", (int)(end - at), at), out_id,
                        &is_ended);
            count++;
        }
    }
    assert_true(is_ended);
    return count;
}

static void probe_stream(struct described *described)
{
    static const char target[] = "/api/workflows/order/instances/done/stream";
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    const struct pawl_http_response *response;
    int64_t again_at_ms;
    char id[256] = "";
    request.method = "GET";
    request.target = target;
    pawl_http_call *call = pawl_http_call_new(described->http, &request, NULL, NULL);
    assert_non_null(call);
    assert_true(pawl_http_call_answer(call, &response, &again_at_ms));
    assert_true(response->is_stream);
    assert_true(read_stream(described, call, id) > 5);
    pawl_http_call_free(call);

    (void)described_probe(described, "GET", target, NULL, 200);
    const struct pawl_http_header last = { "Last-Event-ID", id };
    request.headers = &last;
    request.header_count = 1;
    struct pawl_http_response again = described_ask(described, &request);
    assert_int_equal(again.status, 204);
    for (size_t i = 0; i < pw_http_route_count; i++)
        if (strstr(pw_http_routes[i].pattern, "/stream") != NULL)
            described_check(described, &pw_http_routes[i], &again);
}

TEST_OF(described, events_of_a_stream_keep_to_the_schemas_that_are_named)
{
    described_play(described);
    probe_stream(described);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

TEST_OF(described, answers_keep_to_their_schemas_and_none_is_described_that_never_comes)
{
    described_play(described);
    probe_reads(described);
    probe_stream(described);
    probe_deliveries(described);
    probe_work(described);
    probe_control(described);
    (void)probe_bodies(described);
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        const pawl_value *responses = schema_member(described_operation(described, route), "responses");
        for (size_t j = 0; pawl_value_key(responses, j) != NULL; j++) {
            const char *status = pawl_value_key(responses, j);
            bool is_of_interest = status[0] == '2' || strcmp(status, "409") == 0;
            if (is_of_interest && !described->seen[i][strtol(status, NULL, 10)])
                fail_msg("%s %s: %s was never answered", route->method, route->pattern, status);
        }
    }
    pawl_http_drain(described->http);
    (void)described_probe(described, "GET", "/api/health/ready", NULL, 503);
    (void)described_probe(described, "GET", "/api/workflows/order/instances/done/stream", NULL, 503);
}

TEST_OF(described, refusals_are_described_for_every_route_that_needs_a_scope)
{
    static const int statuses[] = { 401, 403, 429 };
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        for (size_t j = 0; j < 3 && route->scope != PAWL_HTTP_OPEN; j++) {
            described->refusal = statuses[j];
            (void)described_probe(described, route->method, described_target(described->scope, route, "order", "done"),
                                  NULL, statuses[j]);
        }
    }
}

TEST_OF(described, what_is_not_there_is_described_for_every_route_that_names_it)
{
    described_play(described);
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        const char *body = described_body(described, described_operation(described, route));
        if (strstr(route->pattern, ":workflow") != NULL)
            (void)described_probe(described, route->method, described_target(described->scope, route, "none", "done"),
                                  body, 404);
        if (strstr(route->pattern, ":id") != NULL || strstr(route->pattern, ":delivery") != NULL ||
            strstr(route->pattern, ":key") != NULL || strstr(route->pattern, ":token") != NULL)
            (void)described_probe(described, route->method, described_target(described->scope, route, "order", "none"),
                                  body, 404);
    }
}

TEST_OF(described, a_body_of_another_type_and_one_that_is_too_large_are_described)
{
    static const struct pawl_http_header plain = { "Content-Type", "text/plain" };
    static const size_t large = 5 * 1024 * 1024;
    char *blanks = calloc(1, large);
    assert_non_null(blanks);
    described_play(described);
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
        request.method = route->method;
        request.target = described_target(described->scope, route, "order", "waits");
        request.body = blanks;
        request.body_size = large;
        if (strcmp(route->method, "POST") != 0)
            continue;
        struct pawl_http_response response = described_ask(described, &request);
        assert_int_equal(response.status, 413);
        described_check(described, route, &response);
        request.body = "{}";
        request.body_size = 2;
        request.headers = &plain;
        request.header_count = 1;
        response = described_ask(described, &request);
        assert_int_equal(response.status, 415);
        described_check(described, route, &response);
    }
    free(blanks);
}
