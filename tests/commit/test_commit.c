/* test_commit.c - the group committer (commit.h, C1-C4) over a store that only writes down what it is asked. */
#include "kit/running.h"

#include "base/limits.h"
#include "commit/commit.h"

enum { SEEN_MAX = 8192 };

/* A unit with a number, and with what the store shall say to it. */
struct numbered {
    struct pw_unit unit; /* first: the store finds the rest behind it */
    int number;
    enum pw_refusal refusal;
    pawl_status poison; /* what the whole transaction fails with while this is in it; PAWL_OK: nothing */
    struct fake *fake;
    struct numbered *follow_up; /* submitted when this is answered */
};

/* The committer calls the store from one thread at a time; that is checked, too. */
struct fake {
    struct pw_store store;
    bool ambiguous; /* whether a failed batch was committed is not known */
    struct pw_commit *commit;
    struct gate *gate; /* apply stands at it, when there is one */
    atomic_int inside;
    atomic_bool overlapped;
    pthread_mutex_t lock;
    int applied[SEEN_MAX]; /* numbers of units, in order, that were tried */
    size_t applied_count;
    size_t batches[SEEN_MAX];
    size_t batch_count;
    int answered[SEEN_MAX]; /* numbers of units, in the order of their callbacks */
    pawl_status answers[SEEN_MAX];
    size_t answered_count;
};

static int64_t fake_now(struct pw_store *store)
{
    (void)store;
    return 1;
}

static void write_down(struct fake *fake, struct pw_unit **units, size_t count)
{
    pthread_mutex_lock(&fake->lock);
    assert_true(fake->batch_count < SEEN_MAX);
    fake->batches[fake->batch_count++] = count;
    for (size_t i = 0; i < count; i++) {
        assert_true(fake->applied_count < SEEN_MAX);
        fake->applied[fake->applied_count++] = ((struct numbered *)units[i])->number;
    }
    pthread_mutex_unlock(&fake->lock);
}

static pawl_status fake_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct fake *fake = (struct fake *)store;
    if (atomic_fetch_add(&fake->inside, 1) != 0)
        atomic_store(&fake->overlapped, true);
    write_down(fake, units, count);
    if (fake->gate != NULL)
        (void)gate_pass(fake->gate);
    pawl_status whole = PAWL_OK;
    for (size_t i = 0; i < count && whole == PAWL_OK; i++)
        whole = ((struct numbered *)units[i])->poison;
    for (size_t i = 0; i < count && whole == PAWL_OK; i++) {
        enum pw_refusal refusal = ((struct numbered *)units[i])->refusal;
        pw_unit_begin(units[i]);
        if (refusal != PW_REFUSED_NOT)
            (void)pw_unit_refuse(units[i], refusal);
        pw_unit_answer(units[i], PAWL_OK);
    }
    for (size_t i = 0; i < count; i++)
        units[i]->undone = whole != PAWL_OK && !fake->ambiguous;
    if (whole != PAWL_OK)
        snprintf(error->text, sizeof error->text, "poisoned");
    atomic_fetch_sub(&fake->inside, 1);
    return whole;
}

static const struct pw_store_ops fake_ops = { .name = "fake", .now_ms = fake_now, .apply = fake_apply };

static int set_up(void **state)
{
    struct fake *fake = calloc(1, sizeof *fake);
    assert_non_null(fake);
    fake->store.ops = &fake_ops;
    pthread_mutex_init(&fake->lock, NULL);
    assert_int_equal(pw_commit_new(&fake->store, (struct pw_commit_observer){ .user = NULL }, &fake->commit), PAWL_OK);
    *state = fake;
    return 0;
}

static int tear_down(void **state)
{
    struct fake *fake = *state;
    pw_commit_free(fake->commit);
    bool overlapped = atomic_load(&fake->overlapped);
    pthread_mutex_destroy(&fake->lock);
    free(fake);
    assert_false(overlapped);
    return 0;
}

static const struct test_setting fake_setting = { set_up, tear_down, 0 };

static void note_answer(struct pw_unit *unit, void *user)
{
    struct numbered *numbered = user;
    struct fake *fake = numbered->fake;
    assert_ptr_equal(unit, &numbered->unit);
    assert_false(pw_commit_lead(fake->commit)); /* hangs if the committer's lock were held */
    pthread_mutex_lock(&fake->lock);
    fake->answers[fake->answered_count] = unit->status;
    fake->answered[fake->answered_count++] = numbered->number;
    pthread_mutex_unlock(&fake->lock);
    if (numbered->follow_up != NULL)
        pw_commit_submit(fake->commit, &numbered->follow_up->unit);
}

