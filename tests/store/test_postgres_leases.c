/* test_postgres_leases.c - leases of tasks that somebody keeps locked: whatever takes long, in this process or in another,
 * costs nobody a lease (C1, G1). */
#include "kit/store_fixture.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <pthread.h>

#include "base/clock.h"

enum { LATER_MS = 700, OVER_MS = FIXTURE_LEASE_MS + 100, OTHER_OWNER = 88 };

/* The clock of another process's store, which is read while it carries something out. */
static _Atomic int64_t others_ms;

static int64_t others_now(void *user)
{
    (void)user;
    return atomic_load(&others_ms);
}

static struct pw_store *open_other(struct fixture *fixture)
{
    struct pw_store *store = NULL;
    atomic_store(&others_ms, FIXTURE_NOW_MS);
    assert_int_equal(
        pw_store_open(fixture->url, (struct pawl_clock){ .now_ms = others_now, .user = NULL }, &store, &fixture->error),
        PAWL_OK);
    return store;
}

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
static void renew_for(struct fixture *fixture, int64_t owner, struct pw_lease *leases, size_t count)
{
    fixture_clear_units(fixture);
    add(fixture_unit(fixture), PW_OP_RENEW)->as.renew = (struct pw_op_renew){ owner, FIXTURE_LEASE_MS, leases, count };
    int64_t begun_ms = pw_system_monotonic_ms();
    fixture_apply_all(fixture);
    assert_true(pw_system_monotonic_ms() - begun_ms < 5000); /* locks are waited for up to 10 s */
}

static void renew(struct fixture *fixture, struct pw_lease *leases, size_t count)
{
    renew_for(fixture, FIXTURE_OWNER, leases, count);
}

/* One that is locked: it is owed. */
static void renew_in_vain(struct fixture *fixture, struct pw_fence at)
{
    struct pw_lease lease = { .fence = at, .lost = true };
    renew(fixture, &lease, 1);
    assert_false(lease.lost);
}

/* With a limit, unless that is 0. */
static struct pw_op_claim *add_claim(struct pw_unit *unit, const struct pw_text *workflow, int64_t owner, size_t max,
                                     size_t leased_max)
{
    struct pw_op_claim *op = &add(unit, PW_OP_CLAIM)->as.claim;
    *op = (struct pw_op_claim){ .workflows = workflow,
                                .workflow_count = 1,
                                .max = max,
                                .leased_max = leased_max,
                                .owner = owner,
                                .lease_ms = FIXTURE_LEASE_MS };
    return op;
}

/* How many were claimed. */
static size_t claim_on(struct fixture *fixture, struct pw_store *store, const char *workflow, size_t leased_max)
{
    struct pw_text name = text(workflow);
    fixture_clear_units(fixture);
    struct pw_op_claim *op = add_claim(fixture_unit(fixture), &name, OTHER_OWNER, 10, leased_max);
    int64_t begun_ms = pw_system_monotonic_ms();
    assert_int_equal(fixture_apply_on(fixture, store), PAWL_OK);
    assert_true(pw_system_monotonic_ms() - begun_ms < 5000);
    size_t count = op->claim_count;
    fixture_clear_units(fixture);
    return count;
}

static int64_t leased_until(struct fixture *fixture, struct pw_fence at)
{
    return read_key(fixture, at.instance).task.locked_until_ms - FIXTURE_NOW_MS;
}

TEST_IN(on_postgres, fixture, a_task_that_stays_locked_keeps_no_other_lease_from_being_renewed)
{
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

TEST_IN(on_postgres, fixture, a_lease_that_is_not_renewed_yet_tells_what_is_demanded)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    ask_to_pause(fixture, at);
    fixture_apply_all(fixture);
    PGconn *other = connect_raw(fixture);
    lock_task(other, at);
    struct pw_lease lease = { .fence = at };
    renew(fixture, &lease, 1);
    assert_false(lease.lost);
    assert_true(lease.pause_requested);
    PQfinish(other);
}

