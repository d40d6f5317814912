/* test_pawld_blocked.c - workflow code that blocks outside a step does not stop pawld: it says so, goes on, and at its limit is
 * not ready. */
#include "kit.h"

static void begin_stuck(struct kit *kit, const struct pawld *pawld, const char *id)
{
    create(kit, pawld, "stuck", id, "{\"gate\": \"gate\"}");
}

TEST_OF(kit, code_that_blocks_is_named_in_the_log_and_other_runs_go_on)
{
    write_file("config.json", "{\"limits\": {\"codeMs\": 200}, \"log\": \"json\"}");
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "config.json", "--workers", "1", STUCK);
    begin_stuck(kit, pawld, "one");
    await_lines("gate.log", "begun", 1);

    create(kit, pawld, "echo", "e", "1");
    await_status(kit, pawld, "echo", "e", "complete");
    pawld_await(pawld, "workflow code outside a step has blocked its thread for");
    pawld_await(pawld, "\"workflow\":\"stuck\",\"instance\":\"one\",\"afterStep\":\"first\"");
    struct answer metrics = ask(kit, pawld, "GET", "/metrics", NULL, NULL);
    assert_non_null(strstr(metrics.body, "\npawl_runner_threads_blocked 1\n"));
    assert_non_null(strstr(metrics.body, "\npawl_runner_calls_blocked_total{of=\"workflow\"} 1\n"));
    assert_non_null(strstr(metrics.body, "\npawl_runner_calls_blocked_total{of=\"step\"} 0\n"));
    await_ready(kit, pawld, 200, "ready");
    assert_int_equal(count_lines("gate.log", "begun"), 1);

    write_file("gate", "");
    await_status(kit, pawld, "stuck", "one", "complete");
}

TEST_OF(kit, at_its_limit_it_is_not_ready_and_recovers_by_itself)
{
    write_file("config.json", "{\"limits\": {\"codeMs\": 200, \"blockedThreads\": 2}}");
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "config.json", "--workers", "2", STUCK);
    begin_stuck(kit, pawld, "one");
    begin_stuck(kit, pawld, "two");

    await_ready(kit, pawld, 503, "THREADS_BLOCKED");
    pawld_await(pawld, "threads are blocked by code that does not return: no new runs are taken");
    create(kit, pawld, "echo", "e", "1"); /* it is kept, for whoever takes it */
    assert_int_equal(ask(kit, pawld, "GET", "/health/live", NULL, NULL).status, 200);

    write_file("gate", "");
    await_ready(kit, pawld, 200, "ready");
    await_status(kit, pawld, "echo", "e", "complete");
    pawld_await(pawld, "runs are taken again");
}

TEST_OF(kit, a_drain_ends_although_code_blocks)
{
    write_file("config.json", "{\"limits\": {\"codeMs\": 200}}");
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "config.json", "--drain-ms", "500", STUCK);
    begin_stuck(kit, pawld, "one");
    await_lines("gate.log", "begun", 1);

    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 1);
    assert_non_null(strstr(pawld->errors, "still busy after 500 ms"));

    write_file("gate", "");
    pawld = PAWLD_SERVE(kit, STUCK);
    await_status(kit, pawld, "stuck", "one", "complete");
}
