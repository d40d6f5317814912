/* trouble.c - members that do not answer (V5).
 *
 * A database that is gone is waited for before it is given up, for seconds.  If everybody did so each time, whoever looks
 * for work, and every thread that is asked about one of its instances, would keep the others' work waiting.  So from its
 * first failure on nobody does but a thread of ours: it tries until it is answered. */
#include "base/error.h"
#include "base/thread.h"
#include "store/several/several.h"

enum { PROBE_EVERY_MS = 1000 };

static bool is_trouble(pawl_status status)
{
    return status == PAWL_STORE_UNAVAILABLE || status == PAWL_BUSY;
}

/* A transaction that changes nothing but what anybody may change at any time. */
static void probe(struct pw_several *several, size_t home)
{
    struct pw_unit unit, *units[] = { &unit };
    struct pawl_error unused;
    struct pw_store *first = several->members[0].store;
    pw_unit_init(&unit);
    if (pw_unit_add(&unit, PW_OP_REAP) != NULL) {
        pawl_status status = pw_member_try(several, home, units, 1, first->ops->now_ms(first), &unused);
        (void)status; /* it was taken note of */
    }
    pw_unit_clear(&unit);
}

static void *probe_those_in_trouble(void *user)
{
    struct pw_several *several = user;
    (void)pthread_mutex_lock(&several->lock);
    while (!several->closing) {
        bool any = false;
        for (size_t home = 0; home < several->count; home++)
            any = any || !pw_member_is_well(several, home);
        if (any)
            pw_cond_wait_ms(&several->wake, &several->lock, PROBE_EVERY_MS);
        else
            (void)pthread_cond_wait(&several->wake, &several->lock);
        for (size_t home = 0; home < several->count && !several->closing; home++) {
            if (pw_member_is_well(several, home))
                continue;
            (void)pthread_mutex_unlock(&several->lock);
            probe(several, home);
            (void)pthread_mutex_lock(&several->lock);
        }
    }
    (void)pthread_mutex_unlock(&several->lock);
    return NULL;
}

/* Where there is no thread to be had the member is asked as before. */
pawl_status pw_member_note(struct pw_several *several, size_t home, pawl_status status, const struct pawl_error *error)
{
    struct pw_member *member = &several->members[home];
    if (atomic_load(&member->in_trouble) == is_trouble(status))
        return status;
    if (!is_trouble(status)) {
        atomic_store(&member->in_trouble, false);
        return status;
    }
    (void)pthread_mutex_lock(&several->lock);
    (void)pw_error_plain(&member->trouble, PAWL_STORE_UNAVAILABLE);
    if (error != NULL && error->text[0] != '\0')
        (void)pw_error(&member->trouble, PAWL_STORE_UNAVAILABLE, "%s", error->text);
    if (!several->has_prober && !several->closing)
        several->has_prober = pthread_create(&several->prober, NULL, probe_those_in_trouble, several) == 0;
    if (several->has_prober) {
        atomic_store(&member->in_trouble, true);
        (void)pthread_cond_signal(&several->wake);
    }
    (void)pthread_mutex_unlock(&several->lock);
    return status;
}

pawl_status pw_member_check(struct pw_several *several, size_t home, struct pawl_error *error)
{
    if (pw_member_is_well(several, home))
        return PAWL_OK;
    (void)pthread_mutex_lock(&several->lock);
    struct pawl_error trouble = several->members[home].trouble;
    (void)pthread_mutex_unlock(&several->lock);
    return pw_error(error, trouble.status, "%s", trouble.text);
}

void pw_several_stop_probing(struct pw_several *several)
{
    (void)pthread_mutex_lock(&several->lock);
    bool has_prober = several->has_prober;
    several->closing = true;
    (void)pthread_cond_signal(&several->wake);
    (void)pthread_mutex_unlock(&several->lock);
    if (has_prober)
        (void)pthread_join(several->prober, NULL);
}
