/* job_settle.c - what a worker outside says of a job that it has claimed: that it still works on it, and how it ended.
 *
 * Each is one unit under the fence of the claim, so what comes too late changes nothing; the end of a job is told to the
 * run that waits for it in the same unit. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "service/answers.h"
#include "service/check.h"
#include "service/edit.h"
#include "service/jobs.h"
#include "service/service.h"

/* A word of a worker's, under way. */
struct word {
    pawl_engine *engine;
    struct pw_arena arena; /* of what was read */
    struct pw_unit unit;
    struct pw_op *renewal;   /* of a heartbeat; NULL: the job ends */
    int64_t leased_until_ms; /* of a heartbeat */
    int64_t *out_leased_until_ms;
    bool *out_is_paused; /* of an end; or NULL */
    struct pawl_error *error;
    pawl_answered_fn *answered; /* NULL: somebody waits */
    void *user;
};

static pawl_status word_init(struct word *word, pawl_engine *engine, const char *token, struct pw_job_lease *out_lease,
                             struct pawl_error *error)
{
    *word = (struct word){ .engine = engine, .error = error };
    pw_unit_init(&word->unit);
    pawl_status status = pw_check_given(engine, "engine", error);
    if (status == PAWL_OK)
        status = pw_check_given(token, "token", error);
    return status == PAWL_OK ? pw_job_find(engine, &word->arena, token, out_lease, error) : status;
}

static void word_clear(struct word *word)
{
    pw_unit_clear(&word->unit);
    pw_arena_clear(&word->arena);
}

/* What the run that waits for the job was told in the same unit says how it stands. */
static void tell_of_pause(const struct word *word)
{
    bool is_paused = false;
    for (const struct pw_op *op = word->unit.first; op != NULL; op = op->next)
        is_paused |= op->kind == PW_OP_EVENT && op->as.event.recorded && op->as.event.is_paused;
    if (word->out_is_paused != NULL)
        *word->out_is_paused = is_paused;
}

/* What the commit said becomes what the worker is told. */
static pawl_status word_end(struct word *word)
{
    pawl_status status = word->unit.status;
    if (status == PAWL_CONFLICT)
        return pw_job_gone(word->error);
    if (status != PAWL_OK)
        return pw_edit_report(word->error, status, &word->unit.error);
    if (word->renewal == NULL) {
        tell_of_pause(word);
        return PAWL_OK;
    }
    if (word->renewal->as.renew.leases[0].lost)
        return pw_job_gone(word->error);
    if (word->out_leased_until_ms != NULL)
        *word->out_leased_until_ms = word->leased_until_ms;
    return PAWL_OK;
}

/* ---- Heartbeats ------------------------------------------------------------------------------------------------ */

static pawl_status add_renewal(struct word *word, const struct pw_job_lease *found, int64_t lease_ms)
{
    struct pw_op *op = pw_unit_add(&word->unit, PW_OP_RENEW);
    struct pw_lease *lease = pw_arena_zero(&word->unit.arena, sizeof *lease);
    if (op == NULL || lease == NULL)
        return PAWL_NOMEM;
    if (lease_ms > found->deadline_ms - found->now_ms)
        lease_ms = found->deadline_ms - found->now_ms;
    lease->fence = found->fence;
    op->as.renew = (struct pw_op_renew){ .owner = PW_OWNER_OUTSIDE, .lease_ms = lease_ms, .leases = lease, .count = 1 };
    word->renewal = op;
    word->leased_until_ms = found->now_ms + lease_ms;
    return PAWL_OK;
}

static pawl_status heartbeat_begin(struct word *word, pawl_engine *engine, const char *token, int64_t lease_ms,
                                   int64_t *out_leased_until_ms, struct pawl_error *error)
{
    struct pw_job_lease found;
    pawl_status status = word_init(word, engine, token, &found, error);
    word->out_leased_until_ms = out_leased_until_ms;
    if (status == PAWL_OK)
        status = pw_job_check_lease(lease_ms, &lease_ms, error);
    if (status == PAWL_OK && add_renewal(word, &found, lease_ms) != PAWL_OK)
        status = pw_error_plain(error, PAWL_NOMEM);
    return status;
}

/* ---- Ends ------------------------------------------------------------------------------------------------------ */

static pawl_status add_end(struct word *word, const struct pw_job_lease *found, const struct pw_outcome_told *told)
{
    const struct pw_instance *row = &found->row;
    struct pw_op *fence = pw_unit_add(&word->unit, PW_OP_FENCE);
    struct pw_op *finish = pw_unit_add(&word->unit, PW_OP_FINISH);
    if (fence == NULL || finish == NULL)
        return pw_error_plain(word->error, PAWL_NOMEM);
    fence->as.fence.at = found->fence;
    finish->as.finish = (struct pw_op_finish){ .instance = row->key,
                                               .outcome = told->outcome,
                                               .output = told->output,
                                               .error_name = told->error_name,
                                               .error_message = told->error_message };
    return pw_service_add_answer(word->engine, &word->unit, &row->link, row->workflow, row->id, told, word->error);
}

