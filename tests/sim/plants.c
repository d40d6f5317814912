/* plants.c - see plants.h. */
#include "plants.h"

#include <string.h>

enum { STRIKES_ONE_IN = 3, RULES_MAX = 8 };

const char *sim_plant_text(enum sim_plant_kind kind)
{
    static const char *const texts[] = { "nothing",
#define PLANT_TEXT(code, text, ...) text,
                                         SIM_PLANTS(PLANT_TEXT)
#undef PLANT_TEXT
    };
    return texts[kind];
}

bool sim_plant_is_found_by(enum sim_plant_kind kind, int rule)
{
    static const int rules[][RULES_MAX] = { { 0 },
#define PLANT_RULES(code, text, ...) { __VA_ARGS__ },
                                            SIM_PLANTS(PLANT_RULES)
#undef PLANT_RULES
    };
    for (int i = 0; i < RULES_MAX && rule != 0; i++) {
        if (rules[kind][i] == rule)
            return true;
    }
    return false;
}

static bool strikes(struct sim_plant *plant, enum sim_plant_kind kind)
{
    return plant->kind == kind && ++plant->calls % STRIKES_ONE_IN == 0;
}

/* ---- Commits ----------------------------------------------------------------------------------------------------------- */

static pawl_status plain_apply(struct pw_store *base, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    return base->ops->apply(base, units, count, error);
}

static struct pw_op *find_op(const struct pw_unit *unit, enum pw_op_kind kind)
{
    for (struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind == kind)
            return op;
    }
    return NULL;
}

/* The op becomes one that does nothing for the time of the commit. */
static pawl_status apply_without(struct pw_store *base, struct pw_unit **units, size_t count, struct pawl_error *error,
                                 struct pw_op *op)
{
    enum pw_op_kind kind = op->kind;
    op->kind = PW_OP_RENEW;
    struct pw_op_renew saved = op->as.renew; /* its bytes, whatever they are */
    op->as.renew = (struct pw_op_renew){ 0 };
    pawl_status status = plain_apply(base, units, count, error);
    op->as.renew = saved;
    op->kind = kind;
    return status;
}

static pawl_status apply_twice(struct pw_store *base, struct pw_unit **units, size_t count, struct pawl_error *error,
                               struct pw_op *op)
{
    struct pw_op again = { .kind = op->kind, .next = op->next, .as.sql = op->as.sql };
    op->next = &again;
    pawl_status status = plain_apply(base, units, count, error);
    op->next = again.next;
    return status;
}

static pawl_status apply_parked_for_ever(struct pw_store *base, struct pw_unit **units, size_t count,
                                         struct pawl_error *error, struct pw_op *op)
{
    struct pw_op_park saved = op->as.park;
    op->as.park.due_at_ms = INT64_C(253402300799999);
    pawl_status status = plain_apply(base, units, count, error);
    saved.due_at_ms_set = saved.due_at_ms > 0 ? saved.due_at_ms : base->ops->now_ms(base);
    op->as.park = saved;
    return status;
}

static pawl_status apply_shared_otherwise(struct pw_store *base, struct pw_unit **units, size_t count,
                                          struct pawl_error *error, struct pw_op *op, bool is_strict)
{
    struct pw_share saved = op->as.claim.share;
    if (is_strict)
        op->as.claim.share.grace_ms = INT64_C(1) << 40;
    else
        op->as.claim.share.owned = NULL;
    pawl_status status = plain_apply(base, units, count, error);
    op->as.claim.share = saved;
    return status;
}

/* A first try finds out whether the fence is lost; then it is taken as it stands in the store. */
static pawl_status apply_without_fence(struct pw_store *base, struct pw_unit **units, struct pawl_error *error)
{
    struct pw_unit *unit = units[0];
    pawl_status status = plain_apply(base, units, 1, error);
    if (status != PAWL_OK || unit->status != PAWL_CONFLICT || unit->chain == NULL)
        return status;
    struct pw_fence saved = unit->first->as.fence.at;
    struct pw_arena arena = { 0 };
    struct pw_instance instance;
    if (pw_read_instance_by_key(base, &arena, saved.instance, &instance, error) == PAWL_OK && instance.has_task) {
        unit->first->as.fence.at.epoch = instance.task.epoch;
        unit->first->as.fence.at.run = instance.run;
        if (plain_apply(base, units, 1, error) != PAWL_OK)
            unit->status = PAWL_CONFLICT; /* its rows were there already */
        unit->first->as.fence.at = saved;
    }
    pw_arena_clear(&arena);
    return PAWL_OK;
}

