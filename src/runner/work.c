/* work.c - workers: they run passes of ready turns and branches of forks.  Also the life of a turn in its runner:
 *
 *   pw_runner_accept()   makes a turn of a claimed run, holds it, and puts it into the ready list
 *   drive()              a worker carries it until it waits for a commit, or ends
 *   host_ready()         its units are answered: retires the turn if it is closed, and makes it ready again otherwise
 *   pw_runner_retire()   gives back the lease of a lost turn, puts the history into the cache, and releases the turn
 *
 * A turn has one driver at a time.  Only the watchdog may take it away (blocked.c). */
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "runner/runner.h"

enum { BEGUN_SOON_MS = 20, BEGUN_LATE_MS = 200, TROUBLE_MS_MIN = 1000, TROUBLE_MS_MAX = 16000, SHORT_MS = 200 };

/* ---- Taking on turns --------------------------------------------------------------------------------------------- */

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
    struct pw_hosted *hosted = pw_turn_hosted(turn);
    hosted->ready_next = NULL;
    *runner->ready_end = turn;
    runner->ready_end = &hosted->ready_next;
    atomic_fetch_add(&runner->ready_count, 1);
    pw_runner_call(runner, false);
}

pawl_turn *pw_runner_pop_ready(pawl_runner *runner)
{
    pawl_turn *turn = runner->ready_first;
    if (turn == NULL)
        return NULL;
    runner->ready_first = pw_turn_hosted(turn)->ready_next;
    if (runner->ready_first == NULL)
        runner->ready_end = &runner->ready_first;
    atomic_fetch_sub(&runner->ready_count, 1);
    return turn;
}

pawl_turn *pw_runner_make_turn(pawl_runner *runner, const struct pw_claim *claim)
{
    struct pw_definition *definition = pw_engine_find(runner->engine, claim->workflow);
    pawl_turn *turn = definition != NULL ? pw_turn_new(runner->engine, definition, claim, &runner->host) : NULL;
    if (turn == NULL)
        return NULL;
    pw_turn_note_lease(turn, claim->leased_from_ms, runner->options.lease_ms);
    pthread_mutex_lock(&runner->lock);
    pw_turn_hosted(turn)->held_next = runner->held;
    if (runner->held != NULL)
        pw_turn_hosted(runner->held)->held_previous = turn;
    runner->held = turn;
    runner->held_count++;
    pthread_mutex_unlock(&runner->lock);
    return turn;
}

void pw_runner_accept(pawl_runner *runner, const struct pw_claim *claim)
{
    pawl_turn *turn = pw_runner_make_turn(runner, claim);
    if (turn == NULL)
        return; /* out of memory: the lease will expire */
    pthread_mutex_lock(&runner->lock);
    pw_turn_hosted(turn)->counted = true;
    pw_turn_hosted(turn)->ready_since_ms = pw_system_monotonic_ms();
    runner->fresh++;
    pw_runner_push_ready(runner, turn);
    pthread_mutex_unlock(&runner->lock);
}

/* Called by the first worker that carries a turn.  If it was begun soon, the runner may take on more turns ahead.
 * If it had to wait, new runs should go to other runners. */
static void note_begun(pawl_runner *runner, pawl_turn *turn)
{
    struct pw_hosted *hosted = pw_turn_hosted(turn);
    if (!hosted->counted)
        return;
    hosted->counted = false;
    runner->fresh--;
    int64_t waited_ms = pw_system_monotonic_ms() - hosted->ready_since_ms;
    if (waited_ms <= BEGUN_SOON_MS && runner->window < runner->options.in_flight_max)
        runner->window++;
    else if (waited_ms > BEGUN_LATE_MS)
        runner->window = runner->window / 2 > runner->options.workers ? runner->window / 2 : runner->options.workers;
}

/* ---- Retiring turns ---------------------------------------------------------------------------------------------- */

void pw_runner_wake_keeper(pawl_runner *runner, int64_t due_at_ms)
{
    if (due_at_ms < runner->next_due_ms)
        runner->next_due_ms = due_at_ms;
    if (runner->threaded && due_at_ms < runner->keeper_until_ms)
        pthread_cond_signal(&runner->watch);
}

static void unhold(pawl_runner *runner, pawl_turn *turn)
{
    pawl_turn *previous = pw_turn_hosted(turn)->held_previous, *next = pw_turn_hosted(turn)->held_next;
    *(previous != NULL ? &pw_turn_hosted(previous)->held_next : &runner->held) = next;
    if (next != NULL)
        pw_turn_hosted(next)->held_previous = previous;
    runner->held_count--;
    runner->turns++;
}

/* True while an earlier call of this run's code blocks a thread of this process.  Other processes may take the run. */
static bool is_kept_out(pawl_runner *runner, const pawl_turn *turn)
{
    const struct pw_fence *fence = &pw_turn_claim(turn)->fence;
    return pw_blocked_keeps_out(&runner->engine->blocked, fence->instance, fence->run);
}

