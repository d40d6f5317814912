/* job_settle.c - what an external worker says about a job that it has claimed: that it is still working, and how the
 * job ended.
 *
 * Each message is one unit under the fence of the claim, so a late one changes nothing.  The end of a job is told to
 * the run that waits for it in the same unit. */
#include "base/error.h"
#include "base/limits.h"
#include "service/answers.h"
#include "service/check.h"
#include "service/jobs.h"
#include "service/request.h"
#include "service/service.h"

/* A worker's message in progress: a heartbeat, or the end of the job. */
struct word {
    struct pw_request request;
    struct pw_op *renewal;            /* heartbeat: the renewal; NULL: the job ends */
    const struct pw_op_event *answer; /* end: the answer to the parent, or NULL */
    int64_t leased_until_ms;          /* heartbeat */
    int64_t *out_leased_until_ms;
    bool *out_is_paused; /* end: or NULL */

    /* What the worker says. */
    const char *token;
    int64_t lease_ms;            /* heartbeat */
    bool has_outcome;            /* end: the caller gave an outcome */
    struct pawl_outcome outcome; /* end */
};

/* Reads the job that the token names. */
static pawl_status find_job(struct word *word, struct pw_job_lease *out_lease)
{
    struct pw_request *request = &word->request;
    PAWL_TRY(pw_check_given(word->token, "token", request->error));
    return pw_job_find(request->engine, &request->unit.arena, word->token, out_lease, request->error);
}

/* Reports whether the waiting run is paused, as the answer recorded in the same unit shows. */
static void tell_of_pause(const struct word *word)
{
    const struct pw_op_event *answer = word->answer;
    if (word->out_is_paused != NULL)
        *word->out_is_paused = answer != NULL && answer->recorded &&
                               (answer->task.status == PW_TASK_PAUSED || answer->task.pause_requested);
}

/* The end of the request: turns the result of the commit into the worker's answer. */
static pawl_status word_end(struct pw_request *request)
{
    struct word *word = (struct word *)request;
    pw_local_settle_event(request->engine, &request->unit, word->answer);
    if (request->unit.status == PAWL_CONFLICT)
        return pw_job_gone(request->error);
    if (request->unit.status != PAWL_OK)
        return pw_request_report(request);
    if (word->renewal == NULL) {
        tell_of_pause(word);
        return PAWL_OK;
    }
    if (word->renewal->as.renew.leases[0].lost)
        return pw_job_gone(request->error);
    if (word->out_leased_until_ms != NULL)
        *word->out_leased_until_ms = word->leased_until_ms;
    return PAWL_OK;
}

/* ---- Heartbeats ------------------------------------------------------------------------------------------------ */

static pawl_status add_renewal(struct word *word, const struct pw_job_lease *found, int64_t lease_ms)
{
    struct pw_unit *unit = &word->request.unit;
    struct pw_op *op = pw_unit_add(unit, PW_OP_RENEW);
    struct pw_lease *lease = pw_arena_zero(&unit->arena, sizeof *lease);
    if (op == NULL || lease == NULL)
        return pw_error_plain(word->request.error, PAWL_NOMEM);
    if (lease_ms > found->deadline_ms - found->now_ms)
        lease_ms = found->deadline_ms - found->now_ms;
    lease->fence = found->fence;
    op->as.renew =
        (struct pw_op_renew){ .owner = found->row.task.owner, .lease_ms = lease_ms, .leases = lease, .count = 1 };
    word->renewal = op;
    word->leased_until_ms = found->now_ms + lease_ms;
    return PAWL_OK;
}

static pawl_status heartbeat_begin(struct pw_request *request)
{
    struct word *word = (struct word *)request;
    struct pw_job_lease found;
    int64_t lease_ms = 0;
    PAWL_TRY(find_job(word, &found));
    PAWL_TRY(pw_job_check_lease(word->lease_ms, &lease_ms, request->error));
    return add_renewal(word, &found, lease_ms);
}

/* ---- Ends ------------------------------------------------------------------------------------------------------ */

