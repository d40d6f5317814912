/* config.c - see config.h.
 *
 * read_object() looks up each key in a table of options and sets the value just as a flag would.  Keys with a dot in
 * the table, such as "tls.cert", stand in a nested object.  Tokens, webhooks and functions are read by functions of
 * their own.  Errors never quote the value of a token or a secret. */
#include "config.h"

#include <pawl/hooks.h>
#include <stdio.h>
#include <string.h>

#include "common/suggest.h"
#include "common/limits.h"
#include "files.h"
#include "problem.h"
#include "webhook.h"

/* The current position: the file, and the path of the object in it, such as "" or "tls.". */
struct place {
    struct settings *settings;
    const char *file;
    char prefix[128];
    struct pawl_error *error;
};

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

/* Reads the secret, or the file that holds it.  White space at the end of the file does not count. */
static pawl_status read_secret(const struct place *place, const pawl_value *value, bool is_file,
                               struct webhook_settings *hook)
{
    const char *text = pawl_value_string(value, NULL, NULL);
    if (hook->secret != NULL)
        return wrong(place, "is one too many: a webhook has either a secret or a secretFile");
    if (text == NULL)
        return wrong(place, "is a text");
    if (is_file)
        PAWL_TRY(file_read(place->settings->scope, text, &text, place->error));
    size_t size = strlen(text);
    while (is_file && size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL)
        size--;
    if (size < SECRET_SIZE_MIN)
        return wrong(place, "is too short to be secret: it has at least %d bytes", SECRET_SIZE_MIN);
    hook->secret = pawl_scope_format(place->settings->scope, "%.*s", (int)size, text);
    return hook->secret != NULL ? PAWL_OK : problem(place->error, PAWL_NOMEM, "out of memory");
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

#define HOOK(field) .offset = offsetof(struct webhook_settings, field)
static const struct pw_option hook_options[] = {
    { NULL, 0, PW_OPTION_TEXT, NULL, .key = "name", HOOK(name) },
    { NULL, 0, PW_OPTION_TEXT, NULL, .key = "url", HOOK(url) },
    { NULL, 0, PW_OPTION_OTHER, NULL, .key = "events" },
    { NULL, 0, PW_OPTION_OTHER, NULL, .key = "secret" },
    { NULL, 0, PW_OPTION_OTHER, NULL, .key = "secretFile" },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .key = "timeoutMs", .min = 1, .max = 600000, HOOK(timeout_ms) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .key = "attempts", .min = 1, .max = 100, HOOK(attempts) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .key = "delayMs", .min = 1, .max = PW_DAY_MS, HOOK(delay_ms) },
};
#undef HOOK

static const struct pw_option function_options[] = {
    { NULL, 0, PW_OPTION_NUMBER, NULL, .key = "concurrency", .min = 1, .max = INT32_MAX,
      .offset = offsetof(struct function_settings, concurrency) },
};

/* A JSON object and what its keys set. */
struct target {
    const struct pw_option *options;
    size_t count;
    void *base;
    pawl_status (*read_other)(struct place *place, const struct pw_option *option, const pawl_value *value, void *base);
};

static pawl_status read_object(struct place *place, const struct target *target, const char *group,
                               const pawl_value *object);

static pawl_status not_wanted(const struct place *place, const struct pw_option *option, const pawl_value *value)
{
    char wanted[160], what[96] = "that";
    enum pawl_kind kind = pawl_value_kind(value, NULL);
    bool is_store = option == settings_key("store"); /* its URL may hold a password */
    if (is_store)
        (void)snprintf(wanted, sizeof wanted, "the URL of one database (run one pawld for each: docs/postgres.md)");
    else
        pw_option_wanted(option, wanted, sizeof wanted);
    if (is_store && kind == PAWL_KIND_ARRAY)
        (void)snprintf(what, sizeof what, "a list");
    else if (kind == PAWL_KIND_STRING && !is_store && option->kind != PW_OPTION_OTHER) /* these may be secret */
        (void)snprintf(what, sizeof what, "\"%.80s\"", pawl_value_string(value, NULL, ""));
    else if (kind == PAWL_KIND_INT)
        (void)snprintf(what, sizeof what, "%lld", (long long)pawl_value_int(value, NULL, 0));
    return wrong(place, "is %s, not %s", wanted, what);
}

