/* moment.c - see moment.h. */
#define _GNU_SOURCE /* timegm() */
#include "moment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/duration.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS, HOUR_MS = 60 * MINUTE_MS, DAY_MS = 24 * HOUR_MS };

/* ---- The clock ----------------------------------------------------------------------------------------------------- */

int64_t moment_now_ms(void)
{
    const char *set = getenv("PAWL_NOW");
    struct timespec now = { 0, 0 };
    int64_t ms;
    if (set != NULL && moment_parse(set, &ms))
        return ms;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * SECOND_MS + now.tv_nsec / 1000000;
}

void moment_rest_ms(int64_t ms)
{
    struct timespec left = { ms / SECOND_MS, ms % SECOND_MS * 1000000 };
    while (ms > 0 && nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* ---- Moments ------------------------------------------------------------------------------------------------------- */

bool moment_parse(const char *text, int64_t *out_ms)
{
    struct tm parts = { .tm_isdst = 0 };
    int ms = 0, size = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
               &parts.tm_min, &parts.tm_sec, &ms, &size) != 7 ||
        size != 24 || text[24] != '\0')
        return false;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    *out_ms = (int64_t)timegm(&parts) * SECOND_MS + ms;
    return true;
}

static struct tm local(int64_t ms)
{
    struct tm parts = { .tm_isdst = 0 };
    time_t seconds = (time_t)(ms / SECOND_MS);
    (void)localtime_r(&seconds, &parts);
    return parts;
}

static bool same_day(const struct tm *left, const struct tm *right)
{
    return left->tm_year == right->tm_year && left->tm_yday == right->tm_yday;
}

/* "", "tomorrow ", "yesterday " or "2026-01-01 ". */
static void show_day(char *out, size_t size, int64_t ms, int64_t now_ms)
{
    struct tm day = local(ms), today = local(now_ms), next = local(now_ms + DAY_MS), last = local(now_ms - DAY_MS);
    out[0] = '\0';
    if (same_day(&day, &next))
        (void)snprintf(out, size, "tomorrow ");
    else if (same_day(&day, &last))
        (void)snprintf(out, size, "yesterday ");
    else if (!same_day(&day, &today))
        (void)strftime(out, size, "%Y-%m-%d ", &day);
}

static const char *show(struct pool *pool, int64_t ms, int64_t now_ms, const char *format)
{
    char day[24], clock[24] = "";
    struct tm parts = local(ms);
    show_day(day, sizeof day, ms, now_ms);
    (void)strftime(clock, sizeof clock, format, &parts);
    return pool_format(pool, "%s%s", day, clock);
}

const char *moment_show(struct pool *pool, int64_t ms, int64_t now_ms)
{
    return show(pool, ms, now_ms, "%H:%M:%S");
}

const char *moment_show_coarse(struct pool *pool, int64_t ms, int64_t now_ms)
{
    int64_t away_ms = ms > now_ms ? ms - now_ms : now_ms - ms;
    return show(pool, ms, now_ms, away_ms < MINUTE_MS ? "%H:%M:%S" : "%H:%M");
}

const char *moment_show_exact(struct pool *pool, int64_t ms, int64_t now_ms)
{
    struct tm parts = local(ms), today = local(now_ms);
    char text[32] = "";
    (void)strftime(text, sizeof text, same_day(&parts, &today) ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &parts);
    return pool_format(pool, "%s.%03d", text, (int)(ms % SECOND_MS));
}

const char *moment_relative(struct pool *pool, int64_t ms, int64_t now_ms)
{
    int64_t away_ms = ms > now_ms ? ms - now_ms : now_ms - ms;
    if (away_ms < SECOND_MS)
        return ms > now_ms ? "now" : "just now";
    const char *away = duration_show_coarse(pool, away_ms);
    return ms > now_ms ? pool_format(pool, "in %s", away) : pool_format(pool, "%s ago", away);
}

/* ---- Durations ----------------------------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    int64_t ms;
};

/* Broadest first. */
static const struct unit units[] = { { "d", DAY_MS }, { "h", HOUR_MS }, { "min", MINUTE_MS }, { "s", SECOND_MS } };
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

const char *duration_show_coarse(struct pool *pool, int64_t ms)
{
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (ms >= units[i].ms)
            return pool_format(pool, "%lld %s", (long long)(ms / units[i].ms), units[i].name);
    return pool_format(pool, "%lld ms", (long long)(ms > 0 ? ms : 0));
}

const char *duration_show(struct pool *pool, int64_t ms)
{
    if (ms < SECOND_MS)
        return duration_show_coarse(pool, ms);
    if (ms < MINUTE_MS)
        return pool_format(pool, "%lld.%lld s", (long long)(ms / SECOND_MS), (long long)(ms % SECOND_MS / 100));
    size_t i = 0;
    while (ms < units[i].ms)
        i++;
    int64_t rest = ms % units[i].ms / units[i + 1].ms;
    if (rest == 0)
        return duration_show_coarse(pool, ms);
    return pool_format(pool, "%lld %s %lld %s", (long long)(ms / units[i].ms), units[i].name, (long long)rest,
                       units[i + 1].name);
}

bool duration_parse(const char *text, int64_t *out_ms)
{
    int64_t ms;
    if (!pw_duration_parse_bare(text, SECOND_MS, &ms) || ms > 365 * (int64_t)DAY_MS)
        return false;
    *out_ms = ms;
    return true;
}
