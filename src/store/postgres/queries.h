/* queries.h - the SQL of sessions and transactions: constant text with bound values, prepared once per connection.
 * The SQL of reads is beside the functions that read (read.c, read_numbers.c).
 *
 * Parameters are numbered in the order in which the code adds them.  Each states its type, because values travel in
 * binary form.  Statements that look rows up take one array per column; statements that write take one array of
 * rows.  Plans are generic and never scan a table (connection.c tells the planner so), because a plan that was made
 * while a table was small is kept while it grows. */
#ifndef PW_STORE_POSTGRES_QUERIES_H
#define PW_STORE_POSTGRES_QUERIES_H

#include "store/columns.h"

/* clang-format off */

/* Joins that are looked up row by row, whatever the planner thinks of the table, because it cannot reorder a join
 * behind LIMIT.  For the same reason some rows are sought in the order of one index: another index would serve the
 * condition as well, but badly.  "key + 0" is the key in indexes that only lists use, so that no lookup by key uses
 * them. */
#define PG_TASK_OF_INSTANCE                                                                                            \
    " LEFT JOIN LATERAL (SELECT * FROM workflow_task WHERE instance = i.key LIMIT 1) t ON true"
#define PG_INSTANCE_OF(column)                                                                                         \
    " JOIN LATERAL (SELECT * FROM workflow_instance WHERE key = " column " LIMIT 1) i ON true"

#define PG_EARLIER_RUN_COLUMNS PW_COLUMNS(PW_EARLIER_RUN_FIELDS, "")
#define PG_EVENT_COLUMNS PW_COLUMNS(PW_EVENT_FIELDS, "")
#define PG_LOG_COLUMNS PW_COLUMNS(PW_LOG_FIELDS, "")

#define PG_HOOK_COLUMNS PW_COLUMNS(PW_DELIVERY_FIELDS, "h.") PW_COLUMNS(PW_HOOK_FIELDS, "h.") ", i.workflow, i.id"

/* A delivery whose instance is gone comes with NULLs and fails for good. */
#define PG_HOOKS_TOLD(rows)                                                                                            \
    "SELECT " PG_HOOK_COLUMNS " FROM " rows " h"                                                                       \
    " LEFT JOIN LATERAL (SELECT workflow, id FROM workflow_instance WHERE key = h.instance LIMIT 1) i ON true"
/* The first $4 deliveries of a hook that are due at $2; and one of them, locked, if it is still due.  A claim finds
 * the first $3 that have attempts left, and among the first $4 also those without attempts or instance.  Later ones
 * can wait until they are among the first. */
#define PG_HOOK_DUE(which)                                                                                             \
    "SELECT key, next_at AS at FROM workflow_hook WHERE hook = w.hook AND next_at <= $2::bigint " which                \
    " ORDER BY next_at, key LIMIT $4::bigint"
#define PG_HOOK_SPENT                                                                                                  \
    "(attempts >= attempts_max OR (SELECT 1 FROM workflow_instance i WHERE i.key = h.instance LIMIT 1) IS NULL)"
#define PG_HOOK_TAKE(which)                                                                                            \
    "SELECT * FROM workflow_hook h WHERE key = c.key AND coalesce(next_at <= $2::bigint, false) AND " which            \
    " LIMIT 1 FOR UPDATE SKIP LOCKED"

/* A step s of the run that waits for an event of this type. */
#define PG_STEP_AWAITS(instance, run, type)                                                                            \
    " WHERE s.instance = " instance " AND s.run = " run                                                                \
    " AND s.status = 0 AND s.kind = 2 AND s.wait_event_type = " type
#define PG_TASK_COLUMNS "instance, run, " PW_COLUMNS(PW_TASK_FIELDS, "")

/* The types in which rows travel (call.h), with the columns of these statements in order. */
#define PG_INSTANCE_ROW "workflow_instance_row_" PG_QUOTE(PW_INSTANCE_SCHEMA)
#define PG_TASK_ROW "workflow_task_row_" PG_QUOTE(PW_TASK_SCHEMA)
#define PG_STEP_ROW "workflow_step_row_" PG_QUOTE(PW_STEP_SCHEMA)
#define PG_PLAIN_STEP_ROW "workflow_plain_step_row_" PG_QUOTE(PW_STEP_SCHEMA)
#define PG_EVENT_ROW "workflow_event_row_" PG_QUOTE(PW_EVENT_SCHEMA)
#define PG_LOG_ROW "workflow_log_row_" PG_QUOTE(PW_LOG_SCHEMA)
#define PG_HOOK_ROW "workflow_hook_row"
#define PG_EARLIER_RUN_ROW "workflow_run_row_" PG_QUOTE(PW_EARLIER_RUN_SCHEMA)
#define PG_INSERT(table, columns, type)                                                                                \
    "INSERT INTO " table " (" columns ") SELECT * FROM unnest($1::" type "[])"
