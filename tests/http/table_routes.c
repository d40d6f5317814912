/* table_routes.c - what every route answers when it is used as it is meant to be (contract B and D). */
#include "table.h"

#define START "2026-01-01T00:00:00.000Z"
#define STAMPS "\"createdAt\":\"" START "\",\"updatedAt\":\"" START "\""
#define WAITING "\"details\":{\"status\":\"waiting\",\"phase\":\"waiting\"}"
#define PAYMENT                                                                                                        \
    "{\"stepKey\":\"payment\",\"name\":\"payment\",\"type\":\"waitForEvent\",\"status\":\"waiting\","                  \
    "\"state\":\"waiting\",\"place\":{\"order\":2},\"attempts\":0,"                                                    \
    "\"maxAttempts\":null,\"timeoutMs\":null,\"nextRetryAt\":null,\"wakeAt\":\"2026-01-01T01:00:00.000Z\","            \
    "\"waitEventType\":\"paid\",\"waitsFor\":{\"event\":\"paid\",\"until\":\"2026-01-01T01:00:00.000Z\"}"
#define CHARGE                                                                                                         \
    "{\"stepKey\":\"charge\",\"name\":\"charge\",\"type\":\"do\",\"status\":\"completed\","                            \
    "\"state\":\"completed\",\"place\":{\"order\":1},\"attempts\":1,"                                                  \
    "\"maxAttempts\":null,\"timeoutMs\":60000,\"nextRetryAt\":null,\"wakeAt\":null,\"waitEventType\":null,"            \
    "\"runNumber\":1,\"result\":{\"paid\":42}," STAMPS "}"
#define SECTION(variable, title, setting, list)                                                                        \
    const struct table_section variable = { title, setting, list, sizeof list / sizeof list[0] }

/* ---- Workflows and instances ----------------------------------------------------------------------------------- */

#define WORKFLOWS                                                                                                      \
    "{\"workflows\":[{\"name\":\"broken\",\"description\":\"fails at once\",\"version\":\"1.4\"},"                     \
    "{\"name\":\"calls\"},"                                                                                            \
    "{\"name\":\"defers\"},{\"name\":\"echo\"},{\"name\":\"family\"},"                                                 \
    "{\"name\":\"guarded\",\"permissions\":[\"admin\",\"finance\"]},{\"name\":\"inlined\"},{\"name\":\"mends\"},"      \
    "{\"name\":\"order\",\"description\":\"waits \\\"long\\\"\",\"tags\":[\"shop\",\"money\"]},{\"name\":\"undoes\"}]}"

