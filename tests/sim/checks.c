/* checks.c - the invariants of single rows: steps, consumed events, parked and finished runs. */
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"
#include "model.h"

/* ---- Steps with a body ------------------------------------------------------------------------------------------- */

#define DELAY_MS_MAX INT64_C(31536000000) /* 365 days */

static int64_t delay_of(const struct pawl_policy *policy, int64_t attempt)
{
    int64_t delay_ms = policy->delay_ms;
    if (policy->backoff == PAWL_BACKOFF_LINEAR)
        delay_ms *= attempt;
    bool doubles = policy->backoff != PAWL_BACKOFF_LINEAR && policy->backoff != PAWL_BACKOFF_CONSTANT;
    for (int64_t i = 1; i < attempt && doubles && delay_ms < DELAY_MS_MAX; i++)
        delay_ms *= 2;
    return delay_ms < DELAY_MS_MAX ? delay_ms : DELAY_MS_MAX;
}

/* Is it an execution of the attempt that is recorded?  Those of before a repair do not count. */
static bool is_body_of(struct sim_model *model, const struct sim_body *body, const struct pw_op_step *op, int node)
{
    const struct sim_run *run = sim_model_run(sim_model_by_key(model, op->instance), op->run);
    return body->instance == op->instance && body->run == op->run && body->node == node &&
           body->go == run->steps[node].goes && body->attempt == op->row.attempts;
}

/* An execution of this attempt that ended so, in time. */
static bool body_ended(struct sim_model *model, const struct pw_op_step *op, int node, int number,
                       enum sim_body_end end)
{
    if (number < 0 || number >= model->body_count)
        return false;
    const struct sim_body *body = &model->bodies[number];
    return is_body_of(model, body, op, node) && body->end == end && body->returned_at_ms <= body->deadline_ms;
}

/* Some execution of this attempt that was late. */
static bool body_was_late(struct sim_model *model, const struct pw_op_step *op, int node)
{
    for (int i = 0; i < model->body_count; i++) {
        const struct sim_body *body = &model->bodies[i];
        int64_t at_ms = body->end == SIM_BODY_RUNNING ? model->monotonic_ms : body->ended_at_ms;
        if (is_body_of(model, body, op, node) && at_ms > body->deadline_ms)
            return true;
    }
    return false;
}

/* How often the unit carries this step's effect of that kind. */
static int count_effects(const struct pw_unit *unit, const struct pw_op_step *op, int node, char when)
{
    char prefix[SIM_TEXT_MAX];
    int count = 0;
    int size =
        snprintf(prefix, sizeof prefix, "%lld.%lld.%d.%c.", (long long)op->instance, (long long)op->run, node, when);
    for (const struct pw_op *other = unit->first; other != NULL; other = other->next) {
        const char *tag = NULL;
        if (other->kind == PW_OP_SQL)
            tag = other->as.sql.parameters.data + 2;
        else if (other->kind == PW_OP_MUTATE)
            tag = ((const struct sim_mutation *)other->as.mutate.data)->tag;
        count += tag != NULL && strncmp(tag, prefix, (size_t)size) == 0;
    }
    return count;
}

static int count_ops(const struct pw_unit *unit, enum pw_op_kind kind)
{
    int count = 0;
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next)
        count += op->kind == kind;
    return count;
}

static void check_effects(const struct pw_unit *unit, const struct pw_op_step *op, const struct sim_node *plan,
                          int node, bool was_abandoned)
{
    bool completed = op->row.status == PAWL_STEP_COMPLETED, failed = op->row.status == PAWL_STEP_ERRORED;
    int found = 0;
    if (plan->kind == SIM_CHILD)
        found = count_ops(unit, PW_OP_CREATE);
    else if (plan->effect == SIM_EFFECT_SQL || plan->effect == SIM_EFFECT_CALL)
        found = count_effects(unit, op, node, 's');
    else if (plan->effect == SIM_EFFECT_UNIQUE)
        found = count_ops(unit, PW_OP_SQL) - count_effects(unit, op, node, 'f');
    else if (plan->effect == SIM_EFFECT_CREATE)
        found = count_ops(unit, PW_OP_CREATE);
    else if (plan->effect == SIM_EFFECT_EVENT)
        found = count_ops(unit, PW_OP_EVENT);
    bool wanted = completed && (plan->effect != SIM_EFFECT_NONE || plan->kind == SIM_CHILD);
    SIM_CHECK(SIM_RULE_EFFECT, found == wanted, "n%d became %s with %d effects", node,
              pawl_step_status_name(op->row.status), found);
    int on_failure = count_effects(unit, op, node, 'f');
    bool wanted_on_failure = failed && plan->effect_on_failure && !was_abandoned;
    SIM_CHECK(SIM_RULE_EFFECT_ON_FAILURE, on_failure == wanted_on_failure, "n%d became %s (%.*s) with %d effects", node,
              pawl_step_status_name(op->row.status), (int)op->row.error_name.size,
              op->row.error_name.data != NULL ? op->row.error_name.data : "", on_failure);
}

