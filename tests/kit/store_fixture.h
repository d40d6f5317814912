/* store_fixture.h - a store to test, in memory, in a file, in PostgreSQL or in plain memory (tests/memory), and
 * shortcuts to build units of work. */
#ifndef PAWL_TESTS_STORE_FIXTURE_H
#define PAWL_TESTS_STORE_FIXTURE_H

#include <unistd.h>

#include "memory/store.h"
#include "store/sqlite/sqlite.h"
#include "test.h"

enum {
    FIXTURE_NOW_MS = 1700000000,
    FIXTURE_OWNER = 77,
    FIXTURE_OUTSIDE = -5,
    FIXTURE_LEASE_MS = 1000,
    FIXTURE_UNITS_MAX = 8
};

struct fixture {
    struct pw_store *store;
    struct pw_arena arena; /* holds what is read */
    struct pawl_error error;
    int64_t now_ms;
    struct store_place place;
    const char *directory; /* the place's folder, for a file */
    char url[400];         /* the place's URL, until a test changes it */
    struct pw_unit units[FIXTURE_UNITS_MAX];
    size_t unit_count;
};

static inline struct pw_text text(const char *string)
{
    return pw_text_of(string);
}

#define assert_text(actual, expected) assert_true(pw_text_equal((actual), pw_text_of(expected)))

static inline int64_t fixture_now(void *user)
{
    return ((struct fixture *)user)->now_ms;
}

static inline struct pw_store *fixture_open_store(struct fixture *fixture)
{
    struct pw_store *store = NULL;
    struct pawl_clock clock = { .now_ms = fixture_now, .user = fixture };
    if (fixture->place.store == STORE_PLAIN)
        skip(); /* plain memory cannot be opened a second time */
    pawl_status status = pw_store_open(fixture->url, clock, &store, &fixture->error);
    if (status != PAWL_OK)
        print_error("%s: %s\n", fixture->url, fixture->error.text);
    assert_int_equal(status, PAWL_OK);
    return store;
}

static inline int fixture_set_up(void **state)
{
    const struct test_place *place = *state;
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->now_ms = FIXTURE_NOW_MS;
    store_place_make(&fixture->place, place->store);
    fixture->directory = fixture->place.folder;
    (void)snprintf(fixture->url, sizeof fixture->url, "%s", fixture->place.url);
    fixture->store = place->store == STORE_PLAIN
                         ? memory_store_new((struct pawl_clock){ .now_ms = fixture_now, .user = fixture })
                         : fixture_open_store(fixture);
    assert_non_null(fixture->store);
    *state = fixture;
    return 0;
}

/* Clears the units of the last apply. */
static inline void fixture_clear_units(struct fixture *fixture)
{
    for (size_t position = 0; position < fixture->unit_count; position++)
        pw_unit_clear(&fixture->units[position]);
    fixture->unit_count = 0;
}

static inline int fixture_tear_down(void **state)
{
    struct fixture *fixture = *state;
    fixture_clear_units(fixture);
    pw_arena_clear(&fixture->arena);
    if (fixture->store != NULL)
        fixture->store->ops->close(fixture->store);
    if (fixture->place.store != STORE_PLAIN)
        store_place_remove(&fixture->place);
    free(fixture);
    return 0;
}

/* TEST_OF(fixture, ...) runs on all stores.  Tests that need SQL are skipped in plain memory. */
#define FIXTURE_ON(where)                                                                                              \
    {                                                                                                                  \
        fixture_set_up, fixture_tear_down, where                                                                       \
    }
static const struct test_setting fixture_setting = FIXTURE_ON(ON_MEMORY | ON_FILE | ON_POSTGRES | ON_PLAIN);
static const struct test_setting on_memory = FIXTURE_ON(ON_MEMORY);
static const struct test_setting on_file = FIXTURE_ON(ON_FILE);
static const struct test_setting on_postgres = FIXTURE_ON(ON_POSTGRES);
static const struct test_setting on_sqlite = FIXTURE_ON(ON_MEMORY | ON_FILE);
static const struct test_setting on_databases = FIXTURE_ON(ON_FILE | ON_POSTGRES);
static const struct test_setting on_engines = FIXTURE_ON(ON_MEMORY | ON_FILE | ON_POSTGRES);

