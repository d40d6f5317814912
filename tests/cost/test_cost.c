/* test_cost.c - what each use case costs, in fixed numbers that do not depend on the machine or its load.
 *
 * Counted, between the moment when a host calls and the moment when all is durable and answered:
 *   statements   that our code has the database carry out.  SQLite: executions of prepared statements, BEGIN and COMMIT
 *                among them, and texts given to sqlite3_exec().  PostgreSQL: statements sent, prepares included.
 *   round trips  how often our code waits for PostgreSQL's server: each pw_pg_finish(), which sends a sync and waits for it,
 *                each pw_pg_finish_first() with something to wait for, and each PQexec().
 *   copies       of a payload of PAYLOAD_SIZE bytes: calls of memcpy() and memmove() of at least so many.  What SQLite, libpq
 *                and Jansson copy is not seen, nor what is written piece by piece (JSON that is made of a value).
 *
 * A number that has risen is a regression.  One that has fallen is good news: lower it in the table, and in docs/testing.md,
 * so that it cannot rise again unnoticed.  Whatever differs is told with the row as it is now.
 *
 * Time stands still, nothing runs in other threads, and each use case is played once before it is counted, in a database of
 * its own; so there are connections, and statements are prepared.  With such a clock PostgreSQL has no thread for heartbeats:
 * each claim by a runner sends one, a statement more than in life.  A tick reads the version of the schema when nobody has for a
 * second, which is not counted here.  Commits have one lane, so that ten changes that wait
 * together are one commit. */
#include "kit/hand.h"

#include "commit/commit.h"
#include "cost/counting.h"
#include "engine/engine.h"
#include "runner/runner.h"
#include "turn/inside.h"

#define ONE_WORKFLOW "w" /* the only one of its world */

enum { PAYLOAD_SIZE = 300000, TEN = 10, NAME_SIZE = 32, LOCAL_OWNER = 4711, LOCAL_LEASE_MS = 5000 };

/* ---- The world ------------------------------------------------------------------------------------------------------ */

struct world {
    struct running hand; /* its runner remembers runs, the other one does not */
    struct pw_local local;
    int delivered; /* to the local runner */
    int made;      /* instances, for their names */
    char ids[TEN][NAME_SIZE];
    const char *text, *payload; /* which is the text as JSON */
    pawl_turn *turns[TEN];
    int turn_count;
    const struct pawl_job *jobs;
    int answered;
    struct pawl_error errors[TEN];
};

static struct world world;
static char large_text[PAYLOAD_SIZE + 1], large_payload[PAYLOAD_SIZE + 3];

/* What an author's code does to make its result is its own affair. */
BODY(answer_payload)
{
    counting_pause();
    pawl_status status = pawl_value_pack(pawl_step_scope(step), out_result, "s", world.text);
    counting_go_on();
    return status;
}

WORKFLOW(no_steps)
{
    return PAWL_OK;
}

WORKFLOW(one_step)
{
    return pawl_do(run, "1", NULL, answer_payload, NULL, NULL);
}

WORKFLOW(two_steps)
{
    PAWL_TRY(one_step(run, params, out_result));
    return pawl_do(run, "2", NULL, answer_payload, NULL, NULL);
}

WORKFLOW(wait_once)
{
    struct pawl_event event;
    return pawl_wait_for_event(run, "wait", "go", NULL, &event);
}

WORKFLOW(sleep_once)
{
    return pawl_sleep(run, "nap", "10 seconds");
}

WORKFLOW(call_once)
{
    return pawl_call(run, "call", "charge", NULL, params, NULL);
}

/* run NULL: its turns are taken by hand. */
static void add_workflow(pawl_workflow_fn *run)
{
    const struct pawl_definition polled = { .struct_size = sizeof polled, .name = ONE_WORKFLOW };
    const struct pawl_workflow workflow = { .name = ONE_WORKFLOW, .run = run };
    struct running *hand = &world.hand;
    if (run == NULL)
        assert_ok(pawl_define(hand->engine, &polled, &hand->error), hand->error);
    else
        assert_ok(pawl_register(hand->engine, &workflow, &hand->error), hand->error);
}

