/* test_cli_commands.c - contract E: every command against a real pawld, in a pipe and on a terminal, compared with what is
 * kept in golden/.  The scenario is one story; each mode has a server of its own. */
#include "golden.h"
#include "shell.h"

#include <ctype.h>
#include <sys/stat.h>

struct scene {
    const char *name; /* of its section in the command's golden file; NULL: it only prepares */
    const char *words[12];
    const char *input; /* "@token": what the file holds */
    int code;
    const char *then[3]; /* workflow, id, status: waited for afterwards */
};

static const struct scene scenes[] = {
    { "status", { "status" }, NULL, 0, { NULL } },
    { "workflows-list", { "workflows", "list" }, NULL, 0, { NULL } },
    { "workflows-list-ids", { "workflows", "list", "-o", "ids" }, NULL, 0, { NULL } },
    { "instances-list-empty", { "instances", "list" }, NULL, 0, { NULL } },
    { "instances-create",
      { "instances", "create", "approve", "--id", "a-1", "--params", "{\"sku\": \"teapot\", \"price\": 19.99}" },
      NULL,
      0,
      { "approve", "a-1", "waiting" } },
    { "instances-get", { "instances", "get", "approve/a-1" }, NULL, 0, { NULL } },
    { "instances-get-full", { "instances", "get", "approve/latest", "--full" }, NULL, 0, { NULL } },
    { "instances-why-event", { "instances", "why", "a-1" }, NULL, 0, { NULL } },
    { "instances-pause", { "instances", "pause", "approve/a-1" }, NULL, 0, { "approve", "a-1", "paused" } },
    { "instances-get-paused", { "instances", "get", "--workflow", "approve", "--id", "a-1" }, NULL, 0, { NULL } },
    { "instances-why-paused", { "instances", "why", "approve/a-1" }, NULL, 0, { NULL } },
    { "instances-pause-again", { "instances", "pause", "approve/a-1" }, NULL, 0, { NULL } },
    { "instances-resume", { "instances", "resume", "approve/a-1" }, NULL, 0, { "approve", "a-1", "waiting" } },
    { "instances-resume-again", { "instances", "resume", "approve/a-1" }, NULL, 0, { NULL } },
    { NULL, { "instances", "create", "nap/n-1" }, NULL, 0, { "nap", "n-1", "waiting" } },
    { "instances-why", { "instances", "why", "nap/n-1" }, NULL, 0, { NULL } },
    { NULL, { "instances", "create", "flaky/f-1" }, NULL, 0, { "flaky", "f-1", "waiting" } },
    { "instances-get-retry", { "instances", "get", "flaky/f-1" }, NULL, 0, { NULL } },
    { "instances-why-retry", { "instances", "why", "flaky/f-1" }, NULL, 0, { NULL } },
    { "instances-create-wait", { "instances", "create", "broken/b-1", "--wait" }, NULL, 4, { NULL } },
    { "instances-get-errored", { "instances", "get", "broken/b-1" }, NULL, 0, { NULL } },
    { "instances-why-errored", { "instances", "why", "broken/b-1" }, NULL, 0, { NULL } },
    { "instances-list", { "instances", "list" }, NULL, 0, { NULL } },
    { "instances-list-status", { "instances", "list", "--status", "errored" }, NULL, 0, { NULL } },
    { "instances-list-version", { "instances", "list", "broken", "--workflow-version", "2.1" }, NULL, 0, { NULL } },
    { "instances-list-no-version", { "instances", "list", "--workflow-version", "9" }, NULL, 0, { NULL } },
    { "instances-list-two-filters",
      { "instances", "list", "broken", "--workflow-version", "2.1", "--status", "errored" },
      NULL,
      1,
      { NULL } },
    { "instances-list-ids", { "instances", "list", "--all", "-o", "ids" }, NULL, 0, { NULL } },
    { "instances-result-not-yet", { "instances", "result", "approve/a-1" }, NULL, 5, { NULL } },
    { "instances-send-event",
      { "instances", "send-event", "approve/a-1", "--type", "approval", "--payload", "-" },
      "{\"by\": \"Ada\"}",
      0,
      { "approve", "a-1", "complete" } },
    { "instances-result", { "instances", "result", "approve/a-1", "--wait" }, NULL, 0, { NULL } },
    { "instances-history", { "instances", "history", "approve/a-1", "--include-logs" }, NULL, 0, { NULL } },
    { "instances-logs", { "instances", "logs", "approve/a-1" }, NULL, 0, { NULL } },
    { "instances-logs-follow",
      { "instances", "logs", "flaky/f-1", "--log-level", "warn", "--log-category", "system" },
      NULL,
      0,
      { NULL } },
    { "instances-restart", { "instances", "restart", "broken/b-1" }, NULL, 0, { "broken", "b-1", "errored" } },
    { "instances-runs", { "instances", "runs", "broken/b-1", "--all", "--limit", "1" }, NULL, 0, { NULL } },
    { "instances-get-run", { "instances", "get", "broken/b-1", "--run", "1" }, NULL, 0, { NULL } },
    { "instances-history-run", { "instances", "history", "broken/b-1", "--run", "1" }, NULL, 0, { NULL } },
    { "instances-terminate",
      { "instances", "terminate", "-" },
      "nap/n-1\nnap/none\n\n  flaky/f-1  \n",
      1,
      { "flaky", "f-1", "terminated" } },
    { "instances-get-terminated", { "instances", "get", "nap/n-1" }, NULL, 0, { NULL } },
    { "instances-history-terminated", { "instances", "history", "flaky/f-1" }, NULL, 0, { NULL } },
    { "instances-why-terminated", { "instances", "why", "nap/n-1" }, NULL, 0, { NULL } },
    { "instances-pause-terminal", { "instances", "pause", "nap/n-1" }, NULL, 1, { NULL } },
    { "instances-restart-dry", { "instances", "restart", "--dry-run", "nap/n-1", "flaky/f-1" }, NULL, 0, { NULL } },
    { "instances-create-batch",
      { "instances", "create", "echo", "--batch", "[{\"id\": \"e-1\"}, {\"id\": \"e-2\", \"params\": 2}]" },
      NULL,
      0,
      { "echo", "e-2", "complete" } },
    { NULL, { "instances", "result", "echo/e-1", "--wait" }, NULL, 0, { NULL } },
    /* A call, that a worker carries out at the second attempt. */
    { NULL,
      { "instances", "create", "calls/c-1", "-p", "{\"sku\": \"cup\"}" },
      NULL,
      0,
      { "calls", "c-1", "waiting" } },
    { "instances-get-call", { "instances", "get", "calls/c-1" }, NULL, 0, { NULL } },
    { "instances-why-call", { "instances", "why", "calls/c-1" }, NULL, 0, { NULL } },
    { "jobs-claim", { "jobs", "claim", "charge", "refund", "--wait", "--lease", "1min" }, NULL, 0, { NULL } },
    { "jobs-claim-none", { "jobs", "claim", "charge" }, NULL, 5, { NULL } },
    { "jobs-heartbeat", { "jobs", "heartbeat", "-", "--lease", "2min" }, "@job-token", 0, { NULL } },
    { "jobs-fail",
      { "jobs", "fail", "-", "--name", "CardDeclined", "--message", "no money" },
      "@job-token",
      0,
      { "calls", "c-1", "waiting" } },
    { NULL, { "jobs", "claim", "charge", "--for", "20s" }, NULL, 0, { NULL } },
    { "instances-get-call-again", { "instances", "get", "calls/c-1" }, NULL, 0, { NULL } },
    { "instances-why-call-taken", { "instances", "why", "calls/c-1" }, NULL, 0, { NULL } },
    { "jobs-complete",
      { "jobs", "complete", "-", "--result", "{\"receipt\": \"r-9\"}" },
      "@job-token",
      0,
      { "calls", "c-1", "complete" } },
    { "instances-why-complete", { "instances", "why", "calls/c-1" }, NULL, 0, { NULL } },
    { "jobs-complete-gone", { "jobs", "complete", "-" }, "@job-token", 1, { NULL } },
    { "instances-history-call", { "instances", "history", "calls/c-1", "--full" }, NULL, 0, { NULL } },
    /* One that is ended before anybody has carried it out. */
    { NULL, { "instances", "create", "calls/c-2" }, NULL, 0, { "calls", "c-2", "waiting" } },
    { "instances-terminate-rollback",
      { "instances", "terminate", "calls/c-2", "--rollback" },
      NULL,
      0,
      { "calls", "c-2", "terminated" } },
    { "instances-get-rolled-back", { "instances", "get", "calls/c-2" }, NULL, 0, { NULL } },
    /* A child. */
    { NULL,
      { "instances", "create", "parent/p-1", "-p", "{\"child\": \"n-2\"}" },
      NULL,
      0,
      { "parent", "p-1", "waiting" } },
    { NULL, { "instances", "get", "nap/n-2" }, NULL, 0, { "nap", "n-2", "waiting" } },
    { "instances-get-parent", { "instances", "get", "parent/p-1" }, NULL, 0, { NULL } },
    { "instances-why-child", { "instances", "why", "parent/p-1" }, NULL, 0, { NULL } },
    { "instances-get-child", { "instances", "get", "nap/n-2" }, NULL, 0, { NULL } },
    { "instances-children", { "instances", "children", "parent/p-1" }, NULL, 0, { NULL } },
    { "instances-children-ids", { "instances", "children", "p-1", "--all", "-o", "ids" }, NULL, 0, { NULL } },
    { "instances-children-none", { "instances", "children", "nap/n-2" }, NULL, 0, { NULL } },
    { "instances-interrupt", { "instances", "interrupt", "parent/p-1" }, NULL, 0, { "nap", "n-2", "terminated" } },
    { "instances-get-interrupted", { "instances", "get", "nap/n-2" }, NULL, 0, { NULL } },
    { "instances-why-interrupted", { "instances", "why", "nap/n-2" }, NULL, 0, { NULL } },
    /* One that is asked to stop, and cannot be undone yet. */
    { NULL, { "instances", "create", "lingers/l-1" }, NULL, 0, { "lingers", "l-1", "waiting" } },
    { NULL, { "instances", "interrupt", "lingers/l-1" }, NULL, 0, { "lingers", "l-1", "waiting" } },
    { "instances-get-stopping", { "instances", "get", "lingers/l-1" }, NULL, 0, { NULL } },
    { "instances-why-stopping", { "instances", "why", "lingers/l-1" }, NULL, 0, { NULL } },
    { "instances-interrupt-again", { "instances", "interrupt", "lingers/l-1" }, NULL, 0, { NULL } },
    { NULL, { "instances", "pause", "lingers/l-1" }, NULL, 0, { "lingers", "l-1", "paused" } },
    { "instances-why-stopping-paused", { "instances", "why", "lingers/l-1" }, NULL, 0, { NULL } },
    { NULL, { "instances", "terminate", "--rollback", "lingers/l-1" }, NULL, 0, { "lingers", "l-1", "waiting" } },
    { "instances-get-rolling-back", { "instances", "get", "lingers/l-1" }, NULL, 0, { NULL } },
    { "instances-why-rolling-back", { "instances", "why", "lingers/l-1" }, NULL, 0, { NULL } },
    { "instances-terminate-rollback-again",
      { "instances", "terminate", "--rollback", "lingers/l-1" },
      NULL,
      0,
      { NULL } },
    /* And one that cannot be undone at all. */
    { NULL, { "instances", "create", "clings/k-1" }, NULL, 0, { "clings", "k-1", "waiting" } },
    { NULL, { "instances", "interrupt", "clings/k-1" }, NULL, 0, { "clings", "k-1", "terminated" } },
    { "instances-why-not-undone", { "instances", "why", "clings/k-1" }, NULL, 0, { NULL } },
    /* One whose child failed. */
    { NULL,
      { "instances", "create", "breeds/r-1", "-p", "{\"child\": \"y-1\"}" },
      NULL,
      0,
      { "breeds", "r-1", "errored" } },
    { "instances-why-failed-child", { "instances", "why", "breeds/r-1" }, NULL, 0, { NULL } },
    { NULL,
      { "instances", "create", "nurses/u-1", "-p", "{\"child\": \"y-2\"}" },
      NULL,
      0,
      { "nurses", "u-1", "paused" } },
    { "instances-why-repair-child", { "instances", "why", "nurses/u-1" }, NULL, 0, { NULL } },
    /* A deferred; and one whose failure undoes what was done. */
    { NULL, { "instances", "create", "defers/d-1" }, NULL, 0, { "defers", "d-1", "waiting" } },
    { "instances-get-deferred", { "instances", "get", "defers/d-1" }, NULL, 0, { NULL } },
    { "instances-why-deferred", { "instances", "why", "defers/d-1" }, NULL, 0, { NULL } },
    { "deferred-succeed",
      { "deferred", "succeed", "-", "--result", "{\"by\": \"Ada\"}" },
      "@token",
      0,
      { "defers", "d-1", "complete" } },
    { "instances-history-deferred", { "instances", "history", "defers/d-1" }, NULL, 0, { NULL } },
    { NULL, { "instances", "create", "defers/d-2" }, NULL, 0, { "defers", "d-2", "waiting" } },
    { "deferred-fail",
      { "deferred", "fail", "-", "--name", "Refused", "-m", "not this month" },
      "@token",
      0,
      { "defers", "d-2", "errored" } },
    { "instances-get-undone", { "instances", "get", "defers/d-2" }, NULL, 0, { NULL } },
    { "instances-why-undone", { "instances", "why", "defers/d-2" }, NULL, 0, { NULL } },
    { "instances-retry-undone", { "instances", "retry", "defers/d-2" }, NULL, 1, { NULL } },
    /* Several things at once. */
    { NULL, { "instances", "create", "splits/s-1" }, NULL, 0, { "splits", "s-1", "waiting" } },
    { "instances-get-fork", { "instances", "get", "splits/s-1" }, NULL, 0, { NULL } },
    { "instances-why-fork", { "instances", "why", "splits/s-1" }, NULL, 0, { NULL } },
    { NULL, { "instances", "pause", "splits/s-1" }, NULL, 0, { "splits", "s-1", "paused" } },
    { "instances-why-fork-paused", { "instances", "why", "splits/s-1" }, NULL, 0, { NULL } },
    { NULL, { "instances", "terminate", "splits/s-1" }, NULL, 0, { "splits", "s-1", "terminated" } },
    /* What failed, and goes on. */
    { NULL, { "instances", "create", "mends/m-1" }, NULL, 0, { "mends", "m-1", "paused" } },
    { "instances-get-repair", { "instances", "get", "mends/m-1" }, NULL, 0, { NULL } },
    { "instances-why-repair", { "instances", "why", "mends/m-1" }, NULL, 0, { NULL } },
    { NULL, { "instances", "create", "fragile/g-1" }, NULL, 0, { "fragile", "g-1", "errored" } },
    { "instances-why-failed-step", { "instances", "why", "fragile/g-1" }, NULL, 0, { NULL } },
    { "instances-retry", { "instances", "retry", "fragile/g-1" }, NULL, 0, { "fragile", "g-1", "errored" } },
    { "instances-restart-from",
      { "instances", "restart", "fragile/g-1", "--from", "call the hotel" },
      NULL,
      0,
      { "fragile", "g-1", "errored" } },
    { "instances-execute",
      { "instances", "execute", "echo", "--key", "cart 17/checkout", "--params", "{\"price\": 19.99}" },
      NULL,
      0,
      { NULL } },
    { "instances-execute-discard",
      { "instances", "execute", "-w", "echo", "--key", "cart 17/checkout", "--discard" },
      NULL,
      0,
      { NULL } },
    { "instances-result-key", { "instances", "result", "-w", "echo", "--key", "cart 17/checkout" }, NULL, 0, { NULL } },
    { "tick", { "tick", "--max-instances", "10" }, NULL, 0, { NULL } },
    { "hooks-list", { "hooks", "list" }, NULL, 0, { NULL } },
    { "hooks-resend", { "hooks", "resend", "none" }, NULL, 1, { NULL } },
    { "cluster", { "cluster" }, NULL, 0, { NULL } },
    { "cluster-workflow", { "cluster", "echo" }, NULL, 0, { NULL } },
    { "help", { "help", "instances", "send-event" }, NULL, 0, { NULL } },
    { "man", { "man", "instances", "resume" }, NULL, 0, { NULL } },
    { "completion", { "completion", "bash" }, NULL, 0, { NULL } },
    { "status-after", { "status" }, NULL, 0, { NULL } },
    { "status-workflow", { "status", "--workflow", "echo" }, NULL, 0, { NULL } },
};

