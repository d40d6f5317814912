/* test_store_links.c - what runs are to each other: links, demands, reaching children, ending jobs, and leases of somebody
 * outside.  On all stores.  Answers and the steps that a new run keeps are in test_store_answers.c. */
#include "kit/store_fixture.h"

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static void assert_link(struct pw_link link, struct pw_fence parent, enum pw_relation relation)
{
    assert_int_equal(link.parent, parent.instance);
    assert_int_equal(link.run, parent.run);
    assert_int_equal(link.relation, relation);
}

TEST_OF(fixture, an_instance_knows_the_run_that_made_it_and_what_it_is_to_it) /* A14 */
{
    struct pw_fence parent = create_held(fixture, "order", "a");
    for (enum pw_relation relation = PW_RELATION_ATTACHED; relation <= PW_RELATION_JOB; relation++) {
        struct linked child = create_linked(fixture, parent, "refund", relation);
        struct pw_instance row = read_key(fixture, child.at.instance);
        struct pw_step_row step;
        bool has_step;
        assert_link(row.link, parent, relation);
        assert_int_equal(
            pw_read_instance(fixture->store, &fixture->arena, text("refund"), text(child.id), &row, &fixture->error),
            PAWL_OK);
        assert_link(row.link, parent, relation);
        assert_int_equal(pw_read_current(fixture->store, &fixture->arena, text("refund"), text(child.id), &row, &step,
                                         &has_step, &fixture->error),
                         PAWL_OK);
        assert_link(row.link, parent, relation);
    }
    struct pw_link none = read_key(fixture, parent.instance).link;
    assert_link(none, (struct pw_fence){ 0, 0, 0 }, PW_RELATION_NONE);
}

TEST_OF(fixture, whoever_begins_a_run_is_told_its_link) /* A14 */
{
    const struct pw_text refund = text("refund");
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct linked child = create_linked(fixture, parent, "refund", PW_RELATION_DETACHED);
    struct pw_op_claim *claim = fixture_claim(fixture, &refund, 1, 5);
    assert_int_equal(claim->claim_count, 1);
    assert_true(claim->claims[0].has_instance);
    assert_link(claim->claims[0].link, parent, PW_RELATION_DETACHED);
    fixture->now_ms += 2 * FIXTURE_LEASE_MS;
    claim = fixture_claim(fixture, &refund, 1,
                          5); /* not for the first time: by now there is more to read, but for the link */
    assert_int_equal(claim->claim_count, 1);
    assert_false(claim->claims[0].has_instance);
    assert_link(claim->claims[0].link, parent, PW_RELATION_DETACHED);
    fixture_clear_units(fixture);
    child = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED);
    struct pw_op_hold *hold = add_hold(fixture_unit(fixture), child.at);
    fixture_apply(fixture);
    assert_true(hold->claim.has_instance);
    assert_link(hold->claim.link, parent, PW_RELATION_ATTACHED);
    if (!fixture->store->ops->reads_runs)
        return;
    struct pw_run_rows rows;
    assert_int_equal(pw_read_run(fixture->store, &fixture->arena, child.at.instance, 1, false, &rows, &fixture->error),
                     PAWL_OK);
    assert_link(rows.link, parent, PW_RELATION_ATTACHED);
}

TEST_OF(fixture, a_link_outlives_restarts_and_ends)
{
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct linked child = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED);
    add(fixture_unit(fixture), PW_OP_RESTART)->as.restart =
        (struct pw_op_restart){ .instance = child.at.instance, .run = 1 };
    fixture_apply_all(fixture);
    assert_link(read_key(fixture, child.at.instance).link, parent, PW_RELATION_ATTACHED);
    (void)add_finish(fixture_unit(fixture), child.at, PW_OUTCOME_COMPLETE);
    fixture_apply_all(fixture);
    assert_link(read_key(fixture, child.at.instance).link, parent, PW_RELATION_ATTACHED);
}

