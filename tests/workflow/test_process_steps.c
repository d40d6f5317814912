/* test_process_steps.c - programs as steps: JSON in, JSON out, errors that say what the program said, and nothing left
 * behind, however it ends.  Scripts run in /bin/sh; what they start is looked for in /proc. */
#include "kit/running.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "pawl/testing.h"

/* ---- A world with one workflow, whose one step is a program ---------------------------------------------------------- */

struct scene {
    pawl_world *world;
    struct pawl_error error;
    struct pawl_process process;
    struct pawl_step_options options;
    const char *arguments[4];
    enum pawl_kind kind; /* of the result, as the workflow saw it */
};

WORKFLOW(run_program)
{
    struct scene *scene = pawl_run_user(run);
    PAWL_TRY(pawl_do_process(run, "program", &scene->options, &scene->process, params, out_result));
    scene->kind = pawl_value_kind(*out_result, NULL);
    return PAWL_OK;
}

static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct pawl_workflow workflow = { .name = "program", .run = run_program, .user = scene };
    assert_non_null(scene);
    scene->process.arguments = scene->arguments;
    scene->options.retries = PAWL_NO_RETRIES;
    assert_ok(pawl_world_open(NULL, &scene->world, &scene->error), scene->error);
    assert_ok(pawl_register(pawl_world_engine(scene->world), &workflow, &scene->error), scene->error);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    pawl_world_close(scene->world);
    free(scene);
    return 0;
}

static const struct test_setting scene_setting = { set_up, tear_down, 0 };

static struct pawl_instance run_with(struct scene *scene, const char *params_json)
{
    struct pawl_instance instance;
    assert_ok(pawl_world_create(scene->world, "program", "p", params_json, &scene->error), scene->error);
    assert_ok(pawl_world_run_to_end(scene->world, &scene->error), scene->error);
    assert_ok(pawl_world_get(scene->world, "program", "p", &instance, &scene->error), scene->error);
    return instance;
}

static struct pawl_instance run_script(struct scene *scene, const char *script, const char *params_json)
{
    scene->arguments[0] = "sh";
    scene->arguments[1] = "-c";
    scene->arguments[2] = script;
    return run_with(scene, params_json);
}

static void expect_failure(struct pawl_instance instance, const char *name, const char *words)
{
    assert_int_equal(instance.status, PAWL_ERRORED);
    assert_string_equal(instance.error_name, name);
    if (strstr(instance.error_message, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, instance.error_message);
}

/* ---- What goes in and comes out --------------------------------------------------------------------------------------- */

TEST_OF(scene, a_program_gets_its_input_and_gives_its_result_as_json)
{
    scene->arguments[0] = "cat";
    struct pawl_instance instance = run_with(scene, "{\"price\":19.99,\"tags\":[null,false,0,\"\"]}");
    assert_int_equal(instance.status, PAWL_COMPLETE);
    assert_string_equal(instance.output_json, "{\"price\":19.99,\"tags\":[null,false,0,\"\"]}");
}

TEST(no_result_and_null_and_zero_and_empty_are_kept_apart)
{
    static const struct {
        const char *script;
        enum pawl_kind kind;
    } cases[] = { { "true", PAWL_KIND_NONE },
                  { "echo null", PAWL_KIND_NULL },
                  { "echo 0", PAWL_KIND_INT },
                  { "echo false", PAWL_KIND_BOOL },
                  { "echo '\"\"'", PAWL_KIND_STRING } };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        void *fresh = NULL;
        assert_int_equal(set_up(&fresh), 0);
        struct scene *scene = fresh;
        assert_int_equal(run_script(scene, cases[i].script, NULL).status, PAWL_COMPLETE);
        assert_int_equal(scene->kind, cases[i].kind);
        assert_int_equal(tear_down(&fresh), 0);
    }
}

TEST_OF(scene, a_program_without_input_finds_its_end_at_once)
{
    struct pawl_instance instance = run_script(scene, "wc -c", NULL);
    assert_string_equal(instance.output_json, "0");
}

TEST_OF(scene, a_program_that_reads_nothing_is_no_trouble)
{
    size_t size = 900000;
    char *params = malloc(size + 3);
    assert_non_null(params);
    memset(params, 'x', size + 2);
    params[0] = params[size + 1] = '"';
    params[size + 2] = '\0';
    struct pawl_instance instance = run_script(scene, "exec <&-; echo 1", params);
    assert_string_equal(instance.output_json, "1");
    free(params);
}

