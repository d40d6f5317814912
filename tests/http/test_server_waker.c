/* test_server_waker.c - news are not lost, and nobody is woken twice, however telling and falling asleep meet. */
#include "serving.h"

#include <poll.h>
#include <unistd.h>

#include "http/waker.h"

enum { SLEEPERS = 8, TELLERS = 3, NEWS = RUNNING_SLOWLY ? 20000 : 200000 };

/* As a connection with its call: news are numbers, and a sleeper has seen all when it has seen the last. */
struct dreamer {
    struct pw_sleeper sleeper; /* first */
    atomic_int news;
    int seen;
    bool sleeps;
    int woken;
};

struct room {
    struct pw_waker waker;
    struct dreamer dreamers[SLEEPERS];
    struct running running;
};

static void wake(struct pw_sleeper *sleeper)
{
    struct dreamer *dreamer = (struct dreamer *)sleeper;
    assert_true(dreamer->sleeps);
    dreamer->sleeps = false;
    dreamer->woken++;
}

/* A stopped clock: its skew is all the time that passes. */
static int set_up(void **state)
{
    struct room *room = calloc(1, sizeof *room);
    struct pawl_options options = PAWL_OPTIONS_INIT;
    assert_non_null(room);
    options.store_url = "sqlite::memory:";
    options.clock = (struct pawl_clock){ .now_ms = running_stopped_ms, .user = &room->running };
    assert_ok(pawl_open(&options, &room->running.engine, &room->running.error), room->running.error);
    room->running.scope = pawl_scope_new();
    assert_non_null(room->running.scope);
    assert_true(pw_waker_init(&room->waker, room->running.engine, wake));
    *state = room;
    return 0;
}

static int tear_down(void **state)
{
    struct room *room = *state;
    pw_waker_clear(&room->waker);
    running_close(&room->running);
    free(room);
    return 0;
}

static const struct test_setting room_setting = { set_up, tear_down, 0 };

static void *tell_news(void *user)
{
    struct room *room = user;
    for (int i = 0; i < NEWS; i++) {
        struct dreamer *dreamer = &room->dreamers[i % SLEEPERS];
        atomic_fetch_add(&dreamer->news, 1);
        pw_waker_tell(&room->waker, &dreamer->sleeper);
    }
    return NULL;
}

/* False: it has seen all that there will be. */
static bool look(struct room *room, struct dreamer *dreamer)
{
    enum { ALL = NEWS / SLEEPERS * TELLERS };
    if (dreamer->sleeps)
        return true;
    pw_sleeper_begin(&dreamer->sleeper);
    dreamer->seen = atomic_load(&dreamer->news);
    if (dreamer->seen == ALL)
        return false;
    dreamer->sleeps = true;
    if (!pw_waker_sleep(&room->waker, &dreamer->sleeper, INT64_MAX))
        dreamer->sleeps = false;
    return true;
}

static bool is_signalled(struct room *room, int within_ms)
{
    struct pollfd poll_one = { .fd = room->waker.signal_fd, .events = POLLIN };
    return poll(&poll_one, 1, within_ms) == 1;
}

TEST_OF(room, no_news_are_lost)
{
    pthread_t tellers[TELLERS];
    for (int i = 0; i < TELLERS; i++)
        assert_int_equal(pthread_create(&tellers[i], NULL, tell_news, room), 0);
    for (int at_work = SLEEPERS; at_work > 0;) {
        bool all_sleep = true;
        at_work = 0;
        for (int i = 0; i < SLEEPERS; i++) {
            at_work += look(room, &room->dreamers[i]);
            all_sleep = all_sleep && room->dreamers[i].sleeps;
        }
        /* When all who are not done sleep, only a signal can help: it must come. */
        bool signalled = is_signalled(room, all_sleep ? PATIENCE_MS : 0);
        assert_true(signalled || !all_sleep);
        pw_waker_pass(&room->waker, signalled);
    }
    for (int i = 0; i < TELLERS; i++)
        assert_int_equal(pthread_join(tellers[i], NULL), 0);
}

