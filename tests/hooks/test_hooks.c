/* test_hooks.c - durable hooks in the engine (contract C7): who is told what by each call of service.h, also where the
 * local runner takes the run at once; ticks, failures, leases; lists.  test_contract_hooks.c has the turns' part. */
#include "kit/service_world.h"

#include "engine/hooks.h"
#include "kit/hooking.h"
#include "service/service.h"

#define ok(call) assert_int_equal((call), PAWL_OK)
#define assert_recorded(world, expected) assert_string_equal(hooking_recorded((world)->engine, NULL), expected)

static void register_hook(struct world *world, struct pawl_hook hook)
{
    ok(pawl_hook_register(world->engine, &hook, &world->error));
}

/* Whatever happens is recorded, and nobody delivers. */
static void record_all(struct world *world)
{
    register_hook(world, hooking_hook("all", NULL));
}

/* A hook that hears everything. */
static void hear(struct world *world, struct hearing *hearing)
{
    *hearing = (struct hearing){ .answer = PAWL_FAILED, .user = world };
    register_hook(world, hooking_hook("all", hearing));
}

static int64_t tick(struct world *world)
{
    int64_t delivered = -1;
    ok(pawl_hooks_tick(world->engine, 0, &delivered, NULL, &world->error));
    return delivered;
}

/* Delivers what is due, too. */
static int64_t next_at(struct world *world)
{
    int64_t at_ms = -1;
    ok(pawl_hooks_tick(world->engine, 0, NULL, &at_ms, &world->error));
    return at_ms;
}

static struct pawl_delivery_record only_delivery(struct world *world)
{
    struct pawl_delivery_page page;
    ok(pawl_list_deliveries(world->engine, world->scope, NULL, &page, &world->error));
    assert_int_equal(page.count, 1);
    return page.deliveries[0];
}

static size_t delivery_count(struct world *world)
{
    struct pawl_delivery_page page;
    ok(pawl_list_deliveries(world->engine, world->scope, NULL, &page, &world->error));
    return page.count;
}

/* ---- Registering --------------------------------------------------------------------------------------------- */

TEST_OF(world, a_hook_needs_a_name_and_events_and_sensible_numbers)
{
    static const char *const names[] = { NULL, "", "two words", "-first",
                                         "01234567890123456789012345678901234567890123456789012345678901234" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pawl_hook hook = hooking_hook(names[i], NULL);
        assert_refused(world, pawl_hook_register(world->engine, &hook, &world->error), PAWL_INVALID, "name", NULL);
    }
    struct pawl_hook hook = hooking_hook("mail", NULL);
    hook.events = 0;
    assert_refused(world, pawl_hook_register(world->engine, &hook, &world->error), PAWL_INVALID, "mail", "events",
                   NULL);
    hook.events = 4;
    assert_refused(world, pawl_hook_register(world->engine, &hook, &world->error), PAWL_INVALID, "events", NULL);
    hook = hooking_hook("mail", NULL);
    hook.attempts_max = -1;
    assert_refused(world, pawl_hook_register(world->engine, &hook, &world->error), PAWL_INVALID, "attempts", NULL);
    hook = hooking_hook("mail", NULL);
    hook.delay_ms = -1;
    assert_refused(world, pawl_hook_register(world->engine, &hook, &world->error), PAWL_INVALID, "delay", NULL);
    hook = hooking_hook("mail", NULL);
    hook.lease_ms = INT64_MAX;
    assert_refused(world, pawl_hook_register(world->engine, &hook, &world->error), PAWL_INVALID, "lease", NULL);
    hook.lease_ms = 99;
    assert_refused(world, pawl_hook_register(world->engine, &hook, &world->error), PAWL_INVALID, "100 ms", NULL);
    hook = hooking_hook("mail", NULL);
    hook.struct_size++;
    assert_refused(world, pawl_hook_register(world->engine, &hook, &world->error), PAWL_INVALID, "PAWL_HOOK_INIT",
                   NULL);
    assert_refused(world, pawl_hook_register(NULL, &hook, &world->error), PAWL_INVALID, NULL);
    assert_refused(world, pawl_hook_register(world->engine, NULL, &world->error), PAWL_INVALID, NULL);
    world_create(world, "a");
    assert_recorded(world, "");
}

