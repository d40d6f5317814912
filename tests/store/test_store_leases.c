/* test_store_leases.c - claiming, renewing, and when the next task is due, on all stores. */
#include "kit/store_fixture.h"

static const struct pw_text order = { "order", 5 };

static struct pw_op_claim *claim(struct fixture *fixture, size_t max)
{
    return fixture_claim(fixture, &order, 1, max);
}

TEST_OF(fixture, a_due_task_is_claimed_once) /* C1 */
{
    struct pw_op_create *created = add_create(fixture_unit(fixture), "order", "a");
    created->params = text("[1]");
    fixture_apply(fixture);
    struct pw_fence at = created->fence;
    fixture->now_ms += 5;
    struct pw_op_claim *op = claim(fixture, 10);

    assert_int_equal(op->claim_count, 1);
    assert_int_equal(op->claims[0].fence.instance, at.instance);
    assert_int_equal(op->claims[0].fence.run, 1);
    assert_int_equal(op->claims[0].fence.epoch, at.epoch + 1);
    assert_text(op->claims[0].workflow, "order");
    assert_text(op->claims[0].id, "a");
    assert_int_equal(op->claims[0].kind, PW_TASK_RUN);
    assert_true(op->claims[0].is_first);
    assert_false(op->claims[0].taken_over);
    assert_true(op->claims[0].has_instance);
    assert_text(op->claims[0].params, "[1]");
    assert_int_equal(op->claims[0].created_at_ms, FIXTURE_NOW_MS);
    struct pw_instance row = read_key(fixture, at.instance);
    assert_true(row.task.processing);
    assert_int_equal(row.task.owner, FIXTURE_OWNER);
    assert_int_equal(row.task.locked_until_ms, fixture->now_ms + FIXTURE_LEASE_MS);
    assert_int_equal(row.task.epoch, at.epoch + 1);
    assert_int_equal(row.started_at_ms, fixture->now_ms);
    assert_int_equal(claim(fixture, 10)->claim_count, 0);
}

TEST_OF(fixture, tasks_that_are_not_due_paused_or_of_other_workflows_are_left)
{
    (void)park(fixture, create_instance(fixture, "order", "later"), PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 1);
    (void)park(fixture, create_instance(fixture, "order", "paused"), PW_TASK_PAUSED, PW_TASK_WAKE, PW_NOW);
    (void)create_instance(fixture, "refund", "other");
    assert_int_equal(claim(fixture, 10)->claim_count, 0);
    fixture->now_ms++;
    struct pw_op_claim *op = claim(fixture, 10);
    assert_int_equal(op->claim_count, 1);
    assert_text(op->claims[0].id, "later");
}

TEST_OF(fixture, wakes_retries_and_resumes_go_before_runs_and_the_oldest_due_first) /* C2 */
{
    const struct pw_text both[] = { text("order"), text("refund") };
    (void)create_instance(fixture, "order", "run-1");
    fixture->now_ms += 100;
    (void)create_instance(fixture, "refund", "run-2");
    (void)park(fixture, create_instance(fixture, "order", "resume"), PW_TASK_ACTIVE, PW_TASK_RESUME,
               FIXTURE_NOW_MS + 30);
    (void)park(fixture, create_instance(fixture, "refund", "retry"), PW_TASK_WAITING, PW_TASK_RETRY,
               FIXTURE_NOW_MS + 10);
    (void)park(fixture, create_instance(fixture, "order", "wake"), PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 20);

    struct pw_op_claim *op = fixture_claim(fixture, both, 2, 4);
    static const char *const expected[] = { "retry", "wake", "resume", "run-1" };
    assert_int_equal(op->claim_count, 4);
    for (size_t position = 0; position < 4; position++)
        assert_text(op->claims[position].id, expected[position]);
    op = fixture_claim(fixture, both, 2, 4);
    assert_int_equal(op->claim_count, 1);
    assert_text(op->claims[0].id, "run-2");
}

