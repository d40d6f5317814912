/* sweep_crash.c - the store that dies at a chosen commit.  It stands between the world's trace and the real store.
 *
 * Dead, it refuses every write, which is all that a dead process can be seen by: a turn that cannot commit hands out no
 * further body.  Reads go on; what is read then changes nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "testing/sweep.h"

/* ---- What a commit is about ------------------------------------------------------------------------------------------ */

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

/* What only goes along with something else, and what found nothing to do, is not named. */
static void describe_op(struct words *words, const struct pw_op *op)
{
    switch (op->kind) {
    case PW_OP_CREATE:
        say(words, "create", op->as.create.workflow.data, NULL);
        return;
    case PW_OP_RESTART:
        say(words, "restart", NULL, NULL);
        return;
    case PW_OP_STEP:
        say(words, "step", op->as.step.row.name.data, pawl_step_status_name(op->as.step.row.status));
        return;
    case PW_OP_EVENT:
        say(words, "event", op->as.event.type.data, NULL);
        return;
    case PW_OP_PARK:
        say(words, "park", NULL, NULL);
        return;
    case PW_OP_PAUSE:
        say(words, "pause", NULL, NULL);
        return;
    case PW_OP_DEMAND:
        say(words, "demand", NULL, NULL);
        return;
    case PW_OP_END:
        say(words, "end", op->as.end.workflow.data, NULL);
        return;
    case PW_OP_FINISH:
        say(words, "finish", NULL, NULL);
        return;
    case PW_OP_CLAIM:
        if (op->as.claim.claim_count > 0)
            say(words, "claim", op->as.claim.claims[0].workflow.data, NULL);
        return;
    case PW_OP_SQL:
    case PW_OP_MUTATE:
        say(words, "change", NULL, NULL);
        return;
    case PW_OP_FENCE:
    case PW_OP_CONSUME:
    case PW_OP_LOG:
    case PW_OP_HOLD:
    case PW_OP_REACH:
    case PW_OP_RENEW:
    case PW_OP_REAP:
    case PW_OP_HOOK_CLAIM:
    case PW_OP_HOOK_SETTLE:
    case PW_OP_HOOK_RESEND:
        return;
    }
}

bool pw_sweep_grow(struct pw_arena *arena, void **rows, size_t row_size, size_t count, size_t *capacity)
{
    if (count < *capacity)
        return true;
    size_t larger = *capacity == 0 ? 8 : *capacity * 2;
    void *fresh = pw_arena_take(arena, larger * row_size);
    if (fresh == NULL)
        return false;
    if (count > 0)
        memcpy(fresh, *rows, count * row_size);
    *rows = fresh;
    *capacity = larger;
    return true;
}

static void note_commit(struct pw_sweep_crash *crash, const struct pw_unit *unit)
{
    struct words words = { .size = 0 };
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next)
        describe_op(&words, op);
    if (words.size == 0)
        return;
    struct pw_arena *arena = &crash->watch->arena;
    void *rows = crash->commits;
    const char *text = pw_arena_string(arena, words.text);
    if (text == NULL ||
        !pw_sweep_grow(arena, &rows, sizeof *crash->commits, crash->commit_count, &crash->commit_capacity)) {
        crash->watch->out_of_memory = true;
        return;
    }
    crash->commits = rows;
    crash->commits[crash->commit_count++] = (struct pw_sweep_commit){ crash->applied, text };
}

/* ---- What it does ------------------------------------------------------------------------------------------------------ */

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

/* Each unit in a transaction of its own: what happens to share one here may not elsewhere. */
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

static void crash_close(struct pw_store *store)
{
    struct pw_sweep_crash *crash = (struct pw_sweep_crash *)store;
    crash->forward.inner->ops->close(crash->forward.inner);
    free(crash);
}

struct pw_sweep_crash *pw_sweep_crash_insert(pawl_world *world, struct pw_sweep_watch *watch)
{
    struct pw_forward *outer = (struct pw_forward *)world->engine->store; /* the trace, which is one */
    struct pw_sweep_crash *crash = calloc(1, sizeof *crash);
    if (crash == NULL)
        return NULL;
    pw_forward_init(&crash->forward, outer->inner);
    crash->forward.ops.apply = crash_apply;
    crash->forward.ops.close = crash_close;
    crash->watch = watch;
    outer->inner = &crash->forward.store;
    return crash;
}
