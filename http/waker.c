/* waker.c - see waker.h.
 *
 * A sleeper's state is two bits, so that telling is one atomic operation.  The thread that sets TOLD on a sleeper
 * that was only ASLEEP adds it to the list `told`.  No other thread can do that until the sleeper was woken and has
 * begun anew. */
#include "http/waker.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { ASLEEP = 1, TOLD = 2 };

/* Times are rounded up to this, so that close ones are handled together. */
enum { GRAIN_MS = 16 };
/* The engine's clock may be simulated and move without notice, so it is checked this often. */
enum { LOOK_AT_CLOCK_MS = 100 };

bool pw_waker_init(struct pw_waker *waker, pawl_engine *engine, void (*wake)(struct pw_sleeper *sleeper))
{
    *waker = (struct pw_waker){ .engine = engine, .wake = wake, .wake_at_ms = INT64_MAX };
    waker->signal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return waker->signal_fd >= 0;
}

void pw_waker_clear(struct pw_waker *waker)
{
    close(waker->signal_fd);
}

/* ---- Telling ------------------------------------------------------------------------------------------------------- */

void pw_waker_signal(struct pw_waker *waker)
{
    uint64_t one = 1;
    ssize_t written = write(waker->signal_fd, &one, sizeof one);
    (void)written; /* it only fails if signal_fd is readable anyway */
}

void pw_waker_tell(struct pw_waker *waker, struct pw_sleeper *sleeper)
{
    if (atomic_fetch_or(&sleeper->state, TOLD) != ASLEEP)
        return;
    struct pw_sleeper *first = atomic_load(&waker->told);
    do
        sleeper->next_told = first;
    while (!atomic_compare_exchange_weak(&waker->told, &first, sleeper));
    if (first == NULL)
        pw_waker_signal(waker);
}

/* ---- Times --------------------------------------------------------------------------------------------------------- */

static void set_time(struct pw_waker *waker, struct pw_sleeper *sleeper, int64_t wake_at_ms)
{
    int64_t grains = wake_at_ms > 0 ? (wake_at_ms + GRAIN_MS - 1) / GRAIN_MS : 1;
    sleeper->wake_at_ms = grains * GRAIN_MS;
    sleeper->previous = NULL;
    sleeper->next = waker->timed;
    if (sleeper->next != NULL)
        sleeper->next->previous = sleeper;
    waker->timed = sleeper;
    if (sleeper->wake_at_ms < waker->wake_at_ms)
        waker->wake_at_ms = sleeper->wake_at_ms;
}

static void forget_time(struct pw_waker *waker, struct pw_sleeper *sleeper)
{
    if (sleeper->wake_at_ms == 0)
        return;
    if (sleeper->previous != NULL)
        sleeper->previous->next = sleeper->next;
    else
        waker->timed = sleeper->next;
    if (sleeper->next != NULL)
        sleeper->next->previous = sleeper->previous;
    sleeper->wake_at_ms = 0;
}

int pw_waker_due_ms(const struct pw_waker *waker)
{
    if (waker->wake_at_ms == INT64_MAX)
        return -1;
    int64_t ms = waker->wake_at_ms - pawl_now_ms(waker->engine);
    return ms < LOOK_AT_CLOCK_MS ? (int)(ms > 0 ? ms : 0) : LOOK_AT_CLOCK_MS;
}

/* ---- Sleeping and waking ------------------------------------------------------------------------------------------- */

void pw_sleeper_begin(struct pw_sleeper *sleeper)
{
    atomic_exchange(&sleeper->state, 0);
}

bool pw_waker_sleep(struct pw_waker *waker, struct pw_sleeper *sleeper, int64_t wake_at_ms)
{
    unsigned awake = 0;
    if (!atomic_compare_exchange_strong(&sleeper->state, &awake, ASLEEP))
        return false;
    waker->sleeping++;
    if (wake_at_ms <= INT64_MAX - GRAIN_MS)
        set_time(waker, sleeper, wake_at_ms);
    return true;
}

static void wake(struct pw_waker *waker, struct pw_sleeper *sleeper)
{
    forget_time(waker, sleeper);
    waker->sleeping--;
    waker->wake(sleeper);
}

/* After this, telling the sleeper has no effect.  If another thread told it first, it is in the list `told` and is
 * woken from there. */
void pw_waker_rouse(struct pw_waker *waker, struct pw_sleeper *sleeper)
{
    if (atomic_fetch_or(&sleeper->state, TOLD) != ASLEEP)
        return;
    wake(waker, sleeper);
}

/* If the clock was set back, all times are too far away.  So every sleeper is woken and computes its time anew. */
static void wake_due(struct pw_waker *waker)
{
    int64_t now_ms = pawl_now_ms(waker->engine);
    bool was_set_back = now_ms < waker->seen_ms;
    waker->seen_ms = now_ms;
    if (now_ms < waker->wake_at_ms && !was_set_back)
        return;
    waker->wake_at_ms = INT64_MAX;
    struct pw_sleeper *next;
    for (struct pw_sleeper *sleeper = waker->timed; sleeper != NULL; sleeper = next) {
        next = sleeper->next;
        if (sleeper->wake_at_ms <= now_ms || was_set_back)
            pw_waker_rouse(waker, sleeper);
        else if (sleeper->wake_at_ms < waker->wake_at_ms)
            waker->wake_at_ms = sleeper->wake_at_ms;
    }
}

void pw_waker_pass(struct pw_waker *waker, bool is_signalled)
{
    if (is_signalled) { /* reset before taking the list, so that later news signals again */
        uint64_t count;
        ssize_t got = read(waker->signal_fd, &count, sizeof count);
        (void)got;
    }
    if (waker->wake_at_ms != INT64_MAX)
        wake_due(waker);
    struct pw_sleeper *next;
    for (struct pw_sleeper *sleeper = atomic_exchange(&waker->told, NULL); sleeper != NULL; sleeper = next) {
        next = sleeper->next_told;
        wake(waker, sleeper);
    }
}
