/* table.c - see table.h: how a table is sent, and what is checked. */
#include "table.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct table_section *const table_sections[] = {
    &table_of_instances, &table_of_control, &table_of_history,  &table_of_ticks,      &table_of_no_ticks,
    &table_of_operators, &table_of_cors,    &table_of_root,     &table_of_targets,    &table_of_queries,
    &table_of_bodies,    &table_of_methods, &table_of_refusals, &table_of_repair,     &table_of_children,
    &table_of_runs,      &table_of_execute, &table_of_work,     &table_of_wrong_work,
};
const size_t table_section_count = sizeof table_sections / sizeof table_sections[0];

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
    if (entry->before == TABLE_RUN)
        status = pawl_world_run_until_idle(world->world, &error);
    if (entry->before == TABLE_HOUR)
        status = pawl_world_advance(world->world, "1 hour", &error);
    if (status != PAWL_OK)
        fail_msg("%s %s: %s", entry->method, entry->target, error.text);
}

static void check_case(const struct table_case *entry, const struct pawl_http_request *request,
                       const struct pawl_http_response *response)
{
    char code[80];
    if (response->status != entry->status)
        fail_msg("%s: answered %d, not %d: %s", line_of(request), response->status, entry->status, response->body);
    snprintf(code, sizeof code, "{\"code\":\"%s\",", entry->code != NULL ? entry->code : "");
    if (entry->code != NULL && strncmp(response->body, code, strlen(code)) != 0)
        fail_msg("%s: %s is not the code of %s", line_of(request), entry->code, response->body);
    if (entry->is != NULL && strcmp(response->body, entry->is) != 0)
        fail_msg("%s:\n  %s\nis expected, but is\n  %s", line_of(request), entry->is, response->body);
    for (size_t i = 0; i < TABLE_SAYS_MAX && entry->says[i] != NULL; i++)
        if (strstr(response->body, entry->says[i]) == NULL)
            fail_msg("%s: no\n  %s\nin\n  %s", line_of(request), entry->says[i], response->body);
    if (entry->has.name != NULL)
        check_header(request, response, entry->has.name, entry->has.value);
}

static void run_case(const struct table_case *entry, struct table_world *world, const struct table_sender *sender)
{
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_response response = { 0 };
    pawl_scope *scope = pawl_scope_new();
    assert_non_null(scope);
    prepare(entry, world);
    request.method = entry->method;
    request.target = entry->is_bare ? entry->target : pawl_scope_format(scope, "%s%s", world->mount, entry->target);
    request.headers = entry->headers;
    while (request.header_count < TABLE_HEADERS_MAX && entry->headers[request.header_count].name != NULL)
        request.header_count++;
    request.body = entry->body;
    request.body_size = entry->body != NULL ? strlen(entry->body) : 0;
    sender->send(sender->user, scope, &request, &response);
    table_check_any(&request, &response);
    check_case(entry, &request, &response);
    pawl_scope_free(scope);
}

void table_run(const struct table_section *section, struct table_world *world, const struct table_sender *sender)
{
    for (size_t i = 0; i < section->count; i++)
        if (!(section->cases[i].not_by_client && sender->is_client))
            run_case(&section->cases[i], world, sender);
}
