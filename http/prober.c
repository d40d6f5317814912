/* prober.c - see prober.h.  Looks are numbered: a request asks for the look after the one under way (begun + 1), and
 * has its verdict once `done` has reached that number. */
#include "http/prober.h"

#include "pawl/hooks.h"
#include "pawl/pawl.h"

bool pw_http_prober_init(struct pw_http_prober *prober, pawl_engine *engine, void (*looked)(void *user), void *user)
{
    *prober = (struct pw_http_prober){ .engine = engine, .looked = looked, .user = user };
    return pw_helper_init(&prober->helper);
}

void pw_http_prober_clear(struct pw_http_prober *prober)
{
    pw_helper_clear(&prober->helper);
}

/* Reading one row by an index is the smallest proof that the store can be read. */
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
    (void)pthread_mutex_lock(&prober->helper.lock);
    while (!prober->helper.is_stopped) {
        if (prober->begun == prober->asked) {
            (void)pthread_cond_wait(&prober->helper.changed, &prober->helper.lock);
            continue;
        }
        prober->begun = prober->asked;
        (void)pthread_mutex_unlock(&prober->helper.lock);
        pawl_status status = read_store(prober->engine);
        if (status == PAWL_OK)
            status = pawl_check_schema(prober->engine, NULL);
        if (status == PAWL_OK)
            status = pawl_check_writable(prober->engine, NULL);
        (void)pthread_mutex_lock(&prober->helper.lock);
        prober->verdict = status;
        prober->done = prober->begun;
        (void)pthread_mutex_unlock(&prober->helper.lock);
        prober->looked(prober->user);
        (void)pthread_mutex_lock(&prober->helper.lock);
    }
    (void)pthread_mutex_unlock(&prober->helper.lock);
    return NULL;
}

pawl_status pw_http_prober_ask(struct pw_http_prober *prober, uint64_t *out_look)
{
    (void)pthread_mutex_lock(&prober->helper.lock);
    bool has_thread = pw_helper_start(&prober->helper, run, prober);
    if (has_thread) {
        *out_look = prober->asked = prober->begun + 1;
        (void)pthread_cond_signal(&prober->helper.changed);
    }
    (void)pthread_mutex_unlock(&prober->helper.lock);
    return has_thread ? PAWL_OK : PAWL_NOMEM;
}

bool pw_http_prober_verdict(struct pw_http_prober *prober, uint64_t look, pawl_status *out_verdict)
{
    (void)pthread_mutex_lock(&prober->helper.lock);
    bool is_done = prober->done >= look;
    if (is_done)
        *out_verdict = prober->verdict;
    (void)pthread_mutex_unlock(&prober->helper.lock);
    return is_done;
}
