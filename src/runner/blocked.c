/* blocked.c - threads that user code blocks, and the extra workers that replace them.
 *
 * A body that has outlived its timeout, or workflow code that has run for too long, keeps its thread until it
 * returns.  Each such call counts as one blocked thread.  Once its turn is given up, every thread inside the turn
 * counts, because threads that wait for its branches are not free either.  For each blocked thread there is one
 * extra worker.  When blocked_max threads are blocked, the engine's runners take nothing new.
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

static void count_threads(pawl_runner *runner, pawl_turn *turn, int32_t by)
{
    pw_turn_hosted(turn)->spares += by;
    runner->spares += by;
    atomic_fetch_add(&runner->engine->blocked.threads, by);
    if (by >= 0)
        return;
    pw_runner_call(runner, true);          /* the extra workers may leave */
    pw_runner_wake_keeper(runner, PW_NOW); /* runs that were kept out can be claimed now */
}

void pw_runner_stand_in(pawl_runner *runner)
{
    while (runner->workers_alive < runner->options.workers + runner->spares && pw_runner_spawn(runner))
        continue;
}

void pw_runner_take_over(pawl_runner *runner, pawl_turn *turn, const struct pw_watch *watch)
{
    struct pw_hosted *hosted = pw_turn_hosted(turn);
    if (watch->found > 0)
        count_threads(runner, turn, watch->found);
    if (watch->given_up == PW_GIVEN_UP_NOT)
        return;
    int32_t inside = 1; /* the thread in its pass; helpers are added below */
    for (const struct pw_help *help = runner->helps; help != NULL; help = help->next) {
        if (help->turn == turn)
            inside += (int32_t)help->helpers;
    }
    hosted->given_up = true;
    if (pw_turn_definition(turn)->advance != NULL) /* otherwise it is driven by hand and blocks no worker */
        count_threads(runner, turn, inside - hosted->spares);
    if (watch->given_up == PW_GIVEN_UP_OPEN && (!runner->threaded || pw_turn_next(turn) != PW_NEXT_WAIT))
        pw_runner_push_ready(runner, turn); /* for a worker, or for the keeper of a tick */
}

void pw_runner_leave_turn(pawl_runner *runner, pawl_turn *turn, bool ends_pass)
{
    const struct pw_hosted *hosted = pw_turn_hosted(turn);
    if (hosted->given_up && hosted->spares > 0)
        count_threads(runner, turn, ends_pass ? -hosted->spares : -1);
}

void pw_runner_call_returns(pawl_runner *runner, pawl_turn *turn, struct pw_blocked_call *call)
{
    const struct pw_hosted *hosted = pw_turn_hosted(turn);
    pthread_mutex_lock(&runner->lock);
    pw_blocked_remove(&runner->engine->blocked, call);
    if (!hosted->given_up && hosted->spares > 0)
        count_threads(runner, turn, -1);
    else
        pw_runner_wake_keeper(runner, PW_NOW);
    pthread_mutex_unlock(&runner->lock);
}

/* The next look is at the next deadline of a body, or after a fraction of the time that code may take, because late
 * bodies also wait for running code of their turn before the turn is given up. */
void pw_runner_watch(pawl_runner *runner, int64_t monotonic_ms)
{
    int64_t ms_max = runner->options.code_ms_max;
    int64_t pause_ms =
        ms_max >= 0 && ms_max / LOOKS_PER_LIMIT < LOOK_MS_MAX ? ms_max / LOOKS_PER_LIMIT + 1 : LOOK_MS_MAX;
    if (monotonic_ms < runner->watch_at_ms)
        return;
    runner->watch_at_ms = monotonic_ms + pause_ms;
    for (pawl_turn *turn = runner->held, *next; turn != NULL; turn = next) {
        const struct pw_hosted *hosted = pw_turn_hosted(turn);
        struct pw_watch watch = { .found = 0 };
        next = hosted->held_next;
        if (runner->threaded && !hosted->given_up) {
            watch = pw_turn_watch_bodies(turn, monotonic_ms);
            pw_runner_take_over(runner, turn, &watch);
            if (watch.deadline_ms < runner->watch_at_ms)
                runner->watch_at_ms = watch.deadline_ms + 1; /* past the deadline, not at it */
        }
        if (ms_max >= 0 && !hosted->given_up) {
            watch = pw_turn_watch_code(turn, monotonic_ms, ms_max);
            pw_runner_take_over(runner, turn, &watch);
        }
    }
}
