/* test_pawld_curl.c - pawld as an outsider meets it: with curl(1) and a shell.  Every route answers, and every error code that
 * docs/http.md names can be had, with its status and the headers that belong to it (contract D); the tables of tests/http say
 * the rest.  INTERNAL_SERVER_ERROR alone cannot be had from outside, which is the point of it: test_handler_store.c has it. */
#define _GNU_SOURCE /* strcasestr() */
#include "kit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

enum { TEXT_SIZE = 128 * 1024, CODES_MAX = 64 };

struct outcome {
    int status; /* 0: there was no answer */
    char head[4096];
    char body[TEXT_SIZE];
};

/* What the tests of this program have met, for the last of them. */
static char codes_met[CODES_MAX][64];
static size_t code_count;

static void read_text(const char *path, char *out_text, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t got = file != NULL ? fread(out_text, 1, size - 1, file) : 0;
    out_text[got] = '\0';
    if (file != NULL)
        (void)fclose(file);
}

/* `curl <arguments>` in a shell, where $api is the server's base. */
static void curl(const struct pawld *pawld, struct outcome *out, const char *arguments)
{
    char command[2048], status[16] = "";
    (void)unlink("answer.head");
    (void)unlink("answer.body");
    int size = snprintf(command, sizeof command,
                        "api='%s'; curl -sS -m 20 -D answer.head -o answer.body -w '%%{http_code}' %s", pawld->base,
                        arguments);
    assert_in_range(size, 1, sizeof command - 1);
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    assert_non_null(fgets(status, sizeof status, pipe));
    (void)pclose(pipe);
    out->status = atoi(status);
    read_text("answer.head", out->head, sizeof out->head);
    read_text("answer.body", out->body, sizeof out->body);
}

static void note_code(const char *code)
{
    for (size_t i = 0; i < code_count; i++)
        if (strcmp(codes_met[i], code) == 0)
            return;
    assert_true(code_count < CODES_MAX);
    (void)snprintf(codes_met[code_count++], sizeof codes_met[0], "%s", code);
}

struct line {
    const char *arguments;
    int status;
    const char *code;   /* of an error; NULL: it is none */
    const char *header; /* a line of the answer's head, or NULL */
};

static void check_error(const struct line *line, const struct outcome *outcome)
{
    pawl_scope *scope = pawl_scope_new();
    pawl_value *body = NULL;
    if (pawl_value_parse(scope, outcome->body, strlen(outcome->body), &body, NULL) != PAWL_OK ||
        strcmp(pawl_value_string(body, "code", ""), line->code) != 0 ||
        pawl_value_string(body, "message", "")[0] == '\0')
        fail_msg("curl %s: not %s: %s", line->arguments, line->code, outcome->body);
    note_code(line->code);
    pawl_scope_free(scope);
}

static void check(const struct pawld *pawld, const struct line *line)
{
    static struct outcome outcome;
    curl(pawld, &outcome, line->arguments);
    if (outcome.status != line->status)
        fail_msg("curl %s: %d, not %d: %s", line->arguments, outcome.status, line->status, outcome.body);
    if (line->code != NULL)
        check_error(line, &outcome);
    if (line->header != NULL && strcasestr(outcome.head, line->header) == NULL)
        fail_msg("curl %s: no \"%s\" in %s", line->arguments, line->header, outcome.head);
}

static void check_all(const struct pawld *pawld, const struct line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(pawld, &lines[i]);
}

#define ECHO "$api/workflows/echo/instances"
#define NAP "$api/workflows/nap/instances"
#define CALL "$api/workflows/calls/instances"
#define DEFER "$api/workflows/defers/instances"
/* Of the claim that was kept in the file "claimed", and of the run of "defers". */
#define JOB "$api/jobs/$(sed 's/.*\"token\":\"//; s/\".*//' claimed)"
#define DEFERRED "$api/deferred/$(cat token)"
#define GIVEN "; until test -s token; do sleep 0.01; done" /* the run has given the token away */

