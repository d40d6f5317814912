/* test_cli_trouble.c - an unreachable server, a 401, a 403, a 409, a time-out, a server that is none: each reads well, and
 * ends with the exit code of contract E. */
#include "../pawld/receiver.h"
#include "shell.h"

#define GUARDED_MODULE PAWLD_TEST_MODULE_DIR "/module_guarded.so"
#define LEFT_OUT "pawl: left out, because the token may not read them: guarded\n"

static void use_port(int port)
{
    char base[64];
    (void)snprintf(base, sizeof base, "http://127.0.0.1:%d/api", port);
    assert_int_equal(setenv("PAWL_BASE_URL", base, 1), 0);
}

TEST_IN(cli_setting, kit, E_a_server_that_is_not_there)
{
    use_port(1);
    expect(CLI(IN_A_PIPE, "status"), 3, "",
           "pawl: nobody answers at http://127.0.0.1:1/api; is pawld running there? --base-url or PAWL_BASE_URL says "
           "where it is\n");
    expect(CLI(IN_A_PIPE, "instances", "get", "a/b", "--json"), 3, "", "{\"code\":\"UNREACHABLE\",");
    expect(CLI(IN_A_PIPE, "instances", "watch", "a/b"), 3, "", "nobody answers at");
    expect(CLI(IN_A_PIPE, "instances", "logs", "a/b", "-f"), 3, "", "nobody answers at");
    expect(CLI(IN_A_PIPE, "instances", "result", "a/b", "--wait"), 3, "", "nobody answers at");
    expect(CLI_INPUT(IN_A_PIPE, "a/b\na/c\na/d\n", "instances", "pause", "-"), 3, "",
           "0 told to pause, 1 refused, 2 not tried");
    expect(CLI(IN_A_PIPE, "status", "-u", "http://nobody.invalid/api"), 3, "", "there is no host of that name");
    expect(CLI(IN_A_PIPE, "status", "-u", "unix:/nonexistent"), 3, "", "nobody answers at unix:/nonexistent");
}

TEST_IN(cli_setting, kit, E_a_server_that_does_not_answer_in_time)
{
    static struct receiver receiver;
    receiver_open(&receiver);
    receiver_hold(&receiver, true);
    use_port(receiver.port);
    expect(CLI(IN_A_PIPE, "workflows", "list", "--timeout", "900ms"), 3, "",
           "within 900 ms; --timeout allows more time\n");
    expect(CLI(IN_A_PIPE, "instances", "pause", "a/b", "--timeout", "900ms"), 3, "",
           "within 900 ms, but what was asked for may have been done; --timeout allows more time\n");
    receiver_hold(&receiver, false);
    receiver_close(&receiver);
}

TEST_IN(cli_setting, kit, a_server_that_is_another)
{
    static struct receiver receiver;
    static const int statuses[] = { 200, 404, 302, 500, 200 };
    receiver_open(&receiver);
    receiver_answers(&receiver, statuses, LENGTH(statuses));
    use_port(receiver.port);
    expect(CLI(IN_A_PIPE, "workflows", "list"), 3, "",
           "answers, but not with JSON; is this the base URL of a Pawl server?");
    expect(CLI(IN_A_PIPE, "workflows", "list"), 1, "", "answered 404, but not as a Pawl server does");
    expect(CLI(IN_A_PIPE, "workflows", "list"), 1, "", "answered 302, but not as a Pawl server does");
    expect(CLI(IN_A_PIPE, "workflows", "list"), 1, "", "answered 500, but not as a Pawl server does");
    expect(CLI(IN_A_PIPE, "instances", "watch", "a/b"), 1, "", "answered 200, but not as a Pawl server does");
    receiver_close(&receiver);
}

/* What a Pawl server says while its database is away; and, where the status is another, enough of an answer. */
#define AWAY "{\"code\":\"STORE_UNAVAILABLE\",\"message\":\"the store cannot be used\",\"workflows\":[]}"
#define SAID "pawl: the server answers, but its database does not (503 STORE_UNAVAILABLE); trying again\n"