static void open_engine(struct running *hand)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    char url[sizeof hand->place.url + 32];
    bool is_postgres = hand->place.store == STORE_IN_POSTGRES;
    snprintf(url, sizeof url, "%s%s", hand->place.url, is_postgres ? "&pawl_lanes=1" : "");
    options.store_url = url;
    options.clock = (struct pawl_clock){ .now_ms = running_stopped_ms, .user = hand };
    assert_ok(pawl_open(&options, &hand->engine, &hand->error), hand->error);
}

static void set_up(pawl_workflow_fn *run)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct running *hand = &world.hand;
    memset(&world, 0, sizeof world);
    store_place_make(&hand->place, store_asked_for(STORE_IN_FILE));
    open_engine(hand);
    add_workflow(run);
    assert_ok(pawl_runner_open(hand->engine, &options, &hand->runner, &hand->error), hand->error);
    options.cache_bytes = -1;
    assert_ok(pawl_runner_open(hand->engine, &options, &hand->other, &hand->error), hand->error);
    hand->scope = pawl_scope_new();
}

static void tear_down(void)
{
    struct running *hand = &world.hand;
    pawl_runner_close(hand->runner);
    pawl_runner_close(hand->other);
    pawl_close(hand->engine);
    pawl_scope_free(hand->scope);
    store_place_remove(&hand->place);
}

/* ---- The local runner, which takes all that it is offered -------------------------------------------------------------- */

static int64_t local_reserve(void *runner, struct pw_text workflow, int64_t *out_lease_ms)
{
    (void)runner;
    (void)workflow;
    *out_lease_ms = LOCAL_LEASE_MS;
    return LOCAL_OWNER;
}

static void local_deliver(void *runner, const struct pw_claim *claim)
{
    if (claim == NULL)
        fail_msg("%s", "the local runner was offered a run, and did not get it");
    ((struct world *)runner)->delivered++;
}

static void local_wake(void *runner, int64_t due_at_ms)
{
    (void)runner;
    (void)due_at_ms;
}

static void start_local(void)
{
    world.local = (struct pw_local){ &world, local_reserve, local_deliver, local_wake };
    world.delivered = 0;
    assert_true(pw_engine_set_local(world.hand.engine, &world.local));
}

/* ---- Ten at once ------------------------------------------------------------------------------------------------------- */

static void note_answer(void *user, pawl_status status)
{
    assert_int_equal(status, PAWL_OK);
    (*(int *)user)++;
}

/* From here on changes queue up, as they do behind a commit that is under way ... */
static void gather(void)
{
    world.answered = 0;
    pw_commit_set_served(world.hand.engine->commit, true);
}

/* ... and here all of them are committed. */
static void commit_gathered(int count)
{
    struct pw_commit *commit = world.hand.engine->commit;
    assert_int_equal(world.answered, 0);
    while (pw_commit_lead(commit) || pw_commit_do_chore(commit))
        continue;
    pw_commit_set_served(commit, false);
    assert_int_equal(world.answered, count);
}

/* ---- Use cases -------------------------------------------------------------------------------------------------------- */

static void new_ids(int count)
{
    for (int i = 0; i < count; i++)
        snprintf(world.ids[i], sizeof world.ids[i], "i%d", ++world.made);
}

static void create_one(const char *id, bool return_existing)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    struct running *hand = &world.hand;
    options.id = id;
    options.params_json = world.payload;
    options.return_existing = return_existing;
    assert_ok(pawl_create(hand->engine, hand->scope, ONE_WORKFLOW, &options, &instance, &hand->error), hand->error);
}

static void create(int count)
{
    new_ids(count);
    for (int i = 0; i < count; i++)
        create_one(world.ids[i], false);
}

/* It does not look for more when it has had so many. */
static void tick_with(pawl_runner *runner, int count)
{
    int64_t processed = -1;
    assert_ok(pawl_runner_tick(runner, count, 0, &processed, &world.hand.error), world.hand.error);
    assert_int_equal(processed, count);
}

