/* postgres_server.h - a PostgreSQL of the tests' own: in a temporary folder, on a socket there, run by somebody who is not
 * root, gone when whoever asked for it is.
 *
 * Under ctest one server serves all programs (tests/postgres/fixture.c starts it); a program that is run by hand starts
 * its own. */
#ifndef TESTS_POSTGRES_SERVER_H
#define TESTS_POSTGRES_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct postgres_server {
    char folder[96]; /* data, socket and log are in it */
    pid_t guardian;  /* ends it when told to, or when the one it serves is gone */
};

/* Starts a server that lives no longer than the process `served`.  durable: with fsync.  False: says why on stderr. */
bool postgres_server_start(struct postgres_server *server, pid_t served, bool durable);
/* The same, as a standby that streams from another: it knows what the other knows once this has returned. */
bool postgres_server_start_standby(struct postgres_server *server, pid_t served, const struct postgres_server *primary);
/* Waits until it is gone, with its folder. */
void postgres_server_stop(const struct postgres_server *server);

/* ---- Trouble --------------------------------------------------------------------------------------------------- */

enum postgres_server_order {
    POSTGRES_SERVER_DOWN, /* as pg_ctl stop -m fast does: sessions are ended, what was committed is written */
    POSTGRES_SERVER_DEAD, /* kill -9 of the postmaster; its children follow */
    POSTGRES_SERVER_UP    /* again, in the same folder */
};
/* Returns when that is so.  False: it took too long. */
bool postgres_server_order(const struct postgres_server *server, enum postgres_server_order order);
/* All its processes stand still, or go on: it is there and answers nobody.  False: it was not found. */
bool postgres_server_freeze(const struct postgres_server *server);
void postgres_server_thaw(const struct postgres_server *server);
/* Makes a standby a primary. */
bool postgres_server_promote(const struct postgres_server *server);
/* Runs a program as the one who runs the servers, and waits; false: it failed.  The last argument is NULL. */
bool postgres_server_run(const struct postgres_server *server, const char *program, const char *const *arguments);

/* The socket's folder of the server for this program, which is started if need be; NULL: there is none to be had. */
const char *postgres_server_socket(void);

#endif
