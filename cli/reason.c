/* reason.c - see reason.h. */
#include "reason.h"

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
        return pool_string(pool, message); /* it begins with the name already */
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

/* ---- Steps as nodes -------------------------------------------------------------------------------------------------------- */

/* NULL: it does not wait, or it is a deferred whose token was made but which nobody awaits. */
static const char *reason_of_step(const json_t *step)
{
    static const char *const reasons[][2] = {
        { "sleep", "sleeping" },        { "waitForEvent", "waitingForEvent" }, { "call", "waitingForWorker" },
        { "child", "waitingForChild" }, { "deferred", "waitingForDeferred" },
    };
    const char *type = json_text(step, "type", "");
    bool has_other = json_at(step, "waitsFor") != NULL;
    if (!json_is(step, "status", "waiting") || (strcmp(type, "deferred") == 0 && !has_other))
        return NULL;
    if (json_time_ms(step, "nextRetryAt") != 0)
        return "waitingForRetry";
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (strcmp(type, reasons[i][0]) == 0 && (i == 0 || has_other))
            return reasons[i][1];
    return "beginning";
}

/* The step as a node: most of its members have the same names there. */
static const json_t *node_of_step(struct pool *pool, const json_t *step, const char *reason)
{
    json_t *node = pool_json(pool, json_copy((json_t *)step)), *until = NULL;
    if (strcmp(reason, "waitingForRetry") == 0)
        until = json_at(step, "nextRetryAt");
    else if (strcmp(reason, "sleeping") == 0)
        until = json_at(step, "wakeAt");
    (void)json_object_update(node, json_at(step, "waitsFor"));
    (void)json_object_set_new(node, "reason", json_string(reason));
    (void)json_object_set_new(node, "step", json_string(json_text(step, "name", "?")));
    (void)json_object_set(node, "until", until);
    return node;
}