/* A failure that is not the body's own word. */
static bool is_engines_failure(const struct sim_node *plan, struct pw_text name)
{
    static const char *const of_effects[] = { "STEP_UNIQUE_CONSTRAINT_VIOLATION", "STEP_MUTATION_FAILED",
                                              "INSTANCE_TERMINAL", "INSTANCE_NOT_FOUND" };
    for (size_t i = 0; i < sizeof of_effects / sizeof of_effects[0]; i++) {
        if (plan->effect != SIM_EFFECT_NONE && pw_text_equal(name, pw_text_of(of_effects[i])))
            return true;
    }
    return false;
}

/* A time, or a delay, that counts from when the step was recorded.  That time does not go back with the clock, but when
 * something is to happen does: so it is no later. */
static bool is_from(const struct sim_model *model, int64_t at_ms, int64_t expected_ms)
{
    return at_ms == expected_ms || (model->was_set_back && at_ms < expected_ms);
}

static void check_failure(struct sim_model *model, const struct pw_op_step *op, const struct sim_node *plan, int node)
{
    const struct pw_step_row *row = &op->row;
    bool again = row->status == PAWL_STEP_WAITING;
    bool has_left = row->attempts_max == 0 || row->attempts < row->attempts_max;
    if (pw_text_equal(row->error_name, pw_text_of("STEP_TIMEOUT"))) {
        SIM_CHECK(SIM_RULE_RESULT, body_was_late(model, op, node), "n%d: nobody was late", node);
        SIM_CHECK(SIM_RULE_RETRY, again == has_left, "n%d: a timeout is followed by another attempt: %d", node, again);
    } else if (is_engines_failure(plan, row->error_name)) {
        bool may_retry = pw_text_equal(row->error_name, pw_text_of("STEP_MUTATION_FAILED"));
        SIM_CHECK(SIM_RULE_RETRY, again == (may_retry && has_left), "n%d: a refused change is followed by another: %d",
                  node, again);
    } else {
        int number = atoi(row->error_message.data);
        bool for_good = body_ended(model, op, node, number, SIM_BODY_FAILED_FOR_GOOD);
        SIM_CHECK(SIM_RULE_RESULT, for_good || body_ended(model, op, node, number, SIM_BODY_FAILED),
                  "n%d: no body failed like that: %s", node, row->error_message.data);
        SIM_CHECK(SIM_RULE_RETRY, again == (has_left && !for_good), "n%d: is followed by another attempt: %d", node,
                  again);
    }
    int64_t delay_ms = again ? row->next_retry_at_ms - row->updated_at_ms : 0;
    SIM_CHECK(SIM_RULE_RETRY, !again || is_from(model, delay_ms, delay_of(&plan->policy, row->attempts)),
              "n%d: attempt %lld is followed by another after %lld ms", node, (long long)row->attempts,
              (long long)delay_ms);
}

static bool is_abandoned(const struct pw_step_row *row)
{
    return row->state == PAWL_STATE_ABANDONED || row->state == PAWL_STATE_GIVEN_UP;
}

/* The first compensation of a run that failed, before it is run. */
static bool is_announced(const struct pw_step_row *row, const struct sim_step *step, int node)
{
    return sim_is_undo(node) && !step->exists && row->status == PAWL_STEP_WAITING && row->attempts == 0 &&
           row->error_name.data == NULL;
}

static void check_do(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_step *op,
                     const struct sim_node *plan, const struct sim_step *step, int node)
{
    const struct pw_step_row *row = &op->row;
    bool was_abandoned = is_abandoned(row);
    if (is_announced(row, step, node))
        return;
    SIM_CHECK(SIM_RULE_ATTEMPTS,
              row->attempts == step->attempts + 1 || (was_abandoned && row->attempts == step->attempts),
              "n%d: %lld attempts after %lld", node, (long long)row->attempts, (long long)step->attempts);
    SIM_CHECK(SIM_RULE_ATTEMPTS, row->attempts_max == 0 || row->attempts <= row->attempts_max,
              "n%d: %lld attempts of %lld", node, (long long)row->attempts, (long long)row->attempts_max);
    if (row->status == PAWL_STEP_COMPLETED)
        SIM_CHECK(SIM_RULE_RESULT,
                  row->result.data != NULL && body_ended(model, op, node, atoi(row->result.data), SIM_BODY_OK),
                  "n%d: no body returned %s at attempt %lld", node,
                  row->result.data != NULL ? row->result.data : "nothing", (long long)row->attempts);
    else if (!was_abandoned)
        check_failure(model, op, plan, node);
    check_effects(unit, op, plan, node, was_abandoned);
}

/* ---- Sleeps, waits, races ---------------------------------------------------------------------------------------- */

