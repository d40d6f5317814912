/* test_store_migrations.c - the versions of the schema: databases of earlier ones go on, the views show in words what the newer
 * ones brought, and nobody takes a lease from a worker outside. */
#include "old_schema.h"

/* ---- Files of earlier versions ---------------------------------------------------------------------------------- */

/* What every version has: an instance that has ended in its second run. */
static const char rows_of_version_1[] =
    "INSERT INTO workflow_instance (key, workflow, id, run, outcome, output, created_at, updated_at, started_at,"
    " completed_at) VALUES (9, 'order', 'again', 2, 1, '42', 5, 9, 7, 9);"
    "INSERT INTO workflow_step (instance, run, seq, name, kind, status, attempts, attempts_max, timeout, result,"
    " created_at, updated_at) VALUES (9, 1, 1, 'charge', 0, 1, 1, 5, 600000, '7', 5, 5),"
    "  (9, 2, 1, 'charge', 0, 1, 1, 5, 600000, '8', 7, 7);";

/* A run that waits in its second step, one that is held, and one that has ended. */
static const char rows_of_version_3[] =
    "INSERT INTO workflow_instance (key, workflow, id, run, outcome, created_at, updated_at, completed_at)"
    " VALUES (1, 'order', 'waiting', 1, NULL, 5, 5, NULL), (2, 'order', 'held', 1, NULL, 5, 5, NULL),"
    "  (3, 'order', 'ended', 1, 1, 5, 9, 9);"
    "INSERT INTO workflow_task (instance, workflow, run, status, kind, due_at, processing, epoch, owner, locked_until,"
    " pause_requested, updated_at, event_seq, shard)"
    " VALUES (1, 'order', 1, 1, 0, 1700000000000, 0, 4, NULL, NULL, 0, 5, 0, 7),"
    "  (2, 'order', 1, 0, 3, 5, 1, 1, 77, 1700000900, 0, 5, 0, 7);"
    "INSERT INTO workflow_step (instance, run, seq, name, kind, status, attempts, attempts_max, timeout, result,"
    " created_at, updated_at) VALUES (1, 1, 1, 'charge', 0, 1, 1, 5, 600000, '7', 5, 5),"
    "  (1, 1, 2, 'paid', 2, 0, 0, 0, 0, NULL, 5, 5);";

/* Tables by their columns, because ALTER TABLE writes them otherwise; the rest by its SQL. */
static const char sqlite_schema_sql[] =
    "SELECT group_concat(line, char(10)) FROM (SELECT name || ': ' || sql AS line FROM sqlite_schema"
    "  WHERE name LIKE 'workflow_%' AND type <> 'table' AND sql IS NOT NULL"
    " UNION ALL SELECT m.name || '.' || c.cid || ': ' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' '"
    "  || coalesce(c.dflt_value, '') || ' ' || c.pk FROM sqlite_schema m, pragma_table_info(m.name) c"
    "  WHERE m.name LIKE 'workflow_%' AND m.type = 'table' ORDER BY 1)";
static const char postgres_schema_sql[] =
    "SELECT string_agg(line, chr(10) ORDER BY line) FROM ("
    " SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' '"
    "  || coalesce(column_default, '') || ' ' || coalesce(collation_name, '')"
    "  || ' ' || ordinal_position AS line"
    "  FROM information_schema.columns WHERE table_schema = current_schema() AND table_name LIKE 'workflow_%'"
    " UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()"
    " UNION ALL SELECT viewname || ': ' || definition FROM pg_views WHERE schemaname = current_schema()"
    "  AND viewname LIKE 'workflow_%'"
    " UNION ALL SELECT tgrelid::regclass || ': ' || tgname FROM pg_trigger WHERE NOT tgisinternal) l";

static void keep_text(void *text, const char *const *columns, int count)
{
    assert_int_equal(count, 1);
    *(char **)text = strdup(columns[0]);
}

static char *schema_of(struct fixture *fixture)
{
    bool is_file = fixture->place.store == STORE_IN_FILE;
    char *schema = NULL;
    store_place_rows(&fixture->place, is_file ? sqlite_schema_sql : postgres_schema_sql, keep_text, &schema);
    assert_non_null(schema);
    assert_non_null(strstr(schema, is_file ? "workflow_step." : "workflow_step.state smallint"));
    assert_non_null(strstr(schema, "workflow_instances: "));
    return schema;
}

