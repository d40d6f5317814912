/* test_core.c - every op against every state of a task, with no store: what becomes of the row, or why the op is refused.
 *
 * The table says what changes, field by field ("epoch:+1 due:now"); "same" is a row that stays as it is, and a word in capitals
 * is a refusal.  A field that is not named must not change. */
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
enum { STARTED_MS = 1000, UPDATED_MS = 2000, DUE_MS = 3000, LATER_MS = 9000, CHILD = 8 };

/* ---- States ------------------------------------------------------------------------------------------------------------ */

enum state { ENDED, DUE, HELD, ASKED, WAITING, PAUSED, REPAIR, DEMANDED, STATES };

static struct pw_task task_in(enum state state)
{
    struct pw_task task = { .epoch = EPOCH,
                            .status = PW_TASK_ACTIVE,
                            .kind = PW_TASK_RUN,
                            .due_at_ms = DUE_MS,
                            .started_at_ms = STARTED_MS,
                            .updated_at_ms = UPDATED_MS,
                            .event_seq = EVENTS };
    if (state == HELD || state == ASKED || state == DEMANDED) {
        task.processing = true;
        task.owner = OWNER;
        task.locked_until_ms = UNTIL_MS;
    }
    task.pause_requested = state == ASKED;
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

static pawl_status write_nothing(struct pw_core *core)
{
    (void)core;
    return PAWL_OK;
}

static pawl_status count_unread(struct pw_core *core, const struct pw_core_run *run, int64_t max, int64_t *out_count)
{
    (void)core, (void)run;
    *out_count = max;
    return PAWL_OK;
}

static pawl_status owe_nothing(struct pw_core *core, const struct pw_fence *at, int64_t owner, int64_t until_ms)
{
    (void)core, (void)at, (void)owner, (void)until_ms;
    fail_msg("a row that is not locked by others is owed nothing");
    return PAWL_OK;
}

static pawl_status find_nothing(struct pw_core *core, struct pw_op *op)
{
    (void)core, (void)op;
    return PAWL_OK;
}

static const struct pw_frame frame = { .write = write_nothing,
                                       .count_unread = count_unread,
                                       .owe = owe_nothing,
                                       .find = find_nothing,
                                       .run_users_code = find_nothing };

/* ---- Ops ------------------------------------------------------------------------------------------------------------------ */

static struct pw_lease lease;

static struct pw_text text(const char *string)
{
    return pw_text_of(string);
}

static struct pw_fence fence_at(int64_t epoch)
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

enum which {
    FENCE,
    FENCE_STALE,
    FENCE_FOREIGN,
    FENCE_UNLESS_PAUSE,
    FENCE_UNLESS_EVENTS,
    FENCE_RENEWS,
    PARK_WAITING,
    PARK_UNSEEN,
    PARK_PAUSED,
    PARK_REPAIR,
    PARK_IF_REQUESTED,
    HOLD,
    PAUSE_ASK,
    PAUSE_TAKE_BACK,
    DEMAND_NONE,
    DEMAND_INTERRUPT,
    EVENT,
    EVENT_OF_OLD_RUN,
    EVENT_ONE_TOO_MANY,
    ANSWER,
    FINISH,
    END,
    RESTART,
    RESTART_HELD,
    RESTART_OF_OLD_RUN,
    REACHED,
    REACHED_JOB,
    RENEW,
    RENEW_FOR_ANOTHER,
    OPS
};

static struct pw_op op_of(enum which which)
{
    switch (which) {
    case FENCE:
        return OP(FENCE, fence, .at = fence_at(EPOCH));
    case FENCE_STALE:
        return OP(FENCE, fence, .at = fence_at(EPOCH - 1));
    case FENCE_FOREIGN:
        return OP(FENCE, fence, .at = fence_at(EPOCH - 1), .is_foreign = true);
    case FENCE_UNLESS_PAUSE:
        return OP(FENCE, fence, .at = fence_at(EPOCH), .unless_pause = true);
    case FENCE_UNLESS_EVENTS:
        return OP(FENCE, fence, .at = fence_at(EPOCH), .unless_new_events = true, .event_seq_seen = EVENTS - 1);
    case FENCE_RENEWS:
        return OP(FENCE, fence, .at = fence_at(EPOCH), .lease_ms = LEASE_MS);
    case PARK_WAITING:
        return OP(PARK, park, .instance = KEY, .status = PW_TASK_WAITING, .kind = PW_TASK_RETRY, .due_at_ms = LATER_MS,
                  .event_seq_seen = EVENTS);
    case PARK_UNSEEN:
        return OP(PARK, park, .instance = KEY, .status = PW_TASK_WAITING, .kind = PW_TASK_WAKE, .due_at_ms = LATER_MS,
                  .event_seq_seen = EVENTS - 1);
    case PARK_PAUSED:
        return OP(PARK, park, .instance = KEY, .status = PW_TASK_PAUSED, .kind = PW_TASK_RESUME, .event_seq_seen = -1);
    case PARK_REPAIR:
        return OP(PARK, park, .instance = KEY, .status = PW_TASK_PAUSED, .kind = PW_TASK_REPAIR, .event_seq_seen = -1);
    case PARK_IF_REQUESTED:
        return OP(PARK, park, .instance = KEY, .status = PW_TASK_PAUSED, .kind = PW_TASK_RESUME, .event_seq_seen = -1,
                  .if_requested = true);
    case HOLD:
        return OP(HOLD, hold, .instance = KEY, .owner = OTHER, .lease_ms = LEASE_MS);
    case PAUSE_ASK:
        return OP(PAUSE, pause, .instance = KEY, .requested = true);
    case PAUSE_TAKE_BACK:
        return OP(PAUSE, pause, .instance = KEY, .requested = false);
    case DEMAND_NONE:
        return OP(DEMAND, demand, .instance = KEY, .demand = PW_DEMAND_NONE);
    case DEMAND_INTERRUPT:
        return OP(DEMAND, demand, .instance = KEY, .demand = PW_DEMAND_INTERRUPT);
    case EVENT:
        return OP(EVENT, event, .instance = KEY, .run = RUN, .type = text("go"));
    case EVENT_OF_OLD_RUN:
        return OP(EVENT, event, .instance = KEY, .run = RUN - 1, .type = text("go"));
    case EVENT_ONE_TOO_MANY:
        return OP(EVENT, event, .instance = KEY, .run = RUN, .type = text("go"), .unread_max = 1);
    case ANSWER:
        return OP(EVENT, event, .instance = KEY, .type = text("done"), .is_answer = true);
    case FINISH:
        return OP(FINISH, finish, .instance = KEY, .outcome = PW_OUTCOME_COMPLETE, .output = text("1"));
    case END:
        return OP(END, end, .workflow = text("w"), .id = text("i"));
    case RESTART:
        return OP(RESTART, restart, .instance = KEY, .run = RUN);
    case RESTART_HELD:
        return OP(RESTART, restart, .instance = KEY, .run = RUN, .hold_owner = OTHER, .hold_lease_ms = LEASE_MS);
    case RESTART_OF_OLD_RUN:
        return OP(RESTART, restart, .instance = KEY, .run = RUN - 1);
    case REACHED:
    case REACHED_JOB:
        return OP(REACH, reach, .parent = CHILD, .run = 1, .demand = PW_DEMAND_TERMINATE);
    case RENEW:
    case RENEW_FOR_ANOTHER:
        lease = (struct pw_lease){ .fence = fence_at(EPOCH) };
        return OP(RENEW, renew, .owner = which == RENEW ? OWNER : OTHER, .lease_ms = LEASE_MS, .leases = &lease,
                  .count = 1);
    case OPS:
        break;
    }
    fail_msg("no such op");
    return (struct pw_op){ .kind = PW_OP_FENCE };
}

/* ---- Differences ------------------------------------------------------------------------------------------------------------ */

struct words {
    char text[256];
    size_t size;
};

PAWL_PRINTF(2, 3) static void say(struct words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (words->size > 0)
        words->text[words->size++] = ' ';
    words->size += (size_t)vsnprintf(words->text + words->size, sizeof words->text - words->size, format, arguments);
    va_end(arguments);
    assert_true(words->size < sizeof words->text - 1);
}

static void say_time(struct words *words, const char *name, int64_t before_ms, int64_t after_ms)
{
    if (before_ms == after_ms)
        return;
    if (after_ms == NOW_MS)
        say(words, "%s:now", name);
    else if (after_ms == NOW_MS + LEASE_MS)
        say(words, "%s:lease", name);
    else
        say(words, "%s:%d", name, (int)after_ms);
}

static void say_task(struct words *words, const struct pw_task *before, const struct pw_task *after)
{
    static const char *const statuses[] = { "active", "waiting", "paused" };
    static const char *const kinds[] = { "wake", "retry", "resume", "run", "repair" };
    if (before->status != after->status)
        say(words, "%s", statuses[after->status]);
    if (before->kind != after->kind)
        say(words, "%s", kinds[after->kind]);
    if (before->epoch != after->epoch)
        say(words, "epoch:%+d", (int)(after->epoch - before->epoch));
    if (before->processing != after->processing)
        say(words, after->processing ? "held" : "free");
    if (before->owner != after->owner)
        say(words, "owner:%d", (int)after->owner);
    say_time(words, "until", before->locked_until_ms, after->locked_until_ms);
    say_time(words, "due", before->due_at_ms, after->due_at_ms);
    if (before->pause_requested != after->pause_requested)
        say(words, after->pause_requested ? "asked" : "unasked");
    if (before->demand != after->demand)
        say(words, "demand:%d", (int)after->demand);
    if (before->event_seq != after->event_seq)
        say(words, "events:%+d", (int)(after->event_seq - before->event_seq));
    say_time(words, "started", before->started_at_ms, after->started_at_ms);
    say_time(words, "updated", before->updated_at_ms, after->updated_at_ms);
}

static void say_run(struct words *words, const struct pw_core_run *before, const struct pw_core_run *after)
{
    static const char *const outcomes[] = { "open", "complete", "terminated", "errored" };
    if (before->has_task && !after->has_task)
        say(words, "ends %s", outcomes[after->outcome]);
    if (after->has_task && after->run != before->run)
        say(words, "run:%+d", (int)(after->run - before->run));
    if (after->has_task)
        say_task(words, &before->task, &after->task);
    if (words->size == 0)
        say(words, "same");
}

static const char *refusal_name(enum pw_refusal refusal)
{
#define NAME(name, status, keeps_chain, text) [PW_REFUSED_##name] = #name,
    static const char *const names[] = { [PW_REFUSED_NOT] = "NOT", PW_REFUSAL_LIST(NAME) };
#undef NAME
    return names[refusal];
}

/* ---- The table -------------------------------------------------------------------------------------------------------------- */

static struct pw_core_run *add_run(struct pw_core *core, enum which which, enum state state)
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
    run->link = (struct pw_link){ CHILD, 1, which == REACHED_JOB ? PW_RELATION_JOB : PW_RELATION_ATTACHED };
    return run;
}

