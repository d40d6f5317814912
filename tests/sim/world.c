/* world.c - the life of a world: it is made from the seed, things happen, then calm comes and everything must end. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/shards.h"
#include "fail.h"
#include "runner/runner.h"
#include "turn/inside.h"

#define BEGINNING_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00.000Z */

enum { TICKS_UNTIL_END_MAX = 2000, MENDINGS_MAX = 3, LONG_MS = 86400000, HOUR_MS = 3600000 };

/* ---- Time and chance --------------------------------------------------------------------------------------------------- */

static void note_time(struct sim_world *world)
{
    if (world->now_ms > world->model.latest_ms)
        world->model.latest_ms = world->now_ms;
}

void sim_pass(struct sim_world *world, int64_t ms)
{
    world->now_ms += ms > 0 ? ms : 0;
    world->model.monotonic_ms += ms > 0 ? ms : 0;
}

void sim_clock_to(struct sim_world *world, int64_t at_ms)
{
    sim_pass(world, at_ms - world->now_ms);
}

static int64_t world_now_ms(void *user)
{
    struct sim_world *world = user;
    if (!world->is_calm && world->mood.clock_creeps > 0 && sim_happens(&world->chance, world->mood.clock_creeps))
        sim_pass(world, 1);
    note_time(world);
    return world->now_ms;
}

/* The store's clock stands still while it commits, so that the model knows the time of the commit. */
static int64_t base_now_ms(void *user)
{
    struct sim_world *world = user;
    return world->commit_ms != 0 ? world->commit_ms : world_now_ms(world);
}

static int64_t world_monotonic_ms(void *user)
{
    return ((struct sim_world *)user)->model.monotonic_ms;
}

/* The same clocks, as a process sees them. */
static int64_t process_now_ms(void *user)
{
    return world_now_ms(((struct sim_process *)user)->world);
}

static int64_t process_monotonic_ms(void *user)
{
    struct sim_process *process = user;
    process->looked_at_ms = process->world->model.monotonic_ms;
    return process->looked_at_ms;
}

static bool runner_lives(void *user, int64_t owner)
{
    const struct sim_world *world = user;
    for (int i = 0; i < world->process_count * SIM_RUNNERS_MAX; i++) {
        const struct sim_process *process = &world->processes[i / SIM_RUNNERS_MAX];
        const struct sim_runner *runner = &process->runners[i % SIM_RUNNERS_MAX];
        if (i % SIM_RUNNERS_MAX < process->runner_count && runner->runner != NULL && runner->owner == owner)
            return runner->runner->announced;
    }
    return false;
}

static void fill_by_chance(void *user, void *bytes, size_t size)
{
    struct sim_world *world = user;
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)sim_draw(&world->engines);
}

/* ---- Processes --------------------------------------------------------------------------------------------------------- */

struct sim_process *sim_process_choose(struct sim_world *world)
{
    struct sim_process *process = &world->processes[sim_below(&world->chance, world->process_count)];
    return process->is_dead || process->is_draining || process->is_stopped ? NULL : process;
}

/* An answer may come of it, as of a commit. */
static bool do_chore(struct sim_process *process)
{
    struct sim_world *world = process->ports[0]->world;
    world->answering++;
    bool any = pw_commit_do_chore(process->engine->commit);
    world->answering--;
    return any;
}

bool sim_process_serve(struct sim_process *process)
{
    return pw_commit_lead(process->engine->commit) || do_chore(process);
}

void sim_process_commit(struct sim_process *process)
{
    while (sim_process_serve(process))
        continue;
}

struct sim_process *sim_process_of(struct sim_world *world, const pawl_engine *engine)
{
    for (int i = 0; i < SIM_PROCESSES_MAX; i++) {
        if (world->processes[i].engine == engine)
            return &world->processes[i];
    }
    return NULL;
}

