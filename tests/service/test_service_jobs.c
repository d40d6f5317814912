/* Jobs for workers outside: claimed under a lease, kept by heartbeats, ended once (contract G1). */
#include "kit/service_world.h"

#include "kit/hooking.h"
#include "service/service.h"

#define ORDER(data) "{\"step\":\"charge it\",\"attempt\":2,\"timeoutMs\":60000" data "}"

static size_t claim_some(struct world *world, const char *const *functions, size_t count, int32_t max,
                         const struct pawl_job **out_jobs)
{
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    size_t found = 99;
    options.functions = functions;
    options.function_count = count;
    options.max = max;
    options.lease_ms = 10000;
    assert_int_equal(pawl_job_claim(world->engine, world->scope, &options, out_jobs, &found, &world->error), PAWL_OK);
    return found;
}

static size_t claim_charges(struct world *world, int32_t max, const struct pawl_job **out_jobs)
{
    static const char *const charge[] = { "charge" };
    return claim_some(world, charge, 1, max, out_jobs);
}

static struct pawl_job claim_one(struct world *world)
{
    const struct pawl_job *jobs;
    assert_int_equal(claim_charges(world, 1, &jobs), 1);
    return jobs[0];
}

/* "order" a, which waits for the end of job "@charge" `id`. */
static void open_job(struct world *world, const char *id, const char *params)
{
    char type[64];
    snprintf(type, sizeof type, "$@charge/%s", id);
    world_create(world, "a");
    world_make(world, "a", PW_RELATION_JOB, "@charge", id, params);
    world_wait(world, "a", 1, PAWL_STEP_CALL, type, INT64_MAX);
}

static pawl_status heartbeat(struct world *world, const char *token, int64_t *out_until_ms)
{
    return pawl_job_heartbeat(world->engine, token, 20000, out_until_ms, &world->error);
}

static pawl_status complete(struct world *world, const char *token, const char *result)
{
    return pawl_job_complete(world->engine, token, result, &world->error);
}

static pawl_status fail_it(struct world *world, const char *token, const char *name, bool may_retry)
{
    return pawl_job_fail(world->engine, token, name, "no", may_retry, &world->error);
}

/* ---- Claiming ------------------------------------------------------------------------------------------------------- */

TEST_OF(world, a_job_comes_with_all_that_its_worker_needs)
{
    open_job(world, "j", ORDER(",\"data\":{ \"n\" : 1.50, \"n\":[ ] }"));
    world->now_ms += 7;

    struct pawl_job job = claim_one(world);

    assert_string_equal(job.id, "j");
    assert_string_equal(job.function, "charge");
    assert_string_equal(job.data_json, "{ \"n\" : 1.50, \"n\":[ ] }");
    assert_string_equal(job.workflow, "order");
    assert_string_equal(job.instance_id, "a");
    assert_int_equal(job.run_number, 1);
    assert_string_equal(job.step, "charge it");
    assert_int_equal(job.attempt, 2);
    assert_int_equal(job.leased_until_ms, WORLD_START_MS + 7 + 10000);
    assert_int_equal(job.deadline_ms, WORLD_START_MS + 7 + 60000);
    assert_true(pw_owner_is_outside(world_row_of(world, "@charge", "j").task.owner));
}

TEST_OF(world, a_step_may_have_any_name_and_a_job_no_data_and_no_timeout)
{
    open_job(world, "j", "{\"step\":\"a \\\"b\\\" \\u00e9\",\"attempt\":1,\"timeoutMs\":0}");

    struct pawl_job job = claim_one(world);

    assert_string_equal(job.step, "a \"b\" \xc3\xa9");
    assert_null(job.data_json);
    assert_int_equal(job.deadline_ms, 0);
    assert_int_equal(job.leased_until_ms, WORLD_START_MS + 10000);
}

