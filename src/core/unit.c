/* unit.c - units of work: lists of ops, each in an arena of its own. */
#include <stddef.h>

#include "base/error.h"
#include "core/ops.h"

void pw_unit_init(struct pw_unit *unit)
{
    *unit = (struct pw_unit){ .status = PAWL_OK };
    pw_arena_init(&unit->arena);
}

void pw_unit_clear(struct pw_unit *unit)
{
    pw_arena_clear(&unit->arena);
    unit->first = NULL;
    unit->last = NULL;
}

/* Each op gets only the size of its kind, because most are far smaller than the largest.  So the first block of a
 * unit's arena holds all ops of a step boundary. */
static const size_t op_sizes[] = {
#define PW_OP_SIZE(KIND, member, how) [PW_OP_##KIND] = offsetof(struct pw_op, as) + sizeof(struct pw_op_##member),
    PW_OP_LIST(PW_OP_SIZE)
#undef PW_OP_SIZE
};

struct pw_op *pw_unit_add(struct pw_unit *unit, enum pw_op_kind kind)
{
    bool is_known = (size_t)kind < sizeof op_sizes / sizeof op_sizes[0]; /* the rules refuse an unknown kind */
    struct pw_op *op = pw_arena_zero(&unit->arena, is_known ? op_sizes[kind] : sizeof *op);
    if (op == NULL)
        return NULL;

    op->kind = kind;
    if (unit->last != NULL)
        unit->last->next = op;
    else
        unit->first = op;
    unit->last = op;
    return op;
}

bool pw_unit_copy(struct pw_unit *unit, const struct pw_op *wanted)
{
    struct pw_op *op = pw_unit_add(unit, wanted->kind);
    if (op != NULL)
        memcpy(&op->as, &wanted->as, op_sizes[wanted->kind] - offsetof(struct pw_op, as));
    return op != NULL;
}

/* ---- The answer ------------------------------------------------------------------------------------------------ */

static void forget_effects(struct pw_unit *unit)
{
    unit->effects = unit->last_effect = NULL;
    unit->deliveries = 0;
}

void pw_unit_begin(struct pw_unit *unit)
{
    unit->refusal = PW_REFUSED_NOT;
    unit->status = PAWL_STORE_UNAVAILABLE; /* not an answer yet, in case somebody looks before the commit */
    forget_effects(unit);
}

void pw_unit_answer(struct pw_unit *unit, pawl_status status)
{
    if (status == PAWL_OK && unit->refusal != PW_REFUSED_NOT)
        return;
    unit->refusal = PW_REFUSED_NOT;
    unit->status = status;
}

pawl_status pw_unit_refuse_saying(struct pw_unit *unit, enum pw_refusal refusal, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    unit->refusal = refusal;
    forget_effects(unit);
    unit->status = pw_error_list(&unit->error, pw_refusal_status(refusal), format, arguments);
    va_end(arguments);
    return unit->status;
}

pawl_status pw_unit_refuse(struct pw_unit *unit, enum pw_refusal refusal)
{
    return pw_unit_refuse_saying(unit, refusal, "%s", pw_refusal_text(refusal));
}

pawl_status pw_unit_refuse_event(struct pw_unit *unit, const struct pw_op_event *op)
{
    return pw_unit_refuse_saying(
        unit, PW_REFUSED_TOO_MANY_EVENTS,
        "the run has %lld events that no step has taken, which is all that it may have; send it "
        "again when it has taken some",
        (long long)op->unread_max);
}

/* ---- What it is about -------------------------------------------------------------------------------------------- */

bool pw_unit_runs_users_code(const struct pw_unit *unit)
{
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next)
        if (op->kind == PW_OP_SQL || op->kind == PW_OP_MUTATE)
            return true;
    return false;
}

/* The texts that may be large, by op.  Ops that are not listed borrow only names and numbers. */
static const size_t payloads[PW_OP_KIND_COUNT][2] = {
#define PAYLOAD(member, text) offsetof(struct pw_op, as.member.text)
    [PW_OP_CREATE] = { PAYLOAD(create, params) },
    [PW_OP_STEP] = { PAYLOAD(step, row.result), PAYLOAD(step, row.error_message) },
    [PW_OP_EVENT] = { PAYLOAD(event, payload) },
    [PW_OP_LOG] = { PAYLOAD(log, row.message), PAYLOAD(log, row.data) },
    [PW_OP_FINISH] = { PAYLOAD(finish, output), PAYLOAD(finish, error_message) },
    [PW_OP_SQL] = { PAYLOAD(sql, sql), PAYLOAD(sql, parameters) },
#undef PAYLOAD
};

static size_t borrowed_bytes(const struct pw_op *op)
{
    size_t bytes = op->kind == PW_OP_MUTATE ? op->as.mutate.size : 0;
    for (size_t i = 0; i < 2 && payloads[op->kind][i] != 0; i++)
        bytes += ((const struct pw_text *)(const void *)((const char *)op + payloads[op->kind][i]))->size;
    return bytes;
}

size_t pw_unit_bytes(const struct pw_unit *unit)
{
    size_t bytes = sizeof *unit + unit->arena.used;
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next)
        bytes += borrowed_bytes(op);
    return bytes;
}

/* A unit that is about no instance leaves `about` 0.  It is submitted after the units that it depends on were
 * answered, so any queue will do. */
void pw_unit_about(struct pw_unit *unit, struct pw_text id)
{
    unit->about = pw_stable_hash(0, id);
}
