/* test_must_streams.c - 500 streams and 500 idle connections on one server (contract D, `stream`).
 *
 * Every stream tells every log line and every step of its run, once and in order, while a hundred runs go on; also to clients
 * that drop at any point, between two events or in the middle of one, and come back with Last-Event-ID.  A server that stops
 * ends all of them. */
#include "serving.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    RUNS = 100,
    STREAMS = 500,
    IDLE = 500,
    ROUNDS = 5,
    LINES_A_ROUND = 8,
    LINES = ROUNDS * LINES_A_ROUND,
    DROPS_MIN = STREAMS / 2, /* that must have happened, all in all */
    MARK_SIZE = 128,
    DESCRIPTORS = 4096
};

/* ---- The runs -------------------------------------------------------------------------------------------------------- */

BODY(say)
{
    return pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "line %d", (int)pawl_value_int(input, NULL, -1));
}

WORKFLOW(chatty)
{
    for (int i = 0; i < LINES; i++) {
        pawl_value *number;
        if (i % LINES_A_ROUND == 0)
            PAWL_TRY(pawl_wait_for_event(run, pawl_run_format(run, "round %d", i), "go", "1 hour", NULL));
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &number, "i", i));
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %d", i), NULL, say, number, NULL));
    }
    return PAWL_OK;
}

/* ---- Listeners ------------------------------------------------------------------------------------------------------- */

struct listener {
    struct client client;
    bool is_open;
    bool has_head;
    int run;
    int lines, steps; /* that were told: the next has this number */
    bool is_ended;    /* and told so */
    char mark[MARK_SIZE];
    char *text; /* of the stream, up to what is no whole event */
    size_t text_size, text_room;
    int drops_in; /* after so many events */
    int away_for; /* looks */
    int drops;
    unsigned seed;
};

struct hall {
    struct serving serving;
    struct listener listeners[STREAMS];
    struct client idle[IDLE];
};

static int chance(struct listener *listener, int of)
{
    return (int)((unsigned)rand_r(&listener->seed) / 7 % (unsigned)of);
}

static void come(struct hall *hall, struct listener *listener)
{
    char request[MARK_SIZE + 256], mark[MARK_SIZE + 32] = "";
    if (listener->mark[0] != '\0')
        snprintf(mark, sizeof mark, "Last-Event-ID: %s\r\n", listener->mark);
    snprintf(request, sizeof request,
             "GET /api/workflows/chatty/instances/run-%d/stream HTTP/1.1\r\nHost: test\r\n%s\r\n", listener->run, mark);
    client_open(&listener->client, &hall->serving);
    client_send(&listener->client, request);
    listener->is_open = true;
    listener->has_head = false;
    listener->text_size = 0;
    listener->drops_in = 1 + chance(listener, 30);
}

