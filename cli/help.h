/* help.h - the help of a command, from the table. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "invocation.h"
#include "screen.h"

/* path: from the root to the command. */
void help_print(const struct screen *screen, const struct command *const *path, size_t depth, struct text *out);

/* "pawl instances get [options] INSTANCE" */
const char *help_usage(struct pool *pool, const struct command *const *path, size_t depth);
/* "-o, --output FORMAT" */
const char *help_option(struct pool *pool, enum option_id id);

/* Finds the command that the words name; NULL: there is none. */
size_t help_find(const char *const *words, size_t count, const struct command **out_path);

#endif
