/* golden.h - compares what was printed with what is kept in golden/, once what differs from run to run is put aside.
 *
 * Times become TIME, durations DURATION, bars BAR, made-up ids ID, the server's address BASE; runs of blanks become two,
 * because columns are as wide as what stands in them.  (That columns are aligned is proved where times are given, in
 * test_cli_parts.c.)  An escape becomes "^[".  PAWL_GOLDEN_WRITE=1 writes the files instead of comparing: look at what
 * has changed, with git diff, before you keep it. */
#ifndef TESTS_CLI_GOLDEN_H
#define TESTS_CLI_GOLDEN_H

#include "kit/running.h"

/* In place; base: the server's address, or NULL. */
void golden_normalise(char *text, size_t size, const char *base);

/* The same for one pattern (extended), in which \\1 to \\5 stand for its groups. */
void golden_replace(char *text, size_t size, const char *pattern, const char *replacement);

/* name: of the file, without ".txt". */
void golden_compare(const char *name, const char *text);

#endif
