/* Pause, resume, terminate, restart and events: on runs that are idle, busy, waiting, paused and finished, and when
 * somebody else moves the run at the same instant. */
#include "kit/service_world.h"

#include "base/limits.h"
#include "service/service.h"

static pawl_status pause_it(struct world *world, const char *id)
{
    return pawl_pause(world->engine, "order", id, &world->error);
}

static pawl_status resume_it(struct world *world, const char *id)
{
    return pawl_resume(world->engine, "order", id, &world->error);
}

static pawl_status terminate_it(struct world *world, const char *id)
{
    return pawl_terminate(world->engine, "order", id, &world->error);
}

static pawl_status restart_it(struct world *world, const char *id)
{
    return pawl_restart(world->engine, "order", id, &world->error);
}

/* ---- Pause and resume ---------------------------------------------------------------------------------------- */

TEST_OF(world, an_idle_run_is_paused_at_once)
{
    world_create(world, "a");

    assert_int_equal(pause_it(world, "a"), PAWL_OK);

    struct pawl_instance instance = world_get(world, "a");
    assert_int_equal(instance.status, PAWL_PAUSED);
    assert_int_equal(instance.phase, PAWL_PHASE_PAUSED);
    assert_false(world_row(world, "a").task.processing);
}

TEST_OF(world, pausing_again_changes_nothing)
{
    world_create(world, "a");
    assert_int_equal(pause_it(world, "a"), PAWL_OK);
    struct pw_instance before = world_row(world, "a");
    world->now_ms++;

    assert_int_equal(pause_it(world, "a"), PAWL_OK);

    struct pw_instance after = world_row(world, "a");
    assert_int_equal(after.task.epoch, before.task.epoch);
    assert_int_equal(after.updated_at_ms, before.updated_at_ms);
}

TEST_OF(world, a_waiting_run_that_is_paused_keeps_its_time)
{
    world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1000);

    assert_int_equal(pause_it(world, "a"), PAWL_OK);

    struct pw_task task = world_row(world, "a").task;
    assert_int_equal(task.status, PW_TASK_PAUSED);
    assert_int_equal(task.kind, PW_TASK_WAKE);
    assert_int_equal(task.due_at_ms, WORLD_START_MS + 1000);
}

TEST_OF(world, a_busy_run_is_asked_to_pause)
{
    world_create(world, "a");
    struct pw_claim claim = world_claim(world);

    assert_int_equal(pause_it(world, "a"), PAWL_OK);
    assert_int_equal(pause_it(world, "a"), PAWL_OK);

    assert_int_equal(world_get(world, "a").status, PAWL_ACTIVE);
    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_WAITING_FOR_PAUSE);
    assert_true(world_row(world, "a").task.pause_requested);
    assert_true(world_fence_holds(world, claim.fence));
}

TEST_OF(world, a_run_whose_lease_has_expired_is_paused_at_once)
{
    world_create(world, "a");
    struct pw_claim claim = world_claim(world);
    world->now_ms += WORLD_LEASE_MS;

    assert_int_equal(pause_it(world, "a"), PAWL_OK);

    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_PAUSED);
    assert_false(world_fence_holds(world, claim.fence));
}

TEST_OF(world, a_paused_run_that_is_resumed_is_due)
{
    world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1000);
    assert_int_equal(pause_it(world, "a"), PAWL_OK);
    world_start_local(world, 0);

    assert_int_equal(resume_it(world, "a"), PAWL_OK);

    struct pw_task task = world_row(world, "a").task;
    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_QUEUED);
    assert_int_equal(task.kind, PW_TASK_RESUME);
    assert_int_equal(task.due_at_ms, WORLD_START_MS);
    assert_int_equal(world->woken, 1);
    assert_int_equal(world_claim(world).kind, PW_TASK_RESUME);
}

