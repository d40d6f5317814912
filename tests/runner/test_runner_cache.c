/* test_runner_cache.c - warm runs: which histories are kept, for whom, and which are let go of first. */
#include "kit/test.h"
#include "runner/cache.h"

static struct pw_fence fence_of(int64_t instance, int64_t run, int64_t epoch)
{
    return (struct pw_fence){ .instance = instance, .run = run, .epoch = epoch };
}

/* Told from others by its time of creation. */
static struct pw_history *history_of(int64_t mark)
{
    struct pw_history *history = pw_history_new();
    assert_non_null(history);
    history->created_at_ms = mark;
    return history;
}

static void put(struct pw_cache *cache, int64_t instance, int64_t epoch, int64_t mark)
{
    const struct pw_fence fence = fence_of(instance, 1, epoch);
    pw_cache_put(cache, &fence, history_of(mark));
}

/* The mark of what a claim with that epoch finds; 0: nothing. */
static int64_t take(struct pw_cache *cache, int64_t instance, int64_t run, int64_t epoch)
{
    const struct pw_fence claimed = fence_of(instance, run, epoch);
    struct pw_history *history = pw_cache_take(cache, &claimed);
    int64_t mark = history != NULL ? history->created_at_ms : 0;
    pw_history_free(history);
    return mark;
}

TEST(a_history_is_good_for_the_very_next_claim_and_for_no_other)
{
    struct pw_cache cache = { .bytes_max = 1 << 20 };

    assert_int_equal(take(&cache, 1, 1, 1), 0);
    put(&cache, 1, 5, 10);
    assert_int_equal(take(&cache, 1, 1, 6), 10);
    assert_int_equal(take(&cache, 1, 1, 6), 0);

    put(&cache, 1, 5, 11);
    assert_int_equal(take(&cache, 1, 1, 7), 0); /* somebody else had it in between */
    assert_int_equal(take(&cache, 1, 1, 6), 0); /* and then it is gone */
    put(&cache, 1, 5, 12);
    assert_int_equal(take(&cache, 1, 2, 6), 0); /* it was restarted */
    assert_int_equal(cache.count, 0);
    assert_int_equal(cache.bytes, 0);
    pw_cache_clear(&cache);
}

TEST(a_newer_history_takes_the_place_of_the_one_before)
{
    struct pw_cache cache = { .bytes_max = 1 << 20 };

    put(&cache, 1, 5, 10);
    put(&cache, 2, 1, 20);
    put(&cache, 1, 7, 11);

    assert_int_equal(cache.count, 2);
    assert_int_equal(take(&cache, 1, 1, 8), 11);
    assert_int_equal(take(&cache, 2, 1, 2), 20);
    pw_cache_clear(&cache);
}

TEST(the_least_recently_parked_are_let_go_of_first)
{
    struct pw_cache cache = { .bytes_max = 1 << 20 };
    put(&cache, 1, 1, 10);
    size_t each = cache.bytes;
    cache.bytes_max = 5 * each;

    for (int64_t instance = 2; instance <= 7; instance++)
        put(&cache, instance, 1, 10 * instance);

    assert_int_equal(cache.count, 5);
    assert_int_equal(take(&cache, 1, 1, 2), 0);
    assert_int_equal(take(&cache, 2, 1, 2), 0);
    for (int64_t instance = 3; instance <= 7; instance++)
        assert_int_equal(take(&cache, instance, 1, 2), 10 * instance);
    pw_cache_clear(&cache);
}

/* One run must not turn all others out. */
TEST(a_history_of_more_than_a_quarter_of_the_cache_is_not_kept)
{
    struct pw_cache cache = { .bytes_max = 1 << 20 };
    put(&cache, 1, 1, 10);
    cache.bytes_max = 4 * cache.bytes - 1;

    put(&cache, 2, 1, 20);

    assert_int_equal(cache.count, 1);
    assert_int_equal(take(&cache, 2, 1, 2), 0);
    assert_int_equal(take(&cache, 1, 1, 2), 10);
    pw_cache_clear(&cache);
}

TEST(a_thousand_histories_are_found_each_by_its_instance)
{
    enum { MANY = 1000 };
    struct pw_cache cache = { .bytes_max = 64 << 20 };

    for (int64_t instance = 1; instance <= MANY; instance++)
        put(&cache, instance, instance, 2 * instance);

    for (int64_t instance = MANY; instance >= 1; instance--)
        assert_int_equal(take(&cache, instance, 1, instance + 1), 2 * instance);
    assert_int_equal(cache.count, 0);
    pw_cache_clear(&cache);
}
