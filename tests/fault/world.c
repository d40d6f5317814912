/* world.c - see world.h. */
#include "world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "engine/engine.h"
#include "plan.h"
#include "scenarios.h"
#include "shim.h"
#include "testing/forward.h"

#define START_MS INT64_C(1767225600000)
#define APP_TABLE "CREATE TABLE app (id TEXT, run INTEGER, step TEXT)"
enum { DRIVE_MS = 180000, DRIVE_ROUNDS_MAX = 400, TEMPLATE_BYTES_MAX = 1 << 20 };

static const char *const suffixes[] = { "", "-wal", "-shm", "-journal", "-runners" };

/* ---- Time and chance ---------------------------------------------------------------------------------------------- */

static int64_t world_now_ms(void *user)
{
    return ((struct world *)user)->now_ms;
}

static void world_chance(void *user, void *bytes, size_t size)
{
    struct world *world = user;
    unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        world->chance = world->chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        at[i] = (unsigned char)(world->chance >> 56);
    }
}

/* ---- The store ---------------------------------------------------------------------------------------------------- */

struct fault_store {
    struct pw_forward forward;
    struct fault_store_options options;
};

static pawl_status say_failed(struct pawl_error *error)
{
    *error = (struct pawl_error){ PAWL_STORE_UNAVAILABLE, "the test's store fails as planned" };
    return PAWL_STORE_UNAVAILABLE;
}

static pawl_status apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct fault_store *own = (struct fault_store *)store;
    struct ledger *ledger = own->options.ledger;
    struct pw_store *inner = own->forward.inner;
    pawl_status status = PAWL_OK;
    if (own->options.before_commit != NULL)
        own->options.before_commit(own->options.user, ledger->commits + 1);
    if (fault_strikes(FAULT_APPLY_BEFORE))
        status = say_failed(error);
    if (status == PAWL_OK)
        status = inner->ops->apply(inner, units, count, error);
    bool told = !fault_strikes(FAULT_APPLY_AFTER);
    if (status == PAWL_OK) {
        ledger->commits++;
        for (size_t i = 0; i < count; i++) {
            if (units[i]->status == PAWL_OK)
                ledger_note(ledger, units[i], told);
        }
        if (own->options.after_commit != NULL)
            own->options.after_commit(own->options.user, ledger->commits);
    }
    if (status == PAWL_OK && !told)
        status = say_failed(error);
    for (size_t i = 0; status != PAWL_OK && i < count; i++)
        units[i]->status = status;
    return status;
}

/* A read that fails before it is made. */
static pawl_status read_rows(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                             struct pw_found *out_found, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    struct pawl_error unheard;
    if (fault_strikes(FAULT_STORE_READ))
        return say_failed(error != NULL ? error : &unheard);
    return inner->ops->read(inner, asked, arena, out_found, error);
}

static pawl_status announce(struct pw_store *store, int64_t owner, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    struct pawl_error unheard;
    if (fault_strikes(FAULT_ANNOUNCE))
        return say_failed(error != NULL ? error : &unheard);
    return inner->ops->announce(inner, owner, error);
}

static void close_store(struct pw_store *store)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    inner->ops->close(inner);
    free(store);
}

/* A pw_store_wrap_fn for pw_engine_open(); `user` is the options, which are copied. */
static struct pw_store *fault_store_wrap(struct pw_store *inner, void *user)
{
    struct fault_store *own = malloc(sizeof *own);
    if (own == NULL)
        return NULL;
    own->options = *(const struct fault_store_options *)user;
    pw_forward_init(&own->forward, inner);
    struct pw_store_ops *ops = &own->forward.ops;
    ops->close = close_store;
    ops->apply = apply;
    ops->read = read_rows;
    ops->announce = announce;
    return &own->forward.store;
}

/* ---- Files -------------------------------------------------------------------------------------------------------- */

bool world_init(struct world *world, const char *name)
{
    *world = (struct world){ .synchronous = "full", .busy_ms = 10000, .now_ms = START_MS, .chance = 1 };
    world->place.store = store_asked_for(STORE_IN_FILE);
    if (world->place.store == STORE_IN_POSTGRES)
        store_place_make(&world->place, STORE_IN_POSTGRES);
    snprintf(world->path, sizeof world->path, "fault_%s_%d.db", name, (int)getpid());
    world->ledger = ledger_new();
    world->store.ledger = world->ledger;
    world_remove_files(world);
    return world->ledger != NULL;
}

void world_remove_files(const struct world *world)
{
    char path[96];
    if (world->place.store == STORE_IN_POSTGRES)
        store_place_empty(&world->place, true);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(path, sizeof path, "%s%s", world->path, suffixes[i]);
        (void)unlink(path);
    }
}