static pawl_status add_end(struct word *word, const struct pw_job_lease *found, const struct pw_outcome_told *told)
{
    const struct pw_instance *row = &found->row;
    struct pw_unit *unit = &word->request.unit;
    struct pw_op *fence = pw_unit_add(unit, PW_OP_FENCE);
    struct pw_op *finish = pw_unit_add(unit, PW_OP_FINISH);
    if (fence == NULL || finish == NULL)
        return pw_error_plain(word->request.error, PAWL_NOMEM);
    pw_unit_about(unit, row->id);
    fence->as.fence.at = found->fence;
    finish->as.finish = (struct pw_op_finish){ .instance = row->key,
                                               .is_job = true,
                                               .outcome = told->outcome,
                                               .output = told->output,
                                               .error_name = told->error_name,
                                               .error_message = told->error_message };
    pawl_status status = pw_service_answer(word->request.engine, &unit->arena, &row->link, row->workflow, row->id, told,
                                           &finish->as.finish.answer);
    word->answer = finish->as.finish.answer;
    return status == PAWL_OK ? PAWL_OK : pw_error_plain(word->request.error, status);
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

static pawl_status settle_begin(struct pw_request *request)
{
    struct word *word = (struct word *)request;
    struct pw_job_lease found;
    const struct pawl_outcome *outcome = word->has_outcome ? &word->outcome : NULL;
    PAWL_TRY(find_job(word, &found));
    PAWL_TRY(pw_outcome_check(outcome, request->engine->limits.payload_bytes_max, request->error));
    struct pw_outcome_told told = told_of(outcome);
    return add_end(word, &found, &told);
}

/* ---- The calls ------------------------------------------------------------------------------------------------- */

static pawl_status settle(pawl_engine *engine, const char *token, const struct pawl_outcome *outcome,
                          bool *out_is_paused, struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct word *word = pw_request_new(sizeof *word, engine, word_end, error, answered, user);
    if (word == NULL)
        return PAWL_NOMEM;
    word->request.begin = settle_begin;
    word->token = token;
    word->has_outcome = outcome != NULL;
    if (outcome != NULL)
        word->outcome = *outcome;
    word->out_is_paused = out_is_paused;
    return pw_request_go(&word->request, pw_check_given(engine, "engine", error));
}

pawl_status pawl_job_complete(pawl_engine *engine, const char *token, const char *result_json, struct pawl_error *error)
{
    const struct pawl_outcome outcome = { .result_json = result_json };
    return settle(engine, token, &outcome, NULL, error, NULL, NULL);
}

pawl_status pawl_job_fail(pawl_engine *engine, const char *token, const char *error_name, const char *error_message,
                          bool may_retry, struct pawl_error *error)
{
    const struct pawl_outcome outcome = { .error_name = error_name != NULL ? error_name : "",
                                          .error_message = error_message,
                                          .may_retry = may_retry };
    return settle(engine, token, &outcome, NULL, error, NULL, NULL);
}

void pawl_job_settle_async(pawl_engine *engine, const char *token, const struct pawl_outcome *outcome,
                           bool *out_is_paused, struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    (void)settle(engine, token, outcome, out_is_paused, error, answered, user);
}

static pawl_status heartbeat(pawl_engine *engine, const char *token, int64_t lease_ms, int64_t *out_leased_until_ms,
                             struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct word *word = pw_request_new(sizeof *word, engine, word_end, error, answered, user);
    if (word == NULL)
        return PAWL_NOMEM;
    word->request.begin = heartbeat_begin;
    word->token = token;
    word->lease_ms = lease_ms;
    word->out_leased_until_ms = out_leased_until_ms;
    return pw_request_go(&word->request, pw_check_given(engine, "engine", error));
}

pawl_status pawl_job_heartbeat(pawl_engine *engine, const char *token, int64_t lease_ms, int64_t *out_leased_until_ms,
                               struct pawl_error *error)
{
    return heartbeat(engine, token, lease_ms, out_leased_until_ms, error, NULL, NULL);
}

void pawl_job_heartbeat_async(pawl_engine *engine, const char *token, int64_t lease_ms, int64_t *out_leased_until_ms,
                              struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    (void)heartbeat(engine, token, lease_ms, out_leased_until_ms, error, answered, user);
}