TEST_OF(world, a_resumed_run_is_handed_to_a_local_runner_that_has_room)
{
    world_create(world, "a");
    assert_int_equal(pause_it(world, "a"), PAWL_OK);
    world_start_local(world, 1);

    assert_int_equal(resume_it(world, "a"), PAWL_OK);

    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_RUNNING);
    assert_int_equal(world->delivered_count, 1);
    assert_string_equal(world->delivered_id[0], "a");
    assert_true(world_fence_holds(world, world->delivered[0].fence));
    assert_int_equal(world->woken, 0);
}

TEST_OF(world, resuming_what_is_not_paused_changes_nothing)
{
    world_create(world, "a");
    world_start_local(world, 1);
    struct pw_instance before = world_row(world, "a");
    world->now_ms++;

    assert_int_equal(resume_it(world, "a"), PAWL_OK);

    assert_int_equal(world_row(world, "a").task.epoch, before.task.epoch);
    assert_int_equal(world_row(world, "a").updated_at_ms, before.updated_at_ms);
    assert_int_equal(world->reserved, world->cancelled); /* what was offered is given back */
}

TEST_OF(world, resuming_a_busy_run_withdraws_the_request)
{
    world_create(world, "a");
    struct pw_claim claim = world_claim(world);
    assert_int_equal(pause_it(world, "a"), PAWL_OK);

    assert_int_equal(resume_it(world, "a"), PAWL_OK);

    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_RUNNING);
    assert_true(world_fence_holds(world, claim.fence));
}

/* ---- Terminate and restart ----------------------------------------------------------------------------------- */

TEST_OF(world, a_busy_run_that_is_terminated_can_commit_nothing_more)
{
    world_create(world, "a");
    struct pw_claim claim = world_claim(world);
    world_start_local(world, 0);
    world->now_ms += 9;

    assert_int_equal(terminate_it(world, "a"), PAWL_OK);

    struct pawl_instance instance = world_get(world, "a");
    struct pawl_history history = world_history(world, "a", 0);
    assert_int_equal(instance.status, PAWL_TERMINATED);
    assert_int_equal(instance.phase, PAWL_PHASE_TERMINATED);
    assert_int_equal(instance.completed_at_ms, WORLD_START_MS + 9);
    assert_false(world_fence_holds(world, claim.fence));
    assert_int_equal(world->revoked, 1);
    assert_int_equal(history.log_count, 1);
    assert_string_equal(history.logs[0].category, "system");
    assert_string_equal(history.logs[0].message, "terminated");
}

TEST_OF(world, any_run_that_has_not_finished_can_be_terminated)
{
    world_create(world, "queued");
    world_create(world, "waiting");
    world_wait(world, "waiting", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1000);
    world_create(world, "paused");
    assert_int_equal(pause_it(world, "paused"), PAWL_OK);

    assert_int_equal(terminate_it(world, "queued"), PAWL_OK);
    assert_int_equal(terminate_it(world, "waiting"), PAWL_OK);
    assert_int_equal(terminate_it(world, "paused"), PAWL_OK);

    assert_int_equal(world_get(world, "queued").status, PAWL_TERMINATED);
    assert_int_equal(world_get(world, "waiting").status, PAWL_TERMINATED);
    assert_int_equal(world_get(world, "paused").status, PAWL_TERMINATED);
}

TEST_OF(world, a_finished_run_refuses_all_but_a_restart)
{
    struct pawl_send_event_options event = { sizeof event, "paid", NULL, NULL };
    static const struct {
        enum pw_outcome outcome;
        const char *name;
    } ends[] = { { PW_OUTCOME_COMPLETE, "complete" },
                 { PW_OUTCOME_TERMINATED, "terminated" },
                 { PW_OUTCOME_ERRORED, "errored" } };
    world_create(world, "a");

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        world_finish(world, "a", ends[i].outcome);
        assert_refused(world, pause_it(world, "a"), PAWL_INSTANCE_TERMINAL, "\"a\"", ends[i].name, NULL);
        assert_refused(world, resume_it(world, "a"), PAWL_INSTANCE_TERMINAL, ends[i].name, NULL);
        assert_refused(world, terminate_it(world, "a"), PAWL_INSTANCE_TERMINAL, ends[i].name, NULL);
        assert_refused(world, pawl_send_event(world->engine, NULL, "order", "a", &event, NULL, &world->error),
                       PAWL_INSTANCE_TERMINAL, ends[i].name, NULL);
        assert_int_equal(restart_it(world, "a"), PAWL_OK);
        assert_int_equal(world_get(world, "a").run_number, i + 2);
        assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_QUEUED);
    }
}

