/* contract_world.c - see contract_world.h. */
#include "contract_world.h"

#include "engine/engine.h"
#include "value/value.h"

/* ---- Opening and closing --------------------------------------------------------------------------------------- */

static void open_world(struct contract *contract, struct pawl_limits limits, uint64_t seed, int64_t start_ms)
{
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    options.limits = limits;
    options.seed = seed;
    options.start_ms = start_ms;
    options.store_url = contract->in_file ? contract->url : NULL;
    options.always_replay = contract->replays;
    assert_ok(contract, pawl_world_open(&options, &contract->world, &contract->error));
    contract->engine = pawl_world_engine(contract->world);
}

static int set_up(void **state)
{
    struct contract *contract = calloc(1, sizeof *contract);
    assert_non_null(contract);
    const struct test_place *place = *state;
    contract->in_file = place->store != STORE_IN_MEMORY;
    contract->replays = place->replays;
    contract->scope = pawl_scope_new();
    assert_non_null(contract->scope);
    store_place_make(&contract->place, place->store);
    contract->url = contract->place.url;
    open_world(contract, (struct pawl_limits){ .steps_max = 0 }, 1, 0);
    *state = contract;
    return 0;
}

static int tear_down(void **state)
{
    struct contract *contract = *state;
    pawl_world_close(contract->world);
    pawl_scope_free(contract->scope);
    store_place_remove(&contract->place);
    free(contract);
    return 0;
}

const struct test_setting contract_setting = { set_up, tear_down, ON_EVERY_STORE | REPLAYED };
const struct test_setting contract_of_passes = { set_up, tear_down, ON_EVERY_STORE };

/* ---- Preparing ------------------------------------------------------------------------------------------------- */

void contract_open_with(struct contract *contract, struct pawl_limits limits, uint64_t seed)
{
    pawl_world_close(contract->world);
    contract->world = NULL;
    store_place_empty(&contract->place, false);
    open_world(contract, limits, seed, 0);
}

/* Registers the current function of "w". */
WORKFLOW(run_deployed)
{
    struct contract *contract = pawl_run_user(run);
    contract->passes++;
    return contract->run(run, params, out_result);
}

void contract_register_as(struct contract *contract, struct pawl_workflow workflow)
{
    workflow.user = contract;
    assert_ok(contract, pawl_register(contract->engine, &workflow, &contract->error));
}

void contract_register(struct contract *contract, const char *name, pawl_workflow_fn *run)
{
    contract_register_as(contract, (struct pawl_workflow){ .name = name, .run = run });
}

void contract_register_function(struct contract *contract, const char *name, pawl_step_fn *run)
{
    struct pawl_function function = { .name = name, .run = run, .user = contract };
    assert_ok(contract, pawl_register_function(contract->engine, &function, &contract->error));
}

void contract_begin_again(struct contract *contract)
{
    contract_open_with(contract, (struct pawl_limits){ .steps_max = 0 }, 1);
    contract->trace[0] = '\0';
    contract->bodies = contract->passes = 0;
}

void contract_create(struct contract *contract, pawl_workflow_fn *run, const char *params_json)
{
    contract->run = run;
    contract_register(contract, "w", run_deployed);
    assert_ok(contract, pawl_world_create(contract->world, "w", "i", params_json, &contract->error));
}

void contract_start(struct contract *contract, pawl_workflow_fn *run, const char *params_json)
{
    contract_create(contract, run, params_json);
    contract_idle(contract);
}

void contract_deploy(struct contract *contract, pawl_workflow_fn *run)
{
    contract->run = run;
    if (!contract->in_file)
        return;
    int64_t now_ms = contract_now(contract);
    pawl_world_close(contract->world);
    contract->world = NULL;
    open_world(contract, (struct pawl_limits){ .steps_max = 0 }, 2, now_ms);
    contract_register(contract, "w", run_deployed);
}

/* ---- Acting ----------------------------------------------------------------------------------------------------- */

void contract_idle(struct contract *contract)
{
    assert_ok(contract, pawl_world_run_until_idle(contract->world, &contract->error));
}

