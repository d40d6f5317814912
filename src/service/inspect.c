/* inspect.c - reads: one instance with its current step, a page of instances, their counts, the registered
 * workflows. */
#include "service/inspect.h"

#include "base/error.h"
#include "service/check.h"
#include "service/jobs.h"
#include "service/rows.h"
#include "service/waits.h"
#include "store/page.h"
#include "value/value.h"

/* Adds the parent.  If its row was deleted, there is none. */
static pawl_status add_parent(pawl_engine *engine, pawl_scope *scope, struct pw_arena *arena,
                              const struct pw_link *link, struct pawl_instance *instance, struct pawl_error *error)
{
    struct pw_instance parent;
    pawl_status status = pw_read_instance_by_key(engine->store, arena, link->parent, &parent, error);
    if (status == PAWL_OK)
        status = pw_rows_parent(scope, link, &parent, &instance->parent);
    return status == PAWL_INSTANCE_NOT_FOUND ? PAWL_OK : status;
}

/* Adds the current step and, if it waits for a job, the holder of the job. */
static pawl_status add_step(pawl_engine *engine, pawl_scope *scope, int64_t run, const struct pw_step_row *row,
                            struct pawl_instance *instance, struct pawl_error *error)
{
    struct pawl_step_record *step = pw_scope_take(scope, sizeof *step);
    if (step == NULL || pw_rows_step(scope, run, row, step) != PAWL_OK)
        return PAWL_NOMEM;
    instance->current_step = step;
    return pw_jobs_show(engine, scope, step, 1, error);
}

/* Adds what the instance waits for, with the holders of its jobs. */
static pawl_status add_waits(pawl_engine *engine, pawl_scope *scope, struct pw_arena *arena,
                             const struct pw_instance *row, struct pawl_instance *instance, struct pawl_error *error)
{
    struct pw_waits waits;
    pawl_status status = pw_waits_read(engine->store, scope, arena, row, PAWL_WAITS_SHOWN, &waits, error);
    if (status == PAWL_OK)
        status = pw_jobs_show(engine, scope, waits.steps, waits.count, error);
    if (status == PAWL_OK)
        instance->waiting_for = waits.top;
    return status;
}

pawl_status pw_inspect_instance(pawl_engine *engine, pawl_scope *scope, struct pw_text workflow, struct pw_text id,
                                bool with_waits, struct pawl_instance *out_instance, struct pawl_error *error)
{
    struct pw_arena arena = { 0 };
    struct pw_instance row;
    struct pw_step_row step;
    struct pawl_instance instance;
    bool has_step;
    pawl_status status = pw_read_current(engine->store, &arena, workflow, id, &row, &step, &has_step, error);
    if (status == PAWL_INSTANCE_NOT_FOUND)
        (void)pw_rows_not_found(workflow, id, error);
    if (status == PAWL_OK)
        status = pw_rows_instance(scope, &row, &instance);
    if (status == PAWL_OK && row.link.parent != 0)
        status = add_parent(engine, scope, &arena, &row.link, &instance, error);
    if (status == PAWL_OK && has_step)
        status = add_step(engine, scope, row.run, &step, &instance, error);
    if (status == PAWL_OK && with_waits)
        status = add_waits(engine, scope, &arena, &row, &instance, error);
    if (status == PAWL_OK)
        *out_instance = instance;
    pw_arena_clear(&arena);
    return status == PAWL_NOMEM ? pw_error_plain(error, status) : status;
}

pawl_status pawl_get(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                     struct pawl_instance *out_instance, struct pawl_error *error)
{
    struct pw_definition *definition;
    PAWL_TRY(pw_check_target(engine, workflow, id, &definition, error));
    PAWL_TRY(pw_check_answer(scope, out_instance, "out_instance", error));
    return pw_inspect_instance(engine, scope, definition->name, pw_text_of(id), false, out_instance, error);
}

static struct pawl_workflow_info describe(const struct pw_definition *definition)
{
    return (struct pawl_workflow_info){
        .name = definition->name.data,
        .description = definition->description.data,
        .tags = definition->tags,
        .tag_count = definition->tag_count,
        .permissions = definition->permissions,
        .permission_count = definition->permission_count,
        .is_inline = definition->run_inline != NULL,
        .version = definition->terms.version.data,
    };
}

