/* transitions.c - see transitions.h. */
#include "transitions.h"

#include <stdio.h>

#include "fail.h"
#include "model.h"

enum machine {
#define MACHINE_CODE(code, text) MACHINE_##code,
    SIM_MACHINES(MACHINE_CODE)
#undef MACHINE_CODE
        MACHINE_COUNT
};

enum cause {
#define CAUSE_CODE(code, text) CAUSE_##code,
    SIM_CAUSES(CAUSE_CODE)
#undef CAUSE_CODE
        CAUSE_COUNT
};

#define TEXT_OF(code, text) text,
static const char *const machine_texts[] = { SIM_MACHINES(TEXT_OF) };
static const char *const state_texts[] = { SIM_STATES(TEXT_OF) };
static const char *const cause_texts[] = { SIM_CAUSES(TEXT_OF) };
#undef TEXT_OF

/* ---- Counting ------------------------------------------------------------------------------------------------------ */

static void count(struct sim_model *model, const char *whose, enum machine machine, enum sim_state from,
                  enum sim_state to, enum cause cause)
{
    /* One more than its number; 0: there is no such transition. */
    static const uint8_t numbers[MACHINE_COUNT][SIM_STATE_COUNT][SIM_STATE_COUNT][CAUSE_COUNT] = {
#define NUMBER(machine, from, to, cause, reason)                                                                       \
    [MACHINE_##machine][SIM_STATE_##from][SIM_STATE_##to][CAUSE_##cause] = SIM_##machine##_##from##_##to##_##cause + 1,
        SIM_TRANSITIONS(NUMBER)
#undef NUMBER
    };
    int number = numbers[machine][from][to][cause];
    SIM_CHECK(SIM_RULE_TRANSITION, number > 0, "%s: %s, %s -> %s (%s)", whose, machine_texts[machine],
              state_texts[from], state_texts[to], cause_texts[cause]);
    model->transitions[number - 1]++;
}

/* ---- Instances and tasks --------------------------------------------------------------------------------------------- */

static enum sim_state state_of(const struct sim_instance *instance)
{
    static const enum sim_state states[] = {
        [PAWL_ACTIVE] = SIM_STATE_ACTIVE,         [PAWL_WAITING] = SIM_STATE_WAITING,
        [PAWL_PAUSED] = SIM_STATE_PAUSED,         [PAWL_COMPLETE] = SIM_STATE_COMPLETE,
        [PAWL_TERMINATED] = SIM_STATE_TERMINATED, [PAWL_ERRORED] = SIM_STATE_ERRORED
    };
    return states[sim_status_of(instance)];
}

static enum sim_state state_of_task(const struct sim_task *task)
{
    if (!task->exists)
        return SIM_STATE_ABSENT;
    if (task->processing)
        return task->pause_requested ? SIM_STATE_PAUSING : SIM_STATE_HELD;
    return task->status == PW_TASK_PAUSED    ? SIM_STATE_PAUSED
           : task->status == PW_TASK_WAITING ? SIM_STATE_WAITING
                                             : SIM_STATE_QUEUED;
}

static bool is_reached(const struct pw_reach *reach, const struct sim_instance *instance)
{
    return reach->parent != 0 && instance->link.parent == reach->parent && instance->link.run == reach->run;
}

static bool is_answered(const struct pw_op_event *answer, const struct sim_instance *instance)
{
    return answer != NULL && answer->instance == instance->key && answer->recorded;
}

static bool is_about(const struct pw_op *op, const struct sim_instance *instance)
{
    int64_t key = instance->key;
    switch (op->kind) {
    case PW_OP_CREATE:
        return op->as.create.created && op->as.create.fence.instance == key;
    case PW_OP_RESTART:
        return op->as.restart.instance == key || is_reached(&op->as.restart.reach, instance);
    case PW_OP_EVENT:
        return op->as.event.told.instance == key;
    case PW_OP_PARK:
        return op->as.park.instance == key;
    case PW_OP_HOLD:
        return op->as.hold.instance == key;
    case PW_OP_CONTROL:
        return (op->as.control.is_done && op->as.control.at.instance == key) ||
               is_reached(&op->as.control.finish.reach, instance) ||
               is_answered(op->as.control.finish.answer, instance);
    case PW_OP_DEMAND:
        return op->as.demand.instance == key;
    case PW_OP_FINISH:
        return op->as.finish.instance == key || is_reached(&op->as.finish.reach, instance) ||
               is_answered(op->as.finish.answer, instance);
    case PW_OP_END:
        return op->as.end.instance == key;
    case PW_OP_CLAIM:
        return true;
    default:
        return false;
    }
}

/* The op that says what a unit does to the instance; an event and a demand go before what they wake.  NULL: none. */
static const struct pw_op *find_move(const struct pw_unit *unit, const struct sim_instance *instance)
{
    const struct pw_op *op = unit->first;
    while (op != NULL && !is_about(op, instance))
        op = op->next;
    return op;
}

static enum cause cause_of_claim(enum sim_state from, enum pw_task_kind kind)
{
    if (from == SIM_STATE_HELD || from == SIM_STATE_PAUSING)
        return CAUSE_CLAIM_EXPIRED;
    return kind == PW_TASK_WAKE     ? CAUSE_CLAIM_WAKE
           : kind == PW_TASK_RETRY  ? CAUSE_CLAIM_RETRY
           : kind == PW_TASK_RESUME ? CAUSE_CLAIM_RESUME
                                    : CAUSE_CLAIM_RUN;
}

/* The closing unit of a turn. */
static enum cause cause_of_closing(const struct pw_op_park *park, enum sim_state to)
{
    if (park->kind == PW_TASK_REPAIR)
        return CAUSE_TURN_REPAIR;
    if (to == SIM_STATE_PAUSED)
        return CAUSE_TURN_PAUSES;
    if (park->if_requested)
        return CAUSE_TURN_UNPAUSED;
    if (park->kind == PW_TASK_RETRY)
        return CAUSE_TURN_RETRIES;
    if (to == SIM_STATE_WAITING)
        return CAUSE_TURN_WAITS;
    return park->due_at_ms == PW_NOW ? CAUSE_TURN_STOPS : CAUSE_TURN_TROUBLE;
}

static enum cause cause_of_park(const struct pw_op_park *park, bool by_turn, enum sim_state from, enum sim_state to)
{
    if (by_turn)
        return cause_of_closing(park, to);
    if (park->status == PW_TASK_PAUSED)
        return CAUSE_PAUSE;
    return from == SIM_STATE_PAUSED ? CAUSE_RESUME : CAUSE_RELEASE;
}

/* Steps are changed by turns, and put back by whoever resumes after a repair. */
static bool puts_back(const struct pw_unit *unit)
{
    const struct pw_op *op = unit->first;
    while (op != NULL && op->kind != PW_OP_STEP)
        op = op->next;
    return op != NULL && unit->chain == NULL;
}

static enum cause cause_of_end(const struct pw_op_finish *op, const struct sim_instance *instance, bool by_turn)
{
    if (op->instance != instance->key)
        return is_answered(op->answer, instance) ? CAUSE_ANSWER : CAUSE_REACH;
    if (by_turn && op->outcome == PW_OUTCOME_TERMINATED)
        return CAUSE_TURN_DEMANDED;
    return by_turn || sim_is_job(instance) ? CAUSE_TURN_ENDS : CAUSE_TERMINATE;
}

static enum cause cause_of_control(const struct pw_op_control *op, const struct sim_instance *instance)
{
    if (op->at.instance != instance->key)
        return is_answered(op->finish.answer, instance) ? CAUSE_ANSWER : CAUSE_REACH;
    return op->what == PAWL_CONTROL_PAUSE       ? CAUSE_PAUSE
           : op->what == PAWL_CONTROL_RESUME    ? CAUSE_RESUME
           : op->what == PAWL_CONTROL_TERMINATE ? CAUSE_TERMINATE
                                                : CAUSE_DEMAND;
}

static enum cause cause_of(const struct pw_unit *unit, const struct pw_op *op, const struct sim_instance *instance,
                           enum sim_state from)
{
    bool by_turn = unit->chain != NULL;
    switch (op->kind) {
    case PW_OP_CREATE:
        return by_turn ? CAUSE_CHILD : CAUSE_CREATE;
    case PW_OP_RESTART:
        if (op->as.restart.instance != instance->key)
            return CAUSE_REACH;
        return op->as.restart.keep_except_dropped ? CAUSE_RESTART_FROM : CAUSE_RESTART;
    case PW_OP_EVENT:
        return by_turn ? CAUSE_STEP_EVENT : CAUSE_EVENT;
    case PW_OP_DEMAND:
        return CAUSE_DEMAND;
    case PW_OP_END:
        return CAUSE_END;
    case PW_OP_PARK:
        if (puts_back(unit))
            return CAUSE_REPAIR;
        return cause_of_park(&op->as.park, by_turn, from, state_of_task(&instance->task));
    case PW_OP_CONTROL:
        return cause_of_control(&op->as.control, instance);
    case PW_OP_FINISH:
        return cause_of_end(&op->as.finish, instance, by_turn);
    case PW_OP_CLAIM:
        return cause_of_claim(from, instance->task.kind);
    default:
        return puts_back(unit) ? CAUSE_REPAIR : CAUSE_RESUME; /* a hold without an event */
    }
}

void sim_note_unit(struct sim_model *model, const struct pw_unit *unit)
{
    for (int i = 0; i < model->instance_count; i++) {
        struct sim_instance *instance = &model->instances[i];
        struct sim_standing before = instance->standing;
        struct sim_standing now = { state_of(instance), state_of_task(&instance->task), instance->run,
                                    instance->task.epoch };
        bool is_new_run = now.run != before.run;
        const struct pw_op *op = find_move(unit, instance);
        if (op == NULL || (now.task == before.task && now.epoch == before.epoch && !is_new_run))
            continue;
        enum cause cause = cause_of(unit, op, instance, before.task);
        count(model, instance->id, sim_is_job(instance) ? MACHINE_JOB : MACHINE_TASK, before.task, now.task, cause);
        if ((now.status != before.status || is_new_run) && !sim_is_job(instance))
            count(model, instance->id, MACHINE_INSTANCE, before.status, now.status, cause);
        instance->standing = now;
    }
}

/* ---- Steps ----------------------------------------------------------------------------------------------------------- */

static enum machine machine_of(enum pawl_step_kind kind)
{
    switch (kind) {
    case PAWL_STEP_DO:
        return MACHINE_DO;
    case PAWL_STEP_SLEEP:
        return MACHINE_SLEEP;
    case PAWL_STEP_EVENT:
        return MACHINE_WAIT;
    case PAWL_STEP_CALL:
        return MACHINE_CALL;
    case PAWL_STEP_CHILD:
        return MACHINE_AWAIT;
    case PAWL_STEP_DEFERRED:
        return MACHINE_DEFERRED;
    case PAWL_STEP_FIRST:
        break;
    }
    return MACHINE_FIRST;
}

static enum sim_state state_of_step(enum pawl_step_status status)
{
    return status == PAWL_STEP_WAITING     ? SIM_STATE_WAITING
           : status == PAWL_STEP_COMPLETED ? SIM_STATE_COMPLETED
                                           : SIM_STATE_ERRORED;
}

static enum cause cause_of_failure(struct pw_text name)
{
    static const struct {
        const char *name;
        enum cause cause;
    } known[] = { { "STEP_ABANDONED", CAUSE_ABANDONED },         { "STEP_TIMEOUT", CAUSE_TIMES_OUT },
                  { "WAIT_FOR_EVENT_TIMEOUT", CAUSE_TIMES_OUT }, { "STEP_UNIQUE_CONSTRAINT_VIOLATION", CAUSE_REFUSED },
                  { "STEP_MUTATION_FAILED", CAUSE_REFUSED },     { "INSTANCE_TERMINAL", CAUSE_REFUSED },
                  { "INSTANCE_NOT_FOUND", CAUSE_REFUSED } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (pw_text_equal(name, pw_text_of(known[i].name)))
            return known[i].cause;
    }
    return CAUSE_FAILS;
}

static enum cause cause_of_success(enum pawl_step_kind kind)
{
    switch (kind) {
    case PAWL_STEP_DO:
        return CAUSE_SUCCEEDS;
    case PAWL_STEP_SLEEP:
        return CAUSE_OVER;
    case PAWL_STEP_EVENT:
        return CAUSE_TAKES;
    case PAWL_STEP_CALL:
    case PAWL_STEP_CHILD:
    case PAWL_STEP_DEFERRED:
        return CAUSE_SUCCEEDS;
    case PAWL_STEP_FIRST:
        break;
    }
    return CAUSE_WON;
}

void sim_note_step(struct sim_model *model, const struct pw_op_step *op)
{
    const struct pw_step_row *row = &op->row;
    const struct sim_instance *instance = sim_model_by_key(model, op->instance);
    const struct sim_step *step = &instance->runs[op->run - 1].steps[sim_node_of(row->name)];
    enum cause cause = row->status == PAWL_STEP_COMPLETED  ? cause_of_success(row->kind)
                       : row->state == PAWL_STATE_GIVEN_UP ? CAUSE_DEMAND
                       : row->error_name.data != NULL      ? cause_of_failure(row->error_name)
                       : sim_step_is_finished(step)        ? CAUSE_REPAIR
                       : step->exists                      ? CAUSE_CHANGES
                                                           : CAUSE_BEGINS;
    count(model, instance->id, machine_of(row->kind), step->exists ? state_of_step(step->status) : SIM_STATE_ABSENT,
          state_of_step(row->status), cause);
}

enum { SEEDS_THAT_REACH_MOST = 2000, SEEDS_THAT_REACH_ALL = 20000 };

/* ---- Telling --------------------------------------------------------------------------------------------------------- */

static const struct {
    enum machine machine;
    enum sim_state from, to;
    enum cause cause;
    const char *reason;
} transitions[] = {
#define ROW(machine, from, to, cause, reason)                                                                          \
    { MACHINE_##machine, SIM_STATE_##from, SIM_STATE_##to, CAUSE_##cause, reason },
    SIM_TRANSITIONS(ROW)
#undef ROW
};

static int format_name(char *text, size_t room, int number)
{
    return snprintf(text, room, "%s: %s -> %s (%s)", machine_texts[transitions[number].machine],
                    state_texts[transitions[number].from], state_texts[transitions[number].to],
                    cause_texts[transitions[number].cause]);
}

void sim_transitions_print(const uint64_t counts[SIM_TRANSITION_COUNT])
{
    char name[100];
    for (int i = 0; i < SIM_TRANSITION_COUNT; i++) {
        (void)format_name(name, sizeof name, i);
        printf("%9llu  %-58s %s\n", (unsigned long long)counts[i], name, transitions[i].reason);
    }
}

int sim_transitions_unseen(const uint64_t counts[SIM_TRANSITION_COUNT], uint64_t seeds)
{
    char name[100];
    int unseen = 0;
    for (int i = 0; i < SIM_TRANSITION_COUNT; i++) {
        bool is_seldom = strncmp(transitions[i].reason, "seldom: ", 8) == 0;
        if (counts[i] > 0 || (seeds > 0 && seeds < (is_seldom ? SEEDS_THAT_REACH_ALL : SEEDS_THAT_REACH_MOST)))
            continue;
        unseen++;
        (void)format_name(name, sizeof name, i);
        if (seeds > 0)
            printf("never seen: %s, %s\n", name, transitions[i].reason);
    }
    return unseen;
}
