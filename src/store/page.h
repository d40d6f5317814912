/* page.h - where a page of rows ends: by the number of rows, or by the bytes of their payloads. */
#ifndef PW_STORE_PAGE_H
#define PW_STORE_PAGE_H

#include "store/store.h"

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
