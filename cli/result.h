/* result.h - prints the result of a run, after a wait if one was asked for; used by `instances result`, `instances create`
 * and `instances execute`. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include "reference.h"

/* Waits as --wait and --for say, and prints the result. */
enum exit_code result_print(struct session *session, const struct reference *reference);

/* True if --wait or --for was given, or for an execution without --discard. */
bool result_is_awaited(const struct session *session);

/* The value of --key, checked as the server does; NULL: not given. */
enum exit_code key_read(struct session *session, const char **out_key);

#endif
