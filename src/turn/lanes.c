/* lanes.c - forks: how branches are called, how a race is decided, and how the parent continues.  See lanes.h.
 *
 * A branch is NEW until it is called and RUNNING while its function runs.  Then it is FINISHED, or SUSPENDED until
 * its wait is over and it is called again from the top.
 *
 * fork_run() carries a fork through one pass:
 *
 *   1. fork_init() gives each branch a lane.  The lane starts at its parent's place and depends on the same units as
 *      its parent.
 *   2. The host is told of a fork with several branches, so that idle workers call pw_fork_help().
 *   3. carry_all() calls branches in the parent's thread until none can be called and none is running.
 *   4. The host forgets the fork and waits until all helpers have left, because the fork is on this thread's stack.
 *   5. join() lets the parent wait for the earliest of what its branches wait for, and depend on everything that
 *      they recorded.
 *
 * A race is a fork with a step of its own, which records the winner: the first branch that finishes.  The losers are
 * abandoned.  They are still called up to their first unfinished step, to find what they wait for; the unit that
 * records the winner ends those waits.  A replay calls only the winner, except when the run is undone and the
 * losers' completed steps must be undone with it. */
#include "turn/lanes.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "common/thread.h"
#include "turn/lines.h"
#include "turn/recall.h"

enum branch_state { BRANCH_NEW, BRANCH_RUNNING, BRANCH_SUSPENDED, BRANCH_FINISHED };

/* ---- Which lanes can run at the same time ------------------------------------------------------------------------ */

bool pw_lanes_are_concurrent(const pawl_lane *one, const pawl_lane *other)
{
    if (pw_lane_is_within(other, one) || pw_lane_is_within(one, other))
        return false;
    while (!pw_lane_is_within(other, one->parent))
        one = one->parent;
    return !one->joined; /* `one` is now a branch of the fork that separates the two */
}

/* ---- Carrying branches ------------------------------------------------------------------------------------------- */

/* Branches are begun in order.  Of the begun branches some are unfinished (active), and of those some are running. */
static void fork_check(const struct pw_fork *fork)
{
    assert(fork->running <= fork->active && fork->active <= fork->begun && fork->begun <= fork->count);
    assert(!fork->has_winner || fork->winner < fork->count);
}

/* True if a suspended branch may be called again: not after the race was won or the parent was abandoned. */
static bool may_resume(const struct pw_fork *fork)
{
    return !pw_turn_is_stopped(fork->turn) && !fork->has_winner && !pw_lane_is_abandoned(fork->parent);
}

/* Finds a suspended branch whose wait is over, or SIZE_MAX. */
static size_t find_resumable(const struct pw_fork *fork, int64_t now_ms)
{
    for (size_t i = 0; i < fork->begun; i++) {
        const pawl_lane *lane = &fork->lanes[i];
        if (fork->states[i] != BRANCH_SUSPENDED)
            continue;
        bool committed = lane->commit_wanted != 0 && lane->commit_wanted <= fork->turn->answered;
        bool told = lane->waits_for_event &&
                    (fork->turn->event_hint > lane->events_seen || fork->turn->history->event_seq > lane->events_seen);
        if (committed || told || lane->wake_at_ms <= now_ms)
            return i;
    }
    return SIZE_MAX;
}

/* With the lock held: takes the branch to call next, or SIZE_MAX.  New branches go first, then suspended ones whose
 * wait is over.  A suspended branch is called again only while others run; otherwise the whole pass unwinds, and the
 * next one calls it.  When a race is won, branches that were not called yet are still called: they are abandoned,
 * and only show what they wait for. */
static size_t take_branch(struct pw_fork *fork)
{
    size_t position = SIZE_MAX;
    fork_check(fork);
    if (pw_turn_is_stopped(fork->turn))
        return SIZE_MAX;
    if (fork->begun < fork->count && (fork->limit == 0 || fork->active < fork->limit)) {
        position = fork->begun++;
        fork->active++;
    } else if (fork->running > 0 && may_resume(fork)) {
        position = find_resumable(fork, pawl_now_ms(fork->turn->engine));
    }
    if (position == SIZE_MAX)
        return SIZE_MAX;
    if (fork->states[position] == BRANCH_SUSPENDED)
        pw_lane_begin(&fork->lanes[position]);
    fork->states[position] = BRANCH_RUNNING;
    fork->running++;
    return position;
}

