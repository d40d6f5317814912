/* test_pawld_redact.c - no password of a store's URL is told, however it is written. */
#include "kit.h"

#include "pawld/redact.h"

struct row {
    const char *store;
    const char *shown; /* NULL: all of it, as it is */
};

static const struct row rows[] = {
    /* Nothing to hide. */
    { "sqlite:pawl.db", NULL },
    { "sqlite:my passwords/a@b:c.db?busy_ms=5", NULL },
    { "sqlite::memory:", NULL },
    { "pawl.db", NULL },
    { "./folder/pawl.db", NULL },
    { "cassandra://x", NULL },
    { "postgres://", NULL },
    { "postgres://h/db", NULL },
    { "postgres://h:5432/db", NULL },
    { "postgres://u@h:5432/db", NULL },
    { "postgres://u@[::1]:5432/db", NULL },
    { "postgresql://h1:1,h2:2/db?target_session_attrs=read-write", NULL },
    { "postgres://h/db?user=u&passfile=/etc/pawl/pass&sslkey=/etc/k&pawl_pool=9", NULL },
    { "postgres://h/db?require_auth=password", NULL },
    { "postgres://passhost/password", NULL },
    /* Behind the user. */
    { "postgres://u:secret@h/db", "postgres://u:***@h/db" },
    { "postgres://:secret@h/db", "postgres://:***@h/db" },
    { "postgres://u:@h/db", "postgres://u:***@h/db" },
    { "postgresql://u:secret@h1:1,h2:2/db?sslmode=require", "postgresql://u:***@h1:1,h2:2/db?sslmode=require" },
    { "postgres://u:secret@[::1]:5432/db", "postgres://u:***@[::1]:5432/db" },
    { "postgres://u:sec%40ret@h/db", "postgres://u:***@h/db" },
    { "postgres://u:sec:ret@h/db", "postgres://u:***@h/db" },
    { "postgres://u:sec@ret@h/db", "postgres://u:***@h/db" },
    { "postgres://u:sec@ret:secret@h/db", "postgres://u:***@h/db" },
    { "postgres://u:sec/ret@h/db", "postgres://u:***@h/db" },
    { "postgres://u:/secret/@h/db", "postgres://u:***@h/db" },
    { "postgres://u:sec?ret@h/db", "postgres://u:***@h/db" },
    { "postgres://u:sec/ret?secret@h/db?sslmode=require", "postgres://u:***@h/db?sslmode=require" },
    { "postgres://u:sec#ret@h/db", "postgres://u:***@h/db" },
    { "postgres://u:sec ret@h/db", "postgres://u:***@h/db" },
    { "postgres://u:secret://secret@h/db", "postgres://u:***@h/db" },
    { "POSTGRES://u:secret@h/db", "POSTGRES://u:***@h/db" },
    { "jdbc:postgresql://u:secret@h/db", "jdbc:postgresql://u:***@h/db" },
    { "postgres:u:secret@h/db", "postgres:***@h/db" },
    { "u:secret@h/db", "u:***@h/db" },
    { "postgres://u:secret", "postgres://u:***" },
    { "postgres://u:1secret%40h/db?a=b", "postgres://u:***" },
    { "postgres://h:/db", NULL },
    { "postgres://h:1,[::1]:2?a=b:c", NULL },
    /* In the query. */
    { "postgres://h/db?password=secret", "postgres://h/db?password=***" },
    { "postgres://h/db?password=", "postgres://h/db?password=***" },
    { "postgres://h?password=secret", "postgres://h?password=***" },
    { "postgres:///db?user=u&password=secret", "postgres:///db?user=u&password=***" },
    { "postgres://h:5432/db?sslpassword=secret&user=u", "postgres://h:5432/db?sslpassword=***" },
    { "postgres://h/db?password=sec&ret=secret", "postgres://h/db?password=***" },
    { "postgres://h/db?password=sec=ret?secret#secret", "postgres://h/db?password=***" },
    { "postgres://h/db?%70assword=secret", "postgres://h/db?%70assword=***" },
    { "postgres://h/db?%70%61%73%73%77%6f%72%64=secret", "postgres://h/db?%70%61%73%73%77%6f%72%64=***" },
    { "postgres://h/db?ssl%50ASS%57ord=secret", "postgres://h/db?ssl%50ASS%57ord=***" },
    { "postgres://h/db?%2570assword=secret", "postgres://h/db?%2570assword=***" },
    { "postgres://h/db?%zz=secret", "postgres://h/db?%zz=***" },
    { "postgres://h/db?%7=secret", "postgres://h/db?%7=***" },
    { "postgres://h/db?password%3Dsecret", "postgres://h/db?***" },
    { "postgres://h/db?Password=secret", "postgres://h/db?Password=***" },
    { "postgres://h/db?passwd=secret", "postgres://h/db?passwd=***" },
    { "postgres://h/db?oauth_client_secret=hunter2", "postgres://h/db?oauth_client_secret=***" },
    { "postgres://h/db?scram_client_key=hunter2", "postgres://h/db?scram_client_key=***" },
    { "postgres://h/db?user=a@b&password=secret", "postgres://h/db?user=a@b&password=***" },
    { "postgres://h:1/db?user=a@b&password=secret", "postgres://h:***@b&password=***" },
    { "postgres://h/db&password=secret", "postgres://h/db&password=***" },
    { "postgres://u:secret@h/db?password=secret", "postgres://u:***@h/db?password=***" },
    { "postgres://u:sec@ret@h/db?a=b&sslpassword=secret", "postgres://u:***@h/db?a=b&sslpassword=***" },
    /* What libpq takes besides, and this store does not. */
    { "host=h user=u password=secret", "host=h user=u password=***" },
    { "host=h password = 'sec ret' user=u", "host=h ***" },
    /* Several. */
    { "postgres://a:secret@h/1 postgres://b:sec@ret@h/2", "postgres://a:***@h/1 postgres://b:***@h/2" },
    { "postgres://a@h/1 \n postgres://h/2?password=secret", "postgres://a@h/1 \n postgres://h/2?password=***" },
    { "postgres://h/1?password=secret postgresql://u:sec/ret@h/2?pawl_pool=1",
      "postgres://h/1?password=*** postgresql://u:***@h/2?pawl_pool=1" },
    { "sqlite:a.db postgres://u:secret@h/2 sqlite:b.db", "sqlite:a.db postgres://u:***@h/2 sqlite:b.db" },
    { "sqlite:a.db POSTGRES://u:secret@h/2", "sqlite:a.db POSTGRES://u:***@h/2" },
    { " postgres://u:secret@h/1", " postgres://u:***@h/1" },
};