/* The token that a claim printed, into the file that other scenes read it from. */
static void keep_token(const struct outcome *outcome)
{
    char token[128];
    const char *line = strstr(outcome->output, "token");
    assert_non_null(line);
    line += strcspn(line, " ");
    assert_int_equal(sscanf(line, " %127[0-9a-z.]", token), 1);
    write_file("job-token", token);
}

/* The scene's input, or what is in the file that it names; NULL: none. */
static const char *input_of(const struct scene *scene, char *buffer, size_t size)
{
    if (scene->input == NULL || scene->input[0] != '@')
        return scene->input;
    FILE *file = fopen(scene->input + 1, "re");
    assert_non_null(file);
    buffer[fread(buffer, 1, size - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    return buffer;
}

static void compare(const struct scene *scene, enum mode mode, const struct outcome *outcome, const char *base)
{
    static char text[OUTPUT_SIZE * 3];
    char name[128], command[64] = "";
    if (scene->words[1] != NULL)
        (void)snprintf(command, sizeof command, "%s-%s", scene->words[0], scene->words[1]);
    /* A scene is named after its command, which has two words or one. */
    bool is_two = command[0] != '\0' && strncmp(scene->name, command, strlen(command)) == 0;
    size_t size = (size_t)snprintf(text, sizeof text, "$ pawl");
    for (size_t i = 0; i < LENGTH(scene->words) && scene->words[i] != NULL; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, " %s", scene->words[i]);
    size += (size_t)snprintf(text + size, sizeof text - size, "\n%s", outcome->output);
    if (outcome->errors[0] != '\0')
        size += (size_t)snprintf(text + size, sizeof text - size, "-- standard error\n%s", outcome->errors);
    (void)snprintf(text + size, sizeof text - size, "-- exit code %d\n", outcome->code);
    if (strncmp(scene->name, "instances-why", 13) == 0) /* lines are broken where the times let them be */
        golden_replace(text, sizeof text, "([^\r\n])\r?\n([^ \r\n-])", "\\1 \\2");
    if (strncmp(scene->name, "cluster", 7) == 0) {
        golden_replace(text, sizeof text, "[^ \r\n]+:[0-9]+ ", "HOST:PROCESS ");
        golden_replace(text, sizeof text, "[0-9]{15,20}", "ID");
        golden_replace(text, sizeof text, "(approve( 256)?, breeds)[^\r\n]*", "\\1 and others"); /* cut where it fits */
    }
    if (strncmp(scene->name, "jobs-claim", 10) == 0)
        golden_replace(text, sizeof text, "[0-9]+\\.[0-9]+\\.[0-9]+\\.[0-9a-z]+", "TOKEN");
    golden_normalise(text, sizeof text, base);
    (void)snprintf(name, sizeof name, "%s (%s)", scene->name, mode == IN_A_PIPE ? "pipe" : "terminal");
    golden_compare(is_two ? command : scene->words[0], name, text);
}

static void play(struct kit *kit, enum mode mode)
{
    struct pawld *pawld = cli_serve(kit);
    char path[4096];
    (void)snprintf(path, sizeof path, "%s", getenv("PATH"));
    assert_int_equal(setenv("PATH", "", 1), 0); /* what there is on this machine, as man, does not matter */
    for (size_t i = 0; i < LENGTH(scenes); i++) {
        const struct scene *scene = &scenes[i];
        char input[512];
        struct outcome *outcome = cli_run(mode, input_of(scene, input, sizeof input), scene->words);
        if (outcome->code != scene->code)
            fail_msg("pawl %s %s ...: exit code %d, not %d: %s%s", scene->words[0], scene->words[1], outcome->code,
                     scene->code, outcome->output, outcome->errors);
        if (strcmp(scene->words[0], "jobs") == 0 && strcmp(scene->words[1], "claim") == 0 && scene->code == 0)
            keep_token(outcome);
        if (scene->then[0] != NULL)
            await_status(kit, pawld, scene->then[0], scene->then[1], scene->then[2]);
        if (scene->name != NULL)
            compare(scene, mode, outcome, pawld->base);
        free(outcome);
    }
    assert_int_equal(setenv("PATH", path, 1), 0);
}

TEST_IN(cli_setting, kit, E_every_command_reads_well_in_a_pipe)
{
    play(kit, IN_A_PIPE);
}

TEST_IN(cli_setting, kit, E_every_command_reads_well_on_a_terminal)
{
    play(kit, ON_A_TERMINAL);
}

/* The story is complete: what the help lists is in it. */
TEST_IN(cli_setting, kit, E_every_command_of_the_help_is_in_the_story)
{
    struct outcome *help = CLI(IN_A_PIPE, "help");
    char *line = strstr(help->output, "\ncommands\n");
    int count = 0;
    assert_non_null(line);
    for (line += 10; line[0] == ' '; line = strchr(line, '\n') + 1) {
        char name[32] = "";
        if (line[2] == ' ')
            continue; /* the description goes on */
        (void)sscanf(line + 2, "%31[a-z -]", name);
        *strstr(name, "  ") = '\0';
        for (char *at = name; *at != '\0'; at++)
            *at = *at == ' ' ? '-' : *at;
        bool is_played = strcmp(name, "instances-watch") == 0; /* in test_cli_follow.c */
        for (size_t i = 0; i < LENGTH(scenes); i++)
            is_played = is_played || (scenes[i].name != NULL && strcmp(scenes[i].name, name) == 0);
        if (!is_played)
            fail_msg("%s is in no scene", name);
        count++;
    }
    assert_true(count > 20);
    free(help);
}

/* ---- JSON for scripts -------------------------------------------------------------------------------------------------- */

TEST_IN(cli_setting, kit, E_json_has_the_same_fields_whatever_is_printed_for_people)
{
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "approve", "a-1", "{\"sku\": \"cup\", \"price\": 19.99}");
    create(kit, pawld, "broken", "b-1", NULL);
    await_status(kit, pawld, "approve", "a-1", "waiting");
    await_status(kit, pawld, "broken", "b-1", "errored");
    expect(CLI(IN_A_PIPE, "workflows", "list", "--json"), 0, "{\"workflows\":[{\"name\":\"approve\",", "");
    expect(CLI(IN_A_PIPE, "instances", "list", "--json"), 0, "\"workflowName\":\"approve\"}", "");
    expect(CLI(IN_A_PIPE, "instances", "list", "approve", "--json"), 0, "\"hasNextPage\":false", "");
    expect(CLI(IN_A_PIPE, "instances", "list", "--all", "--json"), 0, "],\"hasNextPage\":false}", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "a-1", "--json"), 0, "\"params\":{\"sku\":\"cup\",\"price\":19.99}", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "a-1", "--full", "--json"), 0, "\"history\":{\"runNumber\":1,", "");
    expect(CLI(IN_A_PIPE, "instances", "history", "a-1", "-l", "-o", "json"), 0, "\"logsHasNextPage\":false", "");
    expect(CLI(IN_A_PIPE, "instances", "logs", "a-1", "--json"), 0, "\"message\":\"reserving cup\"", "");
    expect(CLI(IN_A_PIPE, "instances", "why", "a-1", "--json"), 0, "\"reason\":\"waitingForEvent\"", "");
    expect(cli_shell("pawl -v instances why approve/a-1 2>&1 >/dev/null | grep -c ': 200, '"), 0, "1\n", "");
    expect(CLI(IN_A_PIPE, "instances", "result", "b-1", "--json"), 4, "\"status\":\"errored\"", "");
    expect(CLI(IN_A_PIPE, "instances", "pause", "a-1", "--json"), 0,
           "{\"workflowName\":\"approve\",\"id\":\"a-1\",\"ok\":true}\n", "");
    expect(CLI(IN_A_PIPE, "instances", "pause", "a-1", "--json"), 0,
           "{\"workflowName\":\"approve\",\"id\":\"a-1\",\"ok\":true,\"changed\":false}\n", "");
    expect(CLI(IN_A_PIPE, "instances", "pause", "b-1", "--json"), 1,
           "\"ok\":false,\"error\":{\"code\":\"INSTANCE_TERMINAL\"", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "none", "--json"), 1, "", "{\"code\":\"INSTANCE_NOT_FOUND\",");
    expect(CLI(IN_A_PIPE, "status", "--json"), 0,
           "\"instances\":{\"active\":0,\"waiting\":0,\"paused\":1,\"complete\":0,\"errored\":1,\"terminated\":0,"
           "\"hasMore\":[]}",
           "");
    expect(CLI(IN_A_PIPE, "status", "--json", "-w", "approve"), 0, "\"errored\":0,", "");
    expect(CLI(IN_A_PIPE, "status", "-w", "aprove"), 1, "", "(404 WORKFLOW_NOT_FOUND); did you mean approve?");
    expect(CLI(IN_A_PIPE, "tick", "--json"), 0, "{\"processed\":0}\n", "");
    expect(CLI(IN_A_PIPE, "hooks", "list", "--json"), 0, "{\"deliveries\":[],\"hasNextPage\":false}\n", "");
}

