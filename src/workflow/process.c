/* process.c - runs a program as a step's body: JSON on its standard input, and its result on its standard output. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* environ, sigabbrev_np */
#endif
#include "base/process.h"

#include <string.h>
#include <unistd.h>

#include "workflow/run.h"

enum {
    OWN_VARIABLES = 5,
    OUTPUT_BYTES_MAX = 64 << 20 /* protects memory; the limit of results is checked with all results */
};

/* ---- Its environment --------------------------------------------------------------------------------------------- */

static bool has_name_of(const char *const *texts, size_t count, const char *text)
{
    size_t size = strcspn(text, "=") + 1;
    for (size_t i = 0; i < count; i++)
        if (strncmp(texts[i], text, size) == 0)
            return true;
    return false;
}

/* The engine's variables, those of the step, and those of the host.  The first one of a name counts.  NULL when
 * memory runs out. */
static const char *const *make_environment(pawl_step *step, const struct pw_body *body)
{
    const struct pawl_turn_info *info = &step->run->info;
    const char *own[OWN_VARIABLES + 1] = {
        pawl_scope_format(step->scope, "PAWL_WORKFLOW=%s", info->workflow),
        pawl_scope_format(step->scope, "PAWL_INSTANCE_ID=%s", info->instance_id),
        pawl_scope_format(step->scope, "PAWL_RUN_NUMBER=%lld", (long long)info->run_number),
        pawl_scope_format(step->scope, "PAWL_STEP=%s", body->name),
        pawl_scope_format(step->scope, "PAWL_ATTEMPT=%lld", (long long)pawl_step_attempt(step)),
    };
    const char *const *sources[] = { own, body->process->environment, (const char *const *)environ };
    size_t room = 1, count = 0;
    if (pw_count_texts(own) < OWN_VARIABLES)
        return NULL;
    for (size_t i = 0; i < 3; i++)
        room += pw_count_texts(sources[i]);
    const char **all = pawl_scope_take(step->scope, room * sizeof *all);
    for (size_t i = 0; all != NULL && i < 3; i++) {
        for (const char *const *text = sources[i]; text != NULL && *text != NULL; text++)
            if (!has_name_of(all, count, *text))
                all[count++] = *text;
    }
    if (all != NULL)
        all[count] = NULL;
    return all;
}

/* ---- How it went ------------------------------------------------------------------------------------------------- */

static pawl_status take_output(pawl_step *step, const char *program, const struct pw_process_outcome *outcome,
                               pawl_value **out_result)
{
    struct pawl_error error;
    struct pw_text output = pw_text_trim((struct pw_text){ outcome->output, outcome->output_size });
    if (outcome->complaints[0] != '\0')
        PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, "process", NULL, "%s", outcome->complaints));
    if (output.size == 0)
        return PAWL_OK;
    pawl_status status = pawl_value_parse(step->scope, output.data, output.size, out_result, &error);
    if (status == PAWL_OK || status == PAWL_NOMEM)
        return status;
    return pawl_fail(step, "PROCESS_OUTPUT_INVALID", "what %s wrote is not one JSON value: %s", program, error.text);
}

static pawl_status judge(pawl_step *step, const struct pawl_process *process, const struct pw_process_outcome *outcome,
                         pawl_value **out_result)
{
    const char *program = process->arguments[0];
    const char *separator = outcome->complaints[0] != '\0' ? ": " : "";
    const char *signal_name;
    pawl_status (*fail)(pawl_step * step, const char *error_name, const char *format, ...) PAWL_PRINTF(3, 4);
    switch (outcome->end) {
    case PW_PROCESS_EXITED:
        if (outcome->number == 0)
            return take_output(step, program, outcome, out_result);
        fail = outcome->number == process->exit_code_for_good ? pawl_fail_for_good : pawl_fail;
        return fail(step, "PROCESS_FAILED", "%s ended with exit code %d%s%s", program, outcome->number, separator,
                    outcome->complaints);
    case PW_PROCESS_SIGNALLED:
        signal_name = sigabbrev_np(outcome->number);
        return pawl_fail(step, "PROCESS_FAILED", "%s was killed by signal %d (SIG%s)%s%s", program, outcome->number,
                         signal_name != NULL ? signal_name : "?", separator, outcome->complaints);
    case PW_PROCESS_UNWANTED:
        return PAWL_STEP_TIMEOUT;
    case PW_PROCESS_OVERFLOWED:
        return pawl_fail_for_good(step, pawl_status_name(PAWL_PAYLOAD_TOO_LARGE), "%s wrote more than %d bytes",
                                  program, OUTPUT_BYTES_MAX);
    case PW_PROCESS_NOT_STARTED:
        return pawl_fail(step, "PROCESS_NOT_STARTED", "%s cannot be started: %s", program,
                         strerrordesc_np(outcome->number));
    case PW_PROCESS_UNKNOWN:
        break;
    }
    return pawl_fail(step, "PROCESS_FAILED", "the exit status of %s is unknown: the host collected it", program);
}

/* ---- The body ---------------------------------------------------------------------------------------------------- */

static bool is_wanted(void *user)
{
    const pawl_step *step = user;
    return !pawl_step_cancelled(step); /* also after its timeout */
}

static pawl_status run_program(pawl_step *step, const struct pw_body *body, const pawl_value *input,
                               pawl_value **out_result)
{
    struct pw_process process = { .arguments = body->process->arguments,
                                  .environment = make_environment(step, body),
                                  .directory = body->process->directory,
                                  .output_max = OUTPUT_BYTES_MAX,
                                  .is_wanted = is_wanted,
                                  .user = step };
    struct pw_process_outcome outcome;
    if (process.environment == NULL)
        return PAWL_NOMEM;
    PAWL_TRY(pawl_value_text(step->scope, input, &process.input.data, &process.input.size));
    if (!pw_process_run(&process, &outcome))
        return PAWL_NOMEM;
    pawl_status status = judge(step, body->process, &outcome, out_result);
    pw_process_outcome_clear(&outcome);
    return status;
}

pawl_status pawl_do_process(pawl_run *run, const char *name, const struct pawl_step_options *options,
                            const struct pawl_process *process, const pawl_value *input, pawl_value **out_result)
{
    if (process != NULL && (process->arguments == NULL || process->arguments[0] == NULL))
        return pw_run_misused(run, PAWL_INVALID, "a process needs a program to run");
    struct pw_body body = { .name = name, .run = process != NULL ? run_program : NULL, .process = process };
    return pw_run_do(run, options, &body, input, out_result);
}
