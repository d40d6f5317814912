/* test_store_lost.c - a database whose file is deleted or replaced while it is open: the store commits nothing any more, and
 * neither writes nor deletes what is in its place by then, not even when it is closed. */
#include "kit/store_fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

static const char *const suffixes[] = { "", "-wal", "-shm", "-runners" };
enum { SUFFIX_COUNT = sizeof suffixes / sizeof suffixes[0], OWN = 5, READERS = 3 };

static struct pw_sqlite *sqlite_of(const struct fixture *fixture)
{
    return (struct pw_sqlite *)fixture->store;
}

static void join(char *out_path, const char *path, const char *suffix)
{
    assert_in_range(snprintf(out_path, PATH_MAX, "%s%s", path, suffix), 1, PATH_MAX - 1);
}

/* -1: there is none. */
static int64_t size_of(const struct fixture *fixture, const char *suffix)
{
    char path[PATH_MAX];
    struct stat found;
    join(path, fixture->place.path, suffix);
    return stat(path, &found) == 0 ? (int64_t)found.st_size : -1;
}

static void delete_all(const struct fixture *fixture)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < SUFFIX_COUNT; i++) {
        join(path, fixture->place.path, suffixes[i]);
        (void)unlink(path);
        assert_int_equal(size_of(fixture, suffixes[i]), -1);
    }
}

static void execute(sqlite3 *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static int64_t number_in(sqlite3 *db, const char *sql)
{
    int64_t number;
    assert_true(store_connection_number(STORE_IN_MEMORY, db, sql, &number));
    return number;
}

static sqlite3 *open_plainly(const char *path)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), SQLITE_OK);
    return db;
}

/* As `mv backup.db test.db`: a database with one table of one row. */
static void replace_by_backup(const struct fixture *fixture)
{
    char backup[PATH_MAX];
    join(backup, fixture->place.path, "-backup");
    sqlite3 *db = open_plainly(backup);
    execute(db, "CREATE TABLE kept (number); INSERT INTO kept VALUES (42)");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(rename(backup, fixture->place.path), 0);
}

static uint64_t sum_of(const char *path)
{
    uint64_t sum = 0;
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    for (int byte; (byte = fgetc(file)) != EOF;)
        sum = sum * 31 + (uint64_t)byte;
    assert_int_equal(fclose(file), 0);
    return sum;
}

/* Nobody would find it again. */
static void expect_refused(struct fixture *fixture, const char *id)
{
    (void)add_create(fixture_unit(fixture), "order", id);
    assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_STORE_UNAVAILABLE);
    assert_non_null(strstr(fixture->error.text, "was deleted or replaced"));
    assert_int_equal(fixture->units[0].status, PAWL_STORE_UNAVAILABLE);
    assert_true(fixture->units[0].undone);
    fixture_clear_units(fixture);
}

/* Everything for which a store opens files after the first time: readers, what runners say, their locks. */
static void use_everything(struct fixture *fixture)
{
    struct pw_store *store = fixture->store;
    struct pw_sqlite_connection *readers[READERS] = { NULL };
    struct pw_runner_row row = { .owner = OWN, .name = text("a:1"), .workflows = text("order") };
    const struct pw_read asked = { .kind = PW_READ_RUNNERS };
    struct pw_found found;
    size_t taken = 0;
    assert_int_equal(store->ops->describe(store, &row, &fixture->error), PAWL_STORE_UNAVAILABLE);
    assert_non_null(strstr(fixture->error.text, "was deleted or replaced"));
    assert_int_equal(store->ops->announce(store, OWN + 1, &fixture->error), PAWL_STORE_UNAVAILABLE);
    assert_int_equal(store->ops->probe(store, &fixture->error), PAWL_STORE_UNAVAILABLE);
    pawl_status status = pw_read(store, &asked, &fixture->arena, &found, &fixture->error);
    (void)status; /* whether it can is not the question here */
    assert_false(pw_sqlite_is_dead(sqlite_of(fixture), OWN));
    while (taken < READERS && pw_sqlite_take_reader(sqlite_of(fixture), &readers[taken], &fixture->error) == PAWL_OK)
        taken++;
    assert_in_range(taken, 0, READERS - 1); /* what was open before is used, and nothing else */
    while (taken > 0)
        pw_sqlite_give_reader(sqlite_of(fixture), readers[--taken]);
    expect_refused(fixture, "later");
}

