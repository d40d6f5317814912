/* sqlite.c - opens and closes the SQLite store, and has its table of functions. */
#include "store/sqlite/sqlite.h"

#include <stdlib.h>

#include "base/error.h"
#include "store/sqlite/query.h"
#include "store/sqlite/schema.h"

static int64_t now_ms(struct pw_store *store)
{
    const struct pw_sqlite *sqlite = (const struct pw_sqlite *)store;
    return sqlite->clock.now_ms(sqlite->clock.user);
}

int64_t pw_sqlite_monotonic_ms(const struct pw_sqlite *sqlite)
{
    return sqlite->clock.monotonic_ms(sqlite->clock.user);
}

/* If the file was replaced, the write-ahead log that stays beside the new file would be taken for the new file's by
 * the next process that opens it.  So the log is emptied into the file that it belongs to.  We have both open, so
 * nothing is looked up by name here.  Nobody is waited for, because whoever keeps the file busy has the same file
 * open and will do the same. */
static void empty_log_of_lost_file(struct pw_sqlite *sqlite)
{
    if (pw_sqlite_file_check(&sqlite->file, NULL) == PAWL_OK)
        return;
    (void)sqlite3_busy_handler(sqlite->writer.db, NULL, NULL);
    (void)sqlite3_wal_checkpoint_v2(sqlite->writer.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

/* The writer is closed last, because the last connection copies the write-ahead log into the file. */
static void close_store(struct pw_store *store)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    pw_sqlite_close_readers(sqlite);
    empty_log_of_lost_file(sqlite);
    pw_sqlite_close(&sqlite->writer);
    pw_presence_clear(&sqlite->presence);
    pw_sightings_clear(&sqlite->sightings);
    pw_hot_clear(&sqlite->hot);
    (void)pthread_cond_destroy(&sqlite->given_back);
    (void)pthread_mutex_destroy(&sqlite->lock);
    pw_arena_clear(&sqlite->arena);
    free(sqlite);
}

static const struct pw_store_ops sqlite_ops = {
    .name = "sqlite",
    .close = close_store,
    .now_ms = now_ms,
    .apply = pw_sqlite_apply,
    .read = pw_sqlite_read,
    .announce = pw_sqlite_announce,
    .withdraw = pw_sqlite_withdraw,
    .describe = pw_sqlite_describe,
    .probe = pw_sqlite_probe,
};

/* ---- Opening ------------------------------------------------------------------------------------------------- */

/* The remembered path has no symbolic links, so every process finds the same runners file beside it. */
static pawl_status open_rest(struct pw_sqlite *sqlite, const struct pw_progress *progress, struct pawl_error *error)
{
    pawl_status status = pw_sqlite_migrate(&sqlite->writer, progress, error);
    if (status != PAWL_OK)
        return status;
    if (!sqlite->url.in_memory)
        status = pw_sqlite_file_remember(&sqlite->file, sqlite->writer.db, &sqlite->arena, error);
    if (status != PAWL_OK)
        return status;
    sqlite->writer.file = &sqlite->file;
    if (!pw_presence_init(&sqlite->presence, sqlite->file.path, sqlite->file.mode))
        return pw_error_plain(error, PAWL_NOMEM);
    int made = 0;
    made += pw_sightings_init(&sqlite->sightings);
    made += made == 1 && pthread_mutex_init(&sqlite->lock, NULL) == 0;
    made += made == 2 && pthread_cond_init(&sqlite->given_back, NULL) == 0;
    if (made == 3) {
        pw_hot_init(&sqlite->hot);
        return PAWL_OK;
    }
    if (made > 1)
        (void)pthread_mutex_destroy(&sqlite->lock);
    if (made > 0)
        pw_sightings_clear(&sqlite->sightings);
    pw_presence_clear(&sqlite->presence);
    return pw_error_plain(error, PAWL_NOMEM);
}

pawl_status pw_sqlite_open(const char *url, struct pawl_clock clock, struct pw_progress progress,
                           struct pw_store **out_store, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = calloc(1, sizeof *sqlite);
    if (sqlite == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    sqlite->store.ops = &sqlite_ops;
    sqlite->clock = clock;

    pawl_status status = pw_sqlite_url_parse(url, &sqlite->arena, &sqlite->url, error);
    if (status == PAWL_OK)
        status = pw_sqlite_open_writer(&sqlite->writer, &sqlite->url, NULL, error);
    if (status == PAWL_OK)
        status = open_rest(sqlite, &progress, error);
    if (status != PAWL_OK) {
        pw_sqlite_close(&sqlite->writer);
        pw_arena_clear(&sqlite->arena);
        free(sqlite);
        return status;
    }
    *out_store = &sqlite->store;
    return PAWL_OK;
}
