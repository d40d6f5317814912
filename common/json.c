/* json.c - JSON's grammar by recursive descent, as deep as the levels that are allowed.  A scan only checks.  A parse goes the
 * same way and builds Jansson's tree.
 *
 * Jansson's own reader is not used: when the buffer in which it gathers a token cannot grow, it silently leaves bytes out, and
 * if the closing quote is among them it writes past the end.  Here one buffer, as large as the text, serves all tokens. */
#include "common/json.h"

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/limits.h"

enum { PARSE_DEPTH_MAX = 2048 }; /* payloads are nested in envelopes */

static const struct pw_json_nodes own_nodes = { NULL, NULL };

struct scan {
    const char *begin, *at, *end;
    const char *flaw; /* what is wrong at `at`; a parse that fails without one is out of memory */
    bool is_limit;
    int depth_max;
    char *token; /* of a parse: where the next string or number is written */
    const struct pw_json_nodes *nodes;
};

static bool flawed(struct scan *scan, const char *flaw)
{
    scan->flaw = scan->at < scan->end || scan->begin == scan->end ? flaw : "the text ends too early";
    return false;
}

/* It is JSON, but the part that begins here exceeds a limit. */
static bool excessive(struct scan *scan, const char *begin, const char *flaw)
{
    scan->at = begin;
    scan->is_limit = true;
    scan->flaw = flaw;
    return false;
}

/* The next byte, 0 at the end.  A NUL in the text is as wrong as the end in every place. */
static char peek(const struct scan *scan)
{
    return scan->at < scan->end ? *scan->at : '\0';
}

static void skip_blanks(struct scan *scan)
{
    while (peek(scan) == ' ' || peek(scan) == '\n' || peek(scan) == '\t' || peek(scan) == '\r')
        scan->at++;
}

static bool accept(struct scan *scan, char c)
{
    if (peek(scan) != c)
        return false;
    scan->at++;
    return true;
}

/* ---- Strings ---- */

/* Appends to the token, in a parse. */
static void put(struct scan *scan, const char *bytes, size_t size)
{
    if (scan->token == NULL)
        return;
    memcpy(scan->token, bytes, size);
    scan->token += size;
}

static void put_utf8(struct scan *scan, int code)
{
    static const int leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    int size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    char bytes[4];
    for (int i = size - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3F));
    bytes[0] = (char)(leads[size] | code);
    put(scan, bytes, (size_t)size);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits after "\u"; -1 if they are not digits. */