TEST_OF(scene, large_input_and_output_pass_through_at_once)
{
    size_t size = 1000000;
    char *params = malloc(size + 3);
    assert_non_null(params);
    memset(params, 'x', size + 2);
    params[0] = params[size + 1] = '"';
    params[size + 2] = '\0';
    scene->arguments[0] = "cat";
    struct pawl_instance instance = run_with(scene, params);
    assert_int_equal(instance.status, PAWL_COMPLETE);
    assert_string_equal(instance.output_json, params);
    free(params);
}

TEST_OF(scene, a_program_knows_which_step_it_is)
{
    static const char *const added[] = { "COLOUR=green", "PATH=/usr/bin:/bin", NULL };
    scene->process.environment = added;
    scene->process.directory = "/";
    struct pawl_instance instance = run_script(
        scene,
        "echo \"\\\"$PAWL_WORKFLOW $PAWL_INSTANCE_ID $PAWL_RUN_NUMBER $PAWL_STEP $PAWL_ATTEMPT $COLOUR $PWD\\\"\"",
        NULL);
    assert_string_equal(instance.output_json, "\"program p 1 program 1 green /\"");
}

TEST_OF(scene, what_a_program_that_succeeds_complains_of_is_logged)
{
    struct pawl_history history;
    assert_int_equal(run_script(scene, "echo careful >&2", NULL).status, PAWL_COMPLETE);
    assert_ok(pawl_world_history(scene->world, "program", "p", 0, &history, &scene->error), scene->error);
    assert_int_equal(history.log_count, 1);
    assert_string_equal(history.logs[0].category, "process");
    assert_string_equal(history.logs[0].message, "careful");
    assert_string_equal(history.logs[0].step, "program");
}

/* ---- What goes wrong ---------------------------------------------------------------------------------------------------- */

TEST_OF(scene, an_exit_code_fails_the_attempt_with_the_code_and_what_was_said)
{
    expect_failure(run_script(scene, "echo 1; echo no money left >&2; exit 3", NULL), "PROCESS_FAILED",
                   "sh ended with exit code 3: no money left");
}

TEST_OF(scene, a_failed_attempt_is_tried_again_and_knows_its_number)
{
    scene->options.retries = 2;
    struct pawl_instance instance = run_script(scene, "[ $PAWL_ATTEMPT = 3 ] && echo $PAWL_ATTEMPT", NULL);
    assert_int_equal(instance.status, PAWL_COMPLETE);
    assert_string_equal(instance.output_json, "3");
}

TEST_OF(scene, an_exit_code_may_mean_that_trying_again_would_not_help)
{
    scene->options.retries = 5;
    scene->process.exit_code_for_good = 65;
    expect_failure(run_script(scene, "exit 65", NULL), "PROCESS_FAILED", "sh ended with exit code 65");
    assert_int_equal(pawl_world_step(scene->world, "program", "p", "program")->attempts, 1);
}

TEST_OF(scene, a_signal_is_named)
{
    expect_failure(run_script(scene, "kill -SEGV $$", NULL), "PROCESS_FAILED", "sh was killed by signal 11 (SIGSEGV)");
}

TEST_OF(scene, what_is_not_json_is_refused_with_its_place)
{
    expect_failure(run_script(scene, "echo '{\"a\": }'", NULL), "PROCESS_OUTPUT_INVALID", "line 1");
}

TEST_OF(scene, two_values_are_not_one)
{
    expect_failure(run_script(scene, "echo 1; echo 2", NULL), "PROCESS_OUTPUT_INVALID", "not one JSON value");
}

TEST_OF(scene, a_program_that_is_not_there_is_named)
{
    scene->arguments[0] = "no-such-program";
    expect_failure(run_with(scene, NULL), "PROCESS_NOT_STARTED",
                   "no-such-program cannot be started: No such file or directory");
}

TEST_OF(scene, a_folder_that_is_not_there_is_told)
{
    scene->process.directory = "/no/such/folder";
    expect_failure(run_script(scene, "true", NULL), "PROCESS_NOT_STARTED", "No such file or directory");
}

TEST_OF(scene, a_result_that_is_too_large_fails_for_good)
{
    scene->options.retries = 5;
    expect_failure(run_script(scene, "printf '\"'; head -c 1100000 /dev/zero | tr '\\0' x; printf '\"'", NULL),
                   "PAYLOAD_TOO_LARGE", "bytes");
    assert_int_equal(pawl_world_step(scene->world, "program", "p", "program")->attempts, 1);
}

TEST_OF(scene, a_process_needs_a_program)
{
    expect_failure(run_with(scene, NULL), "INVALID", "a process needs a program to run");
}

