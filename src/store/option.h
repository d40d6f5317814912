/* option.h - parses "name=value" options in a store's URL. */
#ifndef PW_STORE_OPTION_H
#define PW_STORE_OPTION_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The text after "name=", or NULL. */
static inline const char *pw_option_value(const char *option, const char *name)
{
    size_t size = strlen(name);
    return strncmp(option, name, size) == 0 && option[size] == '=' ? option + size + 1 : NULL;
}

/* True if it is this option, with a number from least to most. */
static inline bool pw_option_number(const char *option, const char *name, int64_t least, int64_t most,
                                    int64_t *out_number)
{
    const char *text = pw_option_value(option, name);
    char *end = NULL;
    if (text == NULL || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || number < least || number > most)
        return false;
    *out_number = number;
    return true;
}

#endif
