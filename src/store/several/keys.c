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
    case PW_OP_DEMAND:
        return &op->as.demand.instance;
    case PW_OP_REACH:
        return &op->as.reach.parent;
    case PW_OP_FINISH:
        return &op->as.finish.instance;
    case PW_OP_HOOK_SETTLE: /* the key of a row, which is mapped as theirs are */
        return &op->as.hook_settle.key;
    default:
        return NULL;
    }
}

/* Follows the rest of its unit: what is the user's, what tells of another op, and what is ended beside it (V8). */
static bool is_follower(const struct pw_op *op)
{
    return op->kind == PW_OP_SQL || op->kind == PW_OP_MUTATE || op->kind == PW_OP_HOOK || op->kind == PW_OP_END;
}

size_t pw_op_home(const struct pw_several *several, const struct pw_op *op)
{
    if (op->kind == PW_OP_HOOK)
        return pw_op_home(several, op->as.hook.cause);
    if (op->kind == PW_OP_CREATE && op->as.create.link.parent != 0)
        return pw_key_home(several, op->as.create.link.parent);
    if (op->kind == PW_OP_CREATE)
        return pw_home_of(op->as.create.workflow, op->as.create.id, several->count);
    if (op->kind == PW_OP_END)
        return pw_home_of(op->as.end.workflow, op->as.end.id, several->count);
    const int64_t *instance = instance_of((struct pw_op *)op);
    return instance != NULL ? pw_key_home(several, *instance) : PW_HOME_ALL;
}

/* Would nobody find it by its name (V8)? */
static bool is_astray(const struct pw_several *several, const struct pw_op *op, size_t home)
{
    return op->kind == PW_OP_CREATE && op->as.create.link.relation != PW_RELATION_JOB &&
           home != pw_home_of(op->as.create.workflow, op->as.create.id, several->count);
}

/* Only what is created, settled or looked for can be divided. */
static bool can_divide(const struct pw_op *op, size_t home)
{
    return home == PW_HOME_ALL || op->kind == PW_OP_CREATE || op->kind == PW_OP_HOOK_SETTLE;
}

/* What is known of a unit's home. */
struct home {
    size_t at;
    bool known, mixed, astray, divides;
};

static void look_at(struct home *home, const struct pw_several *several, const struct pw_op *op)
{
    size_t at = pw_op_home(several, op);
    home->divides = home->divides && can_divide(op, at);
    home->astray = home->astray || is_astray(several, op, at);
    home->mixed = home->mixed || (home->known && at != home->at);
    home->at = home->known ? home->at : at;
    home->known = true;
}

size_t pw_unit_home(const struct pw_several *several, const struct pw_unit *unit)
{
    struct home home = { .divides = true }; /* of nothing but the user's: any will do */
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (is_follower(op))
            home.divides = home.divides && op->kind == PW_OP_HOOK;
        else
            look_at(&home, several, op);
    }
    bool is_about_others = home.known;
    for (const struct pw_op *op = unit->first; op != NULL && !is_about_others; op = op->next)
        if (op->kind == PW_OP_END)
            look_at(&home, several, op);
    if (!home.mixed && !home.astray)
        return home.at;
    return home.divides && !home.astray ? PW_HOME_ALL : PW_HOME_MIXED;
}

/* What is answered is cleared first: a unit that is tried again still has what the last try left there. */
void pw_op_enter_home(const struct pw_several *several, struct pw_op *op)
{
    int64_t *instance = instance_of(op);
    if (instance != NULL)
        *instance = pw_inner_key(several, *instance);
    switch (op->kind) {
    case PW_OP_CREATE:
        op->as.create.link.parent = pw_inner_key(several, op->as.create.link.parent);
        op->as.create.created = false;
        break;
    case PW_OP_EVENT:
        op->as.event.recorded = op->as.event.woke = false;
        break;
    case PW_OP_HOLD:
        op->as.hold.claim.fence.instance = op->as.hold.claim.link.parent = 0;
        break;
    case PW_OP_END:
        op->as.end.instance = 0;
        break;
    case PW_OP_REACH:
        op->as.reach.woken_count = 0;
        break;
    default:
        break;
    }
}

/* A key that there is; 0: there is none. */
static void leave(const struct pw_several *several, size_t home, int64_t *key)
{
    if (*key != 0)
        *key = pw_outer_key(several, home, *key);
}

void pw_op_leave_home(const struct pw_several *several, size_t home, struct pw_op *op)
{
    int64_t *instance = instance_of(op);
    if (instance != NULL)
        *instance = pw_outer_key(several, home, *instance);
    switch (op->kind) {
    case PW_OP_CREATE:
        pw_outer_link(several, home, &op->as.create.link);
        if (op->as.create.created)
            leave(several, home, &op->as.create.fence.instance);
        break;
    case PW_OP_HOLD:
        leave(several, home, &op->as.hold.claim.fence.instance);
        pw_outer_link(several, home, &op->as.hold.claim.link);
        break;
    case PW_OP_END:
        leave(several, home, &op->as.end.instance);
        break;
    case PW_OP_REACH:
        for (size_t i = 0; i < op->as.reach.woken_count; i++)
            leave(several, home, &op->as.reach.woken[i]);
        break;
    default:
        break;
    }
}
