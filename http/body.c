/* body.c - see body.h.
 *
 * Strings are cut out of the copy in place: the closing quote becomes NUL, and escapes are decoded where they stand.
 * A NUL written too early would stop the walk over the remaining parts, so all parts of an object or list are found
 * before the first is read. */
#include "http/body.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/limits.h"
#include "http/answer.h"

/* A payload may be nested in an object in a list in an object. */
enum { DEPTH_MAX = PW_JSON_DEPTH_MAX + 3, PATH_SIZE = 96 };

/* ---- Headers --------------------------------------------------------------------------------------------------- */

static bool is_utf8_charset(const char *parameters)
{
    for (; *parameters != '\0'; parameters++) {
        if (strncasecmp(parameters, "charset=", 8) != 0)
            continue;
        const char *name = parameters + 8;
        name += *name == '"';
        return strncasecmp(name, "utf-8", 5) == 0 && strchr("; \t\"", name[5]) != NULL;
    }
    return true;
}

static bool is_json_type(const char *value)
{
    static const char json[] = "application/json";
    value += strspn(value, " \t");
    if (strncasecmp(value, json, sizeof json - 1) != 0)
        return false;
    value += sizeof json - 1;
    value += strspn(value, " \t");
    return *value == '\0' || (*value == ';' && is_utf8_charset(value));
}

/* A header may come several times: each of them is checked. */
static bool check_headers(pawl_http_call *call)
{
    for (size_t i = 0; i < call->request->header_count; i++) {
        const struct pawl_http_header *header = &call->request->headers[i];
        bool is_type = strcasecmp(header->name, "Content-Type") == 0;
        bool is_encoding = strcasecmp(header->name, "Content-Encoding") == 0;
        if (is_type && !is_json_type(header->value)) {
            pw_http_fail(call, 415, "UNSUPPORTED_MEDIA_TYPE", "Content-Type is \"%.80s\"; it must be application/json",
                         header->value);
            return false;
        }
        if (is_encoding && strcasecmp(header->value, "identity") != 0) {
            pw_http_fail(call, 415, "UNSUPPORTED_MEDIA_TYPE",
                         "Content-Encoding is \"%.80s\"; bodies must not be compressed", header->value);
            return false;
        }
    }
    return true;
}

/* ---- Fields ---------------------------------------------------------------------------------------------------- */

/* "instances[2]" and "id" make "instances[2].id". */
static const char *join(const char *path, const char *name, char out_path[PATH_SIZE])
{
    (void)snprintf(out_path, PATH_SIZE, "%.40s%s%.50s", path, path[0] != '\0' ? "." : "", name);
    pawl_text_mend(out_path);
    return out_path;
}

/* Parses a part.  Returns NULL without memory, which the answer then reports. */
static const pawl_value *value_of(pawl_http_call *call, const char *text, size_t size)
{
    pawl_value *value = NULL;
    if (pawl_value_parse(call->scope, text, size, &value, NULL) == PAWL_NOMEM)
        call->issues.failed = true;
    return value;
}

/* Decodes a JSON string in place.  Returns NULL if it holds a NUL, or without memory. */
static char *content_of(pawl_http_call *call, char *text, size_t size)
{
    if (memchr(text, '\\', size) == NULL) {
        text[size - 1] = '\0';
        return text + 1;
    }
    const pawl_value *value = value_of(call, text, size);
    const char *string = pawl_value_string(value, NULL, NULL);
    size_t content_size = pawl_value_size(value, NULL);
    if (string == NULL || memchr(string, '\0', content_size) != NULL)
        return NULL;
    memcpy(text, string, content_size + 1); /* escapes are longer than what they stand for */
    return text;
}

static void read_string(pawl_http_call *call, struct pw_http_field *field, char *text, size_t size, const char *path)
{
    if (text[0] != '"') {
        pw_http_issue(call, path, "is not a string");
        return;
    }
    field->text = content_of(call, text, size);
    if (field->text == NULL)
        pw_http_issue(call, path, "holds a NUL");
}

static void read_count(pawl_http_call *call, struct pw_http_field *field, const char *text, size_t size,
                       const char *path)
{
    field->number = pawl_value_int(value_of(call, text, size), NULL, 0);
    if (field->number < 1)
        pw_http_issue(call, path, "is not a whole number of at least 1");
}

static void read_range(pawl_http_call *call, struct pw_http_field *field, const char *text, size_t size,
                       const char *path)
{
    const pawl_value *value = value_of(call, text, size);
    field->number = pawl_value_int(value, NULL, field->min);
    bool is_number = pawl_value_int(value, NULL, 0) == pawl_value_int(value, NULL, 1); /* else the default */
    if (is_number && field->number >= field->min && field->number <= field->max)
        return;
    if (field->max == INT64_MAX)
        pw_http_issue(call, path, "is not a whole number of at least %lld", (long long)field->min);
    else
        pw_http_issue(call, path, "is not a whole number from %lld to %lld", (long long)field->min,
                      (long long)field->max);
}

static void read_bool(pawl_http_call *call, struct pw_http_field *field, const char *text, const char *path)
{
    field->number = text[0] == 't';
    if (text[0] != 't' && text[0] != 'f')
        pw_http_issue(call, path, "is not true or false");
}

