/* receiver.c - see receiver.h.  A thread for each connection, so that several may be answered at once. */
#define _GNU_SOURCE /* strcasestr() */
#include "receiver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    struct receiver *receiver;
    int descriptor;
};

/* ---- One connection ---------------------------------------------------------------------------------------------- */

static bool read_request(int descriptor, struct received_request *request)
{
    char text[REQUEST_SIZE] = "";
    size_t size = 0, wanted = SIZE_MAX;
    while (size < wanted) {
        ssize_t got = recv(descriptor, text + size, sizeof text - 1 - size, 0);
        if (got <= 0)
            return false;
        size += (size_t)got;
        text[size] = '\0';
        const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\nContent-Length:");
        if (end != NULL)
            wanted = (size_t)(end + 4 - text) + (length != NULL ? strtoul(length + 17, NULL, 10) : 0);
    }
    const char *body = strstr(text, "\r\n\r\n") + 4;
    (void)snprintf(request->head, sizeof request->head, "%.*s", (int)(body - text), text);
    (void)snprintf(request->body, sizeof request->body, "%s", body);
    request->at_ms = monotonic_ms();
    return true;
}

/* Notes the request; answers the status that is its turn. */
static int note(struct receiver *receiver, const struct received_request *request)
{
    (void)pthread_mutex_lock(&receiver->lock);
    int position = receiver->count < REQUESTS_MAX ? receiver->count++ : REQUESTS_MAX - 1;
    receiver->requests[position] = *request;
    int last = receiver->answer_count - 1;
    int status = last < 0 ? 200 : receiver->answers[position < last ? position : last];
    if (++receiver->inside > receiver->inside_max)
        receiver->inside_max = receiver->inside;
    (void)pthread_mutex_unlock(&receiver->lock);
    return status;
}

static bool is_held(struct receiver *receiver)
{
    (void)pthread_mutex_lock(&receiver->lock);
    bool held = receiver->holds && !receiver->stops;
    (void)pthread_mutex_unlock(&receiver->lock);
    return held;
}

static void *serve_connection(void *user)
{
    struct connection *connection = user;
    struct receiver *receiver = connection->receiver;
    struct received_request request = { .at_ms = 0 };
    char answer[1024];
    if (read_request(connection->descriptor, &request)) {
        int status = note(receiver, &request);
        while (is_held(receiver))
            rest_a_little();
        (void)pthread_mutex_lock(&receiver->lock);
        receiver->inside--;
        const char *body = receiver->body != NULL ? receiver->body : "ok";
        (void)pthread_mutex_unlock(&receiver->lock);
        (void)snprintf(answer, sizeof answer,
                       "HTTP/1.1 %d Answer\r\n%s%s%sContent-Length: %zu\r\nConnection: close\r\n\r\n%s", status,
                       receiver->location != NULL ? "Location: " : "",
                       receiver->location != NULL ? receiver->location : "", receiver->location != NULL ? "\r\n" : "",
                       strlen(body), body);
        (void)send(connection->descriptor, answer, strlen(answer), MSG_NOSIGNAL);
    }
    (void)close(connection->descriptor);
    free(connection);
    return NULL;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static void *accept_connections(void *user)
{
    struct receiver *receiver = user;
    int descriptor;
    while ((descriptor = accept(receiver->listener, NULL, NULL)) >= 0) {
        struct connection *connection = malloc(sizeof *connection);
        *connection = (struct connection){ receiver, descriptor };
        if (receiver->handler_count == REQUESTS_MAX ||
            pthread_create(&receiver->handlers[receiver->handler_count], NULL, serve_connection, connection) != 0) {
            (void)close(descriptor);
            free(connection);
            continue;
        }
        receiver->handler_count++;
    }
    return NULL;
}

void receiver_open(struct receiver *receiver)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof address;
    memset(receiver, 0, sizeof *receiver);
    assert_int_equal(pthread_mutex_init(&receiver->lock, NULL), 0);
    receiver->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(receiver->listener, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(receiver->listener, 64), 0);
    assert_int_equal(getsockname(receiver->listener, (struct sockaddr *)&address, &size), 0);
    receiver->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&receiver->thread, NULL, accept_connections, receiver), 0);
}

void receiver_close(struct receiver *receiver)
{
    (void)pthread_mutex_lock(&receiver->lock);
    receiver->stops = true;
    (void)pthread_mutex_unlock(&receiver->lock);
    (void)shutdown(receiver->listener, SHUT_RDWR);
    (void)pthread_join(receiver->thread, NULL);
    for (int i = 0; i < receiver->handler_count; i++)
        (void)pthread_join(receiver->handlers[i], NULL);
    (void)close(receiver->listener);
    (void)pthread_mutex_destroy(&receiver->lock);
}

void receiver_answers(struct receiver *receiver, const int *statuses, int count)
{
    assert_in_range(count, 1, ANSWERS_MAX);
    (void)pthread_mutex_lock(&receiver->lock);
    memcpy(receiver->answers, statuses, (size_t)count * sizeof *statuses);
    receiver->answer_count = count;
    (void)pthread_mutex_unlock(&receiver->lock);
}

void receiver_hold(struct receiver *receiver, bool holds)
{
    (void)pthread_mutex_lock(&receiver->lock);
    receiver->holds = holds;
    (void)pthread_mutex_unlock(&receiver->lock);
}

int receiver_count(struct receiver *receiver)
{
    (void)pthread_mutex_lock(&receiver->lock);
    int count = receiver->count;
    (void)pthread_mutex_unlock(&receiver->lock);
    return count;
}

void receiver_await(struct receiver *receiver, int count)
{
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; receiver_count(receiver) < count; rest_a_little()) {
        if (monotonic_ms() > until_ms)
            fail_msg("%d requests came, not %d", receiver_count(receiver), count);
    }
}

void receiver_header(const struct received_request *request, const char *name, char *out_value, size_t size)
{
    char line[128];
    (void)snprintf(line, sizeof line, "\r\n%s: ", name);
    const char *at = strcasestr(request->head, line);
    if (at == NULL)
        fail_msg("there is no header %s in\n%s", name, request->head);
    else
        (void)snprintf(out_value, size, "%.*s", (int)strcspn(at + strlen(line), "\r"), at + strlen(line));
}
