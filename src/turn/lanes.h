/* lanes.h (internal) - parallel lanes of one turn.
 *
 * A fork calls a function for each branch, in the calling thread and, through the host, in idle workers.  A branch that
 * is suspended is called again while its siblings still run, when its wait is over: nobody is held up by a slow one.
 * A fork lives on the stack of the thread that opened it, which leaves only when no call is under way. */
#ifndef PW_TURN_LANES_H
#define PW_TURN_LANES_H

#include "turn/inside.h"

struct pw_fork {
    pawl_turn *turn;
    pawl_lane *parent;
    struct pw_text name; /* absent: it is a race, and its step is the one that the parent has reached */
    pawl_lane *lanes;    /* count of them, in the pass's arena */
    pawl_status *statuses;
    unsigned char *states; /* enum branch_state */
    size_t count, limit;
    size_t position_first; /* of the branch that lanes[0] is */
    size_t begun;          /* branches ever called: positions 0 to begun-1 */
    size_t active;         /* begun and not finished */
    size_t running;        /* calls under way */
    bool shared;           /* the host knows of it */
    struct pw_step *race;  /* of a race: where its winner is recorded */
    struct pw_fork *outer; /* of a race: the one that was under way before, of the same turn */
    bool first_only;
    bool has_winner;
    size_t winner;
    pawl_lane_fn *branch;
    void *user;
    struct pw_help help; /* the host's, while it is shared */
};

/* Could both be under way at once? */
bool pw_lanes_are_concurrent(const pawl_lane *one, const pawl_lane *other);

#endif
