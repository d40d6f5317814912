/* test_writable.c - can the store be written?  First with a store that answers what the test says, and time that the test
 * makes; then with real ones, to which something happens. */
#include "kit/store_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "engine/writable.h"

enum { SECOND = 1000, FRESH = 10 * SECOND };

/* ---- What is known, and when it is asked ---------------------------------------------------------------------------- */

struct fake {
    struct pw_store store;
    struct pw_writable writable;
    struct pawl_error error;
    pawl_status says;
    int probes;
    int64_t now_ms;
};

static pawl_status fake_probe(struct pw_store *store, struct pawl_error *error)
{
    struct fake *fake = (struct fake *)store;
    fake->probes++;
    if (fake->says != PAWL_OK)
        (void)snprintf(error->text, sizeof error->text, "the probe says so");
    return fake->says;
}

static const struct pw_store_ops fake_ops = { .name = "fake", .probe = fake_probe };

static int set_up_fake(void **state)
{
    struct fake *fake = calloc(1, sizeof *fake);
    assert_non_null(fake);
    fake->store.ops = &fake_ops;
    fake->now_ms = 5 * SECOND;
    pthread_mutex_init(&fake->writable.lock, NULL);
    *state = fake;
    return 0;
}

static int tear_down_fake(void **state)
{
    struct fake *fake = *state;
    pthread_mutex_destroy(&fake->writable.lock);
    free(fake);
    return 0;
}

static const struct test_setting fake_setting = { set_up_fake, tear_down_fake, 0 };

static pawl_status check(struct fake *fake)
{
    return pw_writable_check(&fake->writable, &fake->store, fake->now_ms, &fake->error);
}

/* A transaction that recorded a step, or found nothing to do. */
enum deed { NOTHING, A_STEP };
static void commit(struct fake *fake, enum deed deed, pawl_status whole)
{
    struct pw_unit unit, *units[] = { &unit };
    pw_unit_init(&unit);
    assert_true(deed == NOTHING || pw_unit_tell(&unit, PW_EFFECT_STEP, 1, 1) != NULL);
    unit.status = whole;
    pw_writable_note(&fake->writable, units, 1, whole, fake->now_ms);
    pw_unit_clear(&unit);
}

TEST_OF(fake, a_store_that_nobody_writes_is_probed_every_ten_seconds)
{
    for (int i = 0; i < 100; i++)
        assert_int_equal(check(fake), PAWL_OK);
    assert_int_equal(fake->probes, 1);
    fake->now_ms += FRESH - 1;
    assert_int_equal(check(fake), PAWL_OK);
    assert_int_equal(fake->probes, 1);
    fake->now_ms += 1;
    assert_int_equal(check(fake), PAWL_OK);
    assert_int_equal(fake->probes, 2);
}

TEST_OF(fake, a_commit_that_wrote_something_makes_a_probe_needless)
{
    commit(fake, A_STEP, PAWL_OK);
    fake->now_ms += FRESH - 1;
    assert_int_equal(check(fake), PAWL_OK);
    assert_int_equal(fake->probes, 0);
}

TEST_OF(fake, a_commit_that_wrote_nothing_shows_nothing)
{
    commit(fake, NOTHING, PAWL_OK);
    fake->says = PAWL_STORE_FULL;
    assert_int_equal(check(fake), PAWL_STORE_FULL);
    assert_string_equal(fake->error.text, "the probe says so");
    commit(fake, NOTHING, PAWL_OK);
    assert_int_equal(check(fake), PAWL_STORE_FULL);
    commit(fake, A_STEP, PAWL_OK);
    assert_int_equal(check(fake), PAWL_OK);
}