static void play(enum which which, enum state state, struct words *words)
{
    struct pawl_error error = { PAWL_OK, "" };
    struct pw_core core;
    struct pw_unit unit;
    pw_core_init(&core, &frame, &error);
    pw_unit_init(&unit);
    core.now_ms = NOW_MS;
    struct pw_op op = op_of(which);
    assert_true(pw_core_want(&core, &op));
    struct pw_core_run *run = add_run(&core, which, state);
    struct pw_core_run before = *run;
    pw_core_begin_unit(&core, &unit);
    pawl_status status = pw_core_decide(&core, &op);
    if (unit.refusal != PW_REFUSED_NOT) {
        assert_int_equal(status, pw_refusal_status(unit.refusal));
        pw_core_undo_unit(&core);
        assert_memory_equal(&before.task, &run->task, sizeof before.task); /* R8 */
        assert_int_equal(before.has_task, run->has_task);
        say(words, "%s", refusal_name(unit.refusal));
    } else {
        assert_int_equal(status, PAWL_OK);
        say_run(words, &before, run);
        assert_int_equal(run->is_changed, strcmp(words->text, "same") != 0);
    }
    pw_unit_clear(&unit);
    pw_core_clear(&core);
}

/* In the order of enum state: ENDED, DUE, HELD, ASKED, WAITING, PAUSED, REPAIR, DEMANDED. */
#define EVERYWHERE(words)                                                                                              \
    {                                                                                                                  \
        words, words, words, words, words, words, words, words                                                         \
    }
