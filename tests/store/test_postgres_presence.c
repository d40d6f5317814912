/* test_postgres_presence.c - who is taken for dead (C1): a runner that is not heard of, by one who would have heard of it. */
#include "kit/store_fixture.h"

#include <sched.h>

#include "base/clock.h"
#include "store/postgres/postgres.h"

/* With the database's own time, in which hearts beat by themselves. */
static struct pw_store *open_in_real_time(struct fixture *fixture)
{
    struct pw_store *store = NULL;
    struct pawl_clock clock = { .now_ms = pw_system_now_ms, .user = NULL };
    assert_int_equal(pw_store_open(fixture->place.url, clock, &store, &fixture->error), PAWL_OK);
    return store;
}

/* Leases of runner 8, who was not heard of for a minute, and of 9, who has said that it goes. */
static int64_t reap(struct fixture *fixture, struct pw_store *store)
{
    run_raw_sql(fixture, "INSERT INTO workflow_runner (owner, started_at, heartbeat_at)"
                         " SELECT 8, 1, (extract(epoch FROM now()) * 1000)::bigint - 60000 UNION ALL SELECT 9, 1, 0"
                         " ON CONFLICT (owner) DO NOTHING;"
                         "UPDATE workflow_task SET processing = 1, owner = right(workflow, 1)::bigint,"
                         " locked_until = (extract(epoch FROM now()) * 1000)::bigint + 600000");
    fixture_clear_units(fixture);
    struct pw_op_reap *op = &add(fixture_unit(fixture), PW_OP_REAP)->as.reap;
    assert_int_equal(fixture_apply_on(fixture, store), PAWL_OK);
    fixture->now_ms = store->ops->now_ms(store);
    return op->reaped;
}

/* Who comes, or comes back, when the server was away for all may be the first to do so. */
TEST_IN(on_postgres, fixture, who_has_only_come_takes_nobody_for_dead)
{
    struct pw_store *store = open_in_real_time(fixture);
    struct pw_pg_presence *presence = &((struct pw_postgres *)store)->presence;
    int64_t silent = create_instance(fixture, "of 8", "a").instance;
    int64_t gone = create_instance(fixture, "of 9", "a").instance;
    assert_int_equal(store->ops->announce(store, 5, &fixture->error), PAWL_OK);
    assert_int_equal(reap(fixture, store), 1);
    assert_true(read_key(fixture, silent).task.locked_until_ms > fixture->now_ms);
    assert_false(read_key(fixture, gone).task.locked_until_ms > fixture->now_ms);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runner"), 3);

    (void)pthread_mutex_lock(&presence->lock); /* as if it had come long ago */
    presence->beaten_at_ms = pw_system_monotonic_ms();
    presence->beating_since_ms = presence->beaten_at_ms - PW_PG_DEAD_MS;
    (void)pthread_mutex_unlock(&presence->lock);
    assert_int_equal(reap(fixture, store), 2);
    assert_false(read_key(fixture, silent).task.locked_until_ms > fixture->now_ms);
    store->ops->close(store);
}

TEST(a_heart_that_missed_beats_begins_anew)
{
    struct pw_pg_presence presence;
    assert_true(pw_pg_presence_init(&presence));
    assert_false(pw_pg_presence_can_tell(&presence, 100000));
    for (int64_t at_ms = 1000; at_ms <= 13000; at_ms += 3000)
        pw_pg_presence_note_beat(&presence, at_ms);
    assert_false(pw_pg_presence_can_tell(&presence, 10999));
    assert_true(pw_pg_presence_can_tell(&presence, 13500));
    assert_false(
        pw_pg_presence_can_tell(&presence, 29000)); /* the server was away, and our heart has not beaten since */
    for (int64_t at_ms = 29000; at_ms <= 38000; at_ms += 3000) {
        pw_pg_presence_note_beat(&presence, at_ms);
        assert_false(pw_pg_presence_can_tell(&presence, at_ms));
    }
    pw_pg_presence_note_beat(&presence, 41000);
    assert_true(pw_pg_presence_can_tell(&presence, 41000));
    pw_pg_presence_note_beat(&presence, 45000); /* one that was late is no gap */
    assert_true(pw_pg_presence_can_tell(&presence, 45000));
    pw_pg_presence_clear(&presence);
}

