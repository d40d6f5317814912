/* test_store_runs.c - what a store keeps of the runs that a restart has replaced, and how it reads them. */
#include "kit/store_fixture.h"

static struct pw_earlier_run *read_runs(struct fixture *fixture, const struct pw_history_query *query,
                                        size_t expected_count)
{
    struct pw_earlier_run *rows = NULL;
    size_t count = 0;
    assert_int_equal(pw_read_earlier_runs(fixture->store, &fixture->arena, query, &rows, &count, &fixture->error),
                     PAWL_OK);
    assert_int_equal(count, expected_count);
    return rows;
}

static void add_restart(struct pw_unit *unit, int64_t instance, int64_t run)
{
    add(unit, PW_OP_RESTART)->as.restart = (struct pw_op_restart){ .instance = instance, .run = run };
}

static void restart(struct fixture *fixture, struct pw_fence at)
{
    add_restart(fixture_unit(fixture), at.instance, at.run);
    fixture_apply_all(fixture);
}

static void finish(struct fixture *fixture, struct pw_fence at, enum pw_outcome outcome, const char *output,
                   const char *error)
{
    struct pw_op_finish *op = add_finish(fixture_unit(fixture), at, outcome);
    op->output = text(output);
    op->error_name = op->error_message = text(error);
    fixture_apply_all(fixture);
}

TEST_OF(fixture, a_run_that_has_ended_keeps_its_outcome_output_error_and_times) /* B5 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    fixture->now_ms += 10;
    finish(fixture, at, PW_OUTCOME_ERRORED, "7", "Broken");
    fixture->now_ms += 10;

    restart(fixture, at);

    const struct pw_earlier_run *run =
        read_runs(fixture, &(struct pw_history_query){ .instance = at.instance, .max = 10 }, 1);
    assert_int_equal(run->run, 1);
    assert_int_equal(run->outcome, PW_OUTCOME_ERRORED);
    assert_text(run->output, "7");
    assert_text(run->error_name, "Broken");
    assert_text(run->error_message, "Broken");
    assert_int_equal(run->started_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(run->completed_at_ms, FIXTURE_NOW_MS + 10);
    assert_int_equal(run->replaced_at_ms, FIXTURE_NOW_MS + 20);
    struct pw_instance now = read_key(fixture, at.instance);
    assert_int_equal(now.run, 2);
    assert_null(now.output.data);
}

TEST_OF(fixture, a_run_that_has_not_ended_is_cut_off_by_the_restart)
{
    struct pw_fence held = create_held(fixture, "order", "held"), due = create_instance(fixture, "order", "due");
    fixture->now_ms += 10;

    restart(fixture, held);
    restart(fixture, due);

    const struct pw_fence *const fences[] = { &held, &due };
    for (size_t i = 0; i < 2; i++) {
        const struct pw_earlier_run *run =
            read_runs(fixture, &(struct pw_history_query){ .instance = fences[i]->instance, .max = 10 }, 1);
        assert_int_equal(run->outcome, PW_OUTCOME_TERMINATED);
        assert_text(run->error_name, PW_CUT_OFF_NAME);
        assert_int_equal(run->started_at_ms, i == 0 ? FIXTURE_NOW_MS : 0);
        assert_int_equal(run->completed_at_ms, FIXTURE_NOW_MS + 10);
        assert_int_equal(run->replaced_at_ms, FIXTURE_NOW_MS + 10);
    }
}

TEST_OF(fixture, units_of_one_batch_keep_each_run_once) /* S2 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_op_finish *op = add_finish(fixture_unit(fixture), at, PW_OUTCOME_COMPLETE);
    op->output = text("1");
    for (int64_t run = 1; run <= 2; run++)
        add_restart(fixture_unit(fixture), at.instance, run);
    struct pw_unit *refused = fixture_unit(fixture);
    add_restart(refused, at.instance, 3);
    add_restart(refused, at.instance, 3);
    fixture_apply(fixture);
    assert_int_equal(refused->refusal, PW_REFUSED_MOVED);

    const struct pw_earlier_run *runs =
        read_runs(fixture, &(struct pw_history_query){ .instance = at.instance, .max = 10 }, 2);
    assert_int_equal(runs[0].outcome, PW_OUTCOME_COMPLETE);
    assert_text(runs[0].output, "1");
    assert_int_equal(runs[1].run, 2);
    assert_text(runs[1].error_name, PW_CUT_OFF_NAME);
    assert_null(runs[1].output.data);
}

TEST_OF(fixture, runs_are_read_in_both_orders_and_in_pages)
{
    struct pw_fence at = create_instance(fixture, "order", "a");
    (void)create_instance(fixture, "order", "b");
    for (at.run = 1; at.run <= 4; at.run++) {
        finish(fixture, at, PW_OUTCOME_COMPLETE, "12345", NULL);
        restart(fixture, at);
    }
    struct pw_history_query query = { .instance = at.instance, .max = 2 };
    assert_int_equal(read_runs(fixture, &query, 2)[1].run, 2);
    query.after_seq = 2;
    assert_int_equal(read_runs(fixture, &query, 2)[1].run, 4);
    query = (struct pw_history_query){ .instance = at.instance, .newest_first = true, .max = 10 };
    assert_int_equal(read_runs(fixture, &query, 4)[0].run, 4);
    query.after_seq = 2;
    assert_int_equal(read_runs(fixture, &query, 1)[0].run, 1);
    query = (struct pw_history_query){ .instance = at.instance, .max = 10, .bytes_max = 11 };
    (void)read_runs(fixture, &query, 3);
}

TEST_OF(fixture, the_view_of_runs_shows_all_of_them_with_their_params)
{
    struct pw_op_create *op = add_create(fixture_unit(fixture), "order", "a");
    op->params = text("5");
    fixture_apply(fixture);
    struct pw_fence at = op->fence;
    fixture_clear_units(fixture);
    finish(fixture, at, PW_OUTCOME_COMPLETE, "7", NULL);
    restart(fixture, at);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runs WHERE workflow = 'order' AND id = 'a'"
                                           " AND params = '5'"),
                     2);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runs WHERE run = 1 AND status = 'complete'"
                                           " AND output = '7' AND completed_at IS NOT NULL"
                                           " AND replaced_at IS NOT NULL"),
                     1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runs WHERE run = 2 AND status = 'active'"
                                           " AND output IS NULL AND replaced_at IS NULL"),
                     1);
}

/* ---- What a run was begun with -------------------------------------------------------------------------------------- */