/* Of the parent's children, a page, in its order, as "<key> <key> ".  The query goes on behind a full page. */
static const char *list_of(struct fixture *fixture, struct pw_instance_query *query)
{
    static char listed[256];
    struct pw_instance *rows = NULL;
    size_t count = 0, used = 0;
    assert_int_equal(pw_list_instances(fixture->store, &fixture->arena, query, &rows, &count, &fixture->error),
                     PAWL_OK);
    listed[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(listed + used, sizeof listed - used, "%lld ", (long long)rows[i].key);
        assert_int_equal(rows[i].link.parent, query->number);
    }
    query->after_key = count == query->max ? rows[count - 1].key : 0;
    return listed;
}

static const char *keys_of(const struct linked *children, const size_t *which, size_t count)
{
    static char keys[256];
    size_t used = 0;
    keys[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(keys + used, sizeof keys - used, "%lld ", (long long)children[which[i]].at.instance);
    return keys;
}

TEST_OF(fixture, what_the_runs_of_a_parent_made_is_listed_whatever_it_is) /* A14 */
{
    struct pw_fence parent = create_held(fixture, "order", "a"), other = create_held(fixture, "order", "b");
    struct linked children[4];
    children[0] = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED);
    (void)create_linked(fixture, other, "refund", PW_RELATION_ATTACHED);
    children[1] = create_linked(fixture, parent, "@mail", PW_RELATION_JOB);
    children[2] = create_linked(fixture, parent, "refund", PW_RELATION_DETACHED);
    (void)add_finish(fixture_unit(fixture), children[0].at, PW_OUTCOME_ERRORED);
    fixture_apply_all(fixture);
    parent.run = 2; /* the link says which */
    children[3] = create_linked(fixture, parent, "order", PW_RELATION_ATTACHED);

    struct pw_instance_query query = { .by = PW_BY_PARENT, .number = parent.instance, .max = 10 };
    assert_string_equal(list_of(fixture, &query), keys_of(children, (size_t[]){ 3, 2, 1, 0 }, 4));
    query.oldest_first = true;
    query.workflow = text("refund"); /* is not asked for */
    assert_string_equal(list_of(fixture, &query), keys_of(children, (size_t[]){ 0, 1, 2, 3 }, 4));
    query.max = 3;
    assert_string_equal(list_of(fixture, &query), keys_of(children, (size_t[]){ 0, 1, 2 }, 3));
    assert_string_equal(list_of(fixture, &query), keys_of(children, (size_t[]){ 3 }, 1));
    query.oldest_first = false;
    assert_string_equal(list_of(fixture, &query), keys_of(children, (size_t[]){ 3, 2, 1 }, 3));
    assert_string_equal(list_of(fixture, &query), keys_of(children, (size_t[]){ 0 }, 1));
}

/* ---- Demands ------------------------------------------------------------------------------------------------------- */

static void demand(struct fixture *fixture, struct pw_fence at, enum pw_demand demanded)
{
    add(fixture_unit(fixture), PW_OP_DEMAND)->as.demand = (struct pw_op_demand){ at.instance, demanded };
    fixture_apply_all(fixture);
}

TEST_OF(fixture, what_is_demanded_is_only_ever_raised) /* F1 */
{
    struct pw_fence at = create_instance(fixture, "order", "a");
    assert_int_equal(read_key(fixture, at.instance).task.demand, PW_DEMAND_NONE);
    demand(fixture, at, PW_DEMAND_ROLLBACK);
    assert_int_equal(read_key(fixture, at.instance).task.demand, PW_DEMAND_ROLLBACK);
    demand(fixture, at, PW_DEMAND_INTERRUPT);
    assert_int_equal(read_key(fixture, at.instance).task.demand, PW_DEMAND_ROLLBACK);
    demand(fixture, at, PW_DEMAND_TERMINATE);
    assert_int_equal(read_key(fixture, at.instance).task.demand, PW_DEMAND_TERMINATE);
    assert_int_equal(try_fence(fixture, at), PAWL_OK); /* nobody else moved it */
}

