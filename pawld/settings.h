/* settings.h - what pawld is to do, from flags and from a configuration file.
 *
 * One table (settings.c) lists all options: the flag, the key in the file, the type, the range and the help.  Flags
 * are read first, and the file does not change what a flag has set.  Texts belong to the command line, or live until
 * settings_free(). */
#ifndef PAWLD_SETTINGS_H
#define PAWLD_SETTINGS_H

#include <pawl/http.h>

#include "common/program.h"

enum { WEBHOOKS_MAX = 32, FUNCTIONS_MAX = 256 };

struct webhook_settings {
    const char *name, *url, *secret;
    unsigned events; /* pawl_hook_event, or-ed */
    int64_t timeout_ms, attempts, delay_ms;
};

struct function_settings {
    const char *name;
    int64_t concurrency; /* concurrent calls in all processes that set this; 0: no limit */
};

struct settings {
    pawl_scope *scope; /* holds the texts */
    const char *config;
    const char *store;       /* one URL */
    const char *shown_store; /* the same without its password, for messages */
    const char *mount, *tokens_file, *tls_cert, *tls_key, *cors, *log, *log_level;
    struct pw_texts listen, modules;
    struct pw_texts worker_modules; /* only their functions are loaded */
    const pawl_value *tokens;       /* lines of the configuration file; NULL: none */
    bool allow_tick, tls_allow_readable_key, dev, migrate_only;
    struct pw_asked asked;
    int64_t workers; /* 0: none; ticks and other processes do the work */
    int64_t in_flight, drain_ms, webhook_parallelism;
    int64_t threads, connections, streams, wait_ms, request_ms, idle_ms; /* 0: the server's default */
    int64_t body_bytes, header_bytes, steps, waits, payload_bytes, unread_events;
    int64_t memory_bytes;             /* 0: the engine's default */
    int64_t code_ms, blocked_threads; /* 0: the runner's default */
    double rate_limit;                /* requests per second and token; 0: no limit */
    struct webhook_settings webhooks[WEBHOOKS_MAX];
    size_t webhook_count;
    struct function_settings functions[FUNCTIONS_MAX];
    size_t function_count;
    bool given[PW_PROGRAM_OPTIONS_MAX]; /* set by a flag */
};

/* Sets the defaults.  Returns false without memory. */
bool settings_init(struct settings *settings);
void settings_free(struct settings *settings);

/* Checks the settings as a whole, once flags and file are read: combinations, and missing values. */
pawl_status settings_check(const struct settings *settings, struct pawl_error *error);

/* Flags, keys of the file, help and man page. */
extern const struct pw_program settings_program;

/* Returns the option of a key such as "tls.cert", or NULL. */
const struct pw_option *settings_key(const char *key);
bool settings_is_given(const struct settings *settings, const struct pw_option *option);

/* Reads flags and names of modules, but not the file that --config names. */
pawl_status settings_read_flags(struct settings *settings, int count, char **values, struct pawl_error *error);
/* Sets an option from a text, which is borrowed.  `who` names the flag or the key in errors. */
pawl_status settings_set(struct settings *settings, const struct pw_option *option, const char *who, const char *text,
                         struct pawl_error *error);

#endif
