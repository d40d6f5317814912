/* commit.c - see commit.h.
 *
 * `leading` is the baton: only the thread that set it touches the store's writer.  It stays set until the batch's
 * answers were given out, so a later unit of the same turn can see that an earlier one was not applied (C2).
 * Who lets go of the baton while units wait makes sure that somebody takes it up: a waiting thread, the serving
 * thread, or, with neither, the same thread again. */
#include "commit/commit.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/bar.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/thread.h"
#include "commit/chores.h"

enum { LINGER_MS = 2 };

struct lane {
    struct pw_commit *commit;
    pthread_t thread; /* the serving one, while there is one */
    pthread_mutex_t lock;
    pthread_cond_t server;          /* the serving thread waits here */
    pthread_cond_t room;            /* threads that wait for room wait here */
    struct pw_unit *first, **end;   /* end: where the next one is linked */
    atomic_size_t load, load_bytes; /* units that are not answered yet, and their size */
    bool leading;
    bool served;      /* there is a serving thread, or somebody who plays it */
    bool server_idle; /* it waits with nothing to do: the next submit wakes it */
    bool kicked;
};

struct pw_commit {
    struct pw_store *store;
    struct pw_commit_observer observer;
    struct pw_chores chores;
    atomic_bool is_closed; /* nothing is applied any more */
    size_t thread_count;   /* that were started: those of the lanes, in their order, then the one for chores */
    size_t lane_count;
    struct lane lanes[];
};

static bool lane_init(struct lane *lane, struct pw_commit *commit)
{
    lane->commit = commit;
    lane->end = &lane->first;
    if (pthread_mutex_init(&lane->lock, NULL) != 0)
        return false;
    if (!pw_cond_init(&lane->server))
        goto no_server;
    if (!pw_cond_init(&lane->room))
        goto no_room;
    return true;
no_room:
    (void)pthread_cond_destroy(&lane->server);
no_server:
    (void)pthread_mutex_destroy(&lane->lock);
    return false;
}

pawl_status pw_commit_new(struct pw_store *store, struct pw_commit_observer observer, struct pw_commit **out_commit)
{
    size_t wanted = store->ops->lanes != NULL ? store->ops->lanes(store) : 1;
    if (wanted == 0)
        wanted = 1;
    struct pw_commit *commit = calloc(1, sizeof *commit + wanted * sizeof commit->lanes[0]);
    if (commit == NULL)
        return PAWL_NOMEM;
    commit->store = store;
    commit->observer = observer;
    if (!pw_chores_init(&commit->chores)) {
        free(commit);
        return PAWL_NOMEM;
    }
    while (commit->lane_count < wanted && lane_init(&commit->lanes[commit->lane_count], commit))
        commit->lane_count++;
    if (commit->lane_count < wanted) {
        pw_commit_free(commit);
        return PAWL_NOMEM;
    }
    *out_commit = commit;
    return PAWL_OK;
}

size_t pw_commit_threads(const struct pw_commit *commit)
{
    return commit->lane_count + 1;
}

static struct lane *lane_of(struct pw_commit *commit, const struct pw_unit *unit)
{
    struct pw_store *store = commit->store;
    if (commit->lane_count == 1)
        return &commit->lanes[0];
    return &commit->lanes[store->ops->lane_of != NULL ? store->ops->lane_of(store, unit)
                                                      : unit->lane % commit->lane_count];
}

/* ---- Answering ----------------------------------------------------------------------------------------------- */

/* The user's code can fail a transaction as a whole, at its commit: for the unit whose code it is, that is a refusal. */
static enum pw_refusal refusal_of(pawl_status status)
{
    if (status == PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION)
        return PW_REFUSED_UNIQUE;
    return status == PAWL_STEP_MUTATION_FAILED ? PW_REFUSED_MUTATION_FAILED : PW_REFUSED_NOT;
}

static void refuse(struct pw_unit *unit, const struct pawl_error *error)
{
    unit->refusal = refusal_of(error->status);
    unit->status = error->status;
    unit->error = *error;
}

/* Breaks the chain before anybody can submit or apply the next of it.  A refusal that the turn can answer leaves it whole
 * (C2). */
static void note_chain(struct pw_unit *unit)
{
    bool keeps = unit->status == PAWL_OK || (unit->refusal != PW_REFUSED_NOT && pw_refusal_keeps_chain(unit->refusal));
    if (unit->chain != NULL && !keeps)
        atomic_store(&unit->chain->broken, (int)unit->status);
}