/* ---- What goes well -------------------------------------------------------------------------------------------------- */

TEST_OF(kit, every_route_answers)
{
    static const struct line lines[] = {
        { "$api/workflows", 200, NULL, "application/json" },
        { "$api/workflows/", 200, NULL, NULL },
        { ECHO " --json '{\"id\":\"e\",\"params\":{\"a\":1}}'", 200, NULL, NULL },
        { ECHO " --json '{\"id\":\"e\",\"onConflict\":\"return\"}'", 200, NULL, NULL },
        { ECHO "/batch --json '{\"instances\":[{\"id\":\"e\"},{\"id\":\"f\"}]}'", 200, NULL, NULL },
        { "\"" ECHO "?status=complete&pageSize=1&order=asc\"", 200, NULL, NULL },
        { NAP " --json '{\"id\":\"n\"}'", 200, NULL, NULL },
        { NAP "/n", 200, NULL, NULL },
        { "-I " NAP "/n", 200, NULL, "application/json" },
        { "-X OPTIONS " NAP "/n/pause", 204, NULL, "Allow: POST, OPTIONS" },
        { "-X POST " NAP "/n/pause", 200, NULL, NULL },
        { "-X POST " NAP "/n/resume", 200, NULL, NULL },
        { "-X POST " NAP "/n/restart", 200, NULL, NULL },
        { "\"" NAP "/n/result?waitMs=1\"", 202, NULL, NULL },
        { NAP "/n/events --json '{\"type\":\"go\",\"id\":\"1\"}'", 200, NULL, NULL },
        { "\"" NAP "/n/result?waitMs=20000\"", 200, NULL, NULL },
        { "\"" NAP "/n/history?includeLogs=true&runNumber=2\"", 200, NULL, NULL },
        { "-N " NAP "/n/stream", 200, NULL, "text/event-stream" },
        { NAP " --json '{\"id\":\"t\"}'", 200, NULL, NULL },
        { "-X POST " NAP "/t/terminate", 200, NULL, NULL },
        { NAP " --json '{\"id\":\"r\"}'", 200, NULL, NULL },
        { NAP "/r/terminate --json '{\"rollback\":true}'", 200, NULL, NULL },
        { "\"" NAP "/r/result?waitMs=20000\"", 200, NULL, NULL },
        { NAP " --json '{\"id\":\"i\"}'", 200, NULL, NULL },
        { "-X POST " NAP "/i/interrupt", 200, NULL, NULL },
        { "\"" NAP "/i/result?waitMs=20000\"", 200, NULL, NULL },
        { NAP "/i/children", 200, NULL, NULL },
        { NAP "/n/restart --json '{\"from\":\"wait\"}'", 200, NULL, NULL },
        { "$api/workflows/echo/execute --json '{\"key\":\"a/b\",\"params\":1,\"waitMs\":20000}'", 200, NULL, NULL },
        { "$api/workflows/echo/execute/a%2Fb", 200, NULL, NULL },
        { "$api/workflows/nap/execute --json '{\"key\":\"a/b\",\"discard\":true}'", 202, NULL, NULL },
        { "$api/workflows/nap/execute/a%2Fb", 202, NULL, NULL },
        { CALL " --json '{\"id\":\"c\",\"params\":{\"function\":\"charge\"}}'", 200, NULL, NULL },
        { "$api/jobs/claim --json '{\"functions\":[\"charge\"],\"waitMs\":20000}' && cp answer.body claimed", 200, NULL,
          NULL },
        { JOB "/heartbeat --json '{\"leaseMs\":60000}'", 200, NULL, NULL },
        { JOB "/fail --json '{\"name\":\"CardDeclined\",\"retry\":false}'", 200, NULL, NULL },
        { "\"" CALL "/c/result?waitMs=20000\"", 200, NULL, NULL },
        { "-X POST " CALL "/c/retry", 200, NULL, NULL },
        { "$api/jobs/claim --json '{\"functions\":[\"charge\"],\"waitMs\":20000}' && cp answer.body claimed", 200, NULL,
          NULL },
        { JOB "/complete --json '{\"result\":1}'", 200, NULL, NULL },
        { DEFER " --json '{\"id\":\"d\"}'" GIVEN, 200, NULL, NULL },
        { DEFERRED "/succeed --json '{\"result\":1}'", 200, NULL, NULL },
        { "$api/health && rm token", 200, NULL, NULL },
        { DEFER " --json '{\"id\":\"e\"}'" GIVEN, 200, NULL, NULL },
        { DEFERRED "/fail --json '{\"name\":\"Refused\"}'", 200, NULL, NULL },
        { "$api/_runner/tick --json '{\"maxInstances\":1}'", 200, NULL, NULL },
        { "-X POST $api/workflows/_runner/tick", 200, NULL, NULL },
        { "$api/hooks/deliveries", 200, NULL, NULL },
        { "$api/health", 200, NULL, NULL },
        { "$api/health/live", 200, NULL, NULL },
        { "$api/health/ready", 200, NULL, NULL },
        { "$api/version", 200, NULL, NULL },
        { "$api/openapi.json", 200, NULL, NULL },
        { "$api/metrics", 200, NULL, "text/plain" },
    };
    struct pawld *pawld = PAWLD_SERVE(kit, "--allow-tick", GATES, CALLS);
    check_all(pawld, lines, LENGTH(lines));
}

