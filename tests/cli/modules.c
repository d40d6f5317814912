/* modules.c - the modules that pawld loads in the tests of pawl.
 *
 * Each is compiled from this file alone, with a definition that picks it: MODULE_CLI makes module_cli.so. */
#include <pawl/workflow.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS_MAX = 12000, LOOK_MS = 5 };

#if defined(MODULE_CLI)
/* Workflows that stand still where the tests want to look at them. */

static pawl_status reserve(pawl_step *step, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, "shop", params, "reserving %s", pawl_value_string(params, "sku", "?")));
    return pawl_result(step, out_result, "{s:s}", "sku", pawl_value_string(params, "sku", "?"));
}

static pawl_status charge(pawl_step *step, const pawl_value *unused, pawl_value **out_result)
{
    (void)unused;
    return pawl_result(step, out_result, "{s:s}", "receipt", "r-1");
}

static pawl_status approve(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_event approval;
    pawl_value *receipt;
    PAWL_TRY(pawl_do(run, "reserve stock", NULL, reserve, params, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "await approval", "approval", "24 hours", &approval));
    PAWL_TRY(pawl_do(run, "charge", NULL, charge, params, &receipt));
    return pawl_return(run, out_result, "{s:V, s:V}", "paid", receipt, "approval", approval.payload);
}

static pawl_status call(pawl_step *step, const pawl_value *unused, pawl_value **out_result)
{
    (void)unused;
    (void)out_result;
    return pawl_fail(step, "HotelUnreachable", "connection refused");
}

static const struct pawl_step_options patient = { .retries = 3, .delay = "2 hours" };

static pawl_status flaky(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "call the hotel", &patient, call, params, out_result);
}

static pawl_status broken(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_run_fail(run, "Broken", "it cannot work \033[31mat all");
}

static pawl_status nap(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_sleep(run, "nap", "2 hours");
}

static pawl_status echo(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_return(run, out_result, "{s:V}", "echo", params);
}

static pawl_status say(pawl_step *step, const pawl_value *number, pawl_value **out_result)
{
    (void)out_result;
    return pawl_step_log(step, PAWL_LOG_INFO, "talk", NULL, "line %d", (int)pawl_value_int(number, NULL, 0));
}

/* params: {"lines": 100, "waitsAt": 7}.  A line, a moment, a line; and one that every replay writes again.  Before line 7
 * it waits for the event "go": whoever is to see that there are more is there by then. */
static pawl_status talk(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    int64_t lines = pawl_value_int(params, "lines", 1), waits_at = pawl_value_int(params, "waitsAt", 0);
    if (lines < 10)
        PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, "talk", NULL, "begun"));
    for (int i = 1; i <= (int)lines; i++) {
        pawl_value *number;
        if (i == (int)waits_at)
            PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, NULL));
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &number, "i", i));
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "say %d", i), NULL, say, number, NULL));
        PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "pause %d", i), "20 ms"));
    }
    return pawl_return(run, out_result, "i", (int)lines);
}

/* Until the file that params names is there.  "<its name>.log" gets a line when it begins. */
static pawl_status stand(pawl_step *step, const pawl_value *params, pawl_value **out_result)
{
    const struct timespec moment = { 0, LOOK_MS * 1000000L };
    char path[256];
    (void)snprintf(path, sizeof path, "%s.log", pawl_value_string(params, "gate", ""));
    FILE *log = fopen(path, "ae");
    if (log == NULL || fputs("begun\n", log) < 0 || fclose(log) != 0)
        return pawl_fail(step, "NoFile", "%s cannot be written", path);
    for (int i = 0; i < LOOKS_MAX && access(pawl_value_string(params, "gate", ""), F_OK) != 0; i++)
        (void)nanosleep(&moment, NULL);
    return pawl_result(step, out_result, "s", "passed");
}

static pawl_status gated(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "gate", NULL, stand, params, out_result);
}

/* ---- What others finish, and what is undone ------------------------------------------------------------------------- */

static pawl_status release(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    return pawl_result(step, out_result, "s", "released");
}

static const struct pawl_compensation releasing = { .undo = release };
static const struct pawl_step_options reserving = { .description = "in the warehouse", .compensate = &releasing };
static const struct pawl_step_options charging = { .retries = 2, .delay = "10 ms", .description = "at the bank" };
static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };

/* Nobody here carries out "charge". */
static pawl_status calls(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "reserve stock", &reserving, reserve, params, NULL));
    return pawl_call(run, "charge the card", "charge", &charging, params, out_result);
}

/* params: {"child": id} */
static pawl_status parent(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_child_options options = { .id = pawl_value_string(params, "child", NULL) };
    return pawl_run_child(run, "ship", "nap", &options, NULL, out_result);
}

/* Into the file "token". */
static pawl_status give_away(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    FILE *file = fopen("token", "we");
    if (file == NULL)
        return pawl_fail(step, "NoFile", "the token cannot be written");
    (void)fprintf(file, "%s\n", pawl_value_string(input, NULL, ""));
    return fclose(file) == 0 ? PAWL_OK : pawl_fail(step, "NoFile", "the token cannot be written");
}

