/* run_why.c - pawl instances why: one paragraph that says why an instance does not move, and the command that would
 * move it.
 *
 * The reason is found from the instance's phase, the steps that it waits in, and, where it is due and nobody takes it
 * up, from the server's figures. */
#include <string.h>

#include "history.h"
#include "metrics.h"
#include "moment.h"
#include "run.h"
#include "view.h"
#include "waiting.h"
#include "why.h"

enum { STEPS_LOOKED_AT = 100, OVERDUE_MS = 2000 };

/* ---- Waiting --------------------------------------------------------------------------------------------------------------- */

/* The run waits in it: one that is being undone waits in what undoes it alone. */
static bool counts(const struct why *why, const json_t *step)
{
    return undoes_another(step) || !is_being_undone(why->steps);
}

/* The steps that wait, joined: "sleeping until ..., and waiting for event ...". */
static const char *join_waits(const struct why *why, size_t *out_count)
{
    const char *joined = "";
    size_t index, count = 0;
    json_t *step;
    json_array_foreach(why->steps, index, step) {
        const char *sentence = waiting_sentence(why->pool, step, why->now_ms);
        if (sentence == NULL || !counts(why, step))
            continue;
        joined = pool_format(why->pool, "%s%s%s", joined, count > 0 ? "; and " : "", sentence);
        count++;
    }
    *out_count = count;
    return joined;
}

/* The newest step that waits as that type does; NULL: there is none. */
static const json_t *waiting_step(const struct why *why, const char *type)
{
    size_t index;
    json_t *step;
    json_array_foreach(why->steps, index, step)
        if (waits_as(step, type) && counts(why, step))
            return step;
    return NULL;
}

static bool is_tried_again(const struct why *why)
{
    size_t index;
    json_t *step;
    json_array_foreach(why->steps, index, step)
        if (json_time_ms(step, "nextRetryAt") != 0 && counts(why, step))
            return true;
    return false;
}

static int64_t earliest_ms(const struct why *why)
{
    int64_t earliest = 0;
    size_t index;
    json_t *step;
    json_array_foreach(why->steps, index, step) {
        bool is_waiting = strcmp(json_text(step, "status", ""), "waiting") == 0 && counts(why, step);
        int64_t ms = is_waiting ? waiting_until_ms(step) : 0;
        if (ms != 0 && (earliest == 0 || ms < earliest))
            earliest = ms;
    }
    return earliest;
}

/* ---- Due, and not taken up -------------------------------------------------------------------------------------------------- */

/* How many runners carry the workflow, or "@" and a function, and take work up when it is due, on all machines; -1: the
 * server does not say. */
static int count_runners(const struct why *why, const char *name)
{
    struct answer answer;
    size_t index, place;
    json_t *runner, *workflow;
    int count = 0;
    if (client_get(why->session, "/cluster", &answer) != EXIT_DONE)
        return -1;
    json_array_foreach(json_at(answer.json, "runners"), index, runner)
        json_array_foreach(json_at(runner, "workflows"), place, workflow)
            count += json_flag(runner, "sharing") && strcmp(json_text(workflow, "name", ""), name) == 0;
    answer_free(&answer);
    return count;
}

static void explain_queue(struct why *why, int64_t since_ms)
{
    struct metrics metrics;
    const char *since = "";
    if (since_ms != 0)
        since = pool_format(why->pool, " since %s, %s,", moment_show(why->pool, since_ms, why->now_ms),
                            moment_relative(why->pool, since_ms, why->now_ms));
    why->reason = "queued";
    if (count_runners(why, why->reference->workflow) == 0) {
        why->text =
            pool_format(why->pool,
                        "%s is due%s and nobody takes it up: no runner on this store carries \"%s\" but when it is "
                        "ticked (pawl cluster). It goes on when a pawld that has it, with workers, is started; or at a "
                        "tick, where the server allows that.",
                        why->name, since, why->reference->workflow);
        why->command = "pawl tick";
        return;
    }
    const char *others = "";
    if (metrics_read(why->session, &metrics) == EXIT_DONE) {
        others = pool_format(why->pool, ": %.0f are due on the store, and the runner of this server holds %.0f",
                             metrics_value(&metrics, "pawl_queue_depth", 0),
                             metrics_value(&metrics, "pawl_runner_in_flight", 0));
        metrics_free(&metrics);
    }
    why->text =
        pool_format(why->pool,
                    "%s is due%s and waits for its turn%s. It goes on by itself; more workers (pawld --workers), or "
                    "another process on the same store, would get there sooner.",
                    why->name, since, others);
}

