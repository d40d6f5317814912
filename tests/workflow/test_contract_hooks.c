/* Contract C7: durable hooks as runs go their way.  What a turn does to its run, and to others, is told exactly when it
 * is durable; with the reason, the due time, the outcome.  test_hooks.c has the calls of service.h and the deliveries. */
#include "kit/contract_world.h"

#include <stdio.h>
#include <string.h>

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

static pawl_status run_sleeps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_do(run, "before", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_return(run, out_result, "i", 7);
}

static void C7_a_run_that_sleeps_and_completes_is_told_of(void **state)
{
    struct contract *contract = *state;
    record_all(contract);
    contract_start(contract, run_sleeps, NULL);
    assert_recorded(contract, "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z");
    contract_advance(contract, "1 hour");
    assert_output(contract, "7");
    assert_recorded(contract, "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z, i/1 finished complete");
}

static pawl_status run_retries(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const struct pawl_step_options once = { .retries = 1, .delay = "30 s" };
    (void)params;
    return pawl_do(run, "x", &once, contract_body_fails, NULL, out_result);
}

static void C7_a_retry_and_a_failure_are_told_of(void **state)
{
    struct contract *contract = *state;
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

static pawl_status run_waits(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_event event;
    (void)params;
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", "2 hours", &event));
    *out_result = event.payload;
    return PAWL_OK;
}

static void C7_a_wait_and_its_event_are_told_of(void **state)
{
    struct contract *contract = *state;
    record_all(contract);
    contract_start(contract, run_waits, NULL);
    contract_send(contract, "go", "1");
    contract_idle(contract);
    assert_output(contract, "1");
    assert_recorded(contract, "i/1 create, i/1 wake 2026-01-01T02:00:00.000Z, i/1 event, i/1 finished complete");
}

/* Sends the event that its run will wait for, when nobody waits yet. */
static pawl_status body_sends_to_itself(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    (void)input;
    (void)out_result;
    return contract_send_id(contract, "go", "2", "early");
}

static pawl_status run_early_event(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "send", NULL, body_sends_to_itself, NULL, NULL));
    return run_waits(run, params, out_result);
}

static void C7_an_event_that_comes_before_its_wait_makes_nothing_due(void **state)
{
    struct contract *contract = *state;
    record_all(contract);
    contract_start(contract, run_early_event, NULL);
    assert_output(contract, "2");
    assert_recorded(contract, "i/1 create, i/1 finished complete");
}

/* ---- Pauses in the middle of a turn ---------------------------------------------------------------------------- */

/* Asks for a pause; number 1: and takes it back. */
static pawl_status body_pauses(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    (void)input;
    (void)out_result;
    PAWL_TRY(pawl_pause(contract->engine, "w", "i", NULL));
    return contract->number == 1 ? pawl_resume(contract->engine, "w", "i", NULL) : PAWL_OK;
}

static pawl_status run_pauses(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "pauses", NULL, body_pauses, params, NULL));
    return run_sleeps(run, params, out_result);
}

static void C7_a_run_that_pauses_is_told_of_when_it_is_resumed(void **state)
{
    struct contract *contract = *state;
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
static void C7_a_pause_that_was_taken_back_in_time_makes_the_run_due(void **state)
{
    struct contract *contract = *state;
    contract->number = 1;
    record_all(contract);
    contract_start(contract, run_pauses, NULL);
    assert_instance(contract, PAWL_WAITING);
    assert_recorded(contract, "i/1 create, i/1 resume, i/1 wake 2026-01-01T01:00:00.000Z");
}

static void C7_a_sleeping_run_that_is_paused_and_resumed_is_told_of_anew(void **state)
{
    struct contract *contract = *state;
    record_all(contract);
    contract_start(contract, run_sleeps, NULL);
    contract_control(contract, pawl_pause);
    contract_control(contract, pawl_resume);
    contract_idle(contract);
    assert_recorded(contract, "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z, i/1 resume,"
                              " i/1 wake 2026-01-01T01:00:00.000Z");
}

/* ---- Others, from within a step --------------------------------------------------------------------------------- */

static pawl_status body_bears(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_step_create(step, "child", "c-1", input));
    return pawl_step_create(step, "child", "c-2", input);
}

static pawl_status body_tells(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_step_send_event(step, "child", "c-1", "other", input));
    PAWL_TRY(pawl_step_send_event(step, "child", "c-2", "go", input));
    return pawl_step_send_event(step, "child", "c-2", "go", input);
}

