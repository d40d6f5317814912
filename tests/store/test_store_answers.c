/* test_store_answers.c - answers, which a run is told by those that it waits for, and the steps that a new run keeps of the
 * old.  On all stores.  See also test_store_links.c. */
#include "kit/store_fixture.h"
#include "same_rows.h"

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static struct pw_op_event *add_answer(struct pw_unit *unit, int64_t instance, const char *id)
{
    struct pw_op_event *op = &add(unit, PW_OP_EVENT)->as.event;
    op->instance = instance;
    op->run = -5; /* is not looked at */
    op->id = op->type = text(id);
    op->is_answer = true;
    return op;
}

/* One that must be applied.  What it says. */
static struct pw_op_event answer(struct fixture *fixture, int64_t instance, const char *id)
{
    struct pw_op_event *op = add_answer(fixture_unit(fixture), instance, id);
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    assert_int_equal(op->instance, instance);
    struct pw_op_event told = *op;
    fixture_clear_units(fixture);
    return told;
}

static size_t event_count(struct fixture *fixture, struct pw_fence at)
{
    struct pw_event_row *rows = NULL;
    size_t count = 0;
    assert_int_equal(
        pw_read_new_events(fixture->store, &fixture->arena, at.instance, at.run, 0, &rows, &count, &fixture->error),
        PAWL_OK);
    return count;
}

TEST_OF(fixture, an_answer_wakes_a_run_that_waits) /* G1, A14 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    (void)add_event(fixture_unit(fixture), at, "e", "paid");
    fixture_apply_all(fixture);
    at = park(fixture, at, PW_TASK_WAITING, PW_TASK_RETRY, FIXTURE_NOW_MS + 5000);
    fixture->now_ms += 9;
    struct pw_op_event *op = add_answer(fixture_unit(fixture), at.instance, "$@mail/1");
    op->payload = text("[7]");
    op->is_failure = true;
    fixture_apply(fixture);
    assert_true(op->recorded);
    assert_true(op->woke);
    assert_int_equal(op->seq, 2);
    assert_int_equal(op->told.run, 1);
    fixture_clear_units(fixture);

    struct pw_instance row = read_key(fixture, at.instance);
    assert_int_equal(row.task.status, PW_TASK_ACTIVE);
    assert_int_equal(row.task.kind, PW_TASK_WAKE);
    assert_int_equal(row.task.due_at_ms, fixture->now_ms);
    assert_false(row.task.processing);
    assert_int_equal(row.task.epoch, at.epoch + 1);
    assert_int_equal(row.task.event_seq, 2);
    assert_int_equal(row.updated_at_ms, fixture->now_ms);
    struct pw_event_row *rows = NULL;
    size_t count = 0;
    assert_int_equal(
        pw_read_new_events(fixture->store, &fixture->arena, at.instance, 1, 1, &rows, &count, &fixture->error),
        PAWL_OK);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].seq, 2);
    assert_text(rows[0].id, "$@mail/1");
    assert_text(rows[0].type, "$@mail/1");
    assert_text(rows[0].payload, "[7]");
    assert_true(rows[0].is_failure);
    assert_int_equal(rows[0].created_at_ms, fixture->now_ms);
}

TEST_OF(fixture, an_answer_to_a_run_that_does_not_wait_is_kept_for_it) /* G1 */
{
    struct pw_fence due = create_instance(fixture, "order", "due"), held = create_held(fixture, "order", "held");
    struct pw_fence paused = park(fixture, create_held(fixture, "order", "paused"), PW_TASK_PAUSED, PW_TASK_WAKE, 0);
    const struct pw_fence all[] = { due, held, paused };
    fixture->now_ms += 9;
    for (size_t i = 0; i < 3; i++) {
        struct pw_task before = read_key(fixture, all[i].instance).task;
        struct pw_op_event told = answer(fixture, all[i].instance, "$x");
        assert_true(told.recorded);
        assert_false(told.woke);
        assert_int_equal(told.task.status == PW_TASK_PAUSED, i == 2);
        assert_int_equal(told.seq, 1);
        struct pw_task after = read_key(fixture, all[i].instance).task;
        assert_int_equal(after.status, before.status);
        assert_int_equal(after.kind, before.kind);
        assert_int_equal(after.due_at_ms, before.due_at_ms);
        assert_int_equal(after.processing, before.processing);
        assert_int_equal(after.locked_until_ms, before.locked_until_ms);
        assert_int_equal(after.event_seq, 1);
        assert_int_equal(try_fence(fixture, all[i]), PAWL_OK);
        assert_int_equal(event_count(fixture, all[i]), 1);
    }
    struct pw_op_park *parking = add_park(fixture_unit(fixture), held, PW_TASK_WAITING, PW_TASK_WAKE,
                                          fixture->now_ms + 5000); /* by a turn that has not seen it */
    parking->event_seq_seen = 0;
    fixture_apply(fixture);
    assert_int_equal(parking->due_at_ms_set, fixture->now_ms);
}

