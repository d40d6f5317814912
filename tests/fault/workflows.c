/* workflows.c - the workflows that scenarios run.  Every body tells the ledger first; retries do not end, because a fault
 * may fail any attempt, and a step must not use its attempts up on that. */
#include <stdio.h>

#include "others.h"

static const struct pawl_step_options patient = { .retries = PAWL_RETRIES_UNLIMITED,
                                                  .delay = "20 s",
                                                  .backoff = PAWL_BACKOFF_CONSTANT };

/* ---- Bodies ------------------------------------------------------------------------------------------------------- */

static void begin(pawl_step *step, const pawl_value *input)
{
    struct ledger *ledger = pawl_step_user(step);
    ledger_begin_body(ledger, pawl_value_string(input, "id", "?"), pawl_value_int(input, "run", 0),
                      pawl_value_string(input, "step", "?"));
}

static pawl_status plain_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    begin(step, input);
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
    begin(step, input);
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
    begin(step, input);
    PAWL_TRY(insert(step, input, false));
    return pawl_result(step, out_result, "i", 1);
}

static pawl_status hopeless_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    begin(step, input);
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
    begin(step, input);
    PAWL_TRY(pawl_step_mutate(step, PAWL_WITH_SUCCESS, insert_by_call, id, strlen(id) + 1));
    return pawl_result(step, out_result, "i", 2);
}

static pawl_status bearing_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *id = pawl_scope_format(pawl_step_scope(step), "%s-child", pawl_value_string(input, "id", "?"));
    begin(step, input);
    PAWL_TRY(pawl_step_create(step, "child", id, input));
    return pawl_result(step, out_result, "s", "born");
}

static pawl_status telling_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *id = pawl_scope_format(pawl_step_scope(step), "%s-child", pawl_value_string(input, "id", "?"));
    begin(step, input);
    PAWL_TRY(pawl_step_send_event(step, "child", id, "word", input));
    return pawl_result(step, out_result, "s", "told");
}

/* ---- Workflows ------------------------------------------------------------------------------------------------------ */

static pawl_status call(pawl_run *run, const char *name, pawl_step_fn *body, pawl_value **out_result)
{
    pawl_value *input;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:s, s:I, s:s}", "id", pawl_run_id(run), "run",
                             (long long)pawl_run_number(run), "step", name));
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
    return others_register(world, error);
}