TEST_OF(world, two_hooks_of_one_name_are_refused)
{
    struct pawl_hook hook = hooking_hook("mail", NULL);
    register_hook(world, hook);
    assert_refused(world, pawl_hook_register(world->engine, &hook, &world->error), PAWL_INVALID, "mail", "already",
                   NULL);
}

TEST_OF(world, a_hook_is_registered_before_a_runner_starts)
{
    struct pawl_hook hook = hooking_hook("mail", NULL);
    world->engine->sealed = true;
    assert_refused(world, pawl_hook_register(world->engine, &hook, &world->error), PAWL_INVALID, "before", NULL);
    world->engine->sealed = false;
}

TEST_OF(world, names_are_those_of_the_contract)
{
    assert_string_equal(pawl_hook_event_name(PAWL_HOOK_ENQUEUED), "onWorkflowEnqueued");
    assert_string_equal(pawl_hook_event_name(PAWL_HOOK_FINISHED), "onInstanceFinished");
    assert_string_equal(pawl_hook_event_name((enum pawl_hook_event)9), "unknown");
    assert_string_equal(pawl_delivery_status_name(PAWL_DELIVERY_PENDING), "pending");
    assert_string_equal(pawl_delivery_status_name(PAWL_DELIVERY_FAILED), "failed");
    assert_string_equal(pawl_delivery_status_name((enum pawl_delivery_status)9), "unknown");
}

/* ---- What is recorded: services ------------------------------------------------------------------------------ */

TEST_OF(world, without_hooks_nothing_is_recorded_and_nothing_added)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    pw_hooks_attach(world->engine, &unit);
    assert_null(unit.subscriptions);
    pw_unit_clear(&unit);
    world_create(world, "a");
    assert_recorded(world, "");
    assert_int_equal(tick(world), 0);
    assert_true(next_at(world) == INT64_MAX);
}

TEST_OF(world, C7_a_created_instance_is_told_of)
{
    record_all(world);
    world_create(world, "a");
    assert_recorded(world, "a/1 create");
    struct pawl_delivery delivery = only_delivery(world).delivery;
    assert_string_equal(delivery.payload_json,
                        "{\"workflowName\":\"order\",\"instanceId\":\"a\",\"runNumber\":1,\"reason\":\"create\"}");
    assert_string_equal(delivery.hook, "all");
    assert_int_equal(delivery.event, PAWL_HOOK_ENQUEUED);
    assert_int_equal(strlen(delivery.id), 26);
    assert_int_equal(delivery.created_at_ms, WORLD_START_MS);
}

TEST_OF(world, C7_a_create_that_is_refused_tells_nothing)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    record_all(world);
    world_create(world, "a");
    options.id = "a";
    assert_refused(world, pawl_create(world->engine, world->scope, "order", &options, &instance, &world->error),
                   PAWL_INSTANCE_ID_ALREADY_EXISTS, NULL);
    options.return_existing = true;
    ok(pawl_create(world->engine, world->scope, "order", &options, &instance, &world->error));
    assert_recorded(world, "a/1 create");
}

static void create_batch(struct world *world, const struct pawl_batch_item *items, size_t count, size_t expected)
{
    struct pawl_instance *created;
    size_t created_count = 0;
    ok(pawl_create_batch(world->engine, world->scope, "order", items, count, &created, &created_count, &world->error));
    assert_int_equal(created_count, expected);
    for (size_t i = 0; i < created_count; i++)
        assert_int_equal(created[i].status, PAWL_ACTIVE);
}

TEST_OF(world, C7_a_batch_tells_of_what_it_made_and_not_of_what_was_there)
{
    const struct pawl_batch_item items[] = { { "c", NULL }, { "a", NULL }, { "b", "1" }, { "c", NULL } };
    world_create(world, "a");
    record_all(world);
    register_hook(world, hooking_hook("second", NULL));
    create_batch(world, items, 4, 2);
    assert_string_equal(hooking_recorded(world->engine, "all"), "c/1 create, b/1 create");
    assert_string_equal(hooking_recorded(world->engine, "second"), "c/1 create, b/1 create");
}

TEST_OF(world, C7_a_run_that_the_local_runner_takes_at_once_is_told_of_as_well)
{
    const struct pawl_batch_item items[] = { { "b", NULL }, { "c", NULL } };
    record_all(world);
    world_start_local(world, 2);
    world_create(world, "a");
    create_batch(world, items, 2, 2);
    assert_int_equal(world->delivered_count, 2);
    assert_recorded(world, "a/1 create, b/1 create, c/1 create");
}