TEST_OF(fixture, an_answer_to_a_held_run_says_that_it_is_asked_to_pause)
{
    struct pw_fence held = create_held(fixture, "order", "held");
    ask_to_pause(fixture, held);
    fixture_apply_all(fixture);
    assert_true(answer(fixture, held.instance, "$x").task.pause_requested);
}

TEST_OF(fixture, an_answer_goes_to_the_run_that_the_instance_is_in_by_now)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(answer(fixture, at.instance, "$x").told.run, 1);
    add(fixture_unit(fixture), PW_OP_RESTART)->as.restart = (struct pw_op_restart){ .instance = at.instance, .run = 1 };
    fixture_apply_all(fixture);
    struct pw_op_event told = answer(fixture, at.instance, "$x"); /* the other run has it, which is not this one's */
    assert_true(told.recorded);
    assert_int_equal(told.told.run, 2);
    assert_int_equal(told.seq, 1);
    assert_int_equal(event_count(fixture, at), 1);
    at.run = 2;
    assert_int_equal(event_count(fixture, at), 1);
}

TEST_OF(fixture, an_answer_to_nobody_or_to_a_run_that_has_ended_does_nothing)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_false(answer(fixture, at.instance + 1000, "$x").recorded);
    (void)add_finish(fixture_unit(fixture), at, PW_OUTCOME_COMPLETE);
    fixture_apply_all(fixture);
    fixture->now_ms++;
    struct pw_op_event told = answer(fixture, at.instance, "$x");
    assert_false(told.recorded);
    assert_false(told.woke);
    assert_int_equal(event_count(fixture, at), 0);
    assert_int_equal(read_key(fixture, at.instance).updated_at_ms, FIXTURE_NOW_MS);
}

