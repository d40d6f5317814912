/* repairs.c - runs that are taken up where they stopped: which wait for repair, what a resume puts back (invariants 1 and
 * 48), and what a new run keeps of the one before (invariant 47). */
#include "fail.h"
#include "model.h"

bool sim_can_be_mended(const struct sim_step *step)
{
    bool is_work = step->kind == PAWL_STEP_DO || step->kind == PAWL_STEP_CALL || step->kind == PAWL_STEP_CHILD;
    return step->exists && step->status == PAWL_STEP_ERRORED && is_work && !sim_step_is_abandoned(step);
}

/* ---- Waiting for repair ------------------------------------------------------------------------------------------- */

void sim_check_awaits(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_park *op)
{
    struct sim_instance *instance = sim_model_by_key(model, op->instance);
    const struct sim_task *task = &instance->task;
    bool is_for_repair = op->kind == PW_TASK_REPAIR;
    if (sim_is_job(instance))
        return;
    bool has_failed = sim_read_awaits_repair(instance, sim_model_run(instance, instance->run));
    SIM_CHECK(SIM_RULE_REPAIR, !is_for_repair || (unit->chain != NULL && op->status == PW_TASK_PAUSED),
              "%s is parked for repair, and not by its turn", instance->id);
    SIM_CHECK(SIM_RULE_REPAIR, !is_for_repair || has_failed, "%s waits for repair, and nothing has failed",
              instance->id);
    /* One of which something is demanded is to stop, and waits for what undoes it. */
    bool waits_for_others = unit->chain != NULL && task->status == PW_TASK_WAITING && task->demand == PW_DEMAND_NONE;
    SIM_CHECK(SIM_RULE_REPAIR, !waits_for_others || !has_failed,
              "%s waits for something else, and work of it has failed for good", instance->id);
}

/* ---- What a resume puts back -------------------------------------------------------------------------------------- */

/* As it was before its first attempt. */
static bool is_as_new(const struct pw_step_row *row)
{
    return row->status == PAWL_STEP_WAITING && row->attempts == 0 && row->next_retry_at_ms == 0 &&
           row->wake_at_ms == 0 && row->event_at_ms == 0 && row->wait_event_type.data == NULL &&
           row->awaited_id.data == NULL && row->result.data == NULL && row->error_name.data == NULL &&
           row->error_message.data == NULL;
}

void sim_check_put_back(struct sim_model *model, const struct pw_op_step *op)
{
    const struct pw_step_row *row = &op->row;
    struct sim_instance *instance = sim_model_by_key(model, op->instance);
    int node = sim_node_of(row->name);
    SIM_CHECK(SIM_RULE_STORED, node != SIM_NONE, "a step named %.*s", (int)row->name.size, row->name.data);
    const struct sim_step *step = &sim_model_run(instance, op->run)->steps[node];
    SIM_CHECK(SIM_RULE_FINISHED_ROW, sim_awaits_repair(instance) && sim_can_be_mended(step),
              "%.*s of %s, %s (%s), is put back", (int)row->name.size, row->name.data, instance->id,
              pawl_step_status_name(step->status), step->error_name);
    SIM_CHECK(SIM_RULE_REPAIR,
              is_as_new(row) && !op->is_new && row->seq == step->seq && row->kind == step->kind &&
                  row->attempts_max == step->attempts_max && row->timeout_ms == step->timeout_ms,
              "%.*s of %s is put back as something else", (int)row->name.size, row->name.data, instance->id);
}

/* The instance that the unit lets go on; NULL: none.  A demand lets it go on as it is. */
static struct sim_instance *find_resumed(struct sim_model *model, const struct pw_unit *unit)
{
    struct sim_instance *instance = NULL;
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind == PW_OP_DEMAND)
            return NULL;
        if (op->kind == PW_OP_PARK || op->kind == PW_OP_HOLD)
            instance = sim_model_by_key(model, op->kind == PW_OP_PARK ? op->as.park.instance : op->as.hold.instance);
    }
    return instance;
}

