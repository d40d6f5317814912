/* old_schema.c - see old_schema.h. */
#include "old_schema.h"

void old_database_make(struct fixture *fixture, int64_t version, const char *rows)
{
    bool is_file = fixture->place.store == STORE_IN_FILE;
    const struct old_piece *pieces = is_file ? old_sqlite_schema : old_postgres_schema;
    size_t count = is_file ? old_sqlite_schema_count : old_postgres_schema_count;
    char set_version[64];
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    store_place_empty(&fixture->place, true);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].version <= version)
            store_place_execute(&fixture->place, pieces[i].sql);
    (void)snprintf(set_version, sizeof set_version, "UPDATE workflow_schema SET version = %d", (int)version);
    store_place_execute(&fixture->place, set_version);
    store_place_execute(&fixture->place, rows);
}

void old_database_open(struct fixture *fixture, int64_t version, const char *rows)
{
    int64_t newest = query_number(fixture, "SELECT version FROM workflow_schema");
    assert_true(newest > version);
    old_database_make(fixture, version, rows);
    fixture->store = fixture_open_store(fixture);
    assert_int_equal(query_number(fixture, "SELECT version FROM workflow_schema"), newest);
}
