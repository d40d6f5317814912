/* budget.h - one memory budget for everything large and short-lived: requests, answers, histories.
 *
 * It only counts and allocates nothing.  Code that is about to take much memory holds it here first, and gives it
 * back when the memory is freed.
 *
 *  1. Nobody waits here.  A hold is granted or refused at once, so nobody waits for memory while holding some.
 *  2. A holder that is alone is granted whatever it asks for, so something always fits.
 *  3. Giving back never fails. */
#ifndef PW_BASE_BUDGET_H
#define PW_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pw_budget {
    int64_t max;
    _Atomic int64_t held;    /* by all holders */
    _Atomic int64_t refused; /* how often */
    _Atomic int64_t wanted;  /* how much a waiting caller was refused; 0: nobody waits */
};

/* max 0: a quarter of pw_memory_of_machine(). */
void pw_budget_init(struct pw_budget *budget, int64_t max);

/* Changes what the holder holds to `bytes`, which may be more or less than before.  *held is the holder's own
 * record: 0 at first, and 0 again once it holds nothing.  False: the budget does not allow it, and nothing has
 * changed. */
bool pw_budget_hold(struct pw_budget *budget, int64_t *held, int64_t bytes);
/* Like pw_budget_hold(), for memory that is taken in any case.  It counts even past the budget. */
void pw_budget_owe(struct pw_budget *budget, int64_t *held, int64_t bytes);
/* Notes that a caller that was refused this much waits and holds nothing. */
void pw_budget_want(struct pw_budget *budget, int64_t bytes);
/* True if the waiting caller would be refused again.  Then nobody should begin anything new.  Once there is room,
 * nobody counts as waiting any more. */
bool pw_budget_is_short(struct pw_budget *budget);

/* The machine's memory, or the smallest limit of the cgroups (version 1 or 2) that this process is in.  `root` is
 * put before every path that is read; it is "" except in tests. */
int64_t pw_memory_of_machine(const char *root);

#endif
