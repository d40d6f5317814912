/* test_store_hooks.c - what hooks are to be told, as rows: recorded with their cause, claimed, settled, listed; and the
 * schema's second version, which brought them. */
#include "kit/store_fixture.h"

#include "old_schema.h"

enum { LEASE_MS = 500, ROWS_MAX = 16 };

/* ---- Short ways ---------------------------------------------------------------------------------------------- */

/* An instance of that id, and a row of that id and hook. */
static struct pw_fence create_told(struct fixture *fixture, const char *id, const char *hook)
{
    struct pw_unit *unit = fixture_unit(fixture);
    struct pw_op_create *create = add_create(unit, "order", id);
    tell_hook(unit, id, hook);
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_OK);
    struct pw_fence fence = create->fence;
    fixture_clear_units(fixture);
    return fence;
}

static size_t list(struct fixture *fixture, struct pw_hook_query query, struct pw_hook_row **out_rows)
{
    size_t count = 0;
    if (query.max == 0)
        query.max = ROWS_MAX;
    assert_int_equal(pw_list_hooks(fixture->store, &fixture->arena, &query, out_rows, &count, &fixture->error),
                     PAWL_OK);
    return count;
}

static struct pw_hook_row only_row(struct fixture *fixture)
{
    struct pw_hook_row *rows;
    assert_int_equal(list(fixture, (struct pw_hook_query){ .max = 0 }, &rows), 1);
    return rows[0];
}

static size_t row_count(struct fixture *fixture)
{
    struct pw_hook_row *rows;
    return list(fixture, (struct pw_hook_query){ .max = 0 }, &rows);
}

/* The ids of what was claimed, as "a b"; rows live until the units are cleared. */
static const char *claim(struct fixture *fixture, size_t max, const struct pw_hook_row **out_rows)
{
    static const struct pw_hook_wanted wanted[] = { { { "mail", 4 }, LEASE_MS }, { { "audit", 5 }, 2 * LEASE_MS } };
    static char ids[256];
    fixture_clear_units(fixture);
    struct pw_op_hook_claim *op = &add(fixture_unit(fixture), PW_OP_HOOK_CLAIM)->as.hook_claim;
    *op = (struct pw_op_hook_claim){ .wanted = wanted, .wanted_count = 2, .max = max };
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    ids[0] = '\0';
    for (size_t i = 0; i < op->row_count; i++)
        (void)snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%s", i > 0 ? " " : "", op->rows[i].id.data);
    if (out_rows != NULL)
        *out_rows = op->rows;
    return ids;
}

static struct pw_hook_row claim_one(struct fixture *fixture, const char *expected)
{
    const struct pw_hook_row *rows;
    assert_string_equal(claim(fixture, 1, &rows), expected);
    return rows[0];
}

/* True: it counted.  error NULL: delivered. */
static bool settle(struct fixture *fixture, int64_t key, int64_t epoch, const char *error, int64_t next_at_ms)
{
    fixture_clear_units(fixture);
    struct pw_op_hook_settle *op = &add(fixture_unit(fixture), PW_OP_HOOK_SETTLE)->as.hook_settle;
    *op = (struct pw_op_hook_settle){
        .key = key, .epoch = epoch, .delivered = error == NULL, .next_at_ms = next_at_ms, .last_error = text(error)
    };
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    return !op->lost;
}

static bool resend(struct fixture *fixture, const char *id)
{
    fixture_clear_units(fixture);
    struct pw_op_hook_resend *op = &add(fixture_unit(fixture), PW_OP_HOOK_RESEND)->as.hook_resend;
    op->id = text(id);
    fixture_apply(fixture);
    return op->found;
}

static int64_t next_hook(struct fixture *fixture, const char *name)
{
    struct pw_text names[] = { text(name), text("nobody") };
    const struct pw_read asked = { .kind = PW_READ_NEXT_HOOK, .names = { .names = names, .count = 2 } };
    struct pw_found found;
    assert_int_equal(pw_read(fixture->store, &asked, NULL, &found, &fixture->error), PAWL_OK);
    return found.at_ms;
}

