/* read.c - reading rows (store/read.h).  Each read has a connection of its own.  Those that find rows are one statement, so
 * that they see one state of the database, and every unit that was answered before they began. */
#include "store/sqlite/read.h"

#include "base/error.h"
#include "base/rows.h"
#include "store/page.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite.h"

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

/* ---- Reading as such ----------------------------------------------------------------------------------------- */

/* A read, and the statement that is being carried out for it. */
struct reading {
    struct pw_sqlite *sqlite;
    struct pw_sqlite_connection *connection;
    const struct pw_read *asked;
    struct pw_arena *arena;
    struct pw_found *found;
    struct pawl_error *error;
    struct pw_query query;
    const struct pw_row_type *type; /* of the rows, where they are one's fields */
    pw_row_bytes_fn *bytes_of;      /* of a list that is bounded by these; else NULL */
    size_t bytes_max;
};

static void start(struct reading *reading, enum pw_query_name name)
{
    pw_query_start(&reading->query, reading->connection, name);
}

typedef void read_row_fn(struct reading *reading, void *row);

/* The statement's rows are what is found. */
static pawl_status finish_rows(struct reading *reading, size_t row_size, read_row_fn *read_row)
{
    struct pw_query *query = &reading->query;
    struct pw_rows rows = { .arena = reading->arena, .row_size = row_size };
    size_t bytes = 0;
    while (!pw_page_is_full(rows.count, bytes, reading->bytes_max) && pw_query_step(query)) {
        void *row = pw_rows_add(&rows);
        if (row == NULL) {
            query->code = SQLITE_NOMEM;
            break;
        }
        read_row(reading, row);
        if (reading->bytes_of != NULL)
            bytes += reading->bytes_of(row);
    }
    reading->found->rows = rows.rows;
    reading->found->count = rows.count;
    return pw_query_end(query, reading->error);
}

static void read_fields(struct reading *reading, void *row)
{
    pw_column_row(&reading->query, reading->arena, reading->type, row);
}

/* The same for rows that are the fields of their type. */
static pawl_status finish(struct reading *reading, const struct pw_row_type *type)
{
    reading->type = type;
    return finish_rows(reading, type->size, read_fields);
}

/* ---- Instances ----------------------------------------------------------------------------------------------- */

static void read_instance_row(struct reading *reading, void *row)
{
    struct pw_query *query = &reading->query;
    struct pw_instance *instance = row;
    pw_column_row(query, reading->arena, &pw_instance_type, instance);
    instance->has_task = pw_column_integer(query) != 0; /* its key, which is never 0 */
    pw_read_task(query, &instance->task);
    pw_instance_merge(instance, pw_column_time(query));
}

static pawl_status finish_instances(struct reading *reading)
{
    return finish_rows(reading, sizeof(struct pw_instance), read_instance_row);
}

static void start_named(struct reading *reading, enum pw_query_name name, struct pw_text workflow, struct pw_text id)
{
    start(reading, name);
    pw_bind_text(&reading->query, workflow);
    pw_bind_text(&reading->query, id);
}

static pawl_status read_instance(struct reading *reading)
{
    start_named(reading, PW_QUERY_INSTANCE_BY_ID, reading->asked->name.workflow, reading->asked->name.id);
    return finish_instances(reading);
}

static void start_keyed(struct reading *reading, int64_t key)
{
    start(reading, PW_QUERY_INSTANCE_BY_KEY);
    pw_bind_integer(&reading->query, key);
}

static pawl_status read_instance_by_key(struct reading *reading)
{
    start_keyed(reading, reading->asked->key);
    return finish_instances(reading);
}

/* A statement for each: nothing is sent anywhere, and each is found by its index. */
static pawl_status read_instances(struct reading *reading)
{
    const struct pw_instances_wanted *wanted = &reading->asked->wanted;
    struct pw_instance *instances =
        pw_arena_zero(reading->arena, wanted->count * sizeof *instances + 1); /* not NULL for none */
    pawl_status status = instances != NULL ? PAWL_OK : pw_error_plain(reading->error, PAWL_NOMEM);
    for (size_t i = 0; i < wanted->count && status == PAWL_OK; i++) {
        if (wanted->keys != NULL)
            start_keyed(reading, wanted->keys[i]);
        else
            start_named(reading, PW_QUERY_INSTANCE_BY_ID, wanted->workflows[i], wanted->ids[i]);
        status = finish_instances(reading);
        if (status == PAWL_OK && reading->found->count > 0)
            instances[i] = *reading->found->instances;
    }
    reading->found->instances = instances;
    reading->found->count = wanted->count;
    return status;
}

