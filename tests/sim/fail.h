/* fail.h - how a simulation ends when an invariant does not hold, and the trace of what happened before. */
#ifndef SIM_FAIL_H
#define SIM_FAIL_H

#include <stdbool.h>

#include "pawl/status.h"
#include "rules.h"

enum { SIM_EXIT_RULE = 100, SIM_EXIT_LIMIT = 3 };

/* Which seed is on, and whether lines are kept.  Without tracing sim_trace() costs a test of a flag. */
void sim_fail_begin(unsigned long long seed, bool tracing, bool echo);

/* Exits with SIM_EXIT_RULE + its number; prints the rule, the seed and the last lines when tracing. */
_Noreturn void sim_fail(enum sim_rule rule, const char *format, ...) PAWL_PRINTF(2, 3);
/* The simulation itself is at its end: an array is too small, or memory is out. */
_Noreturn void sim_give_up(const char *format, ...) PAWL_PRINTF(1, 2);

void sim_trace(const char *format, ...) PAWL_PRINTF(1, 2);
/* Lines in between are indented by one more. */
void sim_trace_enter(void);
void sim_trace_leave(void);

#define SIM_CHECK(rule, holds, ...)                                                                                    \
    do {                                                                                                               \
        if (!(holds))                                                                                                  \
            sim_fail(rule, __VA_ARGS__);                                                                               \
    } while (0)

#endif