/* Called once all parts of the object are found, because it writes NULs into the text. */
static void read_field(pawl_http_call *call, struct pw_http_field *field, const char *object_path)
{
    char buffer[PATH_SIZE], *text = field->text;
    const char *path = join(object_path, field->name, buffer);
    size_t size = field->size;
    if (!field->is_given) {
        if (field->is_required)
            pw_http_issue(call, path, "is missing");
        return;
    }
    switch (field->kind) {
    case PW_HTTP_STRING:
        field->text = NULL;
        read_string(call, field, text, size, path);
        break;
    case PW_HTTP_COUNT:
        read_count(call, field, text, size, path);
        break;
    case PW_HTTP_RANGE:
        read_range(call, field, text, size, path);
        break;
    case PW_HTTP_BOOL:
        read_bool(call, field, text, path);
        break;
    case PW_HTTP_LIST:
        if (text[0] != '[')
            pw_http_issue(call, path, "is not a list");
        break;
    case PW_HTTP_ANY:
        text[size] = '\0';
        break;
    }
}

static struct pw_http_field *find_field(struct pw_http_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

/* "id, params, onConflict". */
static void note_unknown(pawl_http_call *call, const char *path, const struct pw_http_field *fields, size_t count)
{
    char names[PATH_SIZE] = "";
    size_t size = 0;
    for (size_t i = 0; i < count && size < sizeof names; i++) {
        int added = snprintf(names + size, sizeof names - size, "%s%s", i > 0 ? ", " : "", fields[i].name);
        size += added > 0 ? (size_t)added : 0;
    }
    pw_http_issue(call, path, "there is no such field%s%s", count > 0 ? "; allowed: " : "; none are allowed here",
                  names);
}

void pw_http_object_read(pawl_http_call *call, char *text, size_t size, const char *path, struct pw_http_field *fields,
                         size_t count)
{
    struct pawl_json_part part;
    size_t position = 0;
    char buffer[PATH_SIZE];
    while (pawl_json_next(text, size, &position, &part)) {
        const char *key = content_of(call, text + (part.key - text), part.key_size);
        struct pw_http_field *field = key != NULL ? find_field(fields, count, key) : NULL;
        if (field == NULL) {
            note_unknown(call, join(path, key != NULL ? key : "", buffer), fields, count);
        } else if (field->is_given) {
            pw_http_issue(call, join(path, key, buffer), "is given more than once");
        } else {
            field->is_given = true;
            field->text = text + (part.text - text);
            field->size = part.size;
        }
    }
    for (size_t i = 0; i < count; i++)
        read_field(call, &fields[i], path);
}

/* Finds all elements before it reads the first, because reading writes a NUL behind it. */
size_t pw_http_list_read(pawl_http_call *call, const struct pw_http_field *field, size_t max,
                         const char *const **out_texts)
{
    struct pw_http_field *items = pawl_scope_take(call->scope, max * sizeof *items);
    const char **texts = pawl_scope_take(call->scope, max * sizeof *texts);
    struct pawl_json_part part;
    size_t position = 0, count = 0;
    char path[PATH_SIZE];
    if (items == NULL || texts == NULL) {
        call->issues.failed = true;
        return 0;
    }
    while (pawl_json_next(field->text, field->size, &position, &part)) {
        if (count == max) {
            pw_http_issue(call, field->name, "has more than %zu elements", max);
            break;
        }
        items[count++] = (struct pw_http_field){ .text = field->text + (part.text - field->text), .size = part.size };
    }
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(path, sizeof path, "%.40s[%zu]", field->name, i);
        read_string(call, &items[i], items[i].text, items[i].size, path);
        texts[i] = items[i].text;
    }
    *out_texts = texts;
    return count;
}

/* ---- The body -------------------------------------------------------------------------------------------------- */

/* Returns the call's own copy, without surrounding blanks, or NULL if the call is answered. */
static char *copy_body(pawl_http_call *call, size_t *out_size)
{
    const char *at = call->request->body, *end = at + call->request->body_size;
    pawl_status status = pawl_json_check(at, call->request->body_size, DEPTH_MAX, &call->error);
    if (status != PAWL_OK) {
        pw_http_fail(call, 400, "INVALID_JSON", "the body is not JSON: %s", call->error.text);
        return NULL;
    }
    while (strchr(" \n\r\t", *at) != NULL) /* valid JSON is not all blanks */
        at++;
    while (strchr(" \n\r\t", end[-1]) != NULL)
        end--;
    if (!pw_http_call_hold(call, pw_http_weight((size_t)(end - at)))) {
        pw_http_fail_over_budget(call);
        return NULL;
    }
    char *copy = pawl_scope_take(call->scope, (size_t)(end - at));
    if (copy == NULL) {
        pw_http_fail_status(call, PAWL_NOMEM);
        return NULL;
    }
    memcpy(copy, at, (size_t)(end - at));
    *out_size = (size_t)(end - at);
    return copy;
}

bool pw_http_body_read(pawl_http_call *call, struct pw_http_field *fields, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    if (call->request->body_size > 0) {
        if (!check_headers(call) || (text = copy_body(call, &size)) == NULL)
            return false;
        if (text[0] != '{')
            pw_http_issue(call, "", "the body is not an object");
    }
    if (call->issue_count == 0)
        pw_http_object_read(call, text, size, "", fields, count);
    return !pw_http_fail_issues(call);
}
