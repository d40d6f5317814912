/* agent.c - an agent's loop: plan, act, observe, until it is done or has used up its rounds.
 *
 *     ./agent           runs agent-1 in agent.db
 *     ./agent agent-2   runs another one
 *
 * A model's answer costs time and money and is never the same twice, so each answer is a step.  Once it is recorded,
 * the model is not asked again, and a run that is killed goes on with the same plan.  The number in the steps' names
 * tells the rounds apart.  The "model" here is a few lines of C that find a number between 1 and 100, so that the
 * example runs anywhere. */
#include <pawl/pawl.h>
#include <string.h>

enum { ROUNDS_MAX = 10, SECRET = 73 };

/* The model: decides what to do next, given what is known so far. */
static pawl_status plan(pawl_step *step, const pawl_value *knowledge, pawl_value **out_result)
{
    int64_t low = pawl_value_int(knowledge, "low", 1), high = pawl_value_int(knowledge, "high", 100);
    return pawl_result(step, out_result, "{s:s, s:I}", "tool", "guess", "number", (long long)((low + high) / 2));
}

/* The tool: carries out what the model has planned. */
static pawl_status act(pawl_step *step, const pawl_value *action, pawl_value **out_result)
{
    int64_t number = pawl_value_int(action, "number", 0);
    if (strcmp(pawl_value_string(action, "tool", ""), "guess") != 0)
        return pawl_fail_for_good(step, "UnknownTool", "the plan names a tool that is not there");
    return pawl_result(step, out_result, "{s:s}", "saw", number < SECRET ? "more" : number > SECRET ? "less" : "found");
}

/* Updates what is known after an observation.  It only uses recorded results, so every replay computes the same. */
static pawl_status observe(pawl_run *run, const pawl_value *knowledge, const pawl_value *action,
                           const pawl_value *observation, pawl_value **out_knowledge)
{
    long long low = pawl_value_int(knowledge, "low", 1), high = pawl_value_int(knowledge, "high", 100);
    long long number = pawl_value_int(action, "number", 0);
    if (strcmp(pawl_value_string(observation, "saw", ""), "more") == 0)
        low = number + 1;
    else
        high = number - 1;
    return pawl_value_pack(pawl_run_scope(run), out_knowledge, "{s:I, s:I}", "low", low, "high", high);
}

static pawl_status agent(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *knowledge = NULL, *action, *observation;
    (void)params;

    for (int round = 1; round <= ROUNDS_MAX; round++) {
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "plan %d", round), NULL, plan, knowledge, &action));
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "act %d", round), NULL, act, action, &observation));
        if (strcmp(pawl_value_string(observation, "saw", ""), "found") == 0)
            return pawl_return(run, out_result, "{s:I, s:i}", "answer", (long long)pawl_value_int(action, "number", 0),
                               "rounds", round);
        PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, "agent", observation, "round %d was not the last", round));
        PAWL_TRY(observe(run, knowledge, action, observation, &knowledge));
    }
    return pawl_run_fail(run, "GaveUp", "no answer after %d rounds", ROUNDS_MAX);
}

/* Calling a model is slow, and its server is often busy. */
static const struct pawl_step_options model_call = { .retries = 5, .delay = "2 seconds", .timeout = "2 minutes" };

PAWL_MODULE({ .name = "agent", .run = agent, .steps = &model_call });

#ifndef PAWL_NO_MAIN
#include "host.h"

int main(int argc, char **argv)
{
    return host_run("sqlite:agent.db", &pawl_module, "agent", argc > 1 ? argv[1] : "agent-1", NULL);
}
#endif
