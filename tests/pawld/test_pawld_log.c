/* test_pawld_log.c - a standard error that nobody reads, or that is closed, stops nothing. */
#include "kit.h"

#include <fcntl.h>
#include <sys/wait.h>

#define DROPPED "lines of this log were dropped"

/* More than a pipe and pawld's buffer hold. */
enum { NAME_SIZE = 1500, LINES = 400 };

/* Each is a line of the log at level "debug", with the workflow's name in it. */
static void be_refused(struct kit *kit, const struct pawld *pawld, int times)
{
    char name[NAME_SIZE + 1];
    memset(name, 'x', NAME_SIZE);
    name[NAME_SIZE] = '\0';
    const char *url = pawl_scope_format(kit->scope, "/workflows/%s/instances", name);
    for (int i = 0; i < times; i++)
        assert_int_equal(ask(kit, pawld, "GET", url, NULL, "wrong").status, 401);
}

static struct pawld *serve_with_much_to_tell(struct kit *kit)
{
    write_file("tokens", "someone read sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n");
    return PAWLD_SERVE(kit, "--tokens", "tokens", "--log-level", "debug", GATES);
}

/* Reads what was printed until this is there. */
static void await_in(int from, const char *wanted)
{
    static char text[65536];
    size_t kept = 0, overlap = strlen(wanted);
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms;) {
        ssize_t got = read(from, text + kept, sizeof text - 1 - kept);
        if (got <= 0) {
            rest_a_little();
            continue;
        }
        kept += (size_t)got;
        text[kept] = '\0';
        if (strstr(text, wanted) != NULL)
            return;
        size_t tail = kept < overlap ? kept : overlap;
        memmove(text, text + kept - tail, tail);
        kept = tail;
    }
    fail_msg("\"%s\" did not come", wanted);
}

TEST_OF(kit, a_log_that_nobody_reads_stops_nobody)
{
    struct pawld *pawld = serve_with_much_to_tell(kit);

    be_refused(kit, pawld, LINES);

    assert_int_equal(ask(kit, pawld, "GET", "/health/ready", NULL, NULL).status, 200);
    await_in(pawld->trouble, DROPPED); /* which is told as soon as somebody reads */
    be_refused(kit, pawld, 1);
    await_in(pawld->trouble, "request refused");
}

TEST_OF(kit, a_log_that_nobody_reads_does_not_keep_it_from_stopping)
{
    struct pawld *pawld = serve_with_much_to_tell(kit);
    int trouble = pawld->trouble;
    be_refused(kit, pawld, LINES);
    pawld->trouble = open("/dev/null", O_RDONLY | O_CLOEXEC); /* so that the kit does not read it either */

    pawld_kill(pawld, SIGTERM);

    assert_int_equal(pawld_await_end(pawld), 0);
    assert_int_equal(close(trouble), 0);
}

TEST_OF(kit, a_log_that_nobody_can_read_any_more_is_no_reason_to_end)
{
    struct pawld *pawld = serve_with_much_to_tell(kit);
    assert_int_equal(close(pawld->trouble), 0);
    pawld->trouble = open("/dev/null", O_RDONLY | O_CLOEXEC);

    be_refused(kit, pawld, 10);

    assert_int_equal(ask(kit, pawld, "GET", "/health/ready", NULL, NULL).status, 200);
    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 0);
}

static void assert_leads_to_null(pid_t process, int descriptor)
{
    char path[64], target[256] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)process, descriptor);
    assert_true(readlink(path, target, sizeof target - 1) > 0);
    assert_string_equal(target, "/dev/null");
}

TEST_OF(kit, without_standard_descriptors_it_opens_none_of_its_files_in_their_place)
{
    int status = 0;
    pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        for (int descriptor = 0; descriptor < 3; descriptor++)
            (void)close(descriptor);
        (void)execl(PAWLD_PROGRAM, "pawld", "--listen", "unix:socket", GATES, NULL);
        _exit(99);
    }
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; ask_unix(kit, "socket", "/api/health/ready").status != 200;
         rest_a_little())
        assert_true(monotonic_ms() < until_ms);

    for (int descriptor = 0; descriptor < 3; descriptor++)
        assert_leads_to_null(process, descriptor);
    assert_int_equal(kill(process, SIGTERM), 0);
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
