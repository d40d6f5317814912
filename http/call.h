/* call.h - one request from its target to its answer.
 *
 * A call passes these stages: parse the target, find the route, authorize, validate, do the work, answer.  It never
 * blocks.  While it has to wait, for the engine or for news, it returns, and its owner asks again later.
 *
 * 1. One thread at a time carries a call on, in pawl_http_call_answer() and pawl_http_call_read().  Other threads only
 *    note news, under the call's lock.
 * 2. An operation ends in exactly one of: an answer (answer.h), a submitted change, a wait.  Its route's `resume` is
 *    called when the engine has answered the change, or when it is worth looking again.
 * 3. Each call is authorized once, in one place, without its body.  A server can do that before it reads the body
 *    (pw_http_call_admit()).
 *    A deferred's token is its own authorization.  Its form is checked there.  Whether it exists is checked before
 *    more than 16 KiB of the body are kept (pw_http_call_confirm()).
 * 4. The server decides which thread carries a call on.  A thread that serves other clients must not carry on one
 *    that may wait for the store (pw_http_call_asks_store()).
 * 5. A change that was submitted to the engine uses the call's memory, so freeing the call waits for the engine's
 *    answer. */
#ifndef HTTP_CALL_H
#define HTTP_CALL_H

#include "http/handler.h"
#include "http/target.h"
#include "common/json_writer.h"
#include "pawl/service.h"

enum { PW_HTTP_HEADERS_MAX = 12, PW_HTTP_ISSUES_MAX = 20, PW_HTTP_ISSUE_SIZE = 256 };

enum pw_http_state {
    PW_HTTP_NEW,
    PW_HTTP_ADMITTED,  /* authorized, and has a route; needs the body next */
    PW_HTTP_SUBMITTED, /* waits until the engine has answered */
    PW_HTTP_WAITING,   /* waits until there is news, or until again_at_ms */
    PW_HTTP_ANSWERED
};

/* What each route keeps while its call waits. */
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
    bool is_paused; /* the run that gets the outcome is paused */
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
    bool is_taken_up; /* the whole request has arrived, and began_ns is that time */
    bool lacks_store; /* do not ask the store; answer as if it were down */

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
    int64_t deadline_ms;              /* when a wait ends */
    const struct pawl_instance *made; /* the instance that this call created and waits for, as it was then; or NULL */
    pawl_scope *look_scope;           /* for one look of a long wait, so that memory does not grow with each; or NULL */
    bool is_ticking;                  /* work.tick is with the ticker */
    bool is_stream;                   /* work.stream is open, and counted */

    pthread_mutex_t lock; /* guards the four fields below */
    pthread_cond_t changed;
    bool is_submitted, is_answered, has_news;
    pawl_status answer; /* the engine's answer, once is_answered */

    pawl_watch *watch;         /* or NULL */
    pawl_job_watch *job_watch; /* or NULL */
    bool waits_for_look;
    bool is_listed; /* among the handler's waiting calls, under its lock */
    pawl_http_call *previous, *next;

    int64_t memory_held; /* counted in the engine's budget: body and answer */
    struct pw_buffer out, issues;
    size_t issue_count;
    char first_issue[PW_HTTP_ISSUE_SIZE];
    struct pawl_http_response response;
    struct pawl_http_header headers[PW_HTTP_HEADERS_MAX];
    char retry_after[16];
};

/* How much of the engine's memory budget this size uses.  Small sizes count as 0, so that small requests pass even
 * when the budget is used up, and cost no counting. */
static inline size_t pw_http_weight(size_t bytes)
{
    enum { LIGHT_BYTES_MAX = 16 * 1024 };
    return bytes > LIGHT_BYTES_MAX ? bytes : 0;
}

/* ---- For operations -------------------------------------------------------------------------------------------- */

/* A pawl_answered_fn whose user is the call. */
void pw_http_call_answered(void *call, pawl_status status);
/* Call this before each use of the call as the user of an asynchronous function, which then calls
 * pw_http_call_answered(). */