TEST_OF(world, a_claim_takes_the_oldest_jobs_of_the_functions_named_and_no_more_than_asked)
{
    static const char *const both[] = { "charge", "pay.out", "charge" };
    static const char *const neither[] = { "nobody" };
    const struct pawl_job *jobs;
    world_create(world, "a");
    world_make(world, "a", PW_RELATION_JOB, "@pay.out", "1", ORDER(""));
    world->now_ms++;
    world_make(world, "a", PW_RELATION_JOB, "@charge", "2", ORDER(""));
    world->now_ms++;
    world_make(world, "a", PW_RELATION_JOB, "@charge", "3", ORDER(""));

    assert_int_equal(claim_some(world, neither, 1, 5, &jobs), 0);
    assert_non_null(jobs);
    assert_int_equal(claim_some(world, both, 3, 2, &jobs), 2);
    assert_string_equal(jobs[0].id, "1");
    assert_string_equal(jobs[0].function, "pay.out");
    assert_string_equal(jobs[1].id, "2");
    assert_int_equal(claim_some(world, both, 3, 0, &jobs), 1);
    assert_string_equal(jobs[0].id, "3");
    assert_int_equal(claim_some(world, both, 3, 100, &jobs), 0);
}

/* How many are claimed at once until none is left; they come in their order. */
static void claim_all(struct world *world, const size_t *expected)
{
    static const char *const both[] = { "charge", "limited" };
    const struct pawl_job *jobs;
    int number = 0;
    for (size_t i = 0; expected[i] > 0; i++) {
        assert_int_equal(claim_some(world, both, 2, 100, &jobs), expected[i]);
        for (size_t at = 0; at < expected[i]; at++)
            assert_int_equal(strtol(jobs[at].id, NULL, 10), number++);
        assert_true(strlen(jobs[0].data_json) > 1000000);
    }
    assert_int_equal(claim_some(world, both, 2, 100, &jobs), 0);
}

/* Each has a megabyte: a page of 4 MiB ends behind the fifth. */
TEST_OF(world, a_claim_takes_no_more_jobs_than_a_page_holds_and_loses_none)
{
    enum { JOBS = 12, DATA = 1000000 };
    char *params = malloc(DATA + 128);
    assert_non_null(params);
    int head = snprintf(params, 128, "{\"step\":\"s\",\"attempt\":1,\"timeoutMs\":0,\"data\":\"");
    memset(params + head, 'x', DATA);
    memcpy(params + head + DATA, "\"}", 3);
    assert_int_equal(pawl_limit_function(world->engine, "limited", 3, &world->error), PAWL_OK);
    world_create(world, "a");
    for (int i = 0; i < JOBS; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        world_make(world, "a", PW_RELATION_JOB, i < 2 ? "@limited" : "@charge", id, params);
        world->now_ms++;
    }

    claim_all(world, (const size_t[]){ 5, 5, 2, 0 });
    world->now_ms += 60000; /* nobody has kept them: what is claimed again counts the same */
    claim_all(world, (const size_t[]){ 5, 5, 2, 0 });
    free(params);
}

TEST_OF(world, a_limited_function_has_no_more_jobs_under_way_than_its_limit)
{
    static const char *const both[] = { "free", "charge" };
    const struct pawl_job *jobs;
    assert_int_equal(pawl_limit_function(world->engine, "charge", 2, &world->error), PAWL_OK);
    world_create(world, "a");
    for (int i = 0; i < 4; i++) {
        char id[4];
        snprintf(id, sizeof id, "c%d", i % 10);
        world_make(world, "a", PW_RELATION_JOB, "@charge", id, ORDER(""));
        id[0] = 'f';
        world_make(world, "a", PW_RELATION_JOB, "@free", id, ORDER(""));
    }

    assert_int_equal(claim_some(world, both, 2, 3, &jobs), 3);
    assert_string_equal(jobs[0].id, "c0");
    assert_string_equal(jobs[1].id, "c1");
    assert_string_equal(jobs[2].id, "f0");
    const char *token = jobs[0].token;
    assert_int_equal(claim_charges(world, 5, &jobs), 0);
    assert_int_equal(claim_some(world, both, 2, 100, &jobs), 3);

    assert_int_equal(complete(world, token, NULL), PAWL_OK);
    assert_int_equal(claim_charges(world, 5, &jobs), 1);
    assert_string_equal(jobs[0].id, "c2");
    world->now_ms += 10000; /* all leases are over: two may be taken again */
    assert_int_equal(claim_charges(world, 5, &jobs), 2);
}

