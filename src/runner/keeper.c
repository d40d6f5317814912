/* keeper.c - the keeper thread of a started runner: claims work when it is due, renews leases, and fails attempts
 * that outlive their timeouts.  It sleeps until the next of these is due, or until it is signalled.
 *
 * Renewals and timeouts use the engine's monotonic clock.  Due times use the store's clock, so a jump of wall time
 * is noticed at the next poll.  Polls use the system's monotonic clock, because other processes do not share the
 * engine's. */
#include <stdlib.h>

#include "base/clock.h"
#include "common/thread.h"
#include "runner/runner.h"

enum { TROUBLE_MS = 1000, REAP_MS = 1000, WITHHELD_MS_MAX = 50, KEPT_OUT_MS = 10 };

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

size_t pw_runner_room(const pawl_runner *runner)
{
    int64_t places =
        least(runner->window - runner->fresh, runner->options.in_flight_max - runner->held_count) - runner->reserved;
    bool is_closed = atomic_load(&runner->stopping) || pw_runner_takes_nothing(runner) ||
                     pw_budget_is_short(&runner->engine->memory);
    return is_closed || places < 0 ? 0 : (size_t)places;
}

/* True if it is worth claiming.  Claims are batched: there must be room for a quarter of the window, or no turn may
 * be waiting to be begun. */
static bool should_claim(const pawl_runner *runner)
{
    size_t places = pw_runner_room(runner);
    return places > 0 && ((int64_t)places * 4 >= runner->window || runner->fresh == 0);
}

/* ---- Work that is due -------------------------------------------------------------------------------------------- */

/* Notes when the next run is due, as the store reported it. */
static void note_due(pawl_runner *runner, int64_t due_at_ms)
{
    runner->seen_due_ms = due_at_ms;
    runner->next_due_ms = least(least(runner->next_due_ms, due_at_ms), runner->parked_due_ms);
}

/* Claims runs and makes turns of them.  Without the lock. */
static pawl_status take(pawl_runner *runner, enum pw_claim_of what, const struct pw_text *limited, size_t max,
                        size_t *out_count, bool *kept_out)
{
    struct pw_unit unit;
    struct pw_op_claim *found = NULL;
    pw_unit_init(&unit);
    pawl_status status = pw_runner_claim(runner, &unit, what, limited, max, &found, NULL);
    *out_count = status == PAWL_OK ? found->claim_count : 0;
    *kept_out = *kept_out || (status == PAWL_OK && found->kept_out);
    for (size_t i = 0; i < *out_count; i++)
        pw_runner_accept(runner, &found->claims[i]);
    pw_unit_clear(&unit);
    return status;
}

/* Claims jobs of functions with a limit.  Without the lock.  Returns when to claim again because another process was
 * claiming jobs of the same function; INT64_MAX: no need to. */
static int64_t claim_limited(pawl_runner *runner, size_t max)
{
    struct pw_arena arena = { 0 };
    size_t count, taken;
    bool kept_out = false;
    const struct pw_text *names = pw_runner_names(runner->engine, PW_NAMES_LIMITED, &arena, &count);
    for (size_t i = 0; names != NULL && i < count && max > 0; i++, max -= taken)
        (void)take(runner, PW_CLAIM_DUE, &names[i], max, &taken, &kept_out);
    pw_arena_clear(&arena);
    return kept_out ? pawl_now_ms(runner->engine) + KEPT_OUT_MS : INT64_MAX;
}

/* A run that was due at the claim and was not handed out is withheld: another transaction has its row locked, for a
 * moment or for long.  So each wait is longer than the last, but ends when something else becomes due.  Returns when
 * to claim again. */
static int64_t wait_for_withheld(pawl_runner *runner, int64_t claimed_at_ms, int64_t now_ms)
{
    int64_t later_ms = INT64_MAX;
    runner->withheld_ms = least(runner->withheld_ms * 2 + 1, least(WITHHELD_MS_MAX, runner->options.poll_ms));
    (void)pw_runner_next_due(runner, claimed_at_ms, &later_ms, NULL);
    return least(now_ms + runner->withheld_ms, later_ms);
}

/* The functions from here to reap() are called with the lock held, and drop it meanwhile. */
static void claim(pawl_runner *runner, enum pw_claim_of what, size_t max)
{
    size_t count;
    bool kept_out = false;
    runner->next_due_ms = INT64_MAX; /* hints that come meanwhile lower it again */
    if (what == PW_CLAIM_PARKED)
        runner->parked_due_ms = INT64_MAX;
    pthread_mutex_unlock(&runner->lock);
    int64_t claimed_at_ms = pawl_now_ms(runner->engine);
    pawl_status status = take(runner, what, NULL, max, &count, &kept_out);
    int64_t again_at_ms = claim_limited(runner, max - count);
    int64_t now_ms = pawl_now_ms(runner->engine), due_at_ms = now_ms;
    if (status == PAWL_OK && count < max)
        status = pw_runner_next_due(runner, PW_EVER, &due_at_ms, NULL);
    if (status != PAWL_OK)
        due_at_ms = now_ms + TROUBLE_MS;
    else if (max > 0 && count == 0 && due_at_ms <= claimed_at_ms)
        due_at_ms = wait_for_withheld(runner, claimed_at_ms, now_ms);
    else
        runner->withheld_ms = 0;
    pthread_mutex_lock(&runner->lock);
    note_due(runner, least(due_at_ms, again_at_ms));
}

