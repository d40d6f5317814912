/* migrations.c - the SQLite tables.  Rows refer to one integer key per instance and hold small integers instead of
 * words, so that a step is one short row.
 *
 * Integers stand for the enums of core/rows.h and service.h.  NULL is "none", for times as well.  The partial
 * indexes on workflow_task hold only the tasks that a claim may look at; a paused task is in none of them.
 *
 * Steps and log lines are stored in the order in which they were written, with a narrow index by run.  Stored by run
 * instead (WITHOUT ROWID), each of 256 runs in a batch would dirty a page of its own.  This way their rows share a
 * few pages, and a batch of step boundaries costs half as much once runs have more than about ten steps. */
#include "store/sqlite/migrations.h"

/* clang-format off */

/* Columns that were added later: the parent in version 4, the terms of a run in 7. */
#define LINK_COLUMNS(COLUMN)                                                                                           \
    COLUMN("workflow_instance", "parent INTEGER") COLUMN("workflow_instance", "parent_run INTEGER")                    \
    COLUMN("workflow_instance", "relation INTEGER")
#define INSTANCE_VERSION(COLUMN) COLUMN("workflow_instance", "version TEXT")
#define RUN_VERSION(COLUMN) COLUMN("workflow_run", "version TEXT")
/* Tasks from before version 3 are all in shard 0, which is as good as any other.  A restart gives a run its own
 * shard. */
#define SHARD(COLUMN) COLUMN("workflow_task", "shard INTEGER NOT NULL DEFAULT 0")
#define DEMAND(COLUMN) COLUMN("workflow_task", "demand INTEGER NOT NULL DEFAULT 0")
/* Columns of steps: the first was added in version 4, the others in 6.  The place of earlier steps is unknown. */
#define DESCRIPTION(COLUMN) COLUMN("workflow_step", "description TEXT")
#define STATE_COLUMNS(COLUMN)                                                                                          \
    COLUMN("workflow_step", "state INTEGER NOT NULL DEFAULT 0") COLUMN("workflow_step", "undoes TEXT")                 \
    COLUMN("workflow_step", "awaited_workflow TEXT") COLUMN("workflow_step", "awaited_id TEXT")                        \
    COLUMN("workflow_step", "fork TEXT") COLUMN("workflow_step", "fork_kind INTEGER")                                  \
    COLUMN("workflow_step", "branch INTEGER NOT NULL DEFAULT 0")                                                       \
    COLUMN("workflow_step", "branch_order INTEGER NOT NULL DEFAULT 0") COLUMN("workflow_step", "outer_forks TEXT")
#define IS_FAILURE(COLUMN) COLUMN("workflow_event", "is_failure INTEGER NOT NULL DEFAULT 0")
#define IS_REPAIR(COLUMN) COLUMN("workflow_log", "is_repair INTEGER NOT NULL DEFAULT 0")

/* Most instances have no parent and are in neither index.  The second holds only the children that the end of their
 * parent's run may concern, with all columns that it reads.  Likewise, instances without a version are not in the
 * index by version. */
#define CHILD_INDEXES                                                                                                  \
    "CREATE INDEX workflow_instance_child ON workflow_instance (parent) WHERE parent IS NOT NULL;"                     \
    "CREATE INDEX workflow_instance_open_child ON workflow_instance (parent, parent_run, relation)"                    \
    "  WHERE parent IS NOT NULL AND outcome IS NULL;"
#define VERSION_INDEX                                                                                                  \
    "CREATE INDEX workflow_instance_version ON workflow_instance (workflow, version) WHERE version IS NOT NULL;"

static const char schema_table[] = "CREATE TABLE workflow_schema (version INTEGER NOT NULL);"
                                   "INSERT INTO workflow_schema (version) VALUES (0);";

