/* hand.h - an engine with simulated time whose turns the test takes and drives itself, as a binding for another
 * language does.
 *
 * The workflow "polled" has no turn function.  "small" is the same with limits of 2 steps and 64 bytes.  "ticked"
 * has a turn function that finishes at once.  There are two runners with leases of a second, which act only when
 * they are asked to. */
#ifndef TESTS_HAND_H
#define TESTS_HAND_H

#include "running.h"

extern const struct test_setting hand_setting;
#define TEST_BY_HAND(title) TEST_WITH(hand_setting, struct running *hand, title)
/* Returns NULL if no turn is due. */
pawl_turn *hand_poll_with(struct running *hand, pawl_runner *runner);
/* Advances time until the other runner may take a lease of the first, and returns the turn that it takes. */
pawl_turn *hand_take_over(struct running *hand);
/* Polls with the first runner.  Fails the test if no turn is due. */
pawl_turn *hand_poll(struct running *hand);
/* Ends the turn.  In these tests no turn has to wait for a commit. */
void hand_done_with(struct running *hand, pawl_runner *runner, pawl_turn *turn);
/* These two are for turns of the first runner. */
void hand_suspend(struct running *hand, pawl_turn *turn);
void hand_finish(struct running *hand, pawl_turn *turn, const char *result);

/* Commits everything that was submitted, because without a waiter nobody commits it. */
void hand_commit(struct running *hand);

/* Recalls a step with the default policy. */
pawl_status recall(pawl_lane *lane, const char *name, struct pawl_answer *answer);
pawl_attempt *expect_run(pawl_lane *lane, const char *name);
/* result NULL: no result. */
struct pawl_answer expect_done(pawl_lane *lane, const char *name, const char *result);
void run_step(pawl_lane *lane, const char *name, const char *result);

#endif
