/* test_postgres_family.c - parents, children, jobs and kept steps where only the PostgreSQL store can go wrong: databases of
 * earlier versions, transactions at once, what is decided in memory and what in the database, and who is told of it. */
#include "kit/store_fixture.h"

#include <libpq-fe.h>
#include <pthread.h>

#include "base/clock.h"
#include "old_schema.h"
#include "store/postgres/schema.h"

static struct pw_op_event *add_answer(struct pw_unit *unit, int64_t instance, const char *type)
{
    struct pw_op_event *op = add_event(unit, (struct pw_fence){ .instance = instance }, type, type);
    op->is_answer = true;
    return op;
}

static void add_end(struct pw_unit *unit, const char *workflow, const char *id)
{
    add(unit, PW_OP_END)->as.end = (struct pw_op_end){ text(workflow), text(id), 0 };
}

/* ---- Databases of earlier versions ------------------------------------------------------------------------------- */

static const char rows_of_version_1[] =
    "INSERT INTO workflow_instance (workflow, id, run, created_at, updated_at, outcome)"
    " VALUES ('order', 'waiting', 1, 5, 5, NULL), ('order', 'ended', 1, 5, 9, 1);"
    "INSERT INTO workflow_task (instance, workflow, run, status, kind, due_at, processing, epoch, pause_requested,"
    " updated_at, event_seq) VALUES (1, 'order', 1, 1, 0, 1700000000000, 0, 4, 0, 5, 0);"
    "INSERT INTO workflow_step (instance, run, seq, name, kind, status, attempts, attempts_max, timeout, created_at,"
    " updated_at) VALUES (1, 1, 1, 'charge', 0, 1, 1, 5, 600000, 5, 5);"
    "CREATE VIEW reports AS SELECT id, status FROM workflow_instances"; /* the user's, on one of ours */

TEST_IN(on_postgres, fixture, a_database_of_version_1_keeps_its_rows_and_goes_on)
{
    old_database_open(fixture, 1, rows_of_version_1);
    struct pw_instance waiting = read_key(fixture, 1);
    assert_int_equal(waiting.link.parent, 0);
    assert_int_equal(waiting.link.relation, PW_RELATION_NONE);
    assert_int_equal(waiting.task.demand, PW_DEMAND_NONE);
    assert_int_equal(read_key(fixture, 2).outcome, PW_OUTCOME_COMPLETE);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM reports WHERE status = 'waiting'"), 1);

    struct pw_fence at = { 1, 1, 4 };
    struct pw_fence child = create_linked(fixture, at, "refund", PW_RELATION_ATTACHED).at;
    struct pw_unit *unit = fixture_unit(fixture);
    struct pw_op_event *answer = add_answer(unit, 1, "$refund/n0");
    (void)add_finish(unit, child, PW_OUTCOME_COMPLETE);
    fixture_apply(fixture);
    assert_true(answer->woke);
    assert_int_equal(read_key(fixture, child.instance).link.parent, 1);
}

/* Somebody who reads a table, as a backup does, and ends when the migration has given way to him. */
struct reader {
    PGconn *db;
    int told, given_way;
};

static void tell(void *user, const char *text)
{
    struct reader *reader = user;
    reader->told += strstr(text, "migrating the schema from version 1 to") != NULL;
    if (strstr(text, "others have a table locked") == NULL)
        return;
    reader->given_way++;
    PQclear(PQexec(reader->db, "COMMIT"));
}

