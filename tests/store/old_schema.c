/* old_schema.c - see old_schema.h. */
#include "old_schema.h"

void old_database_make(struct fixture *fixture, int64_t version, const char *rows)
{
    bool is_file = fixture->place.store == STORE_IN_FILE;
    const struct old_piece *pieces = is_file ? old_sqlite_schema : old_postgres_schema;
    size_t count = is_file ? old_sqlite_schema_count : old_postgres_schema_count;
    char set_version[64];
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    store_place_empty(&fixture->place, true);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].version <= version)
            store_place_execute(&fixture->place, pieces[i].sql);
    (void)snprintf(set_version, sizeof set_version, "UPDATE workflow_schema SET version = %d", (int)version);
    store_place_execute(&fixture->place, set_version);
    store_place_execute(&fixture->place, rows);
}

void old_database_open(struct fixture *fixture, int64_t version, const char *rows)
{
    int64_t newest = query_number(fixture, "SELECT version FROM workflow_schema");
    assert_true(newest > version);
    old_database_make(fixture, version, rows);
    fixture->store = fixture_open_store(fixture);
    assert_int_equal(query_number(fixture, "SELECT version FROM workflow_schema"), newest);
}

/* ---- Texts that were marks ------------------------------------------------------------------------------------------ */

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

/* ---- Steps whose columns were texts --------------------------------------------------------------------------------- */

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
