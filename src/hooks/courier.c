/* courier.c - threads that make deliveries.
 *
 * One thread at a time is the lookout: it waits until a delivery is due, and claims it.  Then it hands the lookout
 * to the next thread, and delivers.  So a courier asks the store once, however many threads it has, and each due
 * delivery finds a thread as long as one is free.  A kick wakes the lookout when this process recorded a delivery.
 * Deliveries recorded by other processes are found by polling.
 *
 * A hook whose deliveries hang cannot take all threads: one thread is left to each of the other hooks, as long as
 * there are that many. */
#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "common/thread.h"
#include "hooks/hooks.h"
#include "service/check.h"

enum { THREADS_DEFAULT = 4, THREADS_MAX = 1024 };

struct pawl_courier {
    pawl_engine *engine;
    struct pw_hooks *hooks; /* its lock guards the fields below */
    pthread_cond_t free;    /* free threads that are not the lookout wait here */
    bool has_lookout;
    atomic_bool stopping;         /* set with the lock held */
    int32_t wanted, thread_count; /* threads asked for, and threads started */
    pthread_t threads[];
};

/* The number of threads that one hook may use; INT_MAX if it is the only one. */
static int share(const struct pawl_courier *courier)
{
    int32_t others = -1;
    for (struct pw_hook *hook = pw_hooks_first(courier->hooks); hook != NULL; hook = pw_hook_next(hook))
        others += hook->deliver != NULL;
    if (others <= 0)
        return INT_MAX;
    return courier->wanted > others ? courier->wanted - others : 1;
}

/* ---- The lookout --------------------------------------------------------------------------------------------- */

/* Claims what is due.  Returns the time to wait before the next look.  If the store is in trouble, the next look
 * tries again. */
static int64_t look(struct pawl_courier *courier, struct pw_errand *errand)
{
    int64_t at_ms = INT64_MAX, now_ms = pawl_now_ms(courier->engine);
    pw_schema_look(&courier->engine->schema, courier->engine->store, pw_engine_monotonic_ms(courier->engine));
    pawl_status status = pw_errand_next_at(courier->engine, share(courier), &at_ms, NULL);
    if (status == PAWL_OK && at_ms <= now_ms)
        status = pw_errand_exchange(courier->engine, errand, share(courier), NULL);
    if (status != PAWL_OK || at_ms <= now_ms || at_ms - now_ms > PW_POLL_MS_DEFAULT)
        return PW_POLL_MS_DEFAULT;
    return at_ms - now_ms;
}

/* With the lock held, which it drops meanwhile.  Returns when a delivery was claimed or the courier stops. */
static void watch(struct pawl_courier *courier, struct pw_errand *errand)
{
    struct pw_hooks *hooks = courier->hooks;
    while (!courier->stopping && errand->hook == NULL) {
        int64_t kicks = hooks->kicks;
        pthread_mutex_unlock(&hooks->lock);
        int64_t wait_ms = look(courier, errand);
        pthread_mutex_lock(&hooks->lock);
        if (errand->hook == NULL && !courier->stopping && hooks->kicks == kicks)
            pw_cond_wait_ms(&hooks->changed, &hooks->lock, wait_ms);
    }
}

/* ---- Delivering ---------------------------------------------------------------------------------------------- */

/* Settles what was delivered, and claims more.  If hooks share the threads, only the lookout claims, because two
 * threads that claimed at once could exceed a hook's share.  While the store is in trouble, settling is tried again
 * as long as the lease lasts, because an unsettled delivery is made again. */
static void settle(struct pawl_courier *courier, struct pw_errand *errand)
{
    pthread_mutex_t *lock = &courier->hooks->lock;
    for (;;) {
        bool stopping = courier->stopping;
        int most = stopping || share(courier) != INT_MAX ? 0 : INT_MAX;
        if (pw_errand_exchange(courier->engine, errand, most, NULL) == PAWL_OK)
            return;
        if (stopping || pw_engine_monotonic_ms(courier->engine) >= errand->leased_until_ms) {
            pw_errand_clear(errand);
            return;
        }
        pthread_mutex_lock(lock);
        if (!courier->stopping)
            pw_cond_wait_ms(&courier->hooks->changed, lock, PW_POLL_MS_DEFAULT);
        pthread_mutex_unlock(lock);
    }
}

static void *run_courier(void *user)
{
    struct pawl_courier *courier = user;
    struct pw_hooks *hooks = courier->hooks;
    struct pw_errand errand = { .hook = NULL };
    pthread_mutex_lock(&hooks->lock);
    while (!courier->stopping) {
        if (courier->has_lookout) {
            pthread_cond_wait(&courier->free, &hooks->lock);
            continue;
        }
        courier->has_lookout = true;
        watch(courier, &errand);
        courier->has_lookout = false;
        pthread_cond_signal(&courier->free);
        pthread_mutex_unlock(&hooks->lock);
        while (errand.hook != NULL) {
            pw_errand_call(courier->engine, &errand);
            settle(courier, &errand);
        }
        pthread_mutex_lock(&hooks->lock);
        pthread_cond_broadcast(&hooks->changed); /* its hook may use a thread again */
    }
    pthread_mutex_unlock(&hooks->lock);
    pw_errand_clear(&errand);
    return NULL;
}

/* ---- Starting and stopping ----------------------------------------------------------------------------------- */

pawl_status pawl_courier_start(pawl_engine *engine, int32_t threads, pawl_courier **out_courier,
                               struct pawl_error *error)
{
    pawl_status status = pw_check_given(engine, "engine", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_courier, "out_courier", error);
    if (status != PAWL_OK)
        return status;
    if (threads < 0 || threads > THREADS_MAX)
        return pw_error(error, PAWL_INVALID, "a courier has 1 to %d threads, or 0 for %d; not %d", THREADS_MAX,
                        THREADS_DEFAULT, (int)threads);
    int32_t wanted = threads != 0 ? threads : THREADS_DEFAULT;
    struct pawl_courier *courier = calloc(1, sizeof *courier + (size_t)wanted * sizeof courier->threads[0]);
    if (courier == NULL || !pw_cond_init(&courier->free)) {
        free(courier);
        return pw_error_plain(error, PAWL_NOMEM);
    }
    courier->engine = engine;
    courier->hooks = &engine->hooks;
    courier->wanted = wanted;
    while (courier->thread_count < wanted) {
        if (pthread_create(&courier->threads[courier->thread_count], NULL, run_courier, courier) != 0) {
            pawl_courier_stop(courier);
            return pw_error(error, PAWL_NOMEM, "the system gives no more threads: %d wanted", (int)wanted);
        }
        courier->thread_count++;
    }
    *out_courier = courier;
    return PAWL_OK;
}

void pawl_courier_stop(pawl_courier *courier)
{
    if (courier == NULL)
        return;
    pthread_mutex_lock(&courier->hooks->lock);
    courier->stopping = true;
    pthread_cond_broadcast(&courier->free);
    pthread_cond_broadcast(&courier->hooks->changed);
    pthread_mutex_unlock(&courier->hooks->lock);
    for (int32_t i = 0; i < courier->thread_count; i++)
        (void)pthread_join(courier->threads[i], NULL);
    pthread_cond_destroy(&courier->free);
    free(courier);
}
