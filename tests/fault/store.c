/* store.c - see store.h. */
#include "store.h"

#include <stdlib.h>

#include "plan.h"
#include "testing/forward.h"

struct fault_store {
    struct pw_forward forward;
    struct fault_store_options options;
};

static pawl_status say_failed(struct pawl_error *error)
{
    *error = (struct pawl_error){ PAWL_STORE_UNAVAILABLE, "the test's store fails as planned" };
    return PAWL_STORE_UNAVAILABLE;
}

static pawl_status apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct fault_store *own = (struct fault_store *)store;
    struct ledger *ledger = own->options.ledger;
    struct pw_store *inner = own->forward.inner;
    pawl_status status = PAWL_OK;
    if (own->options.before_commit != NULL)
        own->options.before_commit(own->options.user, ledger->commits + 1);
    if (fault_strikes(FAULT_APPLY_BEFORE))
        status = say_failed(error);
    if (status == PAWL_OK)
        status = inner->ops->apply(inner, units, count, error);
    bool told = !fault_strikes(FAULT_APPLY_AFTER);
    if (status == PAWL_OK) {
        ledger->commits++;
        for (size_t i = 0; i < count; i++) {
            if (units[i]->status == PAWL_OK)
                ledger_note(ledger, units[i], told);
        }
        if (own->options.after_commit != NULL)
            own->options.after_commit(own->options.user, ledger->commits);
    }
    if (status == PAWL_OK && !told)
        status = say_failed(error);
    for (size_t i = 0; status != PAWL_OK && i < count; i++)
        units[i]->status = status;
    return status;
}

/* A read that fails before it is made. */
static pawl_status read_rows(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                             struct pw_found *out_found, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    struct pawl_error unheard;
    if (fault_strikes(FAULT_STORE_READ))
        return say_failed(error != NULL ? error : &unheard);
    return inner->ops->read(inner, asked, arena, out_found, error);
}

static pawl_status announce(struct pw_store *store, int64_t owner, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    struct pawl_error unheard;
    if (fault_strikes(FAULT_ANNOUNCE))
        return say_failed(error != NULL ? error : &unheard);
    return inner->ops->announce(inner, owner, error);
}

static void close_store(struct pw_store *store)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    inner->ops->close(inner);
    free(store);
}

struct pw_store *fault_store_wrap(struct pw_store *inner, void *user)
{
    struct fault_store *own = malloc(sizeof *own);
    if (own == NULL)
        return NULL;
    own->options = *(const struct fault_store_options *)user;
    pw_forward_init(&own->forward, inner);
    struct pw_store_ops *ops = &own->forward.ops;
    ops->close = close_store;
    ops->apply = apply;
    ops->read = read_rows;
    ops->announce = announce;
    return &own->forward.store;
}
