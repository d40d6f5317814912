/* shorten.c - see shorten.h. */
#include "value/shorten.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

enum { DIGITS_LEAST = 15, DIGITS_ALL = 17, NUMBER_SIZE = 40 };

static void swap_point(char *text, char from, char to)
{
    char *point = strchr(text, from);
    if (point != NULL)
        *point = to;
}

/* Makes "1.5e-07" "1.5e-7", and "1e+22" "1e22". */
static void trim_exponent(char *text)
{
    char *at = strchr(text, 'e');
    if (at == NULL)
        return;
    at += at[1] == '-' ? 2 : 1;
    size_t zeros = strspn(at, "+0");
    memmove(at, at + zeros, strlen(at + zeros) + 1);
}

/* The C library uses the locale's decimal point, JSON a dot.  Returns the new size; 0: the number is an integer, or
 * is as short as it can be. */
static size_t shorten_number(const char *token, size_t size, char out_short[NUMBER_SIZE])
{
    char copy[NUMBER_SIZE], point = localeconv()->decimal_point[0];
    if (size >= sizeof copy)
        return 0;
    memcpy(copy, token, size);
    copy[size] = '\0';
    if (strpbrk(copy, ".e") == NULL)
        return 0;
    swap_point(copy, '.', point);
    double number = strtod(copy, NULL);
    for (int digits = DIGITS_LEAST; digits < DIGITS_ALL; digits++) {
        (void)snprintf(out_short, NUMBER_SIZE, "%.*g", digits, number);
        if (strtod(out_short, NULL) != number)
            continue;
        swap_point(out_short, point, '.');
        trim_exponent(out_short);
        if (strpbrk(out_short, ".e") == NULL)
            memcpy(out_short + strlen(out_short), ".0", sizeof ".0"); /* it stays a real */
        return strlen(out_short) < size ? strlen(out_short) : 0;
    }
    return 0;
}

size_t pw_json_shorten(char *text, size_t size)
{
    const char *at = text, *end = text + size;
    char *to = text, shorter[NUMBER_SIZE];
    while (at < end) {
        const char *from = at;
        bool is_number = *at == '-' || (*at >= '0' && *at <= '9');
        at = is_number || *at == '"' ? pw_json_skip(at, end) : at + 1;
        size_t short_size = is_number ? shorten_number(from, (size_t)(at - from), shorter) : 0;
        size_t kept = short_size > 0 ? short_size : (size_t)(at - from);
        memmove(to, short_size > 0 ? shorter : from, kept);
        to += kept;
    }
    return (size_t)(to - text);
}
