/* table_stories.c - see table.h: requests that need what an earlier answer said (contract F3, G1).  Time is simulated, so a
 * lease is outlived at once. */
#include "table.h"

#include <stdio.h>
#include <string.h>

#define ok(call) assert_int_equal((call), PAWL_OK)

struct story {
    struct table_world *world;
    const struct table_sender *sender;
    pawl_scope *scope; /* of all its answers */
    const char *body;  /* of the last one */
};

static struct story begin(struct table_world *world, const struct table_sender *sender)
{
    struct story story = { .world = world, .sender = sender, .scope = pawl_scope_new() };
    assert_non_null(story.scope);
    return story;
}

static void end(struct story *story)
{
    pawl_scope_free(story->scope);
}

/* The answer's body.  code NULL: it is no error. */
static const pawl_value *ask(struct story *story, const char *target, const char *body, int status, const char *code)
{
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_response response = { 0 };
    pawl_value *value = NULL;
    bool is_get = body != NULL && strcmp(body, "GET") == 0;
    request.method = is_get ? "GET" : "POST";
    request.target = pawl_scope_format(story->scope, "%s%s", story->world->mount, target);
    request.body = is_get ? NULL : body;
    request.body_size = request.body != NULL ? strlen(request.body) : 0;
    story->sender->send(story->sender->user, story->scope, &request, &response);
    table_check_any(&request, &response);
    if (response.status != status)
        fail_msg("%s %s: answered %d, not %d: %s", target, body, response.status, status, response.body);
    ok(pawl_value_parse(story->scope, response.body, response.body_size, &value, NULL));
    assert_string_equal(pawl_value_string(value, "code", ""), code != NULL ? code : "");
    story->body = response.body;
    return value;
}

static const pawl_value *get(struct story *story, const char *target, int status)
{
    return ask(story, target, "GET", status, NULL);
}

static void assert_said(const struct story *story, const char *words)
{
    if (strstr(story->body, words) == NULL)
        fail_msg("no\n  %s\nin\n  %s", words, story->body);
}

static void run(struct story *story)
{
    ok(pawl_world_run_until_idle(story->world->world, NULL));
}

static void pass(struct story *story, const char *duration)
{
    ok(pawl_world_advance(story->world->world, duration, NULL));
}

/* ---- Deferreds ----------------------------------------------------------------------------------------------------- */

static const char *deferred(struct story *story, const char *id, const char *verb)
{
    return pawl_scope_format(story->scope, "/deferred/%s/%s", table_deferred_token(id), verb);
}

static const char *instance(struct story *story, const char *workflow, const char *id, const char *rest)
{
    return pawl_scope_format(story->scope, "/workflows/%s/instances/%s%s", workflow, id, rest);
}

/* Zero, false, the empty text, null and no result are five things. */
static void every_result_arrives_as_it_was_sent(struct table_world *world, const struct table_sender *sender)
{
    static const struct {
        const char *id, *body, *output;
    } cases[] = {
        { "zero", "{\"result\":0}", "\"phase\":\"complete\",\"output\":0}" },
        { "false", "{\"result\":false}", "\"phase\":\"complete\",\"output\":false}" },
        { "empty", "{\"result\":\"\"}", "\"phase\":\"complete\",\"output\":\"\"}" },
        { "null", "{\"result\":null}", "\"phase\":\"complete\",\"output\":null}" },
        { "none", "{}", "\"details\":{\"status\":\"complete\",\"phase\":\"complete\"}" },
        { "nothing", NULL, "\"details\":{\"status\":\"complete\",\"phase\":\"complete\"}" },
        { "bytes", "{\"result\": {\"a\":  [1, 2.50, \"\\u00e4\"]} }", "\"output\":{\"a\":  [1, 2.50, \"\\u00e4\"]}" },
    };
    struct story story = begin(world, sender);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ok(pawl_world_create(world->world, "defers", cases[i].id, NULL, NULL));
    run(&story);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        (void)ask(&story, deferred(&story, cases[i].id, "succeed"), cases[i].body, 200, NULL);
    run(&story);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)get(&story, instance(&story, "defers", cases[i].id, "/history"), 200);
        if (strcmp(cases[i].id, "bytes") == 0) {
            assert_said(&story, "\"result\":{\"a\":  [1, 2.50, \"\\u00e4\"]}");
            continue; /* what the workflow made of it is the workflow's */
        }
        (void)get(&story, instance(&story, "defers", cases[i].id, "/result"), 200);
        assert_said(&story, cases[i].output);
    }
    end(&story);
}

