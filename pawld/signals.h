/* signals.h - SIGTERM, SIGINT and SIGHUP as input on a descriptor.  A signal that was ignored when pawld was started
 * (nohup) arrives all the same, because a blocked signal is queued even if it is ignored. */
#ifndef PAWLD_SIGNALS_H
#define PAWLD_SIGNALS_H

#include <stdbool.h>

/* Blocks the signals in this thread and in those that it starts, and returns a descriptor that receives them, or -1.
 * with_children adds SIGCHLD.  Call it before any thread is started. */
int signals_open(bool with_children);

/* Returns a signal that has arrived, or 0.  Does not wait. */
int signals_next(int descriptor);

const char *signals_name(int number); /* "SIGTERM" */

#endif
