/* listing.h - pages of instances, of one workflow or of all. */
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

#include "reference.h"

struct listing_query {
    const char *workflow;           /* NULL: all */
    const struct reference *parent; /* only those that it made, whatever their workflow; or NULL */
    const char *status, *version, *order, *cursor;
    int64_t limit; /* of a page */
};

/* Of all workflows, those that the token may not read are left out, unless there is no other: their names, "a, b", are in
 * the pool then; NULL: none. */

/* One page: {instances, hasNextPage, cursor?}, with each instance's "workflowName"; of all workflows the newest (or
 * oldest) of each, merged, without a cursor.  The caller's, to json_decref(). */
enum exit_code listing_page(struct session *session, const struct listing_query *query, json_t **out_page,
                            const char **out_left_out);

/* Every page, workflow by workflow; each is handed on as it comes. */
typedef enum exit_code listing_page_fn(struct session *session, const json_t *page, void *user);
enum exit_code listing_all(struct session *session, const struct listing_query *query, listing_page_fn *take,
                           void *user, const char **out_left_out);

/* Says so on standard error.  left_out NULL: nothing is said. */
void listing_tell_left_out(const struct session *session, const char *left_out);

#endif
