/* jobs.c - see jobs.h.  Params are checked and split as text, so the job's data is never made a tree. */
#include "service/jobs.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "engine/functions.h"
#include "service/rows.h"
#include "service/token.h"
#include "value/value.h"

enum { DEPTH_MAX = 1000 }; /* the most that pawl_json_check() allows; params are one level deeper than a payload */

pawl_status pw_job_check_lease(int64_t lease_ms, int64_t *out_lease_ms, struct pawl_error *error)
{
    if (lease_ms == 0)
        lease_ms = PW_JOB_LEASE_MS_DEFAULT;
    if (lease_ms < PW_JOB_LEASE_MS_MIN || lease_ms > PW_JOB_LEASE_MS_MAX)
        return pw_error(error, PAWL_INVALID,
                        "a lease of %lld ms is out of range; it is 1 second to 1 hour, or 0 for 30 s",
                        (long long)lease_ms);
    *out_lease_ms = lease_ms;
    return PAWL_OK;
}

/* ---- What is ordered ------------------------------------------------------------------------------------------- */

static bool is_key(const struct pawl_json_part *part, const char *quoted)
{
    return pw_text_equal((struct pw_text){ part->key, part->key_size }, pw_text_of(quoted));
}

/* Reads the part as a number.  It needs no NUL, because the JSON text around it ends the number. */
static bool read_number(const struct pawl_json_part *part, int64_t *out_number)
{
    const char *at = part->text;
    return pw_token_number(&at, out_number) && at == part->text + part->size;
}

bool pw_job_order_read(struct pw_text params, struct pw_job_order *out_order)
{
    struct pw_job_order order = { .attempt = 0 };
    struct pawl_json_part part;
    size_t position = 0;
    /* A damaged row may contain anything. */
    bool is_order = params.data != NULL && pawl_json_check(params.data, params.size, DEPTH_MAX, NULL) == PAWL_OK;
    while (is_order && pawl_json_next(params.data, params.size, &position, &part)) {
        struct pw_text text = { part.text, part.size };
        if (part.key == NULL)
            return false;
        if (is_key(&part, "\"step\""))
            order.step = text;
        else if (is_key(&part, "\"attempt\""))
            is_order = read_number(&part, &order.attempt);
        else if (is_key(&part, "\"timeoutMs\""))
            is_order = read_number(&part, &order.timeout_ms);
        else if (is_key(&part, "\"data\""))
            order.data = text;
    }
    *out_order = order;
    return is_order && order.step.data != NULL && order.step.data[0] == '"' && order.attempt > 0;
}

int64_t pw_job_deadline(const struct pw_instance *job, const struct pw_job_order *order)
{
    int64_t deadline_ms;
    if (order->timeout_ms == 0 || __builtin_add_overflow(job->started_at_ms, order->timeout_ms, &deadline_ms))
        return INT64_MAX;
    return deadline_ms;
}

/* ---- Tokens ---------------------------------------------------------------------------------------------------- */

enum { SECRET_SIZE = 17 };

static struct pw_text secret_of(int64_t owner, char buffer[SECRET_SIZE])
{
    return (struct pw_text){ buffer, (size_t)snprintf(buffer, SECRET_SIZE, "%016" PRIx64, (uint64_t)-owner) };
}

const char *pw_job_token(pawl_scope *scope, const struct pw_instance *row)
{
    char secret[SECRET_SIZE];
    return pawl_scope_format(scope, "%lld.%lld.%lld.%s.%s", (long long)row->key, (long long)row->run,
                             (long long)row->task.epoch, secret_of(row->task.owner, secret).data, row->id.data);
}

static pawl_status refuse_token(struct pawl_error *error)
{
    return pw_error(error, PAWL_INVALID_TOKEN, "this is not the token of a job that was claimed");
}

pawl_status pw_job_gone(struct pawl_error *error)
{
    return pw_error(
        error, PAWL_JOB_GONE,
        "the job is not this worker's any more: it was ended, outlived its timeout, or another worker has it; "
        "stop working on it");
}

static bool is_leased(const struct pw_instance *row, const struct pw_fence *fence)
{
    return row->has_task && row->run == fence->run && row->task.epoch == fence->epoch && row->task.processing &&
           pw_owner_is_outside(row->task.owner);
}

pawl_status pw_job_find(pawl_engine *engine, struct pw_arena *arena, const char *token, struct pw_job_lease *out_lease,
                        struct pawl_error *error)
{
    struct pw_store *store = engine->store;
    struct pw_job_lease lease = { .now_ms = pawl_now_ms(engine) };
    struct pw_job_order order;
    struct pw_text secret;
    char kept[SECRET_SIZE];
    const char *at = token;
    if (!pw_token_part_number(&at, &lease.fence.instance) || !pw_token_part_number(&at, &lease.fence.run) ||
        !pw_token_part_number(&at, &lease.fence.epoch) || !pw_token_part(&at, &secret))
        return refuse_token(error);
    pawl_status status = pw_read_instance_by_key(store, arena, lease.fence.instance, &lease.row, error);
    if (status == PAWL_INSTANCE_NOT_FOUND)
        return refuse_token(error);
    if (status != PAWL_OK)
        return status;
    if (lease.row.link.relation != PW_RELATION_JOB || !pw_token_is_secret(pw_text_of(at), lease.row.id))
        return refuse_token(error);
    if (!is_leased(&lease.row, &lease.fence))
        return pw_job_gone(error);
    if (!pw_token_is_secret(secret, secret_of(lease.row.task.owner, kept)))
        return refuse_token(error);
    if (!pw_job_order_read(lease.row.params, &order))
        return pw_error(error, PAWL_STORE_CORRUPT, "job \"%s\" has params that are not a job's", lease.row.id.data);
    lease.deadline_ms = pw_job_deadline(&lease.row, &order);
    if (lease.now_ms >= lease.deadline_ms)
        return pw_job_gone(error);
    *out_lease = lease;
    return PAWL_OK;
}

