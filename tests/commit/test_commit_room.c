/* test_commit_room.c - what the committer keeps from its callbacks, and from its queue (commit.h, C4-C6), over a store that
 * does nothing. */
#include "kit/running.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bar.h"
#include "base/limits.h"
#include "commit/commit.h"

enum { LANES_MAX = 2, BIG = 1024 * 1024 };

struct fake {
    struct pw_store store;
    struct pw_commit *commit;
    size_t queues;
    struct gate *gate; /* apply stands at it, when there is one */
    atomic_size_t applied, answered, submitted, most;
    bool observer_was_barred;
};

static int64_t fake_now(struct pw_store *store)
{
    (void)store;
    return 1;
}

static size_t fake_queues(struct pw_store *store)
{
    return ((struct fake *)store)->queues;
}

static size_t fake_queue_of(struct pw_store *store, const struct pw_unit *unit)
{
    return (size_t)(unit->about % ((struct fake *)store)->queues);
}

static pawl_status fake_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct fake *fake = (struct fake *)store;
    (void)error;
    if (fake->gate != NULL)
        (void)gate_pass(fake->gate);
    for (size_t i = 0; i < count; i++)
        units[i]->status = PAWL_OK;
    atomic_fetch_add(&fake->applied, count);
    return PAWL_OK;
}

static const struct pw_store_ops fake_ops = {
    .name = "fake", .now_ms = fake_now, .queues = fake_queues, .queue_of = fake_queue_of, .apply = fake_apply
};

static void observe(void *user, struct pw_unit **units, size_t count, pawl_status whole, int64_t took_us)
{
    (void)units;
    (void)count;
    (void)whole;
    (void)took_us;
    ((struct fake *)user)->observer_was_barred = pw_store_is_barred();
}

static void open_fake(struct fake *fake, size_t queues)
{
    memset(fake, 0, sizeof *fake);
    fake->store.ops = &fake_ops;
    fake->queues = queues;
    assert_int_equal(
        pw_commit_new(&fake->store, (struct pw_commit_observer){ .applied = observe, .user = fake }, &fake->commit),
        PAWL_OK);
}

/* A unit about an instance, and what its callback does. */
struct piece {
    struct pw_unit unit;
    struct fake *fake;
    struct pw_chore chore;
    bool leaves_chore, was_barred, is_own; /* is_own: it is freed with its answer */
    struct piece *sends;                   /* or NULL */
    atomic_int chores_done;
    bool chore_was_barred;
    size_t answered_before_chore;
    struct gate *gate; /* the chore stands at it; or NULL */
};

static void do_chore(void *user)
{
    struct piece *piece = user;
    piece->chore_was_barred = pw_store_is_barred();
    piece->answered_before_chore = atomic_load(&piece->fake->answered);
    if (piece->gate != NULL)
        (void)gate_pass(piece->gate);
    atomic_fetch_add(&piece->chores_done, 1);
}

static void answered(struct pw_unit *unit, void *user)
{
    struct piece *piece = user;
    piece->was_barred = pw_store_is_barred();
    atomic_fetch_add(&piece->fake->answered, 1);
    if (piece->leaves_chore)
        pw_commit_later(piece->fake->commit, &piece->chore);
    if (piece->sends != NULL)
        pw_commit_send(piece->fake->commit, &piece->sends->unit);
    pw_unit_clear(unit);
    if (piece->is_own)
        free(piece);
}

static void prepare(struct piece *piece, struct fake *fake, int64_t instance)
{
    memset(piece, 0, sizeof *piece);
    pw_unit_init(&piece->unit);
    struct pw_op *op = pw_unit_add(&piece->unit, PW_OP_FENCE);
    assert_non_null(op);
    op->as.fence.at.instance = instance;
    piece->unit.about = (uint64_t)instance;
    piece->fake = fake;
    piece->unit.done = answered;
    piece->unit.user = piece;
    piece->chore = (struct pw_chore){ .run = do_chore, .user = piece };
}

