/* test_cli_work.c - contracts F and G from a terminal: executions by key, children, deferreds, jobs, and what mends, stops
 * or undoes a run, against a real pawld.  How it all reads is in test_cli_commands.c. */
#include "shell.h"

#define CHARGE_MODULE PAWLD_TEST_MODULE_DIR "/module_charge.so"

static void create_and_await(struct kit *kit, struct pawld *pawld, const char *workflow, const char *id,
                             const char *status)
{
    create(kit, pawld, workflow, id, "{\"child\": \"n-1\", \"gate\": \"gate\"}");
    await_status(kit, pawld, workflow, id, status);
}

/* ---- Executions -------------------------------------------------------------------------------------------------------- */

TEST_IN(cli_setting, kit, F1_an_execution_is_one_for_each_key_and_prints_its_result)
{
    (void)cli_serve(kit);
    expect(CLI(IN_A_PIPE, "instances", "execute", "echo", "--key", "ä/?", "-p", "1"), 0, "{\"echo\":1}\n", "");
    expect(CLI(IN_A_PIPE, "instances", "execute", "echo", "--key", "ä/?", "-p", "2"), 0, "{\"echo\":1}\n", "");
    expect(CLI(IN_A_PIPE, "instances", "result", "--workflow", "echo", "--key", "ä/?"), 0, "{\"echo\":1}\n", "");
    expect(CLI(IN_A_PIPE, "instances", "execute", "echo", "--key", "ä/?", "--json", "--wait"), 0,
           "\"runNumber\":1,\"details\":{\"status\":\"complete\",", "");
    expect(CLI(IN_A_PIPE, "instances", "execute", "echo", "-p", "3", "--for", "20s"), 0, "{\"echo\":3}\n", "");
    expect(cli_shell("pawl instances list echo -o ids | wc -l"), 0, "2\n", "");
    expect(CLI(IN_A_PIPE, "instances", "result", "-w", "echo", "-k", "other"), 1, "", "(404 INSTANCE_NOT_FOUND)");
    expect(CLI(IN_A_PIPE, "instances", "execute", "eco"), 1, "", "(404 WORKFLOW_NOT_FOUND); did you mean echo?");
}

TEST_IN(cli_setting, kit, F1_an_execution_that_fails_or_takes_longer_ends_with_its_own_code)
{
    (void)cli_serve(kit);
    expect(CLI(IN_A_PIPE, "instances", "execute", "broken", "--key", "b"), 4, "", " failed: Broken: it cannot work");
    expect(CLI(IN_A_PIPE, "instances", "execute", "nap", "--key", "n", "--for", "50ms"), 5, "", " has not finished");
    expect(CLI(IN_A_PIPE, "instances", "result", "-w", "nap", "--key", "n"), 5, "", " has not finished");
    /* What is begun has a name that all other commands take. */
    expect(cli_shell("pawl instances execute nap --key n --discard -o ids | pawl instances terminate - | wc -l"), 0,
           "1\n", "");
    expect(CLI(IN_A_PIPE, "instances", "result", "-w", "nap", "--key", "n"), 4, "", " was terminated");
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------------- */

TEST_IN(cli_setting, kit, G1_a_script_carries_out_calls)
{
    struct pawld *pawld = cli_serve(kit);
    create_and_await(kit, pawld, "calls", "c-1", "waiting");
    expect(cli_shell("token=$(pawl jobs claim charge --wait -o ids) && pawl jobs heartbeat \"$token\" &&"
                     "pawl jobs complete \"$token\" --result '{\"price\": 1.10}' &&"
                     "pawl instances result calls/c-1 --wait"),
           0, "{\"price\":1.10}\n", "");
    /* For good: it is not tried again. */
    create_and_await(kit, pawld, "calls", "c-2", "waiting");
    expect(cli_shell("pawl jobs claim charge --for 20s -o ids | pawl jobs fail - --name Broke --no-retry &&"
                     "pawl instances result calls/c-2 --wait"),
           4, "the job has failed, for good\n", "calls/c-2 failed: Broke");
}

TEST_IN(cli_setting, kit, G1_a_claim_waits_until_there_is_a_job)
{
    struct pawld *pawld = cli_serve(kit);
    struct outcome *claim = CLI_START(IN_A_PIPE, "jobs", "claim", "ship", "charge", "--wait");
    create_and_await(kit, pawld, "calls", "c-1", "waiting");
    cli_await(claim, "step \"charge the card\", attempt 1\n");
    cli_end(claim);
    assert_int_equal(claim->code, 0);
    free(claim);
    expect(CLI(IN_A_PIPE, "jobs", "claim", "charge", "--for", "50ms"), 5, "", "pawl: there is no job to claim\n");
}

TEST_IN(cli_setting, kit, G1_why_says_who_carries_out_a_call)
{
    struct pawld *pawld = PAWLD_SERVE(kit, CLI_MODULE, CHARGE_MODULE);
    cli_use(pawld);
    create_and_await(kit, pawld, "calls", "c-1", "waiting");
    expect(cli_shell("until pawl instances get calls/c-1 | grep 'a runner took it at'; do sleep 0.05; done"), 0,
           "waiting for a worker to carry out call \"charge the card\" (@charge): a runner took it at ", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "calls/c-1"), 0, "It goes on when that has answered", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "calls/c-1", "--json"), 0,
           "\"job\":{\"function\":\"charge\",\"takenBy\":\"runner\",\"takenAt\":\"", "");
    expect(CLI(IN_A_PIPE, "cluster"), 0, "@charge", "");
    write_file("charged", "");
    await_status(kit, pawld, "calls", "c-1", "complete");
}

