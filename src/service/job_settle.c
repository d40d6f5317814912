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
    struct pw_op *renewal;            /* of a heartbeat; NULL: the job ends */
    const struct pw_op_event *answer; /* of an end; or NULL */
    int64_t leased_until_ms;          /* of a heartbeat */
    int64_t *out_leased_until_ms;
    bool *out_is_paused; /* of an end; or NULL */
    struct pawl_error *error;
    pawl_answered_fn *answered; /* NULL: somebody waits */
    void *user;

    /* What the worker says. */
    const char *token;
    bool is_heartbeat;
    int64_t lease_ms;            /* of a heartbeat */
    bool has_outcome;            /* of an end: it was given */
    struct pawl_outcome outcome; /* of an end */
    struct pw_chore chore;       /* the reading of the job, and what follows */
};

static void word_init(struct word *word, pawl_engine *engine, const char *token, struct pawl_error *error)
{
    *word = (struct word){ .engine = engine, .token = token, .error = error };
    pw_unit_init(&word->unit);
}

static pawl_status find_job(struct word *word, struct pw_job_lease *out_lease)
{
    pawl_status status = pw_check_given(word->engine, "engine", word->error);
    if (status == PAWL_OK)
        status = pw_check_given(word->token, "token", word->error);
    if (status == PAWL_OK)
        status = pw_job_find(word->engine, &word->arena, word->token, out_lease, word->error);
    return status;
}

static void word_clear(struct word *word)
{
    pw_unit_clear(&word->unit);
    pw_arena_clear(&word->arena);
}

/* What the run that waits for the job was told in the same unit says how it stands. */
static void tell_of_pause(const struct word *word)
{
    const struct pw_op_event *answer = word->answer;
    if (word->out_is_paused != NULL)
        *word->out_is_paused = answer != NULL && answer->recorded &&
                               (answer->task.status == PW_TASK_PAUSED || answer->task.pause_requested);
}

/* What the commit said becomes what the worker is told. */
static pawl_status word_end(struct word *word)
{
    pawl_status status = word->unit.status;
    pw_local_settle_event(word->engine, &word->unit, word->answer);
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
    op->as.renew =
        (struct pw_op_renew){ .owner = found->row.task.owner, .lease_ms = lease_ms, .leases = lease, .count = 1 };
    word->renewal = op;
    word->leased_until_ms = found->now_ms + lease_ms;
    return PAWL_OK;
}

static void heartbeat_init(struct word *word, pawl_engine *engine, const char *token, int64_t lease_ms,
                           int64_t *out_leased_until_ms, struct pawl_error *error)
{
    word_init(word, engine, token, error);
    word->is_heartbeat = true;
    word->lease_ms = lease_ms;
    word->out_leased_until_ms = out_leased_until_ms;
}

static pawl_status heartbeat_begin(struct word *word)
{
    struct pw_job_lease found;
    int64_t lease_ms = 0;
    pawl_status status = find_job(word, &found);
    if (status == PAWL_OK)
        status = pw_job_check_lease(word->lease_ms, &lease_ms, word->error);
    if (status == PAWL_OK && add_renewal(word, &found, lease_ms) != PAWL_OK)
        status = pw_error_plain(word->error, PAWL_NOMEM);
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
    pw_unit_about(&word->unit, row->id);
    fence->as.fence.at = found->fence;
    finish->as.finish = (struct pw_op_finish){ .instance = row->key,
                                               .is_job = true,
                                               .outcome = told->outcome,
                                               .output = told->output,
                                               .error_name = told->error_name,
                                               .error_message = told->error_message };
    pawl_status status = pw_service_answer(word->engine, &word->unit.arena, &row->link, row->workflow, row->id, told,
                                           &finish->as.finish.answer);
    if (status != PAWL_OK)
        return pw_error_plain(word->error, status);
    word->answer = finish->as.finish.answer;
    return PAWL_OK;
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

static void settle_init(struct word *word, pawl_engine *engine, const char *token, const struct pawl_outcome *outcome,
                        struct pawl_error *error)
{
    word_init(word, engine, token, error);
    word->has_outcome = outcome != NULL;
    if (outcome != NULL)
        word->outcome = *outcome;
}

static pawl_status settle_begin(struct word *word)
{
    struct pw_job_lease found;
    const struct pawl_outcome *outcome = word->has_outcome ? &word->outcome : NULL;
    pawl_status status = find_job(word, &found);
    if (status == PAWL_OK)
        status = pw_outcome_check(outcome, word->engine->limits.payload_bytes_max, word->error);
    if (status != PAWL_OK)
        return status;
    struct pw_outcome_told told = told_of(outcome);
    return add_end(word, &found, &told);
}

/* ---- The calls ------------------------------------------------------------------------------------------------- */

static pawl_status word_begin(struct word *word)
{
    return word->is_heartbeat ? heartbeat_begin(word) : settle_begin(word);
}

static pawl_status word_run(struct word *word)
{
    pawl_status status = word_begin(word);
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
    settle_init(&word, engine, token, outcome, error);
    return word_run(&word);
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
    heartbeat_init(&word, engine, token, lease_ms, out_leased_until_ms, error);
    return word_run(&word);
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

static void word_go(void *user)
{
    struct word *word = user;
    pawl_status status = word_begin(word);
    if (status != PAWL_OK) {
        word_answer(word, status);
        return;
    }
    word->unit.done = word_committed;
    word->unit.user = word;
    pw_engine_send(word->engine, &word->unit);
}

static void word_start(struct word *word, pawl_answered_fn *answered, void *user)
{
    word->answered = answered;
    word->user = user;
    word->chore = (struct pw_chore){ .run = word_go, .user = word };
    if (word->engine != NULL)
        pw_commit_later(word->engine->commit, &word->chore);
    else
        word_go(word); /* which says so */
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
    settle_init(word, engine, token, outcome, error);
    word->out_is_paused = out_is_paused;
    word_start(word, answered, user);
}

void pawl_job_heartbeat_async(pawl_engine *engine, const char *token, int64_t lease_ms, int64_t *out_leased_until_ms,
                              struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct word *word = word_new(error, answered, user);
    if (word == NULL)
        return;
    heartbeat_init(word, engine, token, lease_ms, out_leased_until_ms, error);
    word_start(word, answered, user);
}
