/* forward.c - see forward.h.  One function per entry of the table, each the same call on the inner store. */
#include "testing/forward.h"

#include <stdlib.h>

static struct pw_store *inner_of(struct pw_store *store)
{
    return ((struct pw_forward *)store)->inner;
}

static void forward_close(struct pw_store *store)
{
    struct pw_store *inner = inner_of(store);
    inner->ops->close(inner);
}

static int64_t forward_now_ms(struct pw_store *store)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->now_ms(inner);
}

static pawl_status forward_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->apply(inner, units, count, error);
}

static pawl_status forward_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                                struct pw_found *out_found, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read(inner, asked, arena, out_found, error);
}

static pawl_status forward_announce(struct pw_store *store, int64_t owner, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->announce(inner, owner, error);
}

static bool forward_is_heard(struct pw_store *store, int64_t owner, int64_t since_ms)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->is_heard == NULL || inner->ops->is_heard(inner, owner, since_ms);
}

static void forward_withdraw(struct pw_store *store, int64_t owner)
{
    struct pw_store *inner = inner_of(store);
    inner->ops->withdraw(inner, owner);
}

static pawl_status forward_describe(struct pw_store *store, const struct pw_runner_row *runner,
                                    struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->describe(inner, runner, error);
}

void pw_forward_init(struct pw_forward *forward, struct pw_store *inner)
{
    forward->inner = inner;
    forward->ops = (struct pw_store_ops){
        .name = inner->ops->name,
        .close = forward_close,
        .now_ms = forward_now_ms,
        .apply = forward_apply,
        .read = forward_read,
        .announce = forward_announce,
        .withdraw = forward_withdraw,
        .is_heard = forward_is_heard,
        .describe = forward_describe,
    };
    forward->store.ops = &forward->ops;
}

static void close_and_free(struct pw_store *store)
{
    forward_close(store);
    free(store);
}

void *pw_forward_new(struct pw_store *inner, size_t size)
{
    struct pw_forward *forward = calloc(1, size);
    if (forward == NULL)
        return NULL;
    pw_forward_init(forward, inner);
    forward->ops.close = close_and_free;
    return forward;
}
