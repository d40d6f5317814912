/* test_work.c - workers and callers that wait, on true sockets (contract F1, F3, G1): a wait holds no thread, news end it, a
 * drain ends it, and of many who answer at once one is heard. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "serving.h"

#include <unistd.h>

enum { THREADS = 2, CROWD = 60, ANSWERERS = 8 };

static char deferred_token[256]; /* of the newest run of "defers" */
static pthread_mutex_t token_lock = PTHREAD_MUTEX_INITIALIZER;

WORKFLOW(calls)
{
    return pawl_call(run, "remote", "charge", NULL, params, out_result);
}

WORKFLOW(defers)
{
    const char *token;
    PAWL_TRY(pawl_deferred_token(run, "approval", &token));
    (void)pthread_mutex_lock(&token_lock);
    snprintf(deferred_token, sizeof deferred_token, "%s", token);
    (void)pthread_mutex_unlock(&token_lock);
    return pawl_await_deferred(run, "approval", NULL, out_result);
}

static const struct pawl_workflow workflows[] = { { .name = "calls", .run = calls },
                                                  { .name = "defers", .run = defers } };

static int set_up(void **state)
{
    struct serving *serving = calloc(1, sizeof *serving);
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    assert_non_null(serving);
    options.threads = THREADS;
    serving_open_many(serving, workflows, LENGTH(workflows), NULL, &options);
    *state = serving;
    return 0;
}

static const struct test_setting with_workers = { set_up, serving_tear_down, 0 };

/* On a connection of its own.  The answer is the caller's to clear. */
static void ask(const struct serving *serving, const char *target, const char *body, struct answer *answer)
{
    struct client client;
    client_open(&client, serving);
    client_ask(&client, target, body);
    client_take(&client, answer);
    client_close(&client);
}

static void assert_says(const struct answer *answer, int status, const char *words)
{
    if (answer->status != status || strstr(answer->body, words) == NULL)
        fail_msg("%d: %s; not %d with %s", answer->status, answer->body, status, words);
}

/* The text of a member, "token", of a body that has it once. */
static void take_member(const char *body, const char *name, char *out_text, size_t size)
{
    char words[64];
    snprintf(words, sizeof words, "\"%s\":\"", name);
    const char *at = strstr(body, words);
    if (at == NULL)
        fail_msg("no %s in %s", name, body);
    at += strlen(words);
    snprintf(out_text, size, "%.*s", (int)strcspn(at, "\""), at);
}

#define WAIT_LONG "{\"functions\":[\"charge\"],\"waitMs\":60000}"

/* ---- Claims that wait ------------------------------------------------------------------------------------------------ */

TEST_IN(with_workers, serving, a_claim_is_answered_when_a_job_becomes_due)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    client_ask(&client, "/api/jobs/claim", WAIT_LONG);
    assert_false(client_receive(&client, 50));
    assert_int_equal(ask_once(serving, "/api/workflows/calls/instances", "{\"id\":\"c\",\"params\":[1,  2]}"), 200);
    int64_t began_ms = monotonic_ms();
    client_take(&client, &answer);
    assert_true(monotonic_ms() - began_ms < PATIENCE_MS / 2); /* told, not when the time was over */
    assert_says(&answer, 200,
                "\"function\":\"charge\",\"data\":[1,  2],\"workflowName\":\"calls\",\"instanceId\":\"c\"");
    client_close(&client);
    answer_clear(&answer);
}

TEST_IN(with_workers, serving, a_claim_that_finds_nothing_in_its_time_is_answered_with_nothing)
{
    struct answer answer = { 0 };
    ask(serving, "/api/jobs/claim", "{\"functions\":[\"charge\"],\"waitMs\":40}", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "{\"jobs\":[]}");
    answer_clear(&answer);
}

/* The one that got something; the others have not. */
static size_t find_served(struct client *clients, size_t count)
{
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms;) {
        for (size_t i = 0; i < count; i++)
            if (client_receive(&clients[i], 0))
                return i;
        rest_a_little();
    }
    fail_msg("nobody got the job");
    return 0;
}

