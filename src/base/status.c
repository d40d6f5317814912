/* status.c - the names and texts of the status codes, made from the list in status.h. */
#include "pawl/status.h"

#define STATUS_NAME(code, text) #code,
static const char *const names[] = { PAWL_STATUS_LIST(STATUS_NAME) };
#undef STATUS_NAME

#define STATUS_TEXT(code, text) text,
static const char *const texts[] = { PAWL_STATUS_LIST(STATUS_TEXT) };
#undef STATUS_TEXT

/* A number that comes from a binding or a newer caller may be unknown. */
static int is_known(pawl_status status)
{
    return (unsigned)status < (unsigned)PAWL_STATUS_COUNT;
}

const char *pawl_status_name(pawl_status status)
{
    return is_known(status) ? names[status] : "UNKNOWN";
}

const char *pawl_status_text(pawl_status status)
{
    return is_known(status) ? texts[status] : "unknown status";
}
