/* test_runner_share.c - runners on one store know each other and share the work (F5).
 *
 * Where threads run, what is waited for comes however slow the machine is; where time must be short, one try of several is
 * enough, and without the behaviour none would be. */
#include "kit/running.h"

#include "engine/engine.h"
#include "engine/shards.h"
#include "runner/runner.h"

enum { TRIES = 5, RUNS = 48 };

/* ---- One runner, with others that are only rows -------------------------------------------------------------------- */

/* A started runner without its threads: what its keeper sees and claims, one thing at a time. */
struct alone {
    struct running running;
    pawl_runner *runner;
};

WORKFLOW(finish)
{
    (void)run, (void)params, (void)out_result;
    return PAWL_OK;
}

static void alone_open(struct alone *alone)
{
    running_open(&alone->running, false);
    running_register(&alone->running, "order", finish, NULL);
    assert_ok(pawl_runner_open(alone->running.engine, NULL, &alone->runner, &alone->running.error),
              alone->running.error);
    alone->runner->announced = true;
}

static void alone_close(struct alone *alone)
{
    pawl_runner_close(alone->runner);
    running_close(&alone->running);
}

static void add_other(struct alone *alone, int64_t owner, const char *workflows, bool is_sharing)
{
    struct pw_store *store = alone->running.engine->store;
    struct pw_runner_row row = {
        .owner = owner, .name = pw_text_of("other"), .workflows = pw_text_of(workflows), .is_sharing = is_sharing
    };
    assert_int_equal(store->ops->describe(store, &row, NULL), PAWL_OK);
}

static size_t claim(struct alone *alone, enum pw_claim_of what)
{
    struct pw_unit unit;
    struct pw_op_claim *found = NULL;
    pw_unit_init(&unit);
    assert_int_equal(pw_runner_claim(alone->runner, &unit, what, NULL, 1000, &found, NULL), PAWL_OK);
    size_t count = found->claim_count;
    pw_unit_clear(&unit);
    return count;
}

static size_t owned_shards(const struct alone *alone)
{
    const struct pw_view *view = &alone->runner->view;
    size_t owned = 0;
    for (size_t i = 0; view->owned != NULL && i < PW_SHARD_COUNT; i++)
        owned += view->owned[0].data[i] == '1';
    return view->owned != NULL ? owned : PW_SHARD_COUNT;
}

static void create_many(struct running *running, int count)
{
    for (int i = 0; i < count; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "o%d", i);
        running_create(running, "order", id);
    }
}

/* In another's shards, as the runner sees them now. */
static size_t count_others(struct alone *alone, int count)
{
    size_t others = 0;
    for (int i = 0; i < count; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "o%d", i);
        others += alone->runner->view.owned[0].data[pw_shard_of(pw_text_of("order"), pw_text_of(id))] == '0';
    }
    return others;
}

TEST(alone_it_has_no_shards_and_claims_all)
{
    struct alone alone;
    alone_open(&alone);
    create_many(&alone.running, RUNS);
    add_other(&alone, 5, "order", false); /* ticks */
    add_other(&alone, 6, "refund", true); /* carries something else */
    pw_runner_look_around(alone.runner);
    assert_null(alone.runner->view.owned);
    assert_false(atomic_load(&alone.runner->has_others));
    assert_int_equal(claim(&alone, PW_CLAIM_DUE), RUNS);
    alone_close(&alone);
}

TEST(it_says_who_it_is_and_takes_it_back_when_it_stops)
{
    struct alone alone;
    const struct pawl_runner_info *runners;
    size_t count;
    alone_open(&alone);
    pw_runner_look_around(alone.runner);
    struct running *running = &alone.running;
    assert_ok(pawl_list_runners(running->engine, running->scope, &runners, &count, &running->error), running->error);
    assert_int_equal(count, 1);
    assert_true(runners[0].is_sharing);
    assert_string_equal(runners[0].name, alone.runner->name);
    assert_int_equal(runners[0].workflow_count, 1);
    assert_string_equal(runners[0].workflows[0].name, "order");
    assert_int_equal(runners[0].workflows[0].shards, PAWL_SHARD_COUNT);
    pw_runner_leave_share(alone.runner);
    assert_ok(pawl_list_runners(running->engine, running->scope, &runners, &count, &running->error), running->error);
    assert_false(runners[0].is_sharing);
    assert_int_equal(runners[0].workflows[0].shards, 0);
    alone_close(&alone);
}