static void read_current_row(struct reading *reading, void *row)
{
    struct pw_current *current = row;
    read_instance_row(reading, &current->instance);
    current->has_step = pw_column_integer(&reading->query) != 0;
    if (current->has_step)
        pw_column_row(&reading->query, reading->arena, &pw_step_type, &current->step);
}

static pawl_status read_current(struct reading *reading)
{
    start_named(reading, PW_QUERY_INSTANCE_CURRENT, reading->asked->name.workflow, reading->asked->name.id);
    return finish_rows(reading, sizeof(struct pw_current), read_current_row);
}

static void bind_value(struct reading *reading, const struct pw_instance_query *query)
{
    if (pw_filters[query->by].is_text)
        pw_bind_text(&reading->query, query->text);
    else
        pw_bind_integer(&reading->query, query->number);
}

static pawl_status list_instances(struct reading *reading)
{
    static const struct {
        enum pw_query_name oldest, newest;
    } lists[] = {
#define LIST(with, name, shape, column, type, index)                                                                   \
    [PW_BY_##name] = { PW_QUERY_LIST_BY_##name##_OLDEST, PW_QUERY_LIST_BY_##name##_NEWEST },
        PW_INSTANCE_FILTERS(LIST, )
#undef LIST
    };
    const struct pw_instance_query *query = &reading->asked->list;
    const struct pw_filter *filter = &pw_filters[query->by];
    start(reading, query->oldest_first ? lists[query->by].oldest : lists[query->by].newest);
    if (filter->has_workflow)
        pw_bind_text(&reading->query, query->workflow);
    else
        bind_value(reading, query);
    pw_bind_integer(&reading->query, pw_page_start(query->after_key, query->oldest_first));
    pw_bind_size(&reading->query, query->max);
    if (filter->has_workflow && filter->has_value)
        bind_value(reading, query);
    reading->bytes_of = pw_instance_bytes;
    reading->bytes_max = query->bytes_max;
    return finish_instances(reading);
}

/* ---- History ------------------------------------------------------------------------------------------------- */

static void start_history(struct reading *reading, enum pw_query_name oldest, enum pw_query_name newest,
                          pw_row_bytes_fn *bytes_of)
{
    const struct pw_history_query *query = &reading->asked->history;
    start(reading, query->newest_first ? newest : oldest);
    reading->bytes_of = bytes_of;
    reading->bytes_max = query->bytes_max;
    pw_bind_integer(&reading->query, query->instance);
    pw_bind_integer(&reading->query, query->run);
    pw_bind_integer(&reading->query, pw_page_start(query->after_seq, !query->newest_first));
    pw_bind_size(&reading->query, query->max);
}

static pawl_status read_earlier_runs(struct reading *reading)
{
    const struct pw_history_query *query = &reading->asked->history;
    start(reading, query->newest_first ? PW_QUERY_EARLIER_RUNS_NEWEST : PW_QUERY_EARLIER_RUNS_OLDEST);
    reading->bytes_of = pw_earlier_run_bytes;
    reading->bytes_max = query->bytes_max;
    pw_bind_integer(&reading->query, query->instance);
    pw_bind_integer(&reading->query, pw_page_start(query->after_seq, !query->newest_first));
    pw_bind_size(&reading->query, query->max);
    return finish(reading, &pw_earlier_run_type);
}

static pawl_status read_steps(struct reading *reading)
{
    start_history(reading, PW_QUERY_STEPS_OLDEST, PW_QUERY_STEPS_NEWEST, pw_step_bytes);
    return finish(reading, &pw_step_type);
}

static pawl_status read_events(struct reading *reading)
{
    start_history(reading, PW_QUERY_EVENTS_OLDEST, PW_QUERY_EVENTS_NEWEST, pw_event_bytes);
    return finish(reading, &pw_event_type);
}

static pawl_status read_logs(struct reading *reading)
{
    const struct pw_history_query *query = &reading->asked->history;
    start_history(reading, PW_QUERY_LOGS_OLDEST, PW_QUERY_LOGS_NEWEST, pw_log_bytes);
    pw_bind_integer(&reading->query, query->has_level ? (int64_t)query->level : -1);
    pw_bind_text(&reading->query, query->category);
    return finish(reading, &pw_log_type);
}

static void start_of_run(struct reading *reading, enum pw_query_name name)
{
    start(reading, name);
    pw_bind_integer(&reading->query, reading->asked->run.instance);
    pw_bind_integer(&reading->query, reading->asked->run.run);
}

static pawl_status read_event(struct reading *reading)
{
    start_of_run(reading, PW_QUERY_EVENT_BY_ID);
    pw_bind_text(&reading->query, reading->asked->run.id);
    return finish(reading, &pw_event_type);
}

static pawl_status read_new_events(struct reading *reading)
{
    start_of_run(reading, PW_QUERY_EVENTS_NEW);
    pw_bind_integer(&reading->query, reading->asked->run.after_seq);
    return finish(reading, &pw_event_type);
}

static pawl_status read_waiting_steps(struct reading *reading)
{
    start_of_run(reading, PW_QUERY_STEPS_WAITING);
    return finish(reading, &pw_step_type);
}

/* Never asked for: the store does not say reads_runs. */
static pawl_status read_run(struct reading *reading)
{
    return pw_error_plain(reading->error, PAWL_INVALID);
}

/* ---- Hooks and runners ------------------------------------------------------------------------------------------ */

static enum pw_query_name hooks_query(const struct pw_hook_query *query)
{
    bool of_one = query->hook.data != NULL;
    if (!query->has_status)
        return of_one ? PW_QUERY_HOOKS_OF : PW_QUERY_HOOKS;
    if (query->status == PAWL_DELIVERY_FAILED)
        return of_one ? PW_QUERY_HOOKS_OF_FAILED : PW_QUERY_HOOKS_FAILED;
    return of_one ? PW_QUERY_HOOKS_OF_PENDING : PW_QUERY_HOOKS_PENDING;
}

static void read_hook_row(struct reading *reading, void *row)
{
    pw_read_hook_row(&reading->query, reading->arena, row);
}

static pawl_status list_hooks(struct reading *reading)
{
    const struct pw_hook_query *query = &reading->asked->hooks;
    start(reading, hooks_query(query));
    pw_bind_integer(&reading->query, query->after_key);
    pw_bind_size(&reading->query, query->max);
    if (query->hook.data != NULL)
        pw_bind_text(&reading->query, query->hook);
    return finish_rows(reading, sizeof(struct pw_hook_row), read_hook_row);
}

/* Those that are dead are left out. */
static pawl_status list_runners(struct reading *reading)
{
    size_t count = 0;
    start(reading, PW_QUERY_RUNNERS);
    pawl_status status = finish(reading, &pw_runner_type);
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

/* ---- When next ----------------------------------------------------------------------------------------------- */

static int64_t earliest_column(struct pw_query *query, int64_t earliest_ms)
{
    bool is_null = pw_column_is_null(query);
    int64_t at_ms = pw_column_integer(query);
    return !is_null && at_ms < earliest_ms ? at_ms : earliest_ms;
}

/* The earliest of the times in the columns of the query's one row, and of *earliest_ms. */
static pawl_status take_earliest(struct pw_query *query, int64_t *earliest_ms, struct pawl_error *error)
{
    if (pw_query_step(query))
        for (int column = 0; column < sqlite3_column_count(query->statement); column++)
            *earliest_ms = earliest_column(query, *earliest_ms);
    return pw_query_end(query, error);
}

static pawl_status earliest_hook(struct pw_sqlite_connection *connection, struct pw_text hook, int64_t *earliest_ms,
                                 struct pawl_error *error)
{
    struct pw_query query;
    pw_query_start(&query, connection, PW_QUERY_HOOK_NEXT);
    pw_bind_text(&query, hook);
    pw_bind_integer(&query, PW_EVER);
    return take_earliest(&query, earliest_ms, error);
}

/* What is looked for: of one workflow, past a time, as things are now. */
struct due_question {
    struct pw_sqlite *sqlite;
    struct pw_sqlite_connection *connection;
    const struct pw_share *share;   /* NULL: of all */
    struct pw_text excepted;        /* that it leaves out, as the queries look for them */
    struct pw_text workflow, owned; /* owned absent: all is ours */
    int64_t after_ms, now_ms;
};

/* ",1,2,": where the queries look for a key; nothing when none is left out.  False when memory is out. */
static bool write_excepted(struct pw_arena *arena, const struct pw_share *share, struct pw_text *out_list)
{
    enum { DIGITS_MAX = 20 };
    *out_list = (struct pw_text){ "", 0 };
    if (share == NULL || share->except_count == 0)
        return true;
    size_t size = share->except_count * (DIGITS_MAX + 1) + 1;
    char *list = pw_arena_take(arena, size);
    if (list == NULL)
        return false;
    char *end = list + size, *at = end;
    for (size_t i = 0; i < share->except_count; i++) { /* from the last digit to the first; a key is positive */
        *--at = ',';
        for (int64_t rest = share->except[i]; rest > 0; rest /= 10)
            *--at = (char)('0' + rest % 10);
    }
    *--at = ',';
    *out_list = (struct pw_text){ at, (size_t)(end - at) };
    return true;
}

/* Tasks that are nobody's, and leases that have not expired. */
static pawl_status earliest_due(const struct due_question *question, int64_t *earliest_ms, struct pawl_error *error)
{
    struct pw_query query;
    bool is_shared = question->owned.data != NULL;
    pw_query_start(&query, question->connection, is_shared ? PW_QUERY_NEXT_DUE_SHARED : PW_QUERY_NEXT_DUE);
    pw_bind_text(&query, question->workflow);
    if (is_shared) {
        pw_bind_text(&query, question->owned);
        pw_bind_integer(&query, question->share->grace_ms);
    }
    pw_bind_integer(&query, question->after_ms);
    pw_bind_integer(&query, question->after_ms > question->now_ms ? question->after_ms : question->now_ms);
    pw_bind_text(&query, question->excepted);
    return take_earliest(&query, earliest_ms, error);
}

void pw_read_held(struct pw_query *query, struct pw_held *held)
{
    held->instance = pw_column_integer(query);
    held->owner = pw_column_integer(query);
    held->run = pw_column_count(query);
    held->epoch = pw_column_count(query);
    held->locked_until_ms = pw_column_integer(query);
}

/* An expired lease is due when it may be taken, which of a runner that lives is later (sightings.h). */
static pawl_status earliest_expired(const struct due_question *question, int64_t *earliest_ms, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = question->sqlite;
    struct pw_query query;
    bool is_shared = question->owned.data != NULL;
    pw_query_start(&query, question->connection, is_shared ? PW_QUERY_NEXT_EXPIRED_SHARED : PW_QUERY_NEXT_EXPIRED);
    pw_bind_text(&query, question->workflow);
    pw_bind_integer(&query, question->now_ms);
    if (is_shared) {
        pw_bind_text(&query, question->owned);
        pw_bind_integer(&query, question->share->grace_ms);
    }
    while (pw_query_step(&query)) {
        struct pw_held held;
        pw_read_held(&query, &held);
        int64_t at_ms = held.locked_until_ms + pw_column_integer(&query);
        int64_t wait_ms = 0;
        if (question->share != NULL && pw_share_excepts(question->share, held.instance))
            continue;
        if (pw_sqlite_may_live(sqlite, held.owner))
            wait_ms = pw_sightings_wait_ms(&sqlite->sightings, &held, pw_sqlite_monotonic_ms(sqlite));
        if (wait_ms > 0 && question->now_ms + wait_ms > at_ms)
            at_ms = question->now_ms + wait_ms;
        if (at_ms > question->after_ms && at_ms < *earliest_ms)
            *earliest_ms = at_ms;
    }
    return pw_query_end(&query, error);
}

static pawl_status next_due(struct reading *reading)
{
    struct pw_arena arena = { 0 };
    const struct pw_due_query *query = &reading->asked->due;
    const struct pw_share *share = query->share;
    struct due_question question = { .sqlite = reading->sqlite,
                                     .connection = reading->connection,
                                     .share = share,
                                     .after_ms = query->after_ms,
                                     .now_ms = reading->sqlite->store.ops->now_ms(&reading->sqlite->store) };
    int64_t earliest_ms = INT64_MAX;
    pawl_status status = PAWL_OK;
    if (!write_excepted(&arena, share, &question.excepted))
        status = pw_error_plain(reading->error, PAWL_NOMEM);
    for (size_t position = 0; position < query->count && status == PAWL_OK; position++) {
        question.workflow = query->workflows[position];
        question.owned = share != NULL && share->owned != NULL ? share->owned[position] : (struct pw_text){ NULL, 0 };
        status = earliest_due(&question, &earliest_ms, reading->error);
        if (status == PAWL_OK)
            status = earliest_expired(&question, &earliest_ms, reading->error);
    }
    pw_arena_clear(&arena);
    reading->found->at_ms = earliest_ms;
    return status;
}

static pawl_status next_hook(struct reading *reading)
{
    const struct pw_names_query *query = &reading->asked->names;
    int64_t earliest_ms = INT64_MAX;
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < query->count && status == PAWL_OK; position++)
        status = earliest_hook(reading->connection, query->names[position], &earliest_ms, reading->error);
    reading->found->at_ms = earliest_ms;
    return status;
}

/* ---- How many ------------------------------------------------------------------------------------------------- */

static bool is_behind(struct pw_text text, struct pw_text other)
{
    size_t common = text.size < other.size ? text.size : other.size;
    int order = memcmp(text.data, other.data, common);
    return order != 0 ? order > 0 : text.size > other.size;
}

/* Absent behind the last.  There is no index that begins with anything else, so workflows are hopped over one by one;
 * in a damaged index that might go in a circle. */
static pawl_status workflow_after(struct pw_sqlite_connection *connection, struct pw_arena *arena,
                                  struct pw_text *workflow, struct pawl_error *error)
{
    struct pw_query query;
    struct pw_text next = { NULL, 0 };
    pw_query_start(&query, connection, PW_QUERY_TASK_WORKFLOW_AFTER);
    pw_bind_text(&query, *workflow);
    if (pw_query_step(&query))
        next = pw_column_text(&query, arena);
    pawl_status status = pw_query_end(&query, error);
    *workflow = next.data != NULL && is_behind(next, *workflow) ? next : (struct pw_text){ NULL, 0 };
    return status;
}

static pawl_status oldest_due(struct pw_sqlite_connection *connection, struct pw_text workflow, int64_t *oldest_ms,
                              struct pawl_error *error)
{
    struct pw_query query;
    pw_query_start(&query, connection, PW_QUERY_NEXT_DUE);
    pw_bind_text(&query, workflow);
    pw_bind_integer(&query, PW_EVER);
    pw_bind_integer(&query, PW_EVER);
    pw_bind_text(&query, (struct pw_text){ "", 0 });
    return take_earliest(&query, oldest_ms, error);
}

static pawl_status count_tasks_of(struct pw_sqlite_connection *connection, struct pw_text workflow, int64_t now_ms,
                                  struct pw_task_counts *counts, struct pawl_error *error)
{
    struct pw_query query;
    int64_t due = 0;
    pw_query_start(&query, connection, PW_QUERY_TASK_COUNTS);
    pw_bind_text(&query, workflow);
    pw_bind_integer(&query, now_ms);
    if (pw_query_step(&query)) {
        counts->active += pw_column_count(&query);
        counts->waiting += pw_column_count(&query);
        counts->paused += pw_column_count(&query);
        for (int column = 0; column < 3; column++)
            due += pw_column_count(&query);
    }
    counts->due += due;
    pawl_status status = pw_query_end(&query, error);
    if (status == PAWL_OK && due > 0)
        status = oldest_due(connection, workflow, &counts->oldest_due_at_ms, error);
    return status;
}

static pawl_status count_hooks(struct pw_sqlite_connection *connection, struct pw_task_counts *counts,
                               struct pawl_error *error)
{
    struct pw_query query;
    pw_query_start(&query, connection, PW_QUERY_HOOK_COUNTS);
    if (pw_query_step(&query)) {
        counts->hooks_pending = pw_column_count(&query);
        counts->hooks_failed = pw_column_count(&query);
    }
    return pw_query_end(&query, error);
}

static pawl_status count_tasks(struct reading *reading)
{
    struct pw_arena arena = { 0 };
    struct pw_task_counts counts = { .oldest_due_at_ms = INT64_MAX };
    struct pw_text workflow = { "", 0 }; /* before them all */
    pawl_status status = workflow_after(reading->connection, &arena, &workflow, reading->error);
    while (status == PAWL_OK && workflow.data != NULL) {
        status = count_tasks_of(reading->connection, workflow, reading->asked->now_ms, &counts, reading->error);
        if (status == PAWL_OK)
            status = workflow_after(reading->connection, &arena, &workflow, reading->error);
    }
    if (status == PAWL_OK)
        status = count_hooks(reading->connection, &counts, reading->error);
    pw_arena_clear(&arena);
    if (counts.due == 0)
        counts.oldest_due_at_ms = 0;
    reading->found->tasks = counts;
    return status;
}

/* What is counted of a workflow is no more than what is left to be counted. */
static pawl_status count_statuses_of(struct pw_sqlite_connection *connection, struct pw_text workflow, int64_t max,
                                     struct pw_status_counts *counts, struct pawl_error *error)
{
    struct pw_query query;
    pw_query_start(&query, connection, PW_QUERY_STATUS_COUNTS);
    pw_bind_text(&query, workflow);
    for (size_t status = 0; status < PW_STATUS_COUNT; status++)
        pw_bind_integer(&query, max - counts->of[status]);
    if (pw_query_step(&query))
        for (size_t status = 0; status < PW_STATUS_COUNT; status++)
            counts->of[status] += pw_column_count(&query);
    return pw_query_end(&query, error);
}

static pawl_status count_statuses(struct reading *reading)
{
    const struct pw_names_query *query = &reading->asked->names;
    struct pw_status_counts counts = { .of = { 0 } };
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < query->count && status == PAWL_OK; i++)
        status = count_statuses_of(reading->connection, query->names[i], query->max, &counts, reading->error);
    reading->found->statuses = counts;
    return status;
}

