/* read.c - reads that find rows (store/read.h).  Each read has a connection of its own.  A read of rows is one
 * statement, so it sees one state of the database, and every unit that was answered before it began. */
#include "store/sqlite/read.h"

#include "base/error.h"
#include "base/rows.h"
#include "store/page.h"
#include "store/sqlite/schema.h"

/* ---- Statements ---------------------------------------------------------------------------------------------- */

/* clang-format off */

/* The instance, its task, and when its newest step changed; see pw_instance_merge(). */
#define INSTANCE_COLUMNS_WITH(step_updated_at)                                                                         \
    PW_COLUMNS(PW_INSTANCE_FIELDS, "i.") ", t.instance, " TASK_COLUMNS_OF("t.") ", " step_updated_at
#define INSTANCE_COLUMNS                                                                                               \
    INSTANCE_COLUMNS_WITH("(SELECT s.updated_at FROM workflow_step s"                                                  \
                          "  WHERE s.instance = t.instance AND s.run = t.run ORDER BY s.seq DESC LIMIT 1)")
#define INSTANCE_AND_TASK " FROM workflow_instance i LEFT JOIN workflow_task t ON t.instance = i.key"

/* The pages of PW_INSTANCE_FILTERS.  ?1 is the workflow, or the value of a filter that stands alone; ?2 is where the
 * page begins, ?3 how many rows, ?4 the value. */
