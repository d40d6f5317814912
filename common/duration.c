/* duration.c - whole-number arithmetic only: the result is exact, rounded once, halves up, and never overflows. */
#include "common/duration.h"

#include <stddef.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t ms;
};

/* clang-format off */
static const struct unit units[] = {
    { "ms", 1 },
    { "s", 1000 },      { "sec", 1000 },       { "second", 1000 },     { "seconds", 1000 },
    { "m", 60000 },     { "min", 60000 },      { "minute", 60000 },    { "minutes", 60000 },
    { "h", 3600000 },   { "hr", 3600000 },     { "hour", 3600000 },    { "hours", 3600000 },
    { "d", 86400000 },  { "day", 86400000 },   { "days", 86400000 },
    { "w", 604800000 }, { "week", 604800000 }, { "weeks", 604800000 },
};
/* clang-format on */

static const char *skip_digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

static bool unit_ms(const char *name, int64_t bare_ms, int64_t *out_ms)
{
    *out_ms = bare_ms;
    if (name[0] == '\0')
        return true;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, name) == 0) {
            *out_ms = units[i].ms;
            return true;
        }
    return false;
}

static bool whole_ms(const char *begin, const char *end, int64_t ms, int64_t *out_ms)
{
    int64_t whole = 0;
    for (const char *at = begin; at < end; at++)
        if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, *at - '0', &whole))
            return false;
    return !__builtin_mul_overflow(whole, ms, out_ms);
}

/* The nearest whole number to 0.<digits> times ms.  Dividing by ten digit by digit, the last first, and dropping the
 * remainders gives the exact whole part for any count of digits; done with twice the value, it tells how to round. */
static int64_t fraction_ms(const char *begin, const char *end, int64_t ms)
{
    int64_t twice = 0;
    for (const char *at = end; at > begin; at--)
        twice = ((at[-1] - '0') * 2 * ms + twice) / 10;
    return (twice + 1) / 2;
}

bool pw_duration_parse_bare(const char *text, int64_t bare_ms, int64_t *out_ms)
{
    if (text == NULL)
        return false;
    const char *whole_end = skip_digits(text), *rest = whole_end;
    if (whole_end == text)
        return false;
    if (*whole_end == '.') {
        rest = skip_digits(whole_end + 1);
        if (rest == whole_end + 1)
            return false;
    }
    const char *name = rest;
    if (name[0] == ' ' && name[1] != '\0')
        name++;
    int64_t ms, whole, fraction = 0, sum;
    if (!unit_ms(name, bare_ms, &ms) || !whole_ms(text, whole_end, ms, &whole))
        return false;
    if (rest > whole_end)
        fraction = fraction_ms(whole_end + 1, rest, ms);
    if (__builtin_add_overflow(whole, fraction, &sum))
        return false;
    *out_ms = sum;
    return true;
}

bool pw_duration_parse(const char *text, int64_t *out_ms)
{
    return pw_duration_parse_bare(text, 1, out_ms);
}