static void open_away(struct receiver *receiver, const int *statuses, int count)
{
    receiver_open(receiver);
    receiver->body = AWAY;
    receiver_answers(receiver, statuses, count);
    use_port(receiver->port);
}

TEST_IN(cli_setting, kit, a_database_that_is_away_is_told_once_and_waited_for)
{
    static struct receiver receiver;
    static const int statuses[] = { 503, 503, 503, 200 };
    open_away(&receiver, statuses, LENGTH(statuses));
    struct outcome *outcome = CLI(IN_A_PIPE, "workflows", "list", "--json");
    assert_string_equal(outcome->errors, SAID);
    expect(outcome, 0, "\"workflows\":[]", NULL);
    receiver_close(&receiver);
}

TEST_IN(cli_setting, kit, a_database_that_stays_away_ends_what_does_not_watch)
{
    static struct receiver receiver;
    static const int statuses[] = { 503 };
    open_away(&receiver, statuses, LENGTH(statuses));
    struct outcome *outcome = CLI(IN_A_PIPE, "workflows", "list", "--timeout", "2s");
    assert_memory_equal(outcome->errors, SAID, strlen(SAID));
    expect(outcome, 1, "", "(503 STORE_UNAVAILABLE)");
    /* A change may have happened: it is not asked for again. */
    outcome = CLI(IN_A_PIPE, "instances", "terminate", "a/b");
    assert_null(strstr(outcome->errors, "trying again"));
    expect(outcome, 1, "", "(503 STORE_UNAVAILABLE)");
    receiver_close(&receiver);
}

/* Each goes on for longer than its time-out, until the server says something else: it asks ten times a second. */
TEST_IN(cli_setting, kit, a_watch_that_begins_while_the_database_is_away_goes_on)
{
    static const int statuses[] = { 503, 503, 503, 503, 503, 503, 503, 503, 503, 503, 503, 404 };
    static const char *const words[][8] = {
        { "instances", "watch", "a/b", "--timeout", "900ms" },
        { "instances", "watch", "a/latest", "--timeout", "900ms" },
        { "instances", "watch", "-w", "a", "--timeout", "900ms" },
        { "instances", "logs", "a/b", "--follow", "--timeout", "900ms" },
        { "instances", "result", "a/b", "--wait", "--timeout", "900ms" },
    };
    for (size_t i = 0; i < LENGTH(words); i++) {
        static struct receiver receiver;
        bool is_stream = i == 0 || i == 3; /* these wait for a second, and then for longer */
        open_away(&receiver, is_stream ? statuses + LENGTH(statuses) - 2 : statuses, is_stream ? 2 : LENGTH(statuses));
        struct outcome *outcome = cli_run(IN_A_PIPE, NULL, words[i]);
        assert_memory_equal(outcome->errors, SAID, strlen(SAID));
        assert_null(strstr(outcome->errors + 1, SAID));
        expect(outcome, 1, "", "(404 STORE_UNAVAILABLE)");
        receiver_close(&receiver);
    }
}

TEST_IN(cli_setting, kit, D2_who_may_not_is_told_what_would_help)
{
    make_token_file("reader", "read");
    make_token_file("limited", "read,manage");
    struct pawld *pawld = PAWLD_SERVE(kit, "--tokens", "tokens", CLI_MODULE);
    cli_use(pawld);
    expect(CLI(IN_A_PIPE, "workflows", "list"), 1, "",
           "(401 UNAUTHORIZED); --token-file, --token-command or PAWL_TOKEN says who you are\n");
    expect(CLI(IN_A_PIPE, "workflows", "list", "-H", "Authorization: Bearer pawl_guess"), 1, "", "(401 UNAUTHORIZED)");
    expect(CLI(IN_A_PIPE, "instances", "watch", "nap/x"), 1, "", "(401 UNAUTHORIZED)");
    expect(CLI(IN_A_PIPE, "workflows", "list", "--token-file", "reader.token"), 0, "approve", "");
    expect(CLI(IN_A_PIPE, "instances", "create", "echo", "--token-file", "reader.token"), 1, "", "(403 FORBIDDEN)");
    expect(CLI(IN_A_PIPE, "tick", "--token-command", "cat reader.token"), 1, "", "(403 FORBIDDEN)");
    /* What is open to everybody is shown; the rest says why not. */
    expect(CLI(IN_A_PIPE, "status"), 1, "ready", "");
}

