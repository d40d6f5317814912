/* sweep_watch.c - records what workflow functions do in each pass, and compares passes.
 *
 * Each pass of a run must make the same durable calls as the pass before, lane by lane and in the same order, as far
 * as that pass went.  Only one thing excuses another path: a crash that lost the outcome of a call after the code
 * had seen it.  The calls after that one need not be made again. */
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "testing/sweep.h"

enum { CALLS_MAX = 200000, UNHEEDED_MAX = 10000, CLOCK_MOVES_MS = 1001, PATH_SIZE = 200 };

/* ---- Runs and steps ---------------------------------------------------------------------------------------------- */

/* Takes zeroed memory.  NULL when memory runs out; the watch remembers that. */
static void *take(struct pw_sweep_watch *watch, size_t size)
{
    void *memory = pw_arena_zero(&watch->arena, size);
    watch->out_of_memory = watch->out_of_memory || memory == NULL;
    return memory;
}

static struct pw_sweep_run *find_run(const struct pw_sweep_watch *watch, int64_t instance, int64_t number)
{
    struct pw_sweep_run *run = watch->runs;
    while (run != NULL && (run->instance != instance || run->number != number))
        run = run->next;
    return run;
}

static struct pw_sweep_run *find_or_add_run(struct pw_sweep_watch *watch, const pawl_turn *turn)
{
    const struct pw_fence *fence = &turn->claim.fence;
    struct pw_sweep_run *run = find_run(watch, fence->instance, fence->run);
    if (run != NULL)
        return run;
    run = take(watch, sizeof *run);
    if (run == NULL)
        return NULL;
    run->instance = fence->instance;
    run->number = fence->run;
    run->workflow = turn->definition->name.data;
    run->lost_at = SIZE_MAX;
    run->is_main = pw_text_equal(turn->definition->name, pw_text_of(watch->play->options->workflow)) &&
                   pw_text_equal(turn->claim.id, pw_text_of(PW_SWEEP_ID));
    run->next = watch->runs;
    watch->runs = run;
    return run;
}

static struct pw_sweep_step *find_or_add_step(struct pw_sweep_watch *watch, struct pw_sweep_run *run,
                                              struct pw_text name)
{
    struct pw_sweep_step *step = pw_table_find(&run->steps, name);
    if (step != NULL)
        return step;
    step = take(watch, sizeof *step);
    if (step == NULL || !pw_arena_text(&watch->arena, name, &step->name) ||
        !pw_table_add(&run->steps, step->name, step)) {
        watch->out_of_memory = true;
        return NULL;
    }
    step->run = run;
    return step;
}

static void append(struct pw_sweep_watch *watch, struct pw_sweep_list *list, const struct pw_sweep_call *call)
{
    struct pw_rows rows = { &watch->arena, sizeof *call, list->calls, list->count, list->capacity };
    struct pw_sweep_call *added = pw_rows_add(&rows);
    if (added == NULL) {
        watch->out_of_memory = true;
        return;
    }
    *added = *call;
    *list = (struct pw_sweep_list){ rows.rows, rows.count, rows.capacity };
}

const struct pw_sweep_run *pw_sweep_main_run(const struct pw_sweep_watch *watch)
{
    const struct pw_sweep_run *found = NULL;
    for (const struct pw_sweep_run *run = watch->runs; run != NULL; run = run->next) {
        if (run->is_main && (found == NULL || run->number > found->number))
            found = run;
    }
    return found;
}

bool pw_sweep_has_seen_enough(const struct pw_sweep_watch *watch)
{
    return watch->looping.count > 0 || watch->differs;
}

/* ---- What the store was told ------------------------------------------------------------------------------------- */

void pw_sweep_note_recorded(struct pw_sweep_watch *watch, const struct pw_op_step *op)
{
    struct pw_sweep_run *run = find_run(watch, op->instance, op->run);
    struct pw_sweep_step *step = run != NULL ? find_or_add_step(watch, run, op->row.name) : NULL;
    if (step == NULL)
        return;
    /* A repair puts a failed step back to its state before the first attempt. */
    bool put_back = op->row.status == PAWL_STEP_WAITING && op->row.attempts == 0;
    step->finished = !put_back && (step->finished || op->row.status != PAWL_STEP_WAITING);
    if (step->recorded)
        return;
    step->recorded = true;
    append(watch, &run->recorded, &(struct pw_sweep_call){ .step = step, .kind = op->row.kind, .place = step->place });
}

