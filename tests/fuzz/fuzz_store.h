/* fuzz_store.h - a store for the targets that damage one: an engine with simulated time, the workflow "w" that uses every
 * kind of durable call that needs nobody else, "linked" that uses the others, and ways to ask it everything and to carry it to its end.
 *
 * Steps of "w" in their order: a (do), b (sleep), c (event "go"), d (do) beside e (sleep), the first, named f, of g
 * (event "stop") and h (sleep), and i (do), which fails for good after three attempts. */
#ifndef TESTS_FUZZ_FUZZ_STORE_H
#define TESTS_FUZZ_FUZZ_STORE_H

#include <sqlite3.h>

#include "fuzz.h"
#include "pawl/pawl.h"

#define FUZZ_START_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00.000Z */

struct fuzz_store {
    pawl_engine *engine;
    sqlite3 *db; /* the engine's own connection */
    int64_t now_ms, saved_ms;
};

/* PAWL_OK, or why there is none: the file may be damaged. */
pawl_status fuzz_store_open(struct fuzz_store *store, const char *url);
void fuzz_store_close(struct fuzz_store *store);

/* Instances 1 to 6: new, asleep, waiting for an event, in the race, paused, complete; with steps, events and logs. */
void fuzz_store_populate(struct fuzz_store *store);

/* The one that a target keeps for all of its inputs: in memory, populated. */
struct fuzz_store *fuzz_store_shared(void);

/* Instances 7 to 9: one of "linked", with a step s (do) that can be undone, and what it waits for at once: t (deferred), u
 * (call of a worker outside), v (call of a function here, in a minute), k (child); the job of u, and the child. */
void fuzz_store_populate_linked(struct fuzz_store *store);

/* Rows and time as they are now, to go back to as often as one likes. */
void fuzz_store_save(struct fuzz_store *store);
void fuzz_store_restore(struct fuzz_store *store);

/* Lists, gets, histories.  Any answer will do, as long as there is one. */
void fuzz_store_read_all(struct fuzz_store *store);
void fuzz_store_read_linked(struct fuzz_store *store);
/* An operation of the service on each instance, chosen by number; the last two are a worker's. */
enum { FUZZ_CONTROLS = 12 };
void fuzz_store_control(struct fuzz_store *store, size_t which);
/* Ticks, moving the clock to what is due next, at most that often.  True: nothing is due any more, or the
 * damage was found. */
bool fuzz_store_run(struct fuzz_store *store, int rounds);

#endif