TEST_OF(world, a_limit_is_set_for_functions_before_a_runner_starts)
{
    const struct pawl_job *jobs;
    open_job(world, "j", ORDER(""));
    assert_refused(world, pawl_limit_function(world->engine, ".x", 1, &world->error), PAWL_INVALID_FUNCTION_NAME, NULL);
    assert_refused(world, pawl_limit_function(world->engine, "charge", -1, &world->error), PAWL_INVALID, NULL);
    assert_int_equal(pawl_limit_function(NULL, "charge", 1, NULL), PAWL_INVALID);
    assert_int_equal(pawl_limit_function(world->engine, "charge", 1, &world->error), PAWL_OK);
    assert_int_equal(pawl_limit_function(world->engine, "charge", 0, &world->error), PAWL_OK);
    world->engine->sealed = true;
    assert_refused(world, pawl_limit_function(world->engine, "charge", 1, &world->error), PAWL_INVALID, "\"charge\"",
                   "before", NULL);
    assert_int_equal(claim_charges(world, 1, &jobs), 1);
}

TEST_OF(world, wrong_claims_are_refused)
{
    static const char *const names[65] = { "charge", "-x" };
    static const struct {
        const char *const *functions;
        size_t count;
        int32_t max;
        int64_t lease_ms;
        pawl_status status;
        const char *word;
    } wrong[] = {
        { names, 0, 1, 0, PAWL_INVALID, "functions" },
        { names, 65, 1, 0, PAWL_INVALID, "64" },
        { NULL, 1, 1, 0, PAWL_INVALID, "functions" },
        { names, 2, 1, 0, PAWL_INVALID_FUNCTION_NAME, "-x" },
        { names + 2, 1, 1, 0, PAWL_INVALID_FUNCTION_NAME, "function name" },
        { names, 1, 101, 0, PAWL_INVALID, "100" },
        { names, 1, -1, 0, PAWL_INVALID, "max" },
        { names, 1, 1, 999, PAWL_INVALID, "lease" },
        { names, 1, 1, 3600001, PAWL_INVALID, "lease" },
        { names, 1, 1, -1, PAWL_INVALID, "lease" },
    };
    const struct pawl_job *jobs;
    size_t count;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct pawl_claim_options options = { sizeof options, wrong[i].functions, wrong[i].count, wrong[i].max,
                                              wrong[i].lease_ms };
        assert_refused(world, pawl_job_claim(world->engine, world->scope, &options, &jobs, &count, &world->error),
                       wrong[i].status, wrong[i].word, NULL);
    }
    struct pawl_claim_options fine = { sizeof fine, names, 1, 1, 0 };
    assert_refused(world, pawl_job_claim(world->engine, NULL, &fine, &jobs, &count, &world->error), PAWL_INVALID,
                   "scope", NULL);
    assert_refused(world, pawl_job_claim(world->engine, world->scope, &fine, NULL, &count, &world->error), PAWL_INVALID,
                   "out_jobs", NULL);
    assert_refused(world, pawl_job_claim(world->engine, world->scope, &fine, &jobs, NULL, &world->error), PAWL_INVALID,
                   "out_count", NULL);
    assert_int_equal(pawl_job_claim(NULL, world->scope, &fine, &jobs, &count, NULL), PAWL_INVALID);
}

/* ---- Leases ----------------------------------------------------------------------------------------------------------- */

TEST_OF(world, a_job_whose_lease_has_expired_goes_to_another_worker_and_the_first_one_is_told)
{
    open_job(world, "j", ORDER(""));
    struct pawl_job first = claim_one(world);
    world->now_ms += 10000;

    struct pawl_job second = claim_one(world);

    assert_string_equal(second.id, "j");
    assert_string_not_equal(second.token, first.token);
    assert_int_equal(second.deadline_ms, first.deadline_ms); /* counts from the first claim */
    assert_refused(world, heartbeat(world, first.token, NULL), PAWL_JOB_GONE, NULL);
    assert_refused(world, complete(world, first.token, "1"), PAWL_JOB_GONE, NULL);
    assert_refused(world, fail_it(world, first.token, "No", true), PAWL_JOB_GONE, NULL);
    assert_int_equal(world_history(world, "a", 0).event_count, 0);
    assert_int_equal(complete(world, second.token, "2"), PAWL_OK);
}

TEST_OF(world, a_heartbeat_keeps_the_job)
{
    const struct pawl_job *jobs;
    int64_t until_ms = 0;
    open_job(world, "j", ORDER(""));
    struct pawl_job job = claim_one(world);
    world->now_ms += 9000;

    assert_int_equal(heartbeat(world, job.token, &until_ms), PAWL_OK);

    assert_int_equal(until_ms, WORLD_START_MS + 29000);
    assert_int_equal(world_row_of(world, "@charge", "j").task.locked_until_ms, until_ms);
    world->now_ms += 19999;
    assert_int_equal(claim_charges(world, 1, &jobs), 0);
    world->now_ms++;
    assert_int_equal(heartbeat(world, job.token, NULL), PAWL_OK); /* nobody else took it */
    assert_int_equal(claim_charges(world, 1, &jobs), 0);
    assert_int_equal(complete(world, job.token, "1"), PAWL_OK);
}

