/* fuzz_store.c - see fuzz_store.h. */
#include "fuzz_store.h"

#include "base/limits.h"
#include "engine/engine.h"
#include "store/sqlite/sqlite.h"

/* ---- The workflow --------------------------------------------------------------------------------------------- */

static pawl_status body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, NULL, input, "attempt %lld", (long long)pawl_step_attempt(step)));
    return pawl_result(step, out_result, "{s:V, s:i}", "input", input, "n", 1);
}

static pawl_status failing_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_fail(step, "Broken", "attempt %lld", (long long)pawl_step_attempt(step));
}

static pawl_status do_d(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    return pawl_do(run, "d", NULL, body, input, out_result);
}

static pawl_status sleep_e(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_sleep(run, "e", "1 minute");
}

static pawl_status wait_g(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    struct pawl_event event;
    (void)input;
    PAWL_TRY(pawl_wait_for_event(run, "g", "stop", "1 hour", &event));
    return pawl_return(run, out_result, "V", event.payload);
}

static pawl_status sleep_h(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    PAWL_TRY(pawl_sleep(run, "h", "30 minutes"));
    return pawl_return(run, out_result, "s", "slept");
}

static pawl_status flow(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options twice = { .retries = 2, .delay = "1 minute", .timeout = "1 minute" };
    struct pawl_branch both[] = { { .run = do_d, .input = params }, { .run = sleep_e } };
    struct pawl_branch race[] = { { .run = wait_g }, { .run = sleep_h } };
    struct pawl_event event = { NULL, NULL, 0 };
    pawl_value *first = NULL;
    size_t winner = 0;
    PAWL_TRY(pawl_log(run, PAWL_LOG_DEBUG, NULL, params, "begins"));
    PAWL_TRY(pawl_do(run, "a", NULL, body, params, &first));
    PAWL_TRY(pawl_sleep(run, "b", "1 hour"));
    pawl_status status = pawl_wait_for_event(run, "c", "go", "1 day", &event);
    if (status != PAWL_OK && status != PAWL_WAIT_FOR_EVENT_TIMEOUT)
        return status;
    PAWL_TRY(pawl_all(run, "all", both, 2, 0));
    PAWL_TRY(pawl_first(run, "f", race, 2, &winner));
    assert(winner < 2);
    status = pawl_do(run, "i", &twice, failing_body, NULL, NULL);
    if (status != PAWL_FAILED)
        return status;
    return pawl_return(run, out_result, "{s:V, s:V, s:V, s:s}", "a", first, "c", event.payload, "f",
                       race[winner].result, "i", pawl_run_failure(run).message);
}

/* ---- A workflow that waits for others ---------------------------------------------------------------------------- */

static pawl_status answer_t(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    const char *token = NULL;
    (void)input;
    PAWL_TRY(pawl_deferred_token(run, "t", &token));
    assert(token != NULL);
    return pawl_await_deferred(run, "t", "1 hour", out_result);
}

static pawl_status call_u(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    return pawl_call(run, "u", "away", NULL, input, out_result);
}

static pawl_status call_v(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    PAWL_TRY(pawl_sleep(run, "pause", "1 minute"));
    return pawl_call(run, "v", "here", NULL, input, out_result);
}

static pawl_status bear_k(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    const struct pawl_child_options options = { .id = "kid" };
    return pawl_run_child(run, "k", "w", &options, input, out_result);
}

static pawl_status linked(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_compensation undo = { .undo = body };
    static const struct pawl_step_options undone = { .compensate = &undo };
    struct pawl_branch all[] = { { .run = answer_t }, { .run = call_u }, { .run = call_v }, { .run = bear_k } };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        all[i].input = params;
    PAWL_TRY(pawl_do(run, "s", &undone, body, params, NULL));
    PAWL_TRY(pawl_all(run, "all", all, sizeof all / sizeof all[0], 0));
    return pawl_return(run, out_result, "V", all[0].result);
}

/* ---- Opening -------------------------------------------------------------------------------------------------- */

static int64_t clock_now_ms(void *user)
{
    return *(const int64_t *)user;
}

