/* boundary.c - see boundary.h.
 *
 * A unit of a turn begins with the fence.  Then come the changes that the step registered, the step's row, its
 * consequences (a consumed event, a new job, an ended job) and log lines.  unit_submit() numbers the unit and queues
 * it.  note_answer() receives the result on the thread that leads the commit, in the order of the numbers:
 *
 *   applied                     may renew the lease and reveal a pause request; a closing unit ends the turn
 *   refused, chain broken       the turn is lost; whatever it still does is dropped
 *   refused, chain whole        the step's next recall handles the refusal (T3); a refused closing unit leads to another pass,
 *                               or to a closing unit that pauses
 *
 * A unit borrows the rows' texts from the history and the log lines from the turn's arena.  Both outlive the unit,
 * because each unit holds a reference to its turn until it is answered. */
#include "turn/boundary.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "history/retry.h"
#include "turn/lease.h"
#include "turn/lines.h"

/* One unit of a turn, from its making to its answer. */
struct turn_unit {
    struct pw_unit unit;
    pawl_turn *turn; /* referenced */
    int64_t number;
    struct pw_op *fence;
    struct pw_op *closing; /* PARK or FINISH; NULL: not a closing unit */
    struct pw_step *step;  /* or NULL */
    bool inserts_step;
    bool creates;            /* it makes an instance due, which the local runner may carry */
    struct pw_log_list logs; /* handed back if the unit is refused, so that the next unit records them */
};

static void unit_drop(struct turn_unit *own) /* NULL is fine */
{
    if (own != NULL)
        pw_unit_clear(&own->unit);
    free(own);
}

/* ---- Answers -------------------------------------------------------------------------------------------------- */

/* The store refused the step's boundary.  The next recall of the step handles it. */
static void reject_step(pawl_turn *turn, struct turn_unit *own)
{
    struct pw_step *step = own->step;
    step->rejected = own->unit.refusal;
    turn->rejections++;
    step->rejected_text = (struct pw_text){ NULL, 0 };
    (void)pw_arena_text(&turn->arena, pw_text_of(own->unit.error.text), &step->rejected_text);
    if (own->inserts_step)
        step->in_store = false;
}

/* A closing unit was refused because a pause was requested, or because more is demanded than the pass knew.  The
 * fence has reported the demand by now, and another pass hears of it. */
static void reopen(pawl_turn *turn, enum pw_refusal refusal)
{
    if (refusal == PW_REFUSED_DEMANDED)
        turn->outcome = PW_OUTCOME_NONE;
    else
        turn->pause_wanted = true;
}

/* With the lock held.  The table at the top of this file lists the cases.  The fence also reports what others did to
 * the run: new events, demands and pause requests. */
static void note_answer(pawl_turn *turn, struct turn_unit *own)
{
    const struct pw_op_fence *fence = &own->fence->as.fence;
    const struct pw_op *closing = own->closing;
    assert(own->number == turn->answered + 1);
    turn->answered = own->number;
    if (own->step != NULL && own->step->unsettled == own->number) {
        own->step->unsettled = 0;
        turn->unsettled--;
    }
    if (fence->event_seq > turn->event_hint)
        turn->event_hint = fence->event_seq;
    if (fence->event_seq > turn->fenced)
        turn->fenced = fence->event_seq;
    pw_turn_note_demand(turn, fence->demand);
    if (own->unit.status == PAWL_OK) {
        if (fence->lease_ms != 0)
            pw_turn_note_lease(turn, own->unit.begun_ms, fence->lease_ms);
        if (fence->pause_requested)
            turn->pause_wanted = true;
        if (closing != NULL) {
            turn->phase = PW_TURN_OVER;
            turn->finished = closing->kind == PW_OP_FINISH;
            turn->due_at_ms = turn->finished ? 0 : closing->as.park.due_at_ms_set;
        }
    } else if (atomic_load(&turn->chain.broken) != PAWL_OK) {
        atomic_store(&turn->cancelled, true);
    } else {
        pw_lines_hand_back(turn, &own->logs);
        if (closing != NULL) {
            turn->phase = PW_TURN_WAITING;
            reopen(turn, own->unit.refusal);
        } else if (own->step != NULL) {
            reject_step(turn, own);
        }
    }
}

