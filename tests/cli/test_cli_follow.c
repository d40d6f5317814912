/* test_cli_follow.c - `logs --follow`, `watch` and `result --wait` go on over restarts of the server, and miss no line. */
#include "golden.h"
#include "shell.h"

enum { LINES = 150 };

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

static void begin_to_talk(struct kit *kit, struct pawld **out_pawld)
{
    char params[32];
    *out_pawld = cli_serve(kit);
    (void)snprintf(params, sizeof params, "{\"lines\": %d}", LINES);
    create(kit, *out_pawld, "talk", "t-1", params);
}

static void E_logs_are_followed_over_restarts_and_no_line_is_missed(void **state)
{
    struct pawld *pawld;
    begin_to_talk(*state, &pawld);
    struct outcome *follower = CLI_START(IN_A_PIPE, "instances", "logs", "talk/t-1", "--follow");
    (void)restart_twice(*state, pawld, follower, "line ");
    cli_end(follower);
    assert_all_lines(follower->output);
    assert_non_null(strstr(follower->errors, "pawl: the connection was lost ("));
    assert_int_equal(follower->code, 0);
    free(follower);
}

static void E_a_watch_in_a_pipe_tells_every_change_over_restarts(void **state)
{
    struct pawld *pawld;
    begin_to_talk(*state, &pawld);
    struct outcome *watch = CLI_START(IN_A_PIPE, "instances", "watch", "talk/t-1", "--json");
    (void)restart_twice(*state, pawld, watch, "\"message\":\"line ");
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

static void E_a_watch_on_a_terminal_keeps_log_lines_and_draws_the_steps_below(void **state)
{
    struct pawld *pawld;
    begin_to_talk(*state, &pawld);
    struct outcome *watch = CLI_START(ON_A_TERMINAL, "instances", "watch", "talk/t-1", "--color", "never");
    cli_await(watch, "pause 1 ");
    cli_await(watch, "A\r\033[J"); /* the cursor went up, and the picture was cleared */
    cli_end(watch);
    assert_int_equal(watch->code, 0);
    assert_non_null(strstr(watch->output, "talk/t-1  complete"));
    assert_all_lines(watch->output); /* each was printed once, above the picture */
    /* A terminal of 40 rows shows the newest steps, and says how many are not shown. */
    assert_non_null(strstr(watch->output, "268 steps before these\r\n"));
    assert_non_null(strstr(watch->output, "pause 150"));
    free(watch);
}

static void a_wait_for_a_result_outlives_the_server(void **state)
{
    struct kit *kit = *state;
    char base[256];
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "approve", "a-1", NULL);
    await_status(kit, pawld, "approve", "a-1", "waiting");
    (void)snprintf(base, sizeof base, "%s", pawld->base);
    struct outcome *waiter = CLI_START(IN_A_PIPE, "instances", "result", "approve/a-1", "--wait");
    expect(CLI(IN_A_PIPE, "instances", "result", "approve/a-1", "--for", "300ms"), 5, "", "has not finished");
    pawld_kill(pawld, SIGKILL);
    (void)pawld_await_end(pawld);
    cli_await(waiter, "the connection was lost; trying again");
    (void)serve_again(kit, base);
    expect(CLI(IN_A_PIPE, "instances", "send-event", "approve/a-1", "--type", "approval"), 0, "was sent approval", "");
    cli_end(waiter);
    expect(waiter, 0, "\"receipt\":\"r-1\"", NULL);
}

static void E_a_watched_list_tells_what_has_changed(void **state)
{
    struct kit *kit = *state;
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

static void E_what_is_finished_is_watched_to_its_end_at_once(void **state)
{
    struct kit *kit = *state;
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "echo", "e-1", "[1]");
    await_status(kit, pawld, "echo", "e-1", "complete");
    struct outcome *watch = CLI(IN_A_PIPE, "instances", "watch", "echo/latest");
    golden_normalise(watch->output, sizeof watch->output, pawld->base);
    golden_compare("instances-watch.pipe", watch->output);
    free(watch);
    watch = CLI(ON_A_TERMINAL, "instances", "watch", "latest");
    golden_normalise(watch->output, sizeof watch->output, pawld->base);
    golden_compare("instances-watch.terminal", watch->output);
    free(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLI_TEST(E_logs_are_followed_over_restarts_and_no_line_is_missed),
        CLI_TEST(E_a_watch_in_a_pipe_tells_every_change_over_restarts),
        CLI_TEST(E_a_watch_on_a_terminal_keeps_log_lines_and_draws_the_steps_below),
        CLI_TEST(a_wait_for_a_result_outlives_the_server),
        CLI_TEST(E_a_watched_list_tells_what_has_changed),
        CLI_TEST(E_what_is_finished_is_watched_to_its_end_at_once),
    };
    return cmocka_run_group_tests_name("pawl, following", tests, NULL, NULL);
}
