/* scan.c - JSON's grammar by recursive descent, as deep as the levels that are allowed. */
#include "value/scan.h"

#include <stdint.h>

#include "base/limits.h"

struct scan {
    const char *begin, *at, *end;
    const char *flaw; /* what is wrong at `at` */
    int depth_max;
};

static bool flawed(struct scan *scan, const char *flaw)
{
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

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits behind "\u"; -1 when they are wrong. */
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
    int unit = scan_hex(scan);
    if (unit < 0)
        return flawed(scan, "four hexadecimal digits are expected");
    if (unit == 0 && is_key)
        return flawed(scan, "a key cannot hold NUL");
    if (unit < 0xD800 || unit > 0xDFFF)
        return true;
    int low = unit < 0xDC00 && accept(scan, '\\') && accept(scan, 'u') ? scan_hex(scan) : -1;
    return (low >= 0xDC00 && low <= 0xDFFF) || flawed(scan, "half of a surrogate pair");
}

static bool scan_escape(struct scan *scan, bool is_key)
{
    char c = peek(scan);
    if (c == '\0' || strchr("\"\\/bfnrtu", c) == NULL)
        return flawed(scan, "no such escape");
    scan->at++;
    return c != 'u' || scan_unicode_escape(scan, is_key);
}

/* Behind the opening quote. */
static bool scan_string(struct scan *scan, bool is_key)
{
    const char *begin = scan->at;
    for (;;) {
        while (scan->at < scan->end && (unsigned char)*scan->at >= ' ' && *scan->at != '"' && *scan->at != '\\')
            scan->at++;
        if (accept(scan, '\\')) {
            if (!scan_escape(scan, is_key))
                return false;
        } else if (accept(scan, '"')) {
            break;
        } else {
            return flawed(scan, scan->at < scan->end ? "a control character in a string" : "a string without end");
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

/* The exponent behind 'e', cut where more would make no difference. */
static int64_t exponent_of(const char *at, const char *end)
{
    int64_t exponent = 0, sign = *at == '-' ? -1 : 1;
    for (at += *at == '-' || *at == '+'; at < end; at++)
        if (exponent < INT64_C(100000000000000000))
            exponent = exponent * 10 + (*at - '0');
    return exponent * sign;
}

static bool scan_number(struct scan *scan)
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
    if (scan->at == whole_end)
        return integer_fits(begin, whole_end) || flawed(scan, "an integer beyond 64 bits");
    return real_fits(digits, digits_end, exponent) || flawed(scan, "a number too large");
}

/* ---- Values ---- */

static bool scan_value(struct scan *scan, int depth);

static bool scan_word(struct scan *scan, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, word, size) != 0)
        return flawed(scan, "a value is expected");
    scan->at += size;
    return true;
}

static bool scan_member(struct scan *scan, int depth)
{
    skip_blanks(scan);
    if (!accept(scan, '"'))
        return flawed(scan, "a key is expected");
    if (!scan_string(scan, true))
        return false;
    skip_blanks(scan);
    if (!accept(scan, ':'))
        return flawed(scan, "':' is expected");
    return scan_value(scan, depth);
}

/* Behind the opening bracket; depth counts it. */
static bool scan_container(struct scan *scan, char closing, int depth)
{
    if (depth > scan->depth_max) {
        scan->at--;
        return flawed(scan, "nested too deep");
    }
    skip_blanks(scan);
    if (accept(scan, closing))
        return true;
    do {
        if (!(closing == '}' ? scan_member(scan, depth) : scan_value(scan, depth)))
            return false;
        skip_blanks(scan);
    } while (accept(scan, ','));
    return accept(scan, closing) || flawed(scan, closing == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
}

static bool scan_value(struct scan *scan, int depth)
{
    skip_blanks(scan);
    switch (peek(scan)) {
    case '{':
        scan->at++;
        return scan_container(scan, '}', depth + 1);
    case '[':
        scan->at++;
        return scan_container(scan, ']', depth + 1);
    case '"':
        scan->at++;
        return scan_string(scan, false);
    case 't':
        return scan_word(scan, "true");
    case 'f':
        return scan_word(scan, "false");
    case 'n':
        return scan_word(scan, "null");
    default:
        return scan_number(scan);
    }
}

static void describe(const struct scan *scan, struct pw_json_flaw *out_flaw)
{
    *out_flaw = (struct pw_json_flaw){ scan->flaw, 1, 1 };
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
    struct scan scan = { text.data, text.data, text.data + text.size, NULL, depth_max };
    bool is_json = scan_value(&scan, 0);
    if (is_json) {
        skip_blanks(&scan);
        is_json = scan.at == scan.end || flawed(&scan, "the end is expected");
    }
    if (!is_json)
        describe(&scan, out_flaw);
    return is_json;
}

bool pw_json_scan(struct pw_text text, struct pw_json_flaw *out_flaw)
{
    return pw_json_scan_to(text, PW_JSON_DEPTH_MAX, out_flaw);
}
