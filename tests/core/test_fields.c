/* test_fields.c - the fields of rows: what a number is taken for, and which columns SQL gets from the lists. */
#include "kit/test.h"
#include "store/columns.h"

static const struct pw_row_type *const types[] = {
    &pw_instance_type, &pw_task_type, &pw_step_type,     &pw_event_type,
    &pw_log_type,      &pw_hook_type, &pw_delivery_type, &pw_runner_type
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

/* Large enough for each. */
union row {
    struct pw_instance instance;
    struct pw_step_row step;
    struct pw_hook_row hook;
};

TEST(every_number_that_was_written_is_read_again)
{
    for (size_t t = 0; t < TYPE_COUNT; t++) {
        union row row;
        memset(&row, 0, sizeof row);
        assert_true(types[t]->size <= sizeof row);
        for (const struct pw_field *field = types[t]->fields; field < types[t]->fields + types[t]->count; field++)
            if (field->type != PW_FIELD_TEXT)
                assert_true(pw_member_set(field, &row, 1));

        for (const struct pw_field *field = types[t]->fields; field < types[t]->fields + types[t]->count; field++)
            if (field->type != PW_FIELD_TEXT)
                assert_int_equal(pw_member_get(field, &row), 1);
            else
                assert_null(pw_member_text(field, &row)->data);
    }
}

static const struct pw_field *field_of(const struct pw_row_type *type, const char *column)
{
    const struct pw_field *field = type->fields;
    while (strcmp(field->column, column) != 0)
        field++;
    return field;
}

TEST(numbers_that_nobody_can_have_written_are_cut_or_refused)
{
    static const struct {
        const char *column;
        int64_t number;
        bool is_fine;
        int64_t taken;
    } cases[] = {
        { "seq", 0, false, 0 },
        { "seq", PW_COUNT_MAX + 1, false, PW_COUNT_MAX + 1 },
        { "attempts", -1, true, 0 },
        { "attempts", INT64_MAX, true, PW_COUNT_MAX },
        { "wake_at", -1, true, 0 },
        { "wake_at", INT64_MAX, true, PW_TIME_MS_MAX },
        { "status", PAWL_STEP_ERRORED, true, PAWL_STEP_ERRORED },
        { "status", PAWL_STEP_ERRORED + 1, false, 0 },
        { "status", INT64_C(1) << 32, false, 0 },
        { "status", -1, false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pw_field *field = field_of(&pw_step_type, cases[i].column);
        struct pw_step_row row = { .seq = 0 };
        assert_int_equal(pw_member_set(field, &row, cases[i].number), cases[i].is_fine);
        assert_int_equal(pw_member_get(field, &row), cases[i].taken);
    }
}

TEST(lists_of_columns_are_in_the_order_of_the_fields)
{
    assert_string_equal(PW_COLUMNS(PW_EVENT_FIELDS, "e."),
                        "e.seq, e.created_at, e.delivered_at, e.is_failure, e.id, e.type, e.payload,"
                        " e.consumed_by");
    assert_string_equal(PW_CHANGES(PW_EVENT_FIELDS),
                        "delivered_at = excluded.delivered_at, consumed_by = excluded.consumed_by");
    assert_string_equal(PW_PARAMETERS(PW_EVENT_FIELDS), "?, ?, ?, ?, ?, ?, ?, ?");
    assert_string_equal(
        PW_COLUMNS(PW_TASK_FIELDS, ""),
        "epoch, due_at, owner, locked_until, started_at, updated_at, event_seq, status, kind, processing,"
        " pause_requested, demand");
    assert_string_equal(PW_COLUMNS(PW_TERMS_ALONE, "i."), ", i.version");
}

TEST(what_a_run_was_begun_with_changes_only_with_its_number)
{
    assert_non_null(strstr(PW_SETS(PW_INSTANCE_FIELDS), ", version = CASE WHEN run = ?1 THEN version ELSE ? END"));
    assert_int_equal(strncmp(PW_SETS(PW_INSTANCE_FIELDS), "run = ?, ", strlen("run = ?, ")), 0);
    assert_non_null(strstr(PW_CHANGES(PW_INSTANCE_FIELDS), "workflow_instance.run = excluded.run"));
}

TEST(an_open_run_has_the_newest_of_its_times)
{
    struct pw_instance row = { .updated_at_ms = 5,
                               .has_task = true,
                               .task = { .updated_at_ms = 7, .started_at_ms = 6 } };
    pw_instance_merge(&row, 8);
    assert_int_equal(row.updated_at_ms, 8);
    assert_int_equal(row.started_at_ms, 6);
    row = (struct pw_instance){ .updated_at_ms = 5, .started_at_ms = 4 };
    pw_instance_merge(&row, 8);
    assert_int_equal(row.updated_at_ms, 5);
    assert_int_equal(row.started_at_ms, 4);
}
