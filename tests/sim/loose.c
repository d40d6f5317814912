/* loose.c - a started runner without its threads: what its keeper, its workers and its committer do, one thing at a time,
 * in the order that chance chooses.
 *
 * The turns, their host and the committer are the real ones; only the loops around them (work.c, keeper.c) are replaced.
 * So passes are unwound and begun again, several turns are in flight at once and share commits, bodies of one turn run
 * inside those of another, branches are carried by helpers, and attempts are given up on while their bodies still run. */
#include "engine/engine.h"
#include "fail.h"
#include "runner/runner.h"
#include "turn/attempt.h"
#include "world.h"

enum { ROUNDS_MAX = 10000 };

/* ---- As the turn sees its runner ----------------------------------------------------------------------------------------- */

static struct sim_world *the_world; /* hosts are told of runners, not of worlds */

static bool should_yield(pawl_runner *runner)
{
    (void)runner;
    return !the_world->is_calm && sim_happens(&the_world->chance, the_world->mood.yields);
}

/* ---- As services see it ---------------------------------------------------------------------------------------------------- */

static int64_t local_reserve(void *user, struct pw_text workflow, int64_t *out_lease_ms)
{
    pawl_runner *runner = user;
    (void)workflow;
    if (the_world->is_calm || sim_below(&the_world->chance, 2) == 0)
        return 0;
    *out_lease_ms = runner->options.lease_ms;
    return runner->owner;
}

static void local_deliver(void *user, const struct pw_claim *claim)
{
    if (claim != NULL)
        pw_runner_accept(user, claim);
}

static void local_wake(void *user, int64_t due_at_ms)
{
    (void)user;
    (void)due_at_ms; /* every wake is lost: what is due is found all the same */
}

void sim_loose_open(struct sim_world *world, struct sim_process *process, struct sim_runner *runner)
{
    pawl_runner *inner = runner->runner;
    the_world = world;
    inner->host.should_yield = should_yield;
    inner->threaded = true;
    inner->local =
        (struct pw_local){ .runner = inner, .reserve = local_reserve, .deliver = local_deliver, .wake = local_wake };
    (void)pw_engine_set_local(process->engine, &inner->local); /* the first one's */
    struct pw_store *store = process->engine->store;
    inner->announced = store->ops->announce(store, runner->owner, NULL) == PAWL_OK;
    if (world->mood.looks_around > 0)
        pw_runner_look_around(inner);
}

/* ---- What its threads do ------------------------------------------------------------------------------------------------- */

/* A worker: one ready turn, as far as it goes without waiting. */
static bool work(struct sim_world *world, pawl_runner *runner)
{
    pawl_turn *turn = pw_runner_pop_ready(runner);
    if (turn == NULL)
        return false;
    sim_trace("%lld a worker carries %s", (long long)world->now_ms, turn->claim.id.data);
    the_world = world;
    sim_trace_enter();
    for (bool goes_on = true; goes_on;) {
        enum pw_next next = pw_turn_next(turn);
        if (next == PW_NEXT_WAIT)
            break; /* the turn is not ours any more */
        goes_on = next == PW_NEXT_PASS && pw_runner_load(runner, turn) == PAWL_OK;
        if (!goes_on) {
            pw_runner_retire(runner, turn);
            break;
        }
        pw_turn_ref(turn);
        goes_on = pw_turn_pass(turn);
        if (!goes_on) {
            pthread_mutex_lock(&runner->lock);
            pw_runner_leave_turn(runner, turn, true);
            pthread_mutex_unlock(&runner->lock);
        }
        pw_turn_unref(turn);
    }
    sim_trace_leave();
    return true;
}

static int64_t claim(struct sim_world *world, pawl_runner *runner, int64_t max)
{
    struct pw_unit unit;
    struct pw_op_claim *found = NULL;
    uint64_t faults = world->faults;
    enum pw_claim_of what = sim_below(&world->chance, 2) == 0 ? PW_CLAIM_DUE : PW_CLAIM_ALL;
    pw_unit_init(&unit);
    pawl_status status = pw_runner_claim(runner, &unit, what, NULL, (size_t)max, &found, NULL);
    SIM_CHECK(SIM_RULE_NO_SURPRISE, status == PAWL_OK || world->faults > faults, "a claim fails: %s",
              pawl_status_name(status));
    int64_t count = status == PAWL_OK ? (int64_t)found->claim_count : 0;
    for (int64_t i = 0; i < count; i++)
        pw_runner_accept(runner, &found->claims[i]);
    pw_unit_clear(&unit);
    world->counts->turns += (uint64_t)count;
    return count;
}

