/* turn.c - the life of a turn: made from a claim, loaded, run in passes, closed.  See turn.h.
 *
 * The driver of a turn asks pw_turn_next() what to do and does it: run a pass, wait until the host is told that the
 * turn is ready, or retire the turn.  next() is the only function that decides this, and closing_of() is the only
 * one that decides how a turn closes.  Requests from outside (a pause, a demand, an event) only set a field.  The
 * next durable call or the next call of next() acts on it. */
#include "turn/inside.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bar.h"
#include "base/error.h"
#include "base/limits.h"
#include "common/thread.h"
#include "turn/attempt.h"
#include "turn/lines.h"
#include "value/value.h"

enum { TROUBLE_DELAY_MS = 1000 };

/* ---- Creation and release -------------------------------------------------------------------------------------- */

pawl_turn *pw_turn_new(pawl_engine *engine, const struct pw_definition *definition, const struct pw_claim *claim,
                       const struct pw_turn_host *host)
{
    pawl_turn *turn = calloc(1, sizeof *turn);
    if (turn == NULL)
        return NULL;
    turn->engine = engine;
    turn->definition = definition;
    turn->host = host;
    turn->claim = *claim;
    turn->about = pw_stable_hash(0, claim->id);
    turn->demand = claim->demand;
    turn->fenced = claim->event_seq;
    turn->gap = INT64_MAX;
    atomic_init(&turn->references, 1);
    atomic_init(&turn->chain.broken, PAWL_OK);
    atomic_init(&turn->cancelled, claim->demand == PW_DEMAND_TERMINATE);
    pthread_mutex_init(&turn->lock, NULL);
    bool complete = pw_cond_init(&turn->changed) && pw_arena_text(&turn->arena, claim->id, &turn->claim.id) &&
                    pw_arena_text(&turn->arena, claim->params, &turn->claim.params);
    turn->claim.workflow = definition->name;
    if (!complete) {
        pw_turn_unref(turn);
        return NULL;
    }
    return turn;
}

void pw_turn_ref(pawl_turn *turn)
{
    atomic_fetch_add(&turn->references, 1);
}

void pw_turn_unref(pawl_turn *turn)
{
    if (turn == NULL || atomic_fetch_sub(&turn->references, 1) > 1)
        return;
    pw_history_free(turn->history);
    pw_budget_owe(&turn->engine->memory, &turn->memory_held, 0);
    pw_arena_clear(&turn->pass_arena);
    pw_table_clear(&turn->spoken);
    pw_arena_clear(&turn->arena);
    pthread_cond_destroy(&turn->changed);
    pthread_mutex_destroy(&turn->lock);
    free(turn);
}

void pw_turn_lock(pawl_turn *turn)
{
    pthread_mutex_lock(&turn->lock);
    pw_turn_check(turn);
    pw_bar_store();
}

void pw_turn_unlock(pawl_turn *turn)
{
    pw_unbar_store();
    pw_turn_check(turn);
    pthread_mutex_unlock(&turn->lock);
}

/* ---- What the runner sees --------------------------------------------------------------------------------------- */

struct pw_hosted *pw_turn_hosted(pawl_turn *turn)
{
    return &turn->hosted;
}

const struct pw_claim *pw_turn_claim(const pawl_turn *turn)
{
    return &turn->claim;
}

const struct pw_definition *pw_turn_definition(const pawl_turn *turn)
{
    return turn->definition;
}

/* Takes no lock, because nothing changes these fields once the turn has ended. */
struct pw_turn_result pw_turn_result(const pawl_turn *turn)
{
    bool is_closed = turn->phase == PW_TURN_OVER;
    return (struct pw_turn_result){ .is_closed = is_closed,
                                    .is_parked = is_closed && !turn->finished,
                                    .due_at_ms = turn->due_at_ms,
                                    .is_taken = !is_closed && atomic_load(&turn->chain.broken) == PAWL_CONFLICT,
                                    .is_short = turn->is_short };
}

/* ---- Handing over the history ----------------------------------------------------------------------------------- */