/* Of the whole store, also of what was there before the server was started; and no further than is quick. */
TEST_IN(cli_setting, kit, status_counts_the_whole_store_up_to_a_limit_and_says_so)
{
    (void)cli_serve(kit);
    assert_int_equal(
        system("python3 -c \"import sqlite3\n"
               "db = sqlite3.connect('pawl.db', timeout=60)\n"
               "for name, outcome, count in ('echo', 1, 100001), ('broken', 3, 1204), ('nap', 2, 100000):\n"
               "    db.executemany('INSERT INTO workflow_instance (workflow, id, run, outcome, created_at,"
               " updated_at) VALUES (?, ?, 1, ?, 1, 1)', ((name, 'i%d' % i, outcome) for i in range(count)))\n"
               "db.commit()\""),
        0);
    expect(CLI(IN_A_PIPE, "status"), 0, "finished  100,000+ complete, 1,204 errored, 100,000 terminated\n", "");
    expect(CLI(IN_A_PIPE, "status", "--json"), 0,
           "\"complete\":100000,\"errored\":1204,\"terminated\":100000,\"hasMore\":[\"complete\"]}", "");
    expect(CLI(IN_A_PIPE, "status", "-w", "broken"), 0, "0 complete, 1,204 errored, 0 terminated (of broken)\n", "");
}