TEST_IN(on_postgres, fixture, a_lease_that_is_lost_is_told_so_though_its_task_is_locked) /* C1 */
{
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
TEST_IN(on_postgres, fixture, what_has_moved_on_in_between_is_not_renewed) /* C1 */
{
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

TEST_IN(on_postgres, fixture, a_worker_outside_waits_for_nobody_when_it_renews_its_lease) /* G1 */
{
    struct pw_op_create *op = add_create(fixture_unit(fixture), "job", "a");
    op->hold_owner = FIXTURE_OUTSIDE;
    op->hold_lease_ms = FIXTURE_LEASE_MS;
    fixture_apply(fixture);
    struct pw_fence at = op->fence;
    PGconn *other = connect_raw(fixture);
    lock_task(other, at);
    fixture->now_ms += LATER_MS;
    struct pw_lease lease = { .fence = at, .lost = true };
    renew_for(fixture, FIXTURE_OUTSIDE, &lease, 1);
    assert_false(lease.lost);
    execute(other, "COMMIT");
    (void)create_instance(fixture, "order", "b");
    assert_int_equal(leased_until(fixture, at), FIXTURE_LEASE_MS + LATER_MS);
    PQfinish(other);
}

/* ---- What is owed ---------------------------------------------------------------------------------------------------- */

TEST_IN(on_postgres, fixture, what_is_owed_is_still_owed_after_a_renewal_that_failed) /* C1 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    PGconn *raw = connect_raw(fixture);
    lock_task(raw, at);
    fixture->now_ms += LATER_MS;
    renew_in_vain(fixture, at);
    execute(raw, "COMMIT");
    execute(raw, "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                 " RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'no room'; END $$;"
                 "CREATE TRIGGER full_disk BEFORE UPDATE ON workflow_task FOR EACH ROW EXECUTE FUNCTION full_disk()");
    struct pw_lease lease = { .fence = at };
    add(fixture_unit(fixture), PW_OP_RENEW)->as.renew =
        (struct pw_op_renew){ FIXTURE_OWNER, FIXTURE_LEASE_MS, &lease, 1 };
    assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_STORE_FULL);
    fixture_clear_units(fixture);
    execute(raw, "DROP TRIGGER full_disk ON workflow_task");
    (void)create_instance(fixture, "order", "b"); /* the next that finds it free */
    assert_int_equal(leased_until(fixture, at), FIXTURE_LEASE_MS + LATER_MS);
    PQfinish(raw);
}

TEST_IN(on_postgres, fixture, who_renews_no_more_keeps_no_lease_by_what_was_owed_to_him) /* C1 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    PGconn *raw = connect_raw(fixture);
    lock_task(raw, at);
    renew_in_vain(fixture, at);
    fixture->now_ms += OVER_MS;
    assert_int_equal(claim_on(fixture, fixture->store, "order", 0), 0); /* locked */
    execute(raw, "COMMIT");
    assert_int_equal(claim_on(fixture, fixture->store, "order", 0), 1);
    PQfinish(raw);
}

/* ---- Limits ------------------------------------------------------------------------------------------------------------ */

static void take_gate(PGconn *db, const char *workflow)
{
    char sql[96];
    (void)snprintf(sql, sizeof sql, "SELECT pg_advisory_lock(%" PRId64 ")",
                   (int64_t)pw_stable_hash(pw_stable_hash(0, text("pawl: leases of ")), text(workflow)));
    execute(db, sql);
}

TEST_IN(on_postgres, fixture, a_lease_that_is_owed_counts_in_its_functions_limit) /* G1 */
{
    struct pw_store *other = fixture_open_store(fixture);
    struct pw_fence at = create_held(fixture, "job", "a");
    (void)create_instance(fixture, "job", "b");
    PGconn *raw = connect_raw(fixture);
    lock_task(raw, at);
    fixture->now_ms = FIXTURE_NOW_MS + LATER_MS;
    renew_in_vain(fixture, at);
    fixture->now_ms = FIXTURE_NOW_MS + OVER_MS;
    assert_int_equal(claim_on(fixture, fixture->store, "job", 1), 0);
    assert_int_equal(claim_on(fixture, other, "job", 1), 0); /* which does not know that it is owed */
    assert_int_equal(claim_on(fixture, other, "job", 2), 1);
    PQfinish(raw);
    other->ops->close(other);
}

