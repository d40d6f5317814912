/* call.h - a request on its way: target, route, authorization, validation, work, answer.
 *
 * 1. A call is carried on by one thread at a time, in pawl_http_call_answer() and _read().  Other threads only note
 *    news, under the call's lock.
 * 2. An operation ends in exactly one of: an answer (answer.h), a submitted change, or a wait.  Its route's `resume`
 *    is called when the change was answered, or when it is worth looking again.
 * 3. Who may ask is decided in one place, once for each call, of which no body is needed: a server may have it decided
 *    before it takes the body (pw_http_call_admit()).
 *    A deferred's token authorizes by itself: its form is looked at there, and whether it is a real one before more than
 *    a little of a body is kept (pw_http_call_confirm()).
 * 4. Which thread carries a call on is for the server to decide.  What asks a store that may keep it waiting is not for a
 *    thread that has other clients (pw_http_call_asks_store()).
 * 5. What was submitted to the engine uses the call's memory, so the call outlives it: freeing waits. */
#ifndef HTTP_CALL_H
#define HTTP_CALL_H

#include "http/handler.h"
#include "http/target.h"
#include "common/json_writer.h"
#include "pawl/service.h"

enum { PW_HTTP_HEADERS_MAX = 12, PW_HTTP_ISSUES_MAX = 20, PW_HTTP_ISSUE_SIZE = 256 };

enum pw_http_state {
    PW_HTTP_NEW,
    PW_HTTP_ADMITTED,  /* authorized, and there is a route; it needs the body now */
    PW_HTTP_SUBMITTED, /* until the engine has answered */
    PW_HTTP_WAITING,   /* until there is news, or it is again_at_ms */
    PW_HTTP_ANSWERED
};

/* What the routes keep while they wait. */
struct pw_http_create_work {
    struct pawl_create_options options;
    struct pawl_instance instance;
};
struct pw_http_batch_work {
    struct pawl_batch_item *items;
    size_t count;
    struct pawl_instance *instances;
    size_t created;
};
struct pw_http_execute_work {
    struct pawl_create_options options;
    struct pawl_instance instance;
    char id[PAWL_EXECUTION_ID_SIZE];
    int64_t wait_ms;
};
struct pw_http_claim_work {
    struct pawl_claim_options options;
    const struct pawl_job *jobs;
    size_t count;
};
struct pw_http_settle_work {
    struct pawl_outcome outcome;
    bool is_paused; /* the run that was told of it */
};
struct pw_http_stream_work {
    pawl_follow *follow;
    int64_t look_at_ms, heartbeat_at_ms;
    bool is_ended, is_given;
};

struct pawl_http_call {
    pawl_http *http;
    const struct pawl_http_request *request;
    void (*ready)(void *user);
    void *user;
    int64_t began_ns;
    bool is_head, refuses_streams;
    bool is_taken_up; /* all of the request is there: began_ns holds */
    bool lacks_store; /* the store is not to be asked now: what would is answered as if it were away */

    pawl_scope *scope;
    struct pw_http_target target;
    struct pw_http_match match;
    struct pawl_error error; /* of the engine's calls */

    enum pw_http_state state;
    int64_t again_at_ms; /* WAITING */
    union {
        struct pw_http_create_work create;
        struct pw_http_batch_work batch;
        struct {
            struct pawl_send_event_options options;
            struct pawl_standing standing;
        } event;
        struct pw_http_tick tick;
        struct pw_http_stream_work stream;
        struct pw_http_execute_work execute;
        struct pw_http_settle_work settle;
        struct pw_http_claim_work claim;
        int64_t leased_until_ms;
        uint64_t look; /* of the prober */
    } work;
    int64_t deadline_ms;              /* of a wait */
    const struct pawl_instance *made; /* what this call has made, as it was then, and waits for; or NULL */
    pawl_scope *look_scope;           /* of one look of a wait that writes: a long wait gathers nothing; or NULL */
    bool is_ticking;                  /* work.tick is with the ticker */
    bool is_stream;                   /* work.stream is open, and counted */

    pthread_mutex_t lock; /* guards these four */
    pthread_cond_t changed;
    bool is_submitted, is_answered, has_news;
    pawl_status answer; /* of what was submitted, once it is answered */

    pawl_watch *watch;         /* or NULL */
    pawl_job_watch *job_watch; /* or NULL */
    bool waits_for_look;
    bool is_listed; /* among the handler's waiting calls, under its lock */
    pawl_http_call *previous, *next;

    int64_t
        memory_held; /* of the engine's budget: the answer, what it is made from, and what the server has of the body */
    struct pw_buffer out, issues;
    size_t issue_count;
    char first_issue[PW_HTTP_ISSUE_SIZE];
    struct pawl_http_response response;
    struct pawl_http_header headers[PW_HTTP_HEADERS_MAX];
    char retry_after[16];
};

