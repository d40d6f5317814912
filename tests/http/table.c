/* table.c - see table.h: how a table is sent, and what is checked. */
#include "asking.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *line_of(const struct pawl_http_request *request)
{
    static _Thread_local char line[512];
    snprintf(line, sizeof line, "%s %.200s  %.*s", request->method, request->target,
             (int)(request->body_size < 200 ? request->body_size : 200), request->body != NULL ? request->body : "");
    return line;
}

const char *table_header(const struct pawl_http_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++)
        if (strcasecmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    return NULL;
}

static void check_header(const struct pawl_http_request *request, const struct pawl_http_response *response,
                         const char *name, const char *value)
{
    const char *found = table_header(response, name);
    if (found == NULL || strcmp(found, value) != 0)
        fail_msg("%s: the header %s is \"%s\", not \"%s\"", line_of(request), name, found != NULL ? found : "(none)",
                 value);
}

/* ---- What is true of every answer ------------------------------------------------------------------------------ */

static void check_error(const struct pawl_http_request *request, const struct pawl_http_response *response,
                        const pawl_value *body)
{
    const char *code = pawl_value_string(body, "code", ""), *message = pawl_value_string(body, "message", "");
    if (code[0] == '\0' || strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != strlen(code) || message[0] == '\0')
        fail_msg("%s: %d without code and message: %s", line_of(request), response->status, response->body);
    for (size_t i = 0; i < pawl_value_size(body, "issues"); i++) {
        const pawl_value *issue = pawl_value_item(pawl_value_at(body, "issues"), i);
        if (pawl_value_string(issue, "path", NULL) == NULL || pawl_value_string(issue, "message", "")[0] == '\0')
            fail_msg("%s: an issue without path and message: %s", line_of(request), response->body);
    }
    if (response->status == 503 && table_header(response, "Retry-After") == NULL)
        fail_msg("%s: 503 without Retry-After", line_of(request));
    if (response->status == 405 && table_header(response, "Allow") == NULL)
        fail_msg("%s: 405 without Allow", line_of(request));
}

static void check_body(const struct pawl_http_request *request, const struct pawl_http_response *response)
{
    const char *type = table_header(response, "Content-Type");
    bool is_json = type != NULL && strcmp(type, "application/json") == 0;
    struct pawl_error error = { PAWL_OK, "" };
    pawl_scope *scope = pawl_scope_new();
    pawl_value *body = NULL;
    assert_non_null(scope);
    if (type == NULL)
        fail_msg("%s: %d without Content-Type", line_of(request), response->status);
    if (is_json && pawl_value_parse(scope, response->body, response->body_size, &body, &error) != PAWL_OK)
        fail_msg("%s: the answer is not JSON: %s: %s", line_of(request), error.text, response->body);
    if (response->status >= 400 && !is_json)
        fail_msg("%s: an error that is %s", line_of(request), type);
    if (response->status >= 400)
        check_error(request, response, body);
    pawl_scope_free(scope);
}

void table_check_any(const struct pawl_http_request *request, const struct pawl_http_response *response)
{
    if (response->status < 200 || response->status >= 600 || response->status == 500)
        fail_msg("%s: answered %d: %s", line_of(request), response->status, response->body);
    check_header(request, response, "Cache-Control", "no-store");
    check_header(request, response, "X-Content-Type-Options", "nosniff");
    bool has_body = strcmp(request->method, "HEAD") != 0 && response->status != 204;
    if (has_body)
        check_body(request, response);
    else if (response->body_size != 0)
        fail_msg("%s: has a body: %s", line_of(request), response->body);
}

/* ---- Cases ----------------------------------------------------------------------------------------------------- */

static void prepare(const struct table_case *entry, struct table_world *world)
{
    struct pawl_error error = { PAWL_OK, "" };
    pawl_status status = PAWL_OK;
    if (entry->runs)
        status = pawl_world_run_until_idle(world->world, &error);
    if (entry->after != NULL)
        status = pawl_world_advance(world->world, entry->after, &error);
    if (status != PAWL_OK)
        fail_msg("%s %s: %s", entry->method, entry->target, error.text);
}

/* What "<<name>>" stands for. */
static const char *kept(const struct table_world *world, pawl_scope *scope, const char *name)
{
    if (strncmp(name, "deferred ", 9) == 0)
        return table_deferred_token(name + 9);
    if (strncmp(name, "secret ", 7) == 0) {
        const char *secret = strrchr(table_deferred_token(name + 7), '.') + 1;
        assert_true(strlen(secret) >= 32);
        return secret;
    }
    if (strcmp(name, "a mebibyte") == 0) {
        char *letters = pawl_scope_take(scope, 1024 * 1024 + 1);
        assert_non_null(letters);
        memset(letters, 'a', 1024 * 1024);
        letters[1024 * 1024] = '\0';
        return letters;
    }
    for (size_t i = 0; i < TABLE_KEPT_MAX && world->kept[i].name != NULL; i++)
        if (strcmp(world->kept[i].name, name) == 0)
            return world->kept[i].value;
    fail_msg("<<%s>> stands for nothing", name);
    return NULL;
}

