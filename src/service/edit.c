/* edit.c - see edit.h.  A place reserved in the local runner is given back on every path except a durable commit. */
#include "service/edit.h"

#include "base/error.h"
#include "base/limits.h"
#include "service/rows.h"

/* ---- For decide ------------------------------------------------------------------------------------------------ */

pawl_status pw_edit_go_on(struct pw_edit *edit, enum pw_task_kind kind)
{
    struct pw_request *request = &edit->request;
    struct pw_op_hold hold = { .instance = edit->instance.key };
    hold.owner = pw_local_reserve(request->engine, edit->instance.workflow, &hold.lease_ms);
    bool is_held = hold.owner != 0;
    struct pw_op *op = pw_unit_add(&request->unit, is_held ? PW_OP_HOLD : PW_OP_PARK);
    if (op == NULL && is_held)
        pw_local_deliver(request->engine, NULL);
    if (op == NULL)
        return PAWL_NOMEM;
    if (is_held) {
        op->as.hold = hold;
        edit->held = op;
        return PAWL_OK;
    }
    op->as.park = (struct pw_op_park){ .instance = edit->instance.key,
                                       .status = PW_TASK_ACTIVE,
                                       .kind = kind,
                                       .due_at_ms = PW_NOW,
                                       .event_seq_seen = -1 };
    edit->wakes = true;
    return PAWL_OK;
}

pawl_status pw_edit_log(struct pw_edit *edit, struct pw_text message, struct pw_text data)
{
    const struct pw_log_row row = {
        .level = PAWL_LOG_INFO, .category = pw_text_of("system"), .message = message, .data = data
    };
    const struct pw_op op = { .kind = PW_OP_LOG, .as.log = { edit->instance.key, edit->instance.run, row } };
    return pw_unit_copy(&edit->request.unit, &op) ? PAWL_OK : PAWL_NOMEM;
}

struct pw_claim pw_edit_first_claim(struct pw_fence fence, struct pw_text workflow, struct pw_text id)
{
    return (struct pw_claim){ .fence = fence, .workflow = workflow, .id = id, .kind = PW_TASK_RUN, .is_first = true };
}

/* ---- Rounds ---------------------------------------------------------------------------------------------------- */

/* Without a task there is nothing to fence: the run has finished, and only a restart can change it, which checks the
 * run itself. */
static pawl_status read_and_decide(struct pw_edit *edit)
{
    struct pw_unit *unit = &edit->request.unit;
    pw_unit_about(unit, edit->id);
    PAWL_TRY(pw_rows_read(edit->request.engine, &unit->arena, edit->workflow, edit->id, &edit->instance, &edit->error));
    const struct pw_fence at = { edit->instance.key, edit->instance.run, edit->instance.task.epoch };
    const struct pw_op fence = { .kind = PW_OP_FENCE, .as.fence.at = at };
    if (edit->instance.has_task && !pw_unit_copy(unit, &fence))
        return PAWL_NOMEM;
    return edit->decide(edit, &edit->error);
}

/* A decision that ends the edit is reported by edit_end(), so that every round ends there. */
static pawl_status edit_begin(struct pw_request *request)
{
    struct pw_edit *edit = (struct pw_edit *)request;
    struct pw_unit *unit = &request->unit;
    edit->held = NULL;
    edit->wakes = edit->revokes = false;
    edit->error = (struct pawl_error){ PAWL_OK, "" };
    edit->now_ms = pawl_now_ms(request->engine);
    edit->decided = read_and_decide(edit);
    bool is_fence_all = unit->first == unit->last && unit->first != NULL && unit->first->kind == PW_OP_FENCE;
    if (edit->decided != PAWL_OK || is_fence_all)
        unit->first = unit->last = NULL; /* nothing to commit */
    return PAWL_OK;
}

static struct pw_claim claim_of(const struct pw_edit *edit)
{
    const struct pw_instance *instance = &edit->instance;
    struct pw_fence fence = { .instance = instance->key, .run = instance->run + 1, .epoch = 1 };
    struct pw_claim claim = edit->held->kind == PW_OP_HOLD
                                ? edit->held->as.hold.claim
                                : pw_edit_first_claim(fence, instance->workflow, instance->id);
    claim.link = instance->link; /* a link never changes */
    claim.leased_from_ms = edit->request.unit.begun_ms;
    return claim;
}

/* Revokes before it delivers, because the turn of the old run must be cancelled, not that of the new one. */
static void follow_up(const struct pw_edit *edit)
{
    pawl_engine *engine = edit->request.engine;
    if (edit->revokes)
        pw_engine_tell(engine, (struct pw_word){ PW_WORD_REVOKED, edit->instance.key, edit->instance.run, .seq = 0 });
    if (edit->held != NULL) {
        struct pw_claim claim = claim_of(edit);
        pw_local_deliver(engine, &claim);
    } else if (edit->wakes) {
        pw_local_wake(engine, PW_NOW);
    }
}

static pawl_status report_busy(const struct pw_edit *edit)
{
    return pw_error(edit->request.error, PAWL_BUSY,
                    "instance \"%.*s\" of workflow \"%.*s\" kept changing, %d times; try again", (int)edit->id.size,
                    edit->id.data, (int)edit->workflow.size, edit->workflow.data, PW_CONFLICT_RETRIES_MAX);
}

static pawl_status edit_end(struct pw_request *request)
{
    struct pw_edit *edit = (struct pw_edit *)request;
    pawl_status status = edit->decided;
    if (status == PAWL_OK && request->unit.status != PAWL_OK) {
        status = request->unit.status;
        edit->error = request->unit.error;
    }
    if (status == PAWL_OK)
        follow_up(edit);
    else if (edit->held != NULL)
        pw_local_deliver(request->engine, NULL);
    if (request->unit.refusal == PW_REFUSED_NEW_EVENTS) /* an event or a demand that the decision does not know of */
        status = PAWL_CONFLICT;
    request->again = status == PAWL_CONFLICT && ++edit->conflicts < PW_CONFLICT_RETRIES_MAX;
    if (request->again)
        return PAWL_OK;
    if (status == PAWL_CONFLICT)
        return report_busy(edit);
    if (edit->ended != NULL)
        status = edit->ended(edit, status);
    return status == PAWL_OK || request->again ? status : pw_report(request->error, status, &edit->error);
}

void pw_edit_init(struct pw_edit *edit, struct pw_text workflow, struct pw_text id, pw_edit_fn *decide)
{
    edit->request.begin = edit_begin;
    edit->request.end = edit_end;
    edit->workflow = workflow;
    edit->id = id;
    edit->decide = decide;
}
