/* rules_run.c - begins and ends runs: create, restart, finish (R1, R11). */
#include <stdio.h>

#include "base/error.h"
#include "core/rules.h"

/* Makes the task of a new run.  A task that is claimed from the start has epoch 1 and has started; others have epoch
 * 0.  Its times are those of the instance row, which never go back (R7). */
static void begin_task(const struct pw_core *core, struct pw_core_run *run, int64_t number, int64_t hold_owner,
                       int64_t hold_lease_ms)
{
    bool held = hold_owner != 0;
    run->run = number;
    run->has_task = true;
    run->task = (struct pw_task){ .epoch = held,
                                  .status = PW_TASK_ACTIVE,
                                  .kind = PW_TASK_RUN,
                                  .due_at_ms = core->now_ms,
                                  .processing = held,
                                  .owner = hold_owner,
                                  .locked_until_ms = held ? core->now_ms + hold_lease_ms : 0,
                                  .started_at_ms = held ? run->updated_at_ms : 0,
                                  .updated_at_ms = run->updated_at_ms };
    pw_rule_changed(run);
}

static pawl_status tell_of_beginning(struct pw_core *core, const struct pw_core_run *run, bool is_job)
{
    pawl_status status = pw_rule_tell_due(core, PW_EFFECT_BEGUN, run, PW_REASON_CREATE, 0);
    if (status == PAWL_OK)
        core->unit->last_effect->is_job = is_job;
    return status;
}

/* The key comes from those that the store has handed out.  If the unit is refused later, undoing it gives the key
 * back. */
static pawl_status insert_instance(struct pw_core *core, struct pw_op_create *op, struct pw_core_name *name)
{
    int64_t key = ((const int64_t *)core->keys.rows)[core->keys_used++];
    struct pw_core_run *run = pw_want_run(core, key);
    if (run == NULL || !PW_SAVE(core, run) || !PW_SAVE(core, name))
        return pw_rule_no_memory(core);
    name->key = key;
    run->is_known = true;
    run->instance_run = 1;
    run->workflow = op->workflow;
    run->id = op->id;
    run->params = op->params;
    run->has_params = true;
    run->params_bytes = op->params.size;
    run->link = op->link;
    run->terms = op->terms;
    run->created_at_ms = run->updated_at_ms = core->now_ms;
    run->change = PW_CORE_NEW;
    begin_task(core, run, 1, op->hold_owner, op->hold_lease_ms);
    op->fence = (struct pw_fence){ key, 1, run->task.epoch };
    op->created_at_ms = core->now_ms;
    return tell_of_beginning(core, run, op->link.relation == PW_RELATION_JOB);
}

pawl_status pw_rule_create(struct pw_core *core, struct pw_op_create *op)
{
    struct pw_core_name *name = pw_want_name(core, op->workflow, op->id);
    if (name == NULL)
        return pw_rule_no_memory(core);
    op->created = name->key == 0;
    if (op->created && core->keys_used < core->keys.count)
        return insert_instance(core, op, name);
    if (op->created)
        return pw_error(core->error, PAWL_STORE_CORRUPT, "the database hands out no keys for instances");
    if (op->skip_existing)
        return PAWL_OK;
    return pw_unit_refuse_saying(core->unit, PW_REFUSED_INSTANCE_EXISTS,
                                 "workflow \"%.*s\" has an instance \"%.*s\" already", (int)op->workflow.size,
                                 op->workflow.data, (int)op->id.size, op->id.data);
}

/* Prepares the instance row for another outcome.  A new row stays NEW, because it still has to be inserted. */
static void change_instance(struct pw_core_run *run, enum pw_outcome outcome, int64_t at_ms)
{
    if (run->change == PW_CORE_SAME)
        run->change = PW_CORE_CHANGED;
    run->outcome = outcome;
    run->output = run->error_name = run->error_message = (struct pw_text){ NULL, 0 };
    run->updated_at_ms = at_ms;
    run->started_at_ms = run->completed_at_ms = 0;
}

/* Notes that steps have to be copied.  The store copies them after it has written everything else of the old run. */
static bool keep_steps(struct pw_core *core, struct pw_op_restart *op)
{
    struct pw_op_restart **kept = op->keep_before_seq > 0 ? pw_rows_add(&core->kept) : NULL;
    if (kept != NULL)
        *kept = op;
    return kept != NULL || op->keep_before_seq <= 0;
}

