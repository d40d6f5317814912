/* module_soak.c - the workflows of the soak (see docs/reliability.md).
 *
 * Every body appends a line to the file that $SOAK_BODIES names when it begins and another when it ends, each with one
 * write().  The soak compares that file with the history.  A step has such a body if and only if its name contains "body".
 * A line has eight fields, with tabs between: begin, ok or fail; workflow; instance; run; step; attempt; process; nanoseconds
 * of the boot clock.
 *
 * Bodies also note the heap of their process in the file that $SOAK_HEAP names, every two seconds at most: what is in use and
 * what is free, in bytes.  Nobody else can see from outside whether resident memory is in use. */
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pawl/workflow.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const struct pawl_step_options quick_retries = {
    .retries = 5, .delay = "200 ms", .backoff = PAWL_BACKOFF_CONSTANT, .timeout = "1 minute"
};

/* ---- Bodies -------------------------------------------------------------------------------------------------------- */

static void append(const char *path, const char *line, int size)
{
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 || write(file, line, (size_t)size) != size)
        abort(); /* the soak would miss a body without this line */
    (void)close(file);
}

static void note_heap(int64_t now_s)
{
    static _Atomic int64_t noted_s;
    char line[128];
    const char *path = getenv("SOAK_HEAP");
    int64_t before_s = atomic_load(&noted_s);
    if (path == NULL || now_s < before_s + 2 || !atomic_compare_exchange_strong(&noted_s, &before_s, now_s))
        return;
    struct mallinfo2 heap = mallinfo2();
    append(path, line,
           snprintf(line, sizeof line, "%" PRId64 " %zu %zu\n", now_s, heap.uordblks + heap.hblkhd, heap.fordblks));
}

static void note(const pawl_step *step, const char *word)
{
    char line[512];
    struct timespec now;
    const pawl_run *run = pawl_step_run(step);
    const char *path = getenv("SOAK_BODIES");
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    note_heap(now.tv_sec);
    int size = snprintf(line, sizeof line, "%s\t%s\t%s\t%" PRId64 "\t%s\t%" PRId64 "\t%ld\t%lld%09ld\n", word,
                        pawl_run_workflow(run), pawl_run_id(run), pawl_run_number(run), pawl_step_name(step),
                        pawl_step_attempt(step), (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
    append(path != NULL ? path : "bodies", line, size);
}

static void work_ms(int64_t ms)
{
    struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    (void)nanosleep(&pause, NULL);
}

/* input: {"ms": how long it works, "failures": attempts that fail, "forGood": true}, each may be missing */
static pawl_status body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    note(step, "begin");
    work_ms(pawl_value_int(input, "ms", 2));
    if (pawl_value_bool(input, "forGood", false)) {
        note(step, "fail");
        return pawl_fail_for_good(step, "Refused", "this step always fails");
    }
    if (pawl_step_attempt(step) <= pawl_value_int(input, "failures", 0)) {
        note(step, "fail");
        return pawl_fail(step, "NotYet", "attempt %" PRId64 " fails as planned", pawl_step_attempt(step));
    }
    note(step, "ok");
    return pawl_result(step, out_result, "{s:I}", "attempt", pawl_step_attempt(step));
}

/* Writes one row into the application's table, in the transaction that completes the step. */
static pawl_status ledger_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const pawl_run *run = pawl_step_run(step);
    (void)input, (void)out_result;
    note(step, "begin");
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO soak_ledger (instance, run, step) VALUES ($1, $2, $3)", "[s, I, s]",
                           pawl_run_id(run), pawl_run_number(run), pawl_step_name(step)));
    work_ms(2);
    note(step, "ok");
    return PAWL_OK;
}

/* Answers its input, which may be large. */
static pawl_status echo_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    note(step, "begin");
    PAWL_TRY(pawl_result(step, out_result, "s", pawl_value_string(input, NULL, "")));
    note(step, "ok");
    return PAWL_OK;
}

/* Publishes a deferred's token in a log line, where the client looks for it. */
static pawl_status token_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    note(step, "begin");
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, "soak", input, "the token"));
    note(step, "ok");
    return PAWL_OK;
}

static pawl_status do_body(pawl_run *run, const char *name, const pawl_value *input)
{
    return pawl_do(run, name, &quick_retries, body, input, NULL);
}

/* ---- Workflows ----------------------------------------------------------------------------------------------------- */

/* params: {"steps": 3, "step": what each body gets} */
static pawl_status steps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    int64_t count = pawl_value_int(params, "steps", 3);
    for (int64_t i = 0; i < count; i++)
        PAWL_TRY(do_body(run, pawl_run_format(run, "body %" PRId64, i), pawl_value_at(params, "step")));
    return pawl_return(run, out_result, "{s:I}", "steps", count);
}

/* params: {"sleepMs": 500} */
static pawl_status nap(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(do_body(run, "body before", NULL));
    PAWL_TRY(pawl_sleep_ms(run, "nap", pawl_value_int(params, "sleepMs", 500)));
    return do_body(run, "body after", NULL);
}

/* Waits for as many events as params say: {"events": 1}. */
static pawl_status listen(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    int64_t count = pawl_value_int(params, "events", 1);
    PAWL_TRY(do_body(run, "body before", NULL));
    for (int64_t i = 0; i < count; i++) {
        PAWL_TRY(pawl_wait_for_event(run, pawl_run_format(run, "wait %" PRId64, i), "go", "1 day", NULL));
        PAWL_TRY(do_body(run, pawl_run_format(run, "body %" PRId64, i), NULL));
    }
    return pawl_return(run, out_result, "{s:I}", "events", count);
}

