/* runner.c - opening, starting, stopping and ticking a runner.  See include/pawl/runner.h.
 *
 * A runner is used in one of three ways.  A started runner has threads: workers (work.c) and a keeper (keeper.c),
 * and services hand runs to it directly (struct pw_local).  A ticking runner carries due runs in its host's thread,
 * one after the other, with a keeper only while the tick lasts.  A polled runner hands claimed runs to its host,
 * which drives their turns by hand. */
#include "runner/runner.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "common/thread.h"

enum { TICK_INSTANCES_DEFAULT = 100 };

/* ---- What services tell every runner ----------------------------------------------------------------------------- */

static void tell_turn(pawl_runner *runner, pawl_turn *turn, const struct pw_word *word)
{
    int64_t run = pw_turn_claim(turn)->fence.run;
    switch (word->kind) {
    case PW_WORD_REVOKED: /* the run was ended or restarted; a turn of the new run may already be here */
        if (run <= word->run)
            pw_turn_revoke(turn);
        break;
    case PW_WORD_PAUSE: /* so that user code hears of it before the next commit */
        pw_turn_ask_to_pause(turn);
        break;
    case PW_WORD_DEMAND: /* so that the next durable call hears of it, even without a commit before it */
        if (run == word->run)
            pw_turn_demand(turn, word->demand);
        break;
    case PW_WORD_EVENT: /* so that a waiting branch goes on while its siblings are busy */
        if (run == word->run)
            pw_turn_hear_of_event(turn, word->seq);
        pw_runner_stir(runner, turn, PW_NOW);
        break;
    }
}

/* Passes a message on to the turns of the instance that this runner holds. */
static void hear(void *user, const struct pw_word *word)
{
    pawl_runner *runner = user;
    pthread_mutex_lock(&runner->lock);
    for (pawl_turn *turn = runner->held; turn != NULL; turn = pw_turn_hosted(turn)->held_next) {
        if (pw_turn_claim(turn)->fence.instance == word->instance)
            tell_turn(runner, turn, word);
    }
    pthread_mutex_unlock(&runner->lock);
}

