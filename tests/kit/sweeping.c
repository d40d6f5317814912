/* sweeping.c - see sweeping.h. */
#include "sweeping.h"

/* ---- Workflows ------------------------------------------------------------------------------------------------------------ */

pawl_status sweeping_plain(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return input != NULL ? pawl_result(step, out_result, "V", input) : pawl_result(step, out_result, "i", 7);
}

pawl_status sweeping_branch(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    const char *name = pawl_value_string(input, NULL, "");
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "%s begins", name), NULL, sweeping_plain, input, NULL));
    PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "%s sleeps", name), name[0] == 'a' ? "1 hour" : "2 hours"));
    return pawl_do(run, pawl_run_format(run, "%s ends", name), NULL, sweeping_plain, input, out_result);
}

pawl_status sweeping_leaf(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "grow", NULL, sweeping_plain, params, out_result);
}

BODY(count_calls)
{
    struct sweeping *sweeping = pawl_step_user(step);
    return pawl_result(step, out_result, "i", ++sweeping->count);
}

pawl_status sweeping_result_by_calls(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "call", NULL, count_calls, params, out_result);
}

pawl_status sweeping_steps_by_calls(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *count;
    (void)out_result;
    PAWL_TRY(pawl_do(run, "call", NULL, count_calls, params, &count));
    const char *name = pawl_run_format(run, "after call %d", (int)pawl_value_int(count, NULL, 0));
    struct pawl_branch branches[1] = { { .run = sweeping_branch, .input = count } };
    PAWL_TRY(pawl_do(run, name, NULL, sweeping_plain, params, NULL));
    return pawl_all(run, "all", branches, 1, 0);
}

/* ---- The fixture ---------------------------------------------------------------------------------------------------------- */

static pawl_status prepare_world(pawl_world *world, void *user, struct pawl_error *error)
{
    struct sweeping *sweeping = user;
    sweeping->setups++;
    if (sweeping->count_resets)
        sweeping->count = 0;
    return pawl_world_sql(world, "CREATE TABLE paid (id TEXT PRIMARY KEY)", error);
}

static int set_up(void **state)
{
    static struct sweeping sweeping;
    memset(&sweeping, 0, sizeof sweeping);
    sweeping.options = (struct pawl_sweep_options)PAWL_SWEEP_OPTIONS_INIT;
    sweeping.options.workflows = sweeping.workflows;
    sweeping.options.setup = prepare_world;
    sweeping.options.user = &sweeping;
    sweeping.scope = pawl_scope_new();
    *state = &sweeping;
    return sweeping.scope != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    struct sweeping *sweeping = *state;
    pawl_scope_free(sweeping->scope);
    return 0;
}

const struct test_setting sweeping_setting = { .set_up = set_up, .tear_down = tear_down };

void sweeping_add(struct sweeping *sweeping, const char *name, pawl_workflow_fn *run)
{
    sweeping->workflows[sweeping->options.workflow_count++] =
        (struct pawl_workflow){ .name = name, .run = run, .user = sweeping };
    if (sweeping->options.workflow == NULL)
        sweeping->options.workflow = name;
}

void sweeping_sweep(struct sweeping *sweeping)
{
    pawl_status status = pawl_sweep(sweeping->scope, &sweeping->options, &sweeping->report, &sweeping->error);
    if (status != PAWL_OK)
        print_error("%s: %s\n", pawl_status_name(status), sweeping->error.text);
    assert_int_equal(status, PAWL_OK);
}

void sweeping_sweep_workflow(struct sweeping *sweeping, pawl_workflow_fn *run)
{
    sweeping_add(sweeping, "w", run);
    sweeping_sweep(sweeping);
}

void sweeping_says(const struct sweeping *sweeping, const char *wanted)
{
    if (strstr(sweeping->report.text, wanted) == NULL)
        fail_msg("\"%s\" is not in\n%s", wanted, sweeping->report.text);
}

void sweeping_is_clean(const struct sweeping *sweeping, const char *outcome)
{
    if (sweeping->report.finding_count > 0)
        fail_msg("%s", sweeping->report.text);
    assert_true(sweeping->report.crashes > 0);
    sweeping_says(sweeping, outcome);
}
