/* engine.h (internal) - what the layers above share: the store, the committer, the registered workflows, the clock,
 * randomness, and the runner of this process, if there is one, as services see it.  An engine owns no thread. */
#ifndef PW_ENGINE_ENGINE_H
#define PW_ENGINE_ENGINE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "base/budget.h"
#include "base/table.h"
#include "commit/commit.h"
#include "engine/blocked.h"
#include "engine/hooks.h"
#include "engine/schema.h"
#include "engine/stats.h"
#include "engine/watch.h"
#include "engine/writable.h"
#include "pawl/engine.h"

/* A registered workflow.  Lives until the engine is closed. */
struct pw_definition {
    struct pw_text name;
    struct pw_text description; /* or absent */
    const char *const *tags;
    size_t tag_count;
    struct pawl_limits limits; /* with defaults filled in */
    pawl_turn_fn *advance;     /* NULL: its runs are polled */
    void *user;
    const char *const *permissions;
    size_t permission_count;
    pawl_inline_fn *run_inline; /* or NULL */
    struct pw_terms terms;      /* the terms of runs that begin here */
    bool is_function;           /* the name is "@" and the function's name: the workflow of its jobs */
};

/* The started runner, as services see it.  Every function may be called from any thread. */
struct pw_local {
    void *runner;
    /* Reserves a place for one more run of this workflow, or of any workflow if it is absent.  Returns the owner,
     * and deliver() must follow.  0: there is no room.  For any workflow it does not wait for the runner's lock: if
     * that is taken, there is no room. */
    int64_t (*reserve)(void *runner, struct pw_text workflow, int64_t *out_lease_ms);
    void (*deliver)(void *runner, const struct pw_claim *claim); /* copies the texts; NULL: gives the place back */
    void (*wake)(void *runner, int64_t due_at_ms);               /* something is due at due_at_ms; PW_NOW: now */
};

/* A message to the runners about an instance whose turn one of them may hold. */
enum pw_word_kind {
    PW_WORD_REVOKED, /* a turn of this run, or of an earlier one, can commit nothing more */
    PW_WORD_PAUSE,   /* its turn should pause, whichever run it is */
    PW_WORD_DEMAND,  /* something is demanded of this run */
    PW_WORD_EVENT    /* this run received an event */
};
struct pw_word {
    enum pw_word_kind kind;
    int64_t instance, run;
    union {
        enum pw_demand demand;
        int64_t seq; /* the event's number */
    };
};

/* Any runner of this engine, started or not. */
struct pw_peer {
    void *runner;
    void (*hear)(void *runner, const struct pw_word *word);
    void (*close)(void *runner); /* the engine is closing: stop, and do not use it any more */
    struct pw_peer *next;
};

/* A test's mock for a step, which replaces its body: see pawl/testing.h. */
enum pw_mock_kind { PW_MOCK_NONE, PW_MOCK_RESULT, PW_MOCK_FAILURE, PW_MOCK_TIMEOUT };
struct pw_mock {
    enum pw_mock_kind kind;
    struct pw_text result, error_name, error_message;
    bool may_retry;
};
struct pw_mocks {
    void *user;
    /* Texts are borrowed until the next call. */
    struct pw_mock (*find)(void *user, struct pw_text workflow, struct pw_text step, int64_t attempt);
    /* Or NULL: user code has made a durable call.  With the turn's lock held. */
    void (*reached)(void *user, const pawl_lane *lane, struct pw_text step, enum pawl_step_kind kind);
    /* Or NULL: the durable call is a fork with this many branches, and now begins some of them.  With the turn's
     * lock held. */
    void (*forked)(void *user, const pawl_lane *lane, size_t branches, bool is_race);
    /* Or NULL: user code makes a durable call although it was told PAWL_SUSPENDED.  No lock is held. */
    void (*unheeded)(void *user, const pawl_lane *lane);
    bool sleeps_disabled;
};

/* Records what happens besides commits, for the test kit's trace. */
struct pw_recorder {
    void *user;
    void (*note)(void *user, int64_t now_ms, const char *format, va_list arguments);
};

enum { PW_WARNING_SIZE = 256 };

struct pawl_engine {
    struct pw_store *store;
    struct pw_commit *commit;
    struct pawl_clock clock;
    struct pawl_random random;
    struct pawl_limits limits;     /* with defaults filled in */
    char warning[PW_WARNING_SIZE]; /* about the store; "": none */
    struct pw_budget memory;
    const struct pw_mocks *mocks;       /* or NULL; set before anything runs */
    const struct pw_recorder *recorder; /* or NULL; set before anything runs */
    struct pw_watches watches;
    struct pw_stats stats;
    struct pw_writable writable;
    struct pw_schema schema;
    struct pw_blocked blocked;
    struct pw_hooks hooks;

