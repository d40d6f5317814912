/* test_crash.c - C3 for real: a program that runs a thousand workflows is killed with kill -9 at random instants.
 *
 * Every body writes a line into a journal before it returns.  After each kill the test reads from the database what is
 * committed; no line of the journal behind that place may be about it.  The seed is printed; PAWL_TEST_SEED replays. */
#include "kit/running.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "kit/child.h"

enum { RUNS = RUNNING_SLOWLY ? 300 : 1000, KILLS = RUNNING_SLOWLY ? 10 : 20, STEPS = 5 };

static const char *const step_names[STEPS] = { "reserve", "flaky", "charge", "ship", "notify" };

/* What is known about one step of one run. */
struct fact {
    int attempts;   /* committed at some kill */
    bool completed; /* likewise */
    int life;       /* of the program, in which the newest line was written */
    int attempt;    /* of that line */
    int lines;
};

struct crash {
    char path[64], journal[80];
    struct fact facts[RUNS][STEPS];
    long read_to; /* the journal is checked up to here */
    int life, life_ms_max;
    unsigned seed;
};

/* ---- The program that is killed ------------------------------------------------------------------------------------------ */

/* One write, so that a line is there wholly or not at all. */
static pawl_status write_line(pawl_step *step, const pawl_value *input)
{
    const int *journal = pawl_step_user(step);
    char line[64];
    int size = snprintf(line, sizeof line, "%d %d %d\n", (int)pawl_value_int(input, "run", -1),
                        (int)pawl_value_int(input, "step", -1), (int)pawl_step_attempt(step));
    return write(*journal, line, (size_t)size) == size ? PAWL_OK : PAWL_FAILED;
}

BODY(plain_body)
{
    PAWL_TRY(write_line(step, input));
    return pawl_result(step, out_result, "i", (int)pawl_value_int(input, "run", 0));
}

BODY(reserving_body)
{
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO app (run) VALUES ($1)", "[i]", (int)pawl_value_int(input, "run", -1)));
    return plain_body(step, input, out_result);
}

BODY(flaky_body)
{
    pawl_status status = plain_body(step, input, out_result);
    return status == PAWL_OK && pawl_step_attempt(step) == 1 ? pawl_fail(step, "Flaky", "the first time") : status;
}

static pawl_status call(pawl_run *run, int number, int step, pawl_step_fn *body, int64_t *total)
{
    const struct pawl_step_options options = { .retries = 5, .delay = "1 ms", .backoff = PAWL_BACKOFF_CONSTANT };
    pawl_value *input, *result;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:i, s:i}", "run", number, "step", step));
    PAWL_TRY(pawl_do(run, step_names[step], &options, body, input, &result));
    *total += pawl_value_int(result, NULL, -1000000);
    return PAWL_OK;
}

WORKFLOW(order)
{
    int number = (int)pawl_value_int(params, NULL, -1);
    int64_t total = 0;
    PAWL_TRY(call(run, number, 0, reserving_body, &total));
    PAWL_TRY(call(run, number, 1, flaky_body, &total));
    PAWL_TRY(pawl_sleep(run, "rest", "1 ms"));
    PAWL_TRY(call(run, number, 2, plain_body, &total));
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, NULL));
    PAWL_TRY(call(run, number, 3, plain_body, &total));
    PAWL_TRY(call(run, number, 4, plain_body, &total));
    return pawl_return(run, out_result, "i", (int)total);
}

/* Batches of what is missing; what is there is left out. */
static bool create_all(struct running *running)
{
    char ids[50][16], params[50][16];
    struct pawl_batch_item items[50];
    struct pawl_instance *created;
    size_t count;
    for (int from = 0; from < RUNS; from += 50) {
        pawl_scope *scope = pawl_scope_new();
        for (int i = 0; i < 50; i++) {
            snprintf(ids[i], sizeof ids[i], "run-%d", from + i);
            snprintf(params[i], sizeof params[i], "%d", from + i);
            items[i] = (struct pawl_batch_item){ ids[i], params[i] };
        }
        pawl_status status = pawl_create_batch(running->engine, scope, "order", items, 50, &created, &count, NULL);
        pawl_scope_free(scope);
        if (status != PAWL_OK)
            return false;
    }
    return true;
}

