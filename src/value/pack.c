/* pack.c - builds values from a format.  Blanks, commas and colons between the letters are ignored. */
#include <math.h>

#include "base/limits.h"
#include "value/tree.h"

#define SEPARATORS " \t\n\r,:"

struct packer {
    const char *at; /* the next letter */
    va_list arguments;
    int depth;
    pawl_status status; /* packing ends once this is not PAWL_OK */
};

/* Packs any value.  Returns a new reference.  NULL: it failed, or it was a V without a value, which is left out. */
static json_t *pack_any(struct packer *packer);

static char next_letter(struct packer *packer)
{
    packer->at += strspn(packer->at, SEPARATORS);
    return *packer->at != '\0' ? *packer->at++ : '\0';
}

static json_t *fail(struct packer *packer, pawl_status status)
{
    packer->status = status;
    return NULL;
}

static json_t *made(struct packer *packer, json_t *node)
{
    return node != NULL ? node : fail(packer, PAWL_NOMEM);
}

static struct pw_text take_string(struct packer *packer)
{
    struct pw_text text = pw_text_of(va_arg(packer->arguments, const char *));
    if (text.data == NULL || !pw_text_is_utf8(text))
        packer->status = PAWL_INVALID;
    return text;
}

static json_t *pack_string(struct packer *packer)
{
    struct pw_text text = take_string(packer);
    return packer->status == PAWL_OK ? made(packer, json_stringn_nocheck(text.data, text.size)) : NULL;
}

static json_t *pack_real(struct packer *packer)
{
    double real = va_arg(packer->arguments, double);
    /* JSON has no infinity and no NaN. */
    return isfinite(real) ? made(packer, json_real(real)) : fail(packer, PAWL_INVALID);
}

/* True if the tree is at most this many levels deep.  The levels also bound the recursion. */
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

static json_t *pack_value(struct packer *packer)
{
    const pawl_value *value = va_arg(packer->arguments, const pawl_value *);
    if (value == NULL)
        return NULL;
    json_t *node = pw_value_tree(value);
    if (node == NULL)
        return fail(packer, PAWL_NOMEM);
    return is_within(node, PW_JSON_DEPTH_MAX - packer->depth) ? pw_tree_share(node) : fail(packer, PAWL_INVALID_JSON);
}

/* Packs the next element, or the next member if `letter` is its key. */
static void pack_part(struct packer *packer, char letter, json_t *container)
{
    bool is_object = json_is_object(container);
    struct pw_text key = { NULL, 0 };
    if (letter == '\0' || (is_object && letter != 's'))
        packer->status = PAWL_INVALID;
    else if (is_object)
        key = take_string(packer);
    else
        packer->at--;
    json_t *part = packer->status == PAWL_OK ? pack_any(packer) : NULL;
    if (part != NULL && (is_object ? json_object_set_new_nocheck(container, key.data, part)
                                   : json_array_append_new(container, part)) != 0)
        packer->status = PAWL_NOMEM;
}

static json_t *pack_container(struct packer *packer, json_t *container, char closing)
{
    if (container == NULL)
        return fail(packer, PAWL_NOMEM);
    if (++packer->depth > PW_JSON_DEPTH_MAX)
        packer->status = PAWL_INVALID;
    char letter = '\0';
    while (packer->status == PAWL_OK && (letter = next_letter(packer)) != closing)
        pack_part(packer, letter, container);
    packer->depth--;
    if (packer->status == PAWL_OK)
        return container;
    pw_tree_release(container);
    return NULL;
}

static json_t *pack_any(struct packer *packer)
{
    switch (next_letter(packer)) {
    case 's':
        return pack_string(packer);
    case 'i':
        return made(packer, json_integer(va_arg(packer->arguments, int)));
    case 'I':
        return made(packer, json_integer(va_arg(packer->arguments, long long)));
    case 'f':
        return pack_real(packer);
    case 'b':
        return json_boolean(va_arg(packer->arguments, int));
    case 'n':
        return json_null();
    case 'V':
        return pack_value(packer);
    case '{':
        return pack_container(packer, json_object(), '}');
    case '[':
        return pack_container(packer, json_array(), ']');
    default:
        return fail(packer, PAWL_INVALID);
    }
}

/* A format that is only V passes a value on, without parsing stored text that nobody has read. */
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
    json_t *node = pack_any(packer);
    if (packer->status == PAWL_OK && next_letter(packer) == '\0')
        return pw_value_of_tree(scope, node, out_value);
    pw_tree_release(node);
    return packer->status != PAWL_OK ? packer->status : PAWL_INVALID;
}

pawl_status pawl_value_vpack(pawl_scope *scope, pawl_value **out_value, const char *format, va_list arguments)
{
    if (scope == NULL || out_value == NULL || format == NULL)
        return PAWL_INVALID;
    struct packer packer = { .at = format, .status = PAWL_OK };
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