void pw_sweep_note_lost(struct pw_sweep_watch *watch, const struct pw_op_step *op)
{
    struct pw_sweep_run *run = find_run(watch, op->instance, op->run);
    if (run == NULL || op->row.status == PAWL_STEP_WAITING)
        return;
    for (const struct pw_sweep_lane *lane = run->current; lane != NULL; lane = lane->next) {
        for (size_t i = 0; i < lane->list.count; i++) {
            const struct pw_sweep_call *call = &lane->list.calls[i];
            if (pw_text_equal(call->step->name, op->row.name) && call->order < run->lost_at)
                run->lost_at = call->order;
        }
    }
}

/* ---- What the author's code calls -------------------------------------------------------------------------------- */

/* The path from the main lane to this one.  A path that is too long for the buffer loses its upper end. */
static const char *path_of(const pawl_lane *lane, char buffer[PATH_SIZE])
{
    size_t at = PATH_SIZE - 1;
    buffer[at] = '\0';
    for (; lane->parent != NULL; lane = lane->parent) {
        char part[48];
        size_t size = (size_t)snprintf(part, sizeof part, "/%zu.%zu", lane->fork, lane->position);
        if (size > at)
            break;
        at -= size;
        memcpy(buffer + at, part, size);
    }
    return buffer + at;
}

static struct pw_sweep_lane *find_or_add_lane(struct pw_sweep_watch *watch, const char *path)
{
    struct pw_sweep_run *run = watch->running;
    struct pw_sweep_lane *lane = run->current;
    while (lane != NULL && strcmp(lane->path, path) != 0)
        lane = lane->next;
    if (lane != NULL)
        return lane;
    lane = take(watch, sizeof *lane);
    if (lane == NULL || (lane->path = pw_arena_string(&watch->arena, path)) == NULL) {
        watch->out_of_memory = true;
        return NULL;
    }
    lane->next = run->current;
    run->current = lane;
    return lane;
}

/* The calls of the lane in this pass.  NULL: no watched function is running, or memory ran out. */
static struct pw_sweep_list *list_of(struct pw_sweep_watch *watch, const pawl_lane *lane)
{
    char buffer[PATH_SIZE];
    struct pw_sweep_lane *at = watch->running != NULL ? find_or_add_lane(watch, path_of(lane, buffer)) : NULL;
    return at != NULL ? &at->list : NULL;
}

static struct pw_sweep_call *last_of(const struct pw_sweep_list *list)
{
    return list->count > 0 ? &list->calls[list->count - 1] : NULL;
}

/* Cancels the turn, so that the code returns and makes no more calls. */
static void stop_looping(struct pw_sweep_watch *watch, const pawl_lane *lane, const struct pw_sweep_call *call)
{
    if (watch->looping.count == 0)
        append(watch, &watch->looping, call);
    atomic_store(&lane->turn->cancelled, true);
}

/* Notes a name that is used twice in a pass.  It is the same step and gets the same answer, which is hardly ever
 * intended.  A deferred has one name for its token and for the wait, so only the wait counts.  With one thread, each
 * branch is called once in a pass. */
static void note_name(struct pw_sweep_watch *watch, const struct pw_sweep_run *run, const struct pw_sweep_call *call)
{
    struct pw_sweep_step *step = call->step;
    if (step->pass != run->pass) {
        step->pass = run->pass;
        step->first_kind = call->kind;
        step->first_place = call->place;
    } else if (!step->is_repeated) {
        step->is_repeated = true;
        append(watch, &watch->repeated,
               &(struct pw_sweep_call){ .step = step, .kind = step->first_kind, .place = step->first_place });
        append(watch, &watch->repeated, call);
    }
}

/* True if this call only asks for the outcome of the body that it has just run. */
static bool asks_for_outcome(const struct pw_sweep_watch *watch, struct pw_sweep_step *step,
                             const struct pw_sweep_run *run)
{
    bool asks = step->body_began && step->pass == run->pass;
    step->body_began = false;
    if (asks)
        pw_sweep_tell(watch->play, NULL);
    return asks;
}

/* True once a pass makes calls without end: those are not listed. */
static bool is_endless(struct pw_sweep_watch *watch, struct pw_sweep_run *run, const pawl_lane *lane,
                       const struct pw_sweep_call *call)
{
    run->order++;
    if (run->order > CALLS_MAX && call != NULL)
        stop_looping(watch, lane, call);
    return run->order > CALLS_MAX;
}

