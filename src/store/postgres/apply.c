/* apply.c - units of work, in order, in one transaction; see transaction.h.
 *
 * A transaction that failed, and is known to be undone, is carried out again when somebody was in its way or the server
 * went away, within busy_ms.  One whose COMMIT was not answered has left a receipt or not (receipt.h); only when not even
 * that can be read may it have happened or not. */
#include "base/clock.h"
#include "base/error.h"
#include "store/postgres/errors.h"
#include "store/postgres/receipt.h"
#include "store/postgres/transaction.h"

enum { REPEATS_MAX = 20, RACES_MAX = 3 };

pawl_status pw_no_memory(struct pw_transaction *transaction)
{
    return pw_error_plain(transaction->core.error, PAWL_NOMEM);
}

pawl_status pw_settle(struct pw_transaction *transaction)
{
    return pw_pg_settle(transaction->connection, transaction->core.error);
}

/* ---- The transaction ------------------------------------------------------------------------------------------ */

static pawl_status take_commit(void *user, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    transaction->committed = strcmp(PQcmdStatus((PGresult *)result), "COMMIT") == 0;
    return PAWL_OK;
}

/* With a test's own clock there is nobody else to beat; and a thread that is late need not be waited for. */
static void send_beat(struct pw_transaction *transaction)
{
    struct pw_columns owners = { .arena = &transaction->core.arena };
    struct pw_postgres *postgres = transaction->postgres;
    if (!pw_pg_presence_has(&postgres->presence, transaction->core.leaseholder) ||
        (!pw_pg_clock_is_ours(&postgres->clock) &&
         pw_pg_presence_is_heard(&postgres->presence, transaction->core.leaseholder, pw_system_monotonic_ms())))
        return;
    transaction->has_beaten = true;
    pw_columns_row(&owners, PW_VALUES(pw_int(transaction->core.leaseholder)));
    pw_pg_send_beat(transaction->connection, &owners, transaction->core.now_ms);
}

/* What a constraint says that is not checked before the commit, or a trigger that is not fired before, is about the user's
 * rows: ours have none such.  Which SQLSTATE a trigger raises is its own affair. */
static pawl_status blame_user(struct pw_transaction *transaction, pawl_status status)
{
    const struct pw_pg_failure *failure = &transaction->connection->failure;
    if (!transaction->has_users_code || !failure->at_commit || !failure->by_server || pw_pg_is_trouble(failure))
        return status;
    return pw_error(transaction->core.error,
                    pw_pg_failed_with(failure, "23505") ? PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION
                                                        : PAWL_STEP_MUTATION_FAILED,
                    "%s (SQLSTATE %s)", failure->text, failure->state);
}

/* The notification is a transaction of its own behind the commit, sent with it: inside, it would make every commit of
 * the whole server wait for the one before, fsync and all.  It is a hint; who misses it looks again. */
static pawl_status commit(struct pw_transaction *transaction)
{
    struct pw_pg_connection *connection = transaction->connection;
    struct pw_call call;
    if (connection->failure.failed || connection->url->is_pooled) { /* see receipt.c */
        pawl_status settled = pw_settle(transaction);
        if (settled != PAWL_OK)
            return settled;
    }
    pw_call_init(&call, PW_PG_COMMIT, PW_NO_VALUES);
    pw_pg_send(connection, &call, take_commit, transaction);
    transaction->commit_sent = true;
    if (transaction->makes_due) {
        pw_pg_sync(connection);
        pw_pg_send_values(connection, PW_PG_NOTIFY, PW_VALUES(pw_str(pw_text_of(transaction->postgres->token))));
    }
    pawl_status status = pw_settle(transaction);
    if (transaction->committed)
        return PAWL_OK;
    if (status == PAWL_OK)
        return pw_error(transaction->core.error, PAWL_STORE_UNAVAILABLE,
                        "%s: the server has rolled the transaction back", transaction->postgres->url.label);
    return blame_user(transaction, status);
}

static pawl_status settle_look(struct pw_transaction *transaction)
{
    struct pw_pg_connection *connection = transaction->connection;
    if (!pw_pg_finish_first(connection, pw_system_monotonic_ms() + pw_pg_answer_ms(connection->url)))
        return pw_pg_error(connection, transaction->core.error);
    if (transaction->is_stale)
        return pw_error(transaction->core.error, PAWL_STORE_UNAVAILABLE,
                        "%s: instances are made or begin again faster than they can be found", connection->url->label);
    return pw_pay_owed(transaction, true);
}

static pawl_status carry_out(struct pw_transaction *transaction, struct pw_unit **units, size_t count)
{
    struct pw_pg_connection *connection = transaction->connection;
    bool sent = false;
    if (!pw_pg_receipt_open(connection))
        return pw_pg_error(connection, transaction->core.error);
    pw_pg_send_simple(connection, PW_PG_BEGIN);
    pawl_status status = pw_look(transaction, units, count, &sent);
    if (!pw_pg_clock_is_fresh(&transaction->postgres->clock))
        pw_pg_ask_time(transaction->postgres, connection, &transaction->asked_us);
    if (sent)
        pw_pg_sync(connection);
    pw_pg_receipt_send(connection); /* behind the look: the server writes it while we decide */
    if (sent)
        pw_pg_sync(connection);
    if (status == PAWL_OK && sent)
        status = settle_look(transaction);
    /* Only now: whoever had the locks before us has an earlier one. */
    transaction->core.now_ms = pw_pg_clock_now_ms(&transaction->postgres->clock);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pw_core_apply(&transaction->core, units[i]);
    if (status == PAWL_OK)
        status = pw_keep_leases(transaction);
    if (status == PAWL_OK)
        status = pw_write(transaction);
    if (status != PAWL_OK)
        return status;
    send_beat(transaction);
    return commit(transaction);
}

