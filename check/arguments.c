/* arguments.c - see arguments.h. */
#include "arguments.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Texts ----------------------------------------------------------------------------------------------------------- */

/* Takes the text over, to be freed with the rest; NULL when memory is out. */
static char *own(struct arguments *arguments, char *text)
{
    char **owned = realloc(arguments->owned, (arguments->owned_count + 1) * sizeof *owned);
    if (owned == NULL || text == NULL) {
        free(text);
        arguments->owned = owned != NULL ? owned : arguments->owned;
        return NULL;
    }
    owned[arguments->owned_count++] = text;
    arguments->owned = owned;
    return text;
}

static char *read_file(const char *path)
{
    enum { PART = 65536 };
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, got = file != NULL ? 1 : 0;
    while (got > 0) {
        char *larger = realloc(text, size + PART + 1);
        if (larger == NULL)
            break;
        text = larger;
        got = fread(text + size, 1, PART, file);
        size += got;
        text[size] = '\0';
    }
    bool failed = file == NULL || ferror(file) || text == NULL;
    if (file != NULL)
        (void)fclose(file);
    if (failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- Options --------------------------------------------------------------------------------------------------------- */

static bool parse_params(struct arguments *arguments, const char *value, char *wrong, size_t wrong_size)
{
    arguments->params_json = value[0] == '@' ? own(arguments, read_file(value + 1)) : value;
    if (arguments->params_json != NULL)
        return true;
    snprintf(wrong, wrong_size, "cannot read %s: %s", value + 1, strerror(errno));
    return false;
}

/* The offset is behind the last @; one inside the JSON has a closing mark behind it. */
static char *find_offset(char *text)
{
    char *at = strrchr(text, '@');
    return at != NULL && strpbrk(at, "\"}]") == NULL ? at : NULL;
}

/* type[=json][@offset] */
static bool parse_event(struct arguments *arguments, const char *value, char *wrong, size_t wrong_size)
{
    struct pawl_sweep_event *events = realloc(arguments->events, (arguments->event_count + 1) * sizeof *events);
    if (events != NULL)
        arguments->events = events;
    char *text = events != NULL ? own(arguments, strdup(value)) : NULL;
    if (text == NULL) {
        snprintf(wrong, wrong_size, "out of memory");
        return false;
    }
    struct pawl_sweep_event event = { .type = text };
    char *offset = find_offset(text), *payload = strchr(text, '=');
    if (offset != NULL) {
        *offset = '\0';
        event.after = offset + 1;
    }
    if (payload != NULL) {
        *payload = '\0';
        event.payload_json = payload + 1;
    }
    events[arguments->event_count++] = event;
    return true;
}

static bool add_sql(struct arguments *arguments, const char *value, char *wrong, size_t wrong_size)
{
    const char **sql = realloc(arguments->sql, (arguments->sql_count + 1) * sizeof *sql);
    if (sql == NULL) {
        snprintf(wrong, wrong_size, "out of memory");
        return false;
    }
    sql[arguments->sql_count++] = value;
    arguments->sql = sql;
    return true;
}

static bool parse_seed(struct arguments *arguments, const char *value, char *wrong, size_t wrong_size)
{
    char *end;
    errno = 0;
    arguments->seed = strtoull(value, &end, 10);
    if (errno == 0 && end != value && *end == '\0' && value[0] != '-')
        return true;
    snprintf(wrong, wrong_size, "--seed is a number, not \"%s\"", value);
    return false;
}

/* A world knows what a duration is: its clock moves by one. */
static bool measure_duration(const char *duration, int64_t *out_ms)
{
    pawl_world *world = NULL;
    if (pawl_world_open(NULL, &world, NULL) != PAWL_OK)
        return false;
    int64_t before_ms = pawl_world_now_ms(world);
    pawl_status status = pawl_world_advance(world, duration, NULL);
    *out_ms = pawl_world_now_ms(world) - before_ms;
    pawl_world_close(world);
    return status == PAWL_OK;
}

static bool parse_timeout(struct arguments *arguments, const char *value, char *wrong, size_t wrong_size)
{
    arguments->timeout = value;
    if (measure_duration(value, &arguments->timeout_ms) && arguments->timeout_ms > 0)
        return true;
    snprintf(wrong, wrong_size, "--timeout is a duration such as \"60 s\" or \"10 minutes\", not \"%s\"", value);
    return false;
}

static bool parse_option(struct arguments *arguments, int option, char **values, char *wrong, size_t wrong_size)
{
    switch (option) {
    case 'w':
        arguments->workflow = optarg;
        return true;
    case 'p':
        return parse_params(arguments, optarg, wrong, wrong_size);
    case 'e':
        return parse_event(arguments, optarg, wrong, wrong_size);
    case 'q':
        return add_sql(arguments, optarg, wrong, wrong_size);
    case 's':
        return parse_seed(arguments, optarg, wrong, wrong_size);
    case 't':
        return parse_timeout(arguments, optarg, wrong, wrong_size);
    case 'a':
        arguments->outcome_may_vary = true;
        return true;
    case 'n':
        arguments->names_may_repeat = true;
        return true;
    case 'r':
        arguments->real_clock = true;
        return true;
    case 'v':
        arguments->verbose = true;
        return true;
    case 'h':
        arguments->help = true;
        return true;
    case ':':
        snprintf(wrong, wrong_size, "%s needs a value", values[optind - 1]);
        return false;
    default:
        snprintf(wrong, wrong_size, "there is no option %s", values[optind - 1]);
        return false;
    }
}

bool arguments_parse(struct arguments *arguments, int count, char **values, char *wrong, size_t wrong_size)
{
    static const struct option options[] = {
        { "workflow", required_argument, NULL, 'w' }, { "params", required_argument, NULL, 'p' },
        { "event", required_argument, NULL, 'e' },    { "sql", required_argument, NULL, 'q' },
        { "seed", required_argument, NULL, 's' },     { "timeout", required_argument, NULL, 't' },
        { "any-outcome", no_argument, NULL, 'a' },    { "same-names", no_argument, NULL, 'n' },
        { "real-clock", no_argument, NULL, 'r' },     { "verbose", no_argument, NULL, 'v' },
        { "help", no_argument, NULL, 'h' },           { NULL, 0, NULL, 0 },
    };
    int option;
    *arguments = (struct arguments){ .timeout = "60 s", .timeout_ms = 60000 };
    opterr = 0;
    while ((option = getopt_long(count, values, ":vh", options, NULL)) != -1) {
        if (!parse_option(arguments, option, values, wrong, wrong_size))
            return false;
    }
    if (arguments->help)
        return true;
    if (optind == count - 1) {
        arguments->path = values[optind];
        return true;
    }
    snprintf(wrong, wrong_size, optind < count ? "one module at a time: what is \"%s\"?" : "which module? (see --help)",
             values[optind < count ? optind + 1 : 0]);
    return false;
}

void arguments_free(struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->owned_count; i++)
        free(arguments->owned[i]);
    free(arguments->owned);
    free(arguments->events);
    free(arguments->sql);
}
