/* One store made of several databases, one of which is down: the others go on, and it is found when it is back. */
#include "several_fixture.h"

/* Members that can be taken down.  Their tables are swapped before any thread of the store's begins. */
static struct {
    struct pw_store *store;
    const struct pw_store_ops *up;
    struct pw_store_ops ops;
    atomic_bool is_down;
} switches[PW_HOMES_MAX];

/* The true functions; NULL: it is down. */
static const struct pw_store_ops *ops_of(const struct pw_store *store, struct pawl_error *error)
{
    size_t home = 0;
    while (switches[home].store != store)
        home++;
    if (!atomic_load(&switches[home].is_down))
        return switches[home].up;
    if (error != NULL)
        *error = (struct pawl_error){ PAWL_STORE_UNAVAILABLE, "it is down" };
    return NULL;
}

static pawl_status switched_apply(struct pw_store *store, struct pw_unit **units, size_t count, int64_t now_ms,
                                  struct pawl_error *error)
{
    const struct pw_store_ops *ops = ops_of(store, error);
    for (size_t i = 0; ops == NULL && i < count; i++)
        units[i]->undone = true;
    return ops != NULL ? ops->apply(store, units, count, now_ms, error) : PAWL_STORE_UNAVAILABLE;
}

static pawl_status switched_next_due(struct pw_store *store, const struct pw_text *names, size_t count,
                                     const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                                     struct pawl_error *error)
{
    const struct pw_store_ops *ops = ops_of(store, error);
    return ops != NULL ? ops->next_due(store, names, count, share, after_ms, out_at_ms, error) : PAWL_STORE_UNAVAILABLE;
}

static pawl_status switched_list(struct pw_store *store, struct pw_arena *arena, const struct pw_instance_query *query,
                                 struct pw_instance **out_rows, size_t *out_count, struct pawl_error *error)
{
    const struct pw_store_ops *ops = ops_of(store, error);
    return ops != NULL ? ops->list_instances(store, arena, query, out_rows, out_count, error) : PAWL_STORE_UNAVAILABLE;
}

static pawl_status switched_count(struct pw_store *store, const struct pw_text *names, size_t count, int64_t max,
                                  struct pw_status_counts *out_counts, struct pawl_error *error)
{
    const struct pw_store_ops *ops = ops_of(store, error);
    return ops != NULL ? ops->count_statuses(store, names, count, max, out_counts, error) : PAWL_STORE_UNAVAILABLE;
}

static int set_up_switches(void **state)
{
    (void)set_up(state);
    struct pw_several *several = several_of(*state);
    for (size_t home = 0; home < several->count; home++) {
        struct pw_store *member = several->members[home].store;
        switches[home].store = member;
        switches[home].up = member->ops;
        switches[home].ops = *member->ops;
        switches[home].ops.apply = switched_apply;
        switches[home].ops.next_due = switched_next_due;
        switches[home].ops.list_instances = switched_list;
        switches[home].ops.count_statuses = switched_count;
        atomic_store(&switches[home].is_down, false);
        member->ops = &switches[home].ops;
    }
    return 0;
}

static void take_down(size_t home)
{
    atomic_store(&switches[home].is_down, true);
}

static void bring_up(size_t home)
{
    atomic_store(&switches[home].is_down, false);
}

/* Up, and seen to be. */
static void await_well(struct fixture *fixture, size_t home)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    bring_up(home);
    while (!pw_member_is_well(several_of(fixture), home) && monotonic_ms() < until_ms)
        rest_a_little();
    assert_true(pw_member_is_well(several_of(fixture), home));
}

