/* sqlite.h - the SQLite store: one connection that writes, and a few that read.
 *
 * A file is written by one connection and read by others (write-ahead log), so reads never wait for a commit.  A
 * database in memory belongs to one connection, which all threads share under the pool's lock. */
#ifndef PW_STORE_SQLITE_SQLITE_H
#define PW_STORE_SQLITE_SQLITE_H

#include <pthread.h>

#include "store/sqlite/connection.h"
#include "store/sqlite/hot.h"
#include "store/sqlite/presence.h"
#include "store/sqlite/sightings.h"
#include "store/store.h"

enum { PW_SQLITE_READERS_MAX = 16, PW_SQLITE_IDLE_MS_MAX = 60000 };

struct pw_sqlite {
    struct pw_store store;
    struct pawl_clock clock;
    struct pw_arena arena; /* for the URL and the file's name */
    struct pw_sqlite_url url;
    struct pw_sqlite_connection writer;
    struct pw_hot hot; /* used with the writer */
    struct pw_presence presence;
    struct pw_sightings sightings;
    struct pw_sqlite_file file; /* the file that the writer has open */

    pthread_mutex_t lock; /* guards what follows; in memory also the writer */
    pthread_cond_t given_back;
    struct pw_sqlite_connection *idle[PW_SQLITE_READERS_MAX];
    size_t idle_count, reader_count;
};

/* Takes a reader.  Waits while all are in use.  It must be given back. */
pawl_status pw_sqlite_take_reader(struct pw_sqlite *sqlite, struct pw_sqlite_connection **out_connection,
                                  struct pawl_error *error) PAWL_MUST_CHECK;
void pw_sqlite_give_reader(struct pw_sqlite *sqlite, struct pw_sqlite_connection *connection);

/* Only one thread applies at a time.  In memory it shares the connection with readers. */
struct pw_sqlite_connection *pw_sqlite_take_writer(struct pw_sqlite *sqlite);
void pw_sqlite_give_writer(struct pw_sqlite *sqlite);

void pw_sqlite_close_readers(struct pw_sqlite *sqlite);

/* runners.c.  True only if it is certain. */
bool pw_sqlite_is_dead(struct pw_sqlite *sqlite, int64_t owner);
/* True if the runner may live.  Then its expired lease may be taken only after it was seen for long enough
 * (sightings.h). */
bool pw_sqlite_may_live(struct pw_sqlite *sqlite, int64_t owner);
int64_t pw_sqlite_monotonic_ms(const struct pw_sqlite *sqlite);
/* Deletes the rows of dead runners. */
pawl_status pw_sqlite_forget_runners(struct pw_sqlite *sqlite, struct pw_sqlite_connection *connection,
                                     struct pw_arena *arena, struct pawl_error *error) PAWL_MUST_CHECK;

/* The store's functions, see store.h. */
pawl_status pw_sqlite_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error);
pawl_status pw_sqlite_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                           struct pw_found *out_found, struct pawl_error *error);
pawl_status pw_sqlite_announce(struct pw_store *store, int64_t owner, struct pawl_error *error);
void pw_sqlite_withdraw(struct pw_store *store, int64_t owner);
pawl_status pw_sqlite_describe(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error);
pawl_status pw_sqlite_probe(struct pw_store *store, struct pawl_error *error);

#endif
