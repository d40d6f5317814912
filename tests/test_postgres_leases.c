/* test_postgres_leases.c - leases of tasks that somebody keeps locked: a mutation that takes long, in this process or in
 * another, costs its own runner no lease (C1). */
#include "store_fixture.h"

#include <libpq-fe.h>
#include <pthread.h>

#include "base/clock.h"

enum { LATER_MS = 700 };

static PGconn *connect_raw(const struct fixture *fixture)
{
    PGconn *db = PQconnectdb(fixture->place.url);
    assert_int_equal(PQstatus(db), CONNECTION_OK);
    return db;
}

static void execute(PGconn *db, const char *sql)
{
    PGresult *result = PQexec(db, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(db));
    PQclear(result);
}

static void lock_task(PGconn *db, struct pw_fence at)
{
    char sql[96];
    (void)snprintf(sql, sizeof sql, "BEGIN; SELECT 1 FROM workflow_task WHERE instance = %d FOR UPDATE",
                   (int)at.instance);
    execute(db, sql);
}

/* All of them in one unit, as a runner does. */
static void renew(struct fixture *fixture, struct pw_lease *leases, size_t count)
{
    fixture_clear_units(fixture);
    add(fixture_unit(fixture), PW_OP_RENEW)->as.renew =
        (struct pw_op_renew){ FIXTURE_OWNER, FIXTURE_LEASE_MS, leases, count };
    int64_t begun_ms = pw_system_monotonic_ms();
    fixture_apply_all(fixture);
    assert_true(pw_system_monotonic_ms() - begun_ms < 5000); /* locks are waited for up to 10 s */
}

static int64_t leased_until(struct fixture *fixture, struct pw_fence at)
{
    return read_key(fixture, at.instance).task.locked_until_ms - FIXTURE_NOW_MS;
}

static void a_task_that_stays_locked_keeps_no_other_lease_from_being_renewed(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence locked = create_held(fixture, "order", "a"), free = create_held(fixture, "order", "b");
    PGconn *other = connect_raw(fixture);
    lock_task(other, locked);
    fixture->now_ms += LATER_MS;
    struct pw_lease leases[] = { { .fence = locked, .lost = true }, { .fence = free } };
    renew(fixture, leases, 2);
    assert_false(leases[0].lost || leases[1].lost);
    assert_int_equal(leased_until(fixture, locked), FIXTURE_LEASE_MS);
    assert_int_equal(leased_until(fixture, free), FIXTURE_LEASE_MS + LATER_MS);

    (void)create_instance(fixture, "order", "c"); /* still locked: nor does this wait */
    assert_int_equal(leased_until(fixture, locked), FIXTURE_LEASE_MS);
    execute(other, "COMMIT");
    (void)create_instance(fixture, "order", "d");
    assert_int_equal(leased_until(fixture, locked), FIXTURE_LEASE_MS + LATER_MS);
    PQfinish(other);
}

static void a_lease_that_is_not_renewed_yet_tells_what_is_demanded(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    add_pause(fixture_unit(fixture), at, true);
    fixture_apply_all(fixture);
    PGconn *other = connect_raw(fixture);
    lock_task(other, at);
    struct pw_lease lease = { .fence = at };
    renew(fixture, &lease, 1);
    assert_false(lease.lost);
    assert_true(lease.pause_requested);
    PQfinish(other);
}

static void a_lease_that_is_lost_is_told_so_though_its_task_is_locked(void **state) /* C1 */
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a"), before = at;
    before.epoch--;
    PGconn *other = connect_raw(fixture);
    lock_task(other, at);
    struct pw_lease lease = { .fence = before };
    renew(fixture, &lease, 1);
    assert_true(lease.lost);
    PQfinish(other);
}

/* Whoever had it locked has moved it on: the lease is not given back by a renewal that comes later. */
static void what_has_moved_on_in_between_is_not_renewed(void **state) /* C1 */
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    PGconn *other = connect_raw(fixture);
    lock_task(other, at);
    fixture->now_ms += LATER_MS;
    struct pw_lease lease = { .fence = at };
    renew(fixture, &lease, 1);
    execute(other, "UPDATE workflow_task SET epoch = epoch + 1, owner = 5");
    execute(other, "COMMIT");
    (void)create_instance(fixture, "order", "b");
    assert_int_equal(leased_until(fixture, at), FIXTURE_LEASE_MS);
    renew(fixture, &lease, 1);
    assert_true(lease.lost);
    PQfinish(other);
}

/* ---- The user's code ----------------------------------------------------------------------------------------------- */

struct slow {
    struct fixture *fixture;
    struct pw_fence at;
    pawl_status status;
};

/* A step whose SQL ends when the lock is there. */
static void *apply_slowly(void *user)
{
    struct slow *slow = user;
    struct pw_store *store = slow->fixture->store;
    struct pw_unit unit, *units[] = { &unit };
    pw_unit_init(&unit);
    (void)add_fence(&unit, slow->at);
    (void)add_sql(&unit, "SELECT pg_advisory_xact_lock(77)", NULL);
    (void)add_step(&unit, slow->at, 1, "slow");
    slow->status = store->ops->apply(store, units, 1, FIXTURE_NOW_MS, NULL);
    if (slow->status == PAWL_OK)
        slow->status = unit.status;
    pw_unit_clear(&unit);
    return NULL;
}

static void a_mutation_that_outlasts_its_lease_renews_it_itself(void **state) /* C1 */
{
    struct fixture *fixture = *state;
    struct slow slow = { .fixture = fixture, .at = create_held(fixture, "order", "a") };
    pthread_t thread;
    PGconn *other = connect_raw(fixture);
    execute(other, "SELECT pg_advisory_lock(77)");
    fixture->now_ms += LATER_MS;
    assert_int_equal(pthread_create(&thread, NULL, apply_slowly, &slow), 0);
    for (int i = 0; i < 1000 && query_number(fixture, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                                                      " AND objid = 77 AND NOT granted") == 0;
         i++)
        (void)usleep(10000);
    struct pw_lease lease = { .fence = slow.at };
    renew(fixture, &lease, 1);
    assert_false(lease.lost);
    assert_int_equal(leased_until(fixture, slow.at), FIXTURE_LEASE_MS);
    PQfinish(other);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(slow.status, PAWL_OK);
    assert_int_equal(leased_until(fixture, slow.at), FIXTURE_LEASE_MS + LATER_MS);
    assert_int_equal(try_fence(fixture, slow.at), PAWL_OK);
    assert_int_equal(step_count(fixture, slow.at), 1);
}

/* clang-format off */
int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_POSTGRES(a_task_that_stays_locked_keeps_no_other_lease_from_being_renewed)
        ON_POSTGRES(a_lease_that_is_not_renewed_yet_tells_what_is_demanded)
        ON_POSTGRES(a_lease_that_is_lost_is_told_so_though_its_task_is_locked)
        ON_POSTGRES(what_has_moved_on_in_between_is_not_renewed)
        ON_POSTGRES(a_mutation_that_outlasts_its_lease_renews_it_itself)
    };
    return cmocka_run_group_tests_name("leases in PostgreSQL", tests, NULL, NULL);
}
/* clang-format on */
