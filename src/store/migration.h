/* migration.h - what both schemas have in common: how they are migrated, and the views.
 *
 * A new database is created as the schema is today, table by table.  An earlier database gets what it lacks.  So an
 * added column is in two steps: the one that creates the table, and the one for databases that have the table
 * without the column.  Both take it from one list.
 *
 * A step for earlier databases only adds: tables, indexes, columns that may be NULL or have a default, types with a
 * new name.  Views keep their columns, and new ones come last.  The reason is that processes of the previous version
 * have the database open.  They finish what they hold, and what they write must stay right.  Only versions 6 and 8,
 * which came before the first release, do more (docs/operating.md). */
#ifndef PW_STORE_MIGRATION_H
#define PW_STORE_MIGRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "store/columns.h"

/* A step for databases whose version is at least `from` and less than `to`.  A new database has version 0.  Steps
 * run in order; the last one leads to the newest version. */
struct pw_migration {
    int64_t from, to;
    const char *sql;
};

static inline bool pw_migration_concerns(const struct pw_migration *migration, int64_t version)
{
    return migration->from <= version && version < migration->to;
}

/* A column that was added later, within CREATE TABLE and for the tables of earlier databases. */
#define PW_COLUMN_HERE(table, column) "," column
#define PW_COLUMN_ADDED(table, column) "ALTER TABLE " table " ADD COLUMN " column ";"

/* The views, for people at an SQL prompt, with words and ISO times.  VIEW is called with the versions that added the
 * view to SQLite and to PostgreSQL, its name, and its SELECT.  Each database defines ISO_TIME(column), LATER(left,
 * right) of two numbers, and HEARTBEAT, which is a column or nothing.  The terms of a run are shown as they are
 * stored (PW_TERMS_FIELDS). */
