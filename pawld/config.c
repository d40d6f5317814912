/* config.c - see config.h.  What stands in a file may be secret: of tokens and secrets no error repeats a value. */
#include "config.h"

#include <pawl/hooks.h>
#include <stdio.h>
#include <string.h>

#include "common/suggest.h"
#include "files.h"
#include "problem.h"
#include "webhook.h"

/* Where we are: the file, and the path of the object in it, "" or "tls.". */
struct place {
    struct settings *settings;
    const char *file;
    char prefix[128];
    struct pawl_error *error;
};

static pawl_status no_such_key(const struct place *place, const char *key, const char *const *candidates)
{
    size_t count = 0;
    while (candidates[count] != NULL)
        count++;
    const char *nearest = pw_suggest(key, candidates, count);
    if (nearest != NULL)
        return problem(place->error, PAWL_INVALID, "%.300s: there is no key \"%s%.60s\"; did you mean \"%s%s\"?",
                       place->file, place->prefix, key, place->prefix, nearest);
    return problem(place->error, PAWL_INVALID, "%.300s: there is no key \"%s%.60s\" (see pawld --help)", place->file,
                   place->prefix, key);
}

/* ---- Webhooks ---------------------------------------------------------------------------------------------------- */

enum { SECRET_SIZE_MIN = 16 };

static PAWL_PRINTF(2, 3) pawl_status wrong(const struct place *place, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return problem(place->error, PAWL_INVALID, "%.200s: \"%s\" %s", place->file, place->prefix, text);
}

static unsigned event_bit(const char *name)
{
    static const enum pawl_hook_event events[] = { PAWL_HOOK_ENQUEUED, PAWL_HOOK_FINISHED };
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (strcmp(pawl_hook_event_name(events[i]), name) == 0)
            return events[i];
    }
    return 0;
}

static pawl_status read_events(const struct place *place, const pawl_value *events, struct webhook_settings *hook)
{
    static const char wanted[] = "is a list of onWorkflowEnqueued and onInstanceFinished";
    if (pawl_value_kind(events, NULL) != PAWL_KIND_ARRAY || pawl_value_size(events, NULL) == 0)
        return wrong(place, "%s", wanted);
    for (size_t i = 0; i < pawl_value_size(events, NULL); i++) {
        const char *name = pawl_value_string(pawl_value_item(events, i), NULL, "");
        if (event_bit(name) == 0)
            return wrong(place, "%s; there is no \"%.60s\"", wanted, name);
        hook->events |= event_bit(name);
    }
    return PAWL_OK;
}

/* The secret itself, or the file that it stands in, whose white space at the end is not part of it. */
static pawl_status read_secret(const struct place *place, const pawl_value *value, bool is_file,
                               struct webhook_settings *hook)
{
    const char *text = pawl_value_string(value, NULL, NULL);
    if (hook->secret != NULL)
        return wrong(place, "stands beside the other one: a webhook has a secret or a secretFile");
    if (text == NULL)
        return wrong(place, "is a text");
    if (is_file) {
        pawl_status status = file_read(place->settings->scope, text, &text, place->error);
        if (status != PAWL_OK)
            return status;
    }
    size_t size = strlen(text);
    while (is_file && size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL)
        size--;
    if (size < SECRET_SIZE_MIN)
        return wrong(place, "is too short to be secret: it has at least %d bytes", SECRET_SIZE_MIN);
    hook->secret = pawl_scope_format(place->settings->scope, "%.*s", (int)size, text);
    return hook->secret != NULL ? PAWL_OK : problem(place->error, PAWL_NOMEM, "out of memory");
}

static pawl_status read_hook_text(const struct place *place, const pawl_value *value, const char **out_text)
{
    const char *text = pawl_value_string(value, NULL, NULL);
    if (text == NULL || text[0] == '\0')
        return wrong(place, "is a text");
    *out_text = text;
    return PAWL_OK;
}

static pawl_status read_int(const struct place *place, const pawl_value *value, int64_t max, int64_t *out_number)
{
    int64_t number = pawl_value_int(value, NULL, 0);
    if (number < 1 || number > max)
        return wrong(place, "is a whole number from 1 to %lld", (long long)max);
    *out_number = number;
    return PAWL_OK;
}