#define PG_INSERT_INSTANCE PG_INSERT("workflow_instance", PW_COLUMNS(PW_INSTANCE_FIELDS, ""), PG_INSTANCE_ROW)
#define PG_INSERT_TASK PG_INSERT("workflow_task", PG_TASK_COLUMNS ", workflow, shard", PG_TASK_ROW)
#define PG_INSERT_STEP PG_INSERT("workflow_step", "instance, run, " PW_COLUMNS(PW_STEP_FIELDS, ""), PG_STEP_ROW)
#define PG_INSERT_EVENT PG_INSERT("workflow_event", "instance, run, " PG_EVENT_COLUMNS, PG_EVENT_ROW)

/* The children that the end of a run concerns: its open jobs, or its attached children as well.  Expects as u: the
 * parents, their runs, and the least relation. */
#define PG_OPEN_CHILDREN                                                                                               \
    " CROSS JOIN LATERAL (SELECT key, parent, parent_run, relation FROM workflow_instance WHERE parent = u.parent"     \
    "  AND parent_run = u.run AND relation >= u.least AND relation <> 2 AND outcome IS NULL"                           \
    "  ORDER BY parent, parent_run, relation OFFSET 0) c"
/* Expects as u: names. */
#define PG_INSTANCE_OF_NAME                                                                                            \
    " CROSS JOIN LATERAL (SELECT key, workflow, id, run, outcome, created_at, parent, parent_run, relation"            \
    "  FROM workflow_instance"                                                                                         \
    "  WHERE (workflow, id) >= (u.workflow, u.id) ORDER BY workflow, id LIMIT 1) i"                                    \
    " WHERE i.workflow = u.workflow AND i.id = u.id"

/* Gives as u: the named runs, their parents, and the least relation of the children that is concerned. */
#define PG_FAMILIES(workflows, ids, leasts)                                                                            \
    "(SELECT i.key AS parent, i.run, i.parent AS above, u.least"                                                       \
    " FROM unnest(" workflows "::text[], " ids "::text[], " leasts "::bigint[]) AS u (workflow, id, least)"            \
    PG_INSTANCE_OF_NAME ") u"

/* The three kinds of claimable tasks.  Each has an index of its own. */
#define PG_RESUMABLE "kind < 3 AND processing = 0 AND status < 2"
#define PG_STARTABLE "kind = 3 AND processing = 0 AND status < 2"
#define PG_LEASED "processing = 1"

/* What a claim may take.  $1 are workflows, $2 the shards that count at once (NULL: all), $4 the grace after which
 * the others count as well, $3 now.  First the candidates of every workflow and kind are sorted, up to $6 of each
 * kind, without those in $8.  Then they are locked one by one, skipping those that others have locked, until there
 * are enough.  $7 are leases that are owed a renewal (owed.h), which only look as if they were over. */
#define PG_CLAIMABLE(tasks, later, column)                                                                             \
    "(SELECT instance, " later " AS later, " column " AS at FROM workflow_task WHERE workflow = w.workflow AND " tasks \
    "  AND " column " <= $3::bigint AND instance <> ALL($8::bigint[])"                                                 \
    "  AND (" column " <= $3::bigint - $4::bigint OR coalesce(substr(w.owned, shard + 1, 1), '1') = '1')"              \
    "  ORDER BY " column ", instance LIMIT $6::bigint)"
#define PG_EXPIRED PG_LEASED " AND locked_until <= $3::bigint"
/* How many a claim takes: $5, or fewer if at most $10 tasks of the one workflow may be leased at once.  Leased are
 * tasks whose lease has not ended, and tasks whose lease has ended but that are locked or owed, because they may be
 * renewed at any moment.  Counting them costs a tenth of a claim even if there is no limit, so that is a statement
 * of its own. */
#define PG_ANY_NUMBER "$5::bigint"
#define PG_UP_TO                                                                                                       \
    "least($5::bigint, greatest(0, $10::bigint - (SELECT count(*) FROM (SELECT 1 FROM workflow_task"                   \
    "   WHERE workflow = ($1::text[])[1] AND " PG_LEASED " AND locked_until > $3::bigint LIMIT $10::bigint) l)"        \
    " - (SELECT count(*) - count(f.instance) FROM (SELECT instance FROM workflow_task"                                 \
    "   WHERE workflow = ($1::text[])[1] AND " PG_EXPIRED " ORDER BY locked_until, instance LIMIT $10::bigint) e"      \
    "  LEFT JOIN LATERAL (SELECT instance FROM workflow_task WHERE instance = e.instance"                              \
    "   AND locked_until <= $3::bigint AND instance <> ALL($7::bigint[]) LIMIT 1 FOR UPDATE SKIP LOCKED) f ON true)))"
