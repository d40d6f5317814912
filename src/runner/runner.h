/* runner.h (internal) - the state of one runner, shared by its threads.
 *
 *   workers        run the passes of ready turns, help with the branches of forks, and lead commits when idle
 *   keeper         claims due runs, renews leases, watches for late code, and sleeps until the next of these is due
 *   tick's keeper  during a tick: renews its leases and watches its code
 *
 * Locks: a turn's lock may be taken while the runner's is held, never the other way round.  Neither is held during a
 * commit, a read or user code. */
#ifndef PW_RUNNER_RUNNER_H
#define PW_RUNNER_RUNNER_H

#include "pawl/runner.h"
#include "runner/cache.h"
#include "turn/turn.h"

enum { PW_RUNNER_NAME_SIZE = 256 };

/* What a runner knows about other runners, and its share of the work.  Used only by the keeper.  See share.c. */
struct pw_view {
    struct pw_arena arena; /* holds the texts of `owned` */
    struct pw_text *owned; /* as in struct pw_share, in the order of pw_runner_names(); NULL: it owns all shards */
    size_t count;
    uint64_t digest; /* a hash of the rows from which the view was made; 0: there is no view */
    bool told;       /* the runner's row says that it takes its share */
};

/* A lease that could not be given back because the store was in trouble. */
struct pw_owed {
    struct pw_fence fence;
    bool is_job;
    struct pw_owed *next;
};

struct pawl_runner {
    pawl_engine *engine;
    struct pawl_runner_options options; /* with defaults filled in */
    int64_t owner;
    struct pw_turn_host host; /* what its turns see */
    struct pw_local local;    /* what services see while it is started */
    struct pw_peer peer;
    bool announced;
    char name[PW_RUNNER_NAME_SIZE];
    int64_t started_at_ms; /* when it was opened, by the store's clock */
    struct pw_view view;
    atomic_bool has_others; /* other runners share its workflows; see share.c */

    atomic_bool stopping;
    atomic_int ready_count;  /* turns that wait for a worker */
    atomic_llong steps_left; /* tick's budget of bodies; negative: no limit */
    atomic_llong steps_taken;
    atomic_bool threaded;          /* started */
    atomic_bool ticking;           /* a tick is running */
    _Atomic int64_t limits_met_ms; /* when a function's limit last kept a due job from a tick, by the store's clock */

    pthread_mutex_t lock; /* guards all fields below */
    pthread_cond_t work;  /* workers wait here */
    pthread_cond_t watch; /* the keeper waits here */
    /* Signalled when a worker or a helper leaves, and when a reserved place is used or given back. */
    pthread_cond_t left;
    pawl_turn *ready_first, **ready_end; /* ready_end: where the next one is linked */
    pawl_turn *held;                     /* every turn that this runner holds a lease for */
    int64_t held_count;
    int64_t reserved;      /* places promised to services */
    int64_t fresh;         /* held turns that no worker has begun */
    int64_t window;        /* how many fresh turns it may hold; grows while turns are begun soon */
    struct pw_help *helps; /* forks that idle workers may help with */
    struct pw_cache cache;
    int32_t workers_alive;
    pthread_t gone; /* the worker that left last; each leaving worker joins the one before it */
    bool has_gone;
    /* Counts pw_runner_call(): a worker that led a commit compares it to see whether it missed a call. */
    uint64_t calls;
    int32_t spares; /* extra workers, while user code blocks threads: see blocked.c */
    /* Guards the next two; a leaf lock, which may be taken while any other is held. */
    pthread_mutex_t tick_keeper_lock;
    pthread_t tick_keeper;
    bool tick_kept;            /* the running tick has a keeper */
    pthread_mutex_t tick_lock; /* held during a tick, so that there is one at a time; guards the next two */
    bool limited_first;        /* the next claim asks functions with a limit before all others */
    size_t limited_next;       /* which of these functions is asked first */
    pthread_t keeper;
    bool started, keeper_done;
    int64_t next_due_ms; /* the earliest time at which something may be due, hints included */
    int64_t seen_due_ms; /* the same without hints, as the store reported it */
    /* When a run is due that this runner parked and that other runners would find too late. */
    int64_t parked_due_ms;
    int64_t withheld_ms;               /* how long the keeper last waited for a withheld run */
    int64_t keeper_until_ms;           /* the keeper sleeps until then, by the store's clock */
    int64_t keeper_until_monotonic_ms; /* the same by the engine's monotonic clock */
    int64_t poll_at_ms, reap_at_ms;    /* by the system's monotonic clock, like other processes */
    int64_t renew_at_ms;               /* by the engine's monotonic clock */
    int64_t watch_at_ms;               /* by the same: when to look for late bodies and code */
    int64_t turns, leases_lost;
    struct pw_owed *owed;
    int64_t trouble_ms;       /* the present delay of turns that the store failed */
    int64_t trouble_until_ms; /* failures before this time share the present delay */
};

/* work.c */
struct pw_turn_host pw_runner_host(pawl_runner *runner);
/* With the lock held: branches of the turn may want help again.  turn NULL: branches of any turn whose wake time has
 * come. */
