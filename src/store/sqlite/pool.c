/* pool.c - the pool of connections; see sqlite.h.
 *
 * The reader that was given back last is taken first, so those that are needed only at peaks sink to the bottom.
 * There they are closed after a while, because each costs descriptors and memory. */
#include <stdlib.h>

#include "base/error.h"
#include "store/sqlite/sqlite.h"

static pawl_status open_another(struct pw_sqlite *sqlite, struct pw_sqlite_connection **out_connection,
                                struct pawl_error *error)
{
    struct pw_sqlite_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    pawl_status status = pw_sqlite_open_reader(connection, &sqlite->url, &sqlite->file, error);
    if (status != PAWL_OK)
        free(connection);
    else
        *out_connection = connection;
    return status;
}

pawl_status pw_sqlite_take_reader(struct pw_sqlite *sqlite, struct pw_sqlite_connection **out_connection,
                                  struct pawl_error *error)
{
    (void)pthread_mutex_lock(&sqlite->lock);
    if (sqlite->url.in_memory) { /* the lock is held until it is given back */
        *out_connection = &sqlite->writer;
        return PAWL_OK;
    }
    while (sqlite->idle_count == 0 && sqlite->reader_count == PW_SQLITE_READERS_MAX)
        (void)pthread_cond_wait(&sqlite->given_back, &sqlite->lock);
    if (sqlite->idle_count > 0) {
        *out_connection = sqlite->idle[--sqlite->idle_count];
        (void)pthread_mutex_unlock(&sqlite->lock);
        return PAWL_OK;
    }
    sqlite->reader_count++;
    (void)pthread_mutex_unlock(&sqlite->lock);

    pawl_status status = open_another(sqlite, out_connection, error);
    if (status != PAWL_OK) {
        (void)pthread_mutex_lock(&sqlite->lock);
        sqlite->reader_count--;
        (void)pthread_cond_signal(&sqlite->given_back);
        (void)pthread_mutex_unlock(&sqlite->lock);
    }
    return status;
}

static void close_reader(struct pw_sqlite_connection *connection)
{
    if (connection != NULL)
        pw_sqlite_close(connection);
    free(connection);
}

/* Removes the reader that has been idle longest, if it has been idle long enough.  Otherwise NULL. */
static struct pw_sqlite_connection *take_stale(struct pw_sqlite *sqlite, int64_t now_ms)
{
    struct pw_sqlite_connection *oldest = sqlite->idle[0];
    if (now_ms - oldest->idle_since_ms < PW_SQLITE_IDLE_MS_MAX)
        return NULL;
    sqlite->idle_count--;
    sqlite->reader_count--;
    for (size_t i = 0; i < sqlite->idle_count; i++)
        sqlite->idle[i] = sqlite->idle[i + 1];
    return oldest;
}

void pw_sqlite_give_reader(struct pw_sqlite *sqlite, struct pw_sqlite_connection *connection)
{
    struct pw_sqlite_connection *stale = NULL;
    if (!sqlite->url.in_memory) {
        connection->idle_since_ms = pw_sqlite_monotonic_ms(sqlite);
        (void)pthread_mutex_lock(&sqlite->lock);
        sqlite->idle[sqlite->idle_count++] = connection;
        stale = take_stale(sqlite, connection->idle_since_ms);
        (void)pthread_cond_signal(&sqlite->given_back);
    }
    (void)pthread_mutex_unlock(&sqlite->lock);
    close_reader(stale);
}

struct pw_sqlite_connection *pw_sqlite_take_writer(struct pw_sqlite *sqlite)
{
    if (sqlite->url.in_memory)
        (void)pthread_mutex_lock(&sqlite->lock);
    return &sqlite->writer;
}

void pw_sqlite_give_writer(struct pw_sqlite *sqlite)
{
    if (sqlite->url.in_memory)
        (void)pthread_mutex_unlock(&sqlite->lock);
}

void pw_sqlite_close_readers(struct pw_sqlite *sqlite)
{
    while (sqlite->idle_count > 0)
        close_reader(sqlite->idle[--sqlite->idle_count]);
}
