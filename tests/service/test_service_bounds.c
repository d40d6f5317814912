/* What has a bound besides numbers of rows: pages end by their bytes, and a run has only so many unread events. */
#include "kit/service_world.h"

enum { WIDE = 1000, UNREAD_MAX = 10000 };

/* JSON of so many bytes. */
static const char *wide_json(char out_text[WIDE + 1], size_t size)
{
    memset(out_text, '7', size);
    out_text[0] = '"';
    out_text[size - 1] = '"';
    out_text[size] = '\0';
    return out_text;
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

static void create_sized(struct world *world, int number, size_t params_size)
{
    char id[16], params[WIDE + 1];
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    snprintf(id, sizeof id, "i%d", number);
    options.id = id;
    options.params_json = wide_json(params, params_size);
    world->now_ms++;
    assert_int_equal(pawl_create(world->engine, world->scope, "order", &options, &instance, &world->error), PAWL_OK);
}

/* All pages, one after the other: their sizes, and that each instance comes once, in order. */
static void assert_pages(struct world *world, struct pawl_list_options options, const size_t *sizes, int first,
                         int step)
{
    struct pawl_instance_page page = { .cursor = NULL };
    do {
        char id[16];
        options.cursor = page.cursor;
        assert_int_equal(pawl_list(world->engine, world->scope, "order", &options, &page, &world->error), PAWL_OK);
        assert_int_equal(page.count, *sizes++);
        for (size_t i = 0; i < page.count; i++, first += step) {
            snprintf(id, sizeof id, "i%d", first);
            assert_string_equal(page.instances[i].id, id);
        }
    } while (page.cursor != NULL);
    assert_int_equal(*sizes, 0);
}

TEST_OF(world, a_page_of_a_list_ends_by_its_bytes)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    static const size_t params[] = { 100, 100, 100, 1000, 1000, 100, 200 };
    for (int i = 0; i < 7; i++)
        create_sized(world, i + 1, params[i]);

    options.page_bytes_max = 300; /* what is larger stands alone */
    assert_pages(world, options, (const size_t[]){ 2, 1, 1, 3, 0 }, 7, -1);
    options.order = PAWL_OLDEST_FIRST;
    assert_pages(world, options, (const size_t[]){ 3, 1, 1, 2, 0 }, 1, 1);
    options.has_status = true;
    assert_pages(world, options, (const size_t[]){ 3, 1, 1, 2, 0 }, 1, 1);
    options.page_size = 2;
    assert_pages(world, options, (const size_t[]){ 2, 1, 1, 1, 2, 0 }, 1, 1);
    options.page_size = 0;
    options.page_bytes_max = 0; /* the default is more than all of these */
    assert_pages(world, options, (const size_t[]){ 7, 0 }, 1, 1);
    options.page_bytes_max = 1;
    assert_pages(world, options, (const size_t[]){ 1, 1, 1, 1, 1, 1, 1, 0 }, 1, 1);
}

TEST_OF(world, outputs_count_as_params_do)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    for (int i = 1; i <= 3; i++) {
        char id[16];
        create_sized(world, i, 10);
        snprintf(id, sizeof id, "i%d", i);
        world_finish(world, id, PW_OUTCOME_COMPLETE); /* its output is some bytes, too */
    }
    struct pawl_instance instance = world_get(world, "i1");
    assert_non_null(instance.output_json);
    options.has_status = true;
    options.status = PAWL_COMPLETE;
    options.page_bytes_max = (int64_t)(2 * (10 + strlen(instance.output_json)));
    assert_pages(world, options, (const size_t[]){ 2, 1, 0 }, 3, -1);
    options.page_bytes_max--;
    assert_pages(world, options, (const size_t[]){ 1, 1, 1, 0 }, 3, -1);
}

TEST_OF(world, children_have_pages_that_end_by_their_bytes)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page = { .cursor = NULL };
    char params[WIDE + 1];
    size_t pages = 0, seen = 0;
    world_create(world, "p");
    for (int i = 1; i <= 4; i++) {
        char id[16];
        snprintf(id, sizeof id, "c%d", i);
        world_make(world, "p", PW_RELATION_ATTACHED, "other", id, wide_json(params, 100));
    }
    options.page_bytes_max = 250;
    do {
        options.cursor = page.cursor;
        assert_int_equal(pawl_list_children(world->engine, world->scope, "order", "p", &options, &page, &world->error),
                         PAWL_OK);
        assert_int_equal(page.count, 2);
        seen += page.count;
        pages++;
    } while (page.cursor != NULL);
    assert_int_equal(pages, 2);
    assert_int_equal(seen, 4);
}

