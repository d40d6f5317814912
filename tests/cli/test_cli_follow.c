/* test_cli_follow.c - `logs --follow`, `watch` and `result --wait` go on over restarts of the server, and miss no line. */
#include "golden.h"
#include "shell.h"

enum { LINES = 150, LINES_BEFORE_RESTARTS = 100 };

/* At the same address, on the same database. */
static struct pawld *serve_again(struct kit *kit, const char *base)
{
    char address[64];
    const char *host = strstr(base, "//") + 2;
    (void)snprintf(address, sizeof address, "%.*s", (int)strcspn(host, "/"), host);
    struct pawld *pawld = PAWLD_START(kit, "--store", "sqlite:pawl.db", "--listen", address, CLI_MODULE);
    pawld_await_base(pawld);
    return pawld;
}

/* Stopped once as it should be, and once in the middle of whatever it does. */
static struct pawld *restart_twice(struct kit *kit, struct pawld *pawld, struct outcome *follower, const char *line)
{
    char base[256];
    (void)snprintf(base, sizeof base, "%s", pawld->base);
    static const int signals[] = { SIGTERM, SIGKILL };
    for (size_t i = 0; i < LENGTH(signals); i++) {
        cli_await_times(follower, line, 10 + 40 * (int)i);
        pawld_kill(pawld, signals[i]);
        (void)pawld_await_end(pawld);
        pawld = serve_again(kit, base);
    }
    return pawld;
}

/* The lines "line 1" to "line N", each once and in order. */
static void assert_all_lines(const char *text)
{
    int next = 1;
    for (const char *at = text; (at = strstr(at, "line ")) != NULL; at += 5, next++)
        assert_int_equal(atoi(at + 5), next);
    assert_int_equal(next, LINES + 1);
}

/* Says so many lines, and the rest when it is told to go on. */
static void begin_to_talk(struct kit *kit, int lines, struct pawld **out_pawld)
{
    char params[64];
    *out_pawld = cli_serve(kit);
    (void)snprintf(params, sizeof params, "{\"lines\": %d, \"waitsAt\": %d}", LINES, lines + 1);
    create(kit, *out_pawld, "talk", "t-1", params);
}

static void go_on(struct kit *kit, const struct pawld *pawld)
{
    struct answer answer = ask(kit, pawld, "POST", "/workflows/talk/instances/t-1/events", "{\"type\": \"go\"}", NULL);
    assert_int_equal(answer.status, 200);
}

TEST_IN(cli_setting, kit, E_logs_are_followed_over_restarts_and_no_line_is_missed)
{
    struct pawld *pawld;
    begin_to_talk(kit, LINES_BEFORE_RESTARTS, &pawld);
    struct outcome *follower = CLI_START(IN_A_PIPE, "instances", "logs", "talk/t-1", "--follow");
    go_on(kit, restart_twice(kit, pawld, follower, "line "));
    cli_end(follower);
    assert_all_lines(follower->output);
    assert_non_null(strstr(follower->errors, "pawl: the connection was lost ("));
    assert_int_equal(follower->code, 0);
    free(follower);
}

TEST_IN(cli_setting, kit, E_a_watch_in_a_pipe_tells_every_change_over_restarts)
{
    struct pawld *pawld;
    begin_to_talk(kit, LINES_BEFORE_RESTARTS, &pawld);
    struct outcome *watch = CLI_START(IN_A_PIPE, "instances", "watch", "talk/t-1", "--json");
    go_on(kit, restart_twice(kit, pawld, watch, "\"message\":\"line "));
    cli_end(watch);
    assert_int_equal(watch->code, 0);
    assert_all_lines(watch->output);
    for (int i = 1; i <= LINES; i++) {
        char step[64];
        (void)snprintf(step, sizeof step, "\"stepKey\":\"pause %d\",", i);
        assert_non_null(strstr(watch->output, step));
    }
    assert_non_null(strstr(watch->output, "\"details\":{\"status\":\"complete\""));
    free(watch);
}

TEST_IN(cli_setting, kit, E_a_watch_on_a_terminal_keeps_log_lines_and_draws_the_steps_below)
{
    struct pawld *pawld;
    begin_to_talk(kit, 1, &pawld);
    struct outcome *watch = CLI_START(ON_A_TERMINAL, "instances", "watch", "talk/t-1", "--color", "never");
    cli_await(watch, "pause 1 ");
    go_on(kit, pawld);
    cli_await(watch, "A\r\033[J"); /* the cursor went up, and the picture was cleared */
    cli_end(watch);
    assert_int_equal(watch->code, 0);
    assert_non_null(strstr(watch->output, "talk/t-1  complete"));
    assert_all_lines(watch->output); /* each was printed once, above the picture */
    /* A terminal of 40 rows shows the newest steps, and says how many are not shown. */
    assert_non_null(strstr(watch->output, "269 steps before these\r\n"));
    assert_non_null(strstr(watch->output, "pause 150"));
    free(watch);
}

