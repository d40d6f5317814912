/* why.c - pawl_why(): why an instance does not move, and what would move it.
 *
 * Everything is decided from columns: the state of the task, the kinds, states and places of steps, and the rows of
 * jobs, children and runners.  Error names and messages decide nothing, with one exception: the step that failed a
 * run is recognised by having the run's own error. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "engine/functions.h"
#include "engine/shards.h"
#include "service/check.h"
#include "service/jobs.h"
#include "service/rows.h"
#include "service/waits.h"
#include "value/value.h"

/* A waiting run that is overdue by OVERDUE_MS is shown as due and not taken, instead of by what it waited for. */
enum { OVERDUE_MS = 2000, NUMBER_SIZE = 21 };

struct inquiry {
    pawl_engine *engine;
    pawl_scope *scope;
    struct pw_arena arena;
    struct pw_instance row;
    int64_t now_ms;
    struct pw_runner_row *runners;
    size_t runner_count;
    struct pw_waits waits;
    struct pawl_why_answer why;
    struct pawl_error *error;
};

/* ---- Runners --------------------------------------------------------------------------------------------------- */

static pawl_status read_runners(struct inquiry *inquiry)
{
    const struct pw_read asked = { .kind = PW_READ_RUNNERS };
    struct pw_found found = { .count = 0 };
    pawl_status status = pw_read(inquiry->engine->store, &asked, &inquiry->arena, &found, inquiry->error);
    inquiry->runners = found.runners;
    inquiry->runner_count = found.count;
    return status;
}

/* The number of runners that claim this workflow by themselves. */
static int64_t count_runners(const struct inquiry *inquiry, struct pw_text workflow)
{
    int64_t count = 0;
    for (size_t i = 0; i < inquiry->runner_count; i++)
        count += pw_runner_shares(&inquiry->runners[i], workflow);
    return count;
}

/* Names the runner with this id in the node, if it lives. */
static pawl_status name_runner(struct inquiry *inquiry, const char *id, struct pawl_why_node *node)
{
    for (size_t i = 0; i < inquiry->runner_count; i++) {
        char own[NUMBER_SIZE];
        (void)snprintf(own, sizeof own, "%lld", (long long)inquiry->runners[i].owner);
        if (strcmp(own, id) != 0)
            continue;
        node->runner_id = id;
        return pw_rows_string(inquiry->scope, inquiry->runners[i].name, &node->runner_name) ? PAWL_OK : PAWL_NOMEM;
    }
    return PAWL_OK;
}

/* ---- Commands -------------------------------------------------------------------------------------------------- */

/* The command for a leaf; leaf NULL: for the run.  For a leaf that waits for a child, it is about the child. */
static struct pawl_why_command command_of(const struct inquiry *inquiry, const struct pawl_why_node *leaf,
                                          enum pawl_verb verb)
{
    static const struct pawl_waits_for nobody = { .event_type = NULL };
    const struct pawl_waits_for *other =
        leaf != NULL && leaf->step->waits_for != NULL ? leaf->step->waits_for : &nobody;
    const struct pawl_instance *own = &inquiry->why.instance;
    bool names_nobody =
        verb == PAWL_VERB_NONE || verb == PAWL_VERB_SUCCEED || verb == PAWL_VERB_CLAIM || verb == PAWL_VERB_TICK;
    bool is_of_child = other->workflow != NULL;
    return (struct pawl_why_command){ .verb = verb,
                                      .workflow = names_nobody  ? NULL
                                                  : is_of_child ? other->workflow
                                                                : own->workflow,
                                      .id = names_nobody  ? NULL
                                            : is_of_child ? other->id
                                                          : own->id,
                                      .event_type = verb == PAWL_VERB_SEND_EVENT ? other->event_type : NULL,
                                      .function = verb == PAWL_VERB_CLAIM ? other->function : NULL };
}

/* A failed child is repaired before its parent.  A child that goes on, or has ended in another way by now, needs
 * nothing. */
