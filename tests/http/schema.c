/* schema.c - see schema.h. */
#include "schema.h"

#include <regex.h>
#include <string.h>

struct check {
    pawl_scope *scope;
    const pawl_value *document;
    const char *path; /* of the value */
    const char *wrong;
};

static void matches(struct check *check, const pawl_value *schema, const pawl_value *value);

const pawl_value *schema_member(const pawl_value *object, const char *key)
{
    for (size_t i = 0; pawl_value_key(object, i) != NULL; i++)
        if (strcmp(pawl_value_key(object, i), key) == 0)
            return pawl_value_item(object, i);
    return NULL;
}

const pawl_value *schema_resolve(const pawl_value *document, const char *reference)
{
    if (strncmp(reference, "#/", 2) != 0)
        return NULL;
    reference += 2;
    while (document != NULL) {
        char key[128];
        size_t size = strcspn(reference, "/");
        if (size >= sizeof key)
            return NULL;
        memcpy(key, reference, size);
        key[size] = '\0';
        document = schema_member(document, key);
        if (reference[size] == '\0')
            break;
        reference += size + 1;
    }
    return document;
}

const pawl_value *schema_follow(const pawl_value *document, const pawl_value *value)
{
    const pawl_value *reference = schema_member(value, "$ref");
    return reference != NULL ? schema_resolve(document, pawl_value_string(reference, NULL, "")) : value;
}

static void wrong(struct check *check, const char *what, const char *which)
{
    if (check->wrong == NULL)
        check->wrong = pawl_scope_format(check->scope, "%s: %s %s", check->path, what, which);
}

static void matches_below(struct check *check, const char *name, const pawl_value *schema, const pawl_value *value)
{
    const char *path = check->path;
    check->path = pawl_scope_format(check->scope, "%s/%s", path, name);
    matches(check, schema, value);
    check->path = path;
}

/* ---- Keywords ---------------------------------------------------------------------------------------------------- */

static bool is_of_type(const pawl_value *value, const char *type)
{
    switch (pawl_value_kind(value, NULL)) {
    case PAWL_KIND_NONE:
        return false;
    case PAWL_KIND_NULL:
        return strcmp(type, "null") == 0;
    case PAWL_KIND_BOOL:
        return strcmp(type, "boolean") == 0;
    case PAWL_KIND_INT:
        return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
    case PAWL_KIND_REAL:
        return strcmp(type, "number") == 0;
    case PAWL_KIND_STRING:
        return strcmp(type, "string") == 0;
    case PAWL_KIND_ARRAY:
        return strcmp(type, "array") == 0;
    case PAWL_KIND_OBJECT:
        return strcmp(type, "object") == 0;
    }
    return false;
}

static void check_type(struct check *check, const pawl_value *types, const pawl_value *value)
{
    bool matched =
        pawl_value_kind(types, NULL) == PAWL_KIND_STRING && is_of_type(value, pawl_value_string(types, NULL, ""));
    for (size_t i = 0; pawl_value_item(types, i) != NULL; i++)
        matched = matched || is_of_type(value, pawl_value_string(pawl_value_item(types, i), NULL, ""));
    if (!matched)
        wrong(check, "is not of the type", pawl_value_string(types, NULL, "(any of several)"));
}

static void check_enum(struct check *check, const pawl_value *choices, const pawl_value *value)
{
    bool matched = false;
    for (size_t i = 0; pawl_value_item(choices, i) != NULL; i++)
        matched = matched || pawl_value_equal(pawl_value_item(choices, i), value);
    if (!matched)
        wrong(check, "is none of the choices:", pawl_value_string(value, NULL, "(not a string)"));
}

static void check_required(struct check *check, const pawl_value *names, const pawl_value *value)
{
    for (size_t i = 0; pawl_value_item(names, i) != NULL; i++) {
        const char *name = pawl_value_string(pawl_value_item(names, i), NULL, "");
        if (pawl_value_kind(value, NULL) == PAWL_KIND_OBJECT && schema_member(value, name) == NULL)
            wrong(check, "misses", name);
    }
}

/* properties and additionalProperties together. */
static void check_members(struct check *check, const pawl_value *schema, const pawl_value *value)
{
    const pawl_value *properties = schema_member(schema, "properties"),
                     *others = schema_member(schema, "additionalProperties");
    for (size_t i = 0; pawl_value_key(value, i) != NULL; i++) {
        const char *name = pawl_value_key(value, i);
        const pawl_value *own = properties != NULL ? schema_member(properties, name) : NULL;
        if (own == NULL && others != NULL && !pawl_value_bool(others, NULL, true))
            wrong(check, "has a member that is not described:", name);
        else if (own != NULL || pawl_value_kind(others, NULL) == PAWL_KIND_OBJECT)
            matches_below(check, name, own != NULL ? own : others, pawl_value_item(value, i));
    }
}

