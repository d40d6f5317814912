/* watch.c - watches an instance for changes, and waits for its end. */
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "common/thread.h"
#include "service/check.h"
#include "service/inspect.h"
#include "service/rows.h"

pawl_status pawl_watch_open(pawl_engine *engine, const char *workflow, const char *id, void (*changed)(void *user),
                            void *user, pawl_watch **out_watch, struct pawl_error *error)
{
    struct pw_definition *definition;
    struct pw_instance row;
    struct pw_arena arena = { 0 };
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK && changed == NULL)
        status = pw_error(error, PAWL_INVALID, "the function to call is missing");
    if (status == PAWL_OK)
        status = pw_check_given(out_watch, "out_watch", error);
    if (status == PAWL_OK)
        status = pw_rows_read(engine, &arena, definition->name, pw_text_of(id), &row, error);
    pw_arena_clear(&arena);
    if (status != PAWL_OK)
        return status;
    pawl_watch *watch = pw_watch_add(&engine->watches, row.key, changed, user);
    if (watch == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    *out_watch = watch;
    return PAWL_OK;
}

/* A thread that waits for changes. */
struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_told;
};

static void tell_waiter(void *user)
{
    struct waiter *waiter = user;
    pthread_mutex_lock(&waiter->lock);
    waiter->is_told = true;
    pthread_cond_signal(&waiter->wake);
    pthread_mutex_unlock(&waiter->lock);
}

static void waiter_wait(struct waiter *waiter, int64_t ms)
{
    pthread_mutex_lock(&waiter->lock);
    if (!waiter->is_told)
        pw_cond_wait_ms(&waiter->wake, &waiter->lock, ms < PW_LOOK_AGAIN_MS ? ms : PW_LOOK_AGAIN_MS);
    waiter->is_told = false;
    pthread_mutex_unlock(&waiter->lock);
}

/* Reads the instance until it has finished or the timeout has passed. */
static pawl_status wait_for_end(pawl_engine *engine, struct waiter *waiter, struct pw_text workflow, struct pw_text id,
                                int64_t timeout_ms, struct pawl_error *error)
{
    int64_t begun_ms = pw_system_monotonic_ms();
    for (;;) {
        struct pw_arena arena = { 0 };
        struct pw_instance row;
        pawl_status status = pw_rows_read(engine, &arena, workflow, id, &row, error);
        pw_arena_clear(&arena);
        int64_t passed_ms = pw_system_monotonic_ms() - begun_ms;
        if (status != PAWL_OK || !row.has_task || passed_ms >= timeout_ms)
            return status;
        waiter_wait(waiter, timeout_ms - passed_ms);
    }
}

pawl_status pawl_wait(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id, int64_t timeout_ms,
                      struct pawl_instance *out_instance, struct pawl_error *error)
{
    struct waiter waiter = { .is_told = false };
    pawl_watch *watch = NULL;
    PAWL_TRY(pw_check_answer(scope, out_instance, "out_instance", error));
    if (timeout_ms < 0)
        return pw_error(error, PAWL_INVALID, "a timeout is 0 ms or more, not %lld", (long long)timeout_ms);
    if (pthread_mutex_init(&waiter.lock, NULL) != 0)
        return pw_error_plain(error, PAWL_NOMEM);
    if (!pw_cond_init(&waiter.wake)) {
        (void)pthread_mutex_destroy(&waiter.lock);
        return pw_error_plain(error, PAWL_NOMEM);
    }
    pawl_status status = pawl_watch_open(engine, workflow, id, tell_waiter, &waiter, &watch, error);
    if (status == PAWL_OK)
        status = wait_for_end(engine, &waiter, pw_text_of(workflow), pw_text_of(id), timeout_ms, error);
    pawl_watch_close(watch);
    (void)pthread_cond_destroy(&waiter.wake);
    (void)pthread_mutex_destroy(&waiter.lock);
    if (status == PAWL_OK)
        status = pw_inspect_instance(engine, scope, pw_text_of(workflow), pw_text_of(id), false, out_instance, error);
    return status;
}
