/* commit.c - see commit.h.
 *
 * `leading` is the baton of a queue: only the thread that set it applies the queue's units.  It stays set until the
 * batch is answered, so that a later unit of the same turn sees that an earlier one was not applied (C2).  A leader
 * that gives up the baton while units wait makes sure that another thread takes it: a thread that waits for its own
 * unit, or the serving thread.  If there is neither, it leads again itself.
 *
 * The life of a unit: queue_submit() links it; a leader takes it with all others that wait (lead_once()), applies
 * them (apply_batch()) and answers each of them (answer_all()). */
#include "commit/commit.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/bar.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "common/thread.h"
#include "commit/chores.h"

enum { LINGER_MS = 2 };

struct queue {
    struct pw_commit *commit;
    pthread_t thread; /* the serving thread, while there is one */
    pthread_mutex_t lock;
    pthread_cond_t server;          /* the serving thread waits here */
    pthread_cond_t room;            /* threads wait here for room */
    struct pw_unit *first, **end;   /* end: where the next unit is linked */
    atomic_size_t load, load_bytes; /* units that are not answered yet, and their bytes */
    bool leading;
    bool served;      /* there is a serving thread, or a test that plays it */
    bool server_idle; /* the serving thread sleeps because the queue is empty: the next submit wakes it */
    bool kicked;
};

struct pw_commit {
    struct pw_store *store;
    struct pw_commit_observer observer;
    struct pw_chores chores;
    atomic_bool is_closed; /* no unit is applied any more */
    size_t thread_count;   /* threads that run: those of the queues, in order, then the one for chores */
    size_t queue_count;
    struct queue queues[];
};

static bool queue_init(struct queue *queue, struct pw_commit *commit)
{
    queue->commit = commit;
    queue->end = &queue->first;
    if (pthread_mutex_init(&queue->lock, NULL) != 0)
        return false;
    if (!pw_cond_init(&queue->server))
        goto no_server;
    if (!pw_cond_init(&queue->room))
        goto no_room;
    return true;
no_room:
    (void)pthread_cond_destroy(&queue->server);
no_server:
    (void)pthread_mutex_destroy(&queue->lock);
    return false;
}

pawl_status pw_commit_new(struct pw_store *store, struct pw_commit_observer observer, struct pw_commit **out_commit)
{
    size_t wanted = store->ops->queues != NULL ? store->ops->queues(store) : 1;
    if (wanted == 0)
        wanted = 1;
    struct pw_commit *commit = calloc(1, sizeof *commit + wanted * sizeof commit->queues[0]);
    if (commit == NULL)
        return PAWL_NOMEM;
    commit->store = store;
    commit->observer = observer;
    if (!pw_chores_init(&commit->chores)) {
        free(commit);
        return PAWL_NOMEM;
    }
    while (commit->queue_count < wanted && queue_init(&commit->queues[commit->queue_count], commit))
        commit->queue_count++;
    if (commit->queue_count < wanted) {
        pw_commit_free(commit);
        return PAWL_NOMEM;
    }
    *out_commit = commit;
    return PAWL_OK;
}

size_t pw_commit_threads(const struct pw_commit *commit)
{
    return commit->queue_count + 1;
}

static struct queue *queue_of(struct pw_commit *commit, const struct pw_unit *unit)
{
    struct pw_store *store = commit->store;
    if (commit->queue_count == 1)
        return &commit->queues[0];
    return &commit->queues[store->ops->queue_of != NULL ? store->ops->queue_of(store, unit)
                                                        : unit->about % commit->queue_count];
}

/* ---- Answering ----------------------------------------------------------------------------------------------- */

/* User code can fail a transaction as a whole, at its commit.  For the unit with that code this is a refusal. */
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

/* Breaks the chain of a unit that was not applied, before the next unit of the chain can be applied.  A refusal that
 * the turn can answer leaves the chain whole (C2). */
static void note_chain(struct pw_unit *unit)
{
    bool keeps = unit->status == PAWL_OK || (unit->refusal != PW_REFUSED_NOT && pw_refusal_keeps_chain(unit->refusal));
    if (unit->chain != NULL && !keeps)
        atomic_store(&unit->chain->broken, (int)unit->status);
}

