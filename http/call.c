/* call.c - see call.h.
 *
 * carry_on() is the state machine: NEW -> ADMITTED (the target is parsed, routed and authorized) -> the route's
 * `begin`, which answers, submits or waits -> its `resume`, until the call is ANSWERED.  An error status from a step
 * becomes the answer. */
#include "http/call.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/answer.h"
#include "http/query.h"

/* ---- News from other threads ----------------------------------------------------------------------------------- */

void pw_http_call_answered(void *user, pawl_status status)
{
    pawl_http_call *call = user;
    (void)pthread_mutex_lock(&call->lock);
    call->answer = status;
    call->is_answered = true;
    if (call->ready != NULL)
        call->ready(call->user); /* under the lock, so that nobody frees the call meanwhile */
    (void)pthread_cond_signal(&call->changed);
    (void)pthread_mutex_unlock(&call->lock);
}

static void note_news(void *user)
{
    pawl_http_call *call = user;
    (void)pthread_mutex_lock(&call->lock);
    call->has_news = true;
    if (call->ready != NULL)
        call->ready(call->user);
    (void)pthread_mutex_unlock(&call->lock);
}

bool pw_http_call_take_news(pawl_http_call *call)
{
    (void)pthread_mutex_lock(&call->lock);
    bool has_news = call->has_news;
    call->has_news = false;
    (void)pthread_mutex_unlock(&call->lock);
    return has_news;
}

bool pw_http_call_has_news(pawl_http_call *call)
{
    (void)pthread_mutex_lock(&call->lock);
    bool has_news = call->has_news;
    (void)pthread_mutex_unlock(&call->lock);
    return has_news;
}

static bool is_answered(pawl_http_call *call)
{
    (void)pthread_mutex_lock(&call->lock);
    bool answered = call->is_answered;
    (void)pthread_mutex_unlock(&call->lock);
    return answered;
}

bool pw_http_is_draining(const pawl_http_call *call)
{
    return atomic_load(&call->http->is_draining);
}

/* ---- Waiting --------------------------------------------------------------------------------------------------- */

void pw_http_call_submit(pawl_http_call *call)
{
    call->state = PW_HTTP_SUBMITTED;
    (void)pthread_mutex_lock(&call->lock);
    call->is_submitted = true;
    call->is_answered = false;
    (void)pthread_mutex_unlock(&call->lock);
}

static void list(pawl_http_call *call)
{
    pawl_http *http = call->http;
    (void)pthread_mutex_lock(&http->lock);
    call->next = http->waiting;
    if (call->next != NULL)
        call->next->previous = call;
    http->waiting = call;
    call->is_listed = true;
    (void)pthread_mutex_unlock(&http->lock);
}

static void unlist(pawl_http_call *call)
{
    pawl_http *http = call->http;
    if (!call->is_listed)
        return;
    (void)pthread_mutex_lock(&http->lock);
    if (call->previous != NULL)
        call->previous->next = call->next;
    else
        http->waiting = call->next;
    if (call->next != NULL)
        call->next->previous = call->previous;
    (void)pthread_mutex_unlock(&http->lock);
}

pawl_status pw_http_call_watch(pawl_http_call *call)
{
    pawl_status status = pawl_watch_open(call->http->engine, call->match.workflow, call->match.id, note_news, call,
                                         &call->watch, &call->error);
    if (status == PAWL_OK)
        list(call);
    return status;
}

pawl_status pw_http_call_watch_jobs(pawl_http_call *call)
{
    pawl_status status = pawl_job_watch_open(call->http->engine, note_news, call, &call->job_watch, &call->error);
    if (status == PAWL_OK)
        list(call);
    return status;
}

void pw_http_call_wait_for_look(pawl_http_call *call)
{
    call->waits_for_look = true;
    list(call);
}

