/* problem.h - errors of pawld: one line that says what is wrong and what would be right. */
#ifndef PAWLD_PROBLEM_H
#define PAWLD_PROBLEM_H

#include <pawl/status.h>

/* Exit codes of a pawld that could not start or had to stop.  Wrong use is not worth a restart. */
enum { EXIT_WELL = 0, EXIT_BROKEN = 1, EXIT_WRONG_USE = 2 };

/* Wrong use is an impossible request in flags, configuration or tokens.  All other statuses are matters of the
 * environment: a file that cannot be read (PAWL_FAILED), a store that cannot be opened, a module that cannot be
 * loaded, memory. */
int problem_exit_code(pawl_status status);

/* Writes the text into the error and returns the status. */
pawl_status problem(struct pawl_error *error, pawl_status status, const char *format, ...) PAWL_PRINTF(3, 4);

/* Prints "pawld: text" on standard error, with the status's own text if the error has none. */
void problem_print(pawl_status status, const struct pawl_error *error);

#endif
