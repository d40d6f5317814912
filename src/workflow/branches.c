/* branches.c - parallel branches: pawl_all() and pawl_first().
 *
 * Each branch has a copy of the run with a lane, failure and undo list of its own.  When the branches are joined,
 * the run takes over what they have to undo, and the failure that counts. */
#include <stdatomic.h>
#include <string.h>

#include "value/value.h"
#include "workflow/run.h"

/* How a branch ended. */
struct branch_end {
    pawl_status failed; /* the status to which the failure belongs */
    struct pawl_failure failure;
    bool parked; /* it waits for repair */
    struct pw_undo *_Atomic undos;
};

/* The branches of one call. */
struct branch_set {
    pawl_run *run;
    struct pawl_branch *branches;
    struct branch_end *ends; /* one for each branch, like statuses, in the run's scope */
    pawl_status *statuses;
    size_t count;
};

static pawl_status run_branch(pawl_lane *lane, size_t position, void *user)
{
    struct branch_set *set = user;
    struct pawl_branch *branch = &set->branches[position];
    struct branch_end *end = &set->ends[position];
    pawl_run run = *set->run;
    run.lane = lane;
    run.failed = PAWL_OK;
    run.undos = &end->undos;
    atomic_store(run.undos, NULL); /* the branch may have been called before in this pass */
    branch->result = NULL;
    pawl_status status = branch->run(&run, branch->input, &branch->result);
    end->failed = run.failed;
    end->failure = run.failure;
    end->parked = run.parked;
    return run.parked ? PAWL_SUSPENDED : status;
}

/* Checks the branches, because one without a function would crash at every start, and makes room for their ends. */
static pawl_status begin(struct branch_set *set, pawl_run *run, const char *name, struct pawl_branch *branches,
                         size_t count)
{
    if (pw_run_is_stopped(run))
        return PAWL_SUSPENDED;
    for (size_t i = 0; i < count; i++) {
        if (branches == NULL || branches[i].run == NULL)
            return pawl_run_fail(run, pawl_status_name(PAWL_INVALID), "branch %zu has no function", i);
    }
    PAWL_TRY(pw_run_ready(run, name));
    *set = (struct branch_set){ .run = run, .branches = branches, .count = count };
    set->ends = pw_scope_take(run->scope, (count + 1) * sizeof *set->ends);
    set->statuses = pw_scope_take(run->scope, (count + 1) * sizeof *set->statuses);
    if (set->ends == NULL || set->statuses == NULL)
        return PAWL_NOMEM;
    memset(set->ends, 0, (count + 1) * sizeof *set->ends);
    return PAWL_OK;
}

/* The branches are joined, or could not be: the run undoes what any of them did.  If one waits for repair, the run
 * does as well. */
static pawl_status join(struct branch_set *set, pawl_status status)
{
    pawl_run *run = set->run;
    for (size_t i = 0; i < set->count; i++) {
        pw_undo_adopt(run, &set->ends[i].undos);
        run->parked = run->parked || (status == PAWL_SUSPENDED && set->ends[i].parked);
    }
    return pw_run_relay(run, status);
}

/* If the branch failed, its failure becomes the run's. */
static pawl_status adopt(pawl_run *run, const struct branch_set *set, size_t position)
{
    pawl_status status = set->statuses[position];
    const struct branch_end *end = &set->ends[position];
    struct pawl_failure failure = pw_failure_of(status, end->failed, end->failure);
    return status == PAWL_OK ? PAWL_OK : pw_run_failed(run, status, failure.name, failure.message);
}

pawl_status pawl_all(pawl_run *run, const char *name, struct pawl_branch *branches, size_t count, size_t limit)
{
    struct branch_set set;
    size_t failed = 0;
    PAWL_TRY(begin(&set, run, name, branches, count));
    PAWL_TRY(join(&set, pawl_lane_all(run->lane, name, strlen(name), count, limit, run_branch, &set, set.statuses)));
    for (size_t i = 0; i < count; i++)
        branches[i].status = set.statuses[i];
    while (failed < count && set.statuses[failed] == PAWL_OK)
        failed++;
    return failed == count ? PAWL_OK : adopt(run, &set, failed);
}

pawl_status pawl_first(pawl_run *run, const char *name, struct pawl_branch *branches, size_t count, size_t *out_winner)
{
    struct branch_set set;
    size_t winner;
    PAWL_TRY(begin(&set, run, name, branches, count));
    /* Losers are joined as well, because a pass that undoes calls them again: see pawl_turn_unwind(). */
    PAWL_TRY(
        join(&set, pawl_lane_first(run->lane, name, strlen(name), count, run_branch, &set, &winner, set.statuses)));
    for (size_t i = 0; i < count; i++)
        branches[i].status = i == winner ? set.statuses[i] : PAWL_STEP_ABANDONED;
    if (out_winner != NULL)
        *out_winner = winner;
    return adopt(run, &set, winner);
}
