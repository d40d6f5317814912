/* dev.h - pawld --dev: the files are C source, compiled and run anew whenever they change.
 *
 * This process only compiles and watches; the daemon proper is its child.  An engine's workflows are fixed once it
 * runs, so a change takes the child down as SIGTERM would and starts another, on the same store: runs go on where they
 * are, and nobody listens for a moment.  What does not compile changes nothing: the child that runs goes on running. */
#ifndef PAWLD_DEV_H
#define PAWLD_DEV_H

#include "settings.h"

/* Runs until a signal.  Returns the exit code; what was wrong is printed. */
int dev_run(const struct settings *settings);

#endif
