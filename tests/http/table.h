/* table.h - what the API answers, as tables of requests: those of tables/.
 *
 * The tables know neither the handler nor a server: they need a function that sends a request and brings the response.
 * test_handler_table.c sends them to the handler itself; test_server_table.c sends the very same ones through sockets.
 *
 * A table is text:
 *
 *     # a comment
 *     let STAMP 2026-01-01             stands from here on for ${STAMP}
 *     === title                        begins a section, which has a world of its own
 *     GET /workflows -> 200            a request and the status of its answer
 *         header X-Who: reader         is sent
 *         body {"id":"a"}              is sent
 *         is {"id":"a"}                is the whole body of the answer
 *         says "id"                    is in it; there may be several
 *         hides secret                 is not in it
 *         lists jobs 2                 so many are in its list of that name
 *         keep job jobs.0.token        what stands there is <<job>> from now on, in this answer, too
 *         has Allow: GET               is among its headers
 *     [after 1 hour] GET /nothing -> 404 ROUTE_NOT_FOUND
 *
 * An error's code follows the status.  Targets are those behind the mount.  In brackets: "run" first runs what is due, "after"
 * lets time pass; "bare" says that the target is the whole one; "not by a client", that no HTTP client can send it.  "" is an
 * empty text, \xNN any byte, <<deferred d-1>> the token of defers/d-1, <<secret d-1>> the last part of it, and
 * <<a mebibyte>> as many letters.
 *
 * Time is simulated and chance is seeded, so that bodies can be compared to the letter.  Whatever a table asks, every answer is
 * checked: never 500, errors have a code and a message and are JSON, the headers that all answers have are there. */
#ifndef TESTS_HTTP_TABLE_H
#define TESTS_HTTP_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pawl/http.h"
#include "pawl/testing.h"

enum { TABLE_HEADERS_MAX = 3, TABLE_SAYS_MAX = 6, TABLE_KEPT_MAX = 4, TABLE_TESTS_MAX = 64 };

struct table_case {
    bool runs;                   /* before it, until nothing is due now */
    const char *after;           /* so much time, in which runs what is due; NULL: at once */
    const char *method, *target; /* behind the mount: "/workflows" */
    struct pawl_http_header headers[TABLE_HEADERS_MAX];
    const char *body; /* or NULL */

    int status;
    const char *code;                 /* of an error; NULL: it is none */
    const char *is;                   /* the whole body, or NULL */
    const char *says[TABLE_SAYS_MAX]; /* parts of the body */
    const char *hides;                /* what is not in it, or NULL */
    const char *list;                 /* of `count`, or NULL */
    size_t count;
    struct {
        const char *name, *path;
    } keeps[TABLE_KEPT_MAX];
    struct pawl_http_header has; /* a header of the answer */
    bool is_bare;                /* the target is the whole one, without the mount */
    bool not_by_client;          /* no HTTP client can send it: for the handler alone */
};

struct table_section {
    const char *name;
    void (*configure)(struct pawl_http_options *options); /* or NULL */
    const struct table_case *cases;
    size_t count;
};
/* Those of all tables. */
const struct table_section *table_sections(size_t *out_count);

/* ---- The world of a section ------------------------------------------------------------------------------------ */

struct table_world {
    pawl_world *world;
    pawl_http *http;
    const char *mount;
    char job[256]; /* the token of a job that was claimed (asking.h), or "" */
    struct {
        const char *name;
        char value[256];
    } kept[TABLE_KEPT_MAX]; /* by the cases so far */
};
/* table_world.c says which workflows and instances there are.  section NULL: an ordinary one. */
void table_world_open(struct table_world *world, const struct table_section *section);
void table_world_close(struct table_world *world);
/* Of the instance of "defers" with this id. */
const char *table_deferred_token(const char *id);

/* ---- Sending --------------------------------------------------------------------------------------------------- */

/* Fails the test when there is no response at all.  The response lives in the scope. */
typedef void table_send_fn(void *user, pawl_scope *scope, const struct pawl_http_request *request,
                           struct pawl_http_response *out_response);

struct table_sender {
    table_send_fn *send;
    void *user;
    bool is_client; /* a true HTTP client: leaves out what none can send */
    /* Opens and closes a section's world, and what leads there.  section NULL: an ordinary one. */
    struct table_world *(*open)(void *user, const struct table_section *section);
    void (*close)(void *user);
};

/* All sections, what holds of every route, the malformed requests, and the tests in `more`: cmocka's result. */
int table_test(const char *title, const struct table_sender *sender, const struct CMUnitTest *more, size_t count);

/* Hundreds of requests that are wrong: cut short, of wrong types, too large, too deep, badly encoded.  Each must be
 * answered with a 4xx, and all together leave nothing behind.  Returns how many there were. */
size_t table_run_malformed(struct table_world *world, const struct table_sender *sender);

/* Requests damaged by chance, which may still be right.  Whatever they are, they must be answered well. */
void table_run_damaged(struct table_world *world, const struct table_sender *sender, unsigned seed, size_t count);

/* What is true of every answer; fails with the request's line. */
void table_check_any(const struct pawl_http_request *request, const struct pawl_http_response *response);

/* NULL: there is no such header. */
const char *table_header(const struct pawl_http_response *response, const char *name);

#endif