TEST_IN(on_postgres, fixture, a_migration_gives_way_to_whoever_has_a_table_locked_and_is_repeated)
{
    struct pawl_clock clock = { .now_ms = fixture_now, .user = fixture };
    old_database_make(fixture, 1, rows_of_version_1);
    struct reader reader = { .db = PQconnectdb(fixture->place.url) };
    assert_int_equal(PQstatus(reader.db), CONNECTION_OK);
    PQclear(PQexec(reader.db, "BEGIN; LOCK TABLE workflow_task IN ACCESS SHARE MODE"));

    pawl_status status = pw_store_open_telling(fixture->url, clock, (struct pw_progress){ tell, &reader },
                                               &fixture->store, &fixture->error);

    PQfinish(reader.db);
    assert_int_equal(status, PAWL_OK);
    assert_int_equal(reader.given_way, 1);
    assert_int_equal(reader.told, 2);
    assert_int_equal(query_number(fixture, "SELECT version FROM workflow_schema"), pw_postgres_newest_version());
}

/* Old rows are looked at one by one, which takes as long as there are many. */
TEST_IN(on_postgres, fixture, a_migration_may_take_longer_than_other_statements)
{
    struct pawl_clock clock = { .now_ms = fixture_now, .user = fixture };
    old_database_make(fixture, 5, old_steps_sql);
    run_raw_sql(fixture, "CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                         "  ASSERT current_setting('statement_timeout') = '0', 'it is cut off'; RETURN NULL; END $$;"
                         "CREATE TRIGGER slow AFTER UPDATE ON workflow_step EXECUTE FUNCTION take_long()");

    assert_int_equal(pw_store_open(fixture->url, clock, &fixture->store, &fixture->error), PAWL_OK);

    run_raw_sql(fixture, "DROP FUNCTION take_long CASCADE");
    assert_old_steps(fixture->store);
}

/* Who opened the database before it was brought up to date writes as before. */
TEST_IN(on_postgres, fixture, the_row_types_of_version_1_still_serve)
{
    old_database_open(fixture, 1, rows_of_version_1);
    run_raw_sql(fixture, "INSERT INTO workflow_instance (key, run, created_at, updated_at, started_at, completed_at,"
                         " outcome, workflow, id, params, output, error_name, error_message)"
                         " SELECT * FROM unnest(ARRAY[ROW(3, 1, 5, 5, NULL, NULL, NULL, 'order', 'old', NULL, NULL,"
                         "  NULL, NULL)::workflow_instance_row]);"
                         "INSERT INTO workflow_task (instance, run, epoch, due_at, owner, locked_until, started_at,"
                         " updated_at, event_seq, status, kind, processing, pause_requested, workflow, shard)"
                         " SELECT * FROM unnest(ARRAY[ROW(3, 1, 0, 5, NULL, NULL, NULL, 5, 0, 0, 3, 0, 0, 'order', 7)"
                         "  ::workflow_task_row]);"
                         "INSERT INTO workflow_step (instance, run, seq, attempts, attempts_max, timeout, created_at,"
                         " updated_at, next_retry_at, wake_at, event_at, kind, status, name, wait_event_type, result,"
                         " error_name, error_message) SELECT * FROM unnest(ARRAY[ROW(3, 1, 1, 1, 1, 1, 5, 5, NULL,"
                         "  NULL, NULL, 0, 1, 's', NULL, NULL, NULL, NULL)::workflow_step_row])");
    assert_int_equal(try_fence(fixture, (struct pw_fence){ 3, 1, 0 }), PAWL_OK);
    assert_int_equal(step_count(fixture, (struct pw_fence){ 3, 1, 0 }), 1);
}

/* ---- Within one transaction ----------------------------------------------------------------------------------------- */

/* ---- Many at once --------------------------------------------------------------------------------------------------- */

enum { FAMILIES = 3, CROWD = 6, ROUNDS = 25 };

struct crowd {
    struct fixture *fixture;
    struct pw_fence parents[FAMILIES], children[FAMILIES];
    char ids[FAMILIES][8]; /* of the parents */
    struct linked jobs[FAMILIES];
    int number;
    bool failed;
    pthread_t thread;
};