/* clang-format off */
#define PW_VIEWS(VIEW)                                                                                                 \
    VIEW(1, 1, "workflow_instances",                                                                                   \
         "SELECT i.workflow, i.id, i.run,"                                                                             \
         "  CASE coalesce(i.outcome, -1) WHEN 1 THEN 'complete' WHEN 2 THEN 'terminated' WHEN 3 THEN 'errored'"        \
         "    ELSE CASE t.status WHEN 0 THEN 'active' WHEN 1 THEN 'waiting' ELSE 'paused' END END AS status,"          \
         "  i.params, i.output, i.error_name, i.error_message,"                                                        \
         "  " ISO_TIME("i.created_at") " AS created_at,"                                                               \
         "  " ISO_TIME(LATER("i.updated_at", "t.updated_at")) " AS updated_at,"                                        \
         "  " ISO_TIME("coalesce(t.started_at, i.started_at)") " AS started_at,"                                       \
         "  " ISO_TIME("i.completed_at") " AS completed_at,"                                                           \
         "  CASE i.relation WHEN 1 THEN 'attached' WHEN 2 THEN 'detached' WHEN 3 THEN 'job' END AS relation,"          \
         "  p.workflow AS parent_workflow, p.id AS parent_id, i.parent_run" PW_COLUMNS(PW_TERMS_ALONE, "i.")           \
         " FROM workflow_instance i LEFT JOIN workflow_task t ON t.instance = i.key"                                   \
         " LEFT JOIN workflow_instance p ON p.key = i.parent")                                                         \
    VIEW(1, 1, "workflow_tasks",                                                                                       \
         "SELECT i.workflow, i.id, t.run,"                                                                             \
         "  CASE t.status WHEN 0 THEN 'active' WHEN 1 THEN 'waiting' ELSE 'paused' END AS status,"                     \
         "  CASE t.kind WHEN 0 THEN 'wake' WHEN 1 THEN 'retry' WHEN 2 THEN 'resume' WHEN 3 THEN 'run'"                 \
         "    ELSE 'repair' END AS kind,"                                                                              \
         "  CASE t.processing WHEN 1 THEN 'processing' ELSE 'pending' END AS state,"                                   \
         "  " ISO_TIME("t.due_at") " AS due_at, t.epoch, t.owner,"                                                     \
         "  " ISO_TIME("t.locked_until") " AS locked_until, t.pause_requested,"                                        \
         "  " ISO_TIME("t.updated_at") " AS updated_at,"                                                               \
         "  CASE t.demand WHEN 1 THEN 'interrupt' WHEN 2 THEN 'rollback' WHEN 3 THEN 'terminate' END AS demand"        \
         " FROM workflow_task t JOIN workflow_instance i ON i.key = t.instance")                                       \
    VIEW(1, 1, "workflow_steps",                                                                                       \
         "SELECT i.workflow, i.id, s.run, s.seq, s.name,"                                                              \
         "  CASE s.kind WHEN 0 THEN 'do' WHEN 1 THEN 'sleep' WHEN 2 THEN 'waitForEvent' WHEN 3 THEN 'first'"           \
         "    WHEN 4 THEN 'call' WHEN 5 THEN 'child' ELSE 'deferred' END AS kind,"                                     \
         "  CASE s.status WHEN 0 THEN 'waiting' WHEN 1 THEN 'completed' ELSE 'errored' END AS status,"                 \
         "  s.attempts, s.attempts_max, s.timeout AS timeout_ms,"                                                      \
         "  " ISO_TIME("s.next_retry_at") " AS next_retry_at,"                                                         \
         "  " ISO_TIME("s.wake_at") " AS wake_at,"                                                                     \
         "  s.wait_event_type, s.result, s.error_name, s.error_message,"                                               \
         "  " ISO_TIME("s.created_at") " AS created_at,"                                                               \
         "  " ISO_TIME("s.updated_at") " AS updated_at, s.description,"                                                \
         "  CASE s.state WHEN 0 THEN 'waiting' WHEN 1 THEN 'completed' WHEN 2 THEN 'failed' WHEN 3 THEN 'abandoned'"   \
         "    ELSE 'givenUp' END AS state,"                                                                            \
         "  s.undoes, s.awaited_workflow, s.awaited_id, s.fork,"                                                       \
         "  CASE s.fork_kind WHEN 1 THEN 'all' WHEN 2 THEN 'first' END AS fork_kind,"                                  \
         "  CASE WHEN s.fork IS NOT NULL THEN s.branch END AS branch,"                                                 \
         "  nullif(s.branch_order, 0) AS branch_order, s.outer_forks"                                                  \
         " FROM workflow_step s JOIN workflow_instance i ON i.key = s.instance")                                       \
    VIEW(1, 1, "workflow_events",                                                                                      \
         "SELECT i.workflow, i.id AS instance_id, e.run, e.seq, e.id, e.type, e.payload,"                              \
         "  " ISO_TIME("e.created_at") " AS created_at,"                                                               \
         "  " ISO_TIME("e.delivered_at") " AS delivered_at, e.consumed_by, e.is_failure"                               \
         " FROM workflow_event e JOIN workflow_instance i ON i.key = e.instance")                                      \
    VIEW(1, 1, "workflow_logs",                                                                                        \
         "SELECT i.workflow, i.id, l.run, l.seq, l.step, l.attempt,"                                                   \
         "  CASE l.level WHEN 0 THEN 'debug' WHEN 1 THEN 'info' WHEN 2 THEN 'warn' ELSE 'error' END AS level,"         \
         "  l.category, l.message, l.data, l.is_replay,"                                                               \
         "  " ISO_TIME("l.created_at") " AS created_at"                                                                \
         " FROM workflow_log l JOIN workflow_instance i ON i.key = l.instance")                                        \
    VIEW(2, 1, "workflow_hooks",                                                                                       \
         "SELECT h.id, h.hook,"                                                                                        \
         "  CASE h.event WHEN 1 THEN 'onWorkflowEnqueued' ELSE 'onInstanceFinished' END AS event,"                     \
         "  i.workflow, i.id AS instance_id, h.run,"                                                                   \
         "  CASE h.reason WHEN 1 THEN 'create' WHEN 2 THEN 'event' WHEN 3 THEN 'resume' WHEN 4 THEN 'retry'"           \
         "    WHEN 5 THEN 'wake' END AS reason,"                                                                       \
         "  CASE h.outcome WHEN 1 THEN 'complete' WHEN 2 THEN 'terminated' WHEN 3 THEN 'errored' END AS outcome,"      \
         "  " ISO_TIME("h.due_at") " AS due_at, h.error_name, h.error_message,"                                        \
         "  CASE WHEN h.next_at IS NULL THEN 'failed' ELSE 'pending' END AS status, h.attempts, h.attempts_max,"       \
         "  " ISO_TIME("h.next_at") " AS next_at,"                                                                     \
         "  " ISO_TIME("h.locked_until") " AS locked_until, h.last_error,"                                             \
         "  " ISO_TIME("h.created_at") " AS created_at"                                                                \
         " FROM workflow_hook h JOIN workflow_instance i ON i.key = h.instance")                                       \
    VIEW(3, 1, "workflow_runners",                                                                                     \
         "SELECT r.owner, r.name, r.workflows, r.is_sharing,"                                                          \
         "  " ISO_TIME("r.started_at") " AS started_at," HEARTBEAT                                                     \
         "  (SELECT count(*) FROM workflow_task t WHERE t.processing = 1 AND t.owner = r.owner) AS leases"             \
         " FROM workflow_runner r")                                                                                    \
    VIEW(5, 5, "workflow_runs",                                                                                        \
         "SELECT i.workflow, i.id, r.run,"                                                                             \
         "  CASE r.outcome WHEN 1 THEN 'complete' WHEN 2 THEN 'terminated' ELSE 'errored' END AS status,"              \
         "  i.params, r.output, r.error_name, r.error_message,"                                                        \
         "  " ISO_TIME("r.started_at") " AS started_at,"                                                               \
         "  " ISO_TIME("r.completed_at") " AS completed_at,"                                                           \
         "  " ISO_TIME("r.replaced_at") " AS replaced_at" PW_COLUMNS(PW_TERMS_ALONE, "r.")                             \
         " FROM workflow_run r JOIN workflow_instance i ON i.key = r.instance"                                         \
         " UNION ALL SELECT workflow, id, run, status, params, output, error_name, error_message, started_at,"         \
         "  completed_at, NULL" PW_COLUMNS(PW_TERMS_ALONE, "")                                                         \
         " FROM workflow_instances")
/* clang-format on */

#endif