static void open_runners(struct sim_world *world, struct sim_process *process)
{
    struct pawl_error error;
    for (int i = 0; i < process->runner_count; i++) {
        struct sim_runner *runner = &process->runners[i];
        struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
        options.lease_ms = world->mood.lease_ms;
        options.always_replay = world->mood.always_replay;
        options.cache_bytes = world->mood.no_cache ? -1 : 0;
        options.tick_alone = world->mood.tick_alone;
        if (pawl_runner_open(process->engine, &options, &runner->runner, &error) != PAWL_OK)
            sim_give_up("no runner: %s", error.text);
        runner->owner = runner->runner->owner;
        runner->is_busy = false;
        if (process->is_loose)
            sim_loose_open(world, process, runner);
    }
}

static void close_runners(struct sim_world *world, struct sim_process *process)
{
    for (int i = 0; i < process->runner_count && process->is_loose; i++)
        sim_loose_stop(world, process, &process->runners[i]);
    for (int i = 0; i < process->runner_count; i++) {
        pawl_runner_close(process->runners[i].runner);
        process->runners[i].runner = NULL;
    }
}

/* The committer of started runners has a thread, which takes over what calls send: here somebody leads, some time. */
static void open_process(struct sim_world *world, struct sim_process *process)
{
    struct pawl_error error;
    process->is_draining = false;
    pw_commit_set_served(process->engine->commit, process->is_loose);
    if (pawl_http_new(process->engine, NULL, &process->http, &error) != PAWL_OK)
        sim_give_up("no handler: %s", error.text);
    open_runners(world, process);
}

static void close_process(struct sim_world *world, struct sim_process *process)
{
    sim_asks_crash(world, process);
    pawl_http_free(process->http);
    close_runners(world, process);
}

void sim_process_crash(struct sim_world *world, struct sim_process *process)
{
    if (process->is_dead)
        return;
    sim_trace("process %d crashes", (int)(process - world->processes));
    process->is_dead = true;
    world->faults++;
    world->counts->crashes++;
}

void sim_process_left(struct sim_world *world, struct sim_process *process)
{
    process->on_stack--;
    if (!process->is_dead || process->on_stack > 0)
        return;
    close_process(world, process);
    process->is_dead = false;
    open_process(world, process);
    sim_trace("process %d is there again", (int)(process - world->processes));
}

void sim_tick(struct sim_world *world, struct sim_process *process, struct sim_runner *runner, int64_t max_instances,
              int64_t max_steps, int64_t *out_processed)
{
    struct pawl_error error = { PAWL_OK, "" };
    enum sim_context context = world->context;
    uint64_t faults = world->faults;
    int64_t processed = 0;
    world->context = SIM_CONTEXT_RUNNER;
    runner->is_busy = true;
    process->on_stack++;
    sim_trace("%lld runner %d of process %d ticks", (long long)world->now_ms, (int)(runner - process->runners),
              (int)(process - world->processes));
    sim_trace_enter();
    pawl_status status = pawl_runner_tick(runner->runner, max_instances, max_steps, &processed, &error);
    sim_trace_leave();
    runner->is_busy = false;
    world->context = context;
    world->counts->turns += (uint64_t)processed;
    SIM_CHECK(SIM_RULE_NO_SURPRISE, status == PAWL_OK || world->faults > faults, "a tick fails: %s: %s",
              pawl_status_name(status), error.text);
    if (out_processed != NULL)
        *out_processed = processed;
    sim_process_left(world, process);
}

/* ---- What may happen --------------------------------------------------------------------------------------------------- */

static void act_tick(struct sim_world *world)
{
    struct sim_process *process = &world->processes[sim_below(&world->chance, world->process_count)];
    struct sim_runner *runner = &process->runners[sim_below(&world->chance, process->runner_count)];
    int64_t max_instances = 1 + sim_below(&world->chance, 3);
    int64_t max_steps = sim_below(&world->chance, 4) == 0 ? 1 + sim_below(&world->chance, 3) : 0;
    if (process->is_dead || process->is_stopped)
        return;
    if (process->is_loose)
        sim_loose_act(world, process, runner);
    else if (!runner->is_busy)
        sim_tick(world, process, runner, max_instances, max_steps, NULL);
}

