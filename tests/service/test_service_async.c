/* The calls that write without waiting, and being told of what changed. */
#include "kit/service_world.h"

#include "base/limits.h"
#include "pawl/pawl.h"

static void assert_answered(const struct world_answer *answer, pawl_status status)
{
    assert_int_equal(answer->count, 1);
    assert_int_equal(answer->status, status);
}

static struct world_answer create(struct world *world, const char *id, bool return_existing, struct pawl_instance *out)
{
    struct world_answer answer = { 0, PAWL_OK };
    struct pawl_create_options options = { sizeof options, id, "[1]", return_existing };
    pawl_create_async(world->engine, world->scope, "order", &options, out, &world->error, world_take_answer, &answer);
    return answer;
}

static struct world_answer control(struct world *world, enum pawl_control what, const char *id)
{
    struct world_answer answer = { 0, PAWL_OK };
    pawl_control_async(world->engine, what, "order", id, &world->error, world_take_answer, &answer);
    return answer;
}

static struct world_answer send(struct world *world, const char *id, const char *type, const char *event_id)
{
    struct world_answer answer = { 0, PAWL_OK };
    struct pawl_send_event_options options = { sizeof options, type, "{}", event_id };
    pawl_send_event_async(world->engine, "order", id, &options, NULL, &world->error, world_take_answer, &answer);
    return answer;
}

/* ---- Writing without waiting --------------------------------------------------------------------------------- */

TEST_OF(world, a_create_is_answered_before_it_returns_where_nobody_serves)
{
    struct pawl_instance made;

    struct world_answer answer = create(world, "a", false, &made);

    assert_answered(&answer, PAWL_OK);
    assert_string_equal(made.id, "a");
    assert_int_equal(made.phase, PAWL_PHASE_QUEUED);
    assert_string_equal(world_get(world, "a").params_json, "[1]");
}

TEST_OF(world, a_create_of_a_known_id_is_refused_or_answered_as_asked)
{
    struct pawl_instance made;
    world_create(world, "a");
    world_finish(world, "a", PW_OUTCOME_COMPLETE);

    struct world_answer refused = create(world, "a", false, &made);
    assert_answered(&refused, PAWL_INSTANCE_ID_ALREADY_EXISTS);
    assert_refused(world, refused.status, PAWL_INSTANCE_ID_ALREADY_EXISTS, "\"a\"", NULL);

    struct world_answer answered = create(world, "a", true, &made);
    assert_answered(&answered, PAWL_OK);
    assert_int_equal(made.status, PAWL_COMPLETE);
}

TEST_OF(world, a_create_hands_the_run_to_the_local_runner)
{
    struct pawl_instance made;
    world_start_local(world, 1);

    struct world_answer answer = create(world, "a", false, &made);

    assert_answered(&answer, PAWL_OK);
    assert_int_equal(world->delivered_count, 1);
    assert_int_equal(made.phase, PAWL_PHASE_RUNNING);

    world->room = 1;
    answer = create(world, "a", false, &made);
    assert_answered(&answer, PAWL_INSTANCE_ID_ALREADY_EXISTS);
    assert_int_equal(world->cancelled, 1);
}

TEST_OF(world, wrong_arguments_are_answered_too)
{
    struct pawl_instance made, *many;
    struct world_answer answer = { 0, PAWL_OK };
    size_t count;

    pawl_create_async(world->engine, world->scope, "nobody", NULL, &made, &world->error, world_take_answer, &answer);
    assert_answered(&answer, PAWL_WORKFLOW_NOT_FOUND);

    answer = create(world, "-a", false, &made);
    assert_answered(&answer, PAWL_INVALID_INSTANCE_ID);

    answer = (struct world_answer){ 0, PAWL_OK };
    struct pawl_batch_item items[] = { { "a", "nonsense" } };
    pawl_create_batch_async(world->engine, world->scope, "order", items, 1, &many, &count, &world->error,
                            world_take_answer, &answer);
    assert_answered(&answer, PAWL_INVALID_JSON);

    answer = control(world, PAWL_CONTROL_PAUSE, "nobody");
    assert_answered(&answer, PAWL_INSTANCE_NOT_FOUND);
    answer = control(world, (enum pawl_control)17, "nobody");
    assert_answered(&answer, PAWL_INVALID);

    answer = send(world, "nobody", "paid", NULL);
    assert_answered(&answer, PAWL_INSTANCE_NOT_FOUND);
    answer = send(world, "nobody", "-", NULL);
    assert_answered(&answer, PAWL_INVALID_EVENT_TYPE);
}

