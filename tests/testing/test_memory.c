/* test_memory.c - memory that runs out once, at any place: in the test kit, and in what it drives.
 *
 * The loops of tests/fault fail what is asked of malloc.  An arena asks it seldom, for many takes at once; so here each
 * take from an arena can fail as well.  While it fails, an act says PAWL_OK, or PAWL_NOMEM with its text; done again it
 * succeeds, and the end is the same as without.
 * PAWL_FAULT_EVERY=n plays each nth trial instead of an even choice. */
#include "fault/plan.h"
#include "pawl/hooks.h"
#include "kit/sweeping.h"

enum { TRIALS_PER_LOOP = 40, END_SIZE = 4096 };

/* ---- The workflow: something of everything ------------------------------------------------------------------------- */

BODY(reserve)
{
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_DEBUG, "stock", input, "reserving %s", pawl_value_string(input, "sku", "")));
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "NotYet", "attempt %d", (int)pawl_step_attempt(step));
    return pawl_result(step, out_result, "{s:s, s:V}", "sku", pawl_value_string(input, "sku", ""), "size",
                       pawl_value_at(input, "sizes.1"));
}

static pawl_status note_paid(void *connection, const void *data, size_t size)
{
    (void)data;
    return connection != NULL && size == 4 ? PAWL_OK : PAWL_STEP_MUTATION_FAILED;
}

BODY(pay)
{
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid VALUES ($1)", "[s]", "once"));
    PAWL_TRY(pawl_step_sql_on_failure(step, "INSERT INTO paid VALUES ('failed')", NULL));
    PAWL_TRY(pawl_step_mutate(step, PAWL_WITH_SUCCESS, note_paid, "data", 4));
    PAWL_TRY(pawl_step_create(step, "leaf", "l", input));
    PAWL_TRY(pawl_step_send_event(step, "order", "o", "paid", input));
    return sweeping_plain(step, input, out_result);
}

BODY(refuse)
{
    return pawl_fail_for_good(step, "Refused", "never");
}

static pawl_status fork_both(pawl_run *run)
{
    static const char *const names[] = { "a1", "b1", "a2", "b2" };
    struct pawl_branch branches[4];
    for (size_t i = 0; i < 4; i++) {
        pawl_value *name;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &name, "s", names[i]));
        branches[i] = (struct pawl_branch){ .run = sweeping_branch, .input = name };
    }
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    return pawl_first(run, "race", branches + 2, 2, NULL);
}

/* The keys and items of the params, which are read from text that was stored. */
static pawl_status log_params(pawl_run *run, const pawl_value *params)
{
    for (size_t i = 0; i < pawl_value_size(params, NULL); i++) {
        const char *key = pawl_value_key(params, i);
        PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, pawl_value_item(params, i), "%s", key != NULL ? key : ""));
    }
    return PAWL_OK;
}

WORKFLOW(order)
{
    pawl_value *reserved, *mocked;
    struct pawl_event paid, gone;
    PAWL_TRY(log_params(run, params));
    PAWL_TRY(pawl_do(run, "reserve", NULL, reserve, params, &reserved));
    PAWL_TRY(fork_both(run));
    PAWL_TRY(pawl_do(run, "pay", NULL, pay, reserved, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "await pay", "paid", NULL, &paid));
    PAWL_TRY(pawl_do(run, "mocked", NULL, refuse, NULL, &mocked));
    pawl_status status = pawl_do(run, "refused", NULL, refuse, NULL, NULL);
    if (status != PAWL_FAILED)
        return status;
    PAWL_TRY(pawl_wait_for_event(run, "await go", "go", "1 day", &gone));
    status = pawl_wait_for_event(run, "await in vain", "nothing", "1 minute", NULL);
    if (status != PAWL_WAIT_FOR_EVENT_TIMEOUT)
        return status;
    return pawl_return(run, out_result, "[V, V, V, V, s]", reserved, mocked, paid.payload, gone.payload,
                       pawl_run_failure(run).name);
}