static const struct table_case instances[] = {
    { .method = "GET",
      .target = "/workflows",
      .status = 200,
      .is = WORKFLOWS,
      .has = { "Content-Type", "application/json" } },
    { .method = "GET", .target = "/workflows/", .status = 200, .is = WORKFLOWS },
    { .method = "HEAD", .target = "/workflows", .status = 200, .is = "" },

    /* One: what an instance may lack is left out, and "no result" is not null. */
    { .method = "GET",
      .target = "/workflows/echo/instances/done",
      .status = 200,
      .is = "{\"id\":\"done\",\"details\":{\"status\":\"complete\",\"phase\":\"complete\","
            "\"output\":{\"sku\": \"teapot\", \"n\": 2}},\"meta\":{\"workflowName\":\"echo\",\"runNumber\":1,"
            "\"params\":{\"sku\": \"teapot\", \"n\": 2}," STAMPS ",\"startedAt\":\"" START "\",\"completedAt\":\"" START
            "\"}}" },
    { .method = "GET",
      .target = "/workflows/echo/instances/bare",
      .status = 200,
      .is = "{\"id\":\"bare\",\"details\":{\"status\":\"complete\",\"phase\":\"complete\"},"
            "\"meta\":{\"workflowName\":\"echo\",\"runNumber\":1," STAMPS ",\"startedAt\":\"" START
            "\",\"completedAt\":\"" START "\"}}" },
    { .method = "GET",
      .target = "/workflows/echo/instances/null",
      .status = 200,
      .says = { "\"phase\":\"complete\",\"output\":null}", "\"params\":null" } },
    { .method = "GET",
      .target = "/workflows/broken/instances/b-1",
      .status = 200,
      .says = { "\"details\":{\"status\":\"errored\",\"phase\":\"errored\","
                "\"error\":{\"name\":\"Broken\",\"message\":\"no \\\"luck\\\"\"}}" } },
    { .method = "GET",
      .target = "/workflows/order/instances/waits",
      .status = 200,
      .is = "{\"id\":\"waits\"," WAITING ",\"meta\":{\"workflowName\":\"order\",\"runNumber\":1," STAMPS
            ",\"startedAt\":\"" START "\",\"completedAt\":null,\"currentStep\":" PAYMENT "}}}" },
    { .method = "GET",
      .target = "/workflows/order/instances/stuck",
      .status = 200,
      .says = { "\"currentStep\":{\"stepKey\":\"charge\",\"name\":\"charge\",\"type\":\"do\",\"status\":\"waiting\","
                "\"state\":\"waiting\",\"place\":{\"order\":1},\"attempts\":1,\"maxAttempts\":null,\"timeoutMs\":60000,\"nextRetryAt\":\"2026-01-02T00:00:00.000Z\","
                "\"wakeAt\":null,\"waitEventType\":null,"
                "\"error\":{\"name\":\"CardDeclined\",\"message\":\"not today\"}}" } },
    { .method = "GET",
      .target = "/workflows/order/instances/stopped",
      .status = 200,
      .says = { "\"status\":\"terminated\",\"phase\":\"terminated\"}" } },
    { .method = "HEAD", .target = "/workflows/order/instances/stopped", .status = 200, .is = "" },
    { .method = "GET", .target = "/workflows/order/instances/%77aits", .status = 200, .says = { "\"id\":\"waits\"" } },

    /* Lists: newest first unless told otherwise. */
    { .method = "GET",
      .target = "/workflows/echo/instances",
      .status = 200,
      .says = { "{\"instances\":[{\"id\":\"null\",\"details\":{", "\"output\":null}," STAMPS "},{\"id\":\"bare\",",
                "{\"id\":\"done\",", "],\"hasNextPage\":false}" } },
    { .method = "GET",
      .target = "/workflows/order/instances?status=terminated",
      .status = 200,
      .is =
          "{\"instances\":[{\"id\":\"stopped\",\"details\":{\"status\":\"terminated\",\"phase\":\"terminated\"}," STAMPS
          "}],\"hasNextPage\":false}" },
    { .method = "GET",
      .target = "/workflows/order/instances?status=active&pageSize=100",
      .status = 200,
      .is = "{\"instances\":[],\"hasNextPage\":false}" },
    { .method = "GET",
      .target = "/workflows/order/instances?pageSize=1&order=asc",
      .status = 200,
      .says = { "{\"instances\":[{\"id\":\"waits\",", "}],\"cursor\":\"", "\",\"hasNextPage\":true}" } },
    { .method = "GET",
      .target = "/workflows/order/instances?order=desc&pageSize=%31&",
      .status = 200,
      .says = { "{\"instances\":[{\"id\":\"twice\"," } },
    { .method = "GET", .target = "/workflows/order/instances?", .status = 200, .says = { "\"id\":\"waits\"" } },

    /* By version: not together with a status, nor for what is only listed as a whole. */
    { .method = "GET",
      .target = "/workflows/broken/instances?version=1.4",
      .status = 200,
      .says = { "{\"instances\":[{\"id\":\"b-1\",", ",\"version\":\"1.4\"," STAMPS "}],\"hasNextPage\":false}" } },
    { .method = "GET",
      .target = "/workflows/broken/instances?version=1.3",
      .status = 200,
      .is = "{\"instances\":[],\"hasNextPage\":false}" },
    { .method = "GET",
      .target = "/workflows/broken/instances/b-1",
      .status = 200,
      .says = { "\"meta\":{\"workflowName\":\"broken\",\"runNumber\":1,\"version\":\"1.4\"," } },
    { .method = "GET",
      .target = "/workflows/broken/instances/b-1/runs",
      .status = 200,
      .says = { ",\"version\":\"1.4\",\"startedAt\":" } },
    { .method = "GET",
      .target = "/workflows/broken/instances?version=1%204",
      .status = 400,
      .says = { "is not a version" } },
    { .method = "GET",
      .target = "/workflows/broken/instances?version=1.4&status=errored",
      .status = 400,
      .says = { "by status or by version, not by both" } },
    { .method = "GET", .target = "/workflows/broken/instances/b-1/children?version=1.4", .status = 400 },

    /* Create. */
    { .method = "POST",
      .target = "/workflows/echo/instances",
      .body = "{\"id\":\"c-1\",\"params\":{\"a\": [1,  2]}}",
      .status = 200,
      .is = "{\"id\":\"c-1\",\"details\":{\"status\":\"active\",\"phase\":\"queued\"}}" },
    { .method = "GET",
      .target = "/workflows/echo/instances/c-1",
      .status = 200,
      .says = { "\"params\":{\"a\": [1,  2]},", "\"startedAt\":null,\"completedAt\":null}" } },
    { .method = "POST",
      .target = "/workflows/echo/instances",
      .body = "{\"id\":\"c-1\"}",
      .status = 409,
      .code = "INSTANCE_ID_ALREADY_EXISTS",
      .says = { "c-1" } },
    { .method = "POST",
      .target = "/workflows/echo/instances",
      .body = "{\"onConflict\":\"return\",\"id\":\"c-1\"}",
      .status = 200,
      .says = { "{\"id\":\"c-1\",\"details\":{\"status\":\"active\"" } },
    { .method = "POST",
      .target = "/workflows/echo/instances",
      .body = "{\"onConflict\":\"return\",\"id\":\"done\"}",
      .status = 200,
      .says = { "\"output\":{\"sku\": \"teapot\", \"n\": 2}" } },
    { .method = "POST", .target = "/workflows/echo/instances", .status = 200, .says = { "{\"id\":\"" } },
    { .method = "POST",
      .target = "/workflows/echo/instances",
      .body = " {} \n",
      .status = 200,
      .headers = { { "content-type", "Application/JSON ; Charset=\"UTF-8\"" } },
      .says = { "{\"id\":\"" } },
    { .method = "POST",
      .target = "/workflows/echo/instances",
      .status = 200,
      .body = "{\"\\u0069d\":\"c\\u002d2\",\"params\":\"\\u00e4\\n\"}",
      .says = { "{\"id\":\"c-2\"," } },
    { .method = "GET",
      .target = "/workflows/echo/instances/c-2",
      .status = 200,
      .says = { "\"params\":\"\\u00e4\\n\"" } },
    { .method = "POST",
      .target = "/workflows/echo/instances",
      .body = "{\"id\":\"batch\",\"params\":0}",
      .status = 200,
      .says = { "{\"id\":\"batch\"" } },
    { .before = TABLE_RUN,
      .method = "GET",
      .target = "/workflows/echo/instances/batch",
      .status = 200,
      .says = { "\"output\":0}" } },

    /* Batches: known ids are left out. */
    { .method = "POST",
      .target = "/workflows/echo/instances/batch",
      .status = 200,
      .body = "{\"instances\":[{\"id\":\"c-1\"},{\"params\":[],\"id\":\"c-3\"},{\"id\":\"c-4\",\"params\":false}]}",
      .is = "{\"instances\":[{\"id\":\"c-3\",\"details\":{\"status\":\"active\",\"phase\":\"queued\"}},"
            "{\"id\":\"c-4\",\"details\":{\"status\":\"active\",\"phase\":\"queued\"}}]}" },
    { .method = "POST",
      .target = "/workflows/echo/instances/batch",
      .body = "{\"instances\" : [ ]}",
      .status = 200,
      .is = "{\"instances\":[]}" },
    { .before = TABLE_RUN,
      .method = "GET",
      .target = "/workflows/echo/instances/c-3",
      .status = 200,
      .says = { "\"output\":[]}" } },
    { .method = "GET", .target = "/workflows/echo/instances/c-4", .status = 200, .says = { "\"output\":false}" } },
};
SECTION(table_of_instances, "instances", NULL, instances);

