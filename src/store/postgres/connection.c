/* connection.c - see connection.h.
 *
 * The socket is non-blocking: libpq keeps what it cannot send yet, and we wait with poll(), which has a timeout.  So
 * neither a server that reads slowly nor one that is gone can block us, and a long pipeline cannot deadlock the two
 * sides. */
#include "store/postgres/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres/errors.h"

enum {
    REPLIES_MIN = 32,
    PAUSE_MS_MIN = 2,
    PAUSE_MS_MAX = 250,
    CONNECT_MS_MAX = 5000,
    PATIENCE_MS = 5000,  /* added to busy_ms, for statements that work and do not wait */
    UNSYNCED_MAX = 4096, /* libpq sends by itself once it has more than 8192 bytes */
    FRAME_SIZE = 256,    /* of a statement without its parameters, roughly at most */
};

static const struct pw_statement queries[PW_STATEMENTS_MAX] = { PW_POSTGRES_QUERIES(PG_STATEMENT) };

const struct pw_statement *pw_pg_query(unsigned number)
{
    static const struct pw_statement *const files[] = { queries, pw_pg_queries_of_read, pw_pg_queries_of_read_numbers };
    return &files[number / PW_STATEMENTS_MAX][number % PW_STATEMENTS_MAX];
}

/* Our statements are written for one plan each: by index, and without a sort if the index has the order. */
static const char session_plans[] = "SET client_min_messages TO warning;"
                                    "SET default_transaction_isolation TO 'read committed';"
                                    "SET plan_cache_mode TO force_generic_plan;"
                                    "SET jit TO off;"
                                    "SET max_parallel_workers_per_gather TO 0;"
                                    "SET enable_seqscan TO off;"
                                    "SET enable_bitmapscan TO off;"
                                    "SET enable_sort TO off;"
                                    "SET enable_hashjoin TO off;"
                                    "SET enable_mergejoin TO off";

static int64_t statement_ms(const struct pw_postgres_url *url)
{
    return 3 * url->busy_ms + PATIENCE_MS;
}

int64_t pw_pg_answer_ms(const struct pw_postgres_url *url)
{
    return statement_ms(url) + PATIENCE_MS;
}

void pw_pg_pause(int round)
{
    uint16_t chance = 0;
    pw_system_random(NULL, &chance, sizeof chance);
    long pause_ms = round < 7 ? PAUSE_MS_MIN << round : PAUSE_MS_MAX;
    if (pause_ms > PAUSE_MS_MAX)
        pause_ms = PAUSE_MS_MAX;
    pause_ms =
        pause_ms / 2 + chance % pause_ms; /* random, so that two transactions that collided do not collide again */
    struct timespec pause = { .tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000 };
    (void)nanosleep(&pause, NULL);
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

static void ignore_notice(void *unused, const PGresult *notice)
{
    (void)unused;
    (void)notice;
}

/* Waits until it is open, has failed, or the time is over. */
static void wait_until_open(PGconn *db, int64_t until_ms)
{
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
        int64_t wait_ms = until_ms - pw_system_monotonic_ms();
        struct pollfd waiting = { .fd = PQsocket(db), .events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT };
        if (waiting.fd < 0 || wait_ms <= 0 || (poll(&waiting, 1, (int)wait_ms) < 0 && errno != EINTR))
            return;
        state = PQconnectPoll(db);
    }
}

/* Settings in the URL win over those listed before "dbname".  Those listed after it win over the URL.  To try
 * several hosts, each with a limit, libpq has to wait itself.  For a single host we wait, and can install the notice
 * receiver first. */
static PGconn *connect_once(const struct pw_postgres_url *url)
{
    enum { FIXED = 8 };
    const char *names[FIXED + PW_STORE_SECRETS_MAX + 1] = {
        "fallback_application_name", "connect_timeout",  "keepalives_idle", "keepalives_interval",
        "keepalives_count",          "tcp_user_timeout", "dbname",          "client_encoding"
    };
    const char *values[FIXED + PW_STORE_SECRETS_MAX + 1] = { "pawl",          "5",   "10", "5", "4", "30000",
                                                             url->connection, "UTF8" };
    memcpy(names + FIXED, url->secret_keys, sizeof url->secret_keys);
    memcpy(values + FIXED, url->secrets, sizeof url->secrets);
    PGconn *db = url->has_one_host ? PQconnectStartParams(names, values, 1) : PQconnectdbParams(names, values, 1);
    if (db == NULL)
        return NULL;
    (void)PQsetNoticeReceiver(db, ignore_notice, NULL);
    if (url->has_one_host && PQstatus(db) != CONNECTION_BAD)
        wait_until_open(db, pw_system_monotonic_ms() + CONNECT_MS_MAX);
    return db;
}

