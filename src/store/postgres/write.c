/* write.c - sends every changed row once, as arrays of rows: a few statements, however many rows.
 *
 * pw_write() goes through the records of the core and sends those that differ from the database.  It only sends;
 * apply.c waits.  Then it tells the core that they are written, so that a second pw_write() of the same transaction
 * sends only what has changed since.
 *
 * A statement is split when it grows too large; nothing depends on how many rows share one.  New instances are
 * inserted in the order of their names.  So two transactions that create the same instances meet at the first one,
 * and cannot wait for each other in a circle. */
#include <stdlib.h>

#include "base/error.h"
#include "store/postgres/fields.h"
#include "store/postgres/transaction.h"

/* The rows of one statement. */
struct writing {
    struct pw_transaction *transaction;
    enum pw_pg_query name;
    enum pw_pg_row_type type;
    struct pw_tuples tuples;
};

static struct writing begin(struct pw_transaction *transaction, enum pw_pg_query name, enum pw_pg_row_type type)
{
    return (struct writing){ transaction, name, type, .tuples = { .arena = &transaction->core.arena } };
}

static void end(struct writing *writing)
{
    struct pw_transaction *transaction = writing->transaction;
    struct pw_call call;
    if (writing->tuples.rows == 0 && !writing->tuples.no_memory)
        return;
    pw_call_init(&call, writing->name, PW_NO_VALUES);
    pw_call_tuples(&call, &writing->tuples, transaction->postgres->row_types[writing->type]);
    pw_pg_send(transaction->connection, &call, NULL, NULL);
    writing->tuples = (struct pw_tuples){ .arena = &transaction->core.arena };
}

/* Adds a row to the statement. */
static void put(struct writing *writing, const struct pw_value *values, size_t count)
{
    if (pw_tuples_are_full(&writing->tuples))
        end(writing);
    pw_tuples_row(&writing->tuples, values, count);
}

static void send_deleted(struct pw_transaction *transaction, enum pw_pg_query name, struct pw_columns *keys)
{
    struct pw_call call;
    if (keys->rows == 0 && !keys->no_memory)
        return;
    pw_call_init(&call, name, PW_NO_VALUES);
    pw_call_columns(&call, keys);
    pw_pg_send(transaction->connection, &call, NULL, NULL);
}

/* ---- Instances ----------------------------------------------------------------------------------------------- */

/* A name column is NOT NULL but never updated, so in a row that exists an unknown name is written as an empty text. */
static struct pw_text or_empty(struct pw_text text)
{
    return text.data != NULL ? text : (struct pw_text){ "", 0 };
}

static void put_instance(struct writing *writing, const struct pw_core_run *run)
{
    const struct pw_instance row = pw_core_instance_row(run);
    put(writing, PW_VALUES(pw_row(&pw_instance_type, &row)));
}

static int compare_texts(struct pw_text left, struct pw_text right)
{
    size_t common = left.size < right.size ? left.size : right.size;
    int order = common > 0 ? memcmp(left.data, right.data, common) : 0;
    return order != 0 ? order : (left.size > right.size) - (left.size < right.size);
}

static int compare_names(const void *left, const void *right)
{
    const struct pw_core_run *first = *(struct pw_core_run *const *)left, *second = *(struct pw_core_run *const *)right;
    int order = compare_texts(first->workflow, second->workflow);
    return order != 0 ? order : compare_texts(first->id, second->id);
}

static bool write_instances(struct pw_transaction *transaction)
{
    struct pw_rows created = { .arena = &transaction->core.arena, .row_size = sizeof(void *) };
    struct pw_core_run **runs = transaction->core.runs.list.rows;
    struct writing updating = begin(transaction, PW_PG_INSTANCE_UPDATE, PW_PG_INSTANCE_ROW);
    struct writing inserting = begin(transaction, PW_PG_INSTANCE_INSERT, PW_PG_INSTANCE_ROW);
    for (size_t i = 0; i < transaction->core.runs.list.count; i++) {
        if (runs[i]->change == PW_CORE_CHANGED)
            put_instance(&updating, runs[i]);
        if (runs[i]->change == PW_CORE_NEW) {
            struct pw_core_run **place = pw_rows_add(&created);
            if (place == NULL)
                return false;
            *place = runs[i];
        }
    }
    end(&updating);
    if (created.count > 1)
        qsort(created.rows, created.count, created.row_size, compare_names);
    for (size_t i = 0; i < created.count; i++)
        put_instance(&inserting, ((struct pw_core_run **)created.rows)[i]);
    end(&inserting);
    return true;
}

