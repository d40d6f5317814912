/* test_cli_use.c - contract E: wrong use is told in a line, ends with 2, and never reaches the server.
 *
 * The server here is a socket that notes whether somebody connects: nobody may. */
#include "shell.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

struct wrong {
    const char *words[10];
    const char *input;
    const char *told; /* in what it says */
};

static int listen_quietly(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof address;
    char base[64];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 8), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(base, sizeof base, "http://127.0.0.1:%d/api", ntohs(address.sin_port));
    assert_int_equal(setenv("PAWL_BASE_URL", base, 1), 0);
    return listener;
}

static void check_all(const struct wrong *list, size_t count)
{
    int listener = listen_quietly();
    for (size_t i = 0; i < count; i++) {
        struct outcome *outcome = cli_run(IN_A_PIPE, list[i].input, list[i].words);
        if (outcome->code != 2 || strstr(outcome->errors, list[i].told) == NULL || outcome->output[0] != '\0' ||
            strncmp(outcome->errors, "pawl: ", 6) != 0)
            fail_msg("%zu: exit code %d; \"%s\" is not what is told:\n%s%s", i, outcome->code, list[i].told,
                     outcome->output, outcome->errors);
        free(outcome);
    }
    assert_true(accept(listener, NULL, NULL) < 0); /* nobody came */
    (void)close(listener);
}

TEST_IN(cli_setting, kit, unknown_commands_and_options_are_told_with_the_nearest)
{
    static const struct wrong list[] = {
        { { "instnces", "list" }, NULL, "there is no command \"pawl instnces\"; did you mean \"pawl instances\"?" },
        { { "instances", "zap" }, NULL, "there is no command \"pawl instances zap\" (see pawl instances --help)" },
        { { "instances", "lsit" }, NULL, "did you mean \"pawl instances list\"?" },
        { { "why" }, NULL, "did you mean \"pawl instances why\"?" },
        { { "instances", "list", "--statsu", "x" },
          NULL,
          "pawl instances list has no option --statsu; did you mean --status?" },
        { { "instances", "list", "--nonsense" }, NULL, "has no option --nonsense (see pawl instances list --help)" },
        { { "instances", "list", "-x" }, NULL, "has no option -x" },
        { { "--status", "active", "instances", "list" }, NULL, "--status belongs behind the command" },
        { { "status", "--full" }, NULL, "pawl status has no option --full" },
        { { "help", "nonsense" }, NULL, "there is no such command" },
        { { "completion", "tcsh" }, NULL, "the shell is not \"tcsh\"; did you mean" },
    };
    check_all(list, LENGTH(list));
}

TEST_IN(cli_setting, kit, values_that_an_option_does_not_take_are_told)
{
    static const struct wrong list[] = {
        { { "instances", "list", "--status", "eror" }, NULL, "--status is not \"eror\"; did you mean errored?" },
        { { "instances", "list", "--status", "x" }, NULL, "--status is one of: active waiting paused" },
        { { "instances", "list", "--status" }, NULL, "--status needs a value: STATUS" },
        { { "instances", "list", "--all=yes" }, NULL, "--all takes no value" },
        { { "instances", "list", "--limit", "0" }, NULL, "--limit is a whole number from 1 to 100, not \"0\"" },
        { { "instances", "list", "--limit", "1e2" }, NULL, "--limit is a whole number" },
        { { "instances", "list", "--workflow", "a b" },
          NULL,
          "--workflow is a workflow's name, which is 1 to 64 of a-z A-Z 0-9 _ -, not \"a b\"" },
        { { "instances", "list", "--cursor", "x" }, NULL, "a cursor is of one workflow's list" },
        { { "status", "--timeout", "soon" },
          NULL,
          "--timeout is a duration such as 500ms, 10s, 2min or 1h, not \"soon\"" },
        { { "status", "--timeout", "0" }, NULL, "--timeout is a duration" },
        { { "status", "-o", "ids" }, NULL, "pawl status does not print ids" },
        { { "status", "-o", "yaml" }, NULL, "-o is one of: text json ids; not \"yaml\"" },
        { { "status", "--base-url", "localhost:7295" }, NULL, "begins with http://, https:// or unix:" },
        { { "status", "--base-url", "http://x/api?y" }, NULL, "ends with the mount" },
        { { "status", "-H", "no header" }, NULL, "a header is \"Name: value\"" },
        { { "status", "-H", "A: b\nC: d" }, NULL, "a header is \"Name: value\"" },
        { { "status", "--profile", "none" }, NULL, "there is no profile \"none\"" },
        { { "status", "--config", "none" }, NULL, "none cannot be read: No such file or directory" },
        { { "status", "--token-file", "none" }, NULL, "--token-file: none cannot be read" },
        { { "status", "--token-command", "exit 3" }, NULL, "--token-command failed, with exit code 3" },
        { { "status", "--token-command", "true" }, NULL, "there is no token in its first line" },
    };
    check_all(list, LENGTH(list));
}