static pawl_attempt *find_late(pawl_runner *runner, int64_t now_ms)
{
    for (pawl_turn *turn = runner->held; turn != NULL; turn = turn->hosted.held_next) {
        for (pawl_attempt *attempt = turn->attempts; attempt != NULL; attempt = attempt->next) {
            if (attempt->deadline_ms < now_ms && !attempt->expired)
                return attempt;
        }
    }
    return NULL;
}

/* The watchdog: the first attempt that is late. */
static void expire(struct sim_world *world, pawl_runner *runner)
{
    pthread_mutex_lock(&runner->lock);
    pawl_attempt *attempt = find_late(runner, world->model.monotonic_ms);
    if (attempt != NULL) {
        pawl_turn *turn = attempt->turn;
        struct pw_fence fence = turn->claim.fence;
        bool could_record = !turn->hosted.given_up && !pw_turn_is_over(turn);
        const struct pw_watch watch = pw_turn_watch_bodies(turn, world->model.monotonic_ms);
        pw_runner_take_over(runner, turn, &watch);
        bool is_dead = could_record && turn->hosted.given_up;
        sim_trace("the watchdog gives up on %.*s of instance %lld: %d", (int)attempt->step->row.name.size,
                  attempt->step->row.name.data, (long long)fence.instance, is_dead);
        world->counts->expired += is_dead;
        if (is_dead)
            sim_model_run(sim_model_by_key(&world->model, fence.instance), fence.run)->expiries++;
    }
    pthread_mutex_unlock(&runner->lock);
}

void sim_loose_watch(struct sim_world *world, struct sim_process *process)
{
    for (int i = 0; i < process->runner_count && process->is_loose && !process->is_dead; i++)
        expire(world, process->runners[i].runner);
}

static void help(struct sim_world *world, pawl_runner *runner)
{
    if (runner->helps == NULL)
        return;
    sim_trace("%lld a worker helps with branches", (long long)world->now_ms);
    sim_trace_enter();
    (void)pw_fork_help(runner->helps->fork);
    sim_trace_leave();
}

static bool lead(struct sim_process *process)
{
    return sim_process_serve(process);
}

void sim_loose_act(struct sim_world *world, struct sim_process *process, struct sim_runner *runner)
{
    enum sim_context context = world->context;
    world->context = SIM_CONTEXT_RUNNER;
    process->on_stack++;
    if (world->mood.looks_around > 0 && sim_happens(&world->chance, world->mood.looks_around))
        pw_runner_look_around(runner->runner);
    for (int i = 1 + sim_below(&world->chance, 4); i > 0 && !process->is_dead; i--) {
        int drawn = sim_below(&world->chance, 10);
        if (drawn < 3)
            (void)claim(world, runner->runner, 1 + sim_below(&world->chance, 3));
        else if (drawn < 7)
            (void)work(world, runner->runner);
        else if (drawn < 8)
            (void)lead(process);
        else if (drawn < 9)
            expire(world, runner->runner);
        else
            help(world, runner->runner);
    }
    world->context = context;
    sim_process_left(world, process);
}

/* Until no turn is held: they end, or fail when the process is dead. */
void sim_loose_finish(struct sim_world *world, struct sim_process *process, struct sim_runner *runner)
{
    for (int rounds = 0; runner->runner->held_count > 0; rounds++) {
        SIM_CHECK(SIM_RULE_LIVENESS, rounds < ROUNDS_MAX, "a runner holds turns that nobody carries");
        bool any = work(world, runner->runner);
        SIM_CHECK(SIM_RULE_LIVENESS, lead(process) || any || runner->runner->held_count == 0,
                  "a turn waits for a commit that is not there");
    }
}

void sim_loose_stop(struct sim_world *world, struct sim_process *process, struct sim_runner *runner)
{
    atomic_store(&runner->runner->stopping, true);
    sim_loose_finish(world, process, runner);
}

int64_t sim_loose_tick(struct sim_world *world, struct sim_process *process, struct sim_runner *runner)
{
    process->on_stack++;
    int64_t count = claim(world, runner->runner, 1);
    sim_loose_finish(world, process, runner);
    sim_process_left(world, process);
    return count;
}
