/* check.c - text from outside is scanned before anybody believes it or Jansson sees it. */
#include "base/error.h"
#include "value/scan.h"
#include "value/value.h"

pawl_status pw_json_check(struct pw_text text, int64_t size_max, const char *what, struct pawl_error *error)
{
    struct pw_json_flaw flaw;
    if (text.data == NULL)
        return PAWL_OK;
    if (size_max < 0 || text.size > (uint64_t)size_max)
        return pw_error(error, PAWL_PAYLOAD_TOO_LARGE, "%s: %zu bytes, at most %lld are allowed", what, text.size,
                        (long long)size_max);
    if (pw_json_scan(text, &flaw))
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID_JSON, "%s: %s (line %zu, column %zu)", what, flaw.what, flaw.line, flaw.column);
}
