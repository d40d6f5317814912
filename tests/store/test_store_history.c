/* test_store_history.c - steps, events, log lines, and every way to read, on all stores. */
#include "kit/store_fixture.h"

#include <limits.h>

static struct pw_step_row *read_steps(struct fixture *fixture, struct pw_history_query query, size_t *out_count)
{
    struct pw_step_row *rows = NULL;
    assert_int_equal(pw_read_steps(fixture->store, &fixture->arena, &query, &rows, out_count, &fixture->error),
                     PAWL_OK);
    return rows;
}

static struct pw_event_row *read_events(struct fixture *fixture, struct pw_history_query query, size_t *out_count)
{
    struct pw_event_row *rows = NULL;
    assert_int_equal(pw_read_events(fixture->store, &fixture->arena, &query, &rows, out_count, &fixture->error),
                     PAWL_OK);
    return rows;
}

static struct pw_log_row *read_logs(struct fixture *fixture, struct pw_history_query query, size_t *out_count)
{
    struct pw_log_row *rows = NULL;
    assert_int_equal(pw_read_logs(fixture->store, &fixture->arena, &query, &rows, out_count, &fixture->error), PAWL_OK);
    return rows;
}

static struct pw_history_query query_of(struct pw_fence at)
{
    return (struct pw_history_query){ .instance = at.instance, .run = at.run, .max = 100 };
}

/* ---- Steps --------------------------------------------------------------------------------------------------- */

static const struct pw_step_row full_step = {
    .seq = 1,
    .name = { "charge", 6 },
    .kind = PAWL_STEP_EVENT,
    .status = PAWL_STEP_WAITING,
    .attempts = 2,
    .attempts_max = 6,
    .timeout_ms = 600000,
    .next_retry_at_ms = 11,
    .wake_at_ms = 12,
    .event_at_ms = 13,
    .wait_event_type = { "paid", 4 },
    .result = { "{\"a\":\"\\u0000\"}", 14 },
    .error_name = { "Declined", 8 },
    .error_message = { "no", 2 },
    .created_at_ms = 14,
    .updated_at_ms = 15,
};

static void assert_same_step(const struct pw_step_row *actual, const struct pw_step_row *expected)
{
    assert_int_equal(actual->seq, expected->seq);
    assert_true(pw_text_equal(actual->name, expected->name));
    assert_int_equal(actual->kind, expected->kind);
    assert_int_equal(actual->status, expected->status);
    assert_int_equal(actual->attempts, expected->attempts);
    assert_int_equal(actual->attempts_max, expected->attempts_max);
    assert_int_equal(actual->timeout_ms, expected->timeout_ms);
    assert_int_equal(actual->next_retry_at_ms, expected->next_retry_at_ms);
    assert_int_equal(actual->wake_at_ms, expected->wake_at_ms);
    assert_int_equal(actual->event_at_ms, expected->event_at_ms);
    assert_true(pw_text_equal(actual->wait_event_type, expected->wait_event_type));
    assert_true(pw_text_equal(actual->result, expected->result));
    assert_true(pw_text_equal(actual->error_name, expected->error_name));
    assert_true(pw_text_equal(actual->error_message, expected->error_message));
    assert_int_equal(actual->created_at_ms, expected->created_at_ms);
    assert_int_equal(actual->updated_at_ms, expected->updated_at_ms);
}

TEST_OF(fixture, a_step_is_read_as_it_was_written)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    *add_step(fixture_unit(fixture), at, 1, "") = full_step;
    fixture_apply_all(fixture);
    size_t count = 0;
    struct pw_step_row *rows = read_steps(fixture, query_of(at), &count);
    assert_int_equal(count, 1);
    assert_same_step(&rows[0], &full_step);
}

