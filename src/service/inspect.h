/* inspect.h - reads one instance, for calls that return it, and pages of instances, for calls that list. */
#ifndef PW_SERVICE_INSPECT_H
#define PW_SERVICE_INSPECT_H

#include "service/listing.h"

/* Reads an instance with its current step and its parent; with_waits: and with what it waits for. */
pawl_status pw_inspect_instance(pawl_engine *engine, pawl_scope *scope, struct pw_text workflow, struct pw_text id,
                                bool with_waits, struct pawl_instance *out_instance,
                                struct pawl_error *error) PAWL_MUST_CHECK;

/* A page of instances in the making. */
struct pw_instances {
    struct pw_listing listing;
    struct pw_instance_query query; /* complete except for what `list`, below, adds */
    /* The instance whose runs or children are listed; unused in the list of a workflow. */
    struct pw_instance of;
};

/* Lists what belongs to an instance: its "runs" or "children".  They cannot be filtered by status or version.  `list` asks the
 * store and fills in the page. */
typedef pawl_status pw_instances_fn(struct pw_instances *instances, struct pawl_instance_page *out_page,
                                    struct pawl_error *error);
pawl_status pw_instances_of(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                            const struct pawl_list_options *options, const char *what, pw_instances_fn *list,
                            struct pawl_instance_page *out_page, struct pawl_error *error) PAWL_MUST_CHECK;

/* Cuts the rows to a page and shows them.  parent: the parent of every row, or NULL.  PAWL_OK or PAWL_NOMEM. */
pawl_status pw_instances_show(struct pw_instances *instances, const struct pw_instance *rows, size_t count,
                              const struct pw_instance *parent, struct pawl_instance_page *out_page) PAWL_MUST_CHECK;

#endif
