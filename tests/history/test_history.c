/* test_history.c - the pure part: retry delays, steps by name, events in order, passes and turns. */
#include "base/limits.h"
#include "history/history.h"
#include "history/retry.h"
#include "kit/test.h"

static struct pawl_policy policy_of(int64_t delay_ms, enum pawl_backoff backoff)
{
    struct pawl_policy policy;
    pawl_policy_default(&policy);
    policy.delay_ms = delay_ms;
    policy.backoff = backoff;
    return policy;
}

TEST(A4_the_default_policy_is_five_retries_ten_seconds_exponential_ten_minutes)
{
    struct pawl_policy policy;

    pawl_policy_default(&policy);

    assert_int_equal(policy.retries_max, 5);
    assert_int_equal(policy.delay_ms, 10000);
    assert_int_equal(policy.backoff, PAWL_BACKOFF_EXPONENTIAL);
    assert_int_equal(policy.timeout_ms, 600000);
    assert_int_equal(pw_policy_attempts_max(&policy), 6);
}

TEST(A4_each_backoff_follows_its_formula)
{
    struct pawl_policy constant = policy_of(7, PAWL_BACKOFF_CONSTANT);
    struct pawl_policy linear = policy_of(7, PAWL_BACKOFF_LINEAR);
    struct pawl_policy exponential = policy_of(7, PAWL_BACKOFF_EXPONENTIAL);

    for (int64_t attempt = 1; attempt <= 20; attempt++) {
        assert_int_equal(pw_retry_delay_ms(&constant, attempt), 7);
        assert_int_equal(pw_retry_delay_ms(&linear, attempt), 7 * attempt);
        assert_int_equal(pw_retry_delay_ms(&exponential, attempt), 7 * (INT64_C(1) << (attempt - 1)));
    }
}

TEST(A4_a_delay_never_passes_365_days_and_never_overflows)
{
    struct pawl_policy exponential = policy_of(10000, PAWL_BACKOFF_EXPONENTIAL);
    struct pawl_policy linear = policy_of(PW_DELAY_MS_MAX, PAWL_BACKOFF_LINEAR);
    struct pawl_policy none = policy_of(0, PAWL_BACKOFF_EXPONENTIAL);

    assert_int_equal(pw_retry_delay_ms(&exponential, 22), 10000 * (INT64_C(1) << 21));
    assert_int_equal(pw_retry_delay_ms(&exponential, 23), PW_DELAY_MS_MAX);
    assert_int_equal(pw_retry_delay_ms(&exponential, 64), PW_DELAY_MS_MAX);
    assert_int_equal(pw_retry_delay_ms(&exponential, INT64_MAX), PW_DELAY_MS_MAX);
    assert_int_equal(pw_retry_delay_ms(&linear, INT64_MAX), PW_DELAY_MS_MAX);
    assert_int_equal(pw_retry_delay_ms(&none, INT64_MAX), 0);
    assert_int_equal(pw_time_after(INT64_MAX, 1), PW_TIME_MS_MAX);
}

TEST(A4_unlimited_retries_leave_attempts_for_ever)
{
    struct pawl_policy policy = policy_of(1, PAWL_BACKOFF_CONSTANT);

    policy.retries_max = PAWL_RETRIES_UNLIMITED;

    assert_int_equal(pw_policy_attempts_max(&policy), 0);
    assert_true(pw_attempts_left(INT64_MAX, 0));
    assert_true(pw_attempts_left(5, 6));
    assert_false(pw_attempts_left(6, 6));
}

TEST(a_policy_out_of_range_is_told_what_is_wrong)
{
    struct pawl_policy good = policy_of(1, PAWL_BACKOFF_LINEAR), negative = good, slow = good, forever = good,
                       odd = good;

    negative.retries_max = -1;
    slow.delay_ms = PW_DELAY_MS_MAX + 1;
    forever.timeout_ms = 0;
    odd.backoff = (enum pawl_backoff)17;

    assert_null(pawl_policy_wrong(&good));
    assert_non_null(pawl_policy_wrong(&negative));
    assert_non_null(pawl_policy_wrong(&slow));
    assert_non_null(pawl_policy_wrong(&forever));
    assert_non_null(pawl_policy_wrong(&odd));
}

static struct pw_event_row event_row(int64_t seq, const char *type, int64_t created_at_ms)
{
    return (struct pw_event_row){ .seq = seq, .type = pw_text_of(type), .created_at_ms = created_at_ms };
}