/* ---- Control, events, results ---------------------------------------------------------------------------------- */

#define WAITS "/workflows/order/instances/waits"

static const struct table_case control[] = {
    { .method = "POST", .target = WAITS "/pause", .status = 200, .is = "{\"ok\":true}" },
    { .method = "POST", .target = WAITS "/pause", .body = "{}", .status = 200, .is = "{\"ok\":true}" },
    { .method = "GET", .target = WAITS, .status = 200, .says = { "{\"status\":\"paused\",\"phase\":\"paused\"}" } },
    { .method = "POST",
      .target = WAITS "/events",
      .status = 200,
      .body = "{\"type\":\"paid\",\"payload\":{\"amount\": 1.50},\"id\":\"e-1\"}",
      .is = "{\"status\":{\"status\":\"paused\",\"phase\":\"paused\"}}" },
    { .method = "POST",
      .target = WAITS "/events",
      .body = "{\"type\":\"paid\",\"payload\":2,\"id\":\"e-1\"}",
      .status = 200,
      .is = "{\"status\":{\"status\":\"paused\",\"phase\":\"paused\"}}" },
    { .method = "GET",
      .target = WAITS "/result",
      .status = 202,
      .is = "{\"id\":\"waits\",\"runNumber\":1,\"details\":{\"status\":\"paused\",\"phase\":\"paused\"}}" },
    { .method = "POST", .target = WAITS "/resume", .status = 200, .is = "{\"ok\":true}" },
    { .before = TABLE_RUN,
      .method = "GET",
      .target = WAITS "/result",
      .status = 200,
      .is = "{\"id\":\"waits\",\"runNumber\":1,\"details\":{\"status\":\"complete\",\"phase\":\"complete\","
            "\"output\":{\"payment\":{\"amount\":1.5}}}}" },
    { .method = "GET", .target = WAITS "/result?waitMs=1000", .status = 200, .says = { "\"complete\"" } },
    { .method = "GET",
      .target = "/workflows/order/instances/stuck/result?waitMs=0",
      .status = 202,
      .says = { "\"waiting\"" } },
    { .method = "GET",
      .target = "/workflows/broken/instances/b-1/result",
      .status = 200,
      .says = { "\"error\":{\"name\":\"Broken\",\"message\":\"no \\\"luck\\\"\"}" } },
    { .method = "HEAD", .target = WAITS "/result", .status = 200, .is = "" },

    /* B6: on what has finished. */
    { .method = "POST", .target = WAITS "/pause", .status = 409, .code = "INSTANCE_TERMINAL" },
    { .method = "POST", .target = WAITS "/resume", .status = 409, .code = "INSTANCE_TERMINAL" },
    { .method = "POST", .target = WAITS "/terminate", .status = 409, .code = "INSTANCE_TERMINAL" },
    { .method = "POST",
      .target = WAITS "/events",
      .body = "{\"type\":\"paid\"}",
      .status = 409,
      .code = "INSTANCE_TERMINAL" },
    { .method = "POST", .target = "/workflows/broken/instances/b-1/pause", .status = 409, .code = "INSTANCE_TERMINAL" },
    { .method = "POST",
      .target = "/workflows/order/instances/stopped/resume",
      .status = 409,
      .code = "INSTANCE_TERMINAL" },

    { .method = "POST", .target = WAITS "/restart", .status = 200, .is = "{\"ok\":true}" },
    { .before = TABLE_RUN, .method = "GET", .target = WAITS, .status = 200, .says = { WAITING, "\"runNumber\":2" } },
    { .method = "POST",
      .target = WAITS "/events",
      .body = "{\"type\":\"other\",\"payload\":null}",
      .status = 200,
      .is = "{\"status\":{\"status\":\"waiting\",\"phase\":\"waiting\"}}" },
    { .method = "POST", .target = WAITS "/terminate", .body = "\t{ }", .status = 200, .is = "{\"ok\":true}" },
    { .method = "GET",
      .target = WAITS "/result",
      .status = 200,
      .is = "{\"id\":\"waits\",\"runNumber\":2,\"details\":{\"status\":\"terminated\",\"phase\":\"terminated\"}}" },
    { .before = TABLE_HOUR,
      .method = "GET",
      .target = "/workflows/order/instances/twice",
      .status = 200,
      .says = { "\"status\":\"errored\"", "WAIT_FOR_EVENT_TIMEOUT", "\"completedAt\":\"2026-01-01T01:00:00.000Z\"" } },
};
SECTION(table_of_control, "control and events", NULL, control);