/* The claim also returns all expired leases for which a pause was requested.  Of each instance it returns what a
 * claim tells.  It returns params only for a run that nobody has claimed before, up to the row with which they reach
 * $9 bytes (NULL: no limit, and no size). */
#define PG_CLAIM(room)                                                                                                 \
    "WITH pausable AS MATERIALIZED (SELECT e.* FROM unnest($1::text[]) AS w (workflow) CROSS JOIN LATERAL ("           \
    "  SELECT " PG_TASK_COLUMNS ", workflow, 0 AS later, 0::bigint AS at FROM workflow_task"                           \
    "  WHERE workflow = w.workflow AND " PG_EXPIRED " AND pause_requested = 1 AND instance <> ALL($7::bigint[])"       \
    "  ORDER BY locked_until, instance FOR UPDATE SKIP LOCKED) e),"                                                    \
    " claimable AS MATERIALIZED (SELECT t.*, c.later, c.at FROM (SELECT d.*"                                           \
    "   FROM unnest($1::text[], $2::text[]) AS w (workflow, owned) CROSS JOIN LATERAL ("                               \
    PG_CLAIMABLE(PG_RESUMABLE, "0", "due_at") " UNION ALL "                                                            \
    PG_CLAIMABLE(PG_LEASED " AND pause_requested = 0", "0", "locked_until") " UNION ALL "                              \
    PG_CLAIMABLE(PG_STARTABLE, "1", "due_at") ") d"                                                                    \
    "   ORDER BY later, at, instance) c"                                                                               \
    "  CROSS JOIN LATERAL (SELECT " PG_TASK_COLUMNS ", workflow FROM workflow_task WHERE instance = c.instance"        \
    "   AND ((processing = 0 AND status < 2 AND due_at <= $3::bigint)"                                                 \
    "    OR (" PG_EXPIRED " AND pause_requested = 0 AND instance <> ALL($7::bigint[])))"                               \
    "   LIMIT 1 FOR UPDATE SKIP LOCKED) t"                                                                             \
    "  ORDER BY c.later, c.at, c.instance LIMIT " room ")"                                                             \
    " SELECT " PG_TASK_COLUMNS ", workflow, id, created_at, parent, parent_run, relation, params, size FROM ("         \
    "  SELECT f.*, i.*, sum(size) OVER (ORDER BY later, at, instance) - size AS before"                                \
    "   FROM (SELECT * FROM pausable UNION ALL SELECT * FROM claimable) f LEFT JOIN LATERAL ("                         \
    "    SELECT id, created_at, parent, parent_run, relation, CASE WHEN f.started_at IS NULL THEN params END AS params,"\
    "    CASE WHEN $9::bigint IS NULL OR f.pause_requested = 1 THEN 0 ELSE coalesce(octet_length(params), 0) END AS size"\
    "    FROM workflow_instance WHERE key = f.instance LIMIT 1) i ON true) s"                                          \
    " WHERE before IS NULL OR $9::bigint IS NULL OR before < $9::bigint"

#define PG_NOW_MS "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
#define PW_PG_DEAD_MS 10000 /* a runner whose last heartbeat is older than this is dead */
#define PG_QUOTED(number) #number
#define PG_QUOTE(number) PG_QUOTED(number)
#define PG_DEAD_MS PG_QUOTE(PW_PG_DEAD_MS)

#define PG_OUR_SCHEMA                                                                                                  \
    " relnamespace = (SELECT oid FROM pg_namespace"                                                                    \
    "  WHERE nspname = coalesce(nullif(current_setting('pawl.schema'), ''), current_schema()))"

/* Our settings, whatever the role, the database or the server have set.  Not every server knows the last two limits. */
#define PG_SETTINGS(is_local)                                                                                          \
    "set_config('lock_timeout', $1::bigint::text, " is_local "),"                                                      \
    " set_config('statement_timeout', $2::bigint::text, " is_local "),"                                                \
    " set_config('idle_in_transaction_session_timeout', $2::bigint::text, " is_local "),"                              \
    " CASE WHEN current_setting('idle_session_timeout', true) IS NOT NULL"                                             \
    "  THEN set_config('idle_session_timeout', '0', " is_local ") END,"                                                \
    " CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL"                                              \
    "  THEN set_config('transaction_timeout', '0', " is_local ") END,"                                                 \
    " set_config('pawl.schema', coalesce($3::text, ''), " is_local "),"                                                \
    " set_config('search_path', concat_ws(', ', quote_ident($3::text),"                                                \
    "  nullif(current_setting('search_path'), '')), " is_local ")"

