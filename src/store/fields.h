/* fields.h - what a number that was read from a row is taken for.  A damaged row, or one that somebody changed by hand,
 * must not carry anything into the engine that it cannot have written itself. */
#ifndef PW_STORE_FIELDS_H
#define PW_STORE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

#define PW_COUNT_MAX (INT64_C(1) << 53)

/* A number that is only ever counted up from 0; what no count can have reached is cut to PW_COUNT_MAX. */
static inline int64_t pw_count_of(int64_t number)
{
    return number < 0 ? 0 : number < PW_COUNT_MAX ? number : PW_COUNT_MAX;
}

/* Milliseconds since 1970, within 0 and PW_TIME_MS_MAX: beyond both there is no time. */
static inline int64_t pw_time_of(int64_t number)
{
    return number < 0 ? 0 : number < PW_TIME_MS_MAX ? number : PW_TIME_MS_MAX;
}

/* May a row be found by this number? */
static inline bool pw_is_place(int64_t number)
{
    return number >= 1 && number <= PW_COUNT_MAX;
}

#endif