static enum pawl_verb verb_of_leaf(const struct pawl_why_node *leaf)
{
    const struct pawl_step_job *job = leaf->step->job;
    if (leaf->kind == PAWL_WHY_EVENT)
        return PAWL_VERB_SEND_EVENT;
    if (leaf->kind == PAWL_WHY_DEFERRED)
        return PAWL_VERB_SUCCEED;
    if (leaf->kind == PAWL_WHY_CHILD)
        return PAWL_VERB_WHY;
    if (leaf->kind == PAWL_WHY_WORKER)
        return job != NULL && job->is_taken ? PAWL_VERB_WATCH : leaf->runners > 0 ? PAWL_VERB_NONE : PAWL_VERB_CLAIM;
    if (leaf->kind != PAWL_WHY_FAILED || !leaf->has_phase)
        return PAWL_VERB_NONE;
    return leaf->phase == PAWL_PHASE_ERRORED      ? PAWL_VERB_RETRY
           : leaf->phase == PAWL_PHASE_TERMINATED ? PAWL_VERB_RESTART
                                                  : PAWL_VERB_NONE;
}

/* The command that comes first in the order of verbs, among the failed leaves or among the waiting ones.  NONE: no
 * leaf has one. */
static struct pawl_why_command best_command(const struct pw_waits *waits, bool of_failed)
{
    struct pawl_why_command best = { .verb = PAWL_VERB_NONE };
    for (size_t i = waits->count; i > 0; i--) {
        const struct pawl_why_node *leaf = &waits->leaves[i - 1];
        if ((leaf->kind == PAWL_WHY_FAILED) == of_failed && leaf->command.verb != PAWL_VERB_NONE &&
            (best.verb == PAWL_VERB_NONE || leaf->command.verb < best.verb))
            best = leaf->command;
    }
    return best;
}

/* ---- Leaves ---------------------------------------------------------------------------------------------------- */

static bool is_of_child(const struct pawl_why_node *leaf)
{
    return leaf->step->kind == PAWL_STEP_CHILD && leaf->step->waits_for != NULL;
}

/* Adds the phases of the children that steps wait for or failed with.  All are read at once. */
static pawl_status add_phases(struct inquiry *inquiry)
{
    struct pw_waits *waits = &inquiry->waits;
    struct pw_text *names = pw_arena_take(&inquiry->arena, 2 * waits->count * sizeof *names + 1);
    struct pw_instance *rows = NULL;
    size_t count = 0, at = 0;
    if (names == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; i < waits->count; i++) {
        if (!is_of_child(&waits->leaves[i]))
            continue;
        names[count] = pw_text_of(waits->steps[i].waits_for->workflow);
        names[waits->count + count++] = pw_text_of(waits->steps[i].waits_for->id);
    }
    const struct pw_instances_wanted wanted = { .workflows = names, .ids = names + waits->count, .count = count };
    pawl_status status = PAWL_OK;
    if (count > 0)
        status = pw_read_instances(inquiry->engine->store, &inquiry->arena, &wanted, &rows, inquiry->error);
    for (size_t i = 0; status == PAWL_OK && i < waits->count; i++) {
        struct pawl_why_node *leaf = &waits->leaves[i];
        if (!is_of_child(leaf))
            continue;
        leaf->has_phase = rows[at].key != 0;
        leaf->phase = leaf->has_phase ? pw_rows_phase(&rows[at]) : PAWL_PHASE_QUEUED;
        at++;
    }
    return status;
}

static pawl_status add_job(struct inquiry *inquiry, struct pawl_why_node *leaf)
{
    char workflow[PW_JOB_WORKFLOW_SIZE];
    const struct pawl_step_job *job = leaf->step->job;
    const char *function = leaf->step->waits_for->function;
    if (strlen(function) <= PW_FUNCTION_NAME_MAX) /* otherwise the row is damaged */
        leaf->runners = count_runners(inquiry, pw_function_workflow(function, workflow));
    if (job == NULL)
        return PAWL_OK;
    leaf->until_ms = job->deadline_ms == INT64_MAX ? 0 : job->deadline_ms;
    leaf->since_ms = job->is_taken ? job->taken_at_ms : leaf->since_ms;
    return job->runner_id != NULL ? name_runner(inquiry, job->runner_id, leaf) : PAWL_OK;
}

/* Adds what other rows say about the leaves, and the commands that follow. */
static pawl_status complete_leaves(struct inquiry *inquiry)
{
    struct pw_waits *waits = &inquiry->waits;
    pawl_status status = pw_jobs_show(inquiry->engine, inquiry->scope, waits->steps, waits->count, inquiry->error);
    if (status == PAWL_OK)
        status = add_phases(inquiry);
    for (size_t i = 0; status == PAWL_OK && i < waits->count; i++) {
        struct pawl_why_node *leaf = &waits->leaves[i];
        if (leaf->kind == PAWL_WHY_WORKER)
            status = add_job(inquiry, leaf);
        leaf->command = command_of(inquiry, leaf, verb_of_leaf(leaf));
    }
    return status;
}