/* ---- Recording ----------------------------------------------------------------------------------------------- */

TEST_OF(fixture, a_row_is_recorded_with_what_causes_it)
{
    (void)create_told(fixture, "a", "mail");
    struct pw_hook_row row = only_row(fixture);
    assert_text(row.id, "a");
    assert_text(row.hook, "mail");
    assert_int_equal(row.event, PAWL_HOOK_ENQUEUED);
    assert_int_equal(row.reason, PW_REASON_CREATE);
    assert_text(row.workflow, "order");
    assert_text(row.instance_id, "a");
    assert_int_equal(row.run, 1);
    assert_int_equal(row.due_at_ms, 0);
    assert_int_equal(row.outcome, PW_OUTCOME_OPEN);
    assert_null(row.error_name.data);
    assert_int_equal(row.created_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(row.next_at_ms, FIXTURE_NOW_MS);
    assert_int_equal(row.locked_until_ms, 0);
    assert_int_equal(row.attempts, 0);
    assert_int_equal(row.attempts_max, 3);
    assert_null(row.last_error.data);
}

TEST_OF(fixture, a_created_instance_is_told_of_and_one_that_was_there_is_not)
{
    (void)create_instance(fixture, "order", "old");
    struct pw_unit *unit = fixture_unit(fixture);
    add_create(unit, "order", "old")->skip_existing = true;
    add_create(unit, "order", "new")->skip_existing = true;
    tell_hook(unit, "of new", "mail");
    fixture_apply_all(fixture);
    assert_text(only_row(fixture).id, "of new");
}

TEST_OF(fixture, a_refused_unit_tells_nobody)
{
    (void)create_instance(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_create(unit, "order", "b");
    tell_hook(unit, "of b", "mail");
    (void)add_create(unit, "order", "a");
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_INSTANCE_ID_ALREADY_EXISTS);
    assert_int_equal(row_count(fixture), 0);
}

TEST_OF(fixture, a_restart_is_told_with_the_new_run)
{
    struct pw_fence at = create_instance(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    add(unit, PW_OP_RESTART)->as.restart = (struct pw_op_restart){ .instance = at.instance, .run = at.run };
    tell_hook(unit, "again", "mail");
    fixture_apply_all(fixture);
    assert_int_equal(only_row(fixture).run, 2);
}

TEST_OF(fixture, a_hold_is_told)
{
    struct pw_fence at = create_instance(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_hold(unit, at);
    tell_hook(unit, "held", "mail");
    fixture_apply_all(fixture);
    assert_int_equal(only_row(fixture).reason, PW_REASON_RESUME);
    assert_int_equal(only_row(fixture).due_at_ms, 0);
}

TEST_OF(fixture, a_parked_run_is_told_with_its_due_time)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_park(unit, at, PW_TASK_WAITING, PW_TASK_RETRY, FIXTURE_NOW_MS + 70);
    tell_hook(unit, "parked", "mail");
    fixture_apply_all(fixture);
    assert_int_equal(only_row(fixture).reason, PW_REASON_RETRY);
    assert_int_equal(only_row(fixture).due_at_ms, FIXTURE_NOW_MS + 70);
    assert_int_equal(only_row(fixture).next_at_ms, FIXTURE_NOW_MS); /* it is told at once */
}

TEST_OF(fixture, a_run_that_is_due_now_is_told_without_a_time)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_park(unit, at, PW_TASK_ACTIVE, PW_TASK_RESUME, PW_NOW);
    tell_hook(unit, "parked", "mail");
    fixture_apply_all(fixture);
    assert_int_equal(only_row(fixture).due_at_ms, 0);
}

TEST_OF(fixture, a_run_that_pauses_instead_is_not_told)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    ask_to_pause(fixture, at);
    fixture_apply_all(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    struct pw_op_park *parked = add_park(unit, at, PW_TASK_WAITING, PW_TASK_WAKE, PW_NOW);
    tell_hook(unit, "parked", "mail");
    fixture_apply(fixture);
    assert_int_equal(parked->status_set, PW_TASK_PAUSED);
    assert_int_equal(row_count(fixture), 0);
}

TEST_OF(fixture, a_run_that_would_have_paused_and_goes_on_is_told)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    struct pw_op_park *parked = add_park(unit, at, PW_TASK_PAUSED, PW_TASK_RESUME, PW_NOW);
    parked->if_requested = true; /* and nobody asks for it any more */
    tell_hook(unit, "parked", "mail");
    fixture_apply(fixture);
    assert_int_equal(parked->status_set, PW_TASK_ACTIVE);
    assert_int_equal(row_count(fixture), 1);
}