static void act_renew(struct sim_world *world)
{
    struct sim_process *process = &world->processes[sim_below(&world->chance, world->process_count)];
    struct sim_runner *runner = &process->runners[sim_below(&world->chance, process->runner_count)];
    uint64_t faults = world->faults;
    if (process->is_dead || process->is_stopped)
        return;
    process->on_stack++;
    pawl_status status = pawl_runner_renew(runner->runner, NULL);
    SIM_CHECK(SIM_RULE_NO_SURPRISE, status == PAWL_OK || world->faults > faults, "leases are not renewed: %s",
              pawl_status_name(status));
    sim_process_left(world, process);
}

/* The new code waits for other events than the old. */
static void change_code(struct sim_world *world)
{
    for (int i = 0; i < SIM_PROGRAMS_MAX; i++)
        sim_program_change(&world->programs[i]);
    sim_trace("the code has changed: every wait is for the other type");
}

static void act_crash(struct sim_world *world)
{
    struct sim_process *process = &world->processes[sim_below(&world->chance, world->process_count)];
    sim_process_crash(world, process);
    change_code(world);
    process->on_stack++;
    sim_process_left(world, process);
}

/* A clean stop, for an update. */
static void stop(struct sim_world *world, struct sim_process *process)
{
    if (process->is_dead || process->on_stack > 0)
        return;
    sim_trace("process %d stops", (int)(process - world->processes));
    process->on_stack++;
    sim_asks_drain(world, process);
    close_process(world, process);
    change_code(world);
    open_process(world, process);
    sim_process_left(world, process);
}

static void act_stop(struct sim_world *world)
{
    stop(world, &world->processes[sim_below(&world->chance, world->process_count)]);
}

/* Maybe before it has begun with a job that it has taken. */
static void stop_holder_of_job(struct sim_world *world)
{
    for (int i = 0; i < world->model.instance_count; i++) {
        const struct sim_instance *job = &world->model.instances[i];
        if (!sim_is_job(job) || !job->task.exists || !job->task.processing)
            continue;
        for (int j = 0; j < world->process_count * SIM_RUNNERS_MAX; j++) {
            struct sim_process *process = &world->processes[j / SIM_RUNNERS_MAX];
            int runner = j % SIM_RUNNERS_MAX;
            if (runner < process->runner_count && process->runners[runner].owner == job->task.owner) {
                stop(world, process);
                return;
            }
        }
    }
}

/* Somebody sets the clock right that was wrong, or wrong that was right. */
static void set_back(struct sim_world *world)
{
    world->model.was_set_back = true;
    world->now_ms -= sim_between(&world->chance, 1, 100000);
    world->counts->set_back++;
    sim_trace("%lld the clock is set back", (long long)world->now_ms);
}

static void jump(struct sim_world *world)
{
    bool is_back = sim_below(&world->chance, 2) == 0;
    world->model.was_set_back |= is_back;
    world->now_ms += is_back ? -HOUR_MS : HOUR_MS;
    world->counts->jumped++;
    sim_trace("%lld wall time has jumped", (long long)world->now_ms);
}

static void act_wait(struct sim_world *world)
{
    struct sim_chance *chance = &world->chance;
    if (world->mood.jumps > 0 && sim_happens(chance, world->mood.jumps)) {
        jump(world);
        return;
    }
    if (world->mood.sets_back > 0 && sim_happens(chance, world->mood.sets_back)) {
        set_back(world);
        return;
    }
    int64_t next_ms = sim_model_next_due(&world->model, world->now_ms);
    int64_t to_ms = world->now_ms;
    switch (sim_below(chance, 6)) {
    case 0:
        to_ms += sim_between(chance, 1, 50);
        break;
    case 1:
        to_ms += sim_between(chance, 50, 5000);
        break;
    case 2:
        to_ms += world->mood.lease_ms + sim_between(chance, -1, 1);
        break;
    case 3:
        to_ms += sim_between(chance, 5000, 100000);
        break;
    default: /* just before, at, or just after the next timer */
        to_ms = next_ms < INT64_MAX ? next_ms + sim_between(chance, -1, 1) : to_ms;
        break;
    }
    sim_clock_to(world, to_ms);
    sim_trace("%lld time goes on", (long long)world->now_ms);
}