/* Returns the value as the text that a flag would have.  Returns NULL if it is of another type. */
static const char *text_of(const struct pw_option *option, const pawl_value *value, char out_number[40])
{
    enum pawl_kind kind = pawl_value_kind(value, NULL);
    bool is_number = option->kind == PW_OPTION_NUMBER || option->kind == PW_OPTION_REAL;
    if (kind == PAWL_KIND_STRING && !is_number && option->kind != PW_OPTION_FLAG && option->kind != PW_OPTION_OTHER)
        return pawl_value_string(value, NULL, NULL);
    if (kind == PAWL_KIND_INT && is_number)
        (void)snprintf(out_number, 40, "%lld", (long long)pawl_value_int(value, NULL, 0));
    else if (kind == PAWL_KIND_REAL && option->kind == PW_OPTION_REAL)
        (void)snprintf(out_number, 40, "%.17g", pawl_value_real(value, NULL, 0));
    else
        return NULL;
    return out_number;
}

static pawl_status set_text(const struct place *place, const struct target *target, const struct pw_option *option,
                            const char *text)
{
    char who[400], problem_text[PW_PROBLEM_SIZE];
    (void)snprintf(who, sizeof who, "%.200s: \"%s\"", place->file, place->prefix);
    if (target->base == place->settings)
        return settings_set(target->base, option, who, text, place->error);
    return pw_option_set(option, target->base, who, text, problem_text)
               ? PAWL_OK
               : problem(place->error, PAWL_INVALID, "%s", problem_text);
}

static pawl_status read_value(struct place *place, const struct target *target, const struct pw_option *option,
                              const pawl_value *value)
{
    char number[40];
    const char *text = text_of(option, value, number);
    bool is_list = option->kind == PW_OPTION_TEXTS && pawl_value_kind(value, NULL) == PAWL_KIND_ARRAY;
    if (option->kind == PW_OPTION_OTHER)
        return target->read_other(place, option, value, target->base);
    if (option->kind == PW_OPTION_TEXTS)
        ((struct pw_texts *)(void *)((char *)target->base + option->offset))->count = 0;
    if (text != NULL)
        return set_text(place, target, option, text);
    if (option->kind == PW_OPTION_FLAG && pawl_value_kind(value, NULL) == PAWL_KIND_BOOL) {
        *(bool *)((char *)target->base + option->offset) = pawl_value_bool(value, NULL, false);
        return PAWL_OK;
    }
    for (size_t i = 0; is_list && i < pawl_value_size(value, NULL); i++) {
        text = pawl_value_string(pawl_value_item(value, i), NULL, NULL);
        PAWL_TRY(text != NULL ? set_text(place, target, option, text) : not_wanted(place, option, value));
    }
    return is_list && pawl_value_size(value, NULL) > 0 ? PAWL_OK : not_wanted(place, option, value);
}

/* Lists the keys of the group: "store" and "tls" for "", "cert" for "tls.". */
static pawl_status no_such_key(const struct place *place, const struct target *target, const char *group,
                               const char *key)
{
    char keys[PW_PROGRAM_OPTIONS_MAX][64];
    const char *list[PW_PROGRAM_OPTIONS_MAX];
    size_t count = 0, size = strlen(group);
    for (size_t i = 0; i < target->count; i++) {
        const char *own = target->options[i].key;
        if (own == NULL || strncmp(own, group, size) != 0)
            continue;
        (void)snprintf(keys[count], 64, "%.*s", (int)strcspn(own + size, "."), own + size);
        list[count] = keys[count];
        count++;
    }
    const char *nearest = pw_suggest(key, list, count);
    if (nearest != NULL)
        return problem(place->error, PAWL_INVALID, "%.300s: there is no key \"%s%.60s\"; did you mean \"%s%s\"?",
                       place->file, place->prefix, key, place->prefix, nearest);
    return problem(place->error, PAWL_INVALID, "%.300s: there is no key \"%s%.60s\" (see pawld --help)", place->file,
                   place->prefix, key);
}

/* A value that a flag overrides is checked all the same, so that a file is right or wrong whatever the flags are. */
static pawl_status read_key(struct place *place, const struct target *target, const char *group, const char *key,
                            const pawl_value *value)
{
    char path[128];
    struct place inner = *place;
    struct settings aside = { .scope = place->settings->scope };
    struct target other = *target;
    size_t size = (size_t)snprintf(path, sizeof path, "%s%.60s", group, key);
    (void)snprintf(inner.prefix, sizeof inner.prefix, "%.60s%.60s", place->prefix, key);
    for (size_t i = 0; i < target->count; i++) {
        const struct pw_option *option = &target->options[i];
        if (option->key == NULL || strncmp(option->key, path, size) != 0 || strchr(key, '.') != NULL)
            continue;
        if (option->key[size] == '\0') {
            if (target->base == place->settings && settings_is_given(place->settings, option))
                other.base = inner.settings = &aside;
            return read_value(&inner, &other, option, value);
        }
        if (option->key[size] != '.')
            continue;
        if (pawl_value_kind(value, NULL) != PAWL_KIND_OBJECT)
            return wrong(&inner, "is an object");
        (void)snprintf(inner.prefix, sizeof inner.prefix, "%.60s%.60s.", place->prefix, key);
        return read_object(&inner, target, inner.prefix, value); /* groups are not nested further */
    }
    return no_such_key(place, target, group, key);
}

