/* json.c - checks JSON texts, and splits them into members and elements. */
#include "base/error.h"
#include "base/limits.h"
#include "common/json.h"
#include "pawl/value.h"
#include "value/value.h"

enum { DEPTH_MAX = 1000 }; /* the scanner recurses once for each level */

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

bool pawl_json_next(const char *text, size_t size, size_t *position, struct pawl_json_part *out_part)
{
    struct pw_json_part part;
    if (text == NULL || position == NULL || out_part == NULL || *position >= size ||
        !pw_json_next((struct pw_text){ text, size }, position, &part))
        return false;
    *out_part = (struct pawl_json_part){ part.key.data, part.key.size, part.value.data, part.value.size };
    return true;
}

pawl_status pawl_json_check(const char *text, size_t size, int depth_max, struct pawl_error *error)
{
    struct pw_json_flaw flaw;
    int levels = depth_max > 0 && depth_max < DEPTH_MAX ? depth_max : DEPTH_MAX;
    if (text == NULL)
        return pw_error_plain(error, PAWL_INVALID);
    if (pw_json_scan_to((struct pw_text){ text, size }, depth_max == 0 ? PW_JSON_DEPTH_MAX : levels, &flaw))
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID_JSON, "%s (line %zu, column %zu)", flaw.what, flaw.line, flaw.column);
}