TEST_IN(on_postgres, fixture, leases_that_are_over_and_free_do_not_count_in_the_limit) /* C1, G1 */
{
    (void)create_held(fixture, "job", "a");
    (void)create_held(fixture, "job", "b");
    (void)create_instance(fixture, "job", "c");
    assert_int_equal(claim_on(fixture, fixture->store, "job", 2), 0);
    fixture->now_ms += OVER_MS;
    assert_int_equal(claim_on(fixture, fixture->store, "job", 2), 2);
}

TEST_IN(on_postgres, fixture,
        who_finds_another_claiming_of_a_limited_function_takes_nothing_and_does_not_wait) /* C1, G1 */
{
    PGconn *raw = connect_raw(fixture);
    (void)create_instance(fixture, "job", "a");
    (void)create_instance(fixture, "other", "b");
    take_gate(raw, "job");
    const struct pw_text name = text("job");
    const struct pw_op_claim *claim = add_claim(fixture_unit(fixture), &name, FIXTURE_OWNER, 1, 1);
    fixture_apply(fixture);
    assert_int_equal(claim->claim_count, 0);
    assert_true(claim->kept_out);
    fixture_clear_units(fixture);
    assert_int_equal(claim_on(fixture, fixture->store, "other", 1), 1);
    PQfinish(raw);
    for (int i = 0; i < 1000 && query_number(fixture, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                                                      " AND database = (SELECT oid FROM pg_database"
                                                      "  WHERE datname = current_database())") > 0;
         i++)
        (void)usleep(10000);
    assert_int_equal(claim_on(fixture, fixture->store, "job", 1), 1);
}

TEST_IN(on_postgres, fixture, two_claims_of_a_limited_function_in_one_transaction_do_not_keep_each_other_out) /* G1 */
{
    const struct pw_text name = text("job");
    (void)create_instance(fixture, "job", "a");
    (void)create_instance(fixture, "job", "b");
    (void)create_instance(fixture, "job", "c");
    const struct pw_op_claim *one = add_claim(fixture_unit(fixture), &name, FIXTURE_OWNER, 1, 2);
    const struct pw_op_claim *two = add_claim(fixture_unit(fixture), &name, OTHER_OWNER, 5, 2);
    fixture_apply(fixture);
    assert_int_equal(one->claim_count, 1);
    assert_int_equal(two->claim_count, 1);
}

/* ---- Several finds of one transaction ------------------------------------------------------------------------------------ */

