/* test_must_malformed.c - malformed requests by the thousand, through sockets (contract D: "no input of any kind yields a 500").
 *
 * malformed.c makes them, each out of its number.  Of every answer that comes:
 *   - it is well-formed HTTP, and its body is JSON where it says so;
 *   - its status is 4xx, or 2xx where the request was right after all.  Never 5xx, but for 505, which libmicrohttpd answers to
 *     a request line whose version is not HTTP/1.x: that is no fault of the server, and the status is made for it;
 *   - whole requests are answered, cut ones have no effect, and the next client is served as before.
 * In the end neither descriptors nor memory are left behind; a build with AddressSanitizer sees the rest. */
#include "malformed.h"
#include "serving.h"

#include <ctype.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    REQUESTS = 6000,
    BATCH = 150, /* sent at once */
    HEADER_BYTES_MAX = 8 * 1024,
    REQUEST_MS_MAX = 4000,
    MIB_MORE_MAX = 16 /* of memory, between the first batches and the last */
};

/* ---- Looking at what comes back -------------------------------------------------------------------------------------- */

struct post {
    struct client client;
    struct malformed request;
    bool is_over;
};

static void complain(const struct post *post, const char *why)
{
    fail_msg("%s (serial %d): %s\n--- asked, %zu bytes\n%.*s\n--- answered, %zu bytes\n%.2000s", post->request.what,
             post->request.serial, why, post->request.size, (int)(post->request.size < 600 ? post->request.size : 600),
             post->request.data, post->client.size, post->client.size > 0 ? post->client.data : "");
}

static bool is_name(const char *text, const char *end)
{
    for (const char *at = text; at < end; at++)
        if (!isalnum((unsigned char)*at) && *at != '-')
            return false;
    return end > text;
}

struct head {
    int status;
    size_t size, length;
    bool has_length, is_chunked, is_json;
};

