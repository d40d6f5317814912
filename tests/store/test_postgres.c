/* test_postgres.c - what only the PostgreSQL store has to stand: servers that go away at the worst moment, others who lock
 * or take what a transaction wants, many who claim at once, clocks, and settings that users bring. */
#include "kit/store_fixture.h"

#include <pthread.h>

#include "base/clock.h"
#include "kit/cutting_proxy.h"
#include "kit/postgres_server.h"
#include "store/postgres/postgres.h"

static const struct pw_text order = { "order", 5 };

/* The fixture's database by another URL: with options behind it. */
static void open_with(struct fixture *fixture, const char *options)
{
    close_store(fixture);
    (void)snprintf(fixture->url, sizeof fixture->url, "%.180s&%s", fixture->place.url, options);
    fixture->store = fixture_open_store(fixture);
}

static void ignore_notice(void *unused, const char *notice)
{
    (void)unused;
    (void)notice;
}

static PGconn *connect_raw(const struct fixture *fixture)
{
    PGconn *db = PQconnectdb(fixture->place.url);
    assert_int_equal(PQstatus(db), CONNECTION_OK);
    (void)PQsetNoticeProcessor(db, ignore_notice, NULL);
    return db;
}

static void execute(PGconn *db, const char *sql)
{
    PGresult *result = PQexec(db, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(db));
    PQclear(result);
}

static pawl_status apply_step(struct fixture *fixture, struct pw_fence at, int64_t seq)
{
    fixture_clear_units(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, at);
    (void)add_step(unit, at, seq, "step");
    return fixture_apply_on(fixture, fixture->store);
}

/* ---- URLs and schemas -------------------------------------------------------------------------------------------- */

TEST_IN(on_postgres, fixture, a_url_that_is_not_understood_is_refused_by_name)
{
    static const struct {
        const char *url, *part;
    } cases[] = {
        { "postgres://h/d?pawl_pool=0", "pawl_pool=0" },
        { "postgres://h/d?pawl_pool=x", "pawl_pool=x" },
        { "postgres://h/d?sslmode=disable&pawl_lanes=1000", "pawl_lanes=1000" },
        { "postgresql://h/d?pawl_busy_ms=-1&sslmode=disable", "pawl_busy_ms=-1" },
        { "postgres://h/d?pawl_schema=a;b", "pawl_schema=a;b" },
        { "postgres://h/d?pawl_schema=", "pawl_schema=" },
        { "postgres://h/d?pawl_cache=on", "pawl_cache=on" },
        { "postgres://h/d?no_such_option=1", "no_such_option" },
        { "postgres://[::1/d", "IPv6" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(try_open(fixture, cases[i].url), PAWL_INVALID);
        assert_says(fixture, cases[i].part);
    }
}

TEST_IN(on_postgres, fixture, options_of_the_url_are_taken_and_the_rest_is_libpqs)
{
    open_with(fixture, "pawl_pool=3&application_name=shop&pawl_busy_ms=77&pawl_lanes=2");
    const struct pw_postgres_url *url = &((struct pw_postgres *)fixture->store)->url;
    assert_int_equal(url->pool_max, 3);
    assert_int_equal(url->busy_ms, 77);
    assert_int_equal(url->lane_count, 2);
    assert_null(strstr(url->connection, "pawl_pool"));
    assert_true(query_number(fixture, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'shop'") > 0);
}

TEST_IN(on_postgres, fixture, a_password_reaches_libpq_apart_from_the_url)
{
    open_with(fixture, "application_name=shop&password=p%40ss%26word&sslpassword=key&pawl_busy_ms=78");
    struct pw_postgres *postgres = (struct pw_postgres *)fixture->store;
    struct pw_pg_connection connection = { 0 };
    bool is_hopeless = false;
    assert_int_equal(pw_pg_open(&connection, &postgres->url, PW_PG_READER, &is_hopeless, &fixture->error), PAWL_OK);
    assert_string_equal(PQpass(connection.db), "p@ss&word");
    assert_null(strstr(postgres->url.connection, "pass"));
    assert_non_null(strstr(postgres->url.connection, "application_name=shop"));
    assert_int_equal(postgres->url.busy_ms, 78);
    pw_pg_close(&connection);
    assert_int_equal(try_open(fixture, "postgres://h/d?passwd=sesame&pawl_busy_ms=1"), PAWL_INVALID);
    assert_null(strstr(fixture->error.text, "sesame"));
    assert_int_equal(try_open(fixture, "postgres://h/d?password=open&sesame=1"), PAWL_INVALID);
    assert_null(strstr(fixture->error.text, "sesame"));
}

TEST_IN(on_postgres, fixture, a_password_is_in_no_error)
{
    assert_int_equal(try_open(fixture, "postgres://me:sesame@/d?host=/nowhere&pawl_busy_ms=1"), PAWL_STORE_UNAVAILABLE);
    assert_null(strstr(fixture->error.text, "sesame"));
}

TEST_IN(on_postgres, fixture, a_schema_of_its_own_keeps_two_stores_apart)
{
    (void)create_instance(fixture, "order", "public");
    open_with(fixture, "pawl_schema=one");
    (void)create_instance(fixture, "order", "public");
    open_with(fixture, "pawl_schema=Two-2");
    (void)create_instance(fixture, "order", "a");
    (void)create_instance(fixture, "order", "b");
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instance"), 1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM one.workflow_instance"), 1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM \"Two-2\".workflow_instance"), 2);
    close_store(fixture);
    run_raw_sql(fixture, "DROP SCHEMA one CASCADE; DROP SCHEMA \"Two-2\" CASCADE");
}

