/* Contract C7: durable hooks as runs go their way.  What a turn does to its run, and to others, is told exactly when it
 * is durable; with the reason, the due time, the outcome.  test_hooks.c has the calls of service.h and the deliveries. */
#include "kit/contract_world.h"

#include "kit/hooking.h"
#include "kit/sweeping.h"

#define assert_recorded(contract, expected) assert_text(hooking_recorded((contract)->engine, NULL), expected)

/* Everything is recorded, and nobody delivers. */
static void record_all(struct contract *contract)
{
    struct pawl_hook hook = hooking_hook("all", NULL);
    assert_ok(contract, pawl_hook_register(contract->engine, &hook, &contract->error));
}

static void hear(struct contract *contract, struct hearing *hearing)
{
    struct pawl_hook hook = hooking_hook("all", hearing);
    assert_ok(contract, pawl_hook_register(contract->engine, &hook, &contract->error));
}

static int64_t deliver(struct contract *contract)
{
    int64_t delivered = -1;
    assert_ok(contract, pawl_hooks_tick(contract->engine, 0, &delivered, NULL, &contract->error));
    return delivered;
}

/* ---- A run of its own ------------------------------------------------------------------------------------------ */

WORKFLOW(run_sleeps)
{
    PAWL_TRY(pawl_do(run, "before", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_return(run, out_result, "i", 7);
}

TEST_OF(contract, C7_a_run_that_sleeps_and_completes_is_told_of)
{
    record_all(contract);
    contract_start(contract, run_sleeps, NULL);
    assert_recorded(contract, "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z");
    contract_advance(contract, "1 hour");
    assert_output(contract, "7");
    assert_recorded(contract, "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z, i/1 finished complete");
}

WORKFLOW(run_retries)
{
    const struct pawl_step_options once = { .retries = 1, .delay = "30 s" };
    return pawl_do(run, "x", &once, contract_body_fails, NULL, out_result);
}

TEST_OF(contract, C7_a_retry_and_a_failure_are_told_of)
{
    struct hearing hearing = { .calls = 0 };
    hear(contract, &hearing);
    contract_start(contract, run_retries, NULL);
    assert_recorded(contract, "i/1 create, i/1 retry 2026-01-01T00:00:30.000Z");
    contract_advance(contract, "1 minute");
    assert_errored(contract, "Broken", "attempt 2");
    assert_int_equal(deliver(contract), 3);
    assert_text(hearing.heard, "i/1 create, i/1 retry 2026-01-01T00:00:30.000Z, i/1 finished errored with an error");
    assert_text(hearing.payload, "{\"workflowName\":\"w\",\"instanceId\":\"i\",\"runNumber\":1,\"status\":\"errored\","
                                 "\"error\":{\"name\":\"Broken\",\"message\":\"attempt 2\"}}");
}

WORKFLOW(run_waits)
{
    struct pawl_event event;
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", "2 hours", &event));
    *out_result = event.payload;
    return PAWL_OK;
}

TEST_OF(contract, C7_a_wait_and_its_event_are_told_of)
{
    record_all(contract);
    contract_start(contract, run_waits, NULL);
    contract_send(contract, "go", "1");
    contract_idle(contract);
    assert_output(contract, "1");
    assert_recorded(contract, "i/1 create, i/1 wake 2026-01-01T02:00:00.000Z, i/1 event, i/1 finished complete");
}

/* Sends the event that its run will wait for, when nobody waits yet. */
BODY(body_sends_to_itself)
{
    struct contract *contract = pawl_step_user(step);
    return contract_send_id(contract, "go", "2", "early");
}

WORKFLOW(run_early_event)
{
    PAWL_TRY(pawl_do(run, "send", NULL, body_sends_to_itself, NULL, NULL));
    return run_waits(run, params, out_result);
}

TEST_OF(contract, C7_an_event_that_comes_before_its_wait_makes_nothing_due)
{
    record_all(contract);
    contract_start(contract, run_early_event, NULL);
    assert_output(contract, "2");
    assert_recorded(contract, "i/1 create, i/1 finished complete");
}

/* ---- Pauses in the middle of a turn ---------------------------------------------------------------------------- */

/* Asks for a pause; number 1: and takes it back. */
BODY(body_pauses)
{
    struct contract *contract = pawl_step_user(step);
    PAWL_TRY(pawl_pause(contract->engine, "w", "i", NULL));
    return contract->number == 1 ? pawl_resume(contract->engine, "w", "i", NULL) : PAWL_OK;
}

WORKFLOW(run_pauses)
{
    PAWL_TRY(pawl_do(run, "pauses", NULL, body_pauses, params, NULL));
    return run_sleeps(run, params, out_result);
}

TEST_OF(contract, C7_a_run_that_pauses_is_told_of_when_it_is_resumed)
{
    record_all(contract);
    contract_start(contract, run_pauses, NULL);
    assert_instance(contract, PAWL_PAUSED);
    assert_recorded(contract, "i/1 create");
    contract_control(contract, pawl_resume);
    assert_recorded(contract, "i/1 create, i/1 resume");
    contract_idle(contract);
    assert_recorded(contract, "i/1 create, i/1 resume, i/1 wake 2026-01-01T01:00:00.000Z");
}

/* The turn has heard of the pause and closes for it; that it was taken back is found out only by the store.  Then the run
 * is due again at once, and that is told. */
TEST_OF(contract, C7_a_pause_that_was_taken_back_in_time_makes_the_run_due)
{
    contract->number = 1;
    record_all(contract);
    contract_start(contract, run_pauses, NULL);
    assert_instance(contract, PAWL_WAITING);
    assert_recorded(contract, "i/1 create, i/1 resume, i/1 wake 2026-01-01T01:00:00.000Z");
}

TEST_OF(contract, C7_a_sleeping_run_that_is_paused_and_resumed_is_told_of_anew)
{
    record_all(contract);
    contract_start(contract, run_sleeps, NULL);
    contract_control(contract, pawl_pause);
    contract_control(contract, pawl_resume);
    contract_idle(contract);
    assert_recorded(contract, "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z, i/1 resume,"
                              " i/1 wake 2026-01-01T01:00:00.000Z");
}

/* ---- Others, from within a step --------------------------------------------------------------------------------- */

BODY(body_bears)
{
    PAWL_TRY(pawl_step_create(step, "child", "c-1", input));
    return pawl_step_create(step, "child", "c-2", input);
}

BODY(body_tells)
{
    PAWL_TRY(pawl_step_send_event(step, "child", "c-1", "other", input));
    PAWL_TRY(pawl_step_send_event(step, "child", "c-2", "go", input));
    return pawl_step_send_event(step, "child", "c-2", "go", input);
}

WORKFLOW(run_bears)
{
    PAWL_TRY(pawl_do(run, "bear", NULL, body_bears, params, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 minute"));
    return pawl_do(run, "tell", NULL, body_tells, params, NULL);
}

TEST_OF(contract, C7_children_and_events_of_a_step_are_told_with_its_boundary)
{
    struct pawl_hook hook = hooking_hook("starts", NULL);
    hook.events = PAWL_HOOK_ENQUEUED;
    assert_ok(contract, pawl_hook_register(contract->engine, &hook, &contract->error));
    contract_register(contract, "child", run_waits);
    contract_start(contract, run_bears, NULL);
    assert_recorded(contract, "i/1 create, c-1/1 create, c-2/1 create, i/1 wake 2026-01-01T00:01:00.000Z,"
                              " c-1/1 wake 2026-01-01T02:00:00.000Z, c-2/1 wake 2026-01-01T02:00:00.000Z");
    contract_execute(contract, "CREATE TABLE seen AS SELECT max(created_at) AS at FROM workflow_hooks");
    contract_advance(contract, "1 minute");
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_hooks, seen WHERE created_at > at"
                                              " AND instance_id = 'c-2' AND reason = 'event'"),
                     1);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_hooks, seen WHERE created_at > at"
                                              " AND instance_id = 'c-1'"),
                     0);
}

