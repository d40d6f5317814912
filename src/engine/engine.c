/* engine.c - opens and closes an engine; the registry of workflows, ids, and the way to the local runner.
 *
 * Opening: store, committer, observer.  Closing goes the other way: runners first, because they use everything else;
 * then the committer, which refuses what is still queued; the store; and the functions that were registered with
 * pawl_at_close(), newest first.
 *
 * The registry is filled before the first runner starts and never changes afterwards (`sealed`).  Definitions are
 * never freed before the engine, so pointers to them may be kept.
 *
 * Services reach the started runner through struct pw_local.  `local_lock` is held for reading during such a call,
 * so that a runner that stops waits until no service is inside it. */
#include "engine/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "common/thread.h"
#include "engine/functions.h"
#include "engine/news.h"
#include "pawl/pawl.h"

struct pw_closer {
    void (*close)(void *user);
    void *user;
    struct pw_closer *next;
};

const char *pawl_version(void)
{
    return PAWL_VERSION;
}

/* ---- Opening and closing ------------------------------------------------------------------------------------- */

bool pw_options_copy(void *known, size_t known_size, const void *given)
{
    size_t given_size;
    if (given == NULL)
        return true;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < sizeof given_size || given_size > known_size)
        return false;
    memcpy(known, given, given_size);
    return true;
}

/* Replaces zeroes by the defaults.  False if a limit is negative. */
static bool limits_fill(struct pawl_limits *limits, const struct pawl_limits *otherwise)
{
    if (limits->steps_max < 0 || limits->payload_bytes_max < 0 || limits->unread_events_max < 0 ||
        limits->waits_max < 0)
        return false;
    limits->steps_max = limits->steps_max != 0 ? limits->steps_max : otherwise->steps_max;
    limits->payload_bytes_max =
        limits->payload_bytes_max != 0 ? limits->payload_bytes_max : otherwise->payload_bytes_max;
    limits->unread_events_max =
        limits->unread_events_max != 0 ? limits->unread_events_max : otherwise->unread_events_max;
    limits->waits_max = limits->waits_max != 0 ? limits->waits_max : otherwise->waits_max;
    return true;
}

bool pw_engine_has_own_time(const pawl_engine *engine)
{
    return !pw_clock_is_system(&engine->clock);
}

int64_t pw_engine_monotonic_ms(const pawl_engine *engine)
{
    return engine->clock.monotonic_ms(engine->clock.user);
}

static int64_t monotonic_ms(void *user)
{
    return pw_engine_monotonic_ms(user);
}

/* The committer's observer, after every transaction: see commit.h. */
static void applied(void *user, struct pw_unit **units, size_t count, pawl_status whole, int64_t took_us)
{
    pawl_engine *engine = user;
    pw_stats_batch(&engine->stats, units, count, whole, took_us);
    pw_writable_note(&engine->writable, units, count, whole, pw_engine_monotonic_ms(engine));
    if (whole != PAWL_OK)
        return;
    pw_watches_tell(&engine->watches, units, count);
    pw_news_tell(engine, units, count);
    for (size_t i = 0; i < count; i++) {
        if (units[i]->status == PAWL_OK && units[i]->deliveries > 0) {
            pw_hooks_kick(engine);
            break;
        }
    }
}

void pw_engine_submit(pawl_engine *engine, struct pw_unit *unit)
{
    pw_hooks_attach(engine, unit);
    pw_commit_submit(engine->commit, unit);
}

pawl_status pw_engine_run(pawl_engine *engine, struct pw_unit *unit)
{
    pw_hooks_attach(engine, unit);
    return pw_commit_run(engine->commit, unit);
}

void pw_engine_send(pawl_engine *engine, struct pw_unit *unit)
{
    pw_hooks_attach(engine, unit);
    if (pw_commit_has_room(engine->commit, unit)) {
        pw_commit_send(engine->commit, unit);
        return;
    }
    unit->status = pw_error(&unit->error, PAWL_STORE_UNAVAILABLE,
                            "too many changes wait for the database already; try again in a moment");
    unit->done(unit, unit->user);
}

