/* test_pawl_check.c - the program pawl-check, as a process: what it prints, and how it exits. */
#include "kit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM PAWL_TEST_MODULE_DIR "/../check/pawl-check"
#define GOOD PAWL_TEST_MODULE_DIR "/module_sweep_good.so"
#define BAD PAWL_TEST_MODULE_DIR "/module_sweep_bad.so"
#define CLOCK PAWL_TEST_MODULE_DIR "/module_sweep_clock.so"
#define DIES PAWL_TEST_MODULE_DIR "/module_sweep_dies.so"
#define ENDLESS PAWL_TEST_MODULE_DIR "/module_sweep_endless.so"
#define INLINE PAWL_TEST_MODULE_DIR "/module_sweep_inline.so"
#define MEMORY PAWL_TEST_MODULE_DIR "/module_sweep_memory.so"
#define NAMES PAWL_TEST_MODULE_DIR "/module_sweep_names.so"
#define TABLES PAWL_TEST_MODULE_DIR "/module_sweep_tables.so"
#define UNLOADABLE PAWL_TEST_MODULE_DIR "/module_sweep_unloadable.so"

struct program {
    int exit_code;
    char output[16384]; /* of both streams */
};

static void become_program(const char *path, char *const *arguments, const int ends[2])
{
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }); /* some of what it loads aborts */
    if (dup2(ends[1], STDOUT_FILENO) < 0 || dup2(ends[1], STDERR_FILENO) < 0)
        _exit(98);
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)execv(path, arguments);
    _exit(99);
}

static void read_all(int from, struct program *program)
{
    size_t size = 0;
    ssize_t got;
    while ((got = read(from, program->output + size, sizeof program->output - 1 - size)) > 0)
        size += (size_t)got;
    program->output[size] = '\0';
}

/* What it prints can be read from out_from until it and all its children are gone. */
static pid_t start_program(const char *path, char *const *arguments, int *out_from)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        become_program(path, arguments, ends);
    assert_true(process > 0);
    (void)close(ends[1]);
    *out_from = ends[0];
    return process;
}

static struct program *run(const char *path, char *const *arguments)
{
    static struct program program;
    int from, status;
    pid_t process = start_program(path, arguments, &from);
    read_all(from, &program);
    (void)close(from);
    assert_int_equal(waitpid(process, &status, 0), process);
    program.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return &program;
}

static struct program *run_shell(char *command)
{
    return run("/bin/sh", (char *const[]){ "sh", "-c", command, NULL });
}

#define RUN(...) run(PROGRAM, (char *const[]){ "pawl-check", __VA_ARGS__, NULL })

static void assert_prints(const struct program *program, const char *wanted)
{
    if (strstr(program->output, wanted) == NULL)
        fail_msg("\"%s\" is not in\n%s", wanted, program->output);
}

/* Wrong use: one line that says what is wrong. */
static void assert_refuses(const struct program *program, const char *wanted)
{
    assert_prints(program, wanted);
    assert_int_equal(program->exit_code, 2);
    assert_memory_equal(program->output, "pawl-check: ", 12);
    assert_ptr_equal(strchr(program->output, '\n'), program->output + strlen(program->output) - 1);
}

/* ---- Sweeping ----------------------------------------------------------------------------------------------------------- */

TEST(every_workflow_of_a_good_module_is_ok)
{
    const struct program *program = RUN(GOOD);

    assert_prints(program, "nap: complete with \"rested\", 7 commits, 14 crashes: ok\n");
    assert_prints(program, "order: complete with {\"refused\":\"nobody answered\"}, 8 commits, 16 crashes: ok\n");
    assert_int_equal(program->exit_code, 0);
}

TEST(one_workflow_is_swept_with_params_and_events)
{
    const struct program *program = RUN(GOOD, "--workflow", "order", "--params", "{\"sku\": \"tea@pot\"}", "--event",
                                        "approval={\"by\": \"ada@home\"}@10 minutes", "--seed", "7", "--verbose");

    assert_prints(program, "order: complete with "
                           "{\"reservation\":{\"sku\":\"tea@pot\"},\"approval\":{\"by\":\"ada@home\"}}, ");
    assert_prints(program, ": ok\n  commit 1: create \"order\"\n");
    assert_prints(program, ": event \"approval\"\n");
    assert_null(strstr(program->output, "nap"));
    assert_int_equal(program->exit_code, 0);
}

