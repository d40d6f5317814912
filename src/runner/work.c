/* work.c - workers: ready turns, their passes, the branches of forks; and how a turn comes and goes. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "runner/runner.h"
#include "turn/lease.h"

enum { BEGUN_SOON_MS = 20, BEGUN_LATE_MS = 200, TROUBLE_MS_MIN = 1000, TROUBLE_MS_MAX = 16000, SHORT_MS = 200 };

/* ---- Coming -------------------------------------------------------------------------------------------------------- */

void pw_runner_call(pawl_runner *runner, bool all)
{
    runner->calls++;
    if (all)
        pthread_cond_broadcast(&runner->work);
    else
        pthread_cond_signal(&runner->work);
}

void pw_runner_push_ready(pawl_runner *runner, pawl_turn *turn)
{
    turn->ready_next = NULL;
    *runner->ready_end = turn;
    runner->ready_end = &turn->ready_next;
    atomic_fetch_add(&runner->ready_count, 1);
    pw_runner_call(runner, false);
}

pawl_turn *pw_runner_pop_ready(pawl_runner *runner)
{
    pawl_turn *turn = runner->ready_first;
    if (turn == NULL)
        return NULL;
    runner->ready_first = turn->ready_next;
    if (runner->ready_first == NULL)
        runner->ready_end = &runner->ready_first;
    atomic_fetch_sub(&runner->ready_count, 1);
    return turn;
}

pawl_turn *pw_runner_make_turn(pawl_runner *runner, const struct pw_claim *claim)
{
    struct pw_definition *definition = pw_engine_find(runner->engine, claim->workflow);
    pawl_turn *turn =
        definition != NULL ? pw_turn_new(runner->engine, definition, claim, &pw_runner_host, runner) : NULL;
    if (turn == NULL)
        return NULL;
    turn->owner = runner->owner;
    turn->lease_ms = runner->options.lease_ms;
    pw_turn_note_lease(turn, claim->leased_from_ms, runner->options.lease_ms);
    pthread_mutex_lock(&runner->lock);
    turn->held_next = runner->held;
    if (runner->held != NULL)
        runner->held->held_previous = turn;
    runner->held = turn;
    runner->held_count++;
    pthread_mutex_unlock(&runner->lock);
    return turn;
}

void pw_runner_accept(pawl_runner *runner, const struct pw_claim *claim)
{
    pawl_turn *turn = pw_runner_make_turn(runner, claim);
    if (turn == NULL)
        return; /* memory is out: the lease will expire */
    pthread_mutex_lock(&runner->lock);
    turn->counted = true;
    turn->ready_since_ms = pw_system_monotonic_ms();
    runner->fresh++;
    pw_runner_push_ready(runner, turn);
    pthread_mutex_unlock(&runner->lock);
}

/* Called by the first worker that touches a turn.  If the turn was begun soon, more can be taken on ahead.  If it had to wait,
 * new runs had better go to other runners. */
static void note_begun(pawl_runner *runner, pawl_turn *turn)
{
    if (!turn->counted)
        return;
    turn->counted = false;
    runner->fresh--;
    int64_t waited_ms = pw_system_monotonic_ms() - turn->ready_since_ms;
    if (waited_ms <= BEGUN_SOON_MS && runner->window < runner->options.in_flight_max)
        runner->window++;
    else if (waited_ms > BEGUN_LATE_MS)
        runner->window = runner->window / 2 > runner->options.workers ? runner->window / 2 : runner->options.workers;
}

/* ---- Going --------------------------------------------------------------------------------------------------------- */

void pw_runner_wake_keeper(pawl_runner *runner, int64_t due_at_ms)
{
    if (due_at_ms < runner->next_due_ms)
        runner->next_due_ms = due_at_ms;
    if (runner->threaded && due_at_ms < runner->keeper_until_ms)
        pthread_cond_signal(&runner->watch);
}

static void unhold(pawl_runner *runner, pawl_turn *turn)
{
    *(turn->held_previous != NULL ? &turn->held_previous->held_next : &runner->held) = turn->held_next;
    if (turn->held_next != NULL)
        turn->held_next->held_previous = turn->held_previous;
    runner->held_count--;
    runner->turns++;
}

/* True while an earlier call of this run's code blocks a thread of this process.  Other processes may take the run. */
static bool is_kept_out(pawl_runner *runner, const pawl_turn *turn)
{
    const struct pw_fence *fence = &turn->claim.fence;
    return pw_blocked_keeps_out(&runner->engine->blocked, fence->instance, fence->run);
}

/* While the store is in trouble each delay is twice the last one, because a body whose outcome cannot be recorded runs in vain.
 * Turns that are hit by the same trouble share one delay. */
