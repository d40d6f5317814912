/* described.c - see described.h. */
#include "described.h"

#include "pawl/hooks.h"
#include "pawl/pawl.h"

enum { TEXT_SIZE = 512 };

/* ---- Workflows that leave something of every kind behind --------------------------------------------------------- */

BODY(charge)
{
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, "shop", NULL, "charging"));
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "CardDeclined", "try again later");
    return pawl_result(step, out_result, "{s:s}", "receipt", "r-9");
}

WORKFLOW(run_order)
{
    static const struct pawl_step_options options = { .retries = 1, .delay = "1 s" };
    pawl_value *data = NULL;
    struct pawl_event event = { 0 };
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &data, "{s:i}", "n", 1));
    PAWL_TRY(pawl_log(run, PAWL_LOG_WARN, NULL, data, "hello"));
    PAWL_TRY(pawl_do(run, "charge", &options, charge, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 minute"));
    PAWL_TRY(pawl_wait_for_event(run, "payment", "paid", "1 hour", &event));
    *out_result = event.payload;
    return PAWL_OK;
}

WORKFLOW(run_broken)
{
    return pawl_run_fail(run, "Broken", "as planned");
}

BODY(do_nothing)
{
    (void)step, (void)input, (void)out_result;
    return PAWL_OK;
}

WORKFLOW(run_undone)
{
    static const struct pawl_compensation compensation = { .undo = do_nothing };
    static const struct pawl_step_options options = { .compensate = &compensation, .description = "Books." };
    PAWL_TRY(pawl_do(run, "book", &options, do_nothing, NULL, NULL));
    return pawl_run_fail(run, "Broken", "as planned");
}

WORKFLOW(run_calls)
{
    return pawl_call(run, "remote", "charge", NULL, params, out_result);
}

WORKFLOW(run_defers)
{
    struct described *described = pawl_run_user(run);
    const char *token;
    PAWL_TRY(pawl_deferred_token(run, "approval", &token));
    (void)snprintf(described->token, sizeof described->token, "%s", token);
    return pawl_await_deferred(run, "approval", NULL, out_result);
}

WORKFLOW(run_family)
{
    return pawl_run_child(run, "kid", "defers", NULL, params, out_result);
}

static pawl_status deliver(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    (void)user;
    (void)snprintf(error->text, sizeof error->text, "nobody listens");
    return delivery->event == PAWL_HOOK_FINISHED ? PAWL_NON_RETRYABLE : PAWL_FAILED;
}

void described_play(struct described *described)
{
    pawl_world *world = described->world;
    int64_t delivered;
    ok(pawl_world_create(world, "order", "done", "{\"sku\": \"teapot\"}", &described->error));
    ok(pawl_world_create(world, "order", "waits", NULL, &described->error));
    ok(pawl_world_create(world, "broken", "broken", NULL, &described->error));
    ok(pawl_world_advance(world, "2 minutes", &described->error));
    ok(pawl_world_send_event(world, "order", "done", "paid", "{\"amount\": 42}", &described->error));
    ok(pawl_world_send_event(world, "order", "waits", "other", NULL, &described->error));
    ok(pawl_world_create(world, "order", "retries", NULL, &described->error));
    ok(pawl_world_run_until_idle(world, &described->error));
    ok(pawl_hooks_tick(pawl_world_engine(world), 0, &delivered, NULL, &described->error));
    ok(pawl_world_create(world, "order", "fresh", NULL, &described->error));
}

void described_play_work(struct described *described)
{
    pawl_world *world = described->world;
    ok(pawl_world_create(world, "undone", "undone", NULL, &described->error));
    ok(pawl_world_create(world, "calls", "calls", "{\"amount\": 42}", &described->error));
    ok(pawl_world_create(world, "calls", "again", NULL, &described->error));
    ok(pawl_world_create(world, "family", "family", NULL, &described->error));
    ok(pawl_world_run_until_idle(world, &described->error));
}

/* ---- The described ----------------------------------------------------------------------------------------------- */

static bool authorize(void *user, const struct pawl_http_subject *subject, struct pawl_http_refusal *out_refusal)
{
    const struct described *described = user;
    if (described->refusal == 0 || subject->scope == PAWL_HTTP_OPEN)
        return true;
    out_refusal->status = described->refusal;
    out_refusal->retry_after_s = described->refusal == 429 ? 1 : 0;
    return false;
}

/* It never waits.  What the response points at is gone with the call, so all of it is copied. */
static struct pawl_http_response ask_for_stream(struct described *described, const struct pawl_http_request *request)
{
    const struct pawl_http_response *answer;
    int64_t again_at_ms;
    pawl_http_call *call = pawl_http_call_new(described->http, request, NULL, NULL);
    assert_non_null(call);
    assert_true(pawl_http_call_answer(call, &answer, &again_at_ms));
    struct pawl_http_response response = *answer;
    struct pawl_http_header *headers = pawl_scope_take(described->scope, answer->header_count * sizeof *headers);
    assert_non_null(headers);
    for (size_t i = 0; i < answer->header_count; i++)
        headers[i] = (struct pawl_http_header){ pawl_scope_format(described->scope, "%s", answer->headers[i].name),
                                                pawl_scope_format(described->scope, "%s", answer->headers[i].value) };
    response.headers = headers;
    response.body = pawl_scope_format(described->scope, "%s", answer->body);
    pawl_http_call_free(call);
    return response;
}

struct pawl_http_response described_ask(struct described *described, const struct pawl_http_request *request)
{
    struct pawl_http_response response;
    if (strstr(request->target, "/stream") != NULL)
        return ask_for_stream(described, request);
    ok(pawl_http_answer(described->http, described->scope, request, &response));
    return response;
}

struct pawl_http_response described_send(struct described *described, const char *method, const char *target,
                                         const char *body)
{
    struct pawl_http_request request = request_of(method, target, body);
    return described_ask(described, &request);
}

const pawl_value *described_parse(struct described *described, const char *text, size_t size)
{
    pawl_value *value;
    if (pawl_value_parse(described->scope, text, size, &value, &described->error) != PAWL_OK)
        fail_msg("%s: %.200s", described->error.text, text);
    return value;
}

void described_open(struct described *described, const char *mount)
{
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    options.mount = mount;
    options.runner = pawl_world_runner(described->world);
    options.allow_tick = true;
    options.authorize = authorize;
    options.authorize_user = described;
    ok(pawl_http_new(pawl_world_engine(described->world), &options, &described->http, &described->error));
}

static int set_up(void **state)
{
    static const char *const tags[] = { "shop", NULL };
    static const char *const permissions[] = { "admin", NULL };
    struct described *described = calloc(1, sizeof *described);
    assert_non_null(described);
    const struct pawl_workflow workflows[] = {
        { .name = "order", .run = run_order, .description = "Charges and ships.", .tags = tags, .version = "1.4" },
        { .name = "broken", .run = run_broken },
        { .name = "undone", .run = run_undone, .permissions = permissions },
        { .name = "calls", .run = run_calls },
        { .name = "defers", .run = run_defers, .user = described },
        { .name = "family", .run = run_family },
    };
    described->scope = pawl_scope_new();
    ok(pawl_world_open(NULL, &described->world, &described->error));
    for (size_t i = 0; i < sizeof workflows / sizeof workflows[0]; i++)
        ok(pawl_register(pawl_world_engine(described->world), &workflows[i], &described->error));
    struct pawl_hook hook = PAWL_HOOK_INIT;
    hook.name = "billing";
    hook.events = PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED;
    hook.deliver = deliver;
    ok(pawl_hook_register(pawl_world_engine(described->world), &hook, &described->error));
    described_open(described, "/api");
    struct pawl_http_response response = described_send(described, "GET", "/api/openapi.json", NULL);
    assert_int_equal(response.status, 200);
    described->document = described_parse(described, response.body, response.body_size);
    *state = described;
    return 0;
}

static int tear_down(void **state)
{
    struct described *described = *state;
    pawl_http_free(described->http);
    pawl_world_close(described->world);
    pawl_scope_free(described->scope);
    free(described);
    return 0;
}

const struct test_setting described_setting = { .set_up = set_up, .tear_down = tear_down };

/* ---- Reading the document ---------------------------------------------------------------------------------------- */

/* "/workflows/:workflow" is "/workflows/{workflow}" there. */
const char *described_path(pawl_scope *scope, const char *pattern)
{
    char text[TEXT_SIZE], *at = text;
    bool is_name = false;
    for (;; pattern++) {
        if (is_name && (*pattern == '/' || *pattern == '\0')) {
            *at++ = '}';
            is_name = false;
        }
        if (*pattern == '\0')
            break;
        is_name = is_name || *pattern == ':';
        *at++ = *pattern;
        if (*pattern == ':')
            at[-1] = '{';
    }
    *at = '\0';
    return pawl_scope_format(scope, "%s", text);
}

const char *described_method(const char *method)
{
    return strcmp(method, "GET") == 0 ? "get" : strcmp(method, "POST") == 0 ? "post" : method;
}

const pawl_value *described_operation(const struct described *described, const struct pw_http_route *route)
{
    const pawl_value *path =
        schema_member(pawl_value_at(described->document, "paths"), described_path(described->scope, route->pattern));
    return path != NULL ? schema_member(path, described_method(route->method)) : NULL;
}

/* The parameters of a kind, those of the path first.  Returns how many there are. */
size_t described_parameters(const struct described *described, const struct pw_http_route *route, const char *in,
                            const pawl_value **out_parameters, size_t max)
{
    const pawl_value *path =
        schema_member(pawl_value_at(described->document, "paths"), described_path(described->scope, route->pattern));
    const pawl_value *lists[] = { schema_member(path, "parameters"),
                                  schema_member(described_operation(described, route), "parameters") };
    size_t count = 0;
    for (size_t list = 0; list < 2; list++) {
        for (size_t i = 0; pawl_value_item(lists[list], i) != NULL; i++) {
            const pawl_value *parameter = schema_follow(described->document, pawl_value_item(lists[list], i));
            assert_true(count < max);
            if (strcmp(pawl_value_string(parameter, "in", ""), in) == 0)
                out_parameters[count++] = parameter;
        }
    }
    return count;
}

const char *described_target(pawl_scope *scope, const struct pw_http_route *route, const char *workflow, const char *id)
{
    return route_target(scope, route, (struct route_names){ workflow, id, "none.none.1.1.x" });
}

/* A body that the route takes, from its example; NULL: it takes none. */
const char *described_body(struct described *described, const pawl_value *operation)
{
    const pawl_value *media = pawl_value_at(operation, "requestBody.content.application/json");
    const char *text = NULL;
    size_t size;
    if (media == NULL)
        return NULL;
    ok(pawl_value_text(described->scope, pawl_value_at(media, "example"), &text, &size));
    return text != NULL ? text : "{}";
}

/* ---- Comparing an answer with it --------------------------------------------------------------------------------- */

static const char *header_of(const struct pawl_http_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++)
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    return NULL;
}

