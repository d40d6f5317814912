/* sightings.c - keeps sightings in an array sorted by instance; see sightings.h. */
#include "store/sqlite/sightings.h"

#include <stdlib.h>
#include <string.h>

/* Without rounds, rows of leases that are gone would stay.  At this many rows all are forgotten, and leases are seen
 * anew.  A round sees only existing leases, so it forgets none of them, however many, and nor does a look before the
 * next round. */
enum { SIGHTINGS_MAX = 65536, SIGHTINGS_FIRST = 64 };

bool pw_sightings_init(struct pw_sightings *sightings)
{
    *sightings = (struct pw_sightings){ .rows = NULL };
    return pthread_mutex_init(&sightings->lock, NULL) == 0;
}

void pw_sightings_clear(struct pw_sightings *sightings)
{
    free(sightings->rows);
    (void)pthread_mutex_destroy(&sightings->lock);
}

/* Call these with the lock held.  The position of the instance, or where it would be. */
static size_t place_of(const struct pw_sightings *sightings, int64_t instance)
{
    size_t first = 0, end = sightings->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (sightings->rows[middle].held.instance < instance)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static struct pw_sighting *find(const struct pw_sightings *sightings, int64_t instance)
{
    size_t place = place_of(sightings, instance);
    bool found = place < sightings->count && sightings->rows[place].held.instance == instance;
    return found ? &sightings->rows[place] : NULL;
}

static bool is_same(const struct pw_held *one, const struct pw_held *other)
{
    return one->owner == other->owner && one->run == other->run && one->epoch == other->epoch &&
           one->locked_until_ms == other->locked_until_ms;
}

/* Inserts a row.  NULL when memory is out. */
static struct pw_sighting *insert(struct pw_sightings *sightings, int64_t instance)
{
    if (!sightings->in_round && sightings->count >= SIGHTINGS_MAX && sightings->count >= 2 * sightings->seen_last)
        sightings->count = 0;
    if (sightings->count == sightings->capacity) {
        size_t capacity = sightings->capacity > 0 ? 2 * sightings->capacity : SIGHTINGS_FIRST;
        struct pw_sighting *rows = realloc(sightings->rows, capacity * sizeof *rows);
        if (rows == NULL)
            return NULL;
        sightings->rows = rows;
        sightings->capacity = capacity;
    }
    size_t place = place_of(sightings, instance);
    memmove(&sightings->rows[place + 1], &sightings->rows[place], (sightings->count - place) * sizeof *sightings->rows);
    sightings->count++;
    return &sightings->rows[place];
}

static int64_t wait_of(const struct pw_sighting *row, int64_t lease_ms, int64_t monotonic_ms)
{
    int64_t needed_ms = row->left_ms > lease_ms ? row->left_ms : lease_ms;
    int64_t wait_ms = row->since_ms + needed_ms - monotonic_ms;
    return wait_ms > 0 ? wait_ms : 0;
}

int64_t pw_sightings_see(struct pw_sightings *sightings, const struct pw_held *held, int64_t lease_ms,
                         struct pw_moment now)
{
    int64_t wait_ms = lease_ms;
    (void)pthread_mutex_lock(&sightings->lock);
    struct pw_sighting *row = find(sightings, held->instance);
    if (row == NULL || !is_same(&row->held, held)) {
        if (row == NULL)
            row = insert(sightings, held->instance);
        if (row != NULL)
            *row = (struct pw_sighting){ .held = *held,
                                         .since_ms = now.monotonic_ms,
                                         .left_ms = held->locked_until_ms - now.wall_ms };
    }
    if (row != NULL) {
        row->is_current = true;
        if (lease_ms != 0)
            row->lease_ms = lease_ms;
        wait_ms = wait_of(row, lease_ms, now.monotonic_ms);
    }
    (void)pthread_mutex_unlock(&sightings->lock);
    return wait_ms;
}

int64_t pw_sightings_wait_ms(struct pw_sightings *sightings, const struct pw_held *held, int64_t monotonic_ms)
{
    int64_t wait_ms = 0;
    (void)pthread_mutex_lock(&sightings->lock);
    const struct pw_sighting *row = find(sightings, held->instance);
    if (row != NULL && is_same(&row->held, held) && row->lease_ms != 0)
        wait_ms = wait_of(row, row->lease_ms, monotonic_ms);
    (void)pthread_mutex_unlock(&sightings->lock);
    return wait_ms;
}

void pw_sightings_begin_round(struct pw_sightings *sightings)
{
    (void)pthread_mutex_lock(&sightings->lock);
    sightings->in_round = true;
    for (size_t i = 0; i < sightings->count; i++)
        sightings->rows[i].is_current = false;
    (void)pthread_mutex_unlock(&sightings->lock);
}

void pw_sightings_end_round(struct pw_sightings *sightings)
{
    size_t kept = 0;
    (void)pthread_mutex_lock(&sightings->lock);
    for (size_t i = 0; i < sightings->count; i++)
        if (sightings->rows[i].is_current)
            sightings->rows[kept++] = sightings->rows[i];
    sightings->count = sightings->seen_last = kept;
    sightings->in_round = false;
    (void)pthread_mutex_unlock(&sightings->lock);
}