#define WITH_A_TASK(words)                                                                                             \
    {                                                                                                                  \
        "MOVED", words, words, words, words, words, words, words                                                       \
    }

/* clang-format off */
static const char *const expected[OPS][STATES] = {
    [FENCE] = WITH_A_TASK("same"),
    [FENCE_STALE] = EVERYWHERE("MOVED"),
    [FENCE_FOREIGN] = EVERYWHERE("OTHER_MOVED"),
    [FENCE_UNLESS_PAUSE] = {
        [ENDED] = "MOVED",
        [DUE] = "same",
        [HELD] = "same",
        [ASKED] = "PAUSE_REQUESTED",
        [WAITING] = "same",
        [PAUSED] = "same",
        [REPAIR] = "same",
        [DEMANDED] = "same",
    },
    [FENCE_UNLESS_EVENTS] = WITH_A_TASK("NEW_EVENTS"),
    [FENCE_RENEWS] = {
        [ENDED] = "MOVED",
        [DUE] = "same",
        [HELD] = "until:lease",
        [ASKED] = "until:lease",
        [WAITING] = "same",
        [PAUSED] = "same",
        [REPAIR] = "same",
        [DEMANDED] = "until:lease",
    },
    [PARK_WAITING] = {
        [ENDED] = "MOVED",
        [DUE] = "waiting retry epoch:+1 due:9000 updated:now",
        [HELD] = "waiting retry epoch:+1 free owner:0 until:0 due:9000 updated:now",
        [ASKED] = "paused retry epoch:+1 free owner:0 until:0 due:9000 unasked updated:now",
        [WAITING] = "retry epoch:+1 due:9000 updated:now",
        [PAUSED] = "waiting retry epoch:+1 due:9000 updated:now",
        [REPAIR] = "waiting retry epoch:+1 due:9000 updated:now",
        [DEMANDED] = "waiting retry epoch:+1 free owner:0 until:0 due:9000 updated:now",
    },
    [PARK_UNSEEN] = {
        [ENDED] = "MOVED",
        [DUE] = "waiting wake epoch:+1 due:now updated:now",
        [HELD] = "waiting wake epoch:+1 free owner:0 until:0 due:now updated:now",
        [ASKED] = "paused wake epoch:+1 free owner:0 until:0 due:now unasked updated:now",
        [WAITING] = "wake epoch:+1 due:now updated:now",
        [PAUSED] = "waiting wake epoch:+1 due:now updated:now",
        [REPAIR] = "waiting wake epoch:+1 due:now updated:now",
        [DEMANDED] = "waiting wake epoch:+1 free owner:0 until:0 due:now updated:now",
    },
    [PARK_PAUSED] = {
        [ENDED] = "MOVED",
        [DUE] = "paused resume epoch:+1 updated:now",
        [HELD] = "paused resume epoch:+1 free owner:0 until:0 updated:now",
        [ASKED] = "paused resume epoch:+1 free owner:0 until:0 unasked updated:now",
        [WAITING] = "paused resume epoch:+1 updated:now",
        [PAUSED] = "resume epoch:+1 updated:now",
        [REPAIR] = "resume epoch:+1 updated:now",
        [DEMANDED] = "paused resume epoch:+1 free owner:0 until:0 updated:now",
    },
    [PARK_REPAIR] = {
        [ENDED] = "MOVED",
        [DUE] = "paused repair epoch:+1 updated:now",
        [HELD] = "paused repair epoch:+1 free owner:0 until:0 updated:now",
        [ASKED] = "paused repair epoch:+1 free owner:0 until:0 unasked updated:now",
        [WAITING] = "paused repair epoch:+1 updated:now",
        [PAUSED] = "repair epoch:+1 updated:now",
        [REPAIR] = "epoch:+1 updated:now",
        [DEMANDED] = "resume epoch:+1 free owner:0 until:0 due:now updated:now",
    },
    [PARK_IF_REQUESTED] = {
        [ENDED] = "MOVED",
        [DUE] = "resume epoch:+1 due:now updated:now",
        [HELD] = "resume epoch:+1 free owner:0 until:0 due:now updated:now",
        [ASKED] = "paused resume epoch:+1 free owner:0 until:0 unasked updated:now",
        [WAITING] = "active resume epoch:+1 due:now updated:now",
        [PAUSED] = "active resume epoch:+1 due:now updated:now",
        [REPAIR] = "active resume epoch:+1 due:now updated:now",
        [DEMANDED] = "resume epoch:+1 free owner:0 until:0 due:now updated:now",
    },
    [HOLD] = {
        [ENDED] = "MOVED",
        [DUE] = "epoch:+1 held owner:41 until:lease updated:now",
        [HELD] = "epoch:+1 owner:41 until:lease updated:now",
        [ASKED] = "epoch:+1 owner:41 until:lease unasked updated:now",
        [WAITING] = "active epoch:+1 held owner:41 until:lease updated:now",
        [PAUSED] = "active epoch:+1 held owner:41 until:lease updated:now",
        [REPAIR] = "active resume epoch:+1 held owner:41 until:lease updated:now",
        [DEMANDED] = "epoch:+1 owner:41 until:lease updated:now",
    },
    [PAUSE_ASK] = {
        [ENDED] = "MOVED",
        [DUE] = "asked updated:now",
        [HELD] = "asked updated:now",
        [ASKED] = "updated:now",
        [WAITING] = "asked updated:now",
        [PAUSED] = "asked updated:now",
        [REPAIR] = "asked updated:now",
        [DEMANDED] = "asked updated:now",
    },
    [PAUSE_TAKE_BACK] = {
        [ENDED] = "MOVED",
        [DUE] = "updated:now",
        [HELD] = "updated:now",
        [ASKED] = "unasked updated:now",
        [WAITING] = "updated:now",
        [PAUSED] = "updated:now",
        [REPAIR] = "updated:now",
        [DEMANDED] = "updated:now",
    },
    [DEMAND_NONE] = WITH_A_TASK("events:+1 updated:now"),
    [DEMAND_INTERRUPT] = {
        [ENDED] = "MOVED",
        [DUE] = "demand:1 events:+1 updated:now",
        [HELD] = "demand:1 events:+1 updated:now",
        [ASKED] = "unasked demand:1 events:+1 updated:now",
        [WAITING] = "demand:1 events:+1 updated:now",
        [PAUSED] = "demand:1 events:+1 updated:now",
        [REPAIR] = "demand:1 events:+1 updated:now",
        [DEMANDED] = "events:+1 updated:now",
    },
    [EVENT] = WITH_A_TASK("events:+1 updated:now"),
    [EVENT_OF_OLD_RUN] = EVERYWHERE("MOVED"),
    [EVENT_ONE_TOO_MANY] = WITH_A_TASK("TOO_MANY_EVENTS"),
    [ANSWER] = {
        [ENDED] = "same",
        [DUE] = "events:+1 updated:now",
        [HELD] = "events:+1 updated:now",
        [ASKED] = "events:+1 updated:now",
        [WAITING] = "active wake epoch:+1 due:now events:+1 updated:now",
        [PAUSED] = "events:+1 updated:now",
        [REPAIR] = "events:+1 updated:now",
        [DEMANDED] = "events:+1 updated:now",
    },
    [FINISH] = WITH_A_TASK("ends complete"),
    [END] = {
        [ENDED] = "same",
        [DUE] = "ends terminated",
        [HELD] = "ends terminated",
        [ASKED] = "ends terminated",
        [WAITING] = "ends terminated",
        [PAUSED] = "ends terminated",
        [REPAIR] = "ends terminated",
        [DEMANDED] = "ends terminated",
    },
    [RESTART] = {
        [ENDED] = "run:+1 epoch:-5 due:now events:-2 started:0 updated:now",
        [DUE] = "run:+1 epoch:-5 due:now events:-2 started:0 updated:now",
        [HELD] = "run:+1 epoch:-5 free owner:0 until:0 due:now events:-2 started:0 updated:now",
        [ASKED] = "run:+1 epoch:-5 free owner:0 until:0 due:now unasked events:-2 started:0 updated:now",
        [WAITING] = "run:+1 active epoch:-5 due:now events:-2 started:0 updated:now",
        [PAUSED] = "run:+1 active epoch:-5 due:now events:-2 started:0 updated:now",
        [REPAIR] = "run:+1 active run epoch:-5 due:now events:-2 started:0 updated:now",
        [DEMANDED] = "run:+1 epoch:-5 free owner:0 until:0 due:now demand:0 events:-2 started:0 updated:now",
    },
    [RESTART_HELD] = {
        [ENDED] = "run:+1 epoch:-4 held owner:41 until:lease due:now events:-2 started:now updated:now",
        [DUE] = "run:+1 epoch:-4 held owner:41 until:lease due:now events:-2 started:now updated:now",
        [HELD] = "run:+1 epoch:-4 owner:41 until:lease due:now events:-2 started:now updated:now",
        [ASKED] = "run:+1 epoch:-4 owner:41 until:lease due:now unasked events:-2 started:now updated:now",
        [WAITING] = "run:+1 active epoch:-4 held owner:41 until:lease due:now events:-2 started:now updated:now",
        [PAUSED] = "run:+1 active epoch:-4 held owner:41 until:lease due:now events:-2 started:now updated:now",
        [REPAIR] = "run:+1 active run epoch:-4 held owner:41 until:lease due:now events:-2 started:now updated:now",
        [DEMANDED] = "run:+1 epoch:-4 owner:41 until:lease due:now demand:0 events:-2 started:now updated:now",
    },
    [RESTART_OF_OLD_RUN] = EVERYWHERE("MOVED"),
    [REACHED] = {
        [ENDED] = "same",
        [DUE] = "resume epoch:+1 due:now demand:3 events:+1 updated:now",
        [HELD] = "demand:3 events:+1 updated:now",
        [ASKED] = "unasked demand:3 events:+1 updated:now",
        [WAITING] = "active resume epoch:+1 due:now demand:3 events:+1 updated:now",
        [PAUSED] = "active resume epoch:+1 due:now demand:3 events:+1 updated:now",
        [REPAIR] = "active resume epoch:+1 due:now demand:3 events:+1 updated:now",
        [DEMANDED] = "demand:3 events:+1 updated:now",
    },
    [REACHED_JOB] = {
        [ENDED] = "same",
        [DUE] = "ends terminated",
        [HELD] = "ends terminated",
        [ASKED] = "ends terminated",
        [WAITING] = "ends terminated",
        [PAUSED] = "ends terminated",
        [REPAIR] = "ends terminated",
        [DEMANDED] = "ends terminated",
    },
    [RENEW] = {
        [ENDED] = "same",
        [DUE] = "same",
        [HELD] = "until:lease",
        [ASKED] = "until:lease",
        [WAITING] = "same",
        [PAUSED] = "same",
        [REPAIR] = "same",
        [DEMANDED] = "until:lease",
    },
    [RENEW_FOR_ANOTHER] = EVERYWHERE("same"),
};
/* clang-format on */