/* True if the chain is broken: answers the unit with what broke it. */
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

static void answer_all(struct queue *queue, struct pw_unit **units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pw_unit *unit = units[i];
        if (unit->done != NULL) {
            unit->answered = true;
            pw_bar_store();
            unit->done(unit, unit->user); /* the unit may be freed now */
            pw_unbar_store();
            continue;
        }
        pthread_mutex_lock(&queue->lock);
        unit->answered = true;
        pthread_cond_signal(unit->user); /* the condition of the waiting thread: see pw_commit_run() */
        pthread_mutex_unlock(&queue->lock);
    }
}

/* ---- Applying ------------------------------------------------------------------------------------------------ */

static pawl_status apply_once(struct queue *queue, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct pw_store *store = queue->commit->store;
    const struct pw_commit_observer *observer = &queue->commit->observer;
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
    /* The whole transaction failed because the database is busy.  PAWL_BUSY as the answer to one unit has another
     * meaning (store.h). */
    error->status = status == PAWL_BUSY ? PAWL_STORE_UNAVAILABLE : status;
    return status;
}

/* The transaction failed as a whole.  One bad unit must not fail its neighbours, so each unit gets a transaction of
 * its own (C3).  There is no second try if it would fail in the same way, or would wait a bounded time again for
 * each unit. */
static void apply_singly(struct queue *queue, struct pw_unit **units, size_t count, pawl_status why,
                         const struct pawl_error *whole)
{
    bool hopeless = count == 1 || why == PAWL_BUSY || why == PAWL_STORE_READ_ONLY || why == PAWL_STORE_CORRUPT;
    for (size_t i = 0; i < count; i++)
        /* It may have been committed, and a second try could apply it twice. */
        hopeless = hopeless || !units[i]->undone;
    for (size_t i = 0; i < count; i++) {
        struct pawl_error error = *whole;
        if (chain_is_broken(units[i]))
            continue;
        if (hopeless || apply_once(queue, &units[i], 1, &error) != PAWL_OK)
            refuse(units[i], &error);
        note_chain(units[i]);
    }
}

/* Refuses all units, and breaks their chains, because no turn may take this for a refusal that it can answer. */
static void refuse_closed(struct pw_unit **units, size_t count)
{
    struct pawl_error stopped;
    pw_error(&stopped, PAWL_STOPPED, "the engine was closed");
    for (size_t i = 0; i < count; i++) {
        refuse(units[i], &stopped);
        note_chain(units[i]);
    }
}

static void apply_batch(struct queue *queue, struct pw_unit **units, size_t count)
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
    pawl_status status = apply_once(queue, live, live_count, &error);
    if (status != PAWL_OK) {
        apply_singly(queue, live, live_count, status, &error);
        return;
    }
    for (size_t i = 0; i < live_count; i++)
        note_chain(live[i]);
}

/* ---- Leading ------------------------------------------------------------------------------------------------- */

/* With the lock held, and nobody leading: applies and answers one batch.  Drops the lock meanwhile. */
static void lead_once(struct queue *queue)
{
    struct pw_unit *batch[PW_UNITS_PER_COMMIT_MAX];
    size_t count = 0;
    queue->leading = true;
    queue->kicked = false;
    while (queue->first != NULL && count < PW_UNITS_PER_COMMIT_MAX) {
        batch[count++] = queue->first;
        queue->first = queue->first->next;
    }
    if (queue->first == NULL)
        queue->end = &queue->first;
    pthread_mutex_unlock(&queue->lock);
    if (atomic_load(&queue->commit->is_closed))
        refuse_closed(batch, count);
    else
        apply_batch(queue, batch, count);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += batch[i]->bytes;
    answer_all(queue, batch, count);
    atomic_fetch_sub(&queue->load, count);
    atomic_fetch_sub(&queue->load_bytes, bytes);
    pthread_mutex_lock(&queue->lock);
    queue->leading = false;
    pthread_cond_broadcast(&queue->room);
}