/* While the store is in trouble each delay is twice the last one, because a body whose outcome cannot be recorded
 * runs in vain.  Turns hit by the same trouble share one delay. */
static int64_t next_delay(pawl_runner *runner, const pawl_turn *turn, const struct pw_turn_result *lost)
{
    int64_t now_ms = pawl_now_ms(runner->engine);
    if (lost->is_taken || is_kept_out(runner, turn))
        return 0;
    if (lost->is_short) /* memory is short, but the store works */
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

/* Gives back the lease that a lost turn may have left in place.  If the store fails, the lease is owed and tried
 * again.  If memory runs out as well, it is left to expire. */
static struct pw_owed *release(pawl_runner *runner, const pawl_turn *turn, const struct pw_turn_result *lost)
{
    const struct pw_fence *fence = &pw_turn_claim(turn)->fence;
    bool is_job = pw_turn_definition(turn)->is_function;
    if (pw_turn_release(runner->engine, fence, is_job, next_delay(runner, turn, lost)) == PAWL_OK)
        return NULL;
    struct pw_owed *owed = malloc(sizeof *owed);
    if (owed != NULL)
        *owed = (struct pw_owed){ .fence = *fence, .is_job = is_job };
    return owed;
}

/* True if the parked run is due before other runners poll again: they would find it too late. */
static bool is_due_soon(pawl_runner *runner, const struct pw_turn_result *result)
{
    return atomic_load(&runner->has_others) && result->is_parked &&
           result->due_at_ms - pawl_now_ms(runner->engine) < runner->options.poll_ms;
}

/* The end of a turn in this runner: gives the lease back if the turn is lost, keeps the history, and wakes the
 * keeper, because there is room again and the run may be due soon. */
void pw_runner_retire(pawl_runner *runner, pawl_turn *turn)
{
    struct pw_fence fence;
    const struct pw_turn_result result = pw_turn_result(turn);
    struct pw_history *history = pw_turn_take_history(turn, &fence);
    struct pw_owed *owed = !result.is_closed ? release(runner, turn, &result) : NULL;
    bool soon = is_due_soon(runner, &result);
    pthread_mutex_lock(&runner->lock);
    if (result.is_closed)
        runner->trouble_ms = 0;
    unhold(runner, turn);
    note_begun(runner, turn);
    if (result.is_taken) {
        runner->leases_lost++;
        pw_stats_lease_lost(&runner->engine->stats);
    }
    if (owed != NULL)
        owe(runner, owed);
    if (history != NULL && runner->options.cache_bytes > 0 && !runner->options.always_replay) {
        pw_cache_put(&runner->cache, &fence, history);
        history = NULL;
    }
    if (soon && result.due_at_ms < runner->parked_due_ms)
        runner->parked_due_ms = result.due_at_ms;
    if (result.is_parked)
        pw_runner_wake_keeper(runner, result.due_at_ms);
    pw_runner_wake_keeper(runner, runner->next_due_ms); /* there is room again */
    if (atomic_load(&runner->stopping))
        pthread_cond_signal(&runner->watch); /* the keeper ends after the last turn */
    pthread_mutex_unlock(&runner->lock);
    pw_history_free(history);
    pw_turn_unref(turn);
}

/* ---- Carrying turns ---------------------------------------------------------------------------------------------- */

pawl_status pw_runner_load(pawl_runner *runner, pawl_turn *turn)
{
    if (!pw_turn_wants_load(turn, runner->options.always_replay))
        return PAWL_OK;
    pthread_mutex_lock(&runner->lock);
    struct pw_history *warm = pw_cache_take(&runner->cache, &pw_turn_claim(turn)->fence);
    pthread_mutex_unlock(&runner->lock);
    return pw_turn_load(turn, warm, NULL);
}

bool pw_runner_leave_given_up(pawl_runner *runner, pawl_turn *turn)
{
    pthread_mutex_lock(&runner->lock);
    bool is_anothers = pw_turn_hosted(turn)->given_up;
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
            return;                                    /* from here on another thread may retire it */
        bool is_new = pw_turn_wants_load(turn, false); /* a service may have handed it over although it is kept out */
        if (next == PW_NEXT_END || (is_new && is_kept_out(runner, turn)) || pw_runner_load(runner, turn) != PAWL_OK) {
            pw_runner_retire(runner, turn);
            return;
        }
        pw_turn_ref(turn); /* the watchdog may retire it meanwhile */
        alive = pw_turn_pass(turn);
        if (!alive)
            (void)pw_runner_leave_given_up(runner, turn);
        pw_turn_unref(turn);
    }
}

/* With the lock held, which it drops meanwhile: helps with one fork.  Skips forks that had nothing to do at the last
 * look. */
