/* stream.c - see stream.h. */
#include "stream.h"

#include <stdio.h>
#include <string.h>

#include "common/thread.h"
#include "event_reader.h"
#include "moment.h"

/* The server writes something every 15 seconds.  After SILENCE_S_MAX the connection is taken for dead. */
enum { SILENCE_S_MAX = 45, RETRY_MS = 1000, RETRY_MS_MAX = 10000, REFUSAL_SIZE_MAX = 1 << 20 };

struct stream {
    struct session *session;
    const struct stream_handler *handler;
    CURL *transfer;
    char url[4096];
    char last_id[EVENT_ID_SIZE]; /* of the last event that was handed on; "": none */
    struct event_reader reader;
    struct pw_buffer refusal; /* the body of an answer that is no stream */
    int64_t idle_at_ms;
    bool is_ended, was_open;
    bool is_foreign; /* the answer is not a stream of events */
};

/* ---- Reading --------------------------------------------------------------------------------------------------------- */

static bool hand_on(void *user, const struct event_reader *reader)
{
    struct stream *stream = user;
    struct pool *pool = &stream->session->pool, mark = pool_mark(pool);
    json_t *data = pool_json(pool, json_read(text_string(&reader->data), reader->data.size));
    bool wants_more = true;
    if (strcmp(reader->name, "end") == 0)
        stream->is_ended = true;
    else if (data != NULL)
        wants_more = stream->handler->event(stream->handler->user, reader->name, data);
    pool_release(pool, mark);
    if (reader->id[0] != '\0')
        (void)snprintf(stream->last_id, sizeof stream->last_id, "%s", reader->id);
    return wants_more;
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
            pw_buffer_add(&stream->refusal, bytes, left);
        return left;
    }
    stream->was_open = true;
    return event_reader_feed(&stream->reader, bytes, left) ? left : 0;
}

/* curl calls this about once a second, and more often while data arrives. */
static int look_around(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    struct stream *stream = user;
    (void)total;
    (void)now;
    (void)up_total;
    (void)up_now;
    int64_t now_ms = pw_monotonic_ms();
    if (stream->handler->idle != NULL && now_ms >= stream->idle_at_ms && stream->was_open) {
        struct pool mark = pool_mark(&stream->session->pool);
        stream->idle_at_ms = now_ms + 1000;
        stream->handler->idle(stream->handler->user);
        pool_release(&stream->session->pool, mark);
    }
    return 0;
}

/* ---- Connecting -------------------------------------------------------------------------------------------------------- */

/* The headers of every request, and the id of the last event. */
static struct curl_slist *headers_of(const struct stream *stream)
{
    struct curl_slist *headers = NULL;
    for (const struct curl_slist *at = stream->session->client.headers; at != NULL; at = at->next)
        client_add_header(&headers, at->data);
    if (stream->last_id[0] != '\0') {
        char line[sizeof stream->last_id + 32];
        (void)snprintf(line, sizeof line, "Last-Event-ID: %s", stream->last_id);
        client_add_header(&headers, line);
    }
    return headers;
}

static CURLcode connect_once(struct stream *stream, long *out_status)
{
    struct curl_slist *headers = headers_of(stream);
    event_reader_reset(&stream->reader);
    pw_buffer_reset(&stream->refusal);
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

/* True if another attempt may succeed. */
static bool is_passing(CURLcode failure, long status)
{
    return failure != CURLE_OK || status == 200 || status == 429 || status >= 500;
}

/* The answer that came instead of a stream. */
static struct answer refusal_of(const struct stream *stream, long status)
{
    json_t *json = json_read(text_string(&stream->refusal), stream->refusal.size);
    return (struct answer){ .status = status, .json = pool_json(&stream->session->pool, json) };
}

static enum exit_code explain(struct stream *stream, CURLcode failure, long status)
{
    struct session *session = stream->session;
    if (failure != CURLE_OK)
        return client_explain_failure(session, stream->transfer, failure, "GET", session->settings.timeout_ms);
    struct answer answer = refusal_of(stream, status);
    return client_explain_refusal(session, &answer);
}

static void tell_trouble(struct stream *stream, CURLcode failure, long status)
{
    if (failure == CURLE_OK && status != 200) {
        struct pool mark = pool_mark(&stream->session->pool);
        struct answer answer = refusal_of(stream, status);
        client_tell_outage(stream->session, &answer);
        pool_release(&stream->session->pool, mark);
    } else {
        client_tell(stream->session, "the connection was lost (%s)",
                    failure == CURLE_OK ? "the server closed it" : curl_easy_strerror(failure));
    }
}

static int64_t retry_ms_of(const struct stream *stream)
{
    long ms = stream->reader.retry_ms;
    return ms > 0 && ms < RETRY_MS_MAX ? ms : RETRY_MS;
}

/* The server is there, but cannot serve the stream yet. */
static bool is_put_off(CURLcode failure, long status)
{
    return failure == CURLE_OK && (status == 503 || status == 429);
}

static enum exit_code follow(struct stream *stream)
{
    bool was_ever_open = false;
    int64_t pause_ms = 0;
    for (;;) {
        long status = 0;
        stream->was_open = false;
        CURLcode failure = connect_once(stream, &status);
        if (stream->is_ended || stream->reader.has_enough || (failure == CURLE_OK && status == 204))
            return EXIT_DONE;
        was_ever_open = was_ever_open || stream->was_open;
        if (!is_passing(failure, status) || stream->is_foreign || (!was_ever_open && !is_put_off(failure, status)))
            return explain(stream, failure, status);
        if (stream->was_open) {
            stream->session->client.is_told = false;
            pause_ms = 0;
        }
        tell_trouble(stream, failure, status);
        pause_ms = pause_ms == 0 ? retry_ms_of(stream) : pause_ms * 2 < RETRY_MS_MAX ? pause_ms * 2 : RETRY_MS_MAX;
        moment_rest_ms(pause_ms);
    }
}

enum exit_code stream_follow(struct session *session, const struct reference *reference,
                             const struct stream_handler *handler)
{
    struct stream stream = { .session = session, .handler = handler };
    stream.reader.event = hand_on;
    stream.reader.user = &stream;
    stream.transfer = client_transfer();
    (void)snprintf(stream.url, sizeof stream.url, "%s%s/stream", session->settings.base_url,
                   reference_path(&session->pool, reference));
    enum exit_code code = follow(&stream);
    curl_easy_cleanup(stream.transfer);
    event_reader_free(&stream.reader);
    pw_buffer_clear(&stream.refusal);
    return code;
}
