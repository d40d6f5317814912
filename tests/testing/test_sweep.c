/* test_sweep.c - crash sweeps (contract H3): good workflows pass, and wrong use is refused. */
#include "kit/sweeping.h"

#include <sqlite3.h>

/* ---- Good workflows -------------------------------------------------------------------------------------------------------- */

/* When it was done belongs to its result. */
BODY(stamp)
{
    return pawl_result(step, out_result, "I", (long long)pawl_now_ms(pawl_step_engine(step)));
}

BODY(third_time_lucky)
{
    if (pawl_step_attempt(step) < 3)
        return pawl_fail(step, "NotYet", "attempt %d", (int)pawl_step_attempt(step));
    return pawl_result(step, out_result, "i", (int)pawl_step_attempt(step));
}

BODY(refuse)
{
    return pawl_fail_for_good(step, "Refused", "never");
}

WORKFLOW(order)
{
    pawl_value *first, *lucky, *at;
    struct pawl_event event;
    PAWL_TRY(pawl_do(run, "reserve", NULL, sweeping_plain, params, &first));
    PAWL_TRY(pawl_sleep(run, "cool down", "10 minutes"));
    PAWL_TRY(pawl_do(run, "try", NULL, third_time_lucky, NULL, &lucky));
    if (pawl_do(run, "refused", NULL, refuse, NULL, NULL) == PAWL_SUSPENDED)
        return PAWL_SUSPENDED;
    PAWL_TRY(pawl_wait_for_event(run, "await", "go", "1 day", &event));
    if (pawl_wait_for_event(run, "await in vain", "nothing", "1 minute", NULL) == PAWL_SUSPENDED)
        return PAWL_SUSPENDED;
    PAWL_TRY(pawl_do(run, "stamp", NULL, stamp, NULL, &at));
    return pawl_return(run, out_result, "[V, V, V, V]", first, lucky, event.payload, at);
}

static pawl_status make_branches(pawl_run *run, struct pawl_branch *branches, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pawl_value *name;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &name, "s", names[i]));
        branches[i] = (struct pawl_branch){ .run = sweeping_branch, .input = name };
    }
    return PAWL_OK;
}

/* All of some, one at a time of others, and two races, of which the second sweeping_branch wins one. */
WORKFLOW(forked)
{
    static const char *const names[] = { "a1", "b1", "a2", "b2", "a3", "b3", "b4", "a4" };
    struct pawl_branch branches[8];
    size_t left, right;
    PAWL_TRY(make_branches(run, branches, names, 8));
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    PAWL_TRY(pawl_all(run, "all", branches + 2, 2, 1));
    PAWL_TRY(pawl_first(run, "race", branches + 4, 2, &left));
    PAWL_TRY(pawl_first(run, "other race", branches + 6, 2, &right));
    PAWL_TRY(pawl_do(run, "last", NULL, sweeping_plain, params, NULL));
    return pawl_return(run, out_result, "[i, i]", (int)left, (int)right);
}

BODY(pay)
{
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid VALUES ($1)", "[s]", "once"));
    return sweeping_plain(step, input, out_result);
}

WORKFLOW(paying)
{
    PAWL_TRY(pawl_do(run, "pay", NULL, pay, params, NULL));
    return pawl_do(run, "thank", NULL, sweeping_plain, params, out_result);
}

BODY(beget)
{
    return pawl_step_create(step, "child", NULL, input);
}

WORKFLOW(parent)
{
    struct pawl_event event;
    PAWL_TRY(pawl_do(run, "beget", NULL, beget, params, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "await child", "grown", NULL, &event));
    *out_result = event.payload;
    return PAWL_OK;
}

BODY(call_home)
{
    return pawl_step_send_event(step, "parent", "sweep", "grown", input);
}

WORKFLOW(child)
{
    PAWL_TRY(pawl_sleep(run, "grow", "18 hours"));
    return pawl_do(run, "call home", NULL, call_home, params, NULL);
}

static void assert_sound(const struct sweeping *sweeping)
{
    if (sweeping->report.finding_count > 0)
        print_error("%s", sweeping->report.text);
    assert_int_equal(sweeping->report.finding_count, 0);
    assert_true(sweeping->report.commit_count > 3);
    assert_int_equal(sweeping->report.crashes, 2 * (int64_t)sweeping->report.commit_count);
    assert_non_null(strstr(sweeping->report.text, ": ok\n"));
}

/* ---- Good workflows pass --------------------------------------------------------------------------------------------------------- */

