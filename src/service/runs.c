/* runs.c - the runs of an instance: one of them, or a page.
 *
 * The newest run is the instance's row, an earlier one has a row of its own.  Runs have consecutive numbers, so a page is a range
 * of numbers; a number without a row is a run of which the store kept nothing but its history. */
#include "base/error.h"
#include "service/check.h"
#include "service/inspect.h"
#include "service/rows.h"
#include "store/page.h"
#include "value/value.h"

/* ---- One run ------------------------------------------------------------------------------------------------------- */

/* The instance as an earlier run left it. */
static struct pw_instance as_it_was(const struct pw_instance *now, const struct pw_earlier_run *run)
{
    struct pw_instance row = *now;
    row.run = run->run;
    row.has_task = false;
    row.outcome = run->outcome;
    row.terms = run->terms;
    row.output = run->output;
    row.error_name = run->error_name;
    row.error_message = run->error_message;
    row.started_at_ms = run->started_at_ms;
    row.completed_at_ms = run->completed_at_ms;
    row.updated_at_ms = pw_not_before(run->completed_at_ms, now->created_at_ms);
    return row;
}

/* What is known of a run without a row. */
static struct pw_earlier_run unrecorded(int64_t number)
{
    return (struct pw_earlier_run){ .run = number, .outcome = PW_OUTCOME_TERMINATED };
}

/* Such a row has no time of its end; the stores' rows always have. */
static void mark_earlier(struct pawl_instance *instance, const struct pw_earlier_run *run)
{
    instance->replaced_at_ms = run->replaced_at_ms;
    instance->is_unrecorded = run->completed_at_ms == 0;
}

static pawl_status find_earlier(pawl_engine *engine, struct pw_arena *arena, int64_t instance, int64_t number,
                                struct pw_earlier_run *out_run, struct pawl_error *error)
{
    const struct pw_history_query query = { .instance = instance, .after_seq = number - 1, .max = 1 };
    struct pw_earlier_run *rows = NULL;
    size_t count = 0;
    pawl_status status = pw_read_earlier_runs(engine->store, arena, &query, &rows, &count, error);
    if (status == PAWL_OK)
        *out_run = count > 0 && rows[0].run == number ? rows[0] : unrecorded(number);
    return status;
}

static pawl_status get_earlier(pawl_engine *engine, pawl_scope *scope, struct pw_text workflow, struct pw_text id,
                               int64_t number, struct pawl_instance *instance, struct pawl_error *error)
{
    const struct pawl_parent *parent = instance->parent;
    struct pw_arena arena;
    struct pw_instance now;
    struct pw_earlier_run run;
    pw_arena_init(&arena);
    pawl_status status = pw_rows_read(engine, &arena, workflow, id, &now, error);
    if (status == PAWL_OK)
        status = find_earlier(engine, &arena, now.key, number, &run, error);
    if (status == PAWL_OK) {
        const struct pw_instance row = as_it_was(&now, &run);
        status = pw_rows_instance(scope, &row, instance);
        if (status != PAWL_OK)
            (void)pw_error_plain(error, status);
        instance->parent = parent;
        mark_earlier(instance, &run);
    }
    pw_arena_clear(&arena);
    return status;
}

pawl_status pawl_get_run(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                         int64_t run_number, struct pawl_instance *out_instance, struct pawl_error *error)
{
    struct pawl_instance instance;
    pawl_status status = pw_check_given(out_instance, "out_instance", error);
    if (status == PAWL_OK)
        status = pawl_get(engine, scope, workflow, id, &instance, error);
    if (status == PAWL_OK)
        status = pw_rows_check_run(id, instance.run_number, run_number, error);
    if (status == PAWL_OK && run_number != 0 && run_number < instance.run_number)
        status = get_earlier(engine, scope, pw_text_of(workflow), pw_text_of(id), run_number, &instance, error);
    if (status == PAWL_OK)
        *out_instance = instance;
    return status;
}

/* ---- A page ---------------------------------------------------------------------------------------------------------- */

struct page {
    struct pw_listing listing;
    struct pw_instance now;
    int64_t first;                  /* the run with which it begins */
    size_t count;                   /* runs that were read: one more than the page may have, if there are so many */
    struct pw_instance *rows;       /* without params */
    struct pw_earlier_run *earlier; /* the same runs; that of the newest one is empty */
};

static bool is_oldest_first(const struct page *page)
{
    return page->listing.query.oldest_first;
}

