/* stream.c - see stream.h. */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moment.h"

/* The server writes something every 15 seconds; one that is silent for longer is not there any more. */
enum { SILENCE_S_MAX = 45, RETRY_MS = 1000, RETRY_MS_MAX = 10000, LINE_SIZE_MAX = 1 << 28, REFUSAL_SIZE_MAX = 1 << 20 };

struct stream {
    struct session *session;
    const struct stream_handler *handler;
    CURL *transfer;
    char url[4096];
    char last_id[4096]; /* of the last event that was handed on; "": none */
    /* of the event that is being read */
    struct text line, data;
    char id[4096], event[64];
    struct text refusal; /* the body of an answer that is no stream */
    int64_t retry_ms;
    int64_t idle_at_ms;
    bool is_ended, has_enough, was_open;
    bool is_foreign; /* what answers is no stream of events */
};

/* ---- Reading --------------------------------------------------------------------------------------------------------- */

static void hand_on(struct stream *stream)
{
    json_t *data = json_read(text_string(&stream->data), stream->data.size);
    if (strcmp(stream->event, "end") == 0)
        stream->is_ended = true;
    else if (data != NULL && !stream->handler->event(stream->handler->user, stream->event, data))
        stream->has_enough = true;
    json_decref(data);
    if (stream->id[0] != '\0')
        (void)snprintf(stream->last_id, sizeof stream->last_id, "%s", stream->id);
}

static void take_line(struct stream *stream, const char *line)
{
    if (line[0] == '\0') {
        if (stream->data.size > 0)
            hand_on(stream);
        text_reset(&stream->data);
        stream->event[0] = stream->id[0] = '\0';
    } else if (text_starts(line, "id: ")) {
        (void)snprintf(stream->id, sizeof stream->id, "%s", line + 4);
    } else if (text_starts(line, "event: ")) {
        (void)snprintf(stream->event, sizeof stream->event, "%s", line + 7);
    } else if (text_starts(line, "data: ")) {
        text_put(&stream->data, line + 6);
    } else if (text_starts(line, "retry: ")) {
        long ms = strtol(line + 7, NULL, 10);
        stream->retry_ms = ms > 0 && ms < RETRY_MS_MAX ? ms : RETRY_MS;
    }
}

static size_t receive(char *bytes, size_t size, size_t count, void *user)
{
    struct stream *stream = user;
    size_t left = size * count;
    long status = 0;
    (void)curl_easy_getinfo(stream->transfer, CURLINFO_RESPONSE_CODE, &status);
    const char *type = NULL;
    (void)curl_easy_getinfo(stream->transfer, CURLINFO_CONTENT_TYPE, &type);
    stream->is_foreign = status == 200 && (type == NULL || !text_starts(type, "text/event-stream"));
    if (status != 200 || stream->is_foreign) {
        if (stream->refusal.size < REFUSAL_SIZE_MAX)
            text_put_size(&stream->refusal, bytes, left);
        return left;
    }
    stream->was_open = true;
    while (left > 0 && !stream->has_enough) {
        const char *end = memchr(bytes, '\n', left);
        size_t part = end != NULL ? (size_t)(end - bytes) : left;
        text_put_size(&stream->line, bytes, part);
        if (stream->line.size > LINE_SIZE_MAX)
            return 0;
        if (end != NULL) {
            take_line(stream, text_string(&stream->line));
            text_reset(&stream->line);
            part++;
        }
        bytes += part;
        left -= part;
    }
    return stream->has_enough ? 0 : size * count;
}

/* curl calls this about once a second, and oftener while something comes. */
static int look_around(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    struct stream *stream = user;
    (void)total;
    (void)now;
    (void)up_total;
    (void)up_now;
    int64_t now_ms = moment_monotonic_ms();
    if (stream->handler->idle != NULL && now_ms >= stream->idle_at_ms && stream->was_open) {
        stream->idle_at_ms = now_ms + 1000;
        stream->handler->idle(stream->handler->user);
    }
    return 0;
}

/* ---- Connecting -------------------------------------------------------------------------------------------------------- */

/* The headers of every request, and where to go on. */
static struct curl_slist *headers_of(const struct stream *stream)
{
    struct curl_slist *headers = NULL;
    for (const struct curl_slist *at = stream->session->client.headers; at != NULL; at = at->next) {
        struct curl_slist *more = curl_slist_append(headers, at->data);
        if (more == NULL)
            out_of_memory();
        headers = more;
    }
    if (stream->last_id[0] != '\0') {
        char line[sizeof stream->last_id + 32];
        (void)snprintf(line, sizeof line, "Last-Event-ID: %s", stream->last_id);
        struct curl_slist *more = curl_slist_append(headers, line);
        if (more == NULL)
            out_of_memory();
        headers = more;
    }
    return headers;
}

