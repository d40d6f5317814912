/* batch.h - a transaction under way, as the ops see it.
 *
 * An op ends in one of three ways: PAWL_OK; a refusal, told with pw_unit_refuse(), which concerns its unit alone; or
 * trouble, told in batch->error, which ends the transaction for all. */
#ifndef PW_STORE_SQLITE_BATCH_H
#define PW_STORE_SQLITE_BATCH_H

#include "store/sqlite/query.h"
#include "base/rows.h"
#include "store/sqlite/sqlite.h"

struct pw_batch {
    struct pw_sqlite *sqlite;
    struct pw_sqlite_connection *connection;
    int64_t now_ms;
    struct pw_unit *unit; /* the one that is being applied */
    struct pawl_error *error;
};

/* Of statements that must have changed a row: PAWL_CONFLICT when they did not.  Runs and ends the query. */
pawl_status pw_run_on_task(struct pw_batch *batch, struct pw_query *query);

/* What ops ask of a task before they change it.  Reading and then updating by key is half as dear as RETURNING. */
struct pw_look {
    bool found; /* the rest holds when it is */
    int64_t run, epoch, due_at_ms;
    bool pause_requested;
    enum pw_demand demand;
    int64_t started_at_ms; /* 0: not yet */
    int64_t event_seq;
    int64_t updated_at_ms; /* the newest time of the run */

    /* Of a look at the lease. */
    enum pw_task_status status;
    bool processing;
    int64_t owner, locked_until_ms;
};
pawl_status pw_look_at_task(struct pw_batch *batch, int64_t instance, struct pw_look *out_look);
pawl_status pw_look_at_lease(struct pw_batch *batch, int64_t instance, struct pw_look *out_look);

/* lease_ops.c: may this lease be taken?  It has expired; and its runner is dead, or was seen not to renew it for lease_ms
 * (sightings.h). */
bool pw_lease_is_over(struct pw_batch *batch, const struct pw_held *held, int64_t lease_ms);
pawl_status pw_set_lease(struct pw_batch *batch, int64_t instance, int64_t locked_until_ms);

/* The run's task is gone, or somebody else's: PAWL_CONFLICT. */
pawl_status pw_refuse_moved(struct pw_batch *batch);

/* What is due of one name, at most max, longest due first. */
struct pw_due {
    int64_t key, due_at_ms;
};
pawl_status pw_find_due(struct pw_batch *batch, enum pw_query_name name, struct pw_text of, size_t max,
                        struct pw_rows *dues);
/* Of several names together. */
void pw_sort_due(struct pw_rows *dues);

/* The time an op carries, or the transaction's. */
static inline int64_t pw_batch_time(const struct pw_batch *batch, int64_t at_ms)
{
    return at_ms != 0 ? at_ms : batch->now_ms;
}

/* task_ops.c */
pawl_status pw_apply_fence(struct pw_batch *batch, struct pw_op_fence *op);
pawl_status pw_apply_park(struct pw_batch *batch, struct pw_op_park *op);
pawl_status pw_apply_pause(struct pw_batch *batch, const struct pw_op_pause *op);
pawl_status pw_apply_demand(struct pw_batch *batch, const struct pw_op_demand *op);

/* instance_ops.c */
pawl_status pw_apply_create(struct pw_batch *batch, struct pw_op_create *op);
pawl_status pw_apply_restart(struct pw_batch *batch, const struct pw_op_restart *op);
pawl_status pw_apply_finish(struct pw_batch *batch, struct pw_op_finish *op);
pawl_status pw_apply_end(struct pw_batch *batch, struct pw_op_end *op);
pawl_status pw_apply_reach(struct pw_batch *batch, struct pw_op_reach *op);

/* history_ops.c */
pawl_status pw_apply_step(struct pw_batch *batch, const struct pw_op_step *op);
pawl_status pw_apply_event(struct pw_batch *batch, struct pw_op_event *op);
pawl_status pw_apply_consume(struct pw_batch *batch, const struct pw_op_consume *op);
pawl_status pw_apply_log(struct pw_batch *batch, const struct pw_op_log *op);

/* lease_ops.c */
pawl_status pw_apply_hold(struct pw_batch *batch, struct pw_op_hold *op);
pawl_status pw_apply_claim(struct pw_batch *batch, struct pw_op_claim *op);
pawl_status pw_apply_renew(struct pw_batch *batch, struct pw_op_renew *op);
pawl_status pw_apply_reap(struct pw_batch *batch, struct pw_op_reap *op);

/* user_ops.c */
pawl_status pw_apply_sql(struct pw_batch *batch, const struct pw_op_sql *op);
pawl_status pw_apply_mutate(struct pw_batch *batch, const struct pw_op_mutate *op);

/* hook_ops.c */
pawl_status pw_apply_hook(struct pw_batch *batch, const struct pw_op_hook *op);
pawl_status pw_apply_hook_claim(struct pw_batch *batch, struct pw_op_hook_claim *op);
pawl_status pw_apply_hook_settle(struct pw_batch *batch, struct pw_op_hook_settle *op);
pawl_status pw_apply_hook_resend(struct pw_batch *batch, struct pw_op_hook_resend *op);

#endif
