/* test_pawld_start.c - pawld starts and says where, or in one line why not; and who may use it (D2). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* prlimit */
#endif
#include "kit.h"

#include <sys/resource.h>

#include <sqlite3.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* ---- What it says ------------------------------------------------------------------------------------------------ */

TEST_OF(kit, it_says_where_it_listens_and_what_it_has)
{
    struct pawld *pawld = PAWLD_SERVE(kit, "--log", "plain", GATES);
    assert_non_null(strstr(pawld->errors, "pawld " PAWL_VERSION " listening on http://127.0.0.1:"));
    assert_non_null(strstr(pawld->errors, "/api, store sqlite:pawl.db, 3 workflows (echo, gated, nap)\n"));

    struct answer answer = ask(kit, pawld, "GET", "/workflows", NULL, NULL);
    assert_int_equal(answer.status, 200);
    assert_int_equal(pawl_value_size(answer.value, "workflows"), 3);
    create(kit, pawld, "echo", "a", "{\"n\": 1}");
    await_status(kit, pawld, "echo", "a", "complete");
}

/* Not a terminal, so by itself it writes JSON; every line of it is an object. */
TEST_OF(kit, logs_are_one_json_object_a_line)
{
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 0);

    int lines = 0;
    for (char *line = pawld->errors; *line != '\0'; line += strcspn(line, "\n") + 1) {
        pawl_value *value;
        struct pawl_error error;
        assert_ok(pawl_value_parse(kit->scope, line, strcspn(line, "\n"), &value, &error), error);
        assert_int_equal(strlen(pawl_value_string(value, "time", "")), strlen("2026-01-01T00:00:00.000Z"));
        assert_non_null(pawl_value_string(value, "message", NULL));
        bool is_slow = strcmp(pawl_value_string(value, "level", ""), "warn") == 0; /* the disk, at the start */
        if (!is_slow)
            assert_string_equal(pawl_value_string(value, "level", ""), "info");
        lines += !is_slow;
    }
    assert_int_equal(lines, 3); /* listening, draining, stopped */
}

TEST_OF(kit, lines_below_the_level_are_not_written)
{
    struct pawld *pawld = PAWLD_START(kit, "--log-level", "error", "--listen", "unix:pawl.sock", GATES);
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms; rest_a_little()) {
        if (ask_unix(kit, "pawl.sock", "/api/workflows").status == 200)
            break;
    }
    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 0);
    assert_string_equal(pawld->errors, "");
}

static int open_notify_socket(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "notify.sock" };
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const struct timeval patience = { PATIENCE_MS / 1000, 0 };
    assert_int_equal(bind(descriptor, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    return descriptor;
}

static void assert_notified(int descriptor, const char *wanted)
{
    char text[64] = "";
    assert_true(recv(descriptor, text, sizeof text - 1, 0) > 0);
    assert_string_equal(text, wanted);
}

TEST_OF(kit, the_service_manager_is_told_when_it_is_ready_and_when_it_stops)
{
    int descriptor = open_notify_socket();
    setenv("NOTIFY_SOCKET", pawl_scope_format(kit->scope, "%s/notify.sock", kit->folder), 1);
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    unsetenv("NOTIFY_SOCKET");

    assert_notified(descriptor, "READY=1");
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, NULL).status, 200);
    pawld_kill(pawld, SIGTERM);
    assert_notified(descriptor, "STOPPING=1");
    assert_int_equal(pawld_await_end(pawld), 0);
    (void)close(descriptor);
}

TEST_OF(kit, it_listens_at_several_places)
{
    struct pawld *pawld =
        PAWLD_SERVE(kit, "--listen", "unix:pawl.sock", "--listen", "[::1]:0", "--log", "plain", GATES);
    assert_non_null(strstr(pawld->errors, " and unix:pawl.sock and http://[::1]:"));
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, NULL).status, 200);
    assert_int_equal(ask_unix(kit, "pawl.sock", "/api/workflows").status, 200);
}

TEST_OF(kit, a_module_without_a_slash_is_looked_for_here)
{
    assert_int_equal(symlink(GATES, "gates.so"), 0);
    struct pawld *pawld = PAWLD_SERVE(kit, "gates.so");
    assert_non_null(strstr(pawld->errors, "3 workflows"));
}

/* ---- Why it does not start --------------------------------------------------------------------------------------- */

