/* settings.h - how to reach the server: from flags, the environment, and a profile of the configuration file.
 *
 * A token is kept only in the header that carries it, and never shown. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <stdint.h>

#include "invocation.h"
#include "screen.h"

enum format { FORMAT_IS_TEXT, FORMAT_IS_JSON, FORMAT_IS_IDS };

struct settings {
    const char *base_url;                     /* "http://127.0.0.1:7295/api", without a slash at the end */
    const char *shown_url;                    /* the same for people: without a password, with the socket's path */
    const char *unix_socket;                  /* or NULL */
    const char *ca_file;                      /* or NULL */
    const char *workflow;                     /* or NULL */
    const char *headers[HEADERS_MAX * 2 + 1]; /* of the command line, the profile, and the token */
    size_t header_count;
    int64_t timeout_ms;
    enum format format;
    enum colour_choice colour;
    bool is_verbose;
};

/* Reads the flags only: enough to print errors about the rest. */
void settings_begin(const struct invocation *invocation, struct settings *out_settings);

enum exit_code settings_read(struct pool *pool, struct problem *problem, const struct invocation *invocation,
                             struct settings *settings);

#endif
