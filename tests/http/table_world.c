/* table_world.c - the workflows that the tables ask about, and what there is of them at the beginning, all created at
 * 2026-01-01T00:00:00Z and run as far as they come:
 *
 *   echo/done      complete with its params, {"sku": "teapot", "n": 2}
 *   echo/bare      complete with no result, as it had no params
 *   echo/null      complete with null
 *   broken/b-1     errored: Broken, no "luck"
 *   order/waits    waits for the event "paid", for an hour
 *   order/stuck    waits for a retry of its step
 *   order/stopped  terminated
 *   order/twice    a second run, which waits as the first
 *
 * And of what others finish (contract A14, F, G):
 *
 *   calls/c-1      waits for a job of the function "charge", which nobody has registered; so does calls/c-2
 *   defers/d-1     waits for its deferred, whose token table_deferred_token() knows
 *   family/f-1     waits for its attached child, defers/kid
 *   undoes/u-1     has done a step that can be undone, and waits for the event "go"; so have u-2 and u-3
 *   mends/m-1      waits for repair: its step failed for good
 *   guarded        requires the permissions "admin" and "finance"
 *   inlined        has no instances
 */
#include "table.h"

#include <stdio.h>
#include <string.h>

#define ok(call) assert_int_equal((call), PAWL_OK)

static pawl_status echo(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run;
    *out_result = (pawl_value *)params; /* a result is only read */
    return PAWL_OK;
}

static pawl_status broken(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params, (void)out_result;
    return pawl_run_fail(run, "Broken", "no \"luck\"");
}

static pawl_status charge(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    pawl_value *data;
    PAWL_TRY(pawl_value_pack(pawl_step_scope(step), &data, "{s:I}", "attempt", (long long)pawl_step_attempt(step)));
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_WARN, "shop", data, "charging \"%s\"", "Ada"));
    if (pawl_value_bool(input, "declined", false))
        return pawl_fail(step, "CardDeclined", "not today");
    return pawl_result(step, out_result, "{s:i}", "paid", 42);
}

static pawl_status order(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options options = { .retries = PAWL_RETRIES_UNLIMITED,
                                                      .delay = "1 day",
                                                      .timeout = "1 minute" };
    struct pawl_event event;
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "begun"));
    PAWL_TRY(pawl_do(run, "charge", &options, charge, params, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "payment", "paid", "1 hour", &event));
    return pawl_return(run, out_result, "{s:V}", "payment", event.payload);
}

/* ---- What others finish ------------------------------------------------------------------------------------------ */

static pawl_status calls(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options options = {
        .retries = 1, .delay = "1 minute", .timeout = "10 minutes", .description = "Charges the card."
    };
    return pawl_call(run, "remote", "charge", &options, params, out_result);
}

enum { TOKENS_MAX = 16 };
static struct {
    char id[64], token[256];
} tokens[TOKENS_MAX];

/* A token is nobody's business but whom the workflow gives it: here, the test. */
static void keep_token(const char *id, const char *token)
{
    size_t at = 0;
    while (at < TOKENS_MAX - 1 && tokens[at].id[0] != '\0' && strcmp(tokens[at].id, id) != 0)
        at++;
    snprintf(tokens[at].id, sizeof tokens[at].id, "%s", id);
    snprintf(tokens[at].token, sizeof tokens[at].token, "%s", token);
}

const char *table_deferred_token(const char *id)
{
    for (size_t i = 0; i < TOKENS_MAX; i++)
        if (strcmp(tokens[i].id, id) == 0)
            return tokens[i].token;
    fail_msg("defers/%s has given no token away", id);
    return NULL;
}

static pawl_status defers(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *token;
    (void)params;
    PAWL_TRY(pawl_deferred_token(run, "approval", &token));
    keep_token(pawl_run_id(run), token);
    return pawl_await_deferred(run, "approval", NULL, out_result);
}

static pawl_status family(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_child_options options = { .id = "kid" };
    return pawl_run_child(run, "kid", "defers", &options, params, out_result);
}

static pawl_status book(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    return pawl_result(step, out_result, "i", 1);
}