TEST_OF(world, a_batch_skips_known_ids)
{
    struct pawl_instance *made = NULL;
    struct world_answer answer = { 0, PAWL_OK };
    struct pawl_batch_item items[] = { { "a", NULL }, { "b", NULL }, { "c", "1" } };
    size_t count = 0;
    world_create(world, "b");

    pawl_create_batch_async(world->engine, world->scope, "order", items, 3, &made, &count, &world->error,
                            world_take_answer, &answer);

    assert_answered(&answer, PAWL_OK);
    assert_int_equal(count, 2);
    assert_string_equal(made[0].id, "a");
    assert_string_equal(made[1].id, "c");
    assert_int_equal(world_list_count(world), 3);
}

TEST_OF(world, an_empty_batch_is_answered_with_nothing)
{
    struct pawl_instance *made = NULL;
    struct world_answer answer = { 0, PAWL_OK };
    size_t count = 7;

    pawl_create_batch_async(world->engine, world->scope, "order", NULL, 0, &made, &count, &world->error,
                            world_take_answer, &answer);

    assert_answered(&answer, PAWL_OK);
    assert_int_equal(count, 0);
}

TEST_OF(world, an_instance_is_controlled)
{
    world_create(world, "a");

    struct world_answer answer = control(world, PAWL_CONTROL_PAUSE, "a");
    assert_answered(&answer, PAWL_OK);
    assert_int_equal(world_get(world, "a").status, PAWL_PAUSED);
    answer = control(world, PAWL_CONTROL_PAUSE, "a"); /* nothing to commit */
    assert_answered(&answer, PAWL_OK);
    answer = control(world, PAWL_CONTROL_RESUME, "a");
    assert_answered(&answer, PAWL_OK);
    assert_int_equal(world_get(world, "a").status, PAWL_ACTIVE);
    answer = control(world, PAWL_CONTROL_TERMINATE, "a");
    assert_answered(&answer, PAWL_OK);
    assert_int_equal(world_get(world, "a").status, PAWL_TERMINATED);
    answer = control(world, PAWL_CONTROL_TERMINATE, "a");
    assert_answered(&answer, PAWL_INSTANCE_TERMINAL);
    answer = control(world, PAWL_CONTROL_RESTART, "a");
    assert_answered(&answer, PAWL_OK);
    assert_int_equal(world_get(world, "a").run_number, 2);
}

TEST_OF(world, an_event_is_sent_once_for_each_id)
{
    world_create(world, "a");

    struct world_answer first = send(world, "a", "paid", "e1"), again = send(world, "a", "paid", "e1");

    assert_answered(&first, PAWL_OK);
    assert_answered(&again, PAWL_OK);
    assert_string_equal(world->error.text, ""); /* written on failure only */
    assert_int_equal(world_history(world, "a", 0).event_count, 1);

    struct world_answer generated = send(world, "a", "paid", NULL);
    assert_answered(&generated, PAWL_OK);
    assert_int_equal(world_history(world, "a", 0).event_count, 2);
}

static void claim_it(struct world *world, const struct pw_instance *instance)
{
    (void)instance;
    world_claim(world);
}

TEST_OF(world, a_call_goes_on_when_somebody_came_in_between)
{
    world_create(world, "a");
    world_start_meddling(world, 1, claim_it);

    struct world_answer answer = control(world, PAWL_CONTROL_RESTART, "a");

    assert_answered(&answer, PAWL_OK);
    assert_int_equal(world_get(world, "a").run_number, 2);
}

static void free_unit(struct pw_unit *unit, void *user)
{
    (void)user;
    pw_unit_clear(unit);
    free(unit);
}

/* By a unit that is queued, because a call that goes on does so in the committing thread, where nobody may wait. */
static void move_it(struct world *world, const struct pw_instance *instance)
{
    struct pw_unit *unit = malloc(sizeof *unit);
    pw_unit_init(unit);
    struct pw_op *op = pw_unit_add(unit, PW_OP_PARK);
    op->as.park = (struct pw_op_park){ .instance = instance->key, .kind = PW_TASK_RUN, .event_seq_seen = -1 };
    unit->done = free_unit;
    pw_engine_send(world->engine, unit);
}

