/* test_store.c - units of work and each op on instances and tasks, on all stores; S1 to S6 are store.h's. */
#include "kit/store_fixture.h"

#include <limits.h>

/* ---- Units --------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, a_refused_unit_changes_nothing_and_leaves_its_neighbours_alone) /* S1, S2 */
{
    struct pw_fence first = create_held(fixture, "order", "first");
    struct pw_fence second = create_held(fixture, "order", "second");
    struct pw_fence stale = { first.instance, first.run, first.epoch - 1 };

    struct pw_unit *before = fixture_unit(fixture);
    (void)add_fence(before, second);
    (void)add_step(before, second, 1, "before");
    struct pw_unit *refused = fixture_unit(fixture); /* needs undo: the second fence fails after writes */
    (void)add_fence(refused, second);
    (void)add_step(refused, second, 2, "never");
    (void)add_create(refused, "order", "never");
    (void)add_fence(refused, stale);
    struct pw_unit *plain = fixture_unit(fixture); /* refused before its first write */
    (void)add_fence(plain, stale);
    (void)add_step(plain, first, 1, "never");
    struct pw_unit *after = fixture_unit(fixture);
    (void)add_fence(after, second);
    (void)add_step(after, second, 2, "after");
    fixture_apply(fixture);

    assert_int_equal(before->status, PAWL_OK);
    assert_int_equal(refused->status, PAWL_CONFLICT);
    assert_true(refused->error.text[0] != '\0');
    assert_int_equal(plain->status, PAWL_CONFLICT);
    assert_int_equal(after->status, PAWL_OK);
    assert_int_equal(step_count(fixture, first), 0);
    assert_int_equal(step_count(fixture, second), 2);
    struct pw_instance none;
    assert_int_equal(
        pw_read_instance(fixture->store, &fixture->arena, text("order"), text("never"), &none, &fixture->error),
        PAWL_INSTANCE_NOT_FOUND);
}