TEST_OF(fixture, an_end_is_told_with_its_outcome_and_error)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    struct pw_unit *unit = fixture_unit(fixture);
    struct pw_op_finish *finish = add_finish(unit, at, PW_OUTCOME_ERRORED);
    finish->error_name = text("Broken");
    finish->error_message = text("badly");
    tell_hook(unit, "ended", "mail");
    fixture_apply_all(fixture);
    struct pw_hook_row row = only_row(fixture);
    assert_int_equal(row.event, PAWL_HOOK_FINISHED);
    assert_int_equal(row.reason, 0);
    assert_int_equal(row.outcome, PW_OUTCOME_ERRORED);
    assert_text(row.error_name, "Broken");
    assert_text(row.error_message, "badly");
    assert_int_equal(row.run, 1);
}

/* ---- Claiming ------------------------------------------------------------------------------------------------ */

TEST_OF(fixture, what_is_due_longest_is_claimed_first_of_all_hooks_named)
{
    (void)create_told(fixture, "a", "mail");
    fixture->now_ms += 1;
    (void)create_told(fixture, "b", "audit");
    fixture->now_ms += 1;
    (void)create_told(fixture, "c", "other");
    (void)create_told(fixture, "d", "mail");
    assert_string_equal(claim(fixture, 2, NULL), "a b");
    assert_string_equal(claim(fixture, 2, NULL), "d");
    assert_string_equal(claim(fixture, 2, NULL), "");
}

TEST_OF(fixture, a_claim_counts_an_attempt_and_takes_a_lease_of_the_hooks_length)
{
    (void)create_told(fixture, "a", "mail");
    (void)create_told(fixture, "b", "audit");
    const struct pw_hook_row *rows;
    assert_string_equal(claim(fixture, 9, &rows), "a b");
    assert_int_equal(rows[0].attempts, 1);
    assert_int_equal(rows[0].epoch, 1);
    assert_int_equal(rows[0].locked_until_ms, FIXTURE_NOW_MS + LEASE_MS);
    assert_int_equal(rows[1].locked_until_ms, FIXTURE_NOW_MS + 2 * LEASE_MS);
    struct pw_hook_row *listed;
    assert_int_equal(list(fixture, (struct pw_hook_query){ .max = 1 }, &listed), 1);
    assert_int_equal(listed[0].attempts, 1);
    assert_int_equal(listed[0].epoch, 1);
    assert_int_equal(listed[0].next_at_ms, FIXTURE_NOW_MS + LEASE_MS);
    assert_int_equal(listed[0].locked_until_ms, FIXTURE_NOW_MS + LEASE_MS);
}

TEST_OF(fixture, an_attempt_that_never_came_back_is_followed_by_another)
{
    (void)create_told(fixture, "a", "mail");
    (void)claim_one(fixture, "a");
    fixture->now_ms += LEASE_MS - 1;
    assert_string_equal(claim(fixture, 1, NULL), "");
    fixture->now_ms += 1;
    assert_int_equal(claim_one(fixture, "a").attempts, 2);
}

