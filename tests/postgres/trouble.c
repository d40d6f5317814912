/* trouble.c - see trouble.h. */
#include "trouble.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/child.h"

enum { CONNECT_MS_MAX = 60000, BATCH = 50, LINE_MAX_SIZE = 128 };

static void rest(long ms)
{
    struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    (void)nanosleep(&pause, NULL);
}

/* ---- SQL --------------------------------------------------------------------------------------------------------- */

static void ignore_notice(void *unused, const char *notice)
{
    (void)unused;
    (void)notice;
}

static PGconn *connect_to(const char *hosts, const char *database, const char *user)
{
    const char *names[] = { "host", "user", "dbname", "target_session_attrs", "connect_timeout", NULL };
    const char *values[] = { hosts, user != NULL ? user : "pawl", database, "read-write", "5", NULL };
    PGconn *db = NULL;
    for (int64_t until_ms = monotonic_ms() + CONNECT_MS_MAX; monotonic_ms() < until_ms; rest(50)) {
        db = PQconnectdbParams(names, values, 0);
        if (PQstatus(db) == CONNECTION_OK) {
            (void)PQsetNoticeProcessor(db, ignore_notice, NULL);
            return db;
        }
        if (monotonic_ms() + 100 < until_ms)
            PQfinish(db);
    }
    fail_msg("%s", PQerrorMessage(db));
    return NULL;
}

PGconn *trouble_connect(const struct trouble *trouble, const char *user)
{
    return connect_to(trouble->hosts, trouble->database, user);
}

/* Again when the session is ended: a server that is restarted does that. */
static PGresult *run_patiently(const char *hosts, const char *database, const char *sql)
{
    for (int64_t until_ms = monotonic_ms() + CONNECT_MS_MAX;;) {
        PGconn *db = connect_to(hosts, database, NULL);
        PGresult *result = PQexec(db, sql);
        ExecStatusType status = PQresultStatus(result);
        bool lost = PQstatus(db) != CONNECTION_OK;
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && (!lost || monotonic_ms() > until_ms))
            fail_msg("%s: %s", sql, PQerrorMessage(db));
        PQfinish(db);
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
            return result;
        PQclear(result);
    }
}

void trouble_execute(const struct trouble *trouble, const char *sql)
{
    PQclear(run_patiently(trouble->hosts, trouble->database, sql));
}

int64_t trouble_number(const struct trouble *trouble, const char *sql)
{
    PGresult *result = run_patiently(trouble->hosts, trouble->database, sql);
    if (PQntuples(result) < 1)
        fail_msg("%s: no row", sql);
    int64_t number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return number;
}

void trouble_await(const struct trouble *trouble, const char *sql, int64_t wanted, int64_t within_ms)
{
    int64_t number = 0;
    for (int64_t until_ms = monotonic_ms() + within_ms; monotonic_ms() < until_ms; rest(20)) {
        number = trouble_number(trouble, sql);
        if (number >= wanted)
            return;
    }
    fail_msg("%s: is %lld after %lld ms, not %lld", sql, (long long)number, (long long)within_ms, (long long)wanted);
}

/* ---- The database -------------------------------------------------------------------------------------------------- */

static void make_url(struct trouble *trouble)
{
    snprintf(trouble->url, sizeof trouble->url, "postgres://pawl@/%s?host=%s&target_session_attrs=read-write%s",
             trouble->database, trouble->hosts, trouble->options);
}

void trouble_set_hosts(struct trouble *trouble, const char *hosts)
{
    snprintf(trouble->hosts, sizeof trouble->hosts, "%s", hosts);
    make_url(trouble);
}

static void seed_chance(struct trouble *trouble)
{
    const char *given = getenv("PAWL_TROUBLE_SEED");
    trouble->chance = given != NULL ? strtoull(given, NULL, 10) | 1 : (uint64_t)monotonic_ms() * 2654435761u + 1;
    print_message("PAWL_TROUBLE_SEED=%llu\n", (unsigned long long)trouble->chance);
}

/* xorshift */
uint64_t trouble_chance(struct trouble *trouble, uint64_t below)
{
    if (trouble->chance == 0)
        seed_chance(trouble);
    trouble->chance ^= trouble->chance << 13;
    trouble->chance ^= trouble->chance >> 7;
    trouble->chance ^= trouble->chance << 17;
    return trouble->chance % below;
}

