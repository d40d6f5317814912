/* stores.c - the stores of a simulated world: their rows, the simulation's own tables in them, and which world is on which.
 *
 * SQLite has one seed in eight, the store of tests/memory has the others.  A seed does the same on both, because both answer alike.
 * SQLite's rows are read by plain SQL.  In memory, the user's tables are in the store's ledger. */
#include <sqlite3.h>
#include <stdio.h>

#include "compare.h"
#include "fail.h"
#include "memory/rows.h"
#include "memory/store.h"
#include "store/sqlite/sqlite.h"
#include "world.h"

enum { STATEMENTS_MAX = 32, SQLITE_ONE_IN = 8 };

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

/* ---- SQLite: rows ------------------------------------------------------------------------------------------------------------------ */

static void hand_over_instances(sqlite3 *db, struct sim_comparison *comparison)
{
    static sqlite3_stmt *kept;
    struct reader reader = start(
        db, &kept,
        "SELECT key, workflow, id, run, outcome, params, output, error_name, error_message, created_at, updated_at,"
        " started_at, completed_at, parent, parent_run, relation FROM workflow_instance ORDER BY key");
    while (next(&reader)) {
        struct pw_instance row = { .key = number(&reader) };
        row.workflow = text(&reader);
        row.id = text(&reader);
        row.run = number(&reader);
        row.outcome = (enum pw_outcome)number(&reader);
        row.params = text(&reader);
        row.output = text(&reader);
        row.error_name = text(&reader);
        row.error_message = text(&reader);
        row.created_at_ms = number(&reader);
        row.updated_at_ms = number(&reader);
        row.started_at_ms = number(&reader);
        row.completed_at_ms = number(&reader);
        row.link.parent = number(&reader);
        row.link.run = number(&reader);
        row.link.relation = (enum pw_relation)number(&reader);
        sim_compare_instance(comparison, &row);
    }
}

static void hand_over_tasks(sqlite3 *db, struct sim_comparison *comparison)
{
    static sqlite3_stmt *kept;
    struct reader reader =
        start(db, &kept,
              "SELECT instance, run, shard, epoch, status, kind, due_at, processing, owner, locked_until,"
              " pause_requested, started_at, updated_at, event_seq, demand FROM workflow_task ORDER BY instance");
    while (next(&reader)) {
        int64_t key = number(&reader), run = number(&reader);
        int shard = (int)number(&reader);
        struct pw_task row = { .epoch = number(&reader) };
        row.status = (enum pw_task_status)number(&reader);
        row.kind = (enum pw_task_kind)number(&reader);
        row.due_at_ms = number(&reader);
        row.processing = number(&reader) != 0;
        row.owner = number(&reader);
        row.locked_until_ms = number(&reader);
        row.pause_requested = number(&reader) != 0;
        row.started_at_ms = number(&reader);
        row.updated_at_ms = number(&reader);
        row.event_seq = number(&reader);
        row.demand = (enum pw_demand)number(&reader);
        sim_compare_task(comparison, key, run, shard, &row);
    }
}

static void hand_over_steps(sqlite3 *db, struct sim_comparison *comparison)
{
    static sqlite3_stmt *kept;
    struct reader reader =
        start(db, &kept,
              "SELECT instance, run, seq, name, kind, status, attempts, attempts_max, timeout, next_retry_at, wake_at,"
              " event_at, state, undoes, awaited_workflow, awaited_id, fork, outer_forks, fork_kind, branch,"
              " branch_order, wait_event_type, result, error_name, error_message, created_at, updated_at"
              " FROM workflow_step ORDER BY instance, run, seq");
    while (next(&reader)) {
        int64_t key = number(&reader), run = number(&reader);
        struct pw_step_row row = { .seq = number(&reader) };
        row.name = text(&reader);
        row.kind = (enum pawl_step_kind)number(&reader);
        row.status = (enum pawl_step_status)number(&reader);
        row.attempts = number(&reader);
        row.attempts_max = number(&reader);
        row.timeout_ms = number(&reader);
        row.next_retry_at_ms = number(&reader);
        row.wake_at_ms = number(&reader);
        row.event_at_ms = number(&reader);
        row.state = (enum pawl_step_state)number(&reader);
        row.undoes = text(&reader);
        row.awaited_workflow = text(&reader);
        row.awaited_id = text(&reader);
        row.place.fork = text(&reader);
        row.place.outer = text(&reader);
        row.place.kind = (enum pawl_fork_kind)number(&reader);
        row.place.branch = number(&reader);
        row.place.order = number(&reader);
        row.wait_event_type = text(&reader);
        row.result = text(&reader);
        row.error_name = text(&reader);
        row.error_message = text(&reader);
        row.created_at_ms = number(&reader);
        row.updated_at_ms = number(&reader);
        sim_compare_step(comparison, key, run, &row);
    }
}