/* ---- What is refused ------------------------------------------------------------------------------------------------- */

TEST_OF(kit, what_is_wrong_with_a_request_is_told)
{
    static const struct line lines[] = {
        { ECHO " --json '{'", 400, "INVALID_JSON", NULL },
        { ECHO " --json '{\"nonsense\":1}'", 400, "VALIDATION_FAILED", NULL },
        { "\"" ECHO "?pageSize=0\"", 400, "VALIDATION_FAILED", NULL },
        { ECHO " --json '{\"id\":\"a b\"}'", 400, "INVALID_INSTANCE_ID", NULL },
        { ECHO "/-a", 400, "INVALID_INSTANCE_ID", NULL },
        { "\"" ECHO "?cursor=x\"", 400, "INVALID_CURSOR", NULL },
        { "-X POST $api/_runner/tick", 403, "RUNNER_TICK_DISABLED", NULL },
        { "$api/nothing", 404, "ROUTE_NOT_FOUND", NULL },
        { "--path-as-is $api/../../etc/passwd", 404, "ROUTE_NOT_FOUND", NULL },
        { "$api/workflows/none/instances", 404, "WORKFLOW_NOT_FOUND", NULL },
        { ECHO "/none", 404, "INSTANCE_NOT_FOUND", NULL },
        { "-X POST $api/hooks/deliveries/none/resend", 404, "DELIVERY_NOT_FOUND", NULL },
        { "-X POST $api/deferred/none/succeed", 404, "INVALID_TOKEN", NULL },
        { "-X POST $api/jobs/none/complete", 404, "INVALID_TOKEN", NULL },
        { "$api/jobs/claim --json '{\"functions\":[\"a b\"]}'", 400, "INVALID_FUNCTION_NAME", NULL },
        { "-X DELETE " ECHO "/none", 405, "METHOD_NOT_ALLOWED", "Allow: GET, HEAD, OPTIONS" },
        { "-X BREW $api/_runner/tick", 405, "METHOD_NOT_ALLOWED", "Allow: POST, OPTIONS" },
        { ECHO " -d '{}'", 415, "UNSUPPORTED_MEDIA_TYPE", NULL },
        { ECHO " --json '{}' -H 'Content-Encoding: gzip'", 415, "UNSUPPORTED_MEDIA_TYPE", NULL },
        { ECHO " --json @large", 413, "PAYLOAD_TOO_LARGE", NULL },
        { ECHO " --json @large -H 'Expect:'", 413, "PAYLOAD_TOO_LARGE", NULL },
        { ECHO " --json @large -H 'Transfer-Encoding: chunked'", 413, "PAYLOAD_TOO_LARGE", NULL },
        { ECHO " --json @payload", 413, "PAYLOAD_TOO_LARGE", NULL },
        { "$api/workflows -H @header", 431, "HEADERS_TOO_LARGE", NULL },
    };
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    assert_int_equal(system("head -c 5000000 /dev/zero | tr '\\0' ' ' >large"), 0);
    assert_int_equal(
        system("(printf '{\"params\":\"'; tr '\\0' x </dev/zero | head -c 1100000; printf '\"}') >payload"), 0);
    /* Larger than may be, but not larger than libmicrohttpd has memory for: then the answer would be its own. */
    assert_int_equal(system("(printf 'X-Large: '; tr '\\0' x </dev/zero | head -c 8000) >header"), 0);
    check_all(pawld, lines, LENGTH(lines));
}

