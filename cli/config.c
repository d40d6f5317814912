/* config.c - see config.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/suggest.h"
#include "json_input.h"
#include "text.h"

/* The keys that a line may set; profile only above all sections. */
static const enum option_id keys[] = { OPTION_BASE_URL, OPTION_TOKEN_FILE, OPTION_TOKEN_COMMAND,
                                       OPTION_CA_FILE,  OPTION_TIMEOUT,    OPTION_HEADER,
                                       OPTION_WORKFLOW, OPTION_COLOR,      OPTION_PROFILE };
enum { KEY_COUNT = sizeof keys / sizeof keys[0], LINE_SIZE_MAX = 4096 };

struct reader {
    struct pool *pool;
    struct problem *problem;
    const char *path;
    size_t line;
    char section[64];   /* "": above all sections */
    const char *wanted; /* the profile */
    bool is_found;
    struct profile *profile;
};

static const char *place_of(const struct reader *reader)
{
    return pool_format(reader->pool, "%s, line %zu", reader->path, reader->line);
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t size = strlen(text);
    while (size > 0 && strchr(" \t\r", text[size - 1]) != NULL)
        text[--size] = '\0';
    return text;
}

static enum exit_code unknown_key(struct reader *reader, const char *name)
{
    const char *names[KEY_COUNT];
    for (size_t i = 0; i < KEY_COUNT; i++)
        names[i] = option_table[keys[i]].name;
    const char *nearest = pw_suggest(name, names, KEY_COUNT);
    if (nearest != NULL)
        return problem_use(reader->problem, "%s: there is no key \"%.60s\"; did you mean %s?", place_of(reader), name,
                           nearest);
    return problem_use(reader->problem, "%s: there is no key \"%.60s\" (see pawl --help)", place_of(reader), name);
}

static enum exit_code keep(struct reader *reader, enum option_id id, const char *value)
{
    struct profile *profile = reader->profile;
    const char *place = place_of(reader);
    TRY(option_check(reader->problem, id, pool_format(reader->pool, "%s: %s", place, option_table[id].name), value));
    if (id == OPTION_HEADER) {
        if (profile->header_count == HEADERS_MAX)
            return problem_use(reader->problem, "%s: there are at most %d headers", place, HEADERS_MAX);
        profile->headers[profile->header_count++] = value;
        return EXIT_DONE;
    }
    if (id == OPTION_TOKEN_FILE || id == OPTION_TOKEN_COMMAND) /* a section overrides the lines above all sections */
        profile->values[OPTION_TOKEN_FILE] = profile->values[OPTION_TOKEN_COMMAND] = NULL;
    profile->values[id] = value;
    profile->places[id] = place;
    return EXIT_DONE;
}

static enum exit_code read_pair(struct reader *reader, char *line)
{
    char *equals = strchr(line, '=');
    if (equals == NULL)
        return problem_use(reader->problem, "%s: a line is \"key = value\" or \"[profile]\", not \"%.60s\"",
                           place_of(reader), line);
    *equals = '\0';
    const char *name = trim(line), *value = trim(equals + 1);
    enum option_id id = OPTION_NONE;
    for (size_t i = 0; i < KEY_COUNT && id == OPTION_NONE; i++)
        if (strcmp(option_table[keys[i]].name, name) == 0)
            id = keys[i];
    if (id == OPTION_NONE)
        return unknown_key(reader, name);
    if (id == OPTION_PROFILE && reader->section[0] != '\0')
        return problem_use(reader->problem, "%s: profile stands above all sections", place_of(reader));
    if (id == OPTION_PROFILE && reader->wanted == NULL)
        reader->wanted = value;
    bool is_meant =
        reader->section[0] == '\0' || strcmp(reader->section, reader->wanted != NULL ? reader->wanted : "default") == 0;
    return is_meant && id != OPTION_PROFILE ? keep(reader, id, value) : EXIT_DONE;
}

static enum exit_code read_section(struct reader *reader, char *line)
{
    size_t size = strlen(line);
    if (size < 3 || line[size - 1] != ']' || size - 2 >= sizeof reader->section)
        return problem_use(reader->problem, "%s: a section is \"[name]\", not \"%.60s\"", place_of(reader), line);
    memcpy(reader->section, line + 1, size - 2);
    reader->section[size - 2] = '\0';
    reader->is_found =
        reader->is_found || strcmp(reader->section, reader->wanted != NULL ? reader->wanted : "default") == 0;
    return EXIT_DONE;
}

static enum exit_code read_lines(struct reader *reader, const char *text)
{
    for (reader->line = 1; *text != '\0'; reader->line++) {
        size_t size = strcspn(text, "\n");
        char *line = trim(pool_copy(reader->pool, text, size));
        if (line[0] == '[')
            TRY(read_section(reader, line));
        else if (line[0] != '\0' && line[0] != '#' && line[0] != ';')
            TRY(read_pair(reader, line));
        text += size + (text[size] == '\n');
    }
    return EXIT_DONE;
}

static const char *find_own(struct pool *pool)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (folder != NULL && folder[0] == '/')
        return pool_format(pool, "%s/pawl/config", folder);
    return home != NULL ? pool_format(pool, "%s/.config/pawl/config", home) : NULL;
}

enum exit_code config_parse(struct pool *pool, struct problem *problem, const char *path, const char *text,
                            const char *name, struct profile *out_profile)
{
    struct reader reader = { .pool = pool, .problem = problem, .path = path, .wanted = name, .profile = out_profile };
    *out_profile = (struct profile){ .header_count = 0 };
    TRY(read_lines(&reader, text));
    if (!reader.is_found && reader.wanted != NULL && strcmp(reader.wanted, "default") != 0)
        return problem_use(problem, "there is no profile \"%s\" in %s", reader.wanted, path);
    return EXIT_DONE;
}

enum exit_code config_read(struct pool *pool, struct problem *problem, const char *path, const char *name,
                           struct profile *out_profile)
{
    const char *text = "", *found = path != NULL ? path : find_own(pool);
    *out_profile = (struct profile){ .header_count = 0 };
    if (found == NULL || (path == NULL && access(found, F_OK) != 0)) {
        if (name != NULL && strcmp(name, "default") != 0)
            return problem_use(problem, "there is no profile \"%s\", because there is no %s", name,
                               found != NULL ? found : "configuration file");
        return EXIT_DONE;
    }
    TRY(file_read(pool, problem, "the configuration", found, &text));
    return config_parse(pool, problem, found, text, name, out_profile);
}

const char *config_path(struct pool *pool, const char *path)
{
    const char *home = getenv("HOME");
    return text_starts(path, "~/") && home != NULL ? pool_format(pool, "%s%s", home, path + 1) : path;
}