/* ---- Histories ----------------------------------------------------------------------------------------------- */

static void add_wide_step(struct world *world, int64_t seq, size_t size)
{
    char name[16], result[WIDE + 1];
    snprintf(name, sizeof name, "s%d", (int)seq);
    world->now_ms++;
    world_record(world, "a",
                 (struct pw_step_row){ .seq = seq,
                                       .name = pw_text_of(name),
                                       .kind = PAWL_STEP_DO,
                                       .status = PAWL_STEP_COMPLETED,
                                       .attempts = 1,
                                       .result = pw_text_of(wide_json(result, size)) });
}

static void send_wide(struct world *world, const char *id, size_t size)
{
    char payload[WIDE + 1];
    struct pawl_send_event_options options = { sizeof options, "paid", wide_json(payload, size), id };
    assert_int_equal(pawl_send_event(world->engine, NULL, "order", "a", &options, NULL, &world->error), PAWL_OK);
}

static void log_wide(struct world *world, size_t size)
{
    char data[WIDE + 1];
    struct pw_unit unit;
    struct pw_instance row = world_row(world, "a");
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_LOG);
    assert_non_null(op);
    op->as.log = (struct pw_op_log){ .instance = row.key,
                                     .run = row.run,
                                     .row = { .level = PAWL_LOG_INFO,
                                              .category = pw_text_of("shop"),
                                              .message = pw_text_of("wide"),
                                              .data = pw_text_of(wide_json(data, size)) } };
    world_commit(world, &unit);
}

static void assert_history(struct world *world, const struct pawl_history_options *options, size_t steps, size_t events,
                           size_t logs, struct pawl_history *out_history)
{
    struct pawl_history history;
    assert_int_equal(pawl_get_history(world->engine, world->scope, "order", "a", options, &history, &world->error),
                     PAWL_OK);
    assert_int_equal(history.step_count, steps);
    assert_int_equal(history.event_count, events);
    assert_int_equal(history.log_count, logs);
    *out_history = history;
}

TEST_OF(world, the_pages_of_a_history_share_its_bytes)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    world_create(world, "a");
    for (int i = 1; i <= 4; i++) {
        char id[16];
        snprintf(id, sizeof id, "e%d", i);
        add_wide_step(world, i, 100);
        send_wide(world, id, 100);
        log_wide(world, 100);
    }
    options.include_logs = true;
    assert_history(world, &options, 4, 4, 4, &history);
    assert_null(history.steps_cursor);
    assert_null(history.events_cursor);
    assert_null(history.logs_cursor);

    options.page_bytes_max = 700; /* steps first, then events, then one line of log all the same */
    assert_history(world, &options, 4, 3, 1, &history);
    assert_null(history.steps_cursor);
    assert_non_null(history.events_cursor);
    assert_non_null(history.logs_cursor);

    options.page_bytes_max = 300;
    assert_history(world, &options, 3, 1, 1, &history);
    options.steps_cursor = history.steps_cursor;
    options.events_cursor = history.events_cursor;
    options.logs_cursor = history.logs_cursor;
    assert_history(world, &options, 1, 2, 1, &history);
    assert_string_equal(history.steps[0].name, "s4");
    assert_string_equal(history.events[0].id, "e2");
    assert_int_equal(history.logs[0].id, 2);
    assert_null(history.steps_cursor);

    options = (struct pawl_history_options)PAWL_HISTORY_OPTIONS_INIT;
    options.order = PAWL_NEWEST_FIRST;
    options.page_bytes_max = 1;
    assert_history(world, &options, 1, 1, 0, &history);
    assert_string_equal(history.steps[0].name, "s4");
    assert_string_equal(history.events[0].id, "e4");
}