struct pw_history *pw_turn_take_history(pawl_turn *turn, struct pw_fence *out_fence)
{
    struct pw_history *history = NULL;
    pw_turn_lock(turn);
    /* A run that waits for repair cannot use it, because the resume changes its steps. */
    bool usable = turn->phase == PW_TURN_OVER && !turn->finished && turn->stop != PW_STOP_GIVEN_UP &&
                  turn->rejections == 0 && turn->outcome != PW_OUTCOME_REPAIR &&
                  atomic_load(&turn->chain.broken) == PAWL_OK;
    if (usable) {
        history = turn->history;
        turn->history = NULL;
        *out_fence = turn->claim.fence;
        out_fence->epoch++; /* the closing unit has raised it */
    }
    pw_turn_unlock(turn);
    return history;
}

/* ---- Passes ---------------------------------------------------------------------------------------------------- */

void pw_lane_begin(pawl_lane *lane)
{
    lane->suspended = false;
    lane->commit_wanted = 0;
    lane->wake_at_ms = INT64_MAX;
    lane->waits_for_event = false;
    lane->told_interruption = false;
    lane->events_seen = INT64_MAX;
    lane->forks = 0;
    lane->calls = 0;
    lane->began = lane->turn->history->moment;
    lane->place = lane->place_first;
    lane->said = 0;
    lane->expected = lane->parent != NULL ? lane->parent->expected : lane->turn->history->first;
}

void pw_lane_init(pawl_lane *lane, pawl_turn *turn, pawl_lane *parent)
{
    memset(lane, 0, sizeof *lane);
    atomic_init(&lane->abandoned, false);
    lane->turn = turn;
    lane->parent = parent;
    lane->place_first = PW_PLACE_FIRST; /* fork_init() sets that of a branch */
    pw_lane_begin(lane);
    lane->after = parent != NULL ? parent->after : 0;
    lane->seq_met = parent != NULL ? parent->seq_met : 0;
}

/* Begins a pass: everything that the last pass knew about its lanes is dropped.  The history, the log lines that are
 * not recorded yet and the units that are out stay. */
void pw_turn_begin_pass(pawl_turn *turn)
{
    pw_turn_lock(turn);
    assert(turn->phase == PW_TURN_LOADING || turn->phase == PW_TURN_WAITING);
    turn->phase = PW_TURN_PASSING;
    pw_arena_clear(&turn->pass_arena);
    pw_history_begin_pass(turn->history);
    turn->repeats = 0;
    pw_lane_init(&turn->main, turn, NULL);
    turn->outcome = PW_OUTCOME_NONE;
    turn->demand_passed = turn->demand;
    turn->unwinding = turn->for_good = turn->skipped_losers = false;
    if (turn->claim.taken_over) {
        turn->claim.taken_over = false;
        (void)pw_log_system(turn, &turn->logs, PAWL_LOG_WARN, (struct pw_text){ NULL, 0 }, 0,
                            "the lease of the runner that held this run has ended; another runner goes on");
    }
    pw_lane_enter_code(&turn->main);
    pw_turn_unlock(turn);
}

/* Ends a pass.  A turn that was given up is in no pass any more, so what the blocked code returned does not count. */
bool pw_turn_end_pass(pawl_turn *turn)
{
    pw_turn_lock(turn);
    pw_lane_leave_code(&turn->main, true);
    bool alive = turn->phase == PW_TURN_PASSING;
    if (alive)
        turn->phase = PW_TURN_WAITING;
    if (alive && turn->outcome == PW_OUTCOME_NONE) {
        turn->outcome = PW_OUTCOME_FAIL;
        turn->result = (struct pw_text){ NULL, 0 };
        turn->error_name = pw_text_of("TURN_NOT_ENDED");
        turn->error_message = pw_text_of("the turn function returned without ending the turn");
    }
    pw_turn_unlock(turn);
    return alive;
}

bool pw_turn_pass(pawl_turn *turn)
{
    pw_turn_begin_pass(turn);
    turn->definition->advance(turn, turn->definition->user);
    return pw_turn_end_pass(turn);
}

void pawl_turn_describe(const pawl_turn *turn, struct pawl_turn_info *out_info)
{
    *out_info = (struct pawl_turn_info){
        .workflow = turn->definition->name.data,
        .instance_id = turn->claim.id.data,
        .run_number = turn->claim.fence.run,
        .created_at_ms = turn->history->created_at_ms,
        .params_json = turn->history->params.data,
        .params_size = turn->history->params.size,
        .is_first = turn->claim.is_first,
        .is_again = turn->history->pass > turn->history->turn_pass,
        .parent = { .workflow = turn->history->parent_workflow.data,
                    .id = turn->history->parent_id.data,
                    .run_number = turn->history->link.run,
                    .is_attached = turn->history->link.relation == PW_RELATION_ATTACHED },
    };
}

