/* help.h - the help and the man page of a command, made from the table. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "invocation.h"
#include "screen.h"

/* path: from the root to the command. */
void help_print(const struct screen *screen, const struct command *const *path, size_t depth, struct pw_buffer *out);
/* The man page. */
void help_manual(const struct command *const *path, size_t depth, struct pw_buffer *out);

/* Finds the command that the words name.  Returns the depth; 0: there is none. */
size_t help_find(const char *const *words, size_t count, const struct command **out_path);

#endif
