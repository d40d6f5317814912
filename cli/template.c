/* template.c - see template.h. */
#include "template.h"

#include <string.h>

#include "json_output.h"
#include "moment.h"
#include "session.h"
#include "reason.h"

static const char *show_time(struct pool *pool, const json_t *at, const char *how, int64_t now_ms)
{
    int64_t ms = json_time_ms(at, "");
    if (ms == 0)
        return NULL;
    if (strcmp(how, "ago") == 0)
        return moment_relative(pool, ms, now_ms);
    return strcmp(how, "exact") == 0 ? moment_show_exact(pool, ms, now_ms) : moment_show(pool, ms, now_ms);
}

static const char *show_error(struct pool *pool, const json_t *at)
{
    const char *error = error_show(pool, at, "");
    return error[0] != '\0' ? error : NULL;
}

static const char *show_list(struct pool *pool, const json_t *at)
{
    const char *joined = "";
    json_each(item, at)
        joined = pool_format(pool, "%s%s%s", joined, item.index > 0 ? ", " : "", json_text(item.value, "", "?"));
    return joined;
}

static const char *show(struct pool *pool, const json_t *at, const char *how, int64_t now_ms)
{
    if (at == NULL)
        return NULL;
    if (strcmp(how, "json") == 0)
        return json_show(pool, at);
    if (json_is_null(at))
        return NULL;
    if (strcmp(how, "error") == 0)
        return show_error(pool, at);
    if (strcmp(how, "list") == 0)
        return show_list(pool, at);
    if (how[0] == '\0')
        return json_text(at, "", NULL) != NULL ? json_text(at, "", "") : json_show(pool, at);
    if (strcmp(how, "ago") == 0 || strcmp(how, "exact") == 0 || strcmp(how, "time") == 0)
        return show_time(pool, at, how, now_ms);
    return counted(pool, json_number(at, "", 0), how);
}

const char *template_fill(struct pool *pool, const char *template, const json_t *value, int64_t now_ms)
{
    const char *filled = "";
    while (*template != '\0') {
        size_t plain = strcspn(template, "{");
        filled = pool_format(pool, "%s%.*s", filled, (int)plain, template);
        template += plain;
        if (*template == '\0')
            break;
        size_t path = strcspn(template, ":}"), size = strcspn(template, "}");
        const char *how = path < size ? pool_copy(pool, template + path + 1, size - path - 1) : "";
        const char *shown = show(pool, json_at(value, pool_copy(pool, template + 1, path - 1)), how, now_ms);
        if (shown == NULL)
            return NULL;
        filled = pool_format(pool, "%s%s", filled, shown);
        template += size + (template[size] == '}');
    }
    return filled;
}
