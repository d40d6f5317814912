/* world.h - an engine on simulated time over a file, or in PostgreSQL where PAWL_TEST_STORE asks for it, with a
 * runner that only ticks; what a scenario acts on, and the checks of what it left behind.
 *
 * Its store is the real one, which fails as planned, and whose every commit goes into the ledger.  A commit can also be watched,
 * before and after, by a program that wants to end its process there. */
#ifndef FAULT_WORLD_H
#define FAULT_WORLD_H

#include "kit/stores.h"
#include "ledger.h"
#include "pawl/testing.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAULT_SLOWLY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FAULT_SLOWLY 1
#endif
#endif
#ifndef FAULT_SLOWLY
#define FAULT_SLOWLY 0
#endif

enum { WORLD_SIGNATURE = 16384 };

struct fault_store_options {
    struct ledger *ledger;
    void (*before_commit)(void *user, int64_t nth); /* or NULL */
    void (*after_commit)(void *user, int64_t nth);  /* or NULL */
    void *user;
};

struct world {
    struct store_place place; /* of PostgreSQL */
    char path[64];            /* of a file */
    const char *synchronous;  /* "full" or "normal" */
    int64_t busy_ms;          /* how long PostgreSQL is waited for */
    int64_t now_ms;
    uint64_t chance;
    struct fault_store_options store;
    struct ledger *ledger; /* the same as the store's */
    pawl_engine *engine;   /* NULL: closed */
    pawl_runner *runner;
    bool has_app;    /* the database was made from the template */
    bool has_hook;   /* the engine has a hook, which tells the ledger */
    pawl_world *kit; /* of the scenario about testing.h */
    const struct scenario *scenario;
};

/* Names a file of its own for this process, and takes the ledger. */
bool world_init(struct world *world, const char *name);
/* Closes, removes the files and gives the ledger back. */
void world_clear(struct world *world);

/* Removes the database with all that lies beside it, or all that is in it. */
void world_remove_files(const struct world *world);
/* A migrated, empty database with the app's table in place of the world's; of files, a copy of one that is made once per
 * process. */
bool world_start_from_template(struct world *world);

/* Opens engine and runner and registers the scenarios' workflows.  Nothing stays open when it fails. */
pawl_status world_open(struct world *world, struct pawl_error *error) PAWL_MUST_CHECK;
void world_close(struct world *world);

/* Runs and delivers what is due, and what gets due within the next minutes.  PAWL_BUSY: there is no end to it. */
pawl_status world_drive(struct world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Checks, with a connection that no fault reaches --------------------------------------------------------------- */

struct sqlite3 *world_open_plainly(const struct world *world);

/* The database is whole, and holds what the ledger says it must.  Otherwise the ledger has the violation. */
void world_check(struct world *world);

/* What must be the same however a run came about: instances, steps, events, log lines and the app's rows; no times, no
 * attempts. */
void world_signature(struct world *world, char out_signature[WORLD_SIGNATURE]);

/* How many of the ledger's entries, from the first on, the database holds; *out_beyond: it holds a later one, too. */
size_t world_entries_held(struct world *world, bool *out_beyond);

#endif
