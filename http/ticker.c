/* ticker.c - see ticker.h.  One thread, run(), takes ticks from the queue.  `current` links the tick under way to
 * its caller. */
#include "http/ticker.h"

bool pw_http_ticker_init(struct pw_http_ticker *ticker, pawl_runner *runner)
{
    *ticker = (struct pw_http_ticker){ .runner = runner };
    return pw_helper_init(&ticker->helper);
}

void pw_http_ticker_clear(struct pw_http_ticker *ticker)
{
    pw_helper_clear(&ticker->helper);
}

/* Takes the first tick from the queue.  Returns NULL when the ticker is stopped and the queue is empty. */
static struct pw_http_tick *take(struct pw_http_ticker *ticker)
{
    while (ticker->first == NULL && !ticker->helper.is_stopped)
        (void)pthread_cond_wait(&ticker->helper.changed, &ticker->helper.lock);
    struct pw_http_tick *tick = ticker->first;
    if (tick != NULL) {
        ticker->first = tick->next;
        ticker->count--;
    }
    return tick;
}

/* The caller may free its tick while it runs, so the tick is only touched with the lock held. */
static void *run(void *user)
{
    struct pw_http_ticker *ticker = user;
    (void)pthread_mutex_lock(&ticker->helper.lock);
    while ((ticker->current = take(ticker)) != NULL) {
        int64_t max_instances = ticker->current->max_instances, max_steps = ticker->current->max_steps;
        int64_t processed = 0;
        struct pawl_error error = { PAWL_OK, "" };
        (void)pthread_mutex_unlock(&ticker->helper.lock);
        pawl_status status = pawl_runner_tick(ticker->runner, max_instances, max_steps, &processed, &error);
        (void)pthread_mutex_lock(&ticker->helper.lock);
        struct pw_http_tick *tick = ticker->current;
        if (tick != NULL) {
            tick->processed = processed;
            *tick->error = error;
            tick->answered(tick->user, status);
        }
        ticker->current = NULL;
    }
    (void)pthread_mutex_unlock(&ticker->helper.lock);
    return NULL;
}

pawl_status pw_http_ticker_add(struct pw_http_ticker *ticker, struct pw_http_tick *tick)
{
    pawl_status status = PAWL_OK;
    tick->next = NULL;
    (void)pthread_mutex_lock(&ticker->helper.lock);
    if (ticker->count == PW_HTTP_TICKS_MAX) {
        status = PAWL_BUSY;
    } else if (!pw_helper_start(&ticker->helper, run, ticker)) {
        status = PAWL_NOMEM;
    } else {
        if (ticker->first == NULL)
            ticker->first = tick;
        else
            ticker->last->next = tick;
        ticker->last = tick;
        ticker->count++;
        (void)pthread_cond_signal(&ticker->helper.changed);
    }
    (void)pthread_mutex_unlock(&ticker->helper.lock);
    return status;
}

void pw_http_ticker_forget(struct pw_http_ticker *ticker, struct pw_http_tick *tick)
{
    (void)pthread_mutex_lock(&ticker->helper.lock);
    if (ticker->current == tick)
        ticker->current = NULL;
    struct pw_http_tick *before = NULL;
    for (struct pw_http_tick *at = ticker->first; at != NULL; before = at, at = at->next) {
        if (at != tick)
            continue;
        if (before == NULL)
            ticker->first = at->next;
        else
            before->next = at->next;
        if (ticker->last == at)
            ticker->last = before;
        ticker->count--;
        break;
    }
    (void)pthread_mutex_unlock(&ticker->helper.lock);
}