static void check_sleep(const struct sim_model *model, const struct pw_op_step *op, const struct sim_node *plan,
                        const struct sim_step *step, int node)
{
    const struct pw_step_row *row = &op->row;
    int64_t wake_at_ms = plan->kind == SIM_SLEEP ? row->created_at_ms + plan->ms : model->start_ms + plan->ms;
    SIM_CHECK(SIM_RULE_SLEEP,
              step->exists || plan->kind != SIM_SLEEP
                  ? row->wake_at_ms == (step->exists ? step->wake_at_ms : wake_at_ms)
                  : is_from(model, row->wake_at_ms, wake_at_ms),
              "n%d: wakes at %lld", node, (long long)row->wake_at_ms);
    SIM_CHECK(SIM_RULE_SLEEP, row->status != PAWL_STEP_ERRORED || is_abandoned(row), "n%d: a sleep failed", node);
    SIM_CHECK(SIM_RULE_SLEEP, row->status != PAWL_STEP_COMPLETED || model->latest_ms >= row->wake_at_ms,
              "n%d: completed by %lld, to be slept until %lld", node, (long long)model->latest_ms,
              (long long)row->wake_at_ms);
}

/* The oldest event that a wait of this type and end gets; 0: none. */
static int64_t oldest_event(const struct sim_run *run, const char *type, int64_t wake_at_ms)
{
    for (int i = 0; i < run->event_count; i++) {
        const struct sim_event *event = &run->events[i];
        if (event->delivered_at_ms == 0 && strcmp(event->type, type) == 0 && event->created_at_ms <= wake_at_ms)
            return i + 1;
    }
    return 0;
}

/* An event that is sent before the wait begins is in time.  Only when the clock was set back is its time past the end. */
static int64_t in_time_until(const struct pw_step_row *row)
{
    return row->wake_at_ms > row->created_at_ms ? row->wake_at_ms : row->created_at_ms;
}

static void check_taken(const struct sim_model *model, const struct pw_unit *unit, const struct pw_op_step *op,
                        const struct sim_run *run, int node)
{
    const struct pw_step_row *row = &op->row;
    const struct pw_op_consume *consume = NULL;
    for (const struct pw_op *other = unit->first; other != NULL; other = other->next) {
        if (other->kind == PW_OP_CONSUME && pw_text_equal(other->as.consume.step, row->name))
            consume = &other->as.consume;
    }
    SIM_CHECK(SIM_RULE_CONSUME, consume != NULL && consume->seq >= 1 && consume->seq <= run->event_count,
              "n%d completed without an event", node);
    const struct sim_event *event = &run->events[consume->seq - 1];
    SIM_CHECK(SIM_RULE_CONSUME, pw_text_equal(row->wait_event_type, pw_text_of(event->type)), "n%d took a %s", node,
              event->type);
    SIM_CHECK(SIM_RULE_CONSUME,
              pw_text_equal(row->result, pw_text_of(event->payload)) && row->event_at_ms == event->created_at_ms,
              "n%d was given %.*s", node, (int)row->result.size, row->result.data);
    int64_t oldest = oldest_event(run, event->type, in_time_until(row));
    bool was_there = model->was_set_back && consume->seq == oldest_event(run, event->type, INT64_MAX);
    SIM_CHECK(SIM_RULE_EVENT_ORDER, consume->seq == oldest || was_there, "n%d took event %lld, its own is %lld", node,
              (long long)consume->seq, (long long)oldest);
}

static void check_wait(const struct sim_model *model, const struct pw_unit *unit, const struct pw_op_step *op,
                       const struct sim_node *plan, const struct sim_run *run, const struct sim_step *step, int node)
{
    const struct pw_step_row *row = &op->row;
    char type[SIM_TEXT_MAX];
    sim_text_copy(type, row->wait_event_type);
    SIM_CHECK(SIM_RULE_WAIT_TIMEOUT,
              step->exists ? row->wake_at_ms == step->wake_at_ms
                           : is_from(model, row->wake_at_ms, row->created_at_ms + plan->ms),
              "n%d: waits until %lld", node, (long long)row->wake_at_ms);
    if (row->status == PAWL_STEP_COMPLETED)
        check_taken(model, unit, op, run, node);
    if (row->status != PAWL_STEP_ERRORED || is_abandoned(row))
        return;
    SIM_CHECK(SIM_RULE_WAIT_TIMEOUT, model->latest_ms >= row->wake_at_ms, "n%d: timed out by %lld, due at %lld", node,
              (long long)model->latest_ms, (long long)row->wake_at_ms);
    int64_t there = oldest_event(run, type, in_time_until(row));
    SIM_CHECK(SIM_RULE_WAIT_TIMEOUT, there == 0, "n%d: timed out beside event %lld", node, (long long)there);
}

/* ---- What others finish ------------------------------------------------------------------------------------------ */

static const struct pw_op *find_op(const struct pw_unit *unit, enum pw_op_kind kind)
{
    const struct pw_op *op = unit->first;
    while (op != NULL && op->kind != kind)
        op = op->next;
    return op;
}