static const char instance_table[] =
    "CREATE TABLE workflow_instance ("
    "  key INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  workflow TEXT NOT NULL,"
    "  id TEXT NOT NULL,"
    "  run INTEGER NOT NULL,"
    "  outcome INTEGER," /* NULL while the run is open */
    "  params TEXT,"
    "  output TEXT,"
    "  error_name TEXT,"
    "  error_message TEXT,"
    "  created_at INTEGER NOT NULL,"
    "  updated_at INTEGER NOT NULL,"
    "  started_at INTEGER,"
    "  completed_at INTEGER" LINK_COLUMNS(PW_COLUMN_HERE) INSTANCE_VERSION(PW_COLUMN_HERE) ");"
    "CREATE UNIQUE INDEX workflow_instance_id ON workflow_instance (workflow, id);"
    "CREATE INDEX workflow_instance_order ON workflow_instance (workflow);" /* and, as every index, the key */
    "CREATE INDEX workflow_instance_ended ON workflow_instance (workflow, outcome) WHERE outcome IS NOT NULL;"
    CHILD_INDEXES VERSION_INDEX;

static const char task_table[] =
    "CREATE TABLE workflow_task ("
    "  instance INTEGER PRIMARY KEY,"
    "  workflow TEXT NOT NULL,"
    "  run INTEGER NOT NULL,"
    "  status INTEGER NOT NULL,"
    "  kind INTEGER NOT NULL,"
    "  due_at INTEGER NOT NULL,"
    "  processing INTEGER NOT NULL,"
    "  epoch INTEGER NOT NULL,"
    "  owner INTEGER,"
    "  locked_until INTEGER,"
    "  pause_requested INTEGER NOT NULL,"
    "  started_at INTEGER,"
    "  updated_at INTEGER NOT NULL,"
    "  event_seq INTEGER NOT NULL" SHARD(PW_COLUMN_HERE) DEMAND(PW_COLUMN_HERE) ");"
    "CREATE INDEX workflow_task_resumable ON workflow_task (workflow, due_at)"
    "  WHERE kind < 3 AND processing = 0 AND status < 2;"
    "CREATE INDEX workflow_task_startable ON workflow_task (workflow, due_at)"
    "  WHERE kind = 3 AND processing = 0 AND status < 2;"
    /* Has all columns that reaping reads, because it looks at every lease. */
    "CREATE INDEX workflow_task_leased ON workflow_task (workflow, locked_until, owner, processing)"
    "  WHERE processing = 1;"
    "CREATE INDEX workflow_task_status ON workflow_task (workflow, status);";

static const char step_table[] =
    "CREATE TABLE workflow_step ("
    "  instance INTEGER NOT NULL,"
    "  run INTEGER NOT NULL,"
    "  seq INTEGER NOT NULL,"
    "  name TEXT NOT NULL,"
    "  kind INTEGER NOT NULL,"
    "  status INTEGER NOT NULL,"
    "  attempts INTEGER NOT NULL,"
    "  attempts_max INTEGER NOT NULL,"
    "  timeout INTEGER NOT NULL,"
    "  next_retry_at INTEGER,"
    "  wake_at INTEGER,"
    "  event_at INTEGER,"
    "  wait_event_type TEXT,"
    "  result TEXT,"
    "  error_name TEXT,"
    "  error_message TEXT,"
    "  created_at INTEGER NOT NULL,"
    "  updated_at INTEGER NOT NULL" DESCRIPTION(PW_COLUMN_HERE) STATE_COLUMNS(PW_COLUMN_HERE) ");"
    "CREATE UNIQUE INDEX workflow_step_order ON workflow_step (instance, run, seq);"
    "CREATE INDEX workflow_step_waiting ON workflow_step (instance, run, seq) WHERE status = 0;";

static const char event_table[] =
    "CREATE TABLE workflow_event ("
    "  instance INTEGER NOT NULL,"
    "  run INTEGER NOT NULL,"
    "  seq INTEGER NOT NULL,"
    "  id TEXT,"
    "  type TEXT NOT NULL,"
    "  payload TEXT,"
    "  created_at INTEGER NOT NULL,"
    "  delivered_at INTEGER,"
    "  consumed_by TEXT" IS_FAILURE(PW_COLUMN_HERE) ","
    "  PRIMARY KEY (instance, run, seq)) WITHOUT ROWID;"
    "CREATE UNIQUE INDEX workflow_event_id ON workflow_event (instance, run, id);"
    "CREATE INDEX workflow_event_new ON workflow_event (instance, run) WHERE delivered_at IS NULL;";

