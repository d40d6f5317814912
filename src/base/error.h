/* error.h - fills in the caller's struct pawl_error. */
#ifndef PW_BASE_ERROR_H
#define PW_BASE_ERROR_H

#include <stdarg.h>

#include "pawl/status.h"

/* Writes status and text, cut to the struct's size without splitting a UTF-8 character, and returns the status.
 * error may be NULL. */
pawl_status pw_error(struct pawl_error *error, pawl_status status, const char *format, ...) PAWL_PRINTF(3, 4);
pawl_status pw_error_list(struct pawl_error *error, pawl_status status, const char *format, va_list arguments)
    PAWL_PRINTF(3, 0);

/* The same with the status's own text. */
pawl_status pw_error_plain(struct pawl_error *error, pawl_status status);

#endif