TEST_OF(fixture, the_end_of_a_job_and_its_answer_are_one) /* S1, S2 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_fence job = create_linked(fixture, at, "@mail", PW_RELATION_JOB).at;
    at = park(fixture, at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 5000);
    struct pw_fence lost = { job.instance, job.run, job.epoch + 1 };
    const struct pw_fence fences[] = { lost, job, job };
    struct pw_op_event *told[3];
    for (size_t i = 0; i < 3; i++) {
        struct pw_unit *unit = fixture_unit(fixture);
        told[i] = add_answer(unit, at.instance, "$x");
        (void)add_fence(unit, fences[i]);
        (void)add_finish(unit, job, PW_OUTCOME_COMPLETE);
    }
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_CONFLICT);
    assert_int_equal(fixture->units[1].status, PAWL_OK);
    assert_int_equal(fixture->units[2].status, PAWL_CONFLICT);
    assert_int_equal(told[1]->seq, 1);
    fixture_clear_units(fixture);
    assert_int_equal(event_count(fixture, at), 1);
    assert_int_equal(read_key(fixture, at.instance).task.epoch, at.epoch + 1);
}

TEST_OF(fixture, an_event_that_is_no_answer_wakes_nobody)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    at = park(fixture, at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 5000);
    struct pw_op_event *op = add_event(fixture_unit(fixture), at, "e", "paid");
    fixture_apply(fixture);
    assert_true(op->recorded);
    assert_false(op->woke);
    fixture_clear_units(fixture);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

TEST_OF(fixture, hooks_are_told_of_the_run_that_an_answer_woke_and_of_no_other)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    static const char *const ids[] = { "held", "woken", "not waiting" };
    at = park(fixture, at, PW_TASK_ACTIVE, PW_TASK_WAKE, PW_NOW);
    for (size_t i = 0; i < 3; i++) {
        struct pw_unit *unit = fixture_unit(fixture);
        (void)add_answer(unit, at.instance, ids[i]);
        tell_hook(unit, ids[i], "mail");
        fixture_apply_all(fixture);
        at = i == 0 ? park(fixture, at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 5000) : at;
    }
    struct pw_hook_query query = { .max = 10 };
    struct pw_hook_row *rows = NULL;
    size_t count = 0;
    assert_int_equal(pw_list_hooks(fixture->store, &fixture->arena, &query, &rows, &count, &fixture->error), PAWL_OK);
    assert_int_equal(count, 1);
    assert_text(rows[0].id, "woken");
    assert_text(rows[0].instance_id, "a");
    assert_int_equal(rows[0].reason, PW_REASON_EVENT);
    assert_int_equal(rows[0].due_at_ms, 0);
    assert_int_equal(rows[0].run, 1);
}

TEST_OF(fixture, a_run_that_an_answer_wakes_is_taken_by_who_offers_to_carry_on_its_workflow)
{
    const struct pw_text names[] = { text("other"), text("order") };
    struct pw_fence at = create_held(fixture, "order", "a");
    at = park(fixture, at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 5000);
    for (size_t count = 1; count <= 2; count++) {
        struct pw_op_event *op = add_answer(fixture_unit(fixture), at.instance, count == 1 ? "$x" : "$y");
        op->offer = (struct pw_offer){ FIXTURE_OWNER, FIXTURE_LEASE_MS, names, count };
        fixture_apply(fixture);
        assert_true(op->woke);
        assert_int_equal(op->is_held, count == 2);
        if (count == 1) {
            assert_int_equal(op->task.owner, 0);
            at.epoch = op->told.epoch;
            fixture_clear_units(fixture);
            at = park(fixture, at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 5000);
            continue;
        }
        assert_int_equal(op->task.owner, FIXTURE_OWNER);
        assert_int_equal(op->claim.fence.epoch, op->told.epoch);
        assert_text(op->claim.workflow, "order");
        assert_text(op->claim.id, "a");
        assert_int_equal(op->claim.created_at_ms, FIXTURE_NOW_MS);
        assert_int_equal(op->claim.event_seq, 2);
        assert_int_equal(try_fence(fixture, op->claim.fence), PAWL_OK);
    }
}

/* ---- Events that name their instance ----------------------------------------------------------------------------------- */

static struct pw_op_event *add_send(struct pw_unit *unit, const char *to, const char *id, const char *type)
{
    struct pw_op_event *op = &add(unit, PW_OP_EVENT)->as.event;
    *op = (struct pw_op_event){ .workflow = text("order"), .to = text(to), .id = text(id), .type = text(type) };
    return op;
}

static void add_wait(struct pw_unit *unit, struct pw_fence at, const char *type, int64_t until_ms)
{
    struct pw_step_row *row = add_step(unit, at, 1, "wait");
    row->kind = PAWL_STEP_EVENT;
    row->status = PAWL_STEP_WAITING;
    row->wait_event_type = text(type);
    row->wake_at_ms = until_ms;
    (void)add_park(unit, at, PW_TASK_WAITING, PW_TASK_WAKE, until_ms);
}

/* A run of order/a that waits for "paid" for 5 s. */
static struct pw_fence create_waiting(struct fixture *fixture)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    add_wait(fixture_unit(fixture), at, "paid", FIXTURE_NOW_MS + 5000);
    fixture_apply_all(fixture);
    at.epoch++;
    return at;
}

TEST_OF(fixture, an_event_wakes_the_run_that_waits_for_its_type_until_the_wait_is_over) /* A9, B7 */
{
    struct pw_fence at = create_waiting(fixture);
    struct pw_op_event *other = add_send(fixture_unit(fixture), "a", "e1", "other");
    fixture_apply(fixture);
    assert_true(other->recorded);
    assert_false(other->woke);
    assert_int_equal(other->seq, 1);
    assert_int_equal(other->task.status, PW_TASK_WAITING);
    fixture_clear_units(fixture);
    fixture->now_ms = FIXTURE_NOW_MS + 5000; /* too late */
    struct pw_op_event *late = add_send(fixture_unit(fixture), "a", "e2", "paid");
    fixture_apply(fixture);
    assert_true(late->recorded);
    assert_false(late->woke);
    fixture_clear_units(fixture);
    fixture->now_ms--;
    struct pw_op_event *paid = add_send(fixture_unit(fixture), "a", "e3", "paid");
    fixture_apply(fixture);
    assert_true(paid->woke);
    assert_int_equal(paid->told.instance, at.instance);
    assert_int_equal(paid->told.run, 1);
    assert_int_equal(paid->told.epoch, at.epoch + 1);
    assert_int_equal(paid->task.status, PW_TASK_ACTIVE);
    fixture_clear_units(fixture);
    struct pw_task task = read_key(fixture, at.instance).task;
    assert_int_equal(task.kind, PW_TASK_WAKE);
    assert_int_equal(task.due_at_ms, fixture->now_ms);
    assert_int_equal(task.event_seq, 3);
}