static void prepare(struct fake *fake, struct numbered *numbered, int number)
{
    memset(numbered, 0, sizeof *numbered);
    pw_unit_init(&numbered->unit);
    numbered->number = number;
    numbered->fake = fake;
    numbered->unit.done = note_answer;
    numbered->unit.user = numbered;
}

static void submit(struct fake *fake, struct numbered *numbered, int number)
{
    prepare(fake, numbered, number);
    pw_commit_submit(fake->commit, &numbered->unit);
}

static size_t answered_count(struct fake *fake)
{
    pthread_mutex_lock(&fake->lock);
    size_t count = fake->answered_count;
    pthread_mutex_unlock(&fake->lock);
    return count;
}

static void await_answers(struct fake *fake, size_t count)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (answered_count(fake) < count && monotonic_ms() < until_ms)
        rest_a_little();
    assert_int_equal(answered_count(fake), count);
}

/* ---- Order and batches ----------------------------------------------------------------------------------------------- */

TEST_OF(fake, C1_units_are_applied_in_the_order_in_which_they_were_submitted)
{
    struct numbered units[20];
    for (int i = 0; i < 20; i++)
        submit(fake, &units[i], i);

    assert_true(pw_commit_lead(fake->commit));

    assert_int_equal(fake->batch_count, 1);
    assert_int_equal(fake->applied_count, 20);
    for (int i = 0; i < 20; i++)
        assert_int_equal(fake->applied[i], i);
}

TEST_OF(fake, more_units_than_fit_into_one_commit_take_several_in_order)
{
    enum { COUNT = 2 * PW_UNITS_PER_COMMIT_MAX + 7 };
    struct numbered *units = calloc(COUNT, sizeof *units);
    for (int i = 0; i < COUNT; i++)
        submit(fake, &units[i], i);

    assert_true(pw_commit_lead(fake->commit));

    assert_int_equal(fake->batch_count, 3);
    assert_int_equal(fake->batches[0], PW_UNITS_PER_COMMIT_MAX);
    assert_int_equal(fake->batches[2], 7);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(fake->answered[i], i);
    free(units);
}

struct waiting_thread {
    struct fake *fake;
    struct numbered unit;
    pthread_t thread;
    pawl_status status;
};

static void *run_unit(void *user)
{
    struct waiting_thread *waiting = user;
    waiting->status = pw_commit_run(waiting->fake->commit, &waiting->unit.unit);
    return NULL;
}

static void start_waiting(struct fake *fake, struct waiting_thread *waiting, int number)
{
    prepare(fake, &waiting->unit, number);
    waiting->fake = fake;
    pthread_create(&waiting->thread, NULL, run_unit, waiting);
}

TEST_OF(fake, units_submitted_while_a_leader_is_blocked_form_one_batch)
{
    struct gate gate;
    struct waiting_thread leader;
    struct numbered units[5];
    gate_init(&gate);
    fake->gate = &gate;
    start_waiting(fake, &leader, 100);
    gate_await(&gate, 1);

    for (int i = 0; i < 5; i++)
        submit(fake, &units[i], i);
    bool led_beside_the_leader = pw_commit_lead(fake->commit);
    gate_open(&gate);
    pthread_join(leader.thread, NULL);

    assert_false(led_beside_the_leader);
    assert_int_equal(leader.status, PAWL_OK);
    assert_int_equal(fake->batch_count, 2);
    assert_int_equal(fake->batches[1], 5);
    assert_int_equal(fake->answered_count, 5);
    gate_clear(&gate);
}

TEST_OF(fake, there_is_nothing_to_lead_when_nothing_is_queued)
{
    assert_false(pw_commit_lead(fake->commit));
    pw_commit_kick(fake->commit);

    assert_int_equal(fake->batch_count, 0);
}

/* ---- Refusals, chains, trouble --------------------------------------------------------------------------------------- */

TEST_OF(fake, a_refused_unit_does_not_disturb_its_neighbours)
{
    struct numbered units[3];
    for (int i = 0; i < 3; i++)
        submit(fake, &units[i], i);
    units[1].refusal = PW_REFUSED_MOVED;

    assert_true(pw_commit_lead(fake->commit));

    assert_int_equal(fake->answers[0], PAWL_OK);
    assert_int_equal(fake->answers[1], PAWL_CONFLICT);
    assert_int_equal(fake->answers[2], PAWL_OK);
    assert_int_equal(fake->batch_count, 1);
}

