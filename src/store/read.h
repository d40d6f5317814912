/* read.h - what can be asked of a store, as values.
 *
 * A read is a kind and its arguments (struct pw_read).  The answer is rows in the caller's arena, or a few numbers
 * (struct pw_found).  A store answers all kinds with one function, and a decorator forwards that one.  Callers use
 * pw_read().  Lists of rows, and reads that several callers need, have a typed function at the end of this file.
 *
 * To add a read, add a line to PW_READS, its arguments and its result.  Then write its statement, and the function
 * that the line names, in the read.c of each store.  Stores make their tables of functions from PW_READS, so none
 * can be forgotten. */
#ifndef PW_STORE_READ_H
#define PW_STORE_READ_H

#include "base/arena.h"
#include "base/error.h"
#include "core/fields.h"
#include "core/ops.h"

struct pw_store;

/* The kind, and the function that answers it.  The comment names the member of struct pw_read that holds the
 * arguments, and the member of struct pw_found that holds the answer. */
#define PW_READS(X)                                                                                                    \
    X(INSTANCE, read_instance)               /* name: instances, none or one */                                        \
    X(INSTANCE_BY_KEY, read_instance_by_key) /* key: instances, none or one */                                         \
    X(INSTANCES, read_instances)             /* wanted: instances, one for each */                                     \
    X(CURRENT, read_current)                 /* name: current, none or one */                                          \
    X(LIST, list_instances)                  /* list: instances */                                                     \
    X(EARLIER_RUNS, read_earlier_runs)       /* history, without run: earlier_runs */                                  \
    X(STEPS, read_steps)                     /* history: steps */                                                      \
    X(EVENTS, read_events)                   /* history: events */                                                     \
    X(LOGS, read_logs)                       /* history: logs */                                                       \
    X(EVENT, read_event)                     /* run, with id: events, none or one */                                   \
    X(NEW_EVENTS, read_new_events)           /* run, with after_seq: events */                                         \
    X(WAITING_STEPS, read_waiting_steps)     /* history: steps, those that wait */                                     \
    X(WAITING_COUNT, count_waiting_steps)    /* run: total */                                                          \
    X(RUN, read_run)                         /* run, with with_events: run; see reads_runs in store.h */               \
    X(NEXT_DUE, next_due)                    /* due: at_ms */                                                          \
    X(NEXT_HOOK, next_hook)                  /* names: at_ms */                                                        \
    X(TASK_COUNTS, count_tasks)              /* now_ms: tasks */                                                       \
    X(STATUS_COUNTS, count_statuses)         /* names, with max: statuses */                                           \
    X(HOOKS, list_hooks)                     /* hooks: hooks */                                                        \
    X(RUNNERS, list_runners)                 /* nothing: runners that were described and live, by number */            \
    X(PART, read_part)                       /* nothing: part */                                                       \
    X(SCHEMA, read_schema)                   /* nothing: schema */

enum pw_read_kind {
#define PW_READ_KIND(kind, function) PW_READ_##kind,
    PW_READS(PW_READ_KIND)
#undef PW_READ_KIND
        PW_READ_KIND_COUNT
};

/* ---- Arguments ----------------------------------------------------------------------------------------------- */

/* A list ends after `max` rows, or after the row whose payload makes the total exceed bytes_max (0: no limit), but
 * has at least two rows.  So a caller that asks for one row more than a page has, and returns as many as fit, always
 * returns at least one and knows whether there are more. */
typedef size_t pw_row_bytes_fn(const void *row); /* the size of a row's payloads */
size_t pw_instance_bytes(const void *instance);
size_t pw_earlier_run_bytes(const void *run);
size_t pw_step_bytes(const void *step);
size_t pw_event_bytes(const void *event);
size_t pw_log_bytes(const void *log);

struct pw_instance_name {
    struct pw_text workflow, id;
};

/* Instances by their keys, or by their names if keys is NULL. */
struct pw_instances_wanted {
    const int64_t *keys;
    const struct pw_text *workflows, *ids;
    size_t count;
};

/* The filters of PW_INSTANCE_FILTERS (core/fields.h), as values. */
enum pw_filter_name {
#define PW_FILTER_NAME(with, name, shape, column, type, index) PW_BY_##name,
    PW_INSTANCE_FILTERS(PW_FILTER_NAME, )
#undef PW_FILTER_NAME
        PW_FILTER_COUNT
};
struct pw_filter {
    bool has_workflow; /* it lists the instances of one workflow */
    bool has_value;    /* it lists those with a value, which is a text or a number */
    bool is_text;
};
extern const struct pw_filter pw_filters[PW_FILTER_COUNT];

