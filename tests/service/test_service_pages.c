/* Lists and histories: pages in both directions, filters, cursors and what is wrong with them. */
#include "kit/service_world.h"

static void create_many(struct world *world, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        char id[16];
        snprintf(id, sizeof id, "i%d", i);
        world_create(world, id);
    }
}

static pawl_status list(struct world *world, const struct pawl_list_options *options, struct pawl_instance_page *page)
{
    return pawl_list(world->engine, world->scope, "order", options, page, &world->error);
}

static void assert_ids(const struct pawl_instance_page *page, int first, int step, size_t count)
{
    assert_int_equal(page->count, count);
    for (size_t i = 0; i < count; i++) {
        char id[16];
        snprintf(id, sizeof id, "i%d", first + step * (int)i);
        assert_string_equal(page->instances[i].id, id);
    }
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

TEST_OF(world, a_list_is_newest_first_in_pages_of_25)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page first, second;
    create_many(world, 1, 26);

    assert_int_equal(list(world, NULL, &first), PAWL_OK);
    options.cursor = first.cursor;
    assert_int_equal(list(world, &options, &second), PAWL_OK);

    assert_ids(&first, 26, -1, 25);
    assert_non_null(first.cursor);
    assert_ids(&second, 1, -1, 1);
    assert_null(second.cursor);
}

TEST_OF(world, a_page_that_is_just_full_is_the_last)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    options.page_size = 3;
    create_many(world, 1, 3);

    assert_int_equal(list(world, &options, &page), PAWL_OK);

    assert_ids(&page, 3, -1, 3);
    assert_null(page.cursor);
}

TEST_OF(world, an_empty_list_is_a_page_without_rows)
{
    struct pawl_instance_page page;

    assert_int_equal(list(world, NULL, &page), PAWL_OK);

    assert_int_equal(page.count, 0);
    assert_null(page.cursor);
}

TEST_OF(world, pages_are_stable_under_inserts_newest_first)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page first, second, third;
    options.page_size = 2;
    create_many(world, 1, 5);

    assert_int_equal(list(world, &options, &first), PAWL_OK);
    create_many(world, 6, 3);
    options.cursor = first.cursor;
    assert_int_equal(list(world, &options, &second), PAWL_OK);
    options.cursor = second.cursor;
    options.page_size = 100;
    assert_int_equal(list(world, &options, &third), PAWL_OK);

    assert_ids(&first, 5, -1, 2);
    assert_ids(&second, 3, -1, 2);
    assert_ids(&third, 1, -1, 1);
    assert_null(third.cursor);
}

TEST_OF(world, pages_are_stable_under_inserts_oldest_first)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page first, second;
    options.page_size = 2;
    options.order = PAWL_OLDEST_FIRST;
    create_many(world, 1, 3);

    assert_int_equal(list(world, &options, &first), PAWL_OK);
    create_many(world, 4, 1);
    options.cursor = first.cursor;
    assert_int_equal(list(world, &options, &second), PAWL_OK);

    assert_ids(&first, 1, 1, 2);
    assert_ids(&second, 3, 1, 2);
    assert_null(second.cursor);
}

TEST_OF(world, a_list_can_be_of_one_status_and_is_of_one_workflow)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_create_options other = { sizeof other, "i1", NULL, false };
    struct pawl_instance made;
    create_many(world, 1, 6);
    assert_int_equal(pawl_create(world->engine, world->scope, "other", &other, &made, NULL), PAWL_OK);
    world_wait(world, "i2", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1);
    assert_int_equal(pawl_pause(world->engine, "order", "i3", NULL), PAWL_OK);
    world_finish(world, "i4", PW_OUTCOME_COMPLETE);
    world_finish(world, "i5", PW_OUTCOME_TERMINATED);
    world_finish(world, "i6", PW_OUTCOME_ERRORED);

    for (int status = PAWL_ACTIVE; status <= PAWL_ERRORED; status++) {
        struct pawl_instance_page page;
        options.has_status = true;
        options.status = (enum pawl_instance_status)status;
        assert_int_equal(list(world, &options, &page), PAWL_OK);
        assert_ids(&page, status + 1, 0, 1);
        assert_int_equal(page.instances[0].status, status);
        assert_null(page.instances[0].current_step);
    }
    assert_int_equal(world_list_count(world), 6);
}

