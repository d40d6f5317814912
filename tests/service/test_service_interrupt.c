/* What control means beyond one run: children and jobs end with it, a parent is told, and a run is asked to stop by itself
 * (contract A14, F1). */
#include "kit/service_world.h"

static pawl_status pause_it(struct world *world, const char *id)
{
    return pawl_pause(world->engine, "order", id, &world->error);
}

static pawl_status terminate_it(struct world *world, const char *id)
{
    return pawl_terminate(world->engine, "order", id, &world->error);
}

static pawl_status restart_it(struct world *world, const char *id)
{
    return pawl_restart(world->engine, "order", id, &world->error);
}

/* ---- With children ----------------------------------------------------------------------------------------------- */

static void make_one_of_each(struct world *world)
{
    world_create(world, "a");
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "attached", NULL);
    world_make(world, "a", PW_RELATION_DETACHED, "other", "detached", NULL);
    world_make(world, "a", PW_RELATION_JOB, "@charge", "job", "{}");
    world_wait(world, "a", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1000);
}

TEST_OF(world, what_is_attached_to_a_run_that_is_terminated_ends_with_it)
{
    make_one_of_each(world);

    assert_int_equal(terminate_it(world, "a"), PAWL_OK);

    struct pw_instance attached = world_row_of(world, "other", "attached");
    assert_int_equal(attached.task.demand, PW_DEMAND_TERMINATE);
    assert_int_equal(attached.task.kind, PW_TASK_RESUME);
    assert_int_equal(world_row_of(world, "other", "detached").task.demand, PW_DEMAND_NONE);
    assert_int_equal(world_row_of(world, "@charge", "job").outcome, PW_OUTCOME_TERMINATED);
}

TEST_OF(world, a_restart_ends_what_the_old_run_had_begun)
{
    make_one_of_each(world);

    assert_int_equal(restart_it(world, "a"), PAWL_OK);

    assert_int_equal(world_row_of(world, "other", "attached").task.demand, PW_DEMAND_TERMINATE);
    assert_int_equal(world_row_of(world, "other", "detached").task.demand, PW_DEMAND_NONE);
    assert_int_equal(world_row_of(world, "@charge", "job").outcome, PW_OUTCOME_TERMINATED);
    assert_int_equal(world_row(world, "a").task.demand, PW_DEMAND_NONE);
}

TEST_OF(world, a_restart_of_a_finished_run_leaves_its_children_alone)
{
    make_one_of_each(world);
    world_finish(world, "a", PW_OUTCOME_COMPLETE);

    assert_int_equal(restart_it(world, "a"), PAWL_OK);

    assert_int_equal(world_row_of(world, "other", "attached").task.demand, PW_DEMAND_NONE);
}

TEST_OF(world, a_parent_is_told_of_the_termination_of_its_child_but_not_of_a_restart)
{
    world_create(world, "parent");
    world_make(world, "parent", PW_RELATION_ATTACHED, "order", "child", NULL);
    world_wait(world, "parent", 1, PAWL_STEP_CHILD, "$order/child", INT64_MAX);
    assert_int_equal(restart_it(world, "child"), PAWL_OK);
    assert_int_equal(world_history(world, "parent", 0).event_count, 0);
    world_start_local(world, 0);

    assert_int_equal(terminate_it(world, "child"), PAWL_OK);

    struct pawl_history history = world_history(world, "parent", 0);
    assert_int_equal(history.event_count, 1);
    assert_string_equal(history.events[0].type, "$order/child");
    assert_true(history.events[0].is_failure);
    assert_string_equal(history.events[0].payload_json,
                        "{\"name\":\"CHILD_TERMINATED\",\"message\":\"the child was terminated\",\"retry\":false}");
    assert_int_equal(world_row(world, "parent").task.status, PW_TASK_ACTIVE);
    assert_int_equal(world->woken, 1);
}

/* ---- Interrupting (F1) ------------------------------------------------------------------------------------------- */

static pawl_status interrupt_it(struct world *world, const char *id)
{
    return pawl_interrupt(world->engine, "order", id, &world->error);
}

static pawl_status roll_it_back(struct world *world, const char *id)
{
    return pawl_terminate_with_rollback(world->engine, "order", id, &world->error);
}

TEST_OF(world, a_run_that_is_interrupted_is_due_at_once)
{
    world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1000);
    world_start_local(world, 0);

    assert_int_equal(interrupt_it(world, "a"), PAWL_OK);

    struct pw_task task = world_row(world, "a").task;
    assert_int_equal(task.demand, PW_DEMAND_INTERRUPT);
    assert_int_equal(task.status, PW_TASK_ACTIVE);
    assert_int_equal(task.kind, PW_TASK_RESUME);
    assert_int_equal(task.due_at_ms, WORLD_START_MS);
    assert_int_equal(world->woken, 1);
    assert_true(world_get(world, "a").is_interrupted);
    assert_string_equal(world_history(world, "a", 0).logs[0].message, "interrupt requested");
    assert_int_equal(world_claim(world).demand, PW_DEMAND_INTERRUPT);
}