struct pw_instance_query {
    enum pw_filter_name by;
    struct pw_text workflow;
    struct pw_text text; /* the value of the filter, if it is a text */
    int64_t number;
    bool oldest_first;
    int64_t after_key; /* rows past this one, in the order asked for; 0: from the start */
    size_t max, bytes_max;
};

struct pw_history_query {
    int64_t instance, run;
    bool newest_first;
    int64_t after_seq; /* 0: from the start; for earlier runs, the number of a run */
    size_t max, bytes_max;
    bool has_level; /* logs only */
    enum pawl_log_level level;
    struct pw_text category; /* logs only; absent: all */
};

struct pw_run_query {
    int64_t instance, run;
    struct pw_text id; /* of the event */
    int64_t after_seq;
    bool with_events;
};

struct pw_due_query {
    const struct pw_text *workflows;
    size_t count;
    const struct pw_share *share; /* NULL: all tasks */
    int64_t after_ms;
};

struct pw_names_query {
    const struct pw_text *names; /* of workflows or hooks */
    size_t count;
    int64_t max; /* at least 1: counting a status stops there, so that millions of rows cost no more */
};

/* Oldest first. */
struct pw_hook_query {
    struct pw_text hook; /* absent: all hooks */
    bool has_status;
    enum pawl_delivery_status status;
    int64_t after_key; /* rows past this one; 0: from the start */
    size_t max;
};

/* Everything that it points to is borrowed for the call. */
struct pw_read {
    enum pw_read_kind kind;
    union {
        struct pw_instance_name name;
        int64_t key;
        struct pw_instances_wanted wanted;
        struct pw_instance_query list;
        struct pw_history_query history;
        struct pw_run_query run;
        struct pw_due_query due;
        struct pw_names_query names;
        int64_t now_ms;
        struct pw_hook_query hooks;
    };
};

/* ---- Answers ------------------------------------------------------------------------------------------------- */

/* An instance and its current step. */
struct pw_current {
    struct pw_instance instance;
    bool has_step;
    struct pw_step_row step;
};

/* Everything that a claimed run is loaded from, in one round trip: facts of its instance, all steps of the run and,
 * if asked for, all undelivered events. */
struct pw_run_rows {
    struct pw_text params;
    int64_t created_at_ms;
    struct pw_link link;
    struct pw_step_row *steps;
    size_t step_count;
    struct pw_event_row *events;
    size_t event_count;
};

/* Counts over all workflows and all hooks. */
struct pw_task_counts {
    int64_t active, waiting, paused;
    int64_t due;              /* of those, how many could be claimed now */
    int64_t oldest_due_at_ms; /* 0: nothing is due */
    int64_t hooks_pending, hooks_failed;
};

/* By enum pawl_instance_status, as pw_list_instances() would list them. */
enum { PW_STATUS_COUNT = PAWL_ERRORED + 1 };
struct pw_status_counts {
    int64_t of[PW_STATUS_COUNT];
};

/* Earlier versions could spread one store over several databases, and marked each of them. */
struct pw_part {
    int64_t number; /* from 1 */
    int64_t count;  /* 0: it was never a part */
};

/* The version of the database's schema, and the newest that this Pawl knows. */
struct pw_schema_found {
    int64_t version, known;
};

/* Valid only after PAWL_OK. */
struct pw_found {
    size_t count; /* of rows */
    union {
        void *rows;
        struct pw_instance *instances;
        struct pw_current *current;
        struct pw_earlier_run *earlier_runs; /* replaced by a restart; runs from before schema version 5 have no row */
        struct pw_step_row *steps;
        struct pw_event_row *events;
        struct pw_log_row *logs;
        struct pw_hook_row *hooks;
        struct pw_runner_row *runners;
        struct pw_run_rows run;
        int64_t at_ms; /* when the next row is due or its lease ends; INT64_MAX: never */
        int64_t total; /* how many steps wait */
        struct pw_task_counts tasks;
        struct pw_status_counts statuses;
        struct pw_part part;
        struct pw_schema_found schema;
    };
};

/* The store's own function.  Rows and their texts are allocated in the arena; reads that find numbers need none. */
typedef pawl_status pw_read_fn(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                               struct pw_found *out_found, struct pawl_error *error);

