/* test_pawld_stop.c - how pawld ends: it drains at the first signal, stops at once at the second, and whatever ends it,
 * a pawld that is started afterwards goes on. */
#include "kit.h"

#include <curl/curl.h>
#include <sys/wait.h>

/* Creates an instance whose body stands at the gate of this name, and waits until it does. */
static void create_gated(struct kit *kit, const struct pawld *pawld, const char *id, const char *gate)
{
    create(kit, pawld, "gated", id, pawl_scope_format(kit->scope, "{\"gate\": \"%s\"}", gate));
}

static void begin_gated(struct kit *kit, const struct pawld *pawld, const char *id, const char *gate)
{
    create_gated(kit, pawld, id, gate);
    await_lines(pawl_scope_format(kit->scope, "%s.log", gate), "begun", 1);
}

static void open_gate(const char *gate)
{
    write_file(gate, "");
}

/* Signals that follow one another within a moment are one: this sends them until it has ended. */
static int signal_until_it_ends(struct pawld *pawld, int number)
{
    siginfo_t info = { .si_pid = 0 };
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms && info.si_pid == 0;) {
        pawld_kill(pawld, number);
        rest_a_little();
        assert_int_equal(waitid(P_PID, (id_t)pawld->process, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    }
    return pawld_await_end(pawld);
}

/* ---- Draining ---------------------------------------------------------------------------------------------------- */

TEST_OF(kit, SIGTERM_lets_a_body_finish_and_records_it)
{
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    begin_gated(kit, pawld, "a", "gate");

    pawld_kill(pawld, SIGTERM);
    pawld_await(pawld, "SIGTERM: draining");
    open_gate("gate");

    assert_int_equal(pawld_await_end(pawld), 0);
    pawld_await(pawld, "stopped after");
    assert_int_equal(count_lines("gate.log", "ended"), 1);
    pawld = PAWLD_SERVE(kit, GATES);
    await_status(kit, pawld, "gated", "a", "complete");
    assert_int_equal(count_lines("gate.log", "begun"), 1); /* it was recorded: nothing ran again */
}

/* The one worker stands at a gate, and many runs wait for it.  Between the signal and the runner's hearing of it a moment
 * passes, in which the worker may take another; it does not go on so. */
TEST_OF(kit, SIGTERM_takes_no_new_work_and_gives_its_leases_back)
{
    enum { QUEUED = 40 };
    struct pawld *pawld = PAWLD_SERVE(kit, "--workers", "1", GATES);
    begin_gated(kit, pawld, "a", "gate");
    for (int i = 0; i < QUEUED; i++)
        create_gated(kit, pawld, pawl_scope_format(kit->scope, "b-%d", i), "other");
    open_gate("other");

    pawld_kill(pawld, SIGTERM);
    pawld_await(pawld, "draining");
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms; rest_a_little()) {
        if (ask(kit, pawld, "GET", "/health", NULL, NULL).status == 0)
            break;
    }
    open_gate("gate");

    assert_int_equal(pawld_await_end(pawld), 0);
    assert_true(count_lines("other.log", "begun") <= 1);
    const struct store_place place = { .store = STORE_IN_FILE, .path = "pawl.db" };
    assert_int_equal(store_place_number(&place, "SELECT count(*) FROM workflow_tasks WHERE state = 'processing'"), 0);
    pawld = PAWLD_SERVE(kit, GATES);
    for (int i = 0; i < QUEUED; i++)
        await_status(kit, pawld, "gated", pawl_scope_format(kit->scope, "b-%d", i), "complete");
    assert_int_equal(count_lines("other.log", "begun"), QUEUED);
}

struct request {
    struct kit *kit;
    const struct pawld *pawld;
    struct answer answer;
};

static void *tick(void *user)
{
    struct request *request = user;
    request->answer = ask(request->kit, request->pawld, "POST", "/_runner/tick", "{}", NULL);
    return NULL;
}

/* A tick is a request that one can see being under way: its body stands at the gate. */
TEST_OF(kit, SIGTERM_lets_a_request_under_way_be_answered)
{
    struct pawld *pawld = PAWLD_SERVE(kit, "--workers", "0", "--allow-tick", GATES);
    struct request request = { .kit = kit, .pawld = pawld };
    pthread_t thread;
    create_gated(kit, pawld, "a", "gate");
    assert_int_equal(pthread_create(&thread, NULL, tick, &request), 0);
    await_lines("gate.log", "begun", 1);

    pawld_kill(pawld, SIGTERM);
    pawld_await(pawld, "draining");
    open_gate("gate");

    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(request.answer.status, 200);
    assert_true(pawl_value_int(request.answer.value, "processed", 0) >= 1);
    assert_int_equal(pawld_await_end(pawld), 0);
}

struct stream {
    const char *url;
    atomic_bool has_begun;
    CURLcode code;
};

static size_t note_begin(char *bytes, size_t size, size_t count, void *user)
{
    struct stream *stream = user;
    (void)bytes;
    atomic_store(&stream->has_begun, true);
    return size * count;
}

