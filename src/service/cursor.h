/* cursor.h - where a page ended, as opaque text.
 *
 * A cursor holds the number of the last row given out, not a count, so pages are stable under inserts.  It also holds a hash of
 * the filters that it was made with, so that it is refused with other filters instead of giving a wrong page.  It guards against
 * mistakes, not against forgery: a forged cursor can only start elsewhere in what its user may read anyway. */
#ifndef PW_SERVICE_CURSOR_H
#define PW_SERVICE_CURSOR_H

#include <stdint.h>

#include "common/text.h"
#include "pawl/value.h"
#include "store/store.h"

/* Part of the cursor's text: never renumber. */
enum pw_cursor_kind {
    PW_CURSOR_INSTANCES = 1,
    PW_CURSOR_STEPS = 2,
    PW_CURSOR_EVENTS = 3,
    PW_CURSOR_LOGS = 4,
    PW_CURSOR_DELIVERIES = 5
};

/* A hash of a listing's filters.  Starts at zero.  Add every filter, always in the same order. */
struct pw_cursor_filter {
    uint64_t hash;
};
void pw_cursor_filter_text(struct pw_cursor_filter *filter, struct pw_text text); /* absent differs from empty */
void pw_cursor_filter_number(struct pw_cursor_filter *filter, int64_t number);

/* The cursor after the row at `position`, in the scope.  NULL when memory runs out. */
const char *pw_cursor_write(pawl_scope *scope, enum pw_cursor_kind kind, struct pw_cursor_filter filter,
                            int64_t position);

/* text NULL: position 0, the first page.  PAWL_INVALID_CURSOR if pw_cursor_write() did not write it, or wrote it for another
 * kind or with other filters.  `name` names the cursor in the error. */
pawl_status pw_cursor_read(const char *text, const char *name, enum pw_cursor_kind kind, struct pw_cursor_filter filter,
                           int64_t *out_position, struct pawl_error *error) PAWL_MUST_CHECK;

#endif