pawl_engine *pawl_turn_engine(const pawl_turn *turn)
{
    return turn->engine;
}

pawl_lane *pawl_turn_lane(pawl_turn *turn)
{
    return &turn->main;
}

/* ---- How a pass ends --------------------------------------------------------------------------------------------- */

void pawl_turn_suspend(pawl_turn *turn)
{
    pw_turn_lock(turn);
    turn->outcome = PW_OUTCOME_SUSPEND;
    pw_turn_unlock(turn);
}

void pawl_turn_await_repair(pawl_turn *turn)
{
    pw_turn_lock(turn);
    turn->outcome = PW_OUTCOME_REPAIR;
    pw_turn_unlock(turn);
}

bool pawl_turn_interrupted(const pawl_turn *turn)
{
    return turn->main.told_interruption;
}

void pawl_turn_unwind(pawl_turn *turn)
{
    pw_turn_lock(turn);
    turn->unwinding = true;
    if (turn->skipped_losers) { /* what they completed must be undone: run another pass that calls them */
        turn->walks_losers = true;
        turn->main.commit_wanted = 1; /* any answered unit will do: the next pass begins at once */
        (void)pw_lane_suspend(&turn->main);
    }
    pw_turn_unlock(turn);
}

/* Notes how the pass ended.  If the main lane is suspended, the run has not ended, whatever the function returned. */
static void end_with(pawl_turn *turn, enum pw_turn_outcome outcome, struct pw_text result, const char *name,
                     const char *message)
{
    pw_turn_lock(turn);
    struct pw_text error_name = pw_text_cut(pw_text_of(name), PW_ERROR_NAME_MAX);
    struct pw_text error_message = pw_text_cut(pw_text_of(message), PW_ERROR_MESSAGE_MAX);
    turn->outcome = turn->main.suspended || turn->stop == PW_STOP_GIVEN_UP ? PW_OUTCOME_SUSPEND : outcome;
    if (!pw_arena_text(&turn->arena, result, &turn->result) ||
        !pw_arena_text(&turn->arena, error_name, &turn->error_name) ||
        !pw_arena_text(&turn->arena, error_message, &turn->error_message)) {
        turn->outcome = PW_OUTCOME_SUSPEND;
        turn->trouble = PAWL_NOMEM;
    }
    pw_turn_unlock(turn);
}

void pawl_turn_finish(pawl_turn *turn, const char *result_json, size_t result_size)
{
    struct pw_text result = { result_json, result_size };
    struct pawl_error error = { PAWL_OK, "" };
    pawl_status status = pw_json_check(result, turn->definition->limits.payload_bytes_max, "the run's result", &error);
    if (status == PAWL_OK)
        end_with(turn, PW_OUTCOME_FINISH, result, NULL, NULL);
    else
        pawl_turn_fail(turn, pawl_status_name(status), error.text);
}

void pawl_turn_fail(pawl_turn *turn, const char *error_name, const char *error_message)
{
    end_with(turn, PW_OUTCOME_FAIL, (struct pw_text){ NULL, 0 }, error_name != NULL ? error_name : "FAILED",
             error_message != NULL ? error_message : "");
}

void pawl_turn_fail_for_good(pawl_turn *turn, const char *error_name, const char *error_message)
{
    pawl_turn_fail(turn, error_name, error_message);
    pw_turn_lock(turn);
    turn->for_good = true;
    pw_turn_unlock(turn);
}

/* ---- What comes next --------------------------------------------------------------------------------------------- */

/* There is more to do at once, but not in this turn: the runner is stopping, a tick's budget is used up, or the
 * watchdog gave the turn up.  After a give-up the lanes do not know what was recorded for them. */
static bool is_cut_short(const pawl_turn *turn)
{
    return turn->outcome == PW_OUTCOME_NONE || turn->stop != PW_STOP_NOT || turn->main.commit_wanted != 0;
}

/* The run ends because of a demand.  Its error is the interruption, unless undoing the run met another error.  A
 * rollback has no error of its own. */