TEST_OF(room, many_are_told_with_one_signal)
{
    uint64_t signals = 0;
    for (int i = 0; i < SLEEPERS; i++) {
        pw_sleeper_begin(&room->dreamers[i].sleeper);
        room->dreamers[i].sleeps = pw_waker_sleep(&room->waker, &room->dreamers[i].sleeper, INT64_MAX);
        assert_true(room->dreamers[i].sleeps);
    }
    assert_false(is_signalled(room, 0));
    for (int i = 0; i < 3 * SLEEPERS; i++)
        pw_waker_tell(&room->waker, &room->dreamers[i % SLEEPERS].sleeper);
    assert_true(is_signalled(room, 0));
    assert_int_equal(read(room->waker.signal_fd, &signals, sizeof signals), sizeof signals);
    assert_int_equal(signals, 1);
    pw_waker_pass(&room->waker, false);
    for (int i = 0; i < SLEEPERS; i++)
        assert_int_equal(room->dreamers[i].woken, 1);
}

TEST_OF(room, news_before_falling_asleep_keep_awake)
{
    struct pw_sleeper *sleeper = &room->dreamers[0].sleeper;
    pw_sleeper_begin(sleeper);
    pw_waker_tell(&room->waker, sleeper);
    assert_false(pw_waker_sleep(&room->waker, sleeper, 1));
    assert_false(is_signalled(room, 0));
    assert_int_equal(pw_waker_due_ms(&room->waker), -1);
}

TEST_OF(room, times_are_kept_on_the_engines_clock)
{
    struct running *running = &room->running;
    int64_t now_ms = pawl_now_ms(running->engine);
    for (int i = 0; i < SLEEPERS; i++) {
        pw_sleeper_begin(&room->dreamers[i].sleeper);
        room->dreamers[i].sleeps = pw_waker_sleep(&room->waker, &room->dreamers[i].sleeper, now_ms + 3600000 * (i + 1));
    }
    assert_true(pw_waker_due_ms(&room->waker) > 0);
    pw_waker_pass(&room->waker, false);
    for (int hour = 1; hour <= SLEEPERS; hour++) {
        running->skew_ms += 3600000;
        running->skew_ms += hour == 1 ? 20 : 0; /* times are met a little later */
        assert_int_equal(pw_waker_due_ms(&room->waker), 0);
        pw_waker_pass(&room->waker, false);
        for (int i = 0; i < SLEEPERS; i++)
            assert_int_equal(room->dreamers[i].woken, i < hour ? 1 : 0);
    }
    assert_int_equal(pw_waker_due_ms(&room->waker), -1);
}

TEST_OF(room, who_is_told_before_its_time_is_woken_once)
{
    struct running *running = &room->running;
    struct dreamer *dreamer = &room->dreamers[0];
    pw_sleeper_begin(&dreamer->sleeper);
    dreamer->sleeps = pw_waker_sleep(&room->waker, &dreamer->sleeper, pawl_now_ms(running->engine) + 1000);
    pw_waker_tell(&room->waker, &dreamer->sleeper);
    running->skew_ms += 2000; /* and its time has come, too */
    pw_waker_pass(&room->waker, true);
    assert_int_equal(dreamer->woken, 1);
    pw_waker_pass(&room->waker, true);
    assert_int_equal(dreamer->woken, 1);
    pw_waker_rouse(&room->waker, &dreamer->sleeper); /* it is awake */
    assert_int_equal(dreamer->woken, 1);
}

/* Their times were set by the clock as it was: each finds out for itself when it is due now. */
TEST_OF(room, all_with_a_time_are_woken_when_the_clock_was_set_back)
{
    struct running *running = &room->running;
    struct dreamer *dreamer = &room->dreamers[0];
    pw_waker_pass(&room->waker, false);
    pw_sleeper_begin(&dreamer->sleeper);
    dreamer->sleeps = pw_waker_sleep(&room->waker, &dreamer->sleeper, pawl_now_ms(running->engine) + 1000);
    pw_waker_pass(&room->waker, false);
    assert_int_equal(dreamer->woken, 0);

    running->skew_ms -= 3600000;
    pw_waker_pass(&room->waker, false);

    assert_int_equal(dreamer->woken, 1);
    assert_int_equal(pw_waker_due_ms(&room->waker), -1);
}
