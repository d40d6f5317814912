/* json_output.c - see json_output.h. */
#include "json_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moment.h"

json_t *json_read(const char *text, size_t size)
{
    size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;
    json_t *value = json_loadb(text, size, flags, NULL);
    /* A server that knows longer integers than we do. */
    return value != NULL ? value : json_loadb(text, size, flags | JSON_DECODE_INT_AS_REAL, NULL);
}

json_t *json_at(const json_t *value, const char *path)
{
    char name[64];
    json_t *at = (json_t *)value; /* nothing below changes it */
    while (at != NULL && *path != '\0') {
        size_t size = strcspn(path, ".");
        (void)snprintf(name, sizeof name, "%.*s", (int)size, path);
        at = json_object_get(at, name);
        path += size + (path[size] == '.');
    }
    return at;
}

const char *json_text(const json_t *value, const char *path, const char *fallback)
{
    const json_t *at = json_at(value, path);
    return json_is_string(at) ? json_string_value(at) : fallback;
}

int64_t json_number(const json_t *value, const char *path, int64_t fallback)
{
    const json_t *at = json_at(value, path);
    return json_is_integer(at) ? (int64_t)json_integer_value(at) : fallback;
}

bool json_flag(const json_t *value, const char *path)
{
    return json_is_true(json_at(value, path));
}

int64_t json_time_ms(const json_t *value, const char *path)
{
    int64_t ms;
    return moment_parse(json_text(value, path, ""), &ms) ? ms : 0;
}

/* ---- Writing --------------------------------------------------------------------------------------------------------- */

static void write_real(struct text *out, double number)
{
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    char *comma = strchr(digits, ','); /* of a locale that writes 19,99 */
    if (comma != NULL)
        *comma = '.';
    text_put(out, digits);
    if (strpbrk(digits, ".eE") == NULL)
        text_put(out, ".0"); /* it was no integer, and stays none */
}

static void write_string(struct text *out, const json_t *value)
{
    char *quoted = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    if (quoted == NULL)
        out_of_memory();
    text_put(out, quoted);
    free(quoted);
}

static void begin_line(struct text *out, size_t indent, size_t depth)
{
    if (indent > 0)
        text_put(out, "\n");
    text_repeat(out, " ", indent * depth);
}

static void write_value(struct text *out, const json_t *value, size_t indent, size_t depth);

static void write_members(struct text *out, const json_t *value, size_t indent, size_t depth)
{
    const char *key, *gap = "";
    json_t *member;
    text_put(out, "{");
    json_object_foreach((json_t *)value, key, member) {
        text_put(out, gap);
        begin_line(out, indent, depth + 1);
        json_t *name = json_string(key);
        write_string(out, name);
        json_decref(name);
        text_put(out, indent > 0 ? ": " : ":");
        write_value(out, member, indent, depth + 1);
        gap = ",";
    }
    if (json_object_size(value) > 0)
        begin_line(out, indent, depth);
    text_put(out, "}");
}

static void write_items(struct text *out, const json_t *value, size_t indent, size_t depth)
{
    size_t index;
    json_t *item;
    text_put(out, "[");
    json_array_foreach(value, index, item) {
        if (index > 0)
            text_put(out, ",");
        begin_line(out, indent, depth + 1);
        write_value(out, item, indent, depth + 1);
    }
    if (json_array_size(value) > 0)
        begin_line(out, indent, depth);
    text_put(out, "]");
}

/* As deep as the value is, which its reading has bounded. */
static void write_value(struct text *out, const json_t *value, size_t indent, size_t depth)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_members(out, value, indent, depth);
        break;
    case JSON_ARRAY:
        write_items(out, value, indent, depth);
        break;
    case JSON_STRING:
        write_string(out, value);
        break;
    case JSON_INTEGER:
        text_format(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        write_real(out, json_real_value(value));
        break;
    case JSON_TRUE:
        text_put(out, "true");
        break;
    case JSON_FALSE:
        text_put(out, "false");
        break;
    case JSON_NULL:
        text_put(out, "null");
        break;
    }
}

void json_write(struct text *out, const json_t *value, size_t indent)
{
    write_value(out, value, indent, 0);
}

const char *json_show(struct pool *pool, const json_t *value)
{
    struct text text = { NULL, 0, 0 };
    if (value == NULL)
        return "";
    json_write(&text, value, 0);
    const char *copy = pool_copy(pool, text_string(&text), text.size);
    text_free(&text);
    return copy;
}