/* ---- Runs that have not ended ---------------------------------------------------------------------------------- */

static pawl_status explain_held(struct inquiry *inquiry, struct pawl_why_node *node)
{
    const struct pw_task *task = &inquiry->row.task;
    const char *id = pw_rows_runner_id(inquiry->scope, task->owner);
    pawl_status status = id != NULL ? name_runner(inquiry, id, node) : PAWL_NOMEM;
    bool lives = node->runner_id != NULL;
    node->kind = !lives ? PAWL_WHY_LOST : task->pause_requested ? PAWL_WHY_PAUSING : PAWL_WHY_RUNNING;
    node->since_ms = task->updated_at_ms;
    node->until_ms = lives ? 0 : task->locked_until_ms;
    node->runners = count_runners(inquiry, inquiry->row.workflow);
    if (lives)
        node->command = command_of(inquiry, NULL, task->pause_requested ? PAWL_VERB_RESUME : PAWL_VERB_WATCH);
    else
        node->command.verb = node->runners > 0 ? PAWL_VERB_NONE : PAWL_VERB_TICK;
    return status;
}

static void explain_due(struct inquiry *inquiry, struct pawl_why_node *node)
{
    const struct pw_task *task = &inquiry->row.task;
    bool is_due = task->due_at_ms > 0 && task->due_at_ms <= inquiry->now_ms;
    node->runners = count_runners(inquiry, inquiry->row.workflow);
    node->kind = node->runners > 0 ? PAWL_WHY_QUEUED : PAWL_WHY_UNSERVED;
    node->since_ms = is_due ? task->due_at_ms : inquiry->row.updated_at_ms;
    node->command.verb = node->runners > 0 ? PAWL_VERB_NONE : PAWL_VERB_TICK;
}

static void explain_waits(struct inquiry *inquiry, struct pawl_why_node *node)
{
    bool is_paused = inquiry->row.task.status == PW_TASK_PAUSED;
    struct pawl_why_command best = best_command(&inquiry->waits, /* of_failed= */ is_paused);
    *node = *inquiry->waits.top;
    /* A failed child is repaired before its parent is resumed. */
    node->command = is_paused && best.verb == PAWL_VERB_NONE ? command_of(inquiry, NULL, PAWL_VERB_RESUME) : best;
}

static pawl_status explain_open(struct inquiry *inquiry)
{
    const struct pw_task *task = &inquiry->row.task;
    struct pawl_why_node *node = &inquiry->why.node;
    pawl_status status = read_runners(inquiry);
    if (status == PAWL_OK)
        status = pw_waits_read(inquiry->engine->store, inquiry->scope, &inquiry->arena, &inquiry->row,
                               PAWL_WAITS_SHOWN_MAX, &inquiry->waits, inquiry->error);
    if (status == PAWL_OK)
        status = complete_leaves(inquiry);
    if (status != PAWL_OK)
        return status;
    bool is_overdue = task->status == PW_TASK_WAITING && task->due_at_ms <= inquiry->now_ms - OVERDUE_MS;
    if (task->processing)
        status = explain_held(inquiry, node);
    else if (inquiry->waits.top == NULL || is_overdue)
        explain_due(inquiry, node);
    else
        explain_waits(inquiry, node);
    if (node->command.verb == PAWL_VERB_NONE && task->demand != PW_DEMAND_NONE)
        node->command = command_of(inquiry, NULL, PAWL_VERB_WATCH);
    return status;
}

/* ---- Runs that have ended -------------------------------------------------------------------------------------- */

static bool is_failed_undoing(const struct pw_step_row *step)
{
    return step->undoes.data != NULL && pw_step_state(step) == PAWL_STATE_FAILED;
}