/* Warns about a database that was one part of a larger store: it does not know where the other parts are. */
static pawl_status read_warning(pawl_engine *engine, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_PART };
    struct pw_found found;
    pawl_status status = pw_read(engine->store, &asked, NULL, &found, error);
    if (status == PAWL_OK && found.part.count > 0)
        (void)snprintf(
            engine->warning, sizeof engine->warning,
            "this database was number %lld of %lld that made up one store; it is opened alone, and instances "
            "in the others are not found here (docs/postgres.md)",
            (long long)found.part.number, (long long)found.part.count);
    return status;
}

static pawl_status engine_open_store(pawl_engine *engine, const struct pawl_options *options, pw_store_wrap_fn *wrap,
                                     void *user, struct pawl_error *error)
{
    const struct pw_progress progress = { options->migrating, options->migrating_user };
    PAWL_TRY(pw_store_open_telling(options->store_url, engine->clock, progress, &engine->store, error));
    PAWL_TRY(read_warning(engine, error));
    if (wrap != NULL) {
        struct pw_store *outer = wrap(engine->store, user);
        if (outer == NULL)
            return pw_error_plain(error, PAWL_NOMEM);
        engine->store = outer;
    }
    pw_schema_init(&engine->schema, pw_engine_monotonic_ms(engine));
    struct pw_commit_observer observer = { .applied = applied, .monotonic_ms = monotonic_ms, .user = engine };
    pawl_status status = pw_commit_new(engine->store, observer, &engine->commit);
    return status == PAWL_OK ? PAWL_OK : pw_error_plain(error, status);
}

pawl_status pawl_open(const struct pawl_options *options, pawl_engine **out_engine, struct pawl_error *error)
{
    return pw_engine_open(options, NULL, NULL, out_engine, error);
}

pawl_status pw_engine_open(const struct pawl_options *given, pw_store_wrap_fn *wrap, void *user,
                           pawl_engine **out_engine, struct pawl_error *error)
{
    static const struct pawl_limits defaults = { .steps_max = PW_STEPS_MAX_DEFAULT,
                                                 .payload_bytes_max = PW_PAYLOAD_BYTES_MAX_DEFAULT,
                                                 .unread_events_max = PW_UNREAD_EVENTS_MAX_DEFAULT,
                                                 .waits_max = PW_WAITS_MAX_DEFAULT };
    struct pawl_options options = PAWL_OPTIONS_INIT;
    if (out_engine == NULL || !pw_options_copy(&options, sizeof options, given))
        return pw_error(error, PAWL_INVALID, "pawl_open needs out_engine, and options made by PAWL_OPTIONS_INIT");
    if (!limits_fill(&options.limits, &defaults) || options.memory_bytes_max < 0)
        return pw_error(error, PAWL_INVALID, "a limit is a positive number, or 0 for the default");
    pawl_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    if (!pw_cond_init(&engine->hooks.changed)) {
        free(engine);
        return pw_error_plain(error, PAWL_NOMEM);
    }
    pthread_mutex_init(&engine->lock, NULL);
    pthread_rwlock_init(&engine->local_lock, NULL);
    pthread_mutex_init(&engine->blocked.lock, NULL);
    pthread_mutex_init(&engine->hooks.lock, NULL);
    pthread_mutex_init(&engine->watches.lock, NULL);
    pthread_mutex_init(&engine->writable.lock, NULL);
    engine->limits = options.limits;
    pw_budget_init(&engine->memory, options.memory_bytes_max);
    engine->clock = pw_clock_of(options.clock);
    engine->random = options.random.fill != NULL ? options.random : (struct pawl_random){ pw_system_random, NULL };
    pawl_status status = engine_open_store(engine, &options, wrap, user, error);
    if (status != PAWL_OK) {
        pawl_close(engine);
        return status;
    }
    *out_engine = engine;
    return PAWL_OK;
}