TEST_OF(fixture, a_step_without_times_carries_the_transactions) /* S5 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    (void)add_step(fixture_unit(fixture), at, 1, "plain");
    fixture_apply_all(fixture);
    size_t count = 0;
    struct pw_step_row *rows = read_steps(fixture, query_of(at), &count);
    assert_int_equal(rows[0].created_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(rows[0].updated_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(rows[0].wake_at_ms, 0);
    assert_null(rows[0].result.data);
    assert_null(rows[0].error_name.data);
}

TEST_OF(fixture, updating_a_step_keeps_its_name_kind_and_creation)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    *add_step(fixture_unit(fixture), at, 1, "") = full_step;
    fixture_apply_all(fixture);
    struct pw_step_row *changed = add_step(fixture_unit(fixture), at, 1, "another");
    fixture->units[0].first->as.step.is_new = false;
    changed->kind = PAWL_STEP_SLEEP;
    changed->created_at_ms = 99;
    changed->updated_at_ms = 100;
    changed->result = text("7");
    fixture_apply(fixture);

    struct pw_step_row expected = { .seq = 1,
                                    .name = full_step.name,
                                    .kind = full_step.kind,
                                    .status = PAWL_STEP_COMPLETED,
                                    .result = text("7"),
                                    .created_at_ms = full_step.created_at_ms,
                                    .updated_at_ms = 100 };
    size_t count = 0;
    struct pw_step_row *rows = read_steps(fixture, query_of(at), &count);
    assert_int_equal(count, 1);
    assert_same_step(&rows[0], &expected);
}

TEST_OF(fixture, updating_a_step_that_is_not_there_is_refused)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_step(unit, at, 1, "none");
    unit->first->as.step.is_new = false;
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_CONFLICT);
}

TEST_OF(fixture, steps_are_paged_in_both_directions_and_by_run)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_fence other = create_held(fixture, "order", "b");
    struct pw_unit *unit = fixture_unit(fixture);
    for (int64_t seq = 1; seq <= 20; seq++) {
        (void)add_step(unit, at, seq, "step");
        (void)add_step(unit, other, seq, "step");
    }
    (void)add_step(unit, (struct pw_fence){ at.instance, 2, 0 }, 1, "second run");
    fixture_apply_all(fixture);

    struct pw_history_query query = query_of(at);
    size_t count = 0;
    struct pw_step_row *rows = read_steps(fixture, query, &count);
    assert_int_equal(count, 20);
    for (size_t position = 0; position < count; position++)
        assert_int_equal(rows[position].seq, position + 1);
    query.max = 3;
    query.after_seq = 4;
    rows = read_steps(fixture, query, &count);
    assert_int_equal(count, 3);
    assert_int_equal(rows[0].seq, 5);
    query.newest_first = true;
    rows = read_steps(fixture, query, &count);
    assert_int_equal(count, 3);
    assert_int_equal(rows[0].seq, 3);
    query.after_seq = 0;
    rows = read_steps(fixture, query, &count);
    assert_int_equal(rows[0].seq, 20);
    query = (struct pw_history_query){ .instance = at.instance, .run = 2, .max = SIZE_MAX };
    rows = read_steps(fixture, query, &count);
    assert_int_equal(count, 1);
    assert_text(rows[0].name, "second run");
}

TEST_OF(fixture, waiting_steps_are_read_in_order_and_alone)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    add_step(unit, at, 3, "later")->status = PAWL_STEP_WAITING;
    add_step(unit, at, 1, "sooner")->status = PAWL_STEP_WAITING;
    (void)add_step(unit, at, 2, "done");
    add_step(unit, (struct pw_fence){ at.instance, 2, 0 }, 1, "next run")->status = PAWL_STEP_WAITING;
    fixture_apply_all(fixture);

    struct pw_step_row *rows = NULL;
    size_t count = 0;
    struct pw_history_query query = { .instance = at.instance, .run = at.run, .max = SIZE_MAX };
    assert_int_equal(pw_read_waiting_steps(fixture->store, &fixture->arena, &query, &rows, &count, &fixture->error),
                     PAWL_OK);
    assert_int_equal(count, 2);
    assert_text(rows[0].name, "sooner");
    assert_text(rows[1].name, "later");
    query.newest_first = true;
    query.max = 1;
    assert_int_equal(pw_read_waiting_steps(fixture->store, &fixture->arena, &query, &rows, &count, &fixture->error),
                     PAWL_OK);
    assert_int_equal(count, 1);
    assert_text(rows[0].name, "later");
    const struct pw_read asked = { .kind = PW_READ_WAITING_COUNT, .run = { .instance = at.instance, .run = at.run } };
    struct pw_found found;
    assert_int_equal(pw_read(fixture->store, &asked, &fixture->arena, &found, &fixture->error), PAWL_OK);
    assert_int_equal(found.total, 2);
}

/* ---- Events -------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, events_are_numbered_within_the_run_and_kept_as_sent) /* A9, B7 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    struct pw_op_event *first = add_event(unit, at, "e1", "paid");
    first->payload = text("{\"by\":\"card\"}");
    struct pw_op_event *second = add_event(unit, at, "e2", "shipped");
    fixture_apply(fixture);
    assert_int_equal(first->seq, 1);
    assert_int_equal(second->seq, 2);

    size_t count = 0;
    struct pw_event_row *rows = read_events(fixture, query_of(at), &count);
    assert_int_equal(count, 2);
    assert_text(rows[0].id, "e1");
    assert_text(rows[0].type, "paid");
    assert_text(rows[0].payload, "{\"by\":\"card\"}");
    assert_int_equal(rows[0].created_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(rows[0].delivered_at_ms, 0);
    assert_null(rows[0].consumed_by.data);
    assert_null(rows[1].payload.data);
    assert_int_equal(read_key(fixture, at.instance).task.event_seq, 2);
}

TEST_OF(fixture, an_event_with_a_known_id_changes_nothing) /* B7 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_fence other = create_held(fixture, "order", "b");
    struct pw_op_event *first = add_event(fixture_unit(fixture), at, "e1", "paid");
    struct pw_op_event *again = add_event(fixture_unit(fixture), at, "e1", "paid");
    struct pw_op_event *elsewhere = add_event(fixture_unit(fixture), other, "e1", "paid");
    struct pw_op_event *next = add_event(fixture_unit(fixture), at, "e2", "paid");
    fixture_apply(fixture);
    assert_int_equal(first->seq, 1);
    assert_int_equal(again->seq, 2); /* it would have been */
    assert_int_equal(fixture->units[1].status, PAWL_INSTANCE_ID_ALREADY_EXISTS);
    assert_int_equal(elsewhere->seq, 1);
    assert_int_equal(next->seq, 2);
    size_t count = 0;
    (void)read_events(fixture, query_of(at), &count);
    assert_int_equal(count, 2);
}

