/* request.c - see request.h. */
#include "service/request.h"

#include <stdlib.h>

#include "base/error.h"
#include "service/edit.h"

void *pw_request_new(size_t size, struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct pw_request *request = calloc(1, size);
    if (request == NULL) {
        answered(user, pw_error_plain(error, PAWL_NOMEM));
        return NULL;
    }
    request->answered = answered;
    request->user = user;
    return request;
}

void pw_request_init(struct pw_request *request, pawl_engine *engine, struct pawl_error *error,
                     pawl_status (*end)(struct pw_request *request))
{
    request->engine = engine;
    request->error = error;
    request->end = end;
    pw_unit_init(&request->unit);
}

pawl_status pw_request_report(const struct pw_request *request)
{
    if (request->unit.status == PAWL_OK)
        return PAWL_OK;
    return pw_edit_report(request->error, request->unit.status, &request->unit.error);
}

pawl_status pw_request_run(struct pw_request *request, pawl_status begun)
{
    if (begun == PAWL_OK) {
        (void)pw_engine_run(request->engine, &request->unit);
        begun = request->end(request);
    }
    pw_unit_clear(&request->unit);
    return begun;
}

/* Freed before it is answered: the answer may be what lets go of all that it borrows. */
static void answer(struct pw_request *request, pawl_status status)
{
    pawl_answered_fn *answered = request->answered;
    void *user = request->user;
    pw_unit_clear(&request->unit);
    free(request);
    answered(user, status);
}

void pw_request_finish(struct pw_request *request)
{
    answer(request, request->end(request));
}

static void finish_later(void *user)
{
    pw_request_finish(user);
}

static void committed(struct pw_unit *unit, void *user)
{
    struct pw_request *request = user;
    (void)unit;
    if (request->reads_at_end == NULL || !request->reads_at_end(request)) {
        pw_request_finish(request);
        return;
    }
    request->chore = (struct pw_chore){ .run = finish_later, .user = request };
    pw_commit_later(request->engine->commit, &request->chore);
}

void pw_request_start(struct pw_request *request, pawl_status begun)
{
    if (begun != PAWL_OK) {
        answer(request, begun);
        return;
    }
    if (request->unit.done == NULL)
        request->unit.done = committed;
    request->unit.user = request;
    pw_engine_send(request->engine, &request->unit);
}

static void begin_later(void *user)
{
    struct pw_request *request = user;
    pw_request_start(request, request->begin(request));
}

void pw_request_start_reading(struct pw_request *request, pawl_status (*begin)(struct pw_request *request))
{
    request->begin = begin;
    request->chore = (struct pw_chore){ .run = begin_later, .user = request };
    if (request->engine != NULL)
        pw_commit_later(request->engine->commit, &request->chore);
    else
        begin_later(request); /* which says so */
}