TEST_IN(on_postgres, fixture, an_encoding_that_cannot_hold_every_text_is_refused)
{
    char url[256];
    PGconn *db = connect_raw(fixture);
    execute(db, "DROP DATABASE IF EXISTS pawl_latin");
    execute(db, "CREATE DATABASE pawl_latin TEMPLATE template0 ENCODING 'LATIN1'");
    (void)snprintf(url, sizeof url, "postgres://pawl@/pawl_latin?host=%s", postgres_server_socket());
    assert_int_equal(try_open(fixture, url), PAWL_STORE_UNAVAILABLE);
    assert_says(fixture, "LATIN1");
    assert_says(fixture, "UTF8");
    execute(db, "DROP DATABASE pawl_latin");
    PQfinish(db);
}

/* ---- Servers that are not there, or not to be written --------------------------------------------------------------- */

TEST_IN(on_postgres, fixture, a_server_that_is_not_there_is_told_within_bounds)
{
    int64_t begun_ms = pw_system_monotonic_ms();
    assert_int_equal(try_open(fixture, "postgres://pawl@/shop?host=/nowhere&pawl_busy_ms=300"), PAWL_STORE_UNAVAILABLE);
    assert_says(fixture, "shop");
    assert_says(fixture, "/nowhere");
    assert_true(pw_system_monotonic_ms() - begun_ms >= 300);
    assert_true(pw_system_monotonic_ms() - begun_ms < 5000);
}

TEST_IN(on_postgres, fixture, a_database_that_is_not_there_is_told_at_once)
{
    char url[256];
    int64_t begun_ms = pw_system_monotonic_ms();
    (void)snprintf(url, sizeof url, "postgres://pawl@/none_such?host=%s", postgres_server_socket());
    assert_int_equal(try_open(fixture, url), PAWL_STORE_UNAVAILABLE);
    assert_says(fixture, "none_such");
    assert_true(pw_system_monotonic_ms() - begun_ms < 5000);
}

TEST_IN(on_postgres, fixture, what_may_not_be_written_is_told_as_read_only)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    open_with(fixture, "options=-c%20default_transaction_read_only%3Don");
    assert_int_equal(apply_step(fixture, at, 1), PAWL_STORE_READ_ONLY);
    assert_true(fixture->units[0].undone);
    assert_says(fixture, "target_session_attrs");
    assert_int_equal(step_count(fixture, at), 0);
}

