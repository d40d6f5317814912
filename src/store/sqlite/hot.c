/* hot.c - see hot.h.  Each task has one place, chosen by its key.  A later task takes the place over. */
#include "store/sqlite/hot.h"

#include <stdlib.h>

enum { PLACES = 1024 };

static struct pw_hot_task *place_of(const struct pw_hot *hot, int64_t key)
{
    return &hot->places[(uint64_t)key % PLACES];
}

/* The data version, or 0 if it is unknown, which never equals the remembered one. */
static unsigned data_version(sqlite3 *db)
{
    unsigned version = 0;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_DATA_VERSION, &version) == SQLITE_OK ? version : 0;
}

static void forget(struct pw_hot *hot)
{
    hot->last_key = -1;
    hot->version = 0;
    if (hot->places != NULL)
        memset(hot->places, 0, PLACES * sizeof *hot->places);
}

void pw_hot_init(struct pw_hot *hot)
{
    *hot = (struct pw_hot){ .places = calloc(PLACES, sizeof *hot->places), .last_key = -1 };
}

void pw_hot_clear(struct pw_hot *hot)
{
    free(hot->places);
    hot->places = NULL;
}

void pw_hot_begin(struct pw_hot *hot, sqlite3 *db)
{
    unsigned version = data_version(db);
    if (version == 0 || version != hot->version)
        forget(hot);
}

bool pw_hot_load(const struct pw_hot *hot, struct pw_core_run *run)
{
    const struct pw_hot_task *kept = hot->places != NULL ? place_of(hot, run->key) : NULL;
    if (kept == NULL || kept->key != run->key)
        return false;
    run->has_task = run->is_stored = true;
    run->run = kept->run;
    run->task = run->stored = kept->task;
    return true;
}

bool pw_hot_load_tail(const struct pw_hot *hot, struct pw_core_tail *tail)
{
    const struct pw_hot_task *kept = hot->places != NULL ? place_of(hot, tail->place[0]) : NULL;
    if (kept == NULL || kept->key != tail->place[0] || kept->run != tail->place[1] || !kept->has_tail)
        return false;
    tail->seq = kept->tail_seq;
    tail->created_at_ms = kept->tail_created_at_ms;
    return true;
}

/* What is known of the log's end stays valid while the run is the same. */
static void keep_run(struct pw_hot *hot, const struct pw_core_run *run)
{
    struct pw_hot_task *place = place_of(hot, run->key);
    bool is_same = place->key == run->key && place->run == run->run;
    if (!run->has_task) {
        if (place->key == run->key)
            place->key = 0;
        return;
    }
    if (!is_same)
        *place = (struct pw_hot_task){ .key = run->key, .run = run->run };
    place->task = run->task;
}

static void keep_tail(struct pw_hot *hot, const struct pw_core_tail *tail)
{
    struct pw_hot_task *place = place_of(hot, tail->place[0]);
    if (place->key != tail->place[0] || place->run != tail->place[1])
        return;
    place->has_tail = true;
    place->tail_seq = tail->seq;
    place->tail_created_at_ms = tail->created_at_ms;
}

void pw_hot_keep(struct pw_hot *hot, sqlite3 *db, const struct pw_core *core)
{
    struct pw_core_run *const *runs = core->runs.list.rows;
    struct pw_core_tail *const *tails = core->tails.list.rows;
    const int64_t *keys = core->keys.rows;
    hot->version = data_version(db);
    if (core->keys.count > 0)
        hot->last_key = keys[0] - 1 + (int64_t)core->keys_used;
    for (size_t i = 0; i < core->runs.list.count && hot->places != NULL; i++)
        keep_run(hot, runs[i]);
    for (size_t i = 0; i < core->tails.list.count && hot->places != NULL; i++)
        keep_tail(hot, tails[i]);
}
