/* Deferreds by token: who completes one, when, how often, and what nobody learns (contract F3). */
#include "kit/service_world.h"

#include "service/service.h"

#define SECRET "00112233445566778899aabbccddeeff"
#define TYPE PW_DEFERRED_TYPE SECRET

/* "order" a, whose step 3 is the deferred "approval"; its token.  A step 2 was never recorded. */
static const char *open_deferred(struct world *world, struct pw_arena *arena)
{
    pw_arena_init(arena);
    world_create(world, "a");
    world_record(world, "a",
                 (struct pw_step_row){ .seq = 1, .name = pw_text_of("first"), .status = PAWL_STEP_COMPLETED });
    world_record(world, "a",
                 (struct pw_step_row){ .seq = 3,
                                       .name = pw_text_of("approval"),
                                       .kind = PAWL_STEP_DEFERRED,
                                       .status = PAWL_STEP_WAITING,
                                       .wait_event_type = pw_text_of(TYPE) });
    const char *token =
        pw_deferred_token(arena, pw_text_of("order"), pw_text_of("a"), /* run= */ 1, /* seq= */ 3, pw_text_of(TYPE));
    assert_non_null(token);
    return token;
}

static pawl_status succeed(struct world *world, const char *token, const char *result)
{
    return pawl_deferred_succeed(world->engine, token, result, &world->error);
}

static pawl_status fail_it(struct world *world, const char *token, const char *name, const char *message)
{
    return pawl_deferred_fail(world->engine, token, name, message, &world->error);
}

static struct pw_event_row recorded(struct world *world, struct pw_arena *arena)
{
    struct pw_store *store = world->engine->store;
    struct pw_history_query query = { .instance = world_row(world, "a").key, .run = 1, .max = 10 };
    struct pw_event_row *rows = NULL;
    size_t count = 0;
    assert_int_equal(pw_read_events(store, arena, &query, &rows, &count, &world->error), PAWL_OK);
    assert_int_equal(count, 1);
    return rows[0];
}

/* ---- Completing ------------------------------------------------------------------------------------------------------ */

TEST_OF(world, a_token_names_the_step_and_holds_its_secret)
{
    struct pw_arena arena;
    assert_string_equal(open_deferred(world, &arena), "order.a.1.3." SECRET);
    pw_arena_clear(&arena);
}

TEST_OF(world, a_run_that_waits_is_woken_with_the_result)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    world_park(world, "a", PW_TASK_WAITING, PW_TASK_WAKE, WORLD_START_MS + 1000);
    world_start_local(world, 0);

    assert_int_equal(succeed(world, token, "{ \"by\" : \"me\" }"), PAWL_OK);

    struct pw_event_row event = recorded(world, &arena);
    assert_string_equal(event.id.data, "$deferred:approval");
    assert_string_equal(event.type.data, TYPE);
    assert_string_equal(event.payload.data, "{ \"by\" : \"me\" }");
    assert_int_equal(world->woken, 1);
    assert_int_equal(world_claim(world).kind, PW_TASK_WAKE);
    pw_arena_clear(&arena);
}

TEST_OF(world, a_failure_is_told_with_its_name_and_message)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);

    assert_int_equal(fail_it(world, token, "Refused", "by \"him\""), PAWL_OK);

    struct pw_event_row event = recorded(world, &arena);
    assert_string_equal(event.type.data, TYPE);
    assert_true(event.is_failure);
    assert_string_equal(event.payload.data, "{\"name\":\"Refused\",\"message\":\"by \\\"him\\\"\",\"retry\":false}");
    pw_arena_clear(&arena);
}

/* Completing before the wait is fine: the event is there when the run looks. */
TEST_OF(world, a_run_that_does_not_wait_is_left_alone_and_hears_of_it)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    struct pw_claim claim = world_claim(world);
    world_start_local(world, 1);

    assert_int_equal(succeed(world, token, NULL), PAWL_OK);

    assert_true(world_fence_holds(world, claim.fence));
    assert_int_equal(world->told_of_events, 1);
    assert_int_equal(world->delivered_count, 0);
    assert_null(recorded(world, &arena).payload.data);
    pw_arena_clear(&arena);
}

TEST_OF(world, a_paused_run_stays_paused)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    assert_int_equal(pawl_pause(world->engine, "order", "a", &world->error), PAWL_OK);

    assert_int_equal(succeed(world, token, "1"), PAWL_OK);

    assert_int_equal(world_get(world, "a").status, PAWL_PAUSED);
    pw_arena_clear(&arena);
}

/* ---- Again ----------------------------------------------------------------------------------------------------------- */