static void write_earlier_runs(struct pw_transaction *transaction)
{
    const struct pw_core_earlier *earlier = transaction->core.earlier.rows;
    struct writing writing = begin(transaction, PW_PG_EARLIER_RUN_INSERT, PW_PG_EARLIER_RUN_ROW);
    for (size_t i = 0; i < transaction->core.earlier.count; i++)
        put(&writing, PW_VALUES(pw_int(earlier[i].instance), pw_row(&pw_earlier_run_type, &earlier[i].row)));
    end(&writing);
}

/* ---- Tasks --------------------------------------------------------------------------------------------------- */

static void put_task(struct writing *writing, const struct pw_core_run *run)
{
    put(writing, PW_VALUES(pw_int(run->key), pw_int(run->run), pw_row(&pw_task_type, &run->task),
                           pw_str(or_empty(run->workflow)), pw_int(pw_shard_of(run->workflow, run->id))));
}

static bool is_due(const struct pw_transaction *transaction, const struct pw_task *task)
{
    return !task->processing && task->status != PW_TASK_PAUSED && task->due_at_ms <= transaction->core.now_ms;
}

/* Rows are inserted, updated or deleted by what the store has (is_stored) and what the run has now (has_task).  A
 * task that becomes due is announced to other processes after the commit (makes_due). */
static void write_tasks(struct pw_transaction *transaction)
{
    struct pw_core_run **runs = transaction->core.runs.list.rows;
    struct writing inserting = begin(transaction, PW_PG_TASK_INSERT, PW_PG_TASK_ROW);
    struct writing updating = begin(transaction, PW_PG_TASK_UPDATE, PW_PG_TASK_ROW);
    struct pw_columns deleted = { .arena = &transaction->core.arena };
    for (size_t i = 0; i < transaction->core.runs.list.count; i++) {
        struct pw_core_run *run = runs[i];
        if (!run->is_changed)
            continue;
        if (run->has_task && is_due(transaction, &run->task))
            transaction->makes_due = true;
        if (run->has_task)
            put_task(run->is_stored ? &updating : &inserting, run);
        else if (run->is_stored)
            pw_columns_row(&deleted, PW_VALUES(pw_int(run->key)));
    }
    send_deleted(transaction, PW_PG_TASK_DELETE, &deleted);
    end(&updating);
    end(&inserting);
}

/* ---- History ------------------------------------------------------------------------------------------------- */

static void write_steps(struct pw_transaction *transaction)
{
    struct pw_core_step **steps = transaction->core.steps.list.rows;
    struct writing inserting = begin(transaction, PW_PG_STEP_INSERT, PW_PG_STEP_ROW);
    struct writing inserting_plain = begin(transaction, PW_PG_STEP_INSERT_PLAIN, PW_PG_PLAIN_STEP_ROW);
    struct writing updating = begin(transaction, PW_PG_STEP_UPDATE, PW_PG_STEP_ROW);
    for (size_t i = 0; i < transaction->core.steps.list.count; i++) {
        if (steps[i]->insert == NULL && steps[i]->update == NULL)
            continue;
        const struct pw_step_row row = pw_core_step_row(&transaction->core, steps[i]);
        bool is_plain = steps[i]->insert != NULL && pw_step_is_plain(&row);
        put(is_plain                   ? &inserting_plain
            : steps[i]->insert != NULL ? &inserting
                                       : &updating,
            PW_VALUES(pw_int(steps[i]->place[0]), pw_int(steps[i]->place[1]),
                      pw_row(is_plain ? &pw_plain_step_type : &pw_step_type, &row)));
    }
    end(&inserting);
    end(&inserting_plain);
    end(&updating);
}

static bool take_kept(void *user, void *of, struct pw_fields *fields)
{
    struct pw_core *core = &((struct pw_transaction *)user)->core;
    const struct pw_op_restart *op = of;
    struct pw_core_step *step = pw_want_step(core, op->instance, op->run + 1, pw_field_place(fields));
    if (step == NULL || !PW_SAVE(core, step))
        return false;
    step->exists = true;
    return true;
}