static const char log_table[] = "CREATE TABLE workflow_log ("
                                "  instance INTEGER NOT NULL,"
                                "  run INTEGER NOT NULL,"
                                "  seq INTEGER NOT NULL,"
                                "  step TEXT,"
                                "  attempt INTEGER NOT NULL,"
                                "  level INTEGER NOT NULL,"
                                "  category TEXT NOT NULL,"
                                "  message TEXT NOT NULL,"
                                "  data TEXT,"
                                "  is_replay INTEGER NOT NULL,"
                                "  created_at INTEGER NOT NULL" IS_REPAIR(PW_COLUMN_HERE) ");"
                                "CREATE UNIQUE INDEX workflow_log_order ON workflow_log (instance, run, seq);";

/* Version 2.  A row is deleted once it is delivered.  A row without next_at has failed for good.  The list indexes
 * are partial, so that many rows of one state do not slow down listing the few of the other.  Each ends with the
 * key, as every index does, which is the order of lists. */
static const char hook_table[] =
    "CREATE TABLE workflow_hook ("
    "  key INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  id TEXT NOT NULL,"
    "  hook TEXT NOT NULL,"
    "  event INTEGER NOT NULL,"
    "  reason INTEGER,"
    "  outcome INTEGER,"
    "  instance INTEGER NOT NULL,"
    "  run INTEGER NOT NULL,"
    "  due_at INTEGER,"
    "  error_name TEXT,"
    "  error_message TEXT,"
    "  created_at INTEGER NOT NULL,"
    "  attempts INTEGER NOT NULL,"
    "  attempts_max INTEGER NOT NULL,"
    "  next_at INTEGER,"
    "  locked_until INTEGER,"
    "  epoch INTEGER NOT NULL,"
    "  last_error TEXT);"
    "CREATE UNIQUE INDEX workflow_hook_id ON workflow_hook (id);"
    "CREATE INDEX workflow_hook_due ON workflow_hook (hook, next_at) WHERE next_at IS NOT NULL;"
    "CREATE INDEX workflow_hook_pending ON workflow_hook (hook) WHERE next_at IS NOT NULL;"
    "CREATE INDEX workflow_hook_failed ON workflow_hook (hook) WHERE next_at IS NULL;"
    "CREATE INDEX workflow_hook_all_pending ON workflow_hook (key) WHERE next_at IS NOT NULL;"
    "CREATE INDEX workflow_hook_all_failed ON workflow_hook (key) WHERE next_at IS NULL;";

/* Version 3.  Other runners delete the rows of dead ones, see runners.c. */
static const char runner_table[] = "CREATE TABLE workflow_runner ("
                                   "  owner INTEGER PRIMARY KEY,"
                                   "  name TEXT NOT NULL,"
                                   "  workflows TEXT NOT NULL,"
                                   "  is_sharing INTEGER NOT NULL,"
                                   "  started_at INTEGER NOT NULL);";

/* At most one row: which part of a store of several databases this one was.  It is only read (PW_READ_PART). */
static const char set_table[] = "CREATE TABLE workflow_set ("
                                "  key INTEGER PRIMARY KEY CHECK (key = 1),"
                                "  id INTEGER NOT NULL,"
                                "  number INTEGER NOT NULL," /* from 0 */
                                "  size INTEGER NOT NULL);";

/* Version 5.  One row for each run except the newest of an instance, which the instance itself describes.  Runs that
 * were replaced before have no row. */
static const char run_table[] = "CREATE TABLE workflow_run ("
                                "  instance INTEGER NOT NULL,"
                                "  run INTEGER NOT NULL,"
                                "  outcome INTEGER NOT NULL,"
                                "  output TEXT,"
                                "  error_name TEXT,"
                                "  error_message TEXT,"
                                "  started_at INTEGER,"
                                "  completed_at INTEGER NOT NULL,"
                                "  replaced_at INTEGER NOT NULL" RUN_VERSION(PW_COLUMN_HERE) ");"
                                "CREATE UNIQUE INDEX workflow_run_order ON workflow_run (instance, run);";

/* Version 6.  Fills in what was only in texts until then: the state of a step, which step a compensation undoes, and
 * which instance a call or a child waits for.  A compensation's name that was too long was cut and given a number.
 * Such a compensation undoes the step whose name begins in the same way. */