static void poll(pawl_runner *runner)
{
    int64_t due_at_ms = INT64_MAX;
    size_t places = pw_runner_room(runner);
    pthread_mutex_unlock(&runner->lock);
    pawl_status status = pw_runner_next_due(runner, PW_EVER, &due_at_ms, NULL);
    int64_t again_at_ms = claim_limited(runner, places);
    pthread_mutex_lock(&runner->lock);
    if (status == PAWL_OK)
        note_due(runner, least(due_at_ms, again_at_ms));
    runner->poll_at_ms = pw_system_monotonic_ms() + runner->options.poll_ms;
}

/* A runner that is alone claims at once, because every hint is about a run of its own.  Among other runners a hint
 * may be about anybody's run.  Then the keeper looks before it claims, because a look writes nothing. */
static void take_due(pawl_runner *runner, int64_t now_ms)
{
    if (!atomic_load(&runner->has_others))
        runner->parked_due_ms = INT64_MAX; /* alone now: an ordinary claim also finds that run */
    if (!atomic_load(&runner->has_others) || runner->seen_due_ms <= now_ms) {
        claim(runner, PW_CLAIM_DUE, pw_runner_room(runner));
    } else if (runner->parked_due_ms <= now_ms) {
        claim(runner, PW_CLAIM_PARKED, pw_runner_room(runner));
    } else {
        runner->next_due_ms = INT64_MAX;
        poll(runner);
    }
}

static void renew(pawl_runner *runner)
{
    pthread_mutex_unlock(&runner->lock);
    pawl_status unused =
        pawl_runner_renew(runner, NULL); /* a failure is tried again, or noticed before the next body */
    (void)unused;
    pthread_mutex_lock(&runner->lock);
    runner->renew_at_ms = pw_engine_monotonic_ms(runner->engine) + runner->options.lease_ms / 3;
}

