/* writable.c - see writable.h. */
#include "engine/writable.h"

#include "base/error.h"
#include "engine/engine.h"

enum { FRESH_MS = 10000, PROBE_EVERY_MS = 1000 };

/* True if the store itself is in trouble.  Other failures are caused by what was to be written. */
static bool is_of_store(pawl_status status)
{
    return status == PAWL_BUSY || status == PAWL_STORE_UNAVAILABLE || status == PAWL_STORE_FULL ||
           status == PAWL_STORE_READ_ONLY || status == PAWL_STORE_CORRUPT || status == PAWL_STORE_TOO_NEW;
}

/* With the lock held. */
static void fail(struct pw_writable *writable, pawl_status status, const char *text)
{
    (void)pw_error(&writable->failure, status == PAWL_BUSY ? PAWL_STORE_UNAVAILABLE : status, "%s", text);
    atomic_store(&writable->is_failing, true);
}

void pw_writable_note(struct pw_writable *writable, struct pw_unit **units, size_t count, pawl_status whole,
                      int64_t now_ms)
{
    size_t writing = 0;
    /* Only units with effects have written something.  An idle runner also commits when it looks for work, but
     * writes nothing. */
    while (whole == PAWL_OK && writing < count &&
           (units[writing]->status != PAWL_OK || units[writing]->effects == NULL))
        writing++;
    if (whole == PAWL_OK && writing < count) {
        atomic_store(&writable->written_at_ms, now_ms);
        atomic_store(&writable->is_failing, false);
    } else if (is_of_store(whole)) {
        (void)pthread_mutex_lock(&writable->lock);
        fail(writable, whole, pawl_status_text(whole));
        (void)pthread_mutex_unlock(&writable->lock);
    }
}

/* With the lock held: true if a probe would tell something new and it is time for one. */
static bool wants_probe(const struct pw_writable *writable, int64_t now_ms)
{
    int64_t written_at_ms = atomic_load(&writable->written_at_ms);
    if (writable->is_probing || (writable->probed_at_ms != 0 && now_ms - writable->probed_at_ms < PROBE_EVERY_MS))
        return false;
    if (atomic_load(&writable->is_failing))
        return true;
    int64_t known_at_ms = written_at_ms > writable->probed_at_ms ? written_at_ms : writable->probed_at_ms;
    return known_at_ms == 0 || now_ms - known_at_ms >= FRESH_MS;
}

pawl_status pw_writable_check(struct pw_writable *writable, struct pw_store *store, int64_t now_ms,
                              struct pawl_error *error)
{
    struct pawl_error why = { PAWL_OK, "" };
    pawl_status status = PAWL_OK;
    (void)pthread_mutex_lock(&writable->lock);
    if (wants_probe(writable, now_ms)) {
        writable->is_probing = true;
        (void)pthread_mutex_unlock(&writable->lock);
        if (pw_ops(store)->probe != NULL)
            status = pw_ops(store)->probe(store, &why);
        (void)pthread_mutex_lock(&writable->lock);
        writable->is_probing = false;
        writable->probed_at_ms = now_ms;
        if (status == PAWL_OK)
            atomic_store(&writable->is_failing, false);
        else if (status != PAWL_BUSY) /* a busy store tells nothing new, so the last result still holds */
            fail(writable, status, why.text[0] != '\0' ? why.text : pawl_status_text(status));
    }
    struct pawl_error failure = writable->failure;
    bool is_failing = atomic_load(&writable->is_failing);
    (void)pthread_mutex_unlock(&writable->lock);
    return is_failing ? pw_error(error, failure.status, "%s", failure.text) : PAWL_OK;
}

pawl_status pawl_check_writable(pawl_engine *engine, struct pawl_error *error)
{
    if (engine == NULL)
        return pw_error(error, PAWL_INVALID, "the engine is missing (NULL)");
    return pw_writable_check(&engine->writable, engine->store, pw_engine_monotonic_ms(engine), error);
}