static struct pw_op closing_of_demand(const pawl_turn *turn)
{
    const char *interrupted = pawl_status_name(PAWL_INTERRUPTED);
    bool failed = turn->demand != PW_DEMAND_TERMINATE && turn->outcome == PW_OUTCOME_FAIL &&
                  !pw_text_equal(turn->error_name, pw_text_of(interrupted));
    struct pw_op end = {
        .kind = PW_OP_FINISH,
        .as.finish = { .outcome = PW_OUTCOME_TERMINATED, .reach.demand = turn->demand, .demand_seen = turn->demand }
    };
    if (failed) {
        end.as.finish.error_name = turn->error_name;
        end.as.finish.error_message = turn->error_message;
    } else if (turn->demand == PW_DEMAND_INTERRUPT) {
        end.as.finish.error_name = pw_text_of(interrupted);
        end.as.finish.error_message = pw_text_of("the run was interrupted");
    }
    return end;
}

static struct pw_op closing_of_end(const pawl_turn *turn)
{
    /* A failed run that was undone has nothing left to do for a demand that came meanwhile. */
    bool good = turn->outcome == PW_OUTCOME_FINISH, is_undone = !good && turn->unwinding;
    enum pw_demand seen = is_undone ? turn->demand : turn->demand_passed;
    return (struct pw_op){ .kind = PW_OP_FINISH,
                           .as.finish = { .demand_seen = seen,
                                          .reach.demand = seen,
                                          .outcome = good ? PW_OUTCOME_COMPLETE : PW_OUTCOME_ERRORED,
                                          .output = turn->result,
                                          .error_name = turn->error_name,
                                          .error_message = turn->error_message } };
}

static struct pw_op park_as(enum pw_task_status status, enum pw_task_kind kind, int64_t due_at_ms)
{
    return (struct pw_op){ .kind = PW_OP_PARK, .as.park = { .status = status, .kind = kind, .due_at_ms = due_at_ms } };
}

/* Builds the op of the closing unit.  The first line that applies:
 *
 *   a termination is demanded                              the run ends, terminated
 *   a pause is requested                                   paused; the pass's outcome is found again after the resume
 *   the run ended after it was told of a demand            the run ends as the demand says
 *   the run ended                                          the run ends, completed or errored
 *   it was cut short                                       due at once
 *   the run waits for repair                               paused until it is repaired
 *   its lanes wait for something                           waiting until the earliest of their wake times
 *   otherwise (trouble, or a binding gave up)              due in a second, to avoid a hot loop
 *
 * In trouble (memory ran out, or a read failed) only the first four lines and the last one apply, because the pass
 * proves nothing. */
static struct pw_op closing_of(const pawl_turn *turn)
{
    int64_t wake_at_ms = turn->main.wake_at_ms;
    bool has_wake = wake_at_ms < INT64_MAX;
    bool ends = turn->outcome == PW_OUTCOME_FINISH || turn->outcome == PW_OUTCOME_FAIL;
    if (turn->demand == PW_DEMAND_TERMINATE)
        return closing_of_demand(turn);
    if (turn->pause_wanted)
        return park_as(PW_TASK_PAUSED, PW_TASK_RESUME, has_wake ? wake_at_ms : PW_NOW);
    if (ends)
        return turn->main.told_interruption ? closing_of_demand(turn) : closing_of_end(turn);
    if (turn->trouble == PAWL_OK && is_cut_short(turn))
        return park_as(PW_TASK_ACTIVE, PW_TASK_RESUME, PW_NOW);
    if (turn->trouble == PAWL_OK && turn->outcome == PW_OUTCOME_REPAIR)
        return park_as(PW_TASK_PAUSED, PW_TASK_REPAIR, PW_NOW);
    if (turn->trouble == PAWL_OK && has_wake)
        return park_as(PW_TASK_WAITING, turn->main.wake_kind, wake_at_ms);
    return park_as(PW_TASK_ACTIVE, PW_TASK_RESUME, pawl_now_ms(turn->engine) + TROUBLE_DELAY_MS);
}

/* True if another pass is needed.  goes_on: there is more to do at once. */
static bool wants_pass(const pawl_turn *turn, bool goes_on)
{
    switch (turn->outcome) {
    case PW_OUTCOME_NONE: /* the first pass, or one that must hear of a demand */
        return true;
    case PW_OUTCOME_SUSPEND:
    case PW_OUTCOME_REPAIR:
        return goes_on && turn->stop == PW_STOP_NOT;
    case PW_OUTCOME_FINISH:
    case PW_OUTCOME_FAIL:
        break;
    }
    return false;
}

