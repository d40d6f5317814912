/* pool.c - the pool of connections; see postgres.h.
 *
 * The connection that was given back last is taken first, so those that are needed only at peaks sink to the bottom
 * of the list.  There they are closed after a while, because each costs memory here and a process of the server. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "common/thread.h"
#include "store/postgres/errors.h"
#include "store/postgres/fields.h"
#include "store/postgres/postgres.h"
#include "store/postgres/receipt.h"

enum { READER_PATIENCE_MS = 3000, PROBE_EVERY_MS = 500, PROBING_MS_MAX = 10000, TRIM_EVERY_MS = 1000 };

/* ---- Taking and giving --------------------------------------------------------------------------------------- */

static size_t most_of(const struct pw_postgres *postgres, enum pw_pg_role role)
{
    return role == PW_PG_READER ? postgres->url.pool_max : PW_POSTGRES_LANES_MAX + 2;
}

/* An idle connection, or a new one that is not open yet.  NULL: all stayed in use. */
static struct pw_pg_connection *take_one(struct pw_postgres *postgres, enum pw_pg_role role, int64_t until_ms,
                                         bool *out_no_memory)
{
    struct pw_pg_connection *connection = NULL;
    int64_t left_ms;
    *out_no_memory = false;
    (void)pthread_mutex_lock(&postgres->lock);
    while (postgres->idle[role] == NULL && postgres->counts[role] >= most_of(postgres, role) &&
           (left_ms = until_ms - pw_system_monotonic_ms()) > 0)
        pw_cond_wait_ms(&postgres->given_back, &postgres->lock, left_ms);
    if (postgres->idle[role] != NULL) {
        connection = postgres->idle[role];
        postgres->idle[role] = connection->next;
    } else if (postgres->counts[role] < most_of(postgres, role)) {
        connection = calloc(1, sizeof *connection);
        *out_no_memory = connection == NULL;
        if (connection != NULL)
            postgres->counts[role]++;
    }
    (void)pthread_mutex_unlock(&postgres->lock);
    return connection;
}

static void close_one(struct pw_pg_connection *connection)
{
    pw_pg_receipt_close(connection);
    pw_pg_close(connection);
    free(connection);
}

/* Removes the connection that has been idle longest, if it has been idle long enough.  Otherwise NULL. */
static struct pw_pg_connection *take_stale(struct pw_postgres *postgres, enum pw_pg_role role, int64_t now_ms)
{
    struct pw_pg_connection **place = &postgres->idle[role];
    if (now_ms - postgres->trimmed_at_ms[role] < TRIM_EVERY_MS) /* the list can be long */
        return NULL;
    postgres->trimmed_at_ms[role] = now_ms;
    while ((*place)->next != NULL)
        place = &(*place)->next;
    struct pw_pg_connection *oldest = *place;
    if (now_ms - oldest->idle_since_ms < PW_PG_IDLE_MS_MAX)
        return NULL;
    *place = NULL;
    postgres->counts[role]--;
    return oldest;
}

static void put_back(struct pw_postgres *postgres, enum pw_pg_role role, struct pw_pg_connection *connection)
{
    connection->idle_since_ms = pw_system_monotonic_ms();
    (void)pthread_mutex_lock(&postgres->lock);
    connection->next = postgres->idle[role];
    postgres->idle[role] = connection;
    struct pw_pg_connection *stale = take_stale(postgres, role, connection->idle_since_ms);
    (void)pthread_cond_broadcast(&postgres->given_back);
    (void)pthread_mutex_unlock(&postgres->lock);
    if (stale != NULL)
        close_one(stale);
}

/* Many may wait for the thread that reads.  So readers wait less long than commits.  Once the server is known to be
 * away, readers fail at once, except one now and then that tries. */
static pawl_status open_reader(struct pw_postgres *postgres, struct pw_pg_connection *connection, int64_t until_ms,
                               struct pawl_error *error)
{
    bool hopeless;
    int64_t now_ms = pw_system_monotonic_ms(), none = 0;
    int64_t since_ms = atomic_load(&postgres->away_since_ms), probe_at_ms = atomic_load(&postgres->probe_at_ms);
    int64_t patient_until_ms = (since_ms != 0 ? since_ms : now_ms) + READER_PATIENCE_MS;
    pawl_status status;
    if (now_ms < patient_until_ms) {
        status = pw_pg_open_until(connection, &postgres->url, PW_PG_READER,
                                  until_ms < patient_until_ms ? until_ms : patient_until_ms, error);
    } else if (now_ms >= probe_at_ms &&
               atomic_compare_exchange_strong(&postgres->probe_at_ms, &probe_at_ms, now_ms + PROBING_MS_MAX)) {
        status = pw_pg_open(connection, &postgres->url, PW_PG_READER, &hopeless, error);
        atomic_store(&postgres->probe_at_ms, pw_system_monotonic_ms() + PROBE_EVERY_MS);
    } else {
        return pw_error(error, PAWL_STORE_UNAVAILABLE, "%s: has not answered for %lld s; it is tried again and again",
                        postgres->url.label, (long long)(now_ms - since_ms) / 1000);
    }
    if (status == PAWL_OK)
        atomic_store(&postgres->away_since_ms, 0);
    else
        (void)atomic_compare_exchange_strong(&postgres->away_since_ms, &none, now_ms);
    return status;
}