TEST_OF(fixture, a_demand_is_told_by_fence_claim_hold_and_renewal) /* F1 */
{
    const struct pw_text order = text("order");
    struct pw_fence at = create_instance(fixture, "order", "a");
    demand(fixture, at, PW_DEMAND_INTERRUPT);
    struct pw_op_claim *claim = fixture_claim(fixture, &order, 1, 1);
    assert_int_equal(claim->claims[0].demand, PW_DEMAND_INTERRUPT);
    struct pw_lease lease = { .fence = claim->claims[0].fence };
    fixture_clear_units(fixture);

    demand(fixture, at, PW_DEMAND_ROLLBACK);
    struct pw_op_fence *fence = add_fence(fixture_unit(fixture), lease.fence);
    add(fixture_unit(fixture), PW_OP_RENEW)->as.renew =
        (struct pw_op_renew){ FIXTURE_OWNER, FIXTURE_LEASE_MS, &lease, 1 };
    fixture_apply(fixture);
    assert_int_equal(fence->demand, PW_DEMAND_ROLLBACK);
    assert_false(lease.lost);
    assert_int_equal(lease.demand, PW_DEMAND_ROLLBACK);
    fixture_clear_units(fixture);
    struct pw_op_hold *hold = add_hold(fixture_unit(fixture), lease.fence);
    fixture_apply(fixture);
    assert_int_equal(hold->claim.demand, PW_DEMAND_ROLLBACK);
}

TEST_OF(fixture, a_run_of_which_something_is_demanded_does_not_wait_for_repair) /* F1, F2 */
{
    const struct pw_text order = text("order");
    struct pw_fence asked = create_held(fixture, "order", "a"), left_alone = create_held(fixture, "order", "b");
    demand(fixture, asked, PW_DEMAND_INTERRUPT);
    (void)add_park(fixture_unit(fixture), asked, PW_TASK_PAUSED, PW_TASK_REPAIR, PW_NOW);
    (void)add_park(fixture_unit(fixture), left_alone, PW_TASK_PAUSED, PW_TASK_REPAIR, PW_NOW);
    fixture_apply_all(fixture);
    struct pw_task task = read_key(fixture, left_alone.instance).task;
    assert_int_equal(task.status, PW_TASK_PAUSED);
    assert_int_equal(task.kind, PW_TASK_REPAIR);
    task = read_key(fixture, asked.instance).task;
    assert_int_equal(task.status, PW_TASK_ACTIVE);
    assert_int_equal(task.kind, PW_TASK_RESUME);
    struct pw_op_claim *claim = fixture_claim(fixture, &order, 1, 10);
    assert_int_equal(claim->claim_count, 1);
    assert_int_equal(claim->claims[0].fence.instance, asked.instance);
}

TEST_OF(fixture, a_turn_that_has_not_heard_of_a_demand_does_not_park_past_it) /* F1 */
{
    struct pw_fence at = create_held(fixture, "order", "a");
    demand(fixture, at, PW_DEMAND_INTERRUPT);
    assert_int_equal(read_key(fixture, at.instance).task.event_seq, 1);
    fixture->now_ms += 7;
    struct pw_op_park *parking =
        add_park(fixture_unit(fixture), at, PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 100000);
    parking->event_seq_seen = 0;
    fixture_apply(fixture);
    assert_int_equal(parking->due_at_ms_set, fixture->now_ms);
    fixture_clear_units(fixture);
    struct pw_op_event *event = add_event(fixture_unit(fixture), at, "e", "paid");
    fixture_apply(fixture);
    assert_int_equal(event->seq, 2); /* the number of the demand is nobody else's */
}