TEST_IN(on_databases, fixture, a_database_of_every_earlier_version_gets_the_schema_of_a_new_one)
{
    int64_t newest = query_number(fixture, "SELECT version FROM workflow_schema");
    char *wanted = schema_of(fixture);
    for (int64_t version = 1; version < newest; version++) {
        old_database_open(fixture, version, rows_of_version_1);
        char *schema = schema_of(fixture);
        assert_string_equal(schema, wanted);
        free(schema);
    }
    free(wanted);
}

TEST_IN(on_file, fixture, a_file_of_version_3_keeps_its_rows_and_they_have_no_parent_and_no_demand)
{
    old_database_open(fixture, 3, rows_of_version_3);
    for (int64_t key = 1; key <= 3; key++) {
        struct pw_instance instance = read_key(fixture, key);
        assert_int_equal(instance.link.parent, 0);
        assert_int_equal(instance.link.run, 0);
        assert_int_equal(instance.link.relation, PW_RELATION_NONE);
        assert_int_equal(instance.has_task, key < 3);
        assert_int_equal(instance.task.demand, PW_DEMAND_NONE);
    }
    const struct pw_history_query run = { .instance = 1, .run = 1, .max = SIZE_MAX };
    struct pw_step_row *steps = NULL;
    size_t count = 0;
    assert_int_equal(pw_read_waiting_steps(fixture->store, &fixture->arena, &run, &steps, &count, &fixture->error),
                     PAWL_OK);
    assert_int_equal(count, 1);
    assert_text(steps[0].name, "paid");
    assert_null(steps[0].description.data);
}

TEST_IN(on_file, fixture, runs_of_version_3_go_on_and_may_have_children_and_answers)
{
    old_database_open(fixture, 3, rows_of_version_3);
    assert_int_equal(try_fence(fixture, (struct pw_fence){ 2, 1, 1 }), PAWL_OK);

    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, (struct pw_fence){ 2, 1, 1 });
    struct pw_op_create *create = add_create(unit, "order", "child");
    create->link = (struct pw_link){ .parent = 1, .run = 1, .relation = PW_RELATION_ATTACHED };
    struct pw_op_event *answer = add_event(unit, (struct pw_fence){ .instance = 1 }, "$order/child", "$order/child");
    answer->is_answer = true;
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_OK);
    assert_true(answer->woke);
    int64_t child = create->fence.instance;
    fixture_clear_units(fixture);

    const struct pw_text order = text("order");
    struct pw_op_claim *claim = fixture_claim(fixture, &order, 1, 1);
    assert_int_equal(claim->claim_count, 1);
    assert_text(claim->claims[0].id, "waiting");
    assert_int_equal(claim->claims[0].event_seq, 1);
    assert_int_equal(read_key(fixture, child).link.parent, 1);
}

static size_t read_runs(struct fixture *fixture, struct pw_earlier_run **out_runs)
{
    const struct pw_history_query query = { .instance = 9, .max = 10 };
    size_t count = 0;
    assert_int_equal(pw_read_earlier_runs(fixture->store, &fixture->arena, &query, out_runs, &count, &fixture->error),
                     PAWL_OK);
    return count;
}

TEST_IN(on_databases, fixture, runs_of_earlier_versions_that_were_replaced_have_no_row_and_the_next_ones_do)
{
    int64_t last = fixture->place.store == STORE_IN_FILE ? 4 : 2; /* the last without rows of runs */
    struct pw_earlier_run *runs = NULL;
    for (int64_t version = 1; version <= last; version++) {
        old_database_open(fixture, version, rows_of_version_1);
        assert_int_equal(read_runs(fixture, &runs), 0);
        assert_int_equal(step_count(fixture, (struct pw_fence){ .instance = 9, .run = 1 }), 1);
        assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runs WHERE output = '42'"), 1);

        add(fixture_unit(fixture), PW_OP_RESTART)->as.restart = (struct pw_op_restart){ .instance = 9, .run = 2 };
        fixture_apply_all(fixture);
        assert_int_equal(read_runs(fixture, &runs), 1);
        assert_int_equal(runs[0].run, 2);
        assert_int_equal(runs[0].outcome, PW_OUTCOME_COMPLETE);
        assert_text(runs[0].output, "42");
        assert_int_equal(runs[0].started_at_ms, 7);
        assert_int_equal(runs[0].completed_at_ms, 9);
    }
}

