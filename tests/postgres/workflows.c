/* workflows.c - see workflows.h. */
#include "workflows.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

const char busy_tables[] = "CREATE TABLE app_done (n bigint, step int, attempt int NOT NULL,"
                           " at_us bigint NOT NULL, PRIMARY KEY (n, step));"
                           "CREATE TABLE app_account (id bigint PRIMARY KEY, amount bigint NOT NULL);"
                           "INSERT INTO app_account VALUES (0, 0), (1, 0)";

static const struct {
    const char *name;
    int64_t attempts;
} steps[BUSY_STEPS] = {
    [BUSY_FIRST] = { "first", 1 },   [BUSY_FLAKY] = { "flaky", 3 }, [BUSY_LEFT] = { "left", 1 },
    [BUSY_MIDDLE] = { "middle", 1 }, [BUSY_RIGHT] = { "right", 1 }, [BUSY_DOOMED] = { "doomed", 2 },
    [BUSY_LAST] = { "last", 1 },
};

const char *busy_step_name(enum busy_step step)
{
    return steps[step].name;
}

int64_t busy_step_attempts(enum busy_step step)
{
    return steps[step].attempts;
}

int64_t busy_result(int64_t n)
{
    int64_t sum = n; /* the event's payload */
    for (int step = 0; step < BUSY_STEPS; step++)
        if (step != BUSY_DOOMED)
            sum += n * (step + 1);
    return sum;
}

/* ---- Bodies ------------------------------------------------------------------------------------------------------ */

/* One write, so that lines of several processes do not mix.  The time is the kernel's, past a clock that libfaketime has
 * set wrong for this process. */
static void note_begin(int64_t n, int64_t step, int64_t attempt)
{
    char line[96];
    const char *path = getenv(BUSY_LOG);
    struct timespec now = { .tv_sec = 0 };
    (void)syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    int size =
        snprintf(line, sizeof line, "%lld %lld %lld %lld\n", (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000,
                 (long long)n, (long long)step, (long long)attempt);
    int log = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (log < 0 || write(log, line, (size_t)size) != size)
        (void)fprintf(stderr, "the log of bodies cannot be written\n");
    (void)close(log);
}

#define INSERT_DONE                                                                                                    \
    "INSERT INTO app_done (n, step, attempt, at_us)"                                                                   \
    " VALUES ($1::bigint, $2::int, $3::int, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)"

/* input: {"n": n, "step": number} */
static pawl_status busy_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    int64_t n = pawl_value_int(input, "n", 0), number = pawl_value_int(input, "step", 0);
    int64_t attempt = pawl_step_attempt(step);
    note_begin(n, number, attempt);
    PAWL_TRY(
        pawl_step_sql_on_failure(step, INSERT_DONE, "[I, I, I]", (long long)n, (long long)number, (long long)attempt));
    if (number == BUSY_DOOMED || attempt < busy_step_attempts((enum busy_step)number))
        return pawl_fail(step, "NotYet", "attempt %lld fails", (long long)attempt);
    PAWL_TRY(pawl_step_sql(step, INSERT_DONE, "[I, I, I]", (long long)n, (long long)number, (long long)attempt));
    return pawl_result(step, out_result, "I", (long long)(n * (number + 1)));
}

/* ---- The workflow ------------------------------------------------------------------------------------------------ */

static pawl_status take_step(pawl_run *run, const pawl_value *params, enum busy_step number, int64_t *sum)
{
    struct pawl_step_options options = { .retries = PAWL_NO_RETRIES, .delay = "30 ms" };
    pawl_value *input, *result = NULL;
    options.backoff = PAWL_BACKOFF_CONSTANT;
    if (steps[number].attempts > 1)
        options.retries = steps[number].attempts - 1;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:I,s:i}", "n", (long long)pawl_value_int(params, "n", 0),
                             "step", (int)number));
    PAWL_TRY(pawl_do(run, steps[number].name, &options, busy_body, input, &result));
    *sum += pawl_value_int(result, NULL, 0);
    return PAWL_OK;
}

static pawl_status left(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    int64_t sum = 0;
    PAWL_TRY(take_step(run, params, BUSY_LEFT, &sum));
    return pawl_return(run, out_result, "I", (long long)sum);
}

static pawl_status middle(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    int64_t sum = 0;
    PAWL_TRY(pawl_sleep_ms(run, "nap", pawl_value_int(params, "nap", 1)));
    PAWL_TRY(take_step(run, params, BUSY_MIDDLE, &sum));
    return pawl_return(run, out_result, "I", (long long)sum);
}