BODY(body_fails_with_its_unit)
{
    PAWL_TRY(pawl_step_create(step, "child", "c-1", input));
    return pawl_step_sql(step, "INSERT INTO keys VALUES (1)", NULL);
}

WORKFLOW(run_violates)
{
    const struct pawl_step_options never = { .retries = PAWL_NO_RETRIES };
    return pawl_do(run, "violate", &never, body_fails_with_its_unit, params, out_result);
}

WORKFLOW(run_has_children)
{
    static const char *const names[] = { "one", "other", "apart" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct pawl_child_options options = { .id = names[i], .detached = i == 2 };
        const char *id;
        PAWL_TRY(pawl_start_child(run, names[i], "child", &options, NULL, &id));
    }
    return run_sleeps(run, params, out_result);
}

/* All of them sleep, and what was told of them so far has been heard. */
static void start_family(struct contract *contract, struct hearing *hearing)
{
    struct pawl_hook hook = hooking_hook("starts", hearing);
    hook.events = PAWL_HOOK_ENQUEUED;
    assert_ok(contract, pawl_hook_register(contract->engine, &hook, &contract->error));
    contract_register(contract, "child", run_sleeps);
    contract_start(contract, run_has_children, NULL);
    assert_int_equal(deliver(contract), 8);
    hearing->heard[0] = '\0';
}

