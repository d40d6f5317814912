/* test_handler_calls.c - a call never blocks: commits, results and ticks are waited for by asking again, when `ready` was
 * called or when the call said so; and a call can be given up at any time. */
#include "asking.h"
#include "kit/test.h"

#include <pthread.h>
#include <stdatomic.h>

#include "engine/engine.h"
#include "http/handler.h"
#include "pawl/runner.h"

#define WAITS "/api/workflows/order/instances/waits"

struct fixture {
    struct table_world world;
    atomic_int readies;
};

static void note_ready(void *user)
{
    atomic_fetch_add(&((struct fixture *)user)->readies, 1);
}

static void use_short_limits(struct pawl_http_options *options)
{
    options->wait_ms_max = 20000;
    options->look_again_ms = 500;
    options->allow_tick = true;
}
static const struct table_section short_limits = { "short limits", use_short_limits, NULL, 0 };

static int set_up(void **state)
{
    static struct fixture fixture;
    atomic_store(&fixture.readies, 0);
    table_world_open(&fixture.world, &short_limits);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    table_world_close(&fixture->world);
    return 0;
}

static const struct test_setting fixture_setting = { set_up, tear_down, 0 };

static pawl_http_call *take_up(struct fixture *fixture, struct pawl_http_request *request, const char *method,
                               const char *target)
{
    *request = request_of(method, target, NULL);
    pawl_http_call *call = pawl_http_call_new(fixture->world.http, request, note_ready, fixture);
    assert_non_null(call);
    return call;
}

static int64_t now(struct fixture *fixture)
{
    return pawl_world_now_ms(fixture->world.world);
}

static void assert_waits_until(pawl_http_call *call, int64_t expected_ms)
{
    const struct pawl_http_response *response;
    int64_t again_at_ms = -1;
    assert_false(pawl_http_call_answer(call, &response, &again_at_ms));
    assert_int_equal(again_at_ms, expected_ms);
}

static void assert_answer(pawl_http_call *call, int status, const char *words)
{
    const struct pawl_http_response *response = NULL, *again = NULL;
    int64_t again_at_ms;
    assert_true(pawl_http_call_answer(call, &response, &again_at_ms));
    assert_int_equal(response->status, status);
    if (strstr(response->body, words) == NULL)
        fail_msg("no %s in %s", words, response->body);
    assert_true(pawl_http_call_answer(call, &again, &again_at_ms));
    assert_ptr_equal(again, response);
}

/* ---- Results --------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, a_result_is_told_by_push_when_the_run_ends)
{
    struct pawl_error error;
    struct pawl_http_request request;
    pawl_http_call *call = take_up(fixture, &request, "GET", WAITS "/result?waitMs=10000");
    assert_waits_until(call, now(fixture) + 500);
    assert_int_equal(atomic_load(&fixture->readies), 0);

    assert_int_equal(pawl_world_send_event(fixture->world.world, "order", "waits", "paid", "7", &error), PAWL_OK);
    assert_true(atomic_load(&fixture->readies) > 0);
    assert_waits_until(call, now(fixture) + 500); /* it is not at its end yet */
    atomic_store(&fixture->readies, 0);
    assert_int_equal(pawl_world_run_until_idle(fixture->world.world, &error), PAWL_OK);
    assert_true(atomic_load(&fixture->readies) > 0);
    assert_answer(call, 200, "\"output\":{\"payment\":7}");
    pawl_http_call_free(call);
}

TEST_OF(fixture, a_result_that_does_not_come_in_time_is_202)
{
    struct pawl_http_request request;
    int64_t begun = now(fixture);
    pawl_http_call *call = take_up(fixture, &request, "GET", WAITS "/result?waitMs=1200");
    assert_waits_until(call, begun + 500);
    pawl_world_jump_ms(fixture->world.world, 500);
    assert_waits_until(call, begun + 1000);
    pawl_world_jump_ms(fixture->world.world, 499);
    assert_waits_until(call, begun + 1000); /* asked before there is anything to do */
    pawl_world_jump_ms(fixture->world.world, 1);
    assert_waits_until(call, begun + 1200);
    pawl_world_jump_ms(fixture->world.world, 200);
    assert_answer(call, 202, "\"details\":{\"status\":\"waiting\",\"phase\":\"waiting\"}");
    pawl_http_call_free(call);
}

