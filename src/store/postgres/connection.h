/* connection.h - one connection to PostgreSQL as the store uses it: always in pipeline mode, and never waiting for
 * ever.
 *
 * Statements are sent without waiting.  Each says what to do with its answer.  pw_pg_finish() sends what is pending,
 * waits, and hands out the answers in order.  The first error is remembered in `failure`.  By PostgreSQL's own rule,
 * statements behind it are not executed up to the next pw_pg_sync().  A connection is used by one thread at a time.
 *
 * A process may be stopped while the server has some of its statements and waits for the rest, holding locks that
 * others want.  The server ends a session that is idle in a transaction, but only a sync makes a session idle.  So
 * everything that may reach the server before the rest was sent ends with a sync: what is sent before an answer is
 * waited for, and large data that libpq sends by itself.
 *
 * Behind a pooler that lends sessions for one transaction (url->is_pooled) nothing outlives a transaction.
 * Statements are sent with their texts, settings are made anew in each transaction, and nothing listens for
 * notifications. */
#ifndef PW_STORE_POSTGRES_CONNECTION_H
#define PW_STORE_POSTGRES_CONNECTION_H

#include <libpq-fe.h>

#include "store/postgres/call.h"
#include "store/postgres/fields.h"
#include "store/postgres/queries.h"
#include "store/postgres/url.h"

enum pw_pg_role { PW_PG_READER, PW_PG_WRITER, PW_PG_LISTENER, PW_PG_ROLE_COUNT };

/* What went wrong. */
struct pw_pg_failure {
    bool failed;
    bool lost;      /* the connection is gone or did not answer in time, and cannot be used any more */
    bool fatal;     /* the server reported that it ended the session */
    bool at_commit; /* it is the answer to a COMMIT */
    bool by_server; /* the server reported it, with an SQLSTATE */
    bool no_memory; /* this process ran out of memory */
    char state[6];  /* SQLSTATE, or "" */
    char text[200]; /* the server's or libpq's, one line */
    char relation[64];
};

/* Uses an answer.  PAWL_OK, PAWL_NOMEM, or PAWL_STORE_CORRUPT for a row that Pawl cannot have written. */
typedef pawl_status pw_pg_take_fn(void *user, const PGresult *result);
/* Uses one row of an answer; the fields remember what is wrong with it.  `of` is what the statement asked about.
 * False: memory is out. */
typedef bool pw_pg_row_fn(void *user, void *of, struct pw_fields *fields);

/* Identifies the session's row in workflow_receipt, and its newest transaction; see receipt.c. */
struct pw_pg_receipt {
    int64_t lane, number; /* lane: the key of the row; 0: not created yet */
    int64_t process;      /* the server's process for this session */
    char begun[40];       /* when the session began */
};

struct pw_pg_reply {
    enum { PW_PG_REPLY_PREPARED, PW_PG_REPLY_ROWS, PW_PG_REPLY_SYNC } kind;
    unsigned name;
    pw_pg_take_fn *take;    /* or NULL */
    pw_pg_row_fn *take_row; /* or NULL */
    struct pw_arena *arena; /* for the texts in such rows */
    void *user, *of;
};

enum { PW_PG_IDLE_MS_MAX = 60000 };

struct pw_pg_connection {
    PGconn *db;                    /* NULL: closed */
    struct pw_pg_connection *next; /* in the list of idle connections */
    int64_t idle_since_ms;         /* by the monotonic clock */
    const struct pw_postgres_url *url;
    enum pw_pg_role role;
    bool prepared[PW_PG_QUERY_COUNT];
    bool in_transaction, is_set_up; /* behind a pooler: BEGIN was sent; this transaction has its settings */
    bool has_begun;                 /* BEGIN was answered, so an error undoes everything up to the end */
    size_t unsynced;                /* about how many bytes were sent since the last sync */
    struct pw_pg_reply *replies;    /* a queue of expected answers */
    size_t reply_first, reply_count, reply_capacity;
    struct pw_pg_failure failure;
    struct pw_pg_receipt receipt; /* only a writer has one */
};

/* Tries once to connect.  Leaves the connection closed if that fails.  *out_hopeless: another try would fail as
 * well. */
pawl_status pw_pg_open(struct pw_pg_connection *connection, const struct pw_postgres_url *url, enum pw_pg_role role,
                       bool *out_hopeless, struct pawl_error *error) PAWL_MUST_CHECK;
/* Tries until that time of the monotonic clock, with pauses. */
pawl_status pw_pg_open_until(struct pw_pg_connection *connection, const struct pw_postgres_url *url,
                             enum pw_pg_role role, int64_t until_ms, struct pawl_error *error) PAWL_MUST_CHECK;
/* A zeroed connection is closed already, and is fine. */
void pw_pg_close(struct pw_pg_connection *connection);
/* Checks that the server has not closed an idle connection. */
bool pw_pg_is_usable(struct pw_pg_connection *connection);

/* Sends a statement, preparing it before its first use.  After an error nothing more is sent. */
void pw_pg_send(struct pw_pg_connection *connection, const struct pw_call *call, pw_pg_take_fn *take, void *user);
/* Sends a statement whose answer is taken row by row. */
void pw_pg_ask(struct pw_pg_connection *connection, const struct pw_call *call, pw_pg_row_fn *take_row,
               struct pw_arena *arena, void *user, void *of);
/* Sends a statement whose answer is not used; the second one has no parameters. */
void pw_pg_send_values(struct pw_pg_connection *connection, enum pw_pg_query name, const struct pw_value *values,
                       size_t count);
void pw_pg_send_simple(struct pw_pg_connection *connection, enum pw_pg_query name);
/* Expects an answer to something that the caller has sent with libpq itself. */
void pw_pg_expect(struct pw_pg_connection *connection, pw_pg_take_fn *take, void *user);
/* Ends the effect of an error: statements behind the sync are executed again. */
void pw_pg_sync(struct pw_pg_connection *connection);

/* Syncs, then waits for all answers until that time of the monotonic clock.  False: see failure. */
bool pw_pg_finish(struct pw_pg_connection *connection, int64_t until_ms);

/* Waits for the answers up to the first unanswered sync.  What was sent behind it stays pending. */
bool pw_pg_finish_first(struct pw_pg_connection *connection, int64_t until_ms);

/* Clears the failure and rolls back a transaction under way.  False: the connection is closed. */
bool pw_pg_recover(struct pw_pg_connection *connection);

/* Leave and enter pipeline mode, for what it does not allow: several statements in one text, and the user's own
 * calls.  Nothing may be pending.  False: see failure. */
bool pw_pg_leave_pipeline(struct pw_pg_connection *connection);
bool pw_pg_enter_pipeline(struct pw_pg_connection *connection);

/* How long an answer may take.  Longer than the server's own limits, so that the server reports a timeout first. */
int64_t pw_pg_answer_ms(const struct pw_postgres_url *url);

/* Sleeps between two tries, longer each time. */
void pw_pg_pause(int round);

#endif