/* The committer's callback.  Runs on the thread that leads the commit, so it calls no store. */
static void unit_done(struct pw_unit *unit, void *user)
{
    struct turn_unit *own = user;
    pawl_turn *turn = own->turn;
    pw_turn_lock(turn);
    note_answer(turn, own);
    bool wake_others = own->creates && unit->status == PAWL_OK;
    bool stirs = turn->open_forks > 0;
    bool ready = turn->owes_ready && turn->answered == turn->submitted;
    if (ready)
        turn->owes_ready = false;
    pthread_cond_broadcast(&turn->changed);
    pw_turn_unlock(turn);
    if (wake_others)
        pw_local_wake(turn->engine, PW_NOW);
    bool finishes = own->closing != NULL && own->closing->kind == PW_OP_FINISH;
    pw_local_settle_event(turn->engine, unit, finishes ? own->closing->as.finish.answer : NULL);
    unit_drop(own);
    if (stirs)
        turn->host->help_wanted(turn->host->runner, turn, PW_NOW);
    if (ready)
        turn->host->ready(turn->host->runner, turn);
    pw_turn_unref(turn);
}

/* ---- Building ------------------------------------------------------------------------------------------------- */

/* Begins a unit with the turn's fence and chain (T2).  NULL when memory runs out. */
static struct turn_unit *unit_new(pawl_turn *turn)
{
    struct turn_unit *own = calloc(1, sizeof *own);
    if (own == NULL)
        return NULL;
    pw_unit_init(&own->unit);
    own->unit.about = turn->about;
    own->fence = pw_unit_add(&own->unit, PW_OP_FENCE);
    if (own->fence == NULL) {
        free(own);
        return NULL;
    }
    own->fence->as.fence.at = turn->claim.fence;
    own->turn = turn;
    own->unit.chain = &turn->chain;
    own->unit.done = unit_done;
    own->unit.user = own;
    return own;
}

static bool add_lines(struct turn_unit *own, const struct pw_log_list *logs)
{
    const struct pw_fence *fence = &own->turn->claim.fence;
    for (const struct pw_log_line *line = logs->first; line != NULL; line = line->next) {
        if (!pw_unit_copy(&own->unit,
                          &(struct pw_op){ .kind = PW_OP_LOG, .as.log = { fence->instance, fence->run, line->row } }))
            return false;
    }
    return true;
}

/* Adds the turn's own lines, then those that workflow code wrote on the lane up to here, then those of the boundary. */
static bool add_logs(struct turn_unit *own, const pawl_lane *lane, const struct pw_log_list *logs)
{
    own->logs = own->turn->logs;
    if (lane != NULL)
        pw_lines_take(lane, &own->logs);
    if (logs != NULL)
        pw_log_join(&own->logs, logs);
    return add_lines(own, &own->logs);
}

/* Adds the step's row as it is now.  The row counts as stored from here on; reject_step() takes that back. */
static bool add_step(struct turn_unit *own, struct pw_step *step)
{
    const struct pw_fence *fence = &own->turn->claim.fence;
    struct pw_history *history = own->turn->history;
    own->inserts_step = !step->in_store;
    if (own->inserts_step) /* a refused row is numbered anew, because followers rely on rows appearing in order */
        pw_step_number(history, step);
    history->newest_ms = pw_not_before(step->row.updated_at_ms, history->newest_ms);
    step->in_store = true;
    step->recorded_pass = history->pass;
    return pw_unit_copy(&own->unit, &(struct pw_op){ .kind = PW_OP_STEP,
                                                     .as.step = { fence->instance, fence->run,
                                                                  .is_new = own->inserts_step, .row = step->row } });
}

static pawl_status add_mutation(struct turn_unit *own, const struct pw_mutation *mutation, struct pawl_error *error)
{
    pawl_turn *turn = own->turn;
    struct pw_op op;
    switch (mutation->kind) {
    case PW_MUTATION_SQL:
        op = (struct pw_op){ .kind = PW_OP_SQL, .as.sql = { mutation->sql, mutation->parameters } };
        return pw_unit_copy(&own->unit, &op) ? PAWL_OK : PAWL_NOMEM;
    case PW_MUTATION_CALL:
        op = (struct pw_op){ .kind = PW_OP_MUTATE,
                             .as.mutate = { mutation->call, mutation->data.data, mutation->data.size } };
        return pw_unit_copy(&own->unit, &op) ? PAWL_OK : PAWL_NOMEM;
    case PW_MUTATION_CREATE:
        own->creates = true;
        return pw_service_add_create(
            turn->engine, &own->unit,
            &(struct pw_link){ turn->claim.fence.instance, turn->claim.fence.run, mutation->relation },
            mutation->workflow, mutation->id, mutation->payload, error);
    case PW_MUTATION_EVENT:
        return pw_service_add_event(turn->engine, &own->unit, mutation->workflow, mutation->id, mutation->type,
                                    mutation->payload, error);
    }
    return PAWL_INVALID;
}