TEST_OF(fixture, a_wait_is_cut_to_the_longest_that_is_allowed)
{
    struct pawl_http_request request;
    pawl_http_call *call = take_up(fixture, &request, "GET", WAITS "/result?waitMs=9223372036854775807");
    assert_waits_until(call, now(fixture) + 500);
    pawl_world_jump_ms(fixture->world.world, 19999);
    assert_waits_until(call, now(fixture) + 1);
    pawl_world_jump_ms(fixture->world.world, 1);
    assert_answer(call, 202, "waiting");
    pawl_http_call_free(call);
}

/* Nobody calls `ready` for what another process commits. */
TEST_OF(fixture, what_other_processes_do_is_found_by_looking_again)
{
    struct pawl_http_request request;
    struct pw_store *store = pawl_world_engine(fixture->world.world)->store;
    pawl_http_call *call = take_up(fixture, &request, "GET", WAITS "/result?waitMs=10000");
    assert_waits_until(call, now(fixture) + 500);

    struct pw_arena arena;
    struct pw_instance row;
    struct pw_unit unit, *units[] = { &unit };
    pw_arena_init(&arena);
    assert_int_equal(pw_read_instance(store, &arena, pw_text_of("order"), pw_text_of("waits"), &row, NULL), PAWL_OK);
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_FINISH);
    op->as.finish = (struct pw_op_finish){ .instance = row.key, .outcome = PW_OUTCOME_TERMINATED };
    assert_int_equal(store->ops->apply(store, units, 1, NULL), PAWL_OK);
    pw_unit_clear(&unit);
    pw_arena_clear(&arena);

    assert_int_equal(atomic_load(&fixture->readies), 0);
    assert_waits_until(call, now(fixture) + 500);
    pawl_world_jump_ms(fixture->world.world, 500);
    assert_answer(call, 200, "\"terminated\"");
    pawl_http_call_free(call);
}

TEST_OF(fixture, a_drain_ends_every_wait_at_once)
{
    struct pawl_http_request requests[3], late;
    pawl_http_call *calls[3];
    for (size_t i = 0; i < 3; i++) {
        calls[i] = take_up(fixture, &requests[i], "GET", WAITS "/result?waitMs=10000");
        assert_waits_until(calls[i], now(fixture) + 500);
    }
    pawl_http_call_free(calls[1]); /* one that is given up is not told any more */
    pawl_http_drain(fixture->world.http);
    assert_int_equal(atomic_load(&fixture->readies), 2);
    assert_answer(calls[0], 202, "waiting");
    assert_answer(calls[2], 202, "waiting");
    pawl_http_call_free(calls[0]);
    pawl_http_call_free(calls[2]);

    pawl_http_call *call = take_up(fixture, &late, "GET", WAITS "/result?waitMs=10000");
    assert_answer(call, 202, "waiting");
    pawl_http_call_free(call);
    call = take_up(fixture, &late, "GET", "/api/health/ready");
    assert_answer(call, 503, "\"DRAINING\"");
    pawl_http_call_free(call);
    call = take_up(fixture, &late, "GET", WAITS "/stream");
    assert_answer(call, 503, "\"DRAINING\"");
    pawl_http_call_free(call);
    call = take_up(fixture, &late, "GET", "/api/health/live");
    assert_answer(call, 200, "ok");
    pawl_http_call_free(call);
    call = take_up(fixture, &late, "POST", "/api/workflows/echo/instances");
    assert_answer(call, 200, "queued");
    pawl_http_call_free(call);
}

TEST_OF(fixture, a_call_that_was_never_asked_can_be_freed)
{
    struct pawl_http_request request;
    pawl_http_call_free(take_up(fixture, &request, "POST", WAITS "/terminate"));
    pawl_http_call_free(NULL);
    pawl_http_call *call = take_up(fixture, &request, "GET", WAITS);
    assert_answer(call, 200, "\"waiting\"");
    pawl_http_call_free(call);
}

