/* shorten.c - see shorten.h. */
#include "value/shorten.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_LEAST = 15, DIGITS_ALL = 17, NUMBER_SIZE = 40 };

static bool is_of_number(char letter)
{
    return (letter >= '0' && letter <= '9') || letter == '-' || letter == '+' || letter == '.' || letter == 'e' ||
           letter == 'E';
}

static void swap_point(char *text, char from, char to)
{
    char *point = strchr(text, from);
    if (point != NULL)
        *point = to;
}

/* "1.5e-07" is "1.5e-7", and "1e+22" is "1e22". */
static void trim_exponent(char *text)
{
    char *at = strchr(text, 'e');
    if (at == NULL)
        return;
    at += at[1] == '-' ? 2 : 1;
    size_t zeros = strspn(at, "+0");
    memmove(at, at + zeros, strlen(at + zeros) + 1);
}

/* The C library reads and writes with the locale's decimal point, JSON with a dot.  Returns the size; 0: it is as short as
 * it can be. */
static size_t shorten_real(const char *token, size_t size, char out_short[NUMBER_SIZE])
{
    char copy[NUMBER_SIZE], point = localeconv()->decimal_point[0];
    if (size >= sizeof copy)
        return 0;
    memcpy(copy, token, size);
    copy[size] = '\0';
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

static size_t end_of_string(const char *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++)
        at += text[at] == '\\';
    return at < size ? at + 1 : size;
}

size_t pw_json_shorten(char *text, size_t size)
{
    size_t written = 0, end;
    for (size_t at = 0; at < size; at = end) {
        char shorter[NUMBER_SIZE];
        const char *from = text + at;
        end = at + 1;
        bool is_real = false;
        if (text[at] == '"') {
            end = end_of_string(text, size, at);
        } else if (text[at] == '-' || (text[at] >= '0' && text[at] <= '9')) {
            while (end < size && is_of_number(text[end]))
                end++;
            is_real = memchr(from, '.', end - at) != NULL || memchr(from, 'e', end - at) != NULL;
        }
        size_t length = is_real ? shorten_real(from, end - at, shorter) : 0;
        if (length > 0)
            from = shorter;
        else
            length = end - at;
        memmove(text + written, from, length);
        written += length;
    }
    return written;
}
