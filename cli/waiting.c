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

const char *attempts_show(struct pool *pool, const json_t *step, const char *between)
{
    int64_t attempts = json_number(step, "attempts", 0), most = json_number(step, "maxAttempts", 0);
    if (attempts == 0 && most == 0)
        return "";
    if (most == 0)
        return pool_format(pool, "%lld", (long long)attempts);
    return pool_format(pool, "%lld%s%lld", (long long)attempts, between, (long long)most);
}

/* "until 14:02, 3 h left" */
static const char *show_until(struct pool *pool, int64_t until_ms, int64_t now_ms)
{
    if (until_ms == 0)
        return "for as long as it takes";
    const char *moment = moment_show_coarse(pool, until_ms, now_ms);
    if (until_ms <= now_ms)
        return pool_format(pool, "until %s, due since %s", moment, duration_show_coarse(pool, now_ms - until_ms));
    return pool_format(pool, "until %s, %s left", moment, duration_show_coarse(pool, until_ms - now_ms));
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

static bool is_waiting(const json_t *step)
{
    return strcmp(json_text(step, "status", ""), "waiting") == 0;
}

const char *waiting_sentence(struct pool *pool, const json_t *step, int64_t now_ms)
{
    const char *type = json_text(step, "type", ""), *until;
    if (!is_waiting(step))
        return NULL;
    if (json_time_ms(step, "nextRetryAt") != 0)
        return show_retry(pool, step, now_ms);
    until = show_until(pool, json_time_ms(step, "wakeAt"), now_ms);
    if (strcmp(type, "waitForEvent") == 0)
        return pool_format(pool, "waiting for event \"%s\" %s", json_text(step, "waitEventType", "?"), until);
    if (strcmp(type, "sleep") == 0)
        return pool_format(pool, "sleeping %s", until);
    return pool_format(pool, "waiting in \"%s\" %s", json_text(step, "name", "?"), until);
}

const char *cut_off_sentence(struct pool *pool, const json_t *step)
{
    const char *type = json_text(step, "type", "");
    if (!is_waiting(step))
        return NULL;
    if (json_time_ms(step, "nextRetryAt") != 0)
        return pool_format(pool, "cut off before it was tried again: %s", show_failure(pool, step));
    if (strcmp(type, "waitForEvent") == 0)
        return pool_format(pool, "cut off while waiting for event \"%s\"", json_text(step, "waitEventType", "?"));
    return strcmp(type, "sleep") == 0 ? "cut off while sleeping" : "cut off while waiting";
}
