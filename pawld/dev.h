/* dev.h - pawld --dev: compiles C source files, runs them, and does so again whenever they change.
 *
 * This process only compiles and watches.  Its child is the real daemon.  The workflows of a running engine cannot
 * change, so after a change the child is stopped as by SIGTERM, and another one starts on the same store.  Runs go
 * on where they were.  For a moment nobody listens.  A change that does not compile has no effect, and the old child
 * goes on running. */
#ifndef PAWLD_DEV_H
#define PAWLD_DEV_H

#include "settings.h"

/* Runs until a signal.  Prints errors and returns the exit code. */
int dev_run(const struct settings *settings);

#endif
