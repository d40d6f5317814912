/* json_output.c - see json_output.h. */
#include "json_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_syntax.h"
#include "moment.h"

/* ---- Reading --------------------------------------------------------------------------------------------------------- */

/* Whether Jansson writes it again as it stands here. */
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

static void put_kept(struct text *out, const char *token, size_t size)
{
    static const char nul[] = "\\u0000";
    if (json_number_token(token, size) && !is_plain_integer(token, size)) {
        text_format(out, "\"%s", nul);
        text_put_size(out, token, size);
        text_put(out, "\"");
    } else if (token[0] == '"' && size > sizeof nul && memcmp(token + 1, nul, sizeof nul - 1) == 0) {
        text_format(out, "\"%s", nul);
        text_put_size(out, token + 1, size - 1);
    } else {
        text_put_size(out, token, size);
    }
}

json_t *json_read(const char *text, size_t size)
{
    struct text kept = { NULL, 0, 0 };
    for (size_t at = json_blanks(text, size), token; at < size; at += json_blanks(text + at, size - at)) {
        token = json_token_size(text + at, size - at);
        put_kept(&kept, text + at, token);
        text_put(&kept, " "); /* what were two tokens must not become one */
        at += token;
    }
    json_t *value = json_loadb(text_string(&kept), kept.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    text_free(&kept);
    return value;
}

/* Its text; NULL: it is none that is kept so. */
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

static void write_plain(struct text *out, const json_t *value)
{
    char *written = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    if (written == NULL)
        out_of_memory();
    text_put(out, written);
    free(written);
}

static void write_string(struct text *out, const json_t *value)
{
    const char *number = kept_number(value), *text = json_string_value(value);
    size_t size = json_string_length(value);
    if (number != NULL) {
        text_put(out, number);
    } else if (size > 1 && text[0] == '\0') {
        json_t *true_text = json_stringn(text + 1, size - 1);
        if (true_text == NULL)
            out_of_memory();
        write_plain(out, true_text);
        json_decref(true_text);
    } else {
        write_plain(out, value);
    }
}

static void write_value(struct text *out, const json_t *value);

static void write_members(struct text *out, const json_t *value)
{
    const char *key, *gap = "";
    json_t *member;
    text_put(out, "{");
    json_object_foreach((json_t *)value, key, member) {
        json_t *name = json_string(key);
        if (name == NULL)
            out_of_memory();
        text_put(out, gap);
        write_plain(out, name);
        json_decref(name);
        text_put(out, ":");
        write_value(out, member);
        gap = ",";
    }
    text_put(out, "}");
}

static void write_items(struct text *out, const json_t *value)
{
    size_t index;
    json_t *item;
    text_put(out, "[");
    json_array_foreach(value, index, item) {
        text_put(out, index > 0 ? "," : "");
        write_value(out, item);
    }
    text_put(out, "]");
}

/* As deep as the value is, which its reading has bounded. */
static void write_value(struct text *out, const json_t *value)
{
    if (json_is_object(value))
        write_members(out, value);
    else if (json_is_array(value))
        write_items(out, value);
    else if (json_is_string(value))
        write_string(out, value);
    else
        write_plain(out, value);
}

void json_write(struct text *out, const json_t *value, size_t indent)
{
    struct text line = { NULL, 0, 0 };
    write_value(&line, value);
    if (indent > 0)
        json_lay_out(out, text_string(&line), line.size, indent);
    else
        text_put_size(out, text_string(&line), line.size);
    text_free(&line);
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
