/* sweep_crash.c - the store that dies at a chosen commit.  It sits between the world's trace and the real store.
 *
 * Once dead, it refuses every write.  That hides a dead process completely, because a turn that cannot commit begins
 * no further body.  Reads still work, because they change nothing. */
#include <stdio.h>

#include "base/error.h"
#include "testing/sweep.h"

/* ---- What a commit is about -------------------------------------------------------------------------------------- */

struct words {
    char text[160];
    size_t size;
};

/* "before", 'before "name"' or 'before "name" after'. */
static void say(struct words *words, const char *before, const char *name, const char *after)
{
    size_t left = sizeof words->text - words->size;
    int size = snprintf(words->text + words->size, left, "%s%s%s%.60s%s%s%s", words->size > 0 ? ", " : "", before,
                        name != NULL ? " \"" : "", name != NULL ? name : "", name != NULL ? "\"" : "",
                        after != NULL ? " " : "", after != NULL ? after : "");
    words->size += pw_text_mend(words->text + words->size, (size_t)size < left ? (size_t)size : left - 1);
    words->text[words->size] = '\0';
}

/* A commit is named after these ops.  All others only accompany them, and a claim may have found nothing. */
static void describe_op(struct words *words, const struct pw_op *op)
{
    static const char *const named[] = {
        [PW_OP_CREATE] = "create", [PW_OP_RESTART] = "restart", [PW_OP_STEP] = "step",     [PW_OP_EVENT] = "event",
        [PW_OP_PARK] = "park",     [PW_OP_CONTROL] = "control", [PW_OP_DEMAND] = "demand", [PW_OP_END] = "end",
        [PW_OP_FINISH] = "finish", [PW_OP_CLAIM] = "claim",     [PW_OP_SQL] = "change",    [PW_OP_MUTATE] = "change",
    };
    bool is_step = op->kind == PW_OP_STEP, is_claim = op->kind == PW_OP_CLAIM;
    if (op->kind >= sizeof named / sizeof named[0] || named[op->kind] == NULL ||
        (is_claim && op->as.claim.claim_count == 0))
        return;
    const char *name = is_step                    ? op->as.step.row.name.data
                       : is_claim                 ? op->as.claim.claims[0].workflow.data
                       : op->kind == PW_OP_CREATE ? op->as.create.workflow.data
                       : op->kind == PW_OP_EVENT  ? op->as.event.type.data
                       : op->kind == PW_OP_END    ? op->as.end.workflow.data
                                                  : NULL;
    say(words, named[op->kind], name, is_step ? pawl_step_status_name(op->as.step.row.status) : NULL);
}

static void note_commit(struct pw_sweep_crash *crash, const struct pw_unit *unit)
{
    struct words words = { .size = 0 };
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next)
        describe_op(&words, op);
    if (words.size == 0)
        return;
    const char *text = pw_arena_string(&crash->watch->arena, words.text);
    struct pw_sweep_commit *commit = text != NULL ? pw_rows_add(&crash->commits) : NULL;
    if (commit != NULL)
        *commit = (struct pw_sweep_commit){ crash->applied, text };
    else
        crash->watch->out_of_memory = true;
}

/* ---- What it does ------------------------------------------------------------------------------------------------ */

static void note_applied(struct pw_sweep_crash *crash, const struct pw_unit *unit)
{
    const struct pw_sweep_run *run = pw_sweep_main_run(crash->watch);
    for (const struct pw_effect *effect = unit->effects; effect != NULL; effect = effect->next)
        if (effect->kind == PW_EFFECT_ENDED && run != NULL && run->instance == effect->instance)
            crash->ended_at = crash->applied;
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind == PW_OP_STEP) {
            pw_sweep_note_recorded(crash->watch, &op->as.step);
        } else if (op->kind == PW_OP_CLAIM && op->as.claim.claim_count > 0) {
            crash->held = op->as.claim.claims[0].fence;
            crash->owner = op->as.claim.owner;
        }
    }
    note_commit(crash, unit);
}

static pawl_status refuse_as_dead(struct pawl_error *error)
{
    return pw_error(error, PAWL_STORE_UNAVAILABLE, "the process has died here, as the crash sweep wants it");
}

static pawl_status die(struct pw_sweep_crash *crash, struct pw_unit **lost, size_t count, struct pawl_error *error)
{
    crash->dead = crash->crashed = true;
    for (size_t i = 0; i < count; i++) {
        for (const struct pw_op *op = lost[i]->first; op != NULL; op = op->next) {
            if (op->kind == PW_OP_STEP)
                pw_sweep_note_lost(crash->watch, &op->as.step);
        }
    }
    return refuse_as_dead(error);
}

/* Each unit gets a transaction of its own, because units that happen to share one here may not do so elsewhere. */
static pawl_status crash_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct pw_sweep_crash *crash = (struct pw_sweep_crash *)store;
    struct pw_store *inner = crash->forward.inner;
    if (!crash->counting)
        return inner->ops->apply(inner, units, count, error);
    if (crash->dead || pw_sweep_has_seen_enough(crash->watch))
        return refuse_as_dead(error);
    for (size_t i = 0; i < count; i++) {
        bool is_now = ++crash->applied == crash->crash_at;
        if (is_now && !crash->after)
            return die(crash, units + i, count - i, error);
        pawl_status status = inner->ops->apply(inner, units + i, 1, error);
        if (status != PAWL_OK)
            return status;
        if (units[i]->status == PAWL_OK)
            note_applied(crash, units[i]);
        if (is_now)
            return die(crash, units + i + 1, count - i - 1, error);
    }
    return PAWL_OK;
}

struct pw_sweep_crash *pw_sweep_crash_insert(pawl_world *world, struct pw_sweep_watch *watch)
{
    struct pw_forward *outer = (struct pw_forward *)world->engine->store; /* the trace is a pw_forward */
    struct pw_sweep_crash *crash = pw_forward_new(outer->inner, sizeof *crash);
    if (crash == NULL)
        return NULL;
    crash->forward.ops.apply = crash_apply;
    crash->watch = watch;
    crash->commits = (struct pw_rows){ .arena = &watch->arena, .row_size = sizeof(struct pw_sweep_commit) };
    outer->inner = &crash->forward.store;
    return crash;
}
