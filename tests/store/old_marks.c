/* old_marks.c - see old_marks.h. */
#include "old_marks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EVENT(seq, id, type)                                                                                           \
    "INSERT INTO workflow_event (instance, run, created_at, payload, seq, id, type) VALUES (1, 1, 5, '7', " seq        \
    ", '" id "', '" type "');"

const char old_answers_sql[] = EVENT("1", "$@print/j1", "$@print/j1") EVENT("2", "$@print/j2!", "$@print/j2!")
    EVENT("3", "$parcel/p1!#2", "$parcel/p1!") EVENT("4", "$deferred:asked", "$deferred:00ff!")
        EVENT("5", "$deferred:asked!", "$deferred:01ff") EVENT("6", "e", "paid!");

static const struct {
    bool is_failure;
    const char *id, *type;
} answers[] = {
    { false, "$@print/j1", "$@print/j1" },           { true, "$@print/j2!", "$@print/j2" },
    { true, "$parcel/p1!#2", "$parcel/p1" },         { true, "$deferred:asked", "$deferred:00ff" },
    { false, "$deferred:asked!", "$deferred:01ff" }, { false, "e", "paid!" },
};
enum { ANSWERS = sizeof answers / sizeof answers[0] };

void assert_old_answers(struct pw_store *store)
{
    const struct pw_history_query query = { .instance = 1, .run = 1, .max = 100 };
    struct pw_arena arena = { 0 };
    struct pw_event_row *rows = NULL;
    size_t count = 0;
    assert_int_equal(pw_read_events(store, &arena, &query, &rows, &count, NULL), PAWL_OK);
    assert_int_equal(count, ANSWERS);
    for (size_t i = 0; i < ANSWERS; i++) {
        assert_int_equal(rows[i].is_failure, answers[i].is_failure);
        assert_string_equal(rows[i].id.data, answers[i].id);
        assert_string_equal(rows[i].type.data, answers[i].type);
        assert_string_equal(rows[i].payload.data, "7");
    }
    pw_arena_clear(&arena);
}

#define LINE(seq, category, message)                                                                                   \
    "INSERT INTO workflow_log (instance, run, attempt, created_at, level, is_replay, seq, category, message)"          \
    " VALUES (1, 1, 0, 5, 1, 0, " seq ", '" category "', '" message "');"

const char old_repairs_sql[] = LINE("1", "system", "resumed after repair, and tried again: charge, ship")
    LINE("2", "system", "resumed") LINE("3", "workflow", "resumed after repair, and tried again: by hand");

void assert_old_repairs(struct pw_store *store)
{
    const struct pw_history_query query = { .instance = 1, .run = 1, .max = 100 };
    struct pw_arena arena = { 0 };
    struct pw_log_row *rows = NULL;
    size_t count = 0;
    assert_int_equal(pw_read_logs(store, &arena, &query, &rows, &count, NULL), PAWL_OK);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows[i].is_repair, i == 0);
    pw_arena_clear(&arena);
}
