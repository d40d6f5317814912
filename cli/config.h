/* config.h - the configuration file: named profiles of "key = value" lines. */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "invocation.h"

/* What a profile says, and where: for messages. */
struct profile {
    const char *values[OPTION_COUNT]; /* NULL: not said */
    const char *places[OPTION_COUNT]; /* "/home/ada/.config/pawl/config, line 3" */
    const char *headers[HEADERS_MAX];
    size_t header_count;
};

/* path: that of --config, or NULL for the user's own, which need not be there.  name: that of --profile, or NULL for
 * the one that the file says, else "default". */
enum exit_code config_read(struct pool *pool, struct problem *problem, const char *path, const char *name,
                           struct profile *out_profile);

/* The same of a text that was read from there. */
enum exit_code config_parse(struct pool *pool, struct problem *problem, const char *path, const char *text,
                            const char *name, struct profile *out_profile);

/* "~/x" with the home folder in place of ~. */
const char *config_path(struct pool *pool, const char *path);

#endif