/* One workflow of many requires a permission that the token lacks. */
TEST_IN(cli_setting, kit, G4_what_a_token_may_not_see_is_left_out_and_told)
{
    make_token_file("reader", "read,create");
    struct pawld *pawld = PAWLD_SERVE(kit, "--tokens", "tokens", CLI_MODULE, GUARDED_MODULE);
    cli_use(pawld);
    assert_int_equal(setenv("PAWL_TOKEN_FILE", "reader.token", 1), 0);
    expect(cli_shell("pawl instances create echo/e-1 --wait && pawl instances create nap/n-1"), 0, "nap/n-1", "");
    expect(CLI(IN_A_PIPE, "instances", "list", "-o", "ids"), 0, "nap/n-1\necho/e-1\n", LEFT_OUT);
    expect(CLI(IN_A_PIPE, "instances", "list", "--all", "-o", "ids"), 0, "echo/e-1\nnap/n-1\n", LEFT_OUT);
    /* What is said stands beside the JSON, not in it. */
    expect(cli_shell("pawl instances list --json | python3 -c 'import json, sys; "
                     "print(len(json.load(sys.stdin)[\"instances\"]))'"),
           0, "2\n", "{\"code\":\"FORBIDDEN\",\"message\":\"left out, because the token may not read them: guarded\"");
    expect(cli_shell("pawl instances list --all --json | python3 -c 'import json, sys; "
                     "print(len(json.load(sys.stdin)[\"instances\"]))'"),
           0, "2\n", "\"exitCode\":0}\n");
    /* One that was asked for by its name is refused. */
    expect(CLI(IN_A_PIPE, "instances", "list", "guarded"), 1, "", "(403 FORBIDDEN)");
    expect(CLI(IN_A_PIPE, "instances", "list", "echo"), 0, "e-1", "");
    /* Neither does it end the search for an id. */
    expect(CLI(IN_A_PIPE, "instances", "get", "n-1", "-o", "ids"), 0, "nap/n-1\n", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "latest", "-o", "ids"), 0, "nap/n-1\n", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "n-2"), 1, "", "has an instance \"n-2\", as far as this token may see");
}

TEST_IN(cli_setting, kit, G4_a_token_that_may_see_no_workflow_is_refused)
{
    make_token_file("reader", "read");
    struct pawld *pawld = PAWLD_SERVE(kit, "--tokens", "tokens", GUARDED_MODULE);
    cli_use(pawld);
    assert_int_equal(setenv("PAWL_TOKEN_FILE", "reader.token", 1), 0);
    expect(CLI(IN_A_PIPE, "instances", "list"), 1, "", "(403 FORBIDDEN)");
    expect(CLI(IN_A_PIPE, "instances", "list", "--all", "--json"), 1, "", "{\"code\":\"FORBIDDEN\",");
    expect(CLI(IN_A_PIPE, "instances", "get", "latest"), 1, "",
           "there is no instance yet, as far as this token may see");
}