/* One at a time: the second waits while the first stands. */
TEST_IN(cli_setting, kit, G1_why_says_that_those_who_carry_a_call_have_not_taken_it)
{
    write_file("config.json", "{\"functions\": {\"charge\": {\"concurrency\": 1}}}");
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "config.json", CLI_MODULE, CHARGE_MODULE);
    cli_use(pawld);
    create_and_await(kit, pawld, "calls", "c-1", "waiting");
    expect(cli_shell("until pawl instances why calls/c-1 | grep -o 'a runner [^ ]* took it'; do sleep 0.05; done"), 0,
           " took it\n", "");
    create_and_await(kit, pawld, "calls", "c-2", "waiting");
    expect(CLI(IN_A_PIPE, "instances", "why", "calls/c-2"), 0,
           " (@charge): nobody has taken it yet. 1 of the runners on this store carries that function", "");
    write_file("charged", "");
    await_status(kit, pawld, "calls", "c-2", "complete");
}

TEST_IN(cli_setting, kit, G1_a_job_of_a_paused_run_is_answered_and_the_run_waits)
{
    struct pawld *pawld = cli_serve(kit);
    create_and_await(kit, pawld, "calls", "c-1", "waiting");
    expect(cli_shell("pawl jobs claim charge --wait -o ids >job && pawl instances pause calls/c-1 &&"
                     "pawl jobs complete - <job"),
           0, "the job is complete; its run is paused, and goes on when it is resumed\n", "");
    expect(CLI(IN_A_PIPE, "instances", "resume", "calls/c-1"), 0, "calls/c-1 resumed", "");
    await_status(kit, pawld, "calls", "c-1", "complete");
    create_and_await(kit, pawld, "calls", "c-2", "waiting");
    expect(cli_shell("pawl jobs claim charge --wait -o ids >job && pawl instances pause calls/c-2 &&"
                     "pawl jobs fail - --name Broke --json <job"),
           0, "{\"ok\":true,\"paused\":true}\n", "");
}

/* ---- Deferreds --------------------------------------------------------------------------------------------------------- */

TEST_IN(cli_setting, kit, F3_the_first_answer_of_a_deferred_wins_and_its_token_is_not_shown)
{
    struct pawld *pawld = cli_serve(kit);
    create_and_await(kit, pawld, "defers", "d-1", "waiting");
    struct outcome *outcome =
        cli_shell("pawl -v deferred succeed - --result '{\"price\": 1.10}' <token; grep -c defers.d-1. token");
    assert_non_null(strstr(outcome->errors, "/deferred/.../succeed: 200, "));
    assert_null(strstr(outcome->errors, "defers.d-1"));
    assert_string_equal(outcome->output, "the deferred has succeeded; its run goes on\n1\n");
    free(outcome);
    await_status(kit, pawld, "defers", "d-1", "complete");
    expect(CLI(IN_A_PIPE, "instances", "result", "defers/d-1"), 0, "{\"price\":1.10}\n", "");
    expect(CLI(IN_A_PIPE, "deferred", "succeed", "none"), 1, "", "(404 INVALID_TOKEN)");
    create_and_await(kit, pawld, "defers", "d-2", "waiting");
    assert_int_equal(ask(kit, pawld, "POST", "/workflows/defers/instances/d-2/pause", "{}", NULL).status, 200);
    expect(cli_shell("pawl deferred fail $(cat token) --name No && pawl deferred fail $(cat token) --name No"), 0,
           "the deferred has failed; its run is paused, and goes on when it is resumed\n"
           "the deferred has failed; its run is paused, and goes on when it is resumed\n",
           "");
    expect(cli_shell("pawl deferred succeed $(cat token)"), 1, "", "(409 DEFERRED_COMPLETED)");
}

