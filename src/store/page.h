/* page.h - where a page of rows begins, and where it ends because of the size of its payloads. */
#ifndef PW_STORE_PAGE_H
#define PW_STORE_PAGE_H

#include "store/store.h"

/* The position before the first row.  after 0 means from the start, which is at either end. */
static inline int64_t pw_page_start(int64_t after, bool ascending)
{
    return after == 0 && !ascending ? INT64_MAX : after;
}

/* Statements for pages come in pairs: oldest rows first, then newest first.  Those of instances are in the order of
 * the filters.  Those of hooks are for any status, pending and failed, first for all hooks and then for one. */
static inline unsigned pw_page_query(unsigned oldest, bool newest_first)
{
    return newest_first ? oldest + 1 : oldest;
}

static inline unsigned pw_hooks_query(unsigned all, const struct pw_hook_query *query)
{
    unsigned of_status = !query->has_status ? 0 : query->status == PAWL_DELIVERY_FAILED ? 2 : 1;
    return all + of_status + (query->hook.data != NULL ? 3 : 0);
}

/* True if a list of `count` rows, with so many bytes of payloads, has reached its limit. */
static inline bool pw_page_is_full(size_t count, size_t bytes, size_t bytes_max)
{
    return bytes_max > 0 && count > 1 && bytes > bytes_max;
}

#endif