static void create_for_local(int count)
{
    start_local();
    create(count);
    assert_int_equal(world.delivered, count);
}

static void create_batch(int count)
{
    struct pawl_batch_item items[TEN];
    struct pawl_instance *instances;
    struct running *hand = &world.hand;
    size_t created;
    new_ids(count);
    for (int i = 0; i < count; i++)
        items[i] = (struct pawl_batch_item){ world.ids[i], world.payload };
    assert_ok(pawl_create_batch(hand->engine, hand->scope, ONE_WORKFLOW, items, (size_t)count, &instances, &created,
                                &hand->error),
              hand->error);
    assert_int_equal(created, count);
}

static void create_gathered(int count, bool return_existing)
{
    struct pawl_create_options options[TEN];
    struct pawl_instance instances[TEN];
    gather();
    for (int i = 0; i < count; i++) {
        options[i] = (struct pawl_create_options)PAWL_CREATE_OPTIONS_INIT;
        options[i].id = world.ids[i];
        options[i].params_json = world.payload;
        options[i].return_existing = return_existing;
        pawl_create_async(world.hand.engine, world.hand.scope, ONE_WORKFLOW, &options[i], &instances[i],
                          &world.errors[i], note_answer, &world.answered);
    }
    commit_gathered(count);
}

static void create_together(int count)
{
    new_ids(count);
    create_gathered(count, false);
}

static void create_existing(int count)
{
    (void)count;
    create_one(world.ids[0], true);
}

static void create_existing_together(int count)
{
    create_gathered(count, true);
}

static void get(int count)
{
    struct pawl_instance instance;
    struct running *hand = &world.hand;
    for (int i = 0; i < count; i++)
        assert_ok(pawl_get(hand->engine, hand->scope, ONE_WORKFLOW, world.ids[i], &instance, &hand->error),
                  hand->error);
}

static void make_waiters(int count)
{
    create(count);
    tick_with(world.hand.runner, count);
}

static void send_one(int count)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    struct running *hand = &world.hand;
    options.type = "go";
    options.payload_json = world.payload;
    for (int i = 0; i < count; i++)
        assert_ok(pawl_send_event(hand->engine, NULL, ONE_WORKFLOW, world.ids[i], &options, NULL, &hand->error),
                  hand->error);
}

static void send_for_local(int count)
{
    start_local();
    send_one(count);
    assert_int_equal(world.delivered, count);
}

static void send_together(int count)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = "go";
    options.payload_json = world.payload;
    gather();
    for (int i = 0; i < count; i++)
        pawl_send_event_async(world.hand.engine, ONE_WORKFLOW, world.ids[i], &options, NULL, &world.errors[i],
                              note_answer, &world.answered);
    commit_gathered(count);
}

static void make_woken(int count)
{
    make_waiters(count);
    send_one(count);
}

static void make_rested(int count)
{
    create(count);
    tick_with(world.hand.runner, count);
    running_advance_ms(&world.hand, 10000);
    assert_ok(pawl_check_schema(world.hand.engine, &world.hand.error), world.hand.error);
}

static void tick(int count)
{
    tick_with(world.hand.runner, count);
}

static void tick_idle(int count)
{
    int64_t processed = -1;
    assert_ok(pawl_runner_tick(world.hand.runner, count, 0, &processed, &world.hand.error), world.hand.error);
    assert_int_equal(processed, 0);
}

static void tick_cold(int count)
{
    tick_with(world.hand.other, count);
}

/* As a started runner does, which takes as many as it has room for. */
static void claim(int count)
{
    const struct pw_text workflow = pw_text_of(ONE_WORKFLOW);
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_CLAIM);
    op->as.claim = (struct pw_op_claim){
        .workflows = &workflow, .workflow_count = 1, .max = TEN, .owner = LOCAL_OWNER, .lease_ms = LOCAL_LEASE_MS
    };
    assert_int_equal(pw_commit_run(world.hand.engine->commit, &unit), PAWL_OK);
    assert_int_equal(op->as.claim.claim_count, count);
    pw_unit_clear(&unit);
}