/* Marks all losers.  Their bodies see it through pawl_attempt_cancelled(); their durable calls suspend them
 * at the first unfinished step. */
static void abandon_others(struct pw_fork *fork)
{
    for (size_t i = 0; i < fork->count; i++) {
        if (i != fork->winner)
            atomic_store(&fork->lanes[i].abandoned, true);
    }
}

/* With the lock held: a branch's function returned. */
static void note_branch(struct pw_fork *fork, size_t position, pawl_status status)
{
    pawl_lane *lane = &fork->lanes[position];
    assert(fork->running > 0 && fork->states[position] == BRANCH_RUNNING);
    fork->running--;
    if (status == PAWL_NOMEM && !lane->suspended)
        fork->turn->trouble = PAWL_NOMEM; /* not from a durable call: nothing else would wake the branch */
    if (lane->suspended || status == PAWL_NOMEM)
        status = PAWL_SUSPENDED; /* whatever the branch returned; and running out of memory decides nothing */
    fork->statuses[position] = status;
    fork->states[position] = status == PAWL_SUSPENDED ? BRANCH_SUSPENDED : BRANCH_FINISHED;
    if (status == PAWL_SUSPENDED)
        return;
    fork->active--;
    /* An interruption decides no race: the next pass gets to the same place. */
    if (fork->first_only && !fork->has_winner && !atomic_load(&lane->abandoned) && status != PAWL_INTERRUPTED) {
        fork->has_winner = true;
        fork->winner = position;
        abandon_others(fork);
    }
}

/* The earliest time at which a sleeping branch can go on; INT64_MAX: none will. */
static int64_t earliest_wake(const struct pw_fork *fork)
{
    int64_t at_ms = INT64_MAX;
    if (!may_resume(fork))
        return INT64_MAX;
    for (size_t i = 0; i < fork->begun; i++) {
        if (fork->states[i] == BRANCH_SUSPENDED && fork->lanes[i].wake_at_ms < at_ms)
            at_ms = fork->lanes[i].wake_at_ms;
    }
    return at_ms;
}

/* With the lock held, which it drops for a moment: tells the host when the next sleeping branch can go on, so that a
 * helper comes in time.  Every thread that leaves the fork alone for a while calls this, because the host forgets a
 * time once it has come. */
static void say_when_to_look(struct pw_fork *fork)
{
    pawl_turn *turn = fork->turn;
    int64_t wake_at_ms = fork->shared ? earliest_wake(fork) : INT64_MAX;
    if (wake_at_ms == INT64_MAX)
        return;
    pw_turn_unlock(turn);
    turn->host->help_wanted(turn->host->runner, turn, wake_at_ms);
    pw_turn_lock(turn);
}

/* Calls one branch, without the lock.  False if none can be called. */
static bool carry_one(struct pw_fork *fork)
{
    pawl_turn *turn = fork->turn;
    size_t position = take_branch(fork);
    if (position == SIZE_MAX)
        return false;
    pawl_lane *lane = &fork->lanes[position];
    pw_lane_enter_code(lane);
    pw_turn_unlock(turn);
    pawl_status status = fork->branch(lane, lane->position, fork->user);
    pw_turn_lock(turn);
    pw_lane_leave_code(lane, true);
    note_branch(fork, position, status);
    pthread_cond_broadcast(&turn->changed);
    if (fork->states[position] == BRANCH_SUSPENDED)
        say_when_to_look(fork);
    return true;
}

bool pw_fork_help(struct pw_fork *fork)
{
    pawl_turn *turn = fork->turn;
    bool any = false;
    pw_turn_lock(turn);
    while (carry_one(fork))
        any = true;
    say_when_to_look(fork);
    pw_turn_unlock(turn);
    return any;
}

/* With the lock held: calls branches until none can be called and none is running. */
static void carry_all(struct pw_fork *fork)
{
    pawl_turn *turn = fork->turn;
    for (;;) {
        if (carry_one(fork))
            continue;
        if (fork->running == 0)
            return;
        int64_t wake_at_ms = earliest_wake(fork);
        if (wake_at_ms == INT64_MAX)
            pthread_cond_wait(&turn->changed, &turn->lock);
        else
            pw_cond_wait_ms(&turn->changed, &turn->lock, wake_at_ms - pawl_now_ms(turn->engine));
    }
}

