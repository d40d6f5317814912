/* How often services read, and where: never in a completion callback (commit.h, C4), and once where many rows are wanted. */
#include "kit/service_world.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/bar.h"
#include "base/limits.h"
#include "pawl/pawl.h"
#include "kit/running.h"

#define ORDER "{\"step\":\"s\",\"attempt\":1,\"timeoutMs\":60000}"

/* ---- Counting ------------------------------------------------------------------------------------------------- */

static struct reads {
    const struct pw_store_ops *ops;
    int one, by_key, many, events, event;
    size_t wanted; /* of `many` */
} reads;

static pawl_status count_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                              struct pw_found *out_found, struct pawl_error *error)
{
    reads.one += asked->kind == PW_READ_INSTANCE;
    reads.by_key += asked->kind == PW_READ_INSTANCE_BY_KEY;
    reads.many += asked->kind == PW_READ_INSTANCES;
    reads.wanted += asked->kind == PW_READ_INSTANCES ? asked->wanted.count : 0;
    reads.events += asked->kind == PW_READ_EVENTS;
    reads.event += asked->kind == PW_READ_EVENT;
    return reads.ops->read(store, asked, arena, out_found, error);
}

static void count_from_here(struct world *world)
{
    if (world->true_ops == NULL)
        world->true_ops = world->engine->store->ops;
    reads = (struct reads){ .ops = world->true_ops };
    world->ops = *world->true_ops;
    world->ops.read = count_read;
    world->engine->store->ops = &world->ops;
}

/* ---- Many rows at once ------------------------------------------------------------------------------------------ */

/* "order" `id`, which waits for so many jobs. */
static void open_jobs(struct world *world, const char *id, int count)
{
    world_create(world, id);
    for (int i = 1; i <= count; i++) {
        char job[64], type[80];
        snprintf(job, sizeof job, "%s-job-%d", id, i);
        snprintf(type, sizeof type, "$@charge/%s", job);
        world_make(world, id, PW_RELATION_JOB, "@charge", job, ORDER);
        world_wait(world, id, i, PAWL_STEP_CALL, type, INT64_MAX);
    }
}

TEST_OF(world, a_page_of_a_history_reads_the_jobs_that_it_shows_at_once)
{
    open_jobs(world, "a", 20);
    world_add_step(world, "a", 21, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    count_from_here(world);

    struct pawl_history history = world_history(world, "a", 1);

    assert_int_equal(reads.many, 1);
    assert_int_equal(reads.wanted, 20);
    assert_int_equal(reads.one + reads.by_key, 1); /* the instance itself */
    assert_int_equal(history.step_count, 21);
    for (size_t i = 0; i < 20; i++) {
        assert_non_null(history.steps[i].job);
        assert_string_equal(history.steps[i].job->function, "charge");
    }
    assert_null(history.steps[20].job);
}

TEST_OF(world, a_history_without_jobs_reads_none)
{
    world_create(world, "a");
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    count_from_here(world);

    assert_int_equal(world_history(world, "a", 1).step_count, 1);

    assert_int_equal(reads.many, 0);
}

TEST_OF(world, a_claim_reads_its_jobs_at_once_and_their_runs_at_once)
{
    static const char *const charge[] = { "charge" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    struct world_answer answer = { 0, PAWL_OK };
    const struct pawl_job *jobs = NULL;
    size_t count = 0;
    options.functions = charge;
    options.function_count = 1;
    options.max = 10;
    open_jobs(world, "a", 5);
    world->now_ms++;
    open_jobs(world, "b", 5);
    count_from_here(world);

    pawl_job_claim_async(world->engine, world->scope, &options, &jobs, &count, &world->error, world_take_answer,
                         &answer);

    assert_int_equal(answer.count, 1);
    assert_int_equal(answer.status, PAWL_OK);
    assert_int_equal(count, 10);
    assert_int_equal(reads.many, 2);
    assert_int_equal(reads.one + reads.by_key, 0);
    assert_string_equal(jobs[0].instance_id, "a");
    assert_string_equal(jobs[0].id, "a-job-1");
    assert_string_equal(jobs[9].instance_id, "b");
    assert_string_equal(jobs[9].id, "b-job-5");
}

TEST_OF(world, an_event_that_is_sent_again_is_found_by_its_id)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = "paid";
    world_create(world, "a");
    for (int i = 0; i < 2 * PW_PAGE_SIZE_MAX; i++) {
        char id[16];
        snprintf(id, sizeof id, "e%d", i);
        world_send(world, "a", "paid", id);
    }
    world_finish(world, "a", PW_OUTCOME_COMPLETE);
    count_from_here(world);

    options.event_id = "e7";
    assert_int_equal(pawl_send_event(world->engine, NULL, "order", "a", &options, NULL, &world->error), PAWL_OK);
    options.event_id = "unheard-of";
    assert_refused(world, pawl_send_event(world->engine, NULL, "order", "a", &options, NULL, &world->error),
                   PAWL_INSTANCE_TERMINAL, "\"a\"", NULL);

    assert_int_equal(reads.event, 0); /* it is seen where the run is locked */
    assert_int_equal(reads.events, 0);
}

/* ---- Calls that go on after a commit ----------------------------------------------------------------------------- */

/* A call that `answered` makes in turn, as service.h allows: these calls read before they commit. */
struct chain {
    struct world *world;
    struct pawl_error error;
    struct world_answer paused, beat;
};

static void pause_it(void *user, pawl_status status)
{
    struct chain *chain = user;
    assert_int_equal(status, PAWL_OK);
    pawl_control_async(chain->world->engine, PAWL_CONTROL_PAUSE, "order", "a", &chain->error, world_take_answer,
                       &chain->paused);
    pawl_job_heartbeat_async(chain->world->engine, "1.1.1.nobody", 0, NULL, &chain->error, world_take_answer,
                             &chain->beat);
}

TEST_OF(world, a_call_may_be_made_from_the_answer_to_another)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance made;
    struct chain chain = { .world = world };
    options.id = "a";

    pawl_create_async(world->engine, world->scope, "order", &options, &made, &world->error, pause_it, &chain);

    assert_int_equal(chain.paused.count, 1);
    assert_int_equal(chain.paused.status, PAWL_OK);
    assert_int_equal(chain.beat.count, 1);
    assert_int_equal(chain.beat.status, PAWL_INVALID_TOKEN);
    assert_int_equal(world_get(world, "a").status, PAWL_PAUSED);
}