TEST(among_others_it_claims_its_own_and_the_rest_when_they_go)
{
    struct alone alone;
    alone_open(&alone);
    add_other(&alone, 5, "order", true);
    pw_runner_look_around(alone.runner);
    assert_true(atomic_load(&alone.runner->has_others));
    assert_in_range(owned_shards(&alone), 1, PW_SHARD_COUNT - 1);
    create_many(&alone.running, RUNS);
    size_t others = count_others(&alone, RUNS);
    assert_in_range(others, 1, RUNS - 1);
    assert_int_equal(claim(&alone, PW_CLAIM_ALL), RUNS - others);
    assert_int_equal(claim(&alone, PW_CLAIM_ALL), 0); /* in less than a second: see below */
    alone.running.engine->store->ops->withdraw(alone.running.engine->store, 5);
    pw_runner_look_around(alone.runner);
    assert_false(atomic_load(&alone.runner->has_others));
    assert_int_equal(claim(&alone, PW_CLAIM_ALL), others);
    alone_close(&alone);
}

TEST(when_one_comes_only_what_it_takes_moves)
{
    struct alone alone;
    char before[PW_SHARD_COUNT];
    alone_open(&alone);
    add_other(&alone, 5, "order", true);
    pw_runner_look_around(alone.runner);
    memcpy(before, alone.runner->view.owned[0].data, sizeof before);
    size_t owned = owned_shards(&alone);
    add_other(&alone, 6, "order", true);
    pw_runner_look_around(alone.runner);
    assert_in_range(owned_shards(&alone), 1, owned - 1);
    for (size_t i = 0; i < PW_SHARD_COUNT; i++)
        assert_true(alone.runner->view.owned[0].data[i] == '0' || before[i] == '1');
    alone_close(&alone);
}

TEST(what_it_parked_a_moment_ago_it_takes_whoever_owns_it)
{
    struct alone alone;
    alone_open(&alone);
    add_other(&alone, 5, "order", true);
    pw_runner_look_around(alone.runner);
    create_many(&alone.running, RUNS);
    assert_int_equal(claim(&alone, PW_CLAIM_PARKED), RUNS);
    alone_close(&alone);
}

/* C6: its host says when, and means all. */
TEST(a_tick_takes_all_whoever_owns_it)
{
    struct alone alone;
    int64_t processed = 0;
    alone_open(&alone);
    add_other(&alone, 5, "order", true);
    create_many(&alone.running, RUNS);
    assert_ok(pawl_runner_tick(alone.runner, 0, 0, &processed, &alone.running.error), alone.running.error);
    assert_int_equal(processed, RUNS);
    alone_close(&alone);
}

static pawl_status fail_to_list(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                                struct pw_found *out_found, struct pawl_error *error)
{
    (void)store, (void)arena, (void)out_found, (void)error;
    assert_int_equal(asked->kind, PW_READ_RUNNERS);
    return PAWL_STORE_UNAVAILABLE;
}

TEST(what_cannot_be_read_leaves_it_with_what_it_knows)
{
    struct alone alone;
    alone_open(&alone);
    add_other(&alone, 5, "order", true);
    pw_runner_look_around(alone.runner);
    size_t owned = owned_shards(&alone);
    struct pw_store *store = alone.running.engine->store;
    const struct pw_store_ops *true_ops = store->ops;
    struct pw_store_ops failing = *true_ops;
    store->ops->withdraw(store, 5);
    failing.read = fail_to_list;
    store->ops = &failing;
    pw_runner_look_around(alone.runner);
    assert_int_equal(owned_shards(&alone), owned);
    store->ops = true_ops;
    pw_runner_look_around(alone.runner);
    assert_int_equal(owned_shards(&alone), PW_SHARD_COUNT);
    alone_close(&alone);
}