/* The text with that in its place; NULL stays NULL. */
static const char *fill(const struct table_world *world, pawl_scope *scope, const char *text)
{
    const char *at;
    while (text != NULL && (at = strstr(text, "<<")) != NULL) {
        const char *end = strstr(at, ">>");
        assert_non_null(end);
        const char *name = pawl_scope_format(scope, "%.*s", (int)(end - at) - 2, at + 2);
        text = pawl_scope_format(scope, "%.*s%s%s", (int)(at - text), text, kept(world, scope, name), end + 2);
    }
    return text;
}

static void keep_all(const struct table_case *entry, struct table_world *world, pawl_scope *scope,
                     const struct pawl_http_response *response)
{
    pawl_value *body = NULL;
    if (entry->list == NULL && entry->keeps[0].name == NULL)
        return;
    assert_int_equal(pawl_value_parse(scope, response->body, response->body_size, &body, NULL), PAWL_OK);
    if (entry->list != NULL)
        assert_int_equal(pawl_value_size(body, entry->list), entry->count);
    for (size_t i = 0; i < TABLE_KEPT_MAX && entry->keeps[i].name != NULL; i++) {
        const char *value = pawl_value_string(body, entry->keeps[i].path, "");
        size_t at = 0;
        while (at < TABLE_KEPT_MAX && world->kept[at].name != NULL &&
               strcmp(world->kept[at].name, entry->keeps[i].name) != 0)
            at++;
        assert_true(at < TABLE_KEPT_MAX);
        assert_true(strlen(value) >= 16); /* nothing that stands somewhere by chance */
        world->kept[at].name = entry->keeps[i].name;
        snprintf(world->kept[at].value, sizeof world->kept[at].value, "%s", value);
    }
}

static void check_case(const struct table_case *entry, const struct table_world *world, pawl_scope *scope,
                       const struct pawl_http_request *request, const struct pawl_http_response *response)
{
    char code[80];
    snprintf(code, sizeof code, "{\"code\":\"%s\",", entry->code != NULL ? entry->code : "");
    if (entry->code != NULL && strncmp(response->body, code, strlen(code)) != 0)
        fail_msg("%s: %s is not the code of %s", line_of(request), entry->code, response->body);
    if (entry->status < 400 && strncmp(response->body, "{\"code\":", 8) == 0)
        fail_msg("%s: no error, and has a code: %s", line_of(request), response->body);
    if (entry->is != NULL && strcmp(response->body, entry->is) != 0)
        fail_msg("%s:\n  %s\nis expected, but is\n  %s", line_of(request), entry->is, response->body);
    for (size_t i = 0; i < TABLE_SAYS_MAX && entry->says[i] != NULL; i++) {
        const char *says = fill(world, scope, entry->says[i]);
        if (strstr(response->body, says) == NULL)
            fail_msg("%s: no\n  %s\nin\n  %s", line_of(request), says, response->body);
    }
    if (entry->hides != NULL && strstr(response->body, fill(world, scope, entry->hides)) != NULL)
        fail_msg("%s shows what it should not: %s", line_of(request), response->body);
    if (entry->has.name != NULL)
        check_header(request, response, entry->has.name, entry->has.value);
}

static void run_case(const struct table_case *entry, struct table_world *world, const struct table_sender *sender)
{
    struct pawl_http_response response = { 0 };
    pawl_scope *scope = pawl_scope_new();
    assert_non_null(scope);
    prepare(entry, world);
    const char *target = fill(world, scope, entry->target);
    if (!entry->is_bare)
        target = pawl_scope_format(scope, "%s%s", world->mount, target);
    struct pawl_http_request request = request_of(entry->method, target, fill(world, scope, entry->body));
    request.headers = entry->headers;
    while (request.header_count < TABLE_HEADERS_MAX && entry->headers[request.header_count].name != NULL)
        request.header_count++;
    sender->send(sender->user, scope, &request, &response);
    table_check_any(&request, &response);
    if (response.status != entry->status)
        fail_msg("%s: answered %d, not %d: %s", line_of(&request), response.status, entry->status, response.body);
    keep_all(entry, world, scope, &response);
    check_case(entry, world, scope, &request, &response);
    pawl_scope_free(scope);
}

/* ---- Tests ----------------------------------------------------------------------------------------------------- */

struct subject {
    const struct table_sender *sender;
    const struct table_section *section;
};