/* The runner's memory of store trouble goes by the real clock, which no seed decides.  A runner
 * is NULL once its process has closed it, and is stopped before it has closed the others. */
static void forget_trouble(struct sim_world *world)
{
    for (int i = 0; i < world->process_count; i++) {
        for (int j = 0; j < world->processes[i].runner_count; j++) {
            pawl_runner *runner = world->processes[i].runners[j].runner;
            if (runner != NULL)
                runner->trouble_ms = runner->trouble_until_ms = 0;
        }
    }
}

static bool has_open_asks(const struct sim_world *world)
{
    for (int i = 0; i < SIM_ASKS_MAX; i++) {
        if (world->asks[i].is_open)
            return true;
    }
    return false;
}

static void act_of_others(struct sim_world *world)
{
    int drawn = sim_below(&world->chance, 13);
    if (drawn < 6)
        sim_worker_act(world);
    else if (drawn < 10)
        sim_client_complete(world);
    else if (drawn < 12)
        sim_client_family(world);
    else
        stop_holder_of_job(world);
}

/* Those that wait for something: open calls, followers, hooks.  False: it was the others' turn. */
static bool act_of_waiting(struct sim_world *world)
{
    int drawn = sim_below(&world->chance, 12);
    if (drawn < 3 && has_open_asks(world))
        sim_ask_act(world);
    else if (drawn < 6 && world->followers[0].instance != NULL)
        sim_follow_act(world);
    else if (drawn < 8 && world->model.has_hooks)
        sim_courier_act(world);
    else if (drawn < 10 && world->has_others)
        act_of_others(world);
    else if (drawn == 10 && world->has_repairs)
        return sim_client_mend(world);
    else
        return false;
    return true;
}

static void act(struct sim_world *world)
{
    forget_trouble(world);
    world->counts->actions++;
    if (act_of_waiting(world))
        return;
    int drawn = sim_below(&world->chance, 105);
    if (drawn >= 103)
        sim_client_restart_from(world);
    else if (drawn >= 100)
        sim_client_look(world);
    else if (drawn < 42)
        act_tick(world);
    else if (drawn < 62)
        act_wait(world);
    else if (drawn < 68)
        sim_client_create(world);
    else if (drawn < 80)
        sim_client_event(world);
    else if (drawn < 92)
        sim_client_control(world);
    else if (drawn < 96)
        act_renew(world);
    else if (drawn < 97)
        act_stop(world);
    else
        act_crash(world);
}

bool sim_may_interlude(const struct sim_world *world)
{
    return !world->is_calm && world->answering == 0 && world->depth < SIM_DEPTH_MAX;
}

static void interlude(struct sim_world *world, int acts)
{
    if (!sim_may_interlude(world))
        return;
    enum sim_context context = world->context;
    world->depth++;
    world->interludes++;
    sim_trace("meanwhile");
    sim_trace_enter();
    for (int i = acts; i > 0; i--)
        act(world);
    sim_trace_leave();
    world->depth--;
    world->context = context;
    world->applied_at_interlude = world->applied;
}

void sim_interlude(struct sim_world *world)
{
    if (sim_may_interlude(world) && sim_happens(&world->chance, world->mood.interlude))
        interlude(world, 1 + sim_below(&world->chance, 3));
}

void sim_interlude_long(struct sim_world *world)
{
    interlude(world, 8);
}