void pawl_close(pawl_engine *engine)
{
    if (engine == NULL)
        return;
    while (engine->peers != NULL) { /* the host should have closed its runners; those that are left stop here */
        struct pw_peer *peer = engine->peers;
        engine->peers = peer->next;
        peer->close(peer->runner);
    }
    pw_commit_free(engine->commit);
    if (engine->store != NULL)
        pw_ops(engine->store)->close(engine->store);
    while (engine->closers != NULL) {
        struct pw_closer *closer = engine->closers;
        engine->closers = closer->next;
        closer->close(closer->user);
        free(closer);
    }
    pw_table_clear(&engine->definitions);
    free(engine->list);
    pw_arena_clear(&engine->arena);
    pthread_mutex_destroy(&engine->writable.lock);
    pthread_mutex_destroy(&engine->watches.lock);
    pthread_mutex_destroy(&engine->hooks.lock);
    pthread_cond_destroy(&engine->hooks.changed);
    pthread_mutex_destroy(&engine->blocked.lock);
    pthread_rwlock_destroy(&engine->local_lock);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

/* Registers a function to call at close; with `once`, unless it is registered already.  Returns the registered
 * entry, or NULL when memory runs out. */
static const struct pw_closer *add_closer(pawl_engine *engine, void (*close)(void *user), void *user, bool once)
{
    struct pw_closer *closer = malloc(sizeof *closer);
    if (closer == NULL)
        return NULL;
    pthread_mutex_lock(&engine->lock);
    struct pw_closer *kept = once ? engine->closers : NULL;
    while (kept != NULL && kept->close != close)
        kept = kept->next;
    if (kept == NULL) {
        *closer = (struct pw_closer){ close, user, engine->closers };
        engine->closers = closer;
    }
    pthread_mutex_unlock(&engine->lock);
    if (kept == NULL)
        return closer;
    free(closer);
    return kept;
}

pawl_status pawl_at_close(pawl_engine *engine, void (*close)(void *user), void *user)
{
    return add_closer(engine, close, user, false) != NULL ? PAWL_OK : PAWL_NOMEM;
}

void *pawl_at_close_once(pawl_engine *engine, void (*close)(void *user), void *user)
{
    const struct pw_closer *kept = add_closer(engine, close, user, true);
    return kept != NULL ? kept->user : NULL;
}

void pawl_note(pawl_engine *engine, const char *format, ...)
{
    if (engine == NULL || engine->recorder == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    engine->recorder->note(engine->recorder->user, pawl_now_ms(engine), format, arguments);
    va_end(arguments);
}

const char *pawl_store_warning(pawl_engine *engine)
{
    return engine != NULL && engine->warning[0] != '\0' ? engine->warning : NULL;
}

int64_t pawl_now_ms(pawl_engine *engine)
{
    if (engine == NULL)
        return 0;
    return engine->store->ops->now_ms(engine->store);
}

bool pawl_store_is_remote(const pawl_engine *engine)
{
    return engine != NULL && engine->store->ops->is_remote;
}

/* ---- The registry -------------------------------------------------------------------------------------------- */

/* Copies an array of strings into the engine's arena.  NULL when memory runs out. */
static const char *const *copy_strings(pawl_engine *engine, const char *const *from, size_t count)
{
    const char **strings = pw_arena_take(&engine->arena, (count + 1) * sizeof *strings);
    if (strings == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        strings[i] = pw_arena_string(&engine->arena, from[i]);
        if (strings[i] == NULL)
            return NULL;
    }
    strings[count] = NULL;
    return strings;
}

static struct pw_definition *copy_definition(pawl_engine *engine, const struct pawl_definition *from,
                                             struct pw_text name)
{
    struct pw_definition *to = pw_arena_zero(&engine->arena, sizeof *to);
    if (to == NULL || !pw_arena_text(&engine->arena, name, &to->name) ||
        !pw_arena_text(&engine->arena, pw_text_of(from->description), &to->description) ||
        !pw_arena_text(&engine->arena, pw_text_of(from->version), &to->terms.version))
        return NULL;
    to->tags = copy_strings(engine, from->tags, from->tag_count);
    to->permissions = copy_strings(engine, from->permissions, from->permission_count);
    if (to->tags == NULL || to->permissions == NULL)
        return NULL;
    to->tag_count = from->tag_count;
    to->permission_count = from->permission_count;
    to->limits = from->limits;
    to->advance = from->advance;
    to->user = from->user;
    to->run_inline = from->run_inline;
    to->is_function = from->is_function;
    return to;
}

/* Adds the definition to the table and to the list.  False when memory runs out. */
static bool insert_sorted(pawl_engine *engine, struct pw_definition *definition)
{
    size_t count = engine->definition_count;
    struct pw_definition **list = realloc(engine->list, (count + 1) * sizeof *list);
    if (list == NULL)
        return false;
    engine->list = list;
    if (!pw_table_add(&engine->definitions, definition->name, definition))
        return false;
    size_t at = count;
    while (at > 0 && strcmp(list[at - 1]->name.data, definition->name.data) > 0) {
        list[at] = list[at - 1];
        at--;
    }
    list[at] = definition;
    engine->definition_count = count + 1;
    return true;
}

static const char *kind_of(const struct pawl_definition *definition)
{
    return definition->is_function ? "function" : "workflow";
}

/* With the engine's lock held. */
static pawl_status define(pawl_engine *engine, const struct pawl_definition *definition, struct pawl_error *error)
{
    const char *kind = kind_of(definition);
    char full[PW_JOB_WORKFLOW_SIZE];
    struct pw_text name =
        definition->is_function ? pw_function_workflow(definition->name, full) : pw_text_of(definition->name);
    if (engine->sealed)
        return pw_error(error, PAWL_INVALID, "%s \"%s\" must be registered before a runner starts", kind,
                        definition->name);
    if (pw_table_find(&engine->definitions, name) != NULL)
        return pw_error(error, PAWL_DUPLICATE_WORKFLOW, "a %s named \"%s\" is registered already", kind,
                        definition->name);
    struct pw_definition *copy = copy_definition(engine, definition, name);
    if (copy == NULL || !insert_sorted(engine, copy))
        return pw_error_plain(error, PAWL_NOMEM);
    return PAWL_OK;
}

static pawl_status check_name(const struct pawl_definition *definition, struct pawl_error *error)
{
    const char *name = definition->name;
    if (definition->is_function)
        return pw_function_check(name, error);
    if (name != NULL && pw_text_is_identifier(pw_text_of(name), PW_WORKFLOW_NAME_MAX, false))
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID_WORKFLOW_NAME, "\"%.80s\" is not a workflow name: %s", name != NULL ? name : "",
                    pawl_status_text(PAWL_INVALID_WORKFLOW_NAME));
}

static pawl_status check_version(const struct pawl_definition *definition, struct pawl_error *error)
{
    if (definition->version == NULL)
        return PAWL_OK;
    if (definition->is_function)
        return pw_error(error, PAWL_INVALID, "function \"%s\" cannot have a version: its jobs record none",
                        definition->name);
    if (pw_text_is_version(pw_text_of(definition->version), PW_VERSION_MAX))
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID,
                    "workflow \"%s\": \"%.80s\" is not a version: it has 1 to 64 of [a-zA-Z0-9._-]", definition->name,
                    definition->version);
}