TEST_OF(kit, what_cannot_be_used_is_told_in_one_line_and_ends_with_1_and_what_nobody_could_use_with_2)
{
    static const struct {
        int code;
        const char *arguments[8], *wanted;
    } cases[] = {
        { 1, { "--store", "sqlite:a.db", "nowhere.so" }, "module nowhere.so: No such file or directory" },
        { 1, { "--store", "sqlite:a.db", "text.so" }, "module text.so: " },
        { 1, { "--store", "sqlite:a.db", OLD }, "built for version 100 of Pawl's module interface" },
        { 1, { "--store", "sqlite:a.db", GATES, GATES }, "module " GATES ": " },
        { 1, { "--store", "sqlite:nowhere/a.db", GATES }, "store sqlite:nowhere/a.db: " },
        { 1, { "--store", "sqlite:text.so", GATES }, "store sqlite:text.so: " },
        { 1, { "--store", "sqlite:a.db", "--tokens", "nowhere", GATES }, "nowhere cannot be read: " },
        { 1, { "--store", "sqlite:a.db", "--tls-cert", "x", "--tls-key", "y", GATES }, "x" },
        { 1, { "--config", "nowhere.json", GATES }, "nowhere.json cannot be read: No such file or directory" },
        { 1, { "--config", "." }, ". cannot be read" },
        { 2, { "--store", "cassandra://ada:secret@x/y", GATES }, "store ***: " },
        { 2, { "--store", "cassandra://x", "--migrate-only" }, "store cassandra://x: " },
        { 2, { "--store", "sqlite:", GATES }, "a path must follow \"sqlite:\"" },
        { 2, { "--store", "sqlite:a.db?synchronous=maybe", GATES }, "store sqlite:a.db?synchronous=maybe: " },
        { 2, { "--store", "sqlite:a.db", "--tokens", "text.so", GATES }, "text.so, line 1: a token's line is" },
        { 2, { "--store", "sqlite:a.db", "--tokens", "empty", GATES }, "there is no token in empty" },
        { 2, { "--store", "sqlite:a.db", "--cors", "nonsense", GATES }, "origin" },
        { 2, { "--store", "sqlite:a.db", "--listen", ":0", GATES }, "will not listen on :0 without tokens" },
    };
    write_file("text.so", "this is neither a module nor a database nor a token's line, although it is long enough\n");
    write_file("empty", "# nothing\n\n");
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct pawld *pawld;
        int code = pawld_run(kit, cases[i].arguments, &pawld);
        assert_one_line(pawld, cases[i].wanted);
        assert_null(strstr(pawld->errors, "secret"));
        assert_int_equal(code, cases[i].code);
        pawld_forget(kit);
    }
}

TEST_OF(kit, a_taken_port_is_told_in_one_line_and_nothing_is_run)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof address;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct pawld *pawld;
    assert_int_equal(bind(descriptor, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(descriptor, 1), 0);
    assert_int_equal(getsockname(descriptor, (struct sockaddr *)&address, &size), 0);
    const char *listen_text = pawl_scope_format(kit->scope, "127.0.0.1:%d", ntohs(address.sin_port));

    int code = PAWLD_RUN(kit, &pawld, "--listen", listen_text, GATES);

    assert_int_equal(code, 1);
    assert_one_line(pawld, listen_text);
    (void)close(descriptor);
}

TEST_OF(kit, a_unix_socket_on_which_somebody_listens_is_not_taken_from_him)
{
    struct pawld *second;
    (void)PAWLD_SERVE(kit, "--listen", "unix:pawl.sock", GATES);

    int code = PAWLD_RUN(kit, &second, "--store", "sqlite:pawl.db", "--listen", "unix:pawl.sock", GATES);

    assert_int_equal(code, 1);
    assert_one_line(second, "pawl.sock");
    assert_int_equal(ask_unix(kit, "pawl.sock", "/api/workflows").status, 200);
}

/* ---- Who may ----------------------------------------------------------------------------------------------------- */

TEST_OF(kit, D2_it_does_not_listen_beyond_this_machine_without_tokens)
{
    static const char *const addresses[] = { ":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:127.0.0.1]:0" };
    for (size_t i = 0; i < LENGTH(addresses); i++) {
        struct pawld *pawld;
        int code = PAWLD_RUN(kit, &pawld, "--listen", "127.0.0.1:0", "--listen", addresses[i], GATES);
        assert_int_equal(code, 2);
        assert_one_line(pawld, pawl_scope_format(kit->scope, "will not listen on %s without tokens", addresses[i]));
        pawld_forget(kit);
    }
}