static void take_turns(int count)
{
    create(count);
    for (int i = 0; i < count; i++)
        world.turns[world.turn_count++] = hand_poll(&world.hand);
}

static void step_all(int count)
{
    for (int i = 0; i < count; i++)
        run_step(pawl_turn_lane(world.turns[i]), "1", world.payload);
}

static void step(int count)
{
    step_all(count);
    hand_commit(&world.hand);
}

static void end_turns(void)
{
    for (int i = 0; i < world.turn_count; i++)
        pawl_turn_finish(world.turns[i], NULL, 0);
    for (int i = 0; i < world.turn_count; i++)
        hand_done_with(&world.hand, world.hand.runner, world.turns[i]);
    world.turn_count = 0;
}

/* As workers do, who do not wait for a run's last commit: pawl_turn_done() does. */
static void finish_together(void)
{
    for (int i = 0; i < world.turn_count; i++) {
        pawl_turn *turn = world.turns[i];
        pawl_turn_finish(turn, NULL, 0);
        assert_true(pw_turn_end_pass(turn));
        assert_int_equal(pw_turn_next(turn), PW_NEXT_WAIT);
        turn->owes_ready = false; /* nobody need be told when it is done */
    }
    hand_commit(&world.hand);
    for (int i = 0; i < world.turn_count; i++) {
        assert_int_not_equal(pw_turn_next(world.turns[i]), PW_NEXT_WAIT);
        pw_runner_retire(world.hand.runner, world.turns[i]);
        pw_turn_unref(world.turns[i]);
    }
    world.turn_count = 0;
}

static void step_and_finish(int count)
{
    step_all(count);
    finish_together();
}

static void make_jobs(int count)
{
    create(count);
    tick(count);
}

