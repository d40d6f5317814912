/* fuzz_config.c - pawld's configuration file.  The files that it reads are here: "input" is the input, "secret" a secret.
 *
 * It is refused with one line that says what is wrong, or what was read is within what the table of settings says, and
 * every webhook is whole.  No error repeats a secret. */
#include <netdb.h>

#include "fuzz.h"
#include "pawld/config.h"
#include "pawld/files.h"
#include "pawld/problem.h"

#define MARKER "hunter2hunter2hunter2"

static char *the_input; /* file_read() is told of no user */

/* In place of pawld/files.c. */
pawl_status file_read(pawl_scope *scope, const char *path, const char **out_text, struct pawl_error *error)
{
    if (strcmp(path, "input") != 0 && strcmp(path, "secret") != 0)
        return problem(error, PAWL_INVALID, "cannot read %.300s", path);
    *out_text = pawl_scope_format(scope, "%s", path[0] == 'i' ? the_input : MARKER "\n");
    assert(*out_text != NULL);
    return PAWL_OK;
}

/* In place of getaddrinfo(): no name is looked up, so no server is asked. */
int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **out_found);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **out_found);

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **out_found)
{
    struct addrinfo numeric = *hints;
    numeric.ai_flags |= AI_NUMERICHOST;
    return __real_getaddrinfo(node, service, &numeric, out_found);
}

static const void *at(const struct settings *settings, size_t offset)
{
    return (const char *)settings + offset;
}

/* 0 and NULL are what was not said. */
static void check_setting(const struct settings *settings, const struct pw_option *setting)
{
    const void *place = at(settings, setting->offset);
    if (setting->kind == PW_OPTION_NUMBER) {
        int64_t number = *(const int64_t *)place;
        assert(number == 0 || (number >= setting->min && number <= setting->max));
    } else if (setting->kind == PW_OPTION_REAL) {
        double number = *(const double *)place;
        assert(number >= 0 && number <= (double)setting->max);
    } else if (setting->kind == PW_OPTION_TEXT) {
        const char *text = *(const char *const *)place;
        assert(text == NULL || (strlen(text) >= (size_t)setting->min && strlen(text) <= (size_t)setting->max));
    } else if (setting->kind == PW_OPTION_TEXTS) {
        const struct pw_texts *texts = place;
        assert(texts->count <= PW_TEXTS_MAX);
        for (size_t i = 0; i < texts->count; i++)
            assert(texts->items[i] != NULL);
    }
}

static void check_settings(const struct settings *settings)
{
    struct pawl_error error = { PAWL_OK, "" };
    for (size_t i = 0; i < settings_program.option_count; i++)
        check_setting(settings, &settings_program.options[i]);
    assert(settings->webhook_count <= WEBHOOKS_MAX);
    for (size_t i = 0; i < settings->webhook_count; i++) {
        const struct webhook_settings *hook = &settings->webhooks[i];
        assert(hook->name != NULL && hook->events != 0 && hook->secret != NULL && strlen(hook->secret) >= 16);
        assert(hook->url != NULL && strncmp(hook->url, "http", 4) == 0 && hook->timeout_ms > 0);
    }
    pawl_status status = settings_check(settings, &error);
    assert(status == PAWL_OK || error.text[0] != '\0');
}

/* Does the marker stand in the input just once, as a secret? */
static bool has_secret(const char *text)
{
    static const char *const before[] = { "\"secret\":\"", "\"tokens\":[\"" };
    const char *marker = strstr(text, MARKER);
    if (marker == NULL || strstr(marker + 1, MARKER) != NULL)
        return false;
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        size_t size = strlen(before[i]);
        if ((size_t)(marker - text) >= size && memcmp(marker - size, before[i], size) == 0)
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    struct pawl_error error = { PAWL_OK, "" };
    struct settings settings;
    bool is_good = settings_init(&settings);
    assert(is_good);
    the_input = fuzz_string(fuzz_rest(&input));
    pawl_status status = config_read(&settings, "input", &error);
    if (status == PAWL_OK)
        check_settings(&settings);
    else
        assert(error.text[0] != '\0' && strchr(error.text, '\n') == NULL);
    bool may_be_told = strstr(the_input, MARKER) != NULL && !has_secret(the_input);
    assert(may_be_told || strstr(error.text, MARKER) == NULL);
    settings_free(&settings);
    free(the_input);
    return 0;
}