#define INSTANCE_PAGES(QUERY, name, shape, column, type, index)                                                        \
    QUERY(LIST_BY_##name##_OLDEST,                                                                                     \
        LIST_##shape(#column, #index) KEY_##shape " > ?2 ORDER BY " KEY_##shape " LIMIT ?3")                           \
    QUERY(LIST_BY_##name##_NEWEST,                                                                                     \
        LIST_##shape(#column, #index) KEY_##shape " < ?2 ORDER BY " KEY_##shape " DESC LIMIT ?3")
#define LIST_INSTANCES(index)                                                                                          \
    "SELECT " INSTANCE_COLUMNS " FROM workflow_instance i INDEXED BY " index                                           \
    " LEFT JOIN workflow_task t ON t.instance = i.key WHERE "
#define LIST_WORKFLOW(column, index) LIST_ALONE(column, index)
#define LIST_ALONE(column, index) LIST_INSTANCES(index) "i." column " = ?1 AND "
#define LIST_INSTANCE(column, index) LIST_INSTANCES(index) "i.workflow = ?1 AND i." column " = ?4 AND "
#define LIST_TASK(column, index)                                                                                       \
    "SELECT " INSTANCE_COLUMNS " FROM workflow_task t INDEXED BY " index                                               \
    " CROSS JOIN workflow_instance i ON i.key = t.instance WHERE t.workflow = ?1 AND t." column " = ?4 AND "
#define KEY_WORKFLOW "i.key"
#define KEY_ALONE "i.key"
#define KEY_INSTANCE "i.key"
#define KEY_TASK "t.instance"

/* The pages of a history: ?1 is the instance, ?2 where the page begins, ?3 how many rows, ?4 the run. */
#define PAGES(QUERY, name, columns, table, number, filter)                                                             \
    QUERY(name##_OLDEST, "SELECT " columns " FROM " table " WHERE instance = ?1 AND " number " > ?2" filter            \
        " ORDER BY " number " LIMIT ?3")                                                                               \
    QUERY(name##_NEWEST, "SELECT " columns " FROM " table " WHERE instance = ?1 AND " number " < ?2" filter            \
        " ORDER BY " number " DESC LIMIT ?3")
#define OF_RUN " AND run = ?4"

#define HOOKS(index) "SELECT " HOOK_COLUMNS " FROM workflow_hook h" index HOOK_INSTANCE " WHERE h.key > ?1"
#define PENDING_OF_HOOK HOOKS(" INDEXED BY workflow_hook_pending") " AND h.next_at IS NOT NULL AND h.hook = ?3"
#define FAILED_OF_HOOK HOOKS(" INDEXED BY workflow_hook_failed") " AND h.next_at IS NULL AND h.hook = ?3"

#define QUERIES(QUERY)                                                                                                 \
    QUERY(INSTANCE_BY_ID, "SELECT " INSTANCE_COLUMNS INSTANCE_AND_TASK " WHERE i.workflow = ?1 AND i.id = ?2")         \
    QUERY(INSTANCE_BY_KEY, "SELECT " INSTANCE_COLUMNS INSTANCE_AND_TASK " WHERE i.key = ?1")                           \
    /* With the newest of the steps that wait or, when none does or the run has ended, the newest of all (n).  Mostly  \
     * the newest is the one that waits: then nothing else is looked for. */                                           \
    QUERY(INSTANCE_CURRENT,                                                                                            \
        "SELECT " INSTANCE_COLUMNS_WITH("n.updated_at") ", s.seq IS NOT NULL, " STEP_COLUMNS_OF("s.") INSTANCE_AND_TASK\
        " LEFT JOIN workflow_step n ON n.rowid = (SELECT o.rowid FROM workflow_step o"                                 \
        "  WHERE o.instance = i.key AND o.run = i.run ORDER BY o.seq DESC LIMIT 1)"                                    \
        " LEFT JOIN workflow_step s ON s.rowid = CASE WHEN n.status = 0 OR t.instance IS NULL THEN n.rowid"            \
        "  ELSE coalesce((SELECT w.rowid FROM workflow_step w INDEXED BY workflow_step_waiting"                        \
        "   WHERE w.instance = t.instance AND w.run = t.run AND w.status = 0 ORDER BY w.seq DESC LIMIT 1),"            \
        "  n.rowid) END WHERE i.workflow = ?1 AND i.id = ?2")                                                          \
    PW_INSTANCE_FILTERS(INSTANCE_PAGES, QUERY)                                                                         \
    PAGES(QUERY, EARLIER_RUNS, EARLIER_RUN_COLUMNS, "workflow_run", "run", "")                                         \
    PAGES(QUERY, STEPS, STEP_COLUMNS, "workflow_step", "seq", OF_RUN)                                                  \
    PAGES(QUERY, EVENTS, EVENT_COLUMNS, "workflow_event", "seq", OF_RUN)                                               \
    PAGES(QUERY, LOGS, LOG_COLUMNS, "workflow_log", "seq",                                                             \
        OF_RUN " AND (?5 < 0 OR level = ?5) AND (?6 IS NULL OR category = ?6)")                                        \
    PAGES(QUERY, STEPS_WAITING, STEP_COLUMNS, "workflow_step INDEXED BY workflow_step_waiting", "seq",                 \
        OF_RUN " AND status = 0")                                                                                      \
    QUERY(EVENT_BY_ID,                                                                                                 \
        "SELECT " EVENT_COLUMNS " FROM workflow_event INDEXED BY workflow_event_id"                                    \
        " WHERE instance = ?1 AND run = ?2 AND id = ?3")                                                               \
    QUERY(EVENTS_NEW,                                                                                                  \
        "SELECT " EVENT_COLUMNS " FROM workflow_event INDEXED BY workflow_event_new"                                   \
        " WHERE instance = ?1 AND run = ?2 AND seq > ?3 AND delivered_at IS NULL ORDER BY seq")                        \
    QUERY(HOOKS, HOOKS("") " ORDER BY h.key LIMIT ?2")                                                                 \
    QUERY(HOOKS_PENDING,                                                                                               \
        HOOKS(" INDEXED BY workflow_hook_all_pending") " AND h.next_at IS NOT NULL ORDER BY h.key LIMIT ?2")           \
    QUERY(HOOKS_FAILED,                                                                                                \
        HOOKS(" INDEXED BY workflow_hook_all_failed") " AND h.next_at IS NULL ORDER BY h.key LIMIT ?2")                \
    QUERY(HOOKS_OF, PENDING_OF_HOOK " UNION ALL " FAILED_OF_HOOK " ORDER BY 1 LIMIT ?2")                               \
    QUERY(HOOKS_OF_PENDING, PENDING_OF_HOOK " ORDER BY h.key LIMIT ?2")                                                \
    QUERY(HOOKS_OF_FAILED, FAILED_OF_HOOK " ORDER BY h.key LIMIT ?2")                                                  \
    QUERY(PART_READ, "SELECT number + 1, size FROM workflow_set WHERE key = 1 AND size > 1")

/* clang-format on */

enum { BEFORE_FIRST = PW_QUERIES_OF_READ - 1, QUERIES(PW_STATEMENT_NUMBER) };

const struct pw_statement pw_sqlite_queries_of_read[PW_STATEMENTS_MAX] = { QUERIES(PW_STATEMENT) };
static_assert(QUERY_LIST_BY_WORKFLOW_OLDEST + 2 * (int)PW_FILTER_COUNT == QUERY_EARLIER_RUNS_OLDEST, "see page.h");
static_assert(QUERY_HOOKS_PENDING == QUERY_HOOKS + 1 && QUERY_HOOKS_OF == QUERY_HOOKS + 3 &&
                  QUERY_HOOKS_OF_FAILED == QUERY_HOOKS + 5,
              "see page.h");

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

void pw_read_task(struct pw_query *query, struct pw_task *task)
{
    pw_column_row(query, NULL, &pw_task_type, task);
}

void pw_read_link(struct pw_query *query, struct pw_link *out_link)
{
    out_link->parent = pw_column_count(query);
    out_link->run = pw_column_count(query);
    out_link->relation = (enum pw_relation)pw_column_choice(query, PW_RELATION_JOB);
}

void pw_read_hook_row(struct pw_query *query, struct pw_arena *arena, struct pw_hook_row *hook)
{
    pw_column_row(query, arena, &pw_delivery_type, hook);
    pw_column_row(query, arena, &pw_hook_type, hook);
    hook->workflow = pw_column_text(query, arena);
    hook->instance_id = pw_column_text(query, arena);
}

/* How the rows of a statement are read. */
struct shape {
    const struct pw_row_type *type; /* if a row is just the fields of this type; or NULL */
    void (*read)(struct pw_query *query, struct pw_arena *arena, void *row);
    size_t size;
    pw_row_bytes_fn *bytes_of; /* for lists that are limited by payload size; else NULL */
};

static void read_instance(struct pw_query *query, struct pw_arena *arena, void *row)
{
    struct pw_instance *instance = row;
    pw_column_row(query, arena, &pw_instance_type, instance);
    instance->has_task = pw_column_integer(query) != 0; /* its key, which is never 0 */
    pw_read_task(query, &instance->task);
    pw_instance_merge(instance, pw_column_time(query));
}

static void read_current(struct pw_query *query, struct pw_arena *arena, void *row)
{
    struct pw_current *current = row;
    read_instance(query, arena, &current->instance);
    current->has_step = pw_column_integer(query) != 0;
    if (current->has_step)
        pw_column_row(query, arena, &pw_step_type, &current->step);
}

static void read_hook(struct pw_query *query, struct pw_arena *arena, void *row)
{
    pw_read_hook_row(query, arena, row);
}

static const struct shape instances = { NULL, read_instance, sizeof(struct pw_instance), pw_instance_bytes },
                          currents = { NULL, read_current, sizeof(struct pw_current), NULL },
                          runs = { &pw_earlier_run_type, NULL, sizeof(struct pw_earlier_run), pw_earlier_run_bytes },
                          steps = { &pw_step_type, NULL, sizeof(struct pw_step_row), pw_step_bytes },
                          events = { &pw_event_type, NULL, sizeof(struct pw_event_row), pw_event_bytes },
                          logs = { &pw_log_type, NULL, sizeof(struct pw_log_row), pw_log_bytes },
                          hooks = { NULL, read_hook, sizeof(struct pw_hook_row), NULL },
                          runners = { &pw_runner_type, NULL, sizeof(struct pw_runner_row), NULL };

/* Finds the statement's rows, up to bytes_max of payloads (0: all). */
static pawl_status find_page(struct pw_reading *reading, const struct shape *shape, size_t bytes_max, unsigned name,
                             const struct pw_value *values, size_t count)
{
    struct pw_query *query = &reading->query;
    struct pw_rows rows = { .arena = reading->arena, .row_size = shape->size };
    size_t bytes = 0;
    void *row;
    pw_query_start(query, reading->connection, name, values, count);
    while (!pw_page_is_full(rows.count, bytes, bytes_max) && (row = pw_query_next(query, &rows)) != NULL) {
        if (shape->type != NULL)
            pw_column_row(query, reading->arena, shape->type, row);
        else
            shape->read(query, reading->arena, row);
        if (shape->bytes_of != NULL)
            bytes += shape->bytes_of(row);
    }
    reading->found->rows = rows.rows;
    reading->found->count = rows.count;
    return pw_query_end(query, reading->error);
}

static pawl_status find(struct pw_reading *reading, const struct shape *shape, unsigned name,
                        const struct pw_value *values, size_t count)
{
    return find_page(reading, shape, 0, name, values, count);
}

/* ---- Instances ----------------------------------------------------------------------------------------------- */

pawl_status pw_sqlite_read_instance(struct pw_reading *reading)
{
    const struct pw_instance_name *name = &reading->asked->name;
    return find(reading, &instances, QUERY_INSTANCE_BY_ID, PW_VALUES(pw_str(name->workflow), pw_str(name->id)));
}

pawl_status pw_sqlite_read_current(struct pw_reading *reading)
{
    const struct pw_instance_name *name = &reading->asked->name;
    return find(reading, &currents, QUERY_INSTANCE_CURRENT, PW_VALUES(pw_str(name->workflow), pw_str(name->id)));
}

pawl_status pw_sqlite_read_instance_by_key(struct pw_reading *reading)
{
    return find(reading, &instances, QUERY_INSTANCE_BY_KEY, PW_VALUES(pw_int(reading->asked->key)));
}

/* One statement for each, because there are no round trips and each is found by an index. */
pawl_status pw_sqlite_read_instances(struct pw_reading *reading)
{
    const struct pw_instances_wanted *wanted = &reading->asked->wanted;
    struct pw_instance *found =
        pw_arena_zero(reading->arena, wanted->count * sizeof *found + 1); /* not NULL for none */
    pawl_status status = found != NULL ? PAWL_OK : pw_error_plain(reading->error, PAWL_NOMEM);
    for (size_t i = 0; i < wanted->count && status == PAWL_OK; i++) {
        status = wanted->keys != NULL
                     ? find(reading, &instances, QUERY_INSTANCE_BY_KEY, PW_VALUES(pw_int(wanted->keys[i])))
                     : find(reading, &instances, QUERY_INSTANCE_BY_ID,
                            PW_VALUES(pw_str(wanted->workflows[i]), pw_str(wanted->ids[i])));
        if (status == PAWL_OK && reading->found->count > 0)
            found[i] = *reading->found->instances;
    }
    reading->found->instances = found;
    reading->found->count = wanted->count;
    return status;
}

pawl_status pw_sqlite_list_instances(struct pw_reading *reading)
{
    const struct pw_instance_query *query = &reading->asked->list;
    const struct pw_filter *filter = &pw_filters[query->by];
    const struct pw_value value = filter->is_text ? pw_str(query->text) : pw_int(query->number);
    const struct pw_value values[] = { filter->has_workflow ? pw_str(query->workflow) : value,
                                       pw_int(pw_page_start(query->after_key, query->oldest_first)),
                                       pw_size(query->max), value };
    return find_page(reading, &instances, query->bytes_max,
                     pw_page_query(QUERY_LIST_BY_WORKFLOW_OLDEST + 2 * query->by, !query->oldest_first), values,
                     filter->has_workflow && filter->has_value ? 4 : 3);
}

/* ---- History ------------------------------------------------------------------------------------------------- */

/* parameters: how many the statement has. */
static pawl_status find_history(struct pw_reading *reading, const struct shape *shape, unsigned oldest,
                                size_t parameters)
{
    const struct pw_history_query *query = &reading->asked->history;
    const struct pw_value values[] = {
        pw_int(query->instance), pw_int(pw_page_start(query->after_seq, !query->newest_first)), pw_size(query->max),
        pw_int(query->run),      pw_int(query->has_level ? (int64_t)query->level : -1),         pw_str(query->category)
    };
    return find_page(reading, shape, query->bytes_max, pw_page_query(oldest, query->newest_first), values, parameters);
}

pawl_status pw_sqlite_read_earlier_runs(struct pw_reading *reading)
{
    return find_history(reading, &runs, QUERY_EARLIER_RUNS_OLDEST, 3);
}

pawl_status pw_sqlite_read_steps(struct pw_reading *reading)
{
    return find_history(reading, &steps, QUERY_STEPS_OLDEST, 4);
}

pawl_status pw_sqlite_read_events(struct pw_reading *reading)
{
    return find_history(reading, &events, QUERY_EVENTS_OLDEST, 4);
}

pawl_status pw_sqlite_read_logs(struct pw_reading *reading)
{
    return find_history(reading, &logs, QUERY_LOGS_OLDEST, 6);
}

pawl_status pw_sqlite_read_event(struct pw_reading *reading)
{
    const struct pw_run_query *query = &reading->asked->run;
    return find(reading, &events, QUERY_EVENT_BY_ID,
                PW_VALUES(pw_int(query->instance), pw_int(query->run), pw_str(query->id)));
}

pawl_status pw_sqlite_read_new_events(struct pw_reading *reading)
{
    const struct pw_run_query *query = &reading->asked->run;
    return find(reading, &events, QUERY_EVENTS_NEW,
                PW_VALUES(pw_int(query->instance), pw_int(query->run), pw_int(query->after_seq)));
}

pawl_status pw_sqlite_read_waiting_steps(struct pw_reading *reading)
{
    return find_history(reading, &steps, QUERY_STEPS_WAITING_OLDEST, 4);
}

/* Never asked for, because the store does not set reads_runs. */
pawl_status pw_sqlite_read_run(struct pw_reading *reading)
{
    return pw_error_plain(reading->error, PAWL_INVALID);
}

/* ---- Hooks and runners ------------------------------------------------------------------------------------------ */

pawl_status pw_sqlite_list_hooks(struct pw_reading *reading)
{
    const struct pw_hook_query *query = &reading->asked->hooks;
    const struct pw_value values[] = { pw_int(query->after_key), pw_size(query->max), pw_str(query->hook) };
    return find(reading, &hooks, pw_hooks_query(QUERY_HOOKS, query), values, query->hook.data != NULL ? 3 : 2);
}

/* Leaves out the dead ones. */
pawl_status pw_sqlite_list_runners(struct pw_reading *reading)
{
    size_t count = 0;
    pawl_status status = find(reading, &runners, PW_QUERY_RUNNERS, PW_NO_VALUES);
    struct pw_runner_row *rows = reading->found->runners;
    int64_t now_ms = reading->sqlite->store.ops->now_ms(&reading->sqlite->store);
    for (size_t i = 0; i < reading->found->count && status == PAWL_OK; i++) {
        if (pw_sqlite_is_dead(reading->sqlite, rows[i].owner))
            continue;
        rows[count] = rows[i];
        rows[count++].seen_at_ms = now_ms;
    }
    reading->found->count = count;
    return status;
}

/* ---- What the database is ----------------------------------------------------------------------------------------- */

pawl_status pw_sqlite_read_schema(struct pw_reading *reading)
{
    struct pw_schema_found found = { .known = pw_sqlite_newest_version() };
    pawl_status status = pw_sqlite_read_version(reading->connection, &found.version, reading->error);
    reading->found->schema = found;
    return status;
}

pawl_status pw_sqlite_read_part(struct pw_reading *reading)
{
    struct pw_part part = { 0, 0 };
    pw_query_start(&reading->query, reading->connection, QUERY_PART_READ, PW_NO_VALUES);
    if (pw_query_step(&reading->query)) {
        part.number = pw_column_integer(&reading->query);
        part.count = pw_column_integer(&reading->query);
    }
    reading->found->part = part;
    return pw_query_end(&reading->query, reading->error);
}

/* ---- The store's function ---------------------------------------------------------------------------------------- */

static pawl_status answer(struct pw_reading *reading)
{
    static pawl_status (*const functions[])(struct pw_reading *) = {
#define FUNCTION(kind, function) [PW_READ_##kind] = pw_sqlite_##function,
        PW_READS(FUNCTION)
#undef FUNCTION
    };
    return functions[reading->asked->kind](reading);
}

pawl_status pw_sqlite_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                           struct pw_found *out_found, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    struct pw_reading reading = {
        .sqlite = sqlite, .asked = asked, .arena = arena, .found = out_found, .error = error
    };
    pawl_status status = PAWL_OK;
    if (asked->kind == PW_READ_PART) { /* while the store is being opened, before anybody else reads */
        reading.connection = pw_sqlite_take_writer(sqlite);
        status = answer(&reading);
        pw_sqlite_give_writer(sqlite);
        return status;
    }
    if (asked->kind == PW_READ_TASK_COUNTS || asked->kind == PW_READ_HOOKS) /* the readiness check reads these */
        status = pw_sqlite_file_check(&sqlite->file, error);
    if (status == PAWL_OK)
        status = pw_sqlite_take_reader(sqlite, &reading.connection, error);
    if (status != PAWL_OK)
        return status;
    status = answer(&reading);
    pw_sqlite_give_reader(sqlite, reading.connection);
    return status;
}
