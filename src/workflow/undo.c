/* undo.c - compensations.
 *
 * A compensation is noted when its step completes, in this pass or in a replay.  When the run fails or is
 * interrupted, compensations run in the reverse order of completion.  They are steps like others: what was undone is
 * not undone again, and a compensation that waits for its next attempt suspends the run. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "common/text.h"
#include "value/value.h"
#include "workflow/run.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* FNV-1a.  It is part of stored names, so it must never change. */
static uint64_t number_of(struct pw_text name)
{
    uint64_t number = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < name.size; i++)
        number = (number ^ (unsigned char)name.data[i]) * UINT64_C(0x100000001b3);
    return number;
}

const char *pw_derived_name(pawl_run *run, const char *prefix, const char *name)
{
    enum { NUMBER_SIZE = 17 }; /* "~" and 16 digits */
    struct pw_text whole = pw_text_trim(pw_text_of(name));
    size_t room = PW_STEP_NAME_MAX - strlen(prefix);
    if (whole.size <= room)
        return pawl_scope_format(run->scope, "%s%.*s", prefix, (int)whole.size, whole.data);
    struct pw_text cut = pw_text_cut(whole, room - NUMBER_SIZE);
    return pawl_scope_format(run->scope, "%s%.*s~%016" PRIx64, prefix, (int)cut.size, cut.data, number_of(whole));
}

/* ---- Noting ------------------------------------------------------------------------------------------------------ */

static bool fill(pawl_run *run, struct pw_undo *undo, const char *name, const struct pw_plan *plan)
{
    const char *description = plan->undo_policy.description;
    undo->undo = plan->compensate->undo;
    undo->policy = plan->undo_policy;
    undo->name = pw_derived_name(run, PW_UNDOING, name);
    undo->policy.undoes = pawl_scope_format(run->scope, "%s", name);
    if (description != NULL)
        undo->policy.description = pawl_scope_format(run->scope, "%s", description);
    return undo->name != NULL && undo->policy.undoes != NULL &&
           (description == NULL) == (undo->policy.description == NULL);
}

/* Adds the chain from `first` to `last` to the run's list, without a lock. */
static void add(pawl_run *run, struct pw_undo *first, struct pw_undo *last)
{
    last->next = atomic_load(run->undos);
    while (!atomic_compare_exchange_weak(run->undos, &last->next, first))
        ;
}

/* The value is packed now, because the input may be freed before it is needed. */
pawl_status pw_undo_note(pawl_run *run, const char *name, const struct pw_plan *plan, const pawl_value *input,
                         const struct pawl_answer *answer)
{
    struct pw_undo *undo = pw_scope_take(run->scope, sizeof *undo);
    pawl_value *result;
    if (undo == NULL || !fill(run, undo, name, plan))
        return PAWL_NOMEM;
    undo->finished_at_ms = answer->finished_at_ms;
    undo->order = answer->order;
    PAWL_TRY(pw_value_of_text(run->scope, (struct pw_text){ answer->result_json, answer->result_size }, &result));
    PAWL_TRY(pawl_value_pack(run->scope, &undo->input, "{s:V, s:V}", "input", input, "result", result));
    add(run, undo, undo);
    return PAWL_OK;
}

void pw_undo_adopt(pawl_run *run, struct pw_undo *_Atomic *branch)
{
    struct pw_undo *first = atomic_exchange(branch, NULL), *last = first;
    if (first == NULL)
        return;
    while (last->next != NULL)
        last = last->next;
    add(run, first, last);
}

/* ---- Undoing ----------------------------------------------------------------------------------------------------- */

/* The step that finished last comes first. */
static int compare(const void *left, const void *right)
{
    const struct pw_undo *one = *(struct pw_undo *const *)left, *other = *(struct pw_undo *const *)right;
    if (one->finished_at_ms != other->finished_at_ms)
        return one->finished_at_ms < other->finished_at_ms ? 1 : -1;
    return one->order < other->order ? 1 : one->order > other->order ? -1 : 0;
}

/* The compensations in the order in which to run them.  A step that was called twice is listed twice.  NULL when
 * memory runs out. */
static struct pw_undo **sort(pawl_run *run, size_t *out_count)
{
    size_t count = 0, at = 0;
    struct pw_undo *newest = atomic_load(run->undos);
    for (const struct pw_undo *undo = newest; undo != NULL; undo = undo->next)
        count++;
    struct pw_undo **sorted = pw_scope_take(run->scope, (count + 1) * sizeof(struct pw_undo *));
    if (sorted == NULL)
        return NULL;
    for (struct pw_undo *undo = newest; undo != NULL; undo = undo->next)
        sorted[at++] = undo;
    qsort(sorted, count, sizeof(struct pw_undo *), compare);
    *out_count = count;
    return sorted;
}

enum { MESSAGE_SHOWN = 1024 }; /* fits into a log line */

/* Runs one compensation.  PAWL_FAILED: it failed for good, and run->failure says how. */
static pawl_status undo_one(pawl_run *run, const struct pw_undo *undo)
{
    struct pw_body body = pw_body_of(undo->name, undo->undo);
    struct pawl_answer answer;
    pawl_status status = pw_run_step(run, &undo->policy, &body, undo->input, &answer);
    if (pw_is_undecided(status))
        return status;
    if (status == PAWL_OK && answer.kind == PAWL_ANSWER_DONE)
        return PAWL_OK;
    if (status == PAWL_OK)
        (void)pw_run_failed(run, PAWL_FAILED, answer.error_name, answer.error_message);
    struct pawl_failure why = pawl_run_failure(run);
    struct pw_text error = pw_text_cut(pw_text_of(why.name), PW_ERROR_NAME_MAX);
    struct pw_text message = pw_text_cut(pw_text_of(why.message), MESSAGE_SHOWN);
    const char *kept = pawl_scope_format(run->scope, "step \"%s\" failed for good: %.*s: %.*s", undo->name,
                                         (int)error.size, error.data, (int)message.size, message.data);
    if (kept == NULL)
        return PAWL_NOMEM;
    status = pawl_lane_log(run->lane, NULL, PAWL_LOG_ERROR, NULL, kept, NULL, 0);
    if (pw_is_undecided(status))
        return status;
    return pw_run_failed(run, PAWL_FAILED, pawl_status_name(PAWL_COMPENSATION_FAILED), kept);
}

pawl_status pw_undo_all(pawl_run *run)
{
    size_t count;
    pawl_turn_unwind(run->turn);
    struct pw_undo **sorted = sort(run, &count);
    if (sorted == NULL)
        return PAWL_NOMEM;
    struct pawl_failure first = { NULL, NULL };
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && sorted[i]->order == sorted[i - 1]->order)
            continue;
        pawl_status status = undo_one(run, sorted[i]);
        if (pw_is_undecided(status))
            return status;
        if (status != PAWL_OK && first.name == NULL)
            first = run->failure;
    }
    return first.name == NULL ? PAWL_OK : pw_run_failed(run, PAWL_COMPENSATION_FAILED, first.name, first.message);
}