static int64_t next_delay(pawl_runner *runner, const pawl_turn *turn)
{
    int64_t now_ms = pawl_now_ms(runner->engine);
    if (atomic_load(&turn->chain.broken) == PAWL_CONFLICT || is_kept_out(runner, turn))
        return 0;
    if (turn->is_short) /* memory is short, the store is well */
        return SHORT_MS;
    pthread_mutex_lock(&runner->lock);
    if (runner->trouble_ms == 0 || now_ms >= runner->trouble_until_ms) {
        runner->trouble_ms = runner->trouble_ms == 0 ? TROUBLE_MS_MIN : runner->trouble_ms * 2;
        if (runner->trouble_ms > TROUBLE_MS_MAX)
            runner->trouble_ms = TROUBLE_MS_MAX;
        runner->trouble_until_ms = now_ms + runner->trouble_ms;
    }
    int64_t delay_ms = runner->trouble_ms;
    pthread_mutex_unlock(&runner->lock);
    return delay_ms;
}

/* With the lock held. */
static void owe(pawl_runner *runner, struct pw_owed *owed)
{
    owed->next = runner->owed;
    runner->owed = owed;
}

void pw_runner_pay_owed(pawl_runner *runner)
{
    pthread_mutex_lock(&runner->lock);
    struct pw_owed *list = runner->owed;
    runner->owed = NULL;
    pthread_mutex_unlock(&runner->lock);
    while (list != NULL) {
        struct pw_owed *owed = list;
        list = owed->next;
        if (pw_turn_release(runner->engine, &owed->fence, owed->is_job, 0) == PAWL_OK) {
            free(owed);
            continue;
        }
        pthread_mutex_lock(&runner->lock);
        owe(runner, owed);
        pthread_mutex_unlock(&runner->lock);
    }
}

/* Gives the lease back that a lost turn may have left in place.  If the store does not take it, it is owed: tried again, or,
 * when memory is out as well, left to expire. */
static struct pw_owed *release(pawl_runner *runner, const pawl_turn *turn)
{
    const struct pw_fence *fence = &turn->claim.fence;
    bool is_job = turn->definition->is_function;
    if (pw_turn_release(runner->engine, fence, is_job, next_delay(runner, turn)) == PAWL_OK)
        return NULL;
    struct pw_owed *owed = malloc(sizeof *owed);
    if (owed != NULL)
        *owed = (struct pw_owed){ .fence = *fence, .is_job = is_job };
    return owed;
}

/* Is it due before other runners poll again?  They would be late for it. */
static bool is_due_soon(pawl_runner *runner, const pawl_turn *turn)
{
    return atomic_load(&runner->has_others) && turn->phase == PW_TURN_OVER && !turn->finished &&
           turn->due_at_ms - pawl_now_ms(runner->engine) < runner->options.poll_ms;
}

void pw_runner_retire(pawl_runner *runner, pawl_turn *turn)
{
    struct pw_fence fence;
    bool lost = turn->phase != PW_TURN_OVER;
    struct pw_history *history = pw_turn_take_history(turn, &fence);
    struct pw_owed *owed = lost ? release(runner, turn) : NULL;
    bool soon = is_due_soon(runner, turn);
    pthread_mutex_lock(&runner->lock);
    if (!lost)
        runner->trouble_ms = 0;
    unhold(runner, turn);
    note_begun(runner, turn);
    if (lost && atomic_load(&turn->chain.broken) == PAWL_CONFLICT) {
        runner->leases_lost++;
        pw_stats_lease_lost(&runner->engine->stats);
    }
    if (owed != NULL)
        owe(runner, owed);
    if (history != NULL && runner->options.cache_bytes > 0 && !runner->options.always_replay) {
        pw_cache_put(&runner->cache, &fence, history);
        history = NULL;
    }
    if (!lost && !turn->finished) {
        if (soon && turn->due_at_ms < runner->parked_due_ms)
            runner->parked_due_ms = turn->due_at_ms;
        pw_runner_wake_keeper(runner, turn->due_at_ms);
    }
    pw_runner_wake_keeper(runner, runner->next_due_ms); /* there is room again */
    if (atomic_load(&runner->stopping))
        pthread_cond_signal(&runner->watch); /* the keeper leaves when the last turn has */
    pthread_mutex_unlock(&runner->lock);
    pw_history_free(history);
    pw_turn_unref(turn);
}

/* ---- Carrying ------------------------------------------------------------------------------------------------------- */

/* A refusal of a step's changes is recorded nowhere else, so a history that has one must not be dropped. */
static bool has_rejection(const struct pw_history *history)
{
    const struct pw_step *step = history->first;
    while (step != NULL && step->rejected == PW_REFUSED_NOT)
        step = step->next;
    return step != NULL;
}