TEST_IN(cli_setting, kit, arguments_that_are_missing_wrong_or_too_many_are_told)
{
    static const struct wrong list[] = {
        { { "instances", "get" }, NULL, "pawl instances get needs INSTANCE (see pawl instances get --help)" },
        { { "instances", "get", "a", "b" }, NULL, "pawl instances get does not take \"b\"" },
        { { "instances", "get", "a b" }, NULL, "\"a b\" is not an instance" },
        { { "instances", "get", "a/b/c" }, NULL, "\"a/b/c\" is not WORKFLOW/ID" },
        { { "instances", "get", "-w", "x", "y/z" }, NULL, "is the workflow x, or y?" },
        { { "instances", "get", "--id", "a", "b" }, NULL, "by --id or by arguments, not by both" },
        { { "instances", "get", "--id", "-a" }, NULL, "not starting with -" },
        { { "instances", "create" }, NULL, "of which workflow?" },
        { { "instances", "create", "order/latest" }, NULL, "an instance cannot be called latest" },
        { { "instances", "create", "order/a", "--id", "b" }, NULL, "not by both" },
        { { "instances", "send-event", "a" }, NULL, "pawl instances send-event needs --type TYPE" },
        { { "instances", "send-event", "a", "--type", "a b" },
          NULL,
          "--type is 1 to 100 of a-z A-Z 0-9 _ -, not starting with -, not \"a b\"" },
        { { "instances", "send-event", "-", "-t", "x", "-p", "-" }, "a", "cannot be both" },
        { { "instances", "pause", "-", "a" }, "b", "- stands alone" },
        { { "instances", "pause", "-" },
          "order/a\n\nnot an id\norder/b\n",
          "line 3 of standard input: \"not an id\" is not an instance" },
        { { "instances", "pause", "-" }, "order/a\n\nnot an id\norder/b\n", "; nothing was done\n" },
        { { "hooks", "resend", "-" }, "a\nb\033\n", "line 2 of standard input: \"b\\x1b\" is not a delivery's id" },
        { { "instances", "create", "echo", "--batch", "[{\"id\": \"latest\"}]" }, NULL, "cannot be called latest" },
        { { "instances", "logs", "a", "--follow", "--run", "1" }, NULL, "--follow is of the current run" },
        { { "instances", "create", "echo", "--batch", "{}" }, NULL, "--batch is a list" },
        { { "instances", "create", "echo", "--batch", "[{\"id\": 1}]" }, NULL, "--batch: entry 1 is not" },
        { { "instances", "create", "echo", "--batch", "[{\"id\": \"a\", \"x\": 1}]" }, NULL, "only id and params" },
        { { "instances", "create", "echo", "--batch", "[]", "--wait" }, NULL, "--batch and --wait do not go together" },
        { { "instances", "watch", "a", "--status", "active" }, NULL, "--status is for a list" },
    };
    check_all(list, LENGTH(list));
}

