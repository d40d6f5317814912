/* value.c - reads values.  Readers never fail: what cannot be read is absent.
 *
 * A path is split into segments at its dots.  Each segment is a key of an object or a position in an array.  Every
 * value that a reader returns is a part of a tree that another value owns (tree.h). */
#include "value/value.h"

#include "value/shorten.h"
#include "value/tree.h"

/* One key or position of a path.  A backslash escapes a dot that belongs to the key. */
struct segment {
    const char *at;
    size_t size;
    bool is_escaped;
};

static struct segment segment_at(const char *path)
{
    struct segment segment = { path, 0, false };
    for (; path[segment.size] != '\0' && path[segment.size] != '.'; segment.size++)
        if (path[segment.size] == '\\' && path[segment.size + 1] == '.') {
            segment.is_escaped = true;
            segment.size++;
        }
    return segment;
}

static bool segment_is_key(struct segment segment, const char *key)
{
    for (size_t i = 0; i < segment.size; i++, key++) {
        if (segment.at[i] == '\\' && i + 1 < segment.size && segment.at[i + 1] == '.')
            i++;
        if (*key != segment.at[i])
            return false;
    }
    return *key == '\0';
}

static json_t *member_of(json_t *object, struct segment segment)
{
    if (!segment.is_escaped)
        return json_object_getn(object, segment.at, segment.size);
    void *member = json_object_iter(object);
    while (member != NULL && !segment_is_key(segment, json_object_iter_key(member)))
        member = json_object_iter_next(object, member);
    return json_object_iter_value(member);
}

/* The element at this position, or NULL.  Anything but an array has none. */
static json_t *element_of(json_t *array, struct segment segment)
{
    size_t position = 0, count = json_array_size(array);
    if (segment.size == 0)
        return NULL;
    for (size_t i = 0; i < segment.size && position < count; i++) {
        if (segment.at[i] < '0' || segment.at[i] > '9')
            return NULL;
        position = position * 10 + (size_t)(segment.at[i] - '0');
    }
    return json_array_get(array, position);
}

static json_t *find(const pawl_value *value, const char *path)
{
    json_t *node = value != NULL ? pw_value_tree(value) : NULL;
    if (path == NULL || path[0] == '\0')
        return node;
    while (node != NULL) {
        struct segment segment = segment_at(path);
        node = json_is_object(node) ? member_of(node, segment) : element_of(node, segment);
        path += segment.size;
        if (*path == '\0')
            break;
        path++;
    }
    return node;
}

enum pawl_kind pawl_value_kind(const pawl_value *value, const char *path)
{
    static const enum pawl_kind kinds[] = {
        [JSON_OBJECT] = PAWL_KIND_OBJECT, [JSON_ARRAY] = PAWL_KIND_ARRAY, [JSON_STRING] = PAWL_KIND_STRING,
        [JSON_INTEGER] = PAWL_KIND_INT,   [JSON_REAL] = PAWL_KIND_REAL,   [JSON_TRUE] = PAWL_KIND_BOOL,
        [JSON_FALSE] = PAWL_KIND_BOOL,    [JSON_NULL] = PAWL_KIND_NULL,
    };
    const json_t *node = find(value, path);
    return node != NULL ? kinds[json_typeof(node)] : PAWL_KIND_NONE;
}

/* A value over a part of the value's tree. */
static const pawl_value *part_of(const pawl_value *value, json_t *node)
{
    if (node == NULL)
        return NULL;
    const pawl_value *part = pw_value_part(value->scope, node);
    if (part == NULL)
        atomic_store(&value->scope->failed, PAWL_NOMEM);
    return part;
}

const pawl_value *pawl_value_at(const pawl_value *value, const char *path)
{
    if (path == NULL || path[0] == '\0')
        return value;
    return part_of(value, find(value, path));
}

bool pawl_value_bool(const pawl_value *value, const char *path, bool otherwise)
{
    json_t *node = find(value, path);
    return json_is_boolean(node) ? json_is_true(node) : otherwise;
}

int64_t pawl_value_int(const pawl_value *value, const char *path, int64_t otherwise)
{
    json_t *node = find(value, path);
    if (json_is_integer(node))
        return json_integer_value(node);
    if (!json_is_real(node))
        return otherwise;
    double real = json_real_value(node);
    if (real < -0x1p63 || real >= 0x1p63)
        return otherwise;
    int64_t whole = (int64_t)real;
    return (double)whole == real ? whole : otherwise;
}

