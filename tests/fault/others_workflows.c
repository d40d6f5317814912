/* others_workflows.c - workflows and functions of others.h.  As in workflows.c every body tells the ledger first, and
 * retries do not end. */
#include <stdio.h>

#include "others.h"

/* The time of an attempt is longer than anything that happens here: what is over is over for another reason. */
static const struct pawl_step_options patient = {
    .retries = PAWL_RETRIES_UNLIMITED, .delay = "20 s", .backoff = PAWL_BACKOFF_CONSTANT, .timeout = "1 hour"
};

/* ---- Bodies and functions ------------------------------------------------------------------------------------------- */

static struct ledger *begin(pawl_step *step, const pawl_value *input)
{
    struct ledger *ledger = pawl_step_user(step);
    ledger_begin_body(ledger, pawl_value_string(input, "id", "?"), pawl_value_int(input, "run", 0),
                      pawl_value_string(input, "step", "?"));
    return ledger;
}

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

/* Of a function, which is told of the call that it carries out. */
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

/* Whoever goes on with the tokens is a later act. */
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

/* ---- Workflows ------------------------------------------------------------------------------------------------------ */

static pawl_status pack_input(pawl_run *run, const char *step, pawl_value **out_input)
{
    return pawl_value_pack(pawl_run_scope(run), out_input, "{s:s, s:I, s:s}", "id", pawl_run_id(run), "run",
                           (long long)pawl_run_number(run), "step", step);
}

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
    return pawl_call(run, name, function, &patient, input, out_result);
}

static pawl_status caller(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *charged = NULL;
    (void)params;
    PAWL_TRY(do_step(run, "prepare", &patient, row_body));
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
    PAWL_TRY(do_step(run, "deliver", &patient, row_body));
    return pawl_return(run, out_result, "V", pressed);
}

static pawl_status kid(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(do_step(run, "grow", &patient, row_body));
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
    PAWL_TRY(do_step(run, "settle", &patient, row_body));
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
    PAWL_TRY(pawl_do(run, "tell", &patient, tell_body, input, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, NULL));
    PAWL_TRY(pawl_await_deferred(run, "early", NULL, &first));
    pawl_status status = pawl_await_deferred(run, "late", "1 hour", &second);
    if (status != PAWL_FAILED)
        return status;
    return pawl_return(run, out_result, "{s:V, s:s}", "early", first, "late", pawl_run_failure(run).name);
}

static pawl_status trip(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_compensation undo = { .undo = undo_body, .options = &patient };
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
    PAWL_TRY(do_step(run, "first", &patient, row_body));
    PAWL_TRY(do_step(run, "break", &patient, fragile_body));
    return pawl_return(run, out_result, "s", "whole");
}

static pawl_status weak(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(do_step(run, "first", &patient, row_body));
    PAWL_TRY(call_function(run, "second", "charge", NULL));
    PAWL_TRY(do_step(run, "break", &patient, fragile_body));
    return pawl_return(run, out_result, "I", (long long)pawl_run_number(run));
}

pawl_status others_register(struct world *world, struct pawl_error *error)
{
    struct ledger *ledger = world->ledger;
    const struct pawl_workflow workflows[] = {
        { .name = "caller", .run = caller, .user = ledger },
        { .name = "poster", .run = poster, .user = ledger },
        { .name = "parent", .run = parent, .steps = &patient, .user = ledger },
        { .name = "kid", .run = kid, .user = ledger },
        { .name = "keeper", .run = keeper, .steps = &patient, .user = ledger },
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
