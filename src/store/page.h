/* page.h - where a page of rows begins, which rows it is made of, and where it ends: by the number of rows, or by the bytes of
 * their payloads. */
#ifndef PW_STORE_PAGE_H
#define PW_STORE_PAGE_H

#include "store/store.h"

/* What comes before the first row: after 0 means from the start, which lies at either end. */
static inline int64_t pw_page_start(int64_t after, bool ascending)
{
    return after == 0 && !ascending ? INT64_MAX : after;
}

/* Has a list of `count` rows, with so many bytes of payloads, reached its bound? */
static inline bool pw_page_is_full(size_t count, size_t bytes, size_t bytes_max)
{
    return bytes_max > 0 && count > 1 && bytes > bytes_max;
}

/* How many of the rows that were read are a page of at most page_size rows and bytes_max bytes of payloads (0: any number),
 * but of one row at least; and how many bytes it has. */
size_t pw_page_count(const void *rows, size_t row_size, size_t count, pw_row_bytes_fn *bytes_of, size_t page_size,
                     size_t bytes_max, size_t *out_bytes);

#endif