TEST(A9_a_wait_gets_the_oldest_untaken_event_of_its_type_that_was_sent_in_time)
{
    struct pw_history *history = pw_history_new();
    struct pw_event_row rows[] = { event_row(1, "b", 10), event_row(2, "a", 30), event_row(3, "a", 20),
                                   event_row(4, "a", 20) };
    assert_true(pw_history_load_events(history, rows, 4));

    struct pw_event *in_time = pw_history_event_for(history, pw_text_of("a"), 25);
    struct pw_event *any = pw_history_event_for(history, pw_text_of("a"), 30);
    assert_int_equal(in_time->row.seq, 3);
    assert_int_equal(any->row.seq, 2);
    in_time->taken = true;
    assert_int_equal(pw_history_event_for(history, pw_text_of("a"), 25)->row.seq, 4);
    assert_null(pw_history_event_for(history, pw_text_of("a"), 19));
    assert_null(pw_history_event_for(history, pw_text_of("c"), 99));
    assert_int_equal(history->event_seq, 4);
    pw_history_free(history);
}

TEST(A8_what_needs_no_work_counts_as_a_wait_and_the_rest_as_a_step)
{
    struct pw_history *history = pw_history_new();

    assert_non_null(pw_history_add(history, pw_text_of("s"), PAWL_STEP_SLEEP));
    assert_non_null(pw_history_add(history, pw_text_of("f"), PAWL_STEP_FIRST));
    assert_non_null(pw_history_add(history, pw_text_of("e"), PAWL_STEP_EVENT));
    assert_non_null(pw_history_add(history, pw_text_of("c"), PAWL_STEP_CHILD));
    assert_non_null(pw_history_add(history, pw_text_of("t"), PAWL_STEP_DEFERRED));
    assert_int_equal(history->counted, 0);
    assert_int_equal(history->waits, 5);
    assert_non_null(pw_history_add(history, pw_text_of("d"), PAWL_STEP_DO));
    assert_non_null(pw_history_add(history, pw_text_of("j"), PAWL_STEP_CALL));
    assert_int_equal(history->counted, 2);
    assert_int_equal(history->waits, 5);
    pw_history_free(history);
}

TEST(an_answer_is_new_once_a_turn_and_replay_from_the_next_turn_on)
{
    struct pw_history *history = pw_history_new();
    pw_history_begin_turn(history, 0);
    pw_history_begin_pass(history);
    struct pw_step *step = pw_history_add(history, pw_text_of("s"), PAWL_STEP_DO);
    step->recorded_pass = history->pass;

    uint64_t first_call = history->moment;
    assert_true(pw_step_note_answer(history, step, first_call));
    assert_true(pw_step_note_answer(history, step, first_call)); /* the same call again */
    assert_false(pw_step_is_replay(history, step));
    pw_history_begin_pass(history);
    assert_false(pw_step_note_answer(history, step, history->moment));
    pw_history_begin_turn(history, 0);
    pw_history_begin_pass(history);
    assert_true(pw_step_is_replay(history, step));
    assert_true(pw_step_note_answer(history, step, history->moment));
    pw_history_free(history);
}

/* As a turn records it. */
static void record(struct pw_history *history, struct pw_step *step, int64_t begun_ms, int64_t now_ms)
{
    pw_step_stamp(history, step, begun_ms);
    pw_step_finish(history, step, PAWL_STATE_COMPLETED, now_ms);
    pw_step_number(history, step);
}

TEST(steps_have_times_in_the_order_of_their_numbers)
{
    struct pw_history *history = pw_history_new();
    struct pw_step *a = pw_history_add(history, pw_text_of("a"), PAWL_STEP_DO);
    struct pw_step *b = pw_history_add(history, pw_text_of("b"), PAWL_STEP_DO);
    struct pw_step *c = pw_history_add(history, pw_text_of("c"), PAWL_STEP_DO);
    struct pw_step *d = pw_history_add(history, pw_text_of("d"), PAWL_STEP_DO);
    pw_history_begin_turn(history, 1000);

    pw_step_stamp(history, a, 1010); /* whose body takes long */
    record(history, b, 1020, 1030);
    record(history, a, 1010, 1040);
    assert_int_equal(b->row.created_at_ms, 1020);
    assert_int_equal(a->row.created_at_ms, 1020); /* it is recorded after b */
    assert_int_equal(a->row.updated_at_ms, 1040);

    record(history, c, 500, 510); /* the clock was set back */
    assert_int_equal(c->row.created_at_ms, 1020);
    assert_int_equal(c->row.updated_at_ms, 1041); /* it finished after a, which is told by nothing else */

    pw_history_begin_turn(history, 1100); /* by somebody whose clock is right */
    record(history, d, 900, 910);
    assert_int_equal(d->row.created_at_ms, 1100);
    assert_int_equal(d->row.updated_at_ms, 1100);
    pw_history_free(history);
}