TEST_IN(on_postgres, fixture, serializable_by_default_is_fine)
{
    open_with(fixture, "options=-c%20default_transaction_isolation%3Dserializable");
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(apply_step(fixture, at, 1), PAWL_OK);
    assert_int_equal(step_count(fixture, at), 1);
}

static void end_all_sessions(struct fixture *fixture)
{
    run_raw_sql(fixture, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                         " WHERE datname = current_database() AND pid <> pg_backend_pid()");
}

TEST_IN(on_postgres, fixture, sessions_that_the_server_ends_are_opened_again) /* C8 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    for (int64_t round = 1; round <= 3; round++) {
        end_all_sessions(fixture);
        assert_int_equal(apply_step(fixture, at, round), PAWL_OK);
        end_all_sessions(fixture);
        assert_int_equal(step_count(fixture, at), round);
    }
}

/* ---- Commits that nobody hears of -------------------------------------------------------------------------------------- */

struct cut {
    struct cutting_proxy proxy;
    struct pw_fence at;
};

static void begin_cut(struct fixture *fixture, struct cut *cut)
{
    cut->at = create_held(fixture, "order", "a");
    close_store(fixture);
    cutting_proxy_start(&cut->proxy, postgres_server_socket());
    const char *database = strstr(fixture->place.url, "/pawl_");
    (void)snprintf(fixture->url, sizeof fixture->url, "postgres://pawl@%.*s?host=%s", (int)strcspn(database, "?"),
                   database, cut->proxy.folder);
    fixture->store = fixture_open_store(fixture);
    (void)create_instance(fixture, "order", "warm"); /* the session's first has more to it */
}

static void end_cut(struct fixture *fixture, struct cut *cut)
{
    assert_int_equal(atomic_load(&cut->proxy.cuts_made), 1);
    close_store(fixture);
    cutting_proxy_stop(&cut->proxy);
    (void)snprintf(fixture->url, sizeof fixture->url, "%s", fixture->place.url);
    fixture->store = fixture_open_store(fixture);
}

/* An event, a step, a park and a create: each would show if it were done twice or not at all. */
static void apply_cut(struct fixture *fixture, struct cut *cut, enum proxy_cut where)
{
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, cut->at);
    (void)add_event(unit, cut->at, "e", "paid");
    (void)add_step(unit, cut->at, 1, "step");
    (void)add_park(unit, cut->at, PW_TASK_WAITING, PW_TASK_WAKE, PW_NOW);
    struct pw_op_create *create = add_create(fixture_unit(fixture), "order", "b");
    atomic_store(&cut->proxy.cut, where);
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    assert_int_equal(fixture->units[1].status, PAWL_OK);
    assert_true(create->created);
    int64_t key = create->fence.instance;
    end_cut(fixture, cut);
    assert_text(read_key(fixture, key).id, "b");
    struct pw_task task = read_key(fixture, cut->at.instance).task;
    assert_int_equal(task.event_seq, 1);
    assert_int_equal(task.epoch, cut->at.epoch + 1);
    assert_int_equal(step_count(fixture, cut->at), 1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instance"), 3);
}

TEST_IN(on_postgres, fixture, a_commit_that_did_not_arrive_is_made_again) /* S3, C8 */
{
    struct cut cut;
    begin_cut(fixture, &cut);
    apply_cut(fixture, &cut, CUT_BEFORE_COMMIT);
}

TEST_IN(on_postgres, fixture, a_commit_whose_answer_was_lost_is_known_by_its_receipt) /* S3, C8 */
{
    struct cut cut;
    begin_cut(fixture, &cut);
    apply_cut(fixture, &cut, CUT_AFTER_COMMIT);
}