static pawl_status check_definition(const struct pawl_definition *definition, struct pawl_error *error)
{
    const char *kind = kind_of(definition);
    PAWL_TRY(check_name(definition, error));
    if (definition->tag_count > 0 && definition->tags == NULL)
        return pw_error(error, PAWL_INVALID, "%s \"%s\" has a tag count but no tags", kind, definition->name);
    if (definition->permission_count > 0 && definition->permissions == NULL)
        return pw_error(error, PAWL_INVALID, "%s \"%s\" has a permission count but no permissions", kind,
                        definition->name);
    if (definition->is_function && definition->run_inline != NULL)
        return pw_error(error, PAWL_INVALID, "function \"%s\" cannot be inline: its jobs are durable",
                        definition->name);
    return check_version(definition, error);
}

pawl_status pawl_define(pawl_engine *engine, const struct pawl_definition *given, struct pawl_error *error)
{
    struct pawl_definition definition = { .struct_size = sizeof definition };
    if (engine == NULL || given == NULL || !pw_options_copy(&definition, sizeof definition, given))
        return pw_error(error, PAWL_INVALID, "a definition needs its struct_size, and an engine");
    PAWL_TRY(check_definition(&definition, error));
    if (!limits_fill(&definition.limits, &engine->limits))
        return pw_error(error, PAWL_INVALID, "%s \"%s\": a limit is a positive number, or 0 for the default",
                        kind_of(&definition), definition.name);
    pthread_mutex_lock(&engine->lock);
    pawl_status status = define(engine, &definition, error);
    pthread_mutex_unlock(&engine->lock);
    return status;
}

