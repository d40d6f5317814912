/* states.c - what the columns of a step say about it, against what its texts say: how it ended, which step it undoes, and whose
 * end it waits for. */
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
