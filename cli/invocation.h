/* invocation.h - parses a command line by the table of commands.
 *
 * Finds every mistake that can be found without the server: unknown commands and options (and suggests the nearest one),
 * values that an option does not take, arguments that are missing or too many. */
#ifndef CLI_INVOCATION_H
#define CLI_INVOCATION_H

#include "commands.h"
#include "pool.h"

enum { HEADERS_MAX = 32, DEPTH_MAX = 4 };

struct invocation {
    const struct command *command;
    const struct command *path[DEPTH_MAX]; /* from the root to the command */
    size_t depth;
    const char *values[OPTION_COUNT]; /* NULL: not given; "" for a flag */
    const char *headers[HEADERS_MAX]; /* in the order given */
    size_t header_count;
    const char **arguments;
    size_t argument_count;
};

/* On failure *out_invocation has what was parsed so far. */
enum exit_code invocation_parse(struct pool *pool, struct problem *problem, int count, char **words,
                                struct invocation *out_invocation);

bool invocation_has(const struct invocation *invocation, enum option_id id);
/* The value of a number option, which has been checked already. */
long invocation_number(const struct invocation *invocation, enum option_id id, long fallback);

/* "pawl instances get" */
const char *invocation_name(struct pool *pool, const struct invocation *invocation);

/* Checks that the option takes the value.  who: how it was given, for the message: "--timeout", "PAWL_TIMEOUT". */
enum exit_code option_check(struct problem *problem, enum option_id id, const char *who, const char *value);

/* Joins two lists of options, either of which may be NULL, into one for common/options.h; in the pool. */
const struct pw_option *const *options_of(struct pool *pool, const enum option_id *first, const enum option_id *second);

/* Names as the server takes them. */
bool is_name(const char *text);
bool is_workflow_name(const char *text);

#endif