/* The answer that the step consumed in this unit, which is one to it; NULL: none. */
static const struct sim_event *answer_of(const struct pw_unit *unit, const struct pw_step_row *row,
                                         const struct sim_run *run)
{
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind != PW_OP_CONSUME || !pw_text_equal(op->as.consume.step, row->name))
            continue;
        const struct sim_event *event = &run->events[op->as.consume.seq - 1];
        SIM_CHECK(SIM_RULE_CONSUME, pw_text_equal(row->wait_event_type, pw_text_of(event->type)), "%.*s took %s",
                  (int)row->name.size, row->name.data, event->type);
        return event;
    }
    return NULL;
}

/* How it ended is what the answer says. */
static void check_answered(const struct pw_step_row *row, const struct sim_event *event)
{
    bool completed = row->status == PAWL_STEP_COMPLETED;
    SIM_CHECK(SIM_RULE_ANSWERED, completed == !event->is_failure, "%s became %s by %s", row->name.data,
              pawl_step_status_name(row->status), event->type);
    if (completed)
        SIM_CHECK(SIM_RULE_ANSWERED, pw_text_equal(row->result, pw_text_of(event->payload)), "%s was given %.*s",
                  row->name.data, (int)row->result.size, row->result.data);
    else
        SIM_CHECK(SIM_RULE_ANSWERED, strstr(event->payload, row->error_name.data) != NULL, "%s failed with %s by %s",
                  row->name.data, row->error_name.data, event->payload);
}

/* "$@f/id" */
static struct sim_instance *job_of(struct sim_model *model, struct pw_text type)
{
    char text[SIM_TEXT_MAX];
    sim_text_copy(text, type);
    return strncmp(text, "$@f/", 4) == 0 ? sim_model_find(model, "@f", text + 4) : NULL;
}

/* Abandoned with a branch that lost a race, or because the run is interrupted while its job is out. */
static void check_given_up(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_step *op)
{
    const struct pw_step_row *row = &op->row;
    if (row->state != PAWL_STATE_GIVEN_UP)
        return;
    SIM_CHECK(SIM_RULE_DEMAND, sim_model_by_key(model, op->instance)->task.demand != PW_DEMAND_NONE,
              "%s is given up, and nobody wanted that", row->name.data);
    SIM_CHECK(SIM_RULE_JOBS_END, find_op(unit, PW_OP_END) != NULL, "%s is given up, and its job is not",
              row->name.data);
}

/* Without an answer: its job was late. */
static void check_late_job(struct sim_model *model, const struct pw_unit *unit, const struct pw_step_row *row)
{
    const struct pw_op *end = find_op(unit, PW_OP_END);
    const struct sim_instance *job = job_of(model, row->wait_event_type);
    SIM_CHECK(SIM_RULE_JOB_RESULT, pw_text_equal(row->error_name, pw_text_of("STEP_TIMEOUT")) && end != NULL,
              "%s failed with %s, and nobody said so", row->name.data, row->error_name.data);
    SIM_CHECK(SIM_RULE_JOB_RESULT,
              job != NULL && job->task.exists && job->task.started_at_ms > 0 &&
                  model->latest_ms >= job->task.started_at_ms + row->timeout_ms,
              "%s timed out, and its job was not late", row->name.data);
}

static void check_call(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_step *op,
                       const struct sim_node *plan, const struct sim_run *run, const struct sim_step *step)
{
    const struct pw_step_row *row = &op->row;
    bool begins = row->status == PAWL_STEP_WAITING && row->error_name.data == NULL;
    int jobs = count_ops(unit, PW_OP_CREATE);
    const struct sim_event *answer = answer_of(unit, row, run);
    if (is_abandoned(row)) {
        check_given_up(model, unit, op);
        return;
    }
    if (begins) { /* another attempt, or a longer wait for the same */
        SIM_CHECK(SIM_RULE_ATTEMPTS, row->attempts == step->attempts + jobs && jobs <= 1, "%s: %lld attempts, %d jobs",
                  row->name.data, (long long)row->attempts, jobs);
        SIM_CHECK(SIM_RULE_RETRY, jobs == 0 || row->updated_at_ms >= step->next_retry_at_ms, "%s is called too early",
                  row->name.data);
        return;
    }
    SIM_CHECK(SIM_RULE_ATTEMPTS, row->attempts == step->attempts && jobs == 0, "%s: %lld attempts", row->name.data,
              (long long)row->attempts);
    if (row->status == PAWL_STEP_WAITING)
        SIM_CHECK(SIM_RULE_RETRY,
                  is_from(model, row->next_retry_at_ms - row->updated_at_ms, delay_of(&plan->policy, row->attempts)) &&
                      (row->attempts_max == 0 || row->attempts < row->attempts_max),
                  "%s: another attempt at %lld", row->name.data, (long long)row->next_retry_at_ms);
    if (answer == NULL)
        check_late_job(model, unit, row);
    else if (row->status == PAWL_STEP_WAITING)
        SIM_CHECK(SIM_RULE_ANSWERED, answer->is_failure, "%s is tried again after %s", row->name.data, answer->type);
    else
        check_answered(row, answer);
}

