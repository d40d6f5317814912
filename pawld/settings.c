/* settings.c - see settings.h. */
#include "settings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "common/store_url.h"
#include "problem.h"

/* ---- The table --------------------------------------------------------------------------------------------------- */

static const char *const log_formats[] = { "auto", "json", "plain", NULL };
static const char *const log_levels[] = { "debug", "info", "warn", "error", NULL };

enum { PATH_SIZE_MAX = 4096, DAY_MS = 86400000, GIB = 1 << 30 };

#define AT(field) offsetof(struct settings, field)
const struct setting settings_table[] = {
    { "config", NULL, SETTING_TEXT, AT(config), 1, PATH_SIZE_MAX, NULL },
    { "store", "store", SETTING_STORE, AT(store), 1, PATH_SIZE_MAX, NULL },
    { "listen", "listen", SETTING_LIST, AT(listen), 1, 16, NULL },
    { "mount", "mount", SETTING_TEXT, AT(mount), 0, 256, NULL },
    { "workers", "workers", SETTING_INT, AT(workers), 0, 1024, NULL },
    { "in-flight", "inFlight", SETTING_INT, AT(in_flight), 1, 1000000, NULL },
    { "tokens", "tokensFile", SETTING_TEXT, AT(tokens_file), 1, PATH_SIZE_MAX, NULL },
    { "rate-limit", "rateLimit", SETTING_REAL, AT(rate_limit), 0, 1000000, NULL },
    { "tls-cert", "tls.cert", SETTING_TEXT, AT(tls_cert), 1, PATH_SIZE_MAX, NULL },
    { "tls-key", "tls.key", SETTING_TEXT, AT(tls_key), 1, PATH_SIZE_MAX, NULL },
    { "tls-allow-readable-key", "tls.allowReadableKey", SETTING_BOOL, AT(tls_allow_readable_key), 0, 1, NULL },
    { "cors", "cors", SETTING_TEXT, AT(cors), 1, 256, NULL },
    { "allow-tick", "allowTick", SETTING_BOOL, AT(allow_tick), 0, 1, NULL },
    { "log", "log", SETTING_TEXT, AT(log), 1, 16, log_formats },
    { "log-level", "logLevel", SETTING_TEXT, AT(log_level), 1, 16, log_levels },
    { "drain-ms", "drainMs", SETTING_INT, AT(drain_ms), 0, DAY_MS, NULL },
    { "dev", "dev", SETTING_BOOL, AT(dev), 0, 1, NULL },
    { "migrate-only", NULL, SETTING_BOOL, AT(migrate_only), 0, 1, NULL },
    { "help", NULL, SETTING_BOOL, AT(help), 0, 1, NULL },
    { "version", NULL, SETTING_BOOL, AT(version), 0, 1, NULL },
    { "worker", "workerModules", SETTING_LIST, AT(worker_modules), 1, TEXTS_MAX, NULL },
    { NULL, "modules", SETTING_LIST, AT(modules), 1, TEXTS_MAX, NULL }, /* on the command line: what is no flag */
    { NULL, "tokens", SETTING_TOKENS, AT(tokens), 0, 0, NULL },
    { NULL, "webhooks", SETTING_HOOKS, AT(webhooks), 0, 0, NULL },
    { NULL, "functions", SETTING_FUNCTIONS, AT(functions), 0, 0, NULL },
    { NULL, "webhookParallelism", SETTING_INT, AT(webhook_parallelism), 1, 64, NULL },
    { NULL, "limits.steps", SETTING_INT, AT(steps), 1, 1000000, NULL },
    { NULL, "limits.waits", SETTING_INT, AT(waits), 1, 1000000, NULL },
    { NULL, "limits.payloadBytes", SETTING_INT, AT(payload_bytes), 1, GIB, NULL },
    { NULL, "limits.unreadEvents", SETTING_INT, AT(unread_events), 1, 1000000000, NULL },
    { NULL, "limits.memoryBytes", SETTING_INT, AT(memory_bytes), 1 << 20, INT64_MAX, NULL },
    { NULL, "limits.bodyBytes", SETTING_INT, AT(body_bytes), 1, GIB, NULL },
    { NULL, "limits.headerBytes", SETTING_INT, AT(header_bytes), 1024, 1 << 20, NULL },
    { NULL, "limits.connections", SETTING_INT, AT(connections), 1, 1000000, NULL },
    { NULL, "limits.streams", SETTING_INT, AT(streams), 1, 1000000, NULL },
    { NULL, "limits.threads", SETTING_INT, AT(threads), 1, 64, NULL },
    { NULL, "limits.waitMs", SETTING_INT, AT(wait_ms), 1, DAY_MS, NULL },
    { NULL, "limits.requestMs", SETTING_INT, AT(request_ms), 100, DAY_MS, NULL },
    { NULL, "limits.idleMs", SETTING_INT, AT(idle_ms), 100, DAY_MS, NULL },
    { NULL, "limits.codeMs", SETTING_INT, AT(code_ms), 100, DAY_MS, NULL },
    { NULL, "limits.blockedThreads", SETTING_INT, AT(blocked_threads), 1, 10000, NULL },
};
#undef AT
const size_t settings_count = sizeof settings_table / sizeof settings_table[0];
_Static_assert(sizeof settings_table / sizeof settings_table[0] <= SETTINGS_MAX, "each has its place in `given`");