pawl_status pw_runner_load(pawl_runner *runner, pawl_turn *turn)
{
    struct pw_history *warm = NULL;
    bool used = turn->history != NULL && turn->history->pass >= turn->history->turn_pass;
    if (turn->history != NULL && (!used || !runner->options.always_replay || has_rejection(turn->history)))
        return PAWL_OK;
    if (turn->history == NULL) {
        pthread_mutex_lock(&runner->lock);
        warm = pw_cache_take(&runner->cache, &turn->claim.fence);
        pthread_mutex_unlock(&runner->lock);
    } else {
        turn->claim.is_first = false; /* it has rows by now */
        turn->claim.event_seq = turn->history->event_seq;
    }
    return pw_turn_load(turn, warm, NULL);
}

bool pw_runner_leave_dead(pawl_runner *runner, pawl_turn *turn)
{
    pthread_mutex_lock(&runner->lock);
    bool is_anothers = turn->given_up;
    pw_runner_leave_turn(runner, turn, true);
    pthread_mutex_unlock(&runner->lock);
    return is_anothers;
}

/* Carries the turn as far as it goes without waiting. */
static void drive(pawl_runner *runner, pawl_turn *turn)
{
    for (bool alive = true; alive;) {
        enum pw_next next = pw_turn_next(turn);
        if (next == PW_NEXT_WAIT)
            return;                          /* it may be retired by another thread already */
        bool is_new = turn->history == NULL; /* maybe a service handed it over although it is kept out */
        if (next == PW_NEXT_END || (is_new && is_kept_out(runner, turn)) || pw_runner_load(runner, turn) != PAWL_OK) {
            pw_runner_retire(runner, turn);
            return;
        }
        pw_turn_ref(turn); /* the watchdog may retire it meanwhile */
        alive = pw_turn_pass(turn);
        if (!alive)
            (void)pw_runner_leave_dead(runner, turn);
        pw_turn_unref(turn);
    }
}

/* With the lock held.  Skips forks that had nothing to do when they were last looked at. */
static bool help_fork(pawl_runner *runner)
{
    for (struct pw_fork *fork = runner->forks; fork != NULL; fork = fork->next) {
        if (fork->wants_no_help || fork->turn->given_up || pw_runner_is_full(runner))
            continue;
        fork->helpers++;
        uint64_t stirs = fork->stirs;
        pw_runner_call(runner, false);
        pthread_mutex_unlock(&runner->lock);
        bool helped = pw_fork_help(fork);
        pthread_mutex_lock(&runner->lock);
        fork->helpers--;
        pw_runner_leave_turn(runner, fork->turn, false);
        if (!helped && fork->stirs == stirs)
            fork->wants_no_help = true;
        pthread_cond_broadcast(&runner->left);
        return true;
    }
    return false;
}

static bool work_once(pawl_runner *runner)
{
    if (help_fork(runner))
        return true;
    pawl_turn *turn = pw_runner_pop_ready(runner);
    if (turn == NULL)
        return false;
    note_begun(runner, turn);
    pthread_mutex_unlock(&runner->lock);
    drive(runner, turn);
    pthread_mutex_lock(&runner->lock);
    return true;
}

/* A worker that leaves joins the one that left before it.  So whoever joins the last one has joined all. */
static void *worker_main(void *user)
{
    pawl_runner *runner = user;
    pthread_mutex_lock(&runner->lock);
    while (runner->workers_alive <= runner->options.workers + runner->spares) {
        if (work_once(runner))
            continue;
        if (runner->keeper_done)
            break;
        uint64_t calls = runner->calls;
        pthread_mutex_unlock(&runner->lock);
        bool led = pw_commit_lead(runner->engine->commit);
        pthread_mutex_lock(&runner->lock);
        if (led || runner->calls != calls) /* this worker did not hear calls meanwhile */
            continue;
        pthread_cond_wait(&runner->work, &runner->lock);
    }
    pthread_t before = runner->gone;
    bool has_before = runner->has_gone;
    runner->gone = pthread_self();
    runner->has_gone = true;
    runner->workers_alive--;
    pthread_cond_broadcast(&runner->left);
    pthread_mutex_unlock(&runner->lock);
    if (has_before)
        pthread_join(before, NULL);
    return NULL;
}

bool pw_runner_spawn(pawl_runner *runner)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker_main, runner) != 0)
        return false;
    runner->workers_alive++;
    return true;
}

/* ---- As the turn sees its runner -------------------------------------------------------------------------------------- */

static bool host_should_yield(pawl_runner *runner)
{
    return runner->options.always_replay || (runner->threaded && atomic_load(&runner->ready_count) > 0);
}

static bool host_stopping(pawl_runner *runner)
{
    return atomic_load(&runner->stopping) ||
           pw_runner_is_full(runner); /* in both cases other runners may continue the run */
}

static bool host_take_step(pawl_runner *runner)
{
    long long left = atomic_load(&runner->steps_left);
    while (left > 0 && !atomic_compare_exchange_weak(&runner->steps_left, &left, left - 1))
        ;
    if (left != 0)
        atomic_fetch_add(&runner->steps_taken, 1);
    return left != 0;
}

