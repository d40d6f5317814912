/* columns.c - see columns.h. */
#include "columns.h"

#include "moment.h"
#include "session.h"

const struct column workflow_columns[] = {
    { .heading = "WORKFLOW", .template = "{name}" },
    { .heading = "TAGS", .template = "{tags:list}", .style = STYLE_DIM },
    { .heading = "DESCRIPTION", .template = "{description}", .is_flexible = true },
    { .heading = NULL },
};

#define RESULT_COLUMN                                                                                                  \
    {                                                                                                                  \
        .heading = "RESULT", .template = "{details.error:error}", .style = STYLE_RED,                                  \
        .otherwise = "{details.output:json}", .is_flexible = true                                                      \
    }

const struct column instance_columns[] = {
    { .heading = "INSTANCE", .template = "{workflowName}/{id}" },
    { .heading = "STATUS", .status = "details" },
    { .heading = "VERSION", .template = "{version}", .only_if = "version" },
    { .heading = "CREATED", .template = "{createdAt:ago}", .is_right = true },
    { .heading = "CHANGED", .template = "{updatedAt:ago}", .is_right = true },
    RESULT_COLUMN,
    { .heading = NULL },
};

static struct cell show_took(const struct source *source)
{
    int64_t started_ms = json_time_ms(source->row, "startedAt"), ended_ms = json_time_ms(source->row, "completedAt");
    bool is_known = started_ms != 0 && ended_ms != 0;
    return (struct cell){ is_known ? duration_show(source->pool, ended_ms - started_ms) : NULL, STYLE_PLAIN };
}

const struct column run_columns[] = {
    { .heading = "RUN", .template = "{runNumber}", .is_right = true },
    { .heading = "STATUS", .status = "details" },
    { .heading = "STARTED", .template = "{startedAt:time}" },
    { .heading = "FINISHED", .template = "{completedAt:time}" },
    { .heading = "TOOK", .show = show_took, .is_right = true },
    RESULT_COLUMN,
    { .heading = NULL },
};

const struct column delivery_columns[] = {
    { .heading = "DELIVERY", .template = "{id}" },
    { .heading = "HOOK", .template = "{hook}" },
    { .heading = "EVENT", .template = "{event}" },
    { .heading = "INSTANCE", .template = "{workflowName}/{instanceId}" },
    { .heading = "STATUS", .status = "status" },
    { .heading = "TRIES", .template = "{attempts}/{maxAttempts}", .style = STYLE_DIM, .is_right = true },
    { .heading = "CREATED", .template = "{createdAt:ago}", .is_right = true },
    { .heading = "LAST ERROR", .template = "{lastError}", .style = STYLE_RED, .is_flexible = true },
    { .heading = NULL },
};