TEST_OF(kit, what_does_not_fit_an_instance_is_told)
{
    static const struct line lines[] = {
        { NAP " --json '{\"id\":\"n\"}'", 200, NULL, NULL },
        { NAP " --json '{\"id\":\"n\"}'", 409, "INSTANCE_ID_ALREADY_EXISTS", NULL },
        { NAP "/n/events --json '{\"type\":\"a b\"}'", 400, "INVALID_EVENT_TYPE", NULL },
        { NAP "/n/stream -H 'Last-Event-ID: x'", 400, "INVALID_CURSOR", NULL },
        { NAP "/n/restart --json '{\"from\":\"nothing\"}'", 400, "INVALID_STEP_NAME", NULL },
        { "-X POST " NAP "/n/retry", 409, "NOT_REPAIRABLE", NULL },
        { "-X POST " NAP "/n/terminate", 200, NULL, NULL },
        { "-X POST " NAP "/n/pause", 409, "INSTANCE_TERMINAL", NULL },
        { "-X POST " NAP "/n/resume", 409, "INSTANCE_TERMINAL", NULL },
        { "-X POST " NAP "/n/terminate", 409, "INSTANCE_TERMINAL", NULL },
        { NAP "/n/events --json '{\"type\":\"go\"}'", 409, "INSTANCE_TERMINAL", NULL },
    };
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    check_all(pawld, lines, LENGTH(lines));
}

TEST_OF(kit, what_was_answered_before_is_told)
{
    static const struct line lines[] = {
        { CALL " --json '{\"id\":\"c\",\"params\":{\"function\":\"charge\"}}'", 200, NULL, NULL },
        { "$api/jobs/claim --json '{\"functions\":[\"charge\"],\"waitMs\":20000}' && cp answer.body claimed", 200, NULL,
          NULL },
        { JOB "/complete --json '{\"result\":1}'", 200, NULL, NULL },
        { JOB "/complete --json '{\"result\":1}'", 409, "JOB_GONE", NULL },
        { JOB "/fail --json '{\"name\":\"E\"}'", 409, "JOB_GONE", NULL },
        { "-X POST " JOB "/heartbeat", 409, "JOB_GONE", NULL },
        { DEFER " --json '{\"id\":\"d\"}'" GIVEN, 200, NULL, NULL },
        { "-X POST " DEFERRED "/succeed", 200, NULL, NULL },
        { "-X POST " DEFERRED "/succeed", 200, NULL, NULL },
        { DEFERRED "/succeed --json '{\"result\":null}'", 409, "DEFERRED_COMPLETED", NULL },
        { DEFERRED "/fail --json '{\"name\":\"E\"}'", 409, "DEFERRED_COMPLETED", NULL },
    };
    struct pawld *pawld = PAWLD_SERVE(kit, CALLS);
    check_all(pawld, lines, LENGTH(lines));
}

#define BEARER(name) "-H \"Authorization: Bearer $(cat " name ".token)\" "

