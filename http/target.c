/* target.c - see target.h.  Decoding never makes a text longer, so it is done in place. */
#include "http/target.h"

#include <string.h>

#include "common/text.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_utf8(const char *at, const char *end)
{
    while (at < end) {
        size_t size = pw_utf8_size(at, (size_t)(end - at));
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

/* Decodes a segment, or a key or value of the query, in which '+' is a space.  Returns what is wrong, or NULL. */
static const char *decode(char *text, bool is_query)
{
    char *from = text, *to = text;
    while (*from != '\0') {
        char c = *from++;
        if (c == '%') {
            int high = hex_value(from[0]), low = high >= 0 ? hex_value(from[1]) : -1;
            if (low < 0)
                return "a '%' in the target is not followed by two hexadecimal digits";
            c = (char)(high * 16 + low);
            from += 2;
            if (c == '\0')
                return "the target holds an encoded NUL";
        } else if (c == '+' && is_query) {
            c = ' ';
        }
        *to++ = c;
    }
    *to = '\0';
    return is_utf8(text, to) ? NULL : "the target is not UTF-8";
}

static bool is_dots(const char *segment)
{
    return strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0;
}

/* `path` must begin with a slash. */
static const char *parse_path(char *path, struct pw_http_target *target)
{
    bool is_ours = true;
    for (char *at = path; at != NULL;) {
        char *segment = at + 1, *slash = strchr(segment, '/');
        if (slash != NULL)
            *slash = '\0';
        const char *wrong = decode(segment, false);
        if (wrong != NULL)
            return wrong;
        if (strchr(segment, '/') != NULL) {
            target->slashed = segment;
            target->slashed_count++;
        }
        if (target->segment_count < PW_HTTP_SEGMENTS_MAX && !is_dots(segment))
            target->segments[target->segment_count++] = segment;
        else
            is_ours = false;
        at = slash;
    }
    if (!is_ours)
        target->segment_count = 0;
    return NULL;
}

static const char *parse_pair(char *text, struct pw_http_target *target)
{
    char *value = strchr(text, '=');
    if (value != NULL)
        *value++ = '\0';
    const char *wrong = decode(text, true);
    if (wrong == NULL && value != NULL)
        wrong = decode(value, true);
    if (wrong != NULL)
        return wrong;
    if (target->pair_count == PW_HTTP_PAIRS_MAX)
        return "the query has more parameters than any route takes";
    target->pairs[target->pair_count++] = (struct pw_http_pair){ text, value != NULL ? value : "" };
    return NULL;
}

static const char *parse_query(char *query, struct pw_http_target *target)
{
    while (query != NULL) {
        char *next = strchr(query, '&');
        if (next != NULL)
            *next++ = '\0';
        const char *wrong = *query != '\0' ? parse_pair(query, target) : NULL; /* empty pairs are ignored */
        if (wrong != NULL)
            return wrong;
        query = next;
    }
    return NULL;
}

const char *pw_http_target_parse(const char *target, const char *mount, size_t mount_size, char *buffer,
                                 struct pw_http_target *out_target)
{
    out_target->segment_count = out_target->pair_count = out_target->slashed_count = 0;
    out_target->slashed = NULL;
    if (target[0] != '/')
        return "the target does not begin with a slash";
    memcpy(buffer, target, strlen(target) + 1);
    char *query = strchr(buffer, '?');
    if (query != NULL)
        *query++ = '\0';
    const char *wrong = parse_query(query, out_target);
    if (wrong != NULL)
        return wrong;
    bool is_ours = strncmp(buffer, mount, mount_size) == 0 && buffer[mount_size] == '/';
    wrong = parse_path(is_ours ? buffer + mount_size : buffer, out_target);
    if (!is_ours)
        out_target->segment_count = 0;
    return wrong;
}
