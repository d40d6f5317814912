/* budget.h - one budget of memory for everything large that comes and goes: requests, answers, histories.
 *
 * It counts; it allocates nothing.  Whoever is about to take much memory holds it here first, and lets go of it when the
 * memory is freed.
 *
 *  1. Nobody waits here.  A hold is granted or refused at once, so no one waits for memory while holding some.
 *  2. One always fits: a holder that is alone is granted whatever it asks for.
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

/* From now on the holder has `bytes`, more or less than before.  *held is the holder's own record: 0 at first, and 0 again
 * once it holds nothing.  False: the budget does not allow it; nothing has changed. */
bool pw_budget_hold(struct pw_budget *budget, int64_t *held, int64_t bytes);
/* The same for memory that is taken in any case: it counts even if the budget is exceeded. */
void pw_budget_owe(struct pw_budget *budget, int64_t *held, int64_t bytes);
/* Says that a caller which was refused this much is waiting, and holds nothing. */
void pw_budget_want(struct pw_budget *budget, int64_t bytes);
/* True if the waiting caller would be refused again: then nobody should begin anything new.  Once there is room, nobody counts
 * as waiting. */
bool pw_budget_is_short(struct pw_budget *budget);

/* The machine's memory, or the least limit of the control groups (version 1 or 2) that this process is in.  `root` stands
 * before every path that is read: "" except in tests. */
int64_t pw_memory_of_machine(const char *root);

#endif