TEST_OF(kit, D2_who_may_not_is_told_why)
{
    static const struct line lines[] = {
        { "$api/health", 200, NULL, NULL },
        { "$api/workflows", 401, "UNAUTHORIZED", "WWW-Authenticate: Bearer" },
        { "$api/workflows -H 'Authorization: Bearer pawl_guess'", 401, "UNAUTHORIZED", NULL },
        { "$api/workflows -u user:password", 401, "UNAUTHORIZED", NULL },
        { BEARER("reader") BEARER("reader") "$api/workflows", 401, "UNAUTHORIZED", NULL },
        { BEARER("reader") "$api/workflows", 200, NULL, NULL },
        { BEARER("reader") ECHO " --json '{}'", 403, "FORBIDDEN", NULL },
        { BEARER("writer") "$api/metrics", 403, "FORBIDDEN", NULL },
        { BEARER("writer") ECHO " --json '{\"id\":\"a\"}'", 200, NULL, NULL },
        { BEARER("writer") "-X POST " ECHO "/a/restart", 403, "FORBIDDEN", NULL },
        { BEARER("writer") "-X POST " ECHO "/a/events", 403, "FORBIDDEN", NULL },
        { BEARER("writer") "-X POST $api/_runner/tick", 403, "FORBIDDEN", NULL },
    };
    make_token_file("reader", "read");
    make_token_file("writer", "create");
    struct pawld *pawld = PAWLD_SERVE(kit, "--tokens", "tokens", GATES);
    check_all(pawld, lines, LENGTH(lines));
}

TEST_OF(kit, who_asks_too_often_is_told_when_to_go_on)
{
    static const struct line lines[] = {
        { BEARER("reader") "$api/workflows", 200, NULL, NULL },
        { BEARER("reader") "$api/workflows", 429, "RATE_LIMITED", "Retry-After: " },
    };
    make_token_file("reader", "read");
    struct pawld *pawld = PAWLD_SERVE(kit, "--tokens", "tokens", "--rate-limit", "0.01", GATES);
    check_all(pawld, lines, LENGTH(lines));
}

/* ---- What passes ----------------------------------------------------------------------------------------------------- */

static void await_text(const char *path, const char *wanted)
{
    static char text[TEXT_SIZE];
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms; rest_a_little()) {
        read_text(path, text, sizeof text);
        if (strstr(text, wanted) != NULL)
            return;
    }
    fail_msg("\"%s\" did not come in %s: %s", wanted, path, text);
}

/* A curl of its own, behind us; its exit code comes from pclose(). */
static FILE *begin_curl(const struct pawld *pawld, const char *arguments)
{
    char command[1024];
    (void)snprintf(command, sizeof command, "api='%s'; exec curl -sSN -m 40 %s", pawld->base, arguments);
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    return pipe;
}

TEST_OF(kit, one_stream_too_many_is_refused_until_another_ends)
{
    static const struct line make = { NAP " --json '{\"id\":\"n\"}'", 200, NULL, NULL };
    static const struct line refused = { NAP "/n/stream", 503, "TOO_MANY_STREAMS", "Retry-After: " };
    static const struct line go = { NAP "/n/events --json '{\"type\":\"go\"}'", 200, NULL, NULL };
    static const struct line again = { NAP "/n/stream", 200, NULL, NULL };
    write_file("c.json", "{\"limits\": {\"streams\": 1}}");
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "c.json", GATES);
    check(pawld, &make);
    FILE *first = begin_curl(pawld, NAP "/n/stream -o told");
    await_text("told", "event: step");
    check(pawld, &refused);
    check(pawld, &go);
    assert_int_equal(pclose(first), 0);
    await_text("told", "event: end");
    check(pawld, &again);
}