static void check_await(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_step *op,
                        const struct sim_run *run)
{
    const struct pw_step_row *row = &op->row;
    const struct sim_event *answer = answer_of(unit, row, run);
    if (row->status == PAWL_STEP_WAITING || is_abandoned(row))
        return;
    if (answer != NULL) {
        check_answered(row, answer);
        return;
    }
    char type[SIM_TEXT_MAX]; /* it looked itself: "$beta/id" */
    sim_text_copy(type, row->wait_event_type);
    const struct sim_instance *child = sim_model_find(model, "beta", type + sizeof "$beta/" - 1);
    bool is_renewed = child != NULL && child->outcome == PW_OUTCOME_OPEN && child->run > 1;
    if (is_renewed) { /* since it looked: what counts is the run before */
        SIM_CHECK(SIM_RULE_ANSWERED,
                  (child->runs[child->run - 2].outcome == PW_OUTCOME_COMPLETE) == (row->status == PAWL_STEP_COMPLETED),
                  "%s was told of an earlier run of %s otherwise", row->name.data, type);
        return;
    }
    SIM_CHECK(SIM_RULE_ANSWERED, child != NULL && child->outcome != PW_OUTCOME_OPEN, "%s ended before %s",
              row->name.data, type);
    SIM_CHECK(SIM_RULE_ANSWERED,
              child->outcome == PW_OUTCOME_COMPLETE  ? pw_text_equal(row->result, pw_text_of(child->output))
              : child->outcome == PW_OUTCOME_ERRORED ? pw_text_equal(row->error_name, pw_text_of(child->error_name))
                                                     : pw_text_equal(row->error_name, pw_text_of("CHILD_TERMINATED")),
              "%s was told of %s otherwise", row->name.data, type);
}

static void check_deferred(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_step *op,
                           const struct sim_run *run, const struct sim_step *step)
{
    const struct pw_step_row *row = &op->row;
    char type[SIM_TEXT_MAX];
    const struct sim_event *answer = answer_of(unit, row, run);
    sim_text_copy(type, row->wait_event_type);
    SIM_CHECK(SIM_RULE_DEFERRED, step->wake_at_ms == 0 || row->wake_at_ms == step->wake_at_ms,
              "%s is waited for until %lld, not %lld", row->name.data, (long long)row->wake_at_ms,
              (long long)step->wake_at_ms);
    SIM_CHECK(SIM_RULE_DEFERRED, !step->exists || strcmp(type, step->event_type) == 0, "%s has another token",
              row->name.data);
    if (row->status == PAWL_STEP_WAITING || is_abandoned(row))
        return;
    if (answer != NULL) {
        check_answered(row, answer);
        return;
    }
    SIM_CHECK(SIM_RULE_DEFERRED, row->status == PAWL_STEP_ERRORED && model->latest_ms >= row->wake_at_ms,
              "%s is over, and nobody completed it", row->name.data);
    for (int i = 0; i < run->event_count; i++)
        SIM_CHECK(SIM_RULE_DEFERRED, strncmp(run->events[i].type, type, strlen(type)) != 0,
                  "%s timed out beside its completion", row->name.data);
}

