/* edit.c - see edit.h.  A place reserved in the local runner is given back on every way out but the durable one. */
#include "service/edit.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "service/rows.h"

static pawl_status add_fence(struct pw_edit *edit)
{
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_FENCE);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.fence.at = (struct pw_fence){ edit->instance.key, edit->instance.run, edit->instance.task.epoch };
    return PAWL_OK;
}

pawl_status pw_edit_park(struct pw_edit *edit, enum pw_task_status status, enum pw_task_kind kind, int64_t due_at_ms)
{
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_PARK);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.park = (struct pw_op_park){
        .instance = edit->instance.key,
        .status = status,
        .kind = kind,
        .due_at_ms = due_at_ms,
        .event_seq_seen = -1,
    };
    edit->wakes = due_at_ms == PW_NOW;
    return PAWL_OK;
}

pawl_status pw_edit_go_on(struct pw_edit *edit, enum pw_task_kind kind)
{
    int64_t lease_ms = 0;
    int64_t owner = pw_local_reserve(edit->engine, edit->instance.workflow, &lease_ms);
    if (owner == 0)
        return pw_edit_park(edit, PW_TASK_ACTIVE, kind, PW_NOW);
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_HOLD);
    if (op == NULL) {
        pw_local_cancel(edit->engine);
        return PAWL_NOMEM;
    }
    op->as.hold = (struct pw_op_hold){ .instance = edit->instance.key, .owner = owner, .lease_ms = lease_ms };
    edit->held = op;
    return PAWL_OK;
}

pawl_status pw_edit_log(struct pw_edit *edit, struct pw_text message, struct pw_text data)
{
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_LOG);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.log.instance = edit->instance.key;
    op->as.log.run = edit->instance.run;
    op->as.log.row = (struct pw_log_row){
        .level = PAWL_LOG_INFO,
        .category = pw_text_of("system"),
        .message = message,
        .data = data,
    };
    return PAWL_OK;
}

struct pw_claim pw_edit_first_claim(struct pw_fence fence, struct pw_text workflow, struct pw_text id)
{
    return (struct pw_claim){ .fence = fence, .workflow = workflow, .id = id, .kind = PW_TASK_RUN, .is_first = true };
}

pawl_status pw_edit_report(struct pawl_error *error, pawl_status status, const struct pawl_error *inner)
{
    if (inner->text[0] == '\0')
        return pw_error_plain(error, status);
    return pw_error(error, status, "%s", inner->text);
}

static pawl_status commit(pawl_engine *engine, struct pw_unit *unit, struct pawl_error *error)
{
    pawl_status status = pw_engine_run(engine, unit);
    return status == PAWL_OK ? PAWL_OK : pw_edit_report(error, status, &unit->error);
}

static struct pw_claim claim_of(const struct pw_edit *edit)
{
    const struct pw_instance *instance = &edit->instance;
    struct pw_fence fence = { .instance = instance->key, .run = instance->run + 1, .epoch = 1 };
    struct pw_claim claim = edit->held->kind == PW_OP_HOLD
                                ? edit->held->as.hold.claim
                                : pw_edit_first_claim(fence, instance->workflow, instance->id);
    claim.link = instance->link; /* which never changes */
    return claim;
}

/* Revoking comes before delivering: it is the old run's turn that must see itself cancelled, not the new one's. */
static void follow_up(const struct pw_edit *edit)
{
    if (edit->revokes)
        pw_engine_revoke(edit->engine, edit->instance.key, edit->instance.run);
    if (edit->held != NULL) {
        struct pw_claim claim = claim_of(edit);
        claim.leased_from_ms = edit->unit->begun_ms;
        pw_local_deliver(edit->engine, &claim);
    } else if (edit->wakes) {
        pw_local_wake(edit->engine, PW_NOW);
    }
}

/* One go at an edit. */
struct round {
    struct pw_arena arena;
    struct pw_unit unit;
    struct pw_edit edit;
    struct pawl_error error;
};

static void round_init(struct round *round, pawl_engine *engine)
{
    pw_arena_init(&round->arena);
    pw_unit_init(&round->unit);
    round->edit = (struct pw_edit){ .engine = engine, .arena = &round->arena, .unit = &round->unit };
    round->error = (struct pawl_error){ PAWL_OK, "" };
}

static void round_clear(struct round *round)
{
    pw_unit_clear(&round->unit);
    pw_arena_clear(&round->arena);
}

