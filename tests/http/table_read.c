/* table_read.c - reads the tables of tables/, whose format table.h describes. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS_MAX = 40, CASES_MAX = 200, VARIABLES_MAX = 32 };

struct reader {
    pawl_scope *scope;
    const char *path;
    int line;
    struct {
        const char *name, *value;
    } variables[VARIABLES_MAX];
    size_t variable_count;
    struct table_section *section;
    struct table_case *entry; /* the newest of the section */
};

static struct table_section sections[SECTIONS_MAX]; /* read once */
static size_t section_count;

/* ---- Handlers that are set up otherwise -------------------------------------------------------------------------------- */

static void allow_ticks(struct pawl_http_options *options)
{
    options->allow_tick = true;
}

static void allow_an_origin(struct pawl_http_options *options)
{
    options->cors_origin = "https://shop.example";
}

static void mount_nowhere(struct pawl_http_options *options)
{
    options->mount = "";
}

/* A header says who asks, so that one handler can show every answer. */
static bool authorize_by_header(void *user, const struct pawl_http_subject *subject,
                                struct pawl_http_refusal *out_refusal)
{
    const char *who = "";
    (void)user;
    for (size_t i = 0; i < subject->request->header_count; i++)
        if (strcmp(subject->request->headers[i].name, "X-Who") == 0)
            who = subject->request->headers[i].value;
    if (subject->scope == PAWL_HTTP_OPEN || strcmp(who, "root") == 0)
        return true;
    if (strcmp(who, "reader") == 0 && subject->scope == PAWL_HTTP_READ)
        return true;
    if (strcmp(who, "busy") == 0) {
        *out_refusal = (struct pawl_http_refusal){ 429, "TOO_MANY_REQUESTS", "slow down", 7 };
    } else if (strcmp(who, "") == 0) {
        *out_refusal = (struct pawl_http_refusal){ 401, "UNAUTHORIZED", "say who you are", 0 };
    } else if (strcmp(who, "odd") == 0) {
        out_refusal->status = 200; /* no refusal at all: taken for 403 */
    }
    return false;
}

static void refuse_by_header(struct pawl_http_options *options)
{
    options->authorize = authorize_by_header;
}

static const struct {
    const char *section;
    void (*configure)(struct pawl_http_options *options);
} settings[] = { { "ticks", allow_ticks },
                 { "another origin", allow_an_origin },
                 { "mounted at the root", mount_nowhere },
                 { "refusals", refuse_by_header } };

/* ---- Reading ----------------------------------------------------------------------------------------------------------- */

static const char *variable(const struct reader *reader, const char *name, size_t size)
{
    for (size_t i = 0; i < reader->variable_count; i++)
        if (strlen(reader->variables[i].name) == size && strncmp(reader->variables[i].name, name, size) == 0)
            return reader->variables[i].value;
    fail_msg("%s:%d: there is no variable %.*s", reader->path, reader->line, (int)size, name);
    return NULL;
}

/* The text with its variables and bytes in place; "\"\"" stands for the empty one. */
static const char *value_of(const struct reader *reader, const char *text, size_t size)
{
    char *value = NULL;
    size_t value_size;
    FILE *out = open_memstream(&value, &value_size);
    assert_non_null(out);
    for (const char *at = text, *end = text + size; at < end; at++) {
        unsigned byte;
        if (at[0] == '$' && at[1] == '{') {
            size_t length = strcspn(at + 2, "}");
            (void)fputs(variable(reader, at + 2, length), out);
            at += length + 2;
        } else if (sscanf(at, "\\x%2x", &byte) == 1) {
            (void)fputc((int)byte, out);
            at += 3;
        } else {
            (void)fputc(*at, out);
        }
    }
    assert_int_equal(fclose(out), 0);
    const char *kept = pawl_scope_format(reader->scope, "%s", strcmp(value, "\"\"") == 0 ? "" : value);
    free(value);
    return kept;
}

static const char *rest_of(const struct reader *reader, const char *text)
{
    return value_of(reader, text, strlen(text));
}

static void begin_section(struct reader *reader, const char *title)
{
    assert_true(section_count < SECTIONS_MAX);
    reader->section = &sections[section_count++];
    reader->section->name = rest_of(reader, title);
    reader->section->cases = reader->entry = calloc(CASES_MAX, sizeof *reader->entry);
    assert_non_null(reader->entry);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (strcmp(settings[i].section, title) == 0)
            reader->section->configure = settings[i].configure;
}