/* The id makes sending again harmless.  From another place each time, so that all get theirs. */
static bool send_all(struct running *running, int from)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = "go";
    options.event_id = "go-1";
    for (int i = 0; i < RUNS; i++) {
        char id[16];
        snprintf(id, sizeof id, "run-%d", (from + i) % RUNS);
        pawl_status status = pawl_send_event(running->engine, NULL, "order", id, &options, NULL, NULL);
        if (status != PAWL_OK && status != PAWL_INSTANCE_TERMINAL)
            return false;
    }
    return true;
}

/* The program.  Its leases are longer than anybody waits: a restart goes on at once, or never. */
static void be_the_program(void *user)
{
    const struct crash *crash = user;
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    int journal = open(crash->journal, O_WRONLY | O_APPEND | O_CREAT, 0666);
    running_open_path(&running, crash->path);
    running_register(&running, "order", order, &journal);
    options.lease_ms = 1000 * PATIENCE_MS;
    running_start(&running, &options);
    if (!create_all(&running) || !send_all(&running, crash->life * (RUNS / KILLS)))
        _exit(2);
    if (!running_await_all(&running, "order"))
        _exit(3);
    pawl_runner_stop(running.runner);
    pawl_close(running.engine);
    _exit(0);
}

static pid_t start_program(struct crash *crash)
{
    crash->life++;
    return child_start(be_the_program, crash);
}

/* ---- The one that kills it ------------------------------------------------------------------------------------------------ */

static int step_number(const char *name)
{
    for (int i = 0; i < STEPS; i++) {
        if (strcmp(step_names[i], name) == 0)
            return i;
    }
    return -1;
}

/* What the program wrote in the life that has just ended, held against what was committed before it. */
static void check_journal(struct crash *crash)
{
    int run, step, attempt;
    FILE *journal = fopen(crash->journal, "r");
    if (journal == NULL)
        return; /* killed before its first body */
    fseek(journal, crash->read_to, SEEK_SET);
    while (fscanf(journal, "%d %d %d\n", &run, &step, &attempt) == 3) {
        assert_in_range(run, 0, RUNS - 1);
        assert_in_range(step, 0, STEPS - 1);
        struct fact *fact = &crash->facts[run][step];
        if (fact->completed)
            fail_msg("life %d: run %d step %s ran again after it was committed", crash->life, run, step_names[step]);
        if (attempt <= fact->attempts)
            fail_msg("life %d: run %d step %s: attempt %d again after it was committed", crash->life, run,
                     step_names[step], attempt);
        if (fact->life == crash->life && attempt <= fact->attempt)
            fail_msg("life %d: run %d step %s: attempt %d twice in one life", crash->life, run, step_names[step],
                     attempt);
        fact->life = crash->life;
        fact->attempt = attempt;
        fact->lines++;
    }
    crash->read_to = ftell(journal);
    fclose(journal);
}

static void note_step(void *user, const char *const *columns, int count)
{
    struct crash *crash = user;
    int step = step_number(columns[1]);
    (void)count;
    if (step < 0)
        return;
    struct fact *fact = &crash->facts[atoi(columns[0])][step];
    fact->attempts = atoi(columns[2]);
    fact->completed = strcmp(columns[3], "completed") == 0;
    if (fact->completed && fact->lines == 0)
        fail_msg("life %d: step %s is committed, but never ran", crash->life, step_names[step]);
}

static bool has_tables(const struct crash *crash)
{
    struct store_place place = database_place(crash->path);
    return store_place_has(&place, "workflow_steps");
}

/* What is committed now holds for ever. */
static void note_committed(struct crash *crash)
{
    struct store_place place = database_place(crash->path);
    if (has_tables(crash))
        store_place_rows(&place, "SELECT substr(id, 5), name, attempts, status FROM workflow_steps", note_step, crash);
}

/* The first line that is checked against a commit is the first one written after it. */
static void look_after(struct crash *crash)
{
    check_journal(crash);
    note_committed(crash);
}

static void wait_ms(int64_t ms)
{
    const struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
    nanosleep(&pause, NULL);
}

/* False: it had finished by itself.  Lives are short at first, so that a quick machine is not done after some of them; where
 * even a long one does not come to the tables, they are given more time. */