static void check_choice(const struct sim_model *model, const struct sim_instance *instance, const struct sim_run *run,
                         const struct pw_step_row *row, int node)
{
    const struct sim_node *nodes = instance->program->nodes;
    uint64_t digest;
    int child = nodes[node].first_child;
    for (int winner = atoi(row->result.data); winner > 0 && child != SIM_NONE; winner--)
        child = nodes[child].next_sibling;
    SIM_CHECK(SIM_RULE_WINNER, row->status == PAWL_STEP_COMPLETED && child != SIM_NONE, "n%d: won by %s", node,
              row->result.data);
    SIM_CHECK(SIM_RULE_WINNER, sim_read_node(model, instance, run, child, &digest) != SIM_READ_UNFINISHED,
              "n%d: won by n%d, which has not finished", node, child);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static enum pawl_step_kind kind_of(const struct sim_node *plan)
{
    switch (plan->kind) {
    case SIM_SLEEP:
    case SIM_SLEEP_UNTIL:
        return PAWL_STEP_SLEEP;
    case SIM_WAIT:
        return PAWL_STEP_EVENT;
    case SIM_FIRST:
        return PAWL_STEP_FIRST;
    case SIM_CALL:
        return PAWL_STEP_CALL;
    case SIM_DEFERRED:
        return PAWL_STEP_DEFERRED;
    default:
        return PAWL_STEP_DO;
    }
}

/* Which of two finished steps is the older: as the engine tells. */
static bool is_older(const struct sim_step *one, const struct sim_step *other)
{
    return one->updated_at_ms != other->updated_at_ms ? one->updated_at_ms < other->updated_at_ms
                                                      : one->seq < other->seq;
}

/* Whatever is younger and is to be undone was, before the first word of this one. */
static void check_undo(const struct sim_instance *instance, const struct sim_run *run, int position)
{
    const struct sim_step *undone = &run->steps[sim_node_at(position)];
    uint64_t told = sim_read_told(instance, run);
    SIM_CHECK(SIM_RULE_UNDONE, undone->status == PAWL_STEP_COMPLETED, "n%d of %s is undone, and was not done",
              sim_node_at(position), instance->id);
    for (int node = 0; node < instance->program->count; node++) {
        const struct sim_step *step = &run->steps[node];
        bool is_to_be = (told & (UINT64_C(1) << node)) != 0 && instance->program->nodes[node].is_undone &&
                        step->status == PAWL_STEP_COMPLETED;
        SIM_CHECK(SIM_RULE_UNDONE,
                  !is_to_be || !is_older(undone, step) || sim_step_is_finished(&run->steps[node + 2 * SIM_NODES_MAX]),
                  "n%d of %s is undone before n%d", sim_node_at(position), instance->id, node);
    }
}

/* The step of a job is recorded only when it was late. */
static void check_job_step(const struct sim_instance *instance, const struct pw_step_row *row)
{
    SIM_CHECK(SIM_RULE_JOB_RESULT,
              row->status == PAWL_STEP_ERRORED && pw_text_equal(row->error_name, pw_text_of("STEP_TIMEOUT")),
              "job %s records a step as %s", instance->id, pawl_step_status_name(row->status));
}

void sim_check_step(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_step *op)
{
    const struct pw_step_row *row = &op->row;
    struct sim_instance *instance = sim_model_by_key(model, op->instance);
    struct sim_run *run = sim_model_run(instance, op->run);
    int node = sim_node_of(row->name);
    sim_check_state(row);
    if (sim_is_job(instance)) {
        check_job_step(instance, row);
        return;
    }
    if (unit->chain == NULL) {
        sim_check_put_back(model, op);
        return;
    }
    SIM_CHECK(SIM_RULE_STORED, node != SIM_NONE && sim_node_at(node) < instance->program->count, "a step named %.*s",
              (int)row->name.size, row->name.data);
    if (op->is_new)
        sim_check_place(instance->program, row);
    const struct sim_node *plan = &instance->program->nodes[sim_node_at(node)];
    const struct sim_node undo = { .kind = SIM_DO, .policy = plan->policy };
    if (sim_is_undo(node))
        plan = &undo;
    const struct sim_step *step = &run->steps[node];
    SIM_CHECK(SIM_RULE_FINISHED_ROW, !sim_step_is_finished(step), "n%d of %s, %s, becomes %s", node, instance->id,
              pawl_step_status_name(step->status), pawl_step_status_name(row->status));
    SIM_CHECK(SIM_RULE_STORED,
              row->kind == (sim_is_await(node) ? PAWL_STEP_CHILD : kind_of(plan)) && op->is_new == !step->exists,
              "n%d of %s: kind %d, new %d", node, instance->id, (int)row->kind, op->is_new);
    for (int i = 0; i < SIM_STEPS_MAX && op->is_new; i++)
        SIM_CHECK(SIM_RULE_STORED, !run->steps[i].exists || run->steps[i].seq < row->seq,
                  "n%d is recorded after n%d, and its number is %lld", node, i, (long long)row->seq);
    SIM_CHECK(SIM_RULE_STORED, op->is_new || row->seq == step->seq, "n%d changed its number", node);
    if (sim_is_undo(node))
        check_undo(instance, run, node);
    if (row->kind == PAWL_STEP_DO)
        check_do(model, unit, op, plan, step, node);
    else if (row->kind == PAWL_STEP_CALL)
        check_call(model, unit, op, plan, run, step);
    else if (row->kind == PAWL_STEP_CHILD)
        check_await(model, unit, op, run);
    else if (row->kind == PAWL_STEP_DEFERRED)
        check_deferred(model, unit, op, run, step);
    else if (row->kind == PAWL_STEP_SLEEP)
        check_sleep(model, op, plan, step, node);
    else if (row->kind == PAWL_STEP_EVENT)
        check_wait(model, unit, op, plan, run, step, node);
    else
        check_choice(model, instance, run, row, node);
}

void sim_check_consume(struct sim_model *model, const struct pw_op_consume *op)
{
    struct sim_run *run = sim_model_run(sim_model_by_key(model, op->instance), op->run);
    SIM_CHECK(SIM_RULE_CONSUME, op->seq >= 1 && op->seq <= run->event_count, "event %lld", (long long)op->seq);
    const struct sim_event *event = &run->events[op->seq - 1];
    SIM_CHECK(SIM_RULE_CONSUME, event->delivered_at_ms == 0, "event %lld was taken by n%d already", (long long)op->seq,
              event->consumed_by);
}

/* ---- Parked runs ------------------------------------------------------------------------------------------------- */

static int winner_of(const struct sim_program *program, const struct sim_run *run, int node)
{
    int child = program->nodes[node].first_child;
    for (int winner = atoi(run->steps[node].result); winner > 0; winner--)
        child = program->nodes[child].next_sibling;
    return child;
}

static int64_t waits_until(const struct sim_step *step)
{
    if (!step->exists || step->status != PAWL_STEP_WAITING)
        return INT64_MAX;
    /* Of a deferred whose token was taken nobody waits yet. */
    int64_t at_ms =
        step->next_retry_at_ms > 0 || step->kind == PAWL_STEP_DO ? step->next_retry_at_ms : step->wake_at_ms;
    return at_ms > 0 || step->kind == PAWL_STEP_DO ? at_ms : INT64_MAX;
}

/* When the first step below the node that still waits may go on; those that lost a race do not count. */
static int64_t earliest_below(const struct sim_program *program, const struct sim_run *run, int node)
{
    const struct sim_node *plan = &program->nodes[node];
    const struct sim_step *step = &run->steps[node];
    int64_t at_ms = INT64_MAX;
    if (plan->kind == SIM_FIRST && sim_step_is_finished(step))
        return earliest_below(program, run, winner_of(program, run, node));
    at_ms = waits_until(step);
    int64_t await_ms = waits_until(&run->steps[node + SIM_NODES_MAX]);
    at_ms = await_ms < at_ms ? await_ms : at_ms;
    for (int child = plan->first_child; child != SIM_NONE; child = program->nodes[child].next_sibling) {
        int64_t below_ms = earliest_below(program, run, child);
        at_ms = below_ms < at_ms ? below_ms : at_ms;
    }
    return at_ms;
}

/* A run that is being undone waits for nothing else.  0: it is not. */
static int64_t earliest_undo(const struct sim_run *run)
{
    int64_t at_ms = INT64_MAX;
    bool any = false;
    for (int i = 2 * SIM_NODES_MAX; i < SIM_STEPS_MAX; i++) {
        any = any || run->steps[i].exists;
        at_ms = waits_until(&run->steps[i]) < at_ms ? waits_until(&run->steps[i]) : at_ms;
    }
    return any ? at_ms : 0;
}

/* The task is as it was left. */
void sim_check_park(struct sim_model *model, const struct pw_op_park *op, int64_t now_ms)
{
    struct sim_instance *instance = sim_model_by_key(model, op->instance);
    const struct sim_run *run = sim_model_run(instance, instance->run);
    if (instance->task.status != PW_TASK_WAITING || sim_is_job(instance))
        return;
    int64_t at_ms = earliest_undo(run);
    if (at_ms == 0)
        at_ms = earliest_below(instance->program, run, 0);
    SIM_CHECK(SIM_RULE_DUE, instance->task.due_at_ms <= (at_ms > now_ms ? at_ms : now_ms),
              "%s is due at %lld, not %lld", instance->id, (long long)instance->task.due_at_ms, (long long)at_ms);
}

/* A resume does not know that a step which failed lost a race since, and puts it back: nobody asks for it any more. */
static bool is_left_waiting(const struct sim_step *step, const struct sim_step *race)
{
    return step->exists && step->status == PAWL_STEP_WAITING && step->put_back <= race->finished;
}

/* race: the first that was decided of those that the node has lost. */
static void check_abandoned(const struct sim_instance *instance, const struct sim_run *run, int race, int node)
{
    const struct sim_node *nodes = instance->program->nodes;
    bool is_decided = nodes[node].kind == SIM_FIRST && sim_step_is_finished(&run->steps[node]);
    bool was_earlier = is_decided && run->steps[node].finished < run->steps[race].finished;
    int winner = is_decided ? winner_of(instance->program, run, node) : SIM_NONE;
    SIM_CHECK(SIM_RULE_ABANDONED, !is_left_waiting(&run->steps[node], &run->steps[race]), "n%d of %s waits", node,
              instance->id);
    SIM_CHECK(SIM_RULE_ABANDONED, !is_left_waiting(&run->steps[node + SIM_NODES_MAX], &run->steps[race]),
              "c%d of %s waits", node, instance->id);
    for (int child = nodes[node].first_child; child != SIM_NONE; child = nodes[child].next_sibling)
        check_abandoned(instance, run, was_earlier && child != winner ? node : race, child);
}

static void check_losers(const struct sim_instance *instance, const struct sim_run *run, int race)
{
    const struct sim_node *nodes = instance->program->nodes;
    int winner = winner_of(instance->program, run, race);
    for (int child = nodes[race].first_child; child != SIM_NONE; child = nodes[child].next_sibling) {
        if (child != winner)
            check_abandoned(instance, run, race, child);
    }
}

/* Every decided race of the run, not only the one that the unit decides: a loser may be written later as well. */
void sim_check_races(struct sim_model *model, const struct pw_unit *unit)
{
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind != PW_OP_STEP)
            continue;
        struct sim_instance *instance = sim_model_by_key(model, op->as.step.instance);
        if (sim_is_job(instance))
            continue;
        const struct sim_run *run = sim_model_run(instance, op->as.step.run);
        for (int node = 0; node < instance->program->count; node++) {
            if (instance->program->nodes[node].kind == SIM_FIRST && sim_step_is_finished(&run->steps[node]))
                check_losers(instance, run, node);
        }
    }
}