/* ---- History --------------------------------------------------------------------------------------------------- */

#define TWICE "/workflows/order/instances/twice"
#define LOG_1                                                                                                          \
    "{\"id\":\"1\",\"runNumber\":1,\"stepKey\":null,\"attempt\":null,\"level\":\"info\",\"category\":\"workflow\","    \
    "\"message\":\"begun\",\"data\":null,\"isReplay\":false,\"createdAt\":\"" START "\"}"
#define LOG_2                                                                                                          \
    "{\"id\":\"2\",\"runNumber\":1,\"stepKey\":\"charge\",\"attempt\":1,\"level\":\"warn\",\"category\":\"shop\","     \
    "\"message\":\"charging \\\"Ada\\\"\",\"data\":{\"attempt\":1},\"isReplay\":false,\"createdAt\":\"" START "\"}"

static const struct table_case history[] = {
    { .method = "GET",
      .target = WAITS "/history",
      .status = 200,
      .is = "{\"runNumber\":1,\"steps\":[" CHARGE "," PAYMENT ",\"runNumber\":1," STAMPS
            "}],\"stepsHasNextPage\":false,\"events\":[],\"eventsHasNextPage\":false}" },
    { .method = "GET",
      .target = WAITS "/history?includeLogs=true&pageSize=100",
      .status = 200,
      .says = { "\"eventsHasNextPage\":false,\"logs\":[" LOG_1 "," LOG_2 "],\"logsHasNextPage\":false}" } },
    { .method = "GET",
      .target = WAITS "/history?includeLogs=true&order=desc",
      .status = 200,
      .says = { "\"logs\":[" LOG_2 "," LOG_1 "]", "\"steps\":[" PAYMENT } },
    { .method = "GET",
      .target = WAITS "/history?includeLogs=true&logLevel=warn",
      .status = 200,
      .says = { "\"logs\":[" LOG_2 "],\"logsHasNextPage\":false}" } },
    { .method = "GET",
      .target = WAITS "/history?includeLogs=true&logCategory=workflow",
      .status = 200,
      .says = { "\"logs\":[" LOG_1 "],\"logsHasNextPage\":false}" } },
    { .method = "GET",
      .target = WAITS "/history?includeLogs=true&logCategory=no+such%20one",
      .status = 200,
      .says = { "\"logs\":[],\"logsHasNextPage\":false}" } },
    { .method = "GET",
      .target = WAITS "/history?includeLogs=false&logLevel=error",
      .status = 200,
      .says = { "\"eventsHasNextPage\":false}" } },
    { .method = "GET",
      .target = WAITS "/history?pageSize=1&includeLogs=true",
      .status = 200,
      .says = { "\"steps\":[" CHARGE "],\"stepsCursor\":\"", "\"stepsHasNextPage\":true",
                "\"logs\":[" LOG_1 "],\"logsCursor\":\"" } },
    { .method = "GET", .target = TWICE "/history", .status = 200, .says = { "{\"runNumber\":2,\"steps\":[" } },
    { .method = "GET",
      .target = TWICE "/history?runNumber=1",
      .status = 200,
      .says = { "{\"runNumber\":1,\"steps\":[" CHARGE } },
    { .method = "GET",
      .target = "/workflows/order/instances/stuck/history",
      .status = 200,
      .says = { "\"status\":\"waiting\",\"state\":\"waiting\",\"place\":{\"order\":1},\"attempts\":1",
                "\"nextRetryAt\":\"2026-01-02T00:00:00.000Z\"",
                "\"error\":{\"name\":\"CardDeclined\",\"message\":\"not today\"},\"runNumber\":1," STAMPS "}" } },
    { .method = "GET",
      .target = "/workflows/echo/instances/done/history?includeLogs=true",
      .status = 200,
      .is = "{\"runNumber\":1,\"steps\":[],\"stepsHasNextPage\":false,\"events\":[],\"eventsHasNextPage\":false,"
            "\"logs\":[],\"logsHasNextPage\":false}" },

    /* Events: delivered, and not. */
    { .method = "POST",
      .target = WAITS "/events",
      .status = 200,
      .body = "{\"type\":\"paid\",\"id\":\"e-1\",\"payload\":{\"x\": 1}}",
      .says = { "{\"status\":{" } },
    { .method = "POST",
      .target = TWICE "/events",
      .status = 200,
      .body = "{\"type\":\"other\",\"id\":\"e-2\"}",
      .says = { "{\"status\":{" } },
    { .before = TABLE_RUN,
      .method = "GET",
      .target = WAITS "/history",
      .status = 200,
      .says = { "\"events\":[{\"id\":\"e-1\",\"runNumber\":1,\"type\":\"paid\",\"isFailure\":false,\"payload\":{\"x\": 1},\"createdAt\":\"" START
                "\",\"deliveredAt\":\"" START "\",\"consumedByStepKey\":\"payment\"}]",
                "\"waitsFor\":{\"event\":\"paid\",\"until\":\"2026-01-01T01:00:00.000Z\"},\"runNumber\":1,\"result\":{\"x\": 1}," } },
    { .method = "GET",
      .target = TWICE "/history?runNumber=2",
      .status = 200,
      .says = { "\"events\":[{\"id\":\"e-2\",\"runNumber\":2,\"type\":\"other\",\"isFailure\":false,\"createdAt\":\"" START
                "\",\"deliveredAt\":null,\"consumedByStepKey\":null}]" } },
    { .method = "HEAD", .target = TWICE "/history", .status = 200, .is = "" },
};
SECTION(table_of_history, "history", NULL, history);