static void take_header(const struct post *post, struct head *head, const char *line, const char *end)
{
    const char *colon = memchr(line, ':', (size_t)(end - line));
    if (colon == NULL || !is_name(line, colon) || colon[1] != ' ')
        complain(post, "a header without name or value");
    for (const char *at = colon + 2; at < end; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            complain(post, "a header with a control character");
    if (strncasecmp(line, "Content-Length: ", 16) == 0) {
        if (head->has_length)
            complain(post, "two lengths");
        head->has_length = true;
        head->length = strtoul(colon + 2, NULL, 10);
    }
    if (strncasecmp(line, "Transfer-Encoding: chunked\r", 27) == 0)
        head->is_chunked = true;
    if (strncasecmp(line, "Content-Type: application/json\r", 31) == 0)
        head->is_json = true;
}

/* False: it has not come wholly. */
static bool take_head(const struct post *post, const char *data, struct head *out_head)
{
    const char *end = strstr(data, "\r\n\r\n");
    char digits[4] = "";
    *out_head = (struct head){ .status = 0 };
    if (end == NULL)
        return false;
    if (strncmp(data, "HTTP/1.", 7) != 0 || strchr("01", data[7]) == NULL ||
        sscanf(data + 8, " %3[0-9] ", digits) != 1 || strlen(digits) != 3)
        complain(post, "not a status line");
    out_head->status = atoi(digits);
    out_head->size = (size_t)(end - data) + 4;
    for (const char *line = strstr(data, "\r\n") + 2; line < end + 2; line = strstr(line, "\r\n") + 2)
        take_header(post, out_head, line, strstr(line, "\r\n"));
    if (out_head->has_length && out_head->is_chunked)
        complain(post, "a length and chunks");
    return true;
}

/* 0: it has not come wholly. */
static size_t size_of_chunks(const struct post *post, const char *data, size_t size)
{
    size_t at = 0;
    for (;;) {
        const char *line_end = strstr(data + at, "\r\n");
        if (line_end == NULL)
            return 0;
        if (!isxdigit((unsigned char)data[at]))
            complain(post, "a chunk without size");
        size_t chunk = strtoul(data + at, NULL, 16);
        at = (size_t)(line_end - data) + 2 + chunk + 2;
        if (at > size)
            return 0;
        if (memcmp(data + at - 2, "\r\n", 2) != 0)
            complain(post, "a chunk without end");
        if (chunk == 0)
            return at;
    }
}

static bool is_other_version(const struct malformed *request)
{
    const char *end = memchr(request->data, '\n', request->size);
    size_t size = end != NULL ? (size_t)(end - request->data) : request->size;
    for (size_t i = 0; i + 7 <= size; i++)
        if (memcmp(request->data + i, " HTTP/1", 7) == 0)
            return i + 8 < size && request->data[i + 7] != '.';
    return true;
}

static void check_status(const struct post *post, const struct head *head)
{
    bool is_refusal = head->status >= 400 && head->status <= 499;
    if (post->request.is_bad && !is_refusal)
        complain(post, "a wrong request that was not refused");
    if (head->status == 505 && is_other_version(&post->request))
        return;
    if (!is_refusal && (head->status < 200 || head->status > 299))
        complain(post, "a status that is neither 2xx nor 4xx");
}

static void check_json(const struct post *post, const struct head *head, const char *body)
{
    pawl_scope *scope = pawl_scope_new();
    pawl_value *value = NULL;
    assert_non_null(scope);
    if (pawl_value_parse(scope, body, head->length, &value, NULL) != PAWL_OK)
        complain(post, "JSON that is none");
    if (head->status >= 400 &&
        (pawl_value_string(value, "code", "")[0] == '\0' || pawl_value_string(value, "message", "")[0] == '\0'))
        complain(post, "an error without code and message");
    pawl_scope_free(scope);
}

/* How many answers came wholly.  All that came is looked at. */
static int check_answers(const struct post *post)
{
    const char *data = post->client.data;
    size_t at = 0, size = post->client.size;
    bool is_head = strncmp(post->request.data + strspn(post->request.data, "\r\n"), "HEAD ", 5) == 0;
    int count = 0;
    struct head head;
    while (at < size && take_head(post, data + at, &head)) {
        at += head.size;
        if (head.status == 100)
            continue;
        check_status(post, &head);
        size_t body_size = head.is_chunked ? size_of_chunks(post, data + at, size - at) : head.length;
        if (is_head || head.status == 204)
            body_size = 0;
        else if (!head.has_length && !head.is_chunked)
            complain(post, "a body without end");
        if (at + body_size > size || (head.is_chunked && body_size == 0 && !is_head))
            break;
        if (head.is_json && head.has_length && !is_head)
            check_json(post, &head, data + at);
        at += body_size;
        count++;
    }
    return count;
}

/* ---- Sending --------------------------------------------------------------------------------------------------------- */

static void send_request(struct post *post, const struct serving *serving)
{
    client_open(&post->client, serving);
    size_t part =
        malformed_chance(&post->request, 3) == 0 ? malformed_chance(&post->request, (unsigned)post->request.size) : 0;
    (void)client_try_send(&post->client, post->request.data, part);
    (void)client_try_send(&post->client, post->request.data + part, post->request.size - part);
    if (!post->request.is_whole)
        (void)shutdown(post->client.fd, SHUT_WR);
}

/* True: it is over, for it was answered, or cut off. */
static bool take_answers(struct post *post, int64_t within_ms)
{
    struct pollfd poll_one = { .fd = post->client.fd, .events = POLLIN };
    while (!post->is_over && poll(&poll_one, 1, (int)within_ms) == 1) {
        bool is_open = client_receive(&post->client, 0);
        int answers = check_answers(post);
        if (!is_open && post->request.is_whole && answers == 0)
            complain(post, "not answered");
        post->is_over = !is_open || (post->request.is_whole && answers > 0);
    }
    return post->is_over;
}

static void ask_kept(struct client *kept)
{
    struct answer answer = { 0 };
    client_ask(kept, MALFORMED_WAITS, NULL);
    client_take(kept, &answer);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"status\":\"waiting\""));
    answer_clear(&answer);
}

static void assert_never_created(struct serving *serving, int serial)
{
    struct pawl_instance instance;
    char id[32];
    snprintf(id, sizeof id, "never-%d", serial);
    assert_int_equal(pawl_get(serving->running.engine, serving->running.scope, "quick", id, &instance, NULL),
                     PAWL_INSTANCE_NOT_FOUND);
}

/* What has been sent and is not over.  Those that were ended by us may take the server a while to notice, or as long as a
 * request may take: meanwhile others are served. */
struct pile {
    struct post posts[REQUESTS];
    int count;
};

