/* test_core.c - every op against every state of a task, with no store: what becomes of the row, or why the op is refused;
 * and what the op tells of it.
 *
 * The table says what changes, field by field ("epoch:+1 due:now"); "same" is a row that stays as it is, and a word in capitals
 * is a refusal.  A field that is not named must not change.  A second table has the effects. */
#include "core_fixture.h"
#include "kit/test.h"

static struct pw_lease lease;

enum which {
    FENCE,
    FENCE_STALE,
    FENCE_UNLESS_PAUSE,
    FENCE_UNLESS_EVENTS,
    FENCE_RENEWS,
    PARK_WAITING,
    PARK_UNSEEN,
    PARK_PAUSED,
    PARK_REPAIR,
    PARK_IF_REQUESTED,
    HOLD,
    CONTROL_PAUSE,
    CONTROL_RESUME,
    CONTROL_RESUME_HELD,
    CONTROL_INTERRUPT,
    CONTROL_TERMINATE,
    DEMAND_NONE,
    DEMAND_INTERRUPT,
    EVENT,
    EVENT_OF_OLD_RUN,
    EVENT_ONE_TOO_MANY,
    ANSWER,
    FINISH,
    FINISH_DEMANDED,
    END,
    RESTART,
    RESTART_HELD,
    RESTART_OF_OLD_RUN,
    REACHED,
    REACHED_JOB,
    RENEW,
    RENEW_FOR_ANOTHER,
    CLAIM,
    CLAIM_NOTHING,
    REAP,
    OPS
};

static struct pw_op op_of_lease(enum which which)
{
    switch (which) {
    case RENEW:
    case RENEW_FOR_ANOTHER:
        lease = (struct pw_lease){ .fence = fence_at(EPOCH) };
        return OP(RENEW, renew, .owner = which == RENEW ? OWNER : OTHER, .lease_ms = LEASE_MS, .leases = &lease,
                  .count = 1);
    case CLAIM:
    case CLAIM_NOTHING:
        return OP(CLAIM, claim, .owner = OTHER, .lease_ms = LEASE_MS, .max = which == CLAIM ? 1 : 0);
    default:
        return OP(REAP, reap, .reaped = 0);
    }
}

static struct pw_op op_of_finish(enum which which)
{
    switch (which) {
    case FINISH:
        return OP(FINISH, finish, .instance = KEY, .outcome = PW_OUTCOME_COMPLETE, .output = text("1"));
    case FINISH_DEMANDED:
        return OP(FINISH, finish, .instance = KEY, .outcome = PW_OUTCOME_TERMINATED, .demand_seen = PW_DEMAND_ROLLBACK);
    default: /* reached by the end of another run */
        return OP(FINISH, finish, .instance = CHILD, .outcome = PW_OUTCOME_TERMINATED,
                  .reach = { .parent = CHILD, .run = 1, .demand = PW_DEMAND_TERMINATE });
    }
}

static struct pw_op op_of_control(enum which which)
{
    enum pawl_control what = which == CONTROL_PAUSE       ? PAWL_CONTROL_PAUSE
                             : which == CONTROL_INTERRUPT ? PAWL_CONTROL_INTERRUPT
                             : which == CONTROL_TERMINATE ? PAWL_CONTROL_TERMINATE
                                                          : PAWL_CONTROL_RESUME;
    return OP(CONTROL, control, .workflow = text("w"), .id = text("i"), .what = what,
              .offer = { .owner = which == CONTROL_RESUME_HELD ? OTHER : 0, .lease_ms = LEASE_MS });
}