/* Sets *out_any if a mutation was added: the step is then unsettled. */
static pawl_status add_mutations(struct turn_unit *own, const struct pw_mutation *mutations,
                                 enum pawl_mutation_when when, bool *out_any, struct pawl_error *error)
{
    for (const struct pw_mutation *mutation = mutations; mutation != NULL; mutation = mutation->next) {
        if (mutation->when != when)
            continue;
        PAWL_TRY(add_mutation(own, mutation, error));
        *out_any = true;
    }
    return PAWL_OK;
}

/* Ends a job that the run no longer waits for. */
static bool add_end(struct turn_unit *own, const struct pw_job *job)
{
    return pw_unit_copy(&own->unit,
                        &(struct pw_op){ .kind = PW_OP_END, .as.end = { .workflow = job->workflow, .id = job->id } });
}

/* Adds what the step's row entails: a consumed event, a new job, an ended job, an announcement. */
static bool add_consequences(struct turn_unit *own, const struct pw_boundary *boundary)
{
    const struct pw_fence *fence = &own->turn->claim.fence;
    const struct pw_step_row *row = &boundary->step->row;
    const struct pw_job *made = boundary->makes;
    if (boundary->event != NULL) {
        struct pw_op consume = { .kind = PW_OP_CONSUME,
                                 .as.consume = { fence->instance, fence->run, boundary->event->row.seq, row->name,
                                                 row->updated_at_ms } };
        boundary->event->taken = true;
        if (!pw_unit_copy(&own->unit, &consume))
            return false;
    }
    if (made != NULL) {
        /* The id is random, so no other job should have it.  If one does, the run waits for that one. */
        struct pw_op create = { .kind = PW_OP_CREATE,
                                .as.create = { made->workflow, made->id, made->params,
                                               .link = { fence->instance, fence->run, PW_RELATION_JOB },
                                               .skip_existing = true } };
        own->creates = true;
        if (!pw_unit_copy(&own->unit, &create))
            return false;
    }
    if (boundary->ends != NULL && !add_end(own, boundary->ends))
        return false;
    /* Demanding nothing raises the run's event number, which a restart from a step checks (refuse_if_demanded() in
     * service/repair.c). */
    struct pw_op demand = { .kind = PW_OP_DEMAND, .as.demand = { fence->instance, PW_DEMAND_NONE } };
    return !boundary->announces || pw_unit_copy(&own->unit, &demand);
}

/* Consumes the unit.  is_complete false: memory ran out while it was built. */
static pawl_status unit_submit(pawl_turn *turn, struct turn_unit *own, bool is_complete)
{
    if (!is_complete) {
        unit_drop(own);
        return pw_turn_out_of_memory(turn);
    }
    assert((turn->phase == PW_TURN_CLOSING) == (own->closing != NULL) && turn->phase != PW_TURN_OVER);
    turn->logs = (struct pw_log_list){ NULL, NULL };
    own->number = ++turn->submitted;
    pw_turn_ref(turn);
    pw_engine_submit(turn->engine, &own->unit);
    return PAWL_OK;
}

/* The number up to which the turn knows everything: a number without an event belongs to a demand that the turn may
 * not have heard of. */
static int64_t events_known(const pawl_turn *turn)
{
    int64_t known = turn->history->event_seq;
    return turn->fenced < known && turn->gap < known ? turn->gap : known;
}