void pw_http_calls_looked(void *user)
{
    pawl_http *http = user;
    (void)pthread_mutex_lock(&http->lock);
    for (pawl_http_call *call = http->waiting; call != NULL; call = call->next)
        if (call->waits_for_look)
            note_news(call);
    (void)pthread_mutex_unlock(&http->lock);
}

void pw_http_call_set_deadline(pawl_http_call *call, int64_t wait_ms)
{
    int64_t wait_ms_max = call->http->options.wait_ms_max;
    call->deadline_ms = pawl_now_ms(call->http->engine) + (wait_ms < wait_ms_max ? wait_ms : wait_ms_max);
}

pawl_status pw_http_call_wait(pawl_http_call *call, int64_t again_at_ms)
{
    call->state = PW_HTTP_WAITING;
    call->again_at_ms = again_at_ms;
    return PAWL_OK;
}

pawl_status pw_http_call_look_again(pawl_http_call *call, int64_t now_ms)
{
    int64_t again_at_ms = now_ms + call->http->options.look_again_ms;
    return pw_http_call_wait(call, again_at_ms < call->deadline_ms ? again_at_ms : call->deadline_ms);
}

bool pw_http_call_takes(const pawl_http_call *call)
{
    return call->state == PW_HTTP_WAITING && call->job_watch != NULL;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

bool pw_http_call_hold(pawl_http_call *call, size_t bytes)
{
    return pawl_memory_hold(call->http->engine, &call->memory_held, call->memory_held + (int64_t)bytes);
}

void pw_http_call_give_back(pawl_http_call *call, size_t bytes)
{
    pawl_memory_owe(call->http->engine, &call->memory_held, call->memory_held - (int64_t)bytes);
}

/* ---- Taking a request up --------------------------------------------------------------------------------------- */

const char *pw_http_call_header(const pawl_http_call *call, const char *name)
{
    for (size_t i = 0; i < call->request->header_count; i++)
        if (strcasecmp(call->request->headers[i].name, name) == 0)
            return call->request->headers[i].value;
    return NULL;
}

static void refuse(pawl_http_call *call, struct pawl_http_refusal *refusal)
{
    bool is_refusal = refusal->status >= 400 && refusal->status <= 599;
    refusal->code[sizeof refusal->code - 1] = '\0'; /* a host filled it in */
    refusal->message[sizeof refusal->message - 1] = '\0';
    if (refusal->status == 401)
        pw_http_add_header(call, "WWW-Authenticate", "Bearer");
    if (refusal->retry_after_s > 0)
        pw_http_add_retry_after(call, refusal->retry_after_s);
    pw_http_fail(call, is_refusal ? refusal->status : 403, refusal->code, "%s", refusal->message);
}

/* Shows in the trace of a simulated world which requests were allowed. */
static void note_decision(pawl_http_call *call, const struct pawl_http_subject *subject, const char *decision)
{
    const struct pawl_http_request *request = call->request;
    pawl_note(call->http->engine, "authorize %s: %.20s %.200s -> %s", pawl_http_scope_name(subject->scope),
              request->method != NULL ? request->method : "", request->target != NULL ? request->target : "", decision);
}

/* Registered permissions are in memory, so the store is not read.  An unregistered workflow requires none. */
static void find_permissions(pawl_http_call *call, struct pawl_http_subject *subject)
{
    struct pawl_workflow_info workflow;
    if (subject->workflow == NULL ||
        pawl_find_workflow(call->http->engine, subject->workflow, &workflow, NULL) != PAWL_OK)
        return;
    subject->permissions = workflow.permissions;
    subject->permission_count = workflow.permission_count;
}

static bool takes_workflow(const struct pw_http_route *route)
{
    const char *const *key = route->query;
    while (key != NULL && *key != NULL && strcmp(*key, "workflow") != 0)
        key++;
    return key != NULL && *key != NULL;
}

/* The workflow in the path, or else in the query. */
static const char *workflow_of(const pawl_http_call *call)
{
    const struct pw_http_match *match = &call->match;
    bool is_asked = match->workflow == NULL && match->route != NULL && takes_workflow(match->route);
    return is_asked ? pw_http_query(call, "workflow") : match->workflow;
}

static bool authorize(pawl_http_call *call)
{
    const struct pawl_http_options *options = &call->http->options;
    struct pawl_http_subject subject = {
        .request = call->request, .scope = PAWL_HTTP_OPEN, .workflow = workflow_of(call), .instance_id = call->match.id
    };
    if (call->match.route != NULL)
        subject.scope = call->match.route->scope;
    pawl_http_authorize_fn *const asked[] = { options->authorize, options->authorize_scope[subject.scope] };
    if (asked[0] != NULL || asked[1] != NULL)
        find_permissions(call, &subject);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        struct pawl_http_refusal refusal = { 403, "FORBIDDEN", "this is not allowed", 0 };
        if (asked[i] != NULL && !asked[i](options->authorize_user, &subject, &refusal)) {
            note_decision(call, &subject, "refused");
            refuse(call, &refusal);
            return false;
        }
    }
    note_decision(call, &subject, "allowed");
    return true;
}

