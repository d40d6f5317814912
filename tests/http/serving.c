/* serving.c - see serving.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strcasestr */
#endif
#include "serving.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- Workflows ------------------------------------------------------------------------------------------------------- */

WORKFLOW(quick)
{
    return pawl_value_pack(pawl_run_scope(run), out_result, "{s:b}", "ok", 1);
}

BODY(stand_at_gate)
{
    if (!gate_pass(pawl_step_user(step)))
        return pawl_fail_for_good(step, "GateStayedShut", "nobody opened it");
    return pawl_result(step, out_result, "i", 7);
}

WORKFLOW(gated)
{
    return pawl_do(run, "gate", NULL, stand_at_gate, NULL, out_result);
}

WORKFLOW(waits)
{
    return pawl_wait_for_event(run, "wait", "go", "1 hour", NULL);
}

BODY(do_nothing)
{
    (void)step, (void)input, (void)out_result;
    return PAWL_OK;
}

WORKFLOW(steps)
{
    for (int64_t i = 0; i < pawl_value_int(params, NULL, 1); i++)
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %d", (int)i), NULL, do_nothing, NULL, NULL));
    return PAWL_OK;
}

WORKFLOW(talks)
{
    enum { LINE_BYTES = 64 * 1024 };
    char *text = malloc(LINE_BYTES + 1);
    if (text == NULL)
        return PAWL_NOMEM;
    memset(text, 'x', LINE_BYTES);
    text[LINE_BYTES] = '\0';
    pawl_value *data = NULL;
    pawl_status status = pawl_value_pack(pawl_run_scope(run), &data, "s", text);
    for (int64_t i = 0; status == PAWL_OK && i < pawl_value_int(params, NULL, 1); i++)
        status = pawl_log(run, PAWL_LOG_INFO, NULL, data, "line %d", (int)i);
    free(text);
    return status;
}

/* ---- The server ------------------------------------------------------------------------------------------------------ */

void serving_open_many(struct serving *serving, const struct pawl_workflow *workflows, size_t count,
                       const struct pawl_http_options *http_options, const struct pawl_http_server_options *options)
{
    struct pawl_http_options handler = PAWL_HTTP_OPTIONS_INIT;
    struct pawl_http_server_options server = PAWL_HTTP_SERVER_OPTIONS_INIT;
    struct running *running = &serving->running;
    if (http_options != NULL)
        handler = *http_options;
    if (options != NULL)
        server = *options;
    if (server.listen == NULL)
        server.listen = "127.0.0.1:0";
    running_open(running, false);
    gate_init(&serving->gate);
    running_register(running, "quick", quick, NULL);
    running_register(running, "gated", gated, &serving->gate);
    running_register(running, "waits", waits, NULL);
    running_register(running, "steps", steps, NULL);
    running_register(running, "talks", talks, NULL);
    for (size_t i = 0; i < count; i++)
        assert_ok(pawl_register(running->engine, &workflows[i], &running->error), running->error);
    running_start(running, NULL);
    assert_ok(pawl_http_new(running->engine, &handler, &serving->http, &running->error), running->error);
    assert_ok(pawl_http_server_start(serving->http, &server, &serving->server, &running->error), running->error);
    serving->port = pawl_http_server_port(serving->server);
}

void serving_open_with(struct serving *serving, const struct pawl_workflow *workflow,
                       const struct pawl_http_options *http_options, const struct pawl_http_server_options *options)
{
    serving_open_many(serving, workflow, 1, http_options, options);
}

void serving_open(struct serving *serving, const struct pawl_http_options *http_options,
                  const struct pawl_http_server_options *options)
{
    serving_open_many(serving, NULL, 0, http_options, options);
}

void serving_stop(struct serving *serving, int64_t drain_ms)
{
    pawl_http_server_stop(serving->server, drain_ms);
    serving->server = NULL;
}

void serving_close(struct serving *serving)
{
    pawl_http_drain(serving->http);
    serving_stop(serving, PATIENCE_MS);
    pawl_http_free(serving->http);
    gate_open(&serving->gate);
    running_close(&serving->running);
    gate_clear(&serving->gate);
}

/* ---- Clients --------------------------------------------------------------------------------------------------------- */

static bool open_at(struct client *client, const struct sockaddr *address, socklen_t size)
{
    *client = (struct client){ .fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    assert_true(client->fd >= 0);
    if (connect(client->fd, address, size) == 0)
        return true;
    close(client->fd);
    return false;
}

bool client_try_open(struct client *client, const struct serving *serving)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)serving->port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return open_at(client, (struct sockaddr *)&address, sizeof address);
}

void client_open(struct client *client, const struct serving *serving)
{
    assert_true(client_try_open(client, serving));
}

void client_open_path(struct client *client, const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    assert_true(strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path));
    assert_true(open_at(client, (struct sockaddr *)&address, sizeof address));
}

void client_close(struct client *client)
{
    close(client->fd);
    free(client->data);
    *client = (struct client){ .fd = -1 };
}