pawl_status pawl_find_workflow(pawl_engine *engine, const char *name, struct pawl_workflow_info *out_workflow,
                               struct pawl_error *error)
{
    struct pw_definition *definition;
    pawl_status status = pw_check_given(out_workflow, "out_workflow", error);
    if (status == PAWL_OK)
        status = pw_check_workflow(engine, name, &definition, error);
    if (status == PAWL_OK)
        *out_workflow = describe(definition);
    return status;
}

pawl_status pawl_list_workflows(pawl_engine *engine, pawl_scope *scope, const struct pawl_workflow_info **out_workflows,
                                size_t *out_count)
{
    if (engine == NULL || scope == NULL || out_workflows == NULL || out_count == NULL)
        return PAWL_INVALID;
    (void)pthread_mutex_lock(&engine->lock);
    size_t count = 0;
    struct pawl_workflow_info *workflows =
        pw_scope_take(scope, engine->definition_count * sizeof *workflows + 1); /* not NULL for none */
    for (size_t i = 0; workflows != NULL && i < engine->definition_count; i++) {
        if (!engine->list[i]->is_function)
            workflows[count++] = describe(engine->list[i]);
    }
    (void)pthread_mutex_unlock(&engine->lock);
    if (workflows == NULL)
        return PAWL_NOMEM;
    *out_workflows = workflows;
    *out_count = count;
    return PAWL_OK;
}

/* At most one filter is allowed, because each is served by an index of its own. */
static pawl_status take_filter(struct pw_instances *instances, const struct pawl_list_options *options,
                               struct pawl_error *error)
{
    struct pw_instance_query *query = &instances->query;
    struct pw_text version = pw_text_of(options->version);
    char shown[PW_SHOWN_SIZE];
    if (options->has_status && (unsigned)options->status > PAWL_ERRORED)
        return pw_error(error, PAWL_INVALID, "status %d is not an instance status", (int)options->status);
    if (version.data != NULL && !pw_text_is_version(version, PW_VERSION_MAX))
        return pw_error(error, PAWL_INVALID, "\"%s\" is not a version: it has 1 to 64 of [a-zA-Z0-9._-]",
                        pw_check_shown(version, shown));
    if (options->has_status && version.data != NULL)
        return pw_error(error, PAWL_INVALID,
                        "a list is filtered by status or by version, not by both; either can be "
                        "combined with order, page size and cursor");
    pw_cursor_filter_number(&instances->listing.filter, options->has_status ? (int64_t)options->status : -1);
    if (options->has_status)
        pw_list_by_status(query, options->status);
    if (version.data != NULL) {
        query->by = PW_BY_VERSION;
        query->text = version;
        pw_cursor_filter_text(&instances->listing.filter, version);
    }
    return PAWL_OK;
}

/* The caller has already added what is listed to the cursor's filter. */
static pawl_status take_options(struct pw_instances *instances, const struct pawl_list_options *options,
                                struct pawl_error *error)
{
    struct pw_listing *listing = &instances->listing;
    struct pw_instance_query *query = &instances->query;
    PAWL_TRY(pw_listing_begin(listing, options->page_size, options->page_bytes_max, options->order, error));
    PAWL_TRY(take_filter(instances, options, error));
    query->max = listing->max;
    query->bytes_max = listing->bytes_max;
    query->oldest_first = options->order == PAWL_OLDEST_FIRST;
    listing->kind = PW_CURSOR_INSTANCES;
    pw_cursor_filter_number(&listing->filter, query->oldest_first);
    return pw_cursor_read(options->cursor, "cursor", listing->kind, listing->filter, &query->after_key, error);
}

pawl_status pw_instances_show(struct pw_instances *instances, const struct pw_instance *rows, size_t count,
                              const struct pw_instance *parent, struct pawl_instance_page *out_page)
{
    pawl_scope *scope = instances->listing.scope;
    const char *cursor;
    pawl_status status = PAWL_OK;
    struct pawl_instance *shown =
        pw_listing_cut(&instances->listing, rows, sizeof *rows, pw_instance_bytes, &count, sizeof *shown, &cursor);
    if (shown == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        status = pw_rows_instance(scope, &rows[i], &shown[i]);
        if (status == PAWL_OK && parent != NULL)
            status = pw_rows_parent(scope, &rows[i].link, parent, &shown[i].parent);
    }
    if (status == PAWL_OK)
        *out_page = (struct pawl_instance_page){ shown, count, cursor };
    return status;
}