const struct setting *settings_flag(const char *flag, size_t size)
{
    for (size_t i = 0; i < settings_count; i++) {
        const char *name = settings_table[i].flag;
        if (name != NULL && strlen(name) == size && memcmp(name, flag, size) == 0)
            return &settings_table[i];
    }
    return NULL;
}

const struct setting *settings_key(const char *key)
{
    for (size_t i = 0; i < settings_count; i++) {
        if (settings_table[i].key != NULL && strcmp(settings_table[i].key, key) == 0)
            return &settings_table[i];
    }
    return NULL;
}

bool settings_is_given(const struct settings *settings, const struct setting *setting)
{
    return settings->given[setting - settings_table];
}

/* ---- Setting ----------------------------------------------------------------------------------------------------- */

static void *place_of(struct settings *settings, const struct setting *setting)
{
    return (char *)settings + setting->offset;
}

static void write_choices(const struct setting *setting, char *out_text, size_t size)
{
    size_t used = 0;
    for (const char *const *choice = setting->choices; *choice != NULL && used < size; choice++)
        used += (size_t)snprintf(out_text + used, size - used, "%s%s", used > 0 ? ", " : "one of ", *choice);
}

static void write_wanted(const struct setting *setting, char *out_text, size_t size)
{
    switch (setting->kind) {
    case SETTING_TEXT:
        if (setting->choices != NULL)
            write_choices(setting, out_text, size);
        else
            (void)snprintf(out_text, size, "a text of %lld to %lld bytes", (long long)setting->min,
                           (long long)setting->max);
        return;
    case SETTING_STORE:
        (void)snprintf(out_text, size, "the URL of one database (run one pawld for each: docs/postgres.md)");
        return;
    case SETTING_LIST:
        (void)snprintf(out_text, size, "a text, or a list of 1 to %lld texts", (long long)setting->max);
        return;
    case SETTING_INT:
        (void)snprintf(out_text, size, "a whole number from %lld to %lld", (long long)setting->min,
                       (long long)setting->max);
        return;
    case SETTING_REAL:
        (void)snprintf(out_text, size, "a number from %lld to %lld", (long long)setting->min, (long long)setting->max);
        return;
    case SETTING_BOOL:
        (void)snprintf(out_text, size, "true or false");
        return;
    case SETTING_TOKENS:
        (void)snprintf(out_text, size, "a list of texts, each a line that \"pawld token new\" printed");
        return;
    case SETTING_HOOKS:
        (void)snprintf(out_text, size, "a list of at most %d objects", WEBHOOKS_MAX);
        return;
    case SETTING_FUNCTIONS:
        (void)snprintf(out_text, size, "an object of at most %d functions, each {\"concurrency\": n}", FUNCTIONS_MAX);
        return;
    }
}

pawl_status settings_wrong(const struct setting *setting, const char *who, const char *what, struct pawl_error *error)
{
    char wanted[160] = "";
    write_wanted(setting, wanted, sizeof wanted);
    return problem(error, PAWL_INVALID, "%s is %s, not %s", who, wanted, what);
}

static bool is_choice(const struct setting *setting, const char *text)
{
    for (const char *const *choice = setting->choices; choice != NULL; choice++) {
        if (*choice == NULL)
            return false;
        if (strcmp(*choice, text) == 0)
            return true;
    }
    return true;
}

static bool keep_text(struct settings *settings, const struct setting *setting, const char *text)
{
    size_t size = strlen(text);
    const char *kept = pawl_scope_format(settings->scope, "%s", text);
    if (kept == NULL || size < (size_t)setting->min || size > (size_t)setting->max || !is_choice(setting, text))
        return false;
    *(const char **)place_of(settings, setting) = kept;
    return true;
}

