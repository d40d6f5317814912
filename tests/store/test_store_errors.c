/* test_store_errors.c - what the world can do to a store: each trouble has its code and a text that names the file, and
 * what was there before is still there afterwards. */
#include "kit/store_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *database_path(const struct fixture *fixture)
{
    return fixture->url + strlen("sqlite:");
}

/* A foreign connection to the same file. */
static sqlite3 *open_foreign(const struct fixture *fixture)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(database_path(fixture), &db), SQLITE_OK);
    return db;
}

static void execute(sqlite3 *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void change_file(const struct fixture *fixture, const char *sql)
{
    sqlite3 *db = open_foreign(fixture);
    execute(db, sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A big step, so that a few of them fill anything. */
static pawl_status apply_big_step(struct fixture *fixture, struct pw_fence at, int64_t seq)
{
    static char result[100000];
    memset(result, '1', sizeof result);
    fixture_clear_units(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, at);
    add_step(unit, at, seq, "big")->result = (struct pw_text){ result, sizeof result };
    return fixture_apply_on(fixture, fixture->store);
}

/* ---- URLs ---------------------------------------------------------------------------------------------------- */

TEST_IN(on_memory, fixture, a_url_that_is_not_understood_is_refused_by_name)
{
    static const struct {
        const char *url, *part;
    } cases[] = {
        { "mysql://localhost", "mysql://localhost" },
        { "pawl.db", "sqlite:path" },
        { "", "sqlite:path" },
        { "sqlite:", "path" },
        { "sqlite:?busy_ms=5", "path" },
        { "sqlite::memory:?synchronous=off", "synchronous=off" },
        { "sqlite::memory:?busy_ms=-1", "busy_ms=-1" },
        { "sqlite::memory:?busy_ms=", "busy_ms=" },
        { "sqlite::memory:?busy_ms=5x", "busy_ms=5x" },
        { "sqlite::memory:?busy_ms=99999999999", "busy_ms=99999999999" },
        { "sqlite::memory:?busy_ms=5&cache=shared", "cache=shared" },
    };
    for (size_t position = 0; position < sizeof cases / sizeof cases[0]; position++) {
        assert_int_equal(try_open(fixture, cases[position].url), PAWL_INVALID);
        assert_says(fixture, cases[position].part);
    }
}

TEST_IN(on_file, fixture, options_of_the_url_are_taken)
{
    close_store(fixture);
    (void)strncat(fixture->url, "?synchronous=normal&busy_ms=5", sizeof fixture->url - strlen(fixture->url) - 1);
    fixture->store = fixture_open_store(fixture);
    assert_int_equal(((struct pw_sqlite *)fixture->store)->url.busy_ms, 5);
    assert_int_equal(query_number(fixture, "PRAGMA synchronous"), 1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"), 1);
}

TEST_IN(on_file, fixture, the_default_survives_a_power_loss)
{
    assert_int_equal(query_number(fixture, "PRAGMA synchronous"), 2);
}

TEST_IN(on_file, fixture, without_a_url_the_store_is_pawl_db_here)
{
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(fixture->directory), 0);
    pawl_status status = try_open(fixture, NULL);
    bool made = unlink("pawl.db") == 0;
    assert_int_equal(chdir(before), 0);
    assert_int_equal(status, PAWL_OK);
    assert_true(made);
}

/* ---- Files that cannot be opened ----------------------------------------------------------------------------- */

TEST_IN(on_file, fixture, a_directory_is_not_a_database)
{
    char url[128];
    (void)snprintf(url, sizeof url, "sqlite:%s", fixture->directory);
    assert_int_equal(try_open(fixture, url), PAWL_STORE_UNAVAILABLE);
    assert_says(fixture, fixture->directory);
    assert_says(fixture, "name a file");
}

TEST_IN(on_file, fixture, a_missing_directory_is_named)
{
    char url[128];
    (void)snprintf(url, sizeof url, "sqlite:%s/none/test.db", fixture->directory);
    assert_int_equal(try_open(fixture, url), PAWL_STORE_UNAVAILABLE);
    assert_says(fixture, "/none/test.db");
    assert_says(fixture, "directory must exist");
}

TEST_IN(on_file, fixture, a_file_that_is_no_database_is_refused_and_left_alone)
{
    close_store(fixture);
    int file = open(database_path(fixture), O_WRONLY | O_TRUNC);
    char noise[4096];
    memset(noise, 'x', sizeof noise);
    assert_int_equal(write(file, noise, sizeof noise), sizeof noise);
    (void)close(file);
    assert_int_equal(try_open(fixture, fixture->url), PAWL_STORE_CORRUPT);
    assert_says(fixture, database_path(fixture));
    struct stat about;
    assert_int_equal(stat(database_path(fixture), &about), 0);
    assert_int_equal(about.st_size, sizeof noise);
}

TEST_IN(on_file, fixture, a_damaged_file_is_told_as_such)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    close_store(fixture);
    int file = open(database_path(fixture), O_WRONLY);
    char noise[4096];
    memset(noise, 0xff, sizeof noise);
    for (off_t page = 1; page < 30; page++) /* all but the first, which holds the schema */
        assert_int_equal(pwrite(file, noise, sizeof noise, page * 4096), sizeof noise);
    (void)close(file);
    struct pw_store *store = NULL;
    struct pawl_clock clock = { .now_ms = fixture_now, .user = fixture };
    pawl_status status = pw_store_open(fixture->url, clock, &store, &fixture->error);
    if (status == PAWL_OK) {
        fixture->store = store;
        status = apply_big_step(fixture, at, 1);
    }
    assert_int_equal(status, PAWL_STORE_CORRUPT);
    assert_says(fixture, database_path(fixture));
}

/* Whatever is compared with it comes before it, so that it would be the next one for ever. */
TEST_IN(on_file, fixture, counting_ends_at_a_workflow_whose_name_is_no_text)
{
    const struct pw_read asked = { .kind = PW_READ_TASK_COUNTS, .now_ms = fixture->now_ms };
    struct pw_found found;
    (void)create_instance(fixture, "order", "a");
    (void)create_instance(fixture, "other", "b");
    run_raw_sql(fixture, "UPDATE workflow_task SET workflow = x'ff' WHERE workflow = 'other'");
    assert_int_equal(pw_read(fixture->store, &asked, NULL, &found, &fixture->error), PAWL_OK);
    assert_int_equal(found.tasks.active, 1);
}

TEST_IN(on_databases, fixture, a_newer_schema_is_refused_with_both_numbers)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    bool is_file = fixture->place.store == STORE_IN_FILE;
    close_store(fixture);
    store_place_execute(&fixture->place, "UPDATE workflow_schema SET version = 77");
    assert_int_equal(try_open(fixture, fixture->url), PAWL_STORE_TOO_NEW);
    assert_says(fixture, "77");
    assert_says(fixture, is_file ? "up to 8" : "up to 9");
    store_place_execute(&fixture->place,
                        is_file ? "UPDATE workflow_schema SET version = 8" : "UPDATE workflow_schema SET version = 9");
    fixture->store = fixture_open_store(fixture);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

TEST_IN(on_file, fixture, an_applications_own_database_is_shared) /* A13 */
{
    close_store(fixture);
    assert_int_equal(unlink(database_path(fixture)), 0);
    change_file(fixture, "CREATE TABLE customer (id); INSERT INTO customer VALUES (7); PRAGMA user_version = 5;"
                         "PRAGMA application_id = 99");
    fixture->store = fixture_open_store(fixture);
    (void)create_instance(fixture, "order", "a");
    assert_int_equal(query_number(fixture, "SELECT id FROM customer"), 7);
    assert_int_equal(query_number(fixture, "PRAGMA user_version"), 5);
}

TEST_IN(on_databases, fixture, somebody_elses_table_of_our_name_is_refused_and_left_alone)
{
    bool is_file = fixture->place.store == STORE_IN_FILE;
    const char *const foreign[] = {
        "CREATE TABLE workflow_instance (theirs int); INSERT INTO workflow_instance VALUES (7)",
        "CREATE TABLE workflow_schema (theirs int)",
        "CREATE TABLE workflow_schema (version bigint)",
        "CREATE TABLE workflow_steps (theirs int)",
        "CREATE VIEW workflow_steps AS SELECT 1 AS theirs",
        is_file ? NULL : "CREATE FUNCTION workflow_guard() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    };
    close_store(fixture);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0] && foreign[i] != NULL; i++) {
        store_place_empty(&fixture->place, true);
        store_place_execute(&fixture->place, foreign[i]);
        assert_int_equal(try_open(fixture, fixture->url), PAWL_STORE_CORRUPT);
        assert_says(fixture, is_file ? "another file" : "pawl_schema");
        store_place_execute(&fixture->place, "CREATE TABLE workflow_task (free int)");
    }
    store_place_empty(&fixture->place, true);
}

/* Root may write everything, so the one who tries is somebody else. */
TEST_IN(on_file, fixture, a_read_only_file_is_told_as_such)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    close_store(fixture);
    assert_int_equal(chmod(database_path(fixture), 0444), 0);
    assert_int_equal(chmod(fixture->directory, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(99);
        pawl_status status = try_open(fixture, fixture->url);
        _exit(strstr(fixture->error.text, database_path(fixture)) != NULL ? (int)status : 98);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(fixture->directory, 0755), 0);
    assert_int_equal(chmod(database_path(fixture), 0644), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), PAWL_STORE_READ_ONLY);
    fixture->store = fixture_open_store(fixture);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

/* Byte 18 of the header says which version may write it; a version that SQLite does not know makes it read-only. */
TEST_IN(on_file, fixture, a_file_that_is_marked_as_written_by_a_newer_sqlite_is_read_only)
{
    close_store(fixture);
    change_file(fixture, "PRAGMA journal_mode = DELETE");
    int file = open(database_path(fixture), O_WRONLY);
    assert_int_equal(pwrite(file, "\x03", 1, 18), 1);
    assert_int_equal(close(file), 0);

    assert_int_equal(try_open(fixture, fixture->url), PAWL_STORE_READ_ONLY);

    assert_says(fixture, database_path(fixture));
}

TEST_IN(on_file, fixture, a_file_system_that_cannot_share_memory_is_told_to_be_left)
{
    sqlite3_vfs *usual = sqlite3_vfs_find(NULL), *plain = sqlite3_vfs_find("unix-dotfile");
    assert_non_null(plain);
    close_store(fixture);
    change_file(fixture, "PRAGMA journal_mode = DELETE");

    assert_int_equal(sqlite3_vfs_register(plain, 1), SQLITE_OK);
    pawl_status status = try_open(fixture, fixture->url);
    assert_int_equal(sqlite3_vfs_register(usual, 1), SQLITE_OK);

    assert_int_equal(status, PAWL_STORE_UNAVAILABLE);
    assert_says(fixture, "local file system");
    fixture->store = fixture_open_store(fixture);
}

TEST_IN(on_file, fixture, a_runner_that_cannot_be_announced_is_told_the_file)
{
    const struct pw_store_ops *ops = fixture->store->ops;
    char path[160];
    (void)snprintf(path, sizeof path, "%s-runners", database_path(fixture));
    assert_int_equal(mkdir(path, 0755), 0);

    assert_int_equal(ops->announce(fixture->store, FIXTURE_OWNER, &fixture->error), PAWL_STORE_UNAVAILABLE);
    assert_says(fixture, "test.db-runners");
    assert_says(fixture, "cannot be opened");

    assert_int_equal(rmdir(path), 0);
    assert_int_equal(ops->announce(fixture->store, FIXTURE_OWNER, &fixture->error), PAWL_OK);
}

/* ---- Trouble while in use ------------------------------------------------------------------------------------ */

TEST_IN(on_file, fixture, a_full_database_fails_the_whole_and_harms_nothing) /* S3 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    int64_t pages = query_number(fixture, "PRAGMA page_count");
    char limit[64];
    (void)snprintf(limit, sizeof limit, "PRAGMA max_page_count = %lld", (long long)pages);
    (void)query_number(fixture, limit);
    fixture->now_ms++;
    assert_int_equal(apply_big_step(fixture, at, 1), PAWL_STORE_FULL);
    assert_int_equal(fixture->units[0].status, PAWL_STORE_FULL);
    assert_says(fixture, "make room");
    assert_int_equal(step_count(fixture, at), 0);
    assert_int_equal(read_key(fixture, at.instance).updated_at_ms, FIXTURE_NOW_MS);

    (void)query_number(fixture, "PRAGMA max_page_count = 1000000");
    assert_int_equal(apply_big_step(fixture, at, 1), PAWL_OK);
    assert_int_equal(step_count(fixture, at), 1);
}

/* In a child: until the file may not grow any more. */
static int fill_up(struct fixture *fixture, struct pw_fence at)
{
    struct rlimit limit = { 1000000, 1000000 };
    (void)signal(SIGXFSZ, SIG_IGN);
    fixture->store = fixture_open_store(fixture);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 99;
    pawl_status status = PAWL_OK;
    for (int64_t seq = 1; seq < 100 && status == PAWL_OK; seq++)
        status = apply_big_step(fixture, at, seq);
    return (int)status;
}

TEST_IN(on_file, fixture, a_write_that_fails_keeps_what_was_committed)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    close_store(fixture);
    pid_t child = fork();
    if (child == 0)
        _exit(fill_up(fixture, at));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), PAWL_STORE_UNAVAILABLE); /* to SQLite a file limit is an I/O error */

    fixture->store = fixture_open_store(fixture);
    size_t kept = step_count(fixture, at);
    assert_true(kept > 0 && kept < 50);
    assert_int_equal(apply_big_step(fixture, at, (int64_t)kept + 1), PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
                     1);
}

