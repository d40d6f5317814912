/* listing.c - see listing.h. */
#include "service/listing.h"

#include <assert.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/page.h"
#include "value/value.h"

pawl_status pw_listing_begin(struct pw_listing *listing, int32_t page_size, int64_t bytes_max, enum pawl_order order,
                             struct pawl_error *error)
{
    if (page_size < 0 || page_size > PW_PAGE_SIZE_MAX)
        return pw_error(error, PAWL_INVALID, "page size %d is out of range; it is 1 to %d, or 0 for %d", (int)page_size,
                        PW_PAGE_SIZE_MAX, PW_PAGE_SIZE_DEFAULT);
    if (bytes_max < 0)
        return pw_error(error, PAWL_INVALID, "the page's bytes are a positive number, or 0 for the default; not %lld",
                        (long long)bytes_max);
    if (order != PAWL_NEWEST_FIRST && order != PAWL_OLDEST_FIRST)
        return pw_error(error, PAWL_INVALID, "order %d is neither newest first nor oldest first", (int)order);
    listing->max = (page_size == 0 ? PW_PAGE_SIZE_DEFAULT : (size_t)page_size) + 1;
    listing->bytes_max = bytes_max == 0 ? PW_PAGE_BYTES_DEFAULT : (size_t)bytes_max;
    return PAWL_OK;
}

static_assert(offsetof(struct pw_instance, key) == 0 && offsetof(struct pw_earlier_run, run) == 0 &&
                  offsetof(struct pw_step_row, seq) == 0 && offsetof(struct pw_event_row, seq) == 0 &&
                  offsetof(struct pw_log_row, seq) == 0 && offsetof(struct pw_hook_row, key) == 0,
              "every row that is listed begins with its number");

void *pw_listing_cut(struct pw_listing *listing, const void *rows, size_t row_size, pw_row_bytes_fn *bytes_of,
                     size_t *count, size_t record_size, const char **out_cursor)
{
    size_t read = *count, given = 0, bytes = 0;
    const char *row = rows;
    for (; given < read && given + 1 < listing->max; given++, row += row_size) {
        size_t more = bytes_of != NULL ? bytes_of(row) : 0;
        if (pw_page_is_full(given + 1, bytes + more, listing->bytes_max))
            break;
        bytes += more;
    }
    listing->bytes_max = bytes < listing->bytes_max ? listing->bytes_max - bytes : 1;
    *count = given;
    *out_cursor = NULL;
    if (given < read) {
        int64_t last;
        memcpy(&last, row - row_size, sizeof last);
        *out_cursor = pw_cursor_write(listing->scope, listing->kind, listing->filter, last);
        if (*out_cursor == NULL)
            return NULL;
    }
    return pw_scope_take(listing->scope, given * record_size + 1); /* not NULL for none */
}

pawl_status pw_listing_end(struct pw_listing *listing, pawl_status status, struct pawl_error *error)
{
    pw_arena_clear(&listing->arena);
    return status == PAWL_NOMEM ? pw_error_plain(error, status) : status;
}