static void the_first_answer_to_a_deferred_counts(struct table_world *world, const struct table_sender *sender)
{
    struct story story = begin(world, sender);
    const char *succeed = deferred(&story, "d-1", "succeed"), *fail = deferred(&story, "d-1", "fail");
    (void)ask(&story, succeed, "{\"result\":{\"by\":\"Ada\"}}", 200, NULL);
    (void)ask(&story, succeed, "{\"result\":{\"by\":\"Ada\"}}", 200, NULL);
    (void)ask(&story, succeed, "{\"result\":{\"by\":\"Bob\"}}", 409, "DEFERRED_COMPLETED");
    (void)ask(&story, succeed, "{}", 409, "DEFERRED_COMPLETED");
    (void)ask(&story, fail, "{\"name\":\"Refused\"}", 409, "DEFERRED_COMPLETED");
    run(&story);
    (void)get(&story, "/workflows/defers/instances/d-1/result", 200);
    assert_said(&story, "\"by\":\"Ada\"");
    /* The run is over. */
    (void)ask(&story, succeed, "{\"result\":{\"by\":\"Ada\"}}", 200, NULL);
    (void)ask(&story, succeed, "{\"result\":{\"by\":\"Bob\"}}", 404, "INVALID_TOKEN");
    end(&story);
}

static void a_deferred_that_is_failed_fails_its_run(struct table_world *world, const struct table_sender *sender)
{
    struct story story = begin(world, sender);
    (void)ask(&story, deferred(&story, "kid", "fail"), "{\"name\":\"Refused\",\"message\":\"not \\\"now\\\"\"}", 200,
              NULL);
    (void)ask(&story, deferred(&story, "kid", "fail"), "{\"name\":\"Refused\",\"message\":\"not \\\"now\\\"\"}", 200,
              NULL);
    (void)ask(&story, deferred(&story, "kid", "fail"), "{\"name\":\"Refused\"}", 409, "DEFERRED_COMPLETED");
    run(&story);
    (void)get(&story, "/workflows/defers/instances/kid/result", 200);
    assert_said(&story, "\"error\":{\"name\":\"Refused\",\"message\":\"not \\\"now\\\"\"}");
    /* And its parent, which awaited it. */
    (void)get(&story, "/workflows/family/instances/f-1/result", 200);
    assert_said(&story, "\"error\":{\"name\":\"Refused\"");
    end(&story);
}

/* Whoever may read an instance may not therefore finish its deferreds. */
static void no_answer_shows_the_secret_of_a_deferred(struct table_world *world, const struct table_sender *sender)
{
    static const char *const places[] = { "/workflows/defers/instances/d-1",
                                          "/workflows/defers/instances/d-1/history?includeLogs=true",
                                          "/workflows/defers/instances/d-1/result",
                                          "/workflows/defers/instances?pageSize=100",
                                          "/workflows/family/instances/f-1/children" };
    struct story story = begin(world, sender);
    const char *token = table_deferred_token("d-1"), *secret = strrchr(token, '.') + 1;
    assert_true(strlen(secret) >= 32);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            (void)get(&story, places[i], strstr(places[i], "/result") != NULL && round == 0 ? 202 : 200);
            if (strstr(story.body, secret) != NULL)
                fail_msg("%s shows it: %s", places[i], story.body);
        }
        if (round == 0)
            (void)ask(&story, deferred(&story, "d-1", "succeed"), "{\"result\":1}", 200, NULL);
        run(&story);
    }
    end(&story);
}

