/* One store made of several databases: where an instance lives, seats, keys, divided units and merged lists. */
#include "several_fixture.h"

enum { IDS_MAX = 64 };

static pawl_status try_open(struct fixture *fixture, const char *url)
{
    struct pw_store *store = NULL;
    pawl_status status = pw_store_open(url, (struct pawl_clock){ fixture_now, fixture }, &store, &fixture->error);
    if (status == PAWL_OK)
        store->ops->close(store);
    return status;
}

static void close_it(struct fixture *fixture)
{
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
}

static void assert_says(const struct fixture *fixture, const char *words)
{
    if (strstr(fixture->error.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", fixture->error.text, words);
}

/* ---- Homes ------------------------------------------------------------------------------------------------------- */

/* They are on disk: whatever changes one of them loses every instance that moves. */
static void the_home_of_an_instance_is_the_same_for_ever(void **state)
{
    (void)state;
    assert_int_equal(pw_home_of(text("order"), text("a"), 2), 0);
    assert_int_equal(pw_home_of(text("order"), text("b"), 2), 1);
    assert_int_equal(pw_home_of(text("order"), text("0193-4711"), 7), 6);
    assert_int_equal(pw_home_of(text("refund"), text("0193-4711"), 7), 4);
    assert_int_equal(pw_home_of(text("order"), text(""), 16), 4);
    assert_int_equal(pw_home_of(text("order"), text("anything"), 1), 0);
}

static void instances_spread_evenly_and_not_by_their_workflow_alone(void **state)
{
    int homes[16] = { 0 }, moved = 0;
    (void)state;
    for (int i = 0; i < 16000; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        homes[pw_home_of(text("order"), text(id), 16)]++;
        moved += pw_home_of(text("order"), text(id), 16) != pw_home_of(text("refund"), text(id), 16);
    }
    for (int i = 0; i < 16; i++)
        assert_in_range(homes[i], 850, 1150);
    assert_in_range(moved, 14500, 15500);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static void urls_are_divided_by_white_space_before_a_scheme_only(void **state)
{
    struct fixture *fixture = *state;
    char url[512];
    close_it(fixture);
    snprintf(url, sizeof url, "sqlite:%s/0.db \t\n sqlite:%s/1.db?busy_ms=5\nsqlite:%s/2.db", fixture->place.folder,
             fixture->place.folder, fixture->place.folder);
    assert_int_equal(try_open(fixture, url), PAWL_OK);

    snprintf(url, sizeof url, "sqlite:%s/a name with spaces.db", fixture->place.folder);
    assert_int_equal(try_open(fixture, url), PAWL_OK);
    assert_int_equal(unlink(url + strlen("sqlite:")), 0);
}

static void a_store_of_one_is_not_wrapped(void **state)
{
    struct fixture *fixture = *state;
    close_it(fixture);
    snprintf(fixture->url, sizeof fixture->url, "%s", fixture->place.url);
    fixture->store = fixture_open_store(fixture);
    assert_string_equal(fixture->store->ops->name, "sqlite");
    assert_int_equal(pw_store_homes(fixture->store), 1);
}

static void more_than_sixteen_are_refused(void **state)
{
    struct fixture *fixture = *state;
    char url[400] = "";
    for (int i = 0; i < 17; i++)
        strcat(url, "sqlite::memory: ");
    assert_int_equal(try_open(fixture, url), PAWL_INVALID);
    assert_says(fixture, "at most 16");
}

static void one_that_cannot_be_opened_is_named_and_nothing_is_left_open(void **state)
{
    struct fixture *fixture = *state;
    int before = count_descriptors();
    assert_int_equal(try_open(fixture, "sqlite::memory: sqlite:/nowhere/at/all.db"), PAWL_STORE_UNAVAILABLE);
    assert_says(fixture, "/nowhere/at/all.db");
    assert_int_equal(try_open(fixture, "sqlite::memory: sqlite:"), PAWL_INVALID);
    assert_int_equal(count_descriptors(), before);
}

/* Two files of the folder, in this order. */
static pawl_status try_two(struct fixture *fixture, int first, int second)
{
    char url[512];
    snprintf(url, sizeof url, "sqlite:%s/%d.db sqlite:%s/%d.db", fixture->place.folder, first, fixture->place.folder,
             second);
    return try_open(fixture, url);
}

static void databases_keep_their_order_and_number(void **state)
{
    struct fixture *fixture = *state;
    close_it(fixture);
    open_files(fixture, 3); /* again, as they were */
    close_it(fixture);

    assert_int_equal(try_two(fixture, 0, 1), PAWL_INVALID);
    assert_says(fixture, "database 1 of the 2 named is number 1 of 3");
    char url[512];
    snprintf(url, sizeof url, "sqlite:%s/0.db sqlite:%s/2.db sqlite:%s/1.db", fixture->place.folder,
             fixture->place.folder, fixture->place.folder);
    assert_int_equal(try_open(fixture, url), PAWL_INVALID);
    assert_says(fixture, "database 2 of the 3 named is number 3 of 3");
    assert_says(fixture, "in their order");
    snprintf(url, sizeof url, "sqlite:%s/1.db", fixture->place.folder);
    assert_int_equal(try_open(fixture, url), PAWL_INVALID);
    assert_says(fixture, "number 2 of 3");
    assert_says(fixture, "name all of them");
}

static void databases_of_two_stores_are_not_mixed(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(try_two(fixture, 4, 5), PAWL_OK);
    assert_int_equal(try_two(fixture, 6, 7), PAWL_OK);
    assert_int_equal(try_two(fixture, 4, 7), PAWL_INVALID);
    assert_says(fixture, "database 2 of the 2 named belongs to another store");
    assert_int_equal(try_two(fixture, 4, 5), PAWL_OK);
}

static void a_database_with_instances_of_its_own_is_not_taken_in(void **state)
{
    struct fixture *fixture = *state;
    close_it(fixture);
    snprintf(fixture->url, sizeof fixture->url, "sqlite:%s/4.db", fixture->place.folder);
    fixture->store = fixture_open_store(fixture);
    (void)create_instance(fixture, "order", "a");
    close_it(fixture);
    assert_int_equal(try_two(fixture, 5, 4), PAWL_INVALID);
    assert_says(fixture, "database 2 of the 2 named");
    assert_says(fixture, "has instances of its own");
    assert_int_equal(try_open(fixture, fixture->url), PAWL_OK); /* as it was */
    assert_int_equal(try_two(fixture, 5, 6), PAWL_OK);          /* the other was not marked, either */
}

/* What was lost does not begin anew unnoticed. */
static void an_empty_database_does_not_take_the_place_of_one_that_is_gone(void **state)
{
    struct fixture *fixture = *state;
    char path[192];
    (void)create_instance(fixture, "order", id_at(0, 3, 0));
    close_it(fixture);
    snprintf(path, sizeof path, "%s/1.db", fixture->place.folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(try_open(fixture, fixture->url), PAWL_INVALID);
    assert_says(fixture, "database 2 of the 3 named has no place");
    assert_says(fixture, "others of them have instances");
}

/* The first opening may have ended half-way. */
static void a_seat_that_was_not_taken_yet_is_taken_while_all_are_empty(void **state)
{
    struct fixture *fixture = *state;
    char path[192];
    close_it(fixture);
    snprintf(path, sizeof path, "%s/2.db", fixture->place.folder);
    assert_int_equal(unlink(path), 0);
    open_files(fixture, 3);
    close_it(fixture);
    assert_int_equal(try_open(fixture, fixture->url), PAWL_OK);
}

static void the_same_database_twice_is_refused(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(try_two(fixture, 4, 4), PAWL_INVALID);
    assert_says(fixture, "databases 1 and 2 of the 2 named are the same one");
    assert_int_equal(try_two(fixture, 4, 5), PAWL_OK); /* it was left alone */
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static void an_instance_is_found_by_its_key_and_by_its_id_wherever_it_lives(void **state)
{
    struct fixture *fixture = *state;
    for (size_t home = 0; home < 3; home++) {
        const char *id = id_at(home, 3, 0);
        struct pw_fence at = create_held(fixture, "order", id);
        struct pw_instance instance;
        assert_int_equal((size_t)at.instance % 3, home);
        assert_text(read_key(fixture, at.instance).id, id);
        assert_int_equal(fixture->store->ops->read_instance(fixture->store, &fixture->arena, text("order"), text(id),
                                                            &instance, &fixture->error),
                         PAWL_OK);
        assert_int_equal(instance.key, at.instance);
        struct pw_unit *unit = fixture_unit(fixture);
        (void)add_fence(unit, at);
        (void)add_step(unit, at, 1, "charge");
        struct pw_op_hold *hold = add_hold(unit, at);
        fixture_apply(fixture);
        assert_int_equal(unit->status, PAWL_OK);
        assert_int_equal(hold->claim.fence.instance, at.instance);
        assert_int_equal(unit->first->as.fence.at.instance, at.instance);
        fixture_clear_units(fixture);
        assert_int_equal(step_count(fixture, at), 1);
        struct pw_seat seat;
        struct pw_store *member = several_of(fixture)->members[home].store;
        assert_int_equal(member->ops->take_seat(member, NULL, &seat, NULL), PAWL_OK);
        assert_false(seat.is_empty);
    }
    struct pw_instance none;
    assert_int_equal(
        fixture->store->ops->read_instance_by_key(fixture->store, &fixture->arena, 3000, &none, &fixture->error),
        PAWL_INSTANCE_NOT_FOUND);
}

static void one_apply_may_hold_units_of_all_and_each_stands_on_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at[3];
    for (size_t home = 0; home < 3; home++)
        at[home] = create_held(fixture, "order", id_at(home, 3, 0));
    at[1].epoch++; /* whose it no longer is */
    for (size_t i = 0; i < 6; i++) {
        struct pw_unit *unit = fixture_unit(fixture);
        (void)add_fence(unit, at[i % 3]);
        (void)add_step(unit, at[i % 3], 1 + (int64_t)i / 3, i < 3 ? "one" : "two");
    }
    fixture_apply(fixture);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(fixture->units[i].status, i % 3 == 1 ? PAWL_CONFLICT : PAWL_OK);
    fixture_clear_units(fixture);
    assert_int_equal(step_count(fixture, at[0]), 2);
    assert_int_equal(step_count(fixture, at[1]), 0);
    assert_int_equal(step_count(fixture, at[2]), 2);
}

static void a_unit_about_two_databases_is_refused_before_anything_is_done(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", id_at(0, 3, 0));
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, at);
    (void)add_step(unit, at, 1, "charge");
    (void)add_create(unit, "order", id_at(1, 3, 0));
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_INVALID);
    assert_non_null(strstr(unit->error.text, "one database"));
    fixture_clear_units(fixture);
    assert_int_equal(step_count(fixture, at), 0);
}

static void a_lane_is_about_one_database(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_store_ops *ops = fixture->store->ops;
    assert_int_equal(ops->lanes(fixture->store), 4);
    for (size_t home = 0; home < 3; home++) {
        struct pw_unit *create = fixture_unit(fixture), *fence = fixture_unit(fixture);
        (void)add_create(create, "order", id_at(home, 3, 5));
        (void)add_fence(fence, (struct pw_fence){ .instance = 3 * 7 + (int64_t)home });
        assert_int_equal(ops->lane_of(fixture->store, create), home);
        assert_int_equal(ops->lane_of(fixture->store, fence), home);
    }
    struct pw_unit *claim = fixture_unit(fixture);
    (void)add(claim, PW_OP_REAP);
    (void)add(claim, PW_OP_CLAIM);
    assert_int_equal(ops->lane_of(fixture->store, claim), 3);
}

/* ---- Divided units ----------------------------------------------------------------------------------------------- */

static void a_batch_is_created_in_every_home_and_leaves_what_is_there(void **state)
{
    struct fixture *fixture = *state;
    struct pw_op_create *ops[9];
    struct pw_fence known = create_instance(fixture, "order", id_at(1, 3, 0));
    struct pw_unit *unit = fixture_unit(fixture);
    for (int i = 0; i < 9; i++) {
        ops[i] = add_create(unit, "order", id_at((size_t)i % 3, 3, i / 3));
        ops[i]->skip_existing = true;
        struct pw_op *cause = unit->last;
        struct pw_op_hook *hook = &add(unit, PW_OP_HOOK)->as.hook;
        static char hook_ids[9][16];
        snprintf(hook_ids[i], sizeof hook_ids[i], "h%d", i);
        *hook = (struct pw_op_hook){ .cause = cause, .id = text(hook_ids[i]), .hook = text("mail") };
        hook->event = PAWL_HOOK_ENQUEUED;
        hook->reason = PW_REASON_CREATE;
        hook->attempts_max = 3;
    }
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_OK);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(ops[i]->created, i != 1);
        if (i != 1)
            assert_text(read_key(fixture, ops[i]->fence.instance).id, id_at((size_t)i % 3, 3, i / 3));
    }
    assert_int_equal(unit->first->kind, PW_OP_CREATE); /* in the order in which they were */
    assert_int_equal(unit->last->kind, PW_OP_HOOK);
    fixture_clear_units(fixture);
    assert_int_equal(try_fence(fixture, known), PAWL_OK);
    struct pw_task_counts counts;
    assert_int_equal(fixture->store->ops->count_tasks(fixture->store, fixture->now_ms, &counts, NULL), PAWL_OK);
    assert_int_equal(counts.active, 9);
    assert_int_equal(counts.hooks_pending, 8);
}