#define PG_PLANS(value)                                                                                                \
    " set_config('enable_seqscan', '" value "', true), set_config('enable_bitmapscan', '" value "', true),"            \
    " set_config('enable_sort', '" value "', true), set_config('enable_hashjoin', '" value "', true),"                 \
    " set_config('enable_mergejoin', '" value "', true)"

/* Which of the rows (u.instance, u.run, u.<column>) exist. */
#define PG_FIND(table, column, type)                                                                                   \
    "SELECT u.place FROM unnest($1::bigint[], $2::bigint[], $3::" type "[]) WITH ORDINALITY"                           \
    " AS u (instance, run, " column ", place) CROSS JOIN LATERAL (SELECT instance, run, " column " FROM " table        \
    "  WHERE (instance, run, " column ") >= (u.instance, u.run, u." column ")"                                         \
    "  ORDER BY instance, run, " column " LIMIT 1) f"                                                                  \
    " WHERE f.instance = u.instance AND f.run = u.run AND f." column " = u." column

#define PW_POSTGRES_QUERIES(QUERY)                                                                                     \
    QUERY(BEGIN, "BEGIN ISOLATION LEVEL READ COMMITTED")                                                               \
    QUERY(COMMIT, "COMMIT")                                                                                            \
    QUERY(ROLLBACK, "ROLLBACK")                                                                                        \
    QUERY(UNIT_BEGIN, "SAVEPOINT pawl_unit")                                                                           \
    QUERY(UNIT_UNDO, "ROLLBACK TO SAVEPOINT pawl_unit")                                                                \
    QUERY(UNIT_END, "RELEASE SAVEPOINT pawl_unit")                                                                     \
    QUERY(CLOCK, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")                                   \
    QUERY(NOTIFY, "SELECT pg_notify('pawl', $1::text)")                                                                \
    QUERY(LISTEN, "LISTEN pawl")                                                                                       \
    QUERY(SESSION_SETTINGS, "SELECT " PG_SETTINGS("false"))                                                            \
    QUERY(TRANSACTION_SETTINGS, /* behind a pooler; includes the settings of session_plans */                          \
        "SELECT " PG_SETTINGS("true") ", set_config('plan_cache_mode', 'force_generic_plan', true),"                   \
        " set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', '0', true)," PG_PLANS("off"))  \
                                                                                                                       \
    QUERY(SCHEMA_TABLES,                                                                                               \
        "SELECT count(*), count(*) FILTER (WHERE relname = 'workflow_schema') FROM pg_class WHERE" PG_OUR_SCHEMA       \
        " AND relname IN ('workflow_schema', 'workflow_instance', 'workflow_task', 'workflow_step', 'workflow_event'," \
        " 'workflow_log', 'workflow_hook', 'workflow_runner', 'workflow_receipt', 'workflow_guard',"                   \
        " 'workflow_instances', 'workflow_tasks', 'workflow_steps', 'workflow_events', 'workflow_logs',"               \
        " 'workflow_hooks', 'workflow_runners', 'workflow_set', 'workflow_run', 'workflow_runs')")                     \
    QUERY(SCHEMA_VERSION, "SELECT version FROM workflow_schema")                                                       \
    QUERY(SCHEMA_SET_VERSION, "UPDATE workflow_schema SET version = $1::bigint")                                       \
    QUERY(SCHEMA_LOCK, "SELECT pg_advisory_xact_lock(7020602231954043168)")                                            \
    QUERY(SCHEMA_ROW_TYPES,                                                                                            \
        "SELECT '" PG_INSTANCE_ROW "'::regtype::oid::bigint, '" PG_TASK_ROW "'::regtype::oid::bigint,"                 \
        " '" PG_STEP_ROW "'::regtype::oid::bigint, '" PG_PLAIN_STEP_ROW "'::regtype::oid::bigint,"                     \
        " '" PG_EVENT_ROW "'::regtype::oid::bigint,"                                                                   \
        " '" PG_LOG_ROW "'::regtype::oid::bigint, '" PG_HOOK_ROW "'::regtype::oid::bigint,"                            \
        " '" PG_EARLIER_RUN_ROW "'::regtype::oid::bigint")                                                             \
    QUERY(SCHEMA_RELATIONS,                                                                                            \
        "SELECT oid::bigint FROM pg_class WHERE" PG_OUR_SCHEMA                                                         \
        " AND starts_with(relname::text, 'workflow_')")                                                                \
                                                                                                                       \
    /* ---- The look of a transaction ---- */                                                                          \
    QUERY(TASK_LOCK,                                                                                                   \
        "SELECT " PG_TASK_COLUMNS " FROM workflow_task WHERE instance = ANY($1::bigint[])"                             \
        " ORDER BY instance FOR UPDATE")                                                                               \
    QUERY(LEASE_LOCK, /* for renewals, which skip locked rows; after the locks that are waited for */                  \
        "SELECT " PG_TASK_COLUMNS " FROM workflow_task WHERE instance = ANY($1::bigint[])"                             \
        " ORDER BY instance FOR UPDATE SKIP LOCKED")                                                                   \
    QUERY(LEASE_SEE, "SELECT " PG_TASK_COLUMNS " FROM workflow_task WHERE instance = ANY($1::bigint[])")               \
    /* Like TASK_LOCK, and also locks tasks that are found by their parents' runs or by name. */                       \
    QUERY(TASK_LOCK_FOUND,                                                                                             \
        "SELECT " PG_TASK_COLUMNS " FROM workflow_task WHERE instance = ANY($1::bigint[]"                              \
        "  || ARRAY(SELECT c.key FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS u (parent, run, least)"      \
        PG_OPEN_CHILDREN ") || ARRAY(SELECT i.key FROM unnest($5::text[], $6::text[]) AS u (workflow, id)"             \
        PG_INSTANCE_OF_NAME ") || ARRAY(SELECT c.key FROM " PG_FAMILIES("$7", "$8", "$9") PG_OPEN_CHILDREN ")"         \
        " || ARRAY(SELECT u.above FROM " PG_FAMILIES("$7", "$8", "$9") " WHERE u.least = 1 AND u.above IS NOT NULL))"  \
        " ORDER BY instance FOR UPDATE")                                                                               \
    QUERY(CHILDREN,                                                                                                    \
        "SELECT c.key, c.parent, c.parent_run, c.relation"                                                             \
        " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS u (parent, run, least)" PG_OPEN_CHILDREN)           \
    QUERY(CHILDREN_NAMED,                                                                                              \
        "SELECT c.key, c.parent, c.parent_run, c.relation FROM " PG_FAMILIES("$1", "$2", "$3") PG_OPEN_CHILDREN)       \
    QUERY(INSTANCE_LOCK,                                                                                               \
        "SELECT key, workflow, id, run, created_at, parent, parent_run, relation, updated_at, outcome, started_at,"    \
        " completed_at, output, error_name, error_message" PW_COLUMNS(PW_TERMS_ALONE, "")                              \
        " FROM workflow_instance WHERE key = ANY($1::bigint[] || ARRAY(SELECT u.above FROM "                           \
        PG_FAMILIES("$2", "$3", "$4") " WHERE u.least = 1 AND u.above IS NOT NULL)) ORDER BY key FOR UPDATE")          \
    QUERY(CLAIM_TRY_GATE,                                                                                              \
        "SELECT u.key, pg_try_advisory_xact_lock(u.key)::int FROM unnest($1::bigint[]) AS u (key)")                    \
    QUERY(INSTANCE_FACTS,                                                                                              \
        "SELECT i.key, i.workflow, i.id, i.created_at, i.parent, i.parent_run, i.relation,"                            \
        " CASE WHEN u.whole = 1 OR t.started_at IS NULL THEN i.params END"                                             \
        " FROM unnest($1::bigint[], $2::bigint[]) AS u (key, whole)" PG_INSTANCE_OF("u.key") PG_TASK_OF_INSTANCE)      \
    QUERY(INSTANCE_FIND,                                                                                               \
        "SELECT u.place, i.key, (i.outcome IS NULL)::int"                                                              \
        " FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS u (workflow, id, place)" PG_INSTANCE_OF_NAME)         \
    QUERY(INSTANCE_KEYS,                                                                                               \
        "SELECT nextval('workflow_instance_key_seq') FROM generate_series(1, $1::bigint)")                             \
    QUERY(STEP_FIND, PG_FIND("workflow_step", "seq", "bigint"))                                                        \
    QUERY(EVENT_FIND, PG_FIND("workflow_event", "seq", "bigint"))                                                      \
    QUERY(EVENT_FIND_ID, PG_FIND("workflow_event", "id", "text"))                                                      \
    /* Where events go: the instance, whether its run has the event, and until when a step waits for one. */           \
    QUERY(EVENT_TARGETS,                                                                                               \
        "SELECT u.place, i.key, i.run, i.outcome, i.created_at, i.parent, i.parent_run, i.relation,"                   \
        " (SELECT (f.instance = i.key AND f.run = i.run AND f.id = u.event)::int FROM workflow_event f"                \
        "  WHERE (f.instance, f.run, f.id) >= (i.key, i.run, u.event) ORDER BY f.instance, f.run, f.id LIMIT 1),"      \
        " (SELECT max(s.wake_at) FROM workflow_step s" PG_STEP_AWAITS("i.key", "i.run", "u.type") ")"                  \
        " FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY"                                 \
        " AS u (workflow, id, event, type, place)" PG_INSTANCE_OF_NAME)                                                \
    QUERY(CONTROL_TARGETS,                                                                                             \
        "SELECT u.place, i.key, i.run, i.outcome, i.created_at, i.parent, i.parent_run, i.relation,"                   \
        " (SELECT max(s.updated_at) FROM workflow_step s WHERE s.instance = i.key AND s.run = i.run),"                 \
        " (SELECT l.seq FROM workflow_log l WHERE l.instance = i.key AND l.run = i.run ORDER BY l.seq DESC LIMIT 1),"  \
        " (SELECT l.created_at FROM workflow_log l WHERE l.instance = i.key AND l.run = i.run"                         \
        "  ORDER BY l.seq DESC LIMIT 1)"                                                                               \
        " FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS u (workflow, id, place)" PG_INSTANCE_OF_NAME)         \
    QUERY(STEP_AWAITING,                                                                                               \
        "SELECT max(s.wake_at) FROM workflow_step s" PG_STEP_AWAITS("$1::bigint", "$2::bigint", "$3::text"))           \
    QUERY(EVENTS_UNREAD,                                                                                               \
        "SELECT count(*) FROM (SELECT 1 FROM workflow_event WHERE instance = $1::bigint AND run = $2::bigint"          \
        " AND delivered_at IS NULL LIMIT $3::bigint) e")                                                               \
    QUERY(LOG_TAIL,                                                                                                    \
        "SELECT u.place, l.seq, l.created_at"                                                                          \
        " FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS u (instance, run, place)"                         \
        " CROSS JOIN LATERAL (SELECT seq, created_at FROM workflow_log WHERE instance = u.instance AND run = u.run"    \
        "  ORDER BY seq DESC LIMIT 1) l")                                                                              \
                                                                                                                       \
    /* ---- What it writes ---- */                                                                                     \
    QUERY(INSTANCE_INSERT, PG_INSERT_INSTANCE)                                                                         \
    QUERY(INSTANCE_UPDATE, PG_INSERT_INSTANCE " ON CONFLICT (key) DO UPDATE SET " PW_CHANGES(PW_INSTANCE_FIELDS))      \
    QUERY(TASK_INSERT, PG_INSERT_TASK)                                                                                 \
    QUERY(TASK_UPDATE,                                                                                                 \
        PG_INSERT_TASK " ON CONFLICT (instance) DO UPDATE SET run = excluded.run, " PW_CHANGES(PW_TASK_FIELDS))        \
    QUERY(TASK_DELETE, "DELETE FROM workflow_task WHERE instance = ANY($1::bigint[])")                                 \
    QUERY(EARLIER_RUN_INSERT,                                                                                          \
        PG_INSERT("workflow_run", "instance, " PG_EARLIER_RUN_COLUMNS, PG_EARLIER_RUN_ROW) " ON CONFLICT DO NOTHING")  \
    QUERY(STEP_INSERT, PG_INSERT_STEP)                                                                                 \
    QUERY(STEP_INSERT_PLAIN,                                                                                           \
        PG_INSERT("workflow_step", "instance, run, " PW_COLUMNS(PW_PLAIN_STEP_FIELDS, ""), PG_PLAIN_STEP_ROW))         \
    QUERY(STEP_UPDATE, PG_INSERT_STEP " ON CONFLICT (instance, run, seq) DO UPDATE SET " PW_CHANGES(PW_STEP_FIELDS))   \
    QUERY(STEP_KEEP,                                                                                                   \
        "INSERT INTO workflow_step (instance, run, " PW_COLUMNS(PW_STEP_FIELDS, "") ")"                                \
        " SELECT instance, run + 1, " PW_COLUMNS(PW_STEP_FIELDS, "")                                                   \
        " FROM workflow_step WHERE instance = $1::bigint AND run = $2::bigint AND seq < $3::bigint"                    \
        " AND seq <> $4::bigint AND status <> 0"                                                                       \
        " AND ($5::bigint = 0 OR status = 1 OR state < 3) RETURNING seq")                                              \
    QUERY(EVENT_INSERT, PG_INSERT_EVENT)                                                                               \
    QUERY(EVENT_CONSUME, PG_INSERT_EVENT " ON CONFLICT (instance, run, seq) DO UPDATE SET " PW_CHANGES(PW_EVENT_FIELDS))\
    QUERY(LOG_INSERT, PG_INSERT("workflow_log", "instance, run, " PG_LOG_COLUMNS, PG_LOG_ROW))                         \
    QUERY(HOOK_INSERT,                                                                                                 \
        "INSERT INTO workflow_hook (instance" PW_COLUMNS(PW_HOOK_FIELDS, "") ", next_at, attempts, epoch)"             \
        " SELECT u.*, u.created_at, 0, 0 FROM unnest($1::" PG_HOOK_ROW "[]) u")                                        \
                                                                                                                       \
    /* ---- Leases ---- */                                                                                             \
    QUERY(CLAIM, PG_CLAIM(PG_ANY_NUMBER))                                                                              \
    QUERY(CLAIM_UP_TO, PG_CLAIM(PG_UP_TO))                                                                             \
    QUERY(REAP,                                                                                                        \
        "SELECT " PG_TASK_COLUMNS " FROM workflow_task WHERE " PG_LEASED " AND locked_until > $1::bigint"              \
        " AND owner = ANY(ARRAY(SELECT owner FROM workflow_runner WHERE heartbeat_at < $3::bigint - " PG_DEAD_MS       \
        "  AND owner <> ALL($2::bigint[]))) FOR UPDATE SKIP LOCKED")                                                   \
    QUERY(REAP_RUNNERS,                                                                                                \
        "DELETE FROM workflow_runner r WHERE r.heartbeat_at < $3::bigint - 6 * " PG_DEAD_MS                            \
        " AND r.owner <> ALL($2::bigint[]) AND (SELECT 1 FROM workflow_task t WHERE t.processing = 1"                  \
        "  AND t.owner = r.owner AND t.locked_until > $1::bigint LIMIT 1) IS NULL")                                    \
                                                                                                                       \
    /* ---- Runners and receipts ---- */                                                                               \
    QUERY(RUNNER_ANNOUNCE,                                                                                             \
        "INSERT INTO workflow_runner AS r (owner, started_at, heartbeat_at) VALUES ($1::bigint, $2::bigint,"           \
        " $2::bigint) ON CONFLICT (owner) DO UPDATE SET started_at = excluded.started_at,"                             \
        " heartbeat_at = excluded.heartbeat_at WHERE r.heartbeat_at < $2::bigint - " PG_DEAD_MS                        \
        "  OR r.started_at = excluded.started_at RETURNING owner") /* its own row: the first answer was lost */        \
    QUERY(RUNNER_BEAT,                                                                                                 \
        "INSERT INTO workflow_runner AS r (owner, started_at, heartbeat_at)"                                           \
        " SELECT u.owner, $2::bigint, $2::bigint FROM unnest($1::bigint[]) AS u (owner)"                               \
        " ON CONFLICT (owner) DO UPDATE SET heartbeat_at = greatest(r.heartbeat_at, excluded.heartbeat_at)")           \
    QUERY(RUNNER_DESCRIBE,                                                                                             \
        "INSERT INTO workflow_runner AS r (owner, started_at, heartbeat_at, is_sharing, name, workflows)"              \
        " VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::text, $6::text)"                                 \
        " ON CONFLICT (owner) DO UPDATE SET started_at = excluded.started_at,"                                         \
        " heartbeat_at = greatest(r.heartbeat_at, excluded.heartbeat_at), is_sharing = excluded.is_sharing,"           \
        " name = excluded.name, workflows = excluded.workflows")                                                       \
    QUERY(RUNNER_WITHDRAW, "UPDATE workflow_runner SET heartbeat_at = 0 WHERE owner = $1::bigint")                     \
    QUERY(PROBE_WRITE, "INSERT INTO workflow_runner (owner, started_at, heartbeat_at) VALUES (0, 0, 0)")               \
    QUERY(PROBE_FORGET, "DELETE FROM workflow_runner WHERE owner = 0")                                                 \
    QUERY(RECEIPT_WRITE,                                                                                               \
        "UPDATE workflow_receipt SET number = $2::bigint, written_at = " PG_NOW_MS " WHERE lane = $1::bigint")         \
    QUERY(RECEIPT_READ, "SELECT number FROM workflow_receipt WHERE lane = $1::bigint FOR UPDATE")                      \
    QUERY(RECEIPT_OPEN,                                                                                                \
        "INSERT INTO workflow_receipt (lane, number, written_at) VALUES ($1::bigint, 0, " PG_NOW_MS ")")               \
    QUERY(RECEIPT_CLOSE, "DELETE FROM workflow_receipt WHERE lane = $1::bigint")                                       \
    QUERY(RECEIPT_FORGET, "DELETE FROM workflow_receipt WHERE written_at < " PG_NOW_MS " - 30 * 86400000::bigint")     \
    QUERY(SESSION_BEGUN,                                                                                               \
        "SELECT pg_backend_pid(), backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()")             \
    QUERY(SESSION_END,                                                                                                 \
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"                                                \
        " WHERE pid = $1::bigint AND backend_start::text = $2::text")                                                  \
                                                                                                                       \
    /* ---- Hooks ---- */                                                                                              \
    QUERY(HOOK_LOCK,                                                                                                   \
        PG_HOOKS_TOLD("(SELECT * FROM workflow_hook WHERE key = ANY($1::bigint[] || ARRAY(SELECT f.key"                \
        "  FROM unnest($2::text[]) AS u (id)"                                                                          \
        "  CROSS JOIN LATERAL (SELECT key FROM workflow_hook WHERE id = u.id LIMIT 1) f)) ORDER BY key FOR UPDATE)"))  \
    QUERY(HOOK_CLAIM,                                                                                                  \
        "WITH found AS MATERIALIZED ((SELECT d.* FROM unnest($1::text[]) AS w (hook)"                                  \
        "  CROSS JOIN LATERAL (" PG_HOOK_DUE("") ") c"                                                                 \
        "  CROSS JOIN LATERAL (" PG_HOOK_TAKE(PG_HOOK_SPENT) ") d)"                                                    \
        " UNION ALL (SELECT t.* FROM (SELECT d.* FROM unnest($1::text[]) AS w (hook)"                                  \
        "   CROSS JOIN LATERAL (" PG_HOOK_DUE("AND attempts < attempts_max") ") d ORDER BY at, key) c"                 \
        "  CROSS JOIN LATERAL (" PG_HOOK_TAKE("NOT " PG_HOOK_SPENT) ") t"                                              \
        "  ORDER BY c.at, c.key LIMIT $3::bigint)) "                                                                   \
        PG_HOOKS_TOLD("found"))                                                                                        \
    QUERY(HOOK_UPDATE,                                                                                                 \
        "UPDATE workflow_hook SET attempts = $2::bigint, next_at = $3::bigint, locked_until = $4::bigint,"             \
        " epoch = $5::bigint, last_error = $6::text WHERE key = $1::bigint")                                           \
    QUERY(HOOK_DELETE, "DELETE FROM workflow_hook WHERE key = ANY($1::bigint[])")                                      \
                                                                                                                       \
    /* ---- The user's code ---- */                                                                                    \
    QUERY(USER_BEGIN,                                                                                                  \
        "SELECT current_setting('search_path'), set_config('pawl.user', 'on', true)," PG_PLANS("on"))                  \
    QUERY(USER_END, "SELECT set_config('pawl.user', '', true)," PG_PLANS("off"))                                       \
    QUERY(USER_GUARD, "INSERT INTO workflow_guard (at) VALUES (1)")                                                    \
    QUERY(USER_UNGUARD, "DELETE FROM workflow_guard WHERE at = 1")                                                     \
    /* Did it take a lock on our relations that no read or write takes, or shadow them by temporary tables? */         \
    QUERY(USER_CHECK,                                                                                                  \
        "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'relation' AND pid = pg_backend_pid()"                 \
        "  AND relation::bigint = ANY($1::bigint[]) AND mode NOT IN ('AccessShareLock', 'RowShareLock',"               \
        "  'RowExclusiveLock'))::int,"                                                                                 \
        " EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = pg_my_temp_schema()"                                     \
        "  AND starts_with(relname::text, 'workflow_'))::int,"                                                         \
        " (current_setting('search_path') <> $2::text)::int")

/* clang-format on */

/* Statements are identified by numbers.  Each file that has statements begins with a number of its own. */
enum {
    PW_PG_QUERIES = 0,                                     /* these: connection.c */
    PW_PG_QUERIES_OF_READ = PW_STATEMENTS_MAX,             /* read.c */
    PW_PG_QUERIES_OF_READ_NUMBERS = 2 * PW_STATEMENTS_MAX, /* read_numbers.c */
    PW_PG_QUERY_COUNT = 3 * PW_STATEMENTS_MAX,
};
extern const struct pw_statement pw_pg_queries_of_read[PW_STATEMENTS_MAX];
extern const struct pw_statement pw_pg_queries_of_read_numbers[PW_STATEMENTS_MAX];
/* The text is NULL if no statement has the number. */
const struct pw_statement *pw_pg_query(unsigned number);

enum pw_pg_query {
#define PG_QUERY_NAME(name, text) PW_PG_##name,
    PW_POSTGRES_QUERIES(PG_QUERY_NAME)
#undef PG_QUERY_NAME
};
/* The name by which a session knows the prepared statement. */
#define PG_STATEMENT(name, text) { "pawl_" #name, text },

#endif