static pawl_status run_bears(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_do(run, "bear", NULL, body_bears, params, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 minute"));
    return pawl_do(run, "tell", NULL, body_tells, params, NULL);
}

static void C7_children_and_events_of_a_step_are_told_with_its_boundary(void **state)
{
    struct contract *contract = *state;
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

static pawl_status body_fails_with_its_unit(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_step_create(step, "child", "c-1", input));
    return pawl_step_sql(step, "INSERT INTO keys VALUES (1)", NULL);
}

static pawl_status run_violates(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const struct pawl_step_options never = { .retries = PAWL_NO_RETRIES };
    return pawl_do(run, "violate", &never, body_fails_with_its_unit, params, out_result);
}

static pawl_status run_has_children(pawl_run *run, const pawl_value *params, pawl_value **out_result)
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
static void C7_children_that_end_with_their_parent_are_told_of(void **state)
{
    struct contract *contract = *state;
    struct hearing hearing = { .calls = 0 };
    start_family(contract, &hearing);

    contract_control(contract, pawl_terminate);

    assert_int_equal(deliver(contract), 2);
    assert_text(hearing.heard, "one/1 resume, other/1 resume");
    contract_idle(contract);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_task"), 1);
}

static void C7_so_are_those_that_the_turn_of_an_interrupted_parent_reaches(void **state)
{
    struct contract *contract = *state;
    struct hearing hearing = { .calls = 0 };
    start_family(contract, &hearing);

    contract_control(contract, pawl_interrupt);
    contract_idle(contract);

    assert_int_equal(deliver(contract), 3);
    assert_text(hearing.heard, "i/1 resume, one/1 resume, other/1 resume");
}

static void C7_what_the_database_refused_is_not_told(void **state)
{
    struct contract *contract = *state;
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
static pawl_status body_is_controlled(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    (void)input;
    (void)out_result;
    if (contract->bodies++ > 0)
        return PAWL_OK;
    return contract->number == 1 ? pawl_restart(contract->engine, "w", "i", NULL)
                                 : pawl_terminate(contract->engine, "w", "i", NULL);
}

static pawl_status run_controlled(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "x", NULL, body_is_controlled, params, out_result);
}

static void C7_a_turn_whose_run_was_terminated_tells_nothing_more(void **state)
{
    struct contract *contract = *state;
    record_all(contract);
    contract_start(contract, run_controlled, NULL);
    assert_recorded(contract, "i/1 create, i/1 finished terminated");
}

static void C7_a_turn_whose_run_was_restarted_tells_nothing_of_the_old_one(void **state)
{
    struct contract *contract = *state;
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
static void C7_another_engine_on_the_file_delivers_what_this_one_recorded(void **state)
{
    struct contract *contract = *state;
    record_all(contract);
    contract_start(contract, run_sleeps, NULL);
    assert_int_equal(deliver(contract), 0);
    assert_recorded(contract, "i/1 create, i/1 wake 2026-01-01T01:00:00.000Z");
    if (contract->in_file)
        assert_another_engine_delivers(contract);
}

static void C7_what_one_process_recorded_the_next_one_delivers(void **state)
{
    struct contract *contract = *state;
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

static pawl_status body_third_time(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    if (pawl_step_attempt(step) < 3)
        return pawl_fail(step, "NotYet", "attempt %d", (int)pawl_step_attempt(step));
    return pawl_result(step, out_result, "i", 3);
}

static pawl_status body_begets(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    return pawl_step_create(step, "leaf", "child", input);
}

static pawl_status run_everything(pawl_run *run, const pawl_value *params, pawl_value **out_result)
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

static void C7_hooks_are_recorded_exactly_when_their_cause_is_durable(void **state)
{
    static const struct pawl_sweep_event event = { "go", "1", "1 hour" };
    struct sweeping *sweeping = *state;
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

int main(void)
{
    struct CMUnitTest tests[] = {
        CONTRACT_TEST(C7_a_run_that_sleeps_and_completes_is_told_of),
        CONTRACT_TEST(C7_a_retry_and_a_failure_are_told_of),
        CONTRACT_TEST(C7_a_wait_and_its_event_are_told_of),
        CONTRACT_TEST(C7_an_event_that_comes_before_its_wait_makes_nothing_due),
        CONTRACT_TEST(C7_a_run_that_pauses_is_told_of_when_it_is_resumed),
        CONTRACT_TEST(C7_a_pause_that_was_taken_back_in_time_makes_the_run_due),
        CONTRACT_TEST(C7_a_sleeping_run_that_is_paused_and_resumed_is_told_of_anew),
        CONTRACT_TEST(C7_children_and_events_of_a_step_are_told_with_its_boundary),
        CONTRACT_TEST(C7_children_that_end_with_their_parent_are_told_of),
        CONTRACT_TEST(C7_so_are_those_that_the_turn_of_an_interrupted_parent_reaches),
        CONTRACT_TEST(C7_what_the_database_refused_is_not_told),
        CONTRACT_TEST(C7_a_turn_whose_run_was_terminated_tells_nothing_more),
        CONTRACT_TEST(C7_a_turn_whose_run_was_restarted_tells_nothing_of_the_old_one),
        CONTRACT_TEST(C7_another_engine_on_the_file_delivers_what_this_one_recorded),
        CONTRACT_TEST(C7_what_one_process_recorded_the_next_one_delivers),
    };
    const struct CMUnitTest sweeps[] = {
        SWEEP_TEST(C7_hooks_are_recorded_exactly_when_their_cause_is_durable),
    };
    return contract_run_tests("contract C7", tests, sizeof tests / sizeof tests[0]) +
           cmocka_run_group_tests_name("contract C7, crashes", sweeps, NULL, NULL);
}
