/* connection.h - one connection to PostgreSQL as the store uses it: always in pipeline mode, never waiting for ever.
 *
 * Statements are sent without waiting; each says what is to be done with its answer.  pw_pg_finish() sends what is
 * pending, waits, and hands out the answers in order.  The first thing that goes wrong is remembered in `failure`; what
 * was sent behind it up to the next pw_pg_sync() is not carried out, by PostgreSQL's own rule.  Used by one thread at a
 * time.
 *
 * A process may be stopped while the server has some of its statements and waits for the rest, with locks that others want.
 * The server ends a session that is idle in a transaction, but only a sync makes it idle.  So whatever may reach the server
 * before the rest was sent ends with a sync: what is sent before an answer is waited for, and what libpq sends by itself because
 * it is large.
 *
 * Behind a pooler that lends sessions for a transaction (url->is_pooled) nothing outlives a transaction: statements are
 * sent with their texts, the session's settings are made anew in each transaction, and nobody listens. */
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
    bool lost;      /* the connection is gone, or did not answer in time: it is of no more use */
    bool fatal;     /* the server ended the session, and said so */
    bool at_commit; /* it is what a COMMIT was answered with */
    bool by_server; /* the server says so, with an SQLSTATE */
    bool no_memory; /* ours */
    char state[6];  /* SQLSTATE, or "" */
    char text[200]; /* the server's or libpq's, one line */
    char relation[64];
};

/* Does something with an answer: PAWL_OK, PAWL_NOMEM, or PAWL_STORE_CORRUPT of a row that Pawl cannot have written. */
typedef pawl_status pw_pg_take_fn(void *user, const PGresult *result);
/* The same with one row of an answer, whose fields remember what is wrong with it; `of` is whatever the question is about.
 * False: memory is out. */
typedef bool pw_pg_row_fn(void *user, void *of, struct pw_fields *fields);

/* Where this session's transactions leave their mark, see receipt.c. */
struct pw_pg_receipt {
    int64_t lane, number; /* lane 0: nowhere yet */
    int64_t process;      /* the server's, for this session */
    char begun[40];       /* when it began the session */
};

struct pw_pg_reply {
    enum { PW_PG_REPLY_PREPARED, PW_PG_REPLY_ROWS, PW_PG_REPLY_SYNC } kind;
    unsigned name;
    pw_pg_take_fn *take;    /* or NULL */
    pw_pg_row_fn *take_row; /* or NULL */
    struct pw_arena *arena; /* of the texts in such rows */
    void *user, *of;
};

enum { PW_PG_IDLE_MS_MAX = 60000 };

struct pw_pg_connection {
    PGconn *db;                    /* NULL: closed */
    struct pw_pg_connection *next; /* of those that are idle */
    int64_t idle_since_ms;         /* by the monotonic clock */
    const struct pw_postgres_url *url;
    enum pw_pg_role role;
    bool prepared[PW_PG_QUERY_COUNT];
    bool in_transaction, is_set_up; /* behind a pooler: BEGIN was sent; this transaction has its settings */
    bool has_begun;                 /* BEGIN was answered: an error undoes all that is sent up to the end */
    size_t unsynced;                /* how many bytes were sent since the last sync, about */
    struct pw_pg_reply *replies;    /* to what was sent and is not answered; a queue */
    size_t reply_first, reply_count, reply_capacity;
    struct pw_pg_failure failure;
    struct pw_pg_receipt receipt; /* a writer's */
};

/* One try.  Leaves the connection closed when it fails.  *out_hopeless: another try would fare no better. */
pawl_status pw_pg_open(struct pw_pg_connection *connection, const struct pw_postgres_url *url, enum pw_pg_role role,
                       bool *out_hopeless, struct pawl_error *error) PAWL_MUST_CHECK;
/* As often as it takes, with pauses, until that time of the monotonic clock. */
pawl_status pw_pg_open_until(struct pw_pg_connection *connection, const struct pw_postgres_url *url,
                             enum pw_pg_role role, int64_t until_ms, struct pawl_error *error) PAWL_MUST_CHECK;
/* All zero is closed, too. */
void pw_pg_close(struct pw_pg_connection *connection);
/* A connection that has been idle: did the server close it meanwhile? */
bool pw_pg_is_usable(struct pw_pg_connection *connection);

/* Sends, after a prepare where it is the first of its name.  Once something has failed, nothing is sent any more. */
void pw_pg_send(struct pw_pg_connection *connection, const struct pw_call *call, pw_pg_take_fn *take, void *user);
/* For an answer that is taken row by row. */
void pw_pg_ask(struct pw_pg_connection *connection, const struct pw_call *call, pw_pg_row_fn *take_row,
               struct pw_arena *arena, void *user, void *of);
/* For a statement whose answer says nothing; the second is for one without parameters. */
void pw_pg_send_values(struct pw_pg_connection *connection, enum pw_pg_query name, const struct pw_value *values,
                       size_t count);
void pw_pg_send_simple(struct pw_pg_connection *connection, enum pw_pg_query name);
/* For what the caller has sent by libpq itself. */
void pw_pg_expect(struct pw_pg_connection *connection, pw_pg_take_fn *take, void *user);
/* An error ends here: what is sent behind it is carried out again. */
void pw_pg_sync(struct pw_pg_connection *connection);

/* A sync, then waits for all answers, until that time of the monotonic clock.  False: see failure. */
bool pw_pg_finish(struct pw_pg_connection *connection, int64_t until_ms);

/* Waits for the answers up to the first sync that is not answered; what was sent behind it stays pending. */
bool pw_pg_finish_first(struct pw_pg_connection *connection, int64_t until_ms);

/* Forgets the failure.  The transaction, if one is under way, is rolled back; false: the connection is closed. */
bool pw_pg_recover(struct pw_pg_connection *connection);

/* For what a pipeline does not take: several statements in one text, and the user's own calls.  Nothing may be pending.
 * False: see failure. */
bool pw_pg_leave_pipeline(struct pw_pg_connection *connection);
bool pw_pg_enter_pipeline(struct pw_pg_connection *connection);

/* How long an answer may take: longer than the server's own limits, so that it speaks first. */
int64_t pw_pg_answer_ms(const struct pw_postgres_url *url);

/* Waits between two tries, longer each time. */
void pw_pg_pause(int round);

#endif