static int scan_hex(struct scan *scan)
{
    int value = 0;
    for (int i = 0; i < 4; i++, scan->at++) {
        int digit = hex_value(peek(scan));
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool scan_unicode_escape(struct scan *scan, bool is_key)
{
    int code = scan_hex(scan);
    if (code < 0)
        return flawed(scan, "four hexadecimal digits are expected");
    if (code == 0 && is_key)
        return flawed(scan, "a key cannot hold NUL");
    if (code >= 0xD800 && code <= 0xDFFF) {
        int low = code < 0xDC00 && accept(scan, '\\') && accept(scan, 'u') ? scan_hex(scan) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return flawed(scan, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    put_utf8(scan, code);
    return true;
}

/* After the backslash.  No escape is shorter than what it stands for. */
static bool scan_escape(struct scan *scan, bool is_key)
{
    static const char signs[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char c = peek(scan);
    const char *found = c != '\0' ? strchr(signs, c) : NULL;
    if (found == NULL && c != 'u')
        return flawed(scan, "no such escape");
    scan->at++;
    if (found == NULL)
        return scan_unicode_escape(scan, is_key);
    put(scan, &meant[found - signs], 1);
    return true;
}

/* After the opening quote. */
static bool scan_string(struct scan *scan, bool is_key)
{
    const char *begin = scan->at;
    for (;;) {
        const char *plain = scan->at;
        while (scan->at < scan->end && (unsigned char)*scan->at >= ' ' && *scan->at != '"' && *scan->at != '\\')
            scan->at++;
        put(scan, plain, (size_t)(scan->at - plain));
        if (accept(scan, '\\')) {
            if (!scan_escape(scan, is_key))
                return false;
        } else if (accept(scan, '"')) {
            break;
        } else {
            return flawed(scan, "a control character in a string");
        }
    }
    if (pw_text_is_utf8((struct pw_text){ begin, (size_t)(scan->at - begin) }))
        return true;
    scan->at = begin;
    return flawed(scan, "a string that is not UTF-8");
}

/* ---- Numbers ---- */

static size_t skip_digits(struct scan *scan)
{
    const char *begin = scan->at;
    while (peek(scan) >= '0' && peek(scan) <= '9')
        scan->at++;
    return (size_t)(scan->at - begin);
}

static bool integer_fits(const char *at, const char *end)
{
    bool is_negative = *at == '-';
    int64_t value = 0;
    for (at += is_negative; at < end; at++) {
        int digit = is_negative ? '0' - *at : *at - '0';
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value))
            return false;
    }
    return true;
}

/* Does the real with these digits, a point among them, times ten to the exponent, stay below infinity?  It does below the
 * middle between the largest double and the next power of two, 2^1024 - 2^970, whose digits these are: what is less is
 * rounded to the largest double, and the middle itself, to be even, to infinity. */
static bool real_fits(const char *digits, const char *end, int64_t exponent)
{
    static const char too_large[] =
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070"
        "9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447"
        "5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904"
        "174497792";
    const char *point = memchr(digits, '.', (size_t)(end - digits)), *first = digits;
    if (point == NULL)
        point = end;
    while (first < end && (*first == '0' || *first == '.'))
        first++;
    if (first == end)
        return true; /* zero */
    int64_t magnitude = point - first - (first < point) + exponent;
    if (magnitude != 308)
        return magnitude < 308;
    const char *expected = too_large;
    for (; *expected != '\0' && first < end; first++) {
        if (*first == '.')
            continue;
        if (*first != *expected)
            return *first < *expected;
        expected++;
    }
    return *expected != '\0';
}

/* The exponent after 'e', capped where more would make no difference. */
static int64_t exponent_of(const char *at, const char *end)
{
    int64_t exponent = 0, sign = *at == '-' ? -1 : 1;
    for (at += *at == '-' || *at == '+'; at < end; at++)
        if (exponent < INT64_C(100000000000000000))
            exponent = exponent * 10 + (*at - '0');
    return exponent * sign;
}

static bool check_number(struct scan *scan)
{
    const char *begin = scan->at;
    (void)accept(scan, '-');
    const char *digits = scan->at;
    if (!accept(scan, '0') && skip_digits(scan) == 0)
        return flawed(scan, "a value is expected");
    const char *whole_end = scan->at;
    if (accept(scan, '.') && skip_digits(scan) == 0)
        return flawed(scan, "a digit is expected");
    const char *digits_end = scan->at;
    int64_t exponent = 0;
    if (accept(scan, 'e') || accept(scan, 'E')) {
        const char *exponent_begin = scan->at;
        if (!accept(scan, '-'))
            (void)accept(scan, '+');
        if (skip_digits(scan) == 0)
            return flawed(scan, "a digit is expected");
        exponent = exponent_of(exponent_begin, scan->at);
    }
    if (scan->nodes->number != NULL)
        return true;
    if (scan->at == whole_end)
        return integer_fits(begin, whole_end) || excessive(scan, begin, "an integer beyond 64 bits");
    return real_fits(digits, digits_end, exponent) || excessive(scan, begin, "a number too large");
}

/* ---- Values ----
 *
 * Each of these answers with a new node if it parses.  False without a flaw: memory is out. */

static bool scan_value(struct scan *scan, int depth, json_t **out_node);

static bool scan_number(struct scan *scan, json_t **out_node)
{
    const char *begin = scan->at;
    char *token = scan->token;
    if (!check_number(scan))
        return false;
    if (token == NULL)
        return true;
    put(scan, begin, (size_t)(scan->at - begin));
    *scan->token = '\0';
    scan->token = token;
    bool is_real = strpbrk(token, ".eE") != NULL;
    *out_node = scan->nodes->number != NULL ? scan->nodes->number(token, strlen(token))
                : is_real                   ? json_real(strtod(token, NULL))
                                            : json_integer(strtoll(token, NULL, 10));
    return *out_node != NULL;
}

static bool scan_text(struct scan *scan, json_t **out_node)
{
    char *token = scan->token;
    if (!scan_string(scan, false))
        return false;
    if (token == NULL)
        return true;
    pw_json_node_fn *make = scan->nodes->string != NULL ? scan->nodes->string : json_stringn_nocheck;
    *out_node = make(token, (size_t)(scan->token - token));
    scan->token = token;
    return *out_node != NULL;
}

static bool scan_word(struct scan *scan, const char *word, json_t *node, json_t **out_node)
{
    size_t size = strlen(word);
    if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, word, size) != 0)
        return flawed(scan, "a value is expected");
    scan->at += size;
    *out_node = node;
    return true;
}

static bool scan_element(struct scan *scan, int depth, json_t *array)
{
    json_t *element = NULL;
    return scan_value(scan, depth, &element) && (array == NULL || json_array_append_new(array, element) == 0);
}

/* Tokens of the value go behind the key, whose quotes leave room for its NUL. */
static bool scan_member(struct scan *scan, int depth, json_t *object)
{
    char *key = scan->token;
    json_t *value = NULL;
    skip_blanks(scan);
    if (!accept(scan, '"'))
        return flawed(scan, "a key is expected");
    if (!scan_string(scan, true))
        return false;
    put(scan, "", 1);
    skip_blanks(scan);
    if (!accept(scan, ':'))
        return flawed(scan, "':' is expected");
    if (!scan_value(scan, depth, &value))
        return false;
    scan->token = key;
    return object == NULL || json_object_set_new_nocheck(object, key, value) == 0;
}

/* After the opening bracket, which depth counts. */
static bool scan_parts(struct scan *scan, char closing, int depth, json_t *container)
{
    if (depth > scan->depth_max)
        return excessive(scan, scan->at - 1, "nested too deep");
    skip_blanks(scan);
    if (accept(scan, closing))
        return true;
    do {
        if (!(closing == '}' ? scan_member(scan, depth, container) : scan_element(scan, depth, container)))
            return false;
        skip_blanks(scan);
    } while (accept(scan, ','));
    return accept(scan, closing) || flawed(scan, closing == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
}

static bool scan_container(struct scan *scan, char closing, int depth, json_t **out_node)
{
    json_t *container = NULL;
    scan->at++;
    if (scan->token != NULL && (container = closing == '}' ? json_object() : json_array()) == NULL)
        return false;
    if (!scan_parts(scan, closing, depth + 1, container)) {
        json_decref(container);
        return false;
    }
    *out_node = container;
    return true;
}

static bool scan_value(struct scan *scan, int depth, json_t **out_node)
{
    skip_blanks(scan);
    switch (peek(scan)) {
    case '{':
        return scan_container(scan, '}', depth, out_node);
    case '[':
        return scan_container(scan, ']', depth, out_node);
    case '"':
        scan->at++;
        return scan_text(scan, out_node);
    case 't':
        return scan_word(scan, "true", json_true(), out_node);
    case 'f':
        return scan_word(scan, "false", json_false(), out_node);
    case 'n':
        return scan_word(scan, "null", json_null(), out_node);
    default:
        return scan_number(scan, out_node);
    }
}

/* out_tree means something only to a parse: the tree, or NULL when this fails. */
static bool scan_whole(struct scan *scan, json_t **out_tree)
{
    json_t *tree = NULL;
    bool is_json = scan_value(scan, 0, &tree);
    if (is_json) {
        skip_blanks(scan);
        is_json = scan->at == scan->end || flawed(scan, "the end is expected");
    }
    if (!is_json) {
        json_decref(tree);
        tree = NULL;
    }
    *out_tree = tree;
    return is_json;
}

static void describe(const struct scan *scan, struct pw_json_flaw *out_flaw)
{
    *out_flaw = (struct pw_json_flaw){ scan->flaw, scan->is_limit, (size_t)(scan->at - scan->begin), 1, 1 };
    for (const char *at = scan->begin; at < scan->at; at++) {
        if (*at == '\n') {
            out_flaw->line++;
            out_flaw->column = 1;
        } else if (((unsigned char)*at & 0xC0) != 0x80) {
            out_flaw->column++;
        }
    }
}

bool pw_json_scan_to(struct pw_text text, int depth_max, struct pw_json_flaw *out_flaw)
{
    struct scan scan = {
        .begin = text.data, .at = text.data, .end = text.data + text.size, .depth_max = depth_max, .nodes = &own_nodes
    };
    json_t *none;
    bool is_json = scan_whole(&scan, &none);
    if (!is_json)
        describe(&scan, out_flaw);
    return is_json;
}

bool pw_json_scan(struct pw_text text, struct pw_json_flaw *out_flaw)
{
    return pw_json_scan_to(text, PW_JSON_DEPTH_MAX, out_flaw);
}

json_t *pw_json_parse_as(struct pw_text text, const struct pw_json_nodes *nodes)
{
    char *token = malloc(text.size + 1);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the host's may write a comma for the point */
    json_t *tree = NULL;
    if (token != NULL && plain != (locale_t)0) {
        struct scan scan = { .begin = text.data,
                             .at = text.data,
                             .end = text.data + text.size,
                             .depth_max = PARSE_DEPTH_MAX,
                             .token = token,
                             .nodes = nodes };
        locale_t hosts = uselocale(plain);
        (void)scan_whole(&scan, &tree);
        (void)uselocale(hosts);
    }
    if (plain != (locale_t)0)
        freelocale(plain);
    free(token);
    return tree;
}

json_t *pw_json_parse(struct pw_text text)
{
    return pw_json_parse_as(text, &own_nodes);
}
