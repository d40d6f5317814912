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

void trial_make_ids(struct trial *trial)
{
    for (size_t w = 0; w < 2; w++)
        for (size_t i = 0; i < IDS; i++)
            (void)snprintf(trial->ids[w][i], sizeof trial->ids[w][i], "i-%" PRIu64 "-%zu", trial->seed, i);
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
    op->unless_pause = trial_once_in(trial, 8);
    op->unless_new_events = trial_once_in(trial, 8);
    op->event_seq_seen = trial_below(trial, 3);
    op->lease_ms = trial_once_in(trial, 4) ? 1000 * (1 + trial_below(trial, 40)) : 0;
}

/* Of one that is there, mostly of the run that it is in. */
static struct pw_link draw_link(struct trial *trial, size_t side)
{
    const struct subject *parent = draw_subject(trial);
    int64_t run = parent->run + (trial_once_in(trial, 4) ? 1 : 0);
    enum pw_relation relation = (enum pw_relation)(1 + trial_below(trial, 3));
    return parent == &trial->nobody ? (struct pw_link){ .parent = 0 }
                                    : (struct pw_link){ parent->key[side], run, relation };
}

static struct pw_text draw_version(struct trial *trial)
{
    static const char *const versions[] = { NULL, "1.0", "1.1", "2" };
    return pw_text_of(versions[trial_below(trial, 4)]);
}

static void make_create(struct trial *trial, struct pw_unit *unit, size_t side)
{
    struct pw_op_create *op = &add(unit, PW_OP_CREATE)->as.create;
    int64_t which = trial_below(trial, 2);
    op->workflow = trial->workflows[which];
    op->id = pw_text_of(trial->ids[which][trial_below(trial, IDS)]);
    op->params = draw_text(trial);
    op->terms.version = draw_version(trial);
    op->skip_existing = trial_once_in(trial, 2);
    if (trial->subject_count > 0 && trial_once_in(trial, 2))
        op->link = draw_link(trial, side);
    if (trial_once_in(trial, 2)) {
        op->hold_owner = trial->owner;
        op->hold_lease_ms = 400;
    }
}

/* Where this is kept.  NULL: of nobody. */
static bool *is_over(struct trial *trial, const struct subject *subject)
{
    return subject != &trial->nobody ? &trial->is_over[subject - trial->subjects] : NULL;
}

/* Not of a run that another has followed: who writes steps has a fence before them, and the steps that were kept are written
 * when the stores please. */
static void make_step(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    const bool *over = is_over(trial, subject);
    if (over != NULL && *over)
        return;
    struct pw_op_step *op = &add(unit, PW_OP_STEP)->as.step;
    op->instance = subject->key[side];
    op->run = subject->run;
    op->is_new = !trial_once_in(trial, 3);
    op->row.seq = subject->steps + 1 + trial->numbers++; /* one that is there already is a fault of the engine's */
    if (!op->is_new)
        op->row.seq = 1 + trial_below(trial, subject->steps + 2);
    op->row.name = pw_text_of("step");
    op->row.description = draw_text(trial);
    op->row.kind = (enum pawl_step_kind)trial_below(trial, 7);
    op->row.status = (enum pawl_step_status)trial_below(trial, 3);
    op->row.state = (enum pawl_step_state)trial_below(trial, 5);
    op->row.undoes = draw_text(trial);
    op->row.place = (struct pw_step_place){ .fork = draw_text(trial),
                                            .outer = draw_text(trial),
                                            .kind = (enum pawl_fork_kind)trial_below(trial, 3),
                                            .branch = trial_below(trial, 4),
                                            .order = trial_below(trial, 4) };
    op->row.attempts = trial_below(trial, 5);
    op->row.attempts_max = trial_below(trial, 7);
    op->row.timeout_ms = trial_below(trial, 100000);
    op->row.next_retry_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
    op->row.wake_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
    op->row.event_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
    op->row.wait_event_type = draw_text(trial);
    op->row.awaited_workflow = draw_text(trial);
    op->row.awaited_id = draw_text(trial);
    op->row.result = draw_text(trial);
    op->row.error_name = draw_text(trial);
    op->row.error_message = draw_text(trial);
    op->row.created_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
    op->row.updated_at_ms = trial_once_in(trial, 2) ? 0 : trial->now_ms; /* it never goes back */
}