/* All that the program did and can undo is undone. */
static void check_undone(const struct sim_instance *instance, const struct sim_run *run)
{
    uint64_t told = sim_read_told(instance, run);
    for (int node = 0; node < instance->program->count; node++) {
        bool is_to_be = (told & (UINT64_C(1) << node)) != 0 && instance->program->nodes[node].is_undone &&
                        run->steps[node].status == PAWL_STEP_COMPLETED && run->steps[node].exists;
        SIM_CHECK(SIM_RULE_UNDONE, !is_to_be || sim_step_is_finished(&run->steps[node + 2 * SIM_NODES_MAX]),
                  "%s has ended, and n%d is not undone", instance->id, node);
    }
}

/* By a runner, what its body returned; by a worker outside, what it said under its lease. */
static void check_job_end(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_finish *op,
                          const struct sim_instance *job, int64_t now_ms)
{
    const struct sim_task *task = &job->task;
    if (unit->chain == NULL) {
        SIM_CHECK(SIM_RULE_JOB_RESULT, task->processing && pw_owner_is_outside(task->owner),
                  "job %s is ended by somebody who does not hold it", job->id);
        return;
    }
    struct pw_op_step as_step = { .instance = job->key, .run = job->run, .row = { .attempts = 1 } };
    struct pw_text told = op->outcome == PW_OUTCOME_COMPLETE ? op->output : op->error_message;
    int number = told.data != NULL ? atoi(told.data) : -1;
    bool is_timeout = pw_text_equal(op->error_name, pw_text_of("STEP_TIMEOUT"));
    SIM_CHECK(SIM_RULE_JOB_RESULT,
              op->outcome == PW_OUTCOME_COMPLETE ? body_ended(model, &as_step, 0, number, SIM_BODY_OK)
              : is_timeout                       ? sim_step_is_finished(&job->runs[job->run - 1].steps[0])
                                                 : body_ended(model, &as_step, 0, number, SIM_BODY_FAILED) ||
                                 body_ended(model, &as_step, 0, number, SIM_BODY_FAILED_FOR_GOOD),
              "job %s ends with %.*s, which no body said", job->id, (int)told.size, told.data != NULL ? told.data : "");
    (void)now_ms;
}

