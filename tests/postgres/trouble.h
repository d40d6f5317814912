/* trouble.h - for tests with several processes on one PostgreSQL and things going wrong.
 *
 * Workers are processes (worker.c) that can be killed.  The test itself is a client: it creates runs and sends events, and
 * does so again when the store says that it is not available.  In the end assert_all_is_well() reads what is in the
 * database and in the log of bodies, and knows whether something was lost or done twice.
 *
 * Nothing sleeps to prove something: what is waited for is looked for until it is there, with a limit that only a broken
 * engine reaches. */
#ifndef TESTS_POSTGRES_TROUBLE_H
#define TESTS_POSTGRES_TROUBLE_H

#include "kit/running.h"

#include <libpq-fe.h>
#include <sys/types.h>

#include "kit/postgres_server.h"
#include "workflows.h"

enum { WORKERS_MAX = 8, SLOW_MS = RUNNING_SLOWLY ? 240000 : 120000 };

struct worker {
    pid_t process;    /* 0: none */
    const char *skew; /* "+60s" for a clock that is ahead; NULL: right */
    int starts;
};

struct trouble {
    char hosts[224]; /* folders of sockets, joined by ',' */
    char database[32];
    char options[128]; /* of the store URL, "&..." */
    char url[640];
    char log[64];     /* of bodies */
    int64_t lease_ms; /* of workers to come; 0: the default */
    struct worker workers[WORKERS_MAX];
    int worker_count;
    pawl_engine *engine; /* the test's own, without a runner */
    pawl_scope *scope;
    struct pawl_error error;
    int64_t created, sent; /* acknowledged */
    uint64_t chance;
};

/* A database of its own, empty, on that server; options: "" or "&pawl_lanes=2...". */
void trouble_open(struct trouble *trouble, const char *host, const char *options);
/* Other hosts from now on, for workers that are started and for trouble_connect(). */
void trouble_set_hosts(struct trouble *trouble, const char *hosts);
void trouble_close(struct trouble *trouble); /* kills the workers, drops the database where it can be reached */
/* For tear-downs, where the last test may have failed half way. */
void trouble_kill_all(struct trouble *trouble);

/* ---- SQL --------------------------------------------------------------------------------------------------------- */

/* A connection, waited for while the server is down.  user NULL: the superuser. */
PGconn *trouble_connect(const struct trouble *trouble, const char *user);
void trouble_execute(const struct trouble *trouble, const char *sql);
/* The first column of the first row; fails the test when there is none. */
int64_t trouble_number(const struct trouble *trouble, const char *sql);
/* Until the number is at least that much. */
void trouble_await(const struct trouble *trouble, const char *sql, int64_t wanted, int64_t within_ms);

/* ---- Processes ---------------------------------------------------------------------------------------------------- */

struct worker *worker_start(struct trouble *trouble, const char *skew); /* NULL: a clock that is right */
void worker_restart(struct trouble *trouble, struct worker *worker);
void worker_kill(struct worker *worker); /* -9 */
bool worker_has_ended(struct worker *worker);
int worker_stop(struct worker *worker); /* SIGTERM; the exit code */

/* ---- Work --------------------------------------------------------------------------------------------------------- */

/* The test's own engine on the same store. */
void trouble_open_engine(struct trouble *trouble);
/* Instances of "busy" with n = from ... to - 1; events for the same.  Each is made once, however often it is tried. */
void trouble_create(struct trouble *trouble, int64_t from, int64_t to);
void trouble_send(struct trouble *trouble, int64_t from, int64_t to);
/* One instance of another workflow, "<workflow>-<n>". */
void trouble_create_one(struct trouble *trouble, const char *workflow, int64_t n);
void trouble_await_complete(const struct trouble *trouble, int64_t runs, int64_t within_ms);
int64_t trouble_complete(const struct trouble *trouble);

/* All of n = 0 ... runs - 1 have completed with the right result; every step is recorded once, with the attempts that it
 * takes; no body began once its step was recorded; no attempt passed its limit; nothing is left to do. */
void assert_all_is_well(struct trouble *trouble, int64_t runs);

/* 0 ... below - 1, from a seed that is printed: PAWL_TROUBLE_SEED repeats it. */
uint64_t trouble_chance(struct trouble *trouble, uint64_t below);

#endif