static struct pw_op op_of(enum which which)
{
    switch (which) {
    case FENCE:
        return OP(FENCE, fence, .at = fence_at(EPOCH));
    case FENCE_STALE:
        return OP(FENCE, fence, .at = fence_at(EPOCH - 1));
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
    case CONTROL_PAUSE:
    case CONTROL_RESUME:
    case CONTROL_RESUME_HELD:
    case CONTROL_INTERRUPT:
    case CONTROL_TERMINATE:
        return op_of_control(which);
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
    case FINISH_DEMANDED:
    case REACHED:
    case REACHED_JOB:
        return op_of_finish(which);
    case END:
        return OP(END, end, .workflow = text("w"), .id = text("i"));
    case RESTART:
        return OP(RESTART, restart, .instance = KEY, .run = RUN);
    case RESTART_HELD:
        return OP(RESTART, restart, .instance = KEY, .run = RUN, .hold_owner = OTHER, .hold_lease_ms = LEASE_MS);
    case RESTART_OF_OLD_RUN:
        return OP(RESTART, restart, .instance = KEY, .run = RUN - 1);
    case RENEW:
    case RENEW_FOR_ANOTHER:
    case CLAIM:
    case CLAIM_NOTHING:
    case REAP:
        return op_of_lease(which);
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

/* "parked:retry@9000": due for that reason at that time. */
static void say_effects(struct words *words, const struct pw_unit *unit)
{
    static const char *const kinds[] = { "begun", "parked", "held", "woken", "ended", "event", "step", "changed" };
    static const char *const reasons[] = { "", ":create", ":event", ":resume", ":retry", ":wake" };
    for (const struct pw_effect *effect = unit->effects; effect != NULL; effect = effect->next) {
        bool can_be_due = effect->kind <= PW_EFFECT_WOKEN;
        if (effect->instance == CHILD) /* which ends, and reaches the other */
            continue;
        assert_int_equal(effect->instance, KEY);
        say(words, "%s%s", kinds[effect->kind], can_be_due ? reasons[effect->as.due.reason] : "");
        if (can_be_due && effect->as.due.at_ms != 0)
            words->size += (size_t)sprintf(words->text + words->size, "@%d", (int)effect->as.due.at_ms);
        if (effect->is_job)
            words->size += (size_t)sprintf(words->text + words->size, " job");
    }
}

/* ---- The tables -------------------------------------------------------------------------------------------------------------- */

/* Another run, which is about to end. */
static void add_ending(struct pw_core *core)
{
    struct pw_core_run *run = pw_want_run(core, CHILD);
    assert_non_null(run);
    run->instance_run = run->run = 1;
    run->has_task = run->is_stored = true;
    run->task = task_in(HELD);
}

static void play(enum which which, enum state state, struct words *words, struct words *effects)
{
    struct pawl_error error = { PAWL_OK, "" };
    struct pw_core core;
    struct pw_unit unit;
    pw_core_init(&core, &frame, &error);
    pw_unit_init(&unit);
    core.now_ms = NOW_MS;
    struct pw_op op = op_of(which);
    assert_true(pw_core_want(&core, &op));
    struct pw_core_run *run = add_run(&core, which == REACHED_JOB ? PW_RELATION_JOB : PW_RELATION_ATTACHED, state);
    struct pw_core_run before = *run;
    if (which == REACHED || which == REACHED_JOB)
        add_ending(&core);
    if (op.kind == PW_OP_CONTROL)
        assert_true(pw_core_want_family(&core, &op.as.control, run));
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
    say_effects(effects, &unit);
    pw_unit_clear(&unit);
    pw_core_clear(&core);
}

/* In the order of enum state. */
#define EVERYWHERE(words)                                                                                              \
    {                                                                                                                  \
        words, words, words, words, words, words, words, words, words, words                                           \
    }
#define WITH_A_TASK(words)                                                                                             \
    {                                                                                                                  \
        "MOVED", words, words, words, words, words, words, words, words, words                                         \
    }

/* clang-format off */
static const char *const expected[OPS][STATES] = {
    [FENCE] = WITH_A_TASK("same"),
    [FENCE_STALE] = EVERYWHERE("MOVED"),
    [FENCE_UNLESS_PAUSE] = {
        [ENDED] = "MOVED",
        [DUE] = "same",
        [HELD] = "same",
        [ASKED] = "PAUSE_REQUESTED",
        [WAITING] = "same",
        [PAUSED] = "same",
        [REPAIR] = "same",
        [DEMANDED] = "same",
        [LAPSED] = "same",
        [FORSAKEN] = "PAUSE_REQUESTED",
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
        [LAPSED] = "until:lease",
        [FORSAKEN] = "until:lease",
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
        [LAPSED] = "waiting retry epoch:+1 free owner:0 until:0 due:9000 updated:now",
        [FORSAKEN] = "paused retry epoch:+1 free owner:0 until:0 due:9000 unasked updated:now",
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
        [LAPSED] = "waiting wake epoch:+1 free owner:0 until:0 due:now updated:now",
        [FORSAKEN] = "paused wake epoch:+1 free owner:0 until:0 due:now unasked updated:now",
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
        [LAPSED] = "paused resume epoch:+1 free owner:0 until:0 updated:now",
        [FORSAKEN] = "paused resume epoch:+1 free owner:0 until:0 unasked updated:now",
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
        [LAPSED] = "paused repair epoch:+1 free owner:0 until:0 updated:now",
        [FORSAKEN] = "paused repair epoch:+1 free owner:0 until:0 unasked updated:now",
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
        [LAPSED] = "resume epoch:+1 free owner:0 until:0 due:now updated:now",
        [FORSAKEN] = "paused resume epoch:+1 free owner:0 until:0 unasked updated:now",
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
        [LAPSED] = "epoch:+1 owner:41 until:lease updated:now",
        [FORSAKEN] = "epoch:+1 owner:41 until:lease unasked updated:now",
    },
    [CONTROL_PAUSE] = {
        [ENDED] = "ENDED",
        [DUE] = "paused epoch:+1 updated:now",
        [HELD] = "asked updated:now",
        [ASKED] = "same",
        [WAITING] = "paused epoch:+1 updated:now",
        [PAUSED] = "same",
        [REPAIR] = "same",
        [DEMANDED] = "asked updated:now",
        [LAPSED] = "paused epoch:+1 free owner:0 until:0 updated:now",
        [FORSAKEN] = "paused epoch:+1 free owner:0 until:0 unasked updated:now",
    },
    [CONTROL_RESUME] = {
        [ENDED] = "ENDED",
        [DUE] = "same",
        [HELD] = "same",
        [ASKED] = "unasked updated:now",
        [WAITING] = "same",
        [PAUSED] = "active resume epoch:+1 due:now updated:now",
        [REPAIR] = "REPAIR",
        [DEMANDED] = "same",
        [LAPSED] = "same",
        [FORSAKEN] = "unasked updated:now",
    },
    [CONTROL_RESUME_HELD] = {
        [ENDED] = "ENDED",
        [DUE] = "same",
        [HELD] = "same",
        [ASKED] = "unasked updated:now",
        [WAITING] = "same",
        [PAUSED] = "active epoch:+1 held owner:41 until:lease updated:now",
        [REPAIR] = "REPAIR",
        [DEMANDED] = "same",
        [LAPSED] = "same",
        [FORSAKEN] = "unasked updated:now",
    },
    [CONTROL_INTERRUPT] = {
        [ENDED] = "ENDED",
        [DUE] = "resume epoch:+1 due:now demand:1 events:+1 updated:now",
        [HELD] = "demand:1 events:+1 updated:now",
        [ASKED] = "unasked demand:1 events:+1 updated:now",
        [WAITING] = "active resume epoch:+1 due:now demand:1 events:+1 updated:now",
        [PAUSED] = "active resume epoch:+1 due:now demand:1 events:+1 updated:now",
        [REPAIR] = "active resume epoch:+1 due:now demand:1 events:+1 updated:now",
        [DEMANDED] = "same",
        [LAPSED] = "resume epoch:+1 free owner:0 until:0 due:now demand:1 events:+1 updated:now",
        [FORSAKEN] = "resume epoch:+1 free owner:0 until:0 due:now unasked demand:1 events:+1 updated:now",
    },
    [CONTROL_TERMINATE] = {
        [ENDED] = "ENDED",
        [DUE] = "ends terminated",
        [HELD] = "ends terminated",
        [ASKED] = "ends terminated",
        [WAITING] = "ends terminated",
        [PAUSED] = "ends terminated",
        [REPAIR] = "ends terminated",
        [DEMANDED] = "ends terminated",
        [LAPSED] = "ends terminated",
        [FORSAKEN] = "ends terminated",
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
        [LAPSED] = "demand:1 events:+1 updated:now",
        [FORSAKEN] = "unasked demand:1 events:+1 updated:now",
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
        [LAPSED] = "events:+1 updated:now",
        [FORSAKEN] = "events:+1 updated:now",
    },
    [FINISH] = {
        [ENDED] = "MOVED",
        [DUE] = "ends complete",
        [HELD] = "ends complete",
        [ASKED] = "ends complete",
        [WAITING] = "ends complete",
        [PAUSED] = "ends complete",
        [REPAIR] = "ends complete",
        [DEMANDED] = "DEMANDED",
        [LAPSED] = "ends complete",
        [FORSAKEN] = "ends complete",
    },
    [FINISH_DEMANDED] = WITH_A_TASK("ends terminated"),
    [END] = {
        [ENDED] = "same",
        [DUE] = "ends terminated",
        [HELD] = "ends terminated",
        [ASKED] = "ends terminated",
        [WAITING] = "ends terminated",
        [PAUSED] = "ends terminated",
        [REPAIR] = "ends terminated",
        [DEMANDED] = "ends terminated",
        [LAPSED] = "ends terminated",
        [FORSAKEN] = "ends terminated",
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
        [LAPSED] = "run:+1 epoch:-5 free owner:0 until:0 due:now events:-2 started:0 updated:now",
        [FORSAKEN] = "run:+1 epoch:-5 free owner:0 until:0 due:now unasked events:-2 started:0 updated:now",
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
        [LAPSED] = "run:+1 epoch:-4 owner:41 until:lease due:now events:-2 started:now updated:now",
        [FORSAKEN] = "run:+1 epoch:-4 owner:41 until:lease due:now unasked events:-2 started:now updated:now",
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
        [LAPSED] = "resume epoch:+1 free owner:0 until:0 due:now demand:3 events:+1 updated:now",
        [FORSAKEN] = "resume epoch:+1 free owner:0 until:0 due:now unasked demand:3 events:+1 updated:now",
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
        [LAPSED] = "ends terminated",
        [FORSAKEN] = "ends terminated",
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
        [LAPSED] = "until:lease",
        [FORSAKEN] = "until:lease",
    },
    [RENEW_FOR_ANOTHER] = EVERYWHERE("same"),
    [CLAIM] = {
        [ENDED] = "same",
        [DUE] = "epoch:+1 held owner:41 until:lease updated:now",
        [HELD] = "same",
        [ASKED] = "same",
        [WAITING] = "active epoch:+1 held owner:41 until:lease updated:now",
        [PAUSED] = "same",
        [REPAIR] = "same",
        [DEMANDED] = "same",
        [LAPSED] = "epoch:+1 owner:41 until:lease updated:now",
        [FORSAKEN] = "paused epoch:+1 free owner:0 until:0 unasked updated:now",
    },
    [CLAIM_NOTHING] = {
        "same", "same", "same", "same", "same", "same", "same", "same", "same",
        [FORSAKEN] = "paused epoch:+1 free owner:0 until:0 unasked updated:now",
    },
    [REAP] = {
        [ENDED] = "same",
        [DUE] = "same",
        [HELD] = "until:now",
        [ASKED] = "until:now",
        [WAITING] = "same",
        [PAUSED] = "same",
        [REPAIR] = "same",
        [DEMANDED] = "until:now",
        [LAPSED] = "same",
        [FORSAKEN] = "same",
    },
};

/* A case that is not named tells nothing. */
#define TOLD(words)                                                                                                    \
    {                                                                                                                  \
        NULL, words, words, words, words, words, words, words, words, words                                            \
    }
static const char *const told[OPS][STATES] = {
    [PARK_WAITING] = { NULL, "parked:retry@9000", "parked:retry@9000", [ASKED] = "parked", "parked:retry@9000",
                       "parked:retry@9000", "parked:retry@9000", "parked:retry@9000", "parked:retry@9000",
                       [FORSAKEN] = "parked" },
    [PARK_UNSEEN] = { NULL, "parked:wake@5000", "parked:wake@5000", [ASKED] = "parked", "parked:wake@5000",
                      "parked:wake@5000", "parked:wake@5000", "parked:wake@5000", "parked:wake@5000",
                      [FORSAKEN] = "parked" },
    [PARK_PAUSED] = TOLD("parked"),
    [PARK_REPAIR] = { NULL, "parked", "parked", "parked", "parked", "parked", "parked",
                      [DEMANDED] = "parked:resume@5000", "parked", "parked" },
    [PARK_IF_REQUESTED] = { NULL, "parked:resume@5000", "parked:resume@5000", [ASKED] = "parked", "parked:resume@5000",
                            "parked:resume@5000", "parked:resume@5000", "parked:resume@5000", "parked:resume@5000",
                            [FORSAKEN] = "parked" },
    [HOLD] = TOLD("held:resume"),
    [CONTROL_PAUSE] = { [DUE] = "parked", [HELD] = "changed", [WAITING] = "parked", [DEMANDED] = "changed",
                        [LAPSED] = "parked", [FORSAKEN] = "parked" },
    [CONTROL_RESUME] = { [ASKED] = "changed", [PAUSED] = "woken:resume", [FORSAKEN] = "changed" },
    [CONTROL_RESUME_HELD] = { [ASKED] = "changed", [PAUSED] = "held:resume", [FORSAKEN] = "changed" },
    [CONTROL_INTERRUPT] = { [DUE] = "changed changed woken:resume", [HELD] = "changed changed", [ASKED] = "changed changed",
                            [WAITING] = "changed changed woken:resume", [PAUSED] = "changed changed woken:resume",
                            [REPAIR] = "changed changed woken:resume", [LAPSED] = "changed changed woken:resume",
                            [FORSAKEN] = "changed changed woken:resume" },
    [CONTROL_TERMINATE] = TOLD("changed ended"),
    [DEMAND_NONE] = TOLD("changed"),
    [DEMAND_INTERRUPT] = TOLD("changed"),
    [EVENT] = TOLD("event"),
    [ANSWER] = { NULL, "event", "event", "event", [WAITING] = "event woken:event", "event", "event", "event", "event",
                 "event" },
    [FINISH] = { NULL, "ended", "ended", "ended", "ended", "ended", "ended", [DEMANDED] = NULL, "ended", "ended" },
    [FINISH_DEMANDED] = TOLD("ended"),
    [END] = TOLD("ended job"),
    [RESTART] = EVERYWHERE("begun:create"),
    [RESTART_HELD] = EVERYWHERE("begun:create"),
    [REACHED] = { NULL, "woken:resume", [HELD] = "changed", [ASKED] = "changed", "woken:resume", "woken:resume",
                  "woken:resume", [DEMANDED] = "changed", "woken:resume", "woken:resume" },
    [REACHED_JOB] = TOLD("ended job"),
    [CLAIM] = { [DUE] = "held", [WAITING] = "held", [LAPSED] = "held", [FORSAKEN] = "parked" },
    [CLAIM_NOTHING] = { [FORSAKEN] = "parked" },
};
/* clang-format on */

TEST(every_op_in_every_state_does_what_the_table_says)
{
    for (int which = 0; which < OPS; which++) {
        for (int now = 0; now < STATES; now++) {
            struct words words = { .size = 0 }, effects = { .size = 0 };
            play((enum which)which, (enum state)now, &words, &effects);
            const char *expected_effects = told[which][now] != NULL ? told[which][now] : "";
            if (strcmp(effects.text, expected_effects) != 0)
                fail_msg("op %d in state %d: effects \"%s\", not \"%s\"", which, now, effects.text, expected_effects);
            if (strcmp(words.text, expected[which][now]) != 0)
                fail_msg("op %d in state %d: \"%s\", not \"%s\"", which, now, words.text, expected[which][now]);
        }
    }
}
