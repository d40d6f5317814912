/* deferred.c - completes a deferred by its token.
 *
 * A token is "<workflow>.<id>.<run>.<step number>.<secret>".  The secret is in the step's row, in the type of the
 * event that the step waits for.  A completion is that event, with an id that a run can have only once.  So the
 * first completion wins, even if others come at the same instant, and it may come before the run waits. */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "service/answers.h"
#include "service/check.h"
#include "service/edit.h"
#include "service/rows.h"
#include "service/service.h"
#include "service/token.h"

const char *pw_deferred_token(struct pw_arena *arena, struct pw_text workflow, struct pw_text id, int64_t run,
                              int64_t seq, struct pw_text type)
{
    enum { NUMBERS_SIZE = 2 * 20 + sizeof "...." };
    const char *secret = type.data + strlen(PW_DEFERRED_TYPE);
    size_t size = workflow.size + id.size + strlen(secret) + NUMBERS_SIZE;
    char *token = pw_arena_take(arena, size);
    if (token != NULL)
        (void)snprintf(token, size, "%.*s.%.*s.%lld.%lld.%s", (int)workflow.size, workflow.data, (int)id.size, id.data,
                       (long long)run, (long long)seq, secret);
    return token;
}

struct token {
    char workflow[PW_WORKFLOW_NAME_MAX + 1], id[PW_INSTANCE_ID_MAX + 1];
    int64_t run, seq;
    struct pw_text secret;
};

static bool copy_part(struct pw_text part, char *to, size_t size, bool underscore_first)
{
    if (!pw_text_is_identifier(part, size - 1, underscore_first))
        return false;
    memcpy(to, part.data, part.size);
    to[part.size] = '\0';
    return true;
}

static bool read_token(const char *text, struct token *token)
{
    struct pw_text workflow, id;
    const char *at = text;
    if (text == NULL || !pw_token_part(&at, &workflow) || !pw_token_part(&at, &id) ||
        !pw_token_part_number(&at, &token->run) || !pw_token_part_number(&at, &token->seq))
        return false;
    token->secret = pw_text_of(at);
    return copy_part(workflow, token->workflow, sizeof token->workflow, false) &&
           copy_part(id, token->id, sizeof token->id, true);
}

/* A completion in progress. */
struct completion {
    struct pw_edit edit;
    struct token token;
    struct pawl_outcome outcome;
    bool was_held;       /* a turn was running and may have ended the step before the event was recorded */
    bool looks_first;    /* the event is in the store: check whether it is this one, and whether it was in time */
    bool is_paused;      /* at the last read the run was paused or asked to pause */
    bool *out_is_paused; /* or NULL */
};

/* The same error in all cases, so that guessing reveals nothing. */
static pawl_status refuse_token(struct pawl_error *error)
{
    return pw_error(error, PAWL_INVALID_TOKEN, "this is not the token of a deferred whose run is under way");
}

/* ---- What to record -------------------------------------------------------------------------------------------- */

/* Makes the event of this completion. */
static pawl_status make_event(struct completion *completion, const struct pw_step_row *step, struct pw_op_event *event)
{
    const struct pawl_outcome *outcome = &completion->outcome;
    struct pw_arena *arena = &completion->edit.request.unit.arena;
    char *id = pw_arena_take(arena, strlen(PW_DEFERRED_TYPE) + step->name.size + 1);
    if (id == NULL)
        return PAWL_NOMEM;
    memcpy(id, PW_DEFERRED_TYPE, strlen(PW_DEFERRED_TYPE));
    memcpy(id + strlen(PW_DEFERRED_TYPE), step->name.data, step->name.size + 1);
    *event = (struct pw_op_event){ .instance = completion->edit.instance.key,
                                   .run = completion->token.run,
                                   .id = pw_text_of(id),
                                   .type = step->wait_event_type,
                                   .payload = pw_text_of(outcome->result_json),
                                   .is_failure = outcome->error_name != NULL };
    if (!event->is_failure)
        return PAWL_OK;
    return pw_answer_failure(arena, pw_text_of(outcome->error_name), pw_text_of(outcome->error_message),
                             /* may_retry= */ false, &event->payload);
}

