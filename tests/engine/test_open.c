/* test_open.c - what pawl_open() takes for a store: one URL of one database, also of one that was a part of a store. */
#include "kit/store_fixture.h"

#include <unistd.h>

#include "kit/running.h"

static pawl_status open_url(const char *url, pawl_engine **out_engine, struct pawl_error *error)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    options.store_url = url;
    return pawl_open(&options, out_engine, error);
}

TEST(a_list_of_urls_is_refused_with_the_reason)
{
    static const char *const lists[] = {
        "sqlite::memory: sqlite::memory:",
        "sqlite:a.db\tsqlite:b.db",
        "sqlite:a.db\r\n  sqlite:b.db\nsqlite:c.db",
        "postgres://ada:sesame@one/pawl postgres://ada:sesame@two/pawl",
        "sqlite:a.db postgresql://ada:sesame@two/pawl",
        "nonsense://ada:sesame@one sqlite:b.db",
        "sqlite:a.db nonsense://ada:sesame@two",
        "sqlite:a.db,sqlite:b.db",
        "postgres://ada:sesame@one/pawl; postgres://ada:sesame@two/pawl",
    };
    for (size_t i = 0; i < LENGTH(lists); i++) {
        struct pawl_error error = { PAWL_OK, "" };
        pawl_engine *engine = NULL;
        assert_int_equal(open_url(lists[i], &engine, &error), PAWL_INVALID);
        assert_null(engine);
        assert_non_null(strstr(error.text, "more than one URL is given, but a store is one database"));
        assert_non_null(strstr(error.text, "docs/postgres.md"));
        assert_null(strstr(error.text, "sesame"));
    }
    assert_int_equal(access("a.db", F_OK), -1); /* nothing was opened */
}

TEST_IN(on_file, fixture, a_path_may_have_white_space_in_it)
{
    struct pawl_error error = { PAWL_OK, "" };
    pawl_engine *engine = NULL;
    char url[256], path[192];
    (void)snprintf(path, sizeof path, "%s/a file of sqlite.db", fixture->place.folder);
    (void)snprintf(url, sizeof url, "sqlite:%s", path);
    assert_ok(open_url(url, &engine, &error), error);
    pawl_close(engine);
    assert_int_equal(access(path, F_OK), 0);
    remove_database(path);
}

WORKFLOW(never_called)
{
    return pawl_return(run, out_result, "i", 1);
}

/* In earlier versions one store could be made of several databases.  Each was marked with its place among them. */
TEST_IN(on_databases, fixture, a_database_that_was_one_of_several_opens_alone_and_says_so)
{
    struct pawl_error error = { PAWL_OK, "" };
    pawl_engine *engine = NULL;
    pawl_scope *scope = pawl_scope_new();
    const struct pawl_workflow workflow = { .name = "order", .run = never_called };
    struct pawl_instance instance;
    assert_ok(open_url(fixture->place.url, &engine, &error), error);
    assert_null(pawl_store_warning(engine));
    pawl_close(engine);
    run_raw_sql(fixture, "INSERT INTO workflow_set (key, id, number, size) VALUES (1, 4711, 1, 3)");

    assert_ok(open_url(fixture->place.url, &engine, &error), error);

    assert_non_null(pawl_store_warning(engine));
    assert_non_null(strstr(pawl_store_warning(engine), "number 2 of 3 that made up one store"));
    assert_ok(pawl_register(engine, &workflow, &error), error);
    assert_ok(pawl_create(engine, scope, "order", NULL, &instance, &error), error);
    assert_ok(pawl_get(engine, scope, "order", instance.id, &instance, &error), error);
    pawl_close(engine);
    pawl_scope_free(scope);
}

TEST(no_engine_has_no_warning)
{
    assert_null(pawl_store_warning(NULL));
}
