/* waiting.c - see waiting.h. */
#include "waiting.h"

#include <string.h>

#include "json_output.h"
#include "moment.h"

int64_t waiting_until_ms(const json_t *step)
{
    int64_t retry_ms = json_time_ms(step, "nextRetryAt");
    return retry_ms != 0 ? retry_ms : json_time_ms(step, "wakeAt");
}

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

static bool is_state(const json_t *step, const char *state)
{
    return strcmp(json_text(step, "state", ""), state) == 0;
}

bool is_given_up(const json_t *step)
{
    return is_state(step, "abandoned") || is_state(step, "givenUp");
}

bool has_failed(const json_t *step)
{
    return is_state(step, "failed");
}

bool undoes_another(const json_t *step)
{
    return json_text(step, "undoes", NULL) != NULL;
}

bool is_being_undone(const json_t *steps)
{
    size_t index;
    json_t *step;
    json_array_foreach(steps, index, step)
        if (undoes_another(step))
            return true;
    return false;
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

/* "attempt 2 of 6 failed (CardDeclined: no money)" */
static const char *show_failure(struct pool *pool, const json_t *step)
{
    const char *error = error_show(pool, step, "error");
    return pool_format(pool, "attempt %s failed%s%s%s", attempts_show(pool, step, " of "), error[0] != '\0' ? " (" : "",
                       error, error[0] != '\0' ? ")" : "");
}

static const char *show_retry(struct pool *pool, const json_t *step, int64_t now_ms)
{
    int64_t at_ms = json_time_ms(step, "nextRetryAt");
    return pool_format(pool, "trying \"%s\" again at %s, %s: %s", json_text(step, "name", "?"),
                       moment_show_coarse(pool, at_ms, now_ms), moment_relative(pool, at_ms, now_ms),
                       show_failure(pool, step));
}

/* A deferred whose token was asked for, and which the run does not wait for yet. */
static bool is_only_promised(const json_t *step)
{
    return strcmp(json_text(step, "type", ""), "deferred") == 0 && json_at(step, "waitsFor") == NULL;
}

static bool is_waiting(const json_t *step)
{
    return strcmp(json_text(step, "status", ""), "waiting") == 0 && !is_only_promised(step);
}

bool waits_as(const json_t *step, const char *type)
{
    return is_waiting(step) && json_time_ms(step, "nextRetryAt") == 0 && strcmp(json_text(step, "type", ""), type) == 0;
}

/* ---- For others ------------------------------------------------------------------------------------------------------------ */

const char *waiting_function(const json_t *step)
{
    return waits_as(step, "call") ? json_text(step, "waitsFor.function", NULL) : NULL;
}

const char *child_of(struct pool *pool, const json_t *step)
{
    const char *workflow = json_text(step, "waitsFor.workflowName", NULL);
    return workflow != NULL ? pool_format(pool, "%s/%s", workflow, json_text(step, "waitsFor.instanceId", "?")) : NULL;
}

/* "a worker to carry out call "charge" (@charge)" */
static const char *show_call(struct pool *pool, const json_t *step)
{
    const char *function = waiting_function(step);
    const char *attempt = json_number(step, "attempts", 0) > 1
                              ? pool_format(pool, ", attempt %s", attempts_show(pool, step, " of "))
                              : "";
    return pool_format(pool, "a worker to carry out call \"%s\" (@%s)%s", json_text(step, "name", "?"),
                       function != NULL ? function : "?", attempt);
}

bool waiting_is_taken(const json_t *step)
{
    return json_time_ms(step, "job.takenAt") != 0;
}

/* ": nobody has taken it yet"; "" where the server does not say. */
static const char *show_taker(struct pool *pool, const json_t *step, int64_t now_ms)
{
    int64_t at_ms = json_time_ms(step, "job.takenAt");
    if (!waits_as(step, "call") || json_at(step, "job") == NULL)
        return "";
    if (at_ms == 0)
        return ": nobody has taken it yet";
    return pool_format(pool, ": %s took it at %s, %s",
                       strcmp(json_text(step, "job.takenBy", ""), "runner") == 0 ? "a runner" : "a worker outside",
                       moment_show(pool, at_ms, now_ms), moment_relative(pool, at_ms, now_ms));
}

/* What another one is to do, without a time; NULL: it waits for nobody. */
static const char *show_other(struct pool *pool, const json_t *step)
{
    const char *child = child_of(pool, step);
    if (waits_as(step, "waitForEvent"))
        return pool_format(pool, "event \"%s\"", json_text(step, "waitsFor.event", "?"));
    if (waiting_function(step) != NULL) /* without it, it is about to be tried again */
        return show_call(pool, step);
    if (waits_as(step, "child") && child != NULL)
        return pool_format(pool, "child %s", child);
    if (waits_as(step, "deferred"))
        return pool_format(pool, "deferred \"%s\"", json_text(step, "name", "?"));
    return NULL;
}

/* A call and a child are looked at now and then; that is no time that a user could know of. */
static bool has_time(const json_t *step)
{
    return !waits_as(step, "call") && !waits_as(step, "child");
}

static int64_t until_of(const json_t *step)
{
    return json_time_ms(step, waits_as(step, "deferred") ? "waitsFor.until" : "wakeAt");
}

/* ---- Sentences ------------------------------------------------------------------------------------------------------------- */

const char *waiting_sentence(struct pool *pool, const json_t *step, int64_t now_ms)
{
    const char *type = json_text(step, "type", ""), *other;
    if (!is_waiting(step))
        return NULL;
    if (json_time_ms(step, "nextRetryAt") != 0)
        return show_retry(pool, step, now_ms);
    other = show_other(pool, step);
    const char *until = show_until(pool, until_of(step), now_ms);
    if (other != NULL)
        return pool_format(pool, "waiting for %s%s", other, has_time(step) ? until : show_taker(pool, step, now_ms));
    if (strcmp(type, "sleep") == 0)
        return pool_format(pool, "sleeping%s", until);
    if (strcmp(type, "do") == 0) /* put back by a repair, or the first that undoes */
        return pool_format(pool, "about to begin \"%s\"", json_text(step, "name", "?"));
    return pool_format(pool, "waiting in \"%s\"%s", json_text(step, "name", "?"), until);
}

const char *cut_off_sentence(struct pool *pool, const json_t *step)
{
    const char *other = show_other(pool, step);
    if (strcmp(json_text(step, "status", ""), "waiting") != 0)
        return NULL;
    if (is_only_promised(step))
        return "never waited for";
    if (json_time_ms(step, "nextRetryAt") != 0)
        return pool_format(pool, "cut off before it was tried again: %s", show_failure(pool, step));
    if (other != NULL)
        return pool_format(pool, "cut off while waiting for %s", other);
    return waits_as(step, "sleep") ? "cut off while sleeping" : "cut off while waiting";
}

/* ---- Repair ---------------------------------------------------------------------------------------------------------------- */

/* A wait that was in vain cannot be. */
static bool can_be_mended(const json_t *step)
{
    const char *type = json_text(step, "type", "");
    return has_failed(step) && (strcmp(type, "do") == 0 || strcmp(type, "call") == 0 || strcmp(type, "child") == 0);
}

static const json_t *failed_step(const json_t *steps)
{
    size_t index;
    json_t *step;
    json_array_foreach(steps, index, step)
        if (can_be_mended(step))
            return step;
    return NULL;
}

const char *failure_show(struct pool *pool, const json_t *steps)
{
    const json_t *step = failed_step(steps);
    const char *error = error_show(pool, step, "error");
    if (step == NULL)
        return "a step failed for good"; /* it is further back than was asked for */
    return pool_format(pool, "step \"%s\" failed for good%s%s%s", json_text(step, "name", "?"),
                       error[0] != '\0' ? " (" : "", error, error[0] != '\0' ? ")" : "");
}

const char *repair_sentence(struct pool *pool, const json_t *steps, const char *name)
{
    return pool_format(pool, "paused: %s; mend it, then pawl instances resume %s", failure_show(pool, steps), name);
}
