/* compare.c - the database against the model, row for row (invariant 28), and the simulation's own tables. */
#include <sqlite3.h>
#include <stdio.h>

#include "fail.h"
#include "world.h"

enum { STATEMENTS_MAX = 32 };

/* Statements are prepared once: worlds come and go, the database stays. */
static sqlite3_stmt *prepared[STATEMENTS_MAX];
static int prepared_count;

struct reader {
    sqlite3_stmt *statement;
    int column;
};

static struct reader start(sqlite3 *db, sqlite3_stmt **kept, const char *sql)
{
    if (*kept == NULL) {
        if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, kept, NULL) != SQLITE_OK)
            sim_give_up("%s: %s", sql, sqlite3_errmsg(db));
        prepared[prepared_count++] = *kept;
    }
    return (struct reader){ *kept, 0 };
}

static bool next(struct reader *reader)
{
    reader->column = 0;
    if (sqlite3_step(reader->statement) == SQLITE_ROW)
        return true;
    (void)sqlite3_reset(reader->statement);
    return false;
}

static int64_t number(struct reader *reader)
{
    return sqlite3_column_int64(reader->statement, reader->column++);
}

static struct pw_text text(struct reader *reader)
{
    int column = reader->column++;
    const char *data = (const char *)sqlite3_column_text(reader->statement, column);
    return (struct pw_text){ data, (size_t)sqlite3_column_bytes(reader->statement, column) };
}

static bool is_text(struct reader *reader, const char *expected)
{
    return pw_text_equal(text(reader), pw_text_of(expected));
}

#define EXPECT(holds, ...) SIM_CHECK(SIM_RULE_STORED, holds, __VA_ARGS__)

static void compare_instances(struct sim_model *model, sqlite3 *db)
{
    static sqlite3_stmt *kept;
    struct reader reader =
        start(db, &kept,
              "SELECT key, workflow, id, run, coalesce(outcome, 0), params, output, error_name,"
              " error_message, created_at, updated_at, completed_at, coalesce(parent, 0), coalesce(parent_run, 0),"
              " coalesce(relation, 0) FROM workflow_instance ORDER BY key");
    int count = 0;
    while (next(&reader)) {
        EXPECT(count < model->instance_count, "an instance that nobody created");
        const struct sim_instance *instance = &model->instances[count++];
        EXPECT(number(&reader) == instance->key && is_text(&reader, instance->workflow) &&
                   is_text(&reader, instance->id),
               "instance %d is not %s", count, instance->id);
        EXPECT(number(&reader) == instance->run && number(&reader) == (int64_t)instance->outcome,
               "run or outcome of %s is not %lld, %d", instance->id, (long long)instance->run, (int)instance->outcome);
        EXPECT(is_text(&reader, instance->params) && is_text(&reader, instance->output) &&
                   is_text(&reader, instance->error_name) && is_text(&reader, instance->error_message),
               "params, output or error of %s", instance->id);
        EXPECT(number(&reader) == instance->created_at_ms && number(&reader) == instance->updated_at_ms &&
                   number(&reader) == instance->completed_at_ms,
               "times of %s", instance->id);
        EXPECT(number(&reader) == instance->link.parent && number(&reader) == instance->link.run &&
                   number(&reader) == (int64_t)instance->link.relation,
               "the parent of %s", instance->id);
    }
    EXPECT(count == model->instance_count, "%d of %d instances are there", count, model->instance_count);
}