/* The step that failed last, if the run failed with its error.  A retry tries this step again (repair.c). */
static const struct pw_step_row *find_cause(const struct pw_instance *row, const struct pw_step_row *rows, size_t count)
{
    const struct pw_step_row *last = NULL;
    for (size_t i = 0; i < count; i++)
        if (pw_step_state(&rows[i]) == PAWL_STATE_FAILED && rows[i].undoes.data == NULL &&
            (last == NULL || rows[i].updated_at_ms > last->updated_at_ms))
            last = &rows[i];
    return last != NULL && pw_text_equal(last->error_name, row->error_name) &&
                   pw_text_equal(last->error_message, row->error_message)
               ? last
               : NULL;
}

/* The way on: a new run that keeps what had finished, or one from the top. */
static struct pawl_why_command way_on(const struct inquiry *inquiry)
{
    bool can_keep = inquiry->why.last_step != NULL && !inquiry->why.is_undone;
    if (inquiry->row.outcome != PW_OUTCOME_ERRORED || !can_keep)
        return command_of(inquiry, NULL, PAWL_VERB_RESTART);
    struct pawl_why_command best = best_command(&inquiry->waits, /* of_failed= */ true);
    return best.verb != PAWL_VERB_NONE ? best : command_of(inquiry, NULL, PAWL_VERB_RETRY);
}

static pawl_status explain_end(struct inquiry *inquiry, struct pw_step_row *rows, size_t count)
{
    static const enum pawl_why_kind of_outcome[] = {
        [PW_OUTCOME_OPEN] = PAWL_WHY_QUEUED,
        [PW_OUTCOME_COMPLETE] = PAWL_WHY_COMPLETE,
        [PW_OUTCOME_TERMINATED] = PAWL_WHY_TERMINATED,
        [PW_OUTCOME_ERRORED] = PAWL_WHY_ERRORED,
    };
    struct pawl_why_node *node = &inquiry->why.node;
    const struct pw_step_row *cause = find_cause(&inquiry->row, rows, count);
    struct pw_step_row kept = cause != NULL ? *cause : (struct pw_step_row){ .seq = 0 };
    size_t shown = pw_waits_keep(rows, count, is_failed_undoing);
    if (shown == 0 && cause != NULL) {
        rows[0] = kept;
        shown = 1;
    }
    pawl_status status = pw_waits_show(inquiry->scope, inquiry->row.run, rows, shown, &inquiry->waits);
    if (status == PAWL_OK)
        status = complete_leaves(inquiry);
    if (status != PAWL_OK)
        return status;
    node->kind = of_outcome[inquiry->row.outcome];
    node->since_ms = inquiry->row.completed_at_ms;
    pw_waits_hang(&inquiry->waits, node);
    node->command = way_on(inquiry);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

static pawl_status explain(struct inquiry *inquiry)
{
    struct pawl_why_answer *why = &inquiry->why;
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    struct pawl_step_record *last;
    pawl_status status = pw_rows_instance(inquiry->scope, &inquiry->row, &why->instance);
    if (status == PAWL_OK)
        status = pw_waits_look_back(inquiry->engine->store, &inquiry->arena, &inquiry->row,
                                    inquiry->row.has_task ? 1 : PW_PAGE_SIZE_MAX, &rows, &count, inquiry->error);
    if (status != PAWL_OK)
        return status;
    why->node.branch = -1;
    if (count > 0) {
        rows[0].result = (struct pw_text){ NULL, 0 };
        last = pw_scope_take(inquiry->scope, sizeof *last);
        if (last == NULL || pw_rows_step(inquiry->scope, inquiry->row.run, &rows[0], last) != PAWL_OK)
            return PAWL_NOMEM;
        why->last_step = last;
        why->is_undone = rows[0].undoes.data != NULL;
    }
    return inquiry->row.has_task ? explain_open(inquiry) : explain_end(inquiry, rows, count);
}

pawl_status pawl_why(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                     struct pawl_why_answer *out_why, struct pawl_error *error)
{
    struct pw_definition *definition;
    struct inquiry inquiry = { .engine = engine, .scope = scope, .error = error };
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_answer(scope, out_why, "out_why", error);
    if (status == PAWL_OK)
        status = pw_rows_read(engine, &inquiry.arena, definition->name, pw_text_of(id), &inquiry.row, error);
    if (status == PAWL_OK) {
        inquiry.now_ms = pawl_now_ms(engine);
        status = explain(&inquiry);
    }
    if (status == PAWL_OK)
        *out_why = inquiry.why;
    pw_arena_clear(&inquiry.arena);
    return status == PAWL_NOMEM ? pw_error_plain(error, status) : status;
}
