/* sweep.h - the crash sweep of one workflow, in a process of its own: where its code kills that, or never comes back, this is
 * a finding like others, and who asked lives on. */
#ifndef CHECK_SWEEP_H
#define CHECK_SWEEP_H

#include "arguments.h"

/* The worse, the larger. */
enum { EXIT_WELL = 0, EXIT_FOUND = 1, EXIT_WRONG_USE = 2 };

/* False when what was printed is lost; that is told on stderr. */
bool report_is_written(void);

/* Prints the report, or on stderr why there is none.  The module is loaded already.  Answers the exit code. */
int sweep_apart(const struct arguments *arguments, const char *path, const char *workflow);

/* Loads the module in a process of its own, where its constructors can do no harm: those that end it are told on stderr.
 * Well, too, when it cannot be loaded for another reason. */
int sweep_try_to_load(const struct arguments *arguments, const char *path);

#endif