/* ---- Stopping and mending ---------------------------------------------------------------------------------------------- */

TEST_IN(cli_setting, kit, F1_a_busy_run_that_is_interrupted_says_so_until_it_ends)
{
    struct pawld *pawld = cli_serve(kit);
    create_and_await(kit, pawld, "gated", "g-1", "active");
    await_lines("gate.log", "begun", 1);
    expect(CLI(IN_A_PIPE, "instances", "interrupt", "gated/g-1", "-o", "ids"), 0, "gated/g-1\n", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "gated/g-1"), 0,
           "\ninterrupted: what its steps did is undone before it ends\n", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1", "--json"), 0, "\"demand\":\"interrupt\"", "");
    write_file("gate", "");
    /* It was at its end, and is interrupted all the same. */
    expect(CLI(IN_A_PIPE, "instances", "result", "gated/g-1", "--wait"), 4, "", "was terminated: INTERRUPTED");
    expect(CLI(IN_A_PIPE, "instances", "interrupt", "gated/g-1"), 1, "", "(409 INSTANCE_TERMINAL)");
}

TEST_IN(cli_setting, kit, F1_what_is_asked_of_a_run_twice_changes_nothing_the_second_time)
{
    struct pawld *pawld = cli_serve(kit);
    create_and_await(kit, pawld, "gated", "g-1", "active");
    await_lines("gate.log", "begun", 1);
    expect(CLI(IN_A_PIPE, "instances", "interrupt", "gated/g-1", "--json"), 0,
           "{\"workflowName\":\"gated\",\"id\":\"g-1\",\"ok\":true}\n", "");
    expect(CLI(IN_A_PIPE, "instances", "interrupt", "gated/g-1", "--json"), 0,
           "{\"workflowName\":\"gated\",\"id\":\"g-1\",\"ok\":true,\"changed\":false}\n", "");
    /* A rollback is more than an interrupt, and an interrupt lifts a pause. */
    expect(CLI(IN_A_PIPE, "instances", "terminate", "--rollback", "gated/g-1", "--json"), 0, "\"ok\":true}\n", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "gated/g-1", "--json"), 0,
           "\"interrupted\":true,\"demand\":\"rollback\",", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "gated/g-1"), 0,
           "\nterminated with rollback: what its steps did is undone before it ends\n", "");
    expect(CLI(IN_A_PIPE, "instances", "terminate", "--rollback", "gated/g-1", "--json"), 0, "\"changed\":false}\n",
           "");
    expect(CLI(IN_A_PIPE, "instances", "pause", "gated/g-1"), 0, "gated/g-1 told to pause; it is about to pause\n", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1"), 0, "before it ends). It is about to pause: runner ", "");
    expect(CLI(IN_A_PIPE, "instances", "interrupt", "gated/g-1"), 0, "gated/g-1 told to stop\n", "");
    write_file("gate", "");
}

/* What it advises is what helps: the child first. */
TEST_IN(cli_setting, kit, A14_a_run_whose_child_failed_goes_on_after_the_child)
{
    struct pawld *pawld = cli_serve(kit);
    create_and_await(kit, pawld, "breeds", "r-1", "errored");
    expect(CLI(IN_A_PIPE, "instances", "why", "breeds/r-1", "--json"), 0,
           "\"command\":{\"verb\":\"retry\",\"workflowName\":\"brittle\",\"instanceId\":\"n-1\"}", "");
    expect(CLI(IN_A_PIPE, "instances", "retry", "breeds/r-1"), 0, "breeds/r-1 retried", "");
    await_status(kit, pawld, "breeds", "r-1", "errored"); /* nothing has changed */
    write_file("mended", "");
    expect(CLI(IN_A_PIPE, "instances", "retry", "brittle/n-1"), 0, "brittle/n-1 retried", "");
    await_status(kit, pawld, "brittle", "n-1", "complete");
    expect(
        CLI(IN_A_PIPE, "instances", "why", "breeds/r-1"), 0,
        "Its child brittle/n-1 had failed, and is complete by now: retry this one, and it takes up how that ends.\n\n"
        "    pawl instances retry breeds/r-1\n",
        "");
    expect(CLI(IN_A_PIPE, "instances", "retry", "breeds/r-1"), 0, "breeds/r-1 retried", "");
    await_status(kit, pawld, "breeds", "r-1", "complete");
}

