/* prober.c - see prober.h. */
#include "http/prober.h"

#include <signal.h>

#include "pawl/hooks.h"
#include "pawl/pawl.h"

bool pw_http_prober_init(struct pw_http_prober *prober, pawl_engine *engine, void (*looked)(void *user), void *user)
{
    *prober = (struct pw_http_prober){ .engine = engine, .looked = looked, .user = user };
    if (pthread_mutex_init(&prober->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&prober->changed, NULL) == 0)
        return true;
    (void)pthread_mutex_destroy(&prober->lock);
    return false;
}

void pw_http_prober_clear(struct pw_http_prober *prober)
{
    (void)pthread_mutex_lock(&prober->lock);
    prober->is_stopped = true;
    (void)pthread_cond_signal(&prober->changed);
    (void)pthread_mutex_unlock(&prober->lock);
    if (prober->has_thread)
        (void)pthread_join(prober->thread, NULL);
    (void)pthread_cond_destroy(&prober->changed);
    (void)pthread_mutex_destroy(&prober->lock);
}

/* One row of an index is the least that shows that the store can be read. */
static pawl_status read_store(pawl_engine *engine)
{
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pawl_delivery_page page;
    pawl_scope *scope = pawl_scope_new();
    if (scope == NULL)
        return PAWL_NOMEM;
    options.page_size = 1;
    pawl_status status = pawl_list_deliveries(engine, scope, &options, &page, NULL);
    pawl_scope_free(scope);
    return status;
}

static void *run(void *user)
{
    struct pw_http_prober *prober = user;
    (void)pthread_mutex_lock(&prober->lock);
    while (!prober->is_stopped) {
        if (prober->begun == prober->asked) {
            (void)pthread_cond_wait(&prober->changed, &prober->lock);
            continue;
        }
        prober->begun = prober->asked;
        (void)pthread_mutex_unlock(&prober->lock);
        pawl_status status = read_store(prober->engine);
        if (status == PAWL_OK)
            status = pawl_check_schema(prober->engine, NULL);
        if (status == PAWL_OK)
            status = pawl_check_writable(prober->engine, NULL);
        (void)pthread_mutex_lock(&prober->lock);
        prober->verdict = status;
        prober->done = prober->begun;
        (void)pthread_mutex_unlock(&prober->lock);
        prober->looked(prober->user);
        (void)pthread_mutex_lock(&prober->lock);
    }
    (void)pthread_mutex_unlock(&prober->lock);
    return NULL;
}

/* The host's signals are for the host's threads. */
static bool start(struct pw_http_prober *prober)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    prober->has_thread = pthread_create(&prober->thread, NULL, run, prober) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return prober->has_thread;
}

pawl_status pw_http_prober_ask(struct pw_http_prober *prober, uint64_t *out_look)
{
    (void)pthread_mutex_lock(&prober->lock);
    bool has_thread = prober->has_thread || start(prober);
    if (has_thread) {
        *out_look = prober->asked = prober->begun + 1;
        (void)pthread_cond_signal(&prober->changed);
    }
    (void)pthread_mutex_unlock(&prober->lock);
    return has_thread ? PAWL_OK : PAWL_NOMEM;
}

bool pw_http_prober_verdict(struct pw_http_prober *prober, uint64_t look, pawl_status *out_verdict)
{
    (void)pthread_mutex_lock(&prober->lock);
    bool is_done = prober->done >= look;
    if (is_done)
        *out_verdict = prober->verdict;
    (void)pthread_mutex_unlock(&prober->lock);
    return is_done;
}