void contract_advance(struct contract *contract, const char *duration)
{
    assert_ok(contract, pawl_world_advance(contract->world, duration, &contract->error));
}

void contract_jump(struct contract *contract, int64_t by_ms)
{
    pawl_world_jump_ms(contract->world, by_ms);
}

pawl_status contract_take_over(struct contract *contract, pawl_runner *other, int64_t *out_processed)
{
    enum { LEASE_MS = 30000 };
    int64_t processed = 0;
    pawl_status status = PAWL_OK;
    contract_jump(contract, LEASE_MS + 1000);
    for (int i = 0; i < 2 && processed == 0 && status == PAWL_OK;
         i++) { /* takes two ticks: a live runner is observed for a lease first */
        status = pawl_runner_tick(other, 1, 0, &processed, NULL);
        contract_jump(contract, processed == 0 ? LEASE_MS : 0);
    }
    if (out_processed != NULL)
        *out_processed = processed;
    return status;
}

int64_t contract_now(const struct contract *contract)
{
    return pawl_world_now_ms(contract->world);
}

int64_t contract_tick(struct contract *contract)
{
    int64_t processed = -1;
    assert_ok(contract, pawl_world_tick(contract->world, &processed, &contract->error));
    return processed;
}

void contract_send(struct contract *contract, const char *type, const char *payload_json)
{
    assert_ok(contract, pawl_world_send_event(contract->world, "w", "i", type, payload_json, &contract->error));
}

pawl_status contract_send_id(struct contract *contract, const char *type, const char *payload_json,
                             const char *event_id)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = type;
    options.payload_json = payload_json;
    options.event_id = event_id;
    return pawl_send_event(contract->engine, contract->scope, "w", "i", &options, NULL, &contract->error);
}

void contract_control(struct contract *contract, contract_control_fn *control)
{
    assert_ok(contract, control(contract->engine, "w", "i", &contract->error));
}

/* ---- SQL -------------------------------------------------------------------------------------------------------- */

struct sql_call {
    enum test_store store;
    const char *sql;
    int64_t *number; /* the first column of the last row */
};

static pawl_status run_sql(void *connection, const void *data, size_t size)
{
    const struct sql_call *call = data;
    (void)size;
    return store_connection_number(call->store, connection, call->sql, call->number) ? PAWL_OK : PAWL_FAILED;
}

int64_t contract_query(struct contract *contract, const char *sql)
{
    int64_t number = INT64_MIN;
    struct sql_call call = { contract->place.store, sql, &number };
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_MUTATE);
    assert_non_null(op);
    op->as.mutate = (struct pw_op_mutate){ run_sql, &call, sizeof call };
    pawl_status status = pw_commit_run(contract->engine->commit, &unit);
    contract->error = unit.error;
    pw_unit_clear(&unit);
    assert_ok(contract, status);
    return number;
}

void contract_execute(struct contract *contract, const char *sql)
{
    (void)contract_query(contract, sql);
}

/* ---- In workflows and steps --------------------------------------------------------------------------------------- */

void contract_trace(struct contract *contract, const char *format, ...)
{
    size_t used = strlen(contract->trace);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(contract->trace + used, sizeof contract->trace - used, format, arguments);
    va_end(arguments);
}

pawl_status contract_body_ok(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    return input == NULL ? PAWL_OK : pawl_result(step, out_result, "V", input);
}

pawl_status contract_body_fails(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    (void)input;
    (void)out_result;
    contract->bodies++;
    return pawl_fail(step, "Broken", "attempt %lld", (long long)pawl_step_attempt(step));
}

void contract_trace_value(struct contract *contract, pawl_scope *scope, const pawl_value *value)
{
    const char *text = NULL;
    size_t size;
    if (pawl_value_text(scope, value, &text, &size) == PAWL_OK && text != NULL)
        contract_trace(contract, "%s", text);
}

pawl_status contract_body_traces(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    (void)out_result;
    contract_trace(contract, "%s ", pawl_step_name(step));
    contract_trace_value(contract, pawl_step_scope(step), input);
    contract_trace(contract, "; ");
    return PAWL_OK;
}