/* ---- Again and again ------------------------------------------------------------------------------------------- */

/* How one try went. */
struct outcome {
    pawl_status status;
    bool undone; /* when it failed: nothing of it was committed */
    enum pw_pg_cure cure;
    bool is_race; /* for a name or a number that somebody else took first */
};

/* A server that reports an error has not carried out what was sent behind it; nor has one that ends the session while
 * something before the COMMIT was its turn. */
static enum pw_pg_fate fate_of(const struct pw_transaction *transaction)
{
    const struct pw_pg_failure *failure = &transaction->connection->failure;
    if (transaction->committed)
        return PW_PG_FATE_COMMITTED;
    if (!transaction->commit_sent || (failure->by_server && !(failure->fatal && failure->at_commit)))
        return PW_PG_FATE_UNDONE;
    return PW_PG_FATE_UNKNOWN;
}

/* When the transaction was asked for, whatever tries it takes. */
struct asking {
    int64_t at_ms; /* by the database's clock */
    int64_t monotonic_ms;
};

static struct outcome try_once(struct pw_postgres *postgres, struct pw_pg_connection *connection,
                               struct pw_unit **units, size_t count, const struct asking *asking,
                               struct pawl_error *error)
{
    struct pw_transaction transaction;
    pw_transaction_init(&transaction, postgres, connection, error);
    transaction.asked_at_ms = transaction.core.now_ms = asking->at_ms;
    struct outcome outcome = { .status = carry_out(&transaction, units, count) };
    enum pw_pg_fate fate = outcome.status == PAWL_OK ? PW_PG_FATE_COMMITTED : fate_of(&transaction);
    struct pw_pg_receipt receipt = connection->receipt;
    outcome.cure = transaction.is_stale ? PW_PG_CURE_REPEAT : pw_pg_cure_of(connection);
    outcome.is_race = pw_pg_failed_with(&connection->failure, "23505");
    if (outcome.status != PAWL_OK && !connection->failure.failed)
        connection->failure.failed = true; /* decided here: there is still a transaction to roll back */
    pw_pg_give(postgres, connection);
    if (fate == PW_PG_FATE_UNKNOWN)
        fate = pw_pg_receipt_read(postgres, &receipt, pw_system_monotonic_ms() + postgres->url.busy_ms);
    if (fate == PW_PG_FATE_COMMITTED) {
        outcome.status = PAWL_OK;
        pw_forget_paid(&transaction);
        if (transaction.has_beaten)
            pw_pg_presence_note_heard(&postgres->presence, transaction.core.leaseholder, asking->monotonic_ms,
                                      pw_system_monotonic_ms());
    }
    outcome.undone = fate == PW_PG_FATE_UNDONE;
    pw_transaction_clear(&transaction);
    return outcome;
}

static bool should_repeat(const struct outcome *outcome, int round, int64_t until_ms)
{
    return outcome->status != PAWL_OK && outcome->undone && outcome->cure != PW_PG_CURE_NONE &&
           round < (outcome->is_race ? RACES_MAX : REPEATS_MAX) && pw_system_monotonic_ms() < until_ms;
}

/* Trouble that has taken its time already is told apart: it need not be tried with each unit again. */
static pawl_status tell_busy(const struct outcome *outcome, struct pawl_error *error)
{
    if (outcome->status != PAWL_STORE_UNAVAILABLE || outcome->cure == PW_PG_CURE_NONE || outcome->is_race)
        return outcome->status;
    if (error != NULL)
        error->status = PAWL_BUSY;
    return PAWL_BUSY;
}

static void answer(struct pw_unit **units, size_t count, const struct outcome *outcome, pawl_status status)
{
    for (size_t i = 0; i < count; i++) {
        pw_unit_answer(units[i], status);
        units[i]->undone = status != PAWL_OK && outcome->undone;
    }
}

pawl_status pw_postgres_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct pw_postgres *postgres = (struct pw_postgres *)store;
    int64_t asked_at_ms = pw_system_monotonic_ms(), until_ms = asked_at_ms + postgres->url.busy_ms;
    const struct asking asking = { .at_ms = pw_pg_clock_now_ms(&postgres->clock), .monotonic_ms = asked_at_ms };
    struct outcome outcome = { .status = PAWL_OK, .undone = true };
    for (int round = 0; count > 0; round++) {
        struct pw_pg_connection *connection = NULL;
        outcome = (struct outcome){ .undone = true, .cure = PW_PG_CURE_RECONNECT };
        outcome.status = pw_pg_take(postgres, PW_PG_WRITER, until_ms, &connection, error);
        if (outcome.status != PAWL_OK)
            break;
        outcome = try_once(postgres, connection, units, count, &asking, error);
        if (!should_repeat(&outcome, round, until_ms))
            break;
        pw_pg_pause(outcome.is_race ? 0 : round);
    }
    pawl_status status = tell_busy(&outcome, error);
    answer(units, count, &outcome, status);
    return status;
}
