/* history.c - what a run did: its steps, its events and its logs, each with pages of its own. */
#include "base/error.h"
#include "base/limits.h"
#include "service/check.h"
#include "service/cursor.h"
#include "service/jobs.h"
#include "service/rows.h"
#include "base/rows.h"
#include "store/page.h"
#include "value/value.h"

/* One of the three listings of a history while it is read. */
struct listing {
    pawl_engine *engine;
    struct pw_store *store;
    struct pw_arena *arena;
    pawl_scope *scope;
    enum pw_cursor_kind kind;
    struct pw_cursor_filter filter;
    struct pw_history_query query; /* asks for one row more than the page has, to know whether there is another page */
};

/* How many of the rows read are given out.  The listings that follow have the rest of the bytes. */
static size_t given_of(struct listing *listing, const void *rows, size_t row_size, size_t count,
                       pw_row_bytes_fn *bytes_of)
{
    struct pw_history_query *query = &listing->query;
    size_t bytes;
    size_t given = pw_page_count(rows, row_size, count, bytes_of, query->max - 1, query->bytes_max, &bytes);
    query->bytes_max = bytes < query->bytes_max ? query->bytes_max - bytes : 1;
    return given;
}

/* The cursor behind the last row given out; it stays NULL when there are no more. */
static pawl_status end_page(const struct listing *listing, bool has_more, int64_t last_seq, const char **out_cursor)
{
    if (!has_more)
        return PAWL_OK;
    *out_cursor = pw_cursor_write(listing->scope, listing->kind, listing->filter, last_seq);
    return *out_cursor != NULL ? PAWL_OK : PAWL_NOMEM;
}

static pawl_status list_steps(struct listing *listing, struct pawl_history *history, struct pawl_error *error)
{
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    pawl_status status = pw_read_steps(listing->store, listing->arena, &listing->query, &rows, &count, error);
    size_t given = given_of(listing, rows, sizeof *rows, count, pw_step_bytes);
    if (status != PAWL_OK || given == 0)
        return status;
    struct pawl_step_record *steps = pw_scope_take(listing->scope, given * sizeof *steps);
    if (steps == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; status == PAWL_OK && i < given; i++)
        status = pw_rows_step(listing->scope, listing->query.run, &rows[i], &steps[i]);
    if (status == PAWL_OK)
        status = pw_jobs_show(listing->engine, listing->scope, steps, given, error);
    history->steps = steps;
    history->step_count = given;
    return status == PAWL_OK ? end_page(listing, given < count, rows[given - 1].seq, &history->steps_cursor) : status;
}

static pawl_status list_events(struct listing *listing, struct pawl_history *history, struct pawl_error *error)
{
    struct pw_event_row *rows = NULL;
    size_t count = 0;
    pawl_status status = pw_read_events(listing->store, listing->arena, &listing->query, &rows, &count, error);
    size_t given = given_of(listing, rows, sizeof *rows, count, pw_event_bytes);
    if (status != PAWL_OK || given == 0)
        return status;
    struct pawl_event_record *events = pw_scope_take(listing->scope, given * sizeof *events);
    if (events == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; status == PAWL_OK && i < given; i++)
        status = pw_rows_event(listing->scope, listing->query.run, &rows[i], &events[i]);
    history->events = events;
    history->event_count = given;
    return status == PAWL_OK ? end_page(listing, given < count, rows[given - 1].seq, &history->events_cursor) : status;
}

static pawl_status list_logs(struct listing *listing, struct pawl_history *history, struct pawl_error *error)
{
    struct pw_log_row *rows = NULL;
    size_t count = 0;
    pawl_status status = pw_read_logs(listing->store, listing->arena, &listing->query, &rows, &count, error);
    size_t given = given_of(listing, rows, sizeof *rows, count, pw_log_bytes);
    if (status != PAWL_OK || given == 0)
        return status;
    struct pawl_log_record *logs = pw_scope_take(listing->scope, given * sizeof *logs);
    if (logs == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; status == PAWL_OK && i < given; i++)
        status = pw_rows_log(listing->scope, listing->query.run, &rows[i], &logs[i]);
    history->logs = logs;
    history->log_count = given;
    return status == PAWL_OK ? end_page(listing, given < count, rows[given - 1].seq, &history->logs_cursor) : status;
}