TEST_OF(kit, unread_events_have_the_bound_of_the_configuration)
{
    static const struct line lines[] = {
        { NAP " --json '{\"id\":\"n\"}'", 200, NULL, NULL },
        { NAP "/n/events --json '{\"type\":\"a\"}'", 200, NULL, NULL },
        { NAP "/n/events --json '{\"type\":\"b\",\"id\":\"known\"}'", 200, NULL, NULL },
        { NAP "/n/events --json '{\"type\":\"c\"}'", 429, "MAX_EVENTS_EXCEEDED", "Retry-After: 1" },
        { NAP "/n/events --json '{\"type\":\"b\",\"id\":\"known\"}'", 200, NULL, NULL },
    };
    write_file("c.json", "{\"limits\": {\"unreadEvents\": 2}}");
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "c.json", GATES);
    check_all(pawld, lines, LENGTH(lines));
}

/* Of a mebibyte.  A body of three fits as long as it is alone; beside another one it does not. */
TEST_OF(kit, memory_has_the_bound_of_the_configuration)
{
    static const struct line fits = { ECHO " --json @large", 200, NULL, NULL };
    static const struct line refused = { ECHO " --json @large", 503, "MEMORY_EXHAUSTED", "Retry-After: 1" };
    static const struct line small = { ECHO " --json '{\"id\":\"small\"}'", 200, NULL, NULL };
    char command[1024];
    write_file("c.json", "{\"limits\": {\"memoryBytes\": 1048576}}");
    assert_int_equal(system("printf '{%3000000s}' '' >large && printf '{%600000s' '' >part"), 0);
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "c.json", GATES);
    check(pawld, &fits);
    /* Its last byte comes when the file "go" is there. */
    (void)snprintf(command, sizeof command,
                   "api='%s'; (cat part; until test -e go; do sleep 0.01; done; echo '}') |"
                   " curl -sS -m 40 -X POST -H 'Content-Type: application/json' -T - " ECHO " >slow",
                   pawld->base);
    FILE *slow = popen(command, "re");
    assert_non_null(slow);
    (void)snprintf(command, sizeof command,
                   "until curl -s '%s/metrics' | grep -q '^pawl_memory_held_bytes [1-9]'; do sleep 0.01; done",
                   pawld->base);
    assert_int_equal(system(command), 0);
    check(pawld, &refused);
    check(pawld, &small);
    write_file("go", "");
    assert_int_equal(pclose(slow), 0);
    await_text("slow", "\"details\"");
    check(pawld, &fits);
}

/* Another program holds the database, and does not let go. */
TEST_OF(kit, a_store_that_cannot_be_written_is_told_and_reads_go_on)
{
    static const struct line locked[] = {
        { ECHO " --json '{\"id\":\"a\"}'", 503, "STORE_UNAVAILABLE", "Retry-After: 1" },
        { "-X POST " NAP "/n/pause", 503, "STORE_UNAVAILABLE", "Retry-After: 1" },
        { NAP "/n", 200, NULL, NULL },
    };
    static const struct line make = { NAP " --json '{\"id\":\"n\"}'", 200, NULL, NULL };
    static const struct line freed = { ECHO " --json '{\"id\":\"a\",\"onConflict\":\"return\"}'", 200, NULL, NULL };
    sqlite3 *other = NULL;
    struct pawld *pawld = PAWLD_START(kit, "--store", "sqlite:held.db?busy_ms=100", "--listen", "127.0.0.1:0", GATES);
    pawld_await_base(pawld);
    check(pawld, &make);
    assert_int_equal(sqlite3_open("held.db", &other), SQLITE_OK);
    (void)sqlite3_busy_timeout(other, PATIENCE_MS);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    check_all(pawld, locked, LENGTH(locked));
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    check(pawld, &freed);
}