TEST_OF(world, the_first_completion_wins_and_the_same_again_is_fine)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    assert_int_equal(succeed(world, token, "1"), PAWL_OK);

    assert_int_equal(succeed(world, token, "1"), PAWL_OK);
    assert_refused(world, succeed(world, token, "2"), PAWL_DEFERRED_COMPLETED, "\"approval\"", NULL);
    assert_refused(world, succeed(world, token, NULL), PAWL_DEFERRED_COMPLETED, NULL);
    assert_refused(world, fail_it(world, token, "Refused", NULL), PAWL_DEFERRED_COMPLETED, NULL);

    assert_string_equal(recorded(world, &arena).payload.data, "1");
    pw_arena_clear(&arena);
}

TEST_OF(world, the_same_failure_again_is_fine)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    assert_int_equal(fail_it(world, token, "Refused", "no"), PAWL_OK);

    assert_int_equal(fail_it(world, token, "Refused", "no"), PAWL_OK);
    assert_refused(world, fail_it(world, token, "Refused", "never"), PAWL_DEFERRED_COMPLETED, NULL);
    pw_arena_clear(&arena);
}

TEST_OF(world, a_result_that_reads_like_the_failure_is_another_completion)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    assert_int_equal(fail_it(world, token, "Refused", "no"), PAWL_OK);

    assert_refused(world, succeed(world, token, "{\"name\":\"Refused\",\"message\":\"no\",\"retry\":false}"),
                   PAWL_DEFERRED_COMPLETED, NULL);
    assert_true(recorded(world, &arena).is_failure);
    pw_arena_clear(&arena);
}

static void update_step(struct world *world, enum pawl_step_status status, const char *error_name)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    pw_unit_add(&unit, PW_OP_STEP)->as.step = (struct pw_op_step){ .instance = world_row(world, "a").key,
                                                                   .run = 1,
                                                                   .row = { .seq = 3,
                                                                            .status = status,
                                                                            .wait_event_type = pw_text_of(TYPE),
                                                                            .error_name = pw_text_of(error_name),
                                                                            .updated_at_ms = world->now_ms } };
    world_commit(world, &unit);
}

TEST_OF(world, what_was_completed_stays_so_once_the_run_has_gone_on)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    assert_int_equal(succeed(world, token, "1"), PAWL_OK);
    update_step(world, PAWL_STEP_COMPLETED, NULL);

    assert_int_equal(succeed(world, token, "1"), PAWL_OK);
    assert_refused(world, succeed(world, token, "2"), PAWL_DEFERRED_COMPLETED, NULL);

    world_finish(world, "a", PW_OUTCOME_COMPLETE);
    assert_int_equal(succeed(world, token, "1"), PAWL_OK);
    assert_refused(world, succeed(world, token, "2"), PAWL_INVALID_TOKEN, NULL);
    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);
    assert_int_equal(succeed(world, token, "1"), PAWL_OK);
    assert_int_equal(world_history(world, "a", 2).event_count, 0);
    pw_arena_clear(&arena);
}

TEST_OF(world, what_nobody_waits_for_any_more_cannot_be_completed)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);

    update_step(world, PAWL_STEP_ERRORED, "WAIT_FOR_EVENT_TIMEOUT");
    assert_refused(world, succeed(world, token, "1"), PAWL_INVALID_TOKEN, "WAIT_FOR_EVENT_TIMEOUT", NULL);
    update_step(world, PAWL_STEP_WAITING, NULL);
    world_finish(world, "a", PW_OUTCOME_TERMINATED);
    assert_refused(world, succeed(world, token, "1"), PAWL_INVALID_TOKEN, NULL);
    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);
    assert_refused(world, succeed(world, token, "1"), PAWL_INVALID_TOKEN, NULL);
    assert_int_equal(world_history(world, "a", 2).event_count, 0);
    pw_arena_clear(&arena);
}

/* Somebody else's completion gets in between the look and the commit. */
static void complete_otherwise(struct world *world, const struct pw_instance *instance)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    pw_unit_add(&unit, PW_OP_EVENT)->as.event = (struct pw_op_event){ .instance = instance->key,
                                                                      .run = 1,
                                                                      .id = pw_text_of("$deferred:approval"),
                                                                      .type = pw_text_of(TYPE),
                                                                      .payload = pw_text_of("2") };
    world_commit(world, &unit);
}

TEST_OF(world, of_two_at_once_one_wins)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    world_start_meddling(world, 1, complete_otherwise);

    assert_refused(world, succeed(world, token, "1"), PAWL_DEFERRED_COMPLETED, NULL);

    assert_string_equal(recorded(world, &arena).payload.data, "2");
    assert_int_equal(succeed(world, token, "2"), PAWL_OK);
    pw_arena_clear(&arena);
}

/* ---- What is refused ------------------------------------------------------------------------------------------------- */