static struct pw_fence create_version(struct fixture *fixture, const char *id, const char *version)
{
    struct pw_op_create *op = add_create(fixture_unit(fixture), "order", id);
    op->terms.version = text(version);
    fixture_apply(fixture);
    assert_true(op->created);
    struct pw_fence at = op->fence;
    fixture_clear_units(fixture);
    return at;
}

static struct pw_op_restart *add_restart_as(struct pw_unit *unit, struct pw_fence at, const char *version)
{
    struct pw_op_restart *op = &add(unit, PW_OP_RESTART)->as.restart;
    *op = (struct pw_op_restart){ .instance = at.instance, .run = at.run, .terms = { .version = text(version) } };
    return op;
}

static void assert_version(struct fixture *fixture, struct pw_fence at, const char *expected)
{
    struct pw_text version = read_key(fixture, at.instance).terms.version;
    assert_int_equal(version.data == NULL, expected == NULL);
    assert_text(version, expected);
}

TEST_OF(fixture, a_run_keeps_its_version_until_a_restart_gives_the_next_one_another)
{
    struct pw_fence at = create_version(fixture, "a", "1.0"), other = create_version(fixture, "b", NULL);
    assert_version(fixture, at, "1.0");
    assert_version(fixture, other, NULL);
    finish(fixture, at, PW_OUTCOME_COMPLETE, "7", NULL);
    finish(fixture, other, PW_OUTCOME_COMPLETE, "7", NULL);
    assert_version(fixture, at, "1.0");
    assert_version(fixture, other, NULL);

    (void)add_restart_as(fixture_unit(fixture), at, "2.0");
    (void)add_restart_as(fixture_unit(fixture), other, "2.0");
    fixture_apply_all(fixture);
    assert_version(fixture, at, "2.0");
    assert_version(fixture, other, "2.0");
    at.run = 2;
    finish(fixture, at, PW_OUTCOME_ERRORED, NULL, "Broken");
    assert_version(fixture, at, "2.0");
    (void)add_restart_as(fixture_unit(fixture), at, NULL);
    fixture_apply_all(fixture);
    assert_version(fixture, at, NULL);

    const struct pw_earlier_run *runs =
        read_runs(fixture, &(struct pw_history_query){ .instance = at.instance, .max = 10 }, 2);
    assert_text(runs[0].terms.version, "1.0");
    assert_text(runs[1].terms.version, "2.0");
    runs = read_runs(fixture, &(struct pw_history_query){ .instance = other.instance, .max = 10 }, 1);
    assert_null(runs[0].terms.version.data);
}

TEST_OF(fixture, versions_are_kept_apart_within_one_batch)
{
    struct pw_fence at = create_version(fixture, "a", "1");
    (void)add_finish(fixture_unit(fixture), at, PW_OUTCOME_COMPLETE);
    (void)add_restart_as(fixture_unit(fixture), at, "2");
    at.run = 2;
    struct pw_unit *refused = fixture_unit(fixture);
    (void)add_restart_as(refused, at, "lost");
    (void)add_restart_as(refused, at, "lost");
    (void)add_finish(fixture_unit(fixture), at, PW_OUTCOME_ERRORED);
    fixture_apply(fixture);
    assert_int_equal(refused->refusal, PW_REFUSED_MOVED);
    fixture_clear_units(fixture);

    assert_version(fixture, at, "2");
    const struct pw_earlier_run *runs =
        read_runs(fixture, &(struct pw_history_query){ .instance = at.instance, .max = 10 }, 1);
    assert_text(runs[0].terms.version, "1");
}

