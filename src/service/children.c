/* children.c - the instances that an instance has made, whatever became of them.
 *
 * The store keeps children and jobs alike as instances that a run has made.  Jobs are left out here. */
#include "base/error.h"
#include "service/inspect.h"

/* Asks again until a page is full, or nothing is left: any number of rows may be jobs. */
static pawl_status list_children(struct pw_instances *instances, struct pawl_instance_page *out_page,
                                 struct pawl_error *error)
{
    struct pw_listing *listing = &instances->listing;
    struct pw_instance_query *query = &instances->query;
    size_t kept = 0, count = 0;
    struct pw_instance *children = pw_arena_take(&listing->arena, query->max * sizeof *children);
    if (children == NULL)
        return PAWL_NOMEM;
    query->by = PW_BY_PARENT;
    query->number = instances->of.key;
    do {
        struct pw_instance *rows = NULL;
        pawl_status status = pw_list_instances(listing->engine->store, &listing->arena, query, &rows, &count, error);
        if (status != PAWL_OK)
            return status;
        for (size_t i = 0; i < count && kept < query->max; i++) {
            query->after_key = rows[i].key;
            if (rows[i].link.relation != PW_RELATION_JOB)
                children[kept++] = rows[i];
        }
    } while (count == query->max && kept < query->max);
    return pw_instances_show(instances, children, kept, &instances->of, out_page);
}

pawl_status pawl_list_children(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                               const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                               struct pawl_error *error)
{
    return pw_instances_of(engine, scope, workflow, id, options, "children", list_children, out_page, error);
}
