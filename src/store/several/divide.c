/* divide.c - a unit that concerns more than one member (V3).
 *
 * Ops that are one member's (a create, a settle, and what is told of them) go there themselves; of the others each member
 * gets a copy with its part, and what it answers is gathered in the op.  Those that own ops come first: when one of them
 * fails nothing was looked for yet, and nothing that was found is lost. */
#include "base/error.h"
#include "store/several/several.h"

struct division {
    struct pw_several *several;
    struct pw_unit *unit;
    struct pw_op **ops, **parts; /* the unit's, in order; what the member that is at it has of each, or NULL */
    size_t *homes;               /* whose each is */
    size_t op_count;
    size_t answered, failed; /* members */
    struct pawl_error why;   /* of the first that failed */
};

/* ---- Parts --------------------------------------------------------------------------------------------------- */

static struct pw_op *copy_of(struct pw_arena *arena, const struct pw_op *op)
{
    struct pw_op *copy = pw_arena_take(arena, sizeof *copy);
    if (copy != NULL)
        *copy = *op;
    return copy;
}

static size_t leases_of(const struct pw_several *several, const struct pw_op_renew *renew, size_t home)
{
    size_t count = 0;
    for (size_t i = 0; i < renew->count; i++)
        count += pw_key_home(several, renew->leases[i].fence.instance) == home;
    return count;
}

static bool take_leases(const struct pw_several *several, struct pw_arena *arena, const struct pw_op_renew *renew,
                        size_t home, struct pw_op_renew *part)
{
    part->count = 0;
    part->leases = pw_arena_take(arena, leases_of(several, renew, home) * sizeof *part->leases);
    for (size_t i = 0; part->leases != NULL && i < renew->count; i++) {
        if (pw_key_home(several, renew->leases[i].fence.instance) != home)
            continue;
        struct pw_lease *lease = &part->leases[part->count++];
        *lease = (struct pw_lease){ .fence = renew->leases[i].fence };
        lease->fence.instance = pw_inner_key(several, lease->fence.instance);
    }
    return part->leases != NULL;
}

/* Has this member nothing to do about it? */
static bool is_done(const struct pw_several *several, const struct pw_op *op, size_t home)
{
    switch (op->kind) {
    case PW_OP_CLAIM:
        return op->as.claim.claim_count >= op->as.claim.max ||
               (op->as.claim.leased_max != 0 && op->as.claim.claim_count >= op->as.claim.leased_max);
    case PW_OP_HOOK_CLAIM:
        return op->as.hook_claim.row_count >= op->as.hook_claim.max;
    case PW_OP_HOOK_RESEND:
        return op->as.hook_resend.found;
    case PW_OP_RENEW:
        return leases_of(several, &op->as.renew, home) == 0;
    default:
        return false;
    }
}

/* False: memory is out. */
static bool part_of(const struct division *division, size_t at, size_t home, struct pw_op **out_part)
{
    const struct pw_several *several = division->several;
    struct pw_op *op = division->ops[at];
    *out_part = NULL;
    if (division->homes[at] == home) {
        pw_op_enter_home(several, op);
        *out_part = op;
        return true;
    }
    if (division->homes[at] != PW_HOME_ALL || is_done(several, op, home))
        return true;
    struct pw_op *part = copy_of(&division->unit->arena, op);
    if (part == NULL)
        return false;
    if (op->kind == PW_OP_CLAIM) {
        part->as.claim.max -= op->as.claim.claim_count;
        part->as.claim.leased_max -= op->as.claim.leased_max != 0 ? op->as.claim.claim_count : 0;
    } else if (op->kind == PW_OP_HOOK_CLAIM)
        part->as.hook_claim.max -= op->as.hook_claim.row_count;
    else if (op->kind == PW_OP_RENEW &&
             !take_leases(several, &division->unit->arena, &op->as.renew, home, &part->as.renew))
        return false;
    *out_part = part;
    return true;
}

/* ---- Answers ------------------------------------------------------------------------------------------------- */

/* Both arrays as one.  False: memory is out. */
static bool join(struct pw_arena *arena, size_t size, void **rows, size_t *count, const void *more, size_t more_count)
{
    if (more_count == 0)
        return true;
    char *joined = pw_arena_take(arena, (*count + more_count) * size);
    if (joined == NULL)
        return false;
    if (*count > 0)
        memcpy(joined, *rows, *count * size);
    memcpy(joined + *count * size, more, more_count * size);
    *rows = joined;
    *count += more_count;
    return true;
}