/* Each names the families in an order of its own; some only by keys, others by whom they made, and by names. */
static void add_trouble(const struct crowd *crowd, struct pw_unit *unit, const char *type)
{
    bool by_keys = crowd->number % 3 == 0;
    for (int i = 0; i < FAMILIES; i++) {
        int which = crowd->number % 2 == 0 ? i : FAMILIES - 1 - i;
        (void)add_answer(unit, crowd->children[which].instance, type);
        if (by_keys) {
            (void)add_answer(unit, crowd->parents[which].instance, type);
        } else {
            struct pw_op_control *control = &add(unit, PW_OP_CONTROL)->as.control;
            *control = (struct pw_op_control){ .workflow = text("order"),
                                               .id = text(crowd->ids[which]),
                                               .what = PAWL_CONTROL_INTERRUPT };
            add_end(unit, "@print", crowd->jobs[which].id);
        }
    }
}

static void *trouble_families(void *user)
{
    struct crowd *crowd = user;
    struct pw_store *store = crowd->fixture->store;
    for (int round = 0; round < ROUNDS; round++) {
        struct pw_unit unit, *units[] = { &unit };
        struct pawl_error error = { PAWL_OK, "" };
        char type[32];
        pw_unit_init(&unit);
        (void)snprintf(type, sizeof type, "$%d-%d", crowd->number, round);
        add_trouble(crowd, &unit, type);
        if (store->ops->apply(store, units, 1, &error) != PAWL_OK || unit.status != PAWL_OK) {
            print_error("%s %s\n", error.text, unit.error.text);
            crowd->failed = true;
        }
        pw_unit_clear(&unit);
    }
    return NULL;
}

TEST_IN(on_postgres, fixture, families_that_many_speak_of_at_once_are_locked_in_one_order) /* S7 */
{
    static const char deadlocks[] = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    struct crowd crowd[CROWD] = { { .fixture = fixture } };
    int64_t before = query_number(fixture, deadlocks);
    for (int i = 0; i < FAMILIES; i++) {
        (void)snprintf(crowd[0].ids[i], sizeof crowd[0].ids[i], "p-%d", i);
        crowd[0].parents[i] = create_held(fixture, "order", crowd[0].ids[i]);
    }
    for (int i = FAMILIES - 1; i >= 0; i--) { /* the later the parent, the earlier the child */
        crowd[0].jobs[i] = create_linked(fixture, crowd[0].parents[i], "@print", PW_RELATION_JOB);
        crowd[0].children[i] = create_linked(fixture, crowd[0].parents[i], "refund", PW_RELATION_ATTACHED).at;
    }
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = crowd[0];
        crowd[i].number = i;
    }
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, trouble_families, &crowd[i]), 0);
    for (int i = 0; i < CROWD; i++) {
        assert_int_equal(pthread_join(crowd[i].thread, NULL), 0);
        assert_false(crowd[i].failed);
    }
    for (int i = 0; i < FAMILIES; i++) {
        assert_int_equal(read_key(fixture, crowd[0].parents[i].instance).task.demand, PW_DEMAND_INTERRUPT);
        assert_int_equal(read_key(fixture, crowd[0].jobs[i].at.instance).outcome, PW_OUTCOME_TERMINATED);
    }
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_event e JOIN workflow_instance i"
                                           " ON i.key = e.instance WHERE i.workflow = 'refund'"),
                     FAMILIES * CROWD * ROUNDS);
    close_store(fixture); /* sessions tell what they counted at their end */
    assert_int_equal(query_number(fixture, deadlocks), before);
}

/* ---- Owners outside ------------------------------------------------------------------------------------------------- */

static struct pw_op_claim *add_claim(struct pw_unit *unit, const struct pw_text *workflow, int64_t owner, size_t max)
{
    struct pw_op_claim *op = &add(unit, PW_OP_CLAIM)->as.claim;
    *op = (struct pw_op_claim){
        .workflows = workflow, .workflow_count = 1, .max = max, .owner = owner, .lease_ms = 1000000
    };
    return op;
}

