/* listing.h - one page of a list: from the options that ask for it to the cursor of the next page.
 *
 * The store is asked for one row more than the page may have, so that the listing knows whether there is another page. */
#ifndef PW_SERVICE_LISTING_H
#define PW_SERVICE_LISTING_H

#include "engine/engine.h"
#include "service/cursor.h"

/* The caller sets the first three members; the others start at zero. */
struct pw_listing {
    pawl_engine *engine;
    pawl_scope *scope; /* the scope of the answer */
    enum pw_cursor_kind kind;
    struct pw_cursor_filter filter; /* the caller adds what is listed and all filters */
    struct pw_arena arena;          /* holds the rows; pw_listing_end() clears it */
    size_t max;                     /* rows to ask for */
    /* Bytes of payloads that may still be listed; pw_listing_cut() subtracts its page. */
    size_t bytes_max;
};

/* Checks and takes the options that all lists have.  A page_size or bytes_max of 0 means the default. */
pawl_status pw_listing_begin(struct pw_listing *listing, int32_t page_size, int64_t bytes_max, enum pawl_order order,
                             struct pawl_error *error) PAWL_MUST_CHECK;

/* Cuts the rows that were read to a page.  *count becomes the size of the page, and *out_cursor the cursor of the
 * next page, or NULL if this is the last.  Returns room for *count records in the scope, or NULL when memory runs
 * out.  A row must begin with its number, an int64_t, which the cursor holds. bytes_of NULL: the rows have no
 * payloads. */
void *pw_listing_cut(struct pw_listing *listing, const void *rows, size_t row_size, pw_row_bytes_fn *bytes_of,
                     size_t *count, size_t record_size, const char **out_cursor);

/* Returns the status, and reports it in the error if it is PAWL_NOMEM. */
pawl_status pw_listing_end(struct pw_listing *listing, pawl_status status, struct pawl_error *error);

#endif