TEST_OF(fake, C2_a_conflict_breaks_its_chain_and_no_other)
{
    struct numbered units[4];
    struct pw_chain broken = { .broken = PAWL_OK }, whole = { .broken = PAWL_OK };
    submit(fake, &units[0], 0);
    units[0].refusal = PW_REFUSED_MOVED;
    units[0].unit.chain = &broken;
    assert_true(pw_commit_lead(fake->commit));

    for (int i = 1; i < 4; i++) {
        submit(fake, &units[i], i);
        units[i].unit.chain = i == 2 ? &whole : &broken;
    }
    assert_true(pw_commit_lead(fake->commit));

    assert_int_equal(fake->applied_count, 2); /* the first, and that of the other chain */
    assert_int_equal(fake->applied[1], 2);
    assert_int_equal(fake->answers[1], PAWL_CONFLICT);
    assert_int_equal(fake->answers[2], PAWL_OK);
    assert_int_equal(fake->answers[3], PAWL_CONFLICT);
    assert_string_not_equal(units[3].unit.error.text, "");
    assert_int_equal(atomic_load(&whole.broken), PAWL_OK);
}

TEST_OF(fake, C2_a_unit_submitted_while_its_chain_breaks_is_not_applied)
{
    struct gate gate;
    struct waiting_thread leader;
    struct numbered later;
    struct pw_chain chain = { .broken = PAWL_OK };
    gate_init(&gate);
    fake->gate = &gate;
    prepare(fake, &leader.unit, 1);
    leader.fake = fake;
    leader.unit.refusal = PW_REFUSED_MOVED;
    leader.unit.unit.chain = &chain;
    pthread_create(&leader.thread, NULL, run_unit, &leader);
    gate_await(&gate, 1);

    prepare(fake, &later, 2);
    later.unit.chain = &chain;
    pw_commit_submit(fake->commit, &later.unit);
    gate_open(&gate);
    pthread_join(leader.thread, NULL);

    assert_int_equal(leader.status, PAWL_CONFLICT);
    assert_int_equal(fake->applied_count, 1);
    assert_int_equal(fake->answers[0], PAWL_CONFLICT);
    gate_clear(&gate);
}

TEST_OF(fake, C2_trouble_breaks_the_chain_with_what_it_was)
{
    struct numbered units[3];
    struct pw_chain chain = { .broken = PAWL_OK };
    for (int i = 0; i < 3; i++) {
        submit(fake, &units[i], i);
        units[i].unit.chain = i < 2 ? &chain : NULL;
    }
    units[0].poison = PAWL_STORE_FULL;

    assert_true(pw_commit_lead(fake->commit));

    assert_int_equal(fake->answers[0], PAWL_STORE_FULL);
    assert_int_equal(fake->answers[1], PAWL_STORE_FULL);
    assert_int_equal(fake->answers[2], PAWL_OK);
    assert_int_equal(atomic_load(&chain.broken), PAWL_STORE_FULL);
    assert_int_equal(fake->applied_count, 3 + 2); /* all at once; then one by one, but for the chain's second */
}

TEST_OF(fake, C2_a_refusal_that_the_turn_can_answer_leaves_the_chain_whole)
{
    static const enum pw_refusal refusals[] = { PW_REFUSED_NO_INSTANCE,     PW_REFUSED_ENDED,
                                                PW_REFUSED_PAUSE_REQUESTED, PW_REFUSED_NEW_EVENTS,
                                                PW_REFUSED_INSTANCE_EXISTS, PW_REFUSED_EVENT_EXISTS,
                                                PW_REFUSED_TOO_MANY_EVENTS, PW_REFUSED_UNIQUE,
                                                PW_REFUSED_MUTATION_FAILED };
    struct pw_chain chain = { .broken = PAWL_OK };
    struct numbered units[2 * LENGTH(refusals)];

    for (size_t i = 0; i < LENGTH(units); i++) {
        submit(fake, &units[i], (int)i);
        units[i].unit.chain = &chain;
        units[i].refusal = i % 2 == 0 ? refusals[i / 2] : PW_REFUSED_NOT;
        assert_true(pw_commit_lead(fake->commit));
    }

    for (size_t i = 0; i < LENGTH(units); i++)
        assert_int_equal(fake->answers[i], i % 2 == 0 ? pw_refusal_status(refusals[i / 2]) : PAWL_OK);
    assert_int_equal(atomic_load(&chain.broken), PAWL_OK);
}