TEST_OF(world, a_lease_ends_with_the_time_of_the_attempt)
{
    const struct pawl_job *jobs;
    int64_t until_ms = 0;
    open_job(world, "j", "{\"step\":\"s\",\"attempt\":1,\"timeoutMs\":15000}");
    struct pawl_job job = claim_one(world);
    world->now_ms += 9000;

    assert_int_equal(heartbeat(world, job.token, &until_ms), PAWL_OK);
    assert_int_equal(until_ms, WORLD_START_MS + 15000);
    world->now_ms = until_ms;
    assert_refused(world, heartbeat(world, job.token, &until_ms), PAWL_JOB_GONE, NULL);
    assert_refused(world, complete(world, job.token, "1"), PAWL_JOB_GONE, NULL);
    assert_int_equal(claim_charges(world, 1, &jobs), 0); /* its run will end it */
    assert_int_equal(world_history(world, "a", 0).event_count, 0);
}

TEST_OF(world, a_wrong_heartbeat_is_refused)
{
    open_job(world, "j", ORDER(""));
    struct pawl_job job = claim_one(world);

    assert_refused(world, pawl_job_heartbeat(world->engine, job.token, 1, NULL, &world->error), PAWL_INVALID, "lease",
                   NULL);
    assert_refused(world, pawl_job_heartbeat(world->engine, NULL, 0, NULL, &world->error), PAWL_INVALID, "token", NULL);
    assert_int_equal(pawl_job_heartbeat(NULL, job.token, 0, NULL, NULL), PAWL_INVALID);
    assert_int_equal(pawl_job_heartbeat(world->engine, job.token, 0, NULL, &world->error), PAWL_OK);
    assert_int_equal(world_row_of(world, "@charge", "j").task.locked_until_ms, WORLD_START_MS + 30000);
}

/* ---- Ends ------------------------------------------------------------------------------------------------------------- */

TEST_OF(world, a_result_ends_the_job_and_wakes_the_run_that_waits)
{
    open_job(world, "j", ORDER(""));
    struct pawl_job job = claim_one(world);
    world_start_local(world, 0);

    assert_int_equal(complete(world, job.token, "{ \"ok\" : true }"), PAWL_OK);

    struct pawl_history history = world_history(world, "a", 0);
    assert_int_equal(history.event_count, 1);
    assert_string_equal(history.events[0].type, "$@charge/j");
    assert_string_equal(history.events[0].payload_json, "{ \"ok\" : true }");
    assert_string_equal(history.steps[0].waits_for->function, "charge");
    assert_string_equal(history.steps[0].waits_for->id, "j");
    assert_null(history.steps[0].waits_for->workflow);
    assert_int_equal(world_row_of(world, "@charge", "j").outcome, PW_OUTCOME_COMPLETE);
    assert_int_equal(world->woken, 1);
    assert_int_equal(world_claim(world).kind, PW_TASK_WAKE);
    assert_refused(world, complete(world, job.token, "1"), PAWL_JOB_GONE, NULL);
    assert_refused(world, heartbeat(world, job.token, NULL), PAWL_JOB_GONE, NULL);
}

TEST_OF(world, a_failure_says_whether_to_try_again)
{
    world_create(world, "a");
    world_make(world, "a", PW_RELATION_JOB, "@charge", "1", ORDER(""));
    world_make(world, "a", PW_RELATION_JOB, "@charge", "2", ORDER(""));

    assert_int_equal(fail_it(world, claim_one(world).token, "Down", true), PAWL_OK);
    assert_int_equal(pawl_job_fail(world->engine, claim_one(world).token, "Refused", NULL, false, &world->error),
                     PAWL_OK);

    struct pawl_history history = world_history(world, "a", 0);
    assert_string_equal(history.events[0].type, "$@charge/1");
    assert_true(history.events[0].is_failure);
    assert_string_equal(history.events[0].payload_json, "{\"name\":\"Down\",\"message\":\"no\",\"retry\":true}");
    assert_string_equal(history.events[1].payload_json, "{\"name\":\"Refused\",\"message\":\"\",\"retry\":false}");
    assert_int_equal(world_row_of(world, "@charge", "1").outcome, PW_OUTCOME_ERRORED);
}