static pawl_status right(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_event event;
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", "1 hour", &event));
    int64_t sum = pawl_value_int(event.payload, NULL, 0);
    PAWL_TRY(take_step(run, params, BUSY_RIGHT, &sum));
    return pawl_return(run, out_result, "I", (long long)sum);
}

static pawl_status busy_run(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[] = { { .run = left, .input = params },
                                      { .run = middle, .input = params },
                                      { .run = right, .input = params } };
    int64_t sum = 0;
    PAWL_TRY(take_step(run, params, BUSY_FIRST, &sum));
    PAWL_TRY(take_step(run, params, BUSY_FLAKY, &sum));
    PAWL_TRY(pawl_all(run, "all", branches, 3, 0));
    for (int i = 0; i < 3; i++)
        sum += pawl_value_int(branches[i].result, NULL, 0);
    pawl_status status = take_step(run, params, BUSY_DOOMED, &sum);
    if (status != PAWL_FAILED)
        return status == PAWL_OK ? pawl_run_fail(run, "NotDoomed", "it should have failed") : status;
    PAWL_TRY(take_step(run, params, BUSY_LAST, &sum));
    return pawl_return(run, out_result, "I", (long long)sum);
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

/* What the process takes for the time. */
static pawl_status tell_clock(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)input;
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "NotYet", "the first attempt fails");
    return pawl_result(step, out_result, "I", (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

/* Everything that has to do with time: a retry, a sleep, a moment, and an event that does not come. */
static pawl_status timed_run(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_step_options options = { .retries = 1, .delay = "300 ms" };
    pawl_value *clock = NULL;
    (void)params;
    PAWL_TRY(pawl_do(run, "clock", &options, tell_clock, NULL, &clock));
    PAWL_TRY(pawl_sleep(run, "nap", "400 ms"));
    PAWL_TRY(pawl_sleep_until(run, "moment", pawl_run_created_at_ms(run) + 1500));
    pawl_status status = pawl_wait_for_event(run, "wait", "never", "1 second", NULL);
    if (status != PAWL_WAIT_FOR_EVENT_TIMEOUT)
        return status == PAWL_OK ? pawl_run_fail(run, "Event", "there was none") : status;
    return pawl_return(run, out_result, "V", clock);
}

/* ---- Deadlocks --------------------------------------------------------------------------------------------------- */

/* Two accounts, locked in the one order or in the other. */
static pawl_status move_crosswise(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    static const char add[] = "UPDATE app_account SET amount = amount + 1 WHERE id = $1::bigint";
    int first = (int)(pawl_value_int(input, "n", 0) % 2);
    (void)out_result;
    PAWL_TRY(pawl_step_sql(step, add, "[i]", first));
    PAWL_TRY(pawl_step_sql(step, "SELECT pg_sleep(0.01)", NULL));
    return pawl_step_sql(step, add, "[i]", 1 - first);
}

static pawl_status crossed_run(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    return pawl_do(run, "move", NULL, move_crosswise, params, NULL);
}

/* ---- A statement that takes its time ------------------------------------------------------------------------------ */

static pawl_status sleep_in_sql(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_step_sql(step, "SELECT pg_sleep(0.5)", NULL);
}

static pawl_status slow_run(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_do(run, "slow", NULL, sleep_in_sql, NULL, NULL);
}

/* ---- A body that is held ------------------------------------------------------------------------------------------- */

static pawl_status wait_at_gate(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const struct timespec moment = { .tv_nsec = 5000000L };
    const char *gate = pawl_scope_format(pawl_step_scope(step), "%s" BUSY_GATE, getenv(BUSY_LOG));
    (void)out_result;
    note_begin(pawl_value_int(input, "n", 0), BUSY_FIRST, pawl_step_attempt(step));
    while (gate != NULL && access(gate, F_OK) != 0 && !pawl_step_cancelled(step))
        (void)nanosleep(&moment, NULL);
    return PAWL_OK;
}

static pawl_status held_run(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    return pawl_do(run, "held", NULL, wait_at_gate, params, NULL);
}

PAWL_MODULE({ .name = "busy", .run = busy_run }, { .name = "timed", .run = timed_run },
            { .name = "crossed", .run = crossed_run }, { .name = "slow", .run = slow_run },
            { .name = "held", .run = held_run });