/* Makes a token with the program, appends its line to the file "tokens", and answers the token. */
static const char *make_token(struct kit *kit, const char *name, const char *scopes)
{
    struct pawld *maker;
    assert_int_equal(PAWLD_RUN(kit, &maker, "token", "new", "--name", name, "--scope", scopes), 0);
    const char *at = strstr(maker->errors, "pawl_");
    assert_non_null(at);
    assert_null(strstr(maker->output, "pawl_")); /* what is kept is not the token */
    assert_non_null(
        strstr(maker->errors, "The line on standard output holds its hash")); /* which is no terminal here */
    FILE *file = fopen("tokens", "ae");
    assert_non_null(file);
    assert_true(fputs(maker->output, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return pawl_scope_format(kit->scope, "%.*s", (int)strcspn(at, "\n"), at);
}

TEST_OF(kit, D2_a_token_that_was_made_here_opens_what_its_scopes_say)
{
    const char *reader = make_token(kit, "reader", "read");
    const char *writer = make_token(kit, "writer", "create,read");
    struct pawld *pawld = PAWLD_SERVE(kit, "--tokens", "tokens", "--listen", ":0", "--log-level", "debug", GATES);
    static const char body[] = "{\"id\": \"a\"}", path[] = "/workflows/echo/instances";

    struct answer unknown = ask(kit, pawld, "GET", "/workflows", NULL, NULL);
    assert_int_equal(unknown.status, 401);
    assert_memory_equal(unknown.challenge, "Bearer", 6);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, "pawl_nonsense").status, 401);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, reader).status, 200);
    struct answer refused = ask(kit, pawld, "POST", path, body, reader);
    assert_int_equal(refused.status, 403);
    assert_string_equal(pawl_value_string(refused.value, "code", ""), "FORBIDDEN");
    assert_non_null(strstr(pawl_value_string(refused.value, "message", ""), "create"));
    assert_int_equal(ask(kit, pawld, "POST", path, body, writer).status, 200);
    assert_int_equal(ask(kit, pawld, "POST", "/workflows/echo/instances/a/pause", "", writer).status, 403);
    assert_int_equal(ask(kit, pawld, "GET", "/health", NULL, NULL).status, 200);

    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 0);
    assert_non_null(strstr(pawld->errors, "request refused"));
    assert_null(strstr(pawld->errors, reader + 5)); /* no token is ever logged, not even a wrong one */
    assert_null(strstr(pawld->errors, writer + 5));
    assert_null(strstr(pawld->errors, "nonsense"));
}

TEST_OF(kit, tokens_may_stand_in_the_configuration_and_a_flag_wins_over_them)
{
    const char *in_file = make_token(kit, "a", "read");
    struct pawld *maker = kit->processes[kit->count - 1];
    maker->output[strcspn(maker->output, "\n")] = '\0';
    write_file("c.json", pawl_scope_format(kit->scope, "{\"tokens\": [\"# mine\", \"%s\"]}", maker->output));
    assert_int_equal(unlink("tokens"), 0);
    const char *by_flag = make_token(kit, "b", "read");

    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "c.json", GATES);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, in_file).status, 200);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, by_flag).status, 401);

    pawld = PAWLD_SERVE(kit, "--config", "c.json", "--tokens", "tokens", GATES);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, in_file).status, 401);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, by_flag).status, 200);
}

TEST_OF(kit, a_token_beyond_its_rate_is_answered_429_with_retry_after)
{
    const char *token = make_token(kit, "a", "read");
    struct pawld *pawld = PAWLD_SERVE(kit, "--tokens", "tokens", "--rate-limit", "0.05", GATES);

    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, token).status, 200);
    struct answer answer = ask(kit, pawld, "GET", "/workflows", NULL, token);

    assert_int_equal(answer.status, 429);
    assert_string_equal(pawl_value_string(answer.value, "code", ""), "RATE_LIMITED");
    assert_in_range(answer.retry_after_s, 1, 21);
}

TEST_OF(kit, a_store_that_cannot_be_written_is_told_in_the_log)
{
    sqlite3 *other = NULL;
    struct pawld *pawld = PAWLD_SERVE(kit, "--store", "sqlite:locked.db?busy_ms=50", GATES);
    assert_int_equal(sqlite3_open("locked.db", &other), SQLITE_OK);
    (void)sqlite3_busy_timeout(other, PATIENCE_MS); /* pawld may be at it */
    assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);

    assert_int_equal(ask(kit, pawld, "POST", "/workflows/echo/instances", "{}", NULL).status, 503);
    pawld_await(pawld, "commits failed: ");

    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    assert_int_equal(ask(kit, pawld, "POST", "/workflows/echo/instances", "{}", NULL).status, 200);
    pawld_await(pawld, "the store is back, after ");
}