void trouble_open(struct trouble *trouble, const char *host, const char *options)
{
    static int count;
    char sql[96];
    *trouble = (struct trouble){ .scope = pawl_scope_new() };
    assert_non_null(host);
    assert_non_null(trouble->scope);
    snprintf(trouble->database, sizeof trouble->database, "trouble_%d_%d", (int)getpid(), ++count);
    snprintf(trouble->options, sizeof trouble->options, "%s", options);
    snprintf(trouble->log, sizeof trouble->log, "%s/%s.log", P_tmpdir, trouble->database);
    trouble_set_hosts(trouble, host);
    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE template0", trouble->database);
    PQclear(run_patiently(host, "postgres", sql));
    trouble_execute(trouble, busy_tables);
    (void)unlink(trouble->log);
    assert_int_equal(setenv(BUSY_LOG, trouble->log, 1), 0);
}

void trouble_kill_all(struct trouble *trouble)
{
    for (int i = 0; i < trouble->worker_count; i++)
        worker_kill(&trouble->workers[i]);
}

void trouble_close(struct trouble *trouble)
{
    char sql[96];
    trouble_kill_all(trouble);
    pawl_close(trouble->engine);
    pawl_scope_free(trouble->scope);
    snprintf(sql, sizeof sql, "DROP DATABASE %s WITH (FORCE)", trouble->database);
    PQclear(run_patiently(trouble->hosts, "postgres", sql));
    (void)unlink(trouble->log);
}

/* ---- Processes ---------------------------------------------------------------------------------------------------- */

/* libfaketime shifts the clock of the day; the one that counts from the start of the machine is nobody's to set. */
struct beginning {
    const struct trouble *trouble;
    const char *skew;
};

static void become_worker(void *user)
{
    const struct trouble *trouble = ((const struct beginning *)user)->trouble;
    const char *skew = ((const struct beginning *)user)->skew;
    char lease[32];
    snprintf(lease, sizeof lease, "%lld", (long long)trouble->lease_ms);
    (void)setenv("PAWL_TEST_LEASE_MS", lease, 1);
    if (skew != NULL && (setenv("LD_PRELOAD", PAWL_TEST_FAKETIME, 1) != 0 || setenv("FAKETIME", skew, 1) != 0 ||
                         setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1", 1) != 0))
        _exit(96);
    (void)execl(PAWL_TEST_WORKER, "postgres_worker", trouble->url, (char *)NULL);
    _exit(97);
}

void worker_restart(struct trouble *trouble, struct worker *worker)
{
    worker->process = child_start(become_worker, &(struct beginning){ trouble, worker->skew });
    worker->starts++;
}

struct worker *worker_start(struct trouble *trouble, const char *skew)
{
    assert_true(trouble->worker_count < WORKERS_MAX);
    struct worker *worker = &trouble->workers[trouble->worker_count++];
    *worker = (struct worker){ .skew = skew };
    worker_restart(trouble, worker);
    return worker;
}

void worker_kill(struct worker *worker)
{
    (void)child_kill(&worker->process);
}

bool worker_has_ended(struct worker *worker)
{
    int code;
    return worker->process <= 0 || child_has_ended(&worker->process, &code);
}

int worker_stop(struct worker *worker)
{
    int code;
    assert_int_equal(kill(worker->process, SIGTERM), 0);
    for (int64_t until_ms = monotonic_ms() + CONNECT_MS_MAX; monotonic_ms() < until_ms; rest(5))
        if (child_has_ended(&worker->process, &code))
            return code;
    fail_msg("a worker does not stop");
    return -1;
}

/* ---- Work --------------------------------------------------------------------------------------------------------- */

void trouble_open_engine(struct trouble *trouble)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    options.store_url = trouble->url;
    assert_ok(pawl_open(&options, &trouble->engine, &trouble->error), trouble->error);
    assert_ok(pawl_register_module(trouble->engine, &pawl_module, &trouble->error), trouble->error);
}

/* Trouble that outlasts the store's own patience is told to the caller, who tries again. */
static bool may_try_again(pawl_status status, int64_t until_ms)
{
    return (status == PAWL_STORE_UNAVAILABLE || status == PAWL_BUSY) && monotonic_ms() < until_ms;
}

void trouble_create_one(struct trouble *trouble, const char *workflow, int64_t n)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    int64_t until_ms = monotonic_ms() + CONNECT_MS_MAX;
    options.id = pawl_scope_format(trouble->scope, "%s-%lld", workflow, (long long)n);
    options.params_json = pawl_scope_format(trouble->scope, "{\"n\":%lld}", (long long)n);
    options.return_existing = true;
    pawl_status status;
    do {
        status = pawl_create(trouble->engine, trouble->scope, workflow, &options, &instance, &trouble->error);
    } while (may_try_again(status, until_ms));
    assert_ok(status, trouble->error);
}