bool pw_pg_enter_pipeline(struct pw_pg_connection *connection)
{
    if (PQsetnonblocking(connection->db, 1) == 0 && PQenterPipelineMode(connection->db) == 1)
        return true;
    pw_pg_note_lost(connection, NULL);
    return false;
}

bool pw_pg_leave_pipeline(struct pw_pg_connection *connection)
{
    if (PQexitPipelineMode(connection->db) == 1 && PQsetnonblocking(connection->db, 0) == 0)
        return true;
    pw_pg_note_lost(connection, NULL);
    return false;
}

static void send_settings(struct pw_pg_connection *connection, enum pw_pg_query name)
{
    const struct pw_postgres_url *url = connection->url;
    pw_pg_send_values(connection, name,
                      PW_VALUES(pw_int(url->busy_ms > 0 ? url->busy_ms : 1), pw_int(statement_ms(url)),
                                pw_str(pw_text_of(url->schema))));
}

static bool set_up(struct pw_pg_connection *connection)
{
    if (connection->url->is_pooled)
        return pw_pg_enter_pipeline(connection);
    PGresult *result = PQexec(connection->db, session_plans);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        pw_pg_note_result(&connection->failure, result);
    PQclear(result);
    if (connection->failure.failed)
        return false;
    if (!pw_pg_enter_pipeline(connection))
        return false;
    send_settings(connection, PW_PG_SESSION_SETTINGS);
    return pw_pg_finish(connection, pw_system_monotonic_ms() + pw_pg_answer_ms(connection->url));
}