TEST(an_event_without_offset_or_payload_is_sent_at_once)
{
    const struct program *program = RUN("--event", "approval", "--workflow=order", GOOD);

    assert_prints(program, "order: complete with {\"reservation\":{\"sku\":\"none\"}}, ");
    assert_int_equal(program->exit_code, 0);
}

TEST(params_come_from_a_file)
{
    char argument[64];
    snprintf(argument, sizeof argument, "@params_%d.json", (int)getpid());
    FILE *file = fopen(argument + 1, "w");
    assert_non_null(file);
    fputs("{\"sku\": \"kettle\"}\n", file);
    fclose(file);

    const struct program *program = RUN(GOOD, "--workflow", "order", "--params", argument, "--event", "approval=1");

    (void)unlink(argument + 1);
    assert_prints(program, "{\"reservation\":{\"sku\":\"kettle\"},\"approval\":1}");
    assert_int_equal(program->exit_code, 0);
}

TEST(a_mistake_is_told_with_its_line)
{
    const struct program *program = RUN(BAD);

    assert_prints(program, "fickle: complete, 6 commits, 0 crashes: 1 finding\n");
    assert_prints(program, "- step 2: do \"charge 0\"");
    assert_prints(program, "+ step 2: do \"charge 1\"");
    assert_prints(program, "modules.c:36");
    assert_prints(program, "steady: complete, 4 commits, 8 crashes: ok\n"); /* and the next one is swept */
    assert_int_equal(program->exit_code, 1);
}

TEST(a_name_that_comes_twice_is_told_unless_it_is_meant)
{
    const struct program *program = RUN(NAMES);

    assert_prints(program, "polls: complete, 7 commits, 0 crashes: 1 finding\n");
    assert_prints(program, "undisturbed: \"poll\" is called twice in one pass");
    assert_prints(program, "+ again: sleep \"poll\"");
    assert_prints(program, "modules.c:60");
    assert_prints(program, "+ again: sleep \"jump\"");
    assert_null(strstr(program->output, "pawl-check+0x")); /* a place that is gone is none of its callers' */
    assert_int_equal(program->exit_code, 1);

    program = RUN(NAMES, "--same-names");

    assert_prints(program, "polls: complete, 7 commits, 14 crashes: ok\n");
    assert_prints(program, "jumps: complete, 7 commits, 14 crashes: ok\n");
    assert_int_equal(program->exit_code, 0);
}

TEST(code_that_kills_its_process_is_told_and_the_next_one_is_swept)
{
    const struct program *program = RUN(DIES);

    assert_prints(program, "dies: no end, its code ended the process: 1 finding\n"
                           "  undisturbed, in the body of step \"die\": killed by signal 6 (Aborted)\n");
    assert_prints(program, "dies-late: no end, its code ended the process: 1 finding\n  crashed just ");
    assert_prints(program, "dies-outside: no end, its code ended the process: 1 finding\n"
                           "  undisturbed, in no step's body: killed by signal 6 (Aborted)\n");
    assert_prints(program, "\nforks: complete, 4 commits, 8 crashes: ok\n"
                           "forks: a process that its code forked came back from there: 1 finding\n"
                           "  it has to end with exec or _exit()\nhushes: ");
    assert_prints(program, "hushes: complete, 4 commits, 8 crashes: ok\n"); /* it is heard all the same */
    assert_prints(program, "leaves: no end, its code ended the process: 1 finding\n"
                           "  undisturbed, in the body of step \"leave\": left with exit status 0\n");
    assert_prints(program, "lives: complete, 4 commits, 8 crashes: ok\n");
    assert_int_equal(program->exit_code, 1);
    assert_int_equal(RUN(DIES, "--workflow", "leaves")->exit_code, 1);
    assert_int_equal(RUN(DIES, "--workflow", "lives")->exit_code, 0);
}

