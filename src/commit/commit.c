/* commit.c - see commit.h.
 *
 * `leading` is the baton: only the thread that set it touches the store's writer.  It stays set until the batch's
 * answers were given out, so a later unit of the same turn can see that an earlier one was not applied (C2).
 * Who lets go of the baton while units wait makes sure that somebody takes it up: a waiting thread, the serving
 * thread, or, with neither, the same thread again. */
#include "commit/commit.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/thread.h"

enum { LINGER_MS = 2 };

struct pw_commit {
    struct pw_store *store;
    struct pw_commit_observer observer;
    pthread_mutex_t lock;
    pthread_cond_t server; /* the serving thread waits here */
    struct pw_unit *first, *last;
    bool leading;
    bool serving;     /* a thread is in pw_commit_serve() */
    bool server_idle; /* it waits with nothing to do: the next submit wakes it */
    bool kicked;
    bool dismissed;
    int64_t commits, units;
};

/* A thread that blocks for its unit; on that thread's stack. */
struct waiter {
    pthread_cond_t wake;
};

pawl_status pw_commit_new(struct pw_store *store, struct pw_commit_observer observer, struct pw_commit **out_commit)
{
    struct pw_commit *commit = calloc(1, sizeof *commit);
    if (commit == NULL)
        return PAWL_NOMEM;
    commit->store = store;
    commit->observer = observer;
    if (pthread_mutex_init(&commit->lock, NULL) != 0)
        goto no_lock;
    if (!pw_cond_init(&commit->server))
        goto no_cond;
    *out_commit = commit;
    return PAWL_OK;
no_cond:
    pthread_mutex_destroy(&commit->lock);
no_lock:
    free(commit);
    return PAWL_NOMEM;
}

/* ---- Answering ----------------------------------------------------------------------------------------------- */

/* Refusals that the turn can answer leave its chain whole (C2). */
static bool breaks_chain(pawl_status status)
{
    return status != PAWL_OK && status != PAWL_STOPPED && status != PAWL_BUSY &&
           status != PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION && status != PAWL_STEP_MUTATION_FAILED &&
           status != PAWL_INSTANCE_ID_ALREADY_EXISTS;
}

static void refuse(struct pw_unit *unit, const struct pawl_error *error)
{
    unit->status = error->status;
    unit->error = *error;
}

/* Breaks the chain before anybody can submit or apply the next of it. */
static void note_chain(struct pw_unit *unit)
{
    if (unit->chain != NULL && breaks_chain(unit->status))
        atomic_store(&unit->chain->broken, (int)unit->status);
}

static bool chain_is_broken(struct pw_unit *unit)
{
    int broken = unit->chain != NULL ? atomic_load(&unit->chain->broken) : PAWL_OK;
    if (broken == PAWL_OK)
        return false;
    pw_error(&unit->error, (pawl_status)broken, "an earlier change of the same turn was not made");
    unit->status = (pawl_status)broken;
    return true;
}

static void answer_all(struct pw_commit *commit, struct pw_unit **units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pw_unit *unit = units[i];
        if (unit->done != NULL) {
            unit->answered = true;
            unit->done(unit, unit->user); /* the unit may be gone now */
            continue;
        }
        pthread_mutex_lock(&commit->lock);
        unit->answered = true;
        if (unit->user != NULL)
            pthread_cond_signal(&((struct waiter *)unit->user)->wake);
        pthread_mutex_unlock(&commit->lock);
    }
}

/* ---- Applying ------------------------------------------------------------------------------------------------ */

static pawl_status apply_once(struct pw_commit *commit, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    const struct pw_store_ops *ops = commit->store->ops;
    for (size_t i = 0; i < count; i++)
        units[i]->undone = false;
    int64_t begun_us = pw_system_monotonic_us();
    pawl_status status = ops->apply(commit->store, units, count, ops->now_ms(commit->store), error);
    if (commit->observer.applied != NULL)
        commit->observer.applied(commit->observer.user, units, count, status, pw_system_monotonic_us() - begun_us);
    if (status == PAWL_OK) {
        pthread_mutex_lock(&commit->lock);
        commit->commits++;
        commit->units += (int64_t)count;
        pthread_mutex_unlock(&commit->lock);
        return PAWL_OK;
    }
    error->status = status;
    /* A busy database is the whole's trouble; PAWL_BUSY as a unit's answer means something else (store.h). */
    if (status == PAWL_BUSY)
        error->status = PAWL_STORE_UNAVAILABLE;
    return status;
}