static CURLcode connect_once(struct stream *stream, long *out_status)
{
    struct curl_slist *headers = headers_of(stream);
    text_reset(&stream->line); /* of a connection that broke in the middle of an event: it comes again */
    text_reset(&stream->data);
    text_reset(&stream->refusal);
    stream->event[0] = stream->id[0] = '\0';
    stream->is_foreign = false;
    curl_easy_reset(stream->transfer);
    client_set_up(stream->session, stream->transfer, stream->url);
    (void)curl_easy_setopt(stream->transfer, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(stream->transfer, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)curl_easy_setopt(stream->transfer, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_S_MAX);
    (void)curl_easy_setopt(stream->transfer, CURLOPT_WRITEFUNCTION, receive);
    (void)curl_easy_setopt(stream->transfer, CURLOPT_WRITEDATA, stream);
    (void)curl_easy_setopt(stream->transfer, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(stream->transfer, CURLOPT_XFERINFOFUNCTION, look_around);
    (void)curl_easy_setopt(stream->transfer, CURLOPT_XFERINFODATA, stream);
    CURLcode failure = curl_easy_perform(stream->transfer);
    (void)curl_easy_getinfo(stream->transfer, CURLINFO_RESPONSE_CODE, out_status);
    curl_slist_free_all(headers);
    return failure;
}

/* Whether another try may be answered otherwise. */
static bool is_passing(CURLcode failure, long status)
{
    return failure != CURLE_OK || status == 200 || status == 429 || status >= 500;
}

static enum exit_code explain(struct stream *stream, CURLcode failure, long status)
{
    struct session *session = stream->session;
    if (failure != CURLE_OK)
        return client_explain_failure(session, stream->transfer, failure, "GET", session->settings.timeout_ms);
    struct answer answer = { .status = status, .json = json_read(text_string(&stream->refusal), stream->refusal.size) };
    enum exit_code code = client_explain_refusal(session, &answer);
    json_decref(answer.json);
    return code;
}

static void tell_trouble(struct stream *stream, CURLcode failure, long status)
{
    if (stream->handler->trouble != NULL)
        stream->handler->trouble(stream->handler->user);
    if (failure == CURLE_OK && status != 200)
        (void)fprintf(stderr, "pawl: the stream was answered %ld; trying again\n", status);
    else
        (void)fprintf(stderr, "pawl: the connection was lost (%s); trying again\n",
                      failure == CURLE_OK ? "the server closed it" : curl_easy_strerror(failure));
}

static enum exit_code follow(struct stream *stream)
{
    bool was_ever_open = false, is_told = false;
    int64_t pause_ms = 0;
    for (;;) {
        long status = 0;
        stream->was_open = false;
        CURLcode failure = connect_once(stream, &status);
        if (stream->is_ended || stream->has_enough || (failure == CURLE_OK && status == 204))
            return EXIT_DONE;
        if (!is_passing(failure, status) || stream->is_foreign || (!was_ever_open && !stream->was_open))
            return explain(stream, failure, status);
        was_ever_open = true;
        if (stream->was_open) {
            is_told = false;
            pause_ms = 0;
        }
        if (!is_told)
            tell_trouble(stream, failure, status);
        is_told = true;
        pause_ms = pause_ms == 0 ? stream->retry_ms : pause_ms * 2 < RETRY_MS_MAX ? pause_ms * 2 : RETRY_MS_MAX;
        moment_rest_ms(pause_ms);
    }
}

enum exit_code stream_follow(struct session *session, const struct reference *reference,
                             const struct stream_handler *handler)
{
    struct stream stream = { .session = session, .handler = handler, .retry_ms = RETRY_MS };
    stream.transfer = curl_easy_init();
    if (stream.transfer == NULL)
        out_of_memory();
    (void)snprintf(stream.url, sizeof stream.url, "%s%s/stream", session->settings.base_url,
                   reference_path(&session->pool, reference));
    enum exit_code code = follow(&stream);
    curl_easy_cleanup(stream.transfer);
    text_free(&stream.line);
    text_free(&stream.data);
    text_free(&stream.refusal);
    return code;
}
