/* hooks.h - durable hooks: they tell a host what happened to instances, at least once, even across crashes.
 *
 * If hooks are registered, each transaction that makes a run due or ends one also records a delivery for each hook
 * that wants it.  Deliveries are made after the commit, in other threads.  A failed delivery is tried again, 5
 * attempts in all, with growing delays.  One that failed for good stays visible with its last error and can be sent
 * again.
 *
 * Deliveries are claimed under a lease.  Any process on the store that has registered a hook of that name may
 * deliver.  If it dies in the middle, another process makes the next attempt.  So a hook may be called twice for the
 * same delivery; both calls carry the same id.  Several deliveries are under way at once, so they may arrive out of
 * order.
 *
 * Deliveries are recorded by the engines that have registered the hook.  Processes that share a store should all
 * register it, with a deliver function, or without one if other processes deliver. */
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

/* One delivery to a hook.  Texts are borrowed for the call. */
struct pawl_delivery {
    const char *id; /* the same at every attempt */
    const char *hook;
    enum pawl_hook_event event;
    const char *workflow, *instance_id;
    int64_t run_number;
    /* Enqueued: {"workflowName", "instanceId", "runNumber", "reason": "create|event|resume|retry|wake", "dueAt"?}.
     * dueAt is an ISO 8601 time, left out if the run is due at once.
     *
     * Finished: {"workflowName", "instanceId", "runNumber", "status": "complete|errored|terminated", "error"?:
     * {"name", "message"}}. */
    const char *payload_json;
    int64_t attempt; /* from 1 */
    int64_t attempts_max;
    int64_t created_at_ms;
};

/* PAWL_OK: delivered.  PAWL_NON_RETRYABLE: failed for good.  Anything else: it is tried again.  A failure's
 * error->text is kept as the last error. */
typedef pawl_status pawl_deliver_fn(const struct pawl_delivery *delivery, void *user, struct pawl_error *error);

struct pawl_hook {
    size_t struct_size;
    const char *name;         /* 1-64 of [a-zA-Z0-9_-], not starting with -; stored with each delivery */
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

/* Registers a hook.  Call it before a runner starts.  PAWL_INVALID: the name is registered already. */
PAWL_API pawl_status pawl_hook_register(pawl_engine *engine, const struct pawl_hook *hook,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Delivering ------------------------------------------------------------------------------------------------ */

typedef struct pawl_courier pawl_courier;

/* Starts threads that make due deliveries, one each at a time (threads 0: 4).  If there are several hooks, each
 * leaves one thread to every other hook, so that a slow hook does not block the others. */
PAWL_API pawl_status pawl_courier_start(pawl_engine *engine, int32_t threads, pawl_courier **out_courier,
                                        struct pawl_error *error) PAWL_MUST_CHECK;
/* Waits for deliveries under way and leaves the rest for later.  NULL is fine.  Call it before pawl_close(), and not
 * from a hook. */
PAWL_API void pawl_courier_stop(pawl_courier *courier);

/* Makes the attempts that are due now, in the calling thread, at most max (0: 100).  out_delivered (or NULL): how
 * many succeeded. out_next_at_ms (or NULL): when the next attempt is due, INT64_MAX if none is. */
PAWL_API pawl_status pawl_hooks_tick(pawl_engine *engine, int64_t max, int64_t *out_delivered, int64_t *out_next_at_ms,
                                     struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Listing, and sending again -------------------------------------------------------------------------------- */

/* Successful deliveries are deleted.  Failed ones stay until they are sent again and succeed. */
enum pawl_delivery_status { PAWL_DELIVERY_PENDING, PAWL_DELIVERY_FAILED };
PAWL_API const char *pawl_delivery_status_name(enum pawl_delivery_status status); /* "pending", "failed" */

struct pawl_delivery_record {
    struct pawl_delivery delivery; /* attempt: how many were made */
    enum pawl_delivery_status status;
    int64_t next_attempt_at_ms; /* if an attempt is under way: when it is given up for lost; 0: none */
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
/* Lists deliveries, oldest first. */
PAWL_API pawl_status pawl_list_deliveries(pawl_engine *engine, pawl_scope *scope,
                                          const struct pawl_delivery_list_options *options,
                                          struct pawl_delivery_page *out_page,
                                          struct pawl_error *error) PAWL_MUST_CHECK;

/* Makes a delivery due now and resets its attempts.  The result of an attempt under way is then ignored.
 * PAWL_DELIVERY_NOT_FOUND: it was delivered, or never existed. */
PAWL_API pawl_status pawl_resend_delivery(pawl_engine *engine, const char *id,
                                          struct pawl_error *error) PAWL_MUST_CHECK;
/* As pawl_resend_delivery(), without waiting: see service.h. */
PAWL_API void pawl_resend_delivery_async(pawl_engine *engine, const char *id, struct pawl_error *error,
                                         pawl_answered_fn *answered, void *user);

#ifdef __cplusplus
}
#endif
#endif
