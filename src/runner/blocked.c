/* blocked.c - threads that the author's code does not give back, and the workers that stand in for them.
 *
 * A body that has outlived its timeout, or workflow code that has run for too long, keeps its thread until it returns.  Each
 * such call counts as one blocked thread.  Once its turn is given up, every thread inside the turn counts, because those that
 * wait for its branches are not free either.  For each blocked thread there is one extra worker.  When blocked_max threads are
 * blocked, the engine's runners take nothing new.
 *
 * A tick has no workers.  Its thread is counted as well, and its keeper closes the turn that was given up. */
#include "runner/runner.h"

enum { LOOKS_PER_LIMIT = 4, LOOK_MS_MAX = 1000 };

bool pw_runner_is_full(const pawl_runner *runner)
{
    return atomic_load(&runner->engine->blocked.threads) >= runner->options.blocked_max;
}

bool pw_runner_takes_nothing(const pawl_runner *runner)
{
    return pw_runner_is_full(runner) || pw_schema_is_newer(&runner->engine->schema);
}

/* ---- Counting; all with the lock held ------------------------------------------------------------------------------ */

static void count_threads(pawl_runner *runner, pawl_turn *turn, int32_t by)
{
    turn->spares += by;
    runner->spares += by;
    atomic_fetch_add(&runner->engine->blocked.threads, by);
    if (by >= 0)
        return;
    pw_runner_call(runner, true);          /* the extra workers may leave */
    pw_runner_wake_keeper(runner, PW_NOW); /* runs that were kept out may be taken now */
}

void pw_runner_stand_in(pawl_runner *runner)
{
    while (runner->workers_alive < runner->options.workers + runner->spares && pw_runner_spawn(runner))
        continue;
}

/* Acts on what the watchdog did with the turn. */
static void take_over(pawl_runner *runner, pawl_turn *turn, enum pw_given_up given_up)
{
    if (given_up == PW_GIVEN_UP_NOT)
        return;
    int32_t inside = 1; /* the thread in its pass; helpers are added below */
    for (const struct pw_fork *fork = runner->forks; fork != NULL; fork = fork->next) {
        if (fork->turn == turn)
            inside += (int32_t)fork->helpers;
    }
    turn->given_up = true;
    if (turn->definition->advance != NULL) /* otherwise it is driven by hand, and no worker of ours is blocked */
        count_threads(runner, turn, inside - turn->spares);
    if (given_up == PW_GIVEN_UP_OPEN && (!runner->threaded || pw_turn_next(turn) != PW_NEXT_WAIT))
        pw_runner_push_ready(runner, turn); /* for a worker, or for the keeper of a tick */
}

void pw_runner_leave_turn(pawl_runner *runner, pawl_turn *turn, bool ends_pass)
{
    if (turn->given_up && turn->spares > 0)
        count_threads(runner, turn, ends_pass ? -turn->spares : -1);
}

void pw_runner_call_returns(pawl_runner *runner, pawl_turn *turn, struct pw_blocked_call *call)
{
    if (call->number == 0)
        return;
    pw_blocked_remove(&runner->engine->blocked, call);
    if (!turn->given_up && turn->spares > 0)
        count_threads(runner, turn, -1);
    else
        pw_runner_wake_keeper(runner, PW_NOW);
}

/* ---- Bodies ---------------------------------------------------------------------------------------------------------- */

/* With the lock held.  It has outlived its timeout. */
static void note_late_body(pawl_runner *runner, pawl_attempt *attempt, int64_t now_ms)
{
    pawl_turn *turn = attempt->turn;
    int64_t passed_ms = now_ms - (attempt->deadline_ms - attempt->policy.timeout_ms);
    attempt->blocked = (struct pw_blocked_call){ .instance = turn->claim.fence.instance,
                                                 .run = turn->claim.fence.run,
                                                 .workflow = turn->claim.workflow,
                                                 .id = turn->claim.id,
                                                 .step = attempt->step->row.name,
                                                 .in_body = true,
                                                 .began_at_ms = pawl_now_ms(runner->engine) - passed_ms };
    pw_blocked_add(&runner->engine->blocked, &attempt->blocked);
    if (!turn->given_up)
        count_threads(runner, turn, 1);
}

void pw_runner_expire(pawl_runner *runner, pawl_turn *turn, int64_t now_ms)
{
    enum pw_given_up given_up = pw_turn_expire(turn, runner->attempts, now_ms);
    for (pawl_attempt *attempt = runner->attempts; attempt != NULL; attempt = attempt->next) {
        if (attempt->turn == turn && attempt->expired && attempt->blocked.number == 0 &&
            turn->definition->advance != NULL)
            note_late_body(runner, attempt, now_ms);
    }
    take_over(runner, turn, given_up);
}

/* ---- Workflow code --------------------------------------------------------------------------------------------------- */

void pw_runner_code_returns(pawl_runner *runner, pawl_lane *lane)
{
    pthread_mutex_lock(&runner->lock);
    pw_runner_call_returns(runner, lane->turn, &lane->blocked);
    pthread_mutex_unlock(&runner->lock);
}

void pw_runner_watch_code(pawl_runner *runner, int64_t monotonic_ms)
{
    int64_t ms_max = runner->options.code_ms_max;
    if (ms_max < 0) {
        runner->watch_at_ms = INT64_MAX;
        return;
    }
    if (monotonic_ms < runner->watch_at_ms)
        return;
    for (pawl_turn *turn = runner->held, *next; turn != NULL; turn = next) {
        int32_t found;
        next = turn->held_next;
        if (turn->given_up)
            continue;
        enum pw_given_up given_up = pw_turn_watch_code(turn, runner->attempts, monotonic_ms, ms_max, &found);
        if (found > 0)
            count_threads(runner, turn, found);
        take_over(runner, turn, given_up);
    }
    int64_t pause_ms = ms_max / LOOKS_PER_LIMIT < LOOK_MS_MAX ? ms_max / LOOKS_PER_LIMIT + 1 : LOOK_MS_MAX;
    runner->watch_at_ms = monotonic_ms + pause_ms;
}
