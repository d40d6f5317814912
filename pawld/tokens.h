/* tokens.h - loads the tokens of the file and of the configuration, and makes new ones (`pawld token new`). */
#ifndef PAWLD_TOKENS_H
#define PAWLD_TOKENS_H

#include "settings.h"

/* *out_tokens is NULL if no tokens are configured.  A file without a token is an error, because its owner expects it
 * to protect the API. */
pawl_status tokens_load(const struct settings *settings, pawl_tokens **out_tokens, struct pawl_error *error);

/* Runs "token new --name N --scope S": prints the token and the line to keep.  Returns the exit code. */
int tokens_command(int count, char **values);

#endif
