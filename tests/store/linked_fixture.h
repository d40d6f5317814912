/* linked_fixture.h - the fixture of store_fixture.h, with instances that others have made. */
#ifndef TESTS_LINKED_FIXTURE_H
#define TESTS_LINKED_FIXTURE_H

#include "kit/store_fixture.h"

struct linked {
    struct pw_fence at;
    char id[24];
};

/* One that nobody has taken yet, of that run of the parent. */
static inline struct linked create_linked(struct fixture *fixture, struct pw_fence parent, const char *workflow,
                                          enum pw_relation relation)
{
    struct linked child;
    struct pw_op_create *op;
    int number = 0;
    do { /* the first id that is new */
        (void)snprintf(child.id, sizeof child.id, "n%d", number++);
        op = add_create(fixture_unit(fixture), workflow, child.id);
        op->link = (struct pw_link){ parent.instance, parent.run, relation };
        op->skip_existing = true;
        fixture_apply(fixture);
        assert_int_equal(fixture->units[0].status, PAWL_OK);
        assert_int_equal(op->link.parent, parent.instance);
        child.at = op->created ? op->fence : (struct pw_fence){ 0, 0, 0 };
        fixture_clear_units(fixture);
    } while (child.at.instance == 0);
    return child;
}

/* What the end of a run does to those that a run has made: another instance ends in the unit, and reaches them. */
static inline struct pw_reach *add_reach(struct fixture *fixture, struct pw_unit *unit, struct pw_fence parent,
                                         enum pw_demand demand)
{
    struct pw_unit making, *units[] = { &making };
    char id[24];
    struct pw_op_create *create;
    struct pw_fence spare = { 0, 0, 0 };
    for (int number = 0; spare.instance == 0; number++) {
        (void)snprintf(id, sizeof id, "spare%d", number);
        pw_unit_init(&making);
        create = add_create(&making, "spare", id);
        create->skip_existing = true;
        assert_int_equal(fixture->store->ops->apply(fixture->store, units, 1, &fixture->error), PAWL_OK);
        if (create->created)
            spare = create->fence;
        pw_unit_clear(&making);
    }
    struct pw_op_finish *finish = add_finish(unit, spare, PW_OUTCOME_COMPLETE);
    finish->reach = (struct pw_reach){ .parent = parent.instance, .run = parent.run, .demand = demand };
    return &finish->reach;
}

/* As by PW_OP_END, just now; started 0: it never was. */
static inline void assert_ended(struct fixture *fixture, struct pw_fence at, int64_t started_at_ms)
{
    struct pw_instance row = read_key(fixture, at.instance);
    assert_int_equal(row.outcome, PW_OUTCOME_TERMINATED);
    assert_false(row.has_task);
    assert_null(row.output.data);
    assert_null(row.error_name.data);
    assert_null(row.error_message.data);
    assert_int_equal(row.started_at_ms, started_at_ms);
    assert_int_equal(row.completed_at_ms, fixture->now_ms);
    assert_int_equal(row.updated_at_ms, fixture->now_ms);
}

#endif
