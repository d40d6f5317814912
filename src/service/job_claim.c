/* job_claim.c - jobs for a worker outside.
 *
 * A function whose concurrency is limited is claimed by itself, because the store counts what is leased of one workflow;
 * the others are claimed together, the oldest first.  The limited ones come first: they take no more than their limits, so
 * neither keeps the other waiting for ever.  No more jobs are claimed than a page holds, in bytes of their params: it ends behind the
 * one with which that is reached.  What was claimed is then read, all jobs at once and then all their parents; what
 * cannot be given out is left to its lease. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "engine/functions.h"
#include "service/check.h"
#include "service/edit.h"
#include "service/jobs.h"
#include "service/rows.h"
#include "value/value.h"

/* A claim under way. */
struct claiming {
    pawl_engine *engine;
    pawl_scope *scope;
    const struct pawl_job **out_jobs;
    size_t *out_count;
    struct pawl_error *error;
    pawl_answered_fn *answered; /* NULL: somebody waits */
    void *user;

    struct pw_arena arena;
    int64_t lease_ms;
    int64_t owner;                                  /* of this claim alone */
    struct pw_text functions[PW_JOB_FUNCTIONS_MAX]; /* as workflows; the limited ones before the others */
    size_t function_count, limited_count, asked_count;
    size_t limits[PW_JOB_FUNCTIONS_MAX];
    struct pw_unit unit;
    struct pw_op_claim *claim; /* in the unit */
    int64_t keys[PW_JOB_CLAIM_MAX], parents[PW_JOB_CLAIM_MAX];
    int64_t epochs[PW_JOB_CLAIM_MAX];
    size_t max, claimed, bytes;
    pawl_status status;    /* so far */
    struct pw_chore chore; /* what follows a commit */
};

/* ---- What to claim --------------------------------------------------------------------------------------------- */

static bool is_known(const struct claiming *claiming, struct pw_text workflow)
{
    for (size_t i = 0; i < claiming->function_count; i++) {
        if (pw_text_equal(claiming->functions[i], workflow))
            return true;
    }
    return false;
}

/* One that is named twice is claimed once. */
static pawl_status add_function(struct claiming *claiming, const char *function, struct pawl_error *error)
{
    char buffer[PW_JOB_WORKFLOW_SIZE];
    struct pw_text workflow;
    pawl_status status = pw_function_check(function, error);
    if (status != PAWL_OK)
        return status;
    if (!pw_arena_text(&claiming->arena, pw_function_workflow(function, buffer), &workflow))
        return pw_error_plain(error, PAWL_NOMEM);
    if (is_known(claiming, workflow))
        return PAWL_OK;
    size_t at = claiming->function_count++, limit = pw_function_limit(claiming->engine, workflow);
    if (limit > 0) { /* changes places with the first that is not */
        claiming->functions[at] = claiming->functions[claiming->limited_count];
        at = claiming->limited_count++;
        claiming->limits[at] = limit;
    }
    claiming->functions[at] = workflow;
    return PAWL_OK;
}

static pawl_status check_options(struct claiming *claiming, const struct pawl_claim_options *options,
                                 struct pawl_error *error)
{
    if (options->function_count < 1 || options->function_count > PW_JOB_FUNCTIONS_MAX)
        return pw_error(error, PAWL_INVALID, "%zu functions are named; name 1 to %d", options->function_count,
                        PW_JOB_FUNCTIONS_MAX);
    if (options->max < 0 || options->max > PW_JOB_CLAIM_MAX)
        return pw_error(error, PAWL_INVALID, "max %d is out of range; it is 1 to %d, or 0 for 1", (int)options->max,
                        PW_JOB_CLAIM_MAX);
    claiming->max = options->max == 0 ? 1 : (size_t)options->max;
    pawl_status status = pw_check_given(options->functions, "functions", error);
    if (status == PAWL_OK)
        status = pw_job_check_lease(options->lease_ms, &claiming->lease_ms, error);
    for (size_t i = 0; status == PAWL_OK && i < options->function_count; i++)
        status = add_function(claiming, options->functions[i], error);
    return status;
}