/* The same ids in every process, and none twice, however many there are: SplitMix64 of a count. */
static void fill_with_count(void *user, void *bytes, size_t size)
{
    static uint64_t count;
    unsigned char *at = bytes;
    (void)user;
    while (size-- > 0) {
        uint64_t mixed = ++count * UINT64_C(0x9E3779B97F4A7C15);
        mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
        *at++ = (unsigned char)(mixed >> 56);
    }
}

pawl_status fuzz_store_open(struct fuzz_store *store, const char *url)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    const struct pawl_workflow workflow = { .name = "w", .run = flow };
    const struct pawl_workflow others = { .name = "linked", .run = linked };
    const struct pawl_function function = { .name = "here", .run = body };
    *store = (struct fuzz_store){ .now_ms = FUZZ_START_MS };
    options.store_url = url;
    options.clock = (struct pawl_clock){ .now_ms = clock_now_ms, .user = &store->now_ms };
    options.random = (struct pawl_random){ fill_with_count, NULL };
    pawl_status status = pawl_open(&options, &store->engine, NULL);
    if (status != PAWL_OK)
        return status;
    store->db = ((struct pw_sqlite *)store->engine->store)->writer.db;
    status = pawl_register(store->engine, &workflow, NULL);
    if (status == PAWL_OK)
        status = pawl_register(store->engine, &others, NULL);
    if (status == PAWL_OK)
        status = pawl_register_function(store->engine, &function, NULL);
    assert(status == PAWL_OK);
    return PAWL_OK;
}

void fuzz_store_close(struct fuzz_store *store)
{
    pawl_close(store->engine);
    *store = (struct fuzz_store){ 0 };
}

/* ---- A life before the damage --------------------------------------------------------------------------------- */

static void create_of(struct fuzz_store *store, const char *workflow, const char *id)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new();
    options.id = id;
    options.params_json = "{\"sku\": \"teapot\"}";
    assert(scope != NULL);
    pawl_status status = pawl_create(store->engine, scope, workflow, &options, &instance, NULL);
    assert(status == PAWL_OK);
    pawl_scope_free(scope);
}

static void create(struct fuzz_store *store, const char *id)
{
    create_of(store, "w", id);
}

static pawl_status send(struct fuzz_store *store, const char *id, const char *type)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = type;
    options.payload_json = "[1]";
    return pawl_send_event(store->engine, NULL, "w", id, &options, NULL, NULL);
}

/* Carries what is due, after moving the clock. */
static void pass_ms(struct fuzz_store *store, int64_t ms)
{
    pawl_runner *runner = NULL;
    store->now_ms += ms;
    pawl_status status = pawl_runner_open(store->engine, NULL, &runner, NULL);
    if (status == PAWL_OK)
        status = pawl_runner_tick(runner, 0, 0, NULL, NULL);
    assert(status == PAWL_OK);
    pawl_runner_close(runner);
}

void fuzz_store_populate(struct fuzz_store *store)
{
    const int64_t hour_ms = INT64_C(3600000);
    pawl_status status = PAWL_OK;
    create(store, "complete");
    pass_ms(store, 0);
    status = send(store, "complete", "go");
    assert(status == PAWL_OK);
    for (int hours = 0; hours < 4; hours++)
        pass_ms(store, hour_ms);
    create(store, "racing");
    pass_ms(store, 0);
    status = send(store, "racing", "go");
    assert(status == PAWL_OK);
    pass_ms(store, hour_ms);
    pass_ms(store, hour_ms / 60);
    create(store, "paused");
    create(store, "waiting");
    pass_ms(store, 0);
    status = pawl_pause(store->engine, "w", "paused", NULL);
    assert(status == PAWL_OK);
    status = send(store, "waiting", "stop");
    assert(status == PAWL_OK);
    create(store, "asleep");
    pass_ms(store, 0);
    create(store, "new");
}

void fuzz_store_populate_linked(struct fuzz_store *store)
{
    create_of(store, "linked", "linked");
    pass_ms(store, 0);
}