const char *const contract_distinct[CONTRACT_DISTINCT_COUNT] = { NULL, "null", "0", "false", "\"\"" };

char *contract_long_text(pawl_scope *scope, size_t size)
{
    char *text = pw_scope_take(scope, size + 1);
    if (text == NULL)
        return NULL;
    memset(text, 'x', size);
    text[size] = '\0';
    return text;
}

/* ---- Checking ------------------------------------------------------------------------------------------------------- */

void assert_ok_at(struct contract *contract, pawl_status status, const char *file, int line)
{
    if (status == PAWL_OK)
        return;
    print_error("%s: %s\n", pawl_status_name(status), contract->error.text);
    _fail(file, line);
}

void assert_status_at(pawl_status status, pawl_status expected, const char *file, int line)
{
    if (status == expected)
        return;
    print_error("%s instead of %s\n", pawl_status_name(status), pawl_status_name(expected));
    _fail(file, line);
}

struct pawl_instance contract_get(struct contract *contract)
{
    struct pawl_instance instance;
    assert_ok(contract, pawl_world_get(contract->world, "w", "i", &instance, &contract->error));
    return instance;
}

struct pawl_instance contract_child(struct contract *contract)
{
    struct pawl_instance_page page;
    struct pawl_instance child;
    assert_ok(contract, pawl_list_children(contract->engine, contract->scope, "w", "i", NULL, &page, &contract->error));
    assert_int_equal(page.count, 1);
    assert_ok(contract, pawl_world_get(contract->world, page.instances[0].workflow, page.instances[0].id, &child,
                                       &contract->error));
    return child;
}

struct pawl_history contract_history(struct contract *contract, int64_t run_number)
{
    struct pawl_history history;
    assert_ok(contract, pawl_world_history(contract->world, "w", "i", run_number, &history, &contract->error));
    return history;
}

bool contract_has_step(struct contract *contract, const char *name)
{
    return pawl_world_step(contract->world, "w", "i", name) != NULL;
}

struct pawl_step_record contract_step(struct contract *contract, const char *name)
{
    const struct pawl_step_record *step = pawl_world_step(contract->world, "w", "i", name);
    if (step == NULL)
        fail_msg("there is no step \"%s\"", name);
    return *step;
}

int64_t contract_next_wake(struct contract *contract)
{
    int64_t at_ms = -1;
    assert_ok(contract, pawl_runner_next_wake_at(pawl_world_runner(contract->world), &at_ms, &contract->error));
    return at_ms;
}

void assert_instance_at(struct contract *contract, enum pawl_instance_status expected, const char *file, int line)
{
    struct pawl_instance instance = contract_get(contract);
    if (instance.status == expected)
        return;
    print_error("the instance is %s instead of %s (%s: %s)\n", pawl_instance_status_name(instance.status),
                pawl_instance_status_name(expected), instance.error_name != NULL ? instance.error_name : "",
                instance.error_message != NULL ? instance.error_message : "");
    _fail(file, line);
}

void assert_text_at(const char *text, const char *expected, const char *file, int line)
{
    if (text == expected || (text != NULL && expected != NULL && strcmp(text, expected) == 0))
        return;
    print_error("\"%s\" instead of \"%s\"\n", text != NULL ? text : "(none)", expected != NULL ? expected : "(none)");
    _fail(file, line);
}

void assert_says_at(const char *text, const char *word, const char *file, int line)
{
    if (text != NULL && strstr(text, word) != NULL)
        return;
    print_error("\"%s\" does not say \"%s\"\n", text != NULL ? text : "(none)", word);
    _fail(file, line);
}

void assert_output_at(struct contract *contract, const char *output_json, const char *file, int line)
{
    assert_instance_at(contract, PAWL_COMPLETE, file, line);
    assert_text_at(contract_get(contract).output_json, output_json, file, line);
}

void assert_errored_at(struct contract *contract, const char *name, const char *message, const char *file, int line)
{
    assert_instance_at(contract, PAWL_ERRORED, file, line);
    struct pawl_instance instance = contract_get(contract);
    assert_text_at(instance.error_name, name, file, line);
    if (message != NULL)
        assert_text_at(instance.error_message, message, file, line);
}