/* ---- Waiting for others -------------------------------------------------------------------------------------------------------- */

static void explain_event(struct why *why, const json_t *step, const char *waits)
{
    const char *type = json_text(step, "waitsFor.event", "?");
    why->reason = "waitingForEvent";
    why->command = pool_format(why->pool, "pawl instances send-event %s --type %s", why->name, type);
    why->text = pool_format(why->pool, "%s is %s. Nobody has sent it such an event yet; sending one moves it.",
                            why->name, waits);
}

/* Workers over HTTP are known to nobody until they ask; those on the store are. */
static void explain_call(struct why *why, const json_t *step, const char *waits)
{
    const char *function = waiting_function(step), *who;
    why->reason = "waitingForWorker";
    if (waiting_is_taken(step)) {
        why->command = why_command(why, "watch");
        why->text = pool_format(why->pool,
                                "%s is %s. It goes on when that has answered, or at the step's timeout; should it have "
                                "died, another gets the job once its lease is over.",
                                why->name, waits);
        return;
    }
    int count = function != NULL ? count_runners(why, pool_format(why->pool, "@%s", function)) : -1;
    if (count > 0) {
        why->text = pool_format(why->pool,
                                "%s is %s. %d of the runners on this store %s that function (pawl cluster): "
                                "it goes on when one of them has answered, or at the step's timeout.",
                                why->name, waits, count, count == 1 ? "carries" : "carry");
        return;
    }
    who = count == 0 ? "No runner on this store has that function, so no worker for it seems to run, unless one asks "
                       "for jobs over HTTP"
                     : "Whether a worker for it runs is not known";
    why->text = pool_format(why->pool,
                            "%s is %s. %s. It goes on when one has answered: start a worker (pawld --worker), "
                            "or take the job by hand.",
                            why->name, waits, who);
    why->command = pool_format(why->pool, "pawl jobs claim %s", function != NULL ? function : "FUNCTION");
}

static void explain_child(struct why *why, const json_t *step, const char *waits)
{
    const char *status = why_phase_of(why, step), *stands = "";
    why->reason = "waitingForChild";
    why->command = pool_format(why->pool, "pawl instances why %s", child_of(why->pool, step));
    if (status != NULL)
        stands = pool_format(why->pool, ", which is %s", phase_show(status));
    why->text = pool_format(why->pool, "%s is %s%s. It goes on when that one has finished; ask why that has not.",
                            why->name, waits, stands);
}

static void explain_deferred(struct why *why, const char *waits)
{
    why->reason = "waitingForDeferred";
    why->command = "pawl deferred succeed TOKEN";
    why->text = pool_format(why->pool,
                            "%s is %s. Whoever has its token finishes it, with succeed or with fail. The "
                            "workflow has given the token away; the server does not show it.",
                            why->name, waits);
}

static void explain_waiting(struct why *why)
{
    size_t count = 0;
    const char *waits = join_waits(why, &count);
    const json_t *step;
    int64_t until_ms = earliest_ms(why);
    if (count == 0 || (until_ms != 0 && until_ms + OVERDUE_MS < why->now_ms)) {
        explain_queue(why, until_ms);
    } else if ((step = waiting_step(why, "waitForEvent")) != NULL) {
        explain_event(why, step, waits);
    } else if (waiting_step(why, "deferred") != NULL) {
        explain_deferred(why, waits);
    } else if ((step = waiting_step(why, "call")) != NULL) {
        explain_call(why, step, waits);
    } else if ((step = waiting_step(why, "child")) != NULL) {
        explain_child(why, step, waits);
    } else if (is_tried_again(why)) {
        why->reason = "waitingForRetry";
        why->text =
            pool_format(why->pool, "%s is %s. It goes on by itself; its log lines say more (pawl instances logs %s).",
                        why->name, waits, why->name);
    } else {
        why->reason = "sleeping";
        why->text = pool_format(why->pool, "%s is %s. Nothing but time moves it.", why->name, waits);
    }
}

