/* postgres.h - the PostgreSQL store: connections that write, one for each transaction at a time, connections that
 * read, and one that listens.
 *
 * A lost connection is opened again by the next caller that needs it, within busy_ms.  Only then is an error
 * reported. */
#ifndef PW_STORE_POSTGRES_POSTGRES_H
#define PW_STORE_POSTGRES_POSTGRES_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/postgres/clock.h"
#include "store/postgres/connection.h"
#include "store/postgres/owed.h"
#include "store/postgres/presence.h"
#include "base/rows.h"
#include "store/store.h"

struct pw_postgres {
    struct pw_store store;
    struct pw_arena arena; /* for the URL, and for the members up to the lock */
    struct pw_postgres_url url;
    struct pw_rows relations; /* int64_t: what the user's code may not touch, see schema.h */
    int64_t row_types[PW_PG_ROW_TYPE_COUNT];
    char token[17]; /* names this store in its notifications */
    struct pw_pg_clock clock;
    struct pw_pg_presence presence;
    struct pw_pg_owed owed;

    _Atomic int64_t away_since_ms; /* since when readers cannot connect, by the monotonic clock; 0: they can */
    _Atomic int64_t probe_at_ms;   /* when the next reader may try, once the server is known to be away */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t given_back;
    struct pw_pg_connection *idle[PW_PG_ROLE_COUNT];
    size_t counts[PW_PG_ROLE_COUNT];
    int64_t trimmed_at_ms[PW_PG_ROLE_COUNT]; /* when idle connections were last checked for closing */
};

/* Takes a connection and opens it if need be.  Waits while all are in use.  It must be given back. */
pawl_status pw_pg_take(struct pw_postgres *postgres, enum pw_pg_role role, int64_t until_ms,
                       struct pw_pg_connection **out_connection, struct pawl_error *error) PAWL_MUST_CHECK;
/* Gives a connection back.  Recovers it first if something failed. */
void pw_pg_give(struct pw_postgres *postgres, struct pw_pg_connection *connection);
void pw_pg_close_idle(struct pw_postgres *postgres);

/* Sends one statement that reads, on any reader.  Tries again within busy_ms if the connection is lost. */
pawl_status pw_pg_read(struct pw_postgres *postgres, const struct pw_call *call, pw_pg_take_fn *take, void *user,
                       struct pawl_error *error) PAWL_MUST_CHECK;
/* The same for several statements in one round trip. */
struct pw_pg_question {
    const struct pw_call *call;
    pw_pg_take_fn *take;
    void *user;
};
pawl_status pw_pg_read_all(struct pw_postgres *postgres, const struct pw_pg_question *questions, size_t count,
                           struct pawl_error *error) PAWL_MUST_CHECK;
/* The same for statements that write and may be repeated, on a writer, in a transaction of their own, for at most
 * patience_ms. */
pawl_status pw_pg_write_all(struct pw_postgres *postgres, const struct pw_pg_question *questions, size_t count,
                            int64_t patience_ms, struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_pg_write(struct pw_postgres *postgres, const struct pw_call *call, int64_t patience_ms,
                        pw_pg_take_fn *take, void *user, struct pawl_error *error) PAWL_MUST_CHECK;

/* Sends a question for the time.  The answer corrects the clock. */
void pw_pg_ask_time(struct pw_postgres *postgres, struct pw_pg_connection *connection, int64_t *sent_us);

/* The store's functions, see store.h. */
pawl_status pw_postgres_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error);
pawl_status pw_postgres_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                             struct pw_found *out_found, struct pawl_error *error);
pawl_status pw_postgres_announce(struct pw_store *store, int64_t owner, struct pawl_error *error);
void pw_postgres_withdraw(struct pw_store *store, int64_t owner);
bool pw_postgres_is_heard(struct pw_store *store, int64_t owner, int64_t since_ms);
pawl_status pw_postgres_describe(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error);
pawl_status pw_postgres_probe(struct pw_store *store, struct pawl_error *error);
void pw_postgres_listen(struct pw_store *store, void (*due)(void *user), void *user);

#endif