static bool any_unfinished(const struct pw_fork *fork)
{
    for (size_t i = 0; i < fork->count; i++) {
        if (fork->statuses[i] == PAWL_SUSPENDED)
            return true;
    }
    return false;
}

/* The last lines that the branches wrote are recorded with what the parent does next. */
static void join_lines(struct pw_fork *fork)
{
    pawl_lane *parent = fork->parent;
    pw_lines_move(parent, pw_place_behind(parent->place, ~(uint64_t)parent->forks)); /* a place that no branch has */
    for (size_t i = 0; i < fork->count; i++) {
        pw_lines_bring(parent, fork->lanes[i].place);
        if (fork->lanes[i].seq_met > parent->seq_met)
            parent->seq_met = fork->lanes[i].seq_met;
    }
}

/* The parent waits for what its unfinished branches wait for, and depends on the units that they submitted. */
static void join(struct pw_fork *fork)
{
    pawl_lane *parent = fork->parent;
    assert(fork->running == 0);
    parent->events_seen = INT64_MAX;
    for (size_t i = 0; i < fork->begun; i++) {
        pawl_lane *lane = &fork->lanes[i];
        lane->joined = true;
        if (lane->after > parent->after)
            parent->after = lane->after;
        if (fork->has_winner && i != fork->winner)
            continue;
        if (fork->states[i] == BRANCH_SUSPENDED) {
            pw_lane_wait_until(parent, lane->wake_at_ms, lane->wake_kind);
            if (lane->commit_wanted > parent->commit_wanted)
                parent->commit_wanted = lane->commit_wanted;
            parent->waits_for_event = parent->waits_for_event || lane->waits_for_event;
            if (lane->waits_for_event && lane->events_seen < parent->events_seen)
                parent->events_seen = lane->events_seen;
        }
        parent->told_interruption = parent->told_interruption || lane->told_interruption;
    }
    if (fork->has_winner || !any_unfinished(fork))
        join_lines(fork);
}

/* ---- Opening a fork ---------------------------------------------------------------------------------------------- */

static pawl_status fork_init(struct pw_fork *fork)
{
    pawl_turn *turn = fork->turn;
    pawl_lane *parent = fork->parent;
    bool is_race = fork->name.data == NULL;
    fork->lanes = pw_arena_take(&turn->pass_arena, (fork->count + 1) * sizeof *fork->lanes);
    fork->states = pw_arena_zero(&turn->pass_arena, fork->count + 1);
    struct pw_branching *branching = pw_arena_take(&turn->pass_arena, sizeof *branching);
    if (fork->lanes == NULL || fork->states == NULL || branching == NULL)
        return pw_turn_out_of_memory(turn);
    *branching = (struct pw_branching){ .kind = is_race ? PAWL_FORK_FIRST : PAWL_FORK_ALL,
                                        .name = !is_race                  ? fork->name
                                                : parent->reached != NULL ? parent->reached->row.name
                                                                          : pw_text_of(""),
                                        .is_kept = is_race };
    parent->forks++;
    for (size_t i = 0; i < fork->count; i++) {
        pawl_lane *lane = &fork->lanes[i];
        pw_lane_init(lane, turn, parent);
        lane->branching = branching;
        lane->fork = parent->forks;
        lane->position = fork->position_first + i;
        lane->place_first = pw_place_behind(pw_place_behind(parent->place, parent->forks), lane->position);
        lane->place = lane->place_first;
        fork->statuses[i] = PAWL_SUSPENDED;
    }
    if (fork->has_winner) /* an earlier turn recorded the winner */
        abandon_others(fork);
    return PAWL_OK;
}

/* With the lock held. */
static pawl_status fork_run(struct pw_fork *fork)
{
    pawl_turn *turn = fork->turn;
    PAWL_TRY(fork_init(fork));
    fork->shared = fork->count > 1;
    turn->open_forks += fork->shared;
    if (fork->shared) {
        fork->help = (struct pw_help){ .fork = fork, .turn = turn, .wake_at_ms = INT64_MAX };
        pw_turn_unlock(turn);
        turn->host->fork_opens(turn->host->runner, &fork->help);
        pw_turn_lock(turn);
    }
    carry_all(fork);
    if (fork->shared) {
        pw_turn_unlock(turn);
        turn->host->fork_closes(turn->host->runner, &fork->help);
        pw_turn_lock(turn);
        fork->shared = false;
        turn->open_forks--;
        carry_all(fork); /* what a helper left between the two calls */
    }
    join(fork);
    return PAWL_OK;
}