TEST(a_name_is_checked_and_shown)
{
    struct alone alone;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    pawl_runner *runner = NULL;
    char long_name[300];
    alone_open(&alone);
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    const char *const wrong[] = { "", long_name, "\xff" };
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        options.name = wrong[i];
        assert_int_equal(pawl_runner_open(alone.running.engine, &options, &runner, &alone.running.error), PAWL_INVALID);
    }
    long_name[255] = '\0';
    options.name = long_name;
    assert_ok(pawl_runner_open(alone.running.engine, &options, &runner, &alone.running.error), alone.running.error);
    assert_string_equal(runner->name, long_name);
    pawl_runner_close(runner);
    alone_close(&alone);
}

TEST(the_lists_refuse_what_is_missing)
{
    struct alone alone;
    const struct pawl_runner_info *runners;
    const char *const *ids;
    size_t count;
    alone_open(&alone);
    pawl_engine *engine = alone.running.engine;
    pawl_scope *scope = alone.running.scope;
    assert_int_equal(pawl_list_runners(NULL, scope, &runners, &count, NULL), PAWL_INVALID);
    assert_int_equal(pawl_list_runners(engine, NULL, &runners, &count, NULL), PAWL_INVALID);
    assert_int_equal(pawl_list_runners(engine, scope, NULL, &count, NULL), PAWL_INVALID);
    assert_int_equal(pawl_list_runners(engine, scope, &runners, NULL, NULL), PAWL_INVALID);
    assert_int_equal(pawl_list_shards(engine, scope, "none", &ids, NULL), PAWL_WORKFLOW_NOT_FOUND);
    assert_int_equal(pawl_list_shards(engine, NULL, "order", &ids, NULL), PAWL_INVALID);
    assert_int_equal(pawl_list_shards(engine, scope, "order", NULL, NULL), PAWL_INVALID);
    assert_ok(pawl_list_shards(engine, scope, "order", &ids, &alone.running.error), alone.running.error);
    assert_null(ids[0]);
    assert_null(ids[PAWL_SHARD_COUNT - 1]);
    alone_close(&alone);
}

/* ---- Two started runners --------------------------------------------------------------------------------------------- */

/* Two engines on one database, as two machines would be, and a third that only creates. */
struct pair {
    struct running hosts[2], client;
    struct gate gates[2]; /* of "block" */
};

BODY(carried_by)
{
    return pawl_value_pack(pawl_step_scope(step), out_result, "i", *(const int *)pawl_step_user(step));
}

WORKFLOW(order)
{
    return pawl_do(run, "carry", NULL, carried_by, NULL, out_result);
}

WORKFLOW(nap)
{
    return pawl_sleep_ms(run, "nap", 50);
}

BODY(stand)
{
    return gate_pass(pawl_step_user(step)) ? PAWL_OK : PAWL_FAILED;
}

WORKFLOW(block)
{
    return pawl_do(run, "stand", NULL, stand, NULL, out_result);
}

static void pair_open(struct pair *pair)
{
    static int numbers[] = { 0, 1 };
    char path[64];
    database_name(path, sizeof path);
    for (size_t i = 0; i < 2; i++) {
        gate_init(&pair->gates[i]);
        running_open_path(&pair->hosts[i], path);
        running_register(&pair->hosts[i], "order", order, &numbers[i]);
        running_register(&pair->hosts[i], "nap", nap, NULL);
        running_register(&pair->hosts[i], i == 0 ? "block0" : "block1", block, &pair->gates[i]);
    }
    running_open_path(&pair->client, path);
    running_register(&pair->client, "order", order, NULL);
    running_register(&pair->client, "block1", block, NULL);
}

static void pair_start(struct pair *pair, size_t host)
{
    static const char *const names[] = { "first", "second" };
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    options.workers = 1;
    options.in_flight_max = 1;
    options.name = names[host];
    running_start(&pair->hosts[host], &options);
}