TEST_OF(kit, a_server_whose_threads_are_blocked_is_not_ready)
{
    static struct outcome outcome;
    static const struct line make = { "$api/workflows/stuck/instances --json '{\"params\":{\"gate\":\"gate\"}}'", 200,
                                      NULL, NULL };
    static const struct line full = { "$api/health/ready", 503, "THREADS_BLOCKED", NULL };
    write_file("c.json", "{\"limits\": {\"codeMs\": 100, \"blockedThreads\": 1}}");
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "c.json", STUCK);
    check(pawld, &make);
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    do
        curl(pawld, &outcome, full.arguments);
    while (outcome.status == 200 && monotonic_ms() < until_ms);
    check(pawld, &full);
    write_file("gate", "");
}

TEST_OF(kit, a_server_whose_database_a_newer_pawl_has_migrated_is_not_ready)
{
    static struct outcome outcome;
    static const struct line newer = { "$api/health/ready", 503, "STORE_TOO_NEW", NULL };
    sqlite3 *other = NULL;
    struct pawld *pawld = PAWLD_SERVE(kit, "--store", "sqlite:newer.db", GATES);
    assert_int_equal(sqlite3_open("newer.db", &other), SQLITE_OK);
    (void)sqlite3_busy_timeout(other, PATIENCE_MS);
    assert_int_equal(sqlite3_exec(other, "UPDATE workflow_schema SET version = version + 1", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    do
        curl(pawld, &outcome, newer.arguments);
    while (outcome.status == 200 && monotonic_ms() < until_ms);
    check(pawld, &newer);
}

/* A request that was begun before the signal, and ended after it: of `ready`, with a body that comes through a pipe. */
TEST_OF(kit, who_asks_a_server_that_is_about_to_stop_is_told)
{
    static struct outcome outcome;
    static const struct line answered = { "ready, while it drains", 503, "DRAINING", NULL };
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    FILE *asking = begin_curl(pawld, "-X GET -T - -H 'Expect: 100-continue' --expect100-timeout 30 --trace-ascii trace "
                                     "-o ready.body -w '%{http_code}' $api/health/ready <pipe");
    int body = open("pipe", O_WRONLY | O_CLOEXEC);
    assert_true(body >= 0);
    await_text("trace", "100 Continue");
    pawld_kill(pawld, SIGTERM);
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    do /* until nobody is let in: by then it drains */
        curl(pawld, &outcome, "$api/health 2>refused");
    while (outcome.status != 0 && monotonic_ms() < until_ms);
    (void)close(body);
    assert_non_null(fgets(outcome.head, sizeof outcome.head, asking));
    assert_int_equal(pclose(asking), 0);
    assert_int_equal(atoi(outcome.head), answered.status);
    read_text("ready.body", outcome.body, sizeof outcome.body);
    check_error(&answered, &outcome);
    assert_int_equal(pawld_await_end(pawld), 0);
}

/* ---- All of them ----------------------------------------------------------------------------------------------------- */

static bool was_met(const char *code, size_t size)
{
    for (size_t i = 0; i < code_count; i++)
        if (strlen(codes_met[i]) == size && memcmp(codes_met[i], code, size) == 0)
            return true;
    return false;
}

/* After the others: the rows of the guide's table of errors begin with a status. */
TEST(every_code_of_the_guide_was_met_and_those_met_are_in_it)
{
    static char guide[TEXT_SIZE];
    size_t count = 0;
    read_text(PAWL_SOURCE_DIR "/docs/http.md", guide, sizeof guide);
    char *row = strstr(guide, "\n| 4");
    for (; row != NULL && row[1] == '|' && strchr("45", row[3]) != NULL; row = strchr(row + 1, '\n')) {
        const char *end = strstr(row + 8, " | "); /* of the cell with the codes */
        for (const char *code = strchr(row, '`'); code != NULL && end != NULL && code < end; code = strchr(code, '`')) {
            size_t size = strcspn(++code, "`");
            bool is_inside = strncmp(code, "INTERNAL_SERVER_ERROR", size) == 0;
            if (!is_inside && !was_met(code, size))
                fail_msg("%.*s is in the guide, but no test here meets it", (int)size, code);
            code += size + 1;
            count += !is_inside;
        }
    }
    assert_int_equal(count, code_count); /* so there are no others */
}