/* ---- Ticks ----------------------------------------------------------------------------------------------------- */

static void allow_ticks(struct pawl_http_options *options)
{
    options->allow_tick = true;
}

static const struct table_case ticks[] = {
    { .method = "POST", .target = "/_runner/tick", .status = 200, .is = "{\"processed\":0}" },
    { .method = "POST",
      .target = "/workflows/echo/instances/batch",
      .status = 200,
      .body = "{\"instances\":[{\"id\":\"t-1\"},{\"id\":\"t-2\"},{\"id\":\"t-3\"}]}" },
    { .method = "POST",
      .target = "/_runner/tick",
      .body = "{\"maxInstances\":1,\"maxSteps\":10}",
      .status = 200,
      .is = "{\"processed\":1}" },
    { .method = "POST",
      .target = "/workflows/_runner/tick",
      .body = "{\"maxInstances\":2.0}",
      .status = 200,
      .is = "{\"processed\":2}" },
    { .method = "GET",
      .target = "/workflows/echo/instances?status=active",
      .status = 200,
      .is = "{\"instances\":[],\"hasNextPage\":false}" },
    { .method = "POST",
      .target = "/_runner/tick",
      .body = "{\"maxInstances\":0}",
      .status = 400,
      .code = "VALIDATION_FAILED",
      .says = { "{\"path\":\"maxInstances\",\"message\":\"is not a whole number" } },
    { .method = "POST",
      .target = "/_runner/tick",
      .body = "{\"maxSteps\":1.5}",
      .status = 400,
      .code = "VALIDATION_FAILED",
      .says = { "\"path\":\"maxSteps\"" } },
    { .method = "POST",
      .target = "/_runner/tick",
      .body = "{\"maxSteps\":\"1\"}",
      .status = 400,
      .code = "VALIDATION_FAILED" },
    { .method = "POST",
      .target = "/_runner/tick",
      .body = "{\"max\":1}",
      .status = 400,
      .code = "VALIDATION_FAILED",
      .says = { "maxInstances, maxSteps" } },
    { .method = "GET",
      .target = "/_runner/tick",
      .status = 405,
      .code = "METHOD_NOT_ALLOWED",
      .has = { "Allow", "POST, OPTIONS" } },
};
SECTION(table_of_ticks, "ticks", allow_ticks, ticks);

