/* hand.h - an engine with simulated time whose turns are taken and driven by hand, as a binding of another language does.
 * The workflow "polled" is defined without a turn function, "small" likewise with limits of 2 steps and 64 bytes, "ticked"
 * with one that finishes at once.  Two runners, with leases of a second, take part when they are asked to. */
#ifndef TESTS_HAND_H
#define TESTS_HAND_H

#include "running.h"

extern const struct test_setting hand_setting;
#define TEST_BY_HAND(title) TEST_WITH(hand_setting, struct running *hand, title)
/* NULL: none is due. */
pawl_turn *hand_poll_with(struct running *hand, pawl_runner *runner);
/* Time goes on until the other runner may take a lease of the first, which it does. */
pawl_turn *hand_take_over(struct running *hand);
/* With the first runner; fails the test when none is due. */
pawl_turn *hand_poll(struct running *hand);
/* Ended turns are gone; nothing in these tests makes one wait for a commit. */
void hand_done_with(struct running *hand, pawl_runner *runner, pawl_turn *turn);
/* For turns of the first runner. */
void hand_suspend(struct running *hand, pawl_turn *turn);
void hand_finish(struct running *hand, pawl_turn *turn, const char *result);

/* All that was submitted is committed: where nobody waits for a commit nobody makes it. */
void hand_commit(struct running *hand);

/* A step with the default policy. */
pawl_status recall(pawl_lane *lane, const char *name, struct pawl_answer *answer);
pawl_attempt *expect_run(pawl_lane *lane, const char *name);
/* result NULL: none. */
struct pawl_answer expect_done(pawl_lane *lane, const char *name, const char *result);
void run_step(pawl_lane *lane, const char *name, const char *result);

#endif