static void a_token_that_is_nearly_right_is_wrong(struct table_world *world, const struct table_sender *sender)
{
    struct story story = begin(world, sender);
    const char *token = table_deferred_token("d-1");
    size_t size = strlen(token);
    for (size_t i = 0; i < size; i++) {
        char *other = pawl_scope_take(story.scope, size + 1);
        assert_non_null(other);
        memcpy(other, token, size + 1);
        other[i] = other[i] == 'a' ? 'b' : 'a';
        (void)ask(&story, pawl_scope_format(story.scope, "/deferred/%s/succeed", other), "{}", 404, "INVALID_TOKEN");
    }
    (void)ask(&story, pawl_scope_format(story.scope, "/deferred/%sa/succeed", token), "{}", 404, "INVALID_TOKEN");
    (void)ask(&story, pawl_scope_format(story.scope, "/deferred/%.*s/succeed", (int)size - 1, token), "{}", 404,
              "INVALID_TOKEN");
    (void)get(&story, "/workflows/defers/instances/d-1/result", 202);
    end(&story);
}

/* ---- Jobs ---------------------------------------------------------------------------------------------------------- */

static const pawl_value *claim(struct story *story, const char *more)
{
    const char *body = pawl_scope_format(story->scope, "{\"functions\":[\"charge\"]%s}", more);
    return pawl_value_at(ask(story, "/jobs/claim", body, 200, NULL), "jobs");
}

static const char *job_target(struct story *story, const pawl_value *jobs, const char *verb)
{
    return pawl_scope_format(story->scope, "/jobs/%s/%s", pawl_value_string(jobs, "0.token", ""), verb);
}

static void a_worker_claims_keeps_and_completes_a_job(struct table_world *world, const struct table_sender *sender)
{
    struct story story = begin(world, sender);
    const pawl_value *jobs = claim(&story, ",\"leaseMs\":60000");
    assert_int_equal(pawl_value_size(jobs, NULL), 1);
    assert_said(&story, "\"data\":{\"amount\":  1.50}");
    (void)ask(&story, job_target(&story, jobs, "heartbeat"), NULL, 200, NULL);
    assert_string_equal(story.body, "{\"leasedUntil\":\"2026-01-01T00:00:30.000Z\"}");
    (void)ask(&story, job_target(&story, jobs, "heartbeat"), "{\"leaseMs\":3600000}", 200, NULL);
    assert_string_equal(story.body, "{\"leasedUntil\":\"2026-01-01T00:10:00.000Z\"}"); /* not beyond its deadline */
    (void)ask(&story, job_target(&story, jobs, "complete"), "{\"result\":{\"receipt\":  \"r-9\"}}", 200, NULL);
    (void)ask(&story, job_target(&story, jobs, "complete"), "{\"result\":{\"receipt\":  \"r-9\"}}", 409, "JOB_GONE");
    (void)ask(&story, job_target(&story, jobs, "fail"), "{\"name\":\"E\"}", 409, "JOB_GONE");
    (void)ask(&story, job_target(&story, jobs, "heartbeat"), NULL, 409, "JOB_GONE");
    run(&story);
    (void)get(&story, "/workflows/calls/instances/c-1/result", 200);
    assert_said(&story, "\"output\":{\"receipt\":");
    (void)get(&story, "/workflows/calls/instances/c-1/history", 200);
    assert_said(&story, "\"status\":\"completed\",\"state\":\"completed\",\"place\":{\"order\":1},\"attempts\":1");
    assert_said(&story, "\"result\":{\"receipt\":  \"r-9\"}");
    end(&story);
}