static void answer_options(pawl_http_call *call)
{
    const char *allow = pw_http_route_allow(call->target.segments, call->target.segment_count);
    pw_http_add_header(call, "Allow", allow);
    if (call->http->options.cors_origin != NULL) {
        pw_http_add_header(call, "Access-Control-Allow-Methods", allow);
        pw_http_add_header(call, "Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID");
        pw_http_add_header(call, "Access-Control-Max-Age", "600");
    }
    pw_http_answer_empty(call);
}

/* Called once the request is authorized and its target is parsed.  Returns false if no route takes it, and the call
 * is answered. */
static bool has_route(pawl_http_call *call)
{
    const struct pw_http_match *match = &call->match;
    const char *method = call->request->method;
    if (!match->is_path) {
        pw_http_fail(call, 404, "ROUTE_NOT_FOUND", "there is no such route; see %s/openapi.json",
                     call->http->options.mount);
    } else if (match->route == NULL && strcmp(method, "OPTIONS") == 0) {
        answer_options(call);
    } else if (match->route == NULL) {
        const char *allow = pw_http_route_allow(call->target.segments, call->target.segment_count);
        pw_http_add_header(call, "Allow", allow);
        pw_http_fail(call, 405, "METHOD_NOT_ALLOWED", "this route does not allow %.20s; it allows %s", method, allow);
    }
    return match->route != NULL;
}

/* Only the :key of an execution may hold a slash, because a key may be any text. */
static bool has_misplaced_slash(const pawl_http_call *call)
{
    const struct pw_http_target *target = &call->target;
    return target->slashed_count > (target->slashed != NULL && target->slashed == call->match.key ? 1 : 0);
}

/* Returns false if the text cannot be a deferred's token, and the call is answered. */
static bool has_token(pawl_http_call *call)
{
    bool is_deferred = call->match.route->scope == PAWL_HTTP_DEFERRED;
    if (!is_deferred || pawl_deferred_is_token(call->match.token, &call->error))
        return true;
    pw_http_fail_status(call, PAWL_INVALID_TOKEN);
    return false;
}

/* Does everything that needs no body.  Returns false if the call is answered.  A malformed target is authorized as
 * well before it is refused, so that strangers learn nothing. */