/* A duration that is none, handled; then a failure of its own. */
WORKFLOW(failing)
{
    pawl_status status = pawl_sleep(run, "nap", "a while");
    if (status != PAWL_INVALID_DURATION)
        return status;
    return pawl_run_fail(run, NULL, "no %s", "good");
}

BODY(publish)
{
    return pawl_result(step, out_result, "V", input);
}

BODY(charge)
{
    return pawl_result(step, out_result, "{s:V}", "charged", input);
}

/* Middleware that leaves everything as it was. */
static pawl_status around_run(pawl_run *run, pawl_next *next, void *user)
{
    (void)user;
    PAWL_TRY(pawl_log(run, PAWL_LOG_DEBUG, NULL, NULL, "a pass begins"));
    return pawl_next_call(next);
}

static pawl_status around_step(pawl_step *step, pawl_next *next, void *user)
{
    (void)step;
    (void)user;
    return pawl_next_call(next);
}

/* Carried out in the thread of whoever executes it, by an engine of its own. */
WORKFLOW(quote)
{
    pawl_value *charged;
    PAWL_TRY(pawl_do(run, "charge", NULL, charge, params, &charged));
    PAWL_TRY(pawl_sleep(run, "nap", "1 ms"));
    return pawl_return(run, out_result, "V", charged);
}

/* What others finish: a worker outside and one in this process, whoever has a token, a child. */
WORKFLOW(shop)
{
    static const struct pawl_compensation undo = { .undo = publish };
    const struct pawl_step_options published = { .description = "for all to see", .compensate = &undo };
    pawl_value *token, *packed, *charged, *invoked, *approved, *leaf;
    const char *text;
    PAWL_TRY(pawl_deferred_token(run, "approval", &text));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &token, "s", text));
    PAWL_TRY(pawl_do(run, "publish", &published, publish, token, NULL));
    PAWL_TRY(pawl_call(run, "pack", "pack", NULL, params, &packed));
    PAWL_TRY(pawl_call(run, "charge", "charge", NULL, params, &charged));
    PAWL_TRY(pawl_invoke(run, "charge", params, &invoked));
    PAWL_TRY(pawl_await_deferred(run, "approval", NULL, &approved));
    PAWL_TRY(pawl_run_child(run, "leaf", "leaf", NULL, params, &leaf));
    return pawl_return(run, out_result, "[V, V, V, V, V]", packed, charged, invoked, approved, leaf);
}

/* ---- Acts, each of which can be done again -------------------------------------------------------------------------- */

struct play {
    pawl_world *world;
    struct pawl_error error;
    char end[END_SIZE]; /* what it came to */
    bool hook_works;
    pawl_follow *follow;
    const char *mark; /* of what was followed so far */
};

typedef pawl_status act_fn(struct play *play);

static pawl_status open_world(struct play *play)
{
    static const char *const tags[] = { "shop", "test", NULL };
    const struct pawl_workflow workflows[] = {
        { .name = "order", .run = order, .description = "something of everything", .tags = tags },
        { .name = "leaf", .run = sweeping_leaf },
        { .name = "failing", .run = failing },
    };
    pawl_world_close(play->world);
    play->world = NULL;
    PAWL_TRY(pawl_world_open(NULL, &play->world, &play->error));
    for (size_t i = 0; i < sizeof workflows / sizeof workflows[0]; i++)
        PAWL_TRY(pawl_register(pawl_world_engine(play->world), &workflows[i], &play->error));
    return pawl_world_sql(play->world, "CREATE TABLE paid (id TEXT PRIMARY KEY)", &play->error);
}

static pawl_status mock_step(struct play *play)
{
    pawl_world_unmock(play->world);
    PAWL_TRY(pawl_world_mock_result(play->world, "order", "mocked", 0, "{\"mocked\": true}", &play->error));
    PAWL_TRY(pawl_world_mock_failure(play->world, "order", "mocked", 1, "Mocked", "once", true, &play->error));
    return pawl_world_mock_timeout(play->world, "order", "mocked", 1, &play->error);
}

static pawl_status create(struct play *play, const char *workflow, const char *id)
{
    pawl_status status =
        pawl_world_create(play->world, workflow, id, "{\"sku\": \"teapot\", \"sizes\": [1, 2]}", &play->error);
    return status == PAWL_INSTANCE_ID_ALREADY_EXISTS ? PAWL_OK : status;
}