TEST_IN(on_file, fixture, a_busy_database_is_waited_for_and_then_told)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    close_store(fixture);
    (void)strncat(fixture->url, "?busy_ms=50", sizeof fixture->url - strlen(fixture->url) - 1);
    fixture->store = fixture_open_store(fixture);
    char plain_url[128];
    (void)snprintf(plain_url, sizeof plain_url, "%.*s", (int)strcspn(fixture->url + 7, "?"), fixture->url + 7);
    sqlite3 *other = NULL;
    assert_int_equal(sqlite3_open(plain_url, &other), SQLITE_OK);

    execute(other, "BEGIN EXCLUSIVE");
    assert_int_equal(apply_big_step(fixture, at, 1), PAWL_BUSY);
    assert_int_equal(fixture->error.status, PAWL_BUSY);
    assert_says(fixture, "50 ms");
    assert_int_equal(step_count(fixture, at), 0); /* reading goes on meanwhile */
    execute(other, "ROLLBACK");
    assert_int_equal(apply_big_step(fixture, at, 1), PAWL_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

TEST_IN(on_file, fixture, an_op_of_no_kind_fails_the_whole_and_harms_nothing)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    (void)add_step(fixture_unit(fixture), at, 1, "neighbour");
    (void)add(fixture_unit(fixture), (enum pw_op_kind)999);

    assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_INVALID);

    assert_says(fixture, "999");
    assert_int_equal(step_count(fixture, at), 0);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}