/* Locks of one's own are not passed over. */
TEST_IN(on_postgres, fixture, claims_of_one_transaction_do_not_take_the_same) /* C1 */
{
    const struct pw_text names[] = { text("order"), text("else") };
    (void)create_instance(fixture, "order", "a");
    (void)create_instance(fixture, "order", "b");
    (void)create_instance(fixture, "order", "c");
    (void)create_instance(fixture, "else", "d");
    const struct pw_op_claim *one = add_claim(fixture_unit(fixture), &names[0], FIXTURE_OWNER, 2, 0);
    const struct pw_op_claim *two = add_claim(fixture_unit(fixture), &names[0], OTHER_OWNER, 2, 0);
    const struct pw_op_claim *three = add_claim(fixture_unit(fixture), &names[1], OTHER_OWNER, 2, 0);
    fixture_apply(fixture);
    assert_int_equal(one->claim_count, 2);
    assert_int_equal(two->claim_count, 1);
    assert_text(two->claims[0].id, "c");
    assert_int_equal(three->claim_count, 1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_task WHERE epoch = 1 AND processing = 1"), 4);
}

TEST_IN(on_postgres, fixture, what_a_unit_reaps_it_can_claim) /* C1 */
{
    const struct pw_text name = text("order");
    run_raw_sql(fixture, "INSERT INTO workflow_runner (owner, started_at, heartbeat_at) VALUES (77, 1, 0)");
    (void)create_instance(fixture, "order", "due");
    struct pw_op_create *held = add_create(fixture_unit(fixture), "order", "held");
    held->hold_owner = 77;
    held->hold_lease_ms = FIXTURE_LEASE_MS;
    fixture_apply(fixture);
    fixture_clear_units(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    const struct pw_op_reap *reap = &add(unit, PW_OP_REAP)->as.reap;
    const struct pw_op_claim *claim = add_claim(unit, &name, OTHER_OWNER, 1, 0);
    fixture_apply(fixture);
    assert_int_equal(reap->reaped, 1);
    assert_int_equal(claim->claim_count, 1);
    assert_text(claim->claims[0].id, "held"); /* leases go before first runs */
    assert_true(claim->claims[0].taken_over);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runner"), 0); /* it has no lease any more */
}

/* ---- What takes long --------------------------------------------------------------------------------------------------- */

#define WAITING "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

/* Units that another thread applies, and that wait for something there. */
struct applying {
    struct pw_store *store;
    struct pw_unit units[2];
    pawl_status status;
    pthread_t thread;
};

static void applying_init(struct applying *applying, struct pw_store *store)
{
    *applying = (struct applying){ .store = store };
    pw_unit_init(&applying->units[0]);
    pw_unit_init(&applying->units[1]);
}

static void *apply_both(void *user)
{
    struct applying *applying = user;
    struct pw_unit *units[] = { &applying->units[0], &applying->units[1] };
    applying->status = applying->store->ops->apply(applying->store, units, 2, NULL);
    return NULL;
}

/* Comes back when it waits. */
static void applying_start(struct applying *applying, struct fixture *fixture)
{
    assert_int_equal(pthread_create(&applying->thread, NULL, apply_both, applying), 0);
    for (int i = 0; i < 1000 && query_number(fixture, WAITING) == 0; i++)
        (void)usleep(10000);
    assert_int_equal(query_number(fixture, WAITING), 1);
}

static void applying_join(struct applying *applying)
{
    assert_int_equal(pthread_join(applying->thread, NULL), 0);
    assert_int_equal(applying->status, PAWL_OK);
    assert_int_equal(applying->units[0].status, PAWL_OK);
    assert_int_equal(applying->units[1].status, PAWL_OK);
}

static void applying_clear(struct applying *applying)
{
    pw_unit_clear(&applying->units[0]);
    pw_unit_clear(&applying->units[1]);
}

/* A step whose SQL ends when the lock is there. */
static void add_slow_step(struct pw_unit *unit, struct pw_fence at)
{
    (void)add_fence(unit, at);
    (void)add_sql(unit, "SELECT pg_advisory_xact_lock(77)", NULL);
    (void)add_step(unit, at, 1, "slow");
}

TEST_IN(on_postgres, fixture, a_mutation_that_outlasts_its_lease_renews_it_itself) /* C1 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct applying applying;
    PGconn *raw = connect_raw(fixture);
    execute(raw, "SELECT pg_advisory_lock(77)");
    fixture->now_ms += LATER_MS;
    applying_init(&applying, fixture->store);
    add_slow_step(&applying.units[0], at);
    applying_start(&applying, fixture);
    renew_in_vain(fixture, at);
    assert_int_equal(leased_until(fixture, at), FIXTURE_LEASE_MS);
    PQfinish(raw);
    applying_join(&applying);
    applying_clear(&applying);
    assert_int_equal(leased_until(fixture, at), FIXTURE_LEASE_MS + LATER_MS);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
    assert_int_equal(step_count(fixture, at), 1);
}

/* An event for a run that is ours, in one group commit with a step of its own whose SQL takes long. */
TEST_IN(on_postgres, fixture, a_mutation_of_another_process_costs_no_lease_that_is_locked_meanwhile) /* C1 */
{
    struct pw_store *other = open_other(fixture);
    struct pw_fence at = create_held(fixture, "order", "a"), theirs = create_held(fixture, "else", "b");
    struct applying applying;
    PGconn *raw = connect_raw(fixture);
    execute(raw, "SELECT pg_advisory_lock(77)");
    applying_init(&applying, other);
    (void)add_event(&applying.units[0], at, "e", "hello");
    add_slow_step(&applying.units[1], theirs);
    applying_start(&applying, fixture);
    fixture->now_ms = FIXTURE_NOW_MS + LATER_MS;
    renew_in_vain(fixture, at);
    fixture->now_ms = FIXTURE_NOW_MS + OVER_MS;
    atomic_store(&others_ms, FIXTURE_NOW_MS + OVER_MS);
    PQfinish(raw);
    applying_join(&applying);
    applying_clear(&applying);
    assert_int_equal(claim_on(fixture, other, "order", 0), 0);
    assert_int_equal(leased_until(fixture, at), FIXTURE_LEASE_MS + OVER_MS);
    assert_int_equal(leased_until(fixture, theirs), FIXTURE_LEASE_MS + OVER_MS);
    other->ops->close(other);
}

/* Without a mutation of its own: it has the first task, and waits for the second. */
TEST_IN(on_postgres, fixture, who_waits_for_one_task_costs_another_that_he_has_no_lease) /* C1 */
{
    struct pw_store *other = open_other(fixture);
    struct pw_fence at = create_held(fixture, "order", "a"), second = create_held(fixture, "else", "b");
    struct applying applying;
    PGconn *raw = connect_raw(fixture);
    lock_task(raw, second);
    applying_init(&applying, other);
    (void)add_event(&applying.units[0], at, "e", "hello");
    (void)add_event(&applying.units[1], second, "e", "hello");
    applying_start(&applying, fixture);
    fixture->now_ms = FIXTURE_NOW_MS + OVER_MS;
    atomic_store(&others_ms, FIXTURE_NOW_MS + OVER_MS);
    PQfinish(raw);
    applying_join(&applying);
    applying_clear(&applying);
    assert_int_equal(claim_on(fixture, other, "order", 0), 0);
    other->ops->close(other);
}

/* One is held by who makes it, the other claimed. */
TEST_IN(on_postgres, fixture, a_lease_that_is_given_behind_a_long_mutation_is_not_over_when_it_begins) /* C1 */
{
    static const char *const workflows[] = { "order", "job" };
    for (size_t claims = 0; claims < 2; claims++) {
        struct pw_store *other = open_other(fixture);
        struct pw_fence slow = create_held(fixture, "else", workflows[claims]);
        const struct pw_text name = text("job");
        struct applying applying;
        PGconn *raw = connect_raw(fixture);
        execute(raw, "SELECT pg_advisory_lock(77)");
        applying_init(&applying, other);
        add_slow_step(&applying.units[0], slow);
        if (claims == 1) {
            (void)create_instance(fixture, "job", "a");
            (void)add_claim(&applying.units[1], &name, FIXTURE_OWNER, 1, 0);
        } else {
            struct pw_op_create *op = add_create(&applying.units[1], "order", "born");
            op->hold_owner = FIXTURE_OWNER;
            op->hold_lease_ms = FIXTURE_LEASE_MS;
        }
        applying_start(&applying, fixture);
        atomic_store(&others_ms, FIXTURE_NOW_MS + OVER_MS);
        PQfinish(raw);
        applying_join(&applying);
        applying_clear(&applying);
        fixture->now_ms = FIXTURE_NOW_MS + OVER_MS;
        assert_int_equal(claim_on(fixture, other, workflows[claims], 0), 0); /* it was given out just now */
        other->ops->close(other);
        fixture->now_ms = FIXTURE_NOW_MS;
    }
}

/* What is undone with the user's code that failed is not undone with it. */
TEST_IN(on_postgres, fixture, a_mutation_that_fails_after_a_long_time_costs_no_lease) /* C1 */
{
    struct pw_store *other = open_other(fixture);
    struct pw_fence at = create_held(fixture, "order", "a");
    struct applying applying;
    PGconn *raw = connect_raw(fixture);
    execute(raw, "SELECT pg_advisory_lock(77)");
    applying_init(&applying, other);
    add_slow_step(&applying.units[0], at);
    (void)add_sql(&applying.units[0], "SELECT 1 / 0", NULL);
    applying_start(&applying, fixture);
    atomic_store(&others_ms, FIXTURE_NOW_MS + OVER_MS);
    PQfinish(raw);
    assert_int_equal(pthread_join(applying.thread, NULL), 0);
    assert_int_equal(applying.status, PAWL_OK);
    assert_int_equal(applying.units[0].status, PAWL_STEP_MUTATION_FAILED);
    applying_clear(&applying);
    assert_int_equal(leased_until(fixture, at), FIXTURE_LEASE_MS + OVER_MS);
    other->ops->close(other);
}

/* ---- Looks that are old ------------------------------------------------------------------------------------------------- */

/* An answer waits for its instance's row, behind the look at all tasks. */
static void lock_instance(PGconn *db, struct pw_fence at)
{
    char sql[96];
    (void)snprintf(sql, sizeof sql, "BEGIN; SELECT 1 FROM workflow_instance WHERE key = %d FOR UPDATE",
                   (int)at.instance);
    execute(db, sql);
}

TEST_IN(on_postgres, fixture, a_debt_that_is_younger_than_a_look_is_not_forgotten_by_it) /* C1 */
{
    struct pw_fence at = create_held(fixture, "order", "a"), told = create_held(fixture, "else", "b");
    struct applying applying;
    PGconn *raw = connect_raw(fixture), *between = connect_raw(fixture);
    lock_instance(between, told);
    lock_task(raw, at);
    fixture->now_ms += LATER_MS;
    renew_in_vain(fixture, at);
    applying_init(&applying, fixture->store);
    add_event(&applying.units[0], told, "e", "hello")->is_answer = true;
    applying_start(&applying, fixture); /* has looked at it */

    execute(raw, "UPDATE workflow_task SET epoch = epoch + 1 WHERE workflow = 'order'"); /* a turn that goes on */
    execute(raw, "COMMIT");
    at.epoch++;
    lock_task(raw, at);
    renew_in_vain(fixture, at);
    execute(between, "COMMIT");
    applying_join(&applying);
    applying_clear(&applying);
    execute(raw, "COMMIT");
    (void)create_instance(fixture, "order", "c");
    assert_int_equal(leased_until(fixture, at), FIXTURE_LEASE_MS + LATER_MS);
    PQfinish(raw);
    PQfinish(between);
}

/* The lock goes between the look and the claim. */
TEST_IN(on_postgres, fixture, a_store_takes_no_lease_away_that_it_owes) /* C1 */
{
    struct pw_fence at = create_held(fixture, "order", "a"), told = create_held(fixture, "else", "b");
    const struct pw_text name = text("order");
    struct applying applying;
    PGconn *raw = connect_raw(fixture), *between = connect_raw(fixture);
    lock_instance(between, told);
    lock_task(raw, at);
    fixture->now_ms = FIXTURE_NOW_MS + LATER_MS;
    renew_in_vain(fixture, at);
    fixture->now_ms = FIXTURE_NOW_MS + OVER_MS;
    applying_init(&applying, fixture->store);
    add_event(&applying.units[0], told, "e", "hello")->is_answer = true;
    const struct pw_op_claim *claim = add_claim(&applying.units[1], &name, FIXTURE_OWNER, 1, 0);
    applying_start(&applying, fixture);
    execute(raw, "COMMIT");
    execute(between, "COMMIT");
    applying_join(&applying);
    assert_int_equal(claim->claim_count, 0);
    applying_clear(&applying);
    PQfinish(raw);
    PQfinish(between);
}