TEST_OF(world, C7_an_awaited_event_is_told_and_others_are_not)
{
    world_create(world, "a");
    record_all(world);
    world_wait(world, "a", 1, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 9000);
    world_send(world, "a", "other", NULL);
    assert_recorded(world, "");
    world_send(world, "a", "paid", "once");
    assert_recorded(world, "a/1 event");
    world_send(world, "a", "paid", "once");
    world_send(world, "a", "paid", "later");
    assert_recorded(world, "a/1 event");
}

TEST_OF(world, C7_an_event_whose_run_the_local_runner_takes_is_told)
{
    world_create(world, "a");
    record_all(world);
    world_wait(world, "a", 1, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 9000);
    world_start_local(world, 1);
    world_send(world, "a", "paid", NULL);
    assert_int_equal(world->delivered_count, 1);
    assert_recorded(world, "a/1 event");
}

TEST_OF(world, C7_a_pause_tells_nothing_and_a_resume_does)
{
    world_create(world, "a");
    record_all(world);
    ok(pawl_resume(world->engine, "order", "a", &world->error)); /* it is not paused */
    ok(pawl_pause(world->engine, "order", "a", &world->error));
    ok(pawl_pause(world->engine, "order", "a", &world->error));
    assert_recorded(world, "");
    ok(pawl_resume(world->engine, "order", "a", &world->error));
    assert_recorded(world, "a/1 resume");
    ok(pawl_pause(world->engine, "order", "a", &world->error));
    world_start_local(world, 1);
    ok(pawl_resume(world->engine, "order", "a", &world->error));
    assert_int_equal(world->delivered_count, 1);
    assert_recorded(world, "a/1 resume, a/1 resume");
}

TEST_OF(world, C7_a_pause_that_is_only_asked_for_and_taken_back_tells_nothing)
{
    world_create(world, "a");
    record_all(world);
    (void)world_claim(world);
    ok(pawl_pause(world->engine, "order", "a", &world->error));
    ok(pawl_resume(world->engine, "order", "a", &world->error));
    assert_recorded(world, "");
}

TEST_OF(world, C7_a_terminate_is_an_end_and_a_restart_a_create)
{
    world_create(world, "a");
    record_all(world);
    ok(pawl_terminate(world->engine, "order", "a", &world->error));
    assert_recorded(world, "a/1 finished terminated");
    assert_string_equal(only_delivery(world).delivery.payload_json,
                        "{\"workflowName\":\"order\",\"instanceId\":\"a\",\"runNumber\":1,\"status\":\"terminated\"}");
    assert_refused(world, pawl_terminate(world->engine, "order", "a", &world->error), PAWL_INSTANCE_TERMINAL, NULL);
    ok(pawl_restart(world->engine, "order", "a", &world->error));
    assert_recorded(world, "a/1 finished terminated, a/2 create");
    world_start_local(world, 1);
    ok(pawl_restart(world->engine, "order", "a", &world->error)); /* of a run that has not ended */
    assert_recorded(world, "a/1 finished terminated, a/2 create, a/3 create");
}

static void meddle_once(struct world *world, const struct pw_instance *instance)
{
    (void)instance;
    ok(pawl_restart(world->engine, "other", "b", &world->error));
}

TEST_OF(world, C7_a_call_that_has_to_decide_again_tells_once)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.id = "b";
    ok(pawl_create(world->engine, world->scope, "other", &options, &instance, &world->error));
    world_start_meddling(world, 1, meddle_once); /* the call's own read; the restart inside reads again */
    record_all(world);
    ok(pawl_restart(world->engine, "other", "b", &world->error));
    assert_recorded(world, "b/2 create, b/3 create");
}

static pawl_status add_event(struct world *world, struct pw_unit *unit, const char *id)
{
    const struct pw_text order = pw_text_of("order"), paid = pw_text_of("paid"), none = { NULL, 0 };
    return pw_service_add_event(world->engine, unit, order, pw_text_of(id), paid, none, &world->error);
}

