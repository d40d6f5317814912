/* problem.h - one line that says what is wrong and what would be right. */
#ifndef PAWLD_PROBLEM_H
#define PAWLD_PROBLEM_H

#include <pawl/status.h>

/* How pawld ends when it does not run, or was not let run to its end.  Wrong use does not get better by trying again. */
enum { EXIT_WELL = 0, EXIT_BROKEN = 1, EXIT_WRONG_USE = 2 };

/* Wrong use is what flags, configuration or tokens say and nobody could do; all else is how things stand: a file that cannot
 * be read (PAWL_FAILED), a store that cannot be opened, a module that cannot be loaded, memory. */
int problem_exit_code(pawl_status status);

/* Writes the text and returns the status. */
pawl_status problem(struct pawl_error *error, pawl_status status, const char *format, ...) PAWL_PRINTF(3, 4);

/* "pawld: text", on standard error; the status's own text when the error has none. */
void problem_print(pawl_status status, const struct pawl_error *error);

#endif