TEST(code_that_does_not_come_back_is_told_and_the_next_one_is_swept)
{
    const struct program *program = RUN(ENDLESS, "--timeout", "2 s"); /* long for a machine that is busy, too */

    assert_prints(program, "insists: no end, its code did not come back: 1 finding\n  undisturbed, ");
    assert_prints(program, "in no step's body: no new step for 2 s (--timeout), so it was killed\n");
    assert_prints(program, "stays: no end, its code did not come back: 1 finding\n"
                           "  undisturbed, in the body of step \"stay\": no new step for 2 s ");
    assert_prints(program, "unharmed: complete, 4 commits, 8 crashes: ok\n");
    assert_int_equal(program->exit_code, 1);
}

TEST(code_that_does_not_come_back_ends_with_the_program)
{
    static const int signals[] = { SIGTERM, SIGINT, SIGKILL };
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        char *const arguments[] = { "pawl-check", ENDLESS, "--workflow", "stays", "--timeout", "1 hour", NULL };
        char told[64];
        int from, status;
        pid_t process = start_program(PROGRAM, arguments, &from);
        assert_true(read(from, told, sizeof told) > 0); /* its code is there */

        assert_int_equal(kill(process, signals[i]), 0);

        assert_int_equal(waitpid(process, &status, 0), process);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_int_equal(read(from, told, sizeof told), 0); /* nobody is left who could write */
        (void)close(from);
    }
}

TEST(a_crash_takes_static_variables_back_to_where_they_began)
{
    const struct program *program = RUN(MEMORY);

    assert_prints(program, "forgetful: complete with {\"rate\":42}, 9 commits, 18 crashes: 1 finding\n");
    assert_prints(program, "complete with {\"rate\":0}");
    assert_prints(program,
                  "harmless: complete with {\"rate\":42,\"load\":7,\"word\":\"some\"}, 9 commits, 18 crashes: ok\n");
    assert_int_equal(program->exit_code, 1);
    assert_int_equal(RUN(MEMORY, "--workflow", "harmless")->exit_code, 0);
}

#if defined(__has_feature)
#define HAS_FEATURE(which) __has_feature(which)
#else
#define HAS_FEATURE(which) 0
#endif

/* Not where a sanitizer has reserved more than the machine has. */
TEST(code_gets_no_more_memory_than_the_machine_can_spare)
{
    const struct program *program = RUN(MEMORY, "--workflow", "greedy");

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HAS_FEATURE(address_sanitizer) ||                 \
    HAS_FEATURE(thread_sanitizer)
    assert_prints(program, "greedy: complete with false, ");
#else
    assert_prints(program, "greedy: complete with true, ");
#endif
    assert_int_equal(program->exit_code, 0);
}

/* The world begins at 1767225600. */
TEST(the_clock_of_the_c_library_shows_the_simulated_time)
{
    const struct program *program = RUN(CLOCK);

    assert_prints(program, "named: complete, 5 commits, 0 crashes: 1 finding\n"
                           "  replayed at every step: run again, the function does not make the same durable calls\n");
    assert_prints(program, "- step 2: do \"at 17672256");
    assert_prints(program, "stamped: complete with [1767229200,1767229200,1767229200,0,1767229200,true], "
                           "9 commits, 18 crashes: ok\n");
    assert_int_equal(program->exit_code, 1);

    program = RUN(CLOCK, "--workflow", "stamped", "--real-clock", "--any-outcome");

    assert_null(strstr(program->output, "1767229200"));
    assert_int_equal(program->exit_code, 0);
}

TEST(without_addr2line_the_place_is_object_and_offset)
{
    const char *path = getenv("PATH");
    char *kept = strdup(path != NULL ? path : "");
    setenv("PATH", "/nonexistent", 1);

    const struct program *program = RUN(BAD);

    setenv("PATH", kept, 1);
    free(kept);
    assert_prints(program, "module_sweep_bad.so+0x");
    assert_int_equal(program->exit_code, 1);
}

