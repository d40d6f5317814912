/* checks.c - what a world left behind, read with a connection that no fault reaches; see world.h. */
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "world.h"

/* ---- Looking ------------------------------------------------------------------------------------------------------- */

struct look {
    struct world *world;
    sqlite3 *db; /* of a file */
};

static struct look look_open(struct world *world)
{
    return (struct look){ world, world->place.store == STORE_IN_FILE ? world_open_plainly(world) : NULL };
}

static void look_close(struct look *look)
{
    (void)sqlite3_close(look->db); /* NULL is fine */
}

static void look_at(const struct look *look, const char *sql, store_row_fn *row, void *user)
{
    if (look->db == NULL)
        store_place_rows(&look->world->place, sql, row, user);
    else if (!store_connection_rows(STORE_IN_FILE, look->db, sql, row, user))
        ledger_violate(look->world->ledger, "the database cannot be read: %s: %s", sqlite3_errmsg(look->db), sql);
}

/* ---- The ledger against the rows ------------------------------------------------------------------------------------ */

static void check_answer(void *user, const char *const *columns, int count)
{
    struct world *world = user;
    (void)count;
    if (columns[0] == NULL || strcmp(columns[0], "ok") != 0)
        ledger_violate(world->ledger, "the database is damaged: %s", columns[0]);
}

struct finding {
    const struct ledger_entry *entry;
    int rows;
    bool differs;
};

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

static void find_step(void *user, const char *const *columns, int count)
{
    struct finding *finding = user;
    const struct ledger_entry *entry = finding->entry;
    (void)count;
    finding->rows++;
    finding->differs |= atoi(columns[0]) != entry->status || atoll(columns[1]) != entry->attempts ||
                        atoll(columns[2]) != entry->updated_at_ms ||
                        strncmp(text_of(columns[3]), entry->result, LEDGER_TEXT - 1) != 0;
}

static void find_row(void *user, const char *const *columns, int count)
{
    (void)columns;
    (void)count;
    ((struct finding *)user)->rows++;
}

/* NULL: held as it was.  Otherwise what is wrong. */
static const char *entry_trouble(const struct look *look, const struct ledger_entry *entry)
{
    static const char *const queries[] = {
        [LEDGER_CREATE] = "SELECT 1 FROM workflow_instance WHERE key = %lld AND id = '%s' AND %lld = 0",
        [LEDGER_STEP] = ("SELECT status, attempts, updated_at, result FROM workflow_step"
                         " WHERE instance = %lld AND name = '%s' AND run = %lld"),
        [LEDGER_EVENT] = "SELECT 1 FROM workflow_event WHERE instance = %lld AND id = '%s' AND run = %lld",
    };
    struct finding finding = { .entry = entry };
    char sql[256];
    snprintf(sql, sizeof sql, queries[entry->kind], (long long)entry->instance, entry->name, (long long)entry->run);
    look_at(look, sql, entry->kind == LEDGER_STEP ? find_step : find_row, &finding);
    if (finding.rows == 0)
        return "is gone";
    if (finding.differs)
        return "has changed";
    return finding.rows > 1 ? "is there twice" : NULL;
}

/* What is left to do for a run that is over: its jobs, its attached children (which are told in the same commit), its own
 * task. */
static const char orphans[] =
    "SELECT i.workflow, p.id FROM workflow_instance i JOIN workflow_instance p ON p.key = i.parent"
    " WHERE i.outcome IS NULL AND i.relation = 3 AND (p.outcome IS NOT NULL OR p.run <> i.parent_run)"
    " UNION ALL SELECT i.workflow, p.id FROM workflow_instance i JOIN workflow_instance p ON p.key = i.parent"
    " JOIN workflow_task t ON t.instance = i.key"
    " WHERE i.outcome IS NULL AND i.relation = 1 AND p.outcome = 2 AND p.run = i.parent_run AND t.demand = 0"
    " UNION ALL SELECT i.workflow, i.id FROM workflow_instance i JOIN workflow_task t ON t.instance = i.key"
    " WHERE i.outcome IS NOT NULL";

