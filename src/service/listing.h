/* listing.h - one page of a list: from the options that ask for it to the cursor of the next page.
 *
 * The store is asked for one row more than the page may have, so that the listing knows whether there is another page. */
#ifndef PW_SERVICE_LISTING_H
#define PW_SERVICE_LISTING_H

#include "engine/engine.h"
#include "service/cursor.h"

/* Begins at zero, but for the first three. */
struct pw_listing {
    pawl_engine *engine;
    pawl_scope *scope; /* of the answer */
    enum pw_cursor_kind kind;
    struct pw_cursor_filter filter; /* the caller adds what is listed, and all filters */
    struct pw_arena arena;          /* of the rows; pw_listing_end() clears it */
    size_t max;                     /* rows to ask for */
    size_t bytes_max;               /* of their payloads; pw_listing_cut() subtracts those of its page */
};

/* Checks and takes the options that all lists have.  A page_size or bytes_max of 0 is the default. */
pawl_status pw_listing_begin(struct pw_listing *listing, int32_t page_size, int64_t bytes_max, enum pawl_order order,
                             struct pawl_error *error) PAWL_MUST_CHECK;

/* Cuts the rows that were read to a page.  *count becomes the size of the page, *out_cursor the cursor of the next page, or NULL
 * if this is the last.  Returns room for *count records, in the scope; NULL when memory is out.  A row must begin with its number,
 * an int64_t: that is what the cursor holds.  bytes_of NULL: the rows have no payloads. */
void *pw_listing_cut(struct pw_listing *listing, const void *rows, size_t row_size, pw_row_bytes_fn *bytes_of,
                     size_t *count, size_t record_size, const char **out_cursor);

/* Returns the status, and reports it in the error if it is PAWL_NOMEM. */
pawl_status pw_listing_end(struct pw_listing *listing, pawl_status status, struct pawl_error *error);

#endif