static void *follow(void *user)
{
    struct stream *stream = user;
    CURL *transfer = curl_easy_init();
    curl_easy_setopt(transfer, CURLOPT_URL, stream->url);
    curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, note_begin);
    curl_easy_setopt(transfer, CURLOPT_WRITEDATA, stream);
    curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
    stream->code = curl_easy_perform(transfer);
    curl_easy_cleanup(transfer);
    return NULL;
}

/* The run waits for an hour; a stream of it would, too. */
TEST_OF(kit, SIGTERM_ends_streams_as_they_should_end)
{
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    struct stream stream = { .code = CURLE_GOT_NOTHING };
    pthread_t thread;
    create(kit, pawld, "nap", "a", NULL);
    stream.url = pawl_scope_format(kit->scope, "%s/workflows/nap/instances/a/stream", pawld->base);
    assert_int_equal(pthread_create(&thread, NULL, follow, &stream), 0);
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; !atomic_load(&stream.has_begun); rest_a_little())
        assert_true(monotonic_ms() < until_ms);

    pawld_kill(pawld, SIGTERM);

    assert_int_equal(pawld_await_end(pawld), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(stream.code, CURLE_OK);
}

TEST_OF(kit, SIGINT_drains_like_SIGTERM)
{
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    pawld_kill(pawld, SIGINT);
    assert_int_equal(pawld_await_end(pawld), 0);
    assert_non_null(strstr(pawld->errors, "SIGINT: draining"));
}

/* timeout(1) sends it to the process and to its group. */
TEST_OF(kit, the_same_signal_twice_in_a_moment_is_one)
{
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    begin_gated(kit, pawld, "a", "gate");

    pawld_kill(pawld, SIGTERM);
    pawld_kill(pawld, SIGTERM);
    pawld_await(pawld, "draining");
    open_gate("gate");

    assert_int_equal(pawld_await_end(pawld), 0);
    assert_int_equal(count_lines("gate.log", "ended"), 1);
}

/* ---- Stopping at once -------------------------------------------------------------------------------------------- */

static void assert_goes_on(struct kit *kit, const char *id)
{
    open_gate("gate");
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    await_status(kit, pawld, "gated", id, "complete");
    assert_int_equal(count_lines("gate.log", "first"), 1); /* what was completed did not run again, */
    assert_int_equal(count_lines("gate.log", "begun"), 2); /* what was under way did */
}

TEST_OF(kit, a_second_signal_stops_at_once_and_a_new_pawld_goes_on)
{
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    begin_gated(kit, pawld, "a", "gate");
    pawld_kill(pawld, SIGTERM);
    pawld_await(pawld, "draining");

    int code = signal_until_it_ends(pawld, SIGTERM);

    assert_int_equal(code, 128 + SIGTERM);
    assert_non_null(strstr(pawld->errors, "stopping at once"));
    assert_int_equal(count_lines("gate.log", "ended"), 0);
    assert_goes_on(kit, "a");
}

TEST_OF(kit, a_drain_that_takes_too_long_is_ended)
{
    struct pawld *pawld = PAWLD_SERVE(kit, "--drain-ms", "200", GATES);
    begin_gated(kit, pawld, "a", "gate");

    pawld_kill(pawld, SIGTERM);

    assert_int_equal(pawld_await_end(pawld), 1);
    assert_non_null(strstr(pawld->errors, "still busy after 200 ms"));
    assert_goes_on(kit, "a");
}

TEST_OF(kit, C3_after_kill_9_in_a_body_a_new_pawld_goes_on_at_once)
{
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    begin_gated(kit, pawld, "a", "gate");

    pawld_kill(pawld, SIGKILL);

    assert_int_equal(pawld_await_end(pawld), 128 + SIGKILL);
    assert_goes_on(kit, "a");
}

/* Two at once: neither program may keep the other's group from being killed. */
TEST_OF(kit, what_the_programs_of_steps_started_dies_with_pawld)
{
    enum { PROGRAMS_AT_ONCE = 2 };
    struct pawld *pawld = PAWLD_SERVE(kit, PROGRAMS);
    int numbers[PROGRAMS_AT_ONCE][2];
    for (int i = 0; i < PROGRAMS_AT_ONCE; i++)
        create(kit, pawld, "program", pawl_scope_format(kit->scope, "p-%d", i),
               "{\"script\": \"sleep 1000 & echo $$ $! > $PAWL_INSTANCE_ID.new; "
               "mv $PAWL_INSTANCE_ID.new $PAWL_INSTANCE_ID; wait\"}");
    for (int i = 0; i < PROGRAMS_AT_ONCE; i++) {
        const char *path = pawl_scope_format(kit->scope, "p-%d", i);
        for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; access(path, F_OK) != 0; rest_a_little())
            assert_true(monotonic_ms() < until_ms);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_int_equal(fscanf(file, "%d %d", &numbers[i][0], &numbers[i][1]), 2);
        (void)fclose(file);
        assert_true(process_runs(numbers[i][1]));
    }

    pawld_kill(pawld, SIGKILL);

    assert_int_equal(pawld_await_end(pawld), 128 + SIGKILL);
    for (int i = 0; i < PROGRAMS_AT_ONCE; i++) {
        expect_gone(numbers[i][0]);
        expect_gone(numbers[i][1]);
    }
}