/* A part of a lease: it is only slow.  About a lease: it may lose it, or just not.  Some of them: others finish meanwhile. */
static int64_t choose_stop_ms(struct sim_world *world)
{
    int64_t lease_ms = world->mood.lease_ms;
    switch (sim_below(&world->chance, 4)) {
    case 0:
        return sim_between(&world->chance, 1, lease_ms / 2);
    case 1:
        return lease_ms * 2 / 3 + sim_between(&world->chance, -1, 1);
    case 2:
        return lease_ms + sim_between(&world->chance, -1, 1);
    default:
        return lease_ms * sim_between(&world->chance, 2, 4);
    }
}

/* A plant: its turns take their leases to be longer than they are. */
static void lengthen_leases(struct sim_process *process, int64_t by_ms)
{
    for (int i = 0; i < process->runner_count; i++) {
        const pawl_runner *runner = process->runners[i].runner;
        for (pawl_turn *turn = runner != NULL ? runner->held : NULL; turn != NULL; turn = turn->hosted.held_next) {
            turn->leased_at_ms += by_ms;
            turn->leased_until_ms += by_ms;
        }
    }
}

void sim_process_stop(struct sim_world *world, struct sim_process *process)
{
    if (world->mood.stops == 0 || process->is_stopped || process->is_dead || !sim_may_interlude(world) ||
        !sim_happens(&world->chance, world->mood.stops))
        return;
    int64_t began_ms = world->model.monotonic_ms, until_ms = began_ms + choose_stop_ms(world);
    sim_trace("%lld process %d is stopped", (long long)world->now_ms, (int)(process - world->processes));
    process->is_stopped = true;
    for (int i = 4; i > 0; i--) {
        sim_pass(world, (until_ms - world->model.monotonic_ms) / i);
        interlude(world, 2 + sim_below(&world->chance, 3));
    }
    sim_pass(world, until_ms - world->model.monotonic_ms);
    process->is_stopped = false;
    if (world->plant.kind == SIM_PLANT_UNSEEN_STOP)
        lengthen_leases(process, world->model.monotonic_ms - began_ms);
    world->counts->stopped++;
    sim_trace("%lld process %d goes on", (long long)world->now_ms, (int)(process - world->processes));
}

/* ---- From the seed to the end ------------------------------------------------------------------------------------------ */

static int some(struct sim_chance *chance, int usual)
{
    int drawn = sim_below(chance, 4);
    return drawn == 0 ? 0 : drawn == 1 ? usual * 3 : usual;
}

static void choose_mood(struct sim_world *world)
{
    static const int64_t leases_ms[] = { 100, 1000, 5000, 30000 };
    struct sim_chance *chance = &world->chance;
    world->mood = (struct sim_mood){ .fail_before = some(chance, 10),
                                     .fail_after = some(chance, 10),
                                     .crash_before = some(chance, 5),
                                     .crash_after = some(chance, 5),
                                     .fail_read = some(chance, 8),
                                     .interlude = some(chance, 120),
                                     .body_fails = some(chance, 150),
                                     .body_fails_for_good = some(chance, 40),
                                     .body_is_late = some(chance, 60),
                                     .body_crashes = some(chance, 10),
                                     .clock_creeps = some(chance, 60),
                                     .yields = some(chance, 300),
                                     .hook_fails = some(chance, 200),
                                     .hook_refuses = some(chance, 20),
                                     .hook_crashes = some(chance, 30),
                                     .lease_ms = leases_ms[sim_below(chance, 4)],
                                     .always_replay = sim_below(chance, 4) == 0,
                                     .no_cache = sim_below(chance, 4) == 0 };
    if (sim_below(chance, 5) == 0) {
        struct sim_mood *mood = &world->mood; /* nothing goes wrong but what runs wrong by itself */
        mood->fail_before = mood->fail_after = mood->crash_before = mood->crash_after = 0;
        mood->fail_read = mood->body_crashes = mood->hook_crashes = 0;
    }
}

