/* modules.c - the modules that pawld loads in these tests.
 *
 * Each is compiled from this file alone, with a definition that picks it: MODULE_GATES makes module_gates.so. */
#include <pawl/workflow.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#if defined(MODULE_GATES) || defined(MODULE_STUCK) || defined(MODULE_FUNCTIONS)
/* A gate is a file.  Code that stands at a gate waits until the file is there. */

/* Adds a line to "<gate>.log". */
static void gate_note(const char *gate, const char *what)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s.log", gate);
    FILE *file = fopen(path, "ae");
    if (file == NULL)
        return;
    (void)fprintf(file, "%s\n", what);
    (void)fclose(file);
}

/* Notes "begun", and waits for a minute at the most. */
static void gate_stand(const char *gate)
{
    enum { LOOKS_MAX = 12000, LOOK_MS = 5 };
    const struct timespec moment = { 0, LOOK_MS * 1000000L };
    gate_note(gate, "begun");
    for (int i = 0; i < LOOKS_MAX && access(gate, F_OK) != 0; i++)
        (void)nanosleep(&moment, NULL);
}
#endif

#if defined(MODULE_GATES)
/* Workflows whose steps a test can meet: bodies stand at a gate until its file is there. */

/* input: the gate's path.  "<path>.log" gets a line when the body begins, and one when it ends. */
static pawl_status pass_gate(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *gate = pawl_value_string(input, NULL, "");
    gate_stand(gate);
    gate_note(gate, "ended");
    return pawl_result(step, out_result, "s", "passed");
}

static pawl_status first_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    gate_note(pawl_value_string(input, NULL, ""), "first");
    return pawl_result(step, out_result, "i", 1);
}

/* params: {"gate": "path"} */
static pawl_status gated(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const pawl_value *gate = pawl_value_at(params, "gate");
    PAWL_TRY(pawl_do(run, "first", NULL, first_body, gate, NULL));
    return pawl_do(run, "gate", NULL, pass_gate, gate, out_result);
}

static pawl_status echo(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_return(run, out_result, "{s:V}", "echo", params);
}

static pawl_status nap(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", "1 hour", NULL));
    return pawl_return(run, out_result, "s", "rested");
}

PAWL_MODULE({ .name = "gated", .run = gated }, { .name = "echo", .run = echo }, { .name = "nap", .run = nap });

#elif defined(MODULE_STUCK)
/* A workflow whose code blocks outside a step until a file is there, and one that does not block. */

static pawl_status first_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    return pawl_result(step, out_result, "i", 1);
}

/* params: {"gate": "path"}.  "<path>.log" gets a line when the wait begins. */
static pawl_status stuck(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *gate = pawl_value_string(params, "gate", "");
    PAWL_TRY(pawl_do(run, "first", NULL, first_body, NULL, NULL));
    gate_stand(gate);
    return pawl_return(run, out_result, "s", "passed");
}

static pawl_status echo(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_return(run, out_result, "{s:V}", "echo", params);
}

PAWL_MODULE({ .name = "stuck", .run = stuck }, { .name = "echo", .run = echo });

#elif defined(MODULE_FUNCTIONS)
/* Functions for workers, and a workflow that a worker does not want. */

static pawl_status twice(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_result(step, out_result, "I", (long long)(2 * pawl_value_int(input, NULL, 0)));
}

/* input: the gate's path. */
static pawl_status stand(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *gate = pawl_value_string(input, NULL, "");
    gate_stand(gate);
    gate_note(gate, "ended");
    return pawl_result(step, out_result, "s", "passed");
}

static pawl_status unwanted(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run, (void)params, (void)out_result;
    return PAWL_OK;
}

PAWL_FUNCTIONS({ .name = "double", .run = twice }, { .name = "stand", .run = stand });
PAWL_MODULE({ .name = "unwanted", .run = unwanted });

#elif defined(MODULE_CALLS)
/* Workflows that others finish: workers, whoever has a token, and those with permissions.  No functions. */

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

#elif defined(MODULE_PROGRAMS)
/* A workflow whose step is a program. */

/* params: {"script": "for sh"} */
static pawl_status program(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *arguments[] = { "sh", "-c", pawl_value_string(params, "script", "false"), NULL };
    struct pawl_process process = { .arguments = arguments };
    static const struct pawl_step_options options = { .timeout = "1 hour" };
    return pawl_do_process(run, "program", &options, &process, NULL, out_result);
}

PAWL_MODULE({ .name = "program", .run = program });

#elif defined(MODULE_OLD)
/* Built for another version of the interface. */

extern PAWL_API const struct pawl_module pawl_module;
const struct pawl_module pawl_module = { PAWL_MODULE_VERSION + 98, sizeof(struct pawl_workflow), 0, NULL, NULL };

#else
#error "no module is picked"
#endif
