/* hooking.h - what hooks are told, as text that a test can compare: "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z,
 * i/1 finished complete". */
#ifndef TESTS_HOOKING_H
#define TESTS_HOOKING_H

#include "pawl/pawl.h"

enum { HOOKING_TEXT = 8192 };

/* Lists all pending and failed deliveries of that hook (NULL: of all hooks), oldest first.  Valid until the next
 * call. */
const char *hooking_recorded(pawl_engine *engine, const char *hook);

/* The user of a hook: records its deliveries and says how to answer them. */
struct hearing {
    char heard[HOOKING_TEXT]; /* in the format above */
    int calls;
    int64_t attempt, attempts_max, created_at_ms; /* of the newest delivery, like the next two */
    char id[64], payload[512];
    int failures;       /* how many more deliveries fail */
    pawl_status answer; /* the status of these failures */
    const char *says;   /* their error text; NULL: none */
    /* Called during each delivery, or NULL. */
    void (*meanwhile)(struct hearing *hearing);
    void *user;
};
pawl_deliver_fn hearing_deliver;

/* Returns a hook for both events that `hearing` records. hearing NULL: the deliveries are only stored. */
struct pawl_hook hooking_hook(const char *name, struct hearing *hearing);

#endif
