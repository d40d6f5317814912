/* errors.h - turns PostgreSQL's SQLSTATEs into statuses, with texts that name the database and say what would be
 * right. */
#ifndef PW_STORE_POSTGRES_ERRORS_H
#define PW_STORE_POSTGRES_ERRORS_H

#include "store/postgres/connection.h"

/* Fills in the error from the connection's failure.  Returns the status, never PAWL_OK. */
pawl_status pw_pg_error(const struct pw_pg_connection *connection, struct pawl_error *error);

/* Waits for all answers, as long as the server may take.  Returns the error if there was one. */
pawl_status pw_pg_settle(struct pw_pg_connection *connection, struct pawl_error *error) PAWL_MUST_CHECK;

/* What helps against a failure, if everything is known to be undone. */
enum pw_pg_cure {
    PW_PG_CURE_NONE,
    PW_PG_CURE_REPEAT,   /* try again on the same connection: another transaction was in the way */
    PW_PG_CURE_RECONNECT /* the server went away, or is no longer the one to write to */
};
enum pw_pg_cure pw_pg_cure_of(const struct pw_pg_connection *connection);

/* True if the failure concerns the database as a whole, and not the statement that met it. */
bool pw_pg_is_trouble(const struct pw_pg_failure *failure);

bool pw_pg_failed_with(const struct pw_pg_failure *failure, const char *state);

/* Record what an answer says, or why there is none. */
void pw_pg_note_result(struct pw_pg_failure *failure, const PGresult *result);
void pw_pg_note_lost(struct pw_pg_connection *connection, const char *why);
void pw_pg_note_no_memory(struct pw_pg_failure *failure);
void pw_pg_note_taken(struct pw_pg_failure *failure, pawl_status taken); /* the result of using an answer */

/* True if libpq's message shows that trying to connect again would not help. */
bool pw_pg_is_hopeless(const char *message);

#endif
