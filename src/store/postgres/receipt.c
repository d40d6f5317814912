/* receipt.c - receipts of transactions; see receipt.h.
 *
 * Each session of a writer has one row in workflow_receipt, found by a random number (`lane`).  Each transaction
 * writes its own number there, so the row holds the number of the session's last committed transaction.
 *
 * A lost session may still be at work in the server, with our COMMIT unread in its socket.  Reading the row too
 * early would give the wrong answer.  So the session is ended first, and its row is read once it is gone.
 *
 * Behind a pooler the session is not ours to end.  There a transaction waits until its receipt is written, and so
 * locked, before it sends its COMMIT (apply.c).  A reader of the row waits for that lock. */
#include "store/postgres/receipt.h"

#include <string.h>

#include "base/clock.h"
#include "store/postgres/errors.h"
#include "store/postgres/fields.h"
#include "store/postgres/postgres.h"

enum { CLOSING_MS_MAX = 500 };

static bool take_session(void *user, void *of, struct pw_fields *fields)
{
    struct pw_pg_receipt *receipt = user;
    (void)of;
    receipt->process = pw_field_integer(fields);
    struct pw_text begun = pw_field_text(fields);
    if (begun.data != NULL && begun.size < sizeof receipt->begun)
        memcpy(receipt->begun, begun.data, begun.size + 1);
    return true;
}

bool pw_pg_receipt_open(struct pw_pg_connection *connection)
{
    struct pw_pg_receipt receipt = { .lane = 0 };
    struct pw_arena arena = { 0 };
    struct pw_call call;
    if (connection->receipt.lane != 0)
        return true;
    pw_system_random(NULL, &receipt.lane, sizeof receipt.lane);
    receipt.lane = (receipt.lane & INT64_MAX) | 1; /* positive, and not 0 */
    pw_pg_send_values(connection, PW_PG_RECEIPT_OPEN, PW_VALUES(pw_int(receipt.lane)));
    pw_pg_send_simple(connection, PW_PG_RECEIPT_FORGET); /* of sessions that ended without deleting theirs */
    pw_call_init(&call, PW_PG_SESSION_BEGUN, PW_NO_VALUES);
    pw_pg_ask(connection, &call, take_session, &arena, &receipt, NULL);
    bool fine = pw_pg_settle(connection, NULL) == PAWL_OK;
    pw_arena_clear(&arena);
    if (fine)
        connection->receipt = receipt;
    return fine;
}

void pw_pg_receipt_send(struct pw_pg_connection *connection)
{
    struct pw_pg_receipt *receipt = &connection->receipt;
    receipt->number++;
    pw_pg_send_values(connection, PW_PG_RECEIPT_WRITE, PW_VALUES(pw_int(receipt->lane), pw_int(receipt->number)));
}

void pw_pg_receipt_close(struct pw_pg_connection *connection)
{
    if (connection->receipt.lane == 0 || !pw_pg_is_usable(connection))
        return;
    pw_pg_send_values(connection, PW_PG_RECEIPT_CLOSE, PW_VALUES(pw_int(connection->receipt.lane)));
    (void)pw_pg_finish(connection, pw_system_monotonic_ms() + CLOSING_MS_MAX);
    connection->receipt.lane = 0;
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* Ends the session and waits until it is gone.  False: it may still be at work. */
static bool end_session(struct pw_postgres *postgres, const struct pw_pg_receipt *receipt, int64_t until_ms)
{
    struct pw_call call;
    struct pw_numbers left = { .of = { postgres->url.is_pooled ? 0 : 1 } };
    pw_call_init(&call, PW_PG_SESSION_END, PW_VALUES(pw_int(receipt->process), pw_str(pw_text_of(receipt->begun))));
    for (int round = 0; left.of[0] != 0; round++) {
        if (round > 0 && pw_system_monotonic_ms() >= until_ms)
            return false;
        if (round > 0)
            pw_pg_pause(0);
        if (pw_pg_write(postgres, &call, postgres->url.busy_ms, pw_numbers_take, &left, NULL) != PAWL_OK)
            return false;
    }
    return true;
}

/* A number at least as high as the transaction's means that it was committed.  Without a row the fate stays unknown. */
enum pw_pg_fate pw_pg_receipt_read(struct pw_postgres *postgres, const struct pw_pg_receipt *receipt, int64_t until_ms)
{
    struct pw_call call;
    struct pw_numbers row = { .is_found = false };
    if (receipt->lane == 0 || !end_session(postgres, receipt, until_ms))
        return PW_PG_FATE_UNKNOWN;
    pw_call_init(&call, PW_PG_RECEIPT_READ, PW_VALUES(pw_int(receipt->lane)));
    if (pw_pg_write(postgres, &call, postgres->url.busy_ms, pw_numbers_take, &row, NULL) != PAWL_OK || !row.is_found ||
        row.of[0] < 0)
        return PW_PG_FATE_UNKNOWN;
    return row.of[0] >= receipt->number ? PW_PG_FATE_COMMITTED : PW_PG_FATE_UNDONE;
}