pawl_status pw_boundary_record(const struct pw_boundary *boundary)
{
    pawl_lane *lane = boundary->lane;
    pawl_turn *turn = lane->turn;
    struct pw_step *step = boundary->step;
    struct pawl_error error = { PAWL_OK, "" };
    bool unsettled = boundary->unless_new_events;
    struct turn_unit *own = unit_new(turn);
    if (own == NULL)
        return pw_turn_out_of_memory(turn);
    own->step = step;
    struct pw_op_fence *fence = &own->fence->as.fence;
    fence->unless_new_events = boundary->unless_new_events;
    fence->event_seq_seen = events_known(turn);
    fence->lease_ms = pw_turn_lease_due(turn);
    pawl_status status = add_mutations(own, boundary->mutations, boundary->when, &unsettled, &error);
    if (status != PAWL_OK && status != PAWL_NOMEM) {
        unit_drop(own);
        return pw_lane_error(lane, status, "%s", error.text);
    }
    /* If the lane is not at this step in the present pass, none of its lines are recorded with the step. */
    const pawl_lane *speaker = step->lane == lane && step->reached_pass == turn->history->pass ? lane : NULL;
    bool is_complete = status == PAWL_OK && add_step(own, step) && add_consequences(own, boundary) &&
                       add_logs(own, speaker, &boundary->logs) && add_lines(own, &boundary->verdict);
    PAWL_TRY(unit_submit(turn, own, is_complete));
    if (step->rejected != PW_REFUSED_NOT)
        turn->rejections--;
    step->rejected = PW_REFUSED_NOT;
    step->mutations = boundary->mutations;
    lane->after = turn->submitted;
    pw_budget_owe(&turn->engine->memory, &turn->memory_held, (int64_t)pw_history_bytes(turn->history));
    step->unsettled = unsettled ? lane->after : 0;
    turn->unsettled += unsettled;
    return PAWL_OK;
}

/* ---- Failures ------------------------------------------------------------------------------------------------- */

/* Stamps the step; not before the event that ends its wait, if there is one. */
static void stamp(pawl_turn *turn, struct pw_step *step, const struct pw_event *event, int64_t now_ms)
{
    pw_step_stamp(turn->history, step, event != NULL ? pw_not_before(now_ms, event->row.created_at_ms) : now_ms);
}

/* Fills the step's row for a failed attempt: waiting for its retry, or failed for good. */
static pawl_status fill_failure(pawl_turn *turn, struct pw_step *step, const struct pw_attempt_outcome *failure,
                                struct pw_log_list *logs)
{
    struct pw_step_row *row = &step->row;
    struct pw_arena *arena = &turn->history->arena;
    int64_t now_ms = pawl_now_ms(turn->engine);
    struct pw_text name = pw_text_cut(pw_text_of(failure->name), PW_ERROR_NAME_MAX);
    struct pw_text message = pw_text_cut(pw_text_of(failure->message), PW_ERROR_MESSAGE_MAX);
    if (!pw_arena_text(arena, name, &row->error_name) || !pw_arena_text(arena, message, &row->error_message))
        return pw_turn_out_of_memory(turn);
    row->attempts = failure->attempt;
    row->result = (struct pw_text){ NULL, 0 };
    pw_step_row_set(row, PAWL_STATE_WAITING);
    stamp(turn, step, failure->event, now_ms);
    bool again = failure->may_retry && pw_attempts_left(failure->attempt, row->attempts_max);
    if (!again)
        pw_step_finish(turn->history, step, PAWL_STATE_FAILED, now_ms);
    row->next_retry_at_ms = again ? pw_time_after(now_ms, pw_retry_delay_ms(failure->policy, failure->attempt)) : 0;
    bool logged = again ? pw_log_system(turn, logs, PAWL_LOG_WARN, row->name, failure->attempt,
                                        "attempt %lld failed, the next is in %lld ms: %s: %.512s",
                                        (long long)failure->attempt, (long long)(row->next_retry_at_ms - now_ms),
                                        row->error_name.data, row->error_message.data)
                        : pw_log_system(turn, logs, PAWL_LOG_ERROR, row->name, failure->attempt,
                                        "failed for good at attempt %lld: %s: %.512s", (long long)failure->attempt,
                                        row->error_name.data, row->error_message.data);
    return logged ? PAWL_OK : pw_turn_out_of_memory(turn);
}

/* The store was not available: this says nothing about the mutation itself. */
static bool is_trouble(pawl_status status)
{
    return status == PAWL_NOMEM || status == PAWL_BUSY || status == PAWL_STORE_UNAVAILABLE ||
           status == PAWL_STORE_FULL || status == PAWL_STORE_READ_ONLY || status == PAWL_STORE_CORRUPT;
}