static bool gather_claims(const struct division *division, size_t home, struct pw_op_claim *claim,
                          const struct pw_op_claim *part)
{
    void *claims = claim->claims;
    for (size_t i = 0; i < part->claim_count; i++) {
        part->claims[i].fence.instance = pw_outer_key(division->several, home, part->claims[i].fence.instance);
        pw_outer_link(division->several, home, &part->claims[i].link);
    }
    claim->kept_out = claim->kept_out || part->kept_out;
    bool joined = join(&division->unit->arena, sizeof *claim->claims, &claims, &claim->claim_count, part->claims,
                       part->claim_count);
    claim->claims = claims;
    return joined;
}

static bool gather_rows(const struct division *division, size_t home, struct pw_op_hook_claim *claim,
                        const struct pw_op_hook_claim *part)
{
    void *rows = claim->rows;
    for (size_t i = 0; i < part->row_count; i++)
        part->rows[i].key = pw_outer_key(division->several, home, part->rows[i].key);
    bool joined =
        join(&division->unit->arena, sizeof *claim->rows, &rows, &claim->row_count, part->rows, part->row_count);
    claim->rows = rows;
    return joined;
}

static void gather_leases(const struct pw_several *several, size_t home, struct pw_op_renew *renew,
                          const struct pw_op_renew *part)
{
    size_t at = 0;
    for (size_t i = 0; i < renew->count; i++) {
        if (pw_key_home(several, renew->leases[i].fence.instance) != home)
            continue;
        const struct pw_lease *told = &part->leases[at++];
        renew->leases[i].lost = told->lost;
        renew->leases[i].pause_requested = told->pause_requested;
        renew->leases[i].demand = told->demand;
    }
}

static bool gather(const struct division *division, size_t home, struct pw_op *op, const struct pw_op *part)
{
    switch (op->kind) {
    case PW_OP_CLAIM:
        return gather_claims(division, home, &op->as.claim, &part->as.claim);
    case PW_OP_HOOK_CLAIM:
        return gather_rows(division, home, &op->as.hook_claim, &part->as.hook_claim);
    case PW_OP_RENEW:
        gather_leases(division->several, home, &op->as.renew, &part->as.renew);
        return true;
    case PW_OP_REAP:
        op->as.reap.reaped += part->as.reap.reaped;
        return true;
    case PW_OP_HOOK_RESEND:
        op->as.hook_resend.found = part->as.hook_resend.found;
        return true;
    default:
        return true;
    }
}

/* Of leases that nobody could be asked about none is known to be lost. */
static void clear_answer(struct pw_op *op)
{
    if (op->kind == PW_OP_CLAIM) {
        op->as.claim.claim_count = 0;
        op->as.claim.kept_out = false;
    } else if (op->kind == PW_OP_HOOK_CLAIM)
        op->as.hook_claim.row_count = 0;
    else if (op->kind == PW_OP_REAP)
        op->as.reap.reaped = 0;
    else if (op->kind == PW_OP_HOOK_RESEND)
        op->as.hook_resend.found = false;
    for (size_t i = 0; op->kind == PW_OP_RENEW && i < op->as.renew.count; i++)
        op->as.renew.leases[i] = (struct pw_lease){ .fence = op->as.renew.leases[i].fence };
}

/* ---- One member after the other ------------------------------------------------------------------------------ */

static bool division_init(struct division *division, struct pw_several *several, struct pw_unit *unit)
{
    *division = (struct division){ .several = several, .unit = unit };
    for (struct pw_op *op = unit->first; op != NULL; op = op->next)
        division->op_count++;
    division->ops = pw_arena_take(&unit->arena, division->op_count * sizeof *division->ops);
    division->parts = pw_arena_zero(&unit->arena, division->op_count * sizeof *division->parts);
    division->homes = pw_arena_take(&unit->arena, division->op_count * sizeof *division->homes);
    if (division->ops == NULL || division->parts == NULL || division->homes == NULL)
        return false;
    struct pw_op *op = unit->first;
    for (size_t i = 0; i < division->op_count; i++, op = op->next) {
        division->ops[i] = op;
        division->homes[i] = pw_op_home(several, op);
        clear_answer(op);
    }
    return true;
}