static void statuses_are_counted_in_all_up_to_the_limit(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_text workflows[] = { text("order"), text("none") };
    struct pw_status_counts counts;
    for (int i = 0; i < 7; i++)
        (void)create_instance(fixture, "order", id_at((size_t)i % 3, 3, i / 3));
    assert_int_equal(fixture->store->ops->count_statuses(fixture->store, workflows, 2, 100, &counts, NULL), PAWL_OK);
    assert_int_equal(counts.of[PAWL_ACTIVE], 7);
    assert_int_equal(counts.of[PAWL_COMPLETE], 0);
    assert_int_equal(fixture->store->ops->count_statuses(fixture->store, workflows, 2, 5, &counts, NULL), PAWL_OK);
    assert_int_equal(counts.of[PAWL_ACTIVE], 5);
    assert_int_equal(fixture->store->ops->count_statuses(fixture->store, workflows + 1, 1, 5, &counts, NULL), PAWL_OK);
    assert_int_equal(counts.of[PAWL_ACTIVE], 0);
}

static void claims_take_from_all_up_to_the_limit(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_text order = text("order");
    int homes[3] = { 0 };
    for (int i = 0; i < 12; i++)
        (void)create_instance(fixture, "order", id_at((size_t)i % 3, 3, i / 3));
    struct pw_op_claim *claim = fixture_claim(fixture, &order, 1, 5);
    assert_int_equal(claim->claim_count, 5);
    assert_int_equal(claim->max, 5);
    for (size_t i = 0; i < claim->claim_count; i++) {
        assert_text(read_key(fixture, claim->claims[i].fence.instance).id, claim->claims[i].id.data);
        homes[claim->claims[i].fence.instance % 3]++;
    }
    claim = fixture_claim(fixture, &order, 1, 100);
    assert_int_equal(claim->claim_count, 7);
    for (size_t i = 0; i < claim->claim_count; i++)
        homes[claim->claims[i].fence.instance % 3]++;
    for (int home = 0; home < 3; home++)
        assert_int_equal(homes[home], 4);
    fixture_clear_units(fixture);
}

