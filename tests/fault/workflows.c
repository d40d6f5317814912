/* workflows.c - the workflows that scenarios run.  Every body tells the ledger first; retries do not end, because a fault
 * may fail any attempt, and a step must not use its attempts up on that. */
#include <stdio.h>

#include "scenarios.h"

static const struct pawl_step_options patient = { .retries = PAWL_RETRIES_UNLIMITED,
                                                  .delay = "20 s",
                                                  .backoff = PAWL_BACKOFF_CONSTANT };

/* The time of an attempt is longer than anything that happens here: what is over is over for another reason. */
static const struct pawl_step_options unhurried = {
    .retries = PAWL_RETRIES_UNLIMITED, .delay = "20 s", .backoff = PAWL_BACKOFF_CONSTANT, .timeout = "1 hour"
};

/* ---- Bodies ------------------------------------------------------------------------------------------------------- */

static struct ledger *begin(pawl_step *step, const pawl_value *input)
{
    struct ledger *ledger = pawl_step_user(step);
    ledger_begin_body(ledger, pawl_value_string(input, "id", "?"), pawl_value_int(input, "run", 0),
                      pawl_value_string(input, "step", "?"));
    return ledger;
}

static pawl_status plain_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)begin(step, input);
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, NULL, input, "in %s", pawl_value_string(input, "step", "?")));
    return pawl_result(step, out_result, "{s:s, s:i}", "of", pawl_value_string(input, "id", "?"), "n", 7);
}

/* Its input is another step's result, which is parsed only when somebody reads it: here. */
static pawl_status echoing_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_result(step, out_result, "i", (int)pawl_value_int(input, "n", -1));
}

static pawl_status flaky_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)begin(step, input);
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "Flaky", "the first time");
    return pawl_result(step, out_result, "s", "second");
}

static pawl_status insert(pawl_step *step, const pawl_value *input, bool on_failure)
{
    static const char sql[] = "INSERT INTO app (id, run, step) VALUES ($1, $2, $3)";
    const char *id = pawl_value_string(input, "id", "?"), *name = pawl_value_string(input, "step", "?");
    long long run = pawl_value_int(input, "run", 0);
    return on_failure ? pawl_step_sql_on_failure(step, sql, "[s, I, s]", id, run, name)
                      : pawl_step_sql(step, sql, "[s, I, s]", id, run, name);
}

static pawl_status inserting_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)begin(step, input);
    PAWL_TRY(insert(step, input, false));
    return pawl_result(step, out_result, "i", 1);
}

static pawl_status hopeless_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    (void)begin(step, input);
    PAWL_TRY(insert(step, input, true));
    return pawl_fail_for_good(step, "Hopeless", "it will never work");
}

static pawl_status insert_by_call(void *connection, const void *data, size_t size)
{
    char sql[128];
    (void)size;
    snprintf(sql, sizeof sql, "INSERT INTO app VALUES ('%s', 1, 'call')", (const char *)data);
    return store_connection_execute(store_asked_for(STORE_IN_FILE), connection, sql) ? PAWL_OK : PAWL_FAILED;
}

static pawl_status calling_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *id = pawl_value_string(input, "id", "?");
    (void)begin(step, input);
    PAWL_TRY(pawl_step_mutate(step, PAWL_WITH_SUCCESS, insert_by_call, id, strlen(id) + 1));
    return pawl_result(step, out_result, "i", 2);
}

static pawl_status bearing_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *id = pawl_scope_format(pawl_step_scope(step), "%s-child", pawl_value_string(input, "id", "?"));
    (void)begin(step, input);
    PAWL_TRY(pawl_step_create(step, "child", id, input));
    return pawl_result(step, out_result, "s", "born");
}

static pawl_status telling_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *id = pawl_scope_format(pawl_step_scope(step), "%s-child", pawl_value_string(input, "id", "?"));
    (void)begin(step, input);
    PAWL_TRY(pawl_step_send_event(step, "child", id, "word", input));
    return pawl_result(step, out_result, "s", "told");
}

/* ---- Workflows ------------------------------------------------------------------------------------------------------ */

static pawl_status pack_input(pawl_run *run, const char *step, pawl_value **out_input)
{
    return pawl_value_pack(pawl_run_scope(run), out_input, "{s:s, s:I, s:s}", "id", pawl_run_id(run), "run",
                           (long long)pawl_run_number(run), "step", step);
}

static pawl_status call(pawl_run *run, const char *name, pawl_step_fn *body, pawl_value **out_result)
{
    pawl_value *input;
    PAWL_TRY(pack_input(run, name, &input));
    return pawl_do(run, name, &patient, body, input, out_result);
}