TEST_OF(fixture, the_last_attempt_that_never_came_back_has_failed_for_good)
{
    (void)create_told(fixture, "a", "mail");
    for (int attempt = 0; attempt < 3; attempt++) {
        (void)claim_one(fixture, "a");
        fixture->now_ms += LEASE_MS;
    }
    (void)create_told(fixture, "b", "mail");
    (void)claim_one(fixture, "b"); /* which it is not in the way of */
    struct pw_hook_row *rows;
    assert_int_equal(list(fixture, (struct pw_hook_query){ .has_status = true, .status = PAWL_DELIVERY_FAILED }, &rows),
                     1);
    assert_text(rows[0].id, "a");
    assert_int_equal(rows[0].attempts, 3);
    assert_int_equal(rows[0].next_at_ms, 0);
    assert_int_equal(rows[0].locked_until_ms, 0);
    assert_non_null(strstr(rows[0].last_error.data, "lease"));
}

/* Its place among those looked at goes to the next of its own hook. */
TEST_OF(fixture, a_used_up_row_lets_no_younger_one_of_another_hook_pass)
{
    (void)create_told(fixture, "used-up", "mail");
    for (int attempt = 0; attempt < 3; attempt++) {
        (void)claim_one(fixture, "used-up");
        fixture->now_ms += LEASE_MS;
    }
    fixture_clear_units(fixture);
    (void)create_told(fixture, "older", "mail");
    fixture->now_ms++;
    (void)create_told(fixture, "younger", "audit");

    assert_string_equal(claim(fixture, 1, NULL), "older");
    assert_string_equal(claim(fixture, 1, NULL), "younger");
    assert_string_equal(claim(fixture, 1, NULL), "");
}

TEST_OF(fixture, a_row_whose_instance_was_deleted_is_given_to_nobody)
{
    (void)create_told(fixture, "a", "mail");
    (void)create_told(fixture, "b", "mail");
    run_raw_sql(fixture, "DELETE FROM workflow_instance WHERE id = 'a'");
    assert_string_equal(claim(fixture, 1, NULL), "b");
    fixture->now_ms += LEASE_MS;
    assert_string_equal(claim(fixture, 2, NULL), "b");
    assert_int_equal(row_count(fixture), 1);
}

/* ---- Settling ------------------------------------------------------------------------------------------------ */

TEST_OF(fixture, what_was_delivered_is_deleted)
{
    (void)create_told(fixture, "a", "mail");
    struct pw_hook_row row = claim_one(fixture, "a");
    assert_true(settle(fixture, row.key, row.epoch, NULL, 0));
    assert_int_equal(row_count(fixture), 0);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_hook"), 0);
}

TEST_OF(fixture, what_failed_is_due_again_later_with_its_error)
{
    (void)create_told(fixture, "a", "mail");
    struct pw_hook_row row = claim_one(fixture, "a");
    assert_true(settle(fixture, row.key, row.epoch, "no route", FIXTURE_NOW_MS + 10));
    assert_text(only_row(fixture).last_error, "no route");
    assert_int_equal(only_row(fixture).locked_until_ms, 0);
    assert_string_equal(claim(fixture, 1, NULL), "");
    fixture->now_ms += 10;
    assert_int_equal(claim_one(fixture, "a").attempts, 2);
}

TEST_OF(fixture, an_attempt_that_was_not_made_does_not_count)
{
    (void)create_told(fixture, "a", "mail");
    struct pw_hook_row row = claim_one(fixture, "a");
    fixture_clear_units(fixture);
    add(fixture_unit(fixture), PW_OP_HOOK_SETTLE)->as.hook_settle = (struct pw_op_hook_settle){
        .key = row.key, .epoch = row.epoch, .untried = true, .next_at_ms = FIXTURE_NOW_MS + 10
    };
    fixture_apply_all(fixture);
    assert_int_equal(only_row(fixture).attempts, 0);
    assert_int_equal(only_row(fixture).next_at_ms, FIXTURE_NOW_MS + 10);
    fixture->now_ms += 10;
    assert_int_equal(claim_one(fixture, "a").attempts, 1);
}