/* ---- Asking -------------------------------------------------------------------------------------------------- */

/* Asserts that the calling thread may call the store here (base/bar.h). */
pawl_status pw_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                    struct pw_found *out_found, struct pawl_error *error) PAWL_MUST_CHECK;

/* Makes the query list the instances of its workflow that have this status: by the task while a run is open, by the
 * outcome afterwards. */
void pw_list_by_status(struct pw_instance_query *query, enum pawl_instance_status status);

/* Typed functions for lists of rows: the function, the kind, the type and member of its arguments, the type and
 * member of its answer. */
#define PW_LISTS(X)                                                                                                    \
    X(pw_list_instances, LIST, struct pw_instance_query, list, struct pw_instance, instances)                          \
    X(pw_read_earlier_runs, EARLIER_RUNS, struct pw_history_query, history, struct pw_earlier_run, earlier_runs)       \
    X(pw_read_steps, STEPS, struct pw_history_query, history, struct pw_step_row, steps)                               \
    X(pw_read_waiting_steps, WAITING_STEPS, struct pw_history_query, history, struct pw_step_row, steps)               \
    X(pw_read_events, EVENTS, struct pw_history_query, history, struct pw_event_row, events)                           \
    X(pw_read_logs, LOGS, struct pw_history_query, history, struct pw_log_row, logs)                                   \
    X(pw_list_hooks, HOOKS, struct pw_hook_query, hooks, struct pw_hook_row, hooks)

#define PW_LIST(function, kind_name, query_type, asked_by, row_type, found_as)                                         \
    PAWL_MUST_CHECK static inline pawl_status function(struct pw_store *store, struct pw_arena *arena,                 \
                                                       const query_type *query, row_type **out_rows,                   \
                                                       size_t *out_count, struct pawl_error *error)                    \
    {                                                                                                                  \
        const struct pw_read asked = { .kind = PW_READ_##kind_name, .asked_by = *query };                              \
        struct pw_found found;                                                                                         \
        pawl_status status = pw_read(store, &asked, arena, &found, error);                                             \
        if (status == PAWL_OK) {                                                                                       \
            *out_rows = found.found_as;                                                                                \
            *out_count = found.count;                                                                                  \
        }                                                                                                              \
        return status;                                                                                                 \
    }
PW_LISTS(PW_LIST)
#undef PW_LIST

/* Typed functions for reads that several callers need.  PAWL_INSTANCE_NOT_FOUND if there is no such row. */
pawl_status pw_read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow, struct pw_text id,
                             struct pw_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;

pawl_status pw_read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                    struct pw_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;

/* Reads several at once.  out_rows has one row for each wanted, in that order; the key of a missing one is 0. */
pawl_status pw_read_instances(struct pw_store *store, struct pw_arena *arena, const struct pw_instances_wanted *wanted,
                              struct pw_instance **out_rows, struct pawl_error *error) PAWL_MUST_CHECK;

/* Like pw_read_instance(), with the newest of the run's waiting steps or, if none waits or the run has ended, its
 * newest step.  Both come from the same state of the database.  *out_has_step false: there is no step yet. */
pawl_status pw_read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow, struct pw_text id,
                            struct pw_instance *out_instance, struct pw_step_row *out_step, bool *out_has_step,
                            struct pawl_error *error) PAWL_MUST_CHECK;

/* The run's event with this id, found by its unique index. */
pawl_status pw_read_event(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                          struct pw_text id, struct pw_event_row *out_event, bool *out_found,
                          struct pawl_error *error) PAWL_MUST_CHECK;

/* Undelivered events past after_seq, in order. */
pawl_status pw_read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                               int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                               struct pawl_error *error) PAWL_MUST_CHECK;

/* Only for stores with reads_runs (store.h).  PAWL_INSTANCE_NOT_FOUND as above. */
pawl_status pw_read_run(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run, bool with_events,
                        struct pw_run_rows *out_rows, struct pawl_error *error) PAWL_MUST_CHECK;

/* When the next task of these workflows is due or its lease expires, past after_ms or PW_EVER.  INT64_MAX: never.
 * With a share: when the next task becomes due for the share; NULL: all tasks count.  A task of the share may be
 * reported a second time, for the end of its grace. */
pawl_status pw_next_due(struct pw_store *store, const struct pw_text *workflows, size_t count,
                        const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                        struct pawl_error *error) PAWL_MUST_CHECK;

#endif
