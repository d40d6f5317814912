/* inspect.c - looking: one instance with what it is at, a page of instances, how many there are, the registered workflows. */
#include "service/inspect.h"

#include "base/error.h"
#include "base/limits.h"
#include "service/check.h"
#include "service/cursor.h"
#include "service/jobs.h"
#include "service/rows.h"
#include "base/rows.h"
#include "store/page.h"
#include "value/value.h"

static pawl_status answer(pawl_scope *scope, const struct pw_instance *row, const struct pw_instance *parent,
                          struct pawl_instance *out_instance)
{
    struct pawl_instance instance;
    pawl_status status = pw_rows_instance(scope, row, &instance);
    if (status == PAWL_OK && parent != NULL)
        status = pw_rows_parent(scope, &row->link, parent, &instance.parent);
    if (status == PAWL_OK)
        *out_instance = instance;
    return status;
}

/* What it is at, and who has the job that it may wait for. */
static pawl_status add_step(pawl_engine *engine, pawl_scope *scope, int64_t run, const struct pw_step_row *row,
                            struct pawl_instance *instance, struct pawl_error *error)
{
    struct pawl_step_record *step = pw_scope_take(scope, sizeof *step);
    if (step == NULL || pw_rows_step(scope, run, row, step) != PAWL_OK)
        return pw_error_plain(error, PAWL_NOMEM);
    instance->current_step = step;
    return pw_jobs_show(engine, scope, step, 1, error);
}

/* Somebody may have deleted its row. */
static pawl_status read_parent(pawl_engine *engine, struct pw_arena *arena, const struct pw_link *link,
                               struct pw_instance *parent, bool *out_found, struct pawl_error *error)
{
    struct pw_store *store = engine->store;
    if (link->parent == 0)
        return PAWL_OK;
    pawl_status status = pw_read_instance_by_key(store, arena, link->parent, parent, error);
    *out_found = status == PAWL_OK;
    return status == PAWL_INSTANCE_NOT_FOUND ? PAWL_OK : status;
}

pawl_status pw_inspect_instance(pawl_engine *engine, pawl_scope *scope, struct pw_text workflow, struct pw_text id,
                                struct pawl_instance *out_instance, struct pawl_error *error)
{
    struct pw_store *store = engine->store;
    struct pw_arena arena;
    struct pw_instance row, parent;
    struct pw_step_row step;
    struct pawl_instance instance;
    bool has_step, has_parent = false;
    pw_arena_init(&arena);
    pawl_status status = pw_read_current(store, &arena, workflow, id, &row, &step, &has_step, error);
    if (status == PAWL_INSTANCE_NOT_FOUND)
        (void)pw_rows_not_found(workflow, id, error);
    if (status == PAWL_OK)
        status = read_parent(engine, &arena, &row.link, &parent, &has_parent, error);
    if (status != PAWL_OK)
        goto done;
    status = answer(scope, &row, has_parent ? &parent : NULL, &instance);
    if (status != PAWL_OK)
        (void)pw_error_plain(error, status);
    else if (has_step)
        status = add_step(engine, scope, row.run, &step, &instance, error);
    if (status == PAWL_OK)
        *out_instance = instance;
done:
    pw_arena_clear(&arena);
    return status;
}

pawl_status pawl_get(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                     struct pawl_instance *out_instance, struct pawl_error *error)
{
    struct pw_definition *definition;
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_given(scope, "scope", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_instance, "out_instance", error);
    if (status != PAWL_OK)
        return status;
    return pw_inspect_instance(engine, scope, definition->name, pw_text_of(id), out_instance, error);
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
        const struct pw_definition *definition = engine->list[i];
        if (definition->is_function)
            continue;
        workflows[count++] = describe(definition);
    }
    (void)pthread_mutex_unlock(&engine->lock);
    if (workflows == NULL)
        return PAWL_NOMEM;
    *out_workflows = workflows;
    *out_count = count;
    return PAWL_OK;
}

pawl_status pw_listing_check_whole(const struct pawl_list_options *options, const char *what, struct pawl_error *error)
{
    if (options->has_status)
        return pw_error(error, PAWL_INVALID, "%s are listed whatever their status; leave has_status false", what);
    if (options->version != NULL)
        return pw_error(error, PAWL_INVALID, "%s are listed whatever their version; leave version NULL", what);
    return PAWL_OK;
}

/* One filter at most: each is served by an index of its own. */
static pawl_status take_filter(struct pw_listing *listing, const struct pawl_list_options *options,
                               struct pawl_error *error)
{
    struct pw_text version = pw_text_of(options->version);
    char shown[PW_SHOWN_SIZE];
    if (options->has_status && (unsigned)options->status > PAWL_ERRORED)
        return pw_error(error, PAWL_INVALID, "status %d is not an instance status", (int)options->status);
    if (version.data != NULL && !pw_text_is_version(version))
        return pw_error(error, PAWL_INVALID, "\"%s\" is not a version: it has 1 to 64 of [a-zA-Z0-9._-]",
                        pw_check_shown(version, shown));
    if (options->has_status && version.data != NULL)
        return pw_error(error, PAWL_INVALID,
                        "a list is filtered by status or by version, not by both; either can be "
                        "combined with order, page size and cursor");
    if (options->has_status)
        pw_list_by_status(&listing->query, options->status);
    if (version.data != NULL) {
        listing->query.by = PW_BY_VERSION;
        listing->query.text = version;
    }
    pw_cursor_filter_number(&listing->filter, options->has_status ? (int64_t)options->status : -1);
    if (version.data != NULL)
        pw_cursor_filter_text(&listing->filter, version);
    return PAWL_OK;
}

