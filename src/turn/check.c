/* check.c - asserts what is true of a turn whenever its lock changes hands.
 *
 * pw_turn_lock() checks after it takes the lock, and pw_turn_unlock() before it releases it.  Each check costs a few
 * comparisons.  What needs a walk over the steps is checked once between two passes. */
#include <assert.h>

#include "turn/inside.h"

void pw_turn_check(const pawl_turn *turn)
{
    bool is_pending = turn->answered < turn->submitted;
    bool is_broken = atomic_load(&turn->chain.broken) != PAWL_OK;
    bool is_cancelled = atomic_load(&turn->cancelled);
    assert(atomic_load(&turn->references) > 0);

    /* Units are answered in the order of their numbers. */
    assert(turn->answered >= 0 && turn->answered <= turn->submitted);
    /* host->ready is owed only while a unit is out whose answer brings it. */
    assert(!turn->owes_ready || is_pending);
    /* A step is unsettled only while its unit is out (T3). */
    assert(turn->unsettled >= 0 && (turn->unsettled == 0 || is_pending));
    assert(turn->rejections >= 0 && turn->open_forks >= 0);

    switch (turn->phase) {
    case PW_TURN_LOADING: /* nothing has happened yet */
        assert(turn->submitted == 0 && turn->in_code == NULL && turn->outcome == PW_OUTCOME_NONE);
        break;
    case PW_TURN_PASSING:
        assert(turn->history != NULL && turn->stop != PW_STOP_GIVEN_UP);
        break;
    case PW_TURN_WAITING: /* user code is inside only if it blocks and the turn was given up */
        assert(turn->in_code == NULL || turn->stop == PW_STOP_GIVEN_UP);
        break;
    case PW_TURN_CLOSING: /* the closing unit is the last one; it is out, or was refused with the chain (T4) */
        assert(is_pending || is_broken);
        break;
    case PW_TURN_OVER:
        assert(!is_pending);
        break;
    }
    assert(!turn->finished || turn->phase == PW_TURN_OVER);

    /* A demand only grows.  Bodies see only `cancelled`, so it must be set whenever their work is in vain. */
    assert(turn->demand_passed <= turn->demand);
    assert(is_cancelled || (turn->stop != PW_STOP_GIVEN_UP && turn->demand != PW_DEMAND_TERMINATE));

    assert(turn->main.parent == NULL && turn->main.branching == NULL);
    assert(turn->in_code == NULL || (turn->in_code->in_code && turn->in_code->code_previous == NULL));
}

void pw_turn_check_steps(const pawl_turn *turn)
{
    int32_t unsettled = 0, rejections = 0;
    for (const struct pw_step *step = turn->history != NULL ? turn->history->first : NULL; step != NULL;
         step = step->next) {
        unsettled += step->unsettled != 0;
        rejections += step->rejected != PW_REFUSED_NOT;
        assert(step->unsettled == 0 || (step->unsettled > turn->answered && step->unsettled <= turn->submitted));
    }
    assert(unsettled == turn->unsettled && rejections == turn->rejections);
}
