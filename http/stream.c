/* stream.c - follows an instance as server-sent events.
 *
 * Events are `status`, `step` and `log`.  Each has a mark as its id, and a client that reconnects with it in
 * Last-Event-ID gets what it has missed.  When the instance has finished and everything was sent, the stream sends
 * `end` and closes.  A client that reconnects after that gets 204, which tells browsers to stop.  A quiet stream
 * sends a comment line every heartbeat_ms, which shows that the connection is alive. */
#include "http/answer.h"
#include "http/operations.h"
#include "http/write.h"

enum { RETRY_MS = 1000 };

void pw_http_stream_close(pawl_http_call *call)
{
    if (!call->is_stream)
        return;
    pawl_follow_close(call->work.stream.follow);
    (void)atomic_fetch_sub(&call->http->streams, 1);
    call->is_stream = false;
}

/* JSON allows line ends between its parts, but here they would end the `data:` line. */
static void put_on_one_line(struct pw_buffer *out, size_t from)
{
    for (size_t i = from; i < out->size; i++)
        if (out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = ' ';
}

static const char *event_of(enum pawl_change_kind kind)
{
    switch (kind) {
    case PAWL_CHANGE_STATUS:
        return "status";
    case PAWL_CHANGE_STEP:
        return "step";
    case PAWL_CHANGE_LOG:
        return "log";
    }
    return "unknown";
}

static void write_change(struct pw_buffer *out, const struct pawl_change *change)
{
    pw_buffer_format(out, "id: %s\nevent: %s\ndata: ", change->mark, event_of(change->kind));
    size_t from = out->size;
    out->needs_comma = false;
    switch (change->kind) {
    case PAWL_CHANGE_STATUS:
        pw_http_write_status_event(out, change->instance);
        break;
    case PAWL_CHANGE_STEP:
        pw_http_write_step(out, change->step);
        break;
    case PAWL_CHANGE_LOG:
        pw_http_write_log(out, change->log);
        break;
    }
    if (!out->failed)
        put_on_one_line(out, from);
    pw_buffer_put(out, "\n\n");
}

/* Appends what is new to call->out. */
static pawl_status look(pawl_http_call *call, size_t *out_count)
{
    struct pw_http_stream_work *stream = &call->work.stream;
    const struct pawl_change *changes;
    size_t count = 0;
    pawl_scope *scope = pawl_scope_new(); /* for this look, so that memory does not grow during a long stream */
    pawl_status status = PAWL_NOMEM;
    if (scope != NULL)
        status = pawl_follow_next(stream->follow, scope, &changes, &count, &stream->is_ended, &call->error);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        write_change(&call->out, &changes[i]);
    if (status == PAWL_OK && stream->is_ended)
        pw_buffer_put(&call->out, "event: end\ndata: {}\n\n");
    pawl_scope_free(scope);
    *out_count = count;
    int64_t now_ms = pawl_now_ms(call->http->engine);
    /* If something was new there may be more, so look again at once. */
    stream->look_at_ms = status == PAWL_OK && count > 0 ? now_ms : now_ms + call->http->options.look_again_ms;
    return status;
}

/* ---- The head -------------------------------------------------------------------------------------------------- */

static pawl_status open_stream(pawl_http_call *call, const char *since)
{
    pawl_http *http = call->http;
    struct pw_http_stream_work *stream = &call->work.stream;
    if (atomic_fetch_add(&http->streams, 1) >= http->options.streams_max) {
        (void)atomic_fetch_sub(&http->streams, 1);
        return pw_http_fail(call, 503, "TOO_MANY_STREAMS", "%d streams are open, which is the maximum",
                            (int)http->options.streams_max);
    }
    *stream = (struct pw_http_stream_work){ 0 };
    call->is_stream = true;
    pawl_status status =
        pawl_follow_open(http->engine, call->match.workflow, call->match.id, since, &stream->follow, &call->error);
    /* The watch opens before the first look, so that no change between them is missed. */
    if (status == PAWL_OK && !call->is_head)
        status = pw_http_call_watch(call);
    return status;
}

pawl_status pw_http_stream(pawl_http_call *call)
{
    const char *since = pw_http_call_header(call, "Last-Event-ID");
    if (since != NULL && since[0] == '\0')
        since = NULL;
    if (pw_http_is_draining(call))
        return pw_http_fail(call, 503, "DRAINING", "this server is stopping");
    pawl_status status = open_stream(call, since);
    if (call->state == PW_HTTP_ANSWERED)
        return PAWL_OK;
    size_t count = 0;
    if (status == PAWL_OK) {
        pw_buffer_format(&call->out, "retry: %d\n\n", RETRY_MS);
        status = look(call, &count);
    }
    if (status != PAWL_OK)
        pw_http_fail_status(call, status);
    else if (since != NULL && count == 0 && call->work.stream.is_ended)
        pw_http_answer_empty(call);
    else if (call->refuses_streams)
        pw_http_fail(call, 406, "NOT_ACCEPTABLE", "streams are not supported here");
    else
        pw_http_answer_stream(call);
    call->work.stream.heartbeat_at_ms = pawl_now_ms(call->http->engine) + call->http->options.heartbeat_ms;
    if (!call->response.is_stream)
        pw_http_stream_close(call);
    return PAWL_OK;
}

/* ---- What follows ---------------------------------------------------------------------------------------------- */

static bool is_over(const pawl_http_call *call)
{
    return call->work.stream.is_ended || pw_http_is_draining(call);
}

/* The caller has taken the bytes that it got last. */
static void forget_given(pawl_http_call *call)
{
    if (call->work.stream.is_given)
        pw_buffer_reset(&call->out);
    call->work.stream.is_given = false;
}

/* True if the time has come.  A time further away than the interval was set before the clock was set back, so it
 * counts as come. */
static bool has_come(const pawl_http_call *call, int64_t at_ms, int64_t interval_ms)
{
    int64_t left_ms = at_ms - pawl_now_ms(call->http->engine);
    return left_ms <= 0 || left_ms > interval_ms;
}

bool pw_http_stream_is_due(pawl_http_call *call)
{
    if (!call->is_stream)
        return false;
    forget_given(call);
    return call->out.size == 0 && !is_over(call) &&
           (pw_http_call_has_news(call) ||
            has_come(call, call->work.stream.look_at_ms, call->http->options.look_again_ms));
}

void pw_http_stream_look(pawl_http_call *call)
{
    struct pw_http_stream_work *stream = &call->work.stream;
    size_t count;
    (void)pw_http_call_take_news(call);
    pawl_status status = look(call, &count);
    /* While the store cannot be read, the stream stays open and says nothing. */
    stream->is_ended = stream->is_ended || (status != PAWL_OK && !pw_http_is_passing(status));
}

void pw_http_stream_skip(pawl_http_call *call)
{
    (void)pw_http_call_take_news(call);
    call->work.stream.look_at_ms = pawl_now_ms(call->http->engine) + call->http->options.look_again_ms;
}

static void beat(pawl_http_call *call)
{
    struct pw_http_stream_work *stream = &call->work.stream;
    int64_t interval_ms = call->http->options.heartbeat_ms;
    if (call->out.size == 0 && has_come(call, stream->heartbeat_at_ms, interval_ms))
        pw_buffer_put(&call->out, ":\n\n");
    if (call->out.size > 0)
        stream->heartbeat_at_ms = pawl_now_ms(call->http->engine) + interval_ms;
}

enum pawl_http_read pw_http_stream_read(pawl_http_call *call, const char **out_bytes, size_t *out_size,
                                        int64_t *out_again_at_ms)
{
    struct pw_http_stream_work *stream = &call->work.stream;
    if (!call->is_stream)
        return PAWL_HTTP_READ_END;
    forget_given(call);
    bool ends = is_over(call);
    if (!ends)
        beat(call);
    if (call->out.failed || (call->out.size == 0 && ends)) {
        pw_http_stream_close(call);
        return PAWL_HTTP_READ_END;
    }
    if (call->out.size > 0) {
        *out_bytes = call->out.data;
        *out_size = call->out.size;
        stream->is_given = true;
        return PAWL_HTTP_READ_BYTES;
    }
    *out_again_at_ms = stream->look_at_ms < stream->heartbeat_at_ms ? stream->look_at_ms : stream->heartbeat_at_ms;
    return PAWL_HTTP_READ_NOT_YET;
}

enum pawl_http_read pawl_http_call_read(pawl_http_call *call, const char **out_bytes, size_t *out_size,
                                        int64_t *out_again_at_ms)
{
    if (pw_http_stream_is_due(call))
        pw_http_stream_look(call);
    return pw_http_stream_read(call, out_bytes, out_size, out_again_at_ms);
}
