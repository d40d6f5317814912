/* test_stats.c - the figures: what the engine counts of what it committed, and what it finds in the store. */
#include "kit/contract_world.h"

#include "engine/stats.h"
#include "pawl/hooks.h"

static struct pawl_stats stats_of(struct contract *contract)
{
    struct pawl_stats stats = { .struct_size = sizeof stats };
    pawl_stats_read(contract->engine, &stats);
    return stats;
}

static struct pawl_backlog backlog_of(struct contract *contract)
{
    struct pawl_backlog backlog = { .struct_size = sizeof backlog };
    assert_ok(contract, pawl_backlog_read(contract->engine, &backlog, &contract->error));
    return backlog;
}

static int64_t total_of(struct pawl_distribution distribution)
{
    int64_t total = 0;
    for (size_t i = 0; i < distribution.class_count; i++)
        total += distribution.counts[i];
    return total;
}

/* In which class the only one of the distribution is. */
static size_t class_of(struct pawl_distribution distribution)
{
    size_t found = 0;
    assert_int_equal(total_of(distribution), 1);
    while (distribution.counts[found] == 0)
        found++;
    return found;
}

WORKFLOW(run_at_once)
{
    (void)run, (void)params, (void)out_result;
    return PAWL_OK;
}

WORKFLOW(run_sleeping)
{
    return pawl_sleep(run, "nap", "1 hour");
}

WORKFLOW(run_failing_once_each)
{
    static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };
    static const struct pawl_step_options twice = { .retries = 1, .delay = "1 s" };
    pawl_status status = pawl_do(run, "good", NULL, contract_body_ok, NULL, out_result);
    if (status == PAWL_OK)
        status = pawl_do(run, "bad at once", &once, contract_body_fails, NULL, out_result);
    if (status == PAWL_FAILED)
        status = pawl_do(run, "bad at last", &twice, contract_body_fails, NULL, out_result);
    return status;
}

/* ---- Runs ------------------------------------------------------------------------------------------------------- */

TEST_OF(contract, created_and_restarted_runs_are_counted_and_refused_ones_are_not)
{
    const struct pawl_batch_item items[] = { { "i", NULL }, { "j", NULL }, { "k", NULL } };
    struct pawl_instance *instances;
    size_t count;

    contract_create(contract, run_sleeping, NULL);
    assert_status(pawl_world_create(contract->world, "w", "i", NULL, &contract->error),
                  PAWL_INSTANCE_ID_ALREADY_EXISTS);
    assert_int_equal(stats_of(contract).runs_created, 1);

    assert_ok(contract, pawl_create_batch(contract->engine, contract->scope, "w", items, 3, &instances, &count,
                                          &contract->error));
    assert_int_equal(stats_of(contract).runs_created, 3);

    contract_control(contract, pawl_restart);
    assert_int_equal(stats_of(contract).runs_created, 4);
}

TEST_OF(contract, runs_are_counted_by_how_they_ended)
{
    contract_start(contract, run_at_once, NULL);
    assert_int_equal(stats_of(contract).runs_complete, 1);

    contract_control(contract, pawl_restart);
    contract_control(contract, pawl_terminate);
    assert_int_equal(stats_of(contract).runs_terminated, 1);

    contract->run = run_failing_once_each;
    contract_control(contract, pawl_restart);
    contract_advance(contract, "1 minute");
    struct pawl_stats stats = stats_of(contract);
    assert_int_equal(stats.runs_errored, 1);
    assert_int_equal(stats.runs_complete, 1);
    assert_int_equal(stats.runs_terminated, 1);
    assert_int_equal(stats.runs_created, 3);
}

