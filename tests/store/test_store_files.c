/* test_store_files.c - who may read the files of an SQLite store: its owner, unless the URL says otherwise; and files that are
 * there are left as they are. */
#include "kit/store_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { RUNNER = 4711 };

static mode_t mode_of(const struct fixture *fixture, const char *suffix)
{
    char path[256];
    struct stat found;
    (void)snprintf(path, sizeof path, "%s/new.db%s", fixture->place.folder, suffix);
    return stat(path, &found) == 0 ? found.st_mode & 07777 : 0;
}

/* Opened, written and with a runner announced, so that all of its files are there. */
static struct pw_store *open_new(struct fixture *fixture, const char *options)
{
    (void)snprintf(fixture->url, sizeof fixture->url, "sqlite:%s/new.db%s", fixture->place.folder, options);
    struct pw_store *store = fixture_open_store(fixture);
    assert_int_equal(store->ops->announce(store, RUNNER, &fixture->error), PAWL_OK);
    (void)add_create(fixture_unit(fixture), "w", "a")->created;
    assert_int_equal(fixture_apply_on(fixture, store), PAWL_OK);
    fixture_clear_units(fixture);
    return store;
}

static void remove_new(const struct fixture *fixture)
{
    static const char *const suffixes[] = { "", "-wal", "-shm", "-runners" };
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, "%s/new.db%s", fixture->place.folder, suffixes[i]);
        (void)unlink(path);
    }
}

static void assert_modes(const struct fixture *fixture, mode_t mode)
{
    assert_int_equal(mode_of(fixture, ""), mode);
    assert_int_equal(mode_of(fixture, "-wal"), mode);
    assert_int_equal(mode_of(fixture, "-shm"), mode);
    assert_int_equal(mode_of(fixture, "-runners"), mode);
}

TEST_IN(on_file, fixture, a_new_database_is_its_owners_whatever_the_umask)
{
    static const mode_t masks[] = { 0, 022, 077, 0177 };
    static const struct {
        const char *options;
        mode_t mode;
    } list[] = { { "", 0600 },
                 { "?mode=0600", 0600 },
                 { "?mode=0660", 0660 },
                 { "?busy_ms=50&mode=640", 0640 },
                 { "?mode=0666&synchronous=normal", 0666 } };
    for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++)
        for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
            mode_t before = umask(masks[m]);
            struct pw_store *store = open_new(fixture, list[i].options);
            assert_int_equal(umask(before), masks[m]); /* it is the host's, and was left alone */
            assert_modes(fixture, list[i].mode);
            store->ops->close(store);
            remove_new(fixture);
        }
}

TEST_IN(on_file, fixture, a_database_that_is_there_keeps_its_mode)
{
    char path[256];
    struct pw_store *store = open_new(fixture, "");
    store->ops->close(store);
    (void)snprintf(path, sizeof path, "%s/new.db-runners", fixture->place.folder);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/new.db", fixture->place.folder);
    assert_int_equal(chmod(path, 0644), 0);

    store = open_new(fixture, "?mode=0660"); /* what is made beside it is as it is */

    assert_modes(fixture, 0644);
    store->ops->close(store);
    remove_new(fixture);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600); /* somebody has made it, and given it a mode */
    assert_true(file >= 0);
    assert_int_equal(fchmod(file, 0640), 0);
    (void)close(file);
    store = open_new(fixture, "");
    assert_modes(fixture, 0640);
    store->ops->close(store);
    remove_new(fixture);
}

TEST_IN(on_file, fixture, a_link_that_leads_to_no_file_yet_is_followed)
{
    char link[256], target[256];
    struct stat found;
    (void)snprintf(link, sizeof link, "%s/link.db", fixture->place.folder);
    (void)snprintf(target, sizeof target, "%s/new.db", fixture->place.folder);
    assert_int_equal(symlink(target, link), 0);
    (void)snprintf(fixture->url, sizeof fixture->url, "sqlite:%s", link);
    struct pw_store *store = fixture_open_store(fixture);
    assert_int_equal(lstat(link, &found), 0);
    assert_true(S_ISLNK(found.st_mode));
    assert_int_equal(mode_of(fixture, ""), 0600);
    store->ops->close(store);
    assert_int_equal(unlink(link), 0);
    remove_new(fixture);
}

TEST_IN(on_file, fixture, a_mode_that_is_none_is_refused_and_nothing_is_made)
{
    static const char *const list[] = { "",     "6",     "60",   "0060", "0400", "0200",  "0700",
                                        "1600", "00600", "0608", "rw",   "-600", "0x180", "0677" };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct pw_store *store = NULL;
        struct pawl_clock clock = { .now_ms = fixture_now, .user = fixture };
        (void)snprintf(fixture->url, sizeof fixture->url, "sqlite:%s/new.db?mode=%s", fixture->place.folder, list[i]);
        assert_int_equal(pw_store_open(fixture->url, clock, &store, &fixture->error), PAWL_INVALID);
        assert_non_null(strstr(fixture->error.text, "0660"));
        assert_int_equal(mode_of(fixture, ""), 0);
    }
}
