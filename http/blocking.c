/* blocking.c - pawl_http_answer(): carries a call through in the calling thread, which sleeps while the call waits. */
#include <pthread.h>
#include <string.h>

#include "common/thread.h"
#include "http/call.h"

/* No single wait is longer than this, because the engine's clock may be simulated or jump while the thread sleeps. */
enum { WAIT_MS_MAX = 1000 };

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t noted;
    bool is_ready;
};

/* The call's `ready` callback.  It may be called from any thread. */
static void note(void *user)
{
    struct waiter *waiter = user;
    (void)pthread_mutex_lock(&waiter->lock);
    waiter->is_ready = true;
    (void)pthread_cond_signal(&waiter->noted);
    (void)pthread_mutex_unlock(&waiter->lock);
}

static void wait_ms(struct waiter *waiter, int64_t ms)
{
    (void)pthread_mutex_lock(&waiter->lock);
    if (!waiter->is_ready)
        pw_cond_wait_ms(&waiter->noted, &waiter->lock, ms < WAIT_MS_MAX ? ms : WAIT_MS_MAX);
    waiter->is_ready = false;
    (void)pthread_mutex_unlock(&waiter->lock);
}

static const char *copy_text(pawl_scope *scope, const char *text, size_t size)
{
    char *copy = pawl_scope_take(scope, size + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

static pawl_status copy_response(pawl_scope *scope, const struct pawl_http_response *response,
                                 struct pawl_http_response *out_response)
{
    struct pawl_http_response copy = *response;
    struct pawl_http_header *headers = pawl_scope_take(scope, response->header_count * sizeof *headers);
    copy.headers = headers;
    copy.body = copy_text(scope, response->body, response->body_size);
    if (headers == NULL || copy.body == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; i < response->header_count; i++) {
        const struct pawl_http_header *header = &response->headers[i];
        headers[i].name = copy_text(scope, header->name, strlen(header->name));
        headers[i].value = copy_text(scope, header->value, strlen(header->value));
        if (headers[i].name == NULL || headers[i].value == NULL)
            return PAWL_NOMEM;
    }
    *out_response = copy;
    return PAWL_OK;
}

pawl_status pawl_http_answer(pawl_http *http, pawl_scope *scope, const struct pawl_http_request *request,
                             struct pawl_http_response *out_response)
{
    const struct pawl_http_response *response;
    struct waiter waiter = { .is_ready = false };
    int64_t again_at_ms;
    if (!pw_lock_init(&waiter.lock, &waiter.noted))
        return PAWL_NOMEM;
    pawl_http_call *call = pawl_http_call_new(http, request, note, &waiter);
    pawl_status status = PAWL_NOMEM;
    if (call == NULL)
        goto done;
    call->refuses_streams = true;
    while (!pawl_http_call_answer(call, &response, &again_at_ms)) {
        int64_t now_ms = pawl_now_ms(http->engine);
        wait_ms(&waiter, again_at_ms > now_ms ? again_at_ms - now_ms : 0);
    }
    status = copy_response(scope, response, out_response);
done:
    pawl_http_call_free(call);
    pw_lock_clear(&waiter.lock, &waiter.noted);
    return status;
}