TEST_OF(contract, a_run_lasts_from_its_first_turn_to_its_end)
{
    contract_create(contract, run_sleeping, NULL);
    contract_jump(contract, 5 * MINUTE_MS); /* nobody has begun it */
    contract_idle(contract);
    assert_int_equal(total_of(stats_of(contract).run_seconds), 0);

    contract_advance(contract, "1 hour");

    struct pawl_distribution seconds = stats_of(contract).run_seconds;
    assert_instance(contract, PAWL_COMPLETE);
    assert_true(seconds.sum == 3600);
    assert_true(seconds.limits[class_of(seconds)] == 3600);
}

TEST_OF(contract, a_run_that_never_began_has_lasted_no_time_at_all)
{
    contract_create(contract, run_sleeping, NULL);
    contract_jump(contract, HOUR_MS);

    contract_control(contract, pawl_terminate);

    assert_int_equal(stats_of(contract).runs_terminated, 1);
    assert_int_equal(total_of(stats_of(contract).run_seconds), 0);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

TEST_OF(contract, steps_attempts_and_bodies_are_counted)
{
    contract_start(contract, run_failing_once_each, NULL);
    contract_advance(contract, "1 minute");

    struct pawl_stats stats = stats_of(contract);
    assert_errored(contract, "Broken", "attempt 2");
    assert_int_equal(stats.steps_completed, 1);
    assert_int_equal(stats.steps_errored, 2);
    assert_int_equal(stats.attempts_failed, 1); /* the last of each is the step's own failure */
    assert_int_equal(total_of(stats.body_seconds), contract->bodies);
    assert_int_equal(contract->bodies, 4);
}

TEST_OF(contract, a_sleep_is_a_step_when_it_is_over_and_no_attempt)
{
    contract_start(contract, run_sleeping, NULL);
    assert_int_equal(stats_of(contract).steps_completed, 0);
    contract_advance(contract, "1 hour");

    assert_int_equal(stats_of(contract).steps_completed, 1);
    assert_int_equal(stats_of(contract).attempts_failed, 0);
    assert_int_equal(total_of(stats_of(contract).body_seconds), 0);
}

TEST_OF(contract, an_event_is_counted_once_however_often_it_is_sent)
{
    contract_create(contract, run_sleeping, NULL);

    contract_send(contract, "go", NULL);
    assert_ok(contract, contract_send_id(contract, "go", NULL, "the-same"));
    assert_ok(contract, contract_send_id(contract, "go", NULL, "the-same"));

    assert_int_equal(stats_of(contract).events_sent, 2);
}

/* A body during which the run is taken away from its turn. */
BODY(body_that_restarts)
{
    struct contract *contract = pawl_step_user(step);
    if (contract->bodies++ > 0)
        return PAWL_OK;
    return pawl_restart(contract->engine, "w", "i", NULL);
}

WORKFLOW(run_losing_its_lease)
{
    return pawl_do(run, "x", NULL, body_that_restarts, NULL, out_result);
}

TEST_OF(contract, a_turn_that_lost_its_lease_is_counted)
{
    contract_start(contract, run_losing_its_lease, NULL);

    struct pawl_stats stats = stats_of(contract);
    assert_instance(contract, PAWL_COMPLETE);
    assert_int_equal(contract->bodies, 2);
    assert_int_equal(stats.leases_lost, 1);
    assert_int_equal(stats.steps_completed, 1); /* what was not recorded did not happen */
    assert_int_equal(total_of(stats.body_seconds), 2);
}

/* ---- Commits ----------------------------------------------------------------------------------------------------- */

TEST_OF(contract, commits_are_counted_with_their_units_and_their_time)
{
    contract_start(contract, run_sleeping, NULL);
    contract_advance(contract, "1 hour");

    struct pawl_stats stats = stats_of(contract);
    struct pawl_runner_stats runner;
    pawl_runner_stats_read(pawl_world_runner(contract->world), &runner);
    assert_true(stats.commits > 0);
    assert_int_equal(stats.commits, runner.commits);
    assert_int_equal(stats.commits_failed, 0);
    assert_int_equal(total_of(stats.units), stats.commits);
    assert_true(stats.units.sum == (double)runner.units);
    assert_int_equal(total_of(stats.commit_seconds), stats.commits);
    assert_true(stats.commit_seconds.sum > 0);
}

TEST_OF(contract, of_a_failed_commit_and_of_a_refused_unit_nothing_is_counted)
{
    struct pw_stats stats = { 0 };
    struct pw_unit good, refused, *units[] = { &good, &refused };
    pw_unit_init(&good);
    pw_unit_init(&refused);
    assert_non_null(pw_unit_tell(&good, PW_EFFECT_EVENT, 1, 1));
    assert_non_null(pw_unit_tell(&refused, PW_EFFECT_EVENT, 1, 1));
    refused.status = PAWL_CONFLICT;

    pw_stats_batch(&stats, units, 2, PAWL_STORE_UNAVAILABLE, 10);
    assert_int_equal(stats.events_sent, 0);
    assert_int_equal(stats.commits_failed, 1);
    assert_int_not_equal(stats.last_commit_failure, PAWL_OK);
    assert_int_equal(stats.commits, 0);
    pw_stats_batch(&stats, units, 2, PAWL_OK, 10);
    assert_int_equal(stats.events_sent, 1);
    assert_int_equal(stats.commits, 1);

    pw_unit_clear(&good);
    pw_unit_clear(&refused);
}

TEST_OF(contract, a_class_holds_what_is_at_most_its_limit)
{
    struct pawl_distribution classes = stats_of(contract).body_seconds;
    size_t last = classes.class_count - 1;
    assert_true(last > 2 && classes.class_count <= PAWL_CLASSES_MAX);
    for (size_t i = 0; i < last; i++) {
        assert_true(i == 0 || classes.limits[i] > classes.limits[i - 1]);
        struct pw_stats exact = { 0 }, above = { 0 };
        pw_stats_body(&exact, (int64_t)(classes.limits[i] * 1e6 + 0.5));
        pw_stats_body(&above, (int64_t)(classes.limits[i] * 1e6 + 1.5));
        assert_int_equal(exact.body_seconds.counts[i], 1);
        assert_int_equal(above.body_seconds.counts[i + 1], 1);
    }
}

TEST_OF(contract, a_caller_gets_as_much_as_its_header_knew)
{
    struct {
        struct pawl_stats known;
        int64_t unknown;
    } newer = { { .struct_size = sizeof newer }, 77 };
    struct pawl_stats older;
    contract_start(contract, run_at_once, NULL);

    memset(&older, 77, sizeof older);
    older.struct_size = offsetof(struct pawl_stats, runs_complete);
    pawl_stats_read(contract->engine, &older);
    pawl_stats_read(contract->engine, &newer.known);

    assert_int_equal(older.runs_created, 1);
    assert_int_equal(older.struct_size, offsetof(struct pawl_stats, runs_complete));
    assert_int_equal(*(const char *)&older.runs_complete, 77);
    assert_int_equal(newer.known.runs_complete, 1);
    assert_int_equal(newer.unknown, 0);
}

/* ---- The backlog --------------------------------------------------------------------------------------------------- */

TEST_OF(contract, the_backlog_counts_unfinished_instances_by_status_over_all_workflows)
{
    contract_register(contract, "other", run_sleeping);
    contract_start(contract, run_sleeping, NULL);
    for (int i = 0; i < 2; i++)
        assert_ok(contract, pawl_world_create(contract->world, "other", NULL, NULL, &contract->error));
    contract_idle(contract);
    assert_ok(contract, pawl_world_create(contract->world, "w", "new", NULL, &contract->error));
    assert_ok(contract, pawl_world_create(contract->world, "w", "ended", NULL, &contract->error));
    assert_ok(contract, pawl_terminate(contract->engine, "w", "ended", &contract->error));
    contract_control(contract, pawl_pause);

    struct pawl_backlog backlog = backlog_of(contract);

    assert_int_equal(backlog.active, 1);
    assert_int_equal(backlog.waiting, 2);
    assert_int_equal(backlog.paused, 1);
    assert_int_equal(backlog.due, 1);
    assert_int_equal(backlog.oldest_due_at_ms, contract_now(contract));
}

TEST_OF(contract, what_is_due_and_since_when_is_in_the_backlog)
{
    int64_t start_ms = contract_now(contract);
    assert_int_equal(backlog_of(contract).due, 0);
    assert_int_equal(backlog_of(contract).oldest_due_at_ms, 0);

    contract_start(contract, run_sleeping, NULL);
    assert_int_equal(backlog_of(contract).due, 0);
    contract_jump(contract, HOUR_MS - 1);
    assert_int_equal(backlog_of(contract).due, 0);
    assert_int_equal(backlog_of(contract).oldest_due_at_ms, 0);
    contract_jump(contract, 1 + MINUTE_MS);
    assert_ok(contract, pawl_world_create(contract->world, "w", "new", NULL, &contract->error));

    assert_int_equal(backlog_of(contract).due, 2);
    assert_int_equal(backlog_of(contract).oldest_due_at_ms, start_ms + HOUR_MS);
}

/* C1: a processing task with an expired lease is claimable; it is due since then. */
TEST_OF(contract, a_dead_runners_task_is_due_when_its_lease_has_expired)
{
    const struct pawl_definition polled = { .struct_size = sizeof polled, .name = "polled" };
    pawl_runner *runner = pawl_world_runner(contract->world);
    pawl_turn *turn = NULL;
    bool again;
    assert_ok(contract, pawl_define(contract->engine, &polled, &contract->error));
    assert_ok(contract, pawl_world_create(contract->world, "polled", "p", NULL, &contract->error));
    assert_ok(contract, pawl_turn_poll(runner, &turn, &contract->error));
    assert_non_null(turn);

    assert_int_equal(backlog_of(contract).active, 1);
    assert_int_equal(backlog_of(contract).due, 0);
    int64_t expires_ms = contract_next_wake(contract);
    contract_jump(contract, expires_ms - contract_now(contract) + MINUTE_MS);
    assert_int_equal(backlog_of(contract).due, 1);
    assert_int_equal(backlog_of(contract).oldest_due_at_ms, expires_ms);

    pawl_turn_finish(turn, NULL, 0);
    assert_ok(contract, pawl_turn_done(runner, turn, &again, &contract->error));
    assert_int_equal(backlog_of(contract).active, 0);
}

static pawl_status refuse_what_is_enqueued(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    (void)user, (void)error;
    return delivery->event == PAWL_HOOK_ENQUEUED ? PAWL_NON_RETRYABLE : PAWL_FAILED;
}

TEST_OF(contract, deliveries_that_wait_and_those_that_failed_are_in_the_backlog)
{
    struct pawl_hook hook = PAWL_HOOK_INIT;
    hook.name = "billing";
    hook.events = PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED;
    hook.deliver = refuse_what_is_enqueued;
    assert_ok(contract, pawl_hook_register(contract->engine, &hook, &contract->error));
    assert_int_equal(backlog_of(contract).deliveries_pending, 0);

    contract_start(contract, run_at_once, NULL);
    assert_int_equal(backlog_of(contract).deliveries_pending, 2);
    assert_int_equal(backlog_of(contract).deliveries_failed, 0);
    assert_ok(contract, pawl_hooks_tick(contract->engine, 0, NULL, NULL, &contract->error));

    assert_int_equal(backlog_of(contract).deliveries_pending, 1);
    assert_int_equal(backlog_of(contract).deliveries_failed, 1);
}

TEST_OF(contract, a_backlog_without_its_size_is_refused)
{
    struct pawl_backlog backlog = { 0 };
    assert_status(pawl_backlog_read(contract->engine, &backlog, &contract->error), PAWL_INVALID);
    assert_says(contract->error.text, "struct_size");
    assert_status(pawl_backlog_read(contract->engine, NULL, &contract->error), PAWL_INVALID);
}