/* Whoever sent 1.10 finds 1.10, wherever it is shown. */
TEST_IN(cli_setting, kit, E_json_keeps_every_number_as_it_was_written)
{
    struct pawld *pawld = cli_serve(kit);
    static const char params[] = "{\"sku\": \"cup\", \"price\": 1.10, \"n\": [1E2, -0, 9007199254740993], \"n\": 0.0}";
    expect(CLI(IN_A_PIPE, "instances", "create", "approve/a-1", "--params", params), 0, "approve/a-1", "");
    write_file("batch.json", "[{\"id\": \"b-1\", \"params\": {\"price\": 2.50, \"price\": 2.5000}}]");
    expect(CLI(IN_A_PIPE, "instances", "create", "approve", "--batch", "@batch.json"), 0, "1 created\n", "");
    await_status(kit, pawld, "approve", "a-1", "waiting");
    await_status(kit, pawld, "approve", "b-1", "waiting");
    /* The server's answer as it came, with the name that is there twice. */
    expect(CLI(IN_A_PIPE, "instances", "get", "approve/a-1", "--json"), 0,
           "\"params\":{\"sku\":\"cup\",\"price\":1.10,\"n\":[1E2,-0,9007199254740993],\"n\":0.0}", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "approve/b-1", "--json"), 0, "{\"price\":2.50,\"price\":2.5000}", "");
    /* What is put together here. */
    expect(CLI(IN_A_PIPE, "instances", "get", "approve/a-1", "--json", "--full"), 0, "\"price\":1.10,", "");
    expect(CLI(IN_A_PIPE, "instances", "logs", "approve/a-1", "--json"), 0, "\"price\":1.10,", "");
    expect(CLI(IN_A_PIPE, "instances", "get", "approve/a-1"), 0, "\"price\":1.10,", "");
    assert_int_equal(ask(kit, pawld, "POST", "/workflows/approve/instances/a-1/events",
                         "{\"type\":\"approval\",\"payload\":2.50}", NULL)
                         .status,
                     200);
    await_status(kit, pawld, "approve", "a-1", "complete");
    expect(CLI(IN_A_PIPE, "instances", "history", "approve/a-1", "--json"), 0, "\"payload\":2.50", "");
    expect(CLI(IN_A_PIPE, "instances", "watch", "approve/a-1", "--json"), 0, "\"price\":1.10,", "");
}