TEST_IN(cli_setting, kit, what_others_finish_is_named_rightly_or_told)
{
    static const struct wrong list[] = {
        { { "instances", "execute" }, NULL, "which workflow? pawl instances execute WORKFLOW, or --workflow" },
        { { "instances", "execute", "a b" }, NULL, "\"a b\" is not a workflow's name" },
        { { "instances", "execute", "a", "--discard", "--wait" }, NULL, "--discard does not wait" },
        { { "instances", "execute", "a", "--discard", "--for", "1s" }, NULL, "--discard does not wait" },
        { { "instances", "execute", "a", "--key", "\xff" }, NULL, "--key is not UTF-8" },
        { { "instances", "execute", "a", "--key", "" }, NULL, "--key is empty" },
        { { "instances", "execute", "a", "-p", "{" }, NULL, "--params is not JSON" },
        { { "instances", "result", "--key", "a" }, NULL, "a key is of one workflow; --workflow says of which" },
        { { "instances", "result", "a/b", "--key", "c" }, NULL, "by --key or by its id, not by both" },
        { { "instances", "result", "-w", "a", "--key", ".." }, NULL, "the key \"..\" cannot be asked for" },
        { { "instances", "restart", "a/b", "--from", "\xff" }, NULL, "--from is not UTF-8" },
        { { "instances", "runs" }, NULL, "pawl instances runs needs INSTANCE" },
        { { "instances", "get", "order/a", "--run", "0" }, NULL, "--run" },
        { { "instances", "children" }, NULL, "pawl instances children needs INSTANCE" },
        { { "instances", "children", "a", "--status", "active" }, NULL, "has no option --status" },
        { { "instances", "retry" }, NULL, "pawl instances retry needs INSTANCE ..." },
        { { "instances", "interrupt", "-" }, "a b\n", "line 1 of standard input: \"a b\" is not an instance" },
        { { "instances", "interrupt", "a", "--rollback" }, NULL, "has no option --rollback" },
        { { "jobs", "claim" }, NULL, "pawl jobs claim needs FUNCTION ..." },
        { { "jobs", "claim", "@charge" }, NULL, "\"@charge\" is not a function's name" },
        { { "jobs", "claim", ".a" }, NULL, "\".a\" is not a function's name" },
        { { "jobs", "claim", "a", "--lease", "500ms" }, NULL, "--lease is 1s to 1h, not \"500ms\"" },
        { { "jobs", "claim", "a", "--max", "101" }, NULL, "--max is a whole number from 1 to 100" },
        { { "jobs", "heartbeat", "a", "b" }, NULL, "pawl jobs heartbeat does not take \"b\"" },
        { { "jobs", "complete", "-" }, "a\nb\n", "standard input has 2 lines, not one" },
        { { "jobs", "complete", "-" }, "", "standard input has 0 lines, not one" },
        { { "jobs", "complete", "a/b" }, NULL, "this is not a token" },
        { { "jobs", "complete", "-", "--result", "-" }, "a", "standard input cannot be both" },
        { { "jobs", "complete", "a", "--result", "{" }, NULL, "--result is not JSON" },
        { { "jobs", "fail", "a" }, NULL, "pawl jobs fail needs --name NAME" },
        { { "deferred", "fail", "a", "--name", "x", "--no-retry" }, NULL, "has no option --no-retry" },
        { { "deferred", "succeed" }, NULL, "pawl deferred succeed needs TOKEN" },
        { { "deferred", "sucede" }, NULL, "did you mean \"pawl deferred succeed\"?" },
    };
    check_all(list, LENGTH(list));
}

TEST_IN(cli_setting, kit, a_mistake_in_json_is_shown_with_line_and_column)
{
    static const struct wrong list[] = {
        { { "instances", "create", "a", "-p", "{\"a\": 1 x}" },
          NULL,
          "--params is not JSON: line 1, column 9: ',' or '}' is expected\n  {\"a\": 1 x}\n          ^\n" },
        { { "instances", "create", "a", "-p", "@bad.json" },
          NULL,
          "line 3, column 9: a value is expected\n    \"b\": [,]\n          ^\n" },
        { { "instances", "create", "a", "-p", "-" }, "{\"a\":", "line 1, column 6: the text ends too early" },
        { { "instances", "create", "a", "-p", "-" }, " \n", "the text ends too early" },
        { { "instances", "create", "a", "-p", "[1] 2" }, NULL, "line 1, column 5: the end is expected" },
        { { "instances", "create", "a", "-p", "[01]" }, NULL, "line 1, column 3: ',' or ']' is expected" },
        { { "instances", "create", "a", "-p", "[\"\\x\"]" }, NULL, "line 1, column 4: no such escape" },
        { { "instances", "create", "a", "-p", "[\"\xff\"]" }, NULL, "line 1, column 3: a string that is not UTF-8" },
        /* That is JSON, and cannot be taken all the same. */
        { { "instances", "create", "a", "-p", "[9223372036854775808]" },
          NULL,
          "--params: line 1, column 2: an integer beyond 64 bits" },
        { { "instances", "create", "a", "-p", "@none" },
          NULL,
          "--params: none cannot be read: No such file or directory" },
        { { "instances", "send-event", "a/b", "-t", "x", "-p", "{'a'}" },
          NULL,
          "--payload is not JSON: line 1, column 2" },
    };
    write_file("bad.json", "{\n  \"a\": 1,\n  \"b\": [,]\n}\n");
    check_all(list, LENGTH(list));
}

TEST_IN(cli_setting, kit, a_group_without_a_command_shows_what_there_is)
{
    expect(CLI(IN_A_PIPE, "instances"), 2, "", "usage: pawl instances [options] COMMAND ...");
    expect(cli_run(IN_A_PIPE, NULL, (const char *const[]){ NULL }), 2, "", "usage: pawl [options] COMMAND ...");
    expect(CLI(IN_A_PIPE, "--version"), 0, "pawl ", "");
}