TEST_OF(fixture, what_failed_for_good_stays_and_is_due_no_more)
{
    (void)create_told(fixture, "a", "mail");
    struct pw_hook_row row = claim_one(fixture, "a");
    assert_true(settle(fixture, row.key, row.epoch, "gone", 0));
    fixture->now_ms += INT64_C(1) << 40;
    assert_string_equal(claim(fixture, 1, NULL), "");
    assert_true(next_hook(fixture, "mail") == INT64_MAX);
    assert_int_equal(only_row(fixture).next_at_ms, 0);
}

TEST_OF(fixture, a_late_settling_changes_nothing)
{
    (void)create_told(fixture, "a", "mail");
    struct pw_hook_row late = claim_one(fixture, "a");
    fixture->now_ms += LEASE_MS;
    struct pw_hook_row row = claim_one(fixture, "a");
    assert_false(settle(fixture, late.key, late.epoch, NULL, 0));
    assert_false(settle(fixture, late.key, late.epoch, "late", 0));
    assert_null(only_row(fixture).last_error.data);
    assert_true(settle(fixture, row.key, row.epoch, NULL, 0));
    assert_false(settle(fixture, row.key, row.epoch, NULL, 0));
}

TEST_OF(fixture, a_settling_after_the_lease_counts_while_nobody_took_it)
{
    (void)create_told(fixture, "a", "mail");
    struct pw_hook_row row = claim_one(fixture, "a");
    fixture->now_ms += 10 * LEASE_MS;
    assert_true(settle(fixture, row.key, row.epoch, NULL, 0));
}

TEST_OF(fixture, sending_again_begins_from_the_start)
{
    (void)create_told(fixture, "a", "mail");
    struct pw_hook_row row = claim_one(fixture, "a");
    assert_true(settle(fixture, row.key, row.epoch, "gone", 0));
    fixture->now_ms += 7;
    assert_true(resend(fixture, "a"));
    assert_int_equal(only_row(fixture).attempts, 0);
    assert_int_equal(only_row(fixture).next_at_ms, FIXTURE_NOW_MS + 7);
    assert_int_equal(claim_one(fixture, "a").attempts, 1);
    assert_false(resend(fixture, "b"));
}

TEST_OF(fixture, sending_again_takes_an_attempt_under_way_its_say)
{
    (void)create_told(fixture, "a", "mail");
    struct pw_hook_row row = claim_one(fixture, "a");
    assert_true(resend(fixture, "a"));
    assert_false(settle(fixture, row.key, row.epoch, "gone", 0));
    assert_int_equal(claim_one(fixture, "a").attempts, 1);
}

TEST_OF(fixture, the_next_is_the_earliest_row_or_the_end_of_a_lease)
{
    assert_true(next_hook(fixture, "mail") == INT64_MAX);
    (void)create_told(fixture, "a", "mail");
    assert_int_equal(next_hook(fixture, "mail"), FIXTURE_NOW_MS);
    assert_true(next_hook(fixture, "audit") == INT64_MAX);
    struct pw_hook_row row = claim_one(fixture, "a");
    assert_int_equal(next_hook(fixture, "mail"), FIXTURE_NOW_MS + LEASE_MS);
    assert_true(settle(fixture, row.key, row.epoch, "no", FIXTURE_NOW_MS + 40));
    assert_int_equal(next_hook(fixture, "mail"), FIXTURE_NOW_MS + 40);
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

/* The ids of all pages of two, as "a b c". */
static const char *listed(struct fixture *fixture, struct pw_hook_query query)
{
    static char ids[256];
    struct pw_hook_row *rows;
    size_t count;
    query.after_key = 0;
    query.max = 2;
    ids[0] = '\0';
    do {
        count = list(fixture, query, &rows);
        for (size_t i = 0; i < count; i++)
            (void)snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%s", ids[0] != '\0' ? " " : "",
                           rows[i].id.data);
        query.after_key = count > 0 ? rows[count - 1].key : 0;
    } while (count == 2);
    return ids;
}