TEST_OF(fixture, of_a_run_that_has_ended_nothing_is_demanded_and_of_the_next_nothing_yet)
{
    struct pw_fence at = create_instance(fixture, "order", "a");
    demand(fixture, at, PW_DEMAND_TERMINATE);
    add_finish(fixture_unit(fixture), at, PW_OUTCOME_TERMINATED)->demand_seen = PW_DEMAND_TERMINATE;
    fixture_apply_all(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    add(unit, PW_OP_DEMAND)->as.demand = (struct pw_op_demand){ at.instance, PW_DEMAND_INTERRUPT };
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_CONFLICT);
    fixture_clear_units(fixture);
    add(fixture_unit(fixture), PW_OP_RESTART)->as.restart = (struct pw_op_restart){ .instance = at.instance, .run = 1 };
    fixture_apply_all(fixture);
    assert_int_equal(read_key(fixture, at.instance).task.demand, PW_DEMAND_NONE);
}

/* ---- Reaching ------------------------------------------------------------------------------------------------------ */

static int64_t reach(struct fixture *fixture, struct pw_fence parent, enum pw_demand demanded)
{
    const struct pw_reach *op = add_reach(fixture, fixture_unit(fixture), parent, demanded);
    fixture_apply(fixture);
    assert_int_equal(fixture->units[0].status, PAWL_OK);
    int64_t reached = op->reached;
    fixture_clear_units(fixture);
    return reached;
}

TEST_OF(fixture, reaching_makes_attached_children_due_whatever_they_did) /* A14, F1 */
{
    struct pw_fence parent = create_held(fixture, "order", "a"), before[3];
    for (size_t i = 0; i < 3; i++)
        before[i] = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    before[1] = park(fixture, before[1], PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 5000);
    before[2] = park(fixture, before[2], PW_TASK_PAUSED, PW_TASK_REPAIR, PW_NOW);
    fixture->now_ms += 9;
    assert_int_equal(reach(fixture, parent, PW_DEMAND_INTERRUPT), 3);
    for (size_t i = 0; i < 3; i++) {
        struct pw_task task = read_key(fixture, before[i].instance).task;
        assert_int_equal(task.demand, PW_DEMAND_INTERRUPT);
        assert_int_equal(task.status, PW_TASK_ACTIVE);
        assert_int_equal(task.kind, PW_TASK_RESUME);
        assert_int_equal(task.due_at_ms, fixture->now_ms);
        assert_false(task.processing);
        assert_int_equal(task.epoch, before[i].epoch + 1);
        assert_int_equal(task.event_seq, 1);
        assert_int_equal(try_fence(fixture, before[i]), PAWL_CONFLICT);
    }
}

TEST_OF(fixture, a_child_that_is_held_is_told_and_left_to_its_holder) /* F1 */
{
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct pw_fence child = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    (void)add_hold(fixture_unit(fixture), child);
    fixture_apply_all(fixture);
    child.epoch++;
    ask_to_pause(fixture, child);
    fixture_apply_all(fixture);
    fixture->now_ms += FIXTURE_LEASE_MS - 1;
    assert_int_equal(reach(fixture, parent, PW_DEMAND_TERMINATE), 1);
    struct pw_task task = read_key(fixture, child.instance).task;
    assert_true(task.processing);
    assert_false(task.pause_requested); /* it is to end, and not to rest before */
    assert_int_equal(task.demand, PW_DEMAND_TERMINATE);
    assert_int_equal(task.event_seq, 1);
    assert_int_equal(try_fence(fixture, child), PAWL_OK);

    fixture->now_ms++; /* its lease has expired */
    assert_int_equal(reach(fixture, parent, PW_DEMAND_INTERRUPT), 1);
    task = read_key(fixture, child.instance).task;
    assert_false(task.processing);
    assert_false(task.pause_requested);
    assert_int_equal(task.kind, PW_TASK_RESUME);
    assert_int_equal(task.demand, PW_DEMAND_TERMINATE);
    assert_int_equal(try_fence(fixture, child), PAWL_CONFLICT);
}

