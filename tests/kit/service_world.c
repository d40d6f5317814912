/* service_world.c - see service_world.h. */
#include "service_world.h"

#include "service/service.h"

static int64_t world_now(void *user)
{
    const struct world *world = user;
    return world->now_ms + world->jumped_ms;
}

static int64_t world_monotonic(void *user)
{
    return ((struct world *)user)->now_ms;
}

static int set_up(void **state)
{
    static const char *const tags[] = { "shop", "money" };
    const struct pawl_definition order = { .struct_size = sizeof order, .name = "order" };
    const struct pawl_definition other = {
        .struct_size = sizeof other, .name = "other", .description = "another", .tags = tags, .tag_count = 2
    };
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->now_ms = WORLD_START_MS;
    store_place_make(&world->place, ((const struct test_place *)*state)->store);
    struct pawl_options options = PAWL_OPTIONS_INIT;
    options.store_url = world->place.url;
    options.clock = (struct pawl_clock){ .now_ms = world_now, .user = world, .monotonic_ms = world_monotonic };
    assert_int_equal(pawl_open(&options, &world->engine, &world->error), PAWL_OK);
    assert_int_equal(pawl_define(world->engine, &other, &world->error), PAWL_OK);
    assert_int_equal(pawl_define(world->engine, &order, &world->error), PAWL_OK);
    world->scope = pawl_scope_new();
    assert_non_null(world->scope);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    if (world->true_ops != NULL)
        world->engine->store->ops = world->true_ops;
    (void)pw_engine_set_local(world->engine, NULL);
    pw_engine_leave(world->engine, &world->peer);
    pawl_close(world->engine);
    pawl_scope_free(world->scope);
    store_place_remove(&world->place);
    free(world);
    return 0;
}

const struct test_setting world_setting = { set_up, tear_down, ON_EVERY_STORE };

void assert_refused(struct world *world, pawl_status status, pawl_status expected, ...)
{
    va_list words;
    if (status != expected)
        fail_msg("expected %s, got %s: %s", pawl_status_name(expected), pawl_status_name(status), world->error.text);
    assert_int_equal(world->error.status, expected);
    va_start(words, expected);
    for (const char *word = va_arg(words, const char *); word != NULL; word = va_arg(words, const char *)) {
        if (strstr(world->error.text, word) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", world->error.text, word);
    }
    va_end(words);
    world->error = (struct pawl_error){ PAWL_OK, "" };
}

struct pawl_instance world_create(struct world *world, const char *id)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.id = id;
    assert_int_equal(pawl_create(world->engine, world->scope, "order", &options, &instance, &world->error), PAWL_OK);
    return instance;
}

struct pawl_instance world_get(struct world *world, const char *id)
{
    struct pawl_instance instance;
    assert_int_equal(pawl_get(world->engine, world->scope, "order", id, &instance, &world->error), PAWL_OK);
    return instance;
}

struct pw_instance world_row_of(struct world *world, const char *workflow, const char *id)
{
    struct pw_store *store = world->engine->store;
    const struct pw_store_ops *ops = world->true_ops != NULL ? world->true_ops : store->ops;
    const struct pw_read asked = { .kind = PW_READ_INSTANCE, .name = { pw_text_of(workflow), pw_text_of(id) } };
    struct pw_found found;
    struct pw_arena arena;
    pw_arena_init(&arena);
    assert_int_equal(ops->read(store, &asked, &arena, &found, &world->error), PAWL_OK);
    assert_int_equal(found.count, 1);
    struct pw_instance row = *found.instances;
    pw_arena_clear(&arena);
    return row;
}

struct pw_instance world_row(struct world *world, const char *id)
{
    return world_row_of(world, "order", id);
}

void world_send(struct world *world, const char *id, const char *type, const char *event_id)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = type;
    options.event_id = event_id;
    assert_int_equal(pawl_send_event(world->engine, NULL, "order", id, &options, NULL, &world->error), PAWL_OK);
}

struct pawl_list_options world_page(int32_t page_size, enum pawl_order order, const char *cursor)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    options.page_size = page_size;
    options.order = order;
    options.cursor = cursor;
    return options;
}

size_t world_list_count(struct world *world)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    options.page_size = 100;
    assert_int_equal(pawl_list(world->engine, world->scope, "order", &options, &page, &world->error), PAWL_OK);
    return page.count;
}

struct pawl_history world_history(struct world *world, const char *id, int64_t run)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    options.run_number = run;
    options.page_size = 100;
    options.include_logs = true;
    assert_int_equal(pawl_get_history(world->engine, world->scope, "order", id, &options, &history, &world->error),
                     PAWL_OK);
    return history;
}

/* ---- Playing the runner -------------------------------------------------------------------------------------- */

void world_commit(struct world *world, struct pw_unit *unit)
{
    assert_int_equal(pw_commit_run(world->engine->commit, unit), PAWL_OK);
    pw_unit_clear(unit);
}

