/* malformed.c - see malformed.h. */
#include "malformed.h"

#include "asking.h"
#include "kit/running.h"

/* ---- Writing requests ------------------------------------------------------------------------------------------------ */

unsigned malformed_chance(struct malformed *request, unsigned of)
{
    return (unsigned)rand_r(&request->seed) / 7 % of;
}

static void add_bytes(struct malformed *request, const char *bytes, size_t size)
{
    if (request->size + size + 1 > request->room) {
        request->room = (request->size + size + 1) * 2;
        request->data = realloc(request->data, request->room);
        assert_non_null(request->data);
    }
    memcpy(request->data + request->size, bytes, size);
    request->size += size;
    request->data[request->size] = '\0';
}

static void add(struct malformed *request, const char *text)
{
    add_bytes(request, text, strlen(text));
}

static void add_times(struct malformed *request, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        add(request, text);
}

static void add_number(struct malformed *request, const char *before, size_t number, const char *after)
{
    char text[128];
    snprintf(text, sizeof text, "%s%zu%s", before, number, after);
    add(request, text);
}

static const char *pick_of(struct malformed *request, const char *const *texts, size_t count)
{
    return texts[malformed_chance(request, (unsigned)count)];
}
#define PICK(request, ...)                                                                                             \
    pick_of(request, (const char *const[]){ __VA_ARGS__ }, LENGTH(((const char *const[]){ __VA_ARGS__ })))

struct route {
    char path[128];
    bool is_get, is_post;
};

static struct route any_route(struct malformed *request)
{
    const struct pw_http_route *picked = &pw_http_routes[malformed_chance(request, (unsigned)pw_http_route_count)];
    const char *pattern = picked->pattern;
    pawl_scope *scope = pawl_scope_new();
    struct route route;
    struct route_names names = { "quick", "w", "never" };
    if (strstr(pattern, "/:id") != NULL)
        names.workflow = "waits";
    if (strncmp(pattern, "/jobs/", 6) == 0)
        names.other = "1.1.1.never";
    if (strncmp(pattern, "/deferred/", 10) == 0)
        names.other = "waits.w.1.1.never";
    (void)snprintf(route.path, sizeof route.path, "%s", route_target(scope, picked, names));
    route.is_get = route_of("GET", route.path) != NULL;
    route.is_post = route_of("POST", route.path) != NULL;
    pawl_scope_free(scope);
    return route;
}

static void add_post(struct malformed *request, const char *target, const char *headers)
{
    add(request, "POST ");
    add(request, target);
    add(request, " HTTP/1.1\r\nHost: test\r\n");
    add(request, headers);
}

/* A body of its true length. */
static void add_body(struct malformed *request, const char *body, size_t size)
{
    add_number(request, "Content-Length: ", size, "\r\n\r\n");
    add_bytes(request, body, size);
}

/* ---- Request lines --------------------------------------------------------------------------------------------------- */