TEST_IN(cli_setting, kit, E_what_does_not_fit_is_told_with_what_would)
{
    struct pawld *pawld = PAWLD_SERVE(kit, CLI_MODULE);
    cli_use(pawld);
    create(kit, pawld, "echo", "e-1", NULL);
    await_status(kit, pawld, "echo", "e-1", "complete");
    expect(CLI(IN_A_PIPE, "instances", "create", "echo/e-1"), 1, "",
           "(409 INSTANCE_ID_ALREADY_EXISTS); --return-existing answers the one that has it\n");
    expect(CLI(IN_A_PIPE, "instances", "pause", "echo/e-1"), 1, "",
           "(409 INSTANCE_TERMINAL); what is possible is a new run (pawl instances why says which)\n");
    expect(CLI(IN_A_PIPE, "instances", "create", "ecko"), 1, "", "(404 WORKFLOW_NOT_FOUND); did you mean echo?\n");
    expect(CLI(IN_A_PIPE, "instances", "get", "zzz/e-1"), 1, "", "pawl workflows list shows those that are\n");
    expect(CLI(IN_A_PIPE, "instances", "get", "echo/none"), 1, "", "(404 INSTANCE_NOT_FOUND)");
    expect(CLI(IN_A_PIPE, "instances", "history", "echo/none"), 1, "", "(404 INSTANCE_NOT_FOUND)");
    expect(CLI(IN_A_PIPE, "instances", "get", "nap/latest"), 1, "", "there is no instance of nap yet");
    expect(CLI(IN_A_PIPE, "tick"), 1, "", "(403 RUNNER_TICK_DISABLED); pawld --allow-tick enables them");
    create(kit, pawld, "nap", "e-1", NULL);
    expect(CLI(IN_A_PIPE, "instances", "get", "e-1"), 2, "", "which e-1 is meant: echo/e-1 or nap/e-1?");
    assert_int_equal(setenv("PAWL_WORKFLOW", "nap", 1), 0);
    expect(CLI(IN_A_PIPE, "instances", "get", "e-1", "-o", "ids"), 0, "nap/e-1\n", "");
}

/* A limited token: the request is sent again when the server says. */
TEST_IN(cli_setting, kit, too_many_requests_are_sent_again_when_the_server_says)
{
    make_token_file("reader", "read");
    struct pawld *pawld = PAWLD_SERVE(kit, "--tokens", "tokens", "--rate-limit", "1", CLI_MODULE);
    cli_use(pawld);
    assert_int_equal(setenv("PAWL_TOKEN_FILE", "reader.token", 1), 0);
    struct outcome *outcome = CLI(IN_A_PIPE, "instances", "list", "-v"); /* asks for each workflow */
    assert_non_null(strstr(outcome->errors, ": 429, "));
    expect(outcome, 0, "", NULL);
    pawld = PAWLD_SERVE(kit, "--tokens", "tokens", "--rate-limit", "0.05", CLI_MODULE);
    cli_use(pawld);
    outcome = CLI(IN_A_PIPE, "instances", "list", "--timeout", "10s"); /* less than the server says */
    expect(outcome, 1, "", "(429 RATE_LIMITED)");
}

/* ---- Why, when nobody works -------------------------------------------------------------------------------------------- */

TEST_IN(cli_setting, kit, E_why_says_when_no_runner_takes_it_up)
{
    struct pawld *pawld = PAWLD_SERVE(kit, "--workers", "0", "--allow-tick", CLI_MODULE);
    cli_use(pawld);
    create(kit, pawld, "echo", "e-1", NULL);
    expect(CLI(IN_A_PIPE, "instances", "why", "e-1"), 0, "    pawl tick\n", "");
    expect(CLI(IN_A_PIPE, "status"), 0, "due       1, the oldest since ", "");
    expect(CLI(IN_A_PIPE, "tick"), 0, "1 instance processed\n", "");
    expect(CLI(IN_A_PIPE, "instances", "result", "e-1"), 0, "{\"echo\":null}\n", "");
}

static void await_phase(struct kit *kit, const struct pawld *pawld, const char *url, const char *phase)
{
    struct answer answer = { .status = 0 };
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms; rest_a_little()) {
        answer = ask(kit, pawld, "GET", url, NULL, NULL);
        if (strcmp(pawl_value_string(answer.value, "details.phase", ""), phase) == 0)
            return;
    }
    fail_msg("%s is not %s: %s", url, phase, answer.body);
}