static void one_that_is_down_keeps_only_its_own_from_going_on(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_store_ops *ops = fixture->store->ops;
    const struct pw_text order = text("order");
    struct pw_lease leases[3];
    int64_t at_ms = 0;
    for (size_t home = 0; home < 3; home++) {
        leases[home] = (struct pw_lease){ .fence = create_held(fixture, "order", id_at(home, 3, 0)) };
        (void)create_instance(fixture, "order", id_at(home, 3, 1));
    }
    take_down(1);

    /* What is looked for comes from the others. */
    assert_int_equal(ops->next_due(fixture->store, &order, 1, NULL, PW_EVER, &at_ms, &fixture->error), PAWL_OK);
    struct pw_op_claim *claim = fixture_claim(fixture, &order, 1, 10);
    assert_int_equal(claim->claim_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_not_equal(claim->claims[i].fence.instance % 3, 1);
    fixture_clear_units(fixture);
    struct pw_op_renew *renew = &add(fixture_unit(fixture), PW_OP_RENEW)->as.renew;
    *renew = (struct pw_op_renew){ FIXTURE_OWNER, 5000, leases, 3 };
    fixture_apply_all(fixture);
    for (size_t home = 0; home < 3; home++)
        assert_false(leases[home].lost);

    /* What is its own fails, and nothing else. */
    struct pw_unit *mine = fixture_unit(fixture), *others = fixture_unit(fixture);
    (void)add_create(mine, "order", id_at(1, 3, 7));
    (void)add_create(others, "order", id_at(2, 3, 7));
    fixture_apply(fixture);
    assert_int_equal(mine->status, PAWL_STORE_UNAVAILABLE);
    assert_string_equal(mine->error.text, "it is down");
    assert_int_equal(others->status, PAWL_OK);
    fixture_clear_units(fixture);
    (void)add_create(fixture_unit(fixture), "order", id_at(1, 3, 8));
    assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_STORE_UNAVAILABLE);
    assert_true(fixture->units[0].undone);
    fixture_clear_units(fixture);

    /* A list would be incomplete, and says so. */
    struct pw_instance_query query = { .workflow = order, .max = 10 };
    struct pw_instance *rows = NULL;
    size_t count = 0;
    assert_int_equal(ops->list_instances(fixture->store, &fixture->arena, &query, &rows, &count, &fixture->error),
                     PAWL_STORE_UNAVAILABLE);
    for (size_t home = 0; home < 3; home++) { /* of what one run made, only if it lives there */
        query = (struct pw_instance_query){ .parent = leases[home].fence.instance, .max = 10 };
        assert_int_equal(ops->list_instances(fixture->store, &fixture->arena, &query, &rows, &count, &fixture->error),
                         home == 1 ? PAWL_STORE_UNAVAILABLE : PAWL_OK);
    }
    bring_up(1);
}

static void one_that_is_back_is_claimed_from_again(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_text order = text("order");
    (void)create_instance(fixture, "order", id_at(1, 3, 0));
    take_down(1);
    assert_int_equal(fixture_claim(fixture, &order, 1, 10)->claim_count, 0);
    assert_false(pw_member_is_well(several_of(fixture), 1));
    await_well(fixture, 1);
    assert_int_equal(fixture_claim(fixture, &order, 1, 10)->claim_count, 1);
    fixture_clear_units(fixture);
}

/* Only the first has to wait for it; who comes after is told what that one was. */
static void trouble_that_is_known_is_told_at_once(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", id_at(1, 3, 0));
    struct pw_instance instance;
    take_down(1);
    assert_int_equal(fixture_claim(fixture, &(struct pw_text){ "order", 5 }, 1, 10)->claim_count, 0);
    fixture_clear_units(fixture);
    memset(&fixture->error, 0, sizeof fixture->error);
    assert_int_equal(fixture->store->ops->read_instance_by_key(fixture->store, &fixture->arena, at.instance, &instance,
                                                               &fixture->error),
                     PAWL_STORE_UNAVAILABLE); /* although reading is not switched off */
    assert_string_equal(fixture->error.text, "it is down");
    await_well(fixture, 1);
    assert_int_equal(read_key(fixture, at.instance).key, at.instance);
}

static void where_all_are_down_that_is_the_answer(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_text order = text("order");
    int64_t at_ms = 0;
    for (size_t home = 0; home < 3; home++)
        take_down(home);
    for (int round = 0; round < 2; round++) { /* found out, and known */
        struct pw_op_claim *claim = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
        *claim = (struct pw_op_claim){ .workflows = &order, .workflow_count = 1, .max = 3, .lease_ms = 1 };
        assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_STORE_UNAVAILABLE);
        assert_true(fixture->units[0].undone);
        fixture_clear_units(fixture);
        assert_int_equal(
            fixture->store->ops->next_due(fixture->store, &order, 1, NULL, PW_EVER, &at_ms, &fixture->error),
            PAWL_STORE_UNAVAILABLE);
    }
    for (size_t home = 0; home < 3; home++)
        bring_up(home);
}

