/* pack.c - building values from a format.  Blanks, commas and colons between the letters are for the reader only. */
#include <math.h>

#include "base/limits.h"
#include "value/tree.h"

#define SEPARATORS " \t\n\r,:"

struct packer {
    const char *at; /* the next letter */
    va_list arguments;
    int depth;
};

/* Answers with a new reference; NULL is a V that had no value and is left out. */
static pawl_status pack_any(struct packer *packer, json_t **out_node);

static char next_letter(struct packer *packer)
{
    packer->at += strspn(packer->at, SEPARATORS);
    return *packer->at != '\0' ? *packer->at++ : '\0';
}

static pawl_status node_or_nomem(json_t *node, json_t **out_node)
{
    if (node == NULL)
        return PAWL_NOMEM;
    *out_node = node;
    return PAWL_OK;
}

static pawl_status take_string(struct packer *packer, struct pw_text *out_text)
{
    *out_text = pw_text_of(va_arg(packer->arguments, const char *));
    return out_text->data != NULL && pw_text_is_utf8(*out_text) ? PAWL_OK : PAWL_INVALID;
}

static pawl_status pack_string(struct packer *packer, json_t **out_node)
{
    struct pw_text text;
    pawl_status status = take_string(packer, &text);
    return status == PAWL_OK ? node_or_nomem(json_stringn_nocheck(text.data, text.size), out_node) : status;
}

static pawl_status pack_real(struct packer *packer, json_t **out_node)
{
    double real = va_arg(packer->arguments, double);
    return isfinite(real) ? node_or_nomem(json_real(real), out_node) : PAWL_INVALID; /* JSON has no others */
}

/* Is the tree at most this many levels deep?  Recursion ends with the levels. */
static bool is_within(json_t *node, int levels)
{
    if (!json_is_object(node) && !json_is_array(node))
        return true;
    if (levels == 0)
        return false;
    for (size_t i = 0; i < json_array_size(node); i++)
        if (!is_within(json_array_get(node, i), levels - 1))
            return false;
    for (void *member = json_object_iter(node); member != NULL; member = json_object_iter_next(node, member))
        if (!is_within(json_object_iter_value(member), levels - 1))
            return false;
    return true;
}

static pawl_status pack_value(struct packer *packer, json_t **out_node)
{
    const pawl_value *value = va_arg(packer->arguments, const pawl_value *);
    *out_node = NULL;
    if (value == NULL)
        return PAWL_OK;
    json_t *node = pw_value_tree(value);
    if (node == NULL)
        return PAWL_NOMEM;
    if (!is_within(node, PW_JSON_DEPTH_MAX - packer->depth))
        return PAWL_INVALID_JSON;
    *out_node = pw_tree_share(node);
    return PAWL_OK;
}

static pawl_status pack_elements(struct packer *packer, json_t *array)
{
    for (char letter = next_letter(packer); letter != ']'; letter = next_letter(packer)) {
        if (letter == '\0')
            return PAWL_INVALID;
        packer->at--;
        json_t *element;
        pawl_status status = pack_any(packer, &element);
        if (status != PAWL_OK)
            return status;
        if (element != NULL && json_array_append_new(array, element) != 0)
            return PAWL_NOMEM;
    }
    return PAWL_OK;
}

static pawl_status pack_members(struct packer *packer, json_t *object)
{
    for (char letter = next_letter(packer); letter != '}'; letter = next_letter(packer)) {
        struct pw_text key;
        json_t *member;
        pawl_status status = letter == 's' ? take_string(packer, &key) : PAWL_INVALID;
        if (status == PAWL_OK)
            status = pack_any(packer, &member);
        if (status != PAWL_OK)
            return status;
        if (member != NULL && json_object_set_new_nocheck(object, key.data, member) != 0)
            return PAWL_NOMEM;
    }
    return PAWL_OK;
}

static pawl_status pack_container(struct packer *packer, json_t *container, json_t **out_node)
{
    if (container == NULL)
        return PAWL_NOMEM;
    pawl_status status = PAWL_INVALID;
    if (packer->depth < PW_JSON_DEPTH_MAX) {
        packer->depth++;
        status = json_is_object(container) ? pack_members(packer, container) : pack_elements(packer, container);
        packer->depth--;
    }
    if (status == PAWL_OK)
        *out_node = container;
    else
        pw_tree_release(container);
    return status;
}

static pawl_status pack_any(struct packer *packer, json_t **out_node)
{
    switch (next_letter(packer)) {
    case 's':
        return pack_string(packer, out_node);
    case 'i':
        return node_or_nomem(json_integer(va_arg(packer->arguments, int)), out_node);
    case 'I':
        return node_or_nomem(json_integer(va_arg(packer->arguments, long long)), out_node);
    case 'f':
        return pack_real(packer, out_node);
    case 'b':
        return node_or_nomem(json_boolean(va_arg(packer->arguments, int)), out_node);
    case 'n':
        return node_or_nomem(json_null(), out_node);
    case 'V':
        return pack_value(packer, out_node);
    case '{':
        return pack_container(packer, json_object(), out_node);
    case '[':
        return pack_container(packer, json_array(), out_node);
    default:
        return PAWL_INVALID;
    }
}

/* A format of nothing but V hands a value on: stored text that nobody has read goes on unread. */
static pawl_status pack_alone(pawl_scope *scope, const pawl_value *value, pawl_value **out_value)
{
    if (value == NULL || value->text.data != NULL)
        return pw_value_of_text(scope, value != NULL ? value->text : (struct pw_text){ NULL, 0 }, out_value);
    return pw_value_of_tree(scope, pw_tree_share(pw_value_tree(value)), out_value);
}

static pawl_status pack_whole(struct packer *packer, pawl_scope *scope, pawl_value **out_value)
{
    packer->at += strspn(packer->at, SEPARATORS);
    if (packer->at[0] == 'V' && packer->at[1 + strspn(packer->at + 1, SEPARATORS)] == '\0')
        return pack_alone(scope, va_arg(packer->arguments, const pawl_value *), out_value);
    json_t *node;
    pawl_status status = pack_any(packer, &node);
    if (status != PAWL_OK)
        return status;
    if (next_letter(packer) != '\0') {
        pw_tree_release(node);
        return PAWL_INVALID;
    }
    return pw_value_of_tree(scope, node, out_value);
}

pawl_status pawl_value_vpack(pawl_scope *scope, pawl_value **out_value, const char *format, va_list arguments)
{
    if (scope == NULL || out_value == NULL || format == NULL)
        return PAWL_INVALID;
    struct packer packer = { .at = format, .depth = 0 };
    va_copy(packer.arguments, arguments);
    pawl_status status = pack_whole(&packer, scope, out_value);
    va_end(packer.arguments);
    return status;
}

pawl_status pawl_value_pack(pawl_scope *scope, pawl_value **out_value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_status status = pawl_value_vpack(scope, out_value, format, arguments);
    va_end(arguments);
    return status;
}