pawl_status pw_pg_open(struct pw_pg_connection *connection, const struct pw_postgres_url *url, enum pw_pg_role role,
                       bool *out_hopeless, struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    *connection = (struct pw_pg_connection){ .url = url, .role = role };
    *out_hopeless = false;
    connection->db = connect_once(url);
    if (connection->db == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    const char *encoding = PQparameterStatus(connection->db, "server_encoding");
    if (PQstatus(connection->db) != CONNECTION_OK) {
        bool is_late = PQstatus(connection->db) != CONNECTION_BAD;
        *out_hopeless = pw_pg_is_hopeless(PQerrorMessage(connection->db));
        pw_pg_note_lost(connection, is_late ? "the server does not answer" : NULL);
        status = pw_pg_error(connection, error);
    } else if (encoding == NULL || strcmp(encoding, "UTF8") != 0) {
        *out_hopeless = true;
        status = pw_error(error, PAWL_STORE_UNAVAILABLE, "%s: its encoding is %s; create the database with UTF8",
                          url->label, encoding != NULL ? encoding : "not known");
    } else if (!set_up(connection)) {
        status = pw_pg_error(connection, error);
    }
    if (status != PAWL_OK)
        pw_pg_close(connection);
    return status;
}

pawl_status pw_pg_open_until(struct pw_pg_connection *connection, const struct pw_postgres_url *url,
                             enum pw_pg_role role, int64_t until_ms, struct pawl_error *error)
{
    bool hopeless = false;
    pawl_status status = pw_pg_open(connection, url, role, &hopeless, error);
    for (int round = 0; status != PAWL_OK && !hopeless && pw_system_monotonic_ms() < until_ms; round++) {
        pw_pg_pause(round);
        status = pw_pg_open(connection, url, role, &hopeless, error);
    }
    return status;
}

void pw_pg_close(struct pw_pg_connection *connection)
{
    PQfinish(connection->db); /* NULL is fine */
    free(connection->replies);
    connection->db = NULL;
    connection->replies = NULL;
    connection->reply_first = connection->reply_count = connection->reply_capacity = 0;
    connection->has_begun = false;
}

bool pw_pg_is_usable(struct pw_pg_connection *connection)
{
    if (connection->db == NULL || PQstatus(connection->db) != CONNECTION_OK)
        return false;
    struct pollfd waiting = { .fd = PQsocket(connection->db), .events = POLLIN };
    if (poll(&waiting, 1, 0) <= 0)
        return true;
    /* Unexpected data: a notice, or the message that the server closes the connection. */
    return PQconsumeInput(connection->db) == 1 && PQstatus(connection->db) == CONNECTION_OK &&
           poll(&waiting, 1, 0) <= 0;
}

/* ---- Sending ------------------------------------------------------------------------------------------------- */

static void push_reply(struct pw_pg_connection *connection, struct pw_pg_reply reply)
{
    if (connection->reply_first + connection->reply_count == connection->reply_capacity) {
        size_t capacity = connection->reply_capacity < REPLIES_MIN ? REPLIES_MIN : connection->reply_capacity * 2;
        struct pw_pg_reply *larger = realloc(connection->replies, capacity * sizeof *larger);
        if (larger == NULL) {
            pw_pg_note_no_memory(&connection->failure);
            connection->failure.lost = true; /* its answer could not be told apart from the next */
            return;
        }
        connection->replies = larger;
        connection->reply_capacity = capacity;
    }
    connection->replies[connection->reply_first + connection->reply_count++] = reply;
}

/* After an error nothing more is sent, because it must not be executed as if nothing had failed. */
static bool may_send(struct pw_pg_connection *connection)
{
    if (connection->db == NULL && !connection->failure.failed)
        pw_pg_note_lost(connection, "the connection is closed");
    return !connection->failure.failed;
}

static void sent(struct pw_pg_connection *connection, int result, struct pw_pg_reply reply)
{
    if (result != 1)
        pw_pg_note_lost(connection, NULL);
    else
        push_reply(connection, reply);
}

static void prepare(struct pw_pg_connection *connection, unsigned name)
{
    struct pw_pg_reply reply = { .kind = PW_PG_REPLY_PREPARED, .name = name };
    sent(connection, PQsendPrepare(connection->db, pw_pg_query(name)->name, pw_pg_query(name)->text, 0, NULL), reply);
    connection->prepared[name] = true; /* reset if the answer is an error */
}

static const int binary[PW_CALL_PARAMETERS_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

static void send_prepared(struct pw_pg_connection *connection, const struct pw_call *call, struct pw_pg_reply reply)
{
    if (!connection->prepared[call->name])
        prepare(connection, call->name);
    if (may_send(connection))
        sent(connection,
             PQsendQueryPrepared(connection->db, pw_pg_query(call->name)->name, call->count, call->values, call->sizes,
                                 binary, 1),
             reply);
}

/* Statements that neither need the settings nor may come after them. */
static bool goes_without_settings(unsigned name)
{
    return name == PW_PG_BEGIN || name == PW_PG_COMMIT || name == PW_PG_ROLLBACK || name == PW_PG_NOTIFY ||
           name == PW_PG_CLOCK || name == PW_PG_TRANSACTION_SETTINGS;
}

/* Statements sent without BEGIN form one transaction up to the next sync. */
static void send_pooled(struct pw_pg_connection *connection, const struct pw_call *call, struct pw_pg_reply reply)
{
    if (!connection->is_set_up && !goes_without_settings(call->name)) {
        connection->is_set_up = true;
        send_settings(connection, PW_PG_TRANSACTION_SETTINGS);
    }
    if (!may_send(connection) || call->name == PW_PG_LISTEN) /* it would listen on a session that others use */
        return;
    sent(connection,
         PQsendQueryParams(connection->db, pw_pg_query(call->name)->text, call->count, NULL, call->values, call->sizes,
                           binary, 1),
         reply);
    if (call->name == PW_PG_BEGIN)
        connection->in_transaction = true;
    if (call->name == PW_PG_COMMIT || call->name == PW_PG_ROLLBACK)
        connection->in_transaction = false;
}

/* See connection.h.  A large statement comes after a sync, so that the session is idle until the server has all of
 * it.  Before BEGIN is answered there is no sync, because without a transaction each part would be committed alone. */
static void sync_between(struct pw_pg_connection *connection, const struct pw_call *call)
{
    bool has_text = connection->url->is_pooled || !connection->prepared[call->name];
    size_t size = FRAME_SIZE + (has_text ? strlen(pw_pg_query(call->name)->text) : 0);
    for (int i = 0; i < call->count; i++)
        size += call->values[i] != NULL ? (size_t)call->sizes[i] : 0;
    if (connection->has_begun && connection->unsynced > 0 && connection->unsynced + size > UNSYNCED_MAX)
        pw_pg_sync(connection);
    connection->unsynced += size;
}

static void send_call(struct pw_pg_connection *connection, const struct pw_call *call, struct pw_pg_reply reply)
{
    if (!may_send(connection))
        return;
    sync_between(connection, call);
    if (call->no_memory || call->too_large)
        pw_pg_note_no_memory(&connection->failure);
    else if (connection->url->is_pooled)
        send_pooled(connection, call, reply);
    else
        send_prepared(connection, call, reply);
}

void pw_pg_send(struct pw_pg_connection *connection, const struct pw_call *call, pw_pg_take_fn *take, void *user)
{
    send_call(connection, call,
              (struct pw_pg_reply){ .kind = PW_PG_REPLY_ROWS, .name = call->name, .take = take, .user = user });
}

void pw_pg_ask(struct pw_pg_connection *connection, const struct pw_call *call, pw_pg_row_fn *take_row,
               struct pw_arena *arena, void *user, void *of)
{
    send_call(connection, call,
              (struct pw_pg_reply){ .kind = PW_PG_REPLY_ROWS,
                                    .name = call->name,
                                    .take_row = take_row,
                                    .arena = arena,
                                    .user = user,
                                    .of = of });
}

void pw_pg_send_values(struct pw_pg_connection *connection, enum pw_pg_query name, const struct pw_value *values,
                       size_t count)
{
    struct pw_call call;
    pw_call_init(&call, name, values, count);
    pw_pg_send(connection, &call, NULL, NULL);
}

void pw_pg_send_simple(struct pw_pg_connection *connection, enum pw_pg_query name)
{
    pw_pg_send_values(connection, name, PW_NO_VALUES);
}

void pw_pg_expect(struct pw_pg_connection *connection, pw_pg_take_fn *take, void *user)
{
    struct pw_pg_reply reply = { .kind = PW_PG_REPLY_ROWS, .name = PW_PG_QUERY_COUNT, .take = take, .user = user };
    push_reply(connection, reply);
}

void pw_pg_sync(struct pw_pg_connection *connection)
{
    struct pw_pg_reply reply = { .kind = PW_PG_REPLY_SYNC };
    connection->unsynced = 0;
    connection->is_set_up = connection->is_set_up && connection->in_transaction;
    if (may_send(connection) || !connection->failure.lost)
        sent(connection, PQpipelineSync(connection->db), reply);
}

/* ---- Receiving ----------------------------------------------------------------------------------------------- */

/* Waits until an answer can be fetched without waiting. */
static bool wait_for_answer(struct pw_pg_connection *connection, int64_t until_ms)
{
    PGconn *db = connection->db;
    for (;;) {
        int left_to_send = PQflush(db);
        if (left_to_send < 0) {
            (void)PQconsumeInput(db); /* the server may have said why before it closed the connection */
            if (!PQisBusy(db))
                return true;
            pw_pg_note_lost(connection, NULL);
            return false;
        }
        if (left_to_send == 0 && !PQisBusy(db))
            return true;
        int64_t wait_ms = until_ms - pw_system_monotonic_ms();
        struct pollfd waiting = { .fd = PQsocket(db), .events = (short)(POLLIN | (left_to_send > 0 ? POLLOUT : 0)) };
        int ready = wait_ms > 0 ? poll(&waiting, 1, (int)(wait_ms < 60000 ? wait_ms : 60000)) : 0;
        if (ready == 0 && until_ms - pw_system_monotonic_ms() <= 0) {
            pw_pg_note_lost(connection, "the server did not answer in time");
            return false;
        }
        if (ready < 0 && errno != EINTR) {
            pw_pg_note_lost(connection, "the connection cannot be waited for");
            return false;
        }
        if (ready > 0 && (waiting.revents & ~POLLOUT) != 0 && PQconsumeInput(db) != 1 && PQisBusy(db)) {
            pw_pg_note_lost(connection, NULL);
            return false;
        }
    }
}

static pawl_status take_rows(const struct pw_pg_reply *reply, const PGresult *result)
{
    struct pw_fields fields;
    pw_fields_init(&fields, result, reply->arena);
    while (pw_fields_next(&fields))
        if (!reply->take_row(reply->user, reply->of, &fields))
            return PAWL_NOMEM;
    return pw_fields_end(&fields);
}

static void take_answer(struct pw_pg_connection *connection, const struct pw_pg_reply *reply, const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    bool fine = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
    if (reply->kind == PW_PG_REPLY_PREPARED && !fine)
        connection->prepared[reply->name] = false;
    if (fine && reply->kind == PW_PG_REPLY_ROWS && reply->name == PW_PG_BEGIN)
        connection->has_begun = true;
    if (fine && (reply->name == PW_PG_COMMIT || reply->name == PW_PG_ROLLBACK))
        connection->has_begun = false;
    if (fine && reply->take != NULL)
        pw_pg_note_taken(&connection->failure, reply->take(reply->user, result));
    if (fine && reply->take_row != NULL)
        pw_pg_note_taken(&connection->failure, take_rows(reply, result));
    if (!fine && status != PGRES_PIPELINE_ABORTED && !connection->failure.failed) {
        pw_pg_note_result(&connection->failure, result);
        connection->failure.at_commit = reply->name == PW_PG_COMMIT;
    }
    if (PQstatus(connection->db) != CONNECTION_OK)
        connection->failure.lost = true;
}

/* Takes the next answer.  False: none is expected, or the connection is lost. */
static bool receive(struct pw_pg_connection *connection, int64_t until_ms)
{
    if (connection->reply_count == 0 || connection->failure.lost || !wait_for_answer(connection, until_ms))
        return false;
    PGresult *result = PQgetResult(connection->db);
    if (result == NULL) /* libpq returns NULL between two answers */
        return true;
    const struct pw_pg_reply *reply = &connection->replies[connection->reply_first];
    bool is_sync = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    if (is_sync != (reply->kind == PW_PG_REPLY_SYNC)) {
        pw_pg_note_result(&connection->failure, result);
        pw_pg_note_lost(connection, "the server's answers are out of step");
    } else if (!is_sync) {
        take_answer(connection, reply, result);
    }
    connection->reply_first++;
    connection->reply_count--;
    PQclear(result);
    return true;
}

bool pw_pg_finish(struct pw_pg_connection *connection, int64_t until_ms)
{
    pw_pg_sync(connection);
    while (receive(connection, until_ms))
        continue;
    connection->reply_first = connection->reply_count = 0;
    return !connection->failure.failed;
}

bool pw_pg_finish_first(struct pw_pg_connection *connection, int64_t until_ms)
{
    bool is_answered = false;
    while (!is_answered && connection->reply_count > 0) {
        size_t pending = connection->reply_count;
        bool is_sync = connection->replies[connection->reply_first].kind == PW_PG_REPLY_SYNC;
        if (!receive(connection, until_ms))
            break;
        is_answered = is_sync && connection->reply_count < pending;
    }
    return !connection->failure.failed;
}

bool pw_pg_recover(struct pw_pg_connection *connection)
{
    int64_t until_ms = pw_system_monotonic_ms() + pw_pg_answer_ms(connection->url);
    if (connection->db != NULL && connection->reply_count > 0)
        (void)pw_pg_finish(connection, until_ms);
    bool has_forgotten =
        pw_pg_failed_with(&connection->failure, "26000") || pw_pg_failed_with(&connection->failure, "42P05");
    bool usable = connection->db != NULL && !connection->failure.lost && !connection->failure.fatal && !has_forgotten;
    connection->failure = (struct pw_pg_failure){ .failed = false };
    if (usable && PQtransactionStatus(connection->db) != PQTRANS_IDLE) {
        pw_pg_send_simple(connection, PW_PG_ROLLBACK);
        usable = pw_pg_finish(connection, until_ms);
    }
    connection->in_transaction = connection->is_set_up = connection->has_begun = false;
    if (!usable)
        pw_pg_close(connection);
    connection->failure = (struct pw_pg_failure){ .failed = false };
    return usable;
}