bool client_try_send(struct client *client, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(client->fd, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

void client_send_bytes(struct client *client, const char *bytes, size_t size)
{
    assert_true(client_try_send(client, bytes, size));
}

void client_send(struct client *client, const char *text)
{
    client_send_bytes(client, text, strlen(text));
}

bool client_receive(struct client *client, int64_t within_ms)
{
    enum { BLOCK_BYTES = 65536 };
    struct pollfd poll_one = { .fd = client->fd, .events = POLLIN };
    if (client->room - client->size < BLOCK_BYTES + 1) {
        client->room = client->size * 2 + BLOCK_BYTES + 1;
        client->data = realloc(client->data, client->room);
        assert_non_null(client->data);
    }
    if (poll(&poll_one, 1, (int)within_ms) != 1)
        return false;
    ssize_t got = recv(client->fd, client->data + client->size, BLOCK_BYTES, 0);
    if (got <= 0)
        return false;
    client->size += (size_t)got;
    client->data[client->size] = '\0';
    return true;
}

static void drop(struct client *client, size_t size)
{
    assert_true(size <= client->size);
    client->size -= size;
    memmove(client->data, client->data + size, client->size + 1);
}

void client_await(struct client *client, const char *text)
{
    char *found;
    while (client->size == 0 || (found = strstr(client->data, text)) == NULL)
        if (!client_receive(client, PATIENCE_MS))
            fail_msg("\"%s\" did not come, but: %s", text, client->size > 0 ? client->data : "nothing");
    drop(client, (size_t)(found - client->data) + strlen(text));
}

static bool has_header(const struct answer *answer, const char *line)
{
    return strcasestr(answer->head, line) != NULL;
}

void client_take_head(struct client *client, struct answer *answer)
{
    char *end;
    answer_clear(answer);
    while (client->size == 0 || (end = strstr(client->data, "\r\n\r\n")) == NULL)
        if (!client_receive(client, PATIENCE_MS))
            fail_msg("no answer came, but: %s", client->size > 0 ? client->data : "nothing");
    size_t size = (size_t)(end - client->data) + 4;
    assert_true(size < sizeof answer->head);
    memcpy(answer->head, client->data, size);
    answer->head[size] = '\0';
    assert_int_equal(sscanf(answer->head, "HTTP/1.1 %d", &answer->status), 1);
    answer->is_json = has_header(answer, "\r\nContent-Type: application/json\r\n");
    drop(client, size);
}

static void take_chunks(struct client *client, struct answer *answer)
{
    size_t size;
    do {
        while (client->size == 0 || strstr(client->data, "\r\n") == NULL)
            assert_true(client_receive(client, PATIENCE_MS));
        size = strtoul(client->data, NULL, 16);
        drop(client, (size_t)(strstr(client->data, "\r\n") - client->data) + 2);
        while (client->size < size + 2)
            assert_true(client_receive(client, PATIENCE_MS));
        answer->body = realloc(answer->body, answer->body_size + size + 1);
        assert_non_null(answer->body);
        memcpy(answer->body + answer->body_size, client->data, size);
        answer->body_size += size;
        answer->body[answer->body_size] = '\0';
        drop(client, size + 2);
    } while (size > 0);
}

void client_take(struct client *client, struct answer *answer)
{
    client_take_head(client, answer);
    if (has_header(answer, "\r\nTransfer-Encoding: chunked\r\n")) {
        take_chunks(client, answer);
        return;
    }
    const char *length = strcasestr(answer->head, "\r\nContent-Length: ");
    answer->body_size = length != NULL ? strtoul(length + 18, NULL, 10) : 0;
    while (client->size < answer->body_size)
        assert_true(client_receive(client, PATIENCE_MS));
    answer->body = malloc(answer->body_size + 1);
    assert_non_null(answer->body);
    memcpy(answer->body, client->data, answer->body_size);
    answer->body[answer->body_size] = '\0';
    drop(client, answer->body_size);
}

bool client_is_cut(struct client *client, int64_t within_ms)
{
    int64_t until_ms = monotonic_ms() + within_ms;
    struct pollfd poll_one = { .fd = client->fd, .events = POLLIN };
    char block[4096];
    for (int64_t left_ms = within_ms; left_ms > 0; left_ms = until_ms - monotonic_ms())
        if (poll(&poll_one, 1, (int)left_ms) == 1 && recv(client->fd, block, sizeof block, 0) <= 0)
            return true;
    return false;
}

void answer_clear(struct answer *answer)
{
    free(answer->body);
    *answer = (struct answer){ .body = NULL };
}

void client_ask(struct client *client, const char *target, const char *body)
{
    char head[512];
    if (body == NULL)
        snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: test\r\n\r\n", target);
    else
        snprintf(head, sizeof head,
                 "POST %s HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                 target, strlen(body));
    client_send(client, head);
    if (body != NULL)
        client_send(client, body);
}

int ask_once(const struct serving *serving, const char *target, const char *body)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    client_ask(&client, target, body);
    client_take(&client, &answer);
    int status = answer.status;
    answer_clear(&answer);
    client_close(&client);
    return status;
}

/* ---- Settings -------------------------------------------------------------------------------------------------------- */

int serving_set_up(void **state)
{
    struct serving *serving = calloc(1, sizeof *serving);
    assert_non_null(serving);
    serving_open(serving, NULL, NULL);
    *state = serving;
    return 0;
}

int serving_tear_down(void **state)
{
    serving_close(*state);
    free(*state);
    return 0;
}

const struct test_setting serving_setting = { serving_set_up, serving_tear_down, 0 };

long resident_bytes(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
    (void)fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}
