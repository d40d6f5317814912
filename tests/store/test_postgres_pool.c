/* test_postgres_pool.c - how many connections the store keeps. */
#include "kit/store_fixture.h"

#include "store/postgres/postgres.h"

static size_t count_idle(struct pw_postgres *postgres, enum pw_pg_role role)
{
    size_t count = 0;
    for (const struct pw_pg_connection *one = postgres->idle[role]; one != NULL; one = one->next)
        count++;
    return count;
}

static struct pw_pg_connection *take(struct fixture *fixture, enum pw_pg_role role)
{
    struct pw_pg_connection *connection = NULL;
    assert_int_equal(pw_pg_take((struct pw_postgres *)fixture->store, role, INT64_MAX, &connection, &fixture->error),
                     PAWL_OK);
    return connection;
}

static void check_peak(struct fixture *fixture, enum pw_pg_role role)
{
    enum { PEAK = 4 };
    struct pw_postgres *postgres = (struct pw_postgres *)fixture->store;
    struct pw_pg_connection *connections[PEAK];
    for (size_t i = 0; i < PEAK; i++)
        connections[i] = take(fixture, role);
    for (size_t i = 0; i < PEAK; i++)
        pw_pg_give(postgres, connections[i]);
    assert_int_equal(count_idle(postgres, role), PEAK); /* the peak may come back soon */

    for (size_t i = 0; i < PEAK; i++)
        connections[i]->idle_since_ms -= PW_PG_IDLE_MS_MAX;
    for (size_t i = 0; i < PEAK; i++) {
        postgres->trimmed_at_ms[role] = 0;
        pw_pg_give(postgres, take(fixture, role));
    }
    assert_int_equal(count_idle(postgres, role), 1);
    assert_int_equal(postgres->counts[role], 1);
}

TEST_IN(on_postgres, fixture, connections_that_only_a_peak_needed_are_closed)
{
    (void)create_instance(fixture, "order", "a"); /* a writer has left a receipt */
    check_peak(fixture, PW_PG_READER);
    check_peak(fixture, PW_PG_WRITER);
    (void)create_instance(fixture, "order", "b");
}