static void write_broken_line(struct malformed *request)
{
    static const char *const lines[] = {
        "GET\r\n\r\n",
        "GET \r\n\r\n",
        "GET /api/workflows\r\n\r\n",
        "GET  /api/workflows HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /api/workflows  HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /api/workflows HTTP/1.1 more\r\nHost: t\r\n\r\n",
        "GET\t/api/workflows\tHTTP/1.1\r\nHost: t\r\n\r\n",
        " GET /api/workflows HTTP/1.1\r\nHost: t\r\n\r\n",
        "\r\n\r\n\r\nGET /api/workflows HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /api/workflows http/1.1\r\nHost: t\r\n\r\n",
        "GET /api/workflows HTTP/9.9\r\nHost: t\r\n\r\n",
        "GET /api/workflows HTTP/2.0\r\nHost: t\r\n\r\n",
        "GET /api/workflows HTTP/0.9\r\nHost: t\r\n\r\n",
        "GET /api/workflows HTTP/1.10\r\nHost: t\r\n\r\n",
        "GET /api/workflows HTTP/1.\r\nHost: t\r\n\r\n",
        "GET /api/workflows HTTP/\r\nHost: t\r\n\r\n",
        "GET /api/workflows HTTPS/1.1\r\nHost: t\r\n\r\n",
        "GET /api/workflows HTTP/1.1\rHost: t\r\r",
        "GET /api/workflows HTTP/1.1\nHost: t\n\n",
        "GET /api/workflows HTTP/1.1\n\r\n",
        "GET http://test/api/workflows HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET HTTP://TEST:80/api/workflows?x=1 HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET //test/api/workflows HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET api/workflows HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET ?x=1 HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET #x HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /api/workflows#x HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /api/\x01\x7f\x80\xff HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /api/work\tflows HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /api/workflows?a b c HTTP/1.1\r\nHost: t\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n",
        "CONNECT test:443 HTTP/1.1\r\nHost: t\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "G\xc3\x84T /api/workflows HTTP/1.1\r\nHost: t\r\n\r\n",
        "get /api/workflows HTTP/1.1\r\nHost: t\r\n\r\n",
        "\x16\x03\x01\x02\x01\x01\x01\x01\xfc\x03\x03",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    };
    static const char nul[] = "GET /api/work\0flows HTTP/1.1\r\nHost: t\r\n\r\n";
    switch (malformed_chance(request, 8)) {
    case 0:
        add_bytes(request, nul, sizeof nul - 1);
        break;
    case 1: /* a method that does not end */
        add_times(request, "M", 10 + malformed_chance(request, 20000));
        add(request, " /api/workflows HTTP/1.1\r\nHost: t\r\n\r\n");
        break;
    case 2: /* a target that does not */
        add(request, "GET /api/workflows/");
        add_times(request, PICK(request, "a", "/a", "%61", "../", "?a=1&"), 100 + malformed_chance(request, 20000));
        add(request, " HTTP/1.1\r\nHost: t\r\n\r\n");
        break;
    default:
        add(request, pick_of(request, lines, LENGTH(lines)));
    }
}

/* ---- Headers --------------------------------------------------------------------------------------------------------- */

static void write_broken_headers(struct malformed *request)
{
    static const char *const headers[] = {
        "Host : t\r\n\r\n",
        ": no name\r\n\r\n",
        "no colon\r\n\r\n",
        " begins: with a blank\r\n\r\n",
        "Host: t\r\nX-Folded: one\r\n two\r\n\tthree\r\n\r\n",
        "Host: t\r\n folded: at once\r\n\r\n",
        "Host: t\nX-Bare: line\n\n",
        "Host: t\rX-Bare: carriage\r\r\n\r\n",
        "Host: t\r\nX-Bad: \x01\x02\x7f\xff\r\n\r\n",
        "Host: t\r\nX B\x7f{}()d: x\r\n\r\n",
        "Host: t\r\nHost: other\r\nHost:\r\n\r\n",
        "\r\n",
        "Host:\r\n\r\n",
        "Host: t\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
        "Host: t\r\nConnection: keep-alive, close, upgrade\r\nUpgrade: h2c, websocket\r\n\r\n",
        "Host: t\r\nExpect: a miracle\r\n\r\n",
        "Host: t\r\nLast-Event-ID: 1\r\nLast-Event-ID: 2\r\n\r\n",
        "Host: t\r\nCookie: a=b; ;;; =; c\r\nCookie: =\r\n\r\n",
        "Host: t\r\nAccept-Encoding: gzip, \xc0\xaf\r\n\r\n",
        "Host: t\r\nRange: bytes=-1,5-3,99999999999999999999-\r\n\r\n",
    };
    static const char nul[] = "Host: t\r\nX-Nul: a\0b\r\nX\0Y: c\r\n\r\n";
    add(request, PICK(request, "GET /api/workflows HTTP/1.1\r\n", "GET " MALFORMED_WAITS "/history HTTP/1.1\r\n",
                      "POST " MALFORMED_WAITS "/resume HTTP/1.1\r\n", "GET /api/health HTTP/1.0\r\n"));
    switch (malformed_chance(request, 6)) {
    case 0:
        add_bytes(request, nul, sizeof nul - 1);
        break;
    case 1: /* one that is huge */
        add(request, "Host: t\r\nX-Huge: ");
        add_times(request, "huge", 1000 + malformed_chance(request, 20000));
        add(request, "\r\n\r\n");
        break;
    case 2: /* too many */
        add_times(request, PICK(request, "a: b\r\n", "X-Many: yes\r\n", "Host: t\r\n", "a:\r\n"),
                  50 + malformed_chance(request, 5000));
        add(request, "\r\n");
        break;
    default:
        add(request, pick_of(request, headers, LENGTH(headers)));
    }
}