static pawl_status claiming_init(struct claiming *claiming, pawl_engine *engine, pawl_scope *scope,
                                 const struct pawl_claim_options *options, const struct pawl_job **out_jobs,
                                 size_t *out_count, struct pawl_error *error)
{
    struct pawl_claim_options known = PAWL_CLAIM_OPTIONS_INIT;
    *claiming = (struct claiming){ .engine = engine, .scope = scope, .error = error };
    claiming->out_jobs = out_jobs;
    claiming->out_count = out_count;
    pawl_status status = pw_check_given(engine, "engine", error);
    if (status == PAWL_OK)
        status = pw_check_given(scope, "scope", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_jobs, "out_jobs", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_count, "out_count", error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status == PAWL_OK)
        status = check_options(claiming, &known, error);
    if (status == PAWL_OK)
        status = pw_schema_check(&engine->schema, error);
    if (status == PAWL_OK)
        claiming->owner = -pw_engine_make_owner(engine);
    return status;
}

static void claiming_clear(struct claiming *claiming)
{
    pw_unit_clear(&claiming->unit);
    pw_arena_clear(&claiming->arena);
}

/* ---- Claiming -------------------------------------------------------------------------------------------------- */

/* Builds the next unit.  False: there is no need for another. */
static bool claiming_next(struct claiming *claiming, pawl_status *out_status)
{
    size_t at = claiming->asked_count;
    if (*out_status != PAWL_OK || claiming->claimed == claiming->max || at == claiming->function_count ||
        claiming->bytes >= PW_PAGE_BYTES_DEFAULT)
        return false;
    pw_unit_clear(&claiming->unit);
    pw_unit_init(&claiming->unit);
    struct pw_op *op = pw_unit_add(&claiming->unit, PW_OP_CLAIM);
    if (op == NULL) {
        *out_status = pw_error_plain(claiming->error, PAWL_NOMEM);
        return false;
    }
    bool is_limited = at < claiming->limited_count;
    op->as.claim = (struct pw_op_claim){ .workflows = &claiming->functions[at],
                                         .workflow_count = is_limited ? 1 : claiming->function_count - at,
                                         .max = claiming->max - claiming->claimed,
                                         .bytes_max = PW_PAGE_BYTES_DEFAULT - claiming->bytes,
                                         .leased_max = is_limited ? claiming->limits[at] : 0,
                                         .owner = claiming->owner,
                                         .lease_ms = claiming->lease_ms };
    claiming->asked_count += op->as.claim.workflow_count;
    claiming->claim = &op->as.claim;
    return true;
}

/* What was claimed by one unit.  Trouble after the first job was claimed is forgiven. */
static pawl_status claiming_collect(struct claiming *claiming)
{
    if (claiming->unit.status != PAWL_OK && claiming->claimed > 0)
        claiming->asked_count = claiming->function_count;
    else if (claiming->unit.status != PAWL_OK)
        return pw_edit_report(claiming->error, claiming->unit.status, &claiming->unit.error);
    claiming->bytes += claiming->claim->bytes;
    for (size_t i = 0; i < claiming->claim->claim_count && claiming->claimed < claiming->max; i++) {
        const struct pw_claim *claim = &claiming->claim->claims[i];
        claiming->keys[claiming->claimed] = claim->fence.instance;
        claiming->parents[claiming->claimed] = claim->link.parent;
        claiming->epochs[claiming->claimed++] = claim->fence.epoch;
    }
    return PAWL_OK;
}

/* ---- The answer ------------------------------------------------------------------------------------------------ */

static pawl_status fill_job(pawl_scope *scope, const struct pw_instance *row, const struct pw_instance *parent,
                            const struct pw_job_order *order, struct pawl_job *job)
{
    int64_t deadline_ms = pw_job_deadline(row, order);
    pawl_value *step;
    *job = (struct pawl_job){ .run_number = row->link.run, .attempt = order->attempt };
    job->deadline_ms = deadline_ms == INT64_MAX ? 0 : deadline_ms;
    job->leased_until_ms = row->task.locked_until_ms < deadline_ms ? row->task.locked_until_ms : deadline_ms;
    job->token = pw_job_token(scope, row);
    const struct pw_text function = { row->workflow.data + 1, row->workflow.size - 1 };
    if (job->token == NULL || !pw_rows_string(scope, row->id, &job->id) ||
        !pw_rows_string(scope, function, &job->function) || !pw_rows_string(scope, order->data, &job->data_json) ||
        !pw_rows_string(scope, parent->workflow, &job->workflow) ||
        !pw_rows_string(scope, parent->id, &job->instance_id) || pw_value_of_text(scope, order->step, &step) != PAWL_OK)
        return PAWL_NOMEM;
    job->step = pawl_value_string(step, NULL, NULL);
    return job->step != NULL ? PAWL_OK : PAWL_NOMEM;
}