TEST_IN(cli_setting, kit, F_many_are_interrupted_retried_and_restarted_from_a_step)
{
    struct pawld *pawld = cli_serve(kit);
    create_and_await(kit, pawld, "fragile", "f-1", "errored");
    create_and_await(kit, pawld, "fragile", "f-2", "errored");
    create_and_await(kit, pawld, "nap", "n-9", "waiting");
    expect(cli_shell("pawl instances list fragile -o ids | pawl instances retry - | sort"), 0,
           "fragile/f-1 retried\nfragile/f-2 retried\n", "");
    await_status(kit, pawld, "fragile", "f-1", "errored");
    await_status(kit, pawld, "fragile", "f-2", "errored");
    expect(CLI_INPUT(IN_A_PIPE, "fragile/f-1\nfragile/f-2\n", "instances", "restart", "-", "--from", "no step"), 1, "",
           "has no step \"no step\" (400 INVALID_STEP_NAME)");
    expect(CLI(IN_A_PIPE, "instances", "restart", "fragile/f-1", "--from", "call the hotel", "--json"), 0,
           "{\"workflowName\":\"fragile\",\"id\":\"f-1\",\"ok\":true}\n", "");
    await_status(kit, pawld, "fragile", "f-1", "errored");
    expect(CLI(IN_A_PIPE, "instances", "history", "fragile/f-1"), 0, "fragile/f-1  run 3: 2 steps", "");
    expect(CLI(IN_A_PIPE, "instances", "retry", "nap/n-9"), 1, "", "(409 NOT_REPAIRABLE)");
    expect(CLI(IN_A_PIPE, "instances", "interrupt", "--dry-run", "nap/n-9"), 0, "nap/n-9 would be told to stop\n", "");
    expect(CLI_INPUT(IN_A_PIPE, "nap/n-9\nfragile/f-2\n", "instances", "interrupt", "-"), 1, "nap/n-9 told to stop\n",
           "1 told to stop, 1 refused\n");
}

/* Of each that has ended, what why says is possible, is, and nothing else. */
TEST_IN(cli_setting, kit, F2_why_names_the_ways_that_there_are)
{
    static const char kept[] = "from the top, or from one of its steps, with what was before that kept (--from STEP).";
    struct pawld *pawld = cli_serve(kit);
    create_and_await(kit, pawld, "nap", "n-1", "waiting");
    create_and_await(kit, pawld, "nap", "n-2", "waiting");
    create_and_await(kit, pawld, "defers", "d-1", "waiting");
    expect(CLI(IN_A_PIPE, "instances", "interrupt", "nap/n-1", "defers/d-1"), 0, NULL, "");
    expect(CLI(IN_A_PIPE, "instances", "terminate", "nap/n-2"), 0, NULL, "");
    await_status(kit, pawld, "nap", "n-1", "terminated");
    await_status(kit, pawld, "defers", "d-1", "terminated");
    expect(CLI(IN_A_PIPE, "instances", "why", "nap/n-1"), 0, kept, "");
    expect(CLI(IN_A_PIPE, "instances", "why", "nap/n-2"), 0, kept, "");
    expect(CLI(IN_A_PIPE, "instances", "restart", "nap/n-1", "nap/n-2", "--from", "nap"), 0, "nap/n-2 restarted", "");
    /* What was undone is not kept. */
    expect(CLI(IN_A_PIPE, "instances", "why", "defers/d-1"), 0,
           "Only a new run, from the top, would start it again: what its steps did was undone.", "");
    expect(CLI(IN_A_PIPE, "instances", "restart", "defers/d-1", "--from", "approval"), 1, "", "NOT_REPAIRABLE");
    expect(CLI(IN_A_PIPE, "instances", "retry", "defers/d-1"), 1, "", "NOT_REPAIRABLE");
    expect(CLI(IN_A_PIPE, "instances", "restart", "defers/d-1"), 0, "defers/d-1 restarted", "");
    /* Neither where some of it could not be undone. */
    create_and_await(kit, pawld, "clings", "k-1", "waiting");
    expect(CLI(IN_A_PIPE, "instances", "terminate", "--rollback", "clings/k-1"), 0, NULL, "");
    await_status(kit, pawld, "clings", "k-1", "terminated");
    expect(CLI(IN_A_PIPE, "instances", "why", "clings/k-1"), 0, "a restart, from the top, is the only way on.", "");
    expect(CLI(IN_A_PIPE, "instances", "restart", "clings/k-1", "--from", "wait"), 1, "", "NOT_REPAIRABLE");
    expect(CLI(IN_A_PIPE, "instances", "retry", "clings/k-1"), 1, "", "NOT_REPAIRABLE");
    expect(CLI(IN_A_PIPE, "instances", "restart", "clings/k-1"), 0, "clings/k-1 restarted", "");
}