TEST_OF(fixture, each_unit_sees_the_ones_before_it) /* S2 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    (void)add_park(fixture_unit(fixture), at, PW_TASK_WAITING, PW_TASK_WAKE, PW_NOW);
    struct pw_unit *late = fixture_unit(fixture);
    (void)add_fence(late, at);
    fixture_apply(fixture);
    assert_int_equal(late->status, PAWL_CONFLICT);
}

TEST_OF(fixture, an_op_on_a_task_that_no_fence_has_looked_at_undoes_its_unit) /* S1 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *careless = fixture_unit(fixture);
    (void)add_fence(careless, at);
    (void)add_control(fixture, careless, at, PAWL_CONTROL_PAUSE);
    (void)add_park(careless, (struct pw_fence){ 999, 1, 0 }, PW_TASK_WAITING, PW_TASK_WAKE, 0);
    fixture->now_ms++;
    fixture_apply(fixture);
    assert_int_equal(careless->status, PAWL_CONFLICT);
    assert_false(read_key(fixture, at.instance).task.pause_requested);
}

TEST_OF(fixture, an_empty_batch_is_fine)
{
    fixture_apply_all(fixture);
}

/* ---- Create -------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, a_created_instance_is_active_and_due_now) /* S5, S6 */
{
    struct pw_op_create *op = add_create(fixture_unit(fixture), "order", "a");
    op->params = text("{\"n\":1}");
    fixture_apply(fixture);

    assert_true(op->created);
    assert_int_equal(op->created_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(op->fence.run, 1);
    assert_int_equal(op->fence.epoch, 0);
    struct pw_instance row;
    assert_int_equal(pw_read_instance(fixture->store, &fixture->arena, text("order"), text("a"), &row, &fixture->error),
                     PAWL_OK);
    assert_int_equal(row.key, op->fence.instance);
    assert_text(row.workflow, "order");
    assert_text(row.id, "a");
    assert_text(row.params, "{\"n\":1}");
    assert_null(row.output.data);
    assert_int_equal(row.run, 1);
    assert_int_equal(row.outcome, PW_OUTCOME_OPEN);
    assert_int_equal(row.created_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(row.started_at_ms, 0);
    assert_true(row.has_task);
    assert_int_equal(row.task.status, PW_TASK_ACTIVE);
    assert_int_equal(row.task.kind, PW_TASK_RUN);
    assert_int_equal(row.task.due_at_ms, FIXTURE_NOW_MS);
    assert_false(row.task.processing);
}

TEST_OF(fixture, absent_and_empty_params_are_kept_apart)
{
    struct pw_fence absent = create_instance(fixture, "order", "absent");
    struct pw_op_create *op = add_create(fixture_unit(fixture), "order", "empty");
    op->params = text("");
    fixture_apply(fixture);
    assert_null(read_key(fixture, absent.instance).params.data);
    assert_non_null(read_key(fixture, op->fence.instance).params.data);
    assert_int_equal(read_key(fixture, op->fence.instance).params.size, 0);
}

TEST_OF(fixture, a_held_create_is_processing_at_once)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_instance row = read_key(fixture, at.instance);
    assert_int_equal(at.epoch, 1);
    assert_int_equal(row.task.epoch, 1);
    assert_true(row.task.processing);
    assert_int_equal(row.task.owner, FIXTURE_OWNER);
    assert_int_equal(row.task.locked_until_ms, FIXTURE_NOW_MS + FIXTURE_LEASE_MS);
    assert_int_equal(row.started_at_ms, FIXTURE_NOW_MS);
}

TEST_OF(fixture, an_existing_id_is_refused_or_skipped) /* B3 */
{
    struct pw_fence at = create_instance(fixture, "order", "a");
    struct pw_unit *refused = fixture_unit(fixture);
    (void)add_create(refused, "order", "a");
    struct pw_unit *skipping = fixture_unit(fixture);
    struct pw_op_create *known = add_create(skipping, "order", "a");
    struct pw_op_create *fresh = add_create(skipping, "order", "b");
    known->skip_existing = fresh->skip_existing = true;
    struct pw_unit *elsewhere = fixture_unit(fixture);
    (void)add_create(elsewhere, "refund", "a");
    fixture_apply(fixture);

    assert_int_equal(refused->status, PAWL_INSTANCE_ID_ALREADY_EXISTS);
    assert_non_null(strstr(refused->error.text, "order"));
    assert_int_equal(skipping->status, PAWL_OK);
    assert_false(known->created);
    assert_true(fresh->created);
    assert_true(fresh->fence.instance > at.instance);
    assert_int_equal(elsewhere->status, PAWL_OK);
}

/* ---- Fence --------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, a_fence_holds_only_for_its_run_and_epoch) /* S4 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
    assert_int_equal(try_fence(fixture, (struct pw_fence){ at.instance, at.run, at.epoch + 1 }), PAWL_CONFLICT);
    assert_int_equal(try_fence(fixture, (struct pw_fence){ at.instance, at.run + 1, at.epoch }), PAWL_CONFLICT);
    assert_int_equal(try_fence(fixture, (struct pw_fence){ at.instance + 1, at.run, at.epoch }), PAWL_CONFLICT);
}

TEST_OF(fixture, a_step_renews_updated_at)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, at);
    pw_unit_add(unit, PW_OP_STEP)->as.step = (struct pw_op_step){
        .instance = at.instance,
        .run = at.run,
        .is_new = true,
        .row = { .seq = 1, .name = pw_text_of("s"), .created_at_ms = 1, .updated_at_ms = FIXTURE_NOW_MS + 5 }
    };
    fixture_apply(fixture);
    assert_int_equal(read_key(fixture, at.instance).updated_at_ms, FIXTURE_NOW_MS + 5);
}

TEST_OF(fixture, a_fence_tells_of_a_pause_and_refuses_when_asked_to)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    ask_to_pause(fixture, at);
    struct pw_op_fence *telling = add_fence(fixture_unit(fixture), at);
    struct pw_unit *unit = fixture_unit(fixture);
    struct pw_op_fence *refusing = add_fence(unit, at);
    refusing->unless_pause = true;
    fixture_apply(fixture);
    assert_true(telling->pause_requested);
    assert_true(refusing->pause_requested);
    assert_int_equal(unit->refusal, PW_REFUSED_PAUSE_REQUESTED);
}

TEST_OF(fixture, a_fence_tells_of_events_and_refuses_unseen_ones_when_asked_to)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    (void)add_event(fixture_unit(fixture), at, "e1", "paid");
    struct pw_op_fence *telling = add_fence(fixture_unit(fixture), at);
    struct pw_unit *unseen = fixture_unit(fixture), *seen = fixture_unit(fixture);
    struct pw_op_fence *refusing = add_fence(unseen, at), *content = add_fence(seen, at);
    refusing->unless_new_events = content->unless_new_events = true;
    refusing->event_seq_seen = 0;
    content->event_seq_seen = 1;
    fixture_apply(fixture);
    assert_int_equal(telling->event_seq, 1);
    assert_int_equal(unseen->status, PAWL_BUSY);
    assert_int_equal(refusing->event_seq, 1);
    assert_int_equal(seen->status, PAWL_OK);
}

/* ---- Moving tasks -------------------------------------------------------------------------------------------- */

TEST_OF(fixture, parking_frees_the_task_and_raises_the_epoch) /* S4 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_op_park *op = add_park(fixture_unit(fixture), at, PW_TASK_WAITING, PW_TASK_RETRY, FIXTURE_NOW_MS + 500);
    fixture_apply(fixture);

    assert_int_equal(op->due_at_ms_set, FIXTURE_NOW_MS + 500);
    struct pw_task task = read_key(fixture, at.instance).task;
    assert_int_equal(task.status, PW_TASK_WAITING);
    assert_int_equal(task.kind, PW_TASK_RETRY);
    assert_int_equal(task.due_at_ms, FIXTURE_NOW_MS + 500);
    assert_int_equal(task.epoch, at.epoch + 1);
    assert_false(task.processing);
    assert_int_equal(task.started_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(try_fence(fixture, at), PAWL_CONFLICT);
}

TEST_OF(fixture, parking_keeps_or_sets_the_due_time_as_told)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    at = park(fixture, at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 500);
    fixture->now_ms += 100;
    at = park(fixture, at, PW_TASK_PAUSED, PW_TASK_WAKE, 0);
    assert_int_equal(read_key(fixture, at.instance).task.due_at_ms, FIXTURE_NOW_MS + 500);
    at = park(fixture, at, PW_TASK_ACTIVE, PW_TASK_RESUME, PW_NOW);
    assert_int_equal(read_key(fixture, at.instance).task.due_at_ms, FIXTURE_NOW_MS + 100);
}

TEST_OF(fixture, parking_with_unseen_events_is_due_now)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    (void)add_event(fixture_unit(fixture), at, "e1", "paid");
    struct pw_op_park *unseen =
        add_park(fixture_unit(fixture), at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 500);
    unseen->event_seq_seen = 0;
    struct pw_op_park *seen = add_park(fixture_unit(fixture), at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 500);
    seen->event_seq_seen = 1;
    struct pw_op_park *blind = add_park(fixture_unit(fixture), at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 500);
    fixture_apply(fixture);
    assert_int_equal(unseen->due_at_ms_set, FIXTURE_NOW_MS);
    assert_int_equal(seen->due_at_ms_set, FIXTURE_NOW_MS + 500);
    assert_int_equal(blind->due_at_ms_set, FIXTURE_NOW_MS + 500);
}

TEST_OF(fixture, parking_a_task_that_was_asked_to_pause_pauses_it) /* B4 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    ask_to_pause(fixture, at);
    fixture_apply_all(fixture);
    at = park(fixture, at, PW_TASK_WAITING, PW_TASK_RETRY, FIXTURE_NOW_MS + 500);
    struct pw_task task = read_key(fixture, at.instance).task;
    assert_int_equal(task.status, PW_TASK_PAUSED);
    assert_int_equal(task.kind, PW_TASK_RETRY);
    assert_int_equal(task.due_at_ms, FIXTURE_NOW_MS + 500);
    assert_false(task.pause_requested);
}

TEST_OF(fixture, a_pause_request_is_set_and_cleared_without_moving_the_task)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    ask_to_pause(fixture, at);
    fixture_apply_all(fixture);
    assert_true(read_key(fixture, at.instance).task.pause_requested);
    (void)add_control(fixture, fixture_unit(fixture), at, PAWL_CONTROL_RESUME);
    fixture_apply_all(fixture);
    assert_false(read_key(fixture, at.instance).task.pause_requested);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

TEST_OF(fixture, holding_makes_the_task_a_runners)
{
    struct pw_fence at = create_instance(fixture, "order", "a");
    at = park(fixture, at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 500);
    struct pw_op_hold *op = add_hold(fixture_unit(fixture), at);
    struct pw_op_hold *again = add_hold(fixture_unit(fixture), at);
    fixture_apply(fixture);

    assert_int_equal(op->claim.fence.instance, at.instance);
    assert_int_equal(op->claim.fence.run, 1);
    assert_int_equal(op->claim.fence.epoch, at.epoch + 1);
    assert_text(op->claim.workflow, "order");
    assert_text(op->claim.id, "a");
    assert_int_equal(op->claim.kind, PW_TASK_WAKE);
    assert_true(op->claim.is_first);
    assert_false(op->claim.taken_over);
    assert_false(again->claim.is_first);
    assert_true(again->claim.taken_over);
    struct pw_task task = read_key(fixture, at.instance).task;
    assert_true(task.processing);
    assert_int_equal(task.status, PW_TASK_ACTIVE);
    assert_int_equal(task.owner, FIXTURE_OWNER);
    assert_int_equal(task.locked_until_ms, FIXTURE_NOW_MS + FIXTURE_LEASE_MS);
    assert_int_equal(task.epoch, at.epoch + 2);
    assert_false(task.pause_requested);
}

TEST_OF(fixture, ops_on_a_finished_run_are_refused)
{
    struct pw_fence at = create_instance(fixture, "order", "a");
    (void)add_finish(fixture_unit(fixture), at, PW_OUTCOME_COMPLETE);
    fixture_apply_all(fixture);
    (void)add_park(fixture_unit(fixture), at, PW_TASK_WAITING, PW_TASK_WAKE, PW_NOW);
    (void)add_hold(fixture_unit(fixture), at);
    (void)add_event(fixture_unit(fixture), at, "e", "paid");
    ask_to_pause(fixture, at);
    fixture_apply(fixture);
    for (size_t position = 0; position + 1 < fixture->unit_count; position++)
        assert_int_equal(fixture->units[position].status, PAWL_CONFLICT);
    assert_int_equal(fixture->units[fixture->unit_count - 1].refusal, PW_REFUSED_ENDED);
}

/* ---- Ends and beginnings ------------------------------------------------------------------------------------- */

TEST_OF(fixture, finishing_moves_the_outcome_to_the_instance_and_deletes_the_task) /* B8 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    fixture->now_ms += 10;
    struct pw_op_finish *op = add_finish(fixture_unit(fixture), at, PW_OUTCOME_ERRORED);
    op->output = text("null");
    op->error_name = text("NotPaid");
    op->error_message = text("the card was declined");
    fixture_apply_all(fixture);

    struct pw_instance row = read_key(fixture, at.instance);
    assert_int_equal(row.outcome, PW_OUTCOME_ERRORED);
    assert_text(row.output, "null");
    assert_text(row.error_name, "NotPaid");
    assert_text(row.error_message, "the card was declined");
    assert_int_equal(row.started_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(row.completed_at_ms, FIXTURE_NOW_MS + 10);
    assert_int_equal(row.updated_at_ms, FIXTURE_NOW_MS + 10);
    assert_false(row.has_task);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_task"), 0);
    assert_int_equal(try_fence(fixture, at), PAWL_CONFLICT);
}

TEST_OF(fixture, restarting_begins_a_new_run_from_any_state) /* B5 */
{
    struct pw_fence open = create_held(fixture, "order", "open");
    struct pw_fence ended = create_held(fixture, "order", "ended");
    (void)add_finish(fixture_unit(fixture), ended, PW_OUTCOME_COMPLETE);
    fixture_apply_all(fixture);
    fixture->now_ms += 10;
    struct pw_op_restart *of_open = &add(fixture_unit(fixture), PW_OP_RESTART)->as.restart;
    *of_open = (struct pw_op_restart){ .instance = open.instance, .run = 1 };
    struct pw_op_restart *of_ended = &add(fixture_unit(fixture), PW_OP_RESTART)->as.restart;
    *of_ended = (struct pw_op_restart){ .instance = ended.instance, .run = 1, .hold_owner = FIXTURE_OWNER };
    of_ended->hold_lease_ms = FIXTURE_LEASE_MS;
    fixture_apply_all(fixture);

    struct pw_instance first = read_key(fixture, open.instance), second = read_key(fixture, ended.instance);
    assert_int_equal(first.run, 2);
    assert_int_equal(first.task.epoch, 0);
    assert_int_equal(first.task.due_at_ms, FIXTURE_NOW_MS + 10);
    assert_int_equal(first.started_at_ms, 0);
    assert_false(first.task.processing);
    assert_int_equal(first.created_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(second.run, 2);
    assert_int_equal(second.outcome, PW_OUTCOME_OPEN);
    assert_int_equal(second.completed_at_ms, 0);
    assert_int_equal(second.task.epoch, 1);
    assert_true(second.task.processing);
    assert_int_equal(try_fence(fixture, open), PAWL_CONFLICT);
    assert_int_equal(try_fence(fixture, (struct pw_fence){ ended.instance, 2, 1 }), PAWL_OK);
}

TEST_OF(fixture, restarting_another_run_than_the_current_is_refused)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    add(unit, PW_OP_RESTART)->as.restart = (struct pw_op_restart){ .instance = at.instance, .run = 2 };
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_CONFLICT);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}