TEST_OF(fixture, no_more_than_max_are_claimed)
{
    static const char *const ids[] = { "a", "b", "c" };
    for (size_t position = 0; position < 3; position++)
        (void)create_instance(fixture, "order", ids[position]);
    assert_int_equal(claim(fixture, 0)->claim_count, 0);
    struct pw_op_claim *op = claim(fixture, 2);
    assert_int_equal(op->claim_count, 2);
    assert_text(op->claims[0].id, "a");
    assert_text(op->claims[1].id, "b");
}

TEST_OF(fixture, an_expired_lease_is_claimed_in_the_first_group_and_fences_its_holder_out) /* C1 */
{
    struct pw_fence lost = create_held(fixture, "order", "lost");
    (void)create_instance(fixture, "order", "fresh");
    fixture->now_ms += FIXTURE_LEASE_MS - 1;
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_task WHERE processing = 1"), 1);
    assert_int_equal(claim(fixture, 1)->claims[0].kind, PW_TASK_RUN); /* the lease still holds */
    (void)create_instance(fixture, "order", "fresher");
    fixture->now_ms++;
    struct pw_op_claim *op = claim(fixture, 10);

    assert_int_equal(op->claim_count, 2);
    assert_text(op->claims[0].id, "lost");
    assert_int_equal(op->claims[0].fence.epoch, lost.epoch + 1);
    assert_true(op->claims[0].taken_over);
    assert_false(op->claims[0].is_first);
    assert_text(op->claims[1].id, "fresher");
    assert_int_equal(try_fence(fixture, lost), PAWL_CONFLICT);
}

TEST_OF(fixture, an_expired_lease_that_was_asked_to_pause_becomes_paused)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    ask_to_pause(fixture, at);
    fixture_apply_all(fixture);
    fixture->now_ms += FIXTURE_LEASE_MS;
    assert_int_equal(claim(fixture, 10)->claim_count, 0);
    struct pw_task task = read_key(fixture, at.instance).task;
    assert_int_equal(task.status, PW_TASK_PAUSED);
    assert_int_equal(task.epoch, at.epoch + 1);
    assert_false(task.processing);
    assert_false(task.pause_requested);
    fixture->now_ms += FIXTURE_LEASE_MS;
    assert_int_equal(claim(fixture, 10)->claim_count, 0);
}

TEST_OF(fixture, a_lease_that_becomes_paused_takes_nobodys_place_in_a_claim)
{
    struct pw_fence asked = create_held(fixture, "order", "asked"), other = create_held(fixture, "order", "other");
    ask_to_pause(fixture, asked);
    fixture_apply_all(fixture);
    fixture->now_ms += FIXTURE_LEASE_MS;
    struct pw_op_claim *op = claim(fixture, 1);
    assert_int_equal(op->claim_count, 1);
    assert_int_equal(op->claims[0].fence.instance, other.instance);
}

TEST_OF(fixture, pending_tasks_ignore_lease_columns) /* C1 */
{
    (void)create_instance(fixture, "order", "a");
    run_raw_sql(fixture, "UPDATE workflow_task SET owner = 5, locked_until = 9999999999999");
    assert_int_equal(claim(fixture, 10)->claim_count, 1);
}

