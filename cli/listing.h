/* listing.h - fetches the pages of a list: of the server, of an instance, of one workflow or of all workflows. */
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

#include "verb.h"

struct listing {
    const struct verb *verb;
    bool is_by_workflow;  /* its rows are instances of a workflow; each gets a workflowName */
    const char *workflow; /* if it is by workflow; NULL: all */
    const char *target;   /* else what the path's "{...}" stands for; NULL: it has none */
    const char *name;     /* of the instance that has them; or NULL */
    const char *order, *cursor;
    int64_t limit; /* of a page; 0: the server's own */
};

/* Reads the listing from the options of the command line. */
struct listing listing_read(const struct session *session);

/* A list of all workflows leaves out those that the token may not read, unless it may read none.  *out_left_out: their
 * names, "a, b", in the pool; NULL: none. */

/* One page: {rows, hasNextPage, cursor?}; of all workflows the newest (or oldest) of each, merged, without a cursor.  In
 * the session's pool. */
enum exit_code listing_page(struct session *session, const struct listing *listing, json_t **out_page,
                            const char **out_left_out);

/* Calls `take` for every page, workflow by workflow.  A page is valid until `take` returns. */
typedef enum exit_code listing_page_fn(struct session *session, const json_t *page, void *user);
enum exit_code listing_all(struct session *session, const struct listing *listing, listing_page_fn *take, void *user,
                           const char **out_left_out);

/* Prints the names on standard error.  left_out NULL: prints nothing. */
void listing_tell_left_out(const struct session *session, const char *left_out);

#endif