static bool chain_is_broken(struct pw_unit *unit)
{
    int broken = unit->chain != NULL ? atomic_load(&unit->chain->broken) : PAWL_OK;
    if (broken == PAWL_OK)
        return false;
    pw_error(&unit->error, (pawl_status)broken, "an earlier change of the same turn was not made");
    unit->refusal = PW_REFUSED_NOT;
    unit->status = (pawl_status)broken;
    return true;
}

static void answer_all(struct lane *lane, struct pw_unit **units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pw_unit *unit = units[i];
        if (unit->done != NULL) {
            unit->answered = true;
            pw_bar_store();
            unit->done(unit, unit->user); /* the unit may be gone now */
            pw_unbar_store();
            continue;
        }
        pthread_mutex_lock(&lane->lock);
        unit->answered = true;
        pthread_cond_signal(unit->user); /* its thread's: see pw_commit_run() */
        pthread_mutex_unlock(&lane->lock);
    }
}

/* ---- Applying ------------------------------------------------------------------------------------------------ */

static pawl_status apply_once(struct lane *lane, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct pw_store *store = lane->commit->store;
    const struct pw_commit_observer *observer = &lane->commit->observer;
    int64_t begun_ms = observer->monotonic_ms != NULL ? observer->monotonic_ms(observer->user) : 0;
    for (size_t i = 0; i < count; i++) {
        units[i]->undone = false;
        units[i]->begun_ms = begun_ms;
    }
    int64_t begun_us = pw_system_monotonic_us();
    pawl_status status = pw_ops(store)->apply(store, units, count, error);
    pw_bar_store();
    if (observer->applied != NULL)
        observer->applied(observer->user, units, count, status, pw_system_monotonic_us() - begun_us);
    pw_unbar_store();
    /* The whole transaction failed because the database is busy.  As the answer to a unit PAWL_BUSY means something else
     * (store.h). */
    error->status = status == PAWL_BUSY ? PAWL_STORE_UNAVAILABLE : status;
    return status;
}

/* The transaction failed as a whole.  If one unit is to blame its neighbours must not fail with it, so each gets a transaction
 * of its own.  There is no second try if it would fail the same way, or wait a bounded time again for each unit. */
static void apply_singly(struct lane *lane, struct pw_unit **units, size_t count, pawl_status why,
                         const struct pawl_error *whole)
{
    bool hopeless = count == 1 || why == PAWL_BUSY || why == PAWL_STORE_READ_ONLY || why == PAWL_STORE_CORRUPT;
    for (size_t i = 0; i < count; i++)
        hopeless = hopeless || !units[i]->undone; /* it may have been committed: another try could do it twice */
    for (size_t i = 0; i < count; i++) {
        struct pawl_error error = *whole;
        if (chain_is_broken(units[i]))
            continue;
        if (hopeless || apply_once(lane, &units[i], 1, &error) != PAWL_OK)
            refuse(units[i], &error);
        note_chain(units[i]);
    }
}

/* Breaks chains: no turn may take this for a refusal that it can answer. */
static void refuse_closed(struct pw_unit **units, size_t count)
{
    struct pawl_error stopped;
    pw_error(&stopped, PAWL_STOPPED, "the engine was closed");
    for (size_t i = 0; i < count; i++) {
        refuse(units[i], &stopped);
        note_chain(units[i]);
    }
}

static void apply_batch(struct lane *lane, struct pw_unit **units, size_t count)
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
    pawl_status status = apply_once(lane, live, live_count, &error);
    if (status != PAWL_OK) {
        apply_singly(lane, live, live_count, status, &error);
        return;
    }
    for (size_t i = 0; i < live_count; i++)
        note_chain(live[i]);
}

/* ---- Leading ------------------------------------------------------------------------------------------------- */

/* With the lock held, and nobody leading: one batch.  The lock is let go of in between. */
static void lead_once(struct lane *lane)
{
    struct pw_unit *batch[PW_UNITS_PER_COMMIT_MAX];
    size_t count = 0;
    lane->leading = true;
    lane->kicked = false;
    while (lane->first != NULL && count < PW_UNITS_PER_COMMIT_MAX) {
        batch[count++] = lane->first;
        lane->first = lane->first->next;
    }
    if (lane->first == NULL)
        lane->end = &lane->first;
    pthread_mutex_unlock(&lane->lock);
    if (atomic_load(&lane->commit->is_closed))
        refuse_closed(batch, count);
    else
        apply_batch(lane, batch, count);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += batch[i]->bytes;
    answer_all(lane, batch, count);
    atomic_fetch_sub(&lane->load, count);
    atomic_fetch_sub(&lane->load_bytes, bytes);
    pthread_mutex_lock(&lane->lock);
    lane->leading = false;
    pthread_cond_broadcast(&lane->room);
}