/* Records the outcome of the run that is about to be replaced. */
static bool keep_outcome(struct pw_core *core, const struct pw_core_run *run, int64_t at_ms)
{
    struct pw_core_earlier *kept = pw_rows_add(&core->earlier);
    if (kept == NULL)
        return false;
    kept->instance = run->key;
    kept->row = (struct pw_earlier_run){ .run = run->instance_run,
                                         .outcome = run->outcome,
                                         .terms = run->terms,
                                         .output = run->output,
                                         .error_name = run->error_name,
                                         .error_message = run->error_message,
                                         .started_at_ms = run->started_at_ms,
                                         .completed_at_ms = run->completed_at_ms,
                                         .replaced_at_ms = at_ms };
    if (run->outcome != PW_OUTCOME_OPEN)
        return true;
    kept->row.outcome = PW_OUTCOME_TERMINATED;
    kept->row.error_name = pw_text_of(PW_CUT_OFF_NAME);
    kept->row.error_message = pw_text_of(PW_CUT_OFF_MESSAGE);
    kept->row.started_at_ms = run->has_task ? run->task.started_at_ms : 0;
    kept->row.completed_at_ms = run->has_task ? pw_run_time(core, run) : at_ms;
    return true;
}

/* The old run is replaced, whatever its state: its family is reached if it was open, its outcome is recorded, and
 * the steps to keep are noted.  Then the instance begins its next run. */
pawl_status pw_rule_restart(struct pw_core *core, struct pw_op_restart *op)
{
    struct pw_core_run *run = pw_find_run(core, op->instance);
    if (run == NULL || !run->is_known || run->instance_run != op->run)
        return pw_rule_moved(core);
    pawl_status status = run->has_task ? pw_rule_reach(core, &op->reach) : PAWL_OK;
    if (status != PAWL_OK)
        return status;
    int64_t at_ms = pw_not_before(core->now_ms, run->updated_at_ms);
    if (!PW_SAVE(core, run) || !keep_outcome(core, run, at_ms) || !keep_steps(core, op))
        return pw_rule_no_memory(core);
    run->instance_run++;
    run->terms = op->terms;
    change_instance(run, PW_OUTCOME_OPEN, at_ms);
    begin_task(core, run, run->instance_run, op->hold_owner, op->hold_lease_ms);
    return tell_of_beginning(core, run, /* is_job= */ false);
}

/* The instance row takes over the times of the task, and the task is deleted (R1). */
struct pw_effect *pw_rule_end_run(struct pw_core *core, struct pw_core_run *run, enum pw_outcome outcome,
                                  int64_t newest_ms)
{
    run->instance_run = run->run;
    change_instance(run, outcome, pw_not_before(pw_run_time(core, run), newest_ms));
    run->started_at_ms = run->task.started_at_ms;
    run->completed_at_ms = run->updated_at_ms;
    run->has_task = false;
    pw_rule_changed(run);
    struct pw_effect *effect = pw_unit_tell(core->unit, PW_EFFECT_ENDED, run->key, run->run);
    if (effect == NULL)
        return NULL;
    effect->as.end.outcome = outcome;
    effect->as.end.started_at_ms = run->started_at_ms;
    effect->as.end.completed_at_ms = run->completed_at_ms;
    return effect;
}

/* The id of an answer is its type, with the number of the run if that is not the first.  So a parent that awaits a
 * restarted child is told again. */
static pawl_status tell_parent(struct pw_core *core, struct pw_op_event *answer, int64_t run)
{
    enum { NUMBER_SIZE = sizeof "#" + 20 };
    size_t size = answer->type.size + NUMBER_SIZE;
    char *id = run > 1 ? pw_arena_take(&core->unit->arena, size)
                       : NULL; /* the op outlives the batch, so the id is in the unit's arena */
    if (run > 1 && id == NULL)
        return pw_rule_no_memory(core);
    answer->id = answer->type;
    if (id != NULL) {
        (void)snprintf(id, size, "%.*s#%lld", (int)answer->type.size, answer->type.data, (long long)run);
        answer->id = pw_text_of(id);
    }
    answer->is_answer = true;
    return pw_rule_event(core, answer);
}

/* A complete end (R11): the run ends, then its jobs and children are reached, then its parent is told. */
pawl_status pw_rule_finish(struct pw_core *core, struct pw_op_finish *op)
{
    struct pw_core_run *run = pw_find_task(core, op->instance);
    if (run == NULL)
        return pw_rule_moved(core);
    if (run->task.demand > op->demand_seen)
        return pw_unit_refuse(core->unit, PW_REFUSED_DEMANDED);
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    struct pw_effect *effect = pw_rule_end_run(core, run, op->outcome, op->newest_ms);
    if (effect == NULL)
        return pw_rule_no_memory(core);
    effect->is_job = op->is_job;
    effect->as.end.error_name = op->error_name;
    effect->as.end.error_message = op->error_message;
    run->output = op->output;
    run->error_name = op->error_name;
    run->error_message = op->error_message;
    pawl_status status = op->reach.parent != 0 ? pw_rule_reach(core, &op->reach) : PAWL_OK;
    if (status != PAWL_OK || op->answer == NULL || op->answer->instance == 0)
        return status;
    return tell_parent(core, op->answer, run->run);
}
