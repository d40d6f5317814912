/* pawld on more than one database: the flag given more than once, a list in the file, and what is refused. */
#include "kit.h"

#include <sqlite3.h>

enum { RUNS = 24 };

static int64_t count_in(const char *file, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int64_t count = -1;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, PATIENCE_MS);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return count;
}

/* Every instance of the list, page by page, once. */
static void assert_listed(struct kit *kit, const struct pawld *pawld, const char *order)
{
    bool seen[RUNS] = { false };
    size_t listed = 0;
    const char *cursor = "";
    do {
        const char *url = pawl_scope_format(kit->scope, "/workflows/nap/instances?pageSize=5&order=%s%s%s", order,
                                            cursor[0] != '\0' ? "&cursor=" : "", cursor);
        struct answer page = ask(kit, pawld, "GET", url, NULL, NULL);
        assert_int_equal(page.status, 200);
        const pawl_value *instances = pawl_value_at(page.value, "instances");
        for (size_t i = 0; i < pawl_value_size(instances, NULL); i++) {
            int number = atoi(pawl_value_string(pawl_value_item(instances, i), "id", "x0") + 1);
            assert_in_range(number, 0, RUNS - 1);
            assert_false(seen[number]);
            seen[number] = true;
            listed++;
        }
        cursor = pawl_value_string(page.value, "cursor", "");
    } while (cursor[0] != '\0');
    assert_int_equal(listed, RUNS);
}

static void one_store_is_made_of_two_databases(void **state)
{
    struct kit *kit = *state;
    struct pawld *pawld = PAWLD_SERVE(kit, "--store", "sqlite:a.db", "--store", "sqlite:b.db", GATES);
    assert_non_null(strstr(pawld->errors, "store sqlite:a.db sqlite:b.db, 3 workflows"));
    for (int i = 0; i < RUNS; i++)
        create(kit, pawld, "nap", pawl_scope_format(kit->scope, "n%d", i), "null");
    assert_listed(kit, pawld, "asc");
    assert_listed(kit, pawld, "desc");
    for (int i = 0; i < RUNS; i++) {
        const char *events = pawl_scope_format(kit->scope, "/workflows/nap/instances/n%d/events", i);
        assert_int_equal(ask(kit, pawld, "POST", events, "{\"type\":\"go\"}", NULL).status, 200);
    }
    for (int i = 0; i < RUNS; i++)
        await_status(kit, pawld, "nap", pawl_scope_format(kit->scope, "n%d", i), "complete");
    assert_int_equal(ask(kit, pawld, "GET", "/health/ready", NULL, NULL).status, 200);
    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 0);

    int64_t in_a = count_in("a.db", "SELECT count(*) FROM workflow_instance WHERE outcome = 1");
    int64_t in_b = count_in("b.db", "SELECT count(*) FROM workflow_instance WHERE outcome = 1");
    assert_in_range(in_a, 1, RUNS - 1);
    assert_int_equal(in_a + in_b, RUNS);
}

static void a_file_names_them_in_a_list_and_another_order_is_refused(void **state)
{
    struct kit *kit = *state;
    struct pawld *refused;
    write_file("c.json", "{\"store\": [\"sqlite:a.db\", \"sqlite:b.db\"], \"listen\": \"127.0.0.1:0\"}");
    struct pawld *pawld = PAWLD_START(kit, "--config", "c.json", GATES);
    pawld_await_base(pawld);
    create(kit, pawld, "echo", "e", "7");
    await_status(kit, pawld, "echo", "e", "complete");
    pawld_kill(pawld, SIGTERM);
    assert_int_equal(pawld_await_end(pawld), 0);

    assert_int_equal(PAWLD_RUN(kit, &refused, "--store", "sqlite:b.db", "--store", "sqlite:a.db", GATES), 2);
    assert_one_line(refused, "database 1 of the 2 named is number 2 of 2 of a store");
    assert_int_equal(PAWLD_RUN(kit, &refused, "--store", "sqlite:a.db", GATES), 2);
    assert_one_line(refused, "the database is number 1 of 2 that make up one store");
}

static void no_password_of_any_of_them_is_told(void **state)
{
    struct kit *kit = *state;
    struct pawld *pawld;
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "sqlite:a.db", "--store", "cassandra://ada:secret@x/y", GATES),
                     2);
    assert_null(strstr(pawld->errors, "secret"));
    assert_one_line(pawld, "cassandra://ada:***@x/y");
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--store", "cassandra://a:secret@x/y cassandra://b:secret@z", GATES), 2);
    assert_null(strstr(pawld->errors, "secret"));
    assert_one_line(pawld, "cassandra://a:***@x/y cassandra://b:***@z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_TEST(one_store_is_made_of_two_databases),
        KIT_TEST(a_file_names_them_in_a_list_and_another_order_is_refused),
        KIT_TEST(no_password_of_any_of_them_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