/* ---- Lengths and chunks ---------------------------------------------------------------------------------------------- */

static void write_wrong_length(struct malformed *request)
{
    static const char *const lengths[] = {
        "Content-Length: -1\r\n",
        "Content-Length: +2\r\n",
        "Content-Length: 0x2\r\n",
        "Content-Length: 2 2\r\n",
        "Content-Length: 2,2\r\n",
        "Content-Length: two\r\n",
        "Content-Length:\r\n",
        "Content-Length: 18446744073709551615\r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Content-Length: 99999999999999999999999999\r\n",
        "Content-Length: 2\r\nContent-Length: 2\r\n",
        "Content-Length: 2\r\nContent-Length: 40\r\n",
        "Content-Length: 2\r\ncontent-length: 0\r\n",
        "Content-Length: 0\r\n",
        "Content-Length: 1\r\n", /* the rest is taken for a request */
        "Content-Length: 300\r\n",
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: \vchunked\r\n",
        "Transfer-Encoding:\r\n",
    };
    add_post(
        request,
        PICK(request, MALFORMED_RUNS, MALFORMED_RUNS "/batch", MALFORMED_WAITS "/events", MALFORMED_WAITS "/resume"),
        PICK(request, "Content-Type: application/json\r\n", "", "Content-Type: a\r\nContent-Type: b\r\n"));
    add(request, pick_of(request, lengths, LENGTH(lengths)));
    add(request, "\r\n");
    add(request, PICK(request, "{}", "", "2\r\n{}\r\n0\r\n\r\n", "{\"type\":\"t\"}",
                      "{}GET /api/workflows HTTP/1.1\r\nHost: t\r\n\r\n"));
}

static void write_bad_chunks(struct malformed *request)
{
    static const char *const chunks[] = {
        "zz\r\n{}\r\n0\r\n\r\n",
        "-1\r\n{}\r\n0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
        "+2\r\n{}\r\n0\r\n\r\n",
        " 2\r\n{}\r\n0\r\n\r\n",
        "2 \r\n{}\r\n0\r\n\r\n",
        "\r\n{}\r\n0\r\n\r\n",
        "2\n{}\n0\n\n",
        "2\r{}\r0\r\r",
        "2\r\n{}0\r\n\r\n",
        "2\r\n{}xx\r\n0\r\n\r\n",
        "1\r\n{}\r\n0\r\n\r\n",
        "5\r\n{}\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFF\r\n{}",
        "FFFFFFFFFFFFFFFFFFFF\r\n{}",
        "7FFFFFFFFFFFFFFF\r\n{}",
        "000000000000000000000000000000000002\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}\r\n",
        "2\r\n{}\r\n0\r\n",
        "2\r\n{}\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\n\r\n",
        "2\r\n{}\r\n0\r\nno colon\r\n: none\r\n\r\n",
        "2;;;=\"\r\n{}\r\n0;\xff\r\n\r\n",
        "2\r\n{}\r\n00000000000\r\n\r\n",
    };
    add_post(request, PICK(request, MALFORMED_RUNS, MALFORMED_WAITS "/resume"), "Transfer-Encoding: chunked\r\n\r\n");
    switch (malformed_chance(request, 6)) {
    case 0: /* an extension that does not end */
        add(request, "2;");
        add_times(request, "extension;", 100 + malformed_chance(request, 5000));
        add(request, "\r\n{}\r\n0\r\n\r\n");
        break;
    case 1: /* chunks of one byte, and more than may be */
        add_times(request, "1\r\n \r\n", 100 + malformed_chance(request, 3000));
        add(request, PICK(request, "0\r\n\r\n", "", "x"));
        break;
    default:
        add(request, pick_of(request, chunks, LENGTH(chunks)));
    }
}