void pw_runner_stir(pawl_runner *runner, const pawl_turn *turn, int64_t now_ms);
void pw_runner_call(pawl_runner *runner, bool all); /* wakes one worker or all; with the lock held */
bool pw_runner_spawn(pawl_runner *runner);          /* starts a worker; with the lock held */
/* Makes a claimed run a turn that waits for a worker.  If memory runs out, the lease is left to expire. */
void pw_runner_accept(pawl_runner *runner, const struct pw_claim *claim);
pawl_turn *pw_runner_make_turn(pawl_runner *runner, const struct pw_claim *claim);
pawl_status pw_runner_load(pawl_runner *runner, pawl_turn *turn);
void pw_runner_retire(pawl_runner *runner, pawl_turn *turn);
void pw_runner_pay_owed(pawl_runner *runner);                       /* tries again to give back owed leases */
void pw_runner_wake_keeper(pawl_runner *runner, int64_t due_at_ms); /* with the lock held */
void pw_runner_push_ready(pawl_runner *runner, pawl_turn *turn);    /* with the lock held */
pawl_turn *pw_runner_pop_ready(pawl_runner *runner);                /* with the lock held; NULL: none is ready */
/* Called when the pass of a given-up turn has returned.  True: the thread that closes the turn retires it. */
bool pw_runner_leave_given_up(pawl_runner *runner, pawl_turn *turn);

/* blocked.c.  All with the lock held, except pw_runner_takes_nothing(), pw_runner_is_full() and
 * pw_runner_call_returns(). */
/* True if the runner is full, or the database has a newer schema. */
bool pw_runner_takes_nothing(const pawl_runner *runner);
bool pw_runner_is_full(const pawl_runner *runner); /* true if blocked_max threads are blocked */
/* Starts missing workers.  If the system refuses a thread, the next look tries again. */
void pw_runner_stand_in(pawl_runner *runner);
/* Called when a thread leaves a turn: a helper or, with ends_pass, the thread in its pass, which leaves last. */
void pw_runner_leave_turn(pawl_runner *runner, pawl_turn *turn, bool ends_pass);
/* Acts on what the watchdog found in the turn. */
void pw_runner_take_over(pawl_runner *runner, pawl_turn *turn, const struct pw_watch *watch);
/* The watchdog: looks for late bodies and late workflow code, if it is time to. */
void pw_runner_watch(pawl_runner *runner, int64_t monotonic_ms);
/* A call of user code that was listed as blocked has returned. */
void pw_runner_call_returns(pawl_runner *runner, pawl_turn *turn, struct pw_blocked_call *call);

/* claim.c */
/* Each registered workflow is in one of the first three classes. */
enum pw_names {
    PW_NAMES_POLLED = 1,  /* workflows without a turn function */
    PW_NAMES_FREE = 2,    /* workflows with one */
    PW_NAMES_LIMITED = 4, /* functions with a limit: pawl_limit_function() */
    PW_NAMES_UNLIMITED = PW_NAMES_POLLED | PW_NAMES_FREE,
    PW_NAMES_DRIVEN = PW_NAMES_FREE | PW_NAMES_LIMITED,
    PW_NAMES_ALL = PW_NAMES_DRIVEN | PW_NAMES_POLLED
};
/* The names of registered workflows, in the arena.  NULL when memory runs out. */
struct pw_text *pw_runner_names(pawl_engine *engine, enum pw_names which, struct pw_arena *arena, size_t *out_count);
enum pw_claim_of {
    PW_CLAIM_DUE,    /* workflows with a turn function: the runner's share, if there are other runners */
    PW_CLAIM_ALL,    /* and what dead runners left, at the cost of a look at every lease */
    PW_CLAIM_PARKED, /* like DUE, but from all shares */
    PW_CLAIM_POLLED  /* workflows without a turn function: all shares, and what dead runners left */
};
/* Claims up to max tasks; they are in the unit's arena.  limited NULL: from workflows without a limit.  Otherwise
 * from this function, from all shares; PW_CLAIM_ALL still looks for what dead runners left.  Only a claim can tell
 * whether a job of a limited function may be taken, so pw_runner_next_due() leaves these functions out. */
pawl_status pw_runner_claim(pawl_runner *runner, struct pw_unit *unit, enum pw_claim_of what,
                            const struct pw_text *limited, size_t max, struct pw_op_claim **out_claim,
                            struct pawl_error *error);
/* When the first run of these workflows is due after after_ms, or PW_EVER.  is_own: only the runner's share.  names
 * NULL means out of memory. */
pawl_status pw_runner_next_of(pawl_runner *runner, struct pw_arena *arena, const struct pw_text *names, size_t count,
                              bool is_own, int64_t after_ms, int64_t *out_at_ms, struct pawl_error *error);
/* The same for the runner's share of what PW_CLAIM_DUE claims. */
pawl_status pw_runner_next_due(pawl_runner *runner, int64_t after_ms, int64_t *out_at_ms, struct pawl_error *error);

/* share.c.  Runs are carried even if this fails; failures are tried again later. */
/* The given name, or "host:process" without one. */
void pw_runner_make_name(char name[PW_RUNNER_NAME_SIZE], const char *given);
/* Writes this runner's row, so that others see it. */
void pw_runner_describe(pawl_runner *runner, bool is_sharing);
/* For the keeper: reads the runners' rows, takes its share, and writes its own row if that is missing or out of
 * date. */
void pw_runner_look_around(pawl_runner *runner);
/* For the keeper: gives up its share, and writes that into its row. */
void pw_runner_leave_share(pawl_runner *runner);
void pw_view_clear(struct pw_view *view);

/* keeper.c */
size_t pw_runner_room(const pawl_runner *runner); /* the number of runs that it may still take; with the lock held */
void *pw_keeper_main(void *runner);
/* Makes sure that the running tick has a keeper, which renews its leases and watches its code.  False: it has none. */
bool pw_tick_is_kept(pawl_runner *runner);
void pw_tick_end(pawl_runner *runner);

#endif