static void pair_close(struct pair *pair)
{
    for (size_t i = 0; i < 2; i++) {
        gate_open(&pair->gates[i]);
        running_stop(&pair->hosts[i]);
    }
    pair->client.path[0] = pair->hosts[1].path[0] = '\0'; /* removed once */
    running_close(&pair->client);
    running_close(&pair->hosts[1]);
    running_close(&pair->hosts[0]);
    for (size_t i = 0; i < 2; i++)
        gate_clear(&pair->gates[i]);
}

/* How many shards of "order" each named runner owns; -1: it is not listed, or shares nothing. */
static int32_t shards_of(struct running *running, const char *name)
{
    const struct pawl_runner_info *runners;
    size_t count;
    assert_ok(pawl_list_runners(running->engine, running->scope, &runners, &count, &running->error), running->error);
    for (size_t i = 0; i < count; i++) {
        for (size_t w = 0; strcmp(runners[i].name, name) == 0 && w < runners[i].workflow_count; w++)
            if (strcmp(runners[i].workflows[w].name, "order") == 0 && runners[i].is_sharing)
                return runners[i].workflows[w].shards;
    }
    return -1;
}

/* Both are listed as sharing or as gone, and both keepers know. */
static void await_view(struct pair *pair, bool second_is_there)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while ((shards_of(&pair->client, "second") >= 0) != second_is_there || shards_of(&pair->client, "first") < 0 ||
           atomic_load(&pair->hosts[0].runner->has_others) != second_is_there ||
           (second_is_there && !atomic_load(&pair->hosts[1].runner->has_others))) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
}

TEST(shards_change_hands_when_a_runner_comes_and_goes)
{
    struct pair pair;
    pair_open(&pair);
    pair_start(&pair, 0);
    await_view(&pair, false);
    assert_int_equal(shards_of(&pair.client, "first"), PAWL_SHARD_COUNT);
    pair_start(&pair, 1);
    await_view(&pair, true);
    int32_t first = shards_of(&pair.client, "first"), second = shards_of(&pair.client, "second");
    assert_in_range(first, PAWL_SHARD_COUNT / 4, PAWL_SHARD_COUNT * 3 / 4);
    assert_int_equal(first + second, PAWL_SHARD_COUNT);
    pawl_runner_stop(pair.hosts[1].runner); /* and stays open */
    await_view(&pair, false);
    assert_int_equal(shards_of(&pair.client, "first"), PAWL_SHARD_COUNT);
    running_stop(&pair.hosts[1]);
    pair_start(&pair, 1);
    await_view(&pair, true);
    pair_close(&pair);
}

/* The one that pawl_list_shards names, as a number. */
static int owner_of(struct running *running, const char *workflow, const char *id)
{
    const char *const *owners;
    const struct pawl_runner_info *runners;
    size_t count;
    assert_ok(pawl_list_shards(running->engine, running->scope, workflow, &owners, &running->error), running->error);
    assert_ok(pawl_list_runners(running->engine, running->scope, &runners, &count, &running->error), running->error);
    const char *owner = owners[pw_shard_of(pw_text_of(workflow), pw_text_of(id))];
    for (size_t i = 0; owner != NULL && i < count; i++)
        if (strcmp(runners[i].id, owner) == 0)
            return strcmp(runners[i].name, "second") == 0;
    return -1;
}

static int count_at_home(struct pair *pair, int try)
{
    int at_home = 0;
    char id[24];
    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(id, sizeof id, "t%d-%d", try, i);
        running_create(&pair->client, "order", id);
    }
    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(id, sizeof id, "t%d-%d", try, i);
        struct pawl_instance instance = running_await(&pair->client, "order", id, PAWL_COMPLETE);
        at_home += atoi(instance.output_json) == owner_of(&pair->client, "order", id);
    }
    return at_home;
}

