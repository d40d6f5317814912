/* core_fixture.h - a core without a store: tasks in every state, and a frame that finds one key and writes nothing. */
#ifndef CORE_FIXTURE_H
#define CORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants those before itself */
#include <cmocka.h>

#include "core/core.h"

enum {
    KEY = 7,
    RUN = 3,
    EPOCH = 5,
    OWNER = 40,
    OTHER = 41,
    EVENTS = 2,
    NOW_MS = 5000,
    UNTIL_MS = 6000,
    LEASE_MS = 900
};
enum { STARTED_MS = 1000, UPDATED_MS = 2000, DUE_MS = 3000, OVER_MS = 4000, LATER_MS = 9000, CHILD = 8 };

/* ---- States ------------------------------------------------------------------------------------------------------------ */

/* LAPSED is HELD with a lease that has ended, and FORSAKEN is ASKED with one. */
enum state { ENDED, DUE, HELD, ASKED, WAITING, PAUSED, REPAIR, DEMANDED, LAPSED, FORSAKEN, STATES };

static inline struct pw_task task_in(enum state state)
{
    struct pw_task task = { .epoch = EPOCH,
                            .status = PW_TASK_ACTIVE,
                            .kind = PW_TASK_RUN,
                            .due_at_ms = DUE_MS,
                            .started_at_ms = STARTED_MS,
                            .updated_at_ms = UPDATED_MS,
                            .event_seq = EVENTS };
    bool is_over = state == LAPSED || state == FORSAKEN;
    if (state == HELD || state == ASKED || state == DEMANDED || is_over) {
        task.processing = true;
        task.owner = OWNER;
        task.locked_until_ms = is_over ? OVER_MS : UNTIL_MS;
    }
    task.pause_requested = state == ASKED || state == FORSAKEN;
    task.demand = state == DEMANDED ? PW_DEMAND_ROLLBACK : PW_DEMAND_NONE;
    if (state == WAITING)
        task.status = PW_TASK_WAITING;
    if (state == PAUSED || state == REPAIR)
        task.status = PW_TASK_PAUSED;
    if (state == REPAIR)
        task.kind = PW_TASK_REPAIR;
    return task;
}

/* ---- The frame ---------------------------------------------------------------------------------------------------------- */

static inline pawl_status write_nothing(struct pw_core *core)
{
    (void)core;
    return PAWL_OK;
}

static inline pawl_status count_unread(struct pw_core *core, const struct pw_core_run *run, int64_t max,
                                       int64_t *out_count)
{
    (void)core, (void)run;
    *out_count = max;
    return PAWL_OK;
}

static inline pawl_status owe_nothing(struct pw_core *core, const struct pw_fence *at, int64_t owner, int64_t until_ms)
{
    (void)core, (void)at, (void)owner, (void)until_ms;
    fail_msg("a row that is not locked by others is owed nothing");
    return PAWL_OK;
}

/* Finds whose conditions held a moment ago: what becomes of the row is for the rules to say (R8). */
static inline pawl_status claim_key(struct pw_core *core, struct pw_op_claim *op)
{
    struct pw_rows dues = { .arena = &core->arena, .row_size = sizeof(struct pw_core_due) };
    struct pw_rows claims = { .arena = &core->unit->arena, .row_size = sizeof(struct pw_claim) };
    struct pw_core_due *due = pw_rows_add(&dues);
    assert_non_null(due);
    *due = (struct pw_core_due){ KEY, DUE_MS };
    pawl_status status = pw_core_pause_expired(core, pw_find_run(core, KEY));
    return status == PAWL_OK ? pw_core_claim(core, op, &dues, op->max, &claims) : status;
}

static inline pawl_status reap_key(struct pw_core *core, struct pw_op_reap *op)
{
    return pw_core_reap(core, op, pw_find_run(core, KEY));
}

static inline pawl_status load_nothing(struct pw_core *core, struct pw_core_run *run, bool with_size)
{
    (void)core, (void)run, (void)with_size;
    return PAWL_OK;
}

static inline pawl_status run_nothing(struct pw_core *core, struct pw_op_sql *op)
{
    (void)core, (void)op;
    return PAWL_OK;
}

static const struct pw_frame frame = { .write = write_nothing,
                                       .count_unread = count_unread,
                                       .owe = owe_nothing,
                                       .claim = claim_key,
                                       .reap = reap_key,
                                       .run_sql = run_nothing,
                                       .load_claimable = load_nothing };

/* ---- Ops ------------------------------------------------------------------------------------------------------------------ */

static inline struct pw_text text(const char *string)
{
    return pw_text_of(string);
}

static inline struct pw_fence fence_at(int64_t epoch)
{
    return (struct pw_fence){ KEY, RUN, epoch };
}

#define OP(kind_name, member, ...)                                                                                     \
    (struct pw_op)                                                                                                     \
    {                                                                                                                  \
        .kind = PW_OP_##kind_name, .as.member = (struct pw_op_##member)                                                \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

/* The instance "i" of the workflow "w", whose task is in this state. */
static inline struct pw_core_run *add_run(struct pw_core *core, enum pw_relation relation, enum state state)
{
    struct pw_core_run *run = pw_want_run(core, KEY);
    struct pw_core_name *name = pw_want_name(core, text("w"), text("i"));
    assert_true(run != NULL && name != NULL);
    name->key = KEY;
    run->is_known = true;
    run->instance_run = run->run = RUN;
    run->workflow = text("w");
    run->id = text("i");
    run->updated_at_ms = UPDATED_MS;
    run->has_task = run->is_stored = state != ENDED;
    run->task = task_in(state);
    run->link = (struct pw_link){ CHILD, 1, relation };
    return run;
}

#endif