static void claim_jobs(int count)
{
    static const char *const charge[] = { "charge" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    struct running *hand = &world.hand;
    size_t found = 0;
    options.functions = charge;
    options.function_count = 1;
    options.max = TEN;
    assert_ok(pawl_job_claim(hand->engine, hand->scope, &options, &world.jobs, &found, &hand->error), hand->error);
    assert_int_equal(found, count);
}

static void take_jobs(int count)
{
    make_jobs(count);
    claim_jobs(count);
}

static void complete_job(int count)
{
    (void)count;
    assert_ok(pawl_job_complete(world.hand.engine, world.jobs[0].token, world.payload, &world.hand.error),
              world.hand.error);
}

static void complete_jobs_together(int count)
{
    const struct pawl_outcome outcome = { .result_json = world.payload };
    gather();
    for (int i = 0; i < count; i++)
        pawl_job_settle_async(world.hand.engine, world.jobs[i].token, &outcome, NULL, &world.errors[i], note_answer,
                              &world.answered);
    commit_gathered(count);
}

static void pause_one(int count)
{
    (void)count;
    assert_ok(pawl_pause(world.hand.engine, ONE_WORKFLOW, world.ids[0], &world.hand.error), world.hand.error);
}

static void terminate_one(int count)
{
    (void)count;
    assert_ok(pawl_terminate(world.hand.engine, ONE_WORKFLOW, world.ids[0], &world.hand.error), world.hand.error);
}

static void restart_one(int count)
{
    (void)count;
    assert_ok(pawl_restart(world.hand.engine, ONE_WORKFLOW, world.ids[0], &world.hand.error), world.hand.error);
}

static void control_together(enum pawl_control control, int count)
{
    gather();
    for (int i = 0; i < count; i++)
        pawl_control_async(world.hand.engine, control, ONE_WORKFLOW, world.ids[i], &world.errors[i], note_answer,
                           &world.answered);
    commit_gathered(count);
}

static void pause_together(int count)
{
    control_together(PAWL_CONTROL_PAUSE, count);
}

static void terminate_together(int count)
{
    control_together(PAWL_CONTROL_TERMINATE, count);
}

static void restart_together(int count)
{
    control_together(PAWL_CONTROL_RESTART, count);
}

/* ---- The table --------------------------------------------------------------------------------------------------------- */

typedef void act_fn(int count);

struct use_case {
    const char *name;
    int count;             /* how many at once */
    pawl_workflow_fn *run; /* NULL: its turns are taken by hand */
    act_fn *prepare;       /* what must be there, and is not counted; or NULL */
    act_fn *act;
    struct {
        int statements, copies;
    } sqlite;
    struct {
        int statements, trips, copies;
    } postgres;
};

/* clang-format off */
static const struct use_case use_cases[] = {
    /* The numbers are of SQLite { statements, copies } and of PostgreSQL { statements, round trips, copies }. */
    { "create",                            1, NULL,       NULL,         create,                   {  5,  1 }, {  8,  2,  3 } },
    { "create for a local runner",         1, NULL,       NULL,         create_for_local,         {  5,  1 }, {  7,  2,  3 } },
    { "create ten as a batch",           TEN, NULL,       NULL,         create_batch,             { 32, 10 }, {  8,  2, 24 } },
    { "create ten in one commit",        TEN, NULL,       NULL,         create_together,          { 32, 10 }, {  8,  2, 24 } },
    { "create what exists",                1, NULL,       create,       create_existing,          {  4,  3 }, {  6,  3,  3 } },
    { "create ten that exist",           TEN, NULL,       create,       create_existing_together, { 22, 30 }, { 15, 12, 30 } },
    { "get",                               1, NULL,       create,       get,                      {  1,  2 }, {  1,  1,  2 } },
    { "send an event",                     1, wait_once,  make_waiters, send_one,                 {  5,  0 }, {  8,  2,  2 } },
    { "send to a local runner",            1, wait_once,  make_waiters, send_for_local,           {  5,  0 }, {  7,  2,  2 } },
    { "send ten in one commit",          TEN, wait_once,  make_waiters, send_together,            { 32,  0 }, {  8,  2, 14 } },
    { "claim a run",                       1, NULL,       create,       claim,                    {  8,  1 }, {  5,  2,  1 } },
    { "claim ten runs",                  TEN, NULL,       create,       claim,                    { 26, 10 }, {  5,  2, 10 } },
    { "step boundary",                     1, NULL,       take_turns,   step,                     {  3,  1 }, {  5,  2,  2 } },
    { "ten step boundaries",             TEN, NULL,       take_turns,   step,                     { 12, 10 }, {  5,  2, 24 } },
    { "last step and finish",              1, NULL,       take_turns,   step_and_finish,          {  5,  1 }, {  7,  2,  2 } },
    { "last steps and finish of ten",    TEN, NULL,       take_turns,   step_and_finish,          { 32, 10 }, {  7,  2, 24 } },
    { "tick, nothing due",                 1, no_steps,   NULL,         tick_idle,                {  8,  0 }, {  7,  2,  0 } },
    { "tick, a run without steps",         1, no_steps,   create,       tick,                     { 14,  4 }, { 14,  4,  4 } },
    { "tick, a run of one step",           1, one_step,   create,       tick,                     { 15,  6 }, { 15,  4,  7 } },
    { "tick, a run of two steps",          1, two_steps,  create,       tick,                     { 18,  8 }, { 20,  6, 10 } },
    { "tick, an event came",               1, wait_once,  make_woken,   tick,                     { 20,  6 }, { 21,  5,  8 } },
    { "tick, a sleep is over",             1, sleep_once, make_rested,  tick,                     { 15,  1 }, { 16,  4,  1 } },
    { "tick elsewhere, a sleep is over",   1, sleep_once, make_rested,  tick_cold,                { 17,  3 }, { 18,  5,  3 } },
    { "tick, a run that calls",            1, call_once,  create,       tick,                     { 17,  5 }, { 19,  4,  7 } },
    { "claim a job",                       1, call_once,  make_jobs,    claim_jobs,               { 10,  4 }, {  7,  4,  4 } },
    { "claim ten jobs",                  TEN, call_once,  make_jobs,    claim_jobs,               { 46, 40 }, {  7,  4, 40 } },
    { "complete a job",                    1, call_once,  take_jobs,    complete_job,             {  7,  1 }, { 11,  3,  5 } },
    { "complete ten in one commit",      TEN, call_once,  take_jobs,    complete_jobs_together,   { 52, 10 }, { 20, 12, 38 } },
    { "pause",                             1, wait_once,  make_waiters, pause_one,                {  4,  0 }, {  6,  2,  0 } },
    { "pause ten in one commit",         TEN, wait_once,  make_waiters, pause_together,           { 22,  0 }, {  6,  2,  0 } },
    { "terminate",                         1, wait_once,  make_waiters, terminate_one,            {  8,  0 }, { 10,  2,  0 } },
    { "terminate ten in one commit",     TEN, wait_once,  make_waiters, terminate_together,       { 62,  0 }, { 10,  2,  0 } },
    { "restart",                           1, wait_once,  make_waiters, restart_one,              { 10,  1 }, { 13,  3,  1 } },
    { "restart ten in one commit",       TEN, wait_once,  make_waiters, restart_together,         { 82, 10 }, { 22, 12, 10 } },
};
/* clang-format on */

/* ---- Comparing --------------------------------------------------------------------------------------------------------- */

/* So that what is due in the next play is its own. */
static void clear_up(bool has_code)
{
    (void)pw_engine_set_local(world.hand.engine, NULL);
    end_turns();
    if (has_code)
        assert_ok(pawl_runner_tick(world.hand.runner, 0, 0, NULL, &world.hand.error), world.hand.error);
}

static struct cost play(const struct use_case *use_case, bool is_large)
{
    world.text = is_large ? large_text : "small";
    world.payload = is_large ? large_payload : "\"small\"";
    if (use_case->prepare != NULL)
        use_case->prepare(use_case->count);
    counting_begin(PAYLOAD_SIZE);
    use_case->act(use_case->count);
    struct cost cost = counting_end();
    clear_up(use_case->run != NULL);
    return cost;
}

static bool is_as_expected(const char *use_case, const char *what, int actual, int expected)
{
    if (actual != expected)
        print_error("%s: %d %s, where the table says %d: %s\n", use_case, actual, what, expected,
                    actual > expected ? "a regression" : "better than it was, so lower the number");
    return actual == expected;
}

static struct cost expected_cost(const struct use_case *use_case)
{
    if (world.hand.place.store == STORE_IN_POSTGRES)
        return (struct cost){ use_case->postgres.statements, use_case->postgres.trips, use_case->postgres.copies };
    return (struct cost){ use_case->sqlite.statements, 0, use_case->sqlite.copies };
}

static void costs_what_the_table_says(void **state)
{
    const struct use_case *use_case = *state;
    set_up(use_case->run);
    (void)play(use_case, false);
    struct cost cost = play(use_case, false);
    cost.copies = play(use_case, true).copies;

    struct cost expected = expected_cost(use_case);
    if (!counting_sees_copies())
        cost.copies = expected.copies;
    bool fine = is_as_expected(use_case->name, "statements", cost.statements, expected.statements);
    fine = is_as_expected(use_case->name, "round trips", cost.trips, expected.trips) && fine;
    fine = is_as_expected(use_case->name, "copies", cost.copies, expected.copies) && fine;
    if (!fine && world.hand.place.store == STORE_IN_POSTGRES)
        print_error("now: \"%s\" { %d, %d, %d }\n", use_case->name, cost.statements, cost.trips, cost.copies);
    else if (!fine)
        print_error("now: \"%s\" { %d, %d }\n", use_case->name, cost.statements, cost.copies);
    tear_down();
    assert_true(fine);
}

int main(void)
{
    struct CMUnitTest tests[LENGTH(use_cases)];
    memset(large_text, 'x', sizeof large_text - 1);
    snprintf(large_payload, sizeof large_payload, "\"%s\"", large_text);
    for (size_t i = 0; i < LENGTH(use_cases); i++)
        tests[i] = (struct CMUnitTest){ .name = use_cases[i].name,
                                        .test_func = costs_what_the_table_says,
                                        .initial_state = (void *)&use_cases[i] };
    return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
