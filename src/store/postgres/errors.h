/* errors.h - PostgreSQL's SQLSTATEs as statuses, with a text that names the database and says what would be right. */
#ifndef PW_STORE_POSTGRES_ERRORS_H
#define PW_STORE_POSTGRES_ERRORS_H

#include "store/postgres/connection.h"

/* What the connection's failure means.  Returns the status, never PAWL_OK. */
pawl_status pw_pg_error(const struct pw_pg_connection *connection, struct pawl_error *error);

/* Waits for all answers, for as long as the server may take.  What went wrong, if something did. */
pawl_status pw_pg_settle(struct pw_pg_connection *connection, struct pawl_error *error) PAWL_MUST_CHECK;

/* What to do about a failure when all of it is known to be undone. */
enum pw_pg_cure {
    PW_PG_CURE_NONE,
    PW_PG_CURE_REPEAT,   /* on the same connection: somebody was in the way */
    PW_PG_CURE_RECONNECT /* the server went away, or is no longer the one to write to */
};
enum pw_pg_cure pw_pg_cure_of(const struct pw_pg_connection *connection);

/* Does the failure speak of the database as a whole, and not of the statement that met it? */
bool pw_pg_is_trouble(const struct pw_pg_failure *failure);

bool pw_pg_failed_with(const struct pw_pg_failure *failure, const char *state);

/* Takes down what an answer says, or why there is none. */
void pw_pg_note_result(struct pw_pg_failure *failure, const PGresult *result);
void pw_pg_note_lost(struct pw_pg_connection *connection, const char *why);
void pw_pg_note_no_memory(struct pw_pg_failure *failure);
void pw_pg_note_taken(struct pw_pg_failure *failure, pawl_status taken); /* what became of an answer */

/* Would trying to connect again be in vain, by what libpq says? */
bool pw_pg_is_hopeless(const char *message);

#endif