/* "[run, bare] GET /workflows -> 404 ROUTE_NOT_FOUND" */
static void begin_case(struct reader *reader, const char *line)
{
    assert_true(reader->section != NULL && reader->section->count < CASES_MAX);
    reader->entry = (struct table_case *)&reader->section->cases[reader->section->count++];
    struct table_case *entry = reader->entry;
    if (line[0] == '[') {
        const char *end = strchr(line, ']');
        const char *flags = pawl_scope_format(reader->scope, "%.*s", (int)(end - line), line);
        const char *after = strstr(flags, "after ");
        entry->runs = strstr(flags, "run") != NULL;
        entry->after = after != NULL ? after + strlen("after ") : NULL; /* it stands last */
        entry->is_bare = strstr(flags, "bare") != NULL;
        entry->not_by_client = strstr(flags, "not by a client") != NULL;
        line = end + 2;
    }
    const char *target = strchr(line, ' '), *answer = strstr(line, " -> ");
    assert_true(target != NULL && answer != NULL && target < answer);
    entry->method = value_of(reader, line, (size_t)(target - line));
    entry->target = value_of(reader, target + 1, (size_t)(answer - target - 1));
    char *code;
    entry->status = (int)strtol(answer + 4, &code, 10);
    entry->code = *code == ' ' ? rest_of(reader, code + 1) : NULL;
}

static struct pawl_http_header header_of(const struct reader *reader, const char *text)
{
    size_t size = strcspn(text, ":");
    assert_true(text[size] == ':');
    return (struct pawl_http_header){ value_of(reader, text, size),
                                      rest_of(reader, text + size + (text[size + 1] == ' ' ? 2 : 1)) };
}

/* "says ..." */
static void add_to_case(struct reader *reader, const char *line)
{
    struct table_case *entry = reader->entry;
    char word[8] = "";
    int size = 0;
    size_t count = 0;
    (void)sscanf(line, "%7s%n", word, &size);
    const char *text = line + size + (line[size] == ' ');
    if (strcmp(word, "body") == 0) {
        entry->body = rest_of(reader, text);
    } else if (strcmp(word, "is") == 0) {
        entry->is = rest_of(reader, text);
    } else if (strcmp(word, "hides") == 0) {
        entry->hides = rest_of(reader, text);
    } else if (strcmp(word, "lists") == 0) {
        entry->list = value_of(reader, text, strcspn(text, " "));
        entry->count = strtoul(text + strcspn(text, " "), NULL, 10);
    } else if (strcmp(word, "keep") == 0) {
        while (count < TABLE_KEPT_MAX && entry->keeps[count].name != NULL)
            count++;
        assert_true(count < TABLE_KEPT_MAX);
        entry->keeps[count].name = value_of(reader, text, strcspn(text, " "));
        entry->keeps[count].path = rest_of(reader, text + strcspn(text, " ") + 1);
    } else if (strcmp(word, "has") == 0) {
        entry->has = header_of(reader, text);
    } else if (strcmp(word, "header") == 0) {
        while (count < TABLE_HEADERS_MAX && entry->headers[count].name != NULL)
            count++;
        assert_true(count < TABLE_HEADERS_MAX);
        entry->headers[count] = header_of(reader, text);
    } else if (strcmp(word, "says") == 0) {
        while (count < TABLE_SAYS_MAX && entry->says[count] != NULL)
            count++;
        assert_true(count < TABLE_SAYS_MAX);
        entry->says[count] = rest_of(reader, text);
    } else {
        fail_msg("%s:%d: what is \"%s\"?", reader->path, reader->line, line);
    }
}

static void read_line(struct reader *reader, const char *line)
{
    char name[32];
    int at = 0;
    if (line[0] == '\0' || line[0] == '#')
        return;
    if (strncmp(line, "=== ", 4) == 0) {
        begin_section(reader, line + 4);
    } else if (sscanf(line, "let %31s %n", name, &at) == 1) {
        assert_true(reader->variable_count < VARIABLES_MAX);
        reader->variables[reader->variable_count].name = rest_of(reader, name);
        reader->variables[reader->variable_count].value = rest_of(reader, line + at);
        reader->variable_count++;
    } else if (strncmp(line, "    ", 4) == 0) {
        add_to_case(reader, line + 4);
    } else {
        begin_case(reader, line);
    }
}

static void read_file(pawl_scope *scope, const char *path)
{
    struct reader reader = { .scope = scope, .path = path };
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (getline(&line, &room, file) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        reader.line++;
        read_line(&reader, line);
    }
    free(line);
    (void)fclose(file);
}

const struct table_section *table_sections(size_t *out_count)
{
    static pawl_scope *scope;
    if (scope == NULL) {
        scope = pawl_scope_new();
        read_file(scope, PAWL_SOURCE_DIR "/tests/http/tables/routes.txt");
        read_file(scope, PAWL_SOURCE_DIR "/tests/http/tables/errors.txt");
        read_file(scope, PAWL_SOURCE_DIR "/tests/http/tables/work.txt");
        read_file(scope, PAWL_SOURCE_DIR "/tests/http/tables/stories.txt");
    }
    *out_count = section_count;
    return sections;
}