TEST_IN(on_databases, fixture, steps_of_every_earlier_version_get_columns_from_their_texts)
{
    for (int64_t version = 1; version < 6; version++) {
        old_database_open(fixture, version, old_steps_sql);
        assert_old_steps(fixture->store);
    }
}

TEST_IN(on_databases, fixture, runs_of_every_earlier_version_have_no_version_and_the_next_ones_may)
{
    struct pw_earlier_run *runs = NULL;
    for (int64_t version = 1; version <= 6; version++) {
        old_database_open(fixture, version, rows_of_version_1);
        assert_null(read_key(fixture, 9).terms.version.data);
        add(fixture_unit(fixture), PW_OP_RESTART)->as.restart =
            (struct pw_op_restart){ .instance = 9, .run = 2, .terms = { .version = text("1.0") } };
        fixture_apply_all(fixture);
        assert_text(read_key(fixture, 9).terms.version, "1.0");
        assert_int_equal(read_runs(fixture, &runs), 1);
        assert_null(runs[0].terms.version.data);
        assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runs WHERE version IS NULL"), 1);
    }
}

TEST_IN(on_databases, fixture, answers_of_every_earlier_version_that_had_failed_are_marked)
{
    for (int64_t version = 1; version < 8; version++) {
        old_database_open(fixture, version, old_answers_sql);
        assert_old_answers(fixture->store);
    }
}

TEST_IN(on_databases, fixture, repairs_of_every_earlier_version_are_marked)
{
    for (int64_t version = 1; version < 8; version++) {
        old_database_open(fixture, version, old_repairs_sql);
        assert_old_repairs(fixture->store);
    }
}

/* ---- Views --------------------------------------------------------------------------------------------------------- */

static int64_t create_child(struct fixture *fixture, const char *workflow, const char *id, struct pw_fence parent,
                            enum pw_relation relation)
{
    struct pw_op_create *op = add_create(fixture_unit(fixture), workflow, id);
    op->link = (struct pw_link){ .parent = parent.instance, .run = parent.run, .relation = relation };
    fixture_apply(fixture);
    assert_true(op->created);
    int64_t key = op->fence.instance;
    fixture_clear_units(fixture);
    return key;
}

TEST_IN(on_engines, fixture, the_view_of_instances_shows_who_made_them)
{
    struct pw_fence parent = create_held(fixture, "order", "p");
    (void)create_child(fixture, "mail", "a", parent, PW_RELATION_ATTACHED);
    (void)create_child(fixture, "mail", "d", parent, PW_RELATION_DETACHED);
    (void)create_child(fixture, "@print", "j", parent, PW_RELATION_JOB);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instances WHERE parent_workflow = 'order'"
                                           " AND parent_id = 'p' AND parent_run = 1"
                                           " AND (id, relation) IN (VALUES ('a', 'attached'), ('d', 'detached'),"
                                           " ('j', 'job'))"),
                     3);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instances WHERE id = 'p'"
                                           " AND relation IS NULL AND parent_workflow IS NULL AND parent_id IS NULL"
                                           " AND parent_run IS NULL"),
                     1);
}

TEST_IN(on_engines, fixture, the_view_of_tasks_shows_what_is_demanded_and_what_awaits_repair)
{
    static const char *const words[] = { NULL, "interrupt", "rollback", "terminate" };
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_tasks WHERE demand IS NULL"), 1);
    for (int demand = PW_DEMAND_INTERRUPT; demand <= PW_DEMAND_TERMINATE; demand++) {
        struct pw_op_demand *op = &add(fixture_unit(fixture), PW_OP_DEMAND)->as.demand;
        *op = (struct pw_op_demand){ at.instance, (enum pw_demand)demand };
        fixture_apply_all(fixture);
        char sql[100];
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM workflow_tasks WHERE demand = '%s' AND kind = 'run'",
                       words[demand]);
        assert_int_equal(query_number(fixture, sql), 1);
    }
    assert_int_equal(read_key(fixture, at.instance).task.demand, PW_DEMAND_TERMINATE);
    struct pw_fence other = create_held(fixture, "order", "b");
    (void)park(fixture, other, PW_TASK_PAUSED, PW_TASK_REPAIR, PW_NOW);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_tasks WHERE id = 'b' AND kind = 'repair'"
                                           " AND status = 'paused'"),
                     1);
    assert_int_equal(read_key(fixture, other.instance).task.kind, PW_TASK_REPAIR);
}