TEST_OF(fixture, a_request_without_method_or_target_is_refused)
{
    struct pawl_http_request request;
    pawl_http_call *call = take_up(fixture, &request, NULL, "/api/workflows");
    assert_answer(call, 400, "VALIDATION_FAILED");
    pawl_http_call_free(call);
    call = take_up(fixture, &request, "GET", NULL);
    assert_answer(call, 400, "VALIDATION_FAILED");
    pawl_http_call_free(call);
}

TEST_OF(fixture, streams_are_not_for_the_blocking_call)
{
    pawl_scope *scope = pawl_scope_new();
    struct pawl_http_response response = answer_of(fixture->world.http, scope, "GET", WAITS "/stream", NULL);
    assert_int_equal(response.status, 406);
    assert_non_null(strstr(response.body, "\"NOT_ACCEPTABLE\""));
    assert_int_equal(pw_http_streams_open(fixture->world.http), 0);
    pawl_scope_free(scope);
}

TEST_OF(fixture, an_error_body_is_json_whatever_it_says)
{
    pawl_scope *scope = pawl_scope_new();
    assert_string_equal(pawl_http_error_body(scope, "HEADERS_TOO_LARGE", "more than \"16\" \xff KiB\n"),
                        "{\"code\":\"HEADERS_TOO_LARGE\",\"message\":\"more than \\\"16\\\" \xef\xbf\xbd KiB\\n\"}");
    pawl_scope_free(scope);
}

/* ---- Commits and ticks, on an engine with threads ---------------------------------------------------------------- */

