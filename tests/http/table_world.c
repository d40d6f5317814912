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
 */
#include "table.h"

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
    static const struct pawl_workflow workflows[] = {
        { .name = "echo", .run = echo },
        { .name = "broken", .run = broken, .description = "fails at once" },
        { .name = "order", .run = order, .description = "waits \"long\"", .tags = tags },
    };
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    struct pawl_error error;
    ok(pawl_world_open(NULL, &world->world, &error));
    for (size_t i = 0; i < sizeof workflows / sizeof workflows[0]; i++)
        ok(pawl_register(pawl_world_engine(world->world), &workflows[i], &error));
    fill(world->world);
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