TEST_OF(world, what_a_worker_says_is_checked)
{
    open_job(world, "j", ORDER(""));
    struct pawl_job job = claim_one(world);
    static char large[1100000];
    memset(large, '1', sizeof large - 1);

    assert_refused(world, complete(world, job.token, "{"), PAWL_INVALID_JSON, "result", NULL);
    assert_refused(world, complete(world, job.token, large), PAWL_PAYLOAD_TOO_LARGE, NULL);
    assert_refused(world, fail_it(world, job.token, "", true), PAWL_INVALID, "name", NULL);
    assert_refused(world, fail_it(world, job.token, NULL, true), PAWL_INVALID, "name", NULL);
    assert_refused(world, complete(world, NULL, "1"), PAWL_INVALID, "token", NULL);
    assert_int_equal(pawl_job_complete(NULL, job.token, "1", NULL), PAWL_INVALID);
    assert_int_equal(complete(world, job.token, NULL), PAWL_OK);
}

TEST_OF(world, a_job_that_its_run_has_ended_is_gone)
{
    open_job(world, "j", ORDER(""));
    struct pawl_job job = claim_one(world);
    assert_int_equal(pawl_terminate(world->engine, "order", "a", &world->error), PAWL_OK);

    assert_refused(world, heartbeat(world, job.token, NULL), PAWL_JOB_GONE, NULL);
    assert_refused(world, complete(world, job.token, "1"), PAWL_JOB_GONE, NULL);
}

/* The fourth part of a token. */
static void secret_of(const struct pawl_job *job, char out_secret[32])
{
    const char *at = job->token;
    for (int i = 0; i < 3; i++)
        at = strchr(at, '.') + 1;
    snprintf(out_secret, 32, "%.*s", (int)strcspn(at, "."), at);
    assert_int_equal(strlen(out_secret), 16);
}

TEST_OF(world, a_token_that_is_none_is_refused)
{
    char wrong[14][128];
    open_job(world, "j", ORDER(""));
    struct pawl_job job = claim_one(world);
    struct pw_instance row = world_row_of(world, "@charge", "j"), parent = world_row(world, "a");
    long long key = (long long)row.key, epoch = (long long)row.task.epoch;
    char secret[32];
    secret_of(&job, secret);
    snprintf(wrong[0], sizeof wrong[0], "%s", "");
    snprintf(wrong[1], sizeof wrong[1], "%s", "x");
    snprintf(wrong[2], sizeof wrong[2], "%lld.1.%lld", key, epoch);
    snprintf(wrong[3], sizeof wrong[3], "%lld.1.%lld.%s.k", key, epoch, secret);
    snprintf(wrong[4], sizeof wrong[4], "%lld.1.%lld.%s.jj", key, epoch, secret);
    snprintf(wrong[5], sizeof wrong[5], "%lld.1.%lld.%s.a", (long long)parent.key, (long long)parent.task.epoch,
             secret);
    snprintf(wrong[6], sizeof wrong[6], "%lld.1.%lld.%s.j", key + 1000, epoch, secret);
    snprintf(wrong[7], sizeof wrong[7], "0.1.%lld.%s.j", epoch, secret);
    snprintf(wrong[8], sizeof wrong[8], "-%lld.1.%lld.%s.j", key, epoch, secret);
    snprintf(wrong[9], sizeof wrong[9], "%lld.1.%lld.%s", key, epoch, secret);
    snprintf(wrong[10], sizeof wrong[10], "%lld.1.%lld.j", key, epoch);
    snprintf(wrong[11], sizeof wrong[11], "%lld.1.%lld..j", key, epoch);
    snprintf(wrong[12], sizeof wrong[12], "%lld.1.%lld.%s0.j", key, epoch, secret);
    secret[0] = secret[0] == '0' ? '1' : '0';
    snprintf(wrong[13], sizeof wrong[13], "%lld.1.%lld.%s.j", key, epoch, secret);

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_refused(world, complete(world, wrong[i], "1"), PAWL_INVALID_TOKEN, NULL);
    secret_of(&job, secret);
    snprintf(wrong[0], sizeof wrong[0], "%lld.1.%lld.%s.j", key, epoch + 1, secret);
    assert_refused(world, complete(world, wrong[0], "1"), PAWL_JOB_GONE, NULL);
    snprintf(wrong[0], sizeof wrong[0], "%lld.1.%lld.%s.j", key, epoch, secret);
    assert_string_equal(wrong[0], job.token);
}