static void every_op_in_every_state_does_what_the_table_says(void **state)
{
    (void)state;
    for (int which = 0; which < OPS; which++) {
        for (int now = 0; now < STATES; now++) {
            struct words words = { .size = 0 };
            play((enum which)which, (enum state)now, &words);
            if (strcmp(words.text, expected[which][now]) != 0)
                fail_msg("op %d in state %d: \"%s\", not \"%s\"", which, now, words.text, expected[which][now]);
        }
    }
}

/* ---- History ----------------------------------------------------------------------------------------------------------------- */

struct scene {
    struct pw_core core;
    struct pw_unit unit;
    struct pawl_error error;
};

static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    pw_core_init(&scene->core, &frame, &scene->error);
    pw_unit_init(&scene->unit);
    scene->core.now_ms = NOW_MS;
    (void)add_run(&scene->core, FENCE, HELD);
    pw_core_begin_unit(&scene->core, &scene->unit);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    pw_unit_clear(&scene->unit);
    pw_core_clear(&scene->core);
    free(scene);
    return 0;
}

static enum pw_refusal decide(struct scene *scene, struct pw_op op)
{
    struct pw_op *kept = pw_arena_take(&scene->core.arena, sizeof *kept); /* records point at ops */
    assert_non_null(kept);
    *kept = op;
    pawl_status status = pw_core_decide(&scene->core, kept);
    assert_int_equal(status, pw_refusal_status(scene->unit.refusal));
    return scene->unit.refusal;
}

