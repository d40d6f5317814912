/* checks.c - what a world left behind, read with a connection that no fault reaches; see world.h. */
#include <stdio.h>

#include <sqlite3.h>

#include "world.h"

static sqlite3_stmt *prepare(struct world *world, sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        ledger_violate(world->ledger, "the database cannot be read: %s: %s", sqlite3_errmsg(db), sql);
    return statement;
}

static void check_whole(struct world *world, sqlite3 *db)
{
    sqlite3_stmt *statement = prepare(world, db, "PRAGMA integrity_check");
    if (sqlite3_step(statement) != SQLITE_ROW || strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0)
        ledger_violate(world->ledger, "the database is damaged: %s", sqlite3_errmsg(db));
    (void)sqlite3_finalize(statement);
}

static const char *text_of(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text != NULL ? (const char *)text : "";
}

/* NULL: held as it was.  Otherwise what is wrong. */
static const char *step_trouble(sqlite3_stmt *steps, const struct ledger_entry *entry)
{
    const char *trouble = NULL;
    sqlite3_bind_int64(steps, 1, entry->instance);
    sqlite3_bind_int64(steps, 2, entry->run);
    sqlite3_bind_text(steps, 3, entry->name, -1, SQLITE_STATIC);
    if (sqlite3_step(steps) != SQLITE_ROW)
        trouble = "is gone";
    else if (sqlite3_column_int(steps, 0) != entry->status || sqlite3_column_int64(steps, 1) != entry->attempts ||
             sqlite3_column_int64(steps, 2) != entry->updated_at_ms ||
             strncmp(text_of(steps, 3), entry->result, LEDGER_TEXT - 1) != 0)
        trouble = "has changed";
    else if (sqlite3_step(steps) == SQLITE_ROW)
        trouble = "is there twice";
    (void)sqlite3_reset(steps);
    return trouble;
}

static const char *row_trouble(sqlite3_stmt *rows, const struct ledger_entry *entry)
{
    sqlite3_bind_int64(rows, 1, entry->instance);
    sqlite3_bind_text(rows, 2, entry->name, -1, SQLITE_STATIC);
    if (entry->kind == LEDGER_EVENT)
        sqlite3_bind_int64(rows, 3, entry->run);
    const char *trouble = sqlite3_step(rows) == SQLITE_ROW ? NULL : "is gone";
    (void)sqlite3_reset(rows);
    return trouble;
}

struct ledger_queries {
    sqlite3_stmt *of[3]; /* by enum ledger_kind */
};

static void queries_open(struct world *world, sqlite3 *db, struct ledger_queries *queries)
{
    queries->of[LEDGER_CREATE] = prepare(world, db, "SELECT 1 FROM workflow_instance WHERE key = ? AND id = ?");
    queries->of[LEDGER_STEP] = prepare(world, db,
                                       "SELECT status, attempts, updated_at, result FROM workflow_step"
                                       " WHERE instance = ? AND run = ? AND name = ?");
    queries->of[LEDGER_EVENT] =
        prepare(world, db, "SELECT 1 FROM workflow_event WHERE instance = ? AND id = ? AND run = ?");
}

static const char *entry_trouble(const struct ledger_queries *queries, const struct ledger_entry *entry)
{
    sqlite3_stmt *statement = queries->of[entry->kind];
    return entry->kind == LEDGER_STEP ? step_trouble(statement, entry) : row_trouble(statement, entry);
}

static void queries_close(struct ledger_queries *queries)
{
    for (size_t i = 0; i < 3; i++)
        (void)sqlite3_finalize(queries->of[i]);
}

void world_check(struct world *world)
{
    struct ledger_queries queries;
    sqlite3 *db = world_open_plainly(world);
    check_whole(world, db);
    queries_open(world, db, &queries);
    for (size_t i = 0; i < world->ledger->count; i++) {
        const struct ledger_entry *entry = &world->ledger->entries[i];
        const char *trouble = entry_trouble(&queries, entry);
        if (trouble != NULL)
            ledger_violate(world->ledger, "\"%s\" of instance %lld, run %lld, which was durable and %s, %s",
                           entry->name, (long long)entry->instance, (long long)entry->run,
                           entry->acknowledged ? "acknowledged" : "not acknowledged", trouble);
    }
    queries_close(&queries);
    (void)sqlite3_close(db);
}

size_t world_entries_held(struct world *world, bool *out_beyond)
{
    struct ledger_queries queries;
    sqlite3 *db = world_open_plainly(world);
    size_t held = 0;
    *out_beyond = false;
    queries_open(world, db, &queries);
    while (held < world->ledger->count && entry_trouble(&queries, &world->ledger->entries[held]) == NULL)
        held++;
    for (size_t i = held; i < world->ledger->count; i++)
        *out_beyond |= entry_trouble(&queries, &world->ledger->entries[i]) == NULL;
    queries_close(&queries);
    (void)sqlite3_close(db);
    return held;
}

void world_signature(struct world *world, char out_signature[WORLD_SIGNATURE])
{
    /* How far a run had come when it was ended or begun anew is a matter of luck. */
    static const char *const queries[] = {
        "SELECT workflow, id, run, status, output, error_name FROM workflow_instances ORDER BY 1, 2",
        "SELECT id, run, name, kind, status, result, error_name FROM workflow_steps WHERE (id, run) IN told ORDER BY 1, 3",
        "SELECT instance_id, run, type, payload, consumed_by FROM workflow_events WHERE (instance_id, run) IN told"
        " ORDER BY 1, 3, 4",
        "SELECT DISTINCT id, run, step, level, message FROM workflow_logs"
        " WHERE category <> 'system' AND (id, run) IN told ORDER BY 1, 3, 5",
        "SELECT id, run, step, 'app' FROM app WHERE (id, run) IN told ORDER BY 1, 3",
        "SELECT id, run, status, state FROM workflow_tasks ORDER BY 1",
        "SELECT instance_id, run, event, reason, outcome, status, last_error FROM workflow_hooks ORDER BY 1, 2, 3, 4",
    };
    size_t used = 0;
    sqlite3 *db = world_open_plainly(world);
    out_signature[0] = '\0';
    (void)sqlite3_exec(db,
                       "CREATE TEMP VIEW told AS SELECT id, run FROM workflow_instances WHERE status <> 'terminated'",
                       NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        if (!world->has_app && strstr(queries[i], "FROM app") != NULL)
            continue;
        sqlite3_stmt *statement = prepare(world, db, queries[i]);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            for (int column = 0; column < sqlite3_column_count(statement) && used < WORLD_SIGNATURE; column++)
                used +=
                    (size_t)snprintf(out_signature + used, WORLD_SIGNATURE - used, "%s|", text_of(statement, column));
            if (used < WORLD_SIGNATURE)
                used += (size_t)snprintf(out_signature + used, WORLD_SIGNATURE - used, "\n");
        }
        (void)sqlite3_finalize(statement);
    }
    for (size_t i = 0; i < world->ledger->told_count && used < WORLD_SIGNATURE; i++)
        used += (size_t)snprintf(out_signature + used, WORLD_SIGNATURE - used, "told %s\n", world->ledger->told[i]);
    if (used >= WORLD_SIGNATURE)
        ledger_violate(world->ledger, "the signature is too long");
    (void)sqlite3_close(db);
}