static void create_batch(struct trouble *trouble, int64_t from, int64_t to)
{
    struct pawl_batch_item items[BATCH];
    struct pawl_instance *instances;
    size_t count = (size_t)(to - from), created;
    int64_t until_ms = monotonic_ms() + CONNECT_MS_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t n = from + (int64_t)i;
        items[i].id = pawl_scope_format(trouble->scope, "r-%lld", (long long)n);
        items[i].params_json =
            pawl_scope_format(trouble->scope, "{\"n\":%lld,\"nap\":%lld}", (long long)n, (long long)(n * 7919 % 800));
    }
    pawl_status status;
    do {
        status = pawl_create_batch(trouble->engine, trouble->scope, "busy", items, count, &instances, &created,
                                   &trouble->error);
    } while (may_try_again(status, until_ms));
    assert_ok(status, trouble->error);
    trouble->created += (int64_t)count;
}

void trouble_create(struct trouble *trouble, int64_t from, int64_t to)
{
    for (int64_t n = from; n < to; n += BATCH)
        create_batch(trouble, n, n + BATCH < to ? n + BATCH : to);
}

void trouble_send(struct trouble *trouble, int64_t from, int64_t to)
{
    for (int64_t n = from; n < to; n++) {
        struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
        char id[32], payload[32];
        int64_t until_ms = monotonic_ms() + CONNECT_MS_MAX;
        snprintf(id, sizeof id, "r-%lld", (long long)n);
        snprintf(payload, sizeof payload, "%lld", (long long)n);
        options.type = "go";
        options.payload_json = payload;
        options.event_id = "once";
        pawl_status status;
        do {
            status = pawl_send_event(trouble->engine, trouble->scope, "busy", id, &options, NULL, &trouble->error);
        } while (may_try_again(status, until_ms));
        assert_ok(status, trouble->error);
        trouble->sent++;
    }
}

int64_t trouble_complete(const struct trouble *trouble)
{
    return trouble_number(trouble, "SELECT count(*) FROM workflow_instance WHERE outcome = 1");
}

void trouble_await_complete(const struct trouble *trouble, int64_t runs, int64_t within_ms)
{
    trouble_await(trouble, "SELECT count(*) FROM workflow_instance WHERE outcome IS NOT NULL", runs, within_ms);
}

/* ---- What must be true in the end ------------------------------------------------------------------------------------ */

struct ledger {
    int64_t runs;
    int64_t *done_us; /* by run and step */
    int *begun;       /* bodies, by the same */
    int64_t bodies;
};

static void read_done(const struct trouble *trouble, struct ledger *ledger)
{
    PGresult *rows = run_patiently(trouble->hosts, trouble->database, "SELECT n, step, attempt, at_us FROM app_done");
    for (int i = 0; i < PQntuples(rows); i++) {
        int64_t n = strtoll(PQgetvalue(rows, i, 0), NULL, 10), step = strtoll(PQgetvalue(rows, i, 1), NULL, 10);
        assert_true(n >= 0 && n < ledger->runs && step >= 0 && step < BUSY_STEPS);
        assert_int_equal(strtoll(PQgetvalue(rows, i, 2), NULL, 10), busy_step_attempts((enum busy_step)step));
        ledger->done_us[n * BUSY_STEPS + step] = strtoll(PQgetvalue(rows, i, 3), NULL, 10);
    }
    assert_int_equal(PQntuples(rows), ledger->runs * BUSY_STEPS);
    PQclear(rows);
}