static bool admit(pawl_http_call *call)
{
    const struct pawl_http_request *request = call->request;
    const struct pawl_http_options *options = &call->http->options;
    const char *wrong = "the request has no method or no target";
    call->scope = pawl_scope_new();
    char *buffer = request->target != NULL ? pawl_scope_take(call->scope, strlen(request->target) + 1) : NULL;
    if (call->scope == NULL || (buffer == NULL && request->target != NULL)) {
        pw_http_fail_status(call, PAWL_NOMEM);
        return false;
    }
    if (request->method != NULL && request->target != NULL)
        wrong = pw_http_target_parse(request->target, options->mount, call->http->mount_size, buffer, &call->target);
    if (wrong == NULL)
        call->match = pw_http_route_find(request->method, call->target.segments, call->target.segment_count);
    if (wrong == NULL && has_misplaced_slash(call))
        wrong = "the path contains an encoded slash; names have none";
    if (!authorize(call))
        return false;
    if (wrong == NULL)
        return has_route(call) && has_token(call);
    pw_http_fail(call, 400, "VALIDATION_FAILED", "%s", wrong);
    return false;
}

static pawl_status begin(pawl_http_call *call)
{
    const struct pw_http_route *route = call->match.route;
    call->out.is_owed = strcmp(route->method, "GET") != 0; /* report a change whatever the budget */
    if (call->request->body_size > (uint64_t)call->http->options.body_bytes_max)
        return pw_http_fail(call, 413, "PAYLOAD_TOO_LARGE", "the body has %zu bytes; at most %lld are allowed",
                            call->request->body_size, (long long)call->http->options.body_bytes_max);
    pw_http_query_check(call, route->query);
    return pw_http_fail_issues(call) ? PAWL_OK : route->begin(call);
}

bool pw_http_call_admit(pawl_http_call *call)
{
    if (call->state == PW_HTTP_NEW && admit(call))
        call->state = PW_HTTP_ADMITTED;
    return call->state == PW_HTTP_ADMITTED;
}

bool pw_http_call_reads_body(const pawl_http_call *call)
{
    return call->match.route != NULL && strcmp(call->match.route->method, "GET") != 0;
}

bool pw_http_call_needs_confirming(const pawl_http_call *call)
{
    return call->match.route != NULL && call->match.route->scope == PAWL_HTTP_DEFERRED;
}

void pw_http_call_confirm(pawl_http_call *call)
{
    pawl_status status = pawl_deferred_check(call->http->engine, call->match.token, &call->error);
    if (status != PAWL_OK)
        pw_http_fail_status(call, status);
}

/* The clock for the metrics starts here, because the time that a client takes to send its body is not ours. */
static void take_up(pawl_http_call *call)
{
    if (!call->is_taken_up)
        call->began_ns = pw_http_nanoseconds();
    call->is_taken_up = true;
    (void)pw_http_call_admit(call);
}

/* ---- The store ------------------------------------------------------------------------------------------------- */

bool pw_http_call_asks_store(pawl_http_call *call)
{
    take_up(call);
    if (call->state == PW_HTTP_ANSWERED)
        return false;
    enum pw_http_need need = call->match.route->need;
    return need == PW_HTTP_PAGE || (need != PW_HTTP_MEMORY && call->http->store_is_remote);
}

pawl_status pw_http_call_get(pawl_http_call *call, pawl_scope *scope, struct pawl_instance *out_instance)
{
    if (call->lacks_store)
        return PAWL_STORE_UNAVAILABLE;
    return pawl_get(call->http->engine, scope, call->match.workflow, call->match.id, out_instance, &call->error);
}

void pw_http_call_go_without_store(pawl_http_call *call)
{
    const struct pawl_http_response *response;
    int64_t again_at_ms;
    if (call->state == PW_HTTP_ADMITTED && call->match.route->need != PW_HTTP_FIGURES) {
        pw_http_fail_status(call, PAWL_STORE_UNAVAILABLE);
        return;
    }
    call->lacks_store = true;
    (void)pawl_http_call_answer(call, &response, &again_at_ms);
    call->lacks_store = false;
}

/* ---- The public calls ------------------------------------------------------------------------------------------ */