pawl_status pw_listing_begin(struct pw_listing *listing, const struct pawl_list_options *options,
                             struct pawl_error *error)
{
    struct pw_instance_query *query = &listing->query;
    size_t page_size;
    pawl_status status = pw_check_page_size(options->page_size, &page_size, error);
    if (status == PAWL_OK)
        status = pw_check_page_bytes(options->page_bytes_max, &query->bytes_max, error);
    if (status == PAWL_OK)
        status = pw_check_order(options->order, error);
    if (status == PAWL_OK)
        status = take_filter(listing, options, error);
    if (status != PAWL_OK)
        return status;
    query->oldest_first = options->order == PAWL_OLDEST_FIRST;
    query->max = page_size + 1;
    pw_cursor_filter_number(&listing->filter, query->oldest_first);
    return pw_cursor_read(options->cursor, "cursor", PW_CURSOR_INSTANCES, listing->filter, &query->after_key, error);
}

/* One row more than the page has was asked for, to know whether there is another page. */
pawl_status pw_listing_answer(const struct pw_listing *listing, pawl_scope *scope, const struct pw_instance *rows,
                              size_t count, const struct pw_instance *parent, struct pawl_instance_page *out_page)
{
    const struct pw_instance_query *query = &listing->query;
    size_t bytes;
    size_t given =
        pw_page_count(rows, sizeof *rows, count, pw_instance_bytes, query->max - 1, query->bytes_max, &bytes);
    bool has_more = given < count;
    struct pawl_instance *instances = pw_scope_take(scope, given * sizeof *instances + 1); /* not NULL for none */
    if (instances == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; i < given; i++)
        if (answer(scope, &rows[i], parent, &instances[i]) != PAWL_OK)
            return PAWL_NOMEM;
    const char *cursor =
        has_more ? pw_cursor_write(scope, PW_CURSOR_INSTANCES, listing->filter, rows[given - 1].key) : NULL;
    if (has_more && cursor == NULL)
        return PAWL_NOMEM;
    *out_page = (struct pawl_instance_page){ instances, given, cursor };
    return PAWL_OK;
}

pawl_status pawl_list(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                      const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                      struct pawl_error *error)
{
    struct pawl_list_options known = PAWL_LIST_OPTIONS_INIT;
    struct pw_definition *definition;
    pawl_status status = pw_check_workflow(engine, workflow, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_given(scope, "scope", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_page, "out_page", error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status != PAWL_OK)
        return status;
    struct pw_listing listing = { .query = { .workflow = definition->name } };
    pw_cursor_filter_text(&listing.filter, definition->name);
    status = pw_listing_begin(&listing, &known, error);
    if (status != PAWL_OK)
        return status;

    struct pw_arena arena;
    struct pw_instance *rows = NULL;
    size_t count = 0;
    pw_arena_init(&arena);
    status = pw_list_instances(engine->store, &arena, &listing.query, &rows, &count, error);
    if (status == PAWL_OK && pw_listing_answer(&listing, scope, rows, count, /* parent= */ NULL, out_page) != PAWL_OK)
        status = pw_error_plain(error, PAWL_NOMEM);
    pw_arena_clear(&arena);
    return status;
}

/* The names of all that are registered; they stay as long as the engine does. */
static pawl_status take_names(pawl_engine *engine, struct pw_arena *arena, struct pw_text **out_names,
                              size_t *out_count)
{
    (void)pthread_mutex_lock(&engine->lock);
    size_t count = engine->definition_count;
    struct pw_text *names = pw_arena_take(arena, count * sizeof *names + 1); /* not NULL for none */
    for (size_t i = 0; names != NULL && i < count; i++)
        names[i] = engine->list[i]->name;
    (void)pthread_mutex_unlock(&engine->lock);
    if (names == NULL)
        return PAWL_NOMEM;
    *out_names = names;
    *out_count = count;
    return PAWL_OK;
}

/* One more than is told is counted, to know whether there are more. */
static pawl_status count_named(pawl_engine *engine, const struct pw_text *names, size_t count,
                               struct pawl_instance_counts *out_counts, struct pawl_error *error)
{
    struct pw_store *store = engine->store;
    struct pw_status_counts counts;
    pawl_status status = pw_count_statuses(store, names, count, PAWL_COUNT_MAX + 1, &counts, error);
    if (status != PAWL_OK)
        return status;
    for (size_t of = 0; of < PAWL_INSTANCE_STATUSES; of++) {
        out_counts->has_more[of] = counts.of[of] > PAWL_COUNT_MAX;
        out_counts->count[of] = out_counts->has_more[of] ? PAWL_COUNT_MAX : counts.of[of];
    }
    return PAWL_OK;
}

pawl_status pawl_count(pawl_engine *engine, const char *workflow, struct pawl_instance_counts *out_counts,
                       struct pawl_error *error)
{
    struct pw_definition *definition;
    struct pw_text *names;
    size_t count;
    pawl_status status = pw_check_given(engine, "engine", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_counts, "out_counts", error);
    if (status == PAWL_OK && workflow != NULL)
        status = pw_check_workflow(engine, workflow, &definition, error);
    if (status != PAWL_OK)
        return status;
    if (workflow != NULL)
        return count_named(engine, &definition->name, 1, out_counts, error);
    struct pw_arena arena;
    pw_arena_init(&arena);
    if (take_names(engine, &arena, &names, &count) == PAWL_OK)
        status = count_named(engine, names, count, out_counts, error);
    else
        status = pw_error_plain(error, PAWL_NOMEM);
    pw_arena_clear(&arena);
    return status;
}