static void hand_over_earlier_runs(sqlite3 *db, struct sim_comparison *comparison)
{
    static sqlite3_stmt *kept;
    struct reader reader =
        start(db, &kept,
              "SELECT instance, run, outcome, output, error_name, error_message, started_at, completed_at, replaced_at"
              " FROM workflow_run ORDER BY instance, run");
    while (next(&reader)) {
        int64_t key = number(&reader);
        struct pw_earlier_run row = { .run = number(&reader) };
        row.outcome = (enum pw_outcome)number(&reader);
        row.output = text(&reader);
        row.error_name = text(&reader);
        row.error_message = text(&reader);
        row.started_at_ms = number(&reader);
        row.completed_at_ms = number(&reader);
        row.replaced_at_ms = number(&reader);
        sim_compare_earlier_run(comparison, key, &row);
    }
}

static void hand_over_events(sqlite3 *db, struct sim_comparison *comparison)
{
    static sqlite3_stmt *kept;
    struct reader reader = start(db, &kept,
                                 "SELECT instance, run, seq, is_failure, id, type, payload, created_at, delivered_at,"
                                 " consumed_by"
                                 " FROM workflow_event ORDER BY instance, run, seq");
    while (next(&reader)) {
        int64_t key = number(&reader), run = number(&reader);
        struct pw_event_row row = { .seq = number(&reader) };
        row.is_failure = number(&reader) != 0;
        row.id = text(&reader);
        row.type = text(&reader);
        row.payload = text(&reader);
        row.created_at_ms = number(&reader);
        row.delivered_at_ms = number(&reader);
        row.consumed_by = text(&reader);
        sim_compare_event(comparison, key, run, &row);
    }
}

static void hand_over_logs(sqlite3 *db, struct sim_comparison *comparison)
{
    static sqlite3_stmt *kept;
    struct reader reader = start(
        db, &kept,
        "SELECT instance, run, seq, attempt, level, is_replay, is_repair, step, category, message, data, created_at"
        " FROM workflow_log ORDER BY instance, run, seq");
    while (next(&reader)) {
        int64_t key = number(&reader), run = number(&reader);
        struct pw_log_row row = { .seq = number(&reader) };
        row.attempt = number(&reader);
        row.level = (enum pawl_log_level)number(&reader);
        row.is_replay = number(&reader) != 0;
        row.is_repair = number(&reader) != 0;
        row.step = text(&reader);
        row.category = text(&reader);
        row.message = text(&reader);
        row.data = text(&reader);
        row.created_at_ms = number(&reader);
        sim_compare_log(comparison, key, run, &row);
    }
}

static void hand_over_deliveries(sqlite3 *db, struct sim_comparison *comparison)
{
    static sqlite3_stmt *kept;
    struct reader reader = start(
        db, &kept,
        "SELECT instance, key, id, hook, event, reason, outcome, run, due_at, error_name, error_message, created_at,"
        " attempts, attempts_max, next_at, locked_until, epoch, last_error FROM workflow_hook ORDER BY key");
    while (next(&reader)) {
        int64_t instance = number(&reader);
        struct pw_hook_row row = { .key = number(&reader) };
        row.id = text(&reader);
        row.hook = text(&reader);
        row.event = (enum pawl_hook_event)number(&reader);
        row.reason = (enum pw_hook_reason)number(&reader);
        row.outcome = (enum pw_outcome)number(&reader);
        row.run = number(&reader);
        row.due_at_ms = number(&reader);
        row.error_name = text(&reader);
        row.error_message = text(&reader);
        row.created_at_ms = number(&reader);
        row.attempts = number(&reader);
        row.attempts_max = number(&reader);
        row.next_at_ms = number(&reader);
        row.locked_until_ms = number(&reader);
        row.epoch = number(&reader);
        row.last_error = text(&reader);
        sim_compare_delivery(comparison, instance, &row);
    }
}

void sim_sqlite_rows(struct sqlite3 *db, struct sim_comparison *comparison)
{
    static sqlite3_stmt *effects, *uniques;
    hand_over_instances(db, comparison);
    hand_over_tasks(db, comparison);
    hand_over_earlier_runs(db, comparison);
    hand_over_steps(db, comparison);
    hand_over_events(db, comparison);
    hand_over_logs(db, comparison);
    hand_over_deliveries(db, comparison);
    struct reader reader = start(db, &effects, "SELECT tag FROM sim_effect ORDER BY rowid");
    while (next(&reader))
        sim_compare_effect(comparison, text(&reader));
    reader = start(db, &uniques, "SELECT tag FROM sim_unique ORDER BY rowid");
    while (next(&reader))
        sim_compare_unique(comparison, text(&reader));
}

/* ---- SQLite: the simulation's own tables ----------------------------------------------------------------------------------------- */

/* Once for the life of the process. */
static void make_tables(struct sqlite3 *db)
{
    static const char sql[] = "CREATE TABLE sim_effect (tag TEXT NOT NULL);"
                              "CREATE TABLE sim_unique (tag TEXT NOT NULL UNIQUE);";
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        sim_give_up("%s", sqlite3_errmsg(db));
}