struct late_answer {
    atomic_int count;
    pawl_status status;
};

static void take_late(void *user, pawl_status status)
{
    struct late_answer *answer = user;
    answer->status = status;
    atomic_fetch_add(&answer->count, 1);
}

static void await_late(struct late_answer *answer)
{
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; atomic_load(&answer->count) == 0;) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
}

TEST_OF(world, an_answer_that_has_to_be_read_comes_from_the_thread_for_it)
{
    struct pawl_create_options options = { sizeof options, "a", "[1]", true };
    struct late_answer answer = { 0 };
    struct pawl_instance made;
    world_create(world, "a");
    world_finish(world, "a", PW_OUTCOME_COMPLETE);
    assert_true(pw_commit_start(world->engine->commit));

    pawl_create_async(world->engine, world->scope, "order", &options, &made, &world->error, take_late, &answer);
    await_late(&answer);

    assert_int_equal(answer.status, PAWL_OK);
    assert_int_equal(made.status, PAWL_COMPLETE);
    pw_commit_stop(world->engine->commit);
}

/* ---- Room --------------------------------------------------------------------------------------------------------- */

static void drop_unit(struct pw_unit *unit, void *user)
{
    (void)unit;
    ++*(int *)user;
}

/* What is submitted and not led waits, as it does behind a store that does not answer. */
TEST_OF(world, a_call_that_does_not_wait_is_told_when_too_much_waits_already)
{
    struct pawl_create_options options = { sizeof options, "a", "[1]", false };
    struct world_answer answer = { 0, PAWL_OK };
    struct pawl_instance made;
    struct pw_unit *units = calloc(PW_QUEUE_UNITS_MAX, sizeof *units);
    int dropped = 0;
    assert_non_null(units);
    for (int i = 0; i < PW_QUEUE_UNITS_MAX; i++) {
        units[i].done = drop_unit;
        units[i].user = &dropped;
        pw_commit_submit(world->engine->commit, &units[i]);
    }

    pawl_create_async(world->engine, world->scope, "order", &options, &made, &world->error, world_take_answer, &answer);

    assert_int_equal(answer.count, 1);
    assert_refused(world, answer.status, PAWL_STORE_UNAVAILABLE, "too many", "try again", NULL);
    assert_int_equal(dropped, 0);

    (void)world_create(world, "b"); /* who waits, leads */
    assert_int_equal(dropped, PW_QUEUE_UNITS_MAX);
    pawl_create_async(world->engine, world->scope, "order", &options, &made, &world->error, world_take_answer, &answer);
    assert_int_equal(answer.count, 2);
    assert_int_equal(answer.status, PAWL_OK);
    free(units);
}
