/* test_postgres_family.c - parents, children, jobs and kept steps where only the PostgreSQL store can go wrong: databases of
 * earlier versions, transactions at once, what is decided in memory and what in the database, and who is told of it. */
#include "linked_fixture.h"

#include <libpq-fe.h>
#include <pthread.h>

#include "base/clock.h"
#include "old_marks.h"
#include "old_schema.h"
#include "old_steps.h"
#include "store/postgres/schema.h"

static void close_store(struct fixture *fixture)
{
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
}

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

static void make_version(struct fixture *fixture, int64_t version, const char *rows)
{
    char set[64];
    close_store(fixture);
    store_place_empty(&fixture->place, true);
    for (size_t i = 0; i < old_postgres_schema_count; i++)
        if (old_postgres_schema[i].version <= version)
            run_raw_sql(fixture, old_postgres_schema[i].sql);
    (void)snprintf(set, sizeof set, "UPDATE workflow_schema SET version = %lld", (long long)version);
    run_raw_sql(fixture, set);
    run_raw_sql(fixture, rows);
}

static void begin_with_version(struct fixture *fixture, int64_t version, const char *rows)
{
    make_version(fixture, version, rows);
    fixture->store = fixture_open_store(fixture);
    assert_int_equal(query_number(fixture, "SELECT version FROM workflow_schema"), pw_postgres_newest_version());
}

static const char rows_of_version_1[] =
    "INSERT INTO workflow_instance (workflow, id, run, created_at, updated_at, outcome)"
    " VALUES ('order', 'waiting', 1, 5, 5, NULL), ('order', 'ended', 1, 5, 9, 1);"
    "INSERT INTO workflow_task (instance, workflow, run, status, kind, due_at, processing, epoch, pause_requested,"
    " updated_at, event_seq) VALUES (1, 'order', 1, 1, 0, 1700000000000, 0, 4, 0, 5, 0);"
    "INSERT INTO workflow_step (instance, run, seq, name, kind, status, attempts, attempts_max, timeout, created_at,"
    " updated_at) VALUES (1, 1, 1, 'charge', 0, 1, 1, 5, 600000, 5, 5);"
    "CREATE VIEW reports AS SELECT id, status FROM workflow_instances"; /* the user's, on one of ours */

static void steps_of_every_earlier_version_get_columns_from_their_texts(void **state)
{
    struct fixture *fixture = *state;
    for (int64_t version = 1; version < 6; version++) {
        begin_with_version(fixture, version, old_steps_sql);
        assert_old_steps(fixture->store);
    }
}

static void answers_of_every_earlier_version_that_had_failed_are_marked(void **state)
{
    struct fixture *fixture = *state;
    for (int64_t version = 1; version < 8; version++) {
        begin_with_version(fixture, version, old_answers_sql);
        assert_old_answers(fixture->store);
    }
}

static void repairs_of_every_earlier_version_are_marked(void **state)
{
    struct fixture *fixture = *state;
    for (int64_t version = 1; version < 8; version++) {
        begin_with_version(fixture, version, old_repairs_sql);
        assert_old_repairs(fixture->store);
    }
}

static const char schema_sql[] =
    "SELECT string_agg(line, chr(10) ORDER BY line) FROM ("
    " SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' '"
    "  || coalesce(column_default, '') || ' ' || coalesce(collation_name, '')"
    "  || ' ' || ordinal_position AS line"
    "  FROM information_schema.columns WHERE table_schema = current_schema() AND table_name LIKE 'workflow_%'"
    " UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()"
    " UNION ALL SELECT viewname || ': ' || definition FROM pg_views WHERE schemaname = current_schema()"
    "  AND viewname LIKE 'workflow_%'"
    " UNION ALL SELECT tgrelid::regclass || ': ' || tgname FROM pg_trigger WHERE NOT tgisinternal) l";

static char *schema_of(struct fixture *fixture)
{
    PGconn *db = PQconnectdb(fixture->place.url);
    PGresult *result = PQexec(db, schema_sql);
    assert_int_equal(PQntuples(result), 1);
    char *schema = strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    PQfinish(db);
    assert_non_null(strstr(schema, "workflow_step.state smallint"));
    assert_non_null(strstr(schema, "workflow_instances: "));
    return schema;
}

static void a_database_of_every_earlier_version_gets_the_schema_of_a_new_one(void **state)
{
    struct fixture *fixture = *state;
    char *wanted = schema_of(fixture);
    for (int64_t version = 1; version < pw_postgres_newest_version(); version++) {
        begin_with_version(fixture, version, "SELECT 1");
        char *schema = schema_of(fixture);
        assert_string_equal(schema, wanted);
        free(schema);
    }
    free(wanted);
}

