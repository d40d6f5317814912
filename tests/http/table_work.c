/* table_work.c - what others finish, and what is mended (contract A14, F and G): interrupting, undoing, retrying, children,
 * executions by key, jobs and deferreds.  What needs a token that somebody was given is in table_stories.c. */
#include "table.h"

#define START "2026-01-01T00:00:00.000Z"
#define OK_TRUE "{\"ok\":true}"
#define SECTION(variable, title, list)                                                                                 \
    const struct table_section variable = { title, NULL, list, sizeof list / sizeof list[0] }
#define POST(where) .method = "POST", .target = where
#define GET(where) .method = "GET", .target = where
#define WRONG .status = 400, .code = "VALIDATION_FAILED"

/* ---- Stopping and mending (F1, F2, F4) --------------------------------------------------------------------------- */

#define UNDOES "/workflows/undoes/instances/"
#define MENDS "/workflows/mends/instances/m-1"
#define ORDER "/workflows/order/instances/"
#define BROKEN "/workflows/broken/instances/b-1"

static const struct table_case repair[] = {
    /* Interrupted: asked first, then undone, then terminated. */
    { POST(UNDOES "u-1/interrupt"), .status = 200, .is = OK_TRUE },
    { GET(UNDOES "u-1"), .status = 200,
      .says = { "\"runNumber\":1,\"interrupted\":true,\"demand\":\"interrupt\",\"createdAt\":" } },
    { POST(UNDOES "u-1/interrupt"), .body = "{}", .status = 200, .is = OK_TRUE },
    { .before = TABLE_RUN,
      GET(UNDOES "u-1/result"),
      .status = 200,
      .says = { "\"status\":\"terminated\",\"phase\":\"terminated\",\"error\":{\"name\":\"INTERRUPTED\"," } },
    { GET(UNDOES "u-1/history"), .status = 200, .says = { "\"stepKey\":\"compensate: book\"" } },
    { POST(UNDOES "u-1/interrupt"), .status = 409, .code = "INSTANCE_TERMINAL" },
    { POST(UNDOES "u-1/retry"), .status = 409, .code = "NOT_REPAIRABLE" },
    { POST(UNDOES "u-1/restart"), .body = "{\"from\":\"book\"}", .status = 409, .code = "NOT_REPAIRABLE" },
    { POST(UNDOES "u-1/restart"), .body = "{}", .status = 200, .is = OK_TRUE },

    /* Terminated with rollback, and without. */
    { POST(UNDOES "u-2/terminate"), .body = "{\"rollback\": true}", .status = 200, .is = OK_TRUE },
    { GET(UNDOES "u-2"), .status = 200, .says = { "\"interrupted\":true,\"demand\":\"rollback\",\"createdAt\":" } },
    { .before = TABLE_RUN,
      GET(UNDOES "u-2/result"),
      .status = 200,
      .is = "{\"id\":\"u-2\",\"runNumber\":1,\"details\":{\"status\":\"terminated\",\"phase\":\"terminated\"}}" },
    { GET(UNDOES "u-2/history?order=desc"), .status = 200, .says = { "\"steps\":[{\"stepKey\":\"compensate: book\"" } },
    { POST(UNDOES "u-2/terminate"), .body = "{\"rollback\":true}", .status = 409, .code = "INSTANCE_TERMINAL" },
    { POST(UNDOES "u-3/terminate"), .body = "{\"rollback\":false}", .status = 200, .is = OK_TRUE },
    { .before = TABLE_RUN,
      GET(UNDOES "u-3/history?order=desc"),
      .status = 200,
      .says = { "\"steps\":[{\"stepKey\":\"wait\"" } },
    { POST(UNDOES "u-1/terminate"), .body = "{\"rollback\":1}", WRONG, .says = { "is not true or false" } },
    { POST(UNDOES "u-1/terminate"), .body = "{\"rollback\":null}", WRONG },
    { POST(UNDOES "u-1/terminate"), .body = "{\"roll\":true}", WRONG, .says = { "there are rollback" } },
    { POST(UNDOES "u-1/interrupt"), .body = "{\"rollback\":true}", WRONG },

    /* Parked for repair. */
    { GET(MENDS), .status = 200, .says = { "{\"status\":\"paused\",\"phase\":\"waitingForRepair\"" } },
    { GET("/workflows/mends/instances?status=paused"), .status = 200, .says = { "\"phase\":\"waitingForRepair\"" } },
    { POST(MENDS "/resume"), .status = 200, .is = OK_TRUE },
    { .before = TABLE_RUN, GET(MENDS "/result"), .status = 202, .says = { "\"phase\":\"waitingForRepair\"" } },
    { POST(MENDS "/retry"), .status = 409, .code = "NOT_REPAIRABLE" },

    /* Tried again where it failed, and from a step. */
    { POST(BROKEN "/retry"), .status = 200, .is = OK_TRUE },
    { GET(BROKEN), .status = 200, .says = { "{\"status\":\"active\",\"phase\":\"queued\"}", "\"runNumber\":2" } },
    { .before = TABLE_RUN, GET(BROKEN "/result"), .status = 200, .says = { "\"runNumber\":2", "\"Broken\"" } },
    { POST(ORDER "waits/retry"), .status = 409, .code = "NOT_REPAIRABLE" },
    { POST(ORDER "waits/restart"), .body = "{\"from\":\"payment\"}", .status = 200, .is = OK_TRUE },
    { .before = TABLE_RUN,
      GET(ORDER "waits/history"),
      .status = 200,
      .says = { "{\"runNumber\":2,\"steps\":[{\"stepKey\":\"charge\"", "\"stepKey\":\"payment\"" } },
    { POST(ORDER "waits/restart"), .body = "{\"from\":\"nothing\"}", .status = 400, .code = "INVALID_STEP_NAME" },
    { POST(ORDER "waits/restart"), .body = "{\"from\":\"\"}", .status = 400, .code = "INVALID_STEP_NAME" },
    { POST(ORDER "waits/restart"), .body = "{\"from\":1}", WRONG, .says = { "is not a string" } },
    { POST(ORDER "waits/restart"), .body = "{\"from\":\"a\\u0000\"}", WRONG },
    { POST(ORDER "waits/retry"), .body = "{\"from\":\"charge\"}", WRONG },
    { POST(ORDER "missing/interrupt"), .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { POST(ORDER "missing/retry"), .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { POST(ORDER "missing/restart"), .body = "{\"from\":\"charge\"}", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { POST(ORDER "missing/terminate"), .body = "{\"rollback\":true}", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { POST("/workflows/none/instances/a/interrupt"), .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { POST("/workflows/none/instances/a/retry"), .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { POST(ORDER "-a/interrupt"), .status = 400, .code = "INVALID_INSTANCE_ID" },
    { GET(ORDER "waits/interrupt"), .status = 405, .code = "METHOD_NOT_ALLOWED", .has = { "Allow", "POST, OPTIONS" } },
};
SECTION(table_of_repair, "stopping and mending", repair);

/* ---- Children (A14) ---------------------------------------------------------------------------------------------- */

#define FAMILY "/workflows/family/instances/f-1"
#define KID                                                                                                            \
    "{\"id\":\"kid\",\"workflowName\":\"defers\",\"details\":{\"status\":\"waiting\",\"phase\":\"waiting\"},"          \
    "\"createdAt\":\"" START "\",\"updatedAt\":\"" START "\"}"

static const struct table_case children[] = {
    { GET(FAMILY "/children"), .status = 200, .is = "{\"instances\":[" KID "],\"hasNextPage\":false}" },
    { GET(FAMILY "/children?pageSize=1&order=asc"), .status = 200,
      .is = "{\"instances\":[" KID "],\"hasNextPage\":false}" },
    { .method = "HEAD", .target = FAMILY "/children", .status = 200, .is = "" },
    { GET("/workflows/defers/instances/kid"), .status = 200,
      .says = { "\"parent\":{\"workflowName\":\"family\",\"instanceId\":\"f-1\",\"runNumber\":1,\"attached\":true}" } },
    { GET(FAMILY), .status = 200,
      .says = { "\"currentStep\":{\"stepKey\":\"await: kid\"", "\"type\":\"child\"",
                "\"waitsFor\":{\"workflowName\":\"defers\",\"instanceId\":\"kid\"}" } },
    { GET("/workflows/echo/instances/done/children"), .status = 200, .is = "{\"instances\":[],\"hasNextPage\":false}" },
    /* A job is nobody's child here. */
    { GET("/workflows/calls/instances/c-1/children"), .status = 200, .is = "{\"instances\":[],\"hasNextPage\":false}" },
    { GET(FAMILY "/children?status=active"), WRONG, .says = { "there are pageSize, cursor, order" } },
    { GET(FAMILY "/children?pageSize=0"), WRONG },
    { GET(FAMILY "/children?order=up"), WRONG },
    { GET(FAMILY "/children?cursor=x"), .status = 400, .code = "INVALID_CURSOR" },
    { GET("/workflows/family/instances/none/children"), .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { GET("/workflows/none/instances/f-1/children"), .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { GET("/workflows/family/instances/-/children"), .status = 400, .code = "INVALID_INSTANCE_ID" },
    { POST(FAMILY "/children"), .status = 405, .code = "METHOD_NOT_ALLOWED" },

    /* An attached child goes with its parent. */
    { POST(FAMILY "/terminate"), .status = 200, .is = OK_TRUE },
    { .before = TABLE_RUN,
      GET("/workflows/defers/instances/kid/result"),
      .status = 200,
      .says = { "\"status\":\"terminated\"" } },
};
SECTION(table_of_children, "children", children);

/* ---- Runs (B5) ----------------------------------------------------------------------------------------------------- */

#define ECHO "/workflows/echo/instances/done"
#define RUN_1 "{\"runNumber\":1,\"details\":{\"status\":\"complete\",\"phase\":\"complete\",\"output\":"

static const struct table_case runs[] = {
    { GET(ECHO "/runs"), .status = 200, .says = { "{\"runs\":[" RUN_1, "\"hasNextPage\":false}" } },
    { GET(ECHO "?runNumber=2"), .status = 400, .code = "VALIDATION_FAILED", .says = { "it has the runs 1 to 1" } },
    { POST(ECHO "/restart"), .status = 200, .is = OK_TRUE },
    { GET(ECHO "/runs"), .status = 200,
      .says = { "{\"runs\":[{\"runNumber\":2,\"details\":{\"status\":\"active\",\"phase\":\"queued\"},\"startedAt\":null,"
                "\"completedAt\":null}," RUN_1,
                "\"replacedAt\":\"" START "\"}],\"hasNextPage\":false}" } },
    { GET(ECHO "/runs?pageSize=1"), .status = 200, .says = { "\"runNumber\":2", "\"hasNextPage\":true" } },
    { GET(ECHO "/runs?pageSize=1&order=asc"), .status = 200, .says = { RUN_1, "\"cursor\":" } },
    { GET(ECHO "?runNumber=1"), .status = 200,
      .says = { "\"details\":{\"status\":\"complete\"",
                "\"runNumber\":1,\"params\":", "\"replacedAt\":\"" START "\"}}" } },
    { GET(ECHO "?runNumber=2"), .status = 200, .says = { "\"status\":\"active\"", "\"runNumber\":2" } },
    { POST(ECHO "/restart"), .status = 200, .is = OK_TRUE },
    { GET(ECHO "?runNumber=2"), .status = 200,
      .says = { "\"status\":\"terminated\"", "\"error\":{\"name\":\"RESTARTED\"" } },
    { GET(ECHO "?runNumber=0"), WRONG },
    { GET(ECHO "?run=1"), WRONG, .says = { "there are runNumber" } },
    { GET(ECHO "/runs?status=active"), WRONG, .says = { "there are pageSize, cursor, order" } },
    { GET(ECHO "/runs?cursor=x"), .status = 400, .code = "INVALID_CURSOR" },
    { GET("/workflows/echo/instances/none/runs"), .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { GET("/workflows/none/instances/done/runs"), .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { POST(ECHO "/runs"), .status = 405, .code = "METHOD_NOT_ALLOWED" },
};
SECTION(table_of_runs, "runs", runs);

/* ---- Executions by key (F1, F6) ------------------------------------------------------------------------------------ */

#define EXECUTE "/workflows/echo/execute"
#define KEY_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define KEY_1024                                                                                                       \
    KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64 KEY_64
#define QUEUED "\"runNumber\":1,\"details\":{\"status\":\"active\",\"phase\":\"queued\"}}"

static const struct table_case execute[] = {
    { POST(EXECUTE), .body = "{\"key\":\"a/b c\",\"params\":{\"x\":  1}}", .status = 202, .says = { QUEUED } },
    { GET(EXECUTE "/a%2Fb%20c"), .status = 202, .says = { QUEUED } },
    { .before = TABLE_RUN,
      GET(EXECUTE "/a%2Fb%20c"),
      .status = 200,
      .says = { "\"runNumber\":1,\"details\":{\"status\":\"complete\",\"phase\":\"complete\",\"output\":{\"x\":  1}}}" } },
    { POST(EXECUTE), .body = "{\"key\":\"a/b c\",\"params\":2,\"waitMs\":60000}", .status = 200,
      .says = { "\"output\":{\"x\":  1}" } },
    { POST(EXECUTE), .body = "{\"key\":\"a/b c\",\"discard\":true}", .status = 200,
      .says = { "\"output\":{\"x\":  1}" } },
    { .method = "HEAD", .target = EXECUTE "/a%2fb%20c", .status = 200, .is = "" },
    { POST(EXECUTE), .body = "{\"discard\":true,\"waitMs\":60000}", .status = 202, .says = { QUEUED } },
    { POST(EXECUTE), .status = 202, .says = { QUEUED } },
    { POST(EXECUTE), .body = "{\"key\":\"" KEY_1024 "\"}", .status = 202, .says = { QUEUED } },
    { GET(EXECUTE "/" KEY_1024), .status = 202, .says = { QUEUED } },
    { POST(EXECUTE), .body = "{\"key\":\"\xc3\xa4\\n\"}", .status = 202, .says = { QUEUED } },
    { GET(EXECUTE "/%c3%a4%0a"), .status = 202, .says = { QUEUED } },
    /* The same key of another workflow is another execution. */
    { GET("/workflows/order/execute/a%2Fb%20c"), .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { POST("/workflows/broken/execute"), .body = "{\"key\":\"k\"}", .status = 202, .says = { QUEUED } },
    { .before = TABLE_RUN,
      GET("/workflows/broken/execute/k"),
      .status = 200,
      .says = { "\"error\":{\"name\":\"Broken\"" } },

    { POST(EXECUTE), .body = "{\"key\":\"\"}", WRONG },
    { POST(EXECUTE), .body = "{\"key\":\"" KEY_1024 "1\"}", WRONG },
    { GET(EXECUTE "/" KEY_1024 "1"), WRONG },
    { POST(EXECUTE), .body = "{\"key\":1}", WRONG },
    { POST(EXECUTE), .body = "{\"key\":\"a\\u0000b\"}", WRONG, .says = { "holds a NUL" } },
    { POST(EXECUTE), .body = "{\"discard\":\"yes\"}", WRONG, .says = { "is not true or false" } },
    { POST(EXECUTE), .body = "{\"waitMs\":-1}", WRONG, .says = { "from 0 on" } },
    { POST(EXECUTE), .body = "{\"waitMs\":1.5}", WRONG },
    { POST(EXECUTE), .body = "{\"waitMs\":\"1\"}", WRONG },
    { POST(EXECUTE), .body = "{\"id\":\"x\"}", WRONG, .says = { "there are key, params, discard, waitMs" } },
    { POST(EXECUTE "?waitMs=1"), WRONG },
    { GET(EXECUTE "/k?waitMs=1"), WRONG },
    { GET(EXECUTE "/none"), .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { POST("/workflows/none/execute"), .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { POST("/workflows/none/execute"), .body = "{\"key\":\"k\"}", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { GET("/workflows/none/execute/k"), .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { POST("/workflows/inlined/execute"), .body = "{\"key\":\"k\"}", WRONG },
    { GET(EXECUTE), .status = 405, .code = "METHOD_NOT_ALLOWED", .has = { "Allow", "POST, OPTIONS" } },
    { POST(EXECUTE "/k"), .status = 405, .code = "METHOD_NOT_ALLOWED", .has = { "Allow", "GET, HEAD, OPTIONS" } },
    { GET(EXECUTE "/"), .status = 404, .code = "ROUTE_NOT_FOUND" },
    { GET(EXECUTE "/a/b"), .status = 404, .code = "ROUTE_NOT_FOUND" },
    /* A slash may stand in a key, and nowhere else. */
    { GET("/workflows/e%2fo/execute/a%2fb"), WRONG, .says = { "slash" } },
    { GET("/workflows/e%2fo/execute/k"), WRONG, .says = { "slash" } },
    { POST("/deferred/a%2fb/succeed"), WRONG, .says = { "slash" } },
};
SECTION(table_of_execute, "executions by key", execute);

/* ---- Jobs and deferreds (F3, G1) ----------------------------------------------------------------------------------- */

#define CLAIM POST("/jobs/claim")

static const struct table_case work[] = {
    { GET("/workflows/calls/instances/c-1"), .status = 200,
      .says = { "\"currentStep\":{\"stepKey\":\"remote\",\"name\":\"remote\",\"description\":\"Charges the card.\","
                "\"type\":\"call\",\"status\":\"waiting\"",
                "\"waitsFor\":{\"function\":\"charge\"},", "\"job\":{\"function\":\"charge\"}}" } },
    { GET("/workflows/defers/instances/d-1"), .status = 200,
      .says = { "\"currentStep\":{\"stepKey\":\"approval\",\"name\":\"approval\",\"type\":\"deferred\"",
                "\"waitsFor\":{\"until\":null}" } },
    { CLAIM, .body = "{\"functions\":[\"other\",\"a.b-C_9\"]}", .status = 200, .is = "{\"jobs\":[]}" },
    { CLAIM, .body = "{\"functions\":[\"other\",\"ch\\u0061rge\",\"charge\"],\"waitMs\":60000}", .status = 200,
      .says = { "{\"jobs\":[{\"token\":\"",
                "\"function\":\"charge\",\"data\":{\"amount\":  1.50},\"workflowName\":\"calls\","
                "\"instanceId\":\"c-1\",\"runNumber\":1,\"step\":\"remote\",\"attempt\":1,"
                "\"deadlineAt\":\"2026-01-01T00:10:00.000Z\",\"leasedUntil\":\"2026-01-01T00:00:30.000Z\"}]}" } },
    /* Who has it, and since when. */
    { GET("/workflows/calls/instances/c-1/history"), .status = 200,
      .says = { "\"job\":{\"function\":\"charge\",\"takenBy\":\"outside\",\"takenAt\":\"" START "\","
                "\"deadline\":\"2026-01-01T00:10:00.000Z\"}" } },
    { GET("/workflows/calls/instances/c-2"), .status = 200, .says = { "\"job\":{\"function\":\"charge\"}}" } },
    { CLAIM, .body = "{\"functions\":[\"charge\"],\"max\":100,\"leaseMs\":3600000}", .status = 200,
      .says = { "\"function\":\"charge\",\"workflowName\":\"calls\",\"instanceId\":\"c-2\"",
                "\"leasedUntil\":\"2026-01-01T00:10:00.000Z\"}]}" } },
    { CLAIM, .body = "{\"functions\":[\"charge\"]}", .status = 200, .is = "{\"jobs\":[]}" },
    /* What is behind a job is not a workflow of anybody's. */
    { GET("/workflows/@charge/instances"), .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { GET("/workflows/%40charge/instances"), .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { POST("/workflows/@charge/instances"), .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { POST("/workflows/@charge/execute"), .body = "{\"key\":\"k\"}", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    /* The engine's own events are not sent from outside. */
    { POST("/workflows/defers/instances/d-1/events"), .body = "{\"type\":\"$deferred:x\"}", .status = 400,
      .code = "INVALID_EVENT_TYPE" },
};
SECTION(table_of_work, "jobs and deferreds", work);

#define FOUR "\"f\",\"f\",\"f\",\"f\","
#define SIXTY_FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR
#define GONE .status = 404, .code = "INVALID_TOKEN"

static const struct table_case wrong_work[] = {
    { CLAIM, WRONG, .says = { "{\"path\":\"functions\",\"message\":\"is missing\"}" } },
    { CLAIM, .body = "{\"functions\":\"charge\"}", WRONG, .says = { "is not a list" } },
    { CLAIM, .body = "{\"functions\":null}", WRONG },
    { CLAIM, .body = "{\"functions\":[]}", WRONG, .says = { "names no function" } },
    { CLAIM, .body = "{\"functions\":[\"f\",1]}", WRONG, .says = { "\"path\":\"functions[1]\"", "is not a string" } },
    { CLAIM, .body = "{\"functions\":[[\"f\"]]}", WRONG },
    { CLAIM, .body = "{\"functions\":[\"f\\u0000\"]}", WRONG, .says = { "holds a NUL" } },
    { CLAIM, .body = "{\"functions\":[" SIXTY_FOUR "\"f\"]}", WRONG, .says = { "more than 64" } },
    { CLAIM, .body = "{\"functions\":[\"\"]}", .status = 400, .code = "INVALID_FUNCTION_NAME" },
    { CLAIM, .body = "{\"functions\":[\"-f\"]}", .status = 400, .code = "INVALID_FUNCTION_NAME" },
    { CLAIM, .body = "{\"functions\":[\"@f\"]}", .status = 400, .code = "INVALID_FUNCTION_NAME" },
    { CLAIM, .body = "{\"functions\":[\"a b\"]}", .status = 400, .code = "INVALID_FUNCTION_NAME" },
    { CLAIM, .body = "{\"functions\":[\"" KEY_64 "\"]}", .status = 400, .code = "INVALID_FUNCTION_NAME" },
    { CLAIM, .body = "{\"functions\":[\"f\"],\"max\":0}", WRONG, .says = { "from 1 to 100" } },
    { CLAIM, .body = "{\"functions\":[\"f\"],\"max\":101}", WRONG },
    { CLAIM, .body = "{\"functions\":[\"f\"],\"max\":4294967297}", WRONG },
    { CLAIM, .body = "{\"functions\":[\"f\"],\"max\":\"1\"}", WRONG },
    { CLAIM, .body = "{\"functions\":[\"f\"],\"leaseMs\":999}", WRONG, .says = { "from 1000 to 3600000" } },
    { CLAIM, .body = "{\"functions\":[\"f\"],\"leaseMs\":3600001}", WRONG },
    { CLAIM, .body = "{\"functions\":[\"f\"],\"waitMs\":-1}", WRONG },
    { CLAIM, .body = "{\"functions\":[\"f\"],\"queue\":\"f\"}", WRONG, .says = { "functions, max, leaseMs, waitMs" } },
    { GET("/jobs/claim"), .status = 405, .code = "METHOD_NOT_ALLOWED", .has = { "Allow", "POST, OPTIONS" } },
    { GET("/jobs"), .status = 404, .code = "ROUTE_NOT_FOUND" },

    { POST("/jobs/none/heartbeat"), GONE },
    { POST("/jobs/1.1.1.none/heartbeat"), GONE },
    { POST("/jobs/1.1.1/heartbeat"), GONE },
    { POST("/jobs/99999999999999999999.1.1.x/heartbeat"), GONE },
    { POST("/jobs/-1.-1.-1.x/heartbeat"), GONE },
    { POST("/jobs/%c3%a4/heartbeat"), GONE },
    { POST("/jobs/none/heartbeat"), .body = "{\"leaseMs\":1}", WRONG },
    { POST("/jobs/none/complete"), GONE },
    { POST("/jobs/none/complete"), .body = "{\"result\":null}", GONE },
    { POST("/jobs/none/complete"), .body = "{\"output\":1}", WRONG, .says = { "there are result" } },
    { POST("/jobs/none/fail"), .body = "{\"name\":\"E\"}", GONE },
    { POST("/jobs/none/fail"), WRONG, .says = { "{\"path\":\"name\",\"message\":\"is missing\"}" } },
    { POST("/jobs/none/fail"), .body = "{\"name\":1,\"message\":2,\"retry\":3}", WRONG,
      .says = { "\"path\":\"name\"", "\"path\":\"message\"", "\"path\":\"retry\"" } },
    { POST("/jobs/none/restart"), .status = 404, .code = "ROUTE_NOT_FOUND" },

    { POST("/deferred/none/succeed"), GONE },
    { POST("/deferred/none/succeed"), .body = "{\"result\":0}", GONE },
    { POST("/deferred/defers.d-1.1.1.0123456789abcdef0123456789abcdef/succeed"), GONE },
    { POST("/deferred/defers.none.1.1.0123456789abcdef0123456789abcdef/succeed"), GONE },
    { POST("/deferred/order.waits.1.1.0123456789abcdef0123456789abcdef/succeed"), GONE },
    { POST("/deferred/..1.1./succeed"), GONE },
    { POST("/deferred/%20/succeed"), GONE },
    { POST("/deferred/none/succeed"), .body = "{\"results\":0}", GONE }, /* what cannot be a token comes first */
    { POST("/deferred/defers.d-1.1.1.never/succeed"), .body = "{\"results\":0}", WRONG,
      .says = { "there are result" } },
    { POST("/deferred/defers.d-1.1.1.never/succeed"), .body = "[]", WRONG },
    { POST("/deferred/defers.d-1.1.1.never/succeed"), .body = "{", .status = 400, .code = "INVALID_JSON" },
    { POST("/deferred/none/fail"), .body = "{\"name\":\"E\",\"message\":\"\"}", GONE },
    { POST("/deferred/defers.d-1.1.1.never/fail"), WRONG, .says = { "is missing" } },
    { POST("/deferred/defers.d-1.1.1.never/fail"), .body = "{\"name\":\"E\",\"retry\":true}", WRONG,
      .says = { "there are name, message" } },
    { GET("/deferred/defers.d-1.1.1.never/succeed"), .status = 405, .code = "METHOD_NOT_ALLOWED",
      .has = { "Allow", "POST, OPTIONS" } },
    { GET("/deferred/none"), .status = 404, .code = "ROUTE_NOT_FOUND" },
};
SECTION(table_of_wrong_work, "jobs and deferreds, wrongly", wrong_work);
