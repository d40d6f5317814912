/* list_table.c - see list_table.h. */
#include "list_table.h"

#include "moment.h"
#include "view.h"
#include "waiting.h"

static const struct column columns[] = { { .heading = "INSTANCE" },
                                         { .heading = "STATUS" },
                                         { .heading = "CREATED", .is_right = true },
                                         { .heading = "CHANGED", .is_right = true },
                                         { .heading = "RESULT", .is_flexible = true } };
static const struct column versioned[] = { { .heading = "INSTANCE" },
                                           { .heading = "STATUS" },
                                           { .heading = "VERSION" },
                                           { .heading = "CREATED", .is_right = true },
                                           { .heading = "CHANGED", .is_right = true },
                                           { .heading = "RESULT", .is_flexible = true } };

static bool has_versions(const json_t *instances)
{
    size_t index;
    json_t *instance;
    json_array_foreach(instances, index, instance)
        if (json_at(instance, "version") != NULL)
            return true;
    return false;
}

void list_table_init(struct table *table, const json_t *instances)
{
    if (has_versions(instances))
        table_init(table, versioned, sizeof versioned / sizeof versioned[0]);
    else
        table_init(table, columns, sizeof columns / sizeof columns[0]);
}

void list_table_add(struct session *session, struct table *table, const json_t *instances)
{
    int64_t now_ms = session->screen.now_ms;
    size_t index;
    json_t *instance;
    json_array_foreach(instances, index, instance) {
        struct pool pool = { NULL }; /* a list may be long; the table copies */
        const json_t *details = json_at(instance, "details"), *output = json_at(details, "output");
        const char *phase = phase_of(details), *error = error_show(&pool, details, "error");
        table_row(table);
        table_cell(
            table, STYLE_PLAIN,
            pool_format(&pool, "%s/%s", json_text(instance, "workflowName", "?"), json_text(instance, "id", "?")));
        table_cell(table, status_style(phase), phase_show(phase));
        if (table->columns == versioned)
            table_cell(table, STYLE_PLAIN, json_text(instance, "version", ""));
        table_cell(table, STYLE_PLAIN, moment_relative(&pool, json_time_ms(instance, "createdAt"), now_ms));
        table_cell(table, STYLE_PLAIN, moment_relative(&pool, json_time_ms(instance, "updatedAt"), now_ms));
        if (error[0] != '\0')
            table_cell(table, STYLE_RED, error);
        else
            table_cell(table, STYLE_PLAIN, json_show(&pool, output));
        pool_clear(&pool);
    }
}