double pawl_value_real(const pawl_value *value, const char *path, double otherwise)
{
    json_t *node = find(value, path);
    return json_is_number(node) ? json_number_value(node) : otherwise;
}

const char *pawl_value_string(const pawl_value *value, const char *path, const char *otherwise)
{
    json_t *node = find(value, path);
    return json_is_string(node) ? json_string_value(node) : otherwise;
}

size_t pawl_value_size(const pawl_value *value, const char *path)
{
    const json_t *node = find(value, path); /* each of the three is 0 for a value of another kind */
    return json_array_size(node) + json_object_size(node) + json_string_length(node);
}

static void **list_members(pawl_value *value, json_t *object)
{
    pawl_scope *scope = value->scope;
    pthread_mutex_lock(&scope->lock);
    void **members = atomic_load_explicit(&value->members, memory_order_relaxed);
    if (members == NULL) {
        members = pw_arena_take(&scope->arena, json_object_size(object) * sizeof *members);
        void **place = members;
        for (void *member = json_object_iter(object); place != NULL && member != NULL;
             member = json_object_iter_next(object, member))
            *place++ = member;
        atomic_store_explicit(&value->members, members, memory_order_release);
    }
    pthread_mutex_unlock(&scope->lock);
    if (members == NULL)
        atomic_store(&scope->failed, PAWL_NOMEM);
    return members;
}

/* Jansson's iterator for an object's member.  The iterators are listed once, because Jansson can only step from one
 * to the next: a loop over positions would take quadratic time. */
static void *member_at(const pawl_value *value, json_t *node, size_t position)
{
    if (!json_is_object(node) || position >= json_object_size(node))
        return NULL;
    void **members = atomic_load_explicit(&value->members, memory_order_acquire);
    if (members == NULL)
        members = list_members((pawl_value *)value, node);
    return members != NULL ? members[position] : NULL;
}

const pawl_value *pawl_value_item(const pawl_value *value, size_t position)
{
    json_t *node = find(value, NULL);
    if (json_is_array(node))
        return part_of(value, json_array_get(node, position));
    return part_of(value, json_object_iter_value(member_at(value, node, position)));
}

const char *pawl_value_key(const pawl_value *value, size_t position)
{
    return json_object_iter_key(member_at(value, find(value, NULL), position));
}

bool pawl_value_equal(const pawl_value *left, const pawl_value *right)
{
    if (left == NULL || right == NULL)
        return left == right;
    return json_equal(pw_value_tree(left), pw_value_tree(right)) != 0;
}

/* Dumps into a buffer that is large enough for most values, and otherwise again into memory of the right size. */
static pawl_status dump(pawl_scope *scope, const json_t *tree, struct pw_text *out_text)
{
    enum { FLAGS = JSON_COMPACT | JSON_ENCODE_ANY };
    char buffer[2048];
    size_t size = json_dumpb(tree, buffer, sizeof buffer, FLAGS);
    if (size == 0)
        return PAWL_NOMEM;
    char *text = pw_scope_take(scope, size + 1);
    if (text == NULL)
        return PAWL_NOMEM;
    if (size <= sizeof buffer)
        memcpy(text, buffer, size);
    else if (json_dumpb(tree, text, size, FLAGS) != size)
        return PAWL_NOMEM;
    size = pw_json_shorten(text, size);
    text[size] = '\0';
    *out_text = (struct pw_text){ text, size };
    return PAWL_OK;
}

pawl_status pawl_value_text(pawl_scope *scope, const pawl_value *value, const char **out_text, size_t *out_size)
{
    struct pw_text text = { NULL, 0 };
    if (scope == NULL)
        return PAWL_INVALID;
    if (value != NULL && value->text.data != NULL) {
        /* A value gives the same text whether or not it has been read. */
        text = value->text;
        if (value->scope != scope && !pw_scope_text(scope, value->text, &text))
            return PAWL_NOMEM;
    } else if (value != NULL) {
        pawl_status status = dump(scope, pw_value_tree(value), &text);
        if (status != PAWL_OK)
            return status;
    }
    *out_text = text.data;
    *out_size = text.size;
    return PAWL_OK;
}
