/* instance_ops.c - the ops that begin and end runs, and reach those that a run has begun.  While a run is open its task
 * row lives; the instance row takes part only at both ends. */
#include "base/error.h"
#include "store/sqlite/batch.h"

/* Of a row that is gone: 0, and nothing will be made of it. */
static pawl_status read_shard(struct pw_batch *batch, int64_t instance, int *out_shard)
{
    struct pw_query query;
    struct pw_text workflow, id;
    *out_shard = 0;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_NAME);
    pw_bind_integer(&query, instance);
    if (pw_query_step(&query)) {
        workflow = pw_column_text(&query, &batch->unit->arena);
        id = pw_column_text(&query, &batch->unit->arena);
        *out_shard = pw_shard_of(workflow, id);
    }
    return pw_query_end(&query, batch->error);
}

/* A task that is claimed at its birth has epoch 1 and has started; others have epoch 0. */
static void bind_new_task(struct pw_batch *batch, struct pw_query *query, int64_t hold_owner, int64_t hold_lease_ms)
{
    bool held = hold_owner != 0;
    pw_bind_integer(query, batch->now_ms);
    pw_bind_integer(query, held);
    pw_bind_time(query, hold_owner);
    pw_bind_time(query, held ? batch->now_ms + hold_lease_ms : 0);
    pw_bind_time(query, held ? batch->now_ms : 0);
}

static pawl_status insert_task(struct pw_batch *batch, struct pw_op_create *op)
{
    op->fence = (struct pw_fence){ .instance = sqlite3_last_insert_rowid(batch->connection->db),
                                   .run = 1,
                                   .epoch = op->hold_owner != 0 ? 1 : 0 };
    op->created_at_ms = batch->now_ms;

    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_INSERT);
    pw_bind_integer(&query, op->fence.instance);
    pw_bind_text(&query, op->workflow);
    pw_bind_integer(&query, pw_shard_of(op->workflow, op->id));
    bind_new_task(batch, &query, op->hold_owner, op->hold_lease_ms);
    return pw_query_run(&query, batch->error);
}

pawl_status pw_apply_create(struct pw_batch *batch, struct pw_op_create *op)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_INSERT);
    pw_bind_text(&query, op->workflow);
    pw_bind_text(&query, op->id);
    pw_bind_text(&query, op->params);
    pw_bind_integer(&query, batch->now_ms);
    pw_bind_time(&query, op->link.parent); /* none is NULL, as are the next two */
    pw_bind_time(&query, op->link.run);
    pw_bind_time(&query, op->link.relation);
    pawl_status status = pw_query_run(&query, batch->error);
    if (status != PAWL_OK)
        return status;

    op->created = sqlite3_changes64(batch->connection->db) != 0;
    if (op->created)
        return insert_task(batch, op);
    if (op->skip_existing)
        return PAWL_OK;
    return pw_unit_refuse_saying(batch->unit, PW_REFUSED_INSTANCE_EXISTS, "workflow %.*s has an instance %.*s already",
                                 (int)op->workflow.size, op->workflow.data, (int)op->id.size, op->id.data);
}

static pawl_status keep_steps(struct pw_batch *batch, const struct pw_op_restart *op)
{
    if (op->keep_before_seq == 0)
        return PAWL_OK;
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_STEPS_KEEP);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->run);
    pw_bind_integer(&query, op->keep_before_seq);
    pw_bind_integer(&query, op->keep_except_seq);
    pw_bind_text(&query, op->keep_except_error);
    return pw_query_run(&query, batch->error);
}

pawl_status pw_apply_restart(struct pw_batch *batch, const struct pw_op_restart *op)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_RESTART);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->run);
    pw_bind_integer(&query, batch->now_ms);
    int shard = 0;
    pawl_status status = pw_run_on_task(batch, &query);
    if (status == PAWL_OK)
        status = read_shard(batch, op->instance, &shard);
    if (status != PAWL_OK)
        return status;

    pw_query_start(&query, batch->connection, PW_QUERY_TASK_RENEW_RUN);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, shard);
    bind_new_task(batch, &query, op->hold_owner, op->hold_lease_ms);
    status = pw_query_run(&query, batch->error);
    return status == PAWL_OK ? keep_steps(batch, op) : status;
}

/* ---- Ending -------------------------------------------------------------------------------------------------- */