static pawl_status defers(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *token;
    pawl_value *input;
    PAWL_TRY(pawl_do(run, "reserve stock", &reserving, reserve, params, NULL));
    PAWL_TRY(pawl_deferred_token(run, "approval", &token));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", token));
    PAWL_TRY(pawl_do(run, "give away", NULL, give_away, input, NULL));
    return pawl_await_deferred(run, "approval", NULL, out_result);
}

/* Its second step fails for good; as "mends" it is paused then. */
static pawl_status fragile(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "reserve stock", NULL, reserve, params, NULL));
    return pawl_do(run, "call the hotel", &once, call, params, out_result);
}

/* Until the file "mended" is there. */
static pawl_status break_down(pawl_step *step, const pawl_value *unused, pawl_value **out_result)
{
    (void)unused;
    return access("mended", F_OK) == 0 ? pawl_result(step, out_result, "s", "sound")
                                       : pawl_fail(step, "Cracked", "it does not hold");
}

static pawl_status brittle(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "hold", &once, break_down, params, out_result);
}

/* params: {"child": id} */
static pawl_status breeds(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_child_options options = { .id = pawl_value_string(params, "child", NULL) };
    return pawl_run_child(run, "ship", "brittle", &options, NULL, out_result);
}

static const struct pawl_compensation in_vain = { .undo = call, .options = &once };
static const struct pawl_compensation at_last = { .undo = call, .options = &patient };
static const struct pawl_step_options kept = { .compensate = &in_vain };
static const struct pawl_step_options kept_for_now = { .compensate = &at_last };

/* What it did cannot be undone. */
static pawl_status clings(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_do(run, "reserve stock", &kept, reserve, params, NULL));
    return pawl_wait_for_event(run, "wait", "go", NULL, NULL);
}

/* What it did cannot be undone for hours. */
static pawl_status lingers(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_do(run, "reserve stock", &kept_for_now, reserve, params, NULL));
    return pawl_wait_for_event(run, "wait", "go", NULL, NULL);
}

static pawl_status branch_naps(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_sleep(run, "cool down", "2 hours");
}

static pawl_status branch_asks(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    const char *type = pawl_value_string(input, "", "?");
    (void)out_result;
    return pawl_wait_for_event(run, pawl_run_format(run, "await %s", type), type, "24 hours", NULL);
}

static pawl_status branch_races(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    pawl_value *types[2];
    (void)input;
    (void)out_result;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &types[0], "s", "paid"));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &types[1], "s", "cancelled"));
    struct pawl_branch branches[] = { { .run = branch_asks, .input = types[0] },
                                      { .run = branch_asks, .input = types[1] } };
    return pawl_first(run, "reply", branches, 2, NULL);
}

/* Waits for several things at once. */
static pawl_status splits(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[] = { { .run = branch_naps }, { .run = branch_races } };
    (void)params;
    (void)out_result;
    return pawl_all(run, "both", branches, 2, 0);
}

static const char *const tags[] = { "shop", "demo", NULL };

PAWL_MODULE({ .name = "approve", .run = approve, .description = "Reserve, wait for approval, charge", .tags = tags },
            { .name = "breeds", .run = breeds }, { .name = "brittle", .run = brittle },
            { .name = "broken", .run = broken, .description = "Fails", .version = "2.1" },
            { .name = "calls", .run = calls }, { .name = "clings", .run = clings }, { .name = "defers", .run = defers },
            { .name = "echo", .run = echo }, { .name = "flaky", .run = flaky }, { .name = "fragile", .run = fragile },
            { .name = "gated", .run = gated }, { .name = "lingers", .run = lingers },
            { .name = "mends", .run = fragile, .suspend_on_failure = true }, { .name = "nap", .run = nap },
            { .name = "nurses", .run = breeds, .suspend_on_failure = true }, { .name = "parent", .run = parent },
            { .name = "splits", .run = splits }, { .name = "talk", .run = talk });

#elif defined(MODULE_CHARGE)
/* A function for a worker: "charge" waits until the file "charged" is there. */

static pawl_status charge(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const struct timespec moment = { 0, LOOK_MS * 1000000L };
    (void)input;
    for (int i = 0; i < LOOKS_MAX && access("charged", F_OK) != 0; i++)
        (void)nanosleep(&moment, NULL);
    return pawl_result(step, out_result, "s", "charged");
}

PAWL_FUNCTIONS({ .name = "charge", .run = charge });

#elif defined(MODULE_GUARDED)
/* A workflow that not every token may see. */

static pawl_status guarded(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_return(run, out_result, "{s:V}", "kept", params);
}

static const char *const permissions[] = { "admin", NULL };

PAWL_MODULE({ .name = "guarded", .run = guarded, .permissions = permissions });

#else
#error "no module is picked"
#endif