static void expect_ready(struct kit *kit, const struct pawld *pawld, bool is_ready)
{
    assert_int_equal(ask(kit, pawld, "GET", "/health/ready", NULL, NULL).status, is_ready ? 200 : 503);
    const char *wanted = is_ready ? "\npawl_store_up 1\n" : "\npawl_store_up 0\n";
    assert_non_null(strstr(ask(kit, pawld, "GET", "/metrics", NULL, NULL).body, wanted));
}

TEST_OF(kit, a_database_that_was_deleted_or_replaced_is_not_ready)
{
    assert_int_equal(PAWLD_RUN(kit, &(struct pawld *){ NULL }, "--store", "sqlite:other.db", "--migrate-only"), 0);
    struct pawld *pawld = PAWLD_SERVE(kit, "--store", "sqlite:here.db", GATES);
    expect_ready(kit, pawld, true);
    create(kit, pawld, "nap", "before", "null");
    assert_int_equal(rename("here.db", "away.db"), 0);
    expect_ready(kit, pawld, false);
    assert_int_equal(ask(kit, pawld, "POST", "/workflows/nap/instances", "{}", NULL).status, 503);
    assert_int_equal(rename("other.db", "here.db"), 0);
    expect_ready(kit, pawld, false);
    assert_int_equal(ask(kit, pawld, "POST", "/workflows/nap/instances", "{}", NULL).status, 503);
    pawld_await(pawld, "the store cannot be read: ");
    assert_non_null(strstr(pawld->errors, "was deleted or replaced"));

    assert_int_equal(rename("away.db", "here.db"), 0);
    await_ready(kit, pawld, 200, "ready");
    create(kit, pawld, "nap", "after", "null");
    assert_int_equal(ask(kit, pawld, "GET", "/workflows/nap/instances/before", NULL, NULL).status, 200);
}

/* Nobody writes: only a probe can tell.  A file that may not grow is as good as a full disk. */
TEST_OF(kit, a_store_that_cannot_be_written_is_not_ready)
{
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    struct rlimit before, none;
    assert_int_equal(prlimit(pawld->process, RLIMIT_FSIZE, NULL, &before), 0);
    none = (struct rlimit){ 1, before.rlim_max };
    assert_int_equal(prlimit(pawld->process, RLIMIT_FSIZE, &none, NULL), 0);

    assert_int_equal(ask(kit, pawld, "GET", "/health/ready", NULL, NULL).status, 503);
    assert_int_equal(ask(kit, pawld, "GET", "/health/live", NULL, NULL).status, 200);
    assert_int_equal(ask(kit, pawld, "POST", "/workflows/nap/instances", "{}", NULL).status, 503);
    assert_int_equal(ask(kit, pawld, "GET", "/health/ready", NULL, NULL).status, 503);

    assert_int_equal(prlimit(pawld->process, RLIMIT_FSIZE, &before, NULL), 0);
    await_ready(kit, pawld, 200, "ready");
    create(kit, pawld, "nap", "a", "null");
}

static void assert_count(const char *file, const char *sql, int count)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), count);
    (void)sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST_OF(kit, what_took_the_databases_place_is_not_written_when_it_stops)
{
    sqlite3 *db = NULL;
    struct pawld *pawld = PAWLD_SERVE(kit, "--store", "sqlite:here.db", GATES);
    create(kit, pawld, "nap", "a", "null");
    assert_int_equal(sqlite3_open("backup.db", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE kept (number)", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(rename("backup.db", "here.db"), 0);
    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 0);
    assert_non_null(strstr(pawld->errors, "was deleted or replaced"));
    assert_count("here.db", "SELECT count(*) FROM sqlite_schema WHERE name = 'kept'", 1);
    assert_count("here.db", "SELECT count(*) FROM sqlite_schema", 1);
}

TEST_OF(kit, a_database_that_was_deleted_is_not_made_again_when_it_stops)
{
    struct pawld *pawld = PAWLD_SERVE(kit, "--store", "sqlite:here.db", GATES);
    create(kit, pawld, "nap", "a", "null");
    for (size_t i = 0; i < 4; i++)
        (void)unlink((const char *const[]){ "here.db", "here.db-wal", "here.db-shm", "here.db-runners" }[i]);
    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 0);
    assert_int_equal(access("here.db", F_OK), -1);
}