static void reached(void *user, const pawl_lane *lane, struct pw_text name, enum pawl_step_kind kind)
{
    struct pw_sweep_watch *watch = user;
    struct pw_sweep_run *run = watch->running;
    struct pw_sweep_list *calls = list_of(watch, lane);
    struct pw_sweep_step *step = calls != NULL ? find_or_add_step(watch, run, name) : NULL;
    if (step == NULL)
        return;
    const struct pw_sweep_call *last = last_of(calls);
    bool is_new = last == NULL || last->step != step || last->kind != kind, awaits;
    if (is_endless(watch, run, lane, last) || asks_for_outcome(watch, step, run) || (!is_new && step->is_repeated))
        return;
    struct pw_sweep_call call = { .step = step, .kind = kind, .order = run->order };
    call.place = pw_sweep_place_find(&awaits);
    if (kind != PAWL_STEP_DEFERRED || awaits)
        note_name(watch, run, &call);
    if (!is_new)
        return;
    step->place = call.place;
    append(watch, calls, &call);
}

/* A fork was reached.  For a race, reached() has just noted the call by its name. */
static void forked(void *user, const pawl_lane *lane, size_t branches, bool is_race)
{
    bool awaits;
    struct pw_sweep_watch *watch = user;
    struct pw_sweep_run *run = watch->running;
    struct pw_sweep_list *calls = list_of(watch, lane);
    struct pw_sweep_step *step = calls != NULL ? find_or_add_step(watch, run, pw_text_of("")) : NULL;
    if (step == NULL)
        return;
    struct pw_sweep_call *last = last_of(calls);
    struct pw_sweep_call call = { .step = step, .kind = PAWL_STEP_FIRST, .is_all = true, .branches = branches };
    if (is_race && last != NULL && last->kind == PAWL_STEP_FIRST && !last->is_all)
        last->branches = branches;
    if (is_race || is_endless(watch, run, lane, &call))
        return;
    call.place = pw_sweep_place_find(&awaits);
    call.order = run->order;
    append(watch, calls, &call);
}

/* The code ignores PAWL_SUSPENDED.  Nothing here can stop an endless loop, because its code must return by itself.
 * So the caller is told.  The loop is slowed down, because the names that it makes up use memory until it is stopped
 * from outside. */
static void unheeded(void *user, const pawl_lane *lane)
{
    static const struct timespec a_little = { .tv_nsec = 1000000 };
    struct pw_sweep_watch *watch = user;
    struct pw_sweep_run *run = watch->running;
    if (run == NULL || ++run->unheeded < UNHEEDED_MAX)
        return;
    if (run->unheeded > UNHEEDED_MAX) {
        (void)nanosleep(&a_little, NULL);
        return;
    }
    const struct pw_sweep_list *calls = list_of(watch, lane);
    watch->is_unheeded = watch->looping.count == 0;
    if (calls != NULL && calls->count > 0)
        stop_looping(watch, lane, last_of(calls));
    pw_sweep_tell_unheeded(watch->play);
}

static struct pw_mock body_begins(void *user, struct pw_text workflow, struct pw_text name, int64_t attempt)
{
    struct pw_sweep_watch *watch = user;
    const struct pw_mocks *inner = &watch->world->mocks.hooks;
    struct pw_sweep_step *step = watch->running != NULL ? pw_table_find(&watch->running->steps, name) : NULL;
    if (step != NULL && step->finished && watch->ran_twice == NULL)
        watch->ran_twice = step;
    struct pw_mock mock = inner->find(inner->user, workflow, name, attempt);
    if (step == NULL || mock.kind != PW_MOCK_NONE || step->first_kind != PAWL_STEP_DO)
        return mock;
    step->body_began = true;
    pw_sweep_tell(watch->play, step->name.data);
    return mock;
}

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

/* A workflow, with the watch around its turn function. */
struct watched {
    struct pw_sweep_watch *watch;
    pawl_turn_fn *advance;
    void *user;
};

static void forget_lost(struct pw_sweep_run *run)
{
    for (struct pw_sweep_lane *lane = run->former; lane != NULL; lane = lane->next) {
        while (lane->list.count > 0 && lane->list.calls[lane->list.count - 1].order > run->lost_at)
            lane->list.count--;
    }
    run->lost_at = SIZE_MAX;
}

