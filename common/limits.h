/* limits.h - limits and defaults that the library keeps and that programs check or show as well. */
#ifndef PW_COMMON_LIMITS_H
#define PW_COMMON_LIMITS_H

#include <stdint.h>

#define PW_DAY_MS (INT64_C(24) * 60 * 60 * 1000)
/* Times are kept within what ISO 8601 writes with four digits of a year. */
#define PW_TIME_MS_MAX INT64_C(253402300799999)

enum {
    PW_WORKFLOW_NAME_MAX = 64,
    PW_VERSION_MAX = 64,
    PW_INSTANCE_ID_MAX = 100,
    PW_EVENT_TYPE_MAX = 100,
    PW_EVENT_ID_MAX = 100,
    PW_STEP_NAME_MAX = 256,
    PW_FUNCTION_NAME_MAX = 63,
    PW_JSON_DEPTH_MAX = 128,
    PW_BATCH_CREATE_MAX = 100,
    PW_PAGE_SIZE_MAX = 100,
    PW_PAGE_SIZE_DEFAULT = 25,
    PW_WORKERS_DEFAULT = 8,
    PW_WORKERS_MAX = 1024,
    PW_IN_FLIGHT_DEFAULT = 256,
    PW_JOB_CLAIM_MAX = 100,
    PW_JOB_FUNCTIONS_MAX = 64,
    PW_JOB_LEASE_MS_DEFAULT = 30 * 1000,
    PW_JOB_LEASE_MS_MIN = 1000,
    PW_JOB_LEASE_MS_MAX = 60 * 60 * 1000,
    PW_CODE_MS_DEFAULT = 60000, /* workflow code between two durable calls */
    PW_BLOCKED_DEFAULT = 64,    /* threads that such code and late bodies may keep */
};

#endif