static struct pw_outcome_told told_of(const struct pawl_outcome *outcome)
{
    if (outcome->error_name == NULL)
        return (struct pw_outcome_told){ .outcome = PW_OUTCOME_COMPLETE, .output = pw_text_of(outcome->result_json) };
    struct pw_text message = pw_text_of(outcome->error_message != NULL ? outcome->error_message : "");
    return (struct pw_outcome_told){ .outcome = PW_OUTCOME_ERRORED,
                                     .error_name = pw_text_cut(pw_text_of(outcome->error_name), PW_ERROR_NAME_MAX),
                                     .error_message = pw_text_cut(message, PW_ERROR_MESSAGE_MAX),
                                     .may_retry = outcome->may_retry };
}

static pawl_status settle_begin(struct word *word, pawl_engine *engine, const char *token,
                                const struct pawl_outcome *outcome, struct pawl_error *error)
{
    struct pw_job_lease found;
    pawl_status status = word_init(word, engine, token, &found, error);
    if (status == PAWL_OK)
        status = pw_outcome_check(outcome, engine->limits.payload_bytes_max, error);
    if (status != PAWL_OK)
        return status;
    struct pw_outcome_told told = told_of(outcome);
    told.run = found.fence.run;
    return add_end(word, &found, &told);
}

/* ---- The calls ------------------------------------------------------------------------------------------------- */

/* status: how it began. */
static pawl_status word_run(struct word *word, pawl_status status)
{
    if (status == PAWL_OK) {
        (void)pw_engine_run(word->engine, &word->unit);
        status = word_end(word);
    }
    word_clear(word);
    return status;
}

static pawl_status settle(pawl_engine *engine, const char *token, const struct pawl_outcome *outcome,
                          struct pawl_error *error)
{
    struct word word;
    return word_run(&word, settle_begin(&word, engine, token, outcome, error));
}

pawl_status pawl_job_complete(pawl_engine *engine, const char *token, const char *result_json, struct pawl_error *error)
{
    const struct pawl_outcome outcome = { .result_json = result_json };
    return settle(engine, token, &outcome, error);
}

pawl_status pawl_job_fail(pawl_engine *engine, const char *token, const char *error_name, const char *error_message,
                          bool may_retry, struct pawl_error *error)
{
    const struct pawl_outcome outcome = { .error_name = error_name != NULL ? error_name : "",
                                          .error_message = error_message,
                                          .may_retry = may_retry };
    return settle(engine, token, &outcome, error);
}

pawl_status pawl_job_heartbeat(pawl_engine *engine, const char *token, int64_t lease_ms, int64_t *out_leased_until_ms,
                               struct pawl_error *error)
{
    struct word word;
    return word_run(&word, heartbeat_begin(&word, engine, token, lease_ms, out_leased_until_ms, error));
}

/* Freed before it is answered: the answer may be what lets go of all that it borrows. */
static void word_answer(struct word *word, pawl_status status)
{
    pawl_answered_fn *answered = word->answered;
    void *user = word->user;
    word_clear(word);
    free(word);
    answered(user, status);
}

static void word_committed(struct pw_unit *unit, void *user)
{
    (void)unit;
    word_answer(user, word_end(user));
}

/* status: how it began. */
static void word_send(struct word *word, pawl_status status, pawl_answered_fn *answered, void *user)
{
    word->answered = answered;
    word->user = user;
    if (status != PAWL_OK) {
        word_answer(word, status);
        return;
    }
    word->unit.done = word_committed;
    word->unit.user = word;
    pw_engine_send(word->engine, &word->unit);
}

/* NULL: it is answered already. */
static struct word *word_new(struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct word *word = malloc(sizeof *word);
    if (word == NULL)
        answered(user, pw_error_plain(error, PAWL_NOMEM));
    return word;
}

void pawl_job_settle_async(pawl_engine *engine, const char *token, const struct pawl_outcome *outcome,
                           bool *out_is_paused, struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct word *word = word_new(error, answered, user);
    if (word == NULL)
        return;
    pawl_status status = settle_begin(word, engine, token, outcome, error);
    word->out_is_paused = out_is_paused;
    word_send(word, status, answered, user);
}

void pawl_job_heartbeat_async(pawl_engine *engine, const char *token, int64_t lease_ms, int64_t *out_leased_until_ms,
                              struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct word *word = word_new(error, answered, user);
    if (word != NULL)
        word_send(word, heartbeat_begin(word, engine, token, lease_ms, out_leased_until_ms, error), answered, user);
}
