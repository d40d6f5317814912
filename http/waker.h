/* waker.h - wakes what sleeps in a thread: those who have news, and those whose time has come.
 *
 * A connection sleeps while its call waits: libmicrohttpd has put it aside, and no thread is held.  News come from the
 * engine's threads, with locks held there, so telling takes none; it is one atomic operation, and a system call only when
 * nobody was told anything since the thread last looked.
 *
 * Rules:
 *  1. The thread calls pw_sleeper_begin(), then asks the call, then lets it sleep.  News that come in between keep it from
 *     sleeping.
 *  2. A sleeper that sleeps is woken once, by its thread.
 *  3. A sleeper may go once it is awake and nobody can tell it anything any more. */
#ifndef HTTP_WAKER_H
#define HTTP_WAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pawl/engine.h"

/* All zero is awake. */
struct pw_sleeper {
    _Atomic unsigned state;
    struct pw_sleeper *next_told;
    struct pw_sleeper *previous, *next; /* among those with a time */
    int64_t wake_at_ms;                 /* 0: has none */
};

struct pw_waker {
    pawl_engine *engine; /* whose time counts */
    void (*wake)(struct pw_sleeper *sleeper);
    int signal_fd; /* readable: somebody was told something */
    _Atomic(struct pw_sleeper *) told;
    struct pw_sleeper *timed;
    int64_t wake_at_ms; /* of the first of them, or earlier; INT64_MAX: none has a time */
    int64_t seen_ms;    /* what the clock showed last */
    size_t sleeping;    /* how many were put to sleep and not woken since */
};

/* False when the system refuses. */
bool pw_waker_init(struct pw_waker *waker, pawl_engine *engine, void (*wake)(struct pw_sleeper *sleeper));
void pw_waker_clear(struct pw_waker *waker);

/* ---- From any thread ---- */

void pw_waker_tell(struct pw_waker *waker, struct pw_sleeper *sleeper); /* there is news */
void pw_waker_signal(struct pw_waker *waker);                           /* look, for other reasons */

/* ---- The thread's own ---- */

void pw_sleeper_begin(struct pw_sleeper *sleeper);
/* Until something is told, or wake_at_ms (INT64_MAX: not before).  False: there was news since the beginning; it does not
 * sleep. */
bool pw_waker_sleep(struct pw_waker *waker, struct pw_sleeper *sleeper, int64_t wake_at_ms);
/* Wakes everybody who is to be woken.  is_signalled: signal_fd was found readable. */
void pw_waker_pass(struct pw_waker *waker, bool is_signalled);
/* Wakes this one, if it sleeps. */
void pw_waker_rouse(struct pw_waker *waker, struct pw_sleeper *sleeper);
/* In how many milliseconds to pass again, when signal_fd stays silent; -1: not at all. */
int pw_waker_due_ms(const struct pw_waker *waker);

#endif