TEST_IN(on_file, fixture, a_file_that_took_the_databases_place_stays_as_it_is)
{
    (void)create_instance(fixture, "order", "a");
    replace_by_backup(fixture);
    const uint64_t sum = sum_of(fixture->place.path);

    use_everything(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instance"), 1);
    close_store(fixture);

    assert_true(sum_of(fixture->place.path) == sum);
    sqlite3 *db = open_plainly(fixture->place.path); /* and the old log is not taken for its own */
    assert_int_equal(number_in(db, "SELECT number FROM kept"), 42);
    assert_int_equal(number_in(db, "SELECT count(*) FROM sqlite_schema"), 1);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_true(sum_of(fixture->place.path) == sum);
}

TEST_IN(on_file, fixture, a_database_that_was_deleted_is_not_made_again)
{
    (void)create_instance(fixture, "order", "a");
    delete_all(fixture);

    use_everything(fixture);
    close_store(fixture);

    for (size_t i = 0; i < SUFFIX_COUNT; i++)
        assert_int_equal(size_of(fixture, suffixes[i]), -1);
}

TEST_IN(on_file, fixture, the_log_of_somebody_elses_database_is_left_alone)
{
    (void)create_instance(fixture, "order", "a");
    delete_all(fixture);
    sqlite3 *db = open_plainly(fixture->place.path);
    execute(db, "PRAGMA journal_mode = WAL; CREATE TABLE kept (number); INSERT INTO kept VALUES (42)");
    const int64_t size = size_of(fixture, "-wal");
    assert_in_range(size, 1, INT32_MAX);

    use_everything(fixture);
    close_store(fixture);

    assert_int_equal(size_of(fixture, "-wal"), size);
    assert_in_range(size_of(fixture, "-shm"), 1, INT32_MAX);
    assert_int_equal(number_in(db, "SELECT number FROM kept"), 42);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST_IN(on_file, fixture, a_database_that_was_moved_has_everything_once_the_store_is_closed)
{
    char away[PATH_MAX];
    join(away, fixture->place.path, "-away");
    (void)create_instance(fixture, "order", "a");
    assert_int_equal(rename(fixture->place.path, away), 0);
    expect_refused(fixture, "b");
    close_store(fixture);

    assert_int_equal(size_of(fixture, ""), -1);
    assert_int_equal(size_of(fixture, "-wal"), 0);
    sqlite3 *db = open_plainly(away);
    assert_int_equal(number_in(db, "SELECT count(*) FROM workflow_instance"), 1);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(unlink(away), 0);
}

TEST_IN(on_file, fixture, a_database_that_was_put_back_is_written_again)
{
    char away[PATH_MAX];
    join(away, fixture->place.path, "-away");
    (void)create_instance(fixture, "order", "a");
    assert_int_equal(rename(fixture->place.path, away), 0);
    expect_refused(fixture, "b");

    assert_int_equal(rename(away, fixture->place.path), 0);
    (void)create_instance(fixture, "order", "b");
    assert_int_equal(fixture->store->ops->probe(fixture->store, &fixture->error), PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instance"), 2);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_runner"), 0);
}

/* A path is relative to the directory in which the store was opened. */
TEST_IN(on_file, fixture, a_process_that_goes_to_another_directory_keeps_its_database)
{
    struct pw_runner_row row = { .owner = OWN, .name = text("a:1"), .workflows = text("order") };
    char before[PATH_MAX];
    close_store(fixture);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(fixture->directory), 0);
    (void)snprintf(fixture->url, sizeof fixture->url, "sqlite:%s", strrchr(fixture->place.path, '/') + 1);
    fixture->store = fixture_open_store(fixture);
    assert_int_equal(mkdir("elsewhere", 0777), 0);
    assert_int_equal(chdir("elsewhere"), 0);

    assert_int_equal(fixture->store->ops->describe(fixture->store, &row, &fixture->error), PAWL_OK);
    struct pw_fence at = create_instance(fixture, "order", "a");
    assert_text(read_key(fixture, at.instance).id, "a");
    close_store(fixture);

    assert_int_equal(chdir(".."), 0);
    assert_int_equal(rmdir("elsewhere"), 0); /* it is empty */
    assert_int_equal(chdir(before), 0);
}

/* The file of the locks alone: nobody is taken for dead because a new one has no locks in it. */
TEST_IN(on_file, fixture, nobody_is_dead_because_the_file_of_the_locks_was_deleted)
{
    char path[PATH_MAX];
    join(path, fixture->place.path, "-runners");
    assert_int_equal(fixture->store->ops->announce(fixture->store, OWN, &fixture->error), PAWL_OK);
    assert_int_equal(unlink(path), 0);
    assert_false(pw_sqlite_is_dead(sqlite_of(fixture), OWN));
    assert_int_equal(size_of(fixture, "-runners"), -1);

    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(file >= 0);
    assert_false(pw_sqlite_is_dead(sqlite_of(fixture), OWN));
    assert_int_equal(close(file), 0);
}