static void leave(struct listener *listener)
{
    struct linger at_once = { 1, 0 };
    if (chance(listener, 2) == 0) /* with a reset */
        (void)setsockopt(listener->client.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    client_close(&listener->client);
    listener->is_open = false;
    listener->away_for = chance(listener, 3) * chance(listener, 20);
}

/* ---- Events ---------------------------------------------------------------------------------------------------------- */

static void expect_number(const struct listener *listener, const char *event, const char *what, int *next)
{
    const char *found = strstr(event, what);
    int number = found != NULL ? atoi(found + strlen(what)) : -1;
    if (number != *next)
        fail_msg("run-%d: %d is told, not %d (of \"%s\"), after %d drops: %s", listener->run, number, *next, what,
                 listener->drops, event);
    (*next)++;
}

/* One event, without the empty line behind it. */
static void take_event(struct listener *listener, const char *event)
{
    const char *id = strncmp(event, "id: ", 4) == 0 ? event + 4 : NULL;
    assert_false(listener->is_ended);
    if (strstr(event, "event: log\n") != NULL)
        expect_number(listener, event, "\"message\":\"line ", &listener->lines);
    else if (strstr(event, "event: step\n") != NULL && strstr(event, "\"name\":\"step ") != NULL)
        expect_number(listener, event, "\"name\":\"step ", &listener->steps);
    else if (strstr(event, "event: end\n") != NULL)
        listener->is_ended = true;
    else if (strstr(event, "event: status\n") == NULL && strstr(event, "event: step\n") == NULL)
        assert_true(event[0] == ':' || strncmp(event, "retry: ", 7) == 0);
    if (id != NULL) {
        size_t size = strcspn(id, "\n");
        assert_true(size < sizeof listener->mark);
        memcpy(listener->mark, id, size);
        listener->mark[size] = '\0';
    }
}

/* False: it has left. */
static bool take_events(struct listener *listener)
{
    char *at = listener->text, *end;
    listener->text[listener->text_size] = '\0';
    while ((end = strstr(at, "\n\n")) != NULL) {
        *end = '\0';
        take_event(listener, at);
        at = end + 2;
        if (--listener->drops_in == 0) {
            listener->drops++;
            leave(listener);
            return false;
        }
    }
    listener->text_size -= (size_t)(at - listener->text);
    memmove(listener->text, at, listener->text_size);
    return true;
}

static void add_text(struct listener *listener, const char *bytes, size_t size)
{
    if (listener->text_size + size + 1 > listener->text_room) {
        listener->text_room = (listener->text_size + size + 1) * 2;
        listener->text = realloc(listener->text, listener->text_room);
        assert_non_null(listener->text);
    }
    memcpy(listener->text + listener->text_size, bytes, size);
    listener->text_size += size;
}

/* ---- What comes through the socket ----------------------------------------------------------------------------------- */

static void forget(struct client *client, size_t size)
{
    client->size -= size;
    memmove(client->data, client->data + size, client->size + 1);
}

/* False: there is no whole one. */
static bool take_chunk(struct listener *listener, size_t *out_size)
{
    struct client *client = &listener->client;
    char *line_end = client->size > 0 ? strstr(client->data, "\r\n") : NULL;
    if (line_end == NULL)
        return false;
    size_t size = strtoul(client->data, NULL, 16), start = (size_t)(line_end - client->data) + 2;
    if (client->size < start + size + 2)
        return false;
    assert_memory_equal(client->data + start + size, "\r\n", 2);
    add_text(listener, client->data + start, size);
    forget(client, start + size + 2);
    *out_size = size;
    return true;
}

/* False: it has not come, or it says that there is nothing more. */
static bool take_head(struct listener *listener)
{
    struct client *client = &listener->client;
    char *end = client->size > 0 ? strstr(client->data, "\r\n\r\n") : NULL;
    if (end == NULL)
        return false;
    if (strncmp(client->data, "HTTP/1.1 204 ", 13) == 0) {
        listener->is_ended = true;
        leave(listener);
        return false;
    }
    assert_memory_equal(client->data, "HTTP/1.1 200 ", 13);
    assert_non_null(strstr(client->data, "text/event-stream"));
    listener->has_head = true;
    forget(client, (size_t)(end - client->data) + 4);
    return true;
}

static void take_all(struct listener *listener)
{
    size_t size;
    if (!client_receive(&listener->client, 0))
        fail_msg("run-%d: the stream was cut after %d lines", listener->run, listener->lines);
    if (!listener->has_head && !take_head(listener))
        return;
    while (take_chunk(listener, &size)) {
        if (size == 0) {
            assert_true(listener->is_ended);
            leave(listener);
            return;
        }
        if (!take_events(listener))
            return;
    }
}

/* One look at all listeners.  Who is away may come back. */
static void look(struct hall *hall)
{
    static struct pollfd polls[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        struct listener *listener = &hall->listeners[i];
        if (!listener->is_open && !listener->is_ended && --listener->away_for < 0)
            come(hall, listener);
        polls[i] = (struct pollfd){ .fd = listener->is_open ? listener->client.fd : -1, .events = POLLIN };
    }
    if (poll(polls, STREAMS, 10) <= 0)
        return;
    for (int i = 0; i < STREAMS; i++)
        if (polls[i].revents != 0)
            take_all(&hall->listeners[i]);
}

static int slowest(const struct hall *hall)
{
    int lines = LINES;
    for (int i = 0; i < STREAMS; i++)
        if (hall->listeners[i].lines < lines)
            lines = hall->listeners[i].lines;
    return lines;
}

static bool all_ended(const struct hall *hall)
{
    for (int i = 0; i < STREAMS; i++)
        if (!hall->listeners[i].is_ended)
            return false;
    return true;
}

/* ---- The hall -------------------------------------------------------------------------------------------------------- */

static void ask_idle(struct client *idle)
{
    struct answer answer = { 0 };
    client_ask(idle, "/api/health", NULL);
    client_take(idle, &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
}

static int set_up(void **state)
{
    const struct pawl_workflow workflow = { .name = "chatty", .run = chatty };
    struct hall *hall = calloc(1, sizeof *hall);
    char id[32];
    assert_non_null(hall);
    serving_open_with(&hall->serving, &workflow, NULL, NULL);
    for (int i = 0; i < RUNS; i++) {
        snprintf(id, sizeof id, "run-%d", i);
        running_create(&hall->serving.running, "chatty", id);
    }
    for (int i = 0; i < IDLE; i++) {
        client_open(&hall->idle[i], &hall->serving);
        ask_idle(&hall->idle[i]); /* from now on it may be idle for long */
    }
    for (int i = 0; i < STREAMS; i++) {
        hall->listeners[i].run = i % RUNS;
        hall->listeners[i].seed = (unsigned)i + 1;
        come(hall, &hall->listeners[i]);
    }
    *state = hall;
    return 0;
}

static int tear_down(void **state)
{
    struct hall *hall = *state;
    for (int i = 0; i < STREAMS; i++) {
        if (hall->listeners[i].is_open)
            client_close(&hall->listeners[i].client);
        free(hall->listeners[i].text);
    }
    for (int i = 0; i < IDLE; i++)
        client_close(&hall->idle[i]);
    serving_close(&hall->serving);
    free(hall);
    return 0;
}

static const struct test_setting hall_setting = { set_up, tear_down, 0 };

/* ---- Tests ----------------------------------------------------------------------------------------------------------- */

static void play_round(struct hall *hall, int round)
{
    int64_t until_ms = monotonic_ms() + 2 * PATIENCE_MS;
    char id[32];
    for (int i = 0; i < RUNS; i++) {
        snprintf(id, sizeof id, "run-%d", i);
        running_send(&hall->serving.running, "chatty", id, "go", NULL);
        if (i % 10 == 0)
            look(hall); /* some listen while others are not yet told to go on */
    }
    while (slowest(hall) < (round + 1) * LINES_A_ROUND && monotonic_ms() < until_ms)
        look(hall);
    assert_true(slowest(hall) >= (round + 1) * LINES_A_ROUND);
}

TEST_OF(hall, every_line_is_told_once_and_in_order_to_who_drops_and_comes_back)
{
    int drops = 0;
    for (int round = 0; round < ROUNDS; round++)
        play_round(hall, round);
    int64_t until_ms = monotonic_ms() + 2 * PATIENCE_MS;
    while (!all_ended(hall) && monotonic_ms() < until_ms)
        look(hall);
    for (int i = 0; i < STREAMS; i++) {
        assert_true(hall->listeners[i].is_ended);
        assert_int_equal(hall->listeners[i].lines, LINES);
        assert_int_equal(hall->listeners[i].steps, LINES);
        drops += hall->listeners[i].drops;
    }
    assert_true(drops >= DROPS_MIN);
    for (int i = 0; i < IDLE; i++)
        ask_idle(&hall->idle[i]); /* they were left in peace */
}

/* Of all listeners: the stream has begun, and what there is was read. */
static void settle(struct hall *hall)
{
    for (int i = 0; i < STREAMS; i++)
        client_await(&hall->listeners[i].client, "\"name\":\"round 0\"");
}

TEST_OF(hall, a_server_that_drains_ends_all_streams_well)
{
    settle(hall);
    pawl_http_drain(hall->serving.http);
    serving_stop(&hall->serving, 10 * PATIENCE_MS); /* it does not take so long */
    for (int i = 0; i < STREAMS; i++) {
        client_await(&hall->listeners[i].client, "\r\n0\r\n\r\n");
        assert_true(client_is_cut(&hall->listeners[i].client, PATIENCE_MS));
    }
    for (int i = 0; i < IDLE; i++)
        assert_true(client_is_cut(&hall->idle[i], PATIENCE_MS));
}

TEST_OF(hall, a_server_that_stops_at_once_cuts_all_streams)
{
    settle(hall);
    serving_stop(&hall->serving, 0);
    for (int i = 0; i < STREAMS; i++)
        assert_true(client_is_cut(&hall->listeners[i].client, PATIENCE_MS));
    for (int i = 0; i < IDLE; i++)
        assert_true(client_is_cut(&hall->idle[i], PATIENCE_MS));
}

int main(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    if (limit.rlim_cur < DESCRIPTORS) {
        limit.rlim_cur = DESCRIPTORS;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            return 1;
    }
    return test_run_all();
}
