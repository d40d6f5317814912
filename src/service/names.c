/* names.c - the names of the enum values of service.h and hooks.h, as people and the HTTP API see them. */
#include <string.h>

#include "base/error.h"
#include "pawl/hooks.h"
#include "service/check.h"

/* Names are in the order of the enum.  The last value is given so that no name can be missing.  A value out of
 * range, which only a broken caller passes, is "unknown". */
#define NAMES(function, type, last, ...)                                                                               \
    const char *function(enum type value)                                                                              \
    {                                                                                                                  \
        static const char *const names[] = { __VA_ARGS__ };                                                            \
        _Static_assert(sizeof names / sizeof names[0] == (size_t)(last) + 1, "a name for each value");                 \
        return (unsigned)value <= (unsigned)(last) ? names[value] : "unknown";                                         \
    }

NAMES(pawl_instance_status_name, pawl_instance_status, PAWL_ERRORED, "active", "waiting", "paused", "complete",
      "terminated", "errored")
NAMES(pawl_phase_name, pawl_phase, PAWL_PHASE_ERRORED, "queued", "running", "waitingForPause", "waiting", "paused",
      "waitingForRepair", "complete", "terminated", "errored")
NAMES(pawl_demand_name, pawl_demand, PAWL_DEMAND_TERMINATE, "none", "interrupt", "rollback", "terminate")
NAMES(pawl_step_kind_name, pawl_step_kind, PAWL_STEP_DEFERRED, "do", "sleep", "waitForEvent", "first", "call", "child",
      "deferred")
NAMES(pawl_step_status_name, pawl_step_status, PAWL_STEP_ERRORED, "waiting", "completed", "errored")
NAMES(pawl_step_state_name, pawl_step_state, PAWL_STATE_GIVEN_UP, "waiting", "completed", "failed", "abandoned",
      "givenUp")
NAMES(pawl_fork_kind_name, pawl_fork_kind, PAWL_FORK_FIRST, "none", "all", "first")
NAMES(pawl_why_kind_name, pawl_why_kind, PAWL_WHY_FAILED, "complete", "terminated", "errored", "running",
      "waitingForPause", "lost", "queued", "unserved", "paused", "waitingForRepair", "all", "first", "sleeping",
      "waitingForEvent", "waitingForWorker", "waitingForChild", "waitingForDeferred", "waitingForRetry", "beginning",
      "failed")
NAMES(pawl_verb_name, pawl_verb, PAWL_VERB_WATCH, "none", "send-event", "succeed", "claim", "resume", "retry",
      "restart", "tick", "why", "watch")
NAMES(pawl_log_level_name, pawl_log_level, PAWL_LOG_ERROR, "debug", "info", "warn", "error")
NAMES(pawl_delivery_status_name, pawl_delivery_status, PAWL_DELIVERY_FAILED, "pending", "failed")

pawl_status pawl_instance_status_parse(const char *name, enum pawl_instance_status *out_status,
                                       struct pawl_error *error)
{
    if (name == NULL || out_status == NULL)
        return pw_error(error, PAWL_INVALID, "%s is missing", name == NULL ? "name" : "out_status");
    for (int status = 0; status <= PAWL_ERRORED; status++) {
        if (strcmp(pawl_instance_status_name((enum pawl_instance_status)status), name) == 0) {
            *out_status = (enum pawl_instance_status)status;
            return PAWL_OK;
        }
    }
    char buffer[PW_SHOWN_SIZE];
    return pw_error(error, PAWL_INVALID,
                    "\"%s\" is not an instance status; they are active, waiting, paused, complete, terminated, "
                    "errored",
                    pw_check_shown(pw_text_of(name), buffer));
}
