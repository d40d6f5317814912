/* old_schema_sqlite.c - see old_schema.h. */
#include "old_schema.h"

/* clang-format off */

static const char schema_table[] = "CREATE TABLE workflow_schema (version INTEGER NOT NULL);"
                                   "INSERT INTO workflow_schema (version) VALUES (0);";

static const char instance_table[] =
    "CREATE TABLE workflow_instance ("
    "  key INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  workflow TEXT NOT NULL,"
    "  id TEXT NOT NULL,"
    "  run INTEGER NOT NULL,"
    "  outcome INTEGER," /* NULL while it has not ended */
    "  params TEXT,"
    "  output TEXT,"
    "  error_name TEXT,"
    "  error_message TEXT,"
    "  created_at INTEGER NOT NULL,"
    "  updated_at INTEGER NOT NULL,"
    "  started_at INTEGER,"
    "  completed_at INTEGER);"
    "CREATE UNIQUE INDEX workflow_instance_id ON workflow_instance (workflow, id);"
    "CREATE INDEX workflow_instance_order ON workflow_instance (workflow);" /* and, as in every index, the key */
    "CREATE INDEX workflow_instance_ended ON workflow_instance (workflow, outcome) WHERE outcome IS NOT NULL;";

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
    "  event_seq INTEGER NOT NULL);"
    "CREATE INDEX workflow_task_resumable ON workflow_task (workflow, due_at)"
    "  WHERE kind < 3 AND processing = 0 AND status < 2;"
    "CREATE INDEX workflow_task_startable ON workflow_task (workflow, due_at)"
    "  WHERE kind = 3 AND processing = 0 AND status < 2;"
    /* With all that reaping reads, because each claim looks at every lease. */
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
    "  updated_at INTEGER NOT NULL);"
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
    "  consumed_by TEXT,"
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
                                "  created_at INTEGER NOT NULL);"
                                "CREATE UNIQUE INDEX workflow_log_order ON workflow_log (instance, run, seq);";

/* Version 2.  A row is deleted once it is delivered; one without next_at has failed for good.  The indexes of lists are
 * partial, so that the many of one status are not in the way of the few of the other; each ends, as every index does,
 * with the key, which is the order of lists. */
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

/* Version 3.  Tasks from before are all in shard 0, which is as good as any other; a run that is restarted gets its own.
 * The rows of runners that have died are deleted by the others, see runners.c. */
static const char task_shard[] = "ALTER TABLE workflow_task ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;";

static const char runner_table[] = "CREATE TABLE workflow_runner ("
                                   "  owner INTEGER PRIMARY KEY,"
                                   "  name TEXT NOT NULL,"
                                   "  workflows TEXT NOT NULL,"
                                   "  is_sharing INTEGER NOT NULL,"
                                   "  started_at INTEGER NOT NULL);";

static const char set_table[] = "CREATE TABLE workflow_set ("
                                "  key INTEGER PRIMARY KEY CHECK (key = 1),"
                                "  id INTEGER NOT NULL,"
                                "  number INTEGER NOT NULL," /* from 0 */
                                "  size INTEGER NOT NULL);";

/* Version 4.  Most instances have no parent, and are in neither of the indexes; the second holds just those children that
 * the end of their parent's run may concern, with all that it asks about them. */
static const char instance_link[] =
    "ALTER TABLE workflow_instance ADD COLUMN parent INTEGER;"
    "ALTER TABLE workflow_instance ADD COLUMN parent_run INTEGER;"
    "ALTER TABLE workflow_instance ADD COLUMN relation INTEGER;"
    "CREATE INDEX workflow_instance_child ON workflow_instance (parent) WHERE parent IS NOT NULL;"
    "CREATE INDEX workflow_instance_open_child ON workflow_instance (parent, parent_run, relation)"
    "  WHERE parent IS NOT NULL AND outcome IS NULL;";

