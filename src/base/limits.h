/* limits.h - the library's own limits, and the relations between them.  Limits that programs also need are in
 * common/limits.h. */
#ifndef PW_BASE_LIMITS_H
#define PW_BASE_LIMITS_H

#include <assert.h>
#include <stdint.h>

#include "common/limits.h"

#define PW_DELAY_MS_MAX (365 * PW_DAY_MS)
#define PW_EVENT_TIMEOUT_MS_MIN INT64_C(1000)
#define PW_EVENT_TIMEOUT_MS_DEFAULT PW_DAY_MS

enum {
    PW_DESCRIPTION_MAX = 1024,
    PW_LOG_MESSAGE_MAX = 2048,
    PW_LOG_CATEGORY_MAX = 64,
    PW_ERROR_NAME_MAX = 256,
    PW_ERROR_MESSAGE_MAX = 8192,
    PW_STEPS_MAX_DEFAULT = 1024,
    PW_WAITS_MAX_DEFAULT = 16384,
    PW_PAYLOAD_BYTES_MAX_DEFAULT = 1024 * 1024,
    PW_UNREAD_EVENTS_MAX_DEFAULT = 10000,
    PW_PAGE_BYTES_DEFAULT = 4 * 1024 * 1024,
    PW_UNITS_PER_COMMIT_MAX = 1024,
    PW_QUEUE_UNITS_MAX = 16384, /* units that wait in one queue of the committer */
    PW_QUEUE_BYTES_MAX = 64 * 1024 * 1024,
    PW_TURN_UNDURABLE_MAX = 256, /* step boundaries of a turn that are not durable yet */
    PW_REPEATS_MAX = 1000000,    /* calls of steps that the code has already called in the same pass */
    PW_CONFLICT_RETRIES_MAX = 100,
    PW_BRANCHES_MAX = 10000,
    PW_LEASE_MS_DEFAULT = 30000,
    PW_LEASE_MS_MIN = 100,
    PW_POLL_MS_DEFAULT = 200,
    PW_LOOK_AT_JOB_MS = 60000,
    PW_LOOK_AGAIN_MS = 1000, /* how often to look for changes by other processes */
    PW_BUSY_MS_DEFAULT = 10000,
    PW_TURN_BYTES_MAX = 4 * 1024 * 1024,
    PW_CACHE_BYTES_DEFAULT = 16 * 1024 * 1024,
};

static_assert((int)PW_UNITS_PER_COMMIT_MAX >= (int)PW_IN_FLIGHT_DEFAULT,
              "one commit can carry a boundary of every run in flight");
static_assert(PW_QUEUE_UNITS_MAX > PW_UNITS_PER_COMMIT_MAX, "while one batch is applied the next can form");

/* The prefix of the names of compensations.  No other step's name may begin with it. */
#define PW_UNDOING "compensate: "

#endif
