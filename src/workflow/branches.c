/* branches.c - parallel branches: all of them, or the first. */
#include <stdatomic.h>
#include <string.h>

#include "value/value.h"
#include "workflow/run.h"

/* What the branches of one call have in common; in the run's scope. */
struct branch_set {
    pawl_run *run;
    struct pawl_branch *branches;
    struct pawl_failure *failures; /* of each, when its status says so */
    pawl_status *failed;
    pawl_status *statuses;
    bool *parked;                   /* those that wait for repair */
    struct pw_undo *_Atomic *undos; /* what each has done and can undo */
    size_t count;
};

static pawl_status run_branch(pawl_lane *lane, size_t position, void *user)
{
    struct branch_set *set = user;
    struct pawl_branch *branch = &set->branches[position];
    pawl_run run = *set->run;
    run.lane = lane;
    run.failed = PAWL_OK;
    run.undos = &set->undos[position];
    atomic_store(run.undos, NULL); /* it may have been called before in this pass */
    branch->result = NULL;
    pawl_status status = branch->run(&run, branch->input, &branch->result);
    set->failed[position] = run.failed;
    set->failures[position] = run.failure;
    set->parked[position] = run.parked;
    return run.parked ? PAWL_SUSPENDED : status;
}

static bool set_init(struct branch_set *set, pawl_run *run, struct pawl_branch *branches, size_t count)
{
    set->run = run;
    set->branches = branches;
    set->failures = pw_scope_take(run->scope, (count + 1) * sizeof *set->failures);
    set->failed = pw_scope_take(run->scope, (count + 1) * sizeof *set->failed);
    set->statuses = pw_scope_take(run->scope, (count + 1) * sizeof *set->statuses);
    set->parked = pw_scope_take(run->scope, count + 1);
    set->undos = pw_scope_take(run->scope, (count + 1) * sizeof *set->undos);
    set->count = count;
    if (set->parked != NULL)
        memset(set->parked, 0, count + 1);
    for (size_t i = 0; set->undos != NULL && i < count; i++)
        atomic_init(&set->undos[i], NULL);
    return set->undos != NULL && set->failures != NULL && set->failed != NULL && set->statuses != NULL &&
           set->parked != NULL;
}

static void adopt_all_undos(pawl_run *run, struct branch_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        pw_undo_adopt(run, &set->undos[i]);
}

/* The call did not go as planned.  A run of which a branch waits for repair waits for that; one that is interrupted undoes
 * what all of them did. */
static pawl_status refuse(pawl_run *run, struct branch_set *set, pawl_status status)
{
    adopt_all_undos(run, set);
    for (size_t i = 0; status == PAWL_SUSPENDED && i < set->count; i++)
        run->parked = run->parked || set->parked[i];
    return pw_run_refused(run, status);
}

/* The branch's failure becomes the run's. */
static pawl_status adopt_failure(pawl_run *run, const struct branch_set *set, size_t position)
{
    pawl_status status = set->statuses[position];
    if (set->failed[position] == status)
        return pw_run_failed(run, status, set->failures[position].name, set->failures[position].message);
    return pw_run_failed(run, status, pawl_status_name(status), pawl_status_text(status));
}

/* A branch without a function would crash at every start. */
static pawl_status check_branches(pawl_run *run, const struct pawl_branch *branches, size_t count)
{
    if (run->parked || pawl_lane_suspended(run->lane))
        return PAWL_SUSPENDED;
    for (size_t i = 0; i < count; i++) {
        if (branches == NULL || branches[i].run == NULL)
            return pawl_run_fail(run, pawl_status_name(PAWL_INVALID), "branch %zu has no function", i);
    }
    return PAWL_OK;
}

pawl_status pawl_all(pawl_run *run, const char *name, struct pawl_branch *branches, size_t count, size_t limit)
{
    struct branch_set set;
    PAWL_TRY(check_branches(run, branches, count));
    PAWL_TRY(pw_run_ready(run, name));
    if (!set_init(&set, run, branches, count))
        return PAWL_NOMEM;
    pawl_status status = pawl_lane_all(run->lane, name, strlen(name), count, limit, run_branch, &set, set.statuses);
    if (status != PAWL_OK)
        return refuse(run, &set, status);
    adopt_all_undos(run, &set);
    size_t failed = count;
    for (size_t i = count; i-- > 0;) {
        branches[i].status = set.statuses[i];
        if (set.statuses[i] != PAWL_OK)
            failed = i;
    }
    return failed == count ? PAWL_OK : adopt_failure(run, &set, failed);
}

pawl_status pawl_first(pawl_run *run, const char *name, struct pawl_branch *branches, size_t count, size_t *out_winner)
{
    struct branch_set set;
    size_t winner;
    PAWL_TRY(check_branches(run, branches, count));
    PAWL_TRY(pw_run_ready(run, name));
    if (!set_init(&set, run, branches, count))
        return PAWL_NOMEM;
    pawl_status status = pawl_lane_first(run->lane, name, strlen(name), count, run_branch, &set, &winner, set.statuses);
    if (status != PAWL_OK)
        return refuse(run, &set, status);
    adopt_all_undos(run, &set); /* a pass that undoes shows the losers, too: see pawl_turn_unwind() */
    for (size_t i = 0; i < count; i++)
        branches[i].status = i == winner ? set.statuses[i] : PAWL_STEP_ABANDONED;
    if (out_winner != NULL)
        *out_winner = winner;
    return set.statuses[winner] == PAWL_OK ? PAWL_OK : adopt_failure(run, &set, winner);
}