static struct pw_offer draw_offer(struct trial *trial)
{
    if (trial_once_in(trial, 2))
        return (struct pw_offer){ .owner = 0 };
    return (struct pw_offer){ .owner = trial->owner,
                              .lease_ms = 400,
                              .workflows = trial->workflows,
                              .workflow_count = (size_t)trial_below(trial, 3) };
}

static void make_event(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op_event *op = &add(unit, PW_OP_EVENT)->as.event;
    op->instance = subject->key[side];
    op->run = subject->run + (trial_once_in(trial, 12) ? 1 : 0);
    op->id =
        trial_once_in(trial, 8) ? (struct pw_text){ NULL, 0 } : number_text(trial, unit, "e", trial_below(trial, 8));
    op->unread_max = trial_once_in(trial, 4) ? 1 + trial_below(trial, 3) : 0;
    op->type = pw_text_of("paid");
    op->is_failure = trial_once_in(trial, 3);
    op->payload = draw_text(trial);
    op->offer = draw_offer(trial);
    if (trial_once_in(trial, 3))
        return;
    int64_t which = trial_below(trial, 2); /* by a name, whoever has it */
    op->workflow = trial->workflows[which];
    op->to = pw_text_of(trial->ids[which][trial_below(trial, IDS)]);
    op->id = number_text(trial, unit, "e", trial_below(trial, 8));
    op->instance = op->run = 0;
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
    op->row.is_repair = trial_once_in(trial, 4);
    op->row.created_at_ms = trial_once_in(trial, 2) ? 0 : draw_time(trial);
}

static void make_park(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op_park *op = &add(unit, PW_OP_PARK)->as.park;
    op->instance = subject->key[side];
    op->status = (enum pw_task_status)trial_below(trial, 3);
    op->kind = (enum pw_task_kind)trial_below(trial, op->status == PW_TASK_PAUSED ? 5 : 4);
    op->due_at_ms = trial_once_in(trial, 3) ? PW_NOW : trial_once_in(trial, 3) ? 0 : draw_time(trial);
    op->event_seq_seen = trial_below(trial, 4) - 1;
    op->if_requested = op->kind != PW_TASK_REPAIR && trial_once_in(trial, 4);
    op->newest_ms = trial_once_in(trial, 3) ? draw_time(trial) : 0;
}

static void make_restart(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op_restart *op = &add(unit, PW_OP_RESTART)->as.restart;
    *op = (struct pw_op_restart){ .instance = subject->key[side],
                                  .run = subject->run + (trial_once_in(trial, 5) ? 1 : 0),
                                  .hold_owner = trial_once_in(trial, 2) ? trial->owner : 0,
                                  .hold_lease_ms = 400,
                                  .terms = { .version = draw_version(trial) } };
    if (trial_once_in(trial, 3))
        return;
    bool *over = is_over(trial, subject);
    if (over != NULL)
        *over = true;
    op->keep_before_seq = trial_once_in(trial, 2) ? INT64_MAX : 1 + trial_below(trial, subject->steps + 2);
    op->keep_except_seq = trial_once_in(trial, 2) ? 1 + trial_below(trial, subject->steps + 1) : 0;
    op->keep_except_dropped = trial_once_in(trial, 3);
}

static struct pw_op_event *make_answer(struct trial *trial, struct pw_unit *unit, int64_t instance)
{
    struct pw_op_event *answer = pw_arena_zero(&unit->arena, sizeof *answer);
    assert_non_null(answer);
    *answer = (struct pw_op_event){ .instance = instance,
                                    .type = number_text(trial, unit, "$", trial->numbers++),
                                    .is_failure = trial_once_in(trial, 3),
                                    .payload = draw_text(trial),
                                    .offer = draw_offer(trial) };
    return answer;
}