/* Nobody reads roff: on a terminal man shows the page, where there is one. */
TEST_IN(cli_setting, kit, a_man_page_on_a_terminal_is_shown_by_man)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s", getenv("PATH"));
    write_file("man", "#!/bin/sh\necho \"man was called with $*\"\nhead -1\n");
    assert_int_equal(chmod("man", 0755), 0);
    assert_int_equal(setenv("PATH", pawl_scope_format(kit->scope, "%s:%s", kit->folder, path), 1), 0);
    struct outcome *outcome = CLI(ON_A_TERMINAL, "man", "status");
    assert_string_equal(outcome->output,
                        "man was called with -l -\r\n.TH pawl-status 1 \"\" \"pawl " PAWL_VERSION "\" \"Pawl\"\r\n");
    assert_int_equal(outcome->code, 0);
    free(outcome);
    expect(CLI(IN_A_PIPE, "man", "status"), 0, ".TH pawl-status 1", "");
    write_file("man", "#!/bin/sh\nexit 16\n");
    outcome = CLI(ON_A_TERMINAL, "man", "status");
    assert_non_null(strstr(outcome->output, "usage: pawl status"));
    free(outcome);
    assert_int_equal(setenv("PATH", path, 1), 0);
}

/* On a terminal JSON is indented, and never coloured. */
TEST_IN(cli_setting, kit, E_json_on_a_terminal_is_indented)
{
    (void)cli_serve(kit);
    struct outcome *outcome = CLI(ON_A_TERMINAL, "hooks", "list", "--json");
    assert_string_equal(outcome->output, "{\r\n  \"deliveries\": [],\r\n  \"hasNextPage\": false\r\n}\r\n");
    free(outcome);
}