/* Somebody else who will lead what is left: a thread that waits for a queued unit, or the serving one. */
static bool pass_baton(struct lane *lane)
{
    if (lane->first == NULL)
        return true;
    if (lane->first->done == NULL) {
        pthread_cond_signal(lane->first->user);
        return true;
    }
    if (!lane->served)
        return false;
    lane->kicked = true;
    pthread_cond_signal(&lane->server);
    return true;
}

static void lead(struct lane *lane)
{
    do
        lead_once(lane);
    while (!pass_baton(lane));
}

static bool lane_lead(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    bool can = !lane->leading && lane->first != NULL;
    if (can)
        lead(lane);
    pthread_mutex_unlock(&lane->lock);
    return can;
}

/* Without serving threads the leader does what its callbacks left behind: units of other lanes, which they could not lead, and
 * chores.  With no lock held. */
static void clean_up(struct pw_commit *commit)
{
    if (pw_store_is_barred() || atomic_load(&commit->chores.served))
        return;
    do {
        for (size_t i = 0; i < commit->lane_count; i++)
            (void)lane_lead(&commit->lanes[i]);
    } while (pw_chores_drain(&commit->chores));
}

static void lane_submit(struct lane *lane, struct pw_unit *unit)
{
    unit->next = NULL;
    unit->answered = false;
    unit->bytes = pw_unit_bytes(unit);
    atomic_fetch_add(&lane->load, 1);
    atomic_fetch_add(&lane->load_bytes, unit->bytes);
    pthread_mutex_lock(&lane->lock);
    *lane->end = unit;
    lane->end = &unit->next;
    if (lane->server_idle && unit->done != NULL) { /* a thread that waits for its unit leads by itself */
        lane->server_idle = false;
        pthread_cond_signal(&lane->server);
    }
    pthread_mutex_unlock(&lane->lock);
}

pawl_status pw_commit_run(struct pw_commit *commit, struct pw_unit *unit)
{
    struct lane *lane = lane_of(commit, unit);
    pthread_cond_t answered;
    bool led = false;
    pw_assert_store_is_free();
    if (!pw_cond_init(&answered))
        return unit->status = PAWL_NOMEM;
    unit->done = NULL;
    unit->user = &answered;
    lane_submit(lane, unit);
    pthread_mutex_lock(&lane->lock);
    while (!unit->answered) {
        if (lane->leading) {
            pthread_cond_wait(&answered, &lane->lock);
        } else {
            lead(lane);
            led = true;
        }
    }
    pthread_mutex_unlock(&lane->lock);
    pthread_cond_destroy(&answered);
    if (led)
        clean_up(commit);
    return unit->status;
}

/* ---- Room ---------------------------------------------------------------------------------------------------- */

static bool is_full(struct lane *lane)
{
    return atomic_load(&lane->load) >= PW_QUEUE_UNITS_MAX || atomic_load(&lane->load_bytes) >= PW_QUEUE_BYTES_MAX;
}

bool pw_commit_has_room(struct pw_commit *commit, const struct pw_unit *unit)
{
    return !is_full(lane_of(commit, unit));
}

/* The lane of a unit without ops.  Only these two members decide it, and zeroing the others, with their room for an error text,
 * would cost more than the rest of a durable call that is answered from history. */
static struct lane *lane_of_number(struct pw_commit *commit, uint64_t number)
{
    struct pw_unit unit;
    unit.first = NULL;
    unit.lane = number;
    return lane_of(commit, &unit);
}

bool pw_commit_has_room_for(struct pw_commit *commit, uint64_t number)
{
    return !is_full(lane_of_number(commit, number));
}

void pw_commit_await_room(struct pw_commit *commit, uint64_t number)
{
    struct lane *lane = lane_of_number(commit, number);
    bool led = false;
    if (!is_full(lane))
        return;
    pw_assert_store_is_free();
    pthread_mutex_lock(&lane->lock);
    while (is_full(lane)) {
        if (!lane->leading && lane->first != NULL) {
            lead(lane);
            led = true;
        } else {
            pthread_cond_wait(&lane->room, &lane->lock);
        }
    }
    pthread_mutex_unlock(&lane->lock);
    if (led)
        clean_up(commit);
}

/* ---- Chores ------------------------------------------------------------------------------------------------- */

void pw_commit_later(struct pw_commit *commit, struct pw_chore *chore)
{
    if (pw_store_is_barred())
        pw_chores_add(&commit->chores, chore);
    else
        chore->run(chore->user);
}