TEST_OF(scene, bytes_that_are_no_text_are_made_readable_and_only_the_last_are_kept)
{
    struct pawl_instance instance =
        run_script(scene, "head -c 5000 /dev/zero | tr '\\0' a >&2; printf 'caf\\351 \\001 end' >&2; exit 1", NULL);
    expect_failure(instance, "PROCESS_FAILED", "caf? ? end");
    assert_in_range(strlen(instance.error_message), 1900, 2100);
}

/* ---- What is left behind ---------------------------------------------------------------------------------------------- */

/* A file in which a script leaves numbers of processes. */
struct note {
    char path[64];
};

static void note_make(struct note *note)
{
    strcpy(note->path, "note-XXXXXX");
    int file = mkstemp(note->path);
    assert_true(file >= 0);
    close(file);
}

static bool note_read(const struct note *note, pid_t *out_first, pid_t *out_second)
{
    int first = 0, second = 0;
    FILE *file = fopen(note->path, "r");
    int found = file != NULL ? fscanf(file, "%d %d\n", &first, &second) : 0;
    if (file != NULL)
        fclose(file);
    *out_first = (pid_t)first;
    *out_second = (pid_t)second;
    return found == 2;
}

static bool is_not_noted_yet(void *user)
{
    pid_t first, second;
    return !note_read(user, &first, &second);
}

static struct pw_process process_of(const char *const *arguments, struct note *note)
{
    static const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
    return (struct pw_process){ .arguments = arguments,
                                .environment = environment,
                                .output_max = 1000,
                                .is_wanted = is_not_noted_yet,
                                .user = note };
}

TEST(a_program_that_is_not_wanted_any_more_is_killed_with_all_it_started)
{
    struct note note;
    pid_t first, second;
    struct pw_process_outcome outcome;
    note_make(&note);
    const char *arguments[] = { "sh", "-c", "sleep 1000 & echo $$ $! > $0; wait", note.path, NULL };
    struct pw_process process = process_of(arguments, &note);
    assert_true(pw_process_run(&process, &outcome));
    assert_int_equal(outcome.end, PW_PROCESS_UNWANTED);
    assert_true(note_read(&note, &first, &second));
    expect_gone(first);
    expect_gone(second);
    pw_process_outcome_clear(&outcome);
    unlink(note.path);
}

TEST(what_a_program_leaves_running_is_killed_when_it_ends)
{
    struct note note;
    pid_t first, second;
    struct pw_process_outcome outcome;
    note_make(&note);
    const char *arguments[] = { "sh", "-c", "sleep 1000 & echo $! $! > $0.new; mv $0.new $0; echo 7", note.path, NULL };
    struct note other = { "" }; /* never noted: it is wanted to its end */
    struct pw_process process = process_of(arguments, &other);
    assert_true(pw_process_run(&process, &outcome));
    assert_int_equal(outcome.end, PW_PROCESS_EXITED);
    assert_string_equal(outcome.output, "7\n");
    assert_true(note_read(&note, &first, &second));
    expect_gone(first);
    pw_process_outcome_clear(&outcome);
    unlink(note.path);
}

TEST(a_program_that_writes_without_end_is_killed)
{
    struct note note;
    struct pw_process_outcome outcome;
    note_make(&note);
    const char *arguments[] = { "yes", NULL };
    struct pw_process process = process_of(arguments, &note);
    assert_true(pw_process_run(&process, &outcome));
    assert_int_equal(outcome.end, PW_PROCESS_OVERFLOWED);
    pw_process_outcome_clear(&outcome);
    unlink(note.path);
}

TEST(nothing_of_ours_is_open_in_a_program_and_nothing_of_its_stays_open_here)
{
    struct note note;
    struct pw_process_outcome outcome;
    note_make(&note);
    int leaking = open("/dev/null", O_RDONLY); /* without O_CLOEXEC, as a host might have it */
    int before = count_descriptors();
    const char *arguments[] = { "ls", "/proc/self/fd", NULL };
    struct pw_process process = process_of(arguments, &note);
    assert_true(pw_process_run(&process, &outcome));
    assert_int_equal(outcome.end, PW_PROCESS_EXITED);
    assert_string_equal(outcome.output, "0\n1\n2\n3\n"); /* the last is the folder that it reads */
    assert_int_equal(count_descriptors(), before);
    pw_process_outcome_clear(&outcome);
    close(leaking);
    unlink(note.path);
}

/* What a script starts and leaves behind.  The numbers of the leader and of a grandchild are in the note. */
#define LEAVES_A_GRANDCHILD "(sleep 1000 & echo $$ $! > $0.new; mv $0.new $0); "

static bool is_always_wanted(void *user)
{
    (void)user;
    return true;
}

/* Once the program has noted its numbers, its host ends in an orderly way. */
static bool ends_its_host_once_noted(void *user)
{
    if (!is_not_noted_yet(user))
        _exit(0);
    return true;
}