static pawl_status read_hook_key(struct place *place, const char *key, const pawl_value *value,
                                 struct webhook_settings *hook)
{
    static const char *const keys[] = { "name",      "url",      "events",  "secret", "secretFile",
                                        "timeoutMs", "attempts", "delayMs", NULL };
    enum { HOOK_NAME, HOOK_URL, HOOK_EVENTS, HOOK_SECRET, HOOK_SECRET_FILE, HOOK_TIMEOUT, HOOK_ATTEMPTS, HOOK_DELAY };
    int which = 0;
    while (keys[which] != NULL && strcmp(keys[which], key) != 0)
        which++;
    if (keys[which] == NULL)
        return no_such_key(place, key, keys);
    struct place inner = *place;
    (void)snprintf(inner.prefix, sizeof inner.prefix, "%.40s%s", place->prefix, key);
    switch (which) {
    case HOOK_NAME:
        return read_hook_text(&inner, value, &hook->name);
    case HOOK_URL:
        return read_hook_text(&inner, value, &hook->url);
    case HOOK_EVENTS:
        return read_events(&inner, value, hook);
    case HOOK_SECRET:
    case HOOK_SECRET_FILE:
        return read_secret(&inner, value, which == HOOK_SECRET_FILE, hook);
    case HOOK_TIMEOUT:
        return read_int(&inner, value, 600000, &hook->timeout_ms);
    case HOOK_ATTEMPTS:
        return read_int(&inner, value, 100, &hook->attempts);
    default:
        return read_int(&inner, value, 86400000, &hook->delay_ms);
    }
}

static pawl_status read_hook(struct place *place, const pawl_value *value, struct webhook_settings *hook)
{
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < pawl_value_size(value, NULL); i++)
        status = read_hook_key(place, pawl_value_key(value, i), pawl_value_item(value, i), hook);
    if (status != PAWL_OK)
        return status;
    const char *missing = hook->name == NULL     ? "name"
                          : hook->url == NULL    ? "url"
                          : hook->events == 0    ? "events"
                          : hook->secret == NULL ? "secret\" or \"secretFile"
                                                 : NULL;
    if (missing != NULL)
        return problem(place->error, PAWL_INVALID, "%.300s: \"%s%s\" is missing", place->file, place->prefix, missing);
    if (strncmp(hook->url, "http://", 7) != 0 && strncmp(hook->url, "https://", 8) != 0)
        return problem(place->error, PAWL_INVALID, "%.300s: \"%surl\" begins with http:// or https://", place->file,
                       place->prefix);
    return PAWL_OK;
}

