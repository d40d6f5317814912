/* table_errors.c - what every route answers when it is used otherwise: each error code, and why (contract D). */
#include "table.h"

#include <stdio.h>
#include <string.h>

#define SECTION(variable, title, setting, list)                                                                        \
    const struct table_section variable = { title, setting, list, sizeof list / sizeof list[0] }
#define ECHO "/workflows/echo/instances"
#define WAITS "/workflows/order/instances/waits"
#define MISSING "/workflows/order/instances/missing"
#define NINETY_NINE                                                                                                    \
    "a123456789b123456789c123456789d123456789e123456789f123456789g123456789h123456789i123456789j12345678"

#define EUROS_SENT                                                                                                     \
    "%e2%82%ac%e2%82%ac%e2%82%ac%e2%82%ac%e2%82%ac%e2%82%ac%e2%82%ac%e2%82%ac%e2%82%ac%e2%82%ac%e2%82%ac%e2%82%ac"     \
    "%e2%82%ac%e2%82%ac%e2%82%ac%e2%82%ac"
#define EUROS                                                                                                          \
    "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"

/* ---- Targets --------------------------------------------------------------------------------------------------- */

static const struct table_case targets[] = {
    { .method = "GET", .target = "", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET",
      .target = "/nothing",
      .status = 404,
      .code = "ROUTE_NOT_FOUND",
      .says = { "/api/openapi.json" } },
    { .method = "GET", .target = "/", .is_bare = true, .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/workflows", .is_bare = true, .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/apiworkflows", .is_bare = true, .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/api%2fworkflows", .is_bare = true, .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = "//api/workflows", .is_bare = true, .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "//workflows", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/workflows//", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/workflows//instances", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = ECHO "/", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = ECHO "/done/", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = ECHO "/done/nothing", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/a/b/c/d/e/f/g/h/i/j/k/l/m", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/WORKFLOWS", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/workflows/.", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/workflows/echo/..", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/workflows/../health", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/workflows/../instances", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/workflows/%2e%2E/instances", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = ECHO "/%2e", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = ECHO "/a%2Fb", .status = 400, .code = "VALIDATION_FAILED", .says = { "slash" } },
    { .method = "GET", .target = ECHO "/done%00", .status = 400, .code = "VALIDATION_FAILED", .says = { "NUL" } },
    { .method = "GET", .target = ECHO "/%", .status = 400, .code = "VALIDATION_FAILED", .says = { "hexadecimal" } },
    { .method = "GET", .target = ECHO "/%4", .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = ECHO "/%zz", .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = ECHO "/%%41", .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = ECHO "/%u0041", .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = ECHO "/%c3", .status = 400, .code = "VALIDATION_FAILED", .says = { "UTF-8" } },
    { .method = "GET", .target = ECHO "/%c0%80", .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = ECHO "/%ed%a0%80", .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = ECHO "/%f5%80%80%80", .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = "/%ff", .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET",
      .target = "",
      .is_bare = true,
      .not_by_client = true,
      .status = 400,
      .code = "VALIDATION_FAILED" },
    { .method = "GET",
      .target = "api/workflows",
      .is_bare = true,
      .not_by_client = true,
      .status = 400,
      .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = "/workflows\xff", .not_by_client = true, .status = 400, .code = "VALIDATION_FAILED" },

    /* Names that nothing has, or can have. */
    { .method = "GET",
      .target = "/workflows/none/instances",
      .status = 404,
      .code = "WORKFLOW_NOT_FOUND",
      .says = { "none" } },
    { .method = "GET", .target = "/workflows/Echo/instances", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { .method = "GET", .target = "/workflows/%c3%a4%22%0a/instances", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { .method = "GET",
      .target = "/workflows/" NINETY_NINE NINETY_NINE "/instances",
      .status = 404,
      .code = "WORKFLOW_NOT_FOUND" },
    { .method = "POST", .target = "/workflows/none/instances", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { .method = "POST",
      .target = "/workflows/none/instances/batch",
      .body = "{\"instances\":[{\"id\":\"a\"}]}",
      .status = 404,
      .code = "WORKFLOW_NOT_FOUND" },
    { .method = "GET", .target = "/workflows/none/instances/a", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { .method = "GET", .target = "/workflows/none/instances/a/history", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { .method = "GET", .target = "/workflows/none/instances/a/result", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { .method = "GET",
      .target = "/workflows/none/instances/a/result?waitMs=9",
      .status = 404,
      .code = "WORKFLOW_NOT_FOUND" },
    { .method = "GET", .target = "/workflows/none/instances/a/stream", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { .method = "POST", .target = "/workflows/none/instances/a/pause", .status = 404, .code = "WORKFLOW_NOT_FOUND" },
    { .method = "POST",
      .target = "/workflows/none/instances/a/events",
      .body = "{\"type\":\"t\"}",
      .status = 404,
      .code = "WORKFLOW_NOT_FOUND" },
    { .method = "GET", .target = MISSING, .status = 404, .code = "INSTANCE_NOT_FOUND", .says = { "missing" } },
    { .method = "HEAD", .target = MISSING, .status = 404, .is = "" },
    { .method = "GET", .target = MISSING "/history", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { .method = "GET", .target = MISSING "/result", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { .method = "GET", .target = MISSING "/result?waitMs=100", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { .method = "GET", .target = MISSING "/stream", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { .method = "POST", .target = MISSING "/pause", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { .method = "POST", .target = MISSING "/resume", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { .method = "POST", .target = MISSING "/terminate", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { .method = "POST", .target = MISSING "/restart", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { .method = "POST",
      .target = MISSING "/events",
      .body = "{\"type\":\"t\"}",
      .status = 404,
      .code = "INSTANCE_NOT_FOUND" },
    { .method = "GET", .target = ECHO "/waits", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { .method = "GET", .target = ECHO "/-a", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { .method = "GET", .target = ECHO "/a.b", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { .method = "GET", .target = ECHO "/a%20b", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { .method = "GET", .target = ECHO "/%c3%a4", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { .method = "GET", .target = ECHO "/a+b", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { .method = "GET", .target = ECHO "/" NINETY_NINE "00", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { .method = "GET", .target = ECHO "/" NINETY_NINE "0", .status = 404, .code = "INSTANCE_NOT_FOUND" },
    { .method = "POST", .target = ECHO "/-a/pause", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { .method = "GET", .target = ECHO "/-a/history", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { .method = "GET", .target = ECHO "/-a/result", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { .method = "GET", .target = ECHO "/-a/stream", .status = 400, .code = "INVALID_INSTANCE_ID" },
};

SECTION(table_of_targets, "targets", NULL, targets);

/* ---- Queries --------------------------------------------------------------------------------------------------- */

#define BAD_QUERY(where, words)                                                                                        \
    {                                                                                                                  \
        .method = "GET", .target = where, .status = 400, .code = "VALIDATION_FAILED", .says = {                        \
            "\"issues\":[",                                                                                            \
            words                                                                                                      \
        }                                                                                                              \
    }

static const struct table_case queries[] = {
    BAD_QUERY(ECHO "?status=done", "is not an instance status"),
    BAD_QUERY(ECHO "?status=ACTIVE", "\"path\":\"status\""),
    BAD_QUERY(ECHO "?status=", "is empty"),
    BAD_QUERY(ECHO "?status", "is empty"),
    BAD_QUERY(ECHO "?status=active&status=active", "more than once"),
    BAD_QUERY(ECHO "?status=active&%73tatus=paused", "more than once"),
    BAD_QUERY(ECHO "?pageSize=0", "from 1 to 100"),
    BAD_QUERY(ECHO "?pageSize=101", "\"path\":\"pageSize\""),
    BAD_QUERY(ECHO "?pageSize=-1", "from 1 to 100"),
    BAD_QUERY(ECHO "?pageSize=-", "whole number"),
    BAD_QUERY(ECHO "?pageSize=1.0", "whole number"),
    BAD_QUERY(ECHO "?pageSize=1e1", "whole number"),
    BAD_QUERY(ECHO "?pageSize=+5", "whole number"),
    BAD_QUERY(ECHO "?pageSize=0x10", "whole number"),
    BAD_QUERY(ECHO "?pageSize=5%20", "whole number"),
    BAD_QUERY(ECHO "?pageSize=99999999999999999999999", "whole number"),
    BAD_QUERY(ECHO "?order=up", "asc, desc"),
    /* What is quoted is cut after 40 bytes, or 80: between two characters. */
    BAD_QUERY(ECHO "?order=" EUROS_SENT, "\"message\":\"\\\"" EUROS "\\\" is not one of"),
    BAD_QUERY(ECHO "?pageSize=" EUROS_SENT, "\"message\":\"\\\"" EUROS "\\\" is not a whole number"),
    BAD_QUERY(ECHO "?cursor=", "is empty"),
    BAD_QUERY(ECHO "?limit=5", "there are status, version, pageSize, cursor, order"),
    BAD_QUERY(ECHO "?Status=active", "\"path\":\"Status\""),
    BAD_QUERY(ECHO "?=x", "no such query parameter"),
    BAD_QUERY(ECHO "?%22%5c%0a=x", "\"path\":\"\\\"\\\\\\n\""),
    BAD_QUERY(ECHO "?pageSize=0&order=up", "\"path\":\"order\""),
    BAD_QUERY("/workflows?x=1", "takes none"),
    BAD_QUERY(ECHO "/done?x=1", "there are runNumber"),
    BAD_QUERY("/health?x=1", "takes none"),
    BAD_QUERY(WAITS "/stream?x=1", "takes none"),
    BAD_QUERY(WAITS "/result?waitMs=soon", "\"path\":\"waitMs\""),
    BAD_QUERY(WAITS "/result?waitMs=-1", "from 0 on"),
    BAD_QUERY(WAITS "/result?wait=1", "there are waitMs"),
    BAD_QUERY(WAITS "/history?runNumber=0", "from 1 on"),
    BAD_QUERY(WAITS "/history?runNumber=one", "\"path\":\"runNumber\""),
    BAD_QUERY(WAITS "/history?includeLogs=1", "false, true"),
    BAD_QUERY(WAITS "/history?includeLogs=TRUE", "\"path\":\"includeLogs\""),
    BAD_QUERY(WAITS "/history?logLevel=fatal", "debug, info, warn, error"),
    BAD_QUERY(WAITS "/history?logCategory=", "is empty"),
    BAD_QUERY(WAITS "/history?cursor=x", "stepsCursor"),
    BAD_QUERY("/hooks/deliveries?pageSize=1000", "\"path\":\"pageSize\""),
    { .method = "GET", .target = ECHO "?cursor=%00", .status = 400, .code = "VALIDATION_FAILED", .says = { "NUL" } },
    { .method = "GET", .target = ECHO "?cursor=%f", .status = 400, .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = ECHO "?cursor=%ff", .status = 400, .code = "VALIDATION_FAILED", .says = { "UTF-8" } },
    { .method = "GET",
      .target = ECHO "?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q&r&s&t&u&v&w&x&y&z&1&2&3&4&5&6&7&8&9",
      .status = 400,
      .code = "VALIDATION_FAILED" },
    { .method = "GET", .target = ECHO "?cursor=x", .status = 400, .code = "INVALID_CURSOR" },
    { .method = "GET", .target = ECHO "?cursor=AAAAAAAAAAAAAAAAAAAAAAA", .status = 400, .code = "INVALID_CURSOR" },
    { .method = "GET", .target = ECHO "?cursor=a%2fb", .status = 400, .code = "INVALID_CURSOR" },
    { .method = "GET", .target = WAITS "/history?stepsCursor=x", .status = 400, .code = "INVALID_CURSOR" },
    { .method = "GET", .target = WAITS "/history?eventsCursor=x", .status = 400, .code = "INVALID_CURSOR" },
    { .method = "GET",
      .target = WAITS "/history?includeLogs=true&logsCursor=x",
      .status = 400,
      .code = "INVALID_CURSOR" },
    { .method = "GET",
      .target = WAITS "/history?runNumber=2",
      .status = 400,
      .code = "VALIDATION_FAILED",
      .says = { "has no run 2" } },
    { .method = "GET",
      .target = WAITS "/stream",
      .headers = { { "Last-Event-ID", "x" } },
      .status = 400,
      .code = "INVALID_CURSOR" },
    { .method = "GET",
      .target = WAITS "/stream",
      .headers = { { "last-event-id", "1.2.3" } },
      .status = 400,
      .code = "INVALID_CURSOR" },
    { .method = "POST",
      .target = ECHO "?pageSize=5",
      .status = 400,
      .code = "VALIDATION_FAILED",
      .says = { "takes none" } },
};
SECTION(table_of_queries, "queries", NULL, queries);

/* ---- Bodies ---------------------------------------------------------------------------------------------------- */

#define CREATE .method = "POST", .target = ECHO
#define BATCH .method = "POST", .target = ECHO "/batch"
#define EVENT .method = "POST", .target = WAITS "/events"
#define BAD_JSON .status = 400, .code = "INVALID_JSON"
#define BAD_FIELD .status = 400, .code = "VALIDATION_FAILED"

static const struct table_case bodies[] = {
    { CREATE, .body = "{", BAD_JSON, .says = { "line 1, column 2" } },
    { CREATE, .body = "{\n \"id\": x}", BAD_JSON, .says = { "line 2, column 8" } },
    { CREATE, .body = "", .headers = { { "Content-Type", "text/plain" } }, .status = 200 },
    { CREATE, .body = " ", BAD_JSON },
    { CREATE, .body = "{}{}", BAD_JSON },
    { CREATE, .body = "{'id':1}", BAD_JSON },
    { CREATE, .body = "{\"params\":01}", BAD_JSON },
    { CREATE, .body = "{\"params\":NaN}", BAD_JSON },
    { CREATE, .body = "{\"params\":1e999}", BAD_JSON },
    { CREATE, .body = "{\"params\":9223372036854775808}", BAD_JSON },
    { CREATE, .body = "{\"params\":\"\xff\"}", BAD_JSON, .says = { "UTF-8" } },
    { CREATE, .body = "{\"params\":\"\\ud800\"}", BAD_JSON },
    { CREATE, .body = "{\"params\":\"\n\"}", BAD_JSON },
    { CREATE, .body = "{\"id\\u0000\":1}", BAD_JSON },
    { CREATE, .body = "{\"params\":[1,]}", BAD_JSON },
    { CREATE, .body = "\xef\xbb\xbf{}", BAD_JSON },
    { CREATE, .body = "id=1&params=2", BAD_JSON },
    { CREATE, .body = "[]", BAD_FIELD, .says = { "not an object" } },
    { CREATE, .body = "null", BAD_FIELD },
    { CREATE, .body = "\"x\"", BAD_FIELD },
    { CREATE, .body = "7", BAD_FIELD },
    { CREATE, .body = "{\"ID\":\"a\"}", BAD_FIELD, .says = { "{\"path\":\"ID\"", "there are id, params, onConflict" } },
    { CREATE, .body = "{\"id\":\"a\",\"id\":\"b\"}", BAD_FIELD, .says = { "{\"path\":\"id\"", "more than once" } },
    { CREATE, .body = "{\"id\":\"a\",\"\\u0069d\":\"b\"}", BAD_FIELD, .says = { "more than once" } },
    { CREATE, .body = "{\"params\":1,\"params\":2}", BAD_FIELD, .says = { "more than once" } },
    { CREATE, .body = "{\"id\":1}", BAD_FIELD, .says = { "{\"path\":\"id\",\"message\":\"is not a string\"}" } },
    { CREATE, .body = "{\"id\":null}", BAD_FIELD },
    { CREATE, .body = "{\"id\":\"a\\u0000b\"}", BAD_FIELD, .says = { "NUL" } },
    { CREATE, .body = "{\"onConflict\":\"fail\"}", BAD_FIELD, .says = { "{\"path\":\"onConflict\"" } },
    { CREATE, .body = "{\"onConflict\":true}", BAD_FIELD },
    { CREATE, .body = "{\"id\":1,\"onConflict\":2,\"x\":3}", BAD_FIELD,
      .says = { "{\"path\":\"id\"", "{\"path\":\"onConflict\"", "{\"path\":\"x\"" } },
    { CREATE, .body = "{\"id\":\"\"}", .status = 400, .code = "INVALID_INSTANCE_ID", .says = { "empty" } },
    { CREATE, .body = "{\"id\":\"-a\"}", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { CREATE, .body = "{\"id\":\"a/b\"}", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { CREATE, .body = "{\"id\":\"\xc3\xa4\"}", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { CREATE, .body = "{\"id\":\"" NINETY_NINE "00\"}", .status = 400, .code = "INVALID_INSTANCE_ID" },
    { CREATE, .body = "{\"id\":\"" NINETY_NINE "0\"}", .status = 200 },
    { CREATE, .body = "{\"id\":\"done\"}", .status = 409, .code = "INSTANCE_ID_ALREADY_EXISTS" },

    { CREATE, .body = "{}", .headers = { { "Content-Type", "text/plain" } }, .status = 415,
      .code = "UNSUPPORTED_MEDIA_TYPE", .says = { "text/plain" } },
    { CREATE, .body = "{}", .headers = { { "Content-Type", "application/x-www-form-urlencoded" } }, .status = 415,
      .code = "UNSUPPORTED_MEDIA_TYPE" },
    { CREATE, .body = "{}", .headers = { { "Content-Type", "application/jsonp" } }, .status = 415,
      .code = "UNSUPPORTED_MEDIA_TYPE" },
    { CREATE, .body = "{}", .headers = { { "Content-Type", "application/json; charset=latin1" } }, .status = 415,
      .code = "UNSUPPORTED_MEDIA_TYPE" },
    { CREATE, .body = "{}", .headers = { { "Content-Type", "application/json" }, { "content-type", "text/html" } },
      .status = 415, .code = "UNSUPPORTED_MEDIA_TYPE" },
    { CREATE, .body = "{}", .headers = { { "Content-Encoding", "gzip" } }, .status = 415,
      .code = "UNSUPPORTED_MEDIA_TYPE", .says = { "gzip" } },
    { CREATE, .body = "{}", .headers = { { "Content-Encoding", "identity" } }, .status = 200 },
    { CREATE, .body = "{}", .headers = { { "Content-Type", " application/json;v=1" } }, .status = 200 },
    { EVENT, .body = "{\"type\":\"t\"}", .headers = { { "Content-Type", "text/json" } }, .status = 415,
      .code = "UNSUPPORTED_MEDIA_TYPE" },

    { BATCH, BAD_FIELD, .says = { "{\"path\":\"instances\",\"message\":\"is missing\"}" } },
    { BATCH, .body = "{}", BAD_FIELD, .says = { "instances: is missing" } },
    { BATCH, .body = "{\"instances\":{}}", BAD_FIELD, .says = { "is not a list" } },
    { BATCH, .body = "{\"instances\":null}", BAD_FIELD },
    { BATCH, .body = "{\"instances\":[1]}", BAD_FIELD, .says = { "{\"path\":\"instances[0]\"", "is not an object" } },
    { BATCH, .body = "{\"instances\":[{\"id\":\"a\"},{}]}", BAD_FIELD,
      .says = { "{\"path\":\"instances[1].id\",\"message\":\"is missing\"}" } },
    { BATCH, .body = "{\"instances\":[{\"id\":\"a\",\"id\":\"a\"}]}", BAD_FIELD, .says = { "instances[0].id" } },
    { BATCH, .body = "{\"instances\":[{\"id\":\"a\",\"onConflict\":\"return\"}]}", BAD_FIELD,
      .says = { "instances[0].onConflict", "there are id, params" } },
    { BATCH, .body = "{\"instances\":[],\"x\":1}", BAD_FIELD },
    { BATCH, .body = "{\"instances\":[],\"instances\":[]}", BAD_FIELD },
    { BATCH, .body = "[{\"id\":\"a\"}]", BAD_FIELD },
    { BATCH, .body = "{\"instances\":[{\"id\":\"a\"},{\"id\":\"a b\"}]}", .status = 400, .code = "INVALID_INSTANCE_ID",
      .says = { "instances[1]" } },
    { .method = "GET", .target = ECHO "/a", .status = 404, .code = "INSTANCE_NOT_FOUND" },

    { EVENT, BAD_FIELD, .says = { "{\"path\":\"type\",\"message\":\"is missing\"}" } },
    { EVENT, .body = "{\"payload\":1}", BAD_FIELD },
    { EVENT, .body = "{\"type\":5}", BAD_FIELD },
    { EVENT, .body = "{\"type\":\"t\",\"payload\":1,\"extra\":2}", BAD_FIELD, .says = { "type, payload, id" } },
    { EVENT, .body = "{\"type\":\"\"}", .status = 400, .code = "INVALID_EVENT_TYPE" },
    { EVENT, .body = "{\"type\":\"-t\"}", .status = 400, .code = "INVALID_EVENT_TYPE" },
    { EVENT, .body = "{\"type\":\"a b\"}", .status = 400, .code = "INVALID_EVENT_TYPE" },
    { EVENT, .body = "{\"type\":\"" NINETY_NINE "00\"}", .status = 400, .code = "INVALID_EVENT_TYPE" },
    { EVENT, .body = "{\"type\":\"t\",\"id\":\"a b\"}", BAD_FIELD, .says = { "event id" } },
    { EVENT, .body = "{\"type\":\"t\",\"id\":7}", BAD_FIELD },
    { EVENT, .body = "{\"type\":\"t\",", BAD_JSON },

    { .method = "POST", .target = WAITS "/pause", .body = "{\"now\":true}", BAD_FIELD },
    { .method = "POST", .target = WAITS "/resume", .body = "[]", BAD_FIELD },
    { .method = "POST", .target = WAITS "/terminate", .body = "{", BAD_JSON },
    { .method = "POST", .target = WAITS "/restart", .body = "x", BAD_JSON },
    { .method = "GET",
      .target = WAITS,
      .status = 200,
      .says = { "{\"status\":\"waiting\",\"phase\":\"waiting\"}", "\"runNumber\":1" } },
};
SECTION(table_of_bodies, "bodies", NULL, bodies);

/* ---- Methods --------------------------------------------------------------------------------------------------- */

#define NOT_ALLOWED(verb, where, methods)                                                                              \
    {                                                                                                                  \
        .method = verb, .target = where, .status = 405, .code = "METHOD_NOT_ALLOWED", .says = { methods }, .has = {    \
            "Allow",                                                                                                   \
            methods                                                                                                    \
        }                                                                                                              \
    }
#define GETS "GET, HEAD, OPTIONS"
#define POSTS "POST, OPTIONS"
#define BOTH "GET, HEAD, POST, OPTIONS"

static const struct table_case methods[] = {
    NOT_ALLOWED("POST", "/workflows", GETS),
    NOT_ALLOWED("DELETE", "/workflows/", GETS),
    NOT_ALLOWED("PUT", ECHO, BOTH),
    NOT_ALLOWED("DELETE", ECHO, BOTH),
    NOT_ALLOWED("PATCH", ECHO "/batch", BOTH),
    NOT_ALLOWED("POST", ECHO "/done", GETS),
    NOT_ALLOWED("DELETE", ECHO "/done", GETS),
    NOT_ALLOWED("GET", WAITS "/pause", POSTS),
    NOT_ALLOWED("PUT", WAITS "/resume", POSTS),
    NOT_ALLOWED("DELETE", WAITS "/terminate", POSTS),
    NOT_ALLOWED("GET", WAITS "/restart", POSTS),
    NOT_ALLOWED("GET", WAITS "/events", POSTS),
    NOT_ALLOWED("POST", WAITS "/history", GETS),
    NOT_ALLOWED("POST", WAITS "/result", GETS),
    NOT_ALLOWED("POST", WAITS "/stream", GETS),
    NOT_ALLOWED("GET", "/_runner/tick", POSTS),
    NOT_ALLOWED("GET", "/workflows/_runner/tick", POSTS),
    NOT_ALLOWED("POST", "/health", GETS),
    NOT_ALLOWED("POST", "/health/live", GETS),
    NOT_ALLOWED("POST", "/health/ready", GETS),
    NOT_ALLOWED("POST", "/version", GETS),
    NOT_ALLOWED("POST", "/metrics", GETS),
    NOT_ALLOWED("POST", "/openapi.json", GETS),
    NOT_ALLOWED("POST", "/status", GETS),
    NOT_ALLOWED("POST", "/cluster", GETS),
    NOT_ALLOWED("POST", "/workflows/order/shards", GETS),
    NOT_ALLOWED("POST", "/hooks/deliveries", GETS),
    NOT_ALLOWED("GET", "/hooks/deliveries/x/resend", POSTS),
    { .method = "HEAD", .target = WAITS "/pause", .status = 405, .is = "", .has = { "Allow", POSTS } },
    { .method = "get", .target = "/workflows", .status = 405, .code = "METHOD_NOT_ALLOWED", .not_by_client = true },
    { .method = "", .target = "/workflows", .status = 405, .code = "METHOD_NOT_ALLOWED", .not_by_client = true },
    { .method = "BREW", .target = "/nothing", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "OPTIONS", .target = "/workflows", .status = 204, .is = "", .has = { "Allow", GETS } },
    { .method = "OPTIONS", .target = ECHO, .status = 204, .has = { "Allow", BOTH } },
    { .method = "OPTIONS", .target = WAITS "/events", .status = 204, .has = { "Allow", POSTS } },
    { .method = "OPTIONS", .target = "/nothing", .status = 404, .code = "ROUTE_NOT_FOUND" },
};
SECTION(table_of_methods, "methods", NULL, methods);

/* ---- Refusals -------------------------------------------------------------------------------------------------- */

/* Who asks, and may do what: by a header, so that one handler shows all. */
static bool authorize_by_header(void *user, const struct pawl_http_subject *subject,
                                struct pawl_http_refusal *out_refusal)
{
    const char *who = "";
    (void)user;
    for (size_t i = 0; i < subject->request->header_count; i++)
        if (strcmp(subject->request->headers[i].name, "X-Who") == 0)
            who = subject->request->headers[i].value;
    if (subject->scope == PAWL_HTTP_OPEN || strcmp(who, "root") == 0)
        return true;
    if (strcmp(who, "reader") == 0 && subject->scope == PAWL_HTTP_READ)
        return true;
    if (strcmp(who, "busy") == 0) {
        *out_refusal = (struct pawl_http_refusal){ 429, "TOO_MANY_REQUESTS", "slow down", 7 };
    } else if (strcmp(who, "") == 0) {
        *out_refusal = (struct pawl_http_refusal){ 401, "UNAUTHORIZED", "say who you are", 0 };
    } else if (strcmp(who, "odd") == 0) {
        out_refusal->status = 200; /* no refusal at all: taken for 403 */
    }
    return false;
}

static void refuse_by_header(struct pawl_http_options *options)
{
    options->authorize = authorize_by_header;
}

static const struct table_case refusals[] = {
    { .method = "GET", .target = "/health", .status = 200 },
    { .method = "GET", .target = "/version", .status = 200 },
    { .method = "GET", .target = "/openapi.json", .status = 200 },
    { .method = "OPTIONS", .target = ECHO, .status = 204 },
    { .method = "GET", .target = "/nothing", .status = 404, .code = "ROUTE_NOT_FOUND" },
    { .method = "GET", .target = "/metrics", .status = 401, .code = "UNAUTHORIZED" },
    { .method = "GET",
      .target = "/workflows",
      .status = 401,
      .code = "UNAUTHORIZED",
      .says = { "say who you are" },
      .has = { "WWW-Authenticate", "Bearer" } },
    { .method = "GET",
      .target = "/workflows",
      .headers = { { "X-Who", "busy" } },
      .status = 429,
      .code = "TOO_MANY_REQUESTS",
      .has = { "Retry-After", "7" } },
    { .method = "GET", .target = "/workflows", .headers = { { "X-Who", "odd" } }, .status = 403, .code = "FORBIDDEN" },
    { .method = "GET", .target = "/workflows", .headers = { { "X-Who", "reader" } }, .status = 200 },
    { .method = "GET", .target = ECHO "/done", .headers = { { "X-Who", "reader" } }, .status = 200 },
    /* A refusal comes before everything that could tell whether there is such a thing, or whether the body is right. */
    { .method = "POST",
      .target = "/workflows/none/instances",
      .body = "{",
      .headers = { { "X-Who", "reader" } },
      .status = 403,
      .code = "FORBIDDEN" },
    { .method = "POST",
      .target = MISSING "/pause",
      .headers = { { "X-Who", "reader" } },
      .status = 403,
      .code = "FORBIDDEN" },
    { .method = "POST",
      .target = WAITS "/terminate",
      .headers = { { "X-Who", "reader" } },
      .status = 403,
      .code = "FORBIDDEN" },
    { .method = "POST",
      .target = WAITS "/events?x=1",
      .headers = { { "X-Who", "reader" } },
      .status = 403,
      .code = "FORBIDDEN" },
    { .method = "POST",
      .target = "/_runner/tick",
      .headers = { { "X-Who", "reader" } },
      .status = 403,
      .code = "FORBIDDEN" },
    { .method = "GET",
      .target = WAITS,
      .headers = { { "X-Who", "root" } },
      .status = 200,
      .says = { "\"status\":\"waiting\"" } },
    { .method = "POST", .target = WAITS "/terminate", .headers = { { "X-Who", "root" } }, .status = 200 },
};
SECTION(table_of_refusals, "refusals", refuse_by_header, refusals);
