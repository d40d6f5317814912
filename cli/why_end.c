/* why_end.c - see why.h. */
#include "why.h"

#include <string.h>

#include "moment.h"
#include "view.h"
#include "waiting.h"

const char *why_command(const struct why *why, const char *verb)
{
    return pool_format(why->pool, "pawl instances %s %s", verb, why->name);
}

/* ---- What became of it ---------------------------------------------------------------------------------------------------- */

static const char *ended_when(const struct why *why)
{
    int64_t ms = json_time_ms(why->meta, "completedAt");
    return ms != 0 ? pool_format(why->pool, " at %s, %s", moment_show(why->pool, ms, why->now_ms),
                                 moment_relative(why->pool, ms, why->now_ms))
                   : "";
}

/* Compensations have run: then there is nothing to go on from. */
static bool is_undone(const struct why *why)
{
    return is_being_undone(why->steps);
}

/* Those that could not undo what they were to: 'step "compensate: charge" failed for good (Stuck: no answer)'; NULL: there
 * are none. */
static const char *undone_in_vain(const struct why *why)
{
    const char *joined = NULL;
    size_t index;
    json_t *step;
    json_array_foreach(why->steps, index, step) {
        if (!undoes_another(step) || !has_failed(step))
            continue;
        const char *error = error_show(why->pool, step, "error");
        joined = pool_format(why->pool, "%s%sstep \"%s\" failed for good (%s)", joined != NULL ? joined : "",
                             joined != NULL ? ", and " : "", json_text(step, "name", "?"), error);
    }
    if (joined == NULL && strcmp(json_text(why->details, "error.name", ""), "COMPENSATION_FAILED") == 0)
        joined = json_text(why->details, "error.message", "its log lines say which"); /* it is further back */
    return joined;
}

/* ---- Children that failed ------------------------------------------------------------------------------------------------ */

const json_t *why_failed_child(const struct why *why, const json_t *error)
{
    size_t index;
    json_t *step;
    json_array_foreach(why->steps, index, step)
        if (has_failed(step) && child_of(why->pool, step) != NULL &&
            (error == NULL || json_equal(error, json_at(step, "error"))))
            return step;
    return NULL;
}

const char *why_phase_of(const struct why *why, const json_t *step)
{
    struct reference reference = { json_text(step, "waitsFor.workflowName", ""),
                                   json_text(step, "waitsFor.instanceId", "") };
    const char *status;
    struct answer answer;
    if (client_probe(why->session, reference_path(why->pool, &reference), &answer) != EXIT_DONE)
        return NULL;
    status = pool_string(why->pool, phase_of(json_at(answer.json, "details")));
    answer_free(&answer);
    return status;
}

const char *why_child_first(struct why *why, const json_t *step, const char *verb)
{
    const char *child = child_of(why->pool, step), *status = why_phase_of(why, step), *own;
    if (status != NULL && strcmp(status, "errored") != 0 && strcmp(status, "terminated") != 0)
        return pool_format(why->pool,
                           "Its child %s had failed, and is %s by now: %s this one, and it takes up how that "
                           "ends.",
                           child, phase_show(status), verb);
    own = status != NULL && strcmp(status, "terminated") == 0 ? "restart" : "retry";
    why->command = pool_format(why->pool, "pawl instances %s %s", own, child);
    return pool_format(why->pool,
                       "It failed because its child %s did: mend and %s that one first (pawl instances why %s says "
                       "how), then %s this one (pawl instances %s %s); it waits for the child's new run.",
                       child, own, child, verb, verb, why->name);
}

/* ---- Ended ----------------------------------------------------------------------------------------------------------------- */

/* What can be done with a run that failed, beginning with a capital letter. */
static const char *ways_on_from_failure(struct why *why)
{
    const json_t *step = why_failed_child(why, json_at(why->details, "error"));
    const char *in_vain = undone_in_vain(why);
    if (in_vain != NULL)
        return pool_format(why->pool,
                           "Some of what it did was not undone: %s. Undo that by hand; a restart, from the top, is the "
                           "only way on.",
                           in_vain);
    if (is_undone(why))
        return step != NULL
                   ? pool_format(why->pool,
                                 "It failed because its child %s did. What its steps did was undone: once the cause is "
                                 "mended, a new run starts it over.",
                                 child_of(why->pool, step))
                   : "Once the cause is mended, a new run starts it over: what its steps did was undone.";
    if (json_array_size(why->steps) == 0) /* a run that keeps nothing is as good as a new one */
        return "Once the cause is mended, a new run starts it over.";
    why->command = why_command(why, "retry");
    return step != NULL ? why_child_first(why, step, "retry")
                        : "Once the cause is mended, a retry keeps what had finished and tries the step that failed "
                          "again; a restart starts it over.";
}

static void explain_errored(struct why *why)
{
    const char *error = error_show(why->pool, why->details, "error");
    why->text = pool_format(why->pool, "%s has failed%s with %s, which its workflow did not handle. %s", why->name,
                            ended_when(why), error[0] != '\0' ? error : "an error", ways_on_from_failure(why));
}

/* A new run may keep what was before a step, unless it was undone. */
static const char *where_from(const struct why *why)
{
    if (is_undone(why))
        return "Only a new run, from the top, would start it again: what its steps did was undone.";
    if (json_array_size(why->steps) == 0)
        return "Only a new run, from the top, would start it again.";
    return "Only a new run would start it again: from the top, or from one of its steps, with what was before that kept "
           "(--from STEP).";
}

static void explain_terminated(struct why *why)
{
    const char *in_vain = undone_in_vain(why);
    bool is_interrupted = strcmp(json_text(why->details, "error.name", ""), "INTERRUPTED") == 0;
    why->text = in_vain != NULL
                    ? pool_format(why->pool,
                                  "%s was terminated%s, but some of what it did was not undone: %s. Undo that by hand; "
                                  "a restart, from the top, is the only way on.",
                                  why->name, ended_when(why), in_vain)
                    : pool_format(why->pool, "%s was %s%s. %s", why->name,
                                  is_interrupted ? "interrupted" : "terminated", ended_when(why), where_from(why));
}

void why_ended(struct why *why, const char *status)
{
    why->reason = status;
    why->command = why_command(why, "restart");
    if (strcmp(status, "complete") == 0)
        why->text =
            pool_format(why->pool, "%s has finished: it completed%s. %s", why->name, ended_when(why), where_from(why));
    else if (strcmp(status, "errored") == 0)
        explain_errored(why);
    else
        explain_terminated(why);
}