/* True if the turn must close even if another pass is needed. */
static bool must_close(const pawl_turn *turn)
{
    return turn->pause_wanted || turn->demand == PW_DEMAND_TERMINATE || turn->stop == PW_STOP_GIVEN_UP ||
           turn->host->stopping(turn->host->runner);
}

/* With the lock held: decides what happens to a turn outside a pass.  The first line that applies:
 *
 *   units are out whose answers the decision depends on    wait
 *   it is closed, or can record nothing more               end
 *   a pass is needed and allowed                           pass
 *   refused boundaries are not recorded yet                record them, for the next owner of the run; wait
 *   otherwise                                              close; wait */
static enum pw_next next(pawl_turn *turn)
{
    /* Lanes that suspended before a demand came hear of it in another pass, which begins once everything is durable. */
    bool goes_on = turn->main.commit_wanted != 0 || turn->demand > turn->demand_passed;
    bool depends = goes_on || turn->unsettled > 0 || turn->phase == PW_TURN_CLOSING || pw_turn_is_over(turn);
    assert(turn->phase != PW_TURN_PASSING);
    pw_turn_check_steps(turn);
    if (depends && turn->answered < turn->submitted)
        return PW_NEXT_WAIT;
    if (pw_turn_is_over(turn))
        return PW_NEXT_END;
    if (wants_pass(turn, goes_on) && !must_close(turn))
        return PW_NEXT_PASS;
    if (turn->rejections > 0) {
        if (pw_recall_record_rejections(turn) != PAWL_OK)
            return PW_NEXT_END;
        if (turn->answered < turn->submitted)
            return PW_NEXT_WAIT;
    }
    struct pw_op closing = closing_of(turn);
    return pw_boundary_close(turn, &closing) == PAWL_OK ? PW_NEXT_WAIT : PW_NEXT_END;
}

enum pw_next pw_turn_next(pawl_turn *turn)
{
    pw_turn_lock(turn);
    enum pw_next what = next(turn);
    turn->owes_ready = what == PW_NEXT_WAIT;
    pw_turn_unlock(turn);
    return what;
}

/* Waits until the unit is answered.  Leads commits meanwhile if no other thread does.  Called without the lock. */
static void wait_for_unit(pawl_turn *turn, int64_t unit)
{
    pw_turn_lock(turn);
    while (turn->answered < unit) {
        pw_turn_unlock(turn);
        bool led = pw_commit_lead(turn->engine->commit);
        pw_turn_lock(turn);
        if (!led && turn->answered < unit)
            pthread_cond_wait(&turn->changed, &turn->lock);
    }
    pw_turn_unlock(turn);
}

enum pw_next pw_turn_next_blocking(pawl_turn *turn)
{
    for (;;) {
        pw_turn_lock(turn);
        enum pw_next what = next(turn);
        turn->owes_ready = false; /* this thread waits itself, so host->ready() need not be called */
        int64_t unit = turn->submitted;
        pw_turn_unlock(turn);
        if (what != PW_NEXT_WAIT)
            return what;
        wait_for_unit(turn, unit);
    }
}

/* ---- From outside ------------------------------------------------------------------------------------------------ */

/* These only leave a mark.  next() and the durable calls act on it. */
void pw_turn_ask_to_pause(pawl_turn *turn)
{
    pw_turn_lock(turn);
    turn->pause_wanted = true;
    pw_turn_unlock(turn);
}

/* With the lock held. */
void pw_turn_note_demand(pawl_turn *turn, enum pw_demand demand)
{
    if (demand <= turn->demand)
        return;
    turn->demand = demand;
    if (demand == PW_DEMAND_TERMINATE)
        atomic_store(&turn->cancelled, true);
}

void pw_turn_demand(pawl_turn *turn, enum pw_demand demand)
{
    pw_turn_lock(turn);
    pw_turn_note_demand(turn, demand);
    pthread_cond_broadcast(&turn->changed);
    pw_turn_unlock(turn);
}

void pw_turn_hear_of_event(pawl_turn *turn, int64_t seq)
{
    pw_turn_lock(turn);
    if (seq > turn->event_hint)
        turn->event_hint = seq;
    pthread_cond_broadcast(&turn->changed);
    pw_turn_unlock(turn);
}