TEST_OF(fake, a_failed_commit_is_told_until_a_probe_or_a_commit_succeeds)
{
    assert_int_equal(check(fake), PAWL_OK);
    commit(fake, A_STEP, PAWL_STORE_FULL);
    fake->says = PAWL_STORE_READ_ONLY;
    assert_int_equal(check(fake), PAWL_STORE_FULL); /* the last probe is too young */
    fake->now_ms += SECOND;
    for (int i = 0; i < 100; i++)
        assert_int_equal(check(fake), PAWL_STORE_READ_ONLY);
    assert_int_equal(fake->probes, 2);
    fake->says = PAWL_OK;
    assert_int_equal(check(fake), PAWL_STORE_READ_ONLY);
    fake->now_ms += SECOND;
    assert_int_equal(check(fake), PAWL_OK);
    assert_int_equal(fake->probes, 3);

    commit(fake, A_STEP, PAWL_STORE_UNAVAILABLE);
    assert_int_equal(check(fake), PAWL_STORE_UNAVAILABLE);
    commit(fake, A_STEP, PAWL_OK);
    assert_int_equal(check(fake), PAWL_OK);
    assert_int_equal(fake->probes, 3);
}

TEST_OF(fake, a_busy_store_stays_what_it_was)
{
    fake->says = PAWL_BUSY;
    assert_int_equal(check(fake), PAWL_OK);
    commit(fake, A_STEP, PAWL_BUSY); /* for as long as anybody waits for it */
    fake->now_ms += SECOND;
    assert_int_equal(check(fake), PAWL_STORE_UNAVAILABLE);
    assert_int_equal(fake->probes, 2);
}

TEST_OF(fake, trouble_that_is_not_the_stores_is_nobody_elses)
{
    commit(fake, A_STEP, PAWL_OK);
    commit(fake, A_STEP, PAWL_NOMEM);
    commit(fake, A_STEP, PAWL_INVALID);
    assert_int_equal(check(fake), PAWL_OK);
    assert_int_equal(fake->probes, 0);
}

/* ---- Real stores ------------------------------------------------------------------------------------------------------ */

static pawl_status probe(struct fixture *fixture)
{
    return fixture->store->ops->probe(fixture->store, &fixture->error);
}

TEST_IN(on_engines, fixture, a_probe_leaves_nothing_behind)
{
    for (int i = 0; i < 3; i++)
        assert_int_equal(probe(fixture), PAWL_OK);
    if (fixture->place.store != STORE_IN_MEMORY)
        assert_int_equal(store_place_number(&fixture->place, "SELECT count(*) FROM workflow_runner"), 0);
}

TEST_IN(on_file, fixture, a_file_that_cannot_grow_cannot_be_written)
{
    struct rlimit before, none;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){ 1, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    pawl_status status = probe(fixture);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(status, PAWL_OK);
    assert_int_not_equal(status, PAWL_BUSY);
    assert_int_equal(probe(fixture), PAWL_OK);
}

TEST_IN(on_file, fixture, a_damaged_file_cannot_be_written)
{
    char zeroes[4096] = { 0 };
    sqlite3 *db = NULL;
    assert_int_equal(probe(fixture), PAWL_OK);
    assert_int_equal(sqlite3_open(fixture->place.path, &db), SQLITE_OK); /* otherwise the log has the pages */
    assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    int file = open(fixture->place.path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(file, zeroes, sizeof zeroes, 0), sizeof zeroes);
    assert_int_equal(close(file), 0);
    assert_int_equal(probe(fixture), PAWL_STORE_CORRUPT);
}

TEST_IN(on_file, fixture, a_file_that_another_process_writes_is_busy)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(fixture->place.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(probe(fixture), PAWL_BUSY);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(probe(fixture), PAWL_OK);
}

TEST_IN(on_postgres, fixture, a_read_only_database_cannot_be_written)
{
    size_t size = strlen(fixture->url);
    fixture->store->ops->close(fixture->store);
    (void)snprintf(fixture->url + size, sizeof fixture->url - size,
                   "%coptions=-c%%20default_transaction_read_only%%3Don",
                   strchr(fixture->url, '?') == NULL ? '?' : '&');
    fixture->store = fixture_open_store(fixture);
    assert_int_equal(probe(fixture), PAWL_STORE_READ_ONLY);
}
