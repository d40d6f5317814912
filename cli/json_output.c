/* json_output.c - see json_output.h. */
#include "json_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/json_writer.h"
#include "moment.h"

/* ---- Reading --------------------------------------------------------------------------------------------------------- */

/* True if Jansson would write the number exactly like this. */
static bool is_plain_integer(const char *token, size_t size)
{
    size_t sign = token[0] == '-', digits = size - sign;
    if (digits == 0 || digits > 18 || (token[sign] == '0' && size > 1))
        return false;
    for (size_t i = sign; i < size; i++)
        if (token[i] < '0' || token[i] > '9')
            return false;
    return true;
}

/* A string of a NUL and the token. */
static json_t *make_marked(const char *token, size_t size)
{
    struct pw_buffer marked = { 0 };
    pw_buffer_add(&marked, "", 1);
    pw_buffer_add(&marked, token, size);
    json_t *node = json_stringn_nocheck(text_string(&marked), marked.size);
    pw_buffer_clear(&marked);
    return node;
}

static json_t *make_number(const char *token, size_t size)
{
    return is_plain_integer(token, size) ? json_integer(strtoll(token, NULL, 10)) : make_marked(token, size);
}

static json_t *make_string(const char *token, size_t size)
{
    return size > 0 && token[0] == '\0' ? make_marked(token, size) : json_stringn_nocheck(token, size);
}

json_t *json_read(const char *text, size_t size)
{
    return pw_json_parse_as((struct pw_text){ text, size }, &(struct pw_json_nodes){ make_number, make_string });
}

/* The text of a number that is stored as a string; NULL: it is not one. */
static const char *kept_number(const json_t *value)
{
    const char *text = json_string_value(value);
    return text != NULL && json_string_length(value) > 1 && text[0] == '\0' && text[1] != '\0' ? text + 1 : NULL;
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
    return json_is_string(at) && kept_number(at) == NULL ? json_string_value(at) : fallback;
}

bool json_is(const json_t *value, const char *path, const char *text)
{
    return strcmp(json_text(value, path, ""), text) == 0;
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

/* Recursion is bounded by the depth that json_read() accepts. */
static void write_value(struct pw_buffer *out, const json_t *value)
{
    const char *key, *text = json_string_value(value), *number = kept_number(value);
    char written[32];
    json_t *part;
    if (json_is_object(value)) {
        pw_json_open(out, NULL, '{');
        json_object_foreach((json_t *)value, key, part) {
            pw_json_string(out, NULL, key);
            pw_buffer_put(out, ":");
            out->needs_comma = false;
            write_value(out, part);
        }
        pw_json_close(out, '}');
    } else if (json_is_array(value)) {
        pw_json_open(out, NULL, '[');
        json_each(item, value)
            write_value(out, item.value);
        pw_json_close(out, ']');
    } else if (number != NULL) {
        pw_json_raw(out, NULL, number);
    } else if (text != NULL) {
        size_t marks = json_string_length(value) > 1 && text[0] == '\0';
        pw_json_text(out, NULL, text + marks, json_string_length(value) - marks);
    } else if (json_is_real(value)) {
        (void)snprintf(written, sizeof written, "%.17g", json_real_value(value));
        pw_json_raw(out, NULL, written);
    } else if (json_is_integer(value)) {
        pw_json_integer(out, NULL, json_integer_value(value));
    } else {
        pw_json_raw(out, NULL, json_is_true(value) ? "true" : json_is_false(value) ? "false" : NULL);
    }
}

static void begin_line(struct pw_buffer *out, size_t indent, size_t depth)
{
    if (indent > 0)
        pw_buffer_put(out, "\n");
    pw_buffer_repeat(out, " ", indent * depth);
}

static struct pw_text behind(struct pw_text text, size_t size)
{
    return (struct pw_text){ text.data + size, text.size - size };
}

void json_lay_out(struct pw_buffer *out, const char *text, size_t size, size_t indent)
{
    size_t depth = 0;
    char last = '\0';
    struct pw_text left = { text, size };
    while ((left = behind(left, pw_json_blanks(left))).size > 0) {
        size_t token = pw_json_token(left);
        char mark = left.data[0];
        bool closes = mark == '}' || mark == ']', opened = last == '{' || last == '[';
        depth -= closes && depth > 0;
        if ((closes && !opened) || last == ',' || (opened && !closes))
            begin_line(out, indent, depth);
        pw_buffer_add(out, left.data, token);
        if (mark == ':' && indent > 0)
            pw_buffer_put(out, " ");
        depth += mark == '{' || mark == '[';
        last = mark;
        left = behind(left, token);
    }
}

void json_write(struct pw_buffer *out, const json_t *value, size_t indent)
{
    struct pw_buffer line = { 0 };
    write_value(&line, value);
    if (indent > 0)
        json_lay_out(out, text_string(&line), line.size, indent);
    else
        pw_buffer_add(out, text_string(&line), line.size);
    pw_buffer_clear(&line);
}

const char *json_show(struct pool *pool, const json_t *value)
{
    struct pw_buffer text = { 0 };
    if (value == NULL)
        return "";
    json_write(&text, value, 0);
    return text_keep(pool, &text);
}