static pawl_status plain(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *first = NULL, *second = NULL, *echo = NULL;
    PAWL_TRY(call(run, "one", plain_body, &first));
    PAWL_TRY(pawl_do(run, "echo", &patient, echoing_body, first, &echo));
    PAWL_TRY(pawl_sleep(run, "rest", "5 s"));
    PAWL_TRY(call(run, "two", inserting_body, &second));
    return pawl_return(run, out_result, "{s:V, s:V, s:V, s:V}", "first", first, "echo", echo, "second", second,
                       "params", params);
}

/* Everything that a step can register, one after the other. */
static pawl_status order(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_event event;
    pawl_value *flaky = NULL, *called = NULL;
    PAWL_TRY(call(run, "reserve", inserting_body, NULL));
    PAWL_TRY(call(run, "flaky", flaky_body, &flaky));
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, "progress", params, "reserved for %s", pawl_run_id(run)));
    PAWL_TRY(pawl_sleep(run, "rest", "5 s"));
    PAWL_TRY(pawl_wait_for_event(run, "payment", "paid", NULL, &event));
    PAWL_TRY(call(run, "call", calling_body, &called));
    PAWL_TRY(call(run, "bear", bearing_body, NULL));
    PAWL_TRY(call(run, "tell", telling_body, NULL));
    pawl_status status = call(run, "hopeless", hopeless_body, NULL);
    if (status != PAWL_FAILED)
        return status;
    const char *why = pawl_run_failure(run).name;
    return pawl_return(run, out_result, "{s:V, s:V, s:V, s:s}", "flaky", flaky, "called", called, "paid", event.payload,
                       "why", why);
}

static pawl_status child(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_event event;
    (void)params;
    PAWL_TRY(pawl_wait_for_event(run, "listen", "word", NULL, &event));
    PAWL_TRY(call(run, "answer", inserting_body, NULL));
    return pawl_return(run, out_result, "V", event.payload);
}

static pawl_status working_branch(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    const char *name = pawl_run_format(run, "work-%lld", (long long)pawl_value_int(input, NULL, -1));
    PAWL_TRY(call(run, name, inserting_body, NULL));
    PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "%s-rest", name), "3 s"));
    return pawl_return(run, out_result, "s", name);
}

static pawl_status slow_branch(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    PAWL_TRY(pawl_wait_for_event(run, "nothing", "nothing", "5 days", NULL));
    return pawl_return(run, out_result, "s", "slow");
}

static pawl_status quick_branch(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    PAWL_TRY(pawl_sleep(run, "quick-rest", "1 s"));
    PAWL_TRY(call(run, "quick", inserting_body, NULL));
    return pawl_return(run, out_result, "s", "quick");
}

static pawl_status fan(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *numbers;
    size_t winner = 9;
    (void)params;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &numbers, "[i, i, i]", 0, 1, 2));
    struct pawl_branch all[3];
    for (size_t i = 0; i < 3; i++)
        all[i] = (struct pawl_branch){ .run = working_branch, .input = pawl_value_item(numbers, i) };
    PAWL_TRY(pawl_all(run, "all", all, 3, 2));
    struct pawl_branch race[2] = { { .run = slow_branch }, { .run = quick_branch } };
    PAWL_TRY(pawl_first(run, "race", race, 2, &winner));
    return pawl_return(run, out_result, "{s:[V, V, V], s:V}", "all", all[0].result, all[1].result, all[2].result, "won",
                       winner < 2 ? race[winner].result : NULL);
}

/* ---- What others finish: bodies and functions -----------------------------------------------------------------------
 * Calls and their workers, children, deferreds, interruption, repair. */

static pawl_status insert_row(pawl_step *step, const pawl_value *input, const char *name)
{
    return pawl_step_sql(step, "INSERT INTO app (id, run, step) VALUES ($1, $2, $3)", "[s, I, s]",
                         pawl_value_string(input, "id", "?"), (long long)pawl_value_int(input, "run", 0), name);
}

static pawl_status row_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)begin(step, input);
    PAWL_TRY(insert_row(step, input, pawl_step_name(step)));
    return pawl_result(step, out_result, "s", pawl_step_name(step));
}

/* A function learns which call it carries out. */
static pawl_status charge(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)begin(step, input);
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "Flaky", "the first time");
    return pawl_result(step, out_result, "{s:V, s:s}", "of", input, "by", pawl_step_name(step));
}

