/* effects.h - what a unit has done to runs, said once.
 *
 * Every rule that begins, parks, wakes, holds or ends a run, or records something of it, adds an effect to the list
 * of its unit.  Deliveries to hooks are made from that list in the same transaction.  Watches, the local runner,
 * statistics and traces read it after the commit.  So nobody has to guess from the ops of a unit what has become of
 * a run.
 *
 * The list is cleared when a unit is tried again, and it is empty if the unit was refused. */
#ifndef PW_CORE_EFFECTS_H
#define PW_CORE_EFFECTS_H

#include <stdatomic.h>

#include "core/rows.h"

struct pw_unit;

enum pw_effect_kind {
    PW_EFFECT_BEGUN,  /* a run began, and is due or held */
    PW_EFFECT_PARKED, /* its holder gave the task up: it is due, waits, or is paused */
    PW_EFFECT_HELD,   /* a runner took it */
    PW_EFFECT_WOKEN,  /* something outside the run made it due now */
    PW_EFFECT_ENDED,
    PW_EFFECT_EVENT,  /* it got an event or an answer */
    PW_EFFECT_STEP,   /* a step was recorded */
    PW_EFFECT_CHANGED /* something else of it changed: a log line, a taken event, a request, a demand */
};

/* Texts belong to the unit's ops. */
struct pw_effect {
    enum pw_effect_kind kind;
    bool is_job;
    int64_t instance, run;
    union {
        struct {
            enum pw_hook_reason reason; /* 0: the effect did not make it due: it is paused, or was due already */
            int64_t at_ms;              /* 0: at once */
        } due;                          /* BEGUN, PARKED, HELD, WOKEN */
        struct {
            enum pw_outcome outcome;
            int64_t started_at_ms, completed_at_ms; /* started 0: it never started */
            struct pw_text error_name, error_message;
        } end; /* ENDED */
        struct {
            int64_t seq;
            bool is_answer;
            bool has_woken;             /* a WOKEN or HELD effect follows */
        } event;                        /* EVENT */
        const struct pw_step_row *step; /* STEP */
    } as;
    struct pw_effect *next;
};

/* Adds an effect to the unit's list.  NULL when memory is out. */
struct pw_effect *pw_unit_tell(struct pw_unit *unit, enum pw_effect_kind kind, int64_t instance, int64_t run);

/* ---- Hooks -------------------------------------------------------------------------------------------------------------- */

/* What a hook wants to be told.  Subscriptions are only ever added, at the end of a list that is read without a
 * lock. */
struct pw_subscription {
    struct pw_text hook;
    unsigned events; /* of enum pawl_hook_event */
    int64_t attempts_max;
    struct pw_subscription *_Atomic next;
};

/* The hook event that the effect is; 0: none.  Hooks are told about runs only, never about jobs. */
unsigned pw_effect_event(const struct pw_effect *effect);

#endif