static void compare_tasks(struct sim_model *model, sqlite3 *db)
{
    static sqlite3_stmt *kept;
    struct reader reader =
        start(db, &kept,
              "SELECT instance, run, epoch, status, kind, due_at, processing, owner, locked_until, pause_requested,"
              " started_at, updated_at, event_seq, shard, demand FROM workflow_task ORDER BY instance");
    int count = 0, expected = 0;
    while (next(&reader)) {
        const struct sim_instance *instance = sim_model_by_key(model, number(&reader));
        SIM_CHECK(SIM_RULE_TASK, instance != NULL && instance->task.exists, "%s has finished and has a task",
                  instance != NULL ? instance->id : "nobody");
        const struct sim_task *task = &instance->task;
        EXPECT(number(&reader) == instance->run, "the task of %s is of another run", instance->id);
        SIM_CHECK(SIM_RULE_EPOCH, number(&reader) == task->epoch, "the epoch of %s is not %lld", instance->id,
                  (long long)task->epoch);
        EXPECT(number(&reader) == (int64_t)task->status && number(&reader) == (int64_t)task->kind &&
                   number(&reader) == task->due_at_ms,
               "%s is not parked as status %d, kind %d, due %lld", instance->id, (int)task->status, (int)task->kind,
               (long long)task->due_at_ms);
        EXPECT(number(&reader) == task->processing && number(&reader) == task->owner &&
                   number(&reader) == task->locked_until_ms && number(&reader) == task->pause_requested,
               "the lease of %s", instance->id);
        EXPECT(number(&reader) == task->started_at_ms && number(&reader) == task->updated_at_ms &&
                   number(&reader) == task->event_seq,
               "times or number of events of %s", instance->id);
        EXPECT(number(&reader) == pw_shard_of(pw_text_of(instance->workflow), pw_text_of(instance->id)),
               "the shard of %s", instance->id);
        SIM_CHECK(SIM_RULE_DEMAND, number(&reader) == (int64_t)task->demand, "the demand of %s is not %d", instance->id,
                  (int)task->demand);
        count++;
    }
    for (int i = 0; i < model->instance_count; i++)
        expected += model->instances[i].task.exists;
    SIM_CHECK(SIM_RULE_TASK, count == expected, "%d tasks of %d unfinished runs", count, expected);
}

static void compare_steps(struct sim_model *model, sqlite3 *db)
{
    static sqlite3_stmt *kept;
    struct reader reader = start(
        db, &kept,
        "SELECT instance, run, name, seq, kind, status, attempts, attempts_max, timeout, next_retry_at, wake_at,"
        " event_at, wait_event_type, result, error_name, error_message, created_at, updated_at FROM workflow_step");
    int count = 0, expected = 0;
    while (next(&reader)) {
        struct sim_instance *instance = sim_model_by_key(model, number(&reader));
        int64_t run = number(&reader);
        int node = sim_node_of(text(&reader));
        EXPECT(instance != NULL && run <= instance->run && node != SIM_NONE, "a step of nobody");
        const struct sim_step *step = &sim_model_run(instance, run)->steps[node];
        EXPECT(step->exists && number(&reader) == step->seq && number(&reader) == (int64_t)step->kind &&
                   number(&reader) == (int64_t)step->status,
               "n%d of %s, run %lld: number, kind or status", node, instance->id, (long long)run);
        EXPECT(number(&reader) == step->attempts && number(&reader) == step->attempts_max &&
                   number(&reader) == step->timeout_ms && number(&reader) == step->next_retry_at_ms &&
                   number(&reader) == step->wake_at_ms && number(&reader) == step->event_at_ms,
               "n%d of %s, run %lld: attempts or times", node, instance->id, (long long)run);
        EXPECT(is_text(&reader, step->event_type) && is_text(&reader, step->result) &&
                   is_text(&reader, step->error_name) && sim_digest_text(0, text(&reader)) == step->error_message,
               "n%d of %s, run %lld: result or error", node, instance->id, (long long)run);
        EXPECT(number(&reader) == step->created_at_ms && number(&reader) == step->updated_at_ms,
               "n%d of %s, run %lld: when it was recorded", node, instance->id, (long long)run);
        count++;
    }
    for (int i = 0; i < model->instance_count; i++) {
        for (int64_t run = 0; run < model->instances[i].run; run++)
            expected += model->instances[i].runs[run].step_count;
    }
    EXPECT(count == expected, "%d of %d steps are there", count, expected);
}

static void compare_events(struct sim_model *model, sqlite3 *db)
{
    static sqlite3_stmt *kept;
    struct reader reader = start(db, &kept,
                                 "SELECT instance, run, seq, id, type, payload, created_at, delivered_at, consumed_by"
                                 " FROM workflow_event");
    int count = 0, expected = 0;
    while (next(&reader)) {
        struct sim_instance *instance = sim_model_by_key(model, number(&reader));
        int64_t run = number(&reader), seq = number(&reader);
        EXPECT(instance != NULL && run <= instance->run && seq >= 1 && seq <= sim_model_run(instance, run)->event_count,
               "an event that nobody sent");
        const struct sim_event *event = &sim_model_run(instance, run)->events[seq - 1];
        EXPECT(is_text(&reader, event->id) && is_text(&reader, event->type) && is_text(&reader, event->payload) &&
                   number(&reader) == event->created_at_ms,
               "event %lld of %s", (long long)seq, instance->id);
        EXPECT(number(&reader) == event->delivered_at_ms && sim_node_of(text(&reader)) == event->consumed_by,
               "who took event %lld of %s", (long long)seq, instance->id);
        count++;
    }
    for (int i = 0; i < model->instance_count; i++) {
        for (int64_t run = 0; run < model->instances[i].run; run++)
            expected += model->instances[i].runs[run].event_rows;
    }
    EXPECT(count == expected, "%d of %d events are there", count, expected);
}