/* With an answer to anybody, and a word to anybody's children: who they are is the caller's to know. */
static void make_finish(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op_finish *op = &add(unit, PW_OP_FINISH)->as.finish;
    *op = (struct pw_op_finish){ .instance = subject->key[side],
                                 .outcome = (enum pw_outcome)(1 + trial_below(trial, 3)),
                                 .output = draw_text(trial),
                                 .error_name = draw_text(trial),
                                 .error_message = draw_text(trial),
                                 .newest_ms = trial_once_in(trial, 3) ? draw_time(trial) : 0,
                                 .demand_seen = (enum pw_demand)(trial_once_in(trial, 2) ? 3 : trial_below(trial, 4)) };
    if (trial_once_in(trial, 2))
        op->reach = (struct pw_reach){ .parent = subject->key[side],
                                       .run = subject->run,
                                       .demand = (enum pw_demand)trial_below(trial, 4),
                                       .reached = -1 };
    if (trial_once_in(trial, 3))
        return;
    op->answer = make_answer(trial, unit, draw_subject(trial)->key[side]);
}

static void make_control(struct trial *trial, struct pw_unit *unit, struct pw_text workflow, struct pw_text id)
{
    static const enum pawl_control controls[] = { PAWL_CONTROL_PAUSE, PAWL_CONTROL_RESUME, PAWL_CONTROL_TERMINATE,
                                                  PAWL_CONTROL_INTERRUPT, PAWL_CONTROL_ROLLBACK };
    struct pw_op_control *op = &add(unit, PW_OP_CONTROL)->as.control;
    *op = (struct pw_op_control){
        .workflow = workflow, .id = id, .what = controls[trial_below(trial, 5)], .offer = draw_offer(trial)
    };
    op->finish.answer = trial_once_in(trial, 2) ? make_answer(trial, unit, 0) : NULL;
}

/* Something is wanted of a run, or of those that it made. */
static void make_demand(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    enum pw_demand demand = (enum pw_demand)trial_below(trial, 4);
    int64_t which = trial_below(trial, 2);
    struct pw_text id = pw_text_of(trial->ids[which][trial_below(trial, IDS)]);
    switch (trial_below(trial, 4)) {
    case 0:
        add(unit, PW_OP_DEMAND)->as.demand = (struct pw_op_demand){ subject->key[side], demand };
        return;
    case 1:
    case 2:
        make_control(trial, unit, trial->workflows[which], id);
        return;
    default: {
        add(unit, PW_OP_END)->as.end = (struct pw_op_end){ trial->workflows[which], id, -1 };
    }
    }
}

static void make_task_op(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    struct pw_op *op;
    switch (trial_below(trial, 4)) {
    case 0:
        make_park(trial, unit, subject, side);
        return;
    case 1:
        op = add(unit, PW_OP_HOLD);
        op->as.hold = (struct pw_op_hold){ .instance = subject->key[side], .owner = trial->owner, .lease_ms = 400 };
        return;
    case 2:
        make_finish(trial, unit, subject, side);
        return;
    default:
        make_restart(trial, unit, subject, side);
    }
}

struct pw_share trial_share(struct trial *trial, size_t side)
{
    struct pw_share share = { .owned = trial->owned, .grace_ms = 150, .except = trial->except[side] };
    for (size_t i = 0; i < trial->subject_count; i++)
        if ((i + trial->seed) % 5 == 0)
            trial->except[side][share.except_count++] = trial->subjects[i].key[side];
    return share;
}

static void make_claim(struct trial *trial, struct pw_unit *unit, size_t side)
{
    struct pw_op_claim *op = &add(unit, PW_OP_CLAIM)->as.claim;
    op->workflows = trial->workflows;
    op->workflow_count = (size_t)(1 + trial_below(trial, 2));
    op->max = (size_t)(1 + trial_below(trial, 4));
    op->leased_max = op->workflow_count == 1 && trial_once_in(trial, 2) ? (size_t)(1 + trial_below(trial, 4)) : 0;
    op->owner = trial->owner;
    op->lease_ms = 400;
    if (trial->chance >> 32 & 1)
        op->share = trial_share(trial, side);
    else if (trial_once_in(trial, 3))
        op->bytes_max = (size_t)(1 + trial_below(trial, 40));
}

