/* history.c - what a run did: its steps, its events and its logs, each with pages of its own. */
#include "base/error.h"
#include "service/check.h"
#include "service/jobs.h"
#include "service/listing.h"
#include "service/rows.h"
#include "store/page.h"

/* One of the three lists of a history while it is read.  Each leaves the rest of the bytes to those that follow. */
struct part {
    struct pw_listing listing;
    struct pw_history_query query;
};

static pawl_status list_steps(struct part *part, struct pawl_history *history, struct pawl_error *error)
{
    struct pw_listing *listing = &part->listing;
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    pawl_status status = pw_read_steps(listing->engine->store, &listing->arena, &part->query, &rows, &count, error);
    if (status != PAWL_OK)
        return status;
    struct pawl_step_record *steps =
        pw_listing_cut(listing, rows, sizeof *rows, pw_step_bytes, &count, sizeof *steps, &history->steps_cursor);
    if (steps == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = pw_rows_step(listing->scope, part->query.run, &rows[i], &steps[i]);
    history->steps = steps;
    history->step_count = count;
    return status == PAWL_OK ? pw_jobs_show(listing->engine, listing->scope, steps, count, error) : status;
}

static pawl_status list_events(struct part *part, struct pawl_history *history, struct pawl_error *error)
{
    struct pw_listing *listing = &part->listing;
    struct pw_event_row *rows = NULL;
    size_t count = 0;
    pawl_status status = pw_read_events(listing->engine->store, &listing->arena, &part->query, &rows, &count, error);
    if (status != PAWL_OK)
        return status;
    struct pawl_event_record *events =
        pw_listing_cut(listing, rows, sizeof *rows, pw_event_bytes, &count, sizeof *events, &history->events_cursor);
    if (events == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = pw_rows_event(listing->scope, part->query.run, &rows[i], &events[i]);
    history->events = events;
    history->event_count = count;
    return status;
}

static pawl_status list_logs(struct part *part, struct pawl_history *history, struct pawl_error *error)
{
    struct pw_listing *listing = &part->listing;
    struct pw_log_row *rows = NULL;
    size_t count = 0;
    pawl_status status = pw_read_logs(listing->engine->store, &listing->arena, &part->query, &rows, &count, error);
    if (status != PAWL_OK)
        return status;
    struct pawl_log_record *logs =
        pw_listing_cut(listing, rows, sizeof *rows, pw_log_bytes, &count, sizeof *logs, &history->logs_cursor);
    if (logs == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = pw_rows_log(listing->scope, part->query.run, &rows[i], &logs[i]);
    history->logs = logs;
    history->log_count = count;
    return status;
}

typedef pawl_status list_fn(struct part *part, struct pawl_history *history, struct pawl_error *error);

static pawl_status list_part(struct part *part, enum pw_cursor_kind kind, const char *cursor, const char *name,
                             list_fn *list, struct pawl_history *history, struct pawl_error *error)
{
    part->listing.kind = kind;
    part->query.bytes_max = part->listing.bytes_max;
    pawl_status status = pw_cursor_read(cursor, name, kind, part->listing.filter, &part->query.after_seq, error);
    return status == PAWL_OK ? list(part, history, error) : status;
}

static pawl_status list_all(struct part *part, const struct pawl_history_options *options, struct pawl_history *history,
                            struct pawl_error *error)
{
    pawl_status status =
        list_part(part, PW_CURSOR_STEPS, options->steps_cursor, "steps cursor", list_steps, history, error);
    if (status == PAWL_OK)
        status =
            list_part(part, PW_CURSOR_EVENTS, options->events_cursor, "events cursor", list_events, history, error);
    if (status != PAWL_OK || !options->include_logs)
        return status;
    part->query.has_level = options->has_log_level;
    part->query.level = options->log_level;
    part->query.category = pw_text_of(options->log_category);
    pw_cursor_filter_number(&part->listing.filter, options->has_log_level ? (int64_t)options->log_level : -1);
    pw_cursor_filter_text(&part->listing.filter, part->query.category);
    return list_part(part, PW_CURSOR_LOGS, options->logs_cursor, "logs cursor", list_logs, history, error);
}

static pawl_status read_history(struct part *part, struct pw_text workflow, struct pw_text id,
                                const struct pawl_history_options *options, struct pawl_history *out_history,
                                struct pawl_error *error)
{
    struct pw_listing *listing = &part->listing;
    struct pw_instance row;
    pawl_status status = pw_rows_read(listing->engine, &listing->arena, workflow, id, &row, error);
    if (status == PAWL_OK)
        status = pw_rows_check_run(row.id.data, row.run, options->run_number, error);
    if (status != PAWL_OK)
        return status;
    struct pawl_history history = { .run_number = options->run_number == 0 ? row.run : options->run_number };
    part->query = (struct pw_history_query){ .instance = row.key,
                                             .run = history.run_number,
                                             .newest_first = options->order == PAWL_NEWEST_FIRST,
                                             .max = listing->max };
    pw_cursor_filter_text(&listing->filter, workflow);
    pw_cursor_filter_text(&listing->filter, id);
    pw_cursor_filter_number(&listing->filter, history.run_number);
    pw_cursor_filter_number(&listing->filter, part->query.newest_first);
    status = list_all(part, options, &history, error);
    if (status == PAWL_OK)
        *out_history = history;
    return status;
}

pawl_status pawl_get_history(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                             const struct pawl_history_options *options, struct pawl_history *out_history,
                             struct pawl_error *error)
{
    struct pawl_history_options known = PAWL_HISTORY_OPTIONS_INIT;
    struct pw_definition *definition;
    struct part part = { .listing = { .engine = engine, .scope = scope } };
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_answer(scope, out_history, "out_history", error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status == PAWL_OK)
        status = pw_listing_begin(&part.listing, known.page_size, known.page_bytes_max, known.order, error);
    if (status == PAWL_OK && known.has_log_level && (unsigned)known.log_level > PAWL_LOG_ERROR)
        status = pw_error(error, PAWL_INVALID, "log level %d is not a log level", (int)known.log_level);
    if (status == PAWL_OK)
        status = read_history(&part, definition->name, pw_text_of(id), &known, out_history, error);
    return pw_listing_end(&part.listing, status, error);
}
