/* test_testing.c - the test kit keeps its own promises: worlds, time, running, looking (contract H1). */
#include "testing_kit.h"

#include <dirent.h>
#include <time.h>

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

TEST_OF(kit, a_world_without_options_has_the_defaults)
{
    assert_int_equal(pawl_world_now_ms(kit->world), START_MS);
    assert_int_equal(pawl_now_ms(pawl_world_engine(kit->world)), START_MS);
    assert_non_null(pawl_world_runner(kit->world));
    assert_string_equal(pawl_scope_format(pawl_world_scope(kit->world), "%d", 1), "1");
    assert_string_equal(pawl_world_trace(kit->world), "");
}

TEST_OF(kit, a_world_has_the_options_it_was_given)
{
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    options.start_ms = DAY_MS;
    options.limits.steps_max = 1;

    kit_reopen(kit, &options);
    kit_create(kit, "faithful", "f");
    kit_run(kit);

    assert_int_equal(kit_get(kit, "faithful", "f").created_at_ms, DAY_MS);
    assert_string_equal(kit_get(kit, "faithful", "f").error_name, "MAX_STEPS_EXCEEDED");
}

TEST_OF(kit, a_world_that_cannot_be_is_refused)
{
    pawl_world *world = NULL;
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;

    kit_refused(kit, pawl_world_open(NULL, NULL, &kit->error), PAWL_INVALID, "out_world");
    options.struct_size = sizeof options + 1;
    kit_refused(kit, pawl_world_open(&options, &world, &kit->error), PAWL_INVALID, "PAWL_WORLD_OPTIONS_INIT");
    options.struct_size = sizeof options;
    options.start_ms = -5;
    kit_refused(kit, pawl_world_open(&options, &world, &kit->error), PAWL_INVALID, "-5");
    options.start_ms = 0;
    options.limits.steps_max = -1;
    kit_refused(kit, pawl_world_open(&options, &world, &kit->error), PAWL_INVALID, "limit");
    options.limits.steps_max = 0;
    options.store_url = "nonsense";
    kit_refused(kit, pawl_world_open(&options, &world, &kit->error), PAWL_INVALID, "nonsense");
    assert_null(world);
}