static void make_nothing(struct pw_op *op)
{
    op->kind = PW_OP_RENEW; /* of no leases */
    op->as.renew = (struct pw_op_renew){ 0 };
}

/* What the engine would decide about parents, children and jobs, were it wrong. */
static void decide_otherwise_of_links(const struct sim_plant *plant, struct pw_unit *unit)
{
    struct pw_op *op = find_op(unit, PW_OP_FINISH);
    struct pw_op_finish *finish = op != NULL ? &op->as.finish : NULL;
    if (plant->kind == SIM_PLANT_UNANSWERED && (op = find_op(unit, PW_OP_CONTROL)) != NULL)
        op->as.control.finish.answer = NULL;
    bool is_answer = finish != NULL && finish->answer != NULL;
    bool is_of_job =
        is_answer && unit->chain != NULL && finish->answer->type.size > 2 && finish->answer->type.data[1] == '@';
    if (plant->kind == SIM_PLANT_UNANSWERED && is_answer)
        finish->answer = NULL;
    else if (plant->kind == SIM_PLANT_WRONG_WORD && is_of_job && finish->output.data != NULL)
        finish->output = pw_text_of("-7");
    else if (plant->kind == SIM_PLANT_JOBS_LEFT && finish != NULL)
        finish->reach.parent = 0;
    else if (plant->kind == SIM_PLANT_UNDEMANDED && finish != NULL)
        finish->reach.demand = PW_DEMAND_NONE;
    else if (plant->kind == SIM_PLANT_END_WINS && finish != NULL)
        finish->demand_seen = PW_DEMAND_TERMINATE;
}

/* The same about runs that are taken up where they stopped. */
static void decide_otherwise_of_repairs(const struct sim_plant *plant, struct pw_unit *unit)
{
    struct pw_op *restart = find_op(unit, PW_OP_RESTART), *park = find_op(unit, PW_OP_PARK);
    struct pw_op *put_back = unit->chain == NULL ? find_op(unit, PW_OP_STEP) : NULL;
    bool is_from = restart != NULL && restart->as.restart.keep_except_dropped;
    if (plant->kind == SIM_PLANT_KEPT_FAILURE && restart != NULL)
        restart->as.restart.keep_except_seq = 0;
    else if (plant->kind == SIM_PLANT_KEPT_ABANDONED && is_from)
        restart->as.restart.keep_except_dropped = false;
    else if (plant->kind == SIM_PLANT_KEPT_NAMED && is_from)
        restart->as.restart.keep_before_seq++;
    else if (plant->kind == SIM_PLANT_NOT_PUT_BACK && put_back != NULL)
        make_nothing(put_back);
    else if (plant->kind == SIM_PLANT_PUT_BACK_HALF && put_back != NULL)
        put_back->as.step.row.attempts = 1;
    else if (plant->kind == SIM_PLANT_NO_REPAIR && park != NULL && park->as.park.kind == PW_TASK_REPAIR) {
        park->as.park.status = PW_TASK_WAITING;
        park->as.park.kind = PW_TASK_WAKE;
    }
}

/* What the engine would decide about hooks, were it wrong. */
static void decide_otherwise(const struct sim_plant *plant, struct pw_unit *unit)
{
    struct pw_op *settle = find_op(unit, PW_OP_HOOK_SETTLE);
    struct pw_op *step = unit->chain != NULL ? find_op(unit, PW_OP_STEP) : NULL;
    if (plant->kind == SIM_PLANT_OLDER_STEP && step != NULL && step->as.step.row.kind == PAWL_STEP_DO &&
        step->as.step.row.seq > 1)
        step->as.step.row.created_at_ms = 1;
    for (struct pw_op *op = step; op != NULL && plant->kind == SIM_PLANT_LOSER_FAILED; op = op->next) {
        if (op->kind == PW_OP_STEP && op->as.step.row.state == PAWL_STATE_ABANDONED)
            op->as.step.row.state = PAWL_STATE_FAILED;
    }
    decide_otherwise_of_links(plant, unit);
    decide_otherwise_of_repairs(plant, unit);
    if (plant->kind == SIM_PLANT_UNRECORDED) {
        unit->subscriptions = NULL;
    } else if (plant->kind == SIM_PLANT_SETTLED_UNTOLD && settle != NULL) {
        settle->as.hook_settle.delivered = true;
    } else if (plant->kind == SIM_PLANT_ONE_MORE_ATTEMPT && settle != NULL && !settle->as.hook_settle.delivered &&
               settle->as.hook_settle.next_at_ms == 0) {
        settle->as.hook_settle.next_at_ms = 1;
    }
}

