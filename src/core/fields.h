/* fields.h - the fields of every row, listed once.
 *
 * Each list names the fields of a row in the order of its columns: how a number is checked, the member of the struct
 * in rows.h, and the column.  Stores make their SQL from the lists (store/columns.h).  Code that reads, writes or
 * compares rows loops over the same lists as tables (struct pw_row_type).
 *
 * A new column costs a line in a list, a member in rows.h and a migration in each database.  PostgreSQL writes rows
 * as composite types with the columns of a list, so its migration creates a new type, named after the schema
 * version. */
#ifndef PW_CORE_FIELDS_H
#define PW_CORE_FIELDS_H

#include <stdint.h>

#include "base/limits.h"
#include "core/rows.h"

/* ---- Lists --------------------------------------------------------------------------------------------------------- */

/* A list hands each of its fields to a macro X, as X(with, part, type, member, column):
 *
 *   with   the caller's argument
 *   part   KEY    the first column, which identifies the row
 *          HEAD   the first column of a list without a key; may change
 *          FIRST  the first column after the key that may change
 *          NEXT   any other column that may change
 *          ONCE   written with the row, never changed
 *          BEGUN  of an instance or an earlier run: written with the row; in an instance, changed when its run changes
 *   type   of enum pw_field_type; CHOICE(last) for an enum.  OPTIONAL(type): 0 is stored as NULL. */

/* The fields of struct pw_terms, which is the member `path` of a row. */
#define PW_TERMS_FIELDS(X, with, path) X(with, BEGUN, TEXT, path version, version)
#define PW_TERMS_ALONE(X, with) PW_TERMS_FIELDS(X, with, )

/* The schema version that last changed a list.  PostgreSQL's type for its rows is named after it. */
#define PW_INSTANCE_SCHEMA 7
#define PW_EARLIER_RUN_SCHEMA 7
#define PW_TASK_SCHEMA 2
#define PW_STEP_SCHEMA 9
#define PW_EVENT_SCHEMA 8
#define PW_LOG_SCHEMA 8

/* The fields of struct pw_instance, with its times as stored (pw_instance_merge() completes them). */
#define PW_INSTANCE_FIELDS(X, with)                                                                                    \
    X(with, KEY, PLACE, key, key)                                                                                      \
    X(with, FIRST, COUNT, run, run)                                                                                    \
    X(with, ONCE, TIME, created_at_ms, created_at)                                                                     \
    X(with, NEXT, TIME, updated_at_ms, updated_at)                                                                     \
    X(with, NEXT, OPTIONAL(TIME), started_at_ms, started_at)                                                           \
    X(with, NEXT, OPTIONAL(TIME), completed_at_ms, completed_at)                                                       \
    X(with, NEXT, OPTIONAL(CHOICE(PW_OUTCOME_ERRORED)), outcome, outcome)                                              \
    X(with, ONCE, OPTIONAL(COUNT), link.parent, parent)                                                                \
    X(with, ONCE, OPTIONAL(COUNT), link.run, parent_run)                                                               \
    X(with, ONCE, OPTIONAL(CHOICE(PW_RELATION_JOB)), link.relation, relation)                                          \
    X(with, ONCE, TEXT, workflow, workflow)                                                                            \
    X(with, ONCE, TEXT, id, id)                                                                                        \
    X(with, ONCE, TEXT, params, params)                                                                                \
    X(with, NEXT, TEXT, output, output)                                                                                \
    X(with, NEXT, TEXT, error_name, error_name)                                                                        \
    X(with, NEXT, TEXT, error_message, error_message)                                                                  \
    PW_TERMS_FIELDS(X, with, terms.)

/* What lists of instances can be filtered by.  Each line makes two statements in each store, oldest first and newest first.  They list
 * the instances that have one value in one column, in the order of their keys, by an index that ends with the key.
 *
 *   X(with, name, shape, column, type, index)
 *
 *   shape  WORKFLOW  the workflow, and nothing else
 *          ALONE     the column, whatever the workflow
 *          INSTANCE  the workflow and a column of the instance; the index leaves out rows that have NULL there
 *          TASK      the workflow and a column of the task
 *   type   TEXT; COUNT or CHOICE, which PostgreSQL stores in different sizes
 *   index  SQLite is told to use it, and tests check that PostgreSQL does */
