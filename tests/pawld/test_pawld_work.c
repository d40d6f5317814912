/* test_pawld_work.c - pawld as a worker, and for workers (contract G1, G4): functions in one process, workflows in another, on
 * one database; jobs over HTTP; limits; tokens with scopes and permissions. */
#include "kit.h"

#define INSTANCES "/workflows/calls/instances"

static void call(struct kit *kit, const struct pawld *pawld, const char *id, const char *function, const char *data)
{
    create(kit, pawld, "calls", id,
           pawl_scope_format(kit->scope, "{\"function\": \"%s\", \"data\": %s}", function, data));
}

static struct answer result_of(struct kit *kit, const struct pawld *pawld, const char *id)
{
    const char *url = pawl_scope_format(kit->scope, INSTANCES "/%s/result?waitMs=20000", id);
    return ask(kit, pawld, "GET", url, NULL, NULL);
}

static const char *text_of(const struct answer *answer, const char *path)
{
    return pawl_value_string(answer->value, path, "");
}

/* ---- Workers in processes ------------------------------------------------------------------------------------------- */

TEST_OF(kit, G1_a_worker_in_one_process_carries_out_what_a_workflow_in_another_calls)
{
    struct pawld *flows = PAWLD_SERVE(kit, CALLS);
    struct pawld *worker = PAWLD_SERVE(kit, "--worker", FUNCTIONS);

    assert_non_null(strstr(worker->errors, "0 workflows, worker of " FUNCTIONS));
    struct answer listed = ask(kit, worker, "GET", "/workflows", NULL, NULL);
    assert_string_equal(listed.body, "{\"workflows\":[]}"); /* the module's own is not registered */
    call(kit, flows, "a", "double", "21");
    struct answer result = result_of(kit, flows, "a");
    assert_int_equal(result.status, 200);
    assert_int_equal(pawl_value_int(result.value, "details.output", 0), 42);

    /* Without the worker nobody does it; with the next one it is done. */
    pawld_kill(worker, SIGTERM);
    assert_int_equal(pawld_await_end(worker), 0);
    call(kit, flows, "b", "double", "4");
    await_status(kit, flows, "calls", "b", "waiting");
    worker = PAWLD_SERVE(kit, "--worker", FUNCTIONS);
    result = result_of(kit, flows, "b");
    assert_int_equal(pawl_value_int(result.value, "details.output", 0), 8);
    pawld_kill(worker, SIGTERM);
    assert_int_equal(pawld_await_end(worker), 0);
}

TEST_OF(kit, a_module_with_functions_is_a_worker_of_its_own)
{
    struct pawld *pawld = PAWLD_SERVE(kit, CALLS, FUNCTIONS);
    assert_non_null(strstr(pawld->errors, "4 workflows (calls, defers, guarded, unwanted)"));
    call(kit, pawld, "a", "double", "3");
    struct answer result = result_of(kit, pawld, "a");
    assert_int_equal(pawl_value_int(result.value, "details.output", 0), 6);
}

TEST_OF(kit, a_worker_that_cannot_be_loaded_is_told_in_one_line)
{
    static const struct {
        const char *module, *wanted;
    } cases[] = { { "nowhere.so", "module nowhere.so: No such file or directory" },
                  { GATES, "module_gates.so: " },
                  { OLD, "module_old.so: " } };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct pawld *pawld;
        assert_int_equal(PAWLD_RUN(kit, &pawld, "--listen", "127.0.0.1:0", "--worker", cases[i].module), 1);
        assert_one_line(pawld, cases[i].wanted);
        pawld_forget(kit);
    }
    struct pawld *pawld;
    write_file("c.json", "{\"functions\": {\"-a\": {\"concurrency\": 1}}}");
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--listen", "127.0.0.1:0", "--config", "c.json", CALLS), 2);
    assert_one_line(pawld, "functions: ");
}

/* ---- Limits --------------------------------------------------------------------------------------------------------- */

