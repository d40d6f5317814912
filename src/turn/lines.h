/* lines.h - what workflow code has said between its durable calls, until it is recorded.  All with the turn's lock held.
 *
 * A line is a replay when the run has passed its place before and recorded it.  Nothing in the store says so of a line,
 * but rows of steps do, because of how lines are recorded:
 *
 *  L1. A line is recorded with the next step of its own lane, or of a branch that this lane opens next, or with the end
 *      of the run; never with anything else.  Where a turn ends before that it is forgotten, and said again.
 *  L2. So when the lane comes to a step that was recorded by an earlier turn of the run, what it has said before was
 *      recorded as well: those lines are replays.  When it comes to one that was not, they are new.
 *
 * L2 leaves open what the main lane has said before it forked, when a branch records a step that is new before another one
 * comes to a step that is not: those lines are replays if there are recorded steps ahead, younger than all that the lane has
 * behind it.  Inside a branch such steps may be of another branch, and there the lines are taken as new.  And a line that
 * was in a unit which the store refused may be marked as a replay when the process dies before it is recorded again.
 *
 * A *place* is how a lane came to where it is: a number made of the answers it was given and the forks it went through,
 * the same in every pass of a turn.  A pass that is unwound leaves its lines here, and the next one does not say them
 * again. */
#ifndef PW_TURN_LINES_H
#define PW_TURN_LINES_H

#include "turn/inside.h"

enum { PW_PLACE_FIRST = 1 };

/* Where the lane is behind this: an answer, a fork, a branch of it. */
uint64_t pw_place_behind(uint64_t place, uint64_t what);

/* One more line at this place.  *out_is_new: no earlier pass of this turn has said it.  False: memory is out. */
bool pw_lines_count(pawl_lane *lane, bool *out_is_new);
/* The line was said here. */
void pw_lines_say(pawl_lane *lane, struct pw_log_line *line);
/* The lane goes on from one place to the next. */
void pw_lines_move(pawl_lane *lane, uint64_t place);
/* The same for what was said elsewhere: by a branch that has ended. */
void pw_lines_bring(pawl_lane *lane, uint64_t from_place);
/* The lane was given the step's answer. */
void pw_lines_pass(pawl_lane *lane, const struct pw_step *step);
/* The lane has come to this step.  If an earlier turn has recorded it, what was said on the way are replays (L2). */
void pw_lines_meet(const pawl_lane *lane, const struct pw_step *step);
/* What is recorded with the lane's next step (L1), appended to the list; and all that is left, with the end of the run. */
void pw_lines_take(const pawl_lane *lane, struct pw_log_list *lines);
void pw_lines_take_all(pawl_turn *turn, struct pw_log_list *lines);
/* The run was read anew, in the midst of its turn: all of it is said again. */
void pw_lines_forget(pawl_turn *turn);
/* They were not recorded after all: they go before everything else that is to be. */
void pw_lines_hand_back(pawl_turn *turn, struct pw_log_list *lines);

#endif