void sim_check_finish(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_finish *op,
                      int64_t now_ms)
{
    struct sim_instance *instance = sim_model_by_key(model, op->instance);
    const struct sim_run *run = sim_model_run(instance, instance->run);
    uint64_t digest = 0;
    char text[SIM_TEXT_MAX];
    if (sim_is_job(instance)) {
        if (op->outcome != PW_OUTCOME_TERMINATED)
            check_job_end(model, unit, op, instance, now_ms);
        return;
    }
    if (op->outcome == PW_OUTCOME_TERMINATED) {
        SIM_CHECK(SIM_RULE_DEMAND, unit->chain == NULL || instance->task.demand != PW_DEMAND_NONE,
                  "%s is terminated by its turn, and nobody demanded it", instance->id);
        if (unit->chain != NULL && instance->task.demand != PW_DEMAND_TERMINATE)
            check_undone(instance, run);
        return;
    }
    SIM_CHECK(SIM_RULE_DEMAND, instance->task.demand == PW_DEMAND_NONE || op->outcome == PW_OUTCOME_ERRORED,
              "%s ends, and is to be interrupted", instance->id);
    enum sim_reading how = sim_read_node(model, instance, run, 0, &digest);
    (void)snprintf(text, sizeof text, "\"%016llx\"", (unsigned long long)digest);
    enum sim_reading said = op->outcome == PW_OUTCOME_COMPLETE ? SIM_READ_OK : SIM_READ_FAILED;
    struct pw_text told = op->outcome == PW_OUTCOME_COMPLETE ? op->output : op->error_message;
    SIM_CHECK(SIM_RULE_OUTCOME, how == said && pw_text_equal(told, pw_text_of(text)),
              "%s ended as %d with %.*s (%.*s); read: %d with %s", instance->id, (int)said, (int)told.size,
              told.data != NULL ? told.data : "", (int)op->error_name.size,
              op->error_name.data != NULL ? op->error_name.data : "", (int)how, text);
    if (op->outcome == PW_OUTCOME_ERRORED)
        check_undone(instance, run);
}