static pawl_status check_count(pawl_lane *lane, size_t count)
{
    if (lane->suspended)
        return PAWL_SUSPENDED;
    if (count > PW_BRANCHES_MAX)
        return pw_lane_error(lane, PAWL_INVALID, "%zu branches are more than the %d allowed", count, PW_BRANCHES_MAX);
    return PAWL_OK;
}

/* With the lock held. */
static void tell_of_fork(const pawl_lane *lane, size_t count, bool is_race)
{
    const struct pw_mocks *mocks = lane->turn->engine->mocks;
    if (mocks != NULL && mocks->forked != NULL)
        mocks->forked(mocks->user, lane, count, is_race);
}

pawl_status pawl_lane_all(pawl_lane *lane, const char *name, size_t name_size, size_t count, size_t limit,
                          pawl_lane_fn *branch, void *user, pawl_status *out_status)
{
    pawl_turn *turn = lane->turn;
    struct pw_fork fork = { .turn = turn,
                            .parent = lane,
                            .count = count,
                            .limit = limit,
                            .branch = branch,
                            .user = user,
                            .statuses = out_status };
    PAWL_TRY(check_count(lane, count));
    fork.name = pw_text_trim((struct pw_text){ name, name != NULL ? name_size : 0 });
    if (!pw_is_step_name(fork.name))
        return pw_lane_error(lane, PAWL_INVALID_STEP_NAME, "branches need a name of 1 to %d bytes of UTF-8",
                             PW_STEP_NAME_MAX);
    pw_turn_lock(turn);
    pw_lane_leave_code(lane, false);
    tell_of_fork(lane, count, false);
    pawl_status status = fork_run(&fork);
    if (status == PAWL_OK && any_unfinished(&fork))
        status = pw_lane_suspend(lane);
    pw_lane_enter_code(lane);
    pw_turn_unlock(turn);
    return status;
}

/* ---- Races ------------------------------------------------------------------------------------------------------- */

/* With the lock held.  The winner is recorded: calls only that branch.  With walks_losers it also calls the losers,
 * so that what they completed can be undone. */
static pawl_status replay_winner(struct pw_fork *fork, const struct pawl_answer *answer, size_t *out_winner)
{
    pawl_turn *turn = fork->turn;
    const char *chosen = answer->result_json;
    bool is_number = answer->result_size > 0 && chosen[0] >= '0' && chosen[0] <= '9';
    size_t winner = is_number ? strtoull(chosen, NULL, 10) : SIZE_MAX;
    if (winner >= fork->count)
        return pw_lane_error(fork->parent, PAWL_INVALID,
                             "branch %zu was first once, but now there are only %zu branches", winner, fork->count);
    const pawl_status *answered = &fork->statuses[winner];
    *out_winner = winner;
    if (turn->walks_losers) {
        fork->has_winner = true;
        fork->winner = winner;
    } else {
        turn->skipped_losers = fork->count > 1 || turn->skipped_losers;
        fork->statuses += winner;
        fork->position_first = winner;
        fork->count = 1;
    }
    pawl_status status = fork_run(fork);
    return status == PAWL_OK && *answered == PAWL_SUSPENDED ? pw_lane_suspend(fork->parent) : status;
}

/* Races that are running are listed, so that the watchdog can record their winners (pw_lanes_record_winners()). */
static void link_race(pawl_turn *turn, struct pw_fork *fork)
{
    fork->outer = turn->races;
    turn->races = fork;
}

static void unlink_race(pawl_turn *turn, const struct pw_fork *fork)
{
    struct pw_fork **link = &turn->races;
    while (*link != fork)
        link = &(*link)->outer;
    *link = fork->outer;
}

/* True if a waiting step was not reached in this pass.  It may belong to a loser that was not called yet, because
 * another body does not return. */
static bool has_unseen_waits(const pawl_turn *turn)
{
    const struct pw_step *step = turn->history->first;
    while (step != NULL &&
           !(step->in_store && step->row.status == PAWL_STEP_WAITING && step->reached_pass != turn->history->pass))
        step = step->next;
    return step != NULL;
}