static bool kill_at_random(struct crash *crash, int number)
{
    pid_t program = start_program(crash);
    int life_ms_max = crash->life_ms_max * (number + 1) / KILLS;
    int life_ms = 5 + (int)child_draw(&crash->seed, (unsigned)(life_ms_max + 1));
    wait_ms(life_ms);
    int code = child_kill(&program);
    assert_true(code == 0 || code == 128 + SIGKILL);
    look_after(crash);
    if (life_ms > life_ms_max / 2 && !has_tables(crash))
        crash->life_ms_max *= 2;
    return code != 0;
}

static void let_it_finish(struct crash *crash)
{
    pid_t program = start_program(crash);
    assert_int_equal(child_await(&program), 0);
    look_after(crash);
}

static int64_t number_of(struct crash *crash, const char *sql)
{
    struct store_place place = database_place(crash->path);
    return store_place_number(&place, sql);
}

static void check_outcome(struct crash *crash)
{
    assert_int_equal(number_of(crash, "SELECT count(*) FROM workflow_instances WHERE status = 'complete'"), RUNS);
    assert_int_equal(number_of(crash, "SELECT count(*) FROM workflow_instances"), RUNS);
    assert_int_equal(number_of(crash,
                               "SELECT count(*) FROM workflow_instances"
                               " WHERE output IS DISTINCT FROM CAST(5 * CAST(substr(id, 5) AS INTEGER) AS TEXT)"),
                     0);
    assert_int_equal(number_of(crash, "SELECT count(*) FROM workflow_tasks"), 0);
    assert_int_equal(number_of(crash, "SELECT count(*) FROM app"), RUNS);
    assert_int_equal(number_of(crash, "SELECT count(DISTINCT run) FROM app"), RUNS);
    assert_int_equal(number_of(crash, "SELECT count(*) FROM workflow_steps WHERE name = 'flaky' AND attempts <> 2"), 0);
    for (int run = 0; run < RUNS; run++) {
        for (int step = 0; step < STEPS; step++) {
            assert_true(crash->facts[run][step].completed);
            assert_true(crash->facts[run][step].lines >= (step == 1 ? 2 : 1));
        }
    }
}

static int set_up(void **state)
{
    struct crash *crash = calloc(1, sizeof *crash);
    const char *seed = getenv("PAWL_TEST_SEED");
    crash->seed = seed != NULL ? (unsigned)strtoul(seed, NULL, 10) : (unsigned)time(NULL);
    print_message("PAWL_TEST_SEED=%u\n", crash->seed);
    /* In a database beginnings are slower. */
    crash->life_ms_max = store_asked_for(STORE_IN_FILE) == STORE_IN_FILE ? 150 : 500;
    database_name(crash->path, sizeof crash->path);
    snprintf(crash->journal, sizeof crash->journal, "%s-journal.txt", crash->path);
    *state = crash;
    return 0;
}

static int tear_down(void **state)
{
    struct crash *crash = *state;
    remove_database(crash->path);
    (void)unlink(crash->journal);
    free(crash);
    return 0;
}

static const struct test_setting crash_setting = { set_up, tear_down, 0 };

TEST_OF(crash, C3_a_completed_step_is_not_run_again_after_kill_9_and_no_run_is_lost)
{
    int killed = 0;
    int64_t begun_ms = monotonic_ms();
    struct store_place place = database_place(crash->path);
    store_place_execute(&place, "CREATE TABLE app (run INTEGER)");

    for (int i = 0; i < KILLS; i++)
        killed += kill_at_random(crash, i);
    int64_t finished_before = 0;
    if (has_tables(crash))
        finished_before = number_of(crash, "SELECT count(*) FROM workflow_instances WHERE status = 'complete'");
    int64_t last_begun_ms = monotonic_ms();
    let_it_finish(crash);
    int64_t last_took_ms = monotonic_ms() - last_begun_ms;

    int64_t lines = 0;
    for (int run = 0; run < RUNS; run++) {
        for (int step = 0; step < STEPS; step++)
            lines += crash->facts[run][step].lines;
    }
    print_message(
        "killed %d times, the last with %lld of %d runs complete; %lld bodies for %d steps; %lld ms, the last %lld\n",
        killed, (long long)finished_before, RUNS, (long long)lines, RUNS * (STEPS + 1),
        (long long)(monotonic_ms() - begun_ms), (long long)last_took_ms);
    check_outcome(crash);
    assert_true(killed >= KILLS / 4);
}