static bool is_about(const json_t *node, const char *reason)
{
    return strcmp(json_text(node, "reason", "?"), reason) == 0;
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
static const char *show_error(struct pool *pool, const json_t *node)
{
    const char *error = error_show(pool, node, "error");
    return error[0] != '\0' ? pool_format(pool, " (%s)", error) : "";
}

static const char *show_failure(struct pool *pool, const json_t *node)
{
    return pool_format(pool, "attempt %s failed%s", attempts_show(pool, node, " of "), show_error(pool, node));
}

/* ": nobody has taken it yet"; "" where the server does not say. */
static const char *show_taker(struct pool *pool, const json_t *node, int64_t now_ms)
{
    int64_t at_ms = json_time_ms(node, "job.takenAt");
    const char *runner = json_text(node, "runner.name", NULL);
    if (json_at(node, "job") == NULL)
        return "";
    if (at_ms == 0)
        return ": nobody has taken it yet";
    bool is_runner = json_is(node, "job.takenBy", "runner");
    return pool_format(pool, ": %s%s%s took it at %s, %s", is_runner ? "a runner" : "a worker outside",
                       runner != NULL ? " " : "", runner != NULL ? runner : "", moment_show(pool, at_ms, now_ms),
                       moment_relative(pool, at_ms, now_ms));
}

/* What somebody else has to do, without a time; NULL: it waits for nobody. */
static const char *show_other(struct pool *pool, const json_t *node)
{
    const char *step = json_text(node, "step", "?");
    bool is_again = json_number(node, "attempts", 0) > 1;
    if (is_about(node, "waitingForEvent"))
        return pool_format(pool, "event \"%s\"", json_text(node, "event", "?"));
    if (is_about(node, "waitingForWorker"))
        return pool_format(pool, "a worker to carry out call \"%s\" (@%s)%s%s", step, json_text(node, "function", "?"),
                           is_again ? ", attempt " : "", is_again ? attempts_show(pool, node, " of ") : "");
    if (is_about(node, "waitingForChild"))
        return pool_format(pool, "child %s/%s", json_text(node, "workflowName", "?"),
                           json_text(node, "instanceId", "?"));
    return is_about(node, "waitingForDeferred") ? pool_format(pool, "deferred \"%s\"", step) : NULL;
}

/* ---- Sentences ------------------------------------------------------------------------------------------------------------- */

const char *reason_sentence(struct pool *pool, const json_t *node, int64_t now_ms)
{
    const char *other = show_other(pool, node), *step = json_text(node, "step", "?");
    const char *phase = json_text(node, "phase", NULL), *fork = json_text(node, "fork", NULL);
    int64_t until_ms = json_time_ms(node, "until");
    if (is_about(node, "all") || is_about(node, "first"))
        return pool_format(pool, "waiting for %s of %s%s%s", is_about(node, "all") ? "all" : "the first",
                           fork != NULL ? "\"" : "these", fork != NULL ? fork : "", fork != NULL ? "\"" : "");
    if (is_about(node, "waitingForWorker"))
        return pool_format(pool, "waiting for %s%s", other, show_taker(pool, node, now_ms));
    if (is_about(node, "waitingForChild"))
        return pool_format(pool, "waiting for %s%s%s", other, phase != NULL ? ", which is " : "",
                           phase != NULL ? phase_show(phase) : "");
    if (other != NULL)
        return pool_format(pool, "waiting for %s%s", other, show_until(pool, until_ms, now_ms));
    if (is_about(node, "waitingForRetry"))
        return pool_format(pool, "trying \"%s\" again at %s, %s: %s", step, moment_show_coarse(pool, until_ms, now_ms),
                           moment_relative(pool, until_ms, now_ms), show_failure(pool, node));
    if (is_about(node, "sleeping"))
        return pool_format(pool, "sleeping%s", show_until(pool, until_ms, now_ms));
    if (is_about(node, "failed"))
        return pool_format(pool, "step \"%s\" failed for good%s", step, show_error(pool, node));
    return pool_format(pool, "about to begin \"%s\"", step);
}

/* The parts of a node, and how many more there are. */
static void put_parts(struct session *session, struct pw_buffer *out, enum style style, const json_t *node,
                      size_t depth)
{
    struct pool *pool = &session->pool;
    int64_t more = json_number(node, "more", 0);
    json_each(part, json_at(node, "parts")) {
        bool is_group = json_at(part.value, "parts") != NULL;
        pw_buffer_repeat(out, "  ", depth);
        screen_put(&session->screen, out, style,
                   safe(pool, pool_format(pool, "%s%s", reason_sentence(pool, part.value, session->screen.now_ms),
                                          is_group ? ":" : "")));
        pw_buffer_put(out, "\n");
        put_parts(session, out, style, part.value, depth + 1);
    }
    if (more > 0) {
        pw_buffer_repeat(out, "  ", depth);
        screen_put(&session->screen, out, style, pool_format(pool, "and %s", counted(pool, more, "more step")));
        pw_buffer_put(out, "\n");
    }
}

void reason_put(struct session *session, struct pw_buffer *out, enum style style, const char *before,
                const json_t *node)
{
    struct pool *pool = &session->pool;
    screen_put(&session->screen, out, style,
               safe(pool, pool_format(pool, "%s%s%s", before, reason_sentence(pool, node, session->screen.now_ms),
                                      json_at(node, "parts") != NULL ? ":" : "")));
    pw_buffer_put(out, "\n");
    reason_put_parts(session, out, style, node);
}

void reason_put_parts(struct session *session, struct pw_buffer *out, enum style style, const json_t *node)
{
    put_parts(session, out, style, node, 1);
}

/* ---- Steps ----------------------------------------------------------------------------------------------------------------- */

const char *step_waiting(struct pool *pool, const json_t *step, int64_t now_ms)
{
    const char *reason = reason_of_step(step);
    if (reason == NULL)
        return NULL;
    return reason_sentence(pool, node_of_step(pool, step, reason), now_ms);
}

const char *step_cut_off(struct pool *pool, const json_t *step)
{
    const char *reason = reason_of_step(step);
    if (!json_is(step, "status", "waiting"))
        return NULL;
    if (reason == NULL)
        return "never waited for";
    const json_t *node = node_of_step(pool, step, reason);
    if (is_about(node, "waitingForRetry"))
        return pool_format(pool, "cut off before it was tried again: %s", show_failure(pool, node));
    const char *other = show_other(pool, node);
    if (other != NULL)
        return pool_format(pool, "cut off while waiting for %s", other);
    return is_about(node, "sleeping") ? "cut off while sleeping" : "cut off while waiting";
}
