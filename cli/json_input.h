/* json_input.h - JSON that a user gives: inline, from @file, or from - (standard input).
 *
 * Whether it is JSON is checked here, so that a mistake is shown with its line and column before anything is asked of the
 * server; and it is sent as it was written, so that nothing of it changes on the way. */
#ifndef CLI_JSON_INPUT_H
#define CLI_JSON_INPUT_H

#include <stddef.h>

#include "pool.h"
#include "problem.h"

/* who: "--params", for the message. */
enum exit_code json_input_read(struct pool *pool, struct problem *problem, const char *who, const char *argument,
                               const char **out_text);

/* A text as JSON, with its quotation marks, in the pool.  What is not UTF-8 is refused. */
enum exit_code json_input_quote(struct pool *pool, struct problem *problem, const char *who, const char *text,
                                const char **out_text);

/* The whole of a file, or of standard input (path "-"), in the pool.  Bytes of NUL are refused. */
enum exit_code file_read(struct pool *pool, struct problem *problem, const char *who, const char *path,
                         const char **out_text);

#endif