static bool keep_store(struct settings *settings, const struct setting *setting, const char *url)
{
    char *room = pawl_scope_take(settings->scope, pw_store_url_room(strlen(url)));
    if (room == NULL || !keep_text(settings, setting, url))
        return false;
    settings->shown_store = pw_store_url_split(settings->store, room).shown;
    return true;
}

static bool append_text(struct settings *settings, const struct setting *setting, const char *text)
{
    struct texts *texts = place_of(settings, setting);
    const char *kept = pawl_scope_format(settings->scope, "%s", text);
    if (kept == NULL || kept[0] == '\0' || texts->count >= (size_t)setting->max)
        return false;
    texts->items[texts->count++] = kept;
    return true;
}

static bool keep_int(struct settings *settings, const struct setting *setting, int64_t number)
{
    if (number < setting->min || number > setting->max)
        return false;
    *(int64_t *)place_of(settings, setting) = number;
    return true;
}

static bool keep_real(struct settings *settings, const struct setting *setting, double number)
{
    if (!(number >= (double)setting->min && number <= (double)setting->max))
        return false;
    *(double *)place_of(settings, setting) = number;
    return true;
}

static bool keep_int_text(struct settings *settings, const struct setting *setting, const char *text)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && keep_int(settings, setting, number);
}

static bool keep_real_text(struct settings *settings, const struct setting *setting, const char *text)
{
    char *end;
    double number = strtod(text, &end);
    return end != text && *end == '\0' && keep_real(settings, setting, number);
}

pawl_status settings_set_text(struct settings *settings, const struct setting *setting, const char *who,
                              const char *text, struct pawl_error *error)
{
    bool kept = false;
    char what[96];
    switch (setting->kind) {
    case SETTING_TEXT:
        kept = keep_text(settings, setting, text);
        break;
    case SETTING_STORE: /* two are an error: the last one alone would be half of what was meant */
        kept = !settings_is_given(settings, setting) && keep_store(settings, setting, text);
        break;
    case SETTING_LIST:
        kept = append_text(settings, setting, text);
        break;
    case SETTING_INT:
        kept = keep_int_text(settings, setting, text);
        break;
    case SETTING_REAL:
        kept = keep_real_text(settings, setting, text);
        break;
    case SETTING_BOOL:
        *(bool *)place_of(settings, setting) = kept = true;
        break;
    case SETTING_TOKENS:
    case SETTING_HOOKS:
    case SETTING_FUNCTIONS:
        break;
    }
    if (setting->kind == SETTING_STORE) /* not the URL: it may hold a password */
        (void)snprintf(what, sizeof what, "%s", settings_is_given(settings, setting) ? "two" : "that");
    else
        (void)snprintf(what, sizeof what, "\"%.80s\"", text);
    settings->given[setting - settings_table] = true;
    return kept ? PAWL_OK : settings_wrong(setting, who, what, error);
}

static bool append_value(struct settings *settings, const struct setting *setting, const pawl_value *value)
{
    const char *text = pawl_value_string(value, NULL, NULL);
    return text != NULL && append_text(settings, setting, text);
}

static bool append_values(struct settings *settings, const struct setting *setting, const pawl_value *value)
{
    ((struct texts *)place_of(settings, setting))->count = 0;
    if (pawl_value_kind(value, NULL) != PAWL_KIND_ARRAY)
        return append_value(settings, setting, value);
    for (size_t i = 0; i < pawl_value_size(value, NULL); i++) {
        if (!append_value(settings, setting, pawl_value_item(value, i)))
            return false;
    }
    return pawl_value_size(value, NULL) > 0;
}

/* A number that is not there would be NaN, or INT64_MIN, which no range has. */
static bool keep_value(struct settings *settings, const struct setting *setting, const pawl_value *value)
{
    const char *text = pawl_value_string(value, NULL, NULL);
    switch (setting->kind) {
    case SETTING_TEXT:
        return text != NULL && keep_text(settings, setting, text);
    case SETTING_STORE:
        return text != NULL && keep_store(settings, setting, text);
    case SETTING_LIST:
        return append_values(settings, setting, value);
    case SETTING_INT:
        return keep_int(settings, setting, pawl_value_int(value, NULL, INT64_MIN));
    case SETTING_REAL:
        return keep_real(settings, setting, pawl_value_real(value, NULL, NAN));
    case SETTING_BOOL:
        *(bool *)place_of(settings, setting) = pawl_value_bool(value, NULL, false);
        return pawl_value_kind(value, NULL) == PAWL_KIND_BOOL;
    case SETTING_TOKENS:
    case SETTING_HOOKS:
    case SETTING_FUNCTIONS:
        break;
    }
    return false;
}