/* From the seed itself: what is added later leaves the draws of other worlds as they are. */
static int of_some_worlds(uint64_t seed, uint64_t what, int of_1000)
{
    return sim_mix(seed + what * UINT64_C(0xD1B54A32D192ED03)) % 4 == 0 ? of_1000 : 0;
}

static void make_world(struct sim_world *world, uint64_t seed)
{
    struct sim_taste taste;
    world->chance.state = sim_mix(seed);
    world->engines.state = sim_mix(seed + UINT64_C(0x5851F42D4C957F2D));
    world->now_ms = world->start_ms = BEGINNING_MS;
    world->depth = 0;
    world->is_calm = false;
    world->context = SIM_CONTEXT_CLIENT;
    world->interludes = world->faults = world->applied = world->applied_at_interlude = 0;
    world->events_sent = world->names_made = 0;
    world->plant.calls = 0;
    world->answering = 0;
    world->jobs_said = 0;
    memset(world->jobs, 0, sizeof world->jobs);
    for (int i = 0; i < SIM_FOLLOWERS_MAX; i++)
        world->followers[i].instance = NULL;
    choose_mood(world);
    world->mood.gives_up = of_some_worlds(seed, 1, 40);
    world->mood.sets_back = of_some_worlds(seed, 2, 100);
    world->mood.looks_around = of_some_worlds(seed, 3, 100);
    world->mood.jumps = of_some_worlds(seed, 6, 100);
    world->mood.stops = of_some_worlds(seed, 7, 30);
    world->mood.tick_alone = of_some_worlds(seed, 8, 1) != 0;
    world->has_others = sim_mix(seed + 4) % 2 == 0;
    world->has_repairs = sim_mix(seed + 5) % 3 == 0;
    world->mood.body_fails_for_good += world->has_repairs ? 150 : 0;
    sim_taste_choose(&taste, world->has_others, &world->chance);
    for (int i = 0; i < SIM_PROGRAMS_MAX; i++) {
        sim_program_make(&world->programs[i], &taste, i < 2 ? 2 + i : SIM_NONE, &world->chance);
        world->programs[i].suspends = world->has_repairs && sim_mix(seed * SIM_PROGRAMS_MAX + (uint64_t)i) % 3 > 0;
        sim_program_trace(&world->programs[i], i);
    }
    sim_model_reset(&world->model, world->programs, world->start_ms);
    world->model.has_hooks = sim_below(&world->chance, 5) == 0;
    sim_stores_choose(world, seed);
    world->process_count = 1 + sim_below(&world->chance, SIM_PROCESSES_MAX);
    for (int i = 0; i < world->process_count; i++) {
        struct sim_process *process = &world->processes[i];
        process->runner_count = 1 + sim_below(&world->chance, SIM_RUNNERS_MAX);
        process->is_loose = sim_below(&world->chance, 2) == 0;
        process->is_dead = process->is_stopped = false;
        process->looked_at_ms = 0;
        process->on_stack = 0;
        process->engine = process->engines[world->model.has_hooks];
        open_process(world, process);
    }
}

static void check_next_wake(struct sim_world *world)
{
    int64_t next_ms = 0, expected_ms = sim_model_next_due(&world->model, world->now_ms);
    pawl_status status = pawl_runner_next_wake_at(world->processes[0].runners[0].runner, &next_ms, NULL);
    SIM_CHECK(SIM_RULE_NEXT_WAKE, status == PAWL_OK && next_ms == expected_ms, "%s, %lld instead of %lld",
              pawl_status_name(status), (long long)next_ms, (long long)expected_ms);
}

