/* lanes.h (internal) - the parallel lanes of one turn.
 *
 * A fork calls one function for each branch: in the thread that opened it and, through the host, in idle workers.  A
 * suspended branch is called again as soon as its wait is over, even while its siblings still run, so that no branch
 * waits for a slow one.  A fork lives on the stack of the thread that opened it, and that thread leaves only when no
 * branch is running. */
#ifndef PW_TURN_LANES_H
#define PW_TURN_LANES_H

#include "turn/inside.h"

struct pw_fork {
    pawl_turn *turn;
    pawl_lane *parent;
    struct pw_text name; /* absent: it is a race, named by the step that the parent has reached */
    pawl_lane *lanes;    /* `count` lanes, in the pass's arena */
    pawl_status *statuses;
    unsigned char *states; /* enum branch_state */
    size_t count, limit;
    size_t position_first; /* the branch number of lanes[0] */
    size_t begun;          /* branches called at least once: positions 0 to begun-1 */
    size_t active;         /* begun and not finished */
    size_t running;        /* branches whose function is running */
    bool shared;           /* the host knows of it, so helpers may come */
    struct pw_step *race;  /* race: the step that records its winner */
    struct pw_fork *outer; /* race: the next older running race of the turn */
    /* A race: the first branch that finishes wins. */
    bool first_only;
    bool has_winner;
    size_t winner;
    pawl_lane_fn *branch;
    void *user;
    struct pw_help help; /* the host's fields, while the fork is shared */
};

/* True if the two lanes can run at the same time: neither contains the other, and the fork that separates them has
 * not returned. */
bool pw_lanes_are_concurrent(const pawl_lane *one, const pawl_lane *other);

#endif
