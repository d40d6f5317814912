/* runs.c - shows the runs of an instance: one of them, or a page.
 *
 * The newest run is the instance's row.  Each earlier run has a row of its own.  Runs have consecutive numbers, so a
 * page is a range of numbers.  A number without a row is a run of which the store kept only the history. */
#include "base/error.h"
#include "service/check.h"
#include "service/inspect.h"
#include "service/rows.h"

/* Shows the instance as an earlier run left it; or as it is now, if the run is the newest. */
static pawl_status show_run(pawl_scope *scope, const struct pw_instance *now, const struct pw_earlier_run *run,
                            struct pawl_instance *out_instance)
{
    struct pw_instance row = *now;
    if (run->run == now->run)
        return pw_rows_instance(scope, now, out_instance);
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
    pawl_status status = pw_rows_instance(scope, &row, out_instance);
    if (status == PAWL_OK) {
        out_instance->replaced_at_ms = run->replaced_at_ms;
        out_instance->is_unrecorded = run->completed_at_ms == 0; /* a row of the store always has that time */
    }
    return status;
}

/* Reads as many consecutive runs as the query asks for.  Runs without a row are filled in, and so are those that the
 * store left out because of their bytes. */
static pawl_status read_runs(pawl_engine *engine, struct pw_arena *arena, const struct pw_history_query *query,
                             struct pw_earlier_run **out_runs, struct pawl_error *error)
{
    struct pw_earlier_run *found = NULL;
    size_t found_count = 0, next = 0;
    struct pw_earlier_run *runs = pw_arena_take(arena, query->max * sizeof *runs + 1); /* not NULL for none */
    if (runs == NULL)
        return PAWL_NOMEM;
    pawl_status status =
        query->max > 0 ? pw_read_earlier_runs(engine->store, arena, query, &found, &found_count, error) : PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < query->max; i++) {
        int64_t ahead = (int64_t)i + 1, number = query->after_seq + (query->newest_first ? -ahead : ahead);
        bool is_found = next < found_count && found[next].run == number;
        runs[i] = is_found ? found[next++] : (struct pw_earlier_run){ .run = number, .outcome = PW_OUTCOME_TERMINATED };
    }
    *out_runs = runs;
    return status;
}

static pawl_status get_earlier(pawl_engine *engine, pawl_scope *scope, struct pw_text workflow, struct pw_text id,
                               int64_t number, struct pawl_instance *instance, struct pawl_error *error)
{
    const struct pawl_parent *parent = instance->parent;
    struct pw_history_query query = { .after_seq = number - 1, .max = 1 };
    struct pw_arena arena = { 0 };
    struct pw_instance now;
    struct pw_earlier_run *run;
    pawl_status status = pw_rows_read(engine, &arena, workflow, id, &now, error);
    if (status == PAWL_OK) {
        query.instance = now.key;
        status = read_runs(engine, &arena, &query, &run, error);
    }
    if (status == PAWL_OK)
        status = show_run(scope, &now, run, instance);
    instance->parent = parent;
    pw_arena_clear(&arena);
    return status == PAWL_NOMEM ? pw_error_plain(error, status) : status;
}

pawl_status pawl_get_run(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                         int64_t run_number, struct pawl_instance *out_instance, struct pawl_error *error)
{
    struct pawl_instance instance;
    struct pw_definition *definition;
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_answer(scope, out_instance, "out_instance", error);
    if (status == PAWL_OK)
        status = pw_inspect_instance(engine, scope, definition->name, pw_text_of(id), true, &instance, error);
    if (status == PAWL_OK)
        status = pw_rows_check_run(id, instance.run_number, run_number, error);
    if (status == PAWL_OK && run_number != 0 && run_number < instance.run_number)
        status = get_earlier(engine, scope, pw_text_of(workflow), pw_text_of(id), run_number, &instance, error);
    if (status == PAWL_OK)
        *out_instance = instance;
    return status;
}

/* Chooses the numbers of the runs of a page, and one more. */
static struct pw_history_query choose_runs(const struct pw_instance_query *asked, const struct pw_instance *now)
{
    int64_t after = asked->after_key;
    if (!asked->oldest_first && (after == 0 || after > now->run))
        after = now->run + 1;
    int64_t left = asked->oldest_first ? now->run - after : after - 1; /* below 0 if the cursor is forged */
    return (struct pw_history_query){ .instance = now->key,
                                      .newest_first = !asked->oldest_first,
                                      .after_seq = after,
                                      .max = left < (int64_t)asked->max ? (size_t)pw_count_of(left) : asked->max,
                                      .bytes_max = asked->bytes_max };
}

static pawl_status list_runs(struct pw_instances *instances, struct pawl_instance_page *out_page,
                             struct pawl_error *error)
{
    struct pw_listing *listing = &instances->listing;
    struct pw_instance *now = &instances->of;
    const struct pw_history_query query = choose_runs(&instances->query, now);
    struct pw_earlier_run *runs;
    const char *cursor;
    size_t count = query.max;
    pawl_status status = read_runs(listing->engine, &listing->arena, &query, &runs, error);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (runs[i].run == now->run)
            runs[i].output = now->output; /* counts for the page's bytes */
    struct pawl_instance *shown =
        pw_listing_cut(listing, runs, sizeof *runs, pw_earlier_run_bytes, &count, sizeof *shown, &cursor);
    if (shown == NULL)
        return PAWL_NOMEM;
    now->params = (struct pw_text){ NULL, 0 }; /* not in lists of runs */
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = show_run(listing->scope, now, &runs[i], &shown[i]);
    if (status == PAWL_OK)
        *out_page = (struct pawl_instance_page){ shown, count, cursor };
    return status;
}

pawl_status pawl_list_runs(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                           const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                           struct pawl_error *error)
{
    return pw_instances_of(engine, scope, workflow, id, options, "runs", list_runs, out_page, error);
}
