/* inspect.h - reading one instance, for the calls that answer it, and pages of instances, for those that list. */
#ifndef PW_SERVICE_INSPECT_H
#define PW_SERVICE_INSPECT_H

#include "engine/engine.h"
#include "service/cursor.h"

/* With its current step, and its parent. */
pawl_status pw_inspect_instance(pawl_engine *engine, pawl_scope *scope, struct pw_text workflow, struct pw_text id,
                                struct pawl_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;

/* A listing of instances: what is asked of the store, and what its cursor belongs to. */
struct pw_listing {
    struct pw_instance_query query; /* asks for one row more than the page has, to know whether there is another page */
    struct pw_cursor_filter filter; /* begun by the caller with what it lists */
};

/* PAWL_INVALID when the options ask for a part of what is only listed as a whole. */
pawl_status pw_listing_check_whole(const struct pawl_list_options *options, const char *what,
                                   struct pawl_error *error) PAWL_MUST_CHECK;
/* Fills in the rest from the options. */
pawl_status pw_listing_begin(struct pw_listing *listing, const struct pawl_list_options *options,
                             struct pawl_error *error) PAWL_MUST_CHECK;
/* PAWL_OK or PAWL_NOMEM.  parent: of them all, or NULL. */
pawl_status pw_listing_answer(const struct pw_listing *listing, pawl_scope *scope, const struct pw_instance *rows,
                              size_t count, const struct pw_instance *parent,
                              struct pawl_instance_page *out_page) PAWL_MUST_CHECK;

#endif