TEST_OF(world, a_restart_forgets_the_outcome_and_logs_it_in_the_old_run)
{
    world_create(world, "a");
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    world_finish(world, "a", PW_OUTCOME_ERRORED);
    world->now_ms += 3;

    assert_int_equal(restart_it(world, "a"), PAWL_OK);

    struct pawl_instance instance = world_get(world, "a");
    struct pawl_history old = world_history(world, "a", 1), new = world_history(world, "a", 2);
    assert_int_equal(instance.status, PAWL_ACTIVE);
    assert_null(instance.error_name);
    assert_int_equal(instance.completed_at_ms, 0);
    assert_int_equal(instance.started_at_ms, 0);
    assert_int_equal(instance.created_at_ms, WORLD_START_MS);
    assert_null(instance.current_step);
    assert_int_equal(old.step_count, 1);
    assert_int_equal(old.log_count, 1);
    assert_string_equal(old.logs[0].message, "restarted as run 2");
    assert_string_equal(old.logs[0].data_json,
                        "{\"status\":\"errored\","
                        "\"error\":{\"name\":\"CardDeclined\",\"message\":\"no \\\"funds\\\"\"}}");
    assert_int_equal(new.step_count, 0);
    assert_int_equal(new.log_count, 0);
}

TEST_OF(world, a_busy_run_that_is_restarted_can_commit_nothing_more)
{
    world_create(world, "a");
    struct pw_claim claim = world_claim(world);
    world_start_local(world, 0);

    assert_int_equal(restart_it(world, "a"), PAWL_OK);

    assert_false(world_fence_holds(world, claim.fence));
    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_QUEUED);
    assert_string_equal(world_history(world, "a", 1).logs[0].data_json, "{\"status\":\"active\"}");
    assert_int_equal(world->revoked, 1);
    assert_int_equal(world->woken, 1);
    assert_int_equal(world_claim(world).fence.run, 2);
}

TEST_OF(world, a_restarted_run_is_handed_off_after_the_old_one_was_revoked)
{
    world_create(world, "a");
    world_claim(world);
    world_start_local(world, 1);

    assert_int_equal(restart_it(world, "a"), PAWL_OK);

    assert_int_equal(world->delivered_count, 1);
    assert_true(world->revoked_before_delivery);
    assert_int_equal(world->delivered[0].fence.run, 2);
    assert_true(world->delivered[0].is_first);
    assert_true(world_fence_holds(world, world->delivered[0].fence));
    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_RUNNING);
    assert_int_equal(world->woken, 0);
}

TEST_OF(world, a_paused_run_that_is_restarted_runs)
{
    world_create(world, "a");
    assert_int_equal(pause_it(world, "a"), PAWL_OK);

    assert_int_equal(restart_it(world, "a"), PAWL_OK);

    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_QUEUED);
    assert_int_equal(world_claim(world).fence.run, 2);
}

/* ---- Events -------------------------------------------------------------------------------------------------- */