/* A pw_buffer_count_fn whose counter is the call. */
static bool count_text(void *counter, size_t before, size_t after, bool is_owed)
{
    pawl_http_call *call = counter;
    int64_t bytes = call->memory_held - (int64_t)pw_http_weight(before) + (int64_t)pw_http_weight(after);
    if (!is_owed && after > before)
        return pawl_memory_hold(call->http->engine, &call->memory_held, bytes);
    pawl_memory_owe(call->http->engine, &call->memory_held, bytes);
    return true;
}

pawl_http_call *pawl_http_call_new(pawl_http *http, const struct pawl_http_request *request, void (*ready)(void *user),
                                   void *user)
{
    pawl_http_call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return NULL;
    if (!pw_lock_init(&call->lock, &call->changed)) {
        free(call);
        return NULL;
    }
    call->http = http;
    call->request = request;
    call->ready = ready;
    call->user = user;
    call->is_head = request->method != NULL && strcmp(request->method, "HEAD") == 0;
    call->began_ns = pw_http_nanoseconds();
    call->out.count = call->issues.count = count_text;
    call->out.counter = call->issues.counter = call;
    return call;
}

void pawl_http_call_free(pawl_http_call *call)
{
    if (call == NULL)
        return;
    if (call->is_ticking)
        pw_http_ticker_forget(&call->http->ticker, &call->work.tick);
    (void)pthread_mutex_lock(&call->lock);
    while (call->is_submitted && !call->is_answered && !call->is_ticking)
        (void)pthread_cond_wait(&call->changed, &call->lock);
    (void)pthread_mutex_unlock(&call->lock);
    pawl_watch_close(call->watch);
    pawl_job_watch_close(call->job_watch);
    unlist(call);
    pw_http_stream_close(call);
    pw_buffer_clear(&call->out);
    pw_buffer_clear(&call->issues);
    pawl_scope_free(call->look_scope);
    pawl_scope_free(call->scope);
    pawl_memory_owe(call->http->engine, &call->memory_held, 0);
    pw_lock_clear(&call->lock, &call->changed);
    free(call);
}

bool pw_http_call_is_due(pawl_http_call *call)
{
    switch (call->state) {
    case PW_HTTP_NEW:
    case PW_HTTP_ADMITTED:
        return true;
    case PW_HTTP_SUBMITTED:
        return is_answered(call);
    case PW_HTTP_WAITING:
        return pw_http_call_has_news(call) || pw_http_is_draining(call) ||
               pawl_now_ms(call->http->engine) >= call->again_at_ms;
    case PW_HTTP_ANSWERED:
        return false;
    }
    return false;
}

bool pw_http_call_is_answered(const pawl_http_call *call)
{
    return call->state == PW_HTTP_ANSWERED;
}

bool pw_http_call_look(const pawl_http_call *call, const struct pawl_http_response **out_response,
                       int64_t *out_again_at_ms)
{
    if (call->state == PW_HTTP_ANSWERED) {
        *out_response = &call->response;
        return true;
    }
    *out_again_at_ms = call->state == PW_HTTP_WAITING ? call->again_at_ms : INT64_MAX;
    return false;
}

/* Takes one step of a call that is due. */
static void carry_on(pawl_http_call *call)
{
    pawl_status status = PAWL_OK;
    take_up(call);
    if (call->state == PW_HTTP_ADMITTED) {
        status = begin(call);
    } else if (call->state == PW_HTTP_SUBMITTED && call->answer != PAWL_OK) {
        status = call->answer;
    } else if (call->state != PW_HTTP_ANSWERED) {
        if (call->state == PW_HTTP_WAITING)
            (void)pw_http_call_take_news(call);
        status = call->match.route->resume(call);
    }
    if (status != PAWL_OK)
        pw_http_fail_status(call, status);
}

bool pawl_http_call_answer(pawl_http_call *call, const struct pawl_http_response **out_response,
                           int64_t *out_again_at_ms)
{
    while (pw_http_call_is_due(call))
        carry_on(call);
    return pw_http_call_look(call, out_response, out_again_at_ms);
}