static pawl_status create_order(struct play *play)
{
    return create(play, "order", "o");
}

static pawl_status create_failing(struct play *play)
{
    return create(play, "failing", "f");
}

static pawl_status run_hours(struct play *play)
{
    return pawl_world_advance(play->world, "6 hours", &play->error);
}

static pawl_status send_go(struct play *play)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = "go";
    options.payload_json = "{\"went\": 1.5}";
    options.event_id = "go-1";
    return pawl_send_event(pawl_world_engine(play->world), pawl_world_scope(play->world), "order", "o", &options, NULL,
                           &play->error);
}

static pawl_status pause_and_resume(struct play *play)
{
    PAWL_TRY(pawl_pause(pawl_world_engine(play->world), "order", "o", &play->error));
    return pawl_resume(pawl_world_engine(play->world), "order", "o", &play->error);
}

static pawl_status run_to_end(struct play *play)
{
    return pawl_world_run_to_end(play->world, &play->error);
}

static pawl_status restart_failing(struct play *play)
{
    return pawl_restart(pawl_world_engine(play->world), "failing", "f", &play->error);
}

/* The numbers of attempts are left out, because one that memory ended is tried again; so is the order of the steps,
 * because branches that were held up begin later. */
static void write_end(struct play *play, const struct pawl_instance *instance, const struct pawl_history *history)
{
    size_t at = strlen(play->end),
           counts[] = { [PAWL_STEP_WAITING] = 0, [PAWL_STEP_COMPLETED] = 0, [PAWL_STEP_ERRORED] = 0 };
    for (size_t i = 0; i < history->step_count; i++)
        counts[history->steps[i].status]++;
    snprintf(play->end + at, END_SIZE - at, "%s %s %s, steps: %zu waiting, %zu completed, %zu errored\n",
             pawl_instance_status_name(instance->status), instance->output_json != NULL ? instance->output_json : "-",
             instance->error_message != NULL ? instance->error_message : "-", counts[PAWL_STEP_WAITING],
             counts[PAWL_STEP_COMPLETED], counts[PAWL_STEP_ERRORED]);
}

static pawl_status look_at(struct play *play, const char *workflow, const char *id)
{
    struct pawl_instance instance;
    struct pawl_history history;
    PAWL_TRY(pawl_world_get(play->world, workflow, id, &instance, &play->error));
    PAWL_TRY(pawl_world_history(play->world, workflow, id, 0, &history, &play->error));
    write_end(play, &instance, &history);
    return PAWL_OK;
}

static pawl_status look(struct play *play)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    const struct pawl_workflow_info *workflows;
    struct pawl_instance_page page;
    struct pawl_instance_counts counts;
    size_t count;
    play->end[0] = '\0';
    PAWL_TRY(look_at(play, "order", "o"));
    PAWL_TRY(look_at(play, "leaf", "l"));
    PAWL_TRY(look_at(play, "failing", "f"));
    options.page_size = 1;
    PAWL_TRY(pawl_list(pawl_world_engine(play->world), pawl_world_scope(play->world), "order", &options, &page,
                       &play->error));
    PAWL_TRY(pawl_count(pawl_world_engine(play->world), NULL, &counts, &play->error));
    pawl_status status =
        pawl_list_workflows(pawl_world_engine(play->world), pawl_world_scope(play->world), &workflows, &count);
    play->error = (struct pawl_error){ status, "this call has no text" };
    return status;
}

static act_fn *const world_acts[] = { open_world, mock_step,        create_order,    create_failing, run_hours, look,
                                      send_go,    pause_and_resume, restart_failing, run_to_end,     look,      NULL };

/* ---- Hooks, followers, calls that do not wait -------------------------------------------------------------------------- */

/* What a hook is told of an end it refuses for good, until it is allowed to be. */
static pawl_status deliver(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    const struct play *play = user;
    if (delivery->event != PAWL_HOOK_FINISHED || play->hook_works)
        return PAWL_OK;
    *error = (struct pawl_error){ PAWL_NON_RETRYABLE, "not now" };
    return PAWL_NON_RETRYABLE;
}