TEST_OF(fixture, a_hook_is_told_of_every_child_that_reaching_woke_and_of_nobody_else) /* A14, C7 */
{
    static const char *const ids[] = { "h", "h-2", "h-3" };
    struct pw_fence parent = create_held(fixture, "order", "a"), woken[3];
    struct pw_hook_query query = { .max = 10 };
    struct pw_hook_row *rows = NULL;
    size_t count = 0;
    (void)create_linked(fixture, parent, "@mail", PW_RELATION_JOB);
    for (size_t i = 0; i < 3; i++)
        woken[i] = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    (void)park(fixture, woken[1], PW_TASK_WAITING, PW_TASK_WAKE, FIXTURE_NOW_MS + 5000);
    (void)create_linked(fixture, parent, "refund", PW_RELATION_DETACHED);
    struct pw_fence held = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    (void)add_hold(fixture_unit(fixture), held);
    fixture_apply_all(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_reach(fixture, unit, parent, PW_DEMAND_TERMINATE);
    unit->last->as.finish.is_job = true; /* nobody is to be told of the one that ends */
    tell_hook(unit, "h", "mail");
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_OK);
    fixture_clear_units(fixture);
    assert_int_equal(pw_list_hooks(fixture->store, &fixture->arena, &query, &rows, &count, &fixture->error), PAWL_OK);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_text(rows[i].id, ids[i]);
        assert_int_equal(rows[i].reason, PW_REASON_RESUME);
        assert_int_equal(rows[i].run, 1);
        assert_int_equal(rows[i].due_at_ms, 0);
        assert_text(rows[i].instance_id, read_key(fixture, woken[i].instance).id.data);
    }
}

TEST_OF(fixture, those_that_are_detached_ended_or_of_another_run_are_not_reached) /* A14 */
{
    struct pw_fence parent = create_held(fixture, "order", "a"), other = create_held(fixture, "order", "b");
    struct pw_fence next_run = { parent.instance, parent.run + 1, 0 };
    struct pw_fence left[] = { create_linked(fixture, parent, "refund", PW_RELATION_DETACHED).at,
                               create_linked(fixture, next_run, "refund", PW_RELATION_ATTACHED).at,
                               create_linked(fixture, next_run, "@mail", PW_RELATION_JOB).at,
                               create_linked(fixture, other, "refund", PW_RELATION_ATTACHED).at,
                               create_linked(fixture, other, "@mail", PW_RELATION_JOB).at };
    struct pw_fence ended = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    (void)add_finish(fixture_unit(fixture), ended, PW_OUTCOME_COMPLETE);
    fixture_apply_all(fixture);
    assert_int_equal(reach(fixture, parent, PW_DEMAND_TERMINATE), 0);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        assert_int_equal(try_fence(fixture, left[i]), PAWL_OK);
        assert_int_equal(read_key(fixture, left[i].instance).task.demand, PW_DEMAND_NONE);
    }
    assert_int_equal(read_key(fixture, ended.instance).outcome, PW_OUTCOME_COMPLETE);
}

TEST_OF(fixture, reaching_ends_the_jobs_of_the_run) /* G1 */
{
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct pw_fence waiting = create_linked(fixture, parent, "@mail", PW_RELATION_JOB).at;
    struct pw_fence held = create_linked(fixture, parent, "@print", PW_RELATION_JOB).at;
    struct pw_fence child = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    (void)add_hold(fixture_unit(fixture), held);
    fixture_apply_all(fixture);
    held.epoch++;
    fixture->now_ms += 5;
    assert_int_equal(reach(fixture, parent, PW_DEMAND_INTERRUPT), 3);
    assert_ended(fixture, waiting, 0);
    assert_ended(fixture, held, FIXTURE_NOW_MS);
    assert_int_equal(try_fence(fixture, held), PAWL_CONFLICT);
    assert_int_equal(read_key(fixture, child.instance).task.demand, PW_DEMAND_INTERRUPT);
}