/* All that the first holder knows, and the number that the next claim has raised. */
TEST_OF(world, a_token_cannot_be_turned_into_the_next_holders)
{
    char first_secret[32], second_secret[32], forged[128];
    open_job(world, "j", ORDER(""));
    struct pawl_job first = claim_one(world);
    world->now_ms += 10000;
    struct pawl_job second = claim_one(world);
    struct pw_instance row = world_row_of(world, "@charge", "j");
    secret_of(&first, first_secret);
    secret_of(&second, second_secret);
    assert_string_not_equal(first_secret, second_secret);

    snprintf(forged, sizeof forged, "%lld.1.%lld.%s.j", (long long)row.key, (long long)row.task.epoch, first_secret);
    assert_refused(world, heartbeat(world, forged, NULL), PAWL_INVALID_TOKEN, NULL);
    assert_refused(world, complete(world, forged, "1"), PAWL_INVALID_TOKEN, NULL);
    assert_refused(world, fail_it(world, forged, "No", true), PAWL_INVALID_TOKEN, NULL);

    assert_int_equal(heartbeat(world, second.token, NULL), PAWL_OK);
    assert_int_equal(complete(world, second.token, "2"), PAWL_OK);
}

/* ---- Functions -------------------------------------------------------------------------------------------------------- */

TEST_OF(world, a_function_is_no_workflow_that_anybody_can_name)
{
    struct pawl_definition charge = { .struct_size = sizeof charge, .name = "charge", .is_function = true };
    const struct pawl_workflow_info *workflows;
    struct pawl_instance instance;
    size_t count;
    assert_int_equal(pawl_define(world->engine, &charge, &world->error), PAWL_OK);
    open_job(world, "j", ORDER(""));

    assert_refused(world, pawl_define(world->engine, &charge, &world->error), PAWL_DUPLICATE_WORKFLOW, "function",
                   "\"charge\"", NULL);
    charge.is_function = false;
    assert_int_equal(pawl_define(world->engine, &charge, &world->error), PAWL_OK);
    assert_int_equal(pawl_list_workflows(world->engine, world->scope, &workflows, &count), PAWL_OK);
    assert_int_equal(count, 3);
    assert_string_equal(workflows[0].name, "charge");
    assert_refused(world, pawl_get(world->engine, world->scope, "@charge", "j", &instance, &world->error),
                   PAWL_WORKFLOW_NOT_FOUND, NULL);
    assert_refused(world, pawl_create(world->engine, world->scope, "@charge", NULL, &instance, &world->error),
                   PAWL_WORKFLOW_NOT_FOUND, NULL);
    assert_refused(world, pawl_terminate(world->engine, "@charge", "j", &world->error), PAWL_WORKFLOW_NOT_FOUND, NULL);
}

TEST_OF(world, a_function_has_a_name_of_its_own_kind)
{
    static const char *const wrong[] = {
        "", ".a", "-a", "@a", "a b", "a/b", "0123456789012345678901234567890123456789012345678901234567890123", NULL
    };
    static const char *const fine[] = { "a", "_a", "a.b-c_D", "9",
                                        "012345678901234567890123456789012345678901234567890123456789012" };
    struct pawl_definition function = { .struct_size = sizeof function, .is_function = true };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        function.name = wrong[i];
        assert_refused(world, pawl_define(world->engine, &function, &world->error), PAWL_INVALID_FUNCTION_NAME,
                       "function name", NULL);
    }
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        function.name = fine[i];
        assert_int_equal(pawl_define(world->engine, &function, &world->error), PAWL_OK);
    }
}

/* ---- Being told ------------------------------------------------------------------------------------------------------- */

static void count_due(void *user)
{
    ++*(int *)user;
}

