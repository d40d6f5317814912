/* hooking.h - what hooks are told, in words that a test can compare: "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z,
 * i/1 finished complete". */
#ifndef TESTS_HOOKING_H
#define TESTS_HOOKING_H

#include "pawl/pawl.h"

enum { HOOKING_TEXT = 8192 };

/* Everything that waits or has failed, oldest first, of that hook (NULL: of all).  Valid until the next call. */
const char *hooking_recorded(pawl_engine *engine, const char *hook);

/* A hook's user, and what it says. */
struct hearing {
    char heard[HOOKING_TEXT]; /* as above */
    int calls;
    int64_t attempt, attempts_max, created_at_ms; /* of the newest, as are the next two */
    char id[64], payload[512];
    int failures;       /* how many more times it fails */
    pawl_status answer; /* with what */
    const char *says;   /* and why; NULL: not said */
    /* Or NULL: called while it is delivered. */
    void (*meanwhile)(struct hearing *hearing);
    void *user;
};
pawl_deliver_fn hearing_deliver;

/* A hook of both events, heard by `hearing` (NULL: only recorded). */
struct pawl_hook hooking_hook(const char *name, struct hearing *hearing);

#endif