TEST(runs_are_carried_by_the_owner_of_their_shard)
{
    struct pair pair;
    int at_home = 0;
    pair_open(&pair);
    pair_start(&pair, 0);
    pair_start(&pair, 1);
    await_view(&pair, true);
    for (int try = 0; try < TRIES && at_home < RUNS * 9 / 10; try++)
        at_home = count_at_home(&pair, try); /* without shards: half of them */
    assert_in_range(at_home, RUNS * 9 / 10, RUNS);
    pair_close(&pair);
}

/* An id in a shard of the second one. */
static void find_id(struct running *running, const char *workflow, int *number, char *out_id, size_t size)
{
    do
        (void)snprintf(out_id, size, "%s%d", workflow, (*number)++);
    while (owner_of(running, workflow, out_id) != 1);
}

TEST(what_a_busy_owner_does_not_take_another_does_without_looking_all_the_time)
{
    struct pair pair;
    struct pawl_runner_stats before, after;
    char id[24];
    int number = 0;
    pair_open(&pair);
    pair_start(&pair, 0);
    pair_start(&pair, 1);
    await_view(&pair, true);
    running_create(&pair.client, "block1", "b"); /* now the second has no room */
    gate_await(&pair.gates[1], 1);
    find_id(&pair.client, "order", &number, id, sizeof id);
    pawl_runner_stats_read(pair.hosts[0].runner, &before);
    running_create(&pair.client, "order", id);
    struct pawl_instance instance = running_await(&pair.client, "order", id, PAWL_COMPLETE);
    pawl_runner_stats_read(pair.hosts[0].runner, &after);
    assert_string_equal(instance.output_json, "0");
    int64_t waited_ms = instance.completed_at_ms - instance.created_at_ms;
    assert_true(waited_ms >= PW_SHARD_GRACE_MS);
    /* A claim when it may, the run's own, and one each second to see who has died; hundreds, if it span. */
    assert_in_range(after.commits - before.commits, 1, 10 + waited_ms / 500);
    pair_close(&pair);
}

/* A run was parked for a moment while there were others, and they left before it was due: the keeper once claimed without
 * end from then on. */
TEST(what_was_parked_among_others_is_forgotten_when_they_leave)
{
    struct running running;
    int64_t until_ms = monotonic_ms() + PATIENCE_MS, parked_due_ms = 1;
    running_open(&running, false);
    running_register(&running, "order", finish, NULL);
    running_start(&running, NULL);
    pthread_mutex_lock(&running.runner->lock);
    running.runner->parked_due_ms = parked_due_ms;
    running.runner->next_due_ms = parked_due_ms;
    pthread_cond_signal(&running.runner->watch);
    pthread_mutex_unlock(&running.runner->lock);
    while (parked_due_ms != INT64_MAX) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
        pthread_mutex_lock(&running.runner->lock);
        parked_due_ms = running.runner->parked_due_ms;
        pthread_mutex_unlock(&running.runner->lock);
    }
    running_close(&running);
}

/* "Timers fire to the millisecond": also where another runner, which does not come to it, owns the shard. */
TEST(a_short_sleep_ends_in_time_whoever_owns_the_run)
{
    struct pair pair;
    int64_t least_ms = INT64_MAX;
    int number = 0;
    pair_open(&pair);
    pair_start(&pair, 0);
    pair_start(&pair, 1);
    await_view(&pair, true);
    running_create(&pair.client, "block1", "b");
    gate_await(&pair.gates[1], 1);
    for (int try = 0; try < TRIES; try++) {
        char id[24];
        find_id(&pair.hosts[0], "nap", &number, id, sizeof id);
        running_create(&pair.hosts[0], "nap", id);
        struct pawl_instance instance = running_await(&pair.hosts[0], "nap", id, PAWL_COMPLETE);
        int64_t took_ms = instance.completed_at_ms - instance.created_at_ms;
        least_ms = took_ms < least_ms ? took_ms : least_ms;
    }
    assert_in_range(least_ms, 50, PW_SHARD_GRACE_MS - 1);
    pair_close(&pair);
}