static pawl_status refuse(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)begin(step, input);
    (void)out_result;
    return pawl_fail_for_good(step, "Refused", "it will never work");
}

/* A later act uses the tokens. */
static pawl_status tell_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct ledger *ledger = begin(step, input);
    snprintf(ledger->tokens[0], LEDGER_TOKEN, "%s", pawl_value_string(input, "early", ""));
    snprintf(ledger->tokens[1], LEDGER_TOKEN, "%s", pawl_value_string(input, "late", ""));
    return pawl_result(step, out_result, "s", "told");
}

static pawl_status fragile_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const struct ledger *ledger = begin(step, input);
    if (!ledger->is_mended)
        return pawl_fail_for_good(step, "Broken", "it must be mended first");
    PAWL_TRY(insert_row(step, input, pawl_step_name(step)));
    return pawl_result(step, out_result, "s", "mended");
}

/* The input is that of the step that is undone, and its result. */
static pawl_status undo_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct ledger *ledger = pawl_step_user(step);
    const pawl_value *done = pawl_value_at(input, "input");
    const char *id = pawl_value_string(done, "id", "?");
    ledger_begin_body(ledger, id, pawl_value_int(done, "run", 0), pawl_step_name(step));
    if (pawl_step_attempt(step) == 1 && strcmp(pawl_value_string(done, "step", "?"), "hotel") == 0)
        return pawl_fail(step, "Flaky", "the first time");
    PAWL_TRY(insert_row(step, done, pawl_step_name(step)));
    return pawl_result(step, out_result, "s", "undone");
}

/* ---- Workflows of what others finish --------------------------------------------------------------------------------- */

static pawl_status do_step(pawl_run *run, const char *name, const struct pawl_step_options *options, pawl_step_fn *body)
{
    pawl_value *input;
    PAWL_TRY(pack_input(run, name, &input));
    return pawl_do(run, name, options, body, input, NULL);
}

static pawl_status call_function(pawl_run *run, const char *name, const char *function, pawl_value **out_result)
{
    pawl_value *input;
    PAWL_TRY(pack_input(run, name, &input));
    return pawl_call(run, name, function, &unhurried, input, out_result);
}

static pawl_status caller(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *charged = NULL;
    (void)params;
    PAWL_TRY(do_step(run, "prepare", &unhurried, row_body));
    PAWL_TRY(call_function(run, "charge", "charge", &charged));
    pawl_status status = call_function(run, "refuse", "refuse", NULL);
    if (status != PAWL_FAILED)
        return status;
    return pawl_return(run, out_result, "{s:V, s:s}", "charged", charged, "why", pawl_run_failure(run).name);
}

static pawl_status poster(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *pressed = NULL;
    (void)params;
    PAWL_TRY(call_function(run, "press", "press", &pressed));
    PAWL_TRY(do_step(run, "deliver", &unhurried, row_body));
    return pawl_return(run, out_result, "V", pressed);
}

static pawl_status kid(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(do_step(run, "grow", &unhurried, row_body));
    PAWL_TRY(pawl_sleep(run, "rest", "3 s"));
    if (pawl_value_bool(params, "fails", false))
        return pawl_run_fail(run, "Naughty", "it was asked to fail");
    return pawl_return(run, out_result, "{s:s}", "of", pawl_run_parent(run)->id);
}

/* A second child is made before the first is awaited. */
static pawl_status parent(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *naughty = pawl_run_format(run, "%s-naughty", pawl_run_id(run));
    const struct pawl_child_options good_one = { .id = pawl_run_format(run, "%s-good", pawl_run_id(run)) };
    const struct pawl_child_options naughty_one = { .id = naughty, .detached = true };
    pawl_value *good = NULL, *fails = NULL;
    (void)params;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &fails, "{s:b}", "fails", 1));
    PAWL_TRY(pawl_start_child(run, "naughty", "kid", &naughty_one, fails, NULL));
    PAWL_TRY(pawl_run_child(run, "good", "kid", &good_one, NULL, &good));
    pawl_status status = pawl_await_child(run, "hear", "kid", naughty, NULL);
    if (status != PAWL_FAILED)
        return status;
    return pawl_return(run, out_result, "{s:V, s:s}", "good", good, "why", pawl_run_failure(run).name);
}

/* Its end comes from outside, and must reach the child and the job that it waits for. */
static pawl_status keeper(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const struct pawl_child_options kept = { .id = pawl_run_format(run, "%s-kept", pawl_run_id(run)) };
    (void)params;
    (void)out_result;
    PAWL_TRY(pawl_start_child(run, "keep", "kept", &kept, NULL, NULL));
    return call_function(run, "press", "press", NULL);
}

