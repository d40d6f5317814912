/* apply.c - units to their homes.  The committer hands over units of one lane, which are one member's; whoever applies a
 * mixture gets a transaction for each row of neighbours that have the same home. */
#include "base/error.h"
#include "store/several/several.h"

/* ---- One member ---------------------------------------------------------------------------------------------- */

static void enter(struct pw_several *several, struct pw_member *member)
{
    (void)pthread_mutex_lock(&several->lock);
    uint64_t ticket = member->next_ticket++;
    while (ticket != member->admitted || member->applying == member->lane_count)
        (void)pthread_cond_wait(&several->left, &several->lock);
    member->admitted++;
    member->applying++;
    (void)pthread_cond_broadcast(&several->left); /* the next in line may have room as well */
    (void)pthread_mutex_unlock(&several->lock);
}

static void leave(struct pw_several *several, struct pw_member *member)
{
    (void)pthread_mutex_lock(&several->lock);
    member->applying--;
    (void)pthread_cond_broadcast(&several->left);
    (void)pthread_mutex_unlock(&several->lock);
}

pawl_status pw_member_try(struct pw_several *several, size_t home, struct pw_unit **units, size_t count, int64_t now_ms,
                          struct pawl_error *error)
{
    struct pw_member *member = &several->members[home];
    enter(several, member);
    pawl_status status = member->store->ops->apply(member->store, units, count, now_ms, error);
    leave(several, member);
    return pw_member_note(several, home, status, error);
}

pawl_status pw_member_apply(struct pw_several *several, size_t home, struct pw_unit **units, size_t count,
                            int64_t now_ms, struct pawl_error *error)
{
    pawl_status status = pw_member_check(several, home, error);
    if (status == PAWL_OK)
        return pw_member_try(several, home, units, count, now_ms, error);
    for (size_t i = 0; i < count; i++) {
        units[i]->status = status;
        units[i]->undone = true;
    }
    return status;
}

static pawl_status apply_at_home(struct pw_several *several, size_t home, struct pw_unit **units, size_t count,
                                 int64_t now_ms, struct pawl_error *error)
{
    for (size_t i = 0; i < count; i++)
        for (struct pw_op *op = units[i]->first; op != NULL; op = op->next)
            pw_op_enter_home(several, op);
    pawl_status status = pw_member_apply(several, home, units, count, now_ms, error);
    for (size_t i = 0; i < count; i++)
        for (struct pw_op *op = units[i]->first; op != NULL; op = op->next)
            pw_op_leave_home(several, home, op);
    return status;
}

/* ---- All ----------------------------------------------------------------------------------------------------- */

static void refuse(struct pw_unit *unit, const struct pawl_error *error)
{
    unit->status = error->status;
    unit->error = *error;
}

/* The services see to it that none is made (check.c): it would be a change in two databases at once. */
static void refuse_mixed(struct pw_unit *unit)
{
    struct pawl_error error;
    (void)pw_error(&error, PAWL_INVALID, "the changes of a unit of work must stay in one database");
    refuse(unit, &error);
}

static pawl_status apply_group(struct pw_several *several, size_t home, struct pw_unit **units, size_t count,
                               int64_t now_ms, struct pawl_error *error)
{
    if (home == PW_HOME_ALL)
        return pw_several_divide(several, units[0], now_ms, error);
    if (home != PW_HOME_MIXED)
        return apply_at_home(several, home, units, count, now_ms, error);
    refuse_mixed(units[0]);
    return PAWL_OK;
}

/* How many units, from the first, go together. */
static size_t group_of(const struct pw_several *several, struct pw_unit **units, size_t count, size_t home)
{
    size_t together = 1;
    while (home < several->count && together < count && pw_unit_home(several, units[together]) == home)
        together++;
    return together;
}

pawl_status pw_several_apply(struct pw_store *store, struct pw_unit **units, size_t count, int64_t now_ms,
                             struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    for (size_t at = 0; at < count;) {
        struct pawl_error why = { PAWL_OK, "" };
        size_t home = pw_unit_home(several, units[at]);
        size_t together = group_of(several, &units[at], count - at, home);
        if (together == count) /* all there is: the answer is the member's, with all that it means (S3) */
            return apply_group(several, home, units, count, now_ms, error);
        why.status = apply_group(several, home, &units[at], together, now_ms, &why);
        if (why.status == PAWL_BUSY) /* as a unit's answer it would mean something else */
            why.status = PAWL_STORE_UNAVAILABLE;
        for (size_t i = at; why.status != PAWL_OK && i < at + together; i++)
            refuse(units[i], &why);
        at += together;
    }
    return PAWL_OK;
}
