/* differential_units.c - units of work by chance; see differential.h.  Every op is one that an engine could ask for, with
 * fences and numbers that are often right, and mostly about one instance, so that enough of it is applied. */
#include "differential.h"

#include <inttypes.h>

/* ---- Chance ---------------------------------------------------------------------------------------------------- */

static uint64_t draw(struct trial *trial)
{
    uint64_t mixed = (trial->chance += UINT64_C(0x9E3779B97F4A7C15));
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

int64_t trial_below(struct trial *trial, int64_t limit)
{
    return (int64_t)(draw(trial) % (uint64_t)limit);
}

bool trial_once_in(struct trial *trial, int64_t times)
{
    return trial_below(trial, times) == 0;
}

static struct pw_text draw_text(struct trial *trial)
{
    static const char *const texts[] = { NULL, "", "null", "{\"a\":[1,\"\xe2\x82\xac\"]}", "it's", "\\N{},\"" };
    return pw_text_of(texts[trial_below(trial, 6)]);
}

static int64_t draw_time(struct trial *trial)
{
    static const int64_t offsets[] = { -5000, -1, 0, 1, 700, 5000 };
    return trial->now_ms + offsets[trial_below(trial, 6)];
}

static struct pw_text number_text(struct trial *trial, struct pw_unit *unit, const char *prefix, int64_t number)
{
    char text[48];
    struct pw_text copy = { NULL, 0 };
    (void)snprintf(text, sizeof text, "%s-%" PRIu64 "-%" PRId64, prefix, trial->seed, number);
    assert_true(pw_arena_text(&unit->arena, pw_text_of(text), &copy));
    return copy;
}

/* ---- Making ops -------------------------------------------------------------------------------------------------- */

/* Mostly one that is there. */
static const struct subject *draw_subject(struct trial *trial)
{
    int64_t which = trial_below(trial, 8 * (int64_t)trial->subject_count + 1);
    return which == 0 ? &trial->nobody : &trial->subjects[which % (int64_t)trial->subject_count];
}

static struct pw_fence fence_of(struct trial *trial, const struct subject *subject, size_t side)
{
    struct pw_fence fence = { subject->key[side], subject->run, subject->epoch };
    if (trial_once_in(trial, 8))
        fence.epoch += trial_below(trial, 3) - 1;
    if (trial_once_in(trial, 16))
        fence.run++;
    return fence;
}

static void make_fence(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op_fence *op = &add(unit, PW_OP_FENCE)->as.fence;
    op->at = fence_of(trial, subject, side);
    op->is_foreign = trial_once_in(trial, 6);
    op->unless_pause = trial_once_in(trial, 8);
    op->unless_new_events = trial_once_in(trial, 8);
    op->event_seq_seen = trial_below(trial, 3);
}

static void make_create(struct trial *trial, struct pw_unit *unit)
{
    struct pw_op_create *op = &add(unit, PW_OP_CREATE)->as.create;
    op->workflow = trial->workflows[trial_below(trial, 2)];
    op->id = number_text(trial, unit, "i", trial_below(trial, 10));
    op->params = draw_text(trial);
    op->skip_existing = trial_once_in(trial, 2);
    if (trial_once_in(trial, 2)) {
        op->hold_owner = OWNER;
        op->hold_lease_ms = 400;
    }
}

static void make_step(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op_step *op = &add(unit, PW_OP_STEP)->as.step;
    op->instance = subject->key[side];
    op->run = subject->run;
    op->is_new = !trial_once_in(trial, 3);
    op->row.seq = subject->steps + 1 + trial->numbers++; /* one that is there already is a fault of the engine's */
    if (!op->is_new)
        op->row.seq = 1 + trial_below(trial, subject->steps + 2);
    op->row.name = pw_text_of("step");
    op->row.kind = (enum pawl_step_kind)trial_below(trial, 4);
    op->row.status = (enum pawl_step_status)trial_below(trial, 3);
    op->row.attempts = trial_below(trial, 5);
    op->row.attempts_max = trial_below(trial, 7);
    op->row.timeout_ms = trial_below(trial, 100000);
    op->row.next_retry_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
    op->row.wake_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
    op->row.event_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
    op->row.wait_event_type = draw_text(trial);
    op->row.result = draw_text(trial);
    op->row.error_name = draw_text(trial);
    op->row.error_message = draw_text(trial);
    op->row.created_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
    op->row.updated_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
}

static void make_event(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op_event *op = &add(unit, PW_OP_EVENT)->as.event;
    op->instance = subject->key[side];
    op->run = subject->run + (trial_once_in(trial, 12) ? 1 : 0);
    op->id =
        trial_once_in(trial, 8) ? (struct pw_text){ NULL, 0 } : number_text(trial, unit, "e", trial_below(trial, 8));
    op->type = pw_text_of("paid");
    op->payload = draw_text(trial);
}

static void make_consume(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op_consume *op = &add(unit, PW_OP_CONSUME)->as.consume;
    *op = (struct pw_op_consume){ .instance = subject->key[side], .run = subject->run, .step = draw_text(trial) };
    op->seq = 1 + trial_below(trial, subject->event_seq + 2);
    op->delivered_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
}

static void make_log(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op_log *op = &add(unit, PW_OP_LOG)->as.log;
    op->instance = subject->key[side];
    op->run = subject->run;
    op->row.step = draw_text(trial);
    op->row.attempt = trial_below(trial, 4);
    op->row.level = (enum pawl_log_level)trial_below(trial, 4);
    op->row.category = pw_text_of("workflow");
    op->row.message = pw_text_of("said");
    op->row.data = draw_text(trial);
    op->row.is_replay = trial_once_in(trial, 2);
    op->row.created_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
}

static void make_park(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op_park *op = &add(unit, PW_OP_PARK)->as.park;
    op->instance = subject->key[side];
    op->status = (enum pw_task_status)trial_below(trial, 3);
    op->kind = (enum pw_task_kind)trial_below(trial, 4);
    op->due_at_ms = trial_once_in(trial, 3) ? PW_NOW : trial_once_in(trial, 3) ? 0 : draw_time(trial);
    op->event_seq_seen = trial_below(trial, 4) - 1;
    op->if_requested = trial_once_in(trial, 4);
}

static void make_task_op(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op *op;
    switch (trial_below(trial, 5)) {
    case 0:
        make_park(trial, unit, subject, side);
        return;
    case 1:
        op = add(unit, PW_OP_HOLD);
        op->as.hold = (struct pw_op_hold){ .instance = subject->key[side], .owner = OWNER, .lease_ms = 400 };
        return;
    case 2:
        op = add(unit, PW_OP_PAUSE);
        op->as.pause = (struct pw_op_pause){ subject->key[side], !trial_once_in(trial, 3) };
        return;
    case 3:
        op = add(unit, PW_OP_FINISH);
        op->as.finish = (struct pw_op_finish){ .instance = subject->key[side],
                                               .outcome = (enum pw_outcome)(1 + trial_below(trial, 3)),
                                               .output = draw_text(trial),
                                               .error_name = draw_text(trial),
                                               .error_message = draw_text(trial) };
        return;
    default:
        op = add(unit, PW_OP_RESTART);
        op->as.restart = (struct pw_op_restart){ .instance = subject->key[side],
                                                 .run = subject->run + (trial_once_in(trial, 5) ? 1 : 0),
                                                 .hold_owner = trial_once_in(trial, 2) ? OWNER : 0,
                                                 .hold_lease_ms = 400 };
    }
}

struct pw_share trial_share(const struct trial *trial)
{
    return (struct pw_share){ .owned = trial->owned, .grace_ms = 150 };
}

static void make_claim(struct trial *trial, struct pw_unit *unit)
{
    struct pw_op_claim *op = &add(unit, PW_OP_CLAIM)->as.claim;
    op->workflows = trial->workflows;
    op->workflow_count = (size_t)(1 + trial_below(trial, 2));
    op->max = (size_t)trial_below(trial, 5);
    op->owner = OWNER;
    op->lease_ms = 400;
    if (trial->chance >> 32 & 1)
        op->share = trial_share(trial);
}

static void make_renew(struct trial *trial, struct pw_unit *unit, size_t side)
{
    struct pw_lease *leases = trial->leases[side][trial->lease_sets++];
    struct pw_op_renew *op = &add(unit, PW_OP_RENEW)->as.renew;
    for (size_t i = 0; i < 2; i++)
        leases[i] = (struct pw_lease){ .fence = fence_of(trial, draw_subject(trial), side) };
    *op = (struct pw_op_renew){ OWNER + (trial_once_in(trial, 4) ? 1 : 0), 700, leases, 2 };
}

static void make_sql(struct trial *trial, struct pw_unit *unit)
{
    static const char *const texts[] = { "INSERT INTO differential (id, n) VALUES ($1, $2)",
                                         "UPDATE differential SET n = n + $2 WHERE id = $1",
                                         "INSERT INTO nowhere (id, n) VALUES ($1, $2)", "DELETE FROM workflow_task" };
    static const char *const parameters[] = { "[\"a\", 1]", "[\"b\", -7]", "[\"c\", null]", "[\"d\"]" };
    struct pw_op_sql *op = &add(unit, PW_OP_SQL)->as.sql;
    int64_t which = trial_once_in(trial, 6) ? 2 + trial_below(trial, 2) : trial_below(trial, 2);
    op->sql = pw_text_of(texts[which]);
    op->parameters = which == 3 ? (struct pw_text){ NULL, 0 } : pw_text_of(parameters[trial_below(trial, 4)]);
}

/* ---- Making ops of hooks ------------------------------------------------------------------------------------------ */

/* What the last op of the unit did is told. */
static void make_hook(struct trial *trial, struct pw_unit *unit)
{
    struct pw_op *cause = unit->last;
    if (cause == NULL || (cause->kind != PW_OP_CREATE && cause->kind != PW_OP_RESTART && cause->kind != PW_OP_HOLD &&
                          cause->kind != PW_OP_PARK && cause->kind != PW_OP_FINISH))
        return;
    struct pw_op_hook *op = &add(unit, PW_OP_HOOK)->as.hook;
    op->cause = cause;
    op->id = number_text(trial, unit, "h", trial->numbers++);
    op->hook = trial->hooks[trial_below(trial, 2)];
    op->event = cause->kind == PW_OP_FINISH ? PAWL_HOOK_FINISHED : PAWL_HOOK_ENQUEUED;
    op->reason = cause->kind == PW_OP_FINISH ? 0 : (enum pw_hook_reason)(1 + trial_below(trial, 5));
    op->attempts_max = trial->uses_up ? 1 + trial_below(trial, 2) : 1000;
}

/* A claim that is full leaves rows that are used up for later in one store, and not in the other; neither is wrong. */
static void make_hook_claim(struct trial *trial, struct pw_unit *unit)
{
    struct pw_op_hook_claim *op = &add(unit, PW_OP_HOOK_CLAIM)->as.hook_claim;
    op->wanted = trial->wanted;
    op->wanted_count = (size_t)(1 + trial_below(trial, 2));
    op->max = trial->uses_up ? 1000 : (size_t)(1 + trial_below(trial, 4));
}

static void make_hook_op(struct trial *trial, struct pw_unit *unit, size_t side)
{
    int64_t which = trial_below(trial, 3);
    if (which == 0 || trial->delivery_count == 0) {
        make_hook_claim(trial, unit);
    } else if (which == 1) {
        struct pw_op_hook_settle *op = &add(unit, PW_OP_HOOK_SETTLE)->as.hook_settle;
        const struct delivery *delivery = &trial->deliveries[trial_below(trial, (int64_t)trial->delivery_count)];
        op->key = delivery->key[side];
        op->epoch = delivery->epoch - (trial_once_in(trial, 6) ? 1 : 0);
        op->delivered = trial_once_in(trial, 3);
        op->untried = trial_once_in(trial, 4);
        op->next_at_ms = trial_once_in(trial, 3) ? 0 : draw_time(trial);
        op->last_error = draw_text(trial);
    } else {
        struct pw_op_hook_resend *op = &add(unit, PW_OP_HOOK_RESEND)->as.hook_resend;
        op->id = number_text(trial, unit, "h", trial_below(trial, trial->numbers + 1));
    }
}

/* ---- Making units -------------------------------------------------------------------------------------------------- */

static void make_op(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    switch (trial_below(trial, 14)) {
    case 0:
    case 1:
        make_create(trial, unit);
        break;
    case 2:
    case 3:
        make_step(trial, unit, subject, side);
        return;
    case 4:
        make_event(trial, unit, subject, side);
        return;
    case 5:
        make_consume(trial, unit, subject, side);
        return;
    case 6:
        make_log(trial, unit, subject, side);
        return;
    case 7:
        make_fence(trial, unit, subject, side);
        return;
    case 8:
        make_renew(trial, unit, side);
        return;
    case 9:
        if (trial_once_in(trial, 2))
            make_sql(trial, unit);
        return;
    default:
        make_task_op(trial, unit, subject, side);
    }
    if (trial_once_in(trial, 2))
        make_hook(trial, unit);
}

static void make_unit(struct trial *trial, struct pw_unit *unit, size_t side)
{
    pw_unit_init(unit);
    int64_t kind = trial_below(trial, 7);
    if (kind == 0) {
        make_claim(trial, unit);
        return;
    }
    if (kind == 1) {
        make_hook_op(trial, unit, side);
        return;
    }
    const struct subject *subject = draw_subject(trial);
    if (!trial_once_in(trial, 4))
        make_fence(trial, unit, subject, side);
    for (int64_t ops = 1 + trial_below(trial, OPS_MAX); ops > 0; ops--)
        make_op(trial, unit, trial_once_in(trial, 4) ? draw_subject(trial) : subject, side);
}

/* All sides from the same chance. */
size_t trial_make_batch(struct trial *trial)
{
    uint64_t chance = trial->chance;
    int64_t numbers = trial->numbers;
    size_t count = 0;
    for (size_t side = 0; side < SIDES; side++) {
        trial->chance = chance;
        trial->numbers = numbers;
        trial->lease_sets = 0;
        count = (size_t)(1 + trial_below(trial, UNITS_MAX));
        for (size_t i = 0; i < count; i++)
            make_unit(trial, &trial->sides[side].units[i], side);
    }
    return count;
}
