/* test_handler_threads.c - one handler used by many threads at once, while a runner works: whatever they ask, and
 * whenever they give up, every answer is a good one, and what was asked for happens. */
#include "asking.h"
#include "kit/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "http/handler.h"

enum { THREADS = 6, ROUNDS = 120, DRAINS = 60 };

struct crowd {
    pawl_engine *engine;
    pawl_runner *runner;
    pawl_http *http;
    atomic_int created, streamed;
};

/* What one thread waits with. */
struct member {
    struct crowd *crowd;
    unsigned seed;
    int number;
    pthread_mutex_t lock;
    pthread_cond_t noted;
    bool is_ready;
};

BODY(work)
{
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "working"));
    return pawl_result(step, out_result, "i", 1);
}

WORKFLOW(job)
{
    PAWL_TRY(pawl_do(run, "first", NULL, work, params, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "2 ms"));
    return pawl_do(run, "second", NULL, work, params, out_result);
}

static void note(void *user)
{
    struct member *member = user;
    pthread_mutex_lock(&member->lock);
    member->is_ready = true;
    pthread_cond_signal(&member->noted);
    pthread_mutex_unlock(&member->lock);
}

/* The figures are real ones here, and a wait is short. */
static void wait_a_little(struct member *member)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&member->lock);
    if (!member->is_ready)
        pthread_cond_timedwait(&member->noted, &member->lock, &until);
    member->is_ready = false;
    pthread_mutex_unlock(&member->lock);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Reads a stream to its end, or gives it up. */
static void read_stream(struct member *member, pawl_http_call *call)
{
    const char *bytes;
    size_t size;
    int64_t again_at_ms;
    for (int turns = (int)(next_random(&member->seed) % 40); turns > 0; turns--) {
        enum pawl_http_read read = pawl_http_call_read(call, &bytes, &size, &again_at_ms);
        if (read == PAWL_HTTP_READ_END)
            break;
        if (read == PAWL_HTTP_READ_NOT_YET)
            wait_a_little(member);
        else
            assert_int_equal(bytes[size - 1], '\n');
    }
    atomic_fetch_add(&member->crowd->streamed, 1);
}

/* 0: given up before the answer. */
static int ask(struct member *member, const char *method, const char *target, const char *body, bool gives_up)
{
    struct pawl_http_request request = request_of(method, target, body);
    const struct pawl_http_response *response;
    int64_t again_at_ms;
    int status = 0;
    pawl_http_call *call = pawl_http_call_new(member->crowd->http, &request, note, member);
    assert_non_null(call);
    bool is_answered = pawl_http_call_answer(call, &response, &again_at_ms);
    while (!is_answered && !gives_up) {
        wait_a_little(member);
        is_answered = pawl_http_call_answer(call, &response, &again_at_ms);
    }
    if (is_answered) {
        status = response->status;
        if (response->is_stream)
            read_stream(member, call);
        else
            table_check_any(&request, response);
    }
    pawl_http_call_free(call);
    return status;
}

static void play_round(struct member *member, int round)
{
    static const char *const controls[] = { "pause", "resume", "terminate", "restart" };
    char id[32], target[128], body[64];
    bool gives_up = next_random(&member->seed) % 4 == 0;
    snprintf(id, sizeof id, "t-%d-%d", (int)(next_random(&member->seed) % THREADS), round / 2);
    snprintf(body, sizeof body, "{\"id\":\"t-%d-%d\",\"params\":[%d]}", member->number, round, round);
    if (ask(member, "POST", "/api/workflows/job/instances", body, gives_up) == 200)
        atomic_fetch_add(&member->crowd->created, 1);
    snprintf(target, sizeof target, "/api/workflows/job/instances/%s", id);
    (void)ask(member, "GET", target, NULL, gives_up);
    switch (next_random(&member->seed) % 6) {
    case 0:
        snprintf(target, sizeof target, "/api/workflows/job/instances/%s/stream", id);
        (void)ask(member, "GET", target, NULL, false);
        break;
    case 1:
        snprintf(target, sizeof target, "/api/workflows/job/instances/%s/result?waitMs=30", id);
        (void)ask(member, "GET", target, NULL, gives_up);
        break;
    case 2:
        snprintf(target, sizeof target, "/api/workflows/job/instances/%s/%s", id,
                 controls[next_random(&member->seed) % 4]);
        (void)ask(member, "POST", target, NULL, gives_up);
        break;
    case 3:
        snprintf(target, sizeof target, "/api/workflows/job/instances/%s/events", id);
        (void)ask(member, "POST", target, "{\"type\":\"hello\"}", gives_up);
        break;
    case 4:
        (void)ask(member, "GET", "/api/workflows/job/instances?pageSize=5", NULL, false);
        break;
    default:
        (void)ask(member, "GET", "/api/metrics", NULL, false);
        (void)ask(member, "POST", "/api/_runner/tick", "{\"maxInstances\":1}", gives_up);
        break;
    }
}