TEST_OF(world, events_are_kept_in_the_order_sent_whatever_the_run_does)
{
    world_create(world, "a");

    world_send(world, "a", "queued", NULL);
    world_claim(world);
    world_send(world, "a", "busy", NULL);
    world_wait(world, "a", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1000);
    world_send(world, "a", "asleep", NULL);
    assert_int_equal(pause_it(world, "a"), PAWL_OK);
    world_send(world, "a", "paused", NULL);

    struct pawl_history history = world_history(world, "a", 0);
    assert_int_equal(history.event_count, 4);
    assert_string_equal(history.events[0].type, "queued");
    assert_string_equal(history.events[1].type, "busy");
    assert_string_equal(history.events[2].type, "asleep");
    assert_string_equal(history.events[3].type, "paused");
    assert_string_not_equal(history.events[2].id, history.events[3].id);
    assert_int_equal(history.events[3].delivered_at_ms, 0);
    assert_int_equal(history.events[3].created_at_ms, WORLD_START_MS);
    assert_int_equal(world_get(world, "a").status, PAWL_PAUSED);
}

TEST_OF(world, an_event_id_makes_sending_idempotent_within_the_run)
{
    struct pawl_send_event_options event = { sizeof event, "paid", "{\"sum\":1}", "e-1" };
    struct pawl_instance after;
    world_create(world, "a");

    for (int i = 0; i < 3; i++)
        assert_int_equal(pawl_send_event(world->engine, world->scope, "order", "a", &event, &after, &world->error),
                         PAWL_OK);
    assert_int_equal(restart_it(world, "a"), PAWL_OK);
    assert_int_equal(world_history(world, "a", 2).event_count, 0);
    world_send(world, "a", "paid", "e-1");

    assert_int_equal(after.status, PAWL_ACTIVE);
    assert_int_equal(world_history(world, "a", 1).event_count, 1);
    assert_string_equal(world_history(world, "a", 1).events[0].id, "e-1");
    assert_string_equal(world_history(world, "a", 1).events[0].payload_json, "{\"sum\":1}");
    assert_int_equal(world_history(world, "a", 2).event_count, 1);
}

TEST_OF(world, an_event_wakes_the_run_that_waits_for_its_type)
{
    struct pawl_send_event_options event = { sizeof event, "paid", NULL, NULL };
    struct pawl_instance after;
    world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_EVENT, "shipped", WORLD_START_MS + 1000);
    world_wait(world, "a", 2, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 1000);
    world_start_local(world, 0);

    assert_int_equal(pawl_send_event(world->engine, world->scope, "order", "a", &event, &after, NULL), PAWL_OK);

    assert_int_equal(after.phase, PAWL_PHASE_QUEUED);
    assert_string_equal(after.current_step->name, "step-2");
    assert_int_equal(world->woken, 1);
    struct pw_claim claim = world_claim(world);
    assert_int_equal(claim.kind, PW_TASK_WAKE);
    assert_int_equal(claim.event_seq, 1);
}

TEST_OF(world, a_woken_run_is_handed_to_a_local_runner_that_has_room)
{
    world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 1000);
    world_start_local(world, 1);

    world_send(world, "a", "paid", NULL);

    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_RUNNING);
    assert_int_equal(world->delivered_count, 1);
    assert_int_equal(world->delivered[0].event_seq, 1);
    assert_true(world_fence_holds(world, world->delivered[0].fence));
}

TEST_OF(world, an_event_that_nobody_waits_for_wakes_nobody)
{
    static const char *const ids[] = { "type", "late", "asleep", "paused", "busy" };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        world_create(world, ids[i]);
    world_wait(world, "type", 1, PAWL_STEP_EVENT, "paid2", WORLD_START_MS + 9000);
    world_wait(world, "late", 1, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 100);
    world_wait(world, "asleep", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 9000);
    world_wait(world, "paused", 1, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 9000);
    assert_int_equal(pause_it(world, "paused"), PAWL_OK);
    world_wait(world, "busy", 1, PAWL_STEP_EVENT, "paid", WORLD_START_MS);
    world_claim(world);
    world->now_ms += 100;
    world_start_local(world, 9);

    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        int64_t epoch = world_row(world, ids[i]).task.epoch;
        world_send(world, ids[i], "paid", NULL);
        assert_int_equal(world_row(world, ids[i]).task.epoch, epoch);
        assert_int_equal(world_history(world, ids[i], 0).event_count, 1);
    }

    assert_int_equal(world->reserved, world->cancelled);
    assert_int_equal(world->delivered_count, 0);
    assert_int_equal(world->woken, 0);
}

