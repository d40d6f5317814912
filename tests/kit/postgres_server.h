/* postgres_server.h - a PostgreSQL server for the tests: in a temporary folder, on a socket there, not run as root,
 * and gone when its user is.
 *
 * Under ctest one server serves all programs (tests/postgres/fixture.c starts it).  A program that is run by hand
 * starts its own. */
#ifndef TESTS_POSTGRES_SERVER_H
#define TESTS_POSTGRES_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct postgres_server {
    char folder[96]; /* holds data, socket and log */
    pid_t guardian;  /* a process that ends the server on demand, or when `served` is gone */
};

/* Starts a server that lives no longer than the process `served`. durable: with fsync.  Returns false, with the
 * reason on stderr, on failure. */
bool postgres_server_start(struct postgres_server *server, pid_t served, bool durable);
/* The same for a standby that streams from another server.  It has caught up when this returns. */
bool postgres_server_start_standby(struct postgres_server *server, pid_t served, const struct postgres_server *primary);
/* Stops the server and waits until it and its folder are gone. */
void postgres_server_stop(const struct postgres_server *server);

/* ---- Trouble --------------------------------------------------------------------------------------------------- */

enum postgres_server_order {
    POSTGRES_SERVER_DOWN, /* like pg_ctl stop -m fast: ends sessions and writes what was committed */
    POSTGRES_SERVER_DEAD, /* kill -9 of the postmaster; its children follow */
    POSTGRES_SERVER_UP    /* starts it again in the same folder */
};
/* Returns when the order is carried out.  Returns false if that takes too long. */
bool postgres_server_order(const struct postgres_server *server, enum postgres_server_order order);
/* Stops all its processes, so that it exists but answers nobody.  Returns false if it was not found.  Thawing
 * continues them. */
bool postgres_server_freeze(const struct postgres_server *server);
void postgres_server_thaw(const struct postgres_server *server);
/* Makes a standby the primary. */
bool postgres_server_promote(const struct postgres_server *server);
/* Runs a program as the user of the servers and waits for it.  Returns false if it failed.  The arguments end with
 * NULL. */
bool postgres_server_run(const struct postgres_server *server, const char *program, const char *const *arguments);

/* Returns the folder of the socket of this program's server, and starts the server if necessary.  Returns NULL if
 * there is none. */
const char *postgres_server_socket(void);

#endif