/* The answer is described: its status, its headers, its type, and its body. */
void described_check(struct described *described, const struct pw_http_route *route,
                     const struct pawl_http_response *response)
{
    char status[16];
    (void)snprintf(status, sizeof status, "%d", response->status);
    const pawl_value *answer = schema_member(schema_member(described_operation(described, route), "responses"), status);
    if (answer == NULL)
        fail_msg("%s %s: %s is not described: %s", route->method, route->pattern, status, response->body);
    answer = schema_follow(described->document, answer);
    const pawl_value *headers = schema_member(answer, "headers"), *content = schema_member(answer, "content");
    for (size_t i = 0; pawl_value_key(headers, i) != NULL; i++)
        assert_non_null(header_of(response, pawl_value_key(headers, i)));
    described->seen[route - pw_http_routes][response->status] = true;
    const char *type = header_of(response, "Content-Type");
    const pawl_value *media = type != NULL ? schema_member(content, type) : NULL;
    assert_true((type == NULL) == (content == NULL) && (type == NULL) == (media == NULL));
    if (type == NULL || strcmp(type, "application/json") != 0)
        return;
    const char *wrong = schema_mismatch(described->scope, described->document, schema_member(media, "schema"),
                                        described_parse(described, response->body, response->body_size));
    if (wrong != NULL)
        fail_msg("%s %s: %s: %s: %s", route->method, route->pattern, status, wrong, response->body);
}

struct pawl_http_response described_probe(struct described *described, const char *method, const char *target,
                                          const char *body, int status)
{
    struct pawl_http_response response = described_send(described, method, target, body);
    if (response.status != status)
        fail_msg("%s %s: %d, not %d: %s", method, target, response.status, status, response.body);
    const struct pw_http_route *route = route_of(method, target);
    assert_non_null(route);
    described_check(described, route, &response);
    return response;
}
