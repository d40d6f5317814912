/* differential_flaws.h - rules that the memory store breaks on purpose: whoever compares stores must find out. */
#ifndef TESTS_DIFFERENTIAL_FLAWS_H
#define TESTS_DIFFERENTIAL_FLAWS_H

#include "store/store.h"

enum flaw {
    FLAW_NONE,
    FLAW_PARK_OVERLOOKS_EVENTS,
    FLAW_FENCE_OVERLOOKS_RUN,
    FLAW_RENEW_FOR_ANYBODY,
    FLAW_CLAIM_YOUNGEST_FIRST,
    FLAW_CLAIM_OVERLOOKS_PAUSE,
    FLAW_RESTART_KEEPS_EVENTS,
    FLAW_REFUSAL_LEAVES_TRACES,
    FLAW_SETTLE_OVERLOOKS_EPOCH,
    FLAW_RESTART_KEEPS_WAITING_STEPS,
    FLAW_RESTART_FORGETS_RUN,
    FLAW_RESTART_FORGETS_ERROR,
    FLAW_ANSWER_WAKES_THE_PAUSED,
    FLAW_END_UNANSWERED,
    FLAW_END_OVERLOOKS_DEMAND,
    FLAW_DEMAND_IS_LOWERED,
    FLAW_REACH_TAKES_THE_HELD,
    FLAW_REACH_OVERLOOKS_RUN,
    FLAW_REACH_LEAVES_JOBS,
    FLAW_END_OVERLOOKS_WORKFLOW,
    FLAW_CLAIM_OVERLOOKS_LEASED,
    FLAW_TIME_GOES_BACK,
    FLAW_COUNT
};

/* From now on the memory store breaks this rule, for the life of the process. */
void flaw_plant(struct pw_store *memory, enum flaw flaw);

#endif