TEST_IN(cli_setting, kit, hooks_that_failed_are_listed_and_sent_again)
{
    write_file("config.json",
               "{\"webhooks\": [{\"name\": \"billing\", \"url\": \"http://127.0.0.1:1/\", \"attempts\": 1, "
               "\"events\": [\"onInstanceFinished\"], \"secret\": \"0123456789abcdef\"}]}");
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "config.json", CLI_MODULE);
    cli_use(pawld);
    create(kit, pawld, "echo", "e-1", NULL);
    await_status(kit, pawld, "echo", "e-1", "complete");
    struct outcome *outcome = NULL;
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms; rest_a_little()) {
        free(outcome);
        outcome = CLI(IN_A_PIPE, "hooks", "list", "--status", "failed", "--hook", "billing");
        if (strstr(outcome->output, " failed ") != NULL)
            break;
    }
    golden_normalise(outcome->output, sizeof outcome->output, pawld->base);
    golden_compare("hooks-list", "hooks-list-failed (pipe)", outcome->output);
    free(outcome);
    expect(cli_shell("pawl hooks list -s failed --all -o ids | pawl hooks resend - | wc -l"), 0, "1\n", "");
}

/* The engine keeps what a replay writes again, and marks it. */
TEST_IN(cli_setting, kit, log_lines_of_a_replay_can_be_left_out)
{
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "talk", "t-1", "{\"lines\": 2}");
    await_status(kit, pawld, "talk", "t-1", "complete");
    expect(CLI(IN_A_PIPE, "instances", "logs", "talk/t-1"), 0, "begun  (replay)\n", "");
    expect(cli_shell("pawl instances logs talk/t-1 --no-replay | grep -c begun"), 0, "1\n", "");
    expect(cli_shell("pawl instances logs talk/t-1 --no-replay -f | grep -c begun"), 0, "1\n", "");
    expect(cli_shell("pawl instances history talk/t-1 --no-replay -l | grep -c begun"), 0, "1\n", "");
}

