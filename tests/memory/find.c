/* find.c - what is due: finds the tasks that a claim may take, and tells when the next one is due and how many there are.
 *
 * It finds by status, due time, lease, workflow and shard; core/ decides what becomes of what was found.  An expired lease of a
 * runner that lives may be taken only after this store has seen it unchanged for a whole lease (store/sqlite/sightings.h). */
#include "base/error.h"
#include "memory/rows.h"

/* ---- Shares and leases ------------------------------------------------------------------------------------------------------ */

/* What somebody asks for: some workflows, and a share of each. */
struct asked {
    const struct pw_text *workflows;
    size_t count;
    const struct pw_share *share; /* NULL: all is theirs */
};

/* The workflow's position; count: it is not asked for. */
static size_t position_of(const struct asked *asked, const struct memory_instance *instance)
{
    size_t position = 0;
    while (position < asked->count && !pw_text_equal(asked->workflows[position], instance->row.workflow))
        position++;
    return position;
}

/* The next open run of the workflows; NULL past the last. */
static struct memory_instance *next_open(const struct memory_store *store, const struct asked *asked, size_t *at)
{
    struct memory_instance *instance;
    while ((instance = memory_instance_next(store, at)) != NULL)
        if (instance->row.has_task && position_of(asked, instance) < asked->count)
            return instance;
    return NULL;
}

/* Is a share asked for of this workflow, so that what is not owned is due later? */
static bool is_shared(const struct asked *asked, const struct memory_instance *instance)
{
    return asked->share != NULL && asked->share->owned != NULL &&
           asked->share->owned[position_of(asked, instance)].data != NULL;
}

static bool is_owned(const struct asked *asked, const struct memory_instance *instance)
{
    return !is_shared(asked, instance) ||
           asked->share->owned[position_of(asked, instance)].data[instance->shard] == '1';
}

static bool is_excepted(const struct asked *asked, const struct memory_instance *instance)
{
    return asked->share != NULL && pw_share_excepts(asked->share, instance->row.key);
}

static struct pw_held held_of(const struct memory_instance *instance)
{
    const struct pw_task *task = &instance->row.task;
    return (struct pw_held){ instance->row.key, task->owner, instance->row.run, task->epoch, task->locked_until_ms };
}

/* Workers outside have no presence. */
static bool may_live(struct memory_store *store, const struct pw_task *task)
{
    return task->owner > 0 && pw_presence_may_live(&store->presence, task->owner);
}

static struct pw_moment moment_of(const struct memory_store *store, int64_t now_ms)
{
    return (struct pw_moment){ now_ms, store->clock.monotonic_ms(store->clock.user) };
}

static bool has_expired(const struct pw_task *task, int64_t now_ms)
{
    return task->processing && task->locked_until_ms <= now_ms;
}

/* May the expired lease be taken by whoever wants it for lease_ms? */
static bool is_over(struct memory_store *store, const struct memory_instance *instance, int64_t lease_ms,
                    int64_t now_ms)
{
    const struct pw_held held = held_of(instance);
    return !may_live(store, &instance->row.task) ||
           pw_sightings_see(&store->sightings, &held, lease_ms, moment_of(store, now_ms)) == 0;
}

static bool is_free(const struct pw_task *task)
{
    return !task->processing && task->status != PW_TASK_PAUSED;
}

/* ---- Claiming ----------------------------------------------------------------------------------------------------------------- */

static pawl_status pause_expired(struct pw_core *core, const struct pw_op_claim *op, const struct asked *asked)
{
    struct memory_store *store = memory_of_core(core);
    const struct memory_instance *instance;
    pawl_status status = PAWL_OK;
    for (size_t at = 0; status == PAWL_OK && (instance = next_open(store, asked, &at)) != NULL;) {
        const struct pw_task *task = &instance->row.task;
        if (!has_expired(task, core->now_ms) || !task->pause_requested ||
            !is_over(store, instance, op->lease_ms, core->now_ms))
            continue;
        struct pw_core_run *run = pw_want_run(core, instance->row.key);
        if (run == NULL)
            return pw_error_plain(core->error, PAWL_NOMEM);
        memory_load(store, run);
        status = pw_core_pause_expired(core, run);
    }
    return status;
}

