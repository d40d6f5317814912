/* queries.h - the SQL of transactions: constant text with bound values, prepared once per connection.  The SQL of
 * reads is beside the functions that read (read.c, read_numbers.c).
 *
 * Parameters are numbered in the order in which the code binds them.  INDEXED BY is used where a plan that changes
 * with the user's own ANALYZE would turn a due query or a page into a scan. */
#ifndef PW_STORE_SQLITE_QUERIES_H
#define PW_STORE_SQLITE_QUERIES_H

#include "store/columns.h"

/* clang-format off */

#define TASK_COLUMNS_OF(table) PW_COLUMNS(PW_TASK_FIELDS, table)
#define STEP_COLUMNS_OF(table) PW_COLUMNS(PW_STEP_FIELDS, table)
#define STEP_COLUMNS STEP_COLUMNS_OF("")

/* Facts of an instance that its task does not have.  Params can be large, so they are read only if `with_params`
 * holds. */
#define FACT_COLUMNS(with_params)                                                                                      \
    "i.workflow, i.id, i.created_at, i.parent, i.parent_run, i.relation, CASE WHEN " with_params " THEN i.params END"

/* A step s of the run that waits for an event of this type. */
#define STEP_AWAITS(instance, run, type)                                                                               \
    " INDEXED BY workflow_step_waiting WHERE s.instance = " instance " AND s.run = " run                               \
    " AND s.status = 0 AND s.kind = 2 AND s.wait_event_type = " type

#define EARLIER_RUN_COLUMNS PW_COLUMNS(PW_EARLIER_RUN_FIELDS, "")
#define EVENT_COLUMNS PW_COLUMNS(PW_EVENT_FIELDS, "")
#define LOG_COLUMNS PW_COLUMNS(PW_LOG_FIELDS, "")
#define RUNNER_COLUMNS PW_COLUMNS(PW_RUNNER_FIELDS, "")

#define HOOK_COLUMNS PW_COLUMNS(PW_DELIVERY_FIELDS, "h.") PW_COLUMNS(PW_HOOK_FIELDS, "h.") ", i.workflow, i.id"
#define HOOK_INSTANCE " CROSS JOIN workflow_instance i ON i.key = h.instance"
/* A delivery whose instance is gone comes with NULLs and fails for good. */
#define HOOK_TOLD(index)                                                                                               \
    "SELECT " HOOK_COLUMNS " FROM workflow_hook h" index " LEFT JOIN workflow_instance i ON i.key = h.instance"
#define HOOK_DUE_IF(condition)                                                                                         \
    HOOK_TOLD(" INDEXED BY workflow_hook_due") " WHERE h.hook = ?1 AND h.next_at <= ?2 AND " condition                 \
    " ORDER BY h.next_at LIMIT ?3"

/* The three kinds of claimable tasks; and of those the ones in the shards of ?2 or ?4. */
#define RESUMABLE "workflow_task INDEXED BY workflow_task_resumable WHERE kind < 3 AND processing = 0 AND status < 2"
#define STARTABLE "workflow_task INDEXED BY workflow_task_startable WHERE kind = 3 AND processing = 0 AND status < 2"
#define LEASED "workflow_task INDEXED BY workflow_task_leased WHERE processing = 1"
#define DUE_IN_SHARE(column) " AND (+" column " <= ?5 OR substr(?4, shard + 1, 1) = '1')"
/* The columns of a lease (struct pw_held). */
#define HELD_COLUMNS "instance, owner, run, epoch, locked_until"

