/* waits.c - see waits.h.
 *
 * pw_waits_read() reads the newest waiting steps, makes a leaf of each (pw_waits_show()), and hangs each leaf into
 * the groups of the forks around it (build()).  A group is made when the first leaf needs it. */
#include "service/waits.h"

#include <string.h>

#include "base/limits.h"
#include "service/control.h"
#include "service/rows.h"
#include "value/value.h"

/* Nested forks up to DEPTH_MAX levels are shown.  Beyond that the outermost ones are left out. */
enum { DEPTH_MAX = 16, LOOK_BACK_BYTES_MAX = 256 * 1024 };

/* ---- Leaves ---------------------------------------------------------------------------------------------------- */

static enum pawl_why_kind kind_of(const struct pawl_step_record *step)
{
    static const enum pawl_why_kind of_step[] = {
        [PAWL_STEP_DO] = PAWL_WHY_BEGIN,          [PAWL_STEP_SLEEP] = PAWL_WHY_SLEEP,
        [PAWL_STEP_EVENT] = PAWL_WHY_EVENT,       [PAWL_STEP_FIRST] = PAWL_WHY_BEGIN,
        [PAWL_STEP_CALL] = PAWL_WHY_WORKER,       [PAWL_STEP_CHILD] = PAWL_WHY_CHILD,
        [PAWL_STEP_DEFERRED] = PAWL_WHY_DEFERRED,
    };
    bool is_of_another = step->kind == PAWL_STEP_CALL || step->kind == PAWL_STEP_CHILD;
    if (step->state == PAWL_STATE_FAILED)
        return PAWL_WHY_FAILED;
    if (step->next_retry_at_ms != 0)
        return PAWL_WHY_RETRY;
    /* A call or a child that a repair put back: nothing was asked of others yet. */
    return is_of_another && step->waits_for == NULL ? PAWL_WHY_BEGIN : of_step[step->kind];
}

static int64_t until_of(const struct pawl_step_record *step, enum pawl_why_kind kind)
{
    if (kind == PAWL_WHY_RETRY)
        return step->next_retry_at_ms;
    if (kind == PAWL_WHY_SLEEP)
        return step->wake_at_ms;
    return step->waits_for != NULL && kind != PAWL_WHY_FAILED ? step->waits_for->until_ms : 0;
}

pawl_status pw_waits_show(pawl_scope *scope, int64_t run, const struct pw_step_row *rows, size_t count,
                          struct pw_waits *out_waits)
{
    struct pw_waits waits = { .steps = pw_scope_take(scope, count * sizeof *waits.steps + 1),
                              .leaves = pw_scope_take(scope, count * sizeof *waits.leaves + 1),
                              .count = count };
    if (waits.steps == NULL || waits.leaves == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; i < count; i++) {
        struct pawl_step_record *step = &waits.steps[i];
        if (pw_rows_step(scope, run, &rows[i], step) != PAWL_OK)
            return PAWL_NOMEM;
        enum pawl_why_kind kind = kind_of(step);
        waits.leaves[i] = (struct pawl_why_node){
            .kind = kind, .branch = -1, .step = step, .since_ms = step->updated_at_ms, .until_ms = until_of(step, kind)
        };
    }
    *out_waits = waits;
    return PAWL_OK;
}

/* ---- Groups ---------------------------------------------------------------------------------------------------- */

static void hang(struct pawl_why_node *leaf, struct pawl_why_node *group)
{
    leaf->next = group->parts;
    group->parts = leaf;
}

void pw_waits_hang(struct pw_waits *waits, struct pawl_why_node *node)
{
    for (size_t i = 0; i < waits->count; i++)
        hang(&waits->leaves[i], node);
}

/* A branch: the fork's name and kind, and the branch's number. */
struct branch {
    const char *fork;
    enum pawl_why_kind kind;
    int64_t number;
};

static enum pawl_why_kind kind_of_fork(bool is_race)
{
    return is_race ? PAWL_WHY_FIRST : PAWL_WHY_ALL;
}