/* What was claimed is not known, and the lease sees to it: but nothing may be told as undone. */
TEST_IN(on_postgres, fixture, what_a_claim_took_is_known_when_the_commits_answer_was_lost) /* S3 */
{
    struct cut cut;
    begin_cut(fixture, &cut);
    struct pw_op_claim *op = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
    *op = (struct pw_op_claim){ .workflows = &order, .workflow_count = 1, .max = 9, .owner = 9, .lease_ms = 100 };
    atomic_store(&cut.proxy.cut, CUT_AFTER_COMMIT);
    assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_OK);
    assert_int_equal(op->claim_count, 1);
    end_cut(fixture, &cut);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_task WHERE owner = 9"), 1);
}

/* The server ends the session in the middle of the COMMIT, once. */
TEST_IN(on_postgres, fixture, a_session_that_ends_while_it_commits_is_followed_by_another) /* S3, C8 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    run_raw_sql(fixture, "CREATE SEQUENCE shots; CREATE FUNCTION shoot() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                         "  IF nextval('shots') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"
                         "  RETURN NULL; END $$;"
                         "CREATE CONSTRAINT TRIGGER shoot AFTER INSERT ON workflow_step DEFERRABLE INITIALLY DEFERRED"
                         "  FOR EACH ROW EXECUTE FUNCTION shoot()");
    pawl_status status = apply_step(fixture, at, 1);
    int64_t shots = query_number(fixture, "SELECT last_value FROM shots");
    run_raw_sql(fixture, "DROP TRIGGER shoot ON workflow_step; DROP FUNCTION shoot(); DROP SEQUENCE shots");
    assert_int_equal(status, PAWL_OK);
    assert_int_equal(shots, 2);
    assert_int_equal(step_count(fixture, at), 1);
}

TEST_IN(on_postgres, fixture, serialization_failures_are_tried_again) /* C8 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    run_raw_sql(fixture, "CREATE SEQUENCE shots; CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                         "  IF nextval('shots') <= 3 THEN RAISE serialization_failure; END IF; RETURN NULL; END $$;"
                         "CREATE TRIGGER collide AFTER INSERT ON workflow_step"
                         "  FOR EACH STATEMENT EXECUTE FUNCTION collide()");
    pawl_status status = apply_step(fixture, at, 1);
    run_raw_sql(fixture, "DROP TRIGGER collide ON workflow_step; DROP FUNCTION collide(); DROP SEQUENCE shots");
    assert_int_equal(status, PAWL_OK);
    assert_int_equal(step_count(fixture, at), 1);
}

/* ---- Others in the way ---------------------------------------------------------------------------------------------------- */

TEST_IN(on_postgres, fixture, a_row_that_stays_locked_is_waited_for_and_then_told)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    open_with(fixture, "pawl_busy_ms=150");
    PGconn *other = connect_raw(fixture);
    execute(other, "BEGIN; SELECT * FROM workflow_task FOR UPDATE");
    int64_t begun_ms = pw_system_monotonic_ms();
    assert_int_equal(apply_step(fixture, at, 1), PAWL_BUSY);
    assert_true(fixture->units[0].undone);
    assert_true(pw_system_monotonic_ms() - begun_ms < 5000);
    assert_int_equal(step_count(fixture, at), 0); /* reading goes on meanwhile */
    execute(other, "ROLLBACK");
    assert_int_equal(apply_step(fixture, at, 1), PAWL_OK);
    PQfinish(other);
}

/* Work that several threads do at once, each with units of its own. */
struct crowd {
    struct fixture *fixture;
    const struct pw_fence *at;
    size_t at_count;
    int number;
    int64_t done, refused, failed;
    pthread_t thread;
};

enum { CROWD = 6, ROUNDS = 40 };

static void run_crowd(struct fixture *fixture, struct crowd *crowd, const struct pw_fence *at, size_t at_count,
                      void *(*work)(void *))
{
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = (struct crowd){ .fixture = fixture, .at = at, .at_count = at_count, .number = i };
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, work, &crowd[i]), 0);
    }
    for (int i = 0; i < CROWD; i++) {
        assert_int_equal(pthread_join(crowd[i].thread, NULL), 0);
        assert_int_equal(crowd[i].failed, 0);
    }
}