#define PW_INSTANCE_FILTERS(X, with)                                                                                   \
    X(with, WORKFLOW, WORKFLOW, workflow, TEXT, workflow_instance_order)                                               \
    X(with, PARENT, ALONE, parent, COUNT, workflow_instance_child)                                                     \
    X(with, STATUS, TASK, status, CHOICE, workflow_task_status)                                                        \
    X(with, OUTCOME, INSTANCE, outcome, CHOICE, workflow_instance_ended)                                               \
    X(with, VERSION, INSTANCE, version, TEXT, workflow_instance_version)

/* The fields of struct pw_task.  The columns instance and run come before them, workflow and shard after them. */
#define PW_TASK_FIELDS(X, with)                                                                                        \
    X(with, HEAD, COUNT, epoch, epoch)                                                                                 \
    X(with, NEXT, TIME, due_at_ms, due_at)                                                                             \
    X(with, NEXT, OPTIONAL(NUMBER), owner, owner)                                                                      \
    X(with, NEXT, OPTIONAL(TIME), locked_until_ms, locked_until)                                                       \
    X(with, NEXT, OPTIONAL(TIME), started_at_ms, started_at)                                                           \
    X(with, NEXT, TIME, updated_at_ms, updated_at)                                                                     \
    X(with, NEXT, COUNT, event_seq, event_seq)                                                                         \
    X(with, NEXT, CHOICE(PW_TASK_PAUSED), status, status)                                                              \
    X(with, NEXT, CHOICE(PW_TASK_REPAIR), kind, kind)                                                                  \
    X(with, NEXT, FLAG, processing, processing)                                                                        \
    X(with, NEXT, FLAG, pause_requested, pause_requested)                                                              \
    X(with, NEXT, CHOICE(PW_DEMAND_TERMINATE), demand, demand)

/* The column instance comes before these. */
#define PW_EARLIER_RUN_FIELDS(X, with)                                                                                 \
    X(with, KEY, PLACE, run, run)                                                                                      \
    X(with, ONCE, OPTIONAL(TIME), started_at_ms, started_at)                                                           \
    X(with, ONCE, TIME, completed_at_ms, completed_at)                                                                 \
    X(with, ONCE, TIME, replaced_at_ms, replaced_at)                                                                   \
    X(with, ONCE, CHOICE(PW_OUTCOME_ERRORED), outcome, outcome)                                                        \
    X(with, ONCE, TEXT, output, output)                                                                                \
    X(with, ONCE, TEXT, error_name, error_name)                                                                        \
    X(with, ONCE, TEXT, error_message, error_message)                                                                  \
    PW_TERMS_FIELDS(X, with, terms.)

/* In steps, events and log lines, the columns instance and run come before these.
 *
 * The fields of a step are two lists.  In a plain step all fields of the second list are NULL: it has a body, is outside forks, and
 * completed at its first attempt.  Most steps are plain, so PostgreSQL inserts them with a smaller row (pw_step_is_plain()). */
#define PW_PLAIN_STEP_FIELDS(X, with)                                                                                  \
    X(with, KEY, PLACE, seq, seq)                                                                                      \
    X(with, FIRST, COUNT, attempts, attempts)                                                                          \
    X(with, NEXT, COUNT, attempts_max, attempts_max)                                                                   \
    X(with, NEXT, COUNT, timeout_ms, timeout)                                                                          \
    X(with, ONCE, TIME, created_at_ms, created_at)                                                                     \
    X(with, NEXT, TIME, updated_at_ms, updated_at)                                                                     \
    X(with, ONCE, CHOICE(PAWL_STEP_DEFERRED), kind, kind)                                                              \
    X(with, NEXT, CHOICE(PAWL_STEP_ERRORED), status, status)                                                           \
    X(with, NEXT, CHOICE(PAWL_STATE_GIVEN_UP), state, state)                                                           \
    X(with, ONCE, COUNT, place.branch, branch)                                                                         \
    X(with, ONCE, COUNT, place.order, branch_order)                                                                    \
    X(with, ONCE, TEXT, name, name)                                                                                    \
    X(with, NEXT, TEXT, result, result)