TEST_OF(world, C7_two_events_to_one_instance_in_one_unit_are_told_once)
{
    const struct pw_text order = pw_text_of("order"), none = { NULL, 0 };
    struct pw_unit unit;
    pw_unit_init(&unit);
    world_create(world, "a");
    world_create(world, "b");
    world_wait(world, "a", 1, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 9000);
    world_wait(world, "b", 1, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 9000);
    record_all(world);
    ok(add_event(world, &unit, "a"));
    ok(add_event(world, &unit, "b"));
    ok(add_event(world, &unit, "a"));
    ok(pw_service_add_create(world->engine, &unit, NULL, order, pw_text_of("c"), none, &world->error));
    ok(pw_engine_run(world->engine, &unit));
    pw_unit_clear(&unit);
    assert_recorded(world, "a/1 event, b/1 event, c/1 create");
}

TEST_OF(world, C7_each_hook_is_told_of_its_own_events)
{
    struct pawl_hook starts = hooking_hook("starts", NULL), ends = hooking_hook("ends", NULL);
    starts.events = PAWL_HOOK_ENQUEUED;
    ends.events = PAWL_HOOK_FINISHED;
    register_hook(world, starts);
    register_hook(world, ends);
    record_all(world);
    world_create(world, "a");
    ok(pawl_terminate(world->engine, "order", "a", &world->error));
    assert_string_equal(hooking_recorded(world->engine, "starts"), "a/1 create");
    assert_string_equal(hooking_recorded(world->engine, "ends"), "a/1 finished terminated");
    assert_string_equal(hooking_recorded(world->engine, "all"), "a/1 create, a/1 finished terminated");
}

/* ---- Delivering ---------------------------------------------------------------------------------------------- */

TEST_OF(world, C7_what_was_recorded_is_delivered_once_and_forgotten)
{
    struct hearing hearing;
    hear(world, &hearing);
    world_create(world, "a");
    assert_int_equal(hearing.calls, 0); /* not on the path of whoever caused it */
    world->now_ms += 5;
    world_create(world, "b");
    assert_int_equal(tick(world), 2);
    assert_string_equal(hearing.heard, "a/1 create, b/1 create");
    assert_int_equal(hearing.attempt, 1);
    assert_int_equal(hearing.attempts_max, 5);
    assert_int_equal(hearing.created_at_ms, WORLD_START_MS + 5);
    assert_int_equal(tick(world), 0);
    assert_int_equal(hearing.calls, 2);
    assert_recorded(world, "");
}

TEST_OF(world, a_tick_delivers_at_most_so_many)
{
    struct hearing hearing;
    int64_t delivered = 0, at_ms = 0;
    hear(world, &hearing);
    world_create(world, "a");
    world_create(world, "b");
    world_create(world, "c");
    ok(pawl_hooks_tick(world->engine, 2, &delivered, &at_ms, &world->error));
    assert_int_equal(delivered, 2);
    assert_int_equal(at_ms, WORLD_START_MS);
    ok(pawl_hooks_tick(world->engine, 2, &delivered, &at_ms, &world->error));
    assert_int_equal(delivered, 1);
    assert_true(at_ms == INT64_MAX);
    assert_refused(world, pawl_hooks_tick(world->engine, -1, NULL, NULL, &world->error), PAWL_INVALID, "max", NULL);
    assert_refused(world, pawl_hooks_tick(NULL, 0, NULL, NULL, &world->error), PAWL_INVALID, "engine", NULL);
}

TEST_OF(world, C7_a_hook_without_a_function_waits_for_another_process)
{
    record_all(world);
    world_create(world, "a");
    assert_int_equal(tick(world), 0);
    assert_true(next_at(world) == INT64_MAX);
    assert_recorded(world, "a/1 create");
}

TEST_OF(world, C7_a_failed_delivery_is_tried_five_times_with_doubled_delays_and_stays_visible)
{
    struct hearing hearing;
    static const int64_t delays[] = { 1000, 2000, 4000, 8000 };
    hear(world, &hearing);
    hearing.failures = 99;
    hearing.says = "no route to host";
    world_create(world, "a");
    assert_int_equal(tick(world), 0);
    for (int i = 0; i < 4; i++) {
        struct pawl_delivery_record record = only_delivery(world);
        assert_int_equal(record.status, PAWL_DELIVERY_PENDING);
        assert_int_equal(record.delivery.attempt, i + 1);
        assert_int_equal(record.next_attempt_at_ms, world->now_ms + delays[i]);
        assert_string_equal(record.last_error, "no route to host");
        assert_int_equal(next_at(world), world->now_ms + delays[i]);
        world->now_ms += delays[i] - 1;
        assert_int_equal(tick(world), 0);
        assert_int_equal(hearing.calls, i + 1);
        world->now_ms += 1;
        assert_int_equal(tick(world), 0);
        assert_int_equal(hearing.calls, i + 2);
        assert_int_equal(hearing.attempt, i + 2);
    }
    assert_int_equal(only_delivery(world).status, PAWL_DELIVERY_FAILED);
    assert_int_equal(only_delivery(world).next_attempt_at_ms, 0);
    assert_int_equal(only_delivery(world).delivery.attempt, 5);
    world->now_ms += INT64_C(1000) * 86400 * 1000;
    assert_int_equal(tick(world), 0);
    assert_int_equal(hearing.calls, 5);
    assert_true(next_at(world) == INT64_MAX);
}

