/* signals.h - SIGTERM, SIGINT and SIGHUP, read like any other input.  One that is ignored when pawld is started (nohup)
 * stays ignored. */
#ifndef PAWLD_SIGNALS_H
#define PAWLD_SIGNALS_H

#include <stdbool.h>

/* Keeps the signals for the descriptor that is answered, from this thread and those that it starts; with_children:
 * SIGCHLD, too.  Call it before any thread is started.  -1: there is none. */
int signals_open(bool with_children);

/* The signal that came, or 0 when none did.  Does not wait. */
int signals_next(int descriptor);

const char *signals_name(int number); /* "SIGTERM" */

#endif