TEST_OF(kit, no_more_calls_of_a_function_run_at_once_than_the_file_says)
{
    write_file("c.json",
               pawl_scope_format(kit->scope,
                                 "{\"workerModules\": [\"%s\"], \"functions\": {\"stand\": {\"concurrency\": 1},"
                                 " \"other\": {\"concurrency\": 7}, \"none\": {}}}",
                                 FUNCTIONS));
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "c.json", CALLS);
    call(kit, pawld, "a", "stand", "\"gate-a\"");
    await_lines("gate-a.log", "begun", 1);
    call(kit, pawld, "b", "stand", "\"gate-b\"");
    call(kit, pawld, "c", "double", "1"); /* others go on meanwhile */
    assert_int_equal(result_of(kit, pawld, "c").status, 200);
    await_status(kit, pawld, "calls", "b", "waiting");
    assert_int_equal(count_lines("gate-b.log", "begun"), 0);
    write_file("gate-b", "");
    write_file("gate-a", "");
    assert_int_equal(result_of(kit, pawld, "a").status, 200);
    assert_int_equal(result_of(kit, pawld, "b").status, 200);
}

TEST_OF(kit, the_limit_holds_for_workers_outside_too)
{
    static const char claim[] = "{\"functions\": [\"outside\"], \"max\": 10}";
    write_file("c.json", "{\"functions\": {\"outside\": {\"concurrency\": 2}}}");
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "c.json", CALLS);
    for (int i = 0; i < 5; i++) {
        call(kit, pawld, pawl_scope_format(kit->scope, "o%d", i), "outside", "1");
        await_status(kit, pawld, "calls", pawl_scope_format(kit->scope, "o%d", i), "waiting");
    }
    struct answer jobs = ask(kit, pawld, "POST", "/jobs/claim", claim, NULL);
    assert_int_equal(pawl_value_size(jobs.value, "jobs"), 2);
    assert_int_equal(pawl_value_size(ask(kit, pawld, "POST", "/jobs/claim", claim, NULL).value, "jobs"), 0);
    const char *complete = pawl_scope_format(kit->scope, "/jobs/%s/complete", text_of(&jobs, "jobs.0.token"));
    assert_int_equal(ask(kit, pawld, "POST", complete, "{}", NULL).status, 200);
    assert_int_equal(pawl_value_size(ask(kit, pawld, "POST", "/jobs/claim", claim, NULL).value, "jobs"), 1);
}

/* ---- Workers over HTTP ------------------------------------------------------------------------------------------------ */

/* The job was made in the one process, and is claimed in the other, which is not told and looks for it. */
TEST_OF(kit, a_claim_finds_the_jobs_of_other_processes)
{
    static const char claim[] = "{\"functions\": [\"outside\"], \"waitMs\": 20000, \"leaseMs\": 1000}";
    struct pawld *flows = PAWLD_SERVE(kit, CALLS), *other = PAWLD_SERVE(kit, "--workers", "0", GATES);
    call(kit, flows, "a", "outside", "{\"n\":  1}");
    struct answer first = ask(kit, other, "POST", "/jobs/claim", claim, NULL);
    assert_int_equal(first.status, 200);
    assert_non_null(strstr(first.body, "\"data\":{\"n\":")); /* as the workflow gave it */
    assert_string_equal(text_of(&first, "jobs.0.instanceId"), "a");

    /* That worker dies.  When its lease is over the next one gets the job, and it alone is heard. */
    struct answer second = ask(kit, flows, "POST", "/jobs/claim", claim, NULL);
    assert_string_equal(text_of(&second, "jobs.0.id"), text_of(&first, "jobs.0.id"));
    const char *late = pawl_scope_format(kit->scope, "/jobs/%s/complete", text_of(&first, "jobs.0.token"));
    const char *right = pawl_scope_format(kit->scope, "/jobs/%s/complete", text_of(&second, "jobs.0.token"));
    assert_int_equal(ask(kit, flows, "POST", late, "{\"result\": \"late\"}", NULL).status, 409);
    assert_int_equal(ask(kit, other, "POST", right, "{\"result\": \"right\"}", NULL).status, 200);
    assert_int_equal(ask(kit, other, "POST", right, "{\"result\": \"right\"}", NULL).status, 409);
    struct answer result = result_of(kit, flows, "a");
    assert_string_equal(text_of(&result, "details.output"), "right");
}

/* ---- Who may ---------------------------------------------------------------------------------------------------------- */