static pawl_status apply_one(struct crowd *crowd, struct pw_unit *unit)
{
    struct pawl_error error = { PAWL_OK, "" };
    struct pw_store *store = crowd->fixture->store;
    pawl_status status = store->ops->apply(store, &unit, 1, &error);
    if (status != PAWL_OK) {
        print_error("%s\n", error.text);
        crowd->failed++;
    } else if (unit->status != PAWL_OK) {
        crowd->refused++;
    } else {
        crowd->done++;
    }
    return unit->status;
}

static void *create_the_same(void *user)
{
    struct crowd *crowd = user;
    for (int round = 0; round < ROUNDS; round++) {
        char first[16], second[16];
        struct pw_unit unit;
        pw_unit_init(&unit);
        (void)snprintf(first, sizeof first, "a-%d", round);
        (void)snprintf(second, sizeof second, "b-%d", round);
        bool forth = crowd->number % 2 == 0;
        (void)add_create(&unit, "order", forth ? first : second);
        (void)add_create(&unit, "order", forth ? second : first);
        if (apply_one(crowd, &unit) != PAWL_OK && unit.status != PAWL_INSTANCE_ID_ALREADY_EXISTS)
            crowd->failed++;
        pw_unit_clear(&unit);
    }
    return NULL;
}

TEST_IN(on_postgres, fixture, of_many_who_create_the_same_one_does) /* B3 */
{
    struct crowd crowd[CROWD];
    int64_t done = 0;
    run_crowd(fixture, crowd, NULL, 0, create_the_same);
    for (int i = 0; i < CROWD; i++)
        done += crowd[i].done;
    assert_int_equal(done, ROUNDS);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instance"), 2 * ROUNDS);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_task"), 2 * ROUNDS);
}

static void *send_events(void *user)
{
    struct crowd *crowd = user;
    for (int round = 0; round < ROUNDS; round++) {
        struct pw_unit unit;
        pw_unit_init(&unit);
        for (size_t i = 0; i < crowd->at_count; i++) { /* not all in one order */
            size_t which = (i * 3 + (size_t)crowd->number) % crowd->at_count;
            (void)add_event(&unit, crowd->at[which], NULL, "paid");
        }
        (void)apply_one(crowd, &unit);
        pw_unit_clear(&unit);
    }
    return NULL;
}

TEST_IN(on_postgres, fixture, transactions_at_once_lose_nothing_and_do_not_block_each_other)
{
    struct crowd crowd[CROWD];
    struct pw_fence at[5];
    for (int i = 0; i < 5; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "i-%d", i);
        at[i] = create_instance(fixture, "order", id);
    }
    run_crowd(fixture, crowd, at, 5, send_events);
    for (int i = 0; i < 5; i++)
        assert_int_equal(read_key(fixture, at[i].instance).task.event_seq, CROWD * ROUNDS);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_event"), 5 * CROWD * ROUNDS);
}

static void *claim_some(void *user)
{
    struct crowd *crowd = user;
    for (int empty = 0; empty < 3;) {
        struct pw_unit unit;
        pw_unit_init(&unit);
        struct pw_op_claim *op = &add(&unit, PW_OP_CLAIM)->as.claim;
        *op = (struct pw_op_claim){
            .workflows = &order, .workflow_count = 1, .max = 7, .owner = 100 + crowd->number, .lease_ms = 100000
        };
        (void)apply_one(crowd, &unit);
        crowd->refused += (int64_t)op->claim_count; /* what it got */
        empty = op->claim_count == 0 ? empty + 1 : 0;
        pw_unit_clear(&unit);
    }
    return NULL;
}