/* Row by row into a schema of its own: the statements that the engine has prepared stay good. */
static void copy_rows(struct fuzz_store *store, const char *sql)
{
    static const char *const tables[] = { "workflow_instance", "workflow_task", "workflow_step", "workflow_event",
                                          "workflow_log",      "workflow_run",  "workflow_hook", "sqlite_sequence" };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char *text = sqlite3_mprintf(sql, tables[i], tables[i], tables[i]);
        int code = sqlite3_exec(store->db, text, NULL, NULL, NULL);
        assert(code == SQLITE_OK);
        sqlite3_free(text);
    }
}

void fuzz_store_save(struct fuzz_store *store)
{
    int code = sqlite3_exec(store->db, "ATTACH ':memory:' AS saved", NULL, NULL, NULL);
    assert(code == SQLITE_OK);
    copy_rows(store, "CREATE TABLE saved.'kept_%q' AS SELECT * FROM main.%Q");
    store->saved_ms = store->now_ms;
}

void fuzz_store_restore(struct fuzz_store *store)
{
    copy_rows(store, "DELETE FROM main.%Q; INSERT INTO main.%Q SELECT * FROM saved.'kept_%q'");
    store->now_ms = store->saved_ms;
}

/* ---- Asking everything ---------------------------------------------------------------------------------------- */

static void read_history(struct fuzz_store *store, pawl_scope *scope, const char *id, enum pawl_order order)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    options.order = order;
    options.page_size = 6;
    options.include_logs = true;
    for (int pages = 0; pages < 16; pages++) {
        struct pawl_history history;
        pawl_status status = pawl_get_history(store->engine, scope, "w", id, &options, &history, NULL);
        if (status != PAWL_OK)
            return;
        for (size_t i = 0; i < history.step_count; i++) {
            assert(history.steps[i].name != NULL);
            assert(pawl_step_kind_name(history.steps[i].kind) != NULL);
            assert(pawl_step_status_name(history.steps[i].status) != NULL);
        }
        for (size_t i = 0; i < history.log_count; i++)
            assert(pawl_log_level_name(history.logs[i].level) != NULL);
        if (history.steps_cursor == NULL && history.events_cursor == NULL && history.logs_cursor == NULL)
            return;
        options.steps_cursor = history.steps_cursor;
        options.events_cursor = history.events_cursor;
        options.logs_cursor = history.logs_cursor;
    }
}

static void read_instance(struct fuzz_store *store, pawl_scope *scope, const char *id)
{
    struct pawl_instance instance;
    (void)!pawl_get(store->engine, scope, "w", id, &instance, NULL);
    read_history(store, scope, id, PAWL_OLDEST_FIRST);
    read_history(store, scope, id, PAWL_NEWEST_FIRST);
}

static void read_pages(struct fuzz_store *store, struct pawl_list_options options, bool whole)
{
    struct pawl_instance_page page = { NULL, 0, NULL };
    pawl_scope *scope = pawl_scope_new();
    assert(scope != NULL);
    options.page_size = 2;
    for (int pages = 0; pages < 8; pages++) {
        pawl_status status = pawl_list(store->engine, scope, "w", &options, &page, NULL);
        if (status != PAWL_OK)
            break;
        for (size_t i = 0; i < page.count; i++) {
            assert(page.instances[i].id != NULL && pawl_phase_name(page.instances[i].phase) != NULL);
            if (whole)
                read_instance(store, scope, page.instances[i].id);
        }
        options.cursor = page.cursor;
        if (page.cursor == NULL)
            break;
    }
    pawl_scope_free(scope);
}

void fuzz_store_read_all(struct fuzz_store *store)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    read_pages(store, options, /* whole= */ true);
    options.has_status = true;
    for (int status = PAWL_ACTIVE; status <= PAWL_ERRORED; status++) {
        options.status = (enum pawl_instance_status)status;
        options.order = PAWL_NEWEST_FIRST;
        read_pages(store, options, /* whole= */ false);
        options.order = PAWL_OLDEST_FIRST;
        read_pages(store, options, /* whole= */ false);
    }
}

