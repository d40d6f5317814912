/* daemon.h - pawld itself: opens, runs, serves, drains.
 *
 * Started in this order, so that what fails does so before anything is done: the store, the modules, the hooks, the
 * tokens and whether they are enough, the handler, the servers, the runner, the courier.  A SIGTERM takes it down: the
 * handler drains, which ends waits and streams; at the same time the servers answer what they have and the runner
 * finishes its bodies and gives its leases back; then the courier, and the rest.  A second signal, or --drain-ms, ends
 * the process there and then: the store stands any crash. */
#ifndef PAWLD_DAEMON_H
#define PAWLD_DAEMON_H

#include "settings.h"

/* Brings the store's tables up to this version, and no more.  Returns the exit code; what was wrong is printed. */
int daemon_migrate(const struct settings *settings);

/* Runs until a signal; signal_fd: of signals_open().  Returns the exit code; what was wrong is printed. */
int daemon_run(const struct settings *settings, int signal_fd);

#endif