/* What rules would tell of a unit, were they wrong. */
static void tell_otherwise(const struct sim_plant *plant, struct pw_unit *unit)
{
    for (struct pw_effect *effect = unit->effects; effect != NULL; effect = effect->next) {
        bool is_reached = effect->kind == PW_EFFECT_WOKEN && effect->as.due.reason == PW_REASON_RESUME;
        if (plant->kind == SIM_PLANT_UNTOLD_CHILD && is_reached) {
            effect->kind = PW_EFFECT_CHANGED;
        } else if (plant->kind == SIM_PLANT_TOLD_TWICE && pw_effect_event(effect) != 0) {
            struct pw_effect *again = pw_unit_tell(unit, effect->kind, effect->instance, effect->run);
            again->as = effect->as;
            return;
        }
    }
}

pawl_status sim_plant_apply(struct sim_plant *plant, struct pw_store *base, struct pw_unit **units, size_t count,
                            struct pawl_error *error)
{
    struct pw_unit *unit = units[0];
    struct pw_op *op;
    switch (plant->kind) {
    case SIM_PLANT_DROPPED_UNIT:
        if (unit->chain == NULL || !strikes(plant, plant->kind) || count > 1)
            break;
        unit->status = PAWL_OK;
        return PAWL_OK;
    case SIM_PLANT_NO_FENCE:
        if (count == 1)
            return apply_without_fence(base, units, error);
        break;
    case SIM_PLANT_EVENT_TWICE:
        if ((op = find_op(unit, PW_OP_CONSUME)) != NULL)
            return apply_without(base, units, count, error, op);
        break;
    case SIM_PLANT_LOST_LOG:
        if ((op = find_op(unit, PW_OP_LOG)) != NULL)
            return apply_without(base, units, count, error, op);
        break;
    case SIM_PLANT_EFFECT_TWICE:
        if ((op = find_op(unit, PW_OP_SQL)) != NULL && strstr(op->as.sql.sql.data, "sim_effect") != NULL)
            return apply_twice(base, units, count, error, op);
        break;
    case SIM_PLANT_LOST_WAKE:
        op = find_op(unit, PW_OP_PARK);
        if (op != NULL && op->as.park.status != PW_TASK_PAUSED && op->as.park.due_at_ms != 0)
            return apply_parked_for_ever(base, units, count, error, op);
        break;
    case SIM_PLANT_NO_PAUSE:
    case SIM_PLANT_STAYS_PAUSED:
        if ((op = find_op(unit, PW_OP_CONTROL)) != NULL &&
            op->as.control.what == (plant->kind == SIM_PLANT_NO_PAUSE ? PAWL_CONTROL_PAUSE : PAWL_CONTROL_RESUME))
            op->as.control.what = plant->kind == SIM_PLANT_NO_PAUSE ? PAWL_CONTROL_RESUME : PAWL_CONTROL_PAUSE;
        break;
    case SIM_PLANT_LATE_TASK:
        if ((op = find_op(unit, PW_OP_FINISH)) != NULL)
            return apply_without(base, units, count, error, op);
        break;
    case SIM_PLANT_NO_SHARES:
    case SIM_PLANT_NO_GRACE:
        if ((op = find_op(unit, PW_OP_CLAIM)) != NULL && op->as.claim.share.owned != NULL)
            return apply_shared_otherwise(base, units, count, error, op, plant->kind == SIM_PLANT_NO_GRACE);
        break;
    default:
        decide_otherwise(plant, unit);
        break;
    }
    pawl_status status = plain_apply(base, units, count, error);
    tell_otherwise(plant, unit);
    return status;
}

