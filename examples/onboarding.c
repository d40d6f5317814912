/* onboarding.c - sets up a new user: workers do some of it, the run itself does the rest.
 *
 *     ./onboarding                       runs user-1 in onboarding.db
 *     ./onboarding user-2 premium        runs another one, with more to set up
 *     ./onboarding user-3 free inline    runs in this thread and in memory and keeps nothing, for a look or a test
 *
 * There are three ways to get something done:
 *   pawl_call     a worker does it, here or on another machine, in C or over HTTP.  It is recorded and retried.
 *                 For calls of other systems.
 *   pawl_do       the run does it.  It is recorded and retried.  For short work and decisions.
 *   pawl_invoke   the run does it, again at every replay.  It is not recorded.  For values that may be fresh. */
#include <pawl/pawl.h>
#include <string.h>

/* ---- Functions: what workers carry out, and what can be called by name ---------------------------------------------- */

/* A call may be carried out more than once, so the id of what it creates follows from its input, not from chance. */
static pawl_status create_user(pawl_step *step, const pawl_value *data, pawl_value **out_result)
{
    const char *email = pawl_value_string(data, "email", "");
    if (strchr(email, '@') == NULL)
        return pawl_fail_for_good(step, "InvalidEmail", "\"%s\" is no address", email);
    return pawl_result(step, out_result, "{s:s, s:s, s:s, s:b}", "id",
                       pawl_scope_format(pawl_step_scope(step), "user-of-%s", email), "email", email, "region",
                       pawl_value_string(data, "region", "EU"), "premium",
                       strcmp(pawl_value_string(data, "plan", "free"), "premium") == 0);
}

static pawl_status send_verification(pawl_step *step, const pawl_value *user, pawl_value **out_result)
{
    return pawl_result(step, out_result, "{s:s}", "sentTo", pawl_value_string(user, "email", ""));
}

static pawl_status set_up_premium(pawl_step *step, const pawl_value *user, pawl_value **out_result)
{
    (void)user;
    return pawl_result(step, out_result, "{s:s, s:[s,s,s]}", "tier", "premium", "features", "basic", "reports", "api");
}

static pawl_status send_sms(pawl_step *step, const pawl_value *user, pawl_value **out_result)
{
    return pawl_result(step, out_result, "{s:s, s:s}", "to", pawl_value_string(user, "id", ""), "text", "Welcome!");
}

static pawl_status default_settings(pawl_step *step, const pawl_value *data, pawl_value **out_result)
{
    (void)data;
    return pawl_result(step, out_result, "{s:s, s:b}", "theme", "light", "newsletter", 0);
}

/* ---- Bodies: what the run does itself ---------------------------------------------------------------------------- */

static pawl_status tax_rate(pawl_step *step, const pawl_value *user, pawl_value **out_result)
{
    bool is_european = strcmp(pawl_value_string(user, "region", ""), "EU") == 0;
    return pawl_result(step, out_result, "f", is_european ? 0.2 : 0.08);
}

static pawl_status set_up_standard(pawl_step *step, const pawl_value *user, pawl_value **out_result)
{
    (void)user;
    return pawl_result(step, out_result, "{s:s, s:[s]}", "tier", "standard", "features", "basic");
}

/* ---- The workflow --------------------------------------------------------------------------------------------------- */

static const struct pawl_step_options creation = { .description = "Create the account", .timeout = "30 seconds" };
static const struct pawl_step_options taxing = { .description = "Calculate the regional tax rate" };
static const struct pawl_step_options verification = { .description = "Send the link that verifies the address",
                                                       .retries = 10 };
static const struct pawl_step_options premium = { .description = "Configure what premium users get" };
static const struct pawl_step_options standard = { .description = "Set what everybody gets" };
static const struct pawl_step_options welcome = { .description = "Send a welcome by SMS" };

static pawl_status onboarding(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *user, *rate, *account, *settings;

    PAWL_TRY(pawl_call(run, "create user", "users.create", &creation, params, &user));
    PAWL_TRY(pawl_do(run, "calculate tax rate", &taxing, tax_rate, user, &rate));
    PAWL_TRY(pawl_call(run, "verify email", "email.sendVerification", &verification, user, NULL));

    /* A branch is a plain `if`.  Its condition is a recorded result, so every replay takes the same branch. */
    if (pawl_value_bool(user, "premium", false))
        PAWL_TRY(pawl_call(run, "set up premium", "premium.setup", &premium, user, &account));
    else
        PAWL_TRY(pawl_do(run, "set up standard", &standard, set_up_standard, user, &account));

    /* In C a function and a body have the same type.  This one runs here, without a worker. */
    PAWL_TRY(pawl_do(run, "send welcome", &welcome, send_sms, user, NULL));
    PAWL_TRY(pawl_invoke(run, "settings.getDefaults", NULL, &settings));
    return pawl_return(run, out_result, "{s:V, s:V, s:V, s:V}", "userId", pawl_value_at(user, "id"), "account", account,
                       "taxRate", rate, "settings", settings);
}

static const char *const tags[] = { "users", NULL };

PAWL_FUNCTIONS({ .name = "users.create", .run = create_user },
               { .name = "email.sendVerification", .run = send_verification, .concurrency = 4 },
               { .name = "premium.setup", .run = set_up_premium }, { .name = "notify.sms", .run = send_sms },
               { .name = "settings.getDefaults", .run = default_settings });
PAWL_MODULE({ .name = "onboarding",
              .run = onboarding,
              .description = "Creates a user, verifies the address, sets the account up",
              .tags = tags });

#ifndef PAWL_NO_MAIN
#include "host.h"

/* Runs the same function as an inline workflow, in the calling thread. */
static pawl_status run_inline(pawl_engine *engine, pawl_scope *scope, const char *params_json, struct pawl_error *error)
{
    const struct pawl_workflow workflow = { .name = "onboarding", .run = onboarding, .mode = PAWL_MODE_INLINE };
    struct pawl_execute_options options = PAWL_EXECUTE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.params_json = params_json;
    PAWL_TRY(pawl_register(engine, &workflow, error));
    PAWL_TRY(pawl_register_functions(engine, &pawl_module_functions, error));
    PAWL_TRY(pawl_execute(engine, scope, "onboarding", &options, &instance, error));
    printf("%s %s\n", pawl_instance_status_name(instance.status),
           instance.output_json != NULL ? instance.output_json : instance.error_message);
    return PAWL_OK;
}

int main(int argc, char **argv)
{
    const char *id = argc > 1 ? argv[1] : "user-1";
    const char *plan = argc > 2 ? argv[2] : "free";
    char params[256];
    (void)snprintf(params, sizeof params, "{\"email\": \"%s@example.org\", \"plan\": \"%s\"}", id, plan);
    if (argc <= 3 || strcmp(argv[3], "inline") != 0)
        return host_run("sqlite:onboarding.db", &pawl_module, "onboarding", id, params);

    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct host host = { .scope = pawl_scope_new() };
    options.store_url = "sqlite::memory:";
    pawl_status status = pawl_open(&options, &host.engine, &host.error);
    if (status == PAWL_OK)
        status = run_inline(host.engine, host.scope, params, &host.error);
    return host_close(&host, status);
}
#endif