TEST_IN(with_workers, serving, a_crowd_of_claims_holds_no_thread_and_one_of_them_gets_the_job)
{
    struct client clients[CROWD];
    struct answer answer = { 0 };
    int threads = count_threads();
    for (size_t i = 0; i < CROWD; i++) {
        client_open(&clients[i], serving);
        client_ask(&clients[i], "/api/jobs/claim", WAIT_LONG);
    }
    assert_int_equal(ask_once(serving, "/api/workflows", NULL), 200); /* others get through */
    assert_int_equal(count_threads(), threads);
    assert_int_equal(ask_once(serving, "/api/workflows/calls/instances", "{\"id\":\"c\"}"), 200);
    size_t served = find_served(clients, CROWD);
    client_take(&clients[served], &answer);
    assert_says(&answer, 200, "\"instanceId\":\"c\"");
    pawl_http_drain(serving->http);
    for (size_t i = 0; i < CROWD; i++) {
        if (i != served) {
            client_take(&clients[i], &answer);
            assert_int_equal(answer.status, 200);
            assert_string_equal(answer.body, "{\"jobs\":[]}");
        }
        client_close(&clients[i]);
    }
    answer_clear(&answer);
}

/* A worker that was killed while it waited takes no job with it. */
TEST_IN(with_workers, serving, a_client_that_went_away_gets_no_job)
{
    struct client gone, client;
    struct answer answer = { 0 };
    for (int i = 0; i < 5; i++) {
        char body[64];
        client_open(&gone, serving);
        client_ask(&gone, "/api/jobs/claim", WAIT_LONG);
        assert_false(client_receive(&gone, 30));
        client_close(&gone);
        snprintf(body, sizeof body, "{\"id\":\"c-%d\"}", i);
        assert_int_equal(ask_once(serving, "/api/workflows/calls/instances", body), 200);
        client_open(&client, serving);
        client_ask(&client, "/api/jobs/claim", WAIT_LONG);
        client_take(&client, &answer);
        assert_says(&answer, 200, "\"instanceId\":\"c-");
        client_close(&client);
    }
    answer_clear(&answer);
}

/* ---- Many workers -------------------------------------------------------------------------------------------------- */

enum { WORKERS = 6, JOBS = 120 };

struct worker {
    pthread_t thread;
    const struct serving *serving;
    _Atomic int *left; /* jobs that nobody has completed yet */
    int completed;
};

/* Claims three at a time, and answers each with the id of the instance that made it. */
static void *work(void *user)
{
    struct worker *worker = user;
    struct answer answer = { 0 };
    pawl_scope *scope = pawl_scope_new();
    while (atomic_load(worker->left) > 0) {
        pawl_value *jobs = NULL;
        ask(worker->serving, "/api/jobs/claim", "{\"functions\":[\"charge\"],\"max\":3,\"waitMs\":50}", &answer);
        assert_int_equal(pawl_value_parse(scope, answer.body, answer.body_size, &jobs, NULL), PAWL_OK);
        for (size_t i = 0; i < pawl_value_size(jobs, "jobs"); i++) {
            const pawl_value *job = pawl_value_item(pawl_value_at(jobs, "jobs"), i);
            const char *target = pawl_scope_format(scope, "/api/jobs/%s/complete", pawl_value_string(job, "token", ""));
            const char *body =
                pawl_scope_format(scope, "{\"result\":\"%s\"}", pawl_value_string(job, "instanceId", ""));
            assert_int_equal(ask_once(worker->serving, target, body), 200);
            atomic_fetch_sub(worker->left, 1);
            worker->completed++;
        }
    }
    pawl_scope_free(scope);
    answer_clear(&answer);
    return NULL;
}

TEST_IN(with_workers, serving, many_workers_carry_out_every_job_once)
{
    struct worker workers[WORKERS];
    _Atomic int left = JOBS;
    int completed = 0;
    char text[64];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){ .serving = serving, .left = &left };
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < JOBS; i++) {
        snprintf(text, sizeof text, "{\"id\":\"m-%d\"}", i);
        assert_int_equal(ask_once(serving, "/api/workflows/calls/instances", text), 200);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        completed += workers[i].completed;
    }
    assert_int_equal(completed, JOBS);
    assert_true(running_await_all(&serving->running, "calls"));
    for (int i = 0; i < JOBS; i++) {
        char id[32];
        snprintf(id, sizeof id, "m-%d", i);
        snprintf(text, sizeof text, "\"m-%d\"", i);
        assert_string_equal(running_get(&serving->running, "calls", id).output_json, text);
    }
}

