/* config.h - the configuration file: named profiles of "key = value" lines. */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "invocation.h"

/* The values of a profile, and where each was read, for error messages. */
struct profile {
    const char *values[OPTION_COUNT]; /* NULL: not set */
    const char *places[OPTION_COUNT]; /* "/home/ada/.config/pawl/config, line 3" */
    const char *headers[HEADERS_MAX];
    size_t header_count;
};

/* path: the value of --config; NULL: the user's own file, which may be missing.  name: the value of --profile; NULL: the
 * profile that the file names, else "default". */
enum exit_code config_read(struct pool *pool, struct problem *problem, const char *path, const char *name,
                           struct profile *out_profile);

/* Parses text that was read from path. */
enum exit_code config_parse(struct pool *pool, struct problem *problem, const char *path, const char *text,
                            const char *name, struct profile *out_profile);

/* Replaces the ~ of "~/x" by the home folder. */
const char *config_path(struct pool *pool, const char *path);

#endif
