/* execution.h - the key that an execution is known by: for `instances execute` and `instances result`. */
#ifndef CLI_EXECUTION_H
#define CLI_EXECUTION_H

#include "session.h"

/* Of --key, checked as the server does; NULL: not given. */
enum exit_code key_read(struct session *session, const char **out_key);

#endif
