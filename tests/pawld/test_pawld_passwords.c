/* test_pawld_passwords.c - no password of a store's URL is told, however it is given. */
#include "kit.h"

static void assert_nothing_is_told(struct kit *kit, const struct pawld *pawld)
{
    assert_one_line(pawld, "store ");
    assert_null(strstr(pawld->errors, "hunter2"));
    assert_null(strstr(pawld->errors, "tail"));
    pawld_forget(kit);
}

/* From the library and through the process, by the flag and by the file. */
TEST_OF(kit, a_pawld_that_cannot_open_its_store_tells_no_password)
{
    static const char *const stores[] = {
        "postgres://127.0.0.1:1/db?pawl_busy_ms=0&user=u&password=hunter2",
        "postgres://127.0.0.1:1/db?pawl_busy_ms=0&sslpassword=hunter2&sslmod=x",
        "postgres://127.0.0.1:1/db?pawl_busy_ms=0&%70assword=hunter2&tail",
        "postgres://127.0.0.1:1/db?pawl_busy_ms=0&password=hunter2%zz",
        "postgres://u:hunter2@tail:tail@127.0.0.1:1/db?pawl_busy_ms=0",
        "postgres://u:hunter2/tail@127.0.0.1:1/db?pawl_busy_ms=0",
        "postgres://u:hunter2%zz@127.0.0.1:1/db?pawl_busy_ms=0",
        "postgres://u:hunter2%40tail/db?pawl_busy_ms=0",
        "postgres://u:hunter2@[tail@127.0.0.1:1/db?pawl_busy_ms=0",
        "postgres://127.0.0.1:1/a?pawl_busy_ms=0&password=hunter2 postgres://127.0.0.1:1/b?password=hunter2",
        "postgres://127.0.0.1:1/a?pawl_busy_ms=0&passwd=hunter2",
        "POSTGRES://u:hunter2@127.0.0.1/db",
        "host=127.0.0.1 port=1 user=u password=hunter2",
    };
    for (size_t i = 0; i < LENGTH(stores); i++) {
        struct pawld *pawld;
        assert_int_not_equal(PAWLD_RUN(kit, &pawld, "--store", stores[i], "--migrate-only"), 0);
        assert_nothing_is_told(kit, pawld);
        write_file("c.json", pawl_scope_format(kit->scope, "{\"store\": \"%s\"}", stores[i]));
        assert_int_not_equal(PAWLD_RUN(kit, &pawld, "--config", "c.json", "--migrate-only"), 0);
        assert_nothing_is_told(kit, pawld);
    }
}