TEST_IN(cli_setting, kit, a_wait_for_a_result_outlives_the_server)
{
    char base[256];
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "approve", "a-1", NULL);
    await_status(kit, pawld, "approve", "a-1", "waiting");
    (void)snprintf(base, sizeof base, "%s", pawld->base);
    struct outcome *waiter = CLI_START(IN_A_PIPE, "instances", "result", "approve/a-1", "--wait", "--verbose");
    cli_await(waiter, ": 202, "); /* it has been answered once: from now on it does not give up */
    expect(CLI(IN_A_PIPE, "instances", "result", "approve/a-1", "--for", "300ms"), 5, "", "has not finished");
    pawld_kill(pawld, SIGKILL);
    (void)pawld_await_end(pawld);
    cli_await(waiter, "the connection was lost; trying again");
    (void)serve_again(kit, base);
    expect(CLI(IN_A_PIPE, "instances", "send-event", "approve/a-1", "--type", "approval"), 0, "was sent approval", "");
    cli_end(waiter);
    expect(waiter, 0, "\"receipt\":\"r-1\"", NULL);
}

TEST_IN(cli_setting, kit, E_a_watched_list_tells_what_has_changed)
{
    struct pawld *pawld = cli_serve(kit);
    char base[256];
    create(kit, pawld, "approve", "a-1", NULL);
    await_status(kit, pawld, "approve", "a-1", "waiting");
    (void)snprintf(base, sizeof base, "%s", pawld->base);
    struct outcome *watch = CLI_START(IN_A_PIPE, "instances", "watch", "--interval", "50ms");
    cli_await(watch, "approve/a-1  waiting");
    pawld_kill(pawld, SIGKILL);
    (void)pawld_await_end(pawld);
    cli_await(watch, "the connection was lost; trying again");
    pawld = serve_again(kit, base);
    create(kit, pawld, "broken", "b-1", NULL);
    cli_await(watch, "broken/b-1   errored");
    cli_stop(watch, SIGINT);
    assert_int_equal(watch->code, 128 + SIGINT);
    const char *first = strstr(watch->output, "approve/a-1  waiting");
    assert_null(strstr(first + 1, "approve/a-1  waiting")); /* what has not changed is not told again */
    free(watch);
    watch = CLI_START(ON_A_TERMINAL, "instances", "watch", "--interval", "50ms", "--color", "never");
    cli_await(watch, "broken/b-1   errored");
    cli_await(watch, "\033[3A\r\033[J"); /* a heading and two rows are drawn again */
    cli_stop(watch, SIGINT);
    free(watch);
}

/* A terminal of 12 rows: the heading, the newest instances, how many more there are, and the cursor's line. */
TEST_IN(cli_setting, kit, a_watched_list_shows_what_fits_and_says_how_many_do_not)
{
    struct pawld *pawld = cli_serve(kit);
    for (int i = 0; i < 30; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "n-%02d", i);
        create(kit, pawld, "nap", id, NULL);
    }
    assert_int_equal(setenv("LINES", "12", 1), 0);
    struct outcome *watch =
        CLI_START(ON_A_TERMINAL, "instances", "watch", "--interval", "50ms", "--color", "never", "--limit", "20");
    cli_await(watch, "\033[11A\r\033[J"); /* eleven rows were drawn, and are drawn again */
    cli_stop(watch, SIGINT);
    char *first = strstr(watch->output, "INSTANCE");
    *strstr(first, "\033[") = '\0';
    assert_non_null(strstr(first, "nap/n-29"));
    assert_non_null(strstr(first, "nap/n-21"));
    assert_null(strstr(first, "nap/n-20"));
    assert_non_null(strstr(first, "\r\n11 more, and further pages (pawl instances list --all)\r\n"));
    free(watch);
}

/* The server says first how the run stands, and then what led to it: in a pipe it is told in the order of time. */
TEST_IN(cli_setting, kit, lines_of_a_watch_are_in_the_order_of_their_times)
{
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "approve", "a-1", "{\"sku\": \"cup\"}");
    await_status(kit, pawld, "approve", "a-1", "waiting");
    struct outcome *watch = CLI_START(IN_A_PIPE, "instances", "watch", "approve/a-1");
    cli_await(watch, "run    waiting\n");
    expect(CLI(IN_A_PIPE, "instances", "send-event", "approve/a-1", "--type", "approval"), 0, NULL, "");
    cli_end(watch);
    assert_int_equal(watch->code, 0);
    assert_true(strstr(watch->output, "step   await approval: waiting") < strstr(watch->output, "run    waiting"));
    char before[16] = "";
    for (const char *line = watch->output; *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_true(strncmp(before, line, 12) <= 0); /* "12:00:00.000" */
        memcpy(before, line, 12);
    }
    char once[OUTPUT_SIZE];
    (void)snprintf(once, sizeof once, "%s", strstr(watch->output, "run    complete"));
    free(watch);
    watch = CLI(IN_A_PIPE, "instances", "watch", "approve/a-1"); /* and at any time the same */
    assert_string_equal(strstr(watch->output, "run    complete"), once);
    assert_int_equal(strncmp(strstr(watch->output, "run    complete") - 14, before, 12), 0);
    free(watch);
}

TEST_IN(cli_setting, kit, E_what_is_finished_is_watched_to_its_end_at_once)
{
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "echo", "e-1", "[1]");
    await_status(kit, pawld, "echo", "e-1", "complete");
    struct outcome *watch = CLI(IN_A_PIPE, "instances", "watch", "echo/latest");
    golden_normalise(watch->output, sizeof watch->output, pawld->base);
    golden_compare("instances-watch", "instances-watch (pipe)", watch->output);
    free(watch);
    watch = CLI(ON_A_TERMINAL, "instances", "watch", "latest");
    golden_normalise(watch->output, sizeof watch->output, pawld->base);
    golden_compare("instances-watch", "instances-watch (terminal)", watch->output);
    free(watch);
}