/* A store whose commits wait at a gate. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool is_shut;
    int arrived;
};

struct threaded {
    pawl_engine *engine;
    pawl_runner *runner;
    pawl_http *http;
    struct pw_store_ops ops;
    const struct pw_store_ops *true_ops;
    pthread_mutex_t lock;
    pthread_cond_t noted;
    int readies;
};
static struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0 };
static const struct pw_store_ops *gated_ops;

static void pass_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    if (gate.is_shut)
        gate.arrived++;
    pthread_cond_broadcast(&gate.moved);
    while (gate.is_shut)
        pthread_cond_wait(&gate.moved, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void set_gate(bool is_shut)
{
    pthread_mutex_lock(&gate.lock);
    gate.is_shut = is_shut;
    gate.arrived = 0;
    pthread_cond_broadcast(&gate.moved);
    pthread_mutex_unlock(&gate.lock);
}

static void await_arrival(void)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.arrived == 0)
        pthread_cond_wait(&gate.moved, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static pawl_status apply_behind_gate(struct pw_store *store, struct pw_unit **units, size_t count,
                                     struct pawl_error *error)
{
    pass_gate();
    return gated_ops->apply(store, units, count, error);
}

BODY(slow_body)
{
    (void)step, (void)input, (void)out_result;
    pass_gate();
    return PAWL_OK;
}

WORKFLOW(slow)
{
    return pawl_do(run, "slow", NULL, slow_body, params, NULL);
}

static void open_threaded(struct threaded *threaded, bool is_started)
{
    const struct pawl_workflow workflow = { .name = "slow", .run = slow };
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_http_options http_options = PAWL_HTTP_OPTIONS_INIT;
    struct pawl_error error;
    memset(threaded, 0, sizeof *threaded);
    pthread_mutex_init(&threaded->lock, NULL);
    pthread_cond_init(&threaded->noted, NULL);
    options.store_url = "sqlite::memory:";
    assert_int_equal(pawl_open(&options, &threaded->engine, &error), PAWL_OK);
    assert_int_equal(pawl_register(threaded->engine, &workflow, &error), PAWL_OK);
    threaded->true_ops = gated_ops = threaded->engine->store->ops;
    threaded->ops = *gated_ops;
    if (is_started)
        threaded->ops.apply = apply_behind_gate;
    threaded->engine->store->ops = &threaded->ops;
    assert_int_equal(pawl_runner_open(threaded->engine, NULL, &threaded->runner, &error), PAWL_OK);
    if (is_started)
        assert_int_equal(pawl_runner_start(threaded->runner, &error), PAWL_OK);
    http_options.runner = threaded->runner;
    http_options.allow_tick = true;
    assert_int_equal(pawl_http_new(threaded->engine, &http_options, &threaded->http, &error), PAWL_OK);
}

static void close_threaded(struct threaded *threaded)
{
    pawl_http_free(threaded->http);
    pawl_runner_close(threaded->runner);
    threaded->engine->store->ops = threaded->true_ops;
    pawl_close(threaded->engine);
    pthread_cond_destroy(&threaded->noted);
    pthread_mutex_destroy(&threaded->lock);
}

static void note_threaded(void *user)
{
    struct threaded *threaded = user;
    pthread_mutex_lock(&threaded->lock);
    threaded->readies++;
    pthread_cond_signal(&threaded->noted);
    pthread_mutex_unlock(&threaded->lock);
}

static void await_ready(struct threaded *threaded)
{
    pthread_mutex_lock(&threaded->lock);
    while (threaded->readies == 0)
        pthread_cond_wait(&threaded->noted, &threaded->lock);
    threaded->readies = 0;
    pthread_mutex_unlock(&threaded->lock);
}

static pawl_http_call *post(struct threaded *threaded, struct pawl_http_request *request, const char *target,
                            const char *body)
{
    *request = request_of("POST", target, body);
    pawl_http_call *call = pawl_http_call_new(threaded->http, request, note_threaded, threaded);
    assert_non_null(call);
    return call;
}

TEST(a_create_waits_for_its_commit_without_blocking)
{
    struct threaded threaded;
    struct pawl_http_request request;
    open_threaded(&threaded, true);
    set_gate(true);
    pawl_http_call *call = post(&threaded, &request, "/api/workflows/slow/instances", "{\"id\":\"a\"}");
    assert_waits_until(call, INT64_MAX);
    await_arrival();
    assert_waits_until(call, INT64_MAX);
    set_gate(false);
    await_ready(&threaded);
    assert_answer(call, 200, "{\"id\":\"a\"");
    pawl_http_call_free(call);
    close_threaded(&threaded);
}

static void *open_gate_later(void *unused)
{
    (void)unused;
    await_arrival();
    set_gate(false);
    return NULL;
}

TEST(a_call_given_up_during_its_commit_is_freed_after_it_and_the_change_is_made)
{
    struct threaded threaded;
    struct pawl_http_request request;
    pthread_t thread;
    open_threaded(&threaded, true);
    set_gate(true);
    pawl_http_call *call = post(&threaded, &request, "/api/workflows/slow/instances", "{\"id\":\"a\"}");
    assert_waits_until(call, INT64_MAX);
    assert_int_equal(pthread_create(&thread, NULL, open_gate_later, NULL), 0);
    pawl_http_call_free(call);
    assert_int_equal(pthread_join(thread, NULL), 0);

    pawl_scope *scope = pawl_scope_new();
    struct pawl_instance instance;
    assert_int_equal(pawl_get(threaded.engine, scope, "slow", "a", &instance, NULL), PAWL_OK);
    pawl_scope_free(scope);
    close_threaded(&threaded);
}

TEST(a_tick_does_not_block_and_goes_on_when_nobody_waits_for_it)
{
    struct threaded threaded;
    struct pawl_http_request request, second, third;
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new();
    open_threaded(&threaded, false);
    options.id = "a";
    assert_int_equal(pawl_create(threaded.engine, scope, "slow", &options, &instance, NULL), PAWL_OK);
    set_gate(true);

    pawl_http_call *call = post(&threaded, &request, "/api/_runner/tick", NULL);
    assert_waits_until(call, INT64_MAX);
    await_arrival(); /* its body runs, in another thread */
    pawl_http_call *queued = post(&threaded, &second, "/api/_runner/tick", NULL);
    pawl_http_call *forgotten = post(&threaded, &third, "/api/_runner/tick", NULL);
    assert_waits_until(queued, INT64_MAX);
    assert_waits_until(forgotten, INT64_MAX);
    pawl_http_call_free(call);
    pawl_http_call_free(forgotten);
    set_gate(false);
    await_ready(&threaded);
    assert_answer(queued, 200, "{\"processed\":0}"); /* the first one's is done */
    pawl_http_call_free(queued);
    assert_int_equal(pawl_get(threaded.engine, scope, "slow", "a", &instance, NULL), PAWL_OK);
    assert_int_equal(instance.status, PAWL_COMPLETE);
    pawl_scope_free(scope);
    close_threaded(&threaded);
}

