/* json_walk.c - the parts of a JSON text: brackets are counted, strings passed over; see json.h.
 *
 * A string followed by a colon is a key, so the text is an object. */
#include "common/json.h"

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

size_t pw_json_blanks(struct pw_text text)
{
    return (size_t)(skip_blanks(text.data, text.data + text.size) - text.data);
}

size_t pw_json_token(struct pw_text text)
{
    if (text.size > 0 && strchr("{}[],:", text.data[0]) != NULL)
        return 1;
    size_t size = (size_t)(pw_json_skip(text.data, text.data + text.size) - text.data);
    return size > 0 ? size : text.size > 0;
}

bool pw_json_next(struct pw_text text, size_t *position, struct pw_json_part *out_part)
{
    const char *end = text.data + text.size, *at = skip_blanks(text.data + *position, end);
    bool is_first = *position == 0;
    if (at == end || !(is_first ? *at == '{' || *at == '[' : *at == ','))
        return false;
    at = skip_blanks(at + 1, end);
    const char *begin = at;
    at = pw_json_skip(at, end);
    if (at == begin) /* the container is empty */
        return false;
    struct pw_json_part part = { { NULL, 0 }, { begin, (size_t)(at - begin) } };
    const char *behind = skip_blanks(at, end);
    if (*begin == '"' && behind < end && *behind == ':') {
        part.key = part.value;
        begin = skip_blanks(behind + 1, end);
        at = pw_json_skip(begin, end);
        part.value = (struct pw_text){ begin, (size_t)(at - begin) };
    }
    *position = (size_t)(at - text.data);
    *out_part = part;
    return true;
}