#define PW_RARE_STEP_FIELDS(X, with)                                                                                   \
    X(with, NEXT, OPTIONAL(TIME), next_retry_at_ms, next_retry_at)                                                     \
    X(with, NEXT, OPTIONAL(TIME), wake_at_ms, wake_at)                                                                 \
    X(with, NEXT, OPTIONAL(TIME), event_at_ms, event_at)                                                               \
    X(with, ONCE, OPTIONAL(CHOICE(PAWL_FORK_FIRST)), place.kind, fork_kind)                                            \
    X(with, ONCE, TEXT, undoes, undoes)                                                                                \
    X(with, ONCE, TEXT, place.fork, fork)                                                                              \
    X(with, ONCE, TEXT, place.outer, outer_forks)                                                                      \
    X(with, NEXT, TEXT, description, description)                                                                      \
    X(with, NEXT, TEXT, wait_event_type, wait_event_type)                                                              \
    X(with, NEXT, TEXT, awaited_workflow, awaited_workflow)                                                            \
    X(with, NEXT, TEXT, awaited_id, awaited_id)                                                                        \
    X(with, NEXT, TEXT, error_name, error_name)                                                                        \
    X(with, NEXT, TEXT, error_message, error_message)
#define PW_STEP_FIELDS(X, with)                                                                                        \
    PW_PLAIN_STEP_FIELDS(X, with)                                                                                      \
    PW_RARE_STEP_FIELDS(X, with)

#define PW_EVENT_FIELDS(X, with)                                                                                       \
    X(with, KEY, PLACE, seq, seq)                                                                                      \
    X(with, ONCE, TIME, created_at_ms, created_at)                                                                     \
    X(with, FIRST, OPTIONAL(TIME), delivered_at_ms, delivered_at)                                                      \
    X(with, ONCE, FLAG, is_failure, is_failure)                                                                        \
    X(with, ONCE, TEXT, id, id)                                                                                        \
    X(with, ONCE, TEXT, type, type)                                                                                    \
    X(with, ONCE, TEXT, payload, payload)                                                                              \
    X(with, NEXT, TEXT, consumed_by, consumed_by)

#define PW_LOG_FIELDS(X, with)                                                                                         \
    X(with, KEY, PLACE, seq, seq)                                                                                      \
    X(with, ONCE, COUNT, attempt, attempt)                                                                             \
    X(with, ONCE, TIME, created_at_ms, created_at)                                                                     \
    X(with, ONCE, CHOICE(PAWL_LOG_ERROR), level, level)                                                                \
    X(with, ONCE, FLAG, is_replay, is_replay)                                                                          \
    X(with, ONCE, FLAG, is_repair, is_repair)                                                                          \
    X(with, ONCE, TEXT, step, step)                                                                                    \
    X(with, ONCE, TEXT, category, category)                                                                            \
    X(with, ONCE, TEXT, message, message)                                                                              \
    X(with, ONCE, TEXT, data, data)

/* The fields of struct pw_hook_row: the state of the delivery, and what it tells.  The column instance comes before
 * PW_HOOK_FIELDS.  The instance's workflow and id are read from its own row. */
#define PW_DELIVERY_FIELDS(X, with)                                                                                    \
    X(with, KEY, PLACE, key, key)                                                                                      \
    X(with, FIRST, COUNT, attempts, attempts)                                                                          \
    X(with, NEXT, OPTIONAL(TIME), next_at_ms, next_at)                                                                 \
    X(with, NEXT, OPTIONAL(TIME), locked_until_ms, locked_until)                                                       \
    X(with, NEXT, COUNT, epoch, epoch)                                                                                 \
    X(with, NEXT, TEXT, last_error, last_error)
#define PW_HOOK_FIELDS(X, with)                                                                                        \
    X(with, ONCE, COUNT, run, run)                                                                                     \
    X(with, ONCE, OPTIONAL(TIME), due_at_ms, due_at)                                                                   \
    X(with, ONCE, TIME, created_at_ms, created_at)                                                                     \
    X(with, ONCE, COUNT, attempts_max, attempts_max)                                                                   \
    X(with, ONCE, CHOICE(PAWL_HOOK_FINISHED), event, event)                                                            \
    X(with, ONCE, OPTIONAL(CHOICE(PW_REASON_WAKE)), reason, reason)                                                    \
    X(with, ONCE, OPTIONAL(CHOICE(PW_OUTCOME_ERRORED)), outcome, outcome)                                              \
    X(with, ONCE, TEXT, id, id)                                                                                        \
    X(with, ONCE, TEXT, hook, hook)                                                                                    \
    X(with, ONCE, TEXT, error_name, error_name)                                                                        \
    X(with, ONCE, TEXT, error_message, error_message)