/* With the lock held: makes sure that another thread leads what is left.  That is a thread that waits for the first
 * unit, or the serving thread.  False: there is neither. */
static bool pass_baton(struct queue *queue)
{
    if (queue->first == NULL)
        return true;
    if (queue->first->done == NULL) {
        pthread_cond_signal(queue->first->user);
        return true;
    }
    if (!queue->served)
        return false;
    queue->kicked = true;
    pthread_cond_signal(&queue->server);
    return true;
}

static void lead(struct queue *queue)
{
    do
        lead_once(queue);
    while (!pass_baton(queue));
}

static bool queue_lead(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool can = !queue->leading && queue->first != NULL;
    if (can)
        lead(queue);
    pthread_mutex_unlock(&queue->lock);
    return can;
}

/* Without serving threads, the leader does what its callbacks could not: it leads units of other queues, and runs
 * chores.  With no lock held. */
static void clean_up(struct pw_commit *commit)
{
    if (pw_store_is_barred() || atomic_load(&commit->chores.served))
        return;
    do {
        for (size_t i = 0; i < commit->queue_count; i++)
            (void)queue_lead(&commit->queues[i]);
    } while (pw_chores_drain(&commit->chores));
}

static void queue_submit(struct queue *queue, struct pw_unit *unit)
{
    unit->next = NULL;
    unit->answered = false;
    unit->bytes = pw_unit_bytes(unit);
    atomic_fetch_add(&queue->load, 1);
    atomic_fetch_add(&queue->load_bytes, unit->bytes);
    pthread_mutex_lock(&queue->lock);
    *queue->end = unit;
    queue->end = &unit->next;
    if (queue->server_idle && unit->done != NULL) { /* a thread that waits for its own unit leads itself */
        queue->server_idle = false;
        pthread_cond_signal(&queue->server);
    }
    pthread_mutex_unlock(&queue->lock);
}

pawl_status pw_commit_run(struct pw_commit *commit, struct pw_unit *unit)
{
    struct queue *queue = queue_of(commit, unit);
    pthread_cond_t answered;
    bool led = false;
    pw_assert_store_is_free();
    if (!pw_cond_init(&answered))
        return unit->status = PAWL_NOMEM;
    unit->done = NULL;
    unit->user = &answered;
    queue_submit(queue, unit);
    pthread_mutex_lock(&queue->lock);
    while (!unit->answered) {
        if (queue->leading) {
            pthread_cond_wait(&answered, &queue->lock);
        } else {
            lead(queue);
            led = true;
        }
    }
    pthread_mutex_unlock(&queue->lock);
    pthread_cond_destroy(&answered);
    if (led)
        clean_up(commit);
    return unit->status;
}

/* ---- Room ---------------------------------------------------------------------------------------------------- */

static bool is_full(struct queue *queue)
{
    return atomic_load(&queue->load) >= PW_QUEUE_UNITS_MAX || atomic_load(&queue->load_bytes) >= PW_QUEUE_BYTES_MAX;
}

bool pw_commit_has_room(struct pw_commit *commit, const struct pw_unit *unit)
{
    return !is_full(queue_of(commit, unit));
}

/* The queue of a unit without ops.  Only these two members decide it.  Zeroing the rest of the unit, with its room
 * for an error text, would cost more than the rest of a durable call that is answered from history. */
static struct queue *queue_about(struct pw_commit *commit, uint64_t about)
{
    struct pw_unit unit;
    unit.first = NULL;
    unit.about = about;
    return queue_of(commit, &unit);
}

bool pw_commit_has_room_for(struct pw_commit *commit, uint64_t about)
{
    return !is_full(queue_about(commit, about));
}