pawl_status settings_set_value(struct settings *settings, const struct setting *setting, const char *who,
                               const pawl_value *value, struct pawl_error *error)
{
    /* What a flag has set is looked at all the same: a file is right or wrong, whatever the flags are. */
    struct settings aside = { .scope = settings->scope };
    if (keep_value(settings_is_given(settings, setting) ? &aside : settings, setting, value))
        return PAWL_OK;
    enum pawl_kind kind = pawl_value_kind(value, NULL);
    char what[96] = "that";
    if (setting->kind == SETTING_STORE && kind == PAWL_KIND_ARRAY)
        (void)snprintf(what, sizeof what, "a list");
    else if (setting->kind != SETTING_STORE && kind == PAWL_KIND_STRING) /* a URL may hold a password */
        (void)snprintf(what, sizeof what, "\"%.80s\"", pawl_value_string(value, NULL, ""));
    else if (kind == PAWL_KIND_INT)
        (void)snprintf(what, sizeof what, "%lld", (long long)pawl_value_int(value, NULL, 0));
    return settings_wrong(setting, who, what, error);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

bool settings_init(struct settings *settings)
{
    *settings = (struct settings){ .scope = pawl_scope_new(),
                                   .store = "sqlite:pawl.db",
                                   .shown_store = "sqlite:pawl.db",
                                   .mount = "/api",
                                   .log = "auto",
                                   .log_level = "info",
                                   .workers = 8,
                                   .drain_ms = 30000 };
    return settings->scope != NULL;
}

void settings_free(struct settings *settings)
{
    pawl_scope_free(settings->scope);
}

static bool is_source(const char *path)
{
    size_t size = strlen(path);
    return size > 2 && strcmp(path + size - 2, ".c") == 0;
}

static pawl_status check_sources(const struct settings *settings, struct pawl_error *error)
{
    for (size_t i = 0; i < settings->modules.count; i++) {
        const char *path = settings->modules.items[i];
        if (settings->dev && !is_source(path))
            return problem(error, PAWL_INVALID, "--dev takes C source files, \"file.c\"; \"%s\" is none", path);
        if (!settings->dev && is_source(path))
            return problem(error, PAWL_INVALID, "\"%s\" is source: pawld --dev %s compiles and runs it", path, path);
    }
    for (size_t i = 0; i < settings->worker_modules.count; i++) {
        const char *path = settings->worker_modules.items[i];
        if (is_source(path))
            return problem(error, PAWL_INVALID,
                           "--worker takes a shared object, with or without --dev; \"%s\" is source", path);
    }
    return PAWL_OK;
}

pawl_status settings_check(const struct settings *settings, struct pawl_error *error)
{
    const char *mount = settings->mount;
    if (settings->migrate_only && settings->dev)
        return problem(error, PAWL_INVALID, "--migrate-only runs nothing, and --dev does; only one of them");
    bool has_some = settings->modules.count > 0 || (settings->worker_modules.count > 0 && !settings->dev);
    if (!has_some && !settings->migrate_only)
        return problem(error, PAWL_INVALID, "which modules? pawld [options] module.so ... (see pawld --help)");
    if (mount[0] != '\0' && (mount[0] != '/' || mount[strlen(mount) - 1] == '/' || strpbrk(mount, "?# ") != NULL))
        return problem(error, PAWL_INVALID,
                       "--mount is a path like \"/api\", without a slash at its end, or empty; not \"%s\"", mount);
    if ((settings->tls_cert == NULL) != (settings->tls_key == NULL))
        return problem(error, PAWL_INVALID, "--tls-cert and --tls-key belong together; only one of them is there");
    if (settings->rate_limit > 0 && settings->tokens_file == NULL && settings->tokens == NULL)
        return problem(error, PAWL_INVALID, "--rate-limit is for each token, and there are no tokens: see --tokens");
    for (size_t i = 0; i < settings->listen.count; i++) {
        struct address address;
        pawl_status status = address_parse(settings->listen.items[i], &address, error);
        if (status != PAWL_OK)
            return status;
    }
    return check_sources(settings, error);
}