typedef pawl_status list_fn(struct listing *listing, struct pawl_history *history, struct pawl_error *error);

static pawl_status add_listing(struct listing *listing, enum pw_cursor_kind kind, const char *cursor, const char *name,
                               list_fn *list, struct pawl_history *history, struct pawl_error *error)
{
    listing->kind = kind;
    pawl_status status = pw_cursor_read(cursor, name, kind, listing->filter, &listing->query.after_seq, error);
    if (status == PAWL_OK)
        status = list(listing, history, error);
    return status == PAWL_NOMEM ? pw_error_plain(error, status) : status;
}

static pawl_status list_all(struct listing *listing, const struct pawl_history_options *options,
                            struct pawl_history *history, struct pawl_error *error)
{
    pawl_status status =
        add_listing(listing, PW_CURSOR_STEPS, options->steps_cursor, "steps cursor", list_steps, history, error);
    if (status == PAWL_OK)
        status = add_listing(listing, PW_CURSOR_EVENTS, options->events_cursor, "events cursor", list_events, history,
                             error);
    if (status != PAWL_OK || !options->include_logs)
        return status;
    listing->query.has_level = options->has_log_level;
    listing->query.level = options->log_level;
    listing->query.category = pw_text_of(options->log_category);
    pw_cursor_filter_number(&listing->filter, options->has_log_level ? (int64_t)options->log_level : -1);
    pw_cursor_filter_text(&listing->filter, listing->query.category);
    return add_listing(listing, PW_CURSOR_LOGS, options->logs_cursor, "logs cursor", list_logs, history, error);
}

static pawl_status read_history(pawl_engine *engine, struct listing *listing, struct pw_text workflow,
                                struct pw_text id, const struct pawl_history_options *options,
                                struct pawl_history *out_history, struct pawl_error *error)
{
    struct pw_instance row;
    struct pawl_history history = { 0 };
    pawl_status status = pw_rows_read(engine, listing->arena, workflow, id, &row, error);
    if (status == PAWL_OK)
        status = pw_rows_check_run(row.id.data, row.run, options->run_number, error);
    if (status != PAWL_OK)
        return status;
    history.run_number = options->run_number == 0 ? row.run : options->run_number;
    listing->query.instance = row.key;
    listing->query.run = history.run_number;
    listing->query.newest_first = options->order == PAWL_NEWEST_FIRST;
    pw_cursor_filter_text(&listing->filter, workflow);
    pw_cursor_filter_text(&listing->filter, id);
    pw_cursor_filter_number(&listing->filter, history.run_number);
    pw_cursor_filter_number(&listing->filter, listing->query.newest_first);
    status = list_all(listing, options, &history, error);
    if (status == PAWL_OK)
        *out_history = history;
    return status;
}

static pawl_status check_history(const struct pawl_history_options *options, struct pw_history_query *query,
                                 struct pawl_error *error)
{
    size_t page_size = 0;
    pawl_status status = pw_check_page_size(options->page_size, &page_size, error);
    query->max = page_size + 1;
    if (status == PAWL_OK)
        status = pw_check_page_bytes(options->page_bytes_max, &query->bytes_max, error);
    if (status == PAWL_OK)
        status = pw_check_order(options->order, error);
    if (status == PAWL_OK && options->has_log_level && (unsigned)options->log_level > PAWL_LOG_ERROR)
        status = pw_error(error, PAWL_INVALID, "log level %d is not a log level", (int)options->log_level);
    return status;
}

pawl_status pawl_get_history(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                             const struct pawl_history_options *options, struct pawl_history *out_history,
                             struct pawl_error *error)
{
    struct pawl_history_options known = PAWL_HISTORY_OPTIONS_INIT;
    struct pw_definition *definition;
    struct listing listing = { .engine = engine, .scope = scope };
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_given(scope, "scope", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_history, "out_history", error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status == PAWL_OK)
        status = check_history(&known, &listing.query, error);
    if (status != PAWL_OK)
        return status;

    struct pw_arena arena;
    pw_arena_init(&arena);
    listing.store = engine->store;
    listing.arena = &arena;
    status = read_history(engine, &listing, definition->name, pw_text_of(id), &known, out_history, error);
    pw_arena_clear(&arena);
    return status;
}