static pawl_status count_as_many_as_asked(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                                          struct pw_found *out_found, struct pawl_error *error)
{
    const int64_t max = asked->names.max;
    (void)store, (void)arena, (void)error;
    assert_int_equal(asked->kind, PW_READ_STATUS_COUNTS);
    out_found->statuses = (struct pw_status_counts){ .of = { [PAWL_ACTIVE] = max - 1, [PAWL_COMPLETE] = max } };
    return PAWL_OK;
}

TEST_OF(world, counts_are_of_what_the_lists_show)
{
    struct pawl_create_options other = { sizeof other, "i1", NULL, false };
    struct pawl_instance_counts all, of_order;
    struct pawl_instance made;
    create_many(world, 1, 7);
    assert_int_equal(pawl_create(world->engine, world->scope, "other", &other, &made, NULL), PAWL_OK);
    world_wait(world, "i2", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1);
    assert_int_equal(pawl_pause(world->engine, "order", "i3", NULL), PAWL_OK);
    world_finish(world, "i4", PW_OUTCOME_COMPLETE);
    world_finish(world, "i5", PW_OUTCOME_TERMINATED);
    world_finish(world, "i6", PW_OUTCOME_ERRORED);
    world_finish(world, "i7", PW_OUTCOME_ERRORED);

    assert_int_equal(pawl_count(world->engine, NULL, &all, &world->error), PAWL_OK);
    assert_int_equal(pawl_count(world->engine, "order", &of_order, &world->error), PAWL_OK);

    for (size_t of = 0; of < PAWL_INSTANCE_STATUSES; of++) {
        assert_int_equal(of_order.count[of], of == PAWL_ERRORED ? 2 : 1);
        assert_int_equal(all.count[of], of == PAWL_ERRORED || of == PAWL_ACTIVE ? 2 : 1);
        assert_false(all.has_more[of]);
    }
}

TEST_OF(world, counts_end_at_a_limit_and_say_so)
{
    struct pw_store *store = world->engine->store;
    const struct pw_store_ops *true_ops = store->ops;
    struct pw_store_ops ops = *true_ops;
    struct pawl_instance_counts counts;
    ops.read = count_as_many_as_asked;
    store->ops = &ops;

    assert_int_equal(pawl_count(world->engine, NULL, &counts, &world->error), PAWL_OK);
    store->ops = true_ops;

    assert_int_equal(counts.count[PAWL_ACTIVE], PAWL_COUNT_MAX);
    assert_false(counts.has_more[PAWL_ACTIVE]);
    assert_int_equal(counts.count[PAWL_COMPLETE], PAWL_COUNT_MAX);
    assert_true(counts.has_more[PAWL_COMPLETE]);
    assert_int_equal(counts.count[PAWL_ERRORED], 0);
}

TEST_OF(world, pages_of_one_status_follow_one_another)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    create_many(world, 1, 5);
    world_finish(world, "i1", PW_OUTCOME_COMPLETE);
    world_finish(world, "i3", PW_OUTCOME_COMPLETE);
    world_finish(world, "i5", PW_OUTCOME_COMPLETE);
    options.has_status = true;
    options.status = PAWL_COMPLETE;
    options.page_size = 1;

    for (int i = 5; i >= 1; i -= 2) {
        assert_int_equal(list(world, &options, &page), PAWL_OK);
        assert_ids(&page, i, 0, 1);
        options.cursor = page.cursor;
    }

    assert_null(page.cursor);
}

TEST_OF(world, wrong_list_options_are_refused)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    static const int32_t sizes[] = { -1, 101, INT32_MIN, INT32_MAX };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        options.page_size = sizes[i];
        assert_refused(world, list(world, &options, &page), PAWL_INVALID, "page size", "1 to 100", NULL);
    }
    options.page_size = 0;
    options.order = (enum pawl_order)7;
    assert_refused(world, list(world, &options, &page), PAWL_INVALID, "order", NULL);
    options.order = PAWL_OLDEST_FIRST;
    options.has_status = true;
    options.status = (enum pawl_instance_status)99;
    assert_refused(world, list(world, &options, &page), PAWL_INVALID, "status", NULL);
    options.struct_size = sizeof options + 1;
    assert_refused(world, list(world, &options, &page), PAWL_INVALID, "newer header", NULL);
}