/* As many as are asked for, unless fewer may be leased at once.  A lease that has expired and may not be taken yet counts. */
static size_t room_for(struct pw_core *core, const struct pw_op_claim *op, const struct asked *asked)
{
    struct memory_store *store = memory_of_core(core);
    const struct memory_instance *instance;
    size_t leased = 0;
    if (op->leased_max == 0 || op->workflow_count == 0)
        return op->max;
    for (size_t at = 0; (instance = next_open(store, asked, &at)) != NULL;)
        leased += instance->row.task.processing && (!has_expired(&instance->row.task, core->now_ms) ||
                                                    !is_over(store, instance, op->lease_ms, core->now_ms));
    size_t room = leased < op->leased_max ? op->leased_max - leased : 0;
    return room < op->max ? room : op->max;
}

/* Since when the task is claimable, for this share; INT64_MAX: it is not. */
static int64_t claimable_since(struct pw_core *core, const struct pw_op_claim *op, const struct asked *asked,
                               const struct memory_instance *instance)
{
    const struct pw_task *task = &instance->row.task;
    int64_t since_ms = task->processing ? task->locked_until_ms : task->due_at_ms;
    if (since_ms > core->now_ms || (!task->processing && !is_free(task)))
        return INT64_MAX;
    if (!is_owned(asked, instance) && since_ms > core->now_ms - op->share.grace_ms)
        return INT64_MAX;
    if (task->processing && !is_over(memory_of_core(core), instance, op->lease_ms, core->now_ms))
        return INT64_MAX;
    return since_ms;
}

static bool claims_youngest_first(const struct memory_store *store)
{
    return store->spoiler != NULL && store->spoiler->claims_youngest_first;
}

/* Wakes, retries, resumes and expired leases go before first runs. */
static bool find_due(struct pw_core *core, const struct pw_op_claim *op, const struct asked *asked,
                     struct pw_rows *resumable, struct pw_rows *startable)
{
    const struct memory_instance *instance;
    for (size_t at = 0; (instance = next_open(memory_of_core(core), asked, &at)) != NULL;) {
        int64_t since_ms = claimable_since(core, op, asked, instance);
        if (since_ms == INT64_MAX)
            continue;
        bool is_first = !instance->row.task.processing && instance->row.task.kind == PW_TASK_RUN;
        struct pw_core_due *due = pw_rows_add(is_first ? startable : resumable);
        if (due == NULL)
            return false;
        bool is_reversed = claims_youngest_first(memory_of_core(core));
        *due = (struct pw_core_due){ instance->row.key, is_reversed ? -since_ms : since_ms };
    }
    return true;
}

pawl_status memory_claim(struct pw_core *core, struct pw_op_claim *op)
{
    const struct asked asked = { op->workflows, op->workflow_count, &op->share };
    struct pw_arena *arena = &core->unit->arena;
    struct pw_rows resumable = { .arena = &core->arena, .row_size = sizeof(struct pw_core_due) };
    struct pw_rows startable = resumable, claims = { .arena = arena, .row_size = sizeof(struct pw_claim) };
    op->bytes = 0;
    op->kept_out = false;
    pawl_status status = pause_expired(core, op, &asked);
    size_t max = room_for(core, op, &asked);
    if (status == PAWL_OK && !find_due(core, op, &asked, &resumable, &startable))
        status = pw_error_plain(core->error, PAWL_NOMEM);
    if (status == PAWL_OK)
        status = pw_core_claim(core, op, &resumable, max, &claims);
    if (status == PAWL_OK)
        status = pw_core_claim(core, op, &startable, max, &claims);
    op->claims = claims.rows;
    op->claim_count = claims.count;
    return status;
}

/* Reaping looks at every lease of a runner, so a lease that is not renewed has been seen by the time it ends. */
pawl_status memory_reap(struct pw_core *core, struct pw_op_reap *op)
{
    struct memory_store *store = memory_of_core(core);
    const struct memory_instance *instance;
    op->reaped = 0;
    pw_sightings_begin_round(&store->sightings);
    for (size_t at = 0; (instance = memory_instance_next(store, &at)) != NULL;) {
        const struct pw_held held = held_of(instance);
        if (instance->row.has_task && instance->row.task.processing && held.owner > 0)
            (void)pw_sightings_see(&store->sightings, &held, 0, moment_of(store, core->now_ms));
    }
    pw_sightings_end_round(&store->sightings);
    return PAWL_OK;
}

/* ---- When next --------------------------------------------------------------------------------------------------------------- */

struct question {
    struct memory_store *store;
    struct asked asked;
    int64_t after_ms, now_ms, earliest_ms;
};