/* One that frees itself; how many wait at most is noted. */
static void submit_one(struct fake *fake)
{
    struct piece *piece = malloc(sizeof *piece);
    assert_non_null(piece);
    prepare(piece, fake, 1);
    piece->is_own = true;
    size_t submitted = atomic_fetch_add(&fake->submitted, 1) + 1, answered = atomic_load(&fake->answered);
    size_t waiting = submitted > answered ? submitted - answered : 0; /* others may have come and gone in between */
    size_t most = atomic_load(&fake->most);
    while (waiting > most && !atomic_compare_exchange_weak(&fake->most, &most, waiting))
        continue;
    pw_commit_submit(fake->commit, &piece->unit);
}

/* ---- Threads -------------------------------------------------------------------------------------------------- */

static void await_answered(struct fake *fake, size_t count)
{
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; atomic_load(&fake->answered) < count;) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
}

/* ---- C4: callbacks and the store ------------------------------------------------------------------------------- */

TEST(C4_the_store_is_barred_in_callbacks_and_in_the_observer_and_nowhere_else)
{
    struct fake fake;
    struct piece piece;
    open_fake(&fake, 1);
    prepare(&piece, &fake, 1);
    pw_commit_submit(fake.commit, &piece.unit);

    assert_true(pw_commit_lead(fake.commit));

    assert_true(piece.was_barred);
    assert_true(fake.observer_was_barred);
    assert_false(pw_store_is_barred());
    pw_commit_free(fake.commit);
}

static void call_the_store(struct pw_unit *unit, void *user)
{
    struct piece *piece = user;
    (void)unit;
    (void)pw_ops(&piece->fake->store);
}

static void wait_for_a_commit(struct pw_unit *unit, void *user)
{
    struct piece *piece = user, *other = piece->sends;
    (void)unit;
    (void)pw_commit_run(piece->fake->commit, &other->unit);
}

/* In a process of its own, whose last words nobody needs. */
static int signal_of_a_callback_that(void (*done)(struct pw_unit *unit, void *user))
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct fake fake;
        struct piece piece, other;
        (void)freopen("/dev/null", "w", stderr);
        (void)signal(SIGABRT, SIG_DFL);
        open_fake(&fake, 1);
        prepare(&piece, &fake, 1);
        prepare(&other, &fake, 2);
        piece.sends = &other;
        piece.unit.done = done;
        pw_commit_submit(fake.commit, &piece.unit);
        (void)pw_commit_lead(fake.commit);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(C4_a_callback_that_calls_the_store_or_waits_is_found_out)
{
    assert_int_equal(signal_of_a_callback_that(call_the_store), SIGABRT);
    assert_int_equal(signal_of_a_callback_that(wait_for_a_commit), SIGABRT);
    assert_int_equal(signal_of_a_callback_that(answered), 0);
}

TEST(C4_what_a_callback_sends_to_another_queue_is_applied_although_nobody_serves)
{
    struct fake fake;
    struct piece first, second, third;
    open_fake(&fake, 2);
    prepare(&first, &fake, 1);
    prepare(&second, &fake, 2);
    prepare(&third, &fake, 1);
    first.sends = &second;
    second.sends = &third;

    pw_commit_send(fake.commit, &first.unit);

    assert_int_equal(atomic_load(&fake.answered), 3);
    pw_commit_free(fake.commit);
}

/* ---- C5: chores -------------------------------------------------------------------------------------------------- */

TEST(C5_a_chore_runs_at_once_where_the_store_is_free)
{
    struct fake fake;
    struct piece piece;
    open_fake(&fake, 1);
    prepare(&piece, &fake, 1);

    pw_commit_later(fake.commit, &piece.chore);

    assert_int_equal(atomic_load(&piece.chores_done), 1);
    pw_unit_clear(&piece.unit);
    pw_commit_free(fake.commit);
}