/* An empty database again, with keys that begin at 1. */
static void empty_sqlite(struct sqlite3 *db)
{
    static const char *const sql[] = {
        "BEGIN",
        "DELETE FROM workflow_task",
        "DELETE FROM workflow_instance",
        "DELETE FROM workflow_run",
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

static void close_sqlite(void)
{
    while (prepared_count > 0)
        (void)sqlite3_finalize(prepared[--prepared_count]);
}

pawl_status sim_sqlite_insert(void *connection, const char *tag)
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

/* ---- The memory store: rows ------------------------------------------------------------------------------------------ */

static void hand_over_history(const struct memory_store *store, int64_t key, int64_t run,
                              struct sim_comparison *comparison)
{
    const struct memory_history *history = memory_history_of(store, key, run);
    for (size_t i = 0; i < history->steps.count; i++)
        sim_compare_step(comparison, key, run, (const struct pw_step_row *)history->steps.rows + i);
    for (size_t i = 0; i < history->events.count; i++)
        sim_compare_event(comparison, key, run, (const struct pw_event_row *)history->events.rows + i);
    for (size_t i = 0; i < history->logs.count; i++)
        sim_compare_log(comparison, key, run, (const struct pw_log_row *)history->logs.rows + i);
}

void sim_memory_rows(struct pw_store *memory, struct sim_comparison *comparison)
{
    const struct memory_store *store = memory_of(memory);
    const struct memory_instance *instance;
    const struct memory_entry *entry;
    for (size_t at = 0; (instance = memory_instance_next(store, &at)) != NULL;) {
        const struct pw_instance *row = &instance->row;
        sim_compare_instance(comparison, row);
        if (row->has_task)
            sim_compare_task(comparison, row->key, row->run, instance->shard, &row->task);
        for (size_t i = 0; i < instance->earlier.count; i++)
            sim_compare_earlier_run(comparison, row->key, (const struct pw_earlier_run *)instance->earlier.rows + i);
        for (int64_t run = 1; run <= row->run; run++)
            hand_over_history(store, row->key, run, comparison);
    }
    for (size_t i = 0; i < store->hooks.count; i++) {
        const struct memory_hook *hook = ((struct memory_hook **)store->hooks.rows)[i];
        sim_compare_delivery(comparison, hook->instance, &hook->row);
    }
    for (size_t i = 0; (entry = memory_ledger_at(memory, i)) != NULL; i++) {
        if (pw_text_equal(entry->table, pw_text_of("sim_unique")))
            sim_compare_unique(comparison, entry->id);
        else
            sim_compare_effect(comparison, entry->id);
    }
}

/* ---- The memory store: the user's tables -------------------------------------------------------------------------------------------------------- */

static bool add(struct pw_store *store, const char *table, struct pw_text tag)
{
    return memory_ledger_add(store, &(struct memory_entry){ .table = pw_text_of(table), .id = tag });
}

/* All our SQL inserts one tag, which is its one parameter: ["tag"]. */
static enum pw_refusal memory_sql(struct pw_store *store, const struct pw_op_sql *op)
{
    struct pw_text tag = { op->parameters.data + 2, op->parameters.size - 4 };
    bool is_unique = strstr(op->sql.data, "sim_unique") != NULL;
    if (is_unique && memory_ledger_find(store, pw_text_of("sim_unique"), tag) != NULL)
        return PW_REFUSED_UNIQUE;
    return add(store, is_unique ? "sim_unique" : "sim_effect", tag) ? PW_REFUSED_NOT : PW_REFUSED_MUTATION_FAILED;
}

pawl_status sim_memory_insert(void *connection, const char *tag)
{
    return add(connection, "sim_effect", pw_text_of(tag)) ? PAWL_OK : PAWL_FAILED;
}

/* ---- Which one ------------------------------------------------------------------------------------------------------- */

void sim_stores_open(struct sim_world *world, const struct pawl_options *options)
{
    struct pawl_error error = { PAWL_OK, "" };
    if (pw_store_open(options->store_url, options->clock, &world->sqlite, &error) != PAWL_OK)
        sim_give_up("no store: %s", error.text);
    world->db = ((struct pw_sqlite *)world->sqlite)->writer.db;
    make_tables(world->db);
    world->memory = memory_store_new(options->clock);
    if (world->memory == NULL)
        sim_give_up("no memory");
    memory_store_set_sql(world->memory, memory_sql);
    world->base = world->sqlite;
}

/* Mixed, so that every one of some processes that share the seeds gets its part of both. */
void sim_stores_choose(struct sim_world *world, uint64_t seed)
{
    world->in_memory = !world->only_sqlite && sim_mix(seed + UINT64_C(0xA0761D6478BD642F)) % SQLITE_ONE_IN != 0;
    world->base = world->in_memory ? world->memory : world->sqlite;
    for (int i = 0; i < SIM_PROCESSES_MAX * 2; i++)
        world->processes[i / 2].ports[i % 2]->forward.inner = world->base;
    if (world->in_memory)
        memory_store_reset(world->memory);
    else
        empty_sqlite(world->db);
}

void sim_stores_close(struct sim_world *world)
{
    close_sqlite();
    world->sqlite->ops->close(world->sqlite);
    world->memory->ops->close(world->memory);
}
