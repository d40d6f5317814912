/* lines.h - log lines that workflow code writes between durable calls, until they are recorded.  All with the turn's
 * lock held.
 *
 * A line is a *replay* if the run recorded it at the same place before.  The store does not mark lines that way, but
 * rows of steps tell, because of how lines are recorded:
 *
 *  L1. A line is recorded with the next step of its own lane, with the next step of a branch that this lane opens
 *      next, or with the end of the run; never with anything else.  If the turn ends before that, the line is
 *      dropped and written again by the next turn.
 *  L2. So if a lane reaches a step that an earlier turn recorded, the lines that it wrote before were recorded as
 *      well: they are replays.  If it reaches a step that is not recorded, they are new.
 *
 * L2 leaves one case open: the main lane wrote lines and then forked, and a branch records a new step before another
 * branch reaches a recorded one.  Those lines count as replays if the history has recorded steps that are ahead,
 * newer than all steps that the lane has passed.  Inside a branch such steps may belong to another branch, so there
 * the lines count as new.  A line of a refused unit may be marked as a replay if the process dies before the line is
 * recorded again.
 *
 * A *place* identifies how a lane got to where it is.  It is a number made from the answers that the lane was given
 * and the forks that it went through, and is the same in every pass of a turn.  A pass that unwinds leaves its lines
 * here, and the next pass does not add them again. */
#ifndef PW_TURN_LINES_H
#define PW_TURN_LINES_H

#include "turn/inside.h"

enum { PW_PLACE_FIRST = 1 };

/* The place after `what`: an answer, a fork, or a branch of a fork. */
uint64_t pw_place_behind(uint64_t place, uint64_t what);

/* Counts one more line at the lane's place.  *out_is_new: no earlier pass of this turn wrote it.  False: memory ran
 * out. */
bool pw_lines_count(pawl_lane *lane, bool *out_is_new);
/* Adds a line that was written at the lane's place. */
void pw_lines_say(pawl_lane *lane, struct pw_log_line *line);
/* Moves the lane, with its lines, to the next place. */
void pw_lines_move(pawl_lane *lane, uint64_t place);
/* Moves the lines of a branch that has ended to the lane's place. */
void pw_lines_bring(pawl_lane *lane, uint64_t from_place);
/* The lane was given the step's answer: moves it to the place after the step. */
void pw_lines_pass(pawl_lane *lane, const struct pw_step *step);
/* The lane has reached this step.  If an earlier turn recorded it, the lines that led to it are replays (L2). */
void pw_lines_meet(const pawl_lane *lane, const struct pw_step *step);
/* Takes the lines that are recorded with the lane's next step (L1), or all that are left, at the end of the run.
 * Appends them to the list. */
void pw_lines_take(const pawl_lane *lane, struct pw_log_list *lines);
void pw_lines_take_all(pawl_turn *turn, struct pw_log_list *lines);
/* The run was loaded anew in the middle of its turn: drops all lines, because they will be written again. */
void pw_lines_forget(pawl_turn *turn);
/* The lines were not recorded after all: puts them before everything that is still to be recorded. */
void pw_lines_hand_back(pawl_turn *turn, struct pw_log_list *lines);

#endif