/* Reads and decides.  *out_commits: there is something to commit. */
static pawl_status round_begin(struct round *round, struct pw_text workflow, struct pw_text id, pw_edit_fn *decide,
                               void *user, bool *out_commits)
{
    struct pw_edit *edit = &round->edit;
    pw_unit_about(edit->unit, id);
    edit->now_ms = pawl_now_ms(edit->engine);
    pawl_status status = pw_rows_read(edit->engine, edit->arena, workflow, id, &edit->instance, &round->error);
    if (status != PAWL_OK)
        return status;
    /* Without a task there is nothing to fence: the run has finished, and only a restart, which checks the run by
     * itself, can change that. */
    if (edit->instance.has_task)
        status = add_fence(edit);
    const struct pw_op *fence = edit->unit->last;
    if (status == PAWL_OK)
        status = decide(edit, user, &round->error);
    *out_commits = status == PAWL_OK && edit->unit->last != fence;
    return status;
}

/* What follows from how it went.  PAWL_CONFLICT: it is to be decided again. */
static pawl_status round_end(struct round *round, pawl_status status)
{
    if (status == PAWL_OK)
        follow_up(&round->edit);
    else if (round->edit.held != NULL)
        pw_local_cancel(round->edit.engine);
    if (round->unit.refusal == PW_REFUSED_NEW_EVENTS) /* or a demand: the decision does not know about it */
        status = PAWL_CONFLICT;
    round_clear(round);
    return status;
}

static pawl_status report_busy(struct pw_text workflow, struct pw_text id, struct pawl_error *error)
{
    return pw_error(error, PAWL_BUSY, "instance \"%.*s\" of workflow \"%.*s\" kept changing, %d times; try again",
                    (int)id.size, id.data, (int)workflow.size, workflow.data, PW_CONFLICT_RETRIES_MAX);
}

pawl_status pw_edit_run(pawl_engine *engine, struct pw_text workflow, struct pw_text id, pw_edit_fn *decide, void *user,
                        struct pawl_error *error)
{
    for (int tried = 0; tried < PW_CONFLICT_RETRIES_MAX; tried++) {
        struct round round;
        bool commits = false;
        round_init(&round, engine);
        pawl_status status = round_begin(&round, workflow, id, decide, user, &commits);
        if (commits)
            status = commit(engine, &round.unit, &round.error);
        status = round_end(&round, status);
        if (status == PAWL_OK)
            return PAWL_OK;
        if (status != PAWL_CONFLICT)
            return pw_edit_report(error, status, &round.error);
    }
    return report_busy(workflow, id, error);
}

/* ---- Without waiting ----------------------------------------------------------------------------------------- */

/* An edit under way.  Freed before it is answered: the answer may be what lets go of all that it borrows. */
struct call {
    pawl_engine *engine;
    struct pw_text workflow, id;
    pw_edit_fn *decide;
    void *decide_user;
    struct pawl_error *error;
    pawl_answered_fn *answered;
    void *user;
    int tried;
    struct round round;
    struct pw_chore chore; /* the next round */
};

static void call_answer(struct call *call, pawl_status status)
{
    pawl_answered_fn *answered = call->answered;
    void *user = call->user;
    free(call);
    answered(user, status);
}

/* True: the round was refused by a conflict, and another one may begin. */
static bool call_end_round(struct call *call, pawl_status status)
{
    status = round_end(&call->round, status);
    if (status == PAWL_CONFLICT && ++call->tried < PW_CONFLICT_RETRIES_MAX)
        return true;
    if (status == PAWL_CONFLICT)
        status = report_busy(call->workflow, call->id, call->error);
    else if (status != PAWL_OK)
        status = pw_edit_report(call->error, status, &call->round.error);
    call_answer(call, status);
    return false;
}

static void call_committed(struct pw_unit *unit, void *user);

/* A round reads, so none begins in the callback that ended the one before. */
static void call_go(void *user)
{
    struct call *call = user;
    bool commits = false;
    pawl_status status;
    do {
        round_init(&call->round, call->engine);
        status = round_begin(&call->round, call->workflow, call->id, call->decide, call->decide_user, &commits);
        if (commits) {
            call->round.unit.done = call_committed;
            call->round.unit.user = call;
            pw_engine_send(call->engine, &call->round.unit);
            return;
        }
    } while (call_end_round(call, status));
}

static void call_committed(struct pw_unit *unit, void *user)
{
    struct call *call = user;
    pawl_status status = unit->status;
    call->round.error = unit->error;
    if (call_end_round(call, status))
        pw_commit_later(call->engine->commit, &call->chore);
}

void pw_edit_start(pawl_engine *engine, struct pw_text workflow, struct pw_text id, pw_edit_fn *decide,
                   void *decide_user, struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct call *call = malloc(sizeof *call);
    if (call == NULL) {
        answered(user, pw_error_plain(error, PAWL_NOMEM));
        return;
    }
    *call = (struct call){ .engine = engine, .workflow = workflow, .id = id, .decide = decide };
    call->decide_user = decide_user;
    call->error = error;
    call->answered = answered;
    call->user = user;
    call->chore = (struct pw_chore){ .run = call_go, .user = call };
    pw_commit_later(engine->commit, &call->chore);
}