static bool owns(const struct division *division, size_t home)
{
    for (size_t i = 0; i < division->op_count; i++)
        if (division->homes[i] == home)
            return true;
    return false;
}

/* Makes the unit consist of these, without the NULLs. */
static void link_ops(struct pw_unit *unit, struct pw_op **ops, size_t count)
{
    unit->first = unit->last = NULL;
    for (size_t i = 0; i < count; i++) {
        if (ops[i] == NULL)
            continue;
        *(unit->last != NULL ? &unit->last->next : &unit->first) = ops[i];
        unit->last = ops[i];
        ops[i]->next = NULL;
    }
}

/* Ends with the unit as it was.  PAWL_OK: the member said so, or has nothing to do. */
static pawl_status visit(struct division *division, size_t home, int64_t now_ms, struct pawl_error *error)
{
    struct pw_unit *unit = division->unit;
    bool complete = true;
    size_t prepared = 0;
    while (complete && prepared < division->op_count) {
        complete = part_of(division, prepared, home, &division->parts[prepared]);
        prepared += complete;
    }
    link_ops(unit, division->parts, prepared);
    bool asks = complete && unit->first != NULL;
    unit->status = PAWL_OK;
    pawl_status status = complete ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
    unit->undone = !complete;
    if (asks)
        status = pw_member_apply(division->several, home, &unit, 1, now_ms, error);
    bool is_good = asks && status == PAWL_OK && unit->status == PAWL_OK, gathered = true;
    for (size_t i = 0; i < prepared; i++) {
        if (division->homes[i] == home)
            pw_op_leave_home(division->several, home, division->ops[i]);
        else if (is_good && division->parts[i] != NULL)
            gathered = gather(division, home, division->ops[i], division->parts[i]) && gathered;
    }
    link_ops(unit, division->ops, division->op_count);
    division->answered += is_good;
    return gathered ? status : pw_error_plain(error, PAWL_NOMEM);
}

/* Whoever owns something, or else the rest. */
static pawl_status visit_all(struct division *division, bool owners, size_t first, int64_t now_ms,
                             struct pawl_error *error)
{
    const struct pw_several *several = division->several;
    for (size_t i = 0; i < several->count; i++) {
        size_t home = (first + i) % several->count;
        if (owns(division, home) != owners)
            continue;
        struct pawl_error why = { PAWL_OK, "" };
        pawl_status status = visit(division, home, now_ms, &why);
        if (owners && (status != PAWL_OK || division->unit->status != PAWL_OK))
            return status == PAWL_OK ? PAWL_OK : pw_error(error, status, "%s", why.text);
        division->failed += status != PAWL_OK;
        if (status != PAWL_OK && division->why.status == PAWL_OK)
            (void)pw_error(&division->why, status, "%s", why.text);
    }
    return PAWL_OK;
}

/* What nobody has may be with one who was not heard. */
static bool is_in_doubt(const struct division *division)
{
    for (size_t i = 0; division->failed > 0 && i < division->op_count; i++)
        if (division->ops[i]->kind == PW_OP_HOOK_RESEND && !division->ops[i]->as.hook_resend.found)
            return true;
    return false;
}

/* Only where nobody answers is what is looked for not answered. */
static pawl_status conclude(struct division *division, struct pawl_error *error)
{
    if (division->failed == 0 || (division->answered > 0 && !is_in_doubt(division))) {
        division->unit->status = PAWL_OK;
        return PAWL_OK;
    }
    return pw_error(error, division->why.status, "%s", division->why.text);
}

pawl_status pw_several_divide(struct pw_several *several, struct pw_unit *unit, int64_t now_ms,
                              struct pawl_error *error)
{
    struct division division;
    if (!division_init(&division, several, unit)) {
        unit->undone = true;
        return pw_error_plain(error, PAWL_NOMEM);
    }
    size_t first = atomic_fetch_add(&several->rounds, 1) % several->count;
    pawl_status status = visit_all(&division, true, first, now_ms, error);
    if (status != PAWL_OK) { /* nothing was looked for yet; but others may have created theirs */
        unit->undone = unit->undone && division.answered == 0;
        return status;
    }
    if (unit->status != PAWL_OK)
        return PAWL_OK;
    status = visit_all(&division, false, first, now_ms, error);
    if (status == PAWL_OK)
        status = conclude(&division, error);
    unit->undone = status != PAWL_OK && division.answered == 0;
    return status;
}
