/* postgres.c - opens and closes the PostgreSQL store, and has its table of functions. */
#include "store/postgres/postgres.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "common/thread.h"
#include "store/postgres/errors.h"
#include "store/postgres/schema.h"

/* The clock runs on by itself.  Transactions, reads and heartbeats also ask the database for its time, which keeps
 * the clock from drifting. */
static int64_t now_ms(struct pw_store *store)
{
    return pw_pg_clock_now_ms(&((struct pw_postgres *)store)->clock);
}

/* With a test's own clock, transactions come one after the other. */
static size_t queues(struct pw_store *store)
{
    const struct pw_postgres *postgres = (const struct pw_postgres *)store;
    return pw_pg_clock_is_ours(&postgres->clock) ? 1 : postgres->url.lane_count + 1;
}

/* True for units that skip locked rows: claims, reaping and renewals, of runners and of external workers (owed.h). */
static bool waits_for_nobody(const struct pw_unit *unit)
{
    const struct pw_op *op = unit->first;
    while (op != NULL && (op->kind == PW_OP_CLAIM || op->kind == PW_OP_REAP || op->kind == PW_OP_RENEW))
        op = op->next;
    return op == NULL && unit->first != NULL;
}

/* The last queue is for units that wait for no lock.  In another queue a renewal could come too late, behind a long
 * transaction.  Claims share it, because they skip locked rows as well. */
static size_t queue_of(struct pw_store *store, const struct pw_unit *unit)
{
    const struct pw_postgres *postgres = (const struct pw_postgres *)store;
    size_t count = postgres->url.lane_count;
    if (pw_pg_clock_is_ours(&postgres->clock))
        return 0;
    return waits_for_nobody(unit) ? count : (size_t)(unit->about % count);
}

static void close_store(struct pw_store *store)
{
    struct pw_postgres *postgres = (struct pw_postgres *)store;
    pw_pg_presence_clear(&postgres->presence);
    pw_pg_owed_clear(&postgres->owed);
    pw_pg_close_idle(postgres);
    (void)pthread_cond_destroy(&postgres->given_back);
    (void)pthread_mutex_destroy(&postgres->lock);
    pw_pg_clock_clear(&postgres->clock);
    pw_arena_clear(&postgres->arena);
    free(postgres);
}

static const struct pw_store_ops postgres_ops = {
    .name = "postgres",
    .close = close_store,
    .now_ms = now_ms,
    .queues = queues,
    .is_remote = true,
    .queue_of = queue_of,
    .apply = pw_postgres_apply,
    .read = pw_postgres_read,
    .reads_runs = true,
    .announce = pw_postgres_announce,
    .withdraw = pw_postgres_withdraw,
    .is_heard = pw_postgres_is_heard,
    .describe = pw_postgres_describe,
    .listen = pw_postgres_listen,
    .probe = pw_postgres_probe,
};

static void make_token(char token[17])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[8];
    pw_system_random(NULL, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        token[2 * i] = digits[bytes[i] >> 4];
        token[2 * i + 1] = digits[bytes[i] & 15];
    }
    token[16] = '\0';
}

static bool init_locks(struct pw_postgres *postgres, struct pawl_clock clock)
{
    if (!pw_pg_clock_init(&postgres->clock, clock))
        return false;
    if (pthread_mutex_init(&postgres->lock, NULL) != 0)
        goto no_lock;
    if (!pw_cond_init(&postgres->given_back))
        goto no_cond;
    if (!pw_pg_presence_init(&postgres->presence))
        goto no_presence;
    if (!pw_pg_owed_init(&postgres->owed))
        goto no_owed;
    return true;
no_owed:
    pw_pg_presence_clear(&postgres->presence);
no_presence:
    (void)pthread_cond_destroy(&postgres->given_back);
no_cond:
    (void)pthread_mutex_destroy(&postgres->lock);
no_lock:
    pw_pg_clock_clear(&postgres->clock);
    return false;
}

/* Tries once.  *out_cure: what may help if it failed. */
static pawl_status prepare_once(struct pw_postgres *postgres, const struct pw_progress *progress, int64_t until_ms,
                                enum pw_pg_cure *out_cure, struct pawl_error *error)
{
    struct pw_pg_connection *connection = NULL;
    int64_t sent_us = 0;
    *out_cure = PW_PG_CURE_NONE; /* if no connection can be had, pw_pg_take() has tried long enough */
    pawl_status status = pw_pg_take(postgres, PW_PG_WRITER, until_ms, &connection, error);
    if (status != PAWL_OK)
        return status;
    status = pw_postgres_migrate(connection, progress, error);
    if (status == PAWL_OK)
        status = pw_postgres_read_relations(connection, &postgres->relations, error);
    if (status == PAWL_OK)
        status = pw_postgres_read_row_types(connection, postgres->row_types, error);
    if (status == PAWL_OK) {
        pw_pg_ask_time(postgres, connection, &sent_us);
        status = pw_pg_settle(connection, error);
    }
    *out_cure = pw_pg_cure_of(connection);
    pw_pg_give(postgres, connection);
    return status;
}

/* Tries until it succeeds or the time is over.  Whatever was done already stays done. */
static pawl_status prepare_database(struct pw_postgres *postgres, const struct pw_progress *progress,
                                    struct pawl_error *error)
{
    int64_t until_ms = pw_system_monotonic_ms() + postgres->url.busy_ms;
    enum pw_pg_cure cure = PW_PG_CURE_NONE;
    pawl_status status = prepare_once(postgres, progress, until_ms, &cure, error);
    for (int round = 0; status != PAWL_OK && cure != PW_PG_CURE_NONE && pw_system_monotonic_ms() < until_ms; round++) {
        pw_pg_pause(round);
        status = prepare_once(postgres, progress, until_ms, &cure, error);
    }
    return status;
}

pawl_status pw_postgres_open(const char *url, struct pawl_clock clock, struct pw_progress progress,
                             struct pw_store **out_store, struct pawl_error *error)
{
    struct pw_postgres *postgres = calloc(1, sizeof *postgres);
    if (postgres == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    postgres->store.ops = &postgres_ops;
    postgres->relations = (struct pw_rows){ .arena = &postgres->arena, .row_size = sizeof(int64_t) };
    make_token(postgres->token);
    pawl_status status = pw_postgres_url_parse(url, &postgres->arena, &postgres->url, error);
    if (status == PAWL_OK && !init_locks(postgres, clock))
        status = pw_error_plain(error, PAWL_NOMEM);
    if (status != PAWL_OK) {
        pw_arena_clear(&postgres->arena);
        free(postgres);
        return status;
    }
    status = prepare_database(postgres, &progress, error);
    if (status != PAWL_OK)
        close_store(&postgres->store);
    else
        *out_store = &postgres->store;
    return status;
}
