/* run_why.c - pawl instances why: why an instance does not move, and the command that would move it.
 *
 * The server answers both.  This file prints them as a paragraph, one line for each thing that it waits for if there are
 * several, and command lines. */
#include <string.h>

#include "moment.h"
#include "run.h"
#include "view.h"
#include "reason.h"

enum { COMMANDS_MAX = 10 };

struct why {
    struct session *session;
    struct pool *pool;
    const json_t *said, *node; /* the answer, and the topmost node in it */
    const char *workflow;
    const char *name; /* of the instance; "It" once it was named */
    int64_t now_ms;
};

static bool is_about(const struct why *why, const char *reason)
{
    return json_is(why->node, "reason", reason);
}

static const json_t *only_part(const struct why *why)
{
    const json_t *parts = json_at(why->node, "parts");
    return json_array_size(parts) == 1 ? json_array_get(parts, 0) : NULL;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------------------- */

/* NULL: there is none. */
static const char *command_line(struct pool *pool, const json_t *command)
{
    const char *verb = json_text(command, "verb", NULL);
    const struct reference about = { json_text(command, "workflowName", "?"), json_text(command, "instanceId", "?") };
    const char *name = reference_name(pool, &about);
    if (verb == NULL)
        return NULL;
    if (strcmp(verb, "tick") == 0)
        return "pawl tick";
    if (strcmp(verb, "succeed") == 0)
        return "pawl deferred succeed TOKEN";
    if (strcmp(verb, "claim") == 0)
        return pool_format(pool, "pawl jobs claim %s", json_text(command, "function", "FUNCTION"));
    if (strcmp(verb, "send-event") == 0)
        return pool_format(pool, "pawl instances send-event %s --type %s", name, json_text(command, "event", "TYPE"));
    return pool_format(pool, "pawl instances %s %s", verb, name);
}

struct command_lines {
    const char *lines[COMMANDS_MAX];
    size_t count;
};

static void add_command(struct pool *pool, struct command_lines *commands, const json_t *node)
{
    const char *line = command_line(pool, json_at(node, "command"));
    for (size_t i = 0; line != NULL && i < commands->count; i++)
        if (strcmp(commands->lines[i], line) == 0)
            return;
    if (line != NULL && commands->count < COMMANDS_MAX)
        commands->lines[commands->count++] = line;
}

/* The command of the node, and of its parts if it is a fork. */
static void add_commands(struct pool *pool, struct command_lines *commands, const json_t *node)
{
    const char *reason = json_text(node, "reason", "");
    add_command(pool, commands, node);
    if (strcmp(reason, "all") == 0 || strcmp(reason, "first") == 0)
        json_each(part, json_at(node, "parts"))
            add_commands(pool, commands, part.value);
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------------------- */

static const char *hint_for_worker(const struct why *why)
{
    int64_t runners = json_number(why->node, "runners", 0);
    if (json_at(why->node, "job.takenAt") != NULL)
        return "It goes on when that has answered, or at the step's timeout; should it have died, another gets the job once "
               "its lease is over.";
    if (runners > 0)
        return pool_format(why->pool,
                           "%lld of the runners on this store %s that function (pawl cluster): it goes on when one of "
                           "them has answered, or at the step's timeout.",
                           (long long)runners, runners == 1 ? "carries" : "carry");
    return "No runner on this store has that function, so no worker for it seems to run, unless one asks for jobs over "
           "HTTP. It goes on when one has answered: start a worker (pawld --worker), or take the job by hand.";
}

static const char *hint(const struct why *why)
{
    if (is_about(why, "waitingForEvent"))
        return "Nobody has sent it such an event yet; sending one moves it.";
    if (is_about(why, "waitingForDeferred"))
        return "Whoever has its token finishes it, with succeed or with fail. The workflow has given the token away; the "
               "server does not show it.";
    if (is_about(why, "waitingForWorker"))
        return hint_for_worker(why);
    if (is_about(why, "waitingForChild"))
        return "It goes on when that one has finished; ask why that has not.";
    if (is_about(why, "sleeping"))
        return "Nothing but time moves it.";
    return pool_format(why->pool, "It goes on by itself; its log lines say more (pawl instances logs %s/%s).",
                       why->workflow, json_text(why->said, "id", "?"));
}

static const char *explain_waiting(const struct why *why)
{
    const char *sentence = reason_sentence(why->pool, why->node, why->now_ms);
    if (json_at(why->node, "parts") != NULL) /* lines follow */
        return pool_format(why->pool, "%s is %s:", why->name, sentence);
    return pool_format(why->pool, "%s is %s. %s", why->name, sentence, hint(why));
}

static const char *explain_paused(const struct why *why)
{
    const json_t *part = only_part(why);
    if (part == NULL)
        return pool_format(why->pool, "%s is paused: nothing of it runs until it is resumed.", why->name);
    return pool_format(why->pool, "%s is paused: nothing of it runs until it is resumed. Beneath that it is %s%s",
                       why->name, reason_sentence(why->pool, part, why->now_ms),
                       json_at(part, "parts") != NULL ? ":" : "; that time goes on counting.");
}

/* ---- With runners, or without ---------------------------------------------------------------------------------------------- */

static const char *show_since(const struct why *why)
{
    int64_t since_ms = json_time_ms(why->node, "since");
    return since_ms != 0 ? pool_format(why->pool, " since %s, %s,", moment_show(why->pool, since_ms, why->now_ms),
                                       moment_relative(why->pool, since_ms, why->now_ms))
                         : "";
}

static const char *show_last_step(const struct why *why)
{
    const json_t *step = json_at(why->said, "lastStep");
    return step != NULL
               ? pool_format(why->pool, "its last recorded step is \"%s\", of %s", json_text(step, "name", "?"),
                             moment_relative(why->pool, json_time_ms(step, "updatedAt"), why->now_ms))
               : "no step has finished yet";
}

static const char *explain_due(const struct why *why)
{
    int64_t runners = json_number(why->node, "runners", 0);
    if (is_about(why, "unserved"))
        return pool_format(
            why->pool,
            "%s is due%s and nobody takes it up: no runner on this store carries \"%s\" but when it is "
            "ticked (pawl cluster). It goes on when a pawld that has it, with workers, is started; or at a "
            "tick, where the server allows that.",
            why->name, show_since(why), why->workflow);
    return pool_format(
        why->pool,
        "%s is due%s and waits for its turn: %s its workflow (pawl cluster), and none has taken it yet; pawl "
        "status says how many are due. It goes on by itself; more workers (pawld --workers), or another "
        "process on the same store, would get there sooner.",
        why->name, show_since(why),
        runners == 1 ? "1 runner carries" : pool_format(why->pool, "%lld runners carry", (long long)runners));
}

static const char *explain_lost(const struct why *why)
{
    bool pauses = json_is(why->said, "phase", "waitingForPause");
    int64_t until_ms = json_time_ms(why->node, "until");
    const char *goes_on = pauses ? "pauses" : "goes on from there", *how;
    how = json_number(why->node, "runners", 0) > 0
              ? pool_format(why->pool, "It %s when another runner has taken it up, once its lease is over (%s).",
                            goes_on, until_ms != 0 ? moment_show(why->pool, until_ms, why->now_ms) : "now")
              : pool_format(why->pool,
                            "No runner on this store takes up \"%s\" by itself (pawl cluster). It %s when a pawld that "
                            "has it, with workers, is started; or at a tick, where the server allows that.",
                            why->workflow, goes_on);
    return pool_format(why->pool, "%s is nobody's: a runner began to work on it, and its process has died; %s. %s",
                       why->name, show_last_step(why), how);
}

static const char *explain_running(const struct why *why)
{
    const char *runner = json_text(why->node, "runner.name", "?");
    if (is_about(why, "waitingForPause"))
        return pool_format(why->pool,
                           "%s is about to pause: runner %s still works on it, and it pauses when the step under way "
                           "ends; %s. Resuming takes the pause back.",
                           why->name, runner, show_last_step(why));
    return pool_format(
        why->pool,
        "%s does move: runner %s works on it now; %s. What the step under way does, only its code knows; "
        "when it outlives its timeout it is tried again.",
        why->name, runner, show_last_step(why));
}

/* ---- Failed ------------------------------------------------------------------------------------------------------------------ */

/* For a step that failed because its child did: what to do about the child before `verb` ("retry") makes sense. */
static const char *explain_child(const struct why *why, const json_t *part, const char *verb)
{
    const struct reference about = { json_text(part, "workflowName", "?"), json_text(part, "instanceId", "?") };
    const char *child = reference_name(why->pool, &about), *own = json_text(part, "command.verb", NULL);
    const char *id = json_text(why->said, "id", "?");
    if (own == NULL)
        return pool_format(why->pool,
                           "Its child %s had failed, and is %s by now: %s this one, and it takes up how that ends.",
                           child, phase_show(json_text(part, "phase", "gone")), verb);
    return pool_format(
        why->pool,
        "It failed because its child %s did: mend and %s that one first (pawl instances why %s says how), "
        "then %s this one (pawl instances %s %s/%s); it waits for the child's new run.",
        child, own, child, verb, verb, why->workflow, id);
}

static bool is_of_child(const json_t *part)
{
    return json_at(part, "instanceId") != NULL;
}

static const char *explain_repair(const struct why *why)
{
    const json_t *part = json_array_get(json_at(why->node, "parts"), 0);
    bool is_failed = json_is(part, "reason", "failed");
    return pool_format(why->pool, "%s is paused, because %s. %s", why->name,
                       is_failed ? reason_sentence(why->pool, part, why->now_ms) : "a step failed for good",
                       is_failed && is_of_child(part)
                           ? explain_child(why, part, "resume")
                           : "Mend what made it fail, then resume it: the step is tried again, from its "
                             "first attempt.");
}

/* Compensations that failed: 'step "compensate: charge" failed for good (Stuck: no answer)'; NULL: there are none. */
static const char *show_not_undone(const struct why *why)
{
    const char *joined = NULL;
    json_each(part, json_at(why->node, "parts"))
        if (json_at(part.value, "undoes") != NULL)
            joined = pool_format(why->pool, "%s%s%s", joined != NULL ? joined : "", joined != NULL ? ", and " : "",
                                 reason_sentence(why->pool, part.value, why->now_ms));
    return joined;
}

/* What can be done with a run that failed. */
static const char *ways_on(const struct why *why)
{
    const json_t *part = only_part(why);
    bool is_undone = json_flag(why->said, "undone");
    const char *child = "";
    if (is_undone && is_of_child(part))
        child = pool_format(why->pool, "It failed because its child %s/%s did. ", json_text(part, "workflowName", "?"),
                            json_text(part, "instanceId", "?"));
    if (is_undone || json_at(why->said, "lastStep") == NULL) /* a run that keeps nothing is as good as a new one */
        return pool_format(why->pool, "%sOnce the cause is mended, a new run starts it over%s", child,
                           is_undone ? ": what its steps did was undone." : ".");
    return is_of_child(part)
               ? explain_child(why, part, "retry")
               : "Once the cause is mended, a retry keeps what had finished and tries the step that failed "
                 "again; a restart starts it over.";
}

/* A new run may keep earlier steps, unless they were undone. */
static const char *where_from(const struct why *why)
{
    if (json_flag(why->said, "undone"))
        return "Only a new run, from the top, would start it again: what its steps did was undone.";
    if (json_at(why->said, "lastStep") == NULL)
        return "Only a new run, from the top, would start it again.";
    return "Only a new run would start it again: from the top, or from one of its steps, with what was before that kept "
           "(--from STEP).";
}

static const char *explain_end(const struct why *why)
{
    int64_t ms = json_time_ms(why->node, "since");
    const char *error = error_show(why->pool, why->said, "error"), *not_undone = show_not_undone(why), *ways;
    const char *when = pool_format(why->pool, "at %s, %s", moment_show(why->pool, ms, why->now_ms),
                                   moment_relative(why->pool, ms, why->now_ms));
    ways = not_undone == NULL
               ? NULL
               : pool_format(why->pool,
                             "Some of what it did was not undone: %s. Undo that by hand; a restart, from "
                             "the top, is the only way on.",
                             not_undone);
    if (is_about(why, "terminated") && ways != NULL)
        error = ""; /* it says the same */
    if (is_about(why, "complete"))
        return pool_format(why->pool, "%s has finished: it completed %s. %s", why->name, when, where_from(why));
    if (is_about(why, "errored"))
        return pool_format(why->pool, "%s has failed %s with %s, which its workflow did not handle. %s", why->name,
                           when, error[0] != '\0' ? error : "an error", ways != NULL ? ways : ways_on(why));
    return pool_format(why->pool, "%s was terminated %s%s%s%s. %s", why->name, when, error[0] != '\0' ? " (" : "",
                       error, error[0] != '\0' ? ")" : "", ways != NULL ? ways : where_from(why));
}

/* ---- All of it ----------------------------------------------------------------------------------------------------------------- */

static const char *explain(const struct why *why)
{
    static const struct {
        const char *reason;
        const char *(*explain)(const struct why *why);
    } reasons[] = {
        { "complete", explain_end },
        { "errored", explain_end },
        { "terminated", explain_end },
        { "running", explain_running },
        { "waitingForPause", explain_running },
        { "lost", explain_lost },
        { "queued", explain_due },
        { "unserved", explain_due },
        { "paused", explain_paused },
        { "waitingForRepair", explain_repair },
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (is_about(why, reasons[i].reason))
            return reasons[i].explain(why);
    return explain_waiting(why);
}

/* Wraps the paragraph at the width; without one it is a single line, for grep and the like. */
static void put_paragraph(struct session *session, const char *text)
{
    size_t width = session->screen.width > 0 ? session->screen.width : (size_t)-1, used = 0;
    for (const char *word = safe(&session->pool, text); *word != '\0';) {
        size_t size = strcspn(word, " "), columns = text_width(pool_copy(&session->pool, word, size));
        if (used > 0 && used + 1 + columns > width) {
            pw_buffer_put(&session->out, "\n");
            used = 0;
        }
        pw_buffer_put(&session->out, used > 0 ? " " : "");
        pw_buffer_add(&session->out, word, size);
        used += columns + (used > 0);
        word += size + (word[size] == ' ');
    }
    pw_buffer_put(&session->out, "\n");
}

/* The parts of the fork that it waits for, or would wait for if it were not paused. */
static void put_lines(struct why *why)
{
    const json_t *node = is_about(why, "paused") ? only_part(why) : why->node;
    if (is_about(why, "paused") || is_about(why, "all") || is_about(why, "first"))
        reason_put_parts(why->session, &why->session->out, STYLE_PLAIN, node);
}

static void put(struct why *why)
{
    struct session *session = why->session;
    struct command_lines commands = { .count = 0 };
    const char *demand = demand_show(why->said), *told = "";
    if (demand != NULL) {
        told = pool_format(why->pool, "%s was told to stop (%s). ", why->name, demand);
        why->name = "It";
    }
    put_paragraph(session, pool_format(why->pool, "%s%s", told, explain(why)));
    put_lines(why);
    add_commands(why->pool, &commands, why->node);
    for (size_t i = 0; i < commands.count; i++) {
        pw_buffer_put(&session->out, i == 0 ? "\n    " : "    ");
        screen_put(&session->screen, &session->out, STYLE_BOLD, safe(&session->pool, commands.lines[i]));
        pw_buffer_put(&session->out, "\n");
    }
}

enum exit_code run_instances_why(struct session *session)
{
    struct reference reference;
    struct answer answer;
    TRY(reference_find(session, &reference));
    TRY(client_get(session, pool_format(&session->pool, "%s/why", reference_path(&session->pool, &reference)),
                   &answer));
    struct why why = { .session = session,
                       .pool = &session->pool,
                       .said = answer.json,
                       .node = json_at(answer.json, "why"),
                       .workflow = reference.workflow,
                       .name = reference_name(&session->pool, &reference),
                       .now_ms = session->screen.now_ms };
    if (session_is_json(session))
        session_put_answer(session, &answer);
    else
        put(&why);
    return session_print(session);
}
