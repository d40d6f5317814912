/* test_store_runners.c - runners say who they are, and claim their share (F5). */
#include "kit/store_fixture.h"

#include "old_schema.h"

static const struct pw_text order = { "order", 5 };
enum { GRACE_MS = 1000, DEAD_MS = 10001 };

/* ---- Who is there ---------------------------------------------------------------------------------------------- */

static struct pw_runner_row row_of(int64_t owner, const char *name, const char *workflows, bool is_sharing)
{
    return (struct pw_runner_row){ .owner = owner,
                                   .name = text(name),
                                   .workflows = text(workflows),
                                   .is_sharing = is_sharing,
                                   .started_at_ms = FIXTURE_NOW_MS - 5 };
}

static void announce(struct fixture *fixture, struct pw_store *store, struct pw_runner_row row)
{
    assert_int_equal(store->ops->announce(store, row.owner, &fixture->error), PAWL_OK);
    assert_int_equal(store->ops->describe(store, &row, &fixture->error), PAWL_OK);
}

static struct pw_runner_row *list(struct fixture *fixture, size_t expected)
{
    const struct pw_read asked = { .kind = PW_READ_RUNNERS };
    struct pw_found found;
    assert_int_equal(pw_read(fixture->store, &asked, &fixture->arena, &found, &fixture->error), PAWL_OK);
    assert_int_equal(found.count, expected);
    return found.runners;
}

TEST_OF(fixture, a_runner_that_has_described_itself_is_listed)
{
    (void)list(fixture, 0);
    announce(fixture, fixture->store, row_of(9, "b:2", "order refund", true));
    announce(fixture, fixture->store, row_of(5, "a:1", "", false));
    fixture->now_ms += 7;
    struct pw_runner_row *rows = list(fixture, 2);
    assert_int_equal(rows[0].owner, 5);
    assert_text(rows[0].name, "a:1");
    assert_text(rows[0].workflows, "");
    assert_false(rows[0].is_sharing);
    assert_int_equal(rows[1].owner, 9);
    assert_text(rows[1].name, "b:2");
    assert_text(rows[1].workflows, "order refund");
    assert_true(rows[1].is_sharing);
    assert_int_equal(rows[1].started_at_ms, FIXTURE_NOW_MS - 5);
    assert_in_range(rows[1].seen_at_ms, FIXTURE_NOW_MS, FIXTURE_NOW_MS + 7);
}

TEST_OF(fixture, what_it_says_last_holds)
{
    struct pw_runner_row again = row_of(5, "a:1", "order", false);
    announce(fixture, fixture->store, row_of(5, "a:1", "order", true));
    assert_int_equal(fixture->store->ops->describe(fixture->store, &again, &fixture->error), PAWL_OK);
    assert_false(list(fixture, 1)->is_sharing);
}

TEST_OF(fixture, one_that_is_withdrawn_is_listed_no_more)
{
    announce(fixture, fixture->store, row_of(5, "a:1", "order", true));
    announce(fixture, fixture->store, row_of(6, "a:1", "order", true));
    fixture->store->ops->withdraw(fixture->store, 5);
    assert_int_equal(list(fixture, 1)->owner, 6);
}

/* ---- Of other processes ------------------------------------------------------------------------------------------ */

static int64_t row_count(struct fixture *fixture)
{
    return query_number(fixture, "SELECT count(*) FROM workflow_runner");
}

TEST_IN(on_databases, fixture, a_runner_of_another_process_is_listed_until_it_dies)
{
    struct pw_store *other = fixture_open_store(fixture);
    announce(fixture, other, row_of(5, "a:1", "order", true));
    announce(fixture, fixture->store, row_of(6, "b:1", "order", true));
    assert_int_equal(list(fixture, 2)->owner, 5);
    other->ops->close(other); /* as when its process ends: nothing is said */
    if (fixture->place.store == STORE_IN_POSTGRES) {
        struct pw_runner_row again = row_of(6, "b:1", "order", true);
        fixture->now_ms += DEAD_MS;
        assert_int_equal(fixture->store->ops->describe(fixture->store, &again, &fixture->error), PAWL_OK);
    }
    assert_int_equal(list(fixture, 1)->owner, 6);
}

/* In a file nobody beats, and nobody else would take them away. */
TEST_IN(on_databases, fixture, rows_of_the_dead_are_deleted)
{
    struct pw_store *other = fixture_open_store(fixture);
    if (fixture->place.store == STORE_IN_POSTGRES) { /* test_postgres.c */
        other->ops->close(other);
        return;
    }
    announce(fixture, other, row_of(5, "a:1", "order", true));
    other->ops->close(other);
    assert_int_equal(row_count(fixture), 1);
    announce(fixture, fixture->store, row_of(6, "b:1", "order", true));
    assert_int_equal(row_count(fixture), 1);
    fixture->store->ops->withdraw(fixture->store, 6);
    assert_int_equal(row_count(fixture), 1);
    (void)add(fixture_unit(fixture), PW_OP_REAP);
    fixture_apply_all(fixture);
    assert_int_equal(row_count(fixture), 0);
}