static void mark_abandoned(struct pw_history *history, struct pw_step *step, int64_t now_ms)
{
    pw_step_finish(history, step, PAWL_STATE_ABANDONED, now_ms);
    step->row.result = (struct pw_text){ NULL, 0 };
    step->row.error_name = pw_text_of(pawl_status_name(PAWL_STEP_ABANDONED));
    step->row.error_message = pw_text_of(pawl_status_text(PAWL_STEP_ABANDONED));
    step->row.next_retry_at_ms = 0;
}

/* A step that lost a race has not failed, whatever its body returned after the cancellation.  It is recorded as
 * abandoned at once, because the race may be decided only by a later turn: until then its body must not run again,
 * and its failure must not win.  Waits are left as they are, for pw_boundary_choose(). */
static pawl_status fail_abandoned(pawl_lane *lane, struct pw_step *step, const struct pw_attempt_outcome *failure)
{
    pawl_turn *turn = lane->turn;
    struct pw_boundary boundary = { .lane = lane, .step = step, .logs = failure->logs };
    if (step->row.kind != PAWL_STEP_DO)
        return pw_lane_suspend(lane);
    if (!pw_log_system(turn, &boundary.verdict, PAWL_LOG_WARN, step->row.name, failure->attempt,
                       "attempt %lld failed after another branch had come first: %.80s: %.400s",
                       (long long)failure->attempt, failure->name, failure->message))
        return pw_turn_out_of_memory(turn);
    mark_abandoned(turn->history, step, pawl_now_ms(turn->engine));
    step->row.attempts = failure->attempt;
    return pw_boundary_record(&boundary);
}

pawl_status pw_boundary_fail(pawl_lane *lane, struct pw_step *step, const struct pw_attempt_outcome *outcome)
{
    struct pw_attempt_outcome named = *outcome;
    const struct pw_attempt_outcome *failure = &named;
    if (named.name == NULL)
        named.name = pawl_status_name(named.why);
    if (named.message == NULL)
        named.message = pawl_status_text(named.why);
    if (pw_lane_is_abandoned(lane))
        return fail_abandoned(lane, step, failure);
    struct pw_boundary boundary = { .lane = lane,
                                    .step = step,
                                    .when = PAWL_WITH_FAILURE,
                                    .event = failure->event,
                                    .unless_new_events = failure->ends != NULL,
                                    .ends = failure->ends,
                                    .logs = failure->logs };
    PAWL_TRY(fill_failure(lane->turn, step, failure, &boundary.verdict));
    if (step->row.status == PAWL_STEP_ERRORED)
        boundary.mutations = failure->mutations;
    pawl_status status = pw_boundary_record(&boundary);
    if (status == PAWL_OK || status == PAWL_NOMEM)
        return status;
    if (!pw_log_system(lane->turn, &boundary.verdict, PAWL_LOG_ERROR, step->row.name, failure->attempt,
                       "a change registered for this failure was left out: %s", lane->error))
        return pw_turn_out_of_memory(lane->turn);
    boundary.mutations = NULL;
    return pw_boundary_record(&boundary);
}

pawl_status pw_boundary_complete(pawl_lane *lane, struct pw_step *step, const struct pw_attempt_outcome *success)
{
    pawl_turn *turn = lane->turn;
    int64_t now_ms = pawl_now_ms(turn->engine);
    struct pw_step_row *row = &step->row;
    struct pw_boundary boundary = { .lane = lane,
                                    .step = step,
                                    .mutations = success->mutations,
                                    .when = PAWL_WITH_SUCCESS,
                                    .event = success->event,
                                    .logs = success->logs };
    if (!pw_arena_text(&turn->history->arena, success->result, &row->result))
        return pw_turn_out_of_memory(turn);
    stamp(turn, step, success->event, now_ms);
    pw_step_finish(turn->history, step, PAWL_STATE_COMPLETED, now_ms);
    row->attempts = success->attempt;
    row->next_retry_at_ms = 0;
    row->event_at_ms = success->event != NULL ? success->event->row.created_at_ms : 0;
    row->error_name = row->error_message = (struct pw_text){ NULL, 0 };
    pawl_status status = pw_boundary_record(&boundary);
    if (status == PAWL_OK)
        return PAWL_OK;
    if (is_trouble(status))
        return pw_turn_break(turn, status);
    struct pw_attempt_outcome failure = *success;
    failure.name = pawl_status_name(status);
    failure.message = lane->error;
    return pw_boundary_fail(lane, step, &failure);
}