void pw_commit_await_room(struct pw_commit *commit, uint64_t about)
{
    struct queue *queue = queue_about(commit, about);
    bool led = false;
    if (!is_full(queue))
        return;
    pw_assert_store_is_free();
    pthread_mutex_lock(&queue->lock);
    while (is_full(queue)) {
        if (!queue->leading && queue->first != NULL) {
            lead(queue);
            led = true;
        } else {
            pthread_cond_wait(&queue->room, &queue->lock);
        }
    }
    pthread_mutex_unlock(&queue->lock);
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

/* Tells the serving thread to lead now.  False: there is none. */
static bool queue_kick(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool served = queue->served;
    if (queue->first != NULL && served && !queue->kicked) {
        queue->kicked = true;
        if (!queue->leading) /* otherwise the leader passes the baton to it */
            pthread_cond_signal(&queue->server);
    }
    pthread_mutex_unlock(&queue->lock);
    return served;
}

void pw_commit_send(struct pw_commit *commit, struct pw_unit *unit)
{
    struct queue *queue = queue_of(commit, unit);
    queue_submit(queue, unit);
    if (queue_kick(queue) || pw_store_is_barred())
        return;
    (void)queue_lead(queue); /* false: the present leader goes on until the queue is empty */
    clean_up(commit);
}

/* The serving thread of a queue.  It leads when it is kicked, or when the first unit has waited for LINGER_MS: until
 * then a thread that waits for its own unit is likely to lead. */
static void *queue_main(void *user)
{
    struct queue *queue = user;
    struct pw_unit *lingering = NULL; /* was the first unit at the last look; only compared, never read */
    pthread_mutex_lock(&queue->lock);
    while (queue->served) {
        bool can_lead = queue->first != NULL && !queue->leading;
        if (can_lead && (queue->kicked || queue->first == lingering)) {
            lingering = NULL;
            lead_once(queue);
            (void)pass_baton(queue);
        } else if (queue->first != NULL) {
            lingering = queue->first;
            pw_cond_wait_ms(&queue->server, &queue->lock, LINGER_MS);
        } else {
            lingering = NULL;
            queue->server_idle = true;
            pthread_cond_wait(&queue->server, &queue->lock);
            queue->server_idle = false;
        }
    }
    if (queue->first != NULL && !queue->leading)
        lead(queue);
    pthread_mutex_unlock(&queue->lock);
    clean_up(queue->commit);
    return NULL;
}

/* ---- All queues ----------------------------------------------------------------------------------------------- */

void pw_commit_submit(struct pw_commit *commit, struct pw_unit *unit)
{
    queue_submit(queue_of(commit, unit), unit);
}

bool pw_commit_lead(struct pw_commit *commit)
{
    bool led = false;
    for (size_t i = 0; i < commit->queue_count; i++)
        led = queue_lead(&commit->queues[i]) || led;
    if (led)
        clean_up(commit);
    return led;
}

void pw_commit_kick(struct pw_commit *commit)
{
    for (size_t i = 0; i < commit->queue_count; i++)
        (void)queue_kick(&commit->queues[i]);
}

void pw_commit_set_served(struct pw_commit *commit, bool served)
{
    for (size_t i = 0; i < commit->queue_count; i++) {
        struct queue *queue = &commit->queues[i];
        pthread_mutex_lock(&queue->lock);
        queue->served = served;
        pthread_cond_signal(&queue->server);
        pthread_mutex_unlock(&queue->lock);
    }
    pw_chores_set_served(&commit->chores, served);
}

static bool start_thread(struct pw_commit *commit, size_t number)
{
    if (number == commit->queue_count)
        return pthread_create(&commit->chores.thread, NULL, pw_chores_main, &commit->chores) == 0;
    return pthread_create(&commit->queues[number].thread, NULL, queue_main, &commit->queues[number]) == 0;
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
        pthread_join(number < commit->queue_count ? commit->queues[number].thread : commit->chores.thread, NULL);
    }
}

static void queue_clear(struct queue *queue)
{
    (void)pthread_cond_destroy(&queue->room);
    (void)pthread_cond_destroy(&queue->server);
    (void)pthread_mutex_destroy(&queue->lock);
}

void pw_commit_free(struct pw_commit *commit)
{
    if (commit == NULL)
        return;
    atomic_store(&commit->is_closed, true);
    clean_up(commit);
    for (size_t i = 0; i < commit->queue_count; i++)
        queue_clear(&commit->queues[i]);
    pw_chores_clear(&commit->chores);
    free(commit);
}