static pawl_status open_hooked(struct play *play)
{
    struct pawl_hook hook = PAWL_HOOK_INIT;
    hook.name = "host";
    hook.events = PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED;
    hook.deliver = deliver;
    hook.user = play;
    play->hook_works = false;
    PAWL_TRY(open_world(play));
    return pawl_hook_register(pawl_world_engine(play->world), &hook, &play->error);
}

static void note_answer(void *user, pawl_status status)
{
    *(pawl_status *)user = status;
}

/* Nobody serves the commits here, so each is answered before the call returns. */
static pawl_status create_without_waiting(struct play *play)
{
    const struct pawl_batch_item items[] = { { "f", "{\"sku\": 1}" }, { "g", NULL } };
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance, *instances;
    pawl_scope *scope = pawl_world_scope(play->world);
    size_t count;
    pawl_status status = PAWL_FAILED;
    options.id = "l";
    options.return_existing = true;
    pawl_create_async(pawl_world_engine(play->world), scope, "leaf", &options, &instance, &play->error, note_answer,
                      &status);
    PAWL_TRY(status);
    status = PAWL_FAILED;
    pawl_create_batch_async(pawl_world_engine(play->world), scope, "failing", items, 2, &instances, &count,
                            &play->error, note_answer, &status);
    return status;
}

static pawl_status control_without_waiting(struct play *play)
{
    static const enum pawl_control controls[] = { PAWL_CONTROL_PAUSE, PAWL_CONTROL_RESUME };
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    pawl_status status = PAWL_FAILED;
    options.type = "go";
    options.event_id = "go-1";
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        pawl_control_async(pawl_world_engine(play->world), controls[i], "leaf", "l", &play->error, note_answer,
                           &status);
        PAWL_TRY(status);
    }
    status = PAWL_FAILED;
    pawl_send_event_async(pawl_world_engine(play->world), "leaf", "l", &options, NULL, &play->error, note_answer,
                          &status);
    return status;
}

static pawl_status tell_hook(struct play *play)
{
    return pawl_hooks_tick(pawl_world_engine(play->world), 0, NULL, NULL, &play->error);
}

static pawl_status list_deliveries(struct play *play, struct pawl_delivery_page *out_page)
{
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    options.page_size = 1;
    options.hook = "host";
    return pawl_list_deliveries(pawl_world_engine(play->world), pawl_world_scope(play->world), &options, out_page,
                                &play->error);
}

/* One after the other, until none is left. */
static pawl_status send_again(struct play *play)
{
    struct pawl_delivery_page page;
    pawl_status status = PAWL_FAILED;
    play->hook_works = true;
    PAWL_TRY(list_deliveries(play, &page));
    while (page.count > 0) {
        pawl_resend_delivery_async(pawl_world_engine(play->world), page.deliveries[0].delivery.id, &play->error,
                                   note_answer, &status);
        PAWL_TRY(status);
        PAWL_TRY(tell_hook(play));
        PAWL_TRY(list_deliveries(play, &page));
    }
    return PAWL_OK;
}

/* Steps and states; log lines are more where memory ran out. */
static void note_changes(struct play *play, const struct pawl_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = strlen(play->end);
        if (changes[i].kind == PAWL_CHANGE_STATUS)
            snprintf(play->end + at, END_SIZE - at, "%s\n", pawl_phase_name(changes[i].instance->phase));
        else if (changes[i].kind == PAWL_CHANGE_STEP)
            snprintf(play->end + at, END_SIZE - at, "%s\n", changes[i].step->name);
    }
}

/* What was told before memory ran out is not told again, and nothing is left out. */
static pawl_status follow(struct play *play)
{
    const struct pawl_change *changes;
    bool ended = false;
    size_t count;
    while (!ended) {
        if (play->follow == NULL)
            PAWL_TRY(
                pawl_follow_open(pawl_world_engine(play->world), "leaf", "l", play->mark, &play->follow, &play->error));
        PAWL_TRY(pawl_follow_next(play->follow, pawl_world_scope(play->world), &changes, &count, &ended, &play->error));
        note_changes(play, changes, count);
        if (count > 0)
            play->mark = changes[count - 1].mark;
    }
    pawl_follow_close(play->follow);
    play->follow = NULL;
    return PAWL_OK;
}