TEST_OF(world, who_waits_for_jobs_is_told_when_one_may_be_claimed)
{
    pawl_job_watch *watch, *other;
    int due = 0, others = 0;
    assert_int_equal(pawl_job_watch_open(world->engine, count_due, &due, &watch, &world->error), PAWL_OK);
    assert_int_equal(pawl_job_watch_open(world->engine, count_due, &others, &other, &world->error), PAWL_OK);

    world_create(world, "a");
    assert_int_equal(due, 0);
    world_make(world, "a", PW_RELATION_JOB, "@charge", "1", ORDER(""));
    assert_int_equal(due, 1);
    world_make(world, "a", PW_RELATION_JOB, "@charge", "2", ORDER(""));
    assert_int_equal(due, 2);
    const char *token = claim_one(world).token;
    assert_int_equal(due, 2);
    assert_int_equal(complete(world, token, "1"), PAWL_OK); /* there is room for another */
    assert_int_equal(due, 3);

    pawl_job_watch_close(watch);
    pawl_job_watch_close(NULL);
    assert_int_equal(pawl_terminate(world->engine, "order", "a", &world->error), PAWL_OK);
    assert_int_equal(due, 3);
    assert_int_equal(others, 4);
    pawl_job_watch_close(other);
    assert_refused(world, pawl_job_watch_open(world->engine, NULL, NULL, &watch, &world->error), PAWL_INVALID, NULL);
}

TEST_OF(world, a_local_runner_is_woken_for_a_job)
{
    world_create(world, "a");
    world_start_local(world, 0);

    world_make(world, "a", PW_RELATION_JOB, "@charge", "1", ORDER(""));

    assert_int_equal(world->woken, 1);
}

/* Hooks (C7) hear of runs; what they hear of a job is the run that it wakes. */
TEST_OF(world, hooks_hear_of_the_run_that_a_job_wakes_and_not_of_the_job)
{
    struct pawl_hook hook = hooking_hook("all", NULL);
    world_create(world, "a");
    assert_int_equal(pawl_hook_register(world->engine, &hook, &world->error), PAWL_OK);
    world_make(world, "a", PW_RELATION_JOB, "@charge", "1", ORDER(""));
    world_make(world, "a", PW_RELATION_JOB, "@charge", "2", ORDER(""));
    world_make(world, "a", PW_RELATION_ATTACHED, "order", "child", NULL);
    assert_string_equal(hooking_recorded(world->engine, NULL), "child/1 create");
    world_wait(world, "a", 1, PAWL_STEP_CALL, "$@charge/1", WORLD_START_MS + 1000);

    assert_int_equal(complete(world, claim_one(world).token, "1"), PAWL_OK);
    assert_string_equal(hooking_recorded(world->engine, NULL), "child/1 create, a/1 event");
    assert_int_equal(complete(world, claim_one(world).token, "1"), PAWL_OK); /* the run is due already */
    assert_string_equal(hooking_recorded(world->engine, NULL), "child/1 create, a/1 event");
    assert_int_equal(pawl_terminate(world->engine, "order", "child", &world->error), PAWL_OK);
    assert_string_equal(hooking_recorded(world->engine, NULL),
                        "child/1 create, a/1 event, child/1 finished terminated");
}

/* ---- Without waiting -------------------------------------------------------------------------------------------------- */

TEST_OF(world, a_worker_needs_no_call_that_waits)
{
    static const char *const names[] = { "charge", "free" };
    struct pawl_claim_options options = { sizeof options, names, 2, 5, 0 };
    const struct pawl_outcome outcome = { .result_json = "1" };
    const struct pawl_job *jobs = NULL;
    size_t count = 0;
    int64_t until_ms = 0;
    pawl_status status = PAWL_BUSY;
    assert_int_equal(pawl_limit_function(world->engine, "charge", 1, &world->error), PAWL_OK);
    open_job(world, "j", ORDER(""));
    world_make(world, "a", PW_RELATION_JOB, "@charge", "k", ORDER(""));
    world_make(world, "a", PW_RELATION_JOB, "@free", "l", ORDER(""));

    pawl_job_claim_async(world->engine, world->scope, &options, &jobs, &count, &world->error, world_take_status,
                         &status);
    assert_int_equal(status, PAWL_OK);
    assert_int_equal(count, 2);
    assert_string_equal(jobs[0].id, "j");
    assert_string_equal(jobs[1].id, "l");
    pawl_job_heartbeat_async(world->engine, jobs[0].token, 5000, &until_ms, &world->error, world_take_status, &status);
    assert_int_equal(status, PAWL_OK);
    assert_int_equal(until_ms, WORLD_START_MS + 5000);
    pawl_job_settle_async(world->engine, jobs[0].token, &outcome, /* out_is_paused= */ NULL, &world->error,
                          world_take_status, &status);
    assert_int_equal(status, PAWL_OK);
    assert_int_equal(world_history(world, "a", 0).event_count, 1);

    pawl_job_settle_async(world->engine, jobs[0].token, &outcome, /* out_is_paused= */ NULL, &world->error,
                          world_take_status, &status);
    assert_refused(world, status, PAWL_JOB_GONE, NULL);
    pawl_job_heartbeat_async(world->engine, "x", 5000, &until_ms, &world->error, world_take_status, &status);
    assert_refused(world, status, PAWL_INVALID_TOKEN, NULL);
    options.function_count = 0;
    pawl_job_claim_async(world->engine, world->scope, &options, &jobs, &count, &world->error, world_take_status,
                         &status);
    assert_refused(world, status, PAWL_INVALID, "functions", NULL);
}