TEST_OF(fixture, a_run_that_an_event_wakes_is_taken_by_who_offers_to)
{
    (void)create_waiting(fixture);
    struct pw_op_event *op = add_send(fixture_unit(fixture), "a", "e", "paid");
    op->offer = (struct pw_offer){ .owner = FIXTURE_OWNER, .lease_ms = FIXTURE_LEASE_MS };
    fixture_apply(fixture);
    assert_true(op->woke && op->is_held);
    assert_int_equal(op->claim.fence.epoch, op->told.epoch);
    assert_text(op->claim.workflow, "order");
    assert_text(op->claim.id, "a");
    assert_int_equal(op->claim.event_seq, 1);
    assert_int_equal(op->task.owner, FIXTURE_OWNER);
}

TEST_OF(fixture, an_event_in_the_batch_of_the_park_that_waits_for_it_wakes_the_run)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    add_wait(fixture_unit(fixture), at, "paid", FIXTURE_NOW_MS + 5000);
    struct pw_op_event *first = add_send(fixture_unit(fixture), "a", "e1", "paid");
    struct pw_op_event *second = add_send(fixture_unit(fixture), "a", "e2", "paid");
    fixture_apply(fixture);
    assert_true(first->woke);
    assert_false(second->woke); /* it is due already */
    assert_int_equal(second->seq, 2);
}

TEST_OF(fixture, an_event_to_one_that_was_made_in_the_same_batch_arrives)
{
    (void)add_create(fixture_unit(fixture), "order", "new");
    struct pw_op_event *op = add_send(fixture_unit(fixture), "new", "e", "paid");
    fixture_apply(fixture);
    assert_true(op->recorded);
}

TEST_OF(fixture, an_event_to_nobody_or_to_one_that_has_ended_is_refused) /* B6, B7 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    (void)add_send(fixture_unit(fixture), "a", "known", "paid");
    (void)add_finish(fixture_unit(fixture), at, PW_OUTCOME_ERRORED);
    fixture_apply_all(fixture);
    static const char *const to[] = { "nobody", "a", "a" }, *const ids[] = { "e", "e", "known" };
    static const enum pw_refusal refusals[] = { PW_REFUSED_NO_INSTANCE, PW_REFUSED_ENDED, PW_REFUSED_EVENT_EXISTS };
    for (size_t i = 0; i < 3; i++) {
        struct pw_unit *unit = fixture_unit(fixture);
        struct pw_op_event *op = add_send(unit, to[i], ids[i], "paid");
        fixture_apply(fixture);
        assert_false(op->recorded);
        assert_int_equal(unit->refusal, refusals[i]);
        assert_true(i != 1 || strstr(unit->error.text, "it is errored") != NULL);
        fixture_clear_units(fixture);
    }
    assert_int_equal(event_count(fixture, at), 1);
}

/* ---- Steps that are kept --------------------------------------------------------------------------------------------- */

static const struct pw_step_row full_step = {
    .seq = 2,
    .name = { "charge", 6 },
    .description = { "takes the money", 15 },
    .kind = PAWL_STEP_CALL,
    .status = PAWL_STEP_ERRORED,
    .attempts = 2,
    .attempts_max = 6,
    .timeout_ms = 600000,
    .next_retry_at_ms = 11,
    .wake_at_ms = 12,
    .event_at_ms = 13,
    .wait_event_type = { "$@mail/1", 8 },
    .result = { "7", 1 },
    .error_name = { "Declined", 8 },
    .error_message = { "no", 2 },
    .created_at_ms = 14,
    .updated_at_ms = 15,
};