/* The same of a loose runner among others, by its own share. */
static void check_next_of_share(struct sim_world *world, const struct sim_process *process)
{
    for (int i = 0; i < process->runner_count && process->is_loose && world->mood.looks_around > 0; i++) {
        pawl_runner *runner = process->runners[i].runner;
        const struct pw_share share = { .owned = runner->view.owned, .grace_ms = PW_SHARD_GRACE_MS };
        int64_t next_ms = 0, expected_ms = sim_model_next_of_share(&world->model, &share, world->now_ms);
        pawl_status status = pw_runner_next_due(runner, PW_EVER, &next_ms, NULL);
        SIM_CHECK(SIM_RULE_NEXT_WAKE, status == PAWL_OK && next_ms == expected_ms,
                  "its share: %s, %lld instead of %lld", pawl_status_name(status), (long long)next_ms,
                  (long long)expected_ms);
    }
}

/* Those that wait for repair are resumed, and what was wrong is right now; but not that a child failed, or that a change is
 * refused.  What still waits after some times is given up, or left as it is when nobody waits for it.  False: that was
 * all. */
static bool mend(struct sim_world *world, int *mendings, bool is_awaited)
{
    bool any = false;
    SIM_CHECK(SIM_RULE_LIVENESS, *mendings < MENDINGS_MAX + SIM_INSTANCES_MAX, "%d times something waits for repair",
              *mendings);
    if (*mendings < MENDINGS_MAX)
        any = sim_client_mend_all(world, SIM_DEED_RESUME);
    else if (is_awaited || sim_below(&world->chance, 2) == 0)
        any = sim_client_mend_all(world, SIM_DEED_TERMINATE);
    *mendings += any;
    return any;
}

/* Time goes on from one due task to the next, until there is none.  What is in the shards of a runner that does not come
 * to it is taken by any other one, after the grace. */
static void run_to_end(struct sim_world *world)
{
    bool is_late = false;
    world->is_calm = true;
    world->counts->actions++; /* what follows is not what open calls did */
    sim_trace("calm");
    for (int i = 0; i < world->process_count; i++) {
        for (int j = 0; j < world->processes[i].runner_count && world->processes[i].is_loose; j++)
            sim_loose_finish(world, &world->processes[i], &world->processes[i].runners[j]);
        sim_process_commit(&world->processes[i]);
    }
    bool resumes = sim_below(&world->chance, 2) == 0 || world->has_others; /* a paused child holds its parent up */
    int mendings = 0;
    if (resumes)
        sim_client_resume_all(world);
    for (int ticks = 0;; ticks++) {
        struct sim_process *process = &world->processes[ticks % world->process_count];
        int64_t next_ms = sim_model_next_due(&world->model, world->now_ms), processed = 0;
        uint64_t recorded = world->applied_of_turns;
        check_next_wake(world);
        check_next_of_share(world, process);
        bool is_idle = next_ms > world->now_ms + LONG_MS; /* for who waits for a child looks after it once a year */
        if (is_idle && resumes && mend(world, &mendings, next_ms < INT64_MAX))
            continue;
        if (next_ms == INT64_MAX)
            return;
        SIM_CHECK(SIM_RULE_LIVENESS, ticks < TICKS_UNTIL_END_MAX, "after %d ticks something is still due", ticks);
        sim_clock_to(world, is_late ? next_ms + PW_SHARD_GRACE_MS : next_ms);
        if (process->is_loose)
            processed = sim_loose_tick(world, process, &process->runners[0]);
        else
            sim_tick(world, process, &process->runners[0], 1, 0, &processed);
        /* A run that was handed over as it was made is not counted as processed, and may make another at the same time. */
        bool moved = processed > 0 || world->applied_of_turns != recorded;
        bool is_left = !moved && sim_model_next_due(&world->model, world->now_ms) == next_ms;
        bool may_be_left = process->is_loose && world->mood.looks_around > 0 && !is_late;
        SIM_CHECK(SIM_RULE_LIVENESS, !is_left || may_be_left, "something is due, and nobody takes it");
        is_late = is_left;
    }
}