TEST_OF(fake, C3_a_batch_that_may_have_been_committed_is_not_applied_again)
{
    struct numbered units[3];
    for (int i = 0; i < 3; i++)
        submit(fake, &units[i], i);
    units[1].poison = PAWL_STORE_UNAVAILABLE;
    fake->ambiguous = true;

    assert_true(pw_commit_lead(fake->commit));

    for (int i = 0; i < 3; i++)
        assert_int_equal(fake->answers[i], PAWL_STORE_UNAVAILABLE);
    assert_int_equal(fake->batch_count, 1);
}

TEST_OF(fake, C3_one_bad_unit_fails_alone)
{
    struct numbered units[5];
    for (int i = 0; i < 5; i++)
        submit(fake, &units[i], i);
    units[3].poison = PAWL_NOMEM;

    assert_true(pw_commit_lead(fake->commit));

    for (int i = 0; i < 5; i++) {
        assert_int_equal(fake->answered[i], i);
        assert_int_equal(fake->answers[i], i == 3 ? PAWL_NOMEM : PAWL_OK);
    }
    assert_string_equal(units[3].unit.error.text, "poisoned");
    assert_int_equal(fake->batch_count, 1 + 5);
}

TEST_OF(fake, C3_a_busy_database_is_told_to_units_as_an_unavailable_store)
{
    struct pw_chain chain = { .broken = PAWL_OK };
    struct numbered units[2];
    for (int i = 0; i < 2; i++)
        submit(fake, &units[i], i);
    units[0].unit.chain = &chain;
    units[0].poison = PAWL_BUSY;

    assert_true(pw_commit_lead(fake->commit));

    /* PAWL_BUSY of a unit means that an event came in between, and would leave the chain whole. */
    assert_int_equal(fake->answers[0], PAWL_STORE_UNAVAILABLE);
    assert_int_equal(atomic_load(&chain.broken), PAWL_STORE_UNAVAILABLE);
    assert_true(fake->answers[1] == PAWL_STORE_UNAVAILABLE || fake->answers[1] == PAWL_OK);
}

/* ---- Answers --------------------------------------------------------------------------------------------------------- */

TEST_OF(fake, C4_done_is_called_once_for_each_unit_in_order)
{
    struct numbered units[50];
    for (int i = 0; i < 50; i++) {
        submit(fake, &units[i], i);
        units[i].refusal = i % 7 == 3 ? PW_REFUSED_MOVED : PW_REFUSED_NOT;
    }

    assert_true(pw_commit_lead(fake->commit));
    assert_false(pw_commit_lead(fake->commit));

    assert_int_equal(fake->answered_count, 50);
    for (int i = 0; i < 50; i++)
        assert_int_equal(fake->answered[i], i);
}

TEST_OF(fake, C4_done_may_submit_the_next_unit)
{
    struct numbered first, second;
    submit(fake, &first, 1);
    prepare(fake, &second, 2);
    first.follow_up = &second;

    assert_true(pw_commit_lead(fake->commit));

    assert_int_equal(fake->answered_count, 2); /* the leader goes on while nobody else would */
    assert_int_equal(fake->batch_count, 2);
}

TEST_OF(fake, a_unit_of_another_thread_is_applied_by_a_leader_that_does_not_know_it)
{
    struct gate gate;
    struct waiting_thread first, second;
    gate_init(&gate);
    fake->gate = &gate;
    start_waiting(fake, &first, 1);
    gate_await(&gate, 1);

    start_waiting(fake, &second, 2);
    gate_open(&gate);
    pthread_join(first.thread, NULL);
    pthread_join(second.thread, NULL);

    assert_int_equal(first.status, PAWL_OK);
    assert_int_equal(second.status, PAWL_OK);
    assert_int_equal(fake->applied_count, 2);
    gate_clear(&gate);
}

enum { CROWD = 8, CROWD_UNITS = RUNNING_SLOWLY ? 100 : 400 };

struct crowd_member {
    struct fake *fake;
    int member;
    pthread_t thread;
    int wrong;
};

static void *run_many(void *user)
{
    struct crowd_member *own = user;
    for (int i = 0; i < CROWD_UNITS; i++) {
        struct numbered unit;
        prepare(own->fake, &unit, own->member * CROWD_UNITS + i);
        unit.refusal = i % 5 == 0 ? PW_REFUSED_MOVED : PW_REFUSED_NOT;
        if (pw_commit_run(own->fake->commit, &unit.unit) != pw_refusal_status(unit.refusal))
            own->wrong++;
        pw_unit_clear(&unit.unit);
    }
    return NULL;
}

