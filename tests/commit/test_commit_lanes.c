/* test_commit_lanes.c - a committer with several queues, its observer, and sending without waiting. */
#include "kit/running.h"

#include "commit/commit.h"

enum { LANES = 4, UNITS = 64, INSTANCES = 8 };

struct fake;

struct told {
    struct pw_unit unit; /* first: the store finds the rest behind it */
    struct fake *fake;
    int64_t instance;
    int number;
};

/* Writes down the order in which each instance's units were applied and answered. */
struct fake {
    struct pw_store store;
    struct pw_commit *commit;
    struct gate *gate; /* where the units of `gated` stand, or NULL */
    int64_t gated;
    pthread_mutex_t lock;
    int applied[INSTANCES + 1], answered[INSTANCES + 1]; /* the newest number of each */
    bool out_of_order;
    size_t observed, observed_units;
    pawl_status whole;
    pthread_t applier; /* of the newest batch */
};

static int64_t fake_now(struct pw_store *store)
{
    (void)store;
    return 1;
}

static size_t fake_queues(struct pw_store *store)
{
    (void)store;
    return LANES;
}

static pawl_status fake_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct fake *fake = (struct fake *)store;
    bool stands = false;
    (void)error;
    pthread_mutex_lock(&fake->lock);
    fake->applier = pthread_self();
    for (size_t i = 0; i < count; i++) {
        struct told *told = (struct told *)units[i];
        fake->out_of_order |= told->number != fake->applied[told->instance] + 1;
        fake->applied[told->instance] = told->number;
        stands |= fake->gate != NULL && told->instance == fake->gated;
        units[i]->status = PAWL_OK;
    }
    pawl_status whole = fake->whole;
    pthread_mutex_unlock(&fake->lock);
    if (stands)
        (void)gate_pass(fake->gate);
    return whole;
}

static void observe(void *user, struct pw_unit **units, size_t count, pawl_status whole, int64_t took_us)
{
    struct fake *fake = user;
    assert_true(took_us >= 0);
    pthread_mutex_lock(&fake->lock);
    for (size_t i = 0; i < count; i++) {
        struct told *told = (struct told *)units[i];
        fake->out_of_order |= fake->answered[told->instance] >= told->number; /* observed before it is answered */
    }
    fake->observed++;
    fake->observed_units += whole == PAWL_OK ? count : 0;
    pthread_mutex_unlock(&fake->lock);
}

static const struct pw_store_ops fake_ops = {
    .name = "fake", .now_ms = fake_now, .queues = fake_queues, .apply = fake_apply
};

static int set_up(void **state)
{
    struct fake *fake = calloc(1, sizeof *fake);
    fake->store.ops = &fake_ops;
    pthread_mutex_init(&fake->lock, NULL);
    struct pw_commit_observer observer = { .applied = observe, .user = fake };
    assert_int_equal(pw_commit_new(&fake->store, observer, &fake->commit), PAWL_OK);
    *state = fake;
    return 0;
}

static int tear_down(void **state)
{
    struct fake *fake = *state;
    pw_commit_free(fake->commit);
    pthread_mutex_destroy(&fake->lock);
    free(fake);
    return 0;
}

static const struct test_setting fake_setting = { set_up, tear_down, 0 };

static void note_answer(struct pw_unit *unit, void *user)
{
    struct told *told = (struct told *)unit;
    struct fake *fake = told->fake;
    (void)user;
    pthread_mutex_lock(&fake->lock);
    fake->out_of_order |= told->number != fake->answered[told->instance] + 1;
    fake->answered[told->instance] = told->number;
    pthread_mutex_unlock(&fake->lock);
}

/* A unit of a turn: it begins with a fence. */
static void prepare(struct fake *fake, struct told *told, int64_t instance, int number)
{
    memset(told, 0, sizeof *told);
    pw_unit_init(&told->unit);
    told->fake = fake;
    told->instance = instance;
    told->number = number;
    told->unit.done = note_answer;
    told->unit.about = (uint64_t)instance;
    pw_unit_add(&told->unit, PW_OP_FENCE)->as.fence.at.instance = instance;
}

TEST_OF(fake, there_is_a_queue_for_each_transaction_that_the_store_can_carry_out)
{
    assert_int_equal(pw_commit_threads(fake->commit), LANES + 1);
}

static size_t no_queues(struct pw_store *store)
{
    (void)store;
    return 0;
}

TEST_OF(fake, a_store_that_knows_of_no_queue_has_one)
{
    static const struct pw_store_ops ops = {
        .name = "fake", .now_ms = fake_now, .queues = no_queues, .apply = fake_apply
    };
    struct told told;
    pw_commit_free(fake->commit);
    fake->store.ops = &ops;
    assert_int_equal(pw_commit_new(&fake->store, (struct pw_commit_observer){ .user = NULL }, &fake->commit), PAWL_OK);

    assert_int_equal(pw_commit_threads(fake->commit), 1 + 1);
    prepare(fake, &told, 1, 1);
    assert_int_equal(pw_commit_run(fake->commit, &told.unit), PAWL_OK);
    pw_unit_clear(&told.unit);
}

