/* request.c - see request.h.
 *
 * Nothing may read in the callback of a commit, because a read can wait for the thread that runs the callback.  So every round
 * that reads goes through pw_commit_later(), which runs it at once where the thread may call the store. */
#include "service/request.h"

#include <stdlib.h>

#include "base/error.h"

void *pw_request_new(size_t size, pawl_engine *engine, pawl_status (*end)(struct pw_request *request),
                     struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct pw_request *request = calloc(1, size);
    if (request == NULL) {
        (void)pw_error_plain(error, PAWL_NOMEM);
        if (answered != NULL)
            answered(user, PAWL_NOMEM);
        return NULL;
    }
    request->engine = engine;
    request->end = end;
    request->error = error;
    request->answered = answered;
    request->user = user;
    pw_unit_init(&request->unit);
    return request;
}

pawl_status pw_report(struct pawl_error *error, pawl_status status, const struct pawl_error *inner)
{
    if (inner->text[0] == '\0')
        return pw_error_plain(error, status);
    return pw_error(error, status, "%s", inner->text);
}

pawl_status pw_request_report(const struct pw_request *request)
{
    if (request->unit.status == PAWL_OK)
        return PAWL_OK;
    return pw_report(request->error, request->unit.status, &request->unit.error);
}

/* Frees the request before it answers, because the answer may release everything that the request borrows. */
static pawl_status answer(struct pw_request *request, pawl_status status)
{
    pawl_answered_fn *answered = request->answered;
    void *user = request->user;
    pw_unit_clear(&request->unit);
    pw_arena_clear(&request->arena);
    free(request);
    if (answered == NULL)
        return status;
    answered(user, status);
    return PAWL_OK;
}

/* Ends a round.  True if another round follows. */
static bool ends(struct pw_request *request, pawl_status *out_status)
{
    request->again = false;
    *out_status = request->end(request);
    if (!request->again)
        return false;
    pw_unit_clear(&request->unit);
    pw_unit_init(&request->unit);
    return true;
}

static void later(struct pw_request *request, void (*run)(void *user))
{
    request->chore = (struct pw_chore){ .run = run, .user = request };
    pw_commit_later(request->engine->commit, &request->chore);
}

static void committed(struct pw_unit *unit, void *user);

/* Runs rounds until the request is over or its unit was sent. */
static pawl_status go(struct pw_request *request)
{
    pawl_status status;
    do {
        status = request->begin != NULL ? request->begin(request) : PAWL_OK;
        if (status != PAWL_OK)
            break;
        if (request->unit.first != NULL && request->answered != NULL) {
            request->unit.done = committed;
            request->unit.user = request;
            pw_engine_send(request->engine, &request->unit);
            return PAWL_OK;
        }
        if (request->unit.first != NULL)
            (void)pw_engine_run(request->engine, &request->unit);
    } while (ends(request, &status));
    return answer(request, status);
}

static void go_later(void *user)
{
    (void)go(user);
}

static void finish(void *user)
{
    struct pw_request *request = user;
    pawl_status status;
    if (ends(request, &status))
        later(request, go_later);
    else
        (void)answer(request, status);
}

static void committed(struct pw_unit *unit, void *user)
{
    struct pw_request *request = user;
    (void)unit;
    if (request->reads_at_end != NULL && request->reads_at_end(request))
        later(request, finish);
    else
        finish(request);
}

pawl_status pw_request_go(struct pw_request *request, pawl_status checked)
{
    if (checked != PAWL_OK)
        return answer(request, checked);
    if (request->begin == NULL || request->answered == NULL)
        return go(request);
    later(request, go_later);
    return PAWL_OK;
}