TEST_OF(world, C7_attempts_delay_and_lease_are_the_hosts)
{
    struct hearing hearing = { .failures = 99, .answer = PAWL_FAILED };
    struct pawl_hook hook = hooking_hook("all", &hearing);
    hook.attempts_max = 2;
    hook.delay_ms = INT64_C(300) * 86400 * 1000;
    register_hook(world, hook);
    world_create(world, "a");
    assert_int_equal(next_at(world), world->now_ms + hook.delay_ms);
    assert_int_equal(hearing.attempts_max, 2);
    world->now_ms += hook.delay_ms;
    assert_int_equal(tick(world), 0);
    assert_int_equal(only_delivery(world).status, PAWL_DELIVERY_FAILED);
}

TEST_OF(world, a_delay_never_grows_past_a_year)
{
    struct hearing hearing = { .failures = 99, .answer = PAWL_FAILED };
    struct pawl_hook hook = hooking_hook("all", &hearing);
    hook.attempts_max = 100;
    hook.delay_ms = INT64_C(200) * 86400 * 1000;
    register_hook(world, hook);
    world_create(world, "a");
    for (int i = 0; i < 80; i++) {
        int64_t wait_ms = next_at(world) - world->now_ms;
        assert_int_equal(wait_ms, i == 0 ? hook.delay_ms : INT64_C(365) * 86400 * 1000);
        world->now_ms += wait_ms;
    }
    assert_int_equal(hearing.calls, 80);
}

TEST_OF(world, a_delivery_that_fails_and_then_succeeds_has_one_id)
{
    struct hearing hearing;
    char id[64];
    hear(world, &hearing);
    hearing.failures = 1;
    world_create(world, "a");
    assert_int_equal(tick(world), 0);
    assert_string_equal(only_delivery(world).last_error, pawl_status_text(PAWL_FAILED)); /* it said nothing */
    snprintf(id, sizeof id, "%s", hearing.id);
    world->now_ms += 1000;
    assert_int_equal(tick(world), 1);
    assert_string_equal(hearing.id, id);
    assert_int_equal(delivery_count(world), 0);
}

TEST_OF(world, C7_one_that_says_so_is_not_tried_again)
{
    struct hearing hearing;
    hear(world, &hearing);
    hearing.failures = 1;
    hearing.answer = PAWL_NON_RETRYABLE;
    hearing.says = "410 gone";
    world_create(world, "a");
    assert_int_equal(tick(world), 0);
    struct pawl_delivery_record record = only_delivery(world);
    assert_int_equal(record.status, PAWL_DELIVERY_FAILED);
    assert_int_equal(record.delivery.attempt, 1);
    assert_string_equal(record.last_error, "410 gone");
}

TEST_OF(world, an_error_that_is_not_utf8_is_noted_as_such)
{
    struct hearing hearing;
    hear(world, &hearing);
    hearing.failures = 1;
    hearing.says = "\xff\xfe";
    world_create(world, "a");
    assert_int_equal(tick(world), 0);
    assert_true(pw_text_is_utf8(pw_text_of(only_delivery(world).last_error)));
}