TEST_OF(fixture, without_a_demand_only_jobs_are_reached) /* G1: whatever the end of a run, its jobs end */
{
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct pw_fence child = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    struct pw_fence job = create_linked(fixture, parent, "@mail", PW_RELATION_JOB).at;
    child = park(fixture, child, PW_TASK_PAUSED, PW_TASK_WAKE, PW_NOW);
    assert_int_equal(reach(fixture, parent, PW_DEMAND_NONE), 1);
    assert_ended(fixture, job, 0);
    assert_int_equal(try_fence(fixture, child), PAWL_OK);
    assert_int_equal(read_key(fixture, child.instance).task.status, PW_TASK_PAUSED);
}

/* ---- Ending by name ------------------------------------------------------------------------------------------------ */

/* In a unit about the parent. */
static int64_t end(struct fixture *fixture, struct pw_fence parent, const char *workflow, const char *id)
{
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, parent);
    struct pw_op_end *op = &add(unit, PW_OP_END)->as.end;
    *op = (struct pw_op_end){ .workflow = text(workflow), .id = text(id), .instance = -1 };
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_OK);
    int64_t instance = op->instance;
    fixture_clear_units(fixture);
    return instance;
}

TEST_OF(fixture, an_instance_is_ended_by_its_name_whatever_it_does) /* G1 */
{
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct linked job = create_linked(fixture, parent, "@mail", PW_RELATION_JOB);
    (void)add_hold(fixture_unit(fixture), job.at);
    fixture_apply_all(fixture);
    fixture->now_ms += 5;
    assert_int_equal(end(fixture, parent, "@mail", job.id), job.at.instance);
    assert_ended(fixture, job.at, FIXTURE_NOW_MS);
    assert_int_equal(try_fence(fixture, (struct pw_fence){ job.at.instance, 1, 1 }), PAWL_CONFLICT);
}

TEST_OF(fixture, what_is_not_there_or_has_ended_is_not_ended) /* G1 */
{
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct linked job = create_linked(fixture, parent, "@mail", PW_RELATION_JOB);
    assert_int_equal(end(fixture, parent, "@print", job.id), 0);
    assert_int_equal(end(fixture, parent, "@mail", "nobody"), 0);
    struct pw_op_finish *finish = add_finish(fixture_unit(fixture), job.at, PW_OUTCOME_COMPLETE);
    finish->output = text("7");
    fixture_apply_all(fixture);
    fixture->now_ms++;
    assert_int_equal(end(fixture, parent, "@mail", job.id), 0);
    struct pw_instance row = read_key(fixture, job.at.instance);
    assert_int_equal(row.outcome, PW_OUTCOME_COMPLETE);
    assert_text(row.output, "7");
    assert_int_equal(row.completed_at_ms, FIXTURE_NOW_MS);
}

/* Alone in its unit, it is its name that says where it lives. */
TEST_OF(fixture, an_instance_that_lives_where_its_name_says_is_ended_from_anywhere)
{
    struct pw_fence at[] = { create_instance(fixture, "order", "a"), create_instance(fixture, "order", "b") };
    static const char *const ids[] = { "a", "b" };
    for (size_t i = 0; i < 2; i++) {
        struct pw_op_end *op = &add(fixture_unit(fixture), PW_OP_END)->as.end;
        *op = (struct pw_op_end){ .workflow = text("order"), .id = text(ids[i]) };
        fixture_apply(fixture);
        assert_int_equal(op->instance, at[i].instance);
        fixture_clear_units(fixture);
        assert_ended(fixture, at[i], 0);
    }
}