TEST_OF(world, a_busy_run_hears_that_it_is_interrupted_and_goes_on)
{
    world_create(world, "a");
    struct pw_claim claim = world_claim(world);
    world_start_local(world, 1);

    assert_int_equal(interrupt_it(world, "a"), PAWL_OK);

    assert_true(world_fence_holds(world, claim.fence));
    assert_int_equal(world->demanded, PW_DEMAND_INTERRUPT);
    assert_int_equal(world->delivered_count, 0);
    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_RUNNING);
    assert_true(world_get(world, "a").is_interrupted);
    assert_int_equal(world_row(world, "a").task.event_seq, 1); /* so that the turn does not park past it */
}

TEST_OF(world, an_interrupt_lifts_a_pause)
{
    world_create(world, "paused");
    assert_int_equal(pause_it(world, "paused"), PAWL_OK);
    assert_int_equal(interrupt_it(world, "paused"), PAWL_OK);
    assert_int_equal(world_get(world, "paused").phase, PAWL_PHASE_QUEUED);
    assert_int_equal(terminate_it(world, "paused"), PAWL_OK);

    world_create(world, "busy");
    world_claim(world);
    assert_int_equal(pause_it(world, "busy"), PAWL_OK);
    assert_int_equal(interrupt_it(world, "busy"), PAWL_OK);
    assert_false(world_row(world, "busy").task.pause_requested);
    assert_int_equal(world_get(world, "busy").phase, PAWL_PHASE_RUNNING);

    world_create(world, "dead");
    world_claim(world);
    assert_int_equal(pause_it(world, "dead"), PAWL_OK);
    world->now_ms += WORLD_LEASE_MS;
    assert_int_equal(interrupt_it(world, "dead"), PAWL_OK);
    assert_int_equal(world_get(world, "dead").phase, PAWL_PHASE_QUEUED);
}

TEST_OF(world, an_interrupted_run_is_handed_to_a_local_runner_that_has_room)
{
    world_create(world, "a");
    assert_int_equal(pause_it(world, "a"), PAWL_OK);
    world_start_local(world, 1);

    assert_int_equal(interrupt_it(world, "a"), PAWL_OK);

    assert_int_equal(world->delivered_count, 1);
    assert_int_equal(world->delivered[0].demand, PW_DEMAND_INTERRUPT);
    assert_true(world_fence_holds(world, world->delivered[0].fence));
}

TEST_OF(world, interrupting_again_changes_nothing)
{
    world_create(world, "a");
    assert_int_equal(interrupt_it(world, "a"), PAWL_OK);
    struct pw_instance before = world_row(world, "a");

    assert_int_equal(interrupt_it(world, "a"), PAWL_OK);

    assert_int_equal(world_row(world, "a").task.epoch, before.task.epoch);
    assert_int_equal(world_history(world, "a", 0).log_count, 1);
}

TEST_OF(world, a_rollback_is_demanded_even_of_what_is_interrupted_and_not_the_other_way)
{
    world_create(world, "a");
    assert_int_equal(interrupt_it(world, "a"), PAWL_OK);

    assert_int_equal(roll_it_back(world, "a"), PAWL_OK);
    assert_int_equal(world_row(world, "a").task.demand, PW_DEMAND_ROLLBACK);
    assert_int_equal(interrupt_it(world, "a"), PAWL_OK);
    assert_int_equal(world_row(world, "a").task.demand, PW_DEMAND_ROLLBACK);

    struct pawl_history history = world_history(world, "a", 0);
    assert_int_equal(history.log_count, 2);
    assert_string_equal(history.logs[1].message, "termination with rollback requested");
}

TEST_OF(world, what_has_finished_is_not_interrupted)
{
    world_create(world, "a");
    assert_int_equal(interrupt_it(world, "a"), PAWL_OK);
    world_finish(world, "a", PW_OUTCOME_TERMINATED);

    assert_false(world_get(world, "a").is_interrupted);
    assert_refused(world, interrupt_it(world, "a"), PAWL_INSTANCE_TERMINAL, "\"a\"", "terminated", NULL);
    assert_refused(world, roll_it_back(world, "a"), PAWL_INSTANCE_TERMINAL, "terminated", NULL);
    assert_int_equal(restart_it(world, "a"), PAWL_OK);
    assert_false(world_get(world, "a").is_interrupted);
}

/* ---- Without waiting --------------------------------------------------------------------------------------------- */

static pawl_status control(struct world *world, enum pawl_control what, const char *id)
{
    pawl_status status = PAWL_BUSY;
    pawl_control_async(world->engine, what, "order", id, &world->error, world_take_status, &status);
    return status;
}

TEST_OF(world, what_interrupts_works_without_waiting)
{
    world_create(world, "a");

    assert_int_equal(control(world, PAWL_CONTROL_INTERRUPT, "a"), PAWL_OK);
    assert_int_equal(world_row(world, "a").task.demand, PW_DEMAND_INTERRUPT);
    assert_int_equal(control(world, PAWL_CONTROL_ROLLBACK, "a"), PAWL_OK);
    assert_int_equal(world_row(world, "a").task.demand, PW_DEMAND_ROLLBACK);
    assert_refused(world, control(world, PAWL_CONTROL_RETRY, "a"), PAWL_NOT_REPAIRABLE, "active", NULL);
    world_finish(world, "a", PW_OUTCOME_ERRORED);
    assert_int_equal(control(world, PAWL_CONTROL_RETRY, "a"), PAWL_OK);
    assert_int_equal(world_get(world, "a").run_number, 2);
}