int sim_count_failed(struct sim_model *model, const struct pw_unit *unit)
{
    struct sim_instance *instance = unit->chain == NULL ? find_resumed(model, unit) : NULL;
    int failed = 0;
    if (instance == NULL || !sim_awaits_repair(instance))
        return 0;
    for (int i = 0; i < SIM_STEPS_MAX; i++)
        failed += sim_can_be_mended(&sim_model_run(instance, instance->run)->steps[i]);
    return failed;
}

void sim_check_resume(const struct pw_unit *unit, int failed)
{
    int put_back = 0;
    for (const struct pw_op *op = unit->first; op != NULL && unit->chain == NULL; op = op->next)
        put_back += op->kind == PW_OP_STEP;
    SIM_CHECK(SIM_RULE_REPAIR, put_back == failed, "a run goes on, and of %d steps that failed %d are put back", failed,
              put_back);
}

/* ---- What a new run keeps ----------------------------------------------------------------------------------------- */

/* A retry keeps all that had finished but for the step that failed last, of a run that failed. */
static void check_retry(struct sim_instance *instance, const struct pw_op_restart *op)
{
    const struct sim_run *old = sim_model_run(instance, instance->run);
    const struct sim_step *failed = NULL;
    SIM_CHECK(SIM_RULE_KEPT, instance->outcome == PW_OUTCOME_ERRORED && op->keep_before_seq == INT64_MAX,
              "%s is repaired, and did not fail", instance->id);
    for (int i = 0; i < SIM_STEPS_MAX; i++) {
        if (old->steps[i].exists && old->steps[i].seq == op->keep_except_seq)
            failed = &old->steps[i];
    }
    SIM_CHECK(SIM_RULE_KEPT, failed != NULL && failed->status == PAWL_STEP_ERRORED,
              "%s is repaired, and keeps the step that failed", instance->id);
    for (int i = 0; i < SIM_STEPS_MAX; i++) {
        const struct sim_step *step = &old->steps[i];
        bool has_failed = step->exists && step->status == PAWL_STEP_ERRORED && !sim_step_is_abandoned(step);
        bool is_later = step->finished > failed->finished && step->updated_at_ms != failed->updated_at_ms;
        SIM_CHECK(SIM_RULE_KEPT, !has_failed || (!is_later && step->updated_at_ms <= failed->updated_at_ms),
                  "%s is repaired from a step that was not the last to fail", instance->id);
    }
}

/* A restart from a step keeps what finished of what was recorded before it, but for what lost a race. */
static void check_restart_from(struct sim_instance *instance, const struct pw_op_restart *op)
{
    const struct sim_run *old = sim_model_run(instance, instance->run);
    bool is_there = false;
    for (int i = 0; i < SIM_STEPS_MAX; i++)
        is_there |= old->steps[i].exists && old->steps[i].seq == op->keep_before_seq;
    SIM_CHECK(SIM_RULE_KEPT, is_there && op->keep_except_seq == 0,
              "%s is restarted from step %lld, which it does not have, but for %lld", instance->id,
              (long long)op->keep_before_seq, (long long)op->keep_except_seq);
    SIM_CHECK(SIM_RULE_KEPT, !instance->task.exists || instance->task.demand == PW_DEMAND_NONE,
              "%s is restarted from a step, and is to be undone", instance->id);
}

void sim_check_kept(struct sim_instance *instance, const struct pw_op_restart *op)
{
    const struct sim_run *old = sim_model_run(instance, instance->run);
    for (int i = 2 * SIM_NODES_MAX; i < SIM_STEPS_MAX; i++)
        SIM_CHECK(SIM_RULE_KEPT, !old->steps[i].exists, "%s is repaired, and was undone", instance->id);
    if (op->keep_except_dropped)
        check_restart_from(instance, op);
    else
        check_retry(instance, op);
}