    pthread_mutex_t lock; /* guards the fields up to `closers` */
    struct pw_table definitions;
    struct pw_definition **list; /* sorted by name */
    size_t definition_count;
    struct pw_text *driven; /* the names of workflows with a turn function; made with the first offer */
    size_t driven_count;
    struct pw_function_limit *function_limits; /* see engine/functions.h */
    bool sealed;                               /* a runner has started: no more definitions */
    struct pw_arena arena;                     /* holds the definitions */
    struct pw_closer *closers;                 /* run at close, newest first */

    pthread_rwlock_t local_lock;  /* read-locked while a service calls into the local runner; guards the rest */
    const struct pw_local *local; /* or NULL */
    struct pw_peer *peers;
};

/* pawl_open(), with an outer store that wraps the opened one and owns it.  wrap NULL: none.  wrap returns NULL when
 * memory runs out. */
typedef struct pw_store *pw_store_wrap_fn(struct pw_store *inner, void *user);
pawl_status pw_engine_open(const struct pawl_options *options, pw_store_wrap_fn *wrap, void *user,
                           pawl_engine **out_engine, struct pawl_error *error) PAWL_MUST_CHECK;

/* Copies the caller's options, as far as the caller's header knew them, over the defaults.  False if a newer header
 * made them. */
bool pw_options_copy(void *known, size_t known_size, const void *given);

/* The way to the committer.  Every unit takes it, and gets what the registered hooks ask for.
 *
 * pw_engine_submit() queues a unit with a `done`.  It never waits and never refuses.  For turns, which check for room
 * before.
 * pw_engine_send() also makes sure that the unit is applied soon.  For callers that do not wait.  If there is no room
 * (C6 of commit.h), it answers the unit at once with PAWL_STORE_UNAVAILABLE.
 * pw_engine_run() waits until the unit is answered, and returns its status. */
void pw_engine_submit(pawl_engine *engine, struct pw_unit *unit);
void pw_engine_send(pawl_engine *engine, struct pw_unit *unit);
pawl_status pw_engine_run(pawl_engine *engine, struct pw_unit *unit);

/* The clock for timeouts and leases: see struct pawl_clock. */
int64_t pw_engine_monotonic_ms(const pawl_engine *engine);
/* True if the clock is a test's.  Such a clock may stand still, so nothing may wait for it. */
bool pw_engine_has_own_time(const pawl_engine *engine);

/* NULL if no workflow has that name. */
struct pw_definition *pw_engine_find(pawl_engine *engine, struct pw_text name);
/* The terms of runs of this workflow that begin here; empty if it is not registered. */
struct pw_terms pw_engine_terms(pawl_engine *engine, struct pw_text workflow);
/* Like pw_engine_find(), with the error that services return.  Does not find functions. */
pawl_status pw_engine_require(pawl_engine *engine, const char *name, struct pw_definition **out_definition,
                              struct pawl_error *error) PAWL_MUST_CHECK;

/* A new random id of 26 characters from [0-9a-z], NUL-terminated. */
void pw_engine_make_id(pawl_engine *engine, char out_id[PW_ID_SIZE]);
/* A random positive number that identifies a runner. */
int64_t pw_engine_make_owner(pawl_engine *engine);

/* Sets the local runner.  False if there is one already.  NULL removes it, and waits until no service uses it. */
bool pw_engine_set_local(pawl_engine *engine, const struct pw_local *local);

/* Calls into the local runner.  If there is none, pw_local_reserve() returns 0 and the others do nothing. */
int64_t pw_local_reserve(pawl_engine *engine, struct pw_text workflow, int64_t *out_lease_ms);
/* Reserves a place for a run whose workflow is not known yet.  Does not wait for the runner's lock, so a turn's lock
 * may be held. */
struct pw_offer pw_local_offer(pawl_engine *engine);
/* The unit is answered or given up: delivers the run that the local runner offered to take, or gives the place back. */
void pw_local_settle_offer(pawl_engine *engine, const struct pw_unit *unit, const struct pw_offer *offer, bool is_held,
                           const struct pw_claim *claim);
/* The same for the offer of an event or an answer; NULL: there is none. */
void pw_local_settle_event(pawl_engine *engine, const struct pw_unit *unit, const struct pw_op_event *event);
/* Delivers a run for a reserved place.  NULL gives the place back. */
void pw_local_deliver(pawl_engine *engine, const struct pw_claim *claim);
void pw_local_wake(pawl_engine *engine, int64_t due_at_ms);

/* The list of this engine's runners, and messages to all of them: see enum pw_word_kind. */
void pw_engine_join(pawl_engine *engine, struct pw_peer *peer);
void pw_engine_leave(pawl_engine *engine, struct pw_peer *peer);
void pw_engine_tell(pawl_engine *engine, struct pw_word word);

#endif
