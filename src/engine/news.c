/* news.c - see news.h; and who waits for jobs. */
#include "engine/news.h"

#include <stdlib.h>

#include "base/error.h"
#include "engine/functions.h"

/* ---- Who waits for jobs ---------------------------------------------------------------------------------------- */

struct pawl_job_watch {
    struct pw_watches *watches;
    void (*due)(void *user);
    void *user;
    pawl_job_watch *next;
};

pawl_status pawl_job_watch_open(pawl_engine *engine, void (*due)(void *user), void *user, pawl_job_watch **out_watch,
                                struct pawl_error *error)
{
    if (engine == NULL || due == NULL || out_watch == NULL)
        return pw_error(error, PAWL_INVALID, "a watch for jobs needs an engine, a function to call, and out_watch");
    pawl_job_watch *watch = malloc(sizeof *watch);
    if (watch == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    struct pw_watches *watches = &engine->watches;
    *watch = (pawl_job_watch){ .watches = watches, .due = due, .user = user };
    pthread_mutex_lock(&watches->lock);
    watch->next = watches->jobs;
    watches->jobs = watch;
    pthread_mutex_unlock(&watches->lock);
    *out_watch = watch;
    return PAWL_OK;
}

void pawl_job_watch_close(pawl_job_watch *watch)
{
    if (watch == NULL)
        return;
    struct pw_watches *watches = watch->watches;
    pthread_mutex_lock(&watches->lock);
    pawl_job_watch **link = &watches->jobs;
    while (*link != watch)
        link = &(*link)->next;
    *link = watch->next;
    pthread_mutex_unlock(&watches->lock);
    free(watch);
}

static void tell_job_watches(struct pw_watches *watches)
{
    pthread_mutex_lock(&watches->lock);
    for (pawl_job_watch *watch = watches->jobs; watch != NULL; watch = watch->next)
        watch->due(watch->user);
    pthread_mutex_unlock(&watches->lock);
}

/* ---- What is new ----------------------------------------------------------------------------------------------- */

struct news {
    bool is_due;  /* something is, for a runner */
    bool is_jobs; /* a job is due, or there is room for one */
};

static void note_answer(pawl_engine *engine, const struct pw_op_event *event, struct news *news)
{
    news->is_jobs |= pw_is_job_answer(event->type);
    if (!event->recorded)
        return;
    news->is_due |= event->woke;
    if (!event->woke) /* a turn may be under way that parks otherwise */
        pw_engine_event(engine, event->instance, event->run_told, event->seq);
}

static void note_op(pawl_engine *engine, const struct pw_op *op, struct news *news)
{
    switch (op->kind) {
    case PW_OP_CREATE:
        if (op->as.create.created && op->as.create.link.relation == PW_RELATION_JOB)
            news->is_due = news->is_jobs = true;
        break;
    case PW_OP_EVENT:
        if (op->as.event.is_answer)
            note_answer(engine, &op->as.event, news);
        break;
    case PW_OP_REACH:
        if (op->as.reach.reached > 0)
            news->is_due = news->is_jobs = true;
        break;
    case PW_OP_END:
        news->is_jobs |= op->as.end.instance != 0;
        break;
    case PW_OP_FENCE:
    case PW_OP_RESTART:
    case PW_OP_STEP:
    case PW_OP_CONSUME:
    case PW_OP_LOG:
    case PW_OP_PARK:
    case PW_OP_HOLD:
    case PW_OP_PAUSE:
    case PW_OP_DEMAND:
    case PW_OP_FINISH:
    case PW_OP_CLAIM:
    case PW_OP_RENEW:
    case PW_OP_REAP:
    case PW_OP_SQL:
    case PW_OP_MUTATE:
    case PW_OP_HOOK:
    case PW_OP_HOOK_CLAIM:
    case PW_OP_HOOK_SETTLE:
    case PW_OP_HOOK_RESEND:
        break;
    }
}

void pw_news_tell(pawl_engine *engine, struct pw_unit **units, size_t count)
{
    struct news news = { false, false };
    for (size_t i = 0; i < count; i++) {
        for (const struct pw_op *op = units[i]->first; units[i]->status == PAWL_OK && op != NULL; op = op->next)
            note_op(engine, op, &news);
    }
    if (news.is_jobs)
        tell_job_watches(&engine->watches);
    if (news.is_due)
        pw_local_wake(engine, PW_NOW);
}