TEST_OF(kit, no_world_is_an_error_not_a_crash)
{
    struct pawl_instance instance;
    struct pawl_history read;

    pawl_world_close(NULL);
    pawl_world_jump_ms(NULL, 1);
    pawl_world_unmock(NULL);
    assert_null(pawl_world_engine(NULL));
    assert_null(pawl_world_runner(NULL));
    assert_null(pawl_world_scope(NULL));
    assert_null(pawl_world_step(NULL, "single", "s", "work"));
    assert_int_equal(pawl_world_now_ms(NULL), 0);
    assert_string_equal(pawl_world_trace(NULL), "");
    assert_int_equal(pawl_world_advance(NULL, "1 s", NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_tick(NULL, NULL, NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_run_until_idle(NULL, NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_run_to_end(NULL, NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_create(NULL, "single", "s", NULL, NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_send_event(NULL, "single", "s", "go", NULL, NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_get(NULL, "single", "s", &instance, NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_history(NULL, "single", "s", 0, &read, NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_history(kit->world, "single", "s", 0, NULL, NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_mock_result(NULL, NULL, "work", 0, NULL, NULL), PAWL_INVALID);
}

static struct pw_store *wrap_with_nothing(struct pw_store *inner, void *user)
{
    *(struct pw_store **)user = inner;
    return NULL;
}

TEST_OF(kit, an_engine_whose_store_cannot_be_wrapped_is_not_opened)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pw_store *inner = NULL;
    pawl_engine *engine = NULL;
    options.store_url = "sqlite::memory:";

    pawl_status status = pw_engine_open(&options, wrap_with_nothing, &inner, &engine, &kit->error);

    kit_refused(kit, status, PAWL_NOMEM, "memory");
    assert_non_null(inner); /* and it was closed: the leak checkers would tell */
    assert_null(engine);
}

/* ---- H1: time ---------------------------------------------------------------------------------------------------- */

TEST_OF(kit, H1_time_advances_only_when_told)
{
    kit_create(kit, "nap", "n");
    kit_run(kit);
    kit_run(kit);

    assert_int_equal(pawl_world_now_ms(kit->world), START_MS);
    assert_int_equal(kit_get(kit, "nap", "n").status, PAWL_WAITING);
    assert_int_equal(kit->bodies, 1);
}

TEST_OF(kit, H1_advancing_runs_each_thing_at_its_time)
{
    kit_create(kit, "nap", "early");
    ok(pawl_world_advance(kit->world, "3 minutes", &kit->error));
    kit_create(kit, "nap", "late");

    ok(pawl_world_advance(kit->world, "1 hour", &kit->error));

    const int64_t expected[] = { START_MS, START_MS + 3 * MINUTE_MS, START_MS + 10 * MINUTE_MS,
                                 START_MS + 13 * MINUTE_MS };
    assert_int_equal(kit->bodies, 4);
    assert_memory_equal(kit->times, expected, sizeof expected);
    assert_int_equal(kit_get(kit, "nap", "late").completed_at_ms, START_MS + 13 * MINUTE_MS);
    assert_int_equal(pawl_world_now_ms(kit->world), START_MS + HOUR_MS + 3 * MINUTE_MS);
}

TEST_OF(kit, H1_advancing_runs_what_is_due_at_its_very_end_and_nothing_later)
{
    kit_create(kit, "nap", "n");
    kit_run(kit);

    ok(pawl_world_advance(kit->world, "599999 ms", &kit->error));
    assert_int_equal(kit_get(kit, "nap", "n").status, PAWL_WAITING);
    ok(pawl_world_advance(kit->world, "1 ms", &kit->error));

    assert_int_equal(kit_get(kit, "nap", "n").status, PAWL_COMPLETE);
}

TEST_OF(kit, advancing_by_what_is_no_duration_names_it_and_moves_nothing)
{
    kit_refused(kit, pawl_world_advance(kit->world, "soon", &kit->error), PAWL_INVALID_DURATION, "soon");
    kit_refused(kit, pawl_world_advance(kit->world, NULL, &kit->error), PAWL_INVALID_DURATION, "duration");
    kit_refused(kit, pawl_world_advance(kit->world, "9999999 weeks", &kit->error), PAWL_INVALID_DURATION, "9999");
    kit_refused(kit, pawl_world_advance(kit->world, "9223372036854775807", &kit->error), PAWL_INVALID_DURATION, "9999");
    assert_int_equal(pawl_world_now_ms(kit->world), START_MS);
}

TEST_OF(kit, H1_jumping_moves_the_clock_and_runs_nothing)
{
    kit_create(kit, "nap", "n");
    kit_run(kit);

    pawl_world_jump_ms(kit->world, HOUR_MS);

    assert_int_equal(pawl_world_now_ms(kit->world), START_MS + HOUR_MS);
    assert_int_equal(kit_get(kit, "nap", "n").status, PAWL_WAITING);
    kit_run(kit);
    assert_int_equal(kit_get(kit, "nap", "n").status, PAWL_COMPLETE);
    assert_int_equal(kit->times[1], START_MS + HOUR_MS);
}

TEST_OF(kit, H1_jumping_backwards_harms_nothing)
{
    kit_create(kit, "nap", "n");
    kit_create(kit, "awaiting", "a");
    kit_run(kit);

    pawl_world_jump_ms(kit->world, -DAY_MS);
    kit_run(kit);
    ok(pawl_world_send_event(kit->world, "awaiting", "a", "go", "7", &kit->error));
    kit_create(kit, "single", "s");
    kit_run(kit);

    assert_int_equal(kit_get(kit, "nap", "n").status, PAWL_WAITING);
    assert_string_equal(kit_get(kit, "awaiting", "a").output_json, "7");
    assert_int_equal(kit_get(kit, "single", "s").status, PAWL_COMPLETE);
    ok(pawl_world_advance(kit->world, "1 day", &kit->error));
    ok(pawl_world_advance(kit->world, "10 minutes", &kit->error));
    assert_int_equal(kit_get(kit, "nap", "n").status, PAWL_COMPLETE);
    assert_int_equal(kit->bodies, 3);
}

TEST_OF(kit, a_jump_out_of_time_stops_at_its_edge)
{
    pawl_world_jump_ms(kit->world, INT64_MAX);
    assert_int_equal(pawl_world_now_ms(kit->world), INT64_C(253402300799999));
    pawl_world_jump_ms(kit->world, INT64_MIN);
    assert_int_equal(pawl_world_now_ms(kit->world), 1);
    kit_create(kit, "single", "s");
    kit_run(kit);

    assert_int_equal(kit_get(kit, "single", "s").status, PAWL_COMPLETE);
}

static size_t entries_of(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

TEST_OF(kit, H1_no_sockets_no_threads_no_real_waiting)
{
    struct timespec begin, end;
    size_t threads = entries_of("/proc/self/task"), files = entries_of("/proc/self/fd");
    clock_gettime(CLOCK_MONOTONIC, &begin);

    kit_reopen(kit, NULL);
    kit_create(kit, "watchman", "w");
    ok(pawl_world_advance(kit->world, "7 days", &kit->error));

    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_int_equal(entries_of("/proc/self/task"), threads);
    assert_int_equal(entries_of("/proc/self/fd"), files);
    assert_in_range(end.tv_sec - begin.tv_sec, 0, 60); /* valgrind is slow; a week is longer */
    assert_int_equal(kit_history(kit, "watchman", "w").step_count, 7 * 24 + 1);
}

/* ---- H1: running ------------------------------------------------------------------------------------------------- */

TEST_OF(kit, H1_a_tick_takes_one_due_turn)
{
    int64_t processed = -1;
    kit_create(kit, "single", "a");
    kit_create(kit, "single", "b");

    ok(pawl_world_tick(kit->world, &processed, &kit->error));
    assert_int_equal(processed, 1);
    assert_int_equal(kit_get(kit, "single", "a").status, PAWL_COMPLETE);
    assert_int_equal(kit_get(kit, "single", "b").phase, PAWL_PHASE_QUEUED);
    ok(pawl_world_tick(kit->world, NULL, &kit->error));
    assert_int_equal(kit_get(kit, "single", "b").status, PAWL_COMPLETE);
    ok(pawl_world_tick(kit->world, &processed, &kit->error));
    assert_int_equal(processed, 0);
}

TEST_OF(kit, H1_what_never_gets_idle_is_told_as_busy)
{
    assert_int_equal(kit->world->turns_max, 100000);
    kit->world->turns_max = 20;
    kit_create(kit, "endless", NULL);

    kit_refused(kit, pawl_world_run_until_idle(kit->world, &kit->error), PAWL_BUSY, "20 turns");
    kit_refused(kit, pawl_world_advance(kit->world, "1 s", &kit->error), PAWL_BUSY, "forever");

    assert_int_equal(pawl_world_now_ms(kit->world), START_MS);
}

TEST_OF(kit, as_many_turns_as_are_allowed_are_not_too_many)
{
    kit->world->turns_max = 2;
    kit_create(kit, "single", "a");
    kit_create(kit, "single", "b");

    kit_run(kit);

    assert_int_equal(kit_get(kit, "single", "b").status, PAWL_COMPLETE);
}

TEST_OF(kit, H1_running_to_the_end_passes_every_wait)
{
    ok(pawl_world_mock_failure(kit->world, "single", "work", 2, "Down", "no", true, &kit->error));
    kit_create(kit, "nap", "n");
    kit_create(kit, "single", "s");
    kit_create(kit, "awaiting", "a");

    ok(pawl_world_run_to_end(kit->world, &kit->error));

    assert_int_equal(kit_get(kit, "nap", "n").completed_at_ms, START_MS + 10 * MINUTE_MS);
    assert_int_equal(kit_get(kit, "single", "s").completed_at_ms, START_MS + 30000);
    assert_string_equal(kit_get(kit, "awaiting", "a").error_name, "WAIT_FOR_EVENT_TIMEOUT");
    assert_int_equal(pawl_world_now_ms(kit->world), START_MS + DAY_MS);
}

TEST_OF(kit, H1_what_has_no_end_is_told_as_busy)
{
    kit->world->turns_max = 50;
    kit_create(kit, "watchman", "w");

    kit_refused(kit, pawl_world_run_to_end(kit->world, &kit->error), PAWL_BUSY, "50 turns");

    assert_int_equal(pawl_world_now_ms(kit->world), START_MS + 50 * HOUR_MS);
}

TEST_OF(kit, H1_a_body_that_moves_the_clock_outlives_its_timeout)
{
    kit->body_takes_ms = 2 * MINUTE_MS;

    struct pawl_instance instance = kit_run_single(kit);

    assert_int_equal(instance.status, PAWL_WAITING);
    assert_string_equal(kit_work(kit)->error_name, "STEP_TIMEOUT");
    kit->body_takes_ms = 0;
    ok(pawl_world_run_to_end(kit->world, &kit->error));
    assert_int_equal(kit_get(kit, "single", "s").status, PAWL_COMPLETE);
}

/* ---- H1: create, send event, look -------------------------------------------------------------------------------- */

TEST_OF(kit, H1_create_makes_a_row_and_runs_nothing)
{
    ok(pawl_world_create(kit->world, "single", "s", "{\"a\": 1}", &kit->error));

    assert_int_equal(kit->bodies, 0);
    assert_int_equal(kit_get(kit, "single", "s").phase, PAWL_PHASE_QUEUED);
    assert_string_equal(kit_get(kit, "single", "s").params_json, "{\"a\": 1}");
    kit_refused(kit, pawl_world_create(kit->world, "single", "s", NULL, &kit->error), PAWL_INSTANCE_ID_ALREADY_EXISTS,
                "\"s\"");
    kit_refused(kit, pawl_world_create(kit->world, "nobody", NULL, NULL, &kit->error), PAWL_WORKFLOW_NOT_FOUND,
                "nobody");
}

TEST_OF(kit, H1_an_event_is_sent_and_wakes_its_run)
{
    kit_create(kit, "awaiting", "a");
    kit_run(kit);

    ok(pawl_world_send_event(kit->world, "awaiting", "a", "other", NULL, &kit->error));
    kit_run(kit);
    assert_int_equal(kit_get(kit, "awaiting", "a").status, PAWL_WAITING);
    ok(pawl_world_send_event(kit->world, "awaiting", "a", "go", "[1]", &kit->error));
    kit_run(kit);

    assert_string_equal(kit_get(kit, "awaiting", "a").output_json, "[1]");
    assert_int_equal(kit_history(kit, "awaiting", "a").event_count, 2);
    kit_refused(kit, pawl_world_send_event(kit->world, "awaiting", "a", "go", NULL, &kit->error),
                PAWL_INSTANCE_TERMINAL, "\"a\"");
}

TEST_OF(kit, H1_the_history_is_whole_however_long)
{
    kit_create(kit, "many", "m");
    kit_run(kit);
    for (int i = 0; i < PAGED_COUNT; i++)
        ok(pawl_world_send_event(kit->world, "many", "m", "begin",
                                 pawl_scope_format(pawl_world_scope(kit->world), "%d", i), &kit->error));
    kit_run(kit);

    struct pawl_history read = kit_history(kit, "many", "m");

    assert_int_equal(kit_get(kit, "many", "m").status, PAWL_COMPLETE);
    assert_int_equal(read.step_count, PAGED_COUNT);
    assert_int_equal(read.event_count, PAGED_COUNT);
    assert_int_equal(read.log_count, PAGED_COUNT - 1);
    for (int i = 0; i < PAGED_COUNT - 1; i++) {
        assert_string_equal(read.steps[i + 1].name, pawl_scope_format(pawl_world_scope(kit->world), "step %d", i));
        assert_string_equal(read.logs[i].message, pawl_scope_format(pawl_world_scope(kit->world), "line %d", i));
        assert_int_equal(strtol(read.events[i].payload_json, NULL, 10), i);
    }
    assert_null(read.steps_cursor);
    assert_null(read.events_cursor);
    assert_null(read.logs_cursor);
    assert_non_null(pawl_world_step(kit->world, "many", "m", "step 228"));
}

TEST_OF(kit, H1_the_history_of_earlier_runs_stays)
{
    struct pawl_history read;
    kit_create(kit, "nap", "n");
    kit_run(kit);
    ok(pawl_restart(pawl_world_engine(kit->world), "nap", "n", &kit->error));

    assert_int_equal(kit_history(kit, "nap", "n").run_number, 2);
    assert_int_equal(kit_history(kit, "nap", "n").step_count, 0);
    ok(pawl_world_history(kit->world, "nap", "n", 1, &read, &kit->error));
    assert_int_equal(read.run_number, 1);
    assert_int_equal(read.step_count, 2);
    kit_refused(kit, pawl_world_history(kit->world, "nap", "n", 3, &read, &kit->error), PAWL_INVALID, "run 3");
}

TEST_OF(kit, H1_a_step_is_found_by_its_name_in_the_current_run)
{
    kit_create(kit, "nap", "n");
    kit_run(kit);

    const struct pawl_step_record *step = pawl_world_step(kit->world, "nap", "n", "nap");

    assert_int_equal(step->kind, PAWL_STEP_SLEEP);
    assert_int_equal(step->wake_at_ms, START_MS + 10 * MINUTE_MS);
    assert_null(pawl_world_step(kit->world, "nap", "n", "after"));
    assert_null(pawl_world_step(kit->world, "nap", "n", NULL));
    assert_null(pawl_world_step(kit->world, "nap", "nobody", "nap"));
    ok(pawl_restart(pawl_world_engine(kit->world), "nap", "n", &kit->error));
    assert_null(pawl_world_step(kit->world, "nap", "n", "nap"));
}

/* ---- Stores ------------------------------------------------------------------------------------------------------ */

TEST_OF(kit, a_world_on_a_file_goes_on_where_another_stopped)
{
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    char folder[] = "/tmp/pawl-test-XXXXXX", url[64], command[64];
    assert_non_null(mkdtemp(folder));
    snprintf(url, sizeof url, "sqlite:%s/world.db", folder);
    options.store_url = url;
    kit_reopen(kit, &options);
    kit_create(kit, "nap", "n");
    ok(pawl_world_advance(kit->world, "5 minutes", &kit->error));
    assert_int_equal(kit_get(kit, "nap", "n").status, PAWL_WAITING);

    options.start_ms = START_MS + 5 * MINUTE_MS;
    options.seed = 1;
    kit_reopen(kit, &options);
    assert_string_equal(pawl_world_trace(kit->world), "");
    ok(pawl_world_advance(kit->world, "5 minutes", &kit->error));

    assert_int_equal(kit_get(kit, "nap", "n").status, PAWL_COMPLETE);
    assert_int_equal(kit->bodies, 1);
    assert_int_equal(kit->times[0], START_MS + 10 * MINUTE_MS);
    kit_reopen(kit, NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

TEST_OF(kit, two_worlds_in_memory_know_nothing_of_each_other)
{
    struct kit other = { 0 };
    kit_open(&other, NULL);
    kit_create(kit, "nap", "n");

    ok(pawl_world_advance(other.world, "1 hour", &other.error));

    assert_int_equal(pawl_world_now_ms(kit->world), START_MS);
    assert_int_equal(kit_get(kit, "nap", "n").phase, PAWL_PHASE_QUEUED);
    assert_string_equal(pawl_world_trace(other.world), "");
    pawl_world_close(other.world);
}