bool pw_commit_do_chore(struct pw_commit *commit)
{
    return pw_chores_run_one(&commit->chores);
}

/* ---- The serving thread -------------------------------------------------------------------------------------- */

/* False: there is no such thread. */
static bool lane_kick(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    bool served = lane->served;
    if (lane->first != NULL && served && !lane->kicked) {
        lane->kicked = true;
        if (!lane->leading) /* otherwise the leader passes the baton on */
            pthread_cond_signal(&lane->server);
    }
    pthread_mutex_unlock(&lane->lock);
    return served;
}

void pw_commit_send(struct pw_commit *commit, struct pw_unit *unit)
{
    struct lane *lane = lane_of(commit, unit);
    lane_submit(lane, unit);
    if (lane_kick(lane) || pw_store_is_barred())
        return;
    (void)lane_lead(lane); /* false: whoever leads goes on until the queue is empty */
    clean_up(commit);
}

static void *lane_main(void *user)
{
    struct lane *lane = user;
    struct pw_unit *lingering = NULL; /* compared only: it was first in the queue some milliseconds ago */
    pthread_mutex_lock(&lane->lock);
    while (lane->served) {
        bool can_lead = lane->first != NULL && !lane->leading;
        if (can_lead && (lane->kicked || lane->first == lingering)) {
            lingering = NULL;
            lead_once(lane);
            (void)pass_baton(lane);
        } else if (lane->first != NULL) {
            lingering = lane->first;
            pw_cond_wait_ms(&lane->server, &lane->lock, LINGER_MS);
        } else {
            lingering = NULL;
            lane->server_idle = true;
            pthread_cond_wait(&lane->server, &lane->lock);
            lane->server_idle = false;
        }
    }
    if (lane->first != NULL && !lane->leading)
        lead(lane);
    pthread_mutex_unlock(&lane->lock);
    clean_up(lane->commit);
    return NULL;
}

/* ---- All lanes ----------------------------------------------------------------------------------------------- */

void pw_commit_submit(struct pw_commit *commit, struct pw_unit *unit)
{
    lane_submit(lane_of(commit, unit), unit);
}

bool pw_commit_lead(struct pw_commit *commit)
{
    bool led = false;
    for (size_t i = 0; i < commit->lane_count; i++)
        led = lane_lead(&commit->lanes[i]) || led;
    if (led)
        clean_up(commit);
    return led;
}

void pw_commit_kick(struct pw_commit *commit)
{
    for (size_t i = 0; i < commit->lane_count; i++)
        (void)lane_kick(&commit->lanes[i]);
}

void pw_commit_set_served(struct pw_commit *commit, bool served)
{
    for (size_t i = 0; i < commit->lane_count; i++) {
        struct lane *lane = &commit->lanes[i];
        pthread_mutex_lock(&lane->lock);
        lane->served = served;
        pthread_cond_signal(&lane->server);
        pthread_mutex_unlock(&lane->lock);
    }
    pw_chores_set_served(&commit->chores, served);
}

static bool start_thread(struct pw_commit *commit, size_t number)
{
    if (number == commit->lane_count)
        return pthread_create(&commit->chores.thread, NULL, pw_chores_main, &commit->chores) == 0;
    return pthread_create(&commit->lanes[number].thread, NULL, lane_main, &commit->lanes[number]) == 0;
}

bool pw_commit_start(struct pw_commit *commit)
{
    pw_commit_set_served(commit, true);
    while (commit->thread_count < pw_commit_threads(commit) && start_thread(commit, commit->thread_count))
        commit->thread_count++;
    if (commit->thread_count == pw_commit_threads(commit))
        return true;
    pw_commit_stop(commit);
    return false;
}

void pw_commit_stop(struct pw_commit *commit)
{
    pw_commit_set_served(commit, false);
    while (commit->thread_count > 0) {
        size_t number = --commit->thread_count;
        pthread_join(number < commit->lane_count ? commit->lanes[number].thread : commit->chores.thread, NULL);
    }
}

static void lane_clear(struct lane *lane)
{
    (void)pthread_cond_destroy(&lane->room);
    (void)pthread_cond_destroy(&lane->server);
    (void)pthread_mutex_destroy(&lane->lock);
}

void pw_commit_free(struct pw_commit *commit)
{
    if (commit == NULL)
        return;
    atomic_store(&commit->is_closed, true);
    clean_up(commit);
    for (size_t i = 0; i < commit->lane_count; i++)
        lane_clear(&commit->lanes[i]);
    pw_chores_clear(&commit->chores);
    free(commit);
}