/* The branches around a step, innermost first.  Text that the engine did not write ends the list. */
static pawl_status branches_around(pawl_scope *scope, const struct pawl_step_place *place,
                                   struct branch out_branches[DEPTH_MAX], size_t *out_count)
{
    pawl_value *outer = NULL;
    *out_count = 0;
    if (place->fork == NULL)
        return PAWL_OK;
    out_branches[(*out_count)++] =
        (struct branch){ place->fork, kind_of_fork(place->kind == PAWL_FORK_FIRST), place->branch };
    if (place->within_json == NULL)
        return PAWL_OK;
    pawl_status status = pawl_value_parse(scope, place->within_json, strlen(place->within_json), &outer, NULL);
    if (status == PAWL_NOMEM)
        return status;
    const char *first = pawl_fork_kind_name(PAWL_FORK_FIRST);
    for (const pawl_value *at = status == PAWL_OK ? outer : NULL; at != NULL && *out_count < DEPTH_MAX;
         at = pawl_value_at(at, "within")) {
        bool is_race = strcmp(pawl_value_string(at, "kind", ""), first) == 0;
        out_branches[(*out_count)++] = (struct branch){ pawl_value_string(at, "fork", ""), kind_of_fork(is_race),
                                                        pawl_value_int(at, "branch", 0) };
    }
    return PAWL_OK;
}

/* The fork's group in branch `number` of another group.  Made if there is none.  NULL when memory runs out. */
static struct pawl_why_node *group_in(pawl_scope *scope, struct pawl_why_node *group, const struct branch *branch,
                                      int64_t number)
{
    for (const struct pawl_why_node *part = group->parts; part != NULL; part = part->next)
        if (part->step == NULL && part->branch == number && part->kind == branch->kind &&
            strcmp(part->fork, branch->fork) == 0)
            return (struct pawl_why_node *)part;
    struct pawl_why_node *made = pw_scope_take(scope, sizeof *made);
    if (made == NULL)
        return NULL;
    *made = (struct pawl_why_node){ .kind = branch->kind, .fork = branch->fork, .branch = number };
    hang(made, group);
    return made;
}

/* Hangs the leaf into the innermost group around it, going down from the top through the groups of the outer forks. */
static pawl_status place_leaf(pawl_scope *scope, struct pawl_why_node *leaf, struct pawl_why_node *top)
{
    struct branch branches[DEPTH_MAX];
    size_t depth;
    struct pawl_why_node *group = top;
    if (branches_around(scope, &leaf->step->place, branches, &depth) != PAWL_OK)
        return PAWL_NOMEM;
    while (depth > 0 && group != NULL) {
        group = group_in(scope, group, &branches[depth - 1], leaf->branch);
        leaf->branch = branches[--depth].number;
    }
    if (group == NULL)
        return PAWL_NOMEM;
    hang(leaf, group);
    return PAWL_OK;
}

/* Builds the tree.  Waiting steps are placed from the newest to the oldest, each in front of the others in its
 * group. */
static pawl_status build(pawl_scope *scope, struct pw_waits *waits)
{
    struct pawl_why_node *top = pw_scope_take(scope, sizeof *top);
    pawl_status status = top != NULL ? PAWL_OK : PAWL_NOMEM;
    if (top != NULL)
        *top = (struct pawl_why_node){ .kind = PAWL_WHY_ALL, .branch = -1 };
    for (size_t i = 0; status == PAWL_OK && i < waits->count; i++)
        if (waits->leaves[i].kind != PAWL_WHY_FAILED)
            status = place_leaf(scope, &waits->leaves[i], top);
    if (status != PAWL_OK || top->parts == NULL)
        return status;
    /* Most runs wait for one thing only: then that is the top. */
    waits->top = top->parts->next == NULL ? (struct pawl_why_node *)top->parts : top;
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

size_t pw_waits_keep(struct pw_step_row *rows, size_t count, bool (*passes)(const struct pw_step_row *row))
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (passes(&rows[i]))
            rows[kept++] = rows[i];
    return kept;
}

static bool undoes(const struct pw_step_row *row)
{
    return row->undoes.data != NULL;
}

/* A deferred is awaited only once it has a wake time.  Before that only its token was taken. */
static bool is_awaited(const struct pw_step_row *row)
{
    return row->kind != PAWL_STEP_DEFERRED || row->wake_at_ms != 0;
}

/* A run that is being undone waits only for its compensations, whatever its other waiting steps say. */
static size_t drop_idle(struct pw_step_row *rows, size_t count)
{
    bool is_being_undone = false;
    for (size_t i = 0; i < count; i++)
        is_being_undone = is_being_undone || undoes(&rows[i]);
    return pw_waits_keep(rows, count, is_being_undone ? undoes : is_awaited);
}

