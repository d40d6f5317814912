/* sweep.h - the crash sweep of one workflow, in a process of its own.  If the workflow's code kills that process or
 * never returns, that is a finding like any other, and pawl-check goes on. */
#ifndef CHECK_SWEEP_H
#define CHECK_SWEEP_H

#include "arguments.h"

/* Larger is worse. */
enum { EXIT_WELL = 0, EXIT_FOUND = 1, EXIT_WRONG_USE = 2 };

/* Returns false, and says so on stderr, if the output could not be written. */
bool report_is_written(void);

/* Prints the report, or an error on stderr.  The module must be loaded already.  Returns the exit code. */
int sweep_apart(const struct arguments *arguments, const char *path, const char *workflow);

/* Loads the module in a process of its own, so that its constructors can do no harm, and reports on stderr if they
 * end that process.  Returns EXIT_WELL if loading fails for another reason, because the real loading then reports
 * it. */
int sweep_try_to_load(const struct arguments *arguments, const char *path);

#endif