TEST_IN(on_postgres, fixture, of_many_who_claim_each_task_goes_to_one) /* C1 */
{
    struct crowd crowd[CROWD];
    int64_t got = 0;
    run_raw_sql(fixture, "INSERT INTO workflow_instance (key, run, created_at, updated_at, workflow, id)"
                         " SELECT g, 1, 1, 1, 'order', 'i-' || g FROM generate_series(1001, 1500) g;"
                         "INSERT INTO workflow_task (instance, run, epoch, due_at, updated_at, event_seq, status, kind,"
                         " processing, pause_requested, workflow)"
                         " SELECT g, 1, 0, g, 1, 0, 0, 3, 0, 0, 'order' FROM generate_series(1001, 1500) g");
    run_crowd(fixture, crowd, NULL, 0, claim_some);
    for (int i = 0; i < CROWD; i++)
        got += crowd[i].refused;
    assert_int_equal(got, 500);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_task WHERE processing = 1 AND epoch = 1"),
                     500);
}

/* Two rows of the user's, locked in both orders: one waits for the other for ever, unless somebody gives way. */
static void *update_crosswise(void *user)
{
    struct crowd *crowd = user;
    bool forth = crowd->number % 2 == 0;
    for (int round = 0; round < 5; round++) {
        struct pw_unit unit;
        pw_unit_init(&unit);
        (void)add_sql(&unit, "UPDATE account SET n = n + 1 WHERE id = $1", forth ? "[1]" : "[2]");
        (void)add_sql(&unit, "SELECT pg_sleep(0.01)", NULL);
        (void)add_sql(&unit, "UPDATE account SET n = n + 1 WHERE id = $1", forth ? "[2]" : "[1]");
        (void)apply_one(crowd, &unit);
        pw_unit_clear(&unit);
    }
    return NULL;
}

TEST_IN(on_postgres, fixture, deadlocks_of_the_users_making_are_tried_again) /* C8 */
{
    struct crowd crowd[CROWD];
    run_raw_sql(fixture, "CREATE TABLE account (id int PRIMARY KEY, n int); INSERT INTO account VALUES (1, 0), (2, 0)");
    open_with(fixture, "pawl_busy_ms=60000&options=-c%20deadlock_timeout%3D20ms");
    run_crowd(fixture, crowd, NULL, 0, update_crosswise);
    assert_int_equal(query_number(fixture, "SELECT sum(n) FROM account"), 2 * 5 * CROWD);
}

/* ---- Runners, and word of what is due ------------------------------------------------------------------------------------- */

static int64_t reap(struct fixture *fixture)
{
    fixture_clear_units(fixture);
    struct pw_op_reap *op = &add(fixture_unit(fixture), PW_OP_REAP)->as.reap;
    fixture_apply(fixture);
    return op->reaped;
}

TEST_IN(on_postgres, fixture, the_leases_of_a_runner_that_is_not_heard_of_end_after_ten_seconds)
{
    const struct pw_store_ops *ops = fixture->store->ops;
    struct pw_store *other = fixture_open_store(fixture);
    assert_int_equal(ops->announce(other, 5, &fixture->error), PAWL_OK);
    assert_int_equal(ops->announce(fixture->store, FIXTURE_OWNER, &fixture->error), PAWL_OK);
    struct pw_op_create *theirs = add_create(fixture_unit(fixture), "order", "theirs");
    theirs->hold_owner = 5;
    struct pw_op_create *ours = add_create(fixture_unit(fixture), "order", "ours");
    ours->hold_owner = FIXTURE_OWNER;
    theirs->hold_lease_ms = ours->hold_lease_ms = 100000;
    fixture_apply(fixture);
    int64_t key = ours->fence.instance;

    fixture->now_ms += 10000;
    assert_int_equal(reap(fixture), 0);
    fixture->now_ms += 1;
    assert_int_equal(reap(fixture), 1); /* not our own, who are here */
    assert_int_equal(reap(fixture), 0);
    struct pw_op_claim *op = fixture_claim(fixture, &order, 1, 9);
    assert_int_equal(op->claim_count, 1);
    assert_text(op->claims[0].id, "theirs");
    assert_true(op->claims[0].taken_over);
    assert_int_equal(read_key(fixture, key).task.locked_until_ms, FIXTURE_NOW_MS + 100000);
    other->ops->close(other);
}