/* Reads the newest `max` waiting steps, and counts the others. */
static pawl_status read_waiting(struct pw_store *store, struct pw_arena *arena, const struct pw_instance *row,
                                size_t max, struct pw_step_row **out_rows, size_t *out_count, int64_t *out_more,
                                struct pawl_error *error)
{
    const struct pw_history_query query = { .instance = row->key, .run = row->run, .newest_first = true, .max = max };
    const struct pw_read asked = { .kind = PW_READ_WAITING_COUNT, .run = { .instance = row->key, .run = row->run } };
    struct pw_found found = { .total = (int64_t)max };
    pawl_status status = pw_read_waiting_steps(store, arena, &query, out_rows, out_count, error);
    if (status == PAWL_OK && *out_count == max)
        status = pw_read(store, &asked, arena, &found, error);
    if (status != PAWL_OK)
        return status;
    *out_more = found.total > (int64_t)max ? found.total - (int64_t)max : 0;
    *out_count = drop_idle(*out_rows, *out_count);
    return status;
}

pawl_status pw_waits_look_back(struct pw_store *store, struct pw_arena *arena, const struct pw_instance *row,
                               size_t max, struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    const struct pw_history_query query = {
        .instance = row->key, .run = row->run, .newest_first = true, .max = max, .bytes_max = LOOK_BACK_BYTES_MAX
    };
    return pw_read_steps(store, arena, &query, out_rows, out_count, error);
}

/* Reads the steps that a repair would put back, and those that wait in other branches. */
static pawl_status read_failed(struct pw_store *store, struct pw_arena *arena, const struct pw_instance *row,
                               size_t max, struct pw_step_row **rows, size_t *count, struct pawl_error *error)
{
    struct pw_step_row *failed = NULL, *both;
    size_t failed_count = 0;
    pawl_status status = pw_waits_look_back(store, arena, row, PW_PAGE_SIZE_MAX, &failed, &failed_count, error);
    if (status != PAWL_OK)
        return status;
    failed_count = pw_waits_keep(failed, failed_count, pw_repair_can_mend);
    failed_count = failed_count < max ? failed_count : max;
    if (failed_count == 0)
        return PAWL_OK;
    both = pw_arena_take(arena, (failed_count + *count) * sizeof *both);
    if (both == NULL)
        return PAWL_NOMEM;
    memcpy(both, failed, failed_count * sizeof *both);
    if (*count > 0) /* otherwise the rows may be NULL */
        memcpy(both + failed_count, *rows, *count * sizeof *both);
    *rows = both;
    *count += failed_count;
    return PAWL_OK;
}

/* A paused run has a node of its own on top.  Below it, failed steps come before what the run waits for. */
static pawl_status add_pause(pawl_scope *scope, const struct pw_instance *row, struct pw_waits *waits)
{
    bool is_repair = row->task.kind == PW_TASK_REPAIR;
    struct pawl_why_node *paused = pw_scope_take(scope, sizeof *paused);
    if (paused == NULL)
        return PAWL_NOMEM;
    *paused = (struct pawl_why_node){ .kind = is_repair ? PAWL_WHY_REPAIR : PAWL_WHY_PAUSED,
                                      .branch = -1,
                                      .since_ms = row->updated_at_ms,
                                      .parts = waits->top };
    for (size_t i = 0; i < waits->count; i++)
        if (waits->leaves[i].kind == PAWL_WHY_FAILED)
            hang(&waits->leaves[i], paused);
    waits->top = paused;
    return PAWL_OK;
}

pawl_status pw_waits_read(struct pw_store *store, pawl_scope *scope, struct pw_arena *arena,
                          const struct pw_instance *row, size_t max, struct pw_waits *out_waits,
                          struct pawl_error *error)
{
    const struct pw_task *task = &row->task;
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    int64_t more = 0;
    *out_waits = (struct pw_waits){ .count = 0 };
    if (!row->has_task || task->status == PW_TASK_ACTIVE)
        return PAWL_OK;
    pawl_status status = read_waiting(store, arena, row, max, &rows, &count, &more, error);
    if (status == PAWL_OK && task->status == PW_TASK_PAUSED && task->kind == PW_TASK_REPAIR)
        status = read_failed(store, arena, row, max, &rows, &count, error);
    if (status == PAWL_OK)
        status = pw_waits_show(scope, row->run, rows, count, out_waits);
    if (status == PAWL_OK)
        status = build(scope, out_waits);
    if (status == PAWL_OK && task->status == PW_TASK_PAUSED)
        status = add_pause(scope, row, out_waits);
    if (status == PAWL_OK && out_waits->top != NULL)
        out_waits->top->more = more;
    return status;
}