static void a_database_of_version_1_keeps_its_rows_and_goes_on(void **state)
{
    struct fixture *fixture = *state;
    begin_with_version(fixture, 1, rows_of_version_1);
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

static void runs_of_earlier_versions_that_were_replaced_have_no_row_and_the_next_ones_do(void **state)
{
    struct fixture *fixture = *state;
    for (int64_t version = 1; version <= 2; version++) {
        begin_with_version(fixture, version, rows_of_version_1);
        run_raw_sql(fixture, "UPDATE workflow_instance SET run = 2 WHERE id = 'ended'");
        struct pw_history_query query = { .instance = 2, .max = 10 };
        struct pw_earlier_run *runs = NULL;
        size_t count = 9;
        assert_int_equal(pw_read_earlier_runs(fixture->store, &fixture->arena, &query, &runs, &count, NULL), PAWL_OK);
        assert_int_equal(count, 0);
        add(fixture_unit(fixture), PW_OP_RESTART)->as.restart = (struct pw_op_restart){ .instance = 2, .run = 2 };
        fixture_apply_all(fixture);
        assert_int_equal(pw_read_earlier_runs(fixture->store, &fixture->arena, &query, &runs, &count, NULL), PAWL_OK);
        assert_int_equal(count, 1);
        assert_int_equal(runs[0].run, 2);
        assert_int_equal(runs[0].outcome, PW_OUTCOME_COMPLETE);
    }
}

static void runs_of_every_earlier_version_have_no_version_and_the_next_ones_may(void **state)
{
    struct fixture *fixture = *state;
    static const int64_t versions[] = { 1, 2, 5, 6 };
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        begin_with_version(fixture, versions[i], rows_of_version_1);
        assert_null(read_key(fixture, 2).terms.version.data);
        add(fixture_unit(fixture), PW_OP_RESTART)->as.restart =
            (struct pw_op_restart){ .instance = 2, .run = 1, .terms = { .version = text("1.0") } };
        fixture_apply_all(fixture);
        assert_text(read_key(fixture, 2).terms.version, "1.0");
        assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runs WHERE version IS NULL"), 2);
    }
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

static void a_migration_gives_way_to_whoever_has_a_table_locked_and_is_repeated(void **state)
{
    struct fixture *fixture = *state;
    struct pawl_clock clock = { .now_ms = fixture_now, .user = fixture };
    make_version(fixture, 1, rows_of_version_1);
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
static void a_migration_may_take_longer_than_other_statements(void **state)
{
    struct fixture *fixture = *state;
    struct pawl_clock clock = { .now_ms = fixture_now, .user = fixture };
    make_version(fixture, 5, old_steps_sql);
    run_raw_sql(fixture, "CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                         "  ASSERT current_setting('statement_timeout') = '0', 'it is cut off'; RETURN NULL; END $$;"
                         "CREATE TRIGGER slow AFTER UPDATE ON workflow_step EXECUTE FUNCTION take_long()");

    assert_int_equal(pw_store_open(fixture->url, clock, &fixture->store, &fixture->error), PAWL_OK);

    run_raw_sql(fixture, "DROP FUNCTION take_long CASCADE");
    assert_old_steps(fixture->store);
}

/* Who opened the database before it was brought up to date writes as before. */
static void the_row_types_of_version_1_still_serve(void **state)
{
    struct fixture *fixture = *state;
    begin_with_version(fixture, 1, rows_of_version_1);
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

/* Units of one batch see the ones before, whether these were decided in memory or by the database. */
static void a_reach_sees_what_was_claimed_and_restarted_before_it_in_the_batch(void **state) /* S2 */
{
    struct fixture *fixture = *state;
    const struct pw_text refund = text("refund");
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct pw_fence due = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    struct pw_fence ended = create_linked(fixture, parent, "mail", PW_RELATION_ATTACHED).at;
    (void)add_finish(fixture_unit(fixture), ended, PW_OUTCOME_COMPLETE);
    fixture_apply_all(fixture);

    struct pw_op_claim *claim = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
    *claim = (struct pw_op_claim){ .workflows = &refund, .workflow_count = 1, .max = 1, .owner = 9, .lease_ms = 1000 };
    add(fixture_unit(fixture), PW_OP_RESTART)->as.restart =
        (struct pw_op_restart){ .instance = ended.instance, .run = 1 };
    struct pw_unit *reaching = fixture_unit(fixture);
    const struct pw_reach *reach = add_reach(fixture, reaching, parent, PW_DEMAND_INTERRUPT);
    fixture_apply(fixture);
    assert_int_equal(claim->claim_count, 1);
    assert_int_equal(reach->reached, 2);
    struct pw_task held = read_key(fixture, due.instance).task, begun = read_key(fixture, ended.instance).task;
    assert_true(held.processing);
    assert_int_equal(held.demand, PW_DEMAND_INTERRUPT);
    assert_int_equal(begun.demand, PW_DEMAND_INTERRUPT);
    assert_int_equal(begun.kind, PW_TASK_RESUME);
}

static struct pw_op_restart *add_restart_from(struct pw_unit *unit, struct pw_fence at, int64_t keep_before_seq)
{
    struct pw_op_restart *op = &add(unit, PW_OP_RESTART)->as.restart;
    *op = (struct pw_op_restart){ .instance = at.instance, .run = at.run, .keep_before_seq = keep_before_seq };
    return op;
}

/* The steps of the old run are of the same batch, too. */
static void steps_that_are_kept_are_there_for_the_rest_of_the_batch(void **state) /* S2 */
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a"), next = { at.instance, at.run + 1, 0 };
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_step(unit, at, 1, "one");
    (void)add_step(unit, at, 2, "two");
    (void)add_restart_from(unit, at, 2);
    struct pw_op_step *update = &add(fixture_unit(fixture), PW_OP_STEP)->as.step;
    update->instance = next.instance;
    update->run = next.run;
    update->row = (struct pw_step_row){ .seq = 1, .attempts = 7, .status = PAWL_STEP_ERRORED };
    (void)add_step(fixture_unit(fixture), next, 2, "another two");
    (void)add_step(fixture_unit(fixture), at, 3, "three"); /* of the old run, and too late to be kept */
    fixture_apply_all(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step WHERE run = 2 AND seq = 1"
                                           " AND name = 'one' AND attempts = 7 AND status = 2"),
                     1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step WHERE run = 2"), 2);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step WHERE run = 1"), 3);
}

