/* test_postgres_runs.c - a run that is taken up again is read in one round trip, and as it is read piece by piece. */
#include "kit/store_fixture.h"

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

static void a_run_is_read_at_once_with_all_that_it_begins_with(void **state)
{
    struct fixture *fixture = *state;
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

static void events_that_nobody_asked_for_are_not_read(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = make_run(fixture);
    struct pw_run_rows rows;

    assert_int_equal(read_run(fixture, at, false, &rows), PAWL_OK);

    assert_int_equal(rows.step_count, 2);
    assert_int_equal(rows.event_count, 0);
}

static void a_run_of_no_instance_is_not_found(void **state)
{
    struct fixture *fixture = *state;
    struct pw_run_rows rows;
    struct pw_fence nowhere = { .instance = 77, .run = 1 };
    assert_int_equal(read_run(fixture, nowhere, true, &rows), PAWL_INSTANCE_NOT_FOUND);
}

int main(void)
{
    /* clang-format off */
    const struct CMUnitTest tests[] = {
        ON_POSTGRES(a_run_is_read_at_once_with_all_that_it_begins_with)
        ON_POSTGRES(events_that_nobody_asked_for_are_not_read)
        ON_POSTGRES(a_run_of_no_instance_is_not_found)
    };
    /* clang-format on */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