static void check_items(struct check *check, const pawl_value *items, const pawl_value *value)
{
    for (size_t i = 0; pawl_value_kind(value, NULL) == PAWL_KIND_ARRAY && pawl_value_item(value, i) != NULL; i++)
        matches_below(check, pawl_scope_format(check->scope, "%zu", i), items, pawl_value_item(value, i));
}

/* The size or the number that a limit is about; false: it is about another kind. */
static bool measure(const pawl_value *value, const char *keyword, double *out_measure)
{
    enum pawl_kind kind = pawl_value_kind(value, NULL);
    bool of_number = strcmp(keyword + 3, "imum") == 0;
    enum pawl_kind sized = strstr(keyword, "Items") != NULL ? PAWL_KIND_ARRAY : PAWL_KIND_STRING;
    *out_measure = of_number ? pawl_value_real(value, NULL, 0) : (double)pawl_value_size(value, NULL);
    return of_number ? kind == PAWL_KIND_INT || kind == PAWL_KIND_REAL : kind == sized;
}

static void check_limit(struct check *check, const char *keyword, const pawl_value *limit, const pawl_value *value)
{
    double measured, most = pawl_value_real(limit, NULL, 0);
    if (!measure(value, keyword, &measured))
        return;
    if (strncmp(keyword, "min", 3) == 0 ? measured < most : measured > most)
        wrong(check, "is beyond its", keyword);
}

/* The patterns are simple enough to mean the same as POSIX. */
static void check_pattern(struct check *check, const char *pattern, const pawl_value *value)
{
    regex_t compiled;
    if (pawl_value_kind(value, NULL) != PAWL_KIND_STRING)
        return;
    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
        wrong(check, "has a pattern that is none:", pattern);
        return;
    }
    if (regexec(&compiled, pawl_value_string(value, NULL, ""), 0, NULL, 0) != 0)
        wrong(check, "does not match", pattern);
    regfree(&compiled);
}

static bool is_among(const char *keyword, const char *const *list)
{
    while (*list != NULL && strcmp(*list, keyword) != 0)
        list++;
    return *list != NULL;
}

static void check_keyword(struct check *check, const pawl_value *schema, size_t position, const pawl_value *value)
{
    static const char *const notes[] = { "description", "format",           "default", "examples",
                                         "pattern",     "contentMediaType", NULL };
    static const char *const limits[] = {
        "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", NULL
    };
    const char *keyword = pawl_value_key(schema, position);
    const pawl_value *rule = pawl_value_item(schema, position);
    if (strcmp(keyword, "type") == 0)
        check_type(check, rule, value);
    else if (strcmp(keyword, "enum") == 0)
        check_enum(check, rule, value);
    else if (strcmp(keyword, "const") == 0 && !pawl_value_equal(rule, value))
        wrong(check, "is not the constant", pawl_value_string(rule, NULL, ""));
    else if (strcmp(keyword, "required") == 0)
        check_required(check, rule, value);
    else if (strcmp(keyword, "items") == 0)
        check_items(check, rule, value);
    else if (strcmp(keyword, "$ref") == 0)
        matches(check, schema_resolve(check->document, pawl_value_string(rule, NULL, "")), value);
    else if (strcmp(keyword, "pattern") == 0)
        check_pattern(check, pawl_value_string(rule, NULL, ""), value);
    else if (is_among(keyword, limits))
        check_limit(check, keyword, rule, value);
    else if (strcmp(keyword, "const") != 0 && strcmp(keyword, "properties") != 0 &&
             strcmp(keyword, "additionalProperties") != 0 && !is_among(keyword, notes))
        wrong(check, "has a schema with an unknown keyword:", keyword);
}

static void matches(struct check *check, const pawl_value *schema, const pawl_value *value)
{
    if (pawl_value_kind(schema, NULL) != PAWL_KIND_OBJECT) {
        wrong(check, "has no schema", "");
        return;
    }
    for (size_t i = 0; pawl_value_key(schema, i) != NULL && check->wrong == NULL; i++)
        check_keyword(check, schema, i, value);
    if (pawl_value_kind(value, NULL) == PAWL_KIND_OBJECT)
        check_members(check, schema, value);
}

const char *schema_mismatch(pawl_scope *scope, const pawl_value *document, const pawl_value *schema,
                            const pawl_value *value)
{
    struct check check = { .scope = scope, .document = document, .path = "" };
    matches(&check, schema, value);
    return check.wrong;
}