static const char *make_token(struct kit *kit, const char *scopes, const char *permissions)
{
    struct pawld *maker;
    const char *const with[] = { "token", "new", "--scope", scopes, "--permission", permissions, "--permission=audit",
                                 NULL };
    const char *const without[] = { "token", "new", "--scope", scopes, NULL };
    assert_int_equal(pawld_run(kit, permissions != NULL ? with : without, &maker), 0);
    const char *at = strstr(maker->errors, "pawl_");
    assert_non_null(at);
    FILE *file = fopen("tokens", "ae");
    assert_non_null(file);
    assert_true(fputs(maker->output, file) >= 0);
    assert_int_equal(fclose(file), 0);
    const char *token = pawl_scope_format(kit->scope, "%.*s", (int)strcspn(at, "\n"), at);
    pawld_forget(kit);
    return token;
}

TEST_OF(kit, D2_jobs_need_the_scope_work_and_deferreds_only_their_token)
{
    static const char claim[] = "{\"functions\": [\"outside\"]}";
    const char *worker = make_token(kit, "work", NULL), *other = make_token(kit, "read,create,manage,event,tick", NULL);
    struct pawld *pawld = PAWLD_SERVE(kit, "--tokens", "tokens", CALLS);
    char token[256] = "";

    assert_int_equal(ask(kit, pawld, "POST", "/jobs/claim", claim, NULL).status, 401);
    assert_int_equal(ask(kit, pawld, "POST", "/jobs/claim", claim, other).status, 403);
    assert_int_equal(ask(kit, pawld, "POST", "/jobs/claim", claim, worker).status, 200);
    assert_int_equal(ask(kit, pawld, "POST", "/jobs/x/complete", "{}", other).status, 403);
    assert_int_equal(ask(kit, pawld, "POST", "/jobs/x/complete", "{}", worker).status, 404);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, worker).status, 403);

    assert_int_equal(ask(kit, pawld, "POST", "/workflows/defers/instances", "{\"id\": \"d\"}", other).status, 200);
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; token[0] == '\0' && monotonic_ms() < until_ms;
         rest_a_little()) {
        FILE *file = fopen("token", "re");
        if (file != NULL && fgets(token, sizeof token, file) == NULL)
            token[0] = '\0';
        if (file != NULL)
            (void)fclose(file);
    }
    const char *succeed = pawl_scope_format(kit->scope, "/deferred/%s/succeed", token);
    assert_int_equal(ask(kit, pawld, "POST", "/deferred/x/succeed", "{}", NULL).status, 404);
    assert_int_equal(ask(kit, pawld, "POST", succeed, "{\"result\": 1}", NULL).status, 200);
    assert_int_equal(ask(kit, pawld, "POST", succeed, "{\"result\": 2}", NULL).status, 409);
}

TEST_OF(kit, G4_a_workflow_that_requires_permissions_is_for_tokens_that_have_them)
{
    static const char path[] = "/workflows/guarded/instances", body[] = "{\"id\": \"g\"}";
    const char *plain = make_token(kit, "read,create", NULL), *half = make_token(kit, "read,create", "admin");
    const char *whole = make_token(kit, "read,create", "finance,admin"),
               *reader = make_token(kit, "read", "admin,finance");
    struct pawld *pawld = PAWLD_SERVE(kit, "--tokens", "tokens", CALLS);

    assert_int_equal(ask(kit, pawld, "POST", path, body, plain).status, 403);
    struct answer refused = ask(kit, pawld, "POST", path, body, half);
    assert_int_equal(refused.status, 403);
    assert_string_equal(text_of(&refused, "code"), "FORBIDDEN");
    assert_non_null(strstr(text_of(&refused, "message"), "\"finance\""));
    assert_int_equal(ask(kit, pawld, "POST", path, body, reader).status, 403); /* nor does it replace a scope */
    assert_int_equal(ask(kit, pawld, "POST", path, body, whole).status, 200);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows/guarded/instances/g", NULL, half).status, 403);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows/guarded/instances/g", NULL, reader).status, 200);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows/calls/instances", NULL, plain).status, 200);
    struct answer listed = ask(kit, pawld, "GET", "/workflows", NULL, plain);
    assert_non_null(strstr(listed.body, "{\"name\":\"guarded\",\"permissions\":[\"admin\",\"finance\"]}"));
}

/* Without tokens everybody on this machine may do everything. */
TEST_OF(kit, without_tokens_no_permission_is_asked_for)
{
    struct pawld *pawld = PAWLD_SERVE(kit, CALLS);
    create(kit, pawld, "guarded", "g", "null");
    await_status(kit, pawld, "guarded", "g", "complete");
}