TEST_OF(world, wrong_events_are_refused)
{
    char too_long[102];
    memset(too_long, 'x', 101);
    too_long[101] = '\0';
    const struct {
        struct pawl_send_event_options options;
        pawl_status expected;
        const char *says;
    } cases[] = {
        { { sizeof cases[0].options, NULL, NULL, NULL }, PAWL_INVALID_EVENT_TYPE, "missing" },
        { { sizeof cases[0].options, "", NULL, NULL }, PAWL_INVALID_EVENT_TYPE, "empty" },
        { { sizeof cases[0].options, "a b", NULL, NULL }, PAWL_INVALID_EVENT_TYPE, "position 2" },
        { { sizeof cases[0].options, "-a", NULL, NULL }, PAWL_INVALID_EVENT_TYPE, "starts with -" },
        { { sizeof cases[0].options, too_long, NULL, NULL }, PAWL_INVALID_EVENT_TYPE, "101" },
        { { sizeof cases[0].options, "a", "{", NULL }, PAWL_INVALID_JSON, "payload" },
        { { sizeof cases[0].options, "a", "", NULL }, PAWL_INVALID_JSON, "payload" },
        { { sizeof cases[0].options, "a", NULL, "" }, PAWL_INVALID, "event id is empty" },
        { { sizeof cases[0].options, "a", NULL, "x y" }, PAWL_INVALID, "position 2" },
        { { sizeof cases[0].options, "a", NULL, too_long }, PAWL_INVALID, "1 to 100" },
        { { sizeof cases[0].options + 1, "a", NULL, NULL }, PAWL_INVALID, "newer header" },
        { { 0, "a", NULL, NULL }, PAWL_INVALID, "struct_size" },
    };
    world_create(world, "a");

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(world,
                       pawl_send_event(world->engine, NULL, "order", "a", &cases[i].options, NULL, &world->error),
                       cases[i].expected, cases[i].says, NULL);

    assert_int_equal(world_history(world, "a", 0).event_count, 0);
}

/* ---- Somebody else at the same instant ------------------------------------------------------------------------ */

static void move_it(struct world *world, const struct pw_instance *instance)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_PARK);
    op->as.park = (struct pw_op_park){ .instance = instance->key, .kind = PW_TASK_RUN, .event_seq_seen = -1 };
    world_commit(world, &unit);
}

/* A call that decides on what it read has to begin again when the run has moved.  These calls read nothing. */
TEST_OF(world, what_names_its_run_reads_nothing_before_it_is_decided)
{
    world_create(world, "a");
    world_start_meddling(world, 9, move_it);

    assert_int_equal(pause_it(world, "a"), PAWL_OK);
    assert_int_equal(resume_it(world, "a"), PAWL_OK);
    assert_int_equal(pawl_interrupt(world->engine, "order", "a", &world->error), PAWL_OK);
    assert_int_equal(terminate_it(world, "a"), PAWL_OK);

    assert_int_equal(world->meddle_count, 9);
}

TEST_OF(world, an_instance_that_never_stands_still_is_busy)
{
    world_create(world, "a");
    world_start_local(world, 2 * PW_CONFLICT_RETRIES_MAX);
    world_start_meddling(world, 2 * PW_CONFLICT_RETRIES_MAX, move_it);

    pawl_status status = restart_it(world, "a");

    assert_refused(world, status, PAWL_BUSY, "\"a\"", "try again", NULL);
    assert_int_equal(world->meddle_count, PW_CONFLICT_RETRIES_MAX);
    assert_int_equal(world->reserved, PW_CONFLICT_RETRIES_MAX);
    assert_int_equal(world->cancelled, PW_CONFLICT_RETRIES_MAX);
    assert_int_equal(world->revoked, 0);
    assert_int_equal(world_row(world, "a").run, 1);
}