static size_t list_version(struct fixture *fixture, const char *version, struct pw_instance **out_rows)
{
    const struct pw_instance_query query = {
        .by = PW_BY_VERSION, .workflow = text("order"), .text = text(version), .oldest_first = true, .max = 10
    };
    size_t count = 0;
    assert_int_equal(pw_list_instances(fixture->store, &fixture->arena, &query, out_rows, &count, &fixture->error),
                     PAWL_OK);
    return count;
}

TEST_OF(fixture, instances_are_listed_by_the_version_of_their_newest_run)
{
    struct pw_instance *rows = NULL;
    struct pw_fence at = create_version(fixture, "a", "1.0");
    (void)create_version(fixture, "b", NULL);
    (void)create_version(fixture, "c", "1.0");
    (void)create_version(fixture, "d", "1.01");
    struct pw_op_create *other = add_create(fixture_unit(fixture), "refund", "e");
    other->terms.version = text("1.0");
    fixture_apply_all(fixture);
    assert_int_equal(list_version(fixture, "1.0", &rows), 2);
    assert_text(rows[0].id, "a");
    assert_text(rows[1].id, "c");
    assert_text(rows[1].terms.version, "1.0");
    assert_int_equal(list_version(fixture, "1", &rows), 0);

    finish(fixture, at, PW_OUTCOME_COMPLETE, "7", NULL);
    (void)add_restart_as(fixture_unit(fixture), at, "2");
    fixture_apply_all(fixture);
    assert_int_equal(list_version(fixture, "1.0", &rows), 1);
    assert_int_equal(list_version(fixture, "2", &rows), 1);
    assert_text(rows[0].id, "a");
}

TEST_OF(fixture, the_views_show_the_version_of_each_run)
{
    struct pw_fence at = create_version(fixture, "a", "1.0");
    (void)add_restart_as(fixture_unit(fixture), at, "2.0");
    fixture_apply_all(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instances WHERE version = '2.0'"), 1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runs WHERE run = 1 AND version = '1.0'"), 1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runs WHERE run = 2 AND version = '2.0'"), 1);
}

/* ---- Taking a run up again --------------------------------------------------------------------------------------------- */

/* In PostgreSQL it is read in one round trip, as it is read piece by piece elsewhere. */
static pawl_status read_run(struct fixture *fixture, struct pw_fence at, bool with_events, struct pw_run_rows *out_rows)
{
    return pw_read_run(fixture->store, &fixture->arena, at.instance, at.run, with_events, out_rows, &fixture->error);
}

/* Two steps, and two events of which the first is taken. */
static struct pw_fence make_run(struct fixture *fixture)
{
    struct pw_op_create *create = add_create(fixture_unit(fixture), "order", "a");
    create->params = text("{\"a\":1}");
    create->link = (struct pw_link){ 7, 2, PW_RELATION_JOB };
    fixture_apply(fixture);
    struct pw_fence at = create->fence;
    fixture_clear_units(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    add_fence(unit, at);
    add_step(unit, at, 1, "one")->result = text("1");
    add_step(unit, at, 2, "two")->description = text("the second");
    (void)add_event(unit, at, "e-1", "paid");
    (void)add_event(unit, at, "e-2", "sent");
    add(unit, PW_OP_CONSUME)->as.consume =
        (struct pw_op_consume){ .instance = at.instance, .run = at.run, .seq = 1, .step = text("one") };
    fixture_apply_all(fixture);
    return at;
}

TEST_IN(on_postgres, fixture, a_run_is_read_at_once_with_all_that_it_begins_with)
{
    struct pw_fence at = make_run(fixture);
    struct pw_run_rows rows;

    assert_int_equal(read_run(fixture, at, true, &rows), PAWL_OK);

    struct pw_instance instance = read_key(fixture, at.instance);
    assert_text(rows.params, "{\"a\":1}");
    assert_int_equal(rows.created_at_ms, instance.created_at_ms);
    assert_int_equal(rows.link.parent, 7);
    assert_int_equal(rows.link.run, 2);
    assert_int_equal(rows.link.relation, PW_RELATION_JOB);
    assert_int_equal(rows.step_count, 2);
    assert_text(rows.steps[0].name, "one");
    assert_text(rows.steps[0].result, "1");
    assert_null(rows.steps[0].description.data);
    assert_text(rows.steps[1].name, "two");
    assert_text(rows.steps[1].description, "the second");
    assert_int_equal(rows.event_count, 1);
    assert_int_equal(rows.events[0].seq, 2);
    assert_text(rows.events[0].type, "sent");
}

TEST_IN(on_postgres, fixture, events_that_nobody_asked_for_are_not_read)
{
    struct pw_fence at = make_run(fixture);
    struct pw_run_rows rows;

    assert_int_equal(read_run(fixture, at, false, &rows), PAWL_OK);

    assert_int_equal(rows.step_count, 2);
    assert_int_equal(rows.event_count, 0);
}

TEST_IN(on_postgres, fixture, a_run_of_no_instance_is_not_found)
{
    struct pw_run_rows rows;
    struct pw_fence nowhere = { .instance = 77, .run = 1 };
    assert_int_equal(read_run(fixture, nowhere, true, &rows), PAWL_INSTANCE_NOT_FOUND);
}