TEST_IN(cli_setting, kit, E_why_says_that_a_busy_run_moves_and_one_about_to_pause_will)
{
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "gated", "g-1", "{\"gate\": \"open\"}");
    await_phase(kit, pawld, "/workflows/gated/instances/g-1", "running");
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1", "--json"), 0, "\"reason\":\"running\"", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1"), 0, "    pawl instances watch gated/g-1\n", "");
    expect(CLI(IN_A_PIPE, "instances", "pause", "gated/g-1"), 0, "gated/g-1 told to pause; it is about to pause\n", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1"), 0, "gated/g-1 is about to pause:", "");
    expect(CLI(IN_A_PIPE, "instances", "resume", "gated/g-1"), 0, NULL, "");
    write_file("open", "");
    expect(CLI(IN_A_PIPE, "instances", "result", "gated/g-1", "--wait"), 0, "\"passed\"\n", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1"), 0, "gated/g-1 has finished: it completed at ", "");
}

TEST_IN(cli_setting, kit, E_why_says_that_the_process_which_worked_on_it_has_died)
{
    struct pawld *pawld = PAWLD_SERVE(kit, "--store", "sqlite:left.db", CLI_MODULE);
    create(kit, pawld, "gated", "g-1", "{\"gate\": \"open\"}");
    await_phase(kit, pawld, "/workflows/gated/instances/g-1", "running");
    pawld_kill(pawld, SIGKILL);
    (void)pawld_await_end(pawld);

    pawld = PAWLD_SERVE(kit, "--store", "sqlite:left.db", "--workers", "0", "--allow-tick", CLI_MODULE);
    cli_use(pawld);
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1"), 0, "its process has died; no step has finished yet.", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1", "--json"), 0, "\"reason\":\"lost\"", "");
    expect(CLI(IN_A_PIPE, "instances", "pause", "gated/g-1"), 0, "gated/g-1 told to pause; it is about to pause\n", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1"), 0, "It pauses when a pawld that has it", "");
    expect(CLI(IN_A_PIPE, "instances", "interrupt", "gated/g-1"), 0, NULL, "");
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1"), 0, "its process has died; no step has finished yet.", "");
    write_file("open", "");
    expect(CLI(IN_A_PIPE, "tick"), 0, "1 instance processed\n", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "gated/g-1"), 0, " (INTERRUPTED: the run was interrupted).", "");
}

TEST_IN(cli_setting, kit, a_certificate_is_trusted_when_its_signer_is_named)
{
    char base[256];
    assert_int_equal(
        system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
               "/CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem 2>openssl.log"),
        0);
    struct pawld *pawld = PAWLD_SERVE(kit, "--tls-cert", "cert.pem", "--tls-key", "key.pem", CLI_MODULE);
    cli_use(pawld);
    expect(CLI(IN_A_PIPE, "workflows", "list"), 3, "", "is not trusted");
    expect(CLI(IN_A_PIPE, "workflows", "list", "--ca-file", "cert.pem"), 0, "approve", "");
    (void)snprintf(base, sizeof base, "http%s", pawld->base + strlen("https"));
    expect(CLI(IN_A_PIPE, "workflows", "list", "-u", base), 3, "", "no answer from http://");
}

TEST_IN(cli_setting, kit, output_that_cannot_be_written_is_told)
{
    (void)cli_serve(kit);
    static const char *const lines[] = { "workflows list", "status",      "status --json",  "instances list --json",
                                         "cluster",        "--help",      "--version",      "hooks list --json",
                                         "man status",     "tick --json", "completion bash" };
    for (size_t i = 0; i < LENGTH(lines); i++) {
        char line[128];
        (void)snprintf(line, sizeof line, "pawl %s >/dev/full", lines[i]);
        expect(cli_shell(line), 3, "", "the output cannot be written: No space left on device");
    }
}

/* As with every filter: who reads no further ends it, without a word.  There are more lines than it has time for. */
TEST_IN(cli_setting, kit, a_reader_who_has_had_enough_ends_it_quietly)
{
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "talk", "t-1", "{\"lines\": 5000}");
    expect(cli_shell("pawl instances logs talk/t-1 --follow | head -1 | grep -c 'line 1'"), 0, "1\n", "");
    expect(cli_shell("pawl instances watch talk/t-1 --json | head -1 | wc -l"), 0, "1\n", "");
    expect(cli_shell("(pawl instances watch talk/t-1 --json; echo $? >code) | head -1 >/dev/null; cat code"), 0,
           "141\n", "");
}
