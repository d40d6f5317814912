/* token.c - see token.h. */
#include "service/token.h"

bool pw_token_number(const char **at, int64_t *out_number)
{
    int64_t number = 0;
    const char *from = *at;
    for (; *from >= '0' && *from <= '9'; from++) {
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *from - '0', &number))
            return false;
    }
    if (from == *at)
        return false;
    *at = from;
    *out_number = number;
    return true;
}

bool pw_token_part_number(const char **at, int64_t *out_number)
{
    if (!pw_token_number(at, out_number) || *out_number == 0 || **at != '.')
        return false;
    ++*at;
    return true;
}

bool pw_token_part(const char **at, struct pw_text *out_text)
{
    const char *dot = strchr(*at, '.');
    if (dot == NULL)
        return false;
    *out_text = (struct pw_text){ *at, (size_t)(dot - *at) };
    *at = dot + 1;
    return true;
}

bool pw_token_is_secret(struct pw_text given, struct pw_text secret)
{
    unsigned difference = given.size != secret.size;
    for (size_t i = 0; i < given.size && i < secret.size; i++)
        difference |= (unsigned char)given.data[i] ^ (unsigned char)secret.data[i];
    return difference == 0;
}