/* ---- Who has it ------------------------------------------------------------------------------------------------ */

/* True if the step waits for a pending job and its row is not damaged. */
static bool awaits_job(const struct pawl_step_record *step)
{
    return step->kind == PAWL_STEP_CALL && step->status == PAWL_STEP_WAITING && step->next_retry_at_ms == 0 &&
           step->waits_for != NULL && strlen(step->waits_for->function) <= PW_FUNCTION_NAME_MAX;
}

/* Shows the holder of the job.  Renewals do not change updated_at_ms, so that is the time of the claim. */
static pawl_status show(pawl_scope *scope, const struct pw_instance *row, int64_t now_ms, struct pawl_step_record *step)
{
    const struct pw_task *task = &row->task;
    struct pawl_step_job *job = pw_scope_take(scope, sizeof *job);
    if (job == NULL)
        return PAWL_NOMEM;
    *job = (struct pawl_step_job){ .function = step->waits_for->function,
                                   .is_taken = task->processing && task->locked_until_ms > now_ms };
    if (job->is_taken) {
        job->is_outside = pw_owner_is_outside(task->owner);
        job->taken_at_ms = task->updated_at_ms;
        job->leased_until_ms = task->locked_until_ms;
        if (!job->is_outside && (job->runner_id = pw_rows_runner_id(scope, task->owner)) == NULL)
            return PAWL_NOMEM;
    }
    if (row->started_at_ms != 0)
        job->deadline_ms = pw_job_deadline(row, &(struct pw_job_order){ .timeout_ms = step->timeout_ms });
    step->job = job;
    return PAWL_OK;
}

/* The positions of the steps that wait for a job, and the names of the jobs. */
struct awaited {
    size_t *positions;
    struct pw_text *workflows, *ids;
    size_t count;
};

static bool find_awaited(struct pw_arena *arena, const struct pawl_step_record *steps, size_t count,
                         struct awaited *out_awaited)
{
    char(*names)[PW_JOB_WORKFLOW_SIZE] = pw_arena_take(arena, count * sizeof *names);
    struct awaited awaited = { .positions = pw_arena_take(arena, count * sizeof *awaited.positions),
                               .workflows = pw_arena_take(arena, count * sizeof *awaited.workflows),
                               .ids = pw_arena_take(arena, count * sizeof *awaited.ids) };
    if (names == NULL || awaited.positions == NULL || awaited.workflows == NULL || awaited.ids == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t at = awaited.count;
        if (!awaits_job(&steps[i]))
            continue;
        awaited.workflows[at] = pw_function_workflow(steps[i].waits_for->function, names[at]);
        awaited.ids[at] = pw_text_of(steps[i].waits_for->id);
        awaited.positions[awaited.count++] = i;
    }
    *out_awaited = awaited;
    return true;
}

static pawl_status show_all(pawl_engine *engine, pawl_scope *scope, struct pw_arena *arena,
                            const struct awaited *awaited, struct pawl_step_record *steps, struct pawl_error *error)
{
    struct pw_store *store = engine->store;
    const struct pw_instances_wanted wanted = { .workflows = awaited->workflows,
                                                .ids = awaited->ids,
                                                .count = awaited->count };
    struct pw_instance *rows = NULL;
    pawl_status status = pw_read_instances(store, arena, &wanted, &rows, error);
    int64_t now_ms = pawl_now_ms(engine);
    for (size_t i = 0; status == PAWL_OK && i < awaited->count; i++) {
        if (rows[i].key != 0 && rows[i].has_task)
            status = show(scope, &rows[i], now_ms, &steps[awaited->positions[i]]);
        if (status != PAWL_OK)
            (void)pw_error_plain(error, status);
    }
    return status;
}

pawl_status pw_jobs_show(pawl_engine *engine, pawl_scope *scope, struct pawl_step_record *steps, size_t count,
                         struct pawl_error *error)
{
    struct pw_arena arena;
    struct awaited awaited;
    pawl_status status = PAWL_OK;
    pw_arena_init(&arena);
    if (!find_awaited(&arena, steps, count, &awaited))
        status = pw_error_plain(error, PAWL_NOMEM);
    else if (awaited.count > 0)
        status = show_all(engine, scope, &arena, &awaited, steps, error);
    pw_arena_clear(&arena);
    return status;
}