static bool help_fork(pawl_runner *runner)
{
    for (struct pw_help *help = runner->helps; help != NULL; help = help->next) {
        if (help->is_unwanted || pw_turn_hosted(help->turn)->given_up || pw_runner_is_full(runner))
            continue;
        help->helpers++;
        uint64_t stirs = help->stirs;
        pw_runner_call(runner, false);
        pthread_mutex_unlock(&runner->lock);
        bool helped = pw_fork_help(help->fork);
        pthread_mutex_lock(&runner->lock);
        help->helpers--;
        pw_runner_leave_turn(runner, help->turn, false);
        if (!helped && help->stirs == stirs)
            help->is_unwanted = true;
        pthread_cond_broadcast(&runner->left);
        return true;
    }
    return false;
}

/* With the lock held, which it drops meanwhile.  Branches of running turns come before ready turns. */
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

/* A worker that leaves joins the one that left before it.  So joining the last one joins all. */
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
        if (led || runner->calls != calls) /* it missed a call while it led */
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

/* ---- What a turn sees of its runner ------------------------------------------------------------------------------ */

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
    long long left = host_stopping(runner) ? 0 : atomic_load(&runner->steps_left);
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

static void host_look_at(pawl_runner *runner, int64_t at_ms)
{
    if (!runner->threaded) /* ticks have no watchdog for bodies */
        return;
    pthread_mutex_lock(&runner->lock);
    if (at_ms < runner->watch_at_ms)
        runner->watch_at_ms = at_ms + 1; /* past the deadline, not at it */
    if (at_ms < runner->keeper_until_monotonic_ms)
        pthread_cond_signal(&runner->watch);
    pthread_mutex_unlock(&runner->lock);
}

static void host_fork_opens(pawl_runner *runner, struct pw_help *help)
{
    pthread_mutex_lock(&runner->lock);
    help->next = runner->helps;
    if (help->next != NULL)
        help->next->previous = help;
    runner->helps = help;
    /* Wakes one helper, which wakes the next: short branches end before many workers are awake. */
    pw_runner_call(runner, false);
    pthread_mutex_unlock(&runner->lock);
}

static void host_fork_closes(pawl_runner *runner, struct pw_help *help)
{
    pthread_mutex_lock(&runner->lock);
    *(help->previous != NULL ? &help->previous->next : &runner->helps) = help->next;
    if (help->next != NULL)
        help->next->previous = help->previous;
    while (help->helpers > 0)
        pthread_cond_wait(&runner->left, &runner->lock);
    pthread_mutex_unlock(&runner->lock);
}

void pw_runner_stir(pawl_runner *runner, const pawl_turn *turn, int64_t now_ms)
{
    for (struct pw_help *help = runner->helps; help != NULL; help = help->next) {
        if (turn != NULL ? help->turn != turn : help->wake_at_ms > now_ms)
            continue;
        if (turn == NULL)
            help->wake_at_ms = INT64_MAX;
        help->stirs++;
        if (!help->is_unwanted)
            continue;
        help->is_unwanted = false;
        pw_runner_call(runner, false);
    }
}

static void host_help_wanted(pawl_runner *runner, const pawl_turn *turn, int64_t at_ms)
{
    pthread_mutex_lock(&runner->lock);
    if (at_ms == PW_NOW)
        pw_runner_stir(runner, turn, PW_NOW);
    for (struct pw_help *help = runner->helps; help != NULL && at_ms != PW_NOW; help = help->next) {
        if (help->turn == turn && at_ms < help->wake_at_ms) /* a later call may carry an older time */
            help->wake_at_ms = at_ms;
    }
    if (at_ms != PW_NOW && at_ms < runner->keeper_until_ms)
        pthread_cond_signal(&runner->watch);
    pthread_mutex_unlock(&runner->lock);
}

/* Called by the thread that answers commits, so it calls no user code and no store: a closed turn has no lease to
 * give back. */
static void host_ready(pawl_runner *runner, pawl_turn *turn)
{
    enum pw_next next = pw_turn_next(turn);
    if (next == PW_NEXT_WAIT)
        return;
    if (next == PW_NEXT_END && pw_turn_result(turn).is_closed) {
        pw_runner_retire(runner, turn);
        return;
    }
    pthread_mutex_lock(&runner->lock);
    /* A worker runs the pass, reads the run, or gives a lost turn back. */
    pw_runner_push_ready(runner, turn);
    pthread_mutex_unlock(&runner->lock);
}

struct pw_turn_host pw_runner_host(pawl_runner *runner)
{
    return (struct pw_turn_host){ .runner = runner,
                                  .owner = runner->owner,
                                  .lease_ms = runner->options.lease_ms,
                                  .should_yield = host_should_yield,
                                  .stopping = host_stopping,
                                  .take_step = host_take_step,
                                  .must_cover = host_must_cover,
                                  .look_at = host_look_at,
                                  .call_returns = pw_runner_call_returns,
                                  .fork_opens = host_fork_opens,
                                  .fork_closes = host_fork_closes,
                                  .help_wanted = host_help_wanted,
                                  .ready = host_ready };
}