TEST_OF(fixture, a_refused_unit_has_reached_ended_and_demanded_nothing) /* S1 */
{
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct pw_fence child = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    struct linked jobs[] = { create_linked(fixture, parent, "@mail", PW_RELATION_JOB),
                             create_linked(fixture, (struct pw_fence){ parent.instance, 9, 0 }, "@mail",
                                           PW_RELATION_JOB) };
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_reach(fixture, unit, parent, PW_DEMAND_ROLLBACK);
    add(unit, PW_OP_END)->as.end = (struct pw_op_end){ .workflow = text("@mail"), .id = text(jobs[1].id) };
    add(unit, PW_OP_DEMAND)->as.demand = (struct pw_op_demand){ parent.instance, PW_DEMAND_TERMINATE };
    parent.epoch++;
    (void)add_fence(unit, parent);
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_CONFLICT);
    fixture_clear_units(fixture);
    parent.epoch--;
    assert_int_equal(try_fence(fixture, child), PAWL_OK);
    assert_int_equal(try_fence(fixture, jobs[0].at), PAWL_OK);
    assert_int_equal(try_fence(fixture, jobs[1].at), PAWL_OK);
    assert_int_equal(read_key(fixture, parent.instance).task.demand, PW_DEMAND_NONE);
}

/* Units of one batch see the ones before, whether these were decided in memory or by the database. */
TEST_OF(fixture, a_reach_sees_what_was_claimed_and_restarted_before_it_in_the_batch) /* S2 */
{
    const struct pw_text refund = text("refund");
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct pw_fence due = create_linked(fixture, parent, "refund", PW_RELATION_ATTACHED).at;
    struct pw_fence ended = create_linked(fixture, parent, "mail", PW_RELATION_ATTACHED).at;
    (void)add_finish(fixture_unit(fixture), ended, PW_OUTCOME_COMPLETE);
    fixture_apply_all(fixture);

    struct pw_op_claim *claim = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
    *claim = (struct pw_op_claim){ .workflows = &refund, .workflow_count = 1, .max = 1, .owner = 9, .lease_ms = 1000 };
    add(fixture_unit(fixture), PW_OP_RESTART)->as.restart =
        (struct pw_op_restart){ .instance = ended.instance, .run = 1 };
    struct pw_unit *reaching = fixture_unit(fixture);
    const struct pw_reach *reach = add_reach(fixture, reaching, parent, PW_DEMAND_INTERRUPT);
    fixture_apply(fixture);
    assert_int_equal(claim->claim_count, 1);
    assert_int_equal(reach->reached, 2);
    struct pw_task held = read_key(fixture, due.instance).task, begun = read_key(fixture, ended.instance).task;
    assert_true(held.processing);
    assert_int_equal(held.demand, PW_DEMAND_INTERRUPT);
    assert_int_equal(begun.demand, PW_DEMAND_INTERRUPT);
    assert_int_equal(begun.kind, PW_TASK_RESUME);
}

/* ---- Claims for somebody outside ----------------------------------------------------------------------------------- */

static size_t claim_some(struct fixture *fixture, size_t max, size_t leased_max, int64_t owner)
{
    static const struct pw_text mail = { "@mail", 5 };
    struct pw_op_claim *op = &add(fixture_unit(fixture), PW_OP_CLAIM)->as.claim;
    *op = (struct pw_op_claim){ .workflows = &mail, .workflow_count = 1, .max = max, .leased_max = leased_max };
    op->owner = owner;
    op->lease_ms = FIXTURE_LEASE_MS;
    fixture_apply(fixture);
    size_t count = op->claim_count;
    fixture_clear_units(fixture);
    return count;
}