struct pw_claim world_claim(struct world *world)
{
    const struct pw_text workflow = pw_text_of("order");
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_CLAIM);
    op->as.claim = (struct pw_op_claim){
        .workflows = &workflow, .workflow_count = 1, .max = 2, .owner = WORLD_OWNER, .lease_ms = WORLD_LEASE_MS
    };
    assert_int_equal(pw_commit_run(world->engine->commit, &unit), PAWL_OK);
    assert_int_equal(op->as.claim.claim_count, 1);
    struct pw_claim claim = op->as.claim.claims[0];
    pw_unit_clear(&unit);
    return claim;
}

bool world_fence_holds(struct world *world, struct pw_fence fence)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    pw_unit_add(&unit, PW_OP_FENCE)->as.fence.at = fence;
    pawl_status status = pw_commit_run(world->engine->commit, &unit);
    pw_unit_clear(&unit);
    assert_true(status == PAWL_OK || status == PAWL_CONFLICT);
    return status == PAWL_OK;
}

static void add_step_op(struct pw_unit *unit, const struct pw_instance *row, const struct pw_step_row *step)
{
    struct pw_op *op = pw_unit_add(unit, PW_OP_STEP);
    op->as.step = (struct pw_op_step){ .instance = row->key, .run = row->run, .is_new = true, .row = *step };
}

static struct pw_step_row step_row(struct world *world, struct pw_unit *unit, int64_t seq, enum pawl_step_kind kind,
                                   enum pawl_step_status status)
{
    char *name = pw_arena_take(&unit->arena, 32);
    snprintf(name, 32, "step-%lld", (long long)seq);
    return (struct pw_step_row){
        .seq = seq,
        .name = pw_text_of(name),
        .kind = kind,
        .status = status,
        .attempts = 1,
        .attempts_max = 6,
        .timeout_ms = 600000,
        .created_at_ms = world->now_ms,
        .updated_at_ms = world->now_ms,
    };
}

void world_wait(struct world *world, const char *id, int64_t seq, enum pawl_step_kind kind, const char *event_type,
                int64_t wake_at_ms)
{
    struct pw_instance row = world_row(world, id);
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_step_row step = step_row(world, &unit, seq, kind, PAWL_STEP_WAITING);
    step.wake_at_ms = wake_at_ms;
    step.wait_event_type = pw_text_of(event_type);
    const char *slash = kind == PAWL_STEP_CALL || kind == PAWL_STEP_CHILD ? strchr(event_type, '/') : NULL;
    if (slash != NULL) { /* "$workflow/id" */
        struct pw_text workflow = { event_type + 1, (size_t)(slash - event_type) - 1 };
        assert_true(pw_arena_text(&unit.arena, workflow, &step.awaited_workflow));
        step.awaited_id = pw_text_of(slash + 1);
    }
    add_step_op(&unit, &row, &step);
    world_commit(world, &unit);
    world_park(world, id, PW_TASK_WAITING, PW_TASK_WAKE, wake_at_ms);
}

void world_park(struct world *world, const char *id, enum pw_task_status status, enum pw_task_kind kind,
                int64_t due_at_ms)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *park = pw_unit_add(&unit, PW_OP_PARK);
    park->as.park = (struct pw_op_park){ .instance = world_row(world, id).key,
                                         .status = status,
                                         .kind = kind,
                                         .due_at_ms = due_at_ms,
                                         .event_seq_seen = -1 };
    world_commit(world, &unit);
}

void world_record(struct world *world, const char *id, struct pw_step_row step)
{
    struct pw_instance row = world_row(world, id);
    struct pw_unit unit;
    pw_unit_init(&unit);
    step.created_at_ms = step.created_at_ms != 0 ? step.created_at_ms : world->now_ms;
    step.updated_at_ms = step.updated_at_ms != 0 ? step.updated_at_ms : world->now_ms;
    add_step_op(&unit, &row, &step);
    world_commit(world, &unit);
}

void world_make(struct world *world, const char *parent, enum pw_relation relation, const char *workflow,
                const char *id, const char *params)
{
    struct pw_instance row = world_row(world, parent);
    const struct pw_link link = { row.key, row.run, relation };
    struct pw_unit unit;
    pw_unit_init(&unit);
    pw_unit_add(&unit, PW_OP_FENCE)->as.fence.at = (struct pw_fence){ row.key, row.run, row.task.epoch };
    assert_int_equal(pw_service_add_create(world->engine, &unit, &link, pw_text_of(workflow), pw_text_of(id),
                                           pw_text_of(params), &world->error),
                     PAWL_OK);
    assert_int_equal(pw_engine_run(world->engine, &unit), PAWL_OK);
    pw_unit_clear(&unit);
}

