/* limits.h - every limit, and the relations between them. */
#ifndef PW_BASE_LIMITS_H
#define PW_BASE_LIMITS_H

#include <assert.h>
#include <stdint.h>

#define PW_DAY_MS (INT64_C(24) * 60 * 60 * 1000)
#define PW_DELAY_MS_MAX (365 * PW_DAY_MS)
#define PW_EVENT_TIMEOUT_MS_MIN INT64_C(1000)
#define PW_EVENT_TIMEOUT_MS_DEFAULT PW_DAY_MS
/* Times are kept within what ISO 8601 writes with four digits of a year. */
#define PW_TIME_MS_MAX INT64_C(253402300799999)

enum {
    PW_WORKFLOW_NAME_MAX = 64,
    PW_VERSION_MAX = 64,
    PW_INSTANCE_ID_MAX = 100,
    PW_EVENT_TYPE_MAX = 100,
    PW_EVENT_ID_MAX = 100,
    PW_STEP_NAME_MAX = 256,
    PW_DESCRIPTION_MAX = 1024,
    PW_FUNCTION_NAME_MAX = 63,
    PW_LOG_MESSAGE_MAX = 2048,
    PW_LOG_CATEGORY_MAX = 64,
    PW_ERROR_NAME_MAX = 256,
    PW_ERROR_MESSAGE_MAX = 8192,
    PW_JSON_DEPTH_MAX = 128,
    PW_STEPS_MAX_DEFAULT = 1024,
    PW_WAITS_MAX_DEFAULT = 16384,
    PW_PAYLOAD_BYTES_MAX_DEFAULT = 1024 * 1024,
    PW_UNREAD_EVENTS_MAX_DEFAULT = 10000,
    PW_BATCH_CREATE_MAX = 100,
    PW_PAGE_SIZE_MAX = 100,
    PW_PAGE_SIZE_DEFAULT = 25,
    PW_PAGE_BYTES_DEFAULT = 4 * 1024 * 1024,
    PW_UNITS_PER_COMMIT_MAX = 1024,
    PW_QUEUE_UNITS_MAX = 16384, /* that wait in one queue of the committer */
    PW_QUEUE_BYTES_MAX = 64 * 1024 * 1024,
    PW_TURN_UNDURABLE_MAX = 256, /* boundaries of a turn */
    PW_REPEATS_MAX = 1000000,    /* calls of steps that the code has called before, without returning in between */
    PW_CONFLICT_RETRIES_MAX = 100,
    PW_BRANCHES_MAX = 10000,
    PW_WORKERS_DEFAULT = 8,
    PW_WORKERS_MAX = 1024,
    PW_IN_FLIGHT_DEFAULT = 256,
    PW_LEASE_MS_DEFAULT = 30000,
    PW_LEASE_MS_MIN = 100,
    PW_POLL_MS_DEFAULT = 200,
    PW_CODE_MS_DEFAULT = 60000, /* workflow code between two durable calls */
    PW_BLOCKED_DEFAULT = 64,    /* threads that such code and late bodies may keep */
    PW_LOOK_AT_JOB_MS = 60000,
    PW_LOOK_AGAIN_MS = 1000, /* at what another process may have changed */
    PW_BUSY_MS_DEFAULT = 10000,
    PW_TURN_BYTES_MAX = 4 * 1024 * 1024,
    PW_CACHE_BYTES_DEFAULT = 16 * 1024 * 1024,
};

static_assert(PW_UNITS_PER_COMMIT_MAX >= PW_IN_FLIGHT_DEFAULT,
              "one commit can carry a boundary of every run in flight");
static_assert(PW_QUEUE_UNITS_MAX > PW_UNITS_PER_COMMIT_MAX, "while one batch is applied the next can form");

/* How the names of steps that undo others begin; no other step's may. */
#define PW_UNDOING "compensate: "

#endif