/* They are due at once, long before they wanted to be. */
TEST_OF(contract, C7_children_that_end_with_their_parent_are_told_of)
{
    struct hearing hearing = { .calls = 0 };
    start_family(contract, &hearing);

    contract_control(contract, pawl_terminate);

    assert_int_equal(deliver(contract), 2);
    assert_text(hearing.heard, "one/1 resume, other/1 resume");
    contract_idle(contract);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_task"), 1);
}

TEST_OF(contract, C7_so_are_those_that_the_turn_of_an_interrupted_parent_reaches)
{
    struct hearing hearing = { .calls = 0 };
    start_family(contract, &hearing);

    contract_control(contract, pawl_interrupt);
    contract_idle(contract);

    assert_int_equal(deliver(contract), 3);
    assert_text(hearing.heard, "i/1 resume, one/1 resume, other/1 resume");
}

TEST_OF(contract, C7_what_the_database_refused_is_not_told)
{
    record_all(contract);
    contract_execute(contract, "CREATE TABLE keys (key INTEGER PRIMARY KEY)");
    contract_execute(contract, "INSERT INTO keys VALUES (1)");
    contract_register(contract, "child", run_waits);
    contract_start(contract, run_violates, NULL);
    assert_instance(contract, PAWL_ERRORED);
    assert_recorded(contract, "i/1 create, i/1 finished errored with an error");
}

/* ---- Control ------------------------------------------------------------------------------------------------------ */

/* The run is ended, or begun anew, while this body runs: what the turn would have told is not true any more. */
BODY(body_is_controlled)
{
    struct contract *contract = pawl_step_user(step);
    if (contract->bodies++ > 0)
        return PAWL_OK;
    return contract->number == 1 ? pawl_restart(contract->engine, "w", "i", NULL)
                                 : pawl_terminate(contract->engine, "w", "i", NULL);
}

WORKFLOW(run_controlled)
{
    return pawl_do(run, "x", NULL, body_is_controlled, params, out_result);
}

TEST_OF(contract, C7_a_turn_whose_run_was_terminated_tells_nothing_more)
{
    record_all(contract);
    contract_start(contract, run_controlled, NULL);
    assert_recorded(contract, "i/1 create, i/1 finished terminated");
}

TEST_OF(contract, C7_a_turn_whose_run_was_restarted_tells_nothing_of_the_old_one)
{
    contract->number = 1;
    record_all(contract);
    contract_start(contract, run_controlled, NULL);
    assert_recorded(contract, "i/1 create, i/2 create, i/2 finished complete");
}

/* ---- Other processes ------------------------------------------------------------------------------------------------ */

static int64_t same_time(void *user)
{
    return contract_now(user);
}

static void assert_another_engine_delivers(struct contract *contract)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct hearing hearing = { .calls = 0 };
    struct pawl_hook hook = hooking_hook("all", &hearing);
    pawl_engine *other;
    int64_t delivered;
    options.store_url = contract->url;
    options.clock = (struct pawl_clock){ .now_ms = same_time, .user = contract };
    assert_ok(contract, pawl_open(&options, &other, &contract->error));
    assert_ok(contract, pawl_hook_register(other, &hook, &contract->error));
    assert_ok(contract, pawl_hooks_tick(other, 0, &delivered, NULL, &contract->error));
    assert_int_equal(delivered, 2);
    assert_text(hearing.heard, "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z");
    assert_recorded(contract, "");
    pawl_close(other);
}

