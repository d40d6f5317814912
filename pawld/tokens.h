/* tokens.h - who may: the tokens of a file and of the configuration; and `pawld token new`, which makes one. */
#ifndef PAWLD_TOKENS_H
#define PAWLD_TOKENS_H

#include "settings.h"

/* *out_tokens is NULL when none were asked for.  A file without a token is an error: it looks like a lock. */
pawl_status tokens_load(const struct settings *settings, pawl_tokens **out_tokens, struct pawl_error *error);

/* "token new --name N --scope S": prints the token and the line to keep.  Returns the exit code. */
int tokens_command(int count, char **values);

#endif
