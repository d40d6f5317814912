/* test_server_table.c - the tables of table.h, sent through sockets by a true HTTP client. */
#include "table.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HEADERS_MAX = 32, PATIENCE_S = 20 };

struct link {
    struct table_world world;
    pawl_http_server *server;
    CURL *curl;
    char url[64];
};

/* ---- Receiving ------------------------------------------------------------------------------------------------------- */

struct arrival {
    pawl_scope *scope;
    char *body;
    size_t size;
    struct pawl_http_header *headers;
    size_t header_count;
};

static size_t take_body(char *bytes, size_t size, size_t count, void *user)
{
    struct arrival *arrival = user;
    size_t more = size * count;
    char *body = pawl_scope_take(arrival->scope, arrival->size + more + 1);
    assert_non_null(body);
    memcpy(body, arrival->body, arrival->size);
    memcpy(body + arrival->size, bytes, more);
    arrival->body = body;
    arrival->size += more;
    body[arrival->size] = '\0';
    return more;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *user)
{
    struct arrival *arrival = user;
    size_t length = size * count;
    const char *colon = memchr(bytes, ':', length);
    if (colon == NULL)
        return length;
    size_t name_size = (size_t)(colon - bytes), at = name_size + 1, end = length;
    while (at < end && bytes[at] == ' ')
        at++;
    while (end > at && (bytes[end - 1] == '\n' || bytes[end - 1] == '\r'))
        end--;
    assert_true(arrival->header_count < HEADERS_MAX);
    arrival->headers[arrival->header_count++] = (struct pawl_http_header){
        pawl_scope_format(arrival->scope, "%.*s", (int)name_size, bytes),
        pawl_scope_format(arrival->scope, "%.*s", (int)(end - at), bytes + at),
    };
    return length;
}

/* ---- Sending --------------------------------------------------------------------------------------------------------- */

static bool has_header(const struct pawl_http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, name) == 0)
            return true;
    return false;
}

static struct curl_slist *list_headers(pawl_scope *scope, const struct pawl_http_request *request)
{
    static const char *const unasked[] = { "Expect", "Accept", "Content-Type" }; /* curl would send these */
    struct curl_slist *list = NULL;
    for (size_t i = 0; i < sizeof unasked / sizeof unasked[0]; i++)
        if (!has_header(request, unasked[i]))
            list = curl_slist_append(list, pawl_scope_format(scope, "%s:", unasked[i]));
    for (size_t i = 0; i < request->header_count; i++) {
        const struct pawl_http_header *header = &request->headers[i];
        list =
            curl_slist_append(list, header->value[0] != '\0'
                                        ? pawl_scope_format(scope, "%s: %s", header->name, header->value)
                                        : pawl_scope_format(scope, "%s;", header->name)); /* curl's way to say: none */
    }
    return list;
}

static void set_request(CURL *curl, const struct pawl_http_request *request)
{
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(curl, CURLOPT_REQUEST_TARGET, request->target);
    curl_easy_setopt(curl, CURLOPT_NOBODY, (long)(strcmp(request->method, "HEAD") == 0));
    if (request->body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
    }
}

static void send_by_socket(void *user, pawl_scope *scope, const struct pawl_http_request *request,
                           struct pawl_http_response *out_response)
{
    struct link *link = user;
    struct arrival arrival = { .scope = scope, .body = "" };
    long status = 0;
    arrival.headers = pawl_scope_take(scope, HEADERS_MAX * sizeof arrival.headers[0]);
    assert_non_null(arrival.headers);
    struct curl_slist *headers = list_headers(scope, request);
    curl_easy_reset(link->curl); /* its connection is kept */
    curl_easy_setopt(link->curl, CURLOPT_URL, link->url);
    curl_easy_setopt(link->curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(link->curl, CURLOPT_TIMEOUT, (long)PATIENCE_S);
    curl_easy_setopt(link->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(link->curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(link->curl, CURLOPT_HEADERDATA, &arrival);
    curl_easy_setopt(link->curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(link->curl, CURLOPT_WRITEDATA, &arrival);
    set_request(link->curl, request);
    CURLcode code = curl_easy_perform(link->curl);
    if (code != CURLE_OK)
        fail_msg("%s %.200s: %s", request->method, request->target, curl_easy_strerror(code));
    curl_easy_getinfo(link->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    *out_response = (struct pawl_http_response){ .status = (int)status,
                                                 .headers = arrival.headers,
                                                 .header_count = arrival.header_count,
                                                 .body = arrival.body,
                                                 .body_size = arrival.size };
}

/* ---- Tests ----------------------------------------------------------------------------------------------------------- */

static struct table_world *open_link(void *user, const struct table_section *section)
{
    struct link *link = user;
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    struct pawl_error error = { PAWL_OK, "" };
    table_world_open(&link->world, section);
    options.listen = "127.0.0.1:0";
    if (pawl_http_server_start(link->world.http, &options, &link->server, &error) != PAWL_OK)
        fail_msg("%s", error.text);
    snprintf(link->url, sizeof link->url, "http://127.0.0.1:%d/", pawl_http_server_port(link->server));
    link->curl = curl_easy_init();
    assert_non_null(link->curl);
    return &link->world;
}

static void close_link(void *user)
{
    struct link *link = user;
    curl_easy_cleanup(link->curl);
    pawl_http_drain(link->world.http);
    pawl_http_server_stop(link->server, PATIENCE_S * 1000);
    table_world_close(&link->world);
}

int main(void)
{
    struct link link;
    const struct table_sender sender = { send_by_socket, &link, true, open_link, close_link };
    curl_global_init(CURL_GLOBAL_DEFAULT);
    int failures = table_test("the server and the handler's tables", &sender, NULL, 0);
    curl_global_cleanup();
    return failures;
}