/* ---- Many answers to one thing ----------------------------------------------------------------------------------------- */

struct answerer {
    pthread_t thread;
    const struct serving *serving;
    char target[512], body[64];
    int status;
};

static void *answer_it(void *user)
{
    struct answerer *answerer = user;
    answerer->status = ask_once(answerer->serving, answerer->target, answerer->body);
    return NULL;
}

/* The number of the one that was told 200; all the others were told 409, or `other`. */
static int answer_at_once(const struct serving *serving, const char *target, int other)
{
    struct answerer answerers[ANSWERERS];
    int winner = -1;
    for (int i = 0; i < ANSWERERS; i++) {
        answerers[i] = (struct answerer){ .serving = serving };
        snprintf(answerers[i].target, sizeof answerers[i].target, "%s", target);
        snprintf(answerers[i].body, sizeof answerers[i].body, "{\"result\":\"number %d\"}", i);
        assert_int_equal(pthread_create(&answerers[i].thread, NULL, answer_it, &answerers[i]), 0);
    }
    for (int i = 0; i < ANSWERERS; i++) {
        assert_int_equal(pthread_join(answerers[i].thread, NULL), 0);
        if (answerers[i].status == 200) {
            assert_int_equal(winner, -1);
            winner = i;
        } else if (answerers[i].status != other) {
            assert_int_equal(answerers[i].status, 409);
        }
    }
    assert_true(winner >= 0);
    return winner;
}

TEST_IN(with_workers, serving, of_many_answers_to_one_job_one_counts)
{
    struct answer answer = { 0 };
    char token[256], target[300], output[64];
    assert_int_equal(ask_once(serving, "/api/workflows/calls/instances", "{\"id\":\"c\"}"), 200);
    ask(serving, "/api/jobs/claim", WAIT_LONG, &answer);
    take_member(answer.body, "token", token, sizeof token);
    snprintf(target, sizeof target, "/api/jobs/%s/complete", token);
    int winner = answer_at_once(serving, target, 409);
    snprintf(output, sizeof output, "\"output\":\"number %d\"", winner);
    ask(serving, "/api/workflows/calls/instances/c/result?waitMs=20000", NULL, &answer);
    assert_says(&answer, 200, output);
    answer_clear(&answer);
}