/* ---- Cursors ------------------------------------------------------------------------------------------------- */

TEST_OF(world, what_is_not_a_cursor_is_refused)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    static const char *const wrong[] = {
        "",
        "1",
        "next",
        "AAAAAAAAAAAAAAAAAAAAAAA",
        "_______________________",
        "=======================",
        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4!",
        "' OR 1=1 --            ",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.cursor = wrong[i];
        assert_refused(world, list(world, &options, &page), PAWL_INVALID_CURSOR, "cursor", NULL);
    }
}

TEST_OF(world, a_cursor_with_one_letter_changed_is_refused)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    char cursor[64] = "";
    create_many(world, 1, 2);
    options.page_size = 1;
    assert_int_equal(list(world, &options, &page), PAWL_OK);
    size_t size = strlen(page.cursor);
    assert_true(size + 2 <= sizeof cursor);
    options.cursor = cursor;

    for (size_t i = 0; i < size; i++) {
        memcpy(cursor, page.cursor, size);
        cursor[i] = cursor[i] == 'A' ? 'B' : 'A';
        assert_refused(world, list(world, &options, &page), PAWL_INVALID_CURSOR, NULL);
    }
    memcpy(cursor, page.cursor, size);
    cursor[size - 1]++; /* only a bit that carries nothing */
    assert_refused(world, list(world, &options, &page), PAWL_INVALID_CURSOR, NULL);
    cursor[size - 1]--;
    cursor[size] = 'A';
    assert_refused(world, list(world, &options, &page), PAWL_INVALID_CURSOR, NULL);
    cursor[size] = '\0';
    assert_int_equal(list(world, &options, &page), PAWL_OK);
}

TEST_OF(world, a_cursor_is_refused_with_other_filters)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    create_many(world, 1, 3);
    options.page_size = 1;
    assert_int_equal(list(world, &options, &page), PAWL_OK);
    options.cursor = page.cursor;

    assert_refused(world, pawl_list(world->engine, world->scope, "other", &options, &page, &world->error),
                   PAWL_INVALID_CURSOR, "other filters", NULL);
    options.has_status = true;
    assert_refused(world, list(world, &options, &page), PAWL_INVALID_CURSOR, "other filters", NULL);
    options.has_status = false;
    options.order = PAWL_OLDEST_FIRST;
    assert_refused(world, list(world, &options, &page), PAWL_INVALID_CURSOR, "other filters", NULL);
    options.order = PAWL_NEWEST_FIRST;
    options.page_size = 100;
    assert_int_equal(list(world, &options, &page), PAWL_OK);

    assert_ids(&page, 2, -1, 2);
}

/* ---- History ------------------------------------------------------------------------------------------------- */

static pawl_status read_history(struct world *world, const struct pawl_history_options *options,
                                struct pawl_history *history)
{
    return pawl_get_history(world->engine, world->scope, "order", "a", options, history, &world->error);
}

/* An instance "a" with five steps, five events and five lines of log. */
static void create_with_history(struct world *world)
{
    world_create(world, "a");
    for (int i = 1; i <= 5; i++) {
        char text[16];
        snprintf(text, sizeof text, "n%d", i);
        world->now_ms = WORLD_START_MS + i;
        world_add_step(world, "a", i, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
        world_send(world, "a", "paid", text);
        world_add_log(world, "a", i % 2 == 0 ? PAWL_LOG_WARN : PAWL_LOG_INFO, i <= 2 ? "early" : "late", text);
    }
}

TEST_OF(world, a_history_has_steps_events_and_on_request_logs)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history plain, full;
    create_with_history(world);

    assert_int_equal(read_history(world, NULL, &plain), PAWL_OK);
    options.include_logs = true;
    assert_int_equal(read_history(world, &options, &full), PAWL_OK);

    assert_int_equal(plain.run_number, 1);
    assert_int_equal(plain.step_count, 5);
    assert_string_equal(plain.steps[0].name, "step-1");
    assert_string_equal(plain.steps[4].name, "step-5");
    assert_int_equal(plain.steps[4].created_at_ms, WORLD_START_MS + 5);
    assert_int_equal(plain.event_count, 5);
    assert_string_equal(plain.events[4].id, "n5");
    assert_int_equal(plain.log_count, 0);
    assert_null(plain.steps_cursor);
    assert_null(plain.events_cursor);
    assert_null(plain.logs_cursor);
    assert_int_equal(full.log_count, 5);
    assert_string_equal(full.logs[4].message, "n5");
    assert_int_equal(full.logs[4].created_at_ms, WORLD_START_MS + 5);
    assert_true(full.logs[4].id > full.logs[3].id);
}

