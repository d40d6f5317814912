/* test_store_hooks_many.c - hooks with many deliveries that are due (C7): a claim looks at the first of them and not at all. */
#include "kit/store_fixture.h"

enum { LEASE_MS = 500, MANY = 300 };

/* Rows of one instance; the first of the ids is due first.  used_up: all their attempts were made, and not heard of again. */
static void add_due(struct fixture *fixture, int64_t instance, int from, int to, bool used_up)
{
    char sql[512];
    (void)snprintf(
        sql, sizeof sql,
        "WITH RECURSIVE s(g) AS (SELECT %d UNION ALL SELECT g + 1 FROM s WHERE g + 1 < %d)"
        " INSERT INTO workflow_hook (instance, run, created_at, attempts_max, event, reason, id, hook, next_at,"
        " attempts, epoch) SELECT %d, 1, 0, 3, 1, 1, 'h-' || g, 'mail', 1000 + g, %d, 0 FROM s",
        from, to, (int)instance, used_up ? 3 : 0);
    run_raw_sql(fixture, sql);
}

/* The number of the one that a claim gave out, which is delivered; -1: none. */
static int deliver_one(struct fixture *fixture)
{
    static const struct pw_hook_wanted wanted = { { "mail", 4 }, LEASE_MS };
    int number = -1;
    fixture_clear_units(fixture);
    struct pw_op_hook_claim *op = &add(fixture_unit(fixture), PW_OP_HOOK_CLAIM)->as.hook_claim;
    *op = (struct pw_op_hook_claim){ .wanted = &wanted, .wanted_count = 1, .max = 1 };
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    if (op->row_count == 0)
        return number;
    assert_int_equal(op->row_count, 1);
    assert_int_equal(sscanf(op->rows[0].id.data, "h-%d", &number), 1);
    struct pw_op_hook_settle settle = { .key = op->rows[0].key, .epoch = op->rows[0].epoch, .delivered = true };
    fixture_clear_units(fixture);
    add(fixture_unit(fixture), PW_OP_HOOK_SETTLE)->as.hook_settle = settle;
    fixture_apply_all(fixture);
    return number;
}

static int64_t given_up(struct fixture *fixture)
{
    return query_number(fixture, "SELECT count(*) FROM workflow_hook WHERE next_at IS NULL AND last_error IS NOT NULL");
}

TEST_IN(on_engines, fixture, a_claim_looks_at_the_first_that_are_due_and_not_at_all) /* C7 */
{
    int64_t instance = create_instance(fixture, "order", "a").instance;
    add_due(fixture, instance, 0, 1, true);
    add_due(fixture, instance, 1, MANY, false);
    add_due(fixture, instance, MANY, MANY + 1, true);
    assert_int_equal(deliver_one(fixture), 1);
    assert_int_equal(given_up(fixture), 1); /* the last one is far behind */
    for (int number = 2; number < MANY; number++)
        assert_int_equal(deliver_one(fixture), number);
    assert_int_equal(deliver_one(fixture), -1);
    assert_int_equal(given_up(fixture), 2);
}

TEST_IN(on_engines, fixture, those_that_are_used_up_keep_no_claim_from_what_is_behind_them) /* C7 */
{
    int64_t instance = create_instance(fixture, "order", "a").instance;
    add_due(fixture, instance, 0, MANY, true);
    add_due(fixture, instance, MANY, MANY + 9, false);
    for (int number = MANY; number < MANY + 9; number++) {
        assert_int_equal(deliver_one(fixture), number);
        int64_t by_one = fixture->place.store == STORE_IN_POSTGRES ? 2 + 64 : 1 + 64; /* claim, see hook_ops.c */
        int64_t looked_at = (number - MANY + 1) * by_one;
        assert_int_equal(given_up(fixture), looked_at < MANY ? looked_at : MANY);
    }
    assert_int_equal(deliver_one(fixture), -1);
}

/* Deleted by hand, without what was to be told of them. */
TEST_IN(on_postgres, fixture, rows_of_instances_that_are_gone_make_way_for_the_others)
{
    int64_t instance = create_instance(fixture, "order", "a").instance;
    add_due(fixture, instance + 1000, 0, MANY, false);
    add_due(fixture, instance, MANY, MANY + 1, false);
    int number = -1;
    for (int tries = 0; tries < MANY && number < 0; tries++)
        number = deliver_one(fixture);
    assert_int_equal(number, MANY);
    fixture->now_ms += LEASE_MS;
    assert_int_equal(deliver_one(fixture), -1);
    assert_int_equal(given_up(fixture), MANY);
}

/* As couriers do: each settles what it had and claims the next. */
TEST_IN(on_engines, fixture, exchanges_of_one_transaction_are_given_different_ones) /* C7 */
{
    static const struct pw_hook_wanted wanted = { { "mail", 4 }, LEASE_MS };
    int64_t instance = create_instance(fixture, "order", "a").instance;
    add_due(fixture, instance, 0, 1, true);
    add_due(fixture, instance, 1, 6, false);
    struct pw_op_hook_claim *claims[3];
    struct pw_op_hook_settle *settle = NULL;
    for (int round = 0; round < 2; round++) {
        struct pw_op_hook_settle before = { .key = 0 };
        if (round > 0)
            before = (struct pw_op_hook_settle){ .key = claims[1]->rows[0].key, .epoch = claims[1]->rows[0].epoch };
        before.next_at_ms = 1000; /* it is due again, and longer than others are */
        fixture_clear_units(fixture);
        for (size_t i = 0; i < 3; i++) {
            struct pw_unit *unit = fixture_unit(fixture);
            if (round > 0 && i == 0) {
                settle = &add(unit, PW_OP_HOOK_SETTLE)->as.hook_settle;
                *settle = before;
            }
            claims[i] = &add(unit, PW_OP_HOOK_CLAIM)->as.hook_claim;
            *claims[i] = (struct pw_op_hook_claim){ .wanted = &wanted, .wanted_count = 1, .max = 1 };
        }
        fixture_apply(fixture);
        static const char *const expected[2][3] = { { "h-1", "h-2", "h-3" }, { "h-2", "h-4", "h-5" } };
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(claims[i]->row_count, 1);
            assert_text(claims[i]->rows[0].id, expected[round][i]);
        }
    }
    assert_false(settle->lost);
    assert_int_equal(given_up(fixture), 1);
}