TEST_IN(on_engines, fixture, the_view_of_steps_shows_their_kinds_and_descriptions)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    for (int kind = PAWL_STEP_DO; kind <= PAWL_STEP_DEFERRED; kind++) {
        const char *name = pawl_step_kind_name((enum pawl_step_kind)kind);
        struct pw_step_row *row = add_step(unit, at, kind + 1, name);
        row->kind = (enum pawl_step_kind)kind;
        row->description = text(kind == PAWL_STEP_CALL ? "prints a label" : NULL);
    }
    fixture_apply_all(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_steps WHERE kind = name"), 7);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_steps WHERE description IS NOT NULL"), 1);
    assert_int_equal(query_number(fixture, "SELECT seq FROM workflow_steps WHERE description = 'prints a label'"), 5);
}

TEST_IN(on_engines, fixture, the_view_of_steps_shows_their_state_and_place_and_what_they_undo_and_wait_for)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    for (int number = PAWL_STATE_WAITING; number <= PAWL_STATE_GIVEN_UP; number++) {
        const char *name = pawl_step_state_name((enum pawl_step_state)number);
        struct pw_step_row *row = add_step(unit, at, number + 1, name);
        pw_step_row_set(row, (enum pawl_step_state)number);
        row->undoes = text(number == PAWL_STATE_FAILED ? "charge" : NULL);
        row->awaited_workflow = text(number == PAWL_STATE_WAITING ? "parcel" : NULL);
        row->awaited_id = text(number == PAWL_STATE_WAITING ? "p1" : NULL);
    }
    unit->first->as.step.row.place = (struct pw_step_place){
        .fork = text("both"), .outer = text("{}"), .kind = PAWL_FORK_ALL, .branch = 2, .order = 3
    };
    fixture_apply_all(fixture);
    assert_int_equal(query_number(fixture, "SELECT seq FROM workflow_steps WHERE fork = 'both' AND fork_kind = 'all'"
                                           " AND branch = 2 AND branch_order = 3 AND outer_forks = '{}'"),
                     1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_steps WHERE fork IS NULL"
                                           " AND fork_kind IS NULL AND branch IS NULL AND branch_order IS NULL"
                                           " AND outer_forks IS NULL"),
                     4);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_steps WHERE state = name"), 5);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_steps WHERE status = 'errored'"), 3);
    assert_int_equal(query_number(fixture, "SELECT seq FROM workflow_steps WHERE undoes = 'charge'"), 3);
    assert_int_equal(query_number(fixture, "SELECT seq FROM workflow_steps WHERE awaited_workflow = 'parcel'"
                                           " AND awaited_id = 'p1'"),
                     1);
}

TEST_IN(on_engines, fixture, the_view_of_events_shows_which_tell_of_a_failure)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_event(unit, at, "$mail/1", "$mail/1");
    add_event(unit, at, "$mail/2", "$mail/2")->is_failure = true;
    fixture_apply_all(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_events"), 2);
    assert_int_equal(query_number(fixture, "SELECT seq FROM workflow_events WHERE is_failure = 1"), 2);
}

/* ---- Leases of workers outside ------------------------------------------------------------------------------------- */

TEST_IN(on_file, fixture, a_lease_of_somebody_outside_is_never_reaped)
{
    struct pw_fence dead = create_held(fixture, "order", "dead"); /* by an owner that nobody has announced */
    struct pw_op_create *create = add_create(fixture_unit(fixture), "@print", "j");
    create->hold_owner = FIXTURE_OUTSIDE;
    create->hold_lease_ms = FIXTURE_LEASE_MS;
    fixture_apply(fixture);
    int64_t outside = create->fence.instance;
    fixture_clear_units(fixture);

    struct pw_op_reap *reap = &add(fixture_unit(fixture), PW_OP_REAP)->as.reap;
    fixture_apply(fixture);
    assert_int_equal(reap->reaped, 1);
    assert_int_equal(read_key(fixture, dead.instance).task.locked_until_ms, fixture->now_ms);
    struct pw_task task = read_key(fixture, outside).task;
    assert_int_equal(task.owner, FIXTURE_OUTSIDE);
    assert_int_equal(task.locked_until_ms, fixture->now_ms + FIXTURE_LEASE_MS);
}
