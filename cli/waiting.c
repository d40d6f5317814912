/* waiting.c - see waiting.h. */
#include "waiting.h"

#include <string.h>

#include "json_output.h"
#include "moment.h"
#include "view.h"

const char *error_show(struct pool *pool, const json_t *value, const char *path)
{
    const json_t *error = json_at(value, path);
    if (!json_is_object(error))
        return "";
    const char *name = json_text(error, "name", "Error"), *message = json_text(error, "message", "");
    size_t size = strlen(name);
    if (strncmp(message, name, size) == 0 && (message[size] == ':' || message[size] == '\0'))
        return pool_string(pool, message); /* it begins with its name already */
    return pool_format(pool, "%s%s%s", name, message[0] != '\0' ? ": " : "", message);
}

bool is_given_up(const json_t *step)
{
    const char *state = json_text(step, "state", "");
    return strcmp(state, "abandoned") == 0 || strcmp(state, "givenUp") == 0;
}

const char *attempts_show(struct pool *pool, const json_t *step, const char *between)
{
    int64_t attempts = json_number(step, "attempts", 0), most = json_number(step, "maxAttempts", 0);
    if (attempts == 0 && most == 0)
        return "";
    if (most == 0)
        return pool_format(pool, "%lld", (long long)attempts);
    return pool_format(pool, "%lld%s%lld", (long long)attempts, between, (long long)most);
}

/* ---- Waits ----------------------------------------------------------------------------------------------------------------- */

/* What a node and a step say alike, under different names.  `said` has the attempts, the job and the error of both. */
struct wait {
    const char *reason, *step, *event, *function, *workflow, *id;
    int64_t until_ms; /* 0: there is no end */
    const json_t *said;
};

static struct wait wait_of_node(const json_t *node)
{
    return (struct wait){ .reason = json_text(node, "reason", "?"),
                          .step = json_text(node, "step", "?"),
                          .event = json_text(node, "event", "?"),
                          .function = json_text(node, "function", "?"),
                          .workflow = json_text(node, "workflowName", "?"),
                          .id = json_text(node, "instanceId", "?"),
                          .until_ms = json_time_ms(node, "until"),
                          .said = node };
}

/* NULL: it does not wait, or only a token was made of a deferred. */
static const char *reason_of_step(const json_t *step)
{
    static const char *const reasons[][2] = {
        { "sleep", "sleeping" },        { "waitForEvent", "waitingForEvent" }, { "call", "waitingForWorker" },
        { "child", "waitingForChild" }, { "deferred", "waitingForDeferred" },
    };
    const char *type = json_text(step, "type", "");
    bool has_other = json_at(step, "waitsFor") != NULL;
    if (strcmp(json_text(step, "status", ""), "waiting") != 0 || (strcmp(type, "deferred") == 0 && !has_other))
        return NULL;
    if (json_time_ms(step, "nextRetryAt") != 0)
        return "waitingForRetry";
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (strcmp(type, reasons[i][0]) == 0 && (i == 0 || has_other))
            return reasons[i][1];
    return "beginning";
}

static struct wait wait_of_step(const json_t *step)
{
    int64_t retry_ms = json_time_ms(step, "nextRetryAt");
    bool is_sleep = strcmp(json_text(step, "type", ""), "sleep") == 0;
    return (struct wait){ .reason = reason_of_step(step),
                          .step = json_text(step, "name", "?"),
                          .event = json_text(step, "waitsFor.event", "?"),
                          .function = json_text(step, "waitsFor.function", "?"),
                          .workflow = json_text(step, "waitsFor.workflowName", "?"),
                          .id = json_text(step, "waitsFor.instanceId", "?"),
                          .until_ms = retry_ms != 0 ? retry_ms
                                      : is_sleep    ? json_time_ms(step, "wakeAt")
                                                    : json_time_ms(step, "waitsFor.until"),
                          .said = step };
}

static bool waits_for(const struct wait *wait, const char *reason)
{
    return strcmp(wait->reason, reason) == 0;
}

/* ---- Parts of sentences ---------------------------------------------------------------------------------------------------- */

/* " until 14:02, 3 h left" */
static const char *show_until(struct pool *pool, int64_t until_ms, int64_t now_ms)
{
    if (until_ms == 0)
        return ", no timeout";
    const char *moment = moment_show_coarse(pool, until_ms, now_ms);
    if (until_ms <= now_ms)
        return pool_format(pool, " until %s, due since %s", moment, duration_show_coarse(pool, now_ms - until_ms));
    return pool_format(pool, " until %s, %s left", moment, duration_show_coarse(pool, until_ms - now_ms));
}

/* " (CardDeclined: no money)" */
static const char *show_error(struct pool *pool, const struct wait *wait)
{
    const char *error = error_show(pool, wait->said, "error");
    return error[0] != '\0' ? pool_format(pool, " (%s)", error) : "";
}

static const char *show_failure(struct pool *pool, const struct wait *wait)
{
    return pool_format(pool, "attempt %s failed%s", attempts_show(pool, wait->said, " of "), show_error(pool, wait));
}

/* ": nobody has taken it yet"; "" where the server does not say. */
static const char *show_taker(struct pool *pool, const struct wait *wait, int64_t now_ms)
{
    int64_t at_ms = json_time_ms(wait->said, "job.takenAt");
    const char *runner = json_text(wait->said, "runner.name", NULL);
    if (json_at(wait->said, "job") == NULL)
        return "";
    if (at_ms == 0)
        return ": nobody has taken it yet";
    bool is_runner = strcmp(json_text(wait->said, "job.takenBy", ""), "runner") == 0;
    return pool_format(pool, ": %s%s%s took it at %s, %s", is_runner ? "a runner" : "a worker outside",
                       runner != NULL ? " " : "", runner != NULL ? runner : "", moment_show(pool, at_ms, now_ms),
                       moment_relative(pool, at_ms, now_ms));
}