#define PW_SQLITE_QUERIES(QUERY)                                                                                       \
    QUERY(BEGIN, "BEGIN IMMEDIATE")                                                                                    \
    QUERY(COMMIT, "COMMIT")                                                                                            \
    QUERY(ROLLBACK, "ROLLBACK")                                                                                        \
    QUERY(UNIT_BEGIN, "SAVEPOINT unit")                                                                                \
    QUERY(UNIT_UNDO, "ROLLBACK TO unit")                                                                               \
    QUERY(UNIT_END, "RELEASE unit")                                                                                    \
                                                                                                                       \
    QUERY(SCHEMA_TABLES,                                                                                               \
        "SELECT count(*), coalesce(max(name = 'workflow_schema'), 0) FROM sqlite_schema WHERE name IN"                 \
        " ('workflow_schema', 'workflow_instance', 'workflow_task', 'workflow_step', 'workflow_event', 'workflow_log',"\
        " 'workflow_instances', 'workflow_tasks', 'workflow_steps', 'workflow_events', 'workflow_logs',"               \
        " 'workflow_hook', 'workflow_hooks', 'workflow_runner', 'workflow_runners', 'workflow_set', 'workflow_run',"   \
        " 'workflow_runs')")                                                                                           \
    QUERY(SCHEMA_VERSION, "SELECT version FROM workflow_schema")                                                       \
    QUERY(SCHEMA_SET_VERSION, "UPDATE workflow_schema SET version = ?1")                                               \
                                                                                                                       \
    QUERY(TASK_LOAD, "SELECT run, " TASK_COLUMNS_OF("") " FROM workflow_task WHERE instance = ?1")                     \
    QUERY(TASK_LOAD_WHOLE,                                                                                             \
        "SELECT t.run, " TASK_COLUMNS_OF("t.") ", " FACT_COLUMNS("t.started_at IS NULL") ","                           \
        " CASE WHEN ?2 THEN coalesce(length(CAST(i.params AS BLOB)), 0) ELSE 0 END"                                    \
        " FROM workflow_task t LEFT JOIN workflow_instance i ON i.key = t.instance WHERE t.instance = ?1")             \
    QUERY(TASK_INSERT,                                                                                                 \
        "INSERT INTO workflow_task (instance, run, workflow, shard, " TASK_COLUMNS_OF("") ")"                          \
        " VALUES (?, ?, ?, ?, " PW_PARAMETERS(PW_TASK_FIELDS) ")")                                                     \
    QUERY(TASK_UPDATE, "UPDATE workflow_task SET " PW_SETS(PW_TASK_FIELDS) ", run = ? WHERE instance = ?")             \
    QUERY(TASK_UPDATE_REST,                                                                                            \
        "UPDATE workflow_task SET epoch = ?, pause_requested = ?, demand = ?, started_at = ?, updated_at = ?,"         \
        " event_seq = ?, run = ? WHERE instance = ?")                                                                  \
    QUERY(TASK_DELETE, "DELETE FROM workflow_task WHERE instance = ?1")                                                \
                                                                                                                       \
    QUERY(CLAIM_PAUSABLE,                                                                                              \
        "SELECT " HELD_COLUMNS " FROM " LEASED " AND workflow = ?1 AND locked_until <= ?2 AND pause_requested = 1")    \
    QUERY(CLAIM_LEASED, "SELECT " HELD_COLUMNS " FROM " LEASED " AND workflow = ?1")                                   \
    QUERY(CLAIM_EXPIRED,                                                                                               \
        "SELECT " HELD_COLUMNS " FROM " LEASED " AND workflow = ?1 AND locked_until <= ?2 ORDER BY locked_until")      \
    QUERY(CLAIM_RESUMABLE,                                                                                             \
        "SELECT instance, due_at FROM workflow_task INDEXED BY workflow_task_resumable WHERE kind < 3"                 \
        " AND processing = 0 AND status < 2 AND workflow = ?1 AND due_at <= ?2 ORDER BY due_at LIMIT ?3")              \
    QUERY(CLAIM_STARTABLE,                                                                                             \
        "SELECT instance, due_at FROM workflow_task INDEXED BY workflow_task_startable WHERE kind = 3"                 \
        " AND processing = 0 AND status < 2 AND workflow = ?1 AND due_at <= ?2 ORDER BY due_at LIMIT ?3")              \
    QUERY(CLAIM_EXPIRED_SHARED,                                                                                        \
        "SELECT " HELD_COLUMNS " FROM " LEASED " AND workflow = ?1 AND locked_until <= ?2"                             \
        " AND (+locked_until <= ?4 OR substr(?3, shard + 1, 1) = '1') ORDER BY locked_until")                          \
    QUERY(CLAIM_RESUMABLE_SHARED,                                                                                      \
        "SELECT instance, due_at FROM " RESUMABLE " AND workflow = ?1 AND due_at <= ?2" DUE_IN_SHARE("due_at")         \
        " ORDER BY due_at LIMIT ?3")                                                                                   \
    QUERY(CLAIM_STARTABLE_SHARED,                                                                                      \
        "SELECT instance, due_at FROM " STARTABLE " AND workflow = ?1 AND due_at <= ?2" DUE_IN_SHARE("due_at")         \
        " ORDER BY due_at LIMIT ?3")                                                                                   \
    QUERY(RUNNER_DESCRIBE,                                                                                             \
        "INSERT OR REPLACE INTO workflow_runner (" RUNNER_COLUMNS ") VALUES (" PW_PARAMETERS(PW_RUNNER_FIELDS) ")")    \
    QUERY(RUNNER_FORGET, "DELETE FROM workflow_runner WHERE owner = ?1")                                               \
    QUERY(RUNNERS, "SELECT " RUNNER_COLUMNS " FROM workflow_runner WHERE owner > 0 ORDER BY owner")                    \
    QUERY(REAP_LEASES,                                                                                                 \
        "SELECT " HELD_COLUMNS " FROM " LEASED " AND owner > 0")                                                       \
                                                                                                                       \
    QUERY(INSTANCE_FIND, "SELECT key FROM workflow_instance WHERE workflow = ?1 AND id = ?2")                          \
    QUERY(INSTANCE_LAST_KEY, "SELECT seq FROM sqlite_sequence WHERE name = 'workflow_instance'")                       \
    QUERY(INSTANCE_LOAD,                                                                                               \
        "SELECT " FACT_COLUMNS("?2") ", i.run, i.updated_at, i.outcome, i.started_at, i.completed_at, i.output,"       \
        " i.error_name, i.error_message" PW_COLUMNS(PW_TERMS_ALONE, "i.") " FROM workflow_instance i WHERE i.key = ?1")\
    QUERY(INSTANCE_INSERT,                                                                                             \
        "INSERT INTO workflow_instance (" PW_COLUMNS(PW_INSTANCE_FIELDS, "") ")"                                       \
        " VALUES (" PW_PARAMETERS(PW_INSTANCE_FIELDS) ")")                                                             \
    QUERY(INSTANCE_UPDATE, "UPDATE workflow_instance SET " PW_SETS(PW_INSTANCE_FIELDS) " WHERE key = ?")               \
    QUERY(CHILDREN_OPEN,                                                                                               \
        "SELECT key, relation FROM workflow_instance INDEXED BY workflow_instance_open_child WHERE outcome IS NULL"    \
        " AND parent = ?1 AND parent_run = ?2 AND relation IN (3, ?3)")                                                \
                                                                                                                       \
    QUERY(EARLIER_RUN_INSERT,                                                                                          \
        "INSERT OR IGNORE INTO workflow_run (instance, " EARLIER_RUN_COLUMNS ")"                                       \
        " VALUES (?, " PW_PARAMETERS(PW_EARLIER_RUN_FIELDS) ")")                                                       \
                                                                                                                       \
    QUERY(STEP_INSERT,                                                                                                 \
        "INSERT INTO workflow_step (instance, run, " STEP_COLUMNS ") VALUES (?, ?, " PW_PARAMETERS(PW_STEP_FIELDS) ")")\
    QUERY(STEP_UPDATE,                                                                                                 \
        "UPDATE workflow_step SET " PW_SETS(PW_STEP_FIELDS) " WHERE instance = ? AND run = ? AND seq = ?")             \
    QUERY(STEP_KNOWN, "SELECT 1 FROM workflow_step WHERE instance = ?1 AND run = ?2 AND seq = ?3")                     \
    QUERY(STEPS_KEEP,                                                                                                  \
        "INSERT INTO workflow_step (instance, run, " STEP_COLUMNS ") SELECT instance, run + 1, " STEP_COLUMNS          \
        " FROM workflow_step WHERE instance = ?1 AND run = ?2 AND seq < ?3 AND seq <> ?4 AND status <> 0"              \
        " AND (?5 = 0 OR status = 1 OR state < 3) RETURNING seq")                                                      \
                                                                                                                       \
    /* Where an event goes: the instance, its task, whether it has the event, and until when a step waits for one. */  \
    QUERY(EVENT_TARGET,                                                                                                \
        "SELECT i.key, i.run, i.outcome, i.created_at, i.parent, i.parent_run, i.relation,"                            \
        " EXISTS (SELECT 1 FROM workflow_event WHERE instance = i.key AND run = i.run AND id = ?3),"                   \
        " (SELECT max(s.wake_at) FROM workflow_step s" STEP_AWAITS("i.key", "i.run", "?4") "),"                        \
        " t.instance, t.run, " TASK_COLUMNS_OF("t.")                                                                   \
        " FROM workflow_instance i LEFT JOIN workflow_task t ON t.instance = i.key WHERE i.workflow = ?1 AND i.id = ?2")\
    QUERY(CONTROL_TARGET,                                                                                              \
        "SELECT i.key, i.run, i.outcome, i.created_at, i.parent, i.parent_run, i.relation,"                            \
        " (SELECT max(s.updated_at) FROM workflow_step s WHERE s.instance = i.key AND s.run = i.run),"                 \
        " t.instance, t.run, " TASK_COLUMNS_OF("t.")                                                                   \
        " FROM workflow_instance i LEFT JOIN workflow_task t ON t.instance = i.key WHERE i.workflow = ?1 AND i.id = ?2")\
    QUERY(STEP_AWAITING, "SELECT max(s.wake_at) FROM workflow_step s" STEP_AWAITS("?1", "?2", "?3"))                   \
    QUERY(EVENT_INSERT,                                                                                                \
        "INSERT INTO workflow_event (instance, run, " EVENT_COLUMNS ")"                                                \
        " VALUES (?, ?, " PW_PARAMETERS(PW_EVENT_FIELDS) ")")                                                          \
    QUERY(EVENT_AT, "SELECT 1 FROM workflow_event WHERE instance = ?1 AND run = ?2 AND seq = ?3")                      \
    QUERY(EVENTS_UNREAD,                                                                                               \
        "SELECT count(*) FROM (SELECT 1 FROM workflow_event INDEXED BY workflow_event_new"                             \
        " WHERE instance = ?1 AND run = ?2 AND delivered_at IS NULL LIMIT ?3)")                                        \
    QUERY(EVENT_KNOWN, "SELECT 1 FROM workflow_event WHERE instance = ?1 AND run = ?2 AND id = ?3")                    \
    QUERY(EVENT_UPDATE,                                                                                                \
        "UPDATE workflow_event SET " PW_SETS(PW_EVENT_FIELDS) " WHERE instance = ? AND run = ? AND seq = ?")           \
                                                                                                                       \
    QUERY(LOG_TAIL,                                                                                                    \
        "SELECT seq, created_at FROM workflow_log WHERE instance = ?1 AND run = ?2 ORDER BY seq DESC LIMIT 1")         \
    QUERY(LOG_INSERT,                                                                                                  \
        "INSERT INTO workflow_log (instance, run, " LOG_COLUMNS ") VALUES (?, ?, " PW_PARAMETERS(PW_LOG_FIELDS) ")")   \
                                                                                                                       \
    QUERY(HOOK_INSERT,                                                                                                 \
        "INSERT INTO workflow_hook (attempts, epoch, instance, next_at" PW_COLUMNS(PW_HOOK_FIELDS, "") ")"             \
        " VALUES (0, 0, ?, ?" PW_PARAMETERS(PW_HOOK_FIELDS) ")")                                                       \
    QUERY(HOOK_DUE, HOOK_DUE_IF("h.attempts < h.attempts_max AND i.key IS NOT NULL"))                                  \
    QUERY(HOOK_SPENT, HOOK_DUE_IF("(h.attempts >= h.attempts_max OR i.key IS NULL)"))                                  \
    QUERY(HOOK_LOAD, HOOK_TOLD("") " WHERE h.key = ?1")                                                                \
    QUERY(HOOK_LOAD_BY_ID, HOOK_TOLD("") " WHERE h.id = ?1")                                                           \
    QUERY(HOOK_UPDATE, "UPDATE workflow_hook SET " PW_SETS(PW_DELIVERY_FIELDS) " WHERE key = ?")                       \
    QUERY(HOOK_DELETE, "DELETE FROM workflow_hook WHERE key = ?1")

/* clang-format on */

/* Statements are identified by numbers.  Each file that has statements begins with a number of its own. */
enum {
    PW_QUERIES = 0,                                     /* these: connection.c */
    PW_QUERIES_OF_READ = PW_STATEMENTS_MAX,             /* read.c */
    PW_QUERIES_OF_READ_NUMBERS = 2 * PW_STATEMENTS_MAX, /* read_numbers.c */
    PW_QUERY_COUNT = 3 * PW_STATEMENTS_MAX,
};
extern const struct pw_statement pw_sqlite_queries_of_read[PW_STATEMENTS_MAX];
extern const struct pw_statement pw_sqlite_queries_of_read_numbers[PW_STATEMENTS_MAX];
/* The text is NULL if no statement has the number. */
const struct pw_statement *pw_sqlite_query(unsigned number);

enum pw_query_name {
#define QUERY_NAME(name, text) PW_QUERY_##name,
    PW_SQLITE_QUERIES(QUERY_NAME)
#undef QUERY_NAME
};

#endif
