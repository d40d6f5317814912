/* presence.c - one thread per store sends the heartbeats of all announced runners and listens for notifications; see
 * presence.h.
 *
 * A runner without a heartbeat for PW_PG_DEAD_MS is dead to others.  Two rules keep that safe.  A runner whose own
 * heartbeats were late must assume that others have ended its leases (is_heard).  A process whose own heartbeats
 * were interrupted must not take others for dead, because they may have been cut off together with it (can_tell). */
#include "store/postgres/presence.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres/errors.h"
#include "store/postgres/fields.h"
#include "store/postgres/postgres.h"

/* A runner that was cut off no longer than we were, up to GAP_MS, is heard again before it is taken for dead,
 * although its last heartbeat may have been BEAT_MS earlier. */
enum {
    BEAT_MS = 3000,
    GAP_MS = 5000,
    HEARD_MS = PW_PG_DEAD_MS - PW_PG_DEAD_MS / 3,
    OPEN_AGAIN_MS = 500,
    WITHDRAWING_MS = 1000,
    DESCRIBING_MS = 1000,
    PROBING_MS = 1000
};

/* ---- Announced runners --------------------------------------------------------------------------------------- */

bool pw_pg_presence_init(struct pw_pg_presence *presence)
{
    *presence = (struct pw_pg_presence){ .wake = { -1, -1 } };
    if (pipe(presence->wake) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        (void)fcntl(presence->wake[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(presence->wake[i], F_SETFL, O_NONBLOCK);
    }
    pthread_mutex_t *const locks[] = { &presence->coming, &presence->lock, &presence->due_lock };
    int made = 0;
    while (made < 3 && pthread_mutex_init(locks[made], NULL) == 0)
        made++;
    if (made == 3)
        return true;
    while (made > 0)
        (void)pthread_mutex_destroy(locks[--made]);
    (void)close(presence->wake[0]);
    (void)close(presence->wake[1]);
    return false;
}

static void wake_thread(struct pw_pg_presence *presence)
{
    char byte = 0;
    ssize_t written = write(presence->wake[1], &byte, 1); /* a full pipe wakes it as well */
    (void)written;
}

static void end_thread(struct pw_pg_presence *presence)
{
    (void)pthread_mutex_lock(&presence->lock);
    bool has_thread = presence->has_thread;
    presence->stopping = true;
    presence->has_thread = false;
    (void)pthread_mutex_unlock(&presence->lock);
    if (!has_thread)
        return;
    wake_thread(presence);
    (void)pthread_join(presence->thread, NULL);
}

void pw_pg_presence_clear(struct pw_pg_presence *presence)
{
    end_thread(presence);
    (void)close(presence->wake[0]);
    (void)close(presence->wake[1]);
    free(presence->owners);
    (void)pthread_mutex_destroy(&presence->due_lock);
    (void)pthread_mutex_destroy(&presence->lock);
    (void)pthread_mutex_destroy(&presence->coming);
}

void pw_pg_presence_put_owners(struct pw_pg_presence *presence, struct pw_columns *columns)
{
    (void)pthread_mutex_lock(&presence->lock);
    for (size_t i = 0; i < presence->owner_count; i++)
        pw_columns_row(columns, PW_VALUES(pw_int(presence->owners[i].number)));
    (void)pthread_mutex_unlock(&presence->lock);
}

static size_t place_of(const struct pw_pg_presence *presence, int64_t owner)
{
    size_t place = 0;
    while (place < presence->owner_count && presence->owners[place].number != owner)
        place++;
    return place;
}

/* The announced owner; number 0: it is not announced here. */
static struct pw_pg_owner owner_of(struct pw_pg_presence *presence, int64_t owner)
{
    struct pw_pg_owner found = { .number = 0 };
    (void)pthread_mutex_lock(&presence->lock);
    size_t place = place_of(presence, owner);
    if (place < presence->owner_count)
        found = presence->owners[place];
    (void)pthread_mutex_unlock(&presence->lock);
    return found;
}

bool pw_pg_presence_has(struct pw_pg_presence *presence, int64_t owner)
{
    return owner_of(presence, owner).number != 0;
}

bool pw_pg_presence_is_heard(struct pw_pg_presence *presence, int64_t owner, int64_t now_ms)
{
    struct pw_pg_owner found = owner_of(presence, owner);
    return found.number != 0 && now_ms - found.heard_at_ms <= HEARD_MS;
}

bool pw_pg_presence_is_steady(struct pw_pg_presence *presence, int64_t owner, int64_t since_ms)
{
    struct pw_pg_owner found = owner_of(presence, owner);
    return found.number != 0 && found.steady_since_ms <= since_ms;
}

/* To others, a heartbeat counts from when it was sent until the next one arrives, which is before its answer.  After
 * a longer gap they may have ended this runner's leases, however soon it is heard again. */
void pw_pg_presence_note_heard(struct pw_pg_presence *presence, int64_t owner, int64_t sent_at_ms, int64_t now_ms)
{
    (void)pthread_mutex_lock(&presence->lock);
    for (size_t i = 0; i < presence->owner_count; i++) {
        struct pw_pg_owner *one = &presence->owners[i];
        if ((owner != PW_PG_EVERYBODY && one->number != owner) || one->heard_at_ms >= sent_at_ms)
            continue;
        if (now_ms - one->heard_at_ms > HEARD_MS)
            one->steady_since_ms = now_ms;
        one->heard_at_ms = sent_at_ms;
    }
    (void)pthread_mutex_unlock(&presence->lock);
}

bool pw_postgres_is_heard(struct pw_store *store, int64_t owner, int64_t since_ms)
{
    struct pw_postgres *postgres = (struct pw_postgres *)store;
    return pw_pg_clock_is_ours(&postgres->clock) || /* a test's own clock has no heartbeat thread */
           (pw_pg_presence_is_heard(&postgres->presence, owner, pw_system_monotonic_ms()) &&
            pw_pg_presence_is_steady(&postgres->presence, owner, since_ms));
}

void pw_pg_presence_note_beat(struct pw_pg_presence *presence, int64_t now_ms)
{
    (void)pthread_mutex_lock(&presence->lock);
    if (presence->beaten_at_ms == 0 || now_ms - presence->beaten_at_ms > GAP_MS)
        presence->beating_since_ms = now_ms;
    presence->beaten_at_ms = now_ms;
    (void)pthread_mutex_unlock(&presence->lock);
}

bool pw_pg_presence_can_tell(struct pw_pg_presence *presence, int64_t now_ms)
{
    (void)pthread_mutex_lock(&presence->lock);
    bool can_tell = presence->beaten_at_ms != 0 && now_ms - presence->beaten_at_ms <= GAP_MS &&
                    now_ms - presence->beating_since_ms >= PW_PG_DEAD_MS;
    (void)pthread_mutex_unlock(&presence->lock);
    return can_tell;
}

static bool add_owner(struct pw_pg_presence *presence, int64_t owner, int64_t heard_at_ms)
{
    (void)pthread_mutex_lock(&presence->lock);
    struct pw_pg_owner *owners = realloc(presence->owners, (presence->owner_count + 1) * sizeof *owners);
    if (owners != NULL) {
        presence->owners = owners;
        owners[presence->owner_count++] = (struct pw_pg_owner){ owner, heard_at_ms, heard_at_ms };
    }
    (void)pthread_mutex_unlock(&presence->lock);
    return owners != NULL;
}

/* Returns how many are left. */
static size_t remove_owner(struct pw_pg_presence *presence, int64_t owner)
{
    (void)pthread_mutex_lock(&presence->lock);
    size_t place = place_of(presence, owner);
    if (place < presence->owner_count)
        presence->owners[place] = presence->owners[--presence->owner_count];
    size_t left = presence->owner_count;
    (void)pthread_mutex_unlock(&presence->lock);
    return left;
}

/* ---- The thread ---------------------------------------------------------------------------------------------- */

static void tell_due(struct pw_pg_presence *presence)
{
    (void)pthread_mutex_lock(&presence->due_lock);
    if (presence->due != NULL)
        presence->due(presence->due_user);
    (void)pthread_mutex_unlock(&presence->due_lock);
}

/* True if another store has announced due work.  Our own runner knows of ours already. */
static bool fetch_notices(struct pw_postgres *postgres, PGconn *db)
{
    bool heard = false;
    for (PGnotify *notice = PQnotifies(db); notice != NULL; notice = PQnotifies(db)) {
        heard = heard || strcmp(notice->extra, postgres->token) != 0;
        PQfreemem(notice);
    }
    return heard;
}

/* After a reconnect `due` is called, because notifications may have been missed. */
static bool open_listener(struct pw_postgres *postgres, struct pw_pg_connection *connection)
{
    bool hopeless;
    if (pw_pg_open(connection, &postgres->url, PW_PG_LISTENER, &hopeless, NULL) != PAWL_OK)
        return false;
    pw_pg_send_simple(connection, PW_PG_LISTEN);
    if (pw_pg_settle(connection, NULL) == PAWL_OK) {
        tell_due(&postgres->presence);
        return true;
    }
    pw_pg_close(connection);
    return false;
}

void pw_pg_send_beat(struct pw_pg_connection *connection, struct pw_columns *owners, int64_t now_ms)
{
    struct pw_call call;
    pw_call_init(&call, PW_PG_RUNNER_BEAT, PW_NO_VALUES);
    pw_call_columns(&call, owners);
    pw_call_add(&call, PW_VALUES(pw_int(now_ms)));
    pw_pg_send(connection, &call, NULL, NULL);
}

/* False: it was not answered in time, and the connection is closed. */
static bool beat(struct pw_postgres *postgres, struct pw_pg_connection *connection)
{
    struct pw_arena arena = { 0 };
    struct pw_columns owners = { .arena = &arena };
    int64_t sent_us = 0, sent_at_ms = pw_system_monotonic_ms();
    pw_pg_presence_put_owners(&postgres->presence, &owners);
    if (owners.rows > 0)
        pw_pg_send_beat(connection, &owners, pw_pg_clock_now_ms(&postgres->clock));
    pw_pg_ask_time(postgres, connection, &sent_us);
    bool answered = pw_pg_finish(connection, pw_system_monotonic_ms() + BEAT_MS);
    if (answered) {
        int64_t now_ms = pw_system_monotonic_ms();
        pw_pg_presence_note_heard(&postgres->presence, PW_PG_EVERYBODY, sent_at_ms, now_ms);
        pw_pg_presence_note_beat(&postgres->presence, now_ms); /* last, because a test waits for it */
    } else
        pw_pg_close(connection);
    pw_arena_clear(&arena);
    return answered;
}

/* Sleeps until a notification comes, somebody wakes the thread, or the time is over. */
static void sleep_at(struct pw_pg_presence *presence, struct pw_pg_connection *connection, int64_t ms)
{
    char bytes[64];
    struct pollfd waiting[2] = { { .fd = presence->wake[0], .events = POLLIN } };
    nfds_t count = 1;
    if (connection->db != NULL)
        waiting[count++] = (struct pollfd){ .fd = PQsocket(connection->db), .events = POLLIN };
    (void)poll(waiting, count, ms > 0 ? (int)ms : 0);
    while (read(presence->wake[0], bytes, sizeof bytes) > 0)
        continue;
    if (count > 1 && waiting[1].revents != 0 &&
        (PQconsumeInput(connection->db) != 1 || PQstatus(connection->db) != CONNECTION_OK))
        pw_pg_close(connection);
}

static void *listener_main(void *user)
{
    struct pw_postgres *postgres = user;
    struct pw_pg_presence *presence = &postgres->presence;
    struct pw_pg_connection connection = { .db = NULL };
    int64_t beat_at_ms = 0, now_ms;
    for (;;) {
        (void)pthread_mutex_lock(&presence->lock);
        bool stopping = presence->stopping;
        (void)pthread_mutex_unlock(&presence->lock);
        if (stopping)
            break;
        if (connection.db == NULL && !open_listener(postgres, &connection)) {
            sleep_at(presence, &connection, OPEN_AGAIN_MS);
            continue;
        }
        now_ms = pw_system_monotonic_ms();
        if (now_ms >= beat_at_ms)
            beat_at_ms = beat(postgres, &connection) ? now_ms + BEAT_MS : 0;
        if (connection.db != NULL && fetch_notices(postgres, connection.db))
            tell_due(presence);
        if (connection.db != NULL)
            sleep_at(presence, &connection, beat_at_ms - pw_system_monotonic_ms());
    }
    pw_pg_close(&connection);
    return NULL;
}

/* False when the system refuses.  With a test's clock there is no thread. */
static bool start_thread(struct pw_postgres *postgres)
{
    struct pw_pg_presence *presence = &postgres->presence;
    bool fine = true;
    (void)pthread_mutex_lock(&presence->lock);
    if (!presence->has_thread && !pw_pg_clock_is_ours(&postgres->clock)) {
        presence->stopping = false;
        fine = pthread_create(&presence->thread, NULL, listener_main, postgres) == 0;
        presence->has_thread = fine;
    }
    (void)pthread_mutex_unlock(&presence->lock);
    return fine;
}

/* ---- The store's functions ------------------------------------------------------------------------------------- */

pawl_status pw_postgres_announce(struct pw_store *store, int64_t owner, struct pawl_error *error)
{
    struct pw_postgres *postgres = (struct pw_postgres *)store;
    struct pw_call call;
    struct pw_numbers announced = { .is_found = false };
    int64_t sent_at_ms = pw_system_monotonic_ms();
    pw_call_init(&call, PW_PG_RUNNER_ANNOUNCE, PW_VALUES(pw_int(owner), pw_int(pw_pg_clock_now_ms(&postgres->clock))));
    pawl_status status = pw_pg_write(postgres, &call, postgres->url.busy_ms, pw_numbers_take, &announced, error);
    if (status != PAWL_OK)
        return status;
    if (!announced.is_found)
        return pw_error(error, PAWL_STORE_UNAVAILABLE, "%s: cannot announce a runner there: another one has its number",
                        postgres->url.label);
    (void)pthread_mutex_lock(&postgres->presence.coming);
    bool fine = add_owner(&postgres->presence, owner, sent_at_ms) && start_thread(postgres);
    (void)pthread_mutex_unlock(&postgres->presence.coming);
    if (fine)
        return PAWL_OK;
    pw_postgres_withdraw(store, owner);
    return pw_error(error, PAWL_NOMEM, "the system refuses the store a thread to listen with");
}

void pw_postgres_withdraw(struct pw_store *store, int64_t owner)
{
    struct pw_postgres *postgres = (struct pw_postgres *)store;
    struct pw_call call;
    (void)pthread_mutex_lock(&postgres->presence.coming);
    if (remove_owner(&postgres->presence, owner) == 0)
        end_thread(&postgres->presence);
    (void)pthread_mutex_unlock(&postgres->presence.coming);
    pw_call_init(&call, PW_PG_RUNNER_WITHDRAW, PW_VALUES(pw_int(owner)));
    pawl_status status = pw_pg_write(postgres, &call, WITHDRAWING_MS, NULL, NULL, NULL);
    (void)status; /* if it fails, its missing heartbeats tell the others soon enough */
}

/* A failure is harmless: the runner describes itself again soon. */
pawl_status pw_postgres_describe(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error)
{
    struct pw_postgres *postgres = (struct pw_postgres *)store;
    struct pw_call call;
    pw_call_init(&call, PW_PG_RUNNER_DESCRIBE,
                 PW_VALUES(pw_int(runner->owner), pw_int(runner->started_at_ms),
                           pw_int(pw_pg_clock_now_ms(&postgres->clock)), pw_int(runner->is_sharing),
                           pw_str(runner->name), pw_str(runner->workflows)));
    return pw_pg_write(postgres, &call, DESCRIBING_MS, NULL, NULL, error);
}

/* Writes a row and deletes it in the same transaction.  No runner has the number 0. */
pawl_status pw_postgres_probe(struct pw_store *store, struct pawl_error *error)
{
    struct pw_call write, forget;
    pw_call_init(&write, PW_PG_PROBE_WRITE, PW_NO_VALUES);
    pw_call_init(&forget, PW_PG_PROBE_FORGET, PW_NO_VALUES);
    const struct pw_pg_question questions[] = { { .call = &write }, { .call = &forget } };
    return pw_pg_write_all((struct pw_postgres *)store, questions, 2, PROBING_MS, error);
}

void pw_postgres_listen(struct pw_store *store, void (*due)(void *user), void *user)
{
    struct pw_pg_presence *presence = &((struct pw_postgres *)store)->presence;
    (void)pthread_mutex_lock(&presence->due_lock);
    presence->due = due;
    presence->due_user = user;
    (void)pthread_mutex_unlock(&presence->due_lock);
}
