/* names.c - the words by which people and the HTTP API know the enums of service.h.  Out-of-range values, which only a
 * damaged caller can pass, are "unknown". */
#include "pawl/service.h"

#include <string.h>

#include "base/error.h"
#include "service/check.h"

const char *pawl_instance_status_name(enum pawl_instance_status status)
{
    switch (status) {
    case PAWL_ACTIVE:
        return "active";
    case PAWL_WAITING:
        return "waiting";
    case PAWL_PAUSED:
        return "paused";
    case PAWL_COMPLETE:
        return "complete";
    case PAWL_TERMINATED:
        return "terminated";
    case PAWL_ERRORED:
        return "errored";
    }
    return "unknown";
}

pawl_status pawl_instance_status_parse(const char *name, enum pawl_instance_status *out_status,
                                       struct pawl_error *error)
{
    static const enum pawl_instance_status all[] = { PAWL_ACTIVE,   PAWL_WAITING,    PAWL_PAUSED,
                                                     PAWL_COMPLETE, PAWL_TERMINATED, PAWL_ERRORED };
    if (name == NULL || out_status == NULL)
        return pw_error(error, PAWL_INVALID, "%s is missing", name == NULL ? "name" : "out_status");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(pawl_instance_status_name(all[i]), name) == 0) {
            *out_status = all[i];
            return PAWL_OK;
        }
    }
    char buffer[PW_SHOWN_SIZE];
    return pw_error(error, PAWL_INVALID,
                    "\"%s\" is not an instance status; they are active, waiting, paused, complete, terminated, "
                    "errored",
                    pw_check_shown(pw_text_of(name), buffer));
}

const char *pawl_phase_name(enum pawl_phase phase)
{
    switch (phase) {
    case PAWL_PHASE_QUEUED:
        return "queued";
    case PAWL_PHASE_RUNNING:
        return "running";
    case PAWL_PHASE_WAITING_FOR_PAUSE:
        return "waitingForPause";
    case PAWL_PHASE_WAITING:
        return "waiting";
    case PAWL_PHASE_PAUSED:
        return "paused";
    case PAWL_PHASE_WAITING_FOR_REPAIR:
        return "waitingForRepair";
    case PAWL_PHASE_COMPLETE:
        return "complete";
    case PAWL_PHASE_TERMINATED:
        return "terminated";
    case PAWL_PHASE_ERRORED:
        return "errored";
    }
    return "unknown";
}

const char *pawl_demand_name(enum pawl_demand demand)
{
    switch (demand) {
    case PAWL_DEMAND_NONE:
        return "none";
    case PAWL_DEMAND_INTERRUPT:
        return "interrupt";
    case PAWL_DEMAND_ROLLBACK:
        return "rollback";
    case PAWL_DEMAND_TERMINATE:
        return "terminate";
    }
    return "unknown";
}

const char *pawl_step_kind_name(enum pawl_step_kind kind)
{
    switch (kind) {
    case PAWL_STEP_DO:
        return "do";
    case PAWL_STEP_SLEEP:
        return "sleep";
    case PAWL_STEP_EVENT:
        return "waitForEvent";
    case PAWL_STEP_FIRST:
        return "first";
    case PAWL_STEP_CALL:
        return "call";
    case PAWL_STEP_CHILD:
        return "child";
    case PAWL_STEP_DEFERRED:
        return "deferred";
    }
    return "unknown";
}

const char *pawl_step_status_name(enum pawl_step_status status)
{
    switch (status) {
    case PAWL_STEP_WAITING:
        return "waiting";
    case PAWL_STEP_COMPLETED:
        return "completed";
    case PAWL_STEP_ERRORED:
        return "errored";
    }
    return "unknown";
}

const char *pawl_step_state_name(enum pawl_step_state state)
{
    switch (state) {
    case PAWL_STATE_WAITING:
        return "waiting";
    case PAWL_STATE_COMPLETED:
        return "completed";
    case PAWL_STATE_FAILED:
        return "failed";
    case PAWL_STATE_ABANDONED:
        return "abandoned";
    case PAWL_STATE_GIVEN_UP:
        return "givenUp";
    }
    return "unknown";
}

const char *pawl_fork_kind_name(enum pawl_fork_kind kind)
{
    switch (kind) {
    case PAWL_FORK_NONE:
        return "none";
    case PAWL_FORK_ALL:
        return "all";
    case PAWL_FORK_FIRST:
        return "first";
    }
    return "unknown";
}

const char *pawl_log_level_name(enum pawl_log_level level)
{
    switch (level) {
    case PAWL_LOG_DEBUG:
        return "debug";
    case PAWL_LOG_INFO:
        return "info";
    case PAWL_LOG_WARN:
        return "warn";
    case PAWL_LOG_ERROR:
        return "error";
    }
    return "unknown";
}