TEST_OF(fixture, a_lease_is_renewed_only_while_it_is_owned) /* C1 */
{
    struct pw_fence mine = create_held(fixture, "order", "mine");
    struct pw_fence moved = create_held(fixture, "order", "moved");
    struct pw_fence parked = create_held(fixture, "order", "parked");
    struct pw_fence ended = create_held(fixture, "order", "ended");
    (void)add_hold(fixture_unit(fixture), moved);
    (void)add_park(fixture_unit(fixture), parked, PW_TASK_WAITING, PW_TASK_WAKE, PW_NOW);
    (void)add_finish(fixture_unit(fixture), ended, PW_OUTCOME_COMPLETE);
    ask_to_pause(fixture, mine);
    fixture_apply_all(fixture);
    fixture->now_ms += 10;
    struct pw_lease leases[] = { { .fence = mine }, { .fence = moved }, { .fence = parked }, { .fence = ended } };
    struct pw_op_renew *op = &add(fixture_unit(fixture), PW_OP_RENEW)->as.renew;
    *op = (struct pw_op_renew){ FIXTURE_OWNER, FIXTURE_LEASE_MS, leases, 4 };
    fixture_apply_all(fixture);

    assert_false(leases[0].lost);
    assert_true(leases[0].pause_requested);
    assert_true(leases[1].lost);
    assert_true(leases[2].lost);
    assert_true(leases[3].lost);
    assert_int_equal(read_key(fixture, mine.instance).task.locked_until_ms, fixture->now_ms + FIXTURE_LEASE_MS);
    assert_int_equal(read_key(fixture, moved.instance).task.locked_until_ms, FIXTURE_NOW_MS + FIXTURE_LEASE_MS);
    assert_int_equal(try_fence(fixture, mine), PAWL_OK);
}

TEST_OF(fixture, another_owners_lease_is_not_renewed)
{
    struct pw_lease lease = { .fence = create_held(fixture, "order", "a") };
    struct pw_op_renew *op = &add(fixture_unit(fixture), PW_OP_RENEW)->as.renew;
    *op = (struct pw_op_renew){ FIXTURE_OWNER + 1, FIXTURE_LEASE_MS, &lease, 1 };
    fixture_apply_all(fixture);
    assert_true(lease.lost);
}

static int64_t next_due(struct fixture *fixture, const struct pw_text *workflows, size_t count)
{
    int64_t at_ms = 0;
    assert_int_equal(pw_next_due(fixture->store, workflows, count, NULL, PW_EVER, &at_ms, &fixture->error), PAWL_OK);
    return at_ms;
}

TEST_OF(fixture, the_next_due_time_is_the_earliest_task_or_lease)
{
    const struct pw_text both[] = { text("order"), text("refund") };
    assert_true(next_due(fixture, both, 2) == INT64_MAX);
    (void)park(fixture, create_instance(fixture, "order", "paused"), PW_TASK_PAUSED, PW_TASK_WAKE, PW_NOW);
    assert_true(next_due(fixture, both, 2) == INT64_MAX);
    (void)create_held(fixture, "refund", "leased");
    assert_int_equal(next_due(fixture, both, 2), FIXTURE_NOW_MS + FIXTURE_LEASE_MS);
    assert_true(next_due(fixture, both, 1) == INT64_MAX);
    (void)park(fixture, create_instance(fixture, "order", "wake"), PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 50);
    assert_int_equal(next_due(fixture, both, 2), FIXTURE_NOW_MS + 50);
    (void)create_instance(fixture, "order", "run");
    assert_int_equal(next_due(fixture, both, 2), FIXTURE_NOW_MS);
}

static size_t claim_but_for(struct fixture *fixture, const struct pw_share *share, size_t max,
                            struct pw_claim *out_first)
{
    fixture_clear_units(fixture);
    struct pw_op_claim *op = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
    *op = (struct pw_op_claim){ .workflows = &order,
                                .workflow_count = 1,
                                .share = *share,
                                .max = max,
                                .owner = FIXTURE_OWNER,
                                .lease_ms = FIXTURE_LEASE_MS };
    fixture_apply(fixture); /* the answer lives until the units are cleared */
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    if (op->claim_count > 0)
        *out_first = op->claims[0];
    return op->claim_count;
}