/* The whole failed.  Trouble that lies in one unit must not fail its neighbours, so each gets a transaction of its
 * own; but what has already taken its bounded time, or cannot be otherwise, is not tried a hundred times more. */
static void apply_singly(struct pw_commit *commit, struct pw_unit **units, size_t count, pawl_status why,
                         const struct pawl_error *whole)
{
    bool hopeless = count == 1 || why == PAWL_BUSY || why == PAWL_STORE_READ_ONLY || why == PAWL_STORE_CORRUPT;
    for (size_t i = 0; i < count; i++)
        hopeless = hopeless || !units[i]->undone; /* it may have happened: to do it again could do it twice */
    for (size_t i = 0; i < count; i++) {
        struct pawl_error error = *whole;
        if (chain_is_broken(units[i]))
            continue;
        if (hopeless || apply_once(commit, &units[i], 1, &error) != PAWL_OK)
            refuse(units[i], &error);
        note_chain(units[i]);
    }
}

static void apply_batch(struct pw_commit *commit, struct pw_unit **units, size_t count)
{
    struct pw_unit *live[PW_UNITS_PER_COMMIT_MAX];
    size_t live_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!chain_is_broken(units[i]))
            live[live_count++] = units[i];
    }
    if (live_count == 0)
        return;
    struct pawl_error error = { PAWL_OK, "" };
    pawl_status status = apply_once(commit, live, live_count, &error);
    if (status != PAWL_OK) {
        apply_singly(commit, live, live_count, status, &error);
        return;
    }
    for (size_t i = 0; i < live_count; i++)
        note_chain(live[i]);
}

/* ---- Leading ------------------------------------------------------------------------------------------------- */

/* With the lock held, and nobody leading: one batch.  The lock is let go of in between. */
static void lead_once(struct pw_commit *commit)
{
    struct pw_unit *batch[PW_UNITS_PER_COMMIT_MAX];
    size_t count = 0;
    commit->leading = true;
    commit->kicked = false;
    while (commit->first != NULL && count < PW_UNITS_PER_COMMIT_MAX) {
        batch[count++] = commit->first;
        commit->first = commit->first->next;
    }
    if (commit->first == NULL)
        commit->last = NULL;
    pthread_mutex_unlock(&commit->lock);
    apply_batch(commit, batch, count);
    answer_all(commit, batch, count);
    pthread_mutex_lock(&commit->lock);
    commit->leading = false;
}

/* Somebody else who will lead what is left: a thread that waits for a queued unit, or the serving one. */
static bool pass_baton(struct pw_commit *commit)
{
    if (commit->first == NULL)
        return true;
    if (commit->first->done == NULL && commit->first->user != NULL) {
        pthread_cond_signal(&((struct waiter *)commit->first->user)->wake);
        return true;
    }
    if (!commit->serving)
        return false;
    commit->kicked = true;
    pthread_cond_signal(&commit->server);
    return true;
}

static void lead(struct pw_commit *commit)
{
    do
        lead_once(commit);
    while (!pass_baton(commit));
}

bool pw_commit_lead(struct pw_commit *commit)
{
    pthread_mutex_lock(&commit->lock);
    bool can = !commit->leading && commit->first != NULL;
    if (can)
        lead(commit);
    pthread_mutex_unlock(&commit->lock);
    return can;
}

void pw_commit_submit(struct pw_commit *commit, struct pw_unit *unit)
{
    unit->next = NULL;
    unit->answered = false;
    pthread_mutex_lock(&commit->lock);
    if (commit->last != NULL)
        commit->last->next = unit;
    else
        commit->first = unit;
    commit->last = unit;
    if (commit->server_idle && unit->done != NULL) { /* a thread that waits for its unit leads by itself */
        commit->server_idle = false;
        pthread_cond_signal(&commit->server);
    }
    pthread_mutex_unlock(&commit->lock);
}