TEST_OF(world, a_token_that_is_none_is_refused_without_saying_why)
{
    struct pw_arena arena;
    (void)open_deferred(world, &arena);
    static const char *const wrong[] = {
        "",
        ".",
        "order.a.1.3",
        "order.a.1.3.",
        "order.a.1.3." SECRET "0",
        "order.a.1.3.00112233445566778899aabbccddeefe",
        "order.a.1.1." SECRET,
        "order.a.1.2." SECRET,
        "order.a.1.4." SECRET,
        "order.a.2.3." SECRET,
        "order.a.0.3." SECRET,
        "order.a.1.0." SECRET,
        "order.a.-1.3." SECRET,
        "order.a.1.99999999999999999999." SECRET,
        "order.a.1x.3." SECRET,
        "order.b.1.3." SECRET,
        "none.a.1.3." SECRET,
        "@charge.a.1.3." SECRET,
        "order.a b.1.3." SECRET,
    };
    char said[sizeof world->error.text] = "";

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pawl_status status = succeed(world, wrong[i], "1");
        assert_true(i == 0 || strcmp(said, world->error.text) == 0);
        snprintf(said, sizeof said, "%s", world->error.text);
        assert_refused(world, status, PAWL_INVALID_TOKEN, NULL);
    }
    assert_int_equal(world_history(world, "a", 0).event_count, 0);
    pw_arena_clear(&arena);
}

TEST_OF(world, a_completion_is_checked)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    static char large[1100000];
    memset(large, '1', sizeof large - 1);

    assert_refused(world, succeed(world, token, "{"), PAWL_INVALID_JSON, "result", NULL);
    assert_refused(world, succeed(world, token, large), PAWL_PAYLOAD_TOO_LARGE, NULL);
    assert_refused(world, fail_it(world, token, "", "x"), PAWL_INVALID, "name", NULL);
    assert_refused(world, fail_it(world, token, NULL, "x"), PAWL_INVALID, "name", NULL);
    assert_refused(world, succeed(world, NULL, "1"), PAWL_INVALID, "token", NULL);
    assert_int_equal(pawl_deferred_succeed(NULL, token, "1", NULL), PAWL_INVALID);
    assert_int_equal(world_history(world, "a", 0).event_count, 0);
    pw_arena_clear(&arena);
}

TEST_OF(world, a_deferreds_secret_is_shown_to_nobody)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    world_park(world, "a", PW_TASK_WAITING, PW_TASK_WAKE, WORLD_START_MS + 1000);
    assert_int_equal(world_get(world, "a").current_step->kind, PAWL_STEP_DEFERRED);
    assert_null(world_get(world, "a").current_step->waits_for);

    assert_int_equal(fail_it(world, token, "Refused", NULL), PAWL_OK);

    struct pawl_history history = world_history(world, "a", 0);
    assert_null(history.steps[1].waits_for);
    assert_string_equal(history.events[0].type, "$deferred");
    assert_string_equal(history.events[0].id, "$deferred:approval");
    pw_arena_clear(&arena);
}

/* ---- Without waiting ------------------------------------------------------------------------------------------------- */

static pawl_status settle(struct world *world, const char *token, struct pawl_outcome outcome)
{
    pawl_status status = PAWL_BUSY;
    pawl_deferred_settle_async(world->engine, token, &outcome, /* out_is_paused= */ NULL, &world->error,
                               world_take_status, &status);
    return status;
}

/* The first time, and when it is said again. */
TEST_OF(world, who_completes_a_deferred_is_told_when_its_run_is_paused)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    const struct pawl_outcome outcome = { .result_json = "1" };
    assert_int_equal(pawl_pause(world->engine, "order", "a", &world->error), PAWL_OK);
    for (int i = 0; i < 3; i++) {
        pawl_status status = PAWL_BUSY;
        bool is_paused = i == 2;
        if (i == 2)
            assert_int_equal(pawl_resume(world->engine, "order", "a", &world->error), PAWL_OK);
        pawl_deferred_settle_async(world->engine, token, &outcome, &is_paused, &world->error, world_take_status,
                                   &status);
        assert_int_equal(status, PAWL_OK);
        assert_int_equal(is_paused, i < 2);
    }
    pw_arena_clear(&arena);
}

TEST_OF(world, a_deferred_is_completed_without_waiting)
{
    struct pw_arena arena;
    const char *token = open_deferred(world, &arena);
    const struct pawl_outcome success = { .result_json = "1" }, failure = { .error_name = "Refused" };

    assert_refused(world, settle(world, "x", success), PAWL_INVALID_TOKEN, NULL);
    assert_refused(world, settle(world, "order.b.1.3." SECRET, success), PAWL_INVALID_TOKEN, NULL);
    assert_int_equal(settle(world, token, success), PAWL_OK);
    assert_int_equal(settle(world, token, success), PAWL_OK);
    assert_refused(world, settle(world, token, failure), PAWL_DEFERRED_COMPLETED, NULL);
    assert_string_equal(recorded(world, &arena).payload.data, "1");
    pw_arena_clear(&arena);
}