TEST_OF(world, what_is_larger_than_a_page_stands_alone)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    world_create(world, "a");
    add_wide_step(world, 1, 10);
    add_wide_step(world, 2, 1000);
    add_wide_step(world, 3, 1000);
    options.page_bytes_max = 100;
    for (int i = 1; i <= 3; i++) {
        assert_history(world, &options, 1, 0, 0, &history);
        assert_int_equal(history.steps[0].name[1], '0' + i);
        assert_int_equal(history.steps_cursor != NULL, i < 3);
        options.steps_cursor = history.steps_cursor;
    }
}

/* A store does not read what nobody is given: one row more, to know that there is one. */
TEST_OF(world, a_store_reads_no_further_than_the_bound)
{
    struct pw_store *store = world->engine->store;
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    struct pw_arena arena = { 0 };
    world_create(world, "a");
    for (int i = 1; i <= 20; i++)
        add_wide_step(world, i, 1000);
    struct pw_instance row = world_row(world, "a");
    struct pw_history_query query = { .instance = row.key, .run = row.run, .max = 101, .bytes_max = 3500 };
    assert_int_equal(pw_read_steps(store, &arena, &query, &rows, &count, &world->error), PAWL_OK);
    assert_int_equal(count, 4);
    assert_true(arena.used < 15000); /* and not all 20 */
    query.bytes_max = 1;
    assert_int_equal(pw_read_steps(store, &arena, &query, &rows, &count, &world->error), PAWL_OK);
    assert_int_equal(count, 2);
    pw_arena_clear(&arena);
}

/* An arena that may take only so much keeps a store from fetching the rest. */
TEST_OF(world, an_arena_with_a_limit_ends_a_read)
{
    struct pw_store *store = world->engine->store;
    struct pw_event_row *rows = NULL;
    size_t count = 0;
    world_create(world, "a");
    for (int i = 1; i <= 20; i++) {
        char id[16];
        snprintf(id, sizeof id, "e%d", i);
        send_wide(world, id, 1000);
    }
    struct pw_instance row = world_row(world, "a");
    struct pw_arena arena = { .limit = 10000 };
    assert_int_equal(pw_read_new_events(store, &arena, row.key, row.run, 0, &rows, &count, &world->error), PAWL_NOMEM);
    assert_true(arena.is_over);
    assert_true(arena.used <= 10000);
    pw_arena_clear(&arena);
    arena.limit = 100000;
    assert_int_equal(pw_read_new_events(store, &arena, row.key, row.run, 0, &rows, &count, &world->error), PAWL_OK);
    assert_int_equal(count, 20);
    assert_false(arena.is_over);
    pw_arena_clear(&arena);
}

TEST_OF(world, wrong_bounds_are_refused)
{
    struct pawl_list_options list = PAWL_LIST_OPTIONS_INIT;
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_instance_page page;
    struct pawl_history history;
    world_create(world, "a");
    list.page_bytes_max = options.page_bytes_max = -1;
    assert_refused(world, pawl_list(world->engine, world->scope, "order", &list, &page, &world->error), PAWL_INVALID,
                   "bytes", "-1", NULL);
    assert_refused(world,
                   pawl_get_history(world->engine, world->scope, "order", "a", &options, &history, &world->error),
                   PAWL_INVALID, "bytes", "-1", NULL);
}

/* ---- Unread events ------------------------------------------------------------------------------------------- */

/* So that a test needs no thousands. */
static void set_unread_max(struct world *world, int64_t max)
{
    struct pw_definition *definition = pw_engine_find(world->engine, pw_text_of("order"));
    assert_non_null(definition);
    assert_int_equal(definition->limits.unread_events_max, UNREAD_MAX); /* the default */
    definition->limits.unread_events_max = max;
}

static pawl_status send(struct world *world, const char *id)
{
    struct pawl_send_event_options options = { sizeof options, "paid", NULL, id };
    return pawl_send_event(world->engine, NULL, "order", "a", &options, NULL, &world->error);
}

static void consume(struct world *world, int64_t seq)
{
    struct pw_unit unit;
    struct pw_instance row = world_row(world, "a");
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_CONSUME);
    assert_non_null(op);
    op->as.consume = (struct pw_op_consume){ row.key, row.run, seq, pw_text_of("wait"), world->now_ms };
    world_commit(world, &unit);
}

