/* settings.h - what pawld is to do, from flags and from a configuration file.
 *
 * One table (settings.c) says what there is: the flag, the key in the file, the kind, the range.  Flags are read first;
 * what a flag has set, the file does not change.  All texts live until settings_free(). */
#ifndef PAWLD_SETTINGS_H
#define PAWLD_SETTINGS_H

#include <pawl/http.h>

enum { TEXTS_MAX = 256, WEBHOOKS_MAX = 32, FUNCTIONS_MAX = 256, SETTINGS_MAX = 48 };

struct texts {
    const char *items[TEXTS_MAX];
    size_t count;
};

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
    struct texts listen, modules;
    struct texts worker_modules; /* of which only the functions are of interest */
    const pawl_value *tokens;    /* lines of the configuration file; NULL: none */
    bool allow_tick, tls_allow_readable_key, dev, help, version, migrate_only;
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
    bool given[SETTINGS_MAX]; /* by a flag */
};

/* With the defaults.  False: memory is out. */
bool settings_init(struct settings *settings);
void settings_free(struct settings *settings);

/* Sets what is wrong with the whole, once flags and file are read: what belongs together, what is missing. */
pawl_status settings_check(const struct settings *settings, struct pawl_error *error);

/* ---- The table --------------------------------------------------------------------------------------------------- */

enum setting_kind {
    SETTING_TEXT,
    SETTING_STORE,
    SETTING_LIST,
    SETTING_INT,
    SETTING_REAL,
    SETTING_BOOL,
    SETTING_TOKENS,
    SETTING_HOOKS,
    SETTING_FUNCTIONS
};

struct setting {
    const char *flag; /* without its dashes; NULL: only in the file */
    const char *key;  /* a path: "tls.cert"; NULL: only a flag */
    enum setting_kind kind;
    size_t offset;              /* in struct settings */
    int64_t min, max;           /* of numbers; of a text's size */
    const char *const *choices; /* of a text, up to a NULL; NULL: any */
};

extern const struct setting settings_table[];
extern const size_t settings_count;

/* NULL: there is none. */
const struct setting *settings_flag(const char *flag, size_t size);
const struct setting *settings_key(const char *key);

/* Sets it from a flag's text; `who` names the flag in the error. */
pawl_status settings_set_text(struct settings *settings, const struct setting *setting, const char *who,
                              const char *text, struct pawl_error *error);
/* Sets it from the file, unless a flag has; not for tokens, hooks and functions. */
pawl_status settings_set_value(struct settings *settings, const struct setting *setting, const char *who,
                               const pawl_value *value, struct pawl_error *error);
/* That what stands there is not of the kind, or not in the range. */
pawl_status settings_wrong(const struct setting *setting, const char *who, const char *what, struct pawl_error *error);
bool settings_is_given(const struct settings *settings, const struct setting *setting);

#endif