TEST(C5_where_nobody_serves_who_led_does_the_chores_of_its_callbacks)
{
    struct fake fake;
    struct piece pieces[3];
    open_fake(&fake, 1);
    for (int i = 0; i < 3; i++) {
        prepare(&pieces[i], &fake, 1);
        pieces[i].leaves_chore = true;
        pw_commit_submit(fake.commit, &pieces[i].unit);
    }

    assert_true(pw_commit_lead(fake.commit));

    for (int i = 0; i < 3; i++) {
        assert_int_equal(atomic_load(&pieces[i].chores_done), 1);
        assert_false(pieces[i].chore_was_barred);
        assert_int_equal(pieces[i].answered_before_chore, 3);
    }
    pw_commit_free(fake.commit);
}

TEST(C5_a_chore_that_takes_long_keeps_nobody_from_committing)
{
    struct fake fake;
    struct gate gate;
    struct piece slow, other;
    gate_init(&gate);
    open_fake(&fake, 1);
    assert_true(pw_commit_start(fake.commit));
    prepare(&slow, &fake, 1);
    prepare(&other, &fake, 1);
    slow.leaves_chore = true;
    slow.gate = &gate;
    pw_commit_send(fake.commit, &slow.unit);
    gate_await(&gate, 1);

    assert_int_equal(pw_commit_run(fake.commit, &other.unit), PAWL_OK);

    assert_int_equal(atomic_load(&slow.chores_done), 0);
    gate_open(&gate);
    pw_commit_stop(fake.commit);
    assert_int_equal(atomic_load(&slow.chores_done), 1);
    assert_false(slow.chore_was_barred);
    pw_unit_clear(&other.unit);
    pw_commit_free(fake.commit);
    gate_clear(&gate);
}

TEST(C5_chores_that_are_left_when_the_committer_is_freed_are_done)
{
    struct fake fake;
    struct piece piece, later;
    open_fake(&fake, 1);
    prepare(&piece, &fake, 1);
    prepare(&later, &fake, 1);
    piece.leaves_chore = true;
    piece.sends = &later;
    pw_commit_submit(fake.commit, &piece.unit);

    pw_commit_free(fake.commit);

    assert_int_equal(atomic_load(&fake.applied), 0);
    assert_int_equal(atomic_load(&fake.answered), 2);
    assert_int_equal(atomic_load(&piece.chores_done), 1);
    assert_int_equal(later.unit.status, PAWL_STOPPED);
}

/* ---- C6: room ---------------------------------------------------------------------------------------------------- */

struct waiting {
    pthread_t thread;
    struct fake *fake;
    size_t count; /* units to submit, one behind the other */
    atomic_bool done;
};

static void *submit_many(void *user)
{
    struct waiting *waiting = user;
    for (size_t i = 0; i < waiting->count; i++) {
        pw_commit_await_room(waiting->fake->commit, 1);
        submit_one(waiting->fake);
    }
    atomic_store(&waiting->done, true);
    return NULL;
}

static void *lead_all(void *user)
{
    (void)pw_commit_lead(user);
    return NULL;
}

TEST(C6_who_fills_the_queue_waits_and_who_does_not_ask_is_let_in)
{
    struct fake fake;
    struct gate gate;
    struct piece probe;
    pthread_t leader;
    gate_init(&gate);
    open_fake(&fake, 1);
    fake.gate = &gate;
    prepare(&probe, &fake, 1);
    submit_one(&fake);
    assert_int_equal(pthread_create(&leader, NULL, lead_all, fake.commit), 0);
    gate_await(&gate, 1); /* the store answers nobody from here on */
    for (int i = 1; i < PW_QUEUE_UNITS_MAX; i++) {
        assert_true(pw_commit_has_room(fake.commit, &probe.unit));
        submit_one(&fake);
    }
    assert_false(pw_commit_has_room(fake.commit, &probe.unit));
    struct waiting waiting = { .fake = &fake, .count = 1 };
    assert_int_equal(pthread_create(&waiting.thread, NULL, submit_many, &waiting), 0);
    submit_one(&fake); /* as a callback does */

    for (int i = 0; i < 20; i++)
        rest_a_little();
    assert_false(atomic_load(&waiting.done));
    gate_open(&gate);
    pthread_join(waiting.thread, NULL);
    pthread_join(leader, NULL);
    while (pw_commit_lead(fake.commit))
        continue;

    assert_int_equal(atomic_load(&fake.answered), PW_QUEUE_UNITS_MAX + 2);
    assert_true(pw_commit_has_room(fake.commit, &probe.unit));
    pw_unit_clear(&probe.unit);
    pw_commit_free(fake.commit);
    gate_clear(&gate);
}

