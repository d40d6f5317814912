/* effects.c - adds effects to a unit, and records deliveries to hooks from them; see effects.h. */
#include "core/effects.h"

#include <stdio.h>

#include "core/rules.h"

struct pw_effect *pw_unit_tell(struct pw_unit *unit, enum pw_effect_kind kind, int64_t instance, int64_t run)
{
    struct pw_effect *effect = pw_arena_zero(&unit->arena, sizeof *effect);
    if (effect == NULL)
        return NULL;
    effect->kind = kind;
    effect->instance = instance;
    effect->run = run;
    if (unit->last_effect != NULL)
        unit->last_effect->next = effect;
    else
        unit->effects = effect;
    unit->last_effect = effect;
    return effect;
}

/* ---- For rules ---------------------------------------------------------------------------------------------------------- */

pawl_status pw_rule_tell(struct pw_core *core, enum pw_effect_kind kind, int64_t instance, int64_t run)
{
    return pw_unit_tell(core->unit, kind, instance, run) != NULL ? PAWL_OK : pw_rule_no_memory(core);
}

/* If an event came in the same unit, the event is the reason.  The run becomes due once, however many events came,
 * so a run that the unit has already parked or held gets no second reason. */
static enum pw_hook_reason reason_in(const struct pw_unit *unit, int64_t instance, enum pw_hook_reason otherwise)
{
    enum pw_hook_reason reason = otherwise;
    for (const struct pw_effect *effect = unit->effects; effect != NULL; effect = effect->next) {
        if (effect->instance != instance)
            continue;
        if (effect->kind == PW_EFFECT_PARKED || effect->kind == PW_EFFECT_HELD)
            return 0;
        if (effect->kind == PW_EFFECT_EVENT)
            reason = PW_REASON_EVENT;
    }
    return reason;
}

pawl_status pw_rule_tell_due(struct pw_core *core, enum pw_effect_kind kind, const struct pw_core_run *run,
                             enum pw_hook_reason reason, int64_t at_ms)
{
    bool is_by_others = kind == PW_EFFECT_BEGUN || kind == PW_EFFECT_WOKEN;
    if (reason != 0 && !is_by_others)
        reason = reason_in(core->unit, run->key, reason);
    struct pw_effect *effect = pw_unit_tell(core->unit, kind, run->key, run->run);
    if (effect == NULL)
        return pw_rule_no_memory(core);
    effect->as.due.reason = reason;
    effect->as.due.at_ms = reason != 0 ? at_ms : 0;
    return PAWL_OK;
}

/* ---- Hooks -------------------------------------------------------------------------------------------------------------- */

unsigned pw_effect_event(const struct pw_effect *effect)
{
    if (effect->is_job)
        return 0;
    switch (effect->kind) {
    case PW_EFFECT_BEGUN:
    case PW_EFFECT_PARKED:
    case PW_EFFECT_HELD:
    case PW_EFFECT_WOKEN:
        return effect->as.due.reason != 0 ? PAWL_HOOK_ENQUEUED : 0;
    case PW_EFFECT_ENDED:
        return PAWL_HOOK_FINISHED;
    case PW_EFFECT_EVENT:
    case PW_EFFECT_STEP:
    case PW_EFFECT_CHANGED:
        break;
    }
    return 0;
}

static void describe(struct pw_hook_row *row, const struct pw_effect *effect, unsigned event)
{
    row->event = (enum pawl_hook_event)event;
    row->run = effect->run;
    if (event == PAWL_HOOK_FINISHED) {
        row->outcome = effect->as.end.outcome;
        row->error_name = effect->as.end.error_name;
        row->error_message = effect->as.end.error_message;
    } else {
        row->reason = effect->as.due.reason;
        row->due_at_ms = effect->as.due.at_ms;
    }
}

/* The first delivery has the unit's id.  Others are numbered, from "id-2" on. */
static bool make_id(struct pw_core *core, struct pw_text *out_id)
{
    enum { NUMBERED_SIZE = PW_ID_SIZE + 24 };
    const struct pw_unit *unit = core->unit;
    char *id = pw_arena_take(&core->arena, NUMBERED_SIZE);
    if (id == NULL)
        return false;
    (void)snprintf(id, NUMBERED_SIZE, unit->deliveries > 0 ? "%s-%zu" : "%s", unit->delivery_id, unit->deliveries + 1);
    *out_id = pw_text_of(id);
    return true;
}

static pawl_status record(struct pw_core *core, const struct pw_effect *effect, unsigned event,
                          const struct pw_subscription *subscription)
{
    struct pw_text id;
    struct pw_core_hook *hook = make_id(core, &id) ? pw_rows_add(&core->hooks) : NULL;
    if (hook == NULL)
        return pw_rule_no_memory(core);
    hook->instance = effect->instance;
    hook->row = (struct pw_hook_row){ .id = id,
                                      .hook = subscription->hook,
                                      .created_at_ms = core->now_ms,
                                      .next_at_ms = core->now_ms, /* the first attempt is due at once */
                                      .attempts_max = subscription->attempts_max };
    describe(&hook->row, effect, event);
    core->unit->deliveries++;
    return PAWL_OK;
}

/* One delivery for each effect that is a hook event, and for each hook that subscribes to it. */
pawl_status pw_core_tell_hooks(struct pw_core *core)
{
    const struct pw_unit *unit = core->unit;
    if (unit->subscriptions == NULL)
        return PAWL_OK;
    for (const struct pw_effect *effect = unit->effects; effect != NULL; effect = effect->next) {
        unsigned event = pw_effect_event(effect);
        const struct pw_subscription *subscription = event != 0 ? unit->subscriptions : NULL;
        for (; subscription != NULL; subscription = atomic_load(&subscription->next)) {
            pawl_status status =
                (subscription->events & event) != 0 ? record(core, effect, event, subscription) : PAWL_OK;
            if (status != PAWL_OK)
                return status;
        }
    }
    return PAWL_OK;
}
