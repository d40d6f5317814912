/* golden.h - compares printed text with the text kept in golden/.
 *
 * golden/ has one file per command.  A file is a list of sections; a section is a line "=== name (pipe)" or
 * "=== name (terminal)", then the command line, standard output, standard error and exit code.
 *
 * What differs from run to run is replaced first: times by TIME, durations by DURATION, bars by BAR, made-up ids by ID, the
 * server's address by BASE, an escape by "^[", three blanks or more by two, because a column is as wide as its widest cell.
 * (test_cli_parts.c proves that columns are aligned; it sets the times itself.)
 *
 * PAWL_GOLDEN_WRITE=1 writes the sections instead of comparing them.  Read git diff before you commit them. */
#ifndef TESTS_CLI_GOLDEN_H
#define TESTS_CLI_GOLDEN_H

#include "kit/running.h"

/* In place; base: the server's address, or NULL. */
void golden_normalise(char *text, size_t size, const char *base);

/* The same for one pattern (extended), in which \\1 to \\5 stand for its groups. */
void golden_replace(char *text, size_t size, const char *pattern, const char *replacement);

/* command: the file's name without ".txt".  name: the section's.  text: one line or more. */
void golden_compare(const char *command, const char *name, const char *text);

#endif
