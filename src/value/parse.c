/* parse.c - see parse.h.
 *
 * Jansson's own reader is not used: when the buffer that it gathers a token in cannot grow it leaves bytes out and says
 * nothing, and where the closing quote is among them it writes past the end.  Here one buffer serves all tokens, and is as
 * large as the text from the beginning. */
#include "value/parse.h"

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "value/scan.h"

enum { DEPTH_MAX = 2048 }; /* payloads lie inside of envelopes */

/* In a text that is JSON: what was scanned is not checked again. */
struct reader {
    const char *at, *end;
    char *token; /* room for the longest */
};

static json_t *read_value(struct reader *reader);

static char next_sign(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \n\t\r", *reader->at) != NULL)
        reader->at++;
    return reader->at < reader->end ? *reader->at : '\0';
}

/* ---- Strings ---- */

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (char)(0xE0 | code >> 12);
        } else {
            *to++ = (char)(0xF0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *to++ = (char)(0x80 | (code & 0x3F));
    return to;
}

/* Four digits. */
static uint32_t read_unit(struct reader *reader)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = *reader->at++;
        unit = unit * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return unit;
}

/* Behind the backslash. */
static char *read_escape(struct reader *reader, char *to)
{
    static const char signs[] = "bfnrt", meant[] = "\b\f\n\r\t";
    char c = *reader->at++;
    if (c != 'u') {
        const char *found = strchr(signs, c);
        *to = found != NULL ? meant[found - signs] : c;
        return to + 1;
    }
    uint32_t code = read_unit(reader);
    if (code >= 0xD800 && code <= 0xDFFF) { /* a pair */
        reader->at += 2;
        code = 0x10000 + ((code - 0xD800) << 10) + (read_unit(reader) - 0xDC00);
    }
    return put_utf8(to, code);
}

/* Into the token, with a NUL behind it.  No escape is shorter than what it stands for. */
static size_t read_string(struct reader *reader)
{
    char *to = reader->token;
    reader->at++;
    while (*reader->at != '"') {
        if (*reader->at == '\\') {
            reader->at++;
            to = read_escape(reader, to);
        } else {
            *to++ = *reader->at++;
        }
    }
    reader->at++;
    *to = '\0';
    return (size_t)(to - reader->token);
}

/* ---- Others ---- */

static json_t *read_number(struct reader *reader)
{
    size_t size = 0;
    while (reader->at + size < reader->end && strchr("+-.eE0123456789", reader->at[size]) != NULL)
        size++;
    memcpy(reader->token, reader->at, size);
    reader->token[size] = '\0';
    reader->at += size;
    if (strpbrk(reader->token, ".eE") == NULL)
        return json_integer(strtoll(reader->token, NULL, 10));
    return json_real(strtod(reader->token, NULL));
}

static json_t *read_array(struct reader *reader)
{
    json_t *array = json_array();
    reader->at++;
    if (array == NULL)
        return NULL;
    if (next_sign(reader) == ']') {
        reader->at++;
        return array;
    }
    do {
        if (json_array_append_new(array, read_value(reader)) != 0) { /* NULL is refused as well */
            json_decref(array);
            return NULL;
        }
        (void)next_sign(reader);
    } while (*reader->at++ == ',');
    return array;
}

/* Tokens of the value go behind the key, for which the quotes of the key leave room. */
static bool read_member(struct reader *reader, json_t *object)
{
    char *key = reader->token;
    (void)next_sign(reader);
    reader->token += read_string(reader) + 1;
    (void)next_sign(reader);
    reader->at++; /* the colon */
    json_t *value = read_value(reader);
    reader->token = key;
    return value != NULL && json_object_set_new_nocheck(object, key, value) == 0;
}

static json_t *read_object(struct reader *reader)
{
    json_t *object = json_object();
    reader->at++;
    if (object == NULL)
        return NULL;
    if (next_sign(reader) == '}') {
        reader->at++;
        return object;
    }
    do {
        if (!read_member(reader, object)) {
            json_decref(object);
            return NULL;
        }
        (void)next_sign(reader);
    } while (*reader->at++ == ',');
    return object;
}

/* NULL: memory is out. */
static json_t *read_value(struct reader *reader)
{
    size_t size;
    switch (next_sign(reader)) {
    case '{':
        return read_object(reader);
    case '[':
        return read_array(reader);
    case '"':
        size = read_string(reader);
        return json_stringn_nocheck(reader->token, size);
    case 't':
        reader->at += strlen("true");
        return json_true();
    case 'f':
        reader->at += strlen("false");
        return json_false();
    case 'n':
        reader->at += strlen("null");
        return json_null();
    default:
        return read_number(reader);
    }
}

json_t *pw_json_parse(struct pw_text text)
{
    struct pw_json_flaw flaw;
    if (!pw_json_scan_to(text, DEPTH_MAX, &flaw))
        return NULL;
    char *token = malloc(text.size + 1);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the host's may write a comma for the point */
    json_t *tree = NULL;
    if (token != NULL && plain != (locale_t)0) {
        struct reader reader = { text.data, text.data + text.size, token };
        locale_t hosts = uselocale(plain);
        tree = read_value(&reader);
        (void)uselocale(hosts);
    }
    if (plain != (locale_t)0)
        freelocale(plain);
    free(token);
    return tree;
}