/* *out_given false: it was taken away, or its time is over, already; or somebody deleted a row. */
static pawl_status give_job(const struct claiming *claiming, size_t at, const struct pw_instance *row,
                            const struct pw_instance *parent, struct pawl_job *job, bool *out_given)
{
    struct pw_job_order order;
    bool is_ours =
        row->key != 0 && row->has_task && row->task.epoch == claiming->epochs[at] && row->task.owner == claiming->owner;
    *out_given = is_ours && parent->key != 0 && pw_job_order_read(row->params, &order) &&
                 pw_job_deadline(row, &order) > pawl_now_ms(claiming->engine);
    return *out_given ? fill_job(claiming->scope, row, parent, &order, job) : PAWL_OK;
}

/* The jobs that were claimed, and whose they are. */
static pawl_status read_jobs(struct claiming *claiming, struct pw_instance **out_rows, struct pw_instance **out_parents)
{
    struct pw_store *store = claiming->engine->store;
    const struct pw_instances_wanted jobs = { .keys = claiming->keys, .count = claiming->claimed };
    const struct pw_instances_wanted parents = { .keys = claiming->parents, .count = claiming->claimed };
    pawl_status status = pw_read_instances(store, &claiming->arena, &jobs, out_rows, claiming->error);
    if (status == PAWL_OK)
        status = pw_read_instances(store, &claiming->arena, &parents, out_parents, claiming->error);
    return status;
}

static pawl_status claiming_end(struct claiming *claiming, pawl_status status)
{
    struct pw_instance *rows = NULL, *parents = NULL;
    size_t count = 0;
    if (status == PAWL_OK && claiming->claimed > 0)
        status = read_jobs(claiming, &rows, &parents);
    if (status != PAWL_OK)
        return status;
    struct pawl_job *jobs =
        pw_scope_take(claiming->scope, claiming->claimed * sizeof *jobs + 1); /* not NULL for none */
    if (jobs == NULL)
        return pw_error_plain(claiming->error, PAWL_NOMEM);
    for (size_t i = 0; status == PAWL_OK && i < claiming->claimed; i++) {
        bool given;
        status = give_job(claiming, i, &rows[i], &parents[i], &jobs[count], &given);
        count += given && status == PAWL_OK;
    }
    if (status != PAWL_OK && count == 0)
        return pw_error_plain(claiming->error, status);
    *claiming->out_jobs = jobs;
    *claiming->out_count = count;
    return PAWL_OK;
}

/* ---- The calls ------------------------------------------------------------------------------------------------- */

pawl_status pawl_job_claim(pawl_engine *engine, pawl_scope *scope, const struct pawl_claim_options *options,
                           const struct pawl_job **out_jobs, size_t *out_count, struct pawl_error *error)
{
    struct claiming claiming;
    pawl_status status = claiming_init(&claiming, engine, scope, options, out_jobs, out_count, error);
    while (claiming_next(&claiming, &status)) {
        (void)pw_engine_run(engine, &claiming.unit);
        status = claiming_collect(&claiming);
    }
    status = claiming_end(&claiming, status);
    claiming_clear(&claiming);
    return status;
}

static void claiming_committed(struct pw_unit *unit, void *user);

static void claiming_go(void *user)
{
    struct claiming *claiming = user;
    if (claiming_next(claiming, &claiming->status)) {
        claiming->unit.done = claiming_committed;
        claiming->unit.user = claiming;
        pw_engine_send(claiming->engine, &claiming->unit);
        return;
    }
    pawl_answered_fn *answered = claiming->answered;
    void *answered_user = claiming->user;
    pawl_status status = claiming_end(claiming, claiming->status);
    claiming_clear(claiming);
    free(claiming);
    answered(answered_user, status);
}

static void claiming_committed(struct pw_unit *unit, void *user)
{
    struct claiming *claiming = user;
    (void)unit;
    claiming->status = claiming_collect(claiming);
    pw_commit_later(claiming->engine->commit, &claiming->chore);
}

void pawl_job_claim_async(pawl_engine *engine, pawl_scope *scope, const struct pawl_claim_options *options,
                          const struct pawl_job **out_jobs, size_t *out_count, struct pawl_error *error,
                          pawl_answered_fn *answered, void *user)
{
    struct claiming *claiming = malloc(sizeof *claiming);
    if (claiming == NULL) {
        answered(user, pw_error_plain(error, PAWL_NOMEM));
        return;
    }
    pawl_status status = claiming_init(claiming, engine, scope, options, out_jobs, out_count, error);
    claiming->status = status;
    claiming->answered = answered;
    claiming->user = user;
    claiming->chore = (struct pw_chore){ .run = claiming_go, .user = claiming };
    claiming_go(claiming); /* it reads nothing before the first commit */
}
