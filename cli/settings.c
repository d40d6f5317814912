/* settings.c - see settings.h. */
#define _GNU_SOURCE /* popen() with "e" */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "config.h"
#include "json_input.h"
#include "moment.h"
#include "text.h"

enum { TIMEOUT_MS = 30000, TOKEN_SIZE_MAX = 4096 };

struct source {
    struct pool *pool;
    struct problem *problem;
    const struct invocation *invocation;
    struct profile profile;
    bool is_elsewhere; /* another server than the profile's: do not send the profile's token and headers there */
};

/* Finds a value, and how it was given.  NULL: it was not given. */
static enum exit_code look_up(struct source *source, enum option_id id, const char **out_value, const char **out_who)
{
    const struct pw_option *option = &option_table[id];
    const char *variable = option->environment != NULL ? getenv(option->environment) : NULL;
    *out_who = NULL;
    *out_value = source->invocation->values[id];
    if (*out_value != NULL) {
        *out_who = pool_format(source->pool, "--%s", option->name);
    } else if (variable != NULL && variable[0] != '\0') {
        *out_value = variable;
        *out_who = option->environment;
        return option_check(source->problem, id, option->environment, variable);
    } else if (source->profile.values[id] != NULL) {
        *out_value = source->profile.values[id];
        *out_who = pool_format(source->pool, "%s: %s", source->profile.places[id], option->name);
    }
    return EXIT_DONE;
}

/* ---- Where the server is ----------------------------------------------------------------------------------------------- */

/* "unix:/run/pawl.sock" or, with another mount, "unix:/run/pawl.sock:/mount". */
static void use_socket(struct pool *pool, const char *value, struct settings *settings)
{
    const char *path = value + strlen("unix:"), *mount = strstr(path, ":/");
    settings->unix_socket = mount != NULL ? pool_copy(pool, path, (size_t)(mount - path)) : path;
    settings->base_url = pool_format(pool, "http://localhost%s", mount != NULL ? mount + 1 : "/api");
}

/* Removes what stands before an @, which may hold a password. */
static const char *hide_password(struct pool *pool, const char *url)
{
    const char *host = strstr(url, "://");
    host = host != NULL ? host + 3 : url;
    const char *at = memchr(host, '@', strcspn(host, "/"));
    return at != NULL ? pool_format(pool, "%.*s%s", (int)(host - url), url, at + 1) : url;
}

static enum exit_code read_base_url(struct source *source, struct settings *settings)
{
    const char *value, *who;
    TRY(look_up(source, OPTION_BASE_URL, &value, &who));
    const char *own = source->profile.values[OPTION_BASE_URL];
    source->is_elsewhere = own != NULL && strcmp(value, own) != 0;
    if (value == NULL)
        value = "http://127.0.0.1:7295/api";
    settings->shown_url = hide_password(source->pool, value);
    if (text_starts(value, "unix:") && value[5] != '\0') {
        use_socket(source->pool, value, settings);
    } else if (text_starts(value, "http://") || text_starts(value, "https://")) {
        settings->base_url = value;
        if (strpbrk(value, "?#") != NULL)
            return problem_use(source->problem, "%s ends with the mount, such as /api, without a ? or #: %s", who,
                               settings->shown_url);
    } else {
        return problem_use(source->problem, "%s begins with http://, https:// or unix:, not as \"%s\" does", who,
                           settings->shown_url);
    }
    size_t size = strlen(settings->base_url);
    while (size > 0 && settings->base_url[size - 1] == '/')
        size--;
    settings->base_url = pool_copy(source->pool, settings->base_url, size);
    return EXIT_DONE;
}

/* ---- Who we are ---------------------------------------------------------------------------------------------------------- */

/* Keeps the first line as the token, if it can be part of a header. */
static enum exit_code keep_token(struct source *source, struct settings *settings, const char *who, const char *text)
{
    size_t size = strcspn(text, "\r\n");
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
        size--;
    if (size == 0 || size > TOKEN_SIZE_MAX)
        return problem_use(source->problem, "%s: there is no token in its first line", who);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
            return problem_use(source->problem,
                               "%s: its first line is no token: there is a character in it that cannot "
                               "be part of one",
                               who);
    settings->headers[settings->header_count++] =
        pool_format(source->pool, "Authorization: Bearer %.*s", (int)size, text);
    return EXIT_DONE;
}