/* Copies the steps that a new run keeps, after the steps themselves were written.  One statement per restart,
 * because a run may be restarted more than once in a batch. */
static void write_kept(struct pw_transaction *transaction)
{
    struct pw_op_restart **ops = transaction->core.kept.rows;
    struct pw_call call;
    for (size_t i = 0; i < transaction->core.kept.count; i++) {
        pw_call_init(&call, PW_PG_STEP_KEEP,
                     PW_VALUES(pw_int(ops[i]->instance), pw_int(ops[i]->run), pw_int(ops[i]->keep_before_seq),
                               pw_int(ops[i]->keep_except_seq), pw_int(ops[i]->keep_except_dropped)));
        pw_ask(transaction, &call, take_kept, ops[i]);
    }
}

static void write_events(struct pw_transaction *transaction)
{
    struct pw_core_event **events = transaction->core.events.list.rows;
    struct writing inserting = begin(transaction, PW_PG_EVENT_INSERT, PW_PG_EVENT_ROW);
    struct writing consuming = begin(transaction, PW_PG_EVENT_CONSUME, PW_PG_EVENT_ROW);
    for (size_t i = 0; i < transaction->core.events.list.count; i++) {
        if (events[i]->insert == NULL && events[i]->consume == NULL)
            continue;
        const struct pw_event_row row = pw_core_event_row(&transaction->core, events[i]);
        put(events[i]->insert != NULL ? &inserting : &consuming,
            PW_VALUES(pw_int(events[i]->place[0]), pw_int(events[i]->place[1]), pw_row(&pw_event_type, &row)));
    }
    end(&inserting);
    end(&consuming);
}

static void write_logs(struct pw_transaction *transaction)
{
    const struct pw_core_log *logs = transaction->core.logs.rows;
    struct writing writing = begin(transaction, PW_PG_LOG_INSERT, PW_PG_LOG_ROW);
    for (size_t i = 0; i < transaction->core.logs.count; i++) {
        const struct pw_log_row row = pw_core_log_row(&logs[i]);
        put(&writing, PW_VALUES(pw_int(logs[i].op->instance), pw_int(logs[i].op->run), pw_row(&pw_log_type, &row)));
    }
    end(&writing);
}

static void write_hooks(struct pw_transaction *transaction)
{
    const struct pw_core_hook *hooks = transaction->core.hooks.rows;
    struct writing writing = begin(transaction, PW_PG_HOOK_INSERT, PW_PG_HOOK_ROW);
    for (size_t i = 0; i < transaction->core.hooks.count; i++)
        put(&writing, PW_VALUES(pw_int(hooks[i].instance), pw_row(&pw_hook_type, &hooks[i].row)));
    end(&writing);
}

/* One statement per delivery, because mostly there is only one. */
static void write_deliveries(struct pw_transaction *transaction)
{
    struct pw_core_delivery *const *deliveries = transaction->core.deliveries.list.rows;
    struct pw_columns deleted = { .arena = &transaction->core.arena };
    for (size_t i = 0; i < transaction->core.deliveries.list.count; i++) {
        if (deliveries[i]->is_changed && deliveries[i]->exists)
            pw_pg_send_values(transaction->connection, PW_PG_HOOK_UPDATE,
                              PW_VALUES(pw_row(&pw_delivery_type, &deliveries[i]->row)));
        else if (deliveries[i]->is_changed)
            pw_columns_row(&deleted, PW_VALUES(pw_int(deliveries[i]->key)));
    }
    send_deleted(transaction, PW_PG_HOOK_DELETE, &deleted);
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

/* Sends the changed rows of every kind.  Steps that a new run keeps come after the steps themselves, because they
 * are copied from them. */
pawl_status pw_write(struct pw_transaction *transaction)
{
    bool has_kept = transaction->core.kept.count > 0;
    if (!write_instances(transaction))
        return pw_no_memory(transaction);
    write_earlier_runs(transaction);
    write_tasks(transaction);
    write_steps(transaction);
    write_kept(transaction);
    write_events(transaction);
    write_logs(transaction);
    write_hooks(transaction);
    write_deliveries(transaction);
    if (!pw_core_note_written(&transaction->core))
        return pw_no_memory(transaction);
    return has_kept ? pw_settle(transaction)
                    : PAWL_OK; /* the records of copied steps must exist before a rule asks for them */
}