static bool host_must_cover(pawl_runner *runner)
{
    if (runner->threaded)
        return false;
    return runner->options.tick_alone || (runner->ticking && !pw_tick_is_kept(runner));
}

static void host_attempt_begins(pawl_runner *runner, pawl_attempt *attempt)
{
    if (!runner->threaded && !runner->ticking)
        return;
    pthread_mutex_lock(&runner->lock);
    attempt->begun = true;
    attempt->next = runner->attempts;
    if (runner->attempts != NULL)
        runner->attempts->previous = attempt;
    runner->attempts = attempt;
    if (attempt->deadline_ms < runner->keeper_until_monotonic_ms)
        pthread_cond_signal(&runner->watch);
    pthread_mutex_unlock(&runner->lock);
}

static void host_attempt_ends(pawl_runner *runner, pawl_attempt *attempt)
{
    if (!attempt->begun)
        return;
    pthread_mutex_lock(&runner->lock);
    *(attempt->previous != NULL ? &attempt->previous->next : &runner->attempts) = attempt->next;
    if (attempt->next != NULL)
        attempt->next->previous = attempt->previous;
    pw_runner_call_returns(runner, attempt->turn, &attempt->blocked);
    for (const pawl_attempt *other = runner->attempts; other != NULL; other = other->next) {
        if (other->expired && !other->given_up)
            pthread_cond_signal(&runner->watch); /* its turn may have waited for this body only */
    }
    pthread_mutex_unlock(&runner->lock);
}

static void host_fork_opens(pawl_runner *runner, struct pw_fork *fork)
{
    pthread_mutex_lock(&runner->lock);
    fork->wake_at_ms = INT64_MAX;
    fork->next = runner->forks;
    if (runner->forks != NULL)
        runner->forks->previous = fork;
    runner->forks = fork;
    pw_runner_call(runner,
                   false); /* one helper, which calls the next: short branches end before many workers are awake */
    pthread_mutex_unlock(&runner->lock);
}

static void host_fork_closes(pawl_runner *runner, struct pw_fork *fork)
{
    pthread_mutex_lock(&runner->lock);
    *(fork->previous != NULL ? &fork->previous->next : &runner->forks) = fork->next;
    if (fork->next != NULL)
        fork->next->previous = fork->previous;
    while (fork->helpers > 0)
        pthread_cond_wait(&runner->left, &runner->lock);
    pthread_mutex_unlock(&runner->lock);
}

static void host_fork_sleeps(pawl_runner *runner, struct pw_fork *fork, int64_t until_ms)
{
    pthread_mutex_lock(&runner->lock);
    if (until_ms < fork->wake_at_ms) /* a later call may come from an earlier look */
        fork->wake_at_ms = until_ms;
    if (until_ms < runner->keeper_until_ms)
        pthread_cond_signal(&runner->watch);
    pthread_mutex_unlock(&runner->lock);
}

void pw_runner_stir(pawl_runner *runner, struct pw_fork *fork)
{
    fork->stirs++;
    if (fork->wants_no_help) {
        fork->wants_no_help = false;
        pw_runner_call(runner, false);
    }
}

static void host_fork_stirs(pawl_runner *runner, const pawl_turn *turn)
{
    pthread_mutex_lock(&runner->lock);
    for (struct pw_fork *fork = runner->forks; fork != NULL; fork = fork->next) {
        if (fork->turn == turn)
            pw_runner_stir(runner, fork);
    }
    pthread_mutex_unlock(&runner->lock);
}

/* Called by the thread that answers commits.  What needs no user code and no store call is done at once. */
static void host_ready(pawl_runner *runner, pawl_turn *turn)
{
    enum pw_next next = pw_turn_next(turn);
    if (next == PW_NEXT_WAIT)
        return;
    if (next == PW_NEXT_END && turn->phase == PW_TURN_OVER) {
        pw_runner_retire(runner, turn);
        return;
    }
    pthread_mutex_lock(&runner->lock);
    /* A worker runs the pass, reads the run, or gives a lost turn back. */
    pw_runner_push_ready(runner, turn);
    pthread_mutex_unlock(&runner->lock);
}

const struct pw_turn_host pw_runner_host = {
    .should_yield = host_should_yield,
    .stopping = host_stopping,
    .take_step = host_take_step,
    .must_cover = host_must_cover,
    .attempt_begins = host_attempt_begins,
    .attempt_ends = host_attempt_ends,
    .fork_opens = host_fork_opens,
    .fork_closes = host_fork_closes,
    .fork_sleeps = host_fork_sleeps,
    .fork_stirs = host_fork_stirs,
    .ready = host_ready,
    .code_returns = pw_runner_code_returns,
};