TEST_OF(world, a_run_has_only_so_many_unread_events)
{
    world_create(world, "a");
    set_unread_max(world, 3);
    assert_int_equal(send(world, "e1"), PAWL_OK);
    assert_int_equal(send(world, "e2"), PAWL_OK);
    assert_int_equal(send(world, "e3"), PAWL_OK);

    assert_refused(world, send(world, "e4"), PAWL_MAX_EVENTS_EXCEEDED, "3 events", "no step has taken", NULL);
    assert_refused(world, send(world, NULL), PAWL_MAX_EVENTS_EXCEEDED, NULL);
    assert_int_equal(send(world, "e2"), PAWL_OK); /* which is there */
    assert_int_equal(world_history(world, "a", 1).event_count, 3);

    consume(world, 2);
    assert_int_equal(send(world, "e4"), PAWL_OK);
    assert_refused(world, send(world, "e5"), PAWL_MAX_EVENTS_EXCEEDED, NULL);
    assert_int_equal(world_history(world, "a", 1).event_count, 4);
    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);
    assert_int_equal(send(world, "e5"), PAWL_OK); /* to the next run, which has none */
}

/* Demands raise the number, too: then it only allows for more than there are. */
TEST_OF(world, numbers_without_an_event_do_not_count)
{
    world_create(world, "a");
    set_unread_max(world, 2);
    struct pw_instance row = world_row(world, "a");
    for (int i = 0; i < 5; i++) {
        struct pw_unit unit;
        pw_unit_init(&unit);
        struct pw_op *op = pw_unit_add(&unit, PW_OP_DEMAND);
        assert_non_null(op);
        op->as.demand = (struct pw_op_demand){ .instance = row.key, .demand = PW_DEMAND_NONE };
        world_commit(world, &unit);
    }
    assert_int_equal(send(world, "e1"), PAWL_OK);
    assert_int_equal(send(world, "e2"), PAWL_OK);
    assert_refused(world, send(world, "e3"), PAWL_MAX_EVENTS_EXCEEDED, NULL);
}

static struct pw_op_event *add_event(struct pw_unit *unit, const struct pw_instance *row, const char *id,
                                     bool is_answer)
{
    struct pw_op *op = pw_unit_add(unit, PW_OP_EVENT);
    assert_non_null(op);
    op->as.event = (struct pw_op_event){ .instance = row->key,
                                         .run = row->run,
                                         .id = pw_text_of(id),
                                         .type = pw_text_of("paid"),
                                         .is_answer = is_answer,
                                         .unread_max = 3 };
    return &op->as.event;
}

/* In one transaction: each is decided with what the ones before it did. */
TEST_OF(world, events_of_one_transaction_count_one_another)
{
    struct pw_store *store = world->engine->store;
    struct pw_unit units[6], *list[6];
    world_create(world, "a");
    struct pw_instance row = world_row(world, "a");
    assert_int_equal(send(world, "e1"), PAWL_OK);
    for (size_t i = 0; i < 6; i++) {
        pw_unit_init(&units[i]);
        list[i] = &units[i];
    }
    (void)add_event(&units[0], &row, "e2", false);
    (void)add_event(&units[0], &row, "e3", false);
    (void)add_event(&units[1], &row, "e4", false); /* too many */
    struct pw_op *op = pw_unit_add(&units[2], PW_OP_CONSUME);
    assert_non_null(op);
    op->as.consume = (struct pw_op_consume){ row.key, row.run, 1, pw_text_of("wait"), world->now_ms };
    (void)add_event(&units[3], &row, "e4", false);
    const struct pw_op_event *answer = add_event(&units[4], &row, "answer", true); /* never refused */
    (void)add_event(&units[5], &row, "e5", false);

    assert_int_equal(store->ops->apply(store, list, 6, &world->error), PAWL_OK);

    assert_int_equal(units[0].status, PAWL_OK);
    assert_int_equal(units[1].status, PAWL_MAX_EVENTS_EXCEEDED);
    assert_int_equal(units[2].status, PAWL_OK);
    assert_int_equal(units[3].status, PAWL_OK);
    assert_int_equal(units[4].status, PAWL_OK);
    assert_true(answer->recorded);
    assert_int_equal(units[5].status, PAWL_MAX_EVENTS_EXCEEDED);
    assert_int_equal(world_history(world, "a", 1).event_count, 5);
    for (size_t i = 0; i < 6; i++)
        pw_unit_clear(&units[i]);
}
