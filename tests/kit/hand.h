/* hand.h - an engine with simulated time whose turns are taken and driven by hand, as a binding of another language does.
 * The workflow "polled" is defined without a turn function, "small" likewise with limits of 2 steps and 64 bytes, "ticked"
 * with one that finishes at once.  Two runners, with leases of a second, take part when they are asked to. */
#ifndef TESTS_HAND_H
#define TESTS_HAND_H

#include "running.h"
#include "stores.h"

#define START_MS INT64_C(1700000000000)

struct hand {
    struct store_place place;
    pawl_engine *engine;
    pawl_runner *runner, *other;
    pawl_scope *scope;
    struct pawl_error error;
    _Atomic int64_t now_ms;
};

int hand_set_up(void **state);
int hand_tear_down(void **state);
void hand_advance_ms(struct hand *hand, int64_t ms);

void hand_create_of(struct hand *hand, const char *workflow, const char *id, const char *params);
/* These are about instances of "polled". */
void hand_create(struct hand *hand, const char *id);
struct pawl_instance hand_get(struct hand *hand, const char *id);
struct pawl_history hand_history(struct hand *hand, const char *id);
/* A step of the instance "r"; NULL: there is none. */
const struct pawl_step_record *hand_step(struct hand *hand, const char *name);
void hand_send(struct hand *hand, const char *id, const char *type, const char *payload);

/* NULL: none is due. */
pawl_turn *hand_poll_with(struct hand *hand, pawl_runner *runner);
/* Time goes on until the other runner may take a lease of the first, which it does. */
pawl_turn *hand_take_over(struct hand *hand);
/* With the first runner; fails the test when none is due. */
pawl_turn *hand_poll(struct hand *hand);
/* Ended turns are gone; nothing in these tests makes one wait for a commit. */
void hand_done_with(struct hand *hand, pawl_runner *runner, pawl_turn *turn);
/* For turns of the first runner. */
void hand_suspend(struct hand *hand, pawl_turn *turn);
void hand_finish(struct hand *hand, pawl_turn *turn, const char *result);

/* All that was submitted is committed: where nobody waits for a commit nobody makes it. */
void hand_commit(struct hand *hand);

/* A step with the default policy. */
pawl_status recall(pawl_lane *lane, const char *name, struct pawl_answer *answer);
pawl_attempt *expect_run(pawl_lane *lane, const char *name);
/* result NULL: none. */
struct pawl_answer expect_done(pawl_lane *lane, const char *name, const char *result);
void run_step(pawl_lane *lane, const char *name, const char *result);

#endif