/* Takes over the runs of dead runners before their leases expire. */
static void reap(pawl_runner *runner)
{
    runner->reap_at_ms = pw_system_monotonic_ms() + REAP_MS;
    pthread_mutex_unlock(&runner->lock);
    pw_runner_pay_owed(runner);
    pw_schema_look(&runner->engine->schema, runner->engine->store, pw_engine_monotonic_ms(runner->engine));
    if (!pw_runner_takes_nothing(runner))
        pw_runner_look_around(runner); /* before the claim, so that the shards of dead runners have new owners */
    else if (runner->view.told)
        pw_runner_leave_share(runner); /* so that others need not wait for what this runner does not take */
    pthread_mutex_lock(&runner->lock);
    claim(runner, PW_CLAIM_ALL, pw_runner_room(runner)); /* if there is no room, it only reaps */
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

static void sleep_until_needed(pawl_runner *runner, int64_t now_ms, int64_t monotonic_ms)
{
    int64_t at_ms = INT64_MAX, own_ms = pw_engine_monotonic_ms(runner->engine);
    for (const struct pw_help *help = runner->helps; help != NULL; help = help->next)
        at_ms = least(at_ms, help->wake_at_ms);
    if (should_claim(runner))
        at_ms = least(at_ms, runner->next_due_ms);
    int64_t wait_ms = runner->renew_at_ms - own_ms;
    if (!atomic_load(&runner->stopping))
        wait_ms = least(wait_ms, least(runner->reap_at_ms, runner->poll_at_ms) - monotonic_ms);
    if (runner->held_count > 0)
        wait_ms = least(wait_ms, runner->watch_at_ms - own_ms);
    if (at_ms < INT64_MAX)
        wait_ms = least(wait_ms, at_ms - now_ms);
    if (wait_ms <= 0)
        return;
    runner->keeper_until_ms = now_ms + wait_ms;
    runner->keeper_until_monotonic_ms = own_ms + wait_ms;
    pw_cond_wait_ms(&runner->watch, &runner->lock, wait_ms);
    runner->keeper_until_ms = runner->keeper_until_monotonic_ms = INT64_MIN;
}

/* Gives up the share, so that others need not wait for what this runner no longer claims. */
static void leave_share(pawl_runner *runner)
{
    pthread_mutex_unlock(&runner->lock);
    pw_runner_leave_share(runner);
    pthread_mutex_lock(&runner->lock);
}

/* Drops the lock meanwhile, because the store may have to ask its database for the time. */
static int64_t read_clock(pawl_runner *runner)
{
    pthread_mutex_unlock(&runner->lock);
    int64_t now_ms = pawl_now_ms(runner->engine);
    pthread_mutex_lock(&runner->lock);
    return now_ms;
}

static bool has_work(const pawl_runner *runner)
{
    return !atomic_load(&runner->stopping) || runner->held_count > 0 || runner->reserved > 0 || runner->view.told;
}

/* The clock is read first, without the lock.  From then on the lock is held until the keeper sleeps, so it misses no
 * signal. */
void *pw_keeper_main(void *user)
{
    pawl_runner *runner = user;
    pthread_mutex_lock(&runner->lock);
    runner->renew_at_ms = runner->poll_at_ms = runner->reap_at_ms = runner->watch_at_ms =
        0; /* all at once, so that what dead runners left is claimed */
    runner->seen_due_ms = runner->parked_due_ms = INT64_MAX;
    for (int64_t now_ms = read_clock(runner); has_work(runner); now_ms = read_clock(runner)) {
        int64_t monotonic_ms = pw_system_monotonic_ms(), own_ms = pw_engine_monotonic_ms(runner->engine);
        pw_runner_watch(runner, own_ms);
        pw_runner_stand_in(runner);
        /* The thread that opened a fork may be busy with one branch when the wait of another is over. */
        pw_runner_stir(runner, NULL, now_ms);
        if (atomic_load(&runner->stopping) && runner->view.told)
            leave_share(runner);
        else if (own_ms >= runner->renew_at_ms)
            renew(runner);
        else if (monotonic_ms >= runner->reap_at_ms && !atomic_load(&runner->stopping))
            reap(runner);
        else if (should_claim(runner) && runner->next_due_ms <= now_ms)
            take_due(runner, now_ms);
        else if (monotonic_ms >= runner->poll_at_ms && !atomic_load(&runner->stopping))
            poll(runner);
        else
            sleep_until_needed(runner, now_ms, monotonic_ms);
    }
    runner->keeper_done = true;
    pw_runner_call(runner, true);
    pthread_mutex_unlock(&runner->lock);
    return NULL;
}

/* ---- The keeper of a tick ---------------------------------------------------------------------------------------- */

/* With the lock held, which it drops meanwhile.  During a tick only turns that were given up are in the ready list. */
static void close_given_up(pawl_runner *runner)
{
    pawl_turn *turn;
    while ((turn = pw_runner_pop_ready(runner)) != NULL) {
        pthread_mutex_unlock(&runner->lock);
        (void)pw_turn_next_blocking(turn); /* a given-up turn wants no pass */
        pw_runner_retire(runner, turn);
        pthread_mutex_lock(&runner->lock);
    }
}

/* A tick runs in its host's thread, one body at a time.  So another thread must renew its leases and give up code
 * that does not return.  The host's thread itself cannot be replaced. */
static void *tick_keeper_main(void *user)
{
    pawl_runner *runner = user;
    pthread_mutex_lock(&runner->lock);
    runner->renew_at_ms = pw_engine_monotonic_ms(runner->engine) + runner->options.lease_ms / 3;
    runner->watch_at_ms = 0;
    while (runner->ticking) {
        int64_t now_ms = pw_engine_monotonic_ms(runner->engine);
        pw_runner_watch(runner, now_ms);
        close_given_up(runner);
        if (now_ms >= runner->renew_at_ms)
            renew(runner);
        else if (runner->ticking) /* the tick may have ended meanwhile */
            pw_cond_wait_ms(&runner->watch, &runner->lock, least(runner->renew_at_ms, runner->watch_at_ms) - now_ms);
    }
    pthread_mutex_unlock(&runner->lock);
    return NULL;
}

/* With a test's clock, time passes only when the test says so.  Then no lease needs renewal meanwhile, and a thread
 * would only make the order of events unpredictable. */
bool pw_tick_is_kept(pawl_runner *runner)
{
    if (pw_engine_has_own_time(runner->engine))
        return true;
    pthread_mutex_lock(&runner->tick_keeper_lock);
    if (!runner->tick_kept && atomic_load(&runner->ticking))
        runner->tick_kept = pthread_create(&runner->tick_keeper, NULL, tick_keeper_main, runner) == 0;
    bool is_kept = runner->tick_kept;
    pthread_mutex_unlock(&runner->tick_keeper_lock);
    return is_kept;
}

void pw_tick_end(pawl_runner *runner)
{
    pthread_mutex_lock(&runner->lock);
    atomic_store(&runner->ticking, false);
    pthread_cond_signal(&runner->watch);
    pthread_mutex_unlock(&runner->lock);
    pthread_mutex_lock(&runner->tick_keeper_lock);
    pthread_t keeper = runner->tick_keeper;
    bool is_kept = runner->tick_kept;
    runner->tick_kept = false;
    pthread_mutex_unlock(&runner->tick_keeper_lock);
    if (is_kept)
        (void)pthread_join(keeper, NULL);
}