TEST_OF(world, a_call_that_never_gets_through_is_busy)
{
    world_create(world, "a");
    world_start_meddling(world, 2 * PW_CONFLICT_RETRIES_MAX, move_it);

    struct world_answer answer = control(world, PAWL_CONTROL_RESTART, "a");

    assert_answered(&answer, PAWL_BUSY);
    assert_refused(world, answer.status, PAWL_BUSY, "\"a\"", "try again", NULL);
}

/* ---- Being told ---------------------------------------------------------------------------------------------- */

static void count_change(void *user)
{
    ++*(int *)user;
}

TEST_OF(world, a_watch_is_told_of_its_instance_and_no_other)
{
    pawl_watch *watch;
    int changes = 0;
    world_create(world, "a");
    world_create(world, "b");
    assert_int_equal(pawl_watch_open(world->engine, "order", "a", count_change, &changes, &watch, &world->error),
                     PAWL_OK);

    world_send(world, "b", "paid", NULL);
    assert_int_equal(changes, 0);
    world_send(world, "a", "paid", NULL);
    assert_int_equal(changes, 1);
    struct world_answer answer = control(world, PAWL_CONTROL_TERMINATE, "a");
    assert_answered(&answer, PAWL_OK);
    assert_int_equal(changes, 2);
    answer = control(world, PAWL_CONTROL_TERMINATE, "a"); /* refused: nothing changed */
    assert_int_equal(changes, 2);

    pawl_watch_close(watch);
    (void)control(world, PAWL_CONTROL_RESTART, "a");
    assert_int_equal(changes, 2);
}

TEST_OF(world, a_watch_is_told_of_claims)
{
    pawl_watch *watch;
    int changes = 0;
    world_create(world, "a");
    assert_int_equal(pawl_watch_open(world->engine, "order", "a", count_change, &changes, &watch, &world->error),
                     PAWL_OK);

    world_claim(world);

    assert_int_equal(changes, 1);
    pawl_watch_close(watch);
}

TEST_OF(world, nobody_watches_what_is_not_there)
{
    pawl_watch *watch = NULL;
    pawl_status status = pawl_watch_open(world->engine, "order", "a", count_change, NULL, &watch, &world->error);
    assert_refused(world, status, PAWL_INSTANCE_NOT_FOUND, "\"a\"", NULL);
    status = pawl_watch_open(world->engine, "order", "a", NULL, NULL, &watch, &world->error);
    assert_refused(world, status, PAWL_INVALID, "function", NULL);
    pawl_watch_close(NULL);
}

/* ---- Waiting ------------------------------------------------------------------------------------------------- */

TEST_OF(world, waiting_ends_at_once_when_it_has_finished)
{
    struct pawl_instance ended;
    world_create(world, "a");
    world_finish(world, "a", PW_OUTCOME_COMPLETE);

    assert_int_equal(pawl_wait(world->engine, world->scope, "order", "a", INT64_MAX, &ended, &world->error), PAWL_OK);

    assert_int_equal(ended.status, PAWL_COMPLETE);
}

TEST_OF(world, waiting_gives_up_after_its_time)
{
    struct pawl_instance seen;
    world_create(world, "a");

    assert_int_equal(pawl_wait(world->engine, world->scope, "order", "a", 0, &seen, &world->error), PAWL_OK);
    assert_int_equal(seen.status, PAWL_ACTIVE);
    assert_refused(world, pawl_wait(world->engine, world->scope, "order", "a", -1, &seen, &world->error), PAWL_INVALID,
                   "-1", NULL);
    assert_refused(world, pawl_wait(world->engine, world->scope, "order", "b", 0, &seen, &world->error),
                   PAWL_INSTANCE_NOT_FOUND, "\"b\"", NULL);
}

static void *finish_it(void *user)
{
    struct world *world = user;
    world_finish(world, "a", PW_OUTCOME_COMPLETE);
    return NULL;
}

TEST_OF(world, waiting_is_ended_by_push)
{
    struct pawl_instance ended;
    pthread_t thread;
    world_create(world, "a");
    assert_int_equal(pthread_create(&thread, NULL, finish_it, world), 0);

    pawl_status status = pawl_wait(world->engine, world->scope, "order", "a", 60000, &ended, NULL);

    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(status, PAWL_OK);
    assert_int_equal(ended.status, PAWL_COMPLETE);
}
