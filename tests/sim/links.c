/* links.c - what the end of a run means to its parent, its children and its jobs (invariants 41, 43, 44). */
#include <stdio.h>

#include "fail.h"
#include "model.h"

/* The run has ended with this unit: it left no job, and its attached children know when it was made to end. */
static void check_left(const struct sim_model *model, const struct sim_instance *parent, int64_t run, bool is_cut_off)
{
    for (int i = 0; i < model->instance_count; i++) {
        const struct sim_instance *instance = &model->instances[i];
        const struct pw_link *link = &instance->link;
        if (!instance->task.exists || link->parent != parent->key || link->run != run)
            continue;
        SIM_CHECK(SIM_RULE_JOBS_END, link->relation != PW_RELATION_JOB, "%s has ended, and its job %s has not",
                  parent->id, instance->id);
        SIM_CHECK(SIM_RULE_DEMAND,
                  !is_cut_off || link->relation != PW_RELATION_ATTACHED || instance->task.demand != PW_DEMAND_NONE,
                  "%s was cut off, and its child %s goes on", parent->id, instance->id);
    }
}

static void check_told(const struct pw_op_finish *op, const struct sim_instance *instance)
{
    char type[SIM_TEXT_MAX];
    (void)snprintf(type, sizeof type, "$%.50s/%.50s", instance->workflow, instance->id);
    SIM_CHECK(SIM_RULE_ANSWERED,
              op->answer != NULL && op->answer->instance == instance->link.parent &&
                  op->answer->is_failure == (instance->outcome != PW_OUTCOME_COMPLETE) &&
                  pw_text_equal(op->answer->type, pw_text_of(type)),
              "the parent of %s is not told of its end", instance->id);
}

const struct pw_op_finish *sim_finish_of(const struct pw_op *op)
{
    if (op->kind == PW_OP_FINISH)
        return &op->as.finish;
    return op->kind == PW_OP_CONTROL && op->as.control.what == PAWL_CONTROL_TERMINATE ? &op->as.control.finish : NULL;
}

void sim_check_links(struct sim_model *model, const struct pw_unit *unit)
{
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind == PW_OP_RESTART) {
            const struct sim_instance *instance = sim_model_by_key(model, op->as.restart.instance);
            bool was_open = instance->runs[op->as.restart.run - 1].outcome == PW_OUTCOME_OPEN;
            check_left(model, instance, op->as.restart.run, was_open);
        }
        const struct pw_op_finish *finish = sim_finish_of(op);
        if (finish == NULL)
            continue;
        const struct sim_instance *instance = sim_model_by_key(model, finish->instance);
        if (instance->link.relation != PW_RELATION_NONE)
            check_told(finish, instance);
        bool is_cut_off = instance->outcome == PW_OUTCOME_TERMINATED || instance->task.demand != PW_DEMAND_NONE;
        check_left(model, instance, instance->run, is_cut_off);
    }
}