TEST_OF(kit, no_password_is_shown_however_it_is_written)
{
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const char *shown = redact_store(kit->scope, rows[i].store);
        assert_string_equal(shown, rows[i].shown != NULL ? rows[i].shown : rows[i].store);
        assert_int_equal(shown == rows[i].store, rows[i].shown == NULL);
    }
}

static void assert_reason(struct kit *kit, const char *store, pawl_status status, const char *text, bool is_told)
{
    struct pawl_error why = { .status = status };
    (void)snprintf(why.text, sizeof why.text, "%s", text);
    const char *reason = redact_reason(kit->scope, store, &why);
    if (is_told)
        assert_string_equal(reason, text);
    else
        assert_memory_equal(reason, pawl_status_text(status), strlen(pawl_status_text(status)));
    assert_null(is_told ? NULL : strstr(reason, "sec"));
}

TEST_OF(kit, a_reason_that_may_hold_a_part_of_a_password_is_not_told)
{
    static const char broken[] = "store URL: invalid percent-encoded token: \"sec%zz\"";
    static const char mistyped[] = "store URL: invalid URI query parameter: \"sslmod\"";
    static const char refused[] = "PostgreSQL database db at h, port 5432: connection to server at \"h\" failed: "
                                  "FATAL: password authentication failed for user \"u\"";
    assert_reason(kit, "postgres://u:sec%zz@h/db", PAWL_INVALID, broken, false);
    assert_reason(kit, "postgres://h/db?password=sec%zz", PAWL_INVALID, broken, false);
    assert_reason(kit, "postgres://h/db?password=a&sec", PAWL_INVALID,
                  "store URL: missing key/value separator \"=\" in URI query parameter: \"sec\"", false);
    assert_reason(kit, "postgres://u:p/sec@h/db", PAWL_STORE_UNAVAILABLE,
                  "PostgreSQL database sec@h/db at u, port p: ...", false);
    assert_reason(kit, "postgres://u:p@sec@h/db", PAWL_STORE_UNAVAILABLE,
                  "PostgreSQL database db at sec@h, port 5432: ...", false);
    assert_reason(kit, "cassandra://u:sec@h", PAWL_INVALID, "store URL \"cassandra://u:sec@h\": use ...", false);
    assert_reason(kit, "postgres://u:secret@h/db?sslmod=require", PAWL_INVALID, mistyped, true);
    assert_reason(kit, "postgres://h/db?sslmod=require", PAWL_INVALID, mistyped, true);
    assert_reason(kit, "postgres://u:db@h/db", PAWL_STORE_UNAVAILABLE, refused, true);
    assert_reason(kit, "postgres://h/db?user=u&password=p", PAWL_STORE_UNAVAILABLE, refused, true);
}

/* From the library and through the process: nothing of "hunter2" or "tail" is printed, and how to write it is. */
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
    };
    for (size_t i = 0; i < LENGTH(stores); i++) {
        struct pawld *pawld;
        assert_int_not_equal(PAWLD_RUN(kit, &pawld, "--store", stores[i], "--migrate-only"), 0);
        assert_one_line(pawld, "***");
        assert_null(strstr(pawld->errors, "hunter2"));
        assert_null(strstr(pawld->errors, "tail"));
        assert_int_equal(strstr(pawld->errors, "%40 (@)") != NULL, i >= 4 && i <= 8);
        pawld_forget(kit);
    }
}
