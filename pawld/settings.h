/* settings.h - what pawld is to do, from flags and from a configuration file.
 *
 * One table (settings.c) says what there is: the flag, the key in the file, the kind, the range, the help.  Flags are read
 * first; what a flag has set, the file does not change.  Texts are the command line's, or live until settings_free(). */
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
    int64_t concurrency; /* calls of it at once, in all processes that say so; 0: no limit */
};

struct settings {
    pawl_scope *scope; /* where the texts live */
    const char *config;
    const char *store;       /* one URL */
    const char *shown_store; /* the same for people: without a password */
    const char *mount, *tokens_file, *tls_cert, *tls_key, *cors, *log, *log_level;
    struct pw_texts listen, modules;
    struct pw_texts worker_modules; /* of which only the functions are of interest */
    const pawl_value *tokens;       /* lines of the configuration file; NULL: none */
    bool allow_tick, tls_allow_readable_key, dev, migrate_only;
    struct pw_asked asked;
    int64_t workers; /* 0: none; ticks and other processes do the work */
    int64_t in_flight, drain_ms, webhook_parallelism;
    int64_t threads, connections, streams, wait_ms, request_ms, idle_ms; /* of the server; 0: its default */
    int64_t body_bytes, header_bytes, steps, waits, payload_bytes, unread_events;
    int64_t memory_bytes;             /* 0: the engine's default */
    int64_t code_ms, blocked_threads; /* of the runner; 0: its default */
    double rate_limit;                /* requests a second for each token; 0: none */
    struct webhook_settings webhooks[WEBHOOKS_MAX];
    size_t webhook_count;
    struct function_settings functions[FUNCTIONS_MAX];
    size_t function_count;
    bool given[PW_PROGRAM_OPTIONS_MAX]; /* by a flag */
};

/* With the defaults.  False: memory is out. */
bool settings_init(struct settings *settings);
void settings_free(struct settings *settings);

/* Sets what is wrong with the whole, once flags and file are read: what belongs together, what is missing. */
pawl_status settings_check(const struct settings *settings, struct pawl_error *error);

/* Flags, keys of the file, help and man page. */
extern const struct pw_program settings_program;

/* The option of this key: "tls.cert".  NULL: there is none. */
const struct pw_option *settings_key(const char *key);
bool settings_is_given(const struct settings *settings, const struct pw_option *option);

/* Reads flags and module names, not the file that --config names. */
pawl_status settings_read_flags(struct settings *settings, int count, char **values, struct pawl_error *error);
/* Sets it from a text; `who` names the flag or the key in the error.  The text is borrowed. */
pawl_status settings_set(struct settings *settings, const struct pw_option *option, const char *who, const char *text,
                         struct pawl_error *error);

#endif