TEST(without_debug_information_the_place_is_object_and_offset)
{
    const struct program *program = run_shell("objcopy --strip-debug " BAD " pawl_check_$$.so && " PROGRAM
                                              " ./pawl_check_$$.so; code=$?; rm -f pawl_check_$$.so; exit $code");

    assert_prints(program, ".so+0x");
    assert_null(strstr(program->output, "modules.c"));
    assert_int_equal(program->exit_code, 1);
}

TEST(tables_are_made_in_each_world)
{
    const struct program *program =
        RUN(TABLES, "--sql", "CREATE TABLE paid (id TEXT PRIMARY KEY)", "--sql", "CREATE INDEX paid_ids ON paid (id)");

    assert_prints(program, "pays: complete, 4 commits, 8 crashes: ok\n");
    assert_int_equal(program->exit_code, 0);
    assert_prints(RUN(TABLES), "pays: errored with STEP_MUTATION_FAILED");
    assert_refuses(RUN(TABLES, "--sql", "CREATE NONSENSE"), "NONSENSE");
}

/* ---- Wrong use ------------------------------------------------------------------------------------------------------------- */

TEST(help_comes_with_examples)
{
    const struct program *program = RUN("--help");

    assert_prints(program, "usage: pawl-check MODULE.so");
    assert_prints(program, "examples\n");
    assert_int_equal(program->exit_code, 0);
}

TEST(what_is_no_module_is_refused)
{
    assert_refuses(RUN("no_such_module.so"), "./no_such_module.so");
    assert_refuses(RUN(__FILE__), "cannot load the module");
    assert_refuses(RUN("libsqlite3.so.0"), "cannot load"); /* not looked for among the system's */
    assert_refuses(RUN(PAWL_TEST_MODULE_DIR "/../libpawl.so"), "exports no pawl_module");
}

TEST(inline_workflows_are_left_out_and_the_others_swept)
{
    const struct program *program = RUN(INLINE);

    assert_prints(program, "after: complete, 4 commits, 8 crashes: ok\n"
                           "between: inline, so there is nothing to crash: left out\n"
                           "then: complete, 4 commits, 8 crashes: ok\n");
    assert_int_equal(program->exit_code, 0);
    assert_refuses(RUN(INLINE, "--workflow", "between"), "inline");
}

TEST(a_module_without_workflows_is_nothing_to_check)
{
    assert_refuses(RUN(PAWL_TEST_MODULE_DIR "/module_functions_alone.so"), "nothing to check: ");
}

TEST(a_report_that_cannot_be_written_is_told)
{
    static const char *const cases[] = { GOOD, DIES, "--help" };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char command[1024];
        snprintf(command, sizeof command, "exec " PROGRAM " %s 2>&1 >/dev/full", cases[i]);

        const struct program *program = run_shell(command);

        assert_prints(program, "pawl-check: the report could not be written: ");
        assert_int_equal(program->exit_code, 2);
    }
}

TEST(a_module_that_kills_who_loads_it_is_refused)
{
    assert_refuses(RUN(UNLOADABLE), "constructors end the process: killed by signal 6 (Aborted)");
}

TEST(wrong_arguments_are_refused)
{
    assert_refuses(run(PROGRAM, (char *const[]){ "pawl-check", NULL }), "which module?");
    assert_refuses(RUN(GOOD, BAD), "module_sweep_bad.so");
    assert_refuses(RUN(GOOD, "--colour"), "has no option --colour");
    assert_refuses(RUN(GOOD, "-x"), "has no option -x");
    assert_refuses(RUN(GOOD, "--params"), "--params needs a value");
    assert_refuses(RUN(GOOD, "--params", "{"), "params");
    assert_refuses(RUN(GOOD, "--params", "@no_such_file"), "no_such_file");
    assert_refuses(RUN(GOOD, "--seed", "-1"), "--seed is a whole number");
    assert_refuses(RUN(GOOD, "--timeout", "soon"), "--timeout is a duration such as");
    assert_refuses(RUN(GOOD, "--timeout", "0 s"), "not \"0 s\"");
    assert_refuses(RUN(GOOD, "--event", "approval@soon"), "soon");
    assert_refuses(RUN(GOOD, "--event", "a b"), "a b");
    assert_refuses(RUN(GOOD, "--workflow", "other"), "\"other\"");
}