static bool has_beaten(struct pw_pg_presence *presence)
{
    (void)pthread_mutex_lock(&presence->lock);
    bool beaten = presence->beaten_at_ms != 0;
    (void)pthread_mutex_unlock(&presence->lock);
    return beaten;
}

/* The thread that beats was late, as in a process that was stopped: a renewal need not wait for it. */
TEST_IN(on_postgres, fixture, a_fence_that_renews_beats_for_a_runner_whose_heart_is_late)
{
    struct pw_store *store = open_in_real_time(fixture);
    struct pw_pg_presence *presence = &((struct pw_postgres *)store)->presence;
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(store->ops->announce(store, FIXTURE_OWNER, &fixture->error), PAWL_OK);
    while (!has_beaten(presence)) /* the next beat is three seconds later */
        (void)sched_yield();
    assert_true(store->ops->is_heard(store, FIXTURE_OWNER, INT64_MAX));
    (void)pthread_mutex_lock(&presence->lock);
    presence->owners[0].heard_at_ms = pw_system_monotonic_ms() - PW_PG_DEAD_MS + PW_PG_DEAD_MS / 3 - 1;
    (void)pthread_mutex_unlock(&presence->lock);
    assert_false(store->ops->is_heard(store, FIXTURE_OWNER, INT64_MAX));
    run_raw_sql(fixture, "UPDATE workflow_runner SET heartbeat_at = 5");

    int64_t begun_ms = store->ops->now_ms(store);
    add_fence(fixture_unit(fixture), at)->lease_ms = FIXTURE_LEASE_MS;
    assert_int_equal(fixture_apply_on(fixture, store), PAWL_OK);

    assert_true(store->ops->is_heard(store, FIXTURE_OWNER, INT64_MAX));
    assert_in_range(query_number(fixture, "SELECT heartbeat_at FROM workflow_runner"), begun_ms,
                    store->ops->now_ms(store));
    /* who was never announced here */
    assert_false(store->ops->is_heard(store, FIXTURE_OWNER + 1, INT64_MAX));
    store->ops->close(store);
}

/* The process was stopped for longer than others wait for a heartbeat.  Then its heart beats before anything else happens:
 * that says nothing about the leases that it had before. */
TEST_IN(on_postgres, fixture, a_heartbeat_after_a_gap_vouches_for_no_lease_that_is_older)
{
    struct pw_store *store = open_in_real_time(fixture);
    struct pw_pg_presence *presence = &((struct pw_postgres *)store)->presence;
    assert_int_equal(store->ops->announce(store, FIXTURE_OWNER, &fixture->error), PAWL_OK);
    while (!has_beaten(presence))
        (void)sched_yield();
    int64_t leased_at_ms = pw_system_monotonic_ms();
    assert_true(store->ops->is_heard(store, FIXTURE_OWNER, leased_at_ms));

    int64_t now_ms = leased_at_ms + PW_PG_DEAD_MS;
    pw_pg_presence_note_heard(presence, PW_PG_EVERYBODY, now_ms, now_ms);

    assert_false(store->ops->is_heard(store, FIXTURE_OWNER, leased_at_ms));
    assert_true(store->ops->is_heard(store, FIXTURE_OWNER, now_ms));
    store->ops->close(store);
}

/* Each heartbeat was sent soon after the one before, but the second was long under way. */
TEST_IN(on_postgres, fixture, a_heartbeat_that_was_long_under_way_is_a_gap)
{
    struct pw_store *store = open_in_real_time(fixture);
    struct pw_pg_presence *presence = &((struct pw_postgres *)store)->presence;
    assert_int_equal(store->ops->announce(store, FIXTURE_OWNER, &fixture->error), PAWL_OK);
    while (!has_beaten(presence))
        (void)sched_yield();
    int64_t leased_at_ms = pw_system_monotonic_ms();

    int64_t sent_at_ms = leased_at_ms + PW_PG_DEAD_MS / 2;
    pw_pg_presence_note_heard(presence, PW_PG_EVERYBODY, sent_at_ms, sent_at_ms + PW_PG_DEAD_MS / 2);

    assert_false(store->ops->is_heard(store, FIXTURE_OWNER, leased_at_ms));
    store->ops->close(store);
}