static act_fn *const hook_acts[] = {
    open_hooked, create_without_waiting, control_without_waiting, tell_hook, run_to_end, tell_hook, send_again, follow,
    NULL
};

/* ---- What others finish ----------------------------------------------------------------------------------------------- */

static pawl_status open_shop(struct play *play)
{
    const struct pawl_workflow workflow = { .name = "shop", .run = shop };
    const struct pawl_workflow alone = { .name = "quote", .run = quote, .mode = PAWL_MODE_INLINE };
    const struct pawl_function function = { .name = "charge", .run = charge, .concurrency = 1 };
    const struct pawl_middleware middleware = { .around_run = around_run, .around_step = around_step };
    PAWL_TRY(open_world(play));
    pawl_engine *engine = pawl_world_engine(play->world);
    PAWL_TRY(pawl_register(engine, &workflow, &play->error));
    PAWL_TRY(pawl_register(engine, &alone, &play->error));
    PAWL_TRY(pawl_register_function(engine, &function, &play->error));
    PAWL_TRY(pawl_use(engine, &middleware, &play->error));
    return pawl_limit_function(engine, "pack", 1, &play->error);
}

static pawl_status create_shop(struct play *play)
{
    return create(play, "shop", "s");
}

/* One that was claimed and could not be given out comes again when its lease is over. */
static pawl_status claim_pack(struct play *play, const struct pawl_job **out_job)
{
    static const char *const functions[] = { "pack", "other" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    pawl_engine *engine = pawl_world_engine(play->world);
    size_t count = 0;
    options.functions = functions;
    options.function_count = 2;
    for (int tries = 0; tries < 2 && count == 0; tries++) {
        pawl_status status = PAWL_FAILED;
        if (tries > 0)
            PAWL_TRY(pawl_world_advance(play->world, "31 seconds", &play->error));
        pawl_job_claim_async(engine, pawl_world_scope(play->world), &options, out_job, &count, &play->error,
                             note_answer, &status);
        PAWL_TRY(status);
    }
    play->error = (struct pawl_error){ PAWL_FAILED, "there is no job" };
    return count > 0 ? PAWL_OK : PAWL_FAILED;
}

static pawl_status pack(struct play *play)
{
    static const struct pawl_outcome outcome = { .result_json = "{\"packed\": true}" };
    pawl_engine *engine = pawl_world_engine(play->world);
    const struct pawl_job *job = NULL;
    pawl_status status = PAWL_FAILED;
    PAWL_TRY(claim_pack(play, &job));
    PAWL_TRY(pawl_job_heartbeat(engine, job->token, 0, NULL, &play->error));
    pawl_job_settle_async(engine, job->token, &outcome, /* out_is_paused= */ NULL, &play->error, note_answer, &status);
    return status;
}

static pawl_status read_token(struct play *play, const char **out_token)
{
    struct pawl_history history;
    pawl_value *token;
    PAWL_TRY(pawl_world_history(play->world, "shop", "s", 0, &history, &play->error));
    for (size_t i = 0; i < history.step_count; i++) {
        const char *text = history.steps[i].result_json;
        if (strcmp(history.steps[i].name, "publish") != 0)
            continue;
        PAWL_TRY(pawl_value_parse(pawl_world_scope(play->world), text, strlen(text), &token, &play->error));
        *out_token = pawl_value_string(token, NULL, NULL);
        play->error = (struct pawl_error){ PAWL_NOMEM, "a value could not be read" };
        return *out_token != NULL ? PAWL_OK : PAWL_NOMEM;
    }
    play->error = (struct pawl_error){ PAWL_FAILED, "there is no token" };
    return PAWL_FAILED;
}

static pawl_status approve(struct play *play)
{
    static const struct pawl_outcome outcome = { .result_json = "[\"approved\"]" };
    const char *token;
    pawl_status status = PAWL_FAILED;
    PAWL_TRY(read_token(play, &token));
    pawl_deferred_settle_async(pawl_world_engine(play->world), token, &outcome, /* out_is_paused= */ NULL, &play->error,
                               note_answer, &status);
    PAWL_TRY(status);
    return pawl_deferred_succeed(pawl_world_engine(play->world), token, outcome.result_json, &play->error);
}

static pawl_status list_leaves(struct play *play)
{
    struct pawl_instance_page page;
    PAWL_TRY(pawl_list_children(pawl_world_engine(play->world), pawl_world_scope(play->world), "shop", "s", NULL, &page,
                                &play->error));
    play->end[0] = '\0';
    snprintf(play->end, END_SIZE, "%zu children, of \"%s\"\n", page.count,
             page.count > 0 ? page.instances[0].parent->id : "");
    return look_at(play, "shop", "s");
}

static pawl_status again_from_publish(struct play *play)
{
    pawl_status status = PAWL_FAILED;
    pawl_restart_from_async(pawl_world_engine(play->world), "shop", "s", "publish", &play->error, note_answer, &status);
    return status;
}

static pawl_status interrupt_shop(struct play *play)
{
    return pawl_interrupt(pawl_world_engine(play->world), "shop", "s", &play->error);
}

static pawl_status retry_failing(struct play *play)
{
    return pawl_retry(pawl_world_engine(play->world), "failing", "f", &play->error);
}

static pawl_status execute_leaf(struct play *play)
{
    struct pawl_execute_options options = PAWL_EXECUTE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.key = "once";
    options.discard = true;
    PAWL_TRY(pawl_execute(pawl_world_engine(play->world), pawl_world_scope(play->world), "leaf", &options, &instance,
                          &play->error));
    return pawl_poll(pawl_world_engine(play->world), pawl_world_scope(play->world), "leaf", "once", &instance,
                     &play->error);
}

static pawl_status execute_quote(struct play *play)
{
    struct pawl_execute_options options = PAWL_EXECUTE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.params_json = "{\"sku\": \"teapot\"}";
    PAWL_TRY(pawl_execute(pawl_world_engine(play->world), pawl_world_scope(play->world), "quote", &options, &instance,
                          &play->error));
    assert_int_equal(instance.status, PAWL_COMPLETE);
    assert_string_equal(instance.output_json, "{\"charged\":{\"sku\":\"teapot\"}}");
    return PAWL_OK;
}

static pawl_status look_at_both(struct play *play)
{
    size_t before = strlen(play->end);
    pawl_status status = look_at(play, "shop", "s");
    if (status == PAWL_OK)
        status = look_at(play, "failing", "f");
    if (status != PAWL_OK)
        play->end[before] = '\0';
    return status;
}

static act_fn *const other_acts[] = {
    open_shop, create_shop,    create_failing, run_hours,    pack,          run_hours,
    approve,   run_to_end,     list_leaves,    execute_leaf, execute_quote, again_from_publish,
    run_hours, interrupt_shop, retry_failing,  run_to_end,   look_at_both,  NULL
};

/* ---- Sweeps ----------------------------------------------------------------------------------------------------------- */

/* The play that holds the fault is carried on by the engine, and so may differ from the others by a commit or a call.
 * What is found is therefore no part of the end, nor is the outcome where it depends on the calls. */
static pawl_status sweep(struct play *play, pawl_workflow_fn *run, const struct pawl_sweep_event *event,
                         bool has_findings)
{
    struct sweeping *sweeping;
    struct pawl_sweep_report report;
    void *state;
    if (sweeping_setting.set_up(&state) != 0) {
        play->error = (struct pawl_error){ PAWL_NOMEM, "no scope" };
        return PAWL_NOMEM;
    }
    sweeping = state;
    sweeping->count_resets = true;
    sweeping->options.events = event;
    sweeping->options.event_count = event != NULL ? 1 : 0;
    sweeping->options.findings_max = 1; /* then it is over: that keeps it short */
    sweeping_add(sweeping, "w", run);
    pawl_status status = pawl_sweep(sweeping->scope, &sweeping->options, &report, &play->error);
    if (status == PAWL_OK)
        snprintf(play->end, END_SIZE, "%s", has_findings ? "swept" : report.outcome);
    sweeping_setting.tear_down(&state);
    return status;
}

WORKFLOW(at_once)
{
    return pawl_return(run, out_result, "[i]", 1);
}

/* Its event comes too late, as it may in life; few commits keep it short. */
static pawl_status sweep_sound(struct play *play)
{
    static const struct pawl_sweep_event event = { "go", "[1]", "1 minute" };
    return sweep(play, at_once, &event, false);
}

static pawl_status sweep_unsound(struct play *play)
{
    return sweep(play, sweeping_steps_by_calls, NULL, true);
}

WORKFLOW(same_name)
{
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_sleep(run, "nap", "1 hour");
}

WORKFLOW(no_duration)
{
    return pawl_sleep(run, "nap", "soon");
}

static pawl_status sweep_same_name(struct play *play)
{
    return sweep(play, same_name, NULL, true);
}

static pawl_status sweep_misuse(struct play *play)
{
    return sweep(play, no_duration, NULL, true);
}

static act_fn *const sweep_acts[] = { sweep_sound, NULL };
static act_fn *const findings_acts[] = { sweep_unsound, sweep_same_name, sweep_misuse, NULL };

/* ---- The loop ----------------------------------------------------------------------------------------------------------- */

static void act_under_fault(struct play *play, act_fn *act, int64_t nth, size_t position)
{
    play->error = (struct pawl_error){ PAWL_OK, "" };
    pawl_status status = act(play);
    if (status == PAWL_OK)
        return;
    if (status != PAWL_NOMEM || play->error.status != PAWL_NOMEM || play->error.text[0] == '\0')
        fail_msg("allocation %lld, act %zu: %s: %s", (long long)nth, position, pawl_status_name(status),
                 play->error.text);
    status = act(play);
    if (status != PAWL_OK)
        fail_msg("allocation %lld, act %zu does not go on: %s: %s", (long long)nth, position, pawl_status_name(status),
                 play->error.text);
}

/* Returns how often the fault struck. */
static int64_t trial(act_fn *const *acts, int64_t nth, char out_end[END_SIZE])
{
    struct play play = { .world = NULL };
    fault_arm(FAULT_ALLOC, nth, false);
    for (size_t i = 0; acts[i] != NULL; i++)
        act_under_fault(&play, acts[i], nth, i);
    memcpy(out_end, play.end, END_SIZE);
    pawl_world_close(play.world);
    return fault_disarm();
}

static void survive(act_fn *const *acts)
{
    char expected[END_SIZE], end[END_SIZE];
    (void)trial(acts, FAULT_NEVER, expected);
    assert_string_not_equal(expected, "");
    int64_t calls = fault_calls(FAULT_ALLOC), step = fault_stride(calls / TRIALS_PER_LOOP + 1), trials = 0;
    for (int64_t nth = 1; trial(acts, nth, end) > 0; nth += step, trials++) {
        if (strcmp(end, expected) != 0)
            fail_msg("allocation %lld: the end is\n%s\ninstead of\n%s", (long long)nth, end, expected);
    }
    print_message("%lld allocations, %lld trials\n", (long long)calls, (long long)trials);
    /* A play takes a few more or fewer than another: tables grow as names come to lie. */
    assert_true(trials * step >= calls - calls / 100);
}

TEST(a_world_goes_on_after_memory_ran_out_at_any_allocation)
{
    survive(world_acts);
}

TEST(hooks_and_followers_go_on_after_memory_ran_out_at_any_allocation)
{
    survive(hook_acts);
}

TEST(what_others_finish_goes_on_after_memory_ran_out_at_any_allocation)
{
    survive(other_acts);
}

TEST(a_sweep_ends_or_says_that_memory_ran_out)
{
    survive(sweep_acts);
}

TEST(a_sweep_with_findings_ends_or_says_that_memory_ran_out)
{
    survive(findings_acts);
}
