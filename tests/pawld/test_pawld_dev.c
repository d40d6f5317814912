/* test_pawld_dev.c - pawld --dev: compiles, tells what the compiler says, and takes up every change. */
#include "kit.h"

#include <glob.h>

/* A workflow that waits for an event and then says `answer`; it takes a header along. */
static const char *source_of(struct kit *kit, const char *answer)
{
    return pawl_scope_format(kit->scope,
                             "#include <pawl/workflow.h>\n"
                             "static pawl_status flow(pawl_run *run, const pawl_value *params, pawl_value **out)\n"
                             "{\n"
                             "    (void)params;\n"
                             "    PAWL_TRY(pawl_wait_for_event(run, \"wait\", \"go\", \"1 hour\", NULL));\n"
                             "    return pawl_return(run, out, \"s\", %s);\n"
                             "}\n"
                             "PAWL_MODULE({ .name = \"flow\", .run = flow });\n",
                             answer);
}

/* What is compiled is kept in the test's own folder. */
static struct pawld *start_dev(struct kit *kit, const char *source)
{
    setenv("TMPDIR", kit->folder, 1);
    struct pawld *pawld =
        PAWLD_START(kit, "--store", "sqlite:pawl.db", "--listen", "127.0.0.1:0", "--log", "plain", "--dev", source);
    unsetenv("TMPDIR");
    return pawld;
}

static void await_reload(struct pawld *pawld, int times)
{
    pawld_await_times(pawld, " workflow", times); /* the end of the line that says where it listens */
    pawld_await_base(pawld);
}

static long send_go(struct kit *kit, const struct pawld *pawld, const char *id)
{
    const char *url = pawl_scope_format(kit->scope, "/workflows/flow/instances/%s/events", id);
    return ask(kit, pawld, "POST", url, "{\"type\": \"go\"}", NULL).status;
}

static void assert_answers(struct kit *kit, const struct pawld *pawld, const char *id, const char *wanted)
{
    await_status(kit, pawld, "flow", id, "complete");
    struct answer answer =
        ask(kit, pawld, "GET", pawl_scope_format(kit->scope, "/workflows/flow/instances/%s", id), NULL, NULL);
    assert_string_equal(pawl_value_string(answer.value, "details.output", ""), wanted);
}

/* Of what was compiled. */
static void assert_nothing_is_left(void)
{
    glob_t found;
    assert_int_equal(glob("pawld-*", 0, NULL, &found), GLOB_NOMATCH);
}

static void stop(struct pawld *pawld)
{
    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 0);
    assert_nothing_is_left();
}

TEST_OF(kit, what_does_not_compile_is_told_and_what_is_repaired_runs)
{
    write_file("flow.c", source_of(kit, "1 +"));
    struct pawld *pawld = start_dev(kit, "flow.c");
    pawld_await(pawld, "waiting for a change");
    assert_non_null(strstr(pawld->errors, "flow.c:6:")); /* the compiler's own line, place and all */
    assert_non_null(strstr(pawld->errors, "error:"));
    assert_null(strstr(pawld->errors, "listening"));

    replace_file("flow.c", source_of(kit, "\"one\""));

    await_reload(pawld, 1);
    create(kit, pawld, "flow", "a", NULL);
    assert_int_equal(send_go(kit, pawld, "a"), 200);
    assert_answers(kit, pawld, "a", "one");
    stop(pawld);
}

TEST_OF(kit, a_change_is_taken_up_and_runs_that_wait_go_on_in_it)
{
    write_file("flow.c", source_of(kit, "\"one\""));
    struct pawld *pawld = start_dev(kit, "./flow.c");
    await_reload(pawld, 1);
    create(kit, pawld, "flow", "a", NULL);
    await_status(kit, pawld, "flow", "a", "waiting");

    write_file("flow.c", source_of(kit, "\"two\"")); /* in place, as some editors do */

    await_reload(pawld, 2);
    assert_int_equal(send_go(kit, pawld, "a"), 200);
    assert_answers(kit, pawld, "a", "two");
    stop(pawld);
}

TEST_OF(kit, what_runs_goes_on_while_its_source_is_broken)
{
    write_file("flow.c", source_of(kit, "\"one\""));
    struct pawld *pawld = start_dev(kit, "flow.c");
    await_reload(pawld, 1);

    replace_file("flow.c", source_of(kit, "no_such_function()"));
    pawld_await(pawld, "the previous version keeps running");

    assert_non_null(strstr(pawld->errors, "no_such_function"));
    create(kit, pawld, "flow", "a", NULL);
    assert_int_equal(send_go(kit, pawld, "a"), 200);
    assert_answers(kit, pawld, "a", "one");
    replace_file("flow.c", source_of(kit, "\"two\""));
    await_reload(pawld, 2);
    create(kit, pawld, "flow", "b", NULL);
    assert_int_equal(send_go(kit, pawld, "b"), 200);
    assert_answers(kit, pawld, "b", "two");
    stop(pawld);
}

TEST_OF(kit, a_changed_header_is_a_change)
{
    write_file("answer.h", "#define ANSWER \"one\"\n");
    write_file("flow.c", pawl_scope_format(kit->scope, "#include \"answer.h\"\n%s", source_of(kit, "ANSWER")));
    struct pawld *pawld = start_dev(kit, "flow.c");
    await_reload(pawld, 1);

    replace_file("answer.h", "#define ANSWER \"two\"\n");

    await_reload(pawld, 2);
    create(kit, pawld, "flow", "a", NULL);
    assert_int_equal(send_go(kit, pawld, "a"), 200);
    assert_answers(kit, pawld, "a", "two");
    stop(pawld);
}

