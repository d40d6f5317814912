/* error.c - allocates nothing, because it must work when memory is out. */
#include "base/error.h"

#include <string.h>

#include "common/text.h"

pawl_status pw_error_list(struct pawl_error *error, pawl_status status, const char *format, va_list arguments)
{
    if (error == NULL)
        return status;
    char text[sizeof error->text]; /* separate, because the error's old text may be among the arguments */
    (void)pw_text_format(text, sizeof text, format, arguments);
    memcpy(error->text, text, sizeof text);
    error->status = status;
    return status;
}

pawl_status pw_error(struct pawl_error *error, pawl_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)pw_error_list(error, status, format, arguments);
    va_end(arguments);
    return status;
}

void pawl_text_mend(char *text)
{
    text[pw_text_mend(text, strlen(text))] = '\0';
}

pawl_status pw_error_plain(struct pawl_error *error, pawl_status status)
{
    return pw_error(error, status, "%s", pawl_status_text(status));
}