/* The fields of struct pw_runner_row without seen_at_ms, for which SQLite has no column. */
#define PW_RUNNER_FIELDS(X, with)                                                                                      \
    X(with, KEY, NUMBER, owner, owner)                                                                                 \
    X(with, FIRST, TEXT, name, name)                                                                                   \
    X(with, NEXT, TEXT, workflows, workflows)                                                                          \
    X(with, NEXT, FLAG, is_sharing, is_sharing)                                                                        \
    X(with, NEXT, TIME, started_at_ms, started_at)

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

enum pw_field_type {
    PW_FIELD_PLACE,  /* int64_t: part of a row's key; see pw_is_place() */
    PW_FIELD_COUNT,  /* int64_t: see pw_count_of() */
    PW_FIELD_TIME,   /* int64_t: see pw_time_of() */
    PW_FIELD_NUMBER, /* int64_t: any */
    PW_FIELD_FLAG,   /* bool: 0 or not 0 */
    PW_FIELD_ONE_OF, /* an enum: 0 to `most`; CHOICE() in the lists */
    PW_FIELD_TEXT    /* struct pw_text: absent is NULL */
};

struct pw_field {
    enum pw_field_type type;
    int most;
    bool is_optional; /* 0 is stored as NULL; an absent text always is */
    bool may_change;  /* after the row was first written */
    size_t at;        /* offset of the member in the struct */
    const char *column;
};

struct pw_row_type {
    size_t size; /* of the struct */
    const struct pw_field *fields;
    size_t count;
};

extern const struct pw_row_type pw_instance_type, pw_task_type, pw_step_type, pw_plain_step_type, pw_event_type,
    pw_log_type, pw_hook_type, pw_delivery_type, pw_runner_type, pw_earlier_run_type, pw_terms_type;

/* True if all fields that only PW_RARE_STEP_FIELDS lists are NULL. */
bool pw_step_is_plain(const struct pw_step_row *row);

/* ---- Members --------------------------------------------------------------------------------------------------------- */

/* Numbers from the database are cut to a valid range, so that a row that is damaged or was changed by hand brings
 * nothing into the engine that the engine cannot have written. */
#define PW_COUNT_MAX (INT64_C(1) << 53)

/* A number that only ever counts up from 0.  A larger number than any count can reach becomes PW_COUNT_MAX. */
static inline int64_t pw_count_of(int64_t number)
{
    return number < 0 ? 0 : number < PW_COUNT_MAX ? number : PW_COUNT_MAX;
}

/* Milliseconds since 1970, cut to 0 and PW_TIME_MS_MAX. */
static inline int64_t pw_time_of(int64_t number)
{
    return number < 0 ? 0 : number < PW_TIME_MS_MAX ? number : PW_TIME_MS_MAX;
}

/* True if a row can have this number as its key. */
static inline bool pw_is_place(int64_t number)
{
    return number >= 1 && number <= PW_COUNT_MAX;
}

/* Sets the member from a number.  False: the row is damaged; a choice becomes 0.  Not for texts. */
bool pw_member_set(const struct pw_field *field, void *row, int64_t number);
int64_t pw_member_get(const struct pw_field *field, const void *row);

/* The member as a text. */
static inline struct pw_text *pw_member_text(const struct pw_field *field, void *row)
{
    return (struct pw_text *)(void *)((char *)row + field->at);
}
static inline struct pw_text pw_member_text_of(const struct pw_field *field, const void *row)
{
    return *(const struct pw_text *)(const void *)((const char *)row + field->at);
}

bool pw_rows_equal(const struct pw_row_type *type, const void *left, const void *right);

/* Completes the times of an unfinished run from its task and its newest step, because these change more often than
 * the instance row. step_updated_at_ms is the newest step's; 0: there is none. */
void pw_instance_merge(struct pw_instance *instance, int64_t step_updated_at_ms);

#endif
