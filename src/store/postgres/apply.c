/* apply.c - applies units in one PostgreSQL transaction, and tries again if it is safe; see transaction.h.
 *
 * carry_out() is one transaction in the order of its statements: BEGIN, the look, the receipt, a wait for the
 * look's answers, the rules, the writes, COMMIT.  The receipt is sent behind the look, so that the server writes it
 * while the rules decide.
 *
 * A try that fails has one of three fates.  It is *undone* if the server reported an error before the COMMIT took
 * effect.  Then it is repeated within busy_ms if another transaction was in its way or the server went away.  It is
 * *committed* if the server said so.  It is *unknown* if the answer to the COMMIT was lost.  Then its receipt, a row
 * that the transaction wrote, tells whether it was committed (receipt.h).  The fate stays unknown only if the
 * receipt cannot be read.  Then the caller is told so, and later fences find out. */
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

/* Writes the leaseholder's heartbeat with the commit if its last one is getting old, or if a test's clock replaces
 * the heartbeat thread.  So a runner whose commits succeed is never taken for dead because its heartbeat thread is
 * late. */
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

/* An error at COMMIT comes from a deferred constraint or trigger.  Our own tables have none that can fail, so it
 * concerns the user's rows and is reported as the failure of a mutation.  A trigger may raise any SQLSTATE. */
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

/* The notification is sent with the commit but as a transaction of its own behind it.  Inside the transaction, it
 * would serialise all commits of the server, including their fsync.  It is only a hint; a process that misses it
 * finds the work by polling. */
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

/* Waits for the answers of the look, which come before the receipt's.  From here on all rows that the units name are
 * locked. */
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

/* One transaction, in the order of its statements.  The look is waited for; everything after it is only sent, up to
 * the COMMIT. */
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
    pw_pg_receipt_send(connection); /* sent behind the look: the server writes it while the rules decide */
    if (sent)
        pw_pg_sync(connection);
    if (status == PAWL_OK && sent)
        status = settle_look(transaction);
    /* Read the time only now, so that it is not before that of the transactions that held the locks before us. */
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

/* ---- Trying again ---------------------------------------------------------------------------------------------- */

/* How one try went. */
struct outcome {
    pawl_status status;
    bool undone; /* if it failed: nothing of it was committed */
    enum pw_pg_cure cure;
    bool is_race; /* another transaction took a name or a number first */
};

/* If the server reports an error, it has not executed what was sent behind the failing statement.  The same holds if
 * it ends the session before it comes to the COMMIT. */
static enum pw_pg_fate fate_of(const struct pw_transaction *transaction)
{
    const struct pw_pg_failure *failure = &transaction->connection->failure;
    if (transaction->committed)
        return PW_PG_FATE_COMMITTED;
    if (!transaction->commit_sent || (failure->by_server && !(failure->fatal && failure->at_commit)))
        return PW_PG_FATE_UNDONE;
    return PW_PG_FATE_UNKNOWN;
}

/* When the transaction was asked for, before the first try. */
struct asking {
    int64_t at_ms; /* by the database's clock */
    int64_t monotonic_ms;
};

/* One try, and what became of it.  The connection is given back before a lost COMMIT is looked up, because that
 * needs another connection. */
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
        connection->failure.failed = true; /* a rule failed: there is still a transaction to roll back */
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

/* If trouble has already used up the time for retries, it becomes PAWL_BUSY, so that the committer does not try each
 * unit alone. */
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

/* Tries until the transaction succeeds, fails for a reason that repeating does not cure, or may have been committed. */
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
