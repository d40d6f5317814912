/* children.c - lists the instances that an instance has made, in whatever state they are.
 *
 * The store keeps children and jobs in the same way, as instances that a run has made.  Jobs are left out here. */
#include "base/error.h"
#include "service/inspect.h"
#include "store/page.h"

/* Asks again until a page is full or nothing is left, because any number of rows may be jobs, and the store also
 * ends a list by the bytes of jobs. */
static pawl_status list_children(struct pw_instances *instances, struct pawl_instance_page *out_page,
                                 struct pawl_error *error)
{
    struct pw_listing *listing = &instances->listing;
    struct pw_instance_query *query = &instances->query;
    size_t kept = 0, kept_bytes = 0;
    bool is_cut = true;
    struct pw_instance *children = pw_arena_take(&listing->arena, query->max * sizeof *children);
    if (children == NULL)
        return PAWL_NOMEM;
    query->by = PW_BY_PARENT;
    query->number = instances->of.key;
    while (is_cut && kept < query->max && !pw_page_is_full(kept, kept_bytes, query->bytes_max)) {
        struct pw_instance *rows = NULL;
        size_t count = 0, bytes = 0;
        PAWL_TRY(pw_list_instances(listing->engine->store, &listing->arena, query, &rows, &count, error));
        for (size_t i = 0; i < count && kept < query->max; i++) {
            query->after_key = rows[i].key;
            bytes += pw_instance_bytes(&rows[i]);
            if (rows[i].link.relation == PW_RELATION_JOB)
                continue;
            kept_bytes += pw_instance_bytes(&rows[i]);
            children[kept++] = rows[i];
        }
        is_cut = count == query->max || pw_page_is_full(count, bytes, query->bytes_max);
    }
    return pw_instances_show(instances, children, kept, &instances->of, out_page);
}

pawl_status pawl_list_children(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                               const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                               struct pawl_error *error)
{
    return pw_instances_of(engine, scope, workflow, id, options, "children", list_children, out_page, error);
}