static void a_refused_restart_keeps_no_steps(void **state) /* S1 */
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    (void)add_step(fixture_unit(fixture), at, 1, "one");
    fixture_apply_all(fixture);
    struct pw_unit *refused = fixture_unit(fixture);
    (void)add_restart_from(refused, at, 9);
    (void)add_fence(refused, at); /* which it has moved itself */
    (void)add_restart_from(fixture_unit(fixture), at, 0);
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_CONFLICT);
    assert_int_equal(fixture->units[1].status, PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step WHERE run = 2"), 0);
}

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

static void families_that_many_speak_of_at_once_are_locked_in_one_order(void **state) /* S7 */
{
    static const char deadlocks[] = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    struct fixture *fixture = *state;
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
static void an_owner_outside_is_never_reaped_and_hides_no_heartbeat(void **state)
{
    static const struct pw_text order = { "order", 5 };
    struct fixture *fixture = *state;
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

static void another_store_hears_of_what_an_answer_or_a_reach_makes_due(void **state) /* A14, G1 */
{
    struct fixture *fixture = *state;
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

/* clang-format off */
int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_POSTGRES(a_database_of_every_earlier_version_gets_the_schema_of_a_new_one)
        ON_POSTGRES(a_database_of_version_1_keeps_its_rows_and_goes_on)
        ON_POSTGRES(steps_of_every_earlier_version_get_columns_from_their_texts)
        ON_POSTGRES(answers_of_every_earlier_version_that_had_failed_are_marked)
        ON_POSTGRES(repairs_of_every_earlier_version_are_marked)
        ON_POSTGRES(the_row_types_of_version_1_still_serve)
        ON_POSTGRES(a_migration_gives_way_to_whoever_has_a_table_locked_and_is_repeated)
        ON_POSTGRES(a_migration_may_take_longer_than_other_statements)
        ON_POSTGRES(runs_of_earlier_versions_that_were_replaced_have_no_row_and_the_next_ones_do)
        ON_POSTGRES(runs_of_every_earlier_version_have_no_version_and_the_next_ones_may)
        ON_POSTGRES(a_reach_sees_what_was_claimed_and_restarted_before_it_in_the_batch)
        ON_POSTGRES(steps_that_are_kept_are_there_for_the_rest_of_the_batch)
        ON_POSTGRES(a_refused_restart_keeps_no_steps)
        ON_POSTGRES(families_that_many_speak_of_at_once_are_locked_in_one_order)
        ON_POSTGRES(an_owner_outside_is_never_reaped_and_hides_no_heartbeat)
        ON_POSTGRES(another_store_hears_of_what_an_answer_or_a_reach_makes_due)
    };
    return cmocka_run_group_tests_name("families in PostgreSQL", tests, NULL, NULL);
}
/* clang-format on */