void sim_plant_claimed(const struct sim_plant *plant, struct pw_unit **units, size_t count, int64_t monotonic_ms)
{
    for (size_t i = 0; plant->kind == SIM_PLANT_BLIND_COURIER && i < count; i++) {
        struct pw_op *claim = find_op(units[i], PW_OP_HOOK_CLAIM);
        if (claim == NULL || claim->as.hook_claim.row_count == 0)
            continue;
        claim->as.hook_claim.rows[0].locked_until_ms = INT64_MAX;
        units[i]->begun_ms = monotonic_ms;
    }
}

/* ---- Reads ------------------------------------------------------------------------------------------------------------- */

static bool tamper(struct sim_plant *plant, struct pw_step_row *row)
{
    bool completed = row->status == PAWL_STEP_COMPLETED, waiting = row->status == PAWL_STEP_WAITING;
    switch (plant->kind) {
    case SIM_PLANT_FORGOTTEN_ATTEMPT:
        if (row->kind == PAWL_STEP_DO && waiting && row->attempts > 0)
            row->attempts--;
        break;
    case SIM_PLANT_WRONG_ANSWER:
        if (row->kind == PAWL_STEP_DO && completed)
            row->result = pw_text_of("-1");
        break;
    case SIM_PLANT_OTHER_WINNER:
        if (row->kind == PAWL_STEP_FIRST && completed)
            row->result = pw_text_of(row->result.data[0] == '0' ? "1" : "0");
        break;
    case SIM_PLANT_EARLY_SLEEP:
        if (row->kind == PAWL_STEP_SLEEP && waiting)
            row->wake_at_ms -= 5000;
        break;
    case SIM_PLANT_EARLY_RETRY:
        if (row->kind == PAWL_STEP_DO && waiting)
            row->next_retry_at_ms -= 5000;
        break;
    case SIM_PLANT_EARLY_TIMEOUT:
        if (row->kind == PAWL_STEP_EVENT && waiting)
            row->wake_at_ms -= 900;
        break;
    case SIM_PLANT_EARLY_DEFERRED:
        if (row->kind == PAWL_STEP_DEFERRED && waiting && row->wake_at_ms > 0)
            row->wake_at_ms -= 900;
        break;
    case SIM_PLANT_FORGOTTEN_STEP:
        return !(row->kind == PAWL_STEP_DO && completed);
    default:
        break;
    }
    return true;
}

void sim_plant_steps(struct sim_plant *plant, struct pw_step_row *rows, size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        struct pw_step_row row = rows[i];
        if (tamper(plant, &row))
            rows[kept++] = row;
    }
    *count = kept;
}

void sim_plant_client_steps(struct sim_plant *plant, struct pw_step_row *rows, size_t count)
{
    for (size_t i = 0; i < count && plant->kind == SIM_PLANT_PUT_BACK_DONE; i++) {
        if (rows[i].kind == PAWL_STEP_DO && rows[i].status == PAWL_STEP_COMPLETED) {
            rows[i].status = PAWL_STEP_ERRORED;
            rows[i].error_name = pw_text_of("Broken");
        }
    }
}

void sim_plant_events(struct sim_plant *plant, struct pw_event_row *rows, size_t count)
{
    for (size_t i = 0; plant->kind == SIM_PLANT_EVENTS_REVERSED && i < count / 2; i++) {
        struct pw_event_row row = rows[i];
        rows[i] = rows[count - 1 - i];
        rows[count - 1 - i] = row;
    }
}

void sim_plant_logs(struct sim_plant *plant, struct pw_log_row *rows, size_t *count)
{
    if (plant->kind != SIM_PLANT_LOST_NEWS || *count < 2)
        return;
    for (size_t i = 1; i < *count; i++)
        rows[i - 1] = rows[i];
    --*count;
}

pawl_status sim_plant_instance(struct sim_plant *plant, bool is_result, struct pw_instance *row)
{
    if (plant->kind == SIM_PLANT_ODD_FAILURE && is_result)
        return PAWL_FAILED;
    if (plant->kind == SIM_PLANT_OTHER_OUTPUT && is_result && row->output.data != NULL)
        row->output = pw_text_of("\"another\"");
    return PAWL_OK;
}