/* ---- Working ----------------------------------------------------------------------------------------------------------------- */

static const char *last_step(const struct why *why)
{
    const json_t *step = json_array_get(why->steps, 0);
    return step != NULL
               ? pool_format(why->pool, "its last finished step is \"%s\", of %s", json_text(step, "name", "?"),
                             moment_relative(why->pool, json_time_ms(step, "updatedAt"), why->now_ms))
               : "no step has finished yet";
}

static void explain_paused(struct why *why)
{
    size_t count = 0;
    const char *waits = join_waits(why, &count);
    why->reason = "paused";
    why->command = why_command(why, "resume");
    why->text = count > 0
                    ? pool_format(why->pool,
                                  "%s is paused: nothing of it runs until it is resumed. Beneath that it is %s; that "
                                  "time goes on counting.",
                                  why->name, waits)
                    : pool_format(why->pool, "%s is paused: nothing of it runs until it is resumed.", why->name);
}

static void explain_repair(struct why *why)
{
    const json_t *step = why_failed_child(why, NULL);
    why->reason = "waitingForRepair";
    why->command = why_command(why, "resume");
    why->text = pool_format(why->pool, "%s is paused, because %s. %s", why->name, failure_show(why->pool, why->steps),
                            step != NULL ? why_child_first(why, step, "resume")
                                         : "Mend what made it fail, then resume it: the step is tried again, from its "
                                           "first attempt.");
}

/* The record says that a runner works on it, and there is none that would: its process has died, and nobody has found that
 * out yet.  Ticks, and runners that are stopping, do not take up work by themselves, but may be at it. */
static void explain_left(struct why *why, const char *phase)
{
    bool pauses = strcmp(phase, "waitingForPause") == 0;
    why->reason = "queued";
    why->command = "pawl tick";
    why->text = pool_format(
        why->pool,
        "A runner began to work on %s, but none that takes up work by itself carries \"%s\" on this store "
        "now (pawl cluster). Unless a tick, or a pawld that is stopping, is at it, its process has died; %s. "
        "It %s when a pawld that has it, with workers, is started; or at a tick, where the server allows "
        "that.",
        why->name, why->reference->workflow, last_step(why), pauses ? "pauses" : "goes on from there");
}

/* What keeps one that is to stop from stopping. */
static const char *explain_stopping(struct why *why, const char *phase)
{
    size_t count = 0;
    const char *waits = join_waits(why, &count);
    if (strcmp(phase, "paused") == 0 || strcmp(phase, "waitingForPause") == 0) {
        why->command = why_command(why, "resume");
        return pool_format(why->pool, "But it %s: it ends only once it is resumed%s%s.",
                           strcmp(phase, "paused") == 0 ? "is paused" : "is about to pause",
                           count > 0 ? "; beneath that it is " : "", waits);
    }
    if (count == 0 && strcmp(phase, "queued") == 0) {
        explain_queue(why, json_time_ms(why->meta, "updatedAt"));
        return why->text;
    }
    if (count == 0 && strcmp(phase, "running") == 0 && count_runners(why, why->reference->workflow) == 0) {
        explain_left(why, phase);
        return why->text;
    }
    why->command = why_command(why, "watch");
    return pool_format(why->pool, "%s%s%sIt goes on by itself.", count > 0 ? "Now it is " : "", waits,
                       count > 0 ? ". " : "");
}

static void explain_interrupted(struct why *why, const char *phase)
{
    const char *stops = explain_stopping(why, phase);
    why->reason = "interrupted";
    why->text = pool_format(why->pool, "%s was told to stop (%s). %s", why->name, demand_show(why->meta), stops);
}