pawl_status pawl_require_unstarted(pawl_engine *engine, const char *what, struct pawl_error *error)
{
    if (engine == NULL || what == NULL)
        return pw_error(error, PAWL_INVALID, "%s is missing (NULL)", engine == NULL ? "engine" : "what");
    pthread_mutex_lock(&engine->lock);
    bool sealed = engine->sealed;
    pthread_mutex_unlock(&engine->lock);
    return sealed ? pw_error(error, PAWL_INVALID, "%.120s must be registered before a runner starts", what) : PAWL_OK;
}

struct pw_definition *pw_engine_find(pawl_engine *engine, struct pw_text name)
{
    pthread_mutex_lock(&engine->lock);
    struct pw_definition *definition = pw_table_find(&engine->definitions, name);
    pthread_mutex_unlock(&engine->lock);
    return definition;
}

struct pw_terms pw_engine_terms(pawl_engine *engine, struct pw_text workflow)
{
    const struct pw_definition *definition = pw_engine_find(engine, workflow);
    return definition != NULL ? definition->terms : (struct pw_terms){ .version = { NULL, 0 } };
}

pawl_status pw_engine_require(pawl_engine *engine, const char *name, struct pw_definition **out_definition,
                              struct pawl_error *error)
{
    struct pw_definition *definition = pw_engine_find(engine, pw_text_of(name));
    if (definition == NULL || definition->is_function)
        return pw_error(error, PAWL_WORKFLOW_NOT_FOUND, "no workflow named \"%.80s\" is registered", name);
    *out_definition = definition;
    return PAWL_OK;
}

/* ---- Memory --------------------------------------------------------------------------------------------------- */

bool pawl_memory_hold(pawl_engine *engine, int64_t *held, int64_t bytes)
{
    return pw_budget_hold(&engine->memory, held, bytes);
}

void pawl_memory_owe(pawl_engine *engine, int64_t *held, int64_t bytes)
{
    pw_budget_owe(&engine->memory, held, bytes);
}

/* ---- Ids ------------------------------------------------------------------------------------------------------ */

