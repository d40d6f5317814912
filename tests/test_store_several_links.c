/* One store made of several databases: what is linked lives in one of them, and keys are told as everybody knows them. */
#include "linked_fixture.h"
#include "several_fixture.h"

/* An id of that workflow which says that it lives elsewhere; in one of a few places in turn. */
static const char *stranger(const char *workflow, size_t home)
{
    static char ids[8][24];
    static size_t next;
    char *id = ids[next++ % LENGTH(ids)];
    int number = 0;
    do
        snprintf(id, sizeof ids[0], "s%d-%zu", number++, next);
    while (pw_home_of(text(workflow), text(id), 3) == home);
    return id;
}

static struct pw_fence create_stranger(struct fixture *fixture, struct pw_fence parent, const char *id)
{
    struct pw_op_create *op = add_create(fixture_unit(fixture), "@mail", id);
    op->link = (struct pw_link){ parent.instance, parent.run, PW_RELATION_JOB };
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    assert_true(op->created);
    struct pw_fence at = op->fence;
    fixture_clear_units(fixture);
    return at;
}

static void what_a_run_makes_lives_where_the_run_does(void **state)
{
    struct fixture *fixture = *state;
    for (size_t home = 0; home < 3; home++) {
        struct pw_fence parent = create_held(fixture, "order", id_at(home, 3, 0));
        const struct pw_fence made[] = {
            create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at,
            create_linked(fixture, parent, "refund", PW_RELATION_DETACHED).at,
            create_stranger(fixture, parent, stranger("@mail", home)),
        };
        struct pw_instance_query query = { .parent = parent.instance, .oldest_first = true, .max = 10 };
        struct pw_instance *rows = NULL;
        size_t count = 0;
        assert_int_equal(
            fixture->store->ops->list_instances(fixture->store, &fixture->arena, &query, &rows, &count, NULL), PAWL_OK);
        assert_int_equal(count, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal((size_t)made[i].instance % 3, home);
            assert_int_equal(rows[i].key, made[i].instance);
            assert_int_equal(rows[i].link.parent, parent.instance);
            assert_int_equal(read_key(fixture, made[i].instance).link.parent, parent.instance);
        }
    }
}

static void claims_and_holds_tell_the_parents_key_as_everybody_knows_it(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_text mail = text("@mail");
    int64_t parents[3];
    for (size_t home = 0; home < 3; home++) {
        struct pw_fence parent = create_held(fixture, "order", id_at(home, 3, 0));
        parents[home] = parent.instance;
        (void)create_stranger(fixture, parent, stranger("@mail", home));
        struct pw_fence child = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
        struct pw_op_hold *hold = add_hold(fixture_unit(fixture), child);
        fixture_apply(fixture);
        assert_int_equal(hold->claim.link.parent, parent.instance);
        fixture_clear_units(fixture);
    }
    struct pw_op_claim *claim = fixture_claim(fixture, &mail, 1, 10);
    assert_int_equal(claim->claim_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(claim->claims[i].link.parent, parents[claim->claims[i].fence.instance % 3]);
}

/* Nobody would find it, and another of its name could be made. */
static void a_child_whose_name_says_another_database_is_not_made(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence parent = create_held(fixture, "order", id_at(0, 3, 0));
    for (enum pw_relation relation = PW_RELATION_ATTACHED; relation <= PW_RELATION_DETACHED; relation++) {
        struct pw_unit *alone = fixture_unit(fixture), *among = fixture_unit(fixture);
        add_create(alone, "refund", stranger("refund", 0))->link = (struct pw_link){ parent.instance, 1, relation };
        (void)add_create(among, "order", id_at(1, 3, 4));
        add_create(among, "refund", stranger("refund", 0))->link = (struct pw_link){ parent.instance, 1, relation };
        fixture_apply(fixture);
        assert_int_equal(alone->status, PAWL_INVALID);
        assert_int_equal(among->status, PAWL_INVALID);
        assert_non_null(strstr(alone->error.text, "one database"));
        fixture_clear_units(fixture);
    }
    struct pw_task_counts counts;
    assert_int_equal(fixture->store->ops->count_tasks(fixture->store, fixture->now_ms, &counts, NULL), PAWL_OK);
    assert_int_equal(counts.active, 1);
}

static void children_of_several_parents_are_made_by_one_unit(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence parents[3];
    struct pw_op_create *ops[3];
    for (size_t home = 0; home < 3; home++)
        parents[home] = create_held(fixture, "order", id_at(home, 3, 0));
    struct pw_unit *unit = fixture_unit(fixture);
    for (size_t home = 0; home < 3; home++) {
        ops[home] = add_create(unit, "@mail", "the-same");
        ops[home]->link = (struct pw_link){ parents[home].instance, 1, PW_RELATION_JOB };
    }
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_OK);
    for (size_t home = 0; home < 3; home++) {
        assert_int_equal((size_t)ops[home]->fence.instance % 3, home);
        assert_int_equal(ops[home]->link.parent, parents[home].instance);
        assert_int_equal(read_key(fixture, ops[home]->fence.instance).link.parent, parents[home].instance);
    }
}