static void *play(void *user)
{
    struct member *member = user;
    for (int round = 0; round < ROUNDS; round++)
        play_round(member, round);
    return NULL;
}

static void open_crowd(struct crowd *crowd)
{
    const struct pawl_workflow workflow = { .name = "job", .run = job };
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_http_options http_options = PAWL_HTTP_OPTIONS_INIT;
    memset(crowd, 0, sizeof *crowd);
    options.store_url = "sqlite::memory:";
    assert_int_equal(pawl_open(&options, &crowd->engine, NULL), PAWL_OK);
    assert_int_equal(pawl_register(crowd->engine, &workflow, NULL), PAWL_OK);
    assert_int_equal(pawl_runner_open(crowd->engine, NULL, &crowd->runner, NULL), PAWL_OK);
    assert_int_equal(pawl_runner_start(crowd->runner, NULL), PAWL_OK);
    http_options.runner = crowd->runner;
    http_options.allow_tick = true;
    http_options.look_again_ms = 10;
    http_options.heartbeat_ms = 10;
    assert_int_equal(pawl_http_new(crowd->engine, &http_options, &crowd->http, NULL), PAWL_OK);
}

static void close_crowd(struct crowd *crowd)
{
    pawl_http_free(crowd->http);
    pawl_runner_close(crowd->runner);
    pawl_close(crowd->engine);
}

static void start_all(struct crowd *crowd, struct member *members, pthread_t *threads, void *(*body)(void *))
{
    for (int i = 0; i < THREADS; i++) {
        members[i] = (struct member){ .crowd = crowd, .seed = (unsigned)i + 1, .number = i };
        pthread_mutex_init(&members[i].lock, NULL);
        pthread_cond_init(&members[i].noted, NULL);
        assert_int_equal(pthread_create(&threads[i], NULL, body, &members[i]), 0);
    }
}

static void join_all(struct member *members, pthread_t *threads)
{
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        pthread_cond_destroy(&members[i].noted);
        pthread_mutex_destroy(&members[i].lock);
    }
}

/* Every instance that a create was answered for is there. */
static size_t count_instances(struct crowd *crowd)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page = { 0 };
    pawl_scope *scope = pawl_scope_new();
    size_t count = 0;
    options.page_size = 100;
    do {
        options.cursor = page.cursor;
        assert_int_equal(pawl_list(crowd->engine, scope, "job", &options, &page, NULL), PAWL_OK);
        count += page.count;
    } while (page.cursor != NULL);
    pawl_scope_free(scope);
    return count;
}

TEST(many_threads_ask_wait_stream_and_give_up_at_once)
{
    struct crowd crowd;
    struct member members[THREADS];
    pthread_t threads[THREADS];
    open_crowd(&crowd);
    start_all(&crowd, members, threads, play);
    join_all(members, threads);
    assert_int_equal(pw_http_streams_open(crowd.http), 0);
    assert_true(atomic_load(&crowd.streamed) > 0);
    assert_true(atomic_load(&crowd.created) > 0);
    assert_int_equal(count_instances(&crowd), THREADS * ROUNDS); /* those given up were created all the same */
    close_crowd(&crowd);
}

/* ---- Draining -------------------------------------------------------------------------------------------------- */

/* Asks again only when `ready` was called: who is not told waits forever. */
static void *wait_to_be_told(void *user)
{
    struct member *member = user;
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    const struct pawl_http_response *response;
    int64_t again_at_ms;
    request.method = "GET";
    request.target = "/api/workflows/job/instances/sleeper/result?waitMs=60000";
    pawl_http_call *call = pawl_http_call_new(member->crowd->http, &request, note, member);
    assert_non_null(call);
    while (!pawl_http_call_answer(call, &response, &again_at_ms)) {
        pthread_mutex_lock(&member->lock);
        while (!member->is_ready)
            pthread_cond_wait(&member->noted, &member->lock);
        member->is_ready = false;
        pthread_mutex_unlock(&member->lock);
    }
    assert_int_equal(response->status, 202);
    pawl_http_call_free(call);
    return NULL;
}

TEST(a_drain_reaches_waits_that_are_just_beginning)
{
    struct crowd crowd;
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new();
    open_crowd(&crowd);
    pawl_runner_stop(crowd.runner); /* nobody carries it on */
    options.id = "sleeper";
    assert_int_equal(pawl_create(crowd.engine, scope, "job", &options, &instance, NULL), PAWL_OK);
    for (unsigned round = 0, seed = 1; round < DRAINS; round++) {
        struct member members[THREADS];
        pthread_t threads[THREADS];
        pawl_http_free(crowd.http);
        assert_int_equal(pawl_http_new(crowd.engine, NULL, &crowd.http, NULL), PAWL_OK);
        start_all(&crowd, members, threads, wait_to_be_told);
        for (unsigned pause = next_random(&seed) % 200; pause > 0; pause--)
            sched_yield();
        pawl_http_drain(crowd.http);
        join_all(members, threads);
    }
    pawl_scope_free(scope);
    close_crowd(&crowd);
}