/* Stops the runner, gives back owed leases, and detaches it from the engine. */
static void detach(void *user)
{
    pawl_runner *runner = user;
    pawl_runner_stop(runner);
    pw_runner_pay_owed(runner);
    while (runner->owed != NULL) {
        struct pw_owed *owed = runner->owed;
        runner->owed = owed->next;
        free(owed);
    }
    if (runner->announced)
        pw_ops(runner->engine->store)->withdraw(runner->engine->store, runner->owner);
    runner->engine = NULL;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static bool is_fit_name(const char *name)
{
    struct pw_text text = pw_text_of(name);
    return name == NULL || (text.size > 0 && text.size < PW_RUNNER_NAME_SIZE && pw_text_is_utf8(text));
}

static bool fill_options(struct pawl_runner_options *options)
{
    if (options->workers < 0 || options->workers > PW_WORKERS_MAX || options->in_flight_max < 0 ||
        options->poll_ms < 0 || options->poll_ms > PW_DELAY_MS_MAX || options->lease_ms > PW_DELAY_MS_MAX ||
        options->cache_bytes < -1 || !is_fit_name(options->name) ||
        (options->lease_ms != 0 && options->lease_ms < PW_LEASE_MS_MIN) || options->code_ms_max < -1 ||
        options->code_ms_max > PW_DELAY_MS_MAX || options->blocked_max < 0)
        return false;
    options->workers = options->workers != 0 ? options->workers : PW_WORKERS_DEFAULT;
    options->in_flight_max = options->in_flight_max != 0 ? options->in_flight_max : PW_IN_FLIGHT_DEFAULT;
    if (options->in_flight_max < options->workers)
        options->in_flight_max = options->workers;
    options->lease_ms = options->lease_ms != 0 ? options->lease_ms : PW_LEASE_MS_DEFAULT;
    options->poll_ms = options->poll_ms != 0 ? options->poll_ms : PW_POLL_MS_DEFAULT;
    options->cache_bytes = options->cache_bytes != 0 ? options->cache_bytes : PW_CACHE_BYTES_DEFAULT;
    options->code_ms_max = options->code_ms_max != 0 ? options->code_ms_max : PW_CODE_MS_DEFAULT;
    options->blocked_max = options->blocked_max != 0 ? options->blocked_max : PW_BLOCKED_DEFAULT;
    return true;
}

pawl_status pawl_runner_open(pawl_engine *engine, const struct pawl_runner_options *given, pawl_runner **out_runner,
                             struct pawl_error *error)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    if (engine == NULL || out_runner == NULL || !pw_options_copy(&options, sizeof options, given))
        return pw_error(error, PAWL_INVALID, "a runner needs an engine, and options made by PAWL_RUNNER_OPTIONS_INIT");
    if (!fill_options(&options))
        return pw_error(
            error, PAWL_INVALID,
            "runner options out of range: workers 1 to %d, lease_ms %d or more, cache_bytes and code_ms_max -1"
            " or more, the other numbers not negative, name 1 to %d bytes of UTF-8",
            PW_WORKERS_MAX, PW_LEASE_MS_MIN, PW_RUNNER_NAME_SIZE - 1);
    pawl_runner *runner = calloc(1, sizeof *runner);
    if (runner == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    runner->engine = engine;
    runner->options = options;
    runner->owner = pw_engine_make_owner(engine);
    runner->host = pw_runner_host(runner);
    runner->cache.bytes_max = options.cache_bytes > 0 ? (size_t)options.cache_bytes : 0;
    runner->window = options.workers;
    runner->keeper_until_ms = runner->keeper_until_monotonic_ms = INT64_MIN;
    runner->parked_due_ms = INT64_MAX;
    runner->ready_end = &runner->ready_first;
    runner->started_at_ms = pawl_now_ms(engine);
    pw_runner_make_name(runner->name, options.name);
    runner->options.name = runner->name;
    atomic_init(&runner->steps_left, -1);
    pthread_mutex_init(&runner->lock, NULL);
    pthread_mutex_init(&runner->tick_lock, NULL);
    pthread_mutex_init(&runner->tick_keeper_lock, NULL);
    if (!pw_cond_init(&runner->work) || !pw_cond_init(&runner->watch) || !pw_cond_init(&runner->left)) {
        free(runner);
        return pw_error_plain(error, PAWL_NOMEM);
    }
    runner->peer = (struct pw_peer){ .runner = runner, .hear = hear, .close = detach };
    pw_engine_join(engine, &runner->peer);
    *out_runner = runner;
    return PAWL_OK;
}

void pawl_runner_close(pawl_runner *runner)
{
    if (runner == NULL)
        return;
    if (runner->engine != NULL) {
        pw_engine_leave(runner->engine, &runner->peer);
        detach(runner);
    }
    pw_cache_clear(&runner->cache);
    pw_view_clear(&runner->view);
    pthread_cond_destroy(&runner->left);
    pthread_cond_destroy(&runner->watch);
    pthread_cond_destroy(&runner->work);
    pthread_mutex_destroy(&runner->tick_keeper_lock);
    pthread_mutex_destroy(&runner->tick_lock);
    pthread_mutex_destroy(&runner->lock);
    free(runner);
}

/* Announces the runner to other processes, and seals the registry.  by_hand: for a tick or a poll, which takes what
 * its host asks for from all shares. */
static pawl_status join_in(pawl_runner *runner, bool by_hand, struct pawl_error *error)
{
    pawl_engine *engine = runner->engine;
    pawl_status status = PAWL_OK;
    pthread_mutex_lock(&runner->lock);
    bool is_new = !runner->announced;
    if (is_new)
        status = pw_ops(engine->store)->announce(engine->store, runner->owner, error);
    runner->announced = status == PAWL_OK;
    pthread_mutex_unlock(&runner->lock);
    if (status != PAWL_OK)
        return status;
    pthread_mutex_lock(&engine->lock);
    engine->sealed = true;
    pthread_mutex_unlock(&engine->lock);
    if (by_hand && is_new)
        pw_runner_describe(runner, false);
    return by_hand ? pawl_check_schema(engine, error) : PAWL_OK;
}

/* ---- The eager hand-off, for services ---------------------------------------------------------------------------- */

/* Promises a place to a service.  Its unit then gives the run's lease to this runner in the transaction that makes
 * the run due, and local_deliver() follows after the commit. */
static int64_t local_reserve(void *user, struct pw_text workflow, int64_t *out_lease_ms)
{
    pawl_runner *runner = user;
    struct pw_definition *definition = workflow.data != NULL ? pw_engine_find(runner->engine, workflow) : NULL;
    bool is_ours = workflow.data == NULL || (definition != NULL && definition->advance != NULL);
    int64_t owner = 0;
    /* A turn that asks for any workflow holds its own lock, so it must not wait for the runner's (see the lock order
     * in runner.h). */
    if (workflow.data != NULL)
        pthread_mutex_lock(&runner->lock);
    else if (pthread_mutex_trylock(&runner->lock) != 0)
        return 0;
    if (is_ours && pw_runner_room(runner) > 0) {
        runner->reserved++;
        owner = runner->owner;
        *out_lease_ms = runner->options.lease_ms;
    }
    pthread_mutex_unlock(&runner->lock);
    return owner;
}

static void local_deliver(void *user, const struct pw_claim *claim)
{
    pawl_runner *runner = user;
    if (claim != NULL)
        pw_runner_accept(runner, claim);
    pthread_mutex_lock(&runner->lock);
    runner->reserved--;
    pthread_cond_broadcast(&runner->left);
    if (atomic_load(&runner->stopping))
        pthread_cond_signal(&runner->watch);
    else if (claim == NULL)
        pw_runner_wake_keeper(runner, runner->next_due_ms); /* there is room again */
    pthread_mutex_unlock(&runner->lock);
}

static void local_wake(void *user, int64_t due_at_ms)
{
    pawl_runner *runner = user;
    pthread_mutex_lock(&runner->lock);
    pw_runner_wake_keeper(runner, due_at_ms);
    pthread_mutex_unlock(&runner->lock);
}

/* Another process has made something due. */
static void hear_of_due(void *user)
{
    local_wake(user, PW_NOW);
}

/* Asks the store to report what other processes make due.  Not every store can. */
static void listen_for_due(pawl_runner *runner, bool on)
{
    struct pw_store *store = runner->engine->store;
    if (pw_ops(store)->listen != NULL)
        pw_ops(store)->listen(store, on ? hear_of_due : NULL, runner);
}

/* ---- Starting and stopping --------------------------------------------------------------------------------------- */

static bool start_threads(pawl_runner *runner)
{
    if (!pw_commit_start(runner->engine->commit))
        return false;
    pthread_mutex_lock(&runner->lock); /* held so that the keeper claims nothing before there are workers */
    runner->started = pthread_create(&runner->keeper, NULL, pw_keeper_main, runner) == 0;
    bool ok = runner->started;
    for (int32_t i = 0; ok && i < runner->options.workers; i++)
        ok = pw_runner_spawn(runner);
    atomic_store(&runner->stopping, !ok);
    pthread_mutex_unlock(&runner->lock);
    return ok;
}

pawl_status pawl_runner_start(pawl_runner *runner, struct pawl_error *error)
{
    if (runner == NULL || runner->engine == NULL)
        return pw_error(error, PAWL_INVALID, "a runner is needed, and its engine must be open");
    if (runner->threaded)
        return pw_error(error, PAWL_INVALID, "the runner is started already");
    PAWL_TRY(join_in(runner, false, error)); /* the keeper writes its row */
    runner->local =
        (struct pw_local){ .runner = runner, .reserve = local_reserve, .deliver = local_deliver, .wake = local_wake };
    if (!pw_engine_set_local(runner->engine, &runner->local))
        return pw_error(error, PAWL_INVALID, "another runner of this engine is started; one engine has one");
    runner->threaded = true;
    atomic_store(&runner->stopping, false);
    atomic_store(&runner->steps_left, -1);
    runner->keeper_done = false;
    if (!start_threads(runner)) {
        pawl_runner_stop(runner);
        return pw_error(error, PAWL_NOMEM, "the system refuses to start %d threads",
                        runner->options.workers + 1 + (int)pw_commit_threads(runner->engine->commit));
    }
    listen_for_due(runner, true);
    return PAWL_OK;
}

/* Takes nothing new, and waits until the places promised to services are used or given back. */
static void close_doors(pawl_runner *runner)
{
    pthread_mutex_lock(&runner->lock);
    atomic_store(&runner->stopping, true);
    pw_runner_call(runner, true);
    pthread_cond_signal(&runner->watch);
    while (runner->reserved > 0)
        pthread_cond_wait(&runner->left, &runner->lock);
    pthread_mutex_unlock(&runner->lock);
    (void)pw_engine_set_local(runner->engine, NULL);
}

/* Stops in this order: no new work; the keeper, which ends once every held turn has closed; the workers; the
 * committer's threads. */
void pawl_runner_stop(pawl_runner *runner)
{
    if (runner == NULL || !runner->threaded)
        return;
    listen_for_due(runner, false);
    close_doors(runner);
    if (runner->started) {
        pthread_join(runner->keeper, NULL); /* it ends when no turn is held; then the workers end */
        pthread_mutex_lock(&runner->lock);
        while (runner->workers_alive > 0)
            pthread_cond_wait(&runner->left, &runner->lock);
        pthread_mutex_unlock(&runner->lock);
        if (runner->has_gone)
            pthread_join(runner->gone, NULL);
        runner->has_gone = false;
    }
    pw_commit_stop(runner->engine->commit);
    pw_view_clear(&runner->view);
    atomic_store(&runner->has_others, false);
    runner->threaded = runner->started = false;
    atomic_store(&runner->stopping, false);
}

/* ---- Ticking ----------------------------------------------------------------------------------------------------- */

static pawl_status begin_turn(pawl_runner *runner, const struct pw_claim *claim, pawl_turn **out_turn,
                              struct pawl_error *error)
{
    pawl_turn *turn = pw_runner_make_turn(runner, claim);
    pawl_status status = turn != NULL ? pw_runner_load(runner, turn) : PAWL_NOMEM;
    if (status == PAWL_OK)
        *out_turn = turn;
    else if (turn != NULL)
        pw_runner_retire(runner, turn);
    return status == PAWL_OK ? PAWL_OK : pw_error_plain(error, status);
}

/* What a tick remembers about its claims. */
struct ticking {
    bool has_reaped;
    bool no_limited; /* no limited function had a job: ask them only when there is nothing else */
    bool kept_out;   /* another process was claiming from a limited function */
};

/* Claims one due run and makes it a turn.  Leaves *out_turn alone if none is due.  Looks for what dead runners left
 * once in a tick. */
static pawl_status claim_turn(pawl_runner *runner, enum pw_claim_of what, const struct pw_text *limited,
                              struct ticking *ticking, pawl_turn **out_turn, struct pawl_error *error)
{
    struct pw_unit unit;
    struct pw_op_claim *claim = NULL;
    if (what == PW_CLAIM_ALL && ticking->has_reaped)
        what = PW_CLAIM_DUE;
    pw_unit_init(&unit);
    pawl_status status = pw_runner_claim(runner, &unit, what, limited, 1, &claim, error);
    ticking->has_reaped = true;
    ticking->kept_out = ticking->kept_out || (status == PAWL_OK && claim->kept_out);
    if (status == PAWL_OK && claim->claim_count > 0)
        status = begin_turn(runner, &claim->claims[0], out_turn, error);
    pw_unit_clear(&unit);
    return status;
}

/* Claims from the functions with a limit, round robin.  If none gave a job although one is due, the function's limit
 * was met. */
static pawl_status claim_limited_turn(pawl_runner *runner, struct ticking *ticking, pawl_turn **out_turn,
                                      struct pawl_error *error)
{
    struct pw_arena arena = { 0 };
    size_t count;
    int64_t now_ms = pawl_now_ms(runner->engine), due_at_ms = INT64_MAX;
    pawl_status status = PAWL_OK;
    const struct pw_text *names = pw_runner_names(runner->engine, PW_NAMES_LIMITED, &arena, &count);
    for (size_t i = 0; names != NULL && i < count && status == PAWL_OK && *out_turn == NULL; i++)
        status = claim_turn(runner, PW_CLAIM_ALL, &names[runner->limited_next++ % count], ticking, out_turn, error);
    ticking->no_limited = *out_turn == NULL;
    if (*out_turn != NULL)
        atomic_store(&runner->limits_met_ms, 0); /* there may be more jobs: only one was asked for */
    else if (count > 0 && status == PAWL_OK && !ticking->kept_out &&
             pw_runner_next_of(runner, &arena, names, count, false, PW_EVER, &due_at_ms, NULL) == PAWL_OK &&
             due_at_ms <= now_ms)
        atomic_store(&runner->limits_met_ms, now_ms);
    pw_arena_clear(&arena);
    return status;
}

/* Limited functions and all other workflows alternate in being asked first, so that neither starves the other. */
static pawl_status claim_next_turn(pawl_runner *runner, struct ticking *ticking, pawl_turn **out_turn,
                                   struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    bool limited_first = runner->limited_first && !ticking->no_limited;
    runner->limited_first = !runner->limited_first;
    *out_turn = NULL;
    if (limited_first)
        status = claim_limited_turn(runner, ticking, out_turn, error);
    if (status == PAWL_OK && *out_turn == NULL)
        status = claim_turn(runner, PW_CLAIM_ALL, NULL, ticking, out_turn, error);
    if (status == PAWL_OK && *out_turn == NULL && !limited_first)
        status = claim_limited_turn(runner, ticking, out_turn, error);
    return status;
}

/* Carries the turn to its end.  If the keeper gives the turn up meanwhile, the keeper closes and retires it. */
static void carry(pawl_runner *runner, pawl_turn *turn)
{
    bool is_ours = true;
    if (!runner->options.tick_alone)
        (void)pw_tick_is_kept(runner);
    pw_turn_ref(turn);
    while (is_ours && pw_turn_next_blocking(turn) == PW_NEXT_PASS && pw_runner_load(runner, turn) == PAWL_OK)
        is_ours = pw_turn_pass(turn) || !pw_runner_leave_given_up(runner, turn);
    if (is_ours)
        pw_runner_retire(runner, turn);
    pw_turn_unref(turn);
}

static pawl_status tick(pawl_runner *runner, int64_t max_instances, int64_t *out_processed, struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    struct ticking ticking = { false, false, false };
    pw_runner_pay_owed(runner);
    while (*out_processed < max_instances && atomic_load(&runner->steps_left) != 0 && !pw_runner_is_full(runner)) {
        pawl_turn *turn;
        status = claim_next_turn(runner, &ticking, &turn, error);
        if (status != PAWL_OK || turn == NULL)
            break;
        carry(runner, turn);
        ++*out_processed;
    }
    return status;
}

pawl_status pawl_runner_tick(pawl_runner *runner, int64_t max_instances, int64_t max_steps, int64_t *out_processed,
                             struct pawl_error *error)
{
    int64_t processed = 0;
    if (runner == NULL || runner->engine == NULL || max_instances < 0 || max_steps < 0)
        return pw_error(error, PAWL_INVALID, "tick takes a runner and limits that are not negative");
    if (runner->threaded)
        return pw_error(error, PAWL_INVALID, "this runner is started; open another one to tick");
    PAWL_TRY(join_in(runner, true, error));
    pthread_mutex_lock(&runner->tick_lock);
    atomic_store(&runner->steps_left, max_steps > 0 ? max_steps : -1);
    atomic_store(&runner->ticking, true);
    pawl_status status = tick(runner, max_instances > 0 ? max_instances : TICK_INSTANCES_DEFAULT, &processed, error);
    pw_tick_end(runner);
    atomic_store(&runner->steps_left, -1);
    pthread_mutex_unlock(&runner->tick_lock);
    if (out_processed != NULL)
        *out_processed = processed;
    return status;
}

void pawl_runner_wake(pawl_runner *runner)
{
    if (runner != NULL)
        local_wake(runner, PW_NOW);
}

void pawl_runner_stats_read(pawl_runner *runner, struct pawl_runner_stats *out_stats)
{
    *out_stats = (struct pawl_runner_stats){ .steps = 0 };
    if (runner == NULL || runner->engine == NULL)
        return;
    out_stats->steps = atomic_load(&runner->steps_taken);
    out_stats->commits = atomic_load(&runner->engine->stats.commits);
    out_stats->units = atomic_load(&runner->engine->stats.units.sum_millionths) / PW_MILLIONTHS;
    pthread_mutex_lock(&runner->lock);
    out_stats->turns = runner->turns;
    out_stats->leases_lost = runner->leases_lost;
    out_stats->in_flight = runner->held_count;
    out_stats->cached_bytes = (int64_t)runner->cache.bytes;
    pthread_mutex_unlock(&runner->lock);
    struct pw_blocked *blocked = &runner->engine->blocked;
    out_stats->threads_blocked = atomic_load(&blocked->threads);
    out_stats->is_full = pw_runner_is_full(runner);
    out_stats->newer_schema = atomic_load(&runner->engine->schema.newer);
    pthread_mutex_lock(&blocked->lock);
    out_stats->code_blocked = blocked->found_in_code;
    out_stats->bodies_blocked = blocked->found - blocked->found_in_code;
    pthread_mutex_unlock(&blocked->lock);
}

/* ---- Turns driven by hand ---------------------------------------------------------------------------------------- */

pawl_status pawl_turn_poll(pawl_runner *runner, pawl_turn **out_turn, struct pawl_error *error)
{
    if (runner == NULL || runner->engine == NULL || out_turn == NULL)
        return pw_error_plain(error, PAWL_INVALID);
    struct ticking unused = { .has_reaped = false };
    *out_turn = NULL;
    pawl_status status = join_in(runner, true, error);
    if (status == PAWL_OK)
        status = claim_turn(runner, PW_CLAIM_POLLED, NULL, &unused, out_turn, error);
    if (status == PAWL_OK && *out_turn != NULL) {
        pw_turn_ref(*out_turn); /* the caller's reference, whatever the watchdog does */
        pw_turn_begin_pass(*out_turn);
    }
    return status;
}

pawl_status pawl_turn_done(pawl_runner *runner, pawl_turn *turn, bool *out_again, struct pawl_error *error)
{
    if (runner == NULL || turn == NULL || out_again == NULL)
        return pw_error_plain(error, PAWL_INVALID);
    bool alive = pw_turn_end_pass(turn);
    *out_again = alive && pw_turn_next_blocking(turn) == PW_NEXT_PASS && pw_runner_load(runner, turn) == PAWL_OK;
    if (*out_again) {
        pw_turn_begin_pass(turn);
        return PAWL_OK;
    }
    if (alive)
        pw_runner_retire(runner, turn);
    pw_turn_unref(turn);
    return PAWL_OK;
}