static pawl_status undoes(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_compensation compensation = { .undo = book };
    static const struct pawl_step_options options = { .compensate = &compensation };
    (void)params, (void)out_result;
    PAWL_TRY(pawl_do(run, "book", &options, book, NULL, NULL));
    return pawl_wait_for_event(run, "wait", "go", "1 hour", NULL);
}

static pawl_status break_down(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input, (void)out_result;
    return pawl_fail_for_good(step, "Broken", "no part");
}

static pawl_status mends(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params, (void)out_result;
    return pawl_do(run, "part", NULL, break_down, NULL, NULL);
}

static void fill_work(pawl_world *world)
{
    struct pawl_error error;
    memset(tokens, 0, sizeof tokens);
    ok(pawl_world_create(world, "calls", "c-1", "{\"amount\":  1.50}", &error));
    ok(pawl_world_create(world, "calls", "c-2", NULL, &error));
    ok(pawl_world_create(world, "defers", "d-1", NULL, &error));
    ok(pawl_world_create(world, "family", "f-1", NULL, &error));
    ok(pawl_world_create(world, "undoes", "u-1", NULL, &error));
    ok(pawl_world_create(world, "undoes", "u-2", NULL, &error));
    ok(pawl_world_create(world, "undoes", "u-3", NULL, &error));
    ok(pawl_world_create(world, "mends", "m-1", NULL, &error));
    ok(pawl_world_run_until_idle(world, &error));
}

static void fill(pawl_world *world)
{
    struct pawl_error error;
    pawl_engine *engine = pawl_world_engine(world);
    ok(pawl_world_create(world, "echo", "done", "{\"sku\": \"teapot\", \"n\": 2}", &error));
    ok(pawl_world_create(world, "echo", "bare", NULL, &error));
    ok(pawl_world_create(world, "echo", "null", "null", &error));
    ok(pawl_world_create(world, "broken", "b-1", NULL, &error));
    ok(pawl_world_create(world, "order", "waits", NULL, &error));
    ok(pawl_world_create(world, "order", "stuck", "{\"declined\":true}", &error));
    ok(pawl_world_create(world, "order", "stopped", NULL, &error));
    ok(pawl_world_create(world, "order", "twice", NULL, &error));
    ok(pawl_world_run_until_idle(world, &error));
    ok(pawl_terminate(engine, "order", "stopped", &error));
    ok(pawl_restart(engine, "order", "twice", &error));
    ok(pawl_world_run_until_idle(world, &error));
}

void table_world_open(struct table_world *world, const struct table_section *section)
{
    static const char *const tags[] = { "shop", "money", NULL };
    static const char *const permissions[] = { "admin", "finance", NULL };
    static const struct pawl_workflow workflows[] = {
        { .name = "echo", .run = echo },
        { .name = "broken", .run = broken, .description = "fails at once", .version = "1.4" },
        { .name = "order", .run = order, .description = "waits \"long\"", .tags = tags },
        { .name = "calls", .run = calls },
        { .name = "defers", .run = defers },
        { .name = "family", .run = family },
        { .name = "undoes", .run = undoes },
        { .name = "mends", .run = mends, .suspend_on_failure = true },
        { .name = "guarded", .run = echo, .permissions = permissions },
        { .name = "inlined", .run = echo, .mode = PAWL_MODE_INLINE },
    };
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    struct pawl_error error;
    *world = (struct table_world){ .mount = NULL };
    ok(pawl_world_open(NULL, &world->world, &error));
    for (size_t i = 0; i < sizeof workflows / sizeof workflows[0]; i++)
        ok(pawl_register(pawl_world_engine(world->world), &workflows[i], &error));
    fill(world->world);
    fill_work(world->world);
    options.runner = pawl_world_runner(world->world);
    if (section != NULL && section->configure != NULL)
        section->configure(&options);
    world->mount = options.mount != NULL ? options.mount : "/api";
    ok(pawl_http_new(pawl_world_engine(world->world), &options, &world->http, &error));
}

void table_world_close(struct table_world *world)
{
    pawl_http_free(world->http);
    pawl_world_close(world->world);
}