pawl_status pw_commit_run(struct pw_commit *commit, struct pw_unit *unit)
{
    struct waiter waiter;
    if (!pw_cond_init(&waiter.wake))
        return unit->status = PAWL_NOMEM;
    unit->done = NULL;
    unit->user = &waiter;
    pw_commit_submit(commit, unit);
    pthread_mutex_lock(&commit->lock);
    while (!unit->answered) {
        if (!commit->leading)
            lead(commit);
        else
            pthread_cond_wait(&waiter.wake, &commit->lock);
    }
    pthread_mutex_unlock(&commit->lock);
    pthread_cond_destroy(&waiter.wake);
    return unit->status;
}

/* ---- The serving thread -------------------------------------------------------------------------------------- */

void pw_commit_kick(struct pw_commit *commit)
{
    pthread_mutex_lock(&commit->lock);
    if (commit->first != NULL && commit->serving && !commit->kicked) {
        commit->kicked = true;
        if (!commit->leading) /* else whoever leads sees to it afterwards */
            pthread_cond_signal(&commit->server);
    }
    pthread_mutex_unlock(&commit->lock);
}

void pw_commit_send(struct pw_commit *commit, struct pw_unit *unit)
{
    pw_commit_submit(commit, unit);
    pthread_mutex_lock(&commit->lock);
    bool serving = commit->serving;
    pthread_mutex_unlock(&commit->lock);
    if (serving)
        pw_commit_kick(commit);
    else
        (void)pw_commit_lead(commit); /* false: whoever leads goes on until the queue is empty */
}

void pw_commit_serve(struct pw_commit *commit)
{
    struct pw_unit *lingering = NULL; /* compared only: it was first in the queue some milliseconds ago */
    pthread_mutex_lock(&commit->lock);
    while (!commit->dismissed) {
        bool can_lead = commit->first != NULL && !commit->leading;
        if (can_lead && (commit->kicked || commit->first == lingering)) {
            lingering = NULL;
            lead_once(commit);
            (void)pass_baton(commit);
        } else if (commit->first != NULL) {
            lingering = commit->first;
            pw_cond_wait_ms(&commit->server, &commit->lock, LINGER_MS);
        } else {
            lingering = NULL;
            commit->server_idle = true;
            pthread_cond_wait(&commit->server, &commit->lock);
            commit->server_idle = false;
        }
    }
    commit->serving = false;
    if (commit->first != NULL && !commit->leading)
        lead(commit);
    pthread_mutex_unlock(&commit->lock);
}

void pw_commit_engage(struct pw_commit *commit)
{
    pthread_mutex_lock(&commit->lock);
    commit->serving = true;
    commit->dismissed = false;
    pthread_mutex_unlock(&commit->lock);
}

void pw_commit_dismiss(struct pw_commit *commit)
{
    pthread_mutex_lock(&commit->lock);
    commit->dismissed = true;
    commit->serving = false;
    pthread_cond_signal(&commit->server);
    pthread_mutex_unlock(&commit->lock);
}

void pw_commit_stats(struct pw_commit *commit, int64_t *out_commits, int64_t *out_units)
{
    pthread_mutex_lock(&commit->lock);
    *out_commits = commit->commits;
    *out_units = commit->units;
    pthread_mutex_unlock(&commit->lock);
}

void pw_commit_free(struct pw_commit *commit)
{
    if (commit == NULL)
        return;
    struct pawl_error stopped;
    pw_error(&stopped, PAWL_STOPPED, "the engine was closed");
    while (commit->first != NULL) {
        struct pw_unit *unit = commit->first;
        commit->first = unit->next;
        refuse(unit, &stopped);
        answer_all(commit, &unit, 1);
    }
    pthread_cond_destroy(&commit->server);
    pthread_mutex_destroy(&commit->lock);
    free(commit);
}