/* Another process, which runs the script. */
static pid_t start_host(const char *script, struct note *note, bool (*is_wanted)(void *user), bool ignores_children)
{
    pid_t host = fork();
    assert_true(host >= 0);
    if (host > 0)
        return host;
    struct pw_process_outcome outcome;
    const char *arguments[] = { "sh", "-c", script, note->path, NULL };
    struct pw_process process = process_of(arguments, note);
    process.is_wanted = is_wanted;
    if (ignores_children)
        (void)signal(SIGCHLD, SIG_IGN); /* the kernel then takes the program away as soon as it ends */
    _exit(pw_process_run(&process, &outcome) ? (int)outcome.end : 99);
}

static void await_note(const struct note *note, pid_t *out_first, pid_t *out_second)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (!note_read(note, out_first, out_second)) {
        if (monotonic_ms() > until_ms)
            fail_msg("the program does not run");
        rest_a_little();
    }
}

TEST(a_program_and_all_it_started_die_when_the_process_that_runs_it_is_killed)
{
    struct note note;
    pid_t first, second;
    note_make(&note);
    pid_t host = start_host(LEAVES_A_GRANDCHILD "wait; sleep 1000", &note, is_always_wanted, false);
    await_note(&note, &first, &second);
    assert_true(process_runs(first));
    assert_true(process_runs(second));
    assert_int_equal(kill(host, SIGKILL), 0);
    assert_int_equal(waitpid(host, NULL, 0), host);
    expect_gone(first);
    expect_gone(second);
    unlink(note.path);
}

TEST(a_program_and_all_it_started_die_when_the_process_that_runs_it_ends)
{
    struct note note;
    pid_t first, second;
    int status = 0;
    note_make(&note);
    pid_t host = start_host(LEAVES_A_GRANDCHILD "sleep 1000", &note, ends_its_host_once_noted, false);
    assert_int_equal(waitpid(host, &status, 0), host);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(note_read(&note, &first, &second));
    expect_gone(first);
    expect_gone(second);
    unlink(note.path);
}

/* Then nobody may use its number: it may be another group's by now. */
TEST(what_a_program_leaves_running_is_killed_even_if_its_number_was_given_away)
{
    struct note note;
    pid_t first, second;
    int status = 0;
    note_make(&note);
    pid_t host = start_host(LEAVES_A_GRANDCHILD, &note, is_always_wanted, true);
    assert_int_equal(waitpid(host, &status, 0), host);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == PW_PROCESS_UNKNOWN);
    assert_true(note_read(&note, &first, &second));
    expect_gone(second);
    unlink(note.path);
}

/* ---- With a real clock and real threads ----------------------------------------------------------------------------------- */

struct late {
    struct note note;
    struct pawl_step_options options;
};

WORKFLOW(run_late)
{
    struct late *late = pawl_run_user(run);
    const char *arguments[] = { "sh", "-c", "sleep 1000 & echo $$ $! > $0.new; mv $0.new $0; wait", late->note.path,
                                NULL };
    struct pawl_process process = { .arguments = arguments };
    return pawl_do_process(run, "late", &late->options, &process, params, out_result);
}

TEST(at_its_timeout_a_program_is_killed_with_all_it_started)
{
    struct running running;
    struct late late = { .options = { .retries = PAWL_NO_RETRIES, .timeout = "300 ms" } };
    pid_t first, second;
    note_make(&late.note);
    running_open(&running, false);
    running_register(&running, "late", run_late, &late);
    running_start(&running, NULL);
    running_create(&running, "late", "l");
    struct pawl_instance instance = running_await(&running, "late", "l", PAWL_ERRORED);
    assert_string_equal(instance.error_name, "STEP_TIMEOUT");
    running_close(&running); /* which waits for the body */
    if (note_read(&late.note, &first, &second)) {
        expect_gone(first);
        expect_gone(second);
    }
    unlink(late.note.path);
}

TEST(a_program_of_a_terminated_run_is_killed)
{
    struct running running;
    struct late late = { .options = { .timeout = "1 hour" } };
    pid_t first, second;
    note_make(&late.note);
    running_open(&running, false);
    running_register(&running, "late", run_late, &late);
    running_start(&running, NULL);
    running_create(&running, "late", "l");
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (!note_read(&late.note, &first, &second) && monotonic_ms() < until_ms)
        rest_a_little();
    assert_true(process_runs(first));
    assert_ok(pawl_terminate(running.engine, "late", "l", &running.error), running.error);
    expect_gone(first);
    expect_gone(second);
    running_close(&running);
    unlink(late.note.path);
}
