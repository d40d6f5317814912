/* hooks.h - durable hooks: a host is told what happened to instances, at least once, whatever crashes.
 *
 * Where hooks are registered, what they are to be told is recorded in the transaction that causes it, and delivered
 * after it, off the path of whoever caused it.  A delivery that fails is tried again, 5 attempts in all, with growing
 * delays; one that failed for good stays visible with its last error, and can be sent again.  Deliveries are claimed
 * under a lease: any process on the store that has registered a hook of the name may deliver, and one that dies in the
 * middle is followed by another, which counts as the next attempt.  So a hook may be told a thing twice: the delivery's
 * id is the same, to recognise it by.  Several are under way at once, so what happened first may be told later.
 *
 * Recording is done by the engines that have registered the hook.  Processes that share a store should all register it,
 * with a deliver function or without (then others deliver). */
#ifndef PAWL_HOOKS_H
#define PAWL_HOOKS_H

#include "service.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pawl_hook_event {
    PAWL_HOOK_ENQUEUED = 1, /* onWorkflowEnqueued: a run became due, or will be */
    PAWL_HOOK_FINISHED = 2  /* onInstanceFinished */
};
PAWL_API const char *pawl_hook_event_name(enum pawl_hook_event event); /* "onWorkflowEnqueued", "onInstanceFinished" */

/* What a hook is told.  Texts are borrowed for the call. */
struct pawl_delivery {
    const char *id; /* the same at every attempt */
    const char *hook;
    enum pawl_hook_event event;
    const char *workflow, *instance_id;
    int64_t run_number;
    /* Enqueued: {"workflowName", "instanceId", "runNumber", "reason": "create|event|resume|retry|wake", "dueAt"?}, where
     * dueAt, an ISO 8601 time, is there unless the run is due at once.
     * Finished: {"workflowName", "instanceId", "runNumber", "status": "complete|errored|terminated",
     * "error"?: {"name", "message"}}. */
    const char *payload_json;
    int64_t attempt; /* from 1 */
    int64_t attempts_max;
    int64_t created_at_ms;
};

/* PAWL_OK: delivered.  Anything else: tried again, and error->text is kept as the last error.  PAWL_NON_RETRYABLE: not
 * tried again. */
typedef pawl_status pawl_deliver_fn(const struct pawl_delivery *delivery, void *user, struct pawl_error *error);

struct pawl_hook {
    size_t struct_size;
    const char *name;         /* 1-64 of [a-zA-Z0-9_-], not starting with -; the deliveries' rows carry it */
    unsigned events;          /* pawl_hook_event, or-ed */
    pawl_deliver_fn *deliver; /* NULL: recorded here, delivered by another process */
    void *user;               /* borrowed until the engine is closed */
    int64_t attempts_max;     /* 0: 5 */
    int64_t delay_ms;         /* before the second attempt, doubled each time; 0: 1000 */
    int64_t lease_ms;         /* how long one attempt may take; 0: 60000; at least 100 */
};
#define PAWL_HOOK_INIT                                                                                                 \
    {                                                                                                                  \
        sizeof(struct pawl_hook), NULL, 0, NULL, NULL, 0, 0, 0                                                         \
    }

/* Before a runner starts.  Two of one name: PAWL_INVALID. */
PAWL_API pawl_status pawl_hook_register(pawl_engine *engine, const struct pawl_hook *hook,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Delivering ------------------------------------------------------------------------------------------------ */

typedef struct pawl_courier pawl_courier;

/* Starts threads that deliver what is due, as many deliveries at once as there are threads (0: 4).  Where there are several
 * hooks, none takes the last thread of another. */
PAWL_API pawl_status pawl_courier_start(pawl_engine *engine, int32_t threads, pawl_courier **out_courier,
                                        struct pawl_error *error) PAWL_MUST_CHECK;
/* Waits for deliveries under way; the rest stays for later.  NULL is fine.  Before pawl_close(), and not from a hook. */
PAWL_API void pawl_courier_stop(pawl_courier *courier);

/* Makes the attempts that are due now in the calling thread, at most max (0: 100).  out_delivered (or NULL): how many of
 * them succeeded.  out_next_at_ms (or NULL): when the next one is due, INT64_MAX: none. */
PAWL_API pawl_status pawl_hooks_tick(pawl_engine *engine, int64_t max, int64_t *out_delivered, int64_t *out_next_at_ms,
                                     struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Looking, and sending again -------------------------------------------------------------------------------- */

/* Delivered ones are deleted; failed ones stay until they are sent again, and delivered. */
enum pawl_delivery_status { PAWL_DELIVERY_PENDING, PAWL_DELIVERY_FAILED };
PAWL_API const char *pawl_delivery_status_name(enum pawl_delivery_status status); /* "pending", "failed" */

struct pawl_delivery_record {
    struct pawl_delivery delivery; /* attempt: how many were made */
    enum pawl_delivery_status status;
    int64_t next_attempt_at_ms; /* of one under way: if it is not heard of again; 0: none */
    const char *last_error;     /* or NULL */
};

struct pawl_delivery_list_options {
    size_t struct_size;
    bool has_status;
    enum pawl_delivery_status status;
    const char *hook;   /* NULL: of all hooks */
    int32_t page_size;  /* 1-100; 0: 25 */
    const char *cursor; /* as with pawl_list() */
};
#define PAWL_DELIVERY_LIST_OPTIONS_INIT                                                                                \
    {                                                                                                                  \
        sizeof(struct pawl_delivery_list_options), false, PAWL_DELIVERY_PENDING, NULL, 0, NULL                         \
    }

struct pawl_delivery_page {
    const struct pawl_delivery_record *deliveries;
    size_t count;
    const char *cursor; /* NULL: this was the last page */
};
/* Oldest first. */
PAWL_API pawl_status pawl_list_deliveries(pawl_engine *engine, pawl_scope *scope,
                                          const struct pawl_delivery_list_options *options,
                                          struct pawl_delivery_page *out_page,
                                          struct pawl_error *error) PAWL_MUST_CHECK;

/* Makes a delivery due now, with its attempts counted from the start; an attempt that is under way counts for nothing
 * then.  PAWL_DELIVERY_NOT_FOUND: it was delivered, or never was. */
PAWL_API pawl_status pawl_resend_delivery(pawl_engine *engine, const char *id,
                                          struct pawl_error *error) PAWL_MUST_CHECK;
/* The same without waiting: see service.h. */
PAWL_API void pawl_resend_delivery_async(pawl_engine *engine, const char *id, struct pawl_error *error,
                                         pawl_answered_fn *answered, void *user);

#ifdef __cplusplus
}
#endif
#endif