static void compare_logs(struct sim_model *model, sqlite3 *db)
{
    static sqlite3_stmt *kept;
    struct reader reader = start(db, &kept,
                                 "SELECT instance, run, seq, attempt, level, is_replay, step, category, message, data"
                                 " FROM workflow_log ORDER BY instance, run, seq");
    int count = 0, expected = 0;
    int64_t instance_before = 0, run_before = 0, seq_before = 0;
    while (next(&reader)) {
        int64_t key = number(&reader), run = number(&reader), seq = number(&reader);
        struct sim_instance *instance = sim_model_by_key(model, key);
        bool is_same = key == instance_before && run == run_before;
        SIM_CHECK(SIM_RULE_LOGS, seq == (is_same ? seq_before + 1 : 1), "line %lld of instance %lld", (long long)seq,
                  (long long)key);
        EXPECT(instance != NULL && run <= instance->run && seq <= sim_model_run(instance, run)->log_count,
               "a log line of nobody");
        struct pw_log_row row = { .attempt = number(&reader) };
        row.level = (enum pawl_log_level)number(&reader);
        row.is_replay = number(&reader) != 0;
        row.step = text(&reader);
        row.category = text(&reader);
        row.message = text(&reader);
        row.data = text(&reader);
        EXPECT(sim_digest_log(&row) == sim_model_run(instance, run)->logs[seq - 1], "log line %lld of %s: %.*s",
               (long long)seq, instance->id, (int)row.message.size, row.message.data);
        instance_before = key;
        run_before = run;
        seq_before = seq;
        count++;
    }
    for (int i = 0; i < model->instance_count; i++) {
        for (int64_t run = 0; run < model->instances[i].run; run++)
            expected += model->instances[i].runs[run].log_count;
    }
    EXPECT(count == expected, "%d of %d log lines are there", count, expected);
}

static void compare_tags(sqlite3 *db, sqlite3_stmt **kept, const char *sql, char (*tags)[SIM_TEXT_MAX], int expected)
{
    struct reader reader = start(db, kept, sql);
    int count = 0;
    while (next(&reader)) {
        EXPECT(count < expected && is_text(&reader, tags[count]), "effect %d is not %s", count,
               count < expected ? tags[count] : "wanted");
        count++;
    }
    EXPECT(count == expected, "%d of %d effects are there", count, expected);
}

static void compare_deliveries(struct sim_model *model, sqlite3 *db)
{
    static sqlite3_stmt *kept;
    struct reader reader =
        start(db, &kept,
              "SELECT key, id, hook, event, reason, outcome, instance, run, due_at, error_name, error_message,"
              " created_at, attempts, attempts_max, next_at, locked_until, epoch, last_error IS NOT NULL"
              " FROM workflow_hook ORDER BY key");
    int at = 0;
    while (next(&reader)) {
        while (at < model->delivery_count && !model->deliveries[at].exists)
            at++;
        EXPECT(at < model->delivery_count, "a delivery that nobody recorded");
        struct sim_delivery *delivery = &model->deliveries[at++];
        int64_t key = number(&reader);
        EXPECT((delivery->key == 0 || delivery->key == key) && is_text(&reader, delivery->id) &&
                   is_text(&reader, sim_hooks[delivery->hook].name) && number(&reader) == (int64_t)delivery->event,
               "delivery %s is another one", delivery->id);
        delivery->key = key;
        EXPECT(number(&reader) == (int64_t)delivery->reason && number(&reader) == (int64_t)delivery->outcome &&
                   number(&reader) == delivery->instance && number(&reader) == delivery->run &&
                   number(&reader) == delivery->due_at_ms && is_text(&reader, delivery->error_name) &&
                   is_text(&reader, delivery->error_message) && number(&reader) == delivery->created_at_ms,
               "what delivery %s tells", delivery->id);
        EXPECT(number(&reader) == delivery->attempts && number(&reader) == sim_hooks[delivery->hook].attempts_max &&
                   number(&reader) == delivery->next_at_ms && number(&reader) == delivery->locked_until_ms &&
                   number(&reader) == delivery->epoch && number(&reader) == delivery->has_error,
               "the attempts of delivery %s", delivery->id);
    }
    while (at < model->delivery_count && !model->deliveries[at].exists)
        at++;
    EXPECT(at == model->delivery_count, "delivery %s is not there", model->deliveries[at].id);
}