TEST(more_ticks_than_may_wait_are_refused)
{
    enum { COUNT = PW_HTTP_TICKS_MAX + 1 };
    struct threaded threaded;
    struct pawl_http_request first, requests[COUNT];
    pawl_http_call *calls[COUNT];
    pawl_scope *scope = pawl_scope_new();
    struct pawl_instance instance;
    open_threaded(&threaded, false);
    assert_int_equal(pawl_create(threaded.engine, scope, "slow", NULL, &instance, NULL), PAWL_OK);
    set_gate(true);
    pawl_http_call *running = post(&threaded, &first, "/api/_runner/tick", NULL);
    assert_waits_until(running, INT64_MAX);
    await_arrival();
    for (size_t i = 0; i < COUNT; i++) {
        calls[i] = post(&threaded, &requests[i], "/api/_runner/tick", NULL);
        if (i < PW_HTTP_TICKS_MAX)
            assert_waits_until(calls[i], INT64_MAX);
        else
            assert_answer(calls[i], 503, "STORE_UNAVAILABLE");
    }
    for (size_t i = 0; i < COUNT; i++)
        pawl_http_call_free(calls[COUNT - 1 - i]);
    set_gate(false);
    await_ready(&threaded);
    assert_answer(running, 200, "{\"processed\":1}");
    pawl_http_call_free(running);
    pawl_scope_free(scope);
    close_threaded(&threaded);
}

/* ---- Options --------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, wrong_options_are_refused_with_what_would_be_right)
{
    static const struct {
        struct pawl_http_options options;
        const char *word;
    } cases[] = {
        { { .struct_size = sizeof(struct pawl_http_options), .mount = "api" }, "mount" },
        { { .struct_size = sizeof(struct pawl_http_options), .mount = "/api/" }, "mount" },
        { { .struct_size = sizeof(struct pawl_http_options), .mount = "/a?b" }, "mount" },
        { { .struct_size = sizeof(struct pawl_http_options), .allow_tick = true }, "runner" },
        { { .struct_size = sizeof(struct pawl_http_options), .streams_max = -1 }, "negative" },
        { { .struct_size = sizeof(struct pawl_http_options), .cors_origin = "https://a\r\nX: y" }, "CORS" },
        { { .struct_size = sizeof(struct pawl_http_options), .cors_origin = "example.org" }, "CORS" },
        { { .struct_size = sizeof(struct pawl_http_options), .cors_origin = "https://example.org/" }, "CORS" },
        { { .struct_size = sizeof(struct pawl_http_options), .cors_origin = "https://" }, "CORS" },
        { { .struct_size = sizeof(struct pawl_http_options), .cors_origin = "" }, "CORS" },
        { { .struct_size = 0 }, "struct_size" },
        { { .struct_size = sizeof(struct pawl_http_options) + 8 }, "struct_size" },
    };
    pawl_engine *engine = pawl_world_engine(fixture->world.world);
    pawl_http *http = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_error error = { PAWL_OK, "" };
        assert_int_equal(pawl_http_new(engine, &cases[i].options, &http, &error), PAWL_INVALID);
        if (strstr(error.text, cases[i].word) == NULL)
            fail_msg("%s is not in: %s", cases[i].word, error.text);
        assert_null(http);
    }
    assert_int_equal(pawl_http_new(NULL, NULL, &http, NULL), PAWL_INVALID);
    assert_int_equal(pawl_http_new(engine, NULL, NULL, NULL), PAWL_INVALID);
    assert_int_equal(pawl_http_new(engine, NULL, &http, NULL), PAWL_OK);
    pawl_http_free(http);
    pawl_http_free(NULL);
}