static pawl_status read_hooks(struct place *place, const struct setting *setting, const pawl_value *hooks)
{
    char who[300];
    size_t count = pawl_value_size(hooks, NULL);
    (void)snprintf(who, sizeof who, "%.200s: \"webhooks\"", place->file);
    if (pawl_value_kind(hooks, NULL) != PAWL_KIND_ARRAY || count > WEBHOOKS_MAX)
        return settings_wrong(setting, who, "that", place->error);
    for (size_t i = 0; i < count; i++) {
        struct place inner = *place;
        (void)snprintf(inner.prefix, sizeof inner.prefix, "webhooks.%zu.", i);
        if (pawl_value_kind(pawl_value_item(hooks, i), NULL) != PAWL_KIND_OBJECT)
            return settings_wrong(setting, who, "one with something else in it", place->error);
        place->settings->webhooks[i] = (struct webhook_settings){ .timeout_ms = WEBHOOK_TIMEOUT_MS };
        pawl_status status = read_hook(&inner, pawl_value_item(hooks, i), &place->settings->webhooks[i]);
        if (status != PAWL_OK)
            return status;
        place->settings->webhook_count = i + 1;
    }
    return PAWL_OK;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* An object of one key, so far: {"concurrency": 4}. */
static pawl_status read_function(struct place *place, const pawl_value *value, struct function_settings *function)
{
    static const char *const keys[] = { "concurrency", NULL };
    for (size_t i = 0; i < pawl_value_size(value, NULL); i++) {
        if (strcmp(pawl_value_key(value, i), keys[0]) != 0)
            return no_such_key(place, pawl_value_key(value, i), keys);
        struct place inner = *place;
        (void)snprintf(inner.prefix, sizeof inner.prefix, "%.90s%s", place->prefix, keys[0]);
        pawl_status status = read_int(&inner, pawl_value_item(value, i), INT32_MAX, &function->concurrency);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static pawl_status read_functions(struct place *place, const struct setting *setting, const pawl_value *functions)
{
    char who[300];
    struct settings *settings = place->settings;
    size_t count = pawl_value_size(functions, NULL);
    (void)snprintf(who, sizeof who, "%.200s: \"functions\"", place->file);
    if (pawl_value_kind(functions, NULL) != PAWL_KIND_OBJECT || count > FUNCTIONS_MAX)
        return settings_wrong(setting, who, "that", place->error);
    for (size_t i = 0; i < count; i++) {
        struct place inner = *place;
        struct function_settings *function = &settings->functions[settings->function_count];
        *function = (struct function_settings){ .name = pawl_value_key(functions, i) };
        (void)snprintf(inner.prefix, sizeof inner.prefix, "functions.%.64s.", function->name);
        if (pawl_value_kind(pawl_value_item(functions, i), NULL) != PAWL_KIND_OBJECT)
            return settings_wrong(setting, who, "one with something else in it", place->error);
        pawl_status status = read_function(&inner, pawl_value_item(functions, i), function);
        if (status != PAWL_OK)
            return status;
        settings->function_count++;
    }
    return PAWL_OK;
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

/* Whoever gives --tokens means these, and no others besides. */
static pawl_status read_tokens(struct place *place, const struct setting *setting, const pawl_value *lines)
{
    char who[300];
    bool is_list = pawl_value_kind(lines, NULL) == PAWL_KIND_ARRAY;
    for (size_t i = 0; is_list && i < pawl_value_size(lines, NULL); i++)
        is_list = pawl_value_kind(pawl_value_item(lines, i), NULL) == PAWL_KIND_STRING;
    (void)snprintf(who, sizeof who, "%.200s: \"tokens\"", place->file);
    if (!is_list)
        return settings_wrong(setting, who, "that", place->error);
    if (!settings_is_given(place->settings, settings_key("tokensFile")))
        place->settings->tokens = lines;
    return PAWL_OK;
}

/* The keys of the object at the prefix: "store" and "tls" of "", "cert" of "tls.". */
static size_t list_keys(const char *prefix, char keys[SETTINGS_MAX][64], const char **list)
{
    size_t count = 0, prefix_size = strlen(prefix);
    for (size_t i = 0; i < settings_count; i++) {
        const char *key = settings_table[i].key;
        if (key == NULL || strncmp(key, prefix, prefix_size) != 0)
            continue;
        (void)snprintf(keys[count], 64, "%.*s", (int)strcspn(key + prefix_size, "."), key + prefix_size);
        list[count] = keys[count];
        count++;
    }
    list[count] = NULL;
    return count;
}

static bool is_group(const char *path)
{
    size_t size = strlen(path);
    for (size_t i = 0; i < settings_count; i++) {
        const char *key = settings_table[i].key;
        if (key != NULL && strncmp(key, path, size) == 0 && key[size] == '.')
            return true;
    }
    return false;
}

static pawl_status read_key(struct place *place, const char *path, const char *key, const pawl_value *value)
{
    char keys[SETTINGS_MAX][64], who[512];
    const char *list[SETTINGS_MAX + 1];
    const struct setting *setting = strchr(key, '.') == NULL ? settings_key(path) : NULL;
    if (setting == NULL) {
        (void)list_keys(place->prefix, keys, list);
        return no_such_key(place, key, list);
    }
    if (setting->kind == SETTING_HOOKS)
        return read_hooks(place, setting, value);
    if (setting->kind == SETTING_FUNCTIONS)
        return read_functions(place, setting, value);
    if (setting->kind == SETTING_TOKENS)
        return read_tokens(place, setting, value);
    (void)snprintf(who, sizeof who, "%.300s: \"%s\"", place->file, path);
    return settings_set_value(place->settings, setting, who, value, place->error);
}

static pawl_status read_object(struct place *place, const pawl_value *object)
{
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < pawl_value_size(object, NULL); i++) {
        const char *key = pawl_value_key(object, i);
        const pawl_value *value = pawl_value_item(object, i);
        char path[sizeof place->prefix + 64];
        (void)snprintf(path, sizeof path, "%s%.60s", place->prefix, key);
        if (!is_group(path)) {
            status = read_key(place, path, key, value);
        } else if (pawl_value_kind(value, NULL) != PAWL_KIND_OBJECT) {
            status = problem(place->error, PAWL_INVALID, "%.300s: \"%s\" is an object", place->file, path);
        } else {
            struct place inner = *place;
            (void)snprintf(inner.prefix, sizeof inner.prefix, "%.60s.", path);
            status = read_object(&inner, value); /* groups have no groups in them, so this is one level deep */
        }
    }
    return status;
}

pawl_status config_read(struct settings *settings, const char *path, struct pawl_error *error)
{
    struct place place = { .settings = settings, .file = path, .error = error };
    struct pawl_error why;
    const char *text;
    pawl_value *value;
    pawl_status status = file_read(settings->scope, path, &text, error);
    if (status != PAWL_OK)
        return status;
    status = pawl_value_parse(settings->scope, text, strlen(text), &value, &why);
    if (status != PAWL_OK)
        return problem(error, status, "%.200s: %.280s", path, why.text);
    if (pawl_value_kind(value, NULL) != PAWL_KIND_OBJECT)
        return problem(error, PAWL_INVALID, "%.300s: a configuration is a JSON object", path);
    return read_object(&place, value);
}
