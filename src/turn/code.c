/* code.c - measures how long user code runs between two durable calls.
 *
 * The function of a lane enters user code when it is called and after each durable call, and leaves it at the next
 * durable call or when it returns.  Only the time in between counts.  The time inside a durable call, or inside a
 * step's body with its wrappers, does not.  Code that blocks holds a thread and its run, and only the watchdog can
 * notice.
 *
 * The watchdog also notes when code began: at the moment when it first finds it running.  Code is entered at every
 * durable call, also at those answered from history, so reading the clock there would be a large part of the cost of
 * a replay. */
#include "turn/attempt.h"

void pw_lane_enter_code(pawl_lane *lane)
{
    pawl_turn *turn = lane->turn;
    /* Driven by hand: on a thread that the engine does not know. */
    if (lane->in_code || turn->definition->advance == NULL)
        return;
    lane->in_code = true;
    lane->code_since_ms = PW_CODE_NOT_SEEN;
    lane->code_previous = NULL;
    lane->code_next = turn->in_code;
    if (turn->in_code != NULL)
        turn->in_code->code_previous = lane;
    turn->in_code = lane;
}

/* In a turn that was given up, a late call is over only when its function has returned: code that ignores
 * PAWL_SUSPENDED may block again, and nobody would notice. */
void pw_lane_leave_code(pawl_lane *lane, bool ended)
{
    pawl_turn *turn = lane->turn;
    if (lane->in_code) {
        lane->in_code = false;
        *(lane->code_previous != NULL ? &lane->code_previous->code_next : &turn->in_code) = lane->code_next;
        if (lane->code_next != NULL)
            lane->code_next->code_previous = lane->code_previous;
    }
    if (lane->blocked.number == 0 || (turn->stop == PW_STOP_GIVEN_UP && !ended))
        return;
    pw_turn_unlock(turn);
    turn->host->call_returns(turn->host->runner, turn, &lane->blocked);
    pw_turn_lock(turn);
}

bool pw_lane_any_live_code(const pawl_turn *turn)
{
    for (const pawl_lane *lane = turn->in_code; lane != NULL; lane = lane->code_next) {
        if (lane->blocked.number == 0)
            return true;
    }
    return false;
}

/* ---- The watchdog ---------------------------------------------------------------------------------------------- */

void pw_turn_list_late(pawl_turn *turn, struct pw_blocked_call *call, const struct pw_step *step, int64_t passed_ms,
                       bool in_body)
{
    *call = (struct pw_blocked_call){ .instance = turn->claim.fence.instance,
                                      .run = turn->claim.fence.run,
                                      .workflow = turn->claim.workflow,
                                      .id = turn->claim.id,
                                      .step = step != NULL ? step->row.name : (struct pw_text){ NULL, 0 },
                                      .in_body = in_body,
                                      .keeps_out = !in_body,
                                      .began_at_ms = pawl_now_ms(turn->engine) - passed_ms };
    pw_blocked_add(&turn->engine->blocked, call);
}

/* With the lock held: lists and logs late code. */
static void tell(pawl_lane *lane, int64_t passed_ms)
{
    pawl_turn *turn = lane->turn;
    pw_turn_list_late(turn, &lane->blocked, lane->reached, passed_ms, false);
    /* If there is no memory for the line, the run goes on without it. */
    (void)pw_log_system(turn, &turn->logs, PAWL_LOG_WARN, lane->blocked.step, 0,
                        "workflow code outside a step has blocked its thread for %lld ms: the run is given to another "
                        "process, or goes on here when the code returns",
                        (long long)passed_ms);
}

/* With the lock held: true if a body is running that has not expired.  Its outcome can still be recorded. */
static bool has_live_body(const pawl_turn *turn)
{
    const pawl_attempt *attempt = turn->attempts;
    while (attempt != NULL && attempt->expired)
        attempt = attempt->next;
    return attempt != NULL;
}

struct pw_watch pw_turn_watch_code(pawl_turn *turn, int64_t now_ms, int64_t ms_max)
{
    struct pw_watch watch = { .deadline_ms = INT64_MAX };
    pw_turn_lock(turn);
    for (pawl_lane *lane = turn->in_code; lane != NULL; lane = lane->code_next) {
        if (lane->code_since_ms == PW_CODE_NOT_SEEN)
            lane->code_since_ms = now_ms;
        int64_t passed_ms = now_ms - lane->code_since_ms;
        if (passed_ms < ms_max || lane->blocked.number != 0)
            continue;
        tell(lane, passed_ms);
        watch.found++;
    }
    if (turn->phase == PW_TURN_PASSING && turn->in_code != NULL && !pw_lane_any_live_code(turn) &&
        !has_live_body(turn)) {
        pw_turn_give_up(turn);
        watch.given_up = PW_GIVEN_UP_OPEN;
    }
    pw_turn_unlock(turn);
    return watch;
}