/* ---- The store's function ---------------------------------------------------------------------------------------- */

static pawl_status read_schema(struct reading *reading)
{
    struct pw_schema_found found = { .known = pw_sqlite_newest_version() };
    pawl_status status = pw_sqlite_read_version(reading->connection, &found.version, reading->error);
    reading->found->schema = found;
    return status;
}

static pawl_status read_part(struct reading *reading)
{
    struct pw_part part = { 0, 0 };
    start(reading, PW_QUERY_PART_READ);
    if (pw_query_step(&reading->query)) {
        part.number = pw_column_integer(&reading->query);
        part.count = pw_column_integer(&reading->query);
    }
    reading->found->part = part;
    return pw_query_end(&reading->query, reading->error);
}

static pawl_status answer(struct reading *reading)
{
    static pawl_status (*const functions[])(struct reading * reading) = {
#define FUNCTION(kind, function) [PW_READ_##kind] = function,
        PW_READS(FUNCTION)
#undef FUNCTION
    };
    return functions[reading->asked->kind](reading);
}

pawl_status pw_sqlite_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                           struct pw_found *out_found, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    struct reading reading = { .sqlite = sqlite, .asked = asked, .arena = arena, .found = out_found, .error = error };
    pawl_status status = PAWL_OK;
    if (asked->kind == PW_READ_PART) { /* while the store is being opened, before anybody else reads */
        reading.connection = pw_sqlite_take_writer(sqlite);
        status = answer(&reading);
        pw_sqlite_give_writer(sqlite);
        return status;
    }
    if (asked->kind == PW_READ_TASK_COUNTS || asked->kind == PW_READ_HOOKS) /* the ready check reads these */
        status = pw_sqlite_file_check(&sqlite->file, error);
    if (status == PAWL_OK)
        status = pw_sqlite_take_reader(sqlite, &reading.connection, error);
    if (status != PAWL_OK)
        return status;
    status = answer(&reading);
    pw_sqlite_give_reader(sqlite, reading.connection);
    return status;
}