TEST_OF(world, C7_what_failed_can_be_sent_again_from_the_start)
{
    struct hearing hearing;
    hear(world, &hearing);
    hearing.failures = 1;
    hearing.answer = PAWL_NON_RETRYABLE;
    world_create(world, "a");
    assert_int_equal(tick(world), 0);
    const char *id = only_delivery(world).delivery.id;
    ok(pawl_resend_delivery(world->engine, id, &world->error));
    assert_int_equal(only_delivery(world).status, PAWL_DELIVERY_PENDING);
    assert_int_equal(only_delivery(world).delivery.attempt, 0);
    assert_int_equal(tick(world), 1);
    assert_int_equal(hearing.attempt, 1);
    assert_string_equal(hearing.id, id);
    assert_refused(world, pawl_resend_delivery(world->engine, id, &world->error), PAWL_DELIVERY_NOT_FOUND, id, NULL);
    assert_refused(world, pawl_resend_delivery(world->engine, NULL, &world->error), PAWL_INVALID, "id", NULL);
    assert_refused(world, pawl_resend_delivery(NULL, id, &world->error), PAWL_INVALID, "engine", NULL);
}

/* ---- Crashes and leases -------------------------------------------------------------------------------------- */

/* What a process does that claims and then dies. */
static void claim_and_die(struct world *world)
{
    const struct pw_hook_wanted wanted = { pw_text_of("all"), 60000 };
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_HOOK_CLAIM);
    assert_non_null(op);
    op->as.hook_claim = (struct pw_op_hook_claim){ .wanted = &wanted, .wanted_count = 1, .max = 1 };
    ok(pw_engine_run(world->engine, &unit));
    assert_int_equal(op->as.hook_claim.row_count, 1);
    pw_unit_clear(&unit);
}

TEST_OF(world, C7_a_process_that_dies_in_the_middle_is_followed_by_another_after_its_lease)
{
    struct hearing hearing;
    hear(world, &hearing);
    world_create(world, "a");
    claim_and_die(world);
    assert_int_equal(tick(world), 0);
    assert_int_equal(next_at(world), world->now_ms + 60000);
    world->now_ms += 60000;
    assert_int_equal(tick(world), 1);
    assert_int_equal(hearing.attempt, 2);
}

TEST_OF(world, C7_a_process_that_dies_at_every_attempt_ends_in_a_visible_failure)
{
    struct hearing hearing;
    hear(world, &hearing);
    world_create(world, "a");
    for (int i = 0; i < 5; i++) {
        claim_and_die(world);
        world->now_ms += 60000;
    }
    assert_int_equal(tick(world), 0);
    assert_int_equal(hearing.calls, 0);
    assert_int_equal(only_delivery(world).status, PAWL_DELIVERY_FAILED);
    assert_non_null(strstr(only_delivery(world).last_error, "lease"));
}

/* The delivery takes longer than its lease, and somebody else delivers it meanwhile. */
static void outlive_the_lease(struct hearing *hearing)
{
    struct world *world = hearing->user;
    if (hearing->calls > 1)
        return;
    world->now_ms += 60000;
    assert_int_equal(tick(world), 1);
}

TEST_OF(world, C7_a_late_answer_counts_for_nothing)
{
    struct hearing hearing;
    hear(world, &hearing);
    hearing.meanwhile = outlive_the_lease;
    hearing.failures = 0;
    world_create(world, "a");
    (void)tick(world);
    assert_int_equal(hearing.calls, 2);
    assert_int_equal(delivery_count(world), 0);
}

/* The same, but the one who comes second is still at it when the first one fails. */
static void be_claimed_by_another(struct hearing *hearing)
{
    struct world *world = hearing->user;
    world->now_ms += 60000;
    claim_and_die(world);
}

TEST_OF(world, C7_a_late_failure_leaves_the_next_attempt_alone)
{
    struct hearing hearing;
    hear(world, &hearing);
    hearing.meanwhile = be_claimed_by_another;
    hearing.failures = 1;
    hearing.answer = PAWL_NON_RETRYABLE;
    world_create(world, "a");
    (void)tick(world);
    assert_int_equal(only_delivery(world).status, PAWL_DELIVERY_PENDING);
    assert_null(only_delivery(world).last_error);
    assert_int_equal(only_delivery(world).next_attempt_at_ms, world->now_ms + 60000);
}

static int64_t kicks(struct world *world)
{
    return world->engine->hooks.kicks;
}

TEST_OF(world, a_commit_that_records_something_wakes_couriers_and_others_do_not)
{
    struct hearing hearing;
    hear(world, &hearing);
    world_create(world, "a");
    assert_int_equal(kicks(world), 1);
    ok(pawl_pause(world->engine, "order", "a", &world->error));
    assert_int_equal(tick(world), 1);
    assert_int_equal(kicks(world), 1);
    hearing.failures = 1;
    hearing.answer = PAWL_NON_RETRYABLE;
    ok(pawl_resume(world->engine, "order", "a", &world->error));
    assert_int_equal(kicks(world), 2);
    assert_int_equal(tick(world), 0);
    ok(pawl_resend_delivery(world->engine, only_delivery(world).delivery.id, &world->error));
    assert_true(kicks(world) > 2);
}