static void consider(struct question *question, int64_t at_ms)
{
    if (at_ms > question->after_ms && at_ms < question->earliest_ms)
        question->earliest_ms = at_ms;
}

static int64_t grace_of(const struct question *question, const struct memory_instance *instance)
{
    return is_shared(&question->asked, instance) ? question->asked.share->grace_ms : 0;
}

/* An expired lease is due when it may be taken, which is later if its runner lives. */
static void consider_expired(struct question *question, const struct memory_instance *instance)
{
    struct memory_store *store = question->store;
    const struct pw_held held = held_of(instance);
    int64_t at_ms = held.locked_until_ms, wait_ms = 0;
    if (!is_owned(&question->asked, instance))
        at_ms += grace_of(question, instance);
    if (may_live(store, &instance->row.task))
        wait_ms = pw_sightings_wait_ms(&store->sightings, &held, store->clock.monotonic_ms(store->clock.user));
    if (wait_ms > 0 && question->now_ms + wait_ms > at_ms)
        at_ms = question->now_ms + wait_ms;
    consider(question, at_ms);
}

/* What is the share's already is told of once more, for the end of its grace. */
static void consider_task(struct question *question, const struct memory_instance *instance)
{
    const struct pw_task *task = &instance->row.task;
    if (is_excepted(&question->asked, instance) || (!task->processing && !is_free(task)))
        return;
    if (has_expired(task, question->now_ms)) {
        consider_expired(question, instance);
        return;
    }
    int64_t at_ms = task->processing ? task->locked_until_ms : task->due_at_ms;
    if (task->processing && at_ms <= question->after_ms)
        return;
    if (is_owned(&question->asked, instance))
        consider(question, at_ms);
    consider(question, at_ms + grace_of(question, instance));
}

pawl_status memory_next_due(const struct memory_reading *reading)
{
    const struct pw_due_query *query = &reading->asked->due;
    struct memory_store *memory = reading->store;
    struct question question = { .store = memory,
                                 .asked = { query->workflows, query->count, query->share },
                                 .after_ms = query->after_ms,
                                 .now_ms = memory->ops.now_ms(&memory->store),
                                 .earliest_ms = INT64_MAX };
    const struct memory_instance *instance;
    for (size_t at = 0; (instance = next_open(memory, &question.asked, &at)) != NULL;)
        consider_task(&question, instance);
    reading->found->at_ms = question.earliest_ms;
    return PAWL_OK;
}

/* ---- How many ----------------------------------------------------------------------------------------------------------------- */

static void count_task(const struct pw_task *task, int64_t now_ms, struct pw_task_counts *counts)
{
    int64_t due_at_ms = task->processing ? task->locked_until_ms : task->due_at_ms;
    counts->active += task->status == PW_TASK_ACTIVE;
    counts->waiting += task->status == PW_TASK_WAITING;
    counts->paused += task->status == PW_TASK_PAUSED;
    if ((!task->processing && !is_free(task)) || due_at_ms > now_ms)
        return;
    if (counts->due++ == 0 || due_at_ms < counts->oldest_due_at_ms)
        counts->oldest_due_at_ms = due_at_ms;
}

pawl_status memory_count_tasks(const struct memory_reading *reading)
{
    struct memory_store *memory = reading->store;
    struct pw_task_counts counts = { .due = 0 };
    const struct memory_instance *instance;
    for (size_t at = 0; (instance = memory_instance_next(memory, &at)) != NULL;)
        if (instance->row.has_task)
            count_task(&instance->row.task, reading->asked->now_ms, &counts);
    for (size_t i = 0; i < memory->hooks.count; i++) {
        bool has_failed = ((struct memory_hook **)memory->hooks.rows)[i]->row.next_at_ms == 0;
        counts.hooks_failed += has_failed;
        counts.hooks_pending += !has_failed;
    }
    reading->found->tasks = counts;
    return PAWL_OK;
}

pawl_status memory_count_statuses(const struct memory_reading *reading)
{
    const struct pw_names_query *query = &reading->asked->names;
    const struct asked asked = { query->names, query->count, NULL };
    struct pw_status_counts counts = { .of = { 0 } };
    const struct memory_instance *instance;
    for (size_t at = 0; (instance = memory_instance_next(reading->store, &at)) != NULL;) {
        int64_t *of = &counts.of[memory_status_of(&instance->row)];
        *of += position_of(&asked, instance) < query->count && *of < query->max;
    }
    reading->found->statuses = counts;
    return PAWL_OK;
}