/* ---- An event in somebody else's unit of work ----------------------------------------------------------------- */

static pawl_status add_event(struct world *world, struct pw_unit *unit, const char *id, const char *type)
{
    const struct pw_text order = pw_text_of("order");
    return pw_service_add_event(world->engine, unit, order, pw_text_of(id), pw_text_of(type), pw_text_of("1"),
                                &world->error);
}

TEST_OF(world, an_event_in_another_unit_wakes_its_target)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 1000);
    world_create(world, "b");

    assert_int_equal(add_event(world, &unit, "a", "paid"), PAWL_OK);
    assert_int_equal(add_event(world, &unit, "b", "paid"), PAWL_OK);
    assert_int_equal(world_history(world, "a", 0).event_count, 0);
    world_commit(world, &unit);

    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_QUEUED);
    assert_int_equal(world_history(world, "a", 0).event_count, 1);
    assert_string_equal(world_history(world, "b", 0).events[0].payload_json, "1");
}

TEST_OF(world, two_events_in_one_unit_reach_the_same_target)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 1000);

    assert_int_equal(add_event(world, &unit, "a", "paid"), PAWL_OK);
    assert_int_equal(add_event(world, &unit, "a", "paid"), PAWL_OK);
    world_commit(world, &unit);

    assert_int_equal(world_history(world, "a", 0).event_count, 2);
    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_QUEUED);
}

TEST_OF(world, an_event_to_the_own_run_needs_no_second_fence)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    world_create(world, "a");
    struct pw_claim claim = world_claim(world);
    pw_unit_add(&unit, PW_OP_FENCE)->as.fence.at = claim.fence;

    assert_int_equal(add_event(world, &unit, "a", "paid"), PAWL_OK);

    assert_int_equal(unit.last->kind, PW_OP_EVENT);
    assert_ptr_equal(unit.first->next, unit.last);
    world_commit(world, &unit);
    assert_int_equal(world_history(world, "a", 0).event_count, 1);
}

TEST_OF(world, a_target_that_moves_before_the_commit_gets_its_event_all_the_same)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    world_create(world, "a");
    assert_int_equal(add_event(world, &unit, "a", "paid"), PAWL_OK);
    world_claim(world);
    world_commit(world, &unit);
    assert_int_equal(world_history(world, "a", 0).event_count, 1);
}

/* The unit is refused, and nothing of it happens. */
static void assert_unit_refused(struct world *world, const char *id, pawl_status expected, const char *text)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    assert_int_equal(add_event(world, &unit, id, "paid"), PAWL_OK);
    assert_int_equal(pw_commit_run(world->engine->commit, &unit), expected);
    assert_non_null(strstr(unit.error.text, text));
    pw_unit_clear(&unit);
}

TEST_OF(world, an_event_to_nobody_or_to_one_that_has_ended_refuses_its_unit)
{
    world_create(world, "ended");
    world_finish(world, "ended", PW_OUTCOME_COMPLETE);
    assert_unit_refused(world, "nobody", PAWL_INSTANCE_NOT_FOUND, "has no instance \"nobody\"");
    assert_unit_refused(world, "ended", PAWL_INSTANCE_TERMINAL, "it is complete");
    assert_int_equal(world_history(world, "ended", 0).event_count, 0);
}

TEST_OF(world, a_wrong_event_in_another_unit_is_refused_at_once)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    world_create(world, "ended");
    world_finish(world, "ended", PW_OUTCOME_COMPLETE);

    assert_refused(world, add_event(world, &unit, "ended", "pa id"), PAWL_INVALID_EVENT_TYPE, NULL);
    assert_refused(world, add_event(world, &unit, "-", "paid"), PAWL_INVALID_INSTANCE_ID, NULL);

    assert_null(unit.first);
    pw_unit_clear(&unit);
}
