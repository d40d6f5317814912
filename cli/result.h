/* result.h - the result of a run, waited for where that was asked: for `instances result`,
 * `instances create` and `instances execute`. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include "reference.h"

/* Prints it as --wait, --for and the format say. */
enum exit_code result_print(struct session *session, const struct reference *reference);

/* Whether --wait or --for was given, or it is an execution that is not discarded. */
bool result_is_awaited(const struct session *session);

/* The key that an execution is known by: that of --key, checked as the server does; NULL: not given. */
enum exit_code key_read(struct session *session, const char **out_key);

#endif