/* ---- Whole requests that are wrong ----------------------------------------------------------------------------------- */

static void write_odd_target(struct malformed *request)
{
    static const char *const tricks[] = { "%00",         "%2f",
                                          "%2F",         "%5c",
                                          "%c0%af",      "%c0%80",
                                          "%e0%80%af",   "%f0%80%80%af",
                                          "%ed%a0%80",   "%f4%90%80%80",
                                          "%ff%fe",      "%",
                                          "%4",          "%zz",
                                          "%%32%65",     "%u002e",
                                          "%252e",       "%2e%2e",
                                          "..%2f..",     "..;",
                                          "%c3",         "%0d%0aX:",
                                          "%20",         "%7f",
                                          "%e2%80%ae",   "+",
                                          "*",           "a.b",
                                          "-a",          "?%00=1",
                                          "?a=%c0%af",   "?%=1",
                                          "?a=%",        "?pageSize=%31%",
                                          "?cursor=%ff", "?status=a&status=b",
                                          "?&&x",        "?===" };
    add(request, "GET ");
    const struct route route = any_route(request);
    const char *trick = pick_of(request, tricks, LENGTH(tricks));
    size_t at = trick[0] == '?' ? strlen(route.path) : 5 + malformed_chance(request, (unsigned)strlen(route.path) - 4);
    add_bytes(request, route.path, at); /* "/api/" stays */
    add(request, trick);
    add(request, route.path + at);
    add(request, " HTTP/1.1\r\nHost: test\r\n\r\n");
    request->is_whole = request->is_bad = true;
}

static void write_wrong_method(struct malformed *request)
{
    const struct route route = any_route(request);
    const char *method = PICK(request, "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "BREW", "get", "POST",
                              "GET", "POSTS", "M-SEARCH", "!#$%&'*+-.^_`|~");
    if ((route.is_get && strcmp(method, "GET") == 0) || (route.is_post && strcmp(method, "POST") == 0))
        method = "PUT";
    add(request, method);
    add(request, " ");
    add(request, route.path);
    add(request, " HTTP/1.1\r\nHost: test\r\n");
    if (malformed_chance(request, 2) == 0)
        add_body(request, "{\"type\":\"t\"}", 12);
    else
        add(request, "\r\n");
    request->is_whole = request->is_bad = true;
}