/* Nobody has heard of it, and a claim of its in the same batch does not hide a runner's. */
TEST_IN(on_postgres, fixture, an_owner_outside_is_never_reaped_and_hides_no_heartbeat)
{
    static const struct pw_text order = { "order", 5 };
    struct pw_store *other = fixture_open_store(fixture);
    assert_int_equal(other->ops->announce(other, 5, &fixture->error), PAWL_OK);
    (void)create_instance(fixture, "order", "a");
    (void)create_instance(fixture, "order", "b");
    struct pw_op_claim *theirs = add_claim(fixture_unit(fixture), &order, 5, 1);
    struct pw_op_claim *outside = add_claim(fixture_unit(fixture), &order, FIXTURE_OUTSIDE, 1);
    assert_int_equal(fixture_apply_on(fixture, other), PAWL_OK);
    assert_int_equal(theirs->claim_count, 1);
    assert_int_equal(outside->claim_count, 1);
    int64_t key = outside->claims[0].fence.instance;

    for (int round = 0; round < 3; round++) { /* their heart beats with each claim of theirs */
        fixture_clear_units(fixture);
        fixture->now_ms += 9000;
        (void)add_claim(fixture_unit(fixture), &order, 5, 1);
        (void)add_claim(fixture_unit(fixture), &order, FIXTURE_OUTSIDE, 1);
        assert_int_equal(fixture_apply_on(fixture, other), PAWL_OK);
        fixture_clear_units(fixture);
        struct pw_op_reap *reap = &add(fixture_unit(fixture), PW_OP_REAP)->as.reap;
        fixture_apply(fixture);
        assert_int_equal(reap->reaped, 0);
    }
    fixture_clear_units(fixture);
    fixture->now_ms += 100000;
    struct pw_op_reap *reap = &add(fixture_unit(fixture), PW_OP_REAP)->as.reap;
    fixture_apply(fixture);
    assert_int_equal(reap->reaped, 1); /* the runner's only */
    assert_int_equal(read_key(fixture, key).task.owner, FIXTURE_OUTSIDE);
    assert_int_equal(read_key(fixture, key).task.locked_until_ms, FIXTURE_NOW_MS + 1000000);
    other->ops->close(other);
}

/* ---- Who is told ---------------------------------------------------------------------------------------------------- */

static void count_due(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

static bool reaches(atomic_int *count, int wanted)
{
    for (int i = 0; i < 500 && atomic_load(count) < wanted; i++)
        (void)usleep(10000);
    return atomic_load(count) >= wanted;
}

TEST_IN(on_postgres, fixture, another_store_hears_of_what_an_answer_or_a_reach_makes_due) /* A14, G1 */
{
    struct pw_store *listening = NULL;
    struct pawl_clock clock = { .now_ms = pw_system_now_ms, .user = NULL };
    atomic_int heard;
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct pw_fence child = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    (void)park(fixture, child, PW_TASK_PAUSED, PW_TASK_WAKE, PW_NOW);
    (void)park(fixture, parent, PW_TASK_WAITING, PW_TASK_WAKE, INT32_MAX);
    atomic_init(&heard, 0);
    assert_int_equal(pw_store_open(fixture->place.url, clock, &listening, &fixture->error), PAWL_OK);
    listening->ops->listen(listening, count_due, &heard);
    assert_int_equal(listening->ops->announce(listening, 5, &fixture->error), PAWL_OK);
    assert_true(reaches(&heard, 1)); /* it may have missed something before */
    int before = atomic_load(&heard);

    assert_true(add_answer(fixture_unit(fixture), parent.instance, "$done") != NULL);
    fixture_apply_all(fixture);
    assert_true(reaches(&heard, before + 1));
    before = atomic_load(&heard);
    (void)add_reach(fixture, fixture_unit(fixture), parent, PW_DEMAND_INTERRUPT);
    fixture_apply_all(fixture);
    assert_true(reaches(&heard, before + 1));

    listening->ops->listen(listening, NULL, NULL);
    listening->ops->withdraw(listening, 5);
    listening->ops->close(listening);
}
