/* walk.c - the parts of a JSON text, found without reading it: brackets are counted, strings passed over.
 *
 * A position is where the last part ended, or 0.  A string followed by a colon is a key, so the text is an object.  Nothing
 * beyond the end of the text is read, even if it is not JSON. */
#include "pawl/value.h"

#include "base/error.h"
#include "base/limits.h"
#include "value/scan.h"
#include "value/value.h"

enum { DEPTH_MAX = 1000 }; /* the scanner goes down by recursion */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* From the opening quote to after the closing one. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at < end ? at + 1 : end;
}

/* From an opening bracket to after its closing one. */
static const char *skip_container(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        else if (*at == '}' || *at == ']')
            depth--;
        at++;
        if (depth == 0)
            break;
    }
    return at;
}

const char *pw_json_skip(const char *at, const char *end)
{
    if (at < end && *at == '"')
        return skip_string(at, end);
    if (at < end && (*at == '{' || *at == '['))
        return skip_container(at, end);
    while (at < end && strchr(" \n\t\r,]}:", *at) == NULL) /* also at a NUL */
        at++;
    return at;
}

bool pawl_json_next(const char *text, size_t size, size_t *position, struct pawl_json_part *out_part)
{
    if (text == NULL || position == NULL || out_part == NULL || *position >= size)
        return false;
    const char *end = text + size, *at = skip_blanks(text + *position, end);
    bool is_first = *position == 0;
    if (at == end || !(is_first ? *at == '{' || *at == '[' : *at == ','))
        return false;
    at = skip_blanks(at + 1, end);
    struct pawl_json_part part = { NULL, 0, at, 0 };
    at = pw_json_skip(at, end);
    part.size = (size_t)(at - part.text);
    if (part.size == 0) /* the container is empty */
        return false;
    const char *behind = skip_blanks(at, end);
    if (*part.text == '"' && behind < end && *behind == ':') {
        part.key = part.text;
        part.key_size = part.size;
        part.text = skip_blanks(behind + 1, end);
        at = pw_json_skip(part.text, end);
        part.size = (size_t)(at - part.text);
    }
    *position = (size_t)(at - text);
    *out_part = part;
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