TEST_OF(world, an_instance_without_history_has_an_empty_one)
{
    world_create(world, "a");

    struct pawl_history history = world_history(world, "a", 0);

    assert_int_equal(history.run_number, 1);
    assert_int_equal(history.step_count + history.event_count + history.log_count, 0);
}

TEST_OF(world, histories_have_pages_oldest_first)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    create_with_history(world);
    options.page_size = 2;
    options.include_logs = true;

    for (size_t seen = 0; seen < 5; seen += 2) {
        size_t expected = seen == 4 ? 1 : 2;
        char name[16];
        assert_int_equal(read_history(world, &options, &history), PAWL_OK);
        assert_int_equal(history.step_count, expected);
        assert_int_equal(history.event_count, expected);
        assert_int_equal(history.log_count, expected);
        snprintf(name, sizeof name, "step-%zu", seen + 1);
        assert_string_equal(history.steps[0].name, name);
        snprintf(name, sizeof name, "n%zu", seen + 1);
        assert_string_equal(history.events[0].id, name);
        assert_string_equal(history.logs[0].message, name);
        options.steps_cursor = history.steps_cursor;
        options.events_cursor = history.events_cursor;
        options.logs_cursor = history.logs_cursor;
    }

    assert_null(history.steps_cursor);
    assert_null(history.events_cursor);
    assert_null(history.logs_cursor);
}

TEST_OF(world, histories_newest_first_are_stable_under_inserts)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    create_with_history(world);
    options.page_size = 4;
    options.include_logs = true;
    options.order = PAWL_NEWEST_FIRST;

    assert_int_equal(read_history(world, &options, &history), PAWL_OK);
    assert_string_equal(history.steps[0].name, "step-5");
    assert_string_equal(history.events[3].id, "n2");
    world_add_step(world, "a", 6, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    world_send(world, "a", "paid", NULL);
    world_add_log(world, "a", PAWL_LOG_INFO, "late", "n6");
    options.steps_cursor = history.steps_cursor;
    options.events_cursor = history.events_cursor;
    options.logs_cursor = history.logs_cursor;
    assert_int_equal(read_history(world, &options, &history), PAWL_OK);

    assert_int_equal(history.step_count, 1);
    assert_string_equal(history.steps[0].name, "step-1");
    assert_int_equal(history.event_count, 1);
    assert_string_equal(history.events[0].id, "n1");
    assert_int_equal(history.log_count, 1);
    assert_string_equal(history.logs[0].message, "n1");
    assert_null(history.logs_cursor);
}

TEST_OF(world, logs_can_be_of_one_level_and_of_one_category)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history level, category, both;
    create_with_history(world);
    options.include_logs = true;

    options.has_log_level = true;
    options.log_level = PAWL_LOG_WARN;
    assert_int_equal(read_history(world, &options, &level), PAWL_OK);
    options.log_category = "early";
    assert_int_equal(read_history(world, &options, &both), PAWL_OK);
    options.has_log_level = false;
    assert_int_equal(read_history(world, &options, &category), PAWL_OK);

    assert_int_equal(level.log_count, 2);
    assert_string_equal(level.logs[0].message, "n2");
    assert_string_equal(level.logs[1].message, "n4");
    assert_int_equal(both.log_count, 1);
    assert_string_equal(both.logs[0].message, "n2");
    assert_int_equal(category.log_count, 2);
    assert_string_equal(category.logs[0].message, "n1");
    assert_int_equal(category.step_count, 5);
}