static void create_another(struct hearing *hearing)
{
    if (hearing->calls == 1)
        world_create(hearing->user, "made-by-the-hook");
}

TEST_OF(world, a_hook_may_call_the_engine)
{
    struct hearing hearing;
    hear(world, &hearing);
    hearing.meanwhile = create_another;
    world_create(world, "a");
    assert_int_equal(tick(world), 2);
    assert_string_equal(hearing.heard, "a/1 create, made-by-the-hook/1 create");
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

TEST_OF(world, deliveries_are_listed_by_pages_whose_cursors_keep_to_their_filters)
{
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pawl_delivery_page first, second;
    record_all(world);
    world_create(world, "a");
    world_create(world, "b");
    world_create(world, "c");
    options.page_size = 2;
    options.hook = "all";
    ok(pawl_list_deliveries(world->engine, world->scope, &options, &first, &world->error));
    assert_int_equal(first.count, 2);
    assert_non_null(first.cursor);
    world_create(world, "d");
    options.cursor = first.cursor;
    ok(pawl_list_deliveries(world->engine, world->scope, &options, &second, &world->error));
    assert_int_equal(second.count, 2);
    assert_string_equal(second.deliveries[0].delivery.instance_id, "c");
    assert_null(second.cursor);

    options.hook = NULL;
    assert_refused(world, pawl_list_deliveries(world->engine, world->scope, &options, &first, &world->error),
                   PAWL_INVALID_CURSOR, "filters", NULL);
    options.hook = "all";
    options.has_status = true;
    assert_refused(world, pawl_list_deliveries(world->engine, world->scope, &options, &first, &world->error),
                   PAWL_INVALID_CURSOR, "filters", NULL);
    struct pawl_list_options instances = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    instances.cursor = options.cursor;
    assert_refused(world, pawl_list(world->engine, world->scope, "order", &instances, &page, &world->error),
                   PAWL_INVALID_CURSOR, NULL);
}

TEST_OF(world, deliveries_are_listed_by_status)
{
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pawl_delivery_page page;
    struct hearing hearing;
    hear(world, &hearing);
    hearing.failures = 1;
    hearing.answer = PAWL_NON_RETRYABLE;
    world_create(world, "a");
    assert_int_equal(tick(world), 0);
    world_create(world, "b");
    options.has_status = true;
    options.status = PAWL_DELIVERY_FAILED;
    ok(pawl_list_deliveries(world->engine, world->scope, &options, &page, &world->error));
    assert_int_equal(page.count, 1);
    assert_string_equal(page.deliveries[0].delivery.instance_id, "a");
    options.status = PAWL_DELIVERY_PENDING;
    ok(pawl_list_deliveries(world->engine, world->scope, &options, &page, &world->error));
    assert_int_equal(page.count, 1);
    assert_string_equal(page.deliveries[0].delivery.instance_id, "b");
}

TEST_OF(world, wrong_list_arguments_are_refused)
{
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pawl_delivery_page page;
    assert_refused(world, pawl_list_deliveries(NULL, world->scope, NULL, &page, &world->error), PAWL_INVALID, "engine",
                   NULL);
    assert_refused(world, pawl_list_deliveries(world->engine, NULL, NULL, &page, &world->error), PAWL_INVALID, "scope",
                   NULL);
    assert_refused(world, pawl_list_deliveries(world->engine, world->scope, NULL, NULL, &world->error), PAWL_INVALID,
                   "out_page", NULL);
    options.page_size = 101;
    assert_refused(world, pawl_list_deliveries(world->engine, world->scope, &options, &page, &world->error),
                   PAWL_INVALID, "page", NULL);
    options.page_size = 0;
    options.has_status = true;
    options.status = (enum pawl_delivery_status)7;
    assert_refused(world, pawl_list_deliveries(world->engine, world->scope, &options, &page, &world->error),
                   PAWL_INVALID, "7", NULL);
    options.struct_size++;
    assert_refused(world, pawl_list_deliveries(world->engine, world->scope, &options, &page, &world->error),
                   PAWL_INVALID, NULL);
}