TEST_OF(kit, a_store_that_does_not_answer_at_the_start_is_told_and_waited_for)
{
    sqlite3 *other = NULL;
    assert_int_equal(sqlite3_open("locked.db", &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    struct pawld *pawld =
        PAWLD_START(kit, "--store", "sqlite:locked.db?busy_ms=60000", "--listen", "127.0.0.1:0", GATES);
    pawld_await(pawld, "store sqlite:locked.db?busy_ms=60000 is not open yet: ");
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    pawld_await_base(pawld);
}

TEST_OF(kit, the_tables_can_be_made_without_running_anything)
{
    struct pawld *pawld;
    for (int round = 0; round < 2; round++) { /* the second time there is nothing to do */
        assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "sqlite:new.db", "--migrate-only"), 0);
        assert_non_null(strstr(pawld->errors, "store sqlite:new.db has the tables of pawld " PAWL_VERSION));
        sqlite3 *db = NULL;
        assert_int_equal(sqlite3_open("new.db", &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, "SELECT key FROM workflow_instance", NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
    }
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "sqlite:nowhere/a.db", "--migrate-only"), 1);
    assert_one_line(pawld, "store sqlite:nowhere/a.db: ");
    pawld_forget(kit);
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--dev", "--migrate-only", "a.c"), 2);
    assert_one_line(pawld, "--migrate-only and --dev cannot be combined");
}

TEST_OF(kit, pages_of_other_origins_may_use_it_only_where_that_is_configured)
{
    struct pawld *pawld = PAWLD_SERVE(kit, GATES);
    kit->origin = "https://example.org";
    struct answer answer = ask(kit, pawld, "GET", "/workflows", NULL, NULL);
    assert_string_equal(answer.origin, "");
    assert_int_equal(answer.status, 403);

    pawld = PAWLD_SERVE(kit, "--cors", "https://example.org", GATES);
    answer = ask(kit, pawld, "GET", "/workflows", NULL, NULL);
    assert_string_equal(answer.origin, "https://example.org");
    assert_int_equal(answer.status, 200);
    pawld_await(pawld, "without tokens every page of https://example.org");
}

static void make_certificate(void)
{
    assert_int_equal(
        system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost "
               "-keyout key.pem -out cert.pem 2>openssl.log"),
        0);
}

TEST_OF(kit, with_a_certificate_it_speaks_https_alone)
{
    make_certificate();
    struct pawld *pawld = PAWLD_SERVE(kit, "--tls-cert", "cert.pem", "--tls-key", "key.pem", GATES);

    assert_memory_equal(pawld->base, "https://127.0.0.1:", 18);
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, NULL).status, 200);
    const char *plain = pawl_scope_format(kit->scope, "http%s/workflows", pawld->base + 5);
    assert_int_not_equal(ask(kit, pawld, "GET", plain, NULL, NULL).status, 200);
}

TEST_OF(kit, a_key_that_everybody_can_read_is_refused_or_warned_of)
{
    struct pawld *pawld;
    make_certificate();
    assert_int_equal(chmod("key.pem", 0644), 0);
    assert_int_equal(
        PAWLD_RUN(kit, &pawld, "--listen", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem", GATES), 1);
    assert_one_line(pawld, "everybody on this machine can read the key key.pem");

    pawld = PAWLD_SERVE(kit, "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--tls-allow-readable-key", GATES);
    assert_non_null(strstr(pawld->errors, "everybody on this machine can read the key key.pem"));
    assert_int_equal(ask(kit, pawld, "GET", "/workflows", NULL, NULL).status, 200);
}

TEST_OF(kit, making_a_token_wrongly_is_told_in_one_line)
{
    static const struct pawld_misuse cases[] = {
        { { "token" }, "pawld token new --scope" },
        { { "token", "old" }, "pawld token new --scope" },
        { { "token", "new" }, "--scope is missing: give one or more of read, create, manage, event, tick, work" },
        { { "token", "new", "--scope", "read", "--permission" }, "--permission needs a value" },
        { { "token", "new", "--scope", "read", "--permission=" }, "--permission is empty" },
        { { "token", "new", "--scope", "read", "--permission", "a b" }, "permissions are 1 to 64 of" },
        { { "token", "new", "--scope" }, "--scope needs a value" },
        { { "token", "new", "--scope", "write" }, "\"write\" is none of them" },
        { { "token", "new", "--scope=read", "--name=two words" }, "a token's name is" },
        { { "token", "new", "--scpe", "read" }, "pawld token new has no option --scpe; did you mean --scope?" },
    };
    assert_usage_errors(kit, cases, LENGTH(cases));
}
