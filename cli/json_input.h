/* json_input.h - JSON that the user gives: inline, from @file, or from - (standard input).
 *
 * It is checked here, so that a mistake is shown with its line and column before anything is sent.  It is sent exactly as it
 * was written. */
#ifndef CLI_JSON_INPUT_H
#define CLI_JSON_INPUT_H

#include <stddef.h>

#include "pool.h"
#include "problem.h"

/* who: "--params", for the message. */
enum exit_code json_input_read(struct pool *pool, struct problem *problem, const char *who, const char *argument,
                               const char **out_text);

/* A text as a JSON string with quotation marks, in the pool.  Text that is not UTF-8 is refused. */
enum exit_code json_input_quote(struct pool *pool, struct problem *problem, const char *who, const char *text,
                                const char **out_text);

/* Reads a whole file, or standard input (path "-"), into the pool.  NUL bytes are refused. */
enum exit_code file_read(struct pool *pool, struct problem *problem, const char *who, const char *path,
                         const char **out_text);

#endif