TEST_OF(fake, C1_units_of_one_instance_keep_their_order)
{
    static struct told units[UNITS];
    for (int i = 0; i < UNITS; i++) {
        prepare(fake, &units[i], 1 + i % INSTANCES, 1 + i / INSTANCES);
        pw_commit_submit(fake->commit, &units[i].unit);
    }

    assert_true(pw_commit_lead(fake->commit));
    assert_false(pw_commit_lead(fake->commit));

    assert_false(fake->out_of_order);
    for (int i = 1; i <= INSTANCES; i++)
        assert_int_equal(fake->answered[i], UNITS / INSTANCES);
    assert_int_equal(fake->observed, LANES);
    assert_int_equal(fake->observed_units, UNITS);
    for (int i = 0; i < UNITS; i++)
        pw_unit_clear(&units[i].unit);
}

static void *run_unit(void *user)
{
    struct told *told = user;
    (void)pw_commit_run(told->fake->commit, &told->unit);
    return NULL;
}

TEST_OF(fake, a_queue_that_is_held_up_holds_up_no_other)
{
    struct told held, free_one;
    struct gate gate;
    pthread_t thread;
    gate_init(&gate);
    fake->gate = &gate;
    fake->gated = 1;
    prepare(fake, &held, 1, 1);
    prepare(fake, &free_one, 2, 1); /* the next queue's */
    assert_int_equal(pthread_create(&thread, NULL, run_unit, &held), 0);
    gate_await(&gate, 1);

    assert_int_equal(pw_commit_run(fake->commit, &free_one.unit), PAWL_OK);

    assert_false(held.unit.answered);
    gate_open(&gate);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(held.unit.answered);
    pw_unit_clear(&held.unit);
    pw_unit_clear(&free_one.unit);
    gate_clear(&gate);
}

TEST_OF(fake, what_is_sent_is_applied_at_once_where_nobody_serves)
{
    struct told told;
    prepare(fake, &told, 3, 1);

    pw_commit_send(fake->commit, &told.unit);

    assert_int_equal(fake->answered[3], 1);
    assert_true(pthread_equal(fake->applier, pthread_self()));
    pw_unit_clear(&told.unit);
}

TEST_OF(fake, what_is_sent_is_applied_by_the_queues_serving_thread)
{
    static struct told units[UNITS];
    assert_true(pw_commit_start(fake->commit));

    for (int i = 0; i < UNITS; i++) {
        prepare(fake, &units[i], 1 + i % INSTANCES, 1 + i / INSTANCES);
        pw_commit_send(fake->commit, &units[i].unit);
    }
    pw_commit_stop(fake->commit);

    assert_false(fake->out_of_order);
    assert_false(pthread_equal(fake->applier, pthread_self()));
    for (int i = 1; i <= INSTANCES; i++)
        assert_int_equal(fake->answered[i], UNITS / INSTANCES);
    for (int i = 0; i < UNITS; i++)
        pw_unit_clear(&units[i].unit);
}

TEST_OF(fake, a_transaction_that_failed_is_observed_as_such)
{
    struct told told;
    fake->whole = PAWL_STORE_UNAVAILABLE;
    prepare(fake, &told, 1, 1);

    assert_int_equal(pw_commit_run(fake->commit, &told.unit), PAWL_STORE_UNAVAILABLE);

    assert_int_equal(fake->observed, 1);
    assert_int_equal(fake->observed_units, 0);
    pw_unit_clear(&told.unit);
}

TEST_OF(fake, what_is_about_one_instance_has_one_queue)
{
    struct pw_unit first, second, other;
    pw_unit_init(&first);
    pw_unit_init(&second);
    pw_unit_init(&other);
    pw_unit_about(&first, pw_text_of("a"));
    pw_unit_about(&second, pw_text_of("a"));
    pw_unit_about(&other, pw_text_of("b"));
    assert_int_equal(first.about, second.about);
    assert_int_not_equal(first.about, other.about);
}

static size_t last_queue(struct pw_store *store, const struct pw_unit *unit)
{
    (void)store;
    (void)unit;
    return LANES - 1;
}

/* By their keys they would be in two. */
TEST_OF(fake, a_store_may_say_itself_which_queue_a_unit_belongs_to)
{
    struct pw_store_ops choosing = fake_ops;
    struct told units[2];
    choosing.queue_of = last_queue;
    fake->store.ops = &choosing;
    for (int i = 0; i < 2; i++) {
        prepare(fake, &units[i], i + 1, 1);
        pw_commit_submit(fake->commit, &units[i].unit);
    }
    assert_true(pw_commit_lead(fake->commit));
    assert_int_equal(fake->observed, 1);
    assert_int_equal(fake->observed_units, 2);
    fake->store.ops = &fake_ops;
    for (int i = 0; i < 2; i++)
        pw_unit_clear(&units[i].unit);
}
