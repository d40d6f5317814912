/* test_engine_links.c - what the engine's figures and watches, and the trace of the test kit, make of children, jobs,
 * answers and demands. */
#include "testing/testing_kit.h"

#include "commit/commit.h"
#include "engine/engine.h"

static const struct pw_link job_of_1 = { .parent = 1, .run = 1, .relation = PW_RELATION_JOB };
static const struct pw_link child_of_1 = { .parent = 1, .run = 1, .relation = PW_RELATION_ATTACHED };

static struct pw_op *add(struct pw_unit *unit, enum pw_op_kind kind)
{
    struct pw_op *op = pw_unit_add(unit, kind);
    assert_non_null(op);
    return op;
}

/* Commits the unit, which must be applied, and forgets it. */
static void commit(struct kit *kit, struct pw_unit *unit)
{
    ok(pw_commit_run(pawl_world_engine(kit->world)->commit, unit));
    pw_unit_clear(unit);
}

static struct pw_fence create(struct kit *kit, const char *workflow, const char *id, struct pw_link link)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op_create *op = &add(&unit, PW_OP_CREATE)->as.create;
    *op = (struct pw_op_create){ .workflow = pw_text_of(workflow), .id = pw_text_of(id), .link = link };
    ok(pw_commit_run(pawl_world_engine(kit->world)->commit, &unit));
    struct pw_fence fence = op->fence;
    pw_unit_clear(&unit);
    return fence;
}

static void add_answer(struct pw_unit *unit, int64_t instance, const char *type)
{
    add(unit, PW_OP_EVENT)->as.event = (struct pw_op_event){
        .instance = instance, .id = pw_text_of(type), .type = pw_text_of(type), .is_answer = true
    };
}

/* As whoever carries it out ends it: its parent has the answer. */
static void finish(struct kit *kit, struct pw_fence at, enum pw_outcome outcome, const char *answer)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    add(&unit, PW_OP_FENCE)->as.fence.at = at;
    add(&unit, PW_OP_FINISH)->as.finish =
        (struct pw_op_finish){ .instance = at.instance, .is_job = answer[1] == '@', .outcome = outcome };
    add_answer(&unit, 1, answer);
    commit(kit, &unit);
}

static void end(struct kit *kit, const char *workflow, const char *id)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    add(&unit, PW_OP_END)->as.end = (struct pw_op_end){ .workflow = pw_text_of(workflow), .id = pw_text_of(id) };
    commit(kit, &unit);
}

static void demand(struct kit *kit, int64_t instance, enum pw_demand demanded)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    add(&unit, PW_OP_DEMAND)->as.demand = (struct pw_op_demand){ instance, demanded };
    commit(kit, &unit);
}

/* An instance ends, and with it what the first one has made. */
static void reach(struct kit *kit, enum pw_demand demanded)
{
    struct pw_fence spare = create(kit, "single", "spare", (struct pw_link){ .parent = 0 });
    struct pw_unit unit;
    pw_unit_init(&unit);
    add(&unit, PW_OP_FINISH)->as.finish =
        (struct pw_op_finish){ .instance = spare.instance,
                               .outcome = PW_OUTCOME_TERMINATED,
                               .reach = { .parent = 1, .run = 1, .demand = demanded } };
    commit(kit, &unit);
}

static struct pawl_stats stats_of(struct kit *kit)
{
    struct pawl_stats stats = { .struct_size = sizeof stats };
    pawl_stats_read(pawl_world_engine(kit->world), &stats);
    return stats;
}

/* ---- Figures ------------------------------------------------------------------------------------------------------- */

TEST_OF(kit, children_are_runs_and_jobs_are_not)
{
    kit_create(kit, "awaiting", "p");
    struct pw_fence done = create(kit, "single", "done", child_of_1);
    struct pw_fence job = create(kit, "@print", "j1", job_of_1), failed = create(kit, "@print", "j2", job_of_1);
    (void)create(kit, "@print", "j3", job_of_1);
    assert_int_equal(stats_of(kit).runs_created, 2);

    finish(kit, job, PW_OUTCOME_COMPLETE, "$@print/j1");
    finish(kit, failed, PW_OUTCOME_ERRORED, "$@print/j2");
    end(kit, "@print", "j3");
    assert_int_equal(stats_of(kit).runs_complete, 0);
    assert_int_equal(stats_of(kit).runs_errored, 0);
    assert_int_equal(stats_of(kit).runs_terminated, 0);

    finish(kit, done, PW_OUTCOME_COMPLETE, "$single/done");
    assert_int_equal(stats_of(kit).runs_complete, 1);
}

TEST_OF(kit, answers_are_no_events_that_somebody_sent)
{
    struct pw_unit unit;
    kit_create(kit, "awaiting", "p");
    pw_unit_init(&unit);
    add_answer(&unit, 1, "$single/c");
    commit(kit, &unit);
    assert_int_equal(stats_of(kit).events_sent, 0);
    ok(pawl_world_send_event(kit->world, "awaiting", "p", "go", NULL, &kit->error));
    assert_int_equal(stats_of(kit).events_sent, 1);
}

/* ---- Watches ------------------------------------------------------------------------------------------------------- */

static void note(void *user)
{
    ++*(int *)user;
}

TEST_OF(kit, watches_hear_of_answers_demands_and_ends_and_not_of_what_did_nothing)
{
    int told = 0;
    kit_create(kit, "awaiting", "p");
    struct pw_fence child = create(kit, "single", "c", child_of_1);
    pawl_watch *watch = pw_watch_add(&pawl_world_engine(kit->world)->watches, 1, note, &told);
    assert_non_null(watch);

    finish(kit, child, PW_OUTCOME_COMPLETE, "$single/c");
    assert_int_equal(told, 1);
    demand(kit, 1, PW_DEMAND_INTERRUPT);
    assert_int_equal(told, 2);
    end(kit, "awaiting", "p");
    assert_int_equal(told, 3);
    end(kit, "awaiting", "p");
    struct pw_unit unit;
    pw_unit_init(&unit);
    add_answer(&unit, 1, "$single/d"); /* to a run that has ended */
    commit(kit, &unit);
    assert_int_equal(told, 3);
    pawl_watch_close(watch);
}

/* ---- The trace ----------------------------------------------------------------------------------------------------- */

TEST_OF(kit, the_trace_tells_of_answers_demands_and_ends)
{
    kit_create(kit, "awaiting", "p");
    kit_run(kit);
    struct pw_fence child = create(kit, "single", "c", child_of_1);
    (void)create(kit, "single", "d", child_of_1);
    (void)create(kit, "@print", "j", job_of_1);
    finish(kit, child, PW_OUTCOME_COMPLETE, "$single/c");
    demand(kit, 1, PW_DEMAND_INTERRUPT);
    reach(kit, PW_DEMAND_TERMINATE);
    end(kit, "awaiting", "p");
    end(kit, "awaiting", "p");
    struct pw_unit unit;
    pw_unit_init(&unit);
    add_answer(&unit, 1, "$single/d");
    commit(kit, &unit);

    kit_traced(kit, "finish complete, answer \"$single/c\" 1 wakes 1 -> ok\n");
    kit_traced(kit, "commit demand interrupt -> ok\n");
    kit_traced(kit, "commit finish terminated, reach 2 children with terminate -> ok\n");
    kit_traced(kit, "commit end awaiting/p -> ok\n");
    kit_traced(kit, "commit end awaiting/p has ended -> ok\n");
    kit_traced(kit, "commit answer \"$single/d\" to nobody -> ok\n");
}