TEST_OF(world, every_run_keeps_its_own_history)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history current, first;
    create_with_history(world);
    assert_int_equal(pawl_restart(world->engine, "order", "a", NULL), PAWL_OK);
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_COMPLETED);

    assert_int_equal(read_history(world, &options, &current), PAWL_OK);
    options.run_number = 1;
    assert_int_equal(read_history(world, &options, &first), PAWL_OK);

    assert_int_equal(current.run_number, 2);
    assert_int_equal(current.step_count, 1);
    assert_int_equal(current.steps[0].run_number, 2);
    assert_int_equal(current.event_count, 0);
    assert_int_equal(first.run_number, 1);
    assert_int_equal(first.step_count, 5);
    assert_int_equal(first.events[0].run_number, 1);
}

TEST_OF(world, wrong_history_options_are_refused)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    create_with_history(world);

    options.run_number = 2;
    assert_refused(world, read_history(world, &options, &history), PAWL_INVALID, "no run 2", "1 to 1", NULL);
    options.run_number = -1;
    assert_refused(world, read_history(world, &options, &history), PAWL_INVALID, "no run -1", NULL);
    options.run_number = 0;
    options.page_size = 101;
    assert_refused(world, read_history(world, &options, &history), PAWL_INVALID, "page size 101", NULL);
    options.page_size = 0;
    options.order = (enum pawl_order) - 1;
    assert_refused(world, read_history(world, &options, &history), PAWL_INVALID, "order", NULL);
    options.order = PAWL_NEWEST_FIRST;
    options.has_log_level = true;
    options.log_level = (enum pawl_log_level) - 1;
    assert_refused(world, read_history(world, &options, &history), PAWL_INVALID, "log level", NULL);
    options.struct_size = 1;
    assert_refused(world, read_history(world, &options, &history), PAWL_INVALID, "struct_size is 1", NULL);
}

TEST_OF(world, history_cursors_belong_to_one_listing_with_one_set_of_filters)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT, wrong;
    struct pawl_history history, unused;
    create_with_history(world);
    options.page_size = 1;
    options.include_logs = true;
    assert_int_equal(read_history(world, &options, &history), PAWL_OK);

    wrong = options;
    wrong.steps_cursor = history.events_cursor;
    assert_refused(world, read_history(world, &wrong, &unused), PAWL_INVALID_CURSOR, "steps cursor", "another listing",
                   NULL);
    wrong = options;
    wrong.events_cursor = history.logs_cursor;
    assert_refused(world, read_history(world, &wrong, &unused), PAWL_INVALID_CURSOR, "events cursor", NULL);
    wrong = options;
    wrong.logs_cursor = history.logs_cursor;
    wrong.log_category = "early";
    assert_refused(world, read_history(world, &wrong, &unused), PAWL_INVALID_CURSOR, "logs cursor", "other filters",
                   NULL);
    wrong.log_category = NULL;
    wrong.has_log_level = true;
    assert_refused(world, read_history(world, &wrong, &unused), PAWL_INVALID_CURSOR, "other filters", NULL);
    wrong = options;
    wrong.steps_cursor = history.steps_cursor;
    wrong.order = PAWL_NEWEST_FIRST;
    assert_refused(world, read_history(world, &wrong, &unused), PAWL_INVALID_CURSOR, "other filters", NULL);
    wrong = options;
    wrong.steps_cursor = history.steps_cursor;
    assert_int_equal(pawl_restart(world->engine, "order", "a", NULL), PAWL_OK);
    assert_refused(world, read_history(world, &wrong, &unused), PAWL_INVALID_CURSOR, "other filters", NULL);
    wrong.run_number = 1;
    assert_int_equal(read_history(world, &wrong, &unused), PAWL_OK);
    wrong.run_number = 0;
    world_create(world, "b");
    assert_refused(world, pawl_get_history(world->engine, world->scope, "order", "b", &wrong, &unused, &world->error),
                   PAWL_INVALID_CURSOR, "other filters", NULL);
}
