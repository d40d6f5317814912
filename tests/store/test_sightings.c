/* test_sightings.c - leases that a process has seen, when there are very many of them. */
#include "kit/test.h"
#include "store/sqlite/sightings.h"

enum { MANY = 70000, BOUND = 65536, LEASE_MS = 1000 };

static struct pw_held lease_of(int64_t instance)
{
    return (struct pw_held){ .instance = instance, .owner = 7, .run = 1, .epoch = 1, .locked_until_ms = LEASE_MS };
}

static void make_round(struct pw_sightings *sightings, int64_t count, int64_t now_ms)
{
    const struct pw_moment now = { now_ms, now_ms };
    pw_sightings_begin_round(sightings);
    for (int64_t i = 1; i <= count; i++) {
        struct pw_held held = lease_of(i);
        (void)pw_sightings_see(sightings, &held, 0, now);
    }
    pw_sightings_end_round(sightings);
}

static int64_t see(struct pw_sightings *sightings, int64_t instance, int64_t now_ms)
{
    struct pw_held held = lease_of(instance);
    return pw_sightings_see(sightings, &held, LEASE_MS, (struct pw_moment){ now_ms, now_ms });
}

/* Otherwise those of a runner that hangs would never be taken. */
TEST(leases_that_rounds_see_are_remembered_however_many_there_are)
{
    struct pw_sightings sightings;
    assert_true(pw_sightings_init(&sightings));
    make_round(&sightings, MANY, 0);
    make_round(&sightings, MANY, LEASE_MS / 2);
    assert_int_equal(see(&sightings, MANY + 1, LEASE_MS), LEASE_MS); /* one that is new */
    for (int64_t i = 1; i <= MANY; i++)
        assert_int_equal(see(&sightings, i, LEASE_MS), 0);
    pw_sightings_clear(&sightings);
}

TEST(where_nobody_makes_rounds_they_are_forgotten_some_time)
{
    struct pw_sightings sightings;
    assert_true(pw_sightings_init(&sightings));
    for (int64_t i = 1; i <= 3 * BOUND; i++) {
        (void)see(&sightings, i, 0);
        assert_true(sightings.count <= BOUND);
    }
    pw_sightings_clear(&sightings);
}

TEST(what_a_round_does_not_see_is_forgotten)
{
    struct pw_sightings sightings;
    assert_true(pw_sightings_init(&sightings));
    make_round(&sightings, 10, 0);
    make_round(&sightings, 5, 1);
    assert_int_equal(sightings.count, 5);
    assert_int_equal(see(&sightings, 5, LEASE_MS), 0);
    assert_int_equal(see(&sightings, 6, LEASE_MS), LEASE_MS);
    pw_sightings_clear(&sightings);
}