static void check_crowd(const struct fake *fake)
{
    int next[CROWD] = { 0 };
    assert_int_equal(fake->applied_count, CROWD * CROWD_UNITS);
    for (size_t i = 0; i < fake->applied_count; i++) {
        int member = fake->applied[i] / CROWD_UNITS;
        assert_int_equal(fake->applied[i] % CROWD_UNITS, next[member]);
        next[member]++;
    }
}

TEST_OF(fake, every_one_of_many_waiting_threads_gets_its_own_answer)
{
    struct crowd_member crowd[CROWD];
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = (struct crowd_member){ .fake = fake, .member = i };
        pthread_create(&crowd[i].thread, NULL, run_many, &crowd[i]);
    }
    for (int i = 0; i < CROWD; i++)
        pthread_join(crowd[i].thread, NULL);

    for (int i = 0; i < CROWD; i++)
        assert_int_equal(crowd[i].wrong, 0);
    check_crowd(fake);
}

/* ---- The serving thread ---------------------------------------------------------------------------------------------- */

TEST_OF(fake, the_serving_thread_takes_what_nobody_else_leads)
{
    struct numbered units[3];
    assert_true(pw_commit_start(fake->commit));

    for (int i = 0; i < 3; i++)
        submit(fake, &units[i], i);
    await_answers(fake, 3);
    pw_commit_stop(fake->commit);

    for (int i = 0; i < 3; i++)
        assert_int_equal(fake->answered[i], i);
}

TEST_OF(fake, a_kick_hands_the_queue_to_the_serving_thread)
{
    enum { ROUNDS = 200 };
    struct numbered units[ROUNDS];
    assert_true(pw_commit_start(fake->commit));

    for (int i = 0; i < ROUNDS; i++) {
        submit(fake, &units[i], i);
        pw_commit_kick(fake->commit);
    }
    await_answers(fake, ROUNDS);
    pw_commit_stop(fake->commit);

    for (int i = 0; i < ROUNDS; i++)
        assert_int_equal(fake->answered[i], i);
}

TEST_OF(fake, what_is_queued_at_dismissal_is_still_applied)
{
    struct gate gate;
    struct numbered units[3];
    gate_init(&gate);
    fake->gate = &gate;
    assert_true(pw_commit_start(fake->commit));
    submit(fake, &units[0], 0);
    pw_commit_kick(fake->commit);
    gate_await(&gate, 1);
    submit(fake, &units[1], 1);
    submit(fake, &units[2], 2);

    pw_commit_set_served(fake->commit, false);
    gate_open(&gate);
    pw_commit_stop(fake->commit);

    assert_int_equal(fake->answered_count, 3);
    gate_clear(&gate);
}

TEST_OF(fake, a_committer_can_be_served_again_after_a_dismissal)
{
    struct numbered units[2];
    for (int i = 0; i < 2; i++) {
        assert_true(pw_commit_start(fake->commit));
        submit(fake, &units[i], i);
        await_answers(fake, (size_t)i + 1);
        pw_commit_stop(fake->commit);
    }

    assert_int_equal(fake->answered_count, 2);
}

TEST_OF(fake, many_threads_and_a_serving_one_share_the_baton)
{
    struct crowd_member crowd[CROWD];
    assert_true(pw_commit_start(fake->commit));
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = (struct crowd_member){ .fake = fake, .member = i };
        pthread_create(&crowd[i].thread, NULL, run_many, &crowd[i]);
    }
    for (int i = 0; i < CROWD; i++)
        pthread_join(crowd[i].thread, NULL);
    pw_commit_stop(fake->commit);

    check_crowd(fake);
}

/* ---- The end --------------------------------------------------------------------------------------------------------- */

TEST_OF(fake, what_is_queued_when_the_committer_is_freed_is_answered_as_stopped)
{
    struct numbered units[3];
    struct pw_chain chain = { .broken = PAWL_OK };
    for (int i = 0; i < 3; i++)
        submit(fake, &units[i], i);
    units[1].unit.chain = &chain;

    pw_commit_free(fake->commit);
    fake->commit = NULL;

    assert_int_equal(atomic_load(&chain.broken), PAWL_STOPPED); /* its turn must not go on */

    assert_int_equal(fake->applied_count, 0);
    assert_int_equal(fake->answered_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fake->answered[i], i);
        assert_int_equal(fake->answers[i], PAWL_STOPPED);
        assert_string_not_equal(units[i].unit.error.text, "");
    }
    pw_commit_free(NULL);
}