void pw_turn_revoke(pawl_turn *turn)
{
    atomic_store(&turn->cancelled, true);
}

pawl_status pw_turn_release(pawl_engine *engine, const struct pw_fence *at, bool is_job, int64_t delay_ms)
{
    struct pw_unit unit;
    pawl_status status = PAWL_NOMEM;
    pw_unit_init(&unit);
    unit.about = (uint64_t)at->instance; /* any queue will do: no other unit about this instance is out */
    struct pw_op *fence = pw_unit_add(&unit, PW_OP_FENCE);
    struct pw_op *park = fence != NULL ? pw_unit_add(&unit, PW_OP_PARK) : NULL;
    if (park != NULL) {
        fence->as.fence.at = *at;
        park->as.park = (struct pw_op_park){ .instance = at->instance,
                                             .status = PW_TASK_ACTIVE,
                                             .kind = PW_TASK_RESUME,
                                             .is_job = is_job,
                                             .due_at_ms = delay_ms > 0 ? pawl_now_ms(engine) + delay_ms : PW_NOW,
                                             .event_seq_seen = -1 };
        status = pw_engine_run(engine, &unit);
    }
    pw_unit_clear(&unit);
    return status == PAWL_CONFLICT ? PAWL_OK : status; /* another owner has it already */
}

/* With the lock held: closes a turn whose only running bodies have outlived their timeouts.  Records the races that
 * only these bodies held up.  The run waits for the retry only if one attempt on the main lane is all that was
 * running.  Otherwise other lanes may have been cut off in the middle, so the run is due at once and a new turn
 * finds out. */
static bool close_expired(pawl_turn *turn, const pawl_attempt *last, int32_t count)
{
    const struct pw_step_row *row = &last->step->row;
    bool alone = count == 1 && last->lane == &turn->main && row->status == PAWL_STEP_WAITING && row->seq != 0;
    struct pw_op closing =
        park_as(alone ? PW_TASK_WAITING : PW_TASK_ACTIVE, PW_TASK_RETRY, alone ? row->next_retry_at_ms : PW_NOW);
    return pw_lanes_record_winners(turn) == PAWL_OK && pw_boundary_close(turn, &closing) == PAWL_OK;
}

/* With the lock held.  Refused boundaries, and those that may still be refused, must be recorded before another turn
 * carries the run.  Then next() does that once everything is answered, and an empty unit makes sure that an answer
 * comes. */
static bool close_or_wait(pawl_turn *turn, const pawl_attempt *last, int32_t count)
{
    if (turn->unsettled == 0 && turn->rejections == 0)
        return close_expired(turn, last, count);
    return turn->answered < turn->submitted || pw_boundary_submit_empty(turn, 0) == PAWL_OK;
}

/* With the lock held: records a timeout for every body that has outlived it. */
static void fail_late(pawl_turn *turn, int64_t now_ms, struct pw_watch *watch)
{
    for (pawl_attempt *attempt = turn->attempts; attempt != NULL; attempt = attempt->next) {
        if (attempt->expired)
            continue;
        if (attempt->deadline_ms >= now_ms) {
            if (attempt->deadline_ms < watch->deadline_ms)
                watch->deadline_ms = attempt->deadline_ms;
            continue;
        }
        attempt->expired = true;
        if (pw_turn_is_open(turn))
            (void)pw_attempt_time_out(attempt); /* out of memory: the turn is over anyway */
        if (turn->definition->advance == NULL)  /* driven by hand: it blocks no thread of a runner */
            continue;
        int64_t begun_ms = attempt->deadline_ms - attempt->policy.timeout_ms;
        pw_turn_list_late(turn, &attempt->blocked, attempt->step, now_ms - begun_ms, true);
        watch->found++;
    }
}

struct pw_watch pw_turn_watch_bodies(pawl_turn *turn, int64_t now_ms)
{
    struct pw_watch watch = { .deadline_ms = INT64_MAX };
    const pawl_attempt *last = NULL;
    int32_t count = 0;
    pw_turn_lock(turn);
    fail_late(turn, now_ms, &watch);
    for (const pawl_attempt *attempt = turn->attempts; attempt != NULL; attempt = attempt->next) {
        last = attempt;
        count++;
    }
    bool has_live = watch.deadline_ms < INT64_MAX || pw_lane_any_live_code(turn);
    if (last != NULL && !has_live && turn->phase == PW_TURN_PASSING) {
        /* If the turn can record nothing more, no answer will come that would call host->ready. */
        bool closes = pw_turn_is_open(turn) && close_or_wait(turn, last, count);
        pw_turn_give_up(turn);
        turn->owes_ready = closes;
        watch.given_up = closes ? PW_GIVEN_UP_CLOSED : PW_GIVEN_UP_OPEN;
    }
    pw_turn_unlock(turn);
    return watch;
}