static inline void close_store(struct fixture *fixture)
{
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
}

/* Opens the store by another URL, as an engine would, and closes it again. */
static inline pawl_status try_open(struct fixture *fixture, const char *url)
{
    struct pw_store *store = NULL;
    struct pawl_clock clock = { .now_ms = fixture_now, .user = fixture };
    fixture->error.text[0] = '\0';
    pawl_status status = pw_store_open(url, clock, &store, &fixture->error);
    if (status == PAWL_OK)
        store->ops->close(store);
    return status;
}

static inline void assert_says(const struct fixture *fixture, const char *part)
{
    if (strstr(fixture->error.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", fixture->error.text, part);
}

/* ---- Units --------------------------------------------------------------------------------------------------- */

static inline struct pw_unit *fixture_unit(struct fixture *fixture)
{
    assert_true(fixture->unit_count < FIXTURE_UNITS_MAX);
    struct pw_unit *unit = &fixture->units[fixture->unit_count++];
    pw_unit_init(unit);
    return unit;
}

static inline struct pw_op *add(struct pw_unit *unit, enum pw_op_kind kind)
{
    struct pw_op *op = pw_unit_add(unit, kind);
    assert_non_null(op);
    return op;
}

/* Applies all units since the last clear in one transaction. */
static inline pawl_status fixture_apply_on(struct fixture *fixture, struct pw_store *store)
{
    struct pw_unit *units[FIXTURE_UNITS_MAX];
    for (size_t position = 0; position < fixture->unit_count; position++)
        units[position] = &fixture->units[position];
    return store->ops->apply(store, units, fixture->unit_count, &fixture->error);
}

static inline void fixture_apply(struct fixture *fixture)
{
    pawl_status status = fixture_apply_on(fixture, fixture->store);
    if (status != PAWL_OK)
        print_error("apply: %s\n", fixture->error.text);
    assert_int_equal(status, PAWL_OK);
}

/* The same for units that must all succeed. */
static inline void fixture_apply_all(struct fixture *fixture)
{
    fixture_apply(fixture);
    for (size_t position = 0; position < fixture->unit_count; position++)
        assert_int_equal(fixture->units[position].status, PAWL_OK);
    fixture_clear_units(fixture);
}

static inline struct pw_op_create *add_create(struct pw_unit *unit, const char *workflow, const char *id)
{
    struct pw_op_create *op = &add(unit, PW_OP_CREATE)->as.create;
    op->workflow = text(workflow);
    op->id = text(id);
    return op;
}

static inline struct pw_op_fence *add_fence(struct pw_unit *unit, struct pw_fence at)
{
    struct pw_op_fence *op = &add(unit, PW_OP_FENCE)->as.fence;
    op->at = at;
    return op;
}

static inline struct pw_step_row *add_step(struct pw_unit *unit, struct pw_fence at, int64_t seq, const char *name)
{
    struct pw_op_step *op = &add(unit, PW_OP_STEP)->as.step;
    op->instance = at.instance;
    op->run = at.run;
    op->is_new = true;
    op->row.seq = seq;
    op->row.name = text(name);
    op->row.status = PAWL_STEP_COMPLETED;
    return &op->row;
}

static inline struct pw_op_park *add_park(struct pw_unit *unit, struct pw_fence at, enum pw_task_status status,
                                          enum pw_task_kind kind, int64_t due_at_ms)
{
    struct pw_op_park *op = &add(unit, PW_OP_PARK)->as.park;
    op->instance = at.instance;
    op->status = status;
    op->kind = kind;
    op->due_at_ms = due_at_ms;
    op->event_seq_seen = -1;
    return op;
}

static inline struct pw_op_event *add_event(struct pw_unit *unit, struct pw_fence at, const char *id, const char *type)
{
    struct pw_op_event *op = &add(unit, PW_OP_EVENT)->as.event;
    op->instance = at.instance;
    op->run = at.run;
    op->id = text(id);
    op->type = text(type);
    return op;
}

static inline struct pw_op_finish *add_finish(struct pw_unit *unit, struct pw_fence at, enum pw_outcome outcome)
{
    struct pw_op_finish *op = &add(unit, PW_OP_FINISH)->as.finish;
    op->instance = at.instance;
    op->outcome = outcome;
    return op;
}

static inline struct pw_op_hold *add_hold(struct pw_unit *unit, struct pw_fence at)
{
    struct pw_op_hold *op = &add(unit, PW_OP_HOLD)->as.hold;
    op->instance = at.instance;
    op->owner = FIXTURE_OWNER;
    op->lease_ms = FIXTURE_LEASE_MS;
    return op;
}

/* Subscribes this hook to all events of the unit.  The first delivery has this id. */
static inline void tell_hook(struct pw_unit *unit, const char *id, const char *hook)
{
    struct pw_subscription *subscription = pw_arena_zero(&unit->arena, sizeof *subscription);
    assert_non_null(subscription);
    subscription->hook = text(hook);
    subscription->events = PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED;
    subscription->attempts_max = 3;
    unit->subscriptions = subscription;
    assert_true(strlen(id) < sizeof unit->delivery_id);
    memcpy(unit->delivery_id, id, strlen(id) + 1);
}

static inline struct pw_op_sql *add_sql(struct pw_unit *unit, const char *sql, const char *parameters)
{
    struct pw_op_sql *op = &add(unit, PW_OP_SQL)->as.sql;
    op->sql = text(sql);
    op->parameters = text(parameters);
    return op;
}

/* Claims tasks.  The answer lives until the units are cleared. */
static inline struct pw_op_claim *fixture_claim(struct fixture *fixture, const struct pw_text *workflows, size_t count,
                                                size_t max)
{
    fixture_clear_units(fixture);
    struct pw_op_claim *op = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
    op->workflows = workflows;
    op->workflow_count = count;
    op->max = max;
    op->owner = FIXTURE_OWNER;
    op->lease_ms = FIXTURE_LEASE_MS;
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    return op;
}

/* ---- One-op units that must succeed --------------------------------------------------------------------------- */

static inline struct pw_fence create_instance(struct fixture *fixture, const char *workflow, const char *id)
{
    struct pw_op_create *op = add_create(fixture_unit(fixture), workflow, id);
    fixture_apply(fixture);
    assert_true(op->created);
    struct pw_fence fence = op->fence;
    fixture_clear_units(fixture);
    return fence;
}

static inline struct pw_fence create_held(struct fixture *fixture, const char *workflow, const char *id)
{
    struct pw_op_create *op = add_create(fixture_unit(fixture), workflow, id);
    op->hold_owner = FIXTURE_OWNER;
    op->hold_lease_ms = FIXTURE_LEASE_MS;
    fixture_apply(fixture);
    assert_true(op->created);
    struct pw_fence fence = op->fence;
    fixture_clear_units(fixture);
    return fence;
}

/* Parks the run and returns its new fence. */
static inline struct pw_fence park(struct fixture *fixture, struct pw_fence at, enum pw_task_status status,
                                   enum pw_task_kind kind, int64_t due_at_ms)
{
    (void)add_park(fixture_unit(fixture), at, status, kind, due_at_ms);
    fixture_apply_all(fixture);
    at.epoch++;
    return at;
}

/* Runs SQL past all guards.  On SQLite it uses the writing connection. */
static inline void run_raw_sql(struct fixture *fixture, const char *sql)
{
    if (fixture->place.store == STORE_PLAIN)
        skip();
    if (fixture->place.store == STORE_IN_POSTGRES)
        store_place_execute(&fixture->place, sql);
    else
        assert_true(store_connection_execute(STORE_IN_MEMORY, ((struct pw_sqlite *)fixture->store)->writer.db, sql));
}

/* The first column of the last row; -1 if there is no row. */
static inline int64_t query_number(struct fixture *fixture, const char *sql)
{
    if (fixture->place.store == STORE_PLAIN)
        skip();
    if (fixture->place.store == STORE_IN_POSTGRES)
        return store_place_number(&fixture->place, sql);
    int64_t number;
    assert_true(
        store_connection_number(STORE_IN_MEMORY, ((struct pw_sqlite *)fixture->store)->writer.db, sql, &number));
    return number == INT64_MIN ? -1 : number;
}

static inline struct pw_instance read_key(struct fixture *fixture, int64_t key)
{
    struct pw_instance instance;
    assert_int_equal(pw_read_instance_by_key(fixture->store, &fixture->arena, key, &instance, &fixture->error),
                     PAWL_OK);
    return instance;
}

/* Adds a control of the instance, by its name: a pause, a resume and so on. */
static inline struct pw_op_control *add_control(struct fixture *fixture, struct pw_unit *unit, struct pw_fence at,
                                                enum pawl_control what)
{
    struct pw_op_control *op = &add(unit, PW_OP_CONTROL)->as.control;
    struct pw_instance row = read_key(fixture, at.instance);
    *op = (struct pw_op_control){ .workflow = row.workflow, .id = row.id, .what = what };
    return op;
}

static inline void ask_to_pause(struct fixture *fixture, struct pw_fence at)
{
    (void)add_control(fixture, fixture_unit(fixture), at, PAWL_CONTROL_PAUSE);
}

static inline size_t step_count(struct fixture *fixture, struct pw_fence at)
{
    struct pw_history_query query = { .instance = at.instance, .run = at.run, .max = 1000 };
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    assert_int_equal(pw_read_steps(fixture->store, &fixture->arena, &query, &rows, &count, &fixture->error), PAWL_OK);
    return count;
}

/* Returns the status of a unit that consists of this fence. */
static inline pawl_status try_fence(struct fixture *fixture, struct pw_fence at)
{
    fixture_clear_units(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, at);
    fixture_apply(fixture);
    pawl_status status = unit->status;
    fixture_clear_units(fixture);
    return status;
}

/* ---- Instances that others have made ------------------------------------------------------------------------------- */

struct linked {
    struct pw_fence at;
    char id[24];
};

/* Creates an instance that belongs to this run of the parent and is not claimed yet. */
static inline struct linked create_linked(struct fixture *fixture, struct pw_fence parent, const char *workflow,
                                          enum pw_relation relation)
{
    struct linked child;
    struct pw_op_create *op;
    int number = 0;
    do { /* tries ids until one is new */
        (void)snprintf(child.id, sizeof child.id, "n%d", number++);
        op = add_create(fixture_unit(fixture), workflow, child.id);
        op->link = (struct pw_link){ parent.instance, parent.run, relation };
        op->skip_existing = true;
        fixture_apply(fixture);
        assert_int_equal(fixture->units[0].status, PAWL_OK);
        assert_int_equal(op->link.parent, parent.instance);
        child.at = op->created ? op->fence : (struct pw_fence){ 0, 0, 0 };
        fixture_clear_units(fixture);
    } while (child.at.instance == 0);
    return child;
}

/* Adds the end of another instance to the unit, which reaches the instances that the parent's run has created. */
static inline struct pw_reach *add_reach(struct fixture *fixture, struct pw_unit *unit, struct pw_fence parent,
                                         enum pw_demand demand)
{
    struct pw_unit making, *units[] = { &making };
    char id[24];
    struct pw_op_create *create;
    struct pw_fence spare = { 0, 0, 0 };
    for (int number = 0; spare.instance == 0; number++) {
        (void)snprintf(id, sizeof id, "spare%d", number);
        pw_unit_init(&making);
        create = add_create(&making, "spare", id);
        create->skip_existing = true;
        assert_int_equal(fixture->store->ops->apply(fixture->store, units, 1, &fixture->error), PAWL_OK);
        if (create->created)
            spare = create->fence;
        pw_unit_clear(&making);
    }
    struct pw_op_finish *finish = add_finish(unit, spare, PW_OUTCOME_COMPLETE);
    finish->reach = (struct pw_reach){ .parent = parent.instance, .run = parent.run, .demand = demand };
    return &finish->reach;
}

/* Checks that the run was ended just now, as terminated. started_at_ms is 0 if it never started. */
static inline void assert_ended(struct fixture *fixture, struct pw_fence at, int64_t started_at_ms)
{
    struct pw_instance row = read_key(fixture, at.instance);
    assert_int_equal(row.outcome, PW_OUTCOME_TERMINATED);
    assert_false(row.has_task);
    assert_null(row.output.data);
    assert_null(row.error_name.data);
    assert_null(row.error_message.data);
    assert_int_equal(row.started_at_ms, started_at_ms);
    assert_int_equal(row.completed_at_ms, fixture->now_ms);
    assert_int_equal(row.updated_at_ms, fixture->now_ms);
}

#endif