static const char *const bad_texts[] = {
    "{",
    "[]",
    "null",
    "1",
    "\"x\"",
    "{}{}",
    "{'id':1}",
    "{\"id\":1}",
    "{\"id\":{}}",
    "{\"id\":\"a/b\"}",
    "{\"params\":01}",
    "{\"id\":\"never\",\"id\":\"never\"}",
    "{\"id\":\"never\",\"\\u0069d\":\"x\"}",
    "{\"type\":\"t\",\"type\":\"t\",\"id\":0}",
    "{\"instances\":[],\"instances\":[]}",
    "{\"instances\":[{\"id\":\"never\",\"id\":\"x\"}]}",
    "{\"instances\":1}",
    "{\"params\":\"\xc0\xaf\"}",
    "{\"params\":\"\xed\xa0\x80\"}",
    "{\"params\":\"\xf8\x88\x80\x80\x80\"}",
    "{\"params\":\"\xff\"}",
    "{\"params\":\"\xc3\"}",
    "{\"params\":\"\\ud800\"}",
    "{\"params\":\"\\udc00\\ud800\"}",
    "{\"\\u0000\":1}",
    "{\"params\":1e99999}",
    "{\"params\":123456789012345678901234567890}",
    "{\"params\":.5}",
    "{\"params\":NaN}",
    "{\"params\":\"\n\"}",
    "{\"params\":tru}",
    "\xef\xbb\xbf{}",
    "{\"params\":1,}",
    "{,}",
    "{\"a\"}",
    "{\"params\":\"\\x\"}",
    "\xff\xfe{\x01}\x01",
    "id=1&params=2",
    "<xml/>",
    "{\"unknown\":1}",
    "{\"ID\":\"never\"}",
    "{\"key\":\"\\u0000\"}",
    "{\"key\":[]}",
    "{\"functions\":[\"-\"]}",
    "{\"functions\":[\"f\",[]]}",
    "{\"functions\":{}}",
    "{\"functions\":[\"f\"],\"leaseMs\":1e18}",
    "{\"functions\":[\"f\"],\"max\":-1}",
    "{\"name\":{}}",
    "{\"name\":\"E\",\"retry\":2}",
    "{\"from\":0}",
    "{\"rollback\":\"true\"}",
    "{\"result\":1,\"result\":1}",
};

static void add_json(struct malformed *body)
{
    size_t depth = 132 + malformed_chance(body, 2000);
    switch (malformed_chance(body, 8)) {
    case 0: /* deeper than may be, and closed */
        add(body, "{\"params\":");
        add_times(body, "[", depth);
        add_times(body, "]", depth);
        add(body, "}");
        break;
    case 1: /* much deeper, and not closed */
        add_times(body, PICK(body, "[", "{\"a\":", "[{\"params\":"), 20000);
        break;
    case 2:
        add(body, "{");
        add_times(body, PICK(body, "\"id\":\"never\",", "\"x\":1,", "\"params\":{},"),
                  2 + malformed_chance(body, 5000));
        add(body, "\"id\":\"never\"}");
        break;
    default:
        add(body, pick_of(body, bad_texts, LENGTH(bad_texts)));
    }
}

static void write_bad_json(struct malformed *request)
{
    struct malformed body = { .seed = request->seed };
    add_json(&body);
    request->seed = body.seed;
    const char *headers =
        PICK(request, "Content-Type: application/json\r\n", "", "content-type: application/json; charset=UTF-8\r\n");
    if (malformed_chance(request, 8) == 0)
        headers = PICK(request, "Content-Type: text/plain\r\n", "Content-Encoding: gzip\r\n",
                       "Content-Type: application/json\r\nContent-Type: text/xml\r\n");
    add_post(request,
             PICK(request, MALFORMED_RUNS, MALFORMED_RUNS "/batch", MALFORMED_WAITS "/events",
                  MALFORMED_WAITS "/terminate", MALFORMED_WAITS "/restart", MALFORMED_EXECUTE, "/api/jobs/claim",
                  "/api/jobs/1.1.1.never/fail", "/api/jobs/1.1.1.never/complete",
                  "/api/deferred/waits.w.1.1.never/succeed", "/api/deferred/waits.w.1.1.never/fail"),
             headers);
    add_body(request, body.data, body.size);
    free(body.data);
    request->is_whole = request->is_bad = true;
}