static void explain_moving(struct why *why, const char *phase)
{
    why->reason = phase;
    if (count_runners(why, why->reference->workflow) == 0) {
        explain_left(why, phase);
    } else if (strcmp(phase, "waitingForPause") == 0) {
        why->command = why_command(why, "resume");
        why->text =
            pool_format(why->pool,
                        "%s is about to pause: a runner still works on it, and it pauses when the step under way "
                        "ends; %s. Resuming takes the pause back.",
                        why->name, last_step(why));
    } else {
        why->text =
            pool_format(why->pool,
                        "%s does move: a runner works on it now; %s. What the step under way does, only its code "
                        "knows; when it outlives its timeout it is tried again.",
                        why->name, last_step(why));
        why->command = why_command(why, "watch");
    }
}

static void explain(struct why *why)
{
    const char *status = json_text(why->details, "status", ""), *phase = phase_of(why->details);
    if (strcmp(status, "complete") == 0 || strcmp(status, "errored") == 0 || strcmp(status, "terminated") == 0)
        why_ended(why, status);
    else if (json_flag(why->meta, "interrupted"))
        explain_interrupted(why, phase);
    else if (strcmp(phase, "waitingForPause") == 0 || strcmp(phase, "running") == 0)
        explain_moving(why, phase);
    else if (strcmp(phase, "waitingForRepair") == 0)
        explain_repair(why);
    else if (strcmp(status, "paused") == 0)
        explain_paused(why);
    else if (strcmp(status, "waiting") == 0)
        explain_waiting(why);
    else
        explain_queue(why, json_time_ms(why->meta, "updatedAt"));
}

/* ---- All of it ----------------------------------------------------------------------------------------------------------------- */

/* The paragraph, broken into lines where there is a width; elsewhere it is one, which tools for lines can take. */
static void put_paragraph(struct session *session, const char *text)
{
    size_t width = session->screen.width > 0 ? session->screen.width : (size_t)-1, used = 0;
    for (const char *word = safe(&session->pool, text); *word != '\0';) {
        size_t size = strcspn(word, " "), columns = text_width(pool_copy(&session->pool, word, size));
        if (used > 0 && used + 1 + columns > width) {
            text_put(&session->out, "\n");
            used = 0;
        }
        text_put(&session->out, used > 0 ? " " : "");
        text_put_size(&session->out, word, size);
        used += columns + (used > 0);
        word += size + (word[size] == ' ');
    }
    text_put(&session->out, "\n");
}

static enum exit_code print(struct why *why)
{
    struct session *session = why->session;
    if (session_is_json(session)) {
        json_t *json =
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s?}", "workflowName", why->reference->workflow, "id",
                      why->reference->id, "status", json_text(why->details, "status", ""), "phase",
                      phase_of(why->details), "reason", why->reason, "text", why->text, "command", why->command);
        if (json == NULL)
            out_of_memory();
        session_put_json(session, json);
        json_decref(json);
        return session_print(session);
    }
    put_paragraph(session, why->text);
    if (why->command != NULL) {
        text_put(&session->out, "\n    ");
        screen_put(&session->screen, &session->out, STYLE_BOLD, safe(&session->pool, why->command));
        text_put(&session->out, "\n");
    }
    return session_print(session);
}

enum exit_code run_instances_why(struct session *session)
{
    struct reference reference;
    struct answer answer;
    json_t *history = NULL;
    enum exit_code code = reference_find(session, &reference);
    if (code == EXIT_DONE)
        code = client_get(session, reference_path(&session->pool, &reference), &answer);
    if (code != EXIT_DONE)
        return code;
    struct history_query query = { .run = json_number(answer.json, "meta.runNumber", 0),
                                   .order = "desc",
                                   .limit = STEPS_LOOKED_AT };
    code = history_fetch(session, &reference, &query, &history);
    if (code == EXIT_DONE) {
        struct why why = { .session = session,
                           .pool = &session->pool,
                           .reference = &reference,
                           .name = reference_name(&session->pool, &reference),
                           .details = json_at(answer.json, "details"),
                           .meta = json_at(answer.json, "meta"),
                           .steps = json_at(history, "steps"),
                           .now_ms = session->screen.now_ms };
        explain(&why);
        code = print(&why);
    }
    json_decref(history);
    answer_free(&answer);
    return code;
}
