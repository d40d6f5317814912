/* children.c - what an instance has made, whatever became of it.
 *
 * The store knows children and jobs alike as what the runs of an instance made; jobs are left out here. */
#include "base/error.h"
#include "base/limits.h"
#include "service/check.h"
#include "service/inspect.h"
#include "service/rows.h"

static bool is_job(const struct pw_instance *row)
{
    return row->link.relation == PW_RELATION_JOB;
}

/* As many as the listing asks for, or as there are. */
static pawl_status read_children(pawl_engine *engine, struct pw_arena *arena, struct pw_listing *listing,
                                 struct pw_instance **out_rows, size_t *out_count, struct pawl_error *error)
{
    size_t kept = 0, count = 0;
    struct pw_instance *children = pw_arena_take(arena, listing->query.max * sizeof *children);
    if (children == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    do {
        struct pw_instance *rows = NULL;
        pawl_status status = pw_list_instances(engine->store, arena, &listing->query, &rows, &count, error);
        if (status != PAWL_OK)
            return status;
        for (size_t i = 0; i < count && kept < listing->query.max; i++) {
            listing->query.after_key = rows[i].key;
            if (!is_job(&rows[i]))
                children[kept++] = rows[i];
        }
    } while (count == listing->query.max && kept < listing->query.max);
    *out_rows = children;
    *out_count = kept;
    return PAWL_OK;
}

static pawl_status list_children(pawl_engine *engine, pawl_scope *scope, struct pw_arena *arena,
                                 const struct pw_instance *parent, const struct pawl_list_options *options,
                                 struct pawl_instance_page *out_page, struct pawl_error *error)
{
    struct pw_listing listing = { .query = { .by = PW_BY_PARENT, .number = parent->key } };
    struct pw_instance *rows = NULL;
    size_t count = 0;
    pw_cursor_filter_text(&listing.filter, pw_text_of("children"));
    pw_cursor_filter_number(&listing.filter, parent->key);
    pawl_status status = pw_listing_begin(&listing, options, error);
    if (status == PAWL_OK)
        status = read_children(engine, arena, &listing, &rows, &count, error);
    if (status == PAWL_OK && pw_listing_answer(&listing, scope, rows, count, parent, out_page) != PAWL_OK)
        status = pw_error_plain(error, PAWL_NOMEM);
    return status;
}

pawl_status pawl_list_children(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                               const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                               struct pawl_error *error)
{
    struct pawl_list_options known = PAWL_LIST_OPTIONS_INIT;
    struct pw_definition *definition;
    struct pw_instance parent;
    struct pw_arena arena;
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_given(scope, "scope", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_page, "out_page", error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status == PAWL_OK)
        status = pw_listing_check_whole(&known, "children", error);
    if (status != PAWL_OK)
        return status;
    pw_arena_init(&arena);
    status = pw_rows_read(engine, &arena, definition->name, pw_text_of(id), &parent, error);
    if (status == PAWL_OK)
        status = list_children(engine, scope, &arena, &parent, &known, out_page, error);
    pw_arena_clear(&arena);
    return status;
}