/* One to begin, one to go on with and one whose lease is over, each before those that are not left out. */
TEST_OF(fixture, what_a_share_leaves_out_is_neither_claimed_nor_due)
{
    char shards[PW_SHARD_COUNT];
    memset(shards, '0', sizeof shards);
    const struct pw_text none = { shards, sizeof shards };
    const int64_t except[] = {
        create_held(fixture, "order", "expired").instance, create_instance(fixture, "order", "run").instance,
        park(fixture, create_instance(fixture, "order", "wake"), PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 1)
            .instance
    };
    const struct pw_share shares[] = { { .except = except, .except_count = 3 },
                                       { .owned = &none, .grace_ms = 1, .except = except, .except_count = 3 } };
    fixture->now_ms += FIXTURE_LEASE_MS + 100;
    (void)create_instance(fixture, "order", "other");
    fixture->now_ms += 100;
    for (size_t i = 0; i < 2; i++) {
        int64_t at_ms = 0;
        struct pw_claim first;
        assert_int_equal(claim_but_for(fixture, &shares[i], 1, &first), 1);
        assert_text(first.id, "other");
        assert_int_equal(claim_but_for(fixture, &shares[i], 10, &first), 0);
        assert_int_equal(pw_next_due(fixture->store, &order, 1, &shares[i], PW_EVER, &at_ms, &fixture->error), PAWL_OK);
        assert_int_equal(at_ms, fixture->now_ms + FIXTURE_LEASE_MS + shares[i].grace_ms); /* the other's lease */
        fixture->now_ms += FIXTURE_LEASE_MS + 100;
    }
    struct pw_share all = { .except = except, .except_count = 2 };
    struct pw_claim first;
    assert_int_equal(claim_but_for(fixture, &all, 10, &first), 2);
    assert_text(first.id, "wake");
}

/* ---- Runners that live ------------------------------------------------------------------------------------------------- */

/* SQLite alone: PostgreSQL's leases end by the database's clock, and its runners are heard of otherwise. */
static bool watches(const struct fixture *fixture)
{
    return fixture->place.store != STORE_IN_POSTGRES;
}

static void announce(struct fixture *fixture, int64_t owner)
{
    assert_int_equal(fixture->store->ops->announce(fixture->store, owner, &fixture->error), PAWL_OK);
}

TEST_OF(fixture, a_fence_renews_the_lease_when_it_holds)
{
    struct pw_fence at = create_held(fixture, "order", "a"), lost = at;
    fixture->now_ms += FIXTURE_LEASE_MS - 1;
    add_fence(fixture_unit(fixture), at)->lease_ms = 5 * FIXTURE_LEASE_MS;
    fixture_apply_all(fixture);
    assert_int_equal(read_key(fixture, at.instance).task.locked_until_ms, fixture->now_ms + 5 * FIXTURE_LEASE_MS);
    lost.epoch--;
    add_fence(fixture_unit(fixture), lost)->lease_ms = 9 * FIXTURE_LEASE_MS;
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_CONFLICT);
    assert_int_equal(read_key(fixture, at.instance).task.locked_until_ms, fixture->now_ms + 5 * FIXTURE_LEASE_MS);
}

TEST_OF(fixture, an_expired_lease_of_a_runner_that_lives_is_taken_when_it_was_seen_for_a_lease)
{
    if (!watches(fixture))
        return;
    announce(fixture, FIXTURE_OWNER);
    struct pw_fence at = create_held(fixture, "order", "a");
    fixture->now_ms += FIXTURE_LEASE_MS;
    assert_int_equal(next_due(fixture, &order, 1), fixture->now_ms);
    assert_int_equal(claim(fixture, 10)->claim_count, 0);
    assert_int_equal(next_due(fixture, &order, 1), fixture->now_ms + FIXTURE_LEASE_MS);
    fixture->now_ms += FIXTURE_LEASE_MS - 1;
    assert_int_equal(claim(fixture, 10)->claim_count, 0);
    assert_int_equal(next_due(fixture, &order, 1), fixture->now_ms + 1);
    fixture->now_ms++;
    assert_int_equal(next_due(fixture, &order, 1), FIXTURE_NOW_MS + FIXTURE_LEASE_MS);
    assert_int_equal(claim(fixture, 10)->claim_count, 1);
    assert_int_equal(try_fence(fixture, at), PAWL_CONFLICT);
    fixture->store->ops->withdraw(fixture->store, FIXTURE_OWNER);
}