pawl_status pw_instances_of(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                            const struct pawl_list_options *options, const char *what, pw_instances_fn *list,
                            struct pawl_instance_page *out_page, struct pawl_error *error)
{
    struct pawl_list_options known = PAWL_LIST_OPTIONS_INIT;
    struct pw_instances instances = { .listing = { .engine = engine, .scope = scope } };
    struct pw_listing *listing = &instances.listing;
    struct pw_definition *definition;
    PAWL_TRY(pw_check_target(engine, workflow, id, &definition, error));
    PAWL_TRY(pw_check_answer(scope, out_page, "out_page", error));
    PAWL_TRY(pw_check_options(options, &known, sizeof known, error));
    if (known.has_status)
        return pw_error(error, PAWL_INVALID, "%s are listed whatever their status; leave has_status false", what);
    if (known.version != NULL)
        return pw_error(error, PAWL_INVALID, "%s are listed whatever their version; leave version NULL", what);
    pawl_status status = pw_rows_read(engine, &listing->arena, definition->name, pw_text_of(id), &instances.of, error);
    if (status == PAWL_OK) {
        pw_cursor_filter_text(&listing->filter, pw_text_of(what));
        pw_cursor_filter_number(&listing->filter, instances.of.key);
        status = take_options(&instances, &known, error);
    }
    if (status == PAWL_OK)
        status = list(&instances, out_page, error);
    return pw_listing_end(listing, status, error);
}

pawl_status pawl_list(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                      const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                      struct pawl_error *error)
{
    struct pawl_list_options known = PAWL_LIST_OPTIONS_INIT;
    struct pw_instances instances = { .listing = { .engine = engine, .scope = scope } };
    struct pw_listing *listing = &instances.listing;
    struct pw_definition *definition;
    struct pw_instance *rows = NULL;
    size_t count = 0;
    PAWL_TRY(pw_check_workflow(engine, workflow, &definition, error));
    PAWL_TRY(pw_check_answer(scope, out_page, "out_page", error));
    PAWL_TRY(pw_check_options(options, &known, sizeof known, error));
    instances.query.workflow = definition->name;
    pw_cursor_filter_text(&listing->filter, definition->name);
    PAWL_TRY(take_options(&instances, &known, error));
    pawl_status status = pw_list_instances(engine->store, &listing->arena, &instances.query, &rows, &count, error);
    if (status == PAWL_OK)
        status = pw_instances_show(&instances, rows, count, /* parent= */ NULL, out_page);
    return pw_listing_end(listing, status, error);
}

/* The names of all registered workflows and functions.  They live as long as the engine.  NULL when memory runs out. */
static const struct pw_text *take_names(pawl_engine *engine, struct pw_arena *arena, size_t *out_count)
{
    (void)pthread_mutex_lock(&engine->lock);
    size_t count = engine->definition_count;
    struct pw_text *names = pw_arena_take(arena, count * sizeof *names + 1); /* not NULL for none */
    for (size_t i = 0; names != NULL && i < count; i++)
        names[i] = engine->list[i]->name;
    (void)pthread_mutex_unlock(&engine->lock);
    *out_count = count;
    return names;
}

pawl_status pawl_count(pawl_engine *engine, const char *workflow, struct pawl_instance_counts *out_counts,
                       struct pawl_error *error)
{
    struct pw_definition *definition;
    struct pw_arena arena = { 0 };
    size_t count = 1;
    PAWL_TRY(pw_check_given(engine, "engine", error));
    PAWL_TRY(pw_check_given(out_counts, "out_counts", error));
    if (workflow != NULL)
        PAWL_TRY(pw_check_workflow(engine, workflow, &definition, error));
    const struct pw_text *names = workflow != NULL ? &definition->name : take_names(engine, &arena, &count);
    if (names == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    /* Counts one more than is reported, to know whether there are more. */
    const struct pw_read asked = { .kind = PW_READ_STATUS_COUNTS, .names = { names, count, PAWL_COUNT_MAX + 1 } };
    struct pw_found found;
    pawl_status status = pw_read(engine->store, &asked, NULL, &found, error);
    for (size_t of = 0; status == PAWL_OK && of < PAWL_INSTANCE_STATUSES; of++) {
        out_counts->has_more[of] = found.statuses.of[of] > PAWL_COUNT_MAX;
        out_counts->count[of] = out_counts->has_more[of] ? PAWL_COUNT_MAX : found.statuses.of[of];
    }
    pw_arena_clear(&arena);
    return status;
}