static void check_orphan(void *user, const char *const *columns, int count)
{
    struct world *world = user;
    (void)count;
    ledger_violate(world->ledger, "\"%s\" is left to do for \"%s\", which is over", columns[0], columns[1]);
}

void world_check(struct world *world)
{
    struct look look = look_open(world);
    if (world->place.store == STORE_IN_FILE)
        look_at(&look, "PRAGMA integrity_check", check_answer, world);
    for (size_t i = 0; i < world->ledger->count; i++) {
        const struct ledger_entry *entry = &world->ledger->entries[i];
        const char *trouble = entry_trouble(&look, entry);
        if (trouble != NULL)
            ledger_violate(world->ledger, "\"%s\" of instance %lld, run %lld, which was durable and %s, %s",
                           entry->name, (long long)entry->instance, (long long)entry->run,
                           entry->acknowledged ? "acknowledged" : "not acknowledged", trouble);
    }
    look_at(&look, orphans, check_orphan, world);
    look_close(&look);
}

size_t world_entries_held(struct world *world, bool *out_beyond)
{
    struct look look = look_open(world);
    size_t held = 0;
    *out_beyond = false;
    while (held < world->ledger->count && entry_trouble(&look, &world->ledger->entries[held]) == NULL)
        held++;
    for (size_t i = held; i < world->ledger->count; i++)
        *out_beyond |= entry_trouble(&look, &world->ledger->entries[i]) == NULL;
    look_close(&look);
    return held;
}

/* ---- The signature -------------------------------------------------------------------------------------------------- */

struct signing {
    char *text; /* of WORLD_SIGNATURE */
    size_t used;
};

static void sign(struct signing *signing, const char *before, const char *text, const char *behind)
{
    if (signing->used < WORLD_SIGNATURE)
        signing->used += (size_t)snprintf(signing->text + signing->used, WORLD_SIGNATURE - signing->used, "%s%s%s",
                                          before, text, behind);
}

static void sign_row(void *user, const char *const *columns, int count)
{
    for (int column = 0; column < count; column++)
        sign(user, "", text_of(columns[column]), column + 1 < count ? "|" : "|\n");
}

/* How far a run had come when it was ended or begun anew is a matter of luck; one that is interrupted has undone all.  So
 * is how many jobs an attempt took, and what they are called. */
#define RUNS_TOLD "IN (SELECT id, run FROM workflow_instances WHERE status <> 'terminated' OR error_name IS NOT NULL)"
#define TOLD RUNS_TOLD " AND workflow NOT LIKE '@%'"

void world_signature(struct world *world, char out_signature[WORLD_SIGNATURE])
{
    static const char *const queries[] = {
        "SELECT workflow, id, run, status, output, error_name FROM workflow_instances"
        " WHERE workflow NOT LIKE '@%' ORDER BY 1, 2",
        "SELECT id, run, name, kind, status, result, error_name FROM workflow_steps WHERE (id, run) " TOLD
        " ORDER BY 1, 3",
        "SELECT instance_id, run, type, payload, consumed_by FROM workflow_events WHERE (instance_id, run) " TOLD
        " AND type NOT LIKE '$%' ORDER BY 1, 3, 4",
        "SELECT DISTINCT id, run, step, level, message FROM workflow_logs"
        " WHERE category <> 'system' AND (id, run) " TOLD " ORDER BY 1, 3, 5",
        "SELECT id, run, step, 'app' FROM app WHERE (id, run) " RUNS_TOLD " ORDER BY 1, 3",
        "SELECT id, run, status, state FROM workflow_tasks ORDER BY 1",
        "SELECT instance_id, run, event, reason, outcome, status, last_error FROM workflow_hooks ORDER BY 1, 2, 3, 4",
    };
    struct look look = look_open(world);
    struct signing signing = { out_signature, 0 };
    out_signature[0] = '\0';
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        if (world->has_app || strstr(queries[i], "FROM app") == NULL)
            look_at(&look, queries[i], sign_row, &signing);
    for (size_t i = 0; i < world->ledger->told_count; i++)
        sign(&signing, "told ", world->ledger->told[i], "\n");
    if (signing.used >= WORLD_SIGNATURE)
        ledger_violate(world->ledger, "the signature is too long");
    look_close(&look);
}