/* ---- Colour ------------------------------------------------------------------------------------------------------------ */

TEST_IN(cli_setting, kit, E_colour_is_for_terminals_and_can_be_refused)
{
    (void)cli_serve(kit);
    struct outcome *outcome = CLI(ON_A_TERMINAL, "status");
    assert_non_null(strstr(outcome->output, "\033[32mready"));
    free(outcome);
    outcome = CLI(ON_A_TERMINAL, "status", "--color", "never");
    assert_null(strchr(outcome->output, '\033'));
    free(outcome);
    outcome = CLI(IN_A_PIPE, "status");
    assert_null(strchr(outcome->output, '\033'));
    free(outcome);
    expect(CLI(IN_A_PIPE, "status", "--color=always"), 0, "\033[32mready", "");
    assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
    outcome = CLI(ON_A_TERMINAL, "status");
    assert_null(strchr(outcome->output, '\033'));
    free(outcome);
}

/* ---- Many -------------------------------------------------------------------------------------------------------------- */

TEST_IN(cli_setting, kit, E_lists_follow_their_pages_and_ids_are_piped)
{
    struct pawld *pawld = cli_serve(kit);
    for (int i = 0; i < 130; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "b-%d", i);
        create(kit, pawld, "broken", id, NULL);
    }
    create(kit, pawld, "echo", "e-1", NULL);
    await_status(kit, pawld, "broken", "b-129", "errored");
    await_status(kit, pawld, "broken", "b-0", "errored");
    expect(cli_shell("pawl instances list -o ids | wc -l"), 0, "25\n", "");
    expect(cli_shell("pawl instances list --all -o ids | sort -u | wc -l"), 0, "131\n", "");
    expect(cli_shell("pawl instances list --all broken --limit 7 --order asc -o ids | head -1"), 0, "broken/b-0\n", "");
    expect(cli_shell("pawl instances list --all --json | python3 -c 'import json, sys; "
                     "print(len(json.load(sys.stdin)[\"instances\"]))'"),
           0, "131\n", "");
    expect(cli_shell("pawl instances list --status errored --all -o ids | pawl instances restart - | wc -l"), 0,
           "130\n", "");
    expect(CLI(IN_A_PIPE, "instances", "history", "broken/b-129"), 0, "run 2", "");
    /* The cursor of one page leads to the next. */
    expect(
        cli_shell("c=$(pawl instances list broken --limit 100 --json | sed 's/.*\"cursor\":\"\\([^\"]*\\)\".*/\\1/'); "
                  "pawl instances list broken --limit 100 --cursor \"$c\" -o ids | wc -l"),
        0, "30\n", "");
}