void world_clear(struct world *world)
{
    world_close(world);
    world_remove_files(world);
    ledger_free(world->ledger);
    world->ledger = NULL;
}

sqlite3 *world_open_plainly(const struct world *world)
{
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(world->path, &db, flags, shim_plain_vfs_name()) != SQLITE_OK) {
        (void)sqlite3_close(db);
        return NULL;
    }
    (void)sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL,
                       NULL); /* for speed: it only looks, and folds the log */
    return db;
}

static bool read_whole(const char *path, char *bytes, size_t *out_size)
{
    int file = open(path, O_RDONLY);
    ssize_t size = file >= 0 ? read(file, bytes, TEMPLATE_BYTES_MAX) : -1;
    if (file >= 0)
        (void)close(file);
    *out_size = size >= 0 ? (size_t)size : 0;
    return size > 0 && size < TEMPLATE_BYTES_MAX;
}

static bool make_template(struct world *world, char *bytes, size_t *out_size)
{
    struct pawl_error error;
    world_remove_files(world);
    if (world_open(world, &error) != PAWL_OK)
        return false;
    world_close(world);
    sqlite3 *db = world_open_plainly(world);
    bool made = sqlite3_exec(db, APP_TABLE, NULL, NULL, NULL) == SQLITE_OK;
    (void)sqlite3_close(db);
    return made && read_whole(world->path, bytes, out_size);
}

bool world_start_from_template(struct world *world)
{
    static char bytes[TEMPLATE_BYTES_MAX];
    static size_t size;
    if (world->place.store == STORE_IN_POSTGRES) {
        store_place_empty(&world->place, false);
        store_place_execute(&world->place, APP_TABLE);
        return world->has_app = true;
    }
    if (size == 0 && !make_template(world, bytes, &size))
        return false;
    world_remove_files(world);
    int file = open(world->path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool written = file >= 0 && write(file, bytes, size) == (ssize_t)size;
    if (file >= 0)
        (void)close(file);
    world->has_app = written;
    return written;
}

/* ---- Opening and driving -------------------------------------------------------------------------------------------- */

pawl_status world_open(struct world *world, struct pawl_error *error)
{
    char url[512];
    struct pawl_options options = PAWL_OPTIONS_INIT;
    if (world->place.store == STORE_IN_POSTGRES)
        snprintf(url, sizeof url, "%s&pawl_busy_ms=%lld", world->place.url, (long long)world->busy_ms);
    else
        snprintf(url, sizeof url, "sqlite:%s?synchronous=%s&busy_ms=5", world->path, world->synchronous);
    options.store_url = url;
    options.clock = (struct pawl_clock){ .now_ms = world_now_ms, .user = world };
    options.random = (struct pawl_random){ world_chance, world };
    pawl_status status = pw_engine_open(&options, fault_store_wrap, &world->store, &world->engine, error);
    if (status == PAWL_OK)
        status = scenario_register(world, error);
    if (status == PAWL_OK && world->has_hook)
        status = scenario_register_hook(world, error);
    if (status == PAWL_OK)
        status = pawl_runner_open(world->engine, NULL, &world->runner, error);
    if (status != PAWL_OK)
        world_close(world);
    return status;
}

void world_close(struct world *world)
{
    pawl_runner_close(world->runner);
    pawl_close(world->engine);
    pawl_world_close(world->kit);
    world->runner = NULL;
    world->engine = NULL;
    world->kit = NULL;
}

/* Lowers *next_ms to when something is to be delivered. */
static pawl_status deliver_due(struct world *world, int64_t *next_ms, struct pawl_error *error)
{
    int64_t delivery_ms = INT64_MAX;
    pawl_status status = pawl_hooks_tick(world->engine, 0, NULL, &delivery_ms, error);
    if (status == PAWL_OK && delivery_ms < *next_ms)
        *next_ms = delivery_ms;
    return status;
}

pawl_status world_drive(struct world *world, struct pawl_error *error)
{
    int64_t until_ms = world->now_ms + DRIVE_MS;
    for (int round = 0; round < DRIVE_ROUNDS_MAX; round++) {
        int64_t next_ms = INT64_MAX;
        pawl_status status = pawl_runner_tick(world->runner, 0, 0, NULL, error);
        if (status == PAWL_OK)
            status = pawl_runner_next_wake_at(world->runner, &next_ms, error);
        if (status == PAWL_OK && world->has_hook)
            status = deliver_due(world, &next_ms, error);
        if (status != PAWL_OK || next_ms > until_ms)
            return status;
        if (next_ms > world->now_ms)
            world->now_ms = next_ms;
    }
    *error = (struct pawl_error){ PAWL_BUSY, "there is always something due" };
    return PAWL_BUSY;
}