/* Whoever may read an instance may not therefore answer its jobs: their ids are the secret part of their tokens. */
static void no_answer_shows_the_id_of_a_job_that_is_open(struct table_world *world, const struct table_sender *sender)
{
    static const char *const places[] = { "/workflows/calls/instances/c-1",
                                          "/workflows/calls/instances/c-1/history?includeLogs=true",
                                          "/workflows/calls/instances/c-1/result",
                                          "/workflows/calls/instances/c-1/children",
                                          "/workflows/calls/instances?pageSize=100",
                                          "/workflows/calls/shards",
                                          "/hooks/deliveries",
                                          "/cluster",
                                          "/status" };
    struct story story = begin(world, sender);
    const pawl_value *jobs = claim(&story, "");
    const char *id = pawl_value_string(jobs, "0.id", ""), *token = pawl_value_string(jobs, "0.token", "");
    assert_true(strlen(id) >= 16);
    assert_string_equal(strrchr(token, '.') + 1, id);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        (void)get(&story, places[i], strstr(places[i], "/result") != NULL ? 202 : 200);
        if (strstr(story.body, id) != NULL)
            fail_msg("%s shows it: %s", places[i], story.body);
    }
    end(&story);
}

static void every_result_of_a_job_arrives_as_it_was_sent(struct table_world *world, const struct table_sender *sender)
{
    static const struct {
        const char *body, *output;
    } cases[] = {
        { "{\"result\":0}", "\"phase\":\"complete\",\"output\":0}" },
        { "{\"result\":false}", "\"phase\":\"complete\",\"output\":false}" },
        { "{\"result\":\"\"}", "\"phase\":\"complete\",\"output\":\"\"}" },
        { "{\"result\":null}", "\"phase\":\"complete\",\"output\":null}" },
        { "{}", "\"details\":{\"status\":\"complete\",\"phase\":\"complete\"}" },
        { NULL, "\"details\":{\"status\":\"complete\",\"phase\":\"complete\"}" },
    };
    struct story story = begin(world, sender);
    assert_int_equal(pawl_value_size(claim(&story, ",\"max\":2"), NULL), 2); /* those that are there already */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *id = pawl_scope_format(story.scope, "r-%zu", i);
        ok(pawl_world_create(world->world, "calls", id, NULL, NULL));
        run(&story);
        const pawl_value *jobs = claim(&story, "");
        assert_string_equal(pawl_value_string(jobs, "0.instanceId", ""), id);
        (void)ask(&story, job_target(&story, jobs, "complete"), cases[i].body, 200, NULL);
        run(&story);
        (void)get(&story, instance(&story, "calls", id, "/result"), 200);
        assert_said(&story, cases[i].output);
    }
    end(&story);
}

/* A worker was killed, or is slow: when its lease is over another one gets the job, and the first one's answer is refused. */
static void a_job_whose_worker_died_goes_to_another(struct table_world *world, const struct table_sender *sender)
{
    struct story story = begin(world, sender);
    const pawl_value *first = claim(&story, ",\"leaseMs\":1000");
    assert_int_equal(pawl_value_size(claim(&story, ",\"max\":100,\"leaseMs\":3600000"), NULL), 1); /* the other job */
    assert_int_equal(pawl_value_size(claim(&story, ""), NULL), 0);
    pass(&story, "2 seconds");
    const pawl_value *second = claim(&story, "");
    assert_int_equal(pawl_value_size(second, NULL), 1);
    assert_string_equal(pawl_value_string(second, "0.id", "?"), pawl_value_string(first, "0.id", ""));
    assert_int_equal(pawl_value_int(second, "0.attempt", 0), 1); /* it is the same attempt */
    assert_string_not_equal(pawl_value_string(second, "0.token", ""), pawl_value_string(first, "0.token", ""));
    assert_string_equal(pawl_value_string(second, "0.deadlineAt", "?"), pawl_value_string(first, "0.deadlineAt", ""));
    (void)ask(&story, job_target(&story, first, "heartbeat"), NULL, 409, "JOB_GONE");
    (void)ask(&story, job_target(&story, first, "complete"), "{\"result\":\"first\"}", 409, "JOB_GONE");
    (void)ask(&story, job_target(&story, first, "fail"), "{\"name\":\"E\"}", 409, "JOB_GONE");
    (void)ask(&story, job_target(&story, second, "complete"), "{\"result\":\"second\"}", 200, NULL);
    (void)ask(&story, job_target(&story, first, "complete"), "{\"result\":\"first\"}", 409, "JOB_GONE");
    run(&story);
    (void)get(&story, "/workflows/calls/instances/c-1/result", 200);
    assert_said(&story, "\"output\":\"second\"");
    end(&story);
}