TEST_OF(sweeping, an_order_with_retries_waits_and_failures_stands_every_crash)
{
    static const struct pawl_sweep_event events[] = { { "go", "\"early\"", NULL }, { "go", "\"late\"", "1 hour" } };
    sweeping->options.params_json = "{\"sku\": \"teapot\"}";
    sweeping->options.events = events;
    sweeping->options.event_count = 2;

    sweeping_sweep_workflow(sweeping, order);

    assert_sound(sweeping);
    assert_string_equal(sweeping->report.commits[0], "create \"w\"");
    assert_string_equal(sweeping->report.commits[1], "event \"go\"");
    assert_string_equal(sweeping->report.commits[sweeping->report.commit_count - 1], "finish");
    assert_non_null(strstr(sweeping->report.outcome, "complete with [{\"sku\":\"teapot\"},3,\"early\",17672"));
    /* The undisturbed one and the two replayed ones besides. */
    assert_int_equal(sweeping->setups, sweeping->report.crashes + 3);
}

TEST_OF(sweeping, parallel_branches_and_races_stand_every_crash)
{
    sweeping_sweep_workflow(sweeping, forked);

    assert_sound(sweeping);
    assert_string_equal(sweeping->report.outcome, "complete with [0,1]");
}

static pawl_status count_rows(void *connection, const void *data, size_t size)
{
    sqlite3_stmt *statement = NULL;
    int count = -1;
    (void)size;
    if (sqlite3_prepare_v2(connection, "SELECT count(*) FROM paid", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return count == *(const int *)data ? PAWL_OK : PAWL_FAILED;
}

static pawl_status paid_once(pawl_world *world, void *user, struct pawl_error *error)
{
    struct sweeping *sweeping = user;
    const int one = 1;
    sweeping->checks++;
    return pawl_world_mutate(world, count_rows, &one, sizeof one, error);
}

TEST_OF(sweeping, a_registered_change_is_made_once_in_every_case)
{
    sweeping->options.check = paid_once;

    sweeping_sweep_workflow(sweeping, paying);

    assert_sound(sweeping);
    assert_int_equal(sweeping->checks, sweeping->setups - 1); /* a day later only the path is asked for */
}

TEST_OF(sweeping, a_parent_and_its_child_stand_every_crash)
{
    sweeping->options.params_json = "42";
    sweeping_add(sweeping, "parent", parent);
    sweeping_add(sweeping, "child", child);

    sweeping_sweep(sweeping);

    assert_sound(sweeping);
    assert_string_equal(sweeping->report.outcome, "complete with 42");
}

TEST_OF(sweeping, a_run_that_fails_must_fail_the_same_way)
{
    sweeping->options.params_json = "42";
    sweeping_add(sweeping, "child", child);
    sweeping_add(sweeping, "parent", parent); /* of which there is none to be told */

    sweeping_sweep(sweeping);

    assert_sound(sweeping);
    assert_non_null(strstr(sweeping->report.outcome, "errored with INSTANCE_NOT_FOUND"));
}

static pawl_status with_mock(pawl_world *world, void *user, struct pawl_error *error)
{
    (void)user;
    return pawl_world_mock_result(world, "w", "call", 0, "\"mocked\"", error);
}

TEST_OF(sweeping, mocks_hold_in_every_case)
{
    sweeping->options.setup = with_mock;

    sweeping_sweep_workflow(sweeping, sweeping_result_by_calls);

    assert_sound(sweeping);
    assert_string_equal(sweeping->report.outcome, "complete with \"mocked\"");
}

TEST_OF(sweeping, a_module_is_swept_as_it_is)
{
    const struct pawl_workflow workflow = { .name = "w", .run = sweeping_leaf };
    const struct pawl_module module = { PAWL_MODULE_VERSION, sizeof workflow, 1, &workflow, NULL };
    sweeping->options.module = &module;
    sweeping->options.workflow = "w";

    sweeping_sweep(sweeping);

    assert_sound(sweeping);
}

/* Before its outcome was durable nothing depended on it: after a crash it may be another, and the path with it. */
TEST_OF(sweeping, another_path_after_an_outcome_was_lost_is_no_mistake)
{
    sweeping->options.outcome_may_vary = true;

    sweeping_sweep_workflow(sweeping, sweeping_steps_by_calls);

    assert_sound(sweeping);
}

/* ---- Wrong use -------------------------------------------------------------------------------------------------------------------------- */

static void refused(struct sweeping *sweeping, pawl_status wanted, const char *text)
{
    memset(&sweeping->error, 0, sizeof sweeping->error);
    assert_int_equal(pawl_sweep(sweeping->scope, &sweeping->options, &sweeping->report, &sweeping->error), wanted);
    if (strstr(sweeping->error.text, text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, sweeping->error.text);
    assert_null(sweeping->report.text); /* untouched */
}

TEST_OF(sweeping, a_sweep_that_cannot_be_made_is_refused)
{
    static const struct pawl_sweep_event backwards[] = { { "a", NULL, "2 s" }, { "b", NULL, "1 s" } };
    static const struct pawl_sweep_event odd = { "a", NULL, "soon" }, bad_type = { "a b", NULL, NULL }, no_type = { 0 };
    struct pawl_sweep_options *options = &sweeping->options;

    assert_int_equal(pawl_sweep(NULL, options, &sweeping->report, NULL), PAWL_INVALID);
    assert_int_equal(pawl_sweep(sweeping->scope, NULL, &sweeping->report, NULL), PAWL_INVALID);
    assert_int_equal(pawl_sweep(sweeping->scope, options, NULL, NULL), PAWL_INVALID);
    refused(sweeping, PAWL_INVALID, "name of the workflow");
    sweeping_add(sweeping, "w", sweeping_leaf);
    options->struct_size++;
    refused(sweeping, PAWL_INVALID, "PAWL_SWEEP_OPTIONS_INIT");
    options->struct_size--;
    options->turns_max = -1;
    refused(sweeping, PAWL_INVALID, "turns_max");
    options->turns_max = 0;
    options->workflow = "other";
    refused(sweeping, PAWL_WORKFLOW_NOT_FOUND, "other");
    options->workflow = "w";
    options->params_json = "{";
    refused(sweeping, PAWL_INVALID_JSON, "params");
    options->params_json = NULL;
    options->event_count = 2;
    refused(sweeping, PAWL_INVALID, "event_count is 2, but events is NULL");
    options->workflows = NULL;
    options->event_count = 0;
    refused(sweeping, PAWL_INVALID, "workflow_count is 1, but workflows is NULL");
    options->workflows = sweeping->workflows;
    options->events = backwards;
    options->event_count = 2;
    refused(sweeping, PAWL_INVALID, "event 2");
    options->events = &odd;
    options->event_count = 1;
    refused(sweeping, PAWL_INVALID_DURATION, "soon");
    options->events = &bad_type;
    refused(sweeping, PAWL_INVALID_EVENT_TYPE, "a b");
    options->events = &no_type;
    refused(sweeping, PAWL_INVALID_EVENT_TYPE, "");
}

static pawl_status refuse_world(pawl_world *world, void *user, struct pawl_error *error)
{
    (void)user;
    return pawl_world_sql(world, "CREATE NONSENSE", error);
}

TEST_OF(sweeping, what_the_setup_says_is_the_answer)
{
    sweeping->options.setup = refuse_world;
    sweeping_add(sweeping, "w", sweeping_leaf);

    refused(sweeping, PAWL_STEP_MUTATION_FAILED, "NONSENSE");
}

static void note_told(void *user, const char *where, const char *step)
{
    struct sweeping *sweeping = user;
    size_t size = strlen(sweeping->told);
    snprintf(sweeping->told + size, sizeof sweeping->told - size, "%s: %s, ", where, step != NULL ? step : "-");
}

TEST_OF(sweeping, who_wants_to_know_is_told_what_is_played)
{
    sweeping->options.tell = note_told;

    sweeping_sweep_workflow(sweeping, sweeping_leaf);

    static const char began[] = "undisturbed: -, undisturbed: -, undisturbed: grow, undisturbed: -, ";
    assert_memory_equal(sweeping->told, began, strlen(began));
    assert_non_null(strstr(sweeping->told, "replayed at every step: grow, replayed at every step: -, "));
    assert_non_null(strstr(sweeping->told, "crashed just before commit 3 (step \"grow\" completed): grow, "));
    assert_null(strstr(sweeping->told, "crashed just after commit 5"));
}

TEST_OF(sweeping, tables_need_a_world_and_something_to_do)
{
    struct pawl_world *world;
    assert_int_equal(pawl_world_open(NULL, &world, NULL), PAWL_OK);

    assert_int_equal(pawl_world_sql(NULL, "SELECT 1", NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_sql(world, NULL, NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_mutate(NULL, count_rows, NULL, 0, NULL), PAWL_INVALID);
    assert_int_equal(pawl_world_mutate(world, NULL, NULL, 0, NULL), PAWL_INVALID);
    pawl_world_close(world);
}