/* The page's runs by their numbers. */
static void choose_runs(struct page *page)
{
    const struct pw_instance_query *query = &page->listing.query;
    int64_t newest = page->now.run, left;
    if (query->oldest_first) {
        page->first = query->after_key + 1;
        left = newest - query->after_key;
    } else {
        page->first = query->after_key == 0 || query->after_key > newest ? newest : query->after_key - 1;
        left = page->first;
    }
    page->count = left <= 0 ? 0 : (uint64_t)left < query->max ? (size_t)left : query->max;
}

/* Rows may be missing, and those behind the page's bytes are. */
static pawl_status read_page(pawl_engine *engine, struct pw_arena *arena, struct page *page, struct pawl_error *error)
{
    int64_t direction = is_oldest_first(page) ? 1 : -1;
    const struct pw_history_query query = { .instance = page->now.key,
                                            .newest_first = !is_oldest_first(page),
                                            .after_seq = page->first - direction,
                                            .max = page->count,
                                            .bytes_max = page->listing.query.bytes_max };
    struct pw_earlier_run *found = NULL;
    size_t found_count = 0, next = 0;
    page->rows = pw_arena_zero(arena, page->count * sizeof *page->rows + 1); /* not NULL for none */
    page->earlier = pw_arena_zero(arena, page->count * sizeof *page->earlier + 1);
    if (page->rows == NULL || page->earlier == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    pawl_status status =
        page->count > 0 ? pw_read_earlier_runs(engine->store, arena, &query, &found, &found_count, error) : PAWL_OK;
    for (size_t i = 0; i < page->count && status == PAWL_OK; i++) {
        int64_t number = page->first + direction * (int64_t)i;
        bool is_found = next < found_count && found[next].run == number;
        page->earlier[i] = is_found ? found[next++] : unrecorded(number);
        page->rows[i] = number == page->now.run ? page->now : as_it_was(&page->now, &page->earlier[i]);
        page->rows[i].params = (struct pw_text){ NULL, 0 };
    }
    return status;
}

static pawl_status answer_page(const struct page *page, pawl_scope *scope, struct pawl_instance_page *out_page)
{
    const struct pw_instance_query *query = &page->listing.query;
    size_t bytes;
    size_t given = pw_page_count(page->rows, sizeof *page->rows, page->count, pw_instance_bytes, query->max - 1,
                                 query->bytes_max, &bytes);
    struct pawl_instance *instances = pw_scope_take(scope, given * sizeof *instances + 1); /* not NULL for none */
    const char *cursor = NULL;
    if (instances == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; i < given; i++) {
        if (pw_rows_instance(scope, &page->rows[i], &instances[i]) != PAWL_OK)
            return PAWL_NOMEM;
        if (page->rows[i].run != page->now.run)
            mark_earlier(&instances[i], &page->earlier[i]);
    }
    if (given < page->count) {
        cursor = pw_cursor_write(scope, PW_CURSOR_INSTANCES, page->listing.filter, page->rows[given - 1].run);
        if (cursor == NULL)
            return PAWL_NOMEM;
    }
    *out_page = (struct pawl_instance_page){ instances, given, cursor };
    return PAWL_OK;
}

static pawl_status list_runs(pawl_engine *engine, pawl_scope *scope, struct pw_arena *arena, struct page *page,
                             const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                             struct pawl_error *error)
{
    pw_cursor_filter_text(&page->listing.filter, pw_text_of("runs"));
    pw_cursor_filter_number(&page->listing.filter, page->now.key);
    pawl_status status = pw_listing_begin(&page->listing, options, error);
    if (status != PAWL_OK)
        return status;
    choose_runs(page);
    status = read_page(engine, arena, page, error);
    if (status == PAWL_OK && answer_page(page, scope, out_page) != PAWL_OK)
        status = pw_error_plain(error, PAWL_NOMEM);
    return status;
}

pawl_status pawl_list_runs(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                           const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                           struct pawl_error *error)
{
    struct pawl_list_options known = PAWL_LIST_OPTIONS_INIT;
    struct pw_definition *definition;
    struct page page = { .count = 0 };
    struct pw_arena arena;
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_given(scope, "scope", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_page, "out_page", error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status == PAWL_OK)
        status = pw_listing_check_whole(&known, "runs", error);
    if (status != PAWL_OK)
        return status;
    pw_arena_init(&arena);
    status = pw_rows_read(engine, &arena, definition->name, pw_text_of(id), &page.now, error);
    if (status == PAWL_OK)
        status = list_runs(engine, scope, &arena, &page, &known, out_page, error);
    pw_arena_clear(&arena);
    return status;
}
