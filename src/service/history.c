/* history.c - lists what a run did: its steps, events and log lines, each in pages of its own. */
#include "base/error.h"
#include "service/check.h"
#include "service/jobs.h"
#include "service/listing.h"
#include "service/rows.h"

/* What differs between the three lists. */
struct part {
    enum pw_read_kind read;
    enum pw_cursor_kind kind;
    const char *cursor_name;
    size_t row_size, record_size;
    pw_row_bytes_fn *bytes_of;
    pw_show_fn *show;
};
static const struct part step_part = {
    PW_READ_STEPS, PW_CURSOR_STEPS, "steps cursor", sizeof(struct pw_step_row), sizeof(struct pawl_step_record),
    pw_step_bytes, pw_rows_step
};
static const struct part event_part = {
    PW_READ_EVENTS, PW_CURSOR_EVENTS, "events cursor", sizeof(struct pw_event_row), sizeof(struct pawl_event_record),
    pw_event_bytes, pw_rows_event
};
static const struct part log_part = {
    PW_READ_LOGS, PW_CURSOR_LOGS, "logs cursor", sizeof(struct pw_log_row), sizeof(struct pawl_log_record),
    pw_log_bytes, pw_rows_log
};

/* Lists one part.  Each list leaves the rest of the bytes to the lists after it. */
static pawl_status list_part(struct pw_listing *listing, const struct part *part, const struct pw_history_query *query,
                             const char *cursor, void **out_records, size_t *out_count, const char **out_cursor,
                             struct pawl_error *error)
{
    struct pw_read asked = { .kind = part->read, .history = *query };
    struct pw_found found;
    listing->kind = part->kind;
    asked.history.bytes_max = listing->bytes_max;
    pawl_status status = PAWL_OK;
    PAWL_TRY(pw_cursor_read(cursor, part->cursor_name, part->kind, listing->filter, &asked.history.after_seq, error));
    PAWL_TRY(pw_read(listing->engine->store, &asked, &listing->arena, &found, error));
    char *records = pw_listing_cut(listing, found.rows, part->row_size, part->bytes_of, &found.count, part->record_size,
                                   out_cursor);
    if (records == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        status = part->show(listing->scope, query->run, (const char *)found.rows + i * part->row_size,
                            records + i * part->record_size);
    *out_records = records;
    *out_count = found.count;
    return status;
}

static pawl_status list_all(struct pw_listing *listing, struct pw_history_query *query,
                            const struct pawl_history_options *options, struct pawl_history *history,
                            struct pawl_error *error)
{
    void *steps = NULL, *events = NULL, *logs = NULL;
    pawl_status status = list_part(listing, &step_part, query, options->steps_cursor, &steps, &history->step_count,
                                   &history->steps_cursor, error);
    if (status == PAWL_OK)
        status = pw_jobs_show(listing->engine, listing->scope, steps, history->step_count, error);
    if (status == PAWL_OK)
        status = list_part(listing, &event_part, query, options->events_cursor, &events, &history->event_count,
                           &history->events_cursor, error);
    if (status == PAWL_OK && options->include_logs) {
        query->has_level = options->has_log_level;
        query->level = options->log_level;
        query->category = pw_text_of(options->log_category);
        pw_cursor_filter_number(&listing->filter, options->has_log_level ? (int64_t)options->log_level : -1);
        pw_cursor_filter_text(&listing->filter, query->category);
        status = list_part(listing, &log_part, query, options->logs_cursor, &logs, &history->log_count,
                           &history->logs_cursor, error);
    }
    history->steps = steps;
    history->events = events;
    history->logs = logs;
    return status;
}

static pawl_status read_history(struct pw_listing *listing, struct pw_text workflow, struct pw_text id,
                                const struct pawl_history_options *options, struct pawl_history *out_history,
                                struct pawl_error *error)
{
    struct pw_instance row;
    PAWL_TRY(pw_rows_read(listing->engine, &listing->arena, workflow, id, &row, error));
    PAWL_TRY(pw_rows_check_run(row.id.data, row.run, options->run_number, error));
    struct pawl_history history = { .run_number = options->run_number == 0 ? row.run : options->run_number };
    struct pw_history_query query = { .instance = row.key,
                                      .run = history.run_number,
                                      .newest_first = options->order == PAWL_NEWEST_FIRST,
                                      .max = listing->max };
    pw_cursor_filter_text(&listing->filter, workflow);
    pw_cursor_filter_text(&listing->filter, id);
    pw_cursor_filter_number(&listing->filter, history.run_number);
    pw_cursor_filter_number(&listing->filter, query.newest_first);
    pawl_status status = list_all(listing, &query, options, &history, error);
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
    struct pw_listing listing = { .engine = engine, .scope = scope };
    PAWL_TRY(pw_check_target(engine, workflow, id, &definition, error));
    PAWL_TRY(pw_check_answer(scope, out_history, "out_history", error));
    PAWL_TRY(pw_check_options(options, &known, sizeof known, error));
    PAWL_TRY(pw_listing_begin(&listing, known.page_size, known.page_bytes_max, known.order, error));
    if (known.has_log_level && (unsigned)known.log_level > PAWL_LOG_ERROR)
        return pw_error(error, PAWL_INVALID, "log level %d is not a log level", (int)known.log_level);
    pawl_status status = read_history(&listing, definition->name, pw_text_of(id), &known, out_history, error);
    return pw_listing_end(&listing, status, error);
}
