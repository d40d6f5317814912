/* server_reader.c - see server_reader.h. */
#include "http/server_reader.h"

#include <stdlib.h>

#include "http/server.h"

/* The functions up to end() need the lock. */
static void put_last(struct pw_readers *readers, struct pw_reading *reading)
{
    reading->previous = readers->last;
    reading->next = NULL;
    *(readers->last != NULL ? &readers->last->next : &readers->first) = reading;
    readers->last = reading;
    readers->waiting++;
    reading->stage = PW_READING_WAITS;
}

static void take_out(struct pw_readers *readers, struct pw_reading *reading)
{
    *(reading->previous != NULL ? &reading->previous->next : &readers->first) = reading->next;
    *(reading->next != NULL ? &reading->next->previous : &readers->last) = reading->previous;
    readers->waiting--;
}

/* The reading may be freed as soon as the lock is released. */
static void end(struct pw_reading *reading)
{
    reading->stage = PW_READING_OVER;
    reading->done(reading);
}

static void *read_all(void *user)
{
    struct pw_readers *readers = user;
    (void)pthread_mutex_lock(&readers->lock);
    while (!readers->is_stopping) {
        struct pw_reading *reading = readers->first;
        if (reading == NULL) {
            (void)pthread_cond_wait(&readers->changed, &readers->lock);
            continue;
        }
        take_out(readers, reading);
        reading->stage = PW_READING_IS_CARRIED;
        (void)pthread_mutex_unlock(&readers->lock);
        reading->carry(reading->call);
        (void)pthread_mutex_lock(&readers->lock);
        end(reading);
    }
    (void)pthread_mutex_unlock(&readers->lock);
    return NULL;
}

pawl_status pw_readers_start(struct pw_readers *readers, int count, struct pawl_error *error)
{
    char text[128];
    readers->threads = calloc((size_t)count, sizeof readers->threads[0]);
    if (readers->threads == NULL)
        return pw_server_error(error, PAWL_NOMEM, "out of memory");
    for (; readers->count < count; readers->count++) {
        int failure = pthread_create(&readers->threads[readers->count], NULL, read_all, readers);
        if (failure != 0)
            return pw_server_error(error, PAWL_FAILED, "cannot start a thread: %s",
                                   pw_system_text(failure, text, sizeof text));
    }
    return PAWL_OK;
}

void pw_readers_stop(struct pw_readers *readers)
{
    (void)pthread_mutex_lock(&readers->lock);
    readers->is_stopping = true;
    while (readers->first != NULL) {
        struct pw_reading *reading = readers->first;
        take_out(readers, reading);
        end(reading);
    }
    (void)pthread_cond_broadcast(&readers->changed);
    (void)pthread_mutex_unlock(&readers->lock);
    for (int i = 0; i < readers->count; i++)
        (void)pthread_join(readers->threads[i], NULL);
    readers->count = 0;
    free(readers->threads);
    readers->threads = NULL;
}

bool pw_readers_hand_over(struct pw_readers *readers, struct pw_reading *reading)
{
    (void)pthread_mutex_lock(&readers->lock);
    bool is_taken = !readers->is_stopping && readers->waiting < PW_READINGS_MAX;
    if (is_taken) {
        put_last(readers, reading);
        (void)pthread_cond_signal(&readers->changed);
    }
    (void)pthread_mutex_unlock(&readers->lock);
    return is_taken;
}

bool pw_readers_have(struct pw_readers *readers, struct pw_reading *reading)
{
    (void)pthread_mutex_lock(&readers->lock);
    bool have = reading->stage != PW_READING_OVER;
    (void)pthread_mutex_unlock(&readers->lock);
    return have;
}

bool pw_readers_take_back(struct pw_readers *readers, struct pw_reading *reading)
{
    (void)pthread_mutex_lock(&readers->lock);
    bool waits = reading->stage == PW_READING_WAITS;
    if (waits) {
        take_out(readers, reading);
        reading->stage = PW_READING_OVER;
    }
    (void)pthread_mutex_unlock(&readers->lock);
    return waits;
}