void fuzz_store_read_linked(struct fuzz_store *store)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page = { NULL, 0, NULL };
    struct pawl_history_options all = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history = { 0 };
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new();
    assert(scope != NULL);
    pawl_status status = pawl_list_children(store->engine, scope, "linked", "linked", &options, &page, NULL);
    for (size_t i = 0; status == PAWL_OK && i < page.count; i++)
        assert(page.instances[i].id != NULL && page.instances[i].parent != NULL);
    (void)!pawl_get(store->engine, scope, "linked", "linked", &instance, NULL);
    status = pawl_get_history(store->engine, scope, "linked", "linked", &all, &history, NULL);
    for (size_t i = 0; status == PAWL_OK && i < history.step_count; i++)
        assert(history.steps[i].name != NULL && pawl_step_kind_name(history.steps[i].kind) != NULL);
    pawl_scope_free(scope);
}

/* ---- Acting on it --------------------------------------------------------------------------------------------- */

static void work(struct fuzz_store *store, bool fails)
{
    static const char *const functions[] = { "away" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs = NULL;
    size_t count = 0;
    pawl_scope *scope = pawl_scope_new();
    assert(scope != NULL);
    options.functions = functions;
    options.function_count = 1;
    pawl_status status = pawl_job_claim(store->engine, scope, &options, &jobs, &count, NULL);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        (void)!pawl_job_heartbeat(store->engine, jobs[i].token, 0, NULL, NULL);
        if (fails)
            (void)!pawl_job_fail(store->engine, jobs[i].token, "No", NULL, true, NULL);
        else
            (void)!pawl_job_complete(store->engine, jobs[i].token, "[2]", NULL);
    }
    pawl_scope_free(scope);
}

static void control_one(struct fuzz_store *store, const char *workflow, const char *id, size_t which)
{
    pawl_status (*const controls[])(pawl_engine *, const char *, const char *, struct pawl_error *) = {
        [2] = pawl_pause,     [3] = pawl_resume,    [4] = pawl_restart,
        [5] = pawl_terminate, [6] = pawl_interrupt, [7] = pawl_terminate_with_rollback,
        [8] = pawl_retry
    };
    if (which < 2)
        (void)!send(store, id, which == 0 ? "go" : "stop");
    else if (which <= 8)
        (void)!controls[which](store->engine, workflow, id, NULL);
    else if (which == 9)
        (void)!pawl_restart_from(store->engine, workflow, id, strcmp(workflow, "w") == 0 ? "b" : "u", NULL);
    else
        work(store, which == 11);
}

void fuzz_store_control(struct fuzz_store *store, size_t which)
{
    static const char *const ids[] = { "new", "asleep", "waiting", "racing", "paused", "complete", "kid" };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        control_one(store, "w", ids[i], which);
    control_one(store, "linked", "linked", which);
}

bool fuzz_store_run(struct fuzz_store *store, int rounds)
{
    pawl_runner *runner = NULL;
    bool settled = false;
    pawl_status status = pawl_runner_open(store->engine, NULL, &runner, NULL);
    if (status != PAWL_OK)
        return true; /* an answer, too */
    for (int round = 0; round < rounds && !settled; round++) {
        int64_t next_ms = INT64_MAX;
        status = pawl_runner_tick(runner, 8, 0, NULL, NULL);
        if (status == PAWL_OK)
            status = pawl_runner_next_wake_at(runner, &next_ms, NULL);
        settled = status == PAWL_STORE_CORRUPT || (status == PAWL_OK && next_ms > PW_TIME_MS_MAX);
        if (next_ms > store->now_ms && !settled && status == PAWL_OK)
            store->now_ms = next_ms;
        else
            store->now_ms += 1000;
    }
    pawl_runner_close(runner);
    return settled;
}

struct fuzz_store *fuzz_store_shared(void)
{
    static struct fuzz_store store;
    if (store.engine == NULL) {
        pawl_status status = fuzz_store_open(&store, "sqlite::memory:");
        assert(status == PAWL_OK);
        fuzz_store_populate(&store);
    }
    return &store;
}
