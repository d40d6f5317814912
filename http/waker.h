/* waker.h - wakes a thread's sleepers when they have news or their time has come.
 *
 * A connection sleeps while its call waits: libmicrohttpd has suspended it, and it holds no thread.  News comes from
 * the engine's threads, which hold locks, so telling a sleeper takes no lock.  It is one atomic operation, plus a
 * system call if nothing was told since the thread last looked.
 *
 * Rules:
 *  1. The thread calls pw_sleeper_begin(), then asks the call, then lets the sleeper sleep.  News in between keeps it
 *     awake.
 *  2. A sleeper that sleeps is woken once, by its own thread.
 *  3. A sleeper may be freed once it is awake and no other thread can tell it anything. */
#ifndef HTTP_WAKER_H
#define HTTP_WAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pawl/engine.h"

/* All zero means awake. */
struct pw_sleeper {
    _Atomic unsigned state;
    struct pw_sleeper *next_told;
    struct pw_sleeper *previous, *next; /* in the list of sleepers with a time */
    int64_t wake_at_ms;                 /* 0: no time */
};

struct pw_waker {
    pawl_engine *engine; /* its clock counts */
    void (*wake)(struct pw_sleeper *sleeper);
    int signal_fd; /* readable: there is news, or a signal */
    _Atomic(struct pw_sleeper *) told;
    struct pw_sleeper *timed;
    int64_t wake_at_ms; /* the earliest time in `timed`, or earlier; INT64_MAX: none has a time */
    int64_t seen_ms;    /* the last time seen, to notice a clock that is set back */
    size_t sleeping;    /* how many sleep */
};

/* Returns false if the system refuses. */
bool pw_waker_init(struct pw_waker *waker, pawl_engine *engine, void (*wake)(struct pw_sleeper *sleeper));
void pw_waker_clear(struct pw_waker *waker);

/* ---- From any thread ---- */

void pw_waker_tell(struct pw_waker *waker, struct pw_sleeper *sleeper); /* the sleeper has news */
void pw_waker_signal(struct pw_waker *waker);                           /* wakes the thread itself */

/* ---- The thread's own ---- */

void pw_sleeper_begin(struct pw_sleeper *sleeper);
/* Sleeps until there is news, or until wake_at_ms (INT64_MAX: no limit).  Returns false, without sleeping, if there
 * was news since pw_sleeper_begin(). */
bool pw_waker_sleep(struct pw_waker *waker, struct pw_sleeper *sleeper, int64_t wake_at_ms);
/* Wakes all sleepers that have news or are due. is_signalled: signal_fd was readable. */
void pw_waker_pass(struct pw_waker *waker, bool is_signalled);
/* Wakes this sleeper if it sleeps. */
void pw_waker_rouse(struct pw_waker *waker, struct pw_sleeper *sleeper);
/* In how many milliseconds to call pw_waker_pass() again if signal_fd stays silent; -1: no limit. */
int pw_waker_due_ms(const struct pw_waker *waker);

#endif