static void a_job_of_any_name_is_ended_beside_its_parent_and_reached(void **state)
{
    struct fixture *fixture = *state;
    for (size_t home = 0; home < 3; home++) {
        struct pw_fence parent = create_held(fixture, "order", id_at(home, 3, 0));
        const char *id = stranger("@mail", home);
        struct pw_fence ended = create_stranger(fixture, parent, id);
        struct pw_fence reached = create_stranger(fixture, parent, stranger("@mail", home));
        struct pw_unit *unit = fixture_unit(fixture);
        struct pw_op_end *end = &add(unit, PW_OP_END)->as.end; /* before what says where */
        *end = (struct pw_op_end){ .workflow = text("@mail"), .id = text(id) };
        (void)add_fence(unit, parent);
        struct pw_op_reach *reach = &add(unit, PW_OP_REACH)->as.reach;
        *reach = (struct pw_op_reach){ .parent = parent.instance, .run = 1 };
        fixture_apply(fixture);
        assert_int_equal(unit->status, PAWL_OK);
        assert_int_equal(end->instance, ended.instance);
        assert_int_equal(reach->reached, 1);
        assert_int_equal(reach->parent, parent.instance);
        fixture_clear_units(fixture);
        assert_ended(fixture, ended, 0);
        assert_ended(fixture, reached, 0);
    }
}

static void what_ends_in_two_databases_at_once_is_refused_before_anything_is_done(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at[2];
    struct pw_unit *unit;
    for (size_t home = 0; home < 2; home++)
        at[home] = create_instance(fixture, "order", id_at(home, 3, 0));
    unit = fixture_unit(fixture);
    for (size_t home = 0; home < 2; home++)
        add(unit, PW_OP_END)->as.end = (struct pw_op_end){ .workflow = text("order"), .id = text(id_at(home, 3, 0)) };
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_INVALID);
    fixture_clear_units(fixture);
    for (size_t home = 0; home < 2; home++)
        assert_int_equal(try_fence(fixture, at[home]), PAWL_OK);
}

static void an_answer_goes_to_the_database_of_whom_it_tells(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence parents[3];
    for (size_t home = 0; home < 3; home++) {
        parents[home] = create_held(fixture, "order", id_at(home, 3, 0));
        parents[home] = park(fixture, parents[home], PW_TASK_WAITING, PW_TASK_WAKE, fixture->now_ms + 5000);
    }
    for (size_t home = 0; home < 3; home++) {
        struct pw_fence job = create_stranger(fixture, parents[home], stranger("@mail", home));
        for (size_t whom = 0; whom < 3; whom++) {
            struct pw_unit *unit = fixture_unit(fixture);
            (void)add_fence(unit, job);
            struct pw_op_event *answer = add_event(unit, parents[whom], "$x", "$x");
            answer->is_answer = true;
            if (whom == home)
                (void)add_finish(unit, job, PW_OUTCOME_COMPLETE);
            fixture_apply(fixture);
            assert_int_equal(unit->status, whom == home ? PAWL_OK : PAWL_INVALID);
            assert_int_equal(answer->woke, whom == home);
            assert_int_equal(answer->instance, parents[whom].instance);
            fixture_clear_units(fixture);
        }
        assert_int_equal(read_key(fixture, parents[home].instance).task.event_seq, 1);
    }
}

static void renewals_tell_what_is_demanded_wherever_it_is(void **state)
{
    struct fixture *fixture = *state;
    struct pw_lease leases[3];
    for (size_t home = 0; home < 3; home++) {
        leases[home] = (struct pw_lease){ .fence = create_held(fixture, "order", id_at(home, 3, 0)) };
        struct pw_op_demand *demand = &add(fixture_unit(fixture), PW_OP_DEMAND)->as.demand;
        *demand = (struct pw_op_demand){ leases[home].fence.instance, (enum pw_demand)home };
        fixture_apply(fixture);
        assert_int_equal(demand->instance, leases[home].fence.instance);
        fixture_clear_units(fixture);
        leases[home].demand = PW_DEMAND_TERMINATE; /* of an earlier time */
    }
    add(fixture_unit(fixture), PW_OP_RENEW)->as.renew = (struct pw_op_renew){ FIXTURE_OWNER, 5000, leases, 3 };
    fixture_apply_all(fixture);
    for (size_t home = 0; home < 3; home++) {
        assert_false(leases[home].lost);
        assert_int_equal(leases[home].demand, (enum pw_demand)home);
    }
}

static void as_many_as_may_be_are_leased_in_each_database(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_text order = text("order");
    int homes[3] = { 0 };
    for (int i = 0; i < 12; i++)
        (void)create_instance(fixture, "order", id_at((size_t)i % 3, 3, i / 3));
    for (int round = 0; round < 4; round++) {
        struct pw_op_claim *claim = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
        *claim = (struct pw_op_claim){ .workflows = &order, .workflow_count = 1, .max = 10, .leased_max = 2 };
        claim->owner = PW_OWNER_OUTSIDE;
        claim->lease_ms = 1000;
        fixture_apply(fixture);
        assert_int_equal(claim->leased_max, 2);
        assert_int_equal(claim->claim_count, round < 3 ? 2 : 0); /* a claim does not take more, either */
        for (size_t i = 0; i < claim->claim_count; i++)
            homes[claim->claims[i].fence.instance % 3]++;
        fixture_clear_units(fixture);
    }
    for (int home = 0; home < 3; home++)
        assert_int_equal(homes[home], 2);
}

#define ON_FILES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_FILES(what_a_run_makes_lives_where_the_run_does),
        ON_FILES(claims_and_holds_tell_the_parents_key_as_everybody_knows_it),
        ON_FILES(a_child_whose_name_says_another_database_is_not_made),
        ON_FILES(children_of_several_parents_are_made_by_one_unit),
        ON_FILES(a_job_of_any_name_is_ended_beside_its_parent_and_reached),
        ON_FILES(what_ends_in_two_databases_at_once_is_refused_before_anything_is_done),
        ON_FILES(an_answer_goes_to_the_database_of_whom_it_tells),
        ON_FILES(renewals_tell_what_is_demanded_wherever_it_is),
        ON_FILES(as_many_as_may_be_are_leased_in_each_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
