/* tree.c - makes values: from a tree, or from text that is parsed at the first read. */
#include "value/tree.h"

#include "base/error.h"
#include "common/json.h"

json_t *pw_tree_share(json_t *tree)
{
    /* true, false and null are Jansson's own constants, marked by a count that is never touched. */
    if (__atomic_load_n(&tree->refcount, __ATOMIC_RELAXED) != (size_t)-1)
        (void)__atomic_add_fetch(&tree->refcount, 1, __ATOMIC_RELAXED);
    return tree;
}

void pw_tree_release(json_t *tree)
{
    if (tree == NULL || __atomic_load_n(&tree->refcount, __ATOMIC_RELAXED) == (size_t)-1)
        return;
    if (__atomic_sub_fetch(&tree->refcount, 1, __ATOMIC_ACQ_REL) == 0)
        json_delete(tree);
}

/* Under the scope's lock. */
static void own(pawl_value *value)
{
    value->next_owner = value->scope->owners;
    value->scope->owners = value;
}

pawl_value *pw_value_part(pawl_scope *scope, json_t *tree)
{
    pawl_value *part = pw_scope_take(scope, sizeof *part);
    if (part == NULL)
        return NULL;
    *part = (pawl_value){ .scope = scope };
    atomic_init(&part->tree, tree);
    return part;
}

pawl_status pw_value_of_tree(pawl_scope *scope, json_t *tree, pawl_value **out_value)
{
    pawl_value *value = pw_value_part(scope, tree);
    if (value == NULL) {
        pw_tree_release(tree);
        return PAWL_NOMEM;
    }
    pthread_mutex_lock(&scope->lock);
    own(value);
    pthread_mutex_unlock(&scope->lock);
    *out_value = value;
    return PAWL_OK;
}

pawl_status pw_value_of_text(pawl_scope *scope, struct pw_text text, pawl_value **out_value)
{
    if (text.data == NULL) {
        *out_value = NULL;
        return PAWL_OK;
    }
    struct pw_text copy;
    pawl_value *value = pw_scope_take(scope, sizeof *value);
    if (value == NULL || !pw_scope_text(scope, text, &copy))
        return PAWL_NOMEM;
    *value = (pawl_value){ .scope = scope, .text = copy };
    *out_value = value;
    return PAWL_OK;
}

pawl_status pawl_value_parse(pawl_scope *scope, const char *text, size_t size, pawl_value **out_value,
                             struct pawl_error *error)
{
    struct pw_text source = { text, size };
    if (scope == NULL || text == NULL || out_value == NULL)
        return pw_error_plain(error, PAWL_INVALID);
    pawl_status status = pw_json_check(source, INT64_MAX, "JSON", error);
    if (status != PAWL_OK)
        return status;
    json_t *tree = pw_json_parse(source);
    status = tree != NULL ? pw_value_of_tree(scope, tree, out_value) : PAWL_NOMEM;
    return status == PAWL_OK ? PAWL_OK : pw_error_plain(error, status);
}

static json_t *parse_first(pawl_value *value)
{
    pawl_scope *scope = value->scope;
    struct pw_json_flaw flaw;
    pthread_mutex_lock(&scope->lock);
    json_t *tree = atomic_load_explicit(&value->tree, memory_order_relaxed);
    if (tree == NULL && (tree = pw_json_parse(value->text)) != NULL) {
        own(value);
        atomic_store_explicit(&value->tree, tree, memory_order_release);
    }
    pthread_mutex_unlock(&scope->lock);
    if (tree == NULL)
        atomic_store(&scope->failed, pw_json_scan(value->text, &flaw) ? PAWL_NOMEM : PAWL_STORE_CORRUPT);
    return tree;
}

json_t *pw_value_tree(const pawl_value *value)
{
    json_t *tree = atomic_load_explicit(&value->tree, memory_order_acquire);
    /* Parsing does not change what a reader sees, so the value counts as constant. */
    return tree != NULL ? tree : parse_first((pawl_value *)value);
}