static void make_renew(struct trial *trial, struct pw_unit *unit, size_t side)
{
    struct pw_lease *leases = trial->leases[side][trial->lease_sets++];
    struct pw_op_renew *op = &add(unit, PW_OP_RENEW)->as.renew;
    for (size_t i = 0; i < 2; i++)
        leases[i] = (struct pw_lease){ .fence = fence_of(trial, draw_subject(trial), side) };
    *op = (struct pw_op_renew){ trial->owner + (trial_once_in(trial, 4) ? 1 : 0), 700, leases, 2 };
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

/* One hook asks for everything, the other for ends. */
static void tell_hooks(struct trial *trial, struct pw_unit *unit)
{
    struct pw_subscription *asks = pw_arena_zero(&unit->arena, 2 * sizeof *asks);
    assert_non_null(asks);
    asks[0].events = PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED;
    asks[1].events = PAWL_HOOK_FINISHED;
    atomic_store(&asks[0].next, &asks[1]);
    for (size_t i = 0; i < 2; i++) {
        asks[i].hook = trial->hooks[i];
        asks[i].attempts_max = trial->uses_up ? 1 + trial_below(trial, 2) : 1000;
    }
    (void)snprintf(unit->delivery_id, sizeof unit->delivery_id, "h%lld", (long long)trial->numbers++);
    unit->subscriptions = asks;
}

/* A claim that is full leaves rows that are used up for later in one store, and not in the other; neither is wrong. */
static void make_hook_claim(struct trial *trial, struct pw_unit *unit)
{
    struct pw_op_hook_claim *op = &add(unit, PW_OP_HOOK_CLAIM)->as.hook_claim;
    op->wanted = trial->wanted;
    op->wanted_count = (size_t)(1 + trial_below(trial, 2));
    op->max = trial->uses_up ? 1000 : (size_t)(1 + trial_below(trial, 4));
}

static struct pw_text delivery_id(struct pw_unit *unit, int64_t number)
{
    char text[PW_ID_SIZE];
    struct pw_text copy = { NULL, 0 };
    (void)snprintf(text, sizeof text, "h%lld", (long long)number);
    assert_true(pw_arena_text(&unit->arena, pw_text_of(text), &copy));
    return copy;
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
        op->id = delivery_id(unit, trial_below(trial, trial->numbers_told + 1));
    }
}

/* ---- Making units -------------------------------------------------------------------------------------------------- */

static void make_op(struct trial *trial, struct pw_unit *unit, const struct subject *subject, size_t side)
{
    switch (trial_below(trial, 15)) {
    case 0:
    case 1:
        make_create(trial, unit, side);
        break;
    case 2:
    case 3:
        make_step(trial, unit, subject, side);
        return;
    case 4:
        make_event(trial, unit, subject, side);
        break;
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
        if (trial_once_in(trial, 2))
            make_sql(trial, unit);
        return;
    case 9:
    case 10:
        make_demand(trial, unit, subject, side);
        return;
    default:
        make_task_op(trial, unit, subject, side);
    }
}

static void make_unit(struct trial *trial, struct pw_unit *unit, size_t side)
{
    pw_unit_init(unit);
    int64_t kind = trial_below(trial, 8);
    if (kind == 0) {
        make_claim(trial, unit, side);
        return;
    }
    if (kind == 1) {
        make_hook_op(trial, unit, side);
        return;
    }
    if (kind == 2) {
        make_renew(trial, unit, side);
        return;
    }
    if (trial_once_in(trial, 2))
        tell_hooks(trial, unit);
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
    int64_t numbers = trial->numbers_told = trial->numbers;
    size_t count = 0;
    for (size_t side = 0; side < SIDES; side++) {
        trial->chance = chance;
        trial->numbers = numbers;
        trial->lease_sets = 0;
        memset(trial->is_over, 0, sizeof trial->is_over);
        count = (size_t)(1 + trial_below(trial, UNITS_MAX));
        for (size_t i = 0; i < count; i++)
            make_unit(trial, &trial->sides[side].units[i], side);
    }
    return count;
}