TEST_OF(fixture, an_event_to_another_run_than_the_current_is_refused) /* B5 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_event(unit, (struct pw_fence){ at.instance, 2, 0 }, "e1", "paid");
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_CONFLICT);
}

TEST_OF(fixture, consumed_events_are_no_longer_new)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_event(unit, at, "e1", "paid");
    (void)add_event(unit, at, "e2", "paid");
    (void)add_event(unit, at, "e3", "paid");
    struct pw_op_consume *consume = &add(unit, PW_OP_CONSUME)->as.consume;
    *consume = (struct pw_op_consume){ at.instance, at.run, 2, text("wait"), FIXTURE_NOW_MS + 3 };
    fixture_apply_all(fixture);

    struct pw_event_row *rows = NULL;
    size_t count = 0;
    assert_int_equal(
        pw_read_new_events(fixture->store, &fixture->arena, at.instance, at.run, 0, &rows, &count, &fixture->error),
        PAWL_OK);
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].seq, 1);
    assert_int_equal(rows[1].seq, 3);
    assert_int_equal(
        pw_read_new_events(fixture->store, &fixture->arena, at.instance, at.run, 1, &rows, &count, &fixture->error),
        PAWL_OK);
    assert_int_equal(count, 1);
    struct pw_history_query query = query_of(at);
    query.newest_first = true;
    rows = read_events(fixture, query, &count);
    assert_int_equal(rows[1].delivered_at_ms, FIXTURE_NOW_MS + 3);
    assert_text(rows[1].consumed_by, "wait");
}

TEST_OF(fixture, an_event_is_found_by_its_id_in_its_own_run)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_fence other = create_held(fixture, "order", "b");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_event(unit, at, "e1", "paid");
    (void)add_event(unit, at, "e2", "sent");
    (void)add_event(fixture_unit(fixture), other, "e3", "paid");
    fixture_apply_all(fixture);

    static const struct {
        const char *id;
        int64_t run, seq; /* seq 0: not found */
    } cases[] = { { "e2", 1, 2 }, { "e1", 1, 1 }, { "e3", 1, 0 }, { "e", 1, 0 }, { "e2", 2, 0 }, { "", 1, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pw_event_row row;
        bool found;
        assert_int_equal(pw_read_event(fixture->store, &fixture->arena, at.instance, cases[i].run, text(cases[i].id),
                                       &row, &found, &fixture->error),
                         PAWL_OK);
        assert_int_equal(found, cases[i].seq != 0);
        if (!found)
            continue;
        assert_int_equal(row.seq, cases[i].seq);
        assert_text(row.id, cases[i].id);
        assert_text(row.type, cases[i].seq == 2 ? "sent" : "paid");
    }
}