static const char step_state[] =
    STATE_COLUMNS(PW_COLUMN_ADDED)
    "UPDATE workflow_step SET state = CASE WHEN status = 1 THEN 1 WHEN error_name IS NOT 'STEP_ABANDONED' THEN 2"
    "    WHEN kind = 4 AND error_message = 'the run was interrupted while its job was out' THEN 4 ELSE 3 END"
    "  WHERE status <> 0;"
    "UPDATE workflow_step SET undoes = coalesce("
    "    (SELECT o.name FROM workflow_step o WHERE o.instance = workflow_step.instance AND o.run = workflow_step.run"
    "      AND length(CAST(workflow_step.name AS BLOB)) > 252 AND length(CAST(o.name AS BLOB)) > 244"
    "      AND substr(o.name, 1, length(workflow_step.name) - 29)"
    "        = substr(workflow_step.name, 13, length(workflow_step.name) - 29) ORDER BY o.seq LIMIT 1),"
    "    substr(name, 13))"
    "  WHERE substr(name, 1, 12) = 'compensate: ';"
    "UPDATE workflow_step SET awaited_workflow = substr(wait_event_type, 2, instr(wait_event_type, '/') - 2),"
    "    awaited_id = substr(wait_event_type, instr(wait_event_type, '/') + 1)"
    "  WHERE kind IN (4, 5) AND substr(wait_event_type, 1, 1) = '$' AND instr(wait_event_type, '/') > 0;"
    /* A deferred without a timeout was given a year. */
    "UPDATE workflow_step SET timeout = wake_at - updated_at"
    "  WHERE kind = 6 AND status = 0 AND wake_at - updated_at < 31535940000;";

/* Version 8.  Until then a "!" after its type marked an answer as a failure. */
static const char event_failure[] =
    IS_FAILURE(PW_COLUMN_ADDED)
    "UPDATE workflow_event SET is_failure = 1, type = substr(type, 1, length(type) - 1)"
    "  WHERE substr(type, 1, 1) = '$' AND substr(type, -1) = '!';";

/* Until then the text of a log line showed that failed steps were reset. */
static const char log_repair[] =
    IS_REPAIR(PW_COLUMN_ADDED)
    "UPDATE workflow_log SET is_repair = 1"
    "  WHERE category = 'system' AND message LIKE 'resumed after repair, and tried again%';";

#define ISO_TIME(column) "strftime('%Y-%m-%dT%H:%M:%fZ', " column " / 1000.0, 'unixepoch')"
#define LATER(left, right) "max(" left ", coalesce(" right ", 0))"
#define HEARTBEAT ""

enum { NEWEST = 8 };

/* A new database gets its views after its tables, because an existing view makes every ALTER TABLE expensive.  An earlier
 * database gets its views anew. */
#define VIEW(since, since_postgres, name, select)                                                                      \
    { 0, since, "CREATE VIEW " name " AS " select },                                                                   \
    { since, NEWEST, "DROP VIEW IF EXISTS " name ";CREATE VIEW " name " AS " select },

const struct pw_migration pw_sqlite_migrations[] = {
    { 0, 1, schema_table },
    { 0, 1, instance_table },
    { 0, 1, task_table },
    { 0, 1, step_table },
    { 0, 1, event_table },
    { 0, 1, log_table },
    { 0, 2, hook_table },
    { 0, 3, runner_table },
    { 0, 3, set_table },
    { 0, 5, run_table },
    { 1, 3, SHARD(PW_COLUMN_ADDED) },
    { 1, 4, LINK_COLUMNS(PW_COLUMN_ADDED) CHILD_INDEXES DEMAND(PW_COLUMN_ADDED) DESCRIPTION(PW_COLUMN_ADDED) },
    { 1, 6, step_state },
    { 1, 7, INSTANCE_VERSION(PW_COLUMN_ADDED) VERSION_INDEX },
    { 5, 7, RUN_VERSION(PW_COLUMN_ADDED) },
    { 1, 8, event_failure },
    { 1, 8, log_repair },
    PW_VIEWS(VIEW)
};
const size_t pw_sqlite_migration_count = sizeof pw_sqlite_migrations / sizeof pw_sqlite_migrations[0];
/* clang-format on */