/* A lone claimer must not keep asking the same one first. */
static void claims_begin_with_another_database_each_time(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_text order = text("order");
    int homes[3] = { 0 };
    for (int i = 0; i < 9; i++)
        (void)create_instance(fixture, "order", id_at((size_t)i % 3, 3, i / 3));
    for (int i = 0; i < 3; i++)
        homes[fixture_claim(fixture, &order, 1, 1)->claims[0].fence.instance % 3]++;
    for (int home = 0; home < 3; home++)
        assert_int_equal(homes[home], 1);
    fixture_clear_units(fixture);
}

static void leases_are_renewed_where_they_are_held(void **state)
{
    struct fixture *fixture = *state;
    struct pw_lease leases[6];
    for (int i = 0; i < 6; i++) {
        leases[i] = (struct pw_lease){ .fence = create_held(fixture, "order", id_at((size_t)i % 3, 3, i / 3)) };
        leases[i].fence.epoch += i == 4;
    }
    struct pw_op_renew *renew = &add(fixture_unit(fixture), PW_OP_RENEW)->as.renew;
    *renew = (struct pw_op_renew){ FIXTURE_OWNER, 5000, leases, 6 };
    fixture_apply_all(fixture);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(leases[i].lost, i == 4);
        struct pw_instance instance = read_key(fixture, leases[i].fence.instance);
        assert_int_equal(instance.task.locked_until_ms, fixture->now_ms + (i == 4 ? FIXTURE_LEASE_MS : 5000));
    }
}

