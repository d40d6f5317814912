/* plan.c - see plan.h. */
#include "plan.h"

#include <stdlib.h>

struct plan {
    bool armed, for_ever;
    enum fault_kind kind;
    int64_t nth, struck;
    int64_t calls[FAULT_KIND_COUNT];
};

static _Thread_local struct plan plan;

const char *fault_kind_name(enum fault_kind kind)
{
    static const char *const names[] = {
#define FAULT_KIND_NAME(code, name) name,
        FAULT_KINDS(FAULT_KIND_NAME)
#undef FAULT_KIND_NAME
    };
    return names[kind];
}

void fault_arm(enum fault_kind kind, int64_t nth, bool for_ever)
{
    plan = (struct plan){ .armed = true, .for_ever = for_ever, .kind = kind, .nth = nth };
}

int64_t fault_disarm(void)
{
    plan.armed = false;
    return plan.struck;
}

int64_t fault_struck(void)
{
    return plan.struck;
}

int64_t fault_calls(enum fault_kind kind)
{
    return plan.calls[kind];
}

int64_t fault_stride(int64_t otherwise)
{
    const char *every = getenv("PAWL_FAULT_EVERY");
    int64_t stride = every != NULL ? strtoll(every, NULL, 10) : otherwise;
    return stride > 0 ? stride : 1;
}

bool fault_strikes(enum fault_kind kind)
{
    if (!plan.armed)
        return false;
    int64_t call = ++plan.calls[kind];
    if (plan.kind != kind)
        return false;
    bool strikes = plan.for_ever ? call >= plan.nth : call == plan.nth;
    plan.struck += strikes;
    return strikes;
}