/* ---- Races ---------------------------------------------------------------------------------------------------- */

/* True if the step belongs to a loser of the race on this lane and is unfinished in the store: it waits there, or
 * the store refused the row that would have finished it.  Losers of other races are left alone, because their winner
 * may not be recorded yet, and abandoning them now would decide it. */
static bool is_left_over(const pawl_lane *lane, const struct pw_step *step)
{
    if (step->reached_pass != lane->turn->history->pass || !pw_lane_is_within(step->lane, lane) ||
        !pw_lane_is_abandoned(step->lane))
        return false;
    return step->rejected != PW_REFUSED_NOT || (step->in_store && step->row.status == PAWL_STEP_WAITING);
}

/* Abandons every unfinished step of the losers, and ends their jobs, in the unit that records the winner. */
static bool add_abandoned(struct turn_unit *own, const pawl_lane *lane, int64_t now_ms)
{
    pawl_turn *turn = own->turn;
    for (struct pw_step *step = turn->history->first; step != NULL; step = step->next) {
        if (!is_left_over(lane, step))
            continue;
        turn->rejections -= step->rejected != PW_REFUSED_NOT; /* no recall will ask for the refusal */
        step->rejected = PW_REFUSED_NOT;
        mark_abandoned(turn->history, step, now_ms);
        struct pw_job job;
        if (!add_step(own, step) || (pw_job_of_step(step, &job) && !add_end(own, &job)))
            return false;
    }
    return true;
}

pawl_status pw_boundary_choose(pawl_lane *lane, struct pw_step *step, size_t winner)
{
    pawl_turn *turn = lane->turn;
    int64_t now_ms = pawl_now_ms(turn->engine);
    char text[24];
    snprintf(text, sizeof text, "%zu", winner);
    struct turn_unit *own = unit_new(turn);
    pw_step_row_set(&step->row, PAWL_STATE_COMPLETED);
    pw_step_stamp(turn->history, step, now_ms);
    bool is_complete = own != NULL && pw_arena_text(&turn->history->arena, pw_text_of(text), &step->row.result) &&
                       add_step(own, step) && add_abandoned(own, lane, now_ms) && add_logs(own, lane, NULL);
    PAWL_TRY(unit_submit(turn, own, is_complete));
    lane->after = turn->submitted;
    (void)pw_step_note_answer(turn->history, step, lane->began);
    return PAWL_OK;
}

/* ---- Closing -------------------------------------------------------------------------------------------------- */

/* The event number up to which all waits have looked.  A wait that looked before another branch read more events has
 * not seen those.  No wait has seen a demand that the turn does not know of. */
static int64_t events_seen(const pawl_turn *turn)
{
    const pawl_lane *lane = &turn->main;
    int64_t known = events_known(turn);
    return lane->waits_for_event && lane->events_seen < known ? lane->events_seen : known;
}

static void fill_park(const pawl_turn *turn, struct pw_op_park *park)
{
    bool is_paused = park->status == PW_TASK_PAUSED;
    park->instance = turn->claim.fence.instance;
    park->is_job = turn->definition->is_function;
    park->event_seq_seen = !is_paused && turn->history != NULL ? events_seen(turn) : -1;
    park->if_requested = is_paused && park->kind != PW_TASK_REPAIR;
    park->newest_ms = turn->history != NULL ? turn->history->newest_ms : 0;
}

/* Tells the end to children and jobs, if there can be any, and to the parent (R11). */
static pawl_status fill_finish(struct turn_unit *own, struct pw_op_finish *finish)
{
    const pawl_turn *turn = own->turn;
    const struct pw_history *history = turn->history;
    finish->instance = turn->claim.fence.instance;
    finish->is_job = turn->definition->is_function;
    finish->newest_ms = history != NULL ? history->newest_ms : 0;
    if (finish->reach.demand != PW_DEMAND_NONE || (history != NULL && history->has_calls)) {
        finish->reach.parent = turn->claim.fence.instance;
        finish->reach.run = turn->claim.fence.run;
        own->creates = true; /* its children may be due for the local runner */
    }
    /* A run that ends before it was loaded, because of a demand, has only its claim. */
    const struct pw_link *link = history != NULL ? &history->link : &turn->claim.link;
    struct pw_outcome_told told = { .outcome = finish->outcome,
                                    .output = finish->output,
                                    .error_name = finish->error_name,
                                    .error_message = finish->error_message,
                                    .may_retry = !turn->for_good };
    return pw_service_answer(turn->engine, &own->unit.arena, link, turn->claim.workflow, turn->claim.id, &told,
                             &finish->answer);
}

