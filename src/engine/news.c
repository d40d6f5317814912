/* news.c - see news.h.  Also watches for jobs. */
#include "engine/news.h"

#include "base/error.h"

/* ---- Watches for jobs ------------------------------------------------------------------------------------------ */

/* A pawl_job_watch is a pawl_watch.  The public type differs, so that the two cannot be confused. */

pawl_status pawl_job_watch_open(pawl_engine *engine, void (*due)(void *user), void *user, pawl_job_watch **out_watch,
                                struct pawl_error *error)
{
    if (engine == NULL || due == NULL || out_watch == NULL)
        return pw_error(error, PAWL_INVALID, "a watch for jobs needs an engine, a function to call, and out_watch");
    pawl_watch *watch = pw_watch_add(&engine->watches, PW_WATCH_JOBS, due, user);
    if (watch == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    *out_watch = (pawl_job_watch *)watch;
    return PAWL_OK;
}

void pawl_job_watch_close(pawl_job_watch *watch)
{
    pawl_watch_close((pawl_watch *)watch);
}

/* ---- What is new ----------------------------------------------------------------------------------------------- */

struct news {
    bool is_due;  /* something is due for a runner */
    bool is_jobs; /* a job is due, or there is room for one */
};

static void note_effect(pawl_engine *engine, const struct pw_effect *effect, struct news *news)
{
    switch (effect->kind) {
    case PW_EFFECT_BEGUN: /* for other instances, the service that creates them wakes the runner */
        news->is_due |= effect->is_job;
        news->is_jobs |= effect->is_job;
        break;
    case PW_EFFECT_WOKEN:
        news->is_due = true;
        break;
    case PW_EFFECT_ENDED:
        news->is_jobs |= effect->is_job;
        break;
    case PW_EFFECT_EVENT: /* a running turn would park without having seen it */
        if (!effect->as.event.has_woken)
            pw_engine_tell(
                engine, (struct pw_word){ PW_WORD_EVENT, effect->instance, effect->run, .seq = effect->as.event.seq });
        break;
    case PW_EFFECT_PARKED:
    case PW_EFFECT_HELD:
    case PW_EFFECT_STEP:
    case PW_EFFECT_CHANGED:
        break;
    }
}

void pw_news_tell(pawl_engine *engine, struct pw_unit **units, size_t count)
{
    struct news news = { false, false };
    for (size_t i = 0; i < count; i++) {
        const struct pw_effect *effect = units[i]->status == PAWL_OK ? units[i]->effects : NULL;
        for (; effect != NULL; effect = effect->next)
            note_effect(engine, effect, &news);
    }
    if (news.is_jobs)
        pw_watches_tell_jobs(&engine->watches);
    if (news.is_due)
        pw_local_wake(engine, PW_NOW);
}