TEST_OF(fixture, lists_are_by_hook_and_status_oldest_first)
{
    static const char *const ids[] = { "a", "b", "c", "d", "e", "f", "g" };
    for (size_t i = 0; i < 7; i++)
        (void)create_told(fixture, ids[i], i % 2 == 0 ? "mail" : "audit");
    run_raw_sql(fixture, "UPDATE workflow_hook SET next_at = NULL WHERE id IN ('b', 'c', 'g')");
    struct pw_text mail = text("mail"), audit = text("audit"), nobody = text("nobody");
    const enum pawl_delivery_status pending = PAWL_DELIVERY_PENDING, failed = PAWL_DELIVERY_FAILED;

    assert_string_equal(listed(fixture, (struct pw_hook_query){ .max = 0 }), "a b c d e f g");
    assert_string_equal(listed(fixture, (struct pw_hook_query){ .has_status = true, .status = pending }), "a d e f");
    assert_string_equal(listed(fixture, (struct pw_hook_query){ .has_status = true, .status = failed }), "b c g");
    assert_string_equal(listed(fixture, (struct pw_hook_query){ .hook = mail }), "a c e g");
    assert_string_equal(listed(fixture, (struct pw_hook_query){ .hook = audit }), "b d f");
    assert_string_equal(listed(fixture, (struct pw_hook_query){ .hook = mail, .has_status = true, .status = failed }),
                        "c g");
    assert_string_equal(listed(fixture, (struct pw_hook_query){ .hook = mail, .has_status = true, .status = pending }),
                        "a e");
    assert_string_equal(listed(fixture, (struct pw_hook_query){ .hook = nobody }), "");
}

TEST_OF(fixture, the_view_shows_words)
{
    (void)create_told(fixture, "a", "mail");
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_hooks WHERE id = 'a' AND hook = 'mail'"
                                           " AND event = 'onWorkflowEnqueued' AND reason = 'create'"
                                           " AND outcome IS NULL AND status = 'pending' AND workflow = 'order'"
                                           " AND instance_id = 'a' AND next_at LIKE '19%Z'"),
                     1);
}

TEST_OF(fixture, the_users_sql_may_not_write_it)
{
    static const char *const sql[] = { "DELETE FROM workflow_hook", "DROP VIEW workflow_hooks",
                                       "UPDATE workflow_hook SET attempts = 0" };
    for (size_t i = 0; i < sizeof sql / sizeof sql[0]; i++) {
        fixture_clear_units(fixture);
        struct pw_unit *unit = fixture_unit(fixture);
        (void)add_sql(unit, sql[i], NULL);
        fixture_apply(fixture);
        assert_int_equal(unit->status, PAWL_STEP_MUTATION_FAILED);
    }
}

/* ---- The schema's second version ----------------------------------------------------------------------------- */

static const char rows_of_version_1[] =
    "INSERT INTO workflow_instance (workflow, id, run, created_at, updated_at) VALUES ('order', 'old', 1, 5, 5)";

TEST_IN(on_file, fixture, a_file_of_version_1_is_migrated_and_keeps_what_it_has)
{
    old_database_open(fixture, 1, rows_of_version_1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instance WHERE id = 'old'"), 1);
    (void)create_told(fixture, "a", "mail");
    assert_string_equal(claim(fixture, 1, NULL), "a");
}

TEST_IN(on_file, fixture, a_file_of_version_1_with_somebody_elses_table_of_the_name_is_refused_and_left_alone)
{
    struct pw_store *store = NULL;
    old_database_make(fixture, 1, rows_of_version_1);
    store_place_execute(&fixture->place, "CREATE TABLE workflow_hook (theirs)");
    assert_int_equal(pw_store_open(fixture->url, (struct pawl_clock){ .now_ms = fixture_now, .user = fixture }, &store,
                                   &fixture->error),
                     PAWL_STORE_CORRUPT);
    assert_non_null(strstr(fixture->error.text, "another file"));
    assert_int_equal(store_place_number(&fixture->place, "SELECT count(theirs) FROM workflow_hook"), 0);
    assert_int_equal(store_place_number(&fixture->place, "SELECT version FROM workflow_schema"), 1);
}