/* ---- Shares -------------------------------------------------------------------------------------------------------- */

/* A share of the shards of the ids in `own`, of "order" alone. */
struct part {
    char shards[PW_SHARD_COUNT + 1];
    struct pw_text owned;
    struct pw_share share;
};

static void make_part(struct part *part, const char *own)
{
    memset(part->shards, '0', PW_SHARD_COUNT);
    part->shards[PW_SHARD_COUNT] = '\0';
    for (; *own != '\0'; own++)
        part->shards[pw_shard_of(order, (struct pw_text){ own, 1 })] = '1';
    part->owned = (struct pw_text){ part->shards, PW_SHARD_COUNT };
    part->share = (struct pw_share){ .owned = &part->owned, .grace_ms = GRACE_MS };
}

static struct pw_op_claim *claim_part(struct fixture *fixture, const struct part *part, size_t max)
{
    fixture_clear_units(fixture);
    struct pw_op_claim *op = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
    *op = (struct pw_op_claim){ .workflows = &order,
                                .workflow_count = 1,
                                .share = part->share,
                                .max = max,
                                .owner = FIXTURE_OWNER,
                                .lease_ms = FIXTURE_LEASE_MS };
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    return op;
}

/* The ids, one letter each, in the order in which they were claimed. */
static void assert_claims(const struct pw_op_claim *op, const char *ids)
{
    assert_int_equal(op->claim_count, strlen(ids));
    for (size_t i = 0; i < op->claim_count; i++)
        assert_int_equal(op->claims[i].id.data[0], ids[i]);
}

static int64_t next_due_after(struct fixture *fixture, const struct pw_share *share, int64_t after_ms)
{
    int64_t at_ms = 0;
    assert_int_equal(pw_next_due(fixture->store, &order, 1, share, after_ms, &at_ms, &fixture->error), PAWL_OK);
    return at_ms;
}

static int64_t next_due(struct fixture *fixture, const struct pw_share *share)
{
    return next_due_after(fixture, share, PW_EVER);
}

TEST_OF(fixture, a_claim_takes_its_own_at_once_and_others_after_the_grace)
{
    struct part part;
    make_part(&part, "bd");
    for (const char *id = "a\0b\0c\0d\0"; *id != '\0'; id += 2, fixture->now_ms++)
        (void)create_instance(fixture, "order", id);
    assert_int_equal(next_due(fixture, &part.share), FIXTURE_NOW_MS + 1);
    assert_int_equal(next_due(fixture, NULL), FIXTURE_NOW_MS);
    assert_claims(claim_part(fixture, &part, 9), "bd");
    assert_int_equal(next_due(fixture, &part.share), FIXTURE_NOW_MS + GRACE_MS);

    fixture->now_ms = FIXTURE_NOW_MS + GRACE_MS - 1;
    assert_claims(claim_part(fixture, &part, 9), "");
    fixture->now_ms++;
    assert_claims(claim_part(fixture, &part, 9), "a");
    fixture->now_ms += 2;
    assert_claims(claim_part(fixture, &part, 9), "c");
}

TEST_OF(fixture, what_is_due_later_is_told_of_beside_what_is_due_already)
{
    struct part part;
    make_part(&part, "bd");
    for (const char *id = "a\0b\0"; *id != '\0'; id += 2)
        (void)create_instance(fixture, "order", id);
    (void)park(fixture, create_instance(fixture, "order", "c"), PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 20);
    (void)park(fixture, create_instance(fixture, "order", "d"), PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 40);
    assert_int_equal(next_due_after(fixture, NULL, FIXTURE_NOW_MS - 1), FIXTURE_NOW_MS);
    assert_int_equal(next_due_after(fixture, NULL, FIXTURE_NOW_MS), FIXTURE_NOW_MS + 20);
    assert_int_equal(next_due_after(fixture, &part.share, FIXTURE_NOW_MS - 1), FIXTURE_NOW_MS);
    assert_int_equal(next_due_after(fixture, &part.share, FIXTURE_NOW_MS), FIXTURE_NOW_MS + 40);
    assert_int_equal(next_due_after(fixture, &part.share, FIXTURE_NOW_MS + 40), FIXTURE_NOW_MS + GRACE_MS);
    assert_int_equal(next_due_after(fixture, &part.share, FIXTURE_NOW_MS + GRACE_MS), FIXTURE_NOW_MS + GRACE_MS + 20);
    assert_true(next_due_after(fixture, NULL, FIXTURE_NOW_MS + 40) == INT64_MAX);
    (void)create_held(fixture, "order", "b2");
    assert_int_equal(next_due_after(fixture, NULL, FIXTURE_NOW_MS + 40), FIXTURE_NOW_MS + FIXTURE_LEASE_MS);
}