static void deliveries_are_claimed_settled_and_sent_again_wherever_they_are(void **state)
{
    struct fixture *fixture = *state;
    const struct pw_hook_wanted mail = { text("mail"), 1000 };
    struct pw_hook_row rows[3];
    for (size_t home = 0; home < 3; home++)
        (void)create_told(fixture, id_at(home, 3, 0));
    struct pw_op_hook_claim *claim = &add(fixture_unit(fixture), PW_OP_HOOK_CLAIM)->as.hook_claim;
    *claim = (struct pw_op_hook_claim){ .wanted = &mail, .wanted_count = 1, .max = 10 };
    fixture_apply(fixture);
    assert_int_equal(claim->row_count, 3);
    memcpy(rows, claim->rows, sizeof rows);
    const char *failed_id = id_at((size_t)rows[0].key % 3, 3, 0);

    /* One fails for good, the others are delivered, and a claim comes with it that finds nothing. */
    struct pw_unit *unit = fixture_unit(fixture);
    for (int i = 0; i < 3; i++) {
        struct pw_op_hook_settle *settle = &add(unit, PW_OP_HOOK_SETTLE)->as.hook_settle;
        *settle = (struct pw_op_hook_settle){ .key = rows[i].key, .epoch = rows[i].epoch, .delivered = i > 0 };
        settle->last_error = text("no");
    }
    claim = &add(unit, PW_OP_HOOK_CLAIM)->as.hook_claim;
    *claim = (struct pw_op_hook_claim){ .wanted = &mail, .wanted_count = 1, .max = 10 };
    struct pw_unit *units[] = { unit };
    assert_int_equal(fixture->store->ops->apply(fixture->store, units, 1, fixture->now_ms, NULL), PAWL_OK);
    assert_int_equal(claim->row_count, 0);
    for (const struct pw_op *op = unit->first; op->kind == PW_OP_HOOK_SETTLE; op = op->next)
        assert_false(op->as.hook_settle.lost);
    fixture_clear_units(fixture);

    struct pw_unit *again = fixture_unit(fixture), *never = fixture_unit(fixture);
    add(again, PW_OP_HOOK_RESEND)->as.hook_resend.id = text(failed_id);
    add(never, PW_OP_HOOK_RESEND)->as.hook_resend.id = text("unknown");
    fixture_apply(fixture);
    assert_true(again->first->as.hook_resend.found);
    assert_false(never->first->as.hook_resend.found);
    fixture_clear_units(fixture);
    int64_t at_ms = 0;
    assert_int_equal(fixture->store->ops->next_hook(fixture->store, &mail.hook, 1, &at_ms, NULL), PAWL_OK);
    assert_int_equal(at_ms, fixture->now_ms);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Pages until the end; rows that are added meanwhile come at a later time.  Returns how many of the first `known` were
 * listed, each once. */
static void list_and_check(struct fixture *fixture, bool oldest_first, size_t page, int known, int *extra)
{
    char seen[IDS_MAX * 4] = { 0 };
    int64_t last_ms = oldest_first ? 0 : INT64_MAX;
    struct pw_positions positions;
    struct pw_instance_query query = { .workflow = text("order"), .oldest_first = oldest_first, .max = page };
    size_t count;
    int listed = 0;
    pw_positions_init(&positions, fixture->store);
    query.positions = &positions;
    do {
        struct pw_instance *rows = NULL;
        assert_int_equal(
            fixture->store->ops->list_instances(fixture->store, &fixture->arena, &query, &rows, &count, NULL), PAWL_OK);
        for (size_t i = 0; i < count; i++) {
            int number = atoi(rows[i].id.data + 1);
            assert_in_range(number, 0, sizeof seen - 1);
            assert_false(seen[number]);
            seen[number] = 1;
            assert_true(oldest_first ? rows[i].created_at_ms >= last_ms : rows[i].created_at_ms <= last_ms);
            last_ms = rows[i].created_at_ms;
            listed += number < known;
            pw_positions_pass(&positions, rows[i].key);
        }
        if (*extra < (int)sizeof seen && listed < known) {
            char id[16];
            snprintf(id, sizeof id, "i%d", (*extra)++);
            fixture->now_ms++;
            (void)create_instance(fixture, "order", id);
        }
    } while (count == page);
    assert_int_equal(listed, known);
}

static void pages_of_any_size_list_each_row_once_in_both_directions_while_rows_are_added(void **state)
{
    struct fixture *fixture = *state;
    int extra = 30;
    for (int i = 0; i < 30; i++) {
        char id[16];
        snprintf(id, sizeof id, "i%d", i);
        fixture->now_ms += i % 3 == 0; /* some at the same time */
        (void)create_instance(fixture, "order", id);
    }
    for (size_t page = 1; page <= 31; page += 1 + page / 4) {
        list_and_check(fixture, true, page, 30, &extra);
        list_and_check(fixture, false, page, 30, &extra);
    }
    assert_true(extra > 60);
}

/* Its newest row is older than all of the page, or it has none; one that is added then is not part of the listing, as in a
 * store of one. */
static void what_is_added_to_a_database_that_was_not_on_the_page_stays_out_of_the_next(void **state)
{
    struct fixture *fixture = *state;
    struct pw_positions positions;
    struct pw_instance *rows = NULL;
    size_t count = 0;
    (void)create_instance(fixture, "order", id_at(1, 3, 0));
    fixture->now_ms++;
    for (int i = 0; i < 2; i++)
        (void)create_instance(fixture, "order", id_at(0, 3, i));
    pw_positions_init(&positions, fixture->store);
    struct pw_instance_query query = { .workflow = text("order"), .max = 2, .positions = &positions };
    const struct pw_store_ops *ops = fixture->store->ops;
    assert_int_equal(ops->list_instances(fixture->store, &fixture->arena, &query, &rows, &count, NULL), PAWL_OK);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++)
        pw_positions_pass(&positions, rows[i].key);
    fixture->now_ms++;
    (void)create_instance(fixture, "order", id_at(1, 3, 1));
    (void)create_instance(fixture, "order", id_at(2, 3, 0));
    assert_int_equal(ops->list_instances(fixture->store, &fixture->arena, &query, &rows, &count, NULL), PAWL_OK);
    assert_int_equal(count, 1);
    assert_text(rows[0].id, id_at(1, 3, 0));
}