bool pw_turn_has_late_body(pawl_turn *turn)
{
    pw_turn_lock(turn);
    const pawl_attempt *attempt = turn->attempts;
    while (attempt != NULL && !pw_attempt_is_late(attempt))
        attempt = attempt->next;
    pw_turn_unlock(turn);
    return attempt != NULL;
}

/* ---- Inside ------------------------------------------------------------------------------------------------------ */

bool pw_turn_is_over(const pawl_turn *turn)
{
    return turn->phase == PW_TURN_OVER || atomic_load(&turn->chain.broken) != PAWL_OK;
}

bool pw_turn_is_open(const pawl_turn *turn)
{
    return turn->phase == PW_TURN_PASSING && !pw_turn_is_over(turn);
}

void pw_turn_give_up(pawl_turn *turn)
{
    if (turn->phase == PW_TURN_PASSING)
        turn->phase = PW_TURN_WAITING;
    turn->stop = PW_STOP_GIVEN_UP;
    atomic_store(&turn->cancelled, true);
    pthread_cond_broadcast(&turn->changed); /* wakes threads that wait for sleeping branches */
}

bool pw_turn_is_stopped(const pawl_turn *turn)
{
    return turn->pause_wanted || atomic_load(&turn->cancelled) || pw_turn_is_over(turn);
}

/* The first reason stays, because later units are answered with what broke the chain. */
pawl_status pw_turn_break(pawl_turn *turn, pawl_status why)
{
    int whole = PAWL_OK;
    atomic_compare_exchange_strong(&turn->chain.broken, &whole, (int)why);
    atomic_store(&turn->cancelled, true);
    turn->trouble = why;
    return why;
}

pawl_status pw_turn_out_of_memory(pawl_turn *turn)
{
    return pw_turn_break(turn, PAWL_NOMEM);
}

pawl_status pw_lane_suspend(pawl_lane *lane)
{
    lane->suspended = true;
    return PAWL_SUSPENDED;
}

void pw_lane_wait_until(pawl_lane *lane, int64_t at_ms, enum pw_task_kind kind)
{
    if (at_ms < lane->wake_at_ms) {
        lane->wake_at_ms = at_ms;
        lane->wake_kind = kind;
    }
}

bool pw_lane_is_abandoned(const pawl_lane *lane)
{
    for (; lane != NULL; lane = lane->parent) {
        if (atomic_load(&lane->abandoned))
            return true;
    }
    return false;
}

bool pw_lane_is_within(const pawl_lane *lane, const pawl_lane *outer)
{
    while (lane != NULL && lane != outer)
        lane = lane->parent;
    return lane == outer;
}

pawl_status pw_lane_error(pawl_lane *lane, pawl_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)pw_text_format(lane->error, sizeof lane->error, format, arguments);
    va_end(arguments);
    return status;
}

bool pawl_lane_suspended(const pawl_lane *lane)
{
    const struct pw_mocks *mocks = lane->suspended ? lane->turn->engine->mocks : NULL;
    if (mocks != NULL && mocks->unheeded != NULL)
        mocks->unheeded(mocks->user, lane);
    return lane->suspended;
}

const char *pawl_lane_error(const pawl_lane *lane)
{
    return lane->error;
}

/* The choice that lets few threads carry many runs: unwind if there is other work, and wait otherwise. */
pawl_status pw_lane_await(pawl_lane *lane, int64_t unit)
{
    pawl_turn *turn = lane->turn;
    if (turn->answered >= unit)
        return PAWL_OK;
    if (turn->host->should_yield(turn->host->runner)) {
        lane->commit_wanted = unit;
        return pw_lane_suspend(lane);
    }
    pw_turn_unlock(turn);
    wait_for_unit(turn, unit);
    pw_turn_lock(turn);
    return PAWL_OK;
}