/* What memory of this size counts against the engine's budget: a little counts nothing, so that small requests go on beside a
 * budget that is used up, and cost no counting. */
static inline size_t pw_http_weight(size_t bytes)
{
    enum { LIGHT_BYTES_MAX = 16 * 1024 };
    return bytes > LIGHT_BYTES_MAX ? bytes : 0;
}

/* ---- For operations -------------------------------------------------------------------------------------------- */

/* A pawl_answered_fn; user: the call. */
void pw_http_call_answered(void *call, pawl_status status);
/* Call before handing the call to something that will call pw_http_call_answered(); again, too, once it has. */
void pw_http_call_submit(pawl_http_call *call);
/* Waits for news until then: opens the watch at the first time, and is told of a drain.  */
pawl_status pw_http_call_watch(pawl_http_call *call);
pawl_status pw_http_call_watch_jobs(pawl_http_call *call); /* the same, for any job that becomes due */
void pw_http_call_wait_for_look(pawl_http_call *call);     /* the same, for what the prober finds out */
/* Both return PAWL_OK, for a step to return. */
pawl_status pw_http_call_wait(pawl_http_call *call, int64_t again_at_ms);
pawl_status pw_http_call_look_again(pawl_http_call *call, int64_t now_ms); /* soon, or at the deadline */
/* Of a wait that begins now and lasts so long, or as long as the handler lets one last. */
void pw_http_call_set_deadline(pawl_http_call *call, int64_t wait_ms);
bool pw_http_call_has_news(pawl_http_call *call);
bool pw_http_call_take_news(pawl_http_call *call);
bool pw_http_is_draining(const pawl_http_call *call);

/* Counts so much more memory against the engine's budget, until the call is freed or gives it back.  False: refused. */
bool pw_http_call_hold(pawl_http_call *call, size_t bytes);
void pw_http_call_give_back(pawl_http_call *call, size_t bytes);

/* pawl_get() of the instance that the call is about. */
pawl_status pw_http_call_get(pawl_http_call *call, pawl_scope *scope, struct pawl_instance *out_instance);

/* The value of a header, however its name is written; NULL: it is not there. */
const char *pw_http_call_header(const pawl_http_call *call, const char *name);

/* The prober has looked: wakes the calls that wait for it. */
void pw_http_calls_looked(void *http);

/* stream.c: what a stream holds is given back. */
void pw_http_stream_close(pawl_http_call *call);

/* ---- For the server ---------------------------------------------------------------------------------------------- */

/* Before the body has come: may the request be made at all?  Without this the first pawl_http_call_answer() asks.  False:
 * the answer is there, and needs no body. */
bool pw_http_call_admit(pawl_http_call *call);
/* Of one that was admitted: otherwise nobody looks at the body. */
bool pw_http_call_reads_body(const pawl_http_call *call);
/* Before much of the body is kept: is what the target names there?  Asks the store, so it is asked once; otherwise the answer
 * is there, and needs no more of the body. */
bool pw_http_call_needs_confirming(const pawl_http_call *call);
void pw_http_call_confirm(pawl_http_call *call);
bool pw_http_call_is_answered(const pawl_http_call *call);

/* Does asking it for its answer ask the store, in a way that may take long?  Decides who may ask, if that was not done. */
bool pw_http_call_asks_store(pawl_http_call *call);
/* Is there something to do now: has it not begun, or does it have news, or has its time come? */
bool pw_http_call_is_due(pawl_http_call *call);
/* As pawl_http_call_answer(), without doing anything. */
bool pw_http_call_look(const pawl_http_call *call, const struct pawl_http_response **out_response,
                       int64_t *out_again_at_ms);
/* As pawl_http_call_answer() of one that is due, without the store: what was not begun is refused, and of what was changed
 * is told what is known. */
void pw_http_call_go_without_store(pawl_http_call *call);

/* The same for a stream: is it worth to look at the store for more?  If so, pw_http_stream_look() does that, or
 * pw_http_stream_skip() puts it off. */
bool pw_http_stream_is_due(pawl_http_call *call);
void pw_http_stream_look(pawl_http_call *call);
void pw_http_stream_skip(pawl_http_call *call);
/* As pawl_http_call_read(), of what is there. */
enum pawl_http_read pw_http_stream_read(pawl_http_call *call, const char **out_bytes, size_t *out_size,
                                        int64_t *out_again_at_ms);

/* Does it wait for something that it takes away from others?  Nobody should take it for a client who is gone. */
bool pw_http_call_takes(const pawl_http_call *call);

#endif