static struct pw_step_row *steps_of(struct fixture *fixture, struct pw_fence at, size_t *out_count)
{
    struct pw_history_query query = { .instance = at.instance, .run = at.run, .max = 100 };
    struct pw_step_row *rows = NULL;
    assert_int_equal(pw_read_steps(fixture->store, &fixture->arena, &query, &rows, out_count, &fixture->error),
                     PAWL_OK);
    return rows;
}

/* A run with steps 1 to 5, of which the second is `full_step` and the fourth waits; and an event. */
static struct pw_fence create_with_steps(struct fixture *fixture, const char *id)
{
    struct pw_fence at = create_held(fixture, "order", id);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_step(unit, at, 1, "first");
    *add_step(unit, at, 2, "") = full_step;
    (void)add_step(unit, at, 3, "third");
    add_step(unit, at, 4, "fourth")->status = PAWL_STEP_WAITING;
    (void)add_step(unit, at, 5, "fifth");
    (void)add_event(unit, at, "e", "paid");
    fixture_apply_all(fixture);
    return at;
}

/* The numbers of the steps that the next run begins with. */
static const char *kept(struct fixture *fixture, struct pw_fence *at, int64_t before_seq, int64_t except_seq)
{
    static char numbers[64];
    size_t count = 0, used = 0;
    struct pw_op_restart *op = &add(fixture_unit(fixture), PW_OP_RESTART)->as.restart;
    *op = (struct pw_op_restart){ .instance = at->instance, .run = at->run, .keep_before_seq = before_seq };
    op->keep_except_seq = except_seq;
    fixture_apply_all(fixture);
    at->run++;
    const struct pw_step_row *rows = steps_of(fixture, *at, &count);
    numbers[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(numbers + used, sizeof numbers - used, "%lld ", (long long)rows[i].seq);
    return numbers;
}

TEST_OF(fixture, a_new_run_keeps_the_finished_steps_that_it_is_told_to) /* F2 */
{
    struct pw_fence a = create_with_steps(fixture, "a"), b = create_with_steps(fixture, "b");
    assert_string_equal(kept(fixture, &a, 4, 0), "1 2 3 ");
    assert_string_equal(kept(fixture, &a, 3, 1), "2 "); /* of the run before */
    assert_string_equal(kept(fixture, &a, 1, 0), "");
    assert_string_equal(kept(fixture, &b, INT64_MAX, 3), "1 2 5 "); /* the fourth has not finished */
    assert_string_equal(kept(fixture, &b, 0, 0), "");
}

/* The fifth was put right by hand, by its status alone. */
TEST_OF(fixture, a_new_run_may_leave_out_what_was_dropped) /* F2 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_step(unit, at, 1, "done");
    pw_step_row_set(add_step(unit, at, 2, "failed"), PAWL_STATE_FAILED);
    pw_step_row_set(add_step(unit, at, 3, "lost"), PAWL_STATE_ABANDONED);
    pw_step_row_set(add_step(unit, at, 4, "given up"), PAWL_STATE_GIVEN_UP);
    struct pw_step_row *mended = add_step(unit, at, 5, "mended");
    pw_step_row_set(mended, PAWL_STATE_ABANDONED);
    mended->status = PAWL_STEP_COMPLETED;
    fixture_apply_all(fixture);
    add(fixture_unit(fixture), PW_OP_RESTART)->as.restart = (struct pw_op_restart){
        .instance = at.instance, .run = at.run, .keep_before_seq = 9, .keep_except_dropped = true
    };
    fixture_apply_all(fixture);

    size_t count = 0;
    at.run++;
    const struct pw_step_row *rows = steps_of(fixture, at, &count);
    assert_int_equal(count, 3);
    assert_text(rows[0].name, "done");
    assert_text(rows[1].name, "failed");
    assert_text(rows[2].name, "mended");
}

TEST_OF(fixture, kept_steps_are_as_they_were_and_the_old_run_has_its_own) /* F2 */
{
    struct pw_fence at = create_with_steps(fixture, "a"), old = at;
    size_t count = 0, old_count = 0;
    fixture->now_ms += 1000;
    assert_string_equal(kept(fixture, &at, INT64_MAX, 0), "1 2 3 5 ");
    const struct pw_step_row *rows = steps_of(fixture, at, &count), *old_rows = steps_of(fixture, old, &old_count);
    assert_int_equal(old_count, 5);
    assert_same_step_row(&rows[1], &full_step);
    assert_same_step_row(&old_rows[1], &full_step);
    assert_same_step_row(&rows[3], &old_rows[4]);
    assert_int_equal(event_count(fixture, at), 0); /* events are not kept */
    assert_int_equal(event_count(fixture, old), 1);
    struct pw_unit *unit = fixture_unit(fixture); /* from then on they are two */
    (void)add_step(unit, at, 4, "fourth");
    struct pw_step_row *changed = add_step(unit, at, 2, "charge");
    unit->last->as.step.is_new = false;
    changed->description = text("took the money");
    fixture_apply_all(fixture);
    rows = steps_of(fixture, at, &count);
    assert_int_equal(count, 5);
    assert_text(rows[1].description, "took the money");
    assert_int_equal(rows[1].kind, PAWL_STEP_CALL);
    old_rows = steps_of(fixture, old, &old_count);
    assert_same_step_row(&old_rows[1], &full_step);
    assert_int_equal(old_rows[3].status, PAWL_STEP_WAITING);
}

TEST_OF(fixture, a_restart_that_is_refused_keeps_nothing)
{
    struct pw_fence at = create_with_steps(fixture, "a");
    struct pw_unit *unit = fixture_unit(fixture);
    size_t count = 9;
    add(unit, PW_OP_RESTART)->as.restart =
        (struct pw_op_restart){ .instance = at.instance, .run = 2, .keep_before_seq = INT64_MAX };
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_CONFLICT);
    fixture_clear_units(fixture);
    (void)steps_of(fixture, (struct pw_fence){ at.instance, 2, 0 }, &count);
    assert_int_equal(count, 0);
    (void)steps_of(fixture, (struct pw_fence){ at.instance, 3, 0 }, &count);
    assert_int_equal(count, 0);
}