TEST_IN(on_postgres, fixture, claims_and_renewals_are_heartbeats_where_a_test_makes_time)
{
    struct pw_store *other = fixture_open_store(fixture);
    assert_int_equal(other->ops->announce(other, FIXTURE_OWNER, &fixture->error), PAWL_OK);
    struct pw_op_create *create = add_create(fixture_unit(fixture), "order", "a");
    create->hold_owner = FIXTURE_OWNER;
    create->hold_lease_ms = 100000;
    fixture_apply_all(fixture);
    fixture->now_ms += 9000;
    struct pw_op_claim *op = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
    *op = (struct pw_op_claim){ .workflows = &order, .workflow_count = 1, .owner = FIXTURE_OWNER, .lease_ms = 1 };
    assert_int_equal(fixture_apply_on(fixture, other), PAWL_OK);
    fixture->now_ms += 9000;
    assert_int_equal(reap(fixture), 0);
    fixture->now_ms += 1001;
    assert_int_equal(reap(fixture), 1);
    other->ops->close(other);
}

TEST_IN(on_postgres, fixture, runners_that_are_gone_for_long_are_forgotten)
{
    const struct pw_store_ops *ops = fixture->store->ops;
    assert_int_equal(ops->announce(fixture->store, 5, &fixture->error), PAWL_OK);
    ops->withdraw(fixture->store, 5);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runner"), 1);
    (void)reap(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runner"), 0);
}

/* With the database's own time, in which a store listens. */
static struct pw_store *open_in_real_time(struct fixture *fixture)
{
    struct pw_store *store = NULL;
    struct pawl_clock clock = { .now_ms = pw_system_now_ms, .user = NULL };
    assert_int_equal(pw_store_open(fixture->place.url, clock, &store, &fixture->error), PAWL_OK);
    return store;
}

static void count_due(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

/* Waits until it is at least that, for a while. */
static bool reaches(atomic_int *count, int wanted)
{
    for (int i = 0; i < 500 && atomic_load(count) < wanted; i++)
        (void)usleep(10000);
    return atomic_load(count) >= wanted;
}

TEST_IN(on_postgres, fixture, what_another_store_makes_due_is_heard_of)
{
    struct pw_store *listening = open_in_real_time(fixture);
    atomic_int heard;
    atomic_init(&heard, 0);
    listening->ops->listen(listening, count_due, &heard);
    assert_int_equal(listening->ops->announce(listening, 5, &fixture->error), PAWL_OK);
    assert_true(reaches(&heard, 1)); /* it may have missed something before */
    int before = atomic_load(&heard);

    struct pw_fence at = create_instance(fixture, "order", "a");
    assert_true(reaches(&heard, before + 1));
    before = atomic_load(&heard);
    assert_int_equal(fixture_claim(fixture, &order, 1, 1)->claim_count, 1);
    fixture_clear_units(fixture);
    at.epoch++;
    assert_int_equal(apply_step(fixture, at, 1), PAWL_OK); /* neither makes anything due */
    fixture_clear_units(fixture);
    (void)park(fixture, at, PW_TASK_WAITING, PW_TASK_WAKE, PW_NOW);
    assert_true(reaches(&heard, before + 1));
    (void)usleep(50000);
    assert_int_equal(atomic_load(&heard), before + 1);

    listening->ops->listen(listening, NULL, NULL);
    listening->ops->withdraw(listening, 5);
    listening->ops->close(listening);
}

TEST_IN(on_postgres, fixture, a_listener_whose_session_ends_listens_again) /* C8 */
{
    struct pw_store *listening = open_in_real_time(fixture);
    atomic_int heard;
    atomic_init(&heard, 0);
    listening->ops->listen(listening, count_due, &heard);
    assert_int_equal(listening->ops->announce(listening, 5, &fixture->error), PAWL_OK);
    assert_true(reaches(&heard, 1));
    int before = atomic_load(&heard);
    end_all_sessions(fixture);
    assert_true(reaches(&heard, before + 1)); /* at the new session: it may have missed something */
    before = atomic_load(&heard);
    (void)create_instance(fixture, "order", "a");
    assert_true(reaches(&heard, before + 1));
    listening->ops->close(listening);
}

TEST_IN(on_postgres, fixture, a_runners_heart_beats_by_itself)
{
    struct pw_store *store = open_in_real_time(fixture);
    assert_int_equal(store->ops->announce(store, 5, &fixture->error), PAWL_OK);
    run_raw_sql(fixture, "UPDATE workflow_runner SET heartbeat_at = 1");
    int64_t beat_at = 1;
    for (int i = 0; i < 500 && beat_at == 1; i++) {
        (void)usleep(10000);
        beat_at = query_number(fixture, "SELECT heartbeat_at FROM workflow_runner");
    }
    assert_true(beat_at > 1);
    store->ops->close(store);
}

/* ---- Time --------------------------------------------------------------------------------------------------------------------- */

TEST_IN(on_postgres, fixture, the_time_is_the_databases) /* C5 */
{
    struct pw_store *store = open_in_real_time(fixture);
    int64_t before_ms = query_number(fixture, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
    int64_t now_ms = store->ops->now_ms(store);
    int64_t after_ms = query_number(fixture, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
    assert_true(now_ms >= before_ms - 50 && now_ms <= after_ms + 50);
    store->ops->close(store);
}

TEST_IN(on_postgres, fixture, a_clock_is_corrected_only_by_what_contradicts_it)
{
    struct pw_pg_clock clock;
    assert_true(pw_pg_clock_init(&clock, (struct pawl_clock){ .now_ms = pw_system_now_ms, .user = NULL }));
    assert_false(pw_pg_clock_is_ours(&clock));
    pw_pg_clock_correct(&clock, 1000, 3000, 50002000); /* it was read between 1000 and 3000: at 2000 */
    assert_int_equal(atomic_load(&clock.offset_us), 50000000);
    pw_pg_clock_correct(&clock, 5000, 95000, 50000000 + 6000); /* a slow answer, which says nothing new */
    assert_int_equal(atomic_load(&clock.offset_us), 50000000);
    pw_pg_clock_correct(&clock, 200000, 201000, 50000000 + 203000); /* at least 2000 more than we thought */
    assert_int_equal(atomic_load(&clock.offset_us), 50002000);
    pw_pg_clock_correct(&clock, 300000, 301000, 40000000 + 301000); /* it was set back by 10 s */
    assert_int_equal(atomic_load(&clock.offset_us), 40001000);
    pw_pg_clock_clear(&clock);
}

TEST_IN(on_postgres, fixture, a_small_step_back_is_waited_out_and_a_large_one_followed)
{
    struct pw_pg_clock clock;
    assert_true(pw_pg_clock_init(&clock, (struct pawl_clock){ .now_ms = NULL, .user = NULL }));
    atomic_store(&clock.offset_us, INT64_C(1000000000));
    int64_t first_ms = pw_pg_clock_now_ms(&clock);
    atomic_fetch_sub(&clock.offset_us, 400000);
    assert_true(pw_pg_clock_now_ms(&clock) >= first_ms);
    atomic_fetch_sub(&clock.offset_us, 5000000);
    assert_true(pw_pg_clock_now_ms(&clock) < first_ms);
    pw_pg_clock_clear(&clock);
}

/* ---- Size ---------------------------------------------------------------------------------------------------------------------- */

/* More than one statement carries. */
TEST_IN(on_postgres, fixture, a_batch_that_is_too_large_for_one_statement_is_sent_in_several)
{
    enum { STEPS = 24, SIZE = 900000 };
    struct pw_fence at = create_held(fixture, "order", "a");
    char *result = malloc(SIZE);
    assert_non_null(result);
    memset(result, '7', SIZE);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, at);
    for (int64_t seq = 1; seq <= STEPS; seq++)
        add_step(unit, at, seq, "big")->result = (struct pw_text){ result, SIZE };
    fixture_apply_all(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step WHERE length(result) = 900000"), STEPS);
    free(result);
}