static void every_answer_of_a_section_is_as_its_table_says(void **state)
{
    const struct subject *subject = *state;
    const struct table_section *section = subject->section;
    struct table_world *world = subject->sender->open(subject->sender->user, section);
    assert_true(section->count > 0);
    for (size_t i = 0; i < section->count; i++)
        if (!(section->cases[i].not_by_client && subject->sender->is_client))
            run_case(&section->cases[i], world, subject->sender);
    subject->sender->close(subject->sender->user);
}

static void no_malformed_request_is_more_than_a_4xx(void **state)
{
    const struct subject *subject = *state;
    struct table_world *world = subject->sender->open(subject->sender->user, NULL);
    assert_true(table_run_malformed(world, subject->sender) > 1000);
    subject->sender->close(subject->sender->user);
}

/* Every method that a route's path does not take is refused, and the answer says which there are. */
static void every_route_refuses_the_methods_that_it_does_not_take(void **state)
{
    static const char *const methods[] = { "GET", "POST", "PUT", "DELETE", "PATCH" };
    const struct subject *subject = *state;
    struct table_world *world = subject->sender->open(subject->sender->user, NULL);
    pawl_scope *scope = pawl_scope_new();
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const char *target = route_target(scope, &pw_http_routes[i], (struct route_names){ "order", "waits", "none" });
        bool has_get = route_of("GET", target) != NULL, has_post = route_of("POST", target) != NULL;
        const char *allowed = has_get && has_post ? "GET, HEAD, POST, OPTIONS"
                              : has_get           ? "GET, HEAD, OPTIONS"
                                                  : "POST, OPTIONS";
        for (size_t k = has_get; k < sizeof methods / sizeof methods[0]; k++) {
            const struct table_case refused = { .method = methods[k],
                                                .target = target,
                                                .is_bare = true,
                                                .status = 405,
                                                .code = "METHOD_NOT_ALLOWED",
                                                .says = { allowed },
                                                .has = { "Allow", allowed } };
            if (k != 1 || !has_post)
                run_case(&refused, world, subject->sender);
        }
    }
    pawl_scope_free(scope);
    subject->sender->close(subject->sender->user);
}

static void a_token_that_is_nearly_right_is_wrong(void **state)
{
    const struct subject *subject = *state;
    struct table_world *world = subject->sender->open(subject->sender->user, NULL);
    pawl_scope *scope = pawl_scope_new();
    const char *token = table_deferred_token("d-1");
    struct table_case entry = { .method = "POST", .body = "{}", .status = 404, .code = "INVALID_TOKEN" };
    for (size_t i = 0, size = strlen(token); i < size + 2; i++) {
        /* One letter is another one, or missing at the end, or too much there. */
        entry.target = i < size    ? pawl_scope_format(scope, "/deferred/%.*s%c%s/succeed", (int)i, token,
                                                    token[i] == 'a' ? 'b' : 'a', token + i + 1)
                       : i == size ? pawl_scope_format(scope, "/deferred/%sa/succeed", token)
                                   : pawl_scope_format(scope, "/deferred/%.*s/succeed", (int)size - 1, token);
        run_case(&entry, world, subject->sender);
    }
    const struct table_case waiting = { .method = "GET",
                                        .target = "/workflows/defers/instances/d-1/result",
                                        .status = 202 };
    run_case(&waiting, world, subject->sender);
    pawl_scope_free(scope);
    subject->sender->close(subject->sender->user);
}

int table_test(const char *title, const struct table_sender *sender, const struct CMUnitTest *more, size_t more_count)
{
    struct CMUnitTest tests[TABLE_TESTS_MAX];
    struct subject subjects[TABLE_TESTS_MAX];
    size_t section_count, count = 0;
    const struct table_section *sections = table_sections(&section_count);
    assert_true(section_count + 3 + more_count <= TABLE_TESTS_MAX);
    for (; count < section_count; count++) {
        subjects[count] = (struct subject){ sender, &sections[count] };
        tests[count] = (struct CMUnitTest){ sections[count].name, every_answer_of_a_section_is_as_its_table_says, NULL,
                                            NULL, &subjects[count] };
    }
    subjects[count] = (struct subject){ .sender = sender };
    const struct CMUnitTest always[] = {
        cmocka_unit_test_prestate(no_malformed_request_is_more_than_a_4xx, &subjects[count]),
        cmocka_unit_test_prestate(every_route_refuses_the_methods_that_it_does_not_take, &subjects[count]),
        cmocka_unit_test_prestate(a_token_that_is_nearly_right_is_wrong, &subjects[count]),
    };
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        tests[count++] = always[i];
    for (size_t i = 0; i < more_count; i++)
        tests[count++] = more[i];
    return _cmocka_run_group_tests(title, tests, count, NULL, NULL);
}