pawl_status pw_lanes_record_winners(pawl_turn *turn)
{
    pawl_status status = PAWL_OK;
    for (struct pw_fork *fork = turn->races; fork != NULL && status == PAWL_OK; fork = fork->outer) {
        /* As in run_race(), but the watchdog cannot wait: the next turn decides what is not certain here. */
        bool known = turn->unsettled == 0 && !pw_turn_is_stopped(turn) && !has_unseen_waits(turn);
        if (!known || !fork->has_winner || pw_lane_is_abandoned(fork->parent))
            continue;
        join_lines(fork); /* a replay calls the winner again and treats its lines as recorded */
        status = pw_boundary_choose(fork->parent, fork->race, fork->winner);
    }
    return status;
}

/* A race without a recorded winner: runs the fork and, once everything that the losers did is certain, records who
 * was first. */
static pawl_status run_race(struct pw_fork *fork, struct pw_step *step, size_t *out_winner)
{
    pawl_lane *lane = fork->parent;
    pawl_turn *turn = fork->turn;
    fork->first_only = true;
    fork->race = step;
    link_race(turn, fork);
    pawl_status status = fork_run(fork);
    unlink_race(turn, fork);
    if (status != PAWL_OK)
        return status;
    if (!fork->has_winner) /* branches that finished without winning were interrupted */
        return any_unfinished(fork) ? pw_lane_suspend(lane) : PAWL_INTERRUPTED;
    /* What the losers wait for must be certain before it is abandoned. */
    if (turn->unsettled > 0 && pw_lane_await(lane, turn->submitted) != PAWL_OK)
        return PAWL_SUSPENDED;
    if (pw_turn_is_stopped(turn)) /* a stop, even a pause, may have kept losers from being called */
        return pw_lane_suspend(lane);
    /* A loser's step may be durable by now although the loser was not told of it. */
    turn->skipped_losers = any_unfinished(fork) || turn->skipped_losers;
    *out_winner = fork->winner;
    return pw_boundary_choose(lane, step, fork->winner);
}

/* A race inside a losing branch: its branches are called only to find what they wait for. */
static pawl_status walk_lost_race(struct pw_fork *fork)
{
    PAWL_TRY(fork_run(fork));
    return pw_lane_suspend(fork->parent);
}

pawl_status pawl_lane_first(pawl_lane *lane, const char *name, size_t name_size, size_t count, pawl_lane_fn *branch,
                            void *user, size_t *out_winner, pawl_status *out_status)
{
    pawl_turn *turn = lane->turn;
    struct pawl_answer answer;
    struct pw_call call = { lane, { name, name_size }, PAWL_STEP_FIRST, .answer = &answer };
    struct pw_fork fork = {
        .turn = turn, .parent = lane, .count = count, .branch = branch, .user = user, .statuses = out_status
    };
    PAWL_TRY(check_count(lane, count));
    if (count == 0)
        return pw_lane_error(lane, PAWL_INVALID, "a race needs at least one branch");
    for (size_t i = 0; i < count; i++)
        out_status[i] = PAWL_SUSPENDED;
    pawl_status status = pw_recall_enter(lane);
    if (status == PAWL_OK)
        status = pw_recall_reach(&call);
    uint64_t place = lane->place;
    if (status == PAWL_OK)
        tell_of_fork(lane, count, true);
    if (status == PAWL_OK)
        status = pw_recall_outcome(&call); /* no check for an interruption here: each branch finds out itself */
    lane->place = place; /* branches start at the place before the answer, both in a race and in its replay */
    if (status == PAWL_SUSPENDED && pw_lane_is_abandoned(lane))
        status = walk_lost_race(&fork);
    else if (status == PAWL_OK && call.is_answered)
        status = replay_winner(&fork, &answer, out_winner);
    else if (status == PAWL_OK)
        status = run_race(&fork, call.step, out_winner);
    if (status == PAWL_OK) {
        pw_lines_meet(lane, call.step); /* the winner's last lines were recorded with this step */
        uint64_t joined = lane->place;
        lane->place = place;
        pw_lines_pass(lane, call.step);
        pw_lines_bring(lane, joined);
    }
    pw_lane_enter_code(lane);
    pw_turn_unlock(turn);
    return status;
}
