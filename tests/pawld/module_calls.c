/* module_calls.c - workflows that others finish: workers, whoever has a token, and those with permissions.  No functions. */
#include <pawl/workflow.h>
#include <stdio.h>

/* params: {"function": name, "data": what it gets} */
static pawl_status calls(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options options = { .retries = PAWL_NO_RETRIES };
    return pawl_call(run, "call", pawl_value_string(params, "function", "double"), &options,
                     pawl_value_at(params, "data"), out_result);
}

/* The token is written to the file "token". */
static pawl_status give_away(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    FILE *file = fopen("token", "we");
    if (file == NULL)
        return pawl_fail(step, "NoFile", "the token cannot be written");
    (void)fputs(pawl_value_string(input, NULL, ""), file);
    return fclose(file) == 0 ? PAWL_OK : pawl_fail(step, "NoFile", "the token cannot be written");
}

static pawl_status defers(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *token;
    pawl_value *input;
    (void)params;
    PAWL_TRY(pawl_deferred_token(run, "approval", &token));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", token));
    PAWL_TRY(pawl_do(run, "give away", NULL, give_away, input, NULL));
    PAWL_TRY(pawl_await_deferred(run, "approval", NULL, out_result));
    return pawl_wait_for_event(run, "wait", "go", "1 hour", NULL);
}

static pawl_status guarded(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run, (void)params, (void)out_result;
    return PAWL_OK;
}

static const char *const permissions[] = { "admin", "finance", NULL };

PAWL_MODULE({ .name = "calls", .run = calls }, { .name = "defers", .run = defers },
            { .name = "guarded", .run = guarded, .permissions = permissions });