/* C2: wake, retry, resume before run; in each the oldest first, own and others alike. */
TEST_OF(fixture, the_order_is_the_same_for_all_that_may_be_taken)
{
    struct part part;
    make_part(&part, "bd");
    (void)create_instance(fixture, "order", "a");
    struct pw_fence c = create_held(fixture, "order", "c");
    (void)park(fixture, c, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 3);
    struct pw_fence d = create_held(fixture, "order", "d");
    (void)park(fixture, d, PW_TASK_WAITING, PW_TASK_RETRY, FIXTURE_NOW_MS + 2);
    fixture->now_ms += 1;
    (void)create_instance(fixture, "order", "b");
    fixture->now_ms += GRACE_MS + 5;
    assert_claims(claim_part(fixture, &part, 3), "dca");
    assert_claims(claim_part(fixture, &part, 3), "b");
}

TEST_OF(fixture, an_expired_lease_is_its_owners_first_too)
{
    struct part part;
    make_part(&part, "b");
    (void)create_held(fixture, "order", "a");
    (void)create_held(fixture, "order", "b");
    fixture->now_ms += FIXTURE_LEASE_MS;
    assert_int_equal(next_due(fixture, &part.share), fixture->now_ms);
    assert_claims(claim_part(fixture, &part, 9), "b");
    fixture->now_ms += GRACE_MS - 1;
    assert_int_equal(next_due(fixture, &part.share), FIXTURE_NOW_MS + FIXTURE_LEASE_MS + GRACE_MS);
    assert_claims(claim_part(fixture, &part, 9), "");
    fixture->now_ms++;
    assert_true(claim_part(fixture, &part, 1)->claims[0].taken_over);
}

TEST_OF(fixture, who_owns_nothing_takes_what_is_left)
{
    struct part part;
    make_part(&part, "");
    assert_true(next_due(fixture, &part.share) == INT64_MAX);
    (void)create_instance(fixture, "order", "a");
    assert_claims(claim_part(fixture, &part, 9), "");
    assert_int_equal(next_due(fixture, &part.share), FIXTURE_NOW_MS + GRACE_MS);
    fixture->now_ms += GRACE_MS;
    assert_claims(claim_part(fixture, &part, 9), "a");
}

TEST_OF(fixture, a_share_of_all_is_no_share)
{
    struct part part;
    make_part(&part, "");
    part.owned = (struct pw_text){ NULL, 0 };
    (void)create_instance(fixture, "order", "a");
    assert_int_equal(next_due(fixture, &part.share), FIXTURE_NOW_MS);
    assert_claims(claim_part(fixture, &part, 9), "a");
}

static int64_t stored_shard(struct fixture *fixture)
{
    return query_number(fixture, "SELECT max(shard) FROM workflow_task");
}

TEST_OF(fixture, a_run_keeps_its_shard_over_restarts)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    int shard = pw_shard_of(order, text("a"));
    assert_int_not_equal(shard, 0);
    assert_int_equal(stored_shard(fixture), shard);
    for (int64_t run = 1; run <= 2; run++) { /* of an unfinished one, then of a finished one */
        struct pw_op_restart *op = &add(fixture_unit(fixture), PW_OP_RESTART)->as.restart;
        op->instance = at.instance;
        op->run = run;
        fixture_apply_all(fixture);
        assert_int_equal(stored_shard(fixture), shard);
        struct pw_fence again = { at.instance, run + 1, 0 };
        struct pw_unit *unit = fixture_unit(fixture);
        (void)add_fence(unit, again);
        (void)add_finish(unit, again, PW_OUTCOME_COMPLETE);
        fixture_apply_all(fixture);
    }
}

/* ---- The schema's third version -------------------------------------------------------------------------------------- */

TEST_IN(on_file, fixture, a_file_of_version_2_is_migrated_and_its_runs_go_on)
{
    struct part part;
    make_part(&part, "a");
    old_database_open(
        fixture, 2,
        "INSERT INTO workflow_instance (key, workflow, id, run, created_at, updated_at)"
        " VALUES (1, 'order', 'a', 1, 5, 5);"
        "INSERT INTO workflow_task (instance, workflow, run, status, kind, due_at, processing, epoch,"
        " pause_requested, updated_at, event_seq) VALUES (1, 'order', 1, 0, 3, 1700000000, 0, 0, 0, 5, 0)");
    assert_int_equal(stored_shard(fixture), 0); /* which is not its own, and does no harm */
    assert_claims(claim_part(fixture, &part, 9), "");
    fixture->now_ms += GRACE_MS;
    assert_claims(claim_part(fixture, &part, 9), "a");
    announce(fixture, fixture->store, row_of(5, "a:1", "order", true));
    (void)list(fixture, 1);
}