TEST_OF(fixture, a_runner_that_is_gone_loses_its_leases_when_they_expire)
{
    announce(fixture, FIXTURE_OWNER);
    (void)create_held(fixture, "order", "a");
    fixture->store->ops->withdraw(fixture->store, FIXTURE_OWNER);
    fixture->now_ms += FIXTURE_LEASE_MS;
    assert_int_equal(claim(fixture, 10)->claim_count, 1);
}

TEST_OF(fixture, a_renewal_is_seen_and_the_watch_begins_anew)
{
    if (!watches(fixture))
        return;
    announce(fixture, FIXTURE_OWNER);
    struct pw_fence at = create_held(fixture, "order", "a");
    for (int i = 0; i < 5; i++) {
        fixture->now_ms += FIXTURE_LEASE_MS;
        assert_int_equal(claim(fixture, 10)->claim_count, 0);
        fixture->now_ms += FIXTURE_LEASE_MS - 1;
        add_fence(fixture_unit(fixture), at)->lease_ms = FIXTURE_LEASE_MS;
        fixture_apply_all(fixture);
    }
    fixture->store->ops->withdraw(fixture->store, FIXTURE_OWNER);
}

/* Whoever reaps sees all leases, so that nobody has to begin to look when they expire. */
TEST_OF(fixture, a_lease_that_reaping_saw_is_taken_when_it_expires)
{
    announce(fixture, FIXTURE_OWNER);
    (void)create_held(fixture, "order", "a");
    (void)add(fixture_unit(fixture), PW_OP_REAP);
    fixture_apply_all(fixture);
    fixture->now_ms += FIXTURE_LEASE_MS;
    assert_int_equal(claim(fixture, 10)->claim_count, 1);
    fixture->store->ops->withdraw(fixture->store, FIXTURE_OWNER);
}

TEST_OF(fixture, a_pause_of_a_runner_that_lives_waits_for_it)
{
    if (!watches(fixture))
        return;
    announce(fixture, FIXTURE_OWNER);
    struct pw_fence at = create_held(fixture, "order", "a");
    ask_to_pause(fixture, at);
    fixture_apply_all(fixture);
    fixture->now_ms += FIXTURE_LEASE_MS;
    assert_int_equal(claim(fixture, 10)->claim_count, 0);
    assert_true(read_key(fixture, at.instance).task.processing);
    fixture->now_ms += FIXTURE_LEASE_MS;
    assert_int_equal(claim(fixture, 10)->claim_count, 0);
    assert_int_equal(read_key(fixture, at.instance).task.status, PW_TASK_PAUSED);
    fixture->store->ops->withdraw(fixture->store, FIXTURE_OWNER);
}

TEST_OF(fixture, what_is_watched_counts_as_leased)
{
    if (!watches(fixture))
        return;
    announce(fixture, FIXTURE_OWNER);
    (void)create_held(fixture, "order", "a");
    (void)create_instance(fixture, "order", "b");
    fixture->now_ms += FIXTURE_LEASE_MS;
    struct pw_op *op = add(fixture_unit(fixture), PW_OP_CLAIM);
    op->as.claim = (struct pw_op_claim){ .workflows = &order,
                                         .workflow_count = 1,
                                         .max = 10,
                                         .leased_max = 1,
                                         .owner = FIXTURE_OWNER + 1,
                                         .lease_ms = FIXTURE_LEASE_MS };
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    assert_int_equal(op->as.claim.claim_count, 0);
    fixture->store->ops->withdraw(fixture->store, FIXTURE_OWNER);
}