void world_add_step(struct world *world, const char *id, int64_t seq, enum pawl_step_kind kind,
                    enum pawl_step_status status)
{
    struct pw_instance row = world_row(world, id);
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_step_row step = step_row(world, &unit, seq, kind, status);
    step.result = pw_text_of("{\"ok\":true}");
    add_step_op(&unit, &row, &step);
    world_commit(world, &unit);
}

void world_add_log(struct world *world, const char *id, enum pawl_log_level level, const char *category,
                   const char *message)
{
    struct pw_instance row = world_row(world, id);
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_LOG);
    op->as.log.instance = row.key;
    op->as.log.run = row.run;
    op->as.log.row.level = level;
    op->as.log.row.category = pw_text_of(category);
    op->as.log.row.message = pw_text_of(message);
    world_commit(world, &unit);
}

void world_finish(struct world *world, const char *id, enum pw_outcome outcome)
{
    struct pw_instance row = world_row(world, id);
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_FINISH);
    op->as.finish = (struct pw_op_finish){ .instance = row.key, .outcome = outcome, .demand_seen = row.task.demand };
    if (outcome == PW_OUTCOME_COMPLETE)
        op->as.finish.output = pw_text_of("[1,2]");
    if (outcome == PW_OUTCOME_ERRORED) {
        op->as.finish.error_name = pw_text_of("CardDeclined");
        op->as.finish.error_message = pw_text_of("no \"funds\"");
    }
    world_commit(world, &unit);
}

/* ---- Playing the local runner -------------------------------------------------------------------------------- */

static int64_t local_reserve(void *runner, struct pw_text workflow, int64_t *out_lease_ms)
{
    struct world *world = runner;
    assert_true(workflow.data == NULL || pw_text_equal(workflow, pw_text_of("order")));
    if (world->room == 0)
        return 0;
    world->room--;
    world->reserved++;
    *out_lease_ms = WORLD_LEASE_MS;
    return WORLD_OWNER;
}

static void local_deliver(void *runner, const struct pw_claim *claim)
{
    struct world *world = runner;
    if (claim == NULL) {
        world->cancelled++;
        return;
    }
    assert_true(world->delivered_count < WORLD_CLAIMS_MAX);
    size_t at = world->delivered_count++;
    world->delivered[at] = *claim;
    assert_true(pw_text_equal(claim->workflow, pw_text_of("order")));
    snprintf(world->delivered_id[at], sizeof world->delivered_id[at], "%s", claim->id.data);
    world->revoked_before_delivery = world->revoked > 0;
}

static void local_wake(void *runner, int64_t due_at_ms)
{
    assert_int_equal(due_at_ms, PW_NOW);
    ((struct world *)runner)->woken++;
}

static void peer_hear(void *runner, const struct pw_word *word)
{
    struct world *world = runner;
    assert_true(word->instance > 0 && (word->run > 0 || word->kind == PW_WORD_PAUSE));
    assert_true(word->seq > 0 || word->kind != PW_WORD_EVENT);
    if (word->kind == PW_WORD_DEMAND)
        world->demanded = word->demand;
    world->revoked += word->kind == PW_WORD_REVOKED;
    world->asked_to_pause += word->kind == PW_WORD_PAUSE;
    world->told_of_events += word->kind == PW_WORD_EVENT;
}

void world_start_local(struct world *world, int room)
{
    world->local = (struct pw_local){ world, local_reserve, local_deliver, local_wake };
    world->peer = (struct pw_peer){ .runner = world, .hear = peer_hear };
    world->room = room;
    assert_true(pw_engine_set_local(world->engine, &world->local));
    pw_engine_join(world->engine, &world->peer);
}

/* ---- Getting in between -------------------------------------------------------------------------------------- */

/* Hooked functions get only the store, so the world is found through it. */
static struct world *meddled_world;

static pawl_status meddling_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                                 struct pw_found *out_found, struct pawl_error *error)
{
    struct world *world = meddled_world;
    pawl_status status = world->true_ops->read(store, asked, arena, out_found, error);
    if (status == PAWL_OK && asked->kind == PW_READ_INSTANCE && out_found->count > 0 && world->meddle_count > 0) {
        world->meddle_count--;
        world->meddle(world, out_found->instances);
    }
    return status;
}

void world_start_meddling(struct world *world, int count,
                          void (*meddle)(struct world *world, const struct pw_instance *instance))
{
    struct pw_store *store = world->engine->store;
    meddled_world = world;
    world->true_ops = store->ops;
    world->ops = *store->ops;
    world->ops.read = meddling_read;
    world->meddle = meddle;
    world->meddle_count = count;
    store->ops = &world->ops;
}

/* ---- Calls that do not wait ---------------------------------------------------------------------------------------- */

void world_take_status(void *user, pawl_status status)
{
    *(pawl_status *)user = status;
}

void world_take_answer(void *user, pawl_status status)
{
    struct world_answer *answer = user;
    answer->count++;
    answer->status = status;
}