static void deliveries_are_listed_oldest_first_each_once(void **state)
{
    struct fixture *fixture = *state;
    for (size_t page = 1; page < 6; page += 2) {
        struct pw_positions positions;
        struct pw_hook_query query = { .max = page, .positions = &positions };
        size_t count, listed = 0;
        for (int i = 0; i < 12; i++) {
            char id[16];
            snprintf(id, sizeof id, "p%zu-%d", page, i);
            fixture->now_ms++;
            (void)create_told(fixture, id);
        }
        pw_positions_init(&positions, fixture->store);
        int64_t last_ms = 0;
        do {
            struct pw_hook_row *rows = NULL;
            assert_int_equal(
                fixture->store->ops->list_hooks(fixture->store, &fixture->arena, &query, &rows, &count, NULL), PAWL_OK);
            for (size_t i = 0; i < count; i++) {
                assert_true(rows[i].created_at_ms > last_ms);
                last_ms = rows[i].created_at_ms;
                pw_positions_pass(&positions, rows[i].key);
                listed++;
            }
        } while (count == page);
        assert_int_equal(listed, 12 * ((page + 1) / 2));
    }
}

#define ON_FILES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_home_of_an_instance_is_the_same_for_ever),
        cmocka_unit_test(instances_spread_evenly_and_not_by_their_workflow_alone),
        ON_FILES(urls_are_divided_by_white_space_before_a_scheme_only),
        ON_FILES(a_store_of_one_is_not_wrapped),
        ON_FILES(more_than_sixteen_are_refused),
        ON_FILES(one_that_cannot_be_opened_is_named_and_nothing_is_left_open),
        ON_FILES(databases_keep_their_order_and_number),
        ON_FILES(databases_of_two_stores_are_not_mixed),
        ON_FILES(a_database_with_instances_of_its_own_is_not_taken_in),
        ON_FILES(an_empty_database_does_not_take_the_place_of_one_that_is_gone),
        ON_FILES(a_seat_that_was_not_taken_yet_is_taken_while_all_are_empty),
        ON_FILES(the_same_database_twice_is_refused),
        ON_FILES(an_instance_is_found_by_its_key_and_by_its_id_wherever_it_lives),
        ON_FILES(one_apply_may_hold_units_of_all_and_each_stands_on_its_own),
        ON_FILES(a_unit_about_two_databases_is_refused_before_anything_is_done),
        ON_FILES(a_lane_is_about_one_database),
        ON_FILES(a_batch_is_created_in_every_home_and_leaves_what_is_there),
        ON_FILES(statuses_are_counted_in_all_up_to_the_limit),
        ON_FILES(claims_take_from_all_up_to_the_limit),
        ON_FILES(claims_begin_with_another_database_each_time),
        ON_FILES(leases_are_renewed_where_they_are_held),
        ON_FILES(deliveries_are_claimed_settled_and_sent_again_wherever_they_are),
        ON_FILES(pages_of_any_size_list_each_row_once_in_both_directions_while_rows_are_added),
        ON_FILES(what_is_added_to_a_database_that_was_not_on_the_page_stays_out_of_the_next),
        ON_FILES(deliveries_are_listed_oldest_first_each_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