static struct pw_op step_op(int64_t seq, bool is_new)
{
    return OP(STEP, step, .instance = KEY, .run = RUN, .is_new = is_new, .row = { .seq = seq, .name = text("s") });
}

static void a_step_is_updated_only_where_there_is_one(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(decide(scene, step_op(1, true)), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, step_op(1, false)), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, step_op(2, false)), PW_REFUSED_MOVED);
}

static void a_second_step_of_one_number_is_trouble_and_no_refusal(void **state)
{
    struct scene *scene = *state;
    struct pw_op again = step_op(1, true);
    assert_int_equal(decide(scene, step_op(1, true)), PW_REFUSED_NOT);
    assert_int_equal(pw_core_decide(&scene->core, &again), PAWL_STORE_UNAVAILABLE);
    assert_int_equal(scene->unit.refusal, PW_REFUSED_NOT);
}

static void an_event_is_consumed_only_where_there_is_one(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(decide(scene, op_of(EVENT)), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, OP(CONSUME, consume, .instance = KEY, .run = RUN, .seq = EVENTS + 1)),
                     PW_REFUSED_NOT);
    assert_int_equal(decide(scene, OP(CONSUME, consume, .instance = KEY, .run = RUN, .seq = EVENTS + 2)),
                     PW_REFUSED_MOVED);
}