/* Nobody else has it: it would be a pity. */
static void an_answer_after_the_lease_counts_while_nobody_else_has_the_job(struct table_world *world,
                                                                           const struct table_sender *sender)
{
    struct story story = begin(world, sender);
    const pawl_value *jobs = claim(&story, ",\"leaseMs\":1000");
    pass(&story, "1 minute");
    (void)ask(&story, job_target(&story, jobs, "heartbeat"), NULL, 200, NULL);
    pass(&story, "1 minute");
    (void)ask(&story, job_target(&story, jobs, "complete"), "{\"result\":\"late\"}", 200, NULL);
    run(&story);
    (void)get(&story, "/workflows/calls/instances/c-1/result", 200);
    assert_said(&story, "\"output\":\"late\"");
    end(&story);
}

static void nothing_counts_after_the_timeout_of_the_attempt(struct table_world *world,
                                                            const struct table_sender *sender)
{
    struct story story = begin(world, sender);
    const pawl_value *jobs = claim(&story, ",\"leaseMs\":3600000");
    pass(&story, "10 minutes");
    (void)ask(&story, job_target(&story, jobs, "complete"), "{\"result\":1}", 409, "JOB_GONE");
    (void)get(&story, "/workflows/calls/instances/c-1/history", 200);
    assert_said(&story, "\"error\":{\"name\":\"STEP_TIMEOUT\"");
    pass(&story, "1 minute"); /* the step is tried again */
    const pawl_value *again = claim(&story, ",\"max\":100");
    assert_int_equal(pawl_value_size(again, NULL), 2);
    assert_said(&story, "\"instanceId\":\"c-1\",\"runNumber\":1,\"step\":\"remote\",\"attempt\":2");
    (void)ask(&story, job_target(&story, jobs, "heartbeat"), NULL, 409, "JOB_GONE");
    end(&story);
}

static void a_job_that_fails_is_tried_again_as_the_step_says(struct table_world *world,
                                                             const struct table_sender *sender)
{
    struct story story = begin(world, sender);
    const pawl_value *first = claim(&story, ""), *other = claim(&story, "");
    (void)ask(&story, job_target(&story, first, "fail"), "{\"name\":\"CardDeclined\",\"message\":\"no \\\"money\\\"\"}",
              200, NULL);
    (void)ask(&story, job_target(&story, other, "fail"), "{\"name\":\"CardStolen\",\"retry\":false}", 200, NULL);
    run(&story);
    (void)get(&story, "/workflows/calls/instances/c-2/result", 200); /* for good */
    assert_said(&story, "\"error\":{\"name\":\"CardStolen\"");
    (void)get(&story, "/workflows/calls/instances/c-1/history", 200);
    assert_said(&story, "\"attempts\":1,\"maxAttempts\":2");
    assert_said(&story, "\"error\":{\"name\":\"CardDeclined\",\"message\":\"no \\\"money\\\"\"}");
    assert_int_equal(pawl_value_size(claim(&story, ""), NULL), 0); /* not before its delay */
    pass(&story, "1 minute");
    const pawl_value *second = claim(&story, "");
    assert_int_equal(pawl_value_int(second, "0.attempt", 0), 2);
    assert_string_not_equal(pawl_value_string(second, "0.id", ""), pawl_value_string(first, "0.id", ""));
    (void)ask(&story, job_target(&story, second, "fail"), "{\"name\":\"CardDeclined\",\"retry\":true}", 200, NULL);
    run(&story);
    (void)get(&story, "/workflows/calls/instances/c-1/result", 200);
    assert_said(&story, "\"status\":\"errored\"");
    end(&story);
}