static void clear_pile(struct pile *pile, struct serving *serving, int64_t patience_ms)
{
    int kept = 0;
    for (int i = 0; i < pile->count; i++) {
        struct post *post = &pile->posts[i];
        if (!take_answers(post, patience_ms)) {
            if (patience_ms > 0 || post->request.is_whole)
                complain(post, "neither answered nor cut off");
            pile->posts[kept++] = *post;
            continue;
        }
        if (post->request.is_cut)
            assert_never_created(serving, post->request.serial);
        client_close(&post->client);
        malformed_clear(&post->request);
    }
    pile->count = kept;
}

static void send_batch(struct pile *pile, struct serving *serving, struct client *kept, int first)
{
    int from = pile->count;
    for (int i = 0; i < BATCH; i++) {
        struct post *post = &pile->posts[pile->count++];
        post->is_over = false;
        malformed_make(&post->request, first + i);
        send_request(post, serving);
    }
    for (int i = from; i < pile->count; i++)
        if (pile->posts[i].request.is_whole && !take_answers(&pile->posts[i], PATIENCE_MS))
            complain(&pile->posts[i], "not answered in time");
    clear_pile(pile, serving, 0);
    assert_int_equal(ask_once(serving, "/api/workflows", NULL), 200);
    ask_kept(kept); /* and who was there before, too */
}

/* ---- The test -------------------------------------------------------------------------------------------------------- */

static long resident_mib(void)
{
    long unused, pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &unused, &pages), 2);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / (1024 * 1024);
}

static void assert_nothing_is_left(struct serving *serving, int descriptors, long mib)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (count_descriptors() > descriptors && monotonic_ms() < until_ms)
        rest_a_little();
    assert_true(count_descriptors() <= descriptors);
    assert_int_equal(ask_once(serving, MALFORMED_RUNS "/never", NULL), 404);
    if (!RUNNING_SLOWLY) /* sanitizers keep what was freed */
        assert_in_range(resident_mib(), 0, mib + MIB_MORE_MAX);
}

static struct serving *open_server(int64_t request_ms_max)
{
    struct serving *serving = calloc(1, sizeof *serving);
    struct pawl_http_options handler = PAWL_HTTP_OPTIONS_INIT;
    struct pawl_http_server_options server = PAWL_HTTP_SERVER_OPTIONS_INIT;
    assert_non_null(serving);
    handler.body_bytes_max = MALFORMED_BODY_BYTES_MAX;
    server.header_bytes_max = HEADER_BYTES_MAX;
    server.request_ms_max = request_ms_max;
    serving_open(serving, &handler, &server);
    running_create(&serving->running, "waits", "w");
    (void)running_await(&serving->running, "waits", "w", PAWL_WAITING);
    return serving;
}

TEST(nothing_malformed_is_more_than_a_4xx_or_leaves_anything_behind)
{
    static struct pile pile;
    struct serving *serving = open_server(REQUEST_MS_MAX);
    struct client kept;
    long mib = 0;
    client_open(&kept, serving);
    ask_kept(&kept);
    int descriptors = count_descriptors();
    for (int first = 0; first < REQUESTS; first += BATCH) {
        send_batch(&pile, serving, &kept, first);
        if (first <= REQUESTS / 4)
            mib = resident_mib();
    }
    clear_pile(&pile, serving, PATIENCE_MS);
    assert_nothing_is_left(serving, descriptors, mib);
    client_close(&kept);
    serving_close(serving);
    free(serving);
}

static int64_t processor_ms(void)
{
    struct timespec used;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* libmicrohttpd asks to be run without end while an extension of a chunk fills all of a connection's memory. */
TEST(a_request_that_cannot_go_on_takes_its_time_but_not_the_processor)
{
    enum { TIME_MS = 1500, PIECE_BYTES = 4096 };
    struct serving *serving = open_server(TIME_MS);
    struct client client;
    char piece[PIECE_BYTES];
    memset(piece, ';', sizeof piece);
    client_open(&client, serving);
    client_send(&client, "POST " MALFORMED_RUNS " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n2");
    for (int i = 0; i < 16; i++)
        client_send_bytes(&client, piece, sizeof piece);
    int64_t used_ms = processor_ms();
    assert_true(client_is_cut(&client, PATIENCE_MS));
    assert_in_range(processor_ms() - used_ms, 0, TIME_MS / 3);
    client_close(&client);
    serving_close(serving);
    free(serving);
}
