/* job_claim.c - claims jobs for an external worker.
 *
 * A function with a concurrency limit is claimed in a unit of its own, because the store counts the leases of one
 * workflow.  All other functions are claimed together, oldest job first.  The limited functions come first: they
 * take no more than their limits, so neither starves the other.  A claim ends with the job whose params fill a page
 * in bytes.  The claimed jobs are then read, all at once, and then all their parents.  A job that cannot be handed
 * out is left to its lease. */
#include "base/error.h"
#include "base/limits.h"
#include "engine/functions.h"
#include "service/check.h"
#include "service/jobs.h"
#include "service/request.h"
#include "service/rows.h"
#include "value/value.h"

/* A claim in progress. */
struct claiming {
    struct pw_request request; /* one round for each limited function, and one for all others */
    pawl_scope *scope;
    const struct pawl_job **out_jobs;
    size_t *out_count;

    int64_t lease_ms;
    int64_t owner;                                  /* a number of its own for each claim */
    struct pw_text functions[PW_JOB_FUNCTIONS_MAX]; /* as workflow names; limited functions first */
    size_t function_count, limited_count, asked_count;
    size_t limits[PW_JOB_FUNCTIONS_MAX];
    struct pw_op_claim *claim; /* in the unit */
    int64_t keys[PW_JOB_CLAIM_MAX], parents[PW_JOB_CLAIM_MAX];
    int64_t epochs[PW_JOB_CLAIM_MAX];
    size_t max, claimed, bytes;
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

/* Adds a function.  A function named twice is claimed once. */
static pawl_status add_function(struct claiming *claiming, const char *function, struct pawl_error *error)
{
    char buffer[PW_JOB_WORKFLOW_SIZE];
    struct pw_text workflow;
    PAWL_TRY(pw_function_check(function, error));
    if (!pw_arena_text(&claiming->request.arena, pw_function_workflow(function, buffer), &workflow))
        return pw_error_plain(error, PAWL_NOMEM);
    if (is_known(claiming, workflow))
        return PAWL_OK;
    size_t at = claiming->function_count++, limit = pw_function_limit(claiming->request.engine, workflow);
    if (limit > 0) { /* swap with the first function without a limit */
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
    PAWL_TRY(pw_check_given(options->functions, "functions", error));
    PAWL_TRY(pw_job_check_lease(options->lease_ms, &claiming->lease_ms, error));
    for (size_t i = 0; i < options->function_count; i++)
        PAWL_TRY(add_function(claiming, options->functions[i], error));
    return PAWL_OK;
}

static pawl_status claiming_check(struct claiming *claiming, const struct pawl_claim_options *options)
{
    struct pawl_claim_options known = PAWL_CLAIM_OPTIONS_INIT;
    pawl_engine *engine = claiming->request.engine;
    struct pawl_error *error = claiming->request.error;
    PAWL_TRY(pw_check_given(engine, "engine", error));
    PAWL_TRY(pw_check_given(claiming->scope, "scope", error));
    PAWL_TRY(pw_check_given(claiming->out_jobs, "out_jobs", error));
    PAWL_TRY(pw_check_given(claiming->out_count, "out_count", error));
    PAWL_TRY(pw_check_options(options, &known, sizeof known, error));
    PAWL_TRY(check_options(claiming, &known, error));
    PAWL_TRY(pw_schema_check(&engine->schema, error));
    claiming->owner = -pw_engine_make_owner(engine);
    return PAWL_OK;
}

/* ---- Claiming -------------------------------------------------------------------------------------------------- */

/* Builds the next unit. */
static pawl_status claiming_begin(struct pw_request *request)
{
    struct claiming *claiming = (struct claiming *)request;
    size_t at = claiming->asked_count;
    bool is_limited = at < claiming->limited_count;
    struct pw_op *op = pw_unit_add(&request->unit, PW_OP_CLAIM);
    if (op == NULL)
        return pw_error_plain(request->error, PAWL_NOMEM);
    op->as.claim = (struct pw_op_claim){ .workflows = &claiming->functions[at],
                                         .workflow_count = is_limited ? 1 : claiming->function_count - at,
                                         .max = claiming->max - claiming->claimed,
                                         .bytes_max = PW_PAGE_BYTES_DEFAULT - claiming->bytes,
                                         .leased_max = is_limited ? claiming->limits[at] : 0,
                                         .owner = claiming->owner,
                                         .lease_ms = claiming->lease_ms };
    claiming->asked_count += op->as.claim.workflow_count;
    claiming->claim = &op->as.claim;
    return PAWL_OK;
}

/* Collects what one unit claimed.  True if another unit is needed. */
static bool claiming_collect(struct claiming *claiming)
{
    claiming->bytes += claiming->claim->bytes;
    for (size_t i = 0; i < claiming->claim->claim_count && claiming->claimed < claiming->max; i++) {
        const struct pw_claim *claim = &claiming->claim->claims[i];
        claiming->keys[claiming->claimed] = claim->fence.instance;
        claiming->parents[claiming->claimed] = claim->link.parent;
        claiming->epochs[claiming->claimed++] = claim->fence.epoch;
    }
    return claiming->claimed < claiming->max && claiming->asked_count < claiming->function_count &&
           claiming->bytes < PW_PAGE_BYTES_DEFAULT;
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

/* Hands out one job.  *out_given false: the lease is gone or the deadline has passed already, or a row was deleted. */
static pawl_status give_job(const struct claiming *claiming, size_t at, const struct pw_instance *row,
                            const struct pw_instance *parent, struct pawl_job *job, bool *out_given)
{
    struct pw_job_order order;
    bool is_ours =
        row->key != 0 && row->has_task && row->task.epoch == claiming->epochs[at] && row->task.owner == claiming->owner;
    *out_given = is_ours && parent->key != 0 && pw_job_order_read(row->params, &order) &&
                 pw_job_deadline(row, &order) > pawl_now_ms(claiming->request.engine);
    return *out_given ? fill_job(claiming->scope, row, parent, &order, job) : PAWL_OK;
}

/* Reads the claimed jobs and their parents. */
static pawl_status read_jobs(struct claiming *claiming, struct pw_instance **out_rows, struct pw_instance **out_parents)
{
    struct pw_request *request = &claiming->request;
    struct pw_store *store = request->engine->store;
    const struct pw_instances_wanted jobs = { .keys = claiming->keys, .count = claiming->claimed };
    const struct pw_instances_wanted parents = { .keys = claiming->parents, .count = claiming->claimed };
    PAWL_TRY(pw_read_instances(store, &request->arena, &jobs, out_rows, request->error));
    return pw_read_instances(store, &request->arena, &parents, out_parents, request->error);
}

static pawl_status give_jobs(struct claiming *claiming)
{
    struct pw_instance *rows = NULL, *parents = NULL;
    size_t count = 0;
    pawl_status status = PAWL_OK;
    if (claiming->claimed > 0)
        PAWL_TRY(read_jobs(claiming, &rows, &parents));
    struct pawl_job *jobs =
        pw_scope_take(claiming->scope, claiming->claimed * sizeof *jobs + 1); /* not NULL for none */
    if (jobs == NULL)
        return pw_error_plain(claiming->request.error, PAWL_NOMEM);
    for (size_t i = 0; status == PAWL_OK && i < claiming->claimed; i++) {
        bool given;
        status = give_job(claiming, i, &rows[i], &parents[i], &jobs[count], &given);
        count += given && status == PAWL_OK;
    }
    if (status != PAWL_OK && count == 0)
        return pw_error_plain(claiming->request.error, status);
    *claiming->out_jobs = jobs;
    *claiming->out_count = count;
    return PAWL_OK;
}

/* The end of a round.  A failure after the first job was claimed is ignored, and the claimed jobs are handed out. */
static pawl_status claiming_end(struct pw_request *request)
{
    struct claiming *claiming = (struct claiming *)request;
    bool is_applied = request->unit.status == PAWL_OK;
    if (!is_applied && claiming->claimed == 0)
        return pw_request_report(request);
    request->again = is_applied && claiming_collect(claiming);
    return request->again ? PAWL_OK : give_jobs(claiming);
}

static bool reads_at_end(const struct pw_request *request)
{
    (void)request;
    return true;
}

/* ---- The calls ------------------------------------------------------------------------------------------------- */

static pawl_status claim(pawl_engine *engine, pawl_scope *scope, const struct pawl_claim_options *options,
                         const struct pawl_job **out_jobs, size_t *out_count, struct pawl_error *error,
                         pawl_answered_fn *answered, void *user)
{
    struct claiming *claiming = pw_request_new(sizeof *claiming, engine, claiming_end, error, answered, user);
    if (claiming == NULL)
        return PAWL_NOMEM;
    claiming->request.begin = claiming_begin;
    claiming->request.reads_at_end = reads_at_end;
    claiming->scope = scope;
    claiming->out_jobs = out_jobs;
    claiming->out_count = out_count;
    return pw_request_go(&claiming->request, claiming_check(claiming, options));
}

pawl_status pawl_job_claim(pawl_engine *engine, pawl_scope *scope, const struct pawl_claim_options *options,
                           const struct pawl_job **out_jobs, size_t *out_count, struct pawl_error *error)
{
    return claim(engine, scope, options, out_jobs, out_count, error, NULL, NULL);
}

void pawl_job_claim_async(pawl_engine *engine, pawl_scope *scope, const struct pawl_claim_options *options,
                          const struct pawl_job **out_jobs, size_t *out_count, struct pawl_error *error,
                          pawl_answered_fn *answered, void *user)
{
    (void)claim(engine, scope, options, out_jobs, out_count, error, answered, user);
}
