/* test_shards.c - which shard an instance is in, and which runner owns it (F5). */
#include "engine/shards.h"
#include "kit/test.h"

enum { RUNNERS_MAX = 50, IDS = 20000 };

static const struct pw_text order = { "order", 5 };

static int shard(const char *workflow, const char *id)
{
    return pw_shard_of(pw_text_of(workflow), pw_text_of(id));
}

/* The numbers are in databases. */
TEST(the_shard_of_an_instance_never_changes)
{
    assert_int_equal(shard("order", "a"), 210);
    assert_int_equal(shard("order", "order-1"), 34);
    assert_int_equal(shard("refund", "order-1"), 14);
    assert_int_equal(shard("order", "01hk153x003v2z0r8y4w5t6q7s"), 26);
    assert_int_equal(shard("a", "bc"), 68);
    assert_int_equal(shard("ab", "c"), 127);
    assert_int_equal(pw_shard_of((struct pw_text){ NULL, 0 }, (struct pw_text){ NULL, 0 }), 210);
}

TEST(ids_that_differ_little_are_spread_over_all_shards)
{
    int counts[PW_SHARD_COUNT] = { 0 };
    for (int i = 0; i < IDS; i++) {
        char id[24];
        (void)snprintf(id, sizeof id, "order-%d", i);
        int at = shard("order", id);
        assert_in_range(at, 0, PW_SHARD_COUNT - 1);
        counts[at]++;
    }
    for (int i = 0; i < PW_SHARD_COUNT; i++)
        assert_in_range(counts[i], IDS / PW_SHARD_COUNT / 2, IDS / PW_SHARD_COUNT * 2);
}

/* Their numbers follow one another, which chance would not do: the worst case for the hash. */
static void make_runners(struct pw_runner_row *runners, size_t count)
{
    for (size_t i = 0; i < count; i++)
        runners[i] = (struct pw_runner_row){ .owner = (int64_t)i + 1,
                                             .workflows = pw_text_of("invoice order refund"),
                                             .is_sharing = true };
}

TEST(each_shard_has_one_owner_and_owners_have_about_as_many)
{
    struct pw_runner_row runners[RUNNERS_MAX];
    size_t owners[PW_SHARD_COUNT];
    make_runners(runners, RUNNERS_MAX);
    for (size_t count = 1; count <= RUNNERS_MAX; count++) {
        size_t owned[RUNNERS_MAX] = { 0 }, mean = PW_SHARD_COUNT / count;
        pw_shard_owners(runners, count, order, owners);
        for (size_t i = 0; i < PW_SHARD_COUNT; i++) {
            assert_true(owners[i] < count);
            owned[owners[i]]++;
        }
        for (size_t i = 0; i < count; i++) /* what chance allows so few shards */
            assert_in_range(owned[i], count <= 8 ? mean * 6 / 10 : 0, mean * 14 / 10 + 10);
    }
}

TEST(only_the_shards_of_a_runner_that_goes_move)
{
    struct pw_runner_row runners[RUNNERS_MAX];
    size_t before[PW_SHARD_COUNT], after[PW_SHARD_COUNT];
    for (size_t count = 2; count <= RUNNERS_MAX; count += 6) {
        for (size_t gone = 0; gone < count; gone++) {
            make_runners(runners, count);
            pw_shard_owners(runners, count, order, before);
            runners[gone].is_sharing = false; /* it was stopped, or is not there: the same to the others */
            pw_shard_owners(runners, count, order, after);
            for (size_t i = 0; i < PW_SHARD_COUNT; i++) {
                assert_true(after[i] != gone);
                assert_true(before[i] == gone || after[i] == before[i]);
            }
        }
    }
}

/* Whatever the order in which a runner reads the others. */
TEST(all_come_to_the_same_answer)
{
    struct pw_runner_row runners[7], reversed[7];
    size_t one[PW_SHARD_COUNT], other[PW_SHARD_COUNT];
    make_runners(runners, 7);
    for (size_t i = 0; i < 7; i++)
        reversed[i] = runners[6 - i];
    pw_shard_owners(runners, 7, order, one);
    pw_shard_owners(reversed, 7, order, other);
    for (size_t i = 0; i < PW_SHARD_COUNT; i++)
        assert_int_equal(runners[one[i]].owner, reversed[other[i]].owner);
}

/* A17: a fleet may be deployed piece by piece. */
TEST(only_runners_that_have_the_workflow_own_its_shards)
{
    struct pw_runner_row runners[4];
    size_t owners[PW_SHARD_COUNT];
    make_runners(runners, 4);
    runners[0].workflows = pw_text_of("order");
    runners[1].workflows = pw_text_of("orders reorder");
    runners[2].workflows = pw_text_of("");
    runners[3].workflows = (struct pw_text){ NULL, 0 };
    pw_shard_owners(runners, 4, order, owners);
    for (size_t i = 0; i < PW_SHARD_COUNT; i++)
        assert_int_equal(owners[i], 0);
    pw_shard_owners(runners, 4, pw_text_of("reorder"), owners);
    assert_int_equal(owners[0], 1);
    pw_shard_owners(runners, 4, pw_text_of("refund"), owners);
    assert_int_equal(owners[255], 4);
    assert_false(pw_runner_shares(&runners[2], pw_text_of("")));
}