TEST_IN(cli_setting, kit, A14_a_run_that_waits_for_repair_is_paused_and_resumed)
{
    struct pawld *pawld = cli_serve(kit);
    create_and_await(kit, pawld, "mends", "m-1", "paused");
    expect(CLI(IN_A_PIPE, "instances", "pause", "mends/m-1"), 0, "mends/m-1 was paused already", "");
    expect(CLI(IN_A_PIPE, "instances", "list", "mends"), 0, "waiting for repair", "");
    expect(CLI(IN_A_PIPE, "instances", "resume", "mends/m-1"), 0, "mends/m-1 resumed", "");
    await_status(kit, pawld, "mends", "m-1", "paused"); /* it fails as it did */
    expect(cli_shell("pawl instances logs mends/m-1 | grep -c 'resumed after repair'"), 0, "1\n", "");
}

/* ---- JSON for scripts -------------------------------------------------------------------------------------------------- */

TEST_IN(cli_setting, kit, E_json_of_what_others_finish_has_stable_names)
{
    struct pawld *pawld = cli_serve(kit);
    create_and_await(kit, pawld, "calls", "c-1", "waiting");
    create_and_await(kit, pawld, "parent", "p-1", "waiting");
    create_and_await(kit, pawld, "defers", "d-1", "waiting");
    create_and_await(kit, pawld, "mends", "m-1", "paused");
    await_status(kit, pawld, "nap", "n-1", "waiting");
    expect(CLI(IN_A_PIPE, "instances", "why", "calls/c-1", "--json"), 0, "\"reason\":\"waitingForWorker\"", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "parent/p-1", "--json"), 0, "\"reason\":\"waitingForChild\"", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "defers/d-1", "--json"), 0, "\"reason\":\"waitingForDeferred\"", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "mends/m-1", "--json"), 0, "\"why\":{\"reason\":\"waitingForRepair\"",
           "");
    expect(CLI(IN_A_PIPE, "instances", "children", "parent/p-1", "--json"), 0,
           "{\"instances\":[{\"id\":\"n-1\",\"workflowName\":\"nap\",\"details\":{\"status\":\"waiting\"", "");
    expect(CLI(IN_A_PIPE, "instances", "children", "parent/p-1", "--json", "--all"), 0, "],\"hasNextPage\":false}\n",
           "");
    expect(CLI(IN_A_PIPE, "instances", "get", "nap/n-1", "--json"), 0,
           "\"parent\":{\"workflowName\":\"parent\",\"instanceId\":\"p-1\",\"runNumber\":1,\"attached\":true}", "");
    expect(CLI(IN_A_PIPE, "instances", "history", "calls/c-1", "--json"), 0, "\"description\":\"at the bank\"", "");
    expect(CLI(IN_A_PIPE, "jobs", "claim", "none", "--json"), 5, "{\"jobs\":[]}\n", "");
    expect(CLI(IN_A_PIPE, "jobs", "claim", "charge", "--wait", "--json", "--max", "10"), 0, "{\"jobs\":[{\"token\":\"",
           "");
    expect(CLI(IN_A_PIPE, "jobs", "heartbeat", "none", "--json"), 1, "", "{\"code\":\"INVALID_TOKEN\",");
    expect(cli_shell("pawl deferred succeed - --json <token"), 0, "{\"ok\":true}\n", "");
}

/* The table that all of the help comes from is what the shells are answered from. */
TEST_IN(cli_setting, kit, completion_knows_the_commands_for_work)
{
    expect(CLI(IN_A_PIPE, "complete", "--", "jobs", ""), 0, "heartbeat\tkeep a job: its lease starts anew\n", "");
    expect(CLI(IN_A_PIPE, "complete", "--", "deferred", "f"), 0, "fail\t", "");
    expect(CLI(IN_A_PIPE, "complete", "--", "instances", "terminate", "--ro"), 0, "--rollback\t", "");
    expect(CLI(IN_A_PIPE, "jobs", "claim", "--help"), 0, "usage: pawl jobs claim [options] FUNCTION ...\n", "");
    expect(CLI(IN_A_PIPE, "man", "deferred", "fail"), 0, ".TH pawl-deferred-fail 1", "");
}