/* Begins a pass.  Reuses the lanes of the pass before the last. */
static void begin_pass(struct pw_sweep_watch *watch, const pawl_turn *turn)
{
    struct pw_sweep_run *run = find_or_add_run(watch, turn);
    pw_sweep_tell(watch->play, NULL);
    if (watch->play->of.replays)
        pawl_world_jump_ms(watch->world, CLOCK_MOVES_MS);
    watch->running = run;
    if (run == NULL)
        return;
    struct pw_sweep_lane *spare = run->former;
    run->former = run->current;
    run->current = spare;
    run->pass++;
    run->order = run->unheeded = 0;
    for (struct pw_sweep_lane *lane = run->current; lane != NULL; lane = lane->next)
        lane->list.count = 0;
    forget_lost(run);
}

/* Appends the calls of `more` from position `first` on. */
static void append_all(struct pw_sweep_watch *watch, struct pw_sweep_list *list, const struct pw_sweep_list *more,
                       size_t first)
{
    for (size_t i = first; i < more->count; i++)
        append(watch, list, &more->calls[i]);
}

bool pw_sweep_is_same_call(const struct pw_sweep_call *left, const struct pw_sweep_call *right)
{
    bool is_known = left->is_all || (left->branches > 0 && right->branches > 0);
    return left->kind == right->kind && left->is_all == right->is_all &&
           pw_text_equal(left->step->name, right->step->name) && (!is_known || left->branches == right->branches);
}

/* True if the lists differ.  A list may be shorter if the pass ended early.  Only a function that reached its end
 * must have made all calls. */
static bool lists_differ(const struct pw_sweep_list *expected, const struct pw_sweep_list *seen, bool at_end)
{
    for (size_t i = 0; i < expected->count && i < seen->count; i++) {
        if (!pw_sweep_is_same_call(&expected->calls[i], &seen->calls[i]))
            return true;
    }
    return at_end && seen->count < expected->count;
}

static void end_pass(struct pw_sweep_watch *watch, const pawl_turn *turn)
{
    const struct pw_sweep_run *run = watch->running;
    bool at_end = turn->outcome == PW_OUTCOME_FINISH || turn->outcome == PW_OUTCOME_FAIL;
    for (const struct pw_sweep_lane *former = run != NULL ? run->former : NULL; former != NULL; former = former->next) {
        bool is_main = former->path[0] == '\0'; /* branches that lost a race are not called again */
        struct pw_sweep_lane *current = find_or_add_lane(watch, former->path);
        if (current == NULL)
            break;
        if (!watch->differs && lists_differ(&former->list, &current->list, is_main && at_end)) {
            append_all(watch, &watch->expected, &former->list, 0);
            append_all(watch, &watch->seen, &current->list, 0);
            watch->differs = true;
        }
        /* The next pass must also make the calls that this one did not come to, because it was cut short. */
        append_all(watch, &current->list, &former->list, current->list.count);
    }
    watch->running = NULL;
}

void pw_sweep_advance(pawl_turn *turn, void *user)
{
    const struct watched *watched = user;
    begin_pass(watched->watch, turn);
    watched->advance(turn, watched->user);
    end_pass(watched->watch, turn);
}

/* ---- Beginning and ending ---------------------------------------------------------------------------------------- */

void pw_sweep_watch_init(struct pw_sweep_watch *watch, const struct pw_sweep_play *play)
{
    *watch = (struct pw_sweep_watch){
        .hooks = { .user = watch, .find = body_begins, .reached = reached, .forked = forked, .unheeded = unheeded },
        .world = play->world,
        .play = play
    };
}

bool pw_sweep_watch_begin(struct pw_sweep_watch *watch)
{
    pawl_engine *engine = watch->world->engine;
    for (size_t i = 0; i < engine->definition_count; i++) {
        struct pw_definition *definition = engine->list[i];
        struct watched *watched = pw_arena_take(&watch->arena, sizeof *watched);
        if (watched == NULL)
            return false;
        *watched = (struct watched){ watch, definition->advance, definition->user };
        if (definition->advance == NULL)
            continue; /* polled: no turn of it runs here */
        definition->advance = pw_sweep_advance;
        definition->user = watched;
    }
    watch->hooks.sleeps_disabled = watch->world->mocks.hooks.sleeps_disabled;
    engine->mocks = &watch->hooks;
    return true;
}

void pw_sweep_watch_free(struct pw_sweep_watch *watch)
{
    for (struct pw_sweep_run *run = watch->runs; run != NULL; run = run->next)
        pw_table_clear(&run->steps);
    pw_arena_clear(&watch->arena);
}