/* It may be in the one that does not answer. */
static void a_delivery_that_nobody_who_answers_has_is_not_said_to_be_gone(void **state)
{
    struct fixture *fixture = *state;
    (void)create_told(fixture, id_at(1, 3, 0));
    take_down(0);
    for (int round = 0; round < 2; round++) {
        struct pw_op_hook_resend *resend = &add(fixture_unit(fixture), PW_OP_HOOK_RESEND)->as.hook_resend;
        resend->id = text(round == 0 ? id_at(1, 3, 0) : "elsewhere");
        assert_int_equal(fixture_apply_on(fixture, fixture->store), round == 0 ? PAWL_OK : PAWL_STORE_UNAVAILABLE);
        assert_int_equal(resend->found, round == 0);
        fixture_clear_units(fixture);
    }
    bring_up(0);
}

/* A claim that came with it would be lost: it is not made. */
static void a_settle_that_fails_claims_nothing(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_hook_wanted mail = { text("mail"), 1000 };
    (void)create_told(fixture, id_at(0, 3, 0));
    take_down(1);
    struct pw_unit *unit = fixture_unit(fixture);
    add(unit, PW_OP_HOOK_SETTLE)->as.hook_settle = (struct pw_op_hook_settle){ .key = 3 + 1, .delivered = true };
    struct pw_op_hook_claim *claim = &add(unit, PW_OP_HOOK_CLAIM)->as.hook_claim;
    *claim = (struct pw_op_hook_claim){ .wanted = &mail, .wanted_count = 1, .max = 1 };
    assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_STORE_UNAVAILABLE);
    assert_true(unit->undone);
    assert_int_equal(unit->first->as.hook_settle.key, 3 + 1);
    fixture_clear_units(fixture);
    bring_up(1);
    int64_t at_ms = 0;
    assert_int_equal(fixture->store->ops->next_hook(fixture->store, &mail.hook, 1, &at_ms, NULL), PAWL_OK);
    assert_int_equal(at_ms, fixture->now_ms);
}

/* The others' part may be there: to do it again as a whole could do that twice, so the committer is not told otherwise. */
static void a_batch_that_fails_in_one_says_so_and_can_be_repeated(void **state)
{
    struct fixture *fixture = *state;
    for (int round = 0; round < 2; round++) {
        struct pw_unit *unit = fixture_unit(fixture);
        if (round == 0)
            take_down(2);
        else
            await_well(fixture, 2);
        for (size_t home = 0; home < 3; home++)
            add_create(unit, "order", id_at(home, 3, 0))->skip_existing = true;
        pawl_status status = fixture_apply_on(fixture, fixture->store);
        assert_int_equal(status, round == 0 ? PAWL_STORE_UNAVAILABLE : PAWL_OK);
        fixture_clear_units(fixture);
    }
    struct pw_task_counts counts;
    assert_int_equal(fixture->store->ops->count_tasks(fixture->store, fixture->now_ms, &counts, NULL), PAWL_OK);
    assert_int_equal(counts.active, 3);
}

/* It would look like fewer instances than there are. */
static void statuses_are_not_counted_without_one_that_is_down(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_text order = text("order");
    struct pw_status_counts counts = { .of = { 77 } };
    for (size_t home = 0; home < 3; home++)
        (void)create_instance(fixture, "order", id_at(home, 3, 0));
    take_down(1);
    assert_int_equal(fixture->store->ops->count_statuses(fixture->store, &order, 1, 9, &counts, &fixture->error),
                     PAWL_STORE_UNAVAILABLE);
    assert_int_equal(counts.of[PAWL_ACTIVE], 77);
    struct pw_task_counts tasks; /* figures come from those that answer, and say how many do not */
    assert_int_equal(fixture->store->ops->count_tasks(fixture->store, fixture->now_ms, &tasks, NULL), PAWL_OK);
    assert_int_equal(tasks.homes_silent, 1);
    assert_int_equal(tasks.active, 2);
    bring_up(1);
}

#define ON_SWITCHES(test) cmocka_unit_test_setup_teardown(test, set_up_switches, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SWITCHES(one_that_is_down_keeps_only_its_own_from_going_on),
        ON_SWITCHES(one_that_is_back_is_claimed_from_again),
        ON_SWITCHES(trouble_that_is_known_is_told_at_once),
        ON_SWITCHES(where_all_are_down_that_is_the_answer),
        ON_SWITCHES(a_delivery_that_nobody_who_answers_has_is_not_said_to_be_gone),
        ON_SWITCHES(a_settle_that_fails_claims_nothing),
        ON_SWITCHES(a_batch_that_fails_in_one_says_so_and_can_be_repeated),
        ON_SWITCHES(statuses_are_not_counted_without_one_that_is_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