static void add_restart_from(struct pw_unit *unit, struct pw_fence at, int64_t keep_before_seq)
{
    add(unit, PW_OP_RESTART)->as.restart =
        (struct pw_op_restart){ .instance = at.instance, .run = at.run, .keep_before_seq = keep_before_seq };
}

/* The steps of the old run are in the same batch. */
TEST_IN(on_engines, fixture, steps_that_are_kept_are_there_for_the_rest_of_the_batch) /* S2 */
{
    struct pw_fence at = create_held(fixture, "order", "a"), next = { at.instance, at.run + 1, 0 };
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_step(unit, at, 1, "one");
    (void)add_step(unit, at, 2, "two");
    add_restart_from(unit, at, 2);
    struct pw_op_step *update = &add(fixture_unit(fixture), PW_OP_STEP)->as.step;
    update->instance = next.instance;
    update->run = next.run;
    update->row = (struct pw_step_row){ .seq = 1, .attempts = 7, .status = PAWL_STEP_ERRORED };
    (void)add_step(fixture_unit(fixture), next, 2, "another two");
    (void)add_step(fixture_unit(fixture), at, 3, "three"); /* of the old run, and too late to be kept */
    fixture_apply_all(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step WHERE run = 2 AND seq = 1"
                                           " AND name = 'one' AND attempts = 7 AND status = 2"),
                     1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step WHERE run = 2"), 2);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step WHERE run = 1"), 3);
}

TEST_IN(on_engines, fixture, a_refused_restart_keeps_no_steps) /* S1 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    (void)add_step(fixture_unit(fixture), at, 1, "one");
    fixture_apply_all(fixture);
    struct pw_unit *refused = fixture_unit(fixture);
    add_restart_from(refused, at, 9);
    (void)add_fence(refused, at); /* which it has moved itself */
    add_restart_from(fixture_unit(fixture), at, 0);
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_CONFLICT);
    assert_int_equal(fixture->units[1].status, PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step WHERE run = 2"), 0);
}

TEST_OF(fixture, steps_of_every_kind_are_read_as_they_were_written)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    size_t count = 0;
    for (int kind = PAWL_STEP_DO; kind <= PAWL_STEP_DEFERRED; kind++)
        add_step(unit, at, 1 + kind, "step")->kind = (enum pawl_step_kind)kind;
    fixture_apply_all(fixture);
    const struct pw_step_row *rows = steps_of(fixture, at, &count);
    assert_int_equal(count, 7);
    for (int kind = PAWL_STEP_DO; kind <= PAWL_STEP_DEFERRED; kind++) {
        assert_int_equal(rows[kind].kind, kind);
        assert_null(rows[kind].description.data);
    }
}