static void an_event_id_is_taken_once_and_an_answer_says_nothing_of_it(void **state)
{
    struct scene *scene = *state;
    struct pw_op event = OP(EVENT, event, .instance = KEY, .run = RUN, .id = text("e"), .type = text("go"));
    struct pw_op answer = event;
    answer.as.event.is_answer = true;
    assert_int_equal(decide(scene, event), PW_REFUSED_NOT);
    assert_int_equal(pw_core_decide(&scene->core, &answer), PAWL_OK);
    assert_false(answer.as.event.recorded);
    assert_int_equal(decide(scene, event), PW_REFUSED_EVENT_EXISTS);
}

static void log_lines_are_numbered_and_their_times_do_not_go_back(void **state)
{
    struct scene *scene = *state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(decide(scene, OP(LOG, log, .instance = KEY, .run = RUN,
                                          .row = { .created_at_ms = i == 0 ? LATER_MS : NOW_MS })),
                         PW_REFUSED_NOT);
    const struct pw_core_log *logs = scene->core.logs.rows;
    assert_int_equal(scene->core.logs.count, 2);
    assert_int_equal(logs[0].seq, 1);
    assert_int_equal(logs[1].seq, 2);
    assert_int_equal(logs[1].created_at_ms, LATER_MS);
}

static void a_create_needs_a_free_name(void **state)
{
    struct scene *scene = *state;
    struct pw_op skipped = OP(CREATE, create, .workflow = text("w"), .id = text("i"), .skip_existing = true);
    int64_t *key = pw_rows_add(&scene->core.keys);
    assert_non_null(key);
    *key = KEY + 10;
    assert_int_equal(pw_core_decide(&scene->core, &skipped), PAWL_OK);
    assert_false(skipped.as.create.created);
    assert_int_equal(decide(scene, OP(CREATE, create, .workflow = text("w"), .id = text("j"))), PW_REFUSED_NOT);
    const struct pw_core_run *made = pw_find_task(&scene->core, KEY + 10);
    assert_non_null(made);
    assert_int_equal(made->change, PW_CORE_NEW);
    assert_int_equal(made->task.due_at_ms, NOW_MS);
    assert_int_equal(decide(scene, OP(CREATE, create, .workflow = text("w"), .id = text("i"))),
                     PW_REFUSED_INSTANCE_EXISTS);
}