void pw_engine_make_id(pawl_engine *engine, char out_id[PW_ID_SIZE])
{
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz"; /* 32 letters, none easily mistaken */
    unsigned char bytes[PW_ID_SIZE - 1];
    engine->random.fill(engine->random.user, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        out_id[i] = alphabet[bytes[i] & 31];
    out_id[PW_ID_SIZE - 1] = '\0';
}

int64_t pw_engine_make_owner(pawl_engine *engine)
{
    int64_t owner;
    do {
        engine->random.fill(engine->random.user, &owner, sizeof owner);
        owner &= INT64_MAX;
    } while (owner == 0 || owner == INT64_MAX); /* the byte at this offset of a file must be lockable */
    return owner;
}

/* ---- The local runner ---------------------------------------------------------------------------------------- */

bool pw_engine_set_local(pawl_engine *engine, const struct pw_local *local)
{
    pthread_rwlock_wrlock(&engine->local_lock);
    bool free_or_leaving = engine->local == NULL || local == NULL;
    if (free_or_leaving)
        engine->local = local;
    pthread_rwlock_unlock(&engine->local_lock);
    return free_or_leaving;
}

int64_t pw_local_reserve(pawl_engine *engine, struct pw_text workflow, int64_t *out_lease_ms)
{
    int64_t owner = 0;
    pthread_rwlock_rdlock(&engine->local_lock);
    if (engine->local != NULL)
        owner = engine->local->reserve(engine->local->runner, workflow, out_lease_ms);
    pthread_rwlock_unlock(&engine->local_lock);
    return owner;
}

/* Lists the workflows with a turn function.  The list stays valid, because no workflow is added once a runner has
 * started. */
static void list_driven(pawl_engine *engine, struct pw_offer *offer)
{
    pthread_mutex_lock(&engine->lock);
    if (engine->driven == NULL) {
        engine->driven = pw_arena_take(&engine->arena, (engine->definition_count + 1) * sizeof *engine->driven);
        for (size_t i = 0; engine->driven != NULL && i < engine->definition_count; i++)
            if (engine->list[i]->advance != NULL)
                engine->driven[engine->driven_count++] = engine->list[i]->name;
    }
    offer->workflows = engine->driven;
    offer->workflow_count = engine->driven_count;
    pthread_mutex_unlock(&engine->lock);
}

struct pw_offer pw_local_offer(pawl_engine *engine)
{
    struct pw_offer offer = { .owner = 0 };
    if (pthread_rwlock_tryrdlock(&engine->local_lock) != 0)
        return offer;
    const struct pw_local *local = engine->local;
    if (local != NULL)
        list_driven(engine, &offer);
    if (offer.workflow_count > 0)
        offer.owner = local->reserve(local->runner, (struct pw_text){ NULL, 0 }, &offer.lease_ms);
    pthread_rwlock_unlock(&engine->local_lock);
    return offer;
}

void pw_local_settle_offer(pawl_engine *engine, const struct pw_unit *unit, const struct pw_offer *offer, bool is_held,
                           const struct pw_claim *claim)
{
    if (offer->owner == 0)
        return;
    if (unit->status != PAWL_OK || !is_held) {
        pw_local_deliver(engine, NULL);
        return;
    }
    struct pw_claim delivered = *claim;
    delivered.leased_from_ms = unit->begun_ms;
    pw_local_deliver(engine, &delivered);
}

void pw_local_settle_event(pawl_engine *engine, const struct pw_unit *unit, const struct pw_op_event *event)
{
    if (event != NULL)
        pw_local_settle_offer(engine, unit, &event->offer, event->is_held, &event->claim);
}

void pw_local_deliver(pawl_engine *engine, const struct pw_claim *claim)
{
    pthread_rwlock_rdlock(&engine->local_lock);
    if (engine->local != NULL)
        engine->local->deliver(engine->local->runner, claim);
    pthread_rwlock_unlock(&engine->local_lock);
}

void pw_local_wake(pawl_engine *engine, int64_t due_at_ms)
{
    pawl_note(engine, "wake");
    pthread_rwlock_rdlock(&engine->local_lock);
    if (engine->local != NULL)
        engine->local->wake(engine->local->runner, due_at_ms);
    pthread_rwlock_unlock(&engine->local_lock);
}

void pw_engine_join(pawl_engine *engine, struct pw_peer *peer)
{
    pthread_rwlock_wrlock(&engine->local_lock);
    peer->next = engine->peers;
    engine->peers = peer;
    pthread_rwlock_unlock(&engine->local_lock);
}

void pw_engine_leave(pawl_engine *engine, struct pw_peer *peer)
{
    pthread_rwlock_wrlock(&engine->local_lock);
    struct pw_peer **link = &engine->peers;
    while (*link != NULL && *link != peer)
        link = &(*link)->next;
    if (*link != NULL)
        *link = peer->next;
    pthread_rwlock_unlock(&engine->local_lock);
}

void pw_engine_tell(pawl_engine *engine, struct pw_word word)
{
    if (word.kind == PW_WORD_REVOKED)
        pw_blocked_let_in(&engine->blocked, word.instance, word.run);
    pthread_rwlock_rdlock(&engine->local_lock);
    for (struct pw_peer *peer = engine->peers; peer != NULL; peer = peer->next)
        peer->hear(peer->runner, &word);
    pthread_rwlock_unlock(&engine->local_lock);
}