static pawl_status read_object(struct place *place, const struct target *target, const char *group,
                               const pawl_value *object)
{
    for (size_t i = 0; i < pawl_value_size(object, NULL); i++)
        PAWL_TRY(read_key(place, target, group, pawl_value_key(object, i), pawl_value_item(object, i)));
    return PAWL_OK;
}

/* ---- What is not just set ---------------------------------------------------------------------------------------- */

static pawl_status read_hook_other(struct place *place, const struct pw_option *option, const pawl_value *value,
                                   void *base)
{
    if (strcmp(option->key, "events") == 0)
        return read_events(place, value, base);
    return read_secret(place, value, strcmp(option->key, "secretFile") == 0, base);
}

static pawl_status read_hook(struct place *place, const pawl_value *value, struct webhook_settings *hook)
{
    const struct target target = { hook_options, sizeof hook_options / sizeof hook_options[0], hook, read_hook_other };
    *hook = (struct webhook_settings){ .timeout_ms = WEBHOOK_TIMEOUT_MS };
    PAWL_TRY(read_object(place, &target, "", value));
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

/* --tokens replaces the tokens of the file. */
static pawl_status read_tokens(struct place *place, const pawl_value *lines)
{
    if (!settings_is_given(place->settings, settings_key("tokensFile")))
        place->settings->tokens = lines;
    return PAWL_OK;
}

/* Reads "tokens" (a list of texts), "webhooks" (a list of objects) and "functions" (an object of objects). */
static pawl_status read_other(struct place *place, const struct pw_option *option, const pawl_value *value, void *base)
{
    struct settings *settings = base;
    bool is_functions = strcmp(option->key, "functions") == 0, is_tokens = strcmp(option->key, "tokens") == 0;
    enum pawl_kind inner_kind = is_tokens ? PAWL_KIND_STRING : PAWL_KIND_OBJECT;
    size_t count = pawl_value_size(value, NULL), count_max = is_functions ? FUNCTIONS_MAX : WEBHOOKS_MAX;
    bool is_wanted = pawl_value_kind(value, NULL) == (is_functions ? PAWL_KIND_OBJECT : PAWL_KIND_ARRAY) &&
                     (is_tokens || count <= count_max);
    for (size_t i = 0; is_wanted && i < count; i++)
        is_wanted = pawl_value_kind(pawl_value_item(value, i), NULL) == inner_kind;
    if (!is_wanted)
        return not_wanted(place, option, value);
    if (is_tokens)
        return read_tokens(place, value);
    for (size_t i = 0; i < count; i++) {
        struct place inner = *place;
        if (is_functions) {
            struct function_settings *function = &settings->functions[settings->function_count++];
            *function = (struct function_settings){ .name = pawl_value_key(value, i) };
            (void)snprintf(inner.prefix, sizeof inner.prefix, "functions.%.64s.", function->name);
            PAWL_TRY(read_object(&inner, &(struct target){ function_options, 1, function, NULL }, "",
                                 pawl_value_item(value, i)));
        } else {
            (void)snprintf(inner.prefix, sizeof inner.prefix, "webhooks.%zu.", i);
            PAWL_TRY(read_hook(&inner, pawl_value_item(value, i), &settings->webhooks[settings->webhook_count++]));
        }
    }
    return PAWL_OK;
}

pawl_status config_read(struct settings *settings, const char *path, struct pawl_error *error)
{
    struct place place = { .settings = settings, .file = path, .error = error };
    struct pawl_error why;
    const char *text;
    pawl_value *value;
    PAWL_TRY(file_read(settings->scope, path, &text, error));
    pawl_status status = pawl_value_parse(settings->scope, text, strlen(text), &value, &why);
    if (status != PAWL_OK)
        return problem(error, status, "%.200s: %.280s", path, why.text);
    if (pawl_value_kind(value, NULL) != PAWL_KIND_OBJECT)
        return problem(error, PAWL_INVALID, "%.300s: a configuration is a JSON object", path);
    return read_object(
        &place, &(struct target){ settings_program.options, settings_program.option_count, settings, read_other }, "",
        value);
}