static pawl_status add_closing(struct turn_unit *own, const struct pw_op *closing)
{
    if (!pw_unit_copy(&own->unit, closing))
        return PAWL_NOMEM;
    own->closing = own->unit.last;
    if (closing->kind == PW_OP_FINISH)
        return fill_finish(own, &own->closing->as.finish);
    fill_park(own->turn, &own->closing->as.park);
    return PAWL_OK;
}

pawl_status pw_boundary_close(pawl_turn *turn, const struct pw_op *closing)
{
    const struct pw_op_finish *finish = closing->kind == PW_OP_FINISH ? &closing->as.finish : NULL;
    struct pw_log_list verdict = { NULL, NULL };
    struct turn_unit *own = unit_new(turn);
    if (own == NULL)
        return pw_turn_out_of_memory(turn);
    own->fence->as.fence.unless_pause =
        finish != NULL ? finish->reach.demand != PW_DEMAND_TERMINATE : closing->as.park.status != PW_TASK_PAUSED;
    bool told = finish == NULL || finish->outcome != PW_OUTCOME_ERRORED ||
                pw_log_system(turn, &verdict, PAWL_LOG_ERROR, (struct pw_text){ NULL, 0 }, 0,
                              "the run failed: %s: %.400s", finish->error_name.data, finish->error_message.data);
    /* Lines that were written on the way to an unfinished step are written again by the turn that finishes it. */
    if (finish != NULL)
        pw_lines_take_all(turn, &turn->logs);
    pawl_status status = told && add_logs(own, NULL, NULL) && add_lines(own, &verdict) ? PAWL_OK : PAWL_NOMEM;
    if (status == PAWL_OK)
        status = add_closing(own, closing);
    if (status != PAWL_OK) {
        unit_drop(own);
        return pw_turn_break(turn, status);
    }
    turn->phase = PW_TURN_CLOSING;
    return unit_submit(turn, own, true);
}

pawl_status pw_boundary_submit_empty(pawl_turn *turn, int64_t lease_ms)
{
    struct turn_unit *own = unit_new(turn);
    if (own != NULL)
        own->fence->as.fence.lease_ms = lease_ms;
    return unit_submit(turn, own, own != NULL && add_logs(own, NULL, NULL));
}

/* ---- The engine's own log lines ------------------------------------------------------------------------------- */

void pw_log_append(struct pw_log_list *logs, struct pw_log_line *line)
{
    line->next = NULL;
    if (logs->last != NULL)
        logs->last->next = line;
    else
        logs->first = line;
    logs->last = line;
}

void pw_log_join(struct pw_log_list *logs, const struct pw_log_list *more)
{
    if (more->first == NULL)
        return;
    *(logs->last != NULL ? &logs->last->next : &logs->first) = more->first;
    logs->last = more->last;
}

struct pw_log_line *pw_log_line_new(pawl_turn *turn, const struct pw_log_row *row)
{
    struct pw_arena *arena = &turn->arena;
    struct pw_log_line *line = pw_arena_zero(arena, sizeof *line);
    if (line == NULL)
        return NULL;
    line->row = *row;
    bool is_complete =
        pw_arena_text(arena, row->step, &line->row.step) && pw_arena_text(arena, row->category, &line->row.category) &&
        pw_arena_text(arena, row->message, &line->row.message) && pw_arena_text(arena, row->data, &line->row.data);
    return is_complete ? line : NULL;
}

bool pw_log_system(pawl_turn *turn, struct pw_log_list *logs, enum pawl_log_level level, struct pw_text step,
                   int64_t attempt, const char *format, ...)
{
    char message[PW_LOG_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    struct pw_log_row row = { .step = step,
                              .attempt = attempt,
                              .level = level,
                              .category = pw_text_of("system"),
                              .created_at_ms = pawl_now_ms(turn->engine) };
    row.message = (struct pw_text){ message, pw_text_format(message, sizeof message, format, arguments) };
    va_end(arguments);
    struct pw_log_line *line = pw_log_line_new(turn, &row);
    if (line != NULL)
        pw_log_append(logs, line);
    return line != NULL;
}