static const char task_demand[] = "ALTER TABLE workflow_task ADD COLUMN demand INTEGER NOT NULL DEFAULT 0;";

static const char step_description[] = "ALTER TABLE workflow_step ADD COLUMN description TEXT;";

/* Version 5.  A row for each run but the newest of an instance, which the instance itself describes.  Runs that were replaced
 * before have no row. */
static const char run_table[] = "CREATE TABLE workflow_run ("
                                "  instance INTEGER NOT NULL,"
                                "  run INTEGER NOT NULL,"
                                "  outcome INTEGER NOT NULL,"
                                "  output TEXT,"
                                "  error_name TEXT,"
                                "  error_message TEXT,"
                                "  started_at INTEGER,"
                                "  completed_at INTEGER NOT NULL,"
                                "  replaced_at INTEGER NOT NULL);"
                                "CREATE UNIQUE INDEX workflow_run_order ON workflow_run (instance, run);";

/* Version 6.  What had to be read from texts until then: what became of a step, which step a compensation undoes, and whose end
 * a call or a child waits for.  A name that was too long for the prefix was cut, with a number behind it: such a compensation
 * undoes the step that begins like it. */
static const char step_state[] =
    "ALTER TABLE workflow_step ADD COLUMN state INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE workflow_step ADD COLUMN undoes TEXT;"
    "ALTER TABLE workflow_step ADD COLUMN awaited_workflow TEXT;"
    "ALTER TABLE workflow_step ADD COLUMN awaited_id TEXT;"
    "ALTER TABLE workflow_step ADD COLUMN fork TEXT;" /* the place of earlier steps is not known */
    "ALTER TABLE workflow_step ADD COLUMN fork_kind INTEGER;"
    "ALTER TABLE workflow_step ADD COLUMN branch INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE workflow_step ADD COLUMN branch_order INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE workflow_step ADD COLUMN outer_forks TEXT;"
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
    /* A deferred without a timeout is looked at after a year. */
    "UPDATE workflow_step SET timeout = wake_at - updated_at"
    "  WHERE kind = 6 AND status = 0 AND wake_at - updated_at < 31535940000;";

/* Version 7.  What a run was begun with.  Instances without a version are not in the index. */
static const char run_terms[] =
    "ALTER TABLE workflow_instance ADD COLUMN version TEXT;"
    "ALTER TABLE workflow_run ADD COLUMN version TEXT;"
    "CREATE INDEX workflow_instance_version ON workflow_instance (workflow, version) WHERE version IS NOT NULL;";

/* Version 8.  That an answer is a failure was a "!" behind its type. */
static const char event_failure[] =
    "ALTER TABLE workflow_event ADD COLUMN is_failure INTEGER NOT NULL DEFAULT 0;"
    "UPDATE workflow_event SET is_failure = 1, type = substr(type, 1, length(type) - 1)"
    "  WHERE substr(type, 1, 1) = '$' AND substr(type, -1) = '!';";

/* That failed steps were put back was known by the text of the line that says so. */
static const char log_repair[] =
    "ALTER TABLE workflow_log ADD COLUMN is_repair INTEGER NOT NULL DEFAULT 0;"
    "UPDATE workflow_log SET is_repair = 1"
    "  WHERE category = 'system' AND message LIKE 'resumed after repair, and tried again%';";

/* clang-format on */

const struct old_piece old_sqlite_schema[] = {
    { 1, schema_table },  { 1, instance_table }, { 1, task_table },       { 1, step_table },   { 1, event_table },
    { 1, log_table },     { 2, hook_table },     { 3, task_shard },       { 3, runner_table }, { 3, set_table },
    { 4, instance_link }, { 4, task_demand },    { 4, step_description }, { 5, run_table },    { 6, step_state },
    { 7, run_terms },     { 8, event_failure },  { 8, log_repair },
};
const size_t old_sqlite_schema_count = sizeof old_sqlite_schema / sizeof old_sqlite_schema[0];