TEST_OF(kit, workflows_that_crash_are_told_and_can_be_repaired)
{
    write_file("flow.c", pawl_scope_format(kit->scope, "#include <signal.h>\n#include <unistd.h>\n%s",
                                           source_of(kit, "kill(getpid(), SIGKILL) ? \"\" : \"\"")));
    struct pawld *pawld = start_dev(kit, "flow.c");
    await_reload(pawld, 1);
    create(kit, pawld, "flow", "a", NULL);
    (void)send_go(kit, pawld, "a"); /* it may be gone before it has answered */
    pawld_await(pawld, "crashed: Killed; waiting for a change");

    replace_file("flow.c", source_of(kit, "\"well\""));

    await_reload(pawld, 2);
    assert_answers(kit, pawld, "a", "well");
    stop(pawld);
}

TEST_OF(kit, a_first_start_that_fails_ends_with_its_reason)
{
    struct pawld *pawld;
    write_file("flow.c", source_of(kit, "\"one\""));

    assert_int_equal(PAWLD_RUN(kit, &pawld, "--dev", "nowhere.c"), 1);
    assert_one_line(pawld, "nowhere.c: No such file or directory");

    assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "sqlite:nowhere/a.db", "--dev", "flow.c"), 1);
    assert_one_line(pawld, "store sqlite:nowhere/a.db: ");

    setenv("CC", "no-such-compiler", 1);
    int code = PAWLD_RUN(kit, &pawld, "--dev", "flow.c");
    unsetenv("CC");
    assert_int_equal(code, 1);
    assert_one_line(pawld, "no-such-compiler");
}

TEST_OF(kit, the_daemon_ends_with_the_process_that_watches)
{
    write_file("flow.c", source_of(kit, "\"one\""));
    struct pawld *pawld = start_dev(kit, "flow.c");
    await_reload(pawld, 1);

    pawld_kill(pawld, SIGKILL);

    (void)pawld_await_end(pawld);
    pawld_await(pawld, "stopped after"); /* said by the daemon itself, which drained */
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, NULL).status, 0);
}

/* A compiler that hangs with a child of its own, and does not end when it is asked to.  Both hold standard output. */
static void write_hanging_compiler(void)
{
    write_file("cc.sh", "trap '' TERM INT HUP\n"
                        "echo compiling >&2\n"
                        "sleep 600 &\n"
                        "wait\n"
                        "sleep 600\n");
}

static void assert_nobody_holds_its_output(const struct pawld *pawld)
{
    char more[64];
    ssize_t got;
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; (got = read(pawld->standard, more, sizeof more)) != 0;) {
        assert_true(monotonic_ms() < until_ms);
        if (got < 0)
            rest_a_little();
    }
}

TEST_OF(kit, a_signal_ends_pawld_and_a_compiler_that_hangs)
{
    static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
    write_file("flow.c", source_of(kit, "\"one\""));
    write_hanging_compiler();
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        setenv("CC", "sh cc.sh", 1);
        struct pawld *pawld = start_dev(kit, "flow.c");
        unsetenv("CC");
        pawld_await(pawld, "compiling");

        pawld_kill(pawld, numbers[i]);

        assert_int_equal(pawld_await_end(pawld), 0);
        assert_nobody_holds_its_output(pawld);
        assert_null(strstr(pawld->errors, "does not compile"));
        assert_nothing_is_left();
    }
}

/* The compiler is a script that hangs from the second time on: what runs is told to stop, and drains. */
TEST_OF(kit, a_signal_while_a_change_is_compiled_stops_what_runs)
{
    write_file("flow.c", source_of(kit, "\"one\""));
    write_file("first.sh", "if test -e hang; then exec sh cc.sh; fi\nexec cc \"$@\"\n");
    write_hanging_compiler();
    setenv("CC", "sh first.sh", 1);
    struct pawld *pawld = start_dev(kit, "flow.c");
    unsetenv("CC");
    await_reload(pawld, 1);
    write_file("hang", "");
    replace_file("flow.c", source_of(kit, "\"two\""));
    pawld_await(pawld, "compiling");

    stop(pawld);

    pawld_await(pawld, "stopped after");
    assert_nobody_holds_its_output(pawld);
}

/* SIGCHLD of the daemon comes while the compiler is waited for, and is not lost. */
TEST_OF(kit, a_crash_while_a_change_is_compiled_is_taken_up)
{
    write_file("flow.c", pawl_scope_format(kit->scope, "#include <signal.h>\n#include <unistd.h>\n%s",
                                           source_of(kit, "kill(getpid(), SIGKILL) ? \"\" : \"\"")));
    write_file("gate.sh", "while test -e hold; do : >held; sleep 0.02; done\nexec cc \"$@\"\n");
    setenv("CC", "sh gate.sh", 1);
    struct pawld *pawld = start_dev(kit, "flow.c");
    unsetenv("CC");
    await_reload(pawld, 1);
    create(kit, pawld, "flow", "a", NULL);
    write_file("hold", "");
    replace_file("flow.c", source_of(kit, "1 +"));
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (access("held", F_OK) != 0 && monotonic_ms() < until_ms)
        rest_a_little();
    while (send_go(kit, pawld, "a") != 0 && monotonic_ms() < until_ms) /* until nobody answers */
        rest_a_little();
    assert_true(monotonic_ms() < until_ms);

    assert_int_equal(unlink("hold"), 0);

    pawld_await(pawld, "crashed: Killed; waiting for a change");
    replace_file("flow.c", source_of(kit, "\"well\""));
    await_reload(pawld, 2);
    assert_answers(kit, pawld, "a", "well");
    stop(pawld);
}