void pw_http_call_submit(pawl_http_call *call);
/* Opens a watch: changes of the instance become news of the call, and so does a drain.  Call one of these three
 * once. */
pawl_status pw_http_call_watch(pawl_http_call *call);
pawl_status pw_http_call_watch_jobs(pawl_http_call *call); /* watches for jobs that become due */
void pw_http_call_wait_for_look(pawl_http_call *call);     /* watches for the prober's verdict */
/* Both make the call wait and return PAWL_OK, so that a step can return their result. */
pawl_status pw_http_call_wait(pawl_http_call *call, int64_t again_at_ms);
pawl_status pw_http_call_look_again(pawl_http_call *call, int64_t now_ms); /* after look_again_ms, or at the deadline */
/* Sets the deadline of a wait that begins now and lasts wait_ms, at most the handler's wait_ms_max. */
void pw_http_call_set_deadline(pawl_http_call *call, int64_t wait_ms);
bool pw_http_call_has_news(pawl_http_call *call);
bool pw_http_call_take_news(pawl_http_call *call);
bool pw_http_is_draining(const pawl_http_call *call);

/* Counts this much more memory against the engine's budget, until the call is freed or gives it back.  Returns false
 * if refused. */
bool pw_http_call_hold(pawl_http_call *call, size_t bytes);
void pw_http_call_give_back(pawl_http_call *call, size_t bytes);

/* pawl_get() of the instance that the target names. */
pawl_status pw_http_call_get(pawl_http_call *call, pawl_scope *scope, struct pawl_instance *out_instance);

/* The value of a header; NULL if it is missing.  The case of the name does not matter. */
const char *pw_http_call_header(const pawl_http_call *call, const char *name);

/* Called by the prober after each look.  Wakes the calls that wait for one. */
void pw_http_calls_looked(void *http);

/* In stream.c: releases what a stream holds. */
void pw_http_stream_close(pawl_http_call *call);

/* ---- For the server ---------------------------------------------------------------------------------------------- */

/* Parses the target and authorizes the call before the body has arrived.  Otherwise the first
 * pawl_http_call_answer() does it.  Returns false if the call is answered and needs no body. */
bool pw_http_call_admit(pawl_http_call *call);
/* For an admitted call: false if its body is not read. */
bool pw_http_call_reads_body(const pawl_http_call *call);
/* True if the store must confirm that the target exists before much of the body is kept.  pw_http_call_confirm() asks
 * it.  If the target does not exist, the call is answered and the rest of the body is not needed. */
bool pw_http_call_needs_confirming(const pawl_http_call *call);
void pw_http_call_confirm(pawl_http_call *call);
bool pw_http_call_is_answered(const pawl_http_call *call);

/* True if the next pawl_http_call_answer() asks the store in a way that may take long.  Admits the call if that was
 * not done. */
bool pw_http_call_asks_store(pawl_http_call *call);
/* True if there is something to do now: the call is new, has news, or its time has come. */
bool pw_http_call_is_due(pawl_http_call *call);
/* Like pawl_http_call_answer(), but only returns what is there. */
bool pw_http_call_look(const pawl_http_call *call, const struct pawl_http_response **out_response,
                       int64_t *out_again_at_ms);
/* Like pawl_http_call_answer() for a call that is due, but without the store.  A call that has not begun is refused.
 * A change that was made is answered with what is known of it. */
void pw_http_call_go_without_store(pawl_http_call *call);

/* The same for a stream: true if it should look at the store for more.  The caller then calls pw_http_stream_look(),
 * or pw_http_stream_skip() to put it off. */
bool pw_http_stream_is_due(pawl_http_call *call);
void pw_http_stream_look(pawl_http_call *call);
void pw_http_stream_skip(pawl_http_call *call);
/* Like pawl_http_call_read(), but only returns what is there. */
enum pawl_http_read pw_http_stream_read(pawl_http_call *call, const char **out_bytes, size_t *out_size,
                                        int64_t *out_again_at_ms);

/* True while it waits for jobs.  Check that the client is still connected before claiming, or the job is lost until
 * its lease ends. */
bool pw_http_call_takes(const pawl_http_call *call);

#endif
