/* keys.c - whose an op and a unit are, and their keys as their home knows them. */
#include "store/several/several.h"

/* Where an op says which instance it is about; NULL: it does not, or not by its key. */
static int64_t *instance_of(struct pw_op *op)
{
    switch (op->kind) {
    case PW_OP_FENCE:
        return &op->as.fence.at.instance;
    case PW_OP_RESTART:
        return &op->as.restart.instance;
    case PW_OP_STEP:
        return &op->as.step.instance;
    case PW_OP_EVENT:
        return &op->as.event.instance;
    case PW_OP_CONSUME:
        return &op->as.consume.instance;
    case PW_OP_LOG:
        return &op->as.log.instance;
    case PW_OP_PARK:
        return &op->as.park.instance;
    case PW_OP_HOLD:
        return &op->as.hold.instance;
    case PW_OP_PAUSE:
        return &op->as.pause.instance;
    case PW_OP_FINISH:
        return &op->as.finish.instance;
    case PW_OP_HOOK_SETTLE: /* the key of a row, which is mapped as theirs are */
        return &op->as.hook_settle.key;
    default:
        return NULL;
    }
}

/* Follows the rest of its unit: what is the user's, and what tells of another op. */
static bool is_follower(const struct pw_op *op)
{
    return op->kind == PW_OP_SQL || op->kind == PW_OP_MUTATE || op->kind == PW_OP_HOOK;
}

size_t pw_op_home(const struct pw_several *several, const struct pw_op *op)
{
    if (op->kind == PW_OP_HOOK)
        return pw_op_home(several, op->as.hook.cause);
    if (op->kind == PW_OP_CREATE)
        return pw_home_of(op->as.create.workflow, op->as.create.id, several->count);
    const int64_t *instance = instance_of((struct pw_op *)op);
    return instance != NULL ? pw_key_home(several, *instance) : PW_HOME_ALL;
}

/* Only what is created, settled or looked for can be divided. */
static bool can_divide(const struct pw_op *op, size_t home)
{
    return home == PW_HOME_ALL || op->kind == PW_OP_CREATE || op->kind == PW_OP_HOOK_SETTLE;
}

size_t pw_unit_home(const struct pw_several *several, const struct pw_unit *unit)
{
    size_t home = 0; /* of nothing but the user's: any will do */
    bool known = false, mixed = false, divides = true;
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (is_follower(op)) {
            divides = divides && op->kind == PW_OP_HOOK;
            continue;
        }
        size_t at = pw_op_home(several, op);
        divides = divides && can_divide(op, at);
        mixed = mixed || (known && at != home);
        home = known ? home : at;
        known = true;
    }
    if (!mixed)
        return home;
    return divides ? PW_HOME_ALL : PW_HOME_MIXED;
}

/* What is answered is cleared first: a unit that is tried again still has what the last try left there. */
void pw_op_enter_home(const struct pw_several *several, struct pw_op *op)
{
    int64_t *instance = instance_of(op);
    if (instance != NULL)
        *instance = pw_inner_key(several, *instance);
    if (op->kind == PW_OP_CREATE)
        op->as.create.created = false;
    else if (op->kind == PW_OP_HOLD)
        op->as.hold.claim.fence.instance = 0;
}

void pw_op_leave_home(const struct pw_several *several, size_t home, struct pw_op *op)
{
    int64_t *instance = instance_of(op);
    if (instance != NULL)
        *instance = pw_outer_key(several, home, *instance);
    if (op->kind == PW_OP_CREATE && op->as.create.created)
        op->as.create.fence.instance = pw_outer_key(several, home, op->as.create.fence.instance);
    else if (op->kind == PW_OP_HOLD && op->as.hold.claim.fence.instance != 0)
        op->as.hold.claim.fence.instance = pw_outer_key(several, home, op->as.hold.claim.fence.instance);
}