/* Finds the step's row, if the token belongs to it. */
static pawl_status find_step(const pawl_engine *engine, struct pw_arena *arena, int64_t instance,
                             const struct token *token, struct pw_step_row *out_step, struct pawl_error *error)
{
    struct pw_history_query query = { .instance = instance, .run = token->run, .after_seq = token->seq - 1, .max = 1 };
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    PAWL_TRY(pw_read_steps(engine->store, arena, &query, &rows, &count, error));
    if (count == 0 || rows->seq != token->seq || rows->kind != PAWL_STEP_DEFERRED ||
        !pw_text_begins_with(rows->wait_event_type, PW_DEFERRED_TYPE))
        return refuse_token(error);
    const size_t prefix = strlen(PW_DEFERRED_TYPE);
    struct pw_text secret = { rows->wait_event_type.data + prefix, rows->wait_event_type.size - prefix };
    if (!pw_token_is_secret(token->secret, secret))
        return refuse_token(error);
    *out_step = *rows;
    return PAWL_OK;
}

bool pawl_deferred_is_token(const char *token, struct pawl_error *error)
{
    struct token parts;
    if (read_token(token, &parts))
        return true;
    (void)refuse_token(error);
    return false;
}

pawl_status pawl_deferred_check(pawl_engine *engine, const char *token, struct pawl_error *error)
{
    struct token parts;
    struct pw_step_row step;
    if (engine == NULL || token == NULL)
        return pw_error(error, PAWL_INVALID, "%s is missing (NULL)", engine == NULL ? "engine" : "token");
    if (!read_token(token, &parts))
        return refuse_token(error);
    struct pw_arena arena = { 0 };
    struct pw_instance instance;
    pawl_status status =
        pw_rows_read(engine, &arena, pw_text_of(parts.workflow), pw_text_of(parts.id), &instance, error);
    if (status == PAWL_OK)
        status = find_step(engine, &arena, instance.key, &parts, &step, error);
    pw_arena_clear(&arena);
    return status == PAWL_INSTANCE_NOT_FOUND ? refuse_token(error) : status;
}

static bool is_same(const struct pw_event_row *row, const struct pw_op_event *event)
{
    return pw_text_equal(row->type, event->type) && row->is_failure == event->is_failure &&
           pw_text_equal(row->payload, event->payload);
}

/* The deferred was completed before.  PAWL_OK if that was this same completion. */
static pawl_status judge(struct pw_edit *edit, const struct pw_step_row *step, const struct pw_op_event *event,
                         bool is_over, struct pawl_error *error)
{
    struct pw_event_row recorded;
    bool found;
    struct pw_store *store = edit->request.engine->store;
    PAWL_TRY(pw_read_event(store, &edit->request.unit.arena, edit->instance.key, event->run, event->id, &recorded,
                           &found, error));
    /* A completion that came before its branch lost was acknowledged, and that stays true. */
    bool has_failed = pw_step_state(step) == PAWL_STATE_FAILED;
    bool is_late = found && has_failed && recorded.consumed_by.size == 0;
    if (found && !is_late && is_same(&recorded, event))
        return PAWL_OK;
    if (is_over)
        return refuse_token(error);
    bool is_kept = !found && step->status == PAWL_STEP_COMPLETED; /* a repair kept the step, without its event */
    if (is_kept && !event->is_failure && pw_text_equal(step->result, event->payload))
        return PAWL_OK;
    if ((found && !is_late) || is_kept)
        return pw_error(error, PAWL_DEFERRED_COMPLETED, "deferred \"%s\" was completed before, in another way",
                        step->name.data);
    return pw_error(error, PAWL_INVALID_TOKEN, "deferred \"%s\" ended before it was completed: %s", step->name.data,
                    step->error_name.data != NULL ? step->error_name.data : "nobody waits for it");
}