/* Bodies beyond the limit, with and without asking first.  The server may answer and close before all was sent. */
static void write_oversize(struct malformed *request)
{
    size_t size = MALFORMED_BODY_BYTES_MAX + 1 + malformed_chance(request, MALFORMED_BODY_BYTES_MAX);
    bool is_chunked = malformed_chance(request, 3) == 0;
    add_post(request, PICK(request, MALFORMED_RUNS, MALFORMED_WAITS "/events", MALFORMED_WAITS "/terminate"),
             PICK(request, "", "Expect: 100-continue\r\n", "Expect: 100-Continue\r\nExpect: other\r\n"));
    if (is_chunked) {
        char line[32];
        snprintf(line, sizeof line, "%zx\r\n", size);
        add(request, "Transfer-Encoding: chunked\r\n\r\n");
        add(request, line);
    } else {
        add_number(request, "Content-Length: ", malformed_chance(request, 4) == 0 ? (size_t)1 << 50 : size, "\r\n\r\n");
    }
    if (malformed_chance(request, 4) != 0) /* else it waits to be told to go on */
        add_times(request, " ", size);
    if (is_chunked)
        add(request, "\r\n0\r\n\r\n");
}

/* ---- Good ones, damaged ---------------------------------------------------------------------------------------------- */

static void write_good(struct malformed *request)
{
    char body[128];
    snprintf(body, sizeof body, "{\"id\":\"never-%d\",\"params\":{\"a\":[1,2,\"\xc3\xa4\"]}}", request->serial);
    switch (malformed_chance(request, 5)) {
    case 0:
        add_post(request, MALFORMED_RUNS, "Content-Type: application/json\r\n");
        add_body(request, body, strlen(body));
        break;
    case 1:
        add_post(request, MALFORMED_RUNS, "Transfer-Encoding: chunked\r\n\r\n");
        add_number(request, "1\r\n{\r\n", 2, "\r\n  \r\n");
        add(request, "1\r\n}\r\n0\r\n\r\n");
        break;
    case 2:
        add(request,
            "GET " MALFORMED_WAITS "/history?includeLogs=true&pageSize=3&order=desc HTTP/1.1\r\nHost: test\r\n\r\n");
        break;
    case 3:
        add(request, "HEAD /api/workflows HTTP/1.1\r\nHost: test\r\nAccept: */*\r\n\r\n");
        break;
    default:
        add(request, "GET " MALFORMED_RUNS
                     "?status=active&pageSize=7 HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer x\r\n\r\n");
    }
}

static void write_cut(struct malformed *request)
{
    write_good(request);
    request->size = 1 + malformed_chance(request, (unsigned)request->size - 1);
    request->is_cut = true;
}

static void write_damaged(struct malformed *request)
{
    static const char spice[] = "\r\n\t :;,/%?#\"{}[]0129aZ\x80\xff\x01";
    write_good(request);
    for (unsigned changes = 1 + malformed_chance(request, 4); changes > 0; changes--) {
        size_t at = malformed_chance(request, (unsigned)request->size);
        if (malformed_chance(request, 3) == 0)
            memmove(request->data + at, request->data + at + 1, request->size-- - at);
        else
            request->data[at] = spice[malformed_chance(request, sizeof spice)]; /* its NUL, too */
    }
}

/* ---- All of them ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *what;
    void (*write)(struct malformed *request);
} makers[] = {
    { "request line", write_broken_line },
    { "headers", write_broken_headers },
    { "length", write_wrong_length },
    { "chunks", write_bad_chunks },
    { "target", write_odd_target },
    { "method", write_wrong_method },
    { "JSON", write_bad_json },
    { "too large", write_oversize },
    { "cut short", write_cut },
    { "damaged", write_damaged },
    { "JSON", write_bad_json },
    { "target", write_odd_target },
};

void malformed_make(struct malformed *request, int serial)
{
    size_t maker = (size_t)serial % LENGTH(makers);
    *request = (struct malformed){ .what = makers[maker].what, .serial = serial, .seed = (unsigned)serial };
    makers[maker].write(request);
}

void malformed_clear(struct malformed *request)
{
    free(request->data);
    *request = (struct malformed){ .data = NULL };
}