/* What another one is to do, without a time; NULL: it waits for nobody. */
static const char *show_other(struct pool *pool, const struct wait *wait)
{
    if (waits_for(wait, "waitingForEvent"))
        return pool_format(pool, "event \"%s\"", wait->event);
    if (waits_for(wait, "waitingForWorker"))
        return pool_format(pool, "a worker to carry out call \"%s\" (@%s)%s%s", wait->step, wait->function,
                           json_number(wait->said, "attempts", 0) > 1 ? ", attempt " : "",
                           json_number(wait->said, "attempts", 0) > 1 ? attempts_show(pool, wait->said, " of ") : "");
    if (waits_for(wait, "waitingForChild"))
        return pool_format(pool, "child %s/%s", wait->workflow, wait->id);
    if (waits_for(wait, "waitingForDeferred"))
        return pool_format(pool, "deferred \"%s\"", wait->step);
    return NULL;
}

/* ---- Sentences ------------------------------------------------------------------------------------------------------------- */

static const char *show_wait(struct pool *pool, const struct wait *wait, int64_t now_ms)
{
    const char *other = show_other(pool, wait), *phase = json_text(wait->said, "phase", NULL);
    if (waits_for(wait, "waitingForWorker"))
        return pool_format(pool, "waiting for %s%s", other, show_taker(pool, wait, now_ms));
    if (waits_for(wait, "waitingForChild"))
        return pool_format(pool, "waiting for %s%s%s", other, phase != NULL ? ", which is " : "",
                           phase != NULL ? phase_show(phase) : "");
    if (other != NULL)
        return pool_format(pool, "waiting for %s%s", other, show_until(pool, wait->until_ms, now_ms));
    if (waits_for(wait, "waitingForRetry"))
        return pool_format(pool, "trying \"%s\" again at %s, %s: %s", wait->step,
                           moment_show_coarse(pool, wait->until_ms, now_ms),
                           moment_relative(pool, wait->until_ms, now_ms), show_failure(pool, wait));
    if (waits_for(wait, "sleeping"))
        return pool_format(pool, "sleeping%s", show_until(pool, wait->until_ms, now_ms));
    if (waits_for(wait, "failed"))
        return pool_format(pool, "step \"%s\" failed for good%s", wait->step, show_error(pool, wait));
    return pool_format(pool, "about to begin \"%s\"", wait->step);
}

const char *waiting_sentence(struct pool *pool, const json_t *node, int64_t now_ms)
{
    const struct wait wait = wait_of_node(node);
    const char *fork = json_text(node, "fork", NULL);
    if (waits_for(&wait, "all") || waits_for(&wait, "first"))
        return pool_format(pool, "waiting for %s of %s%s%s", waits_for(&wait, "all") ? "all" : "the first",
                           fork != NULL ? "\"" : "these", fork != NULL ? fork : "", fork != NULL ? "\"" : "");
    return show_wait(pool, &wait, now_ms);
}

/* The parts of a node, and how many more there are. */
static void put_parts(struct session *session, struct text *out, enum style style, const json_t *node, size_t depth)
{
    struct pool *pool = &session->pool;
    int64_t more = json_number(node, "more", 0);
    size_t index;
    json_t *part;
    json_array_foreach(json_at(node, "parts"), index, part) {
        bool is_group = json_at(part, "parts") != NULL;
        text_repeat(out, "  ", depth);
        screen_put(&session->screen, out, style,
                   safe(pool, pool_format(pool, "%s%s", waiting_sentence(pool, part, session->screen.now_ms),
                                          is_group ? ":" : "")));
        text_put(out, "\n");
        put_parts(session, out, style, part, depth + 1);
    }
    if (more > 0) {
        text_repeat(out, "  ", depth);
        screen_put(&session->screen, out, style, pool_format(pool, "and %s", counted(pool, more, "more step")));
        text_put(out, "\n");
    }
}

void waiting_put(struct session *session, struct text *out, enum style style, const char *before, const json_t *node)
{
    struct pool *pool = &session->pool;
    screen_put(&session->screen, out, style,
               safe(pool, pool_format(pool, "%s%s%s", before, waiting_sentence(pool, node, session->screen.now_ms),
                                      json_at(node, "parts") != NULL ? ":" : "")));
    text_put(out, "\n");
    waiting_put_parts(session, out, style, node);
}

void waiting_put_parts(struct session *session, struct text *out, enum style style, const json_t *node)
{
    put_parts(session, out, style, node, 1);
}

/* ---- Steps ----------------------------------------------------------------------------------------------------------------- */

const char *step_waiting(struct pool *pool, const json_t *step, int64_t now_ms)
{
    const struct wait wait = wait_of_step(step);
    return wait.reason != NULL ? show_wait(pool, &wait, now_ms) : NULL;
}

const char *step_cut_off(struct pool *pool, const json_t *step)
{
    const struct wait wait = wait_of_step(step);
    if (strcmp(json_text(step, "status", ""), "waiting") != 0)
        return NULL;
    if (wait.reason == NULL)
        return "never waited for";
    if (waits_for(&wait, "waitingForRetry"))
        return pool_format(pool, "cut off before it was tried again: %s", show_failure(pool, &wait));
    const char *other = show_other(pool, &wait);
    if (other != NULL)
        return pool_format(pool, "cut off while waiting for %s", other);
    return waits_for(&wait, "sleeping") ? "cut off while sleeping" : "cut off while waiting";
}
