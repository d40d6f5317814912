/* test_postgres_pool.c - how many connections the store keeps. */
#include "store_fixture.h"

#include "store/postgres/postgres.h"

static size_t count_idle_readers(struct pw_postgres *postgres)
{
    size_t count = 0;
    for (const struct pw_pg_connection *one = postgres->idle[PW_PG_READER]; one != NULL; one = one->next)
        count++;
    return count;
}

static void readers_that_only_a_peak_needed_are_closed(void **state)
{
    enum { PEAK = 4 };
    struct fixture *fixture = *state;
    struct pw_postgres *postgres = (struct pw_postgres *)fixture->store;
    struct pw_pg_connection *readers[PEAK];
    struct pw_fence at = create_instance(fixture, "order", "a");
    for (size_t i = 0; i < PEAK; i++)
        assert_int_equal(pw_pg_take(postgres, PW_PG_READER, INT64_MAX, &readers[i], &fixture->error), PAWL_OK);
    for (size_t i = 0; i < PEAK; i++)
        pw_pg_give(postgres, readers[i]);
    assert_int_equal(count_idle_readers(postgres), PEAK); /* the peak may come back soon */

    for (size_t i = 0; i < PEAK; i++)
        readers[i]->idle_since_ms -= PW_PG_IDLE_MS_MAX;
    for (size_t i = 0; i < PEAK; i++) {
        postgres->trimmed_at_ms = 0;
        (void)read_key(fixture, at.instance);
    }
    assert_int_equal(count_idle_readers(postgres), 1);
    assert_int_equal(postgres->counts[PW_PG_READER], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_POSTGRES(readers_that_only_a_peak_needed_are_closed) };
    return cmocka_run_group_tests_name("connections to PostgreSQL", tests, NULL, NULL);
}
