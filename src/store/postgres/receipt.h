/* receipt.h - tells whether a transaction was committed if the answer to its COMMIT was lost.  Each session has a
 * row, and each of its transactions writes its number there.  Afterwards the row tells. */
#ifndef PW_STORE_POSTGRES_RECEIPT_H
#define PW_STORE_POSTGRES_RECEIPT_H

#include "store/postgres/connection.h"

struct pw_postgres;

/* Creates the session's row, once.  False: see the connection's failure. */
bool pw_pg_receipt_open(struct pw_pg_connection *connection);
/* Sends the transaction's number, inside the transaction. */
void pw_pg_receipt_send(struct pw_pg_connection *connection);
/* Deletes the row, if that is possible at once. */
void pw_pg_receipt_close(struct pw_pg_connection *connection);

enum pw_pg_fate { PW_PG_FATE_UNKNOWN, PW_PG_FATE_COMMITTED, PW_PG_FATE_UNDONE };

/* What became of the last transaction of a lost session.  Asked on another connection, within the time given. */
enum pw_pg_fate pw_pg_receipt_read(struct pw_postgres *postgres, const struct pw_pg_receipt *receipt, int64_t until_ms);

#endif