/* All but what only a look at the task tells is filled in.  Of a run that has no task nothing is ended. */
static pawl_status end_run(struct pw_batch *batch, struct pw_op_finish *op, bool *out_found)
{
    struct pw_look look;
    pawl_status status = pw_look_at_task(batch, op->instance, &look);
    *out_found = status == PAWL_OK && look.found;
    if (!*out_found)
        return status;
    op->started_at_ms = look.started_at_ms;
    op->completed_at_ms = pw_not_before(pw_not_before(batch->now_ms, op->newest_ms), look.updated_at_ms);

    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_FINISH);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->outcome);
    pw_bind_text(&query, op->output);
    pw_bind_text(&query, op->error_name);
    pw_bind_text(&query, op->error_message);
    pw_bind_integer(&query, op->completed_at_ms);
    pw_bind_time(&query, op->started_at_ms);
    status = pw_query_run(&query, batch->error);
    if (status != PAWL_OK)
        return status;

    pw_query_start(&query, batch->connection, PW_QUERY_TASK_DELETE);
    pw_bind_integer(&query, op->instance);
    return pw_query_run(&query, batch->error);
}

pawl_status pw_apply_finish(struct pw_batch *batch, struct pw_op_finish *op)
{
    bool found = false;
    pawl_status status = end_run(batch, op, &found);
    return status == PAWL_OK && !found ? pw_refuse_moved(batch) : status;
}

static pawl_status terminate(struct pw_batch *batch, int64_t instance, bool *out_found)
{
    struct pw_op_finish finish = { .instance = instance, .outcome = PW_OUTCOME_TERMINATED };
    return end_run(batch, &finish, out_found);
}

pawl_status pw_apply_end(struct pw_batch *batch, struct pw_op_end *op)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_OPEN);
    pw_bind_text(&query, op->workflow);
    pw_bind_text(&query, op->id);
    int64_t instance = pw_query_step(&query) ? pw_column_integer(&query) : 0;
    bool found = false;
    pawl_status status = pw_query_end(&query, batch->error);
    if (status == PAWL_OK && instance != 0)
        status = terminate(batch, instance, &found);
    if (status == PAWL_OK)
        op->instance = found ? instance : 0;
    return status;
}

/* ---- Reaching children --------------------------------------------------------------------------------------- */

struct child {
    int64_t instance;
    enum pw_relation relation;
};

/* Into rows of their own before any is changed, because the changes take them out of the index; which has those of one
 * relation in the order of their keys. */
static pawl_status find_children(struct pw_batch *batch, const struct pw_op_reach *op, struct pw_rows *children)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_CHILDREN_OPEN);
    pw_bind_integer(&query, op->parent);
    pw_bind_integer(&query, op->run);
    pw_bind_integer(&query, op->demand == PW_DEMAND_NONE ? PW_RELATION_JOB : PW_RELATION_ATTACHED);
    while (pw_query_step(&query)) {
        struct child *child = pw_rows_add(children);
        if (child == NULL) {
            query.code = SQLITE_NOMEM;
            break;
        }
        child->instance = pw_column_integer(&query);
        child->relation = (enum pw_relation)pw_column_choice(&query, PW_RELATION_JOB);
    }
    return pw_query_end(&query, batch->error);
}

/* Whoever holds it hears of the demand by itself; otherwise it is woken. */
static pawl_status demand_of_child(struct pw_batch *batch, int64_t instance, enum pw_demand demand,
                                   struct pw_rows *woken, bool *out_found)
{
    struct pw_look look;
    pawl_status status = pw_look_at_lease(batch, instance, &look);
    *out_found = status == PAWL_OK && look.found;
    if (!*out_found)
        return status;
    /* A runner that lives hears of it, also when its lease seems to be over. */
    bool held =
        look.processing && (look.locked_until_ms > batch->now_ms || pw_sqlite_may_live(batch->sqlite, look.owner));
    int64_t *key = held ? NULL : pw_rows_add(woken);
    if (!held && key == NULL)
        return pw_error_plain(batch->error, PAWL_NOMEM);
    if (key != NULL)
        *key = instance;
    struct pw_query query;
    pw_query_start(&query, batch->connection, held ? PW_QUERY_TASK_DEMAND : PW_QUERY_TASK_DEMAND_NOW);
    pw_bind_integer(&query, instance);
    pw_bind_integer(&query, demand);
    pw_bind_integer(&query, batch->now_ms);
    return pw_query_run(&query, batch->error);
}

pawl_status pw_apply_reach(struct pw_batch *batch, struct pw_op_reach *op)
{
    struct pw_rows children = { .arena = &batch->unit->arena, .row_size = sizeof(struct child) };
    struct pw_rows woken = { .arena = &batch->unit->arena, .row_size = sizeof(int64_t) };
    pawl_status status = find_children(batch, op, &children);
    op->reached = 0;
    for (size_t position = 0; position < children.count && status == PAWL_OK; position++) {
        const struct child *child = (const struct child *)children.rows + position;
        bool found = false;
        status = child->relation == PW_RELATION_JOB
                     ? terminate(batch, child->instance, &found)
                     : demand_of_child(batch, child->instance, op->demand, &woken, &found);
        op->reached += found;
    }
    op->woken = woken.rows;
    op->woken_count = woken.count;
    return status;
}