/* Of one that only records.  A database in memory has no second engine: there it stays. */
TEST_OF(contract, C7_another_engine_on_the_file_delivers_what_this_one_recorded)
{
    record_all(contract);
    contract_start(contract, run_sleeps, NULL);
    assert_int_equal(deliver(contract), 0);
    assert_recorded(contract, "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z");
    if (contract->in_file)
        assert_another_engine_delivers(contract);
}

TEST_OF(contract, C7_what_one_process_recorded_the_next_one_delivers)
{
    struct hearing hearing = { .calls = 0 };
    record_all(contract);
    contract_start(contract, run_sleeps, NULL);
    contract_deploy(contract, run_sleeps);
    if (contract->in_file) {
        hear(contract, &hearing);
        assert_int_equal(deliver(contract), 2);
    }
    contract_advance(contract, "1 hour");
    assert_text(hooking_recorded(contract->engine, NULL),
                contract->in_file ? "i/1 finished complete"
                                  : "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z, i/1 finished complete");
}

/* ---- Crashes -------------------------------------------------------------------------------------------------------- */

BODY(body_third_time)
{
    if (pawl_step_attempt(step) < 3)
        return pawl_fail(step, "NotYet", "attempt %d", (int)pawl_step_attempt(step));
    return pawl_result(step, out_result, "i", 3);
}

BODY(body_begets)
{
    return pawl_step_create(step, "leaf", "child", input);
}

WORKFLOW(run_everything)
{
    PAWL_TRY(pawl_do(run, "try", NULL, body_third_time, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "10 minutes"));
    PAWL_TRY(pawl_do(run, "beget", NULL, body_begets, params, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", "1 day", NULL));
    return pawl_return(run, out_result, "i", 1);
}

static pawl_status record_in_world(pawl_world *world, void *user, struct pawl_error *error)
{
    struct pawl_hook hook = hooking_hook("all", NULL);
    (void)user;
    return pawl_hook_register(pawl_world_engine(world), &hook, error);
}

/* One of the worlds has a clock that moves on by itself. */
static void leave_times_out(char *text)
{
    for (char *at = strstr(text, " 2026-"); at != NULL; at = strstr(text, " 2026-")) {
        const char *end = strchr(at, 'Z') + 1;
        memmove(at, end, strlen(end) + 1);
    }
}

/* What the first world, which is not disturbed, recorded is what all others must have. */
static char undisturbed[HOOKING_TEXT];

static pawl_status same_as_undisturbed(pawl_world *world, void *user, struct pawl_error *error)
{
    struct sweeping *sweeping = user;
    char recorded[HOOKING_TEXT];
    snprintf(recorded, sizeof recorded, "%s", hooking_recorded(pawl_world_engine(world), NULL));
    leave_times_out(recorded);
    if (sweeping->checks++ == 0)
        snprintf(undisturbed, sizeof undisturbed, "%s", recorded);
    if (strcmp(recorded, undisturbed) == 0)
        return PAWL_OK;
    snprintf(error->text, sizeof error->text, "recorded is %.240s instead of %.240s", recorded, undisturbed);
    return PAWL_FAILED;
}

TEST_OF(sweeping, C7_hooks_are_recorded_exactly_when_their_cause_is_durable)
{
    static const struct pawl_sweep_event event = { "go", "1", "1 hour" };
    sweeping->options.setup = record_in_world;
    sweeping->options.check = same_as_undisturbed;
    sweeping->options.events = &event;
    sweeping->options.event_count = 1;
    sweeping_add(sweeping, "w", run_everything);
    sweeping_add(sweeping, "leaf", sweeping_leaf);
    sweeping_sweep(sweeping);
    if (sweeping->report.finding_count > 0)
        print_error("%s", sweeping->report.text);
    assert_int_equal(sweeping->report.finding_count, 0);
    assert_true(sweeping->checks > 20);
    assert_text(undisturbed, "sweep/1 create, sweep/1 retry, sweep/1 retry, sweep/1 wake, child/1 create, sweep/1 wake,"
                             " child/1 finished complete, sweep/1 event, sweep/1 finished complete");
}