TEST_OF(fixture, several_instances_are_read_in_the_order_in_which_they_are_wanted)
{
    struct pw_fence a = create_held(fixture, "order", "a"), b = create_held(fixture, "order", "b");
    struct pw_fence c = create_held(fixture, "other", "a");
    const int64_t keys[] = { c.instance, 987654, a.instance, b.instance, a.instance };
    const struct pw_text workflows[] = { text("order"), text("nothing"), text("other"), text("order"), text("order") };
    const struct pw_text ids[] = { text("b"), text("a"), text("a"), text(""), text("a") };
    struct pw_instances_wanted wanted = { .keys = keys, .count = 5 };
    struct pw_store *store = fixture->store;
    struct pw_instance *rows = NULL;

    assert_int_equal(pw_read_instances(store, &fixture->arena, &wanted, &rows, &fixture->error), PAWL_OK);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(rows[i].key, i == 1 ? 0 : keys[i]);
    assert_text(rows[0].workflow, "other");
    assert_text(rows[3].id, "b");
    assert_true(rows[3].has_task);
    assert_int_equal(rows[3].task.epoch, b.epoch);

    wanted = (struct pw_instances_wanted){ .workflows = workflows, .ids = ids, .count = 5 };
    assert_int_equal(pw_read_instances(store, &fixture->arena, &wanted, &rows, &fixture->error), PAWL_OK);
    const int64_t expected[] = { b.instance, 0, c.instance, 0, a.instance };
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(rows[i].key, expected[i]);

    wanted.count = 0;
    assert_int_equal(pw_read_instances(store, &fixture->arena, &wanted, &rows, &fixture->error), PAWL_OK);
}

/* ---- Logs ---------------------------------------------------------------------------------------------------- */

static void add_log(struct pw_unit *unit, struct pw_fence at, enum pawl_log_level level, const char *category,
                    const char *message)
{
    struct pw_op_log *op = &add(unit, PW_OP_LOG)->as.log;
    op->instance = at.instance;
    op->run = at.run;
    op->row.level = level;
    op->row.category = text(category);
    op->row.message = text(message);
}

