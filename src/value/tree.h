/* tree.h - what scopes and values are made of.  Private to this folder: no other folder sees Jansson.
 *
 * 1. A tree is never changed once a value points at it.  So trees and their parts are shared between scopes by
 *    reference count, and stay valid when the scope that parsed them is freed.
 * 2. A value that holds a reference is in its scope's list of owners.  A value that borrows a part of such a tree
 *    is not.
 * 3.  `tree` and `members` are set at most once, under the scope's lock, and are read without it. */
#ifndef PW_VALUE_TREE_H
#define PW_VALUE_TREE_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "value/value.h"

#ifndef JANSSON_THREAD_SAFE_REFCOUNT
#error "values share trees between threads: Jansson must count references atomically"
#endif

struct pawl_scope {
    pthread_mutex_t lock; /* guards the rest, except `failed` */
    struct pw_arena arena;
    pawl_value *owners;
    atomic_int failed; /* a pawl_status: PAWL_NOMEM, or PAWL_STORE_CORRUPT for stored text that is not JSON */
};

struct pawl_value {
    pawl_scope *scope;
    struct pw_text text;      /* the text as it was given; absent if the value was made from a tree */
    _Atomic(json_t *) tree;   /* NULL: not parsed yet */
    _Atomic(void **) members; /* Jansson's iterators, in the text's order; NULL: not an object or not asked for yet */
    pawl_value *next_owner;
};

/* The parsed tree, borrowed.  NULL when memory runs out; the scope's status then says so. */
json_t *pw_value_tree(const pawl_value *value);

/* A value over a tree that another value owns.  NULL when memory runs out. */
pawl_value *pw_value_part(pawl_scope *scope, json_t *tree);
/* A value over the tree.  Consumes the reference, also on failure. */
pawl_status pw_value_of_tree(pawl_scope *scope, json_t *tree, pawl_value **out_value) PAWL_MUST_CHECK;

/* Take and release a reference.  Jansson's own inline functions start with a plain read of the count, which is a
 * race if another thread changes it. */
json_t *pw_tree_share(json_t *tree);
void pw_tree_release(json_t *tree);

#endif
