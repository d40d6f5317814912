/* old_steps.c - see old_steps.h. */
#include "old_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define X10 "xxxxxxxxxx"
#define X50 X10 X10 X10 X10 X10
#define X227 X50 X50 X50 X50 X10 X10 "xxxxxxx"
#define LONG_NAME X50 X50 X50 X50 X50
#define COLUMNS                                                                                                        \
    "INSERT INTO workflow_step (instance, run, attempts, attempts_max, timeout, created_at, updated_at, seq, kind,"    \
    " status, name, wait_event_type, error_name, error_message, wake_at) VALUES (1, 1, 1, 5, 0, 5, 5, "
#define LOST "'STEP_ABANDONED', 'another branch came first', NULL);"

const char old_steps_sql[] = COLUMNS
    "1, 0, 1, 'charge', NULL, NULL, NULL, NULL);" COLUMNS
    "2, 0, 2, 'ship', NULL, 'Broken', 'STEP_ABANDONED', NULL);" COLUMNS "3, 0, 2, 'loser', NULL, " LOST COLUMNS
    "4, 4, 2, 'lost call', '$@print/j1', " LOST COLUMNS
    "5, 4, 2, 'stopped', '$@print/j2', 'STEP_ABANDONED', 'the run was interrupted while its job was out', NULL);" COLUMNS
    "6, 4, 0, 'call', '$@print.labels/j3', NULL, NULL, 6);" COLUMNS
    "7, 5, 0, 'child', '$parcel/p1', NULL, NULL, 6);" COLUMNS "8, 0, 1, '" LONG_NAME
    "', NULL, NULL, NULL, NULL);" COLUMNS "9, 0, 1, 'compensate: " X227
    "~0123456789abcdef', NULL, NULL, NULL, NULL);" COLUMNS
    "10, 0, 0, 'compensate: charge', NULL, NULL, NULL, NULL);" COLUMNS
    "11, 6, 0, 'forever', '$deferred:00', NULL, NULL, 31536000005);" COLUMNS
    "12, 6, 0, 'soon', '$deferred:01', NULL, NULL, 1005);" COLUMNS "13, 2, 0, 'paid', '$paid/x', NULL, NULL, 6);";

static const struct {
    enum pawl_step_state state;
    const char *undoes, *awaited_workflow, *awaited_id;
    int64_t timeout_ms;
} expected[] = {
    { PAWL_STATE_COMPLETED, NULL, NULL, NULL, 0 },      { PAWL_STATE_FAILED, NULL, NULL, NULL, 0 },
    { PAWL_STATE_ABANDONED, NULL, NULL, NULL, 0 },      { PAWL_STATE_ABANDONED, NULL, "@print", "j1", 0 },
    { PAWL_STATE_GIVEN_UP, NULL, "@print", "j2", 0 },   { PAWL_STATE_WAITING, NULL, "@print.labels", "j3", 0 },
    { PAWL_STATE_WAITING, NULL, "parcel", "p1", 0 },    { PAWL_STATE_COMPLETED, NULL, NULL, NULL, 0 },
    { PAWL_STATE_COMPLETED, LONG_NAME, NULL, NULL, 0 }, { PAWL_STATE_WAITING, "charge", NULL, NULL, 0 },
    { PAWL_STATE_WAITING, NULL, NULL, NULL, 0 },        { PAWL_STATE_WAITING, NULL, NULL, NULL, 1000 },
    { PAWL_STATE_WAITING, NULL, NULL, NULL, 0 },
};
enum { EXPECTED = sizeof expected / sizeof expected[0] };

static void assert_is(struct pw_text text, const char *wanted)
{
    assert_int_equal(text.data == NULL, wanted == NULL);
    assert_true(pw_text_equal(text, pw_text_of(wanted)));
}

void assert_old_steps(struct pw_store *store)
{
    const struct pw_history_query query = { .instance = 1, .run = 1, .max = 100 };
    struct pw_arena arena = { 0 };
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    assert_int_equal(pw_read_steps(store, &arena, &query, &rows, &count, NULL), PAWL_OK);
    assert_int_equal(count, EXPECTED);
    for (size_t i = 0; i < EXPECTED; i++) {
        assert_int_equal(rows[i].state, expected[i].state);
        assert_int_equal(pw_step_state(&rows[i]), expected[i].state);
        assert_is(rows[i].undoes, expected[i].undoes);
        assert_is(rows[i].awaited_workflow, expected[i].awaited_workflow);
        assert_is(rows[i].awaited_id, expected[i].awaited_id);
        assert_int_equal(rows[i].timeout_ms, expected[i].timeout_ms);
        assert_int_equal(rows[i].place.order, 0);
        assert_null(rows[i].place.fork.data);
    }
    pw_arena_clear(&arena);
}