static void check_ends(struct sim_world *world)
{
    for (int i = 0; i < world->model.instance_count; i++) {
        const struct sim_instance *instance = &world->model.instances[i];
        bool paused = instance->task.exists && instance->task.status == PW_TASK_PAUSED;
        SIM_CHECK(SIM_RULE_LIVENESS, !instance->task.exists || paused, "%s has not ended", instance->id);
        world->counts->paused += paused;
        world->counts->complete += instance->outcome == PW_OUTCOME_COMPLETE;
        world->counts->errored += instance->outcome == PW_OUTCOME_ERRORED;
        world->counts->terminated += instance->outcome == PW_OUTCOME_TERMINATED;
        world->counts->restarts += (uint64_t)(instance->run - 1);
    }
}

void sim_world_run(struct sim_world *world, uint64_t seed)
{
    make_world(world, seed);
    sim_client_create(world);
    for (int i = (int)sim_between(&world->chance, 15, 45); i > 0; i--) {
        act(world);
        if (sim_below(&world->chance, 16) == 0)
            sim_compare(world);
    }
    run_to_end(world);
    check_ends(world);
    sim_asks_finish(world);
    sim_follow_finish(world);
    sim_courier_finish(world);
    sim_look_all(world);
    sim_compare(world);
    for (int i = 0; i < world->process_count; i++)
        close_process(world, &world->processes[i]);
    world->counts->seeds++;
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------------- */

static void define_workflows(struct sim_world *world, pawl_engine *engine)
{
    static const char *const names[] = { "alpha", "beta" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pawl_definition definition = {
            .struct_size = sizeof definition, .name = names[i], .advance = sim_play, .user = world
        };
        if (pawl_define(engine, &definition, NULL) != PAWL_OK)
            sim_give_up("no workflow %s", names[i]);
    }
    struct pawl_definition function = {
        .struct_size = sizeof function, .name = "f", .advance = sim_work, .user = world, .is_function = true
    };
    if (pawl_define(engine, &function, NULL) != PAWL_OK)
        sim_give_up("no function");
}

static void open_engine(struct sim_world *world, const struct pawl_options *options, int position, bool has_hooks)
{
    struct pawl_error error = { PAWL_OK, "" };
    struct sim_process *process = &world->processes[position];
    struct sim_port *port = calloc(1, sizeof *port);
    if (port == NULL)
        sim_give_up("no memory");
    port->world = world;
    port->process = position;
    process->ports[has_hooks] = port;
    struct pawl_options own = *options;
    own.clock = (struct pawl_clock){ .now_ms = process_now_ms, .monotonic_ms = process_monotonic_ms, .user = process };
    process->world = world;
    if (pw_engine_open(&own, sim_port_wrap, port, &process->engines[has_hooks], &error) != PAWL_OK)
        sim_give_up("no engine: %s", error.text);
    define_workflows(world, process->engines[has_hooks]);
    if (has_hooks)
        sim_courier_register(process->engines[has_hooks], process, position);
}

void sim_world_open(struct sim_world *world, struct sim_counts *counts)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    options.store_url = "sqlite::memory:";
    options.clock = (struct pawl_clock){ .now_ms = base_now_ms, .monotonic_ms = world_monotonic_ms, .user = world };
    options.random = (struct pawl_random){ fill_by_chance, world };
    world->counts = counts;
    world->model.transitions = counts->transitions;
    world->model.world = world;
    world->model.lives = runner_lives;
    world->now_ms = BEGINNING_MS;
    sim_stores_open(world, &options);
    for (int i = 0; i < SIM_PROCESSES_MAX * 2; i++)
        open_engine(world, &options, i / 2, i % 2 == 1);
}

void sim_world_close(struct sim_world *world)
{
    sim_model_reset(&world->model, world->programs, 0);
    for (int i = 0; i < SIM_PROCESSES_MAX; i++) {
        for (int j = 0; j < 2; j++) {
            pawl_close(world->processes[i].engines[j]);
            free(world->processes[i].ports[j]);
        }
    }
    sim_stores_close(world);
}