/* Rule 49 by the rows alone. */
static void check_times(sqlite3 *db)
{
#define YOUNGER_THAN_THE_NEXT(table)                                                                                   \
    "SELECT count(*) FROM (SELECT created_at, lag(created_at) OVER (PARTITION BY instance, run ORDER BY seq) AS older" \
    " FROM " table ") WHERE created_at < older"
    static const char *const wrong[] = {
        YOUNGER_THAN_THE_NEXT("workflow_step"),
        YOUNGER_THAN_THE_NEXT("workflow_event"),
        YOUNGER_THAN_THE_NEXT("workflow_log"),
        "SELECT count(*) FROM workflow_step WHERE updated_at < created_at",
        "SELECT count(*) FROM workflow_event WHERE delivered_at < created_at",
        ("SELECT count(*) FROM workflow_instance WHERE updated_at < created_at OR completed_at < started_at"
         " OR started_at < created_at"),
    };
    static sqlite3_stmt *kept[sizeof wrong / sizeof wrong[0]];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct reader reader = start(db, &kept[i], wrong[i]);
        int64_t count = next(&reader) ? number(&reader) : -1;
        (void)next(&reader);
        SIM_CHECK(SIM_RULE_TIME, count == 0, "%lld: %s", (long long)count, wrong[i]);
    }
}

void sim_compare(struct sim_model *model, struct sqlite3 *db)
{
    static sqlite3_stmt *effects, *uniques;
    compare_instances(model, db);
    compare_tasks(model, db);
    compare_steps(model, db);
    compare_events(model, db);
    compare_logs(model, db);
    check_times(db);
    compare_deliveries(model, db);
    compare_tags(db, &effects, "SELECT tag FROM sim_effect ORDER BY rowid", model->effects, model->effect_count);
    compare_tags(db, &uniques, "SELECT tag FROM sim_unique ORDER BY rowid", model->uniques, model->unique_count);
}

/* ---- The simulation's own tables ----------------------------------------------------------------------------------------- */

void sim_tables_make(struct sqlite3 *db)
{
    static const char sql[] = "CREATE TABLE sim_effect (tag TEXT NOT NULL);"
                              "CREATE TABLE sim_unique (tag TEXT NOT NULL UNIQUE);";
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        sim_give_up("%s", sqlite3_errmsg(db));
}

/* An empty database again, with keys that begin at 1. */
void sim_tables_empty(struct sqlite3 *db)
{
    static const char *const sql[] = {
        "BEGIN",
        "DELETE FROM workflow_task",
        "DELETE FROM workflow_instance",
        "DELETE FROM workflow_step",
        "DELETE FROM workflow_event",
        "DELETE FROM workflow_log",
        "DELETE FROM workflow_hook",
        "DELETE FROM workflow_runner",
        "DELETE FROM sqlite_sequence",
        "DELETE FROM sim_effect",
        "DELETE FROM sim_unique",
        "COMMIT",
    };
    static sqlite3_stmt *kept[sizeof sql / sizeof sql[0]];
    for (size_t i = 0; i < sizeof sql / sizeof sql[0]; i++) {
        struct reader reader = start(db, &kept[i], sql[i]);
        if (sqlite3_step(reader.statement) != SQLITE_DONE || sqlite3_reset(reader.statement) != SQLITE_OK)
            sim_give_up("%s: %s", sql[i], sqlite3_errmsg(db));
    }
}

void sim_tables_close(void)
{
    while (prepared_count > 0)
        (void)sqlite3_finalize(prepared[--prepared_count]);
}

pawl_status sim_insert_effect(void *connection, const char *tag)
{
    sqlite3 *db = connection;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "INSERT INTO sim_effect (tag) VALUES (?1)", -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 1, tag, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE ? PAWL_OK : PAWL_FAILED;
}
