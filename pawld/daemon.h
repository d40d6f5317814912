/* daemon.h - pawld itself: opens the store, runs workflows, serves HTTP and drains.
 *
 * It starts in this order, so that a failure comes before anything is done: the store, the modules, the webhooks,
 * the tokens and whether they are needed, the handler, the servers, the runner, the courier.
 *
 * SIGTERM stops it.  The handler drains, which ends waits and streams.  At the same time the servers answer the
 * requests that they have, and the runner finishes its step bodies and gives its leases back.  Then the courier and
 * the rest stop.  A second signal, or the end of --drain-ms, ends the process at once, because the store survives
 * any crash. */
#ifndef PAWLD_DAEMON_H
#define PAWLD_DAEMON_H

#include "settings.h"

/* Migrates the store's tables to this version and does nothing else.  Prints errors and returns the exit code. */
int daemon_migrate(const struct settings *settings);

/* Runs until a signal arrives on signal_fd, which is from signals_open().  Prints errors and returns the exit code. */
int daemon_run(const struct settings *settings, int signal_fd);

#endif