/* The first worker's lease is over, and a second one has the job: what the first knows is of no use. */
TEST_IN(with_workers, serving, a_worker_whose_lease_is_over_cannot_speak_for_the_next)
{
    struct answer answer = { 0 };
    char first[256], second[256], forged[300], target[340];
    assert_int_equal(ask_once(serving, "/api/workflows/calls/instances", "{\"id\":\"forged\"}"), 200);
    ask(serving, "/api/jobs/claim", "{\"functions\":[\"charge\"],\"waitMs\":60000,\"leaseMs\":1000}", &answer);
    take_member(answer.body, "token", first, sizeof first);
    answer_clear(&answer);
    ask(serving, "/api/jobs/claim", WAIT_LONG, &answer);
    take_member(answer.body, "token", second, sizeof second);
    answer_clear(&answer);

    /* Key, run and number of the claim are the second's, the rest is the first's. */
    const char *rest = strchr(strchr(strchr(first, '.') + 1, '.') + 1, '.');
    size_t fence = (size_t)(strchr(strchr(strchr(second, '.') + 1, '.') + 1, '.') - second);
    snprintf(forged, sizeof forged, "%.*s%s", (int)fence, second, rest);
    assert_string_not_equal(forged, second);
    snprintf(target, sizeof target, "/api/jobs/%s/complete", forged);
    ask(serving, target, "{\"result\":1}", &answer);
    assert_says(&answer, 404, "INVALID_TOKEN");
    answer_clear(&answer);
    snprintf(target, sizeof target, "/api/jobs/%s/complete", second);
    ask(serving, target, "{\"result\":2}", &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
}

static void await_token(struct serving *serving, const char *id, char out_token[256])
{
    (void)running_await(&serving->running, "defers", id, PAWL_WAITING);
    (void)pthread_mutex_lock(&token_lock);
    snprintf(out_token, 256, "%s", deferred_token);
    (void)pthread_mutex_unlock(&token_lock);
}

/* One that comes when the run is over already is told that there is none such: 404. */
TEST_IN(with_workers, serving, of_many_answers_to_one_deferred_one_counts)
{
    struct answer answer = { 0 };
    char token[256], target[300], output[64];
    assert_int_equal(ask_once(serving, "/api/workflows/defers/instances", "{\"id\":\"d\"}"), 200);
    await_token(serving, "d", token);
    snprintf(target, sizeof target, "/api/deferred/%s/succeed", token);
    int winner = answer_at_once(serving, target, 404);
    snprintf(output, sizeof output, "\"output\":\"number %d\"", winner);
    ask(serving, "/api/workflows/defers/instances/d/result?waitMs=20000", NULL, &answer);
    assert_says(&answer, 200, output);
    answer_clear(&answer);
}

/* ---- Secrets ----------------------------------------------------------------------------------------------------------- */

TEST_IN(with_workers, serving, a_stream_does_not_show_the_secret_of_a_deferred)
{
    struct client client;
    struct answer answer = { 0 };
    char token[256], target[300];
    assert_int_equal(ask_once(serving, "/api/workflows/defers/instances", "{\"id\":\"d\"}"), 200);
    await_token(serving, "d", token);
    client_open(&client, serving);
    client_ask(&client, "/api/workflows/defers/instances/d/stream", NULL);
    client_take_head(&client, &answer);
    assert_int_equal(answer.status, 200);
    snprintf(target, sizeof target, "/api/deferred/%s/succeed", token);
    assert_int_equal(ask_once(serving, target, "{\"result\":1}"), 200);
    while (client.data == NULL || memmem(client.data, client.size, "event: end", 10) == NULL)
        assert_true(client_receive(&client, PATIENCE_MS));
    const char *secret = strrchr(token, '.') + 1;
    assert_non_null(memmem(client.data, client.size, "\"approval\"", 10));
    assert_null(memmem(client.data, client.size, secret, strlen(secret)));
    client_close(&client);
    answer_clear(&answer);
}

/* ---- Executions -------------------------------------------------------------------------------------------------------- */

#define EXECUTE "/api/workflows/gated/execute"

TEST_IN(with_workers, serving, calls_with_one_key_wait_for_one_run)
{
    struct client first, second;
    struct answer one = { 0 }, other = { 0 };
    client_open(&first, serving);
    client_open(&second, serving);
    client_ask(&first, EXECUTE, "{\"key\":\"k\",\"waitMs\":60000}");
    gate_await(&serving->gate, 1);
    client_ask(&second, EXECUTE, "{\"key\":\"k\",\"waitMs\":60000}");
    assert_false(client_receive(&first, 50));
    assert_false(client_receive(&second, 50));
    assert_int_equal(ask_once(serving, EXECUTE "/k", NULL), 202);
    assert_int_equal(ask_once(serving, EXECUTE, "{\"key\":\"k\",\"discard\":true,\"waitMs\":60000}"), 202);
    assert_int_equal(ask_once(serving, EXECUTE, "{\"key\":\"k\",\"waitMs\":40}"), 202);
    gate_open(&serving->gate);
    client_take(&first, &one);
    client_take(&second, &other);
    assert_says(&one, 200, "\"status\":\"complete\",\"phase\":\"complete\",\"output\":7");
    assert_string_equal(one.body, other.body);
    assert_int_equal(gate_entered(&serving->gate), 1);
    assert_int_equal(ask_once(serving, EXECUTE "/k", NULL), 200);
    assert_int_equal(ask_once(serving, EXECUTE, "{\"key\":\"k\"}"), 200);
    client_close(&first);
    client_close(&second);
    answer_clear(&one);
    answer_clear(&other);
}

TEST_IN(with_workers, serving, a_drain_ends_the_wait_for_an_execution)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    client_ask(&client, EXECUTE, "{\"key\":\"k\",\"waitMs\":60000}");
    gate_await(&serving->gate, 1);
    assert_false(client_receive(&client, 30));
    pawl_http_drain(serving->http);
    client_take(&client, &answer);
    assert_says(&answer, 202, "\"status\":\"active\"");
    gate_open(&serving->gate);
    client_close(&client);
    answer_clear(&answer);
}