static pawl_status kept(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    PAWL_TRY(do_step(run, "settle", &unhurried, row_body));
    return pawl_wait_for_event(run, "nothing", "nothing", "5 days", NULL);
}

static pawl_status asker(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *early = NULL, *late = NULL;
    pawl_value *input, *first = NULL, *second = NULL;
    (void)params;
    PAWL_TRY(pawl_deferred_token(run, "early", &early));
    PAWL_TRY(pawl_deferred_token(run, "late", &late));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:s, s:I, s:s, s:s, s:s}", "id", pawl_run_id(run), "run",
                             (long long)pawl_run_number(run), "step", "tell", "early", early, "late", late));
    PAWL_TRY(pawl_do(run, "tell", &unhurried, tell_body, input, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, NULL));
    PAWL_TRY(pawl_await_deferred(run, "early", NULL, &first));
    pawl_status status = pawl_await_deferred(run, "late", "1 hour", &second);
    if (status != PAWL_FAILED)
        return status;
    return pawl_return(run, out_result, "{s:V, s:s}", "early", first, "late", pawl_run_failure(run).name);
}

static pawl_status trip(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_compensation undo = { .undo = undo_body, .options = &unhurried };
    static const struct pawl_step_options undone = {
        .retries = PAWL_RETRIES_UNLIMITED, .delay = "20 s", .backoff = PAWL_BACKOFF_CONSTANT, .compensate = &undo
    };
    (void)params;
    (void)out_result;
    PAWL_TRY(do_step(run, "flight", &undone, row_body));
    PAWL_TRY(do_step(run, "hotel", &undone, row_body));
    PAWL_TRY(do_step(run, "car", &undone, row_body));
    return pawl_wait_for_event(run, "nothing", "nothing", "5 days", NULL);
}

/* It waits for repair at a step, and again behind a call that nobody mends. */
static pawl_status fragile(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(do_step(run, "first", &unhurried, row_body));
    PAWL_TRY(do_step(run, "break", &unhurried, fragile_body));
    return pawl_return(run, out_result, "s", "whole");
}

static pawl_status weak(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(do_step(run, "first", &unhurried, row_body));
    PAWL_TRY(call_function(run, "second", "charge", NULL));
    PAWL_TRY(do_step(run, "break", &unhurried, fragile_body));
    return pawl_return(run, out_result, "I", (long long)pawl_run_number(run));
}

static pawl_status register_others(struct world *world, struct pawl_error *error)
{
    struct ledger *ledger = world->ledger;
    const struct pawl_workflow workflows[] = {
        { .name = "caller", .run = caller, .user = ledger },
        { .name = "poster", .run = poster, .user = ledger },
        { .name = "parent", .run = parent, .steps = &unhurried, .user = ledger },
        { .name = "kid", .run = kid, .user = ledger },
        { .name = "keeper", .run = keeper, .steps = &unhurried, .user = ledger },
        { .name = "kept", .run = kept, .user = ledger },
        { .name = "asker", .run = asker, .user = ledger },
        { .name = "trip", .run = trip, .user = ledger },
        { .name = "fragile", .run = fragile, .user = ledger, .suspend_on_failure = true },
        { .name = "weak", .run = weak, .user = ledger },
    };
    const struct pawl_function functions[] = {
        { .name = "charge", .run = charge, .user = ledger },
        { .name = "refuse", .run = refuse, .user = ledger },
    };
    for (size_t i = 0; i < sizeof workflows / sizeof workflows[0]; i++)
        PAWL_TRY(pawl_register(world->engine, &workflows[i], error));
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        PAWL_TRY(pawl_register_function(world->engine, &functions[i], error));
    return PAWL_OK;
}

pawl_status scenario_register(struct world *world, struct pawl_error *error)
{
    static const char *const tags[] = { "first", "second", NULL };
    const struct pawl_workflow workflows[] = {
        { .name = "plain", .run = plain, .description = "two steps and a rest", .tags = tags, .user = world->ledger },
        { .name = "order", .run = order, .user = world->ledger },
        { .name = "child", .run = child, .user = world->ledger },
        { .name = "fan", .run = fan, .steps = &patient, .user = world->ledger },
    };
    for (size_t i = 0; i < sizeof workflows / sizeof workflows[0]; i++) {
        pawl_status status = pawl_register(world->engine, &workflows[i], error);
        if (status != PAWL_OK)
            return status;
    }
    return register_others(world, error);
}