TEST_IN(cli_setting, kit, E_progress_of_many_is_shown_on_a_terminal)
{
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "nap", "n-1", NULL);
    create(kit, pawld, "nap", "n-2", NULL);
    struct outcome *outcome = CLI_INPUT(ON_A_TERMINAL, "nap/n-1\nnap/n-2\n", "instances", "terminate", "-");
    assert_non_null(strstr(outcome->output, "\r\033[K1 of 2 terminated"));
    assert_non_null(strstr(outcome->output, "2 terminated\r\n"));
    free(outcome);
}

/* ---- Payloads ---------------------------------------------------------------------------------------------------------- */

TEST_IN(cli_setting, kit, E_payloads_come_inline_from_a_file_and_from_standard_input)
{
    (void)cli_serve(kit);
    write_file("order.json", "{\n  \"price\": 19.99,\n  \"big\": 9007199254740993\n}\n");
    expect(CLI(IN_A_PIPE, "instances", "create", "echo", "--params", "@order.json", "--wait"), 0,
           "{\"echo\":{\"price\":19.99,\"big\":9007199254740993}}\n", "");
    expect(CLI_INPUT(IN_A_PIPE, "[1, 2.5, \"ä\"]", "instances", "create", "echo", "-p", "-", "--wait"), 0,
           "{\"echo\":[1,2.5,\"ä\"]}\n", "");
    expect(CLI(IN_A_PIPE, "instances", "create", "echo", "-p", "null", "--for", "20s"), 0, "{\"echo\":null}\n", "");
    write_file("batch.json", "[{\"id\": \"x\", \"params\": 0.1}, {\"id\": \"y\"}]");
    expect(CLI(IN_A_PIPE, "instances", "create", "echo", "--batch", "@batch.json", "-o", "ids"), 0, "echo/x\necho/y\n",
           "");
    expect(CLI(IN_A_PIPE, "instances", "create", "echo", "--batch", "@batch.json"), 0, "0 created, 2 skipped", "");
    expect(CLI(IN_A_PIPE, "instances", "result", "echo/x", "--wait"), 0, "{\"echo\":0.1}\n", "");
    expect(CLI(IN_A_PIPE, "instances", "create", "echo/x", "--return-existing", "-o", "ids"), 0, "echo/x\n", "");
}

/* What a workflow says cannot move the cursor of who looks at it. */
TEST_IN(cli_setting, kit, text_of_strangers_is_shown_harmless)
{
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "broken", "b-1", NULL);
    await_status(kit, pawld, "broken", "b-1", "errored");
    struct outcome *outcome = CLI(ON_A_TERMINAL, "instances", "list", "--color", "never");
    assert_null(strchr(outcome->output, '\033'));
    assert_non_null(strstr(outcome->output, "it cannot work \\x1b[31mat all"));
    free(outcome);
}