static const struct table_case no_ticks[] = {
    { .method = "POST", .target = "/_runner/tick", .status = 403, .code = "RUNNER_TICK_DISABLED" },
    { .method = "POST",
      .target = "/workflows/_runner/tick",
      .body = "{",
      .status = 403,
      .code = "RUNNER_TICK_DISABLED" },
};
SECTION(table_of_no_ticks, "ticks where they are not enabled", NULL, no_ticks);

/* ---- For operators --------------------------------------------------------------------------------------------- */

static const struct table_case operators[] = {
    { .method = "GET", .target = "/health", .status = 200, .is = "{\"status\":\"ok\"}" },
    { .method = "GET", .target = "/health/live", .status = 200, .is = "{\"status\":\"ok\"}" },
    { .method = "GET", .target = "/health/ready", .status = 200, .is = "{\"status\":\"ready\"}" },
    { .method = "HEAD", .target = "/health/ready", .status = 200, .is = "" },
    { .method = "GET", .target = "/version", .status = 200, .says = { "{\"name\":\"pawl\",\"version\":\"" } },
    { .method = "GET",
      .target = "/metrics",
      .status = 200,
      .has = { "Content-Type", "text/plain; version=0.0.4; charset=utf-8" },
      .says = { "pawl_http_requests_total{method=\"GET\",route=\"/health\",status=\"2xx\"} 1\n" } },
    { .method = "GET", .target = "/openapi.json", .status = 200, .says = { "\"openapi\"" } },
    { .method = "GET",
      .target = "/status",
      .status = 200,
      .is = "{\"instances\":{\"active\":{\"count\":0,\"hasMore\":false},\"waiting\":{\"count\":11,\"hasMore\":false},"
            "\"paused\":{\"count\":1,\"hasMore\":false},\"complete\":{\"count\":3,\"hasMore\":false},"
            "\"terminated\":{\"count\":1,\"hasMore\":false},\"errored\":{\"count\":1,\"hasMore\":false}}}" },
    { .method = "GET",
      .target = "/status?workflow=order",
      .status = 200,
      .says = { "\"waiting\":{\"count\":3,", "\"complete\":{\"count\":0,", "\"terminated\":{\"count\":1," } },
    { .method = "GET", .target = "/status?workflow=none", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { .method = "GET", .target = "/status?status=active", .status = 400, .code = "VALIDATION_FAILED" },
    /* F5.  The world's runner ticks, and shares nothing. */
    { .method = "GET",
      .target = "/cluster",
      .status = 200,
      .says = { "{\"shardCount\":256,\"runners\":[{\"id\":\"",
                "\"sharing\":false,\"startedAt\":\"" START "\",\"seenAt\":\"" START "\",\"workflows\":[{",
                "{\"name\":\"order\",\"shards\":0}" } },
    { .method = "GET", .target = "/cluster?workflow=order", .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET",
      .target = "/workflows/order/shards",
      .status = 200,
      .says = { "{\"workflowName\":\"order\",\"shards\":[{\"shard\":0},{\"shard\":1},", "{\"shard\":255}]}" } },
    { .method = "GET", .target = "/workflows/none/shards", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { .method = "GET",
      .target = "/hooks/deliveries",
      .status = 200,
      .is = "{\"deliveries\":[],\"hasNextPage\":false}" },
    { .method = "GET",
      .target = "/hooks/deliveries?status=failed&hook=audit&pageSize=5",
      .status = 200,
      .is = "{\"deliveries\":[],\"hasNextPage\":false}" },
    { .method = "GET",
      .target = "/hooks/deliveries?status=delivered",
      .status = 400,
      .code = "VALIDATION_FAILED",
      .says = { "pending, failed" } },
    { .method = "GET", .target = "/hooks/deliveries?cursor=x", .status = 400, .code = "INVALID_CURSOR" },
    { .method = "POST", .target = "/hooks/deliveries/no-such/resend", .status = 404, .code = "DELIVERY_NOT_FOUND" },
    { .method = "POST",
      .target = "/hooks/deliveries/no-such/resend",
      .body = "{\"now\":true}",
      .status = 400,
      .code = "VALIDATION_FAILED" },
};
SECTION(table_of_operators, "for operators", NULL, operators);

/* ---- Other origins, other mounts ------------------------------------------------------------------------------- */

static void allow_an_origin(struct pawl_http_options *options)
{
    options->cors_origin = "https://shop.example";
}

static const struct table_case cors[] = {
    { .method = "GET",
      .target = "/workflows",
      .status = 200,
      .has = { "Access-Control-Allow-Origin", "https://shop.example" } },
    { .method = "GET", .target = "/workflows", .status = 200, .has = { "Vary", "Origin" } },
    { .method = "GET",
      .target = "/nothing",
      .status = 404,
      .code = "ROUTE_NOT_FOUND",
      .has = { "Access-Control-Allow-Origin", "https://shop.example" } },
    { .method = "OPTIONS",
      .target = "/workflows/order/instances",
      .status = 204,
      .headers = { { "Origin", "https://shop.example" }, { "Access-Control-Request-Method", "POST" } },
      .has = { "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS" } },
    { .method = "OPTIONS",
      .target = "/workflows/order/instances",
      .status = 204,
      .has = { "Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID" } },
};
SECTION(table_of_cors, "another origin", allow_an_origin, cors);

static void mount_nowhere(struct pawl_http_options *options)
{
    options->mount = "";
}

static const struct table_case root[] = {
    { .method = "GET", .target = "/health", .status = 200, .is = "{\"status\":\"ok\"}" },
    { .method = "GET", .target = "/workflows/", .status = 200, .is = WORKFLOWS },
    { .method = "GET", .target = "/api/workflows", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/", .status = 404, .code = "ROUTE_NOT_FOUND" },
};
SECTION(table_of_root, "mounted at the root", mount_nowhere, root);