pawl_status pw_pg_take(struct pw_postgres *postgres, enum pw_pg_role role, int64_t until_ms,
                       struct pw_pg_connection **out_connection, struct pawl_error *error)
{
    bool no_memory;
    struct pw_pg_connection *connection = take_one(postgres, role, until_ms, &no_memory);
    if (no_memory)
        return pw_error_plain(error, PAWL_NOMEM);
    if (connection == NULL)
        return pw_error(error, PAWL_STORE_UNAVAILABLE,
                        "%s: all %zu connections were in use for %lld ms; give pawl_pool=<more>", postgres->url.label,
                        most_of(postgres, role), (long long)postgres->url.busy_ms);
    pawl_status status = PAWL_OK;
    if (!pw_pg_is_usable(connection)) {
        pw_pg_close(connection);
        status = role == PW_PG_READER ? open_reader(postgres, connection, until_ms, error)
                                      : pw_pg_open_until(connection, &postgres->url, role, until_ms, error);
    }
    if (status != PAWL_OK)
        put_back(postgres, role, connection);
    else
        *out_connection = connection;
    return status;
}

void pw_pg_give(struct pw_postgres *postgres, struct pw_pg_connection *connection)
{
    enum pw_pg_role role = connection->role;
    if (connection->failure.failed || connection->failure.lost)
        (void)pw_pg_recover(connection);
    put_back(postgres, role, connection);
}

void pw_pg_close_idle(struct pw_postgres *postgres)
{
    for (int role = 0; role < PW_PG_ROLE_COUNT; role++) {
        while (postgres->idle[role] != NULL) {
            struct pw_pg_connection *connection = postgres->idle[role];
            postgres->idle[role] = connection->next;
            close_one(connection);
        }
    }
}

/* ---- One statement ------------------------------------------------------------------------------------------- */

static bool take_time(void *user, void *of, struct pw_fields *fields)
{
    struct pw_postgres *postgres = user;
    const int64_t *sent_us = of;
    pw_pg_clock_correct(&postgres->clock, *sent_us, pw_system_monotonic_us(), pw_field_integer(fields));
    return true;
}

void pw_pg_ask_time(struct pw_postgres *postgres, struct pw_pg_connection *connection, int64_t *sent_us)
{
    struct pw_call call;
    if (pw_pg_clock_is_ours(&postgres->clock))
        return;
    pw_call_init(&call, PW_PG_CLOCK, PW_NO_VALUES);
    *sent_us = pw_system_monotonic_us();
    pw_pg_ask(connection, &call, take_time, NULL, postgres, sent_us);
}

static pawl_status ask_all(struct pw_postgres *postgres, enum pw_pg_role role, int64_t patience_ms,
                           const struct pw_pg_question *questions, size_t count, bool asks_time,
                           struct pawl_error *error)
{
    int64_t until_ms = pw_system_monotonic_ms() + patience_ms, sent_us = 0;
    for (int round = 0;; round++) {
        struct pw_pg_connection *connection = NULL;
        pawl_status status = pw_pg_take(postgres, role, until_ms, &connection, error);
        if (status != PAWL_OK)
            return status;
        if (asks_time)
            pw_pg_ask_time(postgres, connection, &sent_us);
        for (size_t i = 0; i < count; i++)
            pw_pg_send(connection, questions[i].call, questions[i].take, questions[i].user);
        status = pw_pg_settle(connection, error);
        enum pw_pg_cure cure = pw_pg_cure_of(connection);
        pw_pg_give(postgres, connection);
        if (cure == PW_PG_CURE_NONE || pw_system_monotonic_ms() >= until_ms)
            return status;
        pw_pg_pause(round);
    }
}

/* If nobody has asked for long, the statement also asks for the time.  So code that only wants to know the time
 * never waits. */
static pawl_status run_alone(struct pw_postgres *postgres, enum pw_pg_role role, int64_t patience_ms,
                             const struct pw_pg_question *questions, size_t count, struct pawl_error *error)
{
    bool asks_time = pw_pg_clock_wants_reading(&postgres->clock);
    pawl_status status = ask_all(postgres, role, patience_ms, questions, count, asks_time, error);
    if (asks_time)
        pw_pg_clock_was_read(&postgres->clock);
    return status;
}

pawl_status pw_pg_read_all(struct pw_postgres *postgres, const struct pw_pg_question *questions, size_t count,
                           struct pawl_error *error)
{
    return run_alone(postgres, PW_PG_READER, postgres->url.busy_ms, questions, count, error);
}

pawl_status pw_pg_read(struct pw_postgres *postgres, const struct pw_call *call, pw_pg_take_fn *take, void *user,
                       struct pawl_error *error)
{
    struct pw_pg_question question = { .call = call, .take = take, .user = user };
    return pw_pg_read_all(postgres, &question, 1, error);
}

pawl_status pw_pg_write_all(struct pw_postgres *postgres, const struct pw_pg_question *questions, size_t count,
                            int64_t patience_ms, struct pawl_error *error)
{
    return run_alone(postgres, PW_PG_WRITER, patience_ms, questions, count, error);
}

pawl_status pw_pg_write(struct pw_postgres *postgres, const struct pw_call *call, int64_t patience_ms,
                        pw_pg_take_fn *take, void *user, struct pawl_error *error)
{
    struct pw_pg_question question = { .call = call, .take = take, .user = user };
    return pw_pg_write_all(postgres, &question, 1, patience_ms, error);
}