static pawl_status decide_completion(struct pw_edit *edit, struct pawl_error *error)
{
    struct completion *completion = (struct completion *)edit;
    struct pw_unit *unit = &edit->request.unit;
    const struct pw_task *task = &edit->instance.task;
    bool is_over = !edit->instance.has_task || edit->instance.run != completion->token.run;
    struct pw_step_row step = { 0 };
    struct pw_op_event event;
    completion->is_paused = !is_over && (task->status == PW_TASK_PAUSED || task->pause_requested);
    PAWL_TRY(find_step(edit->request.engine, &unit->arena, edit->instance.key, &completion->token, &step, error));
    PAWL_TRY(make_event(completion, &step, &event));
    if (is_over || completion->looks_first || step.status != PAWL_STEP_WAITING)
        return judge(edit, &step, &event, is_over, error);
    struct pw_op *op = pw_unit_add(unit, PW_OP_EVENT);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.event = event;
    completion->was_held = task->processing;
    return task->status == PW_TASK_WAITING ? pw_edit_go_on(edit, PW_TASK_WAKE) : PAWL_OK;
}

/* ---- The calls ------------------------------------------------------------------------------------------------- */

/* True if another completion was first, or may have been: then look which one counts. */
static bool wants_another_look(const struct completion *completion, pawl_status status)
{
    bool is_open = status == PAWL_INSTANCE_ID_ALREADY_EXISTS || (status == PAWL_OK && completion->was_held);
    return is_open && !completion->looks_first;
}

static pawl_status completion_ended(struct pw_edit *edit, pawl_status status)
{
    struct completion *completion = (struct completion *)edit;
    if (wants_another_look(completion, status)) {
        completion->looks_first = edit->request.again = true;
        edit->conflicts = 0;
        return PAWL_OK;
    }
    if (status == PAWL_INSTANCE_NOT_FOUND)
        return refuse_token(&edit->error);
    if (status == PAWL_OK && completion->out_is_paused != NULL)
        *completion->out_is_paused = completion->is_paused;
    return status;
}

static pawl_status completion_begin(struct completion *completion, pawl_engine *engine, const char *token,
                                    const struct pawl_outcome *outcome, struct pawl_error *error)
{
    PAWL_TRY(pw_check_given(engine, "engine", error));
    PAWL_TRY(pw_check_given(token, "token", error));
    if (!read_token(token, &completion->token))
        return refuse_token(error);
    struct pw_text workflow = pw_text_of(completion->token.workflow);
    const struct pw_definition *definition = pw_engine_find(engine, workflow);
    int64_t size_max = definition != NULL ? definition->limits.payload_bytes_max : engine->limits.payload_bytes_max;
    PAWL_TRY(pw_outcome_check(outcome, size_max, error));
    completion->outcome = *outcome;
    pw_edit_init(&completion->edit, workflow, pw_text_of(completion->token.id), decide_completion);
    completion->edit.ended = completion_ended;
    return PAWL_OK;
}

static pawl_status settle(pawl_engine *engine, const char *token, const struct pawl_outcome *outcome,
                          bool *out_is_paused, struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct completion *completion = pw_request_new(sizeof *completion, engine, /* end= */ NULL, error, answered, user);
    if (completion == NULL)
        return PAWL_NOMEM;
    completion->out_is_paused = out_is_paused;
    return pw_request_go(&completion->edit.request, completion_begin(completion, engine, token, outcome, error));
}

pawl_status pawl_deferred_succeed(pawl_engine *engine, const char *token, const char *result_json,
                                  struct pawl_error *error)
{
    const struct pawl_outcome outcome = { .result_json = result_json };
    return settle(engine, token, &outcome, NULL, error, NULL, NULL);
}

pawl_status pawl_deferred_fail(pawl_engine *engine, const char *token, const char *error_name,
                               const char *error_message, struct pawl_error *error)
{
    const struct pawl_outcome outcome = { .error_name = error_name != NULL ? error_name : "",
                                          .error_message = error_message };
    return settle(engine, token, &outcome, NULL, error, NULL, NULL);
}

void pawl_deferred_settle_async(pawl_engine *engine, const char *token, const struct pawl_outcome *outcome,
                                bool *out_is_paused, struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    (void)settle(engine, token, outcome, out_is_paused, error, answered, user);
}