TEST_OF(fixture, no_more_tasks_of_a_workflow_are_leased_at_once_than_may_be) /* G1 */
{
    struct pw_fence parent = create_held(fixture, "order", "a");
    struct pw_fence last = parent;
    for (int i = 0; i < 8; i++)
        last = create_linked(fixture, parent, "@mail", PW_RELATION_JOB).at;
    assert_int_equal(claim_some(fixture, 2, 3, FIXTURE_OUTSIDE), 2);
    assert_int_equal(claim_some(fixture, 5, 3, FIXTURE_OWNER), 1); /* by all */
    assert_int_equal(claim_some(fixture, 5, 3, FIXTURE_OUTSIDE), 0);
    assert_int_equal(claim_some(fixture, 5, 2, FIXTURE_OUTSIDE), 0);
    assert_int_equal(claim_some(fixture, 5, 4, FIXTURE_OUTSIDE), 1);
    (void)add_hold(fixture_unit(fixture), last);
    fixture_apply_all(fixture);
    assert_int_equal(claim_some(fixture, 5, 5, FIXTURE_OUTSIDE), 0);
    (void)add_finish(fixture_unit(fixture), last, PW_OUTCOME_COMPLETE);
    fixture_apply_all(fixture);
    assert_int_equal(claim_some(fixture, 5, 5, FIXTURE_OUTSIDE), 1);
    fixture->now_ms += FIXTURE_LEASE_MS; /* what has expired is leased no more, and goes first */
    assert_int_equal(claim_some(fixture, 9, 6, FIXTURE_OUTSIDE), 6);
    assert_int_equal(claim_some(fixture, 9, 0, FIXTURE_OUTSIDE), 1);
}

TEST_OF(fixture, the_lease_of_somebody_outside_is_renewed_expires_and_is_not_reaped) /* G1 */
{
    struct pw_fence job = create_linked(fixture, create_held(fixture, "order", "a"), "@mail", PW_RELATION_JOB).at;
    assert_int_equal(claim_some(fixture, 1, 1, FIXTURE_OUTSIDE), 1);
    job.epoch++;
    assert_int_equal(read_key(fixture, job.instance).task.owner, FIXTURE_OUTSIDE);
    fixture->now_ms += 10;
    struct pw_lease lease = { .fence = job };
    add(fixture_unit(fixture), PW_OP_RENEW)->as.renew =
        (struct pw_op_renew){ FIXTURE_OUTSIDE, FIXTURE_LEASE_MS, &lease, 1 };
    fixture_apply_all(fixture);
    assert_false(lease.lost);
    (void)add(fixture_unit(fixture), PW_OP_REAP);
    fixture_apply_all(fixture);
    assert_int_equal(read_key(fixture, job.instance).task.locked_until_ms, fixture->now_ms + FIXTURE_LEASE_MS);
    assert_int_equal(try_fence(fixture, job), PAWL_OK);
    assert_int_equal(claim_some(fixture, 1, 1, FIXTURE_OUTSIDE), 0);
    fixture->now_ms += FIXTURE_LEASE_MS;
    assert_int_equal(claim_some(fixture, 1, 1, FIXTURE_OUTSIDE), 1);
    assert_int_equal(try_fence(fixture, job), PAWL_CONFLICT);
}

TEST_OF(fixture, a_run_that_waits_for_repair_is_not_due) /* F2 */
{
    const struct pw_text order = text("order");
    int64_t due_at_ms = 0;
    struct pw_fence at = create_held(fixture, "order", "a");
    at = park(fixture, at, PW_TASK_PAUSED, PW_TASK_REPAIR, PW_NOW);
    assert_int_equal(read_key(fixture, at.instance).task.kind, PW_TASK_REPAIR);
    assert_int_equal(fixture_claim(fixture, &order, 1, 5)->claim_count, 0);
    fixture_clear_units(fixture);
    assert_int_equal(pw_next_due(fixture->store, &order, 1, NULL, PW_EVER, &due_at_ms, &fixture->error), PAWL_OK);
    assert_true(due_at_ms == INT64_MAX);
    struct pw_op_hold *hold = add_hold(fixture_unit(fixture), at);
    fixture_apply(fixture);
    assert_int_equal(hold->claim.kind, PW_TASK_REPAIR);
}
