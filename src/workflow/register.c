/* register.c - making a workflow known to the engine, and running it as a turn function. */
#include <stdlib.h>

#include "base/error.h"
#include "value/value.h"
#include "workflow/run.h"

static void end_turn(pawl_run *run, pawl_status status, const pawl_value *result)
{
    const char *text = NULL;
    size_t size = 0;
    if (status == PAWL_OK)
        status = pawl_value_text(run->scope, result, &text, &size);
    if (pw_scope_failed(run->scope))
        status = pw_scope_status(run->scope);
    if (status == PAWL_OK)
        pawl_turn_finish(run->turn, text, size);
    else if (status == PAWL_SUSPENDED && !pawl_lane_suspended(run->lane))
        pawl_turn_fail(run->turn, "SUSPENDED_FOR_NOTHING",
                       "the workflow returned PAWL_SUSPENDED, but no durable call had said so");
    else if (status == PAWL_SUSPENDED || status == PAWL_NOMEM)
        pawl_turn_suspend(run->turn);
    else if (status == run->failed)
        pawl_turn_fail(run->turn, run->failure.name, run->failure.message);
    else
        pawl_turn_fail(run->turn, pawl_status_name(status), pawl_status_text(status));
}

static void advance(pawl_turn *turn, void *user)
{
    const struct pw_registration *registration = user;
    pawl_run run = { .turn = turn,
                     .lane = pawl_turn_lane(turn),
                     .scope = pawl_scope_new(),
                     .registration = registration,
                     .failed = PAWL_OK };
    pawl_value *params, *result = NULL;
    if (run.scope == NULL) {
        pawl_turn_suspend(turn);
        return;
    }
    pawl_turn_describe(turn, &run.info);
    struct pw_text text = { run.info.params_json, run.info.params_size };
    pawl_status status = pw_value_of_text(run.scope, text, &params);
    if (status == PAWL_OK)
        status = registration->run(&run, params, &result);
    end_turn(&run, status, result);
    pawl_scope_free(run.scope);
}

static size_t count_tags(const char *const *tags)
{
    size_t count = 0;
    while (tags != NULL && tags[count] != NULL)
        count++;
    return count;
}

pawl_status pawl_register(pawl_engine *engine, const struct pawl_workflow *workflow, struct pawl_error *error)
{
    if (engine == NULL || workflow == NULL || workflow->run == NULL)
        return pw_error(error, PAWL_INVALID, "a workflow needs a name and a run function");
    struct pw_registration *registration = calloc(1, sizeof *registration);
    if (registration == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    registration->run = workflow->run;
    registration->user = workflow->user;
    pawl_policy_default(&registration->policy);
    struct pawl_definition definition = { .struct_size = sizeof definition,
                                          .name = workflow->name,
                                          .description = workflow->description,
                                          .tags = workflow->tags,
                                          .tag_count = count_tags(workflow->tags),
                                          .limits = workflow->limits,
                                          .advance = advance,
                                          .user = registration };
    /* Kept until the engine is closed, also when it is refused: the engine must never hold what is gone. */
    pawl_status status = pawl_at_close(engine, free, registration);
    if (status != PAWL_OK) {
        free(registration);
        return pw_error_plain(error, status);
    }
    status = pw_policy_merge(&registration->policy, workflow->steps, error);
    const char *wrong = pawl_policy_wrong(&registration->policy);
    if (status == PAWL_OK && wrong != NULL)
        status = pw_error(error, PAWL_INVALID, "the default step options of workflow \"%.80s\": %s",
                          workflow->name != NULL ? workflow->name : "", wrong);
    return status == PAWL_OK ? pawl_define(engine, &definition, error) : status;
}