TEST_OF(fixture, log_lines_are_numbered_within_the_run) /* A12 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_fence other = create_held(fixture, "order", "b");
    struct pw_unit *unit = fixture_unit(fixture);
    add_log(unit, at, PAWL_LOG_WARN, "workflow", "one");
    unit->last->as.log.row.step = text("charge");
    unit->last->as.log.row.attempt = 2;
    unit->last->as.log.row.data = text("{}");
    unit->last->as.log.row.is_replay = true;
    unit->last->as.log.row.is_repair = true;
    unit->last->as.log.row.created_at_ms = 5;
    add_log(unit, other, PAWL_LOG_INFO, "workflow", "another run's");
    add_log(unit, at, PAWL_LOG_INFO, "system", "two");
    fixture_apply_all(fixture);

    size_t count = 0;
    struct pw_log_row *rows = read_logs(fixture, query_of(at), &count);
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].seq, 1);
    assert_text(rows[0].step, "charge");
    assert_int_equal(rows[0].attempt, 2);
    assert_int_equal(rows[0].level, PAWL_LOG_WARN);
    assert_text(rows[0].category, "workflow");
    assert_text(rows[0].message, "one");
    assert_text(rows[0].data, "{}");
    assert_true(rows[0].is_replay);
    assert_true(rows[0].is_repair);
    assert_int_equal(rows[0].created_at_ms, 5);
    assert_int_equal(rows[1].seq, 2);
    assert_int_equal(rows[1].created_at_ms, FIXTURE_NOW_MS);
    assert_null(rows[1].step.data);
    assert_false(rows[1].is_replay);
    assert_false(rows[1].is_repair);
}

TEST_OF(fixture, logs_are_filtered_by_level_and_category)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    add_log(unit, at, PAWL_LOG_DEBUG, "system", "1");
    add_log(unit, at, PAWL_LOG_ERROR, "system", "2");
    add_log(unit, at, PAWL_LOG_ERROR, "workflow", "3");
    fixture_apply_all(fixture);

    struct pw_history_query query = query_of(at);
    size_t count = 0;
    query.has_level = true;
    query.level = PAWL_LOG_DEBUG;
    assert_int_equal(read_logs(fixture, query, &count)[0].seq, 1);
    assert_int_equal(count, 1);
    query.level = PAWL_LOG_ERROR;
    query.newest_first = true;
    assert_int_equal(read_logs(fixture, query, &count)[0].seq, 3);
    assert_int_equal(count, 2);
    query.category = text("system");
    assert_int_equal(read_logs(fixture, query, &count)[0].seq, 2);
    assert_int_equal(count, 1);
    query.category = text("none");
    (void)read_logs(fixture, query, &count);
    assert_int_equal(count, 0);
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

static struct pw_instance *list(struct fixture *fixture, struct pw_instance_query query, size_t *out_count)
{
    struct pw_instance *rows = NULL;
    assert_int_equal(pw_list_instances(fixture->store, &fixture->arena, &query, &rows, out_count, &fixture->error),
                     PAWL_OK);
    return rows;
}

TEST_OF(fixture, instances_are_listed_page_by_page_in_both_directions)
{
    static const char *const ids[] = { "c", "a", "b", "e", "d" };
    for (size_t position = 0; position < 5; position++)
        (void)create_instance(fixture, "order", ids[position]);
    (void)create_instance(fixture, "refund", "z");

    struct pw_instance_query query = { .workflow = text("order"), .max = 2 };
    size_t count = 0, seen = 0;
    for (struct pw_instance *rows = list(fixture, query, &count); count > 0; rows = list(fixture, query, &count)) {
        for (size_t position = 0; position < count; position++)
            assert_text(rows[position].id, ids[4 - seen++]);
        query.after_key = rows[count - 1].key;
    }
    assert_int_equal(seen, 5);
    query = (struct pw_instance_query){ .workflow = text("order"), .max = 10, .oldest_first = true };
    struct pw_instance *rows = list(fixture, query, &count);
    assert_int_equal(count, 5);
    assert_text(rows[0].id, "c");
    query.after_key = rows[3].key;
    rows = list(fixture, query, &count);
    assert_int_equal(count, 1);
    assert_text(rows[0].id, "d");
}

TEST_OF(fixture, instances_are_listed_by_status) /* B1 */
{
    static const char *const ids[] = { "active", "waiting", "paused", "complete", "terminated", "errored" };
    struct pw_fence at[6];
    for (size_t position = 0; position < 6; position++)
        at[position] = create_instance(fixture, "order", ids[position]);
    (void)park(fixture, at[PAWL_WAITING], PW_TASK_WAITING, PW_TASK_WAKE, PW_NOW);
    (void)park(fixture, at[PAWL_PAUSED], PW_TASK_PAUSED, PW_TASK_WAKE, PW_NOW);
    (void)add_finish(fixture_unit(fixture), at[PAWL_COMPLETE], PW_OUTCOME_COMPLETE);
    (void)add_finish(fixture_unit(fixture), at[PAWL_TERMINATED], PW_OUTCOME_TERMINATED);
    (void)add_finish(fixture_unit(fixture), at[PAWL_ERRORED], PW_OUTCOME_ERRORED);
    fixture_apply_all(fixture);

    for (int status = PAWL_ACTIVE; status <= PAWL_ERRORED; status++) {
        for (int oldest = 0; oldest < 2; oldest++) {
            struct pw_instance_query query = { .workflow = text("order"), .max = 10 };
            pw_list_by_status(&query, (enum pawl_instance_status)status);
            query.oldest_first = oldest == 1;
            size_t count = 0;
            struct pw_instance *rows = list(fixture, query, &count);
            assert_int_equal(count, 1);
            assert_text(rows[0].id, ids[status]);
            assert_int_equal(rows[0].has_task, status <= PAWL_PAUSED);
            query.after_key = rows[0].key;
            (void)list(fixture, query, &count);
            assert_int_equal(count, 0);
        }
    }
}

TEST_OF(fixture, an_instance_that_is_not_there_is_not_found)
{
    struct pw_instance row;
    assert_int_equal(pw_read_instance_by_key(fixture->store, &fixture->arena, 1, &row, &fixture->error),
                     PAWL_INSTANCE_NOT_FOUND);
}