TEST(C6_large_units_fill_the_queue_by_what_they_borrow)
{
    struct fake fake;
    struct piece pieces[PW_QUEUE_BYTES_MAX / BIG], probe;
    const struct pw_text payload = { "", BIG };
    open_fake(&fake, 1);
    prepare(&probe, &fake, 1);
    for (size_t i = 0; i < LENGTH(pieces); i++) {
        assert_true(pw_commit_has_room(fake.commit, &probe.unit));
        prepare(&pieces[i], &fake, 1);
        struct pw_op *op = pw_unit_add(&pieces[i].unit, PW_OP_EVENT);
        assert_non_null(op);
        op->as.event.payload = payload;
        pw_commit_submit(fake.commit, &pieces[i].unit);
    }
    assert_false(pw_commit_has_room(fake.commit, &probe.unit));

    assert_true(pw_commit_lead(fake.commit));

    assert_true(pw_commit_has_room(fake.commit, &probe.unit));
    pw_unit_clear(&probe.unit);
    pw_commit_free(fake.commit);
}

TEST(C6_a_full_queue_keeps_nobody_from_another)
{
    struct fake fake;
    struct piece one, other;
    open_fake(&fake, 2);
    prepare(&one, &fake, 1);
    prepare(&other, &fake, 2);
    for (int i = 0; i < PW_QUEUE_UNITS_MAX; i++)
        submit_one(&fake);

    assert_false(pw_commit_has_room(fake.commit, &one.unit));
    assert_true(pw_commit_has_room(fake.commit, &other.unit));
    assert_false(pw_commit_has_room_for(fake.commit, one.unit.about));
    assert_true(pw_commit_has_room_for(fake.commit, other.unit.about));
    pw_commit_await_room(fake.commit, other.unit.about);
    assert_int_equal(atomic_load(&fake.answered), 0);

    pw_unit_clear(&one.unit);
    pw_unit_clear(&other.unit);
    pw_commit_free(fake.commit);
}

/* With and without threads that serve: all come through, and no more wait than fit, and one for each thread. */
static void fill_by_many(bool is_served)
{
    enum { THREADS = 6, EACH = PW_QUEUE_UNITS_MAX / 2 };
    struct fake fake;
    struct gate gate;
    struct waiting waiting[THREADS];
    gate_init(&gate);
    open_fake(&fake, 1);
    fake.gate = &gate;
    if (is_served)
        assert_true(pw_commit_start(fake.commit));
    for (int i = 0; i < THREADS; i++) {
        waiting[i] = (struct waiting){ .fake = &fake, .count = EACH };
        assert_int_equal(pthread_create(&waiting[i].thread, NULL, submit_many, &waiting[i]), 0);
    }
    gate_await(&gate, 1);
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; atomic_load(&fake.submitted) < PW_QUEUE_UNITS_MAX;) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
    gate_open(&gate);
    for (int i = 0; i < THREADS; i++)
        pthread_join(waiting[i].thread, NULL);
    if (is_served)
        await_answered(&fake, (size_t)THREADS * EACH);
    else
        while (pw_commit_lead(fake.commit))
            continue;

    assert_int_equal(atomic_load(&fake.answered), THREADS * EACH);
    assert_in_range(atomic_load(&fake.most), PW_QUEUE_UNITS_MAX, PW_QUEUE_UNITS_MAX + THREADS);
    if (is_served)
        pw_commit_stop(fake.commit);
    pw_commit_free(fake.commit);
    gate_clear(&gate);
}

TEST(C6_many_threads_that_fill_a_queue_all_get_on)
{
    fill_by_many(true);
}

TEST(C6_many_threads_that_fill_a_queue_all_get_on_where_nobody_serves)
{
    fill_by_many(false);
}
