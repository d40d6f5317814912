/* states.c - what the columns of a step say about it, against what its texts and its program say: how it ended, which step it
 * undoes, whose end it waits for, and in which branch it stands. */
#include <stdio.h>

#include "fail.h"
#include "model.h"

static enum pawl_step_state state_of(const struct pw_step_row *row)
{
    bool is_dropped = pw_text_equal(row->error_name, pw_text_of("STEP_ABANDONED"));
    bool by_demand = pw_text_equal(row->error_message, pw_text_of("the run was interrupted while its job was out"));
    return row->status == PAWL_STEP_WAITING     ? PAWL_STATE_WAITING
           : row->status == PAWL_STEP_COMPLETED ? PAWL_STATE_COMPLETED
           : !is_dropped                        ? PAWL_STATE_FAILED
           : by_demand                          ? PAWL_STATE_GIVEN_UP
                                                : PAWL_STATE_ABANDONED;
}

/* "$workflow/id" is the type of the event that tells of the instance's end. */
static bool is_type_of_awaited(const struct pw_step_row *row)
{
    char type[3 * SIM_TEXT_MAX];
    if (row->awaited_id.data == NULL || row->awaited_workflow.data == NULL)
        return row->awaited_id.data == row->awaited_workflow.data && row->wait_event_type.data == NULL;
    (void)snprintf(type, sizeof type, "$%s/%s", row->awaited_workflow.data, row->awaited_id.data);
    return pw_text_equal(row->wait_event_type, pw_text_of(type));
}

/* The node that it is a child of, and which of its children; SIM_NONE: it is the whole. */
static int parent_of(const struct sim_program *program, int node, int *out_position)
{
    for (int parent = 0; parent < program->count; parent++) {
        *out_position = 0;
        for (int child = program->nodes[parent].first_child; child != SIM_NONE;
             child = program->nodes[child].next_sibling, ++*out_position) {
            if (child == node)
                return parent;
        }
    }
    return SIM_NONE;
}

static bool is_fork(const struct sim_node *node)
{
    return node->kind == SIM_ALL || node->kind == SIM_FIRST;
}

void sim_check_place(const struct sim_program *program, const struct pw_step_row *row)
{
    int node = sim_node_of(row->name), branch = 0, fork = SIM_NONE;
    char name[SIM_NAME_SIZE] = "";
    if (!sim_is_undo(node)) {
        fork = parent_of(program, sim_node_at(node), &branch);
        while (fork != SIM_NONE && !is_fork(&program->nodes[fork]))
            fork = parent_of(program, fork, &branch);
    }
    enum pawl_fork_kind kind = fork == SIM_NONE                         ? PAWL_FORK_NONE
                               : program->nodes[fork].kind == SIM_FIRST ? PAWL_FORK_FIRST
                                                                        : PAWL_FORK_ALL;
    if (fork != SIM_NONE)
        (void)sim_name_of(fork, name);
    SIM_CHECK(SIM_RULE_STATE,
              pw_text_equal(row->place.fork, pw_text_of(name)) && row->place.kind == kind && row->place.order > 0 &&
                  row->place.branch == (fork != SIM_NONE ? branch : 0),
              "%s is in branch %lld of %s", row->name.data, (long long)row->place.branch,
              row->place.fork.data != NULL ? row->place.fork.data : "none");
}

void sim_check_state(const struct pw_step_row *row)
{
    int node = sim_node_of(row->name);
    char undone[SIM_NAME_SIZE] = "";
    if (sim_is_undo(node))
        (void)sim_name_of(sim_node_at(node), undone);
    bool awaits = row->kind == PAWL_STEP_CALL || row->kind == PAWL_STEP_CHILD;
    SIM_CHECK(SIM_RULE_STATE, row->state == state_of(row), "%s is %s, and its error %s", row->name.data,
              pawl_step_state_name(row->state), row->error_name.data != NULL ? row->error_name.data : "none");
    SIM_CHECK(SIM_RULE_STATE, pw_text_equal(row->undoes, pw_text_of(undone)), "%s undoes %s", row->name.data,
              row->undoes.data != NULL ? row->undoes.data : "nothing");
    SIM_CHECK(SIM_RULE_STATE, awaits ? is_type_of_awaited(row) : row->awaited_id.data == NULL,
              "%s waits for another instance than %s", row->name.data, row->wait_event_type.data);
}