static void a_job_whose_run_has_ended_is_gone(struct table_world *world, const struct table_sender *sender)
{
    struct story story = begin(world, sender);
    const pawl_value *jobs = claim(&story, "");
    (void)ask(&story, "/workflows/calls/instances/c-1/terminate", NULL, 200, NULL);
    (void)ask(&story, "/workflows/calls/instances/c-2/interrupt", NULL, 200, NULL);
    run(&story);
    (void)ask(&story, job_target(&story, jobs, "heartbeat"), NULL, 409, "JOB_GONE");
    (void)ask(&story, job_target(&story, jobs, "complete"), NULL, 409, "JOB_GONE");
    assert_int_equal(pawl_value_size(claim(&story, ",\"max\":100"), NULL), 0);
    end(&story);
}

static void the_payloads_of_work_have_their_limits(struct table_world *world, const struct table_sender *sender)
{
    enum { MIB = 1024 * 1024 };
    struct story story = begin(world, sender);
    char *large = pawl_scope_take(story.scope, MIB + 16);
    const pawl_value *jobs = claim(&story, "");
    memset(large, 'a', MIB + 15);
    memcpy(large, "{\"result\":\"", 11);
    memcpy(large + MIB + 12, "\"}", 3);
    (void)ask(&story, job_target(&story, jobs, "complete"), large, 413, "PAYLOAD_TOO_LARGE");
    (void)ask(&story, deferred(&story, "d-1", "succeed"), large, 413, "PAYLOAD_TOO_LARGE");
    (void)ask(&story, deferred(&story, "d-1", "fail"), "{\"name\":\"\"}", 400, "VALIDATION_FAILED");
    (void)ask(&story, job_target(&story, jobs, "fail"), "{\"name\":\"\"}", 400, "VALIDATION_FAILED");
    (void)ask(&story, job_target(&story, jobs, "complete"), "{\"result\":1}", 200, NULL); /* nothing was lost */
    (void)ask(&story, deferred(&story, "d-1", "succeed"), "{\"result\":1}", 200, NULL);
    end(&story);
}

static void who_answers_a_paused_run_is_told_so(struct table_world *world, const struct table_sender *sender)
{
    struct story story = begin(world, sender);
    const char *complete = job_target(&story, claim(&story, ""), "complete");
    const char *succeed = deferred(&story, "d-1", "succeed");
    (void)ask(&story, "/workflows/calls/instances/c-1/pause", "{}", 200, NULL);
    (void)ask(&story, "/workflows/defers/instances/d-1/pause", "{}", 200, NULL);
    (void)ask(&story, complete, "{}", 200, NULL);
    assert_string_equal(story.body, "{\"ok\":true,\"paused\":true}");
    (void)ask(&story, succeed, "{}", 200, NULL);
    assert_string_equal(story.body, "{\"ok\":true,\"paused\":true}");
    (void)ask(&story, "/workflows/defers/instances/d-1/resume", "{}", 200, NULL);
    (void)ask(&story, succeed, "{}", 200, NULL);
    assert_string_equal(story.body, "{\"ok\":true}");
    end(&story);
}

#define STORY(name)                                                                                                    \
    {                                                                                                                  \
#name, name                                                                                                    \
    }

const struct table_story table_stories[] = {
    STORY(every_result_arrives_as_it_was_sent),
    STORY(the_first_answer_to_a_deferred_counts),
    STORY(a_deferred_that_is_failed_fails_its_run),
    STORY(no_answer_shows_the_secret_of_a_deferred),
    STORY(a_token_that_is_nearly_right_is_wrong),
    STORY(a_worker_claims_keeps_and_completes_a_job),
    STORY(no_answer_shows_the_id_of_a_job_that_is_open),
    STORY(every_result_of_a_job_arrives_as_it_was_sent),
    STORY(a_job_whose_worker_died_goes_to_another),
    STORY(an_answer_after_the_lease_counts_while_nobody_else_has_the_job),
    STORY(nothing_counts_after_the_timeout_of_the_attempt),
    STORY(a_job_that_fails_is_tried_again_as_the_step_says),
    STORY(a_job_whose_run_has_ended_is_gone),
    STORY(the_payloads_of_work_have_their_limits),
    STORY(who_answers_a_paused_run_is_told_so),
};
const size_t table_story_count = sizeof table_stories / sizeof table_stories[0];