static enum exit_code run_token_command(struct source *source, struct settings *settings, const char *who,
                                        const char *command)
{
    char line[TOKEN_SIZE_MAX + 2] = "";
    FILE *pipe = popen(command, "re");
    if (pipe == NULL)
        return problem_use(source->problem, "%s cannot be run", who);
    bool is_read = fgets(line, sizeof line, pipe) != NULL;
    char rest[256];
    while (fgets(rest, sizeof rest, pipe) != NULL)
        ; /* else a closed pipe would end the command */
    int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return problem_use(source->problem, "%s failed, with exit code %d", who,
                           WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return keep_token(source, settings, who, is_read ? line : "");
}

static bool is_authorization(const char *header)
{
    return strncasecmp(header, "authorization:", 14) == 0;
}

static bool has_authorization(const struct settings *settings)
{
    for (size_t i = 0; i < settings->header_count; i++)
        if (is_authorization(settings->headers[i]))
            return true;
    return false;
}

/* A flag wins over the environment, which wins over the profile; on one level the file wins over the command. */
static enum exit_code read_token(struct source *source, struct settings *settings)
{
    const char *file, *file_who, *command, *command_who, *text = "", *token = getenv("PAWL_TOKEN");
    if (source->is_elsewhere)
        source->profile.values[OPTION_TOKEN_FILE] = source->profile.values[OPTION_TOKEN_COMMAND] = NULL;
    TRY(look_up(source, OPTION_TOKEN_FILE, &file, &file_who));
    TRY(look_up(source, OPTION_TOKEN_COMMAND, &command, &command_who));
    if (has_authorization(settings))
        return EXIT_DONE;
    bool has_flag = invocation_has(source->invocation, OPTION_TOKEN_FILE) ||
                    invocation_has(source->invocation, OPTION_TOKEN_COMMAND);
    if (!has_flag && token != NULL && token[0] != '\0')
        return keep_token(source, settings, "PAWL_TOKEN", token);
    if (file != NULL && invocation_has(source->invocation, OPTION_TOKEN_COMMAND))
        file = source->invocation->values[OPTION_TOKEN_FILE];
    if (file != NULL) {
        TRY(file_read(source->pool, source->problem, file_who, config_path(source->pool, file), &text));
        return keep_token(source, settings, file_who, text);
    }
    return command != NULL ? run_token_command(source, settings, command_who, command) : EXIT_DONE;
}

/* ---- Headers ------------------------------------------------------------------------------------------------------------- */

static enum exit_code keep_header(struct source *source, struct settings *settings, const char *header)
{
    size_t size = strcspn(header, ":");
    bool is_header = size > 0 && header[size] == ':' && strcspn(header, " \t") >= size;
    for (const char *at = header; *at != '\0'; at++)
        is_header = is_header && (unsigned char)*at >= ' ' && *at != 0x7f;
    if (!is_header) /* not repeated here: it may be a secret */
        return problem_use(source->problem, "a header is \"Name: value\", on one line; one that was given is not");
    settings->headers[settings->header_count++] = header;
    return EXIT_DONE;
}

/* A header of the command line replaces those of the profile that have the same name. */
static enum exit_code read_headers(struct source *source, struct settings *settings)
{
    const struct invocation *invocation = source->invocation;
    size_t profile_count = source->is_elsewhere ? 0 : source->profile.header_count;
    for (size_t i = 0; i < invocation->header_count; i++)
        TRY(keep_header(source, settings, invocation->headers[i]));
    for (size_t i = 0; i < profile_count; i++) {
        const char *header = source->profile.headers[i];
        size_t size = strcspn(header, ":") + 1;
        bool is_replaced = false;
        for (size_t j = 0; j < invocation->header_count; j++)
            is_replaced = is_replaced || strncasecmp(header, invocation->headers[j], size) == 0;
        if (!is_replaced)
            TRY(keep_header(source, settings, header));
    }
    return EXIT_DONE;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------------- */

static enum colour_choice colour_of(const char *word)
{
    if (word == NULL || strcmp(word, "auto") == 0)
        return COLOUR_AUTO;
    return strcmp(word, "always") == 0 ? COLOUR_ALWAYS : COLOUR_NEVER;
}

void settings_begin(const struct invocation *invocation, struct settings *out_settings)
{
    const char *format = invocation->values[OPTION_OUTPUT];
    *out_settings = (struct settings){ .timeout_ms = TIMEOUT_MS };
    out_settings->colour = colour_of(invocation->values[OPTION_COLOR]);
    out_settings->is_verbose = invocation_has(invocation, OPTION_VERBOSE);
    if (invocation_has(invocation, OPTION_JSON) || (format != NULL && strcmp(format, "json") == 0))
        out_settings->format = FORMAT_IS_JSON;
    else if (format != NULL && strcmp(format, "ids") == 0)
        out_settings->format = FORMAT_IS_IDS;
}

enum exit_code settings_read(struct pool *pool, struct problem *problem, const struct invocation *invocation,
                             struct settings *settings)
{
    struct source source = { .pool = pool, .problem = problem, .invocation = invocation };
    const char *path, *profile, *timeout, *colour, *ca_file, *who;
    TRY(look_up(&source, OPTION_CONFIG, &path, &who));
    TRY(look_up(&source, OPTION_PROFILE, &profile, &who));
    TRY(config_read(pool, problem, path, profile, &source.profile));
    TRY(read_base_url(&source, settings));
    TRY(look_up(&source, OPTION_TIMEOUT, &timeout, &who));
    TRY(look_up(&source, OPTION_COLOR, &colour, &who));
    TRY(look_up(&source, OPTION_CA_FILE, &ca_file, &who));
    TRY(look_up(&source, OPTION_WORKFLOW, &settings->workflow, &who));
    TRY(read_headers(&source, settings));
    TRY(read_token(&source, settings));
    if (timeout != NULL)
        (void)duration_parse(timeout, &settings->timeout_ms);
    settings->colour = colour_of(colour);
    settings->ca_file = ca_file != NULL ? config_path(pool, ca_file) : NULL;
    return EXIT_DONE;
}