/* ---- Who has it ------------------------------------------------------------------------------------------------------ */

static struct pawl_step_job shown_job(struct world *world)
{
    struct pawl_instance instance;
    assert_int_equal(pawl_get(world->engine, world->scope, "order", "a", &instance, &world->error), PAWL_OK);
    assert_non_null(instance.current_step);
    assert_non_null(instance.current_step->job);
    const struct pawl_step_job *listed = world_history(world, "a", 0).steps[0].job; /* says the same */
    assert_non_null(listed);
    assert_string_equal(listed->function, instance.current_step->job->function);
    assert_int_equal(listed->taken_at_ms, instance.current_step->job->taken_at_ms);
    return *instance.current_step->job;
}

TEST_OF(world, a_call_that_waits_says_who_has_its_job_and_since_when)
{
    open_job(world, "j", ORDER(""));
    struct pawl_step_job job = shown_job(world);
    assert_string_equal(job.function, "charge");
    assert_false(job.is_taken);
    assert_int_equal(job.taken_at_ms, 0);

    world->now_ms += 1000;
    struct pawl_job claimed = claim_one(world);
    world->now_ms += 1000;
    assert_int_equal(pawl_job_heartbeat(world->engine, claimed.token, 30000, NULL, &world->error), PAWL_OK);
    job = shown_job(world);
    assert_true(job.is_taken && job.is_outside);
    assert_int_equal(job.taken_at_ms, WORLD_START_MS + 1000);

    world->now_ms += 30000; /* it died: the job is queued again */
    job = shown_job(world);
    assert_false(job.is_taken || job.is_outside);
    assert_int_equal(job.taken_at_ms, 0);

    assert_int_equal(pawl_job_complete(world->engine, claimed.token, "1", &world->error), PAWL_OK);
    assert_null(world_history(world, "a", 0).steps[0].job); /* and it ended */
}

static void never_advance(pawl_turn *turn, void *user)
{
    (void)turn, (void)user;
}

TEST_OF(world, the_run_that_a_jobs_end_wakes_is_handed_to_a_local_runner_that_has_room)
{
    pw_engine_find(world->engine, pw_text_of("order"))->advance = never_advance; /* runners carry it on */
    open_job(world, "j", ORDER(""));
    struct pawl_job job = claim_one(world);
    world_start_local(world, 1);

    assert_int_equal(complete(world, job.token, "1"), PAWL_OK);

    assert_int_equal(world->delivered_count, 1);
    assert_true(world_row(world, "a").task.processing);
    assert_int_equal(world_row(world, "a").task.owner, WORLD_OWNER);
    assert_int_equal(complete(world, job.token, "1"), PAWL_JOB_GONE); /* and the place is given back */
    assert_int_equal(world->reserved, (int)world->delivered_count + world->cancelled);
}

TEST_OF(world, who_ends_a_job_is_told_when_its_run_is_paused)
{
    const struct pawl_outcome outcome = { .result_json = "1" };
    pawl_status status = PAWL_BUSY;
    bool is_paused = true;
    open_job(world, "j", ORDER(""));
    world_make(world, "a", PW_RELATION_JOB, "@charge", "k", ORDER(""));
    struct pawl_job first = claim_one(world), second = claim_one(world);
    pawl_job_settle_async(world->engine, first.token, &outcome, &is_paused, &world->error, world_take_status, &status);
    assert_int_equal(status, PAWL_OK);
    assert_false(is_paused);
    assert_int_equal(pawl_pause(world->engine, "order", "a", &world->error), PAWL_OK);
    pawl_job_settle_async(world->engine, second.token, &outcome, &is_paused, &world->error, world_take_status, &status);
    assert_int_equal(status, PAWL_OK);
    assert_true(is_paused);
}