static void a_refused_unit_takes_everything_back(void **state)
{
    struct scene *scene = *state;
    struct pw_core_run before = *pw_find_task(&scene->core, KEY);
    pw_core_begin_unit(&scene->core, &scene->unit);
    assert_int_equal(decide(scene, op_of(PARK_WAITING)), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, op_of(EVENT)), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, OP(LOG, log, .instance = KEY, .run = RUN)), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, op_of(FENCE)), PW_REFUSED_MOVED);

    pw_core_undo_unit(&scene->core);

    const struct pw_core_run *after = pw_find_task(&scene->core, KEY);
    assert_memory_equal(&before.task, &after->task, sizeof before.task);
    assert_false(after->is_changed);
    assert_int_equal(scene->core.logs.count, 0);
    assert_null(pw_want_event(&scene->core, KEY, RUN, EVENTS + 1)->insert);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_op_in_every_state_does_what_the_table_says),
                                        TEST(a_step_is_updated_only_where_there_is_one),
                                        TEST(a_second_step_of_one_number_is_trouble_and_no_refusal),
                                        TEST(an_event_is_consumed_only_where_there_is_one),
                                        TEST(an_event_id_is_taken_once_and_an_answer_says_nothing_of_it),
                                        TEST(log_lines_are_numbered_and_their_times_do_not_go_back),
                                        TEST(a_create_needs_a_free_name),
                                        TEST(a_refused_unit_takes_everything_back) };
    return cmocka_run_group_tests_name("the core", tests, NULL, NULL);
}
