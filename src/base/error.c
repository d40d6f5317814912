/* error.c - needs no memory: it must work when that is what ran out. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

pawl_status pw_error(struct pawl_error *error, pawl_status status, const char *format, ...)
{
    if (error == NULL)
        return status;
    /* Built apart, because the error's own old text may be among the arguments, and with room for one byte more, which
     * tells whether a cut would split a character. */
    char text[sizeof error->text + 1];
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (wanted < 0)
        return pw_error_plain(error, status);
    size_t size = (size_t)wanted;
    if (size >= sizeof error->text) {
        size = sizeof error->text - 1;
        while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80)
            size--;
    }
    memcpy(error->text, text, size);
    error->text[size] = '\0';
    error->status = status;
    return status;
}

pawl_status pw_error_plain(struct pawl_error *error, pawl_status status)
{
    return pw_error(error, status, "%s", pawl_status_text(status));
}