/* A step that succeeds at its third attempt, and one that fails for good, which the run handles; or not:
 * {"unhandled": true}. */
static pawl_status fails(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *some, *for_good;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &some, "{s:i}", "failures", 2));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &for_good, "{s:b}", "forGood", 1));
    PAWL_TRY(do_body(run, "body retried", some));
    pawl_status status = do_body(run, "body refused", for_good);
    if (status != PAWL_FAILED || pawl_value_bool(params, "unhandled", false))
        return status;
    return pawl_return(run, out_result, "s", pawl_run_failure(run).name);
}

static pawl_status branch(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    const char *name = pawl_value_string(input, "name", "");
    PAWL_TRY(do_body(run, pawl_run_format(run, "body %s", name), NULL));
    PAWL_TRY(pawl_sleep_ms(run, pawl_run_format(run, "nap %s", name), pawl_value_int(input, "sleepMs", 100)));
    PAWL_TRY(do_body(run, pawl_run_format(run, "body %s again", name), NULL));
    return pawl_return(run, out_result, "s", name);
}

enum { BRANCHES = 4 };

/* Four branches to their ends, then two of which the first wins. */
static pawl_status fan(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[BRANCHES] = { 0 };
    size_t winner;
    (void)params;
    for (int i = 0; i < BRANCHES; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:s, s:i}", "name", pawl_run_format(run, "all %d", i),
                                 "sleepMs", 50 * i));
        branches[i] = (struct pawl_branch){ .run = branch, .input = input };
    }
    PAWL_TRY(pawl_all(run, "branches", branches, BRANCHES, 2));
    for (int i = 0; i < 2; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:s, s:i}", "name", pawl_run_format(run, "first %d", i),
                                 "sleepMs", 50 + 1000 * i));
        branches[i] = (struct pawl_branch){ .run = branch, .input = input };
    }
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    return pawl_return(run, out_result, "I", (int64_t)winner);
}

static pawl_status family(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(do_body(run, "body before", NULL));
    PAWL_TRY(pawl_run_child(run, "child", pawl_value_string(params, "child", "steps"), NULL, NULL, out_result));
    return do_body(run, "body after", NULL);
}

/* Carried out by the soak's own worker, over HTTP. */
static pawl_status calls(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_call(run, "body called", "soak.work", &quick_retries, params, out_result));
    return do_body(run, "body after", NULL);
}

static pawl_status defers(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *token;
    pawl_value *input;
    (void)params;
    PAWL_TRY(pawl_deferred_token(run, "answer", &token));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:s}", "token", token));
    PAWL_TRY(pawl_do(run, "body that publishes", &quick_retries, token_body, input, NULL));
    PAWL_TRY(pawl_await_deferred(run, "answer", "1 hour", out_result));
    return do_body(run, "body after", NULL);
}

/* The same lines, from a shell: /proc/uptime is the boot clock, in hundredths of a second. */
static const char script[] =
    "note() { read -r up rest </proc/uptime; "
    "printf '%s\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s0000000\\n' \"$1\" \"$PAWL_WORKFLOW\" \"$PAWL_INSTANCE_ID\" "
    "\"$PAWL_RUN_NUMBER\" \"$PAWL_STEP\" \"$PAWL_ATTEMPT\" $PPID \"${up%.*}${up#*.}\" >>\"$SOAK_BODIES\"; }; "
    "note begin; sleep 0.05; note ok; echo '\"from a process\"'";

static pawl_status process(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const char *const arguments[] = { "sh", "-c", script, NULL };
    static const struct pawl_process shell = { .arguments = arguments };
    (void)params;
    PAWL_TRY(pawl_do_process(run, "body of a shell", &quick_retries, &shell, NULL, out_result));
    return do_body(run, "body after", NULL);
}

static pawl_status ledger(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params, (void)out_result;
    for (int i = 0; i < 2; i++)
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "ledger body %d", i), &quick_retries, ledger_body, NULL, NULL));
    return PAWL_OK;
}

static pawl_status large(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_do(run, "body that echoes", &quick_retries, echo_body, pawl_value_at(params, "text"), NULL));
    return do_body(run, "body after", NULL);
}

/* Two steps that can be undone, then a wait.  Interrupt and rollback undo them. */
static pawl_status undone(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_compensation compensation = { .undo = body, .options = &quick_retries };
    struct pawl_step_options options = quick_retries;
    (void)params, (void)out_result;
    options.compensate = &compensation;
    for (int i = 0; i < 2; i++)
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "body %d", i), &options, body, NULL, NULL));
    return pawl_wait_for_event(run, "wait", "go", "1 hour", NULL);
}

PAWL_MODULE({ .name = "steps", .run = steps }, { .name = "nap", .run = nap }, { .name = "listen", .run = listen },
            { .name = "fails", .run = fails }, { .name = "fan", .run = fan }, { .name = "family", .run = family },
            { .name = "calls", .run = calls }, { .name = "defers", .run = defers },
            { .name = "process", .run = process }, { .name = "ledger", .run = ledger },
            { .name = "large", .run = large }, { .name = "undone", .run = undone });