static void check_body(const char *line, struct ledger *ledger)
{
    long long at_us, n, step, attempt;
    if (sscanf(line, "%lld %lld %lld %lld", &at_us, &n, &step, &attempt) != 4)
        fail_msg("a line that no body wrote: %s", line);
    assert_true(n >= 0 && n < ledger->runs && step >= 0 && step < BUSY_STEPS);
    if (attempt < 1 || attempt > busy_step_attempts((enum busy_step)step))
        fail_msg("run %lld, step %s: attempt %lld", n, busy_step_name((enum busy_step)step), attempt);
    if (at_us > ledger->done_us[n * BUSY_STEPS + step])
        fail_msg("run %lld, step %s: a body began %lld us after the step was recorded", n,
                 busy_step_name((enum busy_step)step), (long long)(at_us - ledger->done_us[n * BUSY_STEPS + step]));
    ledger->begun[n * BUSY_STEPS + step]++;
    ledger->bodies++;
}

static void check_bodies(const struct trouble *trouble, struct ledger *ledger)
{
    char line[LINE_MAX_SIZE];
    int64_t least = 0;
    FILE *log = fopen(trouble->log, "r");
    assert_non_null(log);
    while (fgets(line, sizeof line, log) != NULL)
        check_body(line, ledger);
    (void)fclose(log);
    for (int64_t i = 0; i < ledger->runs * BUSY_STEPS; i++) {
        int64_t attempts = busy_step_attempts((enum busy_step)(i % BUSY_STEPS));
        assert_true(ledger->begun[i] >= attempts);
        least += attempts;
    }
    print_message("%lld runs: %lld bodies, %lld of them again because they were cut off\n", (long long)ledger->runs,
                  (long long)ledger->bodies, (long long)(ledger->bodies - least));
}

static void assert_none_errored(const struct trouble *trouble)
{
    PGresult *rows = run_patiently(trouble->hosts, trouble->database,
                                   "SELECT id, error_name, error_message FROM workflow_instance WHERE outcome <> 1");
    if (PQntuples(rows) > 0)
        fail_msg("%d failed: %s with %s: %s", PQntuples(rows), PQgetvalue(rows, 0, 0), PQgetvalue(rows, 0, 1),
                 PQgetvalue(rows, 0, 2));
    PQclear(rows);
}

static void check_rows(const struct trouble *trouble, int64_t runs)
{
    char sql[512];
    assert_int_equal(trouble_number(trouble, "SELECT count(*) FROM workflow_instance"), runs);
    assert_none_errored(trouble);
    assert_int_equal(trouble_complete(trouble), runs);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM workflow_instance WHERE output::bigint = (params::json->>'n')::bigint * %lld",
             (long long)busy_result(1));
    assert_int_equal(trouble_number(trouble, sql), runs);
    for (int step = 0; step < BUSY_STEPS; step++) {
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM workflow_step WHERE name = '%s' AND attempts = %lld AND attempts_max = %lld"
                 " AND status = %d",
                 busy_step_name((enum busy_step)step), (long long)busy_step_attempts((enum busy_step)step),
                 (long long)busy_step_attempts((enum busy_step)step), step == BUSY_DOOMED ? 2 : 1);
        assert_int_equal(trouble_number(trouble, sql), runs);
    }
    assert_int_equal(trouble_number(trouble, "SELECT count(*) FROM workflow_step WHERE attempts > attempts_max"
                                             " AND kind = 0"),
                     0);
    assert_int_equal(trouble_number(trouble, "SELECT count(*) FROM workflow_event WHERE delivered_at IS NOT NULL"),
                     runs);
    assert_int_equal(trouble_number(trouble, "SELECT count(*) FROM workflow_task"), 0);
}

void assert_all_is_well(struct trouble *trouble, int64_t runs)
{
    struct ledger ledger = { .runs = runs,
                             .done_us = calloc((size_t)runs * BUSY_STEPS, sizeof(int64_t)),
                             .begun = calloc((size_t)runs * BUSY_STEPS, sizeof(int)) };
    assert_non_null(ledger.done_us);
    assert_non_null(ledger.begun);
    check_rows(trouble, runs);
    read_done(trouble, &ledger);
    check_bodies(trouble, &ledger);
    free(ledger.done_us);
    free(ledger.begun);
}
