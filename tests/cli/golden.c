/* golden.c - see golden.h. */
#define _GNU_SOURCE
#include "golden.h"

#include <regex.h>

struct rule {
    const char *pattern, *replacement;
};

static const struct rule rules[] = {
    { "\r", "" },
    { "\033", "^[" },
    { "(tomorrow |yesterday |[0-9]{4}-[0-9]{2}-[0-9]{2}[ T])?[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{3})?)?Z?", "TIME" },
    { "[0-9]+(\\.[0-9])? (ms|s|min|h|d)( [0-9]+ (min|s|h))?([^a-z]|$)", "DURATION\\5" },
    { "(just )?now", "DURATION ago" },
    { "(\\[[0-9]+m) +(▇|·)", "\\1\\2" }, /* it begins where its time lets it */
    { "(▇|·)+", "BAR" },
    { "(\\[2m|[^0-9a-z])[0-9a-z]{26}([^0-9a-z])", "\\1ID\\2" },
    { "pawl [0-9]+\\.[0-9]+\\.[0-9]+", "pawl VERSION" },
    { "\"(version)\":\"[0-9.]+\"", "\"\\1\":\"VERSION\"" },
    { "\"roundTripMs\":[0-9]+", "\"roundTripMs\":N" },
    { "\"oldestDueMs\":[0-9]+", "\"oldestDueMs\":N" },
    { "(queued|running)", "MOVING" },
    { "(was sent [a-z]+; it is )(.\\[[0-9]+m)?complete", "\\1\\2MOVING" }, /* it may be that far already */
    { " {3,}", "  " },
    { " +\n", "\n" },
};

void golden_replace(char *text, size_t size, const char *wanted, const char *replacement)
{
    regex_t pattern;
    regmatch_t groups[6];
    char *made = NULL;
    size_t made_size = 0;
    assert_int_equal(regcomp(&pattern, wanted, REG_EXTENDED), 0);
    FILE *out = open_memstream(&made, &made_size);
    assert_non_null(out);
    const char *at = text;
    while (*at != '\0' && regexec(&pattern, at, LENGTH(groups), groups, at > text ? REG_NOTBOL : 0) == 0) {
        (void)fwrite(at, 1, (size_t)groups[0].rm_so, out);
        for (const char *letter = replacement; *letter != '\0'; letter++) {
            if (*letter != '\\') {
                (void)fputc(*letter, out);
                continue;
            }
            const regmatch_t *group = &groups[*++letter - '0'];
            (void)fwrite(at + group->rm_so, 1, (size_t)(group->rm_eo - group->rm_so), out);
        }
        at += groups[0].rm_eo;
    }
    (void)fputs(at, out);
    assert_int_equal(fclose(out), 0);
    assert_true(made_size < size);
    memcpy(text, made, made_size + 1);
    free(made);
    regfree(&pattern);
}

static void replace_text(char *text, const char *old, const char *new)
{
    size_t old_size = strlen(old), new_size = strlen(new);
    assert_true(new_size <= old_size);
    for (char *at = text; (at = strstr(at, old)) != NULL; at += new_size) {
        memcpy(at, new, new_size);
        memmove(at + new_size, at + old_size, strlen(at + old_size) + 1);
    }
}

void golden_normalise(char *text, size_t size, const char *base)
{
    if (base != NULL)
        replace_text(text, base, "BASE");
    for (size_t i = 0; i < LENGTH(rules); i++)
        golden_replace(text, size, rules[i].pattern, rules[i].replacement);
}

/* Finds a section in a file's text, which a newline precedes.  Returns its size; without one, 0 and the text's end. */
static size_t section_find(char *file, const char *name, char **out_at)
{
    char title[128];
    (void)snprintf(title, sizeof title, "\n=== %s\n", name);
    char *at = strstr(file, title);
    *out_at = at != NULL ? at + strlen(title) : file + strlen(file);
    char *next = strstr(*out_at, "\n=== ");
    return next != NULL ? (size_t)(next + 1 - *out_at) : strlen(*out_at);
}

/* Writes the file with this text in the section, which is added at the file's end if it is new. */
static void section_write(const char *path, char *kept, const char *name, const char *text)
{
    char *at;
    size_t size = section_find(kept, name, &at);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fwrite(kept + 1, 1, (size_t)(at - kept - 1), file);
    if (size == 0)
        (void)fprintf(file, "=== %s\n", name);
    (void)fprintf(file, "%s%s", text, at + size);
    assert_int_equal(fclose(file), 0);
}

void golden_compare(const char *command, const char *name, const char *text)
{
    static char kept[1 << 20] = "\n";
    char path[512], *section;
    (void)snprintf(path, sizeof path, "%s/tests/cli/golden/%s.txt", PAWL_SOURCE_DIR, command);
    assert_true(text[0] != '\0' && text[strlen(text) - 1] == '\n' && strstr(text, "\n=== ") == NULL);
    FILE *file = fopen(path, "re");
    size_t size = file != NULL ? fread(kept + 1, 1, sizeof kept - 2, file) : 0;
    kept[size + 1] = '\0';
    if (file != NULL)
        (void)fclose(file);
    if (getenv("PAWL_GOLDEN_WRITE") != NULL) {
        section_write(path, kept, name, text);
        return;
    }
    size = section_find(kept, name, &section);
    if (size == 0)
        fail_msg("%s has no section \"%s\" (PAWL_GOLDEN_WRITE=1 makes it)", path, name);
    section[size] = '\0';
    size_t same = 0, line = 0; /* where they part */
    for (; section[same] != '\0' && section[same] == text[same]; same++)
        line = section[same] == '\n' ? same + 1 : line;
    if (section[same] != text[same])
        fail_msg("%s, %s: kept is\n%.400s\nbut printed was\n%.400s", path, name, section + line, text + line);
}
